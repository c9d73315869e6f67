//! Contribution bounds that are learnt: how many rows of a person count in full.
//!
//! Where a policy declares no limits, nothing is left out. A person with many rows counts with a smaller weight
//! ([`demure_core::mechanism::Ladder`]). A tenth of the query's budget buys a noised histogram of how many rows people
//! have ([`Sizes`]); the bound of least expected error is chosen from it, which is post-processing.
//!
//! People are counted once in each of their groups, so they have a histogram of their own, of how many groups they have; and so
//! have different values, of how many of them a person has. Sums of values without bounds have one of how large they are.

use super::{Block, BlockPlan, Keys, PrivateAggregate, Share, internal};
use crate::bound::{ExactSizes, Form, Weighing};
use crate::error::Result;
use crate::words::short;
use demure_core::event::Event;
use demure_core::mechanism::{Bounded, Budget, KeyWeights, Ladder, Learnt, Norms, Sizes};
use demure_core::random::Randomness;
use std::fmt;

/// The share of a query's budget that buys the histograms of sizes.
pub(super) const SHARE: f64 = 0.1;
/// Less than this share of all rows is hardly anything.
const HARDLY: f64 = 1e-4;
/// Noise is drawn in at most 2^this many steps.
const STEPS: f64 = 58.0;
/// A unit's contribution has at most 2^this many steps.
const REACH: f64 = 60.0;

/// What a block counts of a person: each row, or the person once in each group.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Counted {
    Rows,
    People,
    /// The different values of a column.
    Different(usize),
    /// The norm of a person's sums of a column without bounds.
    Norm(usize, Norms),
}

/// How people are weighed at one bound.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Weights {
    pub(crate) at: Bounded,
    /// The number of the bound on its ladder.
    pub(crate) rung: usize,
    /// Which share of all rows the weights take away, at most but for rare cases; 1 if that is not known.
    pub(crate) lost: f64,
    /// About which share of people is above the bound.
    pub(crate) above: f64,
    /// Of sums, about how many of the finest steps are left; 0 if nothing was learnt.
    pub(crate) kept: f64,
}

impl Weights {
    fn new(ladder: Ladder, rung: usize, lost: f64, above: f64) -> Self {
        Self { at: ladder.bounded(rung), rung, lost, above, kept: 0.0 }
    }

    /// The same for sums.
    fn of_norm(norms: Norms, rung: usize, lost: f64, above: f64, kept: f64) -> Result<Self> {
        Ok(Self { at: norms.at(rung)?, rung, lost, above, kept })
    }

    /// Whether anyone's sums could be seen.
    pub(super) fn saw_anyone(&self) -> bool {
        self.kept > 0.0
    }

    /// How many steps a row of full weight counts: 1 without weights.
    pub(super) fn steps(weights: Option<&Self>) -> f64 {
        weights.map_or(1.0, |weights| weights.at.per_row() as f64)
    }

    /// The bound: the rows of a person that count in full.
    pub(crate) fn bound(&self) -> u64 {
        self.at.bound()
    }

    /// What the bound means for the answer.
    pub(super) fn in_words(&self, counted: Counted, interval: bool) -> String {
        if let Counted::Norm(_, norms) = counted {
            return self.sums_in_words(norms);
        }
        let (bound, above) = (self.bound(), percent(self.above));
        let (what, unit) = match counted {
            Counted::Rows => ("row", "rows"),
            Counted::People => ("group", "groups"),
            Counted::Different(_) | Counted::Norm(..) => ("different value", "different values"),
        };
        let full = match bound {
            1 => format!("1 {what} of each person counts in full"),
            n => format!("up to {n} {unit} of each person count in full"),
        };
        if !self.is_known() {
            return format!(
                "{full}, and what that takes away is not known: there are too few people, at this ε, to \
                 learn how many {unit} they have, or some have very many. Ask with a larger epsilon, or \
                 set demure.max_groups and demure.max_rows_per_group"
            );
        }
        if self.takes_hardly_anything() {
            return format!("{full}; hardly anyone seems to have more");
        }
        if let Counted::Different(_) = counted {
            return format!(
                "{full}; about {above} of people have more, of which the others are left out, and how many \
                 different values that takes away is not known, so there is no interval"
            );
        }
        let allows = if interval { " (the interval allows for it)" } else { "" };
        format!(
            "{full}; about {above} of people have more and count with a smaller weight, which takes away \
             about {} of all {unit}, as far as can be seen{allows}",
            percent(self.lost)
        )
    }

