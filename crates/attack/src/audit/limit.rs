//! How much a pair of counts shows: Clopper–Pearson on both sides of a ratio.

use demure_core::local::lower_limit;

/// A lower bound on a probability of which `k` of `n` independent trials are seen; above the
/// truth with probability at most `error`.
#[must_use]
pub fn at_least(k: u64, n: u64, error: f64) -> f64 {
    if k == 0 { 0.0 } else { lower_limit(k.min(n), n, error) }
}

/// An upper bound on it; below the truth with probability at most `error`.
#[must_use]
pub fn at_most(k: u64, n: u64, error: f64) -> f64 {
    if k >= n { 1.0 } else { (1.0 - lower_limit(n - k, n, error)).min(1.0) }
}

/// A lower bound on the ε of a mechanism that shows an event `likelier` times in n runs on one
/// input and `rarer` times in n runs on its neighbour:
/// `max(0, ln((p_low − δ)/q_high))`, `p_low` and `q_high` each with half of the error.
///
/// # Guarantee
/// If the runs are independent and the event was chosen before they were made, then for a
/// mechanism that is (ε, δ)-private it exceeds ε with probability at most `error`.
/// # Proof
/// `p ≤ e^ε q + δ` for every event. Except with probability `error`, `p_low ≤ p` and `q ≤ q_high`,
/// and then `(p_low − δ)/q_high ≤ (p − δ)/q ≤ e^ε`. ∎
#[must_use]
pub fn epsilon_lower(likelier: u64, rarer: u64, n: u64, delta: f64, error: f64) -> f64 {
    let low = at_least(likelier, n, error / 2.0) - delta;
    let high = at_most(rarer, n, error / 2.0);
    if low > high { (low / high).ln() } else { 0.0 }
}

/// The most that n runs a side could show of any mechanism: an event that always happens here
/// and never there. About `ln(n/ln(2/error))`.
#[must_use]
pub fn reachable(n: u64, delta: f64, error: f64) -> f64 {
    epsilon_lower(n, 0, n, delta, error)
}

/// How many runs a side it takes until an event of probability p here and q there is expected
/// to show at least `wanted`; `None` where it never would, or not with 10¹² runs.
#[must_use]
pub fn needed(p: f64, q: f64, wanted: f64, delta: f64, error: f64) -> Option<u64> {
    let shows = |n: u64| {
        let (k1, k0) = ((p * n as f64).floor() as u64, (q * n as f64).ceil() as u64);
        epsilon_lower(k1, k0, n, delta, error) >= wanted
    };
    // The truth at infinitely many runs must exceed what is wanted, or no number is enough.
    let limit = if p > delta { ((p - delta) / q).ln() } else { 0.0 };
    if limit.is_nan() || limit <= wanted {
        return None;
    }
    let mut high = 16u64;
    while !shows(high) {
        high *= 2;
        if high > 1 << 40 {
            return None;
        }
    }
    let mut low = high / 2;
    // To two digits: nobody counts samples more closely.
    while high - low > (high / 100).max(1) {
        let middle = low + (high - low) / 2;
        if shows(middle) { high = middle } else { low = middle }
    }
    Some(high)
}

/// The best event that an (ε, δ)-private mechanism can have, for [`needed`]: what randomized
/// response that fails with probability δ shows. `p = δ + (1−δ)e^ε/(1+e^ε)`, `q = (1−δ)/(1+e^ε)`.
#[must_use]
pub fn best_event(epsilon: f64, delta: f64) -> (f64, f64) {
    let lie = (1.0 - delta) / (1.0 + epsilon.exp());
    (1.0 - lie, lie)
}

#[cfg(test)]
mod tests;
