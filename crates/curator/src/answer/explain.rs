//! `EXPLAIN PRIVACY`: the price and the expected error, before anything is bought.

use crate::aggregate::Quote;
use crate::aggregate::{ColumnQuote, Expected};
use crate::aggregate::{Keys, PrivateAggregate};
use crate::bound::{SHORT, limit, reads_texts};
use crate::policy::odds;
use crate::rows::expression::plain_text;
use crate::rows::{RESERVED, without_numbers};
use crate::words::{price, rounded, short};
use datafusion::logical_expr::LogicalPlan;
use demure_core::unit::{Epsilon, Neighbours};
use demure_ledger::Price;

/// What a query would do and cost. No part of it depends on the data.
#[derive(Clone, Debug, PartialEq)]
pub struct Explanation {
    /// Each private aggregate of the query; none if it reads public tables only.
    pub aggregates: Vec<AggregateExplanation>,
    /// What it would cost this analyst: nothing for answers that they received before.
    pub price: Price,
    /// What is left of the budget, in the same unit.
    pub left: Price,
    /// Whether the budget is kept in ρ.
    pub concentrated: bool,
    /// Advice.
    pub notes: Vec<String>,
}

/// One private aggregate.
#[derive(Clone, Debug, PartialEq)]
pub struct AggregateExplanation {
    /// The noised columns.
    pub columns: Vec<ColumnQuote>,
    /// Where the group keys come from, in words.
    pub keys: String,
    /// What one unit contributes at most, in words.
    pub contributions: String,
    /// What one person contributes to joins at most, in words; `None` if no join multiplies rows.
    pub joins: Option<String>,
    /// What one person contributes to expensive expressions at most, in words; `None` if all are cheap.
    pub work: Option<String>,
    /// The privacy event that is charged, in the accountant's words.
    pub event: String,
    /// Whether this answer is free: the analyst received it before, or another bought it and the policy shares
    /// answers.
    pub bought: bool,
}

impl AggregateExplanation {
    pub(crate) fn new(aggregate: &PrivateAggregate, quote: &Quote, bought: bool) -> Self {
        let name = |i: usize| match aggregate.schema.field(i).name() {
            ours if ours.starts_with(RESERVED) => "the column that is compared".to_owned(),
            name => plain_text(&without_numbers(name)),
        };
        let names: Vec<String> = (0..aggregate.key_count).map(name).collect();
        let names = names.join(", ");
        let keys = match (&aggregate.keys, &quote.selection) {
            (Keys::Public(keys), _) => {
                let plural = if keys.len() == 1 { "public key" } else { "public keys" };
                let others = match aggregate.drops_unlisted {
                    true => "; rows with a value that is not listed are left out",
                    false => "",
                };
                format!("{names}: {} {plural}, all of which come back{others}", keys.len())
            }
            (Keys::Private, Some(selection)) => {
                let needs = selection.needs().unwrap_or_default();
                format!("{names}: not public; {needs}")
            }
            _ => "one group".to_owned(),
        };
        let keys = match &aggregate.rollup {
            Some(rollup) => format!("{keys}; {}", rollup.why),
            None if aggregate.among > 1 => {
                let among = aggregate.among;
                format!(
                    "{keys}; one of {among} grouping sets, released separately: each has 1/{among} of the budget"
                )
            }
            None => keys,
        };
        let (g, m) = (aggregate.limits.groups, aggregate.limits.rows);
        let contributions = match (aggregate.bounded, g) {
            (true, _) if aggregate.limits.learnt => {
                let sums = match aggregate.has_norms() {
                    true => ", and so is how large sums without bounds may be",
                    false => "",
                };
                format!(
                    "all rows of a person. How many count in full is learnt from the data{sums}; people \
                     who have more count with a smaller weight"
                )
            }
            (false, _) if aggregate.has_norms() => {
                "one row a unit, by construction. How large a value counts in full is learnt from the \
                 data; larger ones count as that"
                    .to_owned()
            }
            (false, _) if m == 1 => "one row a unit, by construction".to_owned(),
            (false, _) => format!("one row a unit, at most {m} times, by construction"),
            (true, 1) => format!("at most {m} of a person's rows, chosen at random"),
            (true, g) => format!(
                "at most {m} of a person's rows in each of at most {g} groups, chosen at random"
            ),
        };
        Self {
            columns: quote.columns.clone(),
            keys,
            contributions,
            work: limit(&aggregate.input, true).map(|rows| {
                format!(
                    "at most {rows} of a person's rows of each table, chosen at random after the \
                     cheap filters on it: what is computed on each costs much{}",
                    long_texts(&aggregate.input)
                )
            }),
            joins: limit(&aggregate.input, false).map(|rows| {
                format!(
                    "at most {rows} of a person's rows of each table, chosen at random after the \
                     filters on it{}",
                    long_texts(&aggregate.input)
                )
            }),
            event: rounded(&quote.event.to_string()),
            bought,
        }
    }
}

