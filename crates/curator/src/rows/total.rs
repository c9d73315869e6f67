//! Every expression over protected rows is *total*: no value of any row can make it fail.
//!
//! An error that depends on the data is an answer that was not paid for ("is there a patient whose divisor is 0?"). So
//! every operation that can fail on some row is wrapped: if it fails on a batch, it is evaluated on the halves of the
//! batch, and a single row on which it fails gives NULL.
//!
//! # Guarantee
//! The value at a row is a function of that row alone: if a batch succeeds, every row of it succeeds with the same
//! value, and if it fails, it is split. Everything that is not a constant of the query is passed as a column, even if
//! all rows of a batch happen to agree, because some functions treat a constant differently. The type is fixed when
//! the expression is written.

use crate::rows::admit::never_fails;
use crate::rows::checked;
use crate::rows::expression::{number, text};
use crate::rows::postgres::{self, text::Edit};
use crate::rows::search::Search;
use crate::rows::written::Written;
use datafusion::arrow::array::{
    Array, ArrayRef, AsArray, LargeStringArray, StringArray, StringViewArray, new_null_array,
};
use datafusion::arrow::compute::kernels::cmp::{eq, lt};
use datafusion::arrow::compute::kernels::numeric;
use datafusion::arrow::compute::{CastOptions, cast_with_options, concat, nullif};
use datafusion::arrow::datatypes::{DataType, Field, FieldRef};
use datafusion::arrow::error::ArrowError;
use datafusion::arrow::util::display::FormatOptions;
use datafusion::common::{DFSchema, Result, ScalarValue, exec_err};
use datafusion::logical_expr::binary::BinaryTypeCoercer;
use datafusion::logical_expr::expr::ScalarFunction;
use datafusion::logical_expr::{
    ColumnarValue, Expr, ExprSchemable, Operator, ReturnFieldArgs, ScalarFunctionArgs, ScalarUDF,
    ScalarUDFImpl, Signature, Volatility,
};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

/// An operation that may fail on some row, made total.
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
    Search(Search),
    Edit(Edit),
    Arithmetic(Operator),
    /// A time moved by an interval.
    Move(Operator),
    Negation,
    Conversion(DataType),
    /// A text as the policy says that it is written.
    Read(Written),
}

/// The longest text that a function may produce, in bytes: a longer one becomes NULL. Otherwise `y || y`, nested,
/// would take memory and time that reveal which rows it was applied to.
pub(crate) const LONGEST: usize = 4096;

/// The number of rows with texts that are computed at once. If one fails, all of these are computed about twice more,
/// including other people's.
const MOST_AT_ONCE: usize = 256;

impl Total {
    /// The total form of a function call whose arguments are already coerced.
    pub(crate) fn function(
        function: Arc<ScalarUDF>,
        arguments: Vec<Expr>,
        schema: &DFSchema,
    ) -> Result<Expr> {
        let name = format!("total_{}", function.name());
        let (_, returns) = fields(&function, &arguments, schema)?;
        let returns = returns.data_type().clone();
        let name_of = function.name();
        let inner = match (Search::of(name_of, &arguments), Edit::of(name_of, &arguments)) {
            (Some(search), _) => Inner::Search(search),
            (None, Some(edit)) => Inner::Edit(edit),
            (None, None) => Inner::Function(postgres::lenient(&function).unwrap_or(function)),
        };
        Ok(Self::call(inner, name, arguments, returns))
    }

    /// Whether a function computes anything of ordinary values: those that constants do not fix are the default of
    /// their type. One that fails there fails everywhere.
    pub(crate) fn works(function: &Arc<ScalarUDF>, arguments: &[Expr], schema: &DFSchema) -> bool {
        let value = || -> Result<ColumnarValue> {
            let (arg_fields, return_field) = fields(function, arguments, schema)?;
            let mut args = Vec::with_capacity(arguments.len());
            for (argument, field) in arguments.iter().zip(&arg_fields) {
                args.push(match argument {
                    Expr::Literal(value, _) => ColumnarValue::Scalar(value.clone()),
                    _ => {
                        let value = ScalarValue::new_default(field.data_type())?;
                        ColumnarValue::Array(value.to_array()?)
                    }
                });
            }
            function.invoke_with_args(ScalarFunctionArgs {
                args,
                arg_fields,
                number_rows: 1,
                return_field,
                config_options: Arc::default(),
            })
        };
        catch_unwind(AssertUnwindSafe(value)).is_ok_and(|value| value.is_ok())
    }

