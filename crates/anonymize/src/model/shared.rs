//! (n,ε)-closeness as the lecture states it for a partitioning: one subset M
//! that serves every class.

use super::closeness::check_threshold;
use super::shared_bound::{lower_bound, propose};
use super::shared_search::{SearchOutcome, search};
use super::subset::{Subset, WARNING, verify};
use super::{ArbitrarySubset, Measure, Model, ReferenceSet, Witness, total};
use crate::class::Class;
use crate::error::{Error, Result};
use crate::exact::{Fraction, Sum};

/// (n,ε)-closeness with one arbitrary subset: there is a set M of at least n rows of the
/// table such that every class's distribution is within ε of M's, variational.
///
/// # Guarantee
/// All classes are within ε of one common distribution, so within 2ε of each other: finding the
/// class tells at most that much more than finding any other.
///
/// # What it does not promise
/// That M resembles the table, or that anyone can know M: see [`WARNING`]. With ε at least the
/// t of t-closeness and n ≤ N it is weaker, M being the whole table.
///
/// # Exact answer
/// [`decide`](Self::decide) returns a subset, which anyone can check by measuring, or a [`Proof`] that there
/// is none, or says that it ran out of steps. [`Model::holds_all`] is true only with a subset in hand.
///
/// # Monotone
/// Merging classes keeps M (their distribution is a mixture, and the distance convex), so the property is.
/// The answer is not when steps run out, so [`Model::monotone`] says no, and
/// [`Model::holds`] of one class is a necessary condition only.
#[derive(Clone, Debug)]
pub struct SharedSubset {
    n: u64,
    epsilon: Fraction,
    column: usize,
    steps: u64,
}

/// Whether one subset serves every class.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Answer {
    /// This one does; its distance is the largest from any class.
    Serves(Subset),
    /// None does.
    Impossible(Proof),
    /// Not known: the search ended at its limit.
    Undecided {
        /// No smaller ε than this can be met: proven.
        at_least: Fraction,
        /// The nearest subset that was seen; its distance can be met.
        nearest: Subset,
    },
}

/// Why no subset serves every class. Positions are those of the classes given.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Proof {
    /// The table has fewer than n rows.
    TooFewRows,
    /// A histogram is missing, or has a value more often than the table.
    NotInTable {
        /// The class.
        class: usize,
    },
    /// No subset serves even this class alone; its nearest is this far.
    Alone {
        /// The class.
        class: usize,
        /// The distance of its nearest subset.
        distance: Fraction,
    },
    /// Two classes are more than 2ε apart: M would have to be within ε of both.
    Apart {
        /// One of them.
        first: usize,
        /// The other.
        second: usize,
        /// Their variational distance.
        distance: Fraction,
    },
    /// For every M the mean distance from the classes, with these weights, is at least
    /// `bound`, and that is above ε. Check it with [`SharedSubset::bound`].
    Weights {
        /// (class, weight), without zeros.
        weights: Vec<(usize, u64)>,
        /// What every M is on average away.
        bound: Fraction,
    },
    /// All subsets were tried, but for those that a partial choice already excludes.
    Exhausted,
}

impl SharedSubset {
    /// n of at least 1; both parts of ε in lowest terms below 2⁶⁴.
    pub fn new(n: u64, epsilon: Fraction, column: usize) -> Result<Self> {
        if n == 0 {
            return Err(Error::OutOfRange { parameter: "n", allowed: "at least 1" });
        }
        check_threshold("epsilon", epsilon)?;
        Ok(Self { n, epsilon, column, steps: 5_000_000 })
    }

    /// How many steps the search may take before it says [`Answer::Undecided`]; a step looks at one class.
    #[must_use]
    pub fn with_steps(mut self, steps: u64) -> Self {
        self.steps = steps;
        self
    }

    /// Finds a subset, or a proof that there is none.
    #[must_use]
    pub fn decide(&self, classes: &[Class], table: &Class) -> Answer {
        let Some((stock, rows)) = total(table, self.column) else {
            return Answer::Impossible(Proof::TooFewRows);
        };
        if rows < self.n {
            return Answer::Impossible(Proof::TooFewRows);
        }
        let mut parts: Vec<Part<'_>> = Vec::new();
        for (position, class) in classes.iter().enumerate().filter(|(_, class)| class.size > 0) {
            match total(class, self.column) {
                Some((c, m))
                    if m > 0
                        && c.len() == stock.len()
                        && c.iter().zip(stock).all(|(c, q)| c <= q) =>
                {
                    parts.push(Part { position, c, m });
                }
                _ => return Answer::Impossible(Proof::NotInTable { class: position }),
            }
        }
        if let Some(proof) = self.alone_or_apart(&parts, classes, table) {
            return Answer::Impossible(proof);
        }
        let proposal = propose(&parts, stock, self.n);
        let mut nearest =
            Subset { counts: stock.to_vec(), distance: farthest(&parts, stock, self.epsilon).1 };
        for counts in proposal.subsets {
            let (within, distance) = farthest(&parts, &counts, self.epsilon);
            if within {
                return Answer::Serves(Subset { counts, distance });
            }
            if distance < nearest.distance {
                nearest = Subset { counts, distance };
            }
        }
        let bound = lower_bound(&parts, stock, self.n, &proposal.weights).bound;
        if bound > self.epsilon {
            let weighted = parts.iter().zip(&proposal.weights).filter(|(_, weight)| **weight > 0);
            let weights = weighted.map(|(part, weight)| (part.position, *weight)).collect();
            return Answer::Impossible(Proof::Weights { weights, bound });
        }
        match search(&parts, stock, self.n, self.epsilon, self.steps) {
            SearchOutcome::Subset(counts) => {
                let (_, distance) = farthest(&parts, &counts, self.epsilon);
                Answer::Serves(Subset { counts, distance })
            }
            SearchOutcome::Nothing => Answer::Impossible(Proof::Exhausted),
            SearchOutcome::Unknown => Answer::Undecided { at_least: bound, nearest },
        }
    }

