//! The curator: a policy with its tables, its engine and its ledger. It is opened once and answers sessions.

use crate::aggregate;
use crate::answer::cache::Cache;
use crate::answer::flight::Flights;
use crate::bound::{Engine, Native};
use crate::error::{Error, Result};
use crate::identity::{ledger_expecting, limit, record_units};
use crate::incident::Incidents;
use crate::policy::{self, Policy};
use crate::statement::suggest::Suggestions;
use crate::tables::catalog::Catalog;
use datafusion::execution::SessionState;
use datafusion::execution::session_state::SessionStateBuilder;
use demure_core::random::{Randomness, SystemRandom};
use demure_ledger::{Anchor, Balances, Ledger};
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// A policy, its tables, its engine and its ledger.
pub struct Curator {
    pub(crate) policy: Policy,
    pub(crate) catalog: Catalog,
    pub(crate) engine: Box<dyn Engine>,
    pub(crate) ledger: Ledger,
    pub(crate) incidents: Incidents,
    randomness: Mutex<Box<dyn Randomness + Send>>,
    pub(crate) cache: Cache,
    pub(crate) flights: Arc<Flights>,
    last_balances: Mutex<Option<(Instant, Arc<Balances>)>>,
}

impl Curator {
    /// Opens a policy file, its sources and its ledger.
    pub async fn open(path: &Path) -> Result<Arc<Self>> {
        Self::open_expecting(path, None).await
    }

    /// The same; the ledger must contain the entry that was noted elsewhere.
    pub async fn open_expecting(path: &Path, head: Option<&Anchor>) -> Result<Arc<Self>> {
        let (policy, ledger) = ledger_expecting(path, head)?;
        let incidents = Incidents::private(Policy::real_path(path).with_extension("incidents"))?;
        let randomness = Box::new(SystemRandom::new()?);
        let curator = Self::with(policy, ledger, incidents, randomness).await?;
        record_units(&curator.policy, &curator.ledger)?;
        Ok(curator)
    }

    /// A curator whose ledger is in memory, for demonstrations and tests.
    pub async fn in_memory(policy: Policy) -> Result<Arc<Self>> {
        Self::in_memory_with(policy, Box::new(SystemRandom::new()?)).await
    }

    /// The same with a given source of noise: for synthetic data, noise may repeat.
    pub async fn in_memory_with(
        policy: Policy,
        randomness: Box<dyn Randomness + Send>,
    ) -> Result<Arc<Self>> {
        let ledger = Ledger::in_memory(limit(&policy))?;
        Self::with(policy, ledger, Incidents::nowhere(), randomness).await
    }

    /// A curator with its parts given; `randomness` draws the noise.
    pub async fn with(
        policy: Policy,
        ledger: Ledger,
        incidents: Incidents,
        randomness: Box<dyn Randomness + Send>,
    ) -> Result<Arc<Self>> {
        let native = |state| Box::new(Native::new(state)) as Box<dyn Engine>;
        Self::with_engine(policy, ledger, incidents, randomness, native).await
    }

    /// The same with the caller's engine: `Native`, or `Windows` for an engine that only speaks SQL.
    pub async fn with_engine(
        policy: Policy,
        ledger: Ledger,
        incidents: Incidents,
        randomness: Box<dyn Randomness + Send>,
        engine: impl FnOnce(SessionState) -> Box<dyn Engine>,
    ) -> Result<Arc<Self>> {
        let catalog =
            Catalog::open(&policy, SessionStateBuilder::new(), aggregate::functions()).await?;
        let engine = engine(catalog.engine_state());
        Ok(Arc::new(Self {
            policy,
            catalog,
            engine,
            ledger,
            incidents,
            randomness: Mutex::new(randomness),
            cache: Cache::default(),
            flights: Arc::new(Flights::default()),
            last_balances: Mutex::new(None),
        }))
    }

    /// Logs details for the steward, and returns the error for the analyst, which only has an incident number.
    #[must_use]
    pub fn incident(&self, details: &str) -> Error {
        self.incidents.record(details)
    }

    /// The policy.
    #[must_use]
    pub fn policy(&self) -> &Policy {
        &self.policy
    }

    /// The ledger.
    #[must_use]
    pub fn ledger(&self) -> &Ledger {
        &self.ledger
    }

    /// Each table with its columns and their types, as queries see them.
    #[must_use]
    pub fn tables(&self) -> Vec<(String, Vec<(String, String)>)> {
        let describe = |schema: &datafusion::arrow::datatypes::SchemaRef| {
            let fields = schema.fields().iter();
            fields.map(|f| (f.name().clone(), f.data_type().to_string())).collect()
        };
        self.catalog
            .schemas()
            .map(|(policy, schema)| (policy.name.clone(), describe(schema)))
            .collect()
    }

    /// What may be written in a statement about these tables.
    #[must_use]
    pub fn suggestions(&self) -> Suggestions {
        let names = |columns: Vec<(String, String)>| columns.into_iter().map(|(name, _)| name);
        let tables = self.tables().into_iter();
        Suggestions::new(tables.map(|(table, columns)| (table, names(columns).collect())).collect())
    }

    pub(crate) fn concentrated(&self) -> bool {
        self.policy.budget.accounting == policy::Accounting::Zcdp
    }

    /// The source of noise. A panic while it was locked does not harm it.
    pub(crate) fn rng(&self) -> MutexGuard<'_, Box<dyn Randomness + Send>> {
        self.randomness.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Runs ledger work, which waits for the disk, on a thread where waiting blocks no one. The work goes on if the
    /// caller stops waiting: what is debited then stays spent.
    pub(crate) async fn at_the_ledger<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Ledger) -> T + Send + 'static,
    ) -> Result<T> {
        let ledger = self.ledger.clone();
        let done = tokio::task::spawn_blocking(move || work(&ledger)).await;
        done.map_err(|_| Error::Ledger(demure_ledger::Error::Interrupted))
    }

    /// What is spent and left, and who is denied; at most a tenth of a second old.
    pub(crate) fn balances_lately(&self) -> Result<Arc<Balances>> {
        const AGE: Duration = Duration::from_millis(100);
        let mut last = self.last_balances.lock().unwrap_or_else(PoisonError::into_inner);
        match &*last {
            Some((at, balances)) if at.elapsed() < AGE => Ok(Arc::clone(balances)),
            _ => {
                let balances = Arc::new(self.ledger.balances()?);
                *last = Some((Instant::now(), Arc::clone(&balances)));
                Ok(balances)
            }
        }
    }
}
