//! A store for tests that fails or ends the process on request, and counts its commits.

use crate::error::{Error, Result};
use crate::row::{Hash, Kind, Row};
use crate::store::sqlite::Sqlite;
use crate::store::{Intent, Span, Store, Transaction};
use std::collections::HashSet;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

/// When the store fails.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Moment {
    Append,
    BeforeCommit,
    /// The commit succeeds but returns an error.
    AfterCommit,
    /// From the next transaction on, nothing can be written.
    ReadOnly,
    /// The thread panics.
    Panic,
}

/// A test's handle of a [`Failing`] store.
#[derive(Clone, Default)]
pub(crate) struct Switch {
    next: Arc<Mutex<Option<(Moment, u64)>>>,
    commits: Arc<AtomicU64>,
    steps: Arc<AtomicU64>,
    last_step: Option<u64>,
}

impl Switch {
    /// Fails at the next such moment.
    pub(crate) fn fail(&self, moment: Moment) {
        self.fail_after(moment, 0);
    }

    /// Fails at the first such moment after `commits` more commits.
    pub(crate) fn fail_after(&self, moment: Moment, commits: u64) {
        *self.next.lock().unwrap() = Some((moment, self.commits() + commits));
    }

    pub(crate) fn commits(&self) -> u64 {
        self.commits.load(Ordering::SeqCst)
    }

    /// Ends the process, as a kill would, at the step with this number.
    pub(crate) fn ending_at(step: u64) -> Self {
        Self { last_step: Some(step), ..Self::default() }
    }

    /// Called between any two writes.
    fn step(&self) {
        if Some(self.steps.fetch_add(1, Ordering::SeqCst)) == self.last_step {
            std::process::abort();
        }
    }

    fn is_now(&self, moment: Moment) -> bool {
        let mut next = self.next.lock().unwrap();
        let now = next.is_some_and(|(next, after)| next == moment && self.commits() >= after);
        if now {
            *next = None;
        }
        now
    }
}

pub(crate) struct Failing {
    pub(crate) inner: Sqlite,
    pub(crate) switch: Switch,
}

struct FailingTransaction<'a> {
    inner: Box<dyn Transaction + 'a>,
    switch: Switch,
}

impl Store for Failing {
    fn begin(&mut self, intent: Intent) -> Result<Box<dyn Transaction + '_>> {
        let switch = self.switch.clone();
        if switch.is_now(Moment::ReadOnly) {
            self.inner.connection().execute_batch("PRAGMA query_only = ON").unwrap();
        }
        let inner = self.inner.begin(intent)?;
        switch.step();
        Ok(Box::new(FailingTransaction { inner, switch }))
    }

    fn another(&self) -> Result<Option<Box<dyn Store>>> {
        self.inner.another()
    }
}

impl Transaction for FailingTransaction<'_> {
    fn head(&self, dataset: &str) -> Result<Option<(u64, Hash)>> {
        self.inner.head(dataset)
    }

    fn scan(
        &self,
        dataset: &str,
        after: u64,
        visit: &mut dyn FnMut(Row) -> Result<bool>,
    ) -> Result<()> {
        self.inner.scan(dataset, after, visit)
    }

    fn page(&self, dataset: &str, span: &Span<'_>) -> Result<Vec<Row>> {
        self.inner.page(dataset, span)
    }

    fn cancelled(&self, dataset: &str, after: u64) -> Result<HashSet<u64>> {
        self.inner.cancelled(dataset, after)
    }

    fn settlement(&self, dataset: &str, key: &str) -> Result<Option<Row>> {
        self.inner.settlement(dataset, key)
    }

    fn journals(&self) -> Result<Vec<(String, Option<String>)>> {
        self.inner.journals()
    }

    fn introductions(&self) -> Result<Vec<Row>> {
        self.inner.introductions()
    }

    fn settlement_of(&self, dataset: &str, reservation: u64) -> Result<Option<Row>> {
        self.inner.settlement_of(dataset, reservation)
    }

    fn closing(&self, dataset: &str, reservation: u64) -> Result<Option<Kind>> {
        self.inner.closing(dataset, reservation)
    }

    fn check(&self) -> Result<()> {
        self.inner.check()
    }

    fn append(&mut self, row: &Row) -> Result<()> {
        self.inner.append(row)?;
        self.switch.step();
        assert!(!self.switch.is_now(Moment::Panic), "a panic of the leader");
        if self.switch.is_now(Moment::Append) { Err(Error::DiskFull) } else { Ok(()) }
    }

    fn commit(self: Box<Self>) -> Result<()> {
        if self.switch.is_now(Moment::BeforeCommit) {
            return Err(Error::Storage { code: 1 });
        }
        let after = self.switch.is_now(Moment::AfterCommit);
        self.inner.commit()?;
        self.switch.step();
        self.switch.commits.fetch_add(1, Ordering::SeqCst);
        if after { Err(Error::Storage { code: 1 }) } else { Ok(()) }
    }
}
