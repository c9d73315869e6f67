//! Every expression over protected rows is *total*: no value of any row can make it fail.
//!
//! An error that depends on the data is an answer nobody paid for ("is there a patient
//! whose divisor is 0?"). So whatever can fail on some row is wrapped: if it fails on a
//! batch it is evaluated row by row, and a row on which it fails gives NULL.
//!
//! # Guarantee
//! The value at a row is a function of that row alone: where the batch succeeds, every
//! row of it succeeds with the same value, and where it fails, rows are taken one by one.

use crate::refusal::{Refusal, Rule};
use datafusion::arrow::array::{
    Array, ArrayRef, AsArray, LargeStringArray, StringArray, StringViewArray, new_null_array,
};
use datafusion::arrow::compute::kernels::numeric;
use datafusion::arrow::compute::{CastOptions, cast_with_options};
use datafusion::arrow::datatypes::{DataType, Field, FieldRef};
use datafusion::arrow::error::ArrowError;
use datafusion::arrow::util::display::FormatOptions;
use datafusion::common::tree_node::{TreeNode, TreeNodeRecursion};
use datafusion::common::{Result, ScalarValue, exec_err};
use datafusion::logical_expr::binary::BinaryTypeCoercer;
use datafusion::logical_expr::utils::merge_schema;
use datafusion::logical_expr::{
    ColumnarValue, Expr, ExprSchemable, LogicalPlan, Operator, ReturnFieldArgs, ScalarFunctionArgs,
    ScalarUDF, ScalarUDFImpl, Signature, Volatility,
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
    Conversion(DataType),
}

/// The longest text a function may make, in bytes: a longer one is NULL. Otherwise `y || y`,
/// nested, takes memory and time that tell which rows it was applied to.
const LONGEST: usize = 4096;

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

    /// `expr` as another type, NULL where that is impossible.
    pub(crate) fn conversion(expr: Expr, to: DataType) -> Expr {
        let name = format!("total_cast_{to}");
        Self::call(Inner::Conversion(to), name, vec![expr])
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
            Inner::Conversion(to) => match arguments.args.first() {
                Some(value) => value.cast_to(to, Some(&SAFE)),
                None => exec_err!("a conversion of nothing"),
            },
        });
        let value = catch_unwind(attempt).unwrap_or_else(|_| exec_err!("a kernel failed"))?;
        shortened(value)
    }
}

/// Refuses an engine's plan with a conversion in it that can fail on some row: none is written
/// here, and this is how we know that the engine's planner added none.
pub(crate) fn check(plan: &LogicalPlan) -> std::result::Result<(), Refusal> {
    let mut risky = None;
    let looked = plan.apply_with_subqueries(|node| {
        let schema = merge_schema(&node.inputs());
        node.apply_expressions(|expr| {
            expr.apply(|part| {
                if let Expr::Cast(cast) = part {
                    let from = cast.expr.get_type(&schema);
                    let literal = matches!(cast.expr.as_ref(), Expr::Literal(..));
                    if !literal && !from.is_ok_and(|from| safe(&from, cast.field.data_type())) {
                        risky = Some(cast.field.data_type().to_string());
                    }
                }
                Ok(TreeNodeRecursion::Continue)
            })
        })
    });
    match (looked, risky) {
        (Ok(_), None) => Ok(()),
        (_, to) => Err(Refusal::new(
            Rule::Function,
            format!("a conversion to {} that may fail on some row", to.unwrap_or_default()),
            "write TRY_CAST, or compare values of the same type",
        )),
    }
}

/// Whether every value converts.
fn safe(from: &DataType, to: &DataType) -> bool {
    use DataType as T;
    let bits = |t: &DataType| match t {
        T::Int8 => Some((8, true)),
        T::Int16 => Some((16, true)),
        T::Int32 => Some((32, true)),
        T::Int64 => Some((64, true)),
        T::UInt8 => Some((8, false)),
        T::UInt16 => Some((16, false)),
        T::UInt32 => Some((32, false)),
        T::UInt64 => Some((64, false)),
        _ => None,
    };
    let text = |t: &DataType| matches!(t, T::Utf8 | T::LargeUtf8 | T::Utf8View);
    match (bits(from), bits(to)) {
        (Some((a, s)), Some((b, t))) => (s == t && a <= b) || (!s && t && a < b),
        (Some(_), None) => matches!(to, T::Float64 | T::Float32),
        _ => {
            from == to
                || from.is_null()
                || (text(from) && text(to))
                || matches!((from, to), (T::Float32 | T::Float64, T::Float32 | T::Float64))
                || matches!(from, T::Dictionary(_, value) if safe(value, to))
                || matches!((from, to), (T::Date32, T::Date64))
        }
    }
}

