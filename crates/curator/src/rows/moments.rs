//! Arithmetic on dates, times and intervals, with PostgreSQL's meaning.
//!
//! | written | is |
//! |---|---|
//! | `date - date` | a number of days |
//! | `date + integer`, `date - integer` | a date |
//! | `timestamp - timestamp` | an interval of days and a part of a day |
//! | `interval * number`, `interval / number` | an interval; a part of a month is so many days of 30, a part of a day is time |
//! | a comparison of intervals | one of their lengths, where a month has 30 days and a day has 24 hours |
//! | `extract(part FROM interval)` | that field of the interval; `epoch` is its length in seconds |
//!
//! Each is total: NULL where a result does not fit. They are named `total_…`, so no query can call them by name, and
//! [`crate::rows::admit`] passes them as they are. [`crate::rows::meaning`] writes them into a plan.

use datafusion::arrow::array::temporal_conversions::date32_to_datetime;
use datafusion::arrow::array::{
    Array, ArrayRef, AsArray, Date32Array, Decimal128Array, Float64Array, Int64Array,
    IntervalMonthDayNanoArray,
};
use datafusion::arrow::compute::{CastOptions, cast_with_options};
use datafusion::arrow::datatypes::{
    DataType, Date32Type, Decimal128Type, DurationMicrosecondType, DurationMillisecondType,
    DurationNanosecondType, DurationSecondType, Float64Type, Int64Type, IntervalDayTimeType,
    IntervalMonthDayNano, IntervalMonthDayNanoType, IntervalUnit, IntervalYearMonthType, TimeUnit,
};
use datafusion::arrow::util::display::FormatOptions;
use datafusion::common::{Result, exec_err, plan_err};
use datafusion::logical_expr::expr::ScalarFunction;
use datafusion::logical_expr::{
    ColumnarValue, Expr, ScalarFunctionArgs, ScalarUDF, ScalarUDFImpl, Signature, Volatility, lit,
};
use std::sync::Arc;

const SECOND: i128 = 1_000_000_000;
const DAY: i128 = 86_400 * SECOND;

/// The type of an interval's length: nanoseconds.
const LENGTH: DataType = DataType::Decimal128(38, 0);
const INTERVAL: DataType = DataType::Interval(IntervalUnit::MonthDayNano);

/// An operation on dates, times and intervals.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Moment {
    /// `date - date`, in days.
    Days,
    /// `date + days`.
    Later,
    /// `date - days`.
    Earlier,
    /// `timestamp - timestamp`, as an interval.
    Since,
    /// `interval * number`.
    Times,
    /// `interval / number`.
    Over,
    /// The length of an interval, in nanoseconds.
    Length,
    /// The interval of a length: days and a part of a day.
    OfLength,
    /// A date as days since 1970, a time as seconds: to be ranked.
    Number,
    /// A field of an interval.
    Field(Field),
}

/// A field of an interval.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Field {
    Year,
    Quarter,
    Month,
    Day,
    Hour,
    Minute,
    Second,
    Millisecond,
    Microsecond,
    Epoch,
}

impl Field {
    /// The field that `extract` and `date_part` call so.
    pub(crate) fn named(name: &str) -> Result<Self> {
        let lower = name.trim_matches(['\'', '"']).to_ascii_lowercase();
        Ok(match lower.as_str() {
            "year" | "years" => Self::Year,
            "quarter" => Self::Quarter,
            "month" | "months" => Self::Month,
            "day" | "days" => Self::Day,
            "hour" | "hours" => Self::Hour,
            "minute" | "minutes" => Self::Minute,
            "second" | "seconds" => Self::Second,
            "millisecond" | "milliseconds" => Self::Millisecond,
            "microsecond" | "microseconds" => Self::Microsecond,
            "epoch" => Self::Epoch,
            _ => {
                return plan_err!(
                    "an interval has no {name}; there is: year, quarter, month, day, hour, minute, \
                     second, millisecond, microsecond, epoch"
                );
            }
        })
    }

    fn is_real(self) -> bool {
        matches!(self, Self::Second | Self::Millisecond | Self::Microsecond | Self::Epoch)
    }
}

/// Whether values of the type are intervals.
pub(crate) fn is_interval(data_type: &DataType) -> bool {
    matches!(data_type, DataType::Interval(_) | DataType::Duration(_))
}

