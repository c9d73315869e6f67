//! Counts over public keys, and the integer noise that every count shares.

use super::{Calibration, DiscreteGaussian, Family, Geometric, Guarantee, Release};
use crate::error::{Error, Result};
use crate::num::directed::{self, down, up};
use crate::num::{Enclosure, Ratio, lattice, normal};
use crate::random::Randomness;
use crate::unit::{Beta, Epsilon, Neighbours, Rho, Sensitivity};
use crate::utility::Accuracy;
use std::collections::BTreeMap;

/// The budget of one release. It decides the kind of noise: ε buys geometric noise scaled to the ℓ₁ sensitivity, ρ
/// buys discrete Gaussian noise scaled to the ℓ₂ sensitivity.
///
/// Mechanisms take `impl Into<Budget>`: pass an [`Epsilon`] or a [`Rho`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Budget {
    /// Spend ε, for ε-DP.
    Pure(Epsilon),
    /// Spend ρ, for ρ-zCDP.
    Concentrated(Rho),
}

impl From<Epsilon> for Budget {
    fn from(epsilon: Epsilon) -> Self {
        Self::Pure(epsilon)
    }
}

impl From<Rho> for Budget {
    fn from(rho: Rho) -> Self {
        Self::Concentrated(rho)
    }
}

impl Budget {
    /// The guarantee of a release that spends all of it.
    #[must_use]
    pub fn guarantee(self) -> Guarantee {
        match self {
            Self::Pure(epsilon) => Guarantee::Pure(epsilon),
            Self::Concentrated(rho) => Guarantee::Concentrated(rho),
        }
    }

    /// Half of it: two releases of a half compose to the whole (ε and ρ add up).
    pub(super) fn half(self) -> Result<Self> {
        Ok(match self {
            Self::Pure(epsilon) => Self::Pure(Epsilon::new(epsilon.get() * 0.5)?),
            Self::Concentrated(rho) => Self::Concentrated(Rho::new(rho.get() * 0.5)?),
        })
    }
}

/// The contribution bound: one unit (row or person) has at most `per_group` rows in each of at
/// most `groups` groups.
///
/// Where the groups are public and one unit has at most k rows in any of them, use `new(1, k)`:
/// k rows in one group are the worst case of both norms. Where the groups are not public, use
/// `new(k, k)`: each key that only one unit has costs δ.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Contributions {
    groups: u32,
    per_group: u32,
}

impl Contributions {
    /// One row in one group.
    pub const ONE: Self = Self { groups: 1, per_group: 1 };

    /// At most `per_group` rows in each of at most `groups` groups; both at least 1.
    pub fn new(groups: u32, per_group: u32) -> Result<Self> {
        if groups == 0 || per_group == 0 {
            let parameter = "contributions";
            return Err(Error::OutOfRange { parameter, allowed: "at least 1" });
        }
        Ok(Self { groups, per_group })
    }

    /// The largest number of groups that one unit has rows in.
    #[must_use]
    pub fn groups(self) -> u32 {
        self.groups
    }

    /// The largest number of rows that one unit has in one group.
    #[must_use]
    pub fn per_group(self) -> u32 {
        self.per_group
    }

    /// `(Δ₁, Δ₂²)` of the vector of group counts.
    ///
    /// # Proof
    /// Adding a unit changes at most g counts by at most m each; replacing one
    /// removes and adds, so at most 2g counts, when its old and new groups are
    /// disjoint. Δ₁ and Δ₂² are that many times m and m². ∎
    pub(super) fn sensitivity(self, neighbours: Neighbours) -> (u128, u128) {
        let (groups, rows) = (u128::from(self.groups), u128::from(self.per_group));
        let moves = match neighbours {
            Neighbours::AddRemove => groups,
            Neighbours::Replace => 2 * groups,
        };
        (moves * rows, moves * rows * rows)
    }
}

/// Integer noise on a vector of counts: [`Geometric`] for ε, [`DiscreteGaussian`] for ρ.
#[derive(Clone, Debug)]
pub(super) enum Noise {
    Geometric(Epsilon, Geometric),
    Gaussian(DiscreteGaussian),
}

