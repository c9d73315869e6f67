//! The ledger of one dataset: debits, balance, repeats, verification.

use crate::error::{Error, Fault, Result};
use crate::limit::{Accounting, Limit};
use crate::price::{Price, subtract_down};
use crate::replay::{Replay, Step};
use crate::reservation::Reservation;
use crate::row::{Entry, GENESIS, Hash, Kind, Row, to_micros};
use crate::store::sqlite::{PATIENCE, Sqlite};
use crate::store::{Intent, Store};
use demure_core::event::Event;
use std::fmt;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::SystemTime;

/// Tells the time. It is written down and decides nothing: the journal is in
/// the order of its numbers, and a clock that goes back is recorded as it is.
pub type Clock = Arc<dyn Fn() -> SystemTime + Send + Sync>;

/// The operating system's clock.
#[must_use]
pub fn wall_clock() -> Clock {
    Arc::new(SystemTime::now)
}

/// What is to be paid for.
#[derive(Clone, Debug, PartialEq)]
pub struct Request {
    /// Who asks.
    pub who: String,
    /// The query's canonical hash, in hexadecimal: equal for equal queries.
    pub key: String,
    /// The query's canonical text. It is stored, so it must be public.
    pub query: String,
    /// What answering it does.
    pub event: Event,
}

/// What has been spent and what is left.
#[derive(Clone, Debug, PartialEq)]
pub struct Balance {
    /// The limit in force.
    pub limit: Limit,
    /// Σε or Σρ, and Σδ of the events' own; rounded up.
    pub spent: Price,
    /// What may still be spent, in the same currency; rounded down, so that one event
    /// of exactly this price is within the limit. 0 if the limit has been lowered
    /// below what was spent.
    pub left: Price,
    /// The ε that `spent.main` amounts to: itself, or for zCDP the ε of
    /// (ε, δ/2)-DP; rounded up. The δ beside it is [`Balance::spent_delta`].
    pub spent_epsilon: f64,
    /// `left.main`; for zCDP the limit's ε less `spent_epsilon`, rounded down. Under
    /// zCDP more than this can be bought: ρ adds up, and its ε does not.
    pub left_epsilon: f64,
    /// The δ that goes with `spent_epsilon`: the events' own, and under zCDP half
    /// of the limit's as soon as anything is spent; rounded up.
    pub spent_delta: f64,
}

/// What a verification found.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Verified {
    /// How many entries there are.
    pub entries: u64,
    /// How many reservations.
    pub reserved: u64,
    /// How many of them were cancelled.
    pub cancelled: u64,
    /// How many of them have an answer.
    pub settled: u64,
    /// How many cost something else by this version's accountant than when they
    /// were made. The balance counts today's prices.
    pub repriced: u64,
    /// What has been spent.
    pub spent: Price,
    /// The hash of the last entry. Noted elsewhere, it later shows whether the
    /// journal is still the same up to there.
    pub head: Hash,
}

/// The budget of one dataset and its journal.
///
/// A clone is the same ledger. Any number of ledgers, in any number of
/// processes, may be open on one file; together they stay within the limit.
///
/// # Guarantee
/// At all times, what all reservations that were ever returned and not
/// cancelled cost together, rounded up, was within the limit in force when the
/// last of them was made; and each was on disk before it was returned.
#[derive(Clone)]
pub struct Ledger {
    shared: Arc<Shared>,
}

struct Shared {
    dataset: String,
    clock: Clock,
    inside: Mutex<Inside>,
}

struct Inside {
    store: Box<dyn Store>,
    /// What this process has read of the journal; `None` when it must read anew.
    /// It only ever holds rows that are committed.
    replay: Option<Replay>,
}

/// A row without its place in the chain.
pub(crate) struct Draft<'a> {
    pub(crate) kind: Kind,
    pub(crate) refers: Option<u64>,
    pub(crate) who: &'a str,
    pub(crate) key: &'a str,
    pub(crate) query: &'a str,
    pub(crate) event: String,
    pub(crate) price: Price,
    pub(crate) answer: Option<&'a [u8]>,
}

