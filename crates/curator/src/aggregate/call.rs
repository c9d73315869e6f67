//! One call of an aggregate function over protected rows: its name, its argument, its DISTINCT and FILTER.

use super::{FAMILIES, Measure, Value};
use crate::error::{Error, Result};
use crate::refusal::{Refusal, Rule};
use crate::rows::admit::{admit, conversion};
use crate::rows::expression::{Facts, facts, number};
use crate::rows::{Owner, Rows};
use datafusion::arrow::datatypes::DataType;
use datafusion::logical_expr::expr::AggregateFunction;
use datafusion::logical_expr::{Expr, ExprSchemable};
use demure_core::mechanism::Bounds;
use demure_core::unit::Grid;

/// A call of an aggregate function, with the argument columns collected so far.
pub(crate) struct Call<'a> {
    function: &'a AggregateFunction,
    rows: &'a Rows,
    /// The argument, once it has been determined.
    argument: Option<Expr>,
    columns: &'a mut Columns,
}

/// The argument columns of an aggregate: what is known of each, and the expression that computes it.
#[derive(Default)]
pub(crate) struct Columns {
    pub(crate) values: Vec<Value>,
    pub(crate) arguments: Vec<Expr>,
}

/// What a number is used for.
#[derive(Clone, Copy, PartialEq)]
enum Use {
    Sum,
    Rank,
}

impl Columns {
    /// The measure that one aggregate function asks for. Its argument becomes a new column unless it already is one.
    pub(crate) fn measure(&mut self, function: &AggregateFunction, rows: &Rows) -> Result<Measure> {
        let mut call = Call { function, rows, argument: None, columns: self };
        for family in FAMILIES {
            if let Some(measure) = family.recognise(&mut call)? {
                return Ok(measure);
            }
        }
        Err(refuse(
            format!("the aggregate {} has no private form here", call.name()),
            "use COUNT, COUNT(DISTINCT), SUM, AVG, VAR, STDDEV, MIN, MAX, MEDIAN, \
             APPROX_PERCENTILE_CONT or MODE",
        ))
    }
}

