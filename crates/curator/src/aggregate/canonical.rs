//! The meaning of a plan, as a digest: equal for plans that compute the same rows, however they are written.
//!
//! Bought answers are found by it, so what matters is that *different* questions have different digests; that equal
//! ones have equal digests saves a purchase. What is left out of a digest is exactly this:
//!
//! - names: a column is the place it comes from, so aliases of tables and columns do not show;
//! - projections: an expression stands for the column that holds it, so subqueries that only pass rows on do not show,
//!   and neither do columns that nobody uses;
//! - the order of conditions joined by AND or OR, and of a list after IN; conditions that are there twice;
//! - which side of `=`, `<>` and of commutative arithmetic comes first; `5 < x` is `x > 5`; BETWEEN is two conditions;
//! - for an inner join, whether a condition is in ON or directly above it.
//!
//! # Why that is sound
//! Expressions over protected rows are deterministic and total ([`crate::rows::admit`]), so a column may be replaced
//! by the expression that computes it, and conditions may be evaluated in any order. A digest is a hash over the
//! digests of parts, each with a tag and its number of parts. A column carries the path of joins and unions that leads to its
//! table, so two uses of one table differ. The side of an outer join that may be missing is a barrier: its conditions
//! stay inside, and its columns are marked, because an expression computed below the join is not NULL where one computed
//! above it is. Aggregates, unions, DISTINCT and limits on a person's rows are barriers as well.
//!
//! A plan with anything else in it has no digest of this kind.

use crate::bound::cap_parts;
use datafusion::common::Column;
use datafusion::logical_expr::expr::AggregateFunction;
use datafusion::logical_expr::utils::{split_binary, split_conjunction};
use datafusion::logical_expr::{BinaryExpr, Distinct, Expr, Join, JoinType, LogicalPlan, Operator};
use sha2::{Digest, Sha256};
use std::hash::{Hash, Hasher};

type Part = [u8; 32];

/// The digest of what a plan computes, column by column; `None` if it contains a node or an expression that is not
/// known here.
pub(crate) fn meaning(plan: &LogicalPlan) -> Option<Part> {
    Some(rows(plan, &node("root", &[]))?.whole())
}

/// A hash that is used for what implements `Hash`.
#[derive(Default)]
pub(super) struct Fingerprint(pub(super) Sha256);

impl Hasher for Fingerprint {
    fn write(&mut self, bytes: &[u8]) {
        self.0.update(bytes);
    }

    fn finish(&self) -> u64 {
        0 // never called: the whole digest is taken
    }
}

/// Rows: where they come from, the conditions on them, and what each column is.
struct Rows {
    base: Part,
    conditions: Vec<Part>,
    columns: Vec<Part>,
}

/// The digest of a part of a plan: its kind, and its parts in order.
fn node(kind: &str, parts: &[Part]) -> Part {
    let mut hash = Sha256::new();
    hash.update((kind.len() as u64).to_le_bytes());
    hash.update(kind.as_bytes());
    hash.update((parts.len() as u64).to_le_bytes());
    parts.iter().for_each(|part| hash.update(part));
    hash.finalize().into()
}

/// The digest of a text.
fn text(kind: &str, text: &str) -> Part {
    node(kind, &[Sha256::digest(text).into()])
}

/// The digest of parts whose order does not matter.
fn unordered(kind: &str, mut parts: Vec<Part>) -> Part {
    parts.sort_unstable();
    node(kind, &parts)
}

impl Rows {
    /// Which rows there are.
    fn which(&self) -> Part {
        let mut conditions = self.conditions.clone();
        conditions.sort_unstable();
        conditions.dedup();
        match conditions.is_empty() {
            true => self.base,
            false => node("filter", &[self.base, node("and", &conditions)]),
        }
    }

    /// Which rows there are, with all of their columns.
    fn whole(&self) -> Part {
        node("rows", &[self.which(), node("columns", &self.columns)])
    }

    /// Rows of which nothing is known from outside but their number and columns.
    fn barrier(base: Part, count: usize) -> Self {
        let column = |i: usize| text("column", &i.to_string());
        let columns = (0..count).map(|i| node("of", &[base, column(i)])).collect();
        Self { base, conditions: Vec::new(), columns }
    }
}

