//! The collector over HTTP: a survey's reports in, its estimates out.
//!
//! | request | answer |
//! |---|---|
//! | `POST /reports` | what became of the reports in the body, when those stored are on disk |
//! | `GET /estimates` | the estimates so far, as `demure collect estimate --json` has them |
//! | `GET /survey.toml` | the survey, for those who are asked |
//! | `GET /health` | whether reports can be stored, and how many are |
//! | `GET /` | a page that shows the estimates as they come in |
//!
//! A body is reports in JSON, one a line, or, as `application/octet-stream`, in binary, one after the
//! other (just one where attributes are sampled: such reports differ in length).
//!
//! | status | of `POST /reports` | what a client does |
//! |---|---|---|
//! | 200 | at least one was new, and is on disk; the body counts the others | nothing |
//! | 409 | all were there before, on disk | nothing |
//! | 400 | none can be used | look at the counts: another survey, or damaged |
//! | 413 | the body is too long | send fewer at once |
//! | 503 | too much is under way | send again later: what was stored is then a repetition |
//! | 500 | the disk failed; the service stops | send again when it is back |
//!
//! No address, time or header of a request is written anywhere.

mod promise;

pub use promise::Promise;

use crate::listener::{ConnectionLimits, LimitedListener};
use axum::Router;
use axum::body::{Body, Bytes, to_bytes};
use axum::extract::State;
use axum::http::header::{
    CACHE_CONTROL, CONTENT_LENGTH, CONTENT_SECURITY_POLICY, CONTENT_TYPE, RETRY_AFTER,
    X_CONTENT_TYPE_OPTIONS,
};
use axum::http::{HeaderMap, HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use demure_collect::Error;
use demure_collect::collector::Rejected;
use demure_collect::estimate::Options;
use demure_collect::report::{Submission, length};
use demure_collect::service::ReportService;
use demure_collect::store::{Receipt, Recovered};
use demure_collect::survey::Survey;
use demure_core::random::SystemRandom;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};
use tokio::net::TcpListener;
use tokio::sync::{Semaphore, oneshot, watch};

/// The longest body, unless a survey's reports are longer.
const MOST_BYTES: usize = 1 << 20;
/// The longest that a body may take to arrive.
const PATIENCE: Duration = Duration::from_secs(30);
/// The most memory that bodies may take which are still coming in.
const MOST_MEMORY: usize = 256 << 20;
/// The least time between two estimates.
const PAUSE: Duration = Duration::from_millis(500);

/// The most connections at once; others wait to be accepted. Behind a proxy all have one address, so that
/// an address may have all of them.
const MOST_CONNECTIONS: usize = 1024;
/// The longest that a connection may neither send nor take anything.
const SILENCE: Duration = Duration::from_secs(30);
/// The longest that open requests may take after the end has begun.
const DRAIN: Duration = Duration::from_secs(10);

/// Why a collector does not open, or did not end well.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CollectorError {
    /// The survey or the store.
    #[error(transparent)]
    Collect(#[from] Error),
    /// The ledger that holds what the survey promises.
    #[error(transparent)]
    Ledger(#[from] demure_ledger::Error),
}

impl From<demure_core::Error> for CollectorError {
    fn from(error: demure_core::Error) -> Self {
        Self::Collect(error.into())
    }
}

/// A survey, its store and its ledger, ready to be served.
pub struct Collector {
    service: ReportService,
    store: PathBuf,
    promise: Promise,
    /// The survey's file, as it was read.
    survey: String,
    options: Options,
    /// In kilobytes.
    memory: Semaphore,
    last: Mutex<Option<Last>>,
    /// Becomes true when the store has failed.
    failed: watch::Sender<bool>,
}

impl std::fmt::Debug for Collector {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Collector").field("store", &self.store).finish_non_exhaustive()
    }
}

/// The last estimates, until when they will do, and how many reports they are of.
#[derive(Clone)]
struct Last {
    text: String,
    until: Instant,
    reports: u64,
}

