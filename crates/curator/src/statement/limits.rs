//! Limits on the size of a statement, so that planning ends and no stack overflows.
//!
//! The engine plans and evaluates recursively, partly on threads whose stacks we do not control; a stack overflow ends
//! the process, for everyone. It also copies a common table expression into each of its uses, so a short statement may
//! stand for a plan of any size. Both are measured in advance, on the statement as written and on its plan. Only the
//! statement is inspected.

use crate::error::Result;
use crate::refusal::{Refusal, Rule};
use datafusion::common::tree_node::{TreeNode, TreeNodeRecursion};
use datafusion::logical_expr::{Expr, LogicalPlan};
use datafusion::sql::sqlparser::ast::{self, ObjectName, Query, Select, Visit, Visitor};
use std::collections::HashMap;
use std::ops::ControlFlow;

/// The largest number of tables and SELECTs, counting each common table expression wherever it is used.
const MOST_PARTS: u64 = 200;
/// The greatest nesting depth of operators in an expression.
pub(crate) const DEEPEST: usize = 200;
/// The greatest depth of a plan, in steps from a table to the answer.
const DEEPEST_PLAN: usize = 300;
/// The greatest depth of a plan's expression after expanding every name in it, as the engine does.
const DEEPEST_WRITTEN: usize = 600;
/// The largest number of parts of such an expression.
const LARGEST_WRITTEN: u32 = 2_500;
/// The longest text or list that a function may be asked to produce.
const LONGEST_MADE: u64 = 10_000;
/// The largest factor by which all replacements together may lengthen a text.
const MOST_GROWTH: usize = 1_000;
/// Functions that produce a text of the length given by their second argument.
const PADS: &[&str] = &["lpad", "rpad", "repeat", "space"];
/// Functions that produce a list of any length.
const LISTS: &[&str] =
    &["array_repeat", "array_resize", "generate_series", "list_repeat", "list_resize", "range"];

/// Refuses a statement with too many parts, or nested too deeply.
pub(crate) fn statement(statement: &ast::Statement) -> Result<()> {
    let mut measure = Measure::default();
    // The visitor never stops early.
    let _ = statement.visit(&mut measure);
    if measure.deepest > DEEPEST {
        return Err(deep().into());
    }
    if let Some(name) = measure.endless {
        let lists = LISTS.contains(&name.as_str());
        let (what, remedy) = match lists {
            true => (format!("{name}() makes lists of any length"), "leave it out"),
            false => (
                format!("{name}() of a length that is not a constant of at most {LONGEST_MADE}"),
                "write the length as a number",
            ),
        };
        return Err(Refusal::new(Rule::Function, what, remedy).into());
    }
    if measure.growth.is_none_or(|growth| growth > MOST_GROWTH) {
        return Err(Refusal::new(
            Rule::Function,
            "replace() that may make a text very much longer",
            "write what is replaced and by what as constants, the second not much longer",
        )
        .into());
    }
    if measure.parts.max(measure.largest) > MOST_PARTS {
        return Err(Refusal::new(
            Rule::Statement,
            format!(
                "a statement with more than {MOST_PARTS} tables, SELECTs and sets to group by, once \
                 each WITH and CUBE is written out"
            ),
            "ask in several statements",
        )
        .into());
    }
    Ok(())
}

/// The refusal of an expression that is too deep.
pub(crate) fn deep() -> Refusal {
    Refusal::new(
        Rule::Statement,
        format!("an expression nested more than {DEEPEST} deep"),
        "write it with IN, BETWEEN or parentheses, or in two queries",
    )
}

/// Refuses a plan that is too deep.
pub(crate) fn plan(plan: &LogicalPlan) -> Result<()> {
    let (steps, written) = depths(plan);
    if steps <= DEEPEST_PLAN && written <= DEEPEST_WRITTEN && sizes(plan).1 <= LARGEST_WRITTEN {
        return Ok(());
    }
    Err(Refusal::new(
        Rule::Statement,
        "a statement that is too large or nested too deeply once every name is written out",
        "ask in several statements",
    )
    .into())
}

