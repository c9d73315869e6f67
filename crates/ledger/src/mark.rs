//! The mark: how far a journal in a file had come, recorded next to it in `clinic.ledger-head`.
//!
//! Debits are first in SQLite's write-ahead log. If that file is deleted, or the main file is copied without it, a
//! complete but older journal remains, and its budget would be spent a second time. The mark is written and
//! synchronised after the commit of a debit and before the debit is granted, so such a journal is seen to have lost
//! its end.
//!
//! # Guarantee
//! A journal that lacks a debit that was ever granted is not opened, as long as its mark exists; and without its mark,
//! an identified journal is not opened.
//! A file that is open under two paths (a bind mount of the file alone), with a log next to each, is not spent from
//! twice: of two journals that have diverged, at most one is debited.
//! # Proof
//! The mark names a committed row, and only moves forward. Two slots are written in turn, each with its own checksum:
//! a torn write to one leaves the other. The row of the mark must be in the journal with the same hash, and a hash
//! determines all rows before it. From before a debit is decided on until the mark names it, all other processes are
//! locked out of the mark; so whichever process decides next, on whatever log, must have that debit in its journal. ∎
//!
//! # What it does not do
//! An older copy of the ledger *and* its mark is accepted as the ledger: keep the head elsewhere (`demure budget
//! anchor`). Settlements and cancellations do not move the mark: without them more is spent, not less.

use crate::access;
use crate::error::{Error, Result};
use crate::identity::{LedgerId, hex};
use crate::parts;
use crate::replay::Replay;
use crate::row::{GENESIS, Hash};
use crate::store::{PATIENCE, Transaction};
use sha2::{Digest, Sha256};
use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// The size of a slot; it fits into a sector of any disk.
const SLOT: usize = 512;

/// The first bytes of a slot.
const TITLE: &str = "demure head 1";

/// The position of a row in a journal.
pub(crate) type Place = (u64, Hash);

/// The mark of one ledger file.
#[derive(Debug)]
pub(crate) struct Mark {
    file: File,
    path: PathBuf,
    id: LedgerId,
    /// The furthest position that was found in the journal.
    found: Place,
    /// How long to wait for another process.
    patience: Duration,
}

/// A mark that no other process can move while this is held.
#[derive(Debug)]
pub(crate) struct LockedMark<'a> {
    mark: &'a mut Mark,
}

impl Mark {
    /// The path of a ledger's mark.
    pub(crate) fn path(ledger: &Path) -> PathBuf {
        access::beside(ledger, "-head")
    }

    /// Opens the mark of a ledger; `None` if it has none.
    pub(crate) fn open(ledger: &Path) -> Result<Option<Self>> {
        let path = Self::path(ledger);
        access::check(&path)?;
        let file = match OpenOptions::new().read(true).write(true).open(&path) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(_) => return Err(Error::CannotOpen { path }),
        };
        parts::has_one_name(&path)?;
        let mut bytes = [0; 2 * SLOT];
        let read = read(&file, &mut bytes).map_err(|_| Error::BadHead { path: path.clone() })?;
        let found = newest(&bytes[..read]);
        let (_, (id, ..)) = found.ok_or_else(|| Error::BadHead { path: path.clone() })?;
        Ok(Some(Self { file, path, id, found: START, patience: PATIENCE }))
    }

    /// Creates the mark of a ledger, complete and on disk. If there already is one, that one is returned, whatever it
    /// contains.
    pub(crate) fn create(ledger: &Path, id: &LedgerId, at: Place) -> Result<Self> {
        let path = Self::path(ledger);
        let cannot = || Error::CannotOpen { path: path.clone() };
        let begun = parts::name(&path)?;
        let write = || -> io::Result<()> {
            let mut file = parts::create(&begun)?;
            access::give_to_owner_of(ledger, &file);
            file.write_all(&[slot(id, at), slot(id, at)].concat())?;
            file.sync_all()?;
            let linked = match std::fs::hard_link(&begun, &path) {
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
                Err(_) if !path.exists() => std::fs::rename(&begun, &path),
                other => other,
            };
            let _ = std::fs::remove_file(&begun);
            linked.and_then(|()| access::sync_folder(&path))
        };
        write().map_err(|_| cannot())?;
        Self::open(ledger)?.ok_or_else(cannot)
    }

    pub(crate) fn id(&self) -> &LedgerId {
        &self.id
    }

    /// The row that must exist.
    pub(crate) fn place(&self) -> Result<Place> {
        Ok(self.current()?.1)
    }

    /// Keeps all other processes from moving it. Waits for them, but not for ever: a process that was stopped while it
    /// held the mark does not block the others.
    pub(crate) fn hold(&mut self) -> Result<LockedMark<'_>> {
        let deadline = Instant::now() + self.patience;
        loop {
            match self.file.try_lock() {
                Ok(()) => break,
                Err(TryLockError::WouldBlock) if Instant::now() < deadline => {
                    std::thread::sleep(Duration::from_millis(1));
                }
                Err(TryLockError::WouldBlock) => {
                    return Err(Error::Locked { seconds: self.patience.as_secs() });
                }
                Err(TryLockError::Error(_)) => return Err(self.bad()),
            }
        }
        let held = LockedMark { mark: self };
        held.mark.is_in_place()?;
        Ok(held)
    }

    /// Refuses a file that replaced the one that was opened.
    fn is_in_place(&self) -> Result<()> {
        #[cfg(unix)]
        {
            use std::os::unix::fs::MetadataExt;
            let number = |found: std::fs::Metadata| (found.dev(), found.ino());
            let (own, there) = (self.file.metadata().map(number), self.path.metadata().map(number));
            if own.is_err() || own.ok() != there.ok() {
                return Err(Error::Moved { path: self.path.clone() });
            }
        }
        Ok(())
    }

    fn bad(&self) -> Error {
        Error::BadHead { path: self.path.clone() }
    }

    fn current(&self) -> Result<(usize, Place)> {
        let mut bytes = [0; 2 * SLOT];
        let read = read(&self.file, &mut bytes).map_err(|_| self.bad())?;
        let (slot, (id, seq, hash)) = newest(&bytes[..read]).ok_or_else(|| self.bad())?;
        if id != self.id {
            return Err(self.bad());
        }
        Ok((slot, (seq, hash)))
    }
}

