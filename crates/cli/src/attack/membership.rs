//! `demure attack membership`: was this person among those whose averages were published?

use super::options::{Common, epsilon};
use super::render::print;
use crate::Failure;
use crate::input::positive;
use clap::ValueEnum;
use demure_attack::curator::membership::{Options, attack};
use demure_attack::findings;
use demure_attack::membership::Test;
use demure_core::unit::Epsilon;
use demure_report::progress::watched;
use std::io::Write;

/// Compare published averages of many attributes with one person's row: were they in it?
///
/// Made-up people have d attributes each; how many people have each is published, exactly or by the
/// curator under a budget for all of it. The attacker knows a person's row and how common the
/// attributes are elsewhere. Exact averages give members away as soon as there are more attributes
/// than people; under a budget true alarms are at most e^ε times the false ones.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  demure attack membership --demo --people 40 --attributes 10,40,100 --epsilon 1 --releases 1
  demure attack membership --people 50 --attributes 20,60 --epsilon 1 --releases 2 --json")]
pub(super) struct Args {
    /// How many people are averaged: up to 10,000
    #[arg(long, value_name = "N", default_value = "100", value_parser = positive)]
    people: u32,

    /// Numbers of attributes to compare: up to 2,000 each
    #[arg(long, value_name = "D,…", default_value = "10,40,160,640", value_delimiter = ',', value_parser = positive)]
    attributes: Vec<u32>,

    /// The ε of all averages of a release together; several are compared
    #[arg(long, value_name = "E", default_value = "1,10", value_delimiter = ',', value_parser = epsilon)]
    epsilon: Vec<Epsilon>,

    /// What is compared
    #[arg(long, value_enum, default_value = "inner-product")]
    test: Statistic,

    /// How many releases, each of other people
    #[arg(long, value_name = "N", default_value = "3", value_parser = positive)]
    releases: u32,

    #[command(flatten)]
    common: Common,
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

pub(super) fn run(args: &Args, out: &mut impl Write) -> Result<(), Failure> {
    let options = Options {
        people: args.people as usize,
        attributes: args.attributes.iter().map(|n| *n as usize).collect(),
        epsilons: args.epsilon.clone(),
        test: args.test.into(),
        releases: args.releases,
        seed: args.common.seed(),
    };
    let found = watched(|watch| attack(&options, watch))?;
    print(&findings::membership(&found, args.people, args.releases), &args.common, out)
}