impl Ledger {
    /// Opens the ledger of `dataset` in a file, which is created if there is none.
    ///
    /// A limit other than the last one becomes an entry of the journal and rules
    /// from then on, also for ledgers that are open elsewhere. Another currency
    /// or neighbour relation is refused: what was spent has no price in it.
    pub fn open(path: &Path, dataset: &str, limit: Limit, clock: Clock) -> Result<Self> {
        limit.most()?;
        Self::with_store(Box::new(Sqlite::open(path, PATIENCE)?), dataset, &limit, clock)
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
        let most = limit.most()?;
        let inside = Mutex::new(Inside { store, replay: None });
        let shared = Shared { dataset: dataset.to_owned(), clock, inside };
        let ledger = Self { shared: Arc::new(shared) };
        ledger.append(|replay| match replay.budget() {
            Some(budget) if !budget.limit.same_currency(limit) => Err(Error::OtherAccounting {
                dataset: dataset.to_owned(),
                stored: Box::new(budget.limit.clone()),
                asked_accounting: limit.accounting,
                asked_neighbours: limit.neighbours,
            }),
            Some(budget) if budget.limit == *limit => Ok(None),
            _ => Ok(Some(Draft {
                kind: Kind::Limit,
                refers: None,
                who: "",
                key: "",
                query: "",
                event: limit.to_string(),
                price: most,
                answer: None,
            })),
        })?;
        Ok(ledger)
    }

    /// Debits the request and returns when the debit is on disk.
    ///
    /// # Guarantee
    /// If it returns a reservation, the debit survives a loss of power, and the
    /// total with it is within the limit, whatever other threads and processes do.
    /// If it returns an error, nothing is granted. Over the budget, or without a
    /// price, it costs nothing.
    /// # Proof
    /// One transaction excludes all other writers, reads what they appended,
    /// prices, compares, appends and synchronises. What is kept in memory changes
    /// after that, by the row that was committed. If the commit fails in a way that
    /// leaves the row on disk after all, the total counts it as soon as it is seen:
    /// too much is counted then, not too little. ∎
    pub fn reserve(&self, request: &Request) -> Result<Reservation> {
        let event = request.event.to_string();
        // What is replayed must be what was priced.
        if Event::parse(&event).as_ref() != Ok(&request.event) {
            return Err(Error::Unwritable);
        }
        let row = self.append(|replay| {
            let budget = replay.begun()?;
            let accounting = budget.limit.accounting;
            let unpriced = |source| Error::Unpriced { accounting, source };
            let price = budget.meter.price(&request.event).map_err(unpriced)?;
            let next = budget.meter.with(&request.event).map_err(unpriced)?;
            if !next.is_some_and(|next| next.within(budget.most)) {
                return Err(Error::OverBudget { accounting, asked: price, left: budget.left() });
            }
            Ok(Some(Draft {
                kind: Kind::Reserve,
                refers: None,
                who: &request.who,
                key: &request.key,
                query: &request.query,
                event,
                price,
                answer: None,
            }))
        })?;
        // `append` returns a row whenever it was given a draft.
        let row = row.ok_or(Error::Interrupted)?;
        Ok(Reservation::new(self.clone(), row))
    }

    /// What has been spent, by everyone, and what is left.
    pub fn balance(&self) -> Result<Balance> {
        let mut guard = self.lock()?;
        let Inside { store, replay } = &mut *guard;
        let transaction = store.begin(Intent::Read)?;
        let caught_up = Replay::caught_up(replay.take(), &self.shared.dataset, &*transaction)?;
        let budget = replay.insert(caught_up).begun()?;
        let (limit, spent) = (budget.limit.clone(), budget.meter.spent());
        let spent_epsilon = limit.epsilon_of(spent)?;
        let spent_delta = match limit.accounting {
            Accounting::Zcdp if spent != Price::ZERO => {
                // Half of the limit and at most half: their sum is at most the limit.
                let sum = budget.most.delta + spent.delta;
                let rounded = if spent.delta == 0.0 { sum } else { sum.next_up() };
                if budget.meter.within(budget.most) {
                    rounded.min(limit.delta.get())
                } else {
                    rounded
                }
            }
            _ => spent.delta,
        };
        let left = budget.left();
        let left_epsilon = match limit.accounting {
            Accounting::Pure => left.main,
            Accounting::Zcdp => subtract_down(limit.epsilon.get(), spent_epsilon),
        };
        Ok(Balance { limit, spent, left, spent_epsilon, left_epsilon, spent_delta })
    }

