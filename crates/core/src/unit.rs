//! The quantities of differential privacy, each validated once, in its constructor.
//!
//! ```
//! use demure_core::unit::{Delta, Epsilon, L1, Sensitivity};
//!
//! let (epsilon, delta) = (Epsilon::new(0.5)?, Delta::new(1e-6)?);
//! let sensitivity: Sensitivity<L1> = Sensitivity::new(1.0)?;
//! let error = Epsilon::new(0.0).unwrap_err();
//! assert_eq!(error.to_string(), "epsilon must be a finite number greater than 0");
//! # Ok::<(), demure_core::Error>(())
//! ```
//!
//! | type | range | meaning |
//! |---|---|---|
//! | [`Epsilon`] | 0 < ε < ∞ | pure or approximate privacy loss |
//! | [`Delta`] | 0 ≤ δ < 1 | probability that the ε bound may fail |
//! | [`Rho`] | 0 < ρ < ∞ | zero-concentrated privacy loss |
//! | [`Alpha`] | 1 < α < ∞ | order of a Rényi divergence |
//! | [`Beta`] | 0 < β < 1 | probability that an error bound fails (1 − confidence) |
//! | [`Sensitivity`] | 0 < Δ < ∞ | largest change of a query between neighbours, in a norm |
//! | [`Grid`] | 2^e, −1000 ≤ e ≤ 1000 | public spacing of released numbers |
//!
//! # Special values
//! The constructors refuse NaN, ±∞ and anything outside the range, with an error that names the parameter and the
//! range. No parameter is clamped. Zero is a legal δ, and nothing else: ε = 0 asks for infinite noise and Δ = 0 for
//! none, and both are mistakes more often than intended.

use crate::error::{Error, Result};
use crate::num::directed;
use std::fmt;
use std::marker::PhantomData;

/// Which datasets are neighbours: a guarantee holds for all pairs of them.
///
/// [`Neighbours::AddRemove`] is the usual choice. Every sensitivity is stated for one relation. Replacing one unit is
/// one removal and one addition, so a mechanism that is ε-DP for [`Neighbours::AddRemove`] is 2ε-DP for
/// [`Neighbours::Replace`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Neighbours {
    /// Datasets of the same size in which one unit's data differ. The size is public.
    Replace,
    /// Datasets of which one has one unit more.
    AddRemove,
}

impl fmt::Display for Neighbours {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Replace => "replace",
            Self::AddRemove => "add-remove",
        })
    }
}

/// The privacy unit: what neighbouring datasets differ in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Unit {
    /// One row of a table.
    Row,
    /// All data of one person, found by the person's id.
    Person,
    /// One edge of a graph.
    Edge,
}

impl fmt::Display for Unit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Row => "row",
            Self::Person => "person",
            Self::Edge => "edge",
        })
    }
}

macro_rules! quantity {
    ($(#[$doc:meta])* $name:ident, $parameter:literal, $allowed:literal, $valid:expr) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, PartialOrd)]
        pub struct $name(f64);

        impl $name {
            #[doc = concat!("Validates `", $parameter, "`: ", $allowed, ".")]
            pub fn new(value: f64) -> Result<Self> {
                let valid: fn(f64) -> bool = $valid;
                if valid(value) {
                    Ok(Self(value))
                } else {
                    Err(Error::OutOfRange { parameter: $parameter, allowed: $allowed })
                }
            }

            /// The number itself.
            #[must_use]
            pub fn get(self) -> f64 {
                self.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Display::fmt(&self.0, f)
            }
        }
    };
}

quantity!(
    /// The privacy loss ε of a pure or approximate guarantee.
    Epsilon, "epsilon", "a finite number greater than 0", |x| x.is_finite() && x > 0.0
);
quantity!(
    /// The δ of an approximate guarantee; 0 makes the guarantee pure.
    Delta, "delta", "a number of at least 0 and less than 1", |x| (0.0..1.0).contains(&x)
);
quantity!(
    /// The ρ of zero-concentrated privacy: `D_α(M(x)‖M(x′)) ≤ ρα` for all α > 1.
    Rho, "rho", "a finite number greater than 0", |x| x.is_finite() && x > 0.0
);
quantity!(
    /// The order of a Rényi divergence.
    Alpha, "alpha", "a finite number greater than 1", |x| x.is_finite() && x > 1.0
);
quantity!(
    /// The probability that an error bound fails: 1 − confidence.
    Beta, "beta (1 − confidence)", "a number strictly between 0 and 1", |x| x > 0.0 && x < 1.0
);

impl Delta {
    /// δ = 0: the guarantee is pure.
    pub const ZERO: Self = Self(0.0);

    /// Validates a δ that must not be 0, for mechanisms that need one.
    pub fn positive(value: f64) -> Result<Self> {
        if value > 0.0 && value < 1.0 {
            Ok(Self(value))
        } else {
            Err(Error::OutOfRange {
                parameter: "delta",
                allowed: "a number strictly between 0 and 1",
            })
        }
    }
}

impl Epsilon {
    /// The ρ of the zCDP guarantee that ε-DP implies: ε²/2, rounded up.
    ///
    /// # References
    /// Bun & Steinke 2016 (arXiv:1605.02065v1), Proposition 1.4.
    pub fn to_rho(self) -> Result<Rho> {
        Rho::new(directed::up(self.0 * directed::up(self.0 * 0.5)))
    }
}

macro_rules! divisible {
    ($($name:ident),+) => { $(
        impl $name {
            /// One of `parts` equal shares. A little less than the quotient, so that all shares
            /// together stay within the whole however their sum is rounded.
            ///
            /// # Proof
            /// An addition that is rounded up errs by a factor of at most `1 + 2⁻⁵¹`, n of them by at
            /// most `e^(n·2⁻⁵¹)`, and `1 − x ≤ e^−x`. The 4 is for the roundings of this product. ∎
            /// # Special values
            /// 0 parts are refused.
            pub fn share(self, parts: u32) -> Result<Self> {
                if parts == 0 {
                    return Err(Error::OutOfRange { parameter: "parts", allowed: "at least 1" });
                }
                let n = f64::from(parts);
                Self::new(directed::down(self.0 / n) * (1.0 - (2.0 * n + 4.0) * f64::EPSILON))
            }
        }
    )+ };
}
divisible!(Epsilon, Rho);

/// A norm in which a sensitivity is measured.
pub trait Norm: sealed::Norm + Copy + fmt::Debug {
    /// The usual name, for messages.
    const NAME: &'static str;
}

/// The sum of absolute differences: what Laplace noise is calibrated to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct L1;
/// The Euclidean distance: what Gaussian noise is calibrated to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct L2;
/// The largest single difference: what selection is calibrated to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LInf;

mod sealed {
    pub trait Norm {}
    impl Norm for super::L1 {}
    impl Norm for super::L2 {}
    impl Norm for super::LInf {}
}

impl Norm for L1 {
    const NAME: &'static str = "l1";
}
impl Norm for L2 {
    const NAME: &'static str = "l2";
}
impl Norm for LInf {
    const NAME: &'static str = "linf";
}

/// The largest change of a query between two neighbours, in the norm `N`.
///
/// You decide which neighbour relation it is for. Mechanisms that know their query (counts, sums,
/// histograms …) derive their sensitivity from a [`Neighbours`].
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd)]
pub struct Sensitivity<N: Norm>(f64, PhantomData<N>);

