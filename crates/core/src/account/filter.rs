//! Filters stop before a budget is exceeded, however the queries were chosen.
//!
//! A batch fixed in advance may use the tightest composition. Those theorems do not cover an analyst who chooses the
//! next query *and its price* after seeing the last answer; the theorems of filters do:
//!
//! | filter | continues while | then the whole interaction is | theorem |
//! |---|---|---|---|
//! | [`Filter::pure`] | Σε ≤ limit | limit-DP | Rogers, Roth, Ullman, Vadhan 2016 |
//! | [`Filter::approximate`] | Σε ≤ limit, Σδ ≤ failing | (limit, failing)-DP | Rogers, Roth, Ullman, Vadhan 2016 |
//! | [`Filter::concentrated`] | Σρ ≤ limit | limit-zCDP | Feldman & Zrnic 2021, Theorem 4.3 |
//! | [`Filter::approximate_concentrated`] | Σρ ≤ limit, Σδ ≤ failing | failing-approximate limit-zCDP | Whitehouse, Ramdas, Rogers, Wu 2023 |
//! | [`Filter::renyi`] | for some order, ΣD_α ≤ its limit | (ε,δ)-DP | Feldman & Zrnic 2021; a union over orders |
//! | [`Filter::advanced`] | √(2 ln(1/δ)Σε²) + ½Σε² ≤ ε | (ε,δ)-DP | Whitehouse, Ramdas, Rogers, Wu 2023, Theorem 1 |
//!
//! # Guarantee
//! A query is admitted only if the running total, rounded up, stays within the
//! limit with it. Totals never go down. A refused query costs nothing.
//! # Cost
//! A query touches a fixed number of running totals: the millionth is as cheap
//! as the first.
//! # Special values
//! An event with no finite cost under the filter's accounting is an error. A total that overflows is a refusal.

use super::leaf::{self, Batch, Leaf};
use super::{Account, basic, renyi, zcdp};
use crate::error::{Error, Result};
use crate::event::Event;
use crate::num::directed::{down, up};
use crate::unit::{Alpha, Delta, Epsilon, Neighbours, Rho};

/// Whether a query may run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use]
pub enum Admission {
    /// It may run; its cost has been added to the total.
    Admitted,
    /// It may not run, as it would exceed the limit; the total has not changed.
    Refused,
}

/// One order with its limit and its running total.
#[derive(Clone, Copy, Debug)]
struct Order {
    alpha: Alpha,
    limit: f64,
    spent: f64,
}

/// The quantity that adds up, besides δ.
#[derive(Clone, Copy, Debug)]
enum Currency {
    Pure,
    Approximate,
    Concentrated,
    ApproximateConcentrated,
}

impl Currency {
    /// The cost of an event: the largest of each quantity over the ways in which neighbours may differ.
    fn price(self, account: &Account) -> Option<(f64, f64)> {
        let most = |delta: fn(&Leaf) -> f64, cost: fn(&Leaf) -> Option<f64>| {
            let sum = |way: &Batch, of: &dyn Fn(&Leaf) -> Option<f64>| {
                way.iter().try_fold(0.0, |sum, (leaf, k)| {
                    Some(basic::add_up(sum, basic::times_up(of(leaf)?, *k)))
                })
            };
            let ways = &account.ways;
            let failing = leaf::worst(ways, |way| sum(way, &|leaf| Some(delta(leaf))))?;
            Some((leaf::worst(ways, |way| sum(way, &cost))?, failing))
        };
        let delta = |leaf: &Leaf| match leaf {
            Leaf::Approximate { delta, .. } => delta.get(),
            _ => 0.0,
        };
        match self {
            Self::Pure => Some((account.pure()?, 0.0)),
            Self::Concentrated => Some((account.rho()?, 0.0)),
            Self::Approximate => most(delta, |leaf| Some(leaf.approximate()?.0.get())),
            Self::ApproximateConcentrated => most(delta, |leaf| match leaf {
                Leaf::Approximate { epsilon, .. } => epsilon.to_rho().ok().map(Rho::get),
                _ => leaf.rho(),
            }),
        }
    }
}

/// Two totals, the second a δ, and their limits.
#[derive(Clone, Copy, Debug)]
struct Sums {
    limit: (f64, f64),
    spent: (f64, f64),
}

#[derive(Clone, Debug)]
enum Rule {
    Sums(Currency, Sums),
    Renyi { orders: Vec<Order> },
    Advanced { limit: f64, log: f64, squares: f64, most_failing: f64, failing: f64 },
}

