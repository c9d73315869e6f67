//! One mechanism in the form that the theorems use, with its price under every accounting that has one.

use super::pld::Component;
use super::{amplify, basic, gaussian, renyi, shuffle, zcdp};
use crate::error::{Error, Result};
use crate::event::Rate;
use crate::num::directed::{down, up};
use crate::unit::{Alpha, Delta, Epsilon, Rho};
use std::num::NonZeroU64;

/// Mechanisms with counts, all run on the same data.
pub(crate) type Batch = Vec<(Leaf, u64)>;

/// One mechanism, at the distance of its neighbours.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Leaf {
    Laplace {
        scale: f64,
        distance: f64,
    },
    Gaussian {
        sigma: f64,
        distance: f64,
    },
    DiscreteLaplace {
        scale: f64,
        distance: u64,
    },
    DiscreteGaussian {
        sigma: f64,
        distance: u64,
    },
    Response {
        epsilon: Epsilon,
        categories: u32,
    },
    BoundedRange {
        epsilon: Epsilon,
    },
    Pure {
        epsilon: Epsilon,
    },
    Approximate {
        epsilon: Epsilon,
        delta: Delta,
    },
    Concentrated {
        rho: Rho,
    },
    /// Add/remove, all units in the same direction. The truth is between `sigma` and `quiet`,
    /// which are equal unless several noises were merged into one.
    PoissonGaussian {
        rate: Rate,
        sigma: f64,
        quiet: f64,
    },
    /// Add/remove, all units in the same direction.
    PoissonLaplace {
        rate: Rate,
        scale: f64,
    },
    /// Any batch on a sample: the worst of several ways.
    Sampled {
        rate: Rate,
        ways: Vec<Batch>,
    },
    Shuffled {
        reports: NonZeroU64,
        local: Epsilon,
    },
}

/// μ of a batch of Gaussians; `None` if it contains anything else.
pub(crate) fn gaussians(batch: &Batch) -> Option<Result<gaussian::Mu>> {
    let noises: Option<Vec<(f64, f64, u64)>> = batch
        .iter()
        .map(|(leaf, k)| match leaf {
            Leaf::Gaussian { sigma, distance } => Some((*distance, *sigma, *k)),
            _ => None,
        })
        .collect();
    noises.map(|noises| gaussian::Mu::of(&noises))
}

/// The largest value over the ways; `None` if any way has none.
pub(crate) fn worst(ways: &[Batch], value: impl Fn(&Batch) -> Option<f64>) -> Option<f64> {
    ways.iter().map(value).try_fold(0.0, |most: f64, x| Some(most.max(x?)))
}

/// Σ of the pure ε of a batch, rounded up; `None` if something is not pure.
pub(crate) fn pure_sum(batch: &Batch) -> Option<f64> {
    batch
        .iter()
        .try_fold(0.0, |sum, (leaf, k)| Some(basic::add_up(sum, basic::times_up(leaf.pure()?, *k))))
}

/// Σ of the ρ of a batch, rounded up.
pub(crate) fn rho_sum(batch: &Batch) -> Option<f64> {
    batch
        .iter()
        .try_fold(0.0, |sum, (leaf, k)| Some(basic::add_up(sum, basic::times_up(leaf.rho()?, *k))))
}

/// Σ of the divergences of one order, rounded up.
pub(crate) fn renyi_sum(batch: &Batch, alpha: Alpha) -> Option<f64> {
    batch.iter().try_fold(0.0, |sum, (leaf, k)| {
        Some(basic::add_up(sum, basic::times_up(leaf.renyi(alpha)?, *k)))
    })
}

impl Leaf {
    /// An upper bound on the pure ε, if there is one.
    pub(crate) fn pure(&self) -> Option<f64> {
        match self {
            Self::Laplace { scale, distance } => Some(quotient_up(*distance, *scale)),
            Self::DiscreteLaplace { scale, distance } => {
                Some(quotient_up(*distance as f64, *scale))
            }
            Self::Response { epsilon, .. }
            | Self::BoundedRange { epsilon }
            | Self::Pure { epsilon }
            | Self::Shuffled { local: epsilon, .. } => Some(epsilon.get()),
            Self::PoissonLaplace { rate, scale } => sampled(*rate, quotient_up(1.0, *scale)),
            Self::Sampled { rate, ways } => sampled(*rate, worst(ways, pure_sum)?),
            Self::Gaussian { .. }
            | Self::DiscreteGaussian { .. }
            | Self::Approximate { .. }
            | Self::Concentrated { .. }
            | Self::PoissonGaussian { .. } => None,
        }
    }

