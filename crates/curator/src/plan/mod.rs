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
//! | `lateral.rs` | `LATERAL` subqueries, written as joins |
//! | `comma.rs` | `FROM a, b, c WHERE …` as joins |
//! | `padded.rs` | public rows on the left of an outer join |
//! | `subquery.rs`, `semi.rs` | subqueries as joins: EXISTS, IN, NOT IN, values |
//! | `join_rows.rs` | how many of a person's rows go into joins and expensive expressions |
//! | `work.rs`, `hold.rs` | what a plan costs for one person; keeps expensive conditions above the limit |
//! | `person.rs`, `window.rs` | aggregates per person, windows within a person's rows: rows stay rows |
//! | `frame.rs`, `place.rs` | frames of such windows; conditions that keep one row of each person |
//! | `number.rs` | numbers that the statement itself releases, used over rows |
//! | `lookup.rs` | released rows that people's rows are looked up in by a key |
//! | `nothing.rs` | parts without rows, whatever the tables hold |
//! | `aggregate.rs` | the private aggregate: what is measured, under which bounds |
//! | `derive.rs` | aggregates that are computed from others: CORR, COVAR, REGR, COUNT of several columns |
//! | `rollup.rs` | GROUPING SETS, ROLLUP and CUBE |
//! | `whole.rs` | rows that are asked for as they are: a synthetic table is made of them |

mod aggregate;
mod comma;
mod derive;
mod frame;
mod hold;
mod join;
mod join_rows;
mod lateral;
mod lookup;
mod nothing;
mod number;
mod padded;
mod person;
mod place;
mod rollup;
mod rows;
mod semi;
mod subquery;
mod whole;
mod window;
mod work;

pub(crate) use join_rows::{PublicJoin, join_fanout, share_input, share_rows};
pub(crate) use nothing::without_empty_parts;
pub(crate) use number::{ReleasedNumber, any_value, replace_numbers};
pub(crate) use padded::Listings;
pub(crate) use whole::{WholeRows, whole_rows};

use crate::aggregate::{PrivateAggregate, digest};
use crate::answer::deferred::DeferredTable;
use crate::answer::lasting::changing;
use crate::error::{Error, Result};
use crate::policy::Access;
use crate::refusal::{Refusal, Rule};
use crate::rows::{Limits, RELEASED, RESERVED, Rows};
use crate::statement::settings::Settings;
use crate::tables::catalog::Catalog;
use comma::Comma;
use datafusion::common::tree_node::{Transformed, TreeNode, TreeNodeRecursion};
use datafusion::common::{Column, DFSchema, DataFusionError, plan_err};
use datafusion::datasource::provider_as_source;
use datafusion::execution::SessionState;
use datafusion::logical_expr::expr::Sort;
use datafusion::logical_expr::{Distinct, DistinctOn, Expr, LogicalPlan, LogicalPlanBuilder};
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
    /// Numbers that the statement releases, or computes from public tables, and uses over protected rows.
    pub(crate) numbers: Vec<Arc<ReleasedNumber>>,
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
    numbers: Vec<Arc<ReleasedNumber>>,
    /// Whether there is a window over protected rows.
    windows: bool,
    listings: &'a Listings,
    named: u32,
}

/// Cuts a plan whose types are already coerced.
pub(crate) fn analyse(
    plan: &LogicalPlan,
    catalog: &Catalog,
    settings: &Settings,
    listings: &Listings,
) -> Result<Analysis> {
    number::check_names(plan)?;
    let plan = lateral::without_laterals(plan, catalog)?;
    let (found, windows) = cut_at_aggregates(&plan, catalog, settings, listings);
    if !windows {
        return found;
    }
    // Only then: a plan that is written in another way is another purchase.
    let pruned = window::pruned(&plan, &catalog.state());
    cut_at_aggregates(&pruned, catalog, settings, listings).0
}

/// The plan cut, and whether it has windows over protected rows.
fn cut_at_aggregates(
    plan: &LogicalPlan,
    catalog: &Catalog,
    settings: &Settings,
    listings: &Listings,
) -> (Result<Analysis>, bool) {
    let mut walk = Walk::new(catalog, settings, listings);
    let visited = walk.visit_top(plan);
    let windows = walk.windows;
    let found = visited.and_then(|node| match node {
        Node::Public(after) | Node::Released(after) => Ok(Analysis {
            after,
            aggregates: walk.aggregates,
            publics: walk.publics,
            public_joins: walk.public_joins,
            numbers: walk.numbers,
        }),
        Node::Rows(_) => {
            let what =
                format!("this would show rows of {}, which hold people's data", shown_tables(plan));
            let remedy = match id_among_keys(plan) {
                Some(id) => format!(
                    "leave {id} out of GROUP BY; or aggregate once more: SELECT AVG(n) FROM \
                     (SELECT {id}, COUNT(*) AS n FROM … GROUP BY {id}) AS t"
                ),
                None => "ask for an aggregate: COUNT(*), SUM, AVG, MEDIAN, … , grouped if you like"
                    .to_owned(),
            };
            Err(Refusal::new(Rule::Rows, what, remedy).into())
        }
    });
    (found, windows)
}

impl<'a> Walk<'a> {
    fn new(catalog: &'a Catalog, settings: &'a Settings, listings: &'a Listings) -> Self {
        Self {
            catalog,
            state: catalog.state(),
            settings,
            aggregates: Vec::new(),
            publics: Vec::new(),
            public_joins: Vec::new(),
            numbers: Vec::new(),
            windows: false,
            listings,
            named: 0,
        }
    }
}

