//! Every expression over protected rows is *total*: no value of any row can make it fail.
//!
//! An error that depends on the data is an answer nobody paid for ("is there a patient
//! whose divisor is 0?"). So whatever can fail on some row is wrapped: if it fails on a
//! batch it is evaluated on its halves, and a row on which it fails alone gives NULL.
//!
//! # Guarantee
//! The value at a row is a function of that row alone: where a batch succeeds, every
//! row of it succeeds with the same value, and where it fails, it is taken apart. What is not
//! a constant of the query comes as a column, also where all rows of a batch happen to agree:
//! some functions treat a constant otherwise. The type is fixed when the expression is written.

use crate::refusal::{Refusal, Rule};
use crate::rows::admit::{LARGEST_PATTERNS, PATTERNS, like_size, pattern_size};
use crate::rows::expression::text;
use datafusion::arrow::array::{
    Array, ArrayRef, AsArray, LargeStringArray, StringArray, StringViewArray, new_null_array,
};
use datafusion::arrow::compute::kernels::cmp::eq;
use datafusion::arrow::compute::kernels::numeric;
use datafusion::arrow::compute::{CastOptions, cast_with_options, concat, nullif};
use datafusion::arrow::datatypes::{DataType, Field, FieldRef};
use datafusion::arrow::error::ArrowError;
use datafusion::arrow::util::display::FormatOptions;
use datafusion::common::tree_node::{TreeNode, TreeNodeRecursion};
use datafusion::common::{DFSchema, Result, ScalarValue, exec_err};
use datafusion::logical_expr::binary::BinaryTypeCoercer;
use datafusion::logical_expr::utils::merge_schema;
use datafusion::logical_expr::{
    BinaryExpr, ColumnarValue, Expr, ExprSchemable, LogicalPlan, Operator, ReturnFieldArgs,
    ScalarFunctionArgs, ScalarUDF, ScalarUDFImpl, Signature, Volatility,
};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

/// Something that may fail on some row, made total.
#[derive(Debug, PartialEq, Eq, Hash)]
pub(crate) struct Total {
    inner: Inner,
    name: String,
    signature: Signature,
    /// Which arguments are constants of the query.
    constant: Vec<bool>,
    returns: DataType,
}

#[derive(Debug, PartialEq, Eq, Hash)]
enum Inner {
    Function(Arc<ScalarUDF>),
    Arithmetic(Operator),
    Negation,
    Conversion(DataType),
}

/// The longest text a function may make, in bytes: a longer one is NULL. Otherwise `y || y`,
/// nested, takes memory and time that tell which rows it was applied to.
pub(crate) const LONGEST: usize = 4096;

/// So many rows with texts are computed at once: where one fails, these are computed about twice more,
/// whosever they are.
const MOST_AT_ONCE: usize = 256;

impl Total {
    /// The total form of a function call whose arguments are already coerced.
    pub(crate) fn function(
        function: Arc<ScalarUDF>,
        arguments: Vec<Expr>,
        schema: &DFSchema,
    ) -> Result<Expr> {
        let name = format!("total_{}", function.name());
        let fields = arguments.iter().map(|a| a.to_field(schema).map(|(_, field)| field));
        let fields: Vec<FieldRef> = fields.collect::<Result<_>>()?;
        let scalars = arguments.iter().map(|argument| match argument {
            Expr::Literal(value, _) => Some(value),
            _ => None,
        });
        let scalars: Vec<Option<&ScalarValue>> = scalars.collect();
        let known = ReturnFieldArgs { arg_fields: &fields, scalar_arguments: &scalars };
        let returns = function.return_field_from_args(known)?.data_type().clone();
        Ok(Self::call(Inner::Function(function), name, arguments, returns))
    }

    /// The total form of `left op right`: wrapping for integers, NULL for a division by 0.
    pub(crate) fn arithmetic(
        op: Operator,
        left: Expr,
        right: Expr,
        schema: &DFSchema,
    ) -> Result<Expr> {
        let returns = match op {
            Operator::StringConcat => DataType::Utf8,
            _ => {
                let (left, right) = (left.get_type(schema)?, right.get_type(schema)?);
                BinaryTypeCoercer::new(&left, &op, &right).get_result_type()?
            }
        };
        let name = format!("total_{op}");
        Ok(Self::call(Inner::Arithmetic(op), name, vec![left, right], returns))
    }

