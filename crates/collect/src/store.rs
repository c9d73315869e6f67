//! Reports on disk: acknowledged means durable.
//!
//! An append-only file. Many threads' reports share one write and one `fdatasync` (group commit):
//! whatever comes in while the disk is busy makes the next batch. A report is acknowledged
//! when its batch is on disk, and a repetition of its token only when the first one is.
//!
//! # File
//! | bytes | what |
//! |---|---|
//! | 8 | `demurep1` |
//! | 8 | the survey's id |
//! | 16 | a nonce, drawn when the file was made |
//! | 4 | checksum of the above |
//! | | then batches, each: |
//! | 4 | `btch` |
//! | 8 | the batch's number, from 0 |
//! | 4 | the length of its records |
//! | 4 | checksum of the nonce and the above |
//! | | then its records, each: length (4), checksum of the nonce and the report (4), the report in binary |
//!
//! # Crashes
//! A batch is written only after the one before it is on disk, so a crash can leave damage in the
//! last batch alone, which nobody was told of. When the file is opened, a last batch that is
//! not whole is cut off. Damage that another batch follows is no crash's doing: opening is
//! refused, and nothing is changed, as reports behind it were acknowledged. The checksums
//! start from the nonce, so that no report can be made to look like a batch.
//!
//! A write or a sync that fails closes the store: what is on disk is then unknown, and only
//! opening it again tells.

use crate::collector::Collector;
use crate::error::{Error, Result};
use crate::report::{Reject, Submission};
use crate::survey::Survey;
use demure_core::random::Randomness;
use demure_core::sample::uniform_below;
use std::collections::HashSet;
use std::fs::{File, OpenOptions, TryLockError};
use std::io::{BufReader, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;

const MAGIC: &[u8; 8] = b"demurep1";
const BATCH: &[u8; 4] = b"btch";
const HEADER: usize = 8 + 8 + 16 + 4;
const BATCH_HEADER: usize = 4 + 8 + 4 + 4;
const RECORD_HEADER: usize = 4 + 4;
/// While this much waits for the disk, nothing more is taken.
const MOST_PENDING: usize = 64 << 20;

/// What became of a report.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Receipt {
    /// It is on disk.
    Stored,
    /// Its token was seen before; that report is on disk.
    Duplicate,
    /// Nothing was stored.
    Rejected(Reject),
}

/// What is told to whoever sent a report, once it is known.
type Reply = Box<dyn FnOnce(Result<Receipt>) + Send>;

/// A store, open for writing by this process alone.
pub struct Store {
    survey: Survey,
    shared: Arc<Shared>,
    writer: Option<JoinHandle<()>>,
    recovered: Recovered,
}

/// What was found when a store was opened.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Recovered {
    /// Reports on disk.
    pub reports: u64,
    /// Batches on disk.
    pub batches: u64,
    /// Bytes of a last batch that was not whole, cut off.
    pub cut: u64,
}

struct Shared {
    state: Mutex<State>,
    /// Tells the writer that there is something to write.
    work: Condvar,
    /// Tells those who wait that a batch is on disk.
    done: Condvar,
}

struct State {
    /// Records of the next batch.
    pending: Vec<u8>,
    replies: Vec<(Reply, Receipt)>,
    tokens: HashSet<u128>,
    /// The batch that `pending` will be.
    batch: u64,
    /// Batches that are on disk.
    durable: u64,
    reports: u64,
    stopping: bool,
    failed: bool,
}

impl std::fmt::Debug for Store {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Store").field("recovered", &self.recovered).finish_non_exhaustive()
    }
}

/// A panic elsewhere leaves the state whole: each change is a few assignments.
fn lock(shared: &Shared) -> MutexGuard<'_, State> {
    shared.state.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Opens a file, or creates it, for its owner alone; refuses one that others may read or write.
fn private(path: &Path) -> Result<File> {
    let mut options = OpenOptions::new();
    options.read(true).write(true).create(true).truncate(false);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let file = options.open(path).map_err(Error::io("cannot open", path))?;
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        let metadata = file.metadata().map_err(Error::io("cannot look at", path))?;
        let mode = metadata.permissions().mode() & 0o7777;
        if mode & 0o077 != 0 {
            return Err(Error::Exposed { path: path.to_path_buf(), mode });
        }
    }
    Ok(file)
}

