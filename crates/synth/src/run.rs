//! A run: measures a table with a budget that is divided beforehand, fits a model, draws rows and reports on them.
//!
//! 1. *Columns.* 40 % of the budget buys a histogram of each column, with shares in proportion to `codes^0.8`. The
//!    number of rows is their
//!    inverse-variance mean.
//! 2. *Resolutions.* Bins of each column come from its noised histogram.
//! 3. *Three rounds.* Every pair is scored against the model at up to eight resolutions (4, 3 and 3 %); those where
//!    the model is furthest
//!    off are measured (15, 25 and 60 % of the rest); the model is fitted anew.
//! 4. *Rows* are drawn and polished.
//! 5. *Report.* 2 % buys the noised error of every pair of these rows.
//!
//! All fractions are constants of this file and of the public schema. So the total is known before anything is read:
//! [`crate::budget`] proves what it costs.

use crate::budget::{Price, WHOLE, quanta};
use crate::candidates::{Candidate, candidates, score};
use crate::choose::{Choice, Limits, choose};
use crate::error::{Error, Result};
use crate::fit::{self, Fit, Observation};
use crate::known::Known;
use crate::measure::{Counts, Meter};
use crate::model::Model;
use crate::observe::{Observer, Stage};
use crate::profile::{OneWay, Profile};
use crate::report::{QualityReport, report};
use crate::rows::rows;
use crate::rules::{Rule, Rules};
use crate::schema::Schema;
use crate::table::CodedTable;
use crate::view::{Axis, Level, View};
use demure_core::random::Randomness;

/// The share of the budget for one-way histograms.
const COLUMNS: f64 = 0.40;
/// How a column's share grows with its number of codes.
const GROWTH: f64 = 0.8;
/// The share of the budget for the scores of each round.
const SCORES: [f64; 3] = [0.04, 0.03, 0.03];
/// Each round's share of the budget for histograms of pairs.
const ROUNDS: [f64; 3] = [0.15, 0.25, 0.60];
/// The most new pairs of a round, for each column.
const NEW_PAIRS: [usize; 3] = [1, 1, 4];
/// The share of the budget for the quality report.
const REPORT: f64 = 0.02;
/// How much more pairs with a target column matter.
const TARGET: f64 = 3.0;

/// Makes a synthetic table: see [the crate](crate) for an example.
#[derive(Clone, Debug)]
pub struct Synthesizer {
    schema: Schema,
    price: Price,
    rules: Vec<Rule>,
    known: Known,
    /// How much the pair a < b matters, at `a·width + b`.
    weights: Vec<f64>,
    rows: Option<usize>,
    report: bool,
    threads: usize,
}

/// What a run has made. All of it is released: free to publish, keep and compute with.
#[derive(Clone, Debug)]
pub struct Synthesis {
    /// The model, from which more rows can be drawn.
    pub model: Model,
    /// The synthetic rows.
    pub rows: CodedTable,
    /// How far the rows are from the table; `None` if it was not asked for, or if there are no rows or no pairs.
    pub report: Option<QualityReport>,
}

impl Synthesizer {
    /// For a table of these columns and a price.
    #[must_use]
    pub fn new(schema: Schema, price: Price) -> Self {
        let width = schema.width();
        Self {
            known: Known::nothing(width),
            weights: vec![1.0; width * width],
            schema,
            price,
            rules: Vec::new(),
            rows: None,
            report: true,
            threads: 2,
        }
    }

    /// Adds a rule that every row obeys.
    #[must_use]
    pub fn rule(mut self, rule: Rule) -> Self {
        self.rules.push(rule);
        self
    }

    /// Uses a public histogram of one or two columns, as shares or counts, with the last column's codes fastest. It
    /// costs nothing; a public histogram of one column also frees the budget of that column.
    pub fn public_marginal(mut self, columns: &[&str], weights: &[f64]) -> Result<Self> {
        self.known.add(&self.schema, columns, weights)?;
        Ok(self)
    }