    /// The value of a function on constants.
    pub(crate) fn constant(
        function: &Arc<ScalarUDF>,
        arguments: &[Expr],
        schema: &DFSchema,
    ) -> Result<ScalarValue> {
        let (arg_fields, return_field) = fields(function, arguments, schema)?;
        let args = arguments.iter().filter_map(Expr::as_literal).cloned();
        let value = function.invoke_with_args(ScalarFunctionArgs {
            args: args.map(ColumnarValue::Scalar).collect(),
            arg_fields,
            number_rows: 1,
            return_field,
            config_options: Arc::default(),
        })?;
        ScalarValue::try_from_array(&value.into_array(1)?, 0)
    }

    /// The total form of `left op right`: wrapping for integers, NULL for a division by 0.
    pub(crate) fn arithmetic(
        op: Operator,
        left: Expr,
        right: Expr,
        schema: &DFSchema,
    ) -> Result<Expr> {
        let (ours, theirs) = (left.get_type(schema)?, right.get_type(schema)?);
        let returns = match op {
            Operator::StringConcat => DataType::Utf8,
            _ => BinaryTypeCoercer::new(&ours, &op, &theirs).get_result_type()?,
        };
        let inner = match checked::moves(op, &ours, &theirs) {
            true => Inner::Move(op),
            false => Inner::Arithmetic(op),
        };
        let name = format!("total_{op}");
        Ok(Self::call(inner, name, vec![left, right], returns))
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

    /// The value of a text, as the policy says that it is written; NULL where it is not. It is named like a conversion,
    /// and costs as much.
    pub(crate) fn reading(text: Expr, written: Written, to: DataType) -> Expr {
        Self::call(Inner::Read(written), format!("total_cast_{to}"), vec![text], to)
    }

    fn call(inner: Inner, name: String, arguments: Vec<Expr>, returns: DataType) -> Expr {
        let signature = Signature::user_defined(Volatility::Immutable);
        let constant = arguments.iter().map(|a| matches!(a, Expr::Literal(..))).collect();
        let total = Self { inner, name, signature, constant, returns };
        Arc::new(ScalarUDF::from(total)).call(arguments)
    }

    /// The total function that is called, if it is one.
    pub(crate) fn of(call: &ScalarFunction) -> Option<&Self> {
        call.func.inner().downcast_ref::<Self>()
    }

    /// The type that a call converts its argument to, if it does nothing else.
    pub(crate) fn converts_to(call: &ScalarFunction) -> Option<&DataType> {
        match &Self::of(call)?.inner {
            Inner::Conversion(to) => Some(to),
            _ => None,
        }
    }

    /// The type of its values.
    pub(crate) fn returns(&self) -> &DataType {
        &self.returns
    }

    /// Whether it can fail on rows with these arguments, which are then computed one by one.
    pub(crate) fn may_fail(&self, arguments: &[Expr]) -> bool {
        let constant = |i: usize| match arguments.get(i) {
            Some(Expr::Literal(value, _)) => number(value),
            _ => None,
        };
        let float = self.returns.is_floating();
        match &self.inner {
            Inner::Search(_) | Inner::Edit(_) | Inner::Negation | Inner::Conversion(_) => false,
            Inner::Read(_) | Inner::Move(_) => false,
            // Intervals, and times with zones, may fail; the others are checked row by row.
            Inner::Arithmetic(Operator::StringConcat) => false,
            Inner::Arithmetic(_) => !self.returns.is_numeric(),
            Inner::Function(function) => match function.name() {
                "power" => !float || constant(1).is_none_or(|exponent| exponent < 0.0),
                "round" | "trunc" | "ceil" | "floor" => !float,
                "date_bin" | "date_trunc" => true,
                "substr" => {
                    let count = arguments.len() < 3 || constant(2).is_some_and(|n| n >= 0.0);
                    constant(1).is_none() || !count
                }
                "split_part" => constant(2).is_none_or(|part| part == 0.0),
                name => !never_fails(name),
            },
        }
    }

    /// Expands all arguments that are not constants into columns.
    fn columns(&self, mut arguments: ScalarFunctionArgs) -> Result<ScalarFunctionArgs> {
        for (value, constant) in arguments.args.iter_mut().zip(&self.constant) {
            if !constant && matches!(value, ColumnarValue::Scalar(_)) {
                *value = ColumnarValue::Array(value.to_array(arguments.number_rows)?);
            }
        }
        Ok(arguments)
    }

    /// Fails if a row's texts are too long for the operation.
    fn check_lengths(&self, arguments: &ScalarFunctionArgs) -> Result<()> {
        let Inner::Function(function) = &self.inner else { return Ok(()) };
        let looked_at = match function.name() {
            "concat" | "concat_ws" => arguments.args.len(),
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
                let arguments = match function.name() {
                    "abs" => without_least(arguments)?,
                    "sqrt" => without_negative(arguments)?,
                    _ => arguments,
                };
                function.invoke_with_args(arguments)
            }
            Inner::Search(search) => match arguments.args.first() {
                Some(text) => {
                    Ok(ColumnarValue::Array(search.find(&text.to_array(arguments.number_rows)?)?))
                }
                None => exec_err!("a search in nothing"),
            },
            Inner::Edit(edit) => match arguments.args.first() {
                Some(text) => Ok(ColumnarValue::Array(
                    edit.each(&text.to_array(arguments.number_rows)?, LONGEST)?,
                )),
                None => exec_err!("an edit of nothing"),
            },
            Inner::Arithmetic(op) | Inner::Move(op) => arithmetic(*op, &arguments),
            Inner::Negation => {
                let arrays = ColumnarValue::values_to_arrays(&arguments.args)?;
                Ok(ColumnarValue::Array(numeric::neg_wrapping(&arrays[0])?))
            }
            Inner::Conversion(to) => match arguments.args.first() {
                Some(value) => value.cast_to(to, Some(&SAFE)),
                None => exec_err!("a conversion of nothing"),
            },
            Inner::Read(written) => match arguments.args.first() {
                Some(text) => {
                    let texts = text.to_array(arguments.number_rows)?;
                    Ok(ColumnarValue::Array(written.read(&texts, &self.returns)?))
                }
                None => exec_err!("a reading of nothing"),
            },
        });
        let value = catch_unwind(attempt).unwrap_or_else(|_| exec_err!("a kernel failed"))?;
        shortened(value)
    }
}

