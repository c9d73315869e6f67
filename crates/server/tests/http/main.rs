//! The HTTP wire from outside: most of it without a socket, the doors with one.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod sockets;
mod stewards;
mod tokens;

use axum::Router;
use axum::body::{Body, Bytes, to_bytes};
use axum::extract::Request;
use axum::http::{HeaderMap, Method, StatusCode};
use axum::response::Response;
use demure_curator::Curator;
use demure_curator::policy::Policy;
use demure_server::http::{HttpSettings, app, paths, serve};
use demure_server::{Limits, QueryService, Role, Users};
use serde_json::{Value, json};
use std::convert::Infallible;
use std::fmt::Write as _;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, SystemTime};
use tempfile::TempDir;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

const PASSWORD: &str = "a long password";
/// A value of one row alone; nothing may ever show it.
const CANARY: &str = "CANARY-7f3a";

const POLICY: &str = r#"
[budget]
epsilon = 3.0
delta = 1e-6
accounting = "pure"
neighbours = "add-remove"
per_query = 0.5
[tables.patients]
source = "patients.csv"
unit = "id"
max_rows_per_group = 1
[tables.patients.columns]
id = { type = "integer", nullable = false }
age = { type = "integer", bounds = [0, 110] }
sex = { values = ["f", "m"] }
remark = { type = "text" }
secret = { hidden = true }
[tables.regions]
source = "regions.csv"
public = true
key = "code"
"#;

struct House {
    app: Router,
    service: Arc<QueryService>,
    seconds: Arc<AtomicU64>,
    _folder: TempDir,
}

/// What came back.
struct Reply {
    status: StatusCode,
    headers: HeaderMap,
    body: Bytes,
}

impl Reply {
    fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap()
    }
    fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }
    fn kind(&self) -> String {
        self.json()["kind"].as_str().unwrap().to_owned()
    }
}

/// Calls a service. `axum::ServiceExt` brings `call` along.
async fn call<S>(mut service: S, request: Request) -> Reply
where
    S: axum::ServiceExt<Request, Response = Response, Error = Infallible>,
{
    let Ok(response) = service.call(request).await;
    let (parts, body) = response.into_parts();
    let body = to_bytes(body, usize::MAX).await.unwrap();
    Reply { status: parts.status, headers: parts.headers, body }
}

impl House {
    async fn new() -> Self {
        Self::with(Limits::default(), HttpSettings::default()).await
    }

    async fn with(limits: Limits, settings: HttpSettings) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let mut people = String::from("id,age,sex,remark,secret\n");
        for id in 1..=400 {
            let sex = if id % 3 == 0 { "f" } else { "m" };
            let remark = if id == 7 { CANARY } else { "12" };
            writeln!(people, "{id},{},{sex},{remark},{CANARY}", id % 90).unwrap();
        }
        std::fs::write(folder.path().join("patients.csv"), people).unwrap();
        std::fs::write(folder.path().join("regions.csv"), "code,name\nN,North\nS,South\n").unwrap();
        let policy = Policy::parse(POLICY, folder.path()).unwrap();
        let curator = Curator::in_memory(policy).await.unwrap();
        let users = Users::in_memory().unwrap();
        for (name, role) in [("ana", Role::Analyst), ("sam", Role::Steward)] {
            users.add("root", name, role, PASSWORD).unwrap();
        }
        let seconds = Arc::new(AtomicU64::new(1_800_000_000));
        let time = Arc::clone(&seconds);
        let settings = HttpSettings {
            clock: Arc::new(move || {
                SystemTime::UNIX_EPOCH + Duration::from_secs(time.load(Ordering::SeqCst))
            }),
            ..settings
        };
        let service = QueryService::new(curator, users, "clinic", limits);
        Self { app: app(Arc::clone(&service), settings), service, seconds, _folder: folder }
    }

    fn token(&self, name: &str) -> String {
        self.service.users.add_token("root", name, "test", 1).unwrap()
    }

    async fn raw(&self, request: axum::http::request::Builder, body: impl Into<Body>) -> Reply {
        call(self.app.clone(), request.body(body.into()).unwrap()).await
    }

    async fn get(&self, path: &str, token: &str) -> Reply {
        let request =
            Request::builder().uri(path).header("authorization", format!("Bearer {token}"));
        self.raw(request, "").await
    }

    async fn post(&self, path: &str, token: &str, body: Value) -> Reply {
        self.post_text(path, token, body.to_string()).await
    }

    async fn post_text(&self, path: &str, token: &str, body: impl Into<Body>) -> Reply {
        let request = Request::post(path)
            .header("authorization", format!("Bearer {token}"))
            .header("content-type", "application/json");
        self.raw(request, body).await
    }

    async fn sign_in(&self, user: &str, password: &str) -> Reply {
        let body = json!({ "user": user, "password": password }).to_string();
        self.raw(Request::post("/api/session").header("content-type", "application/json"), body)
            .await
    }

    /// The cookie of somebody who signed in, as a browser sends it.
    async fn cookie(&self, user: &str) -> String {
        let reply = self.sign_in(user, PASSWORD).await;
        assert_eq!(reply.status, StatusCode::OK);
        let cookie = reply.headers["set-cookie"].to_str().unwrap();
        cookie.split(';').next().unwrap().to_owned()
    }
}

