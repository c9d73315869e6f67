//! Brute force: compares the whole output distribution of a mechanism on every small dataset with that on every
//! neighbour, in both directions.
//!
//! This is a test tool, not a certificate. It looks at the datasets it is given, in floating point: each probability
//! may be off by a relative [`ROUNDING`] (1e-12) without the check failing. So it cannot detect an ε that is too small
//! by less than about 2e-12, nor a δ that is too small by less than a relative 2e-12. It detects everything larger, at
//! any output of probability 1e-290 or more.
//!
//! # What it would have caught
//! A released threshold `≥` whose δ was computed for `>`, a sensitivity of 1 that is 2 under replace-one, a noisy
//! maximum charged a quarter of its cost: for each there is a test, here or in the mechanism's own file, that *must
//! fail*.

use crate::distribution::{Distribution, ROUNDING};
use std::collections::BTreeMap;
use std::fmt::{self, Debug};
use std::rc::Rc;

/// The result of a passed check.
#[derive(Debug, Clone, PartialEq)]
pub struct Worst<D> {
    /// The number of ordered pairs compared.
    pub pairs: u64,
    /// The largest `|ln(P(o)/Q(o))|`. May be ∞ if δ > 0 was allowed.
    pub epsilon: f64,
    /// The pair at which `epsilon` was found.
    pub pair: (D, D),
    /// The largest hockey-stick divergence at the ε checked (for zCDP: 0).
    pub delta: f64,
    /// The largest `D_α/α` (for (ε, δ): 0).
    pub rho: f64,
    /// The largest probability that a distribution left untabulated.
    pub unchecked: f64,
}

/// A broken promise, and the neighbours that show it.
#[derive(Debug, Clone, PartialEq)]
pub struct Violation<D, O> {
    /// The two neighbouring datasets, in the direction that breaks the promise.
    pub pair: (D, D),
    /// The output with the largest `ln(P(o)/Q(o))`, and that.
    pub output: Option<(O, f64)>,
    /// What was promised and what was found.
    pub broken: Broken,
}

/// The promise that was broken.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Broken {
    /// (ε, δ)-DP, where the least δ at `epsilon` is at least `found`.
    Approximate {
        /// The ε promised.
        epsilon: f64,
        /// The δ promised.
        delta: f64,
        /// A lower bound on the least δ that would be true.
        found: f64,
    },
    /// ρ-zCDP, where the divergence of order `alpha` is `found`, more than `ρα`.
    Concentrated {
        /// The ρ promised.
        rho: f64,
        /// The order.
        alpha: f64,
        /// The Rényi divergence of that order.
        found: f64,
    },
}

impl<D: Debug, O: Debug> fmt::Display for Violation<D, O> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (left, right) = &self.pair;
        match self.broken {
            Broken::Approximate { epsilon, delta, found } => write!(
                f,
                "not ({epsilon}, {delta:e})-DP: δ is {found:e} from {left:?} to {right:?}"
            )?,
            Broken::Concentrated { rho, alpha, found } => write!(
                f,
                "not {rho}-zCDP: the divergence of order {alpha} is {found}, more than {}, \
                 from {left:?} to {right:?}",
                rho * alpha
            )?,
        }
        match &self.output {
            Some((output, loss)) => write!(f, "; the loss is largest, {loss}, at {output:?}"),
            None => Ok(()),
        }
    }
}

impl<D: Debug, O: Debug> std::error::Error for Violation<D, O> {}

/// Checks (ε, δ)-DP of `mechanism` on each of `datasets` against each of its `neighbours`,
/// both ways. Returns the first violation.
///
/// With δ > 0, what a distribution leaves to its tail counts against δ in full. With δ = 0
/// nothing could: pure DP is then checked on the listed outputs, and [`Worst::unchecked`]
/// says how much was left.
///
/// # Panics
/// If no dataset has a neighbour (a check that cannot fail), or if ε or δ is negative or NaN.
pub fn check<D, O>(
    mechanism: impl Fn(&D) -> Distribution<O>,
    datasets: impl IntoIterator<Item = D>,
    neighbours: impl Fn(&D) -> Vec<D>,
    epsilon: f64,
    delta: f64,
) -> Result<Worst<D>, Box<Violation<D, O>>>
where
    D: Ord + Clone,
    O: Ord + Clone,
{
    assert!(epsilon >= 0.0 && delta >= 0.0, "ε {epsilon} and δ {delta} must not be negative");
    every_pair(mechanism, datasets, neighbours, |worst, p, q| {
        let tail = if delta > 0.0 { p.tail() } else { 0.0 };
        worst.delta = worst.delta.max(p.excess(q, epsilon, 0.0) + tail);
        let found = p.excess(q, epsilon, ROUNDING) + tail;
        if found > delta * (1.0 + ROUNDING) {
            return Err(Broken::Approximate { epsilon, delta, found });
        }
        Ok(())
    })
}

