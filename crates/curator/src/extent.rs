//! How large a statement may be, so that planning it ends and nothing overflows a stack.
//!
//! The engine plans and evaluates recursively, partly on threads whose stacks are not ours; an overflow there ends the
//! process, for everybody. And it copies a common table expression into each of its uses, so that a short
//! statement may stand for a plan of any size. Both are measured before: on the statement as it is
//! written, and on its plan. Nothing but the statement is looked at.

use crate::error::Result;
use crate::refusal::{Refusal, Rule};
use datafusion::common::tree_node::{TreeNode, TreeNodeRecursion};
use datafusion::logical_expr::{Expr, LogicalPlan};
use datafusion::sql::sqlparser::ast::{self, ObjectName, Query, Select, Visit, Visitor};
use std::collections::HashMap;
use std::ops::ControlFlow;

/// The most tables and SELECTs, each common table expression counted wherever it is used.
const MOST_PARTS: u64 = 200;
/// The deepest expression: as many operators one within the other.
pub(crate) const DEEPEST: usize = 200;
/// The deepest plan, in steps from a table to the answer.
const DEEPEST_PLAN: usize = 300;
/// The deepest expression of a plan once every name in it is written out, as the engine does.
const DEEPEST_WRITTEN: usize = 600;
/// And the largest, in parts.
const LARGEST_WRITTEN: usize = 5_000;
/// The longest text or list that a function may be told to make.
const LONGEST_MADE: u64 = 10_000;
/// Functions that make a text as long as their second argument says.
const PADS: &[&str] = &["lpad", "rpad", "repeat", "space"];
/// Functions that make a list of any length.
const LISTS: &[&str] =
    &["array_repeat", "array_resize", "generate_series", "list_repeat", "list_resize", "range"];

