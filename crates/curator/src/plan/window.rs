//! Windows, and `DISTINCT ON`, within one person's rows. The result still consists of protected rows, and each
//! person's are computed from that person's rows alone, so nothing is spent.
//!
//! # Guarantee
//! Of each person, the rows that come out are a function of the multiset of that person's rows that go in. No window
//! function fails on any row.
//!
//! # Proof
//! Every window is partitioned by the unit's id, and rows without an id are left out before. So a row sees rows of one
//! person only. What is left is the order of rows that the query's ORDER BY calls equal, which the engine takes from
//! the files and its threads. There are two kinds of functions:
//! 1. Ranks, and aggregates over frames that hold all equals of a row or none (`RANGE`, or the whole partition), are
//!    the same in any such order. Sums are sums of integers, on a public grid where the values are real.
//! 2. All others (`ROW_NUMBER`, `LAG`, `NTILE`, `FIRST_VALUE`, `ROWS` frames, …) get every column of their input as
//!    further keys of the order. Rows that are equal even then are the same row twice, and may be exchanged. The input
//!    is cut down to those columns first, so nothing above can tell them apart by another one.
//!
//! Sums wrap; arguments are made total below the window; offsets, defaults and numbers of tiles are constants that
//! are checked here; distances in `RANGE` are whole numbers, and the engine takes an overflow for no limit. ∎
//!
//! # Time
//! The rows of a person below a window are limited to a public number, as in joins ([`super::join_rows`]): some 15,000
//! where there is nothing else. A frame moves through them once. Frames whose functions cannot give back a row that
//! leaves the frame are refused.

use super::frame::{checked_rows, distance};
use super::padded::require_all;
use super::person::{has_order, moved_inside, on_grid, one_form, ours};
use super::place::{keeps_one, one_each_if};
use super::rows::{planned, select};
use super::{Node, Walk};
use crate::error::{Error, Result};
use crate::policy::UnitPolicy;
use crate::refusal::{Refusal, Rule};
use crate::rows::admit::{admit, conversion};
use crate::rows::expression::{Facts, facts, number, place};
use crate::rows::interval::Interval;
use crate::rows::{Owner, RESERVED, Rows};
use datafusion::arrow::datatypes::DataType;
use datafusion::common::{Column, ScalarValue};
use datafusion::execution::SessionState;
use datafusion::functions::core::expr_fn::{greatest, least, nullif};
use datafusion::functions_aggregate::count::count_udaf;
use datafusion::functions_aggregate::min_max::{max_udaf, min_udaf};
use datafusion::functions_aggregate::sum::sum_udaf;
use datafusion::functions_window::row_number::row_number_udwf;
use datafusion::logical_expr::expr::{Sort, WindowFunction, WindowFunctionParams};
use datafusion::logical_expr::{
    DistinctOn, Expr, ExprSchemable, LogicalPlan, LogicalPlanBuilder, Window, WindowFrame,
    WindowFrameBound, WindowFrameUnits, WindowFunctionDefinition, lit, try_cast,
};
use datafusion::optimizer::Optimizer;
use datafusion::optimizer::optimize_projections::OptimizeProjections;
use std::sync::Arc;

/// The largest offset in rows, and the largest number of tiles.
pub(super) const MOST_OFFSET: u64 = 1_000_000;

/// How a function's rows are ordered.
#[derive(Clone, Copy, PartialEq)]
enum Order {
    /// Not at all: the frame is the whole partition, and the function ignores order.
    None,
    /// By the keys of the query: rows with equal keys are treated alike.
    Keys,
    /// By the keys, then by every column.
    Total,
    /// By the one key as a whole number, for frames that are as wide as a distance.
    Distance,
}

/// The result of a window function: computed from columns that windows make.
struct Made {
    value: Expr,
    facts: Facts,
}

/// Windows over one input, while they are put together.
struct Over {
    rows: Rows,
    unit: Column,
    /// The columns of the input that are used, in its order.
    visible: Vec<Column>,
    /// Those columns, then what is computed of them.
    before: Vec<(Expr, Facts)>,
    windows: Vec<Expr>,
}

