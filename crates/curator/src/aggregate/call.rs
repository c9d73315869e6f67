//! One call of an aggregate function over protected rows: its name, its argument, its DISTINCT and FILTER.

use super::{FAMILIES, Measure, Value};
use crate::error::{Error, Result};
use crate::refusal::{Refusal, Rule};
use crate::rows::admit::{admit, conversion};
use crate::rows::expression::{Facts, facts, number, plain_text, written};
use crate::rows::meaning::as_written;
use crate::rows::moments::Moment;
use crate::rows::times::{as_numbers, is_date, is_moment};
use crate::rows::{Owner, Rows, without_numbers};
use datafusion::arrow::datatypes::DataType;
use datafusion::logical_expr::expr::AggregateFunction;
use datafusion::logical_expr::{Expr, ExprSchemable};
use demure_core::mechanism::{Bounds, Norms};
use demure_core::unit::Grid;

/// A call of an aggregate function, with the argument columns collected so far.
pub(crate) struct Call<'a> {
    function: &'a AggregateFunction,
    rows: &'a Rows,
    /// The argument, once it has been determined.
    argument: Option<Expr>,
    /// Its text, where that is not how it is computed.
    text: Option<String>,
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
    /// It is added up, and may have no bounds.
    Total,
    /// Its powers are added up.
    Power,
    Rank,
    /// It is compared with others only: a date or time will do.
    Order,
}

