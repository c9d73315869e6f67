//! `demure attack difference`: an attacker who knows all rows but one.

use super::render::{Findings, Output, measured};
use super::target::Target;
use super::world::{COLUMNS, EXACT, UNLIMITED, World, seats};
use super::{Epsilons, Seed};
use crate::Failure;
use crate::input::positive;
use demure_attack::bound;
use demure_attack::difference::{judge, measure_two_laplace, two_laplace};
use demure_attack::draws::Draws;
use demure_attack::normal::Share;
use demure_core::unit::{Delta, Epsilon, Neighbours, Rho};
use demure_report::chart::{Axis, Chart, Series};
use demure_report::document::Document;
use demure_report::number::percent_aligned as percent;
use demure_report::progress::Progress;
use demure_report::{Report, Table, grouped, short};
use serde_json::{Value, json};
use std::io::Write;
use std::path::PathBuf;

/// Know all rows but one, ask for an aggregate, subtract
///
/// The attacker knows what the answer would be with the target and what it would be without, and
/// guesses whichever the answer is nearer to. Exact answers give the target away each time. The
/// curator's are right at most e^ε/(1+e^ε) of the time, whatever the attacker knows, where both worlds
/// are neighbours under the policy.
///
/// With a POLICY this is for its steward: it reads the tables, spends nothing of the ledger beside
/// it, and says whether the target counts in the answer.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  demure attack difference --demo --epsilon 0.5,2 --repeat 128
  demure attack difference clinic/clinic.toml --query 'SELECT COUNT(*) FROM patients WHERE smoker' \\
      --target patients.id=7 --epsilon 1 --repeat 20

The clinic is made by: demure demo --keep clinic")]
pub(super) struct Args {
    /// The policy of the tables to attack; without one, a made-up table is attacked
    #[arg(value_name = "POLICY", requires = "query", requires = "target")]
    policy: Option<PathBuf>,

    /// Attack a made-up table of 1,000 people (what happens without a POLICY)
    #[arg(long, conflicts_with = "policy")]
    demo: bool,

    /// The query to ask; it must answer one number
    #[arg(long, value_name = "SQL", requires = "policy")]
    query: Option<String>,

    /// Who is attacked, as TABLE.COLUMN=VALUE: all rows of the table with that value
    #[arg(long, value_name = "TABLE.COLUMN=VALUE", requires = "policy")]
    target: Option<Target>,

    /// The ε of the attacker's question; several, separated by commas, are compared
    #[arg(long, value_name = "E", default_value = "0.1,0.25,0.5,1,2,4")]
    epsilon: Epsilons,

    /// How often each attack is repeated, with new noise
    #[arg(long, value_name = "TIMES", default_value = "1024", value_parser = positive)]
    repeat: u32,

    #[command(flatten)]
    seed: Seed,

    #[command(flatten)]
    output: Output,
}

/// What one ε gave.
struct Row {
    epsilon: Epsilon,
    /// The curator's.
    curator: Share,
    /// What was spent by each repetition.
    spent: f64,
    bound: f64,
    /// The bound on guessing what a row says whose owner is known to be there.
    of_a_value: f64,
    /// The textbook's: two Laplace answers, and 2ε spent.
    naive: Option<(Share, f64)>,
}

pub(super) fn run(args: &Args, out: &mut impl Write) -> Result<(), Failure> {
    let found = match (&args.policy, &args.query, &args.target) {
        (Some(path), Some(query), Some(target)) => {
            on_policy(args, &World::of(path)?, query, target)?
        }
        _ => on_made_up(args)?,
    };
    found.print(&args.output, out)
}

