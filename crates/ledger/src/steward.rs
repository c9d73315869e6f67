//! A steward's commands: limits, groups, periods, freezes.
//!
//! Every call is an entry of the journal with the steward's name. It is on disk when the call returns, and binds all
//! ledgers of the dataset from then on. A call that would change nothing is not written. Earlier debits stay: if more
//! is already spent than a new rule allows, it allows nothing further.

use crate::decide::Command;
use crate::error::Result;
use crate::ledger::Ledger;
use crate::rule::{RuleChange, Subject, Terms, printable};
use demure_core::unit::{Delta, Epsilon};

impl Ledger {
    /// Gives `subject`, an analyst or a group (`@group`), a limit: the most that it may ever spend of the dataset's
    /// budget, or be shown of what others bought. It replaces the previous limit, and counts what was spent before.
    ///
    /// # Guarantee
    /// What the subject's debits and receipts reveal is together (ε, δ)-DP, if it was before. For an analyst, all of
    /// their own count; for a group, those that its members made while they were members.
    pub fn grant(&self, by: &str, subject: &str, epsilon: Epsilon, delta: Delta) -> Result<()> {
        let terms = Terms::AtMost(epsilon, delta);
        self.change_rule(by, RuleChange::Limit(Subject::parse(subject)?, terms))
    }

    /// Gives `subject` a limit of nothing: it gets no answer any more by [`Ledger::purchase`], not even one that it
    /// was shown before.
    pub fn deny(&self, by: &str, subject: &str) -> Result<()> {
        self.change_rule(by, RuleChange::Limit(Subject::parse(subject)?, Terms::Nothing))
    }

    /// Removes the limit of `subject`: it then has *no* limit of its own, and only the other rules bind it. To stop
    /// it, use [`Ledger::deny`].
    pub fn revoke(&self, by: &str, subject: &str) -> Result<()> {
        self.change_rule(by, RuleChange::Limit(Subject::parse(subject)?, Terms::None))
    }

    /// From now on, debits of `analyst` also count against the limit of `group` (`@group`).
    pub fn join(&self, by: &str, analyst: &str, group: &str) -> Result<()> {
        self.member(by, analyst, group, true)
    }

    /// From now on, they do not. Earlier debits stay counted.
    pub fn leave(&self, by: &str, analyst: &str, group: &str) -> Result<()> {
        self.member(by, analyst, group, false)
    }

    fn member(&self, by: &str, analyst: &str, group: &str, joins: bool) -> Result<()> {
        let analyst = Subject::analyst("analyst", analyst)?;
        self.change_rule(by, RuleChange::Member(analyst, Subject::group(group)?, joins))
    }

    /// Opens a period: from now on, until the next one, everyone together may spend at most this, within the dataset's
    /// limit. It counts from zero.
    pub fn open_period(&self, by: &str, epsilon: Epsilon, delta: Delta) -> Result<()> {
        self.change_rule(by, RuleChange::Period(Terms::AtMost(epsilon, delta)))
    }

    /// Closes the period: nothing may be spent until another is opened.
    pub fn close_period(&self, by: &str) -> Result<()> {
        self.change_rule(by, RuleChange::Period(Terms::Nothing))
    }

    /// Removes periods: only the dataset's limit applies again.
    pub fn remove_period(&self, by: &str) -> Result<()> {
        self.change_rule(by, RuleChange::Period(Terms::None))
    }

    /// Freezes the budget: nothing can be reserved from now on. Open reservations can still be settled or cancelled,
    /// and analysts can again be shown what they were shown before.
    pub fn freeze(&self, by: &str, why: &str) -> Result<()> {
        self.change_rule(by, RuleChange::Freeze(printable("reason", why)?))
    }

    /// Unfreezes the budget.
    pub fn unfreeze(&self, by: &str, why: &str) -> Result<()> {
        self.change_rule(by, RuleChange::Unfreeze(printable("reason", why)?))
    }

    fn change_rule(&self, by: &str, change: RuleChange) -> Result<()> {
        let by = Subject::analyst("steward", by)?;
        self.append(Command::ChangeRule(by, change)).map(|_| ())
    }
}
