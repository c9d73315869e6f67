//! Protected rows on their way to an aggregate: whose they are, and what is known of them.

pub(crate) mod admit;
pub(crate) mod checked;
pub(crate) mod cost;
pub(crate) mod domain;
pub(crate) mod expression;
pub(crate) mod functions;
pub(crate) mod interval;
pub(crate) mod operator;
pub(crate) mod risky;
pub(crate) mod search;
pub(crate) mod total;

pub(crate) use crate::statement::parse::RESERVED;

use crate::rows::expression::Facts;
use datafusion::arrow::datatypes::DataType;
use datafusion::common::{Column, DFSchema};
use datafusion::logical_expr::LogicalPlan;

/// Prefix of columns that hold the id of whose row it is.
pub(crate) const UNIT: &str = "__demure_unit_";
/// Prefix of the tables that a release is read from: a number, and how many columns are keys.
pub(crate) const RELEASED: &str = "__demure_released_";

/// A plan whose output rows belong to somebody.
#[derive(Clone, Debug)]
pub(crate) struct Rows {
    /// Total expressions only, and nothing that compares the rows of two units.
    pub(crate) plan: LogicalPlan,
    pub(crate) owner: Owner,
    /// What is known of each column of the plan, in its order.
    pub(crate) facts: Vec<Facts>,
    /// What the policy allows one person in one query.
    pub(crate) limits: Limits,
}

/// Whose a row is.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Owner {
    /// The person in this column. `once`: nobody has two rows, by construction.
    Person { column: Column, once: bool },
    /// Every row of the source is somebody else's, and makes at most `copies` rows here.
    Row { copies: u32 },
}

/// At most so many groups of one person, at most so many rows in each.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Limits {
    pub(crate) groups: u32,
    pub(crate) rows: u32,
}

impl Limits {
    /// Of two tables joined: the larger of each (rows are bounded after the join).
    pub(crate) fn or(self, other: Self) -> Self {
        Self { groups: self.groups.max(other.groups), rows: self.rows.max(other.rows) }
    }
}

impl Rows {
    pub(crate) fn schema(&self) -> &DFSchema {
        self.plan.schema()
    }

    /// What is known of a column.
    pub(crate) fn facts_of(&self, column: &Column) -> Option<&Facts> {
        let index = self.schema().maybe_index_of_column(column)?;
        self.facts.get(index)
    }

    /// Whether a column holds the unit's id.
    pub(crate) fn is_unit(&self, column: &Column) -> bool {
        self.facts_of(column).is_some_and(|facts| facts.unit)
    }
}

/// Whether a value may be of any size and is no text: lists, structures, bytes. They cannot be
/// asked about: many of them together are more than a column can hold.
pub(crate) fn unlimited(stored: &DataType) -> bool {
    use DataType as T;
    match stored {
        T::Dictionary(_, values) => unlimited(values),
        T::Binary | T::LargeBinary | T::BinaryView | T::FixedSizeBinary(_) => true,
        other => other.is_nested(),
    }
}
