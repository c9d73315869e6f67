//! Joins of protected rows: with a public table on any key, with other protected rows on the unit.
//!
//! # Guarantee
//! After an admitted join every row still belongs to one unit, and which rows a unit has depends on that unit's own
//! rows and on public tables alone. Contributions are bounded *after* the join, so how many rows a join makes of one
//! does not matter for a person's privacy. It matters for time and memory, so each side of a join keeps at most a
//! public number of a person's rows (`join_rows`). If the unit is a row, nothing is bounded afterwards, so such a join
//! must not make copies: it must be on a declared key of the public table.

use super::comma::factored;
use super::join_rows::{PublicJoin, before_join, before_people, one_each, to_compare};
use super::padded::Partner;
use super::rows::planned;
use super::work::carries;
use super::{Node, Walk};
use crate::bound::{CapRows, Most};
use crate::error::Result;
use crate::policy::Access;
use crate::refusal::{Refusal, Rule};
use crate::rows::admit::admit;
use crate::rows::expression::{Facts, text};
use crate::rows::{Owner, RESERVED, Rows};
use datafusion::arrow::datatypes::DataType;
use datafusion::common::{Column, NullEquality};
use datafusion::logical_expr::utils::{conjunction, split_conjunction_owned};
use datafusion::logical_expr::{
    BinaryExpr, Expr, ExprSchemable, Join, JoinType, LogicalPlan, LogicalPlanBuilder, Operator,
    TableScan, lit,
};

/// A join as it is written.
pub(super) struct Written {
    pub(super) kind: JoinType,
    /// Conditions that are all met.
    pub(super) conditions: Vec<Expr>,
}

impl Written {
    /// The join of two inputs. INTERSECT and EXCEPT are joins in which NULL equals NULL.
    fn of(join: &Join) -> Result<Self> {
        let null_equals = join.null_equality != NullEquality::NullEqualsNothing;
        let set = matches!(join.join_type, JoinType::LeftSemi | JoinType::LeftAnti)
            && matches!(join.left.as_ref(), LogicalPlan::Distinct(_));
        if null_equals && !set {
            return Err(Refusal::new(
                Rule::Clause,
                "INTERSECT ALL or EXCEPT ALL over protected rows",
                "write INTERSECT or EXCEPT without ALL",
            )
            .into());
        }
        if join.null_aware {
            return Err(refuse("a join in which NULL decides", "use JOIN … ON a.id = b.id"));
        }
        let pair = |(a, b): &(Expr, Expr)| match null_equals {
            false => a.clone().eq(b.clone()),
            true => {
                let (a, b) = (Box::new(a.clone()), Box::new(b.clone()));
                Expr::BinaryExpr(BinaryExpr::new(a, Operator::IsNotDistinctFrom, b))
            }
        };
        let equal = join.on.iter().map(pair);
        let filter = join.filter.iter().cloned().flat_map(split_conjunction_owned);
        let filter = filter.flat_map(factored);
        Ok(Self { kind: join.join_type, conditions: equal.chain(filter).collect() })
    }

    fn is_semi(&self) -> bool {
        matches!(self.kind, JoinType::LeftSemi | JoinType::LeftAnti)
    }
}

/// Whether an expression is the unit's id, or, with `or_null`, either that or NULL. Only casts between integers are
/// allowed around it, because they keep different ids different.
fn is_id(expr: &Expr, rows: &Rows, or_null: bool) -> bool {
    match expr {
        Expr::Column(column) => {
            rows.facts_of(column).is_some_and(|facts| facts.unit || facts.unit_or_null && or_null)
        }
        Expr::Cast(cast) if cast.field.data_type().is_integer() => {
            let from = cast.expr.get_type(rows.schema());
            from.is_ok_and(|from| from.is_integer()) && is_id(&cast.expr, rows, or_null)
        }
        _ => false,
    }
}

/// The table that a plan reads, if it only renames and filters it.
fn scanned(plan: &LogicalPlan) -> Option<&TableScan> {
    match plan {
        LogicalPlan::TableScan(scan) => Some(scan),
        LogicalPlan::SubqueryAlias(alias) => scanned(&alias.input),
        LogicalPlan::Filter(filter) => scanned(&filter.input),
        _ => None,
    }
}