impl Collector {
    /// Reads a survey, writes what it promises into its ledger for `who`, and opens the store: beside the
    /// survey (`exam.toml`: `exam.reports`) unless `store` is given.
    pub fn open(
        path: &Path,
        store: Option<&Path>,
        options: Options,
        who: &str,
    ) -> Result<Self, CollectorError> {
        // What is served is what was read, even if the file changes.
        let text = std::fs::read_to_string(path).map_err(|source| Error::Io {
            what: "reading the survey",
            path: path.to_path_buf(),
            source,
        })?;
        let survey = Survey::parse(&text)?;
        let store = store.map_or_else(|| path.with_extension("reports"), Path::to_path_buf);
        // The promise is on disk before the first report is taken.
        let promise = promise::write(path, &survey, who)?;
        let service = ReportService::open(&store, survey, &mut SystemRandom::new()?)?;
        Ok(Self {
            service,
            store,
            promise,
            survey: text,
            options,
            memory: Semaphore::new(MOST_MEMORY / 1024),
            last: Mutex::new(None),
            failed: watch::channel(false).0,
        })
    }

    /// What is asked.
    #[must_use]
    pub fn survey(&self) -> &Survey {
        self.service.survey()
    }

    /// Where the reports are kept.
    #[must_use]
    pub fn store(&self) -> &Path {
        &self.store
    }

    /// What was in the store when it was opened.
    #[must_use]
    pub fn recovered(&self) -> Recovered {
        self.service.recovered()
    }

    /// What the ledger says that the survey promises.
    #[must_use]
    pub fn promise(&self) -> &Promise {
        &self.promise
    }

    /// How many reports are counted, and what was dropped since the start.
    #[must_use]
    pub fn status(&self) -> (u64, Rejected) {
        self.service.status()
    }

    /// Serves until `shutdown` is ready or the store fails; then lets no one in, and lets requests under way
    /// finish for a while. A request that is given up was never acknowledged.
    pub async fn serve(
        self: &Arc<Self>,
        listener: TcpListener,
        shutdown: impl Future<Output = ()> + Send + 'static,
    ) -> std::io::Result<()> {
        let limits = ConnectionLimits {
            connections: MOST_CONNECTIONS,
            per_address: MOST_CONNECTIONS,
            read_time: SILENCE,
            write_time: SILENCE,
            drain: DRAIN,
        };
        let mut failed = self.failed.subscribe();
        let ending = async move {
            tokio::select! {
                () = shutdown => {}
                // The sender lives as long as the collector.
                _ = failed.wait_for(|failed| *failed) => {}
            }
        };
        let listener = LimitedListener::new(listener, None, limits);
        listener.serve(router(Arc::clone(self)), ending).await
    }

    /// Waits until all is on disk.
    pub fn close(self) -> Result<(), CollectorError> {
        Ok(self.service.close()?)
    }

    /// Takes the reports of a body; the outcome is sent when it is known for all.
    fn take(&self, body: &[u8], binary: bool) -> oneshot::Receiver<Outcome> {
        let (sender, receiver) = oneshot::channel();
        let gather = Arc::new(Gather { outcome: Mutex::default(), sender: Some(sender) });
        let survey = self.service.survey();
        if binary {
            let each = length(survey);
            let whole = !survey.samples() && !body.is_empty() && body.len().is_multiple_of(each);
            let size = if whole { each } else { body.len().max(1) };
            for report in body.chunks(size) {
                self.submit(report.to_vec(), &gather);
            }
            return receiver;
        }
        let text = String::from_utf8_lossy(body);
        // One report may be spread over lines; else each line is one.
        if let Ok(one) = Submission::from_json(survey, &text) {
            self.submit(one.to_bytes(survey), &gather);
            return receiver;
        }
        for line in text.lines().filter(|line| !line.trim().is_empty()) {
            match Submission::from_json(survey, line) {
                Ok(report) => self.submit(report.to_bytes(survey), &gather),
                // It is counted, and nothing is waited for.
                Err(_) => gather.add(self.service.take_json(line)),
            }
        }
        receiver
    }

    fn submit(&self, report: Vec<u8>, gather: &Arc<Gather>) {
        let gather = Arc::clone(gather);
        self.service.submit(report, move |receipt| gather.add(receipt));
    }

