//! The noised table that the rest of a plan reads.

use async_trait::async_trait;
use datafusion::arrow::array::{RecordBatch, RecordBatchOptions};
use datafusion::arrow::datatypes::{DataType, Field, Schema, SchemaRef};
use datafusion::catalog::{Session, TableProvider};
use datafusion::common::{DFSchema, Result, plan_err};
use datafusion::datasource::TableType;
use datafusion::datasource::memory::MemorySourceConfig;
use datafusion::logical_expr::Expr;
use datafusion::physical_plan::ExecutionPlan;
use std::sync::{Arc, OnceLock};

/// Columns `c0`, `c1`, … as the aggregate has them, then `e0`, … : for each of them half the
/// width of its 95 % interval, NULL where there is none. Empty until it is released.
#[derive(Debug)]
pub(crate) struct ReleaseTable {
    schema: SchemaRef,
    batch: OnceLock<RecordBatch>,
}

impl ReleaseTable {
    pub(crate) fn new(of: &DFSchema) -> Self {
        let columns = of.fields().iter().enumerate();
        let values = columns.map(|(i, f)| Field::new(Self::column(i), f.data_type().clone(), true));
        let errors =
            (0..of.fields().len()).map(|i| Field::new(Self::error(i), DataType::Float64, true));
        let schema = Arc::new(Schema::new(values.chain(errors).collect::<Vec<_>>()));
        Self { schema, batch: OnceLock::new() }
    }

    pub(crate) fn column(i: usize) -> String {
        format!("c{i}")
    }

    pub(crate) fn error(i: usize) -> String {
        format!("e{i}")
    }

    /// Whether a table that was stored is one of these.
    pub(crate) fn fits(&self, batch: &RecordBatch) -> bool {
        let types = |schema: &Schema| -> Vec<DataType> {
            schema.fields().iter().map(|field| field.data_type().clone()).collect()
        };
        types(&batch.schema()) == types(&self.schema)
    }

    /// Puts the released values in; the first time counts.
    pub(crate) fn fill(&self, batch: RecordBatch) {
        let _ = self.batch.set(batch);
    }
}

#[async_trait]
impl TableProvider for ReleaseTable {
    fn schema(&self) -> SchemaRef {
        Arc::clone(&self.schema)
    }

    fn table_type(&self) -> TableType {
        TableType::Temporary
    }

    async fn scan(
        &self,
        _: &dyn Session,
        projection: Option<&Vec<usize>>,
        _: &[Expr],
        _: Option<usize>,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        let Some(batch) = self.batch.get() else {
            return plan_err!("nothing has been released yet");
        };
        let partitions = [vec![batch.clone()]];
        let schema = Arc::clone(&self.schema);
        Ok(MemorySourceConfig::try_new_exec(&partitions, schema, projection.cloned())?)
    }
}

/// The rows of a public plan, read before any protected row: columns `c0`, `c1`, …
#[derive(Debug)]
pub(crate) struct PublicRows {
    schema: SchemaRef,
    batches: OnceLock<Vec<RecordBatch>>,
}

impl PublicRows {
    pub(crate) fn new(of: &DFSchema) -> Self {
        let fields = of.fields().iter().enumerate();
        let fields =
            fields.map(|(i, f)| Field::new(ReleaseTable::column(i), f.data_type().clone(), true));
        let schema = Arc::new(Schema::new(fields.collect::<Vec<_>>()));
        Self { schema, batches: OnceLock::new() }
    }

    /// Puts the rows in, under this table's names; the first time counts.
    pub(crate) fn fill(&self, batches: Vec<RecordBatch>) -> Result<()> {
        let named = batches.into_iter().map(|batch| {
            let options = RecordBatchOptions::new().with_row_count(Some(batch.num_rows()));
            let columns = batch.columns().to_vec();
            RecordBatch::try_new_with_options(Arc::clone(&self.schema), columns, &options)
        });
        let named = named.collect::<std::result::Result<Vec<_>, _>>()?;
        let _ = self.batches.set(named);
        Ok(())
    }
}

#[async_trait]
impl TableProvider for PublicRows {
    fn schema(&self) -> SchemaRef {
        Arc::clone(&self.schema)
    }

    fn table_type(&self) -> TableType {
        TableType::Temporary
    }

    async fn scan(
        &self,
        _: &dyn Session,
        projection: Option<&Vec<usize>>,
        _: &[Expr],
        _: Option<usize>,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        let Some(batches) = self.batches.get() else {
            return plan_err!("the public rows have not been read yet");
        };
        let partitions = [batches.clone()];
        let schema = Arc::clone(&self.schema);
        Ok(MemorySourceConfig::try_new_exec(&partitions, schema, projection.cloned())?)
    }
}
