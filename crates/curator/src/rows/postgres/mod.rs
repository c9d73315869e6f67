//! Functions with PostgreSQL's meaning that the engine lacks, or gives another meaning.
//!
//! | file | functions |
//! |---|---|
//! | `time.rs` | `age`, `isfinite`, `make_date`, `to_timestamp` of a number |
//! | `format.rs` | `to_date`, `to_timestamp` of a text in a format |
//! | `number.rs` | `width_bucket` |
//! | `text.rs` | `lpad`, `rpad`, `overlay`, `regexp_replace`, `substring_match` (`substring(x FROM 'pattern')`) |
//!
//! Each value is computed from its row alone. Where PostgreSQL would fail, there is a *fault*: over people's rows it
//! gives NULL, and on constants, public rows and released values it is an error.

pub(crate) mod format;
mod number;
pub(crate) mod text;
mod time;

use datafusion::arrow::array::{Array, ArrayRef};
use datafusion::arrow::datatypes::{DataType, IntervalUnit, TimeUnit};
use datafusion::common::{Result, ScalarValue, exec_err, plan_err};
use datafusion::logical_expr::{
    ColumnarValue, ScalarFunctionArgs, ScalarUDF, ScalarUDFImpl, Signature, Volatility,
};
use std::sync::Arc;

/// A value, NULL, or why there is none.
type Value<T> = std::result::Result<Option<T>, &'static str>;

/// The functions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Name {
    Age,
    IsFinite,
    Lpad,
    MakeDate,
    Overlay,
    RegexpReplace,
    Rpad,
    SubstringMatch,
    ToDate,
    ToTimestamp,
    WidthBucket,
}

const ALL: [Name; 11] = [
    Name::Age,
    Name::IsFinite,
    Name::Lpad,
    Name::MakeDate,
    Name::Overlay,
    Name::RegexpReplace,
    Name::Rpad,
    Name::SubstringMatch,
    Name::ToDate,
    Name::ToTimestamp,
    Name::WidthBucket,
];

#[derive(Debug, PartialEq, Eq, Hash)]
struct Postgres {
    name: Name,
    /// Whether a fault gives NULL instead of an error.
    lenient: bool,
    signature: Signature,
}

/// All functions, as the planner knows them.
pub(crate) fn functions() -> impl Iterator<Item = ScalarUDF> {
    ALL.into_iter().map(|name| udf(name, false))
}

fn udf(name: Name, lenient: bool) -> ScalarUDF {
    let signature = Signature::user_defined(Volatility::Immutable);
    ScalarUDF::from(Postgres { name, lenient, signature })
}

/// The form of one of these functions that gives NULL where it would fail; `None` if it is another function.
pub(crate) fn lenient(function: &ScalarUDF) -> Option<Arc<ScalarUDF>> {
    let ours = function.inner().downcast_ref::<Postgres>()?;
    Some(Arc::new(udf(ours.name, true)))
}

/// Whether it is one of these functions.
pub(crate) fn is_ours(function: &ScalarUDF) -> bool {
    function.inner().downcast_ref::<Postgres>().is_some()
}

const MICROS: DataType = DataType::Timestamp(TimeUnit::Microsecond, None);

/// Faults of a column: the first is reported.
#[derive(Default)]
struct Faults(Option<&'static str>);

impl Faults {
    /// The value, or NULL if there is a fault.
    fn keep<T>(&mut self, value: Value<T>) -> Option<T> {
        value.unwrap_or_else(|fault| {
            self.0.get_or_insert(fault);
            None
        })
    }
}

impl Postgres {
    fn called(&self) -> &'static str {
        match self.name {
            Name::Age => "age",
            Name::IsFinite => "isfinite",
            Name::Lpad => "lpad",
            Name::MakeDate => "make_date",
            Name::Overlay => "overlay",
            Name::RegexpReplace => "regexp_replace",
            Name::Rpad => "rpad",
            Name::SubstringMatch => "substring_match",
            Name::ToDate => "to_date",
            Name::ToTimestamp => "to_timestamp",
            Name::WidthBucket => "width_bucket",
        }
    }

    /// How it is written.
    fn usage(&self) -> &'static str {
        match self.name {
            Name::Age => "age(time, earlier_time)",
            Name::IsFinite => "isfinite(date)",
            Name::Lpad => "lpad(text, 10, '0')",
            Name::MakeDate => "make_date(year, month, day)",
            Name::Overlay => "overlay(text PLACING 'new' FROM 2 FOR 3)",
            Name::RegexpReplace => "regexp_replace(text, 'pattern', 'new', 'g')",
            Name::Rpad => "rpad(text, 10, '0')",
            Name::SubstringMatch => "substring(text FROM 'pattern')",
            Name::ToDate => "to_date(text, 'YYYY-MM-DD')",
            Name::ToTimestamp => {
                "to_timestamp(seconds) or to_timestamp(text, 'YYYY-MM-DD HH24:MI:SS')"
            }
            Name::WidthBucket => "width_bucket(x, low, high, buckets)",
        }
    }
}

fn is_text(kind: &DataType) -> bool {
    kind.is_null() || crate::rows::expression::text(kind)
}

fn is_time(kind: &DataType) -> bool {
    matches!(kind, DataType::Date32 | DataType::Timestamp(..))
}

