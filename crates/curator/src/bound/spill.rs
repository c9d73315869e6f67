//! Rows by radix partition, in memory and, beyond a limit, in a temporary file.
//!
//! A row consists of W words: two for the person, one for the group, then the arguments. The partition is a function
//! of the person's word, so all rows of one person are in one partition.
//!
//! # Temporary files
//! DataFusion's disk manager creates them, readable by their owner only, and they count against its disk limit. Where
//! the system allows it, the name is removed as soon as the file is open, so that not even a killed process leaves a
//! file behind.

use super::encode::Encoded;
use datafusion::arrow::datatypes::ToByteSlice;
use datafusion::common::{Result, exec_datafusion_err};
use datafusion::execution::TaskContext;
use datafusion::execution::memory_pool::MemoryReservation;
use std::fs::File;
use std::io::{Read, Seek, SeekFrom, Write};
use std::sync::{Arc, Mutex};

use super::intern::lock;

/// The number of partitions: 100 M rows of 16 bytes make about 6 MB each.
pub(super) const PARTITIONS: usize = 256;
/// The number of words before the arguments.
pub(super) const HEAD: usize = 3;

/// A row: the person's word (high half first), the group, the arguments.
pub(super) type Row<const W: usize> = [u32; W];

/// The word that names the row's person.
#[inline]
pub(super) fn person<const W: usize>(row: &Row<W>) -> u64 {
    u64::from(row[0]) << 32 | u64::from(row[1])
}

/// The rows of one input partition, by radix partition.
pub(super) struct Store<const W: usize> {
    parts: Vec<Blocks<W>>,
    held: usize,
    limit: usize,
    reservation: MemoryReservation,
    spill: Option<Arc<Spill>>,
    segments: Vec<Vec<Segment>>,
    /// One batch sorted by partition, and the destination of each row.
    sorted: Vec<Row<W>>,
    places: Vec<u32>,
}

/// Rows in blocks that never move, so that growing copies nothing and wastes little.
type Blocks<const W: usize> = Vec<Vec<Row<W>>>;

const FIRST_BLOCK: usize = 64;
const MOST_BLOCK: usize = 4096;

/// A range of rows in a file.
#[derive(Clone)]
struct Segment {
    offset: u64,
    rows: usize,
}

impl Segment {
    fn end<const W: usize>(&self) -> u64 {
        self.offset + (self.rows * size_of::<Row<W>>()) as u64
    }
}

/// Appends rows, in as many blocks as it takes.
#[inline]
fn extend<const W: usize>(blocks: &mut Blocks<W>, mut rows: &[Row<W>]) {
    while !rows.is_empty() {
        match blocks.last_mut() {
            Some(last) if last.len() < last.capacity() => {
                let (now, later) = rows.split_at(rows.len().min(last.capacity() - last.len()));
                last.extend_from_slice(now);
                rows = later;
            }
            last => {
                let size = last.map_or(FIRST_BLOCK, |last| (2 * last.capacity()).min(MOST_BLOCK));
                blocks.push(Vec::with_capacity(size));
            }
        }
    }
}

impl<const W: usize> Store<W> {
    /// A store that holds at most `limit` bytes of rows or what `reservation` has room for, but at least one batch.
    pub(super) fn new(limit: usize, reservation: MemoryReservation) -> Self {
        Self {
            reservation,
            parts: vec![Vec::new(); PARTITIONS],
            held: 0,
            limit,
            spill: None,
            segments: vec![Vec::new(); PARTITIONS],
            sorted: Vec::new(),
            places: Vec::new(),
        }
    }