impl Store {
    /// Opens the store of a survey, or makes it. Cuts off what a crash left half done.
    pub fn open(path: &Path, survey: &Survey, rng: &mut dyn Randomness) -> Result<Self> {
        let mut file = private(path)?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => return Err(Error::InUse { path: path.to_path_buf() }),
            Err(TryLockError::Error(source)) => {
                return Err(Error::io("cannot lock", path)(source));
            }
        }
        if is_new(&mut file, path)? {
            create(&mut file, path, survey, rng)?;
        }
        let mut tokens = HashSet::new();
        let mut scan = Scan::new(&file, path, survey)?;
        while let Some(batch) = scan.next()? {
            for report in batch.reports() {
                tokens.insert(token(report));
            }
        }
        let Scan { end, batches, reports, nonce, length, .. } = scan;
        if end < length {
            file.set_len(end).map_err(Error::io("cannot cut", path))?;
            file.sync_all().map_err(Error::io("cannot sync", path))?;
        }
        file.seek(SeekFrom::Start(end)).map_err(Error::io("cannot seek in", path))?;
        let state = State {
            pending: Vec::new(),
            replies: Vec::new(),
            tokens,
            batch: batches,
            durable: batches,
            reports,
            stopping: false,
            failed: false,
        };
        let shared = Arc::new(Shared {
            state: Mutex::new(state),
            work: Condvar::new(),
            done: Condvar::new(),
        });
        let writer = {
            let shared = Arc::clone(&shared);
            std::thread::Builder::new()
                .name("reports".to_owned())
                .spawn(move || write(&shared, &mut file, &nonce))
                .map_err(Error::io("cannot start a thread for", path))?
        };
        let recovered = Recovered { reports, batches, cut: length - end };
        Ok(Self { survey: survey.clone(), shared, writer: Some(writer), recovered })
    }

    /// The survey.
    #[must_use]
    pub fn survey(&self) -> &Survey {
        &self.survey
    }

    /// What was found when it was opened.
    #[must_use]
    pub fn recovered(&self) -> Recovered {
        self.recovered
    }

    /// Reports on disk or on their way.
    #[must_use]
    pub fn reports(&self) -> u64 {
        lock(&self.shared).reports
    }

    /// Takes a report in binary and waits until it is on disk.
    pub fn append(&self, report: &[u8]) -> Result<Receipt> {
        let submission = match Submission::from_bytes(&self.survey, report) {
            Ok(submission) => submission,
            Err(reject) => return Ok(Receipt::Rejected(reject)),
        };
        let mut state = lock(&self.shared);
        let receipt = self.put(&mut state, submission.token, report)?;
        let batch = state.batch;
        // A repetition waits as well: its first may be in this very batch.
        let target = if receipt == Receipt::Duplicate && state.pending.is_empty() {
            batch
        } else {
            batch + 1
        };
        while state.durable < target && !state.failed {
            state = self.shared.done.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        if state.durable >= target { Ok(receipt) } else { Err(Error::Closed) }
    }

    /// Takes a report in binary and returns at once; `reply` is called when it is on disk (from the
    /// store's own thread: it must not wait), or at once if there is nothing to wait for.
    pub fn submit(&self, report: &[u8], reply: impl FnOnce(Result<Receipt>) + Send + 'static) {
        let submission = match Submission::from_bytes(&self.survey, report) {
            Ok(submission) => submission,
            Err(reject) => return reply(Ok(Receipt::Rejected(reject))),
        };
        let mut state = lock(&self.shared);
        match self.put(&mut state, submission.token, report) {
            Ok(Receipt::Duplicate) if state.pending.is_empty() && state.durable == state.batch => {
                drop(state);
                reply(Ok(Receipt::Duplicate));
            }
            // With an empty batch it still goes through the writer, after the one being written.
            Ok(receipt) => {
                state.replies.push((Box::new(reply), receipt));
                self.shared.work.notify_one();
            }
            Err(error) => {
                drop(state);
                reply(Err(error));
            }
        }
    }

    fn put(&self, state: &mut State, token: u128, report: &[u8]) -> Result<Receipt> {
        if state.failed || state.stopping {
            return Err(Error::Closed);
        }
        if state.pending.len() >= MOST_PENDING {
            return Err(Error::Busy);
        }
        if !state.tokens.insert(token) {
            return Ok(Receipt::Duplicate);
        }
        // The checksum, which needs the nonce, is the writer's work.
        state.pending.extend((report.len() as u32).to_le_bytes());
        state.pending.extend([0; 4]);
        state.pending.extend(report);
        state.reports += 1;
        self.shared.work.notify_one();
        Ok(Receipt::Stored)
    }

    /// Waits until all is on disk, and closes.
    pub fn close(mut self) -> Result<()> {
        self.stop();
        if lock(&self.shared).failed { Err(Error::Closed) } else { Ok(()) }
    }

    fn stop(&mut self) {
        lock(&self.shared).stopping = true;
        self.shared.work.notify_one();
        if let Some(writer) = self.writer.take() {
            // The writer does not panic; if a reply did, there is nobody left to tell.
            drop(writer.join());
        }
    }
}

