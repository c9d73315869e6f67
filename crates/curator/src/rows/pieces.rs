//! The values of expressions of one date or time with bounds: their values at the first moment of each piece of its
//! range ([`crate::rows::times`]).

use crate::rows::admit::admit;
use crate::rows::domain::{MOST_KEYS, Scope, evaluate, on_values};
use crate::rows::expression::Facts;
use crate::rows::times::{Cuts, DAY, Line, is_moment, microseconds, tick, value_at};
use datafusion::arrow::array::{RecordBatch, RecordBatchOptions};
use datafusion::arrow::datatypes::{DataType, Schema};
use datafusion::common::{Column, DFSchema, ExprSchema, ScalarValue};
use datafusion::logical_expr::{Between, BinaryExpr, Expr, Operator};
use std::sync::Arc;

/// The column of dates or times with bounds that is the only column of an expression.
pub(crate) fn only_column(expr: &Expr, scope: &Scope<'_>) -> Option<Column> {
    let columns = expr.column_refs();
    let mut columns = columns.into_iter();
    let (column, None) = (columns.next()?, columns.next()) else { return None };
    let known = scope.rows.facts_of(column)?;
    let kind = scope.rows.schema().data_type(column).ok()?;
    let bounded = is_moment(kind) && known.values.is_none() && known.interval.finite().is_some();
    bounded.then(|| column.clone())
}

/// The values of an expression of one column of dates or times with bounds, including NULL if it is possible; `None` if
/// they are not known.
pub(super) fn values(expr: &Expr, scope: &Scope<'_>) -> Option<Vec<ScalarValue>> {
    let column = only_column(expr, scope)?;
    tuples(&[expr], &column, scope)?.pop()
}

/// The values of several expressions of one such column: for each expression a list, all of the same length, since they
/// belong together.
pub(super) fn tuples(
    exprs: &[&Expr],
    column: &Column,
    scope: &Scope<'_>,
) -> Option<Vec<Vec<ScalarValue>>> {
    let schema = scope.rows.schema();
    let kind = schema.data_type(column).ok()?;
    let known = scope.rows.facts_of(column)?;
    let constant = |expr: &Expr| constant(expr, scope);
    let line = Line { column, kind, constant: &constant };
    let mut own = line.cuts(&Expr::Column(column.clone()).is_null())?;
    for expr in exprs {
        own = own.and(&line.cuts(expr)?);
    }
    let conditions: Vec<&Expr> = scope.conditions.iter().filter(|c| only(c, column)).collect();
    // An answer needs at least one group: conditions that no moment meets leave none out.
    let moments = narrowed(&own, &conditions, &line, known, scope)
        .filter(|moments| !moments.is_empty())
        .or_else(|| all(&own, range(known)?, kind, known.nullable))?;
    let parts = [(Expr::Column(column.clone()), moments)];
    let n = parts[0].1.len();
    let of = |expr: &&Expr| {
        let shape = on_values(&admit((*expr).clone(), scope.rows).ok()?, column)?;
        evaluate(&shape, &parts, n, scope.rows, scope.state).ok()
    };
    exprs.iter().map(of).collect()
}

fn only(expr: &Expr, column: &Column) -> bool {
    let columns = expr.column_refs();
    columns.len() == 1 && columns.contains(column)
}

/// The declared range of a date or time.
fn range(known: &Facts) -> Option<(i64, i64)> {
    let (low, high) = known.interval.finite()?;
    (low.abs().max(high.abs()) < 9e18).then_some((low as i64, high as i64))
}

/// The first moments of all pieces, and NULL.
fn all(
    cuts: &Cuts,
    range: (i64, i64),
    kind: &DataType,
    nullable: bool,
) -> Option<Vec<ScalarValue>> {
    let starts = cuts.starts(range, tick(kind), MOST_KEYS)?;
    let null = nullable.then(|| ScalarValue::try_from(kind).ok());
    starts.into_iter().map(|start| value_at(start, kind)).chain(null).collect()
}

/// Those that meet the conditions on this column alone.
fn narrowed(
    own: &Cuts,
    conditions: &[&Expr],
    line: &Line<'_>,
    known: &Facts,
    scope: &Scope<'_>,
) -> Option<Vec<ScalarValue>> {
    let mut range = range(known)?;
    for condition in conditions {
        range = within(condition, line, range);
    }
    if range.0 > range.1 {
        return None;
    }
    // A condition that makes too many pieces narrows nothing.
    let (mut cuts, mut checked) = (own.clone(), Vec::new());
    for condition in conditions {
        let both = line.cuts(condition).map(|more| cuts.clone().and(&more));
        if let Some(both) =
            both.filter(|both| both.starts(range, tick(line.kind), MOST_KEYS).is_some())
        {
            cuts = both;
            checked.push(condition);
        }
    }
    let mut kept = all(&cuts, range, line.kind, known.nullable)?;
    for condition in checked {
        let Some(shape) = on_values(condition, line.column) else { continue };
        let n = kept.len();
        let parts = [(Expr::Column(line.column.clone()), kept.clone())];
        let Ok(met) = evaluate(&shape, &parts, n, scope.rows, scope.state) else { continue };
        let mut met = met.iter().map(|met| matches!(met, ScalarValue::Boolean(Some(true))));
        kept.retain(|_| met.next().unwrap_or(true));
        if kept.is_empty() {
            return None;
        }
    }
    Some(kept)
}

/// The part of a range in which a comparison with constants can be true. Moments beside it may remain.
fn within(condition: &Expr, line: &Line<'_>, (low, high): (i64, i64)) -> (i64, i64) {
    let at = |expr: &Expr| microseconds(&(line.constant)(expr)?);
    let after = |expr: &Expr| at(expr).map_or(low, |at| at.max(low));
    // A time that is converted to a date is up to a day later than that.
    let before = |expr: &Expr| at(expr).map_or(high, |at| at.saturating_add(DAY).min(high));
    let is_moment = |expr: &Expr| line.moment(expr).is_some();
    match condition {
        Expr::Between(Between { expr, negated: false, low, high }) if is_moment(expr) => {
            (after(low), before(high))
        }
        Expr::BinaryExpr(BinaryExpr { left, op, right }) => {
            let (op, other) = match (is_moment(left), is_moment(right)) {
                (true, false) => (*op, right),
                (false, true) => (op.swap().unwrap_or(Operator::NotEq), left),
                _ => return (low, high),
            };
            match op {
                Operator::Gt | Operator::GtEq => (after(other), high),
                Operator::Lt | Operator::LtEq => (low, before(other)),
                Operator::Eq => (after(other), before(other)),
                _ => (low, high),
            }
        }
        _ => (low, high),
    }
}

/// The value of an expression without columns.
fn constant(expr: &Expr, scope: &Scope<'_>) -> Option<ScalarValue> {
    if let Expr::Literal(value, _) = expr {
        return Some(value.clone());
    }
    if !expr.column_refs().is_empty() {
        return None;
    }
    let schema = Arc::new(Schema::empty());
    let options = RecordBatchOptions::new().with_row_count(Some(1));
    let row = RecordBatch::try_new_with_options(Arc::clone(&schema), Vec::new(), &options).ok()?;
    let schema = DFSchema::try_from(schema).ok()?;
    let value =
        scope.state.create_physical_expr(expr.clone(), &schema).ok()?.evaluate(&row).ok()?;
    ScalarValue::try_from_array(&value.into_array(1).ok()?, 0).ok()
}
