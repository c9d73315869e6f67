//! The console's files, the description of the API, and the headers of every answer.

use super::App;
use super::problem::Problem;
use axum::Json;
use axum::extract::{Path, Request, State};
use axum::http::{HeaderName, HeaderValue, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use serde_json::{Value, json};
use std::sync::Arc;

const HTML: &str = "text/html; charset=utf-8";
const CSS: &str = "text/css; charset=utf-8";
const SCRIPT: &str = "text/javascript; charset=utf-8";
const SVG: &str = "image/svg+xml";

macro_rules! files {
    ($($name:literal: $kind:expr),* $(,)?) => {
        &[$(($name, $kind, include_str!(concat!("../console/", $name)))),*]
    };
}

/// Name, type, text.
const FILES: &[(&str, &str, &str)] = files![
    "style.css": CSS,
    "icon.svg": SVG,
    "app.js": SCRIPT,
    "api.js": SCRIPT,
    "dom.js": SCRIPT,
    "words.js": SCRIPT,
    "ask.js": SCRIPT,
    "editor.js": SCRIPT,
    "result.js": SCRIPT,
    "chart.js": SCRIPT,
    "schema.js": SCRIPT,
    "budget.js": SCRIPT,
    "journal.js": SCRIPT,
    "steward.js": SCRIPT,
];

const INDEX: &str = include_str!("../console/index.html");
const OPENAPI: &str = include_str!("openapi.json");

/// Scripts, styles and everything else come from here alone, and nothing may frame us.
const POLICY: &str = "default-src 'self'; object-src 'none'; base-uri 'none'; \
                      form-action 'self'; frame-ancestors 'none'";

pub(super) async fn index() -> Response {
    ([(header::CONTENT_TYPE, HTML)], INDEX).into_response()
}

pub(super) async fn file(Path(name): Path<String>) -> Result<Response, Problem> {
    let found = FILES.iter().find(|(file, ..)| *file == name);
    let (_, kind, text) = found.ok_or_else(Problem::nowhere)?;
    Ok(([(header::CONTENT_TYPE, *kind)], *text).into_response())
}

pub(super) async fn openapi() -> Response {
    ([(header::CONTENT_TYPE, "application/json")], OPENAPI).into_response()
}

/// Whether the server answers; nothing else.
pub(super) async fn health() -> Json<Value> {
    Json(json!({ "status": "ok" }))
}

/// A browser that has come by TLS once comes by TLS alone, for a year.
const ALWAYS_TLS: &str = "max-age=31536000";

/// Adds what every answer has.
pub(super) async fn headers(State(app): State<Arc<App>>, request: Request, next: Next) -> Response {
    let page = request.uri().path() == "/" || request.uri().path().starts_with("/console/");
    let mut response = next.run(request).await;
    let headers = response.headers_mut();
    // The console's files belong to the binary: a browser asks again, and gets the new ones.
    let cache = if page { "no-cache" } else { "no-store" };
    for (name, value) in [
        (header::CONTENT_SECURITY_POLICY, POLICY),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (header::X_FRAME_OPTIONS, "DENY"),
        (header::REFERRER_POLICY, "no-referrer"),
        (header::CACHE_CONTROL, cache),
        (HeaderName::from_static("cross-origin-opener-policy"), "same-origin"),
        (HeaderName::from_static("cross-origin-resource-policy"), "same-origin"),
        (HeaderName::from_static("permissions-policy"), "camera=(), microphone=(), geolocation=()"),
    ] {
        headers.insert(name, HeaderValue::from_static(value));
    }
    if app.settings.secure {
        let always = HeaderValue::from_static(ALWAYS_TLS);
        headers.insert(header::STRICT_TRANSPORT_SECURITY, always);
    }
    response
}
