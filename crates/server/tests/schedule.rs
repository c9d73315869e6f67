//! Answers leave on schedule, and not before; how often one analyst may buy.
//!
//! Bounds on times are from below, which a busy machine cannot break, or on the quickest of several.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use axum::body::{Body, to_bytes};
use axum::extract::Request;
use axum::http::StatusCode;
use axum::response::Response;
use datafusion::arrow::array::{Int64Array, RecordBatch};
use datafusion::parquet::arrow::ArrowWriter;
use demure_curator::policy::Policy;
use demure_curator::{Curator, Outcome};
use demure_server::http::{HttpSettings, app};
use demure_server::{Failure, Limits, QueryService, Role, Users, pg};
use std::convert::Infallible;
use std::fs::{self, File};
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tempfile::TempDir;
use tokio::net::TcpListener;
use tokio::sync::watch;

const PASSWORD: &str = "a long password";
const STEP: Duration = Duration::from_millis(1000);

fn write(path: &Path) {
    let column = |f: fn(i64) -> i64| Arc::new(Int64Array::from_iter_values((0..500).map(f))) as _;
    let columns = [("id", column(|i| i)), ("v", column(|i| i % 9))];
    let batch = RecordBatch::try_from_iter(columns).unwrap();
    let mut writer =
        ArrowWriter::try_new(File::create(path).unwrap(), batch.schema(), None).unwrap();
    writer.write(&batch).unwrap();
    writer.close().unwrap();
}

/// A service over a table and a damaged one, with this `[timing]`.
async fn service(timing: &str, limits: Limits) -> (Arc<QueryService>, TempDir) {
    let folder = tempfile::tempdir().unwrap();
    write(&folder.path().join("t.parquet"));
    let damaged = folder.path().join("damaged.parquet");
    write(&damaged);
    let mut bytes = fs::read(&damaged).unwrap();
    bytes[4..24].fill(0xff);
    fs::write(&damaged, bytes).unwrap();
    let policy = format!(
        "[budget]\nepsilon = 10.0\nper_query = 0.1\n[timing]\n{timing}\n\
         [tables.t]\nsource = 't.parquet'\nunit = 'id'\n\
         [tables.damaged]\nsource = 'damaged.parquet'\nunit = 'id'\n"
    );
    let policy = Policy::parse(&policy, folder.path()).unwrap();
    let curator = Curator::in_memory(policy).await.unwrap();
    let users = Users::in_memory().unwrap();
    users.add("root", "ana", Role::Analyst, PASSWORD).unwrap();
    (QueryService::new(curator, users, "clinic", limits), folder)
}

/// Asks, and tells how long it took.
async fn asked(
    service: &Arc<QueryService>,
    who: &str,
    sql: &str,
) -> (Result<Outcome, Failure>, Duration) {
    let mut session = service.curator.session(who);
    let begun = Instant::now();
    let outcome = service.ask(&mut session, sql, &[]).await;
    (outcome, begun.elapsed())
}

