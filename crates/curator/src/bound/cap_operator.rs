//! The operator of [`super::cap::CapRows`]: limits the number of rows of each person.
//!
//! It requests a distribution that puts all rows of one person into one partition. Each partition reads its input to
//! the end and adds up the sizes of each person's rows. Then it emits the rows: those of people within the limit as they
//! came, those of the others after the same choice as in contribution bounding ([`Chooser`]), with the whole row as its
//! content. A person above the limit m whose largest row has a size of at most 2^j keeps max(1, ⌊m/2^j⌋) rows, so their
//! sizes add up to at most m. A row that is larger than m by itself is left out before.
//!
//! Every row is looked up in both passes, whether or not anyone is above the limit. Otherwise one person's rows would
//! decide whether a second pass over all rows takes place.
//!
//! # Memory
//! Rows, counts and the index of each row's person are counted against the memory pool. If the pool is full, the rows
//! so far go to a temporary file (see `spill`) and are read back in the same order.

use super::cap::SHORT;
use super::choose::{Chooser, Scratch};
use super::encode::Encoder;
use super::intern::{Interned, lock};
use super::key::Key;
use super::output::Output;
use super::spec::{Argument, BoundSpec, Form};
use super::spill::{Spill, Store};
use crate::rows::operator::Operator;
use crate::rows::total::LONGEST;
use datafusion::arrow::array::{
    ArrayRef, AsArray, BinaryArray, BooleanArray, RecordBatch, RecordBatchOptions,
};
use datafusion::arrow::buffer::BooleanBuffer;
use datafusion::arrow::compute::filter_record_batch;
use datafusion::arrow::datatypes::{DataType, Field, Schema, SchemaRef, UInt32Type};
use datafusion::arrow::ipc::reader::StreamReader;
use datafusion::arrow::ipc::writer::StreamWriter;
use datafusion::arrow::row::{RowConverter, SortField};
use datafusion::common::utils::memory::get_record_batch_memory_size;
use datafusion::common::{HashMap, Result, ScalarValue, exec_datafusion_err, internal_err};
use datafusion::execution::memory_pool::{MemoryConsumer, MemoryReservation};
use datafusion::execution::{SendableRecordBatchStream, TaskContext};
use datafusion::physical_expr::expressions::Column;
use datafusion::physical_expr::{Distribution, EquivalenceProperties};
use datafusion::physical_plan::execution_plan::{Boundedness, EmissionType};
use datafusion::physical_plan::stream::RecordBatchReceiverStream;
use datafusion::physical_plan::{ExecutionPlan, ExecutionPlanProperties, PlanProperties};
use futures::StreamExt;
use std::fmt;
use std::sync::Arc;
use tokio::sync::mpsc::Sender;

/// How much of each person stays.
#[derive(Clone, Copy, Debug)]
pub(super) struct Limit {
    pub(super) most: u32,
    /// Whether rows count by their size, and not once each.
    pub(super) by_size: bool,
}

/// The largest size of a row, as log₂: texts have at most [`LONGEST`] bytes.
const LARGEST: u32 = (LONGEST / SHORT).ilog2();

/// Keeps at most `limit` of each person's rows, as the module `bound::cap` defines.
pub(super) struct Cap {
    input: Arc<dyn ExecutionPlan>,
    unit: usize,
    limit: Limit,
    key: Key,
    properties: Arc<PlanProperties>,
}

impl Cap {
    /// Bounds the rows of `input`, where the column `unit` holds the person's id.
    pub(super) fn new(
        input: Arc<dyn ExecutionPlan>,
        unit: usize,
        limit: Limit,
        key: Key,
    ) -> Result<Self> {
        if unit >= input.schema().fields().len() || limit.most == 0 {
            return internal_err!("CapExec needs a person's id and a limit");
        }
        let properties = Arc::new(PlanProperties::new(
            EquivalenceProperties::new(input.schema()),
            input.output_partitioning().clone(),
            EmissionType::Final,
            Boundedness::Bounded,
        ));
        Ok(Self { input, unit, limit, key, properties })
    }
}

impl fmt::Display for Cap {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "CapExec: most={}", self.limit.most)
    }
}

impl Operator for Cap {
    const NAME: &'static str = "CapExec";

    fn input(&self) -> &Arc<dyn ExecutionPlan> {
        &self.input
    }

