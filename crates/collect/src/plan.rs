//! Planning: of ε (or γ, or α), the number of people, and the error, two give the third.
//!
//! | method | the error that is exceeded with probability at most β | holds |
//! |---|---|---|
//! | [`Method::Hoeffding`] | `√(ln(2/β)/2n)/(p−q)` | always, whatever the frequency |
//! | [`Method::Chernoff`] | where `e^{−nKL(π+δ‖π)} + e^{−nKL(π−δ‖π)} = β`, `δ = error·(p−q)` | always, at the frequency |
//! | [`Method::Exact`] | where the binomial's two tails are β | exactly, at the frequency |
//! | [`Method::Normal`] | `z·√variance` | for large n |
//!
//! `π = q + f(p−q)` is the probability of support. Without a frequency, Chernoff and exact take the
//! largest error over a grid of frequencies, the one where π is nearest ½ among them.

use crate::error::{Error, Result};
use crate::randomizer::{Mechanism, Randomizer, choose};
use demure_core::local::{ErrorBound, Support, Target, binomial_tail};
use demure_core::unit::{Beta, Epsilon};
use serde::Serialize;

/// How an error is bounded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Method {
    /// Hoeffding's inequality.
    Hoeffding,
    /// Chernoff's inequality.
    Chernoff,
    /// The binomial distribution itself.
    Exact,
    /// The normal approximation.
    Normal,
}

impl Method {
    /// Its name in JSON.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Hoeffding => "hoeffding",
            Self::Chernoff => "chernoff",
            Self::Exact => "exact",
            Self::Normal => "normal",
        }
    }
}

/// All methods.
pub const METHODS: [Method; 4] =
    [Method::Hoeffding, Method::Chernoff, Method::Exact, Method::Normal];

/// What is planned for.
#[derive(Clone, Copy, Debug)]
pub struct Aim {
    /// The number of values.
    pub categories: u32,
    /// The mechanism; `None` for the best at each ε.
    pub mechanism: Option<Mechanism>,
    /// One less the confidence.
    pub beta: Beta,
    /// Whether all values' errors are to be bounded together.
    pub all: bool,
    /// The frequency that is expected; `None` for the worst.
    pub frequency: Option<f64>,
}

/// A plan: the three numbers, and what else to know.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Plan {
    /// ε.
    pub epsilon: f64,
    /// Of yes or no: the truth with probability α, else a fair coin.
    pub alpha: Option<f64>,
    /// Of yes or no: the truth with probability ½ + γ.
    pub gamma: Option<f64>,
    /// n.
    pub people: u64,
    /// The error that is exceeded with probability at most β.
    pub error: f64,
    /// 1 − β.
    pub confidence: f64,
    /// How the plan bounds the error.
    pub method: Method,
    /// The mechanism.
    pub mechanism: &'static str,
    /// The error by all methods.
    pub errors: Errors,
}

/// The error at one n and ε by all methods.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Errors {
    /// By Hoeffding.
    pub hoeffding: f64,
    /// By Chernoff.
    pub chernoff: f64,
    /// By the binomial distribution.
    pub exact: f64,
    /// By the normal approximation.
    pub normal: f64,
}

/// A point of a curve.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Point {
    /// ε.
    pub epsilon: f64,
    /// n.
    pub people: u64,
    /// The errors there.
    pub errors: Errors,
}

const MOST_PEOPLE: u64 = 1 << 40;

/// z with `P[Z > z] = tail` for a standard normal Z, `0 < tail < ½`; rounded up.
#[must_use]
pub fn z_quantile(tail: f64) -> f64 {
    // With p − q = ½ and π = ½ the core's planned error of one person is z itself.
    let unit = Support::new(0.75, 0.25);
    let z = unit
        .and_then(|s| s.error(1, ErrorBound::Normal(Target::Population), Beta::new(2.0 * tail)?));
    z.unwrap_or(f64::INFINITY)
}

