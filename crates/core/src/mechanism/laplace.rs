//! Laplace noise: the first mechanism, on reals and on integers.

use super::{Guarantee, Release};
use crate::error::{Error, Result};
use crate::num::directed::{self, down, up};
use crate::random::Randomness;
use crate::sample::{DiscreteLaplace, RoundedLaplace, Scale};
use crate::unit::{Beta, Epsilon, Grid, L1, Sensitivity};
use crate::utility::Accuracy;

/// Adds Laplace noise to real numbers and rounds the sum to a public grid.
///
/// `M(x) = f(x) + (X₁, …, X_k)` with independent `X_i ~ Lap(b)` and `b = Δ₁/ε`. The density of
/// the noise is `(1/2b)·e^(−|x|/b)`, and its variance is `2b²`.
///
/// ```
/// use demure_core::mechanism::Laplace;
/// use demure_core::random::SystemRandom;
/// use demure_core::unit::{Epsilon, Sensitivity};
///
/// // The mean of 1,000 values in [0, 1]: replacing one value moves it by at most 1/1000.
/// let laplace = Laplace::new(Epsilon::new(0.5)?, Sensitivity::new(0.001)?)?;
/// let release = laplace.release(0.437, &mut SystemRandom::new()?)?;
/// println!("{:.3}, {}", release.value(), release.guarantee());
/// # Ok::<(), demure_core::Error>(())
/// ```
///
/// # Guarantee
/// ε-DP under the neighbour relation for which `‖f(x) − f(x′)‖₁ ≤ Δ₁`. For a
/// count that is Δ₁ = 1 under both relations; for a histogram 1 under add or
/// remove and 2 under replace; for the mean of n values in `[0,1]` (n public)
/// 1/n under replace.
/// # Proof
/// For all y, `p_x(y)/p_x′(y) = Π e^((|y_i−f(x′)_i| − |y_i−f(x)_i|)/b) ≤
/// e^(‖f(x)−f(x′)‖₁/b) ≤ e^(Δ₁/b) = e^ε`, by the triangle inequality. What is
/// released is the rounding of this ideal real to a grid that depends on ε and
/// Δ₁ alone ([`RoundedLaplace`] draws exactly that), so it is a post-processing. ∎
/// # Special values
/// A value that is NaN or infinite is refused; a finite one beyond 2¹²⁰ grid
/// steps is clamped there.
/// # References
/// Dwork, McSherry, Nissim, Smith 2006, Theorem 1 (calibrating noise to sensitivity).
#[derive(Clone, Debug)]
pub struct Laplace {
    epsilon: Epsilon,
    sensitivity: Sensitivity<L1>,
    scale: Scale,
    grid: Grid,
    noise: RoundedLaplace,
}

impl Laplace {
    /// Calibrates the noise, on a grid of about a millionth of its scale.
    pub fn new(epsilon: Epsilon, sensitivity: Sensitivity<L1>) -> Result<Self> {
        let scale = Scale::quotient(sensitivity.get(), epsilon.get())?;
        let grid = Grid::for_scale(scale.get())?;
        Self::with_grid(epsilon, sensitivity, grid)
    }

    /// As [`Laplace::new`], on a public grid of your choice.
    pub fn with_grid(epsilon: Epsilon, sensitivity: Sensitivity<L1>, grid: Grid) -> Result<Self> {
        let scale = Scale::quotient(sensitivity.get(), epsilon.get())?;
        let noise = RoundedLaplace::new(&scale, grid)?;
        Ok(Self { epsilon, sensitivity, scale, grid, noise })
    }

    /// The scale of the noise, `b = Δ₁/ε`.
    #[must_use]
    pub fn scale(&self) -> f64 {
        self.scale.get()
    }

    /// The spacing of released values.
    #[must_use]
    pub fn grid(&self) -> Grid {
        self.grid
    }

    /// The sensitivity that the noise is calibrated to.
    #[must_use]
    pub fn sensitivity(&self) -> Sensitivity<L1> {
        self.sensitivity
    }

    /// The guarantee of one release.
    #[must_use]
    pub fn guarantee(&self) -> Guarantee {
        Guarantee::Pure(self.epsilon)
    }

    /// Releases one number.
    pub fn release(&self, value: f64, rng: &mut dyn Randomness) -> Result<Release<f64>> {
        let steps = self.noise.draw(value, rng)?;
        Ok(Release::new(self.grid.at(steps), self.guarantee()))
    }

    /// Releases a vector whose ℓ₁ sensitivity, over all coordinates together, is Δ₁.
    pub fn release_vector(
        &self,
        values: &[f64],
        rng: &mut dyn Randomness,
    ) -> Result<Release<Vec<f64>>> {
        let noised: Result<Vec<f64>> =
            values.iter().map(|&value| Ok(self.grid.at(self.noise.draw(value, rng)?))).collect();
        Ok(Release::new(noised?, self.guarantee()))
    }
}

