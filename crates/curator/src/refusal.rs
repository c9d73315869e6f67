//! Refusals: why a query may not be answered, and what to write instead.
//!
//! A refusal depends on the query, the policy and the budget alone, and is made before any protected row is read, so
//! it says nothing about the data. No field holds a value from a protected table; names come from the query and the
//! policy, which are public.

use std::fmt;

/// Why a query is refused, and what to write instead.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    rule: Rule,
    what: String,
    remedy: String,
}

/// The rule that refused a query. Each rule excludes something that would make a DP SQL engine unsafe.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Rule {
    /// Only `SELECT`, `EXPLAIN PRIVACY`, `SET demure.…` and `SHOW demure.…` are statements.
    Statement,
    /// The answer would contain protected rows.
    Rows,
    /// The aggregate has no private form.
    Aggregate,
    /// The function is not total, not deterministic, or not on the list.
    Function,
    /// The number has no bounds, so one person could change the result arbitrarily.
    Bounds,
    /// One person could use the join to affect other people's rows.
    Join,
    /// The subquery over protected rows would compare people with each other.
    Subquery,
    /// The clause looks at all rows at once: `LIMIT`, windows, …
    Clause,
    /// The group keys are not public, and there is no δ to pay for them.
    Keys,
    /// The setting or parameter is out of range.
    Setting,
    /// The price is more than what is left.
    Budget,
    /// The price is below the minimum for a new query.
    Least,
}

impl Rule {
    /// A short name for programs and tests.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Statement => "statement",
            Self::Rows => "rows",
            Self::Aggregate => "aggregate",
            Self::Function => "function",
            Self::Bounds => "bounds",
            Self::Join => "join",
            Self::Subquery => "subquery",
            Self::Clause => "clause",
            Self::Keys => "keys",
            Self::Setting => "setting",
            Self::Budget => "budget",
            Self::Least => "least",
        }
    }
}

impl Refusal {
    /// A refusal by `rule`: what is wrong, and what to do instead.
    pub(crate) fn new(rule: Rule, what: impl Into<String>, remedy: impl Into<String>) -> Self {
        Self { rule, what: what.into(), remedy: remedy.into() }
    }

    /// The rule that refused.
    #[must_use]
    pub fn rule(&self) -> Rule {
        self.rule
    }

    /// What is wrong.
    #[must_use]
    pub fn what(&self) -> &str {
        &self.what
    }

    /// What to write or do instead.
    #[must_use]
    pub fn remedy(&self) -> &str {
        &self.remedy
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}\nhint: {}", self.what, self.remedy)
    }
}

impl std::error::Error for Refusal {}
