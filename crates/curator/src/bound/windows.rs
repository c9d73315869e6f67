//! The same bounding in plain SQL, for engines without the native operator.
//!
//! ```text
//! SELECT keys, first, arguments FROM (
//!   SELECT *, ROW_NUMBER() OVER (PARTITION BY id, keys ORDER BY h(group rank, arguments, copy)) …
//!   FROM (SELECT *, DENSE_RANK() OVER (PARTITION BY id ORDER BY h(id, keys), keys) AS group rank,
//!                   ROW_NUMBER() OVER (PARTITION BY id, keys, arguments) AS copy FROM rows)
//!   WHERE group rank <= max_groups) WHERE row rank <= max_rows
//! ```
//!
//! # Guarantee
//! As for the operator: what is kept of a person is a function of that person's
//! rows and the salt. Every window is partitioned by the id itself, and content breaks ties.
//!
//! # Limits
//! - h is arithmetic modulo the prime 2³¹ − 1 with a secret salt, since no hash function is common to all engines. For
//!   values other than integers it reads the first 16 characters; if those agree, the choice follows the order of the
//!   values. That makes the choice less even, not less private.
//! - NaN is a single key only if the engine treats it so.
//! - The salt is part of the query: anyone who reads the engine's log can tell which rows stayed.
//! - Sums of squares are exact up to 2³³ rows per group.

use super::cap::CapRows;
use super::engine::{Engine, Task};
use super::key::Key;
use super::read::read;
use super::spec::{BoundSpec, Form};
use super::steps::Steps;
use crate::error::Error;
use crate::refusal::{Refusal, Rule};
use crate::rows::risky;
use crate::tables::read_all::{read_all, thorough};
use async_trait::async_trait;
use datafusion::arrow::datatypes::DataType;
use datafusion::common::tree_node::{Transformed, TreeNode};
use datafusion::common::{Column, DataFusionError, Result, plan_err};
use datafusion::execution::SessionState;
use datafusion::functions::expr_fn::{ascii, ceil, character_length, coalesce, floor, substr};
use datafusion::functions_aggregate::expr_fn::{count, sum};
use datafusion::functions_window::expr_fn::{dense_rank, row_number};
use datafusion::logical_expr::expr::Sort;
use datafusion::logical_expr::{
    Expr, ExprFunctionExt, LogicalPlan, LogicalPlanBuilder, cast, lit, when,
};
use demure_core::mechanism::Bounds;
use std::fmt;
use std::sync::Arc;

/// 2³¹ − 1: products of two residues fit 64 bits.
const PRIME: i64 = (1 << 31) - 1;
/// The number of characters of a text that the hash reads.
const CHARACTERS: i64 = 16;
/// The residue of NULL.
const NULL: i64 = 1_618_033_988;

/// Contribution bounding by window functions, run by DataFusion itself. [`Windows::plans`] returns the queries for
/// another engine.
#[derive(Clone)]
pub struct Windows {
    state: SessionState,
}

impl Windows {
    /// Runs in the session's environment.
    #[must_use]
    pub fn new(state: SessionState) -> Self {
        Self { state: thorough(state) }
    }

    /// The queries: first `keys, rows, people, moments…` by group, then `keys, value, rows` for each argument whose
    /// single values are needed. They consist of projections, filters, windows and aggregates only.
    pub fn plans(input: LogicalPlan, spec: &BoundSpec, key: &Key) -> Result<Vec<LogicalPlan>> {
        spec.check(input.schema().as_arrow())?;
        let input = input.transform_up(|node| match CapRows::of(&node) {
            Some(cap) => Ok(Transformed::yes(capped(cap, key)?)),
            None => Ok(Transformed::no(node)),
        })?;
        let rows = bounded(input.data, spec, key)?;
        let keys: Vec<Expr> = (0..spec.keys.len()).map(|i| column("k", i)).collect();
        let mut totals = vec![count(lit(1i64)).alias("rows"), sum(named("first")).alias("people")];
        let mut plans = Vec::new();
        for (i, argument) in spec.arguments.iter().enumerate() {
            let value = column("a", i);
            if !matches!(argument.form, Form::Code) {
                totals.push(count(value.clone()).alias(format!("n{i}")));
            }
            if matches!(argument.form, Form::Steps { .. }) {
                // The square of u < 2³¹ in three sums that fit 64 bits up to 2³³ rows.
                let (high, low) =
                    (value.clone() / lit(1i64 << 15), value.clone() % lit(1i64 << 15));
                let products = [high.clone() * high.clone(), high * low.clone(), low.clone() * low];
                totals.push(sum(value.clone()).alias(format!("s{i}")));
                totals.extend(
                    products
                        .into_iter()
                        .enumerate()
                        .map(|(j, p)| sum(p).alias(format!("q{i}_{j}"))),
                );
            }
            if matches!(argument.form, Form::Code | Form::Steps { histogram: true, .. }) {
                let by: Vec<Expr> = keys.iter().cloned().chain([value.clone()]).collect();
                let present = LogicalPlanBuilder::from(rows.clone()).filter(value.is_not_null())?;
                plans.push(aggregate(present, by, vec![count(lit(1i64)).alias("rows")])?);
            }
        }
        plans.insert(0, aggregate(LogicalPlanBuilder::from(rows), keys, totals)?);
        Ok(plans)
    }
}