/// The digest of rows; `path` says which use of a table this is.
fn rows(plan: &LogicalPlan, path: &Part) -> Option<Rows> {
    Some(match plan {
        LogicalPlan::TableScan(scan) => {
            if !scan.filters.is_empty() || scan.fetch.is_some() {
                return None;
            }
            let name = text("table", &scan.table_name.to_string());
            // A column by its name in the table.
            let columns = plan.schema().fields().iter();
            let columns = columns.map(|f| node("source", &[*path, name, text("name", f.name())]));
            Rows {
                base: node("scan", &[*path, name]),
                conditions: Vec::new(),
                columns: columns.collect(),
            }
        }
        LogicalPlan::SubqueryAlias(alias) => rows(&alias.input, path)?,
        LogicalPlan::Projection(projection) => {
            let input = rows(&projection.input, path)?;
            let scope = Scope::of(&projection.input, &input);
            let columns = projection.expr.iter().map(|expr| scope.expression(expr));
            Rows { columns: columns.collect::<Option<_>>()?, ..input }
        }
        LogicalPlan::Filter(filter) => {
            let mut input = rows(&filter.input, path)?;
            let found = Scope::of(&filter.input, &input).conditions(&filter.predicate)?;
            input.conditions.extend(found);
            input
        }
        LogicalPlan::Join(join) => joined(join, path)?,
        LogicalPlan::Union(union) => {
            let inputs = union.inputs.iter().enumerate().map(|(i, input)| {
                Some(rows(input, &node("branch", &[*path, text("of", &i.to_string())]))?.whole())
            });
            let inputs: Vec<Part> = inputs.collect::<Option<_>>()?;
            Rows::barrier(node("union", &inputs), plan.schema().fields().len())
        }
        LogicalPlan::Distinct(Distinct::All(input)) => {
            let input = rows(input, path)?;
            Rows::barrier(node("distinct", &[*path, input.whole()]), plan.schema().fields().len())
        }
        LogicalPlan::Aggregate(aggregate) => {
            let input = rows(&aggregate.input, path)?;
            let scope = Scope::of(&aggregate.input, &input);
            let keys = aggregate.group_expr.iter().map(|key| scope.expression(key));
            let keys: Vec<Part> = keys.collect::<Option<_>>()?;
            // One row for each combination of keys, whatever is computed.
            let base = node("aggregate", &[*path, input.which(), unordered("keys", keys.clone())]);
            let values = aggregate.aggr_expr.iter().map(|value| scope.expression(value));
            let values: Vec<Part> = values.collect::<Option<_>>()?;
            let columns = keys.iter().map(|key| node("key", &[base, *key]));
            let columns = columns.chain(values.iter().map(|value| node("value", &[base, *value])));
            Rows { base, conditions: Vec::new(), columns: columns.collect() }
        }
        LogicalPlan::Extension(_) => {
            let (input, unit, limit) = cap_parts(plan)?;
            let below = rows(input, path)?;
            let unit = *below.columns.get(unit)?;
            // Which rows stay is decided by all of their columns.
            let base = node("cap", &[*path, below.whole(), unit, text("limit", &limit)]);
            let columns = below.columns.iter().map(|column| node("kept", &[base, *column]));
            Rows { base, conditions: Vec::new(), columns: columns.collect() }
        }
        _ => return None,
    })
}

