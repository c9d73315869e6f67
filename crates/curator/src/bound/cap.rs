//! The logical node that bounds how many of a person's rows go into a join.
//!
//! A join multiplies rows: m rows of a person on one side and n on the other make m·n. Contributions are bounded after
//! the join, so the answer is private either way. But without a bound *before* it, one person with 150 rows makes 500
//! million of them in a four-way self-join, and time, memory and disk use reveal that person. So each input of such a
//! join keeps at most a public number of rows of each person. If a query contains expensive expressions, so does each
//! table.
//!
//! # Guarantee
//! The rows of a person that a [`CapRows`] keeps are a function of that person's own rows and the secret key of the
//! query, and their sizes add up to at most `rows`. The size of a row is 1, or the number of times that its longest text
//! fills [`SHORT`] bytes, if that is more. So every statement about whose rows depend on whose holds with the node as it
//! does without.
//!
//! # Why sizes
//! What an expression costs on a row grows at most in proportion to its texts. So if the sizes of a person's rows add up to C,
//! the expression costs no more on them than on C rows with texts of [`SHORT`] bytes; and a join of C with D such rows makes pairs
//! whose larger sizes add up to at most C·D. Otherwise a row would have to be taken for one with the longest text that there can
//! be, and a person with many rows and short texts would lose most of them.
//!
//! # Where filters go
//! The optimizer may move a filter from above the node to below it. That changes which rows stay, never whose they
//! are: the same rows of the same person pass the filter wherever it is. This is intended: rows that the query does
//! not ask for must not displace those it does. Where a table is read, conditions that name the unit's own column stay
//! above, which is how expensive conditions are kept there (`plan::hold`).

use super::key::Key;
use crate::rows::expression::text;
use datafusion::common::tree_node::{Transformed, TreeNode, TreeNodeRecursion};
use datafusion::common::{Column, DFSchemaRef, Result, plan_err};
use datafusion::logical_expr::{Expr, Extension, LogicalPlan, UserDefinedLogicalNodeCore};
use std::cmp::Ordering;
use std::collections::HashSet;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

/// A row counts once for every so many bytes of its longest text.
pub(crate) const SHORT: usize = 64;

/// How many rows of each person stay.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Most {
    /// Not decided yet: all joins of the query share one limit.
    Shared,
    /// The same where a table is read, but only if the query contains expensive expressions.
    Leaf,
    /// At most this many.
    Rows(u32),
    /// One, because only the person matters: the answer is the same without this limit.
    OneEach,
    /// One, because there is only one. The node is removed before the query runs.
    Once,
}

/// Keeps at most this many rows of each person, chosen by content under the query's key.
#[derive(Clone)]
pub(crate) struct CapRows {
    input: Arc<LogicalPlan>,
    unit: Column,
    most: Most,
    /// Whether conditions that name the unit stay above the node.
    holds: bool,
    /// The query's key; `None` until the query runs.
    key: Option<Key>,
}

impl CapRows {
    /// Bounds the rows of `input`, whose person is in the column `unit`.
    pub(crate) fn plan(input: LogicalPlan, unit: &Column, most: Most) -> LogicalPlan {
        let (input, unit) = (Arc::new(input), unit.clone());
        Self { input, unit, most, holds: most == Most::Leaf, key: None }.into_plan()
    }

    /// The node, if the plan is one.
    pub(crate) fn of(plan: &LogicalPlan) -> Option<&Self> {
        match plan {
            LogicalPlan::Extension(Extension { node }) => node.as_any().downcast_ref(),
            _ => None,
        }
    }

    /// How many rows of each person stay.
    pub(crate) fn most(&self) -> Most {
        self.most
    }

    /// The limit as a number; `None` if it is not decided yet.
    pub(super) fn rows(&self) -> Option<u32> {
        match self.most {
            Most::Shared | Most::Leaf => None,
            Most::Rows(rows) => Some(rows),
            Most::OneEach | Most::Once => Some(1),
        }
    }

    /// Whether rows count by their size. Where one row stays, any may.
    pub(super) fn by_size(&self) -> bool {
        matches!(self.most, Most::Rows(_))
    }

    pub(super) fn input(&self) -> &LogicalPlan {
        &self.input
    }

    pub(super) fn key(&self) -> Option<&Key> {
        self.key.as_ref()
    }

    /// The index of the person's id among the input's columns.
    pub(super) fn unit(&self) -> Result<usize> {
        self.input.schema().index_of_column(&self.unit)
    }

    fn into_plan(self) -> LogicalPlan {
        LogicalPlan::Extension(Extension { node: Arc::new(self) })
    }
}

/// The parts of a [`CapRows`]: its input, the index of the person's id among the columns, and how many rows it keeps and
/// which conditions stay above it, as a text. `None` if the plan is something else.
pub(crate) fn cap_parts(plan: &LogicalPlan) -> Option<(&LogicalPlan, usize, String)> {
    let cap = CapRows::of(plan)?;
    Some((&cap.input, cap.unit().ok()?, format!("{:?} {}", cap.most, cap.holds)))
}

