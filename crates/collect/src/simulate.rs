//! `collect simulate`: the measured error against theory, by running the real thing.

use crate::client::{Client, TrueAnswer};
use crate::collector::Collector;
use crate::error::{Error, Result};
use crate::estimate::{Estimate, Options, estimate};
use crate::numeric;
use crate::survey::{Domain, Survey};
use demure_core::local::Target;
use demure_core::random::Randomness;
use demure_core::sample::uniform_below;
use serde::Serialize;
use serde_json::{Value, json};
use std::fmt;
use std::sync::Arc;

/// The most values that are shown as text.
const SHOWN: usize = 40;

/// One value's measured error against theory.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Measured {
    /// The value, or `mean`.
    pub value: String,
    /// Its true share, or the true mean.
    pub truth: f64,
    /// The average estimate.
    pub estimate: f64,
    /// The measured root mean square error.
    pub error: f64,
    /// The standard error by theory; none for distributions and texts.
    pub theory: Option<f64>,
    /// How often the interval held the truth; each value for itself.
    pub covered: Option<f64>,
}

/// A simulation's outcome.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Simulation {
    /// People in each repetition.
    pub people: u64,
    /// How many repetitions.
    pub repetitions: u32,
    /// One for each value.
    pub values: Vec<Measured>,
    /// `Σ(f̂ − f)²` over the values, on average.
    pub mse: f64,
    /// What theory says of it.
    pub mse_theory: Option<f64>,
    /// How often all intervals held together.
    pub covered_all: Option<f64>,
}

impl Simulation {
    /// The measured root mean square error by that of theory, over all values.
    #[must_use]
    pub fn ratio(&self) -> Option<f64> {
        self.mse_theory.filter(|theory| *theory > 0.0).map(|theory| (self.mse / theory).sqrt())
    }

    /// For programs: the outcome, and what was simulated.
    #[must_use]
    pub fn to_json(&self, survey: &Survey) -> Value {
        let mut object = json!(self);
        object["question"] = survey.question().into();
        object["epsilon"] = survey.epsilon().get().into();
        object["mechanism"] = survey.parts()[0].mechanism.name().into();
        object["ratio"] = self.ratio().into();
        object
    }
}

/// A line a value, and what is to be known of all.
impl fmt::Display for Simulation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let digits = |x: f64| format!("{x:.5}");
        let maybe = |x: Option<f64>| x.map_or("–".to_owned(), digits);
        let width = self.values.iter().map(|v| v.value.chars().count()).max();
        let width = width.unwrap_or(0).clamp(5, 24);
        writeln!(
            f,
            "{:width$}  {:>9}  {:>9}  {:>9}  {:>9}  {:>7}",
            "value", "truth", "estimate", "error", "theory", "covered"
        )?;
        for value in self.values.iter().take(SHOWN) {
            let name: String = value.value.chars().take(24).collect();
            let covered = value.covered.map_or("–".to_owned(), |c| format!("{:.0} %", 100.0 * c));
            writeln!(
                f,
                "{name:width$}  {:>9}  {:>9}  {:>9}  {:>9}  {covered:>7}",
                digits(value.truth),
                digits(value.estimate),
                digits(value.error),
                maybe(value.theory)
            )?;
        }
        if self.values.len() > SHOWN {
            writeln!(f, "… and {} more (--json has them)", self.values.len() - SHOWN)?;
        }
        f.write_str(
            "\nestimate: the average; error: the measured root mean square; theory: the standard error\n",
        )?;
        if let Some(ratio) = self.ratio() {
            writeln!(f, "measured error by theory, over all values: {ratio:.3}")?;
        }
        if let Some(all) = self.covered_all {
            writeln!(f, "all intervals held together in {:.0} % of the repetitions", 100.0 * all)?;
        }
        Ok(())
    }
}

