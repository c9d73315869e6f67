//! Student's t noise, as a real rounded to the grid.

use super::centre::Offset;
use super::{Centre, LazyUniform, Scale, magnitude, rounding};
use crate::error::{Error, Result};
use crate::num::{Natural, Ratio};
use crate::random::{Bits, Randomness};
use crate::unit::Grid;

/// The largest number of degrees of freedom: beyond it, the law is almost normal.
const MOST: u32 = 64;

/// s times a real Student variable of d degrees of freedom, density
/// `∝ (1 + x²/d)^(−(d+1)/2)`, rounded to the nearest step of a grid. d is 1 (Cauchy) or even,
/// at most 64. The variance is `s²·d/(d−2)`, infinite for d ≤ 2.
///
/// # Guarantee
/// The result, cut at ±2¹²⁴ steps, is `⌊c + sX + ½⌋` for an ideal real X of that law and the exact centre c, all
/// counted in steps: a post-processing of `c + sX`.
/// # Proof
/// *Even d.* Let V be the median of `d − 1` uniforms on (−1, 1): its density is `∝ (1−v²)^(d/2−1)`.
/// With `X = √d·V/√(1−V²)` we have `1 + X²/d = 1/(1−V²)` and `dV/dX = (1−V²)^(3/2)/√d`, so X has the
/// density `∝ (1−V²)^((d−2)/2 + 3/2) = (1 + X²/d)^(−(d+1)/2)`. Beyond 0, `|X| ≥ x` iff `V²(d + x²) ≥ x²`.
/// *d = 1.* The slope of a uniform point of the disc is Cauchy: `|X| ≥ x` iff `B ≥ xA`.
/// Both are comparisons of rationals with reals that reveal their bits: no function has
/// to be computed, and floats only bracket the answer. ∎
#[derive(Clone, Debug)]
pub struct RoundedStudent {
    degrees: u32,
    rate: Ratio,
    scale: f64,
    grid: Grid,
}

/// Whether X is negative; |X| and an error, if floats can tell; and the reals behind it.
type Drawn = (bool, Option<(f64, f64)>, Behind);

/// The reals behind a draw: |V|, or a point of the quarter disc.
enum Behind {
    Median { v: LazyUniform, positive: bool },
    Point { a: LazyUniform, b: LazyUniform },
}

impl RoundedStudent {
    /// Noise of scale `scale` (in the units of the value), released as multiples of `grid`.
    pub fn new(degrees: u32, scale: &Scale, grid: Grid) -> Result<Self> {
        if !(degrees == 1 || degrees.is_multiple_of(2) && (2..=MOST).contains(&degrees)) {
            let allowed = "1 (Cauchy) or an even number from 2 to 64";
            return Err(Error::OutOfRange { parameter: "degrees of freedom", allowed });
        }
        let on_grid = scale.on(grid)?;
        on_grid.in_steps()?;
        let rate = Ratio::new(1u64, 1u64).div(&on_grid.exact);
        Ok(Self { degrees, rate, scale: on_grid.approximate, grid })
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
        let (negative, near, mut behind) =
            if self.degrees == 1 { Self::disc(bits)? } else { self.median(bits)? };
        let offset = centre.offset(negative);
        let bracket = near.and_then(|(z, error)| {
            let y = self.scale * z + offset.near();
            magnitude::bracket(y, self.scale * error + rounding(y))
        });
        let steps = magnitude::search(bracket, |k| self.reaches(k, offset, &mut behind, bits))?;
        Ok(magnitude::place(centre, negative, steps))
    }

