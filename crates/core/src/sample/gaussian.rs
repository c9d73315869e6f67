//! Gaussian noise: on the integers, and as a real rounded to the grid.

use super::centre::{Centre, Offset};
use super::strips::Strips;
use super::{LazyUniform, Scale, rounding, uniform};
use crate::error::Result;
use crate::num::{Enclosure, Natural, Ratio};
use crate::random::{Bits, Randomness};
use crate::unit::Grid;
use std::sync::LazyLock;

/// Strips to a standard deviation, at most.
const PER_UNIT: u32 = 64;

/// The discrete Gaussian: `P[k] ∝ e^(−k²/(2σ²))` on the integers.
///
/// # Guarantee
/// Draws have exactly that distribution.
/// # Proof
/// Rejection. The magnitudes are cut into strips of `h = ⌈σ/64⌉` integers; strip
/// j is proposed with probability `W_j/2⁶³` and its integers k evenly, so k with
/// probability ∝ `W_j/h`; it is accepted with probability `S·e^(−k²/2σ²)/W_j ≤ 1`,
/// as the strips cover the curve at their near edge. Accepted magnitudes thus
/// have weight `e^(−k²/2σ²)`. The tail is proposed in pieces of `⌈σ⌉` integers,
/// each 2⁻¹¹ as likely as the one before, and accepted likewise. The sign is a
/// fair bit; 0 counts once, by halving its strip when it is alone in it, else
/// by rejecting minus zero. ∎
#[derive(Clone, Debug)]
pub struct DiscreteGaussian {
    /// `1/(2σ²)`, exactly, and `1/σ`.
    half_precision: Ratio,
    inverse: f64,
    strips: Strips,
    width: u64,
    piece: u64,
}

impl DiscreteGaussian {
    /// The distribution with parameter σ = `sigma` (its variance is a little less).
    pub fn new(sigma: &Scale) -> Result<Self> {
        let s = sigma.in_steps()?.get();
        let one = Ratio::new(1u64, 1u64);
        let width = ((s / f64::from(PER_UNIT)).ceil() as u64).max(1);
        Ok(Self {
            half_precision: one.div(&sigma.exact.mul(&sigma.exact)).scale(-1),
            inverse: 1.0 / s,
            // Rounded up a little: a strip may be covered too well, never too little.
            strips: Strips::new(s / width as f64 * (1.0 + 1e-12), width == 1)?,
            width,
            piece: s.ceil() as u64 + 1,
        })
    }

    /// One draw.
    pub fn draw(&self, rng: &mut dyn Randomness) -> Result<i128> {
        self.next(rng.bits()?)
    }

    /// Fills `out` with independent draws.
    pub fn fill(&self, out: &mut [i128], rng: &mut dyn Randomness) -> Result<()> {
        let bits = rng.bits()?;
        let mut words = [0u64; 192];
        let each = if self.width == 1 { 2 } else { 3 };
        for chunk in out.chunks_mut(words.len() / each) {
            bits.words(&mut words[..chunk.len() * each])?;
            for (value, words) in chunk.iter_mut().zip(words.chunks_exact(each)) {
                let words = [words[0], words[1], words[each - 1]];
                *value = match self.surely(words) {
                    Some(Some(drawn)) => drawn,
                    other => self.retry(words, other.is_none(), bits)?,
                };
            }
        }
        words.fill(0);
        std::hint::black_box(&words); // so that the wiping is not optimised away
        Ok(())
    }

    pub(crate) fn next(&self, bits: &mut Bits) -> Result<i128> {
        let words = [bits.word()?, bits.word()?, bits.word()?];
        match self.surely(words) {
            Some(Some(drawn)) => Ok(drawn),
            other => self.retry(words, other.is_none(), bits),
        }
    }

    /// The draw from the words for strip, coin and place, if floats can decide it: a number, or `Some(None)` for a
    /// rejected proposal.
    #[inline]
    fn surely(&self, [strip, coin, place]: [u64; 3]) -> Option<Option<i128>> {
        let (j, negative) = self.strips.pick(strip);
        if j >= self.strips.count() {
            return None;
        }
        let mut k = j as u64;
        if self.width > 1 {
            let product = u128::from(place) * u128::from(self.width);
            if (product as u64) < self.width {
                return None; // the rare words that a uniform integer may have to reject
            }
            k = k * self.width + (product >> 64) as u64;
        }
        Some(if self.strips.surely(j, self.height(j, k), coin)? {
            self.signed(k, negative)
        } else {
            None
        })
    }

    /// `k²/2σ²`, within 2⁻⁴³; and for the halved strip of 0 alone, ln 2.
    #[inline]
    fn height(&self, j: usize, k: u64) -> f64 {
        if j == 0 && self.width == 1 {
            return std::f64::consts::LN_2;
        }
        let x = k as f64 * self.inverse;
        0.5 * x * x
    }

