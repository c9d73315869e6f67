//! Every expression over protected rows is *total*: no value of any row can make it fail.
//!
//! An error that depends on the data is an answer nobody paid for ("is there a patient
//! whose divisor is 0?"). So whatever can fail on some row is wrapped: if it fails on a
//! batch it is evaluated row by row, and a row on which it fails gives NULL.
//!
//! # Guarantee
//! The value at a row is a function of that row alone: where the batch succeeds, every
//! row of it succeeds with the same value, and where it fails, rows are taken one by one.

use datafusion::arrow::array::{ArrayRef, new_null_array};
use datafusion::arrow::compute::kernels::numeric;
use datafusion::arrow::datatypes::{DataType, FieldRef};
use datafusion::common::{Result, ScalarValue, exec_err};
use datafusion::logical_expr::binary::BinaryTypeCoercer;
use datafusion::logical_expr::{
    ColumnarValue, Expr, Operator, ReturnFieldArgs, ScalarFunctionArgs, ScalarUDF, ScalarUDFImpl,
    Signature, Volatility,
};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

/// Something that may fail on some row, made total.
#[derive(Debug, PartialEq, Eq, Hash)]
pub(crate) struct Total {
    inner: Inner,
    name: String,
    signature: Signature,
}

#[derive(Debug, PartialEq, Eq, Hash)]
enum Inner {
    Function(Arc<ScalarUDF>),
    Arithmetic(Operator),
}

impl Total {
    /// The total form of a function call whose arguments are already coerced.
    pub(crate) fn function(function: Arc<ScalarUDF>, arguments: Vec<Expr>) -> Expr {
        let name = format!("total_{}", function.name());
        Self::call(Inner::Function(function), name, arguments)
    }

    /// The total form of `left op right`: wrapping for integers, NULL for a division by 0.
    pub(crate) fn arithmetic(op: Operator, left: Expr, right: Expr) -> Expr {
        Self::call(Inner::Arithmetic(op), format!("total_{op}"), vec![left, right])
    }

    fn call(inner: Inner, name: String, arguments: Vec<Expr>) -> Expr {
        let signature = Signature::user_defined(Volatility::Immutable);
        let total = Arc::new(ScalarUDF::from(Self { inner, name, signature }));
        total.call(arguments)
    }

    fn evaluate(&self, arguments: ScalarFunctionArgs) -> Result<ColumnarValue> {
        // A kernel that panics fails like one that returns an error.
        let attempt = AssertUnwindSafe(|| match &self.inner {
            Inner::Function(function) => function.invoke_with_args(arguments),
            Inner::Arithmetic(op) => arithmetic(*op, &arguments),
        });
        catch_unwind(attempt).unwrap_or_else(|_| exec_err!("a kernel failed"))
    }
}

fn arithmetic(op: Operator, arguments: &ScalarFunctionArgs) -> Result<ColumnarValue> {
    let arrays = ColumnarValue::values_to_arrays(&arguments.args)?;
    let (left, right) = (&arrays[0], &arrays[1]);
    let array = match op {
        Operator::Plus => numeric::add_wrapping(left, right),
        Operator::Minus => numeric::sub_wrapping(left, right),
        Operator::Multiply => numeric::mul_wrapping(left, right),
        Operator::Divide => numeric::div(left, right),
        Operator::Modulo => numeric::rem(left, right),
        _ => return exec_err!("not arithmetic"),
    }?;
    Ok(ColumnarValue::Array(array))
}

impl ScalarUDFImpl for Total {
    fn name(&self) -> &str {
        &self.name
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn coerce_types(&self, arguments: &[DataType]) -> Result<Vec<DataType>> {
        Ok(arguments.to_vec()) // coerced before they were wrapped
    }

    fn return_type(&self, _: &[DataType]) -> Result<DataType> {
        exec_err!("the type is that of the field")
    }

    fn return_field_from_args(&self, arguments: ReturnFieldArgs<'_>) -> Result<FieldRef> {
        let data_type = match &self.inner {
            Inner::Function(function) => {
                function.return_field_from_args(arguments)?.data_type().clone()
            }
            Inner::Arithmetic(op) => {
                let [left, right] = arguments.arg_fields else {
                    return exec_err!("arithmetic takes two arguments");
                };
                BinaryTypeCoercer::new(left.data_type(), op, right.data_type()).get_result_type()?
            }
        };
        Ok(Arc::new(datafusion::arrow::datatypes::Field::new(&self.name, data_type, true)))
    }

    fn invoke_with_args(&self, arguments: ScalarFunctionArgs) -> Result<ColumnarValue> {
        if let Ok(value) = self.evaluate(arguments.clone()) {
            return Ok(value);
        }
        let null = ScalarValue::try_from(arguments.return_type())?;
        if arguments.number_rows == 0 {
            return Ok(ColumnarValue::Array(new_null_array(arguments.return_type(), 0)));
        }
        let values = (0..arguments.number_rows).map(|row| {
            let one = |value: &ColumnarValue| match value {
                ColumnarValue::Array(array) => ColumnarValue::Array(array.slice(row, 1)),
                scalar => scalar.clone(),
            };
            let mut single = arguments.clone();
            single.args = single.args.iter().map(one).collect();
            single.number_rows = 1;
            let value = self.evaluate(single).and_then(|value| value.into_array(1));
            value.and_then(|array: ArrayRef| ScalarValue::try_from_array(&array, 0))
        });
        let values = values.map(|value| value.unwrap_or_else(|_| null.clone()));
        Ok(ColumnarValue::Array(ScalarValue::iter_to_array(values)?))
    }
}
