//! Signing in and out: `/api/session`.

use super::caller::{Caller, cookie, cookie_name, ours};
use super::input::Input;
use super::problem::Problem;
use super::{App, apart};
use crate::listener::Peer;
use crate::users::User;
use axum::Json;
use axum::extract::{ConnectInfo, FromRequest, Request, State};
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde::Deserialize;
use serde_json::{Value, json};
use std::sync::Arc;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Claim {
    user: String,
    password: String,
}

/// Who the caller is.
pub(super) async fn show(State(app): State<Arc<App>>, Caller(user): Caller) -> Json<Value> {
    Json(about(&app, &user))
}

fn about(app: &App, user: &User) -> Value {
    json!({ "user": user.name, "role": user.role.name(), "dataset": app.service.name })
}

/// Checks a password and sets a cookie.
pub(super) async fn open(
    State(app): State<Arc<App>>,
    request: Request,
) -> Result<Response, Problem> {
    // A page of another site shall not sign a visitor in under its own name either.
    if !ours(request.headers(), &app, false) {
        return Err(Problem::other_site());
    }
    let peer = request.extensions().get::<ConnectInfo<Peer>>();
    let peer = peer.map(|ConnectInfo(peer)| peer.address);
    let from = peer.map_or_else(|| "here".to_owned(), |peer| peer.to_string());
    let Input(claim) = Input::<Claim>::from_request(request, &app).await?;
    let place = Arc::clone(&app.waiting).try_acquire_owned().map_err(|_| Problem::busy())?;
    let turn = Arc::clone(&app.signing_in).acquire_owned().await.map_err(|_| Problem::busy())?;
    let service = Arc::clone(&app.service);
    let (user, mark) = apart(move || {
        let _held = (place, turn);
        let (from, address) = (format!("HTTP from {from}"), peer.map(|peer| peer.ip()));
        service.users.sign_in(&claim.user, &claim.password, &from, address)
    })
    .await?
    .inspect_err(|_| app.service.metrics.denied())?;
    let id = app.sessions.open(&user.name, mark)?;
    let secure = app.settings.secure;
    Ok(with_cookie(Json(about(&app, &user)).into_response(), &id, "", secure))
}

/// Forgets the session.
pub(super) async fn close(
    State(app): State<Arc<App>>,
    caller: Caller,
    headers: HeaderMap,
) -> Response {
    let Caller(user) = caller;
    let secure = app.settings.secure;
    if let Some(id) = cookie(&headers, secure)
        && app.sessions.find(id).is_some_and(|(name, _)| name == user.name)
    {
        app.sessions.close(id);
    }
    with_cookie(StatusCode::NO_CONTENT.into_response(), "", "; Max-Age=0", secure)
}

fn with_cookie(mut response: Response, id: &str, more: &str, secure: bool) -> Response {
    let name = cookie_name(secure);
    let tls = if secure { "; Secure" } else { "" };
    let text = format!("{name}={id}; Path=/; HttpOnly; SameSite=Strict{tls}{more}");
    // Hexadecimal digits and the above are always a header's value.
    if let Ok(value) = HeaderValue::from_str(&text) {
        response.headers_mut().insert(header::SET_COOKIE, value);
    }
    response
}
