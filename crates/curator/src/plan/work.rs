//! How many rows of one person each step of a plan has to do with, and what it costs.
//!
//! Rows are counted as polynomials in C, the number of rows that a [`CapRows`] whose number is not decided yet keeps
//! of a person: a union adds those of its branches, a join multiplies those of its sides.

use super::join_rows::{Fan, MOST_JOINED_ROWS};
use crate::answer::deferred::DeferredTable;
use crate::bound::{CapRows, Most};
use crate::policy::{Policy, UnitPolicy};
use crate::rows::RESERVED;
use crate::rows::cost::{Cost, cost};
use crate::rows::expression::text;
use crate::rows::total::LONGEST;
use datafusion::common::Column;
use datafusion::common::tree_node::{TreeNode, TreeNodeRecursion};
use datafusion::datasource::source_as_provider;
use datafusion::logical_expr::{Expr, Join, JoinType, LogicalPlan, TableScan};

/// Rows of one person.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Count {
    /// As many as she has.
    All,
    /// At most `terms[0] + terms[1]·C + terms[2]·C² + …`
    Most(Vec<u64>),
}

impl Count {
    /// At most so many, whatever C is.
    fn number(n: u64) -> Self {
        Self::Most(vec![n])
    }

    /// At most C.
    fn shared() -> Self {
        Self::Most(vec![0, 1])
    }

    /// At most so many; `None` if there is no limit.
    pub(super) fn at(&self, c: u64) -> Option<u64> {
        let Self::Most(terms) = self else { return None };
        let horner = |sum: u64, term: &u64| sum.saturating_mul(c).saturating_add(*term);
        Some(terms.iter().rev().fold(0, horner))
    }

    fn plus(self, other: &Self) -> Self {
        let (Self::Most(mut ours), Self::Most(theirs)) = (self, other) else { return Self::All };
        ours.resize(ours.len().max(theirs.len()), 0);
        for (our, their) in ours.iter_mut().zip(theirs) {
            *our = our.saturating_add(*their);
        }
        Self::Most(ours)
    }

    fn times(&self, other: &Self) -> Self {
        let (Self::Most(ours), Self::Most(theirs)) = (self, other) else { return Self::All };
        let mut product = vec![0u64; (ours.len() + theirs.len()).saturating_sub(1).max(1)];
        for (i, our) in ours.iter().enumerate() {
            for (j, their) in theirs.iter().enumerate() {
                product[i + j] = product[i + j].saturating_add(our.saturating_mul(*their));
            }
        }
        Self::Most(product)
    }

    fn is_one(&self) -> bool {
        matches!(self, Self::Most(terms) if terms[..] == [1])
    }
}

/// What comes out of a step.
struct Output {
    protected: bool,
    /// Of one person; of a public table: those that fit one row of hers.
    rows: Count,
    /// The longest text of each column, in bytes; 0 for a column that holds no text.
    longest: Vec<u64>,
}

/// What a plan has to do for one person.
pub(super) struct Work<'a> {
    fans: &'a [Fan],
    policy: &'a Policy,
    /// Whether tables are under a limit where they are read.
    leaves: bool,
    /// Expressions, by the rows that they are computed on.
    jobs: Vec<(Count, Cost)>,
    /// The rows that come out of each step.
    rows: Vec<Count>,
    /// Whether a join may make several rows of one.
    pub(super) multiplies: bool,
    /// How often protected tables are read.
    pub(super) scans: u64,
}

impl<'a> Work<'a> {
    /// Looks at a plan. `leaves`: the limits where tables are read hold.
    pub(super) fn of(
        plan: &LogicalPlan,
        fans: &'a [Fan],
        policy: &'a Policy,
        leaves: bool,
    ) -> Self {
        let (jobs, rows) = (Vec::new(), Vec::new());
        let (multiplies, scans) = (false, 0);
        let mut work = Self { fans, policy, leaves, jobs, rows, multiplies, scans };
        work.visit(plan);
        work
    }

    /// The most rows of a person that any step makes, where they are limited.
    pub(super) fn most_rows(&self, c: u64) -> u64 {
        self.rows.iter().filter_map(|rows| rows.at(c)).max().unwrap_or(0)
    }

    /// The units that expressions take on limited rows of a person, all together.
    pub(super) fn units(&self, c: u64) -> u64 {
        let each = self
            .jobs
            .iter()
            .filter_map(|(rows, cost)| rows.at(c).map(|rows| rows.saturating_mul(cost.units())));
        each.fold(0, u64::saturating_add)
    }