impl Drop for Store {
    fn drop(&mut self) {
        self.stop();
    }
}

/// The writer's thread: one batch after the other.
fn write(shared: &Shared, file: &mut File, nonce: &[u8; 16]) {
    let mut batch = Vec::new();
    loop {
        let mut state = lock(shared);
        while state.pending.is_empty() && state.replies.is_empty() && !state.stopping {
            state = shared.work.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        if state.pending.is_empty() && state.replies.is_empty() {
            return;
        }
        batch.clear();
        batch.extend([0; BATCH_HEADER]);
        batch.append(&mut state.pending);
        let replies = std::mem::take(&mut state.replies);
        let number = state.batch;
        let empty = batch.len() == BATCH_HEADER;
        state.batch += u64::from(!empty);
        drop(state);
        let written = empty || {
            seal(&mut batch, number, nonce);
            file.write_all(&batch).and_then(|()| file.sync_data()).is_ok()
        };
        let mut state = lock(shared);
        if written {
            state.durable = state.batch.min(number + u64::from(!empty));
        } else {
            state.failed = true;
        }
        drop(state);
        shared.done.notify_all();
        for (reply, receipt) in replies {
            answer(reply, if written { Ok(receipt) } else { Err(Error::Closed) });
        }
        if !written {
            let late = std::mem::take(&mut lock(shared).replies);
            for (reply, _) in late {
                answer(reply, Err(Error::Closed));
            }
            return;
        }
        if batch.capacity() > MOST_PENDING / 4 {
            batch = Vec::new();
        }
    }
}

/// A reply that panics is its sender's loss, not that of everybody who waits behind it.
fn answer(reply: Reply, receipt: Result<Receipt>) {
    drop(std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| reply(receipt))));
}

/// Fills in the header and every record's checksum.
fn seal(batch: &mut [u8], number: u64, nonce: &[u8; 16]) {
    let length = (batch.len() - BATCH_HEADER) as u32;
    let mut at = BATCH_HEADER;
    while at < batch.len() {
        let size =
            u32::from_le_bytes([batch[at], batch[at + 1], batch[at + 2], batch[at + 3]]) as usize;
        let body = at + RECORD_HEADER;
        let sum = crc32(nonce, &batch[body..body + size]);
        batch[at + 4..body].copy_from_slice(&sum.to_le_bytes());
        at = body + size;
    }
    batch[..4].copy_from_slice(BATCH);
    batch[4..12].copy_from_slice(&number.to_le_bytes());
    batch[12..16].copy_from_slice(&length.to_le_bytes());
    let sum = crc32(nonce, &batch[..16]);
    batch[16..20].copy_from_slice(&sum.to_le_bytes());
}

