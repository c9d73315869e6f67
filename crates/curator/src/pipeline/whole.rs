//! Rows for a synthetic table: the stages of a question whose answer is made outside the curator.
//!
//! [`TableQuestion`] → [`TableReserved`] → [`TableRead`] → whatever was released
//!
//! | stage | what is guaranteed |
//! |---|---|
//! | `TableQuestion` | the `SELECT` is admitted and its columns are known; no protected row has been read |
//! | `TableReserved` | the debit is on disk |
//! | `TableRead` | protected rows were read as public codes, at most so many of each person; the debit is spent |
//!
//! # Guarantee
//! The rows that [`TableRead::release`] hands to its caller are those of the `SELECT`, as codes ([`Coding`]). Adding or
//! removing one unit adds or removes at most [`TableQuestion::rows_per_unit`] of them.
//!
//! # Proof
//! If a row is the unit, each makes at most `copies` rows of the `SELECT` ([`crate::rows::Owner`]). If a person is the
//! unit, [`crate::bound`] keeps at most that many rows of each, chosen from that person's rows alone; the codes of a row
//! are a function of the row ([`crate::rows::coding`]). ∎
//!
//! # What this module does not do
//! It adds no noise: the caller promises that what it releases costs no more than the event that it names. It does not
//! hide how long reading takes, so a server must not offer it.

use super::collected::collected;
use super::{Asker, bind_parameters, plan_statement, workers};
use crate::aggregate::Spend;
use crate::bound::{Argument, BoundSpec, Exact, ExactArgument, Form, Key, Task};
use crate::curator::Curator;
use crate::error::{Error, Result};
use crate::plan::{Listings, WholeRows, join_fanout, share_input, whole_rows};
use crate::policy::Accounting;
use crate::refusal::{Refusal, Rule};
use crate::rows::coding::{Codes, Coding, codes_of, read_codes};
use crate::rows::expression::Facts;
use crate::rows::times::{is_moment, tick};
use crate::rows::{Owner, RESERVED, domain};
use crate::statement::parse::{Statement, parse};
use crate::tables::catalog::PUBLIC_MEMORY;
use crate::words::short;
use datafusion::arrow::datatypes::DataType;
use datafusion::common::{Column, ExprSchema, ScalarValue};
use datafusion::dataframe::DataFrame;
use datafusion::logical_expr::{Expr, LogicalPlan, LogicalPlanBuilder};
use demure_core::event::Event;
use demure_core::random::Randomness;
use demure_core::unit::{Delta, Epsilon, Neighbours};
use demure_ledger::{Price, Purchase, Reading, Request, Reservation};
use futures::FutureExt;
use sha2::{Digest, Sha256};
use std::fmt;
use std::num::NonZeroU32;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;

/// The most rows of one unit in a synthetic table.
const MOST_ROWS: u32 = 1 << 20;

/// A column of the rows, and what is publicly known of it.
#[derive(Clone, Debug, PartialEq)]
pub struct TableColumn {
    /// Its name.
    pub name: String,
    /// Its type, as queries see it.
    pub data_type: DataType,
    /// Whether it may be NULL.
    pub nullable: bool,
    /// What its values can be.
    pub known: KnownValues,
    /// The table and column that it is, if it is not computed.
    pub origin: Option<(String, String)>,
}

/// What is publicly known of a column's values.
#[derive(Clone, Debug, PartialEq)]
pub enum KnownValues {
    /// These and no others.
    Listed(Codes),
    /// Numbers between these; days of a date, and units of the type of a time.
    Between {
        /// The least.
        low: f64,
        /// The largest.
        high: f64,
        /// Whether they are whole.
        whole: bool,
        /// The spacing that the policy declares.
        grid: Option<f64>,
    },
    /// Nothing.
    Nothing,
}

/// A `SELECT` of protected rows, admitted but not paid for.
pub struct TableQuestion {
    curator: Arc<Curator>,
    who: String,
    sql: String,
    rows: WholeRows,
    input: LogicalPlan,
    columns: Vec<TableColumn>,
    ids: Vec<String>,
    rows_per_unit: NonZeroU32,
    spend: Spend,
}

/// The same, with its debit on disk.
pub struct TableReserved {
    curator: Arc<Curator>,
    task: Task,
    width: usize,
    reservation: Reservation,
}

/// Its rows, read for a debit that can no longer be reversed. Protected.
pub struct TableRead {
    curator: Arc<Curator>,
    codes: ExactCodes,
    reading: Reading,
}

/// Rows as codes, equal ones counted together. Protected: `Debug` shows nothing.
pub struct ExactCodes {
    columns: Vec<Vec<u16>>,
    counts: Vec<u64>,
}

