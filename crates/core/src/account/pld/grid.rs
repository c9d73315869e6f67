//! Laws on a common grid, from above and from below.
//!
//! *From above* (connect the dots): a loss between two grid points is split
//! between them so that its mass under P and under Q is kept. The hockey-stick
//! curve `δ(x)`, x = e^ε, is then replaced by its chords. *From below*: the chord of
//! a cell is nowhere further from the curve than `dev = p₋p₊(e^h−1)/(p₋e^h+p₊)`,
//! with p₋, p₊ the two shares, because merging the cell's outcomes into one (a
//! post-processing) gives a curve below the true one that touches the chord's ends.
//! Lowering the chords' ends by at least the dev of both neighbouring cells
//! gives a piecewise linear curve below δ with corners on the grid; where it is
//! convex it is the curve of a dominated pair. Both are off by O(h²) per mechanism.
//!
//! # References
//! Doroshenko, Ghazi, Kamath, Kumar, Manurangsi 2022 (arXiv:2207.04380v1), §3–4.

use super::law::{Atoms, Direction, Law, one_minus_exp_neg};
use super::merged::Merged;
use super::moment::log_ratio;
use super::rule::GAUSS;
use crate::num::ball::{U, exp};
use crate::num::fast::{self, LN_ERROR};

/// One law on the grid `origin + h·(first + j)`.
pub(super) struct Gridded {
    pub(super) origin: f64,
    pub(super) first: i64,
    /// Dominates the law.
    pub(super) upper: Vec<f64>,
    /// Is dominated by it.
    pub(super) lower: Vec<f64>,
    /// Mass that counts as an infinite loss, in `upper` only.
    pub(super) lost: f64,
    /// How far a loss of the model may be from the law's, under a coupling.
    pub(super) slack: f64,
    /// The origin of `lower` less that of `upper`: the lower masses have a grid of their own.
    pub(super) shift: f64,
}

/// A law being put on the grid: masses on points, and shares of the cells
/// between point j and point j + 1.
pub(super) struct Cells {
    pub(super) points: Vec<f64>,
    pub(super) shares: Vec<(f64, f64)>,
    /// Error of a point relative to its mass, and of a share relative to its cell's.
    pub(super) error: f64,
}

/// What a sampled law leaves out on either side: `e^−REACH`, relative to 1.
const REACH: f64 = 80.0;

/// All of the noise.
const ALL: (f64, f64) = (f64::NEG_INFINITY, f64::INFINITY);

impl Gridded {
    /// `None` if the law cannot be put on a grid with this spacing.
    pub(super) fn new(law: &Law, h: f64, most: usize) -> Option<Self> {
        match law {
            Law::Atoms(atoms) => Self::of_atoms(atoms, h, most),
            Law::Laplace { a } => Self::of_laplace(*a, h, most),
            Law::Gaussian { mu2, error } => {
                // The loss u itself: q = 1 in the sampled law. The error of μ
                // is a relative error of its square root.
                let sigma = 1.0 / mu2.sqrt();
                let noise = Noise::Gaussian { sigma };
                let mut gridded = sampled(noise, 1.0, Direction::Remove, h, most, ALL)?;
                // Losses scale by μ²/2 + μz: |z| ≤ 14 within REACH.
                gridded.slack += (error + 8.0 * U) * (mu2 + 14.0 * mu2.sqrt());
                Some(gridded)
            }
            Law::SampledGaussian { q, sigma, direction, cut } => {
                // Noise beyond the cut is counted as infinite loss already.
                let between = (f64::NEG_INFINITY, (cut - 0.5) / (sigma * sigma));
                sampled(Noise::Gaussian { sigma: *sigma }, *q, *direction, h, most, between)
            }
            Law::Band { q, sigma, between } => {
                let at = |x: f64| (x - 0.5) / (sigma * sigma);
                let between = (at(between.0), at(between.1));
                sampled(Noise::Gaussian { sigma: *sigma }, *q, Direction::Remove, h, most, between)
            }
            Law::SampledLaplace { q, a, direction } => {
                sampled(Noise::Laplace { a: *a }, *q, *direction, h, most, ALL)
            }
        }
    }

