//! The tests' own generator, so that this crate depends on nothing it tests.

/// SplitMix64 (Steele, Lea, Flood 2014): deterministic and good enough to test a test.
pub(crate) struct Draw(pub(crate) u64);

impl Draw {
    pub(crate) fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    /// Uniform in (0, 1).
    pub(crate) fn uniform(&mut self) -> f64 {
        ((self.bits() >> 11) as f64 + 0.5) / (1u64 << 53) as f64
    }

    /// Discrete Laplace at `scale`: the difference of two geometric draws.
    pub(crate) fn laplace(&mut self, scale: f64) -> i128 {
        let mut geometric = || (-self.uniform().ln() * scale).floor() as i128;
        geometric() - geometric()
    }

    /// The rounding of a normal draw with standard deviation `sigma` (Box–Muller).
    pub(crate) fn normal(&mut self, sigma: f64) -> i128 {
        let radius = (-2.0 * self.uniform().ln()).sqrt();
        let angle = std::f64::consts::TAU * self.uniform();
        (sigma * radius * angle.cos()).round() as i128
    }
}

/// `P[Z = k]` of the discrete Laplace at `scale`.
pub(crate) fn laplace_pmf(scale: f64, k: i128) -> f64 {
    let a = (-1.0 / scale).exp();
    (1.0 - a) / (1.0 + a) * a.powf(k.unsigned_abs() as f64)
}

/// `P[Z ≤ k]` of the discrete Laplace at `scale`.
pub(crate) fn laplace_cdf(scale: f64, k: i128) -> f64 {
    let a = (-1.0 / scale).exp();
    if k < 0 { a.powf(-k as f64) / (1.0 + a) } else { 1.0 - a.powf((k + 1) as f64) / (1.0 + a) }
}
