//! Queries that read nothing: `LIMIT 0`, `WHERE 1 = 0`, `WHERE false`.
//!
//! Programs ask them to learn the columns of a table. What they select is empty whatever the rows are, so the part of
//! the plan below is replaced by an empty table: nothing is read and nothing is paid.

use datafusion::common::tree_node::{Transformed, TreeNode};
use datafusion::common::{DFSchema, Result, ScalarValue};
use datafusion::logical_expr::simplify::SimplifyContext;
use datafusion::logical_expr::utils::split_conjunction;
use datafusion::logical_expr::{EmptyRelation, Expr, FetchType, LogicalPlan};
use datafusion::optimizer::simplify_expressions::ExprSimplifier;
use std::sync::Arc;

/// The plan with an empty table for every part that has no rows, whatever the tables hold.
pub(crate) fn without_empty_parts(plan: LogicalPlan) -> Result<LogicalPlan> {
    let replaced = plan.transform_down_with_subqueries(|node| {
        let empty = match &node {
            LogicalPlan::Limit(limit) => {
                matches!(limit.get_fetch_type(), Ok(FetchType::Literal(Some(0))))
            }
            LogicalPlan::Filter(filter) => {
                split_conjunction(&filter.predicate).into_iter().any(never_true)
            }
            _ => false,
        };
        if !empty {
            return Ok(Transformed::no(node));
        }
        let schema = Arc::clone(node.schema());
        let relation = EmptyRelation { produce_one_row: false, schema };
        Ok(Transformed::yes(LogicalPlan::EmptyRelation(relation)))
    });
    replaced.map(|replaced| replaced.data)
}

/// Whether a condition is a constant that is not true.
fn never_true(condition: &Expr) -> bool {
    let constant = |part: &Expr| {
        matches!(
            part,
            Expr::Literal(..)
                | Expr::BinaryExpr(_)
                | Expr::Not(_)
                | Expr::Cast(_)
                | Expr::TryCast(_)
                | Expr::Negative(_)
                | Expr::IsNull(_)
                | Expr::IsNotNull(_)
                | Expr::Between(_)
                | Expr::InList(_)
        )
    };
    if !condition.exists(|part| Ok(!constant(part))).is_ok_and(|other| !other) {
        return false;
    }
    let context = SimplifyContext::builder().with_schema(Arc::new(DFSchema::empty())).build();
    let simple = ExprSimplifier::new(context).simplify(condition.clone());
    matches!(
        simple,
        Ok(Expr::Literal(ScalarValue::Boolean(Some(false) | None) | ScalarValue::Null, _))
    )
}