impl ExactCodes {
    /// The codes of each column: one for each different row.
    #[must_use]
    pub fn columns(&self) -> &[Vec<u16>] {
        &self.columns
    }

    /// How often each of these rows occurs.
    #[must_use]
    pub fn counts(&self) -> &[u64] {
        &self.counts
    }
}

impl fmt::Debug for ExactCodes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ExactCodes(protected)")
    }
}

impl TableQuestion {
    /// Plans a `SELECT`, or all columns of a table if its name is given. `rows_per_unit` is how many rows of a person
    /// count, instead of the policy's number.
    pub(crate) async fn new(
        asker: Asker<'_>,
        sql: &str,
        rows_per_unit: Option<NonZeroU32>,
    ) -> Result<Self> {
        let curator = asker.curator;
        let (policy, catalog) = (&curator.policy, &curator.catalog);
        let sql = match policy.table(sql.trim()) {
            Some(table) => format!("SELECT * FROM {}", table.name),
            None => sql.trim().trim_end_matches(';').to_owned(),
        };
        let query = match parse(&sql, &catalog.state(), catalog.names())? {
            Statement::Query(query) => *query,
            _ => {
                let what = "a synthetic table is made of the rows of a SELECT";
                return Err(Refusal::new(Rule::Statement, what, "write SELECT … FROM …").into());
            }
        };
        let plan = plan_statement(catalog, query).await?;
        let plan = bind_parameters(catalog, plan, &[])?;
        let listings = Listings::read(&plan, catalog).await?;
        let mut rows = whole_rows(&plan, catalog, asker.settings, &listings)?;
        for (plan, held) in std::mem::take(&mut rows.publics) {
            let frame = DataFrame::new(catalog.public_state(), plan);
            let read = collected(frame, PUBLIC_MEMORY).await;
            read.and_then(|rows| held.hold(rows.batches, rows.memory))
                .map_err(|e| Error::planning(&e))?;
        }
        let (mut columns, mut kept, mut ids) = (Vec::new(), Vec::new(), Vec::new());
        for (column, facts) in rows.columns() {
            if facts.unit || facts.unit_or_null {
                ids.push(column.name);
                continue;
            }
            columns.push(described(&rows, &column, facts, curator));
            kept.push(column);
        }
        if columns.is_empty() {
            let what = "the SELECT has no column but the person's id";
            return Err(Refusal::new(Rule::Rows, what, "select other columns too").into());
        }
        let fanouts = join_fanout(std::mem::take(&mut rows.public_joins))?;
        let input = share_input(&rows.input(&kept)?, &fanouts, policy, &catalog.state())?;
        let rows_per_unit = rows_of_unit(&rows, rows_per_unit)?;
        let spend = Spend::of(asker.settings, &policy.budget)?;
        let least = policy.budget.min_per_query;
        if spend.epsilon < least {
            let asked = short(spend.epsilon.get());
            return Err(Refusal::new(
                Rule::Least,
                format!("ε {asked} is asked for, and a release costs at least ε {least}; nothing was spent"),
                format!("ask for ε {least} or more, as the policy's `min_per_query` says"),
            )
            .into());
        }
        let (curator, who) = (Arc::clone(curator), asker.who.to_owned());
        Ok(Self { curator, who, sql, rows, input, columns, ids, rows_per_unit, spend })
    }

    /// The statement.
    #[must_use]
    pub fn sql(&self) -> &str {
        &self.sql
    }

    /// Its columns, but for people's ids.
    #[must_use]
    pub fn columns(&self) -> &[TableColumn] {
        &self.columns
    }

    /// The columns that are left out, because they say whose row it is.
    #[must_use]
    pub fn ids(&self) -> &[String] {
        &self.ids
    }

    /// Whether a person is the unit, and may have several rows in the source.
    #[must_use]
    pub fn is_of_people(&self) -> bool {
        matches!(self.rows.rows.owner, Owner::Person { once: false, .. })
    }

    /// How many rows of one unit count.
    #[must_use]
    pub fn rows_per_unit(&self) -> NonZeroU32 {
        self.rows_per_unit
    }

    /// The ε and δ that are asked for: the session's settings, or the policy's defaults.
    #[must_use]
    pub fn spend(&self) -> (Epsilon, Delta) {
        (self.spend.epsilon, self.spend.delta)
    }

    /// The neighbour relation of the policy.
    #[must_use]
    pub fn neighbours(&self) -> Neighbours {
        self.curator.policy.budget.neighbours
    }

    /// Whether costs are counted in ρ.
    #[must_use]
    pub fn concentrated(&self) -> bool {
        self.curator.policy.budget.accounting == Accounting::Zcdp
    }

