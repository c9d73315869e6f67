//! Amplification by shuffling: n people randomize, and no one knows who sent which report.

use super::mass::Mass;
use super::{Interval, search};
use crate::error::{Error, Result};
use crate::num::directed::{down, up};
use crate::unit::{Delta, Epsilon};
use std::num::NonZeroU64;

/// The largest number of reports: for more, the sum takes too long.
const MOST: u64 = 10_000_000;

/// The ε of n reports from ε₀-DP randomizers after shuffling, under replace.
///
/// # Guarantee
/// Replacing one person's value changes the shuffled reports by at most (ε,δ),
/// for the upper end ε of the interval. The lower end is that of the *bound*:
/// a given randomizer may do better.
/// # Proof
/// Each other person, with probability `p = e^−ε₀`, may be taken to send a clone
/// of the first person's report for x or for x′, each with probability ½. So the
/// reports are a post-processing of the pair
///
/// ```text
/// C ~ Bin(n−1, p),  A ~ Bin(C, ½),  Δ ~ Bernoulli(e^ε₀/(e^ε₀+1)):
/// (A + Δ, C − A + 1 − Δ)   against   (A + 1 − Δ, C − A + Δ),
/// ```
///
/// whose divergence is summed exactly, rounding outwards: given C = c, the
/// likelihood ratio grows with the first count, so the worst event is a
/// threshold, and of the candidates around the computed one the largest value
/// is taken; it is among them, see `Clones::share`. Values of C outside a window are
/// counted as total failures. ∎
/// # References
/// Feldman, McMillan, Talwar 2021 (arXiv:2012.12803v3), Theorem 3.2.
pub fn epsilon(reports: NonZeroU64, local: Epsilon, delta: Delta) -> Result<Interval> {
    if reports.get() > MOST {
        return Err(Error::OutOfRange { parameter: "n of a shuffle", allowed: "at most 10^7" });
    }
    let most = local.get();
    if delta.get() == 0.0 {
        return Ok(Interval::at_most(most));
    }
    let clones = Clones::new(reports.get(), most, delta.get());
    let spread = (2.0 * (1.0 / delta.get()).ln() * most.exp() / reports.get() as f64).sqrt();
    let start = (spread * (0.5 * most).tanh() * 2.0).min(0.5 * most);
    let found = search::crossing(start, delta.get(), |x| {
        if x >= most { Ok((0.0, 0.0)) } else { Ok(clones.delta(x).to_f64()) }
    })?;
    found.and(&Interval::at_most(most))
}

/// The clones pair, with the distribution of C on a window.
struct Clones {
    first: u64,
    weights: Vec<Mass>,
    /// P[C outside the window], at most.
    outside: Mass,
    /// `e^ε₀/(1+e^ε₀)` and its complement.
    truth: Mass,
    lie: Mass,
    /// `1 − e^−ε₀`.
    gap: Mass,
}

impl Clones {
    fn new(reports: u64, epsilon: f64, delta: f64) -> Self {
        let n = reports - 1;
        let p = Mass::exp_neg(epsilon);
        let rest = Mass::one_minus_exp_neg(epsilon);
        let odds = p.div(&rest);
        let mode = ((n + 1) as f64 * (-epsilon).exp()).floor().clamp(0.0, n as f64) as u64;
        // C(n,mode)·p^mode·(1−p)^(n−mode), as a product of n bounded factors.
        let mut anchor = rest.pow(n - mode).mul(&p.pow(mode));
        for i in 0..mode.min(n - mode) {
            anchor = anchor.mul(&quotient(n - i, i + 1));
        }
        let negligible = Mass::exactly(delta * 1e-14);
        let (mut below, mut w, mut c) = (Vec::new(), anchor, mode);
        // Downwards until what is left is negligible: below the mode terms fall
        // faster than geometrically, so the rest is at most c more such terms.
        let mut outside = Mass::ZERO;
        while c > 0 {
            w = w.mul(&quotient(c, n - c + 1)).div(&odds);
            c -= 1;
            let left = w.times((c + 1) as f64);
            if left.at_most(&negligible) {
                outside = outside.add(&left.or_less());
                c += 1;
                break;
            }
            below.push(w);
        }
        let first = c;
        below.reverse();
        let mut weights = below;
        weights.push(anchor);
        (w, c) = (anchor, mode);
        while c < n {
            w = w.mul(&quotient(n - c, c + 1)).mul(&odds);
            c += 1;
            let left = w.times((n - c + 1) as f64);
            if left.at_most(&negligible) {
                outside = outside.add(&left.or_less());
                break;
            }
            weights.push(w);
        }
        let truth = Mass::ONE.div(&Mass::ONE.add(&p));
        let lie = p.mul(&truth);
        Self { first, weights, outside, truth, lie, gap: rest }
    }

