//! `demure attack average`: the same question until the noise is gone.

use super::render::{Findings, Output};
use super::target::{named, shadowed};
use super::world::{EXACT, UNLIMITED, World, seats};
use super::{One, Seed};
use crate::Failure;
use crate::input::positive;
use demure_attack::average::{Averaged, expected_error, expected_right, naive, of_answers};
use demure_attack::draws::Draws;
use demure_core::unit::Epsilon;
use demure_report::chart::{Axis, Chart, Mark, Series};
use demure_report::document::Document;
use demure_report::number::percent_aligned as percent;
use demure_report::progress::Progress;
use demure_report::{Report, Table, grouped, short};
use serde_json::{Value, json};
use std::io::Write;
use std::path::PathBuf;

/// Ask the same again and average
///
/// Three databases: one that draws fresh noise each time, whose noise falls as 1/√k and is gone;
/// the curator asked the same again, which answers the same, free; and the curator asked in other
/// words each time, which charges each time and ends when the budget does.
///
/// With a POLICY this is for its steward: it reads the tables and spends nothing of the ledger
/// beside it.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  demure attack average --demo --runs 4 --repeat 1000
  demure attack average clinic/clinic.toml --query 'SELECT COUNT(*) FROM patients WHERE smoker' \\
      --epsilon 0.5 --repeat 100 --runs 2

The clinic is made by: demure demo --keep clinic")]
pub(super) struct Args {
    /// The policy of the tables to attack; without one, a made-up table is attacked
    #[arg(value_name = "POLICY", requires = "query")]
    policy: Option<PathBuf>,

    /// Attack a made-up table of 1,000 people under a budget of ε 1 (what happens without a POLICY)
    #[arg(long, conflicts_with = "policy")]
    demo: bool,

    /// The query to ask; it must answer one number
    #[arg(long, value_name = "SQL", requires = "policy")]
    query: Option<String>,

    /// The ε of each question
    #[arg(long, value_name = "E", default_value = "0.1")]
    epsilon: One,

    /// How often it is asked
    #[arg(long, value_name = "TIMES", default_value = "10000", value_parser = positive)]
    repeat: u32,

    /// How many attackers there are, each with new noise
    #[arg(long, value_name = "N", default_value = "20", value_parser = positive)]
    runs: u32,

    #[command(flatten)]
    seed: Seed,

    #[command(flatten)]
    output: Output,
}

/// How often the curator is really asked the same again: after the first it costs nothing, and the
/// answer does not change; more would show the same.
const SAME: u32 = 50;

pub(super) fn run(args: &Args, out: &mut impl Write) -> Result<(), Failure> {
    let epsilon = args.epsilon.0;
    let mut draws = Draws::new(args.seed.of_data());
    let (world, query, who) = match (&args.policy, &args.query) {
        (Some(path), Some(query)) => {
            eprintln!(
                "note: for the steward of this policy: the tables are read, its ledger is not touched"
            );
            (World::of(path)?, query.clone(), "The policy's tables".to_owned())
        }
        _ => {
            let secrets: Vec<bool> = (0..1000).map(|_| draws.coin()).collect();
            let world = seats(&secrets, args.seed.of_noise())?;
            let query = "SELECT COUNT(*) FROM people WHERE secret".to_owned();
            (world, query, "A made-up table of 1,000 people".to_owned())
        }
    };
    let protected = world.policy().tables.iter().filter(|table| table.protection().is_some());
    let table = named(&query, protected.map(|table| table.name.as_str()))
        .ok_or_else(|| Failure::usage("--query names no protected table of the policy"))?
        .to_owned();
    let truth = world.open(Some(UNLIMITED), u64::MAX)?.one(&query, EXACT)?.values[0];
    let points = points(args.repeat as usize);
    let progress = Progress::before_data(u64::from(args.runs));
    let (mut same, mut varied) = (Vec::new(), Vec::new());
    let (mut spent, mut bought, mut constant, mut noise) = ([0.0; 2], 0, true, 1.0);
    for run in 0..args.runs {
        let mut asking = world.open(None, 2 * u64::from(run))?;
        let mut answers = Vec::new();
        for at in 0..SAME.min(args.repeat) {
            let numbers = asking.one(&query, epsilon.get())?;
            spent[0] += numbers.price;
            noise = numbers.noise;
            constant &= at == 0 || (numbers.repeated && numbers.price == 0.0);
            answers.extend(numbers.values);
        }
        same.push(answers);
        let mut asking = world.open(None, 2 * u64::from(run) + 1)?;
        let mut answers = Vec::new();
        for at in 0..args.repeat {
            // With a condition that is always true: another plan, the same rows.
            let sql = shadowed(&query, &table, &format!("{at} = {at}"));
            match asking.one(&sql, epsilon.get()) {
                Ok(numbers) => {
                    spent[1] += numbers.price;
                    bought += usize::from(!numbers.repeated);
                    answers.extend(numbers.values);
                }
                Err(Failure::Curator(error)) if error.refusal().is_some() && at > 0 => break,
                Err(failure) => return Err(failure),
            }
        }
        varied.push(answers);
        progress.at(u64::from(run) + 1);
    }
    drop(progress);
    if !constant {
        return Err(Failure::usage(
            "the curator answered the same question twice: please report this",
        ));
    }
    // Laplace noise as large as the curator's.
    let laplace = Epsilon::new(1.0 / noise)?;
    let fresh = naive(laplace, &points, 200, &mut draws);
    let found = Found {
        fresh,
        same: of_answers(truth, &same, &points),
        varied: of_answers(truth, &varied, &points),
        spent: spent.map(|all| all / f64::from(args.runs)),
        answers: bought as f64 / f64::from(args.runs),
    };
    findings(args, &who, &world, laplace, &found).print(&args.output, out)
}

