//! CSV, in blocks, on all processors.
//!
//! The input is cut after line ends into blocks; each thread encodes the blocks
//! it takes with dictionaries of its own, which are merged at the end by where
//! each text was met first. From the first block with a quotation mark (or a
//! carriage return that does not end a line) on, lines cannot be told apart by
//! looking for line ends, and the rest is left to the `csv` crate.

use super::dictionary::{Dictionary, PADDING};
use super::{Column, TABLE, Table, distinct};
use crate::error::{Error, Result};
use std::io::Read;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

/// Bytes in a block: few enough to stay in a processor's cache.
const BLOCK: usize = 1 << 17;
/// So many blocks are encoded by the calling thread: starting others would cost more.
const ALONE: u64 = 32;

/// How many rows a block has, and which worker holds their codes, block after block.
struct Encoded {
    block: u64,
    worker: usize,
    rows: usize,
}

/// Whole lines, without quotation marks, as bytes; behind them there is [`PADDING`].
struct Block {
    number: u64,
    /// The line at which it begins.
    line: u64,
    bytes: Vec<u8>,
}

/// Cuts the input into blocks of whole lines.
struct Source<R> {
    input: R,
    /// What was read but not handed out.
    rest: Vec<u8>,
    /// The line at which `rest` begins.
    line: u64,
    next: u64,
    ended: bool,
    /// Quotation marks are in sight: `rest` and what follows need the `csv` crate.
    quoted: bool,
}

/// Reads a table. See [`Table::from_csv`].
pub(super) fn table(mut input: impl Read, delimiter: u8) -> Result<Table> {
    let mut rest = Vec::new();
    fill(&mut input, &mut rest, BLOCK)?;
    if !delimiter.is_ascii() || matches!(delimiter, b'"' | b'\r' | b'\n') {
        return Err(Error::OutOfRange {
            parameter: "the delimiter",
            allowed: "an ASCII character",
        });
    }
    let (names, header, lines) = header(&rest, delimiter)?;
    rest.drain(..header);
    let first_line = lines + 1;
    let source = Source { ended: false, input, rest, line: first_line, next: 0, quoted: false };
    let (source, mut workers) = encode(source, names.len(), delimiter)?;

    if source.quoted {
        let number = workers.len();
        workers.push(slowly(source, delimiter, Worker::new(number, names.len()))?);
    }
    Ok(merge(names, workers))
}

/// Reads until `rest` is `size` long or the input ends; whether it ended.
fn fill(input: &mut impl Read, rest: &mut Vec<u8>, size: usize) -> Result<bool> {
    let mut filled = rest.len();
    rest.resize(size.max(filled), 0);
    while filled < rest.len() {
        match input.read(&mut rest[filled..]) {
            Ok(0) => {
                rest.truncate(filled);
                return Ok(true);
            }
            Ok(more) => filled += more,
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
            Err(source) => {
                return Err(Error::File { what: "reading the table".to_owned(), source });
            }
        }
    }
    Ok(false)
}

/// The header's names, its length in bytes and how many lines it takes.
fn header(start: &[u8], delimiter: u8) -> Result<(Vec<String>, usize, u64)> {
    let mut reader =
        csv::ReaderBuilder::new().delimiter(delimiter).has_headers(false).from_reader(start);
    let mut record = csv::StringRecord::new();
    if !reader.read_record(&mut record).map_err(|error| malformed(error, 0))? {
        return Err(Error::Malformed {
            what: TABLE.to_owned(),
            line: 1,
            why: "there is no header: the file is empty",
        });
    }
    let names: Vec<String> = record.iter().map(str::to_owned).collect();
    distinct(&names)?;
    let end = reader.position().byte() as usize;
    // Between CR and LF the record is over, the line is not.
    let end =
        end + usize::from(start[..end].last() == Some(&b'\r') && start.get(end) == Some(&b'\n'));
    let lines = start[..end].iter().filter(|&&byte| byte == b'\n').count() as u64;
    Ok((names, end, lines))
}

