//! `M(s) = E_P[e^(sL)]` on a vertical line of the complex plane, certified.
//!
//! Every law answers three questions about `M(s₀ + it)`:
//! its values at `t = 0, τ, 2τ, …` as balls ([`Law::moments`]), a bound on
//! `|M(s₀ + it)|/M(s₀)` for all later t ([`Law::decay`]), and, for steering
//! only, the cumulants `ln M`, `(ln M)′`, `(ln M)″` in plain floats ([`Law::cumulants`]).

use super::law::{Atoms, Law};
use super::rule::{NODES, PRECISION, Panels, Rule};
use crate::num::ball::{Ball, EXP_ERROR, TRIG_ERROR, U, exp, sin_cos};
use crate::num::fast::{self, LN_ERROR};

impl Law {
    /// `M(s₀ + inτ)·e^−κ` for n = 0 … `count`. The floats s₀, τ, κ and the
    /// products nτ are exact.
    pub(super) fn moments(&self, s0: f64, tau: f64, count: usize, kappa: f64) -> Vec<Ball> {
        let top = tau * count as f64;
        let lost = || vec![Ball::new(0.0, 0.0, f64::NAN); count + 1];
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
            Self::SampledGaussian { q, sigma, direction, cut } if *cut < f64::INFINITY => {
                let rule = Panels::gaussian(*q, *sigma, *direction, s0, top, *cut);
                if rule.count() > NODES { lost() } else { rule.nodes(kappa).moments(tau, count) }
            }
            Self::SampledGaussian { q, sigma, direction, .. } => {
                let rule = Rule::new(*q, *sigma, *direction, s0, top, PRECISION);
                if rule.count() > NODES { lost() } else { rule.nodes(kappa).moments(tau, count) }
            }
            Self::SampledLaplace { q, a, direction } => {
                let rule = Panels::laplace(*q, *a, *direction, s0, top);
                if rule.count() > NODES { lost() } else { rule.nodes(kappa).moments(tau, count) }
            }
        }
    }

    /// About what a point of a contour up to height T costs, in nanoseconds.
    pub(super) fn cost(&self, s0: f64, top: f64) -> f64 {
        let of = |nodes: usize| if nodes > NODES { f64::INFINITY } else { 60.0 + nodes as f64 };
        match self {
            Self::Gaussian { .. } => 40.0,
            Self::Laplace { .. } => 150.0,
            Self::Atoms(atoms) if atoms.mass.len() <= FEW => 60.0 + 20.0 * atoms.mass.len() as f64,
            Self::Atoms(atoms) => 60.0 + atoms.mass.len() as f64,
            Self::SampledGaussian { q, sigma, direction, cut } if *cut < f64::INFINITY => {
                of(Panels::gaussian(*q, *sigma, *direction, s0, top, *cut).count())
            }
            Self::SampledGaussian { q, sigma, direction, .. } => {
                of(Rule::new(*q, *sigma, *direction, s0, top, PRECISION).count())
            }
            Self::SampledLaplace { q, a, direction } => {
                of(Panels::laplace(*q, *a, *direction, s0, top).count())
            }
        }
    }
}

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
pub(super) struct Nodes {
    pub(super) weight: Vec<f64>,
    pub(super) loss: Vec<f64>,
    /// Relative error of the weights, averaged with the weights.
    pub(super) weight_error: f64,
    /// Absolute error of the losses, averaged with the weights.
    pub(super) loss_error: f64,
    /// What the rule itself is off by, at any t it was made for.
    pub(super) rule_error: f64,
}

