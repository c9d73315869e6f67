//! `demure attack membership`: was this person among those whose averages were published?

use super::render::{Findings, Output};
use super::world::{COLUMNS, World};
use super::{Epsilons, Seed};
use crate::Failure;
use crate::input::positive;
use clap::ValueEnum;
use demure_attack::bound;
use demure_attack::draws::Draws;
use demure_attack::membership::{Population, Scores, Test, counts};
use demure_attack::reconstruct::noise;
use demure_core::unit::{Delta, Epsilon};
use demure_report::chart::{Axis, Chart, Series};
use demure_report::document::Document;
use demure_report::number::percent_aligned as percent;
use demure_report::progress::Progress;
use demure_report::{Report, Table, grouped, short};
use serde_json::{Value, json};
use std::fmt::Write as _;
use std::io::Write;
use std::str::FromStr;

/// Compare published averages of many attributes with one person's row: were they in it?
///
/// Made-up people have d attributes each; how many people have each is published, exactly or by the
/// curator under a budget for all of it. The attacker knows somebody's row and how common the
/// attributes are elsewhere. Exact averages give members away as soon as there are more attributes
/// than people; under a budget true alarms are at most e^ε times the false ones.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  demure attack membership --demo --people 40 --attributes 10,40,100 --epsilon 1 --releases 1
  demure attack membership --people 50 --attributes 20,60 --epsilon 1 --releases 2 --json")]
pub(super) struct Args {
    /// The attack with all its defaults (what happens without options)
    #[arg(long)]
    demo: bool,

    /// How many people are averaged: up to 10,000
    #[arg(long, value_name = "N", default_value = "100", value_parser = positive)]
    people: u32,

    /// Numbers of attributes to compare: up to 2,000 each
    #[arg(long, value_name = "D,…", default_value = "10,40,160,640")]
    attributes: Sizes,

    /// The ε of all averages of a release together; several are compared
    #[arg(long, value_name = "E", default_value = "1,10")]
    epsilon: Epsilons,

    /// What is compared
    #[arg(long, value_enum, default_value = "inner-product")]
    test: Statistic,

    /// How many releases, each of other people
    #[arg(long, value_name = "N", default_value = "3", value_parser = positive)]
    releases: u32,

    #[command(flatten)]
    seed: Seed,

    #[command(flatten)]
    output: Output,
}

/// What is compared.
#[derive(Clone, Copy, ValueEnum)]
enum Statistic {
    /// The normalized inner product of the person's and the release's deviations
    InnerProduct,
    /// Homer's: how much nearer the release is than the population
    Distance,
    /// The likelihood of the row under the release, by that under the population
    LikelihoodRatio,
}

impl From<Statistic> for Test {
    fn from(statistic: Statistic) -> Self {
        match statistic {
            Statistic::InnerProduct => Self::InnerProduct,
            Statistic::Distance => Self::Distance,
            Statistic::LikelihoodRatio => Self::LikelihoodRatio,
        }
    }
}

/// Whole numbers from 1 to 2,000, separated by commas.
#[derive(Clone)]
struct Sizes(Vec<usize>);

impl FromStr for Sizes {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let each: Result<Vec<usize>, _> = text.split(',').map(|n| n.trim().parse()).collect();
        match each {
            Ok(all) if all.iter().all(|n| (1..=2000).contains(n)) => Ok(Self(all)),
            _ => Err("must be whole numbers from 1 to 2,000, e.g. 10,100,1000"),
        }
    }
}

/// What one number of attributes gave, by one publisher.
struct Row {
    attributes: usize,
    /// `None`: exact.
    epsilon: Option<Epsilon>,
    scores: Scores,
    expected: f64,
}

