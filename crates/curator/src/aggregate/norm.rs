//! SUM and AVG of values without bounds: each person's sums are scaled by a norm that is learnt.
//!
//! A person's sums in all groups count in full if the sum of their absolute values, their norm, is at most R; otherwise they
//! are scaled down to it ([`Norms`]). R is learnt as bounds on rows are (`learn.rs`). An average is such a sum over the number of rows,
//! which a block of its own counts.

use super::{
    BETA, Block, BlockPlan, Counted, Described, ExactGroups, Expected, Measure, PrivateAggregate,
    ReleasedColumns, Share, TYPICAL_ROWS, Weights, internal, numbers, typical,
};
use crate::bound::Form;
use crate::error::Result;
use crate::words::short;
use datafusion::common::ScalarValue;
use demure_core::event::Event;
use demure_core::mechanism::{Bounds, Contribution, Groups, Norms, Statistics};
use demure_core::random::Randomness;
use demure_core::unit::Beta;

/// Of a sum, this share is rounding to a 64-bit float.
const ROUNDING: f64 = 3e-16;
/// Where fewer steps than this count in full, rounding each value to a whole step is not small.
const COARSE: f64 = 1024.0;

/// The sum of a value without bounds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct NormPlan {
    pub(crate) value: usize,
    pub(crate) norms: Norms,
    /// Whether all values have the same sign, so that sums of different people do not cancel out.
    pub(crate) one_sign: bool,
    /// Whether every value is a whole number of steps, so that none is rounded.
    pub(crate) whole_steps: bool,
}

impl NormPlan {
    /// The plan for a value; `None` if it has bounds.
    pub(super) fn of(value: usize, aggregate: &PrivateAggregate) -> Option<Self> {
        let of = aggregate.values.get(value)?;
        let (facts, norms) = (&of.facts, of.norms?);
        let whole_steps = facts.integral || facts.grid.is_some();
        Some(Self { value, norms, one_sign: facts.interval.has_one_sign(), whole_steps })
    }
}

impl BlockPlan for NormPlan {
    fn counted(&self) -> Counted {
        Counted::Norm(self.value, self.norms)
    }

    fn has_interval(&self) -> bool {
        true
    }

    fn calibrate(
        &self,
        share: &Share,
        aggregate: &PrivateAggregate,
        weights: Option<&Weights>,
    ) -> Result<Box<dyn Block>> {
        let weights = *weights.ok_or_else(|| internal("a sum without bounds or weights"))?;
        let bounds = self.norms.bounds(weights.rung)?;
        let groups = Groups::values(bounds, Statistics::Sum).single_group(aggregate.single());
        let groups = groups.calibrate_weighted(share.budget, share.neighbours, &weights.at)?;
        Ok(Box::new(NormBlock { plan: *self, bounds, groups, weights, event: share.event() }))
    }
}

/// A noised sum for each group.
pub(crate) struct NormBlock {
    pub(crate) plan: NormPlan,
    /// One step of either sign.
    pub(crate) bounds: Bounds,
    pub(crate) groups: Groups,
    pub(crate) weights: Weights,
    event: Event,
}

impl NormBlock {
    /// The norm that counts in full, in units of the value.
    fn bound(&self) -> f64 {
        self.weights.bound() as f64 * self.bounds.upper()
    }

    /// The sums of the people of each group, positive and negative ones.
    fn sums<'a>(
        &self,
        groups: &'a ExactGroups<'_>,
    ) -> impl Iterator<Item = [Contribution; 2]> + 'a {
        let (value, norms) = (self.plan.value, self.plan.norms);
        let scale = norms.scale(self.weights.rung);
        let of = groups.weighed_argument(value, Form::Norm(norms));
        of.map(move |of| of.and_then(|of| of.sums.get(scale)).cloned().unwrap_or_default())
    }

    /// Whether values are so small that rounding them to whole steps may change their sum.
    fn is_coarse(&self) -> bool {
        !self.plan.whole_steps && self.plan.norms.bound(self.weights.rung) < COARSE
    }

    fn error(&self, beta: Beta) -> Result<f64> {
        self.groups.sum_error(beta)?.ok_or_else(|| internal("no such number"))
    }

    /// What weights may have taken from a sum, with s the share of all amounts that they took away: if lost amounts are like the
    /// others, `s/(1−s)` of what is left. Where amounts of both signs cancel out, that is not less than an even part
    /// of all that is lost.
    fn moved(&self, sum: f64, groups: usize) -> f64 {
        let s = self.weights.lost;
        let lost = s / (1.0 - s);
        let unit = 2f64.powi(self.plan.norms.exponent());
        let even = match self.plan.one_sign {
            true => 0.0,
            false => self.weights.kept * unit / groups.max(1) as f64,
        };
        (lost + ROUNDING) * sum.abs().max(even)
    }
}

