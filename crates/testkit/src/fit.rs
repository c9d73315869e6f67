//! Goodness of fit: do these samples follow that distribution?
//!
//! Pearson's χ² on cells, at a false-alarm rate of [`FALSE_ALARM`]. Use [`Fit::of`] if the values are few enough for a
//! cell each, [`Fit::by_cdf`] if the scale is so large that they are not, and [`chi_square`] if you already have
//! counts.
//!
//! Draw with a fixed seed, and give every test a *power twin* that draws with the scale 5 %
//! off and must be rejected. The distance of two laws whose scales differ by 5 % is about
//! `0.0025·I` with `I` the Fisher information of the log-scale (1 for Laplace, 2 for
//! Gaussian); 200,000 samples put the statistic some 500 above its mean, far past the
//! critical value of the 64 cells that suffice to see it.

use crate::special::{bisect, upper_gamma};
use crate::sum::compensated;
use std::fmt;
use std::ops::RangeInclusive;

/// The probability that [`Fit::rejects`] a correct sampler.
///
/// Nominal: it is the χ² law's, which the statistic follows up to the skewness of its
/// smallest cell. With [`LEAST_EXPECTED`] the true rate stays below 5e-6.
pub const FALSE_ALARM: f64 = 1e-6;

/// Neighbouring cells are pooled until each expects this many samples.
pub const LEAST_EXPECTED: f64 = 100.0;

/// A hit in a cell that expects fewer samples than this rejects by itself: pooled into a tail, an impossible value
/// would not be noticed. Adds at most 1e-12 per cell to the false alarms.
const IMPOSSIBLE: f64 = 1e-12;

/// The probability left outside the range is a difference `1 − Σ`; below this it is rounding.
const LEFT_BY_ROUNDING: f64 = 1e-14;

/// The largest number of cells for [`Fit::of`]; beyond it, use [`Fit::by_cdf`].
const MOST_CELLS: i128 = 1 << 24;

/// The outcome of a goodness-of-fit test.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Fit {
    statistic: f64,
    degrees: usize,
    samples: u64,
}

impl Fit {
    /// Tests integer samples against a probability mass function: a cell for each value of
    /// `range`, and one cell for everything outside it, with the rest of the probability.
    ///
    /// ```
    /// # use demure_testkit::fit::Fit;
    /// let die = (0..6_000u64).map(|i| i128::from(i * i * 2_654_435_761 / 7 % 6));
    /// let fit = Fit::of(die, |_| 1.0 / 6.0, 0..=5);
    /// assert!(fit.rejects(), "{fit}"); // squares are not uniform
    /// ```
    ///
    /// # Panics
    /// If there is no sample, if `pmf` is no probability or sums to more than one over
    /// `range`, or if fewer than two cells remain after pooling: such a test cannot fail.
    pub fn of(
        samples: impl IntoIterator<Item = i128>,
        pmf: impl Fn(i128) -> f64,
        range: RangeInclusive<i128>,
    ) -> Fit {
        let (first, last) = (*range.start(), *range.end());
        let width = last.saturating_sub(first);
        assert!(
            (0..MOST_CELLS).contains(&width),
            "the range {first}..={last} is empty or has too many cells"
        );
        let mut probabilities: Vec<f64> = range.map(pmf).collect();
        let outside = 1.0 - compensated(probabilities.iter().copied());
        assert!(outside > -1e-9, "the probabilities sum to {}, more than one", 1.0 - outside);
        probabilities.push(if outside < LEFT_BY_ROUNDING { 0.0 } else { outside });

        let mut observed = vec![0u64; probabilities.len()];
        let beyond = observed.len() - 1;
        for sample in samples {
            let cell = match sample.checked_sub(first) {
                Some(offset) if (0..=width).contains(&offset) => offset as usize,
                _ => beyond,
            };
            observed[cell] += 1;
        }
        chi_square(&observed, &probabilities)
    }

