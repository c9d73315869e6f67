//! Privacy events: the language between mechanisms, accountants and the ledger.
//!
//! Every mechanism makes its own event; events can also be written as text.
//!
//! ```
//! use demure_core::event::Event;
//! use demure_core::mechanism::{Count, Rows};
//! use demure_core::unit::{Epsilon, Neighbours};
//!
//! let count = Count::new(Epsilon::new(0.1)?, Neighbours::AddRemove, Rows::AtMost(1))?;
//! let ten_counts = count.event().repeat(10)?;
//! assert_eq!(ten_counts.to_string(), "pure(eps=0.1)*10");
//! assert_eq!(Event::parse("pure(eps=0.1)*10"), Ok(ten_counts));
//! # Ok::<(), demure_core::Error>(())
//! ```
//!
//! The grammar is append-only: a variant, once released, keeps its meaning, so
//! that an old ledger can always be read and re-accounted with newer theorems.
//!
//! # Neighbours
//! An event says what was done but not to whom; [`crate::account::Account`] prices it for a neighbour relation.
//!
//! - *Noise* ([`Event::Laplace`], [`Event::Gaussian`] and the discrete ones) is
//!   stated relative to the distance 1 that adding or removing one unit moves
//!   the query. Replacing a unit is a removal and an addition, so under
//!   [`Neighbours::Replace`] a sum or a histogram moves by up to 2 and the same
//!   noise costs twice the ε (four times the ρ). That is the default. A query
//!   that moves less (a count of rows that satisfy a predicate moves by 1 under
//!   both relations) says so: [`Noise::replacing`].
//! - A *guarantee* ([`Event::Pure`], [`Event::Approximate`],
//!   [`Event::Concentrated`], [`Event::Response`], [`Event::Exponential`]) is
//!   already a statement about neighbours: it holds for the relation the
//!   account is made for. Where a theorem needs it for the other relation too,
//!   the account is refused.
//!
//! # Numbers
//! A decimal, a fraction or a logarithm is read to the nearest float; what
//! [`Event`] displays is what is accounted for.

mod parse;
mod template;

pub use parse::ParseError;
pub use template::{Direction, Template};

use crate::error::{Error, Result};
use crate::unit::{Delta, Epsilon, Neighbours, Rho};
use std::fmt;
use std::num::NonZeroU64;

/// The amount of noise, relative to how far one unit moves the query.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Noise {
    scale: f64,
    replace: f64,
}

impl Noise {
    /// Noise of `scale` on a query that moves by 1 when a unit is added or
    /// removed, and hence by at most 2 when one is replaced.
    pub fn new(scale: f64) -> Result<Self> {
        if scale.is_finite() && scale >= f64::MIN_POSITIVE {
            Ok(Self { scale, replace: 2.0 })
        } else {
            Err(Error::OutOfRange {
                parameter: "the scale of noise",
                allowed: "a finite number of at least 2^-1022",
            })
        }
    }

    /// The same noise on a query that moves by `distance` when a unit is
    /// replaced; the triangle inequality makes more than 2 impossible.
    pub fn replacing(self, distance: f64) -> Result<Self> {
        if distance > 0.0 && distance <= 2.0 {
            Ok(Self { replace: distance, ..self })
        } else {
            Err(Error::OutOfRange {
                parameter: "the distance under replace",
                allowed: "greater than 0 and at most 2",
            })
        }
    }

    /// The scale b or σ, relative to a distance of 1.
    #[must_use]
    pub fn scale(self) -> f64 {
        self.scale
    }

    /// How far one step of the relation moves the query.
    #[must_use]
    pub fn distance(self, neighbours: Neighbours) -> f64 {
        match neighbours {
            Neighbours::AddRemove => 1.0,
            Neighbours::Replace => self.replace,
        }
    }
}

/// The amount of noise on an integer query, and how far one unit moves the query.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LatticeNoise {
    scale: f64,
    sensitivity: NonZeroU64,
    replace: NonZeroU64,
}