    /// k with its sign; minus zero is rejected unless 0's strip was halved.
    #[inline]
    fn signed(&self, k: u64, negative: bool) -> Option<i128> {
        if k == 0 && negative && self.width > 1 {
            return None;
        }
        // −k = (k ⊕ −1) + 1, without a branch.
        let sign = i128::from(negative);
        Some((i128::from(k) ^ -sign) + sign)
    }

    /// Continues after a proposal that floats left undecided (`doubtful`) or rejected.
    #[cold]
    fn retry(&self, words: [u64; 3], doubtful: bool, bits: &mut Bits) -> Result<i128> {
        if doubtful && let Some(drawn) = self.certainly(words, bits)? {
            return Ok(drawn);
        }
        loop {
            let words = [bits.word()?, bits.word()?, bits.word()?];
            let drawn = match self.surely(words) {
                Some(decided) => decided,
                None => self.certainly(words, bits)?,
            };
            if let Some(drawn) = drawn {
                return Ok(drawn);
            }
        }
    }

    /// The draw from the same words, in certified arithmetic.
    fn certainly(&self, [strip, coin, place]: [u64; 3], bits: &mut Bits) -> Result<Option<i128>> {
        let (j, negative) = self.strips.pick(strip);
        if j >= self.strips.count() {
            return self.in_tail(negative, bits);
        }
        let within =
            if self.width == 1 { 0 } else { uniform::below_from(place, self.width, bits)? };
        let k = j as u64 * self.width + within;
        let accepted = self.decide(j, k, coin, bits)?;
        Ok(if accepted { self.signed(k, negative) } else { None })
    }

    #[cold]
    fn decide(&self, j: usize, k: u64, word: u64, bits: &mut Bits) -> Result<bool> {
        let curve = |b| {
            let p = self.curve(u128::from(k), b);
            if j == 0 && self.width == 1 { p.half() } else { p }
        };
        LazyUniform::starting(word, 64).below(bits, |b| self.strips.strip(j, curve, b))
    }

    #[cold]
    fn in_tail(&self, negative: bool, bits: &mut Bits) -> Result<Option<i128>> {
        let piece = Strips::piece(bits)?;
        let start = self.strips.count() as u128 * u128::from(self.width);
        let within = u128::from(uniform::below(self.piece, bits)?);
        let k = start + u128::from(piece) * u128::from(self.piece) + within;
        let width = Ratio::new(self.piece, self.width);
        let curve = |b| self.curve(k, b);
        let accepted =
            LazyUniform::draw(bits)?.below(bits, |b| self.strips.tail(piece, &width, curve, b))?;
        Ok(accepted.then_some(if negative { -(k as i128) } else { k as i128 }))
    }

    fn curve(&self, k: u128, bits: u32) -> Enclosure {
        let k = Ratio::new(k, 1u64);
        Enclosure::exp_neg(&k.mul(&k).mul(&self.half_precision), bits)
    }
}

/// One table serves every scale: the strips of the standard normal.
static STANDARD: LazyLock<Result<Strips>> =
    LazyLock::new(|| Strips::new(f64::from(PER_UNIT), false));

/// A real Gaussian variable of standard deviation σ, rounded to the nearest
/// step of a grid.
///
/// # Guarantee
/// The result is `⌊c + σX + ½⌋` for an ideal real X ~ N(0,1) and the exact
/// centre c, all counted in steps: a post-processing of `c + σX`.
/// # Proof
/// X is drawn by rejection as above, with `X = (j + R)/64` for a uniform *real*
/// R of which 64 bits are looked at first. Both decisions (accept, and which
/// integer) are taken in floats when every value of R's unknown bits agrees,
/// and otherwise after drawing more bits of the same R. ∎
#[derive(Clone, Debug)]
pub struct RoundedGaussian {
    sigma: Ratio,
    scale: f64,
    grid: Grid,
    strips: &'static Strips,
}

