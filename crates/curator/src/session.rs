//! A curator and its sessions: `Sql → Plan → PrivatePlan → Quote → Reservation → Exact →
//! Release → Answer`, each stage by value.

use crate::analyse::{Analysis, PrivateAggregate, analyse, share_rows, spread};
use crate::answer::{Answer, Description, to_bytes};
use crate::bound::{Engine, Key, Native, Task};
use crate::catalog::{Catalog, PUBLIC_MEMORY};
use crate::error::{Error, Result};
use crate::explain::{AggregateExplanation, Explanation, advice};
use crate::extent;
use crate::flight::Flights;
use crate::gate::{Gate, Open, Reads};
use crate::identity::{ledger_expecting, limit, record_units};
use crate::incident::Incidents;
use crate::intervals::with_intervals;
use crate::lasting::changing;
use crate::least;
use crate::parse::{Statement, is_bare, parse};
use crate::policy::{self, Policy};
use crate::price::{Quote, quote};
use crate::refusal::{Refusal, Rule};
use crate::release::release;
use crate::released::LaterTable;
use crate::remembered::Remembered;
use crate::settings::{SETTINGS, Settings};
use datafusion::arrow::array::RecordBatch;
use datafusion::arrow::datatypes::DataType;
use datafusion::common::ScalarValue;
use datafusion::dataframe::DataFrame;
use datafusion::error::DataFusionError;
use datafusion::execution::SessionState;
use datafusion::execution::memory_pool::{MemoryConsumer, MemoryReservation};
use datafusion::execution::session_state::SessionStateBuilder;
use datafusion::logical_expr::LogicalPlan;
use datafusion::sql::parser::Statement as Parsed;
use demure_core::event::Event;
use demure_core::random::{Randomness, SystemRandom};
use demure_ledger::{Anchor, Balances, Hash, Ledger, Price, Reading, Reservation};
use futures::{FutureExt, StreamExt};
use sha2::{Digest, Sha256};
use std::panic::AssertUnwindSafe;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use tokio::runtime::RuntimeFlavor;

/// A policy, its tables and its ledger: what answers questions.
pub struct Curator {
    pub(crate) policy: Policy,
    catalog: Catalog,
    engine: Box<dyn Engine>,
    ledger: Ledger,
    pub(crate) incidents: Incidents,
    randomness: Mutex<Box<dyn Randomness + Send>>,
    remembered: Remembered,
    pub(crate) flights: Arc<Flights>,
    last_balances: Mutex<Option<(Instant, Arc<Balances>)>>,
}

/// One analyst's conversation with a curator.
pub struct Session {
    pub(crate) curator: Arc<Curator>,
    pub(crate) who: String,
    settings: Settings,
}

/// What came of a statement.
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

/// In how many forms an answer may be stored, by builds of different times.
const FORMS: u32 = 16;

/// What shows the least ε of a new query: `SHOW demure.min_per_query`. The policy sets it.
const LEAST: &str = "demure.min_per_query";

impl Curator {
    /// Opens a policy file, its sources and its ledger.
    pub async fn open(path: &Path) -> Result<Arc<Self>> {
        Self::open_expecting(path, None).await
    }

    /// The same; the ledger must hold the entry that was noted elsewhere.
    pub async fn open_expecting(path: &Path, head: Option<&Anchor>) -> Result<Arc<Self>> {
        let (policy, ledger) = ledger_expecting(path, head)?;
        let incidents = Incidents::private(Policy::real_path(path).with_extension("incidents"))?;
        let randomness = Box::new(SystemRandom::new()?);
        let curator = Self::with(policy, ledger, incidents, randomness).await?;
        record_units(&curator.policy, &curator.ledger)?;
        Ok(curator)
    }

    /// A curator whose budget lives in memory: for demonstrations and tests.
    pub async fn in_memory(policy: Policy) -> Result<Arc<Self>> {
        Self::in_memory_with(policy, Box::new(SystemRandom::new()?)).await
    }

    /// The same with `randomness` to decide the noise: made-up people may have noise that repeats.
    pub async fn in_memory_with(
        policy: Policy,
        randomness: Box<dyn Randomness + Send>,
    ) -> Result<Arc<Self>> {
        let ledger = Ledger::in_memory(limit(&policy))?;
        Self::with(policy, ledger, Incidents::nowhere(), randomness).await
    }