impl LockedMark<'_> {
    /// Refuses a journal that does not contain the row that the mark names: it was continued elsewhere.
    pub(crate) fn is_in(&mut self, journal: &Replay, store: &dyn Transaction) -> Result<()> {
        let (_, (seq, hash)) = self.mark.current()?;
        if seq < self.mark.found.0 {
            // The mark never goes back, so it was overwritten.
            return Err(self.mark.bad());
        }
        let forked = || Error::Forked { path: self.mark.path.clone(), seq };
        if seq > journal.head().0 {
            // It may have been found before, in a journal that has lost its end since.
            return Err(forked());
        }
        if ![START, self.mark.found, journal.head()].contains(&(seq, hash)) {
            let mut found = false;
            store.scan(journal.dataset(), seq - 1, &mut |row| {
                found = (row.seq, row.hash) == (seq, hash);
                Ok(false)
            })?;
            if !found {
                return Err(forked());
            }
        }
        self.mark.found = (seq, hash);
        Ok(())
    }

    /// Records that the journal has come to `at`, and returns when that is on disk. The mark never goes back.
    pub(crate) fn advance(&mut self, at: Place) -> Result<()> {
        self.mark.is_in_place()?;
        let (slot_of, current) = self.mark.current()?;
        if current.0 == at.0 && current.1 != at.1 {
            return Err(Error::Forked { path: self.mark.path.clone(), seq: at.0 });
        }
        if current.0 < at.0 {
            let other = if slot_of == 0 { SLOT as u64 } else { 0 };
            let mut file = &self.mark.file;
            file.seek(SeekFrom::Start(other))
                .and_then(|_| file.write_all(&slot(&self.mark.id, at)))
                .and_then(|()| file.sync_data())
                .map_err(|_| self.mark.bad())?;
            self.mark.found = at;
        }
        Ok(())
    }
}

impl Drop for LockedMark<'_> {
    fn drop(&mut self) {
        // If that fails, others wait until this process ends.
        let _ = self.mark.file.unlock();
    }
}

fn read(mut file: &File, into: &mut [u8]) -> io::Result<usize> {
    file.seek(SeekFrom::Start(0))?;
    let mut filled = 0;
    while filled < into.len() {
        match file.read(&mut into[filled..])? {
            0 => break,
            more => filled += more,
        }
    }
    Ok(filled)
}

/// One padded line.
fn slot(id: &LedgerId, (seq, hash): Place) -> Vec<u8> {
    let text = format!("{TITLE} {id} {seq:020} {}", hex(&hash));
    let mut line = format!("{text} {}", hex(&Sha256::digest(&text))).into_bytes();
    line.resize(SLOT - 1, b' ');
    line.push(b'\n');
    line
}

/// The complete slot that came furthest, and its contents.
fn newest(bytes: &[u8]) -> Option<(usize, (LedgerId, u64, Hash))> {
    let slots = bytes.chunks(SLOT).enumerate();
    let whole = slots.filter_map(|(at, slot)| Some((at, parse(slot)?)));
    whole.max_by_key(|(_, (_, seq, _))| *seq)
}

fn parse(slot: &[u8]) -> Option<(LedgerId, u64, Hash)> {
    let (text, check) = std::str::from_utf8(slot).ok()?.trim_end().rsplit_once(' ')?;
    if hex(&Sha256::digest(text)) != check {
        return None;
    }
    let mut words = text.strip_prefix(TITLE)?.split_whitespace();
    let id = LedgerId::parse(words.next()?)?;
    let seq = words.next()?.parse().ok()?;
    let hash = crate::identity::Anchor::parse(words.next()?)?.hash;
    Some((id, seq, hash))
}

/// Before the first row.
pub(crate) const START: Place = (0, GENESIS);

#[cfg(test)]
mod tests;
