//! Mean and variance of bounded values, from the integers of an [`Accumulator`].

use super::bounded::{Accumulator, Bounds, Rows, same, square};
use super::histogram::{Budget, Noise};
use super::{Calibration, Guarantee, Release};
use crate::error::{Error, Result};
use crate::num::directed::{down, up};
use crate::random::Randomness;
use crate::unit::{Beta, Neighbours};
use crate::utility::Accuracy;
use std::borrow::Borrow;

/// Releases the mean of values clamped to public bounds [a, b].
///
/// ```
/// use demure_core::mechanism::{BoundedMean, Bounds, Rows};
/// use demure_core::random::SystemRandom;
/// use demure_core::unit::{Epsilon, Neighbours};
///
/// let (epsilon, bounds) = (Epsilon::new(0.5)?, Bounds::new(0.0, 120.0)?);
/// let mean = BoundedMean::new(epsilon, bounds, Neighbours::AddRemove, Rows::AtMost(1))?;
/// let ages = mean.accumulate([34.0, 51.0, 29.0, 62.0]);
/// println!("about {:.1}", mean.release(&ages, &mut SystemRandom::new()?)?.value());
/// # Ok::<(), demure_core::Error>(())
/// ```
///
/// With w = b − a in steps and u = value − a, and k rows per unit:
/// - *n public* (replace, exactly k): `Σu + Z`, Δ = kw, divided by n.
/// - *n protected*: the pair `(Σu, Σ(w−u))`, each with noise of scale Δ₁/ε; their
///   share `Σu/(Σu + Σ(w−u))` is the mean's place between a and b. Under add/remove
///   Δ₁ = Δ₂ = kw, under replace (at most k) Δ₁ = 2kw, Δ₂ = √2·kw.
///
/// # Guarantee
/// ε-DP or ρ-zCDP, by the budget: ε is *not* split between a sum and a count.
/// # Proof
/// *n public*: each of k rows moves Σu by at most w. *n protected*: a unit's own pair
/// is a point of the triangle `{p, q ≥ 0, p + q ≤ kw}`, whose points have both norms at
/// most kw and are at most 2kw (ℓ₁) or √2·kw (ℓ₂) apart. Negative noised parts become 0
/// and if both do the answer is the middle: post-processing, never NaN. ∎
/// # Special values
/// No rows, when their number is public, is refused.
#[derive(Clone, Debug)]
pub struct BoundedMean {
    moments: Moments,
}

/// Releases the population variance `(1/n)Σ(v − v̄)²` of values clamped to public bounds [a, b]:
/// between 0 and (b−a)²/4.
///
/// ```
/// use demure_core::mechanism::{BoundedVariance, Bounds, Rows};
/// use demure_core::random::SystemRandom;
/// use demure_core::unit::{Epsilon, Neighbours};
///
/// let (epsilon, bounds) = (Epsilon::new(0.5)?, Bounds::new(0.0, 120.0)?);
/// let variance = BoundedVariance::new(epsilon, bounds, Neighbours::AddRemove, Rows::AtMost(1))?;
/// let ages = variance.accumulate([34.0, 51.0, 29.0, 62.0]);
/// println!("about {:.1}", variance.release(&ages, &mut SystemRandom::new()?)?.value());
/// # Ok::<(), demure_core::Error>(())
/// ```
///
/// With w = b − a in steps, u = value − a and e = 2u − w, and k rows per unit:
/// - *n public* (replace, exactly k): `Σe` with Δ = 2kw and `Σe²` with Δ = kw², half the
///   budget each; the variance is `(Σe²/n − (Σe/n)²)/4`.
/// - *n protected*: the triple `(Σ(w−u)², Σ2u(w−u), Σu²)`, whose sum is nw²; with its
///   shares b₀, b₁, b₂ of that sum, `e/w` has mean `b₂ − b₀` and square `b₀ − b₁ + b₂`. Under
///   add/remove Δ₁ = Δ₂ = kw², under replace (at most k) Δ₁ = 2kw², Δ₂ = √2·kw².
///
/// # Guarantee
/// ε-DP or ρ-zCDP, by the budget.
/// # Proof
/// *n public*: |e| ≤ w, so a row moves e by at most 2w and e² by at most w²; two halves
/// compose. *n protected*: the three parts of a row are not negative and add up to
/// w², so a unit's own triple is in the simplex of size kw², whose points
/// have norms at most kw² and are at most 2kw² or √2·kw² apart. The rest, with a clamp, is
/// post-processing. ∎
/// # Special values
/// As for [`BoundedMean`]; if nothing is left after noise the answer is 0.
#[derive(Clone, Debug)]
pub struct BoundedVariance {
    moments: Moments,
}

