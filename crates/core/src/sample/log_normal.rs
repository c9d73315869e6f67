//! Laplace noise of a log-normal scale, as a real rounded to the grid.

use super::centre::Offset;
use super::gaussian::{Real, lazy_normal};
use super::{Centre, LazyUniform, Scale, magnitude, rounding};
use crate::error::{Error, Result};
use crate::num::{Enclosure, Ratio, ball, fast};
use crate::random::{Bits, Randomness};
use crate::unit::Grid;

/// A real `s·X·e^(σY)`, X ~ Lap(1) and Y ~ N(0,1) independent, rounded to the nearest step
/// of a grid. Its variance is `2s²e^(2σ²)`; all its moments are finite.
///
/// # Guarantee
/// The result, cut at ±2¹²⁴ steps, is `⌊c + sXe^(σY) + ½⌋` for ideal reals X, Y and the exact centre c, all
/// counted in steps: a post-processing of the ideal mechanism.
/// # Proof
/// X has a fair sign and the magnitude `−ln U`. With g the centre's fraction (or its
/// complement, for the negative sign), the magnitude's floor is at least k ≥ 1 iff
/// `U ≤ exp(−((k−g)/s)·e^(−σY))`. Y is known to lie in an interval of rationals, U in one of
/// binary fractions. Floats of known error bracket k; where they leave more than one
/// integer, the comparison is made in certified arithmetic, with more bits of the *same* U
/// and Y as long as the intervals overlap. ∎
#[derive(Clone, Debug)]
pub struct RoundedLaplaceLogNormal {
    rate: Ratio,
    scale: f64,
    sigma: Ratio,
    sigma_near: f64,
    grid: Grid,
}

impl RoundedLaplaceLogNormal {
    /// Noise of scale `scale` (in the units of the value) and shape `sigma`, released as multiples of `grid`.
    pub fn new(scale: &Scale, sigma: f64, grid: Grid) -> Result<Self> {
        let on_grid = scale.on(grid)?;
        on_grid.in_steps()?;
        let allowed = "at least 2^-60 and at most 8";
        let range = Error::OutOfRange { parameter: "sigma", allowed };
        if !(2f64.powi(-60)..=8.0).contains(&sigma) {
            return Err(range);
        }
        Ok(Self {
            rate: Ratio::new(1u64, 1u64).div(&on_grid.exact),
            scale: on_grid.approximate,
            sigma: Ratio::from_f64(sigma).ok_or(range)?,
            sigma_near: sigma,
            grid,
        })
    }

    /// `value` plus noise, in steps of the grid.
    pub fn draw(&self, value: f64, rng: &mut dyn Randomness) -> Result<i128> {
        self.next(&Centre::rounding(value, self.grid)?, rng.bits()?)
    }

    /// Fills `out` with independent draws of the noise alone.
    pub fn fill(&self, out: &mut [i128], rng: &mut dyn Randomness) -> Result<()> {
        let (centre, bits) = (Centre::zero(), rng.bits()?);
        for value in out {
            *value = self.next(&centre, bits)?;
        }
        Ok(())
    }

    fn next(&self, centre: &Centre, bits: &mut Bits) -> Result<i128> {
        let word = bits.word()?;
        let (low, mut normal) = lazy_normal(bits)?;
        let negative = word & 1 == 1;
        let offset = centre.offset(negative);
        let bracket = self.bracket(word >> 1, low, &normal, offset.near());
        let mut uniform = LazyUniform::starting(word >> 1, 63);
        let steps = magnitude::search(bracket, |k| {
            self.reaches(k, offset, &mut uniform, low, &mut normal, bits)
        })?;
        Ok(magnitude::place(centre, negative, steps))
    }

    /// `⌊sEe^(σY) + g⌋` from U's first 63 bits.
    #[inline]
    fn bracket(&self, known: u64, low: bool, normal: &Real, g: f64) -> Option<(i128, i128)> {
        if known < 1 << 20 {
            return None; // U's unknown bits move the logarithm too much
        }
        let exponent = self.sigma_near * normal.near;
        let factor = self.scale * ball::exp(if low { -exponent } else { exponent });
        let e = fast::neg_ln_bits(known);
        let y = factor * e + g;
        // The logarithm and U's unknown bits; the exponential, its argument, Y's unknown bits.
        let log = fast::LN_ERROR + 1.0 / known as f64;
        let relative = 2.0 * ball::EXP_ERROR + 2.0 * rounding(exponent + self.sigma_near);
        magnitude::bracket(y, factor * (1.01 * log + e * relative) + rounding(y))
    }

    /// `U ≤ exp(−x·e^(−σY))`, `x = (k−g)/s`.
    #[cold]
    fn reaches(
        &self,
        k: i128,
        g: Offset<'_>,
        uniform: &mut LazyUniform,
        low: bool,
        normal: &mut Real,
        bits: &mut Bits,
    ) -> Result<bool> {
        let x = magnitude::distance(k, g, &self.rate);
        loop {
            let known = uniform.enclosure();
            let work = known.bits + 16 + x.fixed(0).0.bits();
            let (near, far) = normal.ends();
            let (near, far) = (near.mul(&self.sigma), far.mul(&self.sigma));
            let fail = Error::Precision { what: "a Laplace-log-normal draw" };
            // e^(−σY): Y is −|Y| when `low`.
            let inner = if low {
                let at = |y: &Ratio| Enclosure::exp(y, work);
                let (lower, upper) = (at(&near).ok_or(fail.clone())?, at(&far).ok_or(fail)?);
                Enclosure { lower: lower.lower, upper: upper.upper, bits: work }
            } else {
                let at = |y: &Ratio| Enclosure::exp_neg(y, work);
                Enclosure { lower: at(&far).lower, upper: at(&near).upper, bits: work }
            };
            let p = Enclosure::exp_neg_of(&inner.mul_ratio(&x)).truncate(known.bits);
            if known.upper <= p.lower {
                return Ok(true);
            }
            if known.lower >= p.upper {
                return Ok(false);
            }
            uniform.extend(bits)?;
            normal.extend(bits)?;
        }
    }
}

#[cfg(test)]
mod tests;
