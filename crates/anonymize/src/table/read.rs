//! CSV, in blocks, on all processors.
//!
//! The input is cut after line ends into blocks; each thread encodes the blocks
//! it takes with dictionaries of its own, which are merged at the end by where
//! each text was met first. From the first block with a quotation mark (or a
//! carriage return that does not end a line) on, lines cannot be told apart by
//! looking for line ends, and the rest is left to the `csv` crate.

use super::dictionary::Dictionary;
use super::{Column, Table};
use crate::error::{Error, Result};
use std::io::Read;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

/// Bytes in a block.
const BLOCK: usize = 1 << 20;

/// Encoded rows of one block: `codes[column][row]`.
struct Encoded {
    block: u64,
    worker: usize,
    rows: usize,
    codes: Vec<Vec<u32>>,
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
    let (source, mut dictionaries, mut blocks) = encode(source, names.len(), delimiter)?;

    if source.quoted {
        let worker = dictionaries.len();
        let slow = slowly(source, names.len(), delimiter, worker)?;
        dictionaries.push(slow.0);
        blocks.push(slow.1);
    }
    Ok(merge(names, dictionaries, blocks))
}

/// Reads until `rest` is `size` long or the input ends; whether it ended.
fn fill(input: &mut impl Read, rest: &mut Vec<u8>, size: usize) -> Result<bool> {
    let wanted = size.saturating_sub(rest.len());
    let read = input
        .by_ref()
        .take(wanted as u64)
        .read_to_end(rest)
        .map_err(|source| Error::File { what: "reading the table".to_owned(), source })?;
    Ok(read < wanted)
}

/// The header's names, its length in bytes and how many lines it takes.
fn header(start: &[u8], delimiter: u8) -> Result<(Vec<String>, usize, u64)> {
    let mut reader =
        csv::ReaderBuilder::new().delimiter(delimiter).has_headers(false).from_reader(start);
    let mut record = csv::StringRecord::new();
    if !reader.read_record(&mut record).map_err(|error| malformed(error, 0))? {
        return Err(Error::Malformed {
            what: "the table".to_owned(),
            line: 1,
            why: "there is no header",
        });
    }
    let names: Vec<String> = record.iter().map(str::to_owned).collect();
    for (position, name) in names.iter().enumerate() {
        if names[..position].contains(name) {
            return Err(Error::Malformed {
                what: "the table".to_owned(),
                line: 1,
                why: "two columns of the header have the same name",
            });
        }
    }
    let end = reader.position().byte() as usize;
    // Between CR and LF the record is over, the line is not.
    let end =
        end + usize::from(start[..end].last() == Some(&b'\r') && start.get(end) == Some(&b'\n'));
    let lines = start[..end].iter().filter(|&&byte| byte == b'\n').count() as u64;
    Ok((names, end, lines))
}

