//! The journal, read from its beginning: the only way totals come about.
//!
//! A [`Replay`] is what opening, catching up with other processes and
//! verifying have in common. It checks every row that it is given and keeps
//! what the next decision needs: the end of the chain, the limit, the totals
//! and the reservations that are still open.
//!
//! # Guarantee
//! `spent` is the filter's total over the reservations without a cancellation,
//! in the order of the journal. Prices in the file are never added up.
//! # Cost
//! A row costs a hash and a price. A cancellation takes the filter back to
//! before its reservation and adds what came after, if that is among the last
//! [`WINDOW`] reservations; otherwise the journal is replayed from the start.

use crate::error::{Error, Fault, Result};
use crate::limit::Limit;
use crate::meter::Meter;
use crate::price::Price;
use crate::row::{GENESIS, Hash, Kind, Row};
use crate::store::Transaction;
use demure_core::event::Event;
use std::collections::{HashMap, HashSet, VecDeque};

/// How many reservations can be taken back without reading the journal again.
const WINDOW: usize = 64;

/// The limit in force and what counts against it.
#[derive(Clone, Debug)]
pub(crate) struct Budget {
    pub(crate) limit: Limit,
    /// What may be spent.
    pub(crate) most: Price,
    pub(crate) meter: Meter,
}

impl Budget {
    fn new(limit: Limit) -> Result<Self> {
        let meter = Meter::new(limit.accounting, limit.neighbours)
            .map_err(|source| Error::ImpossibleLimit { source })?;
        Ok(Self { most: limit.most()?, limit, meter })
    }

    /// What can still be bought.
    pub(crate) fn left(&self) -> Price {
        self.most.left_after(self.meter.spent())
    }
}

/// A reservation without a cancellation or an answer.
#[derive(Clone, Debug)]
struct Open {
    key: String,
    price: Price,
}

/// A reservation that can be taken back cheaply.
#[derive(Clone, Debug)]
struct Recent {
    seq: u64,
    before: Meter,
    event: Event,
}

/// How many rows of each kind there were.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Counts {
    pub(crate) reserved: u64,
    pub(crate) cancelled: u64,
    pub(crate) settled: u64,
    /// Reservations that cost something else today than when they were made.
    pub(crate) repriced: u64,
}

/// May the replay go on?
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use]
pub(crate) enum Step {
    Done,
    /// A reservation too far back was cancelled: begin again.
    StartOver,
}

/// The journal up to some row.
#[derive(Clone, Debug)]
pub(crate) struct Replay {
    dataset: String,
    seq: u64,
    hash: Hash,
    /// A row that must be there: it was seen before.
    seen: (u64, Hash),
    budget: Option<Budget>,
    open: HashMap<u64, Open>,
    recent: VecDeque<Recent>,
    /// Reservations ahead that are known to be cancelled further ahead.
    cancelled_later: HashSet<u64>,
    counts: Counts,
}

impl Replay {
    /// Before the first row.
    pub(crate) fn new(dataset: &str, seen: (u64, Hash)) -> Self {
        Self {
            dataset: dataset.to_owned(),
            seq: 0,
            hash: GENESIS,
            seen,
            budget: None,
            open: HashMap::new(),
            recent: VecDeque::new(),
            cancelled_later: HashSet::new(),
            counts: Counts::default(),
        }
    }

    /// `known` (or nothing), and what the store has beyond it.
    ///
    /// Where it begins anew, the row that was `seen` last must still be there: a
    /// journal that lost its end, or was exchanged, is no continuation.
    pub(crate) fn caught_up(
        known: Option<Self>,
        dataset: &str,
        seen: (u64, Hash),
        store: &dyn Transaction,
    ) -> Result<Self> {
        let mut replay = known.unwrap_or_else(|| Self::new(dataset, seen));
        if replay.follow(store)? == Step::StartOver {
            replay = Self::new(dataset, seen);
            // From the beginning all cancellations are ahead.
            if replay.follow(store)? == Step::StartOver {
                return Err(replay.broken(Fault::Orphan));
            }
        }
        Ok(replay)
    }

