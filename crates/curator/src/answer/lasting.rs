//! Functions whose result changes from run to run: `random()`, `now()`, `uuid()`.
//!
//! Bought answers are found by their plan. A plan with such a function has more than one answer, so the stored one
//! could be from another draw, or from another day.

use datafusion::common::tree_node::{TreeNode, TreeNodeRecursion};
use datafusion::error::Result;
use datafusion::logical_expr::{Expr, LogicalPlan, Volatility};

/// The name of a function in `plan` whose result may change from run to run.
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
