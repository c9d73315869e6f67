//! The privacy loss `L = ln(P/Q)` under P, one law per kind of mechanism.

use super::component::{Component, Kind};
use super::moment::log_ratio;
use crate::error::{Error, Result};
use crate::num::ball::U;
use crate::num::directed::{down, up};
use crate::num::fast;

/// Which of the two neighbours contains the sampled unit.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Direction {
    /// P contains it: `P = (1−q)Q + q·P₁`.
    Remove,
    /// Q contains it.
    Add,
}

/// Losses on a lattice: `origin + step·(first + j)` has mass `mass[j]`.
#[derive(Clone, Debug)]
pub(super) struct Atoms {
    pub(super) origin: f64,
    pub(super) step: f64,
    pub(super) first: i64,
    pub(super) mass: Vec<f64>,
    /// Relative error of every mass.
    pub(super) error: f64,
}

impl Atoms {
    /// The float nearest the j-th loss, within 3u of the largest term.
    pub(super) fn loss(&self, j: usize) -> f64 {
        self.origin + self.step * (self.first + j as i64) as f64
    }

    /// A bound on the absolute error of [`Self::loss`] and of the model's
    /// origin and step, each good to a relative 4u.
    pub(super) fn loss_error(&self) -> f64 {
        let last = self.first + self.mass.len() as i64;
        let reach = self.first.unsigned_abs().max(last.unsigned_abs()) as f64;
        8.0 * U * (self.origin.abs() + self.step * reach)
    }
}

/// The law of one mechanism's loss.
#[derive(Clone, Debug)]
pub(super) enum Law {
    /// N(μ²/2, μ²); μ² is good to a relative 8u·(number of Gaussians merged).
    Gaussian { mu2: f64, error: f64 },
    /// Mass ½ at a, ½e^−a at −a, density ¼e^((ℓ−a)/2) between.
    Laplace { a: f64 },
    /// A lattice.
    Atoms(Atoms),
    /// `ln(1−q+q·e^u)`, u the loss of Gaussian noise x on the whole data; noise beyond
    /// `cut` is left out (and counted as infinite loss).
    SampledGaussian { q: f64, sigma: f64, direction: Direction, cut: f64 },
    /// The part of that law, removing, whose noise lies between two floats.
    Band { q: f64, sigma: f64, between: (f64, f64) },
    /// The same as a sampled Gaussian with Laplace noise of loss at most a.
    SampledLaplace { q: f64, a: f64, direction: Direction },
}

/// A batch in one direction: laws with their multiplicities, the mass at ∞, and the error of the laws' floats.
#[derive(Clone, Debug)]
pub(super) struct Batch {
    pub(super) laws: Vec<(Law, u64)>,
    /// Bounds on the probability that some loss is infinite.
    pub(super) infinite: (f64, f64),
    /// There is a coupling in which the true total loss and the model's differ
    /// by at most this: `δ_model(ε + slack) ≤ δ(ε) ≤ δ_model(ε − slack)`.
    pub(super) slack: f64,
}

/// Beyond `e^−CUT` of the mode, a discrete Gaussian's tail counts as infinite loss.
const CUT: f64 = 120.0;

