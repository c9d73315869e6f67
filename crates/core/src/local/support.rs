//! Estimating frequencies from randomized reports.

use crate::error::{Error, Result};
use crate::num::directed::{self, up};
use crate::num::normal;
use crate::unit::{Beta, Epsilon};
use crate::utility;

/// Estimates the frequency of a category from randomized reports.
///
/// A report *supports* a category with probability p if it is the person's own, and with
/// probability q < p if it is not. That is all that estimation needs to know about a randomizer: if
/// c of n reports support a category, `f̂ = (c/n − q)/(p − q)` is an unbiased estimate.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Support {
    p: f64,
    q: f64,
    gap: f64,
}

/// The people whose frequency is estimated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Target {
    /// The people who reported: the only error is the noise of the mechanism.
    Respondents,
    /// The population of which they are a random sample: sampling adds to the error.
    Population,
}

/// How to bound the error in planning.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ErrorBound {
    /// Hoeffding's inequality: holds for every n, for either target.
    Hoeffding,
    /// The normal approximation at the worst frequency.
    Normal(Target),
}

/// Counts are exact as floats up to here.
const MOST_PEOPLE: u64 = 1 << 53;

impl Support {
    /// The support of a randomizer with these probabilities, `0 < q < p ≤ 1`.
    pub fn new(p: f64, q: f64) -> Result<Self> {
        if 0.0 < q && q < p && p <= 1.0 {
            return Ok(Self::exactly(p, q, p - q));
        }
        let allowed = "such that a report says something about the value";
        Err(Error::OutOfRange { parameter: "epsilon", allowed })
    }

    /// With a `p − q` that is known more precisely than from the floats p and q.
    pub(crate) fn exactly(p: f64, q: f64, gap: f64) -> Self {
        Self { p, q, gap }
    }

    /// The probability that a report supports the person's own category.
    #[must_use]
    pub fn p(&self) -> f64 {
        self.p
    }

    /// The probability that a report supports another category.
    #[must_use]
    pub fn q(&self) -> f64 {
        self.q
    }

    /// The difference `p − q`.
    #[must_use]
    pub fn gap(&self) -> f64 {
        self.gap
    }

    /// The unbiased estimate of a category's frequency, `(c/n − q)/(p − q)`, from the
    /// c of n reports that support it. It may fall outside [0, 1].
    pub fn estimate(&self, count: u64, people: u64) -> Result<f64> {
        require_people(count, people)?;
        Ok((count as f64 / people as f64 - self.q) / self.gap)
    }

    /// n times the variance that randomizing adds where the frequency is f:
    /// `q(1−q)/(p−q)² + f(1−p−q)/(p−q)`.
    #[must_use]
    pub fn noise(&self, frequency: f64) -> f64 {
        let (p, q, gap) = (self.p, self.q, self.gap);
        q * (1.0 - q) / (gap * gap) + frequency * (1.0 - p - q) / gap
    }

    /// The variance of the estimate where the frequency is f:
    /// `q(1−q)/(n(p−q)²) + f(1−p−q)/(n(p−q))`, and `f(1−f)/n` for a population.
    #[must_use]
    pub fn variance(&self, frequency: f64, people: u64, target: Target) -> f64 {
        let sampling = match target {
            Target::Respondents => 0.0,
            Target::Population => frequency * (1.0 - frequency),
        };
        (self.noise(frequency) + sampling) / people as f64
    }

    /// The estimate ± `z·√variance`, cut to [0, 1]: an approximation, for large n.
    pub fn normal_interval(
        &self,
        count: u64,
        people: u64,
        target: Target,
        beta: Beta,
    ) -> Result<(f64, f64)> {
        let estimate = self.estimate(count, people)?;
        let (_, z) = normal::upper_quantile(0.5 * beta.get())?;
        let margin = z * self.variance(estimate.clamp(0.0, 1.0), people, target).sqrt();
        Ok(((estimate - margin).clamp(0.0, 1.0), (estimate + margin).clamp(0.0, 1.0)))
    }

    /// An interval that contains the population's frequency with probability at
    /// least 1 − β, for every n: Clopper–Pearson's, transformed.
    ///
    /// # Proof
    /// A report supports the category with probability `π = q + f(p−q)`, so the count is
    /// binomial. The ends are the π at which it would be as large, or as small,
    /// with probability β/2; f grows with π. Float errors of the binomial tail,
    /// below a relative `10⁻¹⁵(n + 10⁵)`, widen it. ∎
    ///
    /// Refused above 2⁴⁰ people, where the normal interval is as good.
    pub fn exact_interval(&self, count: u64, people: u64, beta: Beta) -> Result<(f64, f64)> {
        require_people(count, people)?;
        if people > 1 << 40 {
            let allowed = "at most 2^40 for an exact interval";
            return Err(Error::OutOfRange { parameter: "people", allowed });
        }
        let low = lower_limit(count, people, 0.5 * beta.get());
        let high = up(1.0 - lower_limit(people - count, people, 0.5 * beta.get()));
        // At the ends exactly 0 or 1, where the float formula may be an ulp off.
        let frequency = |x: f64| {
            if x <= self.q {
                0.0
            } else if x >= self.p {
                1.0
            } else {
                (x - self.q) / self.gap
            }
        };
        Ok((frequency(low), frequency(high)))
    }

    /// The error that the estimate from n people exceeds with probability at most β
    /// (about β for the normal bounds), whatever the frequency; rounded up.
    pub fn error(&self, people: u64, bound: ErrorBound, beta: Beta) -> Result<f64> {
        require_people(0, people)?;
        Ok(self.error_from(spread(bound, beta)?, people, bound))
    }

