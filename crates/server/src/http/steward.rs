//! What stewards see and do: the policy, accounts, personal limits, periods, freezes, the record.

use super::caller::{MetricsReader, Steward};
use super::input::Input;
use super::problem::Problem;
use super::{App, apart};
use crate::json;
use crate::users::Role;
use axum::Json;
use axum::extract::rejection::QueryRejection;
use axum::extract::{Query, State};
use axum::http::header;
use axum::response::{IntoResponse, Response};
use demure_core::unit::{Delta, Epsilon};
use demure_report::number::moment;
use serde::Deserialize;
use serde_json::{Value, json};
use std::sync::Arc;

/// An answer as JSON, or what went wrong.
type JsonResult = Result<Json<Value>, Problem>;

fn done() -> Json<Value> {
    Json(json!({ "done": true }))
}

/// The policy as it was written.
pub(super) async fn policy(State(app): State<Arc<App>>, _: Steward) -> Json<Value> {
    let policy = app.service.curator.policy();
    Json(json!({ "text": policy.text, "warnings": policy.warnings }))
}

/// All accounts.
pub(super) async fn users(State(app): State<Arc<App>>, _: Steward) -> JsonResult {
    let service = Arc::clone(&app.service);
    let accounts = apart(move || service.users.list()).await??;
    let lines = accounts.iter().map(|account| json::account(account, moment));
    Ok(Json(json!({ "users": lines.collect::<Vec<_>>() })))
}

/// A change to an account.
#[derive(Deserialize)]
#[serde(tag = "action", rename_all = "kebab-case", deny_unknown_fields)]
pub(super) enum UserChange {
    Add { name: String, role: String, password: String },
    Password { name: String, password: String },
    Disable { name: String },
    Enable { name: String },
    Token { name: String, label: String, days: u32 },
    RevokeTokens { name: String },
}

/// Adds, disables, enables; changes a password; makes and revokes tokens.
pub(super) async fn change_user(
    State(app): State<Arc<App>>,
    Steward(by): Steward,
    Input(change): Input<UserChange>,
) -> JsonResult {
    use UserChange::{Add, Disable, Enable, Password, RevokeTokens, Token};
    let (by, service) = (by.name, Arc::clone(&app.service));
    let after = Arc::clone(&app);
    apart(move || {
        let users = &service.users;
        match change {
            Add { name, role, password } => {
                let role = Role::parse(&role)
                    .ok_or_else(|| Problem::request("a role is `analyst` or `steward`"))?;
                users.add(&by, &name, role, &password)?;
            }
            Password { name, password } => {
                users.set_password(&by, &name, &password)?;
                after.sessions.close_all(&name);
            }
            Disable { name } if name == by => {
                return Err(Problem::request("nobody disables their own account")
                    .hint("another steward can"));
            }
            Disable { name } => {
                users.set_disabled(&by, &name, true)?;
                after.sessions.close_all(&name);
            }
            Enable { name } => users.set_disabled(&by, &name, false)?,
            Token { label, .. }
                if label.chars().count() > 80 || label.contains(char::is_control) =>
            {
                return Err(Problem::request("a label is one line of at most 80 characters"));
            }
            Token { days, .. } if !(1..=3650).contains(&days) => {
                return Err(Problem::request("a token lasts for 1 to 3650 days"));
            }
            Token { name, label, days } => {
                let token = users.add_token(&by, &name, &label, days)?;
                return Ok(Json(json!({ "done": true, "token": token })));
            }
            RevokeTokens { name } => {
                let revoked = users.revoke_tokens(&by, &name)?;
                return Ok(Json(json!({ "done": true, "revoked": revoked })));
            }
        }
        Ok(done())
    })
    .await?
}

/// A change to personal limits and groups.
#[derive(Deserialize)]
#[serde(tag = "action", rename_all = "kebab-case", deny_unknown_fields)]
pub(super) enum Rights {
    /// At most this, ever.
    Grant {
        subject: String,
        epsilon: f64,
        #[serde(default)]
        delta: f64,
    },
    /// Nothing more.
    Deny {
        subject: String,
    },
    /// No limit of their own: only the other rules bind.
    Revoke {
        subject: String,
    },
    Join {
        analyst: String,
        group: String,
    },
    Leave {
        analyst: String,
        group: String,
    },
}