impl LatticeNoise {
    /// Noise of `scale` on an integer query that moves by at most
    /// `sensitivity` when a unit is added or removed, by twice that when one is
    /// replaced.
    pub fn new(scale: f64, sensitivity: NonZeroU64) -> Result<Self> {
        let scale = Noise::new(scale)?.scale();
        // Beyond 2³² no integer distance is of use, and squares would overflow.
        if sensitivity.get() > 1 << 32 {
            return Err(Error::OutOfRange { parameter: "sensitivity", allowed: "at most 2^32" });
        }
        let replace = sensitivity.saturating_mul(NonZeroU64::MIN.saturating_add(1));
        Ok(Self { scale, sensitivity, replace })
    }

    /// The same noise on a query that moves by `distance` when a unit is
    /// replaced, at most twice the sensitivity.
    pub fn replacing(self, distance: NonZeroU64) -> Result<Self> {
        if distance.get() <= 2 * self.sensitivity.get() {
            Ok(Self { replace: distance, ..self })
        } else {
            Err(Error::OutOfRange {
                parameter: "the distance under replace",
                allowed: "at most twice the sensitivity",
            })
        }
    }

    /// The scale of the noise, in integers.
    #[must_use]
    pub fn scale(self) -> f64 {
        self.scale
    }

    /// How far one step of the relation moves the query, in integers.
    #[must_use]
    pub fn distance(self, neighbours: Neighbours) -> u64 {
        match neighbours {
            Neighbours::AddRemove => self.sensitivity.get(),
            Neighbours::Replace => self.replace.get(),
        }
    }
}

/// A probability of being sampled: 0 < q ≤ 1.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd)]
pub struct Rate(f64);

impl Rate {
    /// Validates a rate: greater than 0 and at most 1.
    pub fn new(q: f64) -> Result<Self> {
        if q > 0.0 && q <= 1.0 {
            Ok(Self(q))
        } else {
            Err(Error::OutOfRange {
                parameter: "q (the sampling rate)",
                allowed: "greater than 0 and at most 1",
            })
        }
    }

    /// The number itself.
    #[must_use]
    pub fn get(self) -> f64 {
        self.0
    }
}

/// Why the parts of a parallel composition are disjoint, and so what a
/// neighbour can change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Disjoint {
    /// Parts are separated by a value in the unit's own data (a region, an age band) from a
    /// public list. Under add/remove one part is touched, and the cost is the largest.
    /// Under replace the value may change: the unit leaves one part and enters
    /// another, so *two* parts are touched, each as by add/remove.
    ByKey,
    /// Parts are separated by something that replacing the unit's data does not change: its id, a
    /// hash of it, its row number, a split drawn beforehand. One part is
    /// touched under either relation.
    ById,
}

/// What was done to protected data.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Event {
    /// Laplace noise of scale b.
    Laplace(Noise),
    /// Gaussian noise of standard deviation σ.
    Gaussian(Noise),
    /// Two-sided geometric noise, `P[k] ∝ e^(−|k|/b)`.
    DiscreteLaplace(LatticeNoise),
    /// Discrete Gaussian noise, `P[k] ∝ e^(−k²/2σ²)`.
    DiscreteGaussian(LatticeNoise),
    /// Randomized response among `categories` answers: the truth with
    /// probability `e^ε/(e^ε + categories − 1)`.
    Response {
        /// The log-ratio of truth to any other answer.
        epsilon: Epsilon,
        /// At least 2.
        categories: u32,
    },
    /// Selection by the exponential mechanism, of bounded range ε.
    Exponential {
        /// The width of the range of the privacy loss.
        epsilon: Epsilon,
    },
    /// Any ε-DP mechanism.
    Pure {
        /// Its ε.
        epsilon: Epsilon,
    },
    /// Any (ε,δ)-DP mechanism.
    Approximate {
        /// Its ε.
        epsilon: Epsilon,
        /// Its δ.
        delta: Delta,
    },
    /// Any ρ-zCDP mechanism.
    Concentrated {
        /// Its ρ.
        rho: Rho,
    },
    /// Several events on the same data, one after another.
    Compose(Vec<Event>),
    /// One event k times.
    Repeat(Box<Event>, NonZeroU64),
    /// Several events, each on its own part of the data.
    Parallel {
        /// What was done to each part.
        parts: Vec<Event>,
        /// Why no unit is in two parts.
        because: Disjoint,
    },
    /// An event on a sample that holds each unit independently with probability `rate`.
    PoissonSample {
        /// The probability.
        rate: Rate,
        /// What was done to the sample.
        event: Box<Event>,
    },
    /// An event on `sample` of `population` units, drawn without replacement.
    FixedSizeSample {
        /// Units in all.
        population: NonZeroU64,
        /// Units drawn, at most as many.
        sample: NonZeroU64,
        /// What was done to the sample.
        event: Box<Event>,
    },
    /// `reports` units each randomize their own value; a shuffler forgets who sent which.
    Shuffle {
        /// The number of reports.
        reports: NonZeroU64,
        /// The event of each report.
        local: Box<Event>,
    },
    /// A function of what another event released: it costs nothing more.
    PostProcess(Box<Event>),
}

