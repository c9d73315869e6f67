//! The private aggregate: rows in, noised numbers out.

use super::rows::planned;
use super::{Node, Walk};
use crate::admit::{admit, conversion};
use crate::domain;
use crate::error::{Error, Result};
use crate::expression::{Facts, facts, number};
use crate::refusal::{Refusal, Rule};
use crate::rows::{Limits, Owner, RESERVED, Rows};
use datafusion::arrow::datatypes::DataType;
use datafusion::common::{DFSchemaRef, ScalarValue};
use datafusion::logical_expr::expr::AggregateFunction;
use datafusion::logical_expr::{
    Aggregate, Expr, ExprSchemable, LogicalPlan, LogicalPlanBuilder, lit,
};
use demure_core::mechanism::Bounds;
use demure_core::unit::Grid;
use sha2::{Digest, Sha256};
use std::hash::{Hash, Hasher};

/// An aggregate over protected rows, ready to be priced.
#[derive(Clone, Debug)]
pub(crate) struct PrivateAggregate {
    /// Columns: the unit's id if there is one, the keys, the arguments.
    pub(crate) input: LogicalPlan,
    /// Whether the input's first column is the id of people whose rows must be bounded.
    pub(crate) bounded: bool,
    /// At most so many groups of a unit, at most so many rows in each.
    pub(crate) limits: Limits,
    pub(crate) keys: Keys,
    pub(crate) key_count: usize,
    /// What each argument column is.
    pub(crate) values: Vec<Value>,
    /// One for each aggregate of the query.
    pub(crate) measures: Vec<Measure>,
    /// What the query calls the columns: keys, then measures.
    pub(crate) schema: DFSchemaRef,
}

/// SHA-256 as a hasher of structures.
#[derive(Default)]
struct Fingerprint(Sha256);

impl Hasher for Fingerprint {
    fn write(&mut self, bytes: &[u8]) {
        self.0.update(bytes);
    }

    fn finish(&self) -> u64 {
        0 // nobody asks: the whole digest is taken
    }
}

/// A plan's structure and text, as a name.
pub(super) fn digest(plan: &LogicalPlan) -> String {
    let mut hasher = Fingerprint::default();
    plan.hash(&mut hasher);
    plan.display_indent().to_string().hash(&mut hasher);
    hasher.0.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Where the group keys come from.
#[derive(Clone, Debug)]
pub(crate) enum Keys {
    /// No GROUP BY: one group.
    One,
    /// Every combination comes back, whatever the data.
    Public(Vec<Vec<ScalarValue>>),
    /// Which keys come back is itself a private answer.
    Private,
}

/// An argument column of the input.
#[derive(Clone, Debug)]
pub(crate) struct Value {
    /// How the query writes it.
    pub(crate) text: String,
    pub(crate) facts: Facts,
    /// Numbers: the bounds their sums and ranks are taken in.
    pub(crate) bounds: Option<Bounds>,
}

/// What is asked of each group. The number is the argument's place among the values.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Measure {
    CountRows,
    /// COUNT(DISTINCT id).
    CountPeople,
    Count(usize),
    CountDistinct(usize),
    Sum(usize),
    Mean(usize),
    Variance(usize),
    Deviation(usize),
    /// The quantile of this rank; 0 and 1 are MIN and MAX.
    Quantile(usize, f64),
    Mode(usize),
}

impl PrivateAggregate {
    /// What is asked, for people to read.
    pub(crate) fn text(&self) -> String {
        let names: Vec<String> = (0..self.measures.len()).map(|i| self.measure_name(i)).collect();
        let Limits { groups, rows } = self.limits;
        format!(
            "{}; at most {rows} rows in each of {groups} groups\n{}",
            names.join(", "),
            self.input.display_indent()
        )
    }

    /// Equal for aggregates that ask the same, and different for others: what an answer is found
    /// by. The plan's own structure is hashed, not a text of it, which two plans can share.
    pub(crate) fn fingerprint(&self) -> [u8; 32] {
        let mut hasher = Fingerprint::default();
        self.input.hash(&mut hasher);
        // A number's hash does not say its type; its text does.
        self.input.display_indent().to_string().hash(&mut hasher);
        (self.bounded, self.limits.groups, self.limits.rows, self.key_count).hash(&mut hasher);
        for value in &self.values {
            let bounds = value
                .bounds
                .map(|b| (b.lower().to_bits(), b.upper().to_bits(), b.grid().exponent()));
            (bounds, value.facts.nullable, &value.facts.values).hash(&mut hasher);
        }
        for measure in &self.measures {
            std::mem::discriminant(measure).hash(&mut hasher);
            match measure {
                Measure::CountRows | Measure::CountPeople => {}
                Measure::Count(v)
                | Measure::CountDistinct(v)
                | Measure::Sum(v)
                | Measure::Mean(v)
                | Measure::Variance(v)
                | Measure::Deviation(v)
                | Measure::Mode(v) => v.hash(&mut hasher),
                Measure::Quantile(v, rank) => (v, rank.to_bits()).hash(&mut hasher),
            }
        }
        for field in self.schema.fields() {
            field.data_type().hash(&mut hasher);
        }
        hasher.0.finalize().into()
    }

