//! Privacy loss distributions: what a batch fixed in advance costs, to any precision, with both ends certified.
//!
//! The privacy loss of a pair (P, Q) is `L = ln(P/Q)` under P; that of a batch is
//! the sum of independent losses, and `δ(ε) = E[(1 − e^(ε−L))₊]`. Every
//! [`Component`] is the worst pair of its mechanism, so δ(ε) of the product is the
//! true cost of the batch. Four methods compute it, each where it is best:
//!
//! | method | for | width of ε | why |
//! |---|---|---|---|
//! | `sums`: list the outcomes | few of them | 10⁻¹² | positive sums lose nothing |
//! | `contour`: integrate along a line | anything smooth | 10⁻¹³ … 10⁻⁸ | the trapezoidal rule converges geometrically, and its error is itself a sum of δ's |
//! | `lattice`: a transform on a grid | the rest | below 10⁻⁶ | needs no smoothness; chords from above, lowered chords from below, both O(h²) |
//! | `jumps`: count the large losses one by one | rare samples | below 10⁻⁶ | each count and size has a tilt, and a contour or lattice, of its own |
//!
//! All Gaussians merge into one first. A grid of the contour's precision would
//! need millions of points; a contour through a law of atoms would never end.
//! (A sum of very many atoms may be smoothed into one that ends, at O(v²).)
//! Both tilt the losses by `e^(s₀L)` at the saddle point, so that δ = 10⁻³⁰ is as
//! precise as δ = ½. Saddle points, proposals and estimates are plain floats
//! (`steer`, `cumulant`); every number that is returned has passed `Profile::delta`,
//! whose exponentials, logarithms, sines and transforms have stated errors.
//!
//! # Which theorem licenses this
//! Composition of dominating pairs (Zhu, Dong, Wang 2022, Theorem 10): the batch's
//! mechanisms and parameters are fixed in advance; inputs may be chosen adaptively.
//! Where the *mechanisms* are chosen adaptively, use a filter.
//!
//! # What this module does not do
//! It knows no bounded-range composition, no fixed-size sampling and no
//! shuffling; they are elsewhere. Poisson sampling is for add or remove only. Two or
//! more laws of atoms on lattices that do not fit each other, with over 2²¹ outcomes,
//! are smoothed or snapped to one grid; the interval then holds the truth and may be wider
//! than 10⁻⁶. `docs/accounting.md` says for which samples it is not, and what was measured ("What it
//! costs").
//!
//! # Special values
//! δ = 0 asks for the largest loss: ∞ for Gaussian noise. δ below the
//! probability of an infinite loss: [`Interval::INFINITE`]. An empty batch costs 0. A positive δ
//! below 10⁻²⁹⁰ is refused: floats end at 10⁻³⁰⁸.
//! Numerical trouble widens the interval, or is [`Error::Precision`]; it never
//! lowers the upper end.

mod component;
mod contour;
mod cumulant;
mod decay;
mod estimate;
mod grid;
mod jumps;
mod lattice;
mod law;
mod merged;
mod moment;
mod rule;
mod solve;
mod steer;
mod sums;
#[cfg(test)]
mod tests;

pub use component::Component;
pub use estimate::{estimate_delta, estimate_epsilon};

use super::Interval;
use crate::error::{Error, Result};
use crate::unit::Delta;
use component::Kind;
use contour::Contour;
use jumps::{Jumps, Split};
use lattice::Lattice;
use law::{Batch, Direction};
use solve::{Profile, cross};
use steer::Tilt;
use sums::Sums;

const LOST: Error = Error::Precision { what: "a privacy loss" };

/// If the interval is relatively wider than this, another method or a finer grid is tried.
const WIDE: f64 = 3e-7;
const TOO_WIDE: f64 = 9e-7;
/// If the interval is absolutely wider than this, a sampled batch is put on a grid.
const ABSOLUTE: f64 = 5e-7;
/// The smallest δ that the methods accept: below it, none has floats.
const REFUSED: f64 = 1e-290;
/// log₂ of the longest transform.
const LONGEST: u32 = 20;

