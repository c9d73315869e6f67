//! Bounds on how fast a transform dies out along a contour.

use super::cumulant::cumulants;
use super::law::{Direction, Law};
use super::moment::{log_ratio, log_ratio_with_error};
use super::rule::{NODES, Panels, Rule, power};
use crate::num::ball::{EXP_ERROR, U, exp};
use crate::num::fast::{self, LN_ERROR};

/// A bound, not increasing in T, on `|M(s₀ + it)|/M(s₀)` for all t ≥ T > 0.
pub(super) enum Decay {
    /// `e^(−μ²t²/2)`.
    Gaussian(f64),
    /// `(1 + 1/2t)/c`.
    Laplace(f64),
    /// The least of `share + variation/t` and `1 − Σp(1 − env(λt/2))` over uniform layers (p, λ).
    Density { share: f64, variation: f64, layers: Vec<(f64, f64)> },
    /// 1.
    None,
}

impl Decay {
    /// The logarithm of the bound at T.
    pub(super) fn log(&self, top: f64) -> f64 {
        let ratio = match self {
            Self::Gaussian(mu2) => return -0.499_999 * mu2 * top * top,
            Self::Laplace(c) => (1.0 + 0.5 / top) / c,
            Self::Density { share, variation, layers } => {
                let falls: f64 = layers.iter().map(|(p, l)| p * (1.0 - sinc(0.5 * l * top))).sum();
                let falls = falls * (1.0 - 1e-9); // more than the sum's rounding
                let core = if falls < 0.1 { -falls } else { log_of(1.0 - falls) }; // ln(1−y) ≤ −y
                return core.min(log_of(share + variation / top));
            }
            Self::None => return 0.0,
        };
        log_of(ratio)
    }
}

/// A bound on `|sin y/y|` for all y ≥ x.
///
/// # Proof
/// `sin y ≤ y − y³/6 + y⁵/120`, and `1 − y²/6 + y⁴/120` falls up to √10. For x ≤ 2 it is at
/// least its value at 2, 0.466, or at y; from π on the left side is at most 1/π. ∎
fn sinc(x: f64) -> f64 {
    let square = x * x;
    if x <= 2.0 { 1.0 - square / 6.0 * (1.0 - 0.05 * square) } else { (1.0 / x).min(0.467) }
}

/// `ln ratio`, from above, for a ratio below 1; 0 otherwise. `fast::ln` is good to LN_ERROR down
/// to 2⁻⁶⁴; any ratio below that counts as 2⁻⁶⁰.
fn log_of(ratio: f64) -> f64 {
    if ratio < 1.0 { (fast::ln(ratio.max(8e-19)) + 2.0 * LN_ERROR).min(0.0) } else { 0.0 }
}

impl Law {
    /// How `|M(s₀ + it)|` falls.
    ///
    /// # Proof
    /// *Gaussian*: `|M(s₀+it)| = M(s₀)·e^(−μ²t²/2)`, exactly. *Laplace*: with
    /// w = s + ½, `M = e^(−a/2)(cosh wa + sinh wa/(2w))`; both functions are at
    /// most `cosh w₀a` in modulus, and `|w| ≥ T`.
    ///
    /// *Sampled Gaussian*: let g be the density of L tilted by e^(s₀L) and
    /// normalised. Its transform is at most its total variation over t, and g has at
    /// most two modes ([`Shape`]). If g is at least a sum of uniform laws of lengths λ and
    /// masses p, it is that sum plus a rest, so that `|ĝ| ≤ 1 − Σp + Σp·|sin x/x|`, x = λt/2.
    ///
    /// *Sampled Laplace*: two atoms, and a density that is monotone or has one
    /// minimum (`(ln g)′ = −3/2 + (z₀+1)w` in u, with w = q·e^u/r monotone), so that integrating
    /// by parts gives at most `2(g(−a) + g(a))/t`. For small t, uniform layers as above: with many
    /// steps the sum is smooth long before that bound is below 1. ∎
    pub(super) fn decay(&self, s0: f64) -> Decay {
        match self {
            Self::Gaussian { mu2, .. } => Decay::Gaussian(*mu2),
            Self::Laplace { a } => {
                let w = s0 + 0.5;
                let e = fast::exp_neg(2.0 * w * a);
                let tanh = (1.0 - e) / (1.0 + e);
                Decay::Laplace(1.0 + 0.5 * tanh / w)
            }
            Self::Atoms(_) | Self::Band { .. } => Decay::None,
            Self::SampledGaussian { q, sigma, direction, cut } => {
                let Some(shape) = Shape::new(*q, *sigma, *direction, s0, *cut) else {
                    return Decay::None;
                };
                // Two rises, two falls, and one more where the law is cut.
                let variation = 5.0 * shape.peak();
                Decay::Density { share: 0.0, variation, layers: shape.layers() }
            }
            Self::SampledLaplace { q, a, direction } => {
                let (z, _) = power(*direction, s0);
                let rule = Panels::laplace(*q, *a, *direction, s0, 0.0);
                let doubt = log_doubt(z, 4.0 * LN_ERROR, z.abs() * (a + 30.0) + 2.0 * a);
                if rule.count() > NODES || doubt > 1e-7 {
                    return Decay::None;
                }
                let about_m = cumulants(rule.weighted().into_iter()).0;
                let log_m = about_m - 1e-9 - 4.0 * doubt;
                let log = |u: f64| log_ratio(*q, u);
                // ½e^−a·r(a)^z₀ + ½·r(−a)^z₀, and g(u) = ¼e^(−(a+u)/2)·r^(z₀+1)/(q·e^u).
                let share = 0.5 * exp(z * log(*a) - a - log_m) + 0.5 * exp(z * log(-a) - log_m);
                let g = |u: f64| {
                    exp((z + 1.0) * log(u) - 0.5 * (a + u) - u - fast::ln(*q) - log_m) * 0.25
                };
                let variation = 2.0 * (g(*a) + g(-a)) * (1.0 + 1e-9);
                let share = share * (1.0 + 1e-9);
                // Less than 10⁻⁶ covers the doubt of both logarithms, at most 10⁻⁷ each.
                let constant = -0.5 * a - fast::ln(4.0 * *q) - about_m - 1e-6;
                Decay::Density { share, variation, layers: laplace_layers(*q, *a, z, constant) }
            }
        }
    }
}