/// Impossible values become NULL.
const SAFE: CastOptions<'static> = CastOptions { safe: true, format_options: FormatOptions::new() };

/// Texts that are too long as NULL.
fn shortened(value: ColumnarValue) -> Result<ColumnarValue> {
    let fits = |text: Option<&str>| text.filter(|text| text.len() <= LONGEST).map(str::to_owned);
    Ok(match &value {
        ColumnarValue::Scalar(ScalarValue::Utf8(Some(text))) if text.len() > LONGEST => {
            ColumnarValue::Scalar(ScalarValue::Utf8(None))
        }
        ColumnarValue::Array(array) if *array.data_type() == DataType::Utf8 => {
            let texts = array.as_string::<i32>();
            let longest = texts.value_offsets().windows(2).map(|w| w[1] - w[0]).max();
            if longest.is_none_or(|bytes| bytes as usize <= LONGEST) {
                return Ok(value);
            }
            let kept: StringArray = texts.iter().map(fits).collect();
            ColumnarValue::Array(Arc::new(kept))
        }
        ColumnarValue::Array(array) if *array.data_type() == DataType::Utf8View => {
            let kept: StringViewArray = array.as_string_view().iter().map(fits).collect();
            ColumnarValue::Array(Arc::new(kept))
        }
        ColumnarValue::Array(array) if *array.data_type() == DataType::LargeUtf8 => {
            let kept: LargeStringArray = array.as_string::<i64>().iter().map(fits).collect();
            ColumnarValue::Array(Arc::new(kept))
        }
        _ => value,
    })
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
        Operator::StringConcat => concatenate(left, right),
        _ => return exec_err!("not arithmetic"),
    }?;
    Ok(ColumnarValue::Array(array))
}

/// `left || right`, refused for the whole batch where offsets would not hold it.
fn concatenate(left: &ArrayRef, right: &ArrayRef) -> std::result::Result<ArrayRef, ArrowError> {
    let text = |array: &ArrayRef| cast_with_options(array, &DataType::Utf8, &SAFE);
    let (left, right) = (text(left)?, text(right)?);
    let (left, right) = (left.as_string::<i32>(), right.as_string::<i32>());
    if left.value_data().len() + right.value_data().len() > i32::MAX as usize {
        return Err(ArrowError::OffsetOverflowError(0));
    }
    let pairs = left.iter().zip(right.iter());
    let joined = pairs.map(|(a, b)| {
        let (a, b) = (a?, b?);
        (a.len() + b.len() <= LONGEST).then(|| format!("{a}{b}"))
    });
    Ok(Arc::new(joined.collect::<StringArray>()))
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
            Inner::Conversion(to) => to.clone(),
            Inner::Arithmetic(Operator::StringConcat) => DataType::Utf8,
            Inner::Arithmetic(op) => {
                let [left, right] = arguments.arg_fields else {
                    return exec_err!("arithmetic takes two arguments");
                };
                BinaryTypeCoercer::new(left.data_type(), op, right.data_type()).get_result_type()?
            }
        };
        Ok(Arc::new(Field::new(&self.name, data_type, true)))
    }

    fn invoke_with_args(&self, arguments: ScalarFunctionArgs) -> Result<ColumnarValue> {
        // A kernel may give another type than the planner promised.
        let promised = |value: ColumnarValue| match value.data_type() == *arguments.return_type() {
            true => Ok(value),
            false => value.cast_to(arguments.return_type(), Some(&SAFE)),
        };
        if let Ok(value) = self.evaluate(arguments.clone()).and_then(promised) {
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
            let value = self.evaluate(single).and_then(promised);
            let value = value.and_then(|value| value.into_array(1));
            value.and_then(|array: ArrayRef| ScalarValue::try_from_array(&array, 0))
        });
        let values = values.map(|value| value.unwrap_or_else(|_| null.clone()));
        Ok(ColumnarValue::Array(ScalarValue::iter_to_array(values)?))
    }
}
