//! Records which analyst has been shown which answer, and what that costs.
//!
//! The dataset pays for an answer once: when it is bought. Every other analyst who is shown it afterwards *receives*
//! it, with a separate entry:
//!
//! | kind | who | key | event, cost, delta |
//! |---|---|---|---|
//! | `receive` | the analyst | of the answer | those of the reservation that bought it |
//!
//! It counts against the analyst's own limit and those of their groups, and against nothing else: all analysts
//! together have learnt no more than before. `refers` is empty, because a reservation may be referred to only once:
//! the key identifies the answer, the first that was bought for it.
//!
//! # Guarantee
//! Under [`Answers::Personal`], all that an analyst was shown, no matter who bought it, is within their limit and
//! those of their groups, and each entry is on disk before the answer is returned. An analyst can ask again for what
//! they were shown once: that costs nothing.
//! # Proof
//! [`Ledger::purchase`] returns an answer that was bought before only if [`Sales::shown`] has it for this analyst.
//! That is the case after the analyst's own purchase, which counts in their accounts as a reservation, and after a
//! `receive`, which is decided on like a debit, in the same serial order, and counted in the same accounts. ∎
//!
//! A group whose members receive the same answer pays for each of them: more than what they learnt together, never
//! less.

use crate::decide::Command;
use crate::error::{Error, Fault, Result};
use crate::ledger::{Ledger, Request};
use crate::price::Price;
use crate::question::Question;
use crate::replay::Replay;
use crate::reservation::Reservation;
use crate::row::{Kind, Row};
use crate::store::Transaction;
use sha2::{Digest, Sha256};
use std::collections::HashMap;

/// What an answer that one analyst bought costs the others.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Answers {
    /// It costs the dataset nothing, and each analyst who is shown it its price, once, out of their own limit and
    /// those of their groups.
    #[default]
    Personal,
    /// It is free for everyone who is not denied everything. Personal limits then bound what an analyst makes the
    /// dataset spend, not what they are shown.
    Shared,
}

/// The result of a purchase.
#[derive(Debug)]
#[must_use = "an answer that was paid for, or the right to compute it"]
pub enum Purchase {
    /// The answer was not bought before: it is debited now, and may be computed.
    Reserved(Reservation),
    /// The answer was bought before.
    Given {
        /// The answer as it was settled.
        answer: Vec<u8>,
        /// What it cost this analyst now; nothing if they were shown it before.
        price: Price,
    },
}

/// The first 128 bits of a text's SHA-256, because entries are many and texts are long.
type Mark = [u8; 16];

fn mark(text: &str) -> Mark {
    let digest: [u8; 32] = Sha256::digest(text.as_bytes()).into();
    let mut mark = Mark::default();
    mark.copy_from_slice(&digest[..16]);
    mark
}

/// The first answer that was bought for a key.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Sale {
    /// The number of the reservation.
    pub(crate) reservation: u64,
    /// The price that was charged.
    pub(crate) price: Price,
    event: Mark,
}

impl Sale {
    /// Whether the answer is of this event.
    pub(crate) fn is_of(&self, event: &str) -> bool {
        self.event == mark(event)
    }
}

/// Every answer that was bought, and who has been shown it.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Sales {
    analysts: HashMap<String, u32>,
    first: HashMap<Mark, Sale>,
    /// The reservation that bought the answer that the analyst was shown first.
    shown: HashMap<(u32, Mark), u64>,
}

impl Sales {
    /// Records that `who` bought the answer for `key`.
    pub(crate) fn settled(
        &mut self,
        who: &str,
        key: &str,
        (reservation, event, price): (u64, &str, Price),
    ) {
        let (key, event) = (mark(key), mark(event));
        self.first.entry(key).or_insert(Sale { reservation, price, event });
        let who = self.number(who);
        self.shown.entry((who, key)).or_insert(reservation);
    }

    /// Records that `who` received it, and checks that [`Ledger::purchase`] would have allowed it.
    pub(crate) fn received(&mut self, row: &Row) -> Result<()> {
        let fault = || row.fault(Fault::Receipt);
        let sale = *self.sold(&row.key).ok_or_else(fault)?;
        let same = sale.is_of(&row.event) && sale.price == row.price;
        if !same || row.refers.is_some() || self.shown(&row.who, &row.key).is_some() {
            return Err(fault());
        }
        let who = self.number(&row.who);
        self.shown.insert((who, mark(&row.key)), sale.reservation);
        Ok(())
    }

    /// The number of analysts who were shown anything.
    pub(crate) fn analysts(&self) -> usize {
        self.analysts.len()
    }

    /// Removes the last receipt, which was not written in the end; there were this many `analysts` before it.
    pub(crate) fn forget(&mut self, row: &Row, analysts: usize) {
        let who = self.number(&row.who);
        self.shown.remove(&(who, mark(&row.key)));
        if self.analysts.len() > analysts {
            self.analysts.remove(&row.who);
        }
    }

    /// The first answer that any analyst bought for `key`.
    pub(crate) fn sold(&self, key: &str) -> Option<&Sale> {
        self.first.get(&mark(key))
    }

    /// The reservation that bought the answer for `key` that `who` has been shown.
    pub(crate) fn shown(&self, who: &str, key: &str) -> Option<u64> {
        let who = *self.analysts.get(who)?;
        self.shown.get(&(who, mark(key))).copied()
    }

    /// The reservation whose answer is free for `who`.
    fn free(&self, who: &str, key: &str, answers: Answers) -> Option<u64> {
        let shared = || match answers {
            Answers::Personal => None,
            Answers::Shared => self.sold(key).map(|sale| sale.reservation),
        };
        self.shown(who, key).or_else(shared)
    }