    /// What expressions cost on a row, where a person may have any number of them.
    pub(super) fn unlimited(&self) -> Cost {
        let each = self.jobs.iter().filter(|(rows, _)| *rows == Count::All);
        each.fold(Cost::default(), |sum, (_, cost)| sum.and(*cost))
    }

    /// What all expressions cost on a row.
    pub(super) fn each_once(&self) -> Cost {
        self.jobs.iter().fold(Cost::default(), |sum, (_, cost)| sum.and(*cost))
    }

    fn visit(&mut self, plan: &LogicalPlan) -> Output {
        let output = match plan {
            LogicalPlan::TableScan(scan) => self.scan(scan),
            LogicalPlan::Join(join) => self.join(join),
            LogicalPlan::Union(union) => {
                let mut branches = union.inputs.iter().map(|input| self.visit(input));
                let first = branches.next();
                let all = first.map(|first| branches.fold(first, either));
                all.unwrap_or_else(|| nothing(plan))
            }
            _ => match plan.inputs()[..] {
                [] => nothing(plan),
                [input, ..] => {
                    let below = self.visit(input);
                    self.over(plan, input, below)
                }
            },
        };
        if output.protected {
            self.rows.push(output.rows.clone());
        }
        output
    }

    /// A step over one input.
    fn over(&mut self, plan: &LogicalPlan, input: &LogicalPlan, below: Output) -> Output {
        if let Some(cap) = CapRows::of(plan) {
            let rows = match cap.most() {
                Most::Leaf if !self.leaves => below.rows,
                Most::Leaf | Most::Shared => Count::shared(),
                Most::Rows(rows) => Count::number(u64::from(rows)),
                Most::OneEach | Most::Once => Count::number(1),
            };
            return Output { rows, ..below };
        }
        let length = |column: &Column| {
            let place = input.schema().maybe_index_of_column(column);
            place.and_then(|i| below.longest.get(i).copied()).unwrap_or(LONGEST as u64)
        };
        let expressions = plan.expressions();
        let computed: Vec<_> = expressions.iter().map(|expr| cost(expr, &length)).collect();
        if below.protected {
            let mut all = computed.iter().fold(Cost::default(), |sum, one| sum.and(one.cost));
            if matches!(input, LogicalPlan::TableScan(_)) {
                let read = expressions.iter().map(|expr| conversions(expr, &length));
                all = all.less(read.fold(Cost::default(), Cost::and));
            }
            self.jobs.push((below.rows.clone(), all));
        }
        let longest = match plan {
            LogicalPlan::Projection(_) | LogicalPlan::Aggregate(_) => {
                computed.iter().map(|one| one.longest).collect()
            }
            _ => below.longest,
        };
        Output { longest, ..below }
    }

    fn scan(&mut self, scan: &TableScan) -> Output {
        if let Some((rows, longest)) = self.public(scan) {
            return Output { protected: false, rows: Count::number(rows), longest };
        }
        let table = self.policy.table(scan.table_name.table());
        let unit = table.and_then(|table| table.protection()).map(|protection| &protection.unit);
        let rows = match unit {
            Some(UnitPolicy::Row) => Count::number(1),
            _ => Count::All,
        };
        let fields = scan.projected_schema.fields().iter();
        let longest: Vec<u64> =
            fields.map(|f| if text(f.data_type()) { LONGEST as u64 } else { 0 }).collect();
        let filters =
            scan.filters.iter().map(|filter| cost(filter, &|_: &Column| LONGEST as u64).cost);
        let filters = filters.fold(Cost::default(), Cost::and);
        self.jobs.push((rows.clone(), filters));
        self.scans += 1;
        Output { protected: true, rows, longest }
    }

    /// Of a public table: the rows that fit one, and the longest text of each column that is read.
    fn public(&self, scan: &TableScan) -> Option<(u64, Vec<u64>)> {
        let provider = source_as_provider(&scan.source).ok()?;
        let table = provider.downcast_ref::<DeferredTable>()?;
        let fans = self.fans.iter().filter(|fan| std::ptr::eq(fan.table(), table));
        let rows = fans.map(Fan::most).max().unwrap_or_else(|| table.rows());
        let all = table.longest();
        let longest = match &scan.projection {
            Some(columns) => columns.iter().filter_map(|&i| all.get(i).copied()).collect(),
            None => all,
        };
        Some((rows.max(1) as u64, longest))
    }

