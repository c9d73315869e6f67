//! A gate: opens if a noised distance is above a threshold, with a known chance at distance 0.

use crate::error::{Error, Result};
use crate::num::directed::{self, down, up};
use crate::random::Randomness;
use crate::sample::{DiscreteLaplace, Scale};
use crate::unit::{Delta, Epsilon};

/// Distances are cut off here: as good as infinite, and a cut keeps them 1-Lipschitz.
const FAR: u64 = 1 << 62;

/// Opens iff `d + Z > T`, with `P[Z = k] ∝ e^(−ε|k|)` and the least T for which
/// `P[Z > T] = e^(−ε(T+1))/(1+e^−ε) ≤ δ`.
///
/// # Guarantee
/// Whether it opens is ε-DP if d is 1-Lipschitz, and where d = 0 it opens with probability at most δ.
/// # Proof
/// The first is the geometric mechanism, post-processed; the second the definition of T. ∎
#[derive(Clone, Debug)]
pub(super) struct Gate {
    noise: DiscreteLaplace,
    epsilon: f64,
    threshold: u64,
}

impl Gate {
    pub(super) fn new(epsilon: Epsilon, delta: Delta) -> Result<Self> {
        Self::with_sensitivity(epsilon, delta, 1)
    }

    /// The same for a number that changes by at most `sensitivity`: ε per step is `ε/sensitivity`.
    pub(super) fn with_sensitivity(
        epsilon: Epsilon,
        delta: Delta,
        sensitivity: u64,
    ) -> Result<Self> {
        let delta = Delta::positive(delta.get())?;
        let steps = up(sensitivity.max(1) as f64);
        let noise = DiscreteLaplace::new(&Scale::quotient(steps, epsilon.get())?)?;
        let mut gate = Self { noise, epsilon: down(epsilon.get() / steps), threshold: 0 };
        // The formula proposes; the certified chance decides.
        let guess = -(delta.get() * (1.0 + (-gate.epsilon).exp())).ln() / gate.epsilon - 1.0;
        if guess >= FAR as f64 / 4.0 {
            return Err(Error::Infeasible {
                what: "so small an epsilon and delta put the threshold out of reach",
                remedy: "spend more on the test",
            });
        }
        gate.threshold = (guess.ceil().max(0.0) as u64).saturating_sub(2);
        while gate.chance(0)? > delta.get() {
            gate.threshold += 1;
        }
        Ok(gate)
    }

    /// T.
    pub(super) fn threshold(&self) -> u64 {
        self.threshold
    }

    /// An upper bound on `P[d + Z > T]` for d ≤ T.
    pub(super) fn chance(&self, distance: u64) -> Result<f64> {
        let steps = self.threshold.saturating_sub(distance) + 1;
        let (_, top) = directed::exp_neg(down(self.epsilon * steps as f64).max(0.0))?;
        let (a, _) = directed::exp_neg(up(up(self.epsilon)).min(1e9))?;
        Ok(up(top / down(1.0 + a)))
    }

    pub(super) fn opens(&self, distance: u64, rng: &mut dyn Randomness) -> Result<bool> {
        let noised = i128::from(distance.min(FAR)).saturating_add(self.noise.draw(rng)?);
        Ok(noised > i128::from(self.threshold))
    }

    /// A draw of Z.
    pub(super) fn noise(&self, rng: &mut dyn Randomness) -> Result<i128> {
        self.noise.draw(rng)
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::random::SeededForTests;

    /// `P[Z = k]` of two-sided geometric noise of scale s.
    pub(crate) fn laplace_pmf(s: f64, k: i128) -> f64 {
        (0.5 / s).tanh() * (-(k.abs() as f64) / s).exp()
    }

    /// `P[Z ≤ k]`.
    pub(crate) fn laplace_cdf(s: f64, k: i128) -> f64 {
        let a = (-1.0 / s).exp();
        if k < 0 {
            (k as f64 / s).exp() / (1.0 + a)
        } else {
            1.0 - (-(k as f64 + 1.0) / s).exp() / (1.0 + a)
        }
    }

    /// `P[d + Z > T]`, for tests of whole mechanisms.
    pub(crate) fn opening(gate: &Gate, distance: u64) -> f64 {
        let a = (-gate.epsilon).exp();
        let margin = gate.threshold as f64 + 1.0 - distance as f64;
        if margin >= 1.0 {
            (-gate.epsilon * margin).exp() / (1.0 + a)
        } else {
            1.0 - (-gate.epsilon * (1.0 - margin)).exp() / (1.0 + a)
        }
    }

    #[test]
    fn the_threshold_is_the_least_and_the_formula_of_the_docs() {
        for (e, d) in [(1.0, 1e-6), (0.5, 0.02), (0.1, 1e-9), (3.0, 0.3), (0.01, 0.4)] {
            let gate = Gate::new(Epsilon::new(e).unwrap(), Delta::new(d).unwrap()).unwrap();
            let formula = ((1.0 / (d * (1.0 + (-e).exp()))).ln() / e).ceil() - 1.0;
            assert_eq!(gate.threshold() as f64, formula.max(0.0), "{e} {d}");
            assert!(gate.chance(0).unwrap() <= d);
            assert!(gate.threshold() == 0 || gate.chance(1).unwrap() > d);
        }
        assert!(Gate::new(Epsilon::new(1.0).unwrap(), Delta::ZERO).is_err());
        assert!(Gate::new(Epsilon::new(1e-300).unwrap(), Delta::new(1e-9).unwrap()).is_err());
    }

    #[test]
    fn it_opens_as_often_as_it_says() {
        // False alarm 1e-6: 4.9 standard deviations.
        let gate = Gate::new(Epsilon::new(0.7).unwrap(), Delta::new(0.05).unwrap()).unwrap();
        let mut rng = SeededForTests::insecure(1);
        for distance in [0, 1, 4, 9] {
            let opened = (0..100_000).filter(|_| gate.opens(distance, &mut rng).unwrap()).count();
            let p = opening(&gate, distance);
            let band = 4.9 * (p * (1.0 - p) / 1e5).sqrt();
            assert!((opened as f64 / 1e5 - p).abs() < band, "{distance}");
            // One step off is seen.
            assert!((opened as f64 / 1e5 - opening(&gate, distance + 1)).abs() > band);
        }
    }
}
