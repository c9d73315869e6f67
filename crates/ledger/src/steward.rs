//! What a steward does: slices, groups, windows, freezes.
//!
//! Every call is an entry of the journal with the steward's name, on disk when it
//! returns, and binds all ledgers of the dataset from then on. What would change
//! nothing is not written. Debits that are made already stay: a rule may find more
//! spent than it allows, and then it allows nothing.

use crate::decide::Act;
use crate::error::Result;
use crate::ledger::Ledger;
use crate::rule::{Decree, Subject, Terms, printable};
use demure_core::unit::{Delta, Epsilon};

impl Ledger {
    /// Gives `subject`, an analyst or a group (`@group`), a slice: the most that it
    /// may spend of the dataset's budget, or be shown of what others bought, ever. It replaces
    /// the one before, and counts what was spent before.
    ///
    /// # Guarantee
    /// What the subject's debits and receipts show is together (ε, δ)-DP, if it was before.
    /// An analyst's are all of its own; a group's those of its members that they made while
    /// they were members.
    pub fn grant(&self, by: &str, subject: &str, epsilon: Epsilon, delta: Delta) -> Result<()> {
        let terms = Terms::AtMost(epsilon, delta);
        self.decree(by, Decree::Slice(Subject::parse(subject)?, terms))
    }

    /// Gives `subject` a slice of nothing: it gets no answer any more by [`Ledger::purchase`],
    /// not even one that it was shown before.
    pub fn deny(&self, by: &str, subject: &str) -> Result<()> {
        self.decree(by, Decree::Slice(Subject::parse(subject)?, Terms::Nothing))
    }

    /// Takes the rule for `subject` away: it then has *no* slice, and only the other
    /// rules bind it. To stop it, use [`Ledger::deny`].
    pub fn revoke(&self, by: &str, subject: &str) -> Result<()> {
        self.decree(by, Decree::Slice(Subject::parse(subject)?, Terms::None))
    }

    /// From now on debits of `analyst` also count in the slice of `group` (`@group`).
    pub fn join(&self, by: &str, analyst: &str, group: &str) -> Result<()> {
        self.member(by, analyst, group, true)
    }

    /// From now on they do not. What was counted stays counted.
    pub fn leave(&self, by: &str, analyst: &str, group: &str) -> Result<()> {
        self.member(by, analyst, group, false)
    }

    fn member(&self, by: &str, analyst: &str, group: &str, joins: bool) -> Result<()> {
        let analyst = Subject::analyst("analyst", analyst)?;
        self.decree(by, Decree::Member(analyst, Subject::group(group)?, joins))
    }

    /// Opens a window: from now on, until the next one, everyone together may
    /// spend at most this, within the dataset's limit. It counts from zero.
    pub fn open_window(&self, by: &str, epsilon: Epsilon, delta: Delta) -> Result<()> {
        self.decree(by, Decree::Window(Terms::AtMost(epsilon, delta)))
    }

    /// Closes the window: nothing may be spent until one is opened.
    pub fn close_window(&self, by: &str) -> Result<()> {
        self.decree(by, Decree::Window(Terms::Nothing))
    }

    /// Does without windows: the dataset's limit rules alone again.
    pub fn remove_window(&self, by: &str) -> Result<()> {
        self.decree(by, Decree::Window(Terms::None))
    }

    /// Nothing can be reserved from now on. What is reserved can still be settled or
    /// cancelled, and what an analyst was shown before she can be shown again.
    pub fn freeze(&self, by: &str, why: &str) -> Result<()> {
        self.decree(by, Decree::Freeze(printable("reason", why)?))
    }

    /// Ends a freeze.
    pub fn thaw(&self, by: &str, why: &str) -> Result<()> {
        self.decree(by, Decree::Thaw(printable("reason", why)?))
    }

    fn decree(&self, by: &str, decree: Decree) -> Result<()> {
        let by = Subject::analyst("steward", by)?;
        self.append(Act::Decree(by, decree)).map(|_| ())
    }
}
