//! A survey's randomizer, on two answers of one person.

use super::effort::{Effort, Usual};
use super::examine::{Claim, Finding, Source};
use super::feature::{Output, word};
use crate::Watch;
use crate::error::{Error, Result};
use demure_collect::client::{Client, Memory, TrueAnswer};
use demure_collect::randomizer::Randomizer;
use demure_collect::report::Submission;
use demure_collect::survey::{Domain, Survey};
use demure_core::local::Report;
use demure_core::random::SystemRandom;

/// Runs a side by default.
const USUAL: Usual = Usual::Runs(100_000);

/// Audits the reports of one person who answers the one thing or the other. Without `answers`, each a list separated by
/// commas, these are the first and the last of every domain. What is tested is the ε that the survey promises, or `epsilon`.
///
/// # Errors
/// The answers are not the survey's, or it has texts, which have no first and last.
pub fn audit(
    survey: &Survey,
    answers: Option<[&str; 2]>,
    epsilon: Option<f64>,
    effort: &Effort,
    watch: Watch<'_>,
) -> Result<Finding> {
    let claim = Claim::new(Some(epsilon.unwrap_or(survey.epsilon().get())), 0.0)?;
    let answers = match answers {
        Some([left, right]) => [given(survey, left)?, given(survey, right)?],
        None => [ends(survey, false)?, ends(survey, true)?],
    };
    let randomness = [SystemRandom::new()?, SystemRandom::new()?];
    effort.audit(&mut Reports { survey, answers, randomness }, claim, USUAL, watch)
}

/// The first or the last of every domain.
fn ends(survey: &Survey, last: bool) -> Result<Vec<TrueAnswer>> {
    let end = |domain: &Domain| match domain {
        Domain::Categories(values) => {
            Ok(TrueAnswer::Category(if last { values.len().saturating_sub(1) as u32 } else { 0 }))
        }
        Domain::Number { low, high } => Ok(TrueAnswer::Number(if last { *high } else { *low })),
        Domain::Text { .. } => Err(Error::NoFirstAndLast),
    };
    survey.attributes().iter().map(|attribute| end(&attribute.domain)).collect()
}

fn given(survey: &Survey, list: &str) -> Result<Vec<TrueAnswer>> {
    let client = Client::new(survey);
    let cells: Vec<&str> = list.split(',').collect();
    if cells.len() != survey.attributes().len() {
        return Err(Error::NotAnAnswer);
    }
    let read = cells.iter().enumerate().map(|(i, cell)| client.read(i, cell));
    read.collect::<Option<Vec<TrueAnswer>>>().ok_or(Error::NotAnAnswer)
}

/// Reports of one person.
struct Reports<'a> {
    survey: &'a Survey,
    answers: [Vec<TrueAnswer>; 2],
    randomness: [SystemRandom; 2],
}

impl Source for Reports<'_> {
    type Error = Error;

    fn pairs(&self) -> usize {
        1
    }

    fn describe(&self, _: usize) -> String {
        "one answer and another".to_owned()
    }

    fn draw(&mut self, _: usize, runs: usize) -> Result<[Vec<Output>; 2]> {
        let (survey, answers) = (self.survey, &self.answers);
        let many = |given: &[TrueAnswer], rng: &mut SystemRandom| -> Result<Vec<Output>> {
            let client = Client::new(survey);
            let remembers =
                survey.parts().iter().any(|part| matches!(part.randomizer, Randomizer::Rappor(_)));
            let one = |_| {
                // Remembered noise is drawn anew: this is another person each time.
                let made = match remembers {
                    true => client.randomize_again(given, &mut Memory::default(), rng)?,
                    false => client.randomize(given, rng)?,
                };
                Ok(numbers(survey, &made, answers))
            };
            (0..runs).map(one).collect()
        };
        let [first, second] = &mut self.randomness;
        let (left, right) = std::thread::scope(|scope| {
            let other = scope.spawn(|| many(&answers[1], second));
            let left = many(&answers[0], first);
            (left, other.join().unwrap_or(Err(Error::Panicked)))
        });
        Ok([left?, right?])
    }
}

/// Bits of a report that are looked at one by one.
const BITS: usize = 32;

/// A report as numbers: what was asked, what was said, and whether it speaks for either answer.
fn numbers(survey: &Survey, made: &Submission, answers: &[Vec<TrueAnswer>; 2]) -> Output {
    let mut output = Vec::new();
    for answer in &made.answers {
        let part = &survey.parts()[answer.part];
        output.extend([answer.part as f64, f64::from(answer.level)]);
        match &answer.report {
            Report::Category(c) | Report::Cell(c) => output.push(f64::from(*c)),
            Report::Sign(sign) => output.push(f64::from(*sign)),
            Report::Row(row, sign) => output.extend([f64::from(*row), f64::from(*sign)]),
            Report::Hashed(_, bucket) => output.push(f64::from(*bucket)),
            Report::Bits(words) => {
                let bit = |i: usize| words.get(i / 64).map_or(0, |word| word >> (i % 64) & 1);
                let many = part.randomizer.categories().unwrap_or(64) as usize;
                output.extend((0..many.min(BITS)).map(|i| bit(i) as f64));
            }
            other => output.push(word(&format!("{other:?}"))),
        }
        let supported = part.randomizer.supported(&answer.report);
        for given in answers {
            if let Some(TrueAnswer::Category(c)) = given.get(answer.part) {
                output.push(f64::from(supported.contains(c)));
            }
        }
    }
    output
}
