//! Protected rows on their way to an aggregate: their owners, and the facts about their columns.
//!
//! | file | what |
//! |---|---|
//! | `admit.rs` | which expressions may touch protected rows, and the allow-list of functions |
//! | `total.rs` | makes a function total: NULL where it would fail |
//! | `checked.rs` | arithmetic on whole numbers and decimals, row by row |
//! | `search.rs` | regular expressions, compiled once |
//! | `risky.rs` | refuses conversions that the optimizer added and that could fail |
//! | `coding.rs` | rows as codes of public domains, for synthetic tables |
//! | `cost.rs` | the work of an expression on one row |
//! | `expression.rs`, `interval.rs`, `domain.rs` | what is known of a value: its range, its grid, the values it can have |
//! | `times.rs`, `pieces.rs` | dates and times with bounds: their ranges, and the values of what is computed from them |
//! | `operator.rs` | operators of our own over one input |
//! | `in_order.rs` | aggregates of one person's numbers, computed in the order of the numbers |
//! | `meaning.rs` | PostgreSQL's meaning where the engine has another: dates, intervals, decimals, texts, rounding |
//! | `moments.rs`, `rounded.rs`, `to_char.rs` | functions that it uses, and `to_char` |
//! | `written.rs` | dates in a format and numbers with a decimal comma, as the policy says |
//! | `added_functions.rs` | functions that the engine lacks: `CLAMP`, aggregates that are only planned |
//! | `postgres/` | functions with PostgreSQL's meaning: `age`, `to_date`, `width_bucket`, … |

pub(crate) mod added_functions;
pub(crate) mod admit;
pub(crate) mod checked;
pub(crate) mod coding;
pub(crate) mod cost;
pub(crate) mod domain;
pub(crate) mod expression;
pub(crate) mod in_order;
pub(crate) mod interval;
pub(crate) mod meaning;
pub(crate) mod moments;
pub(crate) mod operator;
pub(crate) mod pieces;
pub(crate) mod postgres;
pub(crate) mod risky;
pub(crate) mod rounded;
pub(crate) mod search;
pub(crate) mod times;
pub(crate) mod to_char;
pub(crate) mod total;
pub(crate) mod written;

pub(crate) use crate::statement::parse::RESERVED;

use crate::rows::expression::Facts;
use datafusion::arrow::datatypes::DataType;
use datafusion::common::{Column, DFSchema};
use datafusion::logical_expr::LogicalPlan;

/// Prefix of columns that hold the unit's id.
pub(crate) const UNIT: &str = "__demure_unit_";
/// Prefix of columns that a subquery is compared by.
pub(crate) const INNER: &str = "__demure_inner_";
/// Prefix of the tables of releases, followed by a number and the number of key columns.
pub(crate) const RELEASED: &str = "__demure_released_";

/// Prefix of the placeholders of numbers that the statement itself releases.
pub(crate) const NUMBER: &str = "$__demure_number_";

/// A plan whose output rows are protected.
#[derive(Clone, Debug)]
pub(crate) struct Rows {
    /// It has total expressions only, and nothing that compares the rows of two units.
    pub(crate) plan: LogicalPlan,
    pub(crate) owner: Owner,
    /// The facts about each column of the plan, in order.
    pub(crate) facts: Vec<Facts>,
    /// The contribution bounds of one person in one query.
    pub(crate) limits: Limits,
}

/// The owner of a row.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Owner {
    /// The person in this column. `once`: by construction, no one has two rows.
    Person { column: Column, once: bool },
    /// Every row of the source belongs to a different person, and makes at most `copies` rows here.
    Row { copies: u32 },
}

/// Contribution bounds: groups per person, and rows per group.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Limits {
    pub(crate) groups: u32,
    pub(crate) rows: u32,
    /// Whether neither was declared: then a bound is learnt where that can be done.
    pub(crate) learnt: bool,
}

impl Limits {
    /// Bounds that are declared, or hold by construction.
    pub(crate) fn declared(groups: u32, rows: u32) -> Self {
        Self { groups, rows, learnt: false }
    }

    /// The bounds for two joined tables: the larger of each (rows are bounded after the join). They are learnt if those
    /// of one table are, since the other's say nothing about how many rows the join has.
    pub(crate) fn or(self, other: Self) -> Self {
        Self {
            groups: self.groups.max(other.groups),
            rows: self.rows.max(other.rows),
            learnt: self.learnt || other.learnt,
        }
    }
}

impl Rows {
    pub(crate) fn schema(&self) -> &DFSchema {
        self.plan.schema()
    }

    /// The facts about a column.
    pub(crate) fn facts_of(&self, column: &Column) -> Option<&Facts> {
        let index = self.schema().maybe_index_of_column(column)?;
        self.facts.get(index)
    }

    /// Whether a column holds the unit's id.
    pub(crate) fn is_unit(&self, column: &Column) -> bool {
        self.facts_of(column).is_some_and(|facts| facts.unit)
    }
}

/// A text for an analyst, without the names of numbers that the statement releases.
pub(crate) fn without_numbers(text: &str) -> String {
    let mut parts = text.split(NUMBER);
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |text, part| {
        let rest = part.trim_start_matches(|c: char| c.is_ascii_alphanumeric() || c == '_');
        format!("{text}(SELECT …){rest}")
    })
}

/// Whether values of the type can have any size and are not texts: lists, structures, bytes. Queries cannot use them,
/// because many of them together are more than a column can hold.
pub(crate) fn unlimited(stored: &DataType) -> bool {
    use DataType as T;
    match stored {
        T::Dictionary(_, values) => unlimited(values),
        T::Binary | T::LargeBinary | T::BinaryView | T::FixedSizeBinary(_) => true,
        other => other.is_nested(),
    }
}
