//! The hook through which a server delays or rejects statements.
//!
//! How long the engine works depends on protected rows. A [`Gate`] stands at the two points that matter to someone who
//! measures time: before the debit, where a statement may still be rejected, and after the work, before any result of
//! it is visible: the answer, an error, the ledger's entry, the cache of bought answers. Everything after
//! [`Gate::leave`] (the entry in the ledger, the rest of the query over released tables) depends on released values
//! alone.
//!
//! # What this module does not do
//! It has no clock. A command that a steward runs uses [`Open`], which never waits.

use crate::aggregate::PrivateAggregate;
use crate::error::Result;
use crate::policy::{DEFAULT_ROWS, Policy};
use datafusion::common::tree_node::TreeNodeRecursion;
use datafusion::logical_expr::LogicalPlan;
use futures::FutureExt;
use futures::future::BoxFuture;

/// Called before a statement buys anything, and awaited before its result is visible.
pub trait Gate: Send + Sync {
    /// Called before the debit, with what will be read.
    ///
    /// # Errors
    /// The statement is rejected; nothing is spent.
    fn admit(&self, reads: Reads) -> Result<()>;

    /// Called before rows are read for a debit: once for most statements, and again if one buys an answer whose
    /// purchase another abandoned. It may wait until there is capacity for the work.
    fn begin(&self) -> BoxFuture<'_, ()> {
        std::future::ready(()).boxed()
    }

    /// Called each time after the work of an admitted statement, whether it succeeded or failed. Its result stays
    /// invisible until this ends.
    fn leave(&self) -> BoxFuture<'_, ()>;
}

/// What a statement will read, according to the query and the policy alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reads {
    /// The declared rows of protected tables, counted once per scan.
    pub rows: u64,
}

/// A gate that rejects nothing and never waits.
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
            // A read-only walk does not fail; if it did, the rows seen so far would count.
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
