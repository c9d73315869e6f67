//! Functions that DataFusion lacks: `CLAMP(x, low, high)`, and aggregates that exist for planning alone.
//!
//! `CLAMP` is rewritten to `LEAST` and `GREATEST`, and an aggregate over protected rows becomes a private mechanism.
//! None of these functions runs as such over protected rows.

use datafusion::arrow::datatypes::DataType;
use datafusion::common::{Result, not_impl_err};
use datafusion::functions::core::expr_fn::{greatest, least};
use datafusion::logical_expr::function::AccumulatorArgs;
use datafusion::logical_expr::simplify::{ExprSimplifyResult, SimplifyContext};
use datafusion::logical_expr::{
    Accumulator, AggregateUDF, AggregateUDFImpl, ColumnarValue, Expr, ScalarFunctionArgs,
    ScalarUDF, ScalarUDFImpl, Signature, Volatility,
};

/// `CLAMP(x, low, high)`: x, limited to the range from `low` to `high`.
pub(crate) fn clamp() -> ScalarUDF {
    ScalarUDF::from(Clamp { signature: Signature::user_defined(Volatility::Immutable) })
}

/// An aggregate of one argument that the planner knows but no engine computes.
pub(crate) fn planned_only(name: &'static str, returns: Returns) -> AggregateUDF {
    AggregateUDF::from(PlannedOnly {
        name,
        returns,
        signature: Signature::any(1, Volatility::Immutable),
    })
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
            _ => not_impl_err!("CLAMP takes three numbers: CLAMP(x, low, high)"),
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
            _ => not_impl_err!("CLAMP takes three numbers"),
        }
    }
}

#[derive(Debug, PartialEq, Eq, Hash)]
struct PlannedOnly {
    name: &'static str,
    returns: Returns,
    signature: Signature,
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

    fn accumulator(&self, _: AccumulatorArgs<'_>) -> Result<Box<dyn Accumulator>> {
        not_impl_err!("{} is available over protected tables only", self.name.to_uppercase())
    }
}
