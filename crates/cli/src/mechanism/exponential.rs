//! `demure mechanism exponential`: the best of several candidates.

use super::output::{Common, five_percent, monotone, promised};
use crate::Failure;
use crate::input::{Pairs, number};
use clap::ValueEnum;
use demure_core::Error;
use demure_core::mechanism::{Change, Exponential, Guarantee, NoisyMax, PermuteAndFlip, Scores};
use demure_core::random::SystemRandom;
use demure_core::unit::{Epsilon, LInf, Sensitivity};
use demure_report::{Report, named, short};
use std::io::Write;

/// A table by permute-and-flip takes n³ steps.
const LARGEST_TABLE: usize = 1_000;

#[derive(Clone, Copy, PartialEq, ValueEnum)]
enum Method {
    /// With probability proportional to exp(ε·score/2Δ)
    Exponential,
    /// Never worse than `exponential`
    PermuteAndFlip,
    /// The largest score after Laplace noise; whole numbers only
    NoisyMax,
}

/// The best of several candidates, by name and score.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  demure mechanism exponential --scores Flu=28,HIV=5 --epsilon 0.1
  demure mechanism exponential --epsilon 0.1 --probabilities --json \\
      --scores Diabetes=24,Hepatitis=8,Flu=28,HIV=5
  demure mechanism exponential --scores yes=60,no=40 --epsilon 0.5 \\
      --method permute-and-flip")]
pub(crate) struct Args {
    /// The candidates (public) and their scores (protected), higher is better
    #[arg(long, value_name = "NAME=SCORE,…", allow_hyphen_values = true)]
    scores: Pairs<f64>,

    /// The privacy loss; 0 only with --probabilities
    #[arg(long, value_parser = number, allow_hyphen_values = true)]
    epsilon: f64,

    /// How much one unit can change any one score
    #[arg(long, value_parser = number, allow_hyphen_values = true, default_value = "1")]
    sensitivity: f64,

    /// How the candidate is chosen
    #[arg(long, value_enum, default_value = "exponential")]
    method: Method,

    /// One unit moves all scores in the same direction, as counts do under add-remove:
    /// half the noise
    #[arg(long)]
    monotone: bool,

    /// Print every candidate's probability instead of drawing (it shows the scores: not for release)
    #[arg(long)]
    probabilities: bool,

    #[command(flatten)]
    common: Common,
}

pub(crate) fn run(args: &Args, out: &mut impl Write) -> Result<(), Failure> {
    let change = monotone(args.monotone, args.common.neighbours())?;
    let values: Vec<f64> = args.scores.0.iter().map(|(_, score)| *score).collect();
    let names = || args.scores.0.iter().map(|(name, _)| name.as_str());
    let scores = scores(values.clone(), change)?;
    if args.probabilities {
        let (table, report) = probabilities(args, &scores)?;
        return table_out(args, named(names().zip(table)), report, out);
    }
    let chooser = Chooser::new(args, change, &values)?;
    let report = explain(args, &chooser, scores.len(), change)?;
    let names: Vec<&str> = names().collect();
    let draw = |rng: &mut SystemRandom| Ok(names[chooser.select(&scores, rng)?]);
    args.common.output.finish(&report, draw, out)
}

fn scores<T: demure_core::mechanism::Score>(
    values: Vec<T>,
    change: Change,
) -> Result<Scores<T>, Error> {
    match change {
        Change::General => Scores::general(values),
        Change::Monotone => Scores::monotone(values),
    }
}

/// The table, and what it is of. ε = 0 is its limit: no promise is made by drawing there.
fn probabilities(args: &Args, scores: &Scores<f64>) -> Result<(Vec<f64>, Report), Failure> {
    if args.method == Method::NoisyMax {
        return Err(Failure::usage(
            "--probabilities has no table for --method noisy-max; use exponential or \
             permute-and-flip",
        ));
    }
    let sensitivity = Sensitivity::<LInf>::new(args.sensitivity)?;
    if args.epsilon == 0.0 {
        let report = Report::default()
            .field("mechanism", args.method.name())
            .field("candidates", scores.len())
            .hidden("monotone", scores.change() == Change::Monotone)
            .field("sensitivity", sensitivity.get())
            .field("epsilon", 0.0)
            .hidden("delta", 0.0)
            .field("neighbours", args.common.neighbours().to_string())
            .field("guarantee", "0-DP: scores do not matter");
        return Ok((Exponential::uniform(scores), report));
    }
    let chooser = Chooser::new(args, scores.change(), &[])?;
    let report = explain(args, &chooser, scores.len(), scores.change())?;
    let table = match &chooser {
        Chooser::Exponential(mechanism) => mechanism.probabilities(scores)?,
        Chooser::PermuteAndFlip(mechanism) if scores.len() <= LARGEST_TABLE => {
            mechanism.probabilities(scores)
        }
        _ => {
            return Err(Failure::usage(format!(
                "scores must be at most {LARGEST_TABLE} for a table of permute-and-flip"
            )));
        }
    };
    Ok((table, report))
}