    /// What a measure is, as a query would write it.
    pub(crate) fn measure_name(&self, i: usize) -> String {
        let of = |function: &str, v: &usize| format!("{function}({})", self.values[*v].text);
        match &self.measures[i] {
            Measure::CountRows => "count(*)".to_owned(),
            Measure::CountPeople => "count(distinct people)".to_owned(),
            Measure::Count(v) => of("count", v),
            Measure::CountDistinct(v) => format!("count(distinct {})", self.values[*v].text),
            Measure::Sum(v) => of("sum", v),
            Measure::Mean(v) => of("avg", v),
            Measure::Variance(v) => of("var", v),
            Measure::Deviation(v) => of("stddev", v),
            Measure::Quantile(v, rank) if *rank <= 0.0 => of("min", v),
            Measure::Quantile(v, rank) if *rank >= 1.0 => of("max", v),
            Measure::Quantile(v, rank) => format!("quantile({}, {rank})", self.values[*v].text),
            Measure::Mode(v) => of("mode", v),
        }
    }
}

impl Walk<'_> {
    /// An aggregate over protected rows.
    pub(super) fn aggregate(&mut self, rows: Rows, aggregate: &Aggregate) -> Result<Node> {
        if aggregate.group_expr.iter().any(|e| matches!(e, Expr::GroupingSet(_))) {
            return Err(Refusal::new(
                Rule::Clause,
                "GROUPING SETS, ROLLUP and CUBE over protected rows",
                "ask for each grouping in a query of its own, or combine them with UNION ALL",
            )
            .into());
        }
        // A key that is written twice is one column of the schema.
        let mut once = aggregate.clone();
        let mut seen = std::collections::HashSet::new();
        once.group_expr.retain(|expr| seen.insert(expr.clone()));
        let aggregate = &once;
        let by_person = aggregate
            .group_expr
            .iter()
            .any(|expr| matches!(expr.clone().unalias(), Expr::Column(c) if rows.is_unit(&c)));
        if by_person {
            return self.per_person(rows, aggregate);
        }
        let cut =
            self.private(rows, &aggregate.group_expr, &aggregate.aggr_expr, &aggregate.schema)?;
        self.cut(cut)
    }

    /// `SELECT DISTINCT`: which rows there are, that is, which group keys.
    pub(super) fn distinct(&mut self, rows: Rows, plan: &LogicalPlan) -> Result<Node> {
        let visible = plan.schema();
        let columns: Vec<Expr> = visible.columns().into_iter().map(Expr::Column).collect();
        let columns: Vec<Expr> = columns
            .into_iter()
            .filter(|c| !matches!(c, Expr::Column(c) if c.name.starts_with(RESERVED)))
            .collect();
        let unit = columns.iter().any(|c| matches!(c, Expr::Column(c) if rows.is_unit(c)));
        if unit {
            let input = std::sync::Arc::new(rows.plan.clone());
            let aggregate = Aggregate::try_new(input, columns, Vec::new()).map_err(planned)?;
            return self.per_person(rows, &aggregate);
        }
        let schema = std::sync::Arc::clone(visible);
        let cut = self.private(rows, &columns, &[], &schema)?;
        self.cut(cut)
    }

    fn private(
        &mut self,
        rows: Rows,
        keys: &[Expr],
        aggregates: &[Expr],
        schema: &DFSchemaRef,
    ) -> Result<PrivateAggregate> {
        let mut columns: Vec<Expr> = Vec::new();
        let (bounded, mut limits) = match &rows.owner {
            Owner::Person { column, once: false } => {
                columns.push(Expr::Column(column.clone()).alias(format!("{RESERVED}unit")));
                (true, self.limits(rows.limits))
            }
            Owner::Person { once: true, .. } => (false, Limits { groups: 1, rows: 1 }),
            // `copies` rows in whatever groups: `Contributions` says how to write that.
            Owner::Row { copies } => (false, Limits { groups: *copies, rows: *copies }),
        };
        let mut domains = Vec::new();
        for (i, key) in keys.iter().enumerate() {
            let data_type = schema.field(i).data_type();
            domains.push(domain::values(key, &rows, &self.state));
            let key = conversion(admit(key.clone(), &rows)?, data_type, rows.schema());
            columns.push(key.alias(format!("{RESERVED}key_{i}")));
        }
        let keys_kind = match domains.into_iter().collect::<Option<Vec<_>>>() {
            _ if keys.is_empty() => Keys::One,
            Some(domains) => match combinations(&domains) {
                Some(all) => Keys::Public(all),
                None => Keys::Private,
            },
            None => Keys::Private,
        };
        if let (Keys::Private, Owner::Row { copies: 2.. }) = (&keys_kind, &rows.owner) {
            return Err(Refusal::new(
                Rule::Keys,
                "private group keys over a UNION in which a row may be twice",
                "list the keys in the policy (`values = [...]`), or ask for each part by itself",
            )
            .into());
        }
        match &keys_kind {
            Keys::One => limits.groups = 1,
            Keys::Public(_) if matches!(rows.owner, Owner::Row { .. }) => limits.groups = 1,
            Keys::Public(all) => {
                limits.groups = limits.groups.min(u32::try_from(all.len()).unwrap_or(u32::MAX));
            }
            Keys::Private => {}
        }
        let mut values: Vec<Value> = Vec::new();
        let mut arguments: Vec<Expr> = Vec::new();
        let mut measures = Vec::new();
        for aggregate in aggregates {
            let Expr::AggregateFunction(function) = aggregate.clone().unalias() else {
                return Err(super::unexpected("an aggregate that is none"));
            };
            measures.push(measure(&function, &rows, &mut values, &mut arguments)?);
        }
        for (i, argument) in arguments.into_iter().enumerate() {
            columns.push(argument.alias(format!("{RESERVED}value_{i}")));
        }
        if columns.is_empty() {
            columns.push(lit(true).alias(format!("{RESERVED}row")));
        }
        let input = LogicalPlanBuilder::from(rows.plan)
            .project(columns)
            .and_then(LogicalPlanBuilder::build)
            .map_err(planned)?;
        Ok(PrivateAggregate {
            input,
            bounded,
            limits,
            keys: keys_kind,
            key_count: keys.len(),
            values,
            measures,
            schema: std::sync::Arc::clone(schema),
        })
    }
}

