//! The price and the expected error of an aggregate, before anything is read.
//!
//! Private keys get their share of a query's budget first, then a tenth of the rest goes to what is learnt; what is left is
//! divided evenly between its blocks.
//!
//! # Why evenly
//! With a share sᵢ of the budget, block i errs by eᵢ/sᵢ (or eᵢ/√sᵢ under zCDP), where eᵢ is its error with all of it. Blocks
//! have different units: rows, people, euros, ranks. Public information has no exchange rate between them, so an objective may
//! only use how many times larger each error is than it would be alone, 1/sᵢ (or 1/√sᵢ). It does not depend on eᵢ, on bounds or
//! on limits, and the largest of these numbers, their sum and their product are all least where all shares are equal. Errors relative to the width
//! of the bounds are no way out: the shares would then depend on how generously somebody chose the bounds of another column,
//! and a count has none.
//!
//! What can be gained is gained by fewer blocks: numbers whose parts cannot all be large for the same row share a
//! vector (`numbers.rs`), which is released with the budget of all of them. Sums of two columns are not such numbers: a row may
//! be at both bounds. In units of their widths, their joint vector has an ℓ₁ norm of 2 and an ℓ₂ norm of √2 for
//! each row, which with all of the budget is the noise that each has with half of ε, or of ρ. So one vector would be as good as two, not better.

use super::learn::{self, Learning};
use super::{
    BETA, Block, BlockPlan, ColumnQuote, ComputedFrom, Counted, Expected, Keys, Measure,
    PrivateAggregate, Released, Selection, Share, Weights, error_as_type, internal, part_of,
    select_keys,
};
use crate::bound::{Argument, BoundSpec, Exact, Form};
use crate::error::{Error, Result};
use crate::policy::{Accounting, BudgetPolicy};
use crate::refusal::{Refusal, Rule};
use crate::statement::settings::Settings;
use crate::words::short;
use demure_core::event::Event;
use demure_core::random::Randomness;
use demure_core::unit::{Beta, Delta, Epsilon};
use demure_core::utility;

/// The budget share for selecting private keys, if there are other blocks.
const KEYS_SHARE: f64 = 0.25;
/// Default share of δ for private keys.
const DELTA_SHARE: f64 = 0.05;

/// A price, and all that is needed for the release at that price.
pub(crate) struct Quote {
    pub(crate) blocks: Vec<Box<dyn Block>>,
    pub(crate) selection: Option<Selection>,
    /// What is learnt before the blocks are released, and what they are then calibrated from.
    pub(crate) learning: Option<Learning>,
    planned: Vec<(Box<dyn BlockPlan>, Share)>,
    /// The blocks that each measure is computed from.
    pub(crate) from: Vec<ComputedFrom>,
    pub(crate) event: Event,
    /// ε of the query; `None` if nothing is measured.
    pub(crate) epsilon: Option<Epsilon>,
    pub(crate) columns: Vec<ColumnQuote>,
}

/// Blocks that are calibrated at the bounds that were learnt.
pub(super) struct AtWeights {
    pub(super) blocks: Vec<Box<dyn Block>>,
    pub(super) weights: Vec<Weights>,
}

/// The ε and δ that a query may spend.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Spend {
    pub(crate) epsilon: Epsilon,
    pub(crate) delta: Delta,
}

impl Spend {
    /// The session's settings, or the policy's defaults.
    pub(crate) fn of(settings: &Settings, budget: &BudgetPolicy) -> Result<Self> {
        let failing = match budget.accounting {
            Accounting::Pure => budget.delta.get(),
            Accounting::Zcdp => budget.delta.get() * 0.5,
        };
        let default = Delta::new(failing * DELTA_SHARE)?;
        Ok(Self {
            epsilon: settings.epsilon.unwrap_or(budget.per_query),
            delta: settings.delta.unwrap_or(default),
        })
    }
}

impl Spend {
    /// One of so many equal parts, which together cost at most the whole: ε, δ and ρ add up.
    fn divided(self, among: u32, accounting: Accounting) -> Result<Self> {
        if among <= 1 {
            return Ok(self);
        }
        let parts = f64::from(among);
        let parts_of_epsilon = match accounting {
            Accounting::Pure => parts,
            // ρ = ε²/2.
            Accounting::Zcdp => parts.sqrt(),
        };
        let epsilon = Epsilon::new(self.epsilon.get() / parts_of_epsilon * (1.0 - 1e-14))?;
        Ok(Self { epsilon, delta: Delta::new(self.delta.get() / parts * (1.0 - 1e-14))? })
    }
}