/// The depth of a plan in steps, and the depth of its expressions after expanding each into the next.
fn depths(plan: &LogicalPlan) -> (usize, usize) {
    let (mut below, mut own) = ((0, 0), 0);
    let mut deeper = |(steps, written): (usize, usize)| {
        below = (below.0.max(steps), below.1.max(written));
    };
    plan.inputs().into_iter().map(depths).for_each(&mut deeper);
    // The closures never fail, so neither do the walks.
    let _ = plan.apply_expressions(|expr| {
        own = own.max(depth(expr, &|_| 1));
        Ok(TreeNodeRecursion::Continue)
    });
    let _ = plan.apply_subqueries(|subquery| {
        deeper(depths(subquery));
        Ok(TreeNodeRecursion::Jump)
    });
    (below.0 + 1, below.1 + own)
}

/// The size of each output column of a plan after expansion, and that of the largest expression in it. Expressions
/// over groups and windows are not expanded into others.
fn sizes(plan: &LogicalPlan) -> (Vec<u32>, u32) {
    let (mut below, mut largest) = (Vec::new(), 1);
    for (columns, within) in plan.inputs().into_iter().map(sizes) {
        largest = largest.max(within);
        below.push(columns);
    }
    let inputs = plan.inputs();
    let named = |name: &Expr| {
        let Expr::Column(column) = name else { return 1 };
        let of = |(input, sizes): (&&LogicalPlan, &Vec<u32>)| {
            sizes.get(input.schema().maybe_index_of_column(column)?).copied()
        };
        inputs.iter().zip(&below).find_map(of).unwrap_or(1)
    };
    let mut own = Vec::new();
    // The closures never fail, so neither do the walks.
    let _ = plan.apply_expressions(|expr| {
        own.push(size(expr, &named));
        Ok(TreeNodeRecursion::Continue)
    });
    let _ = plan.apply_subqueries(|subquery| {
        largest = largest.max(sizes(subquery).1);
        Ok(TreeNodeRecursion::Jump)
    });
    largest = own.iter().copied().fold(largest, u32::max);
    let width = plan.schema().fields().len();
    let all: Vec<u32> = below.concat();
    let most = all.iter().copied().max().unwrap_or(1);
    let columns = match (plan, &below[..]) {
        (LogicalPlan::Projection(_), _) => own,
        (LogicalPlan::Aggregate(_), _) => vec![1; width],
        (_, [only]) if only.len() == width => only.clone(),
        (LogicalPlan::Join(_), _) if all.len() == width => all,
        _ => vec![most; width],
    };
    (columns, largest)
}

/// The number of parts of an expression after expansion, where a name counts as `named` says. Arguments that an
/// expansion uses twice count twice. Constants in a list are not counted.
pub(crate) fn size(expr: &Expr, named: &impl Fn(&Expr) -> u32) -> u32 {
    const TWICE: &[&str] = &["clamp", "coalesce", "nvl", "nvl2"];
    if matches!(expr, Expr::Column(_)) {
        return named(expr);
    }
    let listed = matches!(expr, Expr::InList(_));
    let mut total: u32 = 1;
    // The closure never fails, so neither does the walk.
    let _ = expr.apply_children(|child| {
        if !(listed && matches!(child, Expr::Literal(..))) {
            total = total.saturating_add(size(child, named));
        }
        Ok(TreeNodeRecursion::Continue)
    });
    match expr {
        Expr::Between(_) => total.saturating_mul(2),
        Expr::ScalarFunction(call) if TWICE.contains(&call.func.name()) => total.saturating_mul(2),
        _ => total,
    }
}

/// The nesting depth of an expression, where a name is as deep as `named` says.
pub(crate) fn depth(expr: &Expr, named: &impl Fn(&Expr) -> usize) -> usize {
    if matches!(expr, Expr::Column(_)) {
        return named(expr);
    }
    let mut deepest = 0;
    // The closure never fails, so neither does the walk.
    let _ = expr.apply_children(|child| {
        deepest = deepest.max(depth(child, named));
        Ok(TreeNodeRecursion::Continue)
    });
    deepest + 1
}

/// The name of a function, normalized.
fn called(call: &ast::Function) -> Option<String> {
    let name = call.name.0.last().and_then(|part| part.as_ident());
    name.map(|name| name.value.to_lowercase())
}

/// A constant argument of a function call.
fn constant(call: &ast::Function, place: usize) -> Option<&ast::Value> {
    let ast::FunctionArguments::List(list) = &call.args else { return None };
    match list.args.get(place)? {
        ast::FunctionArg::Unnamed(ast::FunctionArgExpr::Expr(ast::Expr::Value(value))) => {
            Some(&value.value)
        }
        _ => None,
    }
}

