//! Detects what the engine's planner may have added to a plan of total expressions: a conversion that can fail on some
//! row, or patterns that are too large together.

use crate::refusal::{Refusal, Rule};
use crate::rows::admit::{LARGEST_PATTERNS, PATTERNS, like_size, pattern_size};
use crate::statement::names::type_in_words;
use datafusion::arrow::datatypes::DataType;
use datafusion::common::tree_node::{TreeNode, TreeNodeRecursion};
use datafusion::logical_expr::utils::merge_schema;
use datafusion::logical_expr::{BinaryExpr, Expr, ExprSchemable, LogicalPlan, Operator};

/// Refuses an engine's plan that contains a conversion which can fail on some row. We write none ourselves, so this
/// checks that the engine's planner added none.
pub(crate) fn check(plan: &LogicalPlan) -> Result<(), Refusal> {
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
                        risky = Some(type_in_words(cast.field.data_type()).to_owned());
                    }
                }
                // Values of unequal types never compare, or fail at the first row that gets there.
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

/// Whether values of these types compare without conversion.
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