    /// Encloses δ(ε).
    fn delta(&self, epsilon: f64) -> Mass {
        let x = Mass::exp(epsilon);
        let Some(phi) = self.share(epsilon) else { return Mass::between(0.0, 1.0) };
        let mut total = Mass::ZERO;
        let mut half = Half::new(self.first, self.threshold(phi, self.first));
        for (offset, weight) in self.weights.iter().enumerate() {
            let c = self.first + offset as u64;
            half.move_to(c, self.threshold(phi, c));
            total = total.add(&weight.mul(&self.given(&half, &x)));
        }
        total.mul(&half.unit).add(&self.outside)
    }

    /// φ: given C = c, the ratio is above e^ε where the first count is above `φ·(c+1)`.
    /// `None` if it is not known well enough.
    ///
    /// # Proof
    /// Given C = c, counts i and c+1−i have probabilities in the ratio
    /// `t·i + (1−t)(c+1−i)` to `(1−t)·i + t(c+1−i)`, `t = 1/(1+e^−ε₀)`. That is at least e^ε iff
    /// `i ≥ φ(c+1)` with `φ = (e^ε − e^−ε₀)/((1−e^−ε₀)(1+e^ε))`, and
    /// `e^ε − e^−ε₀ = e^ε(1−e^−ε) + (1−e^−ε₀)`: sums and products of positive numbers,
    /// enclosed without cancellation however small ε₀ is. The enclosure, times c+1 ≤ 10⁷, is
    /// narrower than ¼ and a float's product with c+1 rounds by less than 10⁻⁸, so the
    /// computed threshold is within 1 of the best. ∎
    fn share(&self, epsilon: f64) -> Option<f64> {
        let x = Mass::exp(epsilon);
        let top = x.mul(&Mass::one_minus_exp_neg(epsilon)).add(&self.gap);
        let phi = top.div(&self.gap.mul(&Mass::ONE.add(&x)));
        let (low, high) = phi.to_f64();
        // Beyond 1 no count is in the event, whatever the threshold.
        (low >= 1.0 || (high - low) * MOST as f64 <= 0.25).then(|| high.clamp(0.0, 1.0))
    }

    /// About the least first count i (1 ≤ i ≤ c+1) in the worst event, given c.
    fn threshold(&self, phi: f64, c: u64) -> u64 {
        ((phi * (c + 1) as f64).floor() as u64 + 1).clamp(1, c + 1)
    }

    /// δ given C = c: the largest, over thresholds i−1, i, i+1, of
    /// `P[first count ≥ i] − x·Q[first count ≥ i]`.
    ///
    /// With `T(j) = P[Bin(c,½) ≥ j]`, the first count is at least i with
    /// probability `truth·T(i−1) + lie·T(i)` under P, and swapped under Q.
    fn given(&self, half: &Half, x: &Mass) -> Mass {
        let mut most = Mass::ZERO;
        for (before, after) in half.tails().windows(2).map(|w| (w[0], w[1])) {
            let p = self.truth.mul(&before).add(&self.lie.mul(&after));
            let q = self.lie.mul(&before).add(&self.truth.mul(&after));
            most = most.max(&p.sub(&x.mul(&q)));
        }
        most
    }
}

