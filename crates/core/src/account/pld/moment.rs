//! `M(s) = E_P[e^(sL)]` on a vertical line of the complex plane, certified.
//!
//! Every law answers three questions about `M(s₀ + it)`:
//! its values at `t = 0, τ, 2τ, …` as balls ([`Law::moments`]), a bound on
//! `|M(s₀ + it)|/M(s₀)` for all later t ([`Law::decay`]), and, for steering
//! only, the cumulants `ln M`, `(ln M)′`, `(ln M)″` in plain floats ([`Law::cumulants`]).

use super::cumulant::cumulants;
use super::law::{Atoms, Direction, Law};
use crate::num::ball::{Ball, EXP_ERROR, TRIG_ERROR, U, exp};
use crate::num::fast::{self, LN_ERROR};

impl Law {
    /// Can this law be put on a contour? The sampled Laplace law has jumps
    /// inside and no closed form; it goes on a lattice.
    pub(super) fn has_contour(&self) -> bool {
        !matches!(self, Self::SampledLaplace { .. })
    }

    /// `M(s₀ + inτ)·e^−κ` for n = 0 … `count`. The floats s₀, τ, κ and the
    /// products nτ are exact.
    pub(super) fn moments(&self, s0: f64, tau: f64, count: usize, kappa: f64) -> Vec<Ball> {
        match self {
            Self::Gaussian { mu2, error } => {
                // μ²/2·s(s+1) = μ²/2·((s₀²+s₀−t²) + i·t(2s₀+1)).
                let at = |n: usize| {
                    let t = n as f64 * tau;
                    let half = 0.5 * mu2;
                    let (x, y) =
                        (half * (s0 * s0 + s0 - t * t) - kappa, half * t * (2.0 * s0 + 1.0));
                    let size = half * (s0 * s0 + s0 + t * t) + kappa.abs() + y.abs();
                    Ball::exp(x, y, (error + 6.0 * U) * size)
                };
                (0..=count).map(at).collect()
            }
            Self::Laplace { a } => {
                (0..=count).map(|n| laplace(*a, s0, n as f64 * tau, kappa)).collect()
            }
            Self::Atoms(atoms) => atoms_nodes(atoms, s0, kappa).moments(tau, count),
            Self::SampledGaussian { q, sigma, direction } => {
                let top = tau * count as f64;
                let rule = Rule::new(*q, *sigma, *direction, s0, top, PRECISION);
                if rule.count() > NODES {
                    return vec![Ball::new(0.0, 0.0, f64::NAN); count + 1];
                }
                rule.nodes(kappa).moments(tau, count)
            }
            Self::SampledLaplace { .. } => vec![Ball::new(0.0, 0.0, f64::NAN); count + 1],
        }
    }

    /// About how many nodes a point of a contour up to height T costs.
    pub(super) fn nodes(&self, s0: f64, top: f64) -> f64 {
        match self {
            Self::Gaussian { .. } | Self::Laplace { .. } | Self::SampledLaplace { .. } => 30.0,
            Self::Atoms(atoms) => atoms.mass.len() as f64,
            Self::SampledGaussian { q, sigma, direction } => {
                Rule::new(*q, *sigma, *direction, s0, top, PRECISION).count() as f64
            }
        }
    }

