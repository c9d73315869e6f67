//! Order statistics: median, any quantile, trimmed and winsorised mean, interquartile range.
//!
//! All rest on one number. Let `G_k(j, i)` be the largest `z_j − z_i` among the datasets z within k
//! replacements of x. Moving ℓ values to the bottom and k−ℓ to the top gives
//! `G_k(j, i) = max_{0≤ℓ≤k} (x_{j+k−ℓ} − x_{i−ℓ})`, j > i. Being a maximum over a ball, it satisfies
//! `G_k(x) ≤ G_{k+1}(x′)`, and so do sums and maxima of such numbers.
//!
//! A replacement moves every order statistic in one direction and by one place at most, to
//! `x_{i+1}` or `x_{i−1}`; all of them go up as far as they can when the least value becomes b.

use super::values::Values;
use super::{ENLARGE, LEAST, Smoothness, Statistic};
use crate::error::{Error, Result};
use crate::num::fast;
use std::fmt;

impl Values {
    /// `G_k(j, i)`, in O(k).
    fn gap(&self, j: i64, i: i64, k: u64) -> u64 {
        let k = k.min(self.len() as u64 + 1) as i64;
        let widest = (0..=k).map(|l| self.at(j + k - l) - self.at(i - l)).max();
        widest.unwrap_or(0).unsigned_abs()
    }

    /// `max_k e^(−tk)·G_k(j, i) = max_{p,q≥0} (x_{j+p} − x_{i−q})·e^(−t(p+q))`, in O(n log n), within the
    /// relative error that [`SLACK`](super::SLACK) allows for, or below 2⁻³¹.
    ///
    /// # Proof
    /// For a fixed q the best p maximises `(x_{j+p} − c)e^(−tp)`, `c = x_{i−q}`. Of two candidates the farther
    /// one's advantage grows with c, and c falls as q grows: the best p does not grow with q. So
    /// halve the range of q and search, on either side, only the p that are left. With rounding, a p
    /// within η of the best of its row is within η of every p it excludes, in the rows from which
    /// it excludes them: η adds up over the halvings. ∎
    fn smooth_gap(&self, j: i64, i: i64, t: Smoothness) -> f64 {
        let (j, i) = (j.min(self.len() as i64 + 1), i.max(0));
        // Beyond this the weight alone is below 2⁻³¹ of a step.
        let reach = ((f64::from(u32::MAX).ln() + 22.0) / t.get()).ceil() as i64;
        let columns = (self.len() as i64 + 1 - j).min(reach);
        let rows = i.min(reach);
        let weights: Vec<f64> =
            (0..=columns.max(rows)).map(|k| fast::exp_neg(t.get() * k as f64)).collect();
        let value = |q: i64, p: i64| {
            (self.at(j + p) - self.at(i - q)) as f64 * weights[p as usize] * weights[q as usize]
        };
        let mut best = LEAST;
        let mut work = vec![(0, rows, 0, columns)];
        while let Some((first, last, from, to)) = work.pop() {
            if first > last {
                continue;
            }
            let q = first + (last - first) / 2;
            let (mut place, mut widest) = (from, f64::NEG_INFINITY);
            for p in from..=to {
                let value = value(q, p);
                if value > widest {
                    (place, widest) = (p, value);
                }
            }
            best = best.max(widest);
            work.push((first, q - 1, place, to));
            work.push((q + 1, last, from, place));
        }
        best * ENLARGE
    }
}

fn too_few() -> Error {
    Error::OutOfRange { parameter: "values", allowed: "enough for the statistic asked for" }
}

/// The r-th smallest value.
///
/// # Local sensitivity
/// `LS⁽ᵏ⁾ = max {x_j − x_i : i ≤ r ≤ j, j − i = k+1}`, exactly; the smooth bound is
/// `max {(x_j − x_i)e^(−t(j−i−1)) : i ≤ r ≤ j, i < j}`.
/// # Proof
/// One replacement takes `z_r` to `z_{r+1}` or `z_{r−1}` at most, and it can: `LS⁽ᵏ⁾ = max(G_k(r+1, r), G_k(r, r−1))`.
/// ∎
/// # References
/// Nissim, Raskhodnikova, Smith 2007 (STOC), Section 3.1 (the median, n odd).
#[derive(Clone)]
pub struct OrderStatistic<'a> {
    values: &'a Values,
    rank: i64,
}