/// Prices are calibrated from below: half an ε may be 0.499999999999995.
fn near(value: &Value, expected: f64) {
    let value = value.as_f64().unwrap();
    assert!((value - expected).abs() < 1e-9, "{value} is not {expected}");
}

/// Runs a test that waits.
fn run(test: impl Future<Output = ()>) {
    tokio::runtime::Runtime::new().unwrap().block_on(test);
}

#[test]
fn an_answer_as_json_with_its_price_and_its_intervals() {
    run(async {
        let house = House::new().await;
        let ana = house.token("ana");
        let question = json!({
            "sql": "SELECT sex, COUNT(*) AS n FROM patients GROUP BY sex ORDER BY sex",
            "epsilon": 0.5, "intervals": true,
        });
        let reply = house.post("/api/query", &ana, question.clone()).await;
        assert_eq!(reply.status, StatusCode::OK, "{}", reply.text());
        let answer = reply.json();
        assert_eq!(answer["columns"][0], json!({ "name": "sex", "type": "text" }));
        assert_eq!(answer["columns"][1], json!({ "name": "n", "type": "integer" }));
        assert_eq!(answer["columns"].as_array().unwrap().len(), 2);
        assert_eq!(answer["rows"][0][0], "f");
        let n = answer["rows"][0][1].as_f64().unwrap();
        let ends = &answer["intervals"][1][0];
        assert!(ends[0].as_f64().unwrap() < n && n < ends[1].as_f64().unwrap());
        assert_eq!(answer["intervals"][0], Value::Null);
        near(&answer["cost"]["epsilon"], 0.5);
        assert_eq!(answer["cost"]["delta"], 0.0);
        near(&answer["left"]["epsilon"], 2.5);
        assert_eq!(answer["repeated"], false);
        // Again: the same, and free.
        let again = house.post("/api/query", &ana, question).await.json();
        assert_eq!(again["rows"], answer["rows"]);
        assert_eq!(again["repeated"], true);
        assert_eq!(again["cost"]["epsilon"], 0.0);
        // Public tables cost nothing.
        let public = json!({ "sql": "SELECT code, name FROM regions ORDER BY code" });
        let public = house.post("/api/query", &ana, public).await.json();
        assert_eq!(public["rows"], json!([["N", "North"], ["S", "South"]]));
        // A median has an interval in units of its column, and an error in ranks, said in words.
        let median = json!({ "sql": "SELECT MEDIAN(age) AS m FROM patients", "epsilon": 0.3, "intervals": true });
        let median = house.post("/api/query", &ana, median).await.json();
        let end = |i: usize| median["intervals"][0][0][i].as_f64().unwrap();
        let value = median["rows"][0][0].as_f64().unwrap();
        assert!(end(0) <= value && value <= end(1) && end(0) < end(1), "{median}");
        assert!(
            median["errors"][0]["error_95"].as_str().unwrap().contains("from the exact position")
        );
        // What JSON has no number for.
        let odd = json!({ "sql": "SELECT 0.0 / 0.0 AS x, CAST(NULL AS INTEGER) AS y" });
        let odd = house.post("/api/query", &ana, odd).await;
        assert!(odd.status != StatusCode::OK || odd.json()["rows"] == json!([["NaN", null]]));
    });
}

