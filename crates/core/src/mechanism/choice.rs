//! An exact choice among weighted alternatives: the draw behind the exponential
//! mechanism and the quantile.

use crate::error::{Error, Result};
use crate::num::{Enclosure, Natural, Ratio, fast};
use crate::random::Bits;
use crate::sample::LazyUniform;

/// `count` outcomes, each of weight `e^−x`.
#[derive(Clone, Copy)]
pub(crate) struct Alternative {
    pub(crate) count: u64,
    /// A float within a relative 2⁻⁵⁰ (or an absolute 2⁻¹⁰⁰⁰) of x ≥ 0; ∞ where x > 10³.
    pub(crate) near: f64,
}

/// Draws i with probability exactly `cᵢe^(−xᵢ) / Σⱼcⱼe^(−xⱼ)`; `exact` gives the xᵢ.
/// One of the alternatives that count has x = 0.
///
/// # Proof
/// With V uniform and `Cᵢ` the sum of the weights up to i, the answer is the
/// number of i with `Cᵢ ≤ V·C`, C the whole sum: i is answered when V falls in
/// an interval of length `cᵢe^(−xᵢ)/C`. The weights are taken in floats, with
/// relative error at most `2⁻⁴⁹x + 2⁻⁴⁷`, then as multiples of 2⁻⁶² of the
/// largest, whose sums are exact; `slack` adds up all of these errors and
/// so bounds that of every `Cᵢ`. Where a comparison is within the slack, it is
/// settled by certified arithmetic on the same V. ∎
/// # Work
/// One word, and a fixed amount per alternative, whatever the weights; the
/// certified path is taken with probability about `n·2⁻⁴⁵`.
pub(crate) fn choose(
    alternatives: &[Alternative],
    exact: impl Fn(usize) -> Ratio,
    bits: &mut Bits,
) -> Result<usize> {
    let word = bits.word()?;
    match surely(alternatives, word) {
        Some(index) => Ok(index),
        None => settle(alternatives, exact, LazyUniform::starting(word, 64), bits),
    }
}

fn surely(alternatives: &[Alternative], word: u64) -> Option<usize> {
    const UNITS: f64 = (1u64 << 62) as f64;
    let weight = |a: &Alternative| a.count as f64 * fast::exp_neg(a.near);
    let mut weights: Vec<f64> = alternatives.iter().map(weight).collect();
    let largest = weights.iter().copied().fold(0.0, f64::max);
    let (mut total, mut slack) = (0u128, 2.0);
    for (weight, a) in weights.iter_mut().zip(alternatives) {
        *weight = *weight / largest * UNITS;
        total += *weight as u128;
        let relative = a.near.min(700.0) * (1.0 / (1u64 << 49) as f64) + 2.0 * fast::EXP_ERROR;
        slack += *weight * relative + 2.0;
    }
    // ⌊V·C⌋ for the least V that starts with `word`; V's unknown bits add C·2⁻⁶⁴.
    let (high, low) = (total >> 64, total & u128::from(u64::MAX));
    let target = u128::from(word) * high + ((u128::from(word) * low) >> 64);
    let margin = (2.01 * slack) as u128 + high + 2;
    let (mut sum, mut index, mut doubt) = (0u128, 0, false);
    for &weight in &weights[..weights.len().saturating_sub(1)] {
        sum += weight as u128;
        index += usize::from(sum <= target);
        doubt |= sum.abs_diff(target) <= margin;
    }
    (!doubt).then_some(index)
}

/// The same with ever more bits of V, until every comparison is certain.
#[cold]
fn settle(
    alternatives: &[Alternative],
    exact: impl Fn(usize) -> Ratio,
    mut uniform: LazyUniform,
    bits: &mut Bits,
) -> Result<usize> {
    loop {
        let known = uniform.enclosure();
        // Each term is within 4 units of the last place, times a count below 2⁶⁴:
        // n of them add up to less than V's own uncertainty.
        let work = known.bits + 72 + (usize::BITS - alternatives.len().leading_zeros());
        let total = sum(alternatives, &exact, work, |_| {});
        let (below, above) = (known.lower.mul(&total.lower), known.upper.mul(&total.upper));
        let (mut index, mut certain) = (0, 0);
        let last = alternatives.len().saturating_sub(1);
        sum(&alternatives[..last], &exact, work, |partial| {
            let passed = partial.upper.shl(known.bits) <= below;
            index += usize::from(passed);
            certain += usize::from(passed || above <= partial.lower.shl(known.bits));
        });
        if certain == last {
            return Ok(index);
        }
        uniform.extend(bits)?;
    }
}

/// Encloses the whole sum of the weights in `bits` fractional bits, and shows
/// every partial sum on the way.
fn sum(
    alternatives: &[Alternative],
    exact: &impl Fn(usize) -> Ratio,
    bits: u32,
    mut partial: impl FnMut(&Enclosure),
) -> Enclosure {
    let mut total = Enclosure { lower: Natural::zero(), upper: Natural::zero(), bits };
    for (i, a) in alternatives.iter().enumerate() {
        let (weight, count) = (Enclosure::exp_neg(&exact(i), bits), Natural::from(a.count));
        let (lower, upper) = (weight.lower.mul(&count), weight.upper.mul(&count));
        total = total.add(&Enclosure { lower, upper, bits });
        partial(&total);
    }
    total
}

/// The probability of one outcome of each alternative, `e^(−xᵢ) / Σⱼcⱼe^(−xⱼ)`,
/// to about 3 units in the last place; 0 below 10⁻³⁰⁸.
pub(crate) fn table(
    alternatives: &[Alternative],
    exact: impl Fn(usize) -> Ratio,
) -> Result<Vec<f64>> {
    let middle = |(low, high): (f64, f64)| low + 0.5 * (high - low);
    let total = middle(sum(alternatives, &exact, 192, |_| {}).to_f64());
    if total < 1.0 {
        return Err(Error::Precision { what: "a table of probabilities" });
    }
    let weight = |i| {
        let x = exact(i);
        // e^−x ≥ 2^−(1.4427x + 1): that many more bits for a relative bound.
        let bits = 64 + (x.to_f64().min(800.0) * 1.45) as u32;
        middle(Enclosure::exp_neg(&x, bits).to_f64()) / total
    };
    Ok((0..alternatives.len()).map(weight).collect())
}

#[cfg(test)]
mod tests;
