//! Reads the journal from its beginning: the only way in which totals are computed.
//!
//! Opening, catching up with other processes and verifying all use a [`Replay`]. It checks every row and keeps what
//! the next decision needs: the end of the chain, the rules, the totals and the open reservations.
//!
//! # Guarantee
//! The totals are the filter's over the reservations without a cancellation,
//! in the order of the journal. Prices in the file are never added up.
//! # Cost
//! A row costs a hash and a price. A cancellation resets the totals to those before its reservation and adds what came
//! after, if the reservation is among the last few; otherwise the journal is replayed from the start.

use crate::error::{Error, Fault, Result};
use crate::identity::{Identified, Known};
use crate::limit::Limit;
use crate::price::Price;
use crate::purchase::Sales;
use crate::row::{GENESIS, Hash, Kind, Row};
use crate::rule::RuleChange;
use crate::store::Transaction;
use crate::totals::Totals;
use demure_core::event::Event;
use std::collections::{HashMap, HashSet};

/// A reservation without a cancellation or an answer.
#[derive(Clone, Debug)]
struct Open {
    who: String,
    key: String,
    event: String,
    price: Price,
}

/// The number of rows of each kind.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Counts {
    pub(crate) reserved: u64,
    pub(crate) cancelled: u64,
    pub(crate) settled: u64,
    pub(crate) received: u64,
    /// Reservations whose price differs today from the recorded one.
    pub(crate) repriced: u64,
    /// Reservations and receipts that some rule in force did not allow, at today's prices.
    pub(crate) beyond: u64,
}

/// Whether the replay can go on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use]
pub(crate) enum Step {
    Done,
    /// A reservation too far back was cancelled: start over.
    StartOver,
}

/// The state of a replay before some row, as far as it is needed to go back there.
pub(crate) struct Moment {
    head: (u64, Hash),
    analysts: usize,
}

/// The journal up to some row.
#[derive(Clone, Debug)]
pub(crate) struct Replay {
    dataset: String,
    seq: u64,
    hash: Hash,
    /// A row that must exist, because it was seen before.
    seen: (u64, Hash),
    totals: Option<Totals>,
    /// The journal's identity.
    known: Known,
    open: HashMap<u64, Open>,
    sales: Sales,
    /// Reservations in later rows that are known to be cancelled.
    cancelled_later: HashSet<u64>,
    counts: Counts,
}

impl Replay {
    /// A replay before the first row.
    pub(crate) fn new(dataset: &str, seen: (u64, Hash)) -> Self {
        Self {
            dataset: dataset.to_owned(),
            seq: 0,
            hash: GENESIS,
            seen,
            totals: None,
            known: Known::default(),
            open: HashMap::new(),
            sales: Sales::default(),
            cancelled_later: HashSet::new(),
            counts: Counts::default(),
        }
    }

    /// Continues `known` (or starts) with the rows that the store has beyond it.
    ///
    /// If it starts over, the row that was `seen` last must still be there: a journal that lost its end, or was
    /// exchanged, is not a continuation.
    pub(crate) fn caught_up(
        known: Option<Self>,
        dataset: &str,
        seen: (u64, Hash),
        store: &dyn Transaction,
    ) -> Result<Self> {
        let mut replay = known.unwrap_or_else(|| Self::new(dataset, seen));
        if replay.follow(store)? == Step::StartOver {
            replay = Self::new(dataset, seen);
            // From the beginning, all cancellations are in later rows.
            if replay.follow(store)? == Step::StartOver {
                return Err(replay.broken(Fault::Orphan));
            }
        }
        Ok(replay)
    }

