//! What an aggregate costs and how wrong it will be, before anything is read.
//!
//! A query's budget is divided between *blocks*. Numbers of one column share a block: its
//! count, sum, mean and variance come out of one vector of noised parts, at one price
//! ([`demure_core::mechanism::Groups`]). Quantiles, modes and the choice of private keys have
//! blocks of their own.
//!
//! | file | what |
//! |---|---|
//! | `mod.rs` | the quote: blocks, event, expected errors |
//! | `block.rs` | one block: its mechanism and its share of the budget |
//! | `extreme.rs` | MIN and MAX |
//! | `order.rs` | other quantiles: by ranks, or by smooth sensitivity |
//! | `mode.rs` | the most common value: drawn, or released where it is stable |

mod block;
mod extreme;
mod mode;
mod order;

#[cfg(test)]
pub(crate) use block::Chooser;
pub(crate) use block::{Block, Source};
#[cfg(test)]
pub(crate) use {mode::Mode, order::Method};

use crate::analyse::{Keys, Measure, PrivateAggregate};
use crate::bound::{Argument, BoundSpec, Form};
use crate::error::{Error, Result};
use crate::explain::short;
use crate::policy::{Accounting, BudgetPolicy};
use crate::refusal::{Refusal, Rule};
use crate::settings::Settings;
use demure_core::event::Event;
use demure_core::mechanism::{Budget, KeySelection, Statistics as Wanted};
use demure_core::unit::{Beta, Delta, Epsilon, Rho};
use demure_core::utility;

/// The confidence that errors are stated with is 1 − this.
pub(crate) const BETA: f64 = 0.05;
/// Of the budget, what the choice of private keys gets beside other blocks.
const KEYS_SHARE: f64 = 0.25;
/// Of δ, what a query whose keys are private gets if it does not say.
const DELTA_SHARE: f64 = 0.05;
/// Rows that the error of an average is illustrated with: their number is protected.
pub(crate) const TYPICAL_ROWS: u64 = 1_000;

/// A price, and all that is needed to release for it.
pub(crate) struct Quote {
    pub(crate) blocks: Vec<Block>,
    pub(crate) selection: Option<KeySelection>,
    /// For each measure its block.
    pub(crate) from: Vec<usize>,
    pub(crate) event: Event,
    /// ε of the query; none if nothing is measured.
    pub(crate) epsilon: Option<Epsilon>,
    pub(crate) columns: Vec<ColumnQuote>,
}

/// What one noised column will be like.
#[derive(Clone, Debug, PartialEq)]
pub struct ColumnQuote {
    /// Its name.
    pub name: String,
    /// How it is made private.
    pub mechanism: String,
    /// By how much one unit can change it, in words.
    pub sensitivity: String,
    /// The scale of its noise, in its own units.
    pub scale: f64,
    /// Its expected 95 % error.
    pub error: Expected,
    /// Why it is made private in this way, where there was a choice.
    pub why: Option<String>,
}

/// An error that is exceeded with a probability of at most 5 %.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum Expected {
    /// In the column's units.
    Within(f64),
    /// In the column's units, for a group of this many rows.
    WithinAt {
        /// The rows of the group.
        rows: u64,
        /// The error.
        error: f64,
    },
    /// The released value's place among the group's values, in ranks.
    Ranks(f64),
    /// The same, where the values around it are evenly spread; on other data it can be anything.
    EvenRanks(f64),
    /// The most common value is released if it occurs this many times more than the next, and
    /// otherwise NULL is.
    Lead(f64),
    /// The chosen value occurs at most this many times less than the most common one.
    Votes(f64),
}

/// ε and δ a query may spend.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Spend {
    pub(crate) epsilon: Epsilon,
    pub(crate) delta: Delta,
}

impl Spend {
    /// What the session asks for, or the policy's default.
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

/// Prices an aggregate: at the ε asked for, or at the least ε for the error asked for.
pub(crate) fn quote(
    aggregate: &PrivateAggregate,
    budget: &BudgetPolicy,
    settings: &Settings,
) -> Result<Quote> {
    let spend = Spend::of(settings, budget)?;
    quoted(aggregate, budget, settings, spend).map_err(|error| match error {
        Error::Core(source) => out_of_reach(spend, settings, &source).into(),
        other => other,
    })
}

/// No mechanism works at this price: so small an ε, or so large a one. The core's words name
/// parameters, and no value.
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
            Expected::Within(error) => Some(error),
            _ => None,
        });
        known.fold(None, |worst: Option<f64>, error| Some(worst.map_or(error, |w| w.max(error))))
    };
    if worst(&at(aggregate, budget, spend)?).is_none() {
        return Err(Refusal::new(
            Rule::Setting,
            "demure.error_at_most: the error of none of these columns is known in advance (an \
             average's depends on the number of rows, which is protected)",
            "ask for a COUNT or SUM too, or set demure.epsilon instead",
        )
        .into());
    }
    // A failure at some ε is not an error bound that is met.
    let error_at = |epsilon: Epsilon| {
        let quote = at(aggregate, budget, Spend { epsilon, ..spend }).ok();
        Ok(quote.and_then(|q| worst(&q)).unwrap_or(f64::INFINITY))
    };
    let epsilon = utility::epsilon_for_error(wanted, error_at)?;
    at(aggregate, budget, Spend { epsilon, ..spend })
}

