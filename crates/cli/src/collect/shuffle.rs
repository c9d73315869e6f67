//! `demure collect shuffle`: between people and the collector.

use super::{counted, read};
use crate::Failure;
use crate::input::number;
use demure_collect::report::Submission;
use demure_collect::shuffle::{Shuffler, amplified};
use demure_core::local::token;
use demure_core::random::{Randomness, SystemRandom};
use demure_core::unit::Delta;
use demure_files as files;
use demure_report::progress::Spinner;
use demure_report::short;
use serde_json::json;
use std::fs::File;
use std::io::{BufRead, BufReader, Write};
use std::path::PathBuf;

/// Pass reports on without sender, order or time, once there are enough
///
/// To whoever sees the batch and not who sent what, every report is worth a central ε far below its own. People trust
/// the shuffler for that and for nothing else: should it be dishonest, the ε of the survey remains. Repeated reports are dropped, and the
/// others get new one-time tokens. What was done is told on standard error.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  demure collect shuffle exam.toml reports.jsonl --minimum 1000 --output shuffled.jsonl
  demure collect estimate exam.toml shuffled.jsonl

Fewer reports than the minimum are not passed on: exit code 1.")]
pub(super) struct Args {
    /// The survey
    #[arg(value_name = "SURVEY")]
    survey: PathBuf,

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

    /// Say what was done as one JSON object, on standard error
    #[arg(long)]
    json: bool,
}

pub(super) fn run(args: &Args, out: &mut impl Write) -> Result<(), Failure> {
    let survey = read(&args.survey)?;
    let delta = Delta::positive(args.delta)?;
    let mut shuffler = Shuffler::new(&survey, args.minimum)?;
    let turning = Spinner::new("shuffling");
    let failed = |source| Failure::File {
        what: format!("reading the reports {}", args.reports.display()),
        source,
    };
    let lines: Box<dyn BufRead> = match args.reports.as_os_str() == "-" {
        true => Box::new(std::io::stdin().lock()),
        false => Box::new(BufReader::new(File::open(&args.reports).map_err(failed)?)),
    };
    for line in lines.split(b'\n') {
        let line = line.map_err(failed)?;
        if line.trim_ascii().is_empty() {
            continue;
        }
        let text = String::from_utf8_lossy(&line);
        shuffler.take(Submission::from_json(&survey, &text));
    }
    let mut rng = SystemRandom::new()?;
    let dropped = super::estimate::rejected(&shuffler.rejected());
    let held = shuffler.held();
    let Some(batch) = shuffler.release(&mut rng)? else {
        drop(turning);
        return Err(Failure::Unsatisfied(format!(
            "{} are too few to be passed on: at least {} leave together{}\n\
             hint: wait for more, or lower --minimum and with it what shuffling is worth",
            counted(held as u64, "report"),
            args.minimum,
            if dropped.is_empty() { String::new() } else { format!(" (not counted: {dropped})") },
        )));
    };
    let central = amplified(batch.reports.len() as u64, survey.epsilon(), delta)?.upper;
    let mut lines = Vec::with_capacity(batch.reports.len());
    for mut report in batch.reports {
        // The sender's network may have seen the old one.
        report.token = token(rng.bits()?)?;
        lines.push(report.to_json(&survey));
    }
    drop(turning);
    let write = |to: &mut dyn Write| {
        lines.iter().try_for_each(|line| writeln!(to, "{line}")).map_err(Failure::writing)
    };
    match &args.output {
        Some(path) => files::write(path, |to| write(to))?,
        None => write(out)?,
    }
    out.flush().map_err(Failure::writing)?;
    let (n, own) = (lines.len() as u64, survey.epsilon().get());
    if args.json {
        let told = json!({
            "reports": n, "epsilon_local": own, "epsilon_central": central, "delta": args.delta,
            "not_counted": dropped,
        });
        eprintln!("{told}");
        return Ok(());
    }
    eprintln!(
        "{} passed on in random order, with new tokens\n\
         ε {} each; central ε {}, δ {:e}, to whoever sees this batch and not who sent what",
        counted(n, "report"),
        short(own),
        short(central),
        args.delta
    );
    if !dropped.is_empty() {
        eprintln!("not counted: {dropped}");
    }
    Ok(())
}