/// `Debug` omits the rank: if the number of rows is protected, so is the rank.
impl fmt::Debug for OrderStatistic<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("OrderStatistic(protected)")
    }
}

impl<'a> OrderStatistic<'a> {
    /// The value of rank r, 1 ≤ r ≤ n.
    pub fn new(values: &'a Values, rank: usize) -> Result<Self> {
        if (1..=values.len()).contains(&rank) {
            Ok(Self { values, rank: rank as i64 })
        } else {
            Err(too_few())
        }
    }

    /// The median: rank `⌈n/2⌉`, the lower of the two in the middle if n is even.
    pub fn median(values: &'a Values) -> Result<Self> {
        Self::new(values, values.len().div_ceil(2))
    }

    /// The quantile q: rank `⌈qn⌉`, and 1 at least.
    pub fn quantile(values: &'a Values, q: f64) -> Result<Self> {
        if !(0.0..=1.0).contains(&q) {
            return Err(Error::OutOfRange { parameter: "quantile", allowed: "from 0 to 1" });
        }
        Self::new(values, ((q * values.len() as f64).ceil() as usize).max(1))
    }

    /// The quantile q of rows whose *number is protected*: of n rows the value of rank `⌈qn⌉`, with q rounded to
    /// 2⁻³²; the lower bound if there are no rows.
    ///
    /// # Guarantee
    /// What is private for one value replaced is private, too, for one row added or removed.
    /// # Proof
    /// Think of endlessly many made-up rows at a below `x₁` and at b above `x_n`, which is what [`Values`] has beyond
    /// its ends, and count places from the quantile's. As 0 < q < 1, `⌈q(n+1)⌉ − ⌈qn⌉` is 0 or 1. If it is 0, an added
    /// row takes the place of a made-up one at b: the values above it move up by one place and all others stay. If it
    /// is 1, it takes the place of one at a: those below it move down. Either way one value of an endless sequence is
    /// replaced and the quantile's place stays; the local sensitivities above are those of that sequence, as they only
    /// read places around it. ∎
    pub fn of_rows(values: &'a Values, q: f64) -> Result<Self> {
        const ONE: u128 = 1 << 32;
        let share = (q * ONE as f64).round() as u128;
        if !(1..ONE).contains(&share) {
            return Err(Error::OutOfRange {
                parameter: "quantile",
                allowed: "strictly between 0 and 1, by 2^-32 at least",
            });
        }
        let rank = (values.len() as u128 * share).div_ceil(ONE);
        Ok(Self { values, rank: rank as i64 })
    }
}

impl Statistic for OrderStatistic<'_> {
    fn value(&self) -> i128 {
        i128::from(self.values.at(self.rank))
    }

    fn at_distance(&self, k: u64) -> u64 {
        let (r, x) = (self.rank, self.values);
        x.gap(r + 1, r, k).max(x.gap(r, r - 1, k))
    }

    fn most(&self) -> Option<u64> {
        Some(self.values.width())
    }

    fn answer(&self, noised: i128) -> f64 {
        self.values.place(noised, 1)
    }

    fn unit(&self) -> f64 {
        self.values.bounds().grid().spacing()
    }

    fn smooth(&self, t: Smoothness) -> Result<f64> {
        let (r, x) = (self.rank, self.values);
        Ok(x.smooth_gap(r + 1, r, t).max(x.smooth_gap(r, r - 1, t)))
    }
}

