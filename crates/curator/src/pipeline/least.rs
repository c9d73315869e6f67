//! The smallest allowed ε for aggregates that read protected rows.
//!
//! Every new answer reveals more than its noised numbers: when it arrived. `gate` limits that, but not to nothing, and
//! it is not paid for. So no statement that reads rows may be almost free: the policy's `min_per_query` bounds how
//! many such observations a budget can buy.

use crate::aggregate::Quote;
use crate::policy::BudgetPolicy;
use crate::refusal::{Refusal, Rule};
use crate::words::short;

/// The smallest ε among the aggregates that a statement has to buy, if it is below the policy's minimum.
///
/// Each counts alone. If they were added up, one new aggregate beside many that another analyst has bought, or is
/// buying, would cost the dataset almost nothing.
pub(crate) fn too_little<'a>(
    unbought: impl Iterator<Item = &'a Quote>,
    budget: &BudgetPolicy,
) -> Option<f64> {
    let asked = unbought.map(|quote| quote.epsilon.map_or(0.0, |epsilon| epsilon.get()));
    asked.reduce(f64::min).filter(|asked| *asked < budget.min_per_query.get())
}

/// Refuses a statement with an aggregate below the minimum.
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
