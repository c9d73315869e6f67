//! A request's body: limited, timed, parsed. What cannot be understood is not repeated.

use super::App;
use super::problem::Problem;
use axum::body::Body;
use axum::extract::{FromRequest, Request};
use axum::http::{StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use futures::StreamExt;
use serde::de::DeserializeOwned;
use serde_json::error::Category;
use std::sync::Arc;

/// The longest path and query.
const URI: usize = 4096;

/// A body of JSON.
pub(super) struct Input<T>(pub(super) T);

impl<T: DeserializeOwned> FromRequest<Arc<App>> for Input<T> {
    type Rejection = Problem;

    async fn from_request(request: Request, app: &Arc<App>) -> Result<Self, Problem> {
        let content = request.headers().get(header::CONTENT_TYPE);
        let content = content.and_then(|value| value.to_str().ok()).unwrap_or_default();
        let kind = content.split(';').next().unwrap_or_default().trim();
        if !kind.eq_ignore_ascii_case("application/json") {
            let what = "the body must be JSON";
            return Err(Problem::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, "request", what)
                .hint("send `Content-Type: application/json`"));
        }
        let (most, within) = (app.body_bytes(), app.settings.read_time);
        let length = request.headers().get(header::CONTENT_LENGTH);
        let length = length.and_then(|value| value.to_str().ok()?.parse::<usize>().ok());
        if length.is_some_and(|length| length > most) {
            return Err(Problem::too_large(most));
        }
        let body = tokio::time::timeout(within, read(request.into_body(), most));
        let body = body.await.map_err(|_| Problem::slow())??;
        serde_json::from_slice(&body).map(Self).map_err(|error| misread(&error))
    }
}

async fn read(body: Body, most: usize) -> Result<Vec<u8>, Problem> {
    let (mut stream, mut bytes) = (body.into_data_stream(), Vec::new());
    while let Some(part) = stream.next().await {
        let part = part.map_err(|_| Problem::request("the body ended early"))?;
        if bytes.len() + part.len() > most {
            return Err(Problem::too_large(most));
        }
        bytes.extend_from_slice(&part);
    }
    Ok(bytes)
}

/// What serde says quotes values, which may be passwords; only fields are named here.
fn misread(error: &serde_json::Error) -> Problem {
    let at = format!("line {}, column {}", error.line(), error.column());
    if error.classify() != Category::Data {
        return Problem::request(format!("the body is not JSON ({at})"));
    }
    let text = error.to_string();
    let about_fields = ["unknown field", "missing field", "duplicate field"];
    let named = about_fields.iter().any(|opening| text.starts_with(opening)) && text.len() < 300;
    let what = if named { text } else { format!("a value is not what it must be ({at})") };
    Problem::request(what).hint("GET /api/openapi.json describes every body")
}

/// Refuses paths and queries that are too long.
pub(super) async fn whole_uri(request: Request, next: Next) -> Response {
    let long = request.uri().path_and_query().is_some_and(|uri| uri.as_str().len() > URI);
    if long {
        let what = "the path is too long";
        return Problem::new(StatusCode::URI_TOO_LONG, "too-large", what).into_response();
    }
    next.run(request).await
}
