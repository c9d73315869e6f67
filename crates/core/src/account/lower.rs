//! Lowers events to what the theorems are about: for each way in which neighbours may differ, a flat list of
//! mechanisms with counts.

use super::amplify;
use super::leaf::{self, Batch, Leaf};
use crate::error::{Error, Result};
use crate::event::{Disjoint, Event, Rate};
use crate::num::directed::{down, up};
use crate::unit::{Epsilon, Neighbours};

/// The largest number of ways in which neighbours may differ.
const MOST_WAYS: usize = 256;

/// The neighbour relation for which an event is priced.
#[derive(Clone, Copy)]
struct Context {
    neighbours: Neighbours,
    /// Whether stated guarantees hold for this relation.
    stated: bool,
    /// Whether all changes go in one direction (all additions, or all removals).
    oriented: bool,
}

/// All the ways in which one step of the relation may affect the events.
pub(crate) fn lower(events: &[Event], neighbours: Neighbours) -> Result<Vec<Batch>> {
    let context = Context { neighbours, stated: true, oriented: true };
    in_sequence(events, context)
}

fn in_sequence(events: &[Event], context: Context) -> Result<Vec<Batch>> {
    let mut ways = vec![Batch::new()];
    for event in events {
        ways = both(&ways, &lower_one(event, context)?)?;
    }
    Ok(ways)
}

/// Every pair of ways, one after the other.
fn both(first: &[Batch], second: &[Batch]) -> Result<Vec<Batch>> {
    let mut ways = Vec::new();
    for a in first {
        for b in second {
            let mut joined = a.clone();
            for (leaf, k) in b {
                push(&mut joined, leaf.clone(), *k)?;
            }
            ways.push(joined);
        }
    }
    distinct(ways)
}

fn push(batch: &mut Batch, leaf: Leaf, k: u64) -> Result<()> {
    match batch.iter_mut().find(|(other, _)| *other == leaf) {
        Some((_, count)) => {
            *count = count.checked_add(k).ok_or(Error::OutOfRange {
                parameter: "the number of repetitions",
                allowed: "at most 2^64 − 1 in all",
            })?;
        }
        None => batch.push((leaf, k)),
    }
    Ok(())
}

/// Drops duplicates, and batches of one mechanism that another batch outdoes.
fn distinct(ways: Vec<Batch>) -> Result<Vec<Batch>> {
    let mut kept: Vec<Batch> = Vec::new();
    for way in ways {
        if kept.iter().any(|other| covers(other, &way)) {
            continue;
        }
        kept.retain(|other| !covers(&way, other));
        kept.push(way);
    }
    if kept.len() > MOST_WAYS { Err(too_many_ways()) } else { Ok(kept) }
}

fn too_many_ways() -> Error {
    Error::Infeasible {
        what: "neighbours can differ in too many ways over these parallel parts",
        remedy: "give the parts the same parameters, or account for them separately",
    }
}

/// Whether `big` certainly costs at least as much as `small`.
///
/// # Proof
/// Every run of a leaf of `small` is set against a run of its own in `big`, of a leaf that
/// outdoes it (the same leaf first). What is left of `big` costs nothing less than nothing,
/// and the order of a batch does not matter. ∎
fn covers(big: &Batch, small: &Batch) -> bool {
    let mut left = big.clone();
    let mut wanted = small.clone();
    let mut take = |suits: &dyn Fn(&Leaf, &Leaf) -> bool| {
        for (leaf, want) in &mut wanted {
            for (other, have) in &mut left {
                if *want > 0 && *have > 0 && suits(other, leaf) {
                    let some = (*want).min(*have);
                    (*want, *have) = (*want - some, *have - some);
                }
            }
        }
        wanted.iter().all(|(_, want)| *want == 0)
    };
    take(&|other, leaf| other == leaf) || take(&Leaf::outdoes)
}

fn lower_one(event: &Event, context: Context) -> Result<Vec<Batch>> {
    let one = |leaf: Leaf| Ok(vec![vec![(leaf, 1)]]);
    let neighbours = context.neighbours;
    let stated = |leaf: Leaf| {
        if context.stated {
            one(leaf)
        } else {
            Err(Error::Infeasible {
                what: "a guarantee stated for one neighbour relation is needed for the other",
                remedy: "state the noise instead of the guarantee, or account under add-remove",
            })
        }
    };
    match event {
        Event::Laplace(noise) => {
            one(Leaf::Laplace { scale: noise.scale(), distance: noise.distance(neighbours) })
        }
        Event::Gaussian(noise) => {
            one(Leaf::Gaussian { sigma: noise.scale(), distance: noise.distance(neighbours) })
        }
        Event::DiscreteLaplace(noise) => one(Leaf::DiscreteLaplace {
            scale: noise.scale(),
            distance: noise.distance(neighbours),
        }),
        Event::DiscreteGaussian(noise) => one(Leaf::DiscreteGaussian {
            sigma: noise.scale(),
            distance: noise.distance(neighbours),
        }),
        Event::Response { epsilon, categories } => {
            stated(Leaf::Response { epsilon: *epsilon, categories: *categories })
        }
        Event::Exponential { epsilon } => stated(Leaf::BoundedRange { epsilon: *epsilon }),
        Event::Pure { epsilon } => stated(Leaf::Pure { epsilon: *epsilon }),
        Event::Approximate { epsilon, delta } if delta.get() == 0.0 => {
            stated(Leaf::Pure { epsilon: *epsilon })
        }
        Event::Approximate { epsilon, delta } => {
            stated(Leaf::Approximate { epsilon: *epsilon, delta: *delta })
        }
        Event::Concentrated { rho } => stated(Leaf::Concentrated { rho: *rho }),
        Event::Compose(events) => in_sequence(events, context),
        Event::PostProcess(event) => lower_one(event, context),
        Event::Repeat(event, k) => repeat(&lower_one(event, context)?, k.get()),
        Event::Parallel { parts, because } => parallel(parts, *because, context),
        Event::PoissonSample { rate, event } => poisson(*rate, event, context),
        Event::FixedSizeSample { population, sample, event } => {
            if neighbours == Neighbours::AddRemove {
                return Err(Error::Infeasible {
                    what: "a sample of fixed size has no meaning when units come and go",
                    remedy: "account under replace, or use a Poisson sample",
                });
            }
            let rate = amplify::fraction(sample.get(), population.get())?;
            one(Leaf::Sampled { rate, ways: lower_one(event, context)? })
        }
        Event::Shuffle { reports, local } => {
            if neighbours == Neighbours::AddRemove {
                return Err(Error::Infeasible {
                    what: "shuffling hides who sent a report, not whether one was sent",
                    remedy: "account under replace",
                });
            }
            let ways = lower_one(local, context)?;
            let local = leaf::worst(&ways, leaf::pure_sum).ok_or(Error::Infeasible {
                what: "shuffling amplifies pure local guarantees only",
                remedy: "use a randomizer with a pure epsilon, such as a response",
            })?;
            one(Leaf::Shuffled { reports: *reports, local: Epsilon::new(local)? })
        }
    }
}

