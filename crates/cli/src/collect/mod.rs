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
//! | `serve.rs` | `collect serve`: starting and stopping the service |
//! | `service.rs` | what it answers over HTTP |
//! | `guest.rs` | its connections: how many, and for how long they may say nothing |
//! | `promise.rs` | what a survey promised, in a ledger |
//! | `render.rs` | estimates as bars, in the terminal and as SVG |
//! | `page/` | the service's live page |

mod estimate;
mod guest;
mod init;
mod plan;
mod promise;
mod randomize;
mod render;
mod serve;
mod service;
mod shuffle;
mod simulate;

use crate::Failure;
use crate::input::number;
use clap::Subcommand;
use demure_collect::Error;
use demure_collect::survey::{Privacy, Survey};
use std::io::Write;
use std::path::Path;

/// Collect from people who trust nobody: each randomizes the answer before sending it
///
/// `init` writes the survey that people and collector share, `randomize` is the person's side, and
/// `serve` and `estimate` are the collector's. What a report promises holds against everybody.
#[derive(clap::Args)]
pub(crate) struct Args {
    #[command(subcommand)]
    which: Which,
}

#[derive(Subcommand)]
enum Which {
    Init(init::Args),
    Randomize(randomize::Args),
    Shuffle(shuffle::Args),
    Estimate(estimate::Args),
    Plan(plan::Args),
    Simulate(simulate::Args),
    Serve(serve::Args),
}

pub(crate) fn run(args: &Args, out: &mut impl Write) -> Result<(), Failure> {
    match &args.which {
        Which::Init(args) => init::run(args, out),
        Which::Randomize(args) => randomize::run(args, out),
        Which::Shuffle(args) => shuffle::run(args, out),
        Which::Estimate(args) => estimate::run(args, out),
        Which::Plan(args) => plan::run(args, out),
        Which::Simulate(args) => simulate::run(args, out),
        Which::Serve(args) => serve::run(args, out),
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

fn read(path: &Path) -> Result<Survey, Failure> {
    Ok(Survey::read(path)?)
}

/// The survey's id, as reports have it.
fn id(survey: &Survey) -> String {
    survey.id().iter().map(|byte| format!("{byte:02x}")).collect()
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

/// `1 report`, `2 reports`.
fn counted(n: u64, what: &str) -> String {
    let number = demure_report::grouped(n as f64);
    if n == 1 { format!("{number} {what}") } else { format!("{number} {what}s") }
}