impl Walk<'_> {
    /// A window over protected rows.
    pub(super) fn window(&mut self, rows: Rows, window: &Window) -> Result<Node> {
        self.windows = true;
        let mut over = Over::new(rows, window.input.schema().columns())?;
        let mut made = Vec::new();
        for expr in &window.window_expr {
            let Expr::WindowFunction(function) = expr.clone().unalias() else {
                return Err(super::unexpected("a window that is none"));
            };
            self.within_a_person(&over.rows, &function)?;
            made.push(over.function(&function)?);
        }
        let first = over.visible.len();
        let results = made.into_iter().zip(window.schema.iter().skip(first));
        let results: Vec<_> = results
            .map(|(made, (qualifier, field))| {
                let name = (qualifier.cloned(), field.name().clone());
                (made, field.data_type().clone(), name)
            })
            .collect();
        let visible = over.visible.clone();
        let rows = over.build()?;
        let mut columns: Vec<(Expr, Facts)> = Vec::new();
        for column in visible {
            let known = rows.facts_of(&column).cloned().unwrap_or_else(Facts::unknown);
            columns.push((Expr::Column(column), known));
        }
        for (made, kind, (qualifier, name)) in results {
            let value = match made.value.get_type(rows.schema()) {
                Ok(t) if t == kind => made.value,
                _ => conversion(made.value, &kind, rows.schema()),
            };
            columns.push((value.alias_qualified(qualifier, name), made.facts));
        }
        Ok(Node::Rows(Box::new(select(rows, columns)?)))
    }

    /// `DISTINCT ON`: the first row of each person, in the query's order.
    pub(super) fn distinct_on(&mut self, rows: Rows, on: &DistinctOn) -> Result<Node> {
        self.windows = true;
        if !on.on_expr.iter().any(|key| self.is_of_a_person(key, &rows)) {
            return Err(Refusal::new(
                Rule::Clause,
                "DISTINCT ON without the person's id picks rows of some people",
                format!("write DISTINCT ON ({}) …", id_name(&rows)),
            )
            .into());
        }
        let mut over = Over::new(rows, on.input.schema().columns())?;
        let frame = WindowFrame::new(None);
        let params = WindowFunctionParams {
            args: Vec::new(),
            partition_by: on.on_expr.clone(),
            order_by: on.sort_expr.clone().unwrap_or_default(),
            window_frame: frame,
            filter: None,
            null_treatment: None,
            distinct: false,
        };
        let place = over.add(row_number_udwf().into(), Vec::new(), &params, Order::Total, None)?;
        let rows = over.build()?;
        let first = place.eq(lit(1u64));
        let once = keeps_one(&rows, &first);
        let plan = LogicalPlanBuilder::from(rows.plan)
            .filter(first)
            .and_then(LogicalPlanBuilder::build)
            .map_err(planned)?;
        let rows = one_each_if(Rows { plan, ..rows }, once);
        let mut columns = Vec::new();
        for (expr, (qualifier, field)) in on.select_expr.iter().zip(on.schema.iter()) {
            let known = facts(expr, &rows);
            let admitted = admit(expr.clone(), &rows)?;
            columns.push((admitted.alias_qualified(qualifier.cloned(), field.name()), known));
        }
        Ok(Node::Rows(Box::new(select(rows, columns)?)))
    }

    /// Refuses a window that is not within one person's rows.
    fn within_a_person(&self, rows: &Rows, function: &WindowFunction) -> Result<()> {
        if function.params.partition_by.iter().any(|key| self.is_of_a_person(key, rows)) {
            return Ok(());
        }
        let name = function.fun.name().to_uppercase();
        Err(match rows.owner {
            Owner::Row { .. } => clause(
                format!("{name}(…) OVER compares people: here every row is another person"),
                "aggregate first, then use the window over the aggregated rows",
            ),
            Owner::Person { .. } => clause(
                format!("{name}(…) OVER without the person's id in PARTITION BY compares people"),
                format!("add PARTITION BY {}, or aggregate first", id_name(rows)),
            ),
        })
    }

    /// Whether an expression is the unit's id, or a key that belongs to one person each.
    fn is_of_a_person(&self, expr: &Expr, rows: &Rows) -> bool {
        let Expr::Column(column) = expr.clone().unalias() else { return false };
        if matches!(rows.owner, Owner::Row { .. }) {
            return false;
        }
        if rows.is_unit(&column) {
            return true;
        }
        let Some((table, name)) = rows.facts_of(&column).and_then(|known| known.origin.clone())
        else {
            return false;
        };
        self.catalog.schemas().any(|(of, _)| match of.protection().map(|p| &p.unit) {
            Some(UnitPolicy::Via { column, table: parent, key }) => {
                (of.name == table && *column == name) || (*parent == table && *key == name)
            }
            _ => false,
        })
    }
}