impl Event {
    /// Laplace noise of scale b on a query of sensitivity 1.
    pub fn laplace(b: f64) -> Result<Self> {
        Ok(Self::Laplace(Noise::new(b)?))
    }

    /// Gaussian noise of standard deviation σ on a query of sensitivity 1.
    pub fn gaussian(sigma: f64) -> Result<Self> {
        Ok(Self::Gaussian(Noise::new(sigma)?))
    }

    /// Two-sided geometric noise on an integer query.
    pub fn discrete_laplace(b: f64, sensitivity: u64) -> Result<Self> {
        Ok(Self::DiscreteLaplace(LatticeNoise::new(b, positive("sensitivity", sensitivity)?)?))
    }

    /// Discrete Gaussian noise on an integer query.
    pub fn discrete_gaussian(sigma: f64, sensitivity: u64) -> Result<Self> {
        Ok(Self::DiscreteGaussian(LatticeNoise::new(sigma, positive("sensitivity", sensitivity)?)?))
    }

    /// Randomized response among two or more answers.
    pub fn response(epsilon: f64, categories: u32) -> Result<Self> {
        if categories < 2 {
            return Err(Error::OutOfRange { parameter: "categories", allowed: "at least 2" });
        }
        Ok(Self::Response { epsilon: Epsilon::new(epsilon)?, categories })
    }

    /// Selection by the exponential mechanism.
    pub fn exponential(epsilon: f64) -> Result<Self> {
        Ok(Self::Exponential { epsilon: Epsilon::new(epsilon)? })
    }

    /// Any ε-DP mechanism.
    pub fn pure(epsilon: f64) -> Result<Self> {
        Ok(Self::Pure { epsilon: Epsilon::new(epsilon)? })
    }

    /// Any (ε,δ)-DP mechanism.
    pub fn approximate(epsilon: f64, delta: f64) -> Result<Self> {
        Ok(Self::Approximate { epsilon: Epsilon::new(epsilon)?, delta: Delta::new(delta)? })
    }

    /// Any ρ-zCDP mechanism.
    pub fn concentrated(rho: f64) -> Result<Self> {
        Ok(Self::Concentrated { rho: Rho::new(rho)? })
    }

    /// This event k times. Repeating a repetition makes a single repetition, so that no text, however long, makes a
    /// deeply nested event.
    pub fn repeat(self, k: u64) -> Result<Self> {
        let k = positive("the number of repetitions", k)?;
        if let Self::Repeat(event, inner) = self {
            let product = inner.checked_mul(k).ok_or(Error::OutOfRange {
                parameter: "the number of repetitions",
                allowed: "at most 2^64 − 1 in all",
            })?;
            return Ok(Self::Repeat(event, product));
        }
        Ok(Self::Repeat(Box::new(self), k))
    }

