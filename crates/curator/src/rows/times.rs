//! Dates and times: their ranges, in microseconds since 1970, and how finely an expression depends on one of them.
//!
//! A condition or a key such as `date_trunc('month', day)`, `to_char(time, 'YYYY-MM')` or `time < '2024-03-01'` has one
//! value on each *piece* of the time line: from the beginning of a month to that of the next, or up to a constant. So all
//! its values are found at the first moment of each piece ([`crate::rows::pieces`]).
//!
//! Nothing here decides what is private. A piece that is forgotten leaves out a public key, and rows that have it.
//! Times have no zone. Beyond some 292,000 years from 1970 nothing is known of a moment.

use crate::calendar::{civil, days};
use crate::rows::to_char;
use datafusion::arrow::datatypes::{DataType, TimeUnit};
use datafusion::common::tree_node::{TreeNode, TreeNodeRecursion};
use datafusion::common::{Column, ScalarValue};
use datafusion::logical_expr::expr::ScalarFunction;
use datafusion::logical_expr::{BinaryExpr, Expr, Operator};

const SECOND: i64 = 1_000_000;
/// Microseconds of a day.
pub(crate) const DAY: i64 = 86_400 * SECOND;

/// Whether values of the type are dates, or times without a zone.
pub(crate) fn is_moment(kind: &DataType) -> bool {
    is_date(kind) || matches!(kind, DataType::Timestamp(_, None))
}

/// Whether values of the type are dates.
pub(crate) fn is_date(kind: &DataType) -> bool {
    matches!(kind, DataType::Date32 | DataType::Date64)
}

/// A date or time as microseconds since 1970.
pub(crate) fn microseconds(value: &ScalarValue) -> Option<i64> {
    use ScalarValue as S;
    match value {
        S::Date32(Some(days)) => i64::from(*days).checked_mul(DAY),
        S::Date64(Some(milliseconds)) => milliseconds.checked_mul(1_000),
        S::TimestampSecond(Some(n), None) => n.checked_mul(SECOND),
        S::TimestampMillisecond(Some(n), None) => n.checked_mul(1_000),
        S::TimestampMicrosecond(Some(n), None) => Some(*n),
        S::TimestampNanosecond(Some(n), None) => Some(n.div_euclid(1_000)),
        _ => None,
    }
}

/// The last value of the type that is not after a moment.
pub(crate) fn value_at(microseconds: i64, kind: &DataType) -> Option<ScalarValue> {
    use DataType as T;
    let days = microseconds.div_euclid(DAY);
    Some(match kind {
        T::Date32 => ScalarValue::Date32(Some(i32::try_from(days).ok()?)),
        T::Date64 => ScalarValue::Date64(Some(days.checked_mul(86_400_000)?)),
        T::Timestamp(TimeUnit::Second, None) => {
            ScalarValue::TimestampSecond(Some(microseconds.div_euclid(SECOND)), None)
        }
        T::Timestamp(TimeUnit::Millisecond, None) => {
            ScalarValue::TimestampMillisecond(Some(microseconds.div_euclid(1_000)), None)
        }
        T::Timestamp(TimeUnit::Microsecond, None) => {
            ScalarValue::TimestampMicrosecond(Some(microseconds), None)
        }
        T::Timestamp(TimeUnit::Nanosecond, None) => {
            ScalarValue::TimestampNanosecond(Some(microseconds.checked_mul(1_000)?), None)
        }
        _ => return None,
    })
}

/// The distance between two values of the type, in microseconds; at least one.
pub(crate) fn tick(kind: &DataType) -> i64 {
    match kind {
        DataType::Date32 | DataType::Date64 => DAY,
        DataType::Timestamp(TimeUnit::Second, _) => SECOND,
        DataType::Timestamp(TimeUnit::Millisecond, _) => 1_000,
        _ => 1,
    }
}

/// The range of a date or time as numbers: days since 1970 of a date, seconds of a time.
pub(crate) fn as_numbers((low, high): (f64, f64), kind: &DataType) -> (f64, f64) {
    let unit = if is_date(kind) { DAY } else { SECOND } as f64;
    ((low / unit).floor(), (high / unit).floor())
}

