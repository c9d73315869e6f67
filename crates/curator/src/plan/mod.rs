//! Splits the query's plan at the private aggregates.
//!
//! Every node of the plan is one of three things: *public* (public tables only), *rows* (protected rows on their way
//! to an aggregate) or *released* (noised, or computed from noised values). The plan is cut at each aggregate over
//! rows, where rows become released. The part below runs on the engine, the part above runs on the noised table.
//!
//! | file | what |
//! |---|---|
//! | `mod.rs` | the walk, and the nodes that need no care |
//! | `rows.rs` | projections, filters and unions of protected rows |
//! | `join.rs` | joins of protected rows |
//! | `join_rows.rs` | how many of a person's rows go into joins and expensive expressions |
//! | `work.rs`, `hold.rs` | what a plan costs for one person; keeps expensive conditions above the limit |
//! | `person.rs` | aggregates per person: rows stay rows |
//! | `aggregate.rs` | the private aggregate: what is measured, under which bounds |

mod aggregate;
mod hold;
mod join;
mod join_rows;
mod person;
mod rows;
mod work;

pub(crate) use join_rows::{PublicJoin, join_fanout, share_rows};

use crate::aggregate::{PrivateAggregate, digest};
use crate::answer::deferred::DeferredTable;
use crate::answer::lasting::changing;
use crate::error::{Error, Result};
use crate::policy::Access;
use crate::refusal::{Refusal, Rule};
use crate::rows::{Limits, RELEASED, RESERVED, Rows};
use crate::statement::settings::Settings;
use crate::tables::catalog::Catalog;
use datafusion::common::tree_node::{Transformed, TreeNode};
use datafusion::common::{Column, DFSchema, DataFusionError};
use datafusion::datasource::provider_as_source;
use datafusion::execution::SessionState;
use datafusion::logical_expr::{Distinct, Expr, Join, JoinType, LogicalPlan, LogicalPlanBuilder};
use std::sync::Arc;

/// A plan cut at its private aggregates.
pub(crate) struct Analysis {
    /// The plan that runs on released tables.
    pub(crate) after: LogicalPlan,
    /// The aggregates to be bought, in the order of the tables.
    pub(crate) aggregates: Vec<(PrivateAggregate, Arc<DeferredTable>)>,
    /// Public plans that protected rows are joined with, and the tables for their rows. They are run to the end before
    /// any protected row is read.
    pub(crate) publics: Vec<(LogicalPlan, Arc<DeferredTable>)>,
    /// Joins of protected rows with public ones.
    pub(crate) public_joins: Vec<PublicJoin>,
}

/// What a node's output is.
pub(crate) enum Node {
    Public(LogicalPlan),
    Released(LogicalPlan),
    Rows(Box<Rows>),
}

pub(crate) struct Walk<'a> {
    catalog: &'a Catalog,
    state: SessionState,
    settings: &'a Settings,
    aggregates: Vec<(PrivateAggregate, Arc<DeferredTable>)>,
    publics: Vec<(LogicalPlan, Arc<DeferredTable>)>,
    public_joins: Vec<PublicJoin>,
    named: u32,
}

/// Cuts a plan whose types are already coerced.
pub(crate) fn analyse(
    plan: &LogicalPlan,
    catalog: &Catalog,
    settings: &Settings,
) -> Result<Analysis> {
    let state = catalog.state();
    let mut walk = Walk {
        catalog,
        state,
        settings,
        aggregates: Vec::new(),
        publics: Vec::new(),
        public_joins: Vec::new(),
        named: 0,
    };
    match walk.visit(plan)? {
        Node::Public(after) | Node::Released(after) => Ok(Analysis {
            after,
            aggregates: walk.aggregates,
            publics: walk.publics,
            public_joins: walk.public_joins,
        }),
        Node::Rows(_) => Err(Refusal::new(
            Rule::Rows,
            "this would show rows of a protected table",
            "ask for an aggregate: COUNT(*), SUM, AVG, MEDIAN, … , grouped if you like",
        )
        .into()),
    }
}

