//! Public group keys: all possible values of an expression, found without reading rows.
//!
//! A column's values are public if the policy lists them, if it is boolean, or if it is an integer between public
//! bounds. An expression's values are public if those of its parts are: it is evaluated on every combination. So `age
//! / 10 * 10`, `CASE WHEN … THEN 'low' ELSE 'high' END` and `extract(month from day)` have public keys.
//!
//! Conditions of the query leave out values that no row can have: after `WHERE mode IN ('MAIL', 'SHIP')` there are two.

use crate::rows::Rows;
use crate::rows::expression::{Facts, facts};
use datafusion::arrow::array::{RecordBatch, RecordBatchOptions};
use datafusion::arrow::datatypes::{DataType, Field, Schema};
use datafusion::common::tree_node::{Transformed, TreeNode};
use datafusion::common::{Column, DFSchema, Result, ScalarValue};
use datafusion::execution::SessionState;
use datafusion::logical_expr::utils::split_conjunction;
use datafusion::logical_expr::{Expr, ExprSchemable, LogicalPlan};
use std::sync::Arc;

/// The largest number of public keys. More would be a search.
pub(crate) const MOST_KEYS: usize = 100_000;
/// The largest number of values on which conditions are evaluated.
const MOST_NARROWED: usize = 10_000;
/// The largest number of combinations on which an expression is evaluated.
const MOST_POINTS: usize = 200_000;

/// All possible values of `expr`, including NULL if it is possible; `None` if they are not known.
pub(crate) fn values(expr: &Expr, rows: &Rows, state: &SessionState) -> Option<Vec<ScalarValue>> {
    let data_type = expr.get_type(rows.schema()).ok()?;
    let found = find(expr, &Scope::new(rows, state), &data_type)?;
    let mut unique: Vec<ScalarValue> = Vec::new();
    let mut seen = std::collections::HashSet::new();
    for value in found {
        let value = normal(value.cast_to(&data_type).ok()?);
        if seen.insert(value.clone()) {
            unique.push(value);
        }
    }
    (unique.len() <= MOST_KEYS).then_some(unique)
}

/// The rows, and the conditions that every one of them meets.
struct Scope<'a> {
    rows: &'a Rows,
    state: &'a SessionState,
    conditions: Vec<Expr>,
}

impl<'a> Scope<'a> {
    fn new(rows: &'a Rows, state: &'a SessionState) -> Self {
        let (mut conditions, mut plan) = (Vec::new(), &rows.plan);
        while let LogicalPlan::Filter(filter) = plan {
            conditions.extend(split_conjunction(&filter.predicate).into_iter().cloned());
            plan = &filter.input;
        }
        Self { rows, state, conditions }
    }

    /// The listed values of a column for which every condition on this column alone is true. If no value is left, all
    /// of them are returned, because an answer needs at least one group.
    fn kept(&self, column: &Expr, values: Vec<ScalarValue>) -> Vec<ScalarValue> {
        let Expr::Column(name) = column else { return values };
        if values.len() > MOST_NARROWED {
            return values;
        }
        let mut kept = values.clone();
        for condition in &self.conditions {
            let columns = condition.column_refs();
            if columns.len() != 1 || !columns.contains(name) {
                continue;
            }
            let on_values = condition.clone().transform(|expr| {
                let own = matches!(&expr, Expr::Column(column) if column == name);
                Ok(if own { Transformed::yes(variable(0)) } else { Transformed::no(expr) })
            });
            let Ok(Transformed { data: shape, .. }) = on_values else { continue };
            let parts = [(column.clone(), kept.clone())];
            let Ok(met) = evaluate(&shape, &parts, kept.len(), self.rows, self.state) else {
                continue;
            };
            let mut met = met.iter().map(|met| matches!(met, ScalarValue::Boolean(Some(true))));
            kept.retain(|_| met.next().unwrap_or(true));
            if kept.is_empty() {
                return values;
            }
        }
        kept
    }
}

/// Normalizes a value as group keys do: −0 becomes 0, and there is one NaN.
pub(crate) fn normal(value: ScalarValue) -> ScalarValue {
    match value {
        ScalarValue::Float64(Some(0.0)) => ScalarValue::Float64(Some(0.0)), // −0 too
        ScalarValue::Float32(Some(0.0)) => ScalarValue::Float32(Some(0.0)),
        ScalarValue::Float64(Some(x)) if x.is_nan() => ScalarValue::Float64(Some(f64::NAN)),
        ScalarValue::Float32(Some(x)) if x.is_nan() => ScalarValue::Float32(Some(f32::NAN)),
        other => other,
    }
}

fn find(expr: &Expr, scope: &Scope<'_>, data_type: &DataType) -> Option<Vec<ScalarValue>> {
    match expr {
        Expr::Alias(alias) => return find(&alias.expr, scope, data_type),
        Expr::Literal(value, _) => return Some(vec![value.clone()]),
        Expr::Case(case) => {
            // Whatever the conditions are, the value is that of one branch.
            let branches = case.when_then_expr.iter().map(|(_, then)| then).chain(&case.else_expr);
            let mut all = Vec::new();
            for branch in branches {
                all.extend(find(branch, scope, data_type)?);
            }
            if case.else_expr.is_none() {
                all.push(ScalarValue::Null);
            }
            return Some(all);
        }
        _ => {}
    }
    // From its parts first: `age / 10 * 10` is an integer in a range of 122 values, but has only 13.
    over_parts(expr, scope).or_else(|| {
        let values = listed(&facts(expr, scope.rows), data_type)?;
        Some(scope.kept(expr, values))
    })
}

