//! The rules that a steward writes into the journal: limits, groups, periods, freezes. Each is an entry with the
//! steward's name, and applies from there on.
//!
//! | kind | key | event | query |
//! |---|---|---|---|
//! | `grant` | `ana` or `@oncology` | `slice(eps=1, delta=0.000001)`, `slice(none)` | |
//! | `member` | `ana` | `join(@oncology)`, `leave(@oncology)` | |
//! | `window` | | `window(eps=1, delta=0)`, `window(eps=0, delta=0)`, `window(none)` | |
//! | `freeze`, `thaw` | | | why |

use crate::error::{Error, Result};
use crate::limit::Limit;
use crate::price::Price;
use crate::row::{Kind, Row};
use demure_core::unit::{Delta, Epsilon};
use std::fmt;

/// A rule that a debit must be within.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Rule {
    /// The limit of the dataset, over everyone.
    Dataset,
    /// The period that a steward opened, over everyone.
    Period,
    /// The limit of an analyst, or of a group (`@group`).
    Subject(String),
}

impl Rule {
    /// What can be done about it.
    pub(crate) fn remedy(&self) -> &'static str {
        match self {
            Self::Dataset => "have the policy's limit raised",
            Self::Period => "wait until a steward opens the next period",
            Self::Subject(_) => "ask a steward for a larger limit",
        }
    }
}

impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Dataset => f.write_str("the budget"),
            Self::Period => f.write_str("the period"),
            Self::Subject(subject) => write!(f, "the limit of {subject}"),
        }
    }
}

/// An analyst or a group.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum Subject {
    Analyst(String),
    /// Without its `@`.
    Group(String),
}

impl Subject {
    /// Parses `ana` or `@oncology`.
    pub(crate) fn parse(text: &str) -> Result<Self> {
        match text.strip_prefix('@') {
            Some(group) => named("group", group).map(Self::Group),
            None => named("analyst", text).map(Self::Analyst),
        }
    }

    /// Parses an analyst's name, which has no leading `@`.
    pub(crate) fn analyst(what: &'static str, text: &str) -> Result<String> {
        if text.starts_with('@') {
            return Err(Error::BadName { what, fault: "begins with `@`, as only groups do" });
        }
        named(what, text)
    }

    /// Parses a group's name, which has a leading `@`.
    pub(crate) fn group(text: &str) -> Result<String> {
        match Self::parse(text)? {
            Self::Group(group) => Ok(group),
            Self::Analyst(_) => {
                Err(Error::BadName { what: "group", fault: "does not begin with `@`" })
            }
        }
    }
}

impl fmt::Display for Subject {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Analyst(name) => f.write_str(name),
            Self::Group(name) => write!(f, "@{name}"),
        }
    }
}

fn named(what: &'static str, name: &str) -> Result<String> {
    if name.is_empty() {
        return Err(Error::BadName { what, fault: "is empty" });
    }
    printable(what, name)
}

/// Requires text on one line, without control characters.
pub(crate) fn printable(what: &'static str, text: &str) -> Result<String> {
    if text.chars().any(char::is_control) {
        return Err(Error::BadName { what, fault: "has a control character" });
    }
    Ok(text.to_owned())
}

/// How much a limit or a period allows in total.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Terms {
    /// There is no such rule.
    None,
    /// Nothing at all.
    Nothing,
    /// What (ε, δ)-DP allows in the dataset's unit of accounting.
    AtMost(Epsilon, Delta),
}

impl Terms {
    /// What may be spent under `limit`'s accounting; `None` without a rule.
    pub(crate) fn most(self, limit: &Limit) -> Result<Option<Price>> {
        match self {
            Self::None => Ok(None),
            Self::Nothing => Ok(Some(Price::ZERO)),
            Self::AtMost(epsilon, delta) => {
                Limit { epsilon, delta, ..limit.clone() }.most().map(Some)
            }
        }
    }

    /// ε and δ; 0 and 0 if nothing is allowed.
    pub(crate) fn numbers(self) -> (f64, f64) {
        match self {
            Self::None | Self::Nothing => (0.0, 0.0),
            Self::AtMost(epsilon, delta) => (epsilon.get(), delta.get()),
        }
    }

    fn parse(text: &str) -> Option<Self> {
        match text {
            "none" => return Some(Self::None),
            "eps=0, delta=0" => return Some(Self::Nothing),
            _ => {}
        }
        let (epsilon, delta) = text.strip_prefix("eps=")?.split_once(", delta=")?;
        let epsilon = Epsilon::new(epsilon.parse().ok()?).ok()?;
        Some(Self::AtMost(epsilon, Delta::new(delta.parse().ok()?).ok()?))
    }
}

impl fmt::Display for Terms {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::None => f.write_str("none"),
            Self::Nothing => f.write_str("eps=0, delta=0"),
            Self::AtMost(epsilon, delta) => write!(f, "eps={epsilon}, delta={delta}"),
        }
    }
}

/// A change of a rule, by a steward.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum RuleChange {
    Limit(Subject, Terms),
    /// The analyst, the group, and whether the analyst is in it from now on.
    Member(String, String, bool),
    Period(Terms),
    Freeze(String),
    Unfreeze(String),
}

impl RuleChange {
    pub(crate) fn kind(&self) -> Kind {
        match self {
            Self::Limit(..) => Kind::Grant,
            Self::Member(..) => Kind::Member,
            Self::Period(_) => Kind::Period,
            Self::Freeze(_) => Kind::Freeze,
            Self::Unfreeze(_) => Kind::Unfreeze,
        }
    }

    /// The rule as a row's key, event and query.
    pub(crate) fn texts(self) -> (String, String, String) {
        let empty = String::new;
        match self {
            Self::Limit(subject, terms) => {
                (subject.to_string(), format!("slice({terms})"), empty())
            }
            Self::Member(analyst, group, joins) => {
                let verb = if joins { "join" } else { "leave" };
                (analyst, format!("{verb}(@{group})"), empty())
            }
            Self::Period(terms) => (empty(), format!("window({terms})"), empty()),
            Self::Freeze(why) | Self::Unfreeze(why) => (empty(), empty(), why),
        }
    }

    /// Parses the output of [`RuleChange::texts`]; `None` if the row is of another kind, or cannot be parsed.
    pub(crate) fn read(row: &Row) -> Option<Self> {
        let inner = |verb: &str| row.event.strip_prefix(verb)?.strip_prefix('(')?.strip_suffix(')');
        match row.kind {
            Kind::Grant => {
                Some(Self::Limit(Subject::parse(&row.key).ok()?, Terms::parse(inner("slice")?)?))
            }
            Kind::Member => {
                let (group, joins) = match inner("join") {
                    Some(group) => (group, true),
                    None => (inner("leave")?, false),
                };
                let analyst = Subject::analyst("analyst", &row.key).ok()?;
                Some(Self::Member(analyst, Subject::group(group).ok()?, joins))
            }
            Kind::Period => Terms::parse(inner("window")?).map(Self::Period),
            Kind::Freeze => Some(Self::Freeze(row.query.clone())),
            Kind::Unfreeze => Some(Self::Unfreeze(row.query.clone())),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests;
