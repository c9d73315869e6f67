//! `demure mechanism response`: one person's own answer, and estimates from many.

use super::output::Output;
use crate::Failure;
use crate::input::{Confidence, Relation, Words, choice, number, whole};
use demure_core::mechanism::{Response, Target};
use demure_core::random::SystemRandom;
use demure_core::unit::Neighbours;
use demure_plan::explain::promised;
use demure_plan::response::{self, TARGETS, describe, estimate, explain};
use demure_report::{Report, short};
use std::io::Write;

/// Randomized response: one person's own answer, and estimates from many.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  demure mechanism response --alpha 0.5 --value yes
  demure mechanism response --epsilon 1 --categories red,green,blue --value red
  demure mechanism response --alpha 0.5 --estimate --yes 9 --n 18")]
pub(super) struct Args {
    #[command(flatten)]
    chance: Chance,

    /// What may be answered; yes or no unless given
    #[arg(long, value_name = "A,B,…", conflicts_with_all = ["alpha", "gamma"])]
    categories: Option<Words>,

    /// The person's true answer: yes or no (1 or 0), or one of the categories
    #[arg(long, required_unless_present_any = ["explain", "estimate"])]
    value: Option<String>,

    /// Estimate how many of all truly say yes, from the answers
    #[arg(long, requires = "yes", requires = "n", conflicts_with_all = ["value", "explain", "repeat", "policy"])]
    estimate: bool,

    /// How many answers were yes (or the category in question)
    #[arg(long, value_parser = whole, allow_hyphen_values = true, requires = "estimate")]
    yes: Option<u64>,

    /// How many answers there were
    #[arg(long, value_parser = whole, allow_hyphen_values = true)]
    n: Option<u64>,

    /// How sure the interval is to hold the truth
    #[arg(long, default_value = "0.95", requires = "estimate", allow_hyphen_values = true)]
    confidence: Confidence,

    /// Whose share is estimated
    #[arg(long, value_parser = choice(TARGETS), default_value = "population", requires = "estimate")]
    target: Target,

    /// Only `replace`: that someone answered is seen by all
    #[arg(long, value_enum, default_value = "replace")]
    neighbours: Relation,

    #[command(flatten)]
    output: Output,
}

/// How often the truth is told: one of these.
#[derive(clap::Args)]
#[group(multiple = false)]
pub(crate) struct Chance {
    /// The truth with this probability, else a fair coin
    #[arg(long, value_parser = number, allow_hyphen_values = true)]
    alpha: Option<f64>,

    /// The truth with this probability above one half
    #[arg(long, value_parser = number, allow_hyphen_values = true)]
    gamma: Option<f64>,

    /// The privacy loss
    #[arg(long, value_parser = number, allow_hyphen_values = true)]
    epsilon: Option<f64>,

    /// The truth with this probability, else any other answer
    #[arg(long, value_parser = number, allow_hyphen_values = true)]
    truth: Option<f64>,
}

impl Chance {
    /// Which of them was given.
    pub(crate) fn given(&self) -> Option<response::Chance> {
        (self.alpha.map(response::Chance::Alpha))
            .or(self.gamma.map(response::Chance::Gamma))
            .or(self.epsilon.map(response::Chance::Epsilon))
            .or(self.truth.map(response::Chance::Truth))
    }
}

impl Args {
    pub(super) fn run(&self, out: &mut impl Write) -> Result<(), Failure> {
        if self.neighbours != Relation::Replace {
            return Err(Failure::usage(
                "neighbours must be replace for randomized response: that someone answered is seen, \
                 so nothing is promised under add-remove",
            ));
        }
        let names: Vec<&str> = match &self.categories {
            Some(words) => words.0.iter().map(String::as_str).collect(),
            None => vec!["no", "yes"],
        };
        let categories = u32::try_from(names.len())
            .map_err(|_| Failure::usage("categories must be fewer than 2^32"))?;
        let chance = self
            .chance
            .given()
            .ok_or_else(|| Failure::usage("give one of --alpha, --gamma, --epsilon and --truth"))?;
        let response = chance.response(categories)?;
        if let (true, Some(yes), Some(n)) = (self.estimate, self.yes, self.n) {
            let report = self.estimated(&response, yes, n)?.append(describe(&response));
            let report = promised(report, response.guarantee(), Neighbours::Replace);
            return Ok(report.print(self.output.json, out)?);
        }
        let report = explain(&response, self.n)?;
        let category = match &self.value {
            Some(value) => chosen(value, &names, self.categories.is_none())?,
            None => 0,
        };
        let paid = self.output.pay("response", response.guarantee(), Neighbours::Replace)?;
        let draw = |rng: &mut SystemRandom| {
            Ok(names[response.respond(category, rng)?.into_value() as usize])
        };
        self.output.finish(paid, report, draw, out)
    }

    fn estimated(&self, response: &Response, yes: u64, n: u64) -> Result<Report, Failure> {
        let found = estimate(response, yes, n, self.target, self.confidence.beta()?)?;
        let ((low, high), percent) = (found.interval, self.confidence.percent());
        let interval = format!(
            "{} to {} with {percent} confidence ({})",
            short(low),
            short(high),
            found.method
        );
        Ok(Report::default()
            .field("estimate", found.share)
            .field("standard_error", found.standard_error)
            .described("interval", vec![low, high], interval)
            .hidden("interval_method", found.method)
            .hidden("confidence", self.confidence.get())
            .hidden("n", n))
    }
}

/// Which answer was typed; what it was is not repeated.
fn chosen(value: &str, names: &[&str], binary: bool) -> Result<u32, Failure> {
    let value = value.trim();
    let index = match value.to_ascii_lowercase().as_str() {
        "yes" | "y" | "true" | "1" if binary => Some(1),
        "no" | "n" | "false" | "0" if binary => Some(0),
        _ => names.iter().position(|name| *name == value),
    };
    index.and_then(|index| u32::try_from(index).ok()).ok_or_else(|| {
        Failure::usage(if binary {
            "value must be yes or no (or 1 or 0)"
        } else {
            "value must be one of the --categories"
        })
    })
}
