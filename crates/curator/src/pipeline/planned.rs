//! The first stage: a plan cut at its private aggregates.

use super::Asker;
use super::collected::collected;
use crate::aggregate::PrivateAggregate;
use crate::answer::deferred::DeferredTable;
use crate::error::{Error, Result};
use crate::plan::{Analysis, analyse, join_fanout, share_rows};
use crate::statement::limits;
use crate::statement::parse::is_bare;
use crate::tables::catalog::{Catalog, PUBLIC_MEMORY};
use datafusion::common::ScalarValue;
use datafusion::dataframe::DataFrame;
use datafusion::error::DataFusionError;
use datafusion::logical_expr::LogicalPlan;
use datafusion::sql::parser::Statement as Parsed;
use std::sync::Arc;

/// A question whose plan has been cut. No protected row has been read.
pub(crate) struct Planned {
    /// The plan that runs on released tables.
    pub(super) after: LogicalPlan,
    /// Each aggregate over protected rows, and the table from which the rest of the plan reads its release.
    pub(super) aggregates: Vec<(PrivateAggregate, Arc<DeferredTable>)>,
}

impl Planned {
    /// Plans a query with values for `$1`, `$2`, …, and reads the public rows that it joins.
    pub(crate) async fn new(
        asker: Asker<'_>,
        query: Parsed,
        values: &[ScalarValue],
    ) -> Result<Self> {
        let (policy, catalog) = (&asker.curator.policy, &asker.curator.catalog);
        let plan = plan_statement(catalog, query).await?;
        let plan = bind_parameters(catalog, plan, values)?;
        let Analysis { after, aggregates, publics, public_joins } =
            analyse(&plan, catalog, asker.settings)?;
        for (plan, rows) in publics {
            let frame = DataFrame::new(catalog.public_state(), plan);
            let read = collected(frame, PUBLIC_MEMORY).await;
            read.and_then(|held| rows.hold(held.batches, held.memory))
                .map_err(|e| Error::planning(&e))?;
        }
        let fanouts = join_fanout(public_joins)?;
        let shared = |(aggregate, table)| {
            Ok((share_rows(aggregate, &fanouts, policy, &catalog.state())?, table))
        };
        Ok(Self { after, aggregates: aggregates.into_iter().map(shared).collect::<Result<_>>()? })
    }
}

/// Plans a statement as written, with its parameters unbound.
pub(crate) async fn plan_statement(catalog: &Catalog, statement: Parsed) -> Result<LogicalPlan> {
    let plan = catalog.state().statement_to_plan(statement).await;
    let plan = plan.map_err(|e| Error::planning(&e))?;
    is_bare(&plan)?;
    limits::plan(&plan)?;
    Ok(plan)
}

/// Inserts the values of the parameters and coerces types.
pub(crate) fn bind_parameters(
    catalog: &Catalog,
    plan: LogicalPlan,
    values: &[ScalarValue],
) -> Result<LogicalPlan> {
    let state = catalog.state();
    let planned = |e: DataFusionError| Error::planning(&e);
    let plan = match values {
        [] => plan,
        values => plan.with_param_values(values.to_vec()).map_err(planned)?,
    };
    let options = state.config_options();
    state.analyzer().execute_and_check(plan, options, |_, _| {}).map_err(planned)
}
