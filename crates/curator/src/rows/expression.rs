//! Facts about an expression over protected rows: its interval, its NULLs, its values.

use crate::rows::Rows;
use crate::rows::interval::Interval;
use crate::statement::limits;
use datafusion::arrow::datatypes::DataType;
use datafusion::common::ScalarValue;
use datafusion::logical_expr::expr::ScalarFunction;
use datafusion::logical_expr::{Expr, ExprSchemable, Operator};

/// Facts about a column that are known without reading it.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Facts {
    /// The interval of its numbers.
    pub(crate) interval: Interval,
    /// Whether its numbers are integers.
    pub(crate) integral: bool,
    pub(crate) nullable: bool,
    /// All its possible values except NULL, if the policy lists them. Rows with another value are left out where the
    /// column is a group key.
    pub(crate) values: Option<Vec<ScalarValue>>,
    /// The grid spacing for its sums as log₂, if the policy declares one.
    pub(crate) grid: Option<i32>,
    /// Whether it holds the unit's id in every row. Only a column, its alias and a cast to its own type keep this.
    pub(crate) unit: bool,
    /// The table and column, if the expression is just a column.
    pub(crate) origin: Option<(String, String)>,
    /// The size of the column's expression after expanding every name in it.
    pub(crate) size: u32,
    /// The nesting depth of that expression.
    pub(crate) depth: usize,
}

impl Facts {
    /// Nothing is known.
    pub(crate) fn unknown() -> Self {
        Self {
            interval: Interval::ANY,
            integral: false,
            nullable: true,
            values: None,
            grid: None,
            unit: false,
            origin: None,
            size: 1,
            depth: 1,
        }
    }

    /// Whether it is always NULL.
    fn never(&self) -> bool {
        self.values.as_ref().is_some_and(Vec::is_empty)
    }

    fn number(interval: Interval, integral: bool, nullable: bool) -> Self {
        Self { interval, integral, nullable, ..Self::unknown() }
    }

    /// The facts that hold for a value that is either of the two.
    fn or(self, other: Self) -> Self {
        match (self.never(), other.never()) {
            (true, _) => return Self { nullable: true, unit: false, origin: None, ..other },
            (_, true) => return Self { nullable: true, unit: false, origin: None, ..self },
            _ => {}
        }
        Self {
            interval: self.interval.union(other.interval),
            integral: self.integral && other.integral,
            nullable: self.nullable || other.nullable,
            values: None,
            grid: if self.grid == other.grid { self.grid } else { None },
            unit: false,
            origin: None,
            size: 1,
            depth: 1,
        }
    }
}

/// A number as a float, if it is one.
pub(crate) fn number(value: &ScalarValue) -> Option<f64> {
    if value.is_null() || !value.data_type().is_numeric() {
        return None;
    }
    match value.cast_to(&DataType::Float64) {
        Ok(ScalarValue::Float64(Some(x))) if x.is_finite() => Some(x),
        _ => None,
    }
}

/// The size of `expr` after expanding every name in it.
pub(crate) fn size(expr: &Expr, rows: &Rows) -> u32 {
    limits::size(expr, &|name| match name {
        Expr::Column(column) => rows.facts_of(column).map_or(1, |facts| facts.size),
        _ => 1,
    })
}

/// The nesting depth of `expr` after expanding every name in it.
pub(crate) fn depth(expr: &Expr, rows: &Rows) -> usize {
    limits::depth(expr, &|name| match name {
        Expr::Column(column) => rows.facts_of(column).map_or(1, |facts| facts.depth),
        _ => 1,
    })
}

/// The facts about `expr` over `rows`, with its size. It makes no difference whether the expression was already made
/// total: both forms have the same value wherever they have one.
pub(crate) fn facts(expr: &Expr, rows: &Rows) -> Facts {
    Facts { size: size(expr, rows), depth: depth(expr, rows), ..known(expr, rows) }
}

