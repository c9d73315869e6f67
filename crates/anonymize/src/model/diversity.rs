//! l-diversity: distinct, entropy, recursive (Machanavajjhala et al. 2007).
//!
//! # What none of them promises
//! The whole table's distribution plays no part: a class can be diverse and still
//! raise the probability of a rare value from 1 % to 50 % (skewness), and its
//! diverse values may all mean the same (similarity).

use super::{Measure, Model, total};
use crate::class::Class;
use crate::error::{Error, Result};
use crate::exact::{Fraction, LogSum};
use std::cmp::Ordering;

/// Distinct l-diversity: at least l different sensitive values in every class.
///
/// # Guarantee
/// No class discloses the value with certainty (l ≥ 2); one value may still have 99 %.
///
/// # Monotone
/// Yes: a union has every value its parts have.
#[derive(Clone, Debug)]
pub struct DistinctDiversity {
    l: u64,
    column: usize,
}

impl DistinctDiversity {
    /// l of at least 1.
    pub fn new(l: u64, column: usize) -> Result<Self> {
        if l == 0 {
            return Err(Error::OutOfRange { parameter: "l", allowed: "at least 1" });
        }
        Ok(Self { l, column })
    }
}

impl Model for DistinctDiversity {
    fn holds(&self, class: &Class, _: &Class) -> bool {
        class.size == 0
            || total(class, self.column).is_some_and(|(counts, _)| distinct(counts) >= self.l)
    }

    fn monotone(&self) -> bool {
        true
    }

    fn name(&self) -> String {
        format!("distinct {}-diversity", self.l)
    }

    fn measure(&self, class: &Class, _: &Class) -> Option<Measure> {
        let (counts, rows) = total(class, self.column)?;
        (rows > 0).then(|| Measure::Exact(Fraction::whole(distinct(counts))))
    }

    fn column(&self) -> Option<usize> {
        Some(self.column)
    }

    fn least_size(&self) -> u64 {
        self.l
    }
}

/// Entropy l-diversity: `H(C) ≥ log l`, whatever the base. l need not be whole.
///
/// Decided exactly: with m rows of which c_v have value v, and l = a/b,
/// `H ≥ log l ⇔ m·ln m + m·ln b ≥ Σ c_v·ln c_v + m·ln a`, by [`LogSum::compare`].
/// So a class of l values with equal counts passes: a tie is a tie.
///
/// # Guarantee
/// At least l values, and no value's share exceeds what that entropy allows.
///
/// # Monotone
/// Yes. H is concave: the entropy of a mixture is at least the mixture of the entropies.
#[derive(Clone, Debug)]
pub struct EntropyDiversity {
    a: u64,
    b: u64,
    column: usize,
}

impl EntropyDiversity {
    /// l of at least 1, both its parts below 2⁶⁴.
    pub fn new(l: Fraction, column: usize) -> Result<Self> {
        let parts = (u64::try_from(l.numerator()), u64::try_from(l.denominator()));
        match parts {
            (Ok(a), Ok(b)) if a >= b => Ok(Self { a, b, column }),
            _ => Err(Error::OutOfRange {
                parameter: "l",
                allowed: "at least 1 (entropy l-diversity)",
            }),
        }
    }
}

impl Model for EntropyDiversity {
    fn holds(&self, class: &Class, _: &Class) -> bool {
        if class.size == 0 {
            return true;
        }
        let Some((counts, m)) = total(class, self.column).filter(|(_, m)| *m > 0) else {
            return false;
        };
        let (mut left, mut right) = (LogSum::new(), LogSum::new());
        left.add(m, m.into());
        left.add(self.b, m.into());
        right.add(self.a, m.into());
        counts.iter().for_each(|&c| right.add(c, c.into()));
        left.compare(&right) != Ordering::Less
    }

    fn monotone(&self) -> bool {
        true
    }

    fn name(&self) -> String {
        let Self { a, b, .. } = self;
        if *b == 1 {
            format!("entropy {a}-diversity")
        } else {
            format!("entropy ({a}/{b})-diversity")
        }
    }

