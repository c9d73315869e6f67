//! Finds the least noise, the largest ε per query or the most queries for a target.

use super::{Account, Interval};
use crate::error::{Error, Result};
use crate::event::{Direction, Event, Template};
use crate::unit::{Delta, Epsilon, Neighbours};

/// The relative precision to which a real unknown is found.
const TOLERANCE: f64 = 1e-10;

/// The value found for the unknown, and what the event costs with it.
#[derive(Clone, Debug, PartialEq)]
pub struct Calibration {
    /// The value of `?`.
    pub value: f64,
    /// The event with that value.
    pub event: Event,
    /// The cost of the event; the upper end is at most the target.
    pub epsilon: Interval,
}

/// Finds the best value of the unknown for which `template`, together with `others`, is
/// (ε,δ)-DP.
///
/// ```
/// use demure_core::account::calibrate::calibrate;
/// use demure_core::event::Template;
/// use demure_core::unit::{Delta, Epsilon, Neighbours};
///
/// // The least Gaussian noise for 100 queries of sensitivity 1 at ε = 1.
/// let template = Template::parse("gaussian(sigma=?)*100").unwrap();
/// let (epsilon, delta) = (Epsilon::new(1.0)?, Delta::new(1e-6)?);
/// let found = calibrate(&template, &[], epsilon, delta, Neighbours::AddRemove)?;
/// println!("σ = {:.2} costs ε = {:.4}", found.value, found.epsilon.upper);
/// # Ok::<(), demure_core::Error>(())
/// ```
///
/// # Guarantee
/// The certified upper bound on the cost at the value returned is at most ε;
/// that is checked on the value itself, so it holds however the search went.
/// The value is within a relative 10⁻¹⁰ of the best that can be certified (the
/// best whole number where the unknown is one), if the cost is monotone in it.
pub fn calibrate(
    template: &Template,
    others: &[Event],
    epsilon: Epsilon,
    delta: Delta,
    neighbours: Neighbours,
) -> Result<Calibration> {
    let search = Search { template, others, target: epsilon.get(), delta, neighbours };
    let value = if template.is_whole() { search.whole() } else { search.real() };
    value.and_then(|value| search.at(value)).ok_or(Error::Infeasible {
        what: "no value of the unknown meets this epsilon and delta",
        remedy: "raise epsilon or delta, or ask for less elsewhere in the event",
    })
}

struct Search<'a> {
    template: &'a Template,
    others: &'a [Event],
    target: f64,
    delta: Delta,
    neighbours: Neighbours,
}

impl Search<'_> {
    /// The calibration at `value`, if it meets the target.
    fn at(&self, value: f64) -> Option<Calibration> {
        let event = self.template.fill(value).ok()?;
        let epsilon = self.price(&event)?;
        (epsilon.upper <= self.target).then_some(Calibration { value, event, epsilon })
    }

    fn price(&self, event: &Event) -> Option<Interval> {
        self.account(event)?.epsilon(self.delta).ok()
    }

    fn account(&self, event: &Event) -> Option<Account> {
        let mut events = self.others.to_vec();
        events.push(event.clone());
        Account::of(&events, self.neighbours).ok()
    }

    /// `ln(cost/target)`, certified; ∞ where the value or its cost is out of reach.
    fn excess(&self, value: f64) -> f64 {
        let cost = self.template.fill(value).ok().and_then(|event| self.price(&event));
        cost.map_or(f64::INFINITY, |cost| (cost.upper / self.target).ln())
    }

    /// The same from a cheap bound, to find where to search.
    fn rough_excess(&self, value: f64) -> f64 {
        let event = self.template.fill(value).ok();
        let cost = event.and_then(|event| self.account(&event)?.rough(self.delta).ok());
        cost.map_or(f64::INFINITY, |cost| (cost / self.target).ln())
    }

    /// Searches in logarithms: the cost falls along `±ln value`.
    fn real(&self) -> Option<f64> {
        let sign = match self.template.direction() {
            Direction::Falls => 1.0,
            Direction::Rises => -1.0,
        };
        let value = |z: f64| (sign * z).exp();
        let rough = falls_below(0.0, 4f64.ln(), 1e-3, |z| self.rough_excess(value(z)));
        let (start, step) = rough.map_or((0.0, 4f64.ln()), |z| (z, 0.05));
        falls_below(start, step, TOLERANCE, |z| self.excess(value(z))).map(value)
    }

    /// The largest (smallest) whole number that meets the target.
    fn whole(&self) -> Option<f64> {
        let rises = self.template.direction() == Direction::Rises;
        let rough = last_that_meets(rises, 1.0, 2.0, |x| self.rough_excess(x) <= 0.0);
        let (start, factor) = rough.map_or((1.0, 2.0), |x| (x, 1.25));
        last_that_meets(rises, start, factor, |x| self.excess(x) <= 0.0)
    }
}