/// A date or time of the type from such a number: of the nearest one that the type has.
pub(crate) fn from_number(x: f64, kind: &DataType) -> Option<ScalarValue> {
    // A conversion of a float saturates.
    match kind {
        DataType::Date32 => Some(ScalarValue::Date32(Some(x.round() as i32))),
        kind if is_date(kind) => value_at((x.round() as i64).checked_mul(DAY)?, kind),
        kind => value_at((x * SECOND as f64).round() as i64, kind),
    }
}

/// The year of a moment. Year 0 is 1 BC.
pub(crate) fn year(microseconds: f64) -> f64 {
    civil((microseconds / DAY as f64).floor() as i64).0 as f64
}

/// The year of its week by ISO 8601: that of the week's Thursday.
pub(crate) fn iso_year(microseconds: f64) -> f64 {
    let day = (microseconds / DAY as f64).floor() as i64;
    // 1970 began on a Thursday.
    civil(day - (day + 3).rem_euclid(7) + 3).0 as f64
}

/// The beginning of the part of time that a moment is in.
pub(crate) fn beginning(part: &str) -> Option<fn(f64) -> f64> {
    fn of_days(microseconds: f64, first: impl Fn(i64) -> i64) -> f64 {
        first((microseconds / DAY as f64).floor() as i64) as f64 * DAY as f64
    }
    fn first_of(year: i64, month: i64) -> i64 {
        days(year, month, 1).unwrap_or(0)
    }
    fn every(microseconds: f64, step: i64) -> f64 {
        (microseconds / step as f64).floor() * step as f64
    }
    Some(match part {
        "year" => |t| of_days(t, |day| first_of(civil(day).0, 1)),
        "quarter" => |t| {
            of_days(t, |day| {
                let (year, month, _) = civil(day);
                first_of(year, (month - 1) / 3 * 3 + 1)
            })
        },
        "month" => |t| {
            of_days(t, |day| {
                let (year, month, _) = civil(day);
                first_of(year, month)
            })
        },
        "week" => |t| of_days(t, |day| day - (day + 3).rem_euclid(7)),
        "day" => |t| every(t, DAY),
        "hour" => |t| every(t, 3_600 * SECOND),
        "minute" => |t| every(t, 60 * SECOND),
        "second" => |t| every(t, SECOND),
        _ => return None,
    })
}

/// Where pieces begin, besides constants.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Pieces {
    /// Nowhere: there is one.
    Whole,
    /// With each month.
    Months,
    /// At every multiple of so many microseconds.
    Every(i64),
}

impl Pieces {
    /// Those that are within one piece of both.
    fn and(self, other: Self) -> Self {
        match (self, other) {
            (Self::Whole, other) | (other, Self::Whole) => other,
            (Self::Months, Self::Months) => Self::Months,
            (Self::Months, Self::Every(step)) | (Self::Every(step), Self::Months) => {
                Self::Every(divisor(step, DAY))
            }
            (Self::Every(a), Self::Every(b)) => Self::Every(divisor(a, b)),
        }
    }
}

/// The greatest common divisor.
fn divisor(mut a: i64, mut b: i64) -> i64 {
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a.max(1)
}

/// The pieces on which an expression of one date or time has one value.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Cuts {
    pub(crate) pieces: Pieces,
    /// Further moments at which pieces begin.
    pub(crate) points: Vec<i64>,
}

impl Cuts {
    fn of(pieces: Pieces) -> Self {
        Self { pieces, points: Vec::new() }
    }

    /// The pieces on which both have one value.
    pub(crate) fn and(mut self, other: &Self) -> Self {
        self.pieces = self.pieces.and(other.pieces);
        self.points.extend(&other.points);
        self
    }

