//! Gives expressions PostgreSQL's meaning where the engine has another, before types are coerced.
//!
//! The plan is rewritten once, above and below the cut alike: an expression means the same over people's rows, on
//! constants and after the release.
//!
//! - Arithmetic on dates and times, and comparisons of intervals, become the functions of [`crate::rows::moments`].
//! - A text that is written where a number, a date or a time is expected is converted now. If it cannot be, the
//!   statement is wrong: it must not be answered as if the text were NULL.
//! - A number with a point beside a decimal is a decimal, and not the float nearest to it.
//! - A conversion to an integer rounds.

use crate::rows::expression::text;
use crate::rows::moments::{Field, Moment, is_interval};
use crate::rows::rounded::{is_rounded, is_rounding, rounded, rounded_away};
use datafusion::arrow::datatypes::{DataType, FieldRef, IntervalUnit, TimeUnit};
use datafusion::common::tree_node::{Transformed, TreeNode};
use datafusion::common::{Column, DFSchema, Result, ScalarValue, TableReference, plan_err};
use datafusion::logical_expr::expr_rewriter::NamePreserver;
use datafusion::logical_expr::planner::{ExprPlanner, PlannerResult, RawBinaryExpr};
use datafusion::logical_expr::utils::merge_schema;
use datafusion::logical_expr::{
    Between, BinaryExpr, Case, Cast, Distinct, Expr, ExprSchemable, LogicalPlan,
    LogicalPlanBuilder, Operator, TryCast,
};
use datafusion::sql::sqlparser::ast::BinaryOperator;
use std::sync::Arc;

/// The largest number of digits of a decimal.
const MOST_DIGITS: u32 = 38;

/// The plan with PostgreSQL's meaning.
pub(crate) fn rewrite(plan: LogicalPlan) -> Result<LogicalPlan> {
    let rewritten = plan.transform_up_with_subqueries(|node| {
        let schema = merge_schema(&node.inputs());
        let names = NamePreserver::new(&node);
        let node = node.map_expressions(|expr| {
            let name = names.save(&expr);
            let expr = expr.transform_up(|part| Ok(Transformed::yes(meaning(part, &schema)?)))?;
            Ok(expr.update_data(|expr| name.restore(expr)))
        })?;
        let node = ordered(node.data, &schema)?;
        Ok(Transformed::yes(node.recompute_schema()?))
    })?;
    Ok(rewritten.data)
}

/// Plans `interval * number`, whose type the engine does not know.
#[derive(Debug)]
pub(crate) struct ScaledIntervals;

impl ExprPlanner for ScaledIntervals {
    fn plan_binary_op(
        &self,
        raw: RawBinaryExpr,
        schema: &DFSchema,
    ) -> Result<PlannerResult<RawBinaryExpr>> {
        let kind = |expr: &Expr| expr.get_type(schema).unwrap_or(DataType::Null);
        let (left, right) = (kind(&raw.left), kind(&raw.right));
        let planned = match raw.op {
            BinaryOperator::Multiply if is_interval(&left) && right.is_numeric() => {
                Moment::Times.of(vec![raw.left, raw.right])
            }
            BinaryOperator::Multiply if left.is_numeric() && is_interval(&right) => {
                Moment::Times.of(vec![raw.right, raw.left])
            }
            BinaryOperator::Divide if is_interval(&left) && right.is_numeric() => {
                Moment::Over.of(vec![raw.left, raw.right])
            }
            _ => return Ok(PlannerResult::Original(raw)),
        };
        Ok(PlannerResult::Planned(planned))
    }
}

/// An expression as the query wrote it, to be shown.
pub(crate) fn as_written(expr: &Expr) -> Expr {
    let shown = expr.clone().transform_up(|part| {
        Ok(Transformed::yes(match part {
            Expr::ScalarFunction(mut call) if is_rounding(&call) => call.args.swap_remove(0),
            Expr::ScalarFunction(call) => Moment::as_written(call),
            other => other,
        }))
    });
    shown.map_or_else(|_| expr.clone(), |shown| shown.data)
}

