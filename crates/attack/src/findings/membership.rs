//! What a test of membership found: true against false alarms, beside what ε allows.

use super::Findings;
use crate::curator::membership::{MembershipOutcome, Row};
use demure_core::unit::Epsilon;
use demure_report::document::Document;
use demure_report::number::percent_aligned as percent;
use demure_report::{Records, grouped};
use serde_json::json;

const FALSE_ALARMS: f64 = 0.05;

/// What was found of so many people, in so many releases.
#[must_use]
pub fn membership(found: &MembershipOutcome, people: u32, releases: u32) -> Findings {
    let area = |x: f64| format!("{x:.3}");
    let (table, objects) = Records::of(&found.rows)
        .shown("attributes", |row| grouped(row.attributes as f64))
        .shown("published", Row::publisher)
        .named("attributes", |row| row.attributes)
        .named("epsilon", |row| row.epsilon.map(Epsilon::get))
        .number("area", "area", |row| row.scores.area(), area)
        .number("in theory", "area_expected", |row| row.expected, area)
        .number("at most", "area_bound", Row::most_area, area)
        .number(
            "true alarms",
            "true_alarms_at_5_percent",
            |row| row.scores.true_alarms(FALSE_ALARMS),
            percent,
        )
        .number("at most", "true_alarms_bound", |row| row.most_alarms(FALSE_ALARMS), percent)
        .named("members", |row| row.scores.members.len())
        .named("outsiders", |row| row.scores.outsiders.len())
        .finish(
            "The area under the curve of true against false alarms (0.5: a coin), and true alarms at 5 % false",
            2,
        );
    let lead = format!(
        "{} made-up people in each of {} releases. Published is how many have each attribute; the \
         attacker tells members from as many outsiders by their rows.",
        grouped(f64::from(people)),
        releases
    );
    let meaning = "Exact averages tell members from outsiders as √(attributes/people) grows: the area is \
         Φ(√(d/n)/√2). The curator's budget is for all averages together: more of them are each \
         noisier, and the area is at most e^ε/(1+e^ε), true alarms at most e^ε times the false ones, \
         whatever is compared.";
    Findings {
        json: json!({
            "attack": "membership", "people": people, "releases": releases,
            "found": objects,
        }),
        document: Document {
            title: "Membership: was this person among those who were averaged?".to_owned(),
            lead,
            tables: vec![table],
            charts: found.charts(),
            meaning: vec![meaning.to_owned()],
        },
    }
}
