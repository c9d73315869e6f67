//! Sums of values that nobody bounds: each unit's sums are scaled to a norm that is learnt.

use super::bounded::Bounds;
use super::groups::GroupTotals;
use super::weight::{Bounded, Contribution, Ladder, Unit};
use crate::error::{Error, Result};
use crate::unit::Grid;

/// Octaves of bounds on one scale.
const TOP: u32 = 40;
/// t + P of a scale's [`Ladder`].
const FINE: u32 = 44;
/// Octaves between the steps of two scales.
const APART: u32 = 16;
/// Values and sums are at most 2^this many steps.
const MOST: u32 = 90;

/// Bounds on the norm of a unit's sums, over many orders of magnitude.
///
/// A unit contributes a vector of sums of either sign: that of its own values in each group. Its size is the ℓ₁ norm,
/// in steps of 2^`exponent`. With a bound R it counts with the weight `min(1, R/size)`. The bounds that can be chosen
/// are 1, 2, 3, 4, 6, 8, … steps, as on a [`Ladder`].
///
/// ```
/// use demure_core::mechanism::{Contribution, Norms};
///
/// let norms = Norms::new(-10, 2)?;
/// // Ana spent 30 in one shop and got 10 back in another.
/// let ana = [norms.steps(30.0), norms.steps(-10.0)];
/// let rung = norms.rung(norms.steps(16.0).unsigned_abs());
/// // At a bound of 16, both count with a weight of 16/40.
/// let unit = norms.unit(norms.scale(rung), &ana);
/// let mut first = [Contribution::default(), Contribution::default()];
/// unit.add(&mut first, ana[0]);
/// let at = norms.at(rung)?;
/// let sum = at.total(&first[0]) as f64 / at.per_row() as f64 * norms.bounds(rung)?.upper();
/// assert!((sum - 12.0).abs() < 0.01);
/// # Ok::<(), demure_core::Error>(())
/// ```
///
/// # Guarantee
/// For every rung, the totals of [`Norms::totals`] over all groups are those of [`Groups`](super::Groups) with
/// [`Statistics::Sum`](super::Statistics::Sum), the bounds of [`Norms::bounds`] and the weights of [`Norms::at`], so that
/// [`GroupsBuilder::calibrate_weighted`](super::GroupsBuilder::calibrate_weighted) gives the noise.
/// # Proof
/// Scale j has the step `h = 2^(exponent + 16j)`; which scale a rung has is public. There a unit's sums are rounded to
/// whole steps. A sum of v steps is taken for |v| *rows* of value h or −h: two numbers, `(v, 0)` or `(0, −v)`, the rows with
/// each value. The rows of all groups are a vector that is not negative. Its ℓ₁ norm is the size on this scale, which is added up *after* rounding, so
/// by [`Ladder`] the scaled vector has an ℓ₁ norm of at most `S·R`, whole and rounded down. So have the rows of each group, which are the
/// sums of two of its components; and the ℓ₂ norm is not larger. That is what the proof of weighted sums in [`Groups`](super::Groups) asks
/// for, with a = −h, b = h. A size of 2⁶² steps or more is halved, with all its sums rounded down, until it is smaller: it is
/// above all rungs before and after, and the norm of the halved vector is at most the halved size. ∎
/// # Special values
/// NaN counts as 0. A value or a sum beyond 2⁹⁰ steps counts as 2⁹⁰ steps. Sums smaller than half a step are 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Norms {
    exponent: i32,
    scales: u32,
}

impl Norms {
    /// Most scales.
    pub const MOST_SCALES: usize = 4;

    /// Steps of 2^`exponent`, and bounds up to 2^(40 + 16·(`scales` − 1)) of them: 1 to 4 scales, exponents within ±900.
    pub fn new(exponent: i32, scales: u32) -> Result<Self> {
        if !(1..=Self::MOST_SCALES as u32).contains(&scales) || exponent.abs() > 900 {
            let allowed = "1 to 4 scales, and a step of 2^-900 to 2^900";
            return Err(Error::OutOfRange { parameter: "norms", allowed });
        }
        Ok(Self { exponent, scales })
    }

    /// log₂ of the finest step.
    #[must_use]
    pub fn exponent(&self) -> i32 {
        self.exponent
    }

    /// How many scales there are.
    #[must_use]
    pub fn scales(&self) -> usize {
        self.scales as usize
    }

