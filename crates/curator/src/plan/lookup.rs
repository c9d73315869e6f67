//! Released rows that people's rows are looked up in by a key: a list of the most common devices, the average of a row's
//! own region.
//!
//! `JOIN (SELECT device, COUNT(*) … LIMIT 3) AS t ON t.device = e.device`, `device IN (SELECT device …)` and
//! `income > (SELECT AVG(income) … WHERE x.region = r.region)` become a number for each value that the key can have:
//! `CASE device WHEN 'phone' THEN (the released number for 'phone') … END`. So nothing is known of the released rows
//! before they are bought, and everything that [`super::number`] proves of one number holds for each of these.
//!
//! The values of the key on the side of people's rows must be public. A row with another value finds nothing.

use super::padded::require_all;
use super::rows::{planned, select};
use super::semi::has_subquery;
use super::subquery::Detached;
use super::{Node, Walk};
use crate::error::Result;
use crate::refusal::{Refusal, Rule};
use crate::rows::admit::admit;
use crate::rows::domain;
use crate::rows::expression::{Facts, facts, text};
use crate::rows::{Owner, RESERVED, Rows};
use datafusion::common::{Column, ScalarValue};
use datafusion::functions_aggregate::expr_fn::count;
use datafusion::logical_expr::utils::split_conjunction_owned;
use datafusion::logical_expr::{
    BinaryExpr, Case, Distinct, Expr, ExprSchemable, Join, JoinType, LogicalPlan,
    LogicalPlanBuilder, Operator, lit, when,
};

/// The most numbers of one lookup: each is a query over released rows.
const MOST_NUMBERS: usize = 400;

/// Released rows, and the key by which they are looked up.
struct Lookup {
    released: LogicalPlan,
    /// The key's column there.
    key: Column,
    /// What it is compared with: an expression over people's rows.
    by: Expr,
    /// The values that this can have.
    values: Vec<ScalarValue>,
}

impl Lookup {
    /// The released rows of a value of the key.
    fn of(&self, value: &ScalarValue) -> Result<Option<LogicalPlan>> {
        let key = Expr::Column(self.key.clone());
        let kind = key.get_type(self.released.schema()).map_err(planned)?;
        let Ok(value) = value.cast_to(&kind) else { return Ok(None) };
        let rows = LogicalPlanBuilder::from(self.released.clone()).filter(key.eq(lit(value)));
        rows.and_then(LogicalPlanBuilder::build).map(Some).map_err(planned)
    }
}

fn several_rows(remedy: &str) -> crate::error::Error {
    let what = "a join of protected rows with several rows that are themselves being released";
    Refusal::new(Rule::Join, what, remedy).into()
}

const BY_ONE_KEY: &str = "compare its GROUP BY column by = with a column whose values are public (`values` or \
                          `bounds` in the policy); or join with one row of totals, (SELECT AVG(x) AS m FROM …), \
                          by a comma or CROSS JOIN";

/// The column that an expression is, whatever type it is converted to, if that keeps different values different.
fn column(expr: &Expr, plan: &LogicalPlan) -> Option<Column> {
    match expr {
        Expr::Column(column) if plan.schema().has_column(column) => Some(column.clone()),
        Expr::Cast(cast) => {
            let (from, to) = (cast.expr.get_type(plan.schema()).ok()?, cast.field.data_type());
            let kept = from.is_integer() && to.is_integer() || text(&from) && text(to);
            if kept { column(&cast.expr, plan) } else { None }
        }
        _ => None,
    }
}

/// Whether no two rows of a plan have the same value in a column.
fn is_unique(plan: &LogicalPlan, at: usize) -> bool {
    match plan {
        LogicalPlan::SubqueryAlias(alias) => is_unique(&alias.input, at),
        LogicalPlan::Sort(sort) => is_unique(&sort.input, at),
        LogicalPlan::Limit(limit) => is_unique(&limit.input, at),
        LogicalPlan::Filter(filter) => is_unique(&filter.input, at),
        LogicalPlan::Projection(projection) => {
            let named = projection
                .expr
                .get(at)
                .and_then(|expr| column(&expr.clone().unalias(), &projection.input));
            let below = named.and_then(|c| projection.input.schema().maybe_index_of_column(&c));
            below.is_some_and(|below| is_unique(&projection.input, below))
        }
        LogicalPlan::Distinct(Distinct::All(input)) => input.schema().fields().len() == 1,
        LogicalPlan::Aggregate(aggregate) => {
            let one =
                matches!(&aggregate.group_expr[..], [key] if !matches!(key, Expr::GroupingSet(_)));
            one && at == 0
        }
        _ => false,
    }
}

