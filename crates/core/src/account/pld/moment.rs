//! `M(s) = E_P[e^(sL)]` on a vertical line of the complex plane, certified.
//!
//! Every law answers three questions about `M(s₀ + it)`:
//! its values at `t = 0, τ, 2τ, …` as balls ([`Law::moments`]), a bound on
//! `|M(s₀ + it)|/M(s₀)` for all later t ([`Law::decay`]), and, for steering
//! only, the cumulants `ln M`, `(ln M)′`, `(ln M)″` in plain floats ([`Law::cumulants`]).

use super::law::{Atoms, Direction, Law};
use super::rule::{NODES, PRECISION, Panels, Rule};
use crate::num::ball::{Ball, EXP_ERROR, TRIG_ERROR, U, exp, sin_cos};
use crate::num::fast::{self, LN_ERROR};

/// `M(s₀ + inτ) = e^(κ+log)·value_n`, with log known within `error`.
pub(super) struct Moments {
    /// The values, or, if `about_one`, what they differ from 1 by.
    pub(super) values: Vec<Ball>,
    pub(super) about_one: bool,
    pub(super) log: f64,
    pub(super) error: f64,
}

impl Moments {
    /// The k-th powers of the values.
    pub(super) fn powers(&self, k: u64) -> Vec<Ball> {
        let power = |value: &Ball| {
            if self.about_one { power_near_one(*value, k) } else { value.power(k) }
        };
        self.values.iter().map(power).collect()
    }
}

/// `(1 + d)^k`, by the logarithm where d is small.
///
/// # Proof
/// For `|d| ≤ ¼`, `ln(1+d) = d(1 − d/2 + d²/3 − …)`: 30 terms leave less than 4·10⁻²⁰ of d,
/// Horner's scheme multiplies what it has by d and adds at most 4u a step, so it is
/// within 8u and the product within 12u|d|; a d that is off by r moves the logarithm by at most
/// `r/(1 − ¼ − r)`. ∎
fn power_near_one(d: Ball, k: u64) -> Ball {
    let size = d.modulus();
    let reach = size + d.radius;
    if reach.is_nan() || reach > 0.25 {
        return Ball::new(1.0 + d.re, d.im, d.radius + 2.0 * U * (1.0 + size)).power(k);
    }
    let (mut x, mut y) = (0.0, 0.0);
    for m in (1..=30).rev() {
        (x, y) = (1.0 / f64::from(m) - (x * d.re - y * d.im), -(x * d.im + y * d.re));
    }
    let times = k as f64;
    let (re, im) = (times * (x * d.re - y * d.im), times * (x * d.im + y * d.re));
    let doubt = times * (12.0 * U * size + 1.4 * d.radius) + 2.0 * U * (re.abs() + im.abs());
    Ball::exp(re, im, doubt)
}

