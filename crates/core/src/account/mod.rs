//! What many releases cost together, certified.
//!
//! ```
//! use demure_core::account::Account;
//! use demure_core::account::filter::{Admission, Filter};
//! use demure_core::mechanism::{Count, Rows};
//! use demure_core::unit::{Delta, Epsilon, Neighbours};
//!
//! // A batch that is fixed in advance: what do 100 counts cost?
//! let neighbours = Neighbours::AddRemove;
//! let count = Count::new(Epsilon::new(0.0625)?, neighbours, Rows::AtMost(1))?;
//! let batch = Account::of(&[count.event().repeat(100)?], neighbours)?;
//! assert!(batch.epsilon(Delta::ZERO)?.upper >= 6.25); // the sum, rounded up
//! assert!(batch.epsilon(Delta::new(1e-6)?)?.upper < 3.5); // less, for a small δ
//!
//! // A total budget, for queries that are chosen one by one: ask before each release.
//! // (`Epsilon::share` divides a budget into equal shares that fit it.)
//! let mut budget = Filter::pure(Epsilon::new(0.15)?, neighbours);
//! assert_eq!(budget.admit(&count.event())?, Admission::Admitted);
//! assert_eq!(budget.admit(&count.event())?, Admission::Admitted);
//! assert_eq!(budget.admit(&count.event())?, Admission::Refused); // 0.1875 > 0.15
//! # Ok::<(), demure_core::Error>(())
//! ```
//!
//! | question | theorem | file |
//! |---|---|---|
//! | pure and approximate guarantees add up | basic composition | [`basic`] |
//! | … and the least they can cost, given only (ε,δ) | optimal composition | [`optimal`] |
//! | exponential mechanisms | bounded range | [`bounded_range`] |
//! | Gaussian noise | Gaussian privacy, exact | [`gaussian`] |
//! | any known noise, to any precision | privacy loss distributions | [`pld`] |
//! | one number that adds up | concentrated privacy | [`zcdp`] |
//! | one number per order that adds up | Rényi privacy | [`renyi`] |
//! | samples; shuffled reports | amplification | [`amplify`], [`shuffle`] |
//! | groups of units | group privacy | [`group`] |
//! | queries chosen, with their budgets, as answers come in | filters, odometers | [`filter`], [`odometer`] |
//! | how much noise for a target | calibration | [`calibrate`] |
//!
//! # Which composition applies when
//! - *A batch*: mechanisms and parameters are fixed before the first answer.
//!   Everything here applies.
//! - *Adaptive mechanisms, fixed parameters*: the k-th query may depend on
//!   earlier answers, but its ε, σ or ρ was fixed in advance. Everything applies
//!   but the optimal bound for bounded range, and parallel parts of different
//!   cost, whose partition must be fixed in advance: [`Account::adaptive`].
//! - *Fully adaptive*: parameters too depend on earlier answers, or when to
//!   stop does. Only [`filter`] and [`odometer`] apply.
//!
//! # Rounding
//! Every bound rounds outwards; where precision is lost the answer is ∞ or an
//! error, never less than the truth.

pub mod amplify;
pub mod basic;
pub mod bounded_range;
pub mod calibrate;
mod coins;
pub mod filter;
pub mod gaussian;
pub mod group;
mod interval;
mod leaf;
mod lower;
mod mass;
pub mod odometer;
pub mod optimal;
pub mod pld;
pub mod renyi;
mod search;
pub mod shuffle;
pub mod zcdp;

use interval::CONTRADICTION;
pub use interval::Interval;

use crate::error::{Error, Result};
use crate::event::Event;
use crate::unit::{Alpha, Delta, Epsilon, Neighbours, Rho};
use leaf::{Batch, Leaf};
use pld::Component;
use std::fmt;

/// A method to bound the cost of a batch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Method {
    /// ε and δ add up.
    Basic,
    /// The optimum over all mechanisms with these (ε,δ).
    Optimal,
    /// The optimum over all exponential mechanisms with these ε, fixed in advance.
    BoundedRange,
    /// ρ adds up, converted at the best order.
    Concentrated,
    /// Rényi divergences add up, converted at the best order.
    Renyi,
    /// μ² adds up; exact.
    Gaussian,
    /// Privacy loss distributions, composed numerically.
    LossDistribution,
    /// A single sample or shuffle that gets all of δ.
    Amplification,
}