    /// Adds a batch, without the rows whose id is NULL.
    ///
    /// The batch is first sorted by partition while it fits the CPU cache: writing its rows straight to 256 places
    /// would miss the cache at each of them.
    pub(super) fn add(&mut self, batch: &Encoded, context: &TaskContext) -> Result<()> {
        let mut starts = [0u32; PARTITIONS + 1];
        let partition = |person: u64| (person >> 56) as usize;
        let somebody = |i: usize| batch.somebody.as_ref().is_none_or(|s| s.is_valid(i));
        for (i, &person) in batch.people.iter().enumerate() {
            starts[partition(person) + 1] += u32::from(somebody(i));
        }
        for i in 0..PARTITIONS {
            starts[i + 1] += starts[i];
        }
        let rows = starts[PARTITIONS] as usize;
        let mut next = starts;
        self.sorted.resize(rows.max(self.sorted.len()), [0; W]);
        self.places.clear();
        for (i, (&person, &group)) in batch.people.iter().zip(&batch.groups).enumerate() {
            if !somebody(i) {
                self.places.push(u32::MAX);
                continue;
            }
            let place = &mut next[partition(person)];
            let row = &mut self.sorted[*place as usize];
            row[0] = (person >> 32) as u32;
            row[1] = person as u32;
            row[2] = group;
            self.places.push(*place);
            *place += 1;
        }
        for (word, argument) in (HEAD..W).zip(&batch.arguments) {
            for (&place, &number) in self.places.iter().zip(argument) {
                if let Some(row) = self.sorted.get_mut(place as usize) {
                    row[word] = number;
                }
            }
        }
        for (i, part) in self.parts.iter_mut().enumerate() {
            extend(part, &self.sorted[starts[i] as usize..starts[i + 1] as usize]);
        }
        self.held += rows;
        let bytes = self.held * size_of::<Row<W>>();
        if bytes > self.limit || self.reservation.try_resize(bytes).is_err() {
            self.write(context)?;
        }
        Ok(())
    }

    /// Writes every partition to the file and clears it.
    fn write(&mut self, context: &TaskContext) -> Result<()> {
        let spill = match &self.spill {
            Some(spill) => Arc::clone(spill),
            None => Arc::clone(self.spill.insert(Arc::new(Spill::create(context)?))),
        };
        let mut file = lock(&spill.file);
        for (part, segments) in self.parts.iter_mut().zip(&mut self.segments) {
            for block in part.drain(..) {
                let offset = file.append(block.as_flattened().to_byte_slice())?;
                match segments.last_mut() {
                    Some(last) if last.end::<W>() == offset => last.rows += block.len(),
                    _ => segments.push(Segment { offset, rows: block.len() }),
                }
            }
        }
        self.held = 0;
        self.reservation.free();
        Ok(())
    }

    /// Merges the partitions of several stores; also returns their memory reservations.
    pub(super) fn gather(stores: Vec<Self>) -> (Vec<Mutex<Partition<W>>>, Vec<MemoryReservation>) {
        let mut memory = Vec::with_capacity(stores.len());
        let mut all: Vec<Partition<W>> = (0..PARTITIONS).map(|_| Partition::default()).collect();
        for store in stores {
            let parts = store.parts.into_iter().zip(store.segments);
            for (partition, (part, segments)) in all.iter_mut().zip(parts) {
                partition.chunks.extend(part);
                if let Some(spill) = store.spill.as_ref().filter(|_| !segments.is_empty()) {
                    partition.files.push((Arc::clone(spill), segments));
                }
            }
            memory.push(store.reservation);
        }
        (all.into_iter().map(Mutex::new).collect(), memory)
    }
}

/// The rows of one radix partition, in memory and in files.
#[derive(Default)]
pub(super) struct Partition<const W: usize> {
    chunks: Blocks<W>,
    files: Vec<(Arc<Spill>, Vec<Segment>)>,
}

impl<const W: usize> Partition<W> {
    /// How many rows there are.
    pub(super) fn rows(&self) -> usize {
        let held: usize = self.chunks.iter().map(Vec::len).sum();
        held + self.files.iter().flat_map(|(_, s)| s).map(|segment| segment.rows).sum::<usize>()
    }

    /// Appends the rows of all people for whom `which` holds to `out`, reading every file once.
    pub(super) fn read(&self, which: impl Fn(u64) -> bool, out: &mut Vec<Row<W>>) -> Result<()> {
        let wanted = |row: &&Row<W>| which(person(row));
        for chunk in &self.chunks {
            out.extend(chunk.iter().filter(wanted));
        }
        let (mut bytes, mut row) = (Vec::new(), [0; W]);
        for (spill, segments) in &self.files {
            for segment in segments {
                bytes.resize(segment.rows * size_of::<Row<W>>(), 0);
                lock(&spill.file).read(segment.offset, &mut bytes)?;
                for from in bytes.chunks_exact(size_of::<Row<W>>()) {
                    for (word, bytes) in row.iter_mut().zip(from.as_chunks().0) {
                        *word = u32::from_ne_bytes(*bytes);
                    }
                    out.extend(Some(row).filter(|row| which(person(row))));
                }
            }
        }
        Ok(())
    }

    /// The rows, if all are in memory, without copying.
    fn in_memory(&self) -> Option<&[Vec<Row<W>>]> {
        self.files.is_empty().then_some(self.chunks.as_slice())
    }

