//! Public group keys: all possible values of an expression, found without reading rows.
//!
//! A column's values are public if the policy lists them, if it is boolean, or if it is an integer or a date between public
//! bounds. An expression's values are public if those of its parts are: it is evaluated on every combination. So `age
//! / 10 * 10`, `CASE WHEN … THEN 'low' ELSE 'high' END` and `extract(month from day)` have public keys.
//!
//! Of a date or time with bounds, whatever has few values is public, such as its month ([`crate::rows::pieces`]).
//!
//! Conditions of the query leave out values that no row can have: after `WHERE mode IN ('MAIL', 'SHIP')` there are two.

use crate::rows::expression::{Facts, Listed, facts};
use crate::rows::{Rows, pieces};
use datafusion::arrow::array::{Array, AsArray, RecordBatch, RecordBatchOptions};
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
    distinct(found, &data_type)
}

/// The values, each once, as values of the type; `None` if there are too many.
fn distinct(found: Vec<ScalarValue>, data_type: &DataType) -> Option<Vec<ScalarValue>> {
    let found = found.into_iter().map(|value| value.cast_to(data_type).ok());
    let unique = unique(found.collect::<Option<_>>()?);
    (unique.len() <= MOST_KEYS).then_some(unique)
}

/// Each value once.
fn unique(values: Vec<ScalarValue>) -> Vec<ScalarValue> {
    let mut seen = std::collections::HashSet::new();
    values.into_iter().map(normal).filter(|value| seen.insert(value.clone())).collect()
}

/// The column that an expression is computed from, if it is one date or time with bounds.
pub(crate) fn time_column(expr: &Expr, rows: &Rows, state: &SessionState) -> Option<Column> {
    pieces::only_column(expr, &Scope::new(rows, state))
}

/// The values of an expression of a date or time with bounds, for those who see only its name; `None` if it is a column
/// itself, a constant or has too many.
pub(crate) fn of_times(expr: &Expr, rows: &Rows, state: &SessionState) -> Option<Vec<ScalarValue>> {
    if matches!(expr.clone().unalias(), Expr::Column(_)) {
        return None;
    }
    let data_type = expr.get_type(rows.schema()).ok()?;
    let scope = Scope::new(rows, state);
    let found = if data_type.is_floating() { None } else { pieces::values(expr, &scope) };
    distinct(found?, &data_type)
}

/// The values of several expressions of the same date or time: those that occur together.
pub(crate) fn time_tuples(
    exprs: &[&Expr],
    column: &Column,
    rows: &Rows,
    state: &SessionState,
) -> Option<Vec<Vec<ScalarValue>>> {
    let kinds: Vec<DataType> =
        exprs.iter().map(|expr| expr.get_type(rows.schema())).collect::<Result<_>>().ok()?;
    let columns = pieces::tuples(exprs, column, &Scope::new(rows, state))?;
    let mut all: Vec<Vec<ScalarValue>> = Vec::new();
    let mut seen = std::collections::HashSet::new();
    for row in 0..columns.first()?.len() {
        let cells = columns.iter().zip(&kinds);
        let cells = cells.map(|(column, kind)| column.get(row)?.cast_to(kind).ok().map(normal));
        let tuple: Vec<ScalarValue> = cells.collect::<Option<_>>()?;
        if seen.insert(tuple.clone()) {
            all.push(tuple);
        }
    }
    (all.len() <= MOST_KEYS).then_some(all)
}

/// The values of columns of the same public rows, row by row, without those that the conditions on these rows leave
/// out; `None` if they are not known.
pub(crate) fn tuples(
    keys: &[(&Expr, &Facts)],
    rows: &Rows,
    state: &SessionState,
) -> Option<Vec<Vec<ScalarValue>>> {
    let first = keys.first()?.1.listed.as_ref()?;
    let kept = Scope::new(rows, state).kept_rows(first).ok()?;
    let mut all: Vec<Vec<ScalarValue>> = Vec::new();
    let mut seen = std::collections::HashSet::new();
    for row in kept {
        let mut tuple = Vec::with_capacity(keys.len());
        for (key, facts) in keys {
            let to = key.get_type(rows.schema()).ok()?;
            let column = first.rows.column(facts.listed.as_ref()?.column);
            let value = ScalarValue::try_from_array(column, row).ok()?;
            tuple.push(normal(value.cast_to(&to).ok()?));
        }
        if seen.insert(tuple.clone()) {
            all.push(tuple);
        }
    }
    // A row that matched none of them.
    if !first.padded && keys.iter().all(|(_, facts)| facts.nullable) {
        let none = keys
            .iter()
            .map(|(key, _)| key.get_type(rows.schema()).and_then(|to| ScalarValue::try_from(&to)));
        let none = none.collect::<Result<Vec<_>>>().ok()?;
        if seen.insert(none.clone()) {
            all.push(none);
        }
    }
    (all.len() <= MOST_KEYS && !all.is_empty()).then_some(all)
}

