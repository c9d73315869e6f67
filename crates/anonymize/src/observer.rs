//! What an observer learns: the lecture's three beliefs about a person's
//! sensitive value.
//!
//! 1. Before anything is published: X, uniform over the values or given.
//! 2. After the fully generalized table, which says only how often each value
//!    occurs: Q.
//! 3. After finding the person's class C in the release: L, the class's distribution.
//!
//! Two numbers say how much a step from belief A to belief B tells, both in bits:
//!
//! - the *divergence* `KL(B‖A) = Σ B_v·log₂(B_v/A_v)`: what the observer gained, seen
//!   from the new belief. Never negative; infinite where A excluded what B allows.
//!   From Q to L it is what KL-closeness bounds.
//! - the *fall in entropy* `H(A) − H(B)`: how much less is left to find out. It may be
//!   negative: a class may be more mixed than the table.
//!
//! Averaged over the classes by their rows, both agree for the step from Q to L:
//! the mutual information of class and value.
//!
//! These are doubles for a report. Nothing is decided by them.

use crate::class::Class;
use crate::error::{Error, Result};

/// What one step tells, in bits.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Gain {
    /// `KL(new‖old)`; may be ∞.
    pub divergence: f64,
    /// `H(old) − H(new)`; may be negative.
    pub entropy_fall: f64,
}

/// What an observer learns from one class.
#[derive(Clone, Debug, PartialEq)]
pub struct ClassGain {
    /// The class's position.
    pub class: usize,
    /// Its rows.
    pub size: u64,
    /// From Q to L: what closeness bounds.
    pub from_table: Gain,
    /// From X to L: both steps at once.
    pub from_start: Gain,
}

/// What an observer learns from a release.
#[derive(Clone, Debug, PartialEq)]
pub struct Report {
    /// H(X).
    pub entropy_before: f64,
    /// H(Q).
    pub entropy_table: f64,
    /// From X to Q: what publishing anything at all tells.
    pub table: Gain,
    /// One for every class with rows.
    pub classes: Vec<ClassGain>,
    /// The largest divergence from Q to L of any class; 0 without classes.
    pub worst: f64,
    /// The position of that class.
    pub worst_class: Option<usize>,
    /// The mean of the divergence from Q to L over the rows of all classes. With
    /// nothing suppressed, the mutual information of class and value.
    pub mean: f64,
}

/// Follows the three beliefs about one sensitive column. `before` is X, by value; `None` is
/// uniform over the column's values. It is scaled to sum to 1.
///
/// # Special values
/// Weights that are negative, not finite, all 0, or not one for each value are refused.
pub fn observe(
    before: Option<&[f64]>,
    table: &Class,
    classes: &[Class],
    column: usize,
) -> Result<Report> {
    let no_column = Error::OutOfRange {
        parameter: "the sensitive column",
        allowed: "one the table has, with rows",
    };
    let Some(q) = shares(table, column) else { return Err(no_column) };
    let x = prior(before, q.len())?;
    let mut gains = Vec::with_capacity(classes.len());
    for (position, class) in classes.iter().enumerate().filter(|(_, class)| class.size > 0) {
        let Some(l) = shares(class, column).filter(|l| l.len() == q.len()) else {
            return Err(no_column);
        };
        gains.push(ClassGain {
            class: position,
            size: class.size,
            from_table: gain(&q, &l),
            from_start: gain(&x, &l),
        });
    }
    let worst =
        gains.iter().max_by(|a, b| a.from_table.divergence.total_cmp(&b.from_table.divergence));
    let rows: f64 = gains.iter().map(|gain| gain.size as f64).sum();
    let weighted: f64 =
        gains.iter().map(|gain| gain.size as f64 * gain.from_table.divergence).sum();
    Ok(Report {
        entropy_before: entropy(&x),
        entropy_table: entropy(&q),
        table: gain(&x, &q),
        worst: worst.map_or(0.0, |gain| gain.from_table.divergence),
        worst_class: worst.map(|gain| gain.class),
        mean: if rows > 0.0 { weighted / rows } else { 0.0 },
        classes: gains,
    })
}

fn prior(before: Option<&[f64]>, values: usize) -> Result<Vec<f64>> {
    let Some(given) = before else { return Ok(vec![1.0 / values as f64; values]) };
    let sum: f64 = given.iter().sum();
    let sound = given.iter().all(|weight| weight.is_finite() && *weight >= 0.0);
    if given.len() != values || !sound || !sum.is_finite() || sum <= 0.0 {
        let allowed = "one weight for each sensitive value, none negative, not all 0";
        return Err(Error::OutOfRange { parameter: "the belief before", allowed });
    }
    Ok(given.iter().map(|weight| weight / sum).collect())
}

fn shares(class: &Class, column: usize) -> Option<Vec<f64>> {
    let counts = &class.sensitive.get(column)?.counts;
    let total: f64 = counts.iter().map(|&count| count as f64).sum();
    (total > 0.0).then(|| counts.iter().map(|&count| count as f64 / total).collect())
}

fn entropy(p: &[f64]) -> f64 {
    p.iter().filter(|p| **p > 0.0).map(|p| -p * p.log2()).sum::<f64>().max(0.0)
}

fn gain(old: &[f64], new: &[f64]) -> Gain {
    let term = |(&old, &new): (&f64, &f64)| {
        if new == 0.0 {
            0.0
        } else if old == 0.0 {
            f64::INFINITY
        } else {
            new * (new / old).log2()
        }
    };
    let divergence = old.iter().zip(new).map(term).sum::<f64>().max(0.0);
    Gain { divergence, entropy_fall: entropy(old) - entropy(new) }
}

#[cfg(test)]
mod tests;