    /// Calls `each` with all rows of some people, until it has seen everybody; with at most about `limit` bytes of rows in
    /// memory (one person's rows are always held together). `read` is memory to use.
    pub(super) fn passes(
        &self,
        limit: usize,
        read: &mut Vec<Row<W>>,
        mut each: impl FnMut(&[Vec<Row<W>>]),
    ) -> Result<()> {
        if let Some(chunks) = self.in_memory()
            && self.rows() <= MOST_ROWS
        {
            each(chunks);
            return Ok(());
        }
        // Too large to be read at once: in several passes, by the next bits.
        let bytes = self.rows() * size_of::<Row<W>>();
        let passes = (bytes / limit.clamp(1, MOST_ROWS) + 1).next_power_of_two().min(256) as u64;
        for pass in 0..passes {
            let mut chunk = std::mem::take(read);
            chunk.clear();
            self.read(|person| (person >> 48) % passes == pass, &mut chunk)?;
            let chunks = [chunk];
            each(&chunks);
            [*read] = chunks;
        }
        Ok(())
    }
}

/// How many rows are aimed at in one bucket: most buckets are one person's then.
const BUCKET: usize = 2;
const MOST_BUCKET_BITS: u32 = 18;
/// Row numbers are 31 bits wide.
const MOST_ROWS: usize = 1 << 30;

/// Brings people's rows together with one counting sort by the bits after those of the partition. `ends` is where each bucket
/// ends; all rows of a person are in one.
pub(super) fn by_bucket<const W: usize>(
    chunks: &[Vec<Row<W>>],
    ends: &mut Vec<u32>,
    rows: &mut Vec<Row<W>>,
) {
    let count: usize = chunks.iter().map(Vec::len).sum();
    let bits = (count / BUCKET + 1).ilog2().clamp(1, MOST_BUCKET_BITS);
    let bucket = |row: &Row<W>| (row[0] << 8 >> (u32::BITS - bits)) as usize;
    ends.clear();
    ends.resize((1 << bits) + 1, 0);
    for chunk in chunks {
        chunk.iter().for_each(|row| ends[bucket(row) + 1] += 1);
    }
    let mut sum = 0;
    for start in ends.iter_mut() {
        sum += *start;
        *start = sum;
    }
    rows.resize(count, [0; W]);
    for chunk in chunks {
        for row in chunk {
            let at = &mut ends[bucket(row)];
            rows[*at as usize] = *row;
            *at += 1;
        }
    }
    // Each start has moved to the end of its bucket.
    ends.truncate(1 << bits);
}

/// A temporary file, deleted when dropped.
pub(super) struct Spill {
    file: Mutex<Appended>,
    /// Deletes the file, and gives its size back to the disk manager.
    _owner: Arc<dyn datafusion::execution::SpillFile>,
}

struct Appended {
    writer: Box<dyn datafusion::execution::SpillWriter>,
    reader: File,
    end: u64,
}

impl Spill {
    pub(super) fn create(context: &TaskContext) -> Result<Self> {
        let disk = &context.runtime_env().disk_manager;
        let owner = disk.create_tmp_file("contribution bounding")?;
        let elsewhere = || exec_datafusion_err!("contribution bounding spills to local files only");
        let path = owner.path().ok_or_else(elsewhere)?;
        let (writer, reader) = (owner.open_writer()?, File::open(path)?);
        if cfg!(unix) {
            std::fs::remove_file(path)?;
        }
        Ok(Self { file: Mutex::new(Appended { writer, reader, end: 0 }), _owner: owner })
    }

    /// Appends bytes and returns their offset.
    pub(super) fn append(&self, bytes: &[u8]) -> Result<u64> {
        lock(&self.file).append(bytes)
    }

    /// Reads the bytes at an offset.
    pub(super) fn read(&self, offset: u64, bytes: &mut [u8]) -> Result<()> {
        lock(&self.file).read(offset, bytes)
    }
}

impl Appended {
    fn append(&mut self, bytes: &[u8]) -> Result<u64> {
        let offset = self.end;
        self.writer.write_all(bytes)?;
        self.end += bytes.len() as u64;
        Ok(offset)
    }

    fn read(&mut self, offset: u64, bytes: &mut [u8]) -> Result<()> {
        self.writer.flush()?;
        self.reader.seek(SeekFrom::Start(offset))?;
        Ok(self.reader.read_exact(bytes)?)
    }
}