/// Prices an aggregate at the requested ε, or at the smallest ε that meets the requested error.
pub(crate) fn quote(
    aggregate: &PrivateAggregate,
    budget: &BudgetPolicy,
    settings: &Settings,
) -> Result<Quote> {
    let spend = Spend::of(settings, budget)?.divided(aggregate.among, budget.accounting)?;
    quoted(aggregate, budget, settings, spend).map_err(|error| match error {
        Error::Core(source) => out_of_reach(spend, settings, &source).into(),
        other => other,
    })
}

/// No mechanism works at this price: ε is too small or too large. The core's message names parameters, never values.
fn out_of_reach(spend: Spend, settings: &Settings, source: &demure_core::Error) -> Refusal {
    let price = match settings.error_at_most {
        Some(error) => format!("an error of at most {error:e}"),
        None => format!("ε {}", short(spend.epsilon.get())),
    };
    let what = format!("no noise can be drawn for {price}: {source}");
    Refusal::new(Rule::Setting, what, "ask with an epsilon nearer to 1")
}

fn quoted(
    aggregate: &PrivateAggregate,
    budget: &BudgetPolicy,
    settings: &Settings,
    spend: Spend,
) -> Result<Quote> {
    let Some(wanted) = settings.error_at_most else { return at(aggregate, budget, spend) };
    let worst = |quote: &Quote| {
        let known = quote.columns.iter().filter_map(|column| match column.error {
            Expected::Within(error) if !(column.per_row || column.per_sum) => Some(error),
            _ => None,
        });
        known.fold(None, |worst: Option<f64>, error| Some(worst.map_or(error, |w| w.max(error))))
    };
    if worst(&at(aggregate, budget, spend)?).is_none() {
        let (what, remedy) = match (aggregate.has_norms(), aggregate.limits.learnt) {
            (true, _) => (
                "demure.error_at_most: the error is not known in advance, as it depends on how large the \
                 sums of a person are, which is learnt from the data",
                "write CLAMP(x, low, high) or declare bounds, or set demure.epsilon instead",
            ),
            (false, true) => (
                "demure.error_at_most: the error is not known in advance, as it depends on how many \
                 rows of a person count in full, which is learnt from the data",
                "set demure.max_groups and demure.max_rows_per_group too, or set demure.epsilon \
                 instead",
            ),
            (false, false) => (
                "demure.error_at_most: the error of none of these columns is known in advance (an \
                 average's depends on the number of rows, which is protected)",
                "ask for a COUNT or SUM too, or set demure.epsilon instead",
            ),
        };
        return Err(Refusal::new(Rule::Setting, what, remedy).into());
    }
    // A failure at some ε does not count as meeting the error bound.
    let error_at = |epsilon: Epsilon| {
        let quote = at(aggregate, budget, Spend { epsilon, ..spend }).ok();
        Ok(quote.and_then(|q| worst(&q)).unwrap_or(f64::INFINITY))
    };
    let epsilon = utility::epsilon_for_error(wanted, error_at)?;
    at(aggregate, budget, Spend { epsilon, ..spend })
}

