//! What is wrong with the plan above the cut whatever is released: it is found before anything is bought, and costs nothing.
//!
//! Constants are computed as PostgreSQL's planner computes them: all of them, also on branches of a CASE that no row may
//! reach, except where another constant decides that they are not needed (`CASE WHEN false THEN 1 / 0 END`).

use crate::error::engine::computing;
use crate::error::{Error, Result};
use crate::refusal::{Refusal, Rule};
use datafusion::arrow::array::{RecordBatch, RecordBatchOptions};
use datafusion::arrow::datatypes::Schema;
use datafusion::common::tree_node::{TreeNode, TreeNodeRecursion};
use datafusion::common::{DFSchema, ScalarValue};
use datafusion::error::DataFusionError;
use datafusion::execution::SessionState;
use datafusion::logical_expr::simplify::SimplifyContext;
use datafusion::logical_expr::{Expr, LogicalPlan, Operator, Volatility};
use datafusion::optimizer::simplify_expressions::ExprSimplifier;
use std::sync::Arc;

/// Refuses a plan with a constant that cannot be computed, or with SIMILAR TO, which the engine takes for a regular
/// expression.
pub(super) fn check(plan: &LogicalPlan, state: &SessionState) -> Result<()> {
    let mut wrong: Option<Error> = None;
    let walked = plan.apply_with_subqueries(|node| {
        node.apply_expressions(|expr| {
            wrong = match expr.exists(|part| Ok(matches!(part, Expr::SimilarTo(_))))? {
                true => Some(similar_to()),
                false => failing(expr, state).map(|error| Error::Sql(computing(&error))),
            };
            Ok(match wrong {
                Some(_) => TreeNodeRecursion::Stop,
                None => TreeNodeRecursion::Continue,
            })
        })
    });
    match (wrong, walked) {
        (Some(error), _) => Err(error),
        (None, Err(error)) => Err(Error::planning(&error)),
        (None, Ok(_)) => Ok(()),
    }
}

fn similar_to() -> Error {
    Refusal::new(Rule::Function, "SIMILAR TO is not available", "write it with ~ or LIKE").into()
}

/// The error of a constant in the expression, if one fails.
fn failing(expr: &Expr, state: &SessionState) -> Option<DataFusionError> {
    if matches!(expr, Expr::Literal(..) | Expr::Column(_)) {
        return None;
    }
    if is_constant(expr) {
        return value(expr, state).err();
    }
    let known = |expr: &Expr| match is_constant(expr) {
        true => value(expr, state).ok().flatten(),
        false => None,
    };
    let truth = |expr: &Expr| match known(expr) {
        Some(ScalarValue::Boolean(Some(truth))) => Some(truth),
        _ => None,
    };
    match expr {
        Expr::BinaryExpr(binary) if matches!(binary.op, Operator::And | Operator::Or) => {
            let decides = truth(&binary.left) == Some(binary.op == Operator::Or);
            let right = || failing(&binary.right, state).filter(|_| !decides);
            failing(&binary.left, state).or_else(right)
        }
        Expr::Case(case) if case.expr.is_none() => {
            for (when, then) in &case.when_then_expr {
                if let Some(error) = failing(when, state) {
                    return Some(error);
                }
                match truth(when) {
                    Some(true) => return failing(then, state),
                    None if !is_constant(when) => {}
                    _ => continue,
                }
                if let Some(error) = failing(then, state) {
                    return Some(error);
                }
            }
            failing(case.else_expr.as_deref()?, state)
        }
        Expr::ScalarFunction(call) if matches!(call.name(), "coalesce" | "nvl") => {
            for argument in &call.args {
                if let Some(error) = failing(argument, state) {
                    return Some(error);
                }
                if known(argument).is_some_and(|value| !value.is_null()) {
                    break;
                }
            }
            None
        }
        _ => {
            let mut found = None;
            let walked = expr.apply_children(|child| {
                found = failing(child, state);
                Ok(match found {
                    Some(_) => TreeNodeRecursion::Stop,
                    None => TreeNodeRecursion::Continue,
                })
            });
            found.or(walked.err())
        }
    }
}

/// Whether an expression has the same value on every row of every table.
fn is_constant(expr: &Expr) -> bool {
    let varies = |part: &Expr| {
        Ok(match part {
            Expr::ScalarFunction(call) => call.func.signature().volatility == Volatility::Volatile,
            Expr::Alias(_)
            | Expr::Literal(..)
            | Expr::BinaryExpr(_)
            | Expr::Like(_)
            | Expr::Not(_)
            | Expr::IsNotNull(_)
            | Expr::IsNull(_)
            | Expr::IsTrue(_)
            | Expr::IsFalse(_)
            | Expr::IsUnknown(_)
            | Expr::IsNotTrue(_)
            | Expr::IsNotFalse(_)
            | Expr::IsNotUnknown(_)
            | Expr::Negative(_)
            | Expr::Between(_)
            | Expr::Case(_)
            | Expr::Cast(_)
            | Expr::TryCast(_)
            | Expr::InList(_) => false,
            _ => true,
        })
    };
    expr.exists(varies).is_ok_and(|varies| !varies)
}

/// The value of a constant; `None` if only the engine's planner knows how to compute it.
fn value(
    expr: &Expr,
    state: &SessionState,
) -> std::result::Result<Option<ScalarValue>, DataFusionError> {
    let schema = Arc::new(DFSchema::empty());
    let context = SimplifyContext::builder().with_schema(Arc::clone(&schema)).build();
    let simple = ExprSimplifier::new(context).simplify(expr.clone().unalias())?;
    if let Expr::Literal(value, _) = simple {
        return Ok(Some(value));
    }
    let one = RecordBatchOptions::new().with_row_count(Some(1));
    let row = RecordBatch::try_new_with_options(Arc::new(Schema::empty()), Vec::new(), &one)?;
    let physical = state.create_physical_expr(simple, &schema)?;
    match physical.evaluate(&row).and_then(|value| value.into_array(1)) {
        Ok(array) => ScalarValue::try_from_array(&array, 0).map(Some),
        Err(DataFusionError::NotImplemented(_) | DataFusionError::Internal(_)) => Ok(None),
        Err(error) => Err(error),
    }
}

#[cfg(test)]
mod tests;
