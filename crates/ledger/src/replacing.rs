//! Replaces a ledger by another: the old one is closed, and records what replaced it.

use crate::decide::Command;
use crate::error::{Error, Fault, Result};
use crate::identity::{LedgerId, Successor};
use crate::ledger::{Clock, Ledger};
use crate::mark::{self, Mark};
use crate::opening::{LocatedJournal, lost, real, server, with_id};
use crate::parts;
use crate::place::Place;
use crate::replay::Replay;
use crate::row::Hash;
use crate::store::sqlite::Sqlite;
use crate::store::{Intent, PATIENCE, Store};
use std::path::Path;

impl Ledger {
    /// Opens a replaced ledger, for reading its contents; `None` if it was not replaced.
    pub fn open_replaced(place: &Place, id: &LedgerId, clock: Clock) -> Result<Option<Self>> {
        let ledger = Self::without_charter(place, id, clock)?;
        let replaced = ledger.known(|replay| Ok(replay.about().successor.is_some()))?;
        Ok(replaced.then_some(ledger))
    }

    /// Opens the ledger with this id in order to replace it: it must be writable and not replaced yet. It need not fit
    /// any policy. Nothing is written.
    pub fn open_to_replace(place: &Place, id: &LedgerId, clock: Clock) -> Result<Self> {
        let ledger = Self::without_charter(place, id, clock)?;
        ledger.append_whole(|replay, _| in_use(replay), Vec::new())?;
        Ok(ledger)
    }

    /// Records in the ledger which one replaces it: from then on, nothing is debited from it. Only the first
    /// replacement counts: if there already is one, the error names it.
    pub fn replace_with(&self, successor: Successor) -> Result<()> {
        self.append(Command::Replace(successor)).map(drop)
    }

    /// The same for the ledger with this id.
    pub fn replace(place: &Place, id: &LedgerId, successor: Successor, clock: Clock) -> Result<()> {
        Self::open_to_replace(place, id, clock)?.replace_with(successor)
    }

    /// The journals in a file from which a policy that names none of them may have spent: those with an id, and the
    /// old one called `name`. Replaced ones are left out; the others can be replaced.
    pub fn in_use_in(path: &Path, name: &str, clock: &Clock) -> Result<Vec<Self>> {
        let file = real(path)?;
        parts::has_one_name(&file)?;
        let mut store = Sqlite::open_existing(&file, PATIENCE)?;
        let journals = store.begin(Intent::Read)?.journals()?;
        drop(store);
        let mut found = Vec::new();
        for (dataset, id) in journals {
            let opened = match id.as_deref().map(LedgerId::parse) {
                Some(Some(id)) => {
                    Self::open_to_replace(&Place::File(file.clone()), &id, clock.clone())
                }
                Some(None) => Err(Error::Broken { seq: 0, fault: Fault::Unreadable }),
                None if dataset == name => {
                    let store = Box::new(Sqlite::open_existing(&file, PATIENCE)?);
                    let ledger = Self::unopened(store, name, clock.clone(), None)?;
                    let checked = ledger.append_whole(|replay, _| in_use(replay), Vec::new());
                    checked.map(|()| ledger)
                }
                None => continue,
            };
            match opened {
                Err(Error::Replaced(_)) => {}
                other => found.push(other?),
            }
        }
        Ok(found)
    }

    fn without_charter(place: &Place, id: &LedgerId, clock: Clock) -> Result<Self> {
        let LocatedJournal { store, dataset, marked } = LocatedJournal::at(place, id)?;
        let (mark, path) = marked.unzip();
        let seq = mark.as_ref().map_or(Ok(mark::START), Mark::place)?.0;
        let ledger = Self::unopened(store, &dataset, clock, mark)?;
        let read = ledger.learn_identity().and_then(|()| ledger.share_replay());
        read.map_err(|error| lost(error, &path.unwrap_or_default(), seq))?;
        Ok(ledger)
    }

    /// The end of the journal with this id, whatever else is wrong with it. Nothing is written.
    pub fn end_of(place: &Place, id: &LedgerId) -> Result<(u64, Hash)> {
        let store: Box<dyn Store> = match place {
            Place::File(path) => Box::new(Sqlite::open_existing(&real(path)?, PATIENCE)?),
            Place::Server(address) => server(address)?,
        };
        let shown = match place {
            Place::File(path) => path.display().to_string(),
            Place::Server(address) => address.without_password()?,
        };
        let other = || Error::OtherLedger { place: shown.clone(), asked: id.clone() };
        let (dataset, mut store) = with_id(store, id)?;
        let head = store.begin(Intent::Read)?.head(&dataset.ok_or_else(other)?)?;
        head.ok_or_else(other)
    }
}

/// Refuses a replaced journal.
fn in_use(replay: &Replay) -> Result<()> {
    let successor = replay.about().successor.clone();
    successor.map_or(Ok(()), |successor| Err(Error::Replaced(successor)))
}
