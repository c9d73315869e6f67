//! Functions that DataFusion lacks: `CLAMP(x, low, high)`, and aggregates that exist for planning alone.
//!
//! `CLAMP` is rewritten to `LEAST` and `GREATEST`, and an aggregate over protected rows becomes a private mechanism.
//! None of these functions runs as such over protected rows.

use crate::rows::expression::text;
use crate::rows::times::{is_date, is_moment};
use datafusion::arrow::datatypes::{DataType, FieldRef};
use datafusion::common::types::{NativeType, logical_date, logical_float64};
use datafusion::common::{Result, not_impl_err};
use datafusion::functions::core::expr_fn::{greatest, least};
use datafusion::logical_expr::function::{
    AccumulatorArgs, AggregateFunctionSimplification, StateFieldsArgs,
};
use datafusion::logical_expr::simplify::{ExprSimplifyResult, SimplifyContext};
use datafusion::logical_expr::{
    Accumulator, AggregateUDF, AggregateUDFImpl, Coercion, ColumnarValue, Expr, GroupsAccumulator,
    ScalarFunctionArgs, ScalarUDF, ScalarUDFImpl, Signature, TypeSignature, TypeSignatureClass,
    Volatility,
};
use std::sync::Arc;

/// `CLAMP(x, low, high)`: x, limited to the range from `low` to `high`.
pub(crate) fn clamp() -> ScalarUDF {
    ScalarUDF::from(Clamp { signature: Signature::user_defined(Volatility::Immutable) })
}

/// An aggregate of one argument that the planner knows but no engine computes.
pub(crate) fn planned_only(name: &'static str, returns: Returns) -> AggregateUDF {
    let signature = Signature::any(1, Volatility::Immutable);
    AggregateUDF::from(PlannedOnly { name, returns, signature, ordered_set: false })
}

/// The same for `f(…) WITHIN GROUP (ORDER BY x)`, where x becomes the first of so many arguments.
pub(crate) fn ordered_set(name: &'static str, arguments: usize, returns: Returns) -> AggregateUDF {
    let signature = Signature::any(arguments, Volatility::Immutable);
    AggregateUDF::from(PlannedOnly { name, returns, signature, ordered_set: true })
}

/// The type that an aggregate returns.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Returns {
    /// The type of its argument.
    Argument,
    /// A real number.
    Real,
}

#[derive(Debug, PartialEq, Eq, Hash)]
struct Clamp {
    signature: Signature,
}

impl ScalarUDFImpl for Clamp {
    fn name(&self) -> &'static str {
        "clamp"
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn coerce_types(&self, arguments: &[DataType]) -> Result<Vec<DataType>> {
        match arguments {
            [a, b, c] if [a, b, c].iter().all(|t| t.is_integer()) => Ok(vec![DataType::Int64; 3]),
            [a, b, c] if [a, b, c].iter().all(|t| t.is_numeric()) => Ok(vec![DataType::Float64; 3]),
            // Bounds of a date or time may be written as texts.
            [a, b, c] if is_moment(a) && [b, c].iter().all(|t| is_moment(t) || text(t)) => {
                let time = [b, c].iter().any(|t| is_moment(t) && !is_date(t));
                let kind = if is_date(a) && time { b.clone() } else { a.clone() };
                Ok(vec![if is_moment(&kind) { kind } else { a.clone() }; 3])
            }
            _ => not_impl_err!(
                "CLAMP takes three numbers, or three dates or times: CLAMP(x, low, high)"
            ),
        }
    }

    fn return_type(&self, arguments: &[DataType]) -> Result<DataType> {
        Ok(arguments.first().cloned().unwrap_or(DataType::Float64))
    }

    fn invoke_with_args(&self, _: ScalarFunctionArgs) -> Result<ColumnarValue> {
        not_impl_err!("CLAMP is rewritten before it runs")
    }

