//! A connection, and what this process has read of the journal through it.

use crate::error::{Fault, Result};
use crate::replay::Replay;
use crate::row::Hash;
use crate::store::{Intent, Store};

/// A connection to the store with its own replay.
///
/// A ledger has two, so that readers do not wait for writers.
pub(crate) struct Connection {
    pub(crate) store: Box<dyn Store>,
    /// The committed journal up to some row; `None` if the journal must be read again.
    pub(crate) replay: Option<Replay>,
    /// The last row that was known to be committed. It is kept when `replay` is dropped.
    pub(crate) seen: (u64, Hash),
}

impl Connection {
    /// For a journal that is known to have come to `seen`.
    pub(crate) fn after(store: Box<dyn Store>, seen: (u64, Hash)) -> Self {
        Self { store, replay: None, seen }
    }

    /// The journal as it is now.
    pub(crate) fn newest(&mut self, dataset: &str) -> Result<&Replay> {
        let Self { store, replay, seen } = self;
        let transaction = store.begin(Intent::Read)?;
        let newest = Replay::caught_up(replay.take(), dataset, *seen, &*transaction)?;
        *seen = newest.head();
        Ok(replay.insert(newest))
    }

    /// Compares the state in memory with `fresh`, a replay from the first row; returns `fresh`, brought up to date.
    pub(crate) fn agrees(&mut self, dataset: &str, fresh: Replay) -> Result<Replay> {
        let Self { store, replay, seen } = self;
        let transaction = store.begin(Intent::Read)?;
        let kept = Replay::caught_up(replay.take(), dataset, *seen, &*transaction)?;
        let fresh = Replay::caught_up(Some(fresh), dataset, *seen, &*transaction)?;
        if !kept.same(&fresh)? {
            return Err(fresh.broken(Fault::Totals));
        }
        *seen = kept.head();
        *replay = Some(kept);
        Ok(fresh)
    }
}