/// Intervals of one length are one value, wherever rows are sorted or grouped.
fn ordered(node: LogicalPlan, schema: &DFSchema) -> Result<LogicalPlan> {
    let interval = |expr: &Expr| expr.get_type(schema).is_ok_and(|kind| is_interval(&kind));
    Ok(match node {
        LogicalPlan::Sort(mut sort) => {
            for key in sort.expr.iter_mut().filter(|key| interval(&key.expr)) {
                key.expr = Moment::Length.of(vec![key.expr.clone()]);
            }
            LogicalPlan::Sort(sort)
        }
        LogicalPlan::Aggregate(mut aggregate) => {
            let names = NamePreserver::new_for_projection();
            for key in aggregate.group_expr.iter_mut().filter(|key| interval(key)) {
                let name = names.save(key);
                *key = name.restore(one_of_its_length(key.clone().unalias()));
            }
            LogicalPlan::Aggregate(aggregate)
        }
        LogicalPlan::Distinct(Distinct::All(input))
            if input.schema().fields().iter().any(|field| is_interval(field.data_type())) =>
        {
            let of_length = |(qualifier, field): (Option<&TableReference>, &FieldRef)| {
                let column = Expr::Column(Column::from((qualifier, field)));
                match is_interval(field.data_type()) {
                    true => {
                        one_of_its_length(column).alias_qualified(qualifier.cloned(), field.name())
                    }
                    false => column,
                }
            };
            let columns: Vec<Expr> = input.schema().iter().map(of_length).collect();
            let input = LogicalPlanBuilder::from(input.as_ref().clone()).project(columns)?;
            LogicalPlan::Distinct(Distinct::All(Arc::new(input.build()?)))
        }
        other => other,
    })
}

/// The one interval that stands for all of its length.
fn one_of_its_length(interval: Expr) -> Expr {
    Moment::OfLength.of(vec![Moment::Length.of(vec![interval])])
}