impl Over {
    fn new(rows: Rows, visible: Vec<Column>) -> Result<Self> {
        require_all(&rows, "a window")?;
        let Owner::Person { column: unit, .. } = rows.owner.clone() else {
            return Err(clause(
                "a window over a table in which every row is another person".to_owned(),
                "aggregate first, then use the window over the aggregated rows",
            ));
        };
        let kind = rows.schema().field_with_unqualified_name(&unit.name);
        if kind.is_ok_and(|field| field.data_type().is_floating()) {
            return Err(super::unexpected("a person named by a real number"));
        }
        let mut before = Vec::new();
        for column in &visible {
            let expr = Expr::Column(column.clone());
            let known = facts(&expr, &rows);
            let named = admit(expr, &rows)?.alias_qualified(column.relation.clone(), &column.name);
            before.push((named, known));
        }
        let unit = Column::new_unqualified(unit.name);
        Ok(Self { rows, unit, visible, before, windows: Vec::new() })
    }

    /// A column that is computed below the windows.
    fn computed(&mut self, expr: Expr) -> Expr {
        let name = format!("{RESERVED}over_{}", self.before.len());
        self.before.push((expr.alias(&name), Facts::unknown()));
        ours(name)
    }

    /// One window function, written as it is but for its arguments; its result.
    fn add(
        &mut self,
        function: WindowFunctionDefinition,
        args: Vec<Expr>,
        params: &WindowFunctionParams,
        order: Order,
        frame: Option<WindowFrame>,
    ) -> Result<Expr> {
        let mut partition_by = Vec::new();
        for key in &params.partition_by {
            let plain = key.clone().unalias();
            if matches!(&plain, Expr::Column(column) if self.rows.is_unit(column)) {
                continue;
            }
            let key = one_form(admit(plain, &self.rows)?, &self.rows, false)?;
            partition_by.push(self.computed(key));
        }
        partition_by.push(Expr::Column(self.unit.clone()));
        let mut order_by = Vec::new();
        let keys = if order == Order::None { &[][..] } else { &params.order_by[..] };
        for sort in keys {
            let mut key = one_form(admit(sort.expr.clone(), &self.rows)?, &self.rows, false)?;
            if order == Order::Distance {
                key = conversion(key, &DataType::Int64, self.rows.schema());
            }
            let expr = self.computed(key);
            order_by.push(Sort { expr, asc: sort.asc, nulls_first: sort.nulls_first });
        }
        if order == Order::Total {
            let every = self.visible.iter().map(|column| Expr::Column(column.clone()));
            order_by.extend(every.map(|expr| Sort { expr, asc: true, nulls_first: false }));
        }
        let name = format!("{RESERVED}window_{}", self.windows.len());
        let window_frame = frame.unwrap_or_else(|| WindowFrame::new(None));
        self.windows.push(
            Expr::from(WindowFunction {
                fun: function,
                params: WindowFunctionParams {
                    args,
                    partition_by,
                    order_by,
                    window_frame,
                    filter: None,
                    null_treatment: None,
                    distinct: false,
                },
            })
            .alias(&name),
        );
        Ok(ours(name))
    }

    /// The rows with a column for each window.
    fn build(self) -> Result<Rows> {
        let known: Vec<Facts> = self.before.iter().map(|(_, facts)| facts.clone()).collect();
        let prepared = select(self.rows, self.before)?;
        // Rows without an id belong to no one: they must not become one person.
        let mut plan = LogicalPlanBuilder::from(prepared.plan)
            .filter(Expr::Column(self.unit).is_not_null())
            .map_err(planned)?;
        for window in self.windows {
            plan = plan.window(vec![window]).map_err(planned)?;
        }
        let plan = plan.build().map_err(planned)?;
        let mut facts = known;
        facts.push(Facts { unit: true, ..Facts::unknown() });
        facts.resize(plan.schema().fields().len(), Facts::unknown());
        Ok(Rows { plan, facts, ..prepared })
    }

