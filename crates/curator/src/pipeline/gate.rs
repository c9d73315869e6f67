//! What a server may put between a statement and its answer.
//!
//! How long the engine works depends on protected rows. A [`Gate`] stands at the two places that
//! matter for whoever watches the clock: before the debit, where a statement may still be turned
//! away, and after the work, before anything of it can be seen: the answer, an error, the ledger's entry,
//! the cache of bought answers. What lies behind [`Gate::leave`] (the entry in the ledger, the
//! rest of the query over released tables) depends on released values alone.
//!
//! # What this module does not do
//! It knows no clock: a command that a steward runs passes [`Open`], which waits for nothing.

use crate::aggregate::PrivateAggregate;
use crate::error::Result;
use crate::policy::{DEFAULT_ROWS, Policy};
use datafusion::common::tree_node::TreeNodeRecursion;
use datafusion::logical_expr::LogicalPlan;
use futures::FutureExt;
use futures::future::BoxFuture;

/// What is asked before a statement buys, and waited for before what it bought shows.
pub trait Gate: Send + Sync {
    /// Called before the debit, with what will be read.
    ///
    /// # Errors
    /// The statement is turned away; nothing is spent.
    fn admit(&self, reads: Reads) -> Result<()>;

    /// Called before rows are read for what was debited: once for most statements, again where one buys what
    /// another gave up. It may wait until there is room for the work.
    fn begin(&self) -> BoxFuture<'_, ()> {
        std::future::ready(()).boxed()
    }

    /// Called each time after the work of a statement that was admitted, whether it succeeded or
    /// failed; what comes of it stays unseen until this ends.
    fn leave(&self) -> BoxFuture<'_, ()>;
}

/// What a statement will read, from the query and the policy alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reads {
    /// Declared rows of protected tables, each table as often as it is scanned.
    pub rows: u64,
}

/// A gate that is open: nobody is turned away, nothing waits.
#[derive(Clone, Copy, Debug, Default)]
pub struct Open;

impl Gate for Open {
    fn admit(&self, _: Reads) -> Result<()> {
        Ok(())
    }

    fn leave(&self) -> BoxFuture<'_, ()> {
        std::future::ready(()).boxed()
    }
}

impl Reads {
    /// What these aggregates read together.
    pub(crate) fn of<'a>(
        aggregates: impl Iterator<Item = &'a PrivateAggregate>,
        policy: &Policy,
    ) -> Self {
        let mut rows = 0u64;
        for aggregate in aggregates {
            // A walk that only looks does not fail; if it did, the rows seen so far would count.
            let _ = aggregate.input.apply_with_subqueries(|node| {
                if let LogicalPlan::TableScan(scan) = node
                    && let Some(table) = policy.table(scan.table_name.table())
                    && let Some(protection) = table.protection()
                {
                    rows = rows.saturating_add(protection.rows.unwrap_or(DEFAULT_ROWS));
                }
                Ok(TreeNodeRecursion::Continue)
            });
        }
        Self { rows }
    }
}
