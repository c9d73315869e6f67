//! Joins of protected rows: with a public table on any key, with other protected rows on the unit.
//!
//! # Guarantee
//! After an admitted join every row still belongs to one unit, and which rows a unit has depends on that unit's own
//! rows and on public tables alone. Contributions are bounded *after* the join, so how many rows a join makes of one
//! does not matter for a person's privacy. It matters for time and memory, so each side of a join keeps at most a
//! public number of a person's rows (`join_rows`). If the unit is a row, nothing is bounded afterwards, so such a join
//! must not make copies: it must be on a declared key of the public table.

use super::join_rows::{PublicJoin, before_join, one_each, to_compare};
use super::rows::planned;
use super::{Node, Walk};
use crate::error::Result;
use crate::policy::Access;
use crate::refusal::{Refusal, Rule};
use crate::rows::admit::admit;
use crate::rows::expression::{Facts, text};
use crate::rows::{Owner, RESERVED, Rows};
use datafusion::arrow::datatypes::DataType;
use datafusion::common::tree_node::{TreeNode, TreeNodeRecursion};
use datafusion::common::{Column, NullEquality};
use datafusion::logical_expr::utils::{conjunction, split_conjunction_owned};
use datafusion::logical_expr::{
    BinaryExpr, Expr, ExprSchemable, Join, JoinType, LogicalPlan, LogicalPlanBuilder, Operator,
    TableScan,
};