    /// What the mean distance of any M of at least n rows from the classes is at least, the
    /// classes weighted as given: to check [`Proof::Weights`]. `None` without weights, where one is
    /// above 2³², or of no class.
    #[must_use]
    pub fn bound(
        &self,
        classes: &[Class],
        table: &Class,
        weights: &[(usize, u64)],
    ) -> Option<Fraction> {
        let (stock, _) = total(table, self.column)?;
        let mut parts = Vec::new();
        for &(position, _) in weights {
            let (c, m) = total(classes.get(position)?, self.column)
                .filter(|(c, m)| *m > 0 && c.len() == stock.len())?;
            parts.push(Part { position, c, m });
        }
        let weights: Vec<u64> = weights.iter().map(|(_, weight)| *weight).collect();
        // Weights up to 2³² leave room for 2⁵⁶ of them.
        let sound = weights.iter().any(|&weight| weight > 0)
            && weights.iter().all(|&weight| weight <= 1 << 32);
        sound.then(|| lower_bound(&parts, stock, self.n, &weights).bound)
    }

    fn alone_or_apart(
        &self,
        parts: &[Part<'_>],
        classes: &[Class],
        table: &Class,
    ) -> Option<Proof> {
        let single = ArbitrarySubset::new(self.n, self.epsilon, self.column).ok()?;
        for part in parts {
            let class = classes.get(part.position)?;
            if !single.holds(class, table) {
                let distance = single.nearest(class, table)?.distance;
                return Some(Proof::Alone { class: part.position, distance });
            }
        }
        let numerator = self.epsilon.numerator().checked_mul(2)?;
        let twice = Fraction::new(numerator, self.epsilon.denominator())?;
        // Quadratic: with many classes, those nearest the front. The weights see the rest.
        let some = parts.get(..parts.len().min(400)).unwrap_or(parts);
        for (i, first) in some.iter().enumerate() {
            for second in some.iter().skip(i + 1) {
                let (within, distance) = apart(first, second.c, second.m, twice);
                if !within {
                    let (first, second) = (first.position, second.position);
                    return Some(Proof::Apart { first, second, distance });
                }
            }
        }
        None
    }
}

/// One class's histogram and total.
pub(crate) struct Part<'a> {
    pub(crate) position: usize,
    pub(crate) c: &'a [u64],
    pub(crate) m: u64,
}

/// Whether the variational distance is at most the limit, and what it is.
pub(crate) fn apart(part: &Part<'_>, x: &[u64], s: u64, limit: Fraction) -> (bool, Fraction) {
    let mut sum = Sum::default();
    for (&c, &x) in part.c.iter().zip(x) {
        sum.add((u128::from(c) * u128::from(s)).saturating_sub(u128::from(x) * u128::from(part.m)));
    }
    // The sum is at most m·s < 2¹²⁸.
    let area = (u128::from(part.m) * u128::from(s), 1);
    (sum.at_most(area, limit), sum.over(area).unwrap_or(Fraction::ONE))
}

/// Whether every class is within the limit of these counts, and the largest distance.
fn farthest(parts: &[Part<'_>], counts: &[u64], limit: Fraction) -> (bool, Fraction) {
    let size = counts.iter().sum();
    parts
        .iter()
        .map(|part| apart(part, counts, size, limit))
        .fold((true, Fraction::ZERO), |worst, one| (worst.0 && one.0, worst.1.max(one.1)))
}

impl Model for SharedSubset {
    fn holds(&self, class: &Class, table: &Class) -> bool {
        ArbitrarySubset::new(self.n, self.epsilon, self.column)
            .is_ok_and(|single| single.holds(class, table))
    }

    fn monotone(&self) -> bool {
        false
    }

    fn name(&self) -> String {
        format!(
            "({}, {})-closeness, one arbitrary subset for all classes (variational)",
            self.n, self.epsilon
        )
    }

    /// The distance of the class's own nearest subset, which bounds the shared one's from below.
    fn measure(&self, class: &Class, table: &Class) -> Option<Measure> {
        ArbitrarySubset::new(self.n, self.epsilon, self.column).ok()?.measure(class, table)
    }

    fn column(&self) -> Option<usize> {
        Some(self.column)
    }

    fn warning(&self) -> Option<&'static str> {
        Some(WARNING)
    }

    fn per_class(&self) -> bool {
        false
    }

    fn holds_all(&self, classes: &[Class], table: &Class) -> bool {
        matches!(self.decide(classes, table), Answer::Serves(_))
    }

    fn witness_all(&self, classes: &[Class], table: &Class) -> Option<Witness> {
        let Answer::Serves(Subset { counts, distance }) = self.decide(classes, table) else {
            return None;
        };
        Some(Witness { set: ReferenceSet::Chosen, counts, measure: Measure::Exact(distance) })
    }

    fn verify(&self, class: &Class, counts: &[u64], table: &Class) -> Option<(bool, Measure)> {
        Some(verify(self.n, self.epsilon, self.column, class, counts, table))
    }
}

#[cfg(test)]
#[path = "shared_tests.rs"]
mod tests;