impl fmt::Display for Method {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Basic => "basic",
            Self::Optimal => "optimal",
            Self::BoundedRange => "bounded range",
            Self::Concentrated => "zcdp",
            Self::Renyi => "renyi",
            Self::Gaussian => "gaussian",
            Self::LossDistribution => "pld",
            Self::Amplification => "amplification",
        })
    }
}

/// The ε of a batch at one δ, by each method.
#[derive(Clone, Debug, PartialEq)]
pub struct Report {
    /// The certified interval, by all methods together.
    pub epsilon: Interval,
    /// The interval by each method that applies. A lower end above 0 is a lower bound on the truth; most methods only
    /// have an upper one.
    pub methods: Vec<(Method, Interval)>,
}

/// What a list of events costs, for one neighbour relation. See [`account`](self) for an example.
///
/// "The truth" is the least ε such that *every* run of mechanisms that fit the
/// events is (ε,δ)-DP. It lies in the interval that [`Account::epsilon`]
/// returns.
#[derive(Clone, Debug)]
pub struct Account {
    ways: Vec<Batch>,
    adaptive: bool,
}

impl Account {
    /// Accounts for a batch of events that is fixed in advance.
    pub fn of(events: &[Event], neighbours: Neighbours) -> Result<Self> {
        Ok(Self { ways: lower::lower(events, neighbours)?, adaptive: false })
    }

    /// Accounts for mechanisms that are chosen as answers come in, with parameters fixed in advance.
    ///
    /// Refused where neighbours can differ in several ways (parallel parts of
    /// different cost): an analyst who sees answers can make a unit fall into the
    /// part that is then worst, which costs more than the worst fixed choice.
    pub fn adaptive(self) -> Result<Self> {
        if self.ways.len() > 1 {
            return Err(Error::Infeasible {
                what: "parallel parts are priced for a partition that is fixed in advance",
                remedy: "account for the parts in sequence, or without --adaptive",
            });
        }
        Ok(Self { adaptive: true, ..self })
    }

    /// The pure ε of the batch; `None` if it has none.
    #[must_use]
    pub fn pure(&self) -> Option<f64> {
        leaf::worst(&self.ways, leaf::pure_sum)
    }

    /// The ρ of the batch as zCDP; `None` if it has none.
    #[must_use]
    pub fn rho(&self) -> Option<f64> {
        leaf::worst(&self.ways, leaf::rho_sum)
    }

    /// The Rényi divergence of one order; `None` if there is no bound.
    #[must_use]
    pub fn divergence(&self, alpha: Alpha) -> Option<f64> {
        leaf::worst(&self.ways, |way| leaf::renyi_sum(way, alpha))
    }

    /// The ε of the batch at δ, as a certified interval: charge its upper end.
    pub fn epsilon(&self, delta: Delta) -> Result<Interval> {
        let mut total: Option<Interval> = None;
        for way in &self.ways {
            let best = self.best(way, delta)?;
            total = Some(total.map_or(best, |total| total.or(&best)));
        }
        Ok(total.unwrap_or(Interval::new(0.0, 0.0)))
    }

    /// The ε of the batch at δ, by every method that applies.
    pub fn report(&self, delta: Delta) -> Result<Report> {
        const ALL: [Method; 8] = [
            Method::Basic,
            Method::Optimal,
            Method::BoundedRange,
            Method::Concentrated,
            Method::Renyi,
            Method::Gaussian,
            Method::LossDistribution,
            Method::Amplification,
        ];
        let mut methods: Vec<(Method, Option<Interval>)> =
            ALL.into_iter().map(|method| (method, Some(Interval::new(0.0, 0.0)))).collect();
        let mut epsilon = Interval::new(0.0, 0.0);
        for way in &self.ways {
            let resolved = self.resolve(way, delta)?;
            let mut best = Interval::at_most(f64::INFINITY);
            for (method, so_far) in &mut methods {
                let found = self.by(*method, way, &resolved, delta)?;
                if let Some(found) = found {
                    best = best.and(&found)?;
                }
                *so_far = so_far.zip(found).map(|(a, b)| a.or(&b));
            }
            epsilon = epsilon.or(&self.raised(best, way, delta)?);
        }
        let methods =
            methods.into_iter().filter_map(|(method, found)| Some((method, found?))).collect();
        Ok(Report { epsilon, methods })
    }