impl Law {
    /// `M(s₀ + inτ)·e^−κ` for n = 0 … `count`. The floats s₀, τ, κ and the
    /// products nτ are exact.
    pub(super) fn moments(&self, s0: f64, tau: f64, count: usize, kappa: f64) -> Moments {
        let top = tau * count as f64;
        let plain = |values: Vec<Ball>| Moments { values, about_one: false, log: 0.0, error: 0.0 };
        let lost = || plain(vec![Ball::new(0.0, 0.0, f64::NAN); count + 1]);
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
                plain((0..=count).map(at).collect())
            }
            Self::Laplace { a } => {
                plain((0..=count).map(|n| laplace(*a, s0, n as f64 * tau, kappa)).collect())
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
            Self::Band { q, sigma, between } => {
                let rule = Panels::band(*q, *sigma, Direction::Remove, s0, top, *between);
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
            Self::Band { q, sigma, between } => {
                of(Panels::band(*q, *sigma, Direction::Remove, s0, top, *between).count())
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
    /// Σ of the absolute errors of the weights, and the same times |loss|.
    pub(super) weight_error: (f64, f64),
    /// Σ of the absolute errors of the losses, times the weights.
    pub(super) loss_error: f64,
    /// The error of the rule itself, at any t it was made for.
    pub(super) rule_error: f64,
}

/// After so many turns of a node its place is computed afresh.
const TURNS: usize = 16;

/// Bound on the modulus of the error of [`turn`], for any angle.
///
/// The sine and the cosine are within TRIG_ERROR; three roundings.
const TURN_ERROR: f64 = 5.0 * TRIG_ERROR;

/// `e^(iθ) − 1`, without the loss of digits that the difference would have: within 8u|θ| for
/// |θ| ≤ 1.5, where the sine of the half is within a relative 2u and the cosine within 4u.
fn turn(theta: f64) -> (f64, f64) {
    let (sine, cosine) = sin_cos(0.5 * theta);
    (-2.0 * sine * sine, 2.0 * sine * cosine)
}

impl Nodes {
    /// The sums at t = 0, τ, 2τ, …, relative to the first, less 1.
    ///
    /// # Proof
    /// With `W = Σw_j` and `D(t) = Σw_j(e^(itL_j) − 1)` the value is `D/W`. Rare samples have
    /// tiny losses; D then is tiny too, and every error below is relative to
    /// `tB₁`, `B₁ = Σw_j|L_j|`, not to W, so that a power of a million loses little.
    /// *Weights*, each off by e_j: `Σe_j·min(2, t|L_j|)`, and D/W by the relative error of W.
    /// *Losses*, each off by l_j: `tΣw_jl_j`, and the float angle by `2u·t|L_j|`. *Places*: at most every
    /// 16 steps `y = e^(itL) − 1` comes from [`turn`]; between, `y′ = y + (e + ye)` with
    /// `e = e^(iτL) − 1` from [`turn`]. As `|1 + y| = 1`, a step adds the error of e and
    /// roundings of at most `u|y′| + 8u|e|`. While `θ = t|L| ≤ 1.5` that is at most
    /// `u(θ + 16τ|L|)` each, in all, with [`turn`] itself, at most 40uθ (in the first 16 steps
    /// `Σ_i u(i + 16)τ|L|`). Else `|y|, |e| ≤ 2` and 16 steps add at most `16(18u + TURN_ERROR)` to
    /// TURN_ERROR; such nodes weigh at most `min(W, (t/1.5)²B₂)`, `B₂ = Σw_jL_j²`. *Sum*: [`sum`]
    /// adds [`sum_error`] of `tB₁` in both parts. W itself is a factor of all values, known as
    /// [`Moments::log`] says. ∎
    pub(super) fn moments(&self, tau: f64, count: usize) -> Moments {
        let nodes = self.weight.len();
        let total = sum(&self.weight);
        let moment = |power: fn(f64) -> f64| -> f64 {
            let sum: f64 = self.weight.iter().zip(&self.loss).map(|(w, l)| w * power(*l)).sum();
            sum * (1.0 + (nodes as f64 + 4.0) * U)
        };
        let (first, second) = (moment(f64::abs), moment(|l| l * l));
        let total_error =
            1.01 * (self.weight_error.0 / total + self.rule_error / total + sum_error(nodes));
        let step: Vec<(f64, f64)> = if count == 0 || nodes <= FEW {
            Vec::new()
        } else {
            self.loss.iter().map(|l| turn(tau * l)).collect()
        };
        let (mut real, mut imaginary) = (vec![0.0; nodes], vec![0.0; nodes]);
        let mut values = Vec::with_capacity(count + 1);
        for n in 0..=count {
            let t = n as f64 * tau;
            if n % TURNS == 0 || nodes <= FEW {
                for (j, (weight, loss)) in self.weight.iter().zip(&self.loss).enumerate() {
                    let (re, im) = turn(t * loss);
                    (real[j], imaginary[j]) = (weight * re, weight * im);
                }
            } else {
                let places = real.iter_mut().zip(&mut imaginary);
                for ((place, weight), &(er, ei)) in places.zip(&self.weight).zip(&step) {
                    let (x, y) = (*place.0, *place.1);
                    *place.0 = x + ((weight + x) * er - y * ei);
                    *place.1 = y + ((weight + x) * ei + y * er);
                }
            }
            let (re, im) = (sum(&real) / total, sum(&imaginary) / total);
            let fast = total.min(t * t * second * 0.45);
            let radius = (2.0 * self.weight_error.0).min(t * self.weight_error.1)
                + t * (self.loss_error + 2.0 * U * first)
                + t * first * (48.0 * U + 1.5 * sum_error(nodes))
                + fast * (17.0 * TURN_ERROR + 300.0 * U)
                + self.rule_error;
            let radius =
                1.01 * radius / total + (re.abs() + im.abs()) * (1.01 * total_error + 4.0 * U);
            // The angles are below what `sin_cos` takes, or the radius is NaN with them.
            values.push(Ball::new(re, im, radius + 1e-290 + 0.0 * (re + im)));
        }
        let (log, error) = log_near_one(total);
        let error = error + 1.01 * total_error;
        let error = if total_error < 0.01 { error } else { f64::INFINITY };
        Moments { values, about_one: true, log, error }
    }
}

/// `ln x` and a bound on its error: near 1 by a series.
fn log_near_one(x: f64) -> (f64, f64) {
    let d = x - 1.0;
    if d.abs() < 1e-4 { (d - d * d * (0.5 - d / 3.0), 1e-16) } else { (fast::ln(x), LN_ERROR) }
}

/// Up to this many nodes, computing sines is cheap enough.
const FEW: usize = 12;

/// Bound on the error of [`sum`] for J numbers, relative to the sum of their moduli.
///
/// A number is added up to 16 times within its lane, 8 times among lanes, with up to 64
/// sums of 128 and J/8192 of those; and the rest of a chunk is up to 7 numbers.
fn sum_error(nodes: usize) -> f64 {
    let nodes = nodes as f64;
    (32.0 + (nodes / 128.0 + 1.0).min(64.0) + nodes / 8192.0) * U
}

/// A sum with few roundings in a row: 128 numbers in eight lanes, 64 such sums, then the rest.
/// See [`sum_error`].
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
    let weight: Vec<f64> =
        loss.iter().zip(&atoms.mass).map(|(l, m)| m * exp(s0 * l - kappa)).collect();
    // The model's losses are these floats: their error is in the batch's slack.
    let relative =
        1.01 * (atoms.error + EXP_ERROR + 3.0 * U * (s0 * reach + kappa.abs()) + 2.0 * U);
    let all: f64 = weight.iter().sum();
    let weighed: f64 = weight.iter().zip(&loss).map(|(w, l): (&f64, &f64)| w * l.abs()).sum();
    let weight_error = (1.01 * relative * all, 1.01 * relative * weighed);
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
    if u <= 40.0 {
        // r = 1 + y with a relative error of EXP_ERROR + 4u in y (in q·e^u, for u < 0).
        let y = q * (exp(u) - 1.0);
        let r = 1.0 + y;
        let log = log_of_ratio(y);
        let off = q * exp(u) / r * (doubt + EXP_ERROR + 8.0 * U);
        return (log, 1.02 * off + 4.0 * U * y.abs() / r + 16.0 * U * log.abs() + 4.0 * U);
    }
    (log_ratio(q, u), 2.0 * LN_ERROR + doubt)
}

/// `ln(1 + y)` for −1 < y ≤ 10²⁰ within `4u + 12u·|ln(1+y)|`.
///
/// # Proof
/// `1 + y = 2^e·m` with m in [√½, √2], and `ln m = 2·artanh f`, `f = (m−1)/(m+1)`, |f| ≤ 0.1716:
/// twelve terms leave less than 2⁻⁵⁸ of f. m is off by a relative u, `m − 1` is exact, the rest
/// rounds by a relative 8u, and `e·ln 2` with its sum by 2u of the result's modulus. ∎
pub(super) fn log_of_ratio(y: f64) -> f64 {
    let x = 1.0 + y;
    let bits = x.to_bits();
    let mut exponent = ((bits >> 52) & 0x7ff) as f64 - 1023.0;
    let mut m = f64::from_bits(bits & ((1 << 52) - 1) | 1023 << 52);
    if m > std::f64::consts::SQRT_2 {
        (m, exponent) = (0.5 * m, exponent + 1.0);
    }
    let f = (m - 1.0) / (m + 1.0);
    let square = f * f;
    let mut sum = 0.0;
    let mut k = 23.0;
    while k > 0.5 {
        sum = sum * square + 1.0 / k;
        k -= 2.0;
    }
    exponent * std::f64::consts::LN_2 + 2.0 * f * sum
}

/// `e^u − 1` for |u| < ¼, within a relative 8u: Taylor's series to u¹⁶.
pub(super) fn exp_minus_one(u: f64) -> f64 {
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
