//! One analyst's conversation with a curator: settings and dispatch.

use crate::aggregate::Spend;
use crate::answer::explain::Explanation;
use crate::answer::intervals::with_intervals;
use crate::answer::{Answer, Description};
use crate::curator::Curator;
use crate::error::{Error, Result};
use crate::pipeline::gate::{Gate, Open};
use crate::pipeline::whole::TableQuestion;
use crate::pipeline::{Asked, Asker, Planned, bind_parameters, plan_statement};
use crate::plan::{Analysis, Listings, analyse};
use crate::refusal::{Refusal, Rule};
use crate::statement::clock::is_read_by;
use crate::statement::parse::{Statement, parse};
use crate::statement::settings::{SETTINGS, Settings, short_name};
use crate::statement::{on_large_stack, parameter_types, words};
use crate::words::short;
use datafusion::common::ScalarValue;
use datafusion::error::DataFusionError;
use datafusion::sql::parser::Statement as Parsed;
use std::num::NonZeroU32;
use std::sync::Arc;

/// One analyst's conversation with a curator.
pub struct Session {
    curator: Arc<Curator>,
    who: String,
    settings: Settings,
}

/// The result of a statement.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Outcome {
    /// A query was answered.
    Answer(Box<Answer>),
    /// A query was explained.
    Explanation(Box<Explanation>),
    /// A setting was changed or shown: its name and value.
    Setting(String, String),
}

/// Shows the minimum ε of a new query, which the policy sets: `SHOW demure.min_per_query`.
const LEAST: &str = "demure.min_per_query";

impl Curator {
    /// A session of one analyst.
    #[must_use]
    pub fn session(self: &Arc<Self>, who: impl Into<String>) -> Session {
        let (curator, who) = (Arc::clone(self), who.into());
        Session { curator, who, settings: Settings::default() }
    }
}

