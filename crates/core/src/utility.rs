//! Error bounds, and the ε or the number of people for a wanted accuracy.
//!
//! A mechanism that implements [`Accuracy`] has an error bound: the error that it exceeds with
//! probability at most β. From that follow the error of the worst of m answers, the least ε for a
//! wanted error, and the least number of people for a wanted error.
//!
//! ```
//! use demure_core::mechanism::{Count, Rows};
//! use demure_core::unit::{Beta, Neighbours};
//! use demure_core::utility::{Accuracy, epsilon_for_error};
//!
//! // The ε for which a count is within 10 with 95 % confidence.
//! let beta = Beta::new(0.05)?;
//! let error = |epsilon| Count::new(epsilon, Neighbours::AddRemove, Rows::AtMost(1))?.error(beta);
//! let epsilon = epsilon_for_error(10.0, error)?;
//! assert!(error(epsilon)? <= 10.0 && epsilon.get() < 0.3);
//! # Ok::<(), demure_core::Error>(())
//! ```

use crate::error::{Error, Result};
use crate::num::directed::down;
use crate::unit::{Beta, Epsilon};

/// A mechanism whose error is bounded with known probability.
pub trait Accuracy {
    /// The error α that an answer exceeds with probability at most β: `P[|answer − truth| > α] ≤ β`,
    /// over the noise alone, rounded up. For answers of less than 2⁵³ grid steps, which floats hold
    /// exactly; a larger answer is off by its own last digit too.
    fn error(&self, beta: Beta) -> Result<f64>;

    /// The error that the worst of m answers exceeds with probability at most β:
    /// `P[max |answerᵢ − truthᵢ| > α] ≤ β`, or (α,β)-usefulness.
    ///
    /// By the union bound, `error(β/m)`; no independence is needed.
    fn error_of_all(&self, answers: u32, beta: Beta) -> Result<f64> {
        if answers == 0 {
            return Err(Error::OutOfRange { parameter: "answers", allowed: "at least 1" });
        }
        self.error(Beta::new(down(beta.get() / f64::from(answers)))?)
    }
}

/// The least ε (to a relative 10⁻⁹) whose mechanism's error is at most `wanted`.
///
/// `error_at` must not increase with ε. The answer errs on the large side.
pub fn epsilon_for_error(
    wanted: f64,
    mut error_at: impl FnMut(Epsilon) -> Result<f64>,
) -> Result<Epsilon> {
    require_error(wanted)?;
    let mut meets = |epsilon: f64| Ok(error_at(Epsilon::new(epsilon)?)? <= wanted);
    // Brackets between powers of two, then bisects geometrically.
    let (mut low, mut high) = (1.0, 1.0);
    while !meets(high)? {
        low = high;
        high *= 2.0;
        if high > 1e9 {
            return Err(Error::Infeasible {
                what: "no epsilon up to 10^9 gives this error",
                remedy: "allow a larger error or use more data",
            });
        }
    }
    while low == high || meets(low)? {
        high = low;
        low *= 0.5;
        if low < 1e-12 {
            break;
        }
    }
    while high / low > 1.0 + 1e-9 {
        let middle = (low * high).sqrt();
        if meets(middle)? { high = middle } else { low = middle }
    }
    Epsilon::new(high)
}

/// The least number n of people for which the error is at most `wanted`; `error_at` must not
/// increase with n.
pub fn count_for_error(wanted: f64, mut error_at: impl FnMut(u64) -> Result<f64>) -> Result<u64> {
    require_error(wanted)?;
    let mut high = 1u64;
    let mut meets = |n: u64| Ok(error_at(n)? <= wanted); // false for NaN
    while !meets(high)? {
        high = high.checked_mul(2).filter(|&n| n <= 1 << 60).ok_or(Error::Infeasible {
            what: "no number of people up to 2^60 gives this error",
            remedy: "allow a larger error or a larger epsilon",
        })?;
    }
    let mut low = high / 2;
    while high - low > 1 {
        let middle = low + (high - low) / 2;
        if meets(middle)? { high = middle } else { low = middle }
    }
    Ok(high)
}

fn require_error(wanted: f64) -> Result<()> {
    if wanted.is_finite() && wanted > 0.0 {
        Ok(())
    } else {
        Err(Error::OutOfRange { parameter: "error", allowed: "a finite number greater than 0" })
    }
}

#[cfg(test)]
mod tests;