/// Prices an aggregate at one ε.
fn at(aggregate: &PrivateAggregate, budget: &BudgetPolicy, spend: Spend) -> Result<Quote> {
    let (sources, from) = sources(aggregate);
    let selecting = matches!(aggregate.keys, Keys::Private);
    let keys_share = match (selecting, sources.is_empty()) {
        (false, _) => 0.0,
        (true, true) => 1.0,
        (true, false) => KEYS_SHARE,
    };
    let mut events = Vec::new();
    // Where only keys are chosen, no block gets any.
    let share = if sources.is_empty() { 1.0 } else { (1.0 - keys_share) / sources.len() as f64 };
    let part = part_of(spend.epsilon, budget.accounting, share)?;
    let neighbours = budget.neighbours;
    // δ is divided among those that cannot do without, or are better with it.
    let mode = |source: &&Source| matches!(source, Source::Mode(_));
    let divided = |among: usize| {
        let delta = Delta::new(spend.delta.get() / among.max(1) as f64 * (1.0 - 1e-15)).ok()?;
        (delta.get() > 0.0).then_some(delta)
    };
    let most = usize::from(selecting) + sources.iter().filter(mode).count();
    let mut takers = usize::from(selecting);
    let mut blocks = Vec::with_capacity(sources.len());
    for source in &sources {
        let block = Block::new(*source, (part, divided(most)), aggregate, neighbours)?;
        takers += usize::from(matches!(block.event(part)?, Event::Approximate { .. }));
        blocks.push(block);
    }
    let selection = match selecting {
        false => None,
        true => {
            let delta = if takers > 1 { divided(takers) } else { None };
            let spend = Spend { delta: delta.unwrap_or(spend.delta), ..spend };
            let selection = select_keys(aggregate, budget, spend, keys_share)?;
            events.push(selection.1);
            Some(selection.0)
        }
    };
    for (source, block) in sources.iter().zip(&mut blocks) {
        // Who takes none of δ has been counted on to take none: only the others get what is left.
        if matches!(block.event(part)?, Event::Approximate { .. }) {
            *block = Block::new(*source, (part, divided(takers)), aggregate, neighbours)?;
        }
        events.push(block.event(part)?);
    }
    let event = match events.len() {
        1 => events.swap_remove(0),
        _ => Event::Compose(events),
    };
    let beta = Beta::new(BETA)?;
    let mut columns = Vec::new();
    for (i, measure) in aggregate.measures.iter().enumerate() {
        let name = aggregate.measure_name(i);
        columns.push(blocks[from[i]].describe(name, measure, aggregate, beta)?);
    }
    Ok(Quote { blocks, selection, from, event, epsilon: Some(spend.epsilon), columns })
}

/// A share of the query's budget. A little is left for rounding, so that shares never add up to
/// more than the whole, nor ten queries of 0.1 to more than a budget of 1.
fn part_of(epsilon: Epsilon, accounting: Accounting, share: f64) -> Result<Budget> {
    let share = share * (1.0 - 1e-14);
    Ok(match accounting {
        Accounting::Pure => Budget::Pure(Epsilon::new(epsilon.get() * share)?),
        // ρ = ε²/2: what a pure ε costs as zCDP.
        Accounting::Zcdp => {
            Budget::Concentrated(Rho::new(epsilon.get() * epsilon.get() * 0.5 * share)?)
        }
    })
}

fn select_keys(
    aggregate: &PrivateAggregate,
    budget: &BudgetPolicy,
    spend: Spend,
    share: f64,
) -> Result<(KeySelection, Event)> {
    let names: Vec<&str> =
        (0..aggregate.key_count).map(|i| aggregate.schema.field(i).name().as_str()).collect();
    if spend.delta.get() <= 0.0 {
        return Err(Refusal::new(
            Rule::Keys,
            format!(
                "the values of {} are not public, and there is no δ to pay for choosing among \
                     them",
                names.join(", ")
            ),
            "list them in the policy (`values = [...]`), give an integer column `bounds`, group by \
             CASE or FLOOR(x / 10), or give the budget a δ",
        )
        .into());
    }
    let epsilon = match part_of(spend.epsilon, budget.accounting, share)? {
        Budget::Pure(epsilon) => epsilon,
        Budget::Concentrated(rho) => Epsilon::new((2.0 * rho.get()).sqrt() * (1.0 - 1e-15))?,
    };
    let groups = aggregate.limits.groups;
    let selection = KeySelection::new(epsilon, spend.delta, budget.neighbours, groups)?;
    Ok((selection, Event::Approximate { epsilon, delta: spend.delta }))
}