    /// The answer that was bought for `key`, the first if there are several: asking
    /// again is free, and averaging repeats gains nothing.
    pub fn find(&self, key: &str) -> Result<Option<Vec<u8>>> {
        let mut guard = self.lock()?;
        let transaction = guard.store.begin(Intent::Read)?;
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
        let mut guard = self.lock()?;
        let transaction = guard.store.begin(Intent::Read)?;
        let mut entries = Vec::new();
        transaction.scan(&self.shared.dataset, 0, &mut |row| {
            row.check()?;
            entries.push(Entry::from(row));
            Ok(true)
        })?;
        Ok(entries)
    }

    /// Replays the journal from its first entry.
    ///
    /// # Guarantee
    /// If it succeeds: every entry is as it was written, follows from the one
    /// before, and the last is where the journal says it ends; every answer and
    /// every cancellation belongs to one reservation; no reservation has two; what
    /// was given back is what was charged; and the totals kept in memory are those
    /// of the journal.
    pub fn verify(&self) -> Result<Verified> {
        let mut guard = self.lock()?;
        let Inside { store, replay } = &mut *guard;
        let transaction = store.begin(Intent::Read)?;
        transaction.check()?;
        let dataset = &self.shared.dataset;
        let fresh = Replay::caught_up(None, dataset, &*transaction)?;
        let kept = Replay::caught_up(replay.take(), dataset, &*transaction)?;
        let spent = fresh.begun()?.meter.spent();
        if kept.begun()?.meter.spent() != spent || kept.head() != fresh.head() {
            return Err(fresh.broken(Fault::Totals));
        }
        let ((entries, head), counts) = (fresh.head(), fresh.counts());
        *replay = Some(fresh);
        Ok(Verified {
            entries,
            reserved: counts.reserved,
            cancelled: counts.cancelled,
            settled: counts.settled,
            repriced: counts.repriced,
            spent,
            head,
        })
    }

    /// Appends the row that `draft` makes of the newest state, if it makes one,
    /// and returns it when it is on disk.
    pub(crate) fn append<'a>(
        &self,
        draft: impl FnOnce(&Replay) -> Result<Option<Draft<'a>>>,
    ) -> Result<Option<Row>> {
        let time = to_micros((self.shared.clock)());
        let mut guard = self.lock()?;
        let Inside { store, replay } = &mut *guard;
        let mut transaction = store.begin(Intent::Append)?;
        let caught_up = Replay::caught_up(replay.take(), &self.shared.dataset, &*transaction)?;
        let known = replay.insert(caught_up);
        let Some(draft) = draft(known)? else { return Ok(None) };
        let row = self.placed(draft, time, known);
        transaction.append(&row)?;
        transaction.commit()?;
        // Only now, and by the same road as everyone else's rows. Where that
        // fails, the next operation reads the journal anew.
        if !matches!(known.apply(&row), Ok(Step::Done)) {
            *replay = None;
        }
        Ok(Some(row))
    }

    /// The draft as the next row.
    fn placed(&self, draft: Draft<'_>, time: i64, known: &Replay) -> Row {
        let (last, before) = known.head();
        Row {
            dataset: self.shared.dataset.clone(),
            seq: last + 1,
            time,
            kind: draft.kind,
            refers: draft.refers,
            who: draft.who.to_owned(),
            key: draft.key.to_owned(),
            query: draft.query.to_owned(),
            event: draft.event,
            price: draft.price,
            answer: draft.answer.map(<[u8]>::to_vec),
            before,
            hash: GENESIS,
        }
        .sealed()
    }

    fn lock(&self) -> Result<MutexGuard<'_, Inside>> {
        self.shared.inside.lock().map_err(|_| Error::Interrupted)
    }
}

impl fmt::Debug for Ledger {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Ledger").field("dataset", &self.shared.dataset).finish_non_exhaustive()
    }
}