/// A total budget for queries that are chosen, with their prices, as answers come in.
///
/// Ask [`Filter::admit`] before each release; see [`account`](crate::account) for an example.
#[derive(Clone, Debug)]
pub struct Filter {
    neighbours: Neighbours,
    rule: Rule,
}

impl Filter {
    /// A limit on the sum of pure ε.
    #[must_use]
    pub fn pure(limit: Epsilon, neighbours: Neighbours) -> Self {
        Self::sums(Currency::Pure, limit.get(), Delta::ZERO, neighbours)
    }

    /// A limit on the sum of ε, and one on the sum of δ, for pure and approximate events.
    ///
    /// # Guarantee
    /// (limit, failing)-DP.
    /// # Proof
    /// Two laws P, Q are (ε,δ)-indistinguishable iff `P = (1−δ)P′ + δP″` and
    /// `Q = (1−δ)Q′ + δQ″` with P′, Q′ ε-indistinguishable (Kairouz, Oh, Viswanath 2015;
    /// "if": `P(S) ≤ (1−δ)P′(S) + δ ≤ e^ε(1−δ)Q′(S) + δ ≤ e^ε Q(S) + δ`). Let each query,
    /// given the answers before it, draw from its P′ or Q′ instead. On every path Σε ≤
    /// limit, so the transcripts P*, Q* that result are limit-indistinguishable: the
    /// ratio of their probabilities is a product of at most e^ε each. And on
    /// every path Σδ ≤ failing, so a transcript's probability under P is at least
    /// `Π(1−δᵢ)P* ≥ (1−Σδᵢ)P* ≥ (1−failing)P*`, whence `P = (1−failing)P* +
    /// failing·P**`; so for Q. ∎
    /// # References
    /// Rogers, Roth, Ullman, Vadhan 2016 (privacy odometers and filters), for the
    /// theorem; Kairouz, Oh, Viswanath 2015 (the composition theorem).
    #[must_use]
    pub fn approximate(limit: Epsilon, failing: Delta, neighbours: Neighbours) -> Self {
        Self::sums(Currency::Approximate, limit.get(), failing, neighbours)
    }

    /// A limit on the sum of ρ.
    #[must_use]
    pub fn concentrated(limit: Rho, neighbours: Neighbours) -> Self {
        Self::sums(Currency::Concentrated, limit.get(), Delta::ZERO, neighbours)
    }

    /// Events with a ρ, and approximate ones: (ε,δ) costs ρ = ε²/2 and its δ. ρ adds up
    /// to at most `limit`, δ to at most `failing`.
    ///
    /// # Guarantee
    /// failing-approximate limit-zCDP: every P and Q of neighbours are `(1−failing)P* +
    /// failing·P**` and `(1−failing)Q* + failing·Q**` with `D_α(P*‖Q*) ≤ α·limit` for all
    /// α > 1. Hence (ε, δ + failing)-DP wherever limit-zCDP is (ε, δ)-DP
    /// ([`zcdp::epsilon`]).
    /// # Proof
    /// As for [`Filter::approximate`], with each P′, Q′ ε-indistinguishable and so
    /// `D_α ≤ αε²/2`: P* and Q* are adaptive compositions whose Σρ is at most limit on
    /// every path, so `D_α(P*‖Q*) ≤ α·limit` (Feldman & Zrnic 2021, Theorem 4.3). The
    /// rest is the same, and `P(S) ≤ (1−failing)P*(S) + failing ≤ (1−failing)(e^ε Q*(S) +
    /// δ) + failing ≤ e^ε Q(S) + δ + failing`. ∎
    /// # References
    /// Bun & Steinke 2016 (arXiv:1605.02065v1), Section 8, for approximate zCDP;
    /// Whitehouse, Ramdas, Rogers, Wu 2023 (fully-adaptive composition), for its filter.
    #[must_use]
    pub fn approximate_concentrated(limit: Rho, failing: Delta, neighbours: Neighbours) -> Self {
        Self::sums(Currency::ApproximateConcentrated, limit.get(), failing, neighbours)
    }

    fn sums(currency: Currency, limit: f64, failing: Delta, neighbours: Neighbours) -> Self {
        let sums = Sums { limit: (limit, failing.get()), spent: (0.0, 0.0) };
        Self { neighbours, rule: Rule::Sums(currency, sums) }
    }

    /// ρ adds up, to the largest total that is (ε,δ)-DP.
    pub fn concentrated_within(
        epsilon: Epsilon,
        delta: Delta,
        neighbours: Neighbours,
    ) -> Result<Self> {
        Ok(Self::concentrated(zcdp::for_target(epsilon, delta)?, neighbours))
    }

