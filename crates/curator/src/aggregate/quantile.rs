//! MEDIAN and other quantiles: which mechanism releases them, and why.
//!
//! Which of the two mechanisms has the smaller error depends on the data. Only ε, the neighbour relation and the
//! number of rows per person are public. So both are compared on values that are evenly spread around the quantile,
//! farther apart than the grid's points, by the root mean square of their error in ranks. There the exponential
//! mechanism has a two-sided exponential error of scale r, so √2·r. The smooth sensitivity of values that lie d apart
//! is `d·max_k (k+1)e^(−tk)`, so its noise has that many deviations. A stable release would find that the values next
//! to the quantile differ, and would never answer, whatever ε is.

use super::share::down;
use super::{
    BETA, Block, BlockPlan, Call, Described, ExactGroups, Expected, Family, Measure, Most, Planned,
    PrivateAggregate, ReleasedColumns, Share, Weights, each_its_block, extreme, typical,
};
use crate::bound::Form;
use crate::error::Result;
use crate::words::short;
use demure_core::event::Event;
use demure_core::mechanism::{Bounds, Budget, Guarantee, Quantile};
use demure_core::random::Randomness;
use demure_core::sensitivity::{NoiseFamily, OrderStatistic, SmoothNoise, Smoothness, Values};
use demure_core::unit::{Beta, Epsilon, Neighbours, Rho};
use demure_core::utility::Accuracy;
use std::collections::BTreeMap;
use std::f64::consts::SQRT_2;

/// The shares of one row's budget that the smoothing is tried with.
const SHARES: [f64; 8] = [0.02, 0.05, 0.08, 0.1, 0.13, 0.16, 0.2, 0.25];

/// `MEDIAN(x)`, `APPROX_PERCENTILE_CONT(x, q)` and the like.
pub(super) struct Quantiles;

/// The function code of all quantiles. MIN and MAX are those of rank 0 and 1.
pub(super) const CODE: isize = 8;

impl Family for Quantiles {
    fn recognise(&'static self, call: &mut Call<'_>) -> Result<Option<Measure>> {
        let rank = match call.name() {
            "median" | "approx_median" => 0.5,
            "approx_percentile_cont" | "percentile_cont" => call.take_rank()?,
            _ => return Ok(None),
        };
        let value = Some(call.ranked_number()?);
        let inside = rank > 0.0 && rank < 1.0;
        let family: &'static dyn Family = if inside { self } else { &extreme::Extremes };
        Ok(Some(Measure { family, code: CODE, value, rank: Some(rank) }))
    }

    fn written(&self, measure: &Measure, argument: &str) -> String {
        format!("quantile({argument}, {})", measure.rank.unwrap_or(0.5))
    }

    fn blocks(&self, measures: &[(usize, Measure)], _: &PrivateAggregate) -> Vec<Planned> {
        each_its_block(measures, |measure| Box::new(QuantilePlan(*measure)))
    }
}

struct QuantilePlan(Measure);

impl BlockPlan for QuantilePlan {
    fn calibrate(
        &self,
        share: &Share,
        aggregate: &PrivateAggregate,
        weights: Option<&Weights>,
    ) -> Result<Box<dyn Block>> {
        let (value, rank) = (self.0.argument()?, self.0.rank.unwrap_or(0.5));
        let bounds = aggregate.bounds(value)?;
        Ok(Box::new(Ordered::of((value, rank), bounds, share, aggregate, weights)?))
    }
}

/// A quantile of each group.
pub(crate) struct Ordered {
    pub(crate) value: usize,
    pub(crate) rank: f64,
    bounds: Bounds,
    method: Method,
    weights: Option<Weights>,
    event: Event,
    /// Why this mechanism, where there was a choice.
    why: Option<String>,
}

pub(crate) enum Method {
    Ranks(Box<Quantile>),
    Smooth(SmoothNoise),
}

impl Ordered {
    /// The quantile of a value, or of a number computed from it row by row, within these bounds.
    pub(super) fn of(
        of: (usize, f64),
        bounds: Bounds,
        share: &Share,
        aggregate: &PrivateAggregate,
        weights: Option<&Weights>,
    ) -> Result<Self> {
        let ordered = Self::new(of, bounds, share, aggregate.most(weights), aggregate.single())?;
        Ok(Self { weights: weights.copied(), ..ordered })
    }

