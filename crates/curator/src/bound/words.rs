//! Values that fit a word: an injective map from a column to `u64`.

use datafusion::arrow::array::{Array, AsArray};
use datafusion::arrow::datatypes::{
    DataType, Date32Type, Date64Type, Decimal32Type, Decimal64Type, DurationMicrosecondType,
    DurationMillisecondType, DurationNanosecondType, DurationSecondType, Float16Type, Float32Type,
    Float64Type, Int8Type, Int16Type, Int32Type, Int64Type, Time32MillisecondType,
    Time32SecondType, Time64MicrosecondType, Time64NanosecondType, TimeUnit,
    TimestampMicrosecondType, TimestampMillisecondType, TimestampNanosecondType,
    TimestampSecondType, UInt8Type, UInt16Type, UInt32Type, UInt64Type,
};

/// Whether [`words`] supports the type.
pub(super) fn fit(kind: &DataType) -> bool {
    use DataType::{
        Boolean, Date32, Date64, Decimal32, Decimal64, Duration, Float16, Float32, Float64, Int8,
        Int16, Int32, Int64, Time32, Time64, Timestamp, UInt8, UInt16, UInt32, UInt64,
    };
    match kind {
        Boolean | Int8 | Int16 | Int32 | Int64 | UInt8 | UInt16 | UInt32 | UInt64 => true,
        Float16 | Float32 | Float64 | Date32 | Date64 | Timestamp(..) | Duration(_) => true,
        Decimal32(..) | Decimal64(..) => true,
        Time32(unit) => matches!(unit, TimeUnit::Second | TimeUnit::Millisecond),
        Time64(unit) => matches!(unit, TimeUnit::Microsecond | TimeUnit::Nanosecond),
        _ => false,
    }
}

/// Writes one word per row, equal exactly where the values are equal (floats must be canonical); the word of a NULL is
/// arbitrary. For a type that does not [`fit`], writes nothing and returns false.
pub(super) fn words(array: &dyn Array, out: &mut Vec<u64>) -> bool {
    out.clear();
    macro_rules! values {
        ($kind:ty, $word:expr) => {
            out.extend(array.as_primitive::<$kind>().values().iter().map($word))
        };
    }
    macro_rules! signed {
        ($kind:ty) => {
            values!($kind, |&x| i64::from(x) as u64)
        };
    }
    macro_rules! by_unit {
        ($unit:expr, $s:ty, $ms:ty, $us:ty, $ns:ty) => {
            match $unit {
                TimeUnit::Second => signed!($s),
                TimeUnit::Millisecond => signed!($ms),
                TimeUnit::Microsecond => signed!($us),
                TimeUnit::Nanosecond => signed!($ns),
            }
        };
    }
    match array.data_type() {
        DataType::Boolean => out.extend(array.as_boolean().values().iter().map(u64::from)),
        DataType::Int8 => signed!(Int8Type),
        DataType::Int16 => signed!(Int16Type),
        DataType::Int32 => signed!(Int32Type),
        DataType::Int64 => signed!(Int64Type),
        DataType::UInt8 => values!(UInt8Type, |&x| u64::from(x)),
        DataType::UInt16 => values!(UInt16Type, |&x| u64::from(x)),
        DataType::UInt32 => values!(UInt32Type, |&x| u64::from(x)),
        DataType::UInt64 => values!(UInt64Type, |&x| x),
        DataType::Float16 => values!(Float16Type, |x| u64::from(x.to_bits())),
        DataType::Float32 => values!(Float32Type, |x| u64::from(x.to_bits())),
        DataType::Float64 => values!(Float64Type, |x| x.to_bits()),
        DataType::Date32 => signed!(Date32Type),
        DataType::Date64 => signed!(Date64Type),
        DataType::Decimal32(..) => signed!(Decimal32Type),
        DataType::Decimal64(..) => signed!(Decimal64Type),
        DataType::Time32(TimeUnit::Second) => signed!(Time32SecondType),
        DataType::Time32(TimeUnit::Millisecond) => signed!(Time32MillisecondType),
        DataType::Time64(TimeUnit::Microsecond) => signed!(Time64MicrosecondType),
        DataType::Time64(TimeUnit::Nanosecond) => signed!(Time64NanosecondType),
        DataType::Timestamp(unit, _) => by_unit!(
            unit,
            TimestampSecondType,
            TimestampMillisecondType,
            TimestampMicrosecondType,
            TimestampNanosecondType
        ),
        DataType::Duration(unit) => by_unit!(
            unit,
            DurationSecondType,
            DurationMillisecondType,
            DurationMicrosecondType,
            DurationNanosecondType
        ),
        _ => return false,
    }
    true
}