/// The fields of a call's arguments, and of its result.
fn fields(
    function: &ScalarUDF,
    arguments: &[Expr],
    schema: &DFSchema,
) -> Result<(Vec<FieldRef>, FieldRef)> {
    let fields = arguments.iter().map(|a| a.to_field(schema).map(|(_, field)| field));
    let fields: Vec<FieldRef> = fields.collect::<Result<_>>()?;
    let scalars = arguments.iter().map(|argument| match argument {
        Expr::Literal(value, _) => Some(value),
        _ => None,
    });
    let scalars: Vec<Option<&ScalarValue>> = scalars.collect();
    let known = ReturnFieldArgs { arg_fields: &fields, scalar_arguments: &scalars };
    let returns = function.return_field_from_args(known)?;
    Ok((fields, returns))
}

/// Impossible values become NULL.
const SAFE: CastOptions<'static> = CastOptions { safe: true, format_options: FormatOptions::new() };

/// Replaces texts that are too long by NULL.
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
    if let Some(array) = checked::arithmetic(op, left, right) {
        return Ok(ColumnarValue::Array(array?));
    }
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

/// Replaces the smallest integer, which has no absolute value, by NULL.
fn without_least(mut arguments: ScalarFunctionArgs) -> Result<ScalarFunctionArgs> {
    for value in &mut arguments.args {
        let kind = value.data_type();
        if kind.is_signed_integer()
            && let Some(least) = ScalarValue::min(&kind)
        {
            let array = value.to_array(arguments.number_rows)?;
            let array = nullif(&array, &eq(&array, &least.to_scalar()?)?)?;
            *value = ColumnarValue::Array(array);
        }
    }
    Ok(arguments)
}

/// Replaces negative numbers, which have no root, by NULL: they would fail the whole batch.
fn without_negative(mut arguments: ScalarFunctionArgs) -> Result<ScalarFunctionArgs> {
    for value in &mut arguments.args {
        let array = value.to_array(arguments.number_rows)?;
        let zero = ScalarValue::new_zero(array.data_type())?.to_scalar()?;
        *value = ColumnarValue::Array(nullif(&array, &lt(&array, &zero)?)?);
    }
    Ok(arguments)
}

/// Replaces 0 in a divisor by NULL if a division by 0 would fail the whole batch.
fn without_zeros(divisor: &ArrayRef) -> Result<ArrayRef> {
    if !divisor.data_type().is_integer() && !divisor.data_type().is_decimal() {
        return Ok(Arc::clone(divisor));
    }
    let zero = ScalarValue::new_zero(divisor.data_type())?.to_scalar()?;
    Ok(nullif(divisor, &eq(divisor, &zero)?)?)
}

/// `left || right`; fails for the whole batch if the offsets would overflow.
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
        // Conversions and searches do not fail.
        let never = matches!(
            self.inner,
            Inner::Conversion(_) | Inner::Read(_) | Inner::Search(_) | Inner::Edit(_)
        );
        let long = !never && all.args.iter().any(|argument| text(&argument.data_type()));
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
    /// The values of some rows, in the largest pieces that succeed.
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
        // A kernel may return a different type than promised.
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

#[cfg(test)]
mod tests;
