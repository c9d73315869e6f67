//! A curator and its sessions: `Sql → Plan → PrivatePlan → Quote → Reservation → Exact →
//! Release → Answer`, each stage by value.

use crate::analyse::{Analysis, PrivateAggregate, analyse};
use crate::answer::{Answer, Description, from_bytes, to_bytes};
use crate::bound::{Engine, Key, Native, Task};
use crate::catalog::{Catalog, PUBLIC_MEMORY};
use crate::error::{Error, Result};
use crate::explain::{AggregateExplanation, Explanation, advice};
use crate::extent;
use crate::incident::Incidents;
use crate::intervals::with_intervals;
use crate::parse::{Statement, is_bare, parse};
use crate::policy::{self, Policy};
use crate::price::{Quote, quote};
use crate::refusal::{Refusal, Rule};
use crate::release::{public_keys, release};
use crate::released::LaterTable;
use crate::remembered::Remembered;
use crate::settings::{SETTINGS, Settings};
use datafusion::arrow::array::RecordBatch;
use datafusion::arrow::datatypes::DataType;
use datafusion::common::ScalarValue;
use datafusion::common::tree_node::{TreeNode, TreeNodeRecursion};
use datafusion::dataframe::DataFrame;
use datafusion::error::DataFusionError;
use datafusion::execution::SessionState;
use datafusion::execution::session_state::SessionStateBuilder;
use datafusion::logical_expr::{Expr, LogicalPlan, Volatility};
use datafusion::sql::parser::Statement as Parsed;
use demure_core::event::Event;
use demure_core::random::{Randomness, SystemRandom};
use demure_ledger::{Accounting, Balance, Ledger, Limit, Price, Request, Reservation};
use futures::{FutureExt, StreamExt};
use sha2::{Digest, Sha256};
use std::panic::AssertUnwindSafe;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use tokio::runtime::RuntimeFlavor;

/// A policy, its tables and its ledger: what answers questions.
pub struct Curator {
    policy: Policy,
    catalog: Catalog,
    engine: Box<dyn Engine>,
    ledger: Ledger,
    incidents: Incidents,
    randomness: Mutex<Box<dyn Randomness + Send>>,
    remembered: Remembered,
    last_balance: Mutex<Option<(Instant, Balance)>>,
}

