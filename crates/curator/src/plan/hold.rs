//! Keeps expensive conditions above the limit on a person's rows.
//!
//! The optimizer moves filters to the tables, below a [`crate::bound::CapRows`]. Cheap ones should go there, so that
//! rows which the query does not ask for do not displace others. An expensive one would be computed on all of a
//! person's rows. So it is written as `held(condition, unit)`, which equals the condition: a condition that names the
//! unit never passes the limit.

use super::rows::planned;
use crate::error::Result;
use crate::rows::UNIT;
use crate::rows::cost::{Cost, cost};
use crate::rows::expression::text;
use crate::rows::total::LONGEST;
use datafusion::arrow::datatypes::DataType;
use datafusion::common::tree_node::{Transformed, TreeNode};
use datafusion::common::{Column, DFSchema, ExprSchema, Result as PlanResult, exec_err};
use datafusion::logical_expr::utils::{conjunction, split_conjunction};
use datafusion::logical_expr::{
    ColumnarValue, Expr, LogicalPlan, ScalarFunctionArgs, ScalarUDF, ScalarUDFImpl, Signature,
    Volatility,
};
use std::sync::Arc;

/// `held(condition, unit)`, which equals the condition.
#[derive(Debug, PartialEq, Eq, Hash)]
struct HoldCondition {
    signature: Signature,
}

impl ScalarUDFImpl for HoldCondition {
    fn name(&self) -> &'static str {
        "total_held"
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn coerce_types(&self, arguments: &[DataType]) -> PlanResult<Vec<DataType>> {
        Ok(arguments.to_vec())
    }

    fn return_type(&self, _: &[DataType]) -> PlanResult<DataType> {
        Ok(DataType::Boolean)
    }

    fn invoke_with_args(&self, arguments: ScalarFunctionArgs) -> PlanResult<ColumnarValue> {
        match arguments.args.into_iter().next() {
            Some(condition) => Ok(condition),
            None => exec_err!("nothing is held"),
        }
    }
}

/// Holds every condition that `dear` selects above the limit.
pub(super) fn hold(plan: LogicalPlan, dear: impl Fn(Cost) -> bool) -> Result<LogicalPlan> {
    let held = Arc::new(ScalarUDF::from(HoldCondition {
        signature: Signature::user_defined(Volatility::Immutable),
    }));
    let all = |predicate: &Expr, schemas: &[&DFSchema]| {
        let parts = split_conjunction(predicate).into_iter().map(|part| {
            let found = cost(part, &|column| longest(column, schemas)).cost;
            match unit(part, schemas) {
                Some(unit) if dear(found) => held.call(vec![part.clone(), Expr::Column(unit)]),
                _ => part.clone(),
            }
        });
        conjunction(parts)
    };
    let transformed = plan.transform_up(|node| {
        Ok(match node {
            LogicalPlan::Filter(mut filter) => {
                if let Some(predicate) = all(&filter.predicate, &[filter.input.schema()]) {
                    filter.predicate = predicate;
                }
                Transformed::yes(LogicalPlan::Filter(filter))
            }
            LogicalPlan::Join(mut join) => {
                let sides = [join.left.schema().as_ref(), join.right.schema().as_ref()];
                join.filter = join.filter.as_ref().and_then(|filter| all(filter, &sides));
                Transformed::yes(LogicalPlan::Join(join))
            }
            other => Transformed::no(other),
        })
    });
    Ok(transformed.map_err(planned)?.data)
}

/// The unit of the side that has all columns of a condition, if there is one. If it has several units, preferably the
/// one in the same table as the columns.
fn unit(condition: &Expr, schemas: &[&DFSchema]) -> Option<Column> {
    let columns = condition.column_refs();
    let has_all = |schema: &&&DFSchema| columns.iter().all(|column| schema.has_column(column));
    let schema = schemas.iter().find(has_all)?;
    let units: Vec<Column> = schema
        .iter()
        .filter(|(_, field)| field.name().starts_with(UNIT))
        .map(|(qualifier, field)| Column::new(qualifier.cloned(), field.name()))
        .collect();
    let same = |unit: &&Column| columns.iter().all(|column| column.relation == unit.relation);
    units.iter().find(same).or(units.first()).cloned()
}

fn longest(column: &Column, schemas: &[&DFSchema]) -> u64 {
    let field = schemas.iter().find_map(|schema| schema.field_from_column(column).ok());
    if field.is_some_and(|field| text(field.data_type())) { LONGEST as u64 } else { 0 }
}
