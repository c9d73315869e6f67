//! Optimised local hashing: few buckets, and a separate hash function for each person.

use super::{Report, Response, Support, require_categories, require_category};
use crate::error::{Error, Result};
use crate::mechanism::{Guarantee, Release};
use crate::random::Bits;
use crate::unit::Epsilon;

/// Reports a random hash function h from the categories to g buckets, and the bucket `h(x)` through
/// g-ary randomized response.
///
/// ```
/// use demure_core::local::LocalHash;
/// use demure_core::random::{Randomness, SystemRandom};
/// use demure_core::unit::Epsilon;
///
/// let mut rng = SystemRandom::new()?;
/// let hash = LocalHash::new(1_000_000, Epsilon::new(1.0)?)?;
/// let report = hash.randomize(271_828, rng.bits()?)?;
/// println!("{:?}", report.value());
/// # Ok::<(), demure_core::Error>(())
/// ```
///
/// The best g is near `e^ε + 1`; then `n·Var → 4e^ε/(e^ε−1)²` as f → 0, whatever k.
///
/// # Guarantee
/// ε-local DP, whatever the hash function.
/// # Proof
/// h reveals nothing about the value; given h, two values' hashes are two of g categories, and [`Response`] is
/// ε-private for those. ∎
/// # Estimation
/// A report (h, y) supports the categories v with `h(v) = y`: the value with probability p. For
/// another v, `h(v)` is independent of `h(x)` ([`HashFunction`]), so with `w_b` the share of
/// bucket b and q the probability of each lie, `P[h(v)=y] = Σ_b w_b(q + w_b(p−q)) =
/// q + (p−q)Σw_b²`: exactly, though g does not divide the range of the hash.
/// # Special values
/// Fewer than 2 categories, values beyond them, and g below 2 or above 2¹⁶ are refused.
/// # References
/// Wang, Blocki, Li, Jha 2017 (arXiv:1705.04421v1).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LocalHash {
    categories: u32,
    response: Response,
}

/// A hash function of [`LocalHash`], from a family of independent pairs.
///
/// `h(v) = ⌊top·g/2^ℓ⌋`, where top are the upper ℓ bits of `(a·v + b) mod 2^w`. For up to 2¹⁶
/// categories w = 32 and ℓ = 17, for more w = 64 and ℓ = 32.
///
/// # Guarantee
/// For two different categories the tops are uniform and independent.
/// # Proof
/// a and b are uniform in `0..2^w`, and categories have at most `w − ℓ + 1` bits. Let
/// `v − v′ = d = 2^s·odd`, so `s ≤ w − ℓ`. Then `a·d mod 2^w` is uniform on the multiples of
/// 2^s: its upper ℓ bits are uniform and independent of the lower ones. Given a, b
/// makes `Y = a·v′ + b` uniform. The top of `a·v + b = Y + a·d` is the sum of the tops of Y
/// and of `a·d` and a carry of the lower bits, mod 2^ℓ: given Y and the lower bits of `a·d`, it is
/// still uniform. ∎
/// # References
/// Dietzfelbinger 1996; Thorup 2015 (arXiv:1504.06804). Small cases are enumerated by a test.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct HashFunction {
    /// The multiplier a.
    pub multiplier: u64,
    /// The offset b.
    pub offset: u64,
}

/// The most categories for which a hash function has 32-bit numbers.
const NARROW: u32 = 1 << 16;

impl LocalHash {
    /// Chooses the g of least variance: `⌊e^ε + 1⌋` or one more.
    pub fn new(categories: u32, epsilon: Epsilon) -> Result<Self> {
        let e = epsilon.get().exp();
        // (e^ε+g−1)²/((e^ε−1)²(g−1)), without what does not depend on g.
        let noise = |g: f64| (e + g - 1.0) * ((e + g - 1.0) / (g - 1.0));
        let low = (e + 1.0).clamp(2.0, 65_535.0).floor();
        let best = if noise(low + 1.0) < noise(low) { low + 1.0 } else { low };
        Self::with_buckets(categories, best as u32, epsilon)
    }

    /// As [`LocalHash::new`], with g = `buckets`.
    pub fn with_buckets(categories: u32, buckets: u32, epsilon: Epsilon) -> Result<Self> {
        require_categories(categories, u32::MAX)?;
        if buckets > 1 << 16 {
            return Err(Error::OutOfRange { parameter: "buckets", allowed: "at most 2^16" });
        }
        let hash = Self { categories, response: Response::with_epsilon(buckets, epsilon)? };
        hash.support()?;
        Ok(hash)
    }

    /// The number of categories.
    #[must_use]
    pub fn categories(&self) -> u32 {
        self.categories
    }

    /// The number of buckets, g.
    #[must_use]
    pub fn buckets(&self) -> u32 {
        self.response.categories()
    }

    /// Whether the numbers of a hash function have 32 bits, not 64.
    #[must_use]
    pub fn is_narrow(&self) -> bool {
        self.categories <= NARROW
    }

    /// The guarantee of one report.
    #[must_use]
    #[inline]
    pub fn guarantee(&self) -> Guarantee {
        self.response.guarantee()
    }

    /// The support for estimation: a report supports the categories that it hashes to its bucket.
    pub fn support(&self) -> Result<Support> {
        let range = if self.is_narrow() { 1u64 << 17 } else { 1 << 32 };
        let (g, rest) = (u64::from(self.buckets()), range % u64::from(self.buckets()));
        // `rest` buckets have one top more than the others.
        let (few, many) =
            ((range / g) as f64 / range as f64, (range / g + 1) as f64 / range as f64);
        let squares = (g - rest) as f64 * few * few + rest as f64 * many * many;
        let (p, q) = (self.response.p(), self.response.q());
        let gap = self.response.gap() * (1.0 - squares);
        Support::new(p, q + self.response.gap() * squares).map(|s| Support::exactly(p, s.q(), gap))
    }

    /// The bucket of a category, `h(v)`.
    #[must_use]
    #[inline]
    pub fn bucket(&self, hash: HashFunction, value: u32) -> u32 {
        let sum = hash.multiplier.wrapping_mul(u64::from(value)).wrapping_add(hash.offset);
        let (top, bits) =
            if self.is_narrow() { (sum as u32 as u64 >> 15, 17) } else { (sum >> 32, 32) };
        ((top * u64::from(self.buckets())) >> bits) as u32
    }

    /// The sums `a·v + b mod 2^w` (w = 32 or 64) that fall in a bucket: the first, and how many.
    #[must_use]
    pub fn sums(&self, bucket: u32) -> (u64, u64) {
        let (bits, shift) = if self.is_narrow() { (17, 15) } else { (32, 32) };
        let edge = |y: u64| (y << bits).div_ceil(u64::from(self.buckets()));
        let (low, high) = (edge(u64::from(bucket)), edge(u64::from(bucket) + 1));
        (low << shift, (high - low) << shift)
    }

    /// Draws one person's report.
    #[inline]
    pub fn randomize(&self, value: u32, bits: &mut Bits) -> Result<Release<Report>> {
        require_category(value, self.categories)?;
        let (mut multiplier, mut offset) = (bits.word()?, 0);
        if self.is_narrow() {
            (multiplier, offset) = (multiplier >> 32, multiplier & u64::from(u32::MAX));
        } else {
            offset |= bits.word()?;
        }
        let hash = HashFunction { multiplier, offset };
        let bucket = self.response.draw(self.bucket(hash, value), bits)?;
        Ok(Release::new(Report::Hashed(hash, bucket), self.guarantee()))
    }
}
