//! What a release must satisfy, class by class.
//!
//! | module | what it holds |
//! |---|---|
//! | [`anonymity`] | k-anonymity, k-map |
//! | [`diversity`] | distinct, entropy and recursive l-diversity |
//! | [`distance`] | how far two histograms are apart: variational, L2, KL, earth mover's |
//! | [`closeness`] | t-closeness, and (n,t)-closeness with natural supersets |
//! | [`subset`] | (n,ε)-closeness, an arbitrary M for each class |
//! | [`shared`] | (n,ε)-closeness, one arbitrary M for all classes |
//! | [`witness`] | the M of (n,t)-closeness, to be shown and checked |
//! | [`disclosure`] | δ-disclosure privacy, β-likeness |
//!
//! Every decision is exact. A class of 0 rows satisfies every model; a class
//! whose histogram is missing satisfies none.

pub mod anonymity;
pub mod closeness;
pub mod disclosure;
pub mod distance;
pub mod diversity;
pub mod shared;
mod shared_bound;
mod shared_search;
pub mod subset;
pub mod witness;

pub use anonymity::{KAnonymity, KMap};
pub use closeness::{NaturalCloseness, TCloseness};
pub use disclosure::{BetaLikeness, DeltaDisclosure, LogBase};
pub use distance::Distance;
pub use diversity::{DistinctDiversity, EntropyDiversity, RecursiveDiversity};
pub use shared::SharedSubset;
pub use subset::ArbitrarySubset;
pub use witness::{ReferenceSet, Witness};

use crate::class::{Class, Histogram};
use crate::exact::Fraction;
use std::fmt;

/// A condition on the classes of a release.
///
/// `table` is the whole original table as one class: its rows include those
/// that are later suppressed.
pub trait Model: Send + Sync {
    /// Whether the class satisfies the model, exactly.
    ///
    /// For a model that [`needs_ancestors`](Self::needs_ancestors) the only natural
    /// supersets taken are the class itself and the whole table; for one that is
    /// not [`per_class`](Self::per_class) this is a necessary condition only.
    fn holds(&self, class: &Class, table: &Class) -> bool;

    /// Whether the union of two classes that satisfy the model always satisfies
    /// it, so that generalizing further cannot break it and a search may prune.
    fn monotone(&self) -> bool;

    /// The model with its parameters, such as `3-anonymity`.
    fn name(&self) -> String;

    /// How far the class is from the limit, in the unit of the model's parameter;
    /// `None` where the class has no rows or the model has no such number.
    fn measure(&self, class: &Class, table: &Class) -> Option<Measure>;

    /// Which sensitive column it is bound to; `None` for models of sizes.
    fn column(&self) -> Option<usize> {
        None
    }

    /// No class with fewer rows satisfies the model: safe to prune by, monotone
    /// model or not.
    fn least_size(&self) -> u64 {
        0
    }

    /// Of a class that fails, how many rows at least are suppressed however it is
    /// split into classes, if those that satisfy the model are to stay.
    ///
    /// If the model is monotone and all parts satisfied it, so would the class:
    /// at least 1. Otherwise 0.
    fn least_removed(&self, class: &Class, table: &Class) -> u64 {
        let _ = (class, table);
        u64::from(self.monotone())
    }

    /// What whoever publishes must be told.
    fn warning(&self) -> Option<&'static str> {
        None
    }

    /// Whether [`holds_among`](Self::holds_among) has to be asked instead of `holds`.
    fn needs_ancestors(&self) -> bool {
        false
    }

    /// No superset of fewer rows serves.
    fn least_superset(&self) -> u64 {
        0
    }

    /// `holds`, with the class's ancestors: classes of coarser releases (lattice)
    /// or of earlier splits (Mondrian) that contain it. The class itself and
    /// the whole table need not be among them.
    fn holds_among(
        &self,
        class: &Class,
        ancestors: &mut dyn Iterator<Item = &Class>,
        table: &Class,
    ) -> bool {
        let _ = ancestors;
        self.holds(class, table)
    }

    /// The set M that serves the class, for models that ask for one: of those that the model
    /// allows, among them the ancestors given, one that is nearest. `None` if none serves.
    fn witness(
        &self,
        class: &Class,
        ancestors: &mut dyn Iterator<Item = &Class>,
        table: &Class,
    ) -> Option<Witness> {
        let _ = (class, ancestors, table);
        None
    }

    /// One set M that serves all classes, for a model that asks for one.
    fn witness_all(&self, classes: &[Class], table: &Class) -> Option<Witness> {
        let _ = (classes, table);
        None
    }

    /// Whether a set with these counts serves the class, exactly, and how far it is; `None` for
    /// models that ask for no set. That a set is *natural* cannot be seen from its counts.
    fn verify(&self, class: &Class, counts: &[u64], table: &Class) -> Option<(bool, Measure)> {
        let _ = (class, counts, table);
        None
    }

    /// Whether a release satisfies the model as soon as each class does.
    fn per_class(&self) -> bool {
        true
    }

    /// Whether the whole release satisfies the model. Differs from `holds` for all
    /// only where the model is not [`per_class`](Self::per_class).
    fn holds_all(&self, classes: &[Class], table: &Class) -> bool {
        classes.iter().all(|class| self.holds(class, table))
    }
}