/// Refuses a statement with too many parts, or nested too deeply.
pub(crate) fn statement(statement: &ast::Statement) -> Result<()> {
    let mut measure = Measure::default();
    // It never breaks off.
    let _ = statement.visit(&mut measure);
    if measure.deepest > DEEPEST {
        return Err(deep().into());
    }
    if let Some(name) = measure.endless {
        return Err(Refusal::new(
            Rule::Function,
            format!("{name}() of a length that is not a constant of at most {LONGEST_MADE}"),
            "write the length as a number",
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

/// An expression that is too deep.
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

/// The steps of a plan from top to bottom, and the depth that its expressions would have, each written into the next.
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

/// How large an output column of a plan is at most, written out, and any expression in the plan. What is computed for groups
/// and windows is not written into others.
fn sizes(plan: &LogicalPlan) -> (usize, usize) {
    let (mut column, mut largest) = (1, 1);
    for (below, within) in plan.inputs().into_iter().map(sizes) {
        (column, largest) = (column.max(below), largest.max(within));
    }
    let mut own = 1;
    // The closures never fail, so neither do the walks.
    let _ = plan.apply_expressions(|expr| {
        let (mut parts, mut names) = (0usize, 0usize);
        let _ = expr.apply(|part| {
            parts += 1;
            names += usize::from(matches!(part, Expr::Column(_)));
            Ok(TreeNodeRecursion::Continue)
        });
        own = own.max(names.saturating_mul(column).saturating_add(parts));
        Ok(TreeNodeRecursion::Continue)
    });
    let _ = plan.apply_subqueries(|subquery| {
        largest = largest.max(sizes(subquery).1);
        Ok(TreeNodeRecursion::Jump)
    });
    let column = match plan {
        LogicalPlan::Projection(_) => own,
        LogicalPlan::Aggregate(_) => 1,
        _ => column,
    };
    (column, largest.max(own))
}

/// How deep an expression nests, with a name as deep as `named` says.
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

/// Whether a call may make something of any length.
fn is_endless(call: &ast::Function) -> bool {
    let name = call.name.0.last().and_then(|part| part.as_ident());
    let Some(name) = name.map(|name| name.value.to_lowercase()) else { return false };
    if LISTS.contains(&name.as_str()) {
        return true;
    }
    if !PADS.contains(&name.as_str()) {
        return false;
    }
    let ast::FunctionArguments::List(list) = &call.args else { return true };
    let length = list.args.get(if name == "space" { 0 } else { 1 });
    let Some(ast::FunctionArg::Unnamed(ast::FunctionArgExpr::Expr(ast::Expr::Value(value)))) =
        length
    else {
        return true;
    };
    match &value.value {
        ast::Value::Number(number, _) => {
            number.parse::<u64>().map_or(true, |number| number > LONGEST_MADE)
        }
        _ => true,
    }
}

/// Counts on the way through a statement.
#[derive(Default)]
struct Measure {
    /// Of the queries around the place where it is, the innermost last.
    open: Vec<u64>,
    /// The parts of each common table expression, by its name.
    named: HashMap<String, u64>,
    /// Whose definition a query is.
    definitions: HashMap<*const Query, String>,
    parts: u64,
    /// A function that may make something of any length.
    endless: Option<String>,
    /// Of the definitions, the largest.
    largest: u64,
    depth: usize,
    deepest: usize,
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
            // Counted where it is used. One name may be defined at several places: as the largest.
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
            ast::Expr::Function(call) if is_endless(call) => {
                self.endless = Some(call.name.to_string().to_lowercase());
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
mod tests {
    use super::*;
    use datafusion::sql::sqlparser::dialect::PostgreSqlDialect;
    use datafusion::sql::sqlparser::parser::Parser;

    fn measured(sql: &str) -> Measure {
        let parsed = Parser::parse_sql(&PostgreSqlDialect {}, sql).unwrap();
        let mut measure = Measure::default();
        let _ = parsed[0].visit(&mut measure);
        measure
    }

    #[test]
    fn a_table_expression_counts_wherever_it_is_used() {
        let parts = |sql: &str| measured(sql).parts;
        assert_eq!(parts("SELECT 1"), 2);
        assert_eq!(parts("SELECT * FROM t"), 3);
        assert_eq!(parts("SELECT * FROM t WHERE x IN (SELECT y FROM u)"), 6);
        assert_eq!(parts("SELECT 1 EXCEPT SELECT 2 EXCEPT SELECT 3"), 4);
        assert_eq!(parts("WITH a AS (SELECT * FROM t) SELECT * FROM A x, a y"), 2 + 2 * 3);
        let unused = measured("WITH a AS (SELECT * FROM t, t, t, t) SELECT 1");
        assert_eq!((unused.parts, unused.largest), (2, 6));
        let doubled = |levels: usize| {
            let each = (1..=levels).map(|i| {
                let below = i - 1;
                format!(", a{i} AS (SELECT x.v FROM a{below} x JOIN a{below} y ON x.v = y.v)")
            });
            let each: String = each.collect();
            parts(&format!("WITH a0 AS (SELECT v FROM r){each} SELECT v FROM a{levels}"))
        };
        assert!(doubled(4) < MOST_PARTS && doubled(7) > MOST_PARTS);
        assert!(doubled(16) > 1 << 16 && doubled(80) == u64::MAX);
    }

    #[test]
    fn sets_to_group_by_are_parts_and_lengths_are_constants() {
        let cube: Vec<String> = (0..30).map(|i| format!("v+{i}")).collect();
        let cube = format!("SELECT 1 FROM r GROUP BY CUBE({})", cube.join(", "));
        assert!(measured(&cube).parts > 1 << 30);
        assert_eq!(measured("SELECT 1 FROM r GROUP BY CUBE(a, b, c)").parts, 3 + 8);
        assert_eq!(measured("SELECT 1 FROM r GROUP BY ROLLUP(a, b, c)").parts, 3 + 3);
        for (sql, endless) in [
            ("SELECT repeat('a', 1000000000 + v) FROM r", true),
            ("SELECT REPEAT('a', v) FROM r", true),
            ("SELECT repeat('a', 900000000)", true),
            ("SELECT lpad(x, 1e9, 'b') FROM r", true),
            ("SELECT lpad(x, 2, '0'), rpad(x, 10000) FROM r", false),
            ("SELECT range(1, 5)", true),
            ("SELECT array_repeat(1, 1000000000)", true),
            ("SELECT upper(x), left(x, v) FROM r", false),
        ] {
            assert_eq!(measured(sql).endless.is_some(), endless, "{sql}");
        }
    }

    #[test]
    fn chains_are_as_deep_as_they_are_long() {
        assert_eq!(measured("SELECT x").deepest, 1);
        assert_eq!(measured("SELECT (x + 1) + y, 2").deepest, 4);
        let long = format!("SELECT x{}", " + x".repeat(500));
        assert_eq!(measured(&long).deepest, 501);
        // Deep only within, and not one after the other.
        let list = format!("SELECT * FROM t WHERE x IN (1{})", ", 2".repeat(500));
        assert_eq!(measured(&list).deepest, 2);
    }
}
