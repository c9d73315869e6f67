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
mod tests {
    use super::*;
    use crate::model::testing::{class, lecture};

    fn near(a: f64, b: f64) {
        assert!((a - b).abs() < 5e-7, "{a} {b}");
    }

    #[test]
    fn the_lectures_three_beliefs() {
        let (table, classes) = lecture();
        let report = observe(None, &table, &classes, 0).unwrap();
        near(report.entropy_before, 5_f64.log2());
        // H(Q) = log₂9 − (2·1 + 2·1 + 3·log₂3)/9
        near(report.entropy_table, 9_f64.log2() - (4.0 + 3.0 * 3_f64.log2()) / 9.0);
        // From uniform, the divergence is the fall in entropy.
        near(report.table.divergence, report.table.entropy_fall);
        for (gain, bits) in report.classes.iter().zip([0.918296, 1.194988, 0.389975]) {
            near(gain.from_table.divergence, bits);
            near(gain.from_start.divergence, gain.from_start.entropy_fall);
        }
        near(report.worst, 1.194988);
        assert_eq!(report.worst_class, Some(1));
    }

    #[test]
    fn on_average_both_measures_are_the_mutual_information() {
        let (table, classes) = lecture();
        let report = observe(None, &table, &classes, 0).unwrap();
        let falls: f64 =
            report.classes.iter().map(|g| g.size as f64 * g.from_table.entropy_fall).sum();
        near(report.mean, falls / 9.0);
        let left: f64 = classes.iter().map(|c| entropy(&shares(c, 0).unwrap()) / 3.0).sum();
        near(report.mean, report.entropy_table - left);
    }

    #[test]
    fn a_given_belief_may_exclude_what_is_true() {
        let (table, classes) = lecture();
        let report = observe(Some(&[1.0, 1.0, 1.0, 0.0, 0.0]), &table, &classes, 0).unwrap();
        assert_eq!(report.table.divergence, f64::INFINITY);
        near(report.classes[0].from_start.divergence, 0.0);
        let known = observe(Some(&[1.0, 2.0, 2.0, 3.0, 1.0]), &table, &classes, 0).unwrap();
        near(known.table.divergence, 0.0);
    }

    #[test]
    fn a_class_may_leave_more_to_find_out_than_the_table() {
        let table = class(&[9, 1]);
        let report = observe(None, &table, &[class(&[1, 1]), class(&[8, 0])], 0).unwrap();
        assert!(report.classes[0].from_table.entropy_fall < 0.0);
        assert!(report.classes[0].from_table.divergence > 0.0);
    }

    #[test]
    fn unsound_input_is_refused() {
        let (table, classes) = lecture();
        for before in
            [&[1.0][..], &[0.0; 5], &[1.0, 1.0, 1.0, 1.0, -1.0], &[f64::NAN; 5], &[f64::MAX; 5]]
        {
            assert!(observe(Some(before), &table, &classes, 0).is_err());
        }
        assert!(observe(None, &table, &classes, 1).is_err());
        assert!(observe(None, &class(&[0, 0]), &classes, 0).is_err());
        assert_eq!(observe(None, &table, &[class(&[0; 5])], 0).unwrap().worst_class, None);
    }
}
