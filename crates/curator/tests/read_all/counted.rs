//! An engine that counts the rows it reads of each source, beside DataFusion's plain plan of the same query.

use async_trait::async_trait;
use datafusion::arrow::datatypes::SchemaRef;
use datafusion::catalog::{Session, TableProvider};
use datafusion::common::Result;
use datafusion::common::tree_node::{Transformed, TreeNode, TreeNodeRecursion};
use datafusion::datasource::{TableType, provider_as_source, source_as_provider};
use datafusion::execution::session_state::{SessionState, SessionStateBuilder};
use datafusion::execution::{SendableRecordBatchStream, TaskContext};
use datafusion::logical_expr::{Expr, LogicalPlan, TableProviderFilterPushDown};
use datafusion::physical_expr::{EquivalenceProperties, PhysicalExpr};
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use datafusion::physical_plan::{
    DisplayAs, DisplayFormatType, ExecutionPlan, ExecutionPlanProperties, PlanProperties,
    ReplaceChildrenOptions, execute_stream,
};
use datafusion::physical_planner::{DefaultPhysicalPlanner, PhysicalPlanner};
use demure_curator::bound::{
    BoundContributions, BoundPlanner, BoundSpec, Engine, Key, Native, Task, accumulate,
};
use futures::StreamExt;
use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, Mutex};

/// Rows by source.
pub(crate) type Counts = Arc<Mutex<BTreeMap<String, usize>>>;

/// Runs every query twice under one key, here and on a plain plan, and compares the exact answers.
#[derive(Debug)]
pub(crate) struct Twice {
    native: Native,
    plain: SessionState,
    ours: Counts,
    theirs: Counts,
}

impl Twice {
    pub(crate) fn new(state: SessionState, ours: &Counts, theirs: &Counts) -> Self {
        // What DataFusion does by itself: filters and joins push what they know into scans.
        let plain = SessionStateBuilder::new_from_existing(state.clone())
            .with_physical_optimizer_rules(
                datafusion::physical_optimizer::optimizer::PhysicalOptimizer::new().rules,
            )
            .build();
        let (ours, theirs) = (Arc::clone(ours), Arc::clone(theirs));
        Self { native: Native::new(state), plain, ours, theirs }
    }
}

#[async_trait]
impl Engine for Twice {
    async fn prepare(
        &self,
        input: LogicalPlan,
        spec: &BoundSpec,
        key: Key,
    ) -> demure_curator::Result<Task> {
        let here = counting(input.clone(), &self.ours);
        let here = self.native.prepare(here, spec, key.clone()).await?;
        let there = Arc::new(counting(input, &self.theirs));
        let node = BoundContributions::new(there, spec.clone(), key).unwrap();
        let (interned, spec) = (Arc::clone(node.interned()), spec.clone());
        let plan = self.plain.optimize(&node.into_plan()).unwrap();
        let planner = DefaultPhysicalPlanner::with_extension_planners(vec![Arc::new(BoundPlanner)]);
        let plan = planner.create_physical_plan(&plan, &self.plain).await.unwrap();
        let context = self.plain.task_ctx();
        Ok(here.within(|reading| async move {
            let plain = accumulate(execute_stream(plan, context)?, &interned, &spec).await?;
            let exact = reading.await?;
            assert!(exact == plain, "the answers differ");
            Ok(exact)
        }))
    }
}

/// The same plan over sources that are counted.
fn counting(plan: LogicalPlan, counts: &Counts) -> LogicalPlan {
    let counted = plan.transform_up(|node| {
        let LogicalPlan::TableScan(mut scan) = node else { return Ok(Transformed::no(node)) };
        let name = scan.table_name.table().to_owned();
        if name.starts_with("__demure_") {
            return Ok(Transformed::no(LogicalPlan::TableScan(scan)));
        }
        let (inner, counts) = (source_as_provider(&scan.source)?, Arc::clone(counts));
        scan.source = provider_as_source(Arc::new(Counted { name, inner, counts }));
        Ok(Transformed::yes(LogicalPlan::TableScan(scan)))
    });
    counted.unwrap().data
}

struct Counted {
    name: String,
    inner: Arc<dyn TableProvider>,
    counts: Counts,
}

impl fmt::Debug for Counted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Counted")
    }
}

#[async_trait]
impl TableProvider for Counted {
    fn schema(&self) -> SchemaRef {
        self.inner.schema()
    }

    fn table_type(&self) -> TableType {
        self.inner.table_type()
    }

    fn supports_filters_pushdown(
        &self,
        filters: &[&Expr],
    ) -> Result<Vec<TableProviderFilterPushDown>> {
        self.inner.supports_filters_pushdown(filters)
    }

    async fn scan(
        &self,
        session: &dyn Session,
        columns: Option<&Vec<usize>>,
        filters: &[Expr],
        limit: Option<usize>,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        let inner = self.inner.scan(session, columns, filters, limit).await?;
        let properties = Arc::new(PlanProperties::new(
            EquivalenceProperties::new(inner.schema()),
            inner.output_partitioning().clone(),
            inner.pipeline_behavior(),
            inner.boundedness(),
        ));
        let (name, counts) = (self.name.clone(), Arc::clone(&self.counts));
        Ok(Arc::new(CountedExec { name, inner, counts, properties }))
    }
}

/// A leaf, so that nothing gets past it.
struct CountedExec {
    name: String,
    inner: Arc<dyn ExecutionPlan>,
    counts: Counts,
    properties: Arc<PlanProperties>,
}

impl fmt::Debug for CountedExec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("CountedExec")
    }
}

impl DisplayAs for CountedExec {
    fn fmt_as(&self, _: DisplayFormatType, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("CountedExec")
    }
}

impl ExecutionPlan for CountedExec {
    fn name(&self) -> &'static str {
        "CountedExec"
    }

    fn properties(&self) -> &Arc<PlanProperties> {
        &self.properties
    }

    fn children(&self) -> Vec<&Arc<dyn ExecutionPlan>> {
        Vec::new()
    }

    fn apply_expressions(
        &self,
        _: &mut dyn FnMut(&Arc<dyn PhysicalExpr>) -> Result<TreeNodeRecursion>,
    ) -> Result<TreeNodeRecursion> {
        Ok(TreeNodeRecursion::Continue)
    }

    fn replace_children(
        self: Arc<Self>,
        _: Vec<Arc<dyn ExecutionPlan>>,
        _: ReplaceChildrenOptions,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        Ok(self)
    }

    fn with_new_children(
        self: Arc<Self>,
        _: Vec<Arc<dyn ExecutionPlan>>,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        Ok(self)
    }

    fn execute(
        &self,
        partition: usize,
        context: Arc<TaskContext>,
    ) -> Result<SendableRecordBatchStream> {
        let (name, counts) = (self.name.clone(), Arc::clone(&self.counts));
        let rows = self.inner.execute(partition, context)?.inspect(move |batch| {
            let rows = batch.as_ref().map_or(0, |batch| batch.num_rows());
            *counts.lock().unwrap().entry(name.clone()).or_default() += rows;
        });
        Ok(Box::pin(RecordBatchStreamAdapter::new(self.schema(), rows)))
    }
}