    /// The estimates; those of a moment ago if there is nothing new or they were costly.
    fn estimates(&self) -> Result<String, Error> {
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        let begun = Instant::now();
        let (reports, dropped) = self.service.status();
        if let Some(last) = last.as_ref().filter(|l| begun < l.until && l.reports > 0) {
            return Ok(last.text.clone());
        }
        let text = match self.service.estimates(&self.options) {
            Ok(found) => found.to_json().to_string(),
            Err(Error::NoReports) => json!({
                "question": self.service.survey().question(),
                "epsilon": self.service.survey().epsilon().get(),
                "reports": 0, "rejected": dropped,
            })
            .to_string(),
            Err(error) => return Err(error),
        };
        // Reports wait while estimates are made: a tenth of the time at most.
        let until = Instant::now() + PAUSE.max(begun.elapsed() * 10);
        *last = Some(Last { text: text.clone(), until, reports });
        Ok(text)
    }
}

/// What became of the reports of one body.
#[derive(Clone, Copy, Default)]
struct Outcome {
    stored: u64,
    rejected: Rejected,
    busy: u64,
    failed: u64,
}

/// Adds up receipts, and sends the sum when the last that might come has come.
struct Gather {
    outcome: Mutex<Outcome>,
    sender: Option<oneshot::Sender<Outcome>>,
}

impl Gather {
    fn add(&self, receipt: Result<Receipt, Error>) {
        let mut outcome = self.outcome.lock().unwrap_or_else(PoisonError::into_inner);
        match receipt {
            Ok(Receipt::Stored) => outcome.stored += 1,
            Ok(Receipt::Duplicate) => outcome.rejected.duplicate += 1,
            Ok(Receipt::Rejected(reject)) => outcome.rejected.add(reject),
            Err(Error::Busy) => outcome.busy += 1,
            Err(_) => outcome.failed += 1,
        }
    }
}

impl Drop for Gather {
    fn drop(&mut self) {
        let outcome = *self.outcome.get_mut().unwrap_or_else(PoisonError::into_inner);
        if let Some(sender) = self.sender.take() {
            // The sender may have gone away.
            let _ = sender.send(outcome);
        }
    }
}

impl Outcome {
    fn status(&self) -> StatusCode {
        match self {
            _ if self.failed > 0 => StatusCode::INTERNAL_SERVER_ERROR,
            _ if self.busy > 0 => StatusCode::SERVICE_UNAVAILABLE,
            _ if self.stored > 0 => StatusCode::OK,
            _ if self.rejected.duplicate > 0
                && self.rejected.total() == self.rejected.duplicate =>
            {
                StatusCode::CONFLICT
            }
            _ => StatusCode::BAD_REQUEST,
        }
    }

    fn answer(&self) -> Response {
        let mut object = json!({
            "stored": self.stored, "duplicate": self.rejected.duplicate,
            "rejected": self.rejected.total() - self.rejected.duplicate,
        });
        let why = match self.status() {
            StatusCode::INTERNAL_SERVER_ERROR => {
                "the disk failed; send all again when the service is back".to_owned()
            }
            StatusCode::SERVICE_UNAVAILABLE => {
                "too much waits for the disk; send all again later".to_owned()
            }
            StatusCode::BAD_REQUEST if self.rejected.total() == 0 => {
                "the body holds no report".to_owned()
            }
            StatusCode::BAD_REQUEST => format!("not counted: {}", self.rejected),
            _ => String::new(),
        };
        if let (false, Some(object)) = (why.is_empty(), object.as_object_mut()) {
            object.insert("error".into(), why.into());
        }
        answer(self.status(), &object)
    }
}

/// The routes.
fn router(collector: Arc<Collector>) -> Router {
    Router::new()
        .route("/reports", post(reports))
        .route("/estimates", get(estimates))
        .route("/survey.toml", get(survey))
        .route("/health", get(health))
        .route("/", get(|| file("text/html; charset=utf-8", include_str!("page/page.html"))))
        .route("/page.js", get(|| file("text/javascript", include_str!("page/page.js"))))
        .route("/page.css", get(|| file("text/css", include_str!("page/page.css"))))
        .with_state(collector)
}

