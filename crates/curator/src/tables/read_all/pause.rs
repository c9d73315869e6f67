//! Pauses within joins, so that a statement stops soon after its client has gone.
//!
//! A join may compare rows for long without reading one, and drop them all. The engine's own operators yield after 128
//! batches; with four nested joins and a condition that nothing meets, this takes seconds. So a join gets the rows of
//! its probe side in pieces of [`ROWS`], with a pause after each. A pause costs about a microsecond, and a piece is a
//! view of its batch.

use crate::rows::operator::{Exec, Operator};
use datafusion::arrow::array::RecordBatch;
use datafusion::common::{Result, internal_err};
use datafusion::execution::{SendableRecordBatchStream, TaskContext};
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use datafusion::physical_plan::{
    ChildrenPropertiesMode, ExecutionPlan, PlanProperties, ReplaceChildrenOptions,
};
use futures::{Stream, StreamExt};
use std::fmt;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

/// Rows between two pauses. Each of a person's rows in a join has at most 256 partners.
const ROWS: usize = 1024;

/// The same join, with pauses on the probe side.
pub(super) fn within(join: Arc<dyn ExecutionPlan>) -> Result<Arc<dyn ExecutionPlan>> {
    let [build, probe] = join.children()[..] else {
        return internal_err!("a join has two inputs");
    };
    let children = vec![Arc::clone(build), Arc::new(Exec(Pause(Arc::clone(probe)))) as Arc<_>];
    join.replace_children(children, ReplaceChildrenOptions::new(ChildrenPropertiesMode::Recompute))
}

/// The rows of the input in pieces, with a pause after each.
struct Pause(Arc<dyn ExecutionPlan>);

impl fmt::Display for Pause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(Self::NAME)
    }
}

impl Operator for Pause {
    const NAME: &'static str = "PauseExec";

    fn input(&self) -> &Arc<dyn ExecutionPlan> {
        &self.0
    }

    fn over(&self, input: Arc<dyn ExecutionPlan>) -> Result<Self> {
        Ok(Self(input))
    }

    fn properties(&self) -> &Arc<PlanProperties> {
        self.0.properties()
    }

    fn execute(
        &self,
        partition: usize,
        context: Arc<TaskContext>,
    ) -> Result<SendableRecordBatchStream> {
        let rows = self.0.execute(partition, context)?;
        let schema = rows.schema();
        let paused = Paused { rows, rest: None, due: false };
        Ok(Box::pin(RecordBatchStreamAdapter::new(schema, paused)))
    }
}

struct Paused {
    rows: SendableRecordBatchStream,
    /// The rest of a batch.
    rest: Option<RecordBatch>,
    /// Whether a piece was emitted since the last pause.
    due: bool,
}

impl Stream for Paused {
    type Item = Result<RecordBatch>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        if self.due {
            self.due = false;
            context.waker().wake_by_ref();
            return Poll::Pending;
        }
        let batch = match self.rest.take() {
            Some(rest) => rest,
            None => match ready!(self.rows.poll_next_unpin(context)) {
                Some(Ok(batch)) => batch,
                end => return Poll::Ready(end),
            },
        };
        self.due = true;
        let piece = batch.slice(0, batch.num_rows().min(ROWS));
        if batch.num_rows() > ROWS {
            self.rest = Some(batch.slice(ROWS, batch.num_rows() - ROWS));
        }
        Poll::Ready(Some(Ok(piece)))
    }
}

#[cfg(test)]
mod tests;