/// Draws `people` people from a population with these shares, randomizes, collects and estimates them,
/// `repetitions` times. Shares not given are spread evenly over the values not given. Of a number, the
/// shares are of numbers; of texts, of texts.
pub fn simulate(
    survey: &Survey,
    people: u64,
    truth: &[(String, f64)],
    repetitions: u32,
    options: &Options,
    rng: &mut dyn Randomness,
) -> Result<Simulation> {
    let [attribute] = survey.attributes() else {
        return Err(Error::Unanswerable {
            what: "only surveys of one attribute can be simulated",
            remedy: "simulate each attribute's own survey",
        });
    };
    if people == 0 || repetitions == 0 {
        return Err(Error::NoReports);
    }
    let shared = Arc::new(survey.clone());
    let client = Client::new(survey);
    let population = population(&client, &attribute.domain, truth)?;
    let mut cumulative = Vec::with_capacity(population.len());
    let mut sum = 0.0;
    for (_, _, share) in &population {
        sum += share;
        cumulative.push(sum);
    }
    let mut sums: Vec<Sum> = Vec::new();
    let (mut mse, mut all) = (0.0, 0u32);
    for _ in 0..repetitions {
        let mut collector = Collector::shared(Arc::clone(&shared));
        for _ in 0..people {
            let u = uniform_below(1 << 53, rng)? as f64 / (1u64 << 53) as f64 * sum;
            let who = cumulative.partition_point(|c| *c <= u).min(population.len() - 1);
            collector.add_unique(&client.randomize(std::slice::from_ref(&population[who].1), rng)?);
        }
        let found = observe(&estimate(&mut collector, options)?.estimates[0], &population);
        if sums.is_empty() {
            sums = vec![Sum::default(); found.len()];
        }
        let mut held = true;
        for (sum, (x, interval, truth)) in sums.iter_mut().zip(&found) {
            sum.estimate += x;
            sum.squares += (x - truth).powi(2);
            mse += (x - truth).powi(2);
            if let Some((low, high)) = interval {
                let inside = low <= truth && truth <= high;
                sum.covered += u32::from(inside);
                held &= inside;
            }
        }
        all += u32::from(held);
    }
    let rounds = f64::from(repetitions);
    let theory = |truth: f64, t: f64| -> Option<f64> {
        let n = people as f64;
        match &attribute.domain {
            Domain::Categories(_) => {
                let support = attribute.randomizer.support().ok()?;
                Some(support.variance(truth, people, Target::Population).sqrt())
            }
            // The noise at each number, and the spread of the numbers.
            Domain::Number { low, high }
                if attribute.mechanism != crate::randomizer::Mechanism::SquareWave =>
            {
                let half = 0.5 * (high - low);
                let each = |(_, given, share): &(String, TrueAnswer, f64)| {
                    let TrueAnswer::Number(x) = given else { return 0.0 };
                    let u = (x.clamp(*low, *high) - low) / half - 1.0;
                    let noise = numeric::noise(&attribute.randomizer, u).unwrap_or(0.0);
                    share * (noise + (u - t).powi(2))
                };
                let variance: f64 = population.iter().map(each).sum();
                Some(half * (variance / n).sqrt())
            }
            _ => None,
        }
    };
    let names = names(&attribute.domain, &population);
    let truths = truths(&attribute.domain, &population);
    let has_intervals = !matches!(attribute.mechanism, crate::randomizer::Mechanism::SquareWave);
    let values: Vec<Measured> = names
        .into_iter()
        .zip(truths)
        .zip(&sums)
        .map(|((value, truth), sum)| {
            let t = match attribute.domain {
                Domain::Number { low, high } => 2.0 * (truth - low) / (high - low) - 1.0,
                _ => 0.0,
            };
            Measured {
                value,
                truth,
                estimate: sum.estimate / rounds,
                error: (sum.squares / rounds).sqrt(),
                theory: theory(truth, t),
                covered: has_intervals.then(|| f64::from(sum.covered) / rounds),
            }
        })
        .collect();
    let mse_theory = values.iter().map(|v| v.theory.map(|x| x * x)).sum::<Option<f64>>();
    let covered_all = has_intervals.then(|| f64::from(all) / rounds);
    Ok(Simulation { people, repetitions, values, mse: mse / rounds, mse_theory, covered_all })
}

#[derive(Clone, Default)]
struct Sum {
    estimate: f64,
    squares: f64,
    covered: u32,
}

type Person = (String, TrueAnswer, f64);

/// Who there is: each value or number or text, and its share.
fn population(
    client: &Client<'_>,
    domain: &Domain,
    truth: &[(String, f64)],
) -> Result<Vec<Person>> {
    let bad = || Error::Unanswerable {
        what: "the truth must give shares of at least 0 that sum to 1, of values of the survey",
        remedy: "write --truth yes=0.3,no=0.7",
    };
    if truth.iter().any(|(_, share)| !(0.0..=1.0).contains(share)) {
        return Err(bad());
    }
    let mut people = Vec::new();
    for (value, share) in truth {
        people.push((value.clone(), client.read(0, value).ok_or_else(bad)?, *share));
    }
    let rest = 1.0 - truth.iter().map(|(_, share)| share).sum::<f64>();
    if let Domain::Categories(values) = domain {
        let others: Vec<&String> =
            values.iter().filter(|v| truth.iter().all(|(t, _)| t != *v)).collect();
        let each = if others.is_empty() { 0.0 } else { rest / others.len() as f64 };
        for value in &others {
            people.push(((*value).clone(), client.read(0, value).ok_or_else(bad)?, each.max(0.0)));
        }
        if rest < -1e-9 || (others.is_empty() && rest > 1e-9) || people.len() != values.len() {
            return Err(bad());
        }
        let place = |p: &Person| values.iter().position(|v| *v == p.0);
        people.sort_by_key(place);
    } else if rest.abs() > 1e-9 {
        return Err(bad());
    }
    Ok(people)
}

fn names(domain: &Domain, population: &[Person]) -> Vec<String> {
    match domain {
        Domain::Number { .. } => vec!["mean".to_owned()],
        _ => population.iter().map(|p| p.0.clone()).collect(),
    }
}

fn truths(domain: &Domain, population: &[Person]) -> Vec<f64> {
    match domain {
        Domain::Number { low, high } => {
            let mean = population.iter().map(|(_, given, share)| match given {
                TrueAnswer::Number(x) => x.clamp(*low, *high) * share,
                _ => 0.0,
            });
            vec![mean.sum()]
        }
        _ => population.iter().map(|p| p.2).collect(),
    }
}

type Observed = (f64, Option<(f64, f64)>, f64);

/// Each value's estimate, interval and truth.
fn observe(estimate: &Estimate, population: &[Person]) -> Vec<Observed> {
    let mean = || -> f64 {
        let each = |p: &Person| match p.1 {
            TrueAnswer::Number(x) => x * p.2,
            _ => 0.0,
        };
        population.iter().map(each).sum()
    };
    match estimate {
        Estimate::Frequencies(f) => f
            .rows
            .iter()
            .zip(population)
            .map(|(row, person)| (row.estimate, Some((row.lower, row.upper)), person.2))
            .collect(),
        Estimate::Mean(m) => vec![(m.estimate, Some((m.lower, m.upper)), mean())],
        Estimate::Distribution(d) => vec![(d.mean, None, mean())],
        Estimate::Texts(t) => population
            .iter()
            .map(|person| match t.texts.iter().find(|x| x.text == person.0) {
                Some(x) => (x.estimate, Some((x.lower, x.upper)), person.2),
                None => (0.0, None, person.2),
            })
            .collect(),
    }
}