impl<R: Read> Source<R> {
    /// The next block: its number, its first line, its bytes.
    fn take(&mut self) -> Result<Option<(u64, u64, Vec<u8>)>> {
        if self.quoted {
            return Ok(None);
        }
        let mut size = BLOCK;
        loop {
            if !self.ended {
                self.ended = fill(&mut self.input, &mut self.rest, size)?;
            }
            if memchr::memchr(b'"', &self.rest).is_some() || stray_return(&self.rest, self.ended) {
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
                let rest = self.rest.split_off(end);
                let mut block = std::mem::replace(&mut self.rest, rest);
                if block.last() != Some(&b'\n') {
                    block.push(b'\n');
                }
                let place = (self.next, self.line);
                self.next += 1;
                self.line += memchr::memchr_iter(b'\n', &block).count() as u64;
                return Ok(Some((place.0, place.1, block)));
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

type Everything<R> = (Source<R>, Vec<Vec<Dictionary>>, Vec<Encoded>);

/// Encodes block after block on as many threads as there are processors, the
/// calling one among them: the input itself need not be `Send`.
fn encode<R: Read>(mut source: Source<R>, columns: usize, delimiter: u8) -> Result<Everything<R>> {
    let helpers = std::thread::available_parallelism().map_or(1, usize::from).saturating_sub(1);
    let failed = AtomicBool::new(false);
    let (sender, receiver) =
        std::sync::mpsc::sync_channel::<(u64, u64, Vec<u8>)>(2 * helpers.max(1));
    let receiver = Mutex::new(receiver);
    let receive = || receiver.lock().ok().and_then(|queue| queue.recv().ok());
    let work = |worker: usize| -> Result<(Vec<Dictionary>, Vec<Encoded>)> {
        let mut dictionaries: Vec<Dictionary> =
            (0..columns).map(|_| Dictionary::default()).collect();
        let mut blocks = Vec::new();
        while let Some((block, line, bytes)) = receive() {
            // After a failure the queue is only emptied, so that nobody waits.
            if failed.load(Relaxed) {
                continue;
            }
            match encode_block(&bytes, (block, line), delimiter, &mut dictionaries) {
                Ok((rows, codes)) => blocks.push(Encoded { block, worker, rows, codes }),
                Err(error) => {
                    failed.store(true, Relaxed);
                    while receive().is_some() {}
                    return Err(error);
                }
            }
        }
        Ok((dictionaries, blocks))
    };
    std::thread::scope(|scope| {
        let spawned: Vec<_> =
            (1..=helpers).map(|worker| scope.spawn(move || work(worker))).collect();
        // The calling thread reads; whenever the queue is full it encodes a block itself.
        let mut mine: Vec<Dictionary> = (0..columns).map(|_| Dictionary::default()).collect();
        let mut blocks = Vec::new();
        let mut outcome = Ok(());
        while !failed.load(Relaxed) {
            let taken = match source.take() {
                Ok(Some(taken)) => taken,
                Ok(None) => break,
                Err(error) => {
                    outcome = Err(error);
                    break;
                }
            };
            let refused = match helpers {
                0 => Some(taken),
                _ => match sender.try_send(taken) {
                    Ok(()) => None,
                    Err(
                        std::sync::mpsc::TrySendError::Full(taken)
                        | std::sync::mpsc::TrySendError::Disconnected(taken),
                    ) => Some(taken),
                },
            };
            if let Some((block, line, bytes)) = refused {
                match encode_block(&bytes, (block, line), delimiter, &mut mine) {
                    Ok((rows, codes)) => blocks.push(Encoded { block, worker: 0, rows, codes }),
                    Err(error) => {
                        outcome = Err(error);
                        break;
                    }
                }
            }
        }
        if outcome.is_err() {
            failed.store(true, Relaxed);
        }
        drop(sender);
        let mut dictionaries = vec![mine];
        for handle in spawned {
            match handle.join() {
                Ok(Ok((theirs, encoded))) => {
                    dictionaries.push(theirs);
                    blocks.extend(encoded);
                }
                Ok(Err(error)) => outcome = Err(error),
                Err(panic) => std::panic::resume_unwind(panic),
            }
        }
        outcome.map(|()| (source, dictionaries, blocks))
    })
}

/// Encodes one block of lines without quotation marks.
fn encode_block(
    bytes: &[u8],
    (block, first_line): (u64, u64),
    delimiter: u8,
    dictionaries: &mut [Dictionary],
) -> Result<(usize, Vec<Vec<u32>>)> {
    let what = || "the table".to_owned();
    let line_at =
        |end: usize| first_line + memchr::memchr_iter(b'\n', &bytes[..end]).count() as u64;
    let text = std::str::from_utf8(bytes).map_err(|error| Error::Malformed {
        what: what(),
        line: line_at(error.valid_up_to()),
        why: "not valid UTF-8",
    })?;
    let columns = dictionaries.len();
    let mut codes: Vec<Vec<u32>> =
        vec![Vec::with_capacity(bytes.len() / (8 * columns.max(1))); columns];
    let mut rows = 0_u32;
    let mut start = 0;
    let mut column = 0;
    // `Source::take` ends every block with a line feed.
    for end in memchr::memchr2_iter(delimiter, b'\n', bytes) {
        let last = bytes[end] == b'\n';
        let mut field = &text[start..end];
        if last {
            field = field.strip_suffix('\r').unwrap_or(field);
        }
        start = end + 1;
        if last && column == 0 && field.is_empty() {
            continue; // an empty line, as the csv crate has it
        }
        let (Some(dictionary), Some(codes)) = (dictionaries.get_mut(column), codes.get_mut(column))
        else {
            return Err(ragged(line_at(end)));
        };
        codes.push(dictionary.code(field, (block, rows)));
        column += 1;
        if last {
            if column != columns {
                return Err(ragged(line_at(end)));
            }
            column = 0;
            rows += 1;
        }
    }
    Ok((rows as usize, codes))
}

/// The rest of the input through the `csv` crate, as one block after all others.
fn slowly<R: Read>(
    source: Source<R>,
    columns: usize,
    delimiter: u8,
    worker: usize,
) -> Result<(Vec<Dictionary>, Encoded)> {
    let lines_before = source.line - 1;
    let mut reader = csv::ReaderBuilder::new()
        .delimiter(delimiter)
        .has_headers(false)
        .flexible(true)
        .buffer_capacity(BLOCK)
        .from_reader(source.rest.chain(source.input));
    let mut dictionaries: Vec<Dictionary> = (0..columns).map(|_| Dictionary::default()).collect();
    let mut codes = vec![Vec::new(); columns];
    let mut record = csv::StringRecord::new();
    let mut rows = 0_u32;
    while reader.read_record(&mut record).map_err(|error| malformed(error, lines_before))? {
        if record.len() != columns {
            return Err(ragged(lines_before + record.position().map_or(0, csv::Position::line)));
        }
        for ((dictionary, codes), text) in dictionaries.iter_mut().zip(&mut codes).zip(&record) {
            codes.push(dictionary.code(text, (u64::MAX, rows)));
        }
        rows += 1;
    }
    Ok((dictionaries, Encoded { block: u64::MAX, worker, rows: rows as usize, codes }))
}

/// One dictionary a column, in order of first appearance, and the codes in it.
fn merge(
    names: Vec<String>,
    dictionaries: Vec<Vec<Dictionary>>,
    mut blocks: Vec<Encoded>,
) -> Table {
    blocks.sort_by_key(|encoded| encoded.block);
    let rows = blocks.iter().map(|encoded| encoded.rows).sum();
    let mut by_column: Vec<Vec<Dictionary>> = names.iter().map(|_| Vec::new()).collect();
    for worker in dictionaries {
        for (column, dictionary) in by_column.iter_mut().zip(worker) {
            column.push(dictionary);
        }
    }
    let mut columns = Vec::with_capacity(names.len());
    for (position, (name, dictionaries)) in names.into_iter().zip(by_column).enumerate() {
        let (values, maps) = merge_column(dictionaries);
        let mut codes = Vec::with_capacity(rows);
        for encoded in &mut blocks {
            let map = &maps[encoded.worker];
            let theirs = std::mem::take(&mut encoded.codes[position]);
            codes.extend(theirs.into_iter().map(|code| map[code as usize]));
        }
        columns.push(Column { name, values, codes });
    }
    Table { columns, rows }
}

/// The distinct texts of all workers, and for each worker its codes' new codes.
fn merge_column(dictionaries: Vec<Dictionary>) -> (Vec<String>, Vec<Vec<u32>>) {
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
    Error::Malformed { what: "the table".to_owned(), line, why: "not as many fields as the header" }
}

/// csv's own message may quote a record: say where, never what.
fn malformed(error: csv::Error, lines_before: u64) -> Error {
    let line = lines_before + error.position().map_or(0, csv::Position::line);
    let what = "the table".to_owned();
    match error.into_kind() {
        csv::ErrorKind::Io(source) => Error::File { what: "reading the table".to_owned(), source },
        csv::ErrorKind::Utf8 { .. } => Error::Malformed { what, line, why: "not valid UTF-8" },
        _ => Error::Malformed { what, line, why: "not well-formed CSV" },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows(table: &Table) -> Vec<Vec<&str>> {
        let row = |r: usize| {
            table.columns.iter().map(|c| c.values[c.codes[r] as usize].as_str()).collect()
        };
        (0..table.rows).map(row).collect()
    }

    #[test]
    fn reads_plain_and_quoted() {
        let table = Table::from_csv(&b"a;b\r\n1;x\r\n\r\n2;\n1;y"[..], b';').unwrap();
        assert_eq!(rows(&table), [["1", "x"], ["2", ""], ["1", "y"]]);
        let table =
            Table::from_csv(&b"\xef\xbb\xbfa,\"b\"\n1,\"x,\n\"\"\"\n2,\n"[..], b',').unwrap();
        assert_eq!(table.columns[0].name, "a");
        assert_eq!(rows(&table), [["1", "x,\n\""], ["2", ""]]);
        assert_eq!(Table::from_csv(&b"a,b\n"[..], b',').unwrap().rows, 0);
    }

    #[test]
    fn says_where_never_what() {
        let fails = |bytes: &[u8], at: u64| {
            let error = Table::from_csv(bytes, b',').unwrap_err();
            assert!(matches!(error, Error::Malformed { line, .. } if line == at), "{error}");
            assert!(!error.to_string().contains("secret"));
        };
        fails(b"", 1);
        fails(b"a,b\n1,2\nsecret\n", 3);
        fails(b"a,b\n1,2\nsecret,2,3\n", 3);
        fails(b"a,b\n1,2\n\nsecret,\xff\n", 4);
        fails(b"a,b\n1,\"2\"\nsecret\n", 3);
        fails(b"a,a\n", 1);
    }

    #[test] // many blocks, many threads: the same as one after the other
    fn blocks_agree_with_the_csv_crate() {
        let mut text = String::from("n,m\n");
        for n in 0..300_000_u64 {
            text += &format!("{},{}\n", n * n % 977, n / 1000);
        }
        let fast = Table::from_csv(text.as_bytes(), b',').unwrap();
        let quoted = text.replacen("0,0", "\"0\",0", 1);
        let slow = Table::from_csv(quoted.as_bytes(), b',').unwrap();
        assert_eq!(fast.rows, 300_000);
        for (fast, slow) in fast.columns.iter().zip(&slow.columns) {
            assert_eq!(fast.values, slow.values);
            assert_eq!(fast.codes, slow.codes);
        }
    }
}