/// One expression, whose parts have been rewritten.
fn meaning(expr: Expr, schema: &DFSchema) -> Result<Expr> {
    Ok(match expr {
        Expr::BinaryExpr(BinaryExpr { left, op, right }) => {
            let (left, right) = binary(*left, op, *right, schema)?;
            match right {
                Some(right) => {
                    Expr::BinaryExpr(BinaryExpr::new(Box::new(left), op, Box::new(right)))
                }
                None => left,
            }
        }
        Expr::Between(Between { expr, negated, low, high }) => {
            let mut all = [*expr, *low, *high];
            comparable(&mut all, schema)?;
            let [expr, low, high] = all.map(Box::new);
            Expr::Between(Between { expr, negated, low, high })
        }
        Expr::InSubquery(list) if list.expr.get_type(schema).is_ok_and(|k| is_interval(&k)) => {
            return plan_err!(
                "IN (SELECT …) does not compare intervals; write EXISTS (SELECT … WHERE a = b)"
            );
        }
        Expr::InList(mut list) => {
            let mut all = vec![*list.expr];
            all.append(&mut list.list);
            comparable(&mut all, schema)?;
            let mut all = all.into_iter();
            if let Some(expr) = all.next() {
                *list.expr = expr;
            } else {
                return plan_err!("IN without a value");
            }
            list.list = all.collect();
            Expr::InList(list)
        }
        Expr::Case(Case { expr: Some(base), when_then_expr, else_expr }) => {
            let (whens, thens): (Vec<_>, Vec<_>) = when_then_expr.into_iter().unzip();
            let mut all = vec![*base];
            all.extend(whens.into_iter().map(|when| *when));
            comparable(&mut all, schema)?;
            let mut all = all.into_iter().map(Box::new);
            let base = all.next();
            Expr::Case(Case { expr: base, when_then_expr: all.zip(thens).collect(), else_expr })
        }
        Expr::Cast(cast) => {
            let to = cast.field.data_type();
            let expr = converted(*cast.expr, to, true, schema)?;
            match &expr {
                // A float that is converted to a float is no number with a point any more.
                Expr::Literal(value, _) if value.data_type() == *to && !to.is_floating() => expr,
                _ => Expr::Cast(Cast { expr: Box::new(expr), ..cast }),
            }
        }
        Expr::TryCast(cast) => {
            let expr = converted(*cast.expr, cast.field.data_type(), false, schema)?;
            Expr::TryCast(TryCast { expr: Box::new(expr), ..cast })
        }
        Expr::ScalarFunction(mut call) if call.name() == "date_part" && call.args.len() == 2 => {
            let interval = call.args[1].get_type(schema).is_ok_and(|kind| is_interval(&kind));
            match (interval, call.args[0].as_literal().map(ScalarValue::try_as_str)) {
                (true, Some(Some(Some(name)))) => {
                    let field = Field::named(name)?;
                    Moment::Field(field).of(vec![call.args.swap_remove(1)])
                }
                _ => Expr::ScalarFunction(call),
            }
        }
        Expr::ScalarFunction(mut call) if matches!(call.name(), "greatest" | "least") => {
            let kinds = call.args.iter().map(|argument| argument.get_type(schema));
            let kinds: Vec<DataType> = kinds.collect::<Result<_>>().unwrap_or_default();
            if !kinds.iter().any(is_interval) {
                return Ok(Expr::ScalarFunction(call));
            }
            comparable(&mut call.args, schema)?;
            Moment::OfLength.of(vec![Expr::ScalarFunction(call)])
        }
        // Ties of floats go to the even number; of decimals, also of those that the engine takes for floats, away from 0.
        Expr::ScalarFunction(mut call)
            if call.name() == "round"
                && call.args.len() == 1
                && call.args[0].get_type(schema).is_ok_and(|kind| kind.is_floating())
                && decimal_of(&call.args[0]).is_none()
                && !is_decimal(&call.args[0], schema) =>
        {
            let to_even = rounded(std::mem::take(&mut call.args[0]));
            call.args[0] = to_even;
            Expr::ScalarFunction(call)
        }
        Expr::ScalarFunction(call) if call.name() == "nullif" && call.args.len() == 2 => {
            if !call.args[0].get_type(schema).is_ok_and(|kind| is_interval(&kind)) {
                return Ok(Expr::ScalarFunction(call));
            }
            let mut pair = call.args.clone();
            comparable(&mut pair, schema)?;
            let [left, right] = <[_; 2]>::try_from(pair).unwrap_or_default();
            let nothing = Expr::Literal(ScalarValue::IntervalMonthDayNano(None), None);
            let value = call.args.into_iter().next().map(Box::new);
            Expr::Case(Case::new(None, vec![(Box::new(left.eq(right)), Box::new(nothing))], value))
        }
        // Of one form for each length, the order of intervals is that of their fields.
        Expr::AggregateFunction(mut call) => {
            for argument in &mut call.params.args {
                if argument.get_type(schema).is_ok_and(|kind| is_interval(&kind)) {
                    *argument = one_of_its_length(std::mem::take(argument));
                }
            }
            Expr::AggregateFunction(call)
        }
        Expr::WindowFunction(mut window) => {
            let interval = |expr: &Expr| expr.get_type(schema).is_ok_and(|kind| is_interval(&kind));
            for key in window.params.order_by.iter_mut().filter(|key| interval(&key.expr)) {
                key.expr = Moment::Length.of(vec![key.expr.clone()]);
            }
            let compares = matches!(window.fun.name(), "min" | "max");
            let params = &mut window.params;
            let arguments = params.args.iter_mut().filter(|_| compares);
            for compared in arguments.chain(&mut params.partition_by) {
                if interval(compared) {
                    *compared = one_of_its_length(std::mem::take(compared));
                }
            }
            Expr::WindowFunction(window)
        }
        other => other,
    })
}