    /// Debits the event. `codings` are the public domains of [`Self::columns`], in their order.
    ///
    /// # Errors
    /// The budget does not allow it, or the rows cannot be planned: nothing is spent.
    pub async fn reserved(self, codings: &[Coding], event: Event) -> Result<TableReserved> {
        let Self { curator, who, sql, rows, input, columns, rows_per_unit, .. } = self;
        if codings.len() != columns.len() {
            return Err(Error::Sql("every column needs a domain".to_owned()));
        }
        let bounded = matches!(rows.rows.owner, Owner::Person { once: false, .. });
        let task = prepared(&curator, input, codings, bounded, rows_per_unit).await?;
        let mut secret = [0u8; 32];
        for byte in &mut secret {
            *byte = demure_core::sample::uniform_below(256, &mut **curator.rng())? as u8;
        }
        let (width, k) = (columns.len(), rows_per_unit);
        let names: Vec<&str> = columns.iter().map(|column| column.name.as_str()).collect();
        let query = format!(
            "SYNTHETIC TABLE of {}, at most {k} rows of each unit\n{sql}",
            names.join(", ")
        );
        // Every run draws noise of its own, so no two have the same key.
        let key = curator.ledger.seal(&Sha256::digest(secret).into());
        let request = Request { who, key, query, event };
        let answers = curator.policy.budget.answers;
        let bought = curator.at_the_ledger(move |ledger| ledger.purchase(&request, answers));
        match bought.await?? {
            Purchase::Reserved(reservation) => {
                Ok(TableReserved { curator, task, width, reservation })
            }
            Purchase::Given { .. } => Err(Error::Unreadable),
        }
    }
}

/// Plans the reading of the rows, as codes. No row is read.
async fn prepared(
    curator: &Curator,
    input: LogicalPlan,
    codings: &[Coding],
    bounded: bool,
    rows_per_unit: NonZeroU32,
) -> Result<Task> {
    let mut columns = input.schema().columns().into_iter().map(Expr::Column);
    let mut exprs: Vec<Expr> = columns.by_ref().take(usize::from(bounded)).collect();
    exprs.push(codes_of(columns.collect(), codings).alias(format!("{RESERVED}codes")));
    let input = LogicalPlanBuilder::from(input).project(exprs).and_then(LogicalPlanBuilder::build);
    let input = input.map_err(|e| Error::planning(&e))?;
    let spec = BoundSpec {
        unit: bounded.then_some(0),
        keys: Vec::new(),
        arguments: vec![Argument { column: usize::from(bounded), form: Form::Code }],
        max_groups: 1,
        max_rows: rows_per_unit.get(),
        weighing: None,
    };
    let key = Key::draw(&mut **curator.rng())?;
    curator.engine.prepare(input, &spec, key).await
}

impl TableReserved {
    /// The price.
    #[must_use]
    pub fn price(&self) -> Price {
        self.reservation.price()
    }

    /// Reads the rows.
    ///
    /// # Errors
    /// What was paid stays spent.
    pub async fn read(self) -> Result<TableRead> {
        let Self { curator, task, width, reservation } = self;
        // From here on protected rows may have been read.
        let reading = reservation.begin()?;
        let of = Arc::clone(&curator);
        let work = async move {
            // Panic messages may contain protected data, just like errors.
            let exact = match AssertUnwindSafe(task.run(&reading)).catch_unwind().await {
                Ok(Ok(exact)) => exact,
                Ok(Err(error)) => return Err(of.incidents.record(&error.to_string())),
                Err(_) => return Err(of.incidents.record("the engine panicked")),
            };
            of.catalog.verify_unchanged().map_err(|error| Error::Paid(Box::new(error)))?;
            let codes = codes(exact, width);
            let codes = codes.ok_or_else(|| of.incidents.record("codes were lost"))?;
            Ok((codes, reading))
        };
        let panicked = |_| Err(curator.incidents.record("reading panicked"));
        let (codes, reading) = workers::run(work).await.unwrap_or_else(panicked)?;
        Ok(TableRead { curator, codes, reading })
    }
}

/// The rows of exact aggregates: their one argument holds the codes.
fn codes(exact: Exact, width: usize) -> Option<ExactCodes> {
    let mut found = ExactCodes { columns: vec![Vec::new(); width], counts: Vec::new() };
    // Without rows there is no group.
    for group in exact.groups {
        let Some(ExactArgument::Code(values)) = group.arguments.into_iter().next() else {
            return None;
        };
        for (value, count) in values {
            for (column, code) in found.columns.iter_mut().zip(read_codes(&value, width)?) {
                column.push(code);
            }
            found.counts.push(count);
        }
    }
    Some(found)
}