    /// Tests integer samples against a distribution function `cdf(k) = P[X ≤ k]`, in
    /// `cells` cells of about equal probability whose edges are its quantiles. For scales
    /// too large for a cell per value; 64 cells suit 200,000 samples.
    ///
    /// # Panics
    /// As [`Fit::of`]; and if `cdf` decreases or does not go from 0 to 1 within ±2¹²⁰.
    pub fn by_cdf(
        samples: impl IntoIterator<Item = i128>,
        cdf: impl Fn(i128) -> f64,
        cells: usize,
    ) -> Fit {
        // Cell j holds the values in (edge j−1, edge j]; the last one has no upper edge.
        let mut edges: Vec<i128> =
            (1..cells).map(|j| quantile(&cdf, j as f64 / cells as f64)).collect();
        edges.dedup();
        let mut below = 0.0;
        let mut probabilities = Vec::with_capacity(edges.len() + 1);
        for edge in &edges {
            let to_here = cdf(*edge);
            probabilities.push(to_here - below);
            below = to_here;
        }
        probabilities.push(1.0 - below);

        let mut observed = vec![0u64; probabilities.len()];
        for sample in samples {
            observed[edges.partition_point(|edge| *edge < sample)] += 1;
        }
        chi_square(&observed, &probabilities)
    }

    /// Pearson's `Σ (observed − expected)² / expected` over the pooled cells; ∞ if an
    /// impossible value was drawn.
    pub fn statistic(&self) -> f64 {
        self.statistic
    }

    /// The degrees of freedom: pooled cells minus one.
    pub fn degrees(&self) -> usize {
        self.degrees
    }

    /// The number of samples.
    pub fn samples(&self) -> u64 {
        self.samples
    }

    /// The value that the statistic of a correct sampler exceeds with probability [`FALSE_ALARM`].
    pub fn critical(&self) -> f64 {
        critical(self.degrees, FALSE_ALARM)
    }

    /// The probability that a correct sampler gives a statistic at least this large.
    pub fn p_value(&self) -> f64 {
        chi_square_tail(self.degrees, self.statistic)
    }

    /// Whether the samples fit.
    pub fn accepts(&self) -> bool {
        !self.rejects()
    }

    /// Whether the samples do not fit: a failure is a bug, not luck.
    pub fn rejects(&self) -> bool {
        // A statistic or a p-value that is NaN has not shown a fit.
        self.p_value().is_nan() || self.p_value() < FALSE_ALARM
    }
}

impl fmt::Display for Fit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "χ²({}) = {:.1} on {} samples, p = {:.2e}, critical value {:.1}",
            self.degrees,
            self.statistic,
            self.samples,
            self.p_value(),
            self.critical()
        )
    }
}

/// Pearson's χ² test of the counts `observed`, cell by cell, against `probabilities`.
///
/// Neighbouring cells are pooled from the first to the last until each expects
/// [`LEAST_EXPECTED`] samples; a remainder joins the last pool.
///
/// # Panics
/// If the slices differ in length, if there is no sample, if `probabilities` are not
/// probabilities that sum to one, or if fewer than two cells remain after pooling.
pub fn chi_square(observed: &[u64], probabilities: &[f64]) -> Fit {
    assert_eq!(observed.len(), probabilities.len(), "one probability for each cell");
    assert!(
        probabilities.iter().all(|p| (0.0..=1.0).contains(p)),
        "a cell's probability is not in [0, 1]"
    );
    let total = compensated(probabilities.iter().copied());
    assert!((total - 1.0).abs() < 1e-9, "the probabilities sum to {total}");
    let samples: u64 = observed.iter().sum();
    assert!(samples > 0, "no samples");

    let cells =
        || observed.iter().zip(probabilities).map(|(&o, &p)| (o as f64, p * samples as f64));
    let impossible = cells().any(|(o, e)| o > 0.0 && e < IMPOSSIBLE);
    let mut pools: Vec<(f64, f64)> = Vec::new();
    let mut open = (0.0, 0.0);
    for (o, e) in cells() {
        open = (open.0 + o, open.1 + e);
        if open.1 >= LEAST_EXPECTED {
            pools.push(open);
            open = (0.0, 0.0);
        }
    }
    if let Some(last) = pools.last_mut() {
        *last = (last.0 + open.0, last.1 + open.1);
    }
    assert!(
        pools.len() >= 2,
        "{} cell after pooling: too few samples, or too coarse a range",
        pools.len()
    );

    let statistic = if impossible {
        f64::INFINITY
    } else {
        compensated(pools.iter().map(|(o, e)| (o - e) * (o - e) / e))
    };
    Fit { statistic, degrees: pools.len() - 1, samples }
}

/// `P[χ²(degrees) ≥ x]`.
pub fn chi_square_tail(degrees: usize, x: f64) -> f64 {
    upper_gamma(degrees as f64 / 2.0, x / 2.0)
}