    /// What the bound on sums means for the answer.
    fn sums_in_words(&self, norms: Norms) -> String {
        if !self.saw_anyone() {
            return "there are too few people with a value other than 0, at this ε, to learn how large \
                    their sums are, so a sum without bounds is NULL. Ask with a larger epsilon, or \
                    write CLAMP(x, low, high)"
                .to_owned();
        }
        let bound = norms.bound(self.rung) * 2f64.powi(norms.exponent());
        let full = format!("sums of up to {} of each person count in full", in_full(bound));
        if !self.is_known() {
            return format!(
                "{full}, and what that takes away is not known: sums of some people are beyond all \
                 that can be learnt. Write CLAMP(x, low, high)"
            );
        }
        if self.takes_hardly_anything() {
            return format!("{full}; hardly anyone seems to have more");
        }
        format!(
            "{full}; about {} of people have more and count with a smaller weight, which takes away \
             about {} of all amounts, as far as can be seen (the interval allows for it)",
            percent(self.above),
            percent(self.lost)
        )
    }

    /// Whether hardly anything is taken away, as far as can be seen.
    pub(super) fn takes_hardly_anything(&self) -> bool {
        self.lost < HARDLY
    }

    /// Whether it is known what the weights take away.
    pub(crate) fn is_known(&self) -> bool {
        self.lost < 1.0
    }

    /// Reads what `Display` writes.
    fn parse(text: &str, ladder: Ladder, counted: Counted) -> Option<Self> {
        let mut parts = text.split(' ');
        let rung = parts.next()?.parse().ok()?;
        let mut share = || parts.next()?.parse().ok().filter(|x: &f64| (0.0..=1.0).contains(x));
        let (lost, above) = (share()?, share()?);
        match counted {
            Counted::Norm(_, norms) => {
                let kept = parts.next()?.parse().ok()?;
                Self::of_norm(norms, rung, lost, above, kept).ok()
            }
            _ => Some(Self::new(ladder, rung, lost, above)),
        }
    }
}

impl fmt::Display for Weights {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {} {} {}", self.rung, self.lost, self.above, self.kept)
    }
}

/// The histograms that a query buys.
pub(crate) struct Learning {
    pub(crate) weighing: Weighing,
    /// What each is of.
    sizes: Vec<(Counted, Sizes)>,
    /// Whether a unit is one row, so that only sums are learnt.
    once: bool,
}

impl Learning {
    /// Calibrates the histograms that these blocks need. `share` is the budget of all of them together, `each` that of
    /// each block.
    pub(super) fn new(
        planned: &[Box<dyn BlockPlan>],
        aggregate: &PrivateAggregate,
        share: Share,
        each: Share,
    ) -> Result<Self> {
        let widths = planned.iter().map(|plan| plan.width(aggregate));
        let width = widths.collect::<Result<Vec<f64>>>()?.into_iter().fold(1.0, f64::max);
        let finest = planned.iter().map(|plan| plan.finest()).min().unwrap_or(1);
        let ladder = ladder(width, finest, each.budget)?;
        let mut needed: Vec<Counted> = Vec::new();
        for kind in planned.iter().map(|plan| plan.counted()) {
            // Without groups a person counts once; and a unit that is a row counts as that.
            let once = match kind {
                Counted::People => aggregate.single() || !aggregate.limits.learnt,
                Counted::Rows | Counted::Different(_) => !aggregate.limits.learnt,
                Counted::Norm(..) => false,
            };
            if !once && !needed.contains(&kind) {
                needed.push(kind);
            }
        }
        let share = share.divided(needed.len().max(1))?;
        let sizes = |kind| {
            let (budget, neighbours) = (share.budget, share.neighbours);
            let sizes = match kind {
                Counted::Norm(_, norms) => Sizes::of_norms(budget, neighbours, &norms)?,
                _ => Sizes::new(budget, neighbours, ladder)?,
            };
            Ok((kind, sizes))
        };
        let sizes = needed.into_iter().map(sizes).collect::<Result<_>>()?;
        let private = matches!(aggregate.keys, Keys::Private);
        let most_groups = private.then_some(KeyWeights::MOST_KEYS);
        let once = !aggregate.limits.learnt;
        let people = planned.iter().any(|plan| plan.counted() == Counted::People);
        let squares = planned.iter().any(|plan| plan.squares());
        let weighing = Weighing { ladder, most_groups, people, squares };
        Ok(Self { weighing, sizes, once })
    }