/// Whether an expression is the unit's id. Only casts between integers are allowed around it, because they keep
/// different ids different.
fn is_id(expr: &Expr, rows: &Rows) -> bool {
    match expr {
        Expr::Column(column) => rows.is_unit(column),
        Expr::Cast(cast) if cast.field.data_type().is_integer() => {
            let from = cast.expr.get_type(rows.schema());
            from.is_ok_and(|from| from.is_integer()) && is_id(&cast.expr, rows)
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
fn is_about_people(conditions: &[Expr], left: &Rows, right: &Rows) -> bool {
    let mut names = conditions.iter().flat_map(Expr::column_refs);
    names.all(|column| {
        let theirs = right.schema().has_column(column);
        !theirs || (right.is_unit(column) && !left.schema().has_column(column))
    })
}

/// The number of protected tables that a plan reads.
fn protected_scans(plan: &LogicalPlan) -> usize {
    let mut scans = 0;
    // The closure never fails, so neither does the walk.
    let _ = plan.apply(|node| {
        let public = |scan: &TableScan| scan.table_name.table().starts_with(RESERVED);
        scans += usize::from(matches!(node, LogicalPlan::TableScan(scan) if !public(scan)));
        Ok(TreeNodeRecursion::Continue)
    });
    scans
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

fn refuse(what: impl Into<String>, remedy: &str) -> crate::error::Error {
    Refusal::new(Rule::Join, what, remedy).into()
}

impl Walk<'_> {
    /// `plan` is the join as written: the join itself, or a filter over `cross`.
    pub(super) fn join(
        &mut self,
        join: &Join,
        plan: &LogicalPlan,
        cross: Option<&Join>,
    ) -> Result<Node> {
        let (left, right) = (self.visit(&join.left)?, self.visit(&join.right)?);
        match (left, right) {
            (Node::Rows(left), Node::Rows(right)) => self.of_people(join, *left, *right),
            (Node::Rows(rows), Node::Public(public)) => {
                if !matches!(
                    join.join_type,
                    JoinType::Inner | JoinType::Left | JoinType::LeftSemi | JoinType::LeftAnti
                ) || join.null_aware
                {
                    return Err(refuse(
                        "a join that keeps public rows nobody belongs to",
                        "use JOIN or LEFT JOIN with the protected table on the left",
                    ));
                }
                self.with_public(join, *rows, public, true)
            }
            (Node::Public(public), Node::Rows(rows)) => {
                if !matches!(join.join_type, JoinType::Inner | JoinType::Right) {
                    return Err(refuse(
                        "a join that keeps public rows nobody belongs to",
                        "use JOIN or LEFT JOIN with the protected table on the left",
                    ));
                }
                self.with_public(join, *rows, public, false)
            }
            (Node::Rows(_), Node::Released(_)) | (Node::Released(_), Node::Rows(_)) => Err(refuse(
                "a join of protected rows with what is itself being released",
                "ask for the inner values first, then write them into the second query",
            )),
            (left, right) => match cross {
                None => self.again(plan, vec![left, right]),
                Some(cross) => {
                    let both = LogicalPlan::Join(cross.clone());
                    let both = self.again(&both, vec![left, right])?;
                    self.again(plan, vec![both])
                }
            },
        }
    }

    /// All conditions of a join: `a = b` pairs and the filter.
    fn conditions(join: &Join) -> Vec<Expr> {
        let equal = join.on.iter().map(|(a, b)| a.clone().eq(b.clone()));
        equal.chain(join.filter.iter().cloned().flat_map(split_conjunction_owned)).collect()
    }

    fn with_public(
        &mut self,
        join: &Join,
        rows: Rows,
        public: LogicalPlan,
        rows_left: bool,
    ) -> Result<Node> {
        if join.null_equality != NullEquality::NullEqualsNothing {
            return Err(refuse("a join in which NULL equals NULL", "use JOIN … ON a = b"));
        }
        let conditions = Self::conditions(join);
        let semi = matches!(join.join_type, JoinType::LeftSemi | JoinType::LeftAnti);
        let copies = !semi && !self.on_key(&conditions, &public);
        let rows = if copies { before_join(rows) } else { rows };
        if let Owner::Row { .. } = rows.owner
            && copies
        {
            return Err(refuse(
                "a join that may make several rows of one protected row",
                "declare `key` for the public table in the policy and join on it",
            ));
        }
        // Unit, then the columns in the join's own order.
        let mut public_facts = self.public_facts(&public);
        if join.join_type != JoinType::Inner {
            // A row without a match has NULL there.
            public_facts.iter_mut().for_each(|facts| facts.nullable = true);
        }
        let public = if semi { compared(public, &conditions)? } else { public };
        let determined = determined(&conditions, &public);
        let public = without_nulls(public, &determined)?;
        let (public, table) = self.read_before(public)?;
        self.public_joins.push(PublicJoin { table, determined, multiplies: !semi });
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
        let plan = LogicalPlanBuilder::from(left)
            .join_on(right, join.join_type, conditions?)
            .and_then(LogicalPlanBuilder::build)
            .map_err(planned)?;
        let once = semi && matches!(rows.owner, Owner::Person { once: true, .. });
        let owner = match rows.owner {
            Owner::Person { column, .. } => Owner::Person { column, once },
            row => row,
        };
        Ok(Node::Rows(Box::new(Rows { plan, owner, facts, limits: rows.limits })))
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

    fn of_people(&mut self, join: &Join, left: Rows, right: Rows) -> Result<Node> {
        let (Owner::Person { column: ours, once: a }, Owner::Person { column: theirs, once: b }) =
            (left.owner.clone(), right.owner.clone())
        else {
            return Err(refuse(
                "a join of tables whose unit is a single row",
                "declare the column with the person's id as `unit` in the policy",
            ));
        };
        if join.null_equality != NullEquality::NullEqualsNothing || join.null_aware {
            return Err(refuse("a join in which NULL equals NULL", "use JOIN … ON a.id = b.id"));
        }
        let kept = match join.join_type {
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
        let mut conditions = Self::conditions(join);
        let on_unit = conditions.iter().any(|condition| match condition {
            Expr::BinaryExpr(BinaryExpr { left: x, op: Operator::Eq, right: y }) => {
                // A name that both sides have could mean either.
                let one = |id: &Expr, of: &Rows, other: &Rows| {
                    let known = |c: &Column| other.schema().has_column(c);
                    is_id(id, of) && !id.column_refs().into_iter().any(known)
                };
                (one(x, &left, &right) && one(y, &right, &left))
                    || (one(y, &left, &right) && one(x, &right, &left))
            }
            _ => false,
        });
        // A foreign key that carries the unit pairs people only with themselves. Adding the equality of ids changes
        // nothing, and holds even if the key turns out not to be unique.
        let origin = |e: &Expr, rows: &Rows| match e {
            Expr::Column(c) => rows.facts_of(c).and_then(|facts| facts.origin.clone()),
            _ => None,
        };
        let carried = conditions.iter().any(|condition| match condition {
            Expr::BinaryExpr(BinaryExpr { left: x, op: Operator::Eq, right: y }) => {
                let pair = |x: &Expr, y: &Expr| {
                    let (a, b) = (origin(x, &left), origin(y, &right));
                    matches!((a, b), (Some(a), Some(b))
                        if self.catalog.carries(&a, &b) || self.catalog.carries(&b, &a))
                };
                pair(x, y) || pair(y, x)
            }
            _ => false,
        });
        // Whatever the conditions mean to the engine, this one pairs no one with anyone else.
        conditions.push(Expr::Column(ours.clone()).eq(Expr::Column(theirs.clone())));
        if !on_unit && !carried {
            return Err(refuse(
                "a join of two protected tables that does not pair each person with herself",
                "add the equality of both tables' person ids to ON, joined by AND",
            ));
        }
        let semi = matches!(join.join_type, JoinType::LeftSemi | JoinType::LeftAnti);
        // A semi-join makes no rows, but compares each of a person's rows on the left with those on the right.
        let (left, right) = match semi {
            true if is_about_people(&conditions, &left, &right) => (left, one_each(right)),
            true => (left, to_compare(right)),
            false => (before_join(left), before_join(right)),
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
        let limits = left.limits.or(right.limits);
        let scope = Rows { plan: both, owner: left.owner.clone(), facts: all, limits };
        let conditions: std::result::Result<Vec<Expr>, Refusal> =
            conditions.into_iter().map(|c| admit_join(c, &scope)).collect();
        let plan = LogicalPlanBuilder::from(left.plan)
            .join_on(right.plan, join.join_type, conditions?)
            .and_then(LogicalPlanBuilder::build)
            .map_err(planned)?;
        // If a side may be missing, the facts about its columns hold except for NULL.
        let nullable = |facts: Facts| Facts { nullable: true, ..facts };
        let facts: Vec<Facts> = match join.join_type {
            JoinType::Inner | JoinType::LeftSemi | JoinType::LeftAnti => facts,
            JoinType::Left => {
                let n = left.facts.len();
                facts
                    .into_iter()
                    .enumerate()
                    .map(|(i, f)| if i < n { f } else { nullable(Facts { unit: false, ..f }) })
                    .collect()
            }
            _ => {
                let n = left.facts.len();
                facts
                    .into_iter()
                    .enumerate()
                    .map(|(i, f)| if i < n { nullable(Facts { unit: false, ..f }) } else { f })
                    .collect()
            }
        };
        let column: Column = kept.clone();
        let once = if semi { a } else { a && b };
        let owner = Owner::Person { column, once };
        Ok(Node::Rows(Box::new(Rows { plan, owner, facts, limits })))
    }
}
