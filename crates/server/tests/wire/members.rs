//! After somebody has signed in: memory, time, what is said of failures, another password.

use super::client::message;
use super::*;
use demure_server::http::{self, HttpSettings};
use std::time::Instant;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

const CROSS: &str = "SELECT a.attname FROM pg_attribute a CROSS JOIN pg_attribute b \
    CROSS JOIN pg_attribute c";

#[test]
fn a_message_is_no_longer_than_a_statement_and_memory_goes_back() {
    let server = Server::new(Limits::default());
    server.run(async {
        let mut client = server.member("ana").await;
        client.send(&[b'Q', 0x3f, 0xff, 0xff, 0xff]).await;
        let (tag, body) = client.receive().await.unwrap();
        assert_eq!(tag, b'E');
        assert!(String::from_utf8_lossy(&body).contains("54000"));
        assert!(client.ends_within(Duration::from_secs(5)).await);
        let mut clients = Vec::new();
        for _ in 0..40 {
            clients.push(server.member("ana").await);
        }
        let long = format!("SELECT '{}'", "x".repeat(900 << 10));
        for client in &mut clients[..4] {
            client.ask(&long).await.unwrap_err();
        }
        let before = memory();
        for client in &mut clients {
            let refused = client.ask(&long).await.unwrap_err();
            assert!(refused.text.contains("longer than 64 KiB"), "{}", refused.text);
        }
        let grown = memory().saturating_sub(before);
        assert!(grown < 16 << 20, "{grown} bytes for 40 statements of a megabyte, asked before");
        assert_eq!(clients[0].ask("SELECT 1").await.unwrap(), ["1"]);
    });
}

#[test]
fn who_says_nothing_for_long_is_let_go() {
    let limits = Limits { idle_time: Duration::from_millis(500), ..Limits::default() };
    let server = Server::new(limits);
    server.run(async {
        let mut client = server.member("ana").await;
        assert_eq!(client.ask("SELECT 1").await.unwrap(), ["1"]);
        let (tag, body) = client.receive().await.unwrap();
        assert!(tag == b'E' && String::from_utf8_lossy(&body).contains("57P05"));
        assert!(client.ends_within(Duration::from_secs(5)).await);
    });
}

#[test]
fn questions_of_the_catalog_have_limits_in_common() {
    let limits = Limits { running: 4, ..Limits::default() };
    let server = Server::new(limits);
    server.run(async {
        let mut asking = server.member("ana").await;
        asking.ask("SELECT COUNT(*) FROM t").await.unwrap();
        let mut clients = Vec::new();
        for _ in 0..60 {
            clients.push(server.member("ana").await);
        }
        let before = memory();
        let crossing = clients.iter_mut().map(|client| client.ask(CROSS));
        let crossing = futures::future::join_all(crossing);
        let watching = async {
            let (mut most, mut slowest) = (0, Duration::ZERO);
            for _ in 0..20 {
                let begun = Instant::now();
                asking.ask("SELECT COUNT(*) FROM t").await.unwrap();
                slowest = slowest.max(begun.elapsed());
                most = most.max(memory());
                tokio::time::sleep(Duration::from_millis(50)).await;
            }
            (most, slowest)
        };
        let (refused, (most, slowest)) = futures::future::join(crossing, watching).await;
        for refused in refused {
            let refused = refused.unwrap_err();
            assert!(refused.text.contains("takes too much"), "{}", refused.text);
        }
        let grown = most.saturating_sub(before);
        eprintln!("60 cross joins: {} MB more, others waited {slowest:?}", grown >> 20);
        assert!(grown < 700 << 20, "{grown} bytes more");
        assert!(slowest < Duration::from_secs(20), "{slowest:?}");
        // What rows share is sent with each: that is counted too.
        let shared = "WITH long AS (SELECT string_agg('xxxxxxxxxx', '') AS x \
            FROM generate_series(1, 100000)) SELECT x FROM long, pg_attribute";
        let refused = asking.ask(shared).await.unwrap_err();
        assert!(refused.text.contains("takes too much"), "{}", refused.text);
    });
}