    /// A bound, not increasing in T, on `|M(s₀ + it)|/M(s₀)` for all t ≥ T > 0.
    ///
    /// # Proof
    /// *Gaussian*: `|M(s₀+it)| = M(s₀)·e^(−μ²t²/2)`, exactly. *Laplace*: with
    /// w = s + ½, `M = e^(−a/2)(cosh wa + sinh wa/(2w))`; both functions are at
    /// most `cosh w₀a` in modulus, and `|w| ≥ T`. *Sampled Gaussian*: the Fourier
    /// transform of a density g is at most its total variation over t, and g,
    /// the density of L tilted by e^(s₀L), has at most two modes ([`peak`]). ∎
    pub(super) fn decay(&self, s0: f64) -> Decay {
        match self {
            Self::Gaussian { mu2, .. } => Decay::Gaussian(*mu2),
            Self::Laplace { a } => {
                let w = s0 + 0.5;
                let e = fast::exp_neg(2.0 * w * a);
                let tanh = (1.0 - e) / (1.0 + e);
                Decay::Laplace(1.0 + 0.5 * tanh / w)
            }
            Self::Atoms(_) | Self::SampledLaplace { .. } => Decay::None,
            Self::SampledGaussian { q, sigma, direction } => {
                Decay::Power(4.0 * peak(*q, *sigma, *direction, s0))
            }
        }
    }
}

/// How a transform dies out; see [`Law::decay`].
pub(super) enum Decay {
    /// `e^(−μ²t²/2)`.
    Gaussian(f64),
    /// `(1 + 1/2t)/c`.
    Laplace(f64),
    /// `c/t`.
    Power(f64),
    /// It does not.
    None,
}

impl Decay {
    /// The logarithm of the bound at T.
    pub(super) fn log(&self, top: f64) -> f64 {
        let ratio = match self {
            Self::Gaussian(mu2) => return -0.499_999 * mu2 * top * top,
            Self::Laplace(c) => (1.0 + 0.5 / top) / c,
            Self::Power(c) => c / top,
            Self::None => return 0.0,
        };
        // `ln` is good to LN_ERROR down to 2⁻⁶⁴; any ratio below that counts as 2⁻⁶⁰.
        if ratio < 1.0 { (fast::ln(ratio.max(8e-19)) + 2.0 * LN_ERROR).min(0.0) } else { 0.0 }
    }
}

/// The quadrature's and the truncation's own error is `e^−PRECISION`.
const PRECISION: f64 = 44.0;

/// More nodes than this are not worth it.
pub(super) const NODES: usize = 50_000;

/// `½ ln 2π`.
const HALF_LN_2PI: f64 = 0.918_938_533_204_672_8;

/// `e^(−a/2−κ)(cosh wa + sinh wa/(2w))` at `w = s₀ + ½ + it`.
fn laplace(a: f64, s0: f64, t: f64, kappa: f64) -> Ball {
    let w0 = s0 + 0.5;
    let y = t * a;
    let doubt = 4.0 * U * (w0 * a + a + kappa.abs() + y.abs());
    let plus = Ball::exp(w0 * a - 0.5 * a - kappa, y, doubt);
    let minus = Ball::exp(-w0 * a - 0.5 * a - kappa, -y, doubt);
    let cosh = plus.add(minus).scale(0.5);
    let sinh = plus.add(minus.scale(-1.0)).scale(0.5);
    // w₀ = s₀ + ½ is exact or rounded by u.
    let over = Ball::new(2.0 * w0, 2.0 * t, 2.0 * U * w0).recip();
    cosh.add(sinh.mul(over))
}

/// `Σ_j weight_j·e^(it·loss_j)`: a discrete law, or a quadrature rule for one.
struct Nodes {
    weight: Vec<f64>,
    loss: Vec<f64>,
    /// Relative error of every weight.
    weight_error: f64,
    /// Absolute error of every loss.
    loss_error: f64,
    /// What the rule itself is off by, at any t it was made for.
    rule_error: f64,
}