/// All combinations of the keys' values, the last changing fastest; none if too many.
fn combinations(domains: &[Vec<ScalarValue>]) -> Option<Vec<Vec<ScalarValue>>> {
    let n = domains.iter().try_fold(1usize, |n, d| n.checked_mul(d.len()))?;
    if n > domain::MOST_KEYS {
        return None;
    }
    let mut all = vec![Vec::new()];
    for domain in domains {
        all = all
            .into_iter()
            .flat_map(|start: Vec<ScalarValue>| {
                domain.iter().map(move |value| {
                    let mut key = start.clone();
                    key.push(value.clone());
                    key
                })
            })
            .collect();
    }
    Some(all)
}

fn refuse(what: impl Into<String>, remedy: &str) -> Error {
    Refusal::new(Rule::Aggregate, what, remedy).into()
}

/// What one aggregate asks for; its argument joins `values` unless it is there already.
fn measure(
    function: &AggregateFunction,
    rows: &Rows,
    values: &mut Vec<Value>,
    arguments: &mut Vec<Expr>,
) -> Result<Measure> {
    let (name, params) = (function.func.name(), &function.params);
    let quantile =
        matches!(name, "median" | "approx_median" | "approx_percentile_cont" | "percentile_cont");
    if !quantile && !params.order_by.is_empty() {
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
    let (argument, rank) = match name {
        "approx_percentile_cont" | "percentile_cont" => ranked(name, function)?,
        _ => {
            let [argument] = &params.args[..] else {
                return Err(refuse(format!("{name} with several arguments"), "use one argument"));
            };
            (argument.clone(), 0.5)
        }
    };
    let constant = matches!(&argument, Expr::Literal(value, _) if !value.is_null());
    let unit = matches!(argument.clone().unalias(), Expr::Column(c) if rows.is_unit(&c));
    let mut value = |numeric: bool| {
        column(&argument, params.filter.as_deref(), numeric, name, rows, values, arguments)
    };
    Ok(match name {
        "count" if params.distinct && unit && params.filter.is_none() => match rows.owner {
            Owner::Person { .. } => Measure::CountPeople,
            Owner::Row { .. } => Measure::CountRows,
        },
        "count" | "approx_distinct" if params.distinct || name == "approx_distinct" => {
            Measure::CountDistinct(value(false)?)
        }
        "count" if constant && params.filter.is_none() => Measure::CountRows,
        "count" => Measure::Count(value(false)?),
        "sum" => Measure::Sum(value(true)?),
        "avg" | "mean" => Measure::Mean(value(true)?),
        "var" | "var_samp" | "var_sample" | "var_pop" | "var_population" => {
            Measure::Variance(value(true)?)
        }
        "stddev" | "stddev_samp" | "stddev_pop" => Measure::Deviation(value(true)?),
        "min" => Measure::Quantile(value(true)?, 0.0),
        "max" => Measure::Quantile(value(true)?, 1.0),
        _ if quantile => Measure::Quantile(value(true)?, rank),
        "mode" => Measure::Mode(value(false)?),
        _ => {
            return Err(refuse(
                format!("the aggregate {name} has no private form here"),
                "use COUNT, COUNT(DISTINCT), SUM, AVG, VAR, STDDEV, MIN, MAX, MEDIAN, \
                 APPROX_PERCENTILE_CONT or MODE",
            ));
        }
    })
}

/// `approx_percentile_cont(x, 0.9)` or `approx_percentile_cont(0.9) WITHIN GROUP (ORDER BY x)`.
fn ranked(name: &str, function: &AggregateFunction) -> Result<(Expr, f64)> {
    let (args, order) = (&function.params.args, &function.params.order_by);
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
    Ok((x, if descending { 1.0 - q } else { q }))
}

/// The place of an argument column: that of the same argument before, or a new one.
fn column(
    argument: &Expr,
    filter: Option<&Expr>,
    numeric: bool,
    name: &str,
    rows: &Rows,
    values: &mut Vec<Value>,
    arguments: &mut Vec<Expr>,
) -> Result<usize> {
    let data_type = argument.get_type(rows.schema()).map_err(planned)?;
    let mut known = facts(argument, rows);
    let mut expr = admit(argument.clone(), rows)?;
    let mut text = argument.human_display().to_string();
    if let Some(filter) = filter {
        text.push_str(&format!(" where {}", filter.human_display()));
        let filter = admit(filter.clone(), rows)?;
        expr = datafusion::logical_expr::when(filter, expr).end().map_err(planned)?;
        known.nullable = true;
    }
    let bounds = if numeric {
        let ranks = !matches!(name, "sum" | "avg" | "mean")
            && !name.starts_with("var")
            && !name.starts_with("stddev");
        let bounds = bounds(&known, &data_type, name, &text, ranks)?;
        expr = conversion(expr, &DataType::Float64, rows.schema());
        Some(bounds)
    } else {
        None
    };
    let same = |(i, e): (usize, &Expr)| (*e == expr && values[i].bounds == bounds).then_some(i);
    if let Some(place) = arguments.iter().enumerate().find_map(same) {
        return Ok(place);
    }
    values.push(Value { text, facts: known, bounds });
    arguments.push(expr);
    Ok(values.len() - 1)
}

/// The bounds a number is clamped to, on its grid.
fn bounds(
    known: &Facts,
    data_type: &DataType,
    name: &str,
    text: &str,
    ranks: bool,
) -> Result<Bounds> {
    if !data_type.is_numeric() {
        return Err(refuse(
            format!("{name}({text}) of what is not a number"),
            "use COUNT or MODE, or cast it to a number",
        ));
    }
    let (low, high) = known.interval.finite().ok_or_else(|| {
        Refusal::new(
            Rule::Bounds,
            format!("{name}({text}): nothing limits how large one person's value is"),
            "declare `bounds = [low, high]` for the column in the policy, or write \
             CLAMP(x, low, high)",
        )
    })?;
    // A constant still needs room for a grid.
    let high = if high > low { high } else { low + low.abs().max(1.0) * 1e-3 };
    let bounds = match known.grid {
        Some(exponent) => Bounds::on(low, high, Grid::power_of_two(exponent)?),
        // The ranks of integers are those of integers, where they fit.
        None if ranks && known.integral && high - low <= (1u64 << 30) as f64 => {
            let high = if high - low < 1.0 { low + 1.0 } else { high };
            Bounds::on(low, high, Grid::ONE)
        }
        None => Bounds::new(low, high),
    };
    bounds.map_err(|_| {
        Refusal::new(
            Rule::Bounds,
            format!("{name}({text}): the bounds do not fit its grid"),
            "use narrower bounds or a coarser grid",
        )
        .into()
    })
}