impl Moment {
    /// The operation on these arguments.
    pub(crate) fn of(self, arguments: Vec<Expr>) -> Expr {
        let signature = Signature::user_defined(Volatility::Immutable);
        Arc::new(ScalarUDF::from(Function { moment: self, signature })).call(arguments)
    }

    /// A call as the query wrote it; one of another function as it is.
    pub(crate) fn as_written(mut call: ScalarFunction) -> Expr {
        let Some(function) = call.func.inner().downcast_ref::<Function>() else {
            return Expr::ScalarFunction(call);
        };
        let moment = function.moment;
        match (moment, call.args.pop(), call.args.pop()) {
            (Self::Days | Self::Since | Self::Earlier, Some(right), Some(left)) => left - right,
            (Self::Later, Some(right), Some(left)) => left + right,
            (Self::Times, Some(right), Some(left)) => left * right,
            (Self::Over, Some(right), Some(left)) => left / right,
            (Self::Field(field), Some(interval), None) => {
                datafusion::functions::datetime::expr_fn::date_part(
                    lit(format!("{field:?}").to_lowercase()),
                    interval,
                )
            }
            (_, Some(inner), _) => inner,
            (_, None, _) => Expr::ScalarFunction(call),
        }
    }

    fn name(self) -> &'static str {
        match self {
            Self::Days => "total_days",
            Self::Later => "total_later",
            Self::Earlier => "total_earlier",
            Self::Since => "total_since",
            Self::Times => "total_interval_times",
            Self::Over => "total_interval_over",
            Self::Length => "total_interval_length",
            Self::OfLength => "total_interval_of_length",
            Self::Number => "total_moment_number",
            Self::Field(_) => "total_interval_field",
        }
    }

    fn returns(self) -> DataType {
        match self {
            Self::Days => DataType::Int64,
            Self::Later | Self::Earlier => DataType::Date32,
            Self::Since | Self::Times | Self::Over | Self::OfLength => INTERVAL,
            Self::Length => LENGTH,
            Self::Number => DataType::Float64,
            Self::Field(field) if field.is_real() => DataType::Float64,
            Self::Field(_) => DataType::Int64,
        }
    }

    fn values(self, arrays: &[ArrayRef]) -> Result<ArrayRef> {
        let (first, second) = match arrays {
            [first] => (first, first),
            [first, second] => (first, second),
            _ => return exec_err!("one or two arguments"),
        };
        Ok(match self {
            Self::Days => {
                let (from, to) = (dates(second)?, dates(first)?);
                let pairs = to.iter().zip(from.iter());
                let days = pairs.map(|(to, from)| Some(i64::from(to?) - i64::from(from?)));
                Arc::new(days.collect::<Int64Array>())
            }
            Self::Later | Self::Earlier => {
                let (from, days) = (dates(first)?, converted(second, &DataType::Int64)?);
                let pairs = from.iter().zip(days.as_primitive::<Int64Type>().iter());
                let moved = pairs.map(|(from, days)| {
                    let (from, days) = (i64::from(from?), days?);
                    let day = match self {
                        Self::Later => from.checked_add(days),
                        _ => from.checked_sub(days),
                    };
                    // A day that no calendar has is no date.
                    i32::try_from(day?).ok().filter(|day| date32_to_datetime(*day).is_some())
                });
                Arc::new(moved.collect::<Date32Array>())
            }
            Self::Since => {
                let pairs = instants(first)?.into_iter().zip(instants(second)?);
                let since = pairs.map(|(to, from)| interval(to? - from?));
                Arc::new(since.collect::<IntervalMonthDayNanoArray>())
            }
            Self::Times | Self::Over => {
                let by = converted(second, &DataType::Float64)?;
                let pairs = spans(first)?.into_iter().zip(by.as_primitive::<Float64Type>().iter());
                let scaled = pairs.map(|(span, by)| match self {
                    Self::Times => span?.times(by?),
                    _ => span?.times(1.0 / by?),
                });
                Arc::new(scaled.collect::<IntervalMonthDayNanoArray>())
            }
            Self::Length => {
                let lengths = spans(first)?.into_iter().map(|span| Some(span?.length()));
                let lengths: Decimal128Array = lengths.collect();
                Arc::new(lengths.with_precision_and_scale(38, 0)?)
            }
            Self::OfLength => {
                let lengths = converted(first, &LENGTH)?;
                let lengths = lengths.as_primitive::<Decimal128Type>().iter();
                Arc::new(lengths.map(|of| interval(of?)).collect::<IntervalMonthDayNanoArray>())
            }
            Self::Number if matches!(first.data_type(), DataType::Timestamp(..)) => {
                let seconds = |instant: Option<i128>| Some(instant? as f64 / SECOND as f64);
                Arc::new(instants(first)?.into_iter().map(seconds).collect::<Float64Array>())
            }
            Self::Number => {
                let days = dates(first)?;
                Arc::new(days.iter().map(|day| Some(f64::from(day?))).collect::<Float64Array>())
            }
            Self::Field(field) if field.is_real() => {
                let parts = spans(first)?.into_iter().map(|span| Some(span?.real(field)));
                Arc::new(parts.collect::<Float64Array>())
            }
            Self::Field(field) => {
                let parts = spans(first)?.into_iter().map(|span| span?.whole(field));
                Arc::new(parts.collect::<Int64Array>())
            }
        })
    }
}