    /// A curator with its parts given; `randomness` decides the noise.
    pub async fn with(
        policy: Policy,
        ledger: Ledger,
        incidents: Incidents,
        randomness: Box<dyn Randomness + Send>,
    ) -> Result<Arc<Self>> {
        let native = |state| Box::new(Native::new(state)) as Box<dyn Engine>;
        Self::with_engine(policy, ledger, incidents, randomness, native).await
    }

    /// The same with an engine of the caller's: `Native`, or `Windows` for what speaks SQL only.
    pub async fn with_engine(
        policy: Policy,
        ledger: Ledger,
        incidents: Incidents,
        randomness: Box<dyn Randomness + Send>,
        engine: impl FnOnce(SessionState) -> Box<dyn Engine>,
    ) -> Result<Arc<Self>> {
        let catalog = Catalog::open(&policy, SessionStateBuilder::new()).await?;
        let engine = engine(catalog.engine_state());
        Ok(Arc::new(Self {
            policy,
            catalog,
            engine,
            ledger,
            incidents,
            randomness: Mutex::new(randomness),
            remembered: Remembered::default(),
            flights: Arc::new(Flights::default()),
            last_balances: Mutex::new(None),
        }))
    }

    /// Writes down what only the steward may know, and returns what an analyst may: a number.
    #[must_use]
    pub fn incident(&self, details: &str) -> Error {
        self.incidents.record(details)
    }