    /// The best interval: tries tight methods first and stops when one is tight enough.
    fn best(&self, way: &Batch, delta: Delta) -> Result<Interval> {
        if let Some(whole) = self.by(Method::Amplification, way, way, delta)? {
            return Ok(whole);
        }
        let resolved = self.resolve(way, delta)?;
        let mut best = Interval::at_most(f64::INFINITY);
        let tight = [
            Method::Basic,
            Method::Gaussian,
            Method::BoundedRange,
            Method::Optimal,
            Method::LossDistribution,
        ];
        for method in tight {
            if let Some(found) = self.by(method, way, &resolved, delta)? {
                best = best.and(&found)?;
                if best.lower > 0.0 && best.relative_width() < 1e-6 {
                    return Ok(best);
                }
            }
        }
        for method in [Method::Concentrated, Method::Renyi] {
            if let Some(found) = self.by(method, way, &resolved, delta)? {
                best = best.and(&found)?;
            }
        }
        self.raised(best, way, delta)
    }

    /// Improves the lower end of a wide interval, if possible: by that of the batch without its samples.
    ///
    /// # Proof
    /// Leaving releases out is post-processing: part of a batch costs no more
    /// than the whole. ∎
    fn raised(&self, found: Interval, way: &Batch, delta: Delta) -> Result<Interval> {
        let whole = |leaf: &Leaf| {
            !leaf.wants_delta()
                && !matches!(leaf, Leaf::PoissonLaplace { .. } | Leaf::PoissonGaussian { .. })
        };
        let rest: Batch = way.iter().filter(|(leaf, _)| whole(leaf)).cloned().collect();
        if found.relative_width() < 1e-3 || rest.is_empty() || rest.len() == way.len() {
            return Ok(found);
        }
        let floor = self.best(&rest, delta)?.lower;
        found.and(&Interval::new(floor, f64::INFINITY))
    }

    /// An upper bound from methods that take microseconds, to know where to search.
    fn rough(&self, delta: Delta) -> Result<f64> {
        let mut most = 0.0f64;
        for way in &self.ways {
            let resolved = self.resolve(way, delta)?;
            let mut best = f64::INFINITY;
            for method in [Method::Basic, Method::Concentrated, Method::Renyi] {
                if let Some(found) = self.by(method, way, &resolved, delta)? {
                    best = best.min(found.upper);
                }
            }
            most = most.max(best);
        }
        Ok(most)
    }

    /// Gives samples and shuffles a share of δ, after which they are (ε,δ).
    ///
    /// Half of δ is split evenly among them; any split is valid, by composition.
    fn resolve(&self, way: &Batch, delta: Delta) -> Result<Batch> {
        let count: u64 = way
            .iter()
            .filter(|(leaf, _)| leaf.wants_delta())
            .fold(0, |sum, (_, k)| sum.saturating_add(*k));
        let share = Delta::new((0.5 * delta.get() / count.max(1) as f64).next_down().max(0.0))?;
        let mut resolved = Batch::new();
        for (leaf, k) in way {
            if !leaf.wants_delta() || share.get() == 0.0 {
                resolved.push((leaf.clone(), *k));
                continue;
            }
            let spent = leaf.spending(share, |batch, delta| Ok(self.best(batch, delta)?.upper))?;
            // A sample may cost no ε at all for its share of δ.
            match Epsilon::new(spent.max(f64::MIN_POSITIVE)) {
                Ok(epsilon) => resolved.push((Leaf::Approximate { epsilon, delta: share }, *k)),
                Err(_) => resolved.push((leaf.clone(), *k)),
            }
        }
        Ok(resolved)
    }