/// Uniform layers that the density `e^(C + (z₀+1)ln r − 3u/2)` of a sampled Laplace law is at least the sum
/// of: on a cell ln r and u are least or greatest at its ends.
fn laplace_layers(q: f64, a: f64, z: f64, constant: f64) -> Vec<(f64, f64)> {
    let count = (40.0 * a).ceil().clamp(50.0, 600.0) as usize;
    let edge = |i: usize| -a + 2.0 * a * i as f64 / count as f64;
    let cells: Vec<Cell> = (0..count)
        .map(|i| {
            let (x, end) = (edge(i), edge(i + 1));
            let ((from, from_error), (to, to_error)) =
                (log_ratio_with_error(q, x), log_ratio_with_error(q, end));
            let least = ((z + 1.0) * from).min((z + 1.0) * to) - 1.5 * end;
            let height = exp(constant + least) * (1.0 - EXP_ERROR);
            let length = (to - from - from_error - to_error).max(0.0) * (1.0 - 1e-12);
            Cell { x, height, length }
        })
        .collect();
    // The density falls, rises, or falls and then rises.
    let lowest = (0..count).min_by(|i, j| cells[*i].height.total_cmp(&cells[*j].height));
    let mut layers = Vec::new();
    let (left, right) = cells.split_at(lowest.unwrap_or(0));
    stack(left, &mut layers);
    stack(right, &mut layers);
    layers
}

/// A bound on the error of a logarithm `z·ln r + (rest)` in floats, for logarithms ln r that are off by at
/// most `off`, and terms of modulus `size` at most in all.
///
/// # Proof
/// The error of ln r, `2·LN_ERROR` and 4u of its argument's modulus or what [`log_ratio_with_error`]
/// says, is multiplied by z; six more roundings of numbers below `size`, and the exponential
/// and logarithm of a sum of such terms, add `10u·size` and 10⁻¹³. For large tilts this is no
/// longer small, unless losses are as tiny as those of rare samples are. ∎
fn log_doubt(z: f64, off: f64, size: f64) -> f64 {
    (z.abs() + 2.0) * off + 20.0 * U * size + 1e-13
}

/// The tilted density of a sampled Gaussian's loss, as a function of the noise x.
///
/// With u = (x−½)/σ² and r = 1 − q + q·e^u, `|dL/dx| = q·e^u/(σ²r)`, so the density at
/// x is `g = φ_σ·r^(z₀+1)·σ²/(q·e^u·M)`, that is
/// `ln g = C − (x+1)²/2σ² + (z₀+1)·ln r`. `σ²(ln g)′ = −x − 1 + (z₀+1)w` with
/// `w = q·e^u/r` logistic in x, so that w′ takes a value at most twice and (ln g)′
/// vanishes at most three times: at most two maxima.
struct Shape {
    q: f64,
    sigma: f64,
    /// z₀ + 1.
    power: f64,
    /// C, give or take 10⁻⁶.
    constant: f64,
    /// Where the noise is cut.
    cut: f64,
}

