//! t-closeness, and (n,t)-closeness with natural supersets.

use super::{Counts, Distance, Measure, Model, ReferenceSet, Witness, counts};
use crate::class::{Class, Histogram};
use crate::error::{Error, Result};
use crate::exact::Fraction;

/// t-closeness: the distribution of the sensitive value in every class is within
/// t of the whole table's (Li, Li and Venkatasubramanian 2007).
///
/// # Guarantee
/// Whoever knows the whole table's distribution Q and finds a person's class
/// moves their belief about the value by at most t. With the variational distance,
/// the probability of any event about the value changes by at most t.
///
/// # What it does not promise
/// Anything about what Q itself says; a small t still allows a rare value's
/// probability to double; two releases of one table do not add up to any t.
///
/// # Monotone
/// Yes: a union's distribution is a mixture of its parts', and every [`Distance`] is convex.
#[derive(Clone, Debug)]
pub struct TCloseness {
    t: Fraction,
    distance: Distance,
    column: usize,
}

impl TCloseness {
    /// Both parts of t in lowest terms must be below 2⁶⁴.
    pub fn new(t: Fraction, distance: Distance, column: usize) -> Result<Self> {
        check_threshold("t", t)?;
        Ok(Self { t, distance, column })
    }
}

impl Model for TCloseness {
    fn holds(&self, class: &Class, table: &Class) -> bool {
        within(&self.distance, class, table, self.column, self.t)
    }

    fn monotone(&self) -> bool {
        true
    }

    fn name(&self) -> String {
        format!("{}-closeness ({})", self.t, self.distance.name())
    }

    fn measure(&self, class: &Class, table: &Class) -> Option<Measure> {
        distance(&self.distance, class, table, self.column)
    }

    /// # Proof
    /// Let the parts that stay have the union F, all but a share ρ of the class E.
    /// F is within t, what is removed within 1 (earth mover's and variational
    /// distances are at most 1), and the distance is convex in its first
    /// argument: `D(E) ≤ (1 − ρ)·t + ρ`, so `ρ ≥ (D(E) − t)/(1 − t)`. If nothing
    /// stays, ρ = 1. Rounded down. ∎
    fn least_removed(&self, class: &Class, table: &Class) -> u64 {
        let bounded = matches!(
            self.distance,
            Distance::Variational | Distance::Ordered(_) | Distance::Hierarchical(_)
        );
        let (t, measured) = (self.t.to_f64(), self.measure(class, table));
        match measured {
            Some(Measure::Exact(distance)) if bounded && t < 1.0 => {
                let share = (distance.to_f64() - t) / (1.0 - t) * (1.0 - 1e-9);
                ((class.size as f64 * share) as u64).max(1)
            }
            _ => 1,
        }
    }

    fn column(&self) -> Option<usize> {
        Some(self.column)
    }
}

/// (n,t)-closeness: every class is within t of some *natural* superset of at
/// least n rows (Li, Li and Venkatasubramanian 2010). Natural are the class
/// itself, its ancestors (the classes that contain it in coarser releases, or in
/// the Mondrian tree that split it off), and the whole table.
///
/// # Guarantee
/// Finding the class tells little more than finding the superset, and the
/// superset is a crowd of n: what is learnt is about n persons, not about one.
///
/// # What it does not promise
/// That the crowd says little: n persons who share a disease disclose it.
///
/// # Monotone
/// No. Rows (a0,b0): 4×0, (a1,b0): 6×0, (a0,b1): 1×1, (a1,b1): 9×1; n = 10, t = ¼.
/// As they are, b0 and b1 are supersets of 10 at distance 0. Generalize b: the class a0
/// has 4×0 and 1×1, only the whole table is large enough, and that is 3/10 away.
#[derive(Clone, Debug)]
pub struct NaturalCloseness {
    n: u64,
    t: Fraction,
    distance: Distance,
    column: usize,
}

impl NaturalCloseness {
    /// n of at least 1; both parts of t in lowest terms below 2⁶⁴.
    pub fn new(n: u64, t: Fraction, distance: Distance, column: usize) -> Result<Self> {
        if n == 0 {
            return Err(Error::OutOfRange { parameter: "n", allowed: "at least 1" });
        }
        check_threshold("t", t)?;
        Ok(Self { n, t, distance, column })
    }
}

impl Model for NaturalCloseness {
    fn holds(&self, class: &Class, table: &Class) -> bool {
        self.holds_among(class, &mut std::iter::empty(), table)
    }