/// Which blocks the measures need, and for each measure its block.
fn sources(aggregate: &PrivateAggregate) -> (Vec<Source>, Vec<usize>) {
    let measures = &aggregate.measures;
    let asks = |f: &dyn Fn(&Measure) -> bool| measures.iter().any(f);
    let rows = asks(&|m| matches!(m, Measure::CountRows));
    let mut found: Vec<Source> = Vec::new();
    let mut rows_block = None;
    // Columns first: the count of all rows rides along with one of them.
    for value in 0..aggregate.values.len() {
        let spread =
            asks(&|m| matches!(m, Measure::Variance(v) | Measure::Deviation(v) if *v == value));
        let mean = asks(&|m| matches!(m, Measure::Mean(v) if *v == value));
        let sum = asks(&|m| matches!(m, Measure::Sum(v) if *v == value));
        let count = asks(&|m| matches!(m, Measure::Count(v) if *v == value));
        let rides = rows && rows_block.is_none();
        let wanted = if spread {
            Wanted::Variance
        } else if mean || (sum && (count || rides)) {
            Wanted::Mean
        } else if sum {
            Wanted::Sum
        } else {
            continue;
        };
        let nulls = rides && wanted != Wanted::Sum && aggregate.values[value].facts.nullable;
        if rides && wanted != Wanted::Sum {
            rows_block = Some(found.len());
        }
        found.push(Source::Values { value, wanted, nulls });
    }
    let mut from = Vec::with_capacity(measures.len());
    for measure in measures {
        let of_value = |found: &[Source], v: usize| {
            found.iter().position(|s| matches!(s, Source::Values { value, .. } if *value == v))
        };
        let source = match *measure {
            Measure::CountRows => match rows_block {
                Some(block) => {
                    from.push(block);
                    continue;
                }
                None => Source::Rows,
            },
            Measure::Sum(v) | Measure::Mean(v) | Measure::Variance(v) | Measure::Deviation(v) => {
                from.push(of_value(&found, v).unwrap_or_default());
                continue;
            }
            Measure::Count(v) => match of_value(&found, v) {
                Some(block)
                    if !matches!(found[block], Source::Values { wanted: Wanted::Sum, .. }) =>
                {
                    from.push(block);
                    continue;
                }
                _ => Source::Present(v),
            },
            Measure::CountPeople => Source::People,
            Measure::CountDistinct(v) => Source::Distinct(v),
            Measure::Quantile(v, rank) => Source::Rank(v, rank),
            Measure::Mode(v) => Source::Mode(v),
        };
        let place = found.iter().position(|s| *s == source).unwrap_or_else(|| {
            found.push(source);
            found.len() - 1
        });
        from.push(place);
    }
    (found, from)
}

impl Quote {
    /// Nothing is measured: public keys alone.
    pub(crate) fn free() -> Self {
        Self {
            blocks: Vec::new(),
            selection: None,
            from: Vec::new(),
            event: Event::Compose(Vec::new()),
            epsilon: None,
            columns: Vec::new(),
        }
    }

    /// What the bounding is told: which columns the blocks read, in which form.
    pub(crate) fn spec(&self, aggregate: &PrivateAggregate) -> BoundSpec {
        let keys = usize::from(aggregate.bounded);
        let first = keys + aggregate.key_count;
        let arguments = self.forms(aggregate).into_iter();
        BoundSpec {
            unit: aggregate.bounded.then_some(0),
            keys: (keys..first).collect(),
            arguments: arguments.map(|(v, form)| Argument { column: first + v, form }).collect(),
            max_groups: aggregate.limits.groups,
            max_rows: aggregate.limits.rows,
        }
    }

    /// Each argument of the bounding: a value and the form it is kept in.
    pub(crate) fn forms(&self, aggregate: &PrivateAggregate) -> Vec<(usize, Form)> {
        let mut forms: Vec<(usize, Form)> = Vec::new();
        for block in &self.blocks {
            let Some((value, form)) = block.form(aggregate) else { continue };
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

pub(crate) fn internal(what: &str) -> Error {
    Error::Sql(format!("the query could not be priced: {what}"))
}