async fn reports(
    State(collector): State<Arc<Collector>>,
    headers: HeaderMap,
    body: Body,
) -> Response {
    const TOO_LONG: &str = "the body is longer than this service takes; send fewer reports at once";
    let binary = headers
        .get(CONTENT_TYPE)
        .is_some_and(|t| t.as_bytes().starts_with(b"application/octet-stream"));
    let most = MOST_BYTES.max(4 * length(collector.service.survey()) + (1 << 16));
    let said = headers.get(CONTENT_LENGTH).and_then(|length| length.to_str().ok()?.parse().ok());
    let said: usize = said.unwrap_or(most);
    // Known before a byte of it is asked for: a client that waits for that is refused in time.
    if said > most {
        return refuse(StatusCode::PAYLOAD_TOO_LARGE, TOO_LONG);
    }
    let Ok(place) = collector.memory.try_acquire_many(kilobytes(said)) else {
        return refuse(StatusCode::SERVICE_UNAVAILABLE, "too much is under way; send again later");
    };
    let body: Bytes = match tokio::time::timeout(PATIENCE, to_bytes(body, most)).await {
        Ok(Ok(body)) => body,
        // Or it was cut off, and there is nobody to answer.
        Ok(Err(_)) => return refuse(StatusCode::PAYLOAD_TOO_LARGE, TOO_LONG),
        Err(_) => return refuse(StatusCode::REQUEST_TIMEOUT, "the body took too long to arrive"),
    };
    let outcome = collector.take(&body, binary);
    // What waits for the disk is the store's to bound.
    drop((body, place));
    let Ok(outcome) = outcome.await else {
        return refuse(StatusCode::INTERNAL_SERVER_ERROR, "the reports were lost; send them again");
    };
    if outcome.failed > 0 {
        collector.failed.send_replace(true);
    }
    outcome.answer()
}

/// Rounded up; more than there are is refused.
fn kilobytes(bytes: usize) -> u32 {
    u32::try_from(bytes / 1024 + 1).unwrap_or(u32::MAX)
}

async fn estimates(State(collector): State<Arc<Collector>>) -> Response {
    // Counting hashes takes a while: not on the threads that take reports.
    let made = tokio::task::spawn_blocking(move || collector.estimates()).await;
    match made {
        Ok(Ok(text)) => ([(CONTENT_TYPE, "application/json"), (CACHE_CONTROL, "no-store")], text)
            .into_response(),
        Ok(Err(error)) => refuse(StatusCode::INTERNAL_SERVER_ERROR, &error.to_string()),
        Err(_) => refuse(StatusCode::INTERNAL_SERVER_ERROR, "the estimates could not be made"),
    }
}

async fn survey(State(collector): State<Arc<Collector>>) -> Response {
    ([(CONTENT_TYPE, "application/toml")], collector.survey.clone()).into_response()
}

async fn health(State(collector): State<Arc<Collector>>) -> Response {
    let failed = *collector.failed.borrow();
    let (reports, rejected) = collector.status();
    let status = if failed { StatusCode::INTERNAL_SERVER_ERROR } else { StatusCode::OK };
    answer(status, &json!({ "ok": !failed, "reports": reports, "rejected": rejected }))
}

async fn file(kind: &'static str, text: &'static str) -> Response {
    const ONLY_OURS: &str = "default-src 'none'; script-src 'self'; style-src 'self'; \
                             connect-src 'self'; base-uri 'none'; form-action 'none'; \
                             frame-ancestors 'none'";
    let headers = [
        (CONTENT_TYPE, kind),
        (CONTENT_SECURITY_POLICY, ONLY_OURS),
        (X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (CACHE_CONTROL, "no-cache"),
    ];
    (headers, text).into_response()
}

fn refuse(status: StatusCode, why: &str) -> Response {
    answer(status, &json!({ "error": why }))
}

fn answer(status: StatusCode, object: &Value) -> Response {
    let body = format!("{object}\n");
    let mut answer = (status, [(CONTENT_TYPE, "application/json")], body).into_response();
    if status == StatusCode::SERVICE_UNAVAILABLE {
        answer.headers_mut().insert(RETRY_AFTER, HeaderValue::from_static("1"));
    }
    answer
}

#[cfg(test)]
mod tests;
