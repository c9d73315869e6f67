//! Rows as codes: each value becomes its place in a public domain, before rows are bounded and counted.
//!
//! # Guarantee
//! The codes of a row depend on that row and on public domains alone, and no value makes the function fail. So
//! whatever is bounded by person before it is bounded by person after it.
//!
//! # What becomes of other values
//! A number, date or time outside the bins counts as the nearest one, like one beyond its bounds elsewhere. A value that
//! is not on its column's list counts as missing. What is missing is the code 0 of a column that may be NULL; in a
//! column that the policy declares without NULL, the row is left out, as it is left out of a `GROUP BY`.

use crate::rows::expression::number;
use datafusion::arrow::array::{Array, ArrayRef, AsArray, BinaryBuilder};
use datafusion::arrow::compute::cast;
use datafusion::arrow::datatypes::{DataType, Float64Type};
use datafusion::common::{HashMap, Result, ScalarValue, exec_err};
use datafusion::logical_expr::{
    ColumnarValue, Expr, ScalarFunctionArgs, ScalarUDF, ScalarUDFImpl, Signature, Volatility,
};
use std::hash::{Hash, Hasher};
use std::sync::Arc;

/// The public domain of a column, in the order of its codes. If the column may be NULL, that is code 0, and these begin
/// at 1.
#[derive(Clone, Debug, PartialEq)]
pub enum Codes {
    /// False, true.
    Booleans,
    /// These texts.
    Texts(Vec<String>),
    /// These numbers; dates as days, times in units of their type.
    Numbers(Vec<f64>),
    /// Bins of such numbers, each beginning at one of these, in order. Numbers before the first belong to the first.
    Bins(Vec<f64>),
}

impl Codes {
    /// How many codes there are, without NULL.
    #[must_use]
    pub fn len(&self) -> usize {
        match self {
            Self::Booleans => 2,
            Self::Texts(texts) => texts.len(),
            Self::Numbers(numbers) | Self::Bins(numbers) => numbers.len(),
        }
    }

    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// How a column becomes codes.
#[derive(Clone, Debug, PartialEq)]
pub struct Coding {
    /// Its domain.
    pub codes: Codes,
    /// Whether NULL is code 0.
    pub nullable: bool,
}

/// A column's place of each value, ready to be looked up.
#[derive(Debug)]
enum Lookup {
    Booleans,
    Texts(HashMap<String, u16>),
    Numbers(HashMap<u64, u16>),
    Bins(Vec<f64>),
}

#[derive(Debug)]
struct Column {
    lookup: Lookup,
    nullable: bool,
}

/// A number by its bits: −0 is 0.
fn bits(x: f64) -> u64 {
    (x + 0.0).to_bits()
}

impl Column {
    fn new(coding: &Coding) -> Self {
        let place = |i: usize| u16::try_from(i).unwrap_or(u16::MAX);
        let lookup = match &coding.codes {
            Codes::Booleans => Lookup::Booleans,
            Codes::Texts(texts) => Lookup::Texts(
                texts.iter().enumerate().map(|(i, t)| (t.clone(), place(i))).collect(),
            ),
            Codes::Numbers(all) => {
                Lookup::Numbers(all.iter().enumerate().map(|(i, x)| (bits(*x), place(i))).collect())
            }
            Codes::Bins(lower) => Lookup::Bins(lower.clone()),
        };
        Self { lookup, nullable: coding.nullable }
    }

