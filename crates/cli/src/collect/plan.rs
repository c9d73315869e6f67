//! `demure collect plan`: of ε (or γ, or α), the people and the error, two give the third.

use super::{Stated, read};
use crate::Failure;
use crate::input::{Confidence, number, positive, whole};
use clap::ValueEnum;
use demure_collect::plan::{
    Aim, METHODS, Method, Plan, Point, curve_of_epsilon, curve_of_people, plan,
};
use demure_collect::randomizer::Mechanism;
use demure_collect::survey::Privacy;
use demure_core::unit::Epsilon;
use demure_files as files;
use demure_report::chart::{Axis, Chart, Series};
use demure_report::{Report, grouped, named, short};
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
    #[arg(long, value_enum, default_value = "hoeffding")]
    method: By,

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

#[derive(Clone, Copy, ValueEnum)]
enum By {
    /// Hoeffding's inequality
    Hoeffding,
    /// Chernoff's inequality
    Chernoff,
    /// The binomial distribution
    Exact,
    /// The normal approximation
    Normal,
}

impl From<By> for Method {
    fn from(by: By) -> Self {
        match by {
            By::Hoeffding => Self::Hoeffding,
            By::Chernoff => Self::Chernoff,
            By::Exact => Self::Exact,
            By::Normal => Self::Normal,
        }
    }
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
    let (aim, epsilon) = asked(args)?;
    if args.n == Some(0) {
        return Err(Failure::usage("n must be a whole number of at least 1"));
    }
    if [epsilon.is_some(), args.n.is_some(), args.error.is_some()].iter().filter(|x| **x).count()
        != 2
    {
        return Err(Failure::usage(
            "give two of privacy (--gamma, --alpha or --epsilon), --n and --error\n\
             hint: the one left out is the answer",
        ));
    }
    let method = Method::from(args.method);
    let found = plan(&aim, epsilon, args.n, args.error, method)?;
    // What the other methods make of the same two.
    let mut others = Vec::new();
    for other in METHODS {
        let same = if other == method {
            Ok(found.clone())
        } else {
            plan(&aim, epsilon, args.n, args.error, other)
        };
        // Some may not reach what is asked for: then they have no number.
        others.push((word(other), same.ok()));
    }
    let points = curve(&aim, &found, epsilon)?;
    // The curve runs along what was not given.
    type Along = fn(&Point) -> f64;
    let (name, along, chosen): (_, Along, _) = match epsilon {
        Some(_) => ("people", |p| p.people as f64, (found.people as f64, found.error)),
        None => ("ε", |p| p.epsilon, (found.epsilon, found.error)),
    };
    let sentence = sentence(args, &aim, &found);
    if let Some(path) = &args.plot {
        let line = |method| points.iter().map(|p| (along(p), error_by(method, p))).collect();
        let svg = all_methods(&sentence, name, chosen, METHODS.map(|m| (word(m), line(m)))).svg();
        files::write_text(path, &svg)?;
    }
    let report = report(args, &aim, &found, epsilon.is_some(), &others);
    if args.json {
        return Ok(report.print(true, out)?);
    }
    writeln!(out, "{sentence}\n").map_err(Failure::writing)?;
    report.print(false, out)?;
    if args.no_plot {
        return Ok(());
    }
    let line = points.iter().map(|p| (along(p), error_by(method, p))).collect();
    let curve = Chart::curve(line, chosen, (name, "error"));
    write!(out, "\n{}", curve.text()).map_err(Failure::writing)
}

fn error_by(method: Method, point: &Point) -> f64 {
    match method {
        Method::Hoeffding => point.errors.hoeffding,
        Method::Chernoff => point.errors.chernoff,
        Method::Exact => point.errors.exact,
        Method::Normal => point.errors.normal,
    }
}

