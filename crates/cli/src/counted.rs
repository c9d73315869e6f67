//! `--policy`: releases of `demure mechanism` and `demure graph`, on a policy's budget.

use crate::Failure;
use crate::curator::user;
use demure_core::mechanism::Guarantee;
use demure_core::unit::Neighbours;
use demure_curator::Outside;
use demure_report::Report;
use serde_json::Value;
use std::path::PathBuf;

/// Whose budget pays.
#[derive(clap::Args)]
pub(crate) struct Account {
    /// Debit the budget of this policy before anything is read. One unit of the data must be one unit of the policy
    #[arg(long, value_name = "POLICY", conflicts_with = "explain")]
    policy: Option<PathBuf>,

    /// Who asks, as the ledger notes it; by default the user's name
    #[arg(long = "as", value_name = "NAME", requires = "policy")]
    who: Option<String>,
}

/// A release that is paid for, or that nobody counts.
pub(crate) struct Paid(Option<Outside>);

impl Account {
    /// Whether a policy was named.
    pub(crate) fn is_named(&self) -> bool {
        self.policy.is_some()
    }

    /// Debits what a release costs, `times` over. `what` is the command, for the journal.
    pub(crate) fn pay(
        &self,
        what: &str,
        price: (Guarantee, u32),
        neighbours: Neighbours,
    ) -> Result<Paid, Failure> {
        let Some(policy) = &self.policy else { return Ok(Paid(None)) };
        let who = self.who.clone().unwrap_or_else(user);
        Ok(Paid(Some(Outside::buy(policy, &who, &format!("demure {what}"), price, neighbours)?)))
    }
}

impl Paid {
    /// Whether a budget was debited.
    pub(crate) fn is_counted(&self) -> bool {
        self.0.is_some()
    }

    /// Adds to what is known of a release whether a budget was debited.
    pub(crate) fn noted(&self, report: Report) -> Report {
        report.hidden("debited", self.is_counted())
    }

    /// Stores the answer, and says what was debited. Only then may the answer be shown.
    pub(crate) fn settled(mut self, answer: &Value) -> Result<String, Failure> {
        let Some(outside) = self.0.take() else {
            return Ok("counted on no budget (--policy debits one)".to_owned());
        };
        let said = format!("debited {}, left {}", outside.price(), outside.left()?);
        outside.settle(&answer.to_string())?;
        Ok(said)
    }
}

impl Drop for Paid {
    fn drop(&mut self) {
        if let Some(outside) = &self.0 {
            eprintln!("note: {} stays debited: data may have been read", outside.price());
        }
    }
}