    /// The first moment of each piece from `low` to `high`, on ticks of the type; `None` if there are more than `most`.
    pub(crate) fn starts(
        &self,
        (low, high): (i64, i64),
        tick: i64,
        most: usize,
    ) -> Option<Vec<i64>> {
        let mut starts = vec![low];
        let mut add = |start: i64| {
            starts.push(start);
            (starts.len() <= most).then_some(())
        };
        match self.pieces {
            Pieces::Whole => {}
            Pieces::Months => {
                let (mut year, mut month, _) = civil(low.div_euclid(DAY));
                loop {
                    (year, month) = if month == 12 { (year + 1, 1) } else { (year, month + 1) };
                    match days(year, month, 1).and_then(|day| day.checked_mul(DAY)) {
                        Some(start) if start <= high => add(start)?,
                        _ => break,
                    }
                }
            }
            Pieces::Every(step) => {
                let mut at = low.div_euclid(step).checked_mul(step);
                while let Some(start) =
                    at.and_then(|at| at.checked_add(step)).filter(|t| *t <= high)
                {
                    add(start)?;
                    at = Some(start);
                }
            }
        }
        for point in &self.points {
            // The first tick from there on.
            let point = point.checked_add(tick - 1).map(|t| t.div_euclid(tick) * tick);
            if let Some(point) = point.filter(|point| (low..=high).contains(point)) {
                add(point)?;
            }
        }
        starts.sort_unstable();
        starts.dedup();
        Some(starts)
    }
}

/// A date or time that an expression depends on.
pub(crate) struct Line<'a> {
    pub(crate) column: &'a Column,
    pub(crate) kind: &'a DataType,
    /// The value of an expression without columns.
    pub(crate) constant: &'a dyn Fn(&Expr) -> Option<ScalarValue>,
}

impl Line<'_> {
    /// The pieces on which an expression of this column alone has one value; `None` if it may have any number of them.
    pub(crate) fn cuts(&self, expr: &Expr) -> Option<Cuts> {
        let found = self.found(expr);
        match is_date(self.kind) {
            // A date has one value on each day, whatever is computed of it.
            true => Some(found.unwrap_or(Cuts::of(Pieces::Every(DAY)))),
            false => found,
        }
    }

    fn found(&self, expr: &Expr) -> Option<Cuts> {
        if expr.column_refs().is_empty() {
            return Some(Cuts::of(Pieces::Whole));
        }
        if let Some(kind) = self.moment(expr) {
            return is_date(&kind).then_some(Cuts::of(Pieces::Every(DAY)));
        }
        let is_moment = |expr: &Expr| self.moment(expr).is_some();
        match expr {
            Expr::IsNull(inner) | Expr::IsNotNull(inner) if is_moment(inner) => {
                Some(Cuts::of(Pieces::Whole))
            }
            Expr::BinaryExpr(BinaryExpr { left, op, right }) if compares(*op) => {
                match (is_moment(left), is_moment(right)) {
                    (true, false) => self.compared(&[right]),
                    (false, true) => self.compared(&[left]),
                    _ => self.parts(expr),
                }
            }
            Expr::Between(of) if is_moment(&of.expr) => self.compared(&[&of.low, &of.high]),
            Expr::InList(of) if is_moment(&of.expr) => {
                self.compared(&of.list.iter().collect::<Vec<_>>())
            }
            Expr::ScalarFunction(call) => match self.called(call) {
                Some(pieces) => Some(Cuts::of(pieces)),
                None => self.parts(expr),
            },
            _ => self.parts(expr),
        }
    }

    /// The pieces on which every part of an expression has one value.
    fn parts(&self, expr: &Expr) -> Option<Cuts> {
        let mut all = Some(Cuts::of(Pieces::Whole));
        // The closure never fails, so neither does the walk.
        let _ = expr.apply_children(|part| {
            all = all.take().and_then(|all| Some(all.and(&self.found(part)?)));
            Ok(TreeNodeRecursion::Continue)
        });
        all
    }

    /// Those of a comparison with constants: one ends before a constant, and one after it.
    fn compared(&self, with: &[&Expr]) -> Option<Cuts> {
        let mut points = Vec::new();
        for constant in with {
            let at = microseconds(&(self.constant)(constant)?)?;
            points.extend([at, at.checked_add(1)?]);
        }
        Some(Cuts { pieces: Pieces::Whole, points })
    }

    /// The type of an expression that is the date or time itself, perhaps as another type.
    pub(crate) fn moment(&self, expr: &Expr) -> Option<DataType> {
        let to = match expr {
            Expr::Alias(alias) => return self.moment(&alias.expr),
            Expr::Column(column) => return (column == self.column).then(|| self.kind.clone()),
            Expr::Cast(cast) => self.moment(&cast.expr).map(|_| cast.field.data_type().clone()),
            Expr::TryCast(cast) => self.moment(&cast.expr).map(|_| cast.field.data_type().clone()),
            Expr::ScalarFunction(call) => {
                let to = crate::rows::total::Total::converts_to(call)?;
                self.moment(call.args.first()?).map(|_| to.clone())
            }
            _ => None,
        };
        to.filter(is_moment)
    }

    /// The pieces of a function of the date or time itself.
    fn called(&self, call: &ScalarFunction) -> Option<Pieces> {
        let name = call.name();
        let name = name.strip_prefix("total_").unwrap_or(name);
        let (time, constant) = match name {
            "to_char" => (0, 1),
            _ => (1, 0),
        };
        self.moment(call.args.get(time)?)?;
        let constant = call.args.get(constant)?.as_literal()?;
        let text = || Some(constant.try_as_str()??.to_ascii_lowercase());
        match name {
            "to_char" => finest(constant.try_as_str()??),
            "date_trunc" | "date_part" => Some(match text()?.as_str() {
                "year" | "quarter" | "month" => Pieces::Months,
                "week" | "day" | "doy" | "dow" | "isodow" | "isoyear" => Pieces::Every(DAY),
                "hour" => Pieces::Every(3_600 * SECOND),
                "minute" => Pieces::Every(60 * SECOND),
                "second" if name == "date_trunc" => Pieces::Every(SECOND),
                _ => return None,
            }),
            "date_bin" => {
                let origin = match call.args.get(2) {
                    Some(origin) => microseconds(&(self.constant)(origin)?)?,
                    None => 0,
                };
                bins(constant, origin)
            }
            _ => None,
        }
    }
}