/// What each kind of database gave away.
struct Found {
    fresh: Vec<Averaged>,
    same: Vec<Averaged>,
    varied: Vec<Averaged>,
    /// By one attacker: asking the same, asking in other words.
    spent: [f64; 2],
    /// How many answers one attacker got in other words before the refusal.
    answers: f64,
}

/// 1, 2, 5, 10, … up to `most`.
fn points(most: usize) -> Vec<usize> {
    let all = (0..10).flat_map(|power| [1, 2, 5].map(|digit| digit * 10usize.pow(power)));
    let mut points: Vec<usize> = all.take_while(|k| *k < most).collect();
    points.push(most);
    points
}

fn findings(args: &Args, who: &str, world: &World, laplace: Epsilon, found: &Found) -> Findings {
    let (epsilon, budget) = (args.epsilon.0, world.policy().budget.epsilon);
    let rows = found.fresh.iter().zip(&found.same).zip(&found.varied);
    let line = |((fresh, same), varied): ((&Averaged, &Averaged), &Averaged)| {
        vec![
            grouped(fresh.asked as f64),
            short_error(fresh.error),
            short_error(expected_error(laplace, fresh.asked)),
            percent(fresh.right.rate()),
            short_error(same.error),
            short_error(varied.error),
            percent(varied.right.rate()),
        ]
    };
    let grid = Table::of_texts(
        &[
            "asked",
            "fresh noise",
            "in theory",
            "true",
            "curator, same words",
            "curator, other words",
            "true",
        ],
        rows.map(line),
    )
    .numbers_from(0)
    .titled("The error of the mean (root mean square), and how often it rounds to the truth");
    let letter = if world.concentrated() { "ρ" } else { "ε" };
    let last = found.fresh.last().map_or(0, |a| a.asked);
    let meaning = vec![
        format!(
            "Fresh noise each time is gone after some thousand questions: its mean is right {} of \
             the time after {} (theory: {}), and ε {} would have been spent if anybody had counted.",
            percent(found.fresh.last().map_or(f64::NAN, |a| a.right.rate())),
            grouped(last as f64),
            percent(expected_right(laplace, last)),
            short(epsilon.get() * last as f64),
        ),
        format!(
            "The curator, asked the same again, says the same, and {letter} {} is spent, once. Asked in other \
             words it answered {} times, until the budget of ε {} was gone ({letter} {} spent), and then never \
             again: the error stays where it was.",
            short(found.spent[0]),
            short(found.answers),
            short(budget.get()),
            short(found.spent[1]),
        ),
    ];
    let object = |all: &[Averaged]| -> Vec<Value> {
        let one =
            |a: &Averaged| json!({"asked": a.asked, "error": a.error, "true": a.right.rate()});
        all.iter().map(one).collect()
    };
    let report = Report::default()
        .field("attack", "average")
        .field("epsilon", epsilon.get())
        .field("budget", budget.get())
        .field("fresh_noise", object(&found.fresh))
        .field("same_words", object(&found.same))
        .field("other_words", object(&found.varied))
        .field("spent_same_words", found.spent[0])
        .field("spent_other_words", found.spent[1])
        .field("answers_other_words", found.answers);
    Findings {
        report,
        document: Document {
            title: "Averaging: the same question until the noise is gone".to_owned(),
            lead: format!(
                "{who}, a count at ε {} a question under a budget of ε {}, asked up to {} times by {} \
             attackers.",
                short(epsilon.get()),
                short(budget.get()),
                grouped(f64::from(args.repeat)),
                args.runs
            ),
            tables: vec![grid],
            charts: vec![chart(found, laplace)],
            meaning,
        },
    }
}

fn short_error(x: f64) -> String {
    format!("{x:.2}")
}

fn chart(found: &Found, laplace: Epsilon) -> Chart {
    let points = |all: &[Averaged]| -> Vec<(f64, f64)> {
        all.iter().map(|a| (a.asked as f64, a.error)).collect()
    };
    let all = [&found.fresh, &found.same, &found.varied];
    let errors = || all.iter().flat_map(|a| a.iter()).map(|a| a.error).filter(|e| *e > 0.0);
    let (low, high) = (errors().fold(f64::MAX, f64::min), errors().fold(0.0, f64::max));
    let most = found.fresh.last().map_or(2.0, |a| a.asked as f64).max(2.0);
    let theory = (0..=60).map(|i| most.powf(f64::from(i) / 60.0));
    let theory = theory.map(|k| (k, expected_error(laplace, 1) / k.sqrt())).collect();
    Chart {
        title: "The error of the mean of k answers".to_owned(),
        x: Axis::logarithmic("k, questions asked", 1.0, most),
        y: Axis::logarithmic("error", low / 1.5, high * 1.5),
        series: vec![
            Series::line("√2·b/√k", '·', theory),
            Series::dots("fresh noise each time", 'o', points(&found.fresh)),
            Series::dots("the curator, the same words (free)", '#', points(&found.same)),
            Series::dots(
                "the curator, other words, until the budget ends",
                'x',
                points(&found.varied),
            ),
        ],
        marks: match found.answers > 1.0 && found.answers < most {
            true => vec![Mark::Upright(found.answers, "budget gone".to_owned())],
            false => Vec::new(),
        },
        ..Chart::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn points_end_where_they_should() {
        assert_eq!(points(1), [1]);
        assert_eq!(points(10), [1, 2, 5, 10]);
        assert_eq!(points(30), [1, 2, 5, 10, 20, 30]);
    }
}
