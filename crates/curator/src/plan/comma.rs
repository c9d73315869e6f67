//! `FROM a, b, c WHERE …`: joins whose conditions are written after them.
//!
//! The tables are joined one after the other, each on the equalities of WHERE that name it and tables before it. Which
//! table comes next is decided by the statement and the policy alone: people's tables in the order in which they are
//! written, as soon as an equality pairs each person with herself, then public tables, first those that an equality
//! fixes. All conditions that no join uses stay above the joins. For inner joins this changes nothing but the order of
//! rows and columns, and names stand for columns.

use super::join::{Written, rows};
use super::number::is_one_row;
use super::padded::Partner;
use super::{Node, Walk};
use crate::error::Result;
use crate::rows::Rows;
use datafusion::common::tree_node::TreeNode;
use datafusion::common::{Column, NullEquality};
use datafusion::logical_expr::utils::{
    conjunction, disjunction, split_binary_owned, split_conjunction_owned,
};
use datafusion::logical_expr::{BinaryExpr, Expr, Filter, Join, JoinType, LogicalPlan, Operator};
use std::collections::HashSet;

/// Inner joins, at least one of them without a condition, under a filter.
pub(super) struct Comma<'a> {
    /// The topmost join.
    joins: &'a LogicalPlan,
    /// The conditions of the filter and of the joins.
    conditions: Vec<Expr>,
}

/// Whether a plan is an inner join, which may be done in any order.
fn inner(plan: &LogicalPlan) -> Option<&Join> {
    match plan {
        LogicalPlan::Join(join)
            if join.join_type == JoinType::Inner
                && join.null_equality == NullEquality::NullEqualsNothing
                && !join.null_aware =>
        {
            Some(join)
        }
        _ => None,
    }
}

fn has_no_condition(plan: &LogicalPlan) -> bool {
    inner(plan).is_some_and(|join| {
        join.on.is_empty() && join.filter.is_none()
            || has_no_condition(&join.left)
            || has_no_condition(&join.right)
    })
}

fn leaves<'a>(plan: &'a LogicalPlan, found: &mut Vec<&'a LogicalPlan>, on: &mut Vec<Expr>) {
    match inner(plan) {
        Some(join) => {
            leaves(&join.left, found, on);
            leaves(&join.right, found, on);
            on.extend(join.on.iter().map(|(a, b)| a.clone().eq(b.clone())));
            on.extend(join.filter.iter().cloned().flat_map(split_conjunction_owned));
        }
        None => found.push(plan),
    }
}

impl<'a> Comma<'a> {
    pub(super) fn of(filter: &'a Filter) -> Option<Self> {
        let joins = filter.input.as_ref();
        let conditions = split_conjunction_owned(filter.predicate.clone());
        let conditions = conditions.into_iter().flat_map(factored).collect();
        has_no_condition(joins).then_some(Self { joins, conditions })
    }
}

/// `(a AND b) OR (a AND c)` as `a` and `b OR c`.
pub(super) fn factored(condition: Expr) -> Vec<Expr> {
    let branches = split_binary_owned(condition.clone(), Operator::Or);
    if branches.len() < 2 || super::semi::has_subquery(&condition) {
        return vec![condition];
    }
    let branches: Vec<Vec<Expr>> = branches.into_iter().map(split_conjunction_owned).collect();
    let (first, others) = match branches.split_first() {
        Some(split) => split,
        None => return vec![condition],
    };
    let common: Vec<Expr> = first
        .iter()
        .filter(|part| others.iter().all(|other| other.contains(part)))
        .cloned()
        .collect();
    if common.is_empty() {
        return vec![condition];
    }
    let rest: Option<Vec<Expr>> = branches
        .iter()
        .map(|branch| conjunction(branch.iter().filter(|part| !common.contains(part)).cloned()))
        .collect();
    // A branch that is the common part alone makes the others superfluous.
    let rest = rest.and_then(disjunction);
    common.into_iter().chain(rest).collect()
}

/// A table that is not joined yet.
enum Waiting<'a> {
    People(Box<Rows>),
    /// Public rows, and how they are written.
    Public(LogicalPlan, &'a LogicalPlan),
}

impl Waiting<'_> {
    fn has(&self, column: &Column) -> bool {
        match self {
            Self::People(rows) => rows.schema().has_column(column),
            Self::Public(plan, _) => plan.schema().has_column(column),
        }
    }
}