    /// Rényi divergences of orders that are fixed here, before any query.
    ///
    /// # Guarantee
    /// (ε,δ)-DP.
    /// # Proof
    /// While the divergences of order α spent so far, with the next, stay below
    /// its limit τ, `exp((α−1)(L − ΣD_α))` is a supermartingale, so the composition
    /// stopped there has `D_α ≤ τ` (Feldman & Zrnic 2021, Theorem 3.1). For one order
    /// τ is the largest that the tight conversion allows. For m orders, each gets
    /// δ/m: by Ville's inequality the loss ever exceeds `τ + ln(m/δ)/(α−1) = ε` while
    /// order α is within its limit with probability at most δ/m; by a union,
    /// while *any* is, at most δ. ∎
    pub fn renyi(
        orders: &[Alpha],
        epsilon: Epsilon,
        delta: Delta,
        neighbours: Neighbours,
    ) -> Result<Self> {
        let delta = Delta::positive(delta.get())?;
        let limits: Result<Vec<Order>> = orders
            .iter()
            .map(|&alpha| {
                let limit = match orders.len() {
                    1 => largest_divergence(alpha, epsilon, delta)?,
                    m => {
                        let (low, _) = super::mass::Mass::exactly(delta.get())
                            .div(&super::mass::Mass::exactly(m as f64))
                            .ln();
                        let tail = up(-low / (alpha.get() - 1.0));
                        down(epsilon.get() - tail)
                    }
                };
                Ok(Order { alpha, limit, spent: 0.0 })
            })
            .collect();
        let orders: Vec<Order> = limits?.into_iter().filter(|order| order.limit > 0.0).collect();
        if orders.is_empty() {
            return Err(Error::Infeasible {
                what: "none of these orders leaves room for a query at this epsilon and delta",
                remedy: "use larger orders, of about 1 + ln(1/delta)/epsilon and above",
            });
        }
        Ok(Self { neighbours, rule: Rule::Renyi { orders } })
    }

    /// Pure and approximate events: `√(2 ln(1/δ)Σε²) + ½Σε² ≤ ε`, and the events'
    /// own δ add up to at most `failing`. The interaction is (ε, δ + failing)-DP.
    pub fn advanced(
        epsilon: Epsilon,
        delta: Delta,
        failing: Delta,
        neighbours: Neighbours,
    ) -> Result<Self> {
        let delta = Delta::positive(delta.get())?;
        let (low, _) = super::mass::Mass::exactly(delta.get()).ln();
        let rule = Rule::Advanced {
            limit: epsilon.get(),
            log: -low,
            squares: 0.0,
            most_failing: failing.get(),
            failing: 0.0,
        };
        Ok(Self { neighbours, rule })
    }

    /// Asks whether `event` may run next and, if so, adds its cost to the total.
    pub fn admit(&mut self, event: &Event) -> Result<Admission> {
        let account = Account::of(std::slice::from_ref(event), self.neighbours)?;
        let neighbours = self.neighbours;
        let admitted = match &mut self.rule {
            Rule::Sums(currency, sums) => {
                let (cost, delta) = currency.price(&account).ok_or(unpriced())?;
                let next = (total(sums.spent.0, cost), total(sums.spent.1, delta));
                let within = next.0 <= sums.limit.0 && next.1 <= sums.limit.1;
                admit_if(within, || sums.spent = next)
            }
            Rule::Renyi { orders } => {
                let costs: Vec<Option<f64>> =
                    orders.iter().map(|order| account.divergence(order.alpha)).collect();
                if costs.iter().all(Option::is_none) {
                    return Err(unpriced());
                }
                let next: Vec<f64> = orders
                    .iter()
                    .zip(&costs)
                    .map(|(order, cost)| total(order.spent, cost.unwrap_or(f64::INFINITY)))
                    .collect();
                let within = orders.iter().zip(&next).any(|(order, next)| *next <= order.limit);
                admit_if(within, || {
                    for (order, next) in orders.iter_mut().zip(&next) {
                        order.spent = *next;
                    }
                })
            }
            Rule::Advanced { limit, log, squares, most_failing, failing } => {
                let parts = approximate(event, &account, neighbours).ok_or(unpriced())?;
                let (next, failed) = squared(&parts, (*squares, *failing));
                let within = advanced(*log, next) <= *limit && failed <= *most_failing;
                admit_if(within, || (*squares, *failing) = (next, failed))
            }
        };
        Ok(admitted)
    }

