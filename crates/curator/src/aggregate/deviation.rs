//! MEDIAN_ABSOLUTE_DEVIATION(x): the median distance from the median.
//!
//! # Guarantee
//! The block's budget, for all groups together, under either relation.
//! # Proof
//! Half of the budget buys a median m of the group. Given m, the distances |x − m| are values of the same rows, one
//! per row, so their median is a quantile like any other ([`Ordered`]); it is bought with the other half. The second
//! depends on the first only through m, which is released, so the two compose: ε/2 + ε/2, or ρ/2 + ρ/2. ∎

use super::quantile::{Ordered, spread};
use super::{
    Block, BlockPlan, Call, Described, ExactGroups, Family, Measure, Planned, PrivateAggregate,
    ReleasedColumns, Share, each_its_block,
};
use crate::bound::Form;
use crate::error::Result;
use crate::rows::functions::{Returns, planned_only};
use datafusion::logical_expr::AggregateUDF;
use demure_core::event::Event;
use demure_core::mechanism::Bounds;
use demure_core::random::Randomness;
use demure_core::unit::Beta;

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

    fn blocks(&self, measures: &[(usize, Measure)], _: &PrivateAggregate) -> Vec<Planned> {
        each_its_block(measures, |measure| Box::new(DeviationPlan(*measure)))
    }
}

struct DeviationPlan(Measure);

impl BlockPlan for DeviationPlan {
    fn calibrate(&self, share: &Share, aggregate: &PrivateAggregate) -> Result<Box<dyn Block>> {
        let value = self.0.argument()?;
        let bounds = aggregate.bounds(value)?;
        let half = share.half()?;
        let distances = Bounds::on(0.0, bounds.upper() - bounds.lower(), bounds.grid())?;
        let median = |bounds| Ordered::of(value, 0.5, bounds, &half, aggregate);
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
        let mechanism = format!("{}, for the median and for the distances", distance.mechanism);
        Ok(Described { mechanism, ..distance })
    }

    fn release(
        &self,
        groups: &ExactGroups<'_>,
        rng: &mut dyn Randomness,
    ) -> Result<Box<dyn ReleasedColumns>> {
        groups.release_each(self.value, self.bounds, |histogram| {
            let mut values = spread(&self.bounds, histogram);
            let centre = self.centre.release_one(&values, rng)?;
            values.iter_mut().for_each(|x| *x = (*x - centre).abs());
            self.distance.release_one(&values, rng)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use demure_core::mechanism::Budget;
    use demure_core::random::SeededForTests;
    use demure_core::unit::{Epsilon, Neighbours};

    /// The deviation of one group of these values, in steps of 1 from 0 to 100.
    fn released(epsilon: f64, values: &[f64], rng: &mut SeededForTests) -> f64 {
        let bounds = Bounds::on(0.0, 100.0, demure_core::unit::Grid::ONE).unwrap();
        let budget = Budget::Pure(Epsilon::new(epsilon).unwrap());
        let share = Share { budget, delta: None, neighbours: Neighbours::Replace };
        let half = share.half().unwrap();
        let median = || Ordered::new((0, 0.5), bounds, &half, (1, 1), true).unwrap();
        let (centre, distance) = (median(), median());
        let at = centre.release_one(values, rng).unwrap();
        let distances: Vec<f64> = values.iter().map(|x| (x - at).abs()).collect();
        distance.release_one(&distances, rng).unwrap()
    }

    #[test] // fixed seed
    fn much_epsilon_gives_the_true_deviation_and_little_does_not() {
        // Median 50; the distances are 0, 1, 1, … 50, 50: their median is 25.
        let values: Vec<f64> = (0..=100).map(f64::from).collect();
        let mut rng = SeededForTests::insecure(5);
        let mut near = |epsilon: f64| {
            let released = (0..200).map(|_| released(epsilon, &values, &mut rng));
            released.filter(|x| (x - 25.0).abs() <= 1.0).count()
        };
        assert!(near(4.0) > 150);
        assert!(near(0.01) < 50);
    }

    #[test]
    fn two_halves_cost_at_most_the_whole() {
        for epsilon in [0.1, 0.3, 1.0 / 3.0, 5e-324 * 4.0] {
            let budget = Budget::Pure(Epsilon::new(epsilon).unwrap());
            let share = Share { budget, delta: None, neighbours: Neighbours::AddRemove };
            let Budget::Pure(half) = share.half().unwrap().budget else { panic!() };
            assert!(half.get() + half.get() <= epsilon);
        }
    }
}