impl fmt::Debug for Windows {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Windows")
    }
}

#[async_trait]
impl Engine for Windows {
    async fn prepare(&self, input: LogicalPlan, spec: &BoundSpec, key: Key) -> crate::Result<Task> {
        if spec.arguments.iter().any(|argument| matches!(argument.form, Form::Norm(_))) {
            return Err(Refusal::new(
                Rule::Bounds,
                "this engine cannot weigh people, so it cannot sum values without bounds",
                "declare `bounds = [low, high]` for the column in the policy, or write \
                 CLAMP(x, low, high)",
            )
            .into());
        }
        if spec.weighing.is_some() {
            return Err(Refusal::new(
                Rule::Clause,
                "this engine leaves rows out by limits and cannot weigh people",
                "set demure.max_groups and demure.max_rows_per_group",
            )
            .into());
        }
        let planned = |e: DataFusionError| Error::planning(&e);
        // Filters first go below the bounds before joins, as they do for the operator.
        let input = self.state.optimize(&input).map_err(planned)?;
        risky::check(&input)?;
        let mut plans = Vec::new();
        for plan in Self::plans(input, spec, &key).map_err(planned)? {
            let plan = self.state.create_physical_plan(&plan).await;
            plans.push(plan.and_then(read_all).map_err(planned)?);
        }
        let (context, spec) = (self.state.task_ctx(), spec.clone());
        Ok(Task::new(async move {
            let mut answers = Vec::new();
            for plan in plans {
                answers.push(datafusion::physical_plan::collect(plan, Arc::clone(&context)).await?);
            }
            read(answers, &spec)
        }))
    }
}

fn named(name: &str) -> Expr {
    Expr::Column(Column::new_unqualified(name))
}

fn column(letter: &str, i: usize) -> Expr {
    named(&format!("{letter}{i}"))
}

/// An aggregate with its columns in the given order, in SQL too.
fn aggregate(plan: LogicalPlanBuilder, by: Vec<Expr>, totals: Vec<Expr>) -> Result<LogicalPlan> {
    let names = totals.iter().map(|total| named(&total.schema_name().to_string()));
    let order: Vec<Expr> = by.iter().cloned().chain(names).collect();
    plan.aggregate(by, totals)?.project(order)?.build()
}