    /// The number of rows is public, as under [`Neighbours::Replace`](demure_core::unit::Neighbours::Replace).
    #[must_use]
    pub fn public_rows(mut self, rows: usize) -> Self {
        self.known.total = Some(rows as f64);
        self
    }

    /// Pairs with this column matter three times as much: for a table from which it is to be predicted.
    pub fn target(mut self, column: &str) -> Result<Self> {
        let target = self.schema.position(column)?;
        let width = self.schema.width();
        for other in 0..width {
            self.weights[other.min(target) * width + other.max(target)] *= TARGET;
        }
        Ok(self)
    }

    /// How much a pair of columns matters, relative to 1 for the others: a number from 0.001 to 1000.
    pub fn weight(mut self, columns: (&str, &str), weight: f64) -> Result<Self> {
        let (a, b) = (self.schema.position(columns.0)?, self.schema.position(columns.1)?);
        if a == b || !(1e-3..=1e3).contains(&weight) {
            return Err(Error::OutOfRange {
                parameter: "the weight of a pair of two different columns",
                allowed: "between 0.001 and 1000",
            });
        }
        self.weights[a.min(b) * self.schema.width() + a.max(b)] = weight;
        Ok(self)
    }

    /// How many rows to draw; otherwise the estimated number of rows of the table.
    #[must_use]
    pub fn rows(self, rows: usize) -> Self {
        Self { rows: Some(rows), ..self }
    }

    /// Without a quality report: its 2 % go to the measurements.
    #[must_use]
    pub fn without_report(self) -> Self {
        Self { report: false, ..self }
    }

    /// On how many threads to count and polish (2 unless set). The result does depend on it only for tables of more
    /// than 60,000 rows.
    #[must_use]
    pub fn threads(self, threads: usize) -> Self {
        Self { threads: threads.clamp(1, 256), ..self }
    }

    /// What a run costs.
    #[must_use]
    pub fn price(&self) -> &Price {
        &self.price
    }

    /// Measures the table and makes rows.
    ///
    /// # Guarantee
    /// The result is as private as [`Price::event`] says, whatever the table holds; also if it is an error.
    /// # Proof
    /// The table is asked through `Meter` alone, which pays for each release out of one purse: see
    /// [`crate::budget`]. Whether a run fails depends on the schema, on released numbers and on whether `counts`
    /// could be read. ∎
    /// # Special values
    /// A table without rows gives a valid table, which may have a few rows: the number of rows is noised too.
    pub fn run(&self, counts: &dyn Counts, rng: &mut dyn Randomness) -> Result<Synthesis> {
        self.run_observed(counts, rng, &mut ())
    }