    /// What admitting `event` now would add to [`Filter::spent`], rounded up. An error if the event has no finite
    /// cost, or if the filter has no such totals.
    pub fn price(&self, event: &Event) -> Result<(f64, f64)> {
        let account = Account::of(std::slice::from_ref(event), self.neighbours)?;
        let (cost, delta) = match &self.rule {
            Rule::Sums(currency, _) => currency.price(&account).ok_or(unpriced())?,
            Rule::Renyi { .. } => return Err(unpriced()),
            Rule::Advanced { log, squares, .. } => {
                let parts = approximate(event, &account, self.neighbours).ok_or(unpriced())?;
                let (next, _) = squared(&parts, (*squares, 0.0));
                let (_, delta) = squared(&parts, (0.0, 0.0));
                (up(advanced(*log, next) - down(advanced(*log, *squares))), delta)
            }
        };
        if cost.is_finite() && delta.is_finite() { Ok((cost, delta)) } else { Err(unpriced()) }
    }

    /// The totals so far: Σε, Σρ or `√(2 ln(1/δ)Σε²) + ½Σε²`, and the events' own Σδ. `None` for a Rényi filter, which
    /// has a total for each order.
    #[must_use]
    pub fn spent(&self) -> Option<(f64, f64)> {
        match &self.rule {
            Rule::Sums(_, sums) => Some(sums.spent),
            Rule::Renyi { .. } => None,
            Rule::Advanced { log, squares, failing, .. } => {
                Some((advanced(*log, *squares), *failing))
            }
        }
    }

    /// The limits of the totals of [`Filter::spent`].
    #[must_use]
    pub fn limit(&self) -> Option<(f64, f64)> {
        match &self.rule {
            Rule::Sums(_, sums) => Some(sums.limit),
            Rule::Renyi { .. } => None,
            Rule::Advanced { limit, most_failing, .. } => Some((*limit, *most_failing)),
        }
    }
}

fn unpriced() -> Error {
    Error::Infeasible {
        what: "this event has no finite cost in the filter's currency",
        remedy: "use a filter of another kind, or another mechanism",
    }
}

/// The next total, rounded up; ∞ if it is NaN.
fn total(spent: f64, cost: f64) -> f64 {
    let total = basic::add_up(spent, cost);
    if total.is_finite() && total >= spent { total } else { f64::INFINITY }
}

/// Σε² and Σδ, from totals so far.
fn squared(parts: &[(Epsilon, Delta, u64)], (squares, failing): (f64, f64)) -> (f64, f64) {
    parts.iter().fold((squares, failing), |(squares, failing), (epsilon, delta, k)| {
        let square = up(epsilon.get() * epsilon.get());
        let squares = total(squares, basic::times_up(square, *k));
        (squares, total(failing, basic::times_up(delta.get(), *k)))
    })
}

/// `√(2 ln(1/δ)Σε²) + ½Σε²`, rounded up; 0 for nothing.
fn advanced(log: f64, squares: f64) -> f64 {
    if squares == 0.0 {
        return 0.0;
    }
    up(up(up(2.0 * up(log * squares)).sqrt()) + 0.5 * squares)
}

fn admit_if(within: bool, commit: impl FnOnce()) -> Admission {
    if within {
        commit();
        Admission::Admitted
    } else {
        Admission::Refused
    }
}

/// The event's (ε,δ) parts, kept separate because their squares add up to less than the square of their sum. Only a
/// plain list of parts is taken apart.
fn approximate(
    event: &Event,
    account: &Account,
    neighbours: Neighbours,
) -> Option<Vec<(Epsilon, Delta, u64)>> {
    let ways = super::lower::lower(std::slice::from_ref(event), neighbours).ok()?;
    match &ways[..] {
        [way] => way
            .iter()
            .map(|(leaf, k)| leaf.approximate().map(|(epsilon, delta)| (epsilon, delta, *k)))
            .collect(),
        _ => Some(vec![(Epsilon::new(account.pure()?).ok()?, Delta::ZERO, 1)]),
    }
}

/// The largest divergence of order α that the tight conversion takes to (ε,δ).
fn largest_divergence(alpha: Alpha, epsilon: Epsilon, delta: Delta) -> Result<f64> {
    let (mut low, mut high) = (0.0, 2.0 * epsilon.get());
    for _ in 0..100 {
        let middle = 0.5 * (low + high);
        if renyi::epsilon(alpha, middle, delta)? <= epsilon.get() {
            low = middle;
        } else {
            high = middle;
        }
    }
    Ok(low)
}

#[cfg(test)]
mod tests;