fn known(expr: &Expr, rows: &Rows) -> Facts {
    match expr {
        Expr::Alias(alias) => known(&alias.expr, rows),
        Expr::Column(column) => rows.facts_of(column).cloned().unwrap_or_else(Facts::unknown),
        Expr::Literal(value, _) => literal(value),
        Expr::Negative(inner) => {
            let f = known(inner, rows);
            Facts::number(f.interval.neg(), f.integral, f.nullable)
        }
        Expr::Cast(cast) => converted(&cast.expr, cast.field.data_type(), rows),
        Expr::TryCast(cast) => converted(&cast.expr, cast.field.data_type(), rows),
        Expr::BinaryExpr(binary) => {
            let (left, right) = (known(&binary.left, rows), known(&binary.right, rows));
            arithmetic(binary.op, left, right, integer(expr, rows))
        }
        Expr::Case(case) => {
            let branches = case.when_then_expr.iter().map(|(_, then)| known(then, rows));
            let rest = case.else_expr.as_ref().map(|e| known(e, rows));
            let all = branches.chain(rest).reduce(Facts::or).unwrap_or_else(Facts::unknown);
            // The result of a choice need not be the id.
            Facts {
                nullable: all.nullable || case.else_expr.is_none(),
                unit: false,
                origin: None,
                ..all
            }
        }
        Expr::ScalarFunction(function) => call(function, rows, integer(expr, rows)),
        Expr::IsNull(_)
        | Expr::IsNotNull(_)
        | Expr::IsTrue(_)
        | Expr::IsFalse(_)
        | Expr::IsUnknown(_)
        | Expr::IsNotTrue(_)
        | Expr::IsNotFalse(_)
        | Expr::IsNotUnknown(_) => Facts { nullable: false, ..Facts::unknown() },
        _ => Facts::unknown(),
    }
}

fn integer(expr: &Expr, rows: &Rows) -> bool {
    expr.get_type(rows.schema()).is_ok_and(|data_type| data_type.is_integer())
}

fn literal(value: &ScalarValue) -> Facts {
    if value.is_null() {
        return Facts { values: Some(Vec::new()), ..Facts::unknown() };
    }
    match number(value) {
        Some(x) => Facts::number(Interval::point(x), x.fract() == 0.0, false),
        None => Facts { nullable: false, ..Facts::unknown() },
    }
}

fn converted(inner: &Expr, to: &DataType, rows: &Rows) -> Facts {
    let f = known(inner, rows);
    if f.never() {
        return f;
    }
    let from = inner.get_type(rows.schema()).unwrap_or(DataType::Null);
    if from == *to || (text(&from) && text(to)) {
        return f;
    }
    if !(from.is_numeric() && to.is_numeric()) {
        return Facts::unknown();
    }
    let whole = to.is_integer();
    let interval = if whole && !f.integral { f.interval.rising(f64::trunc) } else { f.interval };
    // Only a float, or an integer that is too large, can fail to convert.
    let safe = matches!(to, DataType::Float64) || from == *to;
    Facts { grid: f.grid, ..Facts::number(interval, whole || f.integral, f.nullable || !safe) }
}

pub(crate) fn text(data_type: &DataType) -> bool {
    matches!(data_type, DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View)
}

fn arithmetic(op: Operator, left: Facts, right: Facts, integer: bool) -> Facts {
    let nullable = left.nullable || right.nullable;
    let integral = left.integral && right.integral;
    let (a, b) = (left.interval, right.interval);
    match op {
        Operator::Plus => Facts::number(a.add(b), integral, nullable),
        Operator::Minus => Facts::number(a.sub(b), integral, nullable),
        Operator::Multiply => Facts::number(a.mul(b), integral, nullable),
        Operator::Divide if integer => Facts::number(a.div(b).rising(f64::trunc), true, true),
        Operator::Divide => Facts::number(a.div(b), false, true),
        Operator::Modulo => {
            let rest = a.rem(b);
            // For integers |x % y| ≤ |y| − 1.
            let rest = if integral && b.low == b.high && b.low != 0.0 {
                let size = b.low.abs() - 1.0;
                Interval::new(rest.low.max(-size), rest.high.min(size))
            } else {
                rest
            };
            Facts::number(rest, integral, true)
        }
        Operator::StringConcat => Facts::unknown(), // NULL where it is too long
        _ => Facts { nullable, ..Facts::unknown() },
    }
}

