//! What is done with hostile bytes, whether this repository's tests make them or `cargo fuzz`: the
//! targets in `fuzz/` include this file.
//!
//! After each input the promises are checked: nothing of the protected table is shown, nobody is
//! let in without a proof, nothing more is spent than there is, and no thread panics.

#![expect(clippy::unwrap_used, clippy::panic, reason = "an input that breaks a promise must stop")]

use axum::Router;
use axum::body::{Body, to_bytes};
use axum::extract::Request;
use axum::response::Response;
use demure_curator::Curator;
use demure_curator::policy::Policy;
use demure_server::http::{HttpSettings, app};
use demure_server::{Limits, QueryService, Role, Users, pg};
use postgres_protocol::authentication::sasl::{ChannelBinding, ScramSha256};
use std::convert::Infallible;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Once};
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::runtime::Runtime;
use tokio::sync::watch;

/// An id of the protected table; nothing may ever show it.
const CANARY: &str = "77231477";
const PASSWORD: &str = "correct horse battery";
/// All that may be spent.
const EPSILON: f64 = 1000.0;
/// Longer than any input may take.
const PATIENCE: Duration = Duration::from_secs(20);

static HEARD: Once = Once::new();
/// Panics of any thread.
static PANICS: AtomicUsize = AtomicUsize::new(0);

/// A server with one table and one analyst.
pub(crate) struct Fixture {
    runtime: Runtime,
    service: Arc<QueryService>,
    web: Router,
    token: String,
    wire: SocketAddr,
    _stop: watch::Sender<bool>,
    _folder: tempfile::TempDir,
}

impl Fixture {
    pub(crate) fn new() -> Self {
        HEARD.call_once(|| {
            let before = std::panic::take_hook();
            std::panic::set_hook(Box::new(move |panic| {
                PANICS.fetch_add(1, Ordering::SeqCst);
                before(panic);
            }));
        });
        let folder = tempfile::tempdir().unwrap();
        let rows: String = (0..50).map(|i| format!("{i},{}\n", i % 9)).collect();
        std::fs::write(folder.path().join("t.csv"), format!("id,x\n{rows}{CANARY},3\n")).unwrap();
        let policy = format!(
            "[budget]\nepsilon = {EPSILON:?}\nper_query = 0.1\n\
             [timing]\nschedule = \"off\"\nnew_queries_per_minute = \"off\"\n[tables.t]\nsource = \"t.csv\"\n\
             unit = \"id\"\n[tables.t.columns]\nx = {{ type = \"integer\", bounds = [0, 9] }}\n"
        );
        let policy = Policy::parse(&policy, folder.path()).unwrap();
        let users = Users::in_memory().unwrap();
        users.add("test", "ana", Role::Analyst, PASSWORD).unwrap();
        let token = users.add_token("test", "ana", "test", 1).unwrap();
        let mut builder = tokio::runtime::Builder::new_multi_thread();
        let runtime = builder.worker_threads(2).enable_all().build().unwrap();
        let curator = runtime.block_on(Curator::in_memory(policy)).unwrap();
        // Statements that compute for long and whoever signs in have the same few threads here.
        let limits = Limits { startup_time: Duration::from_secs(120), ..Limits::default() };
        let service = QueryService::new(curator, users, "clinic", limits);
        let listener = runtime.block_on(TcpListener::bind("127.0.0.1:0")).unwrap();
        let wire = listener.local_addr().unwrap();
        let (stop, stopped) = watch::channel(false);
        runtime.spawn(pg::serve(listener, pg::Encryption::None, Arc::clone(&service), stopped));
        let web = app(Arc::clone(&service), HttpSettings::default());
        Self { runtime, service, web, token, wire, _stop: stop, _folder: folder }
    }

    /// Bytes on the PostgreSQL wire, from somebody who did not sign in: nothing is answered.
    pub(crate) fn stranger(&self, bytes: &[u8]) {
        let spent = self.spent();
        let told = self.runtime.block_on(async {
            let socket = TcpStream::connect(self.wire).await.unwrap();
            conversed(socket, bytes).await
        });
        let shown = self.checked(&told);
        let let_in = [b'R', 0, 0, 0, 8, 0, 0, 0, 0];
        assert!(!told.windows(let_in.len()).any(|window| window == let_in), "let in: {bytes:?}");
        assert!(!shown.contains("count(*)"), "answered: {bytes:?}");
        assert_eq!(self.spent(), spent, "a stranger spent: {bytes:?}");
    }

    /// Bytes on the PostgreSQL wire, from somebody who did.
    pub(crate) fn member(&self, bytes: &[u8]) {
        let told = self.runtime.block_on(async {
            let mut socket = TcpStream::connect(self.wire).await.unwrap();
            sign_in(&mut socket).await;
            conversed(socket, bytes).await
        });
        self.checked(&told);
    }

