//! Linkage: what a published, anonymized table says about somebody whose quasi-identifiers are known.
//!
//! The attacker finds the rows that may be the target's (their *candidates*) and looks at the
//! sensitive values there.
//!
//! | finding | what falls | by |
//! |---|---|---|
//! | [`Finding::Unique`] | who it is | one candidate row: k = 1 |
//! | [`Finding::Homogeneous`] | the value, though k rows fit | all candidates have the same one |
//! | [`Finding::Known`] | the value, to somebody who rules some out | background knowledge |
//! | [`Finding::Intersected`] | the value, to somebody with two releases | one value is possible in both |
//!
//! | file | what |
//! |---|---|
//! | `mod.rs` | what is learnt of a person from the classes that may hold them |
//! | `releases` | the tables, their classes, and who may be in which |
//! | `cells` | which labels may stand for a value |
//! | `made_up` | patients, and two releases of them |
//!
//! All of it is counting: a finding is certain if the published rows are truthful, the target is
//! in the table, and what is ruled out is truly so.
//!
//! # References
//! Sweeney 2002 (k-anonymity); Machanavajjhala et al. 2007 (homogeneity, background knowledge);
//! Ganta, Kasiviswanathan & Smith 2008 (intersection of releases); Martin et al. 2007 (worst-case
//! background knowledge).

mod cells;
mod made_up;
mod releases;

pub use made_up::{PATIENTS, patients};
pub use releases::{Fallen, Linked, Release, Tables};

use crate::error::{Error, Result};
use std::fmt;

/// How often each sensitive value, by its code, occurs among some rows.
pub type Histogram = Vec<u64>;

/// One person that the attacker looks for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Target {
    /// The classes of the release that may hold their row.
    pub classes: Vec<usize>,
    /// The same in a second release; empty if there is none.
    pub second: Vec<usize>,
    /// What is true, to judge guesses by.
    pub value: usize,
}

/// What gave a person away.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Finding {
    /// One row alone fits.
    Unique,
    /// Several rows fit, all with one value.
    Homogeneous,
    /// All values but one are ruled out by what the attacker knows.
    Known,
    /// One value alone is possible in both releases.
    Intersected,
    /// Several values are left.
    Open,
    /// No row fits: the person is not in the table, or its cells were not understood.
    Unmatched,
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Unique => "unique",
            Self::Homogeneous => "homogeneous",
            Self::Known => "known",
            Self::Intersected => "intersected",
            Self::Open => "open",
            Self::Unmatched => "unmatched",
        })
    }
}

impl Finding {
    /// Whether the value is learnt for certain.
    #[must_use]
    pub fn learnt(self) -> bool {
        !matches!(self, Self::Open | Self::Unmatched)
    }
}

/// What is known of one person.
#[derive(Clone, Debug, PartialEq)]
pub struct Learnt {
    /// How many rows may be theirs, in the first release.
    pub candidates: u64,
    /// How many values are left, all knowledge used.
    pub values: usize,
    /// Why.
    pub finding: Finding,
    /// The attacker's best guess, if any row fits.
    pub guess: Option<usize>,
    /// How sure the attacker is of it.
    pub confidence: f64,
    /// How many values somebody would have to rule out to be certain, from the first release alone.
    pub to_rule_out: usize,
}

/// A release, its classes' histograms, and what the attacker knows besides.
#[derive(Clone, Debug, Default)]
pub struct Linkage {
    classes: Vec<Histogram>,
    second: Vec<Histogram>,
    ruled_out: Vec<usize>,
    /// The number of sensitive values.
    values: usize,
}

impl Linkage {
    /// A release whose classes have these histograms, all over the same values.
    pub fn new(classes: Vec<Histogram>) -> Result<Self> {
        let values = classes.first().map_or(0, Vec::len);
        if values == 0 {
            return Err(Error::OutOfRange {
                parameter: "the classes",
                allowed: "at least one, over at least one sensitive value",
            });
        }
        let linkage = Self { values, ..Self::default() };
        linkage.fits(&classes)?;
        Ok(Self { classes, ..linkage })
    }

    /// The same with a second release of the same people.
    pub fn and(self, second: Vec<Histogram>) -> Result<Self> {
        self.fits(&second)?;
        Ok(Self { second, ..self })
    }

    /// The same for an attacker who rules values out, of people for whom that is true.
    #[must_use]
    pub fn knowing(self, ruled_out: Vec<usize>) -> Self {
        Self { ruled_out, ..self }
    }

    fn fits(&self, classes: &[Histogram]) -> Result<()> {
        match classes.iter().all(|class| class.len() == self.values) {
            true => Ok(()),
            false => Err(Error::Mismatch { what: "the counts of a class", of: "the values" }),
        }
    }