/// The least ε ≥ 0 for which the batch is (ε, δ)-DP, enclosed. Each component
/// comes with how many times it is used.
///
/// # Guarantee
/// For the product of the components' pairs in the worse of the two
/// directions, `δ(upper) ≤ delta`, and no ε below `lower` would do.
/// # Proof
/// See [`Component`] for the pairs, and the modules named above for the bounds. ∎
pub fn epsilon(components: &[(Component, u64)], delta: Delta) -> Result<Interval> {
    if let [(component, 1)] = *components
        && let Some((q, whole)) = unsampled(component)
    {
        return epsilon_of_one_sample(q, whole, delta);
    }
    let batch = Batch::new(components, Direction::Remove)?;
    if batch.total_variation() <= delta.get() {
        return Ok(Interval::new(0.0, 0.0));
    }
    let removed = epsilon_one_way(&batch, delta.get());
    if components.iter().all(|(component, _)| unsampled(*component).is_none()) {
        return removed;
    }
    let removed = removed?;
    let batch = Batch::new(components, Direction::Add)?;
    // Mostly adding costs less, for certain, and then it does not matter how much less.
    if delta.get() > 0.0 {
        let bound = contour::chernoff(&batch, &Tilt::for_delta(&batch, delta.get()), delta.get());
        let most = if batch.infinite.1 < delta.get() { batch.supremum() } else { f64::INFINITY };
        if bound.min(most) <= removed.lower {
            return Ok(removed);
        }
    }
    Ok(removed.or(&epsilon_one_way(&batch, delta.get())?))
}

/// The least δ for which the batch is (ε, δ)-DP, enclosed, for `epsilon` ≥ 0.
pub fn delta(components: &[(Component, u64)], epsilon: f64) -> Result<Interval> {
    if !(epsilon.is_finite() && epsilon >= 0.0) {
        return Err(Error::OutOfRange { parameter: "epsilon", allowed: "a finite number ≥ 0" });
    }
    worse(components, |batch| delta_one_way(batch, epsilon))
}

/// Computes both directions if they differ.
fn worse(
    components: &[(Component, u64)],
    cost: impl Fn(&Batch) -> Result<Interval>,
) -> Result<Interval> {
    let removed = cost(&Batch::new(components, Direction::Remove)?)?;
    if components.iter().all(|(component, _)| unsampled(*component).is_none()) {
        return Ok(removed);
    }
    Ok(removed.or(&cost(&Batch::new(components, Direction::Add)?)?))
}

/// The rate of a sampled component, and the component without sampling.
fn unsampled(component: Component) -> Option<(f64, Component)> {
    match component.0 {
        Kind::SampledGaussian { q, sigma } => Some((q, Component(Kind::Gaussian { sigma }))),
        Kind::SampledLaplace { q, scale } => Some((q, Component(Kind::Laplace { scale }))),
        _ => None,
    }
}

/// One sampled release, from the release without sampling.
///
/// # Proof
/// `E_γ((1−q)Q + qP ‖ Q) = q·E_γ′(P‖Q)` with `γ′ = (γ−1+q)/q`, so that the least ε at δ
/// is `ln(1 − q + q·e^ε′)`, ε′ the least ε of the whole at δ/q. The other direction
/// is never worse: `E_γ(Q ‖ (1−q)Q + qP) = (1−γ+γq)·E_γ″(Q‖P)`, `γ″ = γq/(1−γ+γq)`
/// (0 if the factor is negative); for γ ≥ 1 the factor is at most q, and `γ″ ≥ γ′`
/// as `(γ−1+q)(1−γ+γq) = γq² − (γ−1)²(1−q) ≤ γq²`; and P, Q are mirror images. ∎
fn epsilon_of_one_sample(q: f64, whole: Component, delta: Delta) -> Result<Interval> {
    if delta.get() >= q {
        return Ok(Interval::new(0.0, 0.0));
    }
    // δ/q is rounded: a hair more δ below, a hair less above.
    let ratio = delta.get() / q;
    let at = |delta: f64| epsilon(&[(whole, 1)], Delta::new(delta)?);
    let (low, high) =
        (at(ratio.next_up().min(1.0f64.next_down()))?, at(ratio.next_down().max(0.0))?);
    let map = |x: f64| if x.is_finite() { moment::log_ratio(q, x) } else { x };
    let pad = 8.0 * crate::num::fast::LN_ERROR;
    Ok(Interval::new(map(low.lower) - pad, map(high.upper) + pad * (1.0 + high.upper.min(1e9))))
}