impl<'a> Call<'a> {
    /// The function's name.
    pub(super) fn name(&self) -> &'a str {
        self.function.func.name()
    }

    pub(super) fn is_distinct(&self) -> bool {
        self.function.params.distinct
    }

    /// The owner of the rows.
    pub(super) fn owner(&self) -> &Owner {
        &self.rows.owner
    }

    /// Whether the call counts people: its argument is the unit's id, over all rows.
    pub(super) fn counts_people(&self) -> Result<bool> {
        let argument = self.argument()?;
        let unit = matches!(argument.unalias(), Expr::Column(c) if self.rows.is_unit(&c));
        Ok(unit && self.function.params.filter.is_none())
    }

    /// Whether the call counts every row: its argument is a constant.
    pub(super) fn counts_rows(&self) -> Result<bool> {
        let argument = self.argument()?;
        let constant = matches!(&argument, Expr::Literal(value, _) if !value.is_null());
        Ok(constant && self.function.params.filter.is_none())
    }

    /// The index of the argument column, with values of any type.
    pub(super) fn any_value(&mut self) -> Result<usize> {
        self.column(None)
    }

    /// The index of the argument column, as a number to be summed.
    pub(super) fn summed_number(&mut self) -> Result<usize> {
        self.column(Some(Use::Sum))
    }

    /// The index of the argument column, as a number to be ranked.
    pub(super) fn ranked_number(&mut self) -> Result<usize> {
        self.column(Some(Use::Rank))
    }

    /// The only argument. Refuses DISTINCT, ORDER BY and further arguments where the function does not allow them.
    fn argument(&self) -> Result<Expr> {
        let (name, params) = (self.name(), &self.function.params);
        let median = matches!(name, "median" | "approx_median");
        if self.argument.is_none() && !median && !params.order_by.is_empty() {
            return Err(refuse(
                format!("{name} with ORDER BY"),
                "leave ORDER BY out, or order the aggregated rows",
            ));
        }
        if params.distinct && !matches!(name, "count" | "min" | "max") {
            return Err(refuse(
                format!("{name}(DISTINCT …)"),
                "use COUNT(DISTINCT x), or aggregate per person first",
            ));
        }
        match (&self.argument, &params.args[..]) {
            (Some(argument), _) => Ok(argument.clone()),
            (None, [argument]) => Ok(argument.clone()),
            _ => Err(refuse(format!("{name} with several arguments"), "use one argument")),
        }
    }

    /// The rank in `approx_percentile_cont(x, 0.9)` or `approx_percentile_cont(0.9) WITHIN GROUP (ORDER BY x)`. From
    /// then on, x is the argument.
    pub(super) fn take_rank(&mut self) -> Result<f64> {
        let name = self.name();
        let (args, order) = (&self.function.params.args, &self.function.params.order_by);
        let literal = |expr: &Expr| match expr {
            Expr::Literal(value, _) => number(value),
            Expr::Cast(cast) => match cast.expr.as_ref() {
                Expr::Literal(value, _) => number(value),
                _ => None,
            },
            _ => None,
        };
        let descending = order.first().is_some_and(|sort| !sort.asc);
        let found = match (&args[..], &order[..]) {
            ([x, q], _) => literal(q).map(|q| (x.clone(), q)),
            ([q], [sort]) => literal(q).map(|q| (sort.expr.clone(), q)),
            _ => None,
        };
        let (x, q) = found.ok_or_else(|| {
            refuse(format!("{name} in this form"), "write APPROX_PERCENTILE_CONT(x, 0.9)")
        })?;
        if !(0.0..=1.0).contains(&q) {
            return Err(refuse(
                format!("{name} of a rank outside 0 to 1"),
                "choose a rank between 0 and 1",
            ));
        }
        self.argument = Some(x);
        Ok(if descending { 1.0 - q } else { q })
    }

    /// The index of the argument column: an existing column if the argument was used before, otherwise a new one.
    fn column(&mut self, number: Option<Use>) -> Result<usize> {
        let (argument, rows) = (self.argument()?, self.rows);
        let data_type = argument.get_type(rows.schema()).map_err(|e| Error::planning(&e))?;
        let mut known = facts(&argument, rows);
        let mut expr = admit(argument.clone(), rows)?;
        let mut text = argument.human_display().to_string();
        if let Some(filter) = self.function.params.filter.as_deref() {
            text.push_str(&format!(" where {}", filter.human_display()));
            let filter = admit(filter.clone(), rows)?;
            expr = datafusion::logical_expr::when(filter, expr)
                .end()
                .map_err(|e| Error::planning(&e))?;
            known.nullable = true;
        }
        let bounds = match number {
            Some(used) => {
                let bounds = bounds(&known, &data_type, &format!("{}({text})", self.name()), used)?;
                expr = conversion(expr, &DataType::Float64, rows.schema());
                Some(bounds)
            }
            None => None,
        };
        let Columns { values, arguments } = &mut *self.columns;
        let same = |(i, e): (usize, &Expr)| (*e == expr && values[i].bounds == bounds).then_some(i);
        if let Some(place) = arguments.iter().enumerate().find_map(same) {
            return Ok(place);
        }
        values.push(Value { text, facts: known, bounds });
        arguments.push(expr);
        Ok(values.len() - 1)
    }
}

fn refuse(what: impl Into<String>, remedy: &str) -> Error {
    Refusal::new(Rule::Aggregate, what, remedy).into()
}

/// The bounds that a number is clamped to, on its grid.
fn bounds(known: &Facts, data_type: &DataType, call: &str, used: Use) -> Result<Bounds> {
    if !data_type.is_numeric() {
        return Err(refuse(
            format!("{call} needs a number"),
            "use COUNT or MODE, or cast it to a number",
        ));
    }
    let (low, high) = known.interval.finite().ok_or_else(|| {
        Refusal::new(
            Rule::Bounds,
            format!("{call}: the values have no bounds, so one person could change it arbitrarily"),
            "declare `bounds = [low, high]` for the column in the policy, or write \
             CLAMP(x, low, high)",
        )
    })?;
    // A constant still needs bounds that are wide enough for a grid.
    let high = if high > low { high } else { low + low.abs().max(1.0) * 1e-3 };
    let bounds = match known.grid {
        Some(exponent) => Bounds::on(low, high, Grid::power_of_two(exponent)?),
        // Integers are ranked on a grid of integers if their range is small enough.
        None if used == Use::Rank && known.integral && high - low <= (1u64 << 30) as f64 => {
            let high = if high - low < 1.0 { low + 1.0 } else { high };
            Bounds::on(low, high, Grid::ONE)
        }
        None => Bounds::new(low, high),
    };
    bounds.map_err(|_| {
        Refusal::new(
            Rule::Bounds,
            format!("{call}: the bounds do not fit its grid"),
            "use narrower bounds or a coarser grid",
        )
        .into()
    })
}