impl Walk<'_> {
    /// An internal name that no query can write.
    fn fresh(&mut self, what: &str) -> String {
        self.named += 1;
        format!("{RESERVED}{what}_{}", self.named)
    }

    /// The whole statement. `SELECT * FROM visits LIMIT 100`: what is wrong is that it would show rows.
    fn visit_top(&mut self, plan: &LogicalPlan) -> Result<Node> {
        match plan {
            LogicalPlan::Limit(limit) => match self.visit(&limit.input)? {
                rows @ Node::Rows(_) => Ok(rows),
                other => self.again(plan, vec![other]),
            },
            other => self.visit(other),
        }
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
            LogicalPlan::Join(join) => self.join(join, plan),
            LogicalPlan::Union(union) => self.union(union, plan),
            LogicalPlan::Window(window) => match self.visit(&window.input)? {
                Node::Rows(rows) => self.window(*rows, window),
                other => self.again(plan, vec![other]),
            },
            LogicalPlan::Distinct(Distinct::On(on)) => match self.visit(&on.input)? {
                Node::Rows(rows) => self.distinct_on(*rows, on),
                other => self.again(plan, vec![other]),
            },
            LogicalPlan::Limit(_) => self.released_only(plan),
            LogicalPlan::Subquery(subquery) => self.visit(&subquery.subquery),
            LogicalPlan::Unnest(_) => Err(statement("unnest()", "write the rows with VALUES")),
            LogicalPlan::RecursiveQuery(_) => {
                Err(statement("WITH RECURSIVE", "write the steps out, one query each"))
            }
            LogicalPlan::Repartition(_)
            | LogicalPlan::Statement(_)
            | LogicalPlan::Explain(_)
            | LogicalPlan::Analyze(_)
            | LogicalPlan::Extension(_)
            | LogicalPlan::Dml(_)
            | LogicalPlan::Ddl(_)
            | LogicalPlan::Copy(_)
            | LogicalPlan::DescribeTable(_) => {
                Err(statement("this kind of statement", "write a plain SELECT"))
            }
        }
    }

    /// Visits a plan beside rows that have names already. A cut begins names anew, and theirs are taken.
    fn visit_beside(&mut self, plan: &LogicalPlan) -> Result<Node> {
        let named = self.named;
        let visited = self.visit(plan);
        self.named = self.named.max(named);
        visited
    }

    fn over_one(&mut self, plan: &LogicalPlan) -> Result<Node> {
        if let LogicalPlan::Filter(filter) = plan
            && let Some(comma) = Comma::of(filter)
        {
            return self.comma(comma, plan);
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
        let plan = match plan {
            LogicalPlan::Distinct(Distinct::On(on)) => distinct_on(on, expressions, plans),
            plan => plan.with_new_exprs(expressions, plans),
        };
        let plan = plan.map_err(|e| Error::planning(&e))?;
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
        let meaning = digest(&public);
        let name = format!("{RESERVED}public_{meaning}");
        let same = self.publics.iter().find(|(plan, _)| digest(plan) == meaning);
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
        let name = format!("{RELEASED}{place}_{}", aggregate.key_columns());
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

/// The first key of an aggregate at the top whose groups are one person each.
fn id_among_keys(plan: &LogicalPlan) -> Option<String> {
    match plan {
        LogicalPlan::Aggregate(aggregate) if !aggregate.aggr_expr.is_empty() => {
            aggregate.group_expr.iter().find_map(|key| match key.clone().unalias() {
                Expr::Column(column) => Some(column.name),
                _ => None,
            })
        }
        LogicalPlan::Projection(_)
        | LogicalPlan::Filter(_)
        | LogicalPlan::Sort(_)
        | LogicalPlan::Limit(_)
        | LogicalPlan::Window(_) => plan.inputs().first().and_then(|input| id_among_keys(input)),
        _ => None,
    }
}

/// The tables of a plan, as they were written.
fn shown_tables(plan: &LogicalPlan) -> String {
    let mut names: Vec<String> = Vec::new();
    // The closure never fails, so neither does the walk.
    let _ = plan.apply_with_subqueries(|node| {
        if let LogicalPlan::TableScan(scan) = node {
            let name = format!("`{}`", scan.table_name.table());
            if !names.contains(&name) {
                names.push(name);
            }
        }
        Ok(TreeNodeRecursion::Continue)
    });
    names.join(" and ")
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

/// A DISTINCT ON with other expressions, those of its order last: the engine's own way does not know an order.
fn distinct_on(
    on: &DistinctOn,
    mut parts: Vec<Expr>,
    mut inputs: Vec<LogicalPlan>,
) -> datafusion::common::Result<LogicalPlan> {
    let Some(input) = inputs.pop() else { return plan_err!("a DISTINCT ON of nothing") };
    let order = parts.split_off(on.on_expr.len() + on.select_expr.len());
    let select = parts.split_off(on.on_expr.len());
    let order = on.sort_expr.iter().flatten().zip(order);
    let order: Vec<Sort> = order.map(|(sort, expr)| Sort { expr, ..sort.clone() }).collect();
    let order = (!order.is_empty()).then_some(order);
    let on = DistinctOn::try_new(parts, select, order, Arc::new(input))?;
    Ok(LogicalPlan::Distinct(Distinct::On(on)))
}

/// Refuses a clause that looks at all protected rows at once.
fn whole_table(plan: &LogicalPlan) -> Error {
    let (what, remedy) = match plan {
        LogicalPlan::Limit(_) => (
            "LIMIT over protected rows picks people",
            "aggregate first; LIMIT may follow the aggregate. For the first rows of each person: \
             ROW_NUMBER() OVER (PARTITION BY the person's id ORDER BY …), kept where it is 1",
        ),
        _ => ("this clause over protected rows compares people with each other", "aggregate first"),
    };
    Refusal::new(Rule::Clause, what, remedy).into()
}