    fn follow(&mut self, store: &dyn Transaction) -> Result<Step> {
        let head = store.head(&self.dataset)?.unwrap_or((0, GENESIS));
        let known = self.seq;
        self.cancelled_later = store.cancelled(&self.dataset, known)?;
        self.cancelled_later.retain(|&seq| seq > known);
        let dataset = self.dataset.clone();
        let mut step = Step::Done;
        store.scan(&dataset, known, &mut |row| {
            step = self.apply(&row)?;
            Ok(step == Step::Done)
        })?;
        if step == Step::Done && ((self.seq, self.hash) != head || !self.cancelled_later.is_empty())
        {
            return Err(self.broken(Fault::Missing));
        }
        if step == Step::Done && self.seq < self.seen.0 {
            return Err(Error::Broken { seq: self.seen.0, fault: Fault::Missing });
        }
        Ok(step)
    }

    /// Takes the next row. After an error or `StartOver` the replay is of no more use.
    pub(crate) fn apply(&mut self, row: &Row) -> Result<Step> {
        if row.seq != self.seq + 1 || row.before != self.hash || row.dataset != self.dataset {
            return Err(Error::Broken { seq: self.seq + 1, fault: Fault::Unlinked });
        }
        row.check()?;
        if row.seq == self.seen.0 && row.hash != self.seen.1 {
            return Err(row.fault(Fault::Unlinked));
        }
        if row.answer.is_some() != (row.kind == Kind::Settle) {
            return Err(row.fault(Fault::Answer));
        }
        let step = match row.kind {
            Kind::Limit => self.limit(row)?,
            Kind::Reserve => self.reserve(row)?,
            Kind::Cancel => self.cancel(row)?,
            Kind::Settle => self.settle(row)?,
        };
        (self.seq, self.hash) = (row.seq, row.hash);
        Ok(step)
    }

    fn limit(&mut self, row: &Row) -> Result<Step> {
        let limit = Limit::parse(&row.event).ok_or_else(|| row.fault(Fault::Unreadable))?;
        match &mut self.budget {
            None => self.budget = Some(Budget::new(limit)?),
            Some(budget) if budget.limit.same_currency(&limit) => {
                budget.most = limit.most()?;
                budget.limit = limit;
            }
            Some(_) => return Err(row.fault(Fault::OtherCurrency)),
        }
        Ok(Step::Done)
    }

    fn reserve(&mut self, row: &Row) -> Result<Step> {
        let budget = self.budget.as_mut().ok_or_else(|| row.fault(Fault::NoLimit))?;
        let event = Event::parse(&row.event)
            .map_err(|source| Error::UnknownEvent { seq: row.seq, source })?;
        let unpriced = |source| Error::UnpricedEntry { seq: row.seq, source };
        let price = budget.meter.price(&event).map_err(unpriced)?;
        if !self.cancelled_later.contains(&row.seq) {
            let next = budget.meter.with(&event).map_err(unpriced)?;
            let next = next.ok_or_else(|| row.fault(Fault::Totals))?;
            let before = std::mem::replace(&mut budget.meter, next);
            if self.recent.len() == WINDOW {
                self.recent.pop_front();
            }
            self.recent.push_back(Recent { seq: row.seq, before, event });
        }
        self.open.insert(row.seq, Open { key: row.key.clone(), price: row.price });
        self.counts.reserved += 1;
        self.counts.repriced += u64::from(price != row.price);
        Ok(Step::Done)
    }

