//! Quadrature for the moments of sampled laws: nodes, weights and the rule's own error.

use super::law::Direction;
use super::moment::{Nodes, log_ratio_with_error, short};
use crate::num::ball::{EXP_ERROR, U, exp, exp_up};
use crate::num::fast;
use std::f64::consts::TAU;

/// The quadrature's and the truncation's own error is `e^−PRECISION`.
pub(super) const PRECISION: f64 = 44.0;

/// The largest number of nodes that is worth it.
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
/// line `Im x = ±d`, θ = d/σ², `|φ_σ|` grows by `e^(d²/2σ²)`; `|r| ≤ r(Re x)`, and
/// `|r| ≥ r(Re x)/√2` since both terms are in one quadrant; `|arg r| ≤ θ`. With a = 1 − q and
/// b = q·e^u also `|r|² = (a+b)² − 2ab(1 − cos θ) ≥ (a+b)²(1 − y)`, y = θ²/4, as ab ≤ (a+b)²/4; and
/// `−½ln(1−y) ≤ y/(2(1−y))`. So, with c the lesser of that and 0.35 > ½ln 2 where z₀ < 0, else 0,
/// `∫|f| ≤ M(s₀)·e^(d²/2σ² + |t|d/σ² + c|z₀|)`, and by Poisson
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
        let mut d = (1.570 * variance).min(sigma * (2.0 * precision).sqrt());
        if power < 0.0 {
            // About where |z₀|θ²/8 is as large as the precision.
            d = d.min(variance * (8.0 * precision / -power).sqrt());
        }
        let quarter = 0.25 * (d / variance) * (d / variance) * (1.0 + 1e-9);
        let fall = (0.5 * quarter / (1.0 - quarter)).min(0.35);
        let falls = if power < 0.0 { -power * fall } else { 0.0 };
        let exponent = precision + d * d / (2.0 * variance) + top * d / variance + falls;
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
/// *Gaussian*: `φ_σ(x)` on `[−Aσ, cut]` or on a band, u = (x−½)/σ². Below −Aσ there is a mass of
/// `e^−80`, where `|r^z₀|` is at most `(1−q)^min(z₀, 0)`: [`Self::nodes`] counts it as the rule's error.
///
/// # Proof
/// On the Bernstein ellipse with ρ = 40 around a panel of half-width H/2, the
/// imaginary part is at most 10H and the real part leaves the panel by at most
/// 9.6H. In u (for the Gaussian, x/σ²) `|arg r| ≤ |Im u| ≤ 0.8`, `|r| ≤ r(Re u)` and
/// `|r|² ≥ r(Re u)²(1 − |Im u|²/4)`, so that `|d ln r/du| ≤ 1.1·w(Re u)` with `w = q·e^u/r ≤ 1`.
/// As w grows by at most e^0.77 < 2.2 beyond the right end of the panel, this is at most
/// `1.1·min(1, 2.5w)` with w at that end, or to the right of it. H is such that 10H times
/// `(|t|+|z₀|)·min(1, 2.5w) + 2` plus the slope of the density is at most 8. From the panel to the
/// ellipse the logarithm of the integrand's modulus thus grows by at most `1.1·8`, by ½ for
/// `|φ_σ|` and, from the panel's mean to its maximum, by 0.9: the integrand is at most e^12
/// times its mean on the panel, and eight nodes err by at most
/// `(64/15)·40⁻¹⁶/(1−40⁻²)·e^12 < 2·10⁻²⁰` of the panel's integral of the modulus
/// (Trefethen 2013, Theorem 19.3). ∎
pub(super) struct Panels {
    q: f64,
    noise: Noise,
    power: f64,
    sign: f64,
    /// Where panels begin and end.
    edges: Vec<f64>,
    /// ln of a bound on the integral of the modulus that is left out.
    missing: f64,
}

/// Noise over a bounded range.
#[derive(Clone, Copy)]
enum Noise {
    Laplace { a: f64 },
    Gaussian { sigma: f64 },
}

/// The largest number of panels: more would have more than [`NODES`] nodes.
const PANELS: usize = NODES / 8;

impl Panels {
    pub(super) fn laplace(q: f64, a: f64, direction: Direction, s0: f64, top: f64) -> Self {
        let (power, sign) = power(direction, s0);
        let half = 0.5 * (0.8 / (top + power.abs() + 2.5)).min(0.08);
        // At least one panel; too many are refused by the caller.
        let panels = (a / half).ceil().clamp(1.0, PANELS as f64 + 1.0) as usize;
        let edges = even(-a, a, panels);
        let missing = f64::NEG_INFINITY;
        Self { q, noise: Noise::Laplace { a }, power, sign, edges, missing }
    }

    pub(super) fn gaussian(
        q: f64,
        sigma: f64,
        direction: Direction,
        s0: f64,
        top: f64,
        cut: f64,
    ) -> Self {
        let all = Self::band(q, sigma, direction, s0, top, (-12.65 * sigma, cut));
        // r ≥ 1 − q, and −ln(1 − q) ≤ q/(1 − q).
        let missing = -79.0 + (-all.power).max(0.0) * q / (1.0 - q);
        Self { missing, ..all }
    }

    /// The panels of noise from `from` to `to` only.
    pub(super) fn band(
        q: f64,
        sigma: f64,
        direction: Direction,
        s0: f64,
        top: f64,
        (from, to): (f64, f64),
    ) -> Self {
        let (power, sign) = power(direction, s0);
        let variance = sigma * sigma;
        let widest = (0.08 * variance).min(0.1 * sigma);
        let (mut x, mut edges) = (from, vec![from]);
        while x < to && edges.len() <= PANELS + 1 {
            // At the right end of the widest panel, where w is largest.
            let u = (x + widest - 0.5) / variance;
            let w = (2.5 * q / (q + (1.0 - q) * exp(-u))).min(1.0);
            let slope = (top + power.abs()) * w + 2.0 + x.abs() + widest;
            x = (x + (0.8 * variance / slope).min(widest)).min(to);
            edges.push(x);
        }
        let missing = f64::NEG_INFINITY;
        Self { q, noise: Noise::Gaussian { sigma }, power, sign, edges, missing }
    }

    /// The same with few panels, to guide the search.
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
        let mut nodes = collector.finish(4e-20);
        if self.missing > f64::NEG_INFINITY {
            nodes.rule_error += exp_up(self.missing - kappa);
        }
        nodes
    }

    /// About `(L, ln weight)`.
    pub(super) fn weighted(&self) -> Vec<(f64, f64)> {
        let mut nodes = Vec::with_capacity(self.count());
        self.each(|factor, loss, log, _, _| nodes.push((loss, log + fast::ln(factor))));
        nodes
    }
}

/// Panels of equal width.
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

/// Collects nodes and adds up their errors.
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