/// What mean and variance share: the noise of each part of the vector released.
#[derive(Clone, Debug)]
struct Moments {
    bounds: Bounds,
    public: bool,
    guarantee: Guarantee,
    noise: Vec<Noise>,
}

impl Moments {
    fn new(
        budget: Budget,
        bounds: Bounds,
        neighbours: Neighbours,
        rows: Rows,
        degree: u32,
    ) -> Result<Self> {
        let (k, w) = (rows.most()?, bounds.width.unsigned_abs());
        let (public, guarantee) = (rows.public(neighbours), budget.guarantee());
        let scalar = |budget, change: u128| Noise::new(budget, change, square(change)?);
        let noise = match (public, degree) {
            (true, 1) => vec![scalar(budget, k * w)?],
            (true, _) => {
                vec![scalar(budget.half()?, 2 * k * w)?, scalar(budget.half()?, k * w * w)?]
            }
            (false, _) => {
                let size = k * w.pow(degree);
                let apart = if neighbours == Neighbours::Replace { 2 } else { 1 };
                let noise = Noise::new(budget, apart * size, apart * square(size)?)?;
                vec![noise; degree as usize + 1]
            }
        };
        Ok(Self { bounds, public, guarantee, noise })
    }

    /// Of the part of the highest degree, in the units of the values to that power.
    fn calibration(&self, degree: i32) -> Calibration {
        let last = &self.noise[self.noise.len() - 1];
        last.calibration().times(self.bounds.grid.spacing().powi(degree))
    }

    /// The vector that is released with noise.
    fn vector(&self, of: &Accumulator) -> Result<Vec<i128>> {
        same(&self.bounds, &of.bounds)?;
        let (n, w, s, q) = (i128::from(of.rows), self.bounds.width, of.sum, of.squares);
        if self.public && n == 0 {
            return Err(Error::OutOfRange { parameter: "rows", allowed: "at least 1" });
        }
        Ok(match (self.public, self.noise.len()) {
            (true, 1) => vec![s],
            (true, _) => vec![2 * s - n * w, 4 * q - 4 * w * s + n * w * w],
            (false, parts) => vector(parts as u32 - 1, n, w, s, q),
        })
    }

    fn noised(&self, of: &Accumulator, rng: &mut dyn Randomness) -> Result<Vec<f64>> {
        let parts = self.vector(of)?.into_iter().zip(&self.noise);
        parts.map(|(part, noise)| Ok(noise.add_one(part, rng)? as f64)).collect()
    }

    /// A bound on all the noise at once.
    fn error_of_parts(&self, beta: Beta) -> Result<Vec<f64>> {
        let each = Beta::new(down(beta.get() / self.noise.len() as f64))?;
        self.noise.iter().map(|noise| noise.error(each)).collect()
    }
}

/// `(Σu, Σ(w−u))` of degree 1, `(Σ(w−u)², Σ2u(w−u), Σu²)` of degree 2.
pub(super) fn vector(degree: u32, n: i128, w: i128, s: i128, q: i128) -> Vec<i128> {
    let times = i128::saturating_mul;
    match degree {
        1 => vec![s, times(n, w) - s],
        // As (n·w − 2s)·w + q, so that a large middle does not overflow.
        _ => vec![times(times(n, w) - 2 * s, w) + q, 2 * (times(w, s) - q), q],
    }
}

/// The mean from the noised [`vector`] of either degree: its place between the bounds is
/// the share of the first of two parts, or of the last of three and half the middle one.
pub(super) fn mean(bounds: &Bounds, parts: &[f64]) -> f64 {
    let place = match shares(parts).as_deref() {
        Some([up, _]) => *up,
        Some([_, middle, up]) => up + 0.5 * middle,
        _ => 0.5,
    };
    mean_at(bounds, place)
}

fn mean_at(bounds: &Bounds, place: f64) -> f64 {
    let mean = bounds.lower() + place.clamp(0.0, 1.0) * bounds.distance();
    mean.clamp(bounds.lower(), bounds.upper())
}

