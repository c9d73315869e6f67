//! The stages after the debit: rows are read, noise is added, and the ledger stores the answer.

use super::Part;
use crate::aggregate::{Released, release};
use crate::bound::{Exact, Key, Task};
use crate::curator::Curator;
use crate::error::{Error, Result};
use datafusion::logical_expr::LogicalPlan;
use demure_ledger::{Price, Reading, Reservation};
use futures::FutureExt;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;

/// An aggregate whose debit is on disk, with the plan that may now read its rows.
pub(crate) struct Reserved {
    part: Arc<Part>,
    task: Task,
    reservation: Reservation,
}

/// Exact aggregates, for a debit that can no longer be reversed. Protected.
pub(crate) struct Measured {
    part: Arc<Part>,
    exact: Exact,
    reading: Reading,
}

/// A noised table that is not visible yet.
pub(crate) struct Noised {
    released: Released,
    stored: Vec<u8>,
    reading: Reading,
}

impl Part {
    /// Plans the engine's part, with a fresh key. No row is read yet. Where it uses a number that is not known yet, the plan is
    /// of another one, and made again before rows are read.
    pub(super) async fn task(&self, curator: &Curator) -> Result<Task> {
        self.task_over(curator, self.tried_input()?).await
    }

    async fn task_over(&self, curator: &Curator, input: LogicalPlan) -> Result<Task> {
        let key = Key::draw(&mut **curator.rng())?;
        let spec = self.quote.spec(&self.aggregate);
        curator.engine.prepare(input, &spec, key).await
    }
}

impl Reserved {
    pub(super) fn new(part: Arc<Part>, task: Task, reservation: Reservation) -> Self {
        Self { part, task, reservation }
    }

    /// The price.
    pub(super) fn price(&self) -> Price {
        self.reservation.price()
    }

    /// Reads the rows.
    pub(super) async fn measured(self, curator: &Curator) -> Result<Measured> {
        // From here on protected rows may have been read.
        let reading = self.reservation.begin()?;
        let task = match self.part.numbers.is_empty() {
            true => self.task,
            false => {
                let paid = |error| match error {
                    after @ Error::After(_) => after,
                    other => Error::Paid(Box::new(other)),
                };
                let input = self.part.known_input(curator).await.map_err(paid)?;
                self.part.task_over(curator, input).await.map_err(paid)?
            }
        };
        // Panic messages may contain protected data, just like errors.
        let exact = match AssertUnwindSafe(task.run(&reading)).catch_unwind().await {
            Ok(Ok(exact)) => exact,
            Ok(Err(error)) => return Err(curator.incidents.record(&error.to_string())),
            Err(_) => return Err(curator.incidents.record("the engine panicked")),
        };
        // What was read is what was checked; if not, what it cost stays spent.
        curator.catalog.verify_unchanged().map_err(|error| Error::Paid(Box::new(error)))?;
        Ok(Measured { part: self.part, exact, reading })
    }
}

impl Measured {
    /// Adds the noise.
    pub(super) fn noised(self, curator: &Curator) -> Result<Noised> {
        let Part { aggregate, quote, .. } = &*self.part;
        let released = release(aggregate, quote, &self.exact, &mut **curator.rng())?;
        let stored = released
            .stored()
            .ok_or_else(|| Error::After("the released table could not be stored".to_owned()))?;
        // For later parts of the same statement, which leave together with this one.
        self.part.table.fill(&released).map_err(|e| Error::After(e.strip_backtrace()))?;
        Ok(Noised { released, stored, reading: self.reading })
    }
}

impl Noised {
    /// Stores the bought answer in the ledger, so that it can be shown now and again later.
    pub(super) async fn settled(self, curator: &Curator) -> Result<Released> {
        let Self { released, stored, reading } = self;
        // The debit stands, so the ledger's error, which says that nothing was granted, would be wrong.
        let settled = curator.at_the_ledger(move |_| reading.settle(&stored)).await?;
        settled.map_err(|error| curator.incidents.record(&error.to_string()))?;
        Ok(released)
    }
}