impl Nodes {
    /// The sums at t = 0, τ, 2τ, … by rotation.
    ///
    /// # Proof
    /// Node j is multiplied n times by a float within
    /// `η_j = 1.5·TRIG_ERROR + u|τ·loss_j| + τ·loss_error_j` of `e^(iτ·loss_j)`; each
    /// product rounds by a relative √5u. After n steps it is within a
    /// relative `1.01·n(η_j + 3u)` if that is below 0.01; sums of errors weigh
    /// them with the weights. [`sum`] adds `(100 + J/8192)uW` in the real and
    /// in the imaginary part.
    pub(super) fn moments(&self, tau: f64, count: usize) -> Vec<Ball> {
        let nodes = self.weight.len();
        let total = self.weight.iter().sum::<f64>() * (1.0 + (nodes as f64 + 4.0) * U);
        let reach = self.loss.iter().fold(0.0, |m: f64, l| m.max(l.abs()));
        let step = 1.5 * TRIG_ERROR + U * tau * reach + tau * self.loss_error + 3.0 * U;
        let mut real = self.weight.clone();
        let mut imaginary = vec![0.0; nodes];
        let turn: Vec<(f64, f64)> = if count == 0 {
            Vec::new()
        } else {
            self.loss.iter().map(|l| sin_cos(tau * l)).collect()
        };
        let mut values = Vec::with_capacity(count + 1);
        if nodes <= FEW {
            // Afresh at every t: dearer, and no drift.
            for n in 0..=count {
                let t = n as f64 * tau;
                let (mut re, mut im) = (0.0, 0.0);
                for (weight, loss) in self.weight.iter().zip(&self.loss) {
                    let (sine, cosine) = sin_cos(t * loss);
                    (re, im) = (re + weight * cosine, im + weight * sine);
                }
                let angle = 1.5 * TRIG_ERROR + t * (U * reach + self.loss_error);
                let relative = self.weight_error + angle + (2.0 * nodes as f64 + 4.0) * U;
                values.push(Ball::new(re, im, (total * relative + self.rule_error) * 1.01));
            }
            return values;
        }
        for n in 0..=count {
            if n > 0 {
                for ((x, y), &(sine, cosine)) in real.iter_mut().zip(&mut imaginary).zip(&turn) {
                    (*x, *y) = (*x * cosine - *y * sine, *x * sine + *y * cosine);
                }
            }
            let drift = n as f64 * step;
            let relative = self.weight_error + 1.01 * drift + (150.0 + nodes as f64 / 5000.0) * U;
            let radius =
                if drift < 0.01 { total * relative + self.rule_error } else { f64::INFINITY };
            values.push(Ball::new(sum(&real), sum(&imaginary), radius * 1.01));
        }
        values
    }
}

/// Up to this many nodes, sines are cheap enough.
const FEW: usize = 12;

/// A sum with few roundings in a row: 128 numbers in eight lanes, 64 such sums, then the rest.
/// J numbers of total modulus W are off by at most `(16 + 8 + 64 + J/8192 + 8)uW`.
fn sum(values: &[f64]) -> f64 {
    let lanes = |block: &[f64]| {
        let mut lanes = [0.0; 8];
        let chunks = block.chunks_exact(8);
        let rest: f64 = chunks.remainder().iter().sum();
        for chunk in chunks {
            for (lane, value) in lanes.iter_mut().zip(chunk) {
                *lane += value;
            }
        }
        lanes.iter().sum::<f64>() + rest
    };
    values.chunks(8192).map(|large| large.chunks(128).map(lanes).sum::<f64>()).sum()
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

/// `ln(1 − q + q·e^u)`, with a bound on its error for a u within 4u of the truth.
///
/// Near r = 1 the logarithm is summed from `y = q(e^u − 1)`, so that rare
/// samples, whose losses are tiny, lose nothing.
pub(super) fn log_ratio_with_error(q: f64, u: f64) -> (f64, f64) {
    let doubt = 4.0 * U * u.abs();
    if u <= 2.0 {
        let e = exp(u);
        let y = if u.abs() < 0.25 { q * exp_minus_one(u) } else { q * (e - 1.0) };
        if y.abs() < 0.0078 {
            // y − y²/2 + y³/3 − …: the ninth term is below 2⁻⁶⁶ of the first.
            let mut sum = 0.0;
            let mut k = 8.0;
            while k > 0.5 {
                sum = 1.0 / k - y * sum;
                k -= 1.0;
            }
            // |dy| ≤ q·e^u·(doubt + EXP_ERROR) and a few roundings of y.
            return (y * sum, 1.02 * q * e * (doubt + EXP_ERROR) + 16.0 * U * y.abs());
        }
    }
    (log_ratio(q, u), 2.0 * LN_ERROR + doubt)
}

/// `e^u − 1` for |u| < ¼, within a relative 8u: Taylor's series to u¹⁶.
fn exp_minus_one(u: f64) -> f64 {
    let (mut sum, mut k) = (1.0, 16.0);
    while k > 1.5 {
        sum = 1.0 + u * sum / k;
        k -= 1.0;
    }
    u * sum
}

/// `ln(1 − q + q·e^u)` within `2·LN_ERROR`, plus the doubt of u.
pub(super) fn log_ratio(q: f64, u: f64) -> f64 {
    if u <= 0.0 { fast::ln((1.0 - q) + q * exp(u)) } else { u + fast::ln(q + (1.0 - q) * exp(-u)) }
}

/// The float below x with 20 significant bits.
pub(super) fn short(x: f64) -> f64 {
    f64::from_bits(x.to_bits() & !((1 << 33) - 1))
}
