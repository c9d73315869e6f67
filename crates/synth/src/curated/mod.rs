//! A synthetic table of a `SELECT` under a policy: planned, priced, debited, read, synthesized.
//!
//! ```text
//! Offer ──► Paid ──► Synthetic
//! ```
//!
//! | stage | what is guaranteed |
//! |---|---|
//! | [`Offer`] | the `SELECT` is admitted, its columns have public domains, the price is known; nothing has been read |
//! | [`Paid`] | one debit of the whole run is on disk |
//! | [`Synthetic`] | rows, model and report: released, free to publish and to compute with |
//!
//! | file | what it holds |
//! |---|---|
//! | `domain.rs` | what a column can hold, by the policy: codes |
//! | `protected.rs` | **the only file that touches the curator's exact rows**: it counts them |
//! | `decode.rs` | codes as values of the source's types |
//! | `saved.rs`, `condition.rs` | a model that makes more rows, with a condition or without |
//! | `page.rs` | the report as a page |
//!
//! # Guarantee
//! Let the policy's unit change. Everything in [`Synthetic`] is as private as [`Price::event`] says, which is what was
//! debited.
//!
//! # Proof
//! The curator's rows change by at most [`TableQuestion::rows_per_unit`] = k rows, and the price is that of k rows for
//! each unit. The run asks of them through `Protected` alone, which counts them, and
//! [`crate::budget`] proves what a run costs. Decoding uses released codes and public domains. ∎
//!
//! # What this module does not do
//! It hides neither how long a run takes nor how much memory: it is for a steward's own machine, not for a server.

mod condition;
mod decode;
mod domain;
mod page;
mod protected;
mod saved;

pub use domain::Domain;
pub use saved::SavedModel;

use crate::budget::Price;
use crate::error::{Error, Result};
use crate::observe::Observer;
use crate::report::QualityReport;
use crate::run::Synthesizer;
use crate::schema::Schema;
use crate::table::CodedTable;
use datafusion::arrow::array::RecordBatch;
use demure_core::event::Event;
use demure_core::mechanism::Guarantee;
use demure_core::unit::Neighbours;
use demure_curator::{Coding, TableQuestion, TableReserved, price_in_words};
use demure_report::{Report, named, percent, short};
use protected::Protected;

/// What a run is asked for, besides its rows and price.
#[derive(Clone, Debug)]
pub struct Options {
    /// How many rows; otherwise the estimated number.
    pub rows: Option<usize>,
    /// A column that is to be predicted from the others.
    pub target: Option<String>,
    /// Conditions that no row may meet, as SQL writes them: `age < 15 AND smoker`. They are public knowledge and free.
    pub forbid: Vec<String>,
    /// Whether the quality of the rows is measured, for 2 % of the budget.
    pub report: bool,
    /// On how many threads.
    pub threads: usize,
}

impl Default for Options {
    fn default() -> Self {
        Self { rows: None, target: None, forbid: Vec::new(), report: true, threads: 2 }
    }
}

/// A synthetic table that can be bought.
pub struct Offer {
    question: TableQuestion,
    domains: Vec<Domain>,
    synthesizer: Synthesizer,
    concentrated: bool,
}

/// The same, with its debit on disk.
pub struct Paid {
    reserved: TableReserved,
    domains: Vec<Domain>,
    synthesizer: Synthesizer,
    /// What was debited, in words.
    pub cost: String,
}

/// What a run has made.
#[derive(Clone, Debug)]
pub struct Synthetic {
    /// The model, with what its codes stand for.
    pub saved: SavedModel,
    /// The rows, with the source's names and types.
    pub rows: RecordBatch,
    /// The same rows as codes.
    pub codes: CodedTable,
    /// How far they are from the source.
    pub report: Option<QualityReport>,
}

impl Offer {
    /// Prices a question at its ε and δ.
    ///
    /// # Errors
    /// A column has no public domain, or the policy no δ. Nothing is spent.
    pub fn new(question: TableQuestion, options: &Options) -> Result<Self> {
        let domains = Domain::of_all(question.columns())?;
        let columns = domains.iter().map(Domain::column).collect::<Result<Vec<_>>>()?;
        let schema = Schema::new(columns)?;
        let (epsilon, delta) = question.spend();
        if delta.get() <= 0.0 {
            return Err(Error::NoDelta);
        }
        let price = Price::new(Guarantee::Approximate(epsilon, delta), question.neighbours())?
            .rows_per_unit(question.rows_per_unit());
        let mut synthesizer = Synthesizer::new(schema.clone(), price).threads(options.threads);
        for condition in &options.forbid {
            synthesizer = synthesizer.rule(condition::forbidden(condition, &schema, &domains)?);
        }
        if !options.forbid.is_empty() {
            synthesizer.satisfiable()?;
        }
        if let Some(rows) = options.rows {
            synthesizer = synthesizer.rows(rows);
        }
        if let Some(target) = &options.target {
            synthesizer = synthesizer.target(target)?;
        }
        if !options.report {
            synthesizer = synthesizer.without_report();
        }
        let concentrated = question.concentrated();
        Ok(Self { question, domains, synthesizer, concentrated })
    }