impl Noise {
    pub(super) fn new(budget: Budget, l1: u128, l2_squared: u128) -> Result<Self> {
        match budget {
            Budget::Pure(epsilon) => {
                let geometric = Geometric::new(epsilon, Sensitivity::new(whole_up(l1))?)?;
                Ok(Self::Geometric(epsilon, geometric))
            }
            Budget::Concentrated(rho) => {
                let square = whole_up(l2_squared);
                let root = square.sqrt();
                let l2 = if root.mul_add(root, -square) == 0.0 { root } else { up(root) };
                Ok(Self::Gaussian(DiscreteGaussian::concentrated(rho, Sensitivity::new(l2)?)?))
            }
        }
    }

    pub(super) fn guarantee(&self) -> Guarantee {
        match self {
            Self::Geometric(_, geometric) => geometric.guarantee(),
            Self::Gaussian(gaussian) => gaussian.guarantee(),
        }
    }

    pub(super) fn calibration(&self) -> Calibration {
        let (family, sensitivity, scale) = match self {
            Self::Geometric(_, noise) => {
                (Family::Laplace, noise.sensitivity().get(), noise.scale())
            }
            Self::Gaussian(noise) => (Family::Gaussian, noise.sensitivity().get(), noise.sigma()),
        };
        Calibration { family, sensitivity, scale }
    }

    /// Adds independent noise to each value, saturating at the ends of `i128`.
    pub(super) fn add(&self, values: &[i128], rng: &mut dyn Randomness) -> Result<Vec<i128>> {
        let release = match self {
            Self::Geometric(_, geometric) => geometric.release_vector(values, rng),
            Self::Gaussian(gaussian) => gaussian.release_vector(values, rng),
        };
        Ok(release?.into_value())
    }

    /// Adds noise to one value.
    pub(super) fn add_one(&self, value: i128, rng: &mut dyn Randomness) -> Result<i128> {
        let release = match self {
            Self::Geometric(_, geometric) => geometric.release(value, rng),
            Self::Gaussian(gaussian) => gaussian.release(value, rng),
        };
        Ok(release?.into_value())
    }

    /// An upper bound on `P[Z ≥ k]`: `a^k/(1+a)`, `a = e^(−ε/Δ₁)`, for the geometric
    /// (k ≥ 1), and `T(k)/(1 + 2T(1))`, T the tail sum, for the Gaussian.
    pub(super) fn at_least(&self, k: i128) -> Result<f64> {
        if k < 1 {
            return Ok(1.0);
        }
        let fail = Error::Precision { what: "a tail of the noise" };
        match self {
            Self::Geometric(epsilon, geometric) => {
                let (epsilon, l1) = (epsilon.get(), geometric.sensitivity().get());
                let (_, top) = directed::exp_neg(down(down(down(k as f64) * epsilon) / l1))?;
                let (a, _) = directed::exp_neg(up(epsilon / l1))?;
                Ok(up(top / down(1.0 + a)))
            }
            Self::Gaussian(gaussian) => {
                let sigma = Ratio::from_f64(gaussian.sigma()).ok_or(fail.clone())?;
                // P[Z ≥ k] ≤ e^(−k²/2σ²), below the least float from 39σ on.
                let x = k as f64 / gaussian.sigma();
                if x >= 39.0 {
                    return Ok(5e-324);
                }
                let bits = 100 + (0.75 * x * x) as u32;
                let k = k.unsigned_abs();
                let one = Enclosure::of_ratio(&Ratio::new(1u64, 1u64), bits);
                let side = lattice::tail(1, &sigma, bits);
                let tail = lattice::tail(k, &sigma, bits).div(&one.add(&side).add(&side));
                Ok(tail.ok_or(fail)?.to_f64().1)
            }
        }
    }