/// About the least z with `f(z) ≤ 0`, for a falling f; the z returned satisfies it.
///
/// Keeps one end that satisfies it and one that does not: steps out from `start` until it has both, then uses secants,
/// with a bisection every fourth time.
fn falls_below(start: f64, step: f64, tolerance: f64, f: impl Fn(f64) -> f64) -> Option<f64> {
    const FAR: f64 = 200.0;
    let mut high = (start, f(start));
    let mut low = high;
    let mut stride = step;
    while high.1 > 0.0 {
        low = high;
        high = (high.0 + stride, f(high.0 + stride));
        stride = (2.0 * stride).min(step.max(1.0));
        if high.0 > FAR {
            return None;
        }
    }
    stride = step;
    while low.1 <= 0.0 {
        high = low;
        low = (low.0 - stride, f(low.0 - stride));
        stride = (2.0 * stride).min(step.max(1.0));
        if low.0 < -FAR {
            return Some(high.0); // everything in reach satisfies it
        }
    }
    for round in 0..100 {
        let width = high.0 - low.0;
        if width <= tolerance {
            break;
        }
        let secant = low.0 + width * low.1 / (low.1 - high.1);
        let middle = 0.5 * (low.0 + high.0);
        let mut z = if secant.is_finite() && round % 4 != 3 { secant } else { middle };
        // Never so close to one end that the other cannot follow.
        let margin = (0.4 * tolerance).min(0.25 * width);
        z = z.clamp(low.0 + margin, high.0 - margin);
        let found = f(z);
        if found <= 0.0 {
            high = (z, found);
        } else {
            low = (z, found);
        }
    }
    Some(high.0)
}

/// The largest integer (smallest, unless `rises`) that satisfies a monotone condition, searched from `start` by
/// factors.
fn last_that_meets(
    rises: bool,
    start: f64,
    factor: f64,
    meets: impl Fn(f64) -> bool,
) -> Option<f64> {
    const MOST: f64 = 4_503_599_627_370_496.0; // 2⁵²
    let larger = |x: f64| (x * factor).floor().max(x + 1.0);
    let smaller = |x: f64| (x / factor).ceil().min(x - 1.0);
    let (towards_good, towards_bad): (&dyn Fn(f64) -> f64, &dyn Fn(f64) -> f64) =
        if rises { (&smaller, &larger) } else { (&larger, &smaller) };
    let mut good = start;
    let mut bad = None;
    while !meets(good) {
        bad = Some(good);
        good = towards_good(good);
        if !(1.0..=MOST).contains(&good) {
            return None;
        }
    }
    let mut bad = match bad {
        Some(bad) => bad,
        None => loop {
            let next = towards_bad(good);
            if !(1.0..=MOST).contains(&next) {
                return Some(good);
            }
            if !meets(next) {
                break next;
            }
            good = next;
        },
    };
    while (good - bad).abs() > 1.0 {
        let middle = (0.5 * (good + bad)).floor();
        if meets(middle) {
            good = middle;
        } else {
            bad = middle;
        }
    }
    Some(good)
}

#[cfg(test)]
mod tests;
