//! A row that nothing matches, so that the build side of a join is never empty.
//!
//! # Guarantee
//! The join with a sentinel has exactly the same rows as the join without it.
//!
//! # Proof
//! The build side gets a column that is true for its own rows and false for the sentinel, and the join gets one more
//! key: that column equals true. The build side's own rows match the same rows as before, and the sentinel matches
//! nothing. Unmatched rows of the build side only come out of joins of the kinds Left, LeftAnti, LeftMark and Full,
//! and [`never_empty`] refuses those. The added columns are not among the output columns. ∎
//!
//! A NULL in a key would not help: rows with NULL are left out of the hash table, which would still be empty. So a
//! computed key is computed below the sentinel, which has a non-NULL value in its place.

use crate::rows::operator::{Exec, Operator};
use datafusion::arrow::array::{ArrayRef, BooleanArray, RecordBatch};
use datafusion::arrow::datatypes::{DataType, Field, FieldRef, Schema, SchemaRef};
use datafusion::common::{JoinType, Result, ScalarValue, plan_err};
use datafusion::execution::{SendableRecordBatchStream, TaskContext};
use datafusion::physical_expr::expressions::{Column, lit};
use datafusion::physical_expr::{EquivalenceProperties, PhysicalExpr};
use datafusion::physical_plan::joins::HashJoinExec;
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use datafusion::physical_plan::{ExecutionPlan, ExecutionPlanProperties, PlanProperties};
use futures::StreamExt;
use std::fmt;
use std::sync::Arc;

/// The same join, with a build side that is never empty, whatever the data.
pub(super) fn never_empty(join: &HashJoinExec) -> Result<Arc<dyn ExecutionPlan>> {
    let build = match join.join_type() {
        JoinType::Inner | JoinType::Right => true,
        JoinType::LeftSemi => true,
        JoinType::RightSemi | JoinType::RightAnti => false,
        other => return plan_err!("a join of protected rows of the kind {other} is not available"),
    };
    if join.null_aware {
        return plan_err!("a join of protected rows in which NULL decides is not available");
    }
    let (own, other) = (join.left().schema().fields().len(), join.right().schema().fields().len());
    let plain = |key: &Arc<dyn PhysicalExpr>| key.is::<Column>();
    let computed: Vec<_> =
        join.on().iter().map(|(key, _)| key).filter(|key| !plain(key)).cloned().collect();
    let sentinel = Sentinel::new(Arc::clone(join.left()), computed)?;
    let schema = Arc::clone(sentinel.schema());
    let column = |at: usize| Arc::new(Column::new(schema.field(at).name(), at));
    let mut next = own;
    let mut on: Vec<(Arc<dyn PhysicalExpr>, Arc<dyn PhysicalExpr>)> = Vec::new();
    for (key, value) in join.on() {
        let key = match plain(key) {
            true => Arc::clone(key),
            false => {
                next += 1;
                column(next - 1)
            }
        };
        on.push((key, Arc::clone(value)));
    }
    on.push((column(next), lit(true)));
    // The output columns, without those that the sentinel added between the two sides.
    let added = next + 1 - own;
    let both = matches!(join.join_type(), JoinType::Inner | JoinType::Right);
    let all = if both {
        own + other
    } else if build {
        own
    } else {
        other
    };
    let shown: Vec<usize> = match &join.projection {
        Some(projection) => projection.to_vec(),
        None => (0..all).collect(),
    };
    let moved = |at: usize| if build && at >= own { at + added } else { at };
    let shown = shown.into_iter().map(moved).collect();
    join.builder()
        .with_new_children(vec![Arc::new(Exec(sentinel)), Arc::clone(join.right())])?
        .with_on(on)
        .with_projection(Some(shown))
        .reset_state()
        .build_exec()
}

/// The rows of the input, the computed keys, and whether it is a row of the input. Each partition has one additional
/// row, for which the last column is false.
struct Sentinel {
    input: Arc<dyn ExecutionPlan>,
    keys: Vec<Arc<dyn PhysicalExpr>>,
    properties: Arc<PlanProperties>,
}

impl Sentinel {
    fn new(input: Arc<dyn ExecutionPlan>, keys: Vec<Arc<dyn PhysicalExpr>>) -> Result<Self> {
        let schema = input.schema();
        let mut fields: Vec<FieldRef> = schema.fields().to_vec();
        for (i, key) in keys.iter().enumerate() {
            let kind = key.data_type(&schema)?;
            fields.push(Arc::new(Field::new(format!("key_{i}"), kind, true)));
        }
        fields.push(Arc::new(Field::new("own", DataType::Boolean, false)));
        let schema = Arc::new(Schema::new_with_metadata(fields, schema.metadata().clone()));
        let properties = Arc::new(PlanProperties::new(
            EquivalenceProperties::new(schema),
            input.output_partitioning().clone(),
            input.pipeline_behavior(),
            input.boundedness(),
        ));
        Ok(Self { input, keys, properties })
    }

    fn schema(&self) -> &SchemaRef {
        self.properties.eq_properties.schema()
    }
}

/// A row of non-NULL values, where the type has any, with false in the last column.
fn sentinel(schema: &SchemaRef) -> Result<RecordBatch> {
    let mut values: Vec<ArrayRef> = Vec::new();
    for field in schema.fields() {
        let kind = field.data_type();
        let value = ScalarValue::new_default(kind).or_else(|_| ScalarValue::try_from(kind))?;
        values.push(value.to_array()?);
    }
    values.pop();
    values.push(Arc::new(BooleanArray::from(vec![false])));
    Ok(RecordBatch::try_new(Arc::clone(schema), values)?)
}

impl fmt::Display for Sentinel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(Self::NAME)
    }
}

impl Operator for Sentinel {
    const NAME: &'static str = "SentinelExec";

    fn input(&self) -> &Arc<dyn ExecutionPlan> {
        &self.input
    }

    fn over(&self, input: Arc<dyn ExecutionPlan>) -> Result<Self> {
        Self::new(input, self.keys.clone())
    }

    fn properties(&self) -> &Arc<PlanProperties> {
        &self.properties
    }

    fn execute(
        &self,
        partition: usize,
        context: Arc<TaskContext>,
    ) -> Result<SendableRecordBatchStream> {
        let (schema, keys) = (Arc::clone(self.schema()), self.keys.clone());
        let last = sentinel(&schema)?;
        let marked = {
            let schema = Arc::clone(&schema);
            move |batch: Result<RecordBatch>| {
                let batch = batch?;
                let mut columns = batch.columns().to_vec();
                for key in &keys {
                    columns.push(key.evaluate(&batch)?.into_array(batch.num_rows())?);
                }
                columns.push(Arc::new(BooleanArray::from(vec![true; batch.num_rows()])));
                Ok(RecordBatch::try_new(Arc::clone(&schema), columns)?)
            }
        };
        let rows = self.input.execute(partition, context)?.map(marked);
        let rows = rows.chain(futures::stream::once(async move { Ok(last) }));
        Ok(Box::pin(RecordBatchStreamAdapter::new(schema, rows)))
    }
}
