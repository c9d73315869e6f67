//! Bounded values on a public grid, in order.

use crate::error::{Error, Result};
use crate::mechanism::Bounds;
use std::fmt;

/// Values clamped to public bounds `[a, b]`, put on a public grid and sorted:
/// `x₁ ≤ … ≤ x_n`, in steps above a. Beyond the ends `x_i = a` for i ≤ 0 and `x_i = b` for i > n.
///
/// Protected: `Debug` shows nothing.
///
/// # Special values
/// As [`Bounds`]: ±∞ become a or b, NaN counts as 0, clamped.
#[derive(Clone)]
pub struct Values {
    bounds: Bounds,
    sorted: Vec<u32>,
    width: u32,
}

impl Values {
    /// The values of all rows, in any order. Their number is public, so this is for *replace*.
    #[must_use]
    pub fn new(bounds: Bounds, values: impl IntoIterator<Item = f64>) -> Self {
        let mut sorted: Vec<u32> = values.into_iter().map(|x| bounds.step(x)).collect();
        sorted.sort_unstable();
        Self { bounds, sorted, width: bounds.step(f64::INFINITY) }
    }

    /// The values of all rows where their number is *protected*: filled up to a public `size` with made-up rows. A
    /// share `rank` of these (rounded to 2⁻³²) is at the lower bound, the rest at the upper. Rows beyond `size` are
    /// left out, the last ones first.
    ///
    /// The quantile `rank` of the result is a quantile `rank` of the rows, up to one rank. This is for a
    /// quantile of that one rank; trimmed means and spreads have no such filling, and are
    /// not offered under add or remove.
    ///
    /// # Guarantee
    /// Datasets that differ by adding or removing a row become datasets of `size` values that differ
    /// in at most one: what is private under replace is private under add or remove.
    /// # Proof
    /// With m made-up rows, `⌊m·rank⌋` are at a. From m to m−1 this falls by 0 or 1, so
    /// one made-up row makes room for the added one and all others stay. A row that was left out
    /// changes nothing, and removing one before it lets it in, in place of the removed. ∎
    pub fn padded(
        bounds: Bounds,
        values: impl IntoIterator<Item = f64>,
        size: u32,
        rank: f64,
    ) -> Result<Self> {
        // In units of 2⁻³², so that the shares are exact.
        const ONE: u64 = 1 << 32;
        let share = (rank * ONE as f64).round() as u64;
        if !(1..ONE).contains(&share) || size == 0 {
            return Err(Error::OutOfRange {
                parameter: "rank and size",
                allowed: "a rank strictly between 0 and 1, and a size of at least 1",
            });
        }
        let mut sorted: Vec<u32> =
            values.into_iter().take(size as usize).map(|x| bounds.step(x)).collect();
        let made_up = size as usize - sorted.len();
        let low = ((made_up as u64 * share) >> 32) as usize;
        let width = bounds.step(f64::INFINITY);
        sorted.extend(std::iter::repeat_n(0, low));
        sorted.extend(std::iter::repeat_n(width, made_up - low));
        sorted.sort_unstable();
        Ok(Self { bounds, sorted, width })
    }

    /// The number of values, n, which is public.
    #[must_use]
    pub fn len(&self) -> usize {
        self.sorted.len()
    }

    /// Whether there are no values.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.sorted.is_empty()
    }

    /// The public bounds.
    #[must_use]
    pub fn bounds(&self) -> Bounds {
        self.bounds
    }

    /// `b − a`, in steps.
    pub(super) fn width(&self) -> u64 {
        u64::from(self.width)
    }

    /// `x_i`, counted from 1.
    #[inline]
    pub(super) fn at(&self, i: i64) -> i64 {
        match usize::try_from(i) {
            Err(_) | Ok(0) => 0,
            Ok(i) => i64::from(self.sorted.get(i - 1).copied().unwrap_or(self.width)),
        }
    }

    /// `steps/of` steps above a, within the bounds: computed from public facts and a noised number.
    pub(super) fn place(&self, steps: i128, of: u64) -> f64 {
        let (low, high) = (self.bounds.lower(), self.bounds.upper());
        let above = steps as f64 / of as f64 * self.bounds.grid().spacing();
        (low + above).clamp(low, high)
    }
}

impl fmt::Debug for Values {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Values").field("bounds", &self.bounds).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests;
