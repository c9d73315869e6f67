//! Amplification by sampling: a unit that may not be in the sample is better protected.
//!
//! Sampling amplifies a single run on a fresh sample that no one sees. The data owner must draw the sample: an analyst
//! who can query the same sample twice has not been amplified twice.

use super::mass::Mass;
use crate::error::Result;
use crate::event::Rate;
use crate::num::directed::{down, up};
use crate::unit::{Delta, Epsilon};

/// The (ε,δ) for the whole data of a mechanism that is (ε,δ)-DP on a sample: `(ln(1 + q(e^ε−1)), qδ)`-DP, rounded up.
///
/// # Guarantee
/// - Poisson sampling at rate q, add/remove: for a base that is (ε,δ)-DP under
///   add/remove.
/// - Poisson sampling at rate q, replace: for a base that is (ε,δ)-DP under *both*
///   relations.
/// - q = m/n, m of n without replacement, replace: for a base that is (ε,δ)-DP
///   under replace.
/// # Proof
/// Let ω, ω′ be the output distributions on neighbours. With probability 1−q
/// the sample misses the unit, and both are the same ω₀; so `ω = (1−q)ω₀ + qω₁`
/// and likewise ω′. With `e^ε′ = 1 + q(e^ε−1)`, `β = e^(ε′−ε)`, advanced joint convexity gives
/// `D_(e^ε′)(ω‖ω′) = q·D_(e^ε)(ω₁‖(1−β)ω₀ + βω₁′) ≤ q·max(D_(e^ε)(ω₁‖ω₀), D_(e^ε)(ω₁‖ω₁′)) ≤ qδ`.
/// Under add/remove one of ω₁, ω₁′ is ω₀ itself. Without replacement ω₁ and ω₀ are
/// coupled by exchanging one unit. ∎
/// # References
/// Balle, Barthe, Gaboardi 2018 (arXiv:1807.01647v2), Theorems 8, 9 and 11.
pub fn sample(rate: Rate, epsilon: Epsilon, delta: Delta) -> Result<(Epsilon, Delta)> {
    let q = rate.get();
    if q == 1.0 {
        return Ok((epsilon, delta));
    }
    let e = epsilon.get();
    // e^ε − 1 = e^ε·(1 − e^−ε), which keeps its digits for small ε.
    let growth = Mass::exp(e).mul(&Mass::one_minus_exp_neg(e)).times(q);
    let amplified = ln_1p_up(growth).min(e);
    let delta = if delta.get() == 0.0 { Delta::ZERO } else { Delta::new(up(q * delta.get()))? };
    Ok((Epsilon::new(amplified)?, delta))
}

/// The rate of a sample of m of n units, rounded up.
pub fn fraction(sample: u64, population: u64) -> Result<Rate> {
    if sample == population {
        return Rate::new(1.0);
    }
    Rate::new(up(up(sample as f64) / down(population as f64)).min(1.0))
}

/// An upper bound on `ln(1+y)`; for small y from `ln(1+y) ≤ y − y²/2 + y³/3`.
fn ln_1p_up(y: Mass) -> f64 {
    let (low, high) = y.to_f64();
    if high < 1e-4 {
        // The cubic grows on [0, ½], so its value at the upper end bounds it all.
        let saved = down(down(0.5 - up(low / 3.0)) * down(high * high));
        up(high - saved)
    } else {
        Mass::ONE.add(&y).ln().1
    }
}

#[cfg(test)]
mod tests;
