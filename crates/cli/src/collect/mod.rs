//! `demure collect …`: the local model, from the question to the estimate.
//!
//! | file | what |
//! |---|---|
//! | `init.rs` | `collect init`: a survey's file |
//! | `randomize.rs` | `collect randomize`: answers to reports, on the person's side |
//! | `shuffle.rs` | `collect shuffle`: reports without sender, order and time |
//! | `estimate.rs` | `collect estimate`: reports to frequencies with intervals |
//! | `plan.rs` | `collect plan`: ε, people, error; two give the third |
//! | `simulate.rs` | `collect simulate`: the measured error against theory |
//! | `serve.rs` | `collect serve`: the collector's service, which is `demure-server`'s |
//! | `render.rs` | estimates as rows, in the terminal and as SVG |

mod estimate;
mod init;
mod plan;
mod randomize;
mod render;
mod serve;
mod shuffle;
mod simulate;

use crate::Failure;
use crate::input::number;
use clap::Subcommand;
use demure_collect::Error;
use demure_collect::survey::{Privacy, Survey};
use std::fs::File;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};

/// Collect from people who trust nobody: each randomizes the answer before sending it
///
/// `init` writes the survey that people and collector share, `randomize` is the person's side, and
/// `serve` and `estimate` are the collector's. What a report promises holds against everybody.
#[derive(clap::Args)]
pub(crate) struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    Init(init::Args),
    Randomize(randomize::Args),
    Shuffle(shuffle::Args),
    Estimate(estimate::Args),
    Plan(plan::Args),
    Simulate(simulate::Args),
    Serve(serve::Args),
}

impl Args {
    /// Whether it waits for others most of the time.
    pub(crate) fn waits(&self) -> bool {
        matches!(self.command, Command::Serve(_))
    }
}

pub(crate) fn run(args: &Args, out: &mut impl Write) -> Result<(), Failure> {
    match &args.command {
        Command::Init(args) => init::run(args, out),
        Command::Randomize(args) => randomize::run(args, out),
        Command::Shuffle(args) => shuffle::run(args, out),
        Command::Estimate(args) => estimate::run(args, out),
        Command::Plan(args) => plan::run(args, out),
        Command::Simulate(args) => simulate::run(args, out),
        Command::Serve(args) => serve::run(args, out),
    }
}

/// What to do about an error, where its own words do not say.
pub(crate) fn hint(error: &Error) -> Option<&'static str> {
    match error {
        Error::Syntax(_) | Error::Survey { .. } => {
            Some("docs/collect.md has the file's form; `demure collect init` writes one")
        }
        Error::NoReports => Some(
            "are the reports of this very survey? A change of the question, values, ε or salt makes \
             another",
        ),
        Error::OtherSurvey { .. } => {
            Some("give the survey as it was when the reports came in, or --store with another file")
        }
        Error::InUse { .. } => {
            Some("stop the other `demure collect serve`, or give another --store")
        }
        _ => None,
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        match error {
            Error::Unanswerable { what, remedy } => Self::usage(format!("{what}\nhint: {remedy}")),
            error => Self::Collect(error),
        }
    }
}

/// A file's lines, or those of standard input for `-`.
fn lines(path: &Path) -> Result<Box<dyn BufRead>, Failure> {
    if path.as_os_str() == "-" {
        return Ok(Box::new(std::io::stdin().lock()));
    }
    let failed = |source| Failure::File { what: format!("reading {}", path.display()), source };
    Ok(Box::new(BufReader::new(File::open(path).map_err(failed)?)))
}

/// What most of the commands take.
#[derive(clap::Args)]
struct Common {
    /// The survey
    #[arg(value_name = "SURVEY")]
    survey: PathBuf,
    /// As one JSON object
    #[arg(long)]
    json: bool,
}

impl Common {
    fn read(&self) -> Result<Survey, Failure> {
        Ok(Survey::read(&self.survey)?)
    }
}

/// How private a report is: one of these.
#[derive(clap::Args)]
#[group(multiple = false)]
struct Stated {
    /// The truth with this probability above one half (of two values)
    #[arg(long, value_parser = number, allow_hyphen_values = true)]
    gamma: Option<f64>,
    /// The truth with this probability, else a fair coin (of two values)
    #[arg(long, value_parser = number, allow_hyphen_values = true)]
    alpha: Option<f64>,
    /// The privacy loss
    #[arg(long, value_parser = number, allow_hyphen_values = true)]
    epsilon: Option<f64>,
}

impl Stated {
    fn privacy(&self) -> Option<Privacy> {
        let gamma = self.gamma.map(Privacy::Gamma);
        gamma.or(self.alpha.map(Privacy::Alpha)).or(self.epsilon.map(Privacy::Epsilon))
    }
}
