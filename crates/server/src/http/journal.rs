//! What was spent, by whom, for what: `/api/ledger`.

use super::caller::Caller;
use super::problem::Problem;
use super::{App, apart};
use crate::told::price;
use crate::users::Role;
use axum::Json;
use axum::extract::rejection::QueryRejection;
use axum::extract::{Query, State};
use demure_ledger::{Accounting, Entry, Kind, Ledger};
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
    let desk = Arc::clone(&app.desk);
    let read = apart(move || {
        let ledger = desk.curator.ledger();
        let accounting = ledger.balance()?.limit.accounting;
        let seen = |entry: &Entry| user.role == Role::Steward || entry.who == user.name;
        Ok::<_, demure_ledger::Error>((found(ledger, &page, limit + 1, seen)?, accounting))
    });
    let (mut found, accounting) = read.await??;
    let more = found.len() > limit;
    found.truncate(limit);
    let next = found.last().filter(|_| more).map(|entry| entry.seq);
    let concentrated = accounting == Accounting::Zcdp;
    let listed: Vec<Value> = found.iter().map(|entry| line(entry, concentrated)).collect();
    Ok(Json(json!({ "entries": listed, "next": next })))
}

/// The first `most` entries of a page, and of the journal no more than that needs.
fn found(
    ledger: &Ledger,
    page: &Page,
    most: usize,
    seen: impl Fn(&Entry) -> bool,
) -> demure_ledger::Result<Vec<Entry>> {
    const AT_A_TIME: u64 = 2048;
    let newest = ledger.newest()?;
    let mut found = Vec::new();
    match page.after {
        Some(mut after) => {
            while found.len() < most && after < newest {
                let until = after.saturating_add(AT_A_TIME);
                let some = ledger.entries_between(after, until.saturating_add(1))?;
                found.extend(some.into_iter().filter(&seen));
                after = until;
            }
        }
        None => {
            let mut before = page.before.unwrap_or(u64::MAX).min(newest.saturating_add(1));
            while found.len() < most && before > 1 {
                let after = before.saturating_sub(AT_A_TIME + 1);
                let some = ledger.entries_between(after, before)?;
                found.extend(some.into_iter().rev().filter(&seen));
                before = after + 1;
            }
        }
    }
    found.truncate(most);
    Ok(found)
}

/// An entry, without what says something of the data: the key that an answer is found by is
/// nobody's business, and neither is a hash of the time when keys were plain.
fn line(entry: &Entry, concentrated: bool) -> Value {
    let subject = matches!(entry.kind, Kind::Grant | Kind::Member | Kind::Identity | Kind::Unit);
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
