//! Who is asking: a token, or a cookie from our own page.

use super::problem::Problem;
use super::{App, apart};
use crate::users::{Role, User};
use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use axum::http::{HeaderMap, Method, header};
use std::sync::Arc;

/// Somebody whose account is enabled, at this moment.
pub(super) struct Caller(pub(super) User);

/// The same, and a steward.
pub(super) struct Steward(pub(super) User);

impl FromRequestParts<Arc<App>> for Caller {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, app: &Arc<App>) -> Result<Self, Problem> {
        let service = Arc::clone(&app.service);
        let user = if parts.headers.contains_key(header::AUTHORIZATION) {
            let token = bearer(&parts.headers).ok_or_else(Problem::unknown_caller)?.to_owned();
            apart(move || service.users.bearer(&token)).await?
        } else {
            let id = cookie(&parts.headers, app.settings.secure);
            let found = id.and_then(|id| app.sessions.find(id));
            let (name, mark) = found.ok_or_else(Problem::unknown_caller)?;
            // After the cookie, so that a stranger learns nothing; before anything is done.
            let safe = parts.method == Method::GET || parts.method == Method::HEAD;
            if !safe && !ours(&parts.headers, app, true) {
                return Err(Problem::other_site());
            }
            apart(move || service.users.still(&name, mark)).await?
        };
        user.map(Self).map_err(|_| Problem::unknown_caller())
    }
}

impl FromRequestParts<Arc<App>> for Steward {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, app: &Arc<App>) -> Result<Self, Problem> {
        let Caller(user) = Caller::from_request_parts(parts, app).await?;
        if user.role == Role::Steward { Ok(Self(user)) } else { Err(Problem::stewards_only()) }
    }
}

/// A token for metrics, or a steward.
pub(super) struct MetricsReader;

impl FromRequestParts<Arc<App>> for MetricsReader {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, app: &Arc<App>) -> Result<Self, Problem> {
        if let Some(token) = bearer(&parts.headers).map(str::to_owned) {
            let service = Arc::clone(&app.service);
            if apart(move || service.users.reads_metrics(&token)).await?? {
                return Ok(Self);
            }
        }
        Steward::from_request_parts(parts, app).await.map(|_| Self)
    }
}

fn bearer(headers: &HeaderMap) -> Option<&str> {
    let (scheme, token) = headers.get(header::AUTHORIZATION)?.to_str().ok()?.split_once(' ')?;
    scheme.eq_ignore_ascii_case("bearer").then_some(token.trim())
}

/// The cookie's name: with TLS one that only this host, by TLS, can have set.
pub(super) fn cookie_name(secure: bool) -> &'static str {
    if secure { "__Host-demure" } else { "demure" }
}

/// The session's id.
pub(super) fn cookie(headers: &HeaderMap, secure: bool) -> Option<&str> {
    let all = headers.get_all(header::COOKIE).into_iter();
    all.filter_map(|line| line.to_str().ok())
        .flat_map(|line| line.split(';'))
        .filter_map(|pair| pair.trim().split_once('='))
        .find(|(name, _)| *name == cookie_name(secure))
        .map(|(_, id)| id)
}

/// Whether a browser says that the request comes from our own page. `said`: whether it must
/// say anything; browsers do, and programs do not.
pub(super) fn ours(headers: &HeaderMap, app: &App, said: bool) -> bool {
    let text = |name: &str| headers.get(name).map(|value| value.to_str().unwrap_or("?"));
    let (site, origin) = (text("sec-fetch-site"), text("origin"));
    if site.is_some_and(|site| site != "same-origin") {
        return false;
    }
    match origin {
        None => site.is_some() || !said,
        Some(origin) => {
            let named = app.settings.origin.as_deref().is_some_and(|ours| ours == origin);
            let host = origin.split_once("://").map(|(_, host)| host);
            named || (host.is_some() && host == text("host"))
        }
    }
}
