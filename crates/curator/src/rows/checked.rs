//! Arithmetic on integers, decimals, and times with intervals, row by row: NULL where a result does not exist or does not
//! fit.
//!
//! The engine's kernels fail for a whole batch if one row overflows. Finding that row by bisection takes about a
//! thousand times as long as the operation, so the running time would reveal rows that overflow. Here a row takes the
//! same time whether or not it overflows, except for a branch.
//!
//! Result types are those of the kernels, which are called with no rows to find out.

use datafusion::arrow::array::timezone::Tz;
use datafusion::arrow::array::{Array, ArrayRef, AsArray, PrimitiveArray, new_empty_array};
use datafusion::arrow::compute::kernels::numeric;
use datafusion::arrow::datatypes::{
    ArrowPrimitiveType, DataType, Date32Type, Decimal32Type, Decimal64Type, Decimal128Type,
    Decimal256Type, DecimalType, Int8Type, Int16Type, Int32Type, Int64Type, IntervalMonthDayNano,
    IntervalMonthDayNanoType, IntervalUnit, TimeUnit, TimestampMicrosecondType,
    TimestampMillisecondType, TimestampNanosecondType, TimestampSecondType, UInt8Type, UInt16Type,
    UInt32Type, UInt64Type, i256,
};
use datafusion::arrow::error::ArrowError;
use datafusion::common::Result;
use datafusion::logical_expr::Operator;
use std::sync::Arc;

/// Operations that return `None` if the result does not fit.
trait Checked: Copy {
    fn plus(self, other: Self) -> Option<Self>;
    fn minus(self, other: Self) -> Option<Self>;
    fn times(self, other: Self) -> Option<Self>;
    fn over(self, other: Self) -> Option<Self>;
    fn modulo(self, other: Self) -> Option<Self>;
    /// 10 to this power.
    fn ten_to(exponent: u32) -> Option<Self>;
}

macro_rules! checked {
    ($($number:ty: $ten:expr),*) => {$(
        impl Checked for $number {
            fn plus(self, other: Self) -> Option<Self> {
                self.checked_add(other)
            }
            fn minus(self, other: Self) -> Option<Self> {
                self.checked_sub(other)
            }
            fn times(self, other: Self) -> Option<Self> {
                self.checked_mul(other)
            }
            fn over(self, other: Self) -> Option<Self> {
                self.checked_div(other)
            }
            fn modulo(self, other: Self) -> Option<Self> {
                self.checked_rem(other)
            }
            fn ten_to(exponent: u32) -> Option<Self> {
                $ten.checked_pow(exponent)
            }
        }
    )*};
}

checked!(i8: 10i8, i16: 10i16, i32: 10i32, i64: 10i64, i128: 10i128, i256: i256::from_i128(10));
checked!(u8: 10u8, u16: 10u16, u32: 10u32, u64: 10u64);

/// Whether `left op right` is a time moved by an interval, which [`arithmetic`] computes.
pub(crate) fn moves(op: Operator, left: &DataType, right: &DataType) -> bool {
    let moved = |kind: &DataType| matches!(kind, DataType::Date32 | DataType::Timestamp(_, None));
    let by = |kind: &DataType| *kind == DataType::Interval(IntervalUnit::MonthDayNano);
    match op {
        Operator::Plus => moved(left) && by(right) || by(left) && moved(right),
        Operator::Minus => moved(left) && by(right),
        _ => false,
    }
}

/// A time moved by an interval.
fn moved(op: Operator, left: &ArrayRef, right: &ArrayRef) -> Option<ArrayRef> {
    use TimeUnit as U;
    let back = op == Operator::Minus;
    let utc: Tz = "+00:00".parse().ok()?;
    let (time, by) = match left.data_type() {
        DataType::Interval(_) => (right, left),
        _ => (left, right),
    };
    macro_rules! timestamps {
        ($kind:ty) => {
            shifted::<$kind>(time, by, |time, by| match back {
                true => <$kind>::subtract_month_day_nano(time, by, utc),
                false => <$kind>::add_month_day_nano(time, by, utc),
            })
        };
    }
    Some(match time.data_type() {
        DataType::Date32 => shifted::<Date32Type>(time, by, |date, by| match back {
            true => Date32Type::subtract_month_day_nano_opt(date, by),
            false => Date32Type::add_month_day_nano_opt(date, by),
        }),
        DataType::Timestamp(U::Second, None) => timestamps!(TimestampSecondType),
        DataType::Timestamp(U::Millisecond, None) => timestamps!(TimestampMillisecondType),
        DataType::Timestamp(U::Microsecond, None) => timestamps!(TimestampMicrosecondType),
        DataType::Timestamp(U::Nanosecond, None) => timestamps!(TimestampNanosecondType),
        _ => return None,
    })
}

fn shifted<T: ArrowPrimitiveType>(
    time: &ArrayRef,
    by: &ArrayRef,
    value: impl Fn(T::Native, IntervalMonthDayNano) -> Option<T::Native>,
) -> ArrayRef {
    let by = by.as_primitive::<IntervalMonthDayNanoType>();
    let pairs = time.as_primitive::<T>().iter().zip(by.iter());
    Arc::new(pairs.map(|(time, by)| value(time?, by?)).collect::<PrimitiveArray<T>>())
}

