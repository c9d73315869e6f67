//! (n,ε)-closeness as the lecture first states it: a subset M for each class.

use super::closeness::check_threshold;
use super::shared::{Part, apart};
use super::{Counts, Measure, Model, Pair, ReferenceSet, Witness, counts, total};
use crate::class::Class;
use crate::error::{Error, Result};
use crate::exact::Fraction;
use crate::exact::fraction::gcd;

/// Shown with every release that relies on an arbitrary subset.
pub const WARNING: &str = "(n,ε)-closeness with an arbitrary subset M promises little: M is chosen to resemble \
the class, is not told to anyone, and need not be a group anybody could belong to. With n at most the class's size, \
M is the class itself and the model asks nothing. A class of one value passes as soon as the table has n such rows. \
Use natural supersets, or t-closeness.";

/// (n,ε)-closeness with an arbitrary subset: for each class C there is a set M of at
/// least n rows of the table whose distribution is within ε of C's, variational.
///
/// # Guarantee
/// The class's distribution could have come from n rows of the table.
///
/// # What it does not promise
/// Nearly everything: see [`WARNING`]. Asking for M ⊇ C would change nothing: for
/// n ≥ |C| a best M can be chosen to contain C, and for n ≤ |C| M = C serves.
///
/// # Exact answer
/// For |M| = s the best counts x_v are `⌊min(s·p_v, q_v)⌋`, with the units left over
/// given to the largest fractional parts that have stock. Real-valued x can do no
/// better than `D(s) = Σ max(0, p_v − q_v/s)`, which does not fall with s; at a multiple of
/// m/gcd(c) all s·p_v are whole and D(s) is reached. So sizes beyond the first
/// such multiple need not be tried. ∎
///
/// # Monotone
/// No, though D(n) is convex: 1×0 and 9×1 in a table of 11×0, 11×1, n = 11, ε = 0. Each
/// alone is matched by 11 equal rows; the union needs 9 : 1 in whole rows, 2 and 18, and there are 11.
#[derive(Clone, Debug)]
pub struct ArbitrarySubset {
    n: u64,
    epsilon: Fraction,
    column: usize,
}

/// A subset of the table's rows, as far as the sensitive column sees it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Subset {
    /// How many rows of each value.
    pub counts: Vec<u64>,
    /// Its variational distance from the class.
    pub distance: Fraction,
}

impl ArbitrarySubset {
    /// n of at least 1; both parts of ε in lowest terms below 2⁶⁴.
    pub fn new(n: u64, epsilon: Fraction, column: usize) -> Result<Self> {
        if n == 0 {
            return Err(Error::OutOfRange { parameter: "n", allowed: "at least 1" });
        }
        check_threshold("epsilon", epsilon)?;
        Ok(Self { n, epsilon, column })
    }

    /// The subset nearest to the class; of those, a smallest. `None` where the table
    /// has fewer than n rows or the class none.
    #[must_use]
    pub fn nearest(&self, class: &Class, table: &Class) -> Option<Subset> {
        let Counts::Both(pair) = counts(class, table, self.column) else { return None };
        let (size, distance) = self.scan(pair, Fraction::ZERO)?;
        Some(Subset { counts: spread(pair, size)?, distance })
    }

    /// The best size and its distance, or the first one at most `enough`.
    fn scan(&self, pair: Pair<'_>, enough: Fraction) -> Option<(u64, Fraction)> {
        if self.n <= pair.m {
            return Some((pair.m, Fraction::ZERO));
        }
        let step = pair.m / gcd_of(pair.c).max(1);
        let last = self.n.checked_next_multiple_of(step).unwrap_or(pair.n).min(pair.n);
        let mut best: Option<(u64, Fraction)> = None;
        for size in self.n..=last {
            // No size from here on is nearer than this.
            let bound = relaxed(pair, size)?;
            if best.is_some_and(|(_, distance)| bound >= distance) {
                break;
            }
            let distance = whole(pair, size)?;
            if best.is_none_or(|(_, known)| distance < known) {
                best = Some((size, distance));
            }
            if distance <= enough || bound > enough && enough > Fraction::ZERO {
                break;
            }
        }
        best
    }
}

impl Model for ArbitrarySubset {
    fn holds(&self, class: &Class, table: &Class) -> bool {
        counts(class, table, self.column).satisfy(|pair| {
            self.scan(pair, self.epsilon).is_some_and(|(_, distance)| distance <= self.epsilon)
        })
    }

    fn monotone(&self) -> bool {
        false
    }

    fn name(&self) -> String {
        format!(
            "({}, {})-closeness, an arbitrary subset for each class (variational)",
            self.n, self.epsilon
        )
    }

