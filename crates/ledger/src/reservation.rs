//! The steps after a debit, as types that are consumed, so that each step is taken once.
//!
//! ```text
//! reserve ──► Reservation ──► begin ──► Reading ──► settle
//!                  │                       │
//!                cancel                 dropped: spent
//!             (taken back)
//! ```
//!
//! # Guarantee
//! A [`Reservation`] or a [`Reading`] that is dropped (an error, a panic, a killed
//! process) stays spent. Only a reservation that has not begun can be
//! cancelled, and `begin` consumes it.

use crate::decide::{Closing, Command};
use crate::error::Result;
use crate::ledger::Ledger;
use crate::price::Price;
use crate::row::Row;

/// A debit that is on disk. Nothing has been read for it yet.
#[derive(Debug)]
#[must_use = "the debit is made: `begin` to use it, `cancel` to take it back"]
pub struct Reservation {
    debit: Debit,
}

/// A debit for which data may have been read.
#[derive(Debug)]
#[must_use = "the debit is spent: `settle` stores the answer that it bought"]
pub struct Reading {
    debit: Debit,
}

#[derive(Debug)]
struct Debit {
    ledger: Ledger,
    seq: u64,
    who: String,
    key: String,
    price: Price,
}

impl Reservation {
    pub(crate) fn new(ledger: Ledger, row: Row) -> Self {
        let Row { seq, who, key, price, .. } = row;
        Self { debit: Debit { ledger, seq, who, key, price } }
    }

    /// The price charged.
    #[must_use]
    pub fn price(&self) -> Price {
        self.debit.price
    }

    /// The number of its entry in the journal.
    #[must_use]
    pub fn seq(&self) -> u64 {
        self.debit.seq
    }

    /// Refunds the debit by a separate entry: nothing was read.
    ///
    /// After an error it stays spent.
    pub fn cancel(self) -> Result<()> {
        let charged = self.debit.price;
        self.debit.close(charged, None)
    }

    /// Starts reading: from here on data may be read, and the debit cannot be refunded.
    ///
    /// Nothing is written: the journal already contains what must remain after a crash from here on.
    pub fn begin(self) -> Result<Reading> {
        Ok(Reading { debit: self.debit })
    }
}

impl Reading {
    /// The price charged.
    #[must_use]
    pub fn price(&self) -> Price {
        self.debit.price
    }

    /// Stores the answer for repeats, and returns when it is on disk.
    ///
    /// Only then may it be shown: an answer that was seen and then lost would be drawn, and paid for, a second time.
    /// After an error it must not be shown.
    pub fn settle(self, answer: &[u8]) -> Result<()> {
        self.debit.close(Price::ZERO, Some(answer.to_vec()))
    }
}

impl Debit {
    fn close(self, refund: Price, answer: Option<Vec<u8>>) -> Result<()> {
        let Self { ledger, seq, who, key, .. } = self;
        ledger.append(Command::Close(Closing { seq, who, key, refund, answer })).map(|_| ())
    }
}