    fn function(&mut self, function: &WindowFunction) -> Result<Made> {
        let (name, params) = (function.fun.name().to_owned(), &function.params);
        if params.distinct {
            return Err(refuse(&name, "with DISTINCT", "COUNT(*), or DISTINCT in a GROUP BY"));
        }
        if params.null_treatment.is_some_and(|treatment| treatment.to_string().contains("IGNORE")) {
            return Err(refuse(&name, "with IGNORE NULLS", "a window over WHERE x IS NOT NULL"));
        }
        match name.as_str() {
            "row_number" => self.place(function, Vec::new(), Order::Total, 1.0),
            "rank" | "dense_rank" => self.place(function, Vec::new(), Order::Keys, 1.0),
            "percent_rank" | "cume_dist" => {
                let value =
                    self.add(function.fun.clone(), Vec::new(), params, Order::Keys, None)?;
                let interval = Interval::new(0.0, 1.0);
                Ok(Made { value, facts: Facts { interval, nullable: false, ..Facts::unknown() } })
            }
            "ntile" => {
                let tiles = self.constant(&name, params.args.first(), 1)?;
                let mut made = self.place(function, vec![lit(tiles)], Order::Total, 1.0)?;
                made.facts.interval = Interval::new(1.0, tiles as f64);
                Ok(made)
            }
            "lag" | "lead" => self.shifted(function),
            "first_value" | "last_value" | "nth_value" => self.picked(function),
            "count" | "sum" | "avg" | "min" | "max" => self.aggregated(function),
            _ => Err(refuse(&name, "", WINDOWS)),
        }
    }

    /// A whole number from 1: a place, a rank, a tile.
    fn place(
        &mut self,
        function: &WindowFunction,
        args: Vec<Expr>,
        order: Order,
        least: f64,
    ) -> Result<Made> {
        let value = self.add(function.fun.clone(), args, &function.params, order, None)?;
        let interval = Interval { low: least, high: f64::INFINITY };
        let facts = Facts { interval, integral: true, nullable: false, ..Facts::unknown() };
        Ok(Made { value, facts })
    }

    /// A constant of a window function: a whole number of at least `least`.
    fn constant(&self, name: &str, argument: Option<&Expr>, least: u64) -> Result<i64> {
        let wrong = || {
            let what = format!("with a number that is no constant from {least} to 1,000,000");
            refuse(name, &what, "a constant number")
        };
        let admitted = admit(argument.ok_or_else(wrong)?.clone(), &self.rows)?;
        let Expr::Literal(value, _) = admitted else { return Err(wrong()) };
        let Some(value) = number(&value) else { return Err(wrong()) };
        if value.fract() != 0.0 || value < least as f64 || value > MOST_OFFSET as f64 {
            return Err(wrong());
        }
        Ok(value as i64)
    }

    /// The argument of a function as a column, and what is known of it. A row that the filter drops counts as NULL.
    fn argument(&mut self, function: &WindowFunction) -> Result<(Expr, Expr, Facts)> {
        let name = function.fun.name();
        let argument = function.params.args.first();
        let argument = argument.ok_or_else(|| refuse(name, "without an argument", WINDOWS))?;
        let known = facts(argument, &self.rows);
        let mut admitted = admit(argument.clone(), &self.rows)?;
        if let Some(filter) = &function.params.filter {
            let filter = admit(filter.as_ref().clone(), &self.rows)?;
            admitted = datafusion::logical_expr::when(filter, admitted).end().map_err(planned)?;
        }
        // It is of another row, of the same person, so it is not from the public row beside it.
        let plain = Facts { unit: false, origin: None, listed: None, nullable: true, ..known };
        Ok((argument.clone(), admitted, plain))
    }

    /// `LAG` and `LEAD`.
    fn shifted(&mut self, function: &WindowFunction) -> Result<Made> {
        let (name, params) = (function.fun.name(), &function.params);
        let (argument, admitted, mut known) = self.argument(function)?;
        let mut args = vec![self.computed(admitted)];
        if params.args.len() > 1 {
            args.push(lit(self.constant(name, params.args.get(1), 0)?));
        }
        if let Some(default) = params.args.get(2) {
            let kind = argument.get_type(self.rows.schema()).map_err(planned)?;
            let default = admit(default.clone(), &self.rows)?;
            let Expr::Literal(value, _) = conversion(default, &kind, self.rows.schema()) else {
                return Err(refuse(name, "with a default that is no constant", "COALESCE(…, x)"));
            };
            known.interval = match place(&value) {
                Some(value) => known.interval.union(Interval::point(value)),
                None => known.interval,
            };
            known.integral &= number(&value).is_none_or(|value| value.fract() == 0.0);
            known.values = None;
            args.push(Expr::Literal(value, None));
        }
        let value = self.add(function.fun.clone(), args, params, Order::Total, None)?;
        Ok(Made { value, facts: known })
    }