#[test]
fn an_answer_as_an_arrow_stream() {
    run(async {
        let house = House::new().await;
        let request = Request::post("/api/query")
            .header("authorization", format!("Bearer {}", house.token("ana")))
            .header("content-type", "application/json; charset=utf-8")
            .header("accept", "application/vnd.apache.arrow.stream");
        let reply = house
            .raw(request, json!({ "sql": "SELECT COUNT(*) AS n FROM patients" }).to_string())
            .await;
        assert_eq!(reply.status, StatusCode::OK);
        assert_eq!(reply.headers["content-type"], "application/vnd.apache.arrow.stream");
        let reader =
            datafusion::arrow::ipc::reader::StreamReader::try_new(&reply.body[..], None).unwrap();
        let about: Value = serde_json::from_str(&reader.schema().metadata()["demure"]).unwrap();
        near(&about["cost"]["epsilon"], 0.5);
        let rows: usize = reader.map(|batch| batch.unwrap().num_rows()).sum();
        assert_eq!(rows, 1);
    });
}

#[test]
fn a_price_before_the_run_costs_nothing() {
    run(async {
        let house = House::new().await;
        let ana = house.token("ana");
        let question =
            json!({ "sql": "SELECT AVG(age) AS a, COUNT(*) AS n FROM patients", "epsilon": 1 });
        let told = house.post("/api/explain", &ana, question).await;
        assert_eq!(told.status, StatusCode::OK);
        let told = told.json();
        near(&told["cost"]["epsilon"], 1.0);
        assert_eq!(told["affordable"], true);
        let column = &told["aggregates"][0]["columns"][0];
        for field in ["mechanism", "sensitivity", "error_95"] {
            assert!(!column[field].as_str().unwrap().is_empty(), "{field}");
        }
        assert!(column["scale"].as_f64().unwrap() > 0.0);
        let dear = json!({ "sql": "SELECT COUNT(*) AS n FROM patients", "epsilon": 30 });
        let told = house.post("/api/explain", &ana, dear.clone()).await.json();
        assert_eq!(told["affordable"], false);
        let refused = house.post("/api/query", &ana, dear).await;
        assert_eq!(refused.status, StatusCode::UNPROCESSABLE_ENTITY);
        assert_eq!(refused.kind(), "refused");
        assert!(refused.json()["hint"].as_str().unwrap().contains("smaller epsilon"));
        let budget = house.get("/api/budget", &ana).await.json();
        assert_eq!(budget["dataset"]["spent"]["epsilon"], 0.0);
    });
}

#[test]
fn problems_have_a_status_a_kind_and_a_remedy() {
    run(async {
        let limits = Limits { statement_bytes: 2000, rows: 1, ..Limits::default() };
        let house = House::with(limits, HttpSettings::default()).await;
        let ana = house.token("ana");
        let long = "x".repeat(3000);
        for (sql, status, kind) in [
            ("SELECT * FROM patients", 422, "refused"),
            ("SELEC 1", 400, "sql"),
            ("SELECT COUNT(*) FROM nowhere", 400, "sql"),
            ("SELECT secret, COUNT(*) FROM patients GROUP BY secret", 400, "sql"),
            ("SET demure.epsilon = 1", 400, "request"),
            ("DROP TABLE patients", 422, "refused"),
            ("SELECT code FROM regions", 413, "too-large"),
            (long.as_str(), 413, "too-large"),
        ] {
            let reply = house.post("/api/query", &ana, json!({ "sql": sql })).await;
            assert_eq!((reply.status.as_u16(), reply.kind().as_str()), (status, kind), "{sql}");
            assert!(!reply.json()["error"].as_str().unwrap().is_empty());
        }
        for (body, what) in [
            (json!({ "sql": "SELECT 1", "epsilon": -1 }), 422),
            (json!({ "sql": "SELECT 1", "epsilon": 1, "error_at_most": 1 }), 400),
            (json!({ "sql": "SELECT 1", "noise": "off" }), 400),
            (json!({ "sql": 1 }), 400),
            (json!({}), 400),
            (json!([]), 400),
        ] {
            let reply = house.post("/api/query", &ana, body.clone()).await;
            assert_eq!(reply.status.as_u16(), what, "{body}");
        }
        assert_eq!(house.get("/api/nothing", &ana).await.status, StatusCode::NOT_FOUND);
        let wrong = house.get("/api/query", &ana).await;
        assert_eq!(wrong.status, StatusCode::METHOD_NOT_ALLOWED);
        assert_eq!(wrong.kind(), "request");
    });
}