/// Whether the file is empty, or a crash left a part of its header and no report.
fn is_new(file: &mut File, path: &Path) -> Result<bool> {
    let mut start = Vec::new();
    file.take(HEADER as u64).read_to_end(&mut start).map_err(Error::io("cannot read", path))?;
    let ours = start.iter().all(|b| *b == 0) || start.iter().zip(MAGIC).all(|(a, b)| a == b);
    Ok(start.len() < HEADER && ours)
}

fn create(file: &mut File, path: &Path, survey: &Survey, rng: &mut dyn Randomness) -> Result<()> {
    let mut header = [0u8; HEADER];
    header[..8].copy_from_slice(MAGIC);
    header[8..16].copy_from_slice(&survey.id());
    for chunk in header[16..32].chunks_mut(4) {
        chunk.copy_from_slice(&(uniform_below(1 << 32, rng)? as u32).to_le_bytes());
    }
    let sum = crc32(&[0; 16], &header[..32]);
    header[32..].copy_from_slice(&sum.to_le_bytes());
    file.set_len(0).map_err(Error::io("cannot write", path))?;
    file.seek(SeekFrom::Start(0)).map_err(Error::io("cannot write", path))?;
    file.write_all(&header).map_err(Error::io("cannot write", path))?;
    file.sync_all().map_err(Error::io("cannot sync", path))?;
    // The file's name must be on disk too.
    let directory = path.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."));
    File::open(directory)
        .and_then(|directory| directory.sync_all())
        .map_err(Error::io("cannot sync the directory of", path))
}

/// Reads a store batch by batch.
struct Scan<'f> {
    file: BufReader<&'f File>,
    path: PathBuf,
    nonce: [u8; 16],
    /// Where the last whole batch ends.
    end: u64,
    length: u64,
    batches: u64,
    reports: u64,
}

/// A whole batch's records.
struct Batch(Vec<u8>);

impl Batch {
    fn reports(&self) -> impl Iterator<Item = &[u8]> {
        let mut rest = self.0.as_slice();
        std::iter::from_fn(move || {
            let (header, after) = rest.split_at_checked(RECORD_HEADER)?;
            let (report, left) = after.split_at_checked(number(&header[..4]) as usize)?;
            rest = left;
            Some(report)
        })
    }
}

fn number(bytes: &[u8]) -> u64 {
    bytes.iter().rev().fold(0, |sum, byte| sum << 8 | u64::from(*byte))
}

/// A report's token, at its place in the binary form.
fn token(report: &[u8]) -> u128 {
    report.get(9..25).unwrap_or(&[]).iter().rev().fold(0, |sum, byte| sum << 8 | u128::from(*byte))
}

impl<'f> Scan<'f> {
    fn new(file: &'f File, path: &Path, survey: &Survey) -> Result<Self> {
        let length = file.metadata().map_err(Error::io("cannot read", path))?.len();
        let mut reader = BufReader::with_capacity(1 << 20, file);
        reader.seek(SeekFrom::Start(0)).map_err(Error::io("cannot read", path))?;
        let mut header = [0u8; HEADER];
        let whole = reader.read_exact(&mut header).is_ok();
        let sum = crc32(&[0; 16], &header[..32]).to_le_bytes();
        if !whole || header[..8] != *MAGIC || header[32..] != sum {
            return Err(Error::Damaged { path: path.to_path_buf(), offset: 0 });
        }
        if header[8..16] != survey.id() {
            return Err(Error::OtherSurvey { path: path.to_path_buf() });
        }
        let mut nonce = [0; 16];
        nonce.copy_from_slice(&header[16..32]);
        let end = HEADER as u64;
        Ok(Self {
            file: reader,
            path: path.to_path_buf(),
            nonce,
            end,
            length,
            batches: 0,
            reports: 0,
        })
    }

