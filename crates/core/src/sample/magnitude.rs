//! `⌊s|Z| + g⌋` for a real Z of any law: the search that the heavy-tailed samplers share.

use super::centre::{Centre, Offset};
use crate::error::Result;
use crate::num::Ratio;

/// The end of the search: 2¹²⁵ steps, from which no centre (2¹²⁰ at most) leads back below [`LIMIT`].
const FARTHEST: i128 = 1 << 125;

/// Results are cut at ±2¹²⁴. Heavy tails get there (Cauchy noise of 2⁶⁰ steps with probability 2⁻⁶⁵), so it
/// is the *sum* of centre and noise that is cut, which is post-processing, and not the noise.
const LIMIT: i128 = 1 << 124;

/// `⌊whole + fraction ± magnitude⌋`, cut.
pub(super) fn place(centre: &Centre, negative: bool, steps: i128) -> i128 {
    centre.place(negative, steps).clamp(-LIMIT, LIMIT)
}

/// The largest k ≥ 0 that the noise reaches. `bracket` contains it, or is `None` if floats cannot tell. `reaches(k)`,
/// for k ≥ 1, is exact.
pub(super) fn search(
    bracket: Option<(i128, i128)>,
    mut reaches: impl FnMut(i128) -> Result<bool>,
) -> Result<i128> {
    let (mut low, mut high) = match bracket {
        Some(ends) => ends,
        None => {
            // Gallop up to the first k that is not reached.
            let (mut low, mut stride) = (0, 1);
            while low < FARTHEST && reaches(low + stride)? {
                low += stride;
                stride *= 2;
            }
            (low, low + stride - 1)
        }
    };
    while low < high {
        let middle = low + (high - low + 1) / 2;
        if reaches(middle)? { low = middle } else { high = middle - 1 }
    }
    Ok(low.min(FARTHEST))
}

/// The integers that the floor of `y ± w` may be, y ≥ 0; `None` if floats are too coarse.
#[inline]
pub(super) fn bracket(y: f64, w: f64) -> Option<(i128, i128)> {
    // Also false for NaN.
    (y + w < 1e30).then(|| (((y - w).floor() as i128).max(0), (y + w).floor() as i128))
}

/// `(k − g)·rate`: how far Z must be from 0 for the result to be at least k ≥ 1.
pub(super) fn distance(k: i128, g: Offset<'_>, rate: &Ratio) -> Ratio {
    Ratio::new(k.unsigned_abs(), 1u64).saturating_sub(&g.exact()).mul(rate)
}