    /// An upper bound on ρ, if there is one.
    pub(crate) fn rho(&self) -> Option<f64> {
        let rho = match self {
            Self::Gaussian { sigma, distance } => zcdp::of_gaussian(*sigma, *distance),
            Self::DiscreteGaussian { sigma, distance } => {
                zcdp::of_gaussian(*sigma, *distance as f64)
            }
            Self::BoundedRange { epsilon } => zcdp::of_bounded_range(*epsilon),
            Self::Concentrated { rho } => Ok(*rho),
            _ => Epsilon::new(self.pure()?).and_then(Epsilon::to_rho),
        };
        rho.ok().map(Rho::get)
    }

    /// An upper bound on `D_α`, if there is one.
    pub(crate) fn renyi(&self, alpha: Alpha) -> Option<f64> {
        let pure = |e: f64| Epsilon::new(e).ok().map(|e| renyi::pure(alpha, e));
        let concentrated = |rho: f64| up(alpha.get() * rho);
        match self {
            Self::Laplace { scale, distance } => {
                let epsilon = Epsilon::new(quotient_up(*distance, *scale)).ok()?;
                Some(renyi::laplace(alpha, epsilon))
            }
            Self::DiscreteLaplace { scale, distance } => {
                Some(renyi::discrete_laplace(alpha, *scale, *distance))
            }
            Self::Response { epsilon, categories } => {
                Some(renyi::response(alpha, *epsilon, *categories))
            }
            Self::BoundedRange { epsilon } => {
                Some(concentrated(self.rho()?).min(pure(epsilon.get())?))
            }
            Self::Gaussian { .. } | Self::DiscreteGaussian { .. } | Self::Concentrated { .. } => {
                Some(concentrated(self.rho()?))
            }
            Self::PoissonGaussian { rate, sigma, .. } => {
                let a = alpha.get();
                let whole = a.fract() == 0.0 && a <= 4096.0;
                whole.then(|| renyi::poisson_gaussian(a as u32, *rate, *sigma))
            }
            Self::Approximate { .. } => None,
            Self::Pure { .. }
            | Self::PoissonLaplace { .. }
            | Self::Sampled { .. }
            | Self::Shuffled { .. } => pure(self.pure()?),
        }
    }

    /// Whether bounds exist for integer orders only.
    pub(crate) fn needs_whole_orders(&self) -> bool {
        matches!(self, Self::PoissonGaussian { .. })
    }

    /// (ε,δ) with a fixed δ, if there is such a pair.
    pub(crate) fn approximate(&self) -> Option<(Epsilon, Delta)> {
        match self {
            Self::Approximate { epsilon, delta } => Some((*epsilon, *delta)),
            _ => Some((Epsilon::new(self.pure()?).ok()?, Delta::ZERO)),
        }
    }

    /// Whether the worst mechanism of this kind is exactly its (ε,δ) coin.
    pub(crate) fn is_a_coin(&self) -> bool {
        matches!(
            self,
            Self::Pure { .. } | Self::Approximate { .. } | Self::Response { categories: 2, .. }
        )
    }

    /// A pair of distributions that dominates it.
    pub(crate) fn dominating(&self) -> Option<Component> {
        match self {
            Self::Laplace { scale, distance } => {
                Component::laplace(quotient_down(*scale, *distance)).ok()
            }
            Self::Gaussian { sigma, distance } => {
                Component::gaussian(quotient_down(*sigma, *distance)).ok()
            }
            Self::DiscreteLaplace { scale, distance } => {
                Component::discrete_laplace(*scale, u32::try_from(*distance).ok()?).ok()
            }
            Self::DiscreteGaussian { sigma, distance } => {
                Component::discrete_gaussian(*sigma, u32::try_from(*distance).ok()?).ok()
            }
            Self::Response { epsilon, categories } => {
                Component::response(*epsilon, *categories).ok()
            }
            Self::PoissonGaussian { rate, sigma, .. } => {
                Component::poisson_gaussian(rate.get(), *sigma).ok()
            }
            Self::PoissonLaplace { rate, scale } => {
                Component::poisson_laplace(rate.get(), *scale).ok()
            }
            Self::Pure { .. }
            | Self::Approximate { .. }
            | Self::BoundedRange { .. }
            | Self::Sampled { .. }
            | Self::Shuffled { .. } => {
                let (epsilon, delta) = self.approximate()?;
                Component::approximate(epsilon, delta).ok()
            }
            Self::Concentrated { .. } => None,
        }
    }