#[test]
fn a_statement_that_takes_too_long() {
    run(async {
        let limits = Limits { statement_time: Duration::from_millis(30), ..Limits::default() };
        let house = House::with(limits, HttpSettings::default()).await;
        // Of public rows: what reads people's has until the schedule's next moment.
        let tables: Vec<String> = (0..24).map(|i| format!("regions r{i}")).collect();
        let sql = json!({ "sql": format!("SELECT COUNT(*) FROM {}", tables.join(", ")) });
        let reply = house.post("/api/query", &house.token("ana"), sql).await;
        assert_eq!((reply.status.as_u16(), reply.kind().as_str()), (504, "timeout"));
    });
}

#[test]
fn bodies_that_mean_harm() {
    run(async {
        let house = House::new().await;
        let ana = house.token("ana");
        let deep = format!("{}1{}", "[".repeat(100_000), "]".repeat(100_000));
        let nested = format!("{{\"sql\":\"SELECT 1\",\"epsilon\":{deep}}}");
        let parentheses = format!("SELECT {}1{}", "(".repeat(50_000), ")".repeat(50_000));
        let texts: Vec<Vec<u8>> = vec![
            deep.into_bytes(),
            nested.into_bytes(),
            b"{\"sql\":\"SELECT 1\",\"epsilon\":1e999}".to_vec(),
            b"{\"sql\":\"SELECT 1\",\"epsilon\":NaN}".to_vec(),
            b"{\"sql\":\"SELECT 1\",\"max_groups\":99999999999999999999}".to_vec(),
            b"{\"sql\":\"\xff\xfe\"}".to_vec(),
            b"{\"sql\":\"\\ud800\"}".to_vec(),
            b"{\"sql\":\"SELECT 1\",\"sql\":\"SELECT 2\"}".to_vec(),
            b"".to_vec(),
            b"\0".to_vec(),
            json!({ "sql": parentheses }).to_string().into_bytes(),
        ];
        for text in texts {
            let shown: String = String::from_utf8_lossy(&text).chars().take(60).collect();
            let reply = house.post_text("/api/query", &ana, text).await;
            assert!(reply.status.is_client_error(), "{} {shown}", reply.status);
            assert!(reply.json()["error"].is_string());
        }
        let huge = vec![b' '; 3 << 20];
        let reply = house.post_text("/api/query", &ana, huge).await;
        assert_eq!((reply.status.as_u16(), reply.kind().as_str()), (413, "too-large"));
        // A password is never repeated.
        let body = r#"{"user":"ana","password":["hunter2-hunter2"]}"#;
        let request = Request::post("/api/session").header("content-type", "application/json");
        let reply = house.raw(request, body).await;
        assert_eq!(reply.status, StatusCode::BAD_REQUEST);
        assert!(!reply.text().contains("hunter2"));
        let form = Request::post("/api/session").header("content-type", "text/plain");
        assert_eq!(house.raw(form, body).await.status, StatusCode::UNSUPPORTED_MEDIA_TYPE);
        let long = format!("/api/{}", "x".repeat(5000));
        assert_eq!(house.get(&long, &ana).await.status, StatusCode::URI_TOO_LONG);
    });
}

#[test]
fn signing_in_and_out() {
    run(async {
        let house = House::new().await;
        let wrong = house.sign_in("ana", "not her password").await;
        assert_eq!(wrong.status, StatusCode::UNAUTHORIZED);
        assert!(!wrong.headers.contains_key("set-cookie"));
        let nobody = house.sign_in("bob", "not her password").await;
        assert_eq!(nobody.body, wrong.body, "which of the two was wrong is not said");
        let right = house.sign_in("ana", PASSWORD).await;
        let set = right.headers["set-cookie"].to_str().unwrap().to_owned();
        for part in ["demure=", "HttpOnly", "SameSite=Strict", "Path=/"] {
            assert!(set.contains(part), "{set}");
        }
        assert!(!set.contains("Secure"));
        let cookie = set.split(';').next().unwrap();
        assert_eq!(cookie.len(), "demure=".len() + 64);
        assert_eq!(right.json(), json!({ "user": "ana", "role": "analyst", "dataset": "clinic" }));
        let me = || house.raw(Request::get("/api/session").header("cookie", cookie), "");
        assert_eq!(me().await.status, StatusCode::OK);
        let out = Request::delete("/api/session")
            .header("cookie", cookie)
            .header("sec-fetch-site", "same-origin");
        assert_eq!(house.raw(out, "").await.status, StatusCode::NO_CONTENT);
        assert_eq!(me().await.status, StatusCode::UNAUTHORIZED);
        // With TLS the cookie is for this host, by TLS, alone.
        let settings = HttpSettings { secure: true, ..HttpSettings::default() };
        let house = House::with(Limits::default(), settings).await;
        let set = house.sign_in("ana", PASSWORD).await;
        let set = set.headers["set-cookie"].to_str().unwrap();
        assert!(set.starts_with("__Host-demure=") && set.contains("; Secure"), "{set}");
    });
}

