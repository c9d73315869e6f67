//! `demure attack difference`: an attacker who knows all rows but one.

use super::options::{Attacked, Common, epsilon};
use super::render::{Findings, measured};
use crate::Failure;
use crate::input::positive;
use demure_attack::bound;
use demure_attack::curator::Target;
use demure_attack::curator::difference::{Found, Options, Row, on_made_up, on_policy};
use demure_core::unit::{Delta, Epsilon, Neighbours};
use demure_report::document::Document;
use demure_report::number::percent_aligned as percent;
use demure_report::progress::watched;
use demure_report::{Records, grouped, short};
use serde_json::json;
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
    let findings = match (args.attacked.policy(), &args.target) {
        (Some((policy, query)), Some(target)) => {
            eprintln!(
                "note: for the steward of this policy: the tables are read, its ledger is not touched, and \
                 what is printed tells about the target"
            );
            of_policy(args, &watched(|watch| on_policy(policy, query, target, &options, watch))?)
        }
        _ => of_made_up(args, &watched(|watch| on_made_up(&options, watch))?),
    };
    findings.print(&args.common, out)
}

fn of_made_up(args: &Args, found: &Found) -> Findings {
    let lead = format!(
        "A made-up table of 1,000 people, each with a secret bit. The attacker knows 999 of the \
         bits, asks how many people have the secret, and guesses the last bit, {} times over.",
        grouped(f64::from(args.repeat))
    );
    findings(lead, found, Vec::new())
}

fn of_policy(args: &Args, found: &Found) -> Findings {
    let lead = format!(
        "The attacker knows everything but whether the target is in the table, asks the query, and \
         guesses, {} times over with new noise. The worlds compared are the tables as they are and \
         without the target's rows.",
        grouped(f64::from(args.repeat))
    );
    let mut meaning = Vec::new();
    if found.with == found.without {
        meaning.push(
            "The target does not count in this query: both worlds have the same answer, and every \
             guess is a coin."
                .to_owned(),
        );
    }
    match found.neighbours {
        Neighbours::AddRemove => meaning.push(
            "The policy protects that a row is there (neighbours = \"add-remove\"), and that is what is guessed \
             here. To guess what the row of a person says who is known to be there is to compare one row less and \
             one more: twice the ε, and the bound \"of a value\"."
                .to_owned(),
        ),
        Neighbours::Replace => meaning.push(
            "The policy protects what a row says, not that it is there (neighbours = \"replace\"). \
             The bound holds here if a row that the query does not count, in place of the target's, \
             gives the same answer as leaving the target out: so it is for COUNT and SUM."
                .to_owned(),
        ),
    }
    findings(lead, found, meaning)
}

fn findings(lead: String, found: &Found, more: Vec<String>) -> Findings {
    let (rows, exact) = (&found.rows, found.exact.rate());
    let two = |row: &Row| row.naive.map_or(f64::NAN, |(share, _)| share.rate());
    let theory = |row: &Row| row.naive.map_or(f64::NAN, |(_, theory)| theory);
    let twice = |row: &Row| Epsilon::new(2.0 * row.epsilon.get());
    let mut records = Records::of(rows)
        .number("ε asked", "epsilon", |row| row.epsilon.get(), short)
        .number("spent", "spent", |row| row.spent, short)
        .shown("exact", |_| percent(exact))
        .shown("curator, right (95 %)", |row| measured(row.curator))
        .named("right", |row| row.curator.rate())
        .named("hits", |row| row.curator.hits)
        .named("trials", |row| row.curator.trials)
        .number("at most", "bound", |row| row.bound, percent)
        .named("bound_of_a_value", |row| row.of_a_value)
        .named("two_laplace", two)
        .named("two_laplace_expected", theory);
    if rows.iter().any(|row| row.of_a_value > row.bound) {
        records = records.shown("of a value, at most", |row| percent(row.of_a_value));
    }
    if rows.iter().any(|row| row.naive.is_some()) {
        let most = |row: &Row| twice(row).map_or(1.0, |twice| bound::guess(twice, Delta::ZERO));
        records = records
            .shown("two Laplace answers", |row| percent(two(row)))
            .shown("in theory", |row| percent(theory(row)))
            .shown("at most, for 2ε", |row| percent(most(row)));
    }
    let title = format!(
        "How often the guess is right (exact answers: {} with the target, {} without)",
        short(found.with),
        short(found.without)
    );
    let (table, objects) = records.finish(title, 0);
    let mut meaning = vec![
        "\"At most\" is e^ε/(1+e^ε) at the ε that one attack spends: no attacker does better between \
         two neighbouring tables, whatever they know (under zCDP: ½ + ½·min(√(ρ/2), √(1−e^−ρ)) at the ρ spent). A count with \
         discrete Laplace noise reaches it: that is what ε means."
            .to_owned(),
    ];
    meaning.extend(more);
    Findings {
        json: json!({
            "attack": "difference", "exact_right": exact, "exact_with": found.with,
            "exact_without": found.without, "curator": objects,
        }),
        document: Document {
            title: "Differencing: an attacker who knows all rows but one".to_owned(),
            lead,
            tables: vec![table],
            charts: found.chart().into_iter().collect(),
            meaning,
        },
    }
}