    /// A session for somebody.
    #[must_use]
    pub fn session(self: &Arc<Self>, who: impl Into<String>) -> Session {
        Session { curator: Arc::clone(self), who: who.into(), settings: Settings::default() }
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

    pub(crate) fn concentrated(&self) -> bool {
        self.policy.budget.accounting == policy::Accounting::Zcdp
    }

    /// What an answer is found by. It is seen by whoever reads the journal, and sizes and times
    /// of protected files are in it: so it is made with the ledger's secret.
    fn key(&self, aggregate: &PrivateAggregate, quote: &Quote) -> String {
        let policy = self.policy.text_without_ledger();
        self.ledger.seal(&self.digest(&policy, aggregate, quote))
    }

    /// The key under which an answer is found: `key`, or the plain hash of what it is made of, if
    /// the answer was bought under that, before ledgers had secrets.
    fn key_in_use(
        &self,
        key: String,
        aggregate: &PrivateAggregate,
        quote: &Quote,
    ) -> Result<String> {
        if !self.ledger.has_plain_keys() || self.ledger.find(&key)?.is_some() {
            return Ok(key);
        }
        // Where the policy had no end of line at its end, it has one since it names its ledger.
        let policy = self.policy.text_without_ledger();
        for text in [&*policy, policy.trim_end_matches('\n')] {
            let digest = self.digest(text, aggregate, quote);
            let plain: String = digest.iter().map(|byte| format!("{byte:02x}")).collect();
            if self.ledger.find(&plain)?.is_some() {
                return Ok(plain);
            }
        }
        Ok(key)
    }

    /// Goes on to the key of the next form of an answer; false after the last.
    fn next_form(&self, priced: &mut Priced) -> bool {
        priced.form += 1;
        let text = format!("{} form {}", priced.first_key, priced.form);
        priced.key = self.ledger.seal(&Sha256::digest(text).into());
        priced.form < FORMS
    }

    /// Finds the key under which an answer is to be bought: the first under which none is stored that this build
    /// cannot read, whoever bought it.
    fn key_to_buy(&self, priced: &mut Priced) -> Result<()> {
        while let Some(bytes) = self.ledger.find(&priced.key)? {
            if priced.fitting(&bytes).is_some() || !self.next_form(priced) {
                break;
            }
        }
        Ok(())
    }

    /// The plan, the price, the policy and the sources. It must not leave the process.
    fn digest(&self, policy: &str, aggregate: &PrivateAggregate, quote: &Quote) -> Hash {
        let mut hash = Sha256::new();
        let mut part = |text: &str| {
            hash.update((text.len() as u64).to_le_bytes());
            hash.update(text.as_bytes());
        };
        part(policy);
        for table in &self.policy.tables {
            part(&table.name);
            part(self.catalog.table(&table.name).map_or("", |table| &table.version));
        }
        part(&quote.event.to_string());
        hash.update(aggregate.fingerprint());
        hash.finalize().into()
    }

    /// The plan as it is written, parameters and all.
    async fn written(&self, statement: Parsed) -> Result<LogicalPlan> {
        let plan = self.catalog.state().statement_to_plan(statement).await;
        let plan = plan.map_err(|e| Error::planning(&e))?;
        is_bare(&plan)?;
        extent::plan(&plan)?;
        Ok(plan)
    }

    /// The plan with its parameters' values in place and its types coerced.
    fn completed(&self, plan: LogicalPlan, values: &[ScalarValue]) -> Result<LogicalPlan> {
        let state = self.catalog.state();
        let planned = |e: DataFusionError| Error::planning(&e);
        let plan = match values {
            [] => plan,
            values => plan.with_param_values(values.to_vec()).map_err(planned)?,
        };
        let options = state.config_options();
        state.analyzer().execute_and_check(plan, options, |_, _| {}).map_err(planned)
    }

    /// Plans the engine's part, with a fresh key. No row is read yet.
    pub(crate) async fn prepare(
        &self,
        aggregate: &PrivateAggregate,
        quote: &Quote,
    ) -> Result<Task> {
        let key = Key::draw(&mut **self.rng())?;
        self.engine.prepare(aggregate.input.clone(), &quote.spec(aggregate), key).await
    }

    /// The source of noise. A thread that panicked while it held it left it as good as before.
    fn rng(&self) -> MutexGuard<'_, Box<dyn Randomness + Send>> {
        self.randomness.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Measures and noises one aggregate: its debit is on disk already. Nobody sees it yet.
    pub(crate) async fn measure(
        &self,
        p: &Priced,
        task: Task,
        paid: Reservation,
    ) -> Result<Measured> {
        // From here on protected rows may have been read.
        let reading = paid.begin()?;
        // A panic may quote what it stumbled over, as an error may.
        let exact = match AssertUnwindSafe(task.run()).catch_unwind().await {
            Ok(Ok(exact)) => exact,
            Ok(Err(error)) => return Err(self.incidents.record(&error.to_string())),
            Err(_) => return Err(self.incidents.record("the engine panicked")),
        };
        // What was read is what was checked; if not, what it cost stays spent.
        self.catalog.is_as_opened()?;
        let batch = release(&p.aggregate, &p.quote, &exact, &mut **self.rng())?;
        let bytes = to_bytes(&batch)
            .ok_or_else(|| Error::After("the released table could not be stored".to_owned()))?;
        Ok(Measured { reading, batch, bytes })
    }

    /// Stores what was bought, so that it may be shown and asked again.
    pub(crate) async fn settle(&self, measured: Measured) -> Result<RecordBatch> {
        let Measured { reading, batch, bytes } = measured;
        self.at_the_ledger(move |_| reading.settle(&bytes)).await??;
        Ok(batch)
    }

    /// Does what waits for the disk on a thread where waiting holds nobody up. Whoever stops
    /// waiting for it does not stop it: what is debited then stays spent.
    pub(crate) async fn at_the_ledger<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Ledger) -> T + Send + 'static,
    ) -> Result<T> {
        let ledger = self.ledger.clone();
        let done = tokio::task::spawn_blocking(move || work(&ledger)).await;
        done.map_err(|_| Error::Ledger(demure_ledger::Error::Interrupted))
    }

    /// What is spent and left and who is denied, not older than a tenth of a second.
    fn balances_lately(&self) -> Result<Arc<Balances>> {
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

/// A private aggregate, priced; its answer if that is free for whoever asks.
pub(crate) struct Priced {
    pub(crate) aggregate: PrivateAggregate,
    pub(crate) table: Arc<LaterTable>,
    pub(crate) quote: Quote,
    /// What the answer is found by, and stored under: in the first form, and in the form that this build reads.
    first_key: String,
    pub(crate) key: String,
    form: u32,
    pub(crate) known: Option<RecordBatch>,
}

impl Priced {
    /// Whether it has to be bought.
    fn unbought(&self) -> bool {
        self.known.is_none() && !free(&self.quote.event)
    }
}

/// What was bought, before anybody may see it.
pub(crate) struct Measured {
    reading: Reading,
    batch: RecordBatch,
    bytes: Vec<u8>,
}

impl Session {
    /// Answers, explains, or sets.
    pub async fn run(&mut self, sql: &str) -> Result<Outcome> {
        self.run_with(sql, &[]).await
    }

    /// The same with values for `$1`, `$2`, …
    pub async fn run_with(&mut self, sql: &str, values: &[ScalarValue]) -> Result<Outcome> {
        self.run_through(Arc::new(Open), sql, values).await
    }

    /// The same through a gate, which is asked before anything is bought and waited for before
    /// anything that was bought can be seen.
    pub async fn run_through(
        &mut self,
        gate: Arc<dyn Gate>,
        sql: &str,
        values: &[ScalarValue],
    ) -> Result<Outcome> {
        if let Some(answer) = self.curator.remembered.find(&self.who, sql, &self.settings, values) {
            let balances = self.curator.balances_lately()?;
            if !balances.denies(&self.who) {
                let balance = balances.dataset.clone();
                return Ok(Outcome::Answer(Box::new(answer.again(balance))));
            }
        }
        on_large_stack(words(sql), self.run_here(&gate, sql, values)).await
    }

    async fn run_here(
        &mut self,
        gate: &Arc<dyn Gate>,
        sql: &str,
        values: &[ScalarValue],
    ) -> Result<Outcome> {
        let state = self.curator.catalog.state();
        match parse(sql, &state)? {
            Statement::Query(query) => {
                let (answer, lasting) = self.answer(gate, *query, values, words(sql)).await?;
                if lasting {
                    let curator = &self.curator;
                    curator.remembered.keep(&self.who, sql, &self.settings, values, &answer);
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
                        "there is no such setting",
                        format!("there is: {}", names.join(", ")),
                    )
                    .into())
                }
            },
        }
    }

    /// What a query takes and gives, without asking it: the types of its parameters, where they
    /// are known, and its columns. Nothing is read.
    pub async fn describe(&self, sql: &str) -> Result<Description> {
        on_large_stack(words(sql), self.describe_here(sql)).await
    }

    async fn describe_here(&self, sql: &str) -> Result<Description> {
        let curator = &self.curator;
        let query = match parse(sql, &curator.catalog.state())? {
            Statement::Query(query) => *query,
            Statement::Explain(_) => return Ok(Description::of_text("explanation")),
            Statement::Show { name } => return Ok(Description::of_text(&name)),
            Statement::Set { .. } => return Ok(Description::default()),
        };
        let planned = |e: DataFusionError| Error::planning(&e);
        let plan = curator.written(query).await?;
        let types = parameter_types(&plan)?;
        let nulls: std::result::Result<Vec<ScalarValue>, _> =
            types.iter().map(ScalarValue::try_from).collect();
        let plan = curator.completed(plan, &nulls.map_err(planned)?)?;
        // Where values matter for what may be asked, the columns are known all the same.
        let plan = match analyse(&plan, &curator.catalog, &self.settings) {
            Ok(Analysis { after, .. }) if self.settings.intervals => {
                with_intervals(after).map_err(planned)?
            }
            Ok(Analysis { after, .. }) => after,
            Err(error) if types.is_empty() => return Err(error),
            Err(_) => plan,
        };
        Ok(Description { parameters: types, schema: Arc::new(plan.schema().as_arrow().clone()) })
    }

    /// What a query would cost; `sql` without `EXPLAIN PRIVACY`.
    pub async fn explanation(&self, sql: &str) -> Result<Explanation> {
        on_large_stack(words(sql), self.explanation_here(sql)).await
    }

    async fn explanation_here(&self, sql: &str) -> Result<Explanation> {
        let state = self.curator.catalog.state();
        match parse(sql, &state)? {
            Statement::Query(query) | Statement::Explain(query) => self.explain(*query).await,
            _ => Err(Refusal::new(Rule::Statement, "nothing to explain", "write SELECT …").into()),
        }
    }

    /// The session's settings.
    pub fn settings_mut(&mut self) -> &mut Settings {
        &mut self.settings
    }

    /// Who asks.
    #[must_use]
    pub fn who(&self) -> &str {
        &self.who
    }

    /// The curator it talks to.
    #[must_use]
    pub fn curator(&self) -> &Arc<Curator> {
        &self.curator
    }

    async fn priced(
        &self,
        query: Parsed,
        values: &[ScalarValue],
    ) -> Result<(LogicalPlan, Vec<Priced>)> {
        let curator = &self.curator;
        let plan = curator.completed(curator.written(query).await?, values)?;
        let Analysis { after, aggregates, publics, fans } =
            analyse(&plan, &curator.catalog, &self.settings)?;
        for (plan, rows) in publics {
            let frame = DataFrame::new(curator.catalog.public_state(), plan);
            let read = collected(frame, PUBLIC_MEMORY).await;
            read.and_then(|held| rows.hold(held.batches, held.memory))
                .map_err(|e| Error::planning(&e))?;
        }
        let fans = spread(fans)?;
        let mut priced = Vec::new();
        for (aggregate, table) in aggregates {
            let aggregate =
                share_rows(aggregate, &fans, &curator.policy, &curator.catalog.state())?;
            let quote = quote(&aggregate, &curator.policy.budget, &self.settings)?;
            let key = curator.key(&aggregate, &quote);
            let key = curator.key_in_use(key, &aggregate, &quote)?;
            let first_key = key.clone();
            let mut one = Priced { aggregate, table, quote, first_key, key, form: 0, known: None };
            one.known = self.known(&mut one)?;
            priced.push(one);
        }
        Ok((after, priced))
    }

    /// The answer that this analyst has already paid for. If another build stored it in a form that this one
    /// cannot read, the next key is tried: the answer is bought once more, and found from then on.
    ///
    /// What others bought is not looked at: how long it takes to price a question would depend on it.
    fn known(&self, priced: &mut Priced) -> Result<Option<RecordBatch>> {
        let (ledger, answers) = (&self.curator.ledger, self.curator.policy.budget.answers);
        while let Some(bytes) = ledger.recall(&self.who, &priced.key, answers)? {
            let table = priced.fitting(&bytes);
            if table.is_some() || !self.curator.next_form(priced) {
                return Ok(table);
            }
        }
        Ok(None)
    }

    async fn explain(&self, query: Parsed) -> Result<Explanation> {
        let (_, priced) = self.priced(query, &[]).await?;
        let curator = &self.curator;
        let filter = limit(&curator.policy).filter()?;
        let unbought: Vec<Event> = priced
            .iter()
            .filter(|p| p.known.is_none() && !free(&p.quote.event))
            .map(|p| p.quote.event.clone())
            .collect();
        let mut price = Price { main: 0.0, delta: 0.0 };
        for event in &unbought {
            let (main, delta) = filter.price(event)?;
            price = Price { main: price.main + main, delta: price.delta + delta };
        }
        let standing = curator.ledger.balance_for(&self.who)?;
        let mut notes = Vec::new();
        if let Some(epsilon) = priced.first().and_then(|first| first.quote.epsilon) {
            notes = advice(epsilon, curator.policy.budget.neighbours);
        }
        let quotes = priced.iter().filter(|p| p.unbought()).map(|p| &p.quote);
        if least::too_little(quotes, &curator.policy.budget).is_some() {
            let least = curator.policy.budget.min_per_query;
            notes.push(format!("a new query costs at least ε {least}: it would be refused"));
        }
        if let Some(frozen) = &standing.frozen {
            notes.push(format!("the budget is frozen by {}: it would be refused", frozen.by));
        } else if price.main > standing.left.main || price.delta > standing.left.delta {
            let which = &standing.which;
            let unless = match which {
                demure_ledger::Rule::Slice(_) => "",
                // What somebody else bought costs the dataset nothing.
                _ => " unless somebody has bought it before",
            };
            notes
                .push(format!("{which} does not have that much left: it would be refused{unless}"));
        }
        let explained =
            |p: &Priced| AggregateExplanation::new(&p.aggregate, &p.quote, p.known.is_some());
        Ok(Explanation {
            aggregates: priced.iter().map(explained).collect(),
            price,
            left: standing.left,
            concentrated: curator.concentrated(),
            notes,
        })
    }

    /// An answer, and whether it is the same whenever this is asked again.
    async fn answer(
        &self,
        gate: &Arc<dyn Gate>,
        query: Parsed,
        values: &[ScalarValue],
        words: usize,
    ) -> Result<(Answer, bool)> {
        let (after, mut priced) = self.priced(query, values).await?;
        let curator = &self.curator;
        let unbought = || priced.iter().filter(|p| p.unbought());
        let buys = unbought().next().is_some();
        if buys {
            least::check(unbought().map(|p| &p.quote), &curator.policy.budget)?;
            curator.catalog.is_as_opened()?;
            gate.admit(Reads::of(unbought().map(|p| &p.aggregate), &curator.policy))?;
        }
        for p in priced.iter_mut().filter(|p| p.unbought()) {
            curator.key_to_buy(p)?;
        }
        let priced: Vec<Arc<Priced>> = priced.into_iter().map(Arc::new).collect();
        let repeated = !priced.is_empty() && priced.iter().all(|p| p.known.is_some());
        let (tables, price) = self.obtain(gate, &priced, words).await?;
        for (p, table) in priced.iter().zip(tables) {
            p.table.fill(vec![table]).map_err(|e| Error::After(e.strip_backtrace()))?;
        }
        let after = match self.settings.intervals {
            true => with_intervals(after).map_err(|e| Error::After(e.strip_backtrace()))?,
            false => after,
        };
        let lasting = matches!(changing(&after), Ok(None));
        let (schema, held) = self.post_process(after).await?;
        let mut notes = Vec::new();
        let bought = priced.iter().find(|p| p.known.is_none());
        if let Some(epsilon) = bought.and_then(|p| p.quote.epsilon)
            && !(0.1..=5.0).contains(&epsilon.get())
        {
            notes = advice(epsilon, curator.policy.budget.neighbours);
        }
        let bought = !priced.is_empty();
        let columns = priced.iter().flat_map(|p| p.quote.columns.clone()).collect();
        let balance = curator.at_the_ledger(Ledger::balance).await??;
        let Held { batches, .. } = held;
        let answer = Answer { schema, batches, price, balance, repeated, columns, notes };
        Ok((answer, bought && lasting))
    }

    /// Everything above the cut: an ordinary query over released and public tables.
    async fn post_process(
        &self,
        plan: LogicalPlan,
    ) -> Result<(datafusion::arrow::datatypes::SchemaRef, Held)> {
        let mut state: SessionState = self.curator.catalog.public_state();
        // One partition: rows keep the order of the public keys where nobody asked for another.
        state.config_mut().options_mut().execution.target_partitions = 1;
        let frame = DataFrame::new(state, plan);
        let schema = Arc::new(frame.schema().as_arrow().clone());
        let held = collected(frame, PUBLIC_MEMORY).await;
        Ok((schema, held.map_err(|e| Error::After(e.strip_backtrace()))?))
    }
}

