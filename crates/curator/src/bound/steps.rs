//! A value's distance from its lower bound, in grid steps: what is added, as integers, before noise.
//!
//! It is the same number as `Bounds::step` of `demure-core`, over a whole column at once. The SQL form in `windows.rs` computes it
//! too; tests compare the three.

use demure_core::mechanism::Bounds;

/// Bounds prepared for a loop.
pub(super) struct Steps {
    per_step: f64,
    lower: i64,
    upper: i64,
}

impl Steps {
    pub(super) fn new(bounds: &Bounds) -> Self {
        // A power of two: exact, and so are both quotients.
        let per_step = 1.0 / bounds.grid().spacing();
        let at = |x: f64| (x * per_step) as i64;
        Self { per_step, lower: at(bounds.lower()), upper: at(bounds.upper()) }
    }

    /// The number of steps per unit, a power of two.
    pub(super) fn per_step(&self) -> f64 {
        self.per_step
    }

    /// The bounds, in steps from 0.
    pub(super) fn range(&self) -> (i64, i64) {
        (self.lower, self.upper)
    }

    /// The distance in steps: half steps round away from 0, NaN counts as 0, and the result is clamped.
    #[inline]
    pub(super) fn of(&self, value: f64) -> u32 {
        let steps = value * self.per_step;
        let steps = (steps + 0.5f64.copysign(steps)) as i64;
        (steps.clamp(self.lower, self.upper) - self.lower) as u32
    }
}
