//! Functions that give something else the next time: `random()`, `now()`, `uuid()`.
//!
//! What was bought is found by the plan that bought it. A plan with such a function stands for
//! more than one answer, so an answer that was found by it could be of another draw, or of
//! another day.

use datafusion::common::tree_node::{TreeNode, TreeNodeRecursion};
use datafusion::error::Result;
use datafusion::logical_expr::{Expr, LogicalPlan, Volatility};

/// The name of a function in `plan` that need not give the same whenever it is run.
pub(crate) fn changing(plan: &LogicalPlan) -> Result<Option<String>> {
    let mut found = None;
    plan.apply_with_subqueries(|node| {
        node.apply_expressions(|expr| {
            expr.apply(|part| {
                let (name, volatility) = match part {
                    Expr::ScalarFunction(call) => {
                        (call.func.name(), call.func.signature().volatility)
                    }
                    Expr::AggregateFunction(call) => {
                        (call.func.name(), call.func.signature().volatility)
                    }
                    Expr::WindowFunction(call) => {
                        (call.fun.name(), call.fun.signature().volatility)
                    }
                    _ => return Ok(TreeNodeRecursion::Continue),
                };
                if volatility == Volatility::Immutable {
                    return Ok(TreeNodeRecursion::Continue);
                }
                found = Some(name.to_owned());
                Ok(TreeNodeRecursion::Stop)
            })
        })
    })?;
    Ok(found)
}