/// Days and a part of a day; `None` if there are too many days.
fn interval(nanoseconds: i128) -> Option<IntervalMonthDayNano> {
    let days = i32::try_from(nanoseconds / DAY).ok()?;
    let rest = i64::try_from(nanoseconds % DAY).ok()?;
    Some(IntervalMonthDayNano::new(0, days, rest))
}

fn converted(array: &ArrayRef, to: &DataType) -> Result<ArrayRef> {
    const SAFE: CastOptions<'static> =
        CastOptions { safe: true, format_options: FormatOptions::new() };
    Ok(cast_with_options(array, to, &SAFE)?)
}

fn dates(array: &ArrayRef) -> Result<Date32Array> {
    Ok(converted(array, &DataType::Date32)?.as_primitive::<Date32Type>().clone())
}

/// Nanoseconds since 1970.
fn instants(array: &ArrayRef) -> Result<Vec<Option<i128>>> {
    let unit = match array.data_type() {
        DataType::Date32 => DAY,
        DataType::Date64 => SECOND / 1_000,
        DataType::Timestamp(unit, _) => nanoseconds(*unit),
        other => return exec_err!("{other} is no moment"),
    };
    let counts = converted(array, &DataType::Int64)?;
    let counts = counts.as_primitive::<Int64Type>().iter();
    Ok(counts.map(|count| Some(i128::from(count?) * unit)).collect())
}

fn nanoseconds(unit: TimeUnit) -> i128 {
    match unit {
        TimeUnit::Second => SECOND,
        TimeUnit::Millisecond => SECOND / 1_000,
        TimeUnit::Microsecond => SECOND / 1_000_000,
        TimeUnit::Nanosecond => 1,
    }
}

/// An interval's fields.
#[derive(Clone, Copy)]
struct Span {
    months: i128,
    days: i128,
    nanoseconds: i128,
}

impl Span {
    fn length(self) -> i128 {
        (30 * self.months + self.days) * DAY + self.nanoseconds
    }

    /// The interval that is so many times as long, field by field, as in PostgreSQL.
    fn times(self, by: f64) -> Option<IntervalMonthDayNano> {
        let fits = |x: f64| (x.abs() < 2_147_483_648.0).then_some(x as i32);
        let (months, days) = (self.months as f64 * by, self.days as f64 * by);
        // Rounded to what a microsecond is of a day.
        let more_days = ((months - months.trunc()) * 30.0 * 1e12).round() / 1e12;
        let part_of_day = days - days.trunc() + more_days - more_days.trunc();
        let nanoseconds = self.nanoseconds as f64 * by + part_of_day * DAY as f64;
        let microseconds = (nanoseconds / 1e3).round();
        let within = microseconds.abs() < 9e15;
        let nanoseconds = within.then_some(microseconds as i64 * 1_000)?;
        let days = days.trunc() + more_days.trunc();
        Some(IntervalMonthDayNano::new(fits(months)?, fits(days)?, nanoseconds))
    }