#[test]
fn a_session_ends_when_it_is_not_used_and_with_its_account() {
    run(async {
        let house = House::new().await;
        let cookie = house.cookie("ana").await;
        let me = || house.raw(Request::get("/api/session").header("cookie", &cookie), "");
        house.seconds.fetch_add(12 * 3600 - 1, Ordering::SeqCst);
        assert_eq!(me().await.status, StatusCode::OK, "and its time begins anew");
        house.seconds.fetch_add(12 * 3600 - 1, Ordering::SeqCst);
        assert_eq!(me().await.status, StatusCode::OK);
        house.seconds.fetch_add(12 * 3600, Ordering::SeqCst);
        assert_eq!(me().await.status, StatusCode::UNAUTHORIZED);
        // Disabled elsewhere, as by the command line: the next request is refused.
        let (cookie, token) = (house.cookie("ana").await, house.token("ana"));
        let me = || house.raw(Request::get("/api/session").header("cookie", &cookie), "");
        assert_eq!(me().await.status, StatusCode::OK);
        house.service.users.set_disabled("root", "ana", true).unwrap();
        assert_eq!(me().await.status, StatusCode::UNAUTHORIZED);
        assert_eq!(house.get("/api/session", &token).await.status, StatusCode::UNAUTHORIZED);
        // Another password ends sessions.
        house.service.users.set_disabled("root", "ana", false).unwrap();
        let change = json!({ "action": "password", "name": "ana", "password": "another password" });
        assert_eq!(me().await.status, StatusCode::OK);
        house.post("/api/users", &house.token("sam"), change).await;
        assert_eq!(me().await.status, StatusCode::UNAUTHORIZED);
    });
}

#[test]
fn a_cookie_is_not_enough_from_another_site() {
    run(async {
        let house = House::new().await;
        let cookie = house.cookie("ana").await;
        let ask = |more: &'static [(&'static str, &'static str)]| {
            let mut request = Request::post("/api/query")
                .header("cookie", &cookie)
                .header("host", "demure.example:8443");
            for (name, value) in more {
                request = request.header(*name, *value);
            }
            house.raw(request, r#"{"sql":"SELECT code FROM regions"}"#)
        };
        const JSON: (&str, &str) = ("content-type", "application/json");
        assert_eq!(ask(&[JSON, ("sec-fetch-site", "same-origin")]).await.status, StatusCode::OK);
        const ORIGIN: (&str, &str) = ("origin", "https://demure.example:8443");
        assert_eq!(ask(&[JSON, ORIGIN]).await.status, StatusCode::OK);
        let bad: [&'static [(&'static str, &'static str)]; 7] = [
            &[JSON],
            &[JSON, ("sec-fetch-site", "cross-site")],
            &[JSON, ("sec-fetch-site", "same-site")],
            &[JSON, ("origin", "https://evil.example")],
            &[JSON, ("origin", "null")],
            &[JSON, ("sec-fetch-site", "same-origin"), ("origin", "https://evil.example")],
            &[JSON, ("origin", "https://demure.example")],
        ];
        for headers in bad {
            let reply = ask(headers).await;
            assert_eq!(reply.status, StatusCode::FORBIDDEN, "{headers:?}");
        }
        // What a form can send.
        for kind in ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data"] {
            let request = Request::post("/api/query")
                .header("cookie", &cookie)
                .header("sec-fetch-site", "same-origin")
                .header("content-type", kind);
            let reply = house.raw(request, r#"{"sql":"SELECT code FROM regions"}"#).await;
            assert_eq!(reply.status, StatusCode::UNSUPPORTED_MEDIA_TYPE);
        }
        // Signing a visitor in under another name.
        let request = Request::post("/api/session")
            .header("content-type", "application/json")
            .header("sec-fetch-site", "cross-site");
        let body = json!({ "user": "ana", "password": PASSWORD }).to_string();
        assert_eq!(house.raw(request, body).await.status, StatusCode::FORBIDDEN);
        // No answer lets another site read it.
        let reply = ask(&[JSON, ORIGIN]).await;
        assert!(!reply.headers.contains_key("access-control-allow-origin"));
    });
}

