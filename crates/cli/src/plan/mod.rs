//! `demure plan …`: how many people, how much ε, how large an error. Any two give
//! the third.

mod response;

use crate::Failure;
use crate::input::{Bounds, Confidence, Relation, number, positive, whole};
use clap::Subcommand;
use demure_core::mechanism::Contributions;
use demure_core::unit::{Epsilon, Neighbours};
use demure_files as files;
use demure_plan::solve::{self, ErrorTarget, Statistic};
use demure_report::chart::Chart;
use demure_report::{Report, grouped, short, wrapped};
use std::io::Write;
use std::path::PathBuf;

/// How many people, how much ε, how large an error: any two give the third.
#[derive(clap::Args)]
pub(crate) struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    Count(Count),
    Histogram(Histogram),
    Sum(Sum),
    Mean(Mean),
    Response(response::Args),
}

/// A count
///
/// Its error is in people, or with % a share of n.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  demure plan count --epsilon 1
  demure plan count --error 10
  demure plan count --error 1% --epsilon 0.1
  demure plan count --error 1% --n 1000 --confidence 0.99")]
struct Count {
    /// The most rows of one unit
    #[arg(long, value_name = "N", value_parser = positive, default_value = "1", allow_hyphen_values = true)]
    max_rows: u32,

    #[command(flatten)]
    options: NoiseOptions,
}

/// The counts of a histogram, all at once
///
/// The error is that of the worst count ((α,β)-usefulness), in people, or with % a share of n.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  demure plan histogram --bins 50 --epsilon 1
  demure plan histogram --bins 50 --error 20
  demure plan histogram --bins 50 --error 0.1% --epsilon 0.5")]
struct Histogram {
    /// How many bins
    #[arg(long, value_name = "M", value_parser = positive, allow_hyphen_values = true)]
    bins: u32,

    /// The most bins that one unit has rows in
    #[arg(long, value_name = "N", value_parser = positive, default_value = "1", allow_hyphen_values = true)]
    max_groups: u32,

    /// The most rows that one unit has in one bin
    #[arg(long, value_name = "N", value_parser = positive, default_value = "1", allow_hyphen_values = true)]
    max_rows: u32,

    #[command(flatten)]
    options: NoiseOptions,
}

/// A sum of bounded numbers
///
/// Its error is in their units, or with % a share of the largest sum that n people can have.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  demure plan sum --bounds 0,100 --epsilon 1
  demure plan sum --bounds 0,100 --error 1% --epsilon 0.5
  demure plan sum --bounds 0,100 --error 500 --neighbours replace")]
struct Sum {
    /// Public bounds of the values
    #[arg(long, value_name = "LOW,HIGH", allow_hyphen_values = true)]
    bounds: Bounds,

    #[command(flatten)]
    options: NoiseOptions,
}

/// A mean of bounded numbers
///
/// Its error is in their units, or with % a share of the distance between the bounds.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  demure plan mean --bounds 0,100 --n 1000 --epsilon 1
  demure plan mean --bounds 0,100 --n 1000 --error 0.5
  demure plan mean --bounds 0,100 --error 1% --epsilon 0.1 --neighbours replace")]
struct Mean {
    /// Public bounds of the values
    #[arg(long, value_name = "LOW,HIGH", allow_hyphen_values = true)]
    bounds: Bounds,

    #[command(flatten)]
    options: NoiseOptions,
}

pub(crate) fn run(args: &Args, out: &mut impl Write) -> Result<(), Failure> {
    let (options, statistic) = match &args.command {
        Command::Count(Count { max_rows, options }) => {
            (options, Statistic::count(*max_rows, options.neighbours()))
        }
        Command::Histogram(Histogram { bins, max_groups, max_rows, options }) => {
            let most = Contributions::new(*max_groups, *max_rows)?;
            (options, Statistic::histogram(*bins, most, options.neighbours()))
        }
        Command::Sum(Sum { bounds, options }) => {
            (options, Statistic::sum(bounds.range(), options.neighbours())?)
        }
        Command::Mean(Mean { bounds, options }) => {
            (options, Statistic::mean(bounds.range(), options.neighbours())?)
        }
        Command::Response(args) => return response::run(args, out),
    };
    options.run(&statistic, out)
}

