//! `demure compose …`: what many releases cost together.

mod calibrate;

use crate::Failure;
use crate::input::{Relation, choice, number};
use clap::Subcommand;
use demure_core::account::Interval;
use demure_core::unit::{Delta, Neighbours};
use demure_plan::batch::{Against, Batch, Contents, POINTS, event};
use demure_report::progress::Progress;
use demure_report::{Report, short};
use serde_json::{Value, json};
use std::io::Write;
use std::path::{Path, PathBuf};

/// What many releases cost together, certified.
#[derive(clap::Args)]
#[command(args_conflicts_with_subcommands = true, subcommand_negates_reqs = true)]
#[command(after_help = "\
Events:
  laplace(b=1)  laplace(eps=0.05)  gaussian(sigma=20)  discrete_laplace(b=10)
  discrete_gaussian(sigma=2)  response(eps=ln 3)  exponential(eps=0.1)
  pure(eps=0.1, delta=1e-6)  concentrated(rho=0.5)  poisson(q=0.01, gaussian(sigma=1.1))
  each with *N for N of them; noise is relative to a sensitivity of 1

Examples:
  demure compose --delta 1e-6 'laplace(b=1)*100'
  demure compose --delta 1e-6 'laplace(eps=0.05)*50' 'gaussian(sigma=20)*50'
  demure compose --delta 1e-5 'poisson(q=0.01, gaussian(sigma=1.1))*10000' --json
  demure compose calibrate --epsilon 1 --delta 1e-5 'gaussian(sigma=?)*10'")]
pub(crate) struct Args {
    #[command(subcommand)]
    command: Option<Command>,

    /// What was done, e.g. 'laplace(b=1)*100'
    #[arg(value_name = "EVENT", required_unless_present = "file")]
    events: Vec<String>,

    /// Read events (and delta, neighbours) from a TOML file
    #[arg(long, value_name = "FILE", conflicts_with = "events")]
    file: Option<PathBuf>,

    /// The probability that ε may be exceeded
    #[arg(long, value_parser = number, allow_hyphen_values = true, required_unless_present = "file")]
    delta: Option<f64>,

    /// Which datasets count as neighbours
    #[arg(long, value_enum)]
    neighbours: Option<Relation>,

    /// The events' mechanisms were chosen as answers came in (their parameters were not)
    #[arg(long)]
    adaptive: bool,

    /// Draw ε as an SVG file
    #[arg(long, value_name = "FILE")]
    curve: Option<PathBuf>,

    /// What the curve is drawn against
    #[arg(long, value_parser = choice(Against::ALL), default_value = "delta", requires = "curve")]
    against: Against,

    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

#[derive(Subcommand)]
enum Command {
    Calibrate(calibrate::Args),
}

pub(crate) fn run(args: &Args, out: &mut impl Write) -> Result<(), Failure> {
    if let Some(Command::Calibrate(args)) = &args.command {
        return calibrate::run(args, out);
    }
    let batch = args.batch()?;
    let account = batch.account(1)?;
    let found = account.report(batch.delta)?;
    let methods: Vec<(String, Interval)> =
        found.methods.iter().map(|(method, cost)| (method.to_string(), *cost)).collect();
    let report = priced(Report::default(), found.epsilon)
        .field("delta", batch.delta.get())
        .field("neighbours", batch.neighbours.to_string())
        .described("events", batch.shown(), batch.shown().join("\n"))
        .described("methods", by_method(&methods), table(&methods));
    report.print(args.json, out)?;
    if let Some(path) = &args.curve {
        let progress = Progress::new(u64::from(POINTS));
        let chart = batch.curve(args.against, |done| progress.at(u64::from(done)))?;
        std::fs::write(path, chart.svg()).map_err(|source| file("writing", path, source))?;
        note!("drew {}", path.display());
    }
    Ok(())
}

impl Args {
    fn batch(&self) -> Result<Batch, Failure> {
        let read = match &self.file {
            Some(path) => {
                let text = std::fs::read_to_string(path)
                    .map_err(|source| file("reading", path, source))?;
                Contents::parse(&text)
                    .map_err(|error| Failure::usage(format!("{}: {error}", path.display())))?
            }
            None => Contents { events: self.events.clone(), ..Contents::default() },
        };
        let delta = self.delta.or(read.delta).ok_or_else(|| {
            Failure::usage("no delta: give --delta, or `delta = 1e-6` in the file")
        })?;
        let relation = self.neighbours.map(Neighbours::from).or(read.neighbours);
        Ok(Batch {
            events: read.events.iter().map(|text| event(text)).collect::<Result<_, _>>()?,
            delta: Delta::new(delta)?,
            neighbours: relation.unwrap_or(Neighbours::AddRemove),
            adaptive: self.adaptive,
        })
    }
}

fn file(doing: &str, path: &Path, source: std::io::Error) -> Failure {
    Failure::File { what: format!("{doing} {}", path.display()), source }
}

/// The certified interval, whose upper end is what is charged.
fn priced(report: Report, epsilon: Interval) -> Report {
    let Interval { lower, upper } = epsilon;
    let text = if upper.is_finite() {
        let width = epsilon.relative_width();
        let width = if width > 0.0 { format!(", width {width:.0e}") } else { String::new() };
        format!("{upper} at most, {lower} at least (certified{width})")
    } else {
        "no finite ε at this δ: raise delta".to_owned()
    };
    report.described("epsilon", json!({ "lower": finite(lower), "upper": finite(upper) }), text)
}

/// JSON has no ∞: null stands for "no finite bound".
fn finite(x: f64) -> Value {
    if x.is_finite() { x.into() } else { Value::Null }
}

fn by_method(methods: &[(String, Interval)]) -> Value {
    methods.iter().map(|(name, cost)| (name.clone(), finite(cost.upper))).collect()
}

fn table(methods: &[(String, Interval)]) -> String {
    let width = methods.iter().map(|(name, _)| name.len()).max().unwrap_or(0) + 2;
    let row = |(name, cost): &(String, Interval)| {
        let upper = if cost.upper.is_finite() { short(cost.upper) } else { "∞".to_owned() };
        format!("{name:width$}{upper}")
    };
    methods.iter().map(row).collect::<Vec<_>>().join("\n")
}