fn joined(join: &Join, path: &Part) -> Option<Rows> {
    let side = |name: &str| node(name, &[*path]);
    let left = rows(&join.left, &side("left"))?;
    let right = rows(&join.right, &side("right"))?;
    let scope = Scope {
        schemas: vec![join.left.schema().as_ref(), join.right.schema().as_ref()],
        columns: vec![&left.columns, &right.columns],
    };
    let equal = |(l, r): &(Expr, Expr)| {
        Some(unordered("=", vec![scope.expression(l)?, scope.expression(r)?]))
    };
    let mut on: Vec<Part> = join.on.iter().map(equal).collect::<Option<_>>()?;
    if let Some(filter) = &join.filter {
        on.extend(scope.conditions(filter)?);
    }
    let nulls = text("nulls", &format!("{:?} {}", join.null_equality, join.null_aware));
    let kind = text("join", &format!("{:?}", join.join_type));
    let sides = [left.which(), right.which()];
    if join.join_type == JoinType::Inner {
        let base = node("inner", &[*path, kind, nulls, sides[0], sides[1]]);
        let columns = left.columns.iter().chain(&right.columns).copied().collect();
        return Some(Rows { base, conditions: on, columns });
    }
    on.sort_unstable();
    on.dedup();
    let base = node("outer", &[*path, kind, nulls, sides[0], sides[1], node("on", &on)]);
    // Where a side may be missing, an expression of its columns that is computed below the join is NULL.
    let marked = |columns: &[Part]| -> Vec<Part> {
        columns.iter().map(|column| node("maybe", &[base, *column])).collect()
    };
    let columns = match join.join_type {
        JoinType::Left => [left.columns.clone(), marked(&right.columns)].concat(),
        JoinType::Right => [marked(&left.columns), right.columns.clone()].concat(),
        JoinType::Full => [marked(&left.columns), marked(&right.columns)].concat(),
        JoinType::LeftSemi | JoinType::LeftAnti => left.columns.clone(),
        JoinType::RightSemi | JoinType::RightAnti => right.columns.clone(),
        _ => return None,
    };
    Some(Rows { base, conditions: Vec::new(), columns })
}

/// What the columns of an expression stand for.
struct Scope<'a> {
    schemas: Vec<&'a datafusion::common::DFSchema>,
    columns: Vec<&'a [Part]>,
}

impl<'a> Scope<'a> {
    fn of(plan: &'a LogicalPlan, rows: &'a Rows) -> Self {
        Self { schemas: vec![plan.schema().as_ref()], columns: vec![&rows.columns] }
    }

    /// The only column of that name.
    fn column(&self, column: &Column) -> Option<Part> {
        let mut found = self.schemas.iter().zip(&self.columns).filter_map(|(schema, columns)| {
            columns.get(schema.maybe_index_of_column(column)?).copied()
        });
        let first = found.next()?;
        found.next().is_none().then_some(first)
    }

    /// The conditions that a predicate joins by AND.
    fn conditions(&self, predicate: &Expr) -> Option<Vec<Part>> {
        let mut found = Vec::new();
        for part in split_conjunction(predicate) {
            match part {
                Expr::Between(between) if !between.negated => {
                    found.extend(self.between(between)?);
                }
                part => found.push(self.expression(part)?),
            }
        }
        Some(found)
    }

    /// `low <= x` and `x <= high`.
    fn between(&self, between: &datafusion::logical_expr::Between) -> Option<[Part; 2]> {
        let x = self.expression(&between.expr)?;
        let (low, high) = (self.expression(&between.low)?, self.expression(&between.high)?);
        Some([node("<=", &[low, x]), node("<=", &[x, high])])
    }