impl<N: Norm> Sensitivity<N> {
    /// Validates a sensitivity: finite and greater than 0.
    pub fn new(value: f64) -> Result<Self> {
        if value.is_finite() && value > 0.0 {
            Ok(Self(value, PhantomData))
        } else {
            Err(Error::OutOfRange {
                parameter: "sensitivity",
                allowed: "a finite number greater than 0",
            })
        }
    }

    /// The number itself.
    #[must_use]
    pub fn get(self) -> f64 {
        self.0
    }
}

impl Sensitivity<L1> {
    /// The same bound in ℓ₂, as `‖v‖₂ ≤ ‖v‖₁`.
    #[must_use]
    pub fn to_l2(self) -> Sensitivity<L2> {
        Sensitivity(self.0, PhantomData)
    }
}

impl Sensitivity<LInf> {
    /// The bound in ℓ₁ for k ≥ 1 coordinates, `‖v‖₁ ≤ k·‖v‖_∞`, rounded up.
    pub fn to_l1(self, coordinates: u32) -> Result<Sensitivity<L1>> {
        require_coordinates(coordinates)?;
        Sensitivity::new(directed::up(self.0 * f64::from(coordinates)))
    }

    /// The bound in ℓ₂ for k ≥ 1 coordinates, `‖v‖₂ ≤ √k·‖v‖_∞`, rounded up.
    pub fn to_l2(self, coordinates: u32) -> Result<Sensitivity<L2>> {
        require_coordinates(coordinates)?;
        let root = directed::up(f64::from(coordinates).sqrt());
        Sensitivity::new(directed::up(self.0 * root))
    }
}

fn require_coordinates(coordinates: u32) -> Result<()> {
    if coordinates > 0 {
        Ok(())
    } else {
        Err(Error::OutOfRange { parameter: "coordinates", allowed: "at least 1" })
    }
}

impl<N: Norm> fmt::Display for Sensitivity<N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.0, f)
    }
}

/// The public spacing of released numbers: a power of two.
///
/// Every real-valued mechanism releases an integer multiple of its grid. The
/// grid is chosen from public parameters alone, so it says nothing about the
/// data, and a multiple of a power of two is exact in binary.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Grid {
    exponent: i32,
}

impl Grid {
    /// The grid of the integers.
    pub const ONE: Self = Self { exponent: 0 };

    /// The grid of multiples of 2^`exponent`.
    pub fn power_of_two(exponent: i32) -> Result<Self> {
        if (-1000..=1000).contains(&exponent) {
            Ok(Self { exponent })
        } else {
            Err(Error::OutOfRange {
                parameter: "grid",
                allowed: "a power of two between 2^-1000 and 2^1000",
            })
        }
    }

    /// A grid of about a millionth of `scale`. Rounding to it adds less than 10⁻¹² of the variance
    /// of the noise (for scales of 2^±980 or beyond, the
    /// nearest grid there is).
    pub fn for_scale(scale: f64) -> Result<Self> {
        if !(scale.is_finite() && scale >= f64::MIN_POSITIVE) {
            return Err(Error::OutOfRange {
                parameter: "scale",
                allowed: "a finite number of at least 2^-1022",
            });
        }
        let exponent = ((scale.to_bits() >> 52) & 0x7ff) as i32 - 1023;
        Self::power_of_two(exponent.saturating_sub(20).clamp(-1000, 1000))
    }

    /// log₂ of the spacing.
    #[must_use]
    pub fn exponent(self) -> i32 {
        self.exponent
    }

    /// The spacing, exactly.
    #[must_use]
    pub fn spacing(self) -> f64 {
        2f64.powi(self.exponent)
    }

    /// The number `multiple` times the spacing, rounded to the nearest finite float (exact
    /// below 2^53 multiples). Post-processing.
    #[must_use]
    pub fn at(self, multiple: i128) -> f64 {
        (multiple as f64 * self.spacing()).clamp(f64::MIN, f64::MAX)
    }
}

#[cfg(test)]
mod tests;
