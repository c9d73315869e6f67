//! t-closeness, and (n,t)-closeness with natural supersets.

use super::{Counts, Distance, Measure, Model, Set, Witness, counts};
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
        let mut ask = |set: Set, reference: &Class| {
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
        ask(Set::Itself, class);
        for (at, ancestor) in ancestors.enumerate() {
            ask(Set::Ancestor(at), ancestor);
        }
        ask(Set::Table, table);
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
mod tests {
    use super::super::testing::{check_monotone, class, lecture, two_columns};
    use super::*;
    use crate::hierarchy::{Hierarchy, Level};

    fn fraction(text: &str) -> Fraction {
        Fraction::parse(text).unwrap()
    }

    #[test]
    fn two_hundred_thousand_rows_are_refused_where_32_bits_accept() {
        let table = class(&[100_000, 100_000]);
        let (one, two) = (class(&[90_000, 10_000]), class(&[10_000, 90_000]));
        for (t, close) in [("0.2", false), ("0.39", false), ("0.4", true)] {
            let model = TCloseness::new(fraction(t), Distance::Variational, 0).unwrap();
            assert_eq!(
                (model.holds(&one, &table), model.holds(&two, &table)),
                (close, close),
                "{t}"
            );
        }
    }

    #[test]
    fn the_lecture_at_its_thresholds() {
        let (table, classes) = lecture();
        let held = |t: &str| {
            let model = TCloseness::new(fraction(t), Distance::Variational, 0).unwrap();
            classes.each_ref().map(|class| model.holds(class, &table))
        };
        assert_eq!(held("0.6"), [true, true, true]);
        assert_eq!(held("5/9"), [true, true, true]);
        assert_eq!(held("0.5"), [true, false, true]);
        assert_eq!(held("2/9"), [false, false, true]);
        assert_eq!(held("0.2"), [false, false, false]);
    }

    #[test]
    fn unions_stay_close() {
        let level =
            |group: &[u32]| Level { labels: Vec::new(), group: group.to_vec(), leaves: Vec::new() };
        let hierarchy =
            Hierarchy { levels: vec![level(&[0, 1, 2]), level(&[0, 0, 1]), level(&[0, 0, 0])] };
        let all = [
            Distance::Variational,
            Distance::L2,
            Distance::KullbackLeibler,
            Distance::ordered(&[0, 1, 2]).unwrap(),
            Distance::hierarchical(&hierarchy).unwrap(),
        ];
        for distance in all {
            check_monotone(&TCloseness::new(fraction("0.3"), distance, 0).unwrap(), 3, 2);
        }
    }

    #[test]
    fn each_sensitive_column_is_its_own() {
        let table = two_columns(&[5, 5], &[5, 5]);
        let one = two_columns(&[2, 2], &[4, 0]);
        let model =
            |column| TCloseness::new(fraction("0.1"), Distance::Variational, column).unwrap();
        assert!(model(0).holds(&one, &table));
        assert!(!model(1).holds(&one, &table));
        assert!(!model(2).holds(&one, &table), "no such column: refused");
        assert_eq!(model(1).measure(&one, &table).unwrap().to_string(), "1/2");
    }

    #[test]
    fn natural_supersets_are_not_monotone() {
        let table = class(&[10, 10]);
        let model = NaturalCloseness::new(10, fraction("1/4"), Distance::Variational, 0).unwrap();
        assert!(!model.monotone() && model.needs_ancestors());
        let (b0, b1) = (class(&[10, 0]), class(&[0, 10]));
        for (fine, ancestor) in [([4, 0], &b0), ([6, 0], &b0), ([0, 1], &b1), ([0, 9], &b1)] {
            let fine = class(&fine);
            assert!(!model.holds(&fine, &table), "the whole table is ½ away");
            assert!(model.holds_among(&fine, &mut [ancestor].into_iter(), &table));
            let witness = model.witness(&fine, &mut [ancestor].into_iter(), &table).unwrap();
            assert_eq!(
                (witness.set, witness.rows(), witness.measure.to_string()),
                (Set::Ancestor(0), 10, "0".to_owned())
            );
            let (serves, measure) = model.verify(&fine, &witness.counts, &table).unwrap();
            assert!(serves && measure == witness.measure);
        }
        // b generalized: the only ancestor left is the whole table.
        let a0 = class(&[4, 1]);
        assert!(!model.holds_among(&a0, &mut [&table].into_iter(), &table));
        assert_eq!(model.measure(&a0, &table).unwrap().to_string(), "3/10");
    }

    #[test]
    fn small_or_foreign_supersets_do_not_serve() {
        let table = class(&[10, 10]);
        let model =
            NaturalCloseness::new(10, fraction("0.25"), Distance::KullbackLeibler, 0).unwrap();
        let fine = class(&[4, 0]);
        let foreign = [class(&[9, 0]), class(&[1, 10])];
        assert!(model.witness(&fine, &mut foreign.iter(), &table).is_none());
        for (counts, serves) in
            [([9, 0], false), ([1, 10], false), ([10, 0], true), ([11, 0], false), ([10, 1], true)]
        {
            assert_eq!(model.verify(&fine, &counts, &table).unwrap().0, serves, "{counts:?}");
        }
        let large = NaturalCloseness::new(21, Fraction::ONE, Distance::Variational, 0).unwrap();
        assert!(!large.holds(&fine, &table), "n above the table's rows");
        assert_eq!(large.measure(&fine, &table), Some(Measure::Infinite));
        assert!(NaturalCloseness::new(0, Fraction::ONE, Distance::L2, 0).is_err());
    }
}