impl<R: Read> Source<R> {
    /// The next block, in the memory of a former one.
    fn take(&mut self, mut former: Vec<u8>) -> Result<Option<Block>> {
        if self.quoted {
            return Ok(None);
        }
        let mut size = BLOCK;
        loop {
            if !self.ended {
                self.ended = fill(&mut self.input, &mut self.rest, size)?;
            }
            if memchr::memchr2(b'"', b'\r', &self.rest).is_some()
                && (memchr::memchr(b'"', &self.rest).is_some()
                    || stray_return(&self.rest, self.ended))
            {
                self.quoted = true;
                return Ok(None);
            }
            let end = match self.ended {
                true => Some(self.rest.len()),
                false => memchr::memrchr(b'\n', &self.rest).map(|last| last + 1),
            };
            if let Some(end) = end {
                if end == 0 {
                    return Ok(None);
                }
                former.clear();
                former.extend_from_slice(&self.rest[end..]);
                let mut bytes = std::mem::replace(&mut self.rest, former);
                bytes.truncate(end);
                if bytes.last() != Some(&b'\n') {
                    bytes.push(b'\n');
                }
                let (number, line) = (self.next, self.line);
                self.next += 1;
                self.line += memchr::memchr_iter(b'\n', &bytes).count() as u64;
                bytes.resize(bytes.len() + PADDING, b'\n');
                return Ok(Some(Block { number, line, bytes }));
            }
            size *= 2;
        }
    }
}

/// A carriage return that no line feed follows.
fn stray_return(bytes: &[u8], ended: bool) -> bool {
    memchr::memchr_iter(b'\r', bytes).any(|at| match bytes.get(at + 1) {
        Some(&next) => next != b'\n',
        None => ended,
    })
}

/// What one thread has encoded.
struct Worker {
    number: usize,
    dictionaries: Vec<Dictionary>,
    /// For each column the codes of all its blocks, one after the other.
    codes: Vec<Vec<u32>>,
    blocks: Vec<Encoded>,
}

impl Worker {
    fn new(number: usize, columns: usize) -> Self {
        let dictionaries = (0..columns).map(|_| Dictionary::default()).collect();
        Self { number, dictionaries, codes: vec![Vec::new(); columns], blocks: Vec::new() }
    }

    /// Encodes a block, and gives its memory back.
    fn encode(&mut self, block: Block, delimiter: u8) -> Result<Vec<u8>> {
        let rows = encode_block(&block, delimiter, &mut self.dictionaries, &mut self.codes)?;
        self.blocks.push(Encoded { block: block.number, worker: self.number, rows });
        Ok(block.bytes)
    }
}

/// Encodes block after block, the first on the calling thread, then on as many as there are
/// processors, the calling one among them: the input itself need not be `Send`.
fn encode<R: Read>(
    mut source: Source<R>,
    columns: usize,
    delimiter: u8,
) -> Result<(Source<R>, Vec<Worker>)> {
    let mut mine = Worker::new(0, columns);
    let mut former = Vec::new();
    while source.next < ALONE {
        let Some(block) = source.take(former)? else {
            return Ok((source, vec![mine]));
        };
        former = mine.encode(block, delimiter)?;
    }
    let helpers = std::thread::available_parallelism().map_or(1, usize::from).saturating_sub(1);
    let failed = AtomicBool::new(false);
    let (sender, receiver) = std::sync::mpsc::sync_channel::<Block>(2 * helpers.max(1));
    let receiver = Mutex::new(receiver);
    let receive = || receiver.lock().ok().and_then(|queue| queue.recv().ok());
    let work = |number: usize| -> Result<Worker> {
        let mut worker = Worker::new(number, columns);
        while let Some(block) = receive() {
            // After a failure the queue is only emptied, so that nobody waits.
            if failed.load(Relaxed) {
                continue;
            }
            if let Err(error) = worker.encode(block, delimiter) {
                failed.store(true, Relaxed);
                while receive().is_some() {}
                return Err(error);
            }
        }
        Ok(worker)
    };
    std::thread::scope(|scope| {
        let spawned: Vec<_> =
            (1..=helpers).map(|number| scope.spawn(move || work(number))).collect();
        // The calling thread reads; whenever the queue is full it encodes a block itself.
        let mut outcome = Ok(());
        while !failed.load(Relaxed) {
            let block = match source.take(Vec::new()) {
                Ok(Some(block)) => block,
                Ok(None) => break,
                Err(error) => {
                    outcome = Err(error);
                    break;
                }
            };
            let refused = match helpers {
                0 => Some(block),
                _ => match sender.try_send(block) {
                    Ok(()) => None,
                    Err(
                        std::sync::mpsc::TrySendError::Full(block)
                        | std::sync::mpsc::TrySendError::Disconnected(block),
                    ) => Some(block),
                },
            };
            if let Some(block) = refused
                && let Err(error) = mine.encode(block, delimiter)
            {
                outcome = Err(error);
                break;
            }
        }
        if outcome.is_err() {
            failed.store(true, Relaxed);
        }
        drop(sender);
        let mut workers = vec![mine];
        for handle in spawned {
            match handle.join() {
                Ok(Ok(worker)) => workers.push(worker),
                Ok(Err(error)) => outcome = Err(error),
                Err(panic) => std::panic::resume_unwind(panic),
            }
        }
        outcome.map(|()| (source, workers))
    })
}