    /// One method's interval, or `None` if it does not apply.
    fn by(
        &self,
        method: Method,
        way: &Batch,
        resolved: &Batch,
        delta: Delta,
    ) -> Result<Option<Interval>> {
        let altered = way != resolved;
        let found = match method {
            Method::Basic => basic_of(resolved, delta)?,
            Method::Optimal => optimal_of(resolved, delta)?,
            Method::BoundedRange => bounded_range_of(resolved, delta, self.adaptive)?,
            Method::Concentrated => concentrated_of(resolved, delta)?,
            Method::Renyi => renyi_of(resolved, delta)?,
            Method::Gaussian => match leaf::gaussians(way) {
                Some(mu) if !way.is_empty() => mu?.epsilon(delta).ok(),
                _ => None,
            },
            Method::LossDistribution => pld_of(resolved, delta)?,
            Method::Amplification => match &way[..] {
                [(leaf, 1)] if leaf.wants_delta() && delta.get() > 0.0 => {
                    let cost = |batch: &Batch, delta| Ok(self.best(batch, delta)?.upper);
                    Some(Interval::at_most(leaf.spending(delta, cost)?))
                }
                _ => None,
            },
        };
        // Where δ was split, the interval's lower end is that of the split.
        Ok(found.map(|found| if altered { Interval::at_most(found.upper) } else { found }))
    }
}

/// Every mechanism as (ε,δ), if all have that form.
fn pairs(batch: &Batch) -> Option<Vec<(Epsilon, Delta, u64)>> {
    batch
        .iter()
        .map(|(leaf, k)| leaf.approximate().map(|(epsilon, delta)| (epsilon, delta, *k)))
        .collect()
}

fn basic_of(batch: &Batch, delta: Delta) -> Result<Option<Interval>> {
    let Some(parts) = pairs(batch) else { return Ok(None) };
    let (epsilon, spent) = basic::compose(&parts)?;
    Ok(Some(if spent <= delta.get() {
        Interval::at_most(epsilon)
    } else {
        Interval::at_most(f64::INFINITY)
    }))
}

/// A method that cannot answer does not apply, but a contradiction is still an error.
fn where_it_applies(found: Result<Interval>) -> Result<Option<Interval>> {
    match found {
        Err(error) if error == CONTRADICTION => Err(error),
        found => Ok(found.ok()),
    }
}

fn optimal_of(batch: &Batch, delta: Delta) -> Result<Option<Interval>> {
    let Some(parts) = pairs(batch) else { return Ok(None) };
    let found = where_it_applies(match &parts[..] {
        [(epsilon, own, k)] => optimal::homogeneous(*epsilon, *own, *k, delta),
        _ => optimal::heterogeneous(&parts, delta),
    })?;
    let tight = batch.iter().all(|(leaf, _)| leaf.is_a_coin());
    Ok(found.map(|found| if tight { found } else { Interval::at_most(found.upper) }))
}

fn bounded_range_of(batch: &Batch, delta: Delta, adaptive: bool) -> Result<Option<Interval>> {
    match &batch[..] {
        [(Leaf::BoundedRange { epsilon }, k)] if !adaptive => {
            where_it_applies(bounded_range::non_adaptive(*epsilon, *k, delta))
        }
        _ => Ok(None),
    }
}

/// The batch without its approximate parts, and the remaining δ; `None` if nothing remains.
fn without_failures(batch: &Batch, delta: Delta) -> Option<(Batch, Delta)> {
    let mut rest = Batch::new();
    let mut spent = 0.0;
    for (leaf, k) in batch {
        if let Leaf::Approximate { epsilon, delta } = leaf {
            spent = basic::add_up(spent, basic::times_up(delta.get(), *k));
            rest.push((Leaf::Pure { epsilon: *epsilon }, *k));
        } else {
            rest.push((leaf.clone(), *k));
        }
    }
    let left = if spent == 0.0 { delta.get() } else { (delta.get() - spent).next_down() };
    Delta::positive(left).ok().map(|left| (rest, left))
}

