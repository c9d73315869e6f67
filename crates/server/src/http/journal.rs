//! What was spent, by whom, for what: `/api/ledger`.

use super::caller::Caller;
use super::problem::Problem;
use super::{App, apart};
use crate::json;
use crate::users::Role;
use axum::Json;
use axum::extract::rejection::QueryRejection;
use axum::extract::{Query, State};
use demure_ledger::{Accounting, Entry, Kind, Start};
use demure_report::number::moment;
use serde::Deserialize;
use serde_json::{Value, json};
use std::sync::Arc;

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
    let service = Arc::clone(&app.service);
    let read = apart(move || {
        let _held = turn;
        let ledger = service.curator.ledger();
        let accounting = ledger.balance()?.limit.accounting;
        let who = (user.role != Role::Steward).then_some(user.name.as_str());
        Ok::<_, demure_ledger::Error>((ledger.page(start, who, limit)?, accounting))
    });
    let (page, accounting) = read.await??;
    let concentrated = accounting == Accounting::Zcdp;
    let listed: Vec<Value> = page.entries.iter().map(|entry| line(entry, concentrated)).collect();
    Ok(Json(json!({ "entries": listed, "next": page.next })))
}

/// An entry, with what a rule is about.
fn line(entry: &Entry, concentrated: bool) -> Value {
    let subject = matches!(
        entry.kind,
        Kind::Grant | Kind::Member | Kind::Identity | Kind::Unit | Kind::Replaced
    );
    let mut line = json::entry(entry, concentrated, moment);
    line["key"] = json!(if subject { entry.key.as_str() } else { "" });
    line["answer_bytes"] = json!(entry.answer_bytes);
    line
}