    /// The place of each value in the domain; `None` if it is missing.
    fn places(&self, values: &ArrayRef) -> Result<Vec<Option<u16>>> {
        Ok(match &self.lookup {
            Lookup::Booleans => {
                let values = cast(values, &DataType::Boolean)?;
                values.as_boolean().iter().map(|value| value.map(u16::from)).collect()
            }
            Lookup::Texts(places) => {
                let values = cast(values, &DataType::Utf8View)?;
                let values = values.as_string_view();
                values.iter().map(|text| places.get(text?).copied()).collect()
            }
            Lookup::Numbers(places) => {
                numbers(values)?.into_iter().map(|x| places.get(&bits(x?)).copied()).collect()
            }
            Lookup::Bins(lower) => {
                let place = |x: f64| lower.partition_point(|begin| *begin <= x).saturating_sub(1);
                let place = |x: f64| u16::try_from(place(x)).unwrap_or(u16::MAX);
                let values = numbers(values)?.into_iter();
                values.map(|x| x.filter(|x| !x.is_nan()).map(place)).collect()
            }
        })
    }
}

/// Numbers, dates as days and times in units of their type, as floats.
fn numbers(values: &ArrayRef) -> Result<Vec<Option<f64>>> {
    let whole = match values.data_type() {
        DataType::Date32 => cast(values, &DataType::Int32)?,
        DataType::Date64 | DataType::Timestamp(..) => cast(values, &DataType::Int64)?,
        _ => Arc::clone(values),
    };
    let floats = cast(&whole, &DataType::Float64)?;
    Ok(floats.as_primitive::<Float64Type>().iter().collect())
}

impl Codes {
    /// The number of a value that is a number, a date or a time, as [`Codes::Numbers`] and [`Codes::Bins`] have it.
    #[must_use]
    pub fn number_of(value: &ScalarValue) -> Option<f64> {
        match value {
            ScalarValue::Date32(Some(days)) => Some(f64::from(*days)),
            ScalarValue::Date64(Some(at))
            | ScalarValue::TimestampSecond(Some(at), _)
            | ScalarValue::TimestampMillisecond(Some(at), _)
            | ScalarValue::TimestampMicrosecond(Some(at), _)
            | ScalarValue::TimestampNanosecond(Some(at), _) => Some(*at as f64),
            other => number(other),
        }
    }
}

/// A function of a row's columns: their codes, two bytes each; NULL if the row is left out.
#[derive(Debug)]
struct CodesOfRow {
    columns: Arc<Vec<Column>>,
    signature: Signature,
}

impl PartialEq for CodesOfRow {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.columns, &other.columns)
    }
}

impl Eq for CodesOfRow {}

impl Hash for CodesOfRow {
    fn hash<H: Hasher>(&self, state: &mut H) {
        Arc::as_ptr(&self.columns).hash(state);
    }
}

impl ScalarUDFImpl for CodesOfRow {
    fn name(&self) -> &'static str {
        "total_codes"
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn coerce_types(&self, arguments: &[DataType]) -> Result<Vec<DataType>> {
        Ok(arguments.to_vec())
    }

    fn return_type(&self, _: &[DataType]) -> Result<DataType> {
        Ok(DataType::Binary)
    }

    fn invoke_with_args(&self, arguments: ScalarFunctionArgs) -> Result<ColumnarValue> {
        let rows = arguments.number_rows;
        if arguments.args.len() != self.columns.len() {
            return exec_err!("codes of another number of columns");
        }
        let mut codes = vec![0u8; rows * 2 * self.columns.len()];
        let mut kept = vec![true; rows];
        let width = 2 * self.columns.len();
        for (i, (column, values)) in self.columns.iter().zip(&arguments.args).enumerate() {
            let values = values.to_array(rows)?;
            for (row, place) in column.places(&values)?.into_iter().enumerate() {
                let code = match (place, column.nullable) {
                    (Some(place), nullable) => place.saturating_add(u16::from(nullable)),
                    (None, true) => 0,
                    (None, false) => {
                        kept[row] = false;
                        continue;
                    }
                };
                codes[row * width + 2 * i..][..2].copy_from_slice(&code.to_le_bytes());
            }
        }
        let mut built = BinaryBuilder::with_capacity(rows, codes.len());
        for (row, kept) in kept.into_iter().enumerate() {
            match kept {
                true => built.append_value(&codes[row * width..][..width]),
                false => built.append_null(),
            }
        }
        Ok(ColumnarValue::Array(Arc::new(built.finish())))
    }
}

/// The codes of these columns, as one value.
pub(crate) fn codes_of(columns: Vec<Expr>, codings: &[Coding]) -> Expr {
    let lookups = codings.iter().map(Column::new).collect();
    let signature = Signature::user_defined(Volatility::Immutable);
    ScalarUDF::from(CodesOfRow { columns: Arc::new(lookups), signature }).call(columns)
}

/// The codes in such a value.
pub(crate) fn read_codes(value: &ScalarValue, width: usize) -> Option<impl Iterator<Item = u16>> {
    let ScalarValue::Binary(Some(bytes)) = value else { return None };
    let pairs = bytes.chunks_exact(2).map(|pair| u16::from_le_bytes([pair[0], pair[1]]));
    (bytes.len() == 2 * width).then_some(pairs)
}

#[cfg(test)]
mod tests;
