//! How far a journal in a file had come, noted beside it: `clinic.ledger-head`.
//!
//! Debits are first in SQLite's write-ahead log. If that file is deleted, or the main file is
//! copied without it, what remains is a whole, older journal, and its budget would be spent a
//! second time. The mark is written and synchronised after the commit of a debit and before the
//! debit is granted, so that such a journal is seen to have lost its end.
//!
//! # Guarantee
//! A journal that lacks a debit that was ever granted is not opened, as long as its mark is
//! there; and without its mark an identified journal is not opened.
//! # Proof
//! The mark names a row that was committed, and only moves forward, under a lock of all
//! processes. Two slots are written in turn and each carries its own checksum: one that is torn
//! leaves the other. The row of the mark must be in the journal with the same hash, and a hash
//! fixes all rows before it. ∎
//!
//! # What it does not do
//! An older copy of the ledger *and* its mark is taken for the ledger: note the head elsewhere
//! (`demure budget anchor`). Settlements and cancellations do not move the mark: without them
//! more is spent, not less.

use crate::access;
use crate::error::{Error, Result};
use crate::identity::{LedgerId, hex};
use crate::row::{GENESIS, Hash};
use sha2::{Digest, Sha256};
use std::fs::{File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

/// The size of a slot: a sector of any disk holds one.
const SLOT: usize = 512;

/// What a slot begins with.
const TITLE: &str = "demure head 1";

/// The place of a row in a journal.
pub(crate) type Place = (u64, Hash);

/// The mark of one ledger file.
#[derive(Debug)]
pub(crate) struct Mark {
    file: File,
    path: PathBuf,
    id: LedgerId,
}

impl Mark {
    /// Where the mark of a ledger is.
    pub(crate) fn path(ledger: &Path) -> PathBuf {
        access::beside(ledger, "-head")
    }

    /// Opens the mark of a ledger; `None` if there is none.
    pub(crate) fn open(ledger: &Path) -> Result<Option<Self>> {
        let path = Self::path(ledger);
        access::check(&path)?;
        let file = match OpenOptions::new().read(true).write(true).open(&path) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(_) => return Err(Error::CannotOpen { path }),
        };
        let mut bytes = [0; 2 * SLOT];
        let read = read(&file, &mut bytes).map_err(|_| Error::BadHead { path: path.clone() })?;
        let found = newest(&bytes[..read]);
        let (_, (id, ..)) = found.ok_or_else(|| Error::BadHead { path: path.clone() })?;
        Ok(Some(Self { file, path, id }))
    }

    /// Makes the mark of a ledger, whole and on disk, unless there is one; then that one is
    /// returned, whatever it says.
    pub(crate) fn create(ledger: &Path, id: &LedgerId, at: Place) -> Result<Self> {
        let path = Self::path(ledger);
        let begun = access::beside(&path, &format!(".{}.part", LedgerId::random()?));
        let write = || -> io::Result<()> {
            let mut file = access::create(&begun)?;
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
        write().map_err(|_| Error::CannotOpen { path: path.clone() })?;
        Self::open(ledger)?.ok_or(Error::CannotOpen { path })
    }

    pub(crate) fn id(&self) -> &LedgerId {
        &self.id
    }

    /// The row that must be there.
    pub(crate) fn place(&self) -> Result<Place> {
        Ok(self.current()?.1)
    }

    /// Notes that the journal has come to `at`, and returns when that is on disk. It never goes
    /// back.
    pub(crate) fn advance(&mut self, at: Place) -> Result<()> {
        let bad = |path: &Path| Error::BadHead { path: path.to_owned() };
        // One process at a time: the other may have come further meanwhile.
        self.file.lock().map_err(|_| bad(&self.path))?;
        let moved = self.current().and_then(|(slot_of, current)| {
            if current.0 >= at.0 {
                return Ok(());
            }
            let other = if slot_of == 0 { SLOT as u64 } else { 0 };
            let mut file = &self.file;
            file.seek(SeekFrom::Start(other))
                .and_then(|_| file.write_all(&slot(&self.id, at)))
                .and_then(|()| file.sync_data())
                .map_err(|_| bad(&self.path))
        });
        self.file.unlock().map_err(|_| bad(&self.path))?;
        moved
    }

    fn current(&self) -> Result<(usize, Place)> {
        let bad = || Error::BadHead { path: self.path.clone() };
        let mut bytes = [0; 2 * SLOT];
        let read = read(&self.file, &mut bytes).map_err(|_| bad())?;
        let (slot, (id, seq, hash)) = newest(&bytes[..read]).ok_or_else(bad)?;
        if id != self.id {
            return Err(bad());
        }
        Ok((slot, (seq, hash)))
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

/// One line, padded.
fn slot(id: &LedgerId, (seq, hash): Place) -> Vec<u8> {
    let text = format!("{TITLE} {id} {seq:020} {}", hex(&hash));
    let mut line = format!("{text} {}", hex(&Sha256::digest(&text))).into_bytes();
    line.resize(SLOT - 1, b' ');
    line.push(b'\n');
    line
}

/// The slot that is whole and came furthest, and what it says.
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
mod tests {
    use super::*;

    #[test]
    fn a_mark_goes_forward_and_a_torn_slot_leaves_the_other() {
        let folder = tempfile::tempdir().unwrap();
        let ledger = folder.path().join("clinic.ledger");
        assert!(Mark::open(&ledger).unwrap().is_none());
        let id = LedgerId::random().unwrap();
        let mut mark = Mark::create(&ledger, &id, START).unwrap();
        assert_eq!((mark.id(), mark.place().unwrap()), (&id, START));
        for seq in [1, 5, 3, 6] {
            mark.advance((seq, [seq as u8; 32])).unwrap();
        }
        let mut other = Mark::open(&ledger).unwrap().unwrap();
        assert_eq!(other.place().unwrap(), (6, [6; 32]));
        // Another process's steps are seen.
        other.advance((9, [9; 32])).unwrap();
        mark.advance((8, [8; 32])).unwrap();
        assert_eq!(mark.place().unwrap(), (9, [9; 32]));
        // A second creation changes nothing.
        let again = Mark::create(&ledger, &LedgerId::random().unwrap(), START).unwrap();
        assert_eq!((again.id(), again.place().unwrap()), (&id, (9, [9; 32])));
        // Whatever part of the newest slot was written, the one before is whole.
        let path = Mark::path(&ledger);
        let whole = std::fs::read(&path).unwrap();
        let (at, _) = newest(&whole).unwrap();
        for torn in 0..200 {
            let mut bytes = whole.clone();
            bytes[at * SLOT + torn] ^= 0x41;
            std::fs::write(&path, &bytes).unwrap();
            assert_eq!(Mark::open(&ledger).unwrap().unwrap().place().unwrap().0, 6, "{torn}");
        }
        for bad in [&b""[..], b"demure head 1", &vec![0; 2 * SLOT]] {
            std::fs::write(&path, bad).unwrap();
            assert!(matches!(Mark::open(&ledger), Err(Error::BadHead { .. })));
        }
    }
}
