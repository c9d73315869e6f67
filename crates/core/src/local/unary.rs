//! Unary encoding: a bit for each category, each flipped independently.

use super::{Coin, MOST_BITS, Report, Support, require_categories, require_category};
use crate::error::Result;
use crate::mechanism::{Guarantee, Release};
use crate::random::Bits;
use crate::unit::Epsilon;

/// Reports one bit for each category: the person's own is 1 with probability p, every other with
/// probability q, independently.
///
/// ```
/// use demure_core::local::Unary;
/// use demure_core::random::{Randomness, SystemRandom};
/// use demure_core::unit::Epsilon;
///
/// let mut rng = SystemRandom::new()?;
/// let unary = Unary::optimised(12, Epsilon::new(1.0)?)?;
/// let report = unary.randomize(3, rng.bits()?)?; // the fourth of 12 categories
/// println!("{:?}", report.value());
/// # Ok::<(), demure_core::Error>(())
/// ```
///
/// *Symmetric*: `p = 1 − q = e^{ε/2}/(e^{ε/2}+1)`, which is basic RAPPOR without memory.
/// *Optimised*: `p = ½` and `q = 1/(e^ε+1)`, the p of least variance for rare values.
/// `n·Var → e^{ε/2}/(e^{ε/2}−1)²` and `4e^ε/(e^ε−1)²` as f → 0.
///
/// # Guarantee
/// ε-local DP.
/// # Proof
/// Two values' encodings differ in two bits, x and x′; all others have the same law. The
/// ratio is largest where the report has bit x set and bit x′ clear:
/// `p(1−q)/((1−p)q) ≤ e^ε`. Symmetric: `(p/(1−p))²`, with p the two-level coin of ε/2.
/// Optimised: `(1−q)/q`, with `1−q` the two-level coin of ε. `1 − p` and `1 − q` are
/// exact. ∎
/// # Special values
/// Fewer than 2 or more than 2²⁰ categories and values beyond them are refused, and so is an
/// ε so small (about 10⁻¹⁵) that a report would say nothing.
/// # References
/// Wang, Blocki, Li, Jha 2017 (arXiv:1705.04421v1).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Unary {
    categories: u32,
    p: Coin,
    q: Coin,
    epsilon: Epsilon,
}

impl Unary {
    /// Symmetric: `p = 1 − q`.
    pub fn symmetric(categories: u32, epsilon: Epsilon) -> Result<Self> {
        let p = Coin::two_levels(Epsilon::new(0.5 * epsilon.get())?, 1, 1)?;
        Self::of(categories, p, p.tails(), epsilon)
    }

    /// Optimised: `p = ½`, for the least variance where values are rare.
    pub fn optimised(categories: u32, epsilon: Epsilon) -> Result<Self> {
        Self::of(categories, Coin::FAIR, Coin::two_levels(epsilon, 1, 1)?.tails(), epsilon)
    }

    fn of(categories: u32, p: Coin, q: Coin, epsilon: Epsilon) -> Result<Self> {
        require_categories(categories, MOST_BITS)?;
        Support::new(p.p(), q.p())?; // refuses p = q
        Ok(Self { categories, p, q, epsilon })
    }

    /// The number of categories.
    #[must_use]
    pub fn categories(&self) -> u32 {
        self.categories
    }

    /// The coins of the person's own bit and of every other bit.
    #[must_use]
    pub fn coins(&self) -> (Coin, Coin) {
        (self.p, self.q)
    }

    /// The guarantee of one report.
    #[must_use]
    #[inline]
    pub fn guarantee(&self) -> Guarantee {
        Guarantee::Pure(self.epsilon)
    }

    /// The support for estimation: a report supports the categories whose bit is set.
    pub fn support(&self) -> Result<Support> {
        Support::new(self.p.p(), self.q.p())
    }

    /// Draws one person's report.
    #[inline]
    pub fn randomize(&self, value: u32, bits: &mut Bits) -> Result<Release<Report>> {
        Ok(Release::new(Report::Bits(self.words(value, bits)?), self.guarantee()))
    }

    pub(super) fn words(&self, value: u32, bits: &mut Bits) -> Result<Vec<u64>> {
        require_category(value, self.categories)?;
        let mut words = vec![0; self.categories.div_ceil(64) as usize];
        for word in &mut words {
            *word = self.q.flip_64(bits)?;
        }
        let own = u64::from(self.p.flip(bits)?) << (value % 64);
        let word = &mut words[value as usize / 64];
        *word = *word & !(1 << (value % 64)) | own;
        clear_beyond(&mut words, self.categories);
        Ok(words)
    }
}

/// Clears the bits of the last word that have no category.
pub(super) fn clear_beyond(words: &mut [u64], categories: u32) {
    if let (Some(last), 1..) = (words.last_mut(), categories % 64) {
        *last &= (1 << (categories % 64)) - 1;
    }
}