    fn cancel(&mut self, row: &Row) -> Result<Step> {
        let (seq, price) = self.close(row)?;
        if row.price != price {
            return Err(row.fault(Fault::Refund));
        }
        self.counts.cancelled += 1;
        if self.cancelled_later.remove(&seq) {
            return Ok(Step::Done);
        }
        let budget = self.budget.as_mut().ok_or_else(|| row.fault(Fault::NoLimit))?;
        let Some(at) = self.recent.iter().position(|recent| recent.seq == seq) else {
            return Ok(Step::StartOver);
        };
        let Some(gone) = self.recent.remove(at) else { return Ok(Step::StartOver) };
        let mut meter = gone.before;
        for later in self.recent.iter_mut().skip(at) {
            later.before = meter.clone();
            meter = meter
                .with(&later.event)
                .map_err(|source| Error::UnpricedEntry { seq: later.seq, source })?
                .ok_or_else(|| row.fault(Fault::Totals))?;
        }
        budget.meter = meter;
        Ok(Step::Done)
    }

    fn settle(&mut self, row: &Row) -> Result<Step> {
        self.close(row)?;
        self.counts.settled += 1;
        Ok(Step::Done)
    }

    /// The open reservation that the row is about, which it closes.
    fn close(&mut self, row: &Row) -> Result<(u64, Price)> {
        let orphan = || row.fault(Fault::Orphan);
        let seq = row.refers.ok_or_else(orphan)?;
        match self.open.remove(&seq) {
            Some(open) if open.key == row.key => Ok((seq, open.price)),
            _ => Err(orphan()),
        }
    }

    /// Is this reservation neither cancelled nor settled?
    pub(crate) fn is_open(&self, seq: u64) -> bool {
        self.open.contains_key(&seq)
    }

    pub(crate) fn dataset(&self) -> &str {
        &self.dataset
    }

    /// The number of the last row, and its hash.
    pub(crate) fn head(&self) -> (u64, Hash) {
        (self.seq, self.hash)
    }

    pub(crate) fn counts(&self) -> Counts {
        self.counts
    }

    /// The limit and the totals; `None` before the first row.
    pub(crate) fn budget(&self) -> Option<&Budget> {
        self.budget.as_ref()
    }

    /// The same, where a journal must have begun.
    pub(crate) fn begun(&self) -> Result<&Budget> {
        self.budget.as_ref().ok_or_else(|| self.broken(Fault::NoLimit))
    }

    /// Do both end at the same row with the same totals?
    pub(crate) fn same_totals(&self, other: &Self) -> Result<bool> {
        let (one, two) = (self.begun()?, other.begun()?);
        Ok(self.head() == other.head() && one.meter.spent() == two.meter.spent())
    }

