//! MIN and MAX: the outermost point of a grid that enough rows reach.

use super::ends::Located;
use super::share::down;
use super::{
    Block, BlockPlan, Call, Described, ExactGroups, Expected, Family, Measure, Most, Planned,
    PrivateAggregate, ReleasedColumns, Share, Weights, each_its_block, quantile, typical,
};
use crate::bound::Form;
use crate::error::Result;
use demure_core::event::Event;
use demure_core::mechanism::{AboveThreshold, Answer, Bounds, Budget, Change};
use demure_core::random::Randomness;
use demure_core::unit::{Beta, Epsilon, Neighbours, Sensitivity};
use demure_core::utility::Accuracy;
use std::collections::BTreeMap;

/// The largest number of grid points queried, from the far end inwards.
const POINTS: f64 = 4096.0;

/// `MIN(x)` and `MAX(x)`: the quantiles of rank 0 and 1.
pub(super) struct Extremes;

impl Family for Extremes {
    fn recognise(&'static self, call: &mut Call<'_>) -> Result<Option<Measure>> {
        let rank = match call.name() {
            "min" => 0.0,
            "max" => 1.0,
            _ => return Ok(None),
        };
        let value = Some(call.ranked_value()?);
        Ok(Some(Measure { family: self, code: quantile::CODE, value, rank: Some(rank) }))
    }

    fn written(&self, measure: &Measure, argument: &str) -> String {
        format!("{}({argument})", if largest(measure) { "max" } else { "min" })
    }

    fn blocks(
        &self,
        measures: &[(usize, Measure)],
        _: &PrivateAggregate,
        _: Neighbours,
    ) -> Vec<Planned> {
        each_its_block(measures, |measure| Box::new(ExtremePlan(*measure)))
    }
}

fn largest(measure: &Measure) -> bool {
    measure.rank.is_some_and(|rank| rank >= 1.0)
}

struct ExtremePlan(Measure);

impl BlockPlan for ExtremePlan {
    fn has_interval(&self) -> bool {
        true
    }

    fn calibrate(
        &self,
        share: &Share,
        aggregate: &PrivateAggregate,
        weights: Option<&Weights>,
    ) -> Result<Box<dyn Block>> {
        let value = self.0.argument()?;
        let of = (value, largest(&self.0), aggregate.bounds(value)?);
        let Most { groups, rows, .. } = aggregate.most(weights);
        let extreme = Extreme::new(of, share, (groups, rows))?;
        Ok(Box::new(Extreme { weights: weights.copied(), ..extreme }))
    }
}

/// The first point of a grid, from the far end of the bounds inwards, that at least T rows reach: MAX is the largest
/// `o` with `#{x ≥ o} ≥ T`, MIN the smallest with `#{x ≤ o} ≥ T`, both noised. T is so large that empty stretches are
/// passed over.
///
/// # Guarantee
/// The block's budget, for all groups together, under either relation.
/// # Proof
/// Each group is one [`AboveThreshold`] of ε′ with one "above": its queries are counts of rows,
/// which m rows added or removed all move the same way, by at most m. *Add or remove*: at most g
/// groups change: gε′, or g·ε′²/2 as zCDP. *Replace* is a removal and an addition: at most 2gε′; as
/// zCDP at most g groups change twice, `g·(2ε′)²/2`, or 2g once, `2g·ε′²/2`.
///
/// *Weighted*: the rows of a unit in each group are a vector r with a norm of at most m, a group costs `ε′r/m`, and g = 1: in all
/// ε′, or ε′²/2; with a removal and an addition 2ε′, or `Σ(r+r′)²·ε′²/2m² ≤ (2ε′)²/2`. ∎
/// # Coverage
/// But for probability [`BETA`](super::BETA), the largest value lies between the released one and the upper bound of the column,
/// and the smallest one between the lower bound and the released one. Nothing better is true on the other
/// side: one row beyond, which may be anywhere, changes what is released by hardly anything.
/// # Proof
/// A point that no row reaches passes if its noise is as much as T above that of the threshold. T is the sum of t₁ =
/// s₁·ln 40 and t₂ = s₂·ln(40·points), so one of them must be exceeded on its side. `P[Z ≥ t] ≤ e^(−t/s)` for
/// geometric noise: that is 1/40 for the threshold and 1/40 for all points together. Weights are positive only where there are
/// rows. ∎
/// # Special values
/// If no point passes, the near end of the bounds is released, and the interval is the column's bounds.
pub(crate) struct Extreme {
    pub(crate) value: usize,
    pub(crate) largest: bool,
    mechanism: AboveThreshold,
    threshold: i128,
    bounds: Bounds,
    /// The size of a point: 2^coarse steps of the column's grid.
    coarse: u32,
    points: u32,
    weights: Option<Weights>,
    event: Event,
}

