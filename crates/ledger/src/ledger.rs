//! The ledger of one dataset: debits, balance, repeats, verification.

mod append;
mod page;

pub use page::{Page, Start};

use crate::balance::{self, AnalystBalance, Balance, Balances};
use crate::connection::Connection;
use crate::decide::Command;
use crate::error::{Error, Fault, Result};
use crate::identity::{Anchor, Identified, LedgerId, Secret};
use crate::limit::Limit;
use crate::mark::{self, Mark};
use crate::price::Price;
use crate::queue::Queue;
use crate::replay::Replay;
use crate::reservation::Reservation;
use crate::row::{Entry, GENESIS, Hash, Kind, Outcome, Row};
use crate::rule::Subject;
use crate::store::postgres::Postgres;
use crate::store::sqlite::Sqlite;
use crate::store::{Intent, PATIENCE, Store, Transaction};
use crate::totals::Account;
use demure_core::event::Event;
use std::collections::HashMap;
use std::fmt;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock};
use std::time::SystemTime;

/// A clock. Times are recorded but decide nothing: the journal is in the order of its numbers, and a clock that goes
/// back is recorded as it is.
pub type Clock = Arc<dyn Fn() -> SystemTime + Send + Sync>;

/// The operating system's clock.
#[must_use]
pub fn wall_clock() -> Clock {
    Arc::new(SystemTime::now)
}

/// A query to be paid for.
#[derive(Clone, Debug, PartialEq)]
pub struct Request {
    /// The analyst: one line, not empty, without a leading `@`.
    pub who: String,
    /// The query's cache key, in hexadecimal ([`Ledger::seal`]): equal for equal queries.
    pub key: String,
    /// The query's canonical text. It is stored, so it must be public.
    pub query: String,
    /// The privacy event of answering it.
    pub event: Event,
}

/// The result of a verification.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Verified {
    /// The number of entries.
    pub entries: u64,
    /// The number of reservations.
    pub reserved: u64,
    /// The number of cancelled reservations.
    pub cancelled: u64,
    /// The number of reservations with an answer.
    pub settled: u64,
    /// How often an analyst was shown an answer that another analyst had bought.
    pub received: u64,
    /// The number of entries whose price under this version's accountant differs from the recorded one. The balance
    /// counts today's prices.
    pub repriced: u64,
    /// The number of entries that were not within the rules in force when they were made, at today's prices. 0 unless
    /// some were repriced, or another program wrote to the journal.
    pub beyond: u64,
    /// What has been spent.
    pub spent: Price,
    /// The hash of the last entry. If it is kept elsewhere, it shows later whether the journal is unchanged up to
    /// there.
    pub head: Hash,
}

/// The budget of one dataset and its journal.
///
/// A clone is the same ledger. Any number of ledgers, in any number of processes, may be open on one file or database;
/// together they stay within the rules.
///
/// # Guarantee
/// At all times, what all reservations that were ever returned and not cancelled cost together, rounded up, was within
/// the limit in force when the last of them was made. The same holds for the period, and for the limits of the analyst
/// and of all their groups, against which received answers count, too. Each reservation was on disk before it was
/// returned.
#[derive(Clone)]
pub struct Ledger {
    shared: Arc<Shared>,
}

struct Shared {
    dataset: String,
    clock: Clock,
    /// Requests that wait to be written, with their times.
    queue: Queue<(Vec<Command>, i64), Vec<Option<Row>>>,
    writer: Mutex<Connection>,
    /// A connection that never waits for a writer; `None` if the store has only one.
    reader: Option<Mutex<Connection>>,
    /// How far the journal has come, recorded next to its file.
    mark: Option<Mutex<Mark>>,
    identity: OnceLock<Identified>,
    /// A temporary secret for keys, if the journal has none; such keys end with this ledger.
    passing: Secret,
}

impl Ledger {
    /// Opens the ledger of `dataset` in a file, which is created if it does not exist.
    ///
    /// A limit that differs from the last one is appended to the journal and applies from then on, also to ledgers
    /// that are open elsewhere. Another accounting or neighbour relation is refused: what was spent has no price in
    /// it.
    pub fn open(path: &Path, dataset: &str, limit: Limit, clock: Clock) -> Result<Self> {
        limit.most()?;
        Self::with_store(Box::new(Sqlite::open(path, PATIENCE)?), dataset, &limit, clock)
    }