    /// t with `P[|Σ wᵢZᵢ| > t] ≤ β` for any weights with `|wᵢ| ≤ 1`, `Σwᵢ² ≤ terms`.
    ///
    /// # Proof
    /// Chernoff: `P[|Y| > t] ≤ 2e^(−θt)·E[e^(θY)]`. Gaussian: `E[e^(θZ)] ≤ e^(σ²θ²/2)`
    /// (Canonne, Kamath, Steinke 2020, arXiv:2004.00010v5), so `t = σ√(2·terms·ln(2/β))`.
    /// Geometric with s = Δ₁/ε: `E[e^(θZ)] = 1/(1 − sinh²(θ/2)/sinh²(1/2s)) ≤
    /// 1/(1 − s²θ²)`, sinh being convex; and `−ln(1−x)` is convex in x, so over the
    /// weights allowed its sum is at most `−terms·ln(1 − s²θ²)`. With A = ln(2/β)
    /// and `s²θ² = A/(A + terms)` that is
    /// `t = s·√((A+terms)/A)·(A + terms·ln(1 + A/terms))`. ∎
    pub(super) fn error_of_sum(&self, terms: u64, beta: Beta) -> Result<f64> {
        let m = up(terms as f64);
        let (_, log) = directed::ln(up(2.0 / beta.get()))?;
        let s = up(up(self.calibration().scale));
        let t = match self {
            Self::Geometric(..) => {
                let (_, inner) = directed::ln(up(1.0 + up(log / m)))?;
                let root = up(up(up(log + m) / down(log)).sqrt());
                up(s * up(root * up(log + up(m * inner))))
            }
            Self::Gaussian(_) => up(s * up(up(up(2.0 * m) * log).sqrt())),
        };
        if t.is_finite() { Ok(t) } else { Err(Error::Precision { what: "an error bound" }) }
    }

    /// t with `P[|Σ wᵢZᵢ| > t] ≤ β`, for one to four weights; 0 for none.
    ///
    /// # Proof
    /// One weight: the noise's own law. Else k weights, not 0, the largest 1 (t scales with
    /// them), and the lesser of [`Noise::error_of_sum`] and what follows.
    ///
    /// Let U be uniform in ±½ and Y = Z + U: `P[|ΣwᵢZᵢ| > t + ½Σ|wᵢ|] ≤ P[|ΣwᵢYᵢ| > t]`.
    ///
    /// *Geometric*, s = Δ₁/ε, a = e^(−1/s). For y within ½ of a whole k ≥ 0, `P[|Y| > y] =
    /// a^k(1 − (y−k)/s′)` with `1/s′ = 2tanh(1/2s)`; as s′ ≥ s and `1 − x ≤ e^−x`, that is at most
    /// `e^(−y/s′)`, the tail of Laplace noise L of scale s′. All these laws are symmetric and
    /// unimodal, so a tail of the weighted sum grows if a Yᵢ becomes an Lᵢ, and if a |wᵢ|
    /// grows (Birnbaum 1948, on peakedness): it is at most that of `L₁ + … + L_k`. With
    /// x = t/s′ that is `e^−x` times `1 + x/2`, `1 + 5x/8 + x²/8` or `1 + 33x/48 + 9x²/48 +
    /// x³/48` for k = 2, 3, 4. `s′ ≤ s + 1/12s`, as `x·coth x ≤ 1 + x²/3`.
    ///
    /// *Gaussian*, σ ≥ 1. Y has the density `e^(−r²/2σ²)/N`, r being y rounded. `r² ≥ (|y|−½)₊² ≥ (1−η)y² − (1/η−1)/4`,
    /// for any η < 1, as `|y| ≤ ηy² + 1/4η`; and `N ≥ σ√(2π)`, by Poisson summation. So the density is at most
    /// `C = e^((1/η−1)/8σ²)/√(1−η)` times that of a normal G with variance `σ²/(1−η)`, and
    /// `P[|ΣwᵢYᵢ| > t] ≤ C^k·P[|ΣwᵢGᵢ| > t]`. Here η = 1/2σ, and then `C ≤ e^(1/4σ)/√(1−η)`. ∎
    pub(super) fn error_of_weighted(&self, weights: &[f64], beta: Beta) -> Result<f64> {
        let weights: Vec<f64> = weights.iter().map(|w| w.abs()).filter(|w| *w > 0.0).collect();
        let most = weights.iter().copied().fold(0.0, f64::max);
        let times = |t: f64| if most == 1.0 { t } else { up(t * most) };
        if weights.len() < 2 {
            return if weights.is_empty() { Ok(0.0) } else { Ok(times(self.error(beta)?)) };
        }
        let relative = weights.iter().map(|w| up(w / most).min(1.0));
        let (sum, squares) =
            relative.fold((0.0, 0.0), |(sum, squares), w| (up(sum + w), up(squares + up(w * w))));
        let s = up(self.calibration().scale);
        let near = match self {
            Self::Geometric(..) => {
                let wider = up(s + up(1.0 / down(12.0 * down(down(s)))));
                up(up(wider * laplaces(weights.len(), beta)?) + 0.5 * sum)
            }
            Self::Gaussian(_) if s > 1.0 => {
                let rest = down(1.0 - up(0.5 / down(s)));
                let c = up(up(1.0 / directed::exp_neg(up(0.25 / down(s)))?.0) / down(rest.sqrt()));
                let ratio = (0..weights.len()).fold(1.0, |power, _| up(power * c));
                let (_, z) = normal::upper_quantile(down(down(beta.get() / ratio) * 0.5))?;
                up(up(up(up(s / down(rest.sqrt())) * up(squares.sqrt())) * z) + 0.5 * sum)
            }
            Self::Gaussian(_) => f64::INFINITY,
        };
        let chernoff =
            self.error_of_sum((squares.ceil() as u64).min(weights.len() as u64), beta)?;
        Ok(times(near.min(chernoff)))
    }

