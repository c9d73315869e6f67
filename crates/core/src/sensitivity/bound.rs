//! A private upper bound on the local sensitivity, then noise.

use super::gate::Gate;
use super::propose::sum;
use super::ratio::Reciprocal;
use super::{Statistic, unbounded};
use crate::error::{Error, Result};
use crate::mechanism::{Geometric, Guarantee, Release};
use crate::random::Randomness;
use crate::unit::{Beta, Delta, Epsilon, Sensitivity};
use crate::utility::Accuracy;

/// Releases a private upper bound on the local sensitivity, and the statistic with noise for that bound.
///
/// ```
/// use demure_core::random::SystemRandom;
/// use demure_core::sensitivity::{PrivateBound, Reciprocal};
/// use demure_core::unit::{Delta, Epsilon, Grid};
///
/// // 1/c for a protected count c.
/// let reciprocal = Reciprocal::new(12_000, Grid::power_of_two(-40)?)?;
/// let bound = PrivateBound::new(Epsilon::new(1.0)?, Delta::new(1e-6)?)?;
/// match bound.release_reciprocal(&reciprocal, &mut SystemRandom::new()?)?.value() {
///     Some((value, _)) => println!("about {value:.2e}"),
///     None => println!("the count is too small"),
/// }
/// # Ok::<(), demure_core::Error>(())
/// ```
///
/// First `Δ̂ = A_0(x) + Z + τ`, with `P[Z = k] ∝ e^(−ε₁|k|/g)` and the least τ for which `P[Z < −τ] ≤ δ`; then
/// `f(x) + Geo(Δ̂/ε₂)`, two-sided geometric. Both are released.
///
/// # Guarantee
/// (ε₁ + ε₂, δ)-DP under the relation that the [`Statistic`] is for, whose profile [grows](Statistic::growth) by at
/// most g.
/// # Proof
/// `A_0` changes by at most g between neighbours, so Δ̂ is ε₁-DP. With probability at least 1−δ,
/// `Δ̂ ≥ A_0(x) ≥ |f(x) − f(x′)|`, and for every such value the second stage is ε₂-DP: `P[M(x)∈S] ≤ δ + Σ_{a ≥ A_0(x)}
/// e^ε₁P[Δ̂(x′)=a]·e^ε₂P[f(x′)+Geo(a/ε₂) ∈ S_a] ≤ δ + e^(ε₁+ε₂)P[M(x′)∈S]`. ∎
/// # Special values
/// Δ̂ is raised to 1 and cut at the public [`most`](Statistic::most): post-processing that never makes it too small. A
/// statistic whose profile grows without bound is refused, whatever the data; for a reciprocal see
/// [`PrivateBound::release_reciprocal`].
/// # References
/// Karwa, Raskhodnikova, Smith, Yaroslavtsev 2011 (VLDB), who bound the local sensitivity of k-triangles so.
#[derive(Clone, Debug)]
pub struct PrivateBound {
    bound: Epsilon,
    noise: Epsilon,
    epsilon: Epsilon,
    delta: Delta,
}

impl PrivateBound {
    /// Spends a tenth of ε on the bound and the rest on the noise: right where the local sensitivity is large beside
    /// `ln(1/δ)/ε`.
    pub fn new(epsilon: Epsilon, delta: Delta) -> Result<Self> {
        let tenth = Epsilon::new(0.1 * epsilon.get())?;
        let rest = Epsilon::new((epsilon.get() - tenth.get()).next_down())?;
        Ok(Self { epsilon, ..Self::with_split(tenth, rest, delta)? })
    }

    /// Splits ε for the least noise if the local sensitivity is √most: a guess from public facts. With
    /// `r = ln(1/2δ)·g/(ε√most)` the bound gets a share of `√(r² + r) − r`.
    pub fn for_statistic(
        epsilon: Epsilon,
        delta: Delta,
        statistic: &(impl Statistic + ?Sized),
    ) -> Result<Self> {
        let delta = Delta::positive(delta.get())?;
        let guess = (statistic.most().unwrap_or(1).max(1) as f64).sqrt();
        let growth = statistic.growth().unwrap_or(1).max(1) as f64;
        let r = (0.5 / delta.get()).max(1.0).ln() * growth / (epsilon.get() * guess);
        let share = ((r * r + r).sqrt() - r).clamp(0.05, 0.5);
        let first = Epsilon::new(share * epsilon.get())?;
        let rest = Epsilon::new((epsilon.get() - first.get()).next_down())?;
        Ok(Self { epsilon, ..Self::with_split(first, rest, delta)? })
    }