#[test]
fn a_statement_ends_with_its_client() {
    // No statement ever has its turn: each waits for as long as it may, which is a minute.
    let limits = Limits { running: 0, ..Limits::default() };
    let server = Server::new(limits);
    server.run(async {
        let open = || server.service.metrics.text(0.0, 0.0).contains("demure_connections 1\n");
        for sql in ["SELECT COUNT(*) FROM t", CROSS] {
            let mut client = server.member("ana").await;
            client.send(&message(b'Q', format!("{sql}\0").as_bytes())).await;
            tokio::time::sleep(Duration::from_millis(700)).await;
            assert!(open(), "it waits");
            drop(client);
            let begun = Instant::now();
            while open() {
                assert!(begun.elapsed() < Duration::from_secs(3), "{sql}");
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
        }
    });
}

#[test]
fn a_session_says_how_long_it_waits() {
    let server = Server::new(Limits::default());
    server.run(async {
        let mut client = server.member("ana").await;
        let show = "SHOW statement_timeout";
        assert_eq!(client.ask(show).await.unwrap(), ["0"]);
        client.ask("SET statement_timeout = '30ms'").await.unwrap();
        assert_eq!(client.ask(show).await.unwrap(), ["30ms"]);
        let begun = Instant::now();
        let late = client.ask(CROSS).await.unwrap_err();
        assert_eq!(late.code, "57014", "{}", late.text);
        assert!(begun.elapsed() < Duration::from_secs(2), "{:?}", begun.elapsed());
        client.ask("SET statement_timeout = 1").await.unwrap();
        // Over before it is debited, or answered at a moment of the schedule; not in between.
        let begun = Instant::now();
        match client.ask("SELECT COUNT(*), SUM(x) FROM t WHERE x > 3").await {
            Err(late) => assert_eq!(late.code, "57014", "{}", late.text),
            Ok(_) => assert!(begun.elapsed() >= Duration::from_millis(100)),
        }
        assert_eq!(client.ask("SET statement_timeout = 'soon'").await.unwrap_err().code, "22023");
        client.ask("SET statement_timeout = DEFAULT").await.unwrap();
        assert_eq!(client.ask(show).await.unwrap(), ["0"]);
        assert_eq!(client.ask("SELECT COUNT(*) FROM t").await.unwrap().len(), 1);
    });
}

#[test]
fn another_password_ends_connections_and_tokens() {
    let server = Server::new(Limits::default());
    server.run(async {
        let users = &server.service.users;
        let (mut ana, mut sam) = (server.member("ana").await, server.member("sam").await);
        let token = users.add_token("test", "ana", "", 1).unwrap();
        assert!(users.bearer(&token).is_ok());
        users.set_password("test", "ana", "another password").unwrap();
        assert!(users.bearer(&token).is_err());
        assert_eq!(ana.ask("SELECT 1").await.unwrap_err().code, "28000");
        assert!(ana.ends_within(Duration::from_secs(5)).await);
        assert_eq!(sam.ask("SELECT 1").await.unwrap(), ["1"]);
        // A prepared statement is looked at no more than one that is asked at once.
        users.set_password("test", "sam", "another password").unwrap();
        sam.send(&message(b'P', b"\0SELECT 1\0\0\0")).await;
        let (tag, body) = sam.receive().await.unwrap();
        assert!(tag == b'E' && String::from_utf8_lossy(&body).contains("28000"));
    });
}

#[test]
fn analysts_are_told_a_number_and_stewards_the_rest() {
    let folder = tempfile::tempdir().unwrap();
    let policy = folder.path().join("clinic.toml");
    std::fs::write(&policy, POLICY).unwrap();
    std::fs::write(folder.path().join("t.csv"), "id,x\n1,2\n2,3\n").unwrap();
    let queries = threads(2);
    let curator = queries.block_on(Curator::open(&policy)).unwrap();
    let server = Server::of(curator, folder, queries, Limits::default(), Encryption::None);
    let place = server.folder.path().to_str().unwrap().to_owned();
    server.run(async {
        let (mut ana, mut sam) = (server.member("ana").await, server.member("sam").await);
        ana.ask("SELECT COUNT(*) FROM t").await.unwrap();
        // The ledger is taken away.
        let ledger = demure_curator::ledger_path(&policy);
        std::fs::rename(&ledger, ledger.with_extension("elsewhere")).unwrap();
        let told = ana.ask("SELECT SUM(x) FROM t").await.unwrap_err();
        assert_eq!(told.code, "58000");
        assert!(told.text.contains("(incident "), "{}", told.text);
        assert!(!told.text.contains(&place) && !told.text.contains("ledger"), "{}", told.text);
        let number = told.text.split("(incident ").nth(1).unwrap().split(')').next().unwrap();
        let told = sam.ask("SELECT SUM(x) FROM t").await.unwrap_err();
        assert!(told.text.contains("ledger"), "{}", told.text);
        let written = std::fs::read_to_string(policy.with_extension("incidents")).unwrap();
        let line = written.lines().find(|line| line.starts_with(number)).unwrap();
        assert!(line.contains("ledger"), "{line}");
    });
}

#[test]
fn statements_keep_nobody_from_being_let_in() {
    let server = Server::new(Limits::default());
    let settings = HttpSettings::default();
    let listener = server.front.block_on(TcpListener::bind("127.0.0.1:0")).unwrap();
    let web = listener.local_addr().unwrap();
    let service = Arc::clone(&server.service);
    server.front.spawn(http::serve(listener, None, service, settings, std::future::pending()));
    server.run(async {
        // The first proof of a password is slow.
        server.member("ana").await;
        // Every thread of those that run statements computes.
        for _ in 0..4 {
            server.queries.spawn(async { std::thread::sleep(Duration::from_secs(10)) });
        }
        let begun = Instant::now();
        let mut socket = TcpStream::connect(web).await.unwrap();
        let request = b"GET /api/health HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n";
        socket.write_all(request).await.unwrap();
        let mut told = String::new();
        socket.read_to_string(&mut told).await.unwrap();
        assert!(told.starts_with("HTTP/1.1 200"), "{told}");
        server.member("ana").await;
        let body = format!("{{\"user\":\"sam\",\"password\":\"{PASSWORD}\"}}");
        let request = format!(
            "POST /api/session HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n\
             Content-Length: {}\r\nConnection: close\r\n\r\n{body}",
            body.len()
        );
        let mut socket = TcpStream::connect(web).await.unwrap();
        socket.write_all(request.as_bytes()).await.unwrap();
        let mut told = String::new();
        socket.read_to_string(&mut told).await.unwrap();
        assert!(told.starts_with("HTTP/1.1 200"), "{told}");
        assert!(begun.elapsed() < Duration::from_secs(9), "{:?}", begun.elapsed());
    });
}