    /// `FIRST_VALUE`, `LAST_VALUE` and `NTH_VALUE`.
    fn picked(&mut self, function: &WindowFunction) -> Result<Made> {
        let (name, params) = (function.fun.name(), &function.params);
        let given = &params.window_frame;
        let rows = |start, end| WindowFrame::new_bounds(WindowFrameUnits::Rows, start, end);
        let all = || WindowFrameBound::Preceding(ScalarValue::UInt64(None));
        let frame = match given.units {
            WindowFrameUnits::Rows => checked_rows(name, given)?,
            // The current row is in the frame, so the first of all is.
            WindowFrameUnits::Range
                if given.start_bound.is_unbounded()
                    && name == "first_value"
                    && !matches!(given.end_bound, WindowFrameBound::Preceding(_)) =>
            {
                rows(all(), WindowFrameBound::CurrentRow)
            }
            WindowFrameUnits::Range
                if given.start_bound.is_unbounded() && given.end_bound.is_unbounded() =>
            {
                rows(all(), WindowFrameBound::Following(ScalarValue::UInt64(None)))
            }
            _ => {
                return Err(refuse(
                    name,
                    "up to the current row's equals",
                    "ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING",
                ));
            }
        };
        let (_, admitted, known) = self.argument(function)?;
        let mut args = vec![self.computed(admitted)];
        if name == "nth_value" {
            args.push(lit(self.constant(name, params.args.get(1), 1)?));
        }
        let value = self.add(function.fun.clone(), args, params, Order::Total, Some(frame))?;
        Ok(Made { value, facts: known })
    }

    /// The frame of an aggregate, and the order that it needs.
    fn frame(&self, name: &str, params: &WindowFunctionParams) -> Result<(WindowFrame, Order)> {
        let given = &params.window_frame;
        let (start, end) = (&given.start_bound, &given.end_bound);
        if start.is_unbounded() && end.is_unbounded() {
            return Ok((WindowFrame::new(None), Order::None));
        }
        let free = |bound: &WindowFrameBound| {
            bound.is_unbounded() || *bound == WindowFrameBound::CurrentRow
        };
        match given.units {
            WindowFrameUnits::Rows => Ok((checked_rows(name, given)?, Order::Total)),
            WindowFrameUnits::Range if free(start) && free(end) => Ok((given.clone(), Order::Keys)),
            WindowFrameUnits::Range => {
                let [key] = &params.order_by[..] else {
                    return Err(refuse(name, "with a RANGE of several keys", "ROWS BETWEEN …"));
                };
                let kind = key.expr.get_type(self.rows.schema()).map_err(planned)?;
                let bound = |bound: &WindowFrameBound| -> Result<WindowFrameBound> {
                    Ok(match bound {
                        WindowFrameBound::Preceding(by) => {
                            WindowFrameBound::Preceding(distance(name, by, &kind)?)
                        }
                        WindowFrameBound::Following(by) => {
                            WindowFrameBound::Following(distance(name, by, &kind)?)
                        }
                        WindowFrameBound::CurrentRow => WindowFrameBound::CurrentRow,
                    })
                };
                let frame = WindowFrame::new_bounds(given.units, bound(start)?, bound(end)?);
                Ok((frame, Order::Distance))
            }
            WindowFrameUnits::Groups => Err(refuse(name, "with GROUPS", "ROWS or RANGE")),
        }
    }