impl TableRead {
    /// Releases what `make` computes from the rows, with noise from the curator's source, once the ledger has recorded
    /// that it was answered.
    ///
    /// What `make` returns is shown: it must cost no more than the event that was debited, errors included.
    pub async fn release<T, E>(
        self,
        make: impl FnOnce(&ExactCodes, &mut dyn Randomness) -> std::result::Result<T, E>
        + Send
        + 'static,
    ) -> Result<std::result::Result<T, E>>
    where
        T: Send + 'static,
        E: Send + 'static,
    {
        let Self { curator, codes, reading } = self;
        let of = Arc::clone(&curator);
        let work = move || {
            let mut rng = of.rng();
            make(&codes, &mut **rng)
        };
        // A panic message may contain protected data.
        let panicked = |_| curator.incidents.record("the release panicked");
        let made = tokio::task::spawn_blocking(work).await.map_err(panicked)?;
        if made.is_ok() {
            let settled =
                curator.at_the_ledger(move |_| reading.settle(b"synthetic table")).await?;
            settled.map_err(|error| curator.incidents.record(&error.to_string()))?;
        }
        Ok(made)
    }
}

/// How many rows of a unit count: what was asked for, what the policy says, or how many there can be.
fn rows_of_unit(rows: &WholeRows, asked: Option<NonZeroU32>) -> Result<NonZeroU32> {
    let limits = rows.rows.limits;
    let most = match &rows.rows.owner {
        Owner::Row { copies } => *copies,
        Owner::Person { once: true, .. } => 1,
        Owner::Person { once: false, .. } => match asked {
            Some(asked) => asked.get(),
            None if limits.learnt => {
                return Err(Refusal::new(
                    Rule::Setting,
                    "nothing says how many rows of one person count in a synthetic table",
                    "give the number, such as `--rows-per-person 3`: noise grows in proportion to it, and further rows \
                     of a person are left out; or write max_groups and max_rows_per_group into the policy",
                )
                .into());
            }
            None => limits.groups.saturating_mul(limits.rows),
        },
    };
    match NonZeroU32::new(most.max(1)).filter(|most| most.get() <= MOST_ROWS) {
        Some(most) => Ok(most),
        None => Err(Refusal::new(
            Rule::Join,
            format!("one unit may make {most} rows of this SELECT, and {MOST_ROWS} is the most"),
            "join fewer tables, or let fewer rows of a person count",
        )
        .into()),
    }
}

/// What is publicly known of a column.
fn described(rows: &WholeRows, column: &Column, facts: &Facts, curator: &Curator) -> TableColumn {
    let rows = &rows.rows;
    let field = rows.schema().field_from_column(column);
    let data_type = field.map_or(DataType::Null, |field| field.data_type().clone());
    let text = matches!(data_type, DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View);
    let (name, origin, nullable) = (column.name.clone(), facts.origin.clone(), facts.nullable);
    let state = curator.catalog.state();
    let listed = match &facts.values {
        Some(values) => Some(values.clone()),
        None if text => domain::values(&Expr::Column(column.clone()), rows, &state),
        None => None,
    };
    let known = match listed.and_then(|values| listed_codes(&values, &data_type)) {
        _ if data_type == DataType::Boolean => KnownValues::Listed(Codes::Booleans),
        Some(codes) => KnownValues::Listed(codes),
        None => match facts.interval.finite() {
            Some((low, high)) if data_type.is_numeric() => {
                let grid = facts.grid.map(|power| 2f64.powi(power));
                KnownValues::Between { low, high, whole: data_type.is_integer(), grid }
            }
            Some((low, high)) if is_moment(&data_type) => {
                let unit = tick_of(&data_type);
                let (low, high) = ((low * unit).floor(), (high * unit).floor());
                KnownValues::Between { low, high, whole: true, grid: None }
            }
            _ => KnownValues::Nothing,
        },
    };
    TableColumn { name, data_type, nullable, known, origin }
}

/// How many units of a date's or time's type are in a microsecond.
fn tick_of(data_type: &DataType) -> f64 {
    match data_type {
        DataType::Date64 => 1e-3,
        DataType::Timestamp(datafusion::arrow::datatypes::TimeUnit::Nanosecond, _) => 1e3,
        other => 1.0 / tick(other) as f64,
    }
}

/// Listed values as codes, numbers in their order.
fn listed_codes(values: &[ScalarValue], data_type: &DataType) -> Option<Codes> {
    let values = values.iter().filter(|value| !value.is_null());
    if matches!(data_type, DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View) {
        let texts = values.map(|value| value.try_as_str().flatten().map(str::to_owned));
        return texts.collect::<Option<Vec<String>>>().map(Codes::Texts);
    }
    let mut numbers = values.map(Codes::number_of).collect::<Option<Vec<f64>>>()?;
    numbers.sort_by(f64::total_cmp);
    numbers.dedup();
    Some(Codes::Numbers(numbers))
}
