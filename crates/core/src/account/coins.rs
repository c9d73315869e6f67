//! The optimum for many *different* pure mechanisms: coins of unequal bias on a common grid, enclosed from both sides.
//!
//! Computing the heterogeneous optimum exactly is #P-hard. Here privacy losses
//! are put on multiples of a grid h in two ways, both of which err by O(h²):
//!
//! - *Above.* A coin at ε, with `a ≤ ε ≤ b` neighbouring multiples of h, is a
//!   post-processing of a coin at b with probability λ and at a otherwise,
//!   where the outcome says which coin it was. Its losses are on the grid exactly.
//! - *Below.* Outcomes are sorted into buckets by rounded losses, but keep their
//!   true probabilities. Any set of outcomes gives a true lower bound; the
//!   buckets above a threshold are nearly the best set.

use super::Interval;
use super::mass::Mass;
use crate::error::{Error, Result};
use crate::num::directed::{down, up};
use crate::num::fast;

/// The largest number of multiplications.
const WORK: f64 = 1.2e9;

/// The largest number of buckets on either side of 0.
const BUCKETS: f64 = 4e6;

/// Bound on the relative error of one coin's probabilities and of the sums in
/// one step: [`fast::EXP_ERROR`] and a dozen roundings.
const STEP_ERROR: f64 = 2e-14;

/// Encloses the least ε of `(ε, count)` coins composed, at what is `left` of δ.
///
/// # Proof
/// Above: let `H(x) = max_S P(S) − xQ(S)`. For a coin at ε it is convex and
/// piecewise linear, with corners at `e^±ε`; for the mixture it is the chord
/// between the corners at the grid points around these, if
/// `λ = (1+e^b)(e^ε−e^a)/((1+e^ε)(e^b−e^a))`; a chord is above. A pair whose H is above
/// dominates (Blackwell), also in composition; so does a larger λ, and λ is
/// rounded up. Below: see the module. Sums of non-negative floats are within
/// `γ = (K+4)·2·10⁻¹⁴` relatively after K steps; what underflows is below 10⁻³⁰⁰ in
/// all, which is added. ∎
pub(super) fn composed(coins: &[(f64, u64)], left: &Mass) -> Result<Interval> {
    let too_many = Error::Infeasible {
        what: "too many different sums of epsilon for the optimum to be computed",
        remedy: "use fewer mechanisms, or round their epsilons to a common grid",
    };
    let (delta_low, delta_high) = left.to_f64();
    let count: f64 = coins.iter().map(|(_, k)| *k as f64).sum();
    let sum: f64 = coins.iter().map(|(e, k)| e * *k as f64).sum();
    let rho: f64 = coins.iter().map(|(e, k)| 0.5 * e * e * *k as f64).sum();
    if delta_low < 1e-250 {
        return Err(too_many);
    }
    // Aim at a relative width of 10⁻⁷: the error is about K·h²·s/8 at the tilt s.
    let log = -delta_low.ln() + 1.0;
    let (about, tilt) = (rho + 2.0 * (rho * log).sqrt(), (log / rho).sqrt() + 1.0);
    let wanted = (4e-7 * about / (count * tilt)).sqrt();
    let least = sum * (8.0 * count / WORK).max(1.0 / BUCKETS);
    if least > 16.0 * wanted || wanted.is_nan() || wanted <= 0.0 {
        return Err(too_many);
    }
    let gamma = (count + 4.0) * STEP_ERROR;
    let mut grid = 2f64.powi(wanted.max(least).log2().floor() as i32);
    loop {
        let upper = above(coins, grid).epsilon_at_most(delta_low, gamma);
        let lower = below(coins, grid).epsilon_at_least(delta_high, gamma);
        if !upper.is_finite() {
            return Err(too_many);
        }
        let found = Interval::new(lower, upper);
        // If only few outcomes matter, near the largest sum, the error exceeds the target.
        if found.relative_width() <= 2e-7 || grid / 8.0 < least {
            return Ok(found);
        }
        grid /= 8.0;
    }
}

/// Probabilities under P of losses `(i − centre)·grid`.
struct Losses {
    grid: f64,
    centre: usize,
    mass: Vec<f64>,
}

impl Losses {
    fn none(grid: f64) -> Self {
        Self { grid, centre: 0, mass: vec![1.0] }
    }

    /// One more mechanism, of losses `shift·grid` with the given probabilities.
    fn add(&mut self, taps: &[(i64, f64)]) {
        let reach = taps.iter().map(|(shift, _)| shift.unsigned_abs() as usize).max().unwrap_or(0);
        let mut mass = vec![0.0; self.mass.len() + 2 * reach];
        for &(shift, weight) in taps {
            let start = (reach as i64 + shift) as usize;
            for (to, from) in mass[start..].iter_mut().zip(&self.mass) {
                *to += weight * from;
            }
        }
        self.centre += reach;
        self.mass = mass;
    }