/// How rows with long texts count against a limit, if there can be any.
fn long_texts(input: &LogicalPlan) -> String {
    match reads_texts(input) {
        true => format!("; a row counts once for every {SHORT} bytes of its longest text"),
        false => String::new(),
    }
}

/// A column's expected error in words.
#[must_use]
pub fn expected(column: &ColumnQuote) -> String {
    let each = match (column.per_row, column.per_sum) {
        (_, true) => ", for each 1 of a person's sum that counts in full",
        (true, _) => ", for each row of a person that counts in full",
        _ => "",
    };
    format!("{}{each}", error(&column.error))
}

fn error(error: &Expected) -> String {
    match error {
        Expected::Within(error) => format!("± {}", short(*error)),
        Expected::WithinAt { rows, error } => {
            format!("± {} in a group of {rows} rows", short(*error))
        }
        Expected::Ranks(ranks) => format!("at most {} rows from the exact position", rows(*ranks)),
        Expected::EvenRanks(ranks) => {
            format!(
                "at most {} rows from the exact position, where values are evenly spread",
                rows(*ranks)
            )
        }
        Expected::Lead(lead) => {
            format!("none if the value leads by {} rows; otherwise often NULL", rows(*lead))
        }
        Expected::Decided(most) => {
            let least = rows(2.0 * most);
            format!(
                "more than {} rows are needed; right if there are none, or {least} or more",
                short(most.floor())
            )
        }
        Expected::Votes(votes) => {
            format!("at most {} rows fewer than the most common value", rows(*votes))
        }
    }
}

/// A row count, rounded up.
fn rows(number: f64) -> String {
    short(number.ceil())
}

impl Explanation {
    /// The explanation as named lines.
    #[must_use]
    pub fn lines(&self) -> Vec<(String, String)> {
        let mut lines = Vec::new();
        let mut say = |name: &str, text: String| lines.push((name.to_owned(), text));
        for aggregate in &self.aggregates {
            for column in &aggregate.columns {
                say("column", column.name.clone());
                say("  mechanism", column.mechanism.clone());
                if let Some(why) = &column.why {
                    say("  why", why.clone());
                }
                say("  sensitivity", column.sensitivity.clone());
                say("  scale", short(column.scale));
                say("  error (95 %)", expected(column));
            }
            say("groups", aggregate.keys.clone());
            say("contributions", aggregate.contributions.clone());
            if let Some(joins) = &aggregate.joins {
                say("joins", joins.clone());
            }
            if let Some(work) = &aggregate.work {
                say("work", work.clone());
            }
            say("event", aggregate.event.clone());
            if aggregate.bought {
                say("bought", "this answer was bought before: it is free".to_owned());
            }
        }
        if self.aggregates.is_empty() {
            say("groups", "public tables only".to_owned());
        }
        say("cost", price(&self.price, self.concentrated));
        say("left", price(&self.left, self.concentrated));
        for note in &self.notes {
            say("note", note.clone());
        }
        lines
    }
}

/// What an ε means, in one line.
pub(crate) fn advice(epsilon: Epsilon, neighbours: Neighbours) -> String {
    let comment = match epsilon.get() {
        epsilon if epsilon < 0.1 => "; below 0.1 little is left to see",
        epsilon if epsilon > 5.0 => "; above 5 protects little",
        _ => "",
    };
    format!("ε {}: {}{comment}", short(epsilon.get()), odds(epsilon, neighbours))
}