/// Prices an aggregate at one ε.
fn at(aggregate: &PrivateAggregate, budget: &BudgetPolicy, spend: Spend) -> Result<Quote> {
    let (planned, from) = aggregate.blocks(budget.neighbours);
    let selecting = matches!(aggregate.keys, Keys::Private);
    let keys_share = match (selecting, planned.is_empty()) {
        (false, _) => 0.0,
        (true, true) => 1.0,
        (true, false) => KEYS_SHARE,
    };
    let mut events = Vec::new();
    // If only keys are selected, there are no blocks to share with.
    let rest = 1.0 - keys_share;
    let learning = aggregate.learns();
    let of_blocks = if learning { rest * (1.0 - learn::SHARE) } else { rest };
    let share = if planned.is_empty() { 1.0 } else { of_blocks / planned.len() as f64 };
    let part = part_of(spend.epsilon, budget.accounting, share)?;
    // δ is divided among the blocks that need it, or are more accurate with it.
    let divided = |among: usize| {
        let delta = Delta::new(spend.delta.get() / among.max(1) as f64 * (1.0 - 1e-15)).ok();
        let delta = delta.filter(|delta| delta.get() > 0.0);
        Share { budget: part, delta, neighbours: budget.neighbours }
    };
    let learning = match learning {
        false => None,
        true => {
            // If only keys are selected, nothing is learnt, and nothing is paid for it.
            let share = if planned.is_empty() { 1.0 } else { rest * learn::SHARE };
            let part = part_of(spend.epsilon, budget.accounting, share)?;
            let share = Share { budget: part, delta: None, neighbours: budget.neighbours };
            Some(Learning::new(&planned, aggregate, share, divided(1))?)
        }
    };
    let least =
        |plan: &dyn BlockPlan| learning.as_ref().map(|l| l.least(plan.counted())).transpose();
    let wanting = planned.iter().filter(|plan| plan.wants_delta()).count();
    let most = usize::from(selecting) + wanting;
    let mut takers = usize::from(selecting);
    let mut blocks = Vec::with_capacity(planned.len());
    for plan in &planned {
        let block = plan.calibrate(&divided(most), aggregate, least(&**plan)?.as_ref())?;
        takers += usize::from(takes_delta(&*block)?);
        blocks.push(block);
    }
    let selection = match selecting {
        false => None,
        true => {
            let delta = if takers > 1 { divided(takers).delta } else { None };
            let spent = (spend.epsilon, delta.unwrap_or(spend.delta));
            let (selection, event) = select_keys(aggregate, budget, spent, keys_share)?;
            events.push(event);
            Some(selection)
        }
    };
    events.extend(learning.iter().flat_map(Learning::events));
    let mut priced = Vec::with_capacity(planned.len());
    for (plan, block) in planned.into_iter().zip(&mut blocks) {
        // Blocks that take no δ keep their calibration; the others share all of δ.
        let takes = takes_delta(&**block)?;
        let share = divided(if takes { takers } else { most });
        if takes {
            *block = plan.calibrate(&share, aggregate, least(&*plan)?.as_ref())?;
        }
        events.push(block.event()?);
        priced.push((plan, share));
    }
    let event = match events.len() {
        1 => events.swap_remove(0),
        _ => Event::Compose(events),
    };
    let mut columns = described(aggregate, &blocks, &from)?;
    for (column, of) in columns.iter_mut().zip(&from) {
        let (plan, _): &(Box<dyn BlockPlan>, Share) = &priced[of.block];
        column.per_sum = matches!(plan.counted(), Counted::Norm(..));
        column.per_row = aggregate.limits.learnt && !column.per_sum;
    }
    // What is for each row or sum is multiplied before it is rounded.
    if !aggregate.learns() {
        in_types(aggregate, &mut columns);
    }
    let (epsilon, planned) = (Some(spend.epsilon), priced);
    Ok(Quote { blocks, selection, learning, planned, from, event, epsilon, columns })
}

/// Describes every measure.
fn described(
    aggregate: &PrivateAggregate,
    blocks: &[Box<dyn Block>],
    from: &[ComputedFrom],
) -> Result<Vec<ColumnQuote>> {
    let beta = Beta::new(BETA)?;
    let describe = |(measure, of): (&Measure, &ComputedFrom)| {
        let described = blocks[of.block].describe(measure, aggregate, beta)?;
        Ok(described.named(aggregate.written(measure)))
    };
    aggregate.measures.iter().zip(from).map(describe).collect()
}

/// States the errors of the numbers as they are released, in their columns' types.
fn in_types(aggregate: &PrivateAggregate, columns: &mut [ColumnQuote]) {
    for (i, column) in columns.iter_mut().enumerate() {
        let place = aggregate.key_columns() + i;
        if let (Expected::Within(error), Some(field)) =
            (&mut column.error, aggregate.schema.fields().get(place))
        {
            *error = error_as_type(*error, field.data_type());
        }
    }
}

fn takes_delta(block: &dyn Block) -> Result<bool> {
    Ok(matches!(block.event()?, Event::Approximate { .. }))
}

impl Quote {
    /// A free quote: only public keys are returned and nothing is measured.
    pub(crate) fn free() -> Self {
        Self {
            blocks: Vec::new(),
            selection: None,
            learning: None,
            planned: Vec::new(),
            from: Vec::new(),
            event: Event::Compose(Vec::new()),
            epsilon: None,
            columns: Vec::new(),
        }
    }

