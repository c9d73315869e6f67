//! Noise that fits the data: mechanisms that use the local sensitivity without revealing it.
//!
//! The global sensitivity of a median is the whole range of the values, yet on most data one person
//! hardly moves it. Each mechanism here adds noise for the data at hand and is still private.
//!
//! | file | what | guarantee |
//! |---|---|---|
//! | `values` | bounded values on a public grid, in order | |
//! | `order` | median, any quantile, trimmed and winsorised mean, interquartile range | |
//! | `smooth` | noise in proportion to a smooth bound | ε, (ε,δ) or ρ |
//! | `ladder` | a value by the rungs of its local sensitivity | ε |
//! | `stable` | mode, vote, top-k, model: the exact answer, if it is far from changing | (ε,δ) |
//! | `propose` | a bound proposed, tested, used; and a search over a public list of bounds | (ε,δ) |
//! | `bound` | a private upper bound on the local sensitivity, then noise | (ε,δ) |
//! | `ratio` | the reciprocal of a count and the slope of a regression | |
//! | `gate` | a noised distance above a threshold, and the chance of that: one object | (ε,δ) |
//! | `check` | brute-force checks of your own statistics | |
//!
//! They share the trait [`Statistic`]: an integer, and how far it can move near the data.
//!
//! ```
//! use demure_core::mechanism::{Bounds, Guarantee};
//! use demure_core::random::SystemRandom;
//! use demure_core::sensitivity::{OrderStatistic, SmoothNoise, Stable, Tally, Values};
//! use demure_core::unit::{Delta, Epsilon, Neighbours};
//!
//! let mut rng = SystemRandom::new()?;
//! let epsilon = Epsilon::new(1.0)?;
//! let salaries = (0..1001).map(|i| 20_000.0 + 40.0 * f64::from(i));
//! let values = Values::new(Bounds::new(0.0, 1e6)?, salaries);
//! let noise = SmoothNoise::new(Guarantee::Pure(epsilon), None)?;
//! let median = noise.release(&OrderStatistic::median(&values)?, &mut rng)?;
//! assert!((0.0..=1e6).contains(median.value()));
//!
//! let (winner, distance) = Tally::votes(&[310, 95, 240], Neighbours::AddRemove)?.winner();
//! let stable = Stable::new(epsilon, Delta::new(1e-9)?)?;
//! assert_eq!(stable.release(winner, distance, &mut rng)?.into_value(), Some(0));
//! # Ok::<(), demure_core::Error>(())
//! ```
//!
//! # Neighbours
//! A [`Statistic`] is stated for one relation. Those of `order` are for *replace one*, where the number n of values is
//! public; [`Values::padded`] gives quantiles under *add or remove*. Votes and counts (`stable`, `ratio`) support both
//! relations. For a graph the unit is an edge, added or removed.
//!
//! # Special values
//! Every statistic is an integer on a public grid, so nothing is NaN, and no float sum meets noise.
//! A statistic that can move without bound has no smooth bound: see [`Statistic::most`].

mod bound;
mod check;
mod gate;
mod ladder;
mod order;
mod propose;
mod ratio;
mod smooth;
mod stable;
mod values;

pub use bound::PrivateBound;
pub use check::{Checked, Flaw, ProfileLimits, check_profile, check_smooth};
pub use ladder::Ladder;
pub use order::{InterquartileRange, OrderStatistic, TrimmedMean, WinsorisedMean};
pub use propose::{Proposals, ProposeTestRelease};
pub use ratio::{Reciprocal, Slope};
pub use smooth::{NoiseFamily, SmoothNoise};
pub use stable::{Distance, Stable, Tally, mode, mode_of_counts};
pub use values::Values;

use crate::error::{Error, Result};
use crate::mechanism::yields_event;
use crate::num::fast;
use std::fmt;

yields_event!(SmoothNoise, Ladder, Stable, ProposeTestRelease, Proposals, PrivateBound);

/// The t of a t-smooth bound: between neighbours it changes by a factor of at most `e^t`.
///
/// It must be chosen without looking at the data. A large t follows the data closely
/// and needs heavier noise; one over the number of changes within which the data look the
/// same is a good choice.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd)]
pub struct Smoothness(f64);

impl Smoothness {
    /// Validates `t`: at least 10⁻⁹ and at most 100.
    pub fn new(t: f64) -> Result<Self> {
        if (1e-9..=100.0).contains(&t) {
            Ok(Self(t))
        } else {
            let allowed = "at least 1e-9 and at most 100";
            Err(Error::OutOfRange { parameter: "t (smoothness)", allowed })
        }
    }

    /// The number itself.
    #[must_use]
    pub fn get(self) -> f64 {
        self.0
    }
}

impl fmt::Display for Smoothness {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.0, f)
    }
}

/// Distances are not searched beyond this: a cut keeps them 1-Lipschitz.
const FARTHEST: u64 = 1 << 40;

/// Bounds are at least this many steps: a public constant, so that there is always some
/// noise to draw. The maximum of a smooth bound and a constant is smooth.
pub(crate) const LEAST: f64 = 1.0 / (1u64 << 30) as f64;

