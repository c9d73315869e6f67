//! `[timing]`: when answers leave a server, and how many an analyst may buy a minute.

use super::problem::Notes;
use super::read::choice;
use super::section::{FieldResult, Form, Noted, Section};
use super::{Mistake, TimingPolicy};
use std::time::Duration;
use toml::de::DeValue;

/// The default step of the grid for a million rows, in milliseconds.
const STEP_MS: u32 = 100;
/// The default number of new queries per analyst and minute.
const PER_MINUTE: u32 = 120;

const TIMING: Form = &[
    ("schedule", "`schedule = \"on\"` or `schedule = \"off\"`"),
    ("step_ms", "`step_ms = 100`, from 10 to 10000"),
    (
        "new_queries_per_minute",
        "`new_queries_per_minute = 120`, from 1 to 1000000, or `new_queries_per_minute = \"off\"`",
    ),
];

impl Default for TimingPolicy {
    fn default() -> Self {
        Self {
            schedule: true,
            step: Duration::from_millis(u64::from(STEP_MS)),
            new_queries_per_minute: Some(PER_MINUTE),
        }
    }
}

/// Reads the section, if there is one.
pub(super) fn timing(document: &Section<'_, '_>, notes: &mut Notes<'_>) -> TimingPolicy {
    let fallback = TimingPolicy::default();
    let Ok(Some((fields, at))) = document.typed("timing", notes, DeValue::as_table) else {
        return fallback;
    };
    let section = Section::new("`[timing]`".to_owned(), at, fields, TIMING, notes);
    let schedule = choice(&section, "schedule", &[("on", true), ("off", false)], notes);
    let step = whole(&section, "step_ms", 10..=10_000, notes);
    let rate = match section.get("new_queries_per_minute").map(|node| node.get_ref()) {
        Some(DeValue::String(_)) => {
            choice(&section, "new_queries_per_minute", &[("off", None)], notes)
        }
        _ => whole(&section, "new_queries_per_minute", 1..=1_000_000, notes)
            .map(|found| found.map(|(rate, at)| (Some(rate), at))),
    };
    // A mistake has been noted, so no policy is returned and the placeholder does not matter.
    let said = |step: Option<(u32, usize)>| step.map_or(STEP_MS, |(step, _)| step);
    TimingPolicy {
        schedule: schedule.ok().flatten().is_none_or(|(on, _)| on),
        step: Duration::from_millis(u64::from(said(step.ok().flatten()))),
        new_queries_per_minute: match rate {
            Ok(Some((rate, _))) => rate,
            _ => fallback.new_queries_per_minute,
        },
    }
}

/// A whole number within a range.
fn whole(
    section: &Section<'_, '_>,
    key: &'static str,
    range: std::ops::RangeInclusive<u32>,
    notes: &mut Notes<'_>,
) -> FieldResult<u32> {
    let Some((given, at)) = section.whole(key, notes)? else { return Ok(None) };
    match u32::try_from(given).ok().filter(|given| range.contains(given)) {
        Some(given) => Ok(Some((given, at))),
        None => {
            let (key, owner, remedy) = section.about(key);
            let found = "out of range";
            notes.mistake(at, Mistake::WrongKind { key, owner, found, remedy });
            Err(Noted)
        }
    }
}
