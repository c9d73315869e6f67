//! A number as the sign of a coin; and the better of that and a window.

use super::window::unit_interval;
use super::{Coin, Report, Response, Window};
use crate::error::Result;
use crate::mechanism::{Guarantee, Release};
use crate::random::Bits;
use crate::unit::Epsilon;

/// Reports a number in [0, 1] as one sign: Duchi's mechanism.
///
/// For a value u (t = 2u−1 in [−1, 1]) it flips a coin of probability u and reports how it fell through
/// randomized response.
///
/// ```
/// use demure_core::local::Sign;
/// use demure_core::random::{Randomness, SystemRandom};
/// use demure_core::unit::Epsilon;
///
/// let mut rng = SystemRandom::new()?;
/// let sign = Sign::new(Epsilon::new(1.0)?)?;
/// println!("{:?}", sign.randomize(0.8, rng.bits()?)?.value());
/// # Ok::<(), demure_core::Error>(())
/// ```
///
/// With p the probability of the truth the sign is + with probability `½ + t(2p−1)/2`, so that
/// `±(e^ε+1)/(e^ε−1)` has mean t and variance `((e^ε+1)/(e^ε−1))² − t²`.
///
/// # Guarantee
/// ε-local DP.
/// # Proof
/// The first coin makes a mixture of the two inputs of [`Response`]. ∎
/// # Special values
/// NaN is refused; values outside [0, 1] are clamped. u is rounded down to a multiple of
/// 2⁻⁵³ at the coin, which costs accuracy (10⁻¹⁶) and not privacy.
/// # References
/// Duchi, Jordan, Wainwright 2018 (arXiv:1604.02390v2), in one dimension.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sign {
    response: Response,
}

impl Sign {
    /// Calibrates the randomizer to ε.
    pub fn new(epsilon: Epsilon) -> Result<Self> {
        Ok(Self { response: Response::with_epsilon(2, epsilon)? })
    }

    /// The guarantee of one report.
    #[must_use]
    pub fn guarantee(&self) -> Guarantee {
        self.response.guarantee()
    }

    /// The mean sign of the value 1: `2p − 1 = (e^ε−1)/(e^ε+1)`.
    #[must_use]
    pub fn gap(&self) -> f64 {
        self.response.gap()
    }

    /// Draws one person's report.
    pub fn randomize(&self, value: f64, bits: &mut Bits) -> Result<Release<Report>> {
        let value = unit_interval(value)?;
        let fell = ((bits.word()? >> 11) as f64 / (1u64 << 53) as f64) < value;
        let sign = self.response.draw(u32::from(fell), bits)? == 1;
        Ok(Release::new(Report::Sign(sign), self.guarantee()))
    }
}

/// Reports a number in [0, 1] through a piecewise [`Window`] or as a [`Sign`], chosen at random.
///
/// For ε > 0.61 it uses the window with probability `1 − e^{−ε/2}`, and the sign otherwise; for smaller ε
/// always the sign. Its worst variance is below that of either.
///
/// ```
/// use demure_core::local::Hybrid;
/// use demure_core::random::{Randomness, SystemRandom};
/// use demure_core::unit::Epsilon;
///
/// let mut rng = SystemRandom::new()?;
/// let hybrid = Hybrid::new(Epsilon::new(2.0)?)?;
/// println!("{:?}", hybrid.randomize(0.8, rng.bits()?)?.value());
/// # Ok::<(), demure_core::Error>(())
/// ```
///
/// # Guarantee
/// ε-local DP; which of the two it was is seen.
/// # Proof
/// The choice does not depend on the value, and either is ε-private. ∎
/// # References
/// Wang et al. 2019 (arXiv:1907.00782v1), for 0.61 and the probability.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Hybrid {
    sign: Sign,
    window: Option<(Coin, Window)>,
}

impl Hybrid {
    /// Calibrates the randomizer to ε.
    pub fn new(epsilon: Epsilon) -> Result<Self> {
        let window = if epsilon.get() > 0.61 {
            let often = (-(-0.5 * epsilon.get()).exp_m1()).min(1.0 - f64::EPSILON);
            Some((Coin::at_most(often)?, Window::piecewise(epsilon)?))
        } else {
            None
        };
        Ok(Self { sign: Sign::new(epsilon)?, window })
    }

    /// The sign, and the window with the coin that chooses it, if there is one.
    #[must_use]
    pub fn parts(&self) -> (Sign, Option<(Coin, Window)>) {
        (self.sign, self.window)
    }

    /// The guarantee of one report.
    #[must_use]
    pub fn guarantee(&self) -> Guarantee {
        self.sign.guarantee()
    }

    /// Draws one person's report.
    pub fn randomize(&self, value: f64, bits: &mut Bits) -> Result<Release<Report>> {
        unit_interval(value)?; // refused whichever way the coin falls
        match self.window {
            Some((coin, window)) if coin.flip(bits)? => window.randomize(value, bits),
            _ => self.sign.randomize(value, bits),
        }
    }
}