/// The values that follow from the facts about the expression itself.
fn listed(known: &Facts, data_type: &DataType) -> Option<Vec<ScalarValue>> {
    let mut values = match &known.values {
        Some(values) => values.clone(),
        None if *data_type == DataType::Boolean => {
            vec![ScalarValue::Boolean(Some(false)), ScalarValue::Boolean(Some(true))]
        }
        None if known.integral => {
            let (low, high) = known.interval.finite()?;
            let (low, high) = (low.ceil(), high.floor());
            if low.abs().max(high.abs()) > 9e15 || high - low >= MOST_KEYS as f64 {
                return None;
            }
            (low as i64..=high as i64).map(|k| ScalarValue::Int64(Some(k))).collect()
        }
        None => return None,
    };
    if known.nullable {
        values.push(ScalarValue::Null);
    }
    Some(values)
}

/// The values that follow from those of its parts, by evaluating it on every combination.
fn over_parts(expr: &Expr, scope: &Scope<'_>) -> Option<Vec<ScalarValue>> {
    let mut parts: Vec<(Expr, Vec<ScalarValue>)> = Vec::new();
    let shape = replace(expr, true, &mut parts, scope)?;
    if parts.is_empty() {
        return None;
    }
    let points = parts.iter().try_fold(1usize, |n, (_, values)| n.checked_mul(values.len()))?;
    if points == 0 || points > MOST_POINTS {
        return None;
    }
    evaluate(&shape, &parts, points, scope.rows, scope.state).ok()
}

/// Replaces the largest sub-expressions with known values by columns `v0`, `v1`, …
fn replace(
    expr: &Expr,
    top: bool,
    parts: &mut Vec<(Expr, Vec<ScalarValue>)>,
    scope: &Scope<'_>,
) -> Option<Expr> {
    if let Expr::Literal(..) = expr {
        return Some(expr.clone());
    }
    if !top {
        let data_type = expr.get_type(scope.rows.schema()).ok()?;
        let at = parts.iter().position(|(part, _)| part == expr);
        if let Some(at) = at {
            return Some(variable(at));
        }
        if let Some(values) = values_of_part(expr, scope, &data_type) {
            parts.push((expr.clone(), values));
            return Some(variable(parts.len() - 1));
        }
    }
    match expr {
        Expr::BinaryExpr(binary) => {
            let mut binary = binary.clone();
            *binary.left = replace(&binary.left, false, parts, scope)?;
            *binary.right = replace(&binary.right, false, parts, scope)?;
            Some(Expr::BinaryExpr(binary))
        }
        Expr::ScalarFunction(call) => {
            let mut call = call.clone();
            for argument in &mut call.args {
                *argument = replace(argument, false, parts, scope)?;
            }
            Some(Expr::ScalarFunction(call))
        }
        Expr::TryCast(cast) => {
            let mut cast = cast.clone();
            *cast.expr = replace(&cast.expr, false, parts, scope)?;
            Some(Expr::TryCast(cast))
        }
        Expr::Cast(cast) => {
            let mut cast = cast.clone();
            *cast.expr = replace(&cast.expr, false, parts, scope)?;
            Some(Expr::Cast(cast))
        }
        Expr::Negative(inner) => {
            Some(Expr::Negative(Box::new(replace(inner, false, parts, scope)?)))
        }
        _ => None,
    }
}

fn values_of_part(
    expr: &Expr,
    scope: &Scope<'_>,
    data_type: &DataType,
) -> Option<Vec<ScalarValue>> {
    let rows = scope.rows;
    match expr {
        Expr::Column(_) => {
            let values = listed(&facts(expr, rows), data_type)?;
            Some(scope.kept(expr, values))
        }
        Expr::Case(_) => find(expr, scope, data_type),
        // An integer with its own bounds, such as floor(x / 10).
        _ => {
            let known = facts(expr, rows);
            let small = known.integral && known.interval.finite().is_some();
            if small { listed(&known, data_type) } else { None }
        }
    }
}

fn variable(i: usize) -> Expr {
    Expr::Column(Column::new_unqualified(format!("v{i}")))
}

fn evaluate(
    shape: &Expr,
    parts: &[(Expr, Vec<ScalarValue>)],
    points: usize,
    rows: &Rows,
    state: &SessionState,
) -> Result<Vec<ScalarValue>> {
    let mut fields = Vec::new();
    let mut columns = Vec::new();
    let mut stride = 1;
    for (i, (part, values)) in parts.iter().enumerate() {
        let data_type = part.get_type(rows.schema())?;
        let cast = values.iter().map(|value| value.cast_to(&data_type));
        let cast: Vec<ScalarValue> = cast.collect::<Result<_>>()?;
        let all = (0..points).map(|point| cast[point / stride % cast.len()].clone());
        columns.push(ScalarValue::iter_to_array(all)?);
        fields.push(Field::new(format!("v{i}"), data_type, true));
        stride *= values.len();
    }
    let schema = Arc::new(Schema::new(fields));
    let options = RecordBatchOptions::new().with_row_count(Some(points));
    let batch = RecordBatch::try_new_with_options(Arc::clone(&schema), columns, &options)?;
    let schema = DFSchema::try_from(schema)?;
    let evaluated =
        state.create_physical_expr(shape.clone(), &schema)?.evaluate(&batch)?.into_array(points)?;
    (0..points).map(|point| ScalarValue::try_from_array(&evaluated, point)).collect()
}