/// k times, where a neighbour may be affected in a different way each time.
fn repeat(ways: &[Batch], k: u64) -> Result<Vec<Batch>> {
    let times = |way: &Batch, k: u64| -> Result<Batch> {
        let mut result = Batch::new();
        for (leaf, count) in way {
            let count = count.checked_mul(k).ok_or(Error::OutOfRange {
                parameter: "the number of repetitions",
                allowed: "at most 2^64 − 1 in all",
            })?;
            push(&mut result, leaf.clone(), count)?;
        }
        Ok(result)
    };
    match ways {
        [] => Ok(vec![Batch::new()]),
        [way] => Ok(vec![times(way, k)?]),
        [first, rest @ ..] => {
            if k >= MOST_WAYS as u64 {
                return Err(too_many_ways());
            }
            let mut all = Vec::new();
            for i in 0..=k {
                let tail = if i == k { vec![Batch::new()] } else { repeat(rest, k - i)? };
                let head = if i == 0 { Batch::new() } else { times(first, i)? };
                all.extend(both(&[head], &tail)?);
            }
            distinct(all)
        }
    }
}

/// # Guarantee
/// The ways returned cover every pair of neighbours.
/// # Proof
/// By id: the unit is in one part before and after. By key, add/remove: the
/// unit is in at most one part. By key, replace: it stays in its part, which
/// sees a replacement; or it leaves part i and enters part j, which see one
/// removal and one addition; or either part is not among these. ∎
fn parallel(parts: &[Event], because: Disjoint, context: Context) -> Result<Vec<Batch>> {
    let mut ways = Vec::new();
    for part in parts {
        ways.extend(lower_one(part, context)?);
    }
    if because == Disjoint::ByKey && context.neighbours == Neighbours::Replace {
        let moved = Context { neighbours: Neighbours::AddRemove, stated: false, oriented: false };
        let singles: Result<Vec<Vec<Batch>>> =
            parts.iter().map(|part| lower_one(part, moved)).collect();
        let singles = singles?;
        // Parts with the same cost count as one for pairs; two of each are enough.
        let mut kinds: Vec<(&Vec<Batch>, usize)> = Vec::new();
        for single in &singles {
            match kinds.iter_mut().find(|(other, _)| *other == single) {
                Some((_, count)) => *count += 1,
                None => kinds.push((single, 1)),
            }
        }
        for (i, (a, count)) in kinds.iter().enumerate() {
            ways.extend(a.iter().cloned());
            if *count > 1 {
                ways.extend(both(a, a)?);
            }
            for (b, _) in &kinds[i + 1..] {
                ways.extend(both(a, b)?);
            }
        }
    }
    if ways.is_empty() { Ok(vec![Batch::new()]) } else { distinct(ways) }
}

fn poisson(rate: Rate, event: &Event, context: Context) -> Result<Vec<Batch>> {
    let mut ways = lower_one(event, context)?;
    if context.neighbours == Neighbours::Replace {
        // The theorem asks for the base's guarantee under both relations.
        let other = Context { neighbours: Neighbours::AddRemove, stated: false, oriented: false };
        ways.extend(lower_one(event, other)?);
        return Ok(vec![vec![(Leaf::Sampled { rate, ways: distinct(ways)? }, 1)]]);
    }
    if let ([way], true) = (&ways[..], context.oriented) {
        if let [(Leaf::Laplace { scale, distance: 1.0 }, 1)] = &way[..] {
            return Ok(vec![vec![(Leaf::PoissonLaplace { rate, scale: *scale }, 1)]]);
        }
        if let Some(mu) = leaf::gaussians(way).filter(|_| !way.is_empty()) {
            // Gaussians on one sample are one Gaussian: σ = 1/μ, rounded both ways.
            let (sigma, quiet) = match &way[..] {
                [(Leaf::Gaussian { sigma, distance: 1.0 }, 1)] => (*sigma, *sigma),
                _ => {
                    let mu = mu?;
                    (down(1.0 / mu.upper()), up(1.0 / mu.lower()))
                }
            };
            return Ok(vec![vec![(Leaf::PoissonGaussian { rate, sigma, quiet }, 1)]]);
        }
    }
    Ok(vec![vec![(Leaf::Sampled { rate, ways }, 1)]])
}
