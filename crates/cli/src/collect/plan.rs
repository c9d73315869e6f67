//! `demure collect plan`: of ε (or γ, or α), the people and the error, two give the third.

use super::Stated;
use crate::Failure;
use crate::input::{Confidence, number, positive, whole};
use demure_collect::plan::{METHODS, Method, Point};
use demure_collect::planning::{Question, Solved, Sought};
use demure_collect::survey::{Privacy, Survey};
use demure_files as files;
use demure_report::chart::Chart;
use demure_report::{Report, grouped, named, short};
use serde_json::Value;
use std::io::Write;
use std::path::PathBuf;

/// How many people, how much ε, how large an error: any two give the third
///
/// The error is that of an estimated share. Hoeffding's inequality holds always and for every share, Chernoff's is
/// tighter, exact is the binomial distribution itself, and normal is the usual approximation.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  demure collect plan --values 2 --gamma 0.25 --error 0.01
  demure collect plan --alpha 0.5 --n 10000 --method exact
  demure collect plan --values 100 --n 50000 --error 2%
  demure collect plan --values 16 --epsilon 1 --error 0.02 --together --plot plan.svg
  demure collect plan --survey exam.toml --n 18")]
pub(super) struct Args {
    #[command(flatten)]
    privacy: Stated,
    /// How many people answer
    #[arg(long, value_parser = whole, allow_hyphen_values = true)]
    n: Option<u64>,
    /// The error of an estimated share: 0.01, or 1%
    #[arg(long, value_parser = share, allow_hyphen_values = true)]
    error: Option<f64>,
    /// How sure the error is to hold
    #[arg(long, default_value = "0.95", allow_hyphen_values = true)]
    confidence: Confidence,
    /// How many values there are to choose from; 2 unless a survey says otherwise
    #[arg(long, value_name = "K", value_parser = positive, allow_hyphen_values = true)]
    values: Option<u32>,
    /// Take values, mechanism and privacy from this survey, where they are not given
    #[arg(long, value_name = "SURVEY")]
    survey: Option<PathBuf>,
    /// How answers are randomized; the best at each ε unless given
    #[arg(long)]
    mechanism: Option<String>,
    /// The errors of all values together, not of one
    #[arg(long)]
    together: bool,
    /// The share that is expected; the worst unless given
    #[arg(long, value_name = "SHARE", value_parser = number, allow_hyphen_values = true)]
    frequency: Option<f64>,
    /// How the error is bounded
    #[arg(long, default_value = "hoeffding", value_parser = METHODS.map(Method::name))]
    method: String,
    /// Draw the error by all methods into FILE (SVG)
    #[arg(long, value_name = "FILE")]
    plot: Option<PathBuf>,
    /// Draw no plot in the terminal
    #[arg(long)]
    no_plot: bool,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

fn share(text: &str) -> Result<f64, &'static str> {
    let allowed = "must be a share strictly between 0 and 1, e.g. 0.01 or 1%";
    let x = match text.trim().strip_suffix('%') {
        Some(percent) => number(percent).map(|x| x / 100.0),
        None => number(text),
    };
    x.ok().filter(|x| *x > 0.0 && *x < 1.0).ok_or(allowed)
}

pub(super) fn run(args: &Args, out: &mut impl Write) -> Result<(), Failure> {
    let question = Question {
        survey: args.survey.as_deref().map(Survey::read).transpose()?,
        privacy: args.privacy.privacy(),
        people: args.n,
        error: args.error,
        values: args.values,
        mechanism: args.mechanism.clone(),
        beta: args.confidence.beta()?,
        together: args.together,
        frequency: args.frequency,
        // The value was parsed.
        method: METHODS.into_iter().find(|it| it.name() == args.method).unwrap_or(METHODS[0]),
    };
    let solved = question.solve()?;
    // The curve runs along what was not given.
    let found = &solved.plan;
    let (name, chosen) = match solved.sought {
        Sought::Epsilon => ("ε", found.epsilon),
        _ => ("people", found.people as f64),
    };
    let along =
        |p: &Point| if solved.sought == Sought::Epsilon { p.epsilon } else { p.people as f64 };
    let line = |method| solved.curve.iter().map(|p| (along(p), p.errors.by(method))).collect();
    let (chosen, axes) = ((chosen, found.error), (name, "error"));
    let sentence = sentence(args, &solved);
    if let Some(path) = &args.plot {
        let lines = METHODS.map(|method| (method.name(), line(method))).to_vec();
        let chart = Chart::curves(&sentence, lines, ("this plan", chosen), axes);
        files::write_text(path, &chart.svg())?;
    }
    let report = report(args, &solved);
    if args.json {
        return Ok(report.print(true, out)?);
    }
    writeln!(out, "{sentence}\n").map_err(Failure::writing)?;
    report.print(false, out)?;
    if args.no_plot {
        return Ok(());
    }
    let curve = Chart::curve(line(question.method), chosen, axes);
    write!(out, "\n{}", curve.text()).map_err(Failure::writing)
}

fn report(args: &Args, solved: &Solved) -> Report {
    let (found, sought) = (&solved.plan, solved.sought);
    let by = named(solved.by_method.iter().map(|(method, plan)| {
        let value = plan.as_ref().map(|plan| match sought {
            Sought::People => Value::from(plan.people),
            sought => sought.of(plan).into(),
        });
        (method.name(), value.unwrap_or_default())
    }));
    let lines = solved.by_method.iter().map(|(method, plan)| {
        let number = plan.as_ref().map_or("out of reach".to_owned(), |p| grouped(sought.of(p)));
        format!("\n{:9}  {number}", method.name())
    });
    let lines = format!("{} by{}", sought.name(), lines.collect::<String>());
    let mut report = Report::default()
        .described("n", found.people, grouped(found.people as f64))
        .described("epsilon", found.epsilon, short(found.epsilon))
        .described("error", found.error, format!("± {}", short(found.error)))
        .field("confidence", args.confidence.get())
        .field("method", found.method.name())
        .field("mechanism", found.mechanism)
        .field("values", solved.aim.categories);
    if let Some(alpha) = found.alpha {
        // As it was stated, not as it comes back from ε.
        let alpha = match args.privacy.privacy() {
            Some(Privacy::Alpha(alpha)) => alpha,
            Some(Privacy::Gamma(gamma)) => 2.0 * gamma,
            _ => alpha,
        };
        let gamma = 0.5 * alpha;
        report =
            report.described("alpha", alpha, short(alpha)).described("gamma", gamma, short(gamma));
    }
    report.hidden("asked", sought.name()).described("methods", by, lines)
}

fn sentence(args: &Args, solved: &Solved) -> String {
    let (found, percent) = (&solved.plan, args.confidence.percent());
    let (n, epsilon) = (grouped(found.people as f64), short(found.epsilon));
    let what = if solved.aim.all { "all shares" } else { "a share" };
    let error = short(args.error.unwrap_or(found.error));
    match solved.sought {
        Sought::People => format!(
            "To estimate {what} within ± {error} with {percent} confidence at ε = {epsilon}, ask {n} people."
        ),
        Sought::Epsilon => format!(
            "To estimate {what} within ± {error} with {percent} confidence from {n} people, ε must be {epsilon}."
        ),
        Sought::Error => format!(
            "{n} people at ε = {epsilon} give {what} within ± {error} with {percent} confidence."
        ),
    }
}
