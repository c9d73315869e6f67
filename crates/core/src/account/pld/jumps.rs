//! δ(ε) of rare samples: the large losses are counted one by one.
//!
//! The loss of a rare sample is almost always tiny, and large once in a while. No one tilt suits
//! both: a tilt that the small losses need is ruled by the large ones, however rare. So the law is cut into
//! a *body* B and *bands* `T_1, …, T_m` of large losses, and
//! ```text
//! (B + T_1 + … + T_m)^k = Σ_n k!/((k−|n|)!·n_1!⋯n_m!) · B^(k−|n|)·T_1^n_1⋯T_m^n_m .
//! ```
//! Every term is a measure with a tilt of its own, and δ(ε) is the sum of theirs.
//!
//! # Proof
//! δ(ε) = ∫(1 − e^(ε−L))₊ is linear in the measure. With `λ_b ≥ k·T_b(ℝ)` a term has a mass of at most
//! `Π λ_b^n_b/n_b!`, so that all terms which have at least the counts n weigh at most that times
//! `e^(Σλ)`. Three ways lead to a term's δ:
//! - *Contour*: [`Contour`]'s proof holds for any measure of mass at most 1.
//! - *Rare*: at most `e^(K(s)−sε)/(1+s)` for any s > 0 (Chernoff), at least 0.
//! - *Far*, where nearly all losses exceed ε: `(1 − e^−v)₊ = 1 − e^−v + (e^−v − 1)₊`, v = L − ε, so that
//!   δ = P − e^ε·Q + R with P the mass, Q that under the other neighbour, and, as
//!   `e^(−sx)(e^x − 1) ≤ 1/(s−1)` for x > 0 and s > 1, `0 ≤ R ≤ e^(sε)·E[e^(−sL)]/(s−1)`; a band above noise x
//!   contributes at most `T·e^(−s·ℓ(x))` to the expectation. `P[B] = 1 − p`
//!   with p the mass of all bands and of what is beyond them.
//!
//! What is beyond the last band counts as infinite. ∎

use super::contour::{Contour, log_moment_up};
use super::grid::inverse;
use super::lattice::Lattice;
use super::law::{Batch, Direction, Law};
use super::moment::log_ratio;
use super::rule::Panels;
use super::solve::Profile;
use super::steer::Tilt;
use crate::num::ball::{EXP_ERROR, U, exp, exp_down, exp_up};
use crate::num::fast::LN_ERROR;

/// Terms that are less likely than this fraction of δ are not computed.
const NEGLIGIBLE: f64 = 1e-8;
/// The largest expected number of large losses.
const MOST_JUMPS: f64 = 0.02;
/// More terms than this are not summed …
const TERMS: usize = 400;
/// … and more contours, or half as many lattices, are not worth it.
const MOST_WORK: usize = 24;

/// One sampled Gaussian law, k times, and where its large losses begin and end.
pub(super) struct Split {
    q: f64,
    sigma: f64,
    k: u64,
    /// The noise beyond which losses are large, and beyond which they count as infinite.
    from: f64,
    to: f64,
    /// A bound on the probability, in one step, of the latter.
    lost: f64,
    /// About the mean and the deviation of the sum of all small losses.
    mean: f64,
    pub(super) spread: f64,
    /// About the large losses, with how many of each are expected.
    large: Vec<(f64, f64)>,
}

impl Split {
    /// `None` unless the batch is a single law of samples that are removed.
    pub(super) fn new(batch: &Batch, delta: f64, expected: f64) -> Option<Self> {
        let [(Law::SampledGaussian { q, sigma, direction: Direction::Remove, cut }, k)] =
            batch.laws[..]
        else {
            return None;
        };
        if cut < f64::INFINITY || batch.infinite.1 > 0.0 {
            return None;
        }
        let times = k as f64;
        let nats = ((times / delta).ln() + 20.0).clamp(1.0, 600.0);
        let to = 1.0 + sigma * (2.0 * nats).sqrt();
        // ½e^(−(c−1)²/2σ²), see [`Batch::without_rare_losses`]; a hair more than roundings lose.
        let lost = exp_up(-nats * (1.0 - 1e-12)) * (1.0 + 1e-9);
        let wanted = expected.clamp(1e-300, MOST_JUMPS) / times;
        let beyond = |z: f64| if z > 0.0 { 0.5 * (-0.5 * z * z).exp() / (1.0 + z) } else { 0.5 };
        let chance = |x: f64| (1.0 - q) * beyond(x / sigma) + q * beyond((x - 1.0) / sigma);
        let (mut from, mut high) = (0.0, to);
        for _ in 0..60 {
            let x = 0.5 * (from + high);
            if chance(x) > wanted { from = x } else { high = x }
        }
        let (_, mean, variance) = body(q, sigma, from).cumulants(0.0);
        let bands = Panels::band(q, sigma, Direction::Remove, 0.0, 0.0, (from, to)).coarse();
        let large = bands.weighted().into_iter().map(|(l, w)| (l, times * exp(w))).collect();
        let (mean, spread) = (times * mean, (times * variance).sqrt());
        let whole = spread > 0.0 && spread.is_finite() && from < to;
        whole.then_some(Self { q, sigma, k, from, to, lost, mean, spread, large })
    }

