//! What differencing found: how often the guess is right, beside what ε allows.

use super::{Findings, measured};
use crate::bound;
use crate::curator::difference::{DifferenceOutcome, Row};
use demure_core::unit::{Delta, Epsilon, Neighbours};
use demure_report::document::Document;
use demure_report::number::percent_aligned as percent;
use demure_report::{Records, grouped, short};
use serde_json::json;

/// What was found in a made-up table, by so many attacks.
#[must_use]
pub fn on_made_up(found: &DifferenceOutcome, repeat: u32) -> Findings {
    let lead = format!(
        "A made-up table of 1,000 people, each with a secret bit. The attacker knows 999 of the \
         bits, asks how many people have the secret, and guesses the last bit, {} times over.",
        grouped(f64::from(repeat))
    );
    findings(lead, found, Vec::new())
}

/// What was found in a policy's tables, by so many attacks.
#[must_use]
pub fn on_policy(found: &DifferenceOutcome, repeat: u32) -> Findings {
    let lead = format!(
        "The attacker knows everything but whether the target is in the table, asks the query, and \
         guesses, {} times over with new noise. The worlds compared are the tables as they are and \
         without the target's rows.",
        grouped(f64::from(repeat))
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

fn findings(lead: String, found: &DifferenceOutcome, more: Vec<String>) -> Findings {
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