    /// Buckets of positive loss, largest first, with P and Q.
    fn positive(&self, q: impl Fn(usize) -> f64) -> impl Iterator<Item = (f64, f64)> {
        (self.centre + 1..self.mass.len()).rev().map(move |i| (self.mass[i], q(i)))
    }

    /// ln of the largest `(P(S) − δ)/Q(S)`, rounded up; `Q = e^−loss·P` exactly.
    fn epsilon_at_most(&self, delta: f64, gamma: f64) -> f64 {
        let q = |i: usize| self.mass[i] * fast::exp_neg((i - self.centre) as f64 * self.grid);
        let most = largest(self.positive(q), |p, q| {
            (p * (1.0 + gamma) + 1e-300 - delta) / (q * (1.0 - gamma))
        });
        up(Mass::exactly(up(most)).ln().1.max(0.0))
    }

    /// The same, rounded down; coins are symmetric, so `Q(loss) = P(−loss)`.
    fn epsilon_at_least(&self, delta: f64, gamma: f64) -> f64 {
        let q = |i: usize| self.mass[2 * self.centre - i];
        let most = largest(self.positive(q), |p, q| {
            (p * (1.0 - gamma) - delta) / (q * (1.0 + gamma) + 1e-300)
        });
        if most > 1.0 { Mass::exactly(down(most)).ln().0 } else { 0.0 }
    }
}

/// The largest quotient over the prefixes of the outcomes. The running sums are
/// compensated (Neumaier), so their own error is below that of one step.
fn largest(outcomes: impl Iterator<Item = (f64, f64)>, quotient: impl Fn(f64, f64) -> f64) -> f64 {
    let (mut p, mut q, mut most) = (Compensated::default(), Compensated::default(), 0.0f64);
    for (a, b) in outcomes {
        p.add(a);
        q.add(b);
        let found = quotient(p.total(), q.total());
        // 0/0, where everything underflowed, claims nothing.
        if found > most {
            most = found;
        }
    }
    most
}

/// A sum of non-negative floats within a relative 2⁻⁵¹ (Neumaier).
#[derive(Default)]
pub(super) struct Compensated {
    sum: f64,
    rest: f64,
}

impl Compensated {
    pub(super) fn add(&mut self, x: f64) {
        let sum = self.sum + x;
        self.rest += if self.sum >= x { (self.sum - sum) + x } else { (x - sum) + self.sum };
        self.sum = sum;
    }

    pub(super) fn total(&self) -> f64 {
        self.sum + self.rest
    }
}

/// Losses of the mixtures that dominate.
fn above(coins: &[(f64, u64)], grid: f64) -> Losses {
    let mut losses = Losses::none(grid);
    for &(epsilon, count) in coins {
        let n = (epsilon / grid).floor(); // exact: the grid is a power of two
        let (a, b) = (n * grid, (n + 1.0) * grid);
        let lambda = share(epsilon, a, b);
        let heads = |loss: f64| 1.0 / (1.0 + fast::exp_neg(loss));
        let tails = |loss: f64| fast::exp_neg(loss) * heads(loss);
        let (n, rest) = (n as i64, 1.0 - lambda);
        let taps = [
            (n + 1, lambda * heads(b)),
            (n, rest * heads(a)),
            (-n, rest * tails(a)),
            (-n - 1, lambda * tails(b)),
        ];
        for _ in 0..count {
            losses.add(&taps);
        }
    }
    losses
}

/// λ, rounded up: `(1+e^−b)(1−e^(a−ε)) / ((1+e^−ε)(1−e^(a−b)))`.
fn share(epsilon: f64, a: f64, b: f64) -> f64 {
    if epsilon <= a {
        return 0.0;
    }
    let one_plus = |x: f64| Mass::ONE.add(&Mass::exp_neg(x));
    let gap = Mass::one_minus_exp_neg_between(down(epsilon - a).max(0.0), up(epsilon - a));
    let top = one_plus(b).mul(&gap);
    // b − a is the grid, a power of two: exact.
    let bottom = one_plus(epsilon).mul(&Mass::one_minus_exp_neg(b - a));
    top.div(&bottom).to_f64().1.min(1.0)
}

/// True probabilities, in buckets of rounded losses.
fn below(coins: &[(f64, u64)], grid: f64) -> Losses {
    let mut losses = Losses::none(grid);
    for &(epsilon, count) in coins {
        let tails = fast::exp_neg(epsilon) / (1.0 + fast::exp_neg(epsilon));
        let heads = 1.0 / (1.0 + fast::exp_neg(epsilon));
        let shift = (epsilon / grid).round() as i64;
        for _ in 0..count {
            losses.add(&[(shift, heads), (-shift, tails)]);
        }
    }
    losses
}

#[cfg(test)]
mod tests;
