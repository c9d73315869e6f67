//! Exact numbers: what decides a threshold.
//!
//! | module | what it holds |
//! |---|---|
//! | [`fraction`] | fractions of two `u128`, compared through 256-bit products |
//! | [`Natural`] | natural numbers without a bound, for the few products that outgrow 128 bits |
//! | [`logarithm`] | the sign of `Σ eᵢ·ln xᵢ − r`, decided, not estimated |
//!
//! Nothing here rounds to nearest: a value is exact, or an interval with a
//! proven bound that is narrowed until it decides.

pub mod fraction;
pub mod logarithm;

pub use demure_natural::Natural;
pub use fraction::{Fraction, Sum};
pub use logarithm::LogSum;