/// Marks the bytes of `word` that are `byte`, by their highest bit. No other is marked.
#[inline]
fn marks(word: u64, byte: u8) -> u64 {
    const LOW: u64 = 0x7f7f_7f7f_7f7f_7f7f;
    let zero_where_equal = word ^ u64::from_ne_bytes([byte; 8]);
    !(((zero_where_equal & LOW) + LOW) | zero_where_equal | LOW)
}

/// Encodes one block of lines without quotation marks.
fn encode_block(
    block: &Block,
    delimiter: u8,
    dictionaries: &mut [Dictionary],
    codes: &mut [Vec<u32>],
) -> Result<usize> {
    let what = || TABLE.to_owned();
    let bytes = block.bytes.as_slice();
    let length = bytes.len() - PADDING;
    let line_at =
        |end: usize| block.line + memchr::memchr_iter(b'\n', &bytes[..end]).count() as u64;
    if let Err(error) = std::str::from_utf8(&bytes[..length]) {
        let line = line_at(error.valid_up_to());
        return Err(Error::Malformed {
            what: what(),
            line,
            why: "not valid UTF-8; save the table in UTF-8",
        });
    }
    let columns = dictionaries.len();
    let mut rows = 0_u32;
    let mut start = 0;
    let mut column = 0;
    // Word by word: the padding sees to it that the last one is whole.
    for (at, word) in (0..length).step_by(8).zip(bytes.as_chunks::<8>().0) {
        let word = u64::from_le_bytes(*word);
        let mut ends = marks(word, delimiter) | marks(word, b'\n');
        while ends != 0 {
            let end = at + (ends.trailing_zeros() / 8) as usize;
            ends &= ends - 1;
            // `Source::take` ends every block with a line feed.
            if end >= length {
                break;
            }
            let last = bytes[end] == b'\n';
            let field = start;
            let stop = end - usize::from(last && end > start && bytes[end - 1] == b'\r');
            start = end + 1;
            if last && column == 0 && field == stop {
                continue; // an empty line, as the csv crate has it
            }
            let (Some(dictionary), Some(codes)) =
                (dictionaries.get_mut(column), codes.get_mut(column))
            else {
                return Err(ragged(line_at(end)));
            };
            codes.push(dictionary.code_in(bytes, field, stop, (block.number, rows)));
            column += 1;
            if last {
                if column != columns {
                    return Err(ragged(line_at(end)));
                }
                column = 0;
                rows += 1;
            }
        }
    }
    Ok(rows as usize)
}