impl Block for NormBlock {
    fn event(&self) -> Result<Event> {
        Ok(self.event.clone())
    }

    fn noise_per_row(&self) -> Result<f64> {
        Ok(self.error(typical()?)? / self.bound())
    }

    fn reads(&self) -> Option<(usize, Form)> {
        Some((self.plan.value, Form::Norm(self.plan.norms)))
    }

    fn describe(&self, measure: &Measure, _: &PrivateAggregate, beta: Beta) -> Result<Described> {
        let (noise, error) = (self.groups.calibration(), self.error(beta)?);
        let (rows, jointly) = (TYPICAL_ROWS, ", on Σx; divided by a noised number of rows");
        let (error, jointly) = match numbers::is_mean(measure) {
            true => (Expected::WithinAt { rows, error: error / rows as f64 }, jointly),
            false => (Expected::Within(error), ""),
        };
        Ok(Described {
            mechanism: format!("{}{jointly}", noise.family),
            sensitivity: format!(
                "{} (one person's sums of up to {}, in all groups together)",
                short(noise.sensitivity),
                short(self.bound())
            ),
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
        let rung = self.weights.rung;
        let totals = self.sums(groups).map(|sums| self.plan.norms.totals(rung, &sums));
        let totals = totals.collect::<demure_core::Result<Vec<_>>>()?;
        let released = self.groups.release(&totals, rng)?.into_value();
        let count = released.len();
        let mut sums = Vec::with_capacity(count);
        for summary in released {
            let sum = summary.sum.ok_or_else(|| internal("a number that was not released"))?;
            // Where no norm is learnt, what is left of the sums says nothing; nor does it where rounding is not small.
            let known = self.weights.is_known() && !self.is_coarse();
            let moved = known.then(|| self.moved(sum, count));
            sums.push((self.weights.saw_anyone().then_some(sum), moved));
        }
        let (beta, half) = (Beta::new(BETA)?, Beta::new(BETA / 2.0)?);
        let (alone, divided) = (self.error(beta)?, self.error(half)?);
        Ok(Box::new(Sums { sums, alone, divided }))
    }
}

/// Released sums.
struct Sums {
    /// Each with what weights may have taken from it; `None` if that is not known.
    sums: Vec<(Option<f64>, Option<f64>)>,
    /// The error of the noise, and the same where it is half of what may be wrong.
    alone: f64,
    divided: f64,
}

impl ReleasedColumns for Sums {
    fn column(&self, measure: &Measure) -> Result<Vec<(ScalarValue, Option<f64>)>> {
        let error = if numbers::is_mean(measure) { self.divided } else { self.alone };
        let one = |(sum, moved): &(Option<f64>, Option<f64>)| {
            let error = moved.filter(|_| sum.is_some()).map(|moved| error + moved);
            (ScalarValue::Float64(*sum), error)
        };
        Ok(self.sums.iter().map(one).collect())
    }
}

/// A sum over a number of rows, each with its error; at least one row is divided by.
pub(super) fn mean(
    (sum, sum_error): (ScalarValue, Option<f64>),
    (rows, rows_error): (ScalarValue, Option<f64>),
) -> (ScalarValue, Option<f64>) {
    let (ScalarValue::Float64(Some(sum)), ScalarValue::Float64(Some(rows))) = (sum, rows) else {
        return (ScalarValue::Float64(None), None);
    };
    let mean = sum / rows.max(1.0);
    let error = sum_error.zip(rows_error).and_then(|(of_sum, of_rows)| {
        // |S/N − s/n| = |S − s + (s/n)(n − N)|/N, and the same with S/N and n.
        let least = rows - of_rows;
        (least > 0.0).then(|| (of_sum + mean.abs() * of_rows) / least)
    });
    (ScalarValue::Float64(Some(mean)), error)
}
