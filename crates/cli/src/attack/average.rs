//! `demure attack average`: the same question until the noise is gone.

use super::options::{Attacked, Common, epsilon};
use super::render::Findings;
use crate::Failure;
use crate::input::positive;
use demure_attack::average::{Averaged, expected_error, expected_right};
use demure_attack::curator::average::{Found, Options, attack};
use demure_core::unit::Epsilon;
use demure_report::document::Document;
use demure_report::number::percent_aligned as percent;
use demure_report::progress::watched;
use demure_report::{Records, grouped, short};
use serde_json::json;
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
        eprintln!(
            "note: for the steward of this policy: the tables are read, its ledger is not touched"
        );
    }
    let Args { epsilon, repeat, runs, .. } = *args;
    let options = Options { policy, epsilon, repeat, runs, seed: args.common.seed() };
    let found = watched(|watch| attack(&options, watch))?;
    findings(args, &found).print(&args.common, out)
}

fn findings(args: &Args, found: &Found) -> Findings {
    let (epsilon, budget, laplace) = (args.epsilon, found.budget, found.laplace);
    let rows: Vec<_> = found.fresh.iter().zip(&found.same).zip(&found.varied).collect();
    let error = |x: f64| format!("{x:.2}");
    let (table, _) = Records::of(&rows)
        .shown("asked", |((fresh, _), _)| grouped(fresh.asked as f64))
        .shown("fresh noise", |((fresh, _), _)| error(fresh.error))
        .shown("in theory", |((fresh, _), _)| error(expected_error(laplace, fresh.asked)))
        .shown("true", |((fresh, _), _)| percent(fresh.right.rate()))
        .shown("curator, same words", |((_, same), _)| error(same.error))
        .shown("curator, other words", |(_, varied)| error(varied.error))
        .shown("true", |(_, varied)| percent(varied.right.rate()))
        .finish(
            "The error of the mean (root mean square), and how often it rounds to the truth",
            0,
        );
    let letter = if found.concentrated { "ρ" } else { "ε" };
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
    let objects = |all: &[Averaged]| {
        let records = Records::of(all).named("asked", |a| a.asked).named("error", |a| a.error);
        records.named("true", |a| a.right.rate()).finish("", 0).1
    };
    let who = match args.attacked.policy() {
        Some(_) => "The policy's tables",
        None => "A made-up table of 1,000 people",
    };
    Findings {
        json: json!({
            "attack": "average", "epsilon": epsilon.get(), "budget": budget.get(),
            "fresh_noise": objects(&found.fresh), "same_words": objects(&found.same),
            "other_words": objects(&found.varied), "spent_same_words": found.spent[0],
            "spent_other_words": found.spent[1], "answers_other_words": found.answers,
        }),
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
            tables: vec![table],
            charts: vec![found.chart()],
            meaning,
        },
    }
}