/// The bounded rows: `k0 …, first, a0 …`.
fn bounded(input: LogicalPlan, spec: &BoundSpec, key: &Key) -> Result<LogicalPlan> {
    let salt = |i: u64| (key.permute(i) % (PRIME as u64 - 2)) as i64 + 1;
    let schema = input.schema().clone();
    let at = |i: usize| Expr::Column(Column::from(schema.qualified_field(i)));
    let kind = |i: usize| super::intern::value_type(schema.field(i).data_type()).clone();
    let plain = |i: usize| match kind(i) {
        // −0 + 0 = 0.
        DataType::Float64 => at(i) + lit(0.0f64),
        DataType::Float32 => at(i) + lit(0.0f32),
        other if other == *schema.field(i).data_type() => at(i),
        other => cast(at(i), other),
    };
    let mut first: Vec<Expr> = Vec::new();
    first.extend(spec.unit.map(|unit| plain(unit).alias("u")));
    first.extend(spec.keys.iter().enumerate().map(|(i, &k)| plain(k).alias(format!("k{i}"))));
    for (i, argument) in spec.arguments.iter().enumerate() {
        let value = match argument.form {
            Form::Steps { bounds, .. } => steps(at(argument.column), &bounds)?,
            Form::Code => plain(argument.column),
            // Refused before: it needs weights.
            Form::Present | Form::Norm(_) => {
                when(at(argument.column).is_not_null(), lit(0i64)).end()?
            }
        };
        first.push(value.alias(format!("a{i}")));
    }
    let keys: Vec<Expr> = (0..spec.keys.len()).map(|i| column("k", i)).collect();
    let arguments: Vec<Expr> = (0..spec.arguments.len()).map(|i| column("a", i)).collect();
    let last = |flag: Expr| -> Vec<Expr> {
        keys.iter().cloned().chain([flag.alias("first")]).chain(arguments.iter().cloned()).collect()
    };
    let Some(unit) = spec.unit else {
        first.push(lit(1i64).alias("first"));
        return LogicalPlanBuilder::from(input)
            .project(first)?
            .project(last(named("first")))?
            .build();
    };
    let argument_kind = |i: usize| match spec.arguments[i].form {
        Form::Code => kind(spec.arguments[i].column),
        Form::Steps { .. } | Form::Present | Form::Norm(_) => DataType::Int64,
    };
    let owner = named("u");
    let own =
        |more: &[Expr]| -> Vec<Expr> { [owner.clone()].iter().chain(more).cloned().collect() };
    let both: Vec<Expr> = keys.iter().chain(&arguments).cloned().collect();
    let order = |first: &str, then: &[Expr]| -> Vec<Sort> {
        [named(first)].iter().chain(then).map(|e| e.clone().sort(true, true)).collect()
    };

    // The groups, in a separate random order for each person.
    let mut numbers = vec![number(owner.clone(), &kind(unit), salt(0))?];
    for (i, &k) in spec.keys.iter().enumerate() {
        numbers.push(number(column("k", i), &kind(k), salt(0))?);
    }
    let plan =
        LogicalPlanBuilder::from(input).project(first)?.filter(owner.clone().is_not_null())?;
    let carried = own(&both);
    let plan = mixed(plan, &carried, numbers, [salt(1), salt(2), salt(3)])?;
    let rank = dense_rank().partition_by(own(&[])).order_by(order("h", &keys)).build()?;
    let copy = row_number().partition_by(own(&both)).order_by(order("u", &[])).build()?;
    let mut carried: Vec<Expr> = carried.into_iter().chain([named("h")]).collect();
    let plan = with(plan, &carried, rank, "g")?;
    carried.push(named("g"));
    let plan = with(plan, &carried, copy, "c")?;
    let plan = plan.filter(named("g").lt_eq(lit(i64::from(spec.max_groups))))?;

    // The rows of each group, in a separate random order for each group.
    let mut numbers = vec![named("h"), named("c") % lit(PRIME)];
    for i in 0..arguments.len() {
        numbers.push(number(column("a", i), &argument_kind(i), salt(4))?);
    }
    let carried: Vec<Expr> = own(&both).into_iter().chain([named("c")]).collect();
    let numbers = numbers.into_iter().map(|n| cast(n, DataType::Int64)).collect();
    let plan = mixed(plan, &carried, numbers, [salt(5), salt(6), salt(7)])?;
    let ties: Vec<Expr> = arguments.iter().cloned().chain([named("c")]).collect();
    let rank = row_number().partition_by(own(&keys)).order_by(order("h", &ties)).build()?;
    let plan = with(plan, &carried, rank, "r")?;
    let plan = plan.filter(named("r").lt_eq(lit(i64::from(spec.max_rows))))?;
    let flag = when(named("r").eq(lit(1i64)), lit(1i64)).otherwise(lit(0i64))?;
    plan.project(last(flag))?.build()
}

/// [`CapRows`] as window functions.
fn capped(cap: &CapRows, key: &Key) -> Result<LogicalPlan> {
    let salt = |i: u64| (key.permute(i) % (PRIME as u64 - 2)) as i64 + 1;
    let Some(rows) = cap.rows() else {
        return plan_err!("rows before a join are bounded by a number");
    };
    let (schema, owner) = (cap.input().schema(), column("c", cap.unit()?));
    let count = schema.fields().len();
    let columns: Vec<Expr> = (0..count).map(|i| column("c", i)).collect();
    let given = |i: usize| Expr::Column(Column::from(schema.qualified_field(i)));
    let renamed = (0..count).map(|i| given(i).alias(format!("c{i}")));
    let plan = LogicalPlanBuilder::from(cap.input().clone())
        .project(renamed)?
        .filter(owner.clone().is_not_null())?;
    let by_owner = vec![owner.clone().sort(true, true)];
    let copy = row_number().partition_by(columns.clone()).order_by(by_owner).build()?;
    let plan = with(plan, &columns, copy, "copy")?;
    let mut numbers = vec![cast(named("copy") % lit(PRIME), DataType::Int64)];
    for (i, field) in schema.fields().iter().enumerate() {
        numbers.push(number(column("c", i), field.data_type(), salt(8))?);
    }
    let carried: Vec<Expr> = columns.iter().cloned().chain([named("copy")]).collect();
    let numbers = numbers.into_iter().map(|n| cast(n, DataType::Int64)).collect();
    let plan = mixed(plan, &carried, numbers, [salt(9), salt(10), salt(11)])?;
    let order = [named("h")].into_iter().chain(carried).map(|e| e.sort(true, true)).collect();
    let rank = row_number().partition_by(vec![owner]).order_by(order).build()?;
    let plan = with(plan, &columns, rank, "r")?;
    let names = schema.iter().zip(columns);
    let named_again = names.map(|((q, f), c)| c.alias_qualified(q.cloned(), f.name()));
    let named_again: Vec<Expr> = named_again.collect();
    plan.filter(named("r").lt_eq(lit(i64::from(rows))))?.project(named_again)?.build()
}

