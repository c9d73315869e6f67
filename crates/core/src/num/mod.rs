//! Exact and certified arithmetic, small enough to read.
//!
//! | file | what |
//! |---|---|
//! | `demure-natural` | natural numbers of any size, shared with the anonymizer |
//! | `ratio` | non-negative rationals; every float is one |
//! | `enclosure` | certified intervals of any precision: `e^x`, π, `√x` |
//! | `fast` | `ln` and `e^−x` in floats with a *stated* error, for the fast paths |
//! | `directed` | floats rounded up or down |
//! | `wide` | floats whose exponents never overflow |
//! | `normal` | the normal distribution, enclosed |
//! | `lattice` | sums of the bell curve over the integers, enclosed |

pub(crate) mod ball;
pub(crate) mod directed;
mod enclosure;
pub(crate) mod fast;
pub(crate) mod fft;
pub(crate) mod lattice;
pub(crate) mod normal;
mod ratio;
pub(crate) mod wide;

pub(crate) use demure_natural::Natural;
pub(crate) use enclosure::Enclosure;
pub(crate) use ratio::Ratio;