impl Walk<'_> {
    /// An internal name that no query can write.
    fn fresh(&mut self, what: &str) -> String {
        self.named += 1;
        format!("{RESERVED}{what}_{}", self.named)
    }

    fn visit(&mut self, plan: &LogicalPlan) -> Result<Node> {
        match plan {
            LogicalPlan::TableScan(scan) => {
                let name = scan.table_name.table();
                let table = self.catalog.table(name);
                match table.map(|table| &table.policy.access) {
                    Some(Access::Public { .. }) => Ok(Node::Public(plan.clone())),
                    Some(Access::Protected(_)) => {
                        let unit = self.fresh("unit");
                        let rows = self.catalog.rows(name, &unit)?;
                        Ok(Node::Rows(Box::new(join_rows::where_read(rows))))
                    }
                    None => Err(statement("a table function", "use the tables of the policy")),
                }
            }
            LogicalPlan::EmptyRelation(_) | LogicalPlan::Values(_) => self.ordinary(plan),
            LogicalPlan::Projection(_)
            | LogicalPlan::Filter(_)
            | LogicalPlan::SubqueryAlias(_)
            | LogicalPlan::Sort(_) => self.over_one(plan),
            LogicalPlan::Aggregate(aggregate) => match self.visit(&aggregate.input)? {
                Node::Rows(rows) => self.aggregate(*rows, aggregate),
                other => self.again(plan, vec![other]),
            },
            LogicalPlan::Distinct(Distinct::All(input)) => match self.visit(input)? {
                Node::Rows(rows) => self.distinct(*rows, plan),
                other => self.again(plan, vec![other]),
            },
            LogicalPlan::Join(join) => self.join(join, plan, None),
            LogicalPlan::Union(union) => self.union(union, plan),
            LogicalPlan::Limit(_) | LogicalPlan::Window(_) | LogicalPlan::Distinct(_) => {
                self.released_only(plan)
            }
            LogicalPlan::Subquery(subquery) => self.visit(&subquery.subquery),
            LogicalPlan::Repartition(_)
            | LogicalPlan::Statement(_)
            | LogicalPlan::Explain(_)
            | LogicalPlan::Analyze(_)
            | LogicalPlan::Extension(_)
            | LogicalPlan::Dml(_)
            | LogicalPlan::Ddl(_)
            | LogicalPlan::Copy(_)
            | LogicalPlan::DescribeTable(_)
            | LogicalPlan::Unnest(_)
            | LogicalPlan::RecursiveQuery(_) => {
                Err(statement("this kind of statement", "write a plain SELECT"))
            }
        }
    }

    fn over_one(&mut self, plan: &LogicalPlan) -> Result<Node> {
        // `FROM a, b WHERE a.id = b.id` is a join, however it is written.
        if let LogicalPlan::Filter(filter) = plan
            && let LogicalPlan::Join(cross) = filter.input.as_ref()
            && cross.join_type == JoinType::Inner
            && cross.on.is_empty()
            && cross.filter.is_none()
            && !has_subquery(&filter.predicate)
        {
            let join = Join { filter: Some(filter.predicate.clone()), ..cross.clone() };
            return self.join(&join, plan, Some(cross));
        }
        let input = plan.inputs().first().copied().ok_or_else(|| unexpected("a missing input"))?;
        match self.visit(input)? {
            Node::Rows(rows) => match plan {
                LogicalPlan::Projection(projection) => self.project(*rows, projection),
                LogicalPlan::Filter(filter) => self.filter(*rows, filter),
                LogicalPlan::SubqueryAlias(alias) => self.alias(*rows, alias),
                // Aggregates ignore the order of protected rows.
                LogicalPlan::Sort(sort) if sort.fetch.is_none() => Ok(Node::Rows(rows)),
                _ => Err(whole_table(plan)),
            },
            other => self.again(plan, vec![other]),
        }
    }

    fn released_only(&mut self, plan: &LogicalPlan) -> Result<Node> {
        let inputs = plan.inputs();
        let mut visited = Vec::with_capacity(inputs.len());
        for input in inputs {
            match self.visit(input)? {
                Node::Rows(_) => return Err(whole_table(plan)),
                other => visited.push(other),
            }
        }
        self.again(plan, visited)
    }

    fn ordinary(&mut self, plan: &LogicalPlan) -> Result<Node> {
        self.again(plan, Vec::new())
    }

    /// Rebuilds the node over public or released inputs: ordinary post-processing.
    fn again(&mut self, plan: &LogicalPlan, inputs: Vec<Node>) -> Result<Node> {
        let mut released = false;
        let mut plans = Vec::with_capacity(inputs.len());
        for input in inputs {
            match input {
                Node::Public(plan) => plans.push(plan),
                Node::Released(plan) => {
                    released = true;
                    plans.push(plan);
                }
                Node::Rows(_) => return Err(whole_table(plan)),
            }
        }
        let mut expressions = Vec::new();
        for expr in plan.expressions() {
            let (expr, noised) = self.subqueries(expr)?;
            released |= noised;
            expressions.push(expr);
        }
        let plan = plan.with_new_exprs(expressions, plans).map_err(|e| Error::planning(&e))?;
        Ok(if released { Node::Released(plan) } else { Node::Public(plan) })
    }

    /// Cuts the subqueries of an expression over public or released rows.
    fn subqueries(&mut self, expr: Expr) -> Result<(Expr, bool)> {
        let mut released = false;
        let mut failed: Option<Error> = None;
        let outcome = expr.transform_up(|expr| {
            let mut inner = |plan: &Arc<LogicalPlan>| match self.visit(plan) {
                Ok(Node::Public(plan)) => Ok(Arc::new(plan)),
                Ok(Node::Released(plan)) => {
                    released = true;
                    Ok(Arc::new(plan))
                }
                Ok(Node::Rows(_)) => {
                    failed = Some(protected_subquery().into());
                    Err(DataFusionError::Plan(String::new()))
                }
                Err(error) => {
                    failed = Some(error);
                    Err(DataFusionError::Plan(String::new()))
                }
            };
            Ok(match expr {
                Expr::ScalarSubquery(mut subquery) => {
                    subquery.subquery = inner(&subquery.subquery)?;
                    Transformed::yes(Expr::ScalarSubquery(subquery))
                }
                Expr::InSubquery(mut within) => {
                    within.subquery.subquery = inner(&within.subquery.subquery)?;
                    Transformed::yes(Expr::InSubquery(within))
                }
                Expr::Exists(mut exists) => {
                    exists.subquery.subquery = inner(&exists.subquery.subquery)?;
                    Transformed::yes(Expr::Exists(exists))
                }
                Expr::SetComparison(_) => {
                    failed = Some(protected_subquery().into());
                    return Err(DataFusionError::Plan(String::new()));
                }
                other => Transformed::no(other),
            })
        });
        match (outcome, failed) {
            (_, Some(error)) => Err(error),
            (Ok(expr), None) => Ok((expr.data, released)),
            (Err(error), None) => Err(Error::planning(&error)),
        }
    }

    /// The contribution bounds in force: the query's own, or the policy's.
    fn limits(&self, policy: Limits) -> Limits {
        let Settings { max_groups, max_rows, .. } = self.settings;
        Limits {
            groups: max_groups.unwrap_or(policy.groups),
            rows: max_rows.unwrap_or(policy.rows),
            learnt: policy.learnt && max_groups.is_none() && max_rows.is_none(),
        }
    }

    /// Schedules a public plan to run before protected rows are joined with it.
    ///
    /// Otherwise an engine may skip it if no protected row is left, and its failure or its running time would reveal
    /// whether there is one.
    fn read_before(&mut self, public: LogicalPlan) -> Result<(LogicalPlan, Arc<DeferredTable>)> {
        if let Some(name) = changing(&public).map_err(|e| Error::planning(&e))? {
            let what = format!("{name}() in public rows that protected rows are joined with");
            let remedy = "its value changes, and an answer that was bought before would be of \
                          another one: write the value itself (a date, a number)";
            return Err(Refusal::new(Rule::Function, what, remedy).into());
        }
        let name = format!("{RESERVED}public_{}", digest(&public));
        let same = self.publics.iter().find(|(plan, _)| *plan == public);
        let rows = match same {
            Some((_, rows)) => Arc::clone(rows),
            None => {
                let rows = Arc::new(DeferredTable::public(public.schema()));
                self.publics.push((public.clone(), Arc::clone(&rows)));
                rows
            }
        };
        Ok((named_scan(&name, Arc::clone(&rows), public.schema())?, rows))
    }

    /// Cuts here: `aggregate` is bought, and the rest of the plan reads its release.
    fn cut(&mut self, aggregate: PrivateAggregate) -> Result<Node> {
        // The same aggregate twice in a query (a CTE used twice) is bought once.
        let fingerprint = aggregate.fingerprint();
        // Names restart, so that the same aggregate elsewhere has the same plan.
        self.named = 0;
        let place = self.aggregates.iter().position(|(a, _)| a.fingerprint() == fingerprint);
        let place = place.unwrap_or_else(|| {
            let table = Arc::new(DeferredTable::released(&aggregate.schema));
            self.aggregates.push((aggregate.clone(), table));
            self.aggregates.len() - 1
        });
        let table = Arc::clone(&self.aggregates[place].1);
        // A distinct name: the optimizer treats scans with the same name as one.
        let name = format!("{RELEASED}{place}_{}", aggregate.key_count);
        let plan = named_scan(&name, table, &aggregate.schema)?;
        Ok(Node::Released(plan))
    }
}

