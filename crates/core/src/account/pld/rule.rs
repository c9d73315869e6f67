//! Quadrature for the moments of sampled laws: nodes, weights and the rule's own error.

use super::law::Direction;
use super::moment::{Nodes, log_ratio_with_error, short};
use crate::num::ball::{EXP_ERROR, U, exp};
use crate::num::fast;
use std::f64::consts::TAU;

/// The quadrature's and the truncation's own error is `e^−PRECISION`.
pub(super) const PRECISION: f64 = 44.0;

/// More nodes than this are not worth it.
pub(super) const NODES: usize = 50_000;

/// `1/√2π`.
const OVER_ROOT_TAU: f64 = 0.398_942_280_401_432_7;

/// z₀ and the sign of the loss: removing, `M(s) = E_Q[r^(s+1)]` and L = ln r;
/// adding, `M(s) = E_Q[r^−s]` and L = −ln r.
pub(super) fn power(direction: Direction, s0: f64) -> (f64, f64) {
    match direction {
        Direction::Remove => (s0 + 1.0, 1.0),
        Direction::Add => (-s0, -1.0),
    }
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
/// `e^(−A²/2)` for η ≤ σ and A ≥ 2; and M(s₀) ≥ 1 by Jensen, as E r = 1. ∎
pub(super) struct Rule {
    q: f64,
    sigma: f64,
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
        let (power, sign) = power(direction, s0);
        let halves = if power < 0.0 { -0.35 * power } else { 0.0 };
        let d = (1.570 * variance).min(sigma * (2.0 * precision).sqrt());
        let exponent = precision + d * d / (2.0 * variance) + top * d / variance + halves;
        // A step of few bits, so that its multiples are exact.
        let step = short((TAU * (1.0 - 1e-9) * d / exponent).min(sigma));
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

    /// ln of the factor η/(σ√2π) that [`Self::node`] leaves out.
    pub(super) fn log_factor(&self) -> f64 {
        fast::ln(self.step / self.sigma * OVER_ROOT_TAU)
    }

    /// `(L, ln(e^(−x²/2σ²)·r^z₀), error of L, error of the logarithm)` at the j-th node.
    fn full(&self, j: usize) -> (f64, f64, f64, f64) {
        let x = (self.first + j as i64) as f64 * self.step;
        let variance = self.sigma * self.sigma;
        let (log, error) = log_ratio_with_error(self.q, (x - 0.5) / variance);
        let square = x * x / (2.0 * variance);
        let doubt = self.power.abs() * (error + U * log.abs()) + 4.0 * U * square;
        (self.sign * log, self.power * log - square, error, doubt)
    }

    /// `(L, ln(e^(−x²/2σ²)·r^z₀))` at the j-th node.
    pub(super) fn node(&self, j: usize) -> (f64, f64) {
        let (loss, log, ..) = self.full(j);
        (loss, log)
    }

    pub(super) fn nodes(&self, kappa: f64) -> Nodes {
        let factor = self.step / self.sigma * OVER_ROOT_TAU;
        let mut collector = Collector::new(self.count(), kappa);
        for j in 0..self.count() {
            let (loss, log, loss_error, log_error) = self.full(j);
            collector.push(factor, loss, log, loss_error, log_error);
        }
        collector.finish(8.0 * exp(-self.precision))
    }
}

/// Gauss–Legendre panels for `M(s) = E_Q[r(u)^z]`, `r(u) = 1 − q + q·e^u`, over a
/// bounded range of noise.
///
/// *Laplace*: Q has density `¼e^(−(a+u)/2)` on (−a, a), ½ at −a and `½e^−a` at a.
/// *Gaussian*: `φ_σ(x)` on `[−Aσ, cut]`, u = (x−½)/σ²; what is left out below has mass
/// `e^−80`, which [`Self::nodes`] counts as the rule's error.
///
/// # Proof
/// On the Bernstein ellipse with ρ = 40 around a panel of half-width H/2, the
/// imaginary part is at most 10H and the real part leaves the panel by at most
/// 9.6H. In u (for the Gaussian, x/σ²) `|arg r| ≤ |Im u| ≤ 0.8`, `|r| ≤ r(Re u)` and
/// `|r|² ≥ r(Re u)²(1 − |Im u|²/4)`, so that `|d ln r/du| ≤ 1.1·w(Re u)` with `w = q·e^u/r ≤ 1`,
/// which is at most 2.5 times its value at the right end of the panel. H is such that 10H times
/// `(|t|+|z₀|)·min(1, 2.5w) + 2` plus the slope of the density is at most 8, and `|φ_σ|` grows by at most e^½, so the integrand is at
/// most e^12 times its mean on the panel, and eight nodes err by at most
/// `(64/15)·40⁻¹⁶/(1−40⁻²)·e^12 < 2·10⁻²⁰` of the panel's integral of the modulus
/// (Trefethen 2013, Theorem 19.3). ∎
pub(super) struct Panels {
    q: f64,
    noise: Noise,
    power: f64,
    sign: f64,
    /// Where panels begin and end.
    edges: Vec<f64>,
}

/// Noise over a bounded range.
#[derive(Clone, Copy)]
enum Noise {
    Laplace { a: f64 },
    Gaussian { sigma: f64 },
}

/// More panels than this are not laid: their nodes would be more than [`NODES`].
const PANELS: usize = NODES / 8;

impl Panels {
    pub(super) fn laplace(q: f64, a: f64, direction: Direction, s0: f64, top: f64) -> Self {
        let (power, sign) = power(direction, s0);
        let half = 0.5 * (0.8 / (top + power.abs() + 2.5)).min(0.08);
        // At least one panel; too many are refused by the caller.
        let panels = (a / half).ceil().clamp(1.0, PANELS as f64 + 1.0) as usize;
        let edges = even(-a, a, panels);
        Self { q, noise: Noise::Laplace { a }, power, sign, edges }
    }

    pub(super) fn gaussian(
        q: f64,
        sigma: f64,
        direction: Direction,
        s0: f64,
        top: f64,
        cut: f64,
    ) -> Self {
        let (power, sign) = power(direction, s0);
        let variance = sigma * sigma;
        let widest = (0.08 * variance).min(0.1 * sigma);
        let mut edges = vec![-12.65 * sigma];
        let mut x = edges[0];
        while x < cut && edges.len() <= PANELS + 1 {
            // At the right end of the widest panel, where w is largest.
            let u = (x + widest - 0.5) / variance;
            let w = (2.5 * q / (q + (1.0 - q) * exp(-u))).min(1.0);
            let slope = (top + power.abs()) * w + 2.0 + x.abs() + widest;
            x = (x + (0.8 * variance / slope).min(widest)).min(cut);
            edges.push(x);
        }
        Self { q, noise: Noise::Gaussian { sigma }, power, sign, edges }
    }

    /// The same with few panels, for steering.
    pub(super) fn coarse(self) -> Self {
        let count = self.edges.len() - 1;
        if count <= 80 {
            return self;
        }
        let edges = even(self.edges[0], self.edges[count], 80);
        Self { edges, ..self }
    }

    pub(super) fn count(&self) -> usize {
        8 * (self.edges.len() - 1) + 2
    }

    /// Calls back with `(factor, L, ln weight/factor, errors of both)` for every node.
    fn each(&self, mut visit: impl FnMut(f64, f64, f64, f64, f64)) {
        let mut at = |factor: f64, u: f64, log: f64| {
            let (ratio, error) = log_ratio_with_error(self.q, u);
            let doubt = self.power.abs() * (error + U * ratio.abs()) + 4.0 * U * log.abs();
            visit(factor, self.sign * ratio, self.power * ratio + log, error, doubt);
        };
        if let Noise::Laplace { a } = self.noise {
            at(0.5, a, -a);
            at(0.5, -a, 0.0);
        }
        for panel in self.edges.windows(2) {
            let (half, middle) = (0.5 * (panel[1] - panel[0]), 0.5 * (panel[0] + panel[1]));
            for (node, weight) in GAUSS {
                for x in [middle - half * node, middle + half * node] {
                    match self.noise {
                        Noise::Laplace { a } => at(0.25 * half * weight, x, -0.5 * (a + x)),
                        Noise::Gaussian { sigma } => {
                            let variance = sigma * sigma;
                            let factor = half * weight * OVER_ROOT_TAU / sigma;
                            at(factor, (x - 0.5) / variance, -x * x / (2.0 * variance));
                        }
                    }
                }
            }
        }
    }

    pub(super) fn nodes(&self, kappa: f64) -> Nodes {
        let mut collector = Collector::new(self.count(), kappa);
        self.each(|factor, loss, log, loss_error, log_error| {
            collector.push(factor, loss, log, loss_error, log_error);
        });
        // e^−80 of mass with |r^z₀| ≤ 1 below, for a Gaussian (z₀ > 0).
        let mut nodes = collector.finish(4e-20);
        nodes.rule_error += exp(-79.0 - kappa);
        nodes
    }

    /// About `(L, ln weight)`.
    pub(super) fn weighted(&self) -> Vec<(f64, f64)> {
        let mut nodes = Vec::with_capacity(self.count());
        self.each(|factor, loss, log, _, _| nodes.push((loss, log + fast::ln(factor))));
        nodes
    }
}

/// So many panels of one width.
fn even(from: f64, to: f64, panels: usize) -> Vec<f64> {
    (0..=panels).map(|i| from + (to - from) * i as f64 / panels as f64).collect()
}

/// Nodes and weights of Gauss–Legendre's rule of order 8 on [−1, 1], positive half.
pub(super) const GAUSS: [(f64, f64); 4] = [
    (0.183_434_642_495_649_8, 0.362_683_783_378_362),
    (0.525_532_409_916_329, 0.313_706_645_877_887_3),
    (0.796_666_477_413_626_7, 0.222_381_034_453_374_48),
    (0.960_289_856_497_536_3, 0.101_228_536_290_376_26),
];

/// Gathers nodes and adds up their errors.
struct Collector {
    nodes: Nodes,
    kappa: f64,
    total: f64,
}

impl Collector {
    fn new(count: usize, kappa: f64) -> Self {
        let (weight, loss) = (Vec::with_capacity(count), Vec::with_capacity(count));
        let weight_error = (0.0, 0.0);
        let nodes = Nodes { weight, loss, weight_error, loss_error: 0.0, rule_error: 0.0 };
        Self { nodes, kappa, total: 0.0 }
    }

    fn push(&mut self, factor: f64, loss: f64, log: f64, loss_error: f64, log_error: f64) {
        let exponent = log - self.kappa;
        let weight = factor * exp(exponent);
        let doubt = log_error + 2.0 * U * (log.abs() + exponent.abs()) + EXP_ERROR + 8.0 * U;
        self.nodes.weight.push(weight);
        self.nodes.loss.push(loss);
        self.nodes.weight_error.0 += weight * doubt;
        self.nodes.weight_error.1 += weight * doubt * loss.abs();
        self.nodes.loss_error += weight * loss_error;
        self.total += weight;
    }

    /// `rule` is the rule's error relative to M(s₀).
    fn finish(mut self, rule: f64) -> Nodes {
        let nodes = &mut self.nodes;
        nodes.weight_error.0 *= 1.01;
        nodes.weight_error.1 *= 1.01;
        nodes.loss_error *= 1.01;
        // What underflows is below 10⁻³⁰⁰ a node.
        nodes.rule_error = 1.01 * self.total * rule + nodes.weight.len() as f64 * 1e-300;
        self.nodes
    }
}
