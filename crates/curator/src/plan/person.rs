//! Aggregates per person: `GROUP BY id`. The result still consists of protected rows, and each person's are computed
//! from that person's rows alone, so nothing is spent.
//!
//! A sum of floats depends on the order of its terms, and so, in its last digit, on how many rows other people have.
//! Sums of numbers with narrow bounds are computed with integers instead. Where the bounds are wide or there are none,
//! and for medians and variances, the numbers are sorted first ([`crate::rows::in_order`]).

use super::join_rows::only_row;
use super::rows::{planned, select};
use super::{Node, Walk};
use crate::error::Result;
use crate::refusal::{Refusal, Rule};
use crate::rows::admit::{admit, conversion, present};
use crate::rows::expression::{Facts, facts};
use crate::rows::in_order::Statistic;
use crate::rows::interval::Interval;
use crate::rows::{Owner, RESERVED, Rows};
use datafusion::arrow::datatypes::DataType;
use datafusion::common::{Column, ScalarValue};
use datafusion::functions::core::expr_fn::{greatest, least, nullif};
use datafusion::functions::math::expr_fn::{isnan, round};
use datafusion::functions_aggregate::expr_fn::{
    bool_and, bool_or, count, count_distinct, max, min, sum,
};
use datafusion::logical_expr::expr::AggregateFunction;
use datafusion::logical_expr::{Aggregate, Expr, ExprSchemable, LogicalPlanBuilder, lit, try_cast};

/// One aggregate per person: its terms, the result computed from them, and the facts known of it.
struct Own {
    terms: Vec<Expr>,
    value: Expr,
    facts: Facts,
}

impl Walk<'_> {
    /// `GROUP BY` with the unit's id among the keys.
    pub(super) fn per_person(&mut self, rows: Rows, aggregate: &Aggregate) -> Result<Node> {
        let Owner::Person { column: unit, .. } = rows.owner.clone() else {
            return Err(super::unexpected("a person's aggregate without persons"));
        };
        // If it were equal in one place and different in another, it would be two people here and one there.
        if rows
            .schema()
            .field_with_unqualified_name(&unit.name)
            .is_ok_and(|f| f.data_type().is_floating())
        {
            return Err(super::unexpected("a person named by a real number"));
        }
        let keys = aggregate.group_expr.len();
        let mut before: Vec<(Expr, Facts)> = Vec::new();
        for (i, expr) in aggregate.group_expr.iter().enumerate() {
            let known = facts(expr, &rows);
            let admitted = one_form(admit(expr.clone(), &rows)?, &rows, false)?;
            before.push((admitted.alias(key(i)), known));
        }
        let once = aggregate
            .group_expr
            .iter()
            .all(|expr| matches!(expr.clone().unalias(), Expr::Column(c) if rows.is_unit(&c)));
        let mut groups: Vec<Expr> = (0..keys).map(|i| ours(key(i))).collect();
        groups.push(ours(unit.name.clone()));
        let mut terms = Vec::new();
        let mut values = Vec::new();
        for expr in &aggregate.aggr_expr {
            let Expr::AggregateFunction(function) = expr.clone().unalias() else {
                return Err(super::unexpected("an aggregate that is none"));
            };
            let own = own(&function, &rows, &mut before, terms.len())?;
            terms.extend(own.terms);
            values.push((own.value, own.facts));
        }
        let key_facts: Vec<Facts> = before.iter().take(keys).map(|(_, f)| f.clone()).collect();
        let prepared = select(rows, before)?;
        // Rows without an id belong to no one: they must not become one person.
        let plan = LogicalPlanBuilder::from(prepared.plan)
            .filter(ours(unit.name.clone()).is_not_null())
            .and_then(|rows| rows.aggregate(groups, terms))
            .and_then(LogicalPlanBuilder::build)
            .map_err(planned)?;
        let plan = if once { only_row(plan, &unit.name) } else { plan };
        let grouped = Rows {
            facts: vec![Facts::unknown(); plan.schema().fields().len()],
            plan,
            owner: Owner::Person { column: Column::new_unqualified(unit.name), once },
            limits: prepared.limits,
        };
        let named = (0..keys).map(|i| ours(key(i))).zip(key_facts).chain(values);
        let named =
            named.zip(aggregate.schema.iter()).map(|((expr, facts), (qualifier, field))| {
                let expr = match expr.get_type(grouped.schema()) {
                    Ok(t) if t == *field.data_type() => expr,
                    _ => try_cast(expr, field.data_type().clone()),
                };
                (expr.alias_qualified(qualifier.cloned(), field.name()), facts)
            });
        let named = named.collect();
        Ok(Node::Rows(Box::new(select(grouped, named)?)))
    }
}

