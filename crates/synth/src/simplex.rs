//! Projection on the simplex: the nearest histogram without negative counts and with a given total.

/// The x that minimises `Σ(x − y)²` with `x ≥ 0` and `Σx = total`, for `total > 0`.
///
/// It is `max(y − t, 0)` for the one t that gives the total: sorted downwards, the first i values stay positive as
/// long as `yᵢ > (y₁ + … + yᵢ − total)/i`.
pub(crate) fn project(y: &[f64], total: f64) -> Vec<f64> {
    let mut sorted = y.to_vec();
    sorted.sort_by(|a, b| b.total_cmp(a));
    let (mut sum, mut shift) = (0.0, 0.0);
    for (i, value) in sorted.iter().enumerate() {
        sum += value;
        let candidate = (sum - total) / (i + 1) as f64;
        if *value > candidate {
            shift = candidate;
        }
    }
    y.iter().map(|value| (value - shift).max(0.0)).collect()
}

#[cfg(test)]
mod tests;
