//! k-anonymity and k-map: models of sizes alone.

use super::{Measure, Model, total};
use crate::class::Class;
use crate::error::{Error, Result};
use crate::exact::Fraction;

/// k-anonymity: every class has at least k rows (Samarati and Sweeney 1998).
///
/// # Guarantee
/// Whoever knows the quasi-identifiers of a person in the table, and nothing
/// else, cannot single out one row of fewer than k.
///
/// # What it does not promise
/// Nothing about the sensitive value: k equal rows disclose it.
///
/// # Monotone
/// Yes: a union is no smaller than its parts.
#[derive(Clone, Debug)]
pub struct KAnonymity {
    k: u64,
}

impl KAnonymity {
    /// k of at least 1.
    pub fn new(k: u64) -> Result<Self> {
        if k == 0 {
            return Err(Error::OutOfRange { parameter: "k", allowed: "at least 1" });
        }
        Ok(Self { k })
    }
}

impl Model for KAnonymity {
    fn holds(&self, class: &Class, _: &Class) -> bool {
        class.size == 0 || class.size >= self.k
    }

    fn monotone(&self) -> bool {
        true
    }

    fn name(&self) -> String {
        format!("{}-anonymity", self.k)
    }

    fn measure(&self, class: &Class, _: &Class) -> Option<Measure> {
        (class.size > 0).then(|| Measure::Exact(Fraction::whole(class.size)))
    }

    fn least_size(&self) -> u64 {
        self.k
    }
}

/// k-map: every class of the release matches at least k rows of a *population*
/// table, of which the released one is a sample (Sweeney 2001).
///
/// The population comes in as one more histogram of each class, at position
/// `column`: its total is how many rows of the population look like the class.
/// So it adds up when classes merge, as all histograms do. Combinations that only
/// the population has are classes of size 0; keep them while merging, they are not
/// checked.
///
/// # Guarantee
/// Whoever knows the quasi-identifiers of a person of the population, and
/// not who is in the table, cannot tell apart fewer than k persons.
///
/// # What it does not promise
/// Anything against an observer who knows the person is in the table; anything
/// at all if the population table is not the true population.
///
/// # Monotone
/// Yes: the population rows of a union are the sum of its parts'.
#[derive(Clone, Debug)]
pub struct KMap {
    k: u64,
    column: usize,
}

impl KMap {
    /// k of at least 1; `column` is the position of the population's histogram.
    pub fn new(k: u64, column: usize) -> Result<Self> {
        if k == 0 {
            return Err(Error::OutOfRange { parameter: "k", allowed: "at least 1" });
        }
        Ok(Self { k, column })
    }
}

impl Model for KMap {
    fn holds(&self, class: &Class, _: &Class) -> bool {
        class.size == 0 || total(class, self.column).is_some_and(|(_, rows)| rows >= self.k)
    }

    fn monotone(&self) -> bool {
        true
    }

    fn name(&self) -> String {
        format!("{}-map", self.k)
    }

    fn measure(&self, class: &Class, _: &Class) -> Option<Measure> {
        let (_, rows) = total(class, self.column)?;
        (class.size > 0).then(|| Measure::Exact(Fraction::whole(rows)))
    }

    fn column(&self) -> Option<usize> {
        Some(self.column)
    }
}

#[cfg(test)]
mod tests;