    /// `2^H`, the effective number of values, to hold against l.
    fn measure(&self, class: &Class, _: &Class) -> Option<Measure> {
        let (counts, m) = total(class, self.column).filter(|(_, m)| *m > 0)?;
        Some(Measure::Near(entropy_bits(counts, m).exp2()))
    }

    fn column(&self) -> Option<usize> {
        Some(self.column)
    }

    /// H ≤ log m, so l ≤ m.
    fn least_size(&self) -> u64 {
        self.a.div_ceil(self.b)
    }
}

/// Recursive (c,l)-diversity: `r₁ < c·(r_l + r_{l+1} + … + r_d)` for the counts
/// `r₁ ≥ r₂ ≥ … ≥ r_d` of the class.
///
/// # Guarantee
/// The most frequent value is not too frequent, and remains so for an observer
/// who excludes any l − 2 values.
///
/// # Monotone
/// Yes. For classes A and B, `r₁(A∪B) ≤ r₁(A) + r₁(B)`, and the l − 1 largest counts of
/// the union sum to at most those of A plus those of B, so
/// `tail(A∪B) ≥ tail(A) + tail(B)`. Add the two inequalities. ∎
#[derive(Clone, Debug)]
pub struct RecursiveDiversity {
    c: Fraction,
    l: usize,
    column: usize,
}

impl RecursiveDiversity {
    /// c above 0, l of at least 1.
    pub fn new(c: Fraction, l: usize, column: usize) -> Result<Self> {
        if c == Fraction::ZERO {
            return Err(Error::OutOfRange { parameter: "c", allowed: "above 0" });
        }
        if l == 0 {
            return Err(Error::OutOfRange { parameter: "l", allowed: "at least 1" });
        }
        Ok(Self { c, l, column })
    }

    /// r₁ and the tail.
    fn parts(&self, counts: &[u64], m: u64) -> (u64, u64) {
        let mut sorted: Vec<u64> = counts.iter().copied().filter(|&count| count > 0).collect();
        sorted.sort_unstable_by(|a, b| b.cmp(a));
        let head: u64 = sorted.iter().take(self.l - 1).sum();
        (sorted.first().copied().unwrap_or(0), m - head)
    }
}

impl Model for RecursiveDiversity {
    fn holds(&self, class: &Class, _: &Class) -> bool {
        if class.size == 0 {
            return true;
        }
        let Some((counts, m)) = total(class, self.column).filter(|(_, m)| *m > 0) else {
            return false;
        };
        let (first, tail) = self.parts(counts, m);
        Fraction::new(first.into(), tail.into()).is_some_and(|ratio| ratio < self.c)
    }

    fn monotone(&self) -> bool {
        true
    }

    fn name(&self) -> String {
        format!("recursive ({}, {})-diversity", self.c, self.l)
    }

    /// r₁ / tail, to hold against c; ∞ where there are fewer than l values.
    fn measure(&self, class: &Class, _: &Class) -> Option<Measure> {
        let (counts, m) = total(class, self.column).filter(|(_, m)| *m > 0)?;
        let (first, tail) = self.parts(counts, m);
        Some(Fraction::new(first.into(), tail.into()).map_or(Measure::Infinite, Measure::Exact))
    }

    fn column(&self) -> Option<usize> {
        Some(self.column)
    }

    fn least_size(&self) -> u64 {
        self.l as u64
    }
}

fn distinct(counts: &[u64]) -> u64 {
    counts.iter().filter(|&&count| count > 0).count() as u64
}

/// H in bits, nearly: for show.
pub(crate) fn entropy_bits(counts: &[u64], m: u64) -> f64 {
    let m = m as f64;
    counts
        .iter()
        .filter(|&&c| c > 0)
        .map(|&c| c as f64 / m)
        .map(|p| -p * p.log2())
        .sum::<f64>()
        .max(0.0)
}

#[cfg(test)]
mod tests;