    /// Opens the ledger of `dataset` on a PostgreSQL server, `postgres://user@host/database`, in the schema `demure`,
    /// which is created if it does not exist.
    ///
    /// Any number of curators on any machines may have it open; together they stay within the rules. Otherwise like
    /// [`Ledger::open`].
    pub fn connect(url: &str, dataset: &str, limit: Limit, clock: Clock) -> Result<Self> {
        limit.most()?;
        Self::with_store(Box::new(Postgres::open(url, PATIENCE)?), dataset, &limit, clock)
    }

    /// A ledger that ends with the process, for tests and demonstrations.
    pub fn in_memory(limit: Limit) -> Result<Self> {
        Self::with_store(Box::new(Sqlite::in_memory()?), "memory", &limit, wall_clock())
    }

    pub(crate) fn with_store(
        store: Box<dyn Store>,
        dataset: &str,
        limit: &Limit,
        clock: Clock,
    ) -> Result<Self> {
        limit.most()?;
        let ledger = Self::unopened(store, dataset, clock, None)?;
        ledger.append(Command::Limit(limit.clone()))?;
        ledger.learn_identity()?;
        ledger.share_replay()?;
        Ok(ledger)
    }

    /// A ledger that has read nothing yet. The journal must contain the entry that `mark` names.
    pub(crate) fn unopened(
        store: Box<dyn Store>,
        dataset: &str,
        clock: Clock,
        mark: Option<Mark>,
    ) -> Result<Self> {
        let seen = mark.as_ref().map_or(Ok(mark::START), Mark::place)?;
        let reader = store.another()?.map(|store| Mutex::new(Connection::after(store, seen)));
        let (writer, queue) = (Mutex::new(Connection::after(store, seen)), Queue::new());
        let shared = Shared {
            dataset: dataset.to_owned(),
            clock,
            queue,
            writer,
            reader,
            mark: mark.map(Mutex::new),
            identity: OnceLock::new(),
            passing: Secret::random()?,
        };
        Ok(Self { shared: Arc::new(shared) })
    }

    /// Remembers the id and the secret of the journal, if it has them.
    pub(crate) fn learn_identity(&self) -> Result<()> {
        let mut writer = self.shared.writer.lock().map_err(|_| Error::Interrupted)?;
        if let Some(identity) = writer.newest(&self.shared.dataset)?.identity() {
            self.shared.identity.get_or_init(|| identity.clone());
        }
        Ok(())
    }

    /// Queries the journal's state as the writer knows it.
    pub(crate) fn known<R>(&self, ask: impl FnOnce(&Replay) -> Result<R>) -> Result<R> {
        let mut writer = self.shared.writer.lock().map_err(|_| Error::Interrupted)?;
        ask(writer.newest(&self.shared.dataset)?)
    }

    /// The id; `None` if the journal never got one.
    #[must_use]
    pub fn id(&self) -> Option<&LedgerId> {
        self.shared.identity.get().map(|identity| &identity.id)
    }

    /// A key for `message` that reveals nothing about it without the ledger's secret.
    #[must_use]
    pub fn seal(&self, message: &Hash) -> String {
        let own = self.shared.identity.get().map(|identity| &identity.secret);
        own.unwrap_or(&self.shared.passing).seal(message)
    }

    /// Whether there may be answers under plain keys, from before there was a secret.
    #[must_use]
    pub fn has_plain_keys(&self) -> bool {
        // A new ledger has a limit, and then its identity.
        self.shared.identity.get().is_some_and(|identity| identity.seq > 2)
    }

    /// The last entry, to be kept elsewhere.
    pub fn anchor(&self) -> Result<Anchor> {
        let (seq, hash) = self.known(|replay| Ok(replay.head()))?;
        Ok(Anchor { seq: Some(seq), hash })
    }

    /// Refuses a journal that does not contain this entry.
    pub fn expect(&self, anchor: &Anchor) -> Result<()> {
        let mut found = false;
        let after = anchor.seq.map_or(0, |seq| seq.saturating_sub(1));
        self.apart(|store| {
            store.begin(Intent::Read)?.scan(&self.shared.dataset, after, &mut |row| {
                found |= row.hash == anchor.hash && anchor.seq.is_none_or(|seq| seq == row.seq);
                Ok(!found && anchor.seq.is_none())
            })
        })?;
        if found { Ok(()) } else { Err(Error::OtherHead) }
    }

    /// Moves all committed data into the main file, if the journal is in a file. Dropping a ledger also does that, if
    /// it is not open elsewhere.
    pub fn checkpoint(&self) -> Result<()> {
        self.shared.writer.lock().map_err(|_| Error::Interrupted)?.store.checkpoint()
    }