/// Sets every undecided limit of a plan: before joins, and where tables are read. Nodes without a limit are removed.
pub(crate) fn with_rows(
    plan: LogicalPlan,
    joins: Option<u32>,
    leaves: Option<u32>,
) -> Result<LogicalPlan> {
    let decided = plan.transform_up(|node| {
        let Some(cap) = CapRows::of(&node) else { return Ok(Transformed::no(node)) };
        let rows = match cap.most {
            Most::Shared => joins,
            Most::Leaf => leaves,
            Most::Once => None,
            Most::Rows(_) | Most::OneEach => return Ok(Transformed::no(node)),
        };
        Ok(Transformed::yes(match rows {
            Some(rows) => CapRows { most: Most::Rows(rows), ..cap.clone() }.into_plan(),
            None => cap.input.as_ref().clone(),
        }))
    })?;
    Ok(decided.data)
}

/// Removes the limits where tables are read.
pub(crate) fn without_leaves(plan: LogicalPlan) -> Result<LogicalPlan> {
    let open = plan.transform_up(|node| match CapRows::of(&node) {
        Some(cap) if cap.most == Most::Leaf => Ok(Transformed::yes(cap.input.as_ref().clone())),
        _ => Ok(Transformed::no(node)),
    })?;
    Ok(open.data)
}

/// Gives the query's key to every node of a plan.
pub(super) fn with_key(plan: LogicalPlan, key: &Key) -> Result<LogicalPlan> {
    let keyed = plan.transform_up(|node| match CapRows::of(&node) {
        Some(cap) => {
            Ok(Transformed::yes(CapRows { key: Some(key.clone()), ..cap.clone() }.into_plan()))
        }
        None => Ok(Transformed::no(node)),
    })?;
    Ok(keyed.data)
}

/// The least limit before the joins of a plan (or, with `leaves`, where its tables are read), if there is any.
pub(crate) fn limit(plan: &LogicalPlan, leaves: bool) -> Option<u32> {
    let mut found = None;
    // The closure never fails, so neither does the walk.
    let _ = plan.apply(|node| {
        if let Some(cap) = CapRows::of(node).filter(|cap| cap.holds == leaves)
            && let Most::Rows(rows) = cap.most
        {
            found = Some(found.map_or(rows, |least: u32| least.min(rows)));
        }
        Ok(TreeNodeRecursion::Continue)
    });
    found
}

/// Whether a limit of a plan is on rows with texts.
pub(crate) fn reads_texts(plan: &LogicalPlan) -> bool {
    let texts = |cap: &CapRows| {
        let fields = cap.input.schema().fields().iter();
        cap.by_size() && fields.map(|field| field.data_type()).any(text)
    };
    // The closure never fails, so neither does the walk.
    plan.exists(|node| Ok(CapRows::of(node).is_some_and(texts))).unwrap_or(true)
}

impl fmt::Debug for CapRows {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        UserDefinedLogicalNodeCore::fmt_for_explain(self, f)
    }
}

impl PartialEq for CapRows {
    fn eq(&self, other: &Self) -> bool {
        (&self.unit, self.most, self.holds, &self.input)
            == (&other.unit, other.most, other.holds, &other.input)
    }
}

impl Eq for CapRows {}

impl PartialOrd for CapRows {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        (self == other).then_some(Ordering::Equal)
    }
}

impl Hash for CapRows {
    fn hash<H: Hasher>(&self, state: &mut H) {
        (&self.unit, self.most, self.holds, &self.input).hash(state);
    }
}

impl UserDefinedLogicalNodeCore for CapRows {
    fn name(&self) -> &'static str {
        "CapRows"
    }

    fn inputs(&self) -> Vec<&LogicalPlan> {
        vec![&self.input]
    }

    fn schema(&self) -> &DFSchemaRef {
        self.input.schema()
    }

    fn expressions(&self) -> Vec<Expr> {
        vec![Expr::Column(self.unit.clone())]
    }

    /// Where a table is read, a condition that names the unit is an expensive one.
    fn prevent_predicate_push_down_columns(&self) -> HashSet<String> {
        self.holds.then(|| self.unit.name.clone()).into_iter().collect()
    }

    fn fmt_for_explain(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.rows() {
            Some(rows) => write!(f, "CapRows: at most {rows} by {}", self.unit),
            None => write!(f, "CapRows: by {}", self.unit),
        }
    }

    fn with_exprs_and_inputs(&self, exprs: Vec<Expr>, inputs: Vec<LogicalPlan>) -> Result<Self> {
        match (<[_; 1]>::try_from(exprs), <[_; 1]>::try_from(inputs)) {
            (Ok([Expr::Column(unit)]), Ok([input])) => {
                Ok(Self { input: Arc::new(input), unit, ..self.clone() })
            }
            _ => plan_err!("CapRows has one input and the column of a person's id"),
        }
    }

    fn necessary_children_exprs(&self, output: &[usize]) -> Option<Vec<Vec<usize>>> {
        let mut columns = output.to_vec();
        columns.push(self.unit().ok()?);
        columns.sort_unstable();
        columns.dedup();
        Some(vec![columns])
    }
}
