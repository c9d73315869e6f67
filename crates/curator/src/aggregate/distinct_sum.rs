//! SUM(DISTINCT x) and AVG(DISTINCT x): each distinct value of a group's bounded rows counts once.
//!
//! # Guarantee
//! That of [`Groups`] at the same contributions, under either relation.
//! # Proof
//! Let a unit have at most m rows in a group. The distinct values of the group with the unit are those without it and at
//! most m more: the values that nobody else has. Each is put within the bounds, so the unit's own vector is that of
//! at most m rows within the bounds: a point of the set K in the proof of [`Groups`], which holds 0. *Add or remove*: at
//! most g groups change by a point of K each. *Replace*: first remove the old unit, then add the new one. A group
//! changes by the difference of two points of K, and only in the at most 2g groups that either of them has. The
//! proof uses nothing else. ∎
//!
//! Which values of a person count cannot depend on a bound that is learnt later, because what is kept of the values for
//! every bound is their number alone: so these aggregates use limits.

use super::numbers::{MEAN, SUM, Summaries};
use super::{
    Block, BlockPlan, Call, Described, ExactGroups, Expected, Family, Measure, Place, Planned,
    PrivateAggregate, ReleasedColumns, Share, TYPICAL_ROWS, Value, Weights, internal, within,
};
use crate::bound::Form;
use crate::error::Result;
use crate::words::short;
use datafusion::common::ScalarValue;
use demure_core::event::Event;
use demure_core::mechanism::{Accumulator, Bounds, Contributions, GroupTotals, Groups, Statistics};
use demure_core::random::Randomness;
use demure_core::unit::{Beta, Neighbours};

/// `SUM(DISTINCT x)` and `AVG(DISTINCT x)`.
pub(super) struct DistinctSums;

const DISTINCT_SUM: isize = 13;
const DISTINCT_MEAN: isize = 14;

impl Family for DistinctSums {
    fn recognise(&'static self, call: &mut Call<'_>) -> Result<Option<Measure>> {
        let code = match (call.name(), call.is_distinct()) {
            ("sum", true) => DISTINCT_SUM,
            ("avg" | "mean", true) => DISTINCT_MEAN,
            _ => return Ok(None),
        };
        let value = Some(call.bounded_number()?);
        Ok(Some(Measure { family: self, code, value, rank: None }))
    }

    fn written(&self, measure: &Measure, argument: &str) -> String {
        let name = if measure.code == DISTINCT_SUM { "sum" } else { "avg" };
        format!("{name}(distinct {argument})")
    }

    fn weighs(&self, _: &Measure, _: &[Value]) -> bool {
        false
    }

    /// One block for each column: an average brings its sum along.
    fn blocks(
        &self,
        measures: &[(usize, Measure)],
        _: &PrivateAggregate,
        _: Neighbours,
    ) -> Vec<Planned> {
        let mut found: Vec<(usize, Planned)> = Vec::new();
        for (i, measure) in measures {
            let value = measure.value.unwrap_or_default();
            if let Some((_, planned)) = found.iter_mut().find(|(known, _)| *known == value) {
                planned.serves.push(*i);
                continue;
            }
            let mean =
                measures.iter().any(|(_, m)| m.value == measure.value && m.code == DISTINCT_MEAN);
            let wanted = if mean { Statistics::Mean } else { Statistics::Sum };
            let block = Box::new(DistinctSumPlan { value, wanted });
            found.push((
                value,
                Planned { place: Place::Measure(*i), serves: vec![*i], divides: Vec::new(), block },
            ));
        }
        found.into_iter().map(|(_, planned)| planned).collect()
    }
}

struct DistinctSumPlan {
    value: usize,
    wanted: Statistics,
}

impl BlockPlan for DistinctSumPlan {
    fn has_interval(&self) -> bool {
        true
    }

    fn calibrate(
        &self,
        share: &Share,
        aggregate: &PrivateAggregate,
        weights: Option<&Weights>,
    ) -> Result<Box<dyn Block>> {
        if weights.is_some() {
            return Err(internal("distinct values are not weighed"));
        }
        let (bounds, limits) = (aggregate.bounds(self.value)?, aggregate.limits);
        let of = Contributions::new(limits.groups, limits.rows)?;
        let groups = Groups::values(bounds, self.wanted).single_group(aggregate.single());
        let groups = groups.calibrate(share.budget, share.neighbours, of)?;
        let (value, wanted) = (self.value, self.wanted);
        Ok(Box::new(DistinctSum { value, bounds, groups, wanted, event: share.event() }))
    }
}

/// The noised sum, and count where there is an average, of each group's distinct values.
pub(crate) struct DistinctSum {
    pub(crate) value: usize,
    pub(crate) bounds: Bounds,
    pub(crate) groups: Groups,
    pub(crate) wanted: Statistics,
    event: Event,
}

impl Block for DistinctSum {
    fn event(&self) -> Result<Event> {
        Ok(self.event.clone())
    }

    fn reads(&self) -> Option<(usize, Form)> {
        Some((self.value, Form::Code))
    }

    fn describe(&self, measure: &Measure, of: &PrivateAggregate, beta: Beta) -> Result<Described> {
        let noise = self.groups.calibration();
        let known = |error: Option<f64>| error.ok_or_else(|| internal("no such number"));
        let error = match measure.code {
            DISTINCT_SUM => Expected::Within(known(self.groups.sum_error(beta)?)?),
            _ => {
                let error = known(self.groups.mean_error(TYPICAL_ROWS, beta)?)?;
                Expected::WithinAt { rows: TYPICAL_ROWS, error }
            }
        };
        let reach = of.reach(of.limits.rows);
        let within = within(&self.bounds);
        let jointly = match self.wanted {
            Statistics::Mean => ", jointly on Σ(x−a), Σ(b−x)",
            _ => "",
        };
        Ok(Described {
            mechanism: format!("{}{jointly}", noise.family),
            sensitivity: format!("{} ({reach}{within})", short(noise.sensitivity)),
            scale: noise.scale,
            error,
            why: None,
        })
    }

    fn release(
        &self,
        groups: &ExactGroups<'_>,
        rng: &mut dyn Randomness,
    ) -> Result<Box<dyn ReleasedColumns>> {
        let totals: Vec<GroupTotals> = groups
            .codes(self.value)
            .map(|values| {
                let numbers = values.iter().filter_map(|(value, _)| match value {
                    ScalarValue::Float64(number) => *number,
                    _ => None,
                });
                GroupTotals::values(Accumulator::of_values(self.bounds, numbers), 0)
            })
            .collect();
        let released = self.groups.release(&totals, rng)?.into_value();
        let summaries = Summaries::new(&self.groups, released).with_loss(0.0, Some(self.bounds));
        Ok(Box::new(OfDistinct(summaries)))
    }
}

/// Sums and means under their own codes.
struct OfDistinct(Summaries);

fn plain(measure: &Measure) -> Measure {
    let code = if measure.code == DISTINCT_SUM { SUM } else { MEAN };
    Measure { code, ..*measure }
}

impl ReleasedColumns for OfDistinct {
    fn column(&self, measure: &Measure) -> Result<Vec<(ScalarValue, Option<f64>)>> {
        self.0.column(&plain(measure))
    }

    fn errors(&self, measure: &Measure, among: u32) -> Result<Vec<Option<f64>>> {
        self.0.errors(&plain(measure), among)
    }
}

#[cfg(test)]
mod tests;