/// Rows in memory, counted with those of all statements for as long as this is held.
struct Held {
    batches: Vec<RecordBatch>,
    memory: MemoryReservation,
}

/// The rows of a plan that touches no protected row, if they are not too many: at most `most` bytes, and
/// with those of other statements no more than the pool has.
async fn collected(frame: DataFrame, most: usize) -> datafusion::error::Result<Held> {
    let memory = MemoryConsumer::new("rows held").register(frame.task_ctx().memory_pool());
    let (mut batches, mut bytes) = (Vec::new(), 0usize);
    let mut rows = frame.execute_stream().await?;
    while let Some(batch) = rows.next().await.transpose()? {
        // Of what is shown of them: several batches may be slices of one.
        for column in batch.columns() {
            bytes = bytes.saturating_add(column.to_data().get_slice_memory_size()?);
        }
        if bytes > most || memory.try_resize(bytes).is_err() {
            let what = "too many public or released rows to hold; ask for less at a time";
            return Err(DataFusionError::ResourcesExhausted(what.to_owned()));
        }
        batches.push(batch);
    }
    Ok(Held { batches, memory })
}

/// Runs on a stack with room for the planner, which recurses as deep as a statement nests: its own
/// stack if that has enough, which it has for a short statement, and a new one otherwise. 6,000 words,
/// the most there may be, have 150 MiB. While a long one is planned, others go on.
pub(crate) async fn on_large_stack<T>(words: usize, work: impl Future<Output = T>) -> T {
    const BASE: usize = 1 << 20;
    const EACH: usize = 24 << 10;
    const MOST: usize = 150 << 20;
    const LONG: usize = 500;
    let room = (BASE + EACH * words).min(MOST);
    let flavor = tokio::runtime::Handle::current().runtime_flavor();
    let alone = words > LONG && flavor == RuntimeFlavor::MultiThread;
    let mut work = std::pin::pin!(work);
    std::future::poll_fn(|context| {
        let mut poll = || stacker::maybe_grow(room, 2 * room, || work.as_mut().poll(context));
        if alone { tokio::task::block_in_place(poll) } else { poll() }
    })
    .await
}