/// The variance from the noised [`vector`] of degree 2.
pub(super) fn variance(bounds: &Bounds, parts: &[f64]) -> f64 {
    match shares(parts).as_deref() {
        Some([low, middle, up]) => variance_at(bounds, up - low, low - middle + up),
        _ => 0.0,
    }
}

/// From the mean and the mean square of e/w, which is in [−1, 1].
fn variance_at(bounds: &Bounds, mean: f64, square: f64) -> f64 {
    let most = 0.25 * bounds.distance() * bounds.distance();
    most * (square - mean * mean).clamp(0.0, 1.0)
}

/// Refused where floats cannot hold a variance.
pub(super) fn narrow_enough(bounds: &Bounds) -> Result<()> {
    let allowed = "less than 10^150 apart for a variance";
    let wide = Error::OutOfRange { parameter: "bounds", allowed };
    if (bounds.distance() * bounds.distance()).is_finite() { Ok(()) } else { Err(wide) }
}

/// [`BoundedMean::error`], from bounds t on the noise of one part (n public), two or three.
///
/// Of three parts, the place f moves by `|(1−f)Z₂ + (½−f)Z₁ − fZ₀|/(nw² + Z₀ + Z₁ + Z₂) ≤
/// 1.5t/(nw² − 3t)`.
pub(super) fn mean_error(bounds: &Bounds, rows: u64, t: &[f64]) -> f64 {
    let (w, most) = (bounds.width as f64, t.iter().copied().fold(0.0, f64::max));
    let n = down(down(rows as f64) * w);
    let (left, moved) = match t.len() {
        1 => (n, most),
        2 => (down(n - up(2.0 * most)), most),
        _ => (down(down(n * w) - up(3.0 * most)), up(1.5 * most)),
    };
    let noise =
        if left > moved { up(up(moved / left) * bounds.distance()) } else { bounds.distance() };
    let float = bounds.lower().abs().max(bounds.upper().abs()) * (4.0 * f64::EPSILON);
    // Both means are within the bounds, so they are never farther apart.
    let half = 0.5 * bounds.grid().spacing();
    up(up(noise + half) + float).min(bounds.distance())
}

/// [`BoundedVariance::error`], from bounds t on the noise of two parts (n public) or three.
pub(super) fn variance_error(bounds: &Bounds, rows: u64, t: &[f64]) -> f64 {
    let w = bounds.width as f64;
    let (first, second) = (down(down(rows as f64) * w), down(down(down(rows as f64) * w) * w));
    let moved = if second <= 0.0 {
        1.0
    } else if let [mean, square] = t {
        up(up(square / second) + up(up(2.0 * mean) / first))
    } else {
        let left = down(second - up(3.0 * t[0]));
        if left > 0.0 { up(9.0 * up(t[0] / left)) } else { 1.0 }
    };
    let most = up(0.25 * up(bounds.distance() * bounds.distance()));
    let grid = up(up(bounds.distance()) * bounds.grid().spacing());
    up(up(most * if moved < 1.0 { moved } else { 1.0 }) + grid).min(most)
}

/// The parts' shares of their sum, negative parts as 0; `None` if nothing is left.
fn shares(parts: &[f64]) -> Option<Vec<f64>> {
    let total: f64 = parts.iter().map(|part| part.max(0.0)).sum();
    (total > 0.0).then(|| parts.iter().map(|part| part.max(0.0) / total).collect())
}

impl BoundedMean {
    /// Calibrates the noise to a budget: an [`Epsilon`](crate::unit::Epsilon) or a
    /// [`Rho`](crate::unit::Rho).
    pub fn new(
        budget: impl Into<Budget>,
        bounds: Bounds,
        neighbours: Neighbours,
        rows: Rows,
    ) -> Result<Self> {
        Ok(Self { moments: Moments::new(budget.into(), bounds, neighbours, rows, 1)? })
    }

    /// The noise on `Σ(v − a)`, to be divided by n, where n is public; else on `Σ(v − a)`
    /// and `Σ(b − v)` each, for both together.
    #[must_use]
    pub fn calibration(&self) -> Calibration {
        self.moments.calibration(1)
    }

    /// The guarantee of one release.
    #[must_use]
    pub fn guarantee(&self) -> Guarantee {
        self.moments.guarantee
    }