/// Exactly two of ε, n and the error are given.
pub fn plan(
    aim: &Aim,
    epsilon: Option<Epsilon>,
    people: Option<u64>,
    error: Option<f64>,
    method: Method,
) -> Result<Plan> {
    aim.check()?;
    let (epsilon, people) = match (epsilon, people, error) {
        (Some(epsilon), Some(people), None) => (epsilon, people),
        (Some(epsilon), None, Some(error)) => (epsilon, people_for(aim, epsilon, error, method)?),
        (None, Some(people), Some(error)) => (epsilon_for(aim, people, error, method)?, people),
        _ => {
            return Err(Error::Unanswerable {
                what: "a plan needs exactly two of ε (or γ, or α), the people and the error",
                remedy: "leave out the one that is to be found",
            });
        }
    };
    let (mechanism, support) = aim.support(epsilon)?;
    let errors = aim.errors(&support, people)?;
    let yes_no = aim.categories == 2 && mechanism == Mechanism::Response;
    Ok(Plan {
        epsilon: epsilon.get(),
        alpha: yes_no.then(|| support.gap()),
        gamma: yes_no.then(|| 0.5 * support.gap()),
        people,
        error: errors.by(method),
        confidence: 1.0 - aim.beta.get(),
        method,
        mechanism: mechanism.name(),
        errors,
    })
}

/// The errors at numbers of people between two, evenly spaced in their logarithm: for a plot.
pub fn curve_of_people(
    aim: &Aim,
    epsilon: Epsilon,
    from: u64,
    to: u64,
    points: u32,
) -> Result<Vec<Point>> {
    aim.check()?;
    let support = aim.support(epsilon)?.1;
    let mut curve: Vec<Point> = Vec::new();
    for people in spaced(from.max(1) as f64, to as f64, points).map(|n| n.round() as u64) {
        if curve.last().is_none_or(|p| p.people < people) {
            let errors = aim.errors(&support, people)?;
            curve.push(Point { epsilon: epsilon.get(), people, errors });
        }
    }
    Ok(curve)
}

/// The errors at ε between two, evenly spaced in their logarithm: for a plot.
pub fn curve_of_epsilon(
    aim: &Aim,
    people: u64,
    from: Epsilon,
    to: Epsilon,
    points: u32,
) -> Result<Vec<Point>> {
    aim.check()?;
    spaced(from.get(), to.get(), points)
        .map(|epsilon| {
            let support = aim.support(Epsilon::new(epsilon)?)?.1;
            Ok(Point { epsilon, people, errors: aim.errors(&support, people)? })
        })
        .collect()
}

fn spaced(from: f64, to: f64, points: u32) -> impl Iterator<Item = f64> {
    let last = f64::from(points.max(2) - 1);
    (0..points.max(2)).map(move |i| from * (to / from).powf(f64::from(i) / last))
}

fn people_for(aim: &Aim, epsilon: Epsilon, error: f64, method: Method) -> Result<u64> {
    require_error(error)?;
    let support = aim.support(epsilon)?.1;
    match method {
        Method::Hoeffding => {
            return Ok(support.people_for_error(error, ErrorBound::Hoeffding, aim.each()?)?);
        }
        Method::Normal if aim.frequency.is_none() => {
            return Ok(support.people_for_error(error, NORMAL, aim.each()?)?);
        }
        _ => {}
    }
    // The exact error is not quite monotone in n, as counts are whole: this is an n that
    // suffices and below which another might.
    let enough = |n: u64| Ok::<_, Error>(aim.error(&support, n, method)? <= error);
    let mut high = 1u64;
    while !enough(high)? {
        if high >= MOST_PEOPLE {
            return Err(unreachable("more people than there are"));
        }
        high *= 2;
    }
    let mut low = high / 2;
    while high - low > 1 {
        let middle = low + (high - low) / 2;
        if enough(middle)? { high = middle } else { low = middle }
    }
    Ok(high)
}

fn epsilon_for(aim: &Aim, people: u64, error: f64, method: Method) -> Result<Epsilon> {
    require_error(error)?;
    let enough = |x: f64| match aim.support(Epsilon::new(x)?) {
        Ok((_, support)) => Ok(aim.error(&support, people, method)? <= error),
        Err(_) => Ok::<_, Error>(false), // an ε too small for any information
    };
    let (mut low, mut high) = (1e-9f64, 32.0f64);
    if !enough(high)? {
        return Err(unreachable("an error that so few people do not give at any ε"));
    }
    while high / low > 1.0 + 1e-10 {
        let middle = (low * high).sqrt();
        if enough(middle)? { high = middle } else { low = middle }
    }
    Ok(Epsilon::new(high)?)
}

fn require_error(error: f64) -> Result<()> {
    if error > 0.0 && error < 1.0 {
        return Ok(());
    }
    Err(demure_core::Error::OutOfRange { parameter: "error", allowed: "between 0 and 1" }.into())
}

fn unreachable(what: &'static str) -> Error {
    Error::Unanswerable { what, remedy: "accept a larger error, or a larger ε" }
}

const NORMAL: ErrorBound = ErrorBound::Normal(Target::Population);