/// Checks ρ-zCDP, `D_α ≤ ρα`, at each of the orders `alphas`, on every pair, in both directions. Returns the first
/// violation. A set of orders is not all of them: take some near 1, and some so large that `ρα` exceeds the largest
/// loss, beyond which the guarantee is trivial.
///
/// # Panics
/// If no dataset has a neighbour, if there is no order, or if `rho` is negative or NaN.
pub fn check_zcdp<D, O>(
    mechanism: impl Fn(&D) -> Distribution<O>,
    datasets: impl IntoIterator<Item = D>,
    neighbours: impl Fn(&D) -> Vec<D>,
    rho: f64,
    alphas: &[f64],
) -> Result<Worst<D>, Box<Violation<D, O>>>
where
    D: Ord + Clone,
    O: Ord + Clone,
{
    assert!(rho >= 0.0, "ρ {rho} must not be negative");
    assert!(!alphas.is_empty(), "no orders to check");
    every_pair(mechanism, datasets, neighbours, |worst, p, q| {
        for &alpha in alphas {
            let found = p.renyi(q, alpha);
            worst.rho = worst.rho.max(found / alpha);
            // P^α Q^(1−α) moves by a factor (1 ± r)^(2α−1) when each moves by 1 ± r.
            let slack = ROUNDING * (2.0 * alpha - 1.0) / (alpha - 1.0);
            if found > rho * alpha * (1.0 + ROUNDING) + slack {
                return Err(Broken::Concentrated { rho, alpha, found });
            }
        }
        Ok(())
    })
}

/// Runs `compare` on the distributions of every pair of neighbours, in both directions.
fn every_pair<D, O>(
    mechanism: impl Fn(&D) -> Distribution<O>,
    datasets: impl IntoIterator<Item = D>,
    neighbours: impl Fn(&D) -> Vec<D>,
    compare: impl Fn(&mut Worst<D>, &Distribution<O>, &Distribution<O>) -> Result<(), Broken>,
) -> Result<Worst<D>, Box<Violation<D, O>>>
where
    D: Ord + Clone,
    O: Ord + Clone,
{
    // A dataset is a neighbour of many others; its distribution is computed once.
    let mut known: BTreeMap<D, Rc<Distribution<O>>> = BTreeMap::new();
    let mut distribution = |dataset: &D| match known.get(dataset) {
        Some(found) => Rc::clone(found),
        None => {
            let made = Rc::new(mechanism(dataset));
            known.insert(dataset.clone(), Rc::clone(&made));
            made
        }
    };

    let mut worst: Option<Worst<D>> = None;
    for x in datasets {
        let at_x = distribution(&x);
        for y in neighbours(&x) {
            let at_y = distribution(&y);
            for (pair, p, q) in [((&x, &y), &at_x, &at_y), ((&y, &x), &at_y, &at_x)] {
                let pair = || (pair.0.clone(), pair.1.clone());
                let worst = worst.get_or_insert_with(|| Worst {
                    pairs: 0,
                    epsilon: 0.0,
                    pair: pair(),
                    delta: 0.0,
                    rho: 0.0,
                    unchecked: 0.0,
                });
                worst.pairs += 1;
                worst.unchecked = worst.unchecked.max(p.tail());
                let loss = p.max_divergence(q);
                if loss > worst.epsilon {
                    (worst.epsilon, worst.pair) = (loss, pair());
                }
                compare(worst, p, q).map_err(|broken| {
                    Box::new(Violation {
                        pair: pair(),
                        output: p.largest_loss(q).map(|(o, loss)| (o.clone(), loss)),
                        broken,
                    })
                })?;
            }
        }
    }
    #[expect(clippy::expect_used, reason = "a test that compares nothing must not pass")]
    Ok(worst.expect("no pair of neighbours: the check could not fail"))
}

#[cfg(test)]
mod tests;