    fn median(&self, bits: &mut Bits) -> Result<Drawn> {
        const UNIT: f64 = 1.0 / (1u64 << 63) as f64;
        let mut all = Vec::with_capacity(self.degrees as usize - 1);
        for _ in 1..self.degrees {
            all.push(LazyUniform::draw(bits)?);
        }
        let middle = all.len() / 2;
        loop {
            all.sort_by(|a, b| a.enclosure().lower.cmp(&b.enclosure().lower));
            let at = |i: usize| all.get(i).map(|u| u.enclosure().lower);
            // All have the same number of bits; the median is known once no other value has the same bits.
            let below = middle > 0 && at(middle - 1) == at(middle);
            if !below && at(middle + 1) != at(middle) {
                break;
            }
            for u in &mut all {
                u.extend(bits)?;
            }
        }
        let v = all.swap_remove(middle);
        let known = v.enclosure();
        let word = known.lower.shr(known.bits - 64).to_u128().unwrap_or(0) as u64;
        let positive = word >> 63 == 1;
        // |V|·2⁶³ is in [m, m+1].
        let m = if positive { word << 1 >> 1 } else { (1 << 63) - 1 - word };
        let rest = (1u64 << 63) - m;
        let near = (m.min(rest) > 1 << 20).then(|| {
            let (x, y) = (m as f64 * UNIT, rest as f64 * UNIT);
            let z = x * (f64::from(self.degrees) / (y * (2.0 - y))).sqrt();
            (z, z * (2.0 / m as f64 + 2.0 / rest as f64) + rounding(z))
        });
        Ok((!positive, near, Behind::Median { v, positive }))
    }

    fn disc(bits: &mut Bits) -> Result<Drawn> {
        let negative = bits.word()? & 1 == 1;
        loop {
            let (first, second) = (bits.word()?, bits.word()?);
            let (mut a, mut b) =
                (LazyUniform::starting(first, 64), LazyUniform::starting(second, 64));
            let inside = loop {
                let (x, y) = (a.enclosure(), b.enclosure());
                let square = |n: &Natural| n.mul(n);
                let one = Natural::power_of_two(2 * x.bits);
                if square(&x.upper).add(&square(&y.upper)) <= one {
                    break true;
                }
                if square(&x.lower).add(&square(&y.lower)) >= one {
                    break false;
                }
                a.extend(bits)?;
                b.extend(bits)?;
            };
            if inside {
                let near = (first.min(second) > 1 << 20).then(|| {
                    let z = second as f64 / first as f64;
                    (z, z * (2.0 / first as f64 + 2.0 / second as f64) + rounding(z))
                });
                return Ok((negative, near, Behind::Point { a, b }));
            }
        }
    }

    /// `|X| ≥ x`, `x = (k−g)/s`.
    #[cold]
    fn reaches(
        &self,
        k: i128,
        g: Offset<'_>,
        behind: &mut Behind,
        bits: &mut Bits,
    ) -> Result<bool> {
        let x = magnitude::distance(k, g, &self.rate);
        let ends = |u: &LazyUniform| {
            let known = u.enclosure();
            let at = |n: Natural| Ratio::new(n, Natural::power_of_two(known.bits));
            (at(known.lower), at(known.upper))
        };
        loop {
            let decided = match behind {
                Behind::Median { v, positive } => {
                    let square = x.mul(&x);
                    let whole = square.add(&Ratio::new(u64::from(self.degrees), 1u64));
                    let one = Ratio::new(1u64, 1u64);
                    let (low, high) = ends(v);
                    // |2u − 1|.
                    let (low, high) = if *positive {
                        (low.scale(1).saturating_sub(&one), high.scale(1).saturating_sub(&one))
                    } else {
                        (one.saturating_sub(&high.scale(1)), one.saturating_sub(&low.scale(1)))
                    };
                    let at = |v: &Ratio| v.mul(v).mul(&whole) >= square;
                    (at(&low), at(&high))
                }
                Behind::Point { a, b } => {
                    let ((a_low, a_high), (b_low, b_high)) = (ends(a), ends(b));
                    (b_low >= x.mul(&a_high), b_high >= x.mul(&a_low))
                }
            };
            if decided.0 == decided.1 {
                return Ok(decided.0);
            }
            match behind {
                Behind::Median { v, .. } => v.extend(bits)?,
                Behind::Point { a, b } => {
                    a.extend(bits)?;
                    b.extend(bits)?;
                }
            }
        }
    }
}

#[cfg(test)]
mod tests;
