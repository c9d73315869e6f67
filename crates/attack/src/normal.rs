//! The normal distribution function, and how well a share is known from a sample.

/// `Φ(x) = P[N(0,1) ≤ x]`, to about 14 digits; its tails keep their relative accuracy.
#[must_use]
pub fn normal(x: f64) -> f64 {
    if x > 0.0 { 1.0 - upper_tail(x) } else { upper_tail(-x) }
}

/// `P[N(0,1) > x]` for x ≥ 0: the Taylor series of the integral near 0, the continued fraction of
/// Laplace beyond.
fn upper_tail(x: f64) -> f64 {
    let density = (-0.5 * x * x).exp() / std::f64::consts::TAU.sqrt();
    if x < 2.5 {
        // ∫₀ˣ φ = φ(x)·(x + x³/3 + x⁵/15 + …), all terms positive.
        let (mut term, mut sum, mut k) = (x, x, 1.0);
        while term > sum * 1e-17 && k < 400.0 {
            term *= x * x / (2.0 * k + 1.0);
            sum += term;
            k += 1.0;
        }
        return 0.5 - density * sum;
    }
    // φ(x) / (x + 1/(x + 2/(x + 3/…))), from the far end.
    let fraction = (1..=160).rev().fold(x, |below, k| x + f64::from(k) / below);
    density / fraction
}

/// So many of so many.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Share {
    /// How often it happened.
    pub hits: u64,
    /// How often it could have.
    pub trials: u64,
}

impl Share {
    /// `hits / trials`; 0 of 0 is NaN.
    #[must_use]
    pub fn rate(self) -> f64 {
        self.hits as f64 / self.trials as f64
    }

    /// Both counts together.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        Self { hits: self.hits + other.hits, trials: self.trials + other.trials }
    }

    /// Wilson's interval at `z` standard errors (1.96: 95 %).
    ///
    /// All p with `|p̂ − p| ≤ z·√(p(1−p)/N)`.
    #[must_use]
    pub fn interval(self, z: f64) -> (f64, f64) {
        let (p, n) = (self.rate(), self.trials as f64);
        let middle = p + z * z / (2.0 * n);
        let half = z * (p * (1.0 - p) / n + z * z / (4.0 * n * n)).sqrt();
        let scale = 1.0 + z * z / n;
        (((middle - half) / scale).max(0.0), ((middle + half) / scale).min(1.0))
    }
}

#[cfg(test)]
mod tests;