/// One analyst's conversation with a curator.
pub struct Session {
    curator: Arc<Curator>,
    who: String,
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

/// Where the ledger of a policy is kept: beside it.
#[must_use]
pub fn ledger_path(policy: &Path) -> PathBuf {
    policy.with_extension("ledger")
}

/// The environment variable with the address of a PostgreSQL ledger that several curators share.
pub const SHARED_LEDGER: &str = "DEMURE_LEDGER";

/// Opens the ledger of a policy without its sources.
pub fn ledger_of(path: &Path) -> Result<(Policy, Ledger)> {
    let policy = Policy::read(path)?;
    let limit = limit(&policy);
    let ledger = open_ledger(path, limit)?;
    Ok((policy, ledger))
}

/// The file beside the policy, or where [`SHARED_LEDGER`] says.
fn open_ledger(path: &Path, limit: Limit) -> Result<Ledger> {
    let clock = demure_ledger::wall_clock();
    let dataset = path.file_stem().unwrap_or_default().to_string_lossy();
    match std::env::var(SHARED_LEDGER) {
        Ok(address) if !address.is_empty() => {
            Ok(Ledger::connect(&address, &dataset, limit, clock)?)
        }
        _ => Ok(Ledger::open(&ledger_path(path), &dataset, limit, clock)?),
    }
}

impl Curator {
    /// Opens a policy file, its sources and its ledger.
    pub async fn open(path: &Path) -> Result<Arc<Self>> {
        let (policy, ledger) = ledger_of(path)?;
        let incidents = Incidents::file(path.with_extension("incidents"));
        Self::with(policy, ledger, incidents, Box::new(SystemRandom::new()?)).await
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
            last_balance: Mutex::new(None),
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

    fn concentrated(&self) -> bool {
        self.policy.budget.accounting == policy::Accounting::Zcdp
    }

    /// What an answer is found by: the plan, the price, the policy and the sources.
    fn key(&self, aggregate: &PrivateAggregate, quote: &Quote) -> String {
        let mut hash = Sha256::new();
        let mut part = |text: &str| {
            hash.update((text.len() as u64).to_le_bytes());
            hash.update(text.as_bytes());
        };
        part(&self.policy.text);
        for table in &self.policy.tables {
            part(&table.name);
            part(self.catalog.table(&table.name).map_or("", |table| &table.version));
        }
        part(&quote.event.to_string());
        hash.update(aggregate.fingerprint());
        hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
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
    async fn prepare(&self, aggregate: &PrivateAggregate, quote: &Quote) -> Result<Task> {
        let key = Key::draw(&mut **self.rng())?;
        self.engine.prepare(aggregate.input.clone(), &quote.spec(aggregate), key).await
    }

    /// The source of noise. A thread that panicked while it held it left it as good as before.
    fn rng(&self) -> MutexGuard<'_, Box<dyn Randomness + Send>> {
        self.randomness.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Buys one aggregate: its debit is on disk already.
    async fn buy(&self, p: &Priced, task: Task, paid: Reservation) -> Result<RecordBatch> {
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
        self.at_the_ledger(move |_| reading.settle(&bytes)).await??;
        Ok(batch)
    }

    /// Does what waits for the disk on a thread where waiting holds nobody up. Whoever stops
    /// waiting for it does not stop it: what is debited then stays spent.
    async fn at_the_ledger<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Ledger) -> T + Send + 'static,
    ) -> Result<T> {
        let ledger = self.ledger.clone();
        let done = tokio::task::spawn_blocking(move || work(&ledger)).await;
        done.map_err(|_| Error::Ledger(demure_ledger::Error::Interrupted))
    }

    /// What is spent and left, not older than a tenth of a second.
    fn balance_lately(&self) -> Result<Balance> {
        const AGE: Duration = Duration::from_millis(100);
        let mut last = self.last_balance.lock().unwrap_or_else(PoisonError::into_inner);
        match &*last {
            Some((at, balance)) if at.elapsed() < AGE => Ok(balance.clone()),
            _ => {
                let balance = self.ledger.balance()?;
                *last = Some((Instant::now(), balance.clone()));
                Ok(balance)
            }
        }
    }
}

fn limit(policy: &Policy) -> Limit {
    Limit {
        accounting: match policy.budget.accounting {
            policy::Accounting::Pure => Accounting::Pure,
            policy::Accounting::Zcdp => Accounting::Zcdp,
        },
        epsilon: policy.budget.epsilon,
        delta: policy.budget.delta,
        neighbours: policy.budget.neighbours,
    }
}

/// A private aggregate, priced; its answer if it was bought before.
struct Priced {
    aggregate: PrivateAggregate,
    table: Arc<LaterTable>,
    quote: Quote,
    key: String,
    known: Option<RecordBatch>,
}

impl Session {
    /// Answers, explains, or sets.
    pub async fn run(&mut self, sql: &str) -> Result<Outcome> {
        self.run_with(sql, &[]).await
    }

    /// The same with values for `$1`, `$2`, …
    pub async fn run_with(&mut self, sql: &str, values: &[ScalarValue]) -> Result<Outcome> {
        if let Some(answer) = self.curator.remembered.find(sql, &self.settings, values) {
            let balance = self.curator.balance_lately()?;
            return Ok(Outcome::Answer(Box::new(answer.again(balance))));
        }
        on_large_stack(sql, self.run_here(sql, values)).await
    }