/// Personal limits and groups.
pub(super) async fn grants(
    State(app): State<Arc<App>>,
    Steward(by): Steward,
    Input(change): Input<Rights>,
) -> JsonResult {
    let (by, service) = (by.name, Arc::clone(&app.service));
    apart(move || {
        let ledger = service.curator.ledger();
        match change {
            Rights::Grant { subject, epsilon, delta } => {
                let (epsilon, delta) = terms(epsilon, delta)?;
                ledger.grant(&by, &subject, epsilon, delta)?;
            }
            Rights::Deny { subject } => ledger.deny(&by, &subject)?,
            Rights::Revoke { subject } => ledger.revoke(&by, &subject)?,
            Rights::Join { analyst, group } => ledger.join(&by, &analyst, &group)?,
            Rights::Leave { analyst, group } => ledger.leave(&by, &analyst, &group)?,
        }
        Ok(done())
    })
    .await?
}

/// A change of the period.
#[derive(Deserialize)]
#[serde(tag = "action", rename_all = "kebab-case", deny_unknown_fields)]
pub(super) enum PeriodChange {
    Open {
        epsilon: f64,
        #[serde(default)]
        delta: f64,
    },
    Close {},
    Remove {},
}

/// Opens, closes or removes the period.
pub(super) async fn period(
    State(app): State<Arc<App>>,
    Steward(by): Steward,
    Input(period): Input<PeriodChange>,
) -> JsonResult {
    let (by, service) = (by.name, Arc::clone(&app.service));
    apart(move || {
        let ledger = service.curator.ledger();
        match period {
            PeriodChange::Open { epsilon, delta } => {
                let (epsilon, delta) = terms(epsilon, delta)?;
                ledger.open_period(&by, epsilon, delta)?;
            }
            PeriodChange::Close {} => ledger.close_period(&by)?,
            PeriodChange::Remove {} => ledger.remove_period(&by)?,
        }
        Ok(done())
    })
    .await?
}

fn terms(epsilon: f64, delta: f64) -> Result<(Epsilon, Delta), Problem> {
    let epsilon = Epsilon::new(epsilon).map_err(|_| Problem::request("ε is greater than 0"))?;
    let delta = Delta::new(delta).map_err(|_| Problem::request("δ is from 0 to below 1"))?;
    Ok((epsilon, delta))
}

/// Why.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Reason {
    #[serde(default)]
    why: String,
}

/// Stops all spending.
pub(super) async fn freeze(
    State(app): State<Arc<App>>,
    Steward(by): Steward,
    Input(reason): Input<Reason>,
) -> JsonResult {
    let service = Arc::clone(&app.service);
    apart(move || service.curator.ledger().freeze(&by.name, &reason.why)).await??;
    Ok(done())
}

/// Lets it go on.
pub(super) async fn unfreeze(
    State(app): State<Arc<App>>,
    Steward(by): Steward,
    Input(reason): Input<Reason>,
) -> JsonResult {
    let service = Arc::clone(&app.service);
    apart(move || service.curator.ledger().unfreeze(&by.name, &reason.why)).await??;
    Ok(done())
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Newest {
    limit: Option<u32>,
}

/// The newest lines of the record, the newest first.
pub(super) async fn audit(
    State(app): State<Arc<App>>,
    _: Steward,
    newest: Result<Query<Newest>, QueryRejection>,
) -> JsonResult {
    let Query(newest) = newest.map_err(|_| Problem::request("`limit` is a whole number"))?;
    let most = newest.limit.unwrap_or(200).clamp(1, 10_000);
    let service = Arc::clone(&app.service);
    let records = apart(move || service.users.record(most)).await??;
    let lines = records.iter().map(|record| json::record(record, moment));
    Ok(Json(json!({ "records": lines.collect::<Vec<_>>() })))
}

/// Counts, for Prometheus.
pub(super) async fn metrics(
    State(app): State<Arc<App>>,
    _: MetricsReader,
) -> Result<Response, Problem> {
    let service = Arc::clone(&app.service);
    let balance = apart(move || service.curator.ledger().balance()).await??;
    let text = app.service.metrics.text(balance.spent.main, balance.left.main);
    let kind = "text/plain; version=0.0.4; charset=utf-8";
    Ok(([(header::CONTENT_TYPE, kind)], text).into_response())
}