    /// A pair that the worst mechanism of the kind dominates, if one is known: noise is rounded up where
    /// [`Leaf::dominating`] rounds it down.
    pub(crate) fn dominated(&self) -> Option<Component> {
        match self {
            Self::Laplace { scale, distance } => {
                Component::laplace(quotient_up(*scale, *distance)).ok()
            }
            Self::Gaussian { sigma, distance } => {
                Component::gaussian(quotient_up(*sigma, *distance)).ok()
            }
            Self::PoissonGaussian { rate, quiet, .. } => {
                Component::poisson_gaussian(rate.get(), *quiet).ok()
            }
            Self::DiscreteLaplace { .. }
            | Self::DiscreteGaussian { .. }
            | Self::Response { .. }
            | Self::PoissonLaplace { .. } => self.dominating(),
            _ if self.is_a_coin() => self.dominating(),
            _ => None,
        }
    }

    /// Whether its ε depends on how much δ it may use, beyond its fixed one.
    pub(crate) fn wants_delta(&self) -> bool {
        match self {
            Self::Shuffled { .. } => true,
            // One pure mechanism on a sample already has its best formula.
            Self::Sampled { ways, .. } => {
                let single = |way: &Batch| matches!(&way[..], [] | [(_, 1)]);
                self.pure().is_none() || !ways.iter().all(single)
            }
            _ => false,
        }
    }

    /// ε for a given share of δ, for leaves with [`Leaf::wants_delta`]; `cost` prices a batch.
    pub(crate) fn spending(
        &self,
        delta: Delta,
        cost: impl Fn(&Batch, Delta) -> Result<f64>,
    ) -> Result<f64> {
        match self {
            Self::Shuffled { reports, local } => {
                Ok(shuffle::epsilon(*reports, *local, delta)?.upper)
            }
            Self::Sampled { rate, ways } => {
                let inner = Delta::new(down(delta.get() / rate.get()).clamp(0.0, 0.999))?;
                let mut most = 0.0f64;
                for way in ways {
                    most = most.max(cost(way, inner)?);
                }
                match Epsilon::new(most) {
                    Ok(epsilon) => Ok(amplify::sample(*rate, epsilon, Delta::ZERO)?.0.get()),
                    Err(_) => Ok(most),
                }
            }
            _ => Err(Error::Precision { what: "the cost of an event" }),
        }
    }

    /// Whether it certainly costs at least as much as `other`.
    pub(crate) fn outdoes(&self, other: &Self) -> bool {
        let louder = |a: (f64, f64), b: (f64, f64)| a.0 <= b.0 && a.1 >= b.1;
        match (self, other) {
            (Self::Laplace { scale: a, distance: x }, Self::Laplace { scale: b, distance: y })
            | (
                Self::Gaussian { sigma: a, distance: x },
                Self::Gaussian { sigma: b, distance: y },
            ) => louder((*a, *x), (*b, *y)),
            // The same lattice, moved further.
            (
                Self::DiscreteLaplace { scale: a, distance: x },
                Self::DiscreteLaplace { scale: b, distance: y },
            )
            | (
                Self::DiscreteGaussian { sigma: a, distance: x },
                Self::DiscreteGaussian { sigma: b, distance: y },
            ) => a == b && x >= y,
            // A sample of a sample is a smaller sample, and noise on noise is more noise: both
            // are post-processing of the pair, once the rest is drawn from Q again.
            (
                Self::PoissonGaussian { rate: p, sigma: a, .. },
                Self::PoissonGaussian { rate: q, sigma: b, .. },
            )
            | (
                Self::PoissonLaplace { rate: p, scale: a },
                Self::PoissonLaplace { rate: q, scale: b },
            ) => louder((*a, p.get()), (*b, q.get())),
            (Self::Pure { epsilon: a }, Self::Pure { epsilon: b })
            | (Self::BoundedRange { epsilon: a }, Self::BoundedRange { epsilon: b }) => a >= b,
            _ => self == other,
        }
    }
}

/// `a/b` rounded up: the fused remainder shows in which direction the quotient was rounded.
fn quotient_up(a: f64, b: f64) -> f64 {
    let quotient = a / b;
    if quotient.mul_add(b, -a) >= 0.0 { quotient } else { up(quotient) }
}

/// `a/b` rounded down.
fn quotient_down(a: f64, b: f64) -> f64 {
    let quotient = a / b;
    if quotient.mul_add(b, -a) <= 0.0 { quotient } else { down(quotient) }
}

fn sampled(rate: Rate, epsilon: f64) -> Option<f64> {
    if epsilon == 0.0 {
        return Some(0.0);
    }
    let epsilon = Epsilon::new(epsilon).ok()?;
    amplify::sample(rate, epsilon, Delta::ZERO).ok().map(|(epsilon, _)| epsilon.get())
}