    /// t with `P[|Σ wᵢZᵢ| > t] ≤ β`, for weights that each occur `times` times, on noise of its own each time.
    ///
    /// # Proof
    /// Up to four of them: [`Noise::error_of_weighted`]. More: [`Noise::error_of_sum`], after dividing by the largest.
    /// No weight is then above 1, and the squares add up to at most `times·Σ(wᵢ/max)²`, rounded up. ∎
    pub(super) fn error_of_repeated(&self, weights: &[f64], times: u64, beta: Beta) -> Result<f64> {
        let many = (weights.len() as u64).saturating_mul(times);
        if many <= 4 {
            return self.error_of_weighted(&weights.repeat(times as usize), beta);
        }
        let most = weights.iter().map(|w| w.abs()).fold(0.0, f64::max);
        if most == 0.0 {
            return Ok(0.0);
        }
        let squares = weights.iter().fold(0.0, |sum, w| {
            let relative = up(w.abs() / most).min(1.0);
            up(sum + up(relative * relative))
        });
        let terms = (up(squares * up(times as f64)).ceil() as u64).clamp(1, many);
        let t = self.error_of_sum(terms, beta)?;
        Ok(if most == 1.0 { t } else { up(t * most) })
    }
}

/// x with `P[|L₁ + … + L_k| > x] ≤ β` for Laplace noise of scale 1; ∞ where k is not 2, 3 or 4.
fn laplaces(k: usize, beta: Beta) -> Result<f64> {
    let [c1, c2, c3] = match k {
        2 => [0.5, 0.0, 0.0],
        3 => [0.625, 0.125, 0.0],
        4 => [0.6875, 0.1875, up(1.0 / 48.0)],
        _ => return Ok(f64::INFINITY),
    };
    let within = |x: f64| {
        let polynomial = up(1.0 + up(x * up(c1 + up(x * up(c2 + up(x * c3))))));
        Ok(up(directed::exp_neg(x)?.1 * polynomial) <= beta.get())
    };
    let (mut low, mut high) = (0.0, 1.0);
    while !within(high)? {
        (low, high) = (high, 2.0 * high);
    }
    for _ in 0..50 {
        let middle = 0.5 * (low + high);
        if within(middle)? { high = middle } else { low = middle }
    }
    Ok(high)
}

impl Accuracy for Noise {
    /// For one coordinate.
    fn error(&self, beta: Beta) -> Result<f64> {
        match self {
            Self::Geometric(_, geometric) => geometric.error(beta),
            Self::Gaussian(gaussian) => gaussian.error(beta),
        }
    }
}

/// The least float not below n.
pub(super) fn whole_up(n: u128) -> f64 {
    let near = n as f64;
    if (near as u128) < n { up(near) } else { near }
}

