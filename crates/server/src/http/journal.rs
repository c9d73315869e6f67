//! What was spent, by whom, for what: `/api/ledger`.

use super::caller::Caller;
use super::problem::Problem;
use super::{App, apart};
use crate::told::price;
use crate::users::Role;
use axum::Json;
use axum::extract::rejection::QueryRejection;
use axum::extract::{Query, State};
use demure_ledger::{Accounting, Entry, Kind, Start};
use serde::Deserialize;
use serde_json::{Value, json};
use std::sync::Arc;
use std::time::SystemTime;

/// The most entries of a page.
const PAGE: usize = 1000;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Page {
    /// Entries with a greater number, the oldest first.
    after: Option<u64>,
    /// Entries with a smaller number, the newest first; this is the default, from the end.
    before: Option<u64>,
    limit: Option<usize>,
}

/// A page of the journal: all of it for stewards, one's own entries for analysts.
pub(super) async fn show(
    State(app): State<Arc<App>>,
    Caller(user): Caller,
    page: Result<Query<Page>, QueryRejection>,
) -> Result<Json<Value>, Problem> {
    let wrong = || Problem::request("`after`, `before` and `limit` are whole numbers");
    let Query(page) = page.map_err(|_| wrong())?;
    if page.after.is_some() && page.before.is_some() {
        return Err(Problem::request("`after` and `before` exclude each other"));
    }
    let limit = page.limit.unwrap_or(100).clamp(1, PAGE);
    let start = page.after.map_or(Start::Before(page.before.unwrap_or(u64::MAX)), Start::After);
    // A few at a time: those who come at once wait for each other, and for nobody else.
    let turn = Arc::clone(&app.paging).acquire_owned().await.map_err(|_| Problem::busy())?;
    let desk = Arc::clone(&app.desk);
    let read = apart(move || {
        let _held = turn;
        let ledger = desk.curator.ledger();
        let accounting = ledger.balance()?.limit.accounting;
        let who = (user.role != Role::Steward).then_some(user.name.as_str());
        Ok::<_, demure_ledger::Error>((ledger.page(start, who, limit)?, accounting))
    });
    let (page, accounting) = read.await??;
    let concentrated = accounting == Accounting::Zcdp;
    let listed: Vec<Value> = page.entries.iter().map(|entry| line(entry, concentrated)).collect();
    Ok(Json(json!({ "entries": listed, "next": page.next })))
}

/// An entry, without what says something of the data: the key that an answer is found by is
/// nobody's business, and neither is a hash of the time when keys were plain.
fn line(entry: &Entry, concentrated: bool) -> Value {
    let subject = matches!(
        entry.kind,
        Kind::Grant | Kind::Member | Kind::Identity | Kind::Unit | Kind::Replaced
    );
    let hash = entry.shareable.then(|| crate::users::hex(&entry.hash));
    json!({
        "seq": entry.seq,
        "time": moment(entry.time),
        "kind": entry.kind.to_string(),
        "refers": entry.refers,
        "who": entry.who,
        "key": if subject { entry.key.as_str() } else { "" },
        "query": entry.query,
        "event": entry.event,
        "cost": price(&entry.price, concentrated),
        "answer_bytes": entry.answer_bytes,
        "hash": hash,
    })
}

/// A moment as `2026-11-15T16:31:37Z`; before 1970 as 1970.
pub(super) fn moment(time: SystemTime) -> String {
    let seconds = time.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default().as_secs();
    let (days, of_day) = (seconds / 86_400, seconds % 86_400);
    // Eras of 400 years, which begin on a first of March: Hinnant, "chrono-compatible low-level
    // date algorithms", civil_from_days.
    let days = days + 719_468;
    let (era, of_era) = (days / 146_097, days % 146_097);
    let year = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year + year / 4 - year / 100);
    let march = (5 * of_year + 2) / 153;
    let day = of_year - (153 * march + 2) / 5 + 1;
    let month = if march < 10 { march + 3 } else { march - 9 };
    let year = year + 400 * era + u64::from(month <= 2);
    let (hour, minute, second) = (of_day / 3600, of_day / 60 % 60, of_day % 60);
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}Z")
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn moments_read_as_dates() {
        // As `date -u -d @…` has them.
        for (seconds, text) in [
            (0, "1970-01-01T00:00:00Z"),
            (951_782_399, "2000-02-28T23:59:59Z"),
            (951_782_400, "2000-02-29T00:00:00Z"),
            (1_800_000_000, "2027-01-15T08:00:00Z"),
            (4_107_542_400, "2100-03-01T00:00:00Z"),
        ] {
            assert_eq!(moment(SystemTime::UNIX_EPOCH + Duration::from_secs(seconds)), text);
        }
        let before = SystemTime::UNIX_EPOCH - Duration::from_secs(1);
        assert_eq!(moment(before), "1970-01-01T00:00:00Z");
    }
}