    pub(super) fn new(
        (value, rank): (usize, f64),
        bounds: Bounds,
        share: &Share,
        most: Most,
        single: bool,
    ) -> Result<Self> {
        // The quantile rounds its rank to 2⁻³².
        let h = rank.max(1.0 - rank) + 2f64.powi(-32);
        let epsilon = share.per_row(most, single, h)?;
        let (low, high) = (bounds.lower(), bounds.upper());
        let ranks =
            Quantile::with_grid(epsilon, share.neighbours, rank, low..=high, bounds.grid())?;
        if most.weighted {
            let (method, why) = (Method::Ranks(Box::new(ranks)), None);
            let event = share.event();
            return Ok(Self { value, rank, bounds, method, weights: None, event, why });
        }
        let by_ranks = SQRT_2 * ranks.scale();
        let limits = (most.groups, most.rows);
        let smooth = smooth(share.budget, share.neighbours, limits, single);
        let by_smooth = smooth.as_ref().map_or(f64::INFINITY, even_deviation);
        let (method, chosen, other, least, more) = match smooth {
            Some(noise) if by_smooth < by_ranks => (
                Method::Smooth(noise),
                "smooth sensitivity",
                "the exponential mechanism",
                by_smooth,
                by_ranks,
            ),
            _ => (
                Method::Ranks(Box::new(ranks)),
                "the exponential mechanism",
                "smooth sensitivity",
                by_ranks,
                by_smooth,
            ),
        };
        let why = format!(
            "on evenly spread values {chosen} is off by {} ranks (root mean square), {other} by {}; \
             a stable release would give no answer",
            short(least),
            short(more)
        );
        let (event, why) = (share.event(), Some(why));
        Ok(Self { value, rank, bounds, method, weights: None, event, why })
    }

    #[cfg(test)]
    pub(crate) fn method(&self) -> &Method {
        &self.method
    }

    /// The 95 % error of smooth noise in ranks, if values are evenly spread.
    fn even_error(noise: &SmoothNoise) -> f64 {
        steepest(noise.t().get()) * exceeded(noise.family(), BETA) / noise.s()
    }

    /// The weights of people, where they are weighed.
    pub(super) fn weights(&self) -> Option<&Weights> {
        self.weights.as_ref()
    }

    /// How many steps a row of full weight counts.
    fn steps(&self) -> f64 {
        Weights::steps(self.weights.as_ref())
    }

    /// The mechanism in words, its sensitivity and its scale.
    fn told(&self, rows: f64) -> (String, String, f64) {
        match &self.method {
            Method::Ranks(quantile) => (
                "exponential mechanism on ranks".to_owned(),
                format!("{} ranks", short(quantile.sensitivity() * rows)),
                quantile.scale() / self.steps(),
            ),
            Method::Smooth(noise) => (
                format!("smooth sensitivity, {} noise", noise.family()),
                format!("that of these rows, smoothed by t = {}", short(noise.t().get())),
                1.0 / noise.s(),
            ),
        }
    }

    /// Releases the quantile of a group's values, each with the number of its rows.
    ///
    /// # Guarantee
    /// The block's budget, for all groups together: see [`Share::per_row`] and [`smooth`].
    pub(super) fn release_one(
        &self,
        values: &[(f64, u64)],
        rng: &mut dyn Randomness,
    ) -> Result<f64> {
        match &self.method {
            Method::Ranks(quantile) => Ok(quantile.release_counted(values, rng)?.into_value()),
            Method::Smooth(noise) => {
                let repeat = |&(x, n): &(f64, u64)| {
                    std::iter::repeat_n(x, usize::try_from(n).unwrap_or(usize::MAX))
                };
                let values = Values::new(self.bounds, values.iter().flat_map(repeat));
                let statistic = OrderStatistic::of_rows(&values, self.rank)?;
                Ok(noise.release(&statistic, rng)?.into_value())
            }
        }
    }
}

impl Block for Ordered {
    fn event(&self) -> Result<Event> {
        Ok(self.event.clone())
    }

    fn noise_per_row(&self) -> Result<f64> {
        match &self.method {
            Method::Ranks(quantile) => Ok(quantile.error(typical()?)? / self.steps()),
            Method::Smooth(_) => Ok(self.told(1.0).2),
        }
    }

    fn reads(&self) -> Option<(usize, Form)> {
        Some((self.value, Form::Steps { bounds: self.bounds, histogram: true }))
    }

    fn describe(&self, _: &Measure, of: &PrivateAggregate, beta: Beta) -> Result<Described> {
        let weights = self.weights.as_ref();
        let rows = weights.map_or(f64::from(of.limits.rows), |weights| weights.bound() as f64);
        let (mechanism, sensitivity, scale) = self.told(rows);
        let error = match &self.method {
            Method::Ranks(quantile) => Expected::Ranks(quantile.error(beta)? / self.steps()),
            Method::Smooth(noise) => Expected::EvenRanks(Self::even_error(noise)),
        };
        let sensitivity = format!("{sensitivity} ({})", of.most_in_words(weights));
        Ok(Described { mechanism, sensitivity, scale, error, why: self.why.clone() })
    }