/// The rest of the input through the `csv` crate, as one block after all others.
fn slowly<R: Read>(source: Source<R>, delimiter: u8, mut worker: Worker) -> Result<Worker> {
    let lines_before = source.line - 1;
    let mut reader = csv::ReaderBuilder::new()
        .delimiter(delimiter)
        .has_headers(false)
        .flexible(true)
        .buffer_capacity(BLOCK)
        .from_reader(source.rest.chain(source.input));
    let Worker { number, dictionaries, codes, blocks } = &mut worker;
    let mut record = csv::StringRecord::new();
    let mut rows = 0_u32;
    while reader.read_record(&mut record).map_err(|error| malformed(error, lines_before))? {
        if record.len() != codes.len() {
            return Err(ragged(lines_before + record.position().map_or(0, csv::Position::line)));
        }
        for ((dictionary, codes), text) in dictionaries.iter_mut().zip(&mut *codes).zip(&record) {
            codes.push(dictionary.code(text, (u64::MAX, rows)));
        }
        rows += 1;
    }
    blocks.push(Encoded { block: u64::MAX, worker: *number, rows: rows as usize });
    Ok(worker)
}

/// One dictionary a column, in order of first appearance, and the codes in it.
fn merge(names: Vec<String>, mut workers: Vec<Worker>) -> Table {
    let mut blocks: Vec<Encoded> = workers.iter_mut().flat_map(|w| w.blocks.drain(..)).collect();
    blocks.sort_by_key(|encoded| encoded.block);
    let rows = blocks.iter().map(|encoded| encoded.rows).sum();
    let mut columns = Vec::with_capacity(names.len());
    for (position, name) in names.into_iter().enumerate() {
        let take = |worker: &mut Worker| std::mem::take(&mut worker.dictionaries[position]);
        let (values, maps) = merge_column(workers.iter_mut().map(take).collect());
        let mut theirs: Vec<Vec<u32>> =
            workers.iter_mut().map(|w| std::mem::take(&mut w.codes[position])).collect();
        if theirs.len() == 1
            && let Some(codes) = theirs.pop()
        {
            columns.push(Column { name, values, codes });
            continue;
        }
        let mut codes = Vec::with_capacity(rows);
        let mut begin = vec![0; theirs.len()];
        for encoded in &blocks {
            let (map, from) = (&maps[encoded.worker], begin[encoded.worker]);
            begin[encoded.worker] += encoded.rows;
            let block = &theirs[encoded.worker][from..from + encoded.rows];
            codes.extend(block.iter().map(|&code| map[code as usize]));
        }
        columns.push(Column { name, values, codes });
    }
    Table { columns, rows }
}

/// The distinct texts of all workers, and for each worker its codes' new codes; none where
/// there is one worker, whose codes stay.
fn merge_column(mut dictionaries: Vec<Dictionary>) -> (Vec<String>, Vec<Vec<u32>>) {
    if dictionaries.len() == 1
        && let Some(only) = dictionaries.pop()
    {
        return (only.values, Vec::new());
    }
    let mut maps: Vec<Vec<u32>> = dictionaries.iter().map(|d| vec![0; d.values.len()]).collect();
    let mut all: Vec<((u64, u32), usize, u32, String)> = Vec::new();
    for (worker, dictionary) in dictionaries.into_iter().enumerate() {
        for (code, (text, place)) in dictionary.values.into_iter().zip(dictionary.first).enumerate()
        {
            all.push((place, worker, code as u32, text));
        }
    }
    all.sort_unstable_by_key(|entry| entry.0);
    let mut merged = Dictionary::default();
    for (place, worker, code, text) in all {
        maps[worker][code as usize] = merged.code(&text, place);
    }
    (merged.values, maps)
}

fn ragged(line: u64) -> Error {
    Error::Malformed { what: TABLE.to_owned(), line, why: "not as many fields as the header" }
}

/// csv's own message may quote a record: say where, never what.
fn malformed(error: csv::Error, lines_before: u64) -> Error {
    let line = lines_before + error.position().map_or(0, csv::Position::line);
    let what = TABLE.to_owned();
    match error.into_kind() {
        csv::ErrorKind::Io(source) => Error::File { what: "reading the table".to_owned(), source },
        csv::ErrorKind::Utf8 { .. } => {
            Error::Malformed { what, line, why: "not valid UTF-8; save the table in UTF-8" }
        }
        _ => Error::Malformed { what, line, why: "not well-formed CSV" },
    }
}

#[cfg(test)]
mod tests;