impl RoundedGaussian {
    /// Noise of standard deviation `sigma` (in the units of the value), released as multiples of `grid`.
    pub fn new(sigma: &Scale, grid: Grid) -> Result<Self> {
        let on_grid = sigma.on(grid)?;
        on_grid.in_steps()?;
        let strips = STANDARD.as_ref().map_err(Clone::clone)?;
        Ok(Self { scale: on_grid.approximate, sigma: on_grid.exact, grid, strips })
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

    pub(crate) fn next(&self, centre: &Centre, bits: &mut Bits) -> Result<i128> {
        let (negative, mut real) = Real::normal(self.strips, bits)?;
        let steps = self.steps(&mut real, centre.offset(negative), bits)?;
        Ok(centre.place(negative, steps))
    }

    /// `⌊σX + g⌋`.
    #[inline]
    fn steps(&self, real: &mut Real, g: Offset<'_>, bits: &mut Bits) -> Result<i128> {
        let y = self.scale * real.near + g.near();
        // The roundings, and X's unknown bits: 2⁻⁶⁴ of a strip or a tail piece.
        let w = rounding(y) + self.scale * (1.0 / (1u64 << 62) as f64);
        if y < 1e15 {
            let (low, high) = ((y - w) as i64, (y + w) as i64);
            if low == high {
                return Ok(i128::from(low));
            }
        }
        self.exact_steps(real, g, bits)
    }

    #[cold]
    fn exact_steps(&self, real: &mut Real, g: Offset<'_>, bits: &mut Bits) -> Result<i128> {
        loop {
            let (low, high) = real.ends();
            let at = |x: &Ratio| x.mul(&self.sigma).add(&g.exact()).split().0;
            let (low, high) = (at(&low), at(&high));
            if low == high {
                return Ok(low.to_u128().unwrap_or(0).min(1 << 126) as i128);
            }
            real.extend(bits)?;
        }
    }
}

/// Where X is: in a strip, or in the t-th unit-wide piece of the tail.
enum Pick {
    Strip(usize),
    Tail(u32),
}

/// `X = (start + width·R)/64` for a uniform real R.
pub(super) struct Real {
    start: u64,
    width: u32,
    first: u64,
    /// R, once more than its first 64 bits are needed.
    more: Option<LazyUniform>,
    /// X to 2⁻⁵⁰ of itself and 2⁻⁵⁹.
    pub(super) near: f64,
}

/// |Y| for an ideal standard normal Y, revealed bit by bit, and whether Y is negative.
pub(super) fn lazy_normal(bits: &mut Bits) -> Result<(bool, Real)> {
    Real::normal(STANDARD.as_ref().map_err(Clone::clone)?, bits)
}

impl Real {
    /// |X| for a standard normal X, and whether X is negative: a fair bit that is used for nothing else.
    #[inline]
    fn normal(strips: &Strips, bits: &mut Bits) -> Result<(bool, Self)> {
        loop {
            let (index, negative) = strips.pick(bits.word()?);
            let (r, v) = (bits.word()?, bits.word()?);
            let pick = if index < strips.count() {
                Pick::Strip(index)
            } else {
                Pick::Tail(Strips::piece(bits)?)
            };
            let mut real = Self::new(&pick, strips, r);
            let sure = match pick {
                Pick::Strip(j) => strips.surely(j, 0.5 * real.near * real.near, v),
                Pick::Tail(_) => None,
            };
            let accepted = match sure {
                Some(decided) => decided,
                None => real.decide(strips, &pick, v, bits)?,
            };
            if accepted {
                return Ok((negative, real));
            }
        }
    }

    /// `V < p(X)`, with the bits of V and of X drawn together as needed.
    #[cold]
    fn decide(&mut self, strips: &Strips, pick: &Pick, v: u64, bits: &mut Bits) -> Result<bool> {
        let mut v = LazyUniform::starting(v, 64);
        loop {
            let (low, high) = self.ends();
            let curve = |b| Enclosure {
                lower: Enclosure::exp_neg(&high.mul(&high).scale(-1), b).lower,
                upper: Enclosure::exp_neg(&low.mul(&low).scale(-1), b).upper,
                bits: b,
            };
            let known = v.enclosure();
            let p = match *pick {
                Pick::Strip(j) => strips.strip(j, curve, known.bits),
                Pick::Tail(t) => {
                    let width = Ratio::new(u64::from(PER_UNIT), 1u64);
                    strips.tail(t, &width, curve, known.bits)
                }
            };
            if known.upper <= p.lower {
                return Ok(true);
            }
            if known.lower >= p.upper {
                return Ok(false);
            }
            v.extend(bits)?;
            self.extend(bits)?;
        }
    }

    #[inline]
    fn new(pick: &Pick, strips: &Strips, first: u64) -> Self {
        let (start, width) = match *pick {
            Pick::Strip(j) => (j as u64, 1),
            Pick::Tail(t) => (strips.count() as u64 + u64::from(t * PER_UNIT), PER_UNIT),
        };
        let r = first as f64 * (1.0 / 18_446_744_073_709_551_616.0);
        let near = (start as f64 + f64::from(width) * r) * (1.0 / f64::from(PER_UNIT));
        Self { start, width, first, more: None, near }
    }

    pub(super) fn extend(&mut self, bits: &mut Bits) -> Result<()> {
        self.more.get_or_insert_with(|| LazyUniform::starting(self.first, 64)).extend(bits)
    }

    /// The least and the greatest X that the known bits of R allow.
    pub(super) fn ends(&self) -> (Ratio, Ratio) {
        let known = match &self.more {
            Some(unit) => unit.enclosure(),
            None => LazyUniform::starting(self.first, 64).enclosure(),
        };
        let at = |r: Natural| {
            let r = Ratio::new(r, Natural::power_of_two(known.bits));
            let x = r.mul(&Ratio::new(u64::from(self.width), 1u64));
            x.add(&Ratio::new(self.start, 1u64)).div(&Ratio::new(u64::from(PER_UNIT), 1u64))
        };
        (at(known.lower), at(known.upper))
    }
}

#[cfg(test)]
#[expect(clippy::excessive_precision, reason = "known answers keep all their digits")]
mod tests;