    /// The same, watched by an observer.
    pub fn run_observed(
        &self,
        counts: &dyn Counts,
        rng: &mut dyn Randomness,
        observer: &mut dyn Observer,
    ) -> Result<Synthesis> {
        let rules = Rules::new(self.rules.clone(), self.schema.width());
        let mut meter = Meter::new(counts, &self.price, rng, observer, self.threads);
        begin(&mut meter, Stage::Columns)?;
        let one_ways = self.columns(&mut meter)?;
        let total = self.total(&one_ways)?;
        let rows_at_least = total.max(1.0);
        let profiles = self.profiles(&one_ways, rows_at_least, &rules)?;
        let one_ways = one_ways.into_iter().zip(&profiles).map(|(one_way, profile)| {
            one_way.unwrap_or_else(|| Known::one_way(profile, rows_at_least))
        });

        let mut fit = Fit::new(profiles.clone(), one_ways.collect(), rows_at_least, self.row_mu()?);
        self.known.pairs(&profiles, rows_at_least).into_iter().for_each(|known| fit.add(known));
        if self.known.any() {
            fit.closely();
        }
        let width = self.schema.width();
        let mut candidates = candidates(&profiles, |a, b| self.weights[a * width + b]);
        let mut estimate = fit.estimate()?;
        if !candidates.is_empty() {
            let measure = (meter.left() as f64 / WHOLE as f64)
                - SCORES.iter().sum::<f64>()
                - self.report_share();
            for round in 0..ROUNDS.len() {
                begin(&mut meter, Stage::Round(round + 1))?;
                score(&mut candidates, &estimate, &mut meter, SCORES[round], self.threads)?;
                let budget = match round + 1 == ROUNDS.len() {
                    true => meter.left().saturating_sub(quanta(self.report_share())),
                    false => quanta(ROUNDS[round] * measure),
                };
                let choices = self.choose(&candidates, &fit, round, budget)?;
                self.measure(&mut meter, &mut fit, &candidates, &choices, budget)?;
                estimate = fit.estimate()?;
            }
        }

        begin(&mut meter, Stage::Rows)?;
        let model = Model {
            schema: self.schema.clone(),
            price: self.price.clone(),
            estimate,
            rules,
            total,
        };
        let count = self.rows.unwrap_or_else(|| model.rows());
        let rows = rows(&model.estimate, &model.rules, count, self.threads, meter.rng())?;
        let mut found = None;
        if self.report && !candidates.is_empty() && count > 0 {
            begin(&mut meter, Stage::Report)?;
            let left = meter.left();
            let threads = self.threads;
            found = Some(report(
                &mut meter,
                &rows,
                &profiles,
                &candidates,
                rows_at_least,
                left,
                threads,
            )?);
        }
        Ok(Synthesis { model, rows, report: found })
    }

    /// Checks that some row meets all rules. Nothing but the schema is looked at.
    ///
    /// # Errors
    /// There is none, or the search for one gave up.
    pub fn satisfiable(&self) -> Result<()> {
        let rules = Rules::new(self.rules.clone(), self.schema.width());
        let alike = vec![None; self.schema.width()];
        rules.some_row(&self.profiles(&alike, 1.0, &rules)?).map(drop)
    }

    /// The standard deviation of the noise on each count of a column's histogram, in rows, for each column; `None` for
    /// those whose histogram is public. It is known before anything is read.
    pub fn column_noise(&self) -> Result<Vec<Option<f64>>> {
        let row_mu = self.row_mu()?;
        let noise = |share: f64| (share > 0.0).then(|| 1.0 / (row_mu * share.sqrt()));
        Ok(self.column_shares().into_iter().map(noise).collect())
    }

    /// The share of the budget that each column's histogram gets.
    fn column_shares(&self) -> Vec<f64> {
        let columns = self.schema.columns();
        let weight = |column: usize| match self.known.shares(column) {
            Some(_) => 0.0,
            None => (columns[column].codes() as f64).powf(GROWTH),
        };
        let weights: Vec<f64> = (0..columns.len()).map(weight).collect();
        let sum: f64 = weights.iter().sum();
        // Without pairs there is nothing else to buy.
        let pairs = columns.iter().filter(|column| column.codes() > 1).count() > 1;
        let all = if pairs { COLUMNS } else { 1.0 };
        weights
            .into_iter()
            .map(|weight| if weight > 0.0 { all * weight / sum } else { 0.0 })
            .collect()
    }

    /// How many standard deviations of noise 1 one row moves a histogram that gets the whole budget.
    fn row_mu(&self) -> Result<f64> {
        Ok(self.price.mu() / self.price.histogram_sensitivity()?.get())
    }

    fn report_share(&self) -> f64 {
        if self.report { REPORT } else { 0.0 }
    }

    /// The one-way histograms, but for public ones.
    fn columns(&self, meter: &mut Meter<'_>) -> Result<Vec<Option<OneWay>>> {
        let columns = self.schema.columns();
        let mut found = Vec::with_capacity(columns.len());
        for (position, (column, share)) in columns.iter().zip(self.column_shares()).enumerate() {
            if share == 0.0 {
                found.push(None);
                continue;
            }
            let view = View::new(vec![Axis::new(position, &Level::full(column.codes()))]);
            let quanta = quanta(share).min(meter.left());
            found.push(Some(meter.histogram(&view, quanta)?.into()));
        }
        Ok(found)
    }

