//! `demure attack difference`: an attacker who knows all rows but one.

use super::options::{Attacked, Common, epsilon};
use super::render::print;
use crate::Failure;
use crate::input::positive;
use demure_attack::curator::Target;
use demure_attack::curator::difference::{Options, on_made_up, on_policy};
use demure_attack::findings;
use demure_core::unit::Epsilon;
use demure_report::progress::watched;
use std::io::Write;

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
#[command(mut_arg("policy", |policy| policy.requires("target")))]
#[command(after_help = "\
Examples:
  demure attack difference --demo --epsilon 0.5,2 --repeat 128
  demure attack difference clinic/clinic.toml --query 'SELECT COUNT(*) FROM patients WHERE smoker' \\
      --target patients.id=7 --epsilon 1 --repeat 20

The clinic is made by: demure demo --keep clinic")]
pub(super) struct Args {
    #[command(flatten)]
    attacked: Attacked,

    /// Who is attacked, as TABLE.COLUMN=VALUE: all rows of the table with that value
    #[arg(long, value_name = "TABLE.COLUMN=VALUE", requires = "policy")]
    target: Option<Target>,

    /// The ε of the attacker's question; several, separated by commas, are compared
    #[arg(long, value_name = "E", default_value = "0.1,0.25,0.5,1,2,4", value_delimiter = ',', value_parser = epsilon)]
    epsilon: Vec<Epsilon>,

    /// How often each attack is repeated, with new noise
    #[arg(long, value_name = "TIMES", default_value = "1024", value_parser = positive)]
    repeat: u32,

    #[command(flatten)]
    common: Common,
}

pub(super) fn run(args: &Args, out: &mut impl Write) -> Result<(), Failure> {
    let (epsilons, seed) = (args.epsilon.clone(), args.common.seed());
    let options = Options { epsilons, repeat: args.repeat, seed };
    let found = match (args.attacked.policy(), &args.target) {
        (Some((policy, query)), Some(target)) => {
            note!(
                "note: for the steward of this policy: the tables are read, its ledger is not touched, and \
                 what is printed tells about the target"
            );
            let found = watched(|watch| on_policy(policy, query, target, &options, watch))?;
            findings::on_policy(&found, args.repeat)
        }
        _ => findings::on_made_up(&watched(|watch| on_made_up(&options, watch))?, args.repeat),
    };
    print(&found, &args.common, out)
}