fn settled(service: &QueryService) -> usize {
    let entries = service.curator.ledger().entries_between(0, u64::MAX).unwrap();
    entries.iter().filter(|entry| entry.kind.to_string() == "settle").count()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nothing_of_an_answer_shows_before_its_moment() {
    let (service, _folder) = service("step_ms = 1000", Limits::default()).await;
    let begun = Instant::now();
    let asking = tokio::spawn({
        let service = Arc::clone(&service);
        async move { asked(&service, "ana", "SELECT COUNT(*) FROM t").await }
    });
    // A second connection looks as often as it can: in the ledger, and at the price.
    let mut looks = 0;
    while begun.elapsed() < STEP - Duration::from_millis(20) {
        let session = service.curator.session("eve");
        let priced = service.explain(&session, "SELECT COUNT(*) FROM t").await.unwrap();
        let (stored, elapsed) = (settled(&service), begun.elapsed());
        if elapsed < STEP {
            assert!(!priced.aggregates[0].bought && stored == 0, "seen after {elapsed:?}");
        }
        looks += 1;
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    assert!(looks > 0);
    let (outcome, took) = asking.await.unwrap();
    assert!(matches!(outcome, Ok(Outcome::Answer(_))));
    assert!(took >= STEP, "{took:?}");
    assert_eq!((settled(&service), service.running()), (1, 0));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_reads_no_rows_leaves_at_once() {
    let (service, _folder) = service("step_ms = 10000", Limits::default()).await;
    let long = Duration::from_millis(10_000);
    let mut session = service.curator.session("ana");
    session.settings_mut().set("demure.epsilon", "11").unwrap();
    for (sql, kind) in [
        ("SELECT COUNT(*) FROM t", "budget"),
        ("SELECT * FROM t", "refused"),
        ("SELECT nothing FROM t", "sql"),
    ] {
        let begun = Instant::now();
        let failure = service.ask(&mut session, sql, &[]).await.unwrap_err();
        let told = match failure {
            Failure::Budget { .. } => "budget",
            Failure::Refused { .. } => "refused",
            Failure::Sql(_) => "sql",
            other => panic!("{other}"),
        };
        assert_eq!(told, kind, "{sql}");
        assert!(begun.elapsed() < long, "{sql}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_error_after_reading_leaves_on_schedule() {
    let sql = "SELECT COUNT(v) FROM damaged";
    let (service, _folder) = service("step_ms = 1000", Limits::default()).await;
    let (outcome, took) = asked(&service, "ana", sql).await;
    assert!(matches!(outcome, Err(Failure::Failed(text)) if text.contains("incident")));
    assert!(took >= STEP, "{took:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn off_is_off() {
    // The twin of the tests above: what they see is the schedule, and no slow machine.
    let (service, _folder) = service("schedule = 'off'\nstep_ms = 1000", Limits::default()).await;
    let mut quickest = Duration::MAX;
    for i in 0..5 {
        let (outcome, took) =
            asked(&service, "ana", &format!("SELECT COUNT(*) FROM t WHERE v > {i}")).await;
        assert!(outcome.is_ok());
        quickest = quickest.min(took);
    }
    assert!(quickest < STEP, "{quickest:?}");
    let (failed, _) = asked(&service, "ana", "SELECT COUNT(v) FROM damaged").await;
    assert!(failed.is_err());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn others_work_while_answers_wait_for_their_moment() {
    // One turn for twelve statements whose moments are ten seconds away: one after the other
    // they would take two minutes.
    let limits = Limits { running: 1, ..Limits::default() };
    let (service, _folder) = service("step_ms = 10000", limits).await;
    let begun = Instant::now();
    let mut all = tokio::task::JoinSet::new();
    for i in 0..12 {
        let service = Arc::clone(&service);
        all.spawn(async move {
            asked(&service, "ana", &format!("SELECT COUNT(*) FROM t WHERE v > {i}")).await.0.is_ok()
        });
    }
    assert!(all.join_all().await.into_iter().all(|answered| answered));
    assert!(begun.elapsed() < Duration::from_secs(60), "{:?}", begun.elapsed());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn one_analyst_buys_so_many_a_minute_and_repeats_are_free() {
    let timing = "schedule = 'off'\nnew_queries_per_minute = 2";
    let (service, _folder) = service(timing, Limits::default()).await;
    let count = |i: usize| format!("SELECT COUNT(*) FROM t WHERE v > {i}");
    for i in 0..2 {
        assert!(asked(&service, "ana", &count(i)).await.0.is_ok());
    }
    let spent = service.curator.ledger().balance().unwrap().spent;
    let Err(Failure::TooOften { per_minute: 2, retry, remedy }) =
        asked(&service, "ana", &count(2)).await.0
    else {
        panic!("a third was answered within a minute")
    };
    assert!((1..=31).contains(&retry) && remedy.contains("free"), "{retry} {remedy}");
    assert_eq!(service.curator.ledger().balance().unwrap().spent, spent);
    // What was bought, prices, and other analysts.
    assert!(asked(&service, "ana", &count(1)).await.0.is_ok());
    assert!(service.explain(&service.curator.session("ana"), &count(2)).await.is_ok());
    assert!(asked(&service, "ben", &count(2)).await.0.is_ok());

    // On the PostgreSQL wire the same, with a code of its own.
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    let (_stop, stopped) = watch::channel(false);
    tokio::spawn(pg::serve(listener, pg::Encryption::None, Arc::clone(&service), stopped));
    let mut config = tokio_postgres::Config::new();
    config.host("127.0.0.1").port(port).user("ana").dbname("clinic").password(PASSWORD);
    let (client, connection) = config.connect(tokio_postgres::NoTls).await.unwrap();
    tokio::spawn(connection);
    let refused = client.simple_query(&count(3)).await.unwrap_err();
    let refused = refused.as_db_error().unwrap();
    assert_eq!(refused.code().code(), "53000", "{refused}");
    assert!(refused.hint().unwrap().contains("ask again in"), "{refused}");
    assert!(client.simple_query(&count(0)).await.is_ok());

    // And over HTTP, which says when to come back.
    let token = service.users.add_token("root", "ana", "test", 1).unwrap();
    let request = Request::post("/api/query")
        .header("authorization", format!("Bearer {token}"))
        .header("content-type", "application/json")
        .body(Body::from(format!("{{\"sql\": \"{}\"}}", count(4))))
        .unwrap();
    let reply = call(app(Arc::clone(&service), HttpSettings::default()), request).await;
    assert_eq!(reply.status(), StatusCode::TOO_MANY_REQUESTS);
    let retry: u64 = reply.headers()["retry-after"].to_str().unwrap().parse().unwrap();
    assert!((1..=31).contains(&retry), "{retry}");
    let body = to_bytes(reply.into_body(), 1 << 16).await.unwrap();
    assert!(String::from_utf8_lossy(&body).contains("\"kind\":\"rate\""), "{body:?}");
}

/// Calls a service. `axum::ServiceExt` brings `call` along.
async fn call<S>(mut service: S, request: Request) -> Response
where
    S: axum::ServiceExt<Request, Response = Response, Error = Infallible>,
{
    let Ok(response) = service.call(request).await;
    response
}