    /// Losses moved to the nearest grid points of a grid through the middle one.
    fn of_atoms(atoms: &Atoms, h: f64, most: usize) -> Option<Self> {
        let stride = (atoms.step / h).round();
        let length = stride * (atoms.mass.len() - 1) as f64 + 1.0;
        if !(stride >= 1.0 && length <= most as f64) {
            return None;
        }
        let mut points = vec![0.0; length as usize];
        for (place, mass) in points.iter_mut().step_by(stride as usize).zip(&atoms.mass) {
            *place = *mass;
        }
        // Pivot on the middle atom, so that the ends move by half the total.
        let middle = atoms.mass.len() / 2;
        let origin = atoms.loss(middle);
        let first = -((middle as f64 * stride) as i64);
        let off = (atoms.step - stride * h).abs() + 4.0 * U * atoms.step;
        let slack = off * (middle + 1) as f64 + 2.0 * atoms.loss_error();
        let cells = Cells { points, shares: Vec::new(), error: atoms.error };
        Some(cells.finish(origin, first, h, 0.0, slack))
    }

    /// a is moved to the nearest multiple of h/2; on `[ℓ, ℓ+h]` the shares are
    /// `½e^((ℓ−a)/2)·tanh(h/4)` and `½e^((ℓ+h−a)/2)·tanh(h/4)`.
    fn of_laplace(a: f64, h: f64, most: usize) -> Option<Self> {
        let cells = (2.0 * a / h).round();
        if !(cells >= 1.0 && cells < most as f64) {
            return None;
        }
        let n = cells as usize;
        let e = fast::exp_neg(0.5 * h);
        let tanh = one_minus_exp_neg(0.5 * h) / (1.0 + e);
        let weight = |j: usize| 0.5 * fast::exp_neg(0.5 * h * (n - j) as f64) * tanh;
        let weights: Vec<f64> = (0..=n).map(weight).collect();
        let mut points = vec![0.0; n + 1];
        points[n] = 0.5;
        points[0] += 0.5 * fast::exp_neg(0.5 * h * cells);
        let shares = weights.windows(2).map(|w| (w[0], w[1])).collect();
        // Exponents up to 500, with one rounding.
        let error = 500.0 * 2.0 * U + 20.0 * fast::EXP_ERROR;
        let slack = (0.5 * cells * h - a).abs() + 4.0 * U * a;
        let cells = Cells { points, shares, error };
        Some(cells.finish(a, -(n as i64), h, 0.0, slack))
    }
}

impl Cells {
    fn finish(&self, origin: f64, first: i64, h: f64, lost: f64, slack: f64) -> Gridded {
        let (more, less) = (1.0 + self.error, 1.0 - self.error);
        let mut upper: Vec<f64> = self.points.iter().map(|p| p * more).collect();
        for (j, (left, right)) in self.shares.iter().enumerate() {
            let doubt = self.error * (left + right);
            upper[j] += left + doubt;
            upper[j + 1] += right + doubt;
        }
        for mass in &mut upper {
            *mass *= 1.0 + 8.0 * U;
        }
        let lower = self
            .below(h)
            .unwrap_or_else(|| self.moved_down())
            .into_iter()
            .map(|m| (m * less * (1.0 - 16.0 * U)).max(0.0))
            .collect();
        Gridded { origin, first, upper, lower, lost, slack, shift: 0.0 }
    }

    /// Every cell's mass on its lower end: below the law, to first order only.
    pub(super) fn moved_down(&self) -> Vec<f64> {
        let mut lower = self.points.clone();
        for (j, (left, right)) in self.shares.iter().enumerate() {
            lower[j] += (left + right) * (1.0 - 2.0 * self.error);
        }
        lower
    }

