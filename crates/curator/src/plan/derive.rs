//! Aggregates that are computed from others, once those are released: correlations, covariances, regressions, and counts
//! of several columns.
//!
//! What is bought are averages, variances and counts, each with its own proof; what is computed from them is
//! post-processing. So nothing here has a guarantee of its own.
//!
//! Of pairs (x, y), the rows count in which neither is NULL. With the bounds a ≤ x ≤ b and c ≤ y ≤ d, the third average is
//! that of u·v, for `u = (x−a)/(b−a)` and `v = (y−c)/(d−c)`: between 0 and 1, whatever the bounds are, so that its noise
//! does not grow with their distance from 0. Then `cov = (b−a)(d−c)·E[uv] − (E[x]−a)(E[y]−c)`, which is at most
//! `(b−a)(d−c)/4` in size. Averages of x and y, their variances and counts are measured together.

use super::rows::planned;
use super::{Node, unexpected};
use crate::error::{Error, Result};
use crate::refusal::{Refusal, Rule};
use crate::rows::expression::{Facts, facts};
use crate::rows::{RESERVED, Rows, added_functions};
use datafusion::arrow::datatypes::DataType;
use datafusion::common::Column;
use datafusion::functions::core::expr_fn::{greatest, least};
use datafusion::functions::math::expr_fn::sqrt;
use datafusion::functions::string::expr_fn::concat;
use datafusion::functions::unicode::expr_fn::character_length;
use datafusion::functions_aggregate::average::avg_udaf;
use datafusion::functions_aggregate::count::count_udaf;
use datafusion::functions_aggregate::variance::var_pop_udaf;
use datafusion::logical_expr::expr::AggregateFunction;
use datafusion::logical_expr::{
    Aggregate, AggregateUDF, Expr, ExprSchemable, LogicalPlanBuilder, cast, lit, when,
};
use std::sync::Arc;

/// An aggregate over other functions, and what the wanted columns are in terms of them.
pub(super) struct Derived {
    /// The functions that are bought.
    pub(super) basic: Aggregate,
    shown: Vec<Expr>,
}

/// The functions that are bought, each once.
#[derive(Default)]
struct Basics(Vec<Expr>);

impl Basics {
    /// The column of a function.
    fn column(&mut self, function: AggregateFunction) -> Expr {
        let function = Expr::AggregateFunction(function);
        let place = self.0.iter().position(|known| *known == function).unwrap_or_else(|| {
            self.0.push(function);
            self.0.len() - 1
        });
        Expr::Column(Column::new_unqualified(name(place)))
    }

    fn call(&mut self, of: Arc<AggregateUDF>, argument: Expr, filter: Option<Expr>) -> Expr {
        let filter = filter.map(Box::new);
        let call = AggregateFunction::new_udf(of, vec![argument], false, filter, vec![], None);
        self.column(call)
    }
}

fn name(place: usize) -> String {
    format!("{RESERVED}basic_{place}")
}

/// Splits an aggregate; `None` if every function in it is bought as it is.
pub(super) fn split(aggregate: &Aggregate, rows: &Rows) -> Result<Option<Derived>> {
    let mut basics = Basics::default();
    let (mut shown, mut any) = (Vec::new(), false);
    for expr in &aggregate.aggr_expr {
        let Expr::AggregateFunction(function) = expr.clone().unalias() else {
            return Err(unexpected("expected an aggregate function"));
        };
        let derived = derived(&function, rows, &mut basics)?;
        any |= derived.is_some();
        shown.push(derived.unwrap_or_else(|| basics.column(function)));
    }
    if !any {
        return Ok(None);
    }
    let named = basics.0.into_iter().enumerate().map(|(i, call)| call.alias(name(i)));
    let input = Arc::new(rows.plan.clone());
    let basic = Aggregate::try_new(input, aggregate.group_expr.clone(), named.collect());
    let basic = basic.map_err(planned)?;
    let keys = aggregate.schema.fields().len() - shown.len();
    let of = aggregate.schema.iter().enumerate().map(|(i, (qualifier, field))| {
        let expr = match i.checked_sub(keys).and_then(|i| shown.get(i)) {
            Some(shown) => match shown.get_type(&basic.schema).map_err(planned)? {
                same if same == *field.data_type() => shown.clone(),
                _ => cast(shown.clone(), field.data_type().clone()),
            },
            None => Expr::Column(Column::new(qualifier.cloned(), field.name())),
        };
        Ok(expr.alias_qualified(qualifier.cloned(), field.name()))
    });
    let shown = of.collect::<Result<_>>()?;
    Ok(Some(Derived { basic, shown }))
}

