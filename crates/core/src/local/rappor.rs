//! Repeated collection: noise that is drawn once and kept, with fresh noise on top.

use super::unary::{Unary, clear_beyond};
use super::{Coin, Report, Support};
use crate::error::{Error, Result};
use crate::event::Event;
use crate::mechanism::{Guarantee, Release};
use crate::random::Bits;
use crate::unit::Epsilon;

/// Reports the same value again and again: from a *permanent* response, drawn once for each value
/// and kept, with *instantaneous* noise for each report.
///
/// ```
/// use demure_core::local::Rappor;
/// use demure_core::random::{Randomness, SystemRandom};
/// use demure_core::unit::Epsilon;
///
/// let mut rng = SystemRandom::new()?;
/// let rappor = Rappor::new(12, Epsilon::new(2.0)?, Epsilon::new(1.0)?)?;
/// let kept = rappor.permanent(3, rng.bits()?)?.into_value(); // keep it for this value
/// for _day in 0..7 {
///     println!("{:?}", rappor.report(&kept, rng.bits()?)?.value());
/// }
/// # Ok::<(), demure_core::Error>(())
/// ```
///
/// With a the coin of the permanent bits and s that of the instantaneous ones, a bit is
/// reported as it is with probability `c = as + (1−a)(1−s)`.
/// In RAPPOR's letters `f = 2(1−a)`, and `q = 1−p = s`.
///
/// # Guarantee
/// Of all reports together that are made from one permanent response, for ever:
/// ε∞-local DP, `ε∞ = 2 ln(a/(1−a)) = 2 ln((1−f/2)/(f/2))`, for any two values.
/// Of the first report alone, ε₁-local DP with `ε₁ = 2 ln(c/(1−c))`.
/// A person whose value takes m different values over time has m permanent
/// responses, and the reports together are mε∞-local DP: who changes often is less
/// protected, and the collector who sees a report's style change learns *when*.
/// # Proof
/// The permanent response is [`Unary::symmetric`] at ε∞; reports are made from it and
/// fresh coins, which is post-processing. A report's bits are independent, each flipped
/// with probability 1−c, so it is a symmetric unary encoding, and two values differ
/// in two bits: `(c/(1−c))² ≤ e^ε₁`. c grows with s, which is rounded down. Different values'
/// permanent responses are drawn independently, so their losses add up. ∎
/// # Special values
/// ε₁ ≥ ε∞ is refused (no instantaneous noise would be left), and what [`Unary`] refuses.
/// # References
/// Erlingsson, Pihur, Korolova 2014 (arXiv:1407.6981v2), Theorems 1 and 2 with h = 1. Their
/// Theorem 1, 2h·ln((1−f/2)/(f/2)), is this ε∞.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rappor {
    permanent: Unary,
    keep: Coin,
    first: Epsilon,
}

/// A permanent response: the person's secret, to be kept and used for every report of the same
/// value. It is ε∞-private, and holds all that the reports could ever reveal.
#[derive(Clone, PartialEq, Eq)]
pub struct Permanent(Vec<u64>);

impl std::fmt::Debug for Permanent {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Permanent(secret)")
    }
}

impl Rappor {
    /// Spends ε∞ = `forever` on all reports of a value together, and ε₁ = `first` on the first alone.
    pub fn new(categories: u32, forever: Epsilon, first: Epsilon) -> Result<Self> {
        let permanent = Unary::symmetric(categories, forever)?;
        let whole = Coin::two_levels(Epsilon::new(0.5 * first.get())?, 1, 1)?.p();
        let (a, lie) = (permanent.coins().0.p(), permanent.coins().1.p());
        // c = as + (1−a)(1−s) solved for s. The differences of multiples of 2⁻⁵³ are exact.
        let keep = ((whole - lie) / (a - lie)).next_down();
        if first >= forever || keep.is_nan() || keep <= 0.5 {
            let what =
                "the first report's ε leaves nothing for the permanent noise, or says nothing";
            return Err(Error::Infeasible {
                what,
                remedy: "choose 0 < ε of one report < ε for ever",
            });
        }
        let rappor = Self { permanent, keep: Coin::at_most(keep)?, first };
        rappor.support()?;
        Ok(rappor)
    }

    /// The number of categories.
    #[must_use]
    pub fn categories(&self) -> u32 {
        self.permanent.categories()
    }

    /// The coins a (a permanent bit is the true one) and s (a reported bit is the permanent one).
    #[must_use]
    pub fn coins(&self) -> (Coin, Coin) {
        (self.permanent.coins().0, self.keep)
    }

    /// The guarantee of all reports of one value together.
    #[must_use]
    pub fn forever(&self) -> Guarantee {
        self.permanent.guarantee()
    }

    /// The guarantee of the first report alone.
    #[must_use]
    pub fn first(&self) -> Guarantee {
        Guarantee::Pure(self.first)
    }

    /// The event of all reports of one value together: give it to an account once per value.
    #[must_use]
    pub fn event(&self) -> Event {
        self.forever().event()
    }

    /// The support for estimation: a report supports the categories whose bit is set.
    pub fn support(&self) -> Result<Support> {
        let (a, s) = (self.coins().0.p(), self.keep.p());
        let (lie, flip) = (self.coins().0.tails().p(), self.keep.tails().p());
        Support::new(a * s + lie * flip, a * flip + lie * s)
    }

    /// Draws the permanent response to a value. Draw it once, and keep it.
    pub fn permanent(&self, value: u32, bits: &mut Bits) -> Result<Release<Permanent>> {
        Ok(Release::new(Permanent(self.permanent.words(value, bits)?), self.forever()))
    }

    /// Draws one report from a permanent response.
    pub fn report(&self, permanent: &Permanent, bits: &mut Bits) -> Result<Release<Report>> {
        let mut words = permanent.0.clone();
        if words.len() != self.categories().div_ceil(64) as usize {
            let allowed = "one that this survey's randomizer made";
            return Err(Error::OutOfRange { parameter: "permanent response", allowed });
        }
        for word in &mut words {
            *word ^= self.keep.tails().flip_64(bits)?;
        }
        clear_beyond(&mut words, self.categories());
        Ok(Release::new(Report::Bits(words), self.forever()))
    }
}

impl Permanent {
    /// The bits to keep.
    #[must_use]
    pub fn words(&self) -> &[u64] {
        &self.0
    }

    /// A permanent response from the bits that were kept.
    ///
    /// The guarantee of every report made from it rests on these being the [`words`](Self::words)
    /// of a permanent response to the same value. Noise that outlives a process must come from a
    /// file, so this is not checked.
    #[must_use]
    pub fn restored(words: Vec<u64>) -> Self {
        Self(words)
    }
}