fn concentrated_of(batch: &Batch, delta: Delta) -> Result<Option<Interval>> {
    let infinite = Ok(Some(Interval::at_most(f64::INFINITY)));
    let Some((rest, left)) = without_failures(batch, delta) else { return infinite };
    let Some(rho) = leaf::rho_sum(&rest) else { return Ok(None) };
    let Ok(rho) = Rho::new(rho) else {
        return if rho == 0.0 { Ok(Some(Interval::new(0.0, 0.0))) } else { infinite };
    };
    let upper = zcdp::epsilon(rho, left)?;
    // Gaussian noise is one of the mechanisms that are ρ-zCDP.
    let noises: Option<Vec<(f64, f64, u64)>> = rest
        .iter()
        .map(|(leaf, k)| match leaf {
            Leaf::Concentrated { rho } => Some(((2.0 * rho.get()).sqrt().next_down(), 1.0, *k)),
            Leaf::Gaussian { sigma, distance } => Some((*distance, *sigma, *k)),
            _ => None,
        })
        .collect();
    let lower = match noises {
        Some(noises) if rest == *batch => {
            gaussian::Mu::of(&noises).and_then(|mu| mu.epsilon(delta)).map_or(0.0, |e| e.lower)
        }
        _ => 0.0,
    };
    Ok(Some(Interval::new(lower, upper)))
}

fn renyi_of(batch: &Batch, delta: Delta) -> Result<Option<Interval>> {
    let infinite = Ok(Some(Interval::at_most(f64::INFINITY)));
    let Some((rest, left)) = without_failures(batch, delta) else { return infinite };
    let whole = rest.iter().any(|(leaf, _)| leaf.needs_whole_orders());
    let at = |alpha: f64| -> Result<Option<f64>> {
        let alpha = Alpha::new(alpha)?;
        let Some(divergence) = leaf::renyi_sum(&rest, alpha) else { return Ok(None) };
        Ok(Some(renyi::epsilon(alpha, divergence, left)?))
    };
    // A coarse grid of orders; between its points, any order is as valid.
    let orders: Vec<f64> = if whole {
        (2..=64)
            .map(f64::from)
            .chain((1..=16).map(|i| (64.0 * 2f64.powf(f64::from(i) / 4.0)).floor()))
            .collect()
    } else {
        (-20..=44).map(|i| 1.0 + 2f64.powf(0.5 * f64::from(i))).collect()
    };
    let mut best = (f64::INFINITY, 0.0);
    for &alpha in &orders {
        let Some(epsilon) = at(alpha)? else { return Ok(None) };
        if epsilon < best.0 {
            best = (epsilon, alpha);
        }
    }
    if !whole && best.0.is_finite() {
        let middle = (best.1 - 1.0).ln();
        let t = search::least(middle - 0.5, middle + 0.5, |v| {
            at(1.0 + v.exp()).ok().flatten().unwrap_or(f64::INFINITY)
        });
        best.0 = best.0.min(at(1.0 + t.exp())?.unwrap_or(f64::INFINITY));
    }
    Ok(Some(Interval::at_most(best.0)))
}

/// # Proof
/// Above, every mechanism is at most as quiet as it is; below, at least. Where one has no
/// pair that it dominates, nothing is claimed below. ∎
fn pld_of(batch: &Batch, delta: Delta) -> Result<Option<Interval>> {
    let parts = |pair: &dyn Fn(&Leaf) -> Option<Component>| -> Option<Vec<(Component, u64)>> {
        batch.iter().map(|(leaf, k)| pair(leaf).map(|component| (component, *k))).collect()
    };
    let Some(above) = parts(&Leaf::dominating) else { return Ok(None) };
    if above.is_empty() || delta.get() == 0.0 {
        return Ok(None);
    }
    let Some(found) = where_it_applies(pld::epsilon(&above, delta))? else { return Ok(None) };
    let lower = match parts(&Leaf::dominated) {
        Some(below) if below == above => found.lower,
        Some(below) => {
            where_it_applies(pld::epsilon(&below, delta))?.map_or(0.0, |found| found.lower)
        }
        None => 0.0,
    };
    Ok(Some(Interval::new(lower, found.upper)))
}

#[cfg(test)]
#[expect(clippy::excessive_precision, reason = "known answers keep all their digits")]
mod tests;