    fn over(&self, input: Arc<dyn ExecutionPlan>) -> Result<Self> {
        Self::new(input, self.unit, self.limit, self.key.clone())
    }

    fn properties(&self) -> &Arc<PlanProperties> {
        &self.properties
    }

    /// Puts all rows of a person into one partition.
    fn distribution(&self) -> Option<Distribution> {
        let schema = self.input.schema();
        let unit = Column::new(schema.field(self.unit).name(), self.unit);
        Some(Distribution::KeyPartitioned(vec![Arc::new(unit)]))
    }

    fn execute(
        &self,
        partition: usize,
        context: Arc<TaskContext>,
    ) -> Result<SendableRecordBatchStream> {
        let schema = self.input.schema();
        let mut builder = RecordBatchReceiverStream::builder(Arc::clone(&schema), 2);
        let input = self.input.execute(partition, Arc::clone(&context))?;
        let capping = Capping {
            schema,
            unit: self.unit,
            limit: self.limit,
            key: self.key.clone(),
            held: Held::new(&context),
            context,
            out: builder.tx(),
        };
        builder.spawn(capping.run(input));
        Ok(builder.build())
    }
}

/// The index of a row whose id is NULL, or that is too large.
const NOBODY: u32 = u32::MAX;

/// The rows of one person.
#[derive(Clone, Copy, Default)]
struct Own {
    /// Their sizes, added up.
    sizes: u32,
    largest: u32,
}

impl Own {
    /// The least j with `largest ≤ 2^j`.
    fn class(self) -> u32 {
        self.largest.next_power_of_two().ilog2()
    }
}

/// The size of each row of a batch: one for every [`SHORT`] bytes of its longest text, and at least one.
fn sizes(batch: &RecordBatch, sizes: &mut Vec<u32>) {
    sizes.clear();
    sizes.resize(batch.num_rows(), 1);
    let mut grow = |row: usize, bytes: usize| {
        let size = u32::try_from(bytes.div_ceil(SHORT)).unwrap_or(u32::MAX);
        sizes[row] = sizes[row].max(size);
    };
    for column in batch.columns() {
        match column.data_type() {
            DataType::Utf8 => {
                let lengths = column.as_string::<i32>().offsets().lengths();
                lengths.enumerate().for_each(|(row, bytes)| grow(row, bytes));
            }
            DataType::LargeUtf8 => {
                let lengths = column.as_string::<i64>().offsets().lengths();
                lengths.enumerate().for_each(|(row, bytes)| grow(row, bytes));
            }
            DataType::Utf8View => {
                // The length is in the low half of a view.
                let views = column.as_string_view().views().iter();
                views.enumerate().for_each(|(row, view)| grow(row, *view as u32 as usize));
            }
            _ => {}
        }
    }
}

/// One partition.
struct Capping {
    schema: SchemaRef,
    unit: usize,
    limit: Limit,
    key: Key,
    held: Held,
    context: Arc<TaskContext>,
    out: Sender<Result<RecordBatch>>,
}

impl Capping {
    async fn run(mut self, mut input: SendableRecordBatchStream) -> Result<()> {
        let spec = spec(self.unit, Vec::new(), self.limit.most);
        let interned = Arc::new(Interned::new(&spec, &self.schema, self.key.clone())?);
        let mut encoder = Encoder::new(&spec, &interned);
        // Each person's index in order of arrival, and what each has.
        let (mut numbers, mut counts) = (HashMap::<u64, u32>::default(), Vec::<Own>::new());
        // The person's index for every row.
        let mut people: Vec<u32> = Vec::new();
        let mut sizes_of_rows = Vec::new();
        while let Some(batch) = input.next().await.transpose()? {
            if self.limit.by_size {
                sizes(&batch, &mut sizes_of_rows);
            }
            let rows = encoder.encode(&batch)?;
            for (i, &person) in rows.people.iter().enumerate() {
                let size = sizes_of_rows.get(i).copied().unwrap_or(1);
                let nobody = rows.somebody.as_ref().is_some_and(|known| known.is_null(i));
                if nobody || size > self.limit.most {
                    people.push(NOBODY);
                    continue;
                }
                let next = counts.len() as u32;
                let number = *numbers.entry(person).or_insert(next);
                if number == next {
                    counts.push(Own::default());
                }
                let own = &mut counts[number as usize];
                own.sizes = own.sizes.saturating_add(size);
                own.largest = own.largest.max(size);
                people.push(number);
            }
            let tables = people.capacity() * 4 + counts.capacity() * 8 + numbers.capacity() * 20;
            self.held.add(batch, tables, &self.context)?;
            tokio::task::yield_now().await;
        }
        drop(numbers);
        self.hand_on(&people, &counts).await
    }