/// At least as many as there are words and signs.
fn words(sql: &str) -> usize {
    let mut within = false;
    let starts = sql.chars().filter(|c| {
        let letter = c.is_alphanumeric() || *c == '_';
        let begins = !(c.is_whitespace() || letter && within);
        within = letter;
        begins
    });
    starts.count()
}

/// The types of `$1`, `$2`, …; text where nothing tells.
fn parameter_types(plan: &LogicalPlan) -> Result<Vec<DataType>> {
    let mut types = Vec::new();
    for (name, data_type) in plan.get_parameter_types().map_err(|e| Error::planning(&e))? {
        let number = name.trim_start_matches('$').parse().ok().filter(|n| (1..=1000).contains(n));
        let number: usize = number.ok_or_else(|| {
            Refusal::new(Rule::Setting, "a parameter without a number", "write $1, $2, …")
        })?;
        if types.len() < number {
            types.resize(number, DataType::Utf8);
        }
        types[number - 1] = data_type.unwrap_or(DataType::Utf8);
    }
    Ok(types)
}

/// Whether an event costs nothing: no mechanism was used.
pub(crate) fn free(event: &Event) -> bool {
    matches!(event, Event::Compose(events) if events.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;
    use datafusion::execution::runtime_env::RuntimeEnvBuilder;
    use datafusion::prelude::{SessionConfig, SessionContext};

    /// As the version before secrets left it: the answer is under the plain digest.
    #[tokio::test]
    async fn an_answer_under_a_plain_key_is_still_free() {
        const SQL: &str = "SELECT COUNT(*) AS n FROM people";
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("clinic.toml");
        std::fs::write(folder.path().join("people.csv"), "id\n1\n2\n3\n").unwrap();
        let text = "[budget]\nepsilon = 2.0\n[tables.people]\nsource = \"people.csv\"\n\
                    unit = \"id\"";
        std::fs::write(&path, text).unwrap();
        let policy = Policy::read(&path).unwrap();
        let before = Curator::in_memory(policy.clone()).await.unwrap();
        let session = before.session("ann");
        let Ok(Statement::Query(query)) = parse(SQL, &before.catalog.state()) else { panic!() };
        let (_, priced) = session.priced(*query, &[]).await.unwrap();
        let Outcome::Answer(_) = before.session("ann").run(SQL).await.unwrap() else { panic!() };
        let sealed = before.key(&priced[0].aggregate, &priced[0].quote);
        let bytes = before.ledger.find(&sealed).unwrap().unwrap();
        let digest = before.digest(text, &priced[0].aggregate, &priced[0].quote);
        let plain: String = digest.iter().map(|byte| format!("{byte:02x}")).collect();
        let clock = demure_ledger::wall_clock();
        let ledger = folder.path().join("clinic.ledger");
        let ledger = Ledger::open(&ledger, "clinic", limit(&policy), clock).unwrap();
        let event = priced[0].quote.event.clone();
        let request = demure_ledger::Request {
            who: "ann".into(),
            key: plain.clone(),
            query: SQL.into(),
            event,
        };
        ledger.reserve(&request).unwrap().begin().unwrap().settle(&bytes).unwrap();
        drop(ledger);

        let curator = Curator::open(&path).await.unwrap();
        assert!(curator.policy().ledger.is_some() && curator.ledger().has_plain_keys());
        let Outcome::Answer(answer) = curator.session("ann").run(SQL).await.unwrap() else {
            panic!()
        };
        assert!(answer.repeated && answer.price.main == 0.0);
        let spent = curator.ledger().balance().unwrap().spent.main;
        let Outcome::Answer(_) = curator.session("bob").run(SQL).await.unwrap() else { panic!() };
        assert_eq!(curator.ledger().balance().unwrap().spent.main, spent, "bob receives it");
        let Outcome::Answer(other) =
            curator.session("bob").run("SELECT COUNT(id) AS n FROM people").await.unwrap()
        else {
            panic!()
        };
        assert!(!other.repeated && curator.ledger().balance().unwrap().spent.main > spent);
        // What is bought now is under keys that nobody can compute.
        let keys: Vec<String> =
            curator.ledger().entries().unwrap().into_iter().map(|entry| entry.key).collect();
        let digest = curator.digest(text, &priced[0].aggregate, &priced[0].quote);
        assert!(keys.contains(&plain) && curator.ledger().seal(&digest) != plain);
    }

    /// Who knows the policy, the files and the question cannot compute the key.
    #[tokio::test]
    async fn keys_differ_between_ledgers_of_the_same_files() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("people.csv"), "id\n1\n2\n3\n").unwrap();
        let text = "[budget]\nepsilon = 2.0\n[tables.people]\nsource = \"people.csv\"\n\
                    unit = \"id\"\n";
        let mut keys = Vec::new();
        for name in ["one.toml", "two.toml"] {
            let path = folder.path().join(name);
            std::fs::write(&path, text).unwrap();
            let curator = Curator::open(&path).await.unwrap();
            curator.session("ann").run("SELECT COUNT(*) AS n FROM people").await.unwrap();
            let entries = curator.ledger().entries().unwrap();
            let bought = entries.iter().find(|e| e.kind == demure_ledger::Kind::Reserve).unwrap();
            keys.push((bought.key.clone(), bought.hash));
        }
        assert!(keys[0].0 != keys[1].0 && keys[0].1 != keys[1].1);
    }

    /// As another build left it: an answer that this one cannot read.
    #[tokio::test]
    async fn an_answer_that_cannot_be_read_is_bought_once_anew_and_then_found() {
        const SQL: &str = "SELECT COUNT(*) AS n FROM people";
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("clinic.toml");
        std::fs::write(folder.path().join("people.csv"), "id\n1\n2\n3\n").unwrap();
        let text = "[budget]\nepsilon = 8\nper_query = 1\n[tables.people]\n\
                    source = \"people.csv\"\nunit = \"id\"\n";
        std::fs::write(&path, text).unwrap();
        let curator = Curator::open(&path).await.unwrap();
        let Ok(Statement::Query(query)) = parse(SQL, &curator.catalog.state()) else { panic!() };
        let (_, priced) = curator.session("ann").priced(*query, &[]).await.unwrap();
        for (who, key) in [("ann", priced[0].key.clone()), ("eve", priced[0].key.clone())] {
            let event = priced[0].quote.event.clone();
            let request = demure_ledger::Request { who: who.into(), key, query: SQL.into(), event };
            let bought = curator.ledger().reserve(&request).unwrap();
            bought.begin().unwrap().settle(b"another form").unwrap();
        }
        drop(curator);
        let spent = |curator: &Curator| curator.ledger().balance().unwrap().spent.main;
        for (who, cost, in_all) in
            [("ann", 1.0, 3.0), ("ann", 0.0, 3.0), ("bob", 1.0, 3.0), ("bob", 0.0, 3.0)]
        {
            // A new process each time, which remembers nothing itself.
            let curator = Curator::open(&path).await.unwrap();
            let Outcome::Answer(answer) = curator.session(who).run(SQL).await.unwrap() else {
                panic!()
            };
            let near = |a: f64, b: f64| (a - b).abs() < 1e-9;
            assert!(near(answer.price.main, cost) && near(spent(&curator), in_all), "{who}");
            assert_eq!(answer.repeated, cost == 0.0, "{who}");
            curator.ledger().verify().unwrap();
        }
    }

    #[tokio::test]
    async fn rows_are_collected_up_to_a_limit() {
        let context = SessionContext::new();
        for (most, enough) in [(1 << 20, true), (79_000, false)] {
            let frame = context.sql("SELECT * FROM generate_series(1, 10000)").await.unwrap();
            let held = collected(frame, most).await;
            let rows = held.map(|held| held.batches.iter().map(RecordBatch::num_rows).sum());
            assert_eq!(rows.ok(), enough.then_some(10_000usize));
        }
    }

    #[tokio::test]
    async fn rows_of_all_statements_share_the_pool() {
        let runtime = RuntimeEnvBuilder::new().with_memory_limit(200_000, 1.0).build_arc().unwrap();
        let context = SessionContext::new_with_config_rt(SessionConfig::new(), runtime);
        let pool = Arc::clone(&context.runtime_env().memory_pool);
        let collect = || async {
            let frame = context.sql("SELECT * FROM generate_series(1, 10000)").await.unwrap();
            collected(frame, 1 << 20).await
        };
        let first = collect().await.unwrap();
        assert_eq!(pool.reserved(), 80_000);
        let second = collect().await.unwrap();
        assert!(collect().await.is_err(), "three do not fit");
        drop(first);
        let third = collect().await.unwrap();
        drop((second, third));
        assert_eq!(pool.reserved(), 0);
    }
}