impl Walk<'_> {
    /// The lookup that an equality stands for, if it is one of a key with public values.
    fn lookup(&self, equality: &Expr, rows: &Rows, released: &LogicalPlan) -> Option<Lookup> {
        let Expr::BinaryExpr(BinaryExpr { left, op: Operator::Eq, right }) = equality else {
            return None;
        };
        let of = |key: &Expr, by: &Expr| {
            let key = column(key, released)?;
            let names = by.column_refs();
            let ours =
                names.iter().all(|c| rows.schema().has_column(c) && !c.name.starts_with(RESERVED));
            if names.is_empty() || !ours || has_subquery(by) || by.contains_outer() {
                return None;
            }
            let values = domain::values(by, rows, &self.state)?;
            let values = values.into_iter().filter(|value| !value.is_null()).collect();
            Some(Lookup { released: released.clone(), key, by: by.clone(), values })
        };
        of(left, right).or_else(|| of(right, left))
    }

    /// `CASE by WHEN value THEN number … END`.
    fn by_value(
        &mut self,
        lookup: &Lookup,
        of: &mut dyn FnMut(&mut Self, LogicalPlan) -> Result<Expr>,
    ) -> Result<Option<Expr>> {
        let mut found = Vec::new();
        for value in &lookup.values {
            if let Some(rows) = lookup.of(value)? {
                let number = of(self, rows)?;
                found.push((Box::new(lit(value.clone())), Box::new(number)));
            }
        }
        let by = Some(Box::new(lookup.by.clone()));
        Ok((!found.is_empty()).then(|| Expr::Case(Case::new(by, found, None))))
    }

    /// The value of a column in the released row that has the key.
    fn looked_up_value(&mut self, lookup: &Lookup, column: &Column) -> Result<Expr> {
        let column = Expr::Column(column.clone());
        let kind = column.get_type(lookup.released.schema()).map_err(planned)?;
        let found = self.by_value(lookup, &mut |walk, rows| {
            let one = LogicalPlanBuilder::from(rows).project(vec![column.clone()]);
            walk.number(one.and_then(LogicalPlanBuilder::build).map_err(planned)?)
        })?;
        let nothing = || ScalarValue::try_from(&kind).map(lit).map_err(planned);
        found.map_or_else(nothing, Ok)
    }

    /// Protected rows joined with the released rows that have their key.
    pub(super) fn with_looked_up(
        &mut self,
        join: &Join,
        rows: Rows,
        released: LogicalPlan,
        rows_left: bool,
    ) -> Result<Node> {
        let keeps = match (join.join_type, rows_left) {
            (JoinType::Inner, _) => false,
            (JoinType::Left, true) | (JoinType::Right, false) => true,
            _ => return Err(several_rows("use JOIN, or LEFT JOIN with people's rows on the left")),
        };
        let written = if rows_left { &join.right } else { &join.left };
        let equal = join.on.iter().map(|(a, b)| a.clone().eq(b.clone()));
        let filter = join.filter.iter().cloned().flat_map(split_conjunction_owned);
        let mut conditions = equal.chain(filter).collect();
        let sides = (released, &**written);
        let joined = self.looked_up(rows, sides, &mut conditions, (keeps, rows_left))?;
        if keeps && !conditions.is_empty() {
            return Err(several_rows(
                "in a LEFT JOIN, compare by = alone, and filter inside the subquery",
            ));
        }
        Ok(Node::Rows(Box::new(self.narrowed(joined, conditions)?)))
    }

    /// Protected rows beside the released row that has their key, by one of the conditions. `keeps`: also those that
    /// find none.
    pub(super) fn looked_up(
        &mut self,
        rows: Rows,
        (released, written): (LogicalPlan, &LogicalPlan),
        conditions: &mut Vec<Expr>,
        (keeps, rows_left): (bool, bool),
    ) -> Result<Rows> {
        let found = conditions.iter().enumerate().find_map(|(i, condition)| {
            let lookup = self.lookup(condition, &rows, &released)?;
            let at = released.schema().maybe_index_of_column(&lookup.key)?;
            is_unique(written, at).then_some((i, lookup))
        });
        let Some((place, lookup)) = found else { return Err(several_rows(BY_ONE_KEY)) };
        if lookup.values.len().saturating_mul(released.schema().fields().len()) > MOST_NUMBERS {
            return Err(several_rows("select fewer columns of it, or use a key with fewer values"));
        }
        conditions.remove(place);
        let mut numbers = Vec::new();
        for (qualifier, field) in released.schema().iter() {
            let column = Column::new(qualifier.cloned(), field.name());
            let value = admit(self.looked_up_value(&lookup, &column)?, &rows)?;
            numbers
                .push((value.alias_qualified(qualifier.cloned(), field.name()), Facts::unknown()));
        }
        let joined = beside(rows, numbers, rows_left)?;
        if keeps {
            return Ok(joined);
        }
        self.narrowed(joined, vec![Expr::Column(lookup.key).is_not_null()])
    }

    /// `member IN (released rows)`, with NULL as in PostgreSQL.
    pub(super) fn among_released(
        &mut self,
        rows: &Rows,
        member: &Expr,
        inner: &Detached,
        released: LogicalPlan,
    ) -> Result<Expr> {
        let refuse = |remedy: &str| {
            let what = "protected rows filtered by a list that is itself being released";
            Refusal::new(Rule::Subquery, what, remedy)
        };
        let value = Expr::Column(inner.value.clone());
        let lookup = self.lookup(&member.clone().eq(value.clone()), rows, &released);
        let lookup = lookup.filter(|_| inner.conditions.is_empty()).ok_or_else(|| {
            refuse(
                "compare a column whose values are public (`values` or `bounds` in the policy); or ask \
                 for the list first, then write it into the second query: IN ('a', 'b')",
            )
        })?;
        if lookup.values.len() > MOST_NUMBERS {
            return Err(refuse("use a column with fewer values").into());
        }
        let has_rows = |walk: &mut Self, rows: LogicalPlan| {
            let counted = LogicalPlanBuilder::from(rows)
                .aggregate(Vec::<Expr>::new(), vec![count(lit(1_i64)).alias("n")])
                .and_then(|rows| {
                    rows.project(vec![datafusion::logical_expr::col("n").gt(lit(0_i64))])
                })
                .and_then(LogicalPlanBuilder::build);
            walk.number(counted.map_err(planned)?)
        };
        let found = self.by_value(&lookup, &mut |walk, rows| has_rows(walk, rows))?;
        let nulls = LogicalPlanBuilder::from(released.clone()).filter(value.is_null());
        let nulls = nulls.and_then(LogicalPlanBuilder::build).map_err(planned)?;
        let (any, nulls) = (has_rows(self, released)?, has_rows(self, nulls)?);
        let unknown = lit(ScalarValue::Boolean(None));
        when(any.is_not_true(), lit(false))
            .when(found.unwrap_or(lit(false)), lit(true))
            .when(member.clone().is_null().or(nulls), unknown)
            .otherwise(lit(false))
            .map_err(planned)
    }

    /// A subquery that stands for a value of the released row that has the outer row's key.
    pub(super) fn released_value(
        &mut self,
        rows: &Rows,
        inner: &Detached,
        released: LogicalPlan,
    ) -> Result<Option<Expr>> {
        let [condition] = &inner.conditions[..] else { return Ok(None) };
        let Some(lookup) = self.lookup(condition, rows, &released) else { return Ok(None) };
        let at = released.schema().maybe_index_of_column(&lookup.key);
        if lookup.values.len() > MOST_NUMBERS || !at.is_some_and(|at| is_unique(&inner.plan, at)) {
            return Ok(None);
        }
        let value = self.looked_up_value(&lookup, &inner.value)?;
        // Where there is no row, a count is 0.
        let Some(nothing) = inner.of_nothing.clone() else { return Ok(Some(value)) };
        let value = when(value.clone().is_null(), nothing).otherwise(value);
        value.map(Some).map_err(planned)
    }
}

/// The rows with these columns beside their own.
pub(super) fn beside(rows: Rows, numbers: Vec<(Expr, Facts)>, rows_left: bool) -> Result<Rows> {
    require_all(&rows, "released rows beside the rows")?;
    let unit = match &rows.owner {
        Owner::Person { column, .. } => Some(column.name.clone()),
        Owner::Row { .. } => None,
    };
    let mut own = Vec::new();
    for (qualifier, field) in rows.schema().iter() {
        // The unit's id is carried along by itself.
        if unit.as_ref() == Some(field.name()) || field.name().starts_with(RESERVED) {
            continue;
        }
        let column = Expr::Column(Column::new(qualifier.cloned(), field.name()));
        let known = facts(&column, &rows);
        own.push((column, known));
    }
    let columns = match rows_left {
        true => own.into_iter().chain(numbers).collect(),
        false => numbers.into_iter().chain(own).collect(),
    };
    select(rows, columns)
}
