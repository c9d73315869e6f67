//! The native operator: reads all input partitions at once, and has one output partition.
//!
//! There are two phases. First, a task for each input partition reads it, encodes it and distributes it over radix
//! partitions. When all have ended, as many tasks process the radix partitions and emit the rows that stay. Nothing is
//! emitted before the last input row has been read, because the choice needs them all.

use super::choose::{Chooser, Scratch};
use super::encode::Encoder;
use super::intern::{Interned, lock};
use super::output::{Output, batch_of_firsts};
use super::spec::{BoundSpec, Weighing};
use super::spill::{HEAD, PARTITIONS, Partition, Row, Store};
use super::weigh::{self, Weigher};
use crate::rows::operator::Operator;
use datafusion::arrow::array::RecordBatch;
use datafusion::common::runtime::JoinSet;
use datafusion::common::{DataFusionError, Result, internal_err};
use datafusion::execution::memory_pool::{MemoryConsumer, MemoryReservation};
use datafusion::execution::{SendableRecordBatchStream, TaskContext};
use datafusion::physical_expr::EquivalenceProperties;
use datafusion::physical_plan::execution_plan::{Boundedness, EmissionType};
use datafusion::physical_plan::stream::RecordBatchReceiverStream;
use datafusion::physical_plan::{
    ExecutionPlan, ExecutionPlanProperties, Partitioning, PlanProperties,
};
use futures::StreamExt;
use std::fmt;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use tokio::sync::mpsc::Sender;

/// The default limit for bytes of rows in memory.
pub const MEMORY_LIMIT: usize = 512 << 20;
/// The approximate number of rows in an output batch.
const BATCH: usize = 8192;

/// Bounds each person's contributions, as the module `bound` defines.
pub(crate) struct Bound {
    input: Arc<dyn ExecutionPlan>,
    spec: BoundSpec,
    interned: Arc<Interned>,
    memory_limit: usize,
    properties: Arc<PlanProperties>,
}

impl Bound {
    /// Bounds the rows of `input`.
    pub(crate) fn new(
        input: Arc<dyn ExecutionPlan>,
        spec: BoundSpec,
        interned: Arc<Interned>,
        memory_limit: usize,
    ) -> Result<Self> {
        spec.check(&input.schema())?;
        let properties = Arc::new(PlanProperties::new(
            EquivalenceProperties::new(spec.output()),
            Partitioning::UnknownPartitioning(1),
            match (spec.unit, spec.weighing) {
                (None, None) => EmissionType::Incremental,
                _ => EmissionType::Final,
            },
            Boundedness::Bounded,
        ));
        Ok(Self { input, spec, interned, memory_limit, properties })
    }
}

impl fmt::Display for Bound {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let BoundSpec { max_groups, max_rows, .. } = self.spec;
        write!(f, "BoundExec: max_groups={max_groups}, max_rows={max_rows}")
    }
}

impl Operator for Bound {
    const NAME: &'static str = "BoundExec";

    fn input(&self) -> &Arc<dyn ExecutionPlan> {
        &self.input
    }

    fn over(&self, input: Arc<dyn ExecutionPlan>) -> Result<Self> {
        let (spec, interned) = (self.spec.clone(), Arc::clone(&self.interned));
        Self::new(input, spec, interned, self.memory_limit)
    }

    fn properties(&self) -> &Arc<PlanProperties> {
        &self.properties
    }

    fn execute(
        &self,
        partition: usize,
        context: Arc<TaskContext>,
    ) -> Result<SendableRecordBatchStream> {
        if partition != 0 {
            return internal_err!("BoundExec has one output partition");
        }
        let inputs = self.input.output_partitioning().partition_count();
        let mut builder = RecordBatchReceiverStream::builder(self.spec.output(), inputs.max(2));
        let work = Work {
            input: Arc::clone(&self.input),
            inputs,
            spec: self.spec.clone(),
            interned: Arc::clone(&self.interned),
            memory: self.memory_limit / inputs.max(1),
            context,
            out: builder.tx(),
        };
        let words = HEAD + self.spec.words();
        match (self.spec.unit, self.spec.weighing) {
            (None, None) => builder.spawn(work.pass()),
            // A few widths instead of one per number of arguments, which is less code.
            _ => match words {
                0..=3 => builder.spawn(work.bound::<3>()),
                4 => builder.spawn(work.bound::<4>()),
                5 => builder.spawn(work.bound::<5>()),
                6 => builder.spawn(work.bound::<6>()),
                7..=8 => builder.spawn(work.bound::<8>()),
                9..=12 => builder.spawn(work.bound::<12>()),
                13..=20 => builder.spawn(work.bound::<20>()),
                _ => builder.spawn(work.bound::<68>()),
            },
        }
        Ok(builder.build())
    }
}

/// One execution.
#[derive(Clone)]
struct Work {
    input: Arc<dyn ExecutionPlan>,
    inputs: usize,
    spec: BoundSpec,
    interned: Arc<Interned>,
    /// The limit in bytes for the rows that each task holds.
    memory: usize,
    context: Arc<TaskContext>,
    out: Sender<Result<RecordBatch>>,
}

impl Work {
    fn reservation(&self, of: &str, can_spill: bool) -> MemoryReservation {
        let consumer = MemoryConsumer::new(format!("contribution bounding: {of}"));
        consumer.with_can_spill(can_spill).register(self.context.memory_pool())
    }

