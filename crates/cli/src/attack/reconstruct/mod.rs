//! `demure attack reconstruct`: random subsets, and the rows solved for.
//!
//! | file | what |
//! |---|---|
//! | `mod.rs` | what is asked of which database |
//! | `curator.rs` | the same of the real curator, under a budget |
//! | `render.rs` | the tables and the picture |

mod curator;
mod render;

use super::render::Output;
use super::{Epsilons, Seed};
use crate::Failure;
use crate::input::{number, positive};
use clap::ValueEnum;
use curator::Budgeted;
use demure_attack::reconstruct::{Attack, Database, Measured, Method, Norm, measure_all};
use demure_report::progress::Progress;
use std::io::Write;
use std::str::FromStr;
use std::time::Instant;

/// Ask for counts of random subsets, and solve for every row
///
/// n made-up people each have a secret bit. The attacker asks m random subsets how many have it, of
/// a plain database, of ones that add noise, round, or suppress small counts, and of the curator at
/// several budgets, and solves for all bits by least squares. Exact answers give back every row;
/// the cliff is at noise of about √n.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  demure attack reconstruct --demo --rows 64 --repeat 8
  demure attack reconstruct --rows 200 --noise 0,5,20,100 --budget 1,100 --json
  demure attack reconstruct --rows 50 --method linear-program --repeat 1 --report cliff.html

1,000 people take under a minute of processor time, most of it the curator's: 2,000 sums a budget.")]
pub(super) struct Args {
    /// The attack with all its defaults: 1,000 people (what happens without options)
    #[arg(long)]
    demo: bool,

    /// How many people: up to 4,000
    #[arg(long, value_name = "N", default_value = "1000", value_parser = positive)]
    rows: u32,

    /// How many subsets are asked of every database but the curator; by default 4 for each person
    #[arg(long, value_name = "M", value_parser = positive)]
    queries: Option<u32>,

    /// Standard deviations of noise; by default from 0 to 16 √n
    #[arg(long, value_name = "SIGMA,…")]
    noise: Option<Sigmas>,

    /// Budgets of the curator, in ε
    #[arg(long, value_name = "E,…", default_value = "0.1,1,10,100,1000")]
    budget: Epsilons,

    /// How the rows are solved for. A linear program takes seconds for 200 people, each of some
    /// hundred times, and minutes for 400
    #[arg(long, value_enum, default_value = "least-squares")]
    method: Solver,

    /// How often each experiment is repeated; by default so often that 4,000 bits are guessed
    #[arg(long, value_name = "TIMES", value_parser = positive)]
    repeat: Option<u32>,

    #[command(flatten)]
    seed: Seed,

    #[command(flatten)]
    output: Output,
}

/// How the rows are solved for.
#[derive(Clone, Copy, PartialEq, ValueEnum)]
enum Solver {
    /// Least squares, by conjugate gradients
    LeastSquares,
    /// The least sum of errors, with every bit between 0 and 1
    LinearProgram,
    /// The least largest error, with every bit between 0 and 1: Dinur and Nissim's program
    Feasibility,
}

impl From<Solver> for Method {
    fn from(solver: Solver) -> Self {
        match solver {
            Solver::LeastSquares => Self::LeastSquares,
            Solver::LinearProgram => Self::LinearProgram(Norm::Sum),
            Solver::Feasibility => Self::LinearProgram(Norm::Largest),
        }
    }
}

/// Standard deviations, separated by commas.
#[derive(Clone)]
struct Sigmas(Vec<f64>);

impl FromStr for Sigmas {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let wrong = "must be numbers of at least 0, e.g. 0,10,100";
        let each: Result<Vec<f64>, _> = text.split(',').map(number).collect();
        match each {
            Ok(all) if all.iter().all(|x| *x >= 0.0 && x.is_finite()) => Ok(Self(all)),
            _ => Err(wrong),
        }
    }
}

const MOST_ROWS: u32 = 4000;
/// Queries for each row, where their number is varied.
const RATIOS: [f64; 5] = [1.25, 1.5, 2.0, 4.0, 8.0];
/// Noise by √n, where the number of queries is varied.
const LEVELS: [f64; 4] = [0.125, 0.25, 0.5, 1.0];

