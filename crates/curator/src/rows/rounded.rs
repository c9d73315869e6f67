//! A number rounded to an integer, as a conversion to an integer does it in PostgreSQL.
//!
//! Floats are rounded to the nearest integer, ties to the even one; decimals to the nearest, ties away from zero. So are
//! floats that are computed of integers and of numbers with a point alone: in PostgreSQL they are decimals. The type stays: the conversion itself follows. NaN and ±∞ stay too, and the conversion makes them NULL over people's rows.

use datafusion::arrow::array::{ArrayRef, AsArray};
use datafusion::arrow::datatypes::{DataType, Decimal128Type, Float32Type, Float64Type};
use datafusion::common::{Result, exec_err};
use datafusion::logical_expr::expr::ScalarFunction;
use datafusion::logical_expr::{
    ColumnarValue, Expr, ScalarFunctionArgs, ScalarUDF, ScalarUDFImpl, Signature, Volatility,
};
use std::sync::Arc;

/// `expr`, a float or a decimal, rounded to an integer.
pub(crate) fn rounded(expr: Expr) -> Expr {
    rounding(expr, false)
}

/// The same with the ties of floats away from zero.
pub(crate) fn rounded_away(expr: Expr) -> Expr {
    rounding(expr, true)
}

fn rounding(expr: Expr, away: bool) -> Expr {
    let signature = Signature::user_defined(Volatility::Immutable);
    Arc::new(ScalarUDF::from(Rounded { away, signature })).call(vec![expr])
}

/// Whether a call is one of [`rounded`].
pub(crate) fn is_rounding(call: &ScalarFunction) -> bool {
    call.func.inner().downcast_ref::<Rounded>().is_some() && call.args.len() == 1
}

/// Whether [`rounded`] takes values of this type.
pub(crate) fn is_rounded(data_type: &DataType) -> bool {
    matches!(data_type, DataType::Float32 | DataType::Float64)
        || matches!(data_type, DataType::Decimal128(_, scale) if *scale > 0)
}

#[derive(Debug, PartialEq, Eq, Hash)]
struct Rounded {
    /// Whether ties of floats go away from zero.
    away: bool,
    signature: Signature,
}

fn rounded_values(array: &ArrayRef, away: bool) -> Result<ArrayRef> {
    Ok(match array.data_type() {
        DataType::Float64 => {
            let round = if away { f64::round } else { f64::round_ties_even };
            Arc::new(array.as_primitive::<Float64Type>().unary::<_, Float64Type>(round))
        }
        DataType::Float32 => {
            let round = if away { f32::round } else { f32::round_ties_even };
            Arc::new(array.as_primitive::<Float32Type>().unary::<_, Float32Type>(round))
        }
        DataType::Decimal128(precision, scale) => {
            let one = u32::try_from(*scale).ok().and_then(|scale| 10i128.checked_pow(scale));
            let Some(one) = one else { return exec_err!("a scale that is out of range") };
            let whole = |value: i128| {
                let (rest, down) = (value % one, value - value % one);
                match rest.unsigned_abs() * 2 >= one.unsigned_abs() {
                    true => down + one * rest.signum(),
                    false => down,
                }
            };
            let values = array.as_primitive::<Decimal128Type>();
            // At most one above the largest number of the type, which 128 bits hold.
            let values = values.unary::<_, Decimal128Type>(whole);
            Arc::new(values.with_precision_and_scale(*precision, *scale)?)
        }
        other => return exec_err!("{other} is not rounded"),
    })
}

impl ScalarUDFImpl for Rounded {
    fn name(&self) -> &'static str {
        if self.away { "total_rounded_away" } else { "total_rounded" }
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    /// As the query wrote it: a conversion does not show in a name.
    fn schema_name(&self, arguments: &[Expr]) -> Result<String> {
        Ok(arguments.first().map_or_else(String::new, |expr| expr.schema_name().to_string()))
    }

    fn coerce_types(&self, arguments: &[DataType]) -> Result<Vec<DataType>> {
        Ok(arguments.to_vec())
    }

    fn return_type(&self, arguments: &[DataType]) -> Result<DataType> {
        match arguments {
            [one] => Ok(one.clone()),
            _ => exec_err!("one argument"),
        }
    }

    fn invoke_with_args(&self, arguments: ScalarFunctionArgs) -> Result<ColumnarValue> {
        match <[_; 1]>::try_from(arguments.args) {
            Ok([value]) => {
                let array = value.into_array(arguments.number_rows)?;
                Ok(ColumnarValue::Array(rounded_values(&array, self.away)?))
            }
            Err(_) => exec_err!("one argument"),
        }
    }
}