    fn all<'e>(&self, exprs: impl IntoIterator<Item = &'e Expr>) -> Option<Vec<Part>> {
        exprs.into_iter().map(|expr| self.expression(expr)).collect()
    }

    fn optional(&self, expr: Option<&Expr>) -> Option<Part> {
        match expr {
            Some(expr) => Some(node("some", &[self.expression(expr)?])),
            None => Some(node("none", &[])),
        }
    }

    fn expression(&self, expr: &Expr) -> Option<Part> {
        let of = |kind: &str, inner: &Expr| Some(node(kind, &[self.expression(inner)?]));
        match expr {
            Expr::Alias(alias) => self.expression(&alias.expr),
            Expr::Column(column) => self.column(column),
            // The type is part of the value: 1 and 1.0 are different constants.
            Expr::Literal(value, _) => {
                let mut hasher = Fingerprint::default();
                value.hash(&mut hasher);
                let written = text("written", &format!("{:?} {value:?}", value.data_type()));
                Some(node("literal", &[hasher.0.finalize().into(), written]))
            }
            Expr::BinaryExpr(binary) => self.binary(binary, expr),
            Expr::Between(between) => {
                let both = node("and", &sorted(self.between(between)?.to_vec()));
                Some(if between.negated { node("not", &[both]) } else { both })
            }
            Expr::Not(inner) => of("not", inner),
            Expr::Negative(inner) => of("negative", inner),
            Expr::IsNull(inner) => of("is null", inner),
            Expr::IsNotNull(inner) => of("is not null", inner),
            Expr::IsTrue(inner) => of("is true", inner),
            Expr::IsFalse(inner) => of("is false", inner),
            Expr::IsUnknown(inner) => of("is unknown", inner),
            Expr::IsNotTrue(inner) => of("is not true", inner),
            Expr::IsNotFalse(inner) => of("is not false", inner),
            Expr::IsNotUnknown(inner) => of("is not unknown", inner),
            Expr::Cast(cast) => {
                let to = text("type", &format!("{:?}", cast.field.data_type()));
                Some(node("cast", &[self.expression(&cast.expr)?, to]))
            }
            Expr::TryCast(cast) => {
                let to = text("type", &format!("{:?}", cast.field.data_type()));
                Some(node("try_cast", &[self.expression(&cast.expr)?, to]))
            }
            Expr::Case(case) => {
                let mut parts = vec![
                    self.optional(case.expr.as_deref())?,
                    self.optional(case.else_expr.as_deref())?,
                ];
                for (when, then) in &case.when_then_expr {
                    parts.extend([self.expression(when)?, self.expression(then)?]);
                }
                Some(node("case", &parts))
            }
            Expr::Like(like) => {
                let how =
                    format!("{:?} {} {}", like.escape_char, like.negated, like.case_insensitive);
                let parts = [
                    self.expression(&like.expr)?,
                    self.expression(&like.pattern)?,
                    text("how", &how),
                ];
                Some(node("like", &parts))
            }
            Expr::InList(list) => {
                let items = sorted(self.all(&list.list)?);
                let kind = if list.negated { "not in" } else { "in" };
                Some(node(kind, &[self.expression(&list.expr)?, node("list", &items)]))
            }
            Expr::ScalarFunction(call) => {
                let mut hasher = Fingerprint::default();
                call.func.hash(&mut hasher);
                let function = node(call.name(), &[hasher.0.finalize().into()]);
                Some(node("call", &[function, node("arguments", &self.all(&call.args)?)]))
            }
            Expr::AggregateFunction(call) => self.aggregate(call),
            _ => None,
        }
    }

    fn aggregate(&self, call: &AggregateFunction) -> Option<Part> {
        let params = &call.params;
        if !params.order_by.is_empty() {
            return None;
        }
        let mut hasher = Fingerprint::default();
        call.func.hash(&mut hasher);
        let how = format!("{} {:?}", params.distinct, params.null_treatment);
        let function = node(call.func.name(), &[hasher.0.finalize().into(), text("how", &how)]);
        let arguments = node("arguments", &self.all(&params.args)?);
        Some(node(
            "aggregate call",
            &[function, arguments, self.optional(params.filter.as_deref())?],
        ))
    }

    fn binary(&self, binary: &BinaryExpr, whole: &Expr) -> Option<Part> {
        use Operator as O;
        let BinaryExpr { left, op, right } = binary;
        if matches!(op, O::And | O::Or) {
            let kind = if *op == O::And { "and" } else { "or" };
            let mut parts = Vec::new();
            for part in split_binary(whole, *op) {
                match part {
                    Expr::Between(between) if *op == O::And && !between.negated => {
                        parts.extend(self.between(between)?);
                    }
                    part => parts.push(self.expression(part)?),
                }
            }
            return Some(node(kind, &sorted(parts)));
        }
        let (left, right) = (self.expression(left)?, self.expression(right)?);
        Some(match op {
            O::Gt => node("<", &[right, left]),
            O::GtEq => node("<=", &[right, left]),
            O::Eq => unordered("=", vec![left, right]),
            O::NotEq | O::Plus | O::Multiply | O::IsDistinctFrom | O::IsNotDistinctFrom => {
                unordered(&op.to_string(), vec![left, right])
            }
            op => node(&op.to_string(), &[left, right]),
        })
    }
}

/// In an order of their own, each once.
fn sorted(mut parts: Vec<Part>) -> Vec<Part> {
    parts.sort_unstable();
    parts.dedup();
    parts
}

#[cfg(test)]
mod tests;
