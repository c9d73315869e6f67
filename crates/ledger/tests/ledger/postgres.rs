//! PostgreSQL: the same tests as in SQLite, and what is its own.

use super::server::Server;
use super::{Place, contention, journal, pure, receive, request, rules};
use demure_ledger::{Error, Ledger, wall_clock};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicU64, Ordering};

const ADDRESS: &str = "DEMURE_LEDGER_CHILD_ADDRESS";

fn open(server: &Server, epsilon: f64) -> Ledger {
    Ledger::connect(&server.address(), "visits", pure(epsilon), wall_clock()).unwrap()
}

#[test]
fn all_that_holds_in_sqlite_holds_in_postgresql() {
    let Some(server) = Server::start() else { return };
    let groups = [journal::SCENARIOS, rules::SCENARIOS, contention::SCENARIOS, receive::SCENARIOS];
    for group in groups {
        for (name, scenario) in group {
            eprintln!("{name}");
            scenario(&Place::Server { address: server.address(), dataset: (*name).to_owned() });
        }
    }
}

/// A curator of its own: four threads that buy until nothing is left.
#[test]
fn child() {
    let Ok(address) = std::env::var(ADDRESS) else { return };
    let ledger = Ledger::connect(&address, "visits", pure(1.0), wall_clock()).unwrap();
    let got = AtomicU64::new(0);
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                loop {
                    match ledger.reserve(&request("k", "pure(eps=1/256)")) {
                        Ok(one) => {
                            got.fetch_add(1, Ordering::SeqCst);
                            one.begin().unwrap().settle(b"x").unwrap();
                        }
                        Err(Error::OverBudget { .. }) => return,
                        Err(error) => panic!("{error}"),
                    }
                }
            });
        }
    });
    println!("\ngranted {}", got.into_inner());
}

#[test]
fn curators_on_one_server_stay_within_the_limit_together() {
    let Some(server) = Server::start() else { return };
    // They also create the tables at once.
    let children: Vec<_> = (0..3)
        .map(|_| {
            Command::new(std::env::current_exe().unwrap())
                .args(["--exact", "postgres::child", "--nocapture", "--test-threads=1"])
                .env(ADDRESS, server.address())
                .stdout(Stdio::piped())
                .spawn()
                .unwrap()
        })
        .collect();
    let granted: Vec<u64> = children
        .into_iter()
        .map(|child| {
            let output = child.wait_with_output().unwrap();
            assert!(output.status.success());
            let text = String::from_utf8(output.stdout).unwrap();
            let line = text.lines().find_map(|line| line.strip_prefix("granted ")).unwrap();
            line.parse().unwrap()
        })
        .collect();
    // 256ths add up exactly: all of it is sold, and no more.
    assert_eq!(granted.iter().sum::<u64>(), 256, "{granted:?}");
    let ledger = open(&server, 1.0);
    let verified = ledger.verify().unwrap();
    assert_eq!((verified.reserved, verified.settled, verified.beyond), (256, 256, 0));
    assert_eq!(ledger.balance().unwrap().spent.main, 1.0);
}

#[test]
fn a_lost_connection_is_an_error_and_then_made_anew() {
    let Some(mut server) = Server::start() else { return };
    let ledger = open(&server, 1e3);
    let kept = ledger.reserve(&request("a", "pure(eps=0.5)")).unwrap();
    let cancelled = ledger.reserve(&request("b", "pure(eps=0.25)")).unwrap();
    // As if its power had failed: what was committed is there afterwards.
    server.stop("QUIT");
    let down = ledger.reserve(&request("c", "pure(eps=1)")).unwrap_err();
    assert!(matches!(down, Error::Disconnected { .. } | Error::CannotConnect { .. }), "{down:?}");
    assert!(down.to_string().contains("nothing was granted"), "{down}");
    assert!(matches!(
        ledger.find("a"),
        Err(Error::Disconnected { .. } | Error::CannotConnect { .. })
    ));
    assert!(matches!(cancelled.cancel(), Err(Error::CannotConnect { .. })));
    server.run(&[]);
    // What could not be cancelled stays spent; the rest goes on.
    kept.begin().unwrap().settle(b"answer").unwrap();
    assert_eq!(ledger.find("a").unwrap().as_deref(), Some(&b"answer"[..]));
    assert_eq!(ledger.balance().unwrap().spent.main, 0.75);
    assert!(ledger.reserve(&request("c", "pure(eps=1)")).is_ok());
    ledger.verify().unwrap();
}