impl Columns {
    /// The measure that one aggregate function asks for. Its argument becomes a new column unless it already is one.
    pub(crate) fn measure(&mut self, function: &AggregateFunction, rows: &Rows) -> Result<Measure> {
        let mut call = Call { function, rows, argument: None, text: None, columns: self };
        for family in FAMILIES {
            if let Some(measure) = family.recognise(&mut call)? {
                return Ok(measure);
            }
        }
        Err(refuse(
            format!("the aggregate {} has no private form here", call.name()),
            "use COUNT, COUNT(DISTINCT), SUM, AVG, VAR, STDDEV, CORR, MIN, MAX, MEDIAN, \
             PERCENTILE_CONT, BOOL_OR or MODE",
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

    /// From then on the argument is a value where the condition in the call is this, and NULL where it is not.
    pub(super) fn keep_only(&mut self, wanted: bool) -> Result<()> {
        let condition = self.argument()?;
        self.text = Some(condition.human_display().to_string());
        let kept = if wanted { condition.is_true() } else { condition.is_false() };
        let kept = datafusion::logical_expr::when(kept, datafusion::logical_expr::lit(true)).end();
        self.argument = Some(kept.map_err(|e| Error::planning(&e))?);
        Ok(())
    }

    /// The index of the argument column, with values of any type.
    pub(super) fn any_value(&mut self) -> Result<usize> {
        self.column(None)
    }

    /// The index of the argument column, as a number to be summed.
    pub(super) fn summed_number(&mut self) -> Result<usize> {
        self.column(Some(Use::Total))
    }

    /// The index of the argument column, as a number whose powers are summed.
    pub(super) fn bounded_number(&mut self) -> Result<usize> {
        self.column(Some(Use::Power))
    }

    /// The index of the argument column, as a number to be ranked.
    pub(super) fn ranked_number(&mut self) -> Result<usize> {
        self.column(Some(Use::Rank))
    }

    /// The index of the argument column, as a number, a date or a time to be ranked. Dates are in days since 1970, times
    /// in seconds.
    pub(super) fn ranked_value(&mut self) -> Result<usize> {
        self.column(Some(Use::Order))
    }

    /// The only argument. Refuses DISTINCT, ORDER BY and further arguments where the function does not allow them.
    fn argument(&self) -> Result<Expr> {
        let (name, params) = (self.name(), &self.function.params);
        // `mode() WITHIN GROUP (ORDER BY x)` is planned as mode(x), ordered by x.
        let median = matches!(name, "median" | "approx_median" | "mode");
        if self.argument.is_none() && !median && !params.order_by.is_empty() {
            return Err(refuse(
                format!("{name} with ORDER BY"),
                "leave ORDER BY out, or order the aggregated rows",
            ));
        }
        if params.distinct
            && !matches!(name, "count" | "min" | "max" | "sum" | "avg" | "bool_and" | "bool_or")
        {
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
        let displayed = || match as_written(&argument) {
            Expr::Alias(alias) => alias.name.clone(),
            other => other.human_display().to_string(),
        };
        let mut text = self.text.clone().unwrap_or_else(displayed);
        if let Some(filter) = self.function.params.filter.as_deref() {
            text.push_str(&format!(" where {}", as_written(filter).human_display()));
            let filter = admit(filter.clone(), rows)?;
            expr = datafusion::logical_expr::when(filter, expr)
                .end()
                .map_err(|e| Error::planning(&e))?;
            known.nullable = true;
        }
        let text = plain_text(&without_numbers(&text));
        let raw = expr.clone();
        let shown = without_numbers(&written(&argument));
        let (mut bounds, mut norms) = (None, None);
        if let Some(used) = number {
            let call = (self.name(), &*shown);
            let is_moment = used == Use::Order && is_moment(&data_type);
            match unbounded(&known, &data_type, used)? {
                Some(found) => norms = Some(found),
                None if is_moment => bounds = Some(between_times(&known, &data_type, call)?),
                None => bounds = Some(within_bounds(&known, &data_type, call, used)?),
            }
            expr = match is_moment {
                true => Moment::Number.of(vec![expr]),
                false => conversion(expr, &DataType::Float64, rows.schema()),
            };
        }
        let call = (self.name().to_owned(), shown);
        let Columns { values, arguments } = &mut *self.columns;
        let same = |(i, e): (usize, &Expr)| {
            let known = (values[i].bounds, values[i].norms);
            (*e == expr && known == (bounds, norms)).then_some(i)
        };
        if let Some(place) = arguments.iter().enumerate().find_map(same) {
            return Ok(place);
        }
        values.push(Value { text, call, facts: known, bounds, norms, raw });
        arguments.push(expr);
        Ok(values.len() - 1)
    }
}

fn refuse(what: impl Into<String>, remedy: &str) -> Error {
    Refusal::new(Rule::Aggregate, what, remedy).into()
}

/// Octaves of integers, and of reals: the step of a sum without bounds, and how many scales it has.
const INTEGERS: (i32, u32) = (0, 2);
const REALS: (i32, u32) = (-36, 4);

/// The norms of a number that is added up and has no bounds; `None` if it has some.
fn unbounded(known: &Facts, data_type: &DataType, used: Use) -> Result<Option<Norms>> {
    if used != Use::Total || !data_type.is_numeric() || known.interval.finite().is_some() {
        return Ok(None);
    }
    let (exponent, scales) = match known.grid {
        Some(exponent) => (exponent, INTEGERS.1),
        None if known.integral => INTEGERS,
        None => REALS,
    };
    Ok(Some(Norms::new(exponent, scales)?))
}

/// The refusal of a number that has no bounds and needs some.
pub(super) fn no_bounds(name: &str, argument: &str) -> Error {
    Refusal::new(
        Rule::Bounds,
        format!(
            "{name}({argument}): the values have no bounds, so one person could change it arbitrarily"
        ),
        format!(
            "declare `bounds = [low, high]` for the column in the policy, or write \
             {name}(CLAMP({argument}, low, high)) with two numbers"
        ),
    )
    .into()
}

/// The bounds of a date in days, or of a time in seconds. The grid has whole ones, unless a time has few seconds.
fn between_times(known: &Facts, kind: &DataType, (name, argument): (&str, &str)) -> Result<Bounds> {
    let range = known.interval.finite().ok_or_else(|| no_times(name, argument))?;
    let (low, high) = as_numbers(range, kind);
    let wide = high - low > (1u64 << 30) as f64;
    let bounds = match (is_date(kind), high - low) {
        (true, _) if !wide => Bounds::on(low, high.max(low + 1.0), Grid::ONE),
        (false, seconds) if !wide && seconds >= 4_096.0 => Bounds::on(low, high, Grid::ONE),
        (false, seconds) if seconds < 4_096.0 => {
            // Nearer to the ends than seconds are.
            let (low, high) = (range.0 / 1e6, range.1 / 1e6);
            Bounds::new(low, if high > low { high } else { low + 1e-3 })
        }
        _ => Bounds::new(low, high),
    };
    bounds.map_err(|_| {
        Refusal::new(
            Rule::Bounds,
            format!("{name}({argument}): the bounds do not fit a grid"),
            "use narrower bounds",
        )
        .into()
    })
}

/// The refusal of a date or time that has no bounds.
fn no_times(name: &str, argument: &str) -> Error {
    Refusal::new(
        Rule::Bounds,
        format!(
            "{name}({argument}): the dates or times have no bounds, so one person could change it \
             arbitrarily"
        ),
        format!(
            "declare `bounds = [2023-01-01, 2024-12-31]` for the column in the policy, or write \
             {name}(CLAMP({argument}, DATE '2023-01-01', DATE '2024-12-31'))"
        ),
    )
    .into()
}

/// The bounds that a number is clamped to, on its grid.
fn within_bounds(
    known: &Facts,
    data_type: &DataType,
    (name, argument): (&str, &str),
    used: Use,
) -> Result<Bounds> {
    let call = format!("{name}({argument})");
    if !data_type.is_numeric() {
        return Err(refuse(
            format!("{call} needs a number"),
            "use COUNT or MODE, or convert it: extract(year FROM …) of a date, \
             CLAMP(CAST(… AS REAL), low, high) of a text",
        ));
    }
    let (low, high) = known.interval.finite().ok_or_else(|| no_bounds(name, argument))?;
    // A constant still needs bounds that are wide enough for a grid.
    let high = if high > low { high } else { low + low.abs().max(1.0) * 1e-3 };
    let bounds = match known.grid {
        Some(exponent) => Bounds::on(low, high, Grid::power_of_two(exponent)?),
        // Integers are ranked on a grid of integers if their range is small enough.
        None if matches!(used, Use::Rank | Use::Order)
            && known.integral
            && high - low <= (1u64 << 30) as f64 =>
        {
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