impl Shape {
    /// `None` if the logarithms would be off by 10⁻⁷ or more, as for very large tilts.
    fn new(q: f64, sigma: f64, direction: Direction, s0: f64, cut: f64) -> Option<Self> {
        let z = power(direction, s0).0;
        let variance = sigma * sigma;
        // No x beyond these is looked at: see `range`, and `modes`, where w ≤ q/(1−q) left of 0.
        let left = 2.0 + 20.0 * sigma + (z.abs() + 1.0) * q / (1.0 - q);
        let right = match direction {
            Direction::Remove => (z.abs() + 1.0 + 20.0 * sigma).min(cut),
            Direction::Add => 2.0 + 20.0 * sigma,
        };
        let u = left.max(right + 0.5) / variance;
        let most = q * exp(((right - 0.5) / variance).clamp(0.0, 600.0));
        let size = (left.max(right) + 1.0) * (u + 1.0);
        let doubt = if most < 0.0077 && right <= 2.0 * variance {
            // Every |q(e^u − 1)| is at most `most`: the first case of `log_ratio_with_error`.
            let off = most * (1.02 * (4.0 * U * u + EXP_ERROR) + 17.0 * U);
            log_doubt(z, off, size + (z.abs() + 2.0) * 1.02 * most + 100.0)
        } else {
            log_doubt(z, 4.0 * LN_ERROR, size + (z.abs() + 2.0) * (u + 40.0))
        };
        if doubt.is_nan() || doubt > 1e-7 {
            return None;
        }
        let log_m = if cut < f64::INFINITY {
            let rule = Panels::gaussian(q, sigma, direction, s0, 0.0, cut);
            if rule.count() > NODES {
                return None;
            }
            cumulants(rule.weighted().into_iter()).0
        } else {
            let rule = Rule::new(q, sigma, direction, s0, 0.0, 30.0);
            if rule.count() > NODES {
                return None;
            }
            cumulants((0..rule.count()).map(|j| rule.node(j))).0 + rule.log_factor()
        };
        // ½ ln 2π, and −u = 1/2σ² − x/σ², which completes the square.
        let constant =
            fast::ln(sigma) - 0.918_938_533_204_672_8 - fast::ln(q) + 1.0 / (sigma * sigma) - log_m;
        Some(Self { q, sigma, power: power(direction, s0).0 + 1.0, constant, cut })
    }

    fn log_r(&self, x: f64) -> f64 {
        log_ratio_with_error(self.q, (x - 0.5) / (self.sigma * self.sigma)).0
    }

    /// `−(x+1)²/2σ²`.
    fn square(&self, x: f64) -> f64 {
        -(x + 1.0) * (x + 1.0) / (2.0 * self.sigma * self.sigma)
    }

    /// Bounds on `ln g − C` over `[x₁, x₂]`: ln r is monotone, the square is
    /// greatest at the point nearest −1 and least at an end.
    fn bounds(&self, x1: f64, x2: f64) -> (f64, f64) {
        let (a, b) = (self.power * self.log_r(x1), self.power * self.log_r(x2));
        let low = self.square(x1).min(self.square(x2)) + a.min(b);
        (low, self.square((-1f64).clamp(x1, x2)) + a.max(b))
    }

    /// The range in which the modes may be.
    fn range(&self) -> (f64, f64) {
        (-1.0 - 12.0 * self.sigma, (self.power.max(0.0) + 12.0 * self.sigma).min(self.cut))
    }

    /// An upper bound on g.
    ///
    /// # Proof
    /// Interval by interval within the range. Left of it ln r is between `ln(1−q)` and its
    /// value there, and the square only falls; right of it, with `r ≤ max(1, e^u)` if
    /// z₀+1 ≥ 0 and `r ≥ 1−q` otherwise, the bound falls too, as `x ≥ z₀+1`. ∎
    fn peak(&self) -> f64 {
        let (from, to) = self.range();
        let (steps, mut top) = (600, f64::NEG_INFINITY);
        let width = (to - from) / f64::from(steps);
        for i in 0..steps {
            let x = from + width * f64::from(i);
            top = top.max(self.bounds(x, x + width).1);
        }
        let least = fast::ln(1.0 - self.q);
        let left = (self.power * self.log_r(from)).max(self.power * least);
        let u = (to - 0.5) / (self.sigma * self.sigma);
        let right = (self.power * u.max(0.0)).max(self.power * least);
        top = top.max(self.square(from) + left);
        if to < self.cut {
            top = top.max(self.square(to) + right);
        }
        exp(self.constant + top + 2e-6) * (1.0 + EXP_ERROR)
    }

