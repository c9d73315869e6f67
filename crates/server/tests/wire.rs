//! Hostile bytes on the PostgreSQL wire: no panic that ends the server, no hang, no leak, and
//! nothing answered to whoever did not sign in.
//!
//! Messages are mutated from a conversation that makes sense. `DEMURE_FUZZ=100000` makes a longer
//! run.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on must stop")]

use demure_curator::Curator;
use demure_curator::policy::Policy;
use demure_server::{Desk, Limits, Role, Users, pg};
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio_postgres::NoTls;

const CANARY: &str = "77231477";
const PASSWORD: &str = "correct horse battery";

async fn desk(folder: &tempfile::TempDir) -> Arc<Desk> {
    let rows: String = (0..50).map(|i| format!("{i},{}\n", i % 9)).collect();
    std::fs::write(folder.path().join("t.csv"), format!("id,x\n{rows}{CANARY},3\n")).unwrap();
    let policy = "[budget]\nepsilon = 1000.0\nper_query = 1.0\n[tables.t]\nsource = \"t.csv\"\n\
        unit = \"id\"\n[tables.t.columns]\nx = { type = \"integer\", bounds = [0, 9] }\n";
    let curator = Curator::in_memory(Policy::parse(policy, folder.path()).unwrap()).await.unwrap();
    let users = Users::in_memory().unwrap();
    users.add("test", "ana", Role::Analyst, PASSWORD).unwrap();
    Desk::new(curator, users, "clinic", Limits::default())
}

async fn serving(desk: &Arc<Desk>) -> (SocketAddr, watch::Sender<bool>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let (stop, stopped) = watch::channel(false);
    tokio::spawn(pg::serve(listener, None, Arc::clone(desk), stopped));
    (address, stop)
}

/// Random numbers enough for this (xorshift).
struct Dice(u64);

impl Dice {
    fn next(&mut self, below: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % below.max(1) as u64) as usize
    }
}

fn message(tag: u8, body: &[u8]) -> Vec<u8> {
    let mut bytes = vec![tag];
    bytes.extend((body.len() as u32 + 4).to_be_bytes());
    bytes.extend(body);
    bytes
}

/// A startup message, a first SASL message, and statements as if that had been enough.
fn conversation() -> Vec<Vec<u8>> {
    let mut startup = vec![0, 3, 0, 0];
    startup.extend(b"user\0ana\0database\0clinic\0\0");
    let mut first = ((startup.len() + 4) as u32).to_be_bytes().to_vec();
    first.extend(startup);
    let scram = b"n,,n=,r=rOprNGfwEbeRWgbNEkqO";
    let mut sasl = b"SCRAM-SHA-256\0".to_vec();
    sasl.extend((scram.len() as u32).to_be_bytes());
    sasl.extend(scram);
    vec![
        first,
        message(b'p', &sasl),
        message(
            b'p',
            b"c=biws,r=rOprNGfwEbeRWgbNEkqOx,p=AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=",
        ),
        message(b'Q', b"SELECT COUNT(*) FROM t\0"),
        message(b'P', b"s\0SELECT COUNT(*) FROM t WHERE x > $1\0\0\x01\0\0\0\x14"),
        message(b'B', b"\0s\0\0\x01\0\x01\0\x01\0\0\0\x08\0\0\0\0\0\0\0\x01\0\x01\0\x01"),
        message(b'D', b"Ss\0"),
        message(b'E', b"\0\x7f\xff\xff\xff"),
        message(b'S', b""),
        message(b'C', b"Ss\0"),
        message(b'd', b"data"),
        message(b'c', b""),
        message(b'F', b"\0\0\0\x01\0\0\0\0\0\0\0\0"),
        message(b'X', b""),
        vec![0, 0, 0, 8, 4, 210, 22, 47],
        vec![0, 0, 0, 16, 4, 210, 22, 46, 0, 0, 0, 1, 0, 0, 0, 1],
        vec![0x16, 3, 1, 2, 0, 1, 0, 1, 0xfc],
    ]
}