/// Method, path, a body that would do.
fn everything() -> Vec<(Method, &'static str, Value)> {
    let (get, post) = (Method::GET, Method::POST);
    vec![
        (get.clone(), "/api/schema", Value::Null),
        (get.clone(), "/api/budget", Value::Null),
        (get.clone(), "/api/ledger", Value::Null),
        (get.clone(), "/api/session", Value::Null),
        (post.clone(), "/api/query", json!({ "sql": "SELECT code FROM regions" })),
        (post.clone(), "/api/explain", json!({ "sql": "SELECT code FROM regions" })),
        (get.clone(), "/api/policy", Value::Null),
        (get.clone(), "/api/users", Value::Null),
        (get.clone(), "/api/audit", Value::Null),
        (get, "/metrics", Value::Null),
        (post.clone(), "/api/users", json!({ "action": "enable", "name": "ana" })),
        (post.clone(), "/api/grants", json!({ "action": "deny", "subject": "eve" })),
        (post.clone(), "/api/period", json!({ "action": "remove" })),
        (post.clone(), "/api/freeze", json!({ "why": "audit" })),
        (post, "/api/unfreeze", json!({})),
    ]
}

#[test]
fn who_may_do_what() {
    run(async {
        let house = House::new().await;
        let (ana, sam) = (house.token("ana"), house.token("sam"));
        for (at, (method, path, body)) in everything().into_iter().enumerate() {
            let ask = |authorization: Option<String>| {
                let mut request = Request::builder().method(method.clone()).uri(path);
                request = request.header("content-type", "application/json");
                if let Some(authorization) = authorization {
                    request = request.header("authorization", authorization);
                }
                house.raw(request, if body.is_null() { String::new() } else { body.to_string() })
            };
            for nobody in [None, Some("Bearer nonsense".into()), Some("Basic YTpi".into())] {
                let reply = ask(nobody).await;
                assert_eq!(reply.status, StatusCode::UNAUTHORIZED, "{path}");
                assert_eq!(reply.kind(), "denied");
            }
            let analyst = ask(Some(format!("Bearer {ana}"))).await.status;
            let expected = if at < 6 { StatusCode::OK } else { StatusCode::FORBIDDEN };
            assert_eq!(analyst, expected, "{path}");
            let steward = ask(Some(format!("bearer {sam}"))).await;
            assert_eq!(steward.status, StatusCode::OK, "{path} {}", steward.text());
        }
        let health = house.raw(Request::get("/api/health"), "").await;
        assert_eq!(health.json(), json!({ "status": "ok" }));
    });
}

#[test]
fn the_schema_is_the_policys() {
    run(async {
        let house = House::new().await;
        let schema = house.get("/api/schema", &house.token("ana")).await.json();
        let patients = &schema["tables"][0];
        assert_eq!(patients["access"], "protected");
        assert_eq!(patients["unit"], "id");
        let column = |name: &str| {
            let columns = patients["columns"].as_array().unwrap();
            columns.iter().find(|column| column["name"] == name).cloned()
        };
        assert_eq!(column("age").unwrap()["bounds"], json!([0.0, 110.0]));
        assert_eq!(column("sex").unwrap()["values"], json!(["f", "m"]));
        assert_eq!(column("id").unwrap()["unit"], true);
        assert!(column("secret").is_none(), "hidden");
        assert_eq!(schema["tables"][1]["key"], json!(["code"]));
    });
}