    /// `w = q·e^u/r`, the derivative of ln r by u, approximately.
    fn logistic(&self, x: f64) -> f64 {
        let u = (x - 0.5) / (self.sigma * self.sigma);
        self.q / (self.q + (1.0 - self.q) * exp(-u))
    }

    /// The approximate modes: the least and the largest root of `x + 1 = (z₀+1)w(x)`.
    fn modes(&self) -> (f64, f64) {
        let step = |x: f64| (self.power * self.logistic(x) - 1.0).min(self.cut);
        if self.power <= 0.0 {
            let (mut low, mut high) = (self.power - 1.0, -1.0);
            for _ in 0..60 {
                let x = 0.5 * (low + high);
                if step(x) > x { low = x } else { high = x }
            }
            return (low, high);
        }
        // The right side grows with x: iterates from below and from above are monotone.
        let (mut low, mut high) = (-1.0, (self.power - 1.0).min(self.cut));
        for _ in 0..200 {
            (low, high) = (step(low), step(high));
        }
        (low, high.max(low))
    }

    /// Uniform layers `(p, λ)` in L that g is at least the sum of.
    ///
    /// # Proof
    /// On every cell g is at least [`Self::bounds`]. From the highest cell of a stretch
    /// outwards, heights are lowered until they do not rise: what is left is the sum of uniform laws
    /// on nested intervals. Stretches do not overlap. ∎
    fn layers(&self) -> Vec<(f64, f64)> {
        let (body, tail) = self.modes();
        let reach = 7.0 * self.sigma;
        let mut layers = Vec::new();
        if tail - body < 2.0 * reach {
            // One stretch, or two that meet at the lowest cell between the modes.
            let cells = self.cells(body - reach, (tail + reach).min(self.cut));
            let between = |c: &&Cell| c.x > body && c.x < tail;
            let valley = cells.iter().filter(between).min_by(|a, b| a.height.total_cmp(&b.height));
            let at = valley.map_or(0, |v| cells.partition_point(|c| c.x < v.x));
            stack(&cells[..at], &mut layers);
            stack(&cells[at..], &mut layers);
        } else {
            stack(&self.cells(body - reach, body + reach), &mut layers);
            stack(&self.cells(tail - reach, (tail + reach).min(self.cut)), &mut layers);
        }
        layers
    }

    fn cells(&self, from: f64, to: f64) -> Vec<Cell> {
        let count = ((to - from) / self.sigma * 14.0).ceil().clamp(1.0, 600.0) as usize;
        let edge = |i: usize| from + (to - from) * i as f64 / count as f64;
        let loss = |x: f64| log_ratio_with_error(self.q, (x - 0.5) / (self.sigma * self.sigma));
        (0..count)
            .map(|i| {
                let (x, end) = (edge(i), edge(i + 1));
                let least = self.bounds(x, end).0;
                let height = exp(self.constant + least - 2e-6) * (1.0 - EXP_ERROR);
                let ((a, a_error), (b, b_error)) = (loss(x), loss(end));
                Cell { x, height, length: (b - a - a_error - b_error).max(0.0) * (1.0 - 1e-12) }
            })
            .collect()
    }
}

/// A stretch of noise from x on, the least density of the loss on it, and its length in L.
struct Cell {
    x: f64,
    height: f64,
    length: f64,
}

/// Adds the layers of neighbouring cells.
fn stack(cells: &[Cell], layers: &mut Vec<(f64, f64)>) {
    let top = (0..cells.len()).max_by(|a, b| cells[*a].height.total_cmp(&cells[*b].height));
    let Some(top) = top else { return };
    let mut heights: Vec<f64> = cells.iter().map(|cell| cell.height).collect();
    for i in (0..top).rev() {
        heights[i] = heights[i].min(heights[i + 1]);
    }
    for i in top + 1..heights.len() {
        heights[i] = heights[i].min(heights[i - 1]);
    }
    let mut length: f64 = cells.iter().map(|cell| cell.length).sum::<f64>() * (1.0 - 1e-12);
    let (mut low, mut high, mut base) = (0, heights.len() - 1, 0.0);
    loop {
        let level = heights[low].min(heights[high]);
        if level > base && length > 0.0 {
            layers.push(((level - base) * length * (1.0 - 1e-12), length));
            base = level;
        }
        if low == high {
            return;
        }
        if heights[low] <= level {
            length -= cells[low].length * (1.0 + 1e-12);
            low += 1;
        } else {
            length -= cells[high].length * (1.0 + 1e-12);
            high -= 1;
        }
    }
}
