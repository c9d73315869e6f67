//! `demure collect shuffle`: between people and the collector.

use super::{Common, lines};
use crate::Failure;
use crate::input::number;
use demure_collect::shuffle::shuffle_lines;
use demure_core::random::SystemRandom;
use demure_core::unit::Delta;
use demure_files as files;
use demure_report::progress::Spinner;
use demure_report::{counted, short};
use serde_json::json;
use std::io::Write;
use std::path::PathBuf;

/// Pass reports on without sender, order or time, once there are enough
///
/// To those who see the batch and not who sent what, every report is worth a central ε far below its own. People trust
/// the shuffler for that and for nothing else: should it be dishonest, the ε of the survey remains. Repeated reports are dropped, and the
/// others get new one-time tokens. A summary is on standard error.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  demure collect shuffle exam.toml reports.jsonl --minimum 1000 --output shuffled.jsonl
  demure collect estimate exam.toml shuffled.jsonl

Fewer reports than the minimum are not passed on: exit code 1.")]
pub(super) struct Args {
    #[command(flatten)]
    common: Common,
    /// The reports, one a line; - for standard input
    #[arg(value_name = "REPORTS")]
    reports: PathBuf,
    /// How many reports leave together, at least
    #[arg(long, value_name = "N", default_value_t = 1000)]
    minimum: usize,
    /// The probability with which the central ε may fail
    #[arg(long, default_value = "1e-6", value_parser = number, allow_hyphen_values = true)]
    delta: f64,
    /// Where the batch goes; standard output if not given
    #[arg(long, value_name = "FILE")]
    output: Option<PathBuf>,
}

pub(super) fn run(args: &Args, out: &mut impl Write) -> Result<(), Failure> {
    let survey = args.common.read()?;
    let delta = Delta::positive(args.delta)?;
    let turning = Spinner::new("shuffling");
    let reports = lines(&args.reports)?;
    let shuffled = shuffle_lines(&survey, reports, args.minimum, delta, &mut SystemRandom::new()?)?;
    drop(turning);
    let dropped = shuffled.rejected.to_string();
    let Some(batch) = shuffled.passed else {
        return Err(Failure::Unsatisfied(format!(
            "{} are too few to be passed on: at least {} leave together{}\n\
             hint: wait for more, or lower --minimum and with it what shuffling is worth",
            counted(shuffled.held, "report"),
            args.minimum,
            if dropped.is_empty() { String::new() } else { format!(" (not counted: {dropped})") },
        )));
    };
    let write = |to: &mut dyn Write| {
        batch.lines.iter().try_for_each(|line| writeln!(to, "{line}")).map_err(Failure::writing)
    };
    match &args.output {
        Some(path) => files::write(path, |to| write(to))?,
        None => write(out)?,
    }
    out.flush().map_err(Failure::writing)?;
    let (n, own, central) = (shuffled.held, survey.epsilon().get(), batch.epsilon);
    if args.common.json {
        let done = json!({
            "reports": n, "epsilon_local": own, "epsilon_central": central, "delta": args.delta,
            "not_counted": dropped,
        });
        eprintln!("{done}");
        return Ok(());
    }
    note!(
        "{} passed on in random order, with new tokens\n\
         ε {} each; central ε {}, δ {:e}, to those who see this batch and not who sent what",
        counted(n, "report"),
        short(own),
        short(central),
        args.delta
    );
    if !dropped.is_empty() {
        note!("not counted: {dropped}");
    }
    Ok(())
}
