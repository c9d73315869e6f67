//! Gaussian differential privacy: as hard to distinguish as N(0,1) from N(μ,1).
//!
//! Gaussian noises compose *exactly*: `μ = √(Σμᵢ²)`. So the cost of any number of
//! them, at any δ, is one equation, and no numerical composition is needed.

use super::search;
use super::{Interval, basic};
use crate::error::{Error, Result};
use crate::mechanism::gaussian_delta;
use crate::num::directed::{down, up};
use crate::num::{Ratio, normal};
use crate::unit::{Delta, Epsilon, L2, Sensitivity};

/// The parameter μ ≥ 0 of Gaussian privacy, as a certified interval.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Mu {
    lower: f64,
    upper: f64,
}

impl Mu {
    /// The μ of several Gaussian noises together, each given as `(distance, σ, count)`.
    ///
    /// # Proof
    /// By independence and rotation the pair is N(0,I) against N(v,I) with
    /// `‖v‖² = Σμᵢ²`; every operation is rounded outwards. ∎
    /// # References
    /// Dong, Roth, Su 2022 (arXiv:1905.02383v3), Corollary 2.1.
    pub fn of(noises: &[(f64, f64, u64)]) -> Result<Self> {
        let (mut low, mut high) = (0.0, 0.0);
        for &(distance, sigma, k) in noises {
            let (l, h) = (down(distance / sigma), up(distance / sigma));
            low += down(down(l * l) * k as f64);
            low = down(down(low));
            high = basic::add_up(high, basic::times_up(up(h * h), k));
        }
        let (lower, upper) = (down(low.max(0.0).sqrt()).max(0.0), up(high.sqrt()));
        if upper.is_finite() {
            Ok(Self { lower, upper })
        } else {
            Err(Error::Precision { what: "the total of Gaussian noises" })
        }
    }

    /// A lower bound on μ.
    #[must_use]
    pub fn lower(self) -> f64 {
        self.lower
    }

    /// An upper bound on μ.
    #[must_use]
    pub fn upper(self) -> f64 {
        self.upper
    }

    /// The least ε at δ: the root of
    /// `Φ(μ/2 − ε/μ) − e^ε·Φ(−μ/2 − ε/μ) = δ`; ∞ for δ = 0.
    ///
    /// # Guarantee
    /// The truth lies in the interval.
    /// # Proof
    /// The left side falls with ε and grows with μ; both ends are certified in
    /// multi-precision intervals, the upper at the upper μ. ∎
    /// # References
    /// Balle & Wang 2018 (arXiv:1805.06530v2), Theorem 8.
    pub fn epsilon(self, delta: Delta) -> Result<Interval> {
        if delta.get() == 0.0 {
            return Ok(Interval::INFINITE);
        }
        let log = -delta.get().ln();
        let start = self.upper * (0.5 * self.upper + (2.0 * log).sqrt());
        let found = search::crossing(start, delta.get(), |x| {
            Ok((profile(self.lower, x)?.0, profile(self.upper, x)?.1))
        })?;
        Ok(found)
    }
}

/// `(lower, upper)` around δ(ε) for a μ ≥ 0.
fn profile(mu: f64, epsilon: f64) -> Result<(f64, f64)> {
    if mu == 0.0 {
        return Ok((0.0, 0.0));
    }
    if epsilon == 0.0 {
        // 2Φ(μ/2) − 1.
        let half = Ratio::from_f64(mu).ok_or(Error::Precision { what: "mu" })?.scale(-1);
        let (low, high) = normal::upper_tail(&half, 256).to_f64();
        return Ok((down(1.0 - 2.0 * high).max(0.0), up(1.0 - 2.0 * low)));
    }
    gaussian_delta(1.0, Epsilon::new(epsilon)?, Sensitivity::<L2>::new(mu)?)
}

#[cfg(test)]
#[expect(clippy::excessive_precision, reason = "known answers keep all their digits")]
mod tests {
    use super::*;

    #[test]
    fn compositions_have_their_known_values() {
        // 50-digit analytic values: (σ, k, δ, ε).
        for (sigma, k, delta, value) in [
            (10.0, 10, 1e-5, 1.199_369_573_753_168_338_2),
            (1.0, 10, 1e-5, 17.856_586_830_107_613_926),
            (10.0, 1, 1e-9, 0.535_148_231_553_172_567_23),
            (2.0, 1, 1e-9, 2.909_732_380_763_616_974_7),
            (10.0, 10, 1e-9, 1.788_024_826_940_984_512),
            (1.0, 10, 1e-9, 23.407_542_535_945_502_341),
            (2.0, 10, 1e-9, 10.321_313_596_343_421_255),
            (10.0, 1000, 1e-9, 23.407_542_535_945_502_341),
            (1.0, 1000, 1e-9, 688.751_845_737_340_299_07),
            (10.0, 1000, 1e-5, 17.856_586_830_107_613_926),
            (2.0, 1000, 1e-5, 191.549_201_432_711_228_88),
            (10.0, 1000, 1e-11, 25.670_898_667_659_773_759),
            (2.0, 1000, 1e-11, 230.198_433_070_945_574_98),
            (10.0, 1000, 1e-13, 27.723_085_904_301_416_863),
            (2.0, 1000, 1e-13, 240.373_883_668_986_176_75),
            (10.0, 1000, 1e-14, 28.686_163_473_068_261_976),
            (2.0, 1000, 1e-14, 245.151_890_408_040_252_5),
            (10.0, 1000, 1e-15, 29.613_454_177_668_445_984),
            (10.0, 1000, 1e-16, 30.508_628_963_273_008_733),
            (2.0, 1000, 1e-16, 254.197_754_147_141_733_75),
        ] {
            let mu = Mu::of(&[(1.0, sigma, k)]).unwrap();
            let found = mu.epsilon(Delta::new(delta).unwrap()).unwrap();
            assert!(found.contains(value), "{found} {value}");
            assert!(found.relative_width() < 1e-12, "{found}");
        }
    }

    #[test]
    fn rho_half_is_mu_one_and_replacing_doubles() {
        let delta = Delta::new(1e-6).unwrap();
        let one = Mu::of(&[(1.0, 1.0, 1)]).unwrap().epsilon(delta).unwrap();
        assert!(one.contains(4.886_554_117_462_211_996_4));
        let doubled = Mu::of(&[(2.0, 2.0, 1)]).unwrap().epsilon(delta).unwrap();
        assert!(doubled.contains(4.886_554_117_462_211_996_4));
        assert_eq!(Mu::of(&[]).unwrap().epsilon(delta).unwrap().upper, 0.0);
        let pure = Mu::of(&[(1.0, 1.0, 1)]).unwrap().epsilon(Delta::ZERO).unwrap();
        assert_eq!(pure, Interval::INFINITE);
        // At a large δ even ε = 0 is enough: 2Φ(½) − 1 = 0.3829….
        let loose = Mu::of(&[(1.0, 1.0, 1)]).unwrap();
        assert_eq!(loose.epsilon(Delta::new(0.383).unwrap()).unwrap().upper, 0.0);
        assert!(loose.epsilon(Delta::new(0.382).unwrap()).unwrap().lower > 0.0);
    }
}
