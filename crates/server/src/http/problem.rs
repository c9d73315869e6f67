//! What went wrong, as JSON: `{"error": …, "hint": …, "kind": …}`.
//!
//! # Guarantee
//! Nothing in it comes from a protected row, and analysts are told nothing of files, servers
//! or threads: what failed inside is told to stewards only, and to analysts a number.

use crate::query_service::{Failure, QueryService};
use crate::users::{self, Role};
use axum::Json;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use demure_ledger::Error as LedgerError;
use serde_json::{Map, Value};

/// What went wrong.
#[derive(Debug)]
pub(super) struct Problem {
    status: StatusCode,
    kind: &'static str,
    what: String,
    hint: Option<String>,
    /// Seconds after which it may be tried again.
    retry: Option<u64>,
}

impl Problem {
    pub(super) fn new(status: StatusCode, kind: &'static str, what: impl Into<String>) -> Self {
        Self { status, kind, what: what.into(), hint: None, retry: None }
    }

    pub(super) fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// The request cannot be understood.
    pub(super) fn request(what: impl Into<String>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, "request", what)
    }

    pub(super) fn nowhere() -> Self {
        Self::new(StatusCode::NOT_FOUND, "request", "there is nothing here")
            .hint("the paths are listed by GET /api/openapi.json")
    }

    pub(super) fn method() -> Self {
        Self::new(StatusCode::METHOD_NOT_ALLOWED, "request", "not with this method")
            .hint("GET /api/openapi.json says which there are")
    }

    pub(super) fn unknown_caller() -> Self {
        Self::new(StatusCode::UNAUTHORIZED, "denied", "who is asking?")
            .hint("sign in, or send a token: `Authorization: Bearer …`")
    }

    pub(super) fn stewards_only() -> Self {
        Self::new(StatusCode::FORBIDDEN, "denied", "this is for stewards")
    }

    pub(super) fn other_site() -> Self {
        Self::new(
            StatusCode::FORBIDDEN,
            "denied",
            "a request with a cookie must come from the console's own page",
        )
        .hint("programs send a token instead: `Authorization: Bearer …`")
    }

    pub(super) fn busy() -> Self {
        let what = "too many are asking at this moment";
        Self::new(StatusCode::TOO_MANY_REQUESTS, "request", what).hint("try again in a few seconds")
    }

    pub(super) fn too_large(most: usize) -> Self {
        let what = format!("a request has at most {most} bytes");
        Self::new(StatusCode::PAYLOAD_TOO_LARGE, "too-large", what)
    }

    pub(super) fn slow() -> Self {
        let what = "the request did not arrive in time";
        Self::new(StatusCode::REQUEST_TIMEOUT, "timeout", what)
    }

    /// Something inside; no more is said.
    pub(super) fn failed() -> Self {
        let what = "the server could not do this";
        Self::new(StatusCode::INTERNAL_SERVER_ERROR, "failed", what).hint("tell the data steward")
    }

    /// Why a question was not answered, as far as `role` may know.
    pub(super) fn of(failure: Failure, service: &QueryService, role: Role) -> Self {
        let failure = service.told(failure, role);
        let (status, kind) = match &failure {
            Failure::Refused { .. } | Failure::Budget { .. } => {
                (StatusCode::UNPROCESSABLE_ENTITY, "refused")
            }
            Failure::TooOften { .. } => (StatusCode::TOO_MANY_REQUESTS, "rate"),
            Failure::Sql(_) => (StatusCode::BAD_REQUEST, "sql"),
            Failure::TimedOut(_) => (StatusCode::GATEWAY_TIMEOUT, "timeout"),
            Failure::TooLarge(_) => (StatusCode::PAYLOAD_TOO_LARGE, "too-large"),
            Failure::Failed(_) => (StatusCode::INTERNAL_SERVER_ERROR, "failed"),
        };
        let mut problem = Self::split(status, kind, &failure.to_string());
        if let Failure::TooOften { retry, .. } = failure {
            problem.retry = Some(retry);
        }
        match failure.hint() {
            Some(hint) => problem.hint(hint.replace(" (\\d in psql)", "")),
            None => problem,
        }
    }

    /// A text whose second line may be `hint: …`.
    fn split(status: StatusCode, kind: &'static str, text: &str) -> Self {
        match text.split_once("\nhint: ") {
            Some((what, hint)) => Self::new(status, kind, what).hint(hint),
            None => Self::new(status, kind, text),
        }
    }
}

impl From<users::Error> for Problem {
    fn from(error: users::Error) -> Self {
        use users::Error::{Denied, Exists, Name, Throttled, Unknown, UnknownToken, WeakPassword};
        let what = error.to_string();
        // The command line's hints do not help here.
        let what = what.lines().next().unwrap_or_default();
        match error {
            Name | WeakPassword => Self::request(what),
            Exists(_) => Self::new(StatusCode::CONFLICT, "request", what),
            Unknown(_) | UnknownToken(_) => Self::new(StatusCode::NOT_FOUND, "request", what),
            Throttled => Self::new(StatusCode::TOO_MANY_REQUESTS, "denied", what),
            Denied => Self::new(StatusCode::UNAUTHORIZED, "denied", what),
            _ => Self::failed(),
        }
    }
}

impl From<LedgerError> for Problem {
    fn from(error: LedgerError) -> Self {
        match error {
            LedgerError::BadName { .. }
            | LedgerError::ImpossibleLimit { .. }
            | LedgerError::ZcdpNeedsDelta => Self::request(error.to_string()),
            _ => Self::failed(),
        }
    }
}

impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        let mut object = Map::new();
        object.insert("error".into(), Value::from(self.what));
        object.insert("hint".into(), self.hint.map_or(Value::Null, Value::from));
        object.insert("kind".into(), Value::from(self.kind));
        let mut response = (self.status, Json(Value::Object(object))).into_response();
        let headers = response.headers_mut();
        if self.status == StatusCode::UNAUTHORIZED {
            headers.insert(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
        }
        if self.status == StatusCode::TOO_MANY_REQUESTS {
            headers.insert(header::RETRY_AFTER, HeaderValue::from(self.retry.unwrap_or(2)));
        }
        response
    }
}
