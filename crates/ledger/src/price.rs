//! The price of a query: an amount of ε or ρ, and a δ.

use crate::limit::Accounting;

/// An amount: Σε (pure accounting) or Σρ (zCDP), and the δ that goes with it.
///
/// Amounts spent are rounded up, amounts left are rounded down.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Price {
    /// ε or ρ.
    pub main: f64,
    /// The δ of the events themselves.
    pub delta: f64,
}

impl Price {
    /// Nothing.
    pub const ZERO: Self = Self { main: 0.0, delta: 0.0 };

    /// Whether it is at most `limit`, in both amounts.
    #[must_use]
    pub fn within(self, limit: Self) -> bool {
        self.main <= limit.main && self.delta <= limit.delta
    }

    /// What can still be bought in one piece under the limit `self`; 0 if nothing can.
    ///
    /// # Guarantee
    /// `spent + left`, rounded up as the filter does, is at most the limit.
    /// # Proof
    /// The filter adds nothing to 0 exactly, and rounds any other sum to the next
    /// float above the nearest. Here `spent + left` is at most the float below the
    /// limit; so is the float nearest to it; and the next one is at most the limit. ∎
    #[must_use]
    pub(crate) fn left_after(self, spent: Self) -> Self {
        let left = |limit: f64, spent: f64| {
            if spent == 0.0 { limit } else { subtract_down(limit.next_down(), spent) }
        };
        Self { main: left(self.main, spent.main), delta: left(self.delta, spent.delta) }
    }

    /// `ε 0.5 and δ 1e-6`.
    #[must_use]
    pub(crate) fn in_words(self, accounting: Accounting) -> String {
        let Self { main, delta } = self;
        let currency = match accounting {
            Accounting::Pure => "epsilon",
            Accounting::Zcdp => "rho",
        };
        let main = rounded(main);
        if delta == 0.0 {
            return format!("{currency} {main}");
        }
        format!("{currency} {main} and delta {delta:.1e}")
    }
}

/// Rounded to six significant digits: for display, never for a comparison.
fn rounded(x: f64) -> String {
    if x == 0.0 || !x.is_finite() {
        return x.to_string();
    }
    if x.abs() < 1e-6 {
        return format!("{x:.1e}");
    }
    let unit = 10f64.powi(5 - x.abs().log10().floor() as i32);
    if unit.is_finite() { (x * unit).round() / unit } else { x }.to_string()
}

/// `a − b` rounded down, exactly for b = 0, and at least 0.
pub(crate) fn subtract_down(a: f64, b: f64) -> f64 {
    if b == 0.0 { a.max(0.0) } else { (a - b).next_down().max(0.0) }
}

#[cfg(test)]
mod tests;