    fn whole(self, field: Field) -> Option<i64> {
        let part = match field {
            Field::Year => self.months / 12,
            Field::Quarter => self.months % 12 / 3 + 1,
            Field::Month => self.months % 12,
            Field::Day => self.days,
            Field::Hour => self.nanoseconds / (3_600 * SECOND),
            _ => self.nanoseconds / (60 * SECOND) % 60,
        };
        i64::try_from(part).ok()
    }

    fn real(self, field: Field) -> f64 {
        let second = (self.nanoseconds % (60 * SECOND)) as f64;
        match field {
            Field::Second => second / 1e9,
            Field::Millisecond => second / 1e6,
            Field::Microsecond => second / 1e3,
            // A year has 365.25 days here, as in PostgreSQL.
            _ => {
                let years = self.months / 12 * 1_461 * DAY / 4;
                let rest = (30 * (self.months % 12) + self.days) * DAY + self.nanoseconds;
                (years + rest) as f64 / 1e9
            }
        }
    }
}

fn spans(array: &ArrayRef) -> Result<Vec<Option<Span>>> {
    let span = |months: i128, days: i128, nanoseconds: i128| Span { months, days, nanoseconds };
    macro_rules! each {
        ($kind:ty, $span:expr) => {
            array.as_primitive::<$kind>().iter().map(|value| value.map($span)).collect()
        };
    }
    Ok(match array.data_type() {
        DataType::Interval(IntervalUnit::MonthDayNano) => {
            each!(IntervalMonthDayNanoType, |value| span(
                value.months.into(),
                value.days.into(),
                value.nanoseconds.into()
            ))
        }
        DataType::Interval(IntervalUnit::YearMonth) => {
            each!(IntervalYearMonthType, |months| span(months.into(), 0, 0))
        }
        DataType::Interval(IntervalUnit::DayTime) => each!(IntervalDayTimeType, |value| span(
            0,
            value.days.into(),
            i128::from(value.milliseconds) * 1_000_000
        )),
        DataType::Duration(TimeUnit::Second) => {
            each!(DurationSecondType, |n| span(0, 0, i128::from(n) * SECOND))
        }
        DataType::Duration(TimeUnit::Millisecond) => {
            each!(DurationMillisecondType, |n| span(0, 0, i128::from(n) * 1_000_000))
        }
        DataType::Duration(TimeUnit::Microsecond) => {
            each!(DurationMicrosecondType, |n| span(0, 0, i128::from(n) * 1_000))
        }
        DataType::Duration(TimeUnit::Nanosecond) => {
            each!(DurationNanosecondType, |n| span(0, 0, n.into()))
        }
        DataType::Null => vec![None; array.len()],
        other => return exec_err!("{other} is no interval"),
    })
}

#[derive(Debug, PartialEq, Eq, Hash)]
struct Function {
    moment: Moment,
    signature: Signature,
}

impl ScalarUDFImpl for Function {
    fn name(&self) -> &str {
        self.moment.name()
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    /// As the query wrote it.
    fn schema_name(&self, arguments: &[Expr]) -> Result<String> {
        let names: Vec<String> = arguments.iter().map(|a| a.schema_name().to_string()).collect();
        Ok(match self.moment {
            Moment::Days | Moment::Since | Moment::Earlier => names.join(" - "),
            Moment::Later => names.join(" + "),
            Moment::Times => names.join(" * "),
            Moment::Over => names.join(" / "),
            Moment::Field(field) => format!("extract({field:?} FROM {})", names.join(", ")),
            Moment::Length | Moment::OfLength | Moment::Number => {
                format!("{}({})", self.name(), names.join(", "))
            }
        })
    }

    fn coerce_types(&self, arguments: &[DataType]) -> Result<Vec<DataType>> {
        Ok(arguments.to_vec()) // the plan is rewritten by types
    }

    fn return_type(&self, _: &[DataType]) -> Result<DataType> {
        Ok(self.moment.returns())
    }

    fn invoke_with_args(&self, arguments: ScalarFunctionArgs) -> Result<ColumnarValue> {
        let rows = arguments.number_rows;
        let arrays = arguments.args.into_iter().map(|value| value.into_array(rows));
        let arrays: Vec<ArrayRef> = arrays.collect::<Result<_>>()?;
        Ok(ColumnarValue::Array(self.moment.values(&arrays)?))
    }
}

#[cfg(test)]
mod tests;
