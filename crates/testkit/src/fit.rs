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
mod tests;