#[test]
fn the_canary_never_sings() {
    run(async {
        let house = House::new().await;
        let (ana, sam) = (house.token("ana"), house.token("sam"));
        let questions = [
            "SELECT remark, COUNT(*) AS n FROM patients GROUP BY remark",
            "SELECT SUM(CAST(remark AS INTEGER)) FROM patients",
            "SELECT COUNT(*) FROM patients WHERE CAST(remark AS INTEGER) > 3",
            "SELECT MAX(remark) FROM patients",
            "SELECT remark FROM patients WHERE id = 7",
            "SELECT COUNT(*) FROM patients WHERE 1 / (id - 7) > 0",
            "SELECT secret FROM patients",
            "SELECT MEDIAN(age) FROM patients WHERE remark LIKE 'CAN%'",
        ];
        for token in [&ana, &sam] {
            for sql in questions {
                for path in ["/api/explain", "/api/query"] {
                    let reply =
                        house.post(path, token, json!({ "sql": sql, "epsilon": 0.05 })).await;
                    let echoed = sql.contains("CAN");
                    assert!(echoed || !reply.text().contains("CANARY"), "{sql}: {}", reply.text());
                }
            }
            for path in paths() {
                let reply = house.get(path, token).await;
                assert!(!reply.text().contains("CANARY"), "{path}");
            }
        }
    });
}

#[test]
fn every_answer_has_its_headers_and_the_page_needs_nothing_from_outside() {
    run(async {
        let house = House::new().await;
        for path in ["/", "/console/app.js", "/api/health", "/api/nothing", "/api/schema"] {
            let reply = house.raw(Request::get(path), "").await;
            let header = |name: &str| reply.headers[name].to_str().unwrap().to_owned();
            let policy = header("content-security-policy");
            assert!(
                policy.contains("default-src 'self'") && policy.contains("frame-ancestors 'none'")
            );
            assert!(!policy.contains("unsafe"));
            assert_eq!(header("x-content-type-options"), "nosniff");
            assert_eq!(header("referrer-policy"), "no-referrer");
            let cache = if path.starts_with("/api") { "no-store" } else { "no-cache" };
            assert_eq!(header("cache-control"), cache, "{path}");
        }
        let index = house.raw(Request::get("/"), "").await;
        assert_eq!(index.headers["content-type"], "text/html; charset=utf-8");
        let mut wanted = vec!["/console/style.css".to_owned(), "/console/app.js".to_owned()];
        let mut seen = vec![index.text()];
        while let Some(path) = wanted.pop() {
            let file = house.raw(Request::get(path.as_str()), "").await;
            assert_eq!(file.status, StatusCode::OK, "{path}");
            assert!(file.body.len() > 100, "{path} is empty");
            let text = file.text();
            for line in text.lines().filter(|line| line.starts_with("import ")) {
                let name = line.rsplit("./").next().unwrap().trim_end_matches("\";");
                let path = format!("/console/{name}");
                if !seen.contains(&path) {
                    seen.push(path.clone());
                    wanted.push(path);
                }
            }
            seen.push(text);
        }
        let all = seen.join("\n").replace("http://www.w3.org/2000/svg", "");
        for outside in ["http://", "https://", "innerHTML", "eval(", "onclick=\"", "style=\""] {
            assert!(!all.contains(outside), "{outside}");
        }
        assert_eq!(
            house.raw(Request::get("/console/../Cargo.toml"), "").await.status,
            StatusCode::NOT_FOUND
        );
    });
}

#[test]
fn the_description_has_every_route_and_no_other() {
    run(async {
        let house = House::new().await;
        let described = house.raw(Request::get("/api/openapi.json"), "").await.json();
        assert_eq!(described["openapi"], "3.1.0");
        let described = described["paths"].as_object().unwrap();
        let (mut ours, mut theirs) =
            (paths(), described.keys().map(String::as_str).collect::<Vec<_>>());
        ours.sort_unstable();
        theirs.sort_unstable();
        assert_eq!(ours, theirs);
        for (path, methods) in described {
            for method in ["get", "post", "delete", "put", "patch"] {
                let request = Request::builder().method(method.to_uppercase().as_str()).uri(path);
                let answered =
                    house.raw(request, "").await.status != StatusCode::METHOD_NOT_ALLOWED;
                assert_eq!(answered, methods.get(method).is_some(), "{method} {path}");
            }
        }
    });
}

#[test]
fn those_who_sign_in_at_once_wait_or_are_sent_away() {
    run(async {
        let settings = HttpSettings { signing_in: 1, ..HttpSettings::default() };
        let house = House::with(Limits::default(), settings).await;
        let all = (0..40).map(|_| house.sign_in("ana", PASSWORD));
        let statuses: Vec<u16> = futures::future::join_all(all)
            .await
            .iter()
            .map(|reply| reply.status.as_u16())
            .collect();
        let of = |status| statuses.iter().filter(|found| **found == status).count();
        assert_eq!((of(200), of(429)), (16, 24), "{statuses:?}");
    });
}