/// The columns of the public side that the other side determines: `column = expression without public columns`. Casts
/// between integers, or between texts, keep values distinct.
fn determined(conditions: &[Expr], public: &LogicalPlan) -> Vec<usize> {
    fn named<'a>(expr: &'a Expr, public: &LogicalPlan) -> Option<&'a Column> {
        let kept = |inner: &Expr, to: &DataType| {
            let from = inner.get_type(public.schema());
            from.is_ok_and(|from| from.is_integer() && to.is_integer() || text(&from) && text(to))
        };
        match expr {
            Expr::Column(column) => Some(column),
            Expr::Cast(cast) if kept(&cast.expr, cast.field.data_type()) => {
                named(&cast.expr, public)
            }
            _ => None,
        }
    }
    let has = |c: &Column| public.schema().has_column(c);
    let fixes = |key: &Expr, other: &Expr| match named(key, public) {
        Some(c) if has(c) && !other.column_refs().into_iter().any(has) => {
            public.schema().maybe_index_of_column(c)
        }
        _ => None,
    };
    let fixed = conditions.iter().filter_map(|condition| match condition {
        Expr::BinaryExpr(BinaryExpr { left, op: Operator::Eq, right }) => {
            fixes(left, right).or_else(|| fixes(right, left))
        }
        _ => None,
    });
    fixed.collect()
}

/// The public rows that a semi-join needs: the columns that its conditions name, without duplicates. A protected row
/// is compared with all rows that have its key, however many are equal.
fn compared(public: LogicalPlan, conditions: &[Expr]) -> Result<LogicalPlan> {
    let names = conditions.iter().flat_map(Expr::column_refs);
    let mut named: Vec<usize> =
        names.filter_map(|column| public.schema().maybe_index_of_column(column)).collect();
    named.sort_unstable();
    named.dedup();
    if named.is_empty() {
        return Ok(public);
    }
    let columns =
        named.into_iter().map(|i| Expr::Column(Column::from(public.schema().qualified_field(i))));
    let columns: Vec<Expr> = columns.collect();
    LogicalPlanBuilder::from(public)
        .project(columns)
        .and_then(LogicalPlanBuilder::distinct)
        .and_then(LogicalPlanBuilder::build)
        .map_err(planned)
}

/// Removes public rows with NULL in a key: they match nothing, but the engine compares them with every row that has
/// NULL there too.
fn without_nulls(public: LogicalPlan, keys: &[usize]) -> Result<LogicalPlan> {
    let present = keys
        .iter()
        .map(|&i| Expr::Column(Column::from(public.schema().qualified_field(i))).is_not_null());
    match conjunction(present) {
        None => Ok(public),
        Some(present) => LogicalPlanBuilder::from(public)
            .filter(present)
            .and_then(LogicalPlanBuilder::build)
            .map_err(planned),
    }
}

/// Whether the conditions use nothing of the right side but whose row it is.
pub(super) fn is_about_people(conditions: &[Expr], left: &Rows, right: &Rows) -> bool {
    let mut names = conditions.iter().flat_map(Expr::column_refs);
    names.all(|column| {
        let theirs = right.schema().has_column(column);
        !theirs || (right.is_unit(column) && !left.schema().has_column(column))
    })
}

/// The number of protected tables that a plan reads and that may multiply rows. A table that only says whose the rows
/// are, and the right side of a semi-join, do not.
fn protected_scans(plan: &LogicalPlan) -> usize {
    let public = |scan: &TableScan| scan.table_name.table().starts_with(RESERVED);
    match plan {
        LogicalPlan::TableScan(scan) => usize::from(!public(scan)),
        LogicalPlan::Join(join) => {
            let semi = matches!(join.join_type, JoinType::LeftSemi | JoinType::LeftAnti);
            let looked_up = join.on.iter().any(|(_, theirs)| carries(theirs));
            let right = if semi || looked_up { 0 } else { protected_scans(&join.right) };
            protected_scans(&join.left) + right
        }
        // One row per person.
        _ if CapRows::of(plan).is_some_and(|cap| cap.most() == Most::OneEach) => 0,
        _ => plan.inputs().into_iter().map(protected_scans).sum(),
    }
}

/// The largest number of protected tables in one join: each may multiply a person's rows.
const MOST_JOINED: usize = 4;

/// [`admit`], and also allows our own equality of ids.
fn admit_join(condition: Expr, scope: &Rows) -> std::result::Result<Expr, Refusal> {
    let ours = |e: &Expr| matches!(e, Expr::Column(c) if c.name.starts_with(RESERVED));
    match &condition {
        Expr::BinaryExpr(b) if ours(&b.left) && ours(&b.right) => Ok(condition),
        _ => admit(condition, scope),
    }
}