    /// An event on a Poisson sample of the units.
    pub fn poisson(rate: f64, event: Self) -> Result<Self> {
        Ok(Self::PoissonSample { rate: Rate::new(rate)?, event: Box::new(event) })
    }

    /// An event on m of n units, drawn without replacement.
    pub fn fixed_size(n: u64, m: u64, event: Self) -> Result<Self> {
        let (population, sample) = (positive("n", n)?, positive("m", m)?);
        if sample > population {
            return Err(Error::OutOfRange { parameter: "m", allowed: "at most n" });
        }
        Ok(Self::FixedSizeSample { population, sample, event: Box::new(event) })
    }

    /// An event of n local reports that were shuffled.
    pub fn shuffle(n: u64, local: Self) -> Result<Self> {
        Ok(Self::Shuffle { reports: positive("n", n)?, local: Box::new(local) })
    }
}

fn positive(parameter: &'static str, value: u64) -> Result<NonZeroU64> {
    NonZeroU64::new(value).ok_or(Error::OutOfRange { parameter, allowed: "at least 1" })
}

impl fmt::Display for Event {
    /// In the grammar that [`Event::parse`] reads.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let list = |f: &mut fmt::Formatter<'_>, events: &[Self]| {
            events
                .iter()
                .enumerate()
                .try_for_each(|(i, event)| write!(f, "{}{event}", if i == 0 { "" } else { ", " }))
        };
        let noise = |f: &mut fmt::Formatter<'_>, name, parameter, noise: &Noise| {
            write!(f, "{name}({parameter}={}", noise.scale)?;
            if noise.replace != 2.0 {
                write!(f, ", replace={}", noise.replace)?;
            }
            f.write_str(")")
        };
        let lattice = |f: &mut fmt::Formatter<'_>, name, parameter, noise: &LatticeNoise| {
            write!(f, "{name}({parameter}={}", noise.scale)?;
            if noise.sensitivity.get() != 1 {
                write!(f, ", sensitivity={}", noise.sensitivity)?;
            }
            if noise.replace.get() != 2 * noise.sensitivity.get() {
                write!(f, ", replace={}", noise.replace)?;
            }
            f.write_str(")")
        };
        match self {
            Self::Laplace(n) => noise(f, "laplace", "b", n),
            Self::Gaussian(n) => noise(f, "gaussian", "sigma", n),
            Self::DiscreteLaplace(n) => lattice(f, "discrete_laplace", "b", n),
            Self::DiscreteGaussian(n) => lattice(f, "discrete_gaussian", "sigma", n),
            Self::Response { epsilon, categories: 2 } => write!(f, "response(eps={epsilon})"),
            Self::Response { epsilon, categories } => {
                write!(f, "response(eps={epsilon}, categories={categories})")
            }
            Self::Exponential { epsilon } => write!(f, "exponential(eps={epsilon})"),
            Self::Pure { epsilon } => write!(f, "pure(eps={epsilon})"),
            Self::Approximate { epsilon, delta } => write!(f, "pure(eps={epsilon}, delta={delta})"),
            Self::Concentrated { rho } => write!(f, "concentrated(rho={rho})"),
            Self::Compose(events) => {
                f.write_str("compose(")?;
                list(f, events)?;
                f.write_str(")")
            }
            Self::Repeat(event, k) => write!(f, "{event}*{k}"),
            Self::Parallel { parts, because } => {
                f.write_str(match because {
                    Disjoint::ByKey => "parallel(by=key",
                    Disjoint::ById => "parallel(by=id",
                })?;
                parts.iter().try_for_each(|part| write!(f, ", {part}"))?;
                f.write_str(")")
            }
            Self::PoissonSample { rate, event } => write!(f, "poisson(q={}, {event})", rate.0),
            Self::FixedSizeSample { population, sample, event } => {
                write!(f, "fixed(n={population}, m={sample}, {event})")
            }
            Self::Shuffle { reports, local } => write!(f, "shuffle(n={reports}, {local})"),
            Self::PostProcess(event) => write!(f, "post({event})"),
        }
    }
}
