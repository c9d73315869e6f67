//! `demure collect init`: the file that people and collector share.

use super::Stated;
use crate::Failure;
use crate::input::{Bounds, Words, positive};
use demure_collect::report::length;
use demure_collect::survey::{Draft, DraftDomain, Survey, init};
use demure_core::random::SystemRandom;
use demure_files as files;
use demure_report::{Report, short};
use std::io::Write;
use std::path::PathBuf;

/// Write a survey: the question, its values, how private a report is
///
/// The file is public: give it to everybody who is asked. Several attributes in one survey, and noise that is
/// remembered for repeated collection, are written by hand (docs/collect.md).
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  demure collect init exam.toml --question 'Have you ever cheated?' --values yes,no --gamma 0.25
  demure collect init browser.toml --question 'Which?' --values a,b,c,d,e,f,g,h --epsilon 1
  demure collect init hours.toml --question 'How many hours?' --range 0,24 --epsilon 1
  demure collect init ages.toml --question 'Age?' --range 0,100 --statistic distribution --epsilon 2
  demure collect init words.toml --question 'Which word?' --length 8 --epsilon 2")]
pub(super) struct Args {
    /// The file to write
    #[arg(value_name = "SURVEY")]
    survey: PathBuf,
    /// What is asked
    #[arg(long)]
    question: String,
    #[command(flatten)]
    privacy: Stated,
    #[command(flatten)]
    domain: Domain,
    /// What is to be known of a number: its mean unless given
    #[arg(long, value_parser = ["mean", "distribution"], requires = "range")]
    statistic: Option<String>,
    /// The number of bins of a distribution; 64 unless given
    #[arg(long, value_parser = positive, allow_hyphen_values = true)]
    bins: Option<u32>,
    /// How answers are randomized; auto takes the one of least variance and says why
    #[arg(long, default_value = "auto")]
    mechanism: String,
    /// Replace the file if there is one: reports of the old survey will not count for the new
    #[arg(long)]
    force: bool,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

/// What an answer can be: one of these.
#[derive(clap::Args)]
#[group(required = true, multiple = false)]
struct Domain {
    /// One of these
    #[arg(long, value_name = "A,B,…")]
    values: Option<Words>,
    /// A number between these; others are clamped
    #[arg(long, value_name = "LOW,HIGH", allow_hyphen_values = true)]
    range: Option<Bounds>,
    /// A text of at most so many bytes, when nobody knows which there are
    #[arg(long, value_name = "BYTES", value_parser = positive, allow_hyphen_values = true)]
    length: Option<u32>,
}

pub(super) fn run(args: &Args, out: &mut impl Write) -> Result<(), Failure> {
    let Some(privacy) = args.privacy.privacy() else {
        return Err(Failure::usage(
            "how private is a report?\n\
             hint: give --epsilon, or of two values --gamma or --alpha; 0.5 to 4 is usual for epsilon",
        ));
    };
    let domain = match (&args.domain, args.statistic.as_deref()) {
        (Domain { range: Some(of), .. }, Some("distribution")) => {
            DraftDomain::Distribution(of.low, of.high, args.bins.unwrap_or(64))
        }
        _ if args.bins.is_some() => {
            return Err(Failure::usage("bins must be for --statistic distribution"));
        }
        (Domain { range: Some(of), .. }, _) => DraftDomain::Mean(of.low, of.high),
        (Domain { length: Some(bytes), .. }, _) => DraftDomain::Text(*bytes),
        (Domain { values, .. }, _) => {
            DraftDomain::Values(values.as_ref().map_or_else(Vec::new, |words| words.0.clone()))
        }
    };
    let draft = Draft {
        question: args.question.clone(),
        privacy,
        domain,
        mechanism: args.mechanism.clone(),
    };
    let text = init(&draft, &mut SystemRandom::new()?)?;
    let survey = Survey::parse(&text)?;
    if !args.force && args.survey.exists() {
        return Err(Failure::usage(format!(
            "there is a file {}\n\
             hint: reports of the old survey would not count for the new; --force replaces it",
            args.survey.display()
        )));
    }
    files::write_text(&args.survey, &text)?;
    // What was chosen is in the file with its reason, and read back it is a choice of the file's.
    let why = text.lines().find_map(|line| line.strip_prefix("# ")).unwrap_or_default();
    let part = &survey.parts()[0];
    let mechanism = part.mechanism.name();
    let epsilon = survey.epsilon().get();
    let report = Report::default()
        .field("survey", args.survey.display().to_string())
        .field("question", survey.question())
        .described("epsilon", epsilon, format!("{} (whatever was answered)", short(epsilon)))
        .described("mechanism", mechanism, if why.is_empty() { mechanism } else { why })
        .hidden("why", why)
        .described("bytes", length(&survey), format!("{} a report", length(&survey)))
        .field("id", survey.id_text());
    Ok(report.print(args.json, out)?)
}