    fn monotone(&self) -> bool {
        false
    }

    fn name(&self) -> String {
        format!("({}, {})-closeness, natural supersets ({})", self.n, self.t, self.distance.name())
    }

    /// The distance from the class itself or the whole table, whichever is large
    /// enough; [`witness`](Model::witness) also takes ancestors.
    fn measure(&self, class: &Class, table: &Class) -> Option<Measure> {
        let reference = if class.size >= self.n { class } else { table };
        if reference.size < self.n {
            return (class.size > 0).then_some(Measure::Infinite);
        }
        distance(&self.distance, class, reference, self.column)
    }

    fn column(&self) -> Option<usize> {
        Some(self.column)
    }

    fn needs_ancestors(&self) -> bool {
        true
    }

    fn least_superset(&self) -> u64 {
        self.n
    }

    fn holds_among(
        &self,
        class: &Class,
        ancestors: &mut dyn Iterator<Item = &Class>,
        table: &Class,
    ) -> bool {
        if class.size == 0 {
            return true;
        }
        let serves = |reference: &Class| {
            reference.size >= self.n
                && within(&self.distance, class, reference, self.column, self.t)
        };
        if serves(class) || serves(table) {
            return true;
        }
        for ancestor in ancestors {
            if serves(ancestor) {
                return true;
            }
        }
        false
    }

    /// Ancestors of fewer than n rows, or that do not contain the class, are passed over.
    fn witness(
        &self,
        class: &Class,
        ancestors: &mut dyn Iterator<Item = &Class>,
        table: &Class,
    ) -> Option<Witness> {
        let mut best: Option<Witness> = None;
        let mut ask = |set: ReferenceSet, reference: &Class| {
            let large = class.size > 0 && reference.size >= self.n;
            if !large || !within(&self.distance, class, reference, self.column, self.t) {
                return;
            }
            let measure = distance(&self.distance, class, reference, self.column);
            let counts = reference.sensitive.get(self.column).map(|h| h.counts.clone());
            if let (Some(measure), Some(counts)) = (measure, counts)
                && best.as_ref().is_none_or(|b| measure.to_f64() < b.measure.to_f64())
            {
                best = Some(Witness { set, counts, measure });
            }
        };
        ask(ReferenceSet::Itself, class);
        for (at, ancestor) in ancestors.enumerate() {
            ask(ReferenceSet::Ancestor(at), ancestor);
        }
        ask(ReferenceSet::Table, table);
        best
    }

    fn verify(&self, class: &Class, counts: &[u64], table: &Class) -> Option<(bool, Measure)> {
        let set = only(self.column, counts);
        let inside = table.sensitive.get(self.column).is_some_and(|whole| {
            whole.counts.len() == counts.len()
                && whole.counts.iter().zip(counts).all(|(whole, count)| count <= whole)
        });
        let holds = inside
            && set.size >= self.n
            && class.size > 0
            && within(&self.distance, class, &set, self.column, self.t);
        let measure = distance(&self.distance, class, &set, self.column);
        Some((holds, measure.unwrap_or(Measure::Infinite)))
    }
}

/// A class of one sensitive column only, at its place among others.
fn only(column: usize, counts: &[u64]) -> Class {
    let empty = Histogram { counts: Vec::new() };
    let mut sensitive = vec![empty; column];
    sensitive.push(Histogram { counts: counts.to_vec() });
    // Counts come from a file: a sum beyond 64 bits is no set.
    let size = counts.iter().try_fold(0_u64, |sum, &count| sum.checked_add(count)).unwrap_or(0);
    Class { size, sensitive }
}

pub(crate) fn check_threshold(parameter: &'static str, t: Fraction) -> Result<()> {
    if t.numerator().max(t.denominator()) > u64::MAX.into() {
        return Err(Error::OutOfRange {
            parameter,
            allowed: "a fraction whose parts are below 2^64",
        });
    }
    Ok(())
}

fn within(
    distance: &Distance,
    class: &Class,
    reference: &Class,
    column: usize,
    t: Fraction,
) -> bool {
    counts(class, reference, column).satisfy(|pair| distance.at_most(pair, t))
}

fn distance(
    distance: &Distance,
    class: &Class,
    reference: &Class,
    column: usize,
) -> Option<Measure> {
    match counts(class, reference, column) {
        Counts::Both(pair) => distance.value(pair),
        Counts::Empty | Counts::Missing => None,
    }
}

#[cfg(test)]
mod tests;
