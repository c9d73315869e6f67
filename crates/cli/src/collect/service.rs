//! What the collector answers over HTTP.
//!
//! | request | answer |
//! |---|---|
//! | `POST /reports` | what became of the reports in the body, when those stored are on disk |
//! | `GET /estimates` | the estimates so far, as `demure collect estimate --json` has them |
//! | `GET /survey.toml` | the survey, for whoever is asked |
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

use super::estimate::rejected;
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
use demure_collect::desk::Desk;
use demure_collect::estimate::Options;
use demure_collect::report::{Submission, length};
use demure_collect::store::Receipt;
use serde_json::{Value, json};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};
use tokio::sync::{Semaphore, oneshot, watch};

/// The longest body, unless a survey's reports are longer.
const MOST_BYTES: usize = 1 << 20;
/// The longest that a body may take to arrive.
const PATIENCE: Duration = Duration::from_secs(30);
/// The most memory that bodies may take which are still coming in.
const MOST_MEMORY: usize = 256 << 20;
/// The least time between two estimates.
const PAUSE: Duration = Duration::from_millis(500);

/// What the service works with.
pub(super) struct Service {
    desk: Desk,
    /// The survey's file, as it was read.
    survey: String,
    options: Options,
    /// In kilobytes.
    memory: Semaphore,
    last: Mutex<Option<Last>>,
    /// Told when the store has failed.
    failed: watch::Sender<bool>,
}

/// The last estimates, until when they will do, and how many reports they are of.
#[derive(Clone)]
struct Last {
    text: String,
    until: Instant,
    reports: u64,
}

impl Service {
    pub(super) fn new(desk: Desk, survey: String, options: Options) -> Self {
        let memory = Semaphore::new(MOST_MEMORY / 1024);
        let failed = watch::channel(false).0;
        Self { desk, survey, options, memory, last: Mutex::new(None), failed }
    }

    /// What was counted: reports, and what was dropped since the start.
    pub(super) fn status(&self) -> (u64, Rejected) {
        self.desk.status()
    }

    /// Ends when the store has failed.
    pub(super) async fn failure(&self) {
        // The sender lives as long as the service.
        let _ = self.failed.subscribe().wait_for(|failed| *failed).await;
    }

    /// Waits until all is on disk.
    pub(super) fn close(self) -> Result<(), Error> {
        self.desk.close()
    }