    /// The masses of the lowered chords; `None` if they cannot all be positive.
    ///
    /// # Proof
    /// Some cells (at least the outermost) are moved down, which is below the
    /// law; let d_j be at least dev of the cells that remain on either side of
    /// point j (0 if none). The curve through `(x_j, δ(x_j) − d_j)` lies below δ.
    /// A change of the ordinates by −d_j changes the mass at x_j, which is x_j
    /// times the change of slope, by
    /// `−(d_{j+1} − d_j)/(e^h − 1) + (d_j − d_{j−1})/(1 − e^−h)`. If all masses are
    /// non-negative the curve is convex, that is, belongs to a pair. A mass
    /// taken too small (by the error of the shares) is mass dropped: lower still. dev
    /// grows with both shares, so it is taken at their upper ends. Where the law
    /// is so steep that a mass would be negative, the cells around it are moved
    /// down as well, and all is tried again.
    pub(super) fn below(&self, h: f64) -> Option<Vec<f64>> {
        let n = self.shares.len();
        if n == 0 {
            return Some(self.points.clone());
        }
        let up = 1.0 / one_minus_exp_neg(h);
        let down = fast::exp_neg(h) * up; // 1/(e^h − 1)
        let growth = 1.0 / down;
        let mut moved = vec![false; n];
        (moved[0], moved[n - 1]) = (true, true);
        for _ in 0..200 {
            let mut mass = self.points.clone();
            let mut d = vec![0.0; n + 1];
            for (j, &(left, right)) in self.shares.iter().enumerate() {
                let doubt = self.error * (left + right);
                if moved[j] {
                    mass[j] += (left + right) - 2.0 * doubt;
                    continue;
                }
                mass[j] += left - doubt;
                mass[j + 1] += right - doubt;
                let (left, right) = (left + doubt, right + doubt);
                if left > 0.0 && right > 0.0 {
                    let dev = growth / ((1.0 + growth) / right + 1.0 / left) * (1.0 + 64.0 * U);
                    d[j] = f64::max(d[j], dev);
                    d[j + 1] = f64::max(d[j + 1], dev);
                }
            }
            let mut steep = false;
            for j in 0..=n {
                let before = if j > 0 { d[j - 1] } else { 0.0 };
                let after = if j < n { d[j + 1] } else { 0.0 };
                let change = (after - d[j]) * down - (d[j] - before) * up;
                let size = (after + d[j]) * down + (d[j] + before) * up;
                // Floats of the law's points may be `error` too large.
                mass[j] -= change + 16.0 * U * size + self.error * self.points[j];
                if mass[j] < 0.0 && size > 0.0 {
                    steep = true;
                    moved[j.saturating_sub(2)..(j + 2).min(n)].fill(true);
                }
            }
            if !steep {
                return Some(mass);
            }
        }
        None
    }
}

/// The noise under a sampled law, through its loss u without sampling, under Q.
#[derive(Clone, Copy)]
pub(super) enum Noise {
    /// u ~ N(−1/2σ², 1/σ²).
    Gaussian { sigma: f64 },
    /// Density `¼e^(−(a+u)/2)` on (−a, a), ½ at −a, `½e^−a` at a.
    Laplace { a: f64 },
}

impl Noise {
    fn density(self, u: f64) -> f64 {
        match self {
            Self::Gaussian { sigma } => {
                let z = (u + 0.5 / (sigma * sigma)) * sigma;
                sigma * 0.398_942_280_401_432_7 * exp(-0.5 * z * z)
            }
            Self::Laplace { a } => 0.25 * exp(-0.5 * (a + u)),
        }
    }

    /// A range of u outside which both P and Q have mass below `e^−REACH`, or nothing.
    fn range(self) -> (f64, f64) {
        match self {
            Self::Gaussian { sigma } => {
                let (mean, reach) = (0.5 / (sigma * sigma), (2.0 * REACH).sqrt() / sigma);
                (-mean - reach, mean + reach)
            }
            Self::Laplace { a } => (-a, a),
        }
    }

