//! `generate_series(from, to, step)` over constants: a list of public values.
//!
//! The statement's plan holds the values themselves, as it does for VALUES: they are what tells two such plans apart.

use datafusion::arrow::datatypes::{DataType, TimeUnit};
use datafusion::catalog::{TableFunctionArgs, TableFunctionImpl, TableProvider};
use datafusion::common::{Column, Result, ScalarValue, plan_datafusion_err, plan_err};
use datafusion::datasource::ViewTable;
use datafusion::logical_expr::{Expr, LogicalPlanBuilder};
use std::cmp::Ordering;
use std::sync::Arc;

/// The most values of a series.
const MOST: usize = 100_000;

/// The table function.
#[derive(Debug)]
pub(super) struct Series;

fn constant(expr: &Expr) -> Result<ScalarValue> {
    match expr {
        Expr::Literal(value, _) => Ok(value.clone()),
        _ => plan_err!("generate_series takes constants: whole numbers, dates or timestamps"),
    }
}

impl TableFunctionImpl for Series {
    fn call_with_args(&self, args: TableFunctionArgs) -> Result<Arc<dyn TableProvider>> {
        let given = args.exprs().iter().map(constant).collect::<Result<Vec<_>>>()?;
        let (from, to, step) = match &given[..] {
            [from, to] => (from, to, ScalarValue::Int64(Some(1))),
            [from, to, step] => (from, to, step.clone()),
            _ => return plan_err!("generate_series takes two or three values: (from, to, step)"),
        };
        let (kind, step) = match (from.data_type(), step.data_type()) {
            (kind, by) if kind.is_integer() && by.is_integer() => {
                (DataType::Int64, step.cast_to(&DataType::Int64)?)
            }
            (DataType::Date32, DataType::Interval(_)) if is_days(&step) => (DataType::Date32, step),
            (DataType::Date32 | DataType::Timestamp(..), DataType::Interval(_)) => {
                (DataType::Timestamp(TimeUnit::Microsecond, None), step)
            }
            (DataType::Date32 | DataType::Timestamp(..), _) => {
                return plan_err!(
                    "a series of dates needs a step: generate_series(DATE '2024-01-01', DATE \
                     '2024-12-31', INTERVAL '1 day')"
                );
            }
            _ => return plan_err!("generate_series takes whole numbers, dates or timestamps"),
        };
        let values = values(from.cast_to(&kind)?, &to.cast_to(&kind)?, &step)?;
        let none = values.is_empty();
        let rows = match none {
            true => vec![vec![Expr::Literal(ScalarValue::try_from(&kind)?, None)]],
            false => values.into_iter().map(|v| vec![Expr::Literal(v, None)]).collect(),
        };
        let mut plan = LogicalPlanBuilder::values(rows)?;
        if none {
            plan = plan.filter(Expr::Literal(ScalarValue::Boolean(Some(false)), None))?;
        }
        let column = Expr::Column(Column::from(plan.schema().qualified_field(0)));
        let plan = plan.project(vec![column.alias("value")])?.build()?;
        Ok(Arc::new(ViewTable::new(plan, None)))
    }
}

/// Whether a step consists of whole days and months.
fn is_days(step: &ScalarValue) -> bool {
    match step {
        ScalarValue::IntervalMonthDayNano(Some(step)) => step.nanoseconds == 0,
        ScalarValue::IntervalDayTime(Some(step)) => step.milliseconds == 0,
        ScalarValue::IntervalYearMonth(Some(_)) => true,
        _ => false,
    }
}

/// The values from one to the other, as PostgreSQL lists them: each is the one before it plus the step.
fn values(from: ScalarValue, to: &ScalarValue, step: &ScalarValue) -> Result<Vec<ScalarValue>> {
    if from.is_null() || to.is_null() || step.is_null() {
        return Ok(Vec::new());
    }
    let next = |value: &ScalarValue| {
        value.add_checked(step).map_err(|_| plan_datafusion_err!("a series that is too long"))
    };
    let direction = next(&from)?.partial_cmp(&from);
    let Some(direction) = direction.filter(|order| *order != Ordering::Equal) else {
        return plan_err!("the step of a series cannot be zero");
    };
    let mut all = Vec::new();
    let mut value = from;
    while value.partial_cmp(to).is_some_and(|order| order != direction) {
        if all.len() == MOST {
            return plan_err!("a series of more than {MOST} values; ask for fewer");
        }
        let following = next(&value);
        all.push(value);
        match following {
            Ok(following) => value = following,
            Err(_) => break, // past the largest value
        }
    }
    Ok(all)
}

#[cfg(test)]
mod tests;