impl Accuracy for Laplace {
    /// `b·ln(1/β)`, plus half a grid step for the rounding; `P[|X| > t] = e^(−t/b)`.
    fn error(&self, beta: Beta) -> Result<f64> {
        let (low, _) = directed::ln(beta.get())?;
        Ok(up(up(up(self.scale.get()) * -low) + self.grid.spacing()))
    }
}

/// Adds two-sided geometric noise, the Laplace noise of the integers, to integers.
///
/// `M(x) = q(x) + Z` with `P[Z = k] = (1−a)/(1+a) · a^|k|` and `a = e^(−ε/Δ₁)`.
///
/// ```
/// use demure_core::mechanism::Geometric;
/// use demure_core::random::SystemRandom;
/// use demure_core::unit::{Epsilon, Sensitivity};
///
/// // A count to which each person adds at most 3.
/// let geometric = Geometric::new(Epsilon::new(0.5)?, Sensitivity::new(3.0)?)?;
/// let release = geometric.release(1_204, &mut SystemRandom::new()?)?;
/// println!("about {}", release.value());
/// # Ok::<(), demure_core::Error>(())
/// ```
///
/// # Guarantee
/// ε-DP under the neighbour relation for which `‖q(x) − q(x′)‖₁ ≤ Δ₁`.
/// # Proof
/// For all y, `P[M(x)=y] / P[M(x′)=y] = Π a^(|y_i−q(x)_i| − |y_i−q(x′)_i|) ≤ a^−Δ₁ =
/// e^ε`: the normalisers cancel; then the triangle inequality. Z is drawn
/// exactly. ∎
/// # Special values
/// Results saturate at the ends of `i128`, which is post-processing.
/// # References
/// Ghosh, Roughgarden, Sundararajan 2009 (universally utility-maximizing mechanisms).
#[derive(Clone, Debug)]
pub struct Geometric {
    epsilon: Epsilon,
    sensitivity: Sensitivity<L1>,
    scale: Scale,
    noise: DiscreteLaplace,
}

impl Geometric {
    /// Calibrates the noise to an integer-valued query.
    pub fn new(epsilon: Epsilon, sensitivity: Sensitivity<L1>) -> Result<Self> {
        let scale = Scale::quotient(sensitivity.get(), epsilon.get())?;
        let noise = DiscreteLaplace::new(&scale)?;
        Ok(Self { epsilon, sensitivity, scale, noise })
    }

    /// The scale of the noise, `Δ₁/ε`.
    #[must_use]
    pub fn scale(&self) -> f64 {
        self.scale.get()
    }

    /// The sensitivity that the noise is calibrated to.
    #[must_use]
    pub fn sensitivity(&self) -> Sensitivity<L1> {
        self.sensitivity
    }

    /// The guarantee of one release.
    #[must_use]
    pub fn guarantee(&self) -> Guarantee {
        Guarantee::Pure(self.epsilon)
    }

    /// Releases one integer.
    pub fn release(&self, value: i128, rng: &mut dyn Randomness) -> Result<Release<i128>> {
        let noised = value.saturating_add(self.noise.draw(rng)?);
        Ok(Release::new(noised, self.guarantee()))
    }

    /// Releases integers whose ℓ₁ sensitivity, over all of them together, is Δ₁.
    pub fn release_vector(
        &self,
        values: &[i128],
        rng: &mut dyn Randomness,
    ) -> Result<Release<Vec<i128>>> {
        let mut noised = vec![0; values.len()];
        self.noise.fill(&mut noised, rng)?;
        for (noise, value) in noised.iter_mut().zip(values) {
            *noise = value.saturating_add(*noise);
        }
        Ok(Release::new(noised, self.guarantee()))
    }
}

impl Accuracy for Geometric {
    /// The least integer t with `P[|Z| > t] = 2a^(t+1)/(1+a) ≤ β`, or one more.
    fn error(&self, beta: Beta) -> Result<f64> {
        let s = self.scale.get();
        let (_, a) = directed::exp_neg(down(1.0 / up(s)))?;
        // t + 1 ≥ s·ln(2/((1+a)β)); a is rounded up, so 1 + a is not too small
        // by more than the slack that `up` adds to the logarithm.
        let (_, log) = directed::ln(up(2.0 / down(down(down(1.0 + a)) * beta.get())))?;
        let t = up(up(s) * log.max(0.0)).ceil() - 1.0;
        if t.is_finite() {
            Ok(t.max(0.0))
        } else {
            Err(Error::Precision { what: "an error bound" })
        }
    }
}

#[cfg(test)]
mod tests;