    /// Records next to the file how far the journal has come.
    pub(crate) fn note_progress(&self) -> Result<()> {
        let Some(mark) = &self.shared.mark else { return Ok(()) };
        let mut guard = self.shared.writer.lock().map_err(|_| Error::Interrupted)?;
        let mut mark = mark.lock().map_err(|_| Error::Interrupted)?;
        let mut held = mark.hold()?;
        let Connection { store, replay, seen } = &mut *guard;
        let transaction = store.begin(Intent::Read)?;
        let newest = Replay::caught_up(replay.take(), &self.shared.dataset, *seen, &*transaction)?;
        held.is_in(&newest, &*transaction)?;
        *seen = newest.head();
        *replay = Some(newest);
        held.advance(*seen)
    }

    /// Debits the request and returns when the debit is on disk.
    ///
    /// # Guarantee
    /// If it returns a reservation, the debit survives a power failure, and the totals with it are within every rule,
    /// whatever other threads and processes do. If it returns an error, nothing is granted. A request over the budget,
    /// or without a price, costs nothing.
    /// # Proof
    /// One transaction excludes all other writers and reads what they appended. (Writers that reach a file by another
    /// path have another log; its mark keeps them out.) In it, debits that were requested at the same time are priced,
    /// compared and appended one after the other, each with all before it counted. Then the transaction is
    /// synchronised, once for all of them, and only then does any of them return. If the commit fails, all of them
    /// fail. If it fails in a way that leaves rows on disk, the total counts them as soon as they are seen: too much
    /// is counted then, not too little. ∎
    pub fn reserve(&self, request: &Request) -> Result<Reservation> {
        let event = Self::written(request)?;
        // An allowed debit always has a row.
        let row =
            self.append(Command::Reserve(request.clone(), event))?.ok_or(Error::Interrupted)?;
        Ok(Reservation::new(self.clone(), row))
    }

    /// The request's event as text, after checking that all of the request can be stored.
    pub(crate) fn written(request: &Request) -> Result<String> {
        Subject::analyst("analyst", &request.who)?;
        let event = request.event.to_string();
        // The replayed event must be the priced one.
        if Event::parse(&event).as_ref() != Ok(&request.event) {
            return Err(Error::Unwritable);
        }
        Ok(event)
    }

    /// What everyone has spent, and what is left of the dataset's limit.
    pub fn balance(&self) -> Result<Balance> {
        balance::dataset(self.reading()?.newest(&self.shared.dataset)?.begun()?)
    }

    /// The same, with the period, every limit, every group, and whether the budget is frozen.
    pub fn balances(&self) -> Result<Balances> {
        balance::all(self.reading()?.newest(&self.shared.dataset)?.begun()?)
    }

    /// What `who` has spent and may still spend, by the tightest of the rules.
    pub fn balance_for(&self, who: &str) -> Result<AnalystBalance> {
        balance::analyst_balance(self.reading()?.newest(&self.shared.dataset)?.begun()?, who)
    }

    /// The answer that was bought for `key`, the first if there are several, whether or not an analyst may see it;
    /// [`Ledger::recall`] checks that.
    pub fn find(&self, key: &str) -> Result<Option<Vec<u8>>> {
        let mut connection = self.reading()?;
        let transaction = connection.store.begin(Intent::Read)?;
        let Some(row) = transaction.settlement(&self.shared.dataset, key)? else {
            return Ok(None);
        };
        row.check()?;
        if row.key != key || row.kind != Kind::Settle || row.dataset != self.shared.dataset {
            return Err(row.fault(Fault::Unlinked));
        }
        Ok(row.answer)
    }

    /// The whole journal, without the answers themselves.
    pub fn entries(&self) -> Result<Vec<Entry>> {
        self.entries_between(0, u64::MAX)
    }

    /// The number of the newest entry; 0 if there is none.
    pub fn newest(&self) -> Result<u64> {
        self.apart(|store| {
            let head = store.begin(Intent::Read)?.head(&self.shared.dataset)?;
            Ok(head.map_or(0, |(seq, _)| seq))
        })
    }

    /// The entries with numbers greater than `after` and less than `before`, in order, without the answers themselves.
    pub fn entries_between(&self, after: u64, before: u64) -> Result<Vec<Entry>> {
        let mut entries = Vec::new();
        self.apart(|store| {
            let transaction = store.begin(Intent::Read)?;
            transaction.scan(&self.shared.dataset, after, &mut |row| {
                if row.seq >= before {
                    return Ok(false);
                }
                row.check()?;
                entries.push(self.entry(row));
                Ok(true)
            })?;
            self.with_outcomes(&mut entries, &*transaction)
        })?;
        Ok(entries)
    }

