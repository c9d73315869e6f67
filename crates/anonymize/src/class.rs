//! Equivalence classes: rows that look alike in the release.

/// How often each value of one sensitive column occurs.
///
/// `counts[v]` belongs to the value with code v of that column; values that do
/// not occur have 0. All counts are exact.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Histogram {
    /// One count per distinct value of the column.
    pub counts: Vec<u64>,
}

impl Histogram {
    /// How many rows.
    #[must_use]
    pub fn total(&self) -> u64 {
        self.counts.iter().sum()
    }
}

/// One class of a release.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Class {
    /// How many rows it has.
    pub size: u64,
    /// One histogram per sensitive column, in the order they were declared.
    pub sensitive: Vec<Histogram>,
}