    /// The next whole batch; `None` at the end, or where a crash cut.
    fn next(&mut self) -> Result<Option<Batch>> {
        if self.end == self.length {
            return Ok(None);
        }
        let mut header = [0u8; BATCH_HEADER];
        let left = self.length - self.end;
        if left >= BATCH_HEADER as u64 {
            self.read(&mut header)?;
        }
        let records = match self.check_header(&header) {
            Some(length) if BATCH_HEADER as u64 + length <= left => {
                let mut records = vec![0; length as usize];
                self.read(&mut records)?;
                self.check_records(&records).then_some(records)
            }
            _ => None,
        };
        let Some(records) = records else {
            return if self.another_follows()? {
                Err(Error::Damaged { path: self.path.clone(), offset: self.end })
            } else {
                Ok(None)
            };
        };
        self.end += (BATCH_HEADER + records.len()) as u64;
        self.batches += 1;
        let batch = Batch(records);
        self.reports += batch.reports().count() as u64;
        Ok(Some(batch))
    }

    fn read(&mut self, into: &mut [u8]) -> Result<()> {
        self.file.read_exact(into).map_err(Error::io("cannot read", &self.path))
    }

    /// The length of the records, if it is the header of the batch that is due.
    fn check_header(&self, header: &[u8]) -> Option<u64> {
        let due = number(&header[4..12]) == self.batches;
        (due && self.is_header(header)).then(|| number(&header[12..16]))
    }

    fn is_header(&self, header: &[u8]) -> bool {
        let sum = crc32(&self.nonce, &header[..16]).to_le_bytes();
        header[..4] == *BATCH && header[16..20] == sum
    }

    fn check_records(&self, records: &[u8]) -> bool {
        let mut rest = records;
        while !rest.is_empty() {
            let Some((header, after)) = rest.split_at_checked(RECORD_HEADER) else { return false };
            let Some((report, left)) = after.split_at_checked(number(&header[..4]) as usize) else {
                return false;
            };
            if header[4..] != crc32(&self.nonce, report).to_le_bytes() {
                return false;
            }
            rest = left;
        }
        true
    }

    /// Whether a later batch begins anywhere behind the damage: then what is damaged was on disk.
    fn another_follows(&mut self) -> Result<bool> {
        self.file.seek(SeekFrom::Start(self.end)).map_err(Error::io("cannot read", &self.path))?;
        let mut rest = Vec::new();
        self.file.read_to_end(&mut rest).map_err(Error::io("cannot read", &self.path))?;
        let later = |window: &[u8]| {
            window[..4] == *BATCH && self.is_header(window) && number(&window[4..12]) > self.batches
        };
        Ok(rest.windows(BATCH_HEADER).skip(1).any(later))
    }
}

/// Whether a file is a store, by its first bytes.
pub fn is_store(path: &Path) -> Result<bool> {
    let file = File::open(path).map_err(Error::io("cannot open", path))?;
    let mut start = Vec::new();
    file.take(MAGIC.len() as u64)
        .read_to_end(&mut start)
        .map_err(Error::io("cannot read", path))?;
    Ok(start == MAGIC)
}

/// Counts all reports of a store, without opening it for writing: what `collect estimate` does with one.
/// A last batch that is not whole is passed over.
pub fn count(path: &Path, collector: &mut Collector) -> Result<u64> {
    let file = File::open(path).map_err(Error::io("cannot open", path))?;
    let survey = Arc::clone(collector.survey());
    let mut scan = Scan::new(&file, path, &survey)?;
    while let Some(batch) = scan.next()? {
        for report in batch.reports() {
            // Tokens were checked when it was stored.
            if let Ok(submission) = Submission::from_bytes(&survey, report) {
                collector.add_unique(&submission);
            }
        }
    }
    Ok(scan.reports)
}

/// CRC-32 (IEEE), of the nonce and then the bytes.
fn crc32(nonce: &[u8; 16], bytes: &[u8]) -> u32 {
    const TABLE: [u32; 256] = {
        let mut table = [0u32; 256];
        let mut i = 0;
        while i < 256 {
            let mut value = i as u32;
            let mut bit = 0;
            while bit < 8 {
                value = if value & 1 == 1 { value >> 1 ^ 0xedb8_8320 } else { value >> 1 };
                bit += 1;
            }
            table[i] = value;
            i += 1;
        }
        table
    };
    let step = |sum: u32, byte: &u8| TABLE[usize::from(sum as u8 ^ byte)] ^ sum >> 8;
    !bytes.iter().fold(nonce.iter().fold(u32::MAX, step), step)
}