/// The largest factor by which a call may lengthen a text; `None` if that is not known.
fn growth(call: &ast::Function) -> Option<usize> {
    let text = |place: usize| match constant(call, place)? {
        ast::Value::SingleQuotedString(text) => Some(text.len()),
        _ => None,
    };
    match called(call).as_deref() {
        Some("replace") => Some(text(2)?.div_ceil(text(1)?.max(1)).max(1)),
        // It may replace every character by what it found and more.
        Some("regexp_replace") => Some(text(2)?.max(1)),
        _ => Some(1),
    }
}

/// Whether a call may produce a value of any length.
fn is_endless(call: &ast::Function) -> bool {
    let Some(name) = called(call) else { return false };
    if LISTS.contains(&name.as_str()) {
        return true;
    }
    if !PADS.contains(&name.as_str()) {
        return false;
    }
    match constant(call, if name == "space" { 0 } else { 1 }) {
        Some(ast::Value::Number(number, _)) => {
            number.parse::<u64>().map_or(true, |number| number > LONGEST_MADE)
        }
        _ => true,
    }
}

/// Counters for a walk through a statement.
struct Measure {
    /// The counts of the enclosing queries, innermost last.
    open: Vec<u64>,
    /// The parts of each common table expression, by its name.
    named: HashMap<String, u64>,
    /// The name of the common table expression that a query defines.
    definitions: HashMap<*const Query, String>,
    parts: u64,
    /// A function that may produce a value of any length.
    endless: Option<String>,
    /// The largest factor by which replacements lengthen a text; `None` if that is not known.
    growth: Option<usize>,
    /// The largest definition.
    largest: u64,
    depth: usize,
    deepest: usize,
}

impl Default for Measure {
    fn default() -> Self {
        Self {
            open: Vec::new(),
            named: HashMap::new(),
            definitions: HashMap::new(),
            parts: 0,
            endless: None,
            growth: Some(1),
            largest: 0,
            depth: 0,
            deepest: 0,
        }
    }
}

impl Measure {
    fn add(&mut self, parts: u64) {
        let place = self.open.last_mut().unwrap_or(&mut self.parts);
        *place = place.saturating_add(parts);
    }
}

impl Visitor for Measure {
    type Break = ();

    fn pre_visit_query(&mut self, query: &Query) -> ControlFlow<()> {
        for table in query.with.iter().flat_map(|with| &with.cte_tables) {
            let name = table.alias.name.value.to_lowercase();
            self.definitions.insert(std::ptr::from_ref(&*table.query), name);
        }
        self.open.push(1);
        ControlFlow::Continue(())
    }

    fn post_visit_query(&mut self, query: &Query) -> ControlFlow<()> {
        let parts = self.open.pop().unwrap_or(1);
        match self.definitions.remove(&std::ptr::from_ref(query)) {
            // Counted where it is used. If a name is defined in several places, the largest counts.
            Some(name) => {
                let known = self.named.entry(name).or_insert(parts);
                *known = parts.max(*known);
                self.largest = self.largest.max(parts);
            }
            None => self.add(parts),
        }
        ControlFlow::Continue(())
    }

    fn pre_visit_select(&mut self, _: &Select) -> ControlFlow<()> {
        self.add(1);
        ControlFlow::Continue(())
    }

    fn pre_visit_relation(&mut self, relation: &ObjectName) -> ControlFlow<()> {
        let name = match &relation.0[..] {
            [part] => part.as_ident().map(|name| name.value.to_lowercase()),
            _ => None,
        };
        self.add(name.and_then(|name| self.named.get(&name).copied()).unwrap_or(1));
        ControlFlow::Continue(())
    }

    fn pre_visit_expr(&mut self, expr: &ast::Expr) -> ControlFlow<()> {
        match expr {
            ast::Expr::Cube(sets) => {
                self.add(1u64.checked_shl(sets.len() as u32).unwrap_or(u64::MAX))
            }
            ast::Expr::Rollup(sets) | ast::Expr::GroupingSets(sets) => self.add(sets.len() as u64),
            ast::Expr::Function(call) if is_endless(call) => self.endless = called(call),
            ast::Expr::Function(call) => {
                self.growth = self.growth.and_then(|g| g.checked_mul(growth(call)?));
            }
            _ => {}
        }
        self.depth += 1;
        self.deepest = self.deepest.max(self.depth);
        ControlFlow::Continue(())
    }

    fn post_visit_expr(&mut self, _: &ast::Expr) -> ControlFlow<()> {
        self.depth = self.depth.saturating_sub(1);
        ControlFlow::Continue(())
    }
}

#[cfg(test)]
mod tests;
