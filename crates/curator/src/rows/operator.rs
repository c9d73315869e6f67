//! Our own operators over one input: an [`Operator`] implements what differs, [`Exec`] the rest that DataFusion
//! requires.

use datafusion::common::tree_node::TreeNodeRecursion;
use datafusion::common::{Result, internal_err};
use datafusion::execution::{SendableRecordBatchStream, TaskContext};
use datafusion::physical_expr::{Distribution, PhysicalExpr};
use datafusion::physical_plan::{
    ChildrenPropertiesMode, DisplayAs, DisplayFormatType, ExecutionPlan,
    InputDistributionRequirements, PlanProperties, ReplaceChildrenOptions,
};
use std::fmt;
use std::sync::Arc;

/// An operator with one input. It keeps no metrics: a row count of protected data would be a leak.
pub(crate) trait Operator: fmt::Display + Send + Sync + Sized + 'static {
    /// Its name in plans, `…Exec`.
    const NAME: &'static str;

    /// Its input.
    fn input(&self) -> &Arc<dyn ExecutionPlan>;

    /// The same operator over another input.
    fn over(&self, input: Arc<dyn ExecutionPlan>) -> Result<Self>;

    /// The properties of its output.
    fn properties(&self) -> &Arc<PlanProperties>;

    /// The required distribution of rows over the input's partitions, if any.
    fn distribution(&self) -> Option<Distribution> {
        None
    }

    /// Computes the rows of one output partition.
    fn execute(
        &self,
        partition: usize,
        context: Arc<TaskContext>,
    ) -> Result<SendableRecordBatchStream>;
}

/// An [`Operator`] in a plan.
pub(crate) struct Exec<O>(pub(crate) O);

impl<O: Operator> fmt::Debug for Exec<O> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl<O: Operator> DisplayAs for Exec<O> {
    fn fmt_as(&self, _: DisplayFormatType, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl<O: Operator> ExecutionPlan for Exec<O> {
    fn name(&self) -> &'static str {
        O::NAME
    }

    fn properties(&self) -> &Arc<PlanProperties> {
        self.0.properties()
    }

    fn children(&self) -> Vec<&Arc<dyn ExecutionPlan>> {
        vec![self.0.input()]
    }

    fn input_distribution_requirements(&self) -> InputDistributionRequirements {
        let any = Distribution::UnspecifiedDistribution;
        InputDistributionRequirements::new(vec![self.0.distribution().unwrap_or(any)])
    }

    fn apply_expressions(
        &self,
        _: &mut dyn FnMut(&Arc<dyn PhysicalExpr>) -> Result<TreeNodeRecursion>,
    ) -> Result<TreeNodeRecursion> {
        Ok(TreeNodeRecursion::Continue)
    }

    fn replace_children(
        self: Arc<Self>,
        children: Vec<Arc<dyn ExecutionPlan>>,
        _: ReplaceChildrenOptions,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        let Ok([input]) = <[_; 1]>::try_from(children) else {
            return internal_err!("{} has one input", O::NAME);
        };
        Ok(Arc::new(Self(self.0.over(input)?)))
    }

    fn with_new_children(
        self: Arc<Self>,
        children: Vec<Arc<dyn ExecutionPlan>>,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        let options = ReplaceChildrenOptions::new(ChildrenPropertiesMode::Recompute);
        self.replace_children(children, options)
    }

    fn execute(
        &self,
        partition: usize,
        context: Arc<TaskContext>,
    ) -> Result<SendableRecordBatchStream> {
        self.0.execute(partition, context)
    }
}
