//! The first stage: a plan cut at its private aggregates.

use super::collected::collected;
use super::staged::with_public_numbers;
use super::{Asker, constants};
use crate::aggregate::PrivateAggregate;
use crate::answer::deferred::DeferredTable;
use crate::error::{Error, Result};
use crate::plan::{
    Analysis, Listings, ReleasedNumber, analyse, join_fanout, share_rows, without_empty_parts,
};
use crate::rows::meaning;
use crate::statement::arrays::refuse_arrays_of_quantiles;
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
    /// Numbers of earlier aggregates, or of public tables, that later aggregates use.
    pub(super) numbers: Vec<Arc<ReleasedNumber>>,
}

impl Planned {
    /// Plans a query with values for `$1`, `$2`, …, and reads the public rows that it joins.
    pub(crate) async fn new(
        asker: Asker<'_>,
        query: Parsed,
        values: &[ScalarValue],
    ) -> Result<Self> {
        let curator = asker.curator;
        let (policy, catalog) = (&curator.policy, &curator.catalog);
        let plan = plan_statement(catalog, query).await?;
        let plan = bind_parameters(catalog, plan, values)?;
        let listings = Listings::read(&plan, catalog).await?;
        let Analysis { after, aggregates, publics, public_joins, numbers } =
            analyse(&plan, catalog, asker.settings, &listings)?;
        let state = catalog.public_state();
        for plan in std::iter::once(&after).chain(numbers.iter().map(|number| &number.plan)) {
            constants::check(plan, &state)?;
        }
        for (plan, rows) in publics {
            let frame = DataFrame::new(catalog.public_state(), plan);
            let read = collected(frame, PUBLIC_MEMORY).await;
            read.and_then(|held| rows.hold(held.batches, held.memory))
                .map_err(|e| Error::planning(&e))?;
        }
        let (aggregates, numbers) = with_public_numbers(curator, aggregates, numbers).await?;
        let fanouts = join_fanout(public_joins)?;
        let shared = |(aggregate, table)| {
            Ok((share_rows(aggregate, &fanouts, policy, &catalog.state())?, table))
        };
        let aggregates = aggregates.into_iter().map(shared).collect::<Result<_>>()?;
        Ok(Self { after, aggregates, numbers })
    }
}

#[cfg(test)]
impl Planned {
    /// The aggregates over protected rows.
    pub(crate) fn aggregates(&self) -> impl Iterator<Item = &PrivateAggregate> {
        self.aggregates.iter().map(|(aggregate, _)| aggregate)
    }
}

/// Plans a statement as written, with its parameters unbound.
pub(crate) async fn plan_statement(catalog: &Catalog, statement: Parsed) -> Result<LogicalPlan> {
    refuse_arrays_of_quantiles(&statement)?;
    let plan = catalog.state().statement_to_plan(statement).await;
    let plan = plan.map_err(|e| Error::planning_with(&e, &catalog.known()))?;
    is_bare(&plan)?;
    limits::plan(&plan)?;
    Ok(plan)
}

/// Inserts the values of the parameters, gives expressions PostgreSQL's meaning, and coerces types.
pub(crate) fn bind_parameters(
    catalog: &Catalog,
    plan: LogicalPlan,
    values: &[ScalarValue],
) -> Result<LogicalPlan> {
    let state = catalog.state();
    let planned = |e: DataFusionError| Error::planning_with(&e, &catalog.known());
    let plan = match values {
        [] => plan,
        values => plan.with_param_values(values.to_vec()).map_err(planned)?,
    };
    // What is wrong with the statement, in our own words.
    let plan = meaning::rewrite(plan).map_err(|error| match error.find_root() {
        DataFusionError::Plan(text) => Error::Sql(text.clone()),
        _ => planned(error),
    })?;
    let options = state.config_options();
    let plan = state.analyzer().execute_and_check(plan, options, |_, _| {}).map_err(planned)?;
    without_empty_parts(plan).map_err(planned)
}