    /// What is debited: one Gaussian for the whole run, or what it promises where a policy counts ε and δ.
    #[must_use]
    pub fn event(&self) -> Event {
        let price = self.synthesizer.price();
        if self.concentrated { price.event() } else { price.guarantee().event() }
    }

    /// The price, the noise and what an attacker may learn. Nothing is read or spent.
    pub fn explained(&self) -> Result<Report> {
        let price = self.synthesizer.price();
        let (epsilon, delta) = self.question.spend();
        let domains = self.domains.iter();
        let columns = domains.clone().map(|domain| (domain.name(), domain.in_words()));
        let noise = self.synthesizer.column_noise()?;
        // 95 of 100 draws of a normal are within 1.96 standard deviations.
        let noise = domains.zip(noise).map(|(domain, sigma)| {
            let rows = (1.96 * sigma.unwrap_or(0.0)).ceil();
            (domain.name(), format!("± {} rows", short(rows)))
        });
        let k = self.question.rows_per_unit();
        let unit = match (self.question.is_of_people(), k.get()) {
            (false, 1) => "a person has one row, or a row is the unit".to_owned(),
            (false, k) => format!("a row of the source makes at most {k} rows"),
            (true, 1) => "at most 1 row of each person; further ones are left out".to_owned(),
            (true, k) => format!(
                "at most {k} rows of each person; further ones are left out, and all noise is {k} times as wide"
            ),
        };
        let mut report =
            Report::default().field("select", self.question.sql()).field("columns", named(columns));
        if !self.question.ids().is_empty() {
            let ids = self.question.ids().to_vec();
            let words = format!("{} (says whose row it is)", ids.join(", "));
            report = report.described("left_out", ids, words);
        }
        let advantage = price.advantage()?;
        let who = match self.question.neighbours() {
            Neighbours::AddRemove => "whether someone is in the data",
            Neighbours::Replace => "which of two possible records someone has",
        };
        Ok(report
            .described("rows_per_unit", k.get(), unit)
            .hidden("epsilon", epsilon.get())
            .described(
                "delta",
                delta.get(),
                format!("{:e}, the probability with which ε = {} may fail", delta.get(), short(epsilon.get())),
            )
            .described(
                "price",
                self.event().to_string(),
                format!("ε {}, once, for rows, model and report together", short(epsilon.get())),
            )
            .field("mu", price.mu())
            .described(
                "attacker",
                advantage,
                format!(
                    "betting on {who}, right in at most {} of cases instead of 50 %, whatever else is known",
                    percent(0.5 + 0.5 * advantage)
                ),
            )
            .described(
                "noise",
                named(noise.clone()),
                demure_report::plain(&named(noise)) + "\non each count of a column's histogram, in 95 of 100 cases",
            ))
    }

    /// Makes the debit.
    ///
    /// # Errors
    /// The budget does not allow it: nothing is spent.
    pub async fn bought(self) -> Result<Paid> {
        let event = self.event();
        let Self { question, domains, synthesizer, concentrated } = self;
        let codings: Vec<Coding> = domains.iter().map(Domain::coding).collect();
        let reserved = question.reserved(&codings, event).await?;
        let cost = price_in_words(&reserved.price(), concentrated);
        Ok(Paid { reserved, domains, synthesizer, cost })
    }
}

impl Paid {
    /// Reads the rows and synthesizes. What was paid stays spent, whatever happens.
    pub async fn made(self, mut observer: impl Observer + Send + 'static) -> Result<Synthetic> {
        let Self { reserved, domains, synthesizer, .. } = self;
        let read = reserved.read().await?;
        let made = read.release(move |codes, rng| {
            let made = synthesizer.run_observed(&Protected(codes), rng, &mut observer)?;
            let rows = decode::batch(&domains, &made.rows, rng)?;
            let saved = SavedModel::new(domains, made.model);
            Ok::<_, Error>(Synthetic { saved, rows, codes: made.rows, report: made.report })
        });
        made.await?
    }
}
