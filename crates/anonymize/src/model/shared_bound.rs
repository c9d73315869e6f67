//! A bound that holds for every M, and proposals for a good one.
//!
//! For weights w over the classes, `max_C D(C, M) ≥ Σ w_C·D(C, M) / Σ w_C`, and the least of
//! the right side over all M of at least n rows is found by a greedy choice. Good weights and
//! good subsets are two players' strategies in one game; multiplicative weights find
//! both. The play need not be exact: its results are checked in integers.

use super::shared::Part;
use crate::exact::Fraction;
use std::cmp::Reverse;

/// Shares are whole multiples of 2⁻⁴⁰ here.
const GRID: u64 = 1 << 40;
/// Rounds of the game.
const ROUNDS: u32 = 300;
/// The most weight of one class.
const HEAVY: f64 = 1_048_576.0;

/// What weights prove.
pub(crate) struct Bound {
    /// No M of at least n rows is on average nearer.
    pub(crate) bound: Fraction,
    /// Shares of the least M, in grid units.
    pub(crate) shares: Vec<u64>,
}

/// The game's results.
pub(crate) struct Proposal {
    /// Subsets worth measuring.
    pub(crate) subsets: Vec<Vec<u64>>,
    /// One for each class; not all 0.
    pub(crate) weights: Vec<u64>,
}

/// The least of `Σ w_C·Σ_v max(0, p_Cv − y_v) / Σ w_C` over shares y with `y_v ≤ q_v/n`, `Σ y = 1`.
///
/// # Proof
/// M of s ≥ n rows has `y_v = x_v/s ≤ q_v/n`, so M is among the y. As a function of y_v the sum is convex
/// and piecewise linear with kinks at the p_Cv, so filling the steepest pieces first is
/// optimal. The p are rounded down and the limits up to the grid: both only lower the result. ∎
pub(crate) fn lower_bound(parts: &[Part<'_>], stock: &[u64], n: u64, weights: &[u64]) -> Bound {
    let grid = u128::from(GRID);
    let mut pieces: Vec<(u128, u64, usize)> = Vec::new();
    let mut cost = 0_u128;
    for (v, &q) in stock.iter().enumerate() {
        let limit = (u128::from(q) * grid).div_ceil(u128::from(n)).min(grid) as u64;
        let share = |part: &Part<'_>| {
            (u128::from(part.c.get(v).copied().unwrap_or(0)) * grid / u128::from(part.m)) as u64
        };
        let mut kinks: Vec<(u64, u64)> = parts
            .iter()
            .zip(weights)
            .filter(|(_, weight)| **weight > 0)
            .map(|(part, &weight)| (share(part), weight))
            .collect();
        kinks.sort_unstable();
        let mut slope: u128 = kinks.iter().map(|(_, weight)| u128::from(*weight)).sum();
        let mut from = 0;
        for (to, weight) in kinks {
            cost += u128::from(to) * u128::from(weight);
            if to.min(limit) > from {
                pieces.push((slope, to.min(limit) - from, v));
                from = to.min(limit);
            }
            slope -= u128::from(weight);
        }
        if limit > from {
            pieces.push((0, limit - from, v));
        }
    }
    // Stable: the pieces of one value stay in the order of their slopes.
    pieces.sort_by_key(|(slope, _, _)| Reverse(*slope));
    let (mut left, mut shares) = (GRID, vec![0; stock.len()]);
    for (slope, length, v) in pieces {
        let taken = length.min(left);
        left -= taken;
        cost = cost.saturating_sub(slope * u128::from(taken));
        if let Some(share) = shares.get_mut(v) {
            *share += taken;
        }
    }
    let all: u128 = weights.iter().map(|&weight| u128::from(weight)).sum();
    let bound =
        all.checked_mul(grid).and_then(|area| Fraction::new(cost, area)).unwrap_or(Fraction::ZERO);
    Bound { bound, shares }
}

/// Plays the game. Floats propose; nothing they say is believed.
pub(crate) fn propose(parts: &[Part<'_>], stock: &[u64], n: u64) -> Proposal {
    let rows: u64 = stock.iter().sum();
    let mut best = (Fraction::ZERO, vec![1_u64; parts.len()]);
    let mut total_loss = vec![0.0_f64; parts.len()];
    // Over all rounds, and over those since the last change of rate.
    let mut means = [vec![0.0_f64; stock.len()], vec![0.0_f64; stock.len()]];
    let mut subsets = vec![stock.to_vec()];
    let mut rate = 2.0;
    for round in 0..ROUNDS {
        let top = total_loss.iter().copied().fold(f64::MIN, f64::max);
        let weights: Vec<u64> =
            total_loss.iter().map(|loss| (HEAVY * (rate * (loss - top)).exp()) as u64).collect();
        let answer = lower_bound(parts, stock, n, &weights);
        if answer.bound > best.0 {
            best = (answer.bound, weights);
        }
        if round % 60 == 0 {
            means[1].fill(0.0);
        }
        for mean in &mut means {
            mean.iter_mut()
                .zip(&answer.shares)
                .for_each(|(mean, &share)| *mean += share as f64 / GRID as f64);
        }
        for (part, loss) in parts.iter().zip(&mut total_loss) {
            *loss += part
                .c
                .iter()
                .zip(&answer.shares)
                .map(|(&c, &y)| (c as f64 / part.m as f64 - y as f64 / GRID as f64).max(0.0))
                .sum::<f64>();
        }
        if round % 60 == 59 {
            rate *= 1.5;
        }
    }
    // Sizes near n round worst but have the most room; a few larger ones round better.
    let sizes = (n..=rows)
        .take(64)
        .chain((1..12).filter_map(|i| n.checked_mul(1 << i)).filter(|&size| size <= rows));
    for size in sizes {
        subsets.extend(means.iter().filter_map(|mean| round_to(mean, stock, size)));
    }
    Proposal { subsets, weights: best.1 }
}

/// Whole counts near the given shares, summing to `size`, within the stock.
fn round_to(shares: &[f64], stock: &[u64], size: u64) -> Option<Vec<u64>> {
    let sum: f64 = shares.iter().sum();
    let wanted: Vec<f64> = shares.iter().map(|share| share / sum * size as f64).collect();
    let mut counts: Vec<u64> =
        wanted.iter().zip(stock).map(|(wanted, &q)| (wanted.floor() as u64).min(q)).collect();
    let mut left = size.checked_sub(counts.iter().sum())?;
    let mut order: Vec<usize> = (0..counts.len()).collect();
    order.sort_by(|&a, &b| wanted[b].fract().total_cmp(&wanted[a].fract()));
    for most in [1, u64::MAX] {
        for &v in &order {
            let more = left.min(most).min(stock[v] - counts[v]);
            counts[v] += more;
            left -= more;
        }
    }
    (left == 0).then_some(counts)
}
