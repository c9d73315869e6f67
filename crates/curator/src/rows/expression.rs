//! Facts about an expression over protected rows: its interval, its NULLs, its values.

use crate::rows::Rows;
use crate::rows::interval::Interval;
use crate::rows::times::{self, DAY, is_date, is_moment};
use crate::statement::limits;
use datafusion::arrow::array::RecordBatch;
use datafusion::arrow::datatypes::DataType;
use datafusion::common::tree_node::{Transformed, TreeNode};
use datafusion::common::{Column, ScalarValue};
use datafusion::logical_expr::expr::ScalarFunction;
use datafusion::logical_expr::{Expr, ExprSchemable, Operator};
use std::sync::Arc;

/// Facts about a column that are known without reading it.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Facts {
    /// The interval of its numbers; of dates and times, in microseconds since 1970.
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
    /// Whether it holds the unit's id or NULL: the id of a table that an outer join may not have found.
    pub(crate) unit_or_null: bool,
    /// Whether its values are those that follow from the bounds of a date or time, and rows beyond these have others.
    pub(crate) within_times: bool,
    /// The public rows that it comes from, if they are known.
    pub(crate) listed: Option<Listed>,
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
            unit_or_null: false,
            within_times: false,
            listed: None,
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
            (true, _) => return Self { nullable: true, ..other.chosen() },
            (_, true) => return Self { nullable: true, ..self.chosen() },
            _ => {}
        }
        Self {
            interval: self.interval.union(other.interval),
            integral: self.integral && other.integral,
            nullable: self.nullable || other.nullable,
            values: None,
            grid: if self.grid == other.grid { self.grid } else { None },
            ..Self::unknown()
        }
    }

    /// The facts about the result of a choice: it need not be the id, nor the value of one column.
    pub(crate) fn chosen(self) -> Self {
        Self { unit: false, unit_or_null: false, listed: None, origin: None, ..self }
    }

    /// Notes that a column has these values and no others.
    pub(crate) fn list(&mut self, listed: &[ScalarValue]) {
        self.nullable = listed.iter().any(ScalarValue::is_null);
        let values: Vec<ScalarValue> = listed.iter().filter(|v| !v.is_null()).cloned().collect();
        let numbers: Vec<f64> = values.iter().filter_map(place).collect();
        if !numbers.is_empty() && numbers.len() == values.len() {
            let low = numbers.iter().copied().fold(f64::INFINITY, f64::min);
            let high = numbers.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            self.interval = Interval::new(low, high);
        }
        self.values = Some(values);
    }

    /// The facts about a column of a side that a join may not find.
    pub(crate) fn or_missing(self) -> Self {
        let unit_or_null = self.unit || self.unit_or_null;
        Self { nullable: true, unit: false, unit_or_null, ..self }
    }
}

/// A column of public rows that were read before the query was cut.
#[derive(Clone, Debug)]
pub(crate) struct Listed {
    /// The rows, without duplicates.
    pub(crate) rows: Arc<RecordBatch>,
    pub(crate) column: usize,
    /// Whether those that no protected row matches belong to the result as well.
    pub(crate) padded: bool,
}