impl Derived {
    /// The wanted columns over the release.
    pub(super) fn over(self, node: Node) -> Result<Node> {
        let Node::Released(plan) = node else { return Err(unexpected("expected a release")) };
        let plan = LogicalPlanBuilder::from(plan).project(self.shown);
        let plan = plan.and_then(LogicalPlanBuilder::build).map_err(|e| Error::planning(&e))?;
        Ok(Node::Released(plan))
    }
}

/// What a function is in terms of others; `None` if it is bought as it is.
fn derived(function: &AggregateFunction, rows: &Rows, basics: &mut Basics) -> Result<Option<Expr>> {
    let (name, params) = (function.func.name(), &function.params);
    let paired = matches!(name, "corr" | "covar_pop" | "covar_samp") || name.starts_with("regr_");
    if paired {
        if params.distinct {
            return Err(Refusal::new(
                Rule::Aggregate,
                format!("{name}(DISTINCT …)"),
                "leave DISTINCT out, or aggregate per person first",
            )
            .into());
        }
        let [y, x] = &params.args[..] else {
            return Err(unexpected("a function of two columns"));
        };
        return Pair::new(name, (x, y), params.filter.as_deref(), rows)?.in_terms(name, basics);
    }
    let columns: Vec<Expr> = match (name, &params.args[..]) {
        ("count", [one]) if params.distinct => match tuple(one) {
            Some(columns) => columns,
            None => return Ok(None),
        },
        ("count", several @ [_, _, ..]) => several.to_vec(),
        _ => return Ok(None),
    };
    let argument = match params.distinct {
        true => one_column(&columns, rows)?,
        false => {
            let present = columns.iter().map(|column| column.clone().is_not_null());
            let present = present.reduce(Expr::and).unwrap_or_else(|| lit(true));
            when(present, lit(1i64)).end().map_err(planned)?
        }
    };
    let filter = params.filter.clone();
    let distinct = params.distinct;
    let call =
        AggregateFunction::new_udf(count_udaf(), vec![argument], distinct, filter, vec![], None);
    Ok(Some(basics.column(call)))
}

/// The columns of `(a, b)`, which the engine plans as a structure.
fn tuple(argument: &Expr) -> Option<Vec<Expr>> {
    match argument.clone().unalias() {
        Expr::ScalarFunction(call) if call.name() == "struct" => Some(call.args),
        Expr::ScalarFunction(call) if call.name() == "named_struct" => {
            Some(call.args.into_iter().skip(1).step_by(2).collect())
        }
        _ => None,
    }
}

/// Several columns as one text that differs where one of them does; NULL where one of them is.
///
/// # Proof
/// Each column is written as text, which differs for different values of its type, and all but the last begin with the
/// number of their characters and a colon. So a text can be read back from left to right in one way only. ∎
fn one_column(columns: &[Expr], rows: &Rows) -> Result<Expr> {
    let mut parts = Vec::new();
    for (i, column) in columns.iter().enumerate() {
        let kind = column.get_type(rows.schema()).map_err(planned)?;
        let text = match kind {
            // −0 is 0.
            DataType::Float64 | DataType::Float32 => {
                cast(cast(column.clone(), DataType::Float64) + lit(0.0), DataType::Utf8)
            }
            DataType::Utf8 => column.clone(),
            _ => cast(column.clone(), DataType::Utf8),
        };
        if i + 1 < columns.len() {
            parts.push(cast(character_length(text.clone()), DataType::Utf8));
            parts.push(lit(":"));
        }
        parts.push(text);
    }
    let present = columns.iter().map(|column| column.clone().is_not_null());
    let present = present.reduce(Expr::and).unwrap_or_else(|| lit(true));
    let names: Vec<String> = columns.iter().map(|c| c.human_display().to_string()).collect();
    let all = when(present, concat(parts)).end().map_err(planned)?;
    Ok(all.alias(names.join(", ")))
}

/// Two columns of the same rows.
struct Pair {
    x: One,
    y: One,
    filter: Option<Expr>,
}

/// One of them: its values in rows in which the other is not NULL.
struct One {
    value: Expr,
    facts: Facts,
    low: f64,
    high: f64,
}

impl One {
    fn new(value: &Expr, call: &str, rows: &Rows) -> Result<Self> {
        let facts = facts(value, rows);
        let numeric = value.get_type(rows.schema()).is_ok_and(|kind| kind.is_numeric());
        let (low, high) = facts.interval.finite().filter(|_| numeric).ok_or_else(|| {
            let text = value.human_display();
            Refusal::new(
                Rule::Bounds,
                format!(
                    "{call}: {text} has no bounds, so one person could change the answer \
                     arbitrarily"
                ),
                "declare `bounds = [low, high]` for the column in the policy, or write \
                 CLAMP(x, low, high)",
            )
        })?;
        let high = if high > low { high } else { low + low.abs().max(1.0) * 1e-3 };
        let real = value.get_type(rows.schema()).is_ok_and(|kind| kind == DataType::Float64);
        let value = if real { value.clone() } else { cast(value.clone(), DataType::Float64) };
        Ok(Self { value, facts, low, high })
    }