impl Nodes {
    /// The sums at t = 0, τ, 2τ, … by rotation.
    ///
    /// # Proof
    /// Node j is multiplied n times by a float within
    /// `η = 1.5·TRIG_ERROR + u|τ·loss| + τ·loss_error` of `e^(iτ·loss)`; each
    /// product rounds by a relative √5u. After n steps it is within a
    /// relative `1.01·n(η + 3u)` if that is below 0.01. Summing J floats of total
    /// modulus W in any order rounds by at most `JuW`.
    fn moments(&self, tau: f64, count: usize) -> Vec<Ball> {
        let nodes = self.weight.len();
        let total = self.weight.iter().sum::<f64>() * (1.0 + (nodes as f64 + 4.0) * U);
        let reach = self.loss.iter().fold(0.0, |m: f64, l| m.max(l.abs()));
        let step = 1.5 * TRIG_ERROR + U * tau * reach + tau * self.loss_error + 3.0 * U;
        let mut real = self.weight.clone();
        let mut imaginary = vec![0.0; nodes];
        let turn: Vec<(f64, f64)> = if count == 0 {
            Vec::new()
        } else {
            self.loss.iter().map(|l| crate::num::ball::sin_cos(tau * l)).collect()
        };
        let mut values = Vec::with_capacity(count + 1);
        for n in 0..=count {
            if n > 0 {
                for ((x, y), &(sine, cosine)) in real.iter_mut().zip(&mut imaginary).zip(&turn) {
                    (*x, *y) = (*x * cosine - *y * sine, *x * sine + *y * cosine);
                }
            }
            let drift = n as f64 * step;
            let relative = self.weight_error + 1.01 * drift + 2.0 * nodes as f64 * U;
            let radius =
                if drift < 0.01 { total * relative + self.rule_error } else { f64::INFINITY };
            values.push(Ball::new(sum(&real), sum(&imaginary), radius * 1.01));
        }
        values
    }
}

/// A sum in eight lanes.
fn sum(values: &[f64]) -> f64 {
    let mut lanes = [0.0; 8];
    let chunks = values.chunks_exact(8);
    let rest: f64 = chunks.remainder().iter().sum();
    for chunk in chunks {
        for (lane, value) in lanes.iter_mut().zip(chunk) {
            *lane += value;
        }
    }
    lanes.iter().sum::<f64>() + rest
}

fn atoms_nodes(atoms: &Atoms, s0: f64, kappa: f64) -> Nodes {
    let loss: Vec<f64> = (0..atoms.mass.len()).map(|j| atoms.loss(j)).collect();
    let reach = loss.iter().fold(0.0, |m: f64, l| m.max(l.abs()));
    let weight = loss.iter().zip(&atoms.mass).map(|(l, m)| m * exp(s0 * l - kappa)).collect();
    // The model's losses are these floats: their error is in the batch's slack.
    let weight_error =
        1.01 * (atoms.error + EXP_ERROR + 3.0 * U * (s0 * reach + kappa.abs()) + 2.0 * U);
    let rule_error = atoms.mass.len() as f64 * 1e-300;
    Nodes { weight, loss, weight_error, loss_error: 0.0, rule_error }
}

/// The trapezoidal rule for `M(s) = E[r(X)^z]`, X ~ N(0, σ²),
/// `r(x) = 1 − q + q·e^((x−½)/σ²)`, with z = s+1 (remove) or −s (add).
///
/// # Proof
/// *Step.* `f(x) = φ_σ(x)·r(x)^z` is analytic for `|Im x| ≤ d ≤ πσ²/2`: there
/// `e^((x−½)/σ²)` has an argument θ ≤ π/2, so r has real part ≥ 1−q > 0. On the
/// line `Im x = ±d`, `|φ_σ|` grows by `e^(d²/2σ²)`; `|r| ≤ r(Re x)`, and
/// `|r| ≥ r(Re x)/√2` since both terms are in one quadrant; `|arg r| ≤ d/σ²`. So
/// `∫|f| ≤ M(s₀)·e^(d²/2σ² + |t|d/σ²)·2^(|z₀|/2 if z₀ < 0)`, and by Poisson
/// summation a step η errs by at most `2∫|f|/(e^(2πd/η) − 1)`. η is chosen so
/// that this is below `2.1·e^−PRECISION·M(s₀)`.
///
/// *Range.* Remove: `r ≤ max(1, e^u)`, so `f ≤ φ_σ(x) + e^(z₀(z₀−1)/2σ²)·φ_σ(x−z₀)`
/// in modulus; the sum is over `[−Aσ, z₀ + Aσ]`. Add: `f ≤ (1−q)^−s₀·φ_σ(x)`, over
/// `[−Aσ, Aσ]`. A sum over the tail of `ηφ_σ` from Aσ on is at most
/// `e^(−A²/2)` for η ≤ σ and A ≥ 2. ∎
pub(super) struct Rule {
    q: f64,
    sigma: f64,
    /// z₀, and the sign of the loss: L = sign·ln r.
    power: f64,
    sign: f64,
    step: f64,
    first: i64,
    last: i64,
    precision: f64,
}