/// The trimmed mean: the mean of the values without the m least and the m greatest.
///
/// The statistic itself is their *sum*, an integer; dividing by n − 2m, which is public, comes after the noise.
///
/// # Local sensitivity
/// `LS⁽ᵏ⁾ = max_{0≤ℓ≤k+1} (x_{n−m+1+k−ℓ} − x_{m+1−ℓ})`, of the sum, exactly.
/// # Proof
/// All kept order statistics go up by one place: the sum of `z_{i+1} − z_i` over the kept i telescopes to
/// `z_{n−m+1} − z_{m+1}`; down, to `z_{n−m} − z_m`. Both are reached. ∎
#[derive(Clone, Debug)]
pub struct TrimmedMean<'a> {
    values: &'a Values,
    m: i64,
}

impl<'a> TrimmedMean<'a> {
    /// Leaves out the m least and the m greatest of n > 2m values.
    pub fn new(values: &'a Values, m: usize) -> Result<Self> {
        let enough = m.checked_mul(2).is_some_and(|out| out < values.len());
        if enough { Ok(Self { values, m: m as i64 }) } else { Err(too_few()) }
    }

    fn kept(&self) -> u64 {
        self.values.len() as u64 - 2 * self.m.unsigned_abs()
    }
}

impl Statistic for TrimmedMean<'_> {
    fn value(&self) -> i128 {
        let n = self.values.len() as i64;
        (self.m + 1..=n - self.m).map(|i| i128::from(self.values.at(i))).sum()
    }

    fn at_distance(&self, k: u64) -> u64 {
        let (x, n, m) = (self.values, self.values.len() as i64, self.m);
        x.gap(n - m + 1, m + 1, k).max(x.gap(n - m, m, k))
    }

    fn most(&self) -> Option<u64> {
        Some(self.values.width())
    }

    fn answer(&self, noised: i128) -> f64 {
        self.values.place(noised, self.kept())
    }

    fn unit(&self) -> f64 {
        self.values.bounds().grid().spacing() / self.kept() as f64
    }

    fn smooth(&self, t: Smoothness) -> Result<f64> {
        let (x, n, m) = (self.values, self.values.len() as i64, self.m);
        Ok(x.smooth_gap(n - m + 1, m + 1, t).max(x.smooth_gap(n - m, m, t)))
    }
}

/// The winsorised mean: the mean with the m least values raised to `x_{m+1}` and the m greatest lowered to `x_{n−m}`.
///
/// The statistic itself is the sum, as for [`TrimmedMean`].
///
/// # Local sensitivity
/// An upper bound: with `J = n−m`, `I = m+1`,
/// `A_k = max(m·G_k(I+1, I) + m·G_k(J+1, J) + G_k(J+1, I), m·G_k(I, I−1) + m·G_k(J, J−1) + G_k(J, I−1))`.
/// Exact at k = 0.
/// # Proof
/// The sum is `m·z_I + Σ_{I..J} z_i + m·z_J`, with non-negative weights, so it goes up furthest
/// when every order statistic goes up: by `m(z_{I+1} − z_I) + (z_{J+1} − z_I) + m(z_{J+1} − z_J)`. Each term is
/// bounded by its own maximum over the ball; sums of these keep the property of a profile. ∎
#[derive(Clone, Debug)]
pub struct WinsorisedMean<'a> {
    values: &'a Values,
    m: i64,
}

impl<'a> WinsorisedMean<'a> {
    /// Moves the m least and the m greatest of n > 2m values inwards.
    pub fn new(values: &'a Values, m: usize) -> Result<Self> {
        let enough = m.checked_mul(2).is_some_and(|out| out < values.len());
        if enough { Ok(Self { values, m: m as i64 }) } else { Err(too_few()) }
    }
}

