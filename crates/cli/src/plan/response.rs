//! `demure plan response`: a share estimated by randomized response.

use super::Show;
use crate::Failure;
use crate::input::{positive, whole};
use crate::mechanism::Chance;
use demure_core::mechanism::{ErrorBound, Target};
use demure_plan::response::{Question, ResponseSolution, yes_or_no};
use demure_plan::solve::{ErrorTarget, short_up};
use demure_report::{Report, grouped, plain, short};
use std::io::Write;

/// A share estimated by randomized response
///
/// Two of privacy, n and error give the third, by Hoeffding's inequality (which holds always) and
/// by the normal approximation.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  demure plan response --gamma 0.25 --error 0.01 --confidence 0.95
  demure plan response --alpha 0.5 --n 10000
  demure plan response --n 50000 --error 1%")]
pub(crate) struct Args {
    #[command(flatten)]
    chance: Chance,

    /// The error of the estimated share: 0.01, or 1%
    #[arg(long, allow_hyphen_values = true)]
    error: Option<ErrorTarget>,

    /// How many people answer
    #[arg(long, value_parser = whole, allow_hyphen_values = true)]
    n: Option<u64>,

    /// How many answers there are to choose from
    #[arg(long, value_name = "K", value_parser = positive, default_value = "2", allow_hyphen_values = true)]
    categories: u32,

    #[command(flatten)]
    show: Show,
}

const NORMAL: ErrorBound = ErrorBound::Normal(Target::Population);

pub(crate) fn run(args: &Args, out: &mut impl Write) -> Result<(), Failure> {
    let (confidence, beta) = (args.show.confidence, args.show.confidence.beta()?);
    let question = Question {
        chance: args.chance.given(),
        n: args.n,
        error: args.error.map(|(ErrorTarget::Absolute(error) | ErrorTarget::Share(error))| error),
        categories: args.categories,
    };
    let sure = question.solve(ErrorBound::Hoeffding, beta)?;
    let normal = question.solve(NORMAL, beta)?;
    let report = Report::default()
        .described("n", sure.n, people(sure.n, normal.n))
        .hidden("n_normal", normal.n)
        .described("epsilon", sure.epsilon, both(sure.epsilon, normal.epsilon))
        .hidden("epsilon_normal", normal.epsilon)
        .described("error", sure.error, format!("± {}", both(sure.error, normal.error)))
        .hidden("error_normal", normal.error)
        .field("confidence", confidence.get())
        .field("truth", sure.response.p());
    let report = yes_or_no(report, &sure.response).field("neighbours", "replace").described(
        "method",
        "Hoeffding",
        "Hoeffding's inequality (in brackets: normal approximation)",
    );
    let sentence = sentence(args, &sure, &normal);
    args.show.print(&sentence, &report, sure.curve(beta), (sure.epsilon, sure.error), out)
}

/// What Hoeffding's inequality says, and what the normal approximation does if it differs.
fn both(sure: f64, normal: f64) -> String {
    if sure == normal {
        return plain(&sure.into());
    }
    format!("{} (normal: {})", grouped(sure), grouped(normal))
}

/// The same of whole numbers.
fn people(sure: u64, normal: u64) -> String {
    let (sure, normal) = (grouped(sure as f64), grouped(normal as f64));
    if sure == normal { sure } else { format!("{sure} (normal: {normal})") }
}

fn sentence(args: &Args, sure: &ResponseSolution, normal: &ResponseSolution) -> String {
    let percent = args.show.confidence.percent();
    let (n, fewer) = (grouped(sure.n as f64), grouped(normal.n as f64));
    let epsilon = short_up(sure.epsilon);
    let wanted = args.error.map(|wanted| match wanted {
        ErrorTarget::Absolute(error) => short(error),
        ErrorTarget::Share(share) => format!("{} %", short(100.0 * share)),
    });
    match (&wanted, args.n) {
        (Some(error), None) => format!(
            "To estimate a share within ± {error} with {percent} confidence by randomized response \
             at ε = {epsilon}, ask at least {n} people; by the normal approximation {fewer} would do."
        ),
        (Some(error), Some(_)) => format!(
            "To estimate a share within ± {error} with {percent} confidence from {n} people, \
             randomized response needs ε of at least {epsilon}; by the normal approximation {} \
             would do.",
            short_up(normal.epsilon)
        ),
        _ => format!(
            "With {n} people at ε = {epsilon}, randomized response estimates a share within ± {} \
             with {percent} confidence; by the normal approximation within ± {}.",
            short_up(sure.error),
            short_up(normal.error)
        ),
    }
}