/// `left op right`; `None` unless the operands are two decimals of one width, integers of one type to be divided, or a
/// time and an interval.
pub(crate) fn arithmetic(
    op: Operator,
    left: &ArrayRef,
    right: &ArrayRef,
) -> Option<Result<ArrayRef>> {
    use DataType as T;
    let divides = matches!(op, Operator::Divide | Operator::Modulo);
    if moves(op, left.data_type(), right.data_type()) {
        return moved(op, left, right).map(Ok);
    }
    Some(match (left.data_type(), right.data_type()) {
        (T::Decimal32(..), T::Decimal32(..)) => decimal::<Decimal32Type>(op, left, right),
        (T::Decimal64(..), T::Decimal64(..)) => decimal::<Decimal64Type>(op, left, right),
        (T::Decimal128(..), T::Decimal128(..)) => decimal::<Decimal128Type>(op, left, right),
        (T::Decimal256(..), T::Decimal256(..)) => decimal::<Decimal256Type>(op, left, right),
        (T::Int8, T::Int8) if divides => whole::<Int8Type>(op, left, right),
        (T::Int16, T::Int16) if divides => whole::<Int16Type>(op, left, right),
        (T::Int32, T::Int32) if divides => whole::<Int32Type>(op, left, right),
        (T::Int64, T::Int64) if divides => whole::<Int64Type>(op, left, right),
        (T::UInt8, T::UInt8) if divides => whole::<UInt8Type>(op, left, right),
        (T::UInt16, T::UInt16) if divides => whole::<UInt16Type>(op, left, right),
        (T::UInt32, T::UInt32) if divides => whole::<UInt32Type>(op, left, right),
        (T::UInt64, T::UInt64) if divides => whole::<UInt64Type>(op, left, right),
        _ => return None,
    })
}

fn whole<T: ArrowPrimitiveType<Native: Checked>>(
    op: Operator,
    left: &ArrayRef,
    right: &ArrayRef,
) -> Result<ArrayRef> {
    let operation = operation::<T::Native>(op)?;
    Ok(Arc::new(each::<T>(left, right, operation)))
}

/// Applies the operation to every row that has both values.
fn each<T: ArrowPrimitiveType>(
    left: &ArrayRef,
    right: &ArrayRef,
    value: impl Fn(T::Native, T::Native) -> Option<T::Native>,
) -> PrimitiveArray<T> {
    let pairs = left.as_primitive::<T>().iter().zip(right.as_primitive::<T>().iter());
    pairs.map(|(left, right)| value(left?, right?)).collect()
}

type Operation<N> = fn(N, N) -> Option<N>;

fn operation<N: Checked>(op: Operator) -> Result<Operation<N>, ArrowError> {
    Ok(match op {
        Operator::Plus => N::plus,
        Operator::Minus => N::minus,
        Operator::Multiply => N::times,
        Operator::Divide => N::over,
        Operator::Modulo => N::modulo,
        _ => return Err(ArrowError::ComputeError("not arithmetic".to_owned())),
    })
}

/// The factors that scale both operands as the kernels do for the result.
fn decimal<T: DecimalType + ArrowPrimitiveType<Native: Checked>>(
    op: Operator,
    left: &ArrayRef,
    right: &ArrayRef,
) -> Result<ArrayRef> {
    let result = result_type(op, left.data_type(), right.data_type())?;
    let (Some((_, s1)), Some((_, s2)), Some((precision, scale))) =
        (digits(left.data_type()), digits(right.data_type()), digits(&result))
    else {
        return Err(ArrowError::ComputeError("not a decimal".to_owned()).into());
    };
    let (ours, theirs) = match op {
        Operator::Multiply => (0, 0),
        Operator::Divide => {
            let power = i32::from(scale) - i32::from(s1) + i32::from(s2);
            (power.max(0), (-power).max(0))
        }
        _ => (i32::from(scale) - i32::from(s1), i32::from(scale) - i32::from(s2)),
    };
    // `None` means a factor of one. If a factor does not fit, no row has a value.
    let factor = |power: i32| match u32::try_from(power) {
        Ok(0) => Ok(None),
        Ok(power) => T::Native::ten_to(power).map(Some).ok_or(()),
        Err(_) => Err(()),
    };
    let (ours, theirs, operation) = (factor(ours), factor(theirs), operation::<T::Native>(op)?);
    let scaled = |value: T::Native, factor: Result<Option<T::Native>, ()>| match factor {
        Ok(None) => Some(value),
        Ok(Some(factor)) => value.times(factor),
        Err(()) => None,
    };
    let values = each::<T>(left, right, |left, right| {
        operation(scaled(left, ours)?, scaled(right, theirs)?)
    });
    Ok(Arc::new(values.with_precision_and_scale(precision, scale)?))
}

fn result_type(op: Operator, left: &DataType, right: &DataType) -> Result<DataType, ArrowError> {
    let (left, right) = (new_empty_array(left), new_empty_array(right));
    let result = match op {
        Operator::Plus => numeric::add(&left, &right),
        Operator::Minus => numeric::sub(&left, &right),
        Operator::Multiply => numeric::mul(&left, &right),
        Operator::Divide => numeric::div(&left, &right),
        _ => numeric::rem(&left, &right),
    };
    Ok(result?.data_type().clone())
}

/// Precision and scale.
fn digits(decimal: &DataType) -> Option<(u8, i8)> {
    match decimal {
        DataType::Decimal32(precision, scale)
        | DataType::Decimal64(precision, scale)
        | DataType::Decimal128(precision, scale)
        | DataType::Decimal256(precision, scale) => Some((*precision, *scale)),
        _ => None,
    }
}

#[cfg(test)]
mod tests;