/// Every smooth bound is computed in floats: it is at least the true one, and at most
/// `e^SLACK` times that. Calibrations allow for twice this.
///
/// A weight `e^(−tk)` above 2⁻¹⁰⁰ is good to a relative 2⁻⁴⁶ and its product to 2⁻⁴⁵; the search of
/// `order` loses that at each of at most 64 halvings, together 2⁻³⁹. What was found is
/// enlarged by a factor `1 + 2⁻³⁸`.
pub(crate) const SLACK: f64 = 1.0 / (1u64 << 36) as f64;

/// The factor that makes a computed bound an upper bound.
pub(crate) const ENLARGE: f64 = 1.0 + 1.0 / (1u64 << 38) as f64;

/// A statistic of protected data, as an integer, and how far it can move.
///
/// # What an implementation promises
/// For one neighbour relation, with `A_k(x)` for [`Statistic::at_distance`]:
/// 1. `A_0(x) ≥ |f(x) − f(x′)|` for all neighbours x′ of x;
/// 2. `A_k(x) ≤ A_{k+1}(x)`, and `A_k(x) ≤ A_{k+1}(x′)` for all neighbours x, x′;
/// 3. `A_k(x) ≤ most`, which is public;
/// 4. `A_{k+1}(x) − A_k(x) ≤ growth`, which is public. Only a private bound and a ladder with a floor need it.
///
/// The largest local sensitivity within k steps of x, `LS⁽ᵏ⁾(x)`, is the least such profile. All guarantees of this
/// module rest on these four lines, and on `answer` being public; [`check_profile`] tests them on all small datasets.
/// With a wrong implementation a release breaks its guarantee: check your own with [`check_profile`].
pub trait Statistic {
    /// The value of the statistic, f(x). Protected.
    fn value(&self) -> i128;

    /// A bound on the local sensitivity of all datasets within k steps, `A_k(x)`. Protected.
    fn at_distance(&self, k: u64) -> u64;

    /// A public bound on every `A_k` of every dataset; `None` if it can be arbitrarily large. Without one there is no
    /// smooth bound.
    fn most(&self) -> Option<u64>;

    /// A public bound on `A_{k+1}(x) − A_k(x)`, for all k and all datasets; `None` if it can be arbitrarily large. It
    /// bounds the sensitivity of every `A_k`: `A_k(x′) ≤ A_{k+1}(x) ≤ A_k(x) + growth`.
    fn growth(&self) -> Option<u64> {
        None
    }

    /// Turns a noised value into an answer, with the help of public facts only.
    fn answer(&self, noised: i128) -> f64 {
        noised as f64 * self.unit()
    }

    /// The size of one step in the answer. Public.
    fn unit(&self) -> f64 {
        1.0
    }

    /// A t-smooth upper bound on the local sensitivity: `max_k e^(−tk)·A_k(x)`, and at least 2⁻³⁰.
    /// Protected: never publish it.
    ///
    /// # Guarantee
    /// With S the result, `A_0 ≤ S` and `S(x) ≤ e^(t + 2⁻³⁶)·S(x′)` for neighbours.
    /// # Proof
    /// `e^(−tk)A_k(x) ≤ e^t·e^(−t(k+1))A_{k+1}(x′) ≤ e^t·S(x′)` for every k. The rest is rounding; what is
    /// not looked at is below 2⁻³⁰. ∎
    fn smooth(&self, t: Smoothness) -> Result<f64> {
        let most = self.most().ok_or_else(unbounded)?;
        let (mut best, most, mut k) = (LEAST, most as f64, 0u64);
        loop {
            let weight = fast::exp_neg(t.get() * k as f64);
            if most * weight <= best {
                return Ok(best * ENLARGE);
            }
            let here = self.at_distance(k) as f64;
            best = best.max(here * weight);
            if here >= most {
                return Ok(best * ENLARGE); // nothing farther away can be larger
            }
            k += 1;
        }
    }

    /// The least number of steps to a dataset whose local sensitivity is above `bound`:
    /// `min {k : A_k(x) > bound}`, cut at 2⁴⁰. `None` if there is no such dataset. Protected.
    ///
    /// # Guarantee
    /// 1-Lipschitz between neighbours, at least 1 only where `A_0 ≤ bound`, and `None` for all
    /// datasets or for none.
    /// # Proof
    /// If `A_k(x′) > bound` then `A_{k+1}(x) > bound`. By 2 the set of such k is upward closed, so
    /// it is found by doubling and halving. ∎
    fn distance_above(&self, bound: u64) -> Option<u64> {
        if self.most().is_some_and(|most| most <= bound) {
            return None;
        }
        if self.at_distance(0) > bound {
            return Some(0);
        }
        let (mut low, mut high) = (0, 1);
        while self.at_distance(high) <= bound {
            if high == FARTHEST {
                return Some(FARTHEST);
            }
            (low, high) = (high, 2 * high);
        }
        while high - low > 1 {
            let middle = low + (high - low) / 2;
            if self.at_distance(middle) > bound { high = middle } else { low = middle }
        }
        Some(high)
    }
}

/// The error for a statistic without a smooth bound. It is the same for all data.
fn unbounded() -> Error {
    Error::Infeasible {
        what: "this statistic can move without bound somewhere, so its smooth sensitivity is infinite",
        remedy: "use propose-test-release, or a private bound on the local sensitivity",
    }
}