    /// Takes the reports of a body; what became of them is told when that is known for all.
    fn take(&self, body: &[u8], binary: bool) -> oneshot::Receiver<Told> {
        let (sender, receiver) = oneshot::channel();
        let gather = Arc::new(Gather { told: Mutex::default(), sender: Some(sender) });
        let survey = self.desk.survey();
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
                Err(_) => gather.add(self.desk.take_json(line)),
            }
        }
        receiver
    }

    fn submit(&self, report: Vec<u8>, gather: &Arc<Gather>) {
        let gather = Arc::clone(gather);
        self.desk.submit(report, move |receipt| gather.add(receipt));
    }

    /// The estimates; those of a moment ago if there is nothing new or they were costly.
    fn estimates(&self) -> Result<String, Error> {
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        let begun = Instant::now();
        let (reports, dropped) = self.desk.status();
        if let Some(last) = last.as_ref().filter(|l| begun < l.until && l.reports > 0) {
            return Ok(last.text.clone());
        }
        let text = match self.desk.estimates(&self.options) {
            Ok(found) => found.to_json().to_string(),
            Err(Error::NoReports) => json!({
                "question": self.desk.survey().question(),
                "epsilon": self.desk.survey().epsilon().get(),
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
struct Told {
    stored: u64,
    rejected: Rejected,
    busy: u64,
    failed: u64,
}

/// Adds up receipts, and tells the sum when the last that might come has come.
struct Gather {
    told: Mutex<Told>,
    sender: Option<oneshot::Sender<Told>>,
}

impl Gather {
    fn add(&self, receipt: Result<Receipt, Error>) {
        let mut told = self.told.lock().unwrap_or_else(PoisonError::into_inner);
        match receipt {
            Ok(Receipt::Stored) => told.stored += 1,
            Ok(Receipt::Duplicate) => told.rejected.duplicate += 1,
            Ok(Receipt::Rejected(reject)) => told.rejected.add(reject),
            Err(Error::Busy) => told.busy += 1,
            Err(_) => told.failed += 1,
        }
    }
}

impl Drop for Gather {
    fn drop(&mut self) {
        let told = *self.told.get_mut().unwrap_or_else(PoisonError::into_inner);
        if let Some(sender) = self.sender.take() {
            // Whoever sent them may have gone away.
            let _ = sender.send(told);
        }
    }
}

impl Told {
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
            StatusCode::BAD_REQUEST => format!("not counted: {}", rejected(&self.rejected)),
            _ => String::new(),
        };
        if let (false, Some(object)) = (why.is_empty(), object.as_object_mut()) {
            object.insert("error".into(), why.into());
        }
        answer(self.status(), &object)
    }
}

/// The routes.
pub(super) fn router(service: Arc<Service>) -> Router {
    Router::new()
        .route("/reports", post(reports))
        .route("/estimates", get(estimates))
        .route("/survey.toml", get(survey))
        .route("/health", get(health))
        .route("/", get(|| file("text/html; charset=utf-8", include_str!("page/page.html"))))
        .route("/page.js", get(|| file("text/javascript", include_str!("page/page.js"))))
        .route("/page.css", get(|| file("text/css", include_str!("page/page.css"))))
        .with_state(service)
}

async fn reports(State(service): State<Arc<Service>>, headers: HeaderMap, body: Body) -> Response {
    const TOO_LONG: &str = "the body is longer than this service takes; send fewer reports at once";
    let binary = headers
        .get(CONTENT_TYPE)
        .is_some_and(|t| t.as_bytes().starts_with(b"application/octet-stream"));
    let most = MOST_BYTES.max(4 * length(service.desk.survey()) + (1 << 16));
    let said = headers.get(CONTENT_LENGTH).and_then(|length| length.to_str().ok()?.parse().ok());
    let said: usize = said.unwrap_or(most);
    // Known before a byte of it is asked for: a client that waits for that is told in time.
    if said > most {
        return refuse(StatusCode::PAYLOAD_TOO_LARGE, TOO_LONG);
    }
    let Ok(place) = service.memory.try_acquire_many(kilobytes(said)) else {
        return refuse(StatusCode::SERVICE_UNAVAILABLE, "too much is under way; send again later");
    };
    let body: Bytes = match tokio::time::timeout(PATIENCE, to_bytes(body, most)).await {
        Ok(Ok(body)) => body,
        // Or it was cut off, and nobody is there to be told.
        Ok(Err(_)) => return refuse(StatusCode::PAYLOAD_TOO_LARGE, TOO_LONG),
        Err(_) => return refuse(StatusCode::REQUEST_TIMEOUT, "the body took too long to arrive"),
    };
    let told = service.take(&body, binary);
    // What waits for the disk is the store's to bound.
    drop((body, place));
    let Ok(told) = told.await else {
        return refuse(StatusCode::INTERNAL_SERVER_ERROR, "the reports were lost; send them again");
    };
    if told.failed > 0 {
        service.failed.send_replace(true);
    }
    told.answer()
}

/// Rounded up; more than there are is refused.
fn kilobytes(bytes: usize) -> u32 {
    u32::try_from(bytes / 1024 + 1).unwrap_or(u32::MAX)
}

async fn estimates(State(service): State<Arc<Service>>) -> Response {
    // Counting hashes takes a while: not on the threads that take reports.
    let made = tokio::task::spawn_blocking(move || service.estimates()).await;
    match made {
        Ok(Ok(text)) => ([(CONTENT_TYPE, "application/json"), (CACHE_CONTROL, "no-store")], text)
            .into_response(),
        Ok(Err(error)) => refuse(StatusCode::INTERNAL_SERVER_ERROR, &error.to_string()),
        Err(_) => refuse(StatusCode::INTERNAL_SERVER_ERROR, "the estimates could not be made"),
    }
}

async fn survey(State(service): State<Arc<Service>>) -> Response {
    ([(CONTENT_TYPE, "application/toml")], service.survey.clone()).into_response()
}

async fn health(State(service): State<Arc<Service>>) -> Response {
    let failed = *service.failed.borrow();
    let (reports, rejected) = service.status();
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
mod tests {
    use super::*;
    use demure_collect::report::Reject;

    #[test]
    fn every_outcome_has_its_status() {
        let told = |receipts: &[fn() -> Result<Receipt, Error>]| {
            let (sender, mut receiver) = oneshot::channel();
            let gather = Arc::new(Gather { told: Mutex::default(), sender: Some(sender) });
            for receipt in receipts {
                assert!(receiver.try_recv().is_err(), "told before all is known");
                Arc::clone(&gather).add(receipt());
            }
            drop(gather);
            receiver.try_recv().unwrap().status().as_u16()
        };
        let stored = || Ok(Receipt::Stored);
        let duplicate = || Ok(Receipt::Duplicate);
        let rejected = || Ok(Receipt::Rejected(Reject::Malformed));
        let busy = || Err(Error::Busy);
        let closed = || Err(Error::Closed);
        assert_eq!(told(&[stored, duplicate, rejected]), 200);
        assert_eq!(told(&[duplicate, duplicate]), 409);
        assert_eq!((told(&[]), told(&[rejected]), told(&[duplicate, rejected])), (400, 400, 400));
        // Whoever is not told of a report's being stored sends all again.
        assert_eq!((told(&[stored, busy]), told(&[stored, busy, closed])), (503, 500));
    }
}