    fn join(&mut self, join: &Join) -> Output {
        let (left, right) = (self.visit(&join.left), self.visit(&join.right));
        let semi = matches!(join.join_type, JoinType::LeftSemi | JoinType::LeftAnti);
        let via = join.on.iter().any(|(_, theirs)| carries(theirs));
        // Of each side that goes into a join of people, and may have several rows of one, there is a
        // limit. The others have one row of everybody.
        let limited = |side: &Output| match (&side.rows, via) {
            (Count::All, false) if left.protected && right.protected => Count::number(1),
            (rows, _) => rows.clone(),
        };
        let (ours, theirs) = match semi {
            true => (left.rows.clone(), limited(&right)),
            false => (limited(&left), limited(&right)),
        };
        if !semi && !ours.is_one() && !theirs.is_one() && !via {
            self.multiplies |= left.protected || right.protected;
        }
        let length = |column: &Column| {
            let of = |input: &LogicalPlan, output: &Output| {
                let place = input.schema().maybe_index_of_column(column)?;
                output.longest.get(place).copied()
            };
            of(&join.left, &left).or_else(|| of(&join.right, &right)).unwrap_or(LONGEST as u64)
        };
        let of = |exprs: &mut dyn Iterator<Item = &Expr>| {
            exprs.fold(Cost::default(), |sum, expr| sum.and(cost(expr, &length).cost))
        };
        if left.protected {
            self.jobs.push((left.rows.clone(), of(&mut join.on.iter().map(|(left, _)| left))));
        }
        if right.protected {
            self.jobs.push((right.rows.clone(), of(&mut join.on.iter().map(|(_, right)| right))));
        }
        // Every pair with equal keys; without keys every pair.
        let compared = of(&mut join.filter.iter());
        self.jobs.push(match (&ours, &theirs) {
            (Count::All, other) | (other, Count::All) => {
                (Count::All, compared.times(other.at(MOST_JOINED_ROWS).unwrap_or(1)))
            }
            (ours, theirs) => (ours.times(theirs), compared),
        });
        let protected = left.protected || right.protected;
        if semi {
            return Output { protected, ..left };
        }
        let rows = match (&ours, &theirs) {
            (Count::All, other) | (other, Count::All) if other.is_one() => Count::All,
            (ours, theirs) => ours.times(theirs),
        };
        let longest = left.longest.into_iter().chain(right.longest).collect();
        Output { protected, rows, longest }
    }
}

/// What it costs to convert columns to their types as they are read: that is a part of reading them.
fn conversions(expr: &Expr, longest: &impl Fn(&Column) -> u64) -> Cost {
    let is_column = |expr: &Expr| matches!(expr, Expr::Column(_));
    let mut read = Cost::default();
    // The closure never fails, so neither does the walk.
    let _ = expr.apply(|part| {
        let converts = match part {
            Expr::Cast(cast) => is_column(&cast.expr),
            Expr::TryCast(cast) => is_column(&cast.expr),
            Expr::ScalarFunction(call) => {
                call.name().starts_with("total_cast_") && call.args.iter().all(is_column)
            }
            _ => false,
        };
        if converts {
            read = read.and(cost(part, longest).cost);
        }
        Ok(TreeNodeRecursion::Continue)
    });
    read
}

/// Whether a key of a join is that of the table which carries another's unit.
fn carries(expr: &Expr) -> bool {
    matches!(expr, Expr::Column(column) if column.name == format!("{RESERVED}key"))
}

/// A union of two branches.
fn either(above: Output, below: Output) -> Output {
    let longest = above.longest.iter().zip(&below.longest).map(|(a, b)| *a.max(b)).collect();
    let rows = above.rows.plus(&below.rows);
    Output { protected: above.protected || below.protected, rows, longest }
}

/// No rows of anybody.
fn nothing(plan: &LogicalPlan) -> Output {
    let longest = vec![LONGEST as u64; plan.schema().fields().len()];
    Output { protected: false, rows: Count::number(1), longest }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unions_add_and_joins_multiply() {
        let c = Count::shared();
        let two = c.times(&c);
        assert_eq!(two.at(256), Some(65_536));
        let union = (0..9).fold(two.clone(), |sum, _| sum.plus(&two));
        assert_eq!(union.at(80), Some(64_000));
        assert_eq!(union.times(&Count::number(3)).times(&c).at(10), Some(30_000));
        assert_eq!(c.clone().plus(&Count::number(5)).at(7), Some(12));
        assert_eq!(Count::All.plus(&c), Count::All);
        assert_eq!(two.times(&two).at(1 << 20), Some(u64::MAX));
    }
}
