//! `demure attack average`: the same question until the noise is gone.

use super::options::{Attacked, Common, epsilon};
use super::render::print;
use crate::Failure;
use crate::input::positive;
use demure_attack::curator::average::{Options, attack};
use demure_attack::findings;
use demure_core::unit::Epsilon;
use demure_report::progress::watched;
use std::io::Write;

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
    #[command(flatten)]
    attacked: Attacked,

    /// The ε of each question
    #[arg(long, value_name = "E", default_value = "0.1", value_parser = epsilon)]
    epsilon: Epsilon,

    /// How often it is asked
    #[arg(long, value_name = "TIMES", default_value = "10000", value_parser = positive)]
    repeat: u32,

    /// How many attackers there are, each with new noise
    #[arg(long, value_name = "N", default_value = "20", value_parser = positive)]
    runs: u32,

    #[command(flatten)]
    common: Common,
}

pub(super) fn run(args: &Args, out: &mut impl Write) -> Result<(), Failure> {
    let policy = args.attacked.policy();
    if policy.is_some() {
        note!(
            "note: for the steward of this policy: the tables are read, its ledger is not touched"
        );
    }
    let Args { epsilon, repeat, runs, .. } = *args;
    let options = Options { policy, epsilon, repeat, runs, seed: args.common.seed() };
    let found = watched(|watch| attack(&options, watch))?;
    let made_up = args.attacked.policy().is_none();
    print(&findings::average(&found, &options, made_up), &args.common, out)
}
