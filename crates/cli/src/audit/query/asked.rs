//! A question, asked of a curator over each of two databases, as often as one likes.

use crate::Failure;
use crate::curator::runtime;
use datafusion::arrow::array::{Array, AsArray, RecordBatch};
use datafusion::arrow::compute::cast;
use datafusion::arrow::datatypes::{DataType, Float64Type};
use demure_attack::audit::{Output, Source, word};
use demure_core::random::SystemRandom;
use demure_core::unit::{Delta, Epsilon};
use demure_curator::policy::{Accounting, Policy};
use demure_curator::{Curator, Incidents, Outcome, Session};
use demure_ledger::{Ledger, Limit, Price};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use tokio::runtime::Runtime;

/// ε and δ of a budget in memory, which nothing is protected by.
const BUDGET: (f64, f64) = (1e9, 0.999);

/// A question to curators over neighbouring databases.
pub(super) struct Asked<'a> {
    policy: &'a Policy,
    table: String,
    sql: &'a str,
    pairs: Vec<(String, [PathBuf; 2])>,
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
    /// What may be spent, and what was.
    most: Price,
    spent: Price,
}

impl Side {
    /// Whether another answer of this price can be bought.
    fn affords(&self, price: Price) -> bool {
        let room = |most: f64, spent: f64, price: f64| (spent + price) * (1.0 + 1e-6) <= most;
        room(self.most.main, self.spent.main, price.main)
            && room(self.most.delta, self.spent.delta, price.delta)
    }
}

impl<'a> Asked<'a> {
    pub(super) fn new(
        policy: &'a Policy,
        table: &str,
        sql: &'a str,
        pairs: Vec<(String, [PathBuf; 2])>,
        settings: (Option<Epsilon>, Option<Delta>),
    ) -> Result<Self, Failure> {
        let (table, runtime) = (table.to_owned(), runtime()?);
        let (open, keys) = (None, Keys::default());
        let price = Price::ZERO;
        Ok(Self { policy, table, sql, pairs, settings, runtime, open, keys, asked: 0, price })
    }

    /// What one answer is charged: the same on every side of every pair, or something is wrong.
    pub(super) fn price(&mut self) -> Result<Price, Failure> {
        let mut found: Option<Price> = None;
        // The first pair last: it is asked next.
        for pair in (0..self.pairs.len()).rev() {
            let mut sides = self.opened(pair)?;
            for side in &mut sides {
                let price = self.ask(side)?.1;
                let so_far = found.unwrap_or(price);
                // The jitter of ε keeps answers from being had for nothing; nothing else may tell them apart.
                if (price.main / so_far.main - 1.0).abs() > 1e-6 || price.delta != so_far.delta {
                    return Err(Failure::Unsatisfied(
                        "violated: the price of the answer depends on the data".to_owned(),
                    ));
                }
                found = Some(Price { main: price.main.max(so_far.main), delta: price.delta });
            }
            self.open = Some((pair, sides));
        }
        found.ok_or_else(|| Failure::usage("there are no neighbours to ask about"))
    }

    fn side(&self, path: &Path) -> Result<Side, Failure> {
        let mut policy = self.policy.clone();
        policy.budget.epsilon = Epsilon::new(BUDGET.0)?;
        policy.budget.delta = Delta::new(BUDGET.1)?;
        for table in policy.tables.iter_mut().filter(|table| table.name == self.table) {
            table.source = path.display().to_string();
        }
        let accounting = match policy.budget.accounting {
            Accounting::Pure => demure_ledger::Accounting::Pure,
            Accounting::Zcdp => demure_ledger::Accounting::Zcdp,
        };
        let limit = Limit {
            accounting,
            epsilon: policy.budget.epsilon,
            delta: policy.budget.delta,
            neighbours: policy.budget.neighbours,
        };
        let most = limit.most().map_err(demure_curator::Error::from)?;
        let ledger = Ledger::in_memory(limit).map_err(demure_curator::Error::from)?;
        let randomness = Box::new(SystemRandom::new()?);
        let opening = Curator::with(policy, ledger, Incidents::nowhere(), randomness);
        let session = self.runtime.block_on(opening)?.session("audit");
        Ok(Side { session, most, spent: Price::ZERO })
    }

    fn opened(&mut self, pair: usize) -> Result<[Side; 2], Failure> {
        match self.open.take() {
            Some((open, sides)) if open == pair => Ok(sides),
            _ => {
                let (_, [left, right]) = &self.pairs[pair];
                Ok([self.side(left)?, self.side(right)?])
            }
        }
    }

    /// One answer, bought anew: the ε asked for differs each time by less than a millionth, so that no price is the
    /// same and the ledger has no answer ready.
    fn ask(&mut self, side: &mut Side) -> Result<(Output, Price), Failure> {
        self.asked += 1;
        let asked = self.settings.0.unwrap_or(self.policy.budget.per_query).get();
        let jitter = 1.0 - 1e-7 * (self.asked as f64 / (self.asked as f64 + 1e5));
        let settings = side.session.settings_mut();
        settings.epsilon = Some(Epsilon::new(asked * jitter)?);
        settings.delta = self.settings.1.or(settings.delta);
        // A question that is refused convicts nobody.
        let answered = self.runtime.block_on(side.session.run(self.sql)).map_err(unanswered)?;
        let answer = match answered {
            Outcome::Answer(answer) => answer,
            _ => return Err(Failure::usage("this statement has no answer\nhint: give a SELECT")),
        };
        if answer.repeated {
            return Err(Failure::usage(
                "the answer cost nothing, so there is no noise to audit\nhint: ask about a protected table",
            ));
        }
        side.spent.main += answer.price.main;
        side.spent.delta += answer.price.delta;
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
fn unanswered(error: demure_curator::Error) -> Failure {
    match error.refusal() {
        Some((what, remedy)) => {
            Failure::usage(format!("the question was refused: {what}\nhint: {remedy}"))
        }
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
    type Error = Failure;

    fn pairs(&self) -> usize {
        self.pairs.len()
    }

    fn describe(&self, pair: usize) -> String {
        self.pairs.get(pair).map_or(String::new(), |pair| pair.0.clone())
    }

    fn draw(&mut self, pair: usize, runs: usize) -> Result<[Vec<Output>; 2], Failure> {
        let mut sides = self.opened(pair)?;
        let mut all = [Vec::with_capacity(runs), Vec::with_capacity(runs)];
        for _ in 0..runs {
            for i in 0..2 {
                // What is left of a budget in memory is of no interest: a new one will do.
                if !sides[i].affords(self.price) {
                    sides[i] = self.side(&self.pairs[pair].1[i])?;
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
mod tests {
    use super::*;

    #[test]
    fn keys_that_were_not_scouted_share_a_place() {
        let mut keys = Keys::default();
        let mut output = Vec::new();
        keys.put("a".to_owned(), 5.0, &mut output);
        keys.put("b".to_owned(), 6.0, &mut output);
        assert_eq!(output, [5.0, 6.0]);
        keys.settled = true;
        for _ in 0..2 {
            // The second output is as the first: nothing was learnt from it.
            let mut output = vec![f64::NAN; keys.places.len()];
            keys.put("b".to_owned(), 7.0, &mut output);
            assert_eq!((output.len(), output[1]), (2, 7.0));
            keys.put("c".to_owned(), 8.0, &mut output);
            keys.put("d".to_owned(), 9.0, &mut output);
            assert_eq!(output[1..], [7.0, 2.0]);
            assert!(output[0].is_nan());
        }
    }
}
