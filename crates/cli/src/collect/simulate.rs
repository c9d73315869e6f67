//! `demure collect simulate`: the measured error against theory.

use super::Common;
use super::estimate::IntervalOptions;
use crate::Failure;
use crate::input::{Pairs, positive, whole};
use demure_collect::simulate::simulate;
use demure_core::random::SystemRandom;
use demure_report::progress::Spinner;
use demure_report::{counted, short};
use std::io::Write;

/// Run a survey on made-up people, and compare the error with theory
///
/// People are drawn with the shares given (what is left is spread over the other values), randomize, report, and are
/// estimated: the same code as in earnest. Of a number, --truth has numbers and their shares.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  demure collect simulate exam.toml --n 10000 --truth yes=0.3
  demure collect simulate exam.toml --n 1000 --truth yes=0.3 --repeat 50 --json
  demure collect simulate hours.toml --n 1000 --truth 2=0.5,8=0.5")]
pub(super) struct Args {
    #[command(flatten)]
    common: Common,
    /// How many people
    #[arg(long, value_parser = whole, allow_hyphen_values = true)]
    n: u64,
    /// The true shares: yes=0.3
    #[arg(long, value_name = "VALUE=SHARE,…")]
    truth: Pairs<f64>,
    /// How many times over
    #[arg(long, value_name = "TIMES", value_parser = positive, default_value = "20", allow_hyphen_values = true)]
    repeat: u32,
    #[command(flatten)]
    intervals: IntervalOptions,
}

pub(super) fn run(args: &Args, out: &mut impl Write) -> Result<(), Failure> {
    let survey = args.common.read()?;
    if args.n == 0 {
        return Err(Failure::usage("n must be a whole number of at least 1"));
    }
    let options = args.intervals.options()?;
    let mut rng = SystemRandom::new()?;
    let turning = Spinner::new("simulating");
    let found = simulate(&survey, args.n, &args.truth.0, args.repeat, &options, &mut rng)?;
    drop(turning);
    if args.common.json {
        return writeln!(out, "{}", found.to_json(&survey)).map_err(Failure::writing);
    }
    let title = format!(
        "{}\n{} at ε {}, {}, {} over\n",
        survey.question(),
        counted(found.people, "person").replace("persons", "people"),
        short(survey.epsilon().get()),
        survey.parts()[0].mechanism,
        counted(u64::from(found.repetitions), "time"),
    );
    write!(out, "{title}\n{found}").map_err(Failure::writing)
}
