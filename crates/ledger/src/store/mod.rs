//! Where a journal lives.
//!
//! A store appends rows and reads them back; it knows nothing of budgets. What
//! it must promise is in [`Store`] and [`Transaction`]; `conformance.rs` tests
//! any store for it. There are two: [`sqlite`], a file, and [`postgres`], a server
//! that several machines share.

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
use crate::row::{Hash, Row};
use std::collections::HashSet;
use std::time::Duration;

/// How long to wait for another process.
pub(crate) const PATIENCE: Duration = Duration::from_secs(10);

/// What a transaction is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Intent {
    /// Reading one consistent state.
    Read,
    /// Reading the last state and adding to it: excludes every other writer,
    /// in any process, until it ends.
    Append,
}

/// Some rows of a journal, chosen by their numbers.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Span<'a> {
    /// Greater numbers than this.
    pub(crate) after: u64,
    /// Smaller numbers than this.
    pub(crate) before: u64,
    /// From the greatest number down.
    pub(crate) newest_first: bool,
    /// Rows of this analyst or steward alone.
    pub(crate) who: Option<&'a str>,
    /// At most so many.
    pub(crate) most: usize,
}

/// A durable place for journals, one for each dataset.
pub(crate) trait Store: Send {
    /// Begins a transaction. Waits for other writers, but not for ever.
    fn begin(&mut self, intent: Intent) -> Result<Box<dyn Transaction + '_>>;

    /// Another connection to the same place, whose reading does not wait for writers;
    /// none if there can be but one.
    fn another(&self) -> Result<Option<Box<dyn Store>>>;

    /// Brings what is in a log of the store's own into its main place, if there is such a thing.
    fn checkpoint(&mut self) -> Result<()> {
        Ok(())
    }
}

/// One consistent state of a store. Dropped, it changes nothing.
pub(crate) trait Transaction {
    /// The number and the hash of the last row, as noted apart from the rows.
    fn head(&self, dataset: &str) -> Result<Option<(u64, Hash)>>;

    /// Shows the rows after `after` in order, until `visit` returns false.
    fn scan(
        &self,
        dataset: &str,
        after: u64,
        visit: &mut dyn FnMut(Row) -> Result<bool>,
    ) -> Result<()>;

    /// The rows of a span, at most as many as it says.
    fn page(&self, dataset: &str, span: &Span<'_>) -> Result<Vec<Row>>;

    /// Which reservations are cancelled by rows after `after`.
    fn cancelled(&self, dataset: &str, after: u64) -> Result<HashSet<u64>>;

    /// The first settlement of a key.
    fn settlement(&self, dataset: &str, key: &str) -> Result<Option<Row>>;

    /// Every dataset that has a journal, and the id in it.
    fn journals(&self) -> Result<Vec<(String, Option<String>)>>;

    /// The rows in which journals say whose they are: identities, units, what replaced them.
    fn introductions(&self) -> Result<Vec<Row>>;

    /// The settlement of a reservation.
    fn settlement_of(&self, dataset: &str, reservation: u64) -> Result<Option<Row>>;

    /// Checks what lies below the rows: pages, indexes.
    fn check(&self) -> Result<()>;

    /// Adds a row and moves the head to it.
    fn append(&mut self, row: &Row) -> Result<()>;

    /// Returns when all that was appended will survive a loss of power; or
    /// fails, and then none of it counts.
    fn commit(self: Box<Self>) -> Result<()>;
}