    /// The specification for contribution bounding: which columns the blocks read, in which form.
    pub(crate) fn spec(&self, aggregate: &PrivateAggregate) -> BoundSpec {
        let keys = usize::from(aggregate.bounded);
        let first = keys + aggregate.key_count;
        let arguments = self.forms().into_iter();
        BoundSpec {
            unit: aggregate.bounded.then_some(0),
            keys: (keys..first).collect(),
            arguments: arguments.map(|(v, form)| Argument { column: first + v, form }).collect(),
            max_groups: aggregate.limits.groups,
            max_rows: aggregate.limits.rows,
            weighing: self.learning.as_ref().map(|learning| learning.weighing),
        }
    }

    /// Learns the bounds, and calibrates the blocks at them.
    pub(super) fn learnt(
        &self,
        aggregate: &PrivateAggregate,
        exact: &Exact,
        groups: usize,
        rng: &mut dyn Randomness,
    ) -> Result<Option<AtWeights>> {
        let Some(learning) = &self.learning else { return Ok(None) };
        let sizes = exact.sizes.as_ref().ok_or_else(|| internal("sizes that were not counted"))?;
        let counted = self.planned.iter().map(|(plan, _)| plan.counted());
        let blocks: Vec<_> = counted.zip(self.blocks.iter().map(|block| &**block)).collect();
        let weights = learning.release((sizes, &self.forms()), &blocks, groups, rng)?;
        Ok(Some(AtWeights { blocks: self.at(aggregate, &weights)?, weights }))
    }

    /// The blocks at these weights.
    pub(crate) fn at(
        &self,
        aggregate: &PrivateAggregate,
        all: &[Weights],
    ) -> Result<Vec<Box<dyn Block>>> {
        let planned = self.planned.iter().zip(all);
        planned.map(|((plan, share), w)| plan.calibrate(share, aggregate, Some(w))).collect()
    }

    /// The weights of all blocks at a rung, whatever is learnt.
    #[cfg(test)]
    pub(crate) fn weights_at(&self, rung: usize) -> Option<Vec<Weights>> {
        let learning = self.learning.as_ref()?;
        let all = self.planned.iter().map(|(plan, _)| learning.weights_at(plan.counted(), rung));
        Some(all.collect())
    }

    /// The weights with which a table was released, one for each block; none if nothing was learnt.
    pub(crate) fn weights(&self, released: &Released) -> Vec<Weights> {
        let kinds: Vec<Counted> = self.planned.iter().map(|(plan, _)| plan.counted()).collect();
        let read = |text: &str| self.learning.as_ref()?.read(text, &kinds);
        released.learnt().and_then(|text| read(&text)).unwrap_or_default()
    }

    /// The columns as they were released: with the noise at the bounds that were learnt.
    pub(crate) fn columns_at(
        &self,
        aggregate: &PrivateAggregate,
        weights: &[Weights],
    ) -> Result<Vec<ColumnQuote>> {
        match weights {
            [] => Ok(self.columns.clone()),
            weights => {
                let mut columns = described(aggregate, &self.at(aggregate, weights)?, &self.from)?;
                in_types(aggregate, &mut columns);
                Ok(columns)
            }
        }
    }

    /// What was learnt, in words: one line for rows, one for people.
    pub(crate) fn learnt_in_words(&self, weights: &[Weights]) -> Vec<String> {
        let mut lines = Vec::new();
        for ((plan, _), one) in self.planned.iter().zip(weights) {
            let counted = plan.counted();
            if !self.learning.as_ref().is_some_and(|learning| learning.says(counted)) {
                continue;
            }
            let line = one.in_words(counted, plan.has_interval());
            if !lines.contains(&line) {
                lines.push(line);
            }
        }
        lines
    }

    /// The arguments of contribution bounding: each value, and the form it is kept in.
    pub(crate) fn forms(&self) -> Vec<(usize, Form)> {
        let mut forms: Vec<(usize, Form)> = Vec::new();
        for block in &self.blocks {
            let Some((value, form)) = block.reads() else { continue };
            let same = forms.iter_mut().find(|(v, f)| {
                *v == value && std::mem::discriminant(f) == std::mem::discriminant(&form)
            });
            match (same, form) {
                (Some((_, Form::Steps { histogram, .. })), Form::Steps { histogram: more, .. }) => {
                    *histogram |= more;
                }
                (Some(_), _) => {}
                (None, form) => forms.push((value, form)),
            }
        }
        forms
    }
}