    fn measure(&self, class: &Class, table: &Class) -> Option<Measure> {
        match counts(class, table, self.column) {
            Counts::Both(pair) => Some(
                self.scan(pair, Fraction::ZERO)
                    .map_or(Measure::Infinite, |(_, distance)| Measure::Exact(distance)),
            ),
            Counts::Empty | Counts::Missing => None,
        }
    }

    fn column(&self) -> Option<usize> {
        Some(self.column)
    }

    fn warning(&self) -> Option<&'static str> {
        Some(WARNING)
    }

    fn witness(
        &self,
        class: &Class,
        _: &mut dyn Iterator<Item = &Class>,
        table: &Class,
    ) -> Option<Witness> {
        let found = self.nearest(class, table).filter(|found| found.distance <= self.epsilon)?;
        let set = if self.n <= class.size { ReferenceSet::Itself } else { ReferenceSet::Chosen };
        Some(Witness { set, counts: found.counts, measure: Measure::Exact(found.distance) })
    }

    fn verify(&self, class: &Class, counts: &[u64], table: &Class) -> Option<(bool, Measure)> {
        Some(verify(self.n, self.epsilon, self.column, class, counts, table))
    }
}

/// Whether these are at least n rows of the table within ε of the class, and how far they are.
pub(super) fn verify(
    n: u64,
    epsilon: Fraction,
    column: usize,
    class: &Class,
    counts: &[u64],
    table: &Class,
) -> (bool, Measure) {
    let size = counts.iter().try_fold(0_u64, |sum, &count| sum.checked_add(count)).unwrap_or(0);
    let (Some((c, m)), Some((q, _))) = (total(class, column), total(table, column)) else {
        return (false, Measure::Infinite);
    };
    let inside = q.len() == counts.len() && c.len() == counts.len();
    if !inside || m == 0 || size == 0 {
        return (false, Measure::Infinite);
    }
    let (within, distance) = apart(&Part { position: 0, c, m }, counts, size, epsilon);
    let rows = size >= n && counts.iter().zip(q).all(|(count, q)| count <= q);
    (rows && within, Measure::Exact(distance))
}

/// `Σ max(0, p_v − q_v/s)`.
fn relaxed(pair: Pair<'_>, size: u64) -> Option<Fraction> {
    let short = |(c, q): (u64, u64)| {
        (u128::from(c) * u128::from(size)).saturating_sub(u128::from(q) * u128::from(pair.m))
    };
    Fraction::new(pair.each().map(short).sum(), u128::from(pair.m) * u128::from(size))
}

/// For value v and |M| = s: the whole units x_v, what `m·x_v` is short of `s·c_v`, and
/// whether there is stock for one more that is wanted.
fn start(c: u64, q: u64, m: u64, size: u64) -> (u64, u128, bool) {
    let wanted = u128::from(c) * u128::from(size);
    let units = u64::try_from(wanted / u128::from(m)).unwrap_or(u64::MAX).min(q);
    let short = wanted - u128::from(units) * u128::from(m);
    (units, short, units < q && short > 0)
}

/// The distance of the nearest M of exactly `size` rows: `Σ max(0, p_v − x_v/s)`.
fn whole(pair: Pair<'_>, size: u64) -> Option<Fraction> {
    let (mut left, mut short, mut wanting) = (size, 0_u128, Vec::new());
    for (c, q) in pair.each() {
        let (units, missing, more) = start(c, q, pair.m, size);
        left -= units;
        short += missing;
        if more {
            wanting.push(missing);
        }
    }
    wanting.sort_unstable_by(|a, b| b.cmp(a));
    let given: u128 = wanting.iter().take(usize::try_from(left).unwrap_or(usize::MAX)).sum();
    Fraction::new(short - given, u128::from(pair.m) * u128::from(size))
}

/// The counts of that M.
fn spread(pair: Pair<'_>, size: u64) -> Option<Vec<u64>> {
    let begun: Vec<(u64, u128, bool)> =
        pair.each().map(|(c, q)| start(c, q, pair.m, size)).collect();
    let mut counts: Vec<u64> = begun.iter().map(|(units, _, _)| *units).collect();
    let mut left = size - counts.iter().sum::<u64>();
    let mut wanting: Vec<usize> = (0..begun.len()).filter(|&v| begun[v].2).collect();
    wanting.sort_by_key(|&v| std::cmp::Reverse(begun[v].1));
    for v in wanting {
        let unit = left.min(1);
        counts[v] += unit;
        left -= unit;
    }
    // What nobody wants goes where there is stock.
    for (count, &q) in counts.iter_mut().zip(pair.q) {
        let more = left.min(q - *count);
        *count += more;
        left -= more;
    }
    (left == 0).then_some(counts)
}

fn gcd_of(counts: &[u64]) -> u64 {
    counts.iter().fold(0, |divisor, &c| gcd(divisor.into(), c.into()) as u64)
}

#[cfg(test)]
mod tests;