/// Adds a column with a window function.
fn with(
    plan: LogicalPlanBuilder,
    carried: &[Expr],
    window: Expr,
    name: &str,
) -> Result<LogicalPlanBuilder> {
    let value = named(&window.schema_name().to_string()).alias(name);
    plan.window([window])?.project(carried.iter().cloned().chain([value]))
}

/// Adds a column `h` that hashes `numbers`: a polynomial in the salt, then
/// `x⁵ + salt`, which permutes the residues (5 does not divide 2³¹ − 2).
fn mixed(
    plan: LogicalPlanBuilder,
    carried: &[Expr],
    numbers: Vec<Expr>,
    salts: [i64; 3],
) -> Result<LogicalPlanBuilder> {
    let keep = |more: Vec<Expr>| -> Vec<Expr> { carried.iter().cloned().chain(more).collect() };
    let step = |sum: Expr, n: Expr| (sum * lit(salts[0]) + n) % lit(PRIME);
    let sum = numbers.into_iter().fold(lit(salts[1]), step);
    let x = named("h");
    let square = (x.clone() * x.clone()) % lit(PRIME);
    let fourth = (named("x2") * named("x2")) % lit(PRIME);
    plan.project(keep(vec![sum.alias("h")]))?
        .project(keep(vec![x.clone(), square.alias("x2")]))?
        .project(keep(vec![((fourth * x + lit(salts[2])) % lit(PRIME)).alias("h")]))
}

/// The residue of a value: of the number itself for integers, otherwise of its text.
fn number(value: Expr, kind: &DataType, salt: i64) -> Result<Expr> {
    let residue = |x: Expr| ((x % lit(PRIME)) + lit(PRIME)) % lit(PRIME);
    use DataType::{Int8, Int16, Int32, Int64, UInt8, UInt16, UInt32};
    let number = match kind {
        Int8 | Int16 | Int32 | Int64 | UInt8 | UInt16 | UInt32 => {
            let x = cast(value, Int64);
            // Uses both halves, not only the remainder.
            residue(x.clone() / lit(PRIME) * lit(salt % 1_000_003) + x % lit(PRIME))
        }
        _ => {
            let text = cast(value, DataType::Utf8);
            let length = cast(character_length(text.clone()), Int64) * lit(salt);
            let character = |i: i64| cast(ascii(substr(text.clone(), lit(i))), Int64);
            let power = |i: i64| (0..i).fold(salt, |power, _| power * salt % PRIME);
            let term = |i: i64| character(i) * lit(power(i));
            // Each term is below 2⁵². A balanced tree, because parsers limit the depth.
            let mut terms: Vec<Expr> =
                [length].into_iter().chain((1..=CHARACTERS).map(term)).collect();
            while terms.len() > 1 {
                let add = |pair: &[Expr]| pair.iter().cloned().reduce(|a, b| a + b);
                terms = terms.chunks(2).filter_map(add).collect();
            }
            terms.pop().unwrap_or_else(|| lit(0i64)) % lit(PRIME)
        }
    };
    Ok(coalesce(vec![number, lit(NULL)]))
}

/// [`Steps::of`] as an expression; NULL stays NULL.
fn steps(value: Expr, bounds: &Bounds) -> Result<Expr> {
    let (exact, infinity) = (Steps::new(bounds), cast(lit("Infinity"), DataType::Float64));
    let (lower, upper) = exact.range();
    let x = value.clone() * lit(exact.per_step());
    let rounded = when(x.clone().gt_eq(lit(0.0)), floor(x.clone() + lit(0.5)))
        .otherwise(ceil(x.clone() - lit(0.5)))?;
    // Only NaN is beyond the infinities; PostgreSQL, DuckDB, Spark and DataFusion agree.
    let nan = value.clone().gt(infinity.clone()).or(value.lt(-infinity));
    when(nan, lit(i64::from(exact.of(f64::NAN))))
        .when(x.clone().lt_eq(lit(lower as f64)), lit(0i64))
        .when(x.gt_eq(lit(upper as f64)), lit(upper - lower))
        .otherwise(cast(rounded, DataType::Int64) - lit(lower))
}