/// Normalizes a float: −0 becomes 0, and NaN becomes NULL (or the one NaN).
///
/// Otherwise the order of the rows, and so other people's rows, would decide which of two equal forms a group or an
/// extreme shows.
pub(super) fn one_form(expr: Expr, rows: &Rows, extreme: bool) -> Result<Expr> {
    let nothing = match expr.get_type(rows.schema()) {
        Ok(DataType::Float64) if extreme => ScalarValue::Float64(None),
        Ok(DataType::Float32) if extreme => ScalarValue::Float32(None),
        Ok(DataType::Float64) => ScalarValue::Float64(Some(f64::NAN)),
        Ok(DataType::Float32) => ScalarValue::Float32(Some(f32::NAN)),
        _ => return Ok(expr),
    };
    let zero = ScalarValue::new_zero(&nothing.data_type()).map_err(planned)?;
    datafusion::logical_expr::when(isnan(expr.clone()), lit(nothing))
        .when(expr.clone().eq(lit(zero.clone())), lit(zero))
        .otherwise(expr)
        .map_err(planned)
}

/// Whether the engine's MIN and MAX support the type.
pub(super) fn has_order(t: &DataType) -> bool {
    t.is_numeric()
        || t.is_temporal()
        || matches!(
            t,
            DataType::Boolean | DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View
        )
}

fn key(i: usize) -> String {
    format!("{RESERVED}key_{i}")
}

pub(super) fn ours(name: impl Into<String>) -> Expr {
    Expr::Column(Column::new_unqualified(name.into()))
}

fn own(
    function: &AggregateFunction,
    rows: &Rows,
    before: &mut Vec<(Expr, Facts)>,
    made: usize,
) -> Result<Own> {
    let (name, params) = (function.func.name(), &function.params);
    let refuse = |what: String, remedy: &str| Refusal::new(Rule::Aggregate, what, remedy);
    if !params.order_by.is_empty() || params.args.len() != 1 {
        let what = format!("{name} per person in this form");
        return Err(refuse(what, OWN).into());
    }
    let argument = &params.args[0];
    let known = facts(argument, rows);
    let mut admitted = admit(argument.clone(), rows)?;
    if let Some(filter) = &params.filter {
        let filter = admit(filter.as_ref().clone(), rows)?;
        admitted = datafusion::logical_expr::when(filter, admitted).end().map_err(planned)?;
    }
    let column = format!("{RESERVED}own_{}", before.len());
    let term = |i: usize| format!("{RESERVED}term_{}", made + i);
    let counted = |distinct: bool, column: &str| {
        let of = ours(column);
        if distinct { count_distinct(of) } else { count(of) }
    };
    let number = || Facts { nullable: true, values: None, ..known.clone().chosen() };
    let kind = argument.get_type(rows.schema()).map_err(planned)?;
    let range = known.interval.finite().filter(|_| kind.is_numeric());
    let (terms, value, facts) = match (name, params.distinct, range) {
        ("count", distinct, _) => {
            before.push((admitted.alias(&column), Facts::unknown()));
            let facts = Facts {
                interval: Interval::NON_NEGATIVE,
                integral: true,
                nullable: false,
                ..Facts::unknown()
            };
            (vec![counted(distinct, &column).alias(term(0))], ours(term(0)), facts)
        }
        ("min" | "max", _, _) => {
            if !argument.get_type(rows.schema()).is_ok_and(|t| has_order(&t)) {
                let what = format!("{name} per person of what has no order");
                return Err(refuse(what, "use it on numbers, texts, dates or times").into());
            }
            let admitted = one_form(admitted, rows, true)?;
            before.push((admitted.alias(&column), Facts::unknown()));
            let found = if name == "min" { min(ours(&*column)) } else { max(ours(&*column)) };
            (vec![found.alias(term(0))], ours(term(0)), number())
        }
        ("sum", false, _) if argument.get_type(rows.schema()).is_ok_and(|t| t.is_integer()) => {
            // Wrapping addition of integers gives the same result in any order.
            before.push((try_cast(admitted, DataType::Int64).alias(&column), Facts::unknown()));
            let low = if known.interval.low >= 0.0 { 0.0 } else { f64::NEG_INFINITY };
            let interval = Interval { low, high: f64::INFINITY };
            let facts = Facts { interval, integral: true, ..Facts::unknown() };
            (vec![sum(ours(&*column)).alias(term(0))], ours(term(0)), facts)
        }
        ("bool_and" | "bool_or", false, _) => {
            before.push((admitted.alias(&column), Facts::unknown()));
            let found = if name == "bool_and" { bool_and } else { bool_or };
            (vec![found(ours(&*column)).alias(term(0))], ours(term(0)), Facts::unknown())
        }
        ("sum", false, Some((low, high))) if low.abs().max(high.abs()) <= NARROW => {
            // Not on a grid: a sum is compared with the numbers that it is made of.
            let inside = one_form(moved_inside(&admitted, low, high), rows, true)?;
            before.push((inside.alias(&column), Facts::unknown()));
            let found = Statistic::Sum.of(ours(&*column)).alias(term(0));
            (vec![found], ours(term(0)), in_order_facts(Statistic::Sum, &known))
        }
        ("avg", false, Some((low, high))) if low.abs().max(high.abs()) <= NARROW => {
            let inside = moved_inside(&admitted, low, high);
            let (steps, step) = on_grid(admitted, low, high, STEPS);
            before.push((steps.alias(&column), Facts::unknown()));
            let total = try_cast(ours(term(0)), DataType::Float64) * lit(step);
            let mut terms =
                vec![sum(ours(&*column)).alias(term(0)), count(ours(&*column)).alias(term(1))];
            let n = try_cast(ours(term(1)), DataType::Float64);
            let n = nullif(n, lit(ScalarValue::Float64(Some(0.0))));
            // A mean lies between the numbers, whatever the grid: that of equal numbers is that number.
            let value = format!("{column}_value");
            before.push((one_form(inside, rows, true)?.alias(&value), Facts::unknown()));
            terms.push(min(ours(&*value)).alias(term(2)));
            terms.push(max(ours(&*value)).alias(term(3)));
            let mean = greatest(vec![total / n, ours(term(2))]);
            let mean = least(vec![mean, ours(term(3))]);
            (terms, mean, Facts { integral: false, ..number() })
        }
        _ => {
            let kind = argument.get_type(rows.schema());
            let number = kind.is_ok_and(|kind| kind.is_numeric());
            let Some(statistic) = statistic(name).filter(|_| number && !params.distinct) else {
                return Err(refuse(format!("{name} per person"), OWN).into());
            };
            let numbers = conversion(admitted, &DataType::Float64, rows.schema());
            before.push((numbers.alias(&column), Facts::unknown()));
            let found = statistic.of(ours(&*column)).alias(term(0));
            (vec![found], ours(term(0)), in_order_facts(statistic, &known))
        }
    };
    Ok(Own { terms, value, facts })
}