    /// Says of each debit what came of it.
    fn with_outcomes(&self, entries: &mut [Entry], transaction: &dyn Transaction) -> Result<()> {
        let closed = entries.iter().filter_map(|entry| Some((entry.refers?, entry.kind)));
        let closed: HashMap<u64, Kind> = closed.collect();
        for entry in entries.iter_mut().filter(|entry| entry.kind == Kind::Reserve) {
            let closing = match closed.get(&entry.seq) {
                Some(kind) => Some(*kind),
                None => transaction.closing(&self.shared.dataset, entry.seq)?,
            };
            entry.outcome = Some(Outcome::of(closing));
        }
        Ok(())
    }

    /// A row as it is shown. Hashes may be shown from the row of the ledger's secret on: before it, keys and hashes
    /// were plain functions of the protected files.
    pub(crate) fn entry(&self, row: Row) -> Entry {
        let identity = self.shared.identity.get().filter(|_| self.has_plain_keys());
        let shareable = identity.is_none_or(|identity| row.seq >= identity.seq);
        Entry { shareable, ..Entry::from(row) }
    }

    /// Replays the journal from its first entry.
    ///
    /// # Guarantee
    /// If it succeeds: every entry is as it was written, follows from the one before, and the last is where the
    /// journal says it ends; every answer and every cancellation belongs to one reservation; no reservation has two;
    /// every refund is what was charged; every received answer had been bought, for the same price, and was new to its
    /// receiver; and the rules and totals kept in memory are those of the journal.
    pub fn verify(&self) -> Result<Verified> {
        let dataset = &self.shared.dataset;
        // The long part blocks no one.
        let mut fresh = self.apart(|store| {
            let transaction = store.begin(Intent::Read)?;
            transaction.check()?;
            Replay::caught_up(None, dataset, (0, GENESIS), &*transaction)
        })?;
        for connection in
            [Some(&self.shared.writer), self.shared.reader.as_ref()].into_iter().flatten()
        {
            fresh = connection.lock().map_err(|_| Error::Interrupted)?.agrees(dataset, fresh)?;
        }
        let ((entries, head), counts) = (fresh.head(), fresh.counts());
        Ok(Verified {
            entries,
            reserved: counts.reserved,
            cancelled: counts.cancelled,
            settled: counts.settled,
            received: counts.received,
            repriced: counts.repriced,
            beyond: counts.beyond,
            spent: fresh.begun()?.spent(&Account::Dataset),
            head,
        })
    }

    /// Lets the reader begin with what the writer has read.
    pub(crate) fn share_replay(&self) -> Result<()> {
        if let Some(reader) = &self.shared.reader {
            let writer = self.shared.writer.lock().map_err(|_| Error::Interrupted)?;
            let mut reader = reader.lock().map_err(|_| Error::Interrupted)?;
            (reader.replay, reader.seen) = (writer.replay.clone(), writer.seen);
        }
        Ok(())
    }

    /// A connection for reading, and its state.
    fn reading(&self) -> Result<MutexGuard<'_, Connection>> {
        let connection = self.shared.reader.as_ref().unwrap_or(&self.shared.writer);
        connection.lock().map_err(|_| Error::Interrupted)
    }

    /// Reads the current journal, with the same state of the store.
    pub(crate) fn read<R>(
        &self,
        look: impl FnOnce(&Replay, &dyn Transaction) -> Result<R>,
    ) -> Result<R> {
        let mut guard = self.reading()?;
        let Connection { store, replay, seen } = &mut *guard;
        let transaction = store.begin(Intent::Read)?;
        let newest = Replay::caught_up(replay.take(), &self.shared.dataset, *seen, &*transaction)?;
        *seen = newest.head();
        look(replay.insert(newest), &*transaction)
    }

    /// Runs something long, on a separate connection if possible.
    fn apart<R>(&self, read: impl FnOnce(&mut dyn Store) -> Result<R>) -> Result<R> {
        let another = self.reading()?.store.another()?;
        match another {
            Some(mut store) => read(&mut *store),
            None => read(&mut *self.reading()?.store),
        }
    }
}

impl fmt::Debug for Ledger {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Ledger").field("dataset", &self.shared.dataset).finish_non_exhaustive()
    }
}