/// `left op right`: both operands, or the whole expression and nothing.
fn binary(
    left: Expr,
    op: Operator,
    right: Expr,
    schema: &DFSchema,
) -> Result<(Expr, Option<Expr>)> {
    use Operator as O;
    let both = |pair: [Expr; 2]| {
        let [left, right] = pair;
        (left, Some(right))
    };
    match op {
        O::Eq | O::NotEq | O::Lt | O::LtEq | O::Gt | O::GtEq => {}
        O::IsDistinctFrom | O::IsNotDistinctFrom => {}
        O::Plus | O::Minus | O::Multiply | O::Divide | O::Modulo => {
            return arithmetic(left, op, right, schema);
        }
        _ => return Ok((left, Some(right))),
    }
    let mut pair = [left, right];
    comparable(&mut pair, schema)?;
    Ok(both(pair))
}

fn arithmetic(
    mut left: Expr,
    op: Operator,
    mut right: Expr,
    schema: &DFSchema,
) -> Result<(Expr, Option<Expr>)> {
    use DataType as T;
    let kinds = |left: &Expr, right: &Expr| match (left.get_type(schema), right.get_type(schema)) {
        (Ok(left), Ok(right)) => Some((left, right)),
        _ => None,
    };
    let Some((a, b)) = kinds(&left, &right) else { return Ok((left, Some(right))) };
    // `date - '2024-01-01'`, `n + '1'`: a text has the type of the other side.
    if a.is_numeric() || (is_moment(&a) && op == Operator::Minus) {
        right = typed(right, &a)?;
    }
    if b.is_numeric() || (is_moment(&b) && op == Operator::Minus) {
        left = typed(left, &b)?;
    }
    let Some((a, b)) = kinds(&left, &right) else { return Ok((left, Some(right))) };
    let date = |kind: &T| matches!(kind, T::Date32 | T::Date64);
    Ok(match (op, &a, &b) {
        (Operator::Minus, a, b) if date(a) && date(b) => (Moment::Days.of(vec![left, right]), None),
        (Operator::Minus, a, b) if is_moment(a) && is_moment(b) => {
            (Moment::Since.of(vec![left, right]), None)
        }
        (Operator::Plus, a, b) if date(a) && b.is_integer() => {
            (Moment::Later.of(vec![left, right]), None)
        }
        (Operator::Plus, a, b) if a.is_integer() && date(b) => {
            (Moment::Later.of(vec![right, left]), None)
        }
        (Operator::Minus, a, b) if date(a) && b.is_integer() => {
            (Moment::Earlier.of(vec![left, right]), None)
        }
        (Operator::Multiply, a, b) if is_interval(a) && b.is_numeric() => {
            (Moment::Times.of(vec![left, right]), None)
        }
        (Operator::Multiply, a, b) if a.is_numeric() && is_interval(b) => {
            (Moment::Times.of(vec![right, left]), None)
        }
        (Operator::Divide, a, b) if is_interval(a) && b.is_numeric() => {
            (Moment::Over.of(vec![left, right]), None)
        }
        (Operator::Plus | Operator::Minus, a, b) if date(a) && is_interval(b) => {
            let left = if whole_days(&right) { left } else { midnight(left) };
            (left, Some(right))
        }
        (Operator::Plus, a, b) if is_interval(a) && date(b) => {
            let right = if whole_days(&left) { right } else { midnight(right) };
            (left, Some(right))
        }
        (
            Operator::Plus | Operator::Minus | Operator::Multiply,
            T::Decimal128(p, s),
            T::Float64,
        ) => {
            let right = beside(right, (*p, *s), op);
            (left, Some(right))
        }
        (
            Operator::Plus | Operator::Minus | Operator::Multiply,
            T::Float64,
            T::Decimal128(p, s),
        ) => {
            let left = beside(left, (*p, *s), op);
            (left, Some(right))
        }
        _ => (left, Some(right)),
    })
}

fn is_moment(kind: &DataType) -> bool {
    matches!(kind, DataType::Date32 | DataType::Date64 | DataType::Timestamp(..))
}

/// Whether an interval is written out and has no part of a day: a date plus it is a date at midnight.
fn whole_days(interval: &Expr) -> bool {
    match interval {
        Expr::Literal(ScalarValue::IntervalMonthDayNano(Some(value)), _) => value.nanoseconds == 0,
        Expr::Literal(ScalarValue::IntervalDayTime(Some(value)), _) => value.milliseconds == 0,
        Expr::Literal(ScalarValue::IntervalYearMonth(_), _) => true,
        Expr::Negative(inner) => whole_days(inner),
        _ => false,
    }
}