    /// `-expr`, wrapping for integers.
    pub(crate) fn negation(expr: Expr, schema: &DFSchema) -> Result<Expr> {
        let returns = expr.get_type(schema)?;
        Ok(Self::call(Inner::Negation, "total_negative".to_owned(), vec![expr], returns))
    }

    /// `expr` as another type, NULL where that is impossible.
    pub(crate) fn conversion(expr: Expr, to: DataType) -> Expr {
        let name = format!("total_cast_{to}");
        Self::call(Inner::Conversion(to.clone()), name, vec![expr], to)
    }

    fn call(inner: Inner, name: String, arguments: Vec<Expr>, returns: DataType) -> Expr {
        let signature = Signature::user_defined(Volatility::Immutable);
        let constant = arguments.iter().map(|a| matches!(a, Expr::Literal(..))).collect();
        let total = Self { inner, name, signature, constant, returns };
        Arc::new(ScalarUDF::from(total)).call(arguments)
    }

    /// The arguments with everything that is not a constant as a column.
    fn columns(&self, mut arguments: ScalarFunctionArgs) -> Result<ScalarFunctionArgs> {
        for (value, constant) in arguments.args.iter_mut().zip(&self.constant) {
            if !constant && matches!(value, ColumnarValue::Scalar(_)) {
                *value = ColumnarValue::Array(value.to_array(arguments.number_rows)?);
            }
        }
        Ok(arguments)
    }

    /// Fails where a row's texts are too long for what is done with them.
    fn check_lengths(&self, arguments: &ScalarFunctionArgs) -> Result<()> {
        let Inner::Function(function) = &self.inner else { return Ok(()) };
        let looked_at = match function.name() {
            "concat" | "concat_ws" => arguments.args.len(),
            "regexp_count" | "regexp_like" => 1,
            _ => return Ok(()),
        };
        let mut bytes = vec![0; arguments.number_rows];
        for value in arguments.args.iter().take(looked_at) {
            let array = cast_with_options(
                &value.to_array(arguments.number_rows)?,
                &DataType::Utf8View,
                &SAFE,
            )?;
            let texts = array.as_string_view();
            for (sum, text) in bytes.iter_mut().zip(texts) {
                *sum += text.map_or(0, str::len);
            }
        }
        match bytes.iter().any(|&sum| sum > LONGEST) {
            true => exec_err!("a text that is too long"),
            false => Ok(()),
        }
    }

    fn evaluate(&self, arguments: ScalarFunctionArgs) -> Result<ColumnarValue> {
        // A kernel that panics fails like one that returns an error.
        let attempt = AssertUnwindSafe(|| match &self.inner {
            Inner::Function(function) => {
                self.check_lengths(&arguments)?;
                function.invoke_with_args(arguments)
            }
            Inner::Arithmetic(op) => arithmetic(*op, &arguments),
            Inner::Negation => {
                let arrays = ColumnarValue::values_to_arrays(&arguments.args)?;
                Ok(ColumnarValue::Array(numeric::neg_wrapping(&arrays[0])?))
            }
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
    let mut patterns = 0;
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
                // Unequal types compare in no row, or fail in the first that gets there.
                let with = |one: &Expr, other: &Expr| {
                    let (one, other) = (one.get_type(&schema), other.get_type(&schema));
                    matches!((one, other), (Ok(one), Ok(other)) if comparable(&one, &other))
                };
                let same = match part {
                    Expr::BinaryExpr(BinaryExpr { left, op, right }) if compares(*op) => {
                        with(left, right)
                    }
                    Expr::InList(list) => list.list.iter().all(|item| with(&list.expr, item)),
                    Expr::Between(of) => with(&of.expr, &of.low) && with(&of.expr, &of.high),
                    _ => true,
                };
                if !same {
                    risky = Some("a common type".to_owned());
                }
                patterns += match part {
                    Expr::Like(like) => like_size(&like.pattern),
                    Expr::BinaryExpr(BinaryExpr { op, right, .. }) if is_like(*op) => {
                        like_size(right)
                    }
                    _ => 0,
                };
                if let Expr::ScalarFunction(call) = part
                    && PATTERNS.contains(&call.name().trim_start_matches("total_"))
                {
                    patterns += call.args.get(1).and_then(pattern_size).unwrap_or(LARGEST_PATTERNS);
                }
                Ok(TreeNodeRecursion::Continue)
            })
        })
    });
    if patterns > LARGEST_PATTERNS {
        return Err(Refusal::new(
            Rule::Function,
            "patterns that are too large together",
            "write fewer or smaller ones; `LIKE '%part%'` costs least",
        ));
    }
    match (looked, risky) {
        (Ok(_), None) => Ok(()),
        (_, to) => Err(Refusal::new(
            Rule::Function,
            format!("a conversion to {} that may fail on some row", to.unwrap_or_default()),
            "write TRY_CAST, or compare values of the same type",
        )),
    }
}

