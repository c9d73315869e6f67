//! Stores, which hold journals.
//!
//! A store appends rows and reads them back; it knows nothing of budgets. [`Store`] and [`Transaction`] say what it
//! must guarantee, and `conformance.rs` tests any store for it. There are two: [`sqlite`], a file, and [`postgres`], a
//! server that several machines share.

#[cfg(test)]
mod conformance;
mod lookup;
pub(crate) mod postgres;
mod schema;
#[cfg(test)]
#[path = "../../tests/ledger/server.rs"]
pub(crate) mod server;
pub(crate) mod sqlite;
mod worker;

use crate::error::Result;
use crate::row::{Hash, Kind, Row};
use std::collections::HashSet;
use std::time::Duration;

/// How long to wait for another process.
pub(crate) const PATIENCE: Duration = Duration::from_secs(10);

/// The purpose of a transaction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Intent {
    /// Read one consistent state.
    Read,
    /// Read the last state and append to it: excludes every other writer, in any process, until it ends.
    Append,
}

/// Some rows of a journal, chosen by their numbers.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Span<'a> {
    /// Only numbers greater than this.
    pub(crate) after: u64,
    /// Only numbers less than this.
    pub(crate) before: u64,
    /// Whether to go from the greatest number down.
    pub(crate) newest_first: bool,
    /// Only rows of this analyst or steward.
    pub(crate) who: Option<&'a str>,
    /// At most this many rows.
    pub(crate) most: usize,
}

/// A durable place for journals, one for each dataset.
pub(crate) trait Store: Send {
    /// Begins a transaction. Waits for other writers, but not for ever.
    fn begin(&mut self, intent: Intent) -> Result<Box<dyn Transaction + '_>>;

    /// Another connection to the same place, whose reads do not wait for writers; `None` if there can be only one.
    fn another(&self) -> Result<Option<Box<dyn Store>>>;

    /// Moves the contents of the store's log, if it has one, into its main file.
    fn checkpoint(&mut self) -> Result<()> {
        Ok(())
    }
}

/// One consistent state of a store. Dropping it changes nothing.
pub(crate) trait Transaction {
    /// The number and the hash of the last row, as stored separately from the rows.
    fn head(&self, dataset: &str) -> Result<Option<(u64, Hash)>>;

    /// Passes the rows after `after` to `visit` in order, until it returns false.
    fn scan(
        &self,
        dataset: &str,
        after: u64,
        visit: &mut dyn FnMut(Row) -> Result<bool>,
    ) -> Result<()>;

    /// The rows of a span, up to its maximum.
    fn page(&self, dataset: &str, span: &Span<'_>) -> Result<Vec<Row>>;

    /// The reservations that rows after `after` cancel.
    fn cancelled(&self, dataset: &str, after: u64) -> Result<HashSet<u64>>;

    /// The first settlement of a key.
    fn settlement(&self, dataset: &str, key: &str) -> Result<Option<Row>>;

    /// Every dataset that has a journal, and the id in it.
    fn journals(&self) -> Result<Vec<(String, Option<String>)>>;

    /// The rows in which journals describe themselves: identities, units, replacements.
    fn introductions(&self) -> Result<Vec<Row>>;

    /// The settlement of a reservation.
    fn settlement_of(&self, dataset: &str, reservation: u64) -> Result<Option<Row>>;

    /// The kind of the row that closes a reservation, if there is one.
    fn closing(&self, dataset: &str, reservation: u64) -> Result<Option<Kind>>;

    /// Checks the layers below the rows: pages, indexes.
    fn check(&self) -> Result<()>;

    /// Adds a row and moves the head to it.
    fn append(&mut self, row: &Row) -> Result<()>;

    /// Returns when all that was appended will survive a power failure; if it fails, none of it counts.
    fn commit(self: Box<Self>) -> Result<()>;
}
