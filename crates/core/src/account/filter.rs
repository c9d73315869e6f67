//! Filters: stop before a budget is exceeded, however the queries were chosen.
//!
//! A batch fixed in advance may use the tightest composition. An analyst who
//! chooses the next query *and what to pay for it* after seeing the last answer
//! is outside those theorems; a filter is inside its own:
//!
//! | filter | continues while | then the whole interaction is | theorem |
//! |---|---|---|---|
//! | [`Filter::pure`] | Σε ≤ limit | limit-DP | Rogers, Roth, Ullman, Vadhan 2016 |
//! | [`Filter::concentrated`] | Σρ ≤ limit | limit-zCDP | Feldman & Zrnic 2021, Theorem 4.3 |
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
//! An event with no finite cost in the filter's currency is an error, a total
//! that overflows a refusal.

use super::{Account, basic, renyi, zcdp};
use crate::error::{Error, Result};
use crate::event::Event;
use crate::num::directed::{down, up};
use crate::unit::{Alpha, Delta, Epsilon, Neighbours, Rho};

/// May the query run?
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use]
pub enum Admission {
    /// Its cost has been added.
    Admitted,
    /// It would exceed the limit; nothing has changed.
    Refused,
}

/// One order with its limit and its running total.
#[derive(Clone, Copy, Debug)]
struct Order {
    alpha: Alpha,
    limit: f64,
    spent: f64,
}

#[derive(Clone, Debug)]
enum Rule {
    Pure { limit: f64, spent: f64 },
    Concentrated { limit: f64, spent: f64 },
    Renyi { orders: Vec<Order> },
    Advanced { limit: f64, log: f64, squares: f64, most_failing: f64, failing: f64 },
}

/// A budget that fully adaptive queries may draw on.
#[derive(Clone, Debug)]
pub struct Filter {
    neighbours: Neighbours,
    rule: Rule,
}

impl Filter {
    /// Pure ε adds up.
    #[must_use]
    pub fn pure(limit: Epsilon, neighbours: Neighbours) -> Self {
        Self { neighbours, rule: Rule::Pure { limit: limit.get(), spent: 0.0 } }
    }

