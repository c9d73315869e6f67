//! Rare samples on a grid, from below.

use super::grid::{Cells, Noise, inverse};
use super::law::one_minus_exp_neg;
use super::moment::{exp_minus_one, log_of_ratio, log_ratio};
use crate::num::ball::{U, exp};
use crate::num::fast::{self, LN_ERROR};

/// A sampled Gaussian's law from below, with its smallest losses merged into one.
///
/// Where samples are rare almost all losses are tiny and share a cell or a few. Moving them
/// down to the end of their cell would cost the first order of h each time; here they become
/// one outcome and the grid begins at *its* loss.
///
/// # Proof
/// Let B be the outcomes with a loss below c, and `ℓ = ln(P(B)/Q(B))`. Merging them is a
/// post-processing, so the pair that has one outcome of loss ℓ for them is below the law.
/// c is such that `c = ℓ + mh` for a whole m; so the other losses lie in cells of the grid
/// `ℓ + jh`, and [`Cells::below`] applies to them, with P(B) on point 0. Whatever is beyond the last
/// whole cell is left out. `ln(P(B)/Q(B)) = ln(1 + q·E_Q[e^u − 1 | B])` is off by the relative error of
/// the sums, `10⁻¹³·q·E|e^u − 1|`; where c is not quite `ℓ + mh`, losses are moved by the rest. ∎
pub(super) struct Merged {
    /// The loss of point 0.
    pub(super) bottom: f64,
    pub(super) masses: Vec<f64>,
    pub(super) slack: f64,
}

impl Merged {
    pub(super) fn new(
        noise: Noise,
        q: f64,
        h: f64,
        (from, to): (f64, f64),
        error: f64,
    ) -> Option<Self> {
        let Noise::Gaussian { sigma } = noise else { return None };
        // (P, ℓ, error of ℓ) of the losses below ln r(u).
        let merge = |u: f64| {
            let (mut p, mut all, mut excess, mut size) = (0.0, 0.0, 0.0, 0.0);
            noise.integrate(from, u, |u, f| {
                let more = if u.abs() < 0.25 { exp_minus_one(u) } else { exp(u) - 1.0 };
                p += f * (1.0 + q * more);
                all += f;
                excess += f * more;
                size += f * (more.abs() + 1e-2);
            });
            let y = q * excess / all;
            (p, log_of_ratio(y), 1e-12 * q * size / all + 4.0 * U * y.abs())
        };
        // At least a fiftieth of the mass is merged, so that chords may be lowered beside it.
        let least = (-0.5 / sigma - 2.05) / sigma;
        let (_, loss, _) = merge(least);
        let m = ((log_ratio(q, least) - loss) / h).ceil().max(1.0);
        let excess = |u: f64| log_ratio(q, u) - m * h - merge(u).1;
        let (mut low, mut high) = (least, to);
        if excess(high) < 0.0 {
            return None;
        }
        for _ in 0..60 {
            let middle = 0.5 * (low + high);
            if excess(middle) < 0.0 { low = middle } else { high = middle }
        }
        let (p, bottom, off) = merge(high);
        let slack = off + (log_ratio(q, high) - m * h - bottom).abs() + 8.0 * LN_ERROR;
        let m = m as usize;
        let count = ((log_ratio(q, to) - bottom) / h).floor();
        if !(slack < 0.01 * h && count > m as f64 + 4.0 && count < 1e8) {
            return None;
        }
        let count = count as usize;
        let over = 1.0 / one_minus_exp_neg(h);
        let under = fast::exp_neg(h) * over;
        let mut shares = vec![(0.0, 0.0); m];
        let (mut before, mut slack) = (high, slack);
        for j in m..count {
            let y = bottom + j as f64 * h;
            let (e, end) = (exp(y), exp(y + h));
            let next = inverse(q, y + h).clamp(before, to);
            slack = f64::max(slack, (log_ratio(q, next) - y - h).abs() + 8.0 * LN_ERROR);
            let (mut right, mut left) = (0.0, 0.0);
            noise.integrate(before, next, |u, f| {
                let r = 1.0 - q + q * exp(u);
                right += f * (r - e).max(0.0);
                left += f * (end - r).max(0.0);
            });
            shares.push((left * under, right * over));
            before = next;
        }
        let mut points = vec![0.0; count + 1];
        points[0] = p * (1.0 - 1e-12);
        let cells = Cells { points, shares, error };
        let lower = cells.below(h).unwrap_or_else(|| cells.moved_down());
        let masses: Vec<f64> =
            lower.iter().map(|m| (m * (1.0 - error) * (1.0 - 16.0 * U)).max(0.0)).collect();
        masses.iter().all(|m| m.is_finite()).then_some(Self { bottom, masses, slack })
    }
}