impl Extreme {
    fn new(
        (value, largest, bounds): (usize, bool, Bounds),
        share: &Share,
        (g, m): (u32, u32),
    ) -> Result<Self> {
        let g = f64::from(g);
        let each = match (share.budget, share.neighbours) {
            (Budget::Pure(epsilon), Neighbours::AddRemove) => epsilon.get() / g,
            (Budget::Pure(epsilon), Neighbours::Replace) => epsilon.get() / (2.0 * g),
            (Budget::Concentrated(rho), Neighbours::AddRemove) => (2.0 * rho.get() / g).sqrt(),
            (Budget::Concentrated(rho), Neighbours::Replace) => (rho.get() / (2.0 * g)).sqrt(),
        };
        let epsilon = Epsilon::new(down(each))?;
        let sensitivity = Sensitivity::new(f64::from(m))?;
        let mechanism = AboveThreshold::new(epsilon, sensitivity, 1, Change::Monotone)?;
        let steps = (bounds.upper() - bounds.lower()) / bounds.grid().spacing();
        let coarse = (steps / POINTS).log2().ceil().max(0.0) as u32;
        let points = (steps as u64 >> coarse) as u32 + 1;
        // Bounds on the noise of all points together and on that of the threshold, each exceeded with probability
        // 1/40.
        let (first, second) = mechanism.scales();
        let threshold = first * 40f64.ln() + second * (40.0 * f64::from(points)).ln();
        let threshold = threshold.ceil() as i128;
        let event = share.event();
        let weights = None;
        Ok(Self { value, largest, mechanism, threshold, bounds, coarse, points, weights, event })
    }

    /// How many steps a row of full weight counts.
    fn steps(&self) -> f64 {
        Weights::steps(self.weights.as_ref())
    }

    fn scale(&self) -> f64 {
        self.mechanism.scales().1 / self.steps()
    }

    /// The number of rows that may lie beyond the answer.
    fn error(&self, beta: Beta) -> Result<f64> {
        Ok((self.threshold as f64 + self.mechanism.error(beta)?) / self.steps())
    }

    /// Releases the extreme of one group from the counts at the column's grid steps.
    fn release_one(
        &self,
        histogram: &BTreeMap<u32, u64>,
        rng: &mut dyn Randomness,
    ) -> Result<Located> {
        let mut counts = vec![0u64; self.points as usize];
        for (step, n) in histogram {
            let point = (step >> self.coarse).min(self.points - 1);
            let count = &mut counts[point as usize];
            *count = count.saturating_add(*n);
        }
        let mut asking = self.mechanism.start(self.threshold, rng)?;
        let mut reached: i128 = 0;
        let mut found = if self.largest { 0 } else { self.points - 1 };
        for i in 0..self.points {
            let point = if self.largest { self.points - 1 - i } else { i };
            reached += i128::from(counts[point as usize]);
            if matches!(asking.ask(reached, rng)?.into_value(), Answer::Above(_)) {
                found = point;
                break;
            }
        }
        let (lower, upper) = (self.bounds.lower(), self.bounds.upper());
        let first = (lower / self.bounds.grid().spacing()).round() as i128;
        let place = |step: i128| self.bounds.grid().at(first + step).clamp(lower, upper);
        let value = place(i128::from(found) << self.coarse);
        Ok(match self.largest {
            true => Located { value, low: value, high: upper },
            // Rows of a point lie up to the next one.
            false => {
                let high = place(((i128::from(found) + 1) << self.coarse) - 1);
                Located { value, low: lower, high }
            }
        })
    }
}

impl Block for Extreme {
    fn event(&self) -> Result<Event> {
        Ok(self.event.clone())
    }

    fn noise_per_row(&self) -> Result<f64> {
        self.error(typical()?)
    }

    fn reads(&self) -> Option<(usize, Form)> {
        Some((self.value, Form::Steps { bounds: self.bounds, histogram: true }))
    }

    fn describe(&self, _: &Measure, of: &PrivateAggregate, beta: Beta) -> Result<Described> {
        let weights = self.weights.as_ref();
        let rows = weights.map_or(u64::from(of.limits.rows), Weights::bound);
        Ok(Described {
            mechanism: "sparse vector on counts".to_owned(),
            sensitivity: format!("{rows} ({})", of.most_in_words(weights)),
            scale: self.scale(),
            error: Expected::Ranks(self.error(beta)?),
            why: None,
        })
    }

    fn release(
        &self,
        groups: &ExactGroups<'_>,
        rng: &mut dyn Randomness,
    ) -> Result<Box<dyn ReleasedColumns>> {
        groups.release_each(self.value, self.bounds, self.weights.as_ref(), 1, |histogram| {
            self.release_one(histogram, rng)
        })
    }
}