impl PartialEq for Listed {
    fn eq(&self, other: &Self) -> bool {
        (self.column, self.padded) == (other.column, other.padded)
            && Arc::ptr_eq(&self.rows, &other.rows)
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

/// The place of a value in its column's interval: a number, or microseconds since 1970.
pub(crate) fn place(value: &ScalarValue) -> Option<f64> {
    number(value).or_else(|| times::microseconds(value).map(|at| at as f64))
}

/// An expression as an analyst would write it: without the engine's conversions and types.
pub(crate) fn written(expr: &Expr) -> String {
    let plain = expr.clone().transform_up(|part| {
        Ok(match part {
            Expr::Cast(cast) => Transformed::yes(*cast.expr),
            Expr::TryCast(cast) => Transformed::yes(*cast.expr),
            Expr::Literal(value, _) => {
                let text = match value.try_as_str().flatten() {
                    Some(text) => format!("'{text}'"),
                    None => value.to_string(),
                };
                Transformed::yes(Expr::Column(Column::new_unqualified(text)))
            }
            Expr::Column(column) => {
                Transformed::yes(Expr::Column(Column::new_unqualified(column.name)))
            }
            other => Transformed::no(other),
        })
    });
    let text = plain
        .map_or_else(|_| "the value".to_owned(), |plain| plain.data.human_display().to_string());
    match text.chars().count() > 200 {
        true => text.chars().take(200).chain(['…']).collect(),
        false => text,
    }
}

/// A name that the engine gives, without its types: `clamp(x, CAST(Int64(0) AS Float64))` becomes `clamp(x, 0)`.
pub(crate) fn plain_text(text: &str) -> String {
    const TYPES: &[&str] = &[
        "Int8",
        "Int16",
        "Int32",
        "Int64",
        "UInt8",
        "UInt16",
        "UInt32",
        "UInt64",
        "Float32",
        "Float64",
        "Boolean",
        "Utf8",
        "Utf8View",
        "LargeUtf8",
        "Date32",
        "Decimal128",
        "IntervalMonthDayNano",
    ];
    let (mut plain, mut rest) = (String::new(), text);
    while let Some(c) = rest.chars().next() {
        let word = rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '_');
        let word = &rest[..word.unwrap_or(rest.len())];
        let after = &rest[word.len()..];
        if !word.is_empty() && TYPES.contains(&word) && after.starts_with('(') {
            // The end of a text is the last quote before a parenthesis.
            let inner = &after[1..];
            let quoted = inner.starts_with('"');
            let end =
                if quoted { inner[1..].find("\")").map(|end| end + 2) } else { inner.find(')') };
            if let Some(end) = end {
                let value = inner[..end].trim_matches('"');
                plain.push_str(&match (word, quoted) {
                    ("IntervalMonthDayNano", _) => interval_text(value),
                    (_, true) => format!("'{value}'"),
                    (_, false) => value.to_owned(),
                });
                rest = &inner[end + 1..];
                continue;
            }
        }
        let step = word.len().max(c.len_utf8());
        plain.push_str(&rest[..step]);
        rest = &rest[step..];
    }
    // Constants that were converted.
    for kind in ["Float64", "Int64", "Float32", "Int32"] {
        let suffix = format!(" AS {kind})");
        while let Some(end) = plain.find(&suffix) {
            let Some(start) = plain[..end].rfind("CAST(") else { break };
            let value = plain[start + 5..end].to_owned();
            let number = value.parse::<f64>().is_ok();
            let shown = if number { value } else { format!("{value}::{}", kind.to_lowercase()) };
            plain.replace_range(start..end + suffix.len(), &shown);
        }
    }
    plain
}

/// An interval that the engine shows by its fields, as SQL writes it.
fn interval_text(fields: &str) -> String {
    let of = |name: &str| {
        let rest = fields.split(name).nth(1)?.trim_start_matches(": ");
        let end = rest.find(|c: char| !c.is_ascii_digit() && c != '-').unwrap_or(rest.len());
        rest[..end].parse::<i64>().ok().filter(|n| *n != 0)
    };
    let seconds = of("nanoseconds").map(|n| format!("{} seconds", n as f64 / 1e9));
    let parts =
        [of("months").map(|n| format!("{n} months")), of("days").map(|n| format!("{n} days"))];
    let parts: Vec<String> = parts.into_iter().chain([seconds]).flatten().collect();
    format!("INTERVAL '{}'", if parts.is_empty() { "0 days".to_owned() } else { parts.join(" ") })
}

/// A number that is a constant, also if it was converted.
fn constant(expr: &Expr) -> Option<f64> {
    match expr {
        Expr::Literal(value, _) => number(value),
        Expr::Cast(cast) => constant(&cast.expr),
        Expr::TryCast(cast) => constant(&cast.expr),
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
            Facts { nullable: all.nullable || case.else_expr.is_none(), ..all.chosen() }
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
        None => {
            let interval = place(value).map_or(Interval::ANY, Interval::point);
            Facts { interval, nullable: false, ..Facts::unknown() }
        }
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
    // False is 0 and true is 1.
    if from == DataType::Boolean && to.is_numeric() {
        return Facts::number(Interval::new(0.0, 1.0), true, f.nullable);
    }
    // A text that is written where a date is expected.
    if let Expr::Literal(value, _) = inner
        && is_moment(to)
        && let Some(at) = value.cast_to(to).ok().as_ref().and_then(place)
    {
        return Facts { interval: Interval::point(at), nullable: false, ..Facts::unknown() };
    }
    if is_moment(&from) && is_moment(to) {
        let day = |at: f64| (at / DAY as f64).floor() * DAY as f64;
        let interval = if is_date(to) { f.interval.rising(day) } else { f.interval };
        return Facts { interval, ..Facts::unknown() };
    }
    if !(from.is_numeric() && to.is_numeric()) {
        return Facts::unknown();
    }
    let whole = to.is_integer();
    // Numbers are rounded to the places that the type has.
    let step = match to {
        DataType::Decimal128(_, scale) | DataType::Decimal256(_, scale)
            if !f.integral || *scale < 0 =>
        {
            Some(10f64.powi(-i32::from(*scale)))
        }
        _ if whole && !f.integral => Some(1.0),
        _ => None,
    };
    let interval = match step {
        Some(step) => Interval {
            low: outward(f.interval.low, step, f64::floor),
            high: outward(f.interval.high, step, f64::ceil),
        },
        None => f.interval,
    };
    // Only a float, or an integer that is too large, can fail to convert.
    let safe = matches!(to, DataType::Float64) || from == *to;
    Facts { grid: f.grid, ..Facts::number(interval, whole || f.integral, f.nullable || !safe) }
}

/// The next multiple of a step in one direction, or the number itself if it is one but for rounding.
fn outward(x: f64, step: f64, to: fn(f64) -> f64) -> f64 {
    let steps = x / step;
    let near = steps.round();
    if (steps - near).abs() <= 1e-9 * near.abs() { x } else { to(steps) * step }
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

/// The parts of a date that `date_part` can extract, and their intervals. Those of an interval may be 0, or below it.
fn date_part(part: &Expr, of: &DataType) -> Option<Interval> {
    let Expr::Literal(value, _) = part else { return None };
    let name = value.try_as_str().flatten()?.to_ascii_lowercase();
    if matches!(of, DataType::Interval(_)) {
        return match name.as_str() {
            "month" => Some(Interval::new(-11.0, 11.0)),
            "minute" | "second" => Some(Interval::new(-59.0, 59.0)),
            _ => None,
        };
    }
    if !matches!(of, DataType::Date32 | DataType::Date64 | DataType::Timestamp(..)) {
        return None;
    }
    Some(match name.as_str() {
        "month" => Interval::new(1.0, 12.0),
        "day" => Interval::new(1.0, 31.0),
        "hour" => Interval::new(0.0, 23.0),
        "minute" | "second" => Interval::new(0.0, 59.0),
        "quarter" => Interval::new(1.0, 4.0),
        "week" => Interval::new(1.0, 53.0),
        "dow" => Interval::new(0.0, 6.0),
        "isodow" => Interval::new(1.0, 7.0),
        "doy" => Interval::new(1.0, 366.0),
        _ => return None,
    })
}

/// The parts of a date or time that grow with it.
fn growing_part(part: &Expr, of: Interval) -> Option<Facts> {
    of.finite()?;
    let name = part.as_literal()?.try_as_str()??.to_ascii_lowercase();
    Some(match name.as_str() {
        "year" => Facts::number(of.rising(times::year), true, true),
        "isoyear" => Facts::number(of.rising(times::iso_year), true, true),
        "epoch" => Facts::number(of.rising(|at| at / 1e6), false, true),
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
        "round" | "trunc" => match function.args.get(1).and_then(constant) {
            Some(digits) if (-15.0..=15.0).contains(&digits) && digits.fract() == 0.0 => {
                let power = 10f64.powi(digits as i32);
                let cut = |f: fn(f64) -> f64, y: f64| {
                    if y.is_finite() { f(y * power) / power } else { y }
                };
                let f = if name == "round" { f64::round } else { f64::trunc };
                let interval = Interval::new(cut(f, x.low), cut(f, x.high));
                Facts::number(interval, digits <= 0.0, nullable)
            }
            _ => Facts::unknown(),
        },
        "sqrt" if x.low >= 0.0 => Facts::number(x.rising(f64::sqrt), false, nullable),
        "ln" if x.low > 0.0 => Facts::number(x.rising(f64::ln), false, nullable),
        "log10" if x.low > 0.0 => Facts::number(x.rising(f64::log10), false, nullable),
        "log2" if x.low > 0.0 => Facts::number(x.rising(f64::log2), false, nullable),
        "exp" => Facts::number(x.rising(f64::exp), false, nullable),
        "power" => match function.args.get(1).and_then(constant) {
            Some(exponent) => Facts::number(x.power(exponent), integer, nullable),
            None => Facts { integral: integer, ..Facts::unknown() },
        },
        "days" => {
            let day = Interval::point(DAY as f64);
            Facts::number(x.sub(argument(1).interval).div(day), true, nullable)
        }
        "later" | "earlier" => {
            let days = argument(1).interval.mul(Interval::point(DAY as f64));
            let interval = if name == "later" { x.add(days) } else { x.sub(days) };
            Facts { interval, ..Facts::unknown() }
        }
        "date_trunc" => {
            let part = function.args.first().and_then(Expr::as_literal);
            let part = part.and_then(|part| Some(part.try_as_str()??.to_ascii_lowercase()));
            let interval = match part.and_then(|part| times::beginning(&part)) {
                Some(beginning) => argument(1).interval.rising(beginning),
                None => Interval::ANY,
            };
            Facts { interval, ..Facts::unknown() }
        }
        "rounded" | "rounded_away" => {
            let away = name == "rounded_away" || ties_away(function, rows);
            let f = if away { f64::round } else { f64::round_ties_even };
            Facts { grid: first.grid, ..Facts::number(x.rising(f), true, nullable) }
        }
        "signum" => Facts::number(Interval::new(-1.0, 1.0), true, nullable),
        "length" | "character_length" => {
            let lengths = first.values.iter().flatten().filter_map(ScalarValue::try_as_str);
            let lengths =
                lengths.flatten().map(|text| Interval::point(text.chars().count() as f64));
            let listed = lengths.reduce(Interval::union);
            Facts::number(listed.unwrap_or(Interval::NON_NEGATIVE), true, nullable)
        }
        "strpos" => Facts::number(Interval::NON_NEGATIVE, true, nullable),
        "width_bucket" => {
            let most = argument(3).interval.high.max(0.0) + 1.0;
            Facts::number(Interval::new(0.0, most), true, nullable)
        }
        "date_part" => {
            let grows =
                function.args.first().zip(function.args.get(1)).filter(|(_, of)| {
                    of.get_type(rows.schema()).is_ok_and(|kind| is_moment(&kind))
                });
            if let Some(known) =
                grows.and_then(|(part, _)| growing_part(part, argument(1).interval))
            {
                return known;
            }
            match function.args.first().and_then(|part| {
                date_part(part, &function.args.get(1)?.get_type(rows.schema()).ok()?)
            }) {
                Some(interval) => Facts::number(interval, true, nullable),
                None => Facts { integral: integer, ..Facts::unknown() },
            }
        }
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
            Facts { nullable, ..merged.chosen() }
        }
        "nullif" => Facts { nullable: true, values: None, ..first.chosen() },
        _ => Facts::unknown(),
    }
}

/// Whether the argument is a decimal, whose ties are rounded away from zero.
fn ties_away(function: &ScalarFunction, rows: &Rows) -> bool {
    let argument = function.args.first().and_then(|expr| expr.get_type(rows.schema()).ok());
    argument.is_some_and(|kind| kind.is_decimal())
}

/// `least`/`greatest` skip NULL, so if an argument may be NULL, the result may be any value of the other.
fn skipping(cut: fn(Interval, Interval) -> Interval, a: &Facts, b: &Facts) -> Interval {
    let both = cut(a.interval, b.interval);
    let with_b = if a.nullable { both.union(b.interval) } else { both };
    if b.nullable { with_b.union(a.interval) } else { with_b }
}