impl Aim {
    fn check(&self) -> Result<()> {
        let fine = |f: f64| (0.0..=1.0).contains(&f);
        if self.frequency.is_none_or(fine) {
            return Ok(());
        }
        let allowed = "between 0 and 1";
        Err(demure_core::Error::OutOfRange { parameter: "frequency", allowed }.into())
    }

    fn each(&self) -> Result<Beta> {
        let share = if self.all { f64::from(self.categories) } else { 1.0 };
        Ok(Beta::new(self.beta.get() / share)?)
    }

    fn support(&self, epsilon: Epsilon) -> Result<(Mechanism, Support)> {
        let (mechanism, randomizer) = match self.mechanism {
            Some(m) => (m, Randomizer::categorical(m, self.categories, epsilon)?),
            None => {
                let choice = choose(self.categories, epsilon, None)?;
                (choice.mechanism, choice.randomizer)
            }
        };
        Ok((mechanism, randomizer.support()?))
    }

    fn errors(&self, support: &Support, people: u64) -> Result<Errors> {
        let of = |method| self.error(support, people, method);
        Ok(Errors {
            hoeffding: of(Method::Hoeffding)?,
            chernoff: of(Method::Chernoff)?,
            exact: of(Method::Exact)?,
            normal: of(Method::Normal)?,
        })
    }

    fn error(&self, support: &Support, people: u64, method: Method) -> Result<f64> {
        let beta = self.each()?;
        let hoeffding = support.error(people, ErrorBound::Hoeffding, beta)?;
        let largest = |at: &dyn Fn(f64) -> f64| match self.frequency {
            Some(f) => at(f),
            None => {
                // Where π is nearest ½, and a grid.
                let middle = ((0.5 - support.q()) / support.gap()).clamp(0.0, 1.0);
                let grid = (0..=10).map(|i| f64::from(i) / 10.0).chain([middle]);
                grid.map(at).fold(0.0, f64::max)
            }
        };
        Ok(match method {
            Method::Hoeffding => hoeffding,
            Method::Chernoff => {
                largest(&|f| least(hoeffding, beta.get(), |e| chernoff(support, people, f, e)))
            }
            Method::Exact => {
                largest(&|f| least(hoeffding, beta.get(), |e| tails(support, people, f, e)))
            }
            Method::Normal => match self.frequency {
                None => support.error(people, NORMAL, beta)?,
                Some(f) => {
                    let sd = support.variance(f, people, Target::Population).sqrt();
                    z_quantile(0.5 * beta.get()) * sd
                }
            },
        })
    }
}

impl Errors {
    /// By one of the methods.
    #[must_use]
    pub fn by(&self, method: Method) -> f64 {
        match method {
            Method::Hoeffding => self.hoeffding,
            Method::Chernoff => self.chernoff,
            Method::Exact => self.exact,
            Method::Normal => self.normal,
        }
    }
}

/// The least error (to 10⁻⁶ of itself) whose probability is at most β; Hoeffding's is enough.
fn least(hoeffding: f64, beta: f64, probability: impl Fn(f64) -> f64) -> f64 {
    let (mut low, mut high) = (0.0, hoeffding);
    while high - low > 1e-6 * high {
        let middle = 0.5 * (low + high);
        if probability(middle) <= beta { high = middle } else { low = middle }
    }
    high
}

/// `P[|f̂ − f| > e]` where the count is `Bin(n, π)`.
fn tails(support: &Support, people: u64, f: f64, e: f64) -> f64 {
    let (n, pi, gap) = (people as f64, support.q() + f * support.gap(), support.gap());
    let (above, below) = ((n * (pi + e * gap)).floor() + 1.0, (n * (pi - e * gap)).ceil() - 1.0);
    let upper = if above > n { 0.0 } else { binomial_tail(above as u64, people, pi) };
    let lower =
        if below < 0.0 { 0.0 } else { binomial_tail(people - below as u64, people, 1.0 - pi) };
    upper + lower
}

/// Chernoff's bound on the same.
fn chernoff(support: &Support, people: u64, f: f64, e: f64) -> f64 {
    let (n, pi, delta) = (people as f64, support.q() + f * support.gap(), e * support.gap());
    let bound = |x: f64| {
        if !(0.0..=1.0).contains(&x) {
            return 0.0;
        }
        let term = |a: f64, b: f64| if a == 0.0 { 0.0 } else { a * (a / b).ln() };
        (-n * (term(x, pi) + term(1.0 - x, 1.0 - pi))).exp()
    };
    bound(pi + delta) + bound(pi - delta)
}

#[cfg(test)]
mod tests;