    /// ρ adds up.
    #[must_use]
    pub fn concentrated(limit: Rho, neighbours: Neighbours) -> Self {
        Self { neighbours, rule: Rule::Concentrated { limit: limit.get(), spent: 0.0 } }
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

    /// Asks to run `event` next.
    pub fn admit(&mut self, event: &Event) -> Result<Admission> {
        let account = Account::of(std::slice::from_ref(event), self.neighbours)?;
        let neighbours = self.neighbours;
        let unpriced = Error::Infeasible {
            what: "this event has no finite cost in the filter's currency",
            remedy: "use a filter of another kind, or another mechanism",
        };
        let total = |spent: f64, cost: f64| {
            let total = basic::add_up(spent, cost);
            if total.is_finite() && total >= spent { total } else { f64::INFINITY }
        };
        let admitted = match &mut self.rule {
            Rule::Pure { limit, spent } => {
                let next = total(*spent, account.pure().ok_or(unpriced)?);
                admit_if(next <= *limit, || *spent = next)
            }
            Rule::Concentrated { limit, spent } => {
                let next = total(*spent, account.rho().ok_or(unpriced)?);
                admit_if(next <= *limit, || *spent = next)
            }
            Rule::Renyi { orders } => {
                let costs: Vec<Option<f64>> =
                    orders.iter().map(|order| account.divergence(order.alpha)).collect();
                if costs.iter().all(Option::is_none) {
                    return Err(unpriced);
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
                let parts = approximate(event, &account, neighbours).ok_or(unpriced)?;
                let (mut next, mut failed) = (*squares, *failing);
                for (epsilon, delta, k) in parts {
                    let square = up(epsilon.get() * epsilon.get());
                    next = total(next, basic::times_up(square, k));
                    failed = total(failed, basic::times_up(delta.get(), k));
                }
                let spread = up(up(2.0 * up(*log * next)).sqrt());
                let within = up(spread + 0.5 * next) <= *limit && failed <= *most_failing;
                admit_if(within, || (*squares, *failing) = (next, failed))
            }
        };
        Ok(admitted)
    }

    /// The running total in the filter's own currency: Σε, Σρ, the smallest
    /// share of any order's limit, or `√(2 ln(1/δ)Σε²) + ½Σε²`.
    #[must_use]
    pub fn spent(&self) -> f64 {
        match &self.rule {
            Rule::Pure { spent, .. } | Rule::Concentrated { spent, .. } => *spent,
            Rule::Renyi { orders } => {
                orders.iter().map(|o| up(o.spent / o.limit)).fold(f64::INFINITY, f64::min)
            }
            Rule::Advanced { log, squares, .. } if *squares > 0.0 => {
                up(up(up(2.0 * up(*log * squares)).sqrt()) + 0.5 * squares)
            }
            Rule::Advanced { .. } => 0.0,
        }
    }

    /// What [`Filter::spent`] may reach.
    #[must_use]
    pub fn limit(&self) -> f64 {
        match &self.rule {
            Rule::Pure { limit, .. }
            | Rule::Concentrated { limit, .. }
            | Rule::Advanced { limit, .. } => *limit,
            Rule::Renyi { .. } => 1.0,
        }
    }
}

fn admit_if(within: bool, commit: impl FnOnce()) -> Admission {
    if within {
        commit();
        Admission::Admitted
    } else {
        Admission::Refused
    }
}

/// The event's (ε,δ) parts, kept apart: their squares add up to less than the
/// square of their sum. Only a plain list of them is taken apart.
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
mod tests {
    use super::*;

    const BOTH: [Neighbours; 2] = [Neighbours::AddRemove, Neighbours::Replace];

    fn e(x: f64) -> Epsilon {
        Epsilon::new(x).unwrap()
    }

    fn d(x: f64) -> Delta {
        Delta::new(x).unwrap()
    }

    fn admitted(filter: &mut Filter, event: &Event) -> u32 {
        let mut count = 0;
        while filter.admit(event).unwrap() == Admission::Admitted {
            count += 1;
            assert!(count < 100_000);
        }
        count
    }

    #[test]
    fn pure_and_concentrated_filters_stop_at_the_limit() {
        let pure = Event::pure(0.125).unwrap();
        for neighbours in BOTH {
            // 0.125·8 = 1; rounding up costs the eighth.
            let mut filter = Filter::pure(e(1.0 + 1e-12), neighbours);
            assert_eq!(admitted(&mut filter, &pure), 8);
            let before = filter.spent();
            assert_eq!(filter.admit(&pure).unwrap(), Admission::Refused);
            assert_eq!(filter.spent(), before);
            assert!(before >= 1.0 && before <= filter.limit());
        }
        let gaussian = Event::gaussian(10.0).unwrap();
        let mut add_remove = Filter::concentrated(Rho::new(0.1).unwrap(), Neighbours::AddRemove);
        assert_eq!(admitted(&mut add_remove, &gaussian), 19);
        let mut replace = Filter::concentrated(Rho::new(0.1).unwrap(), Neighbours::Replace);
        assert_eq!(admitted(&mut replace, &gaussian), 4);
        assert!(Filter::pure(e(1.0), Neighbours::Replace).admit(&gaussian).is_err());
    }

    #[test]
    fn the_advanced_filter_follows_its_formula() {
        let (epsilon, delta) = (1.0, 1e-6f64);
        let mut filter =
            Filter::advanced(e(epsilon), d(delta), d(1e-7), Neighbours::AddRemove).unwrap();
        let count = admitted(&mut filter, &Event::pure(0.01).unwrap());
        let cost = |k: f64| (2.0 * -delta.ln() * k * 1e-4).sqrt() + 0.5 * k * 1e-4;
        assert!(cost(f64::from(count)) <= epsilon && cost(f64::from(count + 1)) > epsilon);
        assert!(count > 300, "{count}"); // basic composition would stop at 100
        // The events' own δ add up too.
        let mut filter = Filter::advanced(e(1.0), d(1e-6), d(1e-7), Neighbours::AddRemove).unwrap();
        assert_eq!(admitted(&mut filter, &Event::approximate(0.01, 2e-8).unwrap()), 4);
        assert!(filter.admit(&Event::gaussian(1.0).unwrap()).is_err());
    }

    #[test]
    fn the_renyi_filter_allows_what_some_order_allows() {
        let orders: Vec<Alpha> = [2.0, 8.0, 32.0, 128.0].map(|a| Alpha::new(a).unwrap()).into();
        let mut filter = Filter::renyi(&orders, e(1.0), d(1e-6), Neighbours::AddRemove).unwrap();
        let count = admitted(&mut filter, &Event::gaussian(100.0).unwrap());
        // 32·k/(2·10⁴) ≤ 1 − ln(4·10⁶)/31 at the best of the orders.
        let limit = 1.0 - (4e6f64).ln() / 31.0;
        assert_eq!(f64::from(count), (limit * 2e4 / 32.0).floor());
        let one = [Alpha::new(30.0).unwrap()];
        let mut filter = Filter::renyi(&one, e(1.0), d(1e-6), Neighbours::AddRemove).unwrap();
        assert!(admitted(&mut filter, &Event::gaussian(100.0).unwrap()) > count);
        let low = [2.0, 3.0].map(|a| Alpha::new(a).unwrap());
        assert!(Filter::renyi(&low, e(0.1), d(1e-9), Neighbours::AddRemove).is_err());
        assert!(Filter::renyi(&one, e(1.0), Delta::ZERO, Neighbours::AddRemove).is_err());
    }

    #[test]
    fn totals_never_go_down_and_overflow_is_refused() {
        let mut filter = Filter::pure(e(f64::MAX), Neighbours::AddRemove);
        let huge = Event::pure(1e308).unwrap();
        let mut last = 0.0;
        for _ in 0..5 {
            let _ = filter.admit(&huge).unwrap();
            assert!(filter.spent() >= last && filter.spent().is_finite());
            last = filter.spent();
        }
        assert_eq!(filter.admit(&huge).unwrap(), Admission::Refused);
        // A cost below the total's last bit still moves it.
        let mut filter = Filter::pure(e(2.0), Neighbours::AddRemove);
        assert_eq!(filter.admit(&Event::pure(1.0).unwrap()).unwrap(), Admission::Admitted);
        assert_eq!(filter.admit(&Event::pure(1e-300).unwrap()).unwrap(), Admission::Admitted);
        assert!(filter.spent() > 1.0);
    }

    #[test]
    fn within_a_target_the_concentrated_filter_knows_its_rho() {
        let filter =
            Filter::concentrated_within(e(5.221_534_444_530_17), d(1e-6), Neighbours::AddRemove)
                .unwrap();
        assert!((filter.limit() - 0.5).abs() < 1e-9 && filter.limit() <= 0.5 + 1e-12);
    }
}