    /// Accumulates values (a `Vec<f64>`, a `&[f64]`, an iterator) within the bounds of this
    /// mechanism, for [`Self::release`].
    #[must_use]
    pub fn accumulate(&self, values: impl IntoIterator<Item = impl Borrow<f64>>) -> Accumulator {
        Accumulator::of_values(self.moments.bounds, values)
    }

    /// Releases the mean.
    pub fn release(&self, of: &Accumulator, rng: &mut dyn Randomness) -> Result<Release<f64>> {
        let (bounds, parts) = (self.moments.bounds, self.moments.noised(of, rng)?);
        let mean = match parts[..] {
            // n is public
            [sum] => mean_at(&bounds, sum / (of.rows as f64 * bounds.width as f64)),
            _ => mean(&bounds, &parts),
        };
        Ok(Release::new(mean, self.guarantee()))
    }

    /// The error that the mean of n = `rows` clamped rows exceeds with probability at most β. Where
    /// n is protected, publish it only for an n that was released.
    ///
    /// n public: the noise's own, divided by n. Otherwise, if both parts' noise is
    /// at most t, the place f moves by `|(1−f)Z₁ − fZ₂|/(nw + Z₁ + Z₂) ≤ t/(nw − 2t)`.
    /// Putting rows on the grid moves them by half a step at most, and the answer
    /// is a float between the bounds.
    pub fn error(&self, rows: u64, beta: Beta) -> Result<f64> {
        Ok(mean_error(&self.moments.bounds, rows, &self.moments.error_of_parts(beta)?))
    }
}

impl BoundedVariance {
    /// Calibrates the noise to a budget: an [`Epsilon`](crate::unit::Epsilon) or a
    /// [`Rho`](crate::unit::Rho).
    pub fn new(
        budget: impl Into<Budget>,
        bounds: Bounds,
        neighbours: Neighbours,
        rows: Rows,
    ) -> Result<Self> {
        narrow_enough(&bounds)?;
        Ok(Self { moments: Moments::new(budget.into(), bounds, neighbours, rows, 2)? })
    }

    /// The noise on `Σ(2v − a − b)²`, with its half of the budget, where n is public;
    /// else on each of `Σ(b − v)²`, `Σ2(v − a)(b − v)` and `Σ(v − a)²`, for all together.
    #[must_use]
    pub fn calibration(&self) -> Calibration {
        self.moments.calibration(2)
    }

    /// The guarantee of one release.
    #[must_use]
    pub fn guarantee(&self) -> Guarantee {
        self.moments.guarantee
    }

    /// Accumulates values (a `Vec<f64>`, a `&[f64]`, an iterator) within the bounds of this
    /// mechanism, for [`Self::release`].
    #[must_use]
    pub fn accumulate(&self, values: impl IntoIterator<Item = impl Borrow<f64>>) -> Accumulator {
        Accumulator::of_values(self.moments.bounds, values)
    }

    /// Releases the variance.
    pub fn release(&self, of: &Accumulator, rng: &mut dyn Randomness) -> Result<Release<f64>> {
        let (bounds, parts) = (self.moments.bounds, self.moments.noised(of, rng)?);
        let variance = match parts[..] {
            [sum, squares] => {
                let (n, w) = (of.rows as f64, bounds.width as f64); // n is public
                variance_at(&bounds, (sum / (n * w)).clamp(-1.0, 1.0), squares / (n * w * w))
            }
            _ => variance(&bounds, &parts),
        };
        Ok(Release::new(variance, self.guarantee()))
    }

    /// The error that the variance of n = `rows` clamped rows exceeds with probability at most β.
    /// Where n is protected, publish it only for an n that was released.
    ///
    /// In units of (b−a)²/4 the variance is `Q − E²` with |E| ≤ 1, so it moves by at most
    /// `|ΔQ| + 2|ΔE|`. n public: `t₂/(nw²) + 2t₁/(nw)`. Otherwise, with `r = t/(nw² − 3t)`,
    /// `|ΔQ| ≤ 3r` and `|ΔE| ≤ 3r`, by the argument of [`BoundedMean::error`]. Putting
    /// rows on the grid g moves each e/w by `g/(b−a)` at most, so the variance by
    /// `(b−a)·g` at most.
    pub fn error(&self, rows: u64, beta: Beta) -> Result<f64> {
        Ok(variance_error(&self.moments.bounds, rows, &self.moments.error_of_parts(beta)?))
    }
}

#[cfg(test)]
mod tests;