/// A number a model measures.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum Measure {
    /// Exact.
    Exact(Fraction),
    /// The square root of an exact fraction.
    Root(Fraction),
    /// A double near the value: for show. The decision did not use it.
    Near(f64),
    /// Larger than any number.
    Infinite,
}

impl Measure {
    /// For plots.
    #[must_use]
    pub fn to_f64(self) -> f64 {
        match self {
            Self::Exact(fraction) => fraction.to_f64(),
            Self::Root(square) => square.to_f64().sqrt(),
            Self::Near(value) => value,
            Self::Infinite => f64::INFINITY,
        }
    }
}

impl fmt::Display for Measure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Exact(fraction) => write!(f, "{fraction}"),
            Self::Root(square) => write!(f, "√({square})"),
            Self::Near(value) => write!(f, "{value:.6}"),
            Self::Infinite => write!(f, "∞"),
        }
    }
}

/// The counts of one sensitive column in a class and in a reference, or why there are none.
pub(crate) enum Counts<'a> {
    /// The class has no rows: nothing to ask.
    Empty,
    /// A histogram is missing, or the reference does not cover the class.
    Missing,
    /// Both, with their totals.
    Both(Pair<'a>),
}

impl<'a> Counts<'a> {
    /// Whether a condition on the counts holds: nothing is asked of a class without rows, and
    /// one whose counts are missing fails.
    pub(crate) fn satisfy(self, condition: impl FnOnce(Pair<'a>) -> bool) -> bool {
        match self {
            Self::Empty => true,
            Self::Missing => false,
            Self::Both(pair) => condition(pair),
        }
    }
}

/// A class's counts c of total m beside a reference's counts q of total N.
#[derive(Clone, Copy)]
pub(crate) struct Pair<'a> {
    pub(crate) c: &'a [u64],
    pub(crate) m: u64,
    pub(crate) q: &'a [u64],
    pub(crate) n: u64,
}

impl<'a> Pair<'a> {
    /// (c_v, q_v) for every value v.
    pub(crate) fn each(&self) -> impl Iterator<Item = (u64, u64)> + use<'a> {
        self.c.iter().copied().zip(self.q.iter().copied())
    }

    /// `c·N` and `q·m`, which compare as the shares c/m and q/N do.
    pub(crate) fn crossed(&self, c: u64, q: u64) -> (u128, u128) {
        (u128::from(c) * u128::from(self.n), u128::from(q) * u128::from(self.m))
    }

    /// m·N, below 2¹²⁸.
    pub(crate) fn area(&self) -> u128 {
        u128::from(self.m) * u128::from(self.n)
    }
}

/// The counts of a column in a class and in a reference that contains it.
pub(crate) fn counts<'a>(class: &'a Class, reference: &'a Class, column: usize) -> Counts<'a> {
    if class.size == 0 {
        return Counts::Empty;
    }
    let (Some(c), Some(q)) = (total(class, column), total(reference, column)) else {
        return Counts::Missing;
    };
    let pair = Pair { c: c.0, m: c.1, q: q.0, n: q.1 };
    if pair.c.len() != pair.q.len() || pair.m == 0 || pair.each().any(|(c, q)| c > q) {
        return Counts::Missing;
    }
    Counts::Both(pair)
}

/// A histogram with its total; `None` where it is missing or passes 2⁶⁴.
pub(crate) fn total(class: &Class, column: usize) -> Option<(&[u64], u64)> {
    let Histogram { counts } = class.sensitive.get(column)?;
    let total = counts.iter().try_fold(0_u64, |sum, &count| sum.checked_add(count))?;
    Some((counts, total))
}

#[cfg(test)]
pub(crate) mod testing;