impl Batch {
    /// Translates the components, all Gaussians into one and equal ones together.
    pub(super) fn new(components: &[(Component, u64)], direction: Direction) -> Result<Self> {
        let mut merged: Vec<(Component, u64)> = Vec::new();
        for &(component, times) in components {
            match merged.iter_mut().find(|(known, _)| *known == component) {
                Some((_, total)) => {
                    *total = total.checked_add(times).ok_or(Error::OutOfRange {
                        parameter: "number of mechanisms",
                        allowed: "at most 10^9 of a kind",
                    })?;
                }
                None => merged.push((component, times)),
            }
        }
        merged.retain(|&(_, times)| times > 0);
        if merged.iter().any(|&(_, times)| times > 1_000_000_000) {
            return Err(Error::OutOfRange {
                parameter: "number of mechanisms",
                allowed: "at most 10^9 of a kind",
            });
        }
        let mut batch = Self { laws: Vec::new(), infinite: (0.0, 0.0), slack: 0.0 };
        let (mut mu2, mut gaussians) = (0.0, 0.0);
        for (component, times) in merged {
            let k = times as f64;
            match component.0 {
                Kind::Gaussian { sigma } => {
                    mu2 += k / (sigma * sigma);
                    gaussians += 1.0;
                }
                Kind::Laplace { scale } => {
                    let a = 1.0 / scale;
                    // Both quantile functions are `clamp(a + 2 ln 2(1−u), −a, a)`.
                    batch.loosen(k, 2.0 * U * a);
                    batch.laws.push((Law::Laplace { a }, times));
                }
                Kind::DiscreteGaussian { sigma, sensitivity } => {
                    let (atoms, tail) = discrete_gaussian(sigma, sensitivity);
                    batch.push_atoms(atoms, times);
                    batch.fail(0.0, tail, times);
                }
                Kind::DiscreteLaplace { scale, sensitivity } => {
                    batch.push_atoms(discrete_laplace(scale, sensitivity), times);
                }
                Kind::Response { epsilon, choices } => {
                    batch.push_atoms(response(epsilon, choices, 1.0), times);
                }
                Kind::Approximate { epsilon, delta } => {
                    batch.push_atoms(response(epsilon, 2, 1.0 - delta), times);
                    batch.fail(delta, delta, times);
                }
                Kind::SampledGaussian { q, sigma } => {
                    let cut = f64::INFINITY;
                    batch.laws.push((Law::SampledGaussian { q, sigma, direction, cut }, times));
                }
                Kind::SampledLaplace { q, scale } => {
                    let a = 1.0 / scale;
                    // ln(1−q+q·e^ℓ) moves less than ℓ does.
                    batch.loosen(k, 2.0 * U * a);
                    batch.laws.push((Law::SampledLaplace { q, a, direction }, times));
                }
            }
        }
        if gaussians > 0.0 {
            let error = 4.0 * U * (gaussians + 2.0);
            batch.laws.push((Law::Gaussian { mu2, error }, 1));
        }
        Ok(batch)
    }

    /// The batch without the rare, large losses of its sampled Gaussians, which count as
    /// infinite; together they are far less likely than `delta`. `None` if there are none.
    ///
    /// However rare, they may rule the moment generating function at the tilt
    /// that the other losses need.
    ///
    /// # Proof
    /// Under P the noise is beyond c with probability
    /// `(1−q)Φ(−c/σ) + qΦ(−(c−1)/σ) ≤ ½e^(−(c−1)²/2σ²)` for c > 1. ∎
    pub(super) fn without_rare_losses(&self, delta: f64) -> Option<Self> {
        let mut batch = self.clone();
        let mut any = false;
        for (law, times) in &mut batch.laws {
            if let Law::SampledGaussian { sigma, direction: Direction::Remove, cut, .. } = law {
                let k = *times as f64;
                let nats = ((k / delta).ln() + 16.0).clamp(1.0, 600.0);
                *cut = 1.0 + *sigma * (2.0 * nats).sqrt();
                // A hair more than the square root's rounding could lose.
                let lost = fast::exp_neg(nats * (1.0 - 1e-12)) * (1.0 + 1e-9);
                batch.infinite.1 = up(batch.infinite.1 + up(k * lost));
                any = true;
            }
        }
        any.then_some(batch)
    }

    fn push_atoms(&mut self, atoms: Atoms, times: u64) {
        self.loosen(times as f64, atoms.loss_error());
        self.laws.push((Law::Atoms(atoms), times));
    }

    fn loosen(&mut self, times: f64, by: f64) {
        self.slack = up(self.slack + up(times * by));
    }