    /// The loss at noise x.
    fn loss(&self, x: f64) -> f64 {
        log_ratio(self.q, (x - 0.5) / (self.sigma * self.sigma))
    }

    /// The ends of the bands: narrow around ε, and twice as wide with each step down or up from
    /// the least large loss. Beyond `epsilon + far` a loss is far.
    fn edges(&self, epsilon: f64, far: f64, width: f64) -> Vec<f64> {
        let noise = |loss: f64| 0.5 + self.sigma * self.sigma * inverse(self.q, loss).max(-1e9);
        let mut edges = vec![self.from, self.to];
        let mut push = |loss: f64| {
            let x = noise(loss);
            if x > self.from && x < self.to {
                edges.push(x);
            }
        };
        let top = epsilon + far;
        push(top);
        let (mut down, mut step) = (epsilon - width, width);
        let mut up = 2.0 * self.loss(self.from);
        for _ in 0..60 {
            // Whichever band is narrower comes next, until they meet.
            if down <= up {
                break;
            }
            if step < up {
                push(down);
                step *= 2.0;
                down -= step;
            } else {
                push(up);
                up *= 2.0;
            }
        }
        edges.sort_by(f64::total_cmp);
        edges
    }
}

fn body(q: f64, sigma: f64, cut: f64) -> Law {
    Law::SampledGaussian { q, sigma, direction: Direction::Remove, cut }
}

/// An approximation to guide the search: the small losses as a normal law, and at most one large loss.
impl Profile for Split {
    fn about(&self, epsilon: f64) -> f64 {
        let v = self.spread;
        let one = |epsilon: f64| {
            let d = (epsilon - self.mean) / v;
            let z = d.abs();
            // E[(X − d)₊] of a normal X.
            let over = 0.398_942_3 * (-0.5 * z * z).exp() / (1.0 + 0.86 * z + z * z);
            -(-v * (over + (-d).max(0.0))).exp_m1()
        };
        one(epsilon)
            + self.large.iter().map(|(loss, times)| times * one(epsilon - loss)).sum::<f64>()
    }

    fn delta(&self, _: f64) -> (f64, f64) {
        (0.0, 1.0)
    }
}

/// One term of the sum.
struct Term {
    /// `k!/((k−|n|)!·n_1!⋯n_m!)`, within a relative 10⁻¹³.
    factor: f64,
    way: Way,
}

enum Way {
    Contour(Box<Contour>),
    Lattice(Box<Lattice>),
    /// `(s, K(s))`, from above.
    Rare(f64, f64),
    /// No loss of the term is above this.
    Below(f64),
    Far(Far),
}

/// A term whose losses nearly all exceed ε, its factor included.
struct Far {
    p: (f64, f64),
    q: (f64, f64),
    /// `(s, ln of E[e^(−sL)]/(s−1))`, from above.
    rest: Vec<(f64, f64)>,
}

impl Far {
    fn delta(&self, epsilon: f64) -> (f64, f64) {
        let rest = |&(s, log): &(f64, f64)| exp_up(log + s * epsilon + 8.0 * U * s * epsilon.abs());
        let rest = self.rest.iter().map(rest).fold(f64::INFINITY, f64::min);
        let low = self.p.0 - exp_up(epsilon) * self.q.1;
        let high = self.p.1 - exp_down(epsilon) * self.q.0;
        let rounding = 4.0 * U * (self.p.1 + exp_up(epsilon) * self.q.1);
        ((low - rounding).max(0.0), (high.max(0.0) + rounding + rest).min(self.p.1))
    }
}

/// δ(ε) as the sum over how many large losses of which size there are.
pub(super) struct Jumps {
    terms: Vec<Term>,
    /// What the terms left out and infinite losses add at most.
    rest: f64,
    slack: f64,
}