    /// What the histograms cost.
    pub(super) fn events(&self) -> impl Iterator<Item = Event> + '_ {
        self.sizes.iter().map(|(_, sizes)| sizes.event())
    }

    /// The least bound, with which blocks are described before anything is learnt: a row, or a sum of 1.
    pub(super) fn least(&self, counted: Counted) -> Result<Weights> {
        match counted {
            Counted::Norm(_, norms) => {
                let rung = norms.rung(norms.steps(1.0).unsigned_abs());
                Weights::of_norm(norms, rung, 0.0, 0.0, 0.0)
            }
            _ => Ok(Weights::new(self.weighing.ladder, 0, 0.0, 0.0)),
        }
    }

    /// Whether there is anything to say about what was learnt.
    pub(super) fn says(&self, counted: Counted) -> bool {
        !self.once || matches!(counted, Counted::Norm(..))
    }

    /// The weights at a rung, whatever is learnt; at the first one if nothing is.
    #[cfg(test)]
    pub(crate) fn weights_at(&self, counted: Counted, rung: usize) -> Weights {
        match counted {
            Counted::Norm(_, norms) => {
                // A sum of 1/4, 1, 4, 16, …
                let size = norms.steps(4f64.powi(rung as i32 - 1)).unsigned_abs();
                let rung = norms.rung(size).min(norms.len() - 1);
                Weights::of_norm(norms, rung, 0.0, 0.0, 1.0).unwrap()
            }
            _ if self.once => Weights::new(self.weighing.ladder, 0, 0.0, 0.0),
            _ => {
                let rung = rung.min(self.weighing.ladder.len() - 1);
                Weights::new(self.weighing.ladder, rung, 0.0, 0.0)
            }
        }
    }

    /// Buys the histograms, and chooses the bound of each block.
    pub(super) fn release(
        &self,
        (exact, forms): (&ExactSizes, &[(usize, Form)]),
        blocks: &[(Counted, &dyn Block)],
        groups: usize,
        rng: &mut dyn Randomness,
    ) -> Result<Vec<Weights>> {
        let mut learnt: Vec<(Counted, Learnt)> = Vec::with_capacity(self.sizes.len());
        for (kind, sizes) in &self.sizes {
            let units = match kind {
                Counted::Rows => Some(&exact.rows),
                Counted::People => Some(&exact.groups),
                Counted::Different(value) => {
                    let place = forms.iter().position(|form| *form == (*value, Form::Code));
                    place.and_then(|place| exact.different.get(place))
                }
                Counted::Norm(value, norms) => {
                    let wanted = (*value, Form::Norm(*norms));
                    let place = forms.iter().position(|form| *form == wanted);
                    place.and_then(|place| exact.norms.get(place))
                }
            };
            let units = units.ok_or_else(|| internal("sizes that were not counted"))?;
            learnt.push((*kind, sizes.release(units, rng)?.into_value()));
        }
        let of = |(counted, block): &(Counted, &dyn Block)| {
            let learnt = learnt.iter().find(|(kind, _)| kind == counted);
            let Some((_, learnt)) = learnt else { return self.least(*counted) };
            let rung = learnt.best(block.noise_per_row()?, groups);
            let (lost, above) = (learnt.share_lost(rung), learnt.share_above(rung));
            if let Counted::Norm(_, norms) = counted {
                return Weights::of_norm(*norms, rung, lost, above, learnt.kept(rung));
            }
            Ok(Weights::new(self.weighing.ladder, rung, lost, above))
        };
        blocks.iter().map(of).collect()
    }

    /// Reads what [`written`] wrote for so many blocks.
    pub(super) fn read(&self, text: &str, blocks: &[Counted]) -> Option<Vec<Weights>> {
        let ladder = self.weighing.ladder;
        let parts: Vec<&str> = text.split(';').collect();
        let all = parts.iter().zip(blocks).map(|(one, kind)| Weights::parse(one, ladder, *kind));
        let all: Option<Vec<Weights>> = all.collect();
        all.filter(|_| parts.len() == blocks.len())
    }
}

/// A bound on sums: whole where it is large.
fn in_full(bound: f64) -> String {
    if (1.0..1e15).contains(&bound) { (bound as u64).to_string() } else { short(bound) }
}

/// A share in percent, with two digits.
fn percent(share: f64) -> String {
    let percent = 100.0 * share;
    let digits = match percent {
        p if p >= 9.95 => 0,
        p if p >= 0.095 => 1,
        _ => 2,
    };
    format!("{percent:.digits$} %")
}

/// The weights of all blocks as a text, for the ledger.
pub(super) fn written(all: &[Weights]) -> String {
    all.iter().map(Weights::to_string).collect::<Vec<_>>().join(";")
}

/// Rungs so high, and weights so fine, that noise can still be drawn: a row adds up to `width` steps.
fn ladder(width: f64, finest: u32, budget: Budget) -> Result<Ladder> {
    let rate = match budget {
        Budget::Pure(epsilon) => epsilon.get(),
        Budget::Concentrated(rho) => (2.0 * rho.get()).sqrt(),
    };
    // A bound is at most 3·2^fine, and twice that where a person is replaced.
    let steps = (6.0 * width).log2();
    let fine = (STEPS - steps - (1.0 / rate).log2().max(0.0)).min(REACH - steps).clamp(1.0, 30.0);
    let fine = (fine as u32).min(finest);
    let top = fine.saturating_sub(8).clamp(1, 20);
    Ladder::new(top, fine).map_err(|_| internal("no ladder"))
}

#[cfg(test)]
mod tests;