/// The rows, and the conditions that every one of them meets.
pub(crate) struct Scope<'a> {
    pub(super) rows: &'a Rows,
    pub(super) state: &'a SessionState,
    pub(super) conditions: Vec<Expr>,
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

    /// The public rows for which every condition on them alone is true; all of them if none is left.
    fn kept_rows(&self, listed: &Listed) -> Result<Vec<usize>> {
        let rows = &listed.rows;
        let columns = rows.columns().iter().enumerate();
        let fields: Vec<Field> = columns
            .map(|(i, column)| Field::new(format!("v{i}"), column.data_type().clone(), true))
            .collect();
        let schema = Arc::new(Schema::new(fields));
        let options = RecordBatchOptions::new().with_row_count(Some(rows.num_rows()));
        let columns = rows.columns().to_vec();
        let batch = RecordBatch::try_new_with_options(Arc::clone(&schema), columns, &options)?;
        let schema = DFSchema::try_from(schema)?;
        let place = |column: &Column| {
            let found = self.rows.facts_of(column)?.listed.as_ref()?;
            Arc::ptr_eq(&found.rows, rows).then_some(found.column)
        };
        let mut kept: Vec<usize> = (0..rows.num_rows()).collect();
        for condition in &self.conditions {
            let names = condition.column_refs();
            if names.is_empty() || !names.into_iter().all(|column| place(column).is_some()) {
                continue;
            }
            let shape = condition.clone().transform(|expr| {
                let at = if let Expr::Column(column) = &expr { place(column) } else { None };
                Ok(match at {
                    Some(at) => Transformed::yes(variable(at)),
                    None => Transformed::no(expr),
                })
            })?;
            let met = self.state.create_physical_expr(shape.data, &schema)?.evaluate(&batch)?;
            let met = met.into_array(rows.num_rows())?;
            let met = met.as_boolean();
            kept.retain(|&row| met.is_valid(row) && met.value(row));
        }
        Ok(if kept.is_empty() { (0..rows.num_rows()).collect() } else { kept })
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
            let Some(shape) = on_values(condition, name) else { continue };
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
    if let Some(values) = pieces::values(expr, scope) {
        return Some(values);
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
    if let Some(values) = pieces::values(expr, scope) {
        return Some(values);
    }
    match expr {
        Expr::Column(_) => {
            let values = listed(&facts(expr, rows), data_type)?;
            Some(scope.kept(expr, values))
        }
        Expr::Case(_) => find(expr, scope, data_type),
        // An integer with its own bounds, such as floor(x / 10).
        _ => {
            let known = facts(expr, rows);
            if !known.integral || known.interval.finite().is_none() {
                return None;
            }
            // From its parts first: `floor(x / 50) * 50` is an integer in a range of 301 values, but has only 7.
            match over_parts(expr, scope) {
                Some(values) => Some(unique(values)),
                None => listed(&known, data_type),
            }
        }
    }
}

/// An expression of one column, of the first variable instead.
pub(super) fn on_values(expr: &Expr, column: &Column) -> Option<Expr> {
    let replaced = expr.clone().transform(|expr| {
        let own = matches!(&expr, Expr::Column(other) if other == column);
        Ok(if own { Transformed::yes(variable(0)) } else { Transformed::no(expr) })
    });
    replaced.ok().map(|replaced| replaced.data)
}

fn variable(i: usize) -> Expr {
    Expr::Column(Column::new_unqualified(format!("v{i}")))
}

pub(super) fn evaluate(
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