    fn range(&self) -> f64 {
        self.high - self.low
    }

    /// Its place between its bounds, from 0 to 1.
    fn place(&self) -> Expr {
        let value = self.value.clone();
        let inside = added_functions::clamp().call(vec![value, lit(self.low), lit(self.high)]);
        (inside - lit(self.low)) / lit(self.range())
    }
}

impl Pair {
    fn new(name: &str, (x, y): (&Expr, &Expr), filter: Option<&Expr>, rows: &Rows) -> Result<Self> {
        let (x, y) = (One::new(x, name, rows)?, One::new(y, name, rows)?);
        Ok(Self { x, y, filter: filter.cloned() })
    }

    /// A statistic of one column, over the rows in which the other is not NULL.
    fn of(&self, one: &One, other: &One, f: Arc<AggregateUDF>, basics: &mut Basics) -> Expr {
        let present = other.facts.nullable.then(|| other.value.clone().is_not_null());
        let filter = match (self.filter.clone(), present) {
            (Some(filter), Some(present)) => Some(filter.and(present)),
            (filter, present) => filter.or(present),
        };
        basics.call(f, one.value.clone(), filter)
    }

    fn in_terms(&self, name: &str, basics: &mut Basics) -> Result<Option<Expr>> {
        let (x, y) = (&self.x, &self.y);
        let mean_x = |basics: &mut Basics| self.of(x, y, avg_udaf(), basics);
        let mean_y = |basics: &mut Basics| self.of(y, x, avg_udaf(), basics);
        let var_x = |basics: &mut Basics| self.of(x, y, var_pop_udaf(), basics);
        let var_y = |basics: &mut Basics| self.of(y, x, var_pop_udaf(), basics);
        let count =
            |basics: &mut Basics| cast(self.of(x, y, count_udaf(), basics), DataType::Float64);
        let covariance = |basics: &mut Basics| {
            let area = x.range() * y.range();
            let names = [x, y].map(|one| one.value.human_display().to_string());
            let product = (x.place() * y.place())
                .alias(format!("{} * {}, each between 0 and 1", names[0], names[1]));
            let both = basics.call(avg_udaf(), product, self.filter.clone());
            let apart = (mean_x(basics) - lit(x.low)) * (mean_y(basics) - lit(y.low));
            let within = greatest(vec![both * lit(area) - apart, lit(-0.25 * area)]);
            least(vec![within, lit(0.25 * area)])
        };
        let zero = || lit(0.0);
        let only = |condition: Expr, value: Expr| when(condition, value).end().map_err(planned);
        Ok(Some(match name {
            "covar_pop" => covariance(basics),
            "covar_samp" => {
                let (n, cov) = (count(basics), covariance(basics));
                only(n.clone().gt(lit(1.0)), cov * (n.clone() / (n - lit(1.0))))?
            }
            "corr" => {
                let (cov, vx, vy) = (covariance(basics), var_x(basics), var_y(basics));
                let all = cov / sqrt(vx.clone() * vy.clone());
                let all = least(vec![greatest(vec![all, lit(-1.0)]), lit(1.0)]);
                only((vx * vy).gt(zero()), all)?
            }
            "regr_r2" => {
                let (cov, vx, vy) = (covariance(basics), var_x(basics), var_y(basics));
                let all = cov.clone() * cov / (vx.clone() * vy.clone());
                when((vx.clone() * vy).gt(zero()), least(vec![all, lit(1.0)]))
                    .when(vx.gt(zero()), lit(1.0))
                    .end()
                    .map_err(planned)?
            }
            "regr_slope" => {
                let (cov, vx) = (covariance(basics), var_x(basics));
                only(vx.clone().gt(zero()), cov / vx)?
            }
            "regr_intercept" => {
                let (cov, vx) = (covariance(basics), var_x(basics));
                let line = mean_y(basics) - cov / vx.clone() * mean_x(basics);
                only(vx.gt(zero()), line)?
            }
            "regr_count" => self.of(x, y, count_udaf(), basics),
            "regr_avgx" => mean_x(basics),
            "regr_avgy" => mean_y(basics),
            "regr_sxx" => count(basics) * var_x(basics),
            "regr_syy" => count(basics) * var_y(basics),
            "regr_sxy" => count(basics) * covariance(basics),
            _ => return Ok(None),
        }))
    }
}