fn table_out(
    args: &Args,
    table: serde_json::Value,
    explanation: Report,
    out: &mut impl Write,
) -> Result<(), Failure> {
    let output = &args.common.output;
    if output.json || output.explain {
        let report = Report::default().field("probabilities", table).append(explanation);
        return Ok(report.print(output.json, out)?);
    }
    writeln!(out, "{}", demure_report::plain(&table)).map_err(Failure::writing)?;
    out.flush().map_err(Failure::writing)?;
    eprintln!("note: these probabilities give the scores away; they are not for release");
    Ok(())
}

fn explain(
    args: &Args,
    chooser: &Chooser,
    candidates: usize,
    change: Change,
) -> Result<Report, Failure> {
    let scores = match change {
        Change::General => "any change of up to the sensitivity",
        Change::Monotone => "monotone: all change in one direction",
    };
    let report = Report::default()
        .field("mechanism", args.method.name())
        .field("candidates", candidates)
        .hidden("monotone", change == Change::Monotone)
        .field("sensitivity", args.sensitivity)
        .described("scale", chooser.scale(change), {
            let scale = short(chooser.scale(change));
            format!("{scale} ({scores})")
        });
    let report = promised(report, chooser.guarantee(), args.common.neighbours());
    let error = chooser.error(candidates, change)?;
    let text = format!(
        "the score of the choice is at most {} below the best with 95 % confidence",
        short(error)
    );
    Ok(report.described("error_95", error, text))
}

impl Method {
    fn name(self) -> &'static str {
        match self {
            Self::Exponential => "exponential",
            Self::PermuteAndFlip => "permute-and-flip",
            Self::NoisyMax => "report noisy max (discrete Laplace)",
        }
    }
}

/// A calibrated method.
enum Chooser {
    Exponential(Exponential),
    PermuteAndFlip(PermuteAndFlip),
    NoisyMax(NoisyMax, Scores<i64>),
}

impl Chooser {
    fn new(args: &Args, change: Change, values: &[f64]) -> Result<Self, Failure> {
        let epsilon = Epsilon::new(args.epsilon)?;
        let sensitivity = Sensitivity::<LInf>::new(args.sensitivity)?;
        Ok(match args.method {
            Method::Exponential => Self::Exponential(Exponential::new(epsilon, sensitivity)?),
            Method::PermuteAndFlip => {
                Self::PermuteAndFlip(PermuteAndFlip::new(epsilon, sensitivity)?)
            }
            Method::NoisyMax => {
                let whole = scores(whole(values)?, change)?;
                Self::NoisyMax(NoisyMax::new(epsilon, sensitivity)?, whole)
            }
        })
    }

    fn scale(&self, change: Change) -> f64 {
        match self {
            Self::Exponential(mechanism) => mechanism.scale(change),
            Self::PermuteAndFlip(mechanism) => mechanism.scale(change),
            Self::NoisyMax(mechanism, _) => mechanism.scale(change),
        }
    }

    fn guarantee(&self) -> Guarantee {
        match self {
            Self::Exponential(mechanism) => mechanism.guarantee(),
            Self::PermuteAndFlip(mechanism) => mechanism.guarantee(),
            Self::NoisyMax(mechanism, _) => mechanism.guarantee(),
        }
    }

    fn error(&self, candidates: usize, change: Change) -> Result<f64, Failure> {
        let beta = five_percent()?;
        Ok(match self {
            Self::Exponential(mechanism) => mechanism.error(candidates, change, beta)?,
            Self::PermuteAndFlip(mechanism) => mechanism.error(candidates, change, beta)?,
            Self::NoisyMax(mechanism, _) => mechanism.error(candidates, change, beta)?,
        })
    }

    fn select(&self, scores: &Scores<f64>, rng: &mut SystemRandom) -> Result<usize, Failure> {
        Ok(match self {
            Self::Exponential(mechanism) => mechanism.select(scores, rng)?.into_value(),
            Self::PermuteAndFlip(mechanism) => mechanism.select(scores, rng)?.into_value(),
            Self::NoisyMax(mechanism, whole) => mechanism.select(whole, rng)?.into_value(),
        })
    }
}

/// Scores that floats hold exactly as integers.
fn whole(values: &[f64]) -> Result<Vec<i64>, Failure> {
    let exact = |x: f64| x.fract() == 0.0 && x.abs() <= 9_007_199_254_740_992.0;
    if values.iter().all(|&x| exact(x)) {
        Ok(values.iter().map(|&x| x as i64).collect())
    } else {
        Err(Failure::usage(
            "scores must be whole numbers of at most 2^53 in size with --method noisy-max",
        ))
    }
}
