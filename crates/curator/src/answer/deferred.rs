//! Tables that a plan names before they have rows: releases, and public rows that are read before any protected row.

use crate::aggregate::{AMONG, Released};
use async_trait::async_trait;
use datafusion::arrow::array::{
    Array, ArrayRef, AsArray, RecordBatch, RecordBatchOptions, new_null_array,
};
use datafusion::arrow::datatypes::{DataType, Field, Schema, SchemaRef};
use datafusion::arrow::row::{RowConverter, SortField};
use datafusion::catalog::{Session, TableProvider};
use datafusion::common::{DFSchema, Result, plan_err};
use datafusion::datasource::TableType;
use datafusion::datasource::memory::MemorySourceConfig;
use datafusion::execution::memory_pool::MemoryReservation;
use datafusion::logical_expr::Expr;
use datafusion::physical_plan::ExecutionPlan;
use std::collections::HashMap;
use std::sync::{Arc, OnceLock};

/// A table that is filled once and cannot be scanned before. Its columns are `c0`, `c1`, …
#[derive(Debug)]
pub(crate) struct DeferredTable {
    schema: SchemaRef,
    batches: OnceLock<Vec<RecordBatch>>,
    /// The memory that the rows are counted as, if they are counted.
    memory: OnceLock<MemoryReservation>,
}

impl DeferredTable {
    /// A table for the rows of a public plan.
    pub(crate) fn public(of: &DFSchema) -> Self {
        Self::with(Self::values(of).collect())
    }

    /// A table for a release: the columns of the aggregate, then `e0`, …, the half-width of each column's 95 %
    /// interval, or NULL if it has none; then the same for intervals that hold together with others; then the lower and
    /// the upper ends of intervals that are not as wide below as above.
    pub(crate) fn released(of: &DFSchema) -> Self {
        let real = |name: String| Field::new(name, DataType::Float64, true);
        let columns = 0..of.fields().len();
        let errors = columns.clone().map(|i| real(Self::error(i)));
        let together = AMONG
            .into_iter()
            .flat_map(|k| columns.clone().map(move |i| real(Released::error_among(i, k))));
        let ends = (0..2)
            .flat_map(|end| columns.clone().map(move |i| real(Released::ends(i)[end].clone())));
        Self::with(Self::values(of).chain(errors).chain(together).chain(ends).collect())
    }

    fn with(fields: Vec<Field>) -> Self {
        let schema = Arc::new(Schema::new(fields));
        Self { schema, batches: OnceLock::new(), memory: OnceLock::new() }
    }

    fn values(of: &DFSchema) -> impl Iterator<Item = Field> + '_ {
        let columns = of.fields().iter().enumerate();
        columns.map(|(i, f)| Field::new(Self::column(i), f.data_type().clone(), true))
    }

    pub(crate) fn column(i: usize) -> String {
        Released::column(i)
    }

    pub(crate) fn error(i: usize) -> String {
        Released::error(i)
    }

    /// Whether a stored table has these columns. Those that were stored first have no errors for several intervals at
    /// once, and later ones no ends.
    pub(crate) fn fits(&self, released: &Released) -> bool {
        let columns = self.schema.fields().len() / (4 + AMONG.len());
        let types = |schema: &Schema| -> Vec<DataType> {
            schema.fields().iter().map(|field| field.data_type().clone()).collect()
        };
        let (stored, ours) = (types(&released.batch().schema()), types(&self.schema));
        let kinds = [4 + AMONG.len(), 2 + AMONG.len(), 2];
        kinds.into_iter().any(|kinds| stored == ours[..kinds * columns])
    }

    /// The largest number of rows that agree in these columns, none of them NULL. 0 before the table is filled.
    pub(crate) fn most_alike(&self, columns: &[usize]) -> Result<usize> {
        let batches = self.batches.get().map_or(&[][..], Vec::as_slice);
        if columns.is_empty() {
            return Ok(self.rows());
        }
        let types = columns.iter().map(|&i| self.schema.field(i).data_type().clone());
        let converter = RowConverter::new(types.map(SortField::new).collect())?;
        let mut counts: HashMap<Box<[u8]>, usize> = HashMap::new();
        for batch in batches {
            let values: Vec<ArrayRef> =
                columns.iter().map(|&i| Arc::clone(batch.column(i))).collect();
            let known = |row: usize| values.iter().all(|column| column.is_valid(row));
            let rows = converter.convert_columns(&values)?;
            for (_, row) in rows.iter().enumerate().filter(|(i, _)| known(*i)) {
                *counts.entry(row.as_ref().into()).or_default() += 1;
            }
        }
        Ok(counts.into_values().max().unwrap_or(0))
    }

    /// The number of rows; 0 before the table is filled.
    pub(crate) fn rows(&self) -> usize {
        let batches = self.batches.get().map_or(&[][..], Vec::as_slice);
        batches.iter().map(RecordBatch::num_rows).sum()
    }

    /// The longest text of each column, in bytes; 0 for a column that holds none.
    pub(crate) fn longest(&self) -> Vec<u64> {
        fn most<'a>(texts: impl Iterator<Item = Option<&'a str>>) -> u64 {
            texts.flatten().map(|text| text.len() as u64).max().unwrap_or(0)
        }
        let batches = self.batches.get().map_or(&[][..], Vec::as_slice);
        let of = |array: &ArrayRef| match array.data_type() {
            DataType::Utf8 => most(array.as_string::<i32>().iter()),
            DataType::LargeUtf8 => most(array.as_string::<i64>().iter()),
            DataType::Utf8View => most(array.as_string_view().iter()),
            _ => 0,
        };
        let columns = 0..self.schema.fields().len();
        columns
            .map(|i| batches.iter().map(|batch| of(batch.column(i))).max().unwrap_or(0))
            .collect()
    }

    /// Fills the table with public rows, which are counted as `memory` while they are held.
    pub(crate) fn hold(&self, batches: Vec<RecordBatch>, memory: MemoryReservation) -> Result<()> {
        self.put(batches)?;
        let _ = self.memory.set(memory);
        Ok(())
    }

    /// Fills the table with a noised table.
    pub(crate) fn fill(&self, released: &Released) -> Result<()> {
        let batch = released.batch();
        let mut columns = batch.columns().to_vec();
        let missing = self.schema.fields().iter().skip(columns.len());
        columns.extend(missing.map(|field| new_null_array(field.data_type(), batch.num_rows())));
        let options = RecordBatchOptions::new().with_row_count(Some(batch.num_rows()));
        let whole = RecordBatch::try_new_with_options(Arc::clone(&self.schema), columns, &options)?;
        self.put(vec![whole])
    }

    /// Fills the table with rows, under its own column names. Only the first call has an effect.
    pub(crate) fn put(&self, batches: Vec<RecordBatch>) -> Result<()> {
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
impl TableProvider for DeferredTable {
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
            return plan_err!("the rows of this table are not there yet");
        };
        let partitions = [batches.clone()];
        let schema = Arc::clone(&self.schema);
        Ok(MemorySourceConfig::try_new_exec(&partitions, schema, projection.cloned())?)
    }
}
