//! A question to the curator, on neighbouring databases.
//!
//! | file | what |
//! |---|---|
//! | `mod.rs` | which databases are compared, and what is claimed |
//! | `made_up.rs` | the policy over made-up rows |
//! | `asked.rs` | the question, asked of a curator over each of two databases |
//!
//! Every answer is bought anew, from budgets in memory that are as large as need be; the ledger beside the policy is neither
//! read nor written. The claim that is tested is what one answer is charged.

mod asked;
mod made_up;

use super::effort::{Effort, Usual};
use super::examine::{Claim, Finding};
use super::neighbour::Table;
use super::sides::{Sides, folder};
use crate::Watch;
use crate::curator::runtime;
use crate::error::{Error, Result};
use asked::Asked;
use demure_core::account::zcdp;
use demure_core::unit::{Delta, Epsilon, Rho};
use demure_curator::Curator;
use demure_curator::policy::{Accounting, Policy, TablePolicy, UnitPolicy};
use demure_ledger::Price;
use made_up::MadeUp;
use std::path::Path;

/// The δ at which ρ becomes an ε by default.
const CONVERSION: f64 = 1e-3;

/// What is asked, and of which databases.
#[derive(Clone, Copy, Debug)]
pub struct Question<'a> {
    /// The policy's file.
    pub policy: &'a Path,
    /// The question.
    pub sql: &'a str,
    /// The ε to ask with; the policy's `per_query` without one.
    pub epsilon: Option<Epsilon>,
    /// The δ to ask with where group keys are not public; and, under zCDP, the δ at which ρ becomes an ε.
    pub delta: Option<Delta>,
    /// The table in which the databases differ; without it, the only protected one that the question mentions.
    pub table: Option<&'a str>,
    /// That table on both sides, in place of neighbours made here.
    pub given: Option<[&'a Path; 2]>,
    /// How many rows neighbours are made of.
    pub rows: usize,
    /// Whether neighbours are made of the protected rows instead of made-up ones. What is found then tells nearly
    /// exactly of them.
    pub on_protected_rows: bool,
    /// Pairs of neighbours to try, at most.
    pub pairs: usize,
}

impl Question<'_> {
    /// Audits what the curator answers; by default for about a minute.
    ///
    /// # Errors
    /// There are no neighbours, the question has no answer that was paid for, or its price depends on the data.
    pub fn audit(&self, effort: &Effort, watch: Watch<'_>) -> Result<Finding> {
        let policy = Policy::read(self.policy).map_err(demure_curator::Error::from)?;
        let table = self.differing(&policy)?;
        let folder = folder()?;
        let (base, pairs) = self.databases(&policy, table, folder.path())?;
        let settings = (self.epsilon, self.delta);
        let mut asked = Asked::new(&base, &table.name, self.sql, pairs, settings)?;
        let claim = self.claim(policy.budget.accounting, asked.price()?)?;
        effort.audit(&mut asked, claim, Usual::Minutes(1.0), watch)
    }

    /// The table in which the databases differ: the one named, or the only protected one, or the only one that the
    /// question mentions.
    fn differing<'p>(&self, policy: &'p Policy) -> Result<&'p TablePolicy> {
        let mut protected: Vec<&TablePolicy> =
            policy.tables.iter().filter(|table| table.protection().is_some()).collect();
        if let Some(name) = self.table {
            let found = protected.into_iter().find(|table| table.name == name);
            return found.ok_or(Error::NotProtected);
        }
        if protected.len() > 1 {
            let sql = self.sql.to_lowercase();
            let words = sql.split(|c: char| !(c.is_alphanumeric() || c == '_'));
            protected.retain(|table| words.clone().any(|word| word == table.name));
        }
        match protected[..] {
            [only] => Ok(only),
            _ => Err(Error::WhichTable),
        }
    }

    /// The policy over all tables but the one that differs, and the pairs of that one.
    fn databases(
        &self,
        policy: &Policy,
        table: &TablePolicy,
        folder: &Path,
    ) -> Result<(Policy, Vec<Sides>)> {
        let (rows, base) = if self.on_protected_rows {
            (None, policy.clone())
        } else {
            // The columns of every table, from a curator whose budget is of no account.
            let schemas = runtime()?.block_on(Curator::in_memory(policy.clone()))?.tables();
            let rows = MadeUp::new(policy, &schemas, self.rows);
            let but = self.given.map(|_| &table.name);
            let base = rows.policy(policy, &schemas, but, folder)?;
            (Some(rows), base)
        };
        if let Some(paths) = self.given {
            return Ok((base, vec![Sides::given(paths)?]));
        }
        let unit = match &table.protection().ok_or(Error::NotProtected)?.unit {
            UnitPolicy::Row => None,
            UnitPolicy::Column(column) => Some(column.as_str()),
            UnitPolicy::Via { .. } => return Err(Error::UnitElsewhere),
        };
        let all = match &rows {
            Some(rows) => rows.table(&table.name)?,
            None => Table::read(&policy.folder.join(&table.source), self.rows)?,
        };
        let mut pairs = Sides::made(&all, unit, policy.budget.neighbours, self.pairs, folder)?;
        if rows.is_some() {
            pairs.iter_mut().for_each(|pair| pair.what.insert_str(0, "made-up rows: "));
        }
        Ok((base, pairs))
    }

    /// What an answer of this price promises.
    fn claim(&self, accounting: Accounting, price: Price) -> Result<Claim> {
        Ok(match accounting {
            Accounting::Pure => Claim { epsilon: Some(price.main), delta: price.delta },
            Accounting::Zcdp => {
                // δ of the keys, and δ of the conversion.
                let at = self.delta.unwrap_or(Delta::positive(CONVERSION)?);
                let epsilon = zcdp::epsilon(Rho::new(price.main)?, at)?;
                Claim { epsilon: Some(epsilon), delta: at.get() + price.delta }
            }
        })
    }
}