fn midnight(date: Expr) -> Expr {
    let to = DataType::Timestamp(TimeUnit::Microsecond, None);
    Expr::Cast(Cast::new(Box::new(date), to))
}

/// A float that is written beside a decimal, as a decimal.
fn beside(expr: Expr, (precision, scale): (u8, i8), op: Operator) -> Expr {
    let Some((mantissa, digits, places)) = decimal_of(&expr) else { return expr };
    let (precision, scale) = (u32::from(precision), i32::from(scale));
    let needed = match op {
        Operator::Multiply => precision + digits + 1,
        _ => {
            let before = (i64::from(precision) - i64::from(scale)).max(i64::from(digits - places));
            let after = i64::from(scale).max(i64::from(places));
            u32::try_from(before.max(0) + after + 1).unwrap_or(u32::MAX)
        }
    };
    if needed > MOST_DIGITS { expr } else { decimal(mantissa, digits, places) }
}

fn decimal(mantissa: i128, digits: u32, places: u32) -> Expr {
    // Both are at most 38.
    let value = ScalarValue::Decimal128(Some(mantissa), digits as u8, places as i8);
    Expr::Literal(value, None)
}

/// The decimal that a float stands for, as the shortest text that is read as this float: mantissa, digits, and digits
/// after the point.
fn decimal_of(expr: &Expr) -> Option<(i128, u32, u32)> {
    let Expr::Literal(ScalarValue::Float64(Some(value)), _) = expr else { return None };
    if !value.is_finite() {
        return None;
    }
    read_decimal(&value.to_string())
}

fn read_decimal(written: &str) -> Option<(i128, u32, u32)> {
    let (whole, fraction) = written.split_once('.').unwrap_or((written, ""));
    let mantissa: i128 = format!("{whole}{fraction}").parse().ok()?;
    let places = u32::try_from(fraction.len()).ok()?;
    let digits = mantissa.checked_abs()?.to_string().len();
    let digits = u32::try_from(digits).ok()?.max(places).max(1);
    (digits <= MOST_DIGITS).then_some((mantissa, digits, places))
}

/// Prepares values that are compared with the first.
fn comparable(all: &mut [Expr], schema: &DFSchema) -> Result<()> {
    let kind = |expr: &Expr| expr.get_type(schema).unwrap_or(DataType::Null);
    let written = |expr: &Expr| matches!(expr, Expr::Literal(..)) && text(&kind(expr));
    // Texts that are written out have the type of the first value that is not.
    let other = all.iter().find(|expr| !written(expr)).map(kind);
    if let Some(to) = other.filter(|to| !text(to)) {
        for expr in all.iter_mut() {
            *expr = typed(std::mem::take(expr), &to)?;
        }
    }
    let kinds: Vec<DataType> = all.iter().map(kind).collect();
    let real = |kinds: &[DataType]| kinds.iter().any(|kind| kind.is_floating());
    if kinds.iter().any(is_interval) && kinds.iter().all(|kind| is_interval(kind) || kind.is_null())
    {
        for expr in all.iter_mut() {
            *expr = Moment::Length.of(vec![std::mem::take(expr)]);
        }
    } else if real(&kinds) && all.iter().any(|expr| mixes(expr, schema)) {
        // Numbers with a point beside decimals and integers only: all of them are decimals.
        let exact: Option<Vec<(Expr, Digits)>> = all.iter().map(|e| exact(e, schema)).collect();
        if let Some(exact) = exact {
            let before = exact.iter().map(|(_, digits)| digits.before).max().unwrap_or(0);
            let after = exact.iter().map(|(_, digits)| digits.after).max().unwrap_or(0);
            if before + after <= MOST_DIGITS {
                for (expr, (decimal, _)) in all.iter_mut().zip(exact) {
                    *expr = decimal;
                }
            }
        }
    }
    Ok(())
}

/// The digits that a number may have before and after the point.
#[derive(Clone, Copy)]
struct Digits {
    before: u32,
    after: u32,
}