/// A thousand people, of whom the first has the secret or has not.
fn on_made_up(args: &Args) -> Result<Findings, Failure> {
    let mut draws = Draws::new(args.seed.of_data());
    let mut secrets: Vec<bool> = (0..1000).map(|_| draws.coin()).collect();
    secrets[0] = true;
    let without = secrets[1..].iter().filter(|secret| **secret).count() as f64;
    let world = seats(&secrets, args.seed.of_noise())?;
    let mut exact = world.open(Some(UNLIMITED), u64::MAX)?;
    let counted = |gone: &str| format!("SELECT COUNT(*) FROM people WHERE secret{gone}");
    let with = exact.one(&counted(""), EXACT)?.values[0];
    let absent = exact.one(&counted(" AND id <> 0"), EXACT)?.values[0];
    let exact = judge(&[(with, true), (absent, false)], without, without + 1.0);
    let progress = Progress::before_data(u64::from(args.repeat) * args.epsilon.0.len() as u64);
    let mut rows = Vec::new();
    for (part, epsilon) in args.epsilon.0.iter().enumerate() {
        // Each repetition is a column of its own, at ε: a statement of 64 at 64ε.
        let repeat = args.repeat as usize;
        let mut asking = world.open(Some(UNLIMITED), part as u64)?;
        let (mut answers, mut spent) = (Vec::new(), 0.0);
        while answers.len() < repeat {
            let count = COLUMNS.min(repeat - answers.len());
            let worlds: Vec<bool> = (0..count).map(|_| draws.coin()).collect();
            // The ids 1,000 and on are nobody's: they make the columns differ, and nothing else.
            let column = |(at, with): (usize, &bool)| {
                let gone = if *with { 1_000_000 } else { 0 };
                let nobody = 1000 + answers.len() + at;
                format!(
                    "COUNT(*) FILTER (WHERE secret AND id <> {gone} AND id <> {nobody}) AS a{at}"
                )
            };
            let columns: Vec<String> = worlds.iter().enumerate().map(column).collect();
            let sql = format!("SELECT {} FROM people", columns.join(", "));
            let numbers = asking.ask(&sql, epsilon.get() * count as f64)?;
            spent += numbers.price;
            answers.extend(numbers.values.into_iter().zip(worlds));
            progress.at((part * repeat + answers.len()) as u64);
        }
        let naive = measure_two_laplace(*epsilon, u64::from(args.repeat), &mut draws);
        // The attacker knows that the target is there, and guesses the bit.
        let bound = bound::value(world.policy().budget.neighbours, *epsilon, Delta::ZERO);
        rows.push(Row {
            epsilon: *epsilon,
            curator: judge(&answers, without, without + 1.0),
            spent: spent / repeat as f64,
            bound,
            of_a_value: bound,
            naive: Some((naive, two_laplace(*epsilon))),
        });
    }
    drop(progress);
    let lead = format!(
        "A made-up table of 1,000 people, each with a secret bit. The attacker knows 999 of the \
         bits, asks how many people have the secret, and guesses the last bit, {} times over.",
        grouped(f64::from(args.repeat))
    );
    Ok(findings(lead, &rows, (exact, with, absent), Vec::new()))
}

fn on_policy(
    args: &Args,
    world: &World,
    query: &str,
    target: &Target,
) -> Result<Findings, Failure> {
    eprintln!(
        "note: for the steward of this policy: the tables are read, its ledger is not touched, and \
         what is printed tells about the target"
    );
    let mut exact = world.open(Some(UNLIMITED), u64::MAX)?;
    let target = target.found(&exact.tables())?;
    let with = exact.one(&target.shadow(query, false, 0), EXACT)?.values[0];
    let without = exact.one(&target.shadow(query, true, 0), EXACT)?.values[0];
    let mut draws = Draws::new(args.seed.of_data());
    let progress = Progress::before_data(u64::from(args.repeat) * args.epsilon.0.len() as u64);
    let mut rows = Vec::new();
    for (part, epsilon) in args.epsilon.0.iter().enumerate() {
        let mut asking = world.open(Some(UNLIMITED), part as u64)?;
        let (mut answers, mut spent, mut failing) = (Vec::new(), 0.0, 0.0);
        for at in 0..args.repeat {
            let truth = draws.coin();
            let sql = target.shadow(query, !truth, u64::from(at) + 1);
            let numbers = asking.one(&sql, epsilon.get())?;
            (spent, failing) = (spent + numbers.price, failing + numbers.delta);
            answers.push((numbers.values[0], truth));
            progress.at(u64::from(part as u32 * args.repeat + at) + 1);
        }
        let (spent, delta) = (spent / f64::from(args.repeat), failing / f64::from(args.repeat));
        let relation = world.policy().budget.neighbours;
        let (bound, of_a_value) = match world.concentrated() {
            true => {
                let rho = Rho::new(spent.max(f64::MIN_POSITIVE))?;
                (bound::guess_concentrated(rho), bound::value_concentrated(relation, rho))
            }
            false => {
                let (epsilon, delta) =
                    (Epsilon::new(spent.max(f64::MIN_POSITIVE))?, Delta::new(delta)?);
                (bound::guess(epsilon, delta), bound::value(relation, epsilon, delta))
            }
        };
        let curator = judge(&answers, without, with);
        rows.push(Row { epsilon: *epsilon, curator, spent, bound, of_a_value, naive: None });
    }
    drop(progress);
    let lead = format!(
        "The attacker knows everything but whether the target is in the table, asks the query, and \
         guesses, {} times over with new noise. The worlds compared are the tables as they are and \
         without the target's rows.",
        grouped(f64::from(args.repeat))
    );
    let mut meaning = Vec::new();
    if with == without {
        meaning.push(
            "The target does not count in this query: both worlds have the same answer, and every \
             guess is a coin."
                .to_owned(),
        );
    }
    match world.policy().budget.neighbours {
        Neighbours::AddRemove => meaning.push(
            "The policy protects that a row is there (neighbours = \"add-remove\"), and that is what is guessed \
             here. What the row of somebody says who is known to be there is one row less and one more: \
             twice the ε, and the bound \"of a value\"."
                .to_owned(),
        ),
        Neighbours::Replace => meaning.push(
            "The policy protects what a row says, not that it is there (neighbours = \"replace\"). \
             The bound holds here if a row that the query does not count, in place of the target's, \
             gives the same answer as leaving the target out: so it is for COUNT and SUM."
                .to_owned(),
        ),
    }
    let exact = judge(&[(with, true), (without, false)], without, with);
    Ok(findings(lead, &rows, (exact, with, without), meaning))
}

