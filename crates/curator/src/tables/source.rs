//! Files of people's rows, reduced to rows: the engine sees nothing else of them.
//!
//! # Guarantee
//! The rows that a scan delivers for one person do not depend on the rows of another. So the engine learns nothing
//! from a file but its rows: no minima, maxima or Bloom filters by which to skip rows (they depend on everyone's
//! values, and disagree with the rows themselves on NaN and where arithmetic wraps), no row counts, and no byte ranges
//! that begin within a quoted field.

use crate::identity::files::{Format, format};
use crate::tables::csv_files;
use async_trait::async_trait;
use datafusion::arrow::datatypes::SchemaRef;
use datafusion::catalog::{Session, TableProvider};
use datafusion::common::Result;
use datafusion::config::{ParquetOptions, TableParquetOptions};
use datafusion::datasource::file_format::parquet::ParquetFormat;
use datafusion::logical_expr::{Expr, TableProviderFilterPushDown, TableType};
use datafusion::parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use datafusion::physical_optimizer::PhysicalOptimizerRule;
use datafusion::physical_optimizer::optimizer::PhysicalOptimizer;
use datafusion::physical_plan::ExecutionPlan;
use datafusion::prelude::SessionConfig;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A source that is read whole: filters stay above it.
#[derive(Debug)]
pub(crate) struct RowsOnly(pub(crate) Arc<dyn TableProvider>);

#[async_trait]
impl TableProvider for RowsOnly {
    fn schema(&self) -> SchemaRef {
        self.0.schema()
    }

    fn table_type(&self) -> TableType {
        TableType::Base
    }

    fn supports_filters_pushdown(
        &self,
        filters: &[&Expr],
    ) -> Result<Vec<TableProviderFilterPushDown>> {
        Ok(vec![TableProviderFilterPushDown::Unsupported; filters.len()])
    }

    async fn scan(
        &self,
        session: &dyn Session,
        columns: Option<&Vec<usize>>,
        _filters: &[Expr],
        _limit: Option<usize>,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        self.0.scan(session, columns, &[], None).await
    }
}

/// Checks that all files of a source have the same columns. The engine looks at the first file only: it would take the
/// columns of another CSV file by position, and convert those of another Parquet file in a way that can fail on some
/// row.
pub(crate) fn alike(files: &[PathBuf], delimiter: u8) -> std::result::Result<(), String> {
    let mut first: Option<Vec<(String, String)>> = None;
    for file in files {
        let shown = file.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let columns = columns(file, delimiter).map_err(|e| format!("{shown}: {e}"))?;
        match &first {
            None => first = Some(columns),
            Some(first) if *first == columns => {}
            Some(_) => {
                return Err(format!(
                    "{shown} has other columns, in another order or of other types, than the files \
                     before it; write all files of a table alike"
                ));
            }
        }
    }
    Ok(())
}

/// The names of a file's columns and, for Parquet, their types. Nothing else is read.
fn columns(file: &Path, delimiter: u8) -> std::result::Result<Vec<(String, String)>, String> {
    let csv = matches!(format(file), Some(Format::Csv | Format::CsvGzip));
    let columns: Vec<(String, String)> = if csv {
        let names = csv_files::names(file, delimiter)?.into_iter();
        names.map(|name| (name, "csv".to_owned())).collect()
    } else {
        let opened = File::open(file).map_err(|e| e.to_string())?;
        let reader = ParquetRecordBatchReaderBuilder::try_new(opened);
        let reader = reader.map_err(|_| "it is not a Parquet file")?;
        let fields = reader.schema().fields().iter();
        fields.map(|field| (field.name().clone(), field.data_type().to_string())).collect()
    };
    let mut names: Vec<&String> = columns.iter().map(|(name, _)| name).collect();
    names.sort();
    match names.windows(2).find(|pair| pair[0] == pair[1]) {
        Some(pair) => Err(format!("two columns have the name `{}`", pair[0])),
        None => Ok(columns),
    }
}

/// Parquet without skipping rows by the file's statistics.
pub(crate) fn parquet() -> ParquetFormat {
    let global = ParquetOptions {
        pruning: false,
        enable_page_index: false,
        bloom_filter_on_read: false,
        pushdown_filters: false,
        ..ParquetOptions::default()
    };
    ParquetFormat::default()
        .with_options(TableParquetOptions { global, ..TableParquetOptions::default() })
}

/// Disables everything that uses more than the rows, including filters that an operator (a join, a top-k) pushes into
/// the scan while it runs.
pub(crate) fn rows_only(config: &mut SessionConfig) {
    let options = config.options_mut();
    options.execution.collect_statistics = false;
    options.optimizer.enable_dynamic_filter_pushdown = false;
    options.optimizer.enable_topk_dynamic_filter_pushdown = false;
    options.optimizer.enable_join_dynamic_filter_pushdown = false;
    options.optimizer.enable_aggregate_dynamic_filter_pushdown = false;
}

/// The engine's own rules, except those that move filters into a source or answer from statistics.
pub(crate) fn rules() -> Vec<Arc<dyn PhysicalOptimizerRule + Send + Sync>> {
    let past_the_rows = ["FilterPushdown", "FilterPushdown(Post)", "aggregate_statistics"];
    let rules = PhysicalOptimizer::new().rules.into_iter();
    rules.filter(|rule| !past_the_rows.contains(&rule.name())).collect()
}

#[cfg(test)]
mod tests;
