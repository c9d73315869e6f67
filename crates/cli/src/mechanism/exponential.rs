//! `demure mechanism exponential`: the best of several candidates.

use super::output::{Common, monotone};
use crate::Failure;
use crate::input::{Pairs, choice, number};
use demure_core::random::SystemRandom;
use demure_plan::candidates::{Candidates, Method};
use demure_report::{Report, named, plain};
use std::io::Write;

/// The best of several candidates, by name and score.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  demure mechanism exponential --scores Flu=28,HIV=5 --epsilon 0.1
  demure mechanism exponential --epsilon 0.1 --probabilities --json \\
      --scores Diabetes=24,Hepatitis=8,Flu=28,HIV=5
  demure mechanism exponential --scores yes=60,no=40 --epsilon 0.5 \\
      --method permute-and-flip")]
pub(super) struct Args {
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
    #[arg(long, value_parser = choice(Method::ALL), default_value = "exponential")]
    method: Method,

    /// One unit moves all scores in the same direction, as counts do under add-remove:
    /// half the noise
    #[arg(long)]
    monotone: bool,

    /// Print every candidate's probability instead of drawing (it shows the scores: not for release)
    #[arg(long, conflicts_with = "policy")]
    probabilities: bool,

    #[command(flatten)]
    common: Common,
}

impl Args {
    pub(super) fn run(&self, out: &mut impl Write) -> Result<(), Failure> {
        let (output, neighbours) = (&self.common.output, self.common.neighbours());
        let change = monotone(self.monotone, neighbours)?;
        let (names, scores): (Vec<&str>, Vec<f64>) =
            self.scores.0.iter().map(|(name, score)| (name.as_str(), *score)).unzip();
        let all = Candidates::new(self.method, scores, change, self.sensitivity, neighbours)?;
        if !self.probabilities {
            let chooser = all.chooser(self.epsilon)?;
            let paid = self.common.pay("exponential", chooser.guarantee())?;
            let draw = |rng: &mut SystemRandom| Ok(names[chooser.select(rng)?]);
            return output.finish(paid, chooser.explain()?, draw, out);
        }
        let (table, explanation) = all.probabilities(self.epsilon)?;
        let table = named(names.into_iter().zip(table));
        if output.json || output.explain {
            let report = Report::default().field("probabilities", table).append(explanation);
            return Ok(report.print(output.json, out)?);
        }
        writeln!(out, "{}", plain(&table)).map_err(Failure::writing)?;
        out.flush().map_err(Failure::writing)?;
        note!("note: these probabilities give the scores away; they are not for release");
        Ok(())
    }
}
