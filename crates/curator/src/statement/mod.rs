//! Statements before they are planned: which are allowed, how large they may be, and a session's settings.

pub(crate) mod arrays;
pub(crate) mod clock;
mod columns;
pub(crate) mod limits;
pub(crate) mod literals;
pub(crate) mod names;
pub(crate) mod parse;
mod rewrite;
pub(crate) mod settings;
mod shown;
pub(crate) mod split;
pub(crate) mod suggest;

use crate::error::{Error, Result};
use crate::refusal::{Refusal, Rule};
use datafusion::arrow::datatypes::DataType;
use datafusion::logical_expr::LogicalPlan;
use tokio::runtime::RuntimeFlavor;

/// Runs `work` on a stack that is large enough for the planner, which recurses as deep as a statement nests: on the
/// current stack if it has enough space, as it does for a short statement, and on a new one otherwise. 6,000 words,
/// the maximum, get 150 MiB. While a long statement is planned, others continue.
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

/// An upper bound on the number of words and signs.
pub(crate) fn words(sql: &str) -> usize {
    let mut within = false;
    let starts = sql.chars().filter(|c| {
        let letter = c.is_alphanumeric() || *c == '_';
        let begins = !(c.is_whitespace() || letter && within);
        within = letter;
        begins
    });
    starts.count()
}

/// The types of `$1`, `$2`, …; text if the type cannot be inferred.
pub(crate) fn parameter_types(plan: &LogicalPlan) -> Result<Vec<DataType>> {
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