/// All that was measured.
struct Found {
    rows: usize,
    queries: usize,
    method: Method,
    noised: Vec<Measured>,
    databases: Vec<Measured>,
    /// By levels of noise, then by numbers of queries.
    by_queries: Vec<Measured>,
    /// Least squares and the linear program on the same small table, with their seconds.
    solvers: Vec<(&'static str, Measured, f64)>,
    curator: Vec<Budgeted>,
}

pub(super) fn run(args: &Args, out: &mut impl Write) -> Result<(), Failure> {
    let rows = args.rows as usize;
    if args.rows > MOST_ROWS {
        return Err(Failure::usage("--rows must be at most 4,000"));
    }
    if rows < 8 {
        return Err(Failure::usage("--rows must be at least 8"));
    }
    let queries = args.queries.map_or(4 * rows, |m| m as usize);
    if queries > 100 * MOST_ROWS as usize {
        return Err(Failure::usage("--queries must be at most 400,000"));
    }
    let repeat = args.repeat.map_or(4000usize.div_ceil(rows), |times| times as usize);
    let method = Method::from(args.method);
    let base = Attack { rows, queries, database: Database::Plain, method, repeat };
    let root = (rows as f64).sqrt();
    let sigmas = match &args.noise {
        Some(given) => given.0.clone(),
        None => [0.0].into_iter().chain((-5..=4).map(|k| root * 2f64.powi(k))).collect(),
    };
    let noised = sigmas.into_iter().map(|sigma| Database::Noised { sigma });
    let rounding = [2, 5, 10, 25, 100].map(|step| Database::Rounding { step });
    let threshold = [10, rows as u64 / 4].map(|least| Database::Threshold { least });
    let others = [Database::Plain].into_iter().chain(rounding).chain(threshold);
    let with = |database: Database| Attack { database, ..base };
    let attacks: Vec<Attack> = noised.map(with).collect();
    let (levels, attacks) = (attacks.len(), attacks.into_iter().chain(others.map(with)));
    let mut attacks: Vec<Attack> = attacks.collect();
    let databases = attacks.len() - levels;
    // Many queries for many rows once: they take long, and are averaged over the rows.
    let fewer = repeat.div_ceil(4);
    for level in LEVELS {
        for ratio in RATIOS {
            let database = Database::Noised { sigma: level * root };
            let queries = (ratio * rows as f64) as usize;
            attacks.push(Attack { queries, database, method, repeat: fewer, ..base });
        }
    }
    let seed = args.seed.of_data();
    let total = attacks.len() as u32;
    let steps = curator::statements(rows, args.budget.0.len());
    let bar = Progress::before_data(u64::from(total + steps));
    let tell = |done: u32| bar.at(u64::from(done));
    let mut all = measure_all(&attacks, seed, &|done| tell(done as u32))?.into_iter();
    let noised: Vec<Measured> = all.by_ref().take(levels).collect();
    let databases: Vec<Measured> = all.by_ref().take(databases).collect();
    let by_queries: Vec<Measured> = all.collect();
    let solvers = solvers(rows, seed)?;
    let seeds = (seed, args.seed.of_noise());
    let curator = curator::attack(rows, &args.budget.0, seeds, |done| tell(total + done))?;
    drop(bar);
    let found = Found { rows, queries, method, noised, databases, by_queries, solvers, curator };
    found.rendered().print(&args.output, out)
}

/// The same answers, solved in two ways.
fn solvers(rows: usize, seed: u64) -> Result<Vec<(&'static str, Measured, f64)>, Failure> {
    let rows = rows.min(100);
    let database = Database::Noised { sigma: 0.5 * (rows as f64).sqrt() };
    let ways = [
        ("least squares", Method::LeastSquares),
        ("linear program", Method::LinearProgram(Norm::Sum)),
    ];
    let mut all = Vec::new();
    for (name, method) in ways {
        let begun = Instant::now();
        let attack = Attack { rows, queries: 4 * rows, database, method, repeat: 2 };
        let measured = demure_attack::reconstruct::measure(attack, seed)?;
        all.push((name, measured, begun.elapsed().as_secs_f64() / 2.0));
    }
    Ok(all)
}
