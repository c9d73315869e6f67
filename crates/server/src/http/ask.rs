//! Questions: `/api/query`, `/api/explain`.

use super::caller::Caller;
use super::input::Input;
use super::problem::Problem;
use super::{App, apart, table};
use crate::json;
use crate::query_service::Failure;
use crate::users::User;
use axum::Json;
use axum::extract::State;
use axum::http::{HeaderMap, header};
use axum::response::{IntoResponse, Response};
use demure_curator::{Error, Outcome, Session};
use serde::Deserialize;
use serde_json::Value;
use std::sync::Arc;

/// A question with its settings; each is as `SET demure.…` takes it.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Question {
    sql: String,
    epsilon: Option<f64>,
    delta: Option<f64>,
    error_at_most: Option<f64>,
    max_groups: Option<u32>,
    max_rows_per_group: Option<u32>,
    #[serde(default)]
    intervals: bool,
}

impl Question {
    /// A session with these settings.
    fn session(&self, app: &App, user: &User) -> Result<Session, Problem> {
        if self.epsilon.is_some() && self.error_at_most.is_some() {
            return Err(Problem::request("`epsilon` and `error_at_most` exclude each other"));
        }
        let mut session = app.service.curator.session(&user.name);
        let settings = session.settings_mut();
        let number = |x: Option<f64>| x.map(|x| x.to_string());
        let count = |x: Option<u32>| x.map(|x| x.to_string());
        for (name, value) in [
            ("demure.epsilon", number(self.epsilon)),
            ("demure.delta", number(self.delta)),
            ("demure.error_at_most", number(self.error_at_most)),
            ("demure.max_groups", count(self.max_groups)),
            ("demure.max_rows_per_group", count(self.max_rows_per_group)),
        ] {
            let Some(value) = value else { continue };
            let set = settings.set(name, &value).map_err(Error::from);
            set.map_err(|error| Problem::of(Failure::from(error), &app.service, user.role))?;
        }
        settings.intervals = self.intervals;
        Ok(session)
    }
}

/// Answers.
pub(super) async fn query(
    State(app): State<Arc<App>>,
    Caller(user): Caller,
    headers: HeaderMap,
    Input(question): Input<Question>,
) -> Result<Response, Problem> {
    let mut session = question.session(&app, &user)?;
    let place = Arc::clone(&app.asking).try_acquire_owned().map_err(|_| Problem::busy())?;
    // A task that ends with this request: when the client leaves, the work ends too, and gives its
    // place back when it has. What was debited by then stays spent.
    let service = Arc::clone(&app.service);
    let mut asked = app.service.spawn(async move {
        let _held = place;
        service.ask(&mut session, &question.sql, &[]).await
    });
    let outcome = asked.join_next().await.and_then(Result::ok).ok_or_else(Problem::failed)?;
    let outcome = outcome.map_err(|failure| Problem::of(failure, &app.service, user.role))?;
    match outcome {
        Outcome::Answer(answer) => {
            let accepts = headers.get(header::ACCEPT).and_then(|value| value.to_str().ok());
            let arrow = accepts.is_some_and(|kinds| kinds.contains(table::ARROW));
            let service = Arc::clone(&app.service);
            apart(move || {
                let balance = service.curator.ledger().balance_for(&user.name)?;
                let made = match arrow {
                    true => table::arrow(&answer, &balance),
                    false => table::json(&answer, &balance, question.intervals),
                };
                made.ok_or_else(Problem::failed)
            })
            .await?
        }
        Outcome::Explanation(explanation) => {
            Ok(Json(json::explanation(&explanation)).into_response())
        }
        _ => Err(Problem::request("a setting lasts for one request here")
            .hint("send settings beside the query: {\"sql\": …, \"epsilon\": 0.5}")),
    }
}

/// What a query would cost, and how wrong its answer would be. No protected row is read.
pub(super) async fn explain(
    State(app): State<Arc<App>>,
    Caller(user): Caller,
    Input(question): Input<Question>,
) -> Result<Json<Value>, Problem> {
    let session = question.session(&app, &user)?;
    let place = Arc::clone(&app.asking).try_acquire_owned().map_err(|_| Problem::busy())?;
    let service = Arc::clone(&app.service);
    let mut explained = app.service.spawn(async move {
        let _held = place;
        service.explain(&session, &question.sql).await
    });
    let explanation =
        explained.join_next().await.and_then(Result::ok).ok_or_else(Problem::failed)?;
    let explanation =
        explanation.map_err(|failure| Problem::of(failure, &app.service, user.role))?;
    Ok(Json(json::explanation(&explanation)))
}
