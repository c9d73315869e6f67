//! HTTP: the same questions as on the PostgreSQL wire, as JSON or Arrow, and the console.
//!
//! | file | what it holds |
//! |---|---|
//! | `ask` | `/api/query`, `/api/explain` |
//! | `table` | an answer as JSON or as an Arrow stream |
//! | `schema`, `budget`, `journal` | what the policy says, what is left, what was spent |
//! | `steward` | accounts, personal limits, periods, freezes |
//! | `session` | signing in and out |
//! | `caller` | who is asking: a token or a cookie, and from which page |
//! | `sessions` | the cookies in force |
//! | `input` | a request's body: limited, timed, parsed |
//! | `problem` | what went wrong, as JSON |
//! | `pages` | the console's files, the description of the API, the headers of every answer |
//! | `serve` | at a socket |
//!
//! # Guarantee
//! - Nothing but [`QueryService::ask`] reaches a protected row, and it decides, debits and noises.
//! - Every request but `/api/health`, the console's files and signing in names an account that
//!   is enabled at that moment; what stewards do needs a steward. `/metrics` also takes a token
//!   that is good for nothing else.
//! - A page of another site can neither read an answer nor cause a debit with a visitor's
//!   cookie: the cookie is `SameSite=Strict`, and what changes anything must also say that it
//!   comes from our own page and be `application/json`, which no form can send.
//!
//! # What this module does not do
//! It speaks HTTP/1.1 only. It believes no `X-Forwarded-For`: behind a proxy, the record of
//! sign-ins shows the proxy's address.

mod ask;
mod budget;
mod caller;
mod input;
mod journal;
mod pages;
mod problem;
mod schema;
mod serve;
mod session;
mod sessions;
mod steward;
mod table;

pub use serve::serve;

use crate::query_service::QueryService;
use crate::users::Clock;
use axum::Router;
use axum::middleware::{from_fn, from_fn_with_state};
use axum::routing::{MethodRouter, get, post};
use problem::Problem;
use sessions::Sessions;
use std::fmt;
use std::sync::Arc;
use std::time::{Duration, SystemTime};
use tokio::sync::Semaphore;

/// How the HTTP wire behaves.
#[derive(Clone)]
pub struct HttpSettings {
    /// Whether browsers come by TLS, to us or to a proxy before us: the cookie is then `Secure`.
    /// [`serve`] sets it when it is given TLS.
    pub secure: bool,
    /// Where browsers see the console, as `https://demure.example`, if a proxy changes `Host`.
    pub origin: Option<String>,
    /// A session ends so long after its last use.
    pub session_time: Duration,
    /// The most sessions at once; the one unused for longest makes room.
    pub sessions: usize,
    /// Passwords that are checked at once: each takes a core for some tens of milliseconds.
    pub signing_in: usize,
    /// How long a request's head may take, and how long its body.
    pub read_time: Duration,
    /// How long the sending of an answer may stand still.
    pub write_time: Duration,
    /// How long requests under way may go on after the end has begun.
    pub drain: Duration,
    /// Tells the time, for sessions.
    pub clock: Clock,
}

impl Default for HttpSettings {
    fn default() -> Self {
        Self {
            secure: false,
            origin: None,
            session_time: Duration::from_secs(12 * 3600),
            sessions: 10_000,
            signing_in: 2,
            read_time: Duration::from_secs(30),
            write_time: Duration::from_secs(60),
            drain: Duration::from_secs(30),
            clock: Arc::new(SystemTime::now),
        }
    }
}

impl fmt::Debug for HttpSettings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HttpSettings")
            .field("secure", &self.secure)
            .field("origin", &self.origin)
            .finish_non_exhaustive()
    }
}

/// What every handler has.
struct App {
    service: Arc<QueryService>,
    settings: HttpSettings,
    sessions: Sessions,
    /// Who may check a password, and who may wait for it. Their work goes on when the client
    /// leaves, and so does its permit: leaving early gains nobody a place.
    signing_in: Arc<Semaphore>,
    waiting: Arc<Semaphore>,
    /// Who may ask. The work ends when the client leaves, and the permit with the work.
    asking: Arc<Semaphore>,
    /// Pages of the ledger that are read at once.
    paging: Arc<Semaphore>,
}

impl App {
    /// The longest body: a statement whose every byte is escaped once, and what is around it.
    fn body_bytes(&self) -> usize {
        self.service.limits.statement_bytes.saturating_mul(2).saturating_add(16 << 10)
    }
}

/// Everything that is answered, with its path. The description of the API has the same paths.
fn routes() -> Vec<(&'static str, MethodRouter<Arc<App>>)> {
    vec![
        ("/api/health", get(pages::health)),
        ("/api/openapi.json", get(pages::openapi)),
        ("/api/session", get(session::show).post(session::open).delete(session::close)),
        ("/api/query", post(ask::query)),
        ("/api/explain", post(ask::explain)),
        ("/api/schema", get(schema::show)),
        ("/api/budget", get(budget::show)),
        ("/api/ledger", get(journal::show)),
        ("/api/policy", get(steward::policy)),
        ("/api/users", get(steward::users).post(steward::change_user)),
        ("/api/grants", post(steward::grants)),
        ("/api/period", post(steward::period)),
        ("/api/freeze", post(steward::freeze)),
        ("/api/unfreeze", post(steward::unfreeze)),
        ("/api/audit", get(steward::audit)),
        ("/metrics", get(steward::metrics)),
    ]
}

/// The paths that are answered, but for the console's own.
#[must_use]
pub fn paths() -> Vec<&'static str> {
    routes().into_iter().map(|(path, _)| path).collect()
}

/// The API and the console, without a socket.
pub fn app(service: Arc<QueryService>, settings: HttpSettings) -> Router {
    let (clock, time, most) = (settings.clock.clone(), settings.session_time, settings.sessions);
    let app = Arc::new(App {
        sessions: Sessions::new(clock, time, most),
        signing_in: places(settings.signing_in),
        waiting: places(settings.signing_in.saturating_mul(16)),
        asking: places(service.limits.connections),
        paging: places(4),
        service,
        settings,
    });
    let mut router =
        Router::new().route("/", get(pages::index)).route("/console/{file}", get(pages::file));
    for (path, methods) in routes() {
        router = router.route(path, methods);
    }
    router
        .method_not_allowed_fallback(|| async { Problem::method() })
        .fallback(|| async { Problem::nowhere() })
        .layer(from_fn(input::whole_uri))
        .layer(from_fn_with_state(Arc::clone(&app), pages::headers))
        .with_state(app)
}

fn places(count: usize) -> Arc<Semaphore> {
    Arc::new(Semaphore::new(count.clamp(1, Semaphore::MAX_PERMITS)))
}

/// Something that may wait for a disk, away from the threads that serve connections.
async fn apart<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> Result<T, Problem> {
    tokio::task::spawn_blocking(work).await.map_err(|_| Problem::failed())
}