    /// What the attacker learns of one person.
    #[must_use]
    pub fn learn(&self, target: &Target) -> Learnt {
        let first = self.sum(&self.classes, &target.classes);
        let candidates: u64 = first.iter().sum();
        let possible = |counts: &Histogram| counts.iter().filter(|count| **count > 0).count();
        let distinct = possible(&first);
        let mut left = first.clone();
        // Nobody can truly rule out what is true: whoever does is wrong, and has learnt nothing.
        let knows = !self.ruled_out.contains(&target.value);
        let ruled_out = if knows { self.ruled_out.as_slice() } else { &[] };
        ruled_out.iter().for_each(|at| left.iter_mut().skip(*at).take(1).for_each(|c| *c = 0));
        let known = possible(&left);
        let mut weights: Vec<f64> = left.iter().map(|count| *count as f64).collect();
        if !self.second.is_empty() {
            let other = self.sum(&self.second, &target.second);
            let whole = self.sum(&self.second, &(0..self.second.len()).collect::<Vec<_>>());
            // As if the classes were independent given the value: P(v|A)·P(v|B)/P(v). What is
            // impossible in either stays impossible, whatever is independent.
            for ((weight, b), all) in weights.iter_mut().zip(&other).zip(&whole) {
                *weight = if *b == 0 { 0.0 } else { *weight * *b as f64 / *all as f64 };
            }
        }
        let values = weights.iter().filter(|weight| **weight > 0.0).count();
        let finding = match (candidates, distinct, known, values) {
            (0, ..) => Finding::Unmatched,
            (1, ..) => Finding::Unique,
            (_, 1, ..) => Finding::Homogeneous,
            (_, _, 1, _) => Finding::Known,
            (_, _, _, 1) => Finding::Intersected,
            _ => Finding::Open,
        };
        let total: f64 = weights.iter().sum();
        let best = weights.iter().enumerate().max_by(|a, b| a.1.total_cmp(b.1).then(b.0.cmp(&a.0)));
        let best = best.filter(|(_, weight)| **weight > 0.0);
        Learnt {
            candidates,
            values,
            finding,
            guess: best.map(|(value, _)| value),
            confidence: best.map_or(0.0, |(_, weight)| weight / total),
            to_rule_out: distinct.saturating_sub(1),
        }
    }

    fn sum(&self, classes: &[Histogram], which: &[usize]) -> Histogram {
        let mut sum = vec![0; self.values];
        for class in which.iter().filter_map(|at| classes.get(*at)) {
            sum.iter_mut().zip(class).for_each(|(sum, count)| *sum += count);
        }
        sum
    }

    /// What is learnt of everybody.
    #[must_use]
    pub fn everybody(&self, targets: &[Target]) -> Summary {
        let learnt: Vec<Learnt> = targets.iter().map(|target| self.learn(target)).collect();
        let right = |(learnt, target): (&Learnt, &Target)| learnt.guess == Some(target.value);
        let mut values = vec![0u64; self.values];
        targets.iter().for_each(|t| values.iter_mut().skip(t.value).take(1).for_each(|c| *c += 1));
        Summary {
            right: learnt.iter().zip(targets).filter(|pair| right(*pair)).count() as u64,
            by_chance: values.iter().copied().max().unwrap_or(0),
            learnt,
        }
    }
}

/// What is learnt of everybody.
#[derive(Clone, Debug, PartialEq)]
pub struct Summary {
    /// Person by person.
    pub learnt: Vec<Learnt>,
    /// How many are guessed right.
    pub right: u64,
    /// How many would be by somebody who has seen the whole table's distribution and no class: the
    /// most common value.
    pub by_chance: u64,
}

impl Summary {
    /// How many people have this finding.
    #[must_use]
    pub fn count(&self, finding: Finding) -> u64 {
        self.learnt.iter().filter(|learnt| learnt.finding == finding).count() as u64
    }

    /// How many values are learnt for certain.
    #[must_use]
    pub fn certain(&self) -> u64 {
        self.learnt.iter().filter(|learnt| learnt.finding.learnt()).count() as u64
    }

    /// How many are learnt, from the first release alone, by whoever can rule out the right
    /// `ruled_out` values for each of them.
    #[must_use]
    pub fn at_worst(&self, ruled_out: usize) -> u64 {
        let falls = |l: &&Learnt| l.candidates > 0 && l.to_rule_out <= ruled_out;
        self.learnt.iter().filter(falls).count() as u64
    }
}

#[cfg(test)]
mod tests;
