//! MEDIAN and other quantiles: which mechanism releases them, and why.
//!
//! Which of the two mechanisms has the smaller error depends on the data. Only ε, the neighbour relation and the
//! number of rows per person are public. So both are compared on values that are evenly spread around the quantile,
//! farther apart than the grid's points, by the root mean square of their error in ranks. There the exponential
//! mechanism has a two-sided exponential error of scale r, so √2·r. The smooth sensitivity of values that lie d apart
//! is `d·max_k (k+1)e^(−tk)`, so its noise has that many deviations. A stable release would find that the values next
//! to the quantile differ, and would never answer, whatever ε is.
//!
//! The value takes half of a block's budget, and each end of its interval a quarter (`ends.rs`). A larger part for the ends
//! narrows the interval by less than it costs the value, and a smaller part the other way round: simulated on ages,
//! salaries, costs with many zeros, Pareto amounts, ratings and uniform numbers, 300 to 30,000 rows, ε 0.1 to 1, medians and
//! 0.9-quantiles, a third for each makes the value's error 2.07 times as large for an interval 0.76 times as wide (geometric
//! means), and 0.6 : 0.2 : 0.2 makes it 0.83 times as large for one 1.21 times as wide. If errors are proportional to
//! 1/ε, or to 1/√ρ, the product of both is least where the value has half.

use super::ends::{self, Ends, Located};
use super::share::down;
use super::{
    BETA, Block, BlockPlan, Call, Described, ExactGroups, Expected, Family, Measure, Most, Planned,
    PrivateAggregate, ReleasedColumns, Share, Weights, each_its_block, extreme, typical,
};
use crate::bound::Form;
use crate::error::Result;
use crate::rows::added_functions::{Returns, of_times_too, ordered_set};
use crate::words::short;
use datafusion::functions_aggregate::approx_median::approx_median_udaf;
use datafusion::functions_aggregate::approx_percentile_cont::approx_percentile_cont_udaf;
use datafusion::functions_aggregate::median::median_udaf;
use datafusion::functions_aggregate::percentile_cont::percentile_cont_udaf;
use datafusion::logical_expr::AggregateUDF;
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
    fn functions(&self) -> Vec<AggregateUDF> {
        let known = [median_udaf(), approx_median_udaf()];
        let with_rank = [percentile_cont_udaf(), approx_percentile_cont_udaf()];
        let known = known.into_iter().map(|function| of_times_too(function, false));
        let with_rank = with_rank.into_iter().map(|function| of_times_too(function, true));
        let disc = ordered_set("percentile_disc", 2, Returns::Argument);
        known.chain(with_rank).chain([disc]).collect()
    }

    fn recognise(&'static self, call: &mut Call<'_>) -> Result<Option<Measure>> {
        let rank = match call.name() {
            "median" | "approx_median" => 0.5,
            // On a grid of values there is nothing between two of them: the released quantile is the same.
            "approx_percentile_cont" | "percentile_cont" | "percentile_disc" => call.take_rank()?,
            _ => return Ok(None),
        };
        let value = Some(call.ranked_value()?);
        let inside = rank > 0.0 && rank < 1.0;
        let family: &'static dyn Family = if inside { self } else { &extreme::Extremes };
        Ok(Some(Measure { family, code: CODE, value, rank: Some(rank) }))
    }

    fn written(&self, measure: &Measure, argument: &str) -> String {
        format!("quantile({argument}, {})", measure.rank.unwrap_or(0.5))
    }

    fn blocks(
        &self,
        measures: &[(usize, Measure)],
        _: &PrivateAggregate,
        _: Neighbours,
    ) -> Vec<Planned> {
        each_its_block(measures, |measure| Box::new(QuantilePlan(*measure)))
    }
}

struct QuantilePlan(Measure);

impl BlockPlan for QuantilePlan {
    fn has_interval(&self) -> bool {
        true
    }

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
    pub(crate) ends: Ends,
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
        Self::new(of, bounds, share, (aggregate.most(weights), aggregate.single()), weights)
    }

    /// The same, given the most that a unit contributes, and whether there is one group.
    pub(super) fn new(
        (value, rank): (usize, f64),
        bounds: Bounds,
        share: &Share,
        reach: (Most, bool),
        weights: Option<&Weights>,
    ) -> Result<Self> {
        let half = share.half()?;
        let (method, why) = method(rank, bounds, &half, reach)?;
        let ends = Ends::new(rank, bounds, &half.half()?, reach, weights)?;
        let (weights, event) = (weights.copied(), share.event());
        Ok(Self { value, rank, bounds, method, ends, weights, event, why })
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

    /// Releases the quantile of a group's values and the ends of its interval; the values come each with the number of its rows.
    ///
    /// # Guarantee
    /// The block's budget, for all groups together: see [`Share::per_row`] and [`smooth`].
    pub(super) fn release_one(
        &self,
        values: &[(f64, u64)],
        rng: &mut dyn Randomness,
    ) -> Result<Located> {
        let value = self.release_value(values, rng)?;
        self.ends.around(value, values, rng)
    }

    fn release_value(&self, values: &[(f64, u64)], rng: &mut dyn Randomness) -> Result<f64> {
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
        let mechanism = match self.method {
            Method::Ranks(_) => format!("{mechanism}, for the value and each end of its interval"),
            Method::Smooth(_) => {
                format!("{mechanism}; exponential mechanism on ranks for each end of its interval")
            }
        };
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
        groups.release_each(
            self.value,
            self.bounds,
            self.weights.as_ref(),
            ends::AMONG,
            |histogram| self.release_one(&on_grid(&self.bounds, histogram), rng),
        )
    }
}

/// The mechanism of the value, and why, where there was a choice.
fn method(
    rank: f64,
    bounds: Bounds,
    share: &Share,
    (most, single): (Most, bool),
) -> Result<(Method, Option<String>)> {
    // The quantile rounds its rank to 2⁻³².
    let h = rank.max(1.0 - rank) + 2f64.powi(-32);
    let epsilon = share.per_row(most, single, h)?;
    let (low, high) = (bounds.lower(), bounds.upper());
    let ranks = Quantile::with_grid(epsilon, share.neighbours, rank, low..=high, bounds.grid())?;
    if most.weighted {
        return Ok((Method::Ranks(Box::new(ranks)), None));
    }
    let by_ranks = SQRT_2 * ranks.scale();
    let limits = (most.groups, most.rows);
    let smooth = smooth(share.budget, share.neighbours, limits, single);
    let by_smooth = smooth.as_ref().map_or(f64::INFINITY, even_deviation);
    let (exponential, smoothed) = ("the exponential mechanism", "smooth sensitivity");
    let (method, chosen, other, least, more) = match smooth {
        Some(noise) if by_smooth < by_ranks => {
            (Method::Smooth(noise), smoothed, exponential, by_smooth, by_ranks)
        }
        _ => (Method::Ranks(Box::new(ranks)), exponential, smoothed, by_ranks, by_smooth),
    };
    let why = format!(
        "on evenly spread values {chosen} is off by {} ranks (root mean square), {other} by {}; \
         a stable release would give no answer",
        short(least),
        short(more)
    );
    Ok((method, Some(why)))
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