/// The column with the person's id, as a query can name it.
fn id_as_written(rows: &Rows) -> Option<String> {
    rows.schema().iter().zip(&rows.facts).find_map(|((qualifier, field), facts)| {
        let named = facts.unit && !field.name().starts_with(RESERVED);
        named.then(|| Column::new(qualifier.cloned(), field.name()).flat_name())
    })
}

fn refuse(what: impl Into<String>, remedy: &str) -> crate::error::Error {
    Refusal::new(Rule::Join, what, remedy).into()
}

impl Walk<'_> {
    pub(super) fn join(&mut self, join: &Join, plan: &LogicalPlan) -> Result<Node> {
        let left = self.visit(&join.left)?;
        let right = self.visit_beside(&join.right)?;
        match (left, right) {
            (Node::Rows(left), Node::Rows(right)) => {
                Ok(rows(self.of_people(Written::of(join)?, *left, *right)?))
            }
            (Node::Rows(people), Node::Public(public)) => match join.join_type {
                JoinType::LeftSemi | JoinType::LeftAnti => {
                    Ok(rows(self.with_public(Written::of(join)?, *people, public, true)?))
                }
                JoinType::Inner | JoinType::Left => {
                    let written = Written::of(join)?;
                    let mut joined = self.with_public(written, *people, public, true)?;
                    self.list(&mut joined, &join.right, true, Partner::of(join.join_type));
                    Ok(rows(joined))
                }
                JoinType::Right => {
                    Ok(rows(self.padded(Written::of(join)?, *people, public, &join.right, true)?))
                }
                _ => Err(keeps_both()),
            },
            (Node::Public(public), Node::Rows(people)) => match join.join_type {
                JoinType::Inner | JoinType::Right => {
                    let written = Written::of(join)?;
                    let mut joined = self.with_public(written, *people, public, false)?;
                    self.list(&mut joined, &join.left, false, Partner::of(join.join_type));
                    Ok(rows(joined))
                }
                JoinType::Left => {
                    Ok(rows(self.padded(Written::of(join)?, *people, public, &join.left, false)?))
                }
                _ => Err(keeps_both()),
            },
            (Node::Rows(people), Node::Released(one)) => {
                self.with_released(join, *people, one, true)
            }
            (Node::Released(one), Node::Rows(people)) => {
                self.with_released(join, *people, one, false)
            }
            (left, right) => self.again(plan, vec![left, right]),
        }
    }

    pub(super) fn with_public(
        &mut self,
        join: Written,
        rows: Rows,
        public: LogicalPlan,
        rows_left: bool,
    ) -> Result<Rows> {
        let copies = !join.is_semi() && !self.on_key(&join.conditions, &public);
        if let Owner::Row { .. } = rows.owner
            && copies
        {
            return Err(refuse(
                "a join that may make several rows of one protected row",
                "declare `key` for the public table in the policy and join on it",
            ));
        }
        let rows = if copies { before_join(rows) } else { rows };
        self.joined(join, rows, public, rows_left, false)
    }

    /// Joins protected rows with public ones. `single`: the query is refused if several of them match a row.
    pub(super) fn joined(
        &mut self,
        join: Written,
        rows: Rows,
        public: LogicalPlan,
        rows_left: bool,
        single: bool,
    ) -> Result<Rows> {
        let semi = join.is_semi();
        let Written { kind, conditions } = join;
        let mut public_facts = self.public_facts(&public);
        if kind != JoinType::Inner {
            // A row without a match has NULL there.
            public_facts.iter_mut().for_each(|facts| facts.nullable = true);
        }
        let public = if semi { compared(public, &conditions)? } else { public };
        let determined = determined(&conditions, &public);
        let public = without_nulls(public, &determined)?;
        let (public, table) = self.read_before(public)?;
        let multiplies = !semi && !single;
        self.public_joins.push(PublicJoin { table, determined, multiplies, single });
        let (left, right, facts) = if rows_left {
            let mut facts = rows.facts.clone();
            if !semi {
                facts.extend(public_facts);
            }
            (rows.plan.clone(), public, facts)
        } else {
            let mut facts = public_facts;
            facts.extend(rows.facts.clone());
            (public, rows.plan.clone(), facts)
        };
        let both = LogicalPlanBuilder::from(left.clone())
            .join_on(right.clone(), JoinType::Inner, Vec::<Expr>::new())
            .and_then(LogicalPlanBuilder::build)
            .map_err(planned)?;
        let scope = Rows {
            plan: both,
            owner: rows.owner.clone(),
            facts: self.scope(&left, &right, &rows, rows_left),
            limits: rows.limits,
        };
        let conditions: std::result::Result<Vec<Expr>, Refusal> =
            conditions.into_iter().map(|c| admit(c, &scope)).collect();
        let mut conditions = conditions?;
        if conditions.is_empty() && kind != JoinType::Inner {
            conditions.push(lit(true));
        }
        let plan = LogicalPlanBuilder::from(left)
            .join_on(right, kind, conditions)
            .and_then(LogicalPlanBuilder::build)
            .map_err(planned)?;
        let once = (semi || single) && matches!(rows.owner, Owner::Person { once: true, .. });
        let owner = match rows.owner {
            Owner::Person { column, .. } => Owner::Person { column, once },
            row => row,
        };
        Ok(Rows { plan, owner, facts, limits: rows.limits })
    }

    /// What is known of a public side's columns.
    fn public_facts(&self, public: &LogicalPlan) -> Vec<Facts> {
        let table = scanned(public).map(|scan| scan.table_name.table().to_owned());
        let fields = public.schema().fields().iter();
        let known = fields.map(|field| match &table {
            Some(table) => self.catalog.public_facts(table, field.name(), field.data_type()),
            None => Facts { integral: field.data_type().is_integer(), ..Facts::unknown() },
        });
        known.collect()
    }

    fn scope(
        &self,
        left: &LogicalPlan,
        right: &LogicalPlan,
        rows: &Rows,
        rows_left: bool,
    ) -> Vec<Facts> {
        let other = if rows_left { right } else { left };
        let unknown = vec![Facts::unknown(); other.schema().fields().len()];
        if rows_left {
            rows.facts.iter().cloned().chain(unknown).collect()
        } else {
            unknown.into_iter().chain(rows.facts.iter().cloned()).collect()
        }
    }

    /// Whether the conditions determine a declared key of the public side.
    fn on_key(&self, conditions: &[Expr], public: &LogicalPlan) -> bool {
        let Some(scan) = scanned(public) else { return false };
        let Some(Access::Public { key }) =
            self.catalog.table(scan.table_name.table()).map(|table| &table.policy.access)
        else {
            return false;
        };
        let names = public.schema().fields();
        let fixed: Vec<&String> =
            determined(conditions, public).into_iter().map(|i| names[i].name()).collect();
        !key.is_empty() && key.iter().all(|k| fixed.contains(&k))
    }

    /// Whether a column's values belong to one person each: the id, or a key that carries it.
    pub(super) fn is_of_one(&self, column: &Column, rows: &Rows) -> bool {
        rows.is_unit(column) || self.carried_key(column, rows).is_some()
    }

    fn carried_key(&self, column: &Column, rows: &Rows) -> Option<(String, String)> {
        self.catalog.carried_key(rows.facts_of(column)?.origin.as_ref()?)
    }

    /// Whether the conditions pair each person with herself alone: by the equality of ids, or of keys that carry them.
    pub(super) fn pairs_people(&self, conditions: &[Expr], left: &Rows, right: &Rows) -> bool {
        // A name that both sides have could mean either.
        let within = |expr: &Expr, of: &Rows, other: &Rows| {
            let named = expr.column_refs();
            named.iter().all(|c| of.schema().has_column(c) && !other.schema().has_column(c))
        };
        let key = |expr: &Expr, rows: &Rows| match expr {
            Expr::Column(column) => self.carried_key(column, rows),
            _ => None,
        };
        // If NULL equals NULL, a key that may be NULL pairs people with others.
        let pair = |x: &Expr, y: &Expr, equal: bool| {
            within(x, left, right)
                && within(y, right, left)
                && (is_id(x, left, equal) && is_id(y, right, equal)
                    || equal && key(x, left).is_some_and(|ours| key(y, right) == Some(ours)))
        };
        conditions.iter().any(|condition| match condition {
            Expr::BinaryExpr(BinaryExpr { left: x, op, right: y }) => match op {
                Operator::Eq => pair(x, y, true) || pair(y, x, true),
                Operator::IsNotDistinctFrom => pair(x, y, false) || pair(y, x, false),
                _ => false,
            },
            _ => false,
        })
    }

    /// Joins two tables of people.
    pub(super) fn of_people(&mut self, join: Written, left: Rows, right: Rows) -> Result<Rows> {
        let (Owner::Person { column: ours, once: a }, Owner::Person { column: theirs, once: b }) =
            (left.owner.clone(), right.owner.clone())
        else {
            return Err(refuse(
                "a join of tables whose unit is a single row",
                "declare the column with the person's id as `unit` in the policy",
            ));
        };
        let kept = match join.kind {
            JoinType::Inner | JoinType::Left => &ours,
            JoinType::LeftSemi | JoinType::LeftAnti => &ours,
            JoinType::Right => &theirs,
            _ => {
                return Err(refuse(
                    "this kind of join of two protected tables",
                    "use JOIN, LEFT JOIN or RIGHT JOIN",
                ));
            }
        };
        let semi = join.is_semi();
        let Written { kind, mut conditions } = join;
        if !self.pairs_people(&conditions, &left, &right) {
            let remedy = match (id_as_written(&left), id_as_written(&right)) {
                (Some(ours), Some(theirs)) => {
                    format!("add {ours} = {theirs} to ON or WHERE, joined by AND")
                }
                _ => "add the equality of both tables' person ids to ON, joined by AND".to_owned(),
            };
            let what = "a join of two protected tables that does not pair each person with herself";
            return Err(Refusal::new(Rule::Join, what, remedy).into());
        }
        // Whatever the conditions mean to the engine, and whether or not a key that carries the id is unique, this one
        // pairs no one with anyone else.
        conditions.push(Expr::Column(ours.clone()).eq(Expr::Column(theirs.clone())));
        // A padded row has no id, so nothing matches it.
        let (left, right) = match kind {
            JoinType::Left | JoinType::LeftAnti => (left, right.unpadded()),
            JoinType::Right => (left.unpadded(), right),
            _ => (left.unpadded(), right.unpadded()),
        };
        // A semi-join makes no rows, but compares each of a person's rows on the left with those on the right.
        let (left, right) = match semi {
            true if is_about_people(&conditions, &left, &right) => (left, one_each(right)),
            true => (left, to_compare(right)),
            false => {
                let as_declared = self.settings.max_groups.or(self.settings.max_rows).is_none();
                (before_people(left, as_declared), before_people(right, as_declared))
            }
        };
        // If everyone has at most one row, nothing is multiplied.
        let many = |rows: &Rows, once: bool| if once { 0 } else { protected_scans(&rows.plan) };
        if !semi && many(&left, a) + many(&right, b) > MOST_JOINED {
            return Err(refuse(
                format!("a join of more than {MOST_JOINED} protected tables"),
                "aggregate per person first (GROUP BY the person's id), then join the results",
            ));
        }
        let mut facts = left.facts.clone();
        if !semi {
            facts.extend(right.facts.clone());
        }
        let both = LogicalPlanBuilder::from(left.plan.clone())
            .join_on(right.plan.clone(), JoinType::Inner, Vec::<Expr>::new())
            .and_then(LogicalPlanBuilder::build)
            .map_err(planned)?;
        let all = left.facts.iter().chain(&right.facts).cloned().collect();
        // A semi-join makes no rows.
        let limits = if semi { left.limits } else { left.limits.or(right.limits) };
        let scope = Rows { plan: both, owner: left.owner.clone(), facts: all, limits };
        let conditions: std::result::Result<Vec<Expr>, Refusal> =
            conditions.into_iter().map(|c| admit_join(c, &scope)).collect();
        let plan = LogicalPlanBuilder::from(left.plan)
            .join_on(right.plan, kind, conditions?)
            .and_then(LogicalPlanBuilder::build)
            .map_err(planned)?;
        // If a side may be missing, the facts about its columns hold except for NULL.
        let n = left.facts.len();
        let missing = |i: usize| match kind {
            JoinType::Left => i >= n,
            JoinType::Right => i < n,
            _ => false,
        };
        let facts = facts.into_iter().enumerate();
        let facts = facts.map(|(i, f)| if missing(i) { f.or_missing() } else { f }).collect();
        let once = if semi { a } else { a && b };
        let owner = Owner::Person { column: kept.clone(), once };
        Ok(Rows { plan, owner, facts, limits })
    }
}

/// Protected rows as a node's output.
pub(super) fn rows(rows: Rows) -> Node {
    Node::Rows(Box::new(rows))
}

fn keeps_both() -> crate::error::Error {
    refuse("a FULL JOIN of protected rows with public ones", "use JOIN or LEFT JOIN")
}
