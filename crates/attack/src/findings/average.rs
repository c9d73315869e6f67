//! What averaging found: the error of the mean of many answers, of three databases.

use super::Findings;
use crate::average::{Averaged, expected_error, expected_right};
use crate::curator::average::{AverageOutcome, Options};
use demure_report::document::Document;
use demure_report::number::percent_aligned as percent;
use demure_report::{Records, grouped, short};
use serde_json::json;

/// What was found; `made_up` where the table was.
#[must_use]
pub fn average(found: &AverageOutcome, of: &Options<'_>, made_up: bool) -> Findings {
    let (epsilon, budget, laplace) = (of.epsilon, found.budget, found.laplace);
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
    let who = if made_up { "A made-up table of 1,000 people" } else { "The policy's tables" };
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
                grouped(f64::from(of.repeat)),
                of.runs
            ),
            tables: vec![table],
            charts: vec![found.chart()],
            meaning,
        },
    }
}