    /// Something is wrong at the end of what was read.
    pub(crate) fn broken(&self, fault: Fault) -> Error {
        Error::Broken { seq: self.seq, fault }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::row::example;

    /// A chain that is whole, whatever its rows say.
    fn chain(rows: &[(Kind, Option<u64>, &str, f64)]) -> Vec<Row> {
        let mut before = GENESIS;
        let sealed = rows.iter().zip(1..).map(|(&(kind, refers, event, main), seq)| {
            let event = event.to_owned();
            let answer = (kind == Kind::Settle).then(Vec::new);
            let price = Price { main, delta: 0.0 };
            let row = Row { seq, kind, refers, event, price, answer, before, ..example() }.sealed();
            before = row.hash;
            row
        });
        sealed.collect()
    }

    fn replayed(rows: &[Row]) -> Result<Replay> {
        let mut replay = Replay::new("visits", (0, GENESIS));
        for row in rows {
            assert_eq!(replay.apply(row)?, Step::Done);
        }
        Ok(replay)
    }

    const LIMIT: (Kind, Option<u64>, &str, f64) =
        (Kind::Limit, None, "limit(accounting=pure, eps=1, delta=0, neighbours=replace)", 1.0);
    const DEBIT: (Kind, Option<u64>, &str, f64) = (Kind::Reserve, None, "pure(eps=0.5)", 0.5);
    const REFUND: (Kind, Option<u64>, &str, f64) = (Kind::Cancel, Some(2), "", 0.5);
    const ANSWER: (Kind, Option<u64>, &str, f64) = (Kind::Settle, Some(2), "", 0.0);

    #[test]
    fn a_whole_chain_that_makes_no_sense_is_refused() {
        assert!(replayed(&chain(&[LIMIT, DEBIT, ANSWER])).is_ok());
        assert!(replayed(&chain(&[LIMIT, DEBIT, REFUND])).is_ok());
        let zcdp = "limit(accounting=zcdp, eps=1, delta=0.000001, neighbours=replace)";
        for (rows, seq, fault) in [
            (vec![DEBIT], 1, Fault::NoLimit),
            (vec![LIMIT, (Kind::Limit, None, zcdp, 1.0)], 2, Fault::OtherCurrency),
            (vec![(Kind::Limit, None, "limit()", 1.0)], 1, Fault::Unreadable),
            // No answer without its debit, and none that was given back.
            (vec![LIMIT, ANSWER], 2, Fault::Orphan),
            (vec![LIMIT, DEBIT, ANSWER, ANSWER], 4, Fault::Orphan),
            (vec![LIMIT, DEBIT, REFUND, ANSWER], 4, Fault::Orphan),
            (vec![LIMIT, DEBIT, (Kind::Settle, None, "", 0.0)], 3, Fault::Orphan),
            // Nothing is given back twice, or after the answer, or in excess.
            (vec![LIMIT, DEBIT, REFUND, REFUND], 4, Fault::Orphan),
            (vec![LIMIT, DEBIT, ANSWER, REFUND], 4, Fault::Orphan),
            (vec![LIMIT, DEBIT, (Kind::Cancel, Some(2), "", 0.75)], 3, Fault::Refund),
            (vec![LIMIT, DEBIT, (Kind::Cancel, Some(1), "", 1.0)], 3, Fault::Orphan),
        ] {
            let error = replayed(&chain(&rows)).unwrap_err();
            assert_eq!(error, Error::Broken { seq, fault });
        }
        let mut keyed = chain(&[LIMIT, DEBIT, ANSWER]);
        keyed[2].key = "another".into();
        keyed[2] = keyed[2].clone().sealed();
        assert!(matches!(replayed(&keyed), Err(Error::Broken { seq: 3, fault: Fault::Orphan })));
        let mut answered = chain(&[LIMIT, DEBIT]);
        answered[1].answer = Some(Vec::new());
        answered[1] = answered[1].clone().sealed();
        assert!(matches!(replayed(&answered), Err(Error::Broken { seq: 2, fault: Fault::Answer })));
        // A row replaced by another with a hash of its own: the next one tells.
        let mut replaced = chain(&[LIMIT, DEBIT, ANSWER]);
        replaced[1].who = "bob".into();
        replaced[1] = replaced[1].clone().sealed();
        let error = replayed(&replaced).unwrap_err();
        assert_eq!(error, Error::Broken { seq: 3, fault: Fault::Unlinked });
        // A row of another dataset's journal.
        let elsewhere = Replay::new("wages", (0, GENESIS)).apply(&chain(&[LIMIT])[0]).unwrap_err();
        assert_eq!(elsewhere, Error::Broken { seq: 1, fault: Fault::Unlinked });
        // Written by a later version, or priceless.
        let newer = chain(&[LIMIT, (Kind::Reserve, None, "wavelet(b=1)", 1.0)]);
        assert!(matches!(replayed(&newer), Err(Error::UnknownEvent { seq: 2, .. })));
        let priceless = chain(&[LIMIT, (Kind::Reserve, None, "gaussian(sigma=1)", 1.0)]);
        assert!(matches!(replayed(&priceless), Err(Error::UnpricedEntry { seq: 2, .. })));
    }

    #[test]
    fn totals_are_of_events_and_not_of_prices_in_the_file() {
        let rows = chain(&[LIMIT, (Kind::Reserve, None, "pure(eps=0.5)", 0.001)]);
        let replay = replayed(&rows).unwrap();
        assert_eq!(replay.begun().unwrap().meter.spent().main, 0.5);
        assert_eq!(replay.counts().repriced, 1);
    }
}
