//! Numbers near their place: the piecewise and the square wave mechanism.

use super::{Coin, Report};
use crate::error::{Error, Result};
use crate::mechanism::{Guarantee, Release};
use crate::random::Bits;
use crate::sample::below;
use crate::unit::Epsilon;

/// Reports a number in [0, 1] as a cell that is probably near it.
///
/// The number is put on one of `steps + 1` places s. The report is one of `M = steps + w` cells: with
/// probability p one of the w cells `s, …, s+w−1`, else one of the others, uniformly either way.
///
/// ```
/// use demure_core::local::Window;
/// use demure_core::random::{Randomness, SystemRandom};
/// use demure_core::unit::Epsilon;
///
/// let mut rng = SystemRandom::new()?;
/// let epsilon = Epsilon::new(1.0)?;
/// let mean = Window::piecewise(epsilon)?;
/// println!("{:?}", mean.randomize(0.8, rng.bits()?)?.value());
/// let distribution = Window::square_wave(64, epsilon)?;
/// let bin = distribution.bin(0.8)?;
/// println!("{:?}", distribution.randomize_place(bin, rng.bits()?)?.value());
/// # Ok::<(), demure_core::Error>(())
/// ```
///
/// *Piecewise*, for means: `w/steps = e^{−ε/2}`, and the place is the value times 2¹⁶, rounded at
/// random so that its mean is right. Then `E[cell]` is linear in the value, and the estimate unbiased.
/// *Square wave*, for distributions: `w/steps = 2b` with
/// `b = (εe^ε − e^ε + 1)/(2e^ε(e^ε − 1 − ε))`, and the place is the value's bin.
/// Both are the continuous mechanisms of the literature on a grid.
///
/// # Guarantee
/// ε-local DP.
/// # Proof
/// Two levels, `p/(1−p)·steps/w ≤ e^ε`, for a given place; rounding at random is a mixture
/// over two places. ∎
/// # Special values
/// NaN is refused; values outside [0, 1] are clamped, ±∞ too.
/// # References
/// Wang et al. 2019 (arXiv:1907.00782v1), Algorithm 2; Li et al. 2020 (arXiv:1912.01051v1).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Window {
    steps: u32,
    width: u32,
    inside: Coin,
    epsilon: Epsilon,
}

impl Window {
    /// The piecewise mechanism, for estimating a mean.
    pub fn piecewise(epsilon: Epsilon) -> Result<Self> {
        let steps = 1 << 16;
        Self::new(steps, f64::from(steps) * (-0.5 * epsilon.get()).exp(), epsilon)
    }

    /// The square wave mechanism, for estimating a distribution over `bins` bins.
    pub fn square_wave(bins: u32, epsilon: Epsilon) -> Result<Self> {
        if !(2..=1 << 16).contains(&bins) {
            return Err(Error::OutOfRange { parameter: "bins", allowed: "between 2 and 2^16" });
        }
        let e = epsilon.get();
        // 2b = (ε − 1 + e^−ε)/(e^ε − 1 − ε), by series where that cancels: b → ½.
        let double_b =
            if e < 1e-4 { 1.0 - 2.0 * e / 3.0 } else { (e + (-e).exp_m1()) / (e.exp_m1() - e) };
        Self::new(bins - 1, f64::from(bins) * double_b, epsilon)
    }

    fn new(steps: u32, width: f64, epsilon: Epsilon) -> Result<Self> {
        let width = (width.round() as u32).clamp(1, 1 << 16);
        Ok(Self { steps, width, inside: Coin::two_levels(epsilon, width, steps)?, epsilon })
    }

    /// The number of places, minus one.
    #[must_use]
    pub fn steps(&self) -> u32 {
        self.steps
    }

    /// The number w of cells near a place.
    #[must_use]
    pub fn width(&self) -> u32 {
        self.width
    }

    /// The number of all cells, M.
    #[must_use]
    pub fn cells(&self) -> u32 {
        self.steps + self.width
    }

    /// The coin p that decides for a cell near the place.
    #[must_use]
    pub fn inside(&self) -> Coin {
        self.inside
    }

    /// The guarantee of one report.
    #[must_use]
    pub fn guarantee(&self) -> Guarantee {
        Guarantee::Pure(self.epsilon)
    }

    /// The bin of a value in [0, 1].
    pub fn bin(&self, value: f64) -> Result<u32> {
        let value = unit_interval(value)?;
        Ok(((value * f64::from(self.steps + 1)) as u32).min(self.steps))
    }

    /// Draws one person's report of a number in [0, 1], for estimating a mean.
    pub fn randomize(&self, value: f64, bits: &mut Bits) -> Result<Release<Report>> {
        let scaled = unit_interval(value)? * f64::from(self.steps);
        let floor = scaled.floor();
        let up = (bits.word()? >> 11) as f64 / (1u64 << 53) as f64;
        self.randomize_place(floor as u32 + u32::from(up < scaled - floor), bits)
    }

    /// Draws one person's report of a place or bin.
    pub fn randomize_place(&self, place: u32, bits: &mut Bits) -> Result<Release<Report>> {
        super::require_category(place, self.steps + 1)?;
        let inside = self.inside.flip(bits)?;
        let near = place + below(u64::from(self.width), bits)? as u32;
        let far = below(u64::from(self.steps), bits)? as u32;
        let far = far + if far >= place { self.width } else { 0 };
        Ok(Release::new(Report::Cell(if inside { near } else { far }), self.guarantee()))
    }
}

/// Clamps to [0, 1], and refuses NaN.
pub(super) fn unit_interval(value: f64) -> Result<f64> {
    if value.is_nan() {
        return Err(Error::OutOfRange { parameter: "value", allowed: "a number" });
    }
    Ok(value.clamp(0.0, 1.0))
}