/// The bands, with their bounds.
struct Bands<'a> {
    split: &'a Split,
    epsilon: f64,
    delta: f64,
    /// Sums of large losses above this are far.
    far: f64,
    smooth: bool,
    laws: Vec<Law>,
    /// The losses at the ends of each.
    losses: Vec<(f64, f64)>,
    /// ln of the masses under P and under Q.
    p: Vec<(f64, f64)>,
    q: Vec<(f64, f64)>,
    /// k times the mass under P, from above.
    expected: Vec<f64>,
    /// `ln P[B]` and `ln Q[B]`.
    body: [(f64, f64); 2],
    /// `(s, ln E_B[e^(−sL)])`, from above, for a few s.
    falls: Vec<(f64, f64)>,
}

/// `ln M(s)` of a law, enclosed.
fn log_mass(law: &Law, s: f64) -> (f64, f64) {
    let kappa = law.cumulants(s).0;
    let moments = law.moments(s, 1.0, 0, kappa);
    let doubt = 1.01 * moments.values[0].radius + moments.error;
    let log = kappa + moments.log;
    let doubt = doubt + 4.0 * U * (kappa.abs() + moments.log.abs());
    // A NaN or a lost moment claims nothing.
    if doubt < 0.01 { (log - doubt, log + doubt) } else { (f64::NEG_INFINITY, f64::INFINITY) }
}

/// `ln(1 − p)` for a p in the interval: `−p − p²/2 − p³ ≤ ln(1 − p) ≤ −p − p²/2` for 0 ≤ p ≤ ½.
fn log_rest((low, high): (f64, f64)) -> (f64, f64) {
    let most = -high - high * high * (0.5 + high);
    if high <= 0.5 {
        (most * (1.0 + 8.0 * U), -(low + 0.5 * low * low) * (1.0 - 8.0 * U))
    } else {
        (f64::NEG_INFINITY, 0.0)
    }
}

impl<'a> Bands<'a> {
    fn new(split: &'a Split, epsilon: f64, delta: f64) -> Option<Self> {
        let small_losses = body(split.q, split.sigma, split.from);
        let small =
            Batch { laws: vec![(small_losses.clone(), 1)], infinite: (0.0, 0.0), slack: 0.0 };
        let falls: Vec<(f64, f64)> = [0.5, 1.0, 2.0, 4.0, 8.0]
            .map(|c| c / split.spread)
            .into_iter()
            .filter(|s| *s > 2.0)
            .map(|s| (s, log_moment_up(&small, -s)))
            .collect();
        let reach = |&(s, fall): &(f64, f64)| (split.k as f64 * fall + 25.0) / s;
        let far = falls.iter().map(reach).fold(f64::INFINITY, f64::min);
        // About where the transform of the body has died out: a band should turn some hundred times until there.
        // At a tilt that the largest of the small losses do not rule.
        let decay = small_losses.decay(1.0 / split.spread.max(split.loss(split.from)));
        let mut top = 4.0 / split.spread;
        while split.k as f64 * decay.log(top) > -30.0 && top < 1e6 / split.spread {
            top *= 1.25;
        }
        // A contour through steps that are few and heavy-tailed would not end.
        let smooth = top < 300.0 / split.spread;
        let width = if smooth {
            (500.0 / top).min(12.0 * split.spread)
        } else {
            4.0 * split.loss(split.from)
        };
        let edges = split.edges(epsilon, far, width);
        let times = split.k as f64;
        let (mut laws, mut losses) = (Vec::new(), Vec::new());
        let (mut p, mut q, mut expected) = (Vec::new(), Vec::new(), Vec::new());
        for edge in edges.windows(2) {
            let law = Law::Band { q: split.q, sigma: split.sigma, between: (edge[0], edge[1]) };
            p.push(log_mass(&law, 0.0));
            q.push(log_mass(&law, -1.0));
            expected.push(exp_up(p[p.len() - 1].1) * times * (1.0 + 4.0 * U));
            losses.push((split.loss(edge[0]), split.loss(edge[1])));
            laws.push(law);
        }
        // Under Q noise is beyond the last band less often than under P.
        let total = |masses: &[(f64, f64)]| {
            let low: f64 = masses.iter().map(|m| exp_down(m.0)).sum();
            let high: f64 = masses.iter().map(|m| exp_up(m.1)).sum();
            log_rest((low * (1.0 - 1e-14), (high + split.lost) * (1.0 + 1e-14)))
        };
        let body = [total(&p), total(&q)];
        let far = epsilon + far;
        let known = expected.iter().all(|e| *e < 1.0);
        known.then_some(Self {
            split,
            epsilon,
            delta,
            far,
            smooth,
            laws,
            losses,
            p,
            q,
            expected,
            body,
            falls,
        })
    }