    fn simplify(&self, mut args: Vec<Expr>, _: &SimplifyContext) -> Result<ExprSimplifyResult> {
        match (args.pop(), args.pop(), args.pop()) {
            (Some(high), Some(low), Some(value)) => {
                let clamped = least(vec![greatest(vec![value.clone(), low]), high]);
                Ok(ExprSimplifyResult::Simplified(crate::rows::admit::present(value, clamped)))
            }
            _ => not_impl_err!("CLAMP takes three arguments"),
        }
    }
}

/// An aggregate of numbers that is planned for dates and times too, with the type of its argument. The engine computes
/// it of numbers only.
pub(crate) fn of_times_too(function: Arc<AggregateUDF>, ranked: bool) -> AggregateUDF {
    let time = |class| {
        let rank = Coercion::new_implicit(
            TypeSignatureClass::Native(logical_float64()),
            vec![TypeSignatureClass::Numeric],
            NativeType::Float64,
        );
        let mut arguments = vec![Coercion::new_exact(class)];
        arguments.extend(ranked.then_some(rank));
        TypeSignature::Coercible(arguments)
    };
    let mut all = match &function.signature().type_signature {
        TypeSignature::OneOf(all) => all.clone(),
        one => vec![one.clone()],
    };
    all.push(time(TypeSignatureClass::Native(logical_date())));
    all.push(time(TypeSignatureClass::Timestamp));
    let signature = Signature::one_of(all, Volatility::Immutable);
    AggregateUDF::from(OfTimesToo { function, signature })
}

#[derive(Debug, PartialEq, Eq, Hash)]
struct OfTimesToo {
    function: Arc<AggregateUDF>,
    signature: Signature,
}

impl AggregateUDFImpl for OfTimesToo {
    fn name(&self) -> &str {
        self.function.name()
    }

    fn aliases(&self) -> &[String] {
        self.function.aliases()
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, arguments: &[DataType]) -> Result<DataType> {
        match arguments.first() {
            Some(kind) if kind.is_temporal() => Ok(kind.clone()),
            _ => self.function.return_type(arguments),
        }
    }

    fn supports_within_group_clause(&self) -> bool {
        self.function.supports_within_group_clause()
    }

    fn accumulator(&self, of: AccumulatorArgs<'_>) -> Result<Box<dyn Accumulator>> {
        match of.expr_fields.first() {
            Some(field) if field.data_type().is_temporal() => {
                let name = self.name().to_uppercase();
                not_impl_err!("{name} of dates and times is available over protected tables only")
            }
            _ => self.function.accumulator(of),
        }
    }

    fn state_fields(&self, of: StateFieldsArgs<'_>) -> Result<Vec<FieldRef>> {
        self.function.state_fields(of)
    }

    fn groups_accumulator_supported(&self, of: AccumulatorArgs<'_>) -> bool {
        let time = of.expr_fields.first().is_some_and(|field| field.data_type().is_temporal());
        !time && self.function.groups_accumulator_supported(of)
    }

    fn create_groups_accumulator(
        &self,
        of: AccumulatorArgs<'_>,
    ) -> Result<Box<dyn GroupsAccumulator>> {
        self.function.create_groups_accumulator(of)
    }

    fn simplify(&self) -> Option<AggregateFunctionSimplification> {
        self.function.simplify()
    }
}

#[derive(Debug, PartialEq, Eq, Hash)]
struct PlannedOnly {
    name: &'static str,
    returns: Returns,
    signature: Signature,
    /// Whether WITHIN GROUP may follow.
    ordered_set: bool,
}

impl AggregateUDFImpl for PlannedOnly {
    fn name(&self) -> &str {
        self.name
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, arguments: &[DataType]) -> Result<DataType> {
        Ok(match self.returns {
            Returns::Argument => arguments.first().cloned().unwrap_or(DataType::Null),
            Returns::Real => DataType::Float64,
        })
    }

    fn supports_within_group_clause(&self) -> bool {
        self.ordered_set
    }

    fn accumulator(&self, _: AccumulatorArgs<'_>) -> Result<Box<dyn Accumulator>> {
        not_impl_err!("{} is available over protected tables only", self.name.to_uppercase())
    }
}
