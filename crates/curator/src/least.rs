//! The least ε of a statement that reads protected rows.
//!
//! Every new answer shows more than its noised numbers: when it came. That is limited (`gate`) but
//! not nothing, and nobody pays for it. So no statement that reads rows is almost free: the
//! policy's `min_per_query` bounds how many such observations a budget can buy.

use crate::explain::short;
use crate::policy::BudgetPolicy;
use crate::price::Quote;
use crate::refusal::{Refusal, Rule};

/// What the aggregates that a statement has to buy ask for together, if that is less than the
/// policy's least.
pub(crate) fn too_little<'a>(
    unbought: impl Iterator<Item = &'a Quote>,
    budget: &BudgetPolicy,
) -> Option<f64> {
    // Shares that add up to the least may miss it by a rounding.
    const ROUNDING: f64 = 1e-9;
    let mut asked = None;
    for quote in unbought {
        let epsilon = quote.epsilon.map_or(0.0, |epsilon| epsilon.get());
        asked = Some(asked.unwrap_or(0.0) + epsilon);
    }
    asked.filter(|asked| *asked < budget.min_per_query.get() * (1.0 - ROUNDING))
}

/// Refuses a statement that asks for less than the least.
pub(crate) fn check<'a>(
    unbought: impl Iterator<Item = &'a Quote>,
    budget: &BudgetPolicy,
) -> Result<(), Refusal> {
    let Some(asked) = too_little(unbought, budget) else { return Ok(()) };
    let least = budget.min_per_query;
    Err(Refusal::new(
        Rule::Least,
        format!(
            "this query asks for ε {}, and a new query costs at least ε {least}; nothing was spent",
            short(asked)
        ),
        format!(
            "SET demure.epsilon = {least}, or more; the policy's `min_per_query` says so, because \
             the time of every answer tells a little too"
        ),
    ))
}