    /// Emits all rows in the order they came. Rows of people above the limit are set aside and chosen from.
    async fn hand_on(mut self, people: &[u32], counts: &[Own]) -> Result<()> {
        let most = self.limit.most;
        let classes = if self.limit.by_size { 0..=LARGEST } else { 0..=0 };
        let above = classes.map(|class| Above::new(&self, (most >> class).max(1)));
        let mut above: Vec<Above> = above.collect::<Result<_>>()?;
        let mut at = 0;
        let held = std::mem::replace(&mut self.held, Held::new(&self.context));
        for batch in held.into_batches() {
            let batch = batch?;
            let own = &people[at..at + batch.num_rows()];
            at += batch.num_rows();
            let those = |which: &dyn Fn(Own) -> bool| {
                let count = |row: usize| counts.get(own[row] as usize).copied();
                let those = |row: usize| count(row).is_some_and(which);
                let mask = BooleanArray::new(BooleanBuffer::collect_bool(own.len(), those), None);
                filter_record_batch(&batch, &mask)
            };
            for (class, above) in above.iter_mut().enumerate() {
                let those = those(&|own| own.sizes > most && own.class() == class as u32)?;
                above.add(&those, &self)?;
            }
            let few = those(&|own| own.sizes <= most)?;
            if few.num_rows() > 0 && self.out.send(Ok(few)).await.is_err() {
                return Ok(()); // the receiver is gone
            }
            tokio::task::yield_now().await;
        }
        for above in above {
            above.choose(&self).await?;
        }
        Ok(())
    }
}

/// At most `max_rows` rows of each person.
fn spec(unit: usize, arguments: Vec<Argument>, max_rows: u32) -> BoundSpec {
    let keys = Vec::new();
    BoundSpec { unit: Some(unit), keys, arguments, max_groups: 1, max_rows, weighing: None }
}

/// The rows of people above the limit. [`Chooser`] decides which stay, as if they were rows of one group whose
/// argument is the row's whole content.
struct Above {
    spec: BoundSpec,
    /// The schema: a person's id, and the row as bytes.
    pair: SchemaRef,
    converter: RowConverter,
    interned: Arc<Interned>,
    encoder: Encoder,
    store: Store<4>,
    reservation: MemoryReservation,
}

impl Above {
    /// With the number of rows that each of them keeps.
    fn new(of: &Capping, most: u32) -> Result<Self> {
        let fields = of.schema.fields().iter();
        let fields = fields.map(|field| SortField::new(field.data_type().clone())).collect();
        let unit = of.schema.field(of.unit).data_type().clone();
        let pair = Arc::new(Schema::new(vec![
            Field::new("unit", unit, true),
            Field::new("row", DataType::Binary, false),
        ]));
        let spec = spec(0, vec![Argument { column: 1, form: Form::Code }], most);
        let interned = Arc::new(Interned::new(&spec, &pair, of.key.clone())?);
        Ok(Self {
            encoder: Encoder::new(&spec, &interned),
            store: Store::new(usize::MAX, of.held.rows.new_empty()),
            converter: RowConverter::new(fields)?,
            reservation: of.held.tables.new_empty(),
            spec,
            pair,
            interned,
        })
    }

    fn add(&mut self, batch: &RecordBatch, of: &Capping) -> Result<()> {
        if batch.num_rows() == 0 {
            return Ok(());
        }
        let rows = self.converter.convert_columns(batch.columns())?;
        // Counted but never refused: one person's rows must not make a query fail.
        self.reservation.grow(rows.size());
        let contents = BinaryArray::from_iter_values(rows.iter().map(|row| row.data().to_vec()));
        let columns: Vec<ArrayRef> = vec![Arc::clone(batch.column(of.unit)), Arc::new(contents)];
        let batch = RecordBatch::try_new(Arc::clone(&self.pair), columns)?;
        self.store.add(self.encoder.encode(&batch)?, &of.context)
    }

