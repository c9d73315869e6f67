//! Intervals of an expression's possible numbers, from the bounds of its columns.
//!
//! Intervals decide how much noise a sum needs, never whether it is private: the aggregate's argument is clamped to
//! the claimed interval, so a claim that is too narrow costs accuracy, not privacy. That is why plain floats are
//! sufficient here.

/// The closed interval `[low, high]`; an infinite end is an unknown bound.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Interval {
    pub(crate) low: f64,
    pub(crate) high: f64,
}

impl Interval {
    /// All numbers.
    pub(crate) const ANY: Self = Self { low: f64::NEG_INFINITY, high: f64::INFINITY };
    /// The range of a count.
    pub(crate) const NON_NEGATIVE: Self = Self { low: 0.0, high: f64::INFINITY };

    /// The interval between the two; `ANY` if that makes no sense.
    pub(crate) fn new(low: f64, high: f64) -> Self {
        if low <= high { Self { low, high } } else { Self::ANY }
    }

    /// One number.
    pub(crate) fn point(x: f64) -> Self {
        Self::new(x, x)
    }

    /// Both ends, if both are known.
    pub(crate) fn finite(self) -> Option<(f64, f64)> {
        (self.low.is_finite() && self.high.is_finite()).then_some((self.low, self.high))
    }

    /// Whether no two of its numbers have different signs.
    pub(crate) fn has_one_sign(self) -> bool {
        self.low >= 0.0 || self.high <= 0.0
    }

    /// The smallest interval that contains both.
    pub(crate) fn union(self, other: Self) -> Self {
        Self::new(self.low.min(other.low), self.high.max(other.high))
    }

    pub(crate) fn add(self, other: Self) -> Self {
        Self::new(self.low + other.low, self.high + other.high)
    }

    pub(crate) fn sub(self, other: Self) -> Self {
        Self::new(self.low - other.high, self.high - other.low)
    }

    pub(crate) fn neg(self) -> Self {
        Self::new(-self.high, -self.low)
    }

    pub(crate) fn mul(self, other: Self) -> Self {
        // 0·∞ is 0 here: a value times 0 is 0, however large it is.
        let times = |x: f64, y: f64| if x == 0.0 || y == 0.0 { 0.0 } else { x * y };
        Self::hull(&[
            times(self.low, other.low),
            times(self.low, other.high),
            times(self.high, other.low),
            times(self.high, other.high),
        ])
    }

    /// `ANY` if the divisor may be 0 (such a row gives NULL or ±∞).
    pub(crate) fn div(self, other: Self) -> Self {
        if other.low <= 0.0 && other.high >= 0.0 {
            return Self::ANY;
        }
        Self::hull(&[
            self.low / other.low,
            self.low / other.high,
            self.high / other.low,
            self.high / other.high,
        ])
    }

    /// `x % y` if y is a known number.
    pub(crate) fn rem(self, other: Self) -> Self {
        let size = other.low.abs().max(other.high.abs());
        let low = if self.low >= 0.0 { 0.0 } else { self.low.max(-size) };
        let high = if self.high <= 0.0 { 0.0 } else { self.high.min(size) };
        Self::new(low, high)
    }

    pub(crate) fn abs(self) -> Self {
        let far = self.low.abs().max(self.high.abs());
        let near = if self.low <= 0.0 && self.high >= 0.0 {
            0.0
        } else {
            self.low.abs().min(self.high.abs())
        };
        Self::new(near, far)
    }

    pub(crate) fn least(self, other: Self) -> Self {
        Self::new(self.low.min(other.low), self.high.min(other.high))
    }

    pub(crate) fn greatest(self, other: Self) -> Self {
        Self::new(self.low.max(other.low), self.high.max(other.high))
    }

    /// The image under a non-decreasing function.
    pub(crate) fn rising(self, f: fn(f64) -> f64) -> Self {
        let at = |x: f64| if x.is_finite() { f(x) } else { x };
        Self::new(at(self.low), at(self.high))
    }

    /// `x ^ exponent`; `ANY` where some power is no number, or infinite.
    pub(crate) fn power(self, exponent: f64) -> Self {
        let whole = exponent.fract() == 0.0;
        let at = |x: f64| x.powf(exponent);
        match exponent {
            _ if self.low < 0.0 && !whole => Self::ANY,
            negative if negative < 0.0 && self.low <= 0.0 && self.high >= 0.0 => Self::ANY,
            // An even power of numbers of both signs is least at 0.
            even if even % 2.0 == 0.0 && whole => {
                let size = self.abs();
                Self::hull(&[at(size.low), at(size.high)])
            }
            _ => Self::hull(&[at(self.low), at(self.high)]),
        }
    }

    fn hull(ends: &[f64]) -> Self {
        if ends.iter().any(|x| x.is_nan()) {
            return Self::ANY;
        }
        let low = ends.iter().copied().fold(f64::INFINITY, f64::min);
        let high = ends.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        Self::new(low, high)
    }
}

#[cfg(test)]
mod tests;
