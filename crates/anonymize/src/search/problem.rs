//! What is asked of the search, and what it answers.

use crate::class::Class;
use crate::hierarchy::{Hierarchy, STAR};
use crate::model::Model;
use crate::population::Population;
use crate::table::Table;
use std::fmt;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

/// A quasi-identifier: a column an observer may know, and how it becomes coarser.
#[derive(Clone, Debug)]
pub struct Quasi {
    /// The column's position in the table.
    pub column: usize,
    /// Its hierarchy, over the codes of that column.
    pub hierarchy: Hierarchy,
}

/// How many rows may be replaced by `*` altogether.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Suppression {
    /// At most so many rows.
    Count(u64),
    /// At most this share of the table's rows, from 0 to 1; rounded down.
    Share(f64),
}

impl Suppression {
    /// The limit as a number of rows.
    #[must_use]
    pub fn rows(self, table: u64) -> u64 {
        match self {
            Self::Count(count) => count.min(table),
            // A share written in decimal (0.07) may fall a hair short of the
            // integer it means; one part in 10¹² is given back before rounding.
            Self::Share(share) => {
                ((share * table as f64 * (1.0 + 1e-12)).floor() as u64).min(table)
            }
        }
    }
}

impl fmt::Display for Suppression {
    /// As it is typed: `25` or `4%`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Count(count) => write!(f, "{count}"),
            // 0.07 · 100 is 7.000000000000001: nine digits are enough for a share.
            Self::Share(share) => write!(f, "{}%", (share * 1e11).round() / 1e9),
        }
    }
}

/// What the search minimizes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Metric {
    /// ARX's Loss: `Π(1 + L_a)^(1/d) − 1`, where `L_a = (Σ share − N/size) / (N − N/size)`,
    /// share is the leaves under a cell's label over all leaves, 1 if suppressed.
    /// Each `L_a` is cut to ten decimals, as ARX does.
    Loss,
    /// `1 − precision`: the mean over all cells of level/height, 1 if suppressed.
    Precision,
    /// `Σ|E|² + N · suppressed`, over the classes E that stay.
    Discernibility,
    /// `N / (classes + 1 if anything is suppressed)`.
    AverageClassSize,
}

/// A table and what its release must satisfy.
pub struct Problem<'a> {
    /// The original table.
    pub table: &'a Table,
    /// The quasi-identifiers, in the order levels are listed.
    pub quasi: Vec<Quasi>,
    /// The positions of the sensitive columns, in the order models count them.
    pub sensitive: Vec<usize>,
    /// The rows among which those of the table are, if a model asks. Each class then has one more
    /// histogram, after those of the sensitive columns, with one count: how many look like it.
    pub population: Option<&'a Population>,
    /// Every class that stays satisfies all of them.
    pub models: Vec<Box<dyn Model>>,
    /// How many rows may be suppressed.
    pub limit: Suppression,
    /// What is minimized.
    pub metric: Metric,
}

/// How to search.
#[derive(Clone, Copy)]
pub struct Options<'a> {
    /// Threads; 0 means as many as the machine has.
    pub threads: usize,
    /// Stop after this long with the best found so far and the gap proven.
    pub time: Option<Duration>,
    /// Stop as soon as it is true, likewise.
    pub cancel: Option<&'a AtomicBool>,
    /// Called now and then, from any thread.
    pub progress: Option<&'a (dyn Fn(Progress) + Sync)>,
    /// About how many bytes the search may keep in grouped tables besides the
    /// first; beyond them it regroups from finer ones, which is slower.
    pub memory: usize,
}

impl Default for Options<'_> {
    fn default() -> Self {
        Self { threads: 0, time: None, cancel: None, progress: None, memory: 1 << 30 }
    }
}

/// Where a search stands.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Progress {
    /// How many lattice nodes were grouped and checked.
    pub checked: u64,
    /// How many nodes are decided: checked, or proven no better.
    pub decided: f64,
    /// How many nodes the lattice has.
    pub nodes: f64,
    /// The best score so far.
    pub best: Option<f64>,
}

/// A release found: one level for each quasi-identifier.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// The level of each quasi-identifier.
    pub levels: Vec<usize>,
    /// The metric's value; smaller is better.
    pub score: f64,
    /// How many rows are suppressed.
    pub suppressed: u64,
    /// The classes that stay, in order of their groups.
    pub classes: Vec<Labelled>,
    /// No other choice of levels scores less.
    pub proven: bool,
    /// `score` minus a proven lower bound on any release's score; 0 when proven.
    pub gap: f64,
    /// How many lattice nodes were grouped and checked.
    pub checked: u64,
    /// For each row of the table its class's position in `classes`, or
    /// [`SUPPRESSED`].
    pub assignment: Vec<u32>,
}

/// The class of a suppressed row in [`Outcome::assignment`].
pub const SUPPRESSED: u32 = u32::MAX;

/// A class with the groups its rows carry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Labelled {
    /// For each quasi-identifier, the group in its hierarchy at the level chosen.
    pub groups: Vec<u32>,
    /// Size and histograms.
    pub class: Class,
}

impl Labelled {
    /// The labels of the class, given the problem and the levels chosen.
    #[must_use]
    pub fn labels<'p>(&self, problem: &'p Problem<'_>, levels: &[usize]) -> Vec<&'p str> {
        let label = |((quasi, &level), &group): ((&'p Quasi, &usize), &u32)| {
            let level = quasi.hierarchy.levels.get(level);
            level.and_then(|level| level.labels.get(group as usize)).map_or(STAR, String::as_str)
        };
        problem.quasi.iter().zip(levels).zip(&self.groups).map(label).collect()
    }
}

/// No choice of levels satisfies the models within the suppression limit.
#[derive(Clone, Debug)]
pub struct NoSolution {
    /// Whether every node was decided; false if the search was stopped first.
    pub proven: bool,
    /// The levels, among those checked, that come nearest.
    pub levels: Vec<usize>,
    /// How many rows would have to be suppressed there.
    pub suppressed: u64,
    /// How many were allowed.
    pub limit: u64,
    /// How many lattice nodes were grouped and checked.
    pub checked: u64,
}

/// What a search answers.
#[derive(Clone, Debug)]
pub enum Answer {
    /// A release.
    Release(Outcome),
    /// There is none, or none was found in time.
    NoSolution(NoSolution),
}
