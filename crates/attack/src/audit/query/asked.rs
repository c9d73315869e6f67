//! A question, asked of a curator over each of two databases, as often as one likes.

use crate::audit::sides::Sides;
use crate::audit::{Output, Source, word};
use crate::curator::runtime;
use crate::error::{Error, Result};
use datafusion::arrow::array::{Array, AsArray, RecordBatch};
use datafusion::arrow::compute::cast;
use datafusion::arrow::datatypes::{DataType, Float64Type};
use demure_core::unit::{Delta, Epsilon};
use demure_curator::policy::Policy;
use demure_curator::{Curator, Outcome, Session};
use demure_ledger::Price;
use std::collections::BTreeMap;
use std::path::Path;
use tokio::runtime::Runtime;

/// ε and δ of a budget in memory, which nothing is protected by.
const BUDGET: (f64, f64) = (1e9, 0.999);

/// A question to curators over neighbouring databases.
pub(super) struct Asked<'a> {
    policy: &'a Policy,
    table: String,
    sql: &'a str,
    pairs: Vec<Sides>,
    settings: (Option<Epsilon>, Option<Delta>),
    runtime: Runtime,
    /// The session of each side of the pair that is open.
    open: Option<(usize, [Side; 2])>,
    /// Keys of the answers, in the order in which they were first seen: the places of an output.
    keys: Keys,
    asked: u64,
    /// What the last answer cost.
    price: Price,
}

struct Side {
    session: Session,
    /// What was left of the budget after the last answer.
    left: Option<Price>,
}

impl Side {
    /// Whether another answer of about this price can be bought.
    fn affords(&self, price: Price) -> bool {
        let enough = |left: Price| {
            price.main * (1.0 + 1e-6) <= left.main && price.delta * (1.0 + 1e-6) <= left.delta
        };
        self.left.is_none_or(enough)
    }
}

impl<'a> Asked<'a> {
    pub(super) fn new(
        policy: &'a Policy,
        table: &str,
        sql: &'a str,
        pairs: Vec<Sides>,
        settings: (Option<Epsilon>, Option<Delta>),
    ) -> Result<Self> {
        let (table, runtime) = (table.to_owned(), runtime()?);
        let (open, keys) = (None, Keys::default());
        let price = Price::ZERO;
        Ok(Self { policy, table, sql, pairs, settings, runtime, open, keys, asked: 0, price })
    }

    /// What one answer is charged: the same on every side of every pair, or something is wrong.
    pub(super) fn price(&mut self) -> Result<Price> {
        let mut found: Option<Price> = None;
        // The first pair last: it is asked next.
        for pair in (0..self.pairs.len()).rev() {
            let mut sides = self.opened(pair)?;
            for side in &mut sides {
                let price = self.ask(side)?.1;
                let so_far = found.unwrap_or(price);
                // The jitter of ε keeps answers from being had for nothing; nothing else may tell them apart.
                if (price.main / so_far.main - 1.0).abs() > 1e-6 || price.delta != so_far.delta {
                    return Err(Error::PriceDependsOnData);
                }
                found = Some(Price { main: price.main.max(so_far.main), delta: price.delta });
            }
            self.open = Some((pair, sides));
        }
        found.ok_or(Error::NoNeighbours)
    }

    fn side(&self, path: &Path) -> Result<Side> {
        let mut policy = self.policy.clone();
        policy.budget.epsilon = Epsilon::new(BUDGET.0)?;
        policy.budget.delta = Delta::new(BUDGET.1)?;
        for table in policy.tables.iter_mut().filter(|table| table.name == self.table) {
            table.source = path.display().to_string();
        }
        let curator = self.runtime.block_on(Curator::in_memory(policy))?;
        Ok(Side { session: curator.session("audit"), left: None })
    }

    fn opened(&mut self, pair: usize) -> Result<[Side; 2]> {
        match self.open.take() {
            Some((open, sides)) if open == pair => Ok(sides),
            _ => {
                let [left, right] = &self.pairs[pair].paths;
                Ok([self.side(left)?, self.side(right)?])
            }
        }
    }

    /// One answer, bought anew: the ε asked for differs each time by less than a millionth, so that no price is the
    /// same and the ledger has no answer ready.
    fn ask(&mut self, side: &mut Side) -> Result<(Output, Price)> {
        self.asked += 1;
        let asked = self.settings.0.unwrap_or(self.policy.budget.per_query).get();
        let jitter = 1.0 - 1e-7 * (self.asked as f64 / (self.asked as f64 + 1e5));
        let settings = side.session.settings_mut();
        settings.epsilon = Some(Epsilon::new(asked * jitter)?);
        settings.delta = self.settings.1.or(settings.delta);
        // A question that is refused convicts nobody.
        let answered = self.runtime.block_on(side.session.run(self.sql)).map_err(unanswered)?;
        let Outcome::Answer(answer) = answered else { return Err(Error::NoAnswer) };
        if answer.repeated {
            return Err(Error::NoNoise);
        }
        side.left = Some(answer.balance.left);
        self.price = answer.price;
        let noised: Vec<String> = answer.columns.iter().map(|column| column.name.clone()).collect();
        Ok((self.output(&answer.batches, &noised), answer.price))
    }