/// The parts of a date that `date_part` can extract, and their intervals.
fn date_part(part: &Expr) -> Option<Interval> {
    let Expr::Literal(value, _) = part else { return None };
    let name = value.try_as_str().flatten()?.to_ascii_lowercase();
    Some(match name.as_str() {
        "month" => Interval::new(1.0, 12.0),
        "day" => Interval::new(1.0, 31.0),
        "hour" => Interval::new(0.0, 23.0),
        "minute" | "second" => Interval::new(0.0, 59.0),
        "quarter" => Interval::new(1.0, 4.0),
        "week" => Interval::new(1.0, 53.0),
        "dow" => Interval::new(0.0, 6.0),
        "isodow" => Interval::new(0.0, 7.0),
        "doy" => Interval::new(1.0, 366.0),
        _ => return None,
    })
}

fn call(function: &ScalarFunction, rows: &Rows, integer: bool) -> Facts {
    let name = function.name();
    let name = name.strip_prefix("total_").unwrap_or(name);
    let argument = |i: usize| match function.args.get(i) {
        Some(expr) => known(expr, rows),
        None => Facts::unknown(),
    };
    let all = || function.args.iter().map(|expr| known(expr, rows));
    let first = argument(0);
    let (x, nullable) = (first.interval, true);
    match name {
        "+" => arithmetic(Operator::Plus, first, argument(1), integer),
        "-" => arithmetic(Operator::Minus, first, argument(1), integer),
        "*" => arithmetic(Operator::Multiply, first, argument(1), integer),
        "/" => arithmetic(Operator::Divide, first, argument(1), integer),
        "%" => arithmetic(Operator::Modulo, first, argument(1), integer),
        "negative" => Facts::number(x.neg(), first.integral, first.nullable),
        "abs" => Facts::number(x.abs(), first.integral, nullable),
        "floor" => Facts::number(x.rising(f64::floor), true, nullable),
        "ceil" => Facts::number(x.rising(f64::ceil), true, nullable),
        "round" | "trunc" if function.args.len() == 1 => {
            let f = if name == "round" { f64::round } else { f64::trunc };
            Facts::number(x.rising(f), true, nullable)
        }
        "sqrt" if x.low >= 0.0 => Facts::number(x.rising(f64::sqrt), false, nullable),
        "ln" if x.low > 0.0 => Facts::number(x.rising(f64::ln), false, nullable),
        "log10" if x.low > 0.0 => Facts::number(x.rising(f64::log10), false, nullable),
        "log2" if x.low > 0.0 => Facts::number(x.rising(f64::log2), false, nullable),
        "exp" => Facts::number(x.rising(f64::exp), false, nullable),
        "signum" => Facts::number(Interval::new(-1.0, 1.0), true, nullable),
        "length" | "character_length" | "strpos" => {
            Facts::number(Interval::NON_NEGATIVE, true, nullable)
        }
        "date_part" => match function.args.first().and_then(date_part) {
            Some(interval) => Facts::number(interval, true, nullable),
            None => Facts { integral: integer, ..Facts::unknown() },
        },
        "least" | "greatest" => {
            let cut = if name == "least" { Interval::least } else { Interval::greatest };
            let merge = |a: Facts, b: Facts| {
                let grid = if a.grid.is_some() { a.grid } else { b.grid };
                Facts {
                    grid,
                    // NULL arguments are skipped, so the result may be in the other's interval.
                    ..Facts::number(
                        skipping(cut, &a, &b),
                        a.integral && b.integral,
                        a.nullable && b.nullable,
                    )
                }
            };
            all().reduce(merge).unwrap_or_else(Facts::unknown)
        }
        "clamp" => {
            let cut = first.interval.greatest(argument(1).interval).least(argument(2).interval);
            let integral = first.integral && argument(1).integral && argument(2).integral;
            Facts { grid: first.grid, ..Facts::number(cut, integral, first.nullable) }
        }
        "coalesce" | "nvl" => {
            let nullable = all().all(|f| f.nullable);
            let merged = all().reduce(Facts::or).unwrap_or_else(Facts::unknown);
            Facts { nullable, unit: false, origin: None, ..merged }
        }
        "nullif" => Facts { nullable: true, values: None, unit: false, origin: None, ..first },
        _ => Facts::unknown(),
    }
}

/// `least`/`greatest` skip NULL, so if an argument may be NULL, the result may be any value of the other.
fn skipping(cut: fn(Interval, Interval) -> Interval, a: &Facts, b: &Facts) -> Interval {
    let both = cut(a.interval, b.interval);
    let with_b = if a.nullable { both.union(b.interval) } else { both };
    if b.nullable { with_b.union(a.interval) } else { with_b }
}
