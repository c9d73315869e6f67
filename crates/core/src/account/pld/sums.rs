//! Exact composition by positive sums, if there are few enough outcomes to list.
//!
//! Response, approximate and discrete mechanisms have finitely many losses. Their
//! k-fold sums live on a lattice and are convolved directly; sums of different
//! lattices are merged as sorted lists. Every number is positive and nothing is
//! subtracted, so masses keep their relative precision at any δ.

use super::law::{Atoms, Batch, Law, one_minus_exp_neg};
use super::solve::Profile;
use crate::num::ball::{EXP_ERROR, U};

/// The largest number of outcomes that are listed.
const MOST: usize = 1 << 21;
/// The largest number of multiplications for one lattice.
const WORK: f64 = 4e6;

/// The distribution of the total loss, as a sorted list.
pub(super) struct Sums {
    /// `(loss, mass)`, by increasing loss.
    outcomes: Vec<(f64, f64)>,
    /// Relative error of every mass.
    error: f64,
    infinite: (f64, f64),
    slack: f64,
}

impl Sums {
    /// Lists the outcomes; `None` if there are too many, or if a law is not discrete.
    pub(super) fn new(batch: &Batch) -> Option<Self> {
        let mut error = 0.0;
        let mut slack = batch.slack;
        let mut lattices: Vec<Atoms> = Vec::new();
        let mut count = 1.0;
        for (law, k) in &batch.laws {
            let Law::Atoms(atoms) = law else { return None };
            let length = (atoms.mass.len() - 1) as f64 * *k as f64 + 1.0;
            count *= length;
            if 0.75 * length * length > WORK || count > 1e12 {
                return None;
            }
            let power = self_convolve(atoms, *k);
            error += power.error;
            slack += power.loss_error();
            lattices.push(power);
        }
        let mut outcomes: Vec<(f64, f64)> = vec![(0.0, 1.0)];
        for lattice in &lattices {
            let n = lattice.mass.len();
            let reach = outcomes.iter().fold(0.0, |m: f64, o| m.max(o.0.abs()));
            let near = 1e-14 * (reach + lattice.loss(0).abs().max(lattice.loss(n - 1).abs()));
            if outcomes.len().saturating_mul(n) > 8 * MOST {
                return None;
            }
            outcomes = sumset(&outcomes, lattice, 0, n, near);
            // Each merge keeps one of two losses at most `near` apart, on every level.
            slack += near * (2.0 + f64::from(usize::BITS - n.leading_zeros()));
            error += 64.0 * U;
            if outcomes.len() > MOST {
                return None;
            }
        }
        error += 2.0 * outcomes.len() as f64 * U;
        Some(Self { outcomes, error: error * 1.01, infinite: batch.infinite, slack: slack * 1.01 })
    }

    /// δ of the finite losses, as a sum of positive terms.
    fn finite(&self, epsilon: f64) -> f64 {
        let from = self.outcomes.partition_point(|o| o.0 <= epsilon);
        self.outcomes[from..].iter().rev().map(|(l, m)| m * one_minus_exp_neg(l - epsilon)).sum()
    }
}

impl Profile for Sums {
    fn about(&self, epsilon: f64) -> f64 {
        self.finite(epsilon) + self.infinite.0
    }

    fn delta(&self, epsilon: f64) -> (f64, f64) {
        // The difference l − ε is rounded by u (the slack has it), the rest by
        // 8·EXP_ERROR at most, and a positive sum of n terms by n·u.
        let relative = self.error + 8.0 * EXP_ERROR + 2.0 * U * self.outcomes.len() as f64;
        let low = self.finite(epsilon + self.slack) * (1.0 - relative);
        let high = self.finite(epsilon - self.slack) * (1.0 + relative) + 1e-290;
        (
            ((low + self.infinite.0) * (1.0 - 4.0 * U)).max(0.0),
            (high + self.infinite.1) * (1.0 + 4.0 * U),
        )
    }
}

/// The law of the sum of k, by repeated squaring.
///
/// A product of lengths n ≤ m rounds every mass by at most a relative `(n + 1)u`, and
/// squaring doubles what was there: a final length ℓ collects at most `2ℓu` per
/// squaring and as much per product.
fn self_convolve(atoms: &Atoms, mut k: u64) -> Atoms {
    let (times, levels) = (k as f64, f64::from(u64::BITS - k.leading_zeros()));
    let mut square = atoms.mass.clone();
    let mut result = vec![1.0];
    loop {
        if k & 1 == 1 {
            result = convolve(&result, &square);
        }
        k >>= 1;
        if k == 0 {
            break;
        }
        square = convolve(&square, &square);
    }
    let error =
        times * atoms.error * 1.01 + 4.0 * (levels + 1.0) * (result.len() as f64 + 16.0) * U;
    let (origin, step) = (atoms.origin * times, atoms.step);
    Atoms { origin, step, first: (atoms.first as f64 * times) as i64, mass: result, error }
}

fn convolve(a: &[f64], b: &[f64]) -> Vec<f64> {
    let (short, long) = if a.len() < b.len() { (a, b) } else { (b, a) };
    let mut out = vec![0.0; short.len() + long.len() - 1];
    for (i, x) in short.iter().enumerate() {
        for (o, y) in out[i..].iter_mut().zip(long) {
            *o += x * y;
        }
    }
    out
}

/// All sums of an outcome and one of the lattice's points `from..to`, sorted.
fn sumset(
    outcomes: &[(f64, f64)],
    lattice: &Atoms,
    from: usize,
    to: usize,
    near: f64,
) -> Vec<(f64, f64)> {
    if to - from == 1 {
        let (loss, mass) = (lattice.loss(from), lattice.mass[from]);
        return outcomes.iter().map(|&(l, m)| (l + loss, m * mass)).collect();
    }
    let middle = usize::midpoint(from, to);
    let a = sumset(outcomes, lattice, from, middle, near);
    let b = sumset(outcomes, lattice, middle, to, near);
    let mut out: Vec<(f64, f64)> = Vec::with_capacity(a.len() + b.len());
    let (mut i, mut j) = (0, 0);
    while i < a.len() || j < b.len() {
        let first = j >= b.len() || (i < a.len() && a[i].0 <= b[j].0);
        let next = if first { a[i] } else { b[j] };
        if first {
            i += 1
        } else {
            j += 1
        }
        match out.last_mut() {
            Some(last) if next.0 - last.0 <= near => last.1 += next.1,
            _ => out.push(next),
        }
    }
    out
}
