//! Subset selection: a set that probably contains the truth.

use super::{Coin, MOST_BITS, Report, Support, require_categories, require_category};
use crate::error::{Error, Result};
use crate::mechanism::{Guarantee, Release};
use crate::random::Bits;
use crate::unit::Epsilon;

/// Reports a set of ω of the k categories, which probably contains the person's own.
///
/// With probability `p = ωe^ε/(ωe^ε + k − ω)` the set is the own category and ω−1 random others, else
/// ω random others.
///
/// ```
/// use demure_core::local::Subset;
/// use demure_core::random::{Randomness, SystemRandom};
/// use demure_core::unit::Epsilon;
///
/// let mut rng = SystemRandom::new()?;
/// let subset = Subset::new(12, Epsilon::new(1.0)?)?;
/// let report = subset.randomize(3, rng.bits()?)?; // the fourth of 12 categories
/// println!("{:?}: {} of 12", report.value(), subset.size());
/// # Ok::<(), demure_core::Error>(())
/// ```
///
/// With ω = 1 it is k-ary randomized response. The best ω is near `k/(e^ε+1)`; then no
/// ε-private randomizer has a smaller worst-case error (to leading order in n).
///
/// # Guarantee
/// ε-local DP.
/// # Proof
/// Two levels: of the `M = C(k,ω)` sets, `C(k−1,ω−1)` have the value in them and `C(k−1,ω)` do
/// not; their quotient is `(k−ω)/ω`. Floyd's algorithm draws each set of others with
/// the same probability. ∎
/// # Special values
/// ω of 0 or of k and more is refused; the rest as for [`Unary`](super::Unary).
/// # References
/// Ye, Barg 2018 (arXiv:1702.00610v2); Wang et al. 2016 (arXiv:1607.08025v1).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Subset {
    categories: u32,
    size: u32,
    own: Coin,
    epsilon: Epsilon,
}

impl Subset {
    /// Chooses the ω of least variance (for rare categories).
    pub fn new(categories: u32, epsilon: Epsilon) -> Result<Self> {
        require_categories(categories, MOST_BITS)?;
        let ideal = f64::from(categories) / (epsilon.get().exp() + 1.0);
        let low = (ideal as u32).clamp(1, categories - 1);
        let with = |size| Self::of_size(categories, size, epsilon);
        let noise = |subset: &Self| subset.support().map_or(f64::INFINITY, |s| s.noise(0.0));
        let (small, large) = (with(low)?, with((low + 1).min(categories - 1))?);
        Ok(if noise(&large) < noise(&small) { large } else { small })
    }

    /// As [`Subset::new`], with ω = `size`.
    pub fn of_size(categories: u32, size: u32, epsilon: Epsilon) -> Result<Self> {
        require_categories(categories, MOST_BITS)?;
        if size == 0 || size >= categories {
            let allowed = "at least 1 and less than the number of categories";
            return Err(Error::OutOfRange { parameter: "size of the set", allowed });
        }
        let own = Coin::two_levels(epsilon, size, categories - size)?;
        let subset = Self { categories, size, own, epsilon };
        subset.support()?;
        Ok(subset)
    }

    /// The number of categories.
    #[must_use]
    pub fn categories(&self) -> u32 {
        self.categories
    }

    /// The size ω of the set.
    #[must_use]
    pub fn size(&self) -> u32 {
        self.size
    }

    /// The guarantee of one report.
    #[must_use]
    #[inline]
    pub fn guarantee(&self) -> Guarantee {
        Guarantee::Pure(self.epsilon)
    }

    /// The support for estimation: a report supports the categories in it, the person's own with probability p,
    /// another with probability `(ω − p)/(k − 1)`.
    pub fn support(&self) -> Result<Support> {
        let (p, k) = (self.own.p(), f64::from(self.categories));
        Support::new(p, (f64::from(self.size) - p) / (k - 1.0))
    }

    /// Draws one person's report.
    #[inline]
    pub fn randomize(&self, value: u32, bits: &mut Bits) -> Result<Release<Report>> {
        require_category(value, self.categories)?;
        let own = self.own.flip(bits)?;
        let mut words = vec![0u64; self.categories.div_ceil(64) as usize];
        words[value as usize / 64] |= u64::from(own) << (value % 64);
        // Floyd: each set of `count` of the others with the same probability.
        let (others, count) = (self.categories - 1, self.size - u32::from(own));
        let place = |other: u32| other + u32::from(other >= value);
        let mut small = Small::default();
        for top in others - count..others {
            let drawn = place(small.below(top + 1, bits)?);
            let taken = words[drawn as usize / 64] >> (drawn % 64) & 1 == 1;
            let new = if taken { place(top) } else { drawn };
            words[new as usize / 64] |= 1 << (new % 64);
        }
        if own {
            small.below(others, bits)?; // the same number of draws, whichever way the coin fell
        }
        Ok(Release::new(Report::Bits(words), self.guarantee()))
    }
}

/// Draws of few bits, several from one word.
#[derive(Default)]
struct Small {
    word: u64,
    left: u32,
}

impl Small {
    /// Each of 0, …, n−1 with the same probability, 1 ≤ n < 2³².
    ///
    /// # Proof
    /// With w bits, 16 for n ≤ 2¹² and else 32, x is uniform below W = 2ʷ. `⌊xn/W⌋ = i` for the x with
    /// `iW ≤ xn < (i+1)W`; of their remainders `xn mod W` those of at least `W mod n` are as many for every i, `⌊W/n⌋`,
    /// and x is drawn anew for the others (Lemire 2019, arXiv:1805.10941, Lemma 4.1). ∎
    #[inline]
    fn below(&mut self, n: u32, bits: &mut Bits) -> Result<u32> {
        let width = if n <= 1 << 12 { 16 } else { 32 };
        let (all, n) = (1u64 << width, u64::from(n));
        loop {
            if self.left < width {
                (self.word, self.left) = (bits.word()?, 64);
            }
            let product = (self.word & (all - 1)) * n;
            (self.word, self.left) = (self.word >> width, self.left - width);
            let rest = product & (all - 1);
            if rest >= n || rest >= all % n {
                return Ok((product >> width) as u32);
            }
        }
    }
}

#[cfg(test)]
mod tests;
