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
            let before = filter.spent().unwrap();
            assert_eq!(filter.admit(&pure).unwrap(), Admission::Refused);
            assert_eq!(filter.spent().unwrap(), before);
            assert!(before.0 >= 1.0 && before.0 <= filter.limit().unwrap().0);
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
            let (spent, _) = filter.spent().unwrap();
            assert!(spent >= last && spent.is_finite());
            last = spent;
        }
        assert_eq!(filter.admit(&huge).unwrap(), Admission::Refused);
        // A cost below the total's last bit still moves it.
        let mut filter = Filter::pure(e(2.0), Neighbours::AddRemove);
        assert_eq!(filter.admit(&Event::pure(1.0).unwrap()).unwrap(), Admission::Admitted);
        assert_eq!(filter.admit(&Event::pure(1e-300).unwrap()).unwrap(), Admission::Admitted);
        assert!(filter.spent().unwrap().0 > 1.0);
    }

    #[test]
    fn within_a_target_the_concentrated_filter_knows_its_rho() {
        let filter =
            Filter::concentrated_within(e(5.221_534_444_530_17), d(1e-6), Neighbours::AddRemove)
                .unwrap();
        let (limit, failing) = filter.limit().unwrap();
        assert!((limit - 0.5).abs() < 1e-9 && limit <= 0.5 + 1e-12 && failing == 0.0);
    }

    #[test]
    fn approximate_filters_stop_at_either_limit_and_know_their_prices() {
        let (pure, few) = (Event::pure(0.25).unwrap(), Event::approximate(0.5, 1e-7).unwrap());
        let both = Event::Compose(vec![pure.clone(), few.clone(), few.clone()]);
        for neighbours in BOTH {
            let epsilon = |limit| Filter::approximate(e(limit), d(4.5e-7), neighbours);
            let rho = |limit| {
                Filter::approximate_concentrated(Rho::new(limit).unwrap(), d(4.5e-7), neighbours)
            };
            // By ε: 2 of 0.5; by δ: 4 of 1e-7.
            assert_eq!(admitted(&mut epsilon(1.0 + 1e-12), &few), 2);
            assert_eq!(admitted(&mut epsilon(100.0), &few), 4);
            assert_eq!(admitted(&mut epsilon(1.0 + 1e-12), &pure), 4);
            // By ρ: 0.125 each; by δ: 4 again. Pure: ε²/2; exponential: ε²/8.
            assert_eq!(admitted(&mut rho(0.25 + 1e-12), &few), 2);
            assert_eq!(admitted(&mut rho(100.0), &few), 4);
            assert_eq!(admitted(&mut rho(0.125 + 1e-12), &pure), 4);
            let select = Event::exponential(1.0).unwrap();
            assert_eq!(admitted(&mut rho(0.5 + 1e-12), &select), 4);
            assert_eq!(admitted(&mut rho(0.5), &Event::concentrated(0.125).unwrap()), 4); // exact sums are exact
            // Several in one event: each is priced, and the prices add up.
            for (mut filter, cost) in [(epsilon(2.5 + 1e-12), 1.25), (rho(10.0), 0.28125)] {
                let (main, failing) = filter.price(&both).unwrap();
                assert!((cost..cost + 1e-14).contains(&main), "{main}");
                assert!((2e-7..2e-7 + 1e-20).contains(&failing));
                assert_eq!(filter.spent(), Some((0.0, 0.0)));
                assert_eq!(admitted(&mut filter, &both), 2);
                let (spent, limit) = (filter.spent().unwrap(), filter.limit().unwrap());
                assert!(spent.0 >= 2.0 * cost && spent.1 >= 4e-7);
                assert!(spent.0 <= limit.0 && spent.1 <= limit.1);
                // Refused for δ alone, and nothing changes.
                assert_eq!(filter.admit(&few).unwrap(), Admission::Refused);
                assert_eq!(filter.spent(), Some(spent));
            }
            let repeated = few.clone().repeat(3).unwrap();
            let (main, failing) = epsilon(9.0).price(&repeated).unwrap();
            assert!((1.5..1.500_001).contains(&main) && (3e-7..3.000_001e-7).contains(&failing));
        }
    }

    #[test]
    fn a_filter_prices_the_worst_way_and_refuses_what_has_no_price() {
        let near = Neighbours::AddRemove;
        // A unit is in one part: the larger ε of one, the larger δ of the other.
        let parts = vec![Event::pure(0.5).unwrap(), Event::approximate(0.25, 1e-7).unwrap()];
        let event = Event::Parallel { parts, because: crate::event::Disjoint::ByKey };
        assert_eq!(Filter::approximate(e(1.0), d(1e-6), near).price(&event).unwrap(), (0.5, 1e-7));
        let gaussian = Event::gaussian(10.0).unwrap();
        assert!(Filter::approximate(e(1.0), d(1e-6), near).admit(&gaussian).is_err());
        let mut filter =
            Filter::approximate_concentrated(Rho::new(1.0).unwrap(), d(1e-6), Neighbours::Replace);
        let (rho, delta) = filter.price(&gaussian).unwrap();
        assert!((0.02..0.020_000_1).contains(&rho) && delta == 0.0);
        let huge = Event::pure(1e200).unwrap();
        assert!(filter.price(&huge).is_err() && filter.admit(&huge).is_err());
        // With a failing δ of 0, no event that may fail is admitted.
        let mut none = Filter::approximate(e(1.0), Delta::ZERO, near);
        let few = Event::approximate(0.1, 1e-12).unwrap();
        assert_eq!(none.admit(&few).unwrap(), Admission::Refused);
        assert!(Filter::pure(e(1.0), near).price(&few).is_err());
        let mut advanced = Filter::advanced(e(1.0), d(1e-6), d(1e-7), near).unwrap();
        for _ in 0..3 {
            let (price, before) = (advanced.price(&few).unwrap(), advanced.spent().unwrap());
            assert_eq!(advanced.admit(&few).unwrap(), Admission::Admitted);
            let after = advanced.spent().unwrap();
            assert!(before.0 + price.0 >= after.0 && before.0 + price.0 <= after.0 + 1e-12);
            assert!(before.1 + price.1 >= after.1 - 1e-26);
        }
        let orders = [Alpha::new(30.0).unwrap()];
        let renyi = Filter::renyi(&orders, e(1.0), d(1e-6), near).unwrap();
        assert!(renyi.spent().is_none() && renyi.limit().is_none() && renyi.price(&few).is_err());
    }

    /// The claim behind the approximate filters, on all events of two answers: the second
    /// query and its price depend on the first answer, and every path stays within.
    #[test]
    fn adaptive_prices_within_the_filter_are_private_by_brute_force() {
        // The worst (ε,δ) mechanism: 0 and 1 tell all, 2 and 3 are a response.
        let coin = |epsilon: f64, delta: f64, bit: usize| {
            let truth = (1.0 - delta) / (1.0 + (-epsilon).exp());
            let mut law = [0.0, 0.0, 1.0 - delta - truth, 1.0 - delta - truth];
            law[bit] = delta;
            law[2 + bit] = truth;
            law
        };
        let next = [(0.5, 0.0), (0.1, 0.02), (0.3, 0.01), (0.5, 0.02)];
        let law = |bit: usize| -> Vec<f64> {
            let first = coin(0.5, 0.03, bit);
            let then = |i: usize| coin(next[i].0, next[i].1, bit).map(|p| first[i] * p);
            (0..4).flat_map(then).collect()
        };
        let excess = |epsilon: f64| -> f64 {
            let pairs = law(0).into_iter().zip(law(1));
            pairs.map(|(p, q)| (p - epsilon.exp() * q).max(0.0)).sum()
        };
        for (epsilon, delta) in next {
            let mut filter =
                Filter::approximate(e(1.0 + 1e-12), d(0.05 + 1e-12), Neighbours::Replace);
            for event in [Event::approximate(0.5, 0.03), Event::approximate(epsilon, delta)] {
                assert_eq!(filter.admit(&event.unwrap()).unwrap(), Admission::Admitted);
            }
        }
        assert!(excess(1.0) <= 0.05);
        assert!(excess(1.0) > 0.04 && excess(0.7) > 0.05); // and less would not be enough
    }
}