    fn number(&mut self, who: &str) -> u32 {
        if let Some(number) = self.analysts.get(who) {
            return *number;
        }
        let next = self.analysts.len() as u32;
        self.analysts.insert(who.to_owned(), next);
        next
    }
}

impl Ledger {
    /// The answer for the request's key if it was bought before, and a debit if it was not. Returns when its cost is
    /// on disk.
    ///
    /// # Guarantee
    /// As for [`Ledger::reserve`]. Whether an answer has been bought, and whether this analyst has been shown it, is
    /// decided in the transaction that debits: of any number of equal requests that come after a settlement, in any
    /// process, none debits the dataset. Those that come between a debit elsewhere and its settlement do, because it
    /// is unknown whether that will ever be settled.
    ///
    /// An analyst who is denied everything gets nothing, not even what they were shown before. While the budget is
    /// frozen, analysts get only what they were shown before.
    pub fn purchase(&self, request: &Request, answers: Answers) -> Result<Purchase> {
        let mut one = self.purchase_all(std::slice::from_ref(request), answers)?;
        one.pop().ok_or(Error::Interrupted)
    }

    /// The same for all the answers that one query needs: all of them, or none.
    ///
    /// # Guarantee
    /// If one of them is refused, nothing is debited and nothing is received. If the storage fails after they were written,
    /// debits are cancelled as far as that still works, and receipts stay.
    /// # Proof
    /// They are decided on one after the other, each with those before it counted, and
    /// written in one transaction when all of them are allowed. ∎
    pub fn purchase_all(&self, requests: &[Request], answers: Answers) -> Result<Vec<Purchase>> {
        self.purchase_each(requests, answers)
    }

    /// The same, and each debit and receipt says what the analyst asked.
    pub fn purchase_asked(
        &self,
        question: &Question,
        requests: &[Request],
        answers: Answers,
    ) -> Result<Vec<Purchase>> {
        let requests: Vec<Request> = requests
            .iter()
            .map(|request| Request { query: question.before(&request.query), ..request.clone() })
            .collect();
        self.purchase_each(&requests, answers)
    }

    fn purchase_each(&self, requests: &[Request], answers: Answers) -> Result<Vec<Purchase>> {
        if requests.is_empty() {
            return Ok(Vec::new());
        }
        let commands = requests.iter().map(|request| {
            Ok(Command::Purchase(request.clone(), Self::written(request)?, answers))
        });
        let rows = self.append_all(commands.collect::<Result<_>>()?)?;
        let (mut bought, mut failed) = (Vec::with_capacity(rows.len()), None);
        for (request, row) in requests.iter().zip(rows) {
            let price = match row {
                Some(row) if row.kind == Kind::Reserve => {
                    bought.push(Purchase::Reserved(Reservation::new(self.clone(), row)));
                    continue;
                }
                Some(row) => row.price,
                None => Price::ZERO,
            };
            // The decision stands: nothing is ever removed from the journal.
            let (who, key) = (&request.who, &request.key);
            match self.read(|replay, store| given(replay, store, who, key, answers)) {
                Ok(Some(answer)) => bought.push(Purchase::Given { answer, price }),
                Ok(None) => failed = Some(Error::Interrupted),
                Err(error) => failed = Some(error),
            }
        }
        let Some(failed) = failed else { return Ok(bought) };
        for one in bought {
            if let Purchase::Reserved(reservation) = one {
                // What cannot be cancelled stays spent.
                let _ = reservation.cancel();
            }
        }
        Err(failed)
    }

    /// The answer for `key` that is free for `who`, if there is one: an answer they bought or received before, or
    /// under [`Answers::Shared`] one that any analyst bought. `None` for those who are denied everything.
    pub fn recall(&self, who: &str, key: &str, answers: Answers) -> Result<Option<Vec<u8>>> {
        self.recall_first(who, &[key.to_owned()], answers, Some)
    }

    /// The same for the first of several keys whose answer `reads` accepts; all of them are looked up at once.
    pub fn recall_first<T>(
        &self,
        who: &str,
        keys: &[String],
        answers: Answers,
        reads: impl Fn(Vec<u8>) -> Option<T>,
    ) -> Result<Option<T>> {
        self.read(|replay, store| {
            if replay.begun()?.denying(who).is_some() {
                return Ok(None);
            }
            for key in keys {
                if let Some(read) = given(replay, store, who, key, answers)?.and_then(&reads) {
                    return Ok(Some(read));
                }
            }
            Ok(None)
        })
    }

    /// Whether `who`, or one of their groups, is denied everything.
    pub fn is_denied(&self, who: &str) -> Result<bool> {
        self.read(|replay, _| Ok(replay.begun()?.denying(who).is_some()))
    }
}

/// The answer for `key` that is free for `who`, from the journal.
fn given(
    replay: &Replay,
    store: &dyn Transaction,
    who: &str,
    key: &str,
    answers: Answers,
) -> Result<Option<Vec<u8>>> {
    let Some(reservation) = replay.sales().free(who, key, answers) else {
        return Ok(None);
    };
    let missing = || Error::Broken { seq: reservation, fault: Fault::Missing };
    let row = store.settlement_of(replay.dataset(), reservation)?.ok_or_else(missing)?;
    row.check()?;
    let fits = row.key == key && row.kind == Kind::Settle;
    if !fits || row.refers != Some(reservation) || row.dataset != replay.dataset() {
        return Err(row.fault(Fault::Unlinked));
    }
    Ok(row.answer)
}