fn epsilon_one_way(batch: &Batch, delta: f64) -> Result<Interval> {
    if batch.laws.is_empty() {
        return Ok(Interval::new(0.0, 0.0));
    }
    if batch.infinite.0 > 0.0 && delta < batch.infinite.0 {
        return Ok(Interval::INFINITE);
    }
    let supremum = batch.supremum();
    if delta == 0.0 {
        let lower = batch.least_supremum();
        let upper = if batch.infinite.1 > 0.0 { f64::INFINITY } else { supremum };
        return Ok(Interval::new(lower, upper));
    }
    if delta < REFUSED {
        return Err(LOST);
    }
    // No total loss is above the sum of the largest ones.
    let cap = if batch.infinite.1 < delta { supremum } else { f64::INFINITY };
    let whole = Interval::new(0.0, cap);
    let start = |tilt: &Tilt| if tilt.epsilon > 0.0 { tilt.epsilon.min(cap) } else { 1e-3 };
    let best = refine(
        batch,
        &whole,
        &Question {
            aim: &|batch| Tilt::for_delta(batch, (delta - batch.infinite.1).max(1e-3 * delta)),
            aim_again: &|batch, profile, tilt| {
                let epsilon = solve::guess(profile, delta, start(tilt), tilt.spread);
                Tilt { log_delta: delta.ln(), ..Tilt::for_epsilon(batch, epsilon) }
            },
            read: &|profile, tilt| cross(profile, delta, start(tilt), tilt.spread),
            delta,
            enough: ABSOLUTE,
        },
    )?;
    if best.upper.is_finite() || best.lower > 0.0 { Ok(best) } else { Err(LOST) }
}

fn delta_one_way(batch: &Batch, epsilon: f64) -> Result<Interval> {
    let (low, high) = batch.infinite;
    if batch.laws.is_empty() || epsilon >= batch.supremum() {
        return Ok(Interval::new(low, high));
    }
    let aim = |batch: &Batch| Tilt::for_epsilon(batch, epsilon);
    refine(
        batch,
        &Interval::new(low, 1.0),
        &Question {
            aim: &aim,
            aim_again: &|batch, profile, _| {
                let log_delta = profile.about(epsilon).max(1e-300).ln();
                Tilt { log_delta, ..aim(batch) }
            },
            read: &|profile, _| {
                let (low, high) = profile.delta(epsilon);
                Interval::new(low, high)
            },
            // δ is only guessed here; it decides what counts as rare.
            delta: aim(batch).log_delta.exp().clamp(1e-200, 1.0) * 1e-3,
            enough: 0.0,
        },
    )
}

/// The question to a profile, and where to search.
struct Question<'a> {
    /// The saddle point that a batch suggests.
    aim: &'a dyn Fn(&Batch) -> Tilt,
    /// The same, once a profile has given approximate ε and δ: if one rare, large loss rivals many small ones, the
    /// saddle point is far off.
    aim_again: &'a dyn Fn(&Batch, &dyn Profile, &Tilt) -> Tilt,
    read: &'a dyn Fn(&dyn Profile, &Tilt) -> Interval,
    /// About the δ in question.
    delta: f64,
    /// A width that is enough for samples, however large it is relatively.
    enough: f64,
}