/// The fair binomial `Bin(c,½)` around one point j. Probabilities are in units
/// of the first one, which is known less well than their ratios.
struct Half {
    c: u64,
    j: u64,
    unit: Mass,
    /// `P[Bin(c,½) = j]`.
    mass: Mass,
    /// `P[Bin(c,½) ≥ j]`.
    tail: Mass,
}

impl Half {
    fn new(c: u64, j: u64) -> Self {
        let j = j.min(c);
        let unit =
            (0..j).fold(Mass::exactly(0.5).pow(c), |unit, i| unit.mul(&quotient(c - i, i + 1)));
        let mut half = Self { c, j, unit, mass: Mass::ONE, tail: Mass::ONE };
        half.tail = half.summed();
        half
    }

    /// Moves to (c, j) by Pascal's rule, summing anew where that lost digits.
    fn move_to(&mut self, c: u64, j: u64) {
        while self.c < c {
            // T(c+1, j) = T(c, j) + ½·P[Bin(c) = j−1].
            self.tail = self.tail.add(&self.before().times(0.5));
            // C(c+1, j)/2^(c+1) = C(c, j)/2^c · (c+1)/(2(c+1−j)).
            self.mass = self.mass.mul(&quotient(self.c + 1, 2 * (self.c + 1 - self.j)));
            self.c += 1;
        }
        let j = j.min(self.c);
        while self.j < j {
            self.tail = self.tail.sub(&self.mass);
            self.mass = self.mass.mul(&quotient(self.c - self.j, self.j + 1));
            self.j += 1;
        }
        while self.j > j {
            self.mass = self.before();
            self.j -= 1;
            self.tail = self.tail.add(&self.mass);
        }
        let (low, high) = self.tail.to_f64();
        if high - low > 1e-11 * high {
            self.tail = self.summed();
        }
    }

    /// `P[Bin(c,½) = j−1]`.
    fn before(&self) -> Mass {
        if self.j == 0 { Mass::ZERO } else { self.mass.mul(&quotient(self.j, self.c - self.j + 1)) }
    }

    /// `P[Bin(c,½) ≥ j]`, term by term: relative to `P[Bin = j]`, in plain floats
    /// with a slack of eight units per term.
    fn summed(&self) -> Mass {
        let (mut sum, mut term, mut terms) = (1.0, 1.0, 1.0);
        for i in self.j..self.c {
            let ratio = (self.c - i) as f64 / (i + 1) as f64;
            term *= ratio;
            sum += term;
            terms += 1.0;
            if ratio < 1.0 && term < 1e-17 * (1.0 - ratio) * sum {
                break; // ratios fall, so the rest is below term/(1−ratio): in the slack
            }
        }
        let slack = (8.0 * terms + 16.0) * f64::EPSILON;
        self.mass.mul(&Mass::between(sum * (1.0 - slack), sum * (1.0 + slack)))
    }

    /// `P[Bin ≥ j−2], …, P[Bin ≥ j+2]`: what thresholds j−1 … j+2 need.
    fn tails(&self) -> [Mass; 5] {
        let (c, j) = (self.c, self.j);
        let before = self.before();
        let earlier = if j < 2 { Mass::ZERO } else { before.mul(&quotient(j - 1, c - j + 2)) };
        let next = if j < c { self.mass.mul(&quotient(c - j, j + 1)) } else { Mass::ZERO };
        let less = self.tail.add(&before);
        let one = self.tail.sub(&self.mass);
        [less.add(&earlier), less, self.tail, one, one.sub(&next)]
    }
}

/// `a/b`, enclosed.
fn quotient(a: u64, b: u64) -> Mass {
    let quotient = a as f64 / b as f64;
    Mass::between(down(quotient), up(quotient))
}

#[cfg(test)]
mod tests;