    /// Encodes and emits rows that need no bounding.
    async fn pass(self) -> Result<()> {
        let mut tasks = JoinSet::new();
        for i in 0..self.inputs {
            let work = self.clone();
            tasks.spawn(async move {
                let mut stream = work.input.execute(i, Arc::clone(&work.context))?;
                let mut encoder = Encoder::new(&work.spec, &work.interned);
                let schema = work.spec.output();
                while let Some(batch) = stream.next().await.transpose()? {
                    let rows = encoder.encode(&batch)?;
                    let batch = batch_of_firsts(&schema, &rows.groups, &rows.arguments)?;
                    if work.out.send(Ok(batch)).await.is_err() {
                        break; // the receiver is gone
                    }
                    tokio::task::yield_now().await;
                }
                Ok(())
            });
        }
        all(tasks).await?;
        Ok(())
    }

    async fn bound<const W: usize>(self) -> Result<()> {
        let mut tasks = JoinSet::new();
        for i in 0..self.inputs {
            let work = self.clone();
            tasks.spawn(async move {
                let mut stream = work.input.execute(i, Arc::clone(&work.context))?;
                let encoder = Encoder::new(&work.spec, &work.interned);
                let mut encoder = encoder.of_partition(i);
                let mut store = Store::<W>::new(work.memory, work.reservation("rows", true));
                while let Some(batch) = stream.next().await.transpose()? {
                    store.add(encoder.encode(&batch)?, &work.context)?;
                    // Rows may arrive for long without a pause, so this is where a cancelled query stops.
                    tokio::task::yield_now().await;
                }
                Ok(store)
            });
        }
        let (partitions, _held) = Store::gather(all(tasks).await?);
        let partitions = Arc::new(partitions);
        if let Some(weighing) = self.spec.weighing {
            return self.weigh(&partitions, weighing).await;
        }
        let chooser = Arc::new(Chooser::new(&self.spec, &self.interned));
        let next = Arc::new(AtomicUsize::new(0));
        let mut tasks = JoinSet::new();
        for _ in 0..self.inputs {
            let (partitions, chooser) = (Arc::clone(&partitions), Arc::clone(&chooser));
            let (next, work) = (Arc::clone(&next), self.clone());
            tasks.spawn(async move {
                let mut output = Output::new(&work.spec.output());
                let mut scratch = Scratch::default();
                let memory = work.reservation("choice", false);
                loop {
                    let at = next.fetch_add(1, Ordering::Relaxed);
                    let done = at >= PARTITIONS;
                    if !done {
                        let partition = std::mem::take(&mut *lock(&partitions[at]));
                        // Counted but never refused: all rows of a partition may be one person's, and one person must
                        // not make a query fail.
                        memory.resize(partition.rows() * size_of::<Row<W>>());
                        chooser.partition(&partition, work.memory, &mut scratch, &mut output)?;
                        tokio::task::yield_now().await;
                    }
                    if output.rows() >= BATCH || (done && output.rows() > 0) {
                        let batch = output.take()?;
                        if work.out.send(Ok(batch)).await.is_err() {
                            break;
                        }
                    }
                    if done {
                        break;
                    }
                }
                Ok(())
            });
        }
        all(tasks).await?;
        Ok(())
    }
}

impl Work {
    /// Totals for every bound, instead of rows.
    async fn weigh<const W: usize>(
        self,
        partitions: &Arc<Vec<Mutex<Partition<W>>>>,
        weighing: Weighing,
    ) -> Result<()> {
        let weigher = Arc::new(Weigher::new(&self.spec, weighing, &self.interned));
        let next = Arc::new(AtomicUsize::new(0));
        let mut tasks = JoinSet::new();
        for _ in 0..self.inputs {
            let (partitions, weigher) = (Arc::clone(partitions), Arc::clone(&weigher));
            let (next, work) = (Arc::clone(&next), self.clone());
            tasks.spawn(async move {
                let (mut totals, mut scratch) = (weigher.totals(), weigh::Scratch::default());
                let memory = work.reservation("weights", false);
                loop {
                    let at = next.fetch_add(1, Ordering::Relaxed);
                    if at >= PARTITIONS {
                        break;
                    }
                    let partition = std::mem::take(&mut *lock(&partitions[at]));
                    // Counted but never refused: all rows of a partition may be one person's, and one person must
                    // not make a query fail.
                    memory.resize(partition.rows() * size_of::<Row<W>>() + totals.bytes());
                    weigher.partition(&partition, work.memory, &mut scratch, &mut totals)?;
                    tokio::task::yield_now().await;
                }
                // Nobody may listen any more.
                let _ = work.out.send(totals.into_batch()).await;
                Ok(())
            });
        }
        all(tasks).await?;
        Ok(())
    }
}

/// Waits for all tasks; the first failure stops the others.
async fn all<T: 'static>(mut tasks: JoinSet<Result<T>>) -> Result<Vec<T>> {
    let mut results = Vec::new();
    while let Some(result) = tasks.join_next().await {
        let failed = |_| DataFusionError::Execution("contribution bounding was interrupted".into());
        results.push(result.map_err(failed)??);
    }
    Ok(results)
}