    async fn choose(self, of: &Capping) -> Result<()> {
        let (partitions, _held) = Store::gather(vec![self.store]);
        let chooser = Chooser::new(&self.spec, &self.interned);
        let (mut output, mut scratch) = (Output::new(&self.spec.output()), Scratch::default());
        let enough = of.context.session_config().batch_size();
        for (at, partition) in partitions.iter().enumerate() {
            let partition = std::mem::take(&mut *lock(partition));
            chooser.partition(&partition, usize::MAX, &mut scratch, &mut output)?;
            let last = at + 1 == partitions.len();
            if output.rows() >= enough || last && output.rows() > 0 {
                let chosen = output.take()?;
                let codes = chosen.column(2).as_primitive::<UInt32Type>().values();
                let contents = self.interned.code_values(0, codes)?;
                let batch = rows(&contents, &self.converter, &of.schema)?;
                if of.out.send(Ok(batch)).await.is_err() {
                    return Ok(());
                }
            }
            tokio::task::yield_now().await;
        }
        Ok(())
    }
}

/// Decodes rows from their content.
fn rows(
    contents: &[ScalarValue],
    converter: &RowConverter,
    schema: &SchemaRef,
) -> Result<RecordBatch> {
    let parser = converter.parser();
    let parsed = contents.iter().map(|content| match content {
        ScalarValue::Binary(Some(bytes)) => Ok(parser.parse(bytes)),
        _ => Err(exec_datafusion_err!("a row lost its content")),
    });
    let parsed = parsed.collect::<Result<Vec<_>>>()?;
    let options = RecordBatchOptions::new().with_row_count(Some(parsed.len()));
    let columns = converter.convert_rows(parsed)?;
    Ok(RecordBatch::try_new_with_options(Arc::clone(schema), columns, &options)?)
}

/// The rows of a partition in order of arrival: the first ones in a file, the last ones in memory.
struct Held {
    batches: Vec<RecordBatch>,
    /// The offset of each batch in the file, and its length in bytes.
    written: Vec<(u64, usize)>,
    spill: Option<Spill>,
    rows: MemoryReservation,
    tables: MemoryReservation,
}

impl Held {
    fn new(context: &TaskContext) -> Self {
        let consumer = |of: &str| MemoryConsumer::new(format!("before a join: {of}"));
        let pool = context.memory_pool();
        let rows = consumer("rows").with_can_spill(true).register(pool);
        let tables = consumer("people").register(pool);
        Self { batches: Vec::new(), written: Vec::new(), spill: None, rows, tables }
    }

    /// Adds a batch; `tables` is the current size of the tables beside the rows.
    fn add(&mut self, batch: RecordBatch, tables: usize, context: &TaskContext) -> Result<()> {
        self.tables.try_resize(tables)?;
        let size = get_record_batch_memory_size(&batch);
        let room = self.rows.try_grow(size).is_ok();
        self.batches.push(batch);
        if !room {
            self.write(context)?;
        }
        Ok(())
    }

    fn write(&mut self, context: &TaskContext) -> Result<()> {
        let spill = match &self.spill {
            Some(spill) => spill,
            None => self.spill.insert(Spill::create(context)?),
        };
        for batch in self.batches.drain(..) {
            let mut writer = StreamWriter::try_new(Vec::new(), &batch.schema())?;
            writer.write(&batch)?;
            let bytes = writer.into_inner()?;
            self.written.push((spill.append(&bytes)?, bytes.len()));
        }
        self.rows.free();
        Ok(())
    }

    /// All rows, in the order they came.
    fn into_batches(self) -> impl Iterator<Item = Result<RecordBatch>> {
        let Self { batches, written, spill, rows, tables } = self;
        let read = written.into_iter().map(move |(offset, length)| {
            let lost = || exec_datafusion_err!("rows written to a temporary file are not there");
            let mut bytes = vec![0; length];
            spill.as_ref().ok_or_else(lost)?.read(offset, &mut bytes)?;
            let mut reader = StreamReader::try_new(bytes.as_slice(), None)?;
            Ok(reader.next().ok_or_else(lost)??)
        });
        let held = batches.into_iter().map(Ok);
        // Counted until the last one has been emitted.
        let end = std::iter::from_fn(move || {
            let _counted = (&rows, &tables);
            None
        });
        read.chain(held).chain(end)
    }
}
