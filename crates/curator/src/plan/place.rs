//! Recognises conditions that keep one row of each person: `n = 1` over `ROW_NUMBER() OVER (PARTITION BY id …) AS n`.

use crate::bound::{CapRows, Most};
use crate::rows::expression::number;
use crate::rows::{Owner, Rows, UNIT};
use datafusion::arrow::datatypes::DataType;
use datafusion::logical_expr::utils::split_conjunction;
use datafusion::logical_expr::{BinaryExpr, Expr, LogicalPlan, Operator};

/// Whether a condition keeps at most one row of each person: the first of a window that numbers them.
pub(super) fn keeps_one(rows: &Rows, condition: &Expr) -> bool {
    let numbers = |expr: &Expr| match counted(expr) {
        Some(Expr::Column(column)) => {
            let at = rows.schema().maybe_index_of_column(column);
            at.is_some_and(|at| is_place(&rows.plan, at))
        }
        _ => false,
    };
    split_conjunction(condition).into_iter().any(|part| {
        let Expr::BinaryExpr(BinaryExpr { left, op, right }) = part else { return false };
        let (place, op, limit) = match (limit(left), limit(right)) {
            (None, Some(limit)) => (left, *op, limit),
            (Some(limit), None) => match op.swap() {
                Some(op) => (right, op, limit),
                None => return false,
            },
            _ => return false,
        };
        let one = match op {
            Operator::Eq => limit == 1.0,
            Operator::LtEq => limit < 2.0,
            Operator::Lt => limit <= 2.0,
            _ => false,
        };
        one && numbers(place)
    })
}

/// What is compared, without conversions that keep whole numbers of 2 or more away from 1: to integers, floats and
/// decimals with all places before the point. A decimal of negative scale makes 2 and 0 equal.
fn counted(expr: &Expr) -> Option<&Expr> {
    let (inner, to) = match expr {
        Expr::Cast(cast) => (&cast.expr, cast.field.data_type()),
        Expr::TryCast(cast) => (&cast.expr, cast.field.data_type()),
        other => return Some(other),
    };
    let keeps = match to {
        DataType::Decimal128(_, scale) | DataType::Decimal256(_, scale) => *scale >= 0,
        to => to.is_integer() || to.is_floating(),
    };
    if keeps { counted(inner) } else { None }
}

/// The number that places are compared with: a literal that a float holds exactly, or an integer that is converted to
/// one. Other conversions may round.
fn limit(expr: &Expr) -> Option<f64> {
    let whole =
        |expr: &Expr| matches!(expr, Expr::Literal(value, _) if value.data_type().is_integer());
    match expr {
        Expr::Literal(value, _)
            if value.data_type().is_integer() || value.data_type().is_floating() =>
        {
            number(value)
        }
        Expr::Cast(cast) if whole(&cast.expr) => counted(expr).and_then(limit),
        Expr::TryCast(cast) if whole(&cast.expr) => counted(expr).and_then(limit),
        _ => None,
    }
}

/// Whether a column holds the number of each row among its person's, 1, 2, …, each at most once. Only steps that make no
/// rows keep this.
fn is_place(plan: &LogicalPlan, at: usize) -> bool {
    match plan {
        LogicalPlan::Projection(projection) => match projection.expr.get(at) {
            Some(expr) => match expr.clone().unalias_nested().data {
                Expr::Column(column) => {
                    let at = projection.input.schema().maybe_index_of_column(&column);
                    at.is_some_and(|at| is_place(&projection.input, at))
                }
                _ => false,
            },
            None => false,
        },
        LogicalPlan::SubqueryAlias(alias) => is_place(&alias.input, at),
        LogicalPlan::Filter(filter) => is_place(&filter.input, at),
        LogicalPlan::Window(window) => {
            let first = window.input.schema().fields().len();
            if at < first {
                return is_place(&window.input, at);
            }
            let function = window.window_expr.get(at - first).cloned().map(Expr::unalias);
            let Some(Expr::WindowFunction(function)) = function else { return false };
            let by_person = matches!(&function.params.partition_by[..], [Expr::Column(unit)]
                if unit.name.starts_with(UNIT));
            by_person && function.fun.name() == "row_number"
        }
        _ => false,
    }
}

/// The rows, of which there is at most one for each person if `once`.
pub(super) fn one_each_if(rows: Rows, once: bool) -> Rows {
    match rows.owner {
        Owner::Person { column, once: false } if once => {
            let plan = CapRows::plan(rows.plan, &column, Most::Once);
            Rows { plan, owner: Owner::Person { column, once: true }, ..rows }
        }
        owner => Rows { owner, ..rows },
    }
}