fn findings(
    lead: String,
    rows: &[Row],
    (exact, with, without): (Share, f64, f64),
    more: Vec<String>,
) -> Findings {
    let naive = rows.iter().any(|row| row.naive.is_some());
    let presence = rows.iter().any(|row| row.of_a_value > row.bound);
    let mut head = vec!["ε asked", "spent", "exact", "curator, right (95 %)", "at most"];
    if presence {
        head.push("of a value, at most");
    }
    if naive {
        head.extend(["two Laplace answers", "in theory", "at most, for 2ε"]);
    }
    let line = |row: &Row| {
        let mut cells = vec![
            short(row.epsilon.get()),
            short(row.spent),
            percent(exact.rate()),
            measured(row.curator),
            percent(row.bound),
        ];
        if presence {
            cells.push(percent(row.of_a_value));
        }
        if let Some((share, theory)) = &row.naive {
            let twice = Epsilon::new(2.0 * row.epsilon.get());
            let most = twice.map_or(1.0, |twice| bound::guess(twice, Delta::ZERO));
            cells.extend([percent(share.rate()), percent(*theory), percent(most)]);
        }
        cells
    };
    let grid = Table::of_texts(&head, rows.iter().map(line)).numbers_from(0).titled(format!(
        "How often the guess is right (exact answers: {} with the target, {} without)",
        short(with),
        short(without)
    ));
    let mut meaning = vec![
        "\"At most\" is e^ε/(1+e^ε) at the ε that one attack spends: no attacker does better between \
         two neighbouring tables, whatever they know (under zCDP: ½ + ½·min(√(ρ/2), √(1−e^−ρ)) at the ρ spent). A count with \
         discrete Laplace noise reaches it: that is what ε means."
            .to_owned(),
    ];
    meaning.extend(more);
    let object = |row: &Row| -> Value {
        json!({
            "epsilon": row.epsilon.get(), "spent": row.spent,
            "right": row.curator.rate(), "hits": row.curator.hits, "trials": row.curator.trials,
            "bound": row.bound, "bound_of_a_value": row.of_a_value,
            "two_laplace": row.naive.map(|(share, _)| share.rate()),
            "two_laplace_expected": row.naive.map(|(_, theory)| theory),
        })
    };
    let report = Report::default()
        .field("attack", "difference")
        .field("exact_right", exact.rate())
        .field("exact_with", with)
        .field("exact_without", without)
        .field("curator", rows.iter().map(object).collect::<Vec<_>>());
    Findings {
        report,
        document: Document {
            title: "Differencing: an attacker who knows all rows but one".to_owned(),
            lead,
            tables: vec![grid],
            charts: chart(rows, exact),
            meaning,
        },
    }
}

/// Only where there is something to compare.
fn chart(rows: &[Row], exact: Share) -> Vec<Chart> {
    let xs = || rows.iter().map(|row| row.epsilon.get());
    let (low, high) = (xs().fold(f64::MAX, f64::min), xs().fold(0.0, f64::max));
    if rows.len() < 3 || high <= low {
        return Vec::new();
    }
    let curve: Vec<(f64, f64)> = (0..=120)
        .map(|i| low * (high / low).powf(f64::from(i) / 120.0))
        .filter_map(|x| Some((x, bound::guess(Epsilon::new(x).ok()?, Delta::ZERO))))
        .collect();
    let points = |y: &dyn Fn(&Row) -> Option<f64>| {
        rows.iter().filter_map(|row| Some((row.epsilon.get(), y(row)?))).collect::<Vec<_>>()
    };
    vec![Chart {
        title: "How often the attacker is right".to_owned(),
        x: Axis::logarithmic("ε of one answer", low, high),
        y: Axis::linear("right", 0.4, 1.0),
        series: vec![
            Series::line("at most: e^ε/(1+e^ε)", '·', curve),
            Series::dots("the curator, one answer", 'o', points(&|row| Some(row.curator.rate()))),
            Series::dots(
                "two Laplace answers, subtracted (2ε spent)",
                'x',
                points(&|row| row.naive.map(|(share, _)| share.rate())),
            ),
            Series::dots("exact answers", '#', points(&|_| Some(exact.rate()))),
        ],
        ..Chart::default()
    }]
}