impl Session {
    /// The analyst with the settings, for the pipeline.
    pub(crate) fn asker(&self) -> Asker<'_> {
        Asker { curator: &self.curator, who: &self.who, settings: &self.settings }
    }

    /// Runs a statement: answers or explains a query, or changes or shows a setting.
    pub async fn run(&mut self, sql: &str) -> Result<Outcome> {
        self.run_with(sql, &[]).await
    }

    /// The same with values for `$1`, `$2`, …
    pub async fn run_with(&mut self, sql: &str, values: &[ScalarValue]) -> Result<Outcome> {
        self.run_through(Arc::new(Open), sql, values).await
    }

    /// The same through a gate, which is called before anything is bought, and awaited before any result is visible.
    pub async fn run_through(
        &mut self,
        gate: Arc<dyn Gate>,
        sql: &str,
        values: &[ScalarValue],
    ) -> Result<Outcome> {
        if let Some(answer) = self.curator.cache.find(&self.who, sql, &self.settings, values) {
            let balances = self.curator.balances_lately()?;
            if !balances.denies(&self.who) {
                let balance = balances.dataset.clone();
                return Ok(Outcome::Answer(Box::new(answer.again(balance))));
            }
        }
        let outcome = on_large_stack(words(sql), self.run_here(&gate, sql, values)).await;
        if let Err(Error::Unplanned { details, .. }) = &outcome {
            self.curator.incidents.note(details);
        }
        outcome
    }

    async fn run_here(
        &mut self,
        gate: &Arc<dyn Gate>,
        sql: &str,
        values: &[ScalarValue],
    ) -> Result<Outcome> {
        let catalog = &self.curator.catalog;
        match parse(sql, &catalog.state(), catalog.names())? {
            Statement::Query(query) => {
                let asker = self.asker();
                let quoted = Planned::new(asker, *query, values).await?.quoted(asker)?;
                let asked = Asked::new(sql, values, &self.settings);
                let (answer, lasting) = quoted.answered(asker, gate, &asked).await?;
                if lasting && !is_read_by(sql) {
                    self.curator.cache.keep(&self.who, sql, &self.settings, values, &answer);
                }
                Ok(Outcome::Answer(Box::new(answer)))
            }
            Statement::Explain(query) => {
                Ok(Outcome::Explanation(Box::new(self.explain(*query).await?)))
            }
            Statement::Set { name, value } => {
                self.settings.set(&name, &value)?;
                let now = self.settings.get(&name).unwrap_or_default();
                Ok(Outcome::Setting(name.to_ascii_lowercase(), now))
            }
            Statement::Show { name } if name.eq_ignore_ascii_case(LEAST) => {
                let least = self.curator.policy.budget.min_per_query;
                Ok(Outcome::Setting(LEAST.to_owned(), least.to_string()))
            }
            Statement::Show { name } => match self.settings.get(&name) {
                Some(value) => Ok(Outcome::Setting(name.to_ascii_lowercase(), value)),
                None => {
                    let names: Vec<&str> = SETTINGS.iter().map(|(name, _)| *name).collect();
                    Err(Refusal::new(
                        Rule::Setting,
                        format!("there is no setting `{}`", short_name(&name)),
                        format!("there is: {}", names.join(", ")),
                    )
                    .into())
                }
            },
        }
    }

    /// Describes a query without running it: the types of its parameters, as far as they are known, and its columns.
    /// Nothing is read.
    pub async fn describe(&self, sql: &str) -> Result<Description> {
        on_large_stack(words(sql), self.describe_here(sql)).await
    }

    async fn describe_here(&self, sql: &str) -> Result<Description> {
        let curator = &self.curator;
        let query = match parse(sql, &curator.catalog.state(), curator.catalog.names())? {
            Statement::Query(query) => *query,
            Statement::Explain(_) => return Ok(Description::of_text("explanation")),
            Statement::Show { name } => return Ok(Description::of_text(&name)),
            Statement::Set { .. } => return Ok(Description::default()),
        };
        let planned = |e: DataFusionError| Error::planning(&e);
        let plan = plan_statement(&curator.catalog, query).await?;
        let types = parameter_types(&plan)?;
        let nulls: std::result::Result<Vec<ScalarValue>, _> =
            types.iter().map(ScalarValue::try_from).collect();
        let plan = bind_parameters(&curator.catalog, plan, &nulls.map_err(planned)?)?;
        // Even if the parameter values decide whether the query is allowed, the columns are known.
        let listings = Listings::read(&plan, &curator.catalog).await?;
        let plan = match analyse(&plan, &curator.catalog, &self.settings, &listings) {
            Ok(Analysis { after, .. }) if self.settings.intervals => {
                with_intervals(after).map_err(planned)?.0
            }
            Ok(Analysis { after, .. }) => after,
            Err(error) if types.is_empty() => return Err(error),
            Err(_) => plan,
        };
        Ok(Description { parameters: types, schema: Arc::new(plan.schema().as_arrow().clone()) })
    }

    /// The price of a query; `sql` is without `EXPLAIN PRIVACY`.
    pub async fn explanation(&self, sql: &str) -> Result<Explanation> {
        on_large_stack(words(sql), self.explanation_here(sql)).await
    }

    async fn explanation_here(&self, sql: &str) -> Result<Explanation> {
        let catalog = &self.curator.catalog;
        match parse(sql, &catalog.state(), catalog.names())? {
            Statement::Query(query) | Statement::Explain(query) => self.explain(*query).await,
            _ => Err(Refusal::new(Rule::Statement, "nothing to explain", "write SELECT …").into()),
        }
    }

    /// Each setting, its value, and what it takes. A default is shown with what it stands for.
    #[must_use]
    pub fn settings_in_words(&self) -> Vec<(&'static str, String, &'static str)> {
        let budget = &self.curator.policy.budget;
        let defaults = Spend::of(&Settings::default(), budget).ok();
        let value = |name: &str| {
            let set = self.settings.get(name).unwrap_or_default();
            match (name, &defaults) {
                _ if set != "default" => set,
                ("demure.epsilon", _) if self.settings.error_at_most.is_some() => {
                    "as the error needs".to_owned()
                }
                ("demure.epsilon", Some(spend)) => {
                    format!("default, {}", short(spend.epsilon.get()))
                }
                ("demure.delta", Some(spend)) => format!("default, {}", short(spend.delta.get())),
                _ => "default, the policy's".to_owned(),
            }
        };
        SETTINGS.iter().map(|(name, takes)| (*name, value(name), *takes)).collect()
    }

    /// Plans a synthetic table of a `SELECT` over protected tables, or of a table by its name. Nothing is read but public
    /// rows. `rows_per_person` is how many rows of a person count, where the policy does not say.
    pub async fn table(
        &self,
        sql: &str,
        rows_per_person: Option<NonZeroU32>,
    ) -> Result<TableQuestion> {
        on_large_stack(words(sql), TableQuestion::new(self.asker(), sql, rows_per_person)).await
    }

    /// The session's settings.
    pub fn settings_mut(&mut self) -> &mut Settings {
        &mut self.settings
    }

    /// The analyst.
    #[must_use]
    pub fn who(&self) -> &str {
        &self.who
    }

    /// The curator it talks to.
    #[must_use]
    pub fn curator(&self) -> &Arc<Curator> {
        &self.curator
    }

    async fn explain(&self, query: Parsed) -> Result<Explanation> {
        let asker = self.asker();
        Planned::new(asker, query, &[]).await?.quoted(asker)?.explained(asker)
    }
}