pub(super) fn run(args: &Args, out: &mut impl Write) -> Result<(), Failure> {
    if args.people > 10_000 || args.people < 2 {
        return Err(Failure::usage("--people must be from 2 to 10,000"));
    }
    let people = args.people as usize;
    let publishers = 1 + args.epsilon.0.len();
    let total = args.attributes.0.len() as u64 * u64::from(args.releases);
    let progress = Progress::before_data(total);
    let mut rows = Vec::new();
    for (at, attributes) in args.attributes.0.iter().enumerate() {
        let mut draws = Draws::part(args.seed.of_data(), at as u64);
        let population = Population::random(*attributes, &mut draws)?;
        let mut scores = vec![Scores::default(); publishers];
        for release in 0..args.releases {
            let members: Vec<_> = (0..people).map(|_| population.person(&mut draws)).collect();
            let outsiders: Vec<_> = (0..people).map(|_| population.person(&mut draws)).collect();
            let world = table(&members, args.seed.of_noise())?;
            let exact: Vec<f64> = counts(&members).iter().map(|count| *count as f64).collect();
            let part = (at as u64) << 32 | u64::from(release) << 8;
            let budgets = args.epsilon.0.iter().zip(1..);
            let noised = budgets.map(|(e, i)| published(&world, *attributes, *e, part + i));
            for (scores, release) in scores.iter_mut().zip([Ok(exact)].into_iter().chain(noised)) {
                let shares: Vec<f64> = release?.iter().map(|x| x / people as f64).collect();
                let score = |p: &Vec<bool>| population.score(args.test.into(), p, &shares);
                scores.extend(Scores {
                    members: members.iter().map(score).collect(),
                    outsiders: outsiders.iter().map(score).collect(),
                });
            }
            progress.at(at as u64 * u64::from(args.releases) + u64::from(release) + 1);
        }
        let who = [None].into_iter().chain(args.epsilon.0.iter().copied().map(Some));
        for (epsilon, scores) in who.zip(scores) {
            let sigma = epsilon.map_or(0.0, |e| noise(*attributes, e));
            let expected = population.expected_area(people, sigma);
            rows.push(Row { attributes: *attributes, epsilon, scores, expected });
        }
    }
    drop(progress);
    findings(args, &rows).print(&args.output, out)
}

/// The members as a table under a policy that protects what a row says.
fn table(members: &[Vec<bool>], seed: Option<u64>) -> Result<World, Failure> {
    let attributes = members.first().map_or(0, Vec::len);
    let mut csv = String::from("id");
    let mut policy = String::from(
        "[budget]\nepsilon = 1.0\nneighbours = \"replace\"\n[tables.people]\n\
         source = \"people.csv\"\nunit = \"id\"\n[tables.people.columns]\n\
         id = { type = \"integer\", nullable = false }\n",
    );
    // Writing to a string cannot fail.
    for j in 0..attributes {
        let _ = write!(csv, ",a{j}");
        let _ =
            writeln!(policy, "a{j} = {{ type = \"integer\", bounds = [0, 1], nullable = false }}");
    }
    for (id, row) in members.iter().enumerate() {
        let _ = write!(csv, "\n{id}");
        row.iter().for_each(|has| csv.push_str(if *has { ",1" } else { ",0" }));
    }
    csv.push('\n');
    World::made_up(&csv, &policy, seed)
}

/// What the curator says of all attributes, for one budget.
fn published(
    world: &World,
    attributes: usize,
    budget: Epsilon,
    part: u64,
) -> Result<Vec<f64>, Failure> {
    let mut asking = world.open(Some(budget.get() * (1.0 + 1e-6)), part)?;
    let all: Vec<usize> = (0..attributes).collect();
    let mut answers = Vec::new();
    for some in all.chunks(COLUMNS) {
        let sums: Vec<String> = some.iter().map(|j| format!("SUM(a{j}) AS s{j}")).collect();
        let sql = format!("SELECT {} FROM people", sums.join(", "));
        let epsilon = budget.get() * some.len() as f64 / attributes as f64;
        answers.extend(asking.ask(&sql, epsilon)?.values);
    }
    Ok(answers)
}

const FALSE_ALARMS: f64 = 0.05;

