//! A world on disk, and the stages up to the exact aggregates with a given key.

use super::world::{CODES, PAIRS, PROTECTED, World, header};
use crate::aggregate::PrivateAggregate;
use crate::aggregate::{Quote, quote};
use crate::bound::{BoundContributions, BoundPlanner, BoundSpec, Exact, Key, accumulate};
use crate::error::{Error, Result};
use crate::pipeline::{bind_parameters, plan_statement};
use crate::plan::{Analysis, Listings, analyse, join_fanout, replace_numbers, share_rows};
use crate::policy::Policy;
use crate::statement::parse::{Statement, parse};
use crate::statement::settings::Settings;
use crate::tables::catalog::Catalog;
use async_trait::async_trait;
use datafusion::catalog::Session;
use datafusion::common::ScalarValue;
use datafusion::dataframe::DataFrame;
use datafusion::error::Result as EngineResult;
use datafusion::execution::context::QueryPlanner;
use datafusion::execution::session_state::SessionStateBuilder;
use datafusion::logical_expr::expr::Placeholder;
use datafusion::logical_expr::{Expr, LogicalPlan};
use datafusion::physical_plan::{ExecutionPlan, execute_stream};
use datafusion::physical_planner::{DefaultPhysicalPlanner, PhysicalPlanner};
use std::sync::Arc;

/// A policy and its tables, opened.
pub(super) struct Database {
    pub(super) policy: Policy,
    catalog: Catalog,
    _folder: tempfile::TempDir,
}

#[derive(Debug)]
struct Planner;

#[async_trait]
impl QueryPlanner for Planner {
    async fn create_physical_plan(
        &self,
        plan: &LogicalPlan,
        session: &dyn Session,
    ) -> EngineResult<Arc<dyn ExecutionPlan>> {
        let planner = DefaultPhysicalPlanner::with_extension_planners(vec![Arc::new(BoundPlanner)]);
        planner.create_physical_plan(plan, session).await
    }
}

impl Database {
    pub(super) async fn of(world: &World) -> Self {
        let csv = |i: usize| {
            let rows = world.tables[i].iter().map(|row| row.join(","));
            let lines: Vec<String> = std::iter::once(header(i).to_owned()).chain(rows).collect();
            (format!("{}.csv", PROTECTED[i]), lines.join("\n") + "\n")
        };
        let mut files: Vec<(String, String)> = (0..PROTECTED.len()).map(csv).collect();
        files.push(("codes.csv".to_owned(), CODES.to_owned()));
        files.push(("pairs.csv".to_owned(), PAIRS.to_owned()));
        Self::open(&world.policy, &files).await
    }

    pub(super) async fn open(policy: &str, files: &[(String, String)]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        for (name, text) in files {
            std::fs::write(folder.path().join(name), text).unwrap();
        }
        let policy =
            Policy::parse(policy, folder.path()).unwrap_or_else(|e| panic!("{e}\n{policy}"));
        let builder = SessionStateBuilder::new().with_query_planner(Arc::new(Planner));
        let catalog = Catalog::open(&policy, builder, crate::aggregate::functions()).await.unwrap();
        Self { policy, catalog, _folder: folder }
    }

    /// The private aggregates of a query, priced.
    pub(super) async fn priced(
        &self,
        sql: &str,
        settings: &Settings,
    ) -> Result<Vec<(PrivateAggregate, Quote)>> {
        let state = self.catalog.state();
        let Statement::Query(query) = parse(sql, &state, self.catalog.names())? else {
            panic!("not a query: {sql}")
        };
        // As the pipeline does it: with PostgreSQL's meaning, and without parts that have no rows.
        let plan = plan_statement(&self.catalog, *query).await?;
        let plan = bind_parameters(&self.catalog, plan, &[])?;
        let Analysis { aggregates, publics, public_joins, .. } =
            analyse(&plan, &self.catalog, settings, &Listings::read(&plan, &self.catalog).await?)?;
        for (plan, rows) in publics {
            let read = DataFrame::new(self.catalog.state(), plan).collect().await;
            read.and_then(|batches| rows.put(batches)).map_err(|e| Error::planning(&e))?;
        }
        let fanouts = join_fanout(public_joins)?;
        let price = |(aggregate, _): (PrivateAggregate, _)| {
            let aggregate = share_rows(aggregate, &fanouts, &self.policy, &state)?;
            // A number that was released before is the same on both sides, whatever it is.
            let number = |one: &Placeholder| {
                let kind = one.field.as_ref()?.data_type();
                let value = ScalarValue::Float64(Some(0.5)).cast_to(kind).ok()?;
                Some(Expr::Literal(value, None))
            };
            let input = replace_numbers(aggregate.input.clone(), number)?;
            let aggregate = PrivateAggregate { input, ..aggregate };
            let quote = quote(&aggregate, &self.policy.budget, settings)?;
            Ok((aggregate, quote))
        };
        aggregates.into_iter().map(price).collect()
    }

    /// The exact aggregates, to which noise would be added.
    pub(super) async fn exact(
        &self,
        aggregate: &PrivateAggregate,
        spec: &BoundSpec,
        key: Key,
    ) -> EngineResult<Exact> {
        let node = BoundContributions::new(Arc::new(aggregate.input.clone()), spec.clone(), key)?;
        let interned = Arc::clone(node.interned());
        let state = self.catalog.state();
        let physical = state.create_physical_plan(&node.into_plan()).await?;
        let stream = execute_stream(physical, state.task_ctx())?;
        accumulate(stream, &interned, spec).await
    }
}