    /// The number of rows: public, or the mean of what the histograms say, weighted by their inverse variances.
    fn total(&self, one_ways: &[Option<OneWay>]) -> Result<f64> {
        if let Some(total) = self.known.total {
            return Ok(total);
        }
        let (mut sum, mut weights) = (0.0, 0.0);
        for one_way in one_ways.iter().flatten() {
            let weight = 1.0 / (one_way.variance * one_way.counts.len() as f64);
            sum += weight * one_way.counts.iter().sum::<f64>();
            weights += weight;
        }
        if weights > 0.0 {
            return Ok(sum / weights);
        }
        Err(Error::Shape {
            what: "all columns have public histograms, so nothing tells the number of rows",
            remedy: "give the number of rows as public too",
        })
    }

    fn profiles(
        &self,
        one_ways: &[Option<OneWay>],
        total: f64,
        rules: &Rules,
    ) -> Result<Vec<Profile>> {
        let columns = self.schema.columns().iter().zip(one_ways).enumerate();
        columns
            .map(|(position, (column, one_way))| {
                let allowed = rules.allowed(position, column.codes());
                if !allowed.contains(&true) {
                    return Err(Error::Unsatisfiable);
                }
                Ok(match (one_way, self.known.shares(position)) {
                    (_, Some(shares)) => Profile::from_shares(column, shares, &allowed),
                    (Some(one_way), None) => Profile::of(column, one_way, total, &allowed),
                    (None, None) => {
                        Profile::from_shares(column, &vec![1.0; column.codes()], &allowed)
                    }
                })
            })
            .collect()
    }

    fn choose(
        &self,
        candidates: &[Candidate],
        fit: &Fit,
        round: usize,
        budget: u64,
    ) -> Result<Vec<Choice>> {
        let limits = Limits {
            forest: round == 0,
            most: NEW_PAIRS[round] * self.schema.width(),
            cells: fit::MOST_CELLS,
            outside: round > 0,
        };
        let precision = self.row_mu()?.powi(2) * budget as f64 / WHOLE as f64;
        let pairs = fit.pairs();
        Ok(choose(candidates, fit.profiles(), fit.resolution(), &pairs, precision, &limits))
    }

    /// Measures the chosen pairs for their shares of `budget` quanta.
    fn measure(
        &self,
        meter: &mut Meter<'_>,
        fit: &mut Fit,
        candidates: &[Candidate],
        choices: &[Choice],
        budget: u64,
    ) -> Result<()> {
        let sum: f64 = choices.iter().map(|choice| choice.precision).sum();
        for choice in choices {
            let candidate = &candidates[choice.candidate];
            let share = (budget as f64 * (choice.precision / sum)) as u64;
            if share == 0 || share > meter.left() {
                continue;
            }
            let axis = |i: usize| {
                let column = candidate.columns[i];
                Axis::new(column, &fit.profiles()[column].levels[candidate.levels[i]])
            };
            let noised = meter.histogram(&View::new(vec![axis(0), axis(1)]), share)?;
            let observation = Observation::new(
                candidate.columns.to_vec(),
                candidate.levels.to_vec(),
                noised.counts().to_vec(),
                noised.variance(),
            );
            if choice.outside { fit.add_outside(observation) } else { fit.add(observation) }
        }
        Ok(())
    }
}

fn begin(meter: &mut Meter<'_>, stage: Stage) -> Result<()> {
    match meter.observer().stage(stage) {
        std::ops::ControlFlow::Continue(()) => Ok(()),
        std::ops::ControlFlow::Break(()) => Err(Error::Stopped),
    }
}
