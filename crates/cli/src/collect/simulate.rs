//! `demure collect simulate`: the measured error against theory.

use super::estimate::How;
use super::{counted, read};
use crate::Failure;
use crate::input::{Pairs, positive, whole};
use demure_collect::simulate::{Simulation, simulate};
use demure_core::random::SystemRandom;
use demure_report::progress::Spinner;
use demure_report::short;
use serde_json::{Value, json};
use std::io::Write;
use std::path::PathBuf;

/// Run a survey on made-up people, and compare the error with theory
///
/// People are drawn with the shares given (what is left is spread over the other values), randomize, report, and are
/// estimated: the same code as in earnest. Of a number, --truth has numbers and their shares.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  demure collect simulate exam.toml --n 10000 --truth yes=0.3
  demure collect simulate exam.toml --n 1000 --truth yes=0.3 --repeat 50 --json
  demure collect simulate hours.toml --n 1000 --truth 2=0.5,8=0.5")]
pub(super) struct Args {
    /// The survey
    #[arg(value_name = "SURVEY")]
    survey: PathBuf,

    /// How many people
    #[arg(long, value_parser = whole, allow_hyphen_values = true)]
    n: u64,

    /// The true shares: yes=0.3
    #[arg(long, value_name = "VALUE=SHARE,…")]
    truth: Pairs<f64>,

    /// How many times over
    #[arg(long, value_name = "TIMES", value_parser = positive, default_value = "20", allow_hyphen_values = true)]
    repeat: u32,

    #[command(flatten)]
    how: How,

    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

pub(super) fn run(args: &Args, out: &mut impl Write) -> Result<(), Failure> {
    let survey = read(&args.survey)?;
    if args.n == 0 {
        return Err(Failure::usage("n must be a whole number of at least 1"));
    }
    let options = args.how.options()?;
    let mut rng = SystemRandom::new()?;
    let turning = Spinner::new("simulating");
    let found = simulate(&survey, args.n, &args.truth.0, args.repeat, &options, &mut rng)?;
    drop(turning);
    if args.json {
        let mut object = json!(found);
        if let Some(object) = object.as_object_mut() {
            object.insert("question".into(), survey.question().into());
            object.insert("epsilon".into(), survey.epsilon().get().into());
            object.insert("mechanism".into(), survey.parts()[0].mechanism.name().into());
            object.insert("ratio".into(), ratio(&found).map_or(Value::Null, Value::from));
        }
        return writeln!(out, "{object}").map_err(Failure::writing);
    }
    let title = format!(
        "{}\n{} at ε {}, {}, {} over\n",
        survey.question(),
        counted(found.people, "person").replace("persons", "people"),
        short(survey.epsilon().get()),
        survey.parts()[0].mechanism,
        counted(u64::from(found.repetitions), "time"),
    );
    write!(out, "{title}\n{}", table(&found)).map_err(Failure::writing)
}

/// The measured root mean square error by that of theory, over all values.
fn ratio(found: &Simulation) -> Option<f64> {
    found.mse_theory.filter(|theory| *theory > 0.0).map(|theory| (found.mse / theory).sqrt())
}

fn table(found: &Simulation) -> String {
    const MOST: usize = 40;
    let digits = |x: f64| format!("{x:.5}");
    let maybe = |x: Option<f64>| x.map_or("–".to_owned(), digits);
    let width =
        found.values.iter().map(|v| v.value.chars().count()).max().unwrap_or(0).clamp(5, 24);
    let mut text = format!(
        "{:width$}  {:>9}  {:>9}  {:>9}  {:>9}  {:>7}\n",
        "value", "truth", "estimate", "error", "theory", "covered"
    );
    for value in found.values.iter().take(MOST) {
        let name: String = value.value.chars().take(24).collect();
        let covered = value.covered.map_or("–".to_owned(), |c| format!("{:.0} %", 100.0 * c));
        text += &format!(
            "{name:width$}  {:>9}  {:>9}  {:>9}  {:>9}  {covered:>7}\n",
            digits(value.truth),
            digits(value.estimate),
            digits(value.error),
            maybe(value.theory)
        );
    }
    if found.values.len() > MOST {
        text += &format!("… and {} more (--json has them)\n", found.values.len() - MOST);
    }
    text += "\nestimate: the average; error: the measured root mean square; theory: the standard error\n";
    if let Some(ratio) = ratio(found) {
        text += &format!("measured error by theory, over all values: {ratio:.3}\n");
    }
    if let Some(all) = found.covered_all {
        text +=
            &format!("all intervals held together in {:.0} % of the repetitions\n", 100.0 * all);
    }
    text
}