/// Asks one method after another until the answer is narrow.
fn refine(batch: &Batch, whole: &Interval, question: &Question<'_>) -> Result<Interval> {
    let Question { aim, aim_again, read, delta, enough } = *question;
    let tilt = aim(batch);
    if let Some(sums) = Sums::new(batch) {
        return whole.and(&read(&sums, &tilt));
    }
    // Samples have tiny losses: where all of ε is, an absolute width is enough.
    let sampled = batch.laws.iter().any(|(law, _)| matches!(law, law::Law::SampledGaussian { .. }));
    let is_enough = |best: &Interval| {
        best.relative_width() <= TOO_WIDE || (sampled && best.upper - best.lower <= enough)
    };
    let mut best = *whole;
    if let Some(h) = lattice::fit(batch)
        && let Some(lattice) = Lattice::new(batch, &tilt, h, LONGEST)
    {
        best = best.and(&read(&lattice, &tilt))?;
    }
    let along = |batch: &Batch, tilt: &Tilt, best: &mut Interval| -> Result<()> {
        let mut tilt = *tilt;
        for round in 0..5 {
            if best.relative_width() <= WIDE {
                return Ok(());
            }
            let margin = if round == 0 { 0.0 } else { 1.0 };
            let Some(contour) = Contour::new(batch, &tilt, margin) else { return Ok(()) };
            *best = best.and(&read(&contour, &tilt))?;
            let again = aim_again(batch, &contour, &tilt);
            // The same contour again would give the same answer.
            if (again.s / tilt.s - 1.0).abs() < 1e-3
                && (again.log_delta - tilt.log_delta).abs() < 0.1
            {
                return Ok(());
            }
            tilt = again;
        }
        Ok(())
    };
    along(batch, &tilt, &mut best)?;
    let common = if best.relative_width() > WIDE { batch.without_rare_losses(delta) } else { None };
    if let Some(common) = &common {
        along(common, &aim(common), &mut best)?;
    }
    // Where δ is asked for it is known better with every round.
    let split_at = |delta: f64, often: f64| Split::new(batch, delta, often * delta.sqrt());
    for often in [1.0, 100.0, 0.01, 10.0, 0.1] {
        if is_enough(&best) {
            return Ok(best);
        }
        let Some(split) = split_at(delta, often) else { break };
        let mut tilt = aim_again(batch, &split, &tilt);
        for _ in 0..2 {
            let Some(split) = split_at(tilt.log_delta.exp(), often) else { break };
            tilt.spread = split.spread;
            let Some(jumps) = Jumps::new(batch, &split, &tilt) else { break };
            best = best.and(&read(&jumps, &tilt))?;
            if is_enough(&best) {
                return Ok(best);
            }
            tilt = aim_again(batch, &jumps, &tilt);
        }
    }
    // Laws of atoms: smooth them, if there are enough for a smooth sum.
    let scale = tilt.epsilon.max(1e-3);
    // At most 0.01, which the bound on the terms left out assumes.
    let mut smoothing = (5e-7 * scale / (tilt.s + 1.0)).min(0.01);
    for _ in 0..2 {
        if is_enough(&best) {
            return Ok(best);
        }
        let Some(contour) = Contour::smoothed(batch, &tilt, smoothing) else { break };
        let smoothed = read(&contour, &tilt);
        best = best.and(&smoothed)?;
        if smoothed.relative_width() > 10.0 * TOO_WIDE {
            break;
        }
        smoothing *= 0.1;
    }
    // The grid's error is about k(s₀+1)h²/4 in ε, for the part of k that is not atoms.
    let smooth: f64 = batch.laws.iter().map(|(law, k)| *k as f64 * law.smooth(tilt.s)).sum();
    let mut wanted = (4e-7 * scale / (smooth.max(1e-3) * (tilt.s + 1.0))).sqrt();
    let (batch, mut tilt) = match &common {
        Some(common) => (common, aim(common)),
        None => (batch, tilt),
    };
    if sampled {
        // Far from a saddle point the formula says little: begin with a grid that is cheap.
        wanted = wanted.max(batch.reach() / f64::from(1u32 << (LONGEST - 4)));
    }
    let rounds = if sampled { 4 } else { 5 };
    for _ in 0..rounds {
        if is_enough(&best) {
            return Ok(best);
        }
        let h = lattice::spacing(batch, wanted);
        match Lattice::new(batch, &tilt, h, LONGEST) {
            None => wanted *= 2.0,
            Some(lattice) => {
                let found = read(&lattice, &tilt);
                best = best.and(&found)?;
                if wanted < 0.3 * h {
                    break;
                }
                wanted = 0.5 * h;
                if sampled {
                    // The error is of second order in h.
                    let off = (found.upper - found.lower) / enough.max(TOO_WIDE * found.upper);
                    wanted = (0.7 * h / off.sqrt()).clamp(h / 8.0, 0.5 * h);
                    tilt = aim_again(batch, &lattice, &tilt);
                }
            }
        }
    }
    Ok(best)
}