/// The error by all methods, on logarithmic axes, with the plan marked.
fn all_methods<const N: usize>(
    title: &str,
    along: &str,
    chosen: (f64, f64),
    lines: [(&'static str, Vec<(f64, f64)>); N],
) -> Chart {
    let all = || lines.iter().flat_map(|(_, points)| points).chain([&chosen]);
    let (x, y) = (all().map(|p| p.0), all().map(|p| p.1));
    let (x, y) = (Axis::around(along, x), Axis::around("error", y));
    let mut series: Vec<Series> =
        lines.into_iter().map(|(name, points)| Series::line(name, '*', points)).collect();
    series.push(Series::chosen("this plan", chosen));
    Chart { title: title.to_owned(), x, y, series, ..Chart::default() }
}

/// What is planned for, and at which ε, if that is known.
fn asked(args: &Args) -> Result<(Aim, Option<Epsilon>), Failure> {
    let survey = args.survey.as_deref().map(read).transpose()?;
    let part = survey.as_ref().map(|survey| &survey.parts()[0]);
    let categories = match (args.values, part) {
        (Some(k), _) => k,
        (None, Some(part)) => part.randomizer.categories().ok_or_else(|| {
            Failure::usage(
                "a plan is for surveys that ask for one of several values\n\
                 hint: for a number, `demure collect simulate` shows the error",
            )
        })?,
        (None, None) => 2,
    };
    if categories < 2 {
        return Err(Failure::usage("values must be a whole number of at least 2"));
    }
    let mechanism = match (&args.mechanism, part) {
        (Some(name), _) if name == "auto" => None,
        (Some(name), _) => Some(Mechanism::named(name).ok_or_else(|| {
            Failure::usage("mechanism must be auto or one of those in docs/collect.md")
        })?),
        // Remembered noise has two ε, which a plan does not tell apart: the best for one report.
        (None, part) => part.map(|p| p.mechanism).filter(|m| *m != Mechanism::Rappor),
    };
    let stated = args.privacy.privacy();
    if categories != 2 && matches!(stated, Some(Privacy::Gamma(_) | Privacy::Alpha(_))) {
        return Err(Failure::usage("gamma and alpha must be for two values\nhint: give --epsilon"));
    }
    let own = || match (args.n, args.error) {
        (Some(_), Some(_)) => None,
        _ => survey.as_ref().map(demure_collect::survey::Survey::epsilon),
    };
    let epsilon = match stated {
        Some(privacy) => Some(privacy.epsilon()?),
        None => own(),
    };
    let beta = args.confidence.beta()?;
    let frequency = args.frequency;
    Ok((Aim { categories, mechanism, beta, all: args.together, frequency }, epsilon))
}

/// The errors around the plan: along the people at its ε, or along ε for its people.
fn curve(aim: &Aim, found: &Plan, epsilon: Option<Epsilon>) -> Result<Vec<Point>, Failure> {
    const POINTS: u32 = 25;
    Ok(match epsilon {
        Some(epsilon) => {
            let from = (found.people / 10).max(1);
            curve_of_people(aim, epsilon, from, found.people.saturating_mul(10).max(10), POINTS)?
        }
        None => {
            let at = |x: f64| Epsilon::new(x.clamp(1e-6, 30.0));
            let (from, to) = (at(found.epsilon / 4.0)?, at(found.epsilon * 4.0)?);
            curve_of_epsilon(aim, found.people, from, to, POINTS)?
        }
    })
}

fn word(method: Method) -> &'static str {
    match method {
        Method::Hoeffding => "hoeffding",
        Method::Chernoff => "chernoff",
        Method::Exact => "exact",
        Method::Normal => "normal",
    }
}

fn report(
    args: &Args,
    aim: &Aim,
    found: &Plan,
    epsilon_given: bool,
    others: &[(&'static str, Option<Plan>)],
) -> Report {
    type Of = fn(&Plan) -> f64;
    // Which of the three was asked for: that is what the methods differ in.
    let (asked, of): (&'static str, Of) = match (epsilon_given, args.n) {
        (true, None) => ("n", |p| p.people as f64),
        (true, Some(_)) => ("error", |p| p.error),
        (false, _) => ("epsilon", |p| p.epsilon),
    };
    let by = named(others.iter().map(|(name, plan)| {
        let value = plan.as_ref().map(|plan| match asked {
            "n" => plan.people.into(),
            _ => serde_json::Value::from(of(plan)),
        });
        (*name, value.unwrap_or_default())
    }));
    let lines: Vec<String> = others
        .iter()
        .map(|(name, plan)| {
            let number = plan.as_ref().map_or("out of reach".to_owned(), |p| grouped(of(p)));
            format!("{name:9}  {number}")
        })
        .collect();
    let mut report = Report::default()
        .described("n", found.people, grouped(found.people as f64))
        .described("epsilon", found.epsilon, short(found.epsilon))
        .described("error", found.error, format!("± {}", short(found.error)))
        .field("confidence", args.confidence.get())
        .field("method", word(found.method))
        .field("mechanism", found.mechanism)
        .field("values", aim.categories);
    if let Some(alpha) = found.alpha {
        // As it was stated, not as it comes back from ε.
        let alpha = match args.privacy.privacy() {
            Some(Privacy::Alpha(alpha)) => alpha,
            Some(Privacy::Gamma(gamma)) => 2.0 * gamma,
            _ => alpha,
        };
        report = report.described("alpha", alpha, short(alpha)).described(
            "gamma",
            0.5 * alpha,
            short(0.5 * alpha),
        );
    }
    report.hidden("asked", asked).described(
        "methods",
        by,
        format!("{asked} by\n{}", lines.join("\n")),
    )
}

fn sentence(args: &Args, aim: &Aim, found: &Plan) -> String {
    let percent = args.confidence.percent();
    let (n, epsilon) = (grouped(found.people as f64), short(found.epsilon));
    let what = if aim.all { "all shares" } else { "a share" };
    match (args.n, args.error) {
        (None, Some(error)) => format!(
            "To estimate {what} within ± {} with {percent} confidence at ε = {epsilon}, ask {n} people.",
            short(error)
        ),
        (Some(_), Some(error)) => format!(
            "To estimate {what} within ± {} with {percent} confidence from {n} people, ε must be {epsilon}.",
            short(error)
        ),
        _ => format!(
            "{n} people at ε = {epsilon} give {what} within ± {} with {percent} confidence.",
            short(found.error)
        ),
    }
}