    /// How many rungs there are, on all scales.
    #[must_use]
    pub fn len(&self) -> usize {
        2 * (TOP + APART * (self.scales - 1)) as usize
    }

    /// Never.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        false
    }

    /// The bound of a rung, in steps.
    #[must_use]
    pub fn bound(&self, rung: usize) -> f64 {
        let (c, a) = Ladder::parts(rung.min(self.len() - 1));
        c as f64 * 2f64.powi(a as i32)
    }

    /// The least rung whose bound is at least `size` steps; [`Norms::len`] if it is above all.
    #[must_use]
    pub fn rung(&self, size: u128) -> usize {
        Ladder::rung_of(size).min(self.len())
    }

    /// A value in steps, rounded.
    #[must_use]
    pub fn steps(&self, value: f64) -> i128 {
        let most = 2f64.powi(MOST as i32);
        // A cast takes NaN to 0.
        (value / 2f64.powi(self.exponent)).clamp(-most, most).round() as i128
    }

    /// The scale on which the bound of a rung is applied: the finest that has it.
    #[must_use]
    pub fn scale(&self, rung: usize) -> usize {
        let (rung, each) = (rung.min(self.len() - 1), 2 * APART as usize);
        (rung + 1).saturating_sub(2 * TOP as usize).div_ceil(each)
    }

    /// Scaled totals at the bound of a rung, in steps of its scale.
    pub fn at(&self, rung: usize) -> Result<Bounded> {
        let rung = rung.min(self.len() - 1);
        Ok(Ladder::new(TOP, FINE)?.bounded(rung - 2 * APART as usize * self.scale(rung)))
    }

    /// One step of a rung's scale, of either sign.
    pub fn bounds(&self, rung: usize) -> Result<Bounds> {
        let grid = Grid::power_of_two(self.exponent + (APART as usize * self.scale(rung)) as i32)?;
        Bounds::on(-grid.spacing(), grid.spacing(), grid)
    }

    /// One group's totals at the bound of a rung, from the positive and the negative sums of all units on its scale.
    pub fn totals(&self, rung: usize, sums: &[Contribution; 2]) -> Result<GroupTotals> {
        let at = self.at(rung)?;
        let [positive, negative] = sums.each_ref().map(|of| at.total(of).min(u128::MAX >> 8));
        let bounds = self.bounds(rung)?;
        GroupTotals::weighted_values(bounds, positive + negative, 0, 2 * positive, None)
    }

    /// A unit on one scale, by its sums in all groups.
    #[must_use]
    pub fn unit(&self, scale: usize, sums: &[i128]) -> NormUnit {
        let shift = APART * scale as u32;
        // Below 2⁹¹ each.
        let size = sums.iter().fold(0u128, |size, &sum| size.saturating_add(rounded(sum, shift)));
        let halved = (u128::BITS - size.leading_zeros()).saturating_sub(62);
        let ladder = Ladder { top: TOP, fine: FINE };
        NormUnit { unit: ladder.unit((size >> halved) as u64), shift, halved }
    }
}

/// |sum| in steps of `2^shift`.
fn rounded(sum: i128, shift: u32) -> u128 {
    let half = (1u128 << shift) >> 1;
    (sum.unsigned_abs().min(1 << MOST) + half) >> shift
}

/// One unit on one scale of [`Norms`]. Protected.
#[derive(Clone, Copy, Debug)]
pub struct NormUnit {
    unit: Unit,
    shift: u32,
    halved: u32,
}

impl NormUnit {
    /// The unit's rung on this scale's [`Ladder`].
    #[must_use]
    pub fn rung(&self) -> usize {
        self.unit.rung()
    }

    /// What one of its sums adds to the positive sums, or to the negative ones: v and q of [`Ladder`].
    #[must_use]
    pub fn parts(&self, sum: i128) -> (u128, u128) {
        let amount = rounded(sum, self.shift) >> self.halved;
        (amount, self.unit.fine_part(u64::try_from(amount).unwrap_or(u64::MAX)))
    }

    /// Adds one of its sums to the positive or to the negative ones of a group.
    pub fn add(&self, to: &mut [Contribution; 2], sum: i128) {
        let (amount, part) = self.parts(sum);
        to[usize::from(sum < 0)].add(self.rung(), amount, part);
    }
}

#[cfg(test)]
mod tests;