impl Rule {
    pub(super) fn new(
        q: f64,
        sigma: f64,
        direction: Direction,
        s0: f64,
        top: f64,
        precision: f64,
    ) -> Self {
        let variance = sigma * sigma;
        let (power, sign) = match direction {
            Direction::Remove => (s0 + 1.0, 1.0),
            Direction::Add => (-s0, -1.0),
        };
        let halves = if power < 0.0 { -0.35 * power } else { 0.0 };
        let d = (1.570 * variance).min(sigma * (2.0 * precision).sqrt());
        let exponent = precision + d * d / (2.0 * variance) + top * d / variance + halves;
        // A step of few bits, so that its multiples are exact.
        let step = short((std::f64::consts::TAU * (1.0 - 1e-9) * d / exponent).min(sigma));
        let excess = match direction {
            Direction::Remove => (0.5 * power * (power - 1.0) / variance).max(0.0),
            Direction::Add => -s0 * fast::ln(1.0 - q) * (1.0 + 1e-9),
        };
        let reach = (2.0 * (precision + excess) + 4.0).sqrt() * sigma;
        let right = if power > 0.0 { power + reach } else { reach };
        let (first, last) = ((-reach / step).floor() as i64, (right / step).ceil() as i64);
        Self { q, sigma, power, sign, step, first, last, precision }
    }

    pub(super) fn count(&self) -> usize {
        (self.last - self.first + 1).max(0) as usize
    }

    /// `(L, ln(η·φ_σ·r^z₀))` at the j-th node.
    pub(super) fn node(&self, j: usize) -> (f64, f64) {
        let x = (self.first + j as i64) as f64 * self.step;
        let variance = self.sigma * self.sigma;
        let u = (x - 0.5) / variance;
        let log = log_ratio(self.q, u);
        let constant = fast::ln(self.step / self.sigma) - HALF_LN_2PI;
        (self.sign * log, constant - x * x / (2.0 * variance) + self.power * log)
    }

    fn nodes(&self, kappa: f64) -> Nodes {
        let (loss, logs): (Vec<f64>, Vec<f64>) = (0..self.count()).map(|j| self.node(j)).unzip();
        let weight = logs.iter().map(|w| exp(w - kappa)).collect();
        // The largest |u|, and with it the error of ln r: `log_ratio` on an
        // argument with three roundings.
        let ends = [self.first, self.last].map(|i| i as f64 * self.step);
        let u = ends.iter().fold(0.0, |m: f64, x| m.max(x.abs() + 0.5)) / (self.sigma * self.sigma);
        let square = ends.iter().fold(0.0, |m: f64, x| m.max(x * x)) / (self.sigma * self.sigma);
        let loss_error = 2.0 * LN_ERROR + 8.0 * U * u;
        let exponent =
            self.power.abs() * loss_error + 4.0 * U * (square + kappa.abs()) + 2.0 * LN_ERROR;
        let weight_error = 1.01 * (exponent + EXP_ERROR);
        // M(s₀) ≥ 1 for z₀ ≥ 1 or z₀ ≤ 0 by Jensen (E r = 1), so errors relative to M(s₀)e^−κ
        // are bounded through the sum of the weights.
        let scale = weight_total(&logs, kappa);
        let rule_error = 1.01 * scale * 8.0 * exp(-self.precision) + self.count() as f64 * 1e-300;
        Nodes { weight, loss, weight_error, loss_error, rule_error }
    }
}