fn mutated(dice: &mut Dice) -> Vec<u8> {
    let all = conversation();
    let mut bytes = Vec::new();
    if dice.next(4) > 0 {
        bytes.extend(&all[0]);
    }
    for _ in 0..dice.next(6) {
        bytes.extend(&all[dice.next(all.len())]);
    }
    for _ in 0..dice.next(8) {
        if bytes.is_empty() {
            break;
        }
        let at = dice.next(bytes.len());
        match dice.next(5) {
            0 => bytes[at] ^= 1 << dice.next(8),
            1 => bytes[at] = [0, 1, 0x7f, 0x80, 0xff][dice.next(5)],
            2 => drop(bytes.drain(at..bytes.len().min(at + 1 + dice.next(9)))),
            3 => bytes.insert(at, dice.next(256) as u8),
            _ => {
                let again: Vec<u8> = bytes[at..].iter().copied().take(dice.next(40)).collect();
                bytes.splice(at..at, again);
            }
        }
    }
    bytes
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn hostile_bytes_get_nothing_and_break_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let desk = desk(&folder).await;
    let (address, _stop) = serving(&desk).await;
    let rounds = std::env::var("DEMURE_FUZZ").ok().and_then(|n| n.parse().ok()).unwrap_or(600);
    let mut dice = Dice(0x9e37_79b9_7f4a_7c15);
    for round in 0..rounds {
        let bytes = mutated(&mut dice);
        let mut socket = TcpStream::connect(address).await.unwrap();
        // The server may close while we write.
        let _ = socket.write_all(&bytes).await;
        let mut told = Vec::new();
        let reading = socket.read_to_end(&mut told);
        let _ = tokio::time::timeout(Duration::from_millis(20), reading).await;
        let shown = String::from_utf8_lossy(&told);
        assert!(!shown.contains(CANARY), "{round}: {bytes:?}");
        // No row, and no word that somebody is let in, without a proof.
        let let_in = [b'R', 0, 0, 0, 8, 0, 0, 0, 0];
        let welcome = told.windows(let_in.len()).any(|window| window == let_in);
        assert!(!shown.contains("count(*)") && !welcome, "{round}: {shown}");
    }
    assert_eq!(desk.curator.ledger().balance().unwrap().spent.main, 0.0, "nobody asked anything");
    // It still answers who signs in.
    let (client, connection) = connect(address).await;
    tokio::spawn(connection);
    let row = client.query_one("SELECT COUNT(*) FROM t", &[]).await.unwrap();
    assert!((row.get::<_, i64>(0) - 51).abs() < 40);
}

type Connection =
    tokio_postgres::Connection<tokio_postgres::Socket, tokio_postgres::tls::NoTlsStream>;

async fn connect(address: SocketAddr) -> (tokio_postgres::Client, Connection) {
    let mut config = tokio_postgres::Config::new();
    config.host("127.0.0.1").port(address.port()).user("ana").password(PASSWORD).dbname("clinic");
    config.connect(NoTls).await.unwrap()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn hostile_sql_from_who_is_let_in() {
    let folder = tempfile::tempdir().unwrap();
    let desk = desk(&folder).await;
    let (address, _stop) = serving(&desk).await;
    let (client, connection) = connect(address).await;
    tokio::spawn(connection);
    let words = [
        "SELECT",
        "COUNT(*)",
        "FROM",
        "t",
        "WHERE",
        "x",
        "(",
        ")",
        ",",
        "*",
        "'",
        "\"",
        ";",
        "--",
        "/*",
        "$1",
        "$$",
        "GROUP BY",
        "1",
        "-9223372036854775808",
        "UNION ALL",
        "WITH",
        "AS",
        "JOIN",
        "ON",
        "NULL",
        "id",
        "COPY",
        "TO",
        "'/etc/passwd'",
        "pg_catalog.",
        "SET",
        "demure.epsilon",
        "=",
        "1e308",
        "\u{1F4A9}",
        "EXPLAIN",
        "PRIVACY",
        "ORDER BY",
        "LIMIT",
        "OFFSET",
        "HAVING",
        "CASE",
        "WHEN",
        "END",
    ];
    let mut dice = Dice(0xdead_beef_1234_5678);
    for _ in 0..300 {
        let n = 1 + dice.next(14);
        let text: Vec<&str> = (0..n).map(|_| words[dice.next(words.len())]).collect();
        let text = text.join(" ");
        // As a simple statement and as a prepared one.
        for outcome in [
            client.simple_query(&text).await.map(|_| ()),
            client.query(&text, &[]).await.map(|_| ()),
        ] {
            if let Err(error) = outcome {
                let told = format!("{error:?}");
                assert!(!told.contains(CANARY), "{text}");
                assert!(!error.is_closed(), "{text} closed the connection");
            }
        }
    }
    for hostile in [
        "SELECT ".to_owned() + &"(".repeat(20_000) + "1",
        "SELECT COUNT(*) FROM t WHERE x = ".to_owned() + &"-".repeat(5_000) + "1",
        "SELECT '".to_owned() + &"x".repeat(2_000_000) + "'",
        "SELECT COUNT(*) FROM t WHERE x IN (".to_owned() + &"1,".repeat(20_000) + "1)",
    ] {
        assert!(client.simple_query(&hostile).await.is_err(), "{}", &hostile[..40]);
    }
    client.query_one("SELECT COUNT(*) FROM t", &[]).await.unwrap();
}