/// Whether it computes something of integers or decimals with a number that has a point, or is a decimal itself.
fn mixes(expr: &Expr, schema: &DFSchema) -> bool {
    match expr {
        Expr::Literal(..) => false,
        Expr::BinaryExpr(binary) => [&binary.left, &binary.right]
            .iter()
            .any(|side| decimal_of(side).is_some() || mixes(side, schema)),
        Expr::Negative(inner) => mixes(inner, schema),
        other => matches!(other.get_type(schema), Ok(DataType::Decimal128(..))),
    }
}

/// The expression with decimals only; `None` if it has floats that are not written out, or other operations than
/// `+`, `-` and `*`.
fn exact(expr: &Expr, schema: &DFSchema) -> Option<(Expr, Digits)> {
    let fits = |digits: Digits| (digits.before + digits.after <= MOST_DIGITS).then_some(digits);
    if let Some((mantissa, digits, places)) = decimal_of(expr) {
        let size = Digits { before: digits - places, after: places };
        return Some((decimal(mantissa, digits, places), size));
    }
    match expr {
        Expr::BinaryExpr(BinaryExpr { left, op, right }) => {
            let ((left, a), (right, b)) = (exact(left, schema)?, exact(right, schema)?);
            let digits = match op {
                Operator::Plus | Operator::Minus => {
                    Digits { before: a.before.max(b.before) + 1, after: a.after.max(b.after) }
                }
                Operator::Multiply => {
                    Digits { before: a.before + b.before + 1, after: a.after + b.after }
                }
                _ => return None,
            };
            let (left, right) = (Box::new(left), Box::new(right));
            Some((Expr::BinaryExpr(BinaryExpr::new(left, *op, right)), fits(digits)?))
        }
        other => match other.get_type(schema).ok()? {
            kind if kind.is_integer() => Some((other.clone(), Digits { before: 20, after: 0 })),
            DataType::Decimal128(precision, scale) if scale >= 0 => {
                let after = u32::try_from(scale).ok()?;
                let before = u32::from(precision).checked_sub(after)?;
                Some((other.clone(), Digits { before, after }))
            }
            _ => None,
        },
    }
}

/// A text that is written out, as a value of type `to`; anything else as it is.
fn typed(expr: Expr, to: &DataType) -> Result<Expr> {
    use DataType as T;
    let Expr::Literal(value, _) = &expr else { return Ok(expr) };
    let Some(Some(written)) = value.try_as_str() else { return Ok(expr) };
    let written = written.trim();
    let found = match to {
        T::Float32 | T::Float64 => written.parse().ok().map(|x| ScalarValue::Float64(Some(x))),
        T::Decimal128(..) | T::Decimal256(..) => number(written),
        kind if kind.is_integer() => match written.parse::<i64>() {
            Ok(whole) => Some(ScalarValue::Int64(Some(whole))),
            Err(_) => ScalarValue::from(written)
                .cast_to(kind)
                .ok()
                .filter(|v| !v.is_null())
                .or_else(|| number(written)),
        },
        T::Boolean | T::Date32 | T::Date64 | T::Timestamp(..) | T::Time32(_) | T::Time64(_) => {
            read(written, to)
        }
        T::Interval(_) | T::Duration(_) => {
            let to = T::Interval(IntervalUnit::MonthDayNano);
            ScalarValue::from(written).cast_to(&to).ok()
        }
        _ => return Ok(expr),
    };
    match found.filter(|value| !value.is_null()) {
        Some(value) => Ok(Expr::Literal(value, None)),
        None => plan_err!("{}", unreadable(written, to)),
    }
}

/// A text as a value of type `to`. A time may lack its seconds.
fn read(written: &str, to: &DataType) -> Option<ScalarValue> {
    let cast = |text: &str| ScalarValue::from(text).cast_to(to).ok().filter(|v| !v.is_null());
    let timed = matches!(to, DataType::Timestamp(..) | DataType::Time32(_) | DataType::Time64(_));
    let seconds = || (timed && written.matches(':').count() == 1).then(|| format!("{written}:00"));
    cast(written).or_else(|| cast(&seconds()?))
}

