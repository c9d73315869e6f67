//! `demure.intervals`: the ends of each noised column's 95 % interval, beside it.
//!
//! An interval follows its column through projections, filters, sorts and limits. A computed column has none, because
//! its interval does not follow from those of its parts.

use crate::answer::deferred::DeferredTable;
use crate::rows::{RELEASED, RESERVED};
use datafusion::arrow::datatypes::DataType;
use datafusion::common::{Column, Result};
use datafusion::logical_expr::{Expr, LogicalPlan, LogicalPlanBuilder, cast};

/// The two columns that hold the ends of a column's interval.
type Ends = Option<(Column, Column)>;

/// Adds `…_low` and `…_high` after every column whose interval is known.
pub(crate) fn with_intervals(plan: LogicalPlan) -> Result<LogicalPlan> {
    let columns: Vec<Column> = plan.schema().columns();
    let Some((wide, ends)) = extend(&plan)? else { return Ok(plan) };
    let mut shown = Vec::new();
    for (column, ends) in columns.into_iter().zip(ends) {
        let name = column.name.clone();
        shown.push(Expr::Column(column));
        if let Some((low, high)) = ends {
            shown.push(Expr::Column(low).alias(format!("{name}_low")));
            shown.push(Expr::Column(high).alias(format!("{name}_high")));
        }
    }
    LogicalPlanBuilder::from(wide).project(shown)?.build()
}

/// The plan with the ends as additional columns, and their positions.
fn extend(plan: &LogicalPlan) -> Result<Option<(LogicalPlan, Vec<Ends>)>> {
    Ok(match plan {
        LogicalPlan::Projection(projection) => {
            if let Some(found) = at_release(projection)? {
                return Ok(Some(found));
            }
            let Some((input, ends)) = extend(&projection.input)? else { return Ok(None) };
            let inner: Vec<Column> = projection.input.schema().columns();
            let mut exprs = projection.expr.clone();
            let mut passed = Vec::new();
            let mut added: Vec<Column> = Vec::new();
            for expr in &projection.expr {
                let found = match expr.clone().unalias_nested().data {
                    Expr::Column(column) => inner
                        .iter()
                        .position(|c| *c == column)
                        .and_then(|at| ends.get(at).cloned().flatten()),
                    _ => None,
                };
                for end in found.iter().flat_map(|(low, high)| [low, high]) {
                    if !added.contains(end) {
                        exprs.push(Expr::Column(end.clone()));
                        added.push(end.clone());
                    }
                }
                passed.push(found);
            }
            let plan = LogicalPlanBuilder::from(input).project(exprs)?.build()?;
            Some((plan, passed))
        }
        LogicalPlan::Filter(_) | LogicalPlan::Sort(_) | LogicalPlan::Limit(_) => {
            let inputs = plan.inputs();
            let [input] = inputs[..] else { return Ok(None) };
            let Some((input, ends)) = extend(input)? else { return Ok(None) };
            Some((plan.with_new_exprs(plan.expressions(), vec![input])?, ends))
        }
        _ => None,
    })
}

/// The projection that names a release's columns. The ends originate here.
fn at_release(
    projection: &datafusion::logical_expr::Projection,
) -> Result<Option<(LogicalPlan, Vec<Ends>)>> {
    let LogicalPlan::TableScan(scan) = projection.input.as_ref() else { return Ok(None) };
    let name = scan.table_name.table();
    if !name.starts_with(RELEASED) {
        return Ok(None);
    }
    let keys: usize = name.rsplit('_').next().and_then(|n| n.parse().ok()).unwrap_or(0);
    let mut exprs = projection.expr.clone();
    let mut ends = Vec::new();
    for i in 0..projection.expr.len() {
        let field = projection.schema.field(i);
        if i < keys || !field.data_type().is_numeric() {
            ends.push(None);
            continue;
        }
        let column = |c: String| Expr::Column(Column::new(Some(name), c));
        let value = cast(column(DeferredTable::column(i)), DataType::Float64);
        let error = column(DeferredTable::error(i));
        let (low, high) = (format!("{RESERVED}low_{i}"), format!("{RESERVED}high_{i}"));
        exprs.push((value.clone() - error.clone()).alias(&low));
        exprs.push((value + error).alias(&high));
        ends.push(Some((Column::new_unqualified(low), Column::new_unqualified(high))));
    }
    let plan =
        LogicalPlanBuilder::from(projection.input.as_ref().clone()).project(exprs)?.build()?;
    Ok(Some((plan, ends)))
}