    /// The number of people that make the error at most `error`.
    pub fn people_for_error(&self, error: f64, bound: ErrorBound, beta: Beta) -> Result<u64> {
        let spread = spread(bound, beta)?;
        utility::count_for_error(error, |people| Ok(self.error_from(spread, people, bound)))
    }

    /// The least ε at which n people give an error of at most `error`, where `of` gives the
    /// support at an ε, and is refused only where ε is too small for any information.
    pub fn epsilon_for_error(
        people: u64,
        error: f64,
        bound: ErrorBound,
        beta: Beta,
        of: impl Fn(Epsilon) -> Result<Self>,
    ) -> Result<Epsilon> {
        require_people(0, people)?;
        let spread = spread(bound, beta)?;
        let at = |epsilon| {
            Ok(of(epsilon).map_or(f64::INFINITY, |s| s.error_from(spread, people, bound)))
        };
        utility::epsilon_for_error(error, at)
    }

    /// `√(s·v/n)`, where v bounds n·variance: for Hoeffding `1/(4(p−q)²)`.
    pub(crate) fn error_from(&self, spread: f64, people: u64, bound: ErrorBound) -> f64 {
        let (p, q, gap) = (self.p, self.q, self.gap);
        // π(1−π) at its largest for π between q and p.
        let nearest = 0.5f64.clamp(q, p);
        let variance = match bound {
            ErrorBound::Hoeffding => 0.25 / (gap * gap),
            // Linear in f: at its worst for f = 0 or 1.
            ErrorBound::Normal(Target::Respondents) => {
                (q * (1.0 - q)).max(p * (1.0 - p)) / (gap * gap)
            }
            ErrorBound::Normal(Target::Population) => nearest * (1.0 - nearest) / (gap * gap),
        };
        (spread * variance / people as f64).sqrt() * (1.0 + 1e-14)
    }
}

/// The square of the error in standard deviations: z² with `P[|Z| > z] = β`, or
/// `2 ln(2/β)`, for which Hoeffding's error `√(ln(2/β)/2n)/(p−q)` has the same form.
fn spread(bound: ErrorBound, beta: Beta) -> Result<f64> {
    match bound {
        ErrorBound::Hoeffding => Ok(2.0 * directed::ln(up(2.0 / beta.get()))?.1),
        ErrorBound::Normal(_) => Ok(normal::upper_quantile(0.5 * beta.get())?.1.powi(2)),
    }
}

fn require_people(count: u64, people: u64) -> Result<()> {
    if people > 0 && count <= people && people <= MOST_PEOPLE {
        return Ok(());
    }
    let allowed = "at least 1, at least the count, and at most 2^53";
    Err(Error::OutOfRange { parameter: "people", allowed })
}

/// A lower confidence limit on a probability, from k successes in n trials (Clopper–Pearson).
///
/// The true probability is below it with probability at most `tail`. It is the largest π (a little
/// less) with `P[Bin(n, π) ≥ k] ≤ tail`, for 1 ≤ k ≤ n and 0 < tail < 1/2.
#[must_use]
pub fn lower_limit(k: u64, n: u64, tail: f64) -> f64 {
    // At π = k/n the tail is at least a half, as k is the median.
    let (mut low, mut high) = (0.0, k as f64 / n as f64);
    let inflate = 1.0 + 1e-15 * (n as f64 + 1e5);
    while high > low * (1.0 + 1e-14) && high > f64::MIN_POSITIVE {
        let middle = low + 0.5 * (high - low);
        if binomial_tail(k, n, middle) * inflate <= tail { low = middle } else { high = middle }
    }
    low
}

/// The upper tail of a binomial distribution, `P[Bin(n, π) ≥ k]`, for 1 ≤ k ≤ n and 0 < π ≤ k/n, so that terms fall
/// from the first on; within a relative 10⁻¹⁵(n + 10⁵).
///
/// The first is Loader's form `√(n/2πk(n−k))·exp(−n·KL(k/n‖π) + s(n) − s(k) − s(n−k))`
/// with s the remainder of Stirling's formula.
#[must_use]
pub fn binomial_tail(k: u64, n: u64, pi: f64) -> f64 {
    let (kf, nf, rest) = (k as f64, n as f64, (n - k) as f64);
    if k == n {
        return pi.powf(nf);
    }
    let distance = kf * (kf / (nf * pi)).ln() + rest * (rest / (nf * (1.0 - pi))).ln();
    let stirling = |m: f64| {
        if m < 16.0 {
            let factorial: f64 = (1..=m as u32).map(|i| f64::from(i).ln()).sum();
            return factorial - (m + 0.5) * m.ln() + m - 0.5 * std::f64::consts::TAU.ln();
        }
        let square = m * m;
        (1.0 / 12.0 - (1.0 / 360.0 - (1.0 / 1260.0 - 1.0 / (1680.0 * square)) / square) / square)
            / m
    };
    let correction = stirling(nf) - stirling(kf) - stirling(rest);
    let mut term =
        (nf / (std::f64::consts::TAU * kf * rest)).sqrt() * (correction - distance).exp();
    let (mut sum, mut j, odds) = (0.0, kf, pi / (1.0 - pi));
    while term > sum * 1e-18 && j <= nf {
        sum += term;
        term *= (nf - j) / (j + 1.0) * odds;
        j += 1.0;
    }
    sum
}
