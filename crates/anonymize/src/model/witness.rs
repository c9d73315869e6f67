//! The set of rows that (n,t)-closeness compares a class with: found, named and checked.

use super::Measure;

/// Which set a class is compared with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReferenceSet {
    /// The class itself, which has n rows.
    Itself,
    /// The ancestor at this position among those given.
    Ancestor(usize),
    /// The whole table.
    Table,
    /// Any rows of the table, chosen to be near.
    Chosen,
}

/// The set M that serves a class, or all classes, as far as the sensitive column sees it.
#[derive(Clone, Debug, PartialEq)]
pub struct Witness {
    /// Which rows.
    pub set: ReferenceSet,
    /// How many rows of each value.
    pub counts: Vec<u64>,
    /// How far it is from the class; for all classes, from the farthest.
    pub measure: Measure,
}

impl Witness {
    /// How many rows it has.
    #[must_use]
    pub fn rows(&self) -> u64 {
        self.counts.iter().sum()
    }
}