    fn release(
        &self,
        groups: &ExactGroups<'_>,
        rng: &mut dyn Randomness,
    ) -> Result<Box<dyn ReleasedColumns>> {
        groups.release_each(self.value, self.bounds, self.weights.as_ref(), |histogram| {
            self.release_one(&on_grid(&self.bounds, histogram), rng)
        })
    }
}

/// The values in a histogram, on the grid, each with the number of its rows.
pub(super) fn on_grid(bounds: &Bounds, histogram: &BTreeMap<u32, u64>) -> Vec<(f64, u64)> {
    let lower = (bounds.lower() / bounds.grid().spacing()).round() as i128;
    let value = |step: u32| bounds.grid().at(lower + i128::from(step));
    histogram.iter().map(|(&step, &n)| (value(step), n)).collect()
}

/// Smooth noise for one row, calibrated so that all groups together cost the budget; `None` if ε is too small.
///
/// # Proof
/// Adding, removing or replacing one row of a group replaces one value ([`OrderStatistic::of_rows`]), which costs ε′
/// or ρ′. A unit has at most m rows in a group: if it is added, removed or replaced, at most m values are replaced,
/// one after the other, and old rows pair up with new ones. That is mε′ or, as √ρ adds up, m²ρ′. *Add or remove*: g
/// groups change. *Replace*: one group changes if there is only one; otherwise the g groups of the old rows and the g
/// groups of the new rows. Groups have no row in common, so their costs add up. ∎
fn smooth(
    budget: Budget,
    neighbours: Neighbours,
    (g, m): (u32, u32),
    single: bool,
) -> Option<SmoothNoise> {
    let (g, m) = (f64::from(g), f64::from(m));
    let touched = match neighbours {
        Neighbours::AddRemove => g,
        Neighbours::Replace if single => 1.0,
        Neighbours::Replace => 2.0 * g,
    };
    let (one, whole) = match budget {
        Budget::Pure(epsilon) => {
            let one = Epsilon::new(down(epsilon.get() / (touched * m))).ok()?;
            (Guarantee::Pure(one), one.get())
        }
        Budget::Concentrated(rho) => {
            let one = Rho::new(down(rho.get() / (touched * m * m))).ok()?;
            (Guarantee::Concentrated(one), (2.0 * one.get()).sqrt())
        }
    };
    let all = SHARES
        .iter()
        .filter_map(|share| SmoothNoise::new(one, Some(Smoothness::new(share * whole).ok()?)).ok());
    // Requires so little noise per step that every range on the grid can be drawn.
    let all = all.filter(|noise| noise.s() > 1e-6);
    all.min_by(|a, b| even_deviation(a).total_cmp(&even_deviation(b)))
}

/// `max_k (k+1)e^(−tk)`, at the whole numbers around `1/t − 1`.
fn steepest(t: f64) -> f64 {
    let peak = (1.0 / t - 1.0).max(0.0).floor();
    let at = |k: f64| (k + 1.0) * (-t * k).exp();
    at(peak).max(at(peak + 1.0))
}

/// The standard deviation of the noise in ranks, if values are evenly spread.
fn even_deviation(noise: &SmoothNoise) -> f64 {
    steepest(noise.t().get()) * noise.deviation()
}

/// The x that |Z| exceeds with probability β, accurate to one in a thousand.
fn exceeded(family: NoiseFamily, beta: f64) -> f64 {
    let beyond = |x: f64| match family {
        NoiseFamily::LaplacePareto { gamma } => {
            let (g, edge) = (f64::from(gamma), (-(f64::from(gamma) + 1.0)).exp());
            let start = g + 1.0;
            let tail = edge * start / g;
            let beyond =
                if x <= start { (-x).exp() - edge + tail } else { tail * (start / x).powf(g) };
            beyond / (1.0 - edge + tail)
        }
        NoiseFamily::LaplaceLogNormal { sigma } => {
            // E exp(−x·e^(−σY)) by a sum over Y.
            let weight = |y: f64| (-0.5 * y * y).exp();
            let points = (-80..=80).map(|i| f64::from(i) / 10.0);
            let (sum, all) = points.fold((0.0, 0.0), |(sum, all), y| {
                (sum + weight(y) * (-x * (-sigma * y).exp()).exp(), all + weight(y))
            });
            sum / all
        }
        _ => f64::NAN, // not among the candidates
    };
    let (mut low, mut high) = (0.0, 1e6);
    while high - low > 1e-3 * high {
        let middle = 0.5 * (low + high);
        if beyond(middle) > beta { low = middle } else { high = middle }
    }
    high
}

#[cfg(test)]
mod tests;