    async fn run_here(&mut self, sql: &str, values: &[ScalarValue]) -> Result<Outcome> {
        let state = self.curator.catalog.state();
        match parse(sql, &state)? {
            Statement::Query(query) => {
                let (answer, lasting) = self.answer(*query, values).await?;
                if lasting {
                    self.curator.remembered.keep(sql, &self.settings, values, &answer);
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
        on_large_stack(sql, self.describe_here(sql)).await
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
        on_large_stack(sql, self.explanation_here(sql)).await
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
            read.and_then(|batches| rows.fill(batches)).map_err(|e| Error::planning(&e))?;
        }
        spread(&fans)?;
        let mut priced = Vec::new();
        for (aggregate, table) in aggregates {
            let quote = quote(&aggregate, &curator.policy.budget, &self.settings)?;
            let key = curator.key(&aggregate, &quote);
            let known = curator.ledger.find(&key)?.and_then(|bytes| from_bytes(&bytes));
            let known = known.filter(|batch| table.fits(batch));
            priced.push(Priced { aggregate, table, quote, key, known });
        }
        Ok((after, priced))
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
        if let Some(frozen) = &standing.frozen {
            notes.push(format!("the budget is frozen by {}: it would be refused", frozen.by));
        } else if price.main > standing.left.main || price.delta > standing.left.delta {
            let which = &standing.which;
            notes.push(format!("{which} does not have that much left: it would be refused"));
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
    async fn answer(&self, query: Parsed, values: &[ScalarValue]) -> Result<(Answer, bool)> {
        let (after, priced) = self.priced(query, values).await?;
        let curator = &self.curator;
        if priced.iter().any(|p| p.known.is_none() && !free(&p.quote.event)) {
            curator.catalog.is_as_opened()?;
        }
        // Plans first, as they cost nothing; then all debits, before any row is read: one that is
        // refused takes the others back.
        let mut prepared = Vec::new();
        for p in &priced {
            prepared.push(match p.known.is_some() || free(&p.quote.event) {
                true => None,
                false => Some(curator.prepare(&p.aggregate, &p.quote).await?),
            });
        }
        let mut reservations: Vec<Option<Reservation>> = Vec::new();
        let mut price = Price { main: 0.0, delta: 0.0 };
        for p in &priced {
            if p.known.is_some() || free(&p.quote.event) {
                reservations.push(None);
                continue;
            }
            let request = Request {
                who: self.who.clone(),
                key: p.key.clone(),
                query: p.aggregate.text(),
                event: p.quote.event.clone(),
            };
            match curator.at_the_ledger(move |ledger| ledger.reserve(&request)).await? {
                Ok(reservation) => {
                    let charged = reservation.price();
                    price.main += charged.main;
                    price.delta += charged.delta;
                    reservations.push(Some(reservation));
                }
                Err(error) => {
                    for reservation in reservations.into_iter().flatten() {
                        reservation.cancel()?;
                    }
                    return Err(error.into());
                }
            }
        }
        let repeated = !priced.is_empty() && priced.iter().all(|p| p.known.is_some());
        for ((p, reservation), prepared) in priced.iter().zip(reservations).zip(prepared) {
            let batch = match (&p.known, reservation, prepared) {
                (Some(batch), ..) => batch.clone(),
                (None, Some(paid), Some(prepared)) => curator.buy(p, prepared, paid).await?,
                // Public keys alone: nothing of it comes from the data.
                _ => public_keys(&p.aggregate)?,
            };
            p.table.fill(vec![batch]).map_err(|e| Error::After(e.strip_backtrace()))?;
        }
        let after = match self.settings.intervals {
            true => with_intervals(after).map_err(|e| Error::After(e.strip_backtrace()))?,
            false => after,
        };
        let lasting = is_lasting(&after);
        let (schema, batches) = self.post_process(after).await?;
        let mut notes = Vec::new();
        let bought = priced.iter().find(|p| p.known.is_none());
        if let Some(epsilon) = bought.and_then(|p| p.quote.epsilon)
            && !(0.1..=5.0).contains(&epsilon.get())
        {
            notes = advice(epsilon, curator.policy.budget.neighbours);
        }
        let bought = !priced.is_empty();
        let columns = priced.into_iter().flat_map(|p| p.quote.columns).collect();
        let balance = curator.at_the_ledger(Ledger::balance).await??;
        let answer = Answer { schema, batches, price, balance, repeated, columns, notes };
        Ok((answer, bought && lasting))
    }

    /// Everything above the cut: an ordinary query over released and public tables.
    async fn post_process(
        &self,
        plan: LogicalPlan,
    ) -> Result<(datafusion::arrow::datatypes::SchemaRef, Vec<RecordBatch>)> {
        let mut state: SessionState = self.curator.catalog.public_state();
        // One partition: rows keep the order of the public keys where nobody asked for another.
        state.config_mut().options_mut().execution.target_partitions = 1;
        let frame = DataFrame::new(state, plan);
        let schema = Arc::new(frame.schema().as_arrow().clone());
        let batches = collected(frame, PUBLIC_MEMORY).await;
        let batches = batches.map_err(|e| Error::After(e.strip_backtrace()))?;
        Ok((schema, batches))
    }
}

/// The rows of a plan that touches no protected row, if they are not too many.
async fn collected(frame: DataFrame, most: usize) -> datafusion::error::Result<Vec<RecordBatch>> {
    let (mut batches, mut bytes) = (Vec::new(), 0usize);
    let mut rows = frame.execute_stream().await?;
    while let Some(batch) = rows.next().await.transpose()? {
        // Of what is shown of them: several batches may be slices of one.
        for column in batch.columns() {
            bytes = bytes.saturating_add(column.to_data().get_slice_memory_size()?);
        }
        if bytes > most {
            let what = "too many public or released rows to hold; ask for less at a time";
            return Err(DataFusionError::ResourcesExhausted(what.to_owned()));
        }
        batches.push(batch);
    }
    Ok(batches)
}

/// Runs on a stack with room for the planner, which recurses as deep as a statement nests: its own
/// stack if that has enough, which it has for a short statement, and a new one otherwise. 6,000 words,
/// the most there may be, have 150 MiB. While a long one is planned, others go on.
async fn on_large_stack<T>(sql: &str, work: impl Future<Output = T>) -> T {
    const BASE: usize = 1 << 20;
    const EACH: usize = 24 << 10;
    const MOST: usize = 150 << 20;
    const LONG: usize = 500;
    let words = words(sql);
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

/// Whether a plan over released rows gives the same whenever it is run.
fn is_lasting(plan: &LogicalPlan) -> bool {
    let mut lasting = true;
    let looked = plan.apply_with_subqueries(|node| {
        node.apply_expressions(|expr| {
            expr.apply(|part| {
                if let Expr::ScalarFunction(call) = part {
                    lasting &= call.func.signature().volatility == Volatility::Immutable;
                }
                Ok(TreeNodeRecursion::Continue)
            })
        })
    });
    lasting && looked.is_ok()
}

/// Refuses joins with public tables that make very many rows of one: which rows they are made of
/// would show in the time that it takes. Nothing but public rows is looked at.
fn spread(fans: &[(Arc<LaterTable>, Vec<usize>)]) -> Result<()> {
    const MOST: usize = 10_000;
    let mut rows = 1usize;
    for (table, columns) in fans {
        let most = table.most_alike(columns).map_err(|e| Error::planning(&e))?;
        rows = rows.saturating_mul(most.max(1));
    }
    if rows <= MOST {
        return Ok(());
    }
    let what = format!("joins with public tables that may make {rows} rows of one");
    let remedy = "join on more columns, or on a key; at most 10,000 rows may come of one";
    Err(Refusal::new(Rule::Join, what, remedy).into())
}

/// Whether an event costs nothing: no mechanism was used.
fn free(event: &Event) -> bool {
    matches!(event, Event::Compose(events) if events.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;
    use datafusion::prelude::SessionContext;

    #[tokio::test]
    async fn rows_are_collected_up_to_a_limit() {
        let context = SessionContext::new();
        for (most, enough) in [(1 << 20, true), (79_000, false)] {
            let frame = context.sql("SELECT * FROM generate_series(1, 10000)").await.unwrap();
            let batches = collected(frame, most).await;
            let rows = batches.map(|all| all.iter().map(RecordBatch::num_rows).sum::<usize>());
            assert_eq!(rows.ok(), enough.then_some(10_000));
        }
    }
}
