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
mod tests {
    use super::*;

    #[test]
    fn trouble_widens_and_never_narrows() {
        let lost = Interval::new(f64::NAN, f64::NAN);
        assert_eq!((lost.lower, lost.upper), (0.0, f64::INFINITY));
        assert_eq!(Interval::new(-1.0, 2.0).lower, 0.0);
        let (a, b) = (Interval::new(1.0, 3.0), Interval::new(2.0, 4.0));
        assert_eq!(a.and(&b), Ok(Interval::new(2.0, 3.0)));
        // Disjoint bounds are an error in every build, and touching ones are not.
        assert_eq!(a.and(&Interval::new(3.5, 4.0)), Err(CONTRADICTION));
        assert_eq!(Interval::new(0.0, 0.5).and(&a), Err(CONTRADICTION));
        assert_eq!(a.and(&Interval::new(3.0, 4.0)), Ok(Interval::new(3.0, 3.0)));
        assert_eq!(a.or(&b), Interval::new(2.0, 4.0));
        assert!(a.contains(1.5) && !a.contains(3.5));
        assert_eq!(Interval::INFINITE.relative_width(), 0.0);
        assert_eq!(Interval::at_most(f64::INFINITY).relative_width(), f64::INFINITY);
        assert_eq!(a.to_string(), "[1, 3]");
    }
}