/// A scan of `table` under the names that the plan around it expects.
fn named_scan(name: &str, table: Arc<DeferredTable>, schema: &DFSchema) -> Result<LogicalPlan> {
    let scan = LogicalPlanBuilder::scan(name, provider_as_source(table), None);
    let columns = schema.iter().enumerate().map(|(i, (qualifier, field))| {
        Expr::Column(Column::new(Some(name), DeferredTable::column(i)))
            .alias_qualified(qualifier.cloned(), field.name())
    });
    let plan = scan.and_then(|scan| scan.project(columns.collect::<Vec<_>>()));
    plan.and_then(LogicalPlanBuilder::build).map_err(|e| Error::planning(&e))
}

fn has_subquery(expr: &Expr) -> bool {
    let found = expr.exists(|part| {
        Ok(matches!(
            part,
            Expr::ScalarSubquery(_)
                | Expr::InSubquery(_)
                | Expr::Exists(_)
                | Expr::SetComparison(_)
        ))
    });
    found.unwrap_or(true)
}

fn statement(what: &str, remedy: &str) -> Error {
    Refusal::new(Rule::Statement, format!("{what} is not available"), remedy).into()
}

fn unexpected(what: &str) -> Error {
    Error::Sql(format!("the planner made a plan that is not understood: {what}"))
}

fn protected_subquery() -> Refusal {
    Refusal::new(
        Rule::Subquery,
        "a subquery over protected rows that is not an aggregate",
        "aggregate in the subquery, or join on the person's id",
    )
}

/// Refuses a clause that looks at all protected rows at once.
fn whole_table(plan: &LogicalPlan) -> Error {
    let (what, remedy) = match plan {
        LogicalPlan::Limit(_) => (
            "LIMIT over protected rows picks people",
            "aggregate first; LIMIT may follow the aggregate",
        ),
        LogicalPlan::Window(_) => (
            "a window over protected rows compares people with each other",
            "aggregate first, then use the window over the aggregated rows",
        ),
        LogicalPlan::Distinct(_) => {
            ("DISTINCT ON over protected rows picks rows", "use GROUP BY with an aggregate")
        }
        _ => ("this clause over protected rows compares people with each other", "aggregate first"),
    };
    Refusal::new(Rule::Clause, what, remedy).into()
}