/// The aggregates per person.
const OWN: &str = "use COUNT, SUM, AVG, MIN, MAX, MEDIAN, STDDEV, VAR, MODE (of a number), BOOL_AND or \
                   BOOL_OR per person";

/// The statistic of a person's numbers that a function stands for.
fn statistic(name: &str) -> Option<Statistic> {
    Some(match name {
        "sum" => Statistic::Sum,
        "avg" => Statistic::Mean,
        "median" => Statistic::Median,
        "mode" => Statistic::Mode,
        "var" => Statistic::Variance { sample: true },
        "var_pop" => Statistic::Variance { sample: false },
        "stddev" => Statistic::Deviation { sample: true },
        "stddev_pop" => Statistic::Deviation { sample: false },
        _ => return None,
    })
}

fn in_order_facts(statistic: Statistic, known: &Facts) -> Facts {
    let Interval { low, high } = known.interval;
    let interval = match statistic {
        // NaN and ±∞ are not within any bounds that are derived.
        Statistic::Mean | Statistic::Median | Statistic::Mode => Interval { low, high },
        Statistic::Sum => Interval {
            low: if low >= 0.0 { 0.0 } else { f64::NEG_INFINITY },
            high: if high <= 0.0 { 0.0 } else { f64::INFINITY },
        },
        Statistic::Variance { .. } | Statistic::Deviation { .. } => Interval::NON_NEGATIVE,
    };
    Facts { interval, integral: statistic == Statistic::Mode && known.integral, ..Facts::unknown() }
}

/// Bounds beyond this say little about the values: in steps of such bounds, small values would be 0.
const NARROW: f64 = 16_777_216.0;
/// Bounds are at most 2^this many steps away from 0. A sum of 2^22 rows fits 64 bits.
const STEPS: i32 = 40;

/// A value within bounds as a whole number of steps, a power of two, and the step. No value has more than 2^`steps` of them.
pub(super) fn on_grid(admitted: Expr, low: f64, high: f64, steps: i32) -> (Expr, f64) {
    let farthest = low.abs().max(high.abs()).max(f64::MIN_POSITIVE);
    let step = 2f64.powi((farthest.log2().ceil() as i32 - steps).max(-1000));
    let real = try_cast(admitted, DataType::Float64);
    let steps = round(vec![between(&real, low, high) / lit(step)]);
    (present(real, try_cast(steps, DataType::Int64)), step)
}

/// A value moved into its bounds; NULL stays.
pub(super) fn moved_inside(admitted: &Expr, low: f64, high: f64) -> Expr {
    let real = try_cast(admitted.clone(), DataType::Float64);
    present(real.clone(), between(&real, low, high))
}

fn between(real: &Expr, low: f64, high: f64) -> Expr {
    least(vec![greatest(vec![real.clone(), lit(low)]), lit(high)])
}
