//! `demure audit collect`: a survey's randomizer.

use super::options::Effort;
use super::render::tell;
use crate::Failure;
use crate::input::number;
use demure_attack::audit::page::Audit;
use demure_attack::audit::survey::audit;
use demure_collect::survey::Survey;
use demure_report::progress::watched;
use std::io::Write;
use std::path::PathBuf;

/// A survey's randomizer, on two answers that differ in everything
///
/// The reports are made as `demure collect randomize` makes them, of one person who answers the one thing or the other. Local
/// privacy promises that nobody who sees a report can tell which.
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
    let effort = args.effort.checked()?;
    let survey = Survey::read(&args.survey)?;
    let answers = args.answers.as_deref().zip(args.others.as_deref());
    let answers = answers.map(|(left, right)| [left, right]);
    let found = watched(|watch| audit(&survey, answers, args.epsilon, &effort, watch))?;
    let mechanisms: Vec<&str> = survey.parts().iter().map(|part| part.mechanism.name()).collect();
    let about = format!("reports to “{}” by {}", survey.question(), mechanisms.join(", "));
    tell(&[Audit::of_file(&args.survey, about, found)], &args.effort, out)
}