impl Walk<'_> {
    pub(super) fn comma(&mut self, comma: Comma<'_>, plan: &LogicalPlan) -> Result<Node> {
        let (mut found, mut on) = (Vec::new(), Vec::new());
        leaves(comma.joins, &mut found, &mut on);
        let mut nodes = Vec::new();
        for leaf in &found {
            nodes.push(self.visit_beside(leaf)?);
        }
        if !nodes.iter().any(|node| matches!(node, Node::Rows(_))) {
            let joined = self.joined_again(comma.joins, &mut nodes.into_iter())?;
            return self.again(plan, vec![joined]);
        }
        let (mut waiting, mut released) = (Vec::new(), Vec::new());
        for (node, written) in nodes.into_iter().zip(found) {
            match node {
                Node::Rows(rows) => waiting.push(Waiting::People(rows)),
                Node::Public(plan) => waiting.push(Waiting::Public(plan, written)),
                Node::Released(plan) => released.push((plan, written)),
            }
        }
        on.extend(comma.conditions);
        self.first_tests(&mut waiting, &mut on)?;
        let mut joined = self.in_order(waiting, &mut on)?;
        for (plan, written) in released {
            joined = match is_one_row(written) {
                true => self.with_one_row(joined, plan, true)?,
                false => self.looked_up(joined, (plan, written), &mut on, (false, true))?,
            };
        }
        Ok(rows(self.narrowed(joined, on)?))
    }

    /// Applies EXISTS and IN of one table's columns to this table, before its rows are joined: the same rows stay, and
    /// fewer are compared.
    fn first_tests(
        &mut self,
        waiting: &mut [Waiting<'_>],
        conditions: &mut Vec<Expr>,
    ) -> Result<()> {
        for condition in std::mem::take(conditions) {
            let names = super::semi::named_by_test(&condition);
            let has = |table: &Waiting<'_>| {
                let all = |names: &HashSet<Column>| names.iter().all(|name| table.has(name));
                names.as_ref().is_some_and(|names| !names.is_empty() && all(names))
            };
            let several = waiting.iter().filter(|table| has(table)).count() != 1;
            let table = waiting.iter_mut().find(|table| has(table));
            match table {
                Some(Waiting::People(rows)) if !several => {
                    let tested = self.narrowed(rows.as_ref().clone(), vec![condition])?;
                    **rows = tested;
                }
                _ => conditions.push(condition),
            }
        }
        Ok(())
    }

    /// The joins as they are written, over inputs without protected rows.
    fn joined_again(
        &mut self,
        plan: &LogicalPlan,
        nodes: &mut dyn Iterator<Item = Node>,
    ) -> Result<Node> {
        let Some(join) = inner(plan) else {
            return nodes.next().ok_or_else(|| super::unexpected("a table was lost"));
        };
        let left = self.joined_again(&join.left, nodes)?;
        let right = self.joined_again(&join.right, nodes)?;
        self.again(plan, vec![left, right])
    }

    /// Joins all tables, each on the conditions that it takes from `conditions`.
    fn in_order(
        &mut self,
        mut waiting: Vec<Waiting<'_>>,
        conditions: &mut Vec<Expr>,
    ) -> Result<Rows> {
        let first = waiting.iter().position(|table| matches!(table, Waiting::People(_)));
        let first = first.map(|at| waiting.remove(at));
        let Some(Waiting::People(first)) = first else {
            return Err(super::unexpected("a join of people without people"));
        };
        let mut joined = *first;
        while !waiting.is_empty() {
            let at = self.next(&joined, &waiting, conditions);
            let table = waiting.remove(at);
            let links = |condition: &Expr| {
                let names = condition.column_refs();
                names.into_iter().any(|column| joined.schema().has_column(column))
            };
            let (between, rest): (Vec<Expr>, Vec<Expr>) = std::mem::take(conditions)
                .into_iter()
                .partition(|condition| is_between(condition, &joined, &table));
            let (mut on, own): (Vec<Expr>, Vec<Expr>) = between.into_iter().partition(links);
            if let Waiting::Public(..) = table {
                // `code = 1` fixes a key as well.
                on.extend(own.iter().cloned());
            }
            *conditions = own.into_iter().chain(rest).collect();
            let join = Written { kind: JoinType::Inner, conditions: on };
            joined = match table {
                Waiting::People(people) => self.of_people(join, joined, *people)?,
                Waiting::Public(public, written) => {
                    let mut joined = self.with_public(join, joined, public, true)?;
                    self.list(&mut joined, written, true, Partner::Needed);
                    joined
                }
            };
        }
        Ok(joined)
    }

    /// The table to join next.
    fn next(&self, joined: &Rows, waiting: &[Waiting<'_>], conditions: &[Expr]) -> usize {
        let paired = waiting.iter().position(|table| match table {
            Waiting::People(people) => self.pairs_people(conditions, joined, people),
            Waiting::Public(..) => false,
        });
        let fixed = || {
            waiting.iter().position(|table| {
                let links = |c: &Expr| {
                    let names = c.column_refs();
                    names.into_iter().any(|column| joined.schema().has_column(column))
                };
                matches!(table, Waiting::Public(..))
                    && conditions.iter().any(|c| links(c) && is_between(c, joined, table))
            })
        };
        // A table of people that is left is refused where it is joined.
        paired.or_else(fixed).unwrap_or(0)
    }
}

/// Whether a condition is an equality that names this table and otherwise only what is joined already.
fn is_between(condition: &Expr, joined: &Rows, table: &Waiting<'_>) -> bool {
    let Expr::BinaryExpr(BinaryExpr { op: Operator::Eq, .. }) = condition else { return false };
    let names = condition.column_refs();
    let outer = condition.exists(|part| Ok(matches!(part, Expr::OuterReferenceColumn(..))));
    !super::semi::has_subquery(condition)
        && !outer.unwrap_or(true)
        && names.iter().any(|column| table.has(column))
        && names.iter().all(|column| table.has(column) != joined.schema().has_column(column))
}
