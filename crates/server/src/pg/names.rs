//! The names that one connection gave to statements and portals: few, and short.

use super::fault::error;
use pgwire::error::PgWireResult;
use std::collections::{BTreeSet, VecDeque};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The longest name of a statement or portal.
const LONGEST: usize = 256;
/// The most prepared statements with a name, and the most portals, of one connection.
pub(super) const MOST: usize = 1000;

/// What has a name. Statements and portals without one replace each other.
#[derive(Default)]
pub(super) struct Names {
    statements: Mutex<BTreeSet<String>>,
    portals: Mutex<VecDeque<String>>,
}

impl Names {
    /// Room for a statement, or an error: clients count on those that they prepared.
    pub(super) fn statement(&self, name: Option<&str>) -> PgWireResult<()> {
        let Some(name) = named(name)? else { return Ok(()) };
        let mut statements = lock(&self.statements);
        if statements.len() >= MOST && !statements.contains(name) {
            let text = format!("{MOST} statements are prepared already; DEALLOCATE or close some");
            return Err(error("54000", text));
        }
        statements.insert(name.to_owned());
        Ok(())
    }

    /// Room for a portal: the oldest, whose name is returned, is forgotten for it. Portals last
    /// for a transaction, and there are none here; clients that read in pages use a name a query.
    pub(super) fn portal(&self, name: Option<&str>) -> PgWireResult<Option<String>> {
        let Some(name) = named(name)? else { return Ok(None) };
        let mut portals = lock(&self.portals);
        portals.retain(|known| known != name);
        portals.push_back(name.to_owned());
        Ok(if portals.len() > MOST { portals.pop_front() } else { None })
    }

    /// A statement is no more.
    pub(super) fn closed_statement(&self, name: Option<&str>) {
        if let Some(name) = name {
            lock(&self.statements).remove(name);
        }
    }

    /// No statement is any more; which there were.
    pub(super) fn closed_all(&self) -> BTreeSet<String> {
        std::mem::take(&mut *lock(&self.statements))
    }
}

/// The name, if there is one.
fn named(name: Option<&str>) -> PgWireResult<Option<&str>> {
    match name.filter(|name| !name.is_empty()) {
        Some(name) if name.len() > LONGEST => Err(error("54000", "a shorter name is needed")),
        name => Ok(name),
    }
}

/// A thread that panicked left a name too many or too few.
fn lock<T>(names: &Mutex<T>) -> MutexGuard<'_, T> {
    names.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests;