    /// A statement: its price, and its answer.
    pub(crate) fn sql(&self, bytes: &[u8]) {
        let sql = String::from_utf8_lossy(bytes);
        let told = self.runtime.block_on(async {
            let mut session = self.service.curator.session("ana");
            let work = async {
                let priced = self.service.explain(&session, &sql).await;
                let priced = priced.map(|told| format!("{:?}", told.lines()));
                let asked = self.service.ask(&mut session, &sql, &[]).await.map(|_| ());
                format!("{} {asked:?}", priced.unwrap_or_else(|error| error.to_string()))
            };
            tokio::time::timeout(PATIENCE, work).await.unwrap_or_else(|_| panic!("hangs: {sql}"))
        });
        // Whoever writes the canary sees it.
        if !sql.contains(CANARY) {
            self.checked(told.as_bytes());
        }
    }

    /// A request: `METHOD PATH`, a line feed, and the body; with a token, and without.
    pub(crate) fn http(&self, bytes: &[u8]) {
        let line = bytes.iter().position(|byte| *byte == b'\n').unwrap_or(bytes.len());
        let (head, body) = bytes.split_at(line);
        let body = body.get(1..).unwrap_or_default();
        let Ok(head) = std::str::from_utf8(head) else { return };
        let (method, path) = head.trim().split_once(' ').unwrap_or(("POST", head));
        for token in [None, Some(&self.token)] {
            let mut request = Request::builder().method(method).uri(path);
            request = request.header("content-type", "application/json");
            if let Some(token) = token {
                request = request.header("authorization", format!("Bearer {token}"));
            }
            let Ok(request) = request.body(Body::from(body.to_vec())) else { return };
            let told = self.runtime.block_on(async {
                let reply = tokio::time::timeout(PATIENCE, call(self.web.clone(), request));
                let reply = reply.await.unwrap_or_else(|_| panic!("hangs: {head}"));
                to_bytes(reply.into_body(), 10_000_000).await.unwrap_or_default()
            });
            if !bytes.windows(CANARY.len()).any(|window| window == CANARY.as_bytes()) {
                self.checked(&told);
            }
        }
    }

    /// The server answers a question that makes sense.
    pub(crate) fn is_well(&self) {
        let told = self.runtime.block_on(async {
            let mut socket = TcpStream::connect(self.wire).await.unwrap();
            sign_in(&mut socket).await;
            socket.write_all(b"Q\0\0\0\x1bSELECT COUNT(*) FROM t\0").await.unwrap();
            // Whoever leaves before the answer is not answered.
            let mut told = Vec::new();
            loop {
                let (tag, body) = received(&mut socket).await;
                told.extend(body);
                if tag == b'Z' {
                    return told;
                }
            }
        });
        assert!(String::from_utf8_lossy(&told).contains("SELECT 1"), "no answer");
    }

    fn spent(&self) -> f64 {
        self.service.curator.ledger().balance().unwrap().spent.main
    }

    fn checked(&self, told: &[u8]) -> String {
        let shown = String::from_utf8_lossy(told).into_owned();
        assert!(!shown.contains(CANARY), "a protected value was shown");
        assert!(self.spent() <= EPSILON, "more was spent than there is");
        assert_eq!(PANICS.load(Ordering::SeqCst), 0, "a panic");
        shown
    }
}

async fn call<S>(mut service: S, request: Request) -> Response
where
    S: axum::ServiceExt<Request, Response = Response, Error = Infallible>,
{
    match service.call(request).await {
        Ok(response) => response,
        Err(never) => match never {},
    }
}

/// Sends everything, says that this was all, and reads to the end.
async fn conversed(mut socket: TcpStream, bytes: &[u8]) -> Vec<u8> {
    let mut told = Vec::new();
    // The server may close while we write.
    let _ = socket.write_all(bytes).await;
    let _ = socket.shutdown().await;
    let reading = tokio::time::timeout(PATIENCE, socket.read_to_end(&mut told)).await;
    assert!(reading.is_ok(), "hangs: {bytes:?}");
    told
}

/// A proof that fits.
async fn sign_in(socket: &mut TcpStream) {
    let mut startup = vec![0, 3, 0, 0];
    startup.extend(b"user\0ana\0database\0clinic\0\0");
    let mut first = (startup.len() as u32 + 4).to_be_bytes().to_vec();
    first.extend(startup);
    socket.write_all(&first).await.unwrap();
    received(socket).await;
    let mut scram = ScramSha256::new(PASSWORD.as_bytes(), ChannelBinding::unsupported());
    let mut sasl = b"SCRAM-SHA-256\0".to_vec();
    sasl.extend((scram.message().len() as u32).to_be_bytes());
    sasl.extend(scram.message());
    socket.write_all(&message(b'p', &sasl)).await.unwrap();
    let (_, told) = received(socket).await;
    scram.update(&told[4..]).unwrap();
    socket.write_all(&message(b'p', scram.message())).await.unwrap();
    // Until it is ready for a query.
    while received(socket).await.0 != b'Z' {}
}

/// One message from the server.
async fn received(socket: &mut TcpStream) -> (u8, Vec<u8>) {
    let tag = socket.read_u8().await.unwrap();
    let length = socket.read_u32().await.unwrap();
    let mut body = vec![0; length as usize - 4];
    socket.read_exact(&mut body).await.unwrap();
    (tag, body)
}

/// A message of the wire.
pub(crate) fn message(tag: u8, body: &[u8]) -> Vec<u8> {
    let mut bytes = vec![tag];
    bytes.extend((body.len() as u32 + 4).to_be_bytes());
    bytes.extend(body);
    bytes
}
