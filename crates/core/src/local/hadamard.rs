//! Hadamard response: one bit of a matrix column.

use super::{Report, Response, Support, require_category};
use crate::error::{Error, Result};
use crate::mechanism::{Guarantee, Release};
use crate::random::Bits;
use crate::unit::Epsilon;

/// Reports a random row of a Hadamard matrix, and the entry for the person's category through
/// randomized response.
///
/// The row j of the K×K matrix is drawn uniformly (K is the least power of two that is at least k); the
/// entry is `H[j,x] = (−1)^{popcount(j & x)}`.
///
/// ```
/// use demure_core::local::Hadamard;
/// use demure_core::random::{Randomness, SystemRandom};
/// use demure_core::unit::Epsilon;
///
/// let mut rng = SystemRandom::new()?;
/// let hadamard = Hadamard::new(1_000, Epsilon::new(1.0)?)?;
/// let report = hadamard.randomize(271, rng.bits()?)?;
/// println!("{:?}", report.value());
/// # Ok::<(), demure_core::Error>(())
/// ```
///
/// `n·Var → ((e^ε+1)/(e^ε−1))²` as f → 0. A report is about log₂ k + 1 bits, and n of them are
/// estimated in `O(n + K log K)`; at small ε nothing is better.
///
/// # Guarantee
/// ε-local DP.
/// # Proof
/// The row reveals nothing about the value; given the row, two values' entries are two bits, and [`Response`] is
/// ε-private for those. ∎
/// # Special values
/// Fewer than 2 or more than 2³¹ categories, and values beyond them, are refused.
/// # References
/// Acharya, Sun, Zhang 2019 (arXiv:1802.04705v2), for the matrix; with one entry of a
/// random row it is the mechanism of Bassily et al. 2017.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Hadamard {
    categories: u32,
    sign: Response,
}

impl Hadamard {
    /// Calibrates the randomizer for k categories.
    pub fn new(categories: u32, epsilon: Epsilon) -> Result<Self> {
        if !(2..=1 << 31).contains(&categories) {
            let allowed = "at least 2 and at most 2^31";
            return Err(Error::OutOfRange { parameter: "categories", allowed });
        }
        Ok(Self { categories, sign: Response::with_epsilon(2, epsilon)? })
    }

    /// The number of categories.
    #[must_use]
    pub fn categories(&self) -> u32 {
        self.categories
    }

    /// The number of rows, K.
    #[must_use]
    pub fn rows(&self) -> u32 {
        self.categories.next_power_of_two()
    }

    /// Whether `H[row, column]` is +1.
    #[must_use]
    pub fn entry(row: u32, column: u32) -> bool {
        (row & column).count_ones().is_multiple_of(2)
    }

    /// The guarantee of one report.
    #[must_use]
    #[inline]
    pub fn guarantee(&self) -> Guarantee {
        self.sign.guarantee()
    }

    /// The support for estimation: a report (j, s) supports the categories v with `H[j,v] = s`. For a category that is
    /// not the person's own the probability is exactly ½, as two columns agree in half of their rows.
    pub fn support(&self) -> Result<Support> {
        Support::new(self.sign.p(), 0.5)
    }

    /// Draws one person's report.
    #[inline]
    pub fn randomize(&self, value: u32, bits: &mut Bits) -> Result<Release<Report>> {
        require_category(value, self.categories)?;
        let row = (bits.word()? >> 32) as u32 & (self.rows() - 1);
        let sign = self.sign.draw(u32::from(Self::entry(row, value)), bits)? == 1;
        Ok(Release::new(Report::Row(row, sign), self.guarantee()))
    }
}