    fn follow(&mut self, store: &dyn Transaction) -> Result<Step> {
        let head = store.head(&self.dataset)?.unwrap_or((0, GENESIS));
        let known = self.seq;
        if known > 0 && (known, self.hash) == head {
            return Ok(Step::Done);
        }
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

    /// Applies the next row. After an error or `StartOver` the replay must not be used any more.
    pub(crate) fn apply(&mut self, row: &Row) -> Result<Step> {
        if row.seq != self.seq + 1 || row.before != self.hash || row.dataset != self.dataset {
            return Err(Error::Broken { seq: self.seq + 1, fault: Fault::Unlinked });
        }
        row.check()?;
        if row.seq == self.seen.0 && row.hash != self.seen.1 {
            return Err(row.fault(Fault::Unlinked));
        }
        // A unit's row may have an answer: its files.
        let answered = row.kind != Kind::Unit && row.answer.is_some();
        if answered != matches!(row.kind, Kind::Settle | Kind::Identity) {
            return Err(row.fault(Fault::Answer));
        }
        let step = match row.kind {
            Kind::Limit => self.limit(row)?,
            Kind::Reserve => self.reserve(row)?,
            Kind::Cancel => self.cancel(row)?,
            Kind::Settle => self.settle(row)?,
            Kind::Receive => self.receive(row)?,
            Kind::Grant | Kind::Member | Kind::Period | Kind::Freeze | Kind::Unfreeze => {
                self.change_rule(row)?
            }
            Kind::Identity | Kind::Unit | Kind::Replaced => self.introduce(row)?,
        };
        (self.seq, self.hash) = (row.seq, row.hash);
        Ok(step)
    }

    fn limit(&mut self, row: &Row) -> Result<Step> {
        let limit = Limit::parse(&row.event).ok_or_else(|| row.fault(Fault::Unreadable))?;
        match &mut self.totals {
            None => self.totals = Some(Totals::new(limit)?),
            Some(totals) if totals.limit.same_currency(&limit) => totals.set_limit(limit)?,
            Some(_) => return Err(row.fault(Fault::OtherCurrency)),
        }
        Ok(Step::Done)
    }

    fn change_rule(&mut self, row: &Row) -> Result<Step> {
        let totals = self.totals.as_mut().ok_or_else(|| row.fault(Fault::NoLimit))?;
        let change = RuleChange::read(row).ok_or_else(|| row.fault(Fault::Unreadable))?;
        totals.change_rule(row.seq, &row.who, change)?;
        Ok(Step::Done)
    }

    fn introduce(&mut self, row: &Row) -> Result<Step> {
        self.begun()?;
        self.known.read(row)?;
        Ok(Step::Done)
    }

    fn reserve(&mut self, row: &Row) -> Result<Step> {
        let totals = self.totals.as_mut().ok_or_else(|| row.fault(Fault::NoLimit))?;
        let event = Event::parse(&row.event)
            .map_err(|source| Error::UnknownEvent { seq: row.seq, source })?;
        let unpriced = |source| Error::UnpricedEntry { seq: row.seq, source };
        let price = totals.price(&event).map_err(unpriced)?;
        if !self.cancelled_later.contains(&row.seq) {
            let added = totals.add(row.seq, totals.concerned(&row.who), event).map_err(unpriced)?;
            let allowed = added.ok_or_else(|| row.fault(Fault::Totals))?;
            self.counts.beyond += u64::from(!allowed);
        }
        let (who, key, event) = (row.who.clone(), row.key.clone(), row.event.clone());
        self.open.insert(row.seq, Open { who, key, event, price: row.price });
        self.counts.reserved += 1;
        self.counts.repriced += u64::from(price != row.price);
        Ok(Step::Done)
    }

    fn cancel(&mut self, row: &Row) -> Result<Step> {
        let (seq, open) = self.close(row)?;
        if row.price != open.price {
            return Err(row.fault(Fault::Refund));
        }
        self.counts.cancelled += 1;
        if self.cancelled_later.remove(&seq) {
            return Ok(Step::Done);
        }
        let totals = self.totals.as_mut().ok_or_else(|| row.fault(Fault::NoLimit))?;
        let unpriced = |source| Error::UnpricedEntry { seq, source };
        let found = totals.take_back(seq).map_err(unpriced)?;
        Ok(if found { Step::Done } else { Step::StartOver })
    }

    fn settle(&mut self, row: &Row) -> Result<Step> {
        let (seq, open) = self.close(row)?;
        self.sales.settled(&open.who, &open.key, (seq, &open.event, open.price));
        self.counts.settled += 1;
        Ok(Step::Done)
    }

    fn receive(&mut self, row: &Row) -> Result<Step> {
        let totals = self.totals.as_mut().ok_or_else(|| row.fault(Fault::NoLimit))?;
        self.sales.received(row)?;
        let event = Event::parse(&row.event)
            .map_err(|source| Error::UnknownEvent { seq: row.seq, source })?;
        let added = totals.add(row.seq, totals.personal(&row.who), event);
        let added = added.map_err(|source| Error::UnpricedEntry { seq: row.seq, source })?;
        let allowed = added.ok_or_else(|| row.fault(Fault::Totals))?;
        self.counts.received += 1;
        self.counts.beyond += u64::from(!allowed);
        Ok(Step::Done)
    }

    /// The open reservation that the row refers to, which it closes.
    fn close(&mut self, row: &Row) -> Result<(u64, Open)> {
        let orphan = || row.fault(Fault::Orphan);
        let seq = row.refers.ok_or_else(orphan)?;
        match self.open.remove(&seq) {
            Some(open) if open.key == row.key => Ok((seq, open)),
            _ => Err(orphan()),
        }
    }

    /// What [`Replay::forget`] needs from the moment before a row.
    pub(crate) fn moment(&self) -> Moment {
        Moment { head: self.head(), analysts: self.sales.analysts() }
    }

    /// Removes the last row, a debit or a receipt that was not written in the end. Returns false if that is not
    /// possible, and then the replay must not be used any more.
    pub(crate) fn forget(&mut self, row: &Row, before: &Moment) -> bool {
        match row.kind {
            Kind::Reserve => {
                self.counts.reserved -= 1;
                self.open.remove(&row.seq);
            }
            Kind::Receive => {
                self.counts.received -= 1;
                self.sales.forget(row, before.analysts);
            }
            _ => return false,
        }
        (self.seq, self.hash) = before.head;
        self.totals.as_mut().is_some_and(|totals| totals.take_back(row.seq) == Ok(true))
    }

    /// Whether this reservation is neither cancelled nor settled.
    pub(crate) fn is_open(&self, seq: u64) -> bool {
        self.open.contains_key(&seq)
    }

    /// The bought answers, and who was shown them.
    pub(crate) fn sales(&self) -> &Sales {
        &self.sales
    }

    pub(crate) fn dataset(&self) -> &str {
        &self.dataset
    }

    /// The number of the last row, and its hash.
    pub(crate) fn head(&self) -> (u64, Hash) {
        (self.seq, self.hash)
    }

    /// The journal's id and secret; `None` if it has none yet.
    pub(crate) fn identity(&self) -> Option<&Identified> {
        self.known.identity.as_ref()
    }

    /// What the journal records about itself.
    pub(crate) fn about(&self) -> &Known {
        &self.known
    }

    pub(crate) fn counts(&self) -> Counts {
        self.counts
    }

    /// The rules and the totals; `None` before the first row.
    pub(crate) fn totals(&self) -> Option<&Totals> {
        self.totals.as_ref()
    }

    /// The same for a journal that must have begun.
    pub(crate) fn begun(&self) -> Result<&Totals> {
        self.totals.as_ref().ok_or_else(|| self.broken(Fault::NoLimit))
    }

    /// Whether both end at the same row with the same rules, totals and answers.
    pub(crate) fn same(&self, other: &Self) -> Result<bool> {
        let alike = self.head() == other.head() && self.sales == other.sales;
        Ok(alike && self.begun()?.same(other.begun()?))
    }

    /// An error at the end of what was read.
    pub(crate) fn broken(&self, fault: Fault) -> Error {
        Error::Broken { seq: self.seq, fault }
    }
}

#[cfg(test)]
mod tests;