/// Options of every plan of noise: two of the first three.
#[derive(clap::Args)]
struct NoiseOptions {
    /// The error allowed: 10, or 1%
    #[arg(long, allow_hyphen_values = true)]
    error: Option<ErrorTarget>,

    /// How many people
    #[arg(long, value_parser = whole, allow_hyphen_values = true)]
    n: Option<u64>,

    /// The privacy loss
    #[arg(long, value_parser = number, allow_hyphen_values = true)]
    epsilon: Option<f64>,

    /// Which datasets count as neighbours
    #[arg(long, value_enum, default_value = "add-remove")]
    neighbours: Relation,

    #[command(flatten)]
    show: Show,
}

/// How sure, and how shown.
#[derive(clap::Args)]
struct Show {
    /// How sure the error is to hold
    #[arg(long, default_value = "0.95", allow_hyphen_values = true)]
    confidence: Confidence,

    /// Print one JSON object
    #[arg(long)]
    json: bool,

    /// Draw the error by ε into FILE (SVG)
    #[arg(long, value_name = "FILE")]
    plot: Option<PathBuf>,

    /// Draw no plot in the terminal
    #[arg(long)]
    no_plot: bool,
}

impl Show {
    /// Prints the sentence, the fields and the error by ε, or one JSON object.
    fn print(
        &self,
        sentence: &str,
        fields: &Report,
        curve: Vec<(f64, f64)>,
        chosen: (f64, f64),
        out: &mut impl Write,
    ) -> Result<(), Failure> {
        let curve =
            Chart { title: sentence.to_owned(), ..Chart::curve(curve, chosen, ("ε", "error")) };
        if let Some(path) = &self.plot {
            files::write_text(path, &curve.svg())?;
        }
        if self.json {
            return Ok(fields.print(true, out)?);
        }
        writeln!(out, "{}\n", wrapped(sentence, 80, "")).map_err(Failure::writing)?;
        fields.print(false, out)?;
        if !self.no_plot {
            let curve = Chart { title: String::new(), ..curve };
            write!(out, "\n{}", curve.text()).map_err(Failure::writing)?;
        }
        Ok(())
    }
}

impl NoiseOptions {
    fn neighbours(&self) -> Neighbours {
        self.neighbours.into()
    }

    /// Finds the third quantity and prints it.
    fn run(&self, statistic: &Statistic, out: &mut impl Write) -> Result<(), Failure> {
        let (confidence, beta) = (self.show.confidence, self.show.confidence.beta()?);
        let epsilon = self.epsilon.map(Epsilon::new).transpose()?;
        let required = solve::Requirements { error: self.error, n: self.n, epsilon };
        let found = required.solve(statistic, beta)?;
        let (n, epsilon, error) = (found.n, found.epsilon.get(), found.error);
        let report = Report::default()
            .described("n", n, n.map_or("any number of people".to_owned(), |n| grouped(n as f64)))
            .field("epsilon", epsilon)
            .described("error", error, format!("± {}", grouped(error)));
        let report = match n.map(|n| statistic.share(error, n)) {
            Some((share, of)) => {
                report.described("share", share, format!("{} % of {of}", short(100.0 * share)))
            }
            None => report,
        };
        let report = report
            .field("confidence", confidence.get())
            .field("neighbours", self.neighbours().to_string())
            .field("method", statistic.method.as_str());
        let sentence = found.sentence(statistic, &confidence.percent());
        self.show.print(&sentence, &report, found.curve(statistic, beta), (epsilon, error), out)
    }
}
