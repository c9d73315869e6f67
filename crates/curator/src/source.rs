//! Files of people's rows, as the engine sees them: rows, and nothing else.
//!
//! # Guarantee
//! The rows that a scan delivers for one person do not depend on the rows of another. So the
//! engine learns nothing of a file but its rows: no minima, maxima or Bloom filters to skip
//! others' rows by (they are made of everybody's values, and disagree with the rows themselves on
//! NaN and where arithmetic wraps), no row counts, and no byte ranges that begin within
//! somebody's quoted field.

use async_trait::async_trait;
use datafusion::arrow::datatypes::SchemaRef;
use datafusion::catalog::{Session, TableProvider};
use datafusion::common::Result;
use datafusion::config::{ParquetOptions, TableParquetOptions};
use datafusion::datasource::file_format::parquet::ParquetFormat;
use datafusion::logical_expr::{Expr, TableProviderFilterPushDown, TableType};
use datafusion::physical_optimizer::PhysicalOptimizerRule;
use datafusion::physical_optimizer::optimizer::PhysicalOptimizer;
use datafusion::physical_plan::ExecutionPlan;
use datafusion::prelude::SessionConfig;
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

/// Parquet without the means to skip rows by what the file says of them.
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

/// Switches off what would look past the rows, also where an operator that runs meanwhile
/// (a join, a top-k) would push its filter into the scan.
pub(crate) fn rows_only(config: &mut SessionConfig) {
    let options = config.options_mut();
    options.execution.collect_statistics = false;
    options.optimizer.enable_dynamic_filter_pushdown = false;
    options.optimizer.enable_topk_dynamic_filter_pushdown = false;
    options.optimizer.enable_join_dynamic_filter_pushdown = false;
    options.optimizer.enable_aggregate_dynamic_filter_pushdown = false;
}

/// The engine's own rules, less those that bring filters to a source or answer from statistics.
pub(crate) fn rules() -> Vec<Arc<dyn PhysicalOptimizerRule + Send + Sync>> {
    let past_the_rows = ["FilterPushdown", "FilterPushdown(Post)", "aggregate_statistics"];
    let rules = PhysicalOptimizer::new().rules.into_iter();
    rules.filter(|rule| !past_the_rows.contains(&rule.name())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test] // a rule that is renamed would come back unseen
    fn three_rules_are_left_out() {
        assert_eq!(rules().len() + 3, PhysicalOptimizer::new().rules.len());
    }
}
