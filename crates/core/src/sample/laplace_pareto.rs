//! Laplace noise with a Pareto tail, as a real rounded to the grid.

use super::{Centre, LazyUniform, Scale, magnitude, rounding};
use crate::error::{Error, Result};
use crate::num::{Enclosure, Natural, Ratio, fast};
use crate::random::{Bits, Randomness};
use crate::unit::Grid;

/// The largest exponent: the tail then starts where almost nothing is left.
const MOST: u32 = 32;

/// s times a real X of density `∝ e^(−|x|)` up to `x₀ = γ+1` and `∝ |x|^(−γ−1)` beyond, where
/// the two meet with the same slope; rounded to the nearest step of a grid. γ is an
/// integer from 1 to 32. With `A = 1 + e^(−x₀)/γ`,
/// `P[|X| ≥ x] = (e^(−x) + e^(−x₀)/γ)/A` for x ≤ x₀, `(x₀/γ)e^(−x₀)(x₀/x)^γ/A` beyond; the variance is
/// `s²·(2 − e^(−x₀)(x₀² + 2x₀ + 2) + e^(−x₀)x₀³/(γ−2))/A`, infinite for γ ≤ 2.
///
/// # Guarantee
/// The result, cut at ±2¹²⁴ steps, is `⌊c + sX + ½⌋` for an ideal real X of that law and the exact centre c, all
/// counted in steps: a post-processing of `c + sX`.
/// # Proof
/// `∫_x^x₀ e^−y dy + ∫_x₀^∞ e^(−x₀)(y/x₀)^(−γ−1) dy = e^−x − e^−x₀ + e^−x₀·x₀/γ`, and `x₀/γ = 1 + 1/γ`:
/// hence the tail above, and A at x = 0. The magnitude's floor is at least k iff
/// `U ≤ P[|X| ≥ (k−g)/s]`, which floats bracket and certified arithmetic decides, on the same
/// U with more bits. ∎
#[derive(Clone, Debug)]
pub struct RoundedLaplacePareto {
    gamma: u32,
    rate: Ratio,
    scale: f64,
    grid: Grid,
    /// `e^(−x₀)`, within a relative 2⁻⁴⁸.
    edge: f64,
}

impl RoundedLaplacePareto {
    /// Noise of scale `scale` (in the units of the value), released as multiples of `grid`.
    pub fn new(gamma: u32, scale: &Scale, grid: Grid) -> Result<Self> {
        if !(1..=MOST).contains(&gamma) {
            let allowed = "an integer from 1 to 32";
            return Err(Error::OutOfRange { parameter: "gamma", allowed });
        }
        let on_grid = scale.on(grid)?;
        on_grid.in_steps()?;
        let rate = Ratio::new(1u64, 1u64).div(&on_grid.exact);
        let edge = fast::exp_neg(f64::from(gamma + 1));
        Ok(Self { gamma, rate, scale: on_grid.approximate, grid, edge })
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
        let negative = word & 1 == 1;
        let offset = centre.offset(negative);
        let bracket = self.magnitude(word >> 1).and_then(|(x, error)| {
            let y = self.scale * x + offset.near();
            magnitude::bracket(y, self.scale * error + rounding(y))
        });
        let mut uniform = LazyUniform::starting(word >> 1, 63);
        let steps = magnitude::search(bracket, |k| {
            let x = magnitude::distance(k, offset, &self.rate);
            uniform.below(bits, |b| self.tail(&x, b))
        })?;
        Ok(magnitude::place(centre, negative, steps))
    }

    /// |X| for U's first 63 bits, and an error, if floats can tell.
    fn magnitude(&self, known: u64) -> Option<(f64, f64)> {
        const UNIT: f64 = 1.0 / (1u64 << 63) as f64;
        if known < 1 << 20 {
            return None;
        }
        let gamma = f64::from(self.gamma);
        let start = gamma + 1.0;
        let over = self.edge / gamma;
        let v = known as f64 * UNIT * (1.0 + over);
        let tail = v - over;
        // v is off by a relative 2⁻⁵⁰ (and by U's unknown bits), `over` by 2⁻⁴⁷ of itself.
        let error = rounding(v) + rounding(4.0 * over) + 2.0 * UNIT;
        if tail > self.edge + error {
            return Some((-fast::ln(tail), fast::LN_ERROR + 1.01 * error / tail));
        }
        if tail > self.edge - error {
            return None; // on the seam
        }
        // x = x₀·(v/(x₀·edge/γ))^(−1/γ).
        let log = (fast::ln(self.edge * start / gamma) - fast::ln(v)).max(0.0) / gamma;
        let relative = (2.0 * fast::LN_ERROR + 1.01 * (error / v + 1.0 / known as f64)) / gamma;
        let x = start / fast::exp_neg(log);
        Some((x, x * (2.0 * relative + 2.0 * fast::EXP_ERROR) + rounding(x)))
    }

    /// Encloses `P[|X| ≥ x]`.
    fn tail(&self, x: &Ratio, bits: u32) -> Enclosure {
        let work = bits + 16;
        let gamma = Ratio::new(u64::from(self.gamma), 1u64);
        let start = Ratio::new(u64::from(self.gamma) + 1, 1u64);
        let one = Enclosure::of_ratio(&Ratio::new(1u64, 1u64), work);
        let edge = Enclosure::exp_neg(&start, work);
        let over = edge.mul_ratio(&Ratio::new(1u64, 1u64).div(&gamma));
        let top = if *x <= start {
            Enclosure::exp_neg(x, work).add(&over)
        } else {
            let shrink = start.div(x);
            let power =
                (0..self.gamma).fold(Ratio::new(1u64, 1u64), |p, _| trim(&p.mul(&shrink), work));
            // Each trimming loses at most a unit, and the factors are at most 1.
            let mut power = Enclosure::of_ratio(&power, work);
            power.upper = power.upper.add(&Natural::from(u64::from(self.gamma)));
            over.mul_ratio(&start).mul(&power)
        };
        match top.div(&one.add(&over)) {
            Some(p) => p.truncate(bits),
            None => top.truncate(bits), // never: the normaliser is at least 1
        }
    }
}

/// x rounded down to a multiple of 2^−`bits`, so that powers stay short.
fn trim(x: &Ratio, bits: u32) -> Ratio {
    Ratio::new(x.fixed(bits).0, Natural::power_of_two(bits))
}

#[cfg(test)]
mod tests;