fn compares(op: Operator) -> bool {
    use Operator as O;
    matches!(op, O::Eq | O::NotEq | O::Lt | O::LtEq | O::Gt | O::GtEq)
        || matches!(op, O::IsDistinctFrom | O::IsNotDistinctFrom)
}

/// Whether values of these types compare as they are.
fn comparable(left: &DataType, right: &DataType) -> bool {
    left.equals_datatype(right) || *left == DataType::Null || *right == DataType::Null
}

fn is_like(op: Operator) -> bool {
    use Operator as O;
    matches!(op, O::LikeMatch | O::ILikeMatch | O::NotLikeMatch | O::NotILikeMatch)
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
        Operator::Divide => numeric::div(left, &without_zeros(right)?),
        Operator::Modulo => numeric::rem(left, &without_zeros(right)?),
        Operator::StringConcat => concatenate(left, right),
        _ => return exec_err!("not arithmetic"),
    }?;
    Ok(ColumnarValue::Array(array))
}

/// A divisor with NULL for 0, where a division by 0 fails: it would fail for the whole batch.
fn without_zeros(divisor: &ArrayRef) -> Result<ArrayRef> {
    if !divisor.data_type().is_integer() && !divisor.data_type().is_decimal() {
        return Ok(Arc::clone(divisor));
    }
    let zero = ScalarValue::new_zero(divisor.data_type())?.to_scalar()?;
    Ok(nullif(divisor, &eq(divisor, &zero)?)?)
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

    fn return_field_from_args(&self, _: ReturnFieldArgs<'_>) -> Result<FieldRef> {
        Ok(Arc::new(Field::new(&self.name, self.returns.clone(), true)))
    }

    fn invoke_with_args(&self, arguments: ScalarFunctionArgs) -> Result<ColumnarValue> {
        let rows = arguments.number_rows;
        let mut pieces = Vec::new();
        let all = self.columns(arguments)?;
        // Conversions do not fail.
        let long = !matches!(self.inner, Inner::Conversion(_))
            && all.args.iter().any(|argument| text(&argument.data_type()));
        let most = if long { MOST_AT_ONCE } else { rows.max(1) };
        for from in (0..rows).step_by(most) {
            self.by_halves(&all, (from, most.min(rows - from)), &mut pieces)?;
        }
        Ok(ColumnarValue::Array(match &pieces[..] {
            [] => new_null_array(&self.returns, 0),
            [one] => Arc::clone(one),
            _ => concat(&pieces.iter().map(AsRef::as_ref).collect::<Vec<_>>())?,
        }))
    }
}

impl Total {
    /// The values of some rows, in pieces as large as succeed.
    fn by_halves(
        &self,
        all: &ScalarFunctionArgs,
        (from, rows): (usize, usize),
        pieces: &mut Vec<ArrayRef>,
    ) -> Result<()> {
        if rows == 0 {
            return Ok(());
        }
        let mut some = all.clone();
        some.number_rows = rows;
        for value in &mut some.args {
            if let ColumnarValue::Array(array) = value {
                *array = array.slice(from, rows);
            }
        }
        // A kernel may give another type than was promised.
        let value = self.evaluate(some).and_then(|value| match value.data_type() == self.returns {
            true => Ok(value),
            false => value.cast_to(&self.returns, Some(&SAFE)),
        });
        match value.and_then(|value| value.into_array(rows)) {
            Ok(array) => pieces.push(array),
            Err(_) if rows == 1 => pieces.push(new_null_array(&self.returns, 1)),
            Err(_) => {
                let half = rows / 2;
                self.by_halves(all, (from, half), pieces)?;
                self.by_halves(all, (from + half, rows - half), pieces)?;
            }
        }
        Ok(())
    }
}