    /// Adds `times` independent chances of an infinite loss: with f and g the
    /// probabilities of two, that of either is `f + g(1−f)`.
    fn fail(&mut self, lower: f64, upper: f64, mut times: u64) {
        let either = |f: (f64, f64), g: (f64, f64)| {
            let low = down(f.0 + down(g.0 * down(1.0 - f.0).max(0.0)).max(0.0));
            let high = up(f.1 + up(g.1 * up(1.0 - f.1)));
            // Adding nothing must leave an exact 0.
            (if f.0 == 0.0 && g.0 == 0.0 { 0.0 } else { low.max(0.0) }, high.min(1.0))
        };
        let mut square = (lower, upper);
        if upper == 0.0 {
            return;
        }
        while times > 0 {
            if times & 1 == 1 {
                self.infinite = either(self.infinite, square);
            }
            square = either(square, square);
            times >>= 1;
        }
    }

    /// About the largest loss of one sampled Gaussian that counts.
    pub(super) fn reach(&self) -> f64 {
        self.laws.iter().fold(0.0, |most: f64, (law, _)| match law {
            Law::SampledGaussian { q, sigma, cut, .. } => {
                let noise = cut.min(1.0 + 12.7 * sigma);
                most.max(log_ratio(*q, (noise - 0.5) / (sigma * sigma)))
            }
            _ => most,
        })
    }

    /// An upper bound on δ(0), the total variation, for sampled Gaussians alone; 1 otherwise.
    ///
    /// # Proof
    /// The total variation of a product is at most the sum, and that of a sample q times that of
    /// the whole, `2Φ(1/2σ) − 1 ≤ min(1, 1/(σ√2π))`. ∎
    pub(super) fn total_variation(&self) -> f64 {
        self.laws.iter().fold(0.0, |sum: f64, (law, k)| match law {
            Law::SampledGaussian { q, sigma, .. } => {
                let whole = (0.398_942_280_401_432_8 / sigma * (1.0 + 4.0 * U)).min(1.0);
                up(sum + *k as f64 * q * whole * (1.0 + 8.0 * U))
            }
            _ => 1.0 + sum,
        })
    }

    /// The largest possible total loss, rounded up; ∞ if there is none.
    pub(super) fn supremum(&self) -> f64 {
        self.extreme(|law| match law {
            Law::Gaussian { .. } => f64::INFINITY,
            Law::SampledGaussian { direction: Direction::Remove, .. } | Law::Band { .. } => {
                f64::INFINITY
            }
            Law::SampledGaussian { q, direction: Direction::Add, .. } => PAD - fast::ln(1.0 - q),
            Law::Laplace { a } => *a,
            Law::Atoms(atoms) => atoms.loss(atoms.mass.len() - 1),
            Law::SampledLaplace { q, a, direction } => match direction {
                Direction::Remove => PAD + log_ratio(*q, *a),
                Direction::Add => PAD - log_ratio(*q, -a),
            },
        })
    }

    /// The same, rounded down.
    ///
    /// # Proof
    /// [`Self::supremum`] adds the slack, [`PAD`] for a logarithm that is off by at most as much, and
    /// few roundings; the truth is as far below the floats as it may be above. (Samples of Gaussian
    /// noise have no largest loss when removed, so that adding does not matter.) ∎
    pub(super) fn least_supremum(&self) -> f64 {
        let supremum = self.supremum();
        if supremum.is_infinite() {
            return supremum;
        }
        let padded = |law: &Law| f64::from(u8::from(matches!(law, Law::SampledLaplace { .. })));
        let pads: f64 = self.laws.iter().map(|(law, k)| padded(law) * *k as f64 * PAD).sum();
        (supremum * (1.0 - 1e-12) - 2.001 * (self.slack + pads)).max(0.0)
    }

    fn extreme(&self, end: impl Fn(&Law) -> f64) -> f64 {
        let sum =
            self.laws.iter().fold(self.slack, |sum, (law, k)| up(sum + up(*k as f64 * end(law))));
        sum * (1.0 + 8.0 * U)
    }
}

