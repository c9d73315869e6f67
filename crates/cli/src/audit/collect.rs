//! `demure audit collect`: a survey's randomizer.

use super::options::{Effort, Usual, claim};
use super::render::{Audit, tell};
use crate::Failure;
use crate::input::number;
use demure_attack::audit::{Output, Source, word};
use demure_collect::client::{Client, Given, Memory};
use demure_collect::randomizer::Randomizer;
use demure_collect::report::Submission;
use demure_collect::survey::{Domain, Survey};
use demure_core::local::Report;
use demure_core::random::SystemRandom;
use std::io::Write;
use std::path::PathBuf;

/// A survey's randomizer, on two answers that differ in everything
///
/// The reports are made as `demure collect randomize` makes them, of one person who answers the one thing or the other. Local
/// privacy promises that whoever sees a report cannot tell which.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  demure audit collect exam.toml
  demure audit collect exam.toml --answers yes --others no --samples 20000 --json

A survey is made by: demure collect init
Exit code: 0 not refuted, 1 violated, 2 a mistake or a failure.")]
pub(super) struct Args {
    /// The survey
    #[arg(value_name = "SURVEY")]
    survey: PathBuf,

    /// One person's answers, one for each attribute, separated by commas; by default the first or least of each
    #[arg(long, value_name = "LIST", requires = "others")]
    answers: Option<String>,

    /// The other answers; by default the last or largest of each
    #[arg(long, value_name = "LIST", requires = "answers")]
    others: Option<String>,

    /// The ε to test; by default what the survey promises
    #[arg(long, value_name = "E", value_parser = number, allow_hyphen_values = true)]
    epsilon: Option<f64>,

    #[command(flatten)]
    effort: Effort,
}

pub(super) fn run(args: &Args, out: &mut impl Write) -> Result<(), Failure> {
    args.effort.check()?;
    let survey = Survey::read(&args.survey)?;
    let claim = claim(Some(args.epsilon.unwrap_or(survey.epsilon().get())), 0.0)?;
    let answers = match (&args.answers, &args.others) {
        (Some(left), Some(right)) => [given(&survey, left)?, given(&survey, right)?],
        _ => [ends(&survey, false)?, ends(&survey, true)?],
    };
    let mut reports = Reports {
        survey: &survey,
        answers: vec![answers.clone()],
        randomness: [SystemRandom::new()?, SystemRandom::new()?],
    };
    let found = args.effort.audit(&mut reports, claim, Usual::Runs(100_000), 1)?;
    let mechanisms: Vec<&str> = survey.parts().iter().map(|part| part.mechanism.name()).collect();
    let about = format!("reports to “{}” by {}", survey.question(), mechanisms.join(", "));
    let name = args.survey.file_stem().map_or("survey".into(), |name| name.to_string_lossy());
    let audit = Audit { name: name.into_owned(), about, found };
    tell(&[audit], &args.effort, out)
}

/// The first or the last of every domain.
fn ends(survey: &Survey, last: bool) -> Result<Vec<Given>, Failure> {
    let end = |domain: &Domain| match domain {
        Domain::Categories(values) => {
            Ok(Given::Category(if last { values.len().saturating_sub(1) as u32 } else { 0 }))
        }
        Domain::Number { low, high } => Ok(Given::Number(if last { *high } else { *low })),
        Domain::Text { .. } => Err(Failure::usage(
            "texts have no first and last\nhint: give two with --answers and --others",
        )),
    };
    survey.attributes().iter().map(|attribute| end(&attribute.domain)).collect()
}

fn given(survey: &Survey, list: &str) -> Result<Vec<Given>, Failure> {
    let client = Client::new(survey);
    let cells: Vec<&str> = list.split(',').collect();
    let wrong = || {
        Failure::usage(
            "--answers and --others need one value of the survey for each attribute\nhint: separate them by commas",
        )
    };
    if cells.len() != survey.attributes().len() {
        return Err(wrong());
    }
    let read = cells.iter().enumerate().map(|(i, cell)| client.read(i, cell));
    read.collect::<Option<Vec<Given>>>().ok_or_else(wrong)
}

/// Reports of one person.
struct Reports<'a> {
    survey: &'a Survey,
    answers: Vec<[Vec<Given>; 2]>,
    randomness: [SystemRandom; 2],
}

impl Source for Reports<'_> {
    type Error = Failure;

    fn pairs(&self) -> usize {
        self.answers.len()
    }

    fn describe(&self, _: usize) -> String {
        "one answer and another".to_owned()
    }

    fn draw(&mut self, pair: usize, runs: usize) -> Result<[Vec<Output>; 2], Failure> {
        let (survey, answers) = (self.survey, &self.answers[pair]);
        let many = |given: &[Given], rng: &mut SystemRandom| -> Result<Vec<Output>, Failure> {
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
            (left, other.join().unwrap_or_else(|_| Err(Failure::usage("a report failed"))))
        });
        Ok([left?, right?])
    }
}

/// Bits of a report that are looked at one by one.
const BITS: usize = 32;

/// A report as numbers: what was asked, what was said, and whether it speaks for either answer.
fn numbers(survey: &Survey, made: &Submission, answers: &[Vec<Given>; 2]) -> Output {
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
            if let Some(Given::Category(c)) = given.get(answer.part) {
                output.push(f64::from(supported.contains(c)));
            }
        }
    }
    output
}