/// The point that a χ² variable with `degrees` degrees of freedom exceeds with probability `tail`.
///
/// # Panics
/// If `degrees` is zero or `tail` is not in (0, 1).
pub fn critical(degrees: usize, tail: f64) -> f64 {
    assert!(degrees > 0, "no degrees of freedom");
    assert!(tail > 0.0 && tail < 1.0, "a tail probability is in (0, 1), not {tail}");
    let above = |x: f64| chi_square_tail(degrees, x) > tail;
    let mut high = 2.0 * degrees as f64;
    while above(high) {
        high *= 2.0;
    }
    bisect(0.0, high, above).1
}

/// The least `k` with `cdf(k) ≥ p`.
fn quantile(cdf: impl Fn(i128) -> f64, p: f64) -> i128 {
    const FAR: i128 = 1 << 120;
    let (mut low, mut high) = (-1, 1);
    while cdf(low) >= p {
        assert!(low > -FAR, "the distribution function does not reach 0");
        low *= 2;
    }
    while cdf(high) < p {
        assert!(high < FAR, "the distribution function does not reach 1");
        high *= 2;
    }
    while high - low > 1 {
        let middle = low + (high - low) / 2;
        if cdf(middle) < p {
            low = middle;
        } else {
            high = middle;
        }
    }
    high
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::draw::{Draw, laplace_cdf, laplace_pmf};
    use crate::special::beta;

    const N: usize = 200_000;

    #[test] // mpmath at 40 digits; the 5 % points are those of the printed tables
    fn critical_values_are_known() {
        for (degrees, tail, point) in [
            (1, 0.05, 3.841_458_820_694_126),
            (1, 1e-6, 23.928_126_976_934_83),
            (2, 0.05, 5.991_464_547_107_982),
            (2, 1e-6, 27.631_021_115_928_548),
            (5, 0.05, 11.070_497_693_516_354),
            (5, 1e-6, 35.888_186_879_672_87),
            (20, 0.05, 31.410_432_844_230_927),
            (20, 1e-6, 65.420_681_035_047_84),
            (63, 0.05, 82.528_726_541_471_8),
            (63, 1e-6, 131.369_702_051_686_82),
            (100, 0.05, 124.342_113_404_004_08),
            (100, 1e-6, 182.126_777_119_547_57),
            (1000, 0.05, 1_074.679_448_803_441),
            (1000, 1e-6, 1_227.152_421_187_575_5),
        ] {
            let found = critical(degrees, tail);
            assert!((found / point - 1.0).abs() < 1e-10, "χ²({degrees}): {found}, not {point}");
        }
    }

    #[test]
    fn statistic_is_pearsons() {
        // (110−100)²/100 + (190−200)²/200 + (200−200)²/200 = 1.5, on 2 degrees of freedom.
        let fit = chi_square(&[110, 190, 200], &[0.2, 0.4, 0.4]);
        assert!((fit.statistic() - 1.5).abs() < 1e-12);
        assert_eq!((fit.degrees(), fit.samples()), (2, 500));
        assert!((fit.p_value() - (-0.75f64).exp()).abs() < 1e-12); // χ²(2) is exponential
        assert!(fit.accepts());
    }

    #[test]
    fn small_cells_are_pooled_and_none_is_lost() {
        // 1000 samples: 20 + 80 expected, then 800, then 50 + 40 + 10.
        let fit = chi_square(&[10, 90, 800, 50, 40, 10], &[0.02, 0.08, 0.8, 0.05, 0.04, 0.01]);
        assert_eq!(fit.degrees(), 2);
        assert_eq!(fit.statistic(), 0.0);
        // A remainder joins the last pool.
        assert_eq!(chi_square(&[500, 499, 1], &[0.5, 0.495, 0.005]).degrees(), 1);
    }

    #[test]
    fn an_impossible_value_rejects_though_it_is_one_in_a_million() {
        let coin = |i: i128| if (0..2).contains(&i) { 0.5 } else { 0.0 };
        let fair = (0..1_000_000).map(|i| i % 2);
        assert!(Fit::of(fair.clone(), coin, 0..=1).accepts());
        assert!(Fit::of(fair.clone().chain([7]), coin, 0..=1).rejects());
        assert!(Fit::of(fair.clone().chain([2]), coin, -1..=2).rejects());
        assert!(Fit::of(fair.chain([i128::MIN]), coin, 0..=1).rejects());
    }

    /// The least favourable case of the claim at [`FALSE_ALARM`]: one degree of freedom,
    /// one cell at [`LEAST_EXPECTED`]. The exact binomial tails beyond the critical value.
    #[test]
    fn true_false_alarm_rate_is_below_5e6() {
        for samples in [1_000u32, 10_000, 200_000, 1_000_000] {
            let (n, p) = (f64::from(samples), LEAST_EXPECTED / f64::from(samples));
            let reach = (critical(1, FALSE_ALARM) * n * p * (1.0 - p)).sqrt();
            let (low, high) = ((n * p - reach).floor(), (n * p + reach).ceil());
            let alarms = beta(high, n - high + 1.0, p) + 1.0 - beta(low + 1.0, n - low, p);
            assert!(alarms < 5e-6, "{samples} samples: {alarms:e}");
        }
    }

    #[test] // false alarm 1e-6 on a fixed seed: a failure is a bug, not luck
    fn laplace_fits_cell_by_cell_and_a_scale_5_percent_off_does_not() {
        for scale in [0.3, 1.0, 5.0] {
            let fit = |scale_drawn: f64| {
                let mut draw = Draw(1);
                let samples = (0..N).map(move |_| draw.laplace(scale_drawn));
                Fit::of(samples, |k| laplace_pmf(scale, k), -20..=20)
            };
            assert!(fit(scale).accepts(), "scale {scale}: {}", fit(scale));
            assert!(fit(scale * 1.05).rejects(), "scale {scale}: {}", fit(scale * 1.05));
            assert!(fit(scale / 1.05).rejects(), "scale {scale}: {}", fit(scale / 1.05));
        }
    }

    #[test]
    fn laplace_fits_by_cdf_and_a_scale_5_percent_off_does_not() {
        for scale in [0.5, 3.0, 1e3, 1e6, 1e15] {
            let fit = |scale_drawn: f64| {
                let mut draw = Draw(2);
                let samples = (0..N).map(move |_| draw.laplace(scale_drawn));
                Fit::by_cdf(samples, |k| laplace_cdf(scale, k), 64)
            };
            assert!(fit(scale).accepts(), "scale {scale}: {}", fit(scale));
            assert!(fit(scale * 1.05).rejects(), "scale {scale}: {}", fit(scale * 1.05));
            assert!(fit(scale / 1.05).rejects(), "scale {scale}: {}", fit(scale / 1.05));
        }
        // The power that the module documentation states: about 500 above the mean, which is 63 here.
        let mut draw = Draw(2);
        let samples = (0..N).map(|_| draw.laplace(1e6 * 1.05));
        let above = Fit::by_cdf(samples, |k| laplace_cdf(1e6, k), 64).statistic() - 63.0;
        assert!((350.0..650.0).contains(&above), "{above}");
    }

    #[test]
    fn a_shift_by_one_is_caught_at_a_small_scale() {
        let mut draw = Draw(3);
        let samples = (0..N).map(|_| draw.laplace(2.0) + 1);
        assert!(Fit::of(samples, |k| laplace_pmf(2.0, k), -20..=20).rejects());
    }

    #[test]
    fn false_alarms_are_as_rare_as_the_p_value_says() {
        // 1,000 correct samplers: the p-value is below 0.05 about 50 times (± 5 deviations).
        let low = (0..1_000)
            .filter(|seed| {
                let mut draw = Draw(*seed);
                let samples = (0..5_000).map(|_| draw.laplace(2.0));
                Fit::of(samples, |k| laplace_pmf(2.0, k), -10..=10).p_value() < 0.05
            })
            .count();
        assert!((16..=84).contains(&low), "{low} of 1000");
    }

    #[test]
    fn quantiles_are_the_least_such_k() {
        for p in [0.01, 0.3, 0.5, 0.77] {
            for scale in [0.1, 1.0, 1e9] {
                let k = quantile(|k| laplace_cdf(scale, k), p);
                assert!(laplace_cdf(scale, k) >= p && laplace_cdf(scale, k - 1) < p);
            }
        }
    }

    #[test]
    #[should_panic(expected = "more than one")]
    fn a_pmf_that_sums_to_more_than_one_is_refused() {
        Fit::of([0, 1], |_| 0.6, 0..=1);
    }

    #[test]
    #[should_panic(expected = "no samples")]
    fn no_samples_are_refused() {
        Fit::of([], |_| 0.5, 0..=1);
    }

    #[test]
    #[should_panic(expected = "after pooling")]
    fn a_test_of_a_single_cell_is_refused() {
        Fit::of([0, 1], |_| 0.5, 0..=1);
    }
}
