//! An attacker's own random numbers: which subsets to ask for, made-up people, and the noise of
//! databases that are *not* ours. SplitMix64 in floats: it protects nobody, and nothing that
//! claims privacy may draw from it.

/// A small generator, the same from the same seed.
#[derive(Clone, Debug)]
pub struct Draws(u64);

impl Draws {
    /// The stream that `seed` stands for.
    #[must_use]
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// A stream of its own for part `part` of an experiment, so that parts can be run in any order.
    #[must_use]
    pub fn part(seed: u64, part: u64) -> Self {
        let mut mixed = Self(seed ^ 0xA5A5_5A5A_0F0F_F0F0);
        let base = mixed.word();
        Self(base.wrapping_add(part.wrapping_mul(0xD134_2543_DE82_EF95)))
    }

    /// 64 bits.
    pub fn word(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    /// Uniform in [0, 1).
    pub fn uniform(&mut self) -> f64 {
        (self.word() >> 11) as f64 * 0.5f64.powi(53)
    }

    /// A coin.
    pub fn coin(&mut self) -> bool {
        self.word() >> 63 == 1
    }

    /// A whole number below `n`; 0 for n = 0. The bias is below n·2⁻⁶⁴.
    pub fn below(&mut self, n: u64) -> u64 {
        ((u128::from(self.word()) * u128::from(n)) >> 64) as u64
    }

    /// Standard normal, by Box and Muller.
    pub fn normal(&mut self) -> f64 {
        let radius = (-2.0 * (1.0 - self.uniform()).ln()).sqrt();
        radius * (std::f64::consts::TAU * self.uniform()).cos()
    }

    /// Laplace of scale 1.
    pub fn laplace(&mut self) -> f64 {
        let size = -(1.0 - self.uniform()).ln();
        if self.coin() { size } else { -size }
    }
}

#[cfg(test)]
mod tests;