/// Releases a histogram over public keys: each key's count plus independent integer noise.
///
/// ```
/// use demure_core::mechanism::{Contributions, Histogram};
/// use demure_core::random::SystemRandom;
/// use demure_core::unit::{Epsilon, Neighbours};
///
/// // Each person has one blood group.
/// let histogram = Histogram::new(Epsilon::new(1.0)?, Neighbours::AddRemove, Contributions::ONE)?;
/// let people = ["A", "0", "A", "B", "0", "A"];
/// let counts = histogram.release_rows(&["0", "A", "AB", "B"], people, &mut SystemRandom::new()?)?;
/// for (group, count) in counts.value() {
///     println!("{group}: {count}");
/// }
/// # Ok::<(), demure_core::Error>(())
/// ```
///
/// With at most m rows in each of at most g groups per unit:
///
/// | | add or remove | replace |
/// |---|---|---|
/// | Δ₁ | gm | 2gm |
/// | Δ₂ | m√g | m√(2g) |
///
/// # Guarantee
/// ε-DP with geometric noise of scale Δ₁/ε, or ρ-zCDP with the discrete Gaussian
/// of σ = Δ₂/√(2ρ), under the relation given.
/// # Proof
/// The sensitivities are those of [`Contributions`], the noise that of
/// [`Geometric`] or [`DiscreteGaussian`]. Every public key is released, whatever its count, so
/// the set of keys says nothing about the data. ∎
/// # Special values
/// Keys that are not public are ignored. A count may be negative; `release.map(non_negative)`
/// is post-processing (and biases small counts up).
#[derive(Clone, Debug)]
pub struct Histogram {
    noise: Noise,
}

impl Histogram {
    /// Calibrates the noise to a budget: an [`Epsilon`] or a [`Rho`].
    pub fn new(
        budget: impl Into<Budget>,
        neighbours: Neighbours,
        contributions: Contributions,
    ) -> Result<Self> {
        let (l1, l2_squared) = contributions.sensitivity(neighbours);
        Ok(Self { noise: Noise::new(budget.into(), l1, l2_squared)? })
    }

    /// The noise on each count.
    #[must_use]
    pub fn calibration(&self) -> Calibration {
        self.noise.calibration()
    }

    /// The guarantee of one release, for all keys together.
    #[must_use]
    pub fn guarantee(&self) -> Guarantee {
        self.noise.guarantee()
    }

    /// Releases counts that you made, one for each public key, in the order given.
    pub fn release(&self, counts: &[u64], rng: &mut dyn Randomness) -> Result<Release<Vec<i128>>> {
        let counts: Vec<i128> = counts.iter().map(|&count| i128::from(count)).collect();
        Ok(Release::new(self.noise.add(&counts, rng)?, self.guarantee()))
    }

    /// Counts `rows` by key and releases one noised count for each of `public_keys`. Make sure that
    /// no unit has more rows than the [`Contributions`] allow.
    pub fn release_rows<K: Ord + Clone>(
        &self,
        public_keys: &[K],
        rows: impl IntoIterator<Item = K>,
        rng: &mut dyn Randomness,
    ) -> Result<Release<BTreeMap<K, i128>>> {
        let mut counts = BTreeMap::new();
        for key in rows {
            *counts.entry(key).or_insert(0) += 1;
        }
        self.release_keys(public_keys, &counts, rng)
    }

    /// Releases one noised count for each of `public_keys`, from counts that you made. A key
    /// without a count has count 0, a count without a public key is ignored, and a key that is
    /// listed twice is released once.
    pub fn release_keys<K: Ord + Clone>(
        &self,
        public_keys: &[K],
        counts: &BTreeMap<K, u64>,
        rng: &mut dyn Randomness,
    ) -> Result<Release<BTreeMap<K, i128>>> {
        let of = |key: &K| counts.get(key).copied().unwrap_or(0);
        let exact: Vec<u64> = public_keys.iter().map(of).collect();
        let noised = self.release(&exact, rng)?.into_value();
        let table = public_keys.iter().cloned().zip(noised).collect();
        Ok(Release::new(table, self.guarantee()))
    }
}

impl Accuracy for Histogram {
    /// For one key; `error_of_all(keys, β)` for the worst of all keys.
    fn error(&self, beta: Beta) -> Result<f64> {
        self.noise.error(beta)
    }
}

/// Replaces negative counts by 0: post-processing, for [`Release::map`].
#[must_use]
pub fn non_negative(counts: Vec<i128>) -> Vec<i128> {
    counts.into_iter().map(|count| count.max(0)).collect()
}

#[cfg(test)]
mod tests;
