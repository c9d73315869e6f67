//! MEDIAN_ABSOLUTE_DEVIATION(x): the median distance from the median.
//!
//! # Guarantee
//! The block's budget, for all groups together, under either relation.
//! # Proof
//! Half of the budget buys a median m of the group. Given m, the distances |x − m| are values of the same rows, one
//! per row, so their median is a quantile like any other ([`Ordered`]); it is bought with the other half. The second
//! depends on the first only through m, which is released, so the two compose: ε/2 + ε/2, or ρ/2 + ρ/2. ∎
//! # Coverage
//! Both come with intervals, which hold together but for probability [`BETA`](super::BETA). Another median, at most d from m,
//! moves each distance by at most d, and so every order statistic of the distances: the interval of the second is widened by
//! how far the first one's reaches from m.

use super::ends::Located;
use super::quantile::{Ordered, on_grid};
use super::{
    Block, BlockPlan, Call, Described, ExactGroups, Family, Measure, Planned, PrivateAggregate,
    ReleasedColumns, Share, Weights, each_its_block,
};
use crate::bound::Form;
use crate::error::Result;
use crate::rows::added_functions::{Returns, planned_only};
use datafusion::logical_expr::AggregateUDF;
use demure_core::event::Event;
use demure_core::mechanism::Bounds;
use demure_core::random::Randomness;
use demure_core::unit::{Beta, Neighbours};

/// `MEDIAN_ABSOLUTE_DEVIATION(x)` and `MAD(x)`.
pub(super) struct Deviations;

const CODE: isize = 10;
const NAMES: [&str; 2] = ["median_absolute_deviation", "mad"];

impl Family for Deviations {
    fn functions(&self) -> Vec<AggregateUDF> {
        NAMES.iter().map(|name| planned_only(name, Returns::Real)).collect()
    }

    fn recognise(&'static self, call: &mut Call<'_>) -> Result<Option<Measure>> {
        if !NAMES.contains(&call.name()) {
            return Ok(None);
        }
        let value = Some(call.ranked_number()?);
        Ok(Some(Measure { family: self, code: CODE, value, rank: None }))
    }

    fn written(&self, _: &Measure, argument: &str) -> String {
        format!("median_absolute_deviation({argument})")
    }

    fn blocks(
        &self,
        measures: &[(usize, Measure)],
        _: &PrivateAggregate,
        _: Neighbours,
    ) -> Vec<Planned> {
        each_its_block(measures, |measure| Box::new(DeviationPlan(*measure)))
    }
}

struct DeviationPlan(Measure);

impl BlockPlan for DeviationPlan {
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
        let bounds = aggregate.bounds(value)?;
        let half = share.half()?;
        let distances = Bounds::on(0.0, bounds.upper() - bounds.lower(), bounds.grid())?;
        let median = |bounds| Ordered::of((value, 0.5), bounds, &half, aggregate, weights);
        let (centre, distance) = (median(bounds)?, median(distances)?);
        Ok(Box::new(Deviation { value, bounds, centre, distance, event: share.event() }))
    }
}

/// A median and the median distance from it.
pub(crate) struct Deviation {
    value: usize,
    bounds: Bounds,
    pub(crate) centre: Ordered,
    pub(crate) distance: Ordered,
    event: Event,
}

impl Block for Deviation {
    fn event(&self) -> Result<Event> {
        Ok(self.event.clone())
    }

    fn noise_per_row(&self) -> Result<f64> {
        self.distance.noise_per_row()
    }

    fn reads(&self) -> Option<(usize, Form)> {
        Some((self.value, Form::Steps { bounds: self.bounds, histogram: true }))
    }

    fn describe(
        &self,
        of: &Measure,
        aggregate: &PrivateAggregate,
        beta: Beta,
    ) -> Result<Described> {
        let distance = self.distance.describe(of, aggregate, beta)?;
        let mechanism =
            format!("{}; once for the median, once for the distances", distance.mechanism);
        Ok(Described { mechanism, ..distance })
    }

    fn release(
        &self,
        groups: &ExactGroups<'_>,
        rng: &mut dyn Randomness,
    ) -> Result<Box<dyn ReleasedColumns>> {
        groups.release_each(self.value, self.bounds, self.centre.weights(), 1, |histogram| {
            let mut values = on_grid(&self.bounds, histogram);
            let Located { value: centre, low, high } = self.centre.release_one(&values, rng)?;
            values.iter_mut().for_each(|(x, _)| *x = (*x - centre).abs());
            let of = self.distance.release_one(&values, rng)?;
            let off = (high - centre).max(centre - low);
            Ok(Located { low: (of.low - off).max(0.0), high: of.high + off, ..of })
        })
    }
}

#[cfg(test)]
mod tests;