fn compares(op: Operator) -> bool {
    use Operator as O;
    matches!(op, O::Eq | O::NotEq | O::Lt | O::LtEq | O::Gt | O::GtEq)
        || matches!(op, O::IsDistinctFrom | O::IsNotDistinctFrom)
}

/// The pieces of `date_bin`: those of its stride, from an origin.
fn bins(stride: &ScalarValue, origin: i64) -> Option<Pieces> {
    let ScalarValue::IntervalMonthDayNano(Some(stride)) = stride else { return None };
    let (months, days, nanos) = (stride.months, i64::from(stride.days), stride.nanoseconds);
    if months > 0 && days == 0 && nanos == 0 {
        let (_, _, day) = civil(origin.div_euclid(DAY));
        return (day == 1 && origin.rem_euclid(DAY) == 0).then_some(Pieces::Months);
    }
    let step = days.checked_mul(DAY)?.checked_add(nanos / 1_000)?;
    let whole = months == 0 && nanos % 1_000 == 0 && step > 0;
    whole.then(|| Pieces::Every(divisor(step, origin.rem_euclid(step))))
}

/// The pieces on which `to_char` with this format has one value.
fn finest(format: &str) -> Option<Pieces> {
    to_char::fields(format).into_iter().try_fold(Pieces::Whole, |all, field| {
        let pieces = match field.to_ascii_uppercase().replace('.', "").as_str() {
            "Y,YYY" | "YYYY" | "YYY" | "YY" | "Y" | "MONTH" | "MON" | "MM" | "RM" | "Q" | "CC"
            | "BC" | "AD" => Pieces::Months,
            "HH24" | "HH12" | "HH" | "AM" | "PM" => Pieces::Every(3_600 * SECOND),
            "MI" => Pieces::Every(60 * SECOND),
            "SS" | "SSSS" => Pieces::Every(SECOND),
            "MS" | "US" => return None,
            _ => Pieces::Every(DAY),
        };
        Some(all.and(pieces))
    })
}

#[cfg(test)]
mod tests;
