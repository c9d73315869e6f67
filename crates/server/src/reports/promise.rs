//! What a survey promised its people, written down once.
//!
//! The ledger is the curator's: a journal in which every line holds the hash of the one before. A
//! survey is one debit, of the ε that all of a person's reports of one answer cost together. It is in a
//! dataset of its own: a survey that was changed is another promise, to be added to the first for
//! people who answered both.

use super::CollectorError;
use demure_collect::randomizer::Mechanism;
use demure_collect::survey::Survey;
use demure_core::event::Event;
use demure_core::unit::{Delta, Neighbours};
use demure_curator::{SHARED_LEDGER, ledger_path};
use demure_ledger::{Accounting, Kind, Ledger, Limit, Request, wall_clock};
use std::path::Path;

/// What is in the ledger of a survey.
#[derive(Clone, Debug)]
pub struct Promise {
    /// Where it is.
    pub place: String,
    /// What it says, in the core's grammar.
    pub event: String,
    /// Whether it was written just now.
    pub new: bool,
}

/// Writes the promise into the ledger beside the survey, or where DEMURE_LEDGER says, unless it is there.
pub(super) fn write(path: &Path, survey: &Survey, who: &str) -> Result<Promise, CollectorError> {
    let epsilon = survey.epsilon();
    let limit = Limit {
        accounting: Accounting::Pure,
        epsilon,
        delta: Delta::ZERO,
        neighbours: Neighbours::Replace,
    };
    let key = survey.id_text();
    let stem = path.file_stem().unwrap_or_default().to_string_lossy();
    let dataset = format!("{stem} {key}");
    let (ledger, place) = match std::env::var(SHARED_LEDGER) {
        Ok(address) if !address.is_empty() => {
            let ledger = Ledger::connect(&address, &dataset, limit, wall_clock());
            (ledger?, SHARED_LEDGER.to_owned())
        }
        _ => {
            let file = ledger_path(path);
            let ledger = Ledger::open(&file, &dataset, limit, wall_clock());
            (ledger?, file.display().to_string())
        }
    };
    let event = event(survey)?;
    let entries = ledger.entries()?;
    let new = !entries.iter().any(|entry| entry.kind == Kind::Reserve && entry.key == key);
    if new {
        let question = survey.question().split_whitespace().collect::<Vec<_>>().join(" ");
        let query = format!("collect: {question}");
        let request = Request { who: who.to_owned(), key, query, event: event.clone() };
        let reservation = ledger.reserve(&request)?;
        // There is no answer to keep: the promise is the debit.
        drop(reservation.begin()?);
    }
    Ok(Promise { place, event: event.to_string(), new })
}

/// What one person's reports of one answer do, together.
fn event(survey: &Survey) -> Result<Event, CollectorError> {
    let epsilon = survey.epsilon().get();
    Ok(match survey.parts() {
        [part] if part.mechanism == Mechanism::Response => {
            Event::response(epsilon, part.randomizer.categories().unwrap_or(2))?
        }
        _ => Event::pure(epsilon)?,
    })
}