    /// Spends ε₁ on the bound and ε₂ on the noise.
    pub fn with_split(bound: Epsilon, noise: Epsilon, delta: Delta) -> Result<Self> {
        let delta = Delta::positive(delta.get())?;
        let epsilon = Epsilon::new(sum(bound.get(), noise.get()))?;
        Ok(Self { bound, noise, epsilon, delta })
    }

    /// The guarantee of one release.
    #[must_use]
    pub fn guarantee(&self) -> Guarantee {
        Guarantee::Approximate(self.epsilon, self.delta)
    }

    /// The margin τ by which Δ̂ is above the local sensitivity, on average, for a profile that grows by at most
    /// `growth`.
    pub fn margin(&self, growth: u64) -> Result<u64> {
        Ok(Gate::with_sensitivity(self.bound, self.delta, growth)?.threshold())
    }

    /// The error, in steps, that an answer with the released bound Δ̂ exceeds with probability at most β.
    pub fn error(&self, bound: u64, beta: Beta) -> Result<f64> {
        Geometric::new(self.noise, Sensitivity::new(bound.max(1) as f64)?)?.error(beta)
    }

    /// Releases a statistic and the bound Δ̂ that its noise was scaled to.
    pub fn release(
        &self,
        statistic: &(impl Statistic + ?Sized),
        rng: &mut dyn Randomness,
    ) -> Result<Release<(f64, u64)>> {
        let (Some(growth), Some(most)) = (statistic.growth(), statistic.most()) else {
            return Err(Error::Infeasible {
                what: "the local sensitivity of this statistic may itself change by any amount",
                remedy: "use propose-test-release, or a smooth bound if there is one",
            });
        };
        let gate = Gate::with_sensitivity(self.bound, self.delta, growth)?;
        // P[Z < −τ] = P[Z > τ], and τ is the gate's threshold.
        let noised = i128::from(statistic.at_distance(0))
            .saturating_add(gate.noise(rng)?)
            .saturating_add(i128::from(gate.threshold()));
        let bound = noised.clamp(1, i128::from(most.max(1))) as u64;
        Ok(Release::new((self.noised(statistic, bound, rng)?, bound), self.guarantee()))
    }

    /// Releases the reciprocal of a count: a private *lower* bound `ĉ = c + Z − τ` on the count gives the bound
    /// `1/(ĉ(ĉ−1))` on the local sensitivity. `None` where ĉ < 2.
    ///
    /// # Guarantee
    /// (ε₁ + ε₂, δ)-DP under either relation, as above: ĉ is ε₁-DP, as a count moves by 1, and above c with probability
    /// at most δ.
    pub fn release_reciprocal(
        &self,
        statistic: &Reciprocal,
        rng: &mut dyn Randomness,
    ) -> Result<Release<Option<(f64, u64)>>> {
        let gate = Gate::new(self.bound, self.delta)?;
        let low = i128::from(statistic.count())
            .saturating_add(gate.noise(rng)?)
            .saturating_sub(i128::from(gate.threshold()));
        let bound = u64::try_from(low).ok().and_then(|count| statistic.steps_at(count));
        let answer = match bound {
            Some(bound) => Some((self.noised(statistic, bound, rng)?, bound)),
            None => None,
        };
        Ok(Release::new(answer, self.guarantee()))
    }

    fn noised(
        &self,
        statistic: &(impl Statistic + ?Sized),
        bound: u64,
        rng: &mut dyn Randomness,
    ) -> Result<f64> {
        if bound > 1 << 53 {
            return Err(unbounded());
        }
        let noise = Geometric::new(self.noise, Sensitivity::new(bound as f64)?)?;
        Ok(statistic.answer(noise.release(statistic.value(), rng)?.into_value()))
    }
}

#[cfg(test)]
mod tests;