    /// `COUNT`, `SUM`, `AVG`, `MIN` and `MAX` over a frame.
    fn aggregated(&mut self, function: &WindowFunction) -> Result<Made> {
        let (name, params) = (function.fun.name(), &function.params);
        let (frame, order) = self.frame(name, params)?;
        let (argument, admitted, known) = self.argument(function)?;
        let kind = argument.get_type(self.rows.schema()).map_err(planned)?;
        let over = |this: &mut Self, udaf: Arc<_>, column: &Expr| {
            let function = WindowFunctionDefinition::AggregateUDF(udaf);
            this.add(function, vec![column.clone()], params, order, Some(frame.clone()))
        };
        match name {
            "count" => {
                let column = self.computed(admitted);
                let value = over(self, count_udaf(), &column)?;
                let interval = Interval::NON_NEGATIVE;
                let facts = Facts { interval, integral: true, nullable: false, ..Facts::unknown() };
                Ok(Made { value, facts })
            }
            "min" | "max" => {
                if !has_order(&kind) {
                    return Err(refuse(name, "of what has no order", "numbers, texts or times"));
                }
                let column = one_form(admitted, &self.rows, true)?;
                let column = self.computed(column);
                let udaf = if name == "min" { min_udaf() } else { max_udaf() };
                Ok(Made { value: over(self, udaf, &column)?, facts: known })
            }
            "sum" if kind.is_integer() => {
                // Wrapping addition of integers gives the same result in any order.
                let column = self.computed(try_cast(admitted, DataType::Int64));
                let low = if known.interval.low >= 0.0 { 0.0 } else { f64::NEG_INFINITY };
                let interval = Interval { low, high: f64::INFINITY };
                let facts = Facts { interval, integral: true, ..Facts::unknown() };
                Ok(Made { value: over(self, sum_udaf(), &column)?, facts })
            }
            _ => {
                let (low, high) = known.interval.finite().ok_or_else(|| {
                    refuse(name, "of a value without bounds", "CLAMP(x, low, high) inside")
                })?;
                let inside = one_form(moved_inside(&admitted, low, high), &self.rows, true)?;
                let inside = self.computed(inside);
                let (steps, step) = on_grid(admitted, low, high, STEPS);
                let column = self.computed(steps);
                let total = over(self, sum_udaf(), &column)?;
                let total = try_cast(total, DataType::Float64) * lit(step);
                let n = over(self, count_udaf(), &column)?;
                let n = nullif(try_cast(n, DataType::Float64), lit(0.0));
                // A mean lies between the numbers, whatever the grid: that of equal numbers is that number.
                let least_number = over(self, min_udaf(), &inside)?;
                let largest = over(self, max_udaf(), &inside)?;
                let between = |x, low, high| least(vec![greatest(vec![x, low]), high]);
                if name == "sum" {
                    let total = between(total, least_number * n.clone(), largest * n);
                    let low = if low >= 0.0 { 0.0 } else { f64::NEG_INFINITY };
                    let high = if high <= 0.0 { 0.0 } else { f64::INFINITY };
                    let facts = Facts { interval: Interval { low, high }, ..Facts::unknown() };
                    return Ok(Made { value: total, facts });
                }
                let facts = Facts { integral: false, values: None, ..known };
                Ok(Made { value: between(total / n, least_number, largest), facts })
            }
        }
    }
}

/// The bounds of what a window sums are at most 2^this many steps away from 0, so the sum of a person's rows fits 64 bits.
const STEPS: i32 = 48;

/// What may stand before OVER.
const WINDOWS: &str = "ROW_NUMBER, RANK, DENSE_RANK, PERCENT_RANK, CUME_DIST, NTILE, LAG, LEAD, \
                       FIRST_VALUE, LAST_VALUE, NTH_VALUE, COUNT, SUM, AVG, MIN or MAX";

pub(super) fn refuse(name: &str, how: &str, instead: &str) -> Error {
    let how = if how.is_empty() { String::new() } else { format!(" {how}") };
    let what = format!("{}(…) OVER{how} is not available over people's rows", name.to_uppercase());
    Refusal::new(Rule::Clause, what, format!("use {instead}")).into()
}

fn clause(what: String, remedy: impl Into<String>) -> Error {
    Refusal::new(Rule::Clause, what, remedy).into()
}

/// The name of the unit's id among the columns that the query sees.
fn id_name(rows: &Rows) -> String {
    let names = rows.schema().iter().map(|(q, f)| Column::new(q.cloned(), f.name()));
    let mut ids = names.filter(|name| rows.is_unit(name) && !name.name.starts_with(RESERVED));
    ids.next().map_or("the person's id".to_owned(), |id| id.name)
}

/// The plan without columns that nothing uses, or as it is where that cannot be found out. The order of rows in a window
/// would otherwise be decided by all columns of a table, used or not, and they would all be read.
pub(super) fn pruned(plan: &LogicalPlan, state: &SessionState) -> LogicalPlan {
    let optimizer = Optimizer::with_rules(vec![Arc::new(OptimizeProjections::new())]);
    optimizer.optimize(plan.clone(), state, |_, _| {}).unwrap_or_else(|_| plan.clone())
}