/// The client runs an event loop of its own, which must not be noticed inside another.
#[test]
fn it_works_inside_an_event_loop() {
    let Some(server) = Server::start() else { return };
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    runtime.block_on(async {
        let ledger = open(&server, 1.0);
        let one = ledger.reserve(&request("a", "pure(eps=0.5)")).unwrap();
        one.begin().unwrap().settle(b"x").unwrap();
        assert!(ledger.find("a").unwrap().is_some());
        ledger.verify().unwrap();
    });
}

#[test]
fn a_server_that_would_forget_is_refused() {
    let Some(mut server) = Server::start() else { return };
    server.run(&["fsync=off"]);
    let error = Ledger::connect(&server.address(), "visits", pure(1.0), wall_clock()).unwrap_err();
    assert_eq!(error, Error::NotDurable { setting: "fsync" });
    // What the session can switch on, it does.
    server.run(&["synchronous_commit=off"]);
    drop(open(&server, 1.0));
    // A server that is read-only.
    server.run(&["default_transaction_read_only=on"]);
    let ledger = open(&server, 1.0);
    let error = ledger.reserve(&request("a", "pure(eps=0.5)")).unwrap_err();
    assert_eq!((error, ledger.verify().unwrap().entries), (Error::ReadOnly, 1));
}

#[test]
fn rows_cannot_be_changed_by_accident_and_intent_is_found() {
    let Some(server) = Server::start() else { return };
    let ledger = open(&server, 10.0);
    for key in ["a", "b", "c"] {
        let one = ledger.reserve(&request(key, "pure(eps=0.125)")).unwrap();
        one.begin().unwrap().settle(b"x").unwrap();
    }
    let sql = |sql: &str| {
        ::postgres::Client::connect(&server.address(), ::postgres::NoTls)
            .unwrap()
            .batch_execute(sql)
            .map_err(|error| error.as_db_error().unwrap().message().to_owned())
    };
    for accident in [
        "DELETE FROM demure.journal",
        "UPDATE demure.journal SET cost = 0",
        "TRUNCATE demure.journal",
    ] {
        assert_eq!(sql(accident).unwrap_err(), "the journal is append-only");
    }
    sql("ALTER TABLE demure.journal DISABLE TRIGGER ALL").unwrap();
    assert_eq!(ledger.verify().unwrap_err(), Error::Unguarded);
    sql("UPDATE demure.journal SET cost = 0 WHERE seq = 2").unwrap();
    sql("ALTER TABLE demure.journal ENABLE TRIGGER ALL").unwrap();
    assert!(matches!(ledger.verify(), Err(Error::Broken { seq: 2, .. })));
    let again = Ledger::connect(&server.address(), "visits", pure(10.0), wall_clock());
    assert!(matches!(again, Err(Error::Broken { seq: 2, .. })), "{again:?}");
    sql("UPDATE demure.about SET version = 9").unwrap();
    let newer = Ledger::connect(&server.address(), "visits", pure(10.0), wall_clock());
    assert!(matches!(newer, Err(Error::SchemaVersion { found: 9, supported: 2 })), "{newer:?}");
}

#[test]
fn addresses_that_lead_nowhere_are_said_without_their_password() {
    let bad = Ledger::connect("mysql://h/d", "visits", pure(1.0), wall_clock()).unwrap_err();
    assert_eq!(bad, Error::BadAddress);
    let address = "postgres://ana:secret@/none?host=/nowhere";
    let error = Ledger::connect(address, "visits", pure(1.0), wall_clock()).unwrap_err();
    assert!(matches!(error, Error::CannotConnect { .. }), "{error:?}");
    assert!(!format!("{error} {error:?}").contains("secret"));
}
