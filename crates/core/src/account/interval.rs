//! An interval with both ends certified.

use crate::error::{Error, Result};
use std::fmt;

/// Two methods certify bounds that exclude each other: a bug in Demure.
pub(crate) const CONTRADICTION: Error =
    Error::Precision { what: "a privacy loss on which two certified bounds contradict each other" };

/// A certified interval: the truth lies in `[lower, upper]`. Charge the upper end.
///
/// Either end may be ∞, where no finite ε is enough.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Interval {
    /// A lower bound on the truth.
    pub lower: f64,
    /// An upper bound on the truth.
    pub upper: f64,
}

impl Interval {
    /// No finite number is enough.
    pub const INFINITE: Self = Self { lower: f64::INFINITY, upper: f64::INFINITY };

    /// The interval `[lower, upper]`, ends kept at 0 or above. A NaN becomes the end that
    /// claims nothing: 0 below, ∞ above.
    #[must_use]
    pub fn new(lower: f64, upper: f64) -> Self {
        let upper = if upper.is_nan() { f64::INFINITY } else { upper.max(0.0) };
        let lower = if lower.is_nan() { 0.0 } else { lower.max(0.0) };
        Self { lower: lower.min(upper), upper }
    }

    /// An interval with only an upper end.
    #[must_use]
    pub fn at_most(upper: f64) -> Self {
        Self::new(0.0, upper)
    }

    /// The relative width `(upper − lower) / upper`; 0 for a single point, ∞ if only the upper end is infinite.
    #[must_use]
    pub fn relative_width(&self) -> f64 {
        if self.lower == self.upper {
            0.0
        } else if self.upper.is_infinite() {
            f64::INFINITY
        } else {
            (self.upper - self.lower) / self.upper
        }
    }

    /// Whether `x` is in the interval.
    #[must_use]
    pub fn contains(&self, x: f64) -> bool {
        self.lower <= x && x <= self.upper
    }

    /// The intersection of two intervals that both contain the truth.
    ///
    /// Disjoint intervals prove that one of the two is wrong, but not which: that is `CONTRADICTION`, in every build.
    pub fn and(&self, other: &Self) -> Result<Self> {
        if self.lower <= other.upper && other.lower <= self.upper {
            Ok(Self::new(self.lower.max(other.lower), self.upper.min(other.upper)))
        } else {
            Err(CONTRADICTION)
        }
    }

    /// The worse of two cases, either of which may apply.
    #[must_use]
    pub fn or(&self, other: &Self) -> Self {
        Self::new(self.lower.max(other.lower), self.upper.max(other.upper))
    }
}

impl fmt::Display for Interval {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "[{}, {}]", self.lower, self.upper)
    }
}

#[cfg(test)]
mod tests;