    /// Visits every combination of counts that is not negligible, from band `b` on; returns a bound on the mass of the
    /// others. `weight` bounds that of `counts`.
    fn visit(
        &self,
        b: usize,
        counts: &mut Vec<u64>,
        weight: f64,
        found: &mut Vec<Vec<u64>>,
    ) -> f64 {
        if b == self.laws.len() {
            found.push(counts.clone());
            return 0.0;
        }
        let (mut rest, mut weight, mut n) = (0.0, weight, 0u64);
        loop {
            if weight < NEGLIGIBLE * self.delta || found.len() > TERMS {
                // All that have at least these counts: e^Σλ ≤ e.
                let all: f64 = self.expected.iter().sum();
                rest += weight * exp_up(all) * (1.0 + 1e-12);
                break;
            }
            if counts.iter().sum::<u64>() + n > self.split.k {
                break;
            }
            counts.push(n);
            rest += self.visit(b + 1, counts, weight, found);
            counts.pop();
            n += 1;
            weight *= self.expected[b] / n as f64 * (1.0 + 4.0 * U);
        }
        rest
    }

    fn term(&self, counts: &[u64]) -> Option<Term> {
        let split = self.split;
        let jumps: u64 = counts.iter().sum();
        let (mut factor, mut left) = (1.0, split.k as f64);
        for count in counts {
            for n in 1..=*count {
                factor *= left / n as f64;
                left -= 1.0;
            }
        }
        let over = |end: fn(&(f64, f64)) -> f64| -> f64 {
            counts.iter().zip(&self.losses).map(|(n, l)| *n as f64 * end(l)).sum()
        };
        let (low, high) = (over(|l| l.0), over(|l| l.1));
        let at = self.epsilon - split.mean;
        if low >= self.far * (1.0 - 1e-9) {
            return Some(Term { factor: 1.0, way: Way::Far(self.far(counts, jumps, factor)) });
        }
        let mut laws = vec![(body(split.q, split.sigma, split.from), split.k - jumps)];
        laws.retain(|(_, k)| *k > 0);
        for (law, n) in self.laws.iter().zip(counts) {
            if *n > 0 {
                laws.push((law.clone(), *n));
            }
        }
        let batch = Batch { laws, infinite: (0.0, 0.0), slack: 0.0 };
        let least_large = split.loss(split.from);
        let most = (left * least_large + high + (left + 9.0) * 4.0 * LN_ERROR) * (1.0 + 16.0 * U);
        if most < self.epsilon - split.spread {
            return Some(Term { factor, way: Way::Below(most) });
        }
        let mut saddle = Tilt::for_epsilon(&batch, self.epsilon);
        if saddle.s.is_nan() || saddle.s > 40.0 / least_large {
            saddle = Tilt::at(&batch, 40.0 / least_large);
        }
        let log = log_moment_up(&batch, saddle.s);
        let size = log - saddle.s * self.epsilon - (1.0 + saddle.s).ln() + factor.ln();
        if size < (NEGLIGIBLE * self.delta).ln() {
            return Some(Term { factor, way: Way::Rare(saddle.s, log) });
        }
        let log_delta = (1e3 * self.delta / factor).ln();
        // A tilt below this would make the contour long and gain nothing.
        let least = (0.3 / split.spread).min(20.0 / (high - at).max(split.spread));
        let tilt = if saddle.s >= least { saddle } else { Tilt::at(&batch, least) };
        let goal = Tilt { epsilon: self.epsilon, log_delta, ..tilt };
        if self.smooth
            && let Some(contour) = Contour::new(&batch, &goal, 0.0)
        {
            return Some(Term { factor, way: Way::Contour(Box::new(contour)) });
        }
        let most = 15.0 / least_large;
        let tilt = if saddle.s <= most { saddle } else { Tilt::at(&batch, most) };
        let goal = Tilt { epsilon: self.epsilon, log_delta, ..tilt };
        let h = (split.spread / 200.0).max((high - low + 4.0 * least_large) / 65_536.0);
        let lattice = Lattice::new(&batch, &goal, h, 18)?;
        Some(Term { factor, way: Way::Lattice(Box::new(lattice)) })
    }

