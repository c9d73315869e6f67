//! `demure mechanism response`: one person's own answer, and estimates from many.

use super::output::{Output, five_percent, promised};
use crate::Failure;
use crate::input::{Confidence, Relation, Words, number, whole};
use clap::ValueEnum;
use demure_core::mechanism::{ErrorBound, Response, Target};
use demure_core::random::SystemRandom;
use demure_core::unit::{Epsilon, Neighbours};
use demure_report::{Report, short};
use std::io::Write;

/// Randomized response: one person's own answer, and estimates from many.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  demure mechanism response --alpha 0.5 --value yes
  demure mechanism response --epsilon 1 --categories red,green,blue --value red
  demure mechanism response --alpha 0.5 --estimate --yes 9 --n 18")]
pub(crate) struct Args {
    #[command(flatten)]
    chance: Chance,

    /// What may be answered; yes or no unless given
    #[arg(long, value_name = "A,B,…", conflicts_with_all = ["alpha", "gamma"])]
    categories: Option<Words>,

    /// The person's true answer: yes or no (1 or 0), or one of the categories
    #[arg(long, required_unless_present_any = ["explain", "estimate"])]
    value: Option<String>,

    /// Estimate how many of all truly say yes, from the answers
    #[arg(long, requires = "yes", requires = "n", conflicts_with_all = ["value", "explain", "repeat"])]
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
    #[arg(long, value_enum, default_value = "population", requires = "estimate")]
    target: Whose,

    /// Only `replace`: that someone answered is seen by all
    #[arg(long, value_enum, default_value = "replace")]
    neighbours: Relation,

    #[command(flatten)]
    output: Output,
}

#[derive(Clone, Copy, PartialEq, ValueEnum)]
enum Whose {
    /// Of a population that the answers are a random sample of
    Population,
    /// Of those who answered
    Respondents,
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
    /// Whether any of them was given.
    pub(crate) fn given(&self) -> bool {
        self.alpha.or(self.gamma).or(self.epsilon).or(self.truth).is_some()
    }

    /// The mechanism that they describe.
    pub(crate) fn response(&self, categories: u32) -> Result<Response, Failure> {
        let within = |name: &str, x: f64, most: f64| {
            if x > 0.0 && x < most {
                return Ok(x);
            }
            Err(Failure::usage(format!("{name} must be a number strictly between 0 and {most}")))
        };
        if categories != 2 && self.alpha.or(self.gamma).is_some() {
            return Err(Failure::usage(
                "alpha and gamma must be for yes or no; with other categories give --epsilon or \
                 --truth",
            ));
        }
        Ok(match self {
            Self { alpha: Some(alpha), .. } => Response::alpha(within("alpha", *alpha, 1.0)?)?,
            Self { gamma: Some(gamma), .. } => Response::gamma(within("gamma", *gamma, 0.5)?)?,
            Self { epsilon: Some(epsilon), .. } => {
                Response::with_epsilon(categories, Epsilon::new(*epsilon)?)?
            }
            Self { truth: Some(truth), .. } => {
                if !(*truth * f64::from(categories) > 1.0 && *truth < 1.0) {
                    let text = "truth must be a number strictly between 1/categories and 1";
                    return Err(Failure::usage(text));
                }
                Response::truthful(categories, *truth)?
            }
            _ => return Err(Failure::usage("give one of --alpha, --gamma, --epsilon and --truth")),
        })
    }
}

pub(crate) fn run(args: &Args, out: &mut impl Write) -> Result<(), Failure> {
    if args.neighbours != Relation::Replace {
        return Err(Failure::usage(
            "neighbours must be replace for randomized response: that someone answered is seen, \
             so nothing is promised under add-remove",
        ));
    }
    let names: Vec<&str> = match &args.categories {
        Some(words) => words.0.iter().map(String::as_str).collect(),
        None => vec!["no", "yes"],
    };
    let categories = u32::try_from(names.len())
        .map_err(|_| Failure::usage("categories must be fewer than 2^32"))?;
    let response = args.chance.response(categories)?;
    let mechanism = describe(&response);
    if let (true, Some(yes), Some(n)) = (args.estimate, args.yes, args.n) {
        let estimate = estimate(args, &response, yes, n)?;
        let report =
            promised(estimate.append(mechanism), response.guarantee(), Neighbours::Replace);
        return Ok(report.print(args.output.json, out)?);
    }
    let report = promised(mechanism, response.guarantee(), Neighbours::Replace);
    let report = error(report, &response, args.n)?;
    let category = match &args.value {
        Some(value) => chosen(value, &names, args.categories.is_none())?,
        None => 0,
    };
    let draw =
        |rng: &mut SystemRandom| Ok(names[response.respond(category, rng)?.into_value() as usize]);
    args.output.finish(&report, draw, out)
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

fn describe(response: &Response) -> Report {
    let report = Report::default()
        .field("mechanism", "randomized response")
        .field("categories", response.categories())
        .described("sensitivity", 1, "1 answer, whatever it was and becomes")
        .described("truth", response.p(), format!("told with probability {}", short(response.p())));
    let report = if response.categories() == 2 {
        report.field("alpha", response.gap()).field("gamma", 0.5 * response.gap())
    } else {
        report
    };
    // The noise of one answer, where it is largest: at a share of 0 or 1.
    let noise = |share| response.variance(share, 1, Target::Respondents);
    let scale = noise(0.0).max(noise(1.0)).sqrt();
    let text = format!("{} (standard deviation of one answer's noise)", short(scale));
    report.described("scale", scale, text)
}

/// The error of an estimate from n answers, or the factor in front of 1/√n.
fn error(report: Report, response: &Response, n: Option<u64>) -> Result<Report, Failure> {
    let error = response.error(n.unwrap_or(1), ErrorBound::Hoeffding, five_percent()?)?;
    let text = match n {
        Some(n) => format!(
            "± {} on a share estimated from {n} answers, with 95 % confidence",
            short(error)
        ),
        None => format!(
            "± {}/√n on a share estimated from n answers, with 95 % confidence",
            short(error)
        ),
    };
    Ok(report.hidden("n", n.unwrap_or(1)).described("error_95", error, text))
}

fn estimate(args: &Args, response: &Response, yes: u64, n: u64) -> Result<Report, Failure> {
    let beta = args.confidence.beta()?;
    let target = match args.target {
        Whose::Population => Target::Population,
        Whose::Respondents => Target::Respondents,
    };
    if yes > n {
        return Err(Failure::usage("yes must be a whole number from 0 to n"));
    }
    let estimate = response.estimate(yes, n)?;
    let variance = response.variance(estimate.clamp(0.0, 1.0), n, target);
    let (low, high) = response.normal_interval(yes, n, target, beta)?;
    // The exact interval is for the population; the normal one serves both.
    let ((low, high), method) = match target {
        Target::Population => (response.exact_interval(yes, n, beta)?, "Clopper–Pearson, exact"),
        Target::Respondents => ((low, high), "normal approximation"),
    };
    let percent = args.confidence.percent();
    let interval =
        format!("{} to {} with {percent} confidence ({method})", short(low), short(high));
    Ok(Report::default()
        .field("estimate", estimate)
        .field("standard_error", variance.sqrt())
        .described("interval", vec![low, high], interval)
        .hidden("interval_method", method)
        .hidden("confidence", args.confidence.get())
        .hidden("n", n))
}