    /// An answer as numbers: a place for every value of every key.
    fn output(&mut self, batches: &[RecordBatch], noised: &[String]) -> Output {
        let mut output = vec![f64::NAN; self.keys.places.len()];
        for batch in batches {
            let schema = batch.schema();
            let columns: Vec<Vec<Cell>> = batch.columns().iter().map(|c| cells(c)).collect();
            let is_value: Vec<bool> = {
                let named = |i: usize| noised.contains(schema.field(i).name());
                let some = (0..columns.len()).any(named);
                // Where an expression hides which columns have noise, reals have.
                (0..columns.len())
                    .map(|i| if some { named(i) } else { !is_key(schema.field(i).data_type()) })
                    .collect()
            };
            for row in 0..batch.num_rows() {
                let at = |i: usize| columns.get(i).and_then(|column| column.get(row));
                let key: Vec<String> = (0..columns.len())
                    .filter(|&i| !is_value[i])
                    .map(|i| at(i).map_or(String::new(), |cell| cell.text.clone()))
                    .collect();
                for i in (0..columns.len()).filter(|&i| is_value[i]) {
                    let name = format!("{i}\u{1f}{}", key.join("\u{1f}"));
                    let number = at(i).map_or(f64::NAN, |cell| cell.number);
                    self.keys.put(name, number, &mut output);
                }
                if !is_value.contains(&true) {
                    // Keys alone: that it is there is the answer.
                    self.keys.put(key.join("\u{1f}"), 1.0, &mut output);
                }
            }
        }
        output
    }
}

/// Why there is no answer to audit: a failure of the audit and not of the curator.
fn unanswered(error: demure_curator::Error) -> Error {
    match error.refusal() {
        Some((what, remedy)) => Error::Refused { what, remedy },
        None => error.into(),
    }
}

/// The place of every key in an output. New ones are added until they are settled; then what is not
/// known shares one place after all others, which counts them.
#[derive(Default)]
struct Keys {
    places: BTreeMap<String, usize>,
    settled: bool,
}

impl Keys {
    fn put(&mut self, key: String, number: f64, output: &mut Output) {
        let next = self.places.len();
        let (place, number) = match self.places.get(&key) {
            Some(place) => (*place, number),
            None if self.settled => {
                let others = output.get(next).copied().filter(|others| !others.is_nan());
                (next, others.unwrap_or(0.0) + 1.0)
            }
            None => {
                self.places.insert(key, next);
                (next, number)
            }
        };
        output.resize(output.len().max(place + 1), f64::NAN);
        output[place] = number;
    }
}

/// One value of an answer.
struct Cell {
    text: String,
    number: f64,
}

fn is_key(kind: &DataType) -> bool {
    !matches!(
        kind,
        DataType::Float64 | DataType::Float32 | DataType::Int64 | DataType::Decimal128(..)
    )
}

fn cells(column: &dyn Array) -> Vec<Cell> {
    let texts = cast(column, &DataType::Utf8).ok();
    let reals = match column.data_type() {
        DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View | DataType::Boolean => None,
        _ => cast(column, &DataType::Float64).ok(),
    };
    let one = |row: usize| {
        let text = match &texts {
            Some(texts) if texts.is_valid(row) => texts.as_string::<i32>().value(row).to_owned(),
            _ => String::new(),
        };
        let number = match &reals {
            _ if column.is_null(row) => f64::NAN,
            Some(reals) if reals.is_valid(row) => reals.as_primitive::<Float64Type>().value(row),
            _ => word(&text),
        };
        Cell { text, number }
    };
    (0..column.len()).map(one).collect()
}

impl Source for Asked<'_> {
    type Error = Error;

    fn pairs(&self) -> usize {
        self.pairs.len()
    }

    fn describe(&self, pair: usize) -> String {
        self.pairs.get(pair).map_or(String::new(), |pair| pair.what.clone())
    }

    fn draw(&mut self, pair: usize, runs: usize) -> Result<[Vec<Output>; 2]> {
        let mut sides = self.opened(pair)?;
        let mut all = [Vec::with_capacity(runs), Vec::with_capacity(runs)];
        for _ in 0..runs {
            for i in 0..2 {
                // What is left of a budget in memory is of no interest: a new one will do.
                if !sides[i].affords(self.price) {
                    sides[i] = self.side(&self.pairs[pair].paths[i])?;
                }
                let (output, _) = self.ask(&mut sides[i])?;
                all[i].push(output);
            }
        }
        self.open = Some((pair, sides));
        Ok(all)
    }

    fn settle(&mut self) {
        self.keys.settled = true;
    }
}

#[cfg(test)]
mod tests;