/// A number of any size: a decimal if it fits, otherwise a float.
fn number(written: &str) -> Option<ScalarValue> {
    match read_decimal(written) {
        Some((mantissa, digits, places)) => {
            Some(ScalarValue::Decimal128(Some(mantissa), digits as u8, places as i8))
        }
        None => written.parse().ok().map(|x| ScalarValue::Float64(Some(x))),
    }
}

/// Says which text is not what, and how it is written.
fn unreadable(written: &str, to: &DataType) -> String {
    use DataType as T;
    let shown: String = written.chars().take(60).collect();
    let (what, form) = match to {
        T::Date32 | T::Date64 => ("a date", "write '2024-03-17' (year-month-day)"),
        T::Timestamp(..) => {
            ("a time", "write '2024-03-17 13:45:00' (year-month-day hour:minute:second)")
        }
        T::Time32(_) | T::Time64(_) => ("a time of day", "write '13:45:00'"),
        T::Boolean => ("a truth value", "write TRUE or FALSE"),
        T::Interval(_) | T::Duration(_) => ("an interval", "write INTERVAL '7 days'"),
        kind if kind.is_integer() => ("an integer", "write 42"),
        kind if kind.is_numeric() => ("a number", "write 42 or 0.5"),
        _ => ("a value of that type", "write it as that type's values are written"),
    };
    format!("'{shown}' is not {what}: {form}")
}

/// What is converted to `to`: a text that is written out must be readable, and numbers are rounded to integers.
fn converted(expr: Expr, to: &DataType, strict: bool, schema: &DFSchema) -> Result<Expr> {
    if let Expr::Literal(value, _) = &expr
        && let Some(Some(written)) = value.try_as_str()
    {
        return match read(written.trim(), to) {
            _ if text(to) || !simple(to) => Ok(expr),
            Some(value) => Ok(Expr::Literal(value, None)),
            None if strict => plan_err!("{}", unreadable(written.trim(), to)),
            None => Ok(expr),
        };
    }
    let Ok(from) = expr.get_type(schema) else { return Ok(expr) };
    if matches!(to, DataType::Decimal128(..) | DataType::Decimal256(..))
        && let Some((mantissa, digits, places)) = decimal_of(&expr)
    {
        return Ok(decimal(mantissa, digits, places));
    }
    if !to.is_integer() || !is_rounded(&from) {
        return Ok(expr);
    }
    // A number with a point is a decimal: its ties are rounded away from zero.
    Ok(match decimal_of(&expr) {
        Some((mantissa, digits, places)) if places > 0 => {
            rounded(decimal(mantissa, digits, places))
        }
        _ if is_decimal(&expr, schema) => rounded_away(expr),
        _ => rounded(expr),
    })
}

/// Whether a float is computed of integers and decimals with a number that has a point: in SQL that is a decimal.
fn is_decimal(expr: &Expr, schema: &DFSchema) -> bool {
    let whole = |expr: &Expr| {
        let kind = expr.get_type(schema);
        kind.is_ok_and(|kind| kind.is_integer() || matches!(kind, DataType::Decimal128(..)))
    };
    match expr {
        Expr::BinaryExpr(BinaryExpr { left, op, right }) => {
            let arithmetic = matches!(
                op,
                Operator::Plus
                    | Operator::Minus
                    | Operator::Multiply
                    | Operator::Divide
                    | Operator::Modulo
            );
            let decimal = |side: &Expr| decimal_of(side).is_some() || is_decimal(side, schema);
            let (a, b) = (decimal(left), decimal(right));
            arithmetic && (a || b) && (a || whole(left)) && (b || whole(right))
        }
        Expr::Negative(inner) => is_decimal(inner, schema),
        Expr::Alias(alias) => is_decimal(&alias.expr, schema),
        _ => false,
    }
}

/// Types whose values statements write as texts.
fn simple(to: &DataType) -> bool {
    to.is_numeric() || to.is_temporal() || *to == DataType::Boolean
}

#[cfg(test)]
mod tests;