    fn far(&self, counts: &[u64], jumps: u64, factor: f64) -> Far {
        let body = (self.split.k - jumps) as f64;
        let ends = |own: (f64, f64), bands: &[(f64, f64)]| {
            let (mut low, mut high) = (body * own.0, body * own.1);
            let mut size = low.abs() + high.abs();
            for (n, band) in counts.iter().zip(bands).filter(|(n, _)| **n > 0) {
                let n = *n as f64;
                (low, high) = (low + n * band.0, high + n * band.1);
                size += n * (band.0.abs() + band.1.abs());
            }
            let doubt = 4.0 * U * size;
            (
                exp_down(low - doubt) * factor * (1.0 - 1e-13),
                exp_up(high + doubt) * factor * (1.0 + 1e-13),
            )
        };
        let rest = |&(s, fall): &(f64, f64)| {
            let mut log = body * fall + factor.ln() - (s - 1.0).ln();
            let mut size = log.abs();
            for ((n, band), loss) in
                counts.iter().zip(&self.p).zip(&self.losses).filter(|((n, _), _)| **n > 0)
            {
                let n = *n as f64;
                log += n * (band.1 - s * (loss.0 - 4.0 * LN_ERROR));
                size += n * (band.1.abs() + s * loss.0.abs());
            }
            (s, log + 1e-12 + 16.0 * U * size)
        };
        Far {
            p: ends(self.body[0], &self.p),
            q: ends(self.body[1], &self.q),
            rest: self.falls.iter().map(rest).collect(),
        }
    }
}

impl Jumps {
    /// For ε and δ about those of `goal`; `None` if there would be too many terms, or one of them would be too long.
    pub(super) fn new(batch: &Batch, split: &Split, goal: &Tilt) -> Option<Self> {
        let delta = exp(goal.log_delta);
        let bands = Bands::new(split, goal.epsilon, delta)?;
        let mut found = Vec::new();
        let rest = bands.visit(0, &mut Vec::new(), 1.0, &mut found);
        if found.len() > TERMS {
            return None;
        }
        let (mut terms, mut work) = (Vec::new(), 0);
        for counts in &found {
            let term = bands.term(counts)?;
            work += usize::from(matches!(term.way, Way::Contour(_) | Way::Lattice(_)))
                + usize::from(matches!(term.way, Way::Lattice(_)));
            if work > MOST_WORK {
                return None;
            }
            terms.push(term);
        }
        let infinite = split.k as f64 * split.lost * (1.0 + 4.0 * U);
        Some(Self { terms, rest: rest + infinite, slack: batch.slack })
    }
}

#[cfg(test)]
impl Jumps {
    /// A deliberate mistake, to test that it is noticed.
    pub(super) fn without_far_terms(mut self) -> Self {
        self.terms.retain(|term| !matches!(term.way, Way::Far(_)));
        self
    }
}

impl Profile for Jumps {
    fn about(&self, epsilon: f64) -> f64 {
        self.terms
            .iter()
            .map(|term| match &term.way {
                Way::Contour(contour) => term.factor * contour.about(epsilon),
                Way::Lattice(lattice) => term.factor * lattice.about(epsilon),
                // Falls with ε, as a search expects.
                Way::Far(far) => (far.p.0 - exp(epsilon) * far.q.0).max(0.0),
                Way::Rare(..) | Way::Below(_) => 0.0,
            })
            .sum()
    }

    fn delta(&self, epsilon: f64) -> (f64, f64) {
        let (mut low, mut high) = (0.0, self.rest);
        let (below, above) = (epsilon + self.slack, epsilon - self.slack);
        for term in &self.terms {
            let (a, b) = match &term.way {
                Way::Contour(contour) => (contour.delta(below).0, contour.delta(above).1),
                Way::Lattice(lattice) => (lattice.delta(below).0, lattice.delta(above).1),
                Way::Far(far) => (far.delta(below).0, far.delta(above).1),
                Way::Below(most) => (0.0, if above >= *most { 0.0 } else { 1.0 }),
                Way::Rare(s, log) => {
                    (0.0, exp_up(log - s * above + 1e-9 + 1e-12 * (s * above).abs()))
                }
            };
            low += term.factor * a;
            high += term.factor * b;
        }
        // As many roundings as terms, and those of the factors.
        let off = 1e-12 + 4.0 * EXP_ERROR;
        (low * (1.0 - off), high * (1.0 + off))
    }
}
