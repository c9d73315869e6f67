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
mod tests {
    use super::*;
    use crate::random::SeededForTests;
    use demure_testkit::fit::Fit;

    /// P[Xe^(σY) > x] for x ≥ 0, by the trapezoidal rule, which is exact to 15 digits here.
    pub(crate) fn upper(sigma: f64, x: f64) -> f64 {
        let h = 1.0 / 64.0;
        let sum: f64 = (-640..=640)
            .map(|i| {
                let y = f64::from(i) * h;
                (-0.5 * y * y - x * (-sigma * y).exp()).exp()
            })
            .sum();
        0.5 * sum * h / std::f64::consts::TAU.sqrt()
    }

    fn cdf(s: f64, sigma: f64, centre: f64, grid: f64) -> impl Fn(i128) -> f64 {
        move |k| {
            let x = ((k as f64 + 0.5) * grid - centre) / s;
            if x < 0.0 { upper(sigma, -x) } else { 1.0 - upper(sigma, x) }
        }
    }

    #[test]
    fn laplace_log_normal_fits_and_the_test_has_power() {
        let grid = Grid::power_of_two(-1).unwrap();
        for (seed, scale, sigma, centre) in
            [(1, 3.0, 0.31, 0.0), (2, 0.7, 1.2, 0.3), (3, 1e6, 0.05, -7.9), (4, 1e14, 0.5, 12.25)]
        {
            let noise =
                RoundedLaplaceLogNormal::new(&Scale::new(scale).unwrap(), sigma, grid).unwrap();
            let mut rng = SeededForTests::insecure(seed);
            let count = if scale > 1e10 { 20_000 } else { 200_000 };
            let samples: Vec<_> =
                (0..count).map(|_| noise.draw(centre, &mut rng).unwrap()).collect();
            let fit = |s: f64, sigma: f64| {
                Fit::by_cdf(samples.iter().copied(), cdf(s, sigma, centre, 0.5), 60)
            };
            assert!(fit(scale, sigma).accepts(), "{scale} {sigma}");
            if count == 200_000 {
                assert!(fit(scale * 1.05, sigma).rejects(), "{scale} {sigma}");
            }
            if sigma > 1.0 {
                assert!(fit(scale, sigma * 1.05).rejects(), "{scale} {sigma}");
            }
        }
    }

    #[test]
    fn the_certified_path_agrees_with_the_fast_one() {
        let noise =
            RoundedLaplaceLogNormal::new(&Scale::new(40.0).unwrap(), 0.6, Grid::ONE).unwrap();
        let centre = Centre::rounding(0.3, Grid::ONE).unwrap();
        let mut rng = SeededForTests::insecure(5);
        let bits = rng.bits().unwrap();
        for _ in 0..400 {
            let word = bits.word().unwrap();
            let (low, mut normal) = lazy_normal(bits).unwrap();
            let g = centre.offset(word & 1 == 1);
            let (from, to) = noise.bracket(word >> 1, low, &normal, g.near()).unwrap();
            let mut uniform = LazyUniform::starting(word >> 1, 63);
            let slow = magnitude::search(None, |k| {
                noise.reaches(k, g, &mut uniform, low, &mut normal, bits)
            })
            .unwrap();
            assert!((from..=to).contains(&slow) && to - from <= 1);
        }
    }

    #[test]
    fn the_variance_is_the_stated_one() {
        let sigma = 0.309_197_818_894_132f64;
        let noise =
            RoundedLaplaceLogNormal::new(&Scale::new(1000.0).unwrap(), sigma, Grid::ONE).unwrap();
        let mut samples = vec![0; 400_000];
        noise.fill(&mut samples, &mut SeededForTests::insecure(6)).unwrap();
        let variance: f64 = samples.iter().map(|&z| (z as f64 / 1000.0).powi(2)).sum::<f64>() / 4e5;
        // The fourth moment is 24e^(8σ²): 4.9 standard deviations of the mean of squares.
        let wanted = 2.0 * (2.0 * sigma * sigma).exp();
        let sd = ((24.0 * (8.0 * sigma * sigma).exp() - wanted * wanted) / 4e5).sqrt();
        assert!((variance - wanted).abs() < 4.9 * sd, "{variance} {wanted}");
        for bad in [0.0, 9.0, f64::NAN] {
            let scale = Scale::new(1.0).unwrap();
            assert!(RoundedLaplaceLogNormal::new(&scale, bad, Grid::ONE).is_err());
        }
    }
}