impl Statistic for WinsorisedMean<'_> {
    fn value(&self) -> i128 {
        let (x, n, m) = (self.values, self.values.len() as i64, self.m);
        let kept: i128 = (m + 1..=n - m).map(|i| i128::from(x.at(i))).sum();
        kept + i128::from(m) * i128::from(x.at(m + 1) + x.at(n - m))
    }

    fn at_distance(&self, k: u64) -> u64 {
        let (x, m) = (self.values, self.m);
        let (low, high) = (m + 1, x.len() as i64 - m);
        let m = m.unsigned_abs();
        let up = m * (x.gap(low + 1, low, k) + x.gap(high + 1, high, k)) + x.gap(high + 1, low, k);
        let down =
            m * (x.gap(low, low - 1, k) + x.gap(high, high - 1, k)) + x.gap(high, low - 1, k);
        up.max(down)
    }

    fn most(&self) -> Option<u64> {
        Some((2 * self.m.unsigned_abs() + 1) * self.values.width())
    }

    fn answer(&self, noised: i128) -> f64 {
        self.values.place(noised, self.values.len() as u64)
    }

    fn unit(&self) -> f64 {
        self.values.bounds().grid().spacing() / self.values.len() as f64
    }

    /// The same combination of smooth bounds, which is smooth and at least the default one.
    fn smooth(&self, t: Smoothness) -> Result<f64> {
        let (x, m) = (self.values, self.m);
        let (low, high) = (m + 1, x.len() as i64 - m);
        let gap = |j, i| x.smooth_gap(j, i, t);
        let m = m as f64;
        let up = m * (gap(low + 1, low) + gap(high + 1, high)) + gap(high + 1, low);
        let down = m * (gap(low, low - 1) + gap(high, high - 1)) + gap(high, low - 1);
        Ok(up.max(down))
    }
}

/// The distance between two quantiles, by default ¼ and ¾.
///
/// # Local sensitivity
/// `A_k = max(G_k(u+1, u), G_k(u, u−1), G_k(l+1, l), G_k(l, l−1))` for the ranks l < u; exact at k = 0 if `u > l+1`.
/// # Proof
/// A replacement moves both order statistics in one direction, so their difference changes by no more than
/// the larger of the two moves, and each move is at most to the next place. ∎
#[derive(Clone, Debug)]
pub struct InterquartileRange<'a> {
    values: &'a Values,
    low: i64,
    high: i64,
}

impl<'a> InterquartileRange<'a> {
    /// The distance between the quartiles, of ranks `⌈n/4⌉` and `⌈3n/4⌉`.
    pub fn new(values: &'a Values) -> Result<Self> {
        let n = values.len();
        Self::between(values, n.div_ceil(4), (3 * n).div_ceil(4))
    }

    /// The distance between the values of two ranks, 1 ≤ low < high ≤ n.
    pub fn between(values: &'a Values, low: usize, high: usize) -> Result<Self> {
        if 1 <= low && low < high && high <= values.len() {
            Ok(Self { values, low: low as i64, high: high as i64 })
        } else {
            Err(too_few())
        }
    }

    fn pairs(&self) -> [(i64, i64); 4] {
        let (l, u) = (self.low, self.high);
        [(u + 1, u), (u, u - 1), (l + 1, l), (l, l - 1)]
    }
}

impl Statistic for InterquartileRange<'_> {
    fn value(&self) -> i128 {
        i128::from(self.values.at(self.high) - self.values.at(self.low))
    }

    fn at_distance(&self, k: u64) -> u64 {
        self.pairs().into_iter().map(|(j, i)| self.values.gap(j, i, k)).max().unwrap_or(0)
    }

    fn most(&self) -> Option<u64> {
        Some(self.values.width())
    }

    fn answer(&self, noised: i128) -> f64 {
        let bounds = self.values.bounds();
        let distance = noised as f64 * bounds.grid().spacing();
        distance.clamp(0.0, bounds.upper() - bounds.lower())
    }

    fn unit(&self) -> f64 {
        self.values.bounds().grid().spacing()
    }

    fn smooth(&self, t: Smoothness) -> Result<f64> {
        Ok(self.pairs().into_iter().fold(0.0, |s, (j, i)| self.values.smooth_gap(j, i, t).max(s)))
    }
}

#[cfg(test)]
pub(super) mod tests;