    /// Panels at most this wide are integrated to 10⁻¹³ by eight nodes.
    fn panel(self) -> f64 {
        match self {
            // |d ln density/du| ≤ σ·|z| ≤ 13.5σ, and 1 more for e^u.
            Self::Gaussian { sigma } => 0.4 / (13.5 * sigma + 1.0),
            Self::Laplace { .. } => 0.25,
        }
    }

    /// Calls back with every node u between u1 and u2 and its weight times the density.
    pub(super) fn integrate(self, u1: f64, u2: f64, mut node: impl FnMut(f64, f64)) {
        let panels = ((u2 - u1) / self.panel()).ceil().max(1.0);
        let half = 0.5 * (u2 - u1) / panels;
        for panel in 0..panels as usize {
            let middle = u1 + half * (2 * panel + 1) as f64;
            for (place, weight) in GAUSS {
                for u in [middle - half * place, middle + half * place] {
                    node(u, weight * half * self.density(u));
                }
            }
        }
    }
}

/// Puts `±ln(1 − q + q·e^u)` on the grid.
///
/// # Proof
/// With `r = 1 − q + q·e^u`, removing: P has density f·r, and the shares of a
/// cell `[y, y+h]` are `∫f(r − e^y)/(1 − e^−h)` above and `∫f(e^(y+h) − r)/(e^h − 1)`
/// below. Adding: P is f itself and the loss −ln r, so that the shares are
/// `e^y·∫f(e^−y − r)/(1 − e^−h)` above and `e^(y+h)·∫f(r − e^(−y−h))/(e^h − 1)` below.
/// The boundaries u_j are floats; `ln r(u_j)` is within `slack` of the grid, and
/// a loss is moved by at most that to lie in its cell. f is the exponential of a
/// polynomial of degree two: on the Bernstein ellipse with ρ = 20 around a panel
/// (semi-axis below 10 half-widths) it stays below e³ of its size on the panel and the
/// factor below 20 of its mean, so eight nodes err by at most
/// `(64/15)·60·e³·20⁻¹⁶/(1−20⁻²) < 10⁻¹⁷` (Trefethen 2013, Theorem 19.3), far below the
/// rounding of r − e^y, `8u·e^h/h` relative to the cell's. ∎
fn sampled(
    noise: Noise,
    q: f64,
    direction: Direction,
    h: f64,
    most: usize,
    between: (f64, f64),
) -> Option<Gridded> {
    let (from, to) = noise.range();
    let whole = between.0 <= from;
    let (from, to) = (from.max(between.0), to.min(between.1));
    let sign = if direction == Direction::Remove { 1.0 } else { -1.0 };
    let loss = |u: f64| sign * log_ratio(q, u);
    let (low, high) = if sign > 0.0 { (loss(from), loss(to)) } else { (loss(to), loss(from)) };
    // A law with an atom at the bottom has it on the grid, within the slack.
    let atoms = matches!(noise, Noise::Laplace { .. });
    let n = if atoms { ((high - low) / h).round() } else { ((high - low) / h).ceil() };
    // Within 600 nothing overflows, so no ∞ − ∞ hides in a maximum with 0.
    let tame = [from, to, low, high].iter().all(|x| x.abs() <= 600.0);
    if !(tame && n >= 6.0 && n < most as f64) {
        return None;
    }
    // The grid hangs from the largest loss; its lowest cell may begin below the smallest.
    let n = n as usize;
    let grid = |j: usize| high - (n - j) as f64 * h;
    let start = if sign > 0.0 { from } else { to };
    let mut edges = Vec::with_capacity(n + 1);
    // An atom at the smallest loss goes to the lowest point.
    let mut slack = if atoms { (low - grid(0)).abs() } else { 0.0 };
    for j in 0..=n {
        let y = grid(j);
        let u = if j == 0 && y <= low {
            start
        } else if j == n {
            if sign > 0.0 { to } else { from }
        } else {
            // In order, whatever the library's logarithm does.
            let before = edges.last().copied().unwrap_or(start);
            let u = inverse(q, sign * y).clamp(from, to);
            if sign > 0.0 { u.max(before) } else { u.min(before) }
        };
        if j > 0 || y > low {
            slack = f64::max(slack, (loss(u) - y).abs());
        }
        edges.push(u);
    }
    let slack = slack + 4.0 * LN_ERROR + 16.0 * U * (1.0 + high.abs() + low.abs());
    let over = 1.0 / one_minus_exp_neg(h);
    let under = fast::exp_neg(h) * over;
    let mut shares = Vec::with_capacity(n);
    for j in 0..n {
        let (u1, u2) = if sign > 0.0 { (edges[j], edges[j + 1]) } else { (edges[j + 1], edges[j]) };
        let (y, e) = (grid(j), exp(sign * grid(j)));
        let end = exp(sign * grid(j + 1));
        let (mut right, mut left) = (0.0, 0.0);
        noise.integrate(u1, u2, |u, f| {
            let r = 1.0 - q + q * exp(u);
            right += f * (sign * (r - e)).max(0.0);
            left += f * (sign * (end - r)).max(0.0);
        });
        if sign > 0.0 {
            shares.push((left * under, right * over));
        } else {
            let (lift, higher) = (exp(y), exp(y + h));
            shares.push((left * under * higher, right * over * lift));
        }
    }
    let mut points = vec![0.0; n + 1];
    // Losses below the lowest point, by less than the slack: all of them there.
    if edges[0] != start {
        let (u1, u2) = (start.min(edges[0]), start.max(edges[0]));
        noise.integrate(u1, u2, |u, f| {
            points[0] += f * if sign > 0.0 { 1.0 - q + q * exp(u) } else { 1.0 };
        });
    }
    let mut lost = 0.0;
    match noise {
        Noise::Gaussian { .. } => lost = 2.0 * exp(-REACH),
        Noise::Laplace { a } => {
            let (top, bottom) = (0.5 * exp(-a), 0.5);
            let under =
                |mass: f64, u: f64| if sign > 0.0 { mass * (1.0 - q + q * exp(u)) } else { mass };
            let (first, last) = if sign > 0.0 {
                (under(bottom, -a), under(top, a))
            } else {
                (under(top, a), under(bottom, -a))
            };
            points[n] += last;
            points[0] += first;
        }
    }
    // r − e^y is the difference of two numbers each within 2·EXP_ERROR, over h.
    let reach = from.abs().max(to.abs());
    let error = 1e-13 + (8.0 * fast::EXP_ERROR + 16.0 * U * reach) * (1.0 + 1.0 / h);
    if !shares.iter().all(|(left, right)| (left + right).is_finite()) {
        return None;
    }
    let cells = Cells { points, shares, error };
    let mut gridded = cells.finish(high, -(n as i64), h, lost, slack);
    if let (Noise::Gaussian { .. }, Direction::Remove, true) = (noise, direction, whole)
        && let Some(below) = Merged::new(noise, q, h, (from, to), error)
        && below.masses.len() <= n + 1
    {
        // Both end at about the largest loss; `first + j` is −(n − j).
        let before = n + 1 - below.masses.len();
        gridded.shift = below.bottom + (n - before) as f64 * h - high;
        gridded.lower = [vec![0.0; before], below.masses].concat();
        gridded.slack = gridded.slack.max(below.slack);
    }
    Some(gridded)
}

/// u with `ln(1 − q + q·e^u) = y`, about.
pub(super) fn inverse(q: f64, y: f64) -> f64 {
    let r = y.exp_m1() / q;
    if r > -1.0 { r.ln_1p() } else { f64::NEG_INFINITY }
}

#[cfg(test)]
mod tests;
