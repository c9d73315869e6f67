//! `demure attack reconstruct`: random subsets, and the rows solved for.

use super::options::{Common, epsilon};
use super::render::print;
use crate::Failure;
use crate::input::{number, positive};
use clap::ValueEnum;
use demure_attack::curator::reconstruct::{Options, attack};
use demure_attack::findings::reconstructed;
use demure_attack::reconstruct::{Method, Norm};
use demure_core::unit::Epsilon;
use demure_report::progress::watched;
use std::io::Write;

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
    /// How many people: up to 4,000
    #[arg(long, value_name = "N", default_value = "1000", value_parser = positive)]
    rows: u32,

    /// How many subsets are asked of every database but the curator; by default 4 for each person
    #[arg(long, value_name = "M", value_parser = positive)]
    queries: Option<u32>,

    /// Standard deviations of noise; by default from 0 to 16 √n
    #[arg(long, value_name = "SIGMA,…", value_delimiter = ',', value_parser = sigma)]
    noise: Option<Vec<f64>>,

    /// Budgets of the curator, in ε
    #[arg(long, value_name = "E,…", default_value = "0.1,1,10,100,1000", value_delimiter = ',', value_parser = epsilon)]
    budget: Vec<Epsilon>,

    /// How the rows are solved for. A linear program takes seconds for 200 people, each of some
    /// hundred times, and minutes for 400
    #[arg(long, value_enum, default_value = "least-squares")]
    method: Solver,

    /// How often each experiment is repeated; by default so often that 4,000 bits are guessed
    #[arg(long, value_name = "TIMES", value_parser = positive)]
    repeat: Option<u32>,

    #[command(flatten)]
    common: Common,
}

/// How the rows are solved for.
#[derive(Clone, Copy, ValueEnum)]
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

/// A standard deviation.
fn sigma(text: &str) -> Result<f64, &'static str> {
    let sigma = number(text).ok().filter(|x| *x >= 0.0 && x.is_finite());
    sigma.ok_or("must be numbers of at least 0, e.g. 0,10,100")
}

pub(super) fn run(args: &Args, out: &mut impl Write) -> Result<(), Failure> {
    let options = Options {
        rows: args.rows as usize,
        queries: args.queries.map(|m| m as usize),
        noise: args.noise.clone(),
        budgets: args.budget.clone(),
        method: args.method.into(),
        repeat: args.repeat.map(|times| times as usize),
        seed: args.common.seed(),
    };
    let found = watched(|watch| attack(&options, watch))?;
    print(&reconstructed(&found), &args.common, out)
}