/// More than the error of any logarithm here.
const PAD: f64 = 4.0 * fast::LN_ERROR;

fn response(epsilon: f64, choices: u32, scale: f64) -> Atoms {
    let a = fast::exp_neg(epsilon);
    let others = f64::from(choices) - 1.0;
    let truth = scale / (1.0 + others * a);
    let error = 4.0 * fast::EXP_ERROR;
    if choices == 2 {
        // The float −ε and 2ε are exact.
        let mass = vec![truth * a, truth];
        return Atoms { origin: -epsilon, step: 2.0 * epsilon, first: 0, mass, error };
    }
    let mass = vec![truth * a, truth * a * (others - 1.0), truth];
    Atoms { origin: 0.0, step: epsilon, first: -1, mass, error }
}

/// P[X ≤ 0] = 1/(1+α), P[X = x] = (1−α)/(1+α)·α^x below Δ, P[X ≥ Δ] = α^Δ/(1+α),
/// with α = e^(−1/s); the loss is (Δ − 2x)/s, clamped.
fn discrete_laplace(scale: f64, sensitivity: u32) -> Atoms {
    let delta = sensitivity as usize;
    let power = |x: usize| fast::exp_neg(x as f64 / scale);
    let over = 1.0 / (1.0 + power(1));
    let mut gap = one_minus_exp_neg(1.0 / scale) * over;
    if delta == 1 {
        gap = 0.0;
    }
    let mass = (0..=delta)
        .map(|j| {
            let x = delta - j;
            if x == 0 {
                over
            } else if x == delta {
                power(delta) * over
            } else {
                gap * power(x)
            }
        })
        .collect();
    let step = 2.0 / scale;
    // The exponent x/s ≤ 500 is rounded by a relative u.
    let error = 500.0 * 2.0 * U + 4.0 * fast::EXP_ERROR + 64.0 * U;
    Atoms { origin: -f64::from(sensitivity) / scale, step, first: 0, mass, error }
}

/// `1 − e^−x` for x > 0 within a relative `4·EXP_ERROR + 16u`.
pub(super) fn one_minus_exp_neg(x: f64) -> f64 {
    if x > 0.5 {
        return 1.0 - fast::exp_neg(x);
    }
    // x(1 − x/2(1 − x/3(1 − …))): positive, the 18th term is below 2⁻⁶⁹.
    let mut sum = 1.0;
    let mut k = 18.0;
    while k > 1.5 {
        sum = 1.0 - x * sum / k;
        k -= 1.0;
    }
    x * sum
}

/// The losses (Δ/σ²)(Δ/2 − x), and a bound on the mass beyond the cut.
fn discrete_gaussian(sigma: f64, sensitivity: u32) -> (Atoms, f64) {
    let (delta, twice) = (f64::from(sensitivity), 2.0 * sigma * sigma);
    let reach = (CUT * twice).sqrt().floor() as i64;
    let weight = |x: i64| fast::exp_neg(x as f64 * x as f64 / twice);
    let half: Vec<f64> = (0..=reach).map(weight).collect();
    let total = half.iter().rev().sum::<f64>() * 2.0 - 1.0;
    let mass: Vec<f64> =
        (-reach..=reach).map(|x| half[x.unsigned_abs() as usize] / total).collect();
    // Exponents below CUT carry 3u; the sum of n floats n·u.
    let error =
        CUT * 3.0 * U * 2.0 + 4.0 * fast::EXP_ERROR + (mass.len() + 8) as f64 * U + 1e-49 * sigma;
    // Σ_{x>X} e^(−x²/2σ²) ≤ e^(−(X+1)²/2σ²)/(1 − e^(−X/σ²)), and the total is ≥ 1.
    let tail = 2.2 * fast::exp_neg(CUT) * (2.0 + sigma);
    let atoms = Atoms {
        origin: delta * delta / twice,
        step: delta / (sigma * sigma),
        first: -reach,
        mass,
        error,
    };
    (atoms, tail)
}
