//! Why a query was refused, and what to write instead.
//!
//! A refusal is decided from the query, the policy and the budget alone, before any
//! protected row is read: it says nothing about the data. No field holds a value from
//! a protected table; names come from the query and the policy, which are public.

use std::fmt;

/// Why a query is refused, and what to write instead.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    rule: Rule,
    what: String,
    remedy: String,
}

/// The rule that refused. The list is what makes a DP SQL engine unsafe.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Rule {
    /// Only `SELECT`, `EXPLAIN PRIVACY`, `SET demure.…`, `SHOW demure.…`.
    Statement,
    /// The answer would hold protected rows.
    Rows,
    /// The aggregate has no private form here.
    Aggregate,
    /// A function that is not total, not deterministic, or not on the list.
    Function,
    /// A number that protects nobody until its bounds are known.
    Bounds,
    /// A join that one person could use to touch other people's rows.
    Join,
    /// A subquery over protected rows where it would compare people with each other.
    Subquery,
    /// A clause that looks at all rows at once: `LIMIT`, windows, …
    Clause,
    /// Group keys that are not public, where there is no δ to pay for them.
    Keys,
    /// A setting or a parameter outside its range.
    Setting,
    /// The price is more than what is left.
    Budget,
    /// The price is less than the least of a new query.
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
    /// A refusal by `rule`: what is wrong, and what to do.
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