fn findings(args: &Args, rows: &[Row]) -> Findings {
    let most = |row: &Row, of: &dyn Fn(Epsilon) -> f64| row.epsilon.map_or(1.0, of);
    let alarms = |e: Epsilon| bound::true_alarms(e, Delta::ZERO, FALSE_ALARMS);
    let line = |row: &Row| {
        vec![
            grouped(row.attributes as f64),
            publisher(row.epsilon),
            format!("{:.3}", row.scores.area()),
            format!("{:.3}", row.expected),
            format!("{:.3}", most(row, &bound::area)),
            percent(row.scores.true_alarms(FALSE_ALARMS)),
            percent(most(row, &alarms)),
        ]
    };
    let grid = Table::of_texts(&["attributes", "published", "area", "in theory", "at most", "true alarms", "at most"], rows.iter().map(line)).numbers_from(2).titled("The area under the curve of true against false alarms (0.5: a coin), and true alarms at 5 % false");
    let object = |row: &Row| -> Value {
        json!({
            "attributes": row.attributes, "epsilon": row.epsilon.map(Epsilon::get),
            "area": row.scores.area(), "area_expected": row.expected,
            "area_bound": most(row, &bound::area),
            "true_alarms_at_5_percent": row.scores.true_alarms(FALSE_ALARMS),
            "true_alarms_bound": most(row, &alarms),
            "members": row.scores.members.len(), "outsiders": row.scores.outsiders.len(),
        })
    };
    let report = Report::default()
        .field("attack", "membership")
        .field("people", args.people)
        .field("releases", args.releases)
        .field("found", rows.iter().map(object).collect::<Vec<_>>());
    Findings { report, document: Document { title: "Membership: was this person among those who were averaged?".to_owned(), lead: format!(
            "{} made-up people in each of {} releases. Published is how many have each attribute; the \
             attacker tells members from as many outsiders by their rows.",
            grouped(f64::from(args.people)),
            args.releases
        ), tables: vec![grid], charts: vec![areas(rows), alarms_chart(rows)], meaning: vec![
            "Exact averages tell members from outsiders as √(attributes/people) grows: the area is \
             Φ(√(d/n)/√2). The curator's budget is for all averages together: more of them are each \
             noisier, and the area is at most e^ε/(1+e^ε), true alarms at most e^ε times the false ones, \
             whatever is compared."
                .to_owned(),
        ] } }
}

fn publisher(epsilon: Option<Epsilon>) -> String {
    epsilon.map_or("exactly".to_owned(), |e| format!("by the curator, ε {}", short(e.get())))
}

const GLYPHS: [char; 6] = ['#', 'o', 'x', '+', '@', '%'];

/// The area against the number of attributes.
fn areas(rows: &[Row]) -> Chart {
    let xs = || rows.iter().map(|row| row.attributes as f64);
    let (low, high) = (xs().fold(f64::MAX, f64::min), xs().fold(0.0, f64::max));
    let mut series = Vec::new();
    for (at, who) in publishers(rows).into_iter().enumerate() {
        let same = rows.iter().filter(|row| row.epsilon == who);
        let points = same.map(|row| (row.attributes as f64, row.scores.area())).collect();
        series.push(Series::dots(publisher(who), GLYPHS[at % GLYPHS.len()], points));
    }
    let exact = rows.iter().filter(|row| row.epsilon.is_none());
    let theory = exact.map(|row| (row.attributes as f64, row.expected)).collect();
    series.insert(0, Series::line("exactly, in theory: Φ(√(d/n)/√2)", '·', theory));
    Chart {
        title: "How well members are told from outsiders".to_owned(),
        x: Axis::logarithmic("attributes published", low / 1.2, high * 1.2),
        y: Axis::linear("area", 0.4, 1.0),
        series,
        ..Chart::default()
    }
}

/// True against false alarms, for the most attributes.
fn alarms_chart(rows: &[Row]) -> Chart {
    let most = rows.iter().map(|row| row.attributes).max().unwrap_or(0);
    let least =
        rows.iter().filter_map(|row| row.epsilon).map(Epsilon::get).fold(f64::MAX, f64::min);
    let mut series = Vec::new();
    if let Ok(epsilon) = Epsilon::new(least) {
        let curve = (0..=60).map(|i| f64::from(i) / 60.0);
        let curve = curve.map(|f| (f, bound::true_alarms(epsilon, Delta::ZERO, f))).collect();
        series.push(Series::line(format!("at most, for ε {}", short(least)), '·', curve));
    }
    for (at, who) in publishers(rows).into_iter().enumerate() {
        let same = rows.iter().find(|row| row.epsilon == who && row.attributes == most);
        let points = same.map_or(Vec::new(), |row| row.scores.curve(20));
        series.push(Series::dots(publisher(who), GLYPHS[at % GLYPHS.len()], points));
    }
    Chart {
        title: format!("True against false alarms, {} attributes", grouped(most as f64)),
        x: Axis::linear("false alarms", 0.0, 1.0),
        y: Axis::linear("true alarms", 0.0, 1.0),
        series,
        ..Chart::default()
    }
}

/// Exact first, then the budgets in their order.
fn publishers(rows: &[Row]) -> Vec<Option<Epsilon>> {
    let mut all: Vec<Option<Epsilon>> = Vec::new();
    for row in rows {
        if !all.contains(&row.epsilon) {
            all.push(row.epsilon);
        }
    }
    all
}