impl ScalarUDFImpl for Postgres {
    fn name(&self) -> &str {
        self.called()
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn coerce_types(&self, given: &[DataType]) -> Result<Vec<DataType>> {
        use DataType as T;
        let whole = |kind: &T| kind.is_integer() || kind.is_null();
        let number = |kind: &T| kind.is_numeric() || kind.is_null();
        let moment = |kind: &T| match kind {
            time if is_time(time) => Some(time.clone()),
            T::Date64 => Some(T::Date32),
            text if is_text(text) => Some(MICROS),
            _ => None,
        };
        let types = match (self.name, given) {
            (Name::Age, [a, b]) => moment(a).zip(moment(b)).map(|(a, b)| vec![a, b]),
            (Name::IsFinite, [x @ T::Interval(_)]) => Some(vec![x.clone()]),
            (Name::IsFinite, [x]) => moment(x).map(|x| vec![x]),
            (Name::MakeDate, [y, m, d]) if whole(y) && whole(m) && whole(d) => {
                Some(vec![T::Int64; 3])
            }
            (Name::ToDate, [a, b]) if is_text(a) && is_text(b) => Some(vec![T::Utf8; 2]),
            (Name::ToTimestamp, [a, b]) if is_text(a) && is_text(b) => Some(vec![T::Utf8; 2]),
            (Name::ToTimestamp, [x]) if number(x) => Some(vec![T::Float64]),
            (Name::WidthBucket, [x, a, b, n]) if [x, a, b].into_iter().all(&whole) && whole(n) => {
                Some(vec![T::Int64; 4])
            }
            (Name::WidthBucket, [x, a, b, n]) if [x, a, b].into_iter().all(number) && whole(n) => {
                Some(vec![T::Float64, T::Float64, T::Float64, T::Int64])
            }
            (Name::Lpad | Name::Rpad, [t, n]) if is_text(t) && whole(n) => {
                Some(vec![T::Utf8, T::Int64])
            }
            (Name::Lpad | Name::Rpad, [t, n, f]) if is_text(t) && whole(n) && is_text(f) => {
                Some(vec![T::Utf8, T::Int64, T::Utf8])
            }
            (Name::Overlay, [t, r, from]) if is_text(t) && is_text(r) && whole(from) => {
                Some(vec![T::Utf8, T::Utf8, T::Int64])
            }
            (Name::Overlay, [t, r, from, count])
                if is_text(t) && is_text(r) && whole(from) && whole(count) =>
            {
                Some(vec![T::Utf8, T::Utf8, T::Int64, T::Int64])
            }
            (Name::RegexpReplace, [_, _, _] | [_, _, _, _]) if given.iter().all(is_text) => {
                Some(vec![T::Utf8; given.len()])
            }
            (Name::SubstringMatch, [a, b]) if is_text(a) && is_text(b) => Some(vec![T::Utf8; 2]),
            _ => None,
        };
        match types {
            Some(types) => Ok(types),
            None => plan_err!("{}() is written {}", self.called(), self.usage()),
        }
    }

    fn return_type(&self, _: &[DataType]) -> Result<DataType> {
        Ok(match self.name {
            Name::Age => DataType::Interval(IntervalUnit::MonthDayNano),
            Name::IsFinite => DataType::Boolean,
            Name::MakeDate | Name::ToDate => DataType::Date32,
            Name::ToTimestamp => MICROS,
            Name::WidthBucket => DataType::Int32,
            _ => DataType::Utf8,
        })
    }

    fn invoke_with_args(&self, arguments: ScalarFunctionArgs) -> Result<ColumnarValue> {
        let args = arguments.args;
        let constant = args.iter().all(|arg| matches!(arg, ColumnarValue::Scalar(_)));
        let rows = if constant { 1 } else { arguments.number_rows };
        let arrays: Result<Vec<ArrayRef>> = args.iter().map(|arg| arg.to_array(rows)).collect();
        let arrays = arrays?;
        let mut faults = Faults::default();
        let values: ArrayRef = match (self.name, &arrays[..]) {
            (Name::Age, [a, b]) => time::ages(a, b, &mut faults)?,
            (Name::IsFinite, [x]) => time::finite(x),
            (Name::MakeDate, [y, m, d]) => time::made(y, m, d, &mut faults),
            (Name::ToTimestamp, [x]) => time::since_1970(x, &mut faults),
            (Name::ToDate, [x, f]) => format::dates(x, f, &mut faults)?,
            (Name::ToTimestamp, [x, f]) => format::times(x, f, &mut faults)?,
            (Name::WidthBucket, [x, a, b, n]) => number::buckets(x, a, b, n, &mut faults),
            (Name::Lpad, [t, n, rest @ ..]) => text::padded(t, n, rest, true, &mut faults)?,
            (Name::Rpad, [t, n, rest @ ..]) => text::padded(t, n, rest, false, &mut faults)?,
            (Name::Overlay, [t, r, from, rest @ ..]) => {
                text::overlaid(t, r, from, rest, &mut faults)?
            }
            (Name::RegexpReplace | Name::SubstringMatch, [t, rest @ ..]) => {
                text::edited(self.called(), t, rest, &mut faults)?
            }
            _ => return exec_err!("{}() is written {}", self.called(), self.usage()),
        };
        if let (Some(fault), false) = (faults.0, self.lenient) {
            return exec_err!("{}(): {fault}", self.called());
        }
        match constant {
            true => Ok(ColumnarValue::Scalar(ScalarValue::try_from_array(&values, 0)?)),
            false => Ok(ColumnarValue::Array(values)),
        }
    }
}

/// Whether all of these have a value in a row.
fn present(arrays: &[&ArrayRef], row: usize) -> bool {
    arrays.iter().all(|array| array.is_valid(row))
}

#[cfg(test)]
mod tests;