fn weight_total(logs: &[f64], kappa: f64) -> f64 {
    logs.iter().map(|w| exp(w - kappa)).sum::<f64>() * (1.0 + 1e-9)
}

/// `ln(1 − q + q·e^u)` within `2·LN_ERROR`, plus the doubt of u.
pub(super) fn log_ratio(q: f64, u: f64) -> f64 {
    if u <= 0.0 { fast::ln((1.0 - q) + q * exp(u)) } else { u + fast::ln(q + (1.0 - q) * exp(-u)) }
}

/// The float below x with 20 significant bits.
pub(super) fn short(x: f64) -> f64 {
    f64::from_bits(x.to_bits() & !((1 << 33) - 1))
}

/// An upper bound on the density of the sampled Gaussian's loss, tilted by
/// `e^(s₀L)` and normalised; that density has at most two modes.
///
/// # Proof
/// With u = (x−½)/σ², `|dL/dx| = q·e^u/(σ²r)`, so the density of L at x is
/// `g = φ_σ·r^(z₀+1)·σ²/(q·e^u·M)`, and `σ²·(ln g)′ = −x − 1 + (z₀+1)w`, `w = q·e^u/r`.
/// w is logistic in x, so w′ takes a value at most twice, and `(ln g)′` vanishes
/// at most three times: two maxima. For the bound: on `[x₁, x₂]`, `ln r` is at
/// most its value at the end that `z₀+1` favours, and
/// `−x²/2σ² − u = 1/σ² − (x+1)²/2σ²` is maximised exactly. Beyond the last
/// interval the Gaussian factor only falls: with `r ≤ max(1, e^u)` for
/// `z₀+1 ≥ 0`, and `r ≥ 1−q` otherwise, the bound is that of [`Rule`]'s range. M ≥ 1. ∎
fn peak(q: f64, sigma: f64, direction: Direction, s0: f64) -> f64 {
    let variance = sigma * sigma;
    let rule = Rule::new(q, sigma, direction, s0, 0.0, 30.0);
    let power = rule.power + 1.0;
    let log_m = cumulants((0..rule.count()).map(|j| rule.node(j))).0 - 1e-6;
    let constant = fast::ln(sigma) - HALF_LN_2PI - fast::ln(q) + 1.0 / variance - log_m.max(0.0);
    let (from, to) = (-1.0 - 12.0 * sigma, power.max(0.0) + 12.0 * sigma);
    let steps = 600;
    let width = (to - from) / f64::from(steps);
    let bound = |x1: f64, x2: f64| {
        let end = if power >= 0.0 { x2 } else { x1 };
        let nearest = (-1f64).clamp(x1, x2);
        let gaussian = -(nearest + 1.0) * (nearest + 1.0) / (2.0 * variance);
        gaussian + power * log_ratio(q, (end - 0.5) / variance)
    };
    let mut top = f64::NEG_INFINITY;
    for i in 0..steps {
        let x1 = from + width * f64::from(i);
        top = top.max(bound(x1, x1 + width));
    }
    // Left of `from`, ln r is between ln(1−q) and its value at `from`.
    let left = if power >= 0.0 { log_ratio(q, (from - 0.5) / variance) } else { fast::ln(1.0 - q) };
    top = top.max(-(from + 1.0) * (from + 1.0) / (2.0 * variance) + power * left);
    // Right of `to` (≥ the centre of every Gaussian factor), ln r ≤ u for u ≥ 0.
    let u = (to - 0.5) / variance;
    let right = if power >= 0.0 { power * u.max(0.0) } else { power * fast::ln(1.0 - q) };
    top = top.max(-(to + 1.0) * (to + 1.0) / (2.0 * variance) + right);
    exp(constant + top) * (1.0 + 1e-6)
}
