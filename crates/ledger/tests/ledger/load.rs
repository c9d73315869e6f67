//! Killed under load: eight threads that buy at once, and share their commits.
//!
//! A child prints a line when an operation has returned, as a curator would show an
//! answer. Whatever happens to it, afterwards the chain verifies, at least what it
//! showed is spent, and all that it showed is there.
//!
//! `DEMURE_KILLS=3000` kills so often; by default it is 60 times.

use super::server::Server;
use super::{Place, pure, request};
use demure_ledger::{Error, Kind, Ledger, wall_clock};
use std::collections::HashSet;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

const PLACE: &str = "DEMURE_LEDGER_LOAD_PLACE";
const ROUND: &str = "DEMURE_LEDGER_LOAD_ROUND";
const THREADS: u32 = 8;
/// Adds up exactly.
const EVENT: &str = "pure(eps=1/1024)";
/// A journal is replayed at every opening: after this many kills there is a new one.
const KILLS_OF_ONE: u32 = 50;

fn kills() -> u32 {
    std::env::var("DEMURE_KILLS").map_or(60, |kills| kills.parse().unwrap())
}

/// The child. One line at a time, so that a kill cuts at most the last.
#[test]
fn child() {
    let Ok(place) = std::env::var(PLACE) else { return };
    let round = std::env::var(ROUND).unwrap();
    let ledger = if place.starts_with("postgres://") {
        Ledger::connect(&place, "visits", pure(1e6), wall_clock()).unwrap()
    } else {
        Ledger::open(Path::new(&place), "visits", pure(1e6), wall_clock()).unwrap()
    };
    let say = |line: String| std::io::stdout().lock().write_all(line.as_bytes()).unwrap();
    say("\nopen\n".to_owned());
    std::thread::scope(|scope| {
        for thread in 0..THREADS {
            let (ledger, say, round) = (&ledger, &say, &round);
            scope.spawn(move || {
                for i in 0u64.. {
                    let key = format!("{round}-{thread}-{i}");
                    let one = ledger.reserve(&request(&key, EVENT)).unwrap();
                    if i % 7 == 6 {
                        one.cancel().unwrap();
                        continue;
                    }
                    let reading = one.begin().unwrap();
                    say(format!("reading {key}\n"));
                    reading.settle(answer(&key).as_bytes()).unwrap();
                    say(format!("released {key}\n"));
                }
            });
        }
    });
}

/// Of several pages for some.
fn answer(key: &str) -> String {
    key.repeat(if key.ends_with('5') { 3000 } else { 1 })
}

fn spawn(place: &str, round: u32) -> Child {
    Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "load::child", "--nocapture", "--test-threads=1"])
        .env(PLACE, place)
        .env(ROUND, round.to_string())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap()
}

/// What the children of one journal said.
#[derive(Default)]
struct ChildOutput {
    reading: HashSet<String>,
    released: HashSet<String>,
}

impl ChildOutput {
    fn hear(&mut self, line: &str) -> bool {
        let set = match line.split_once(' ') {
            Some(("reading", key)) => (&mut self.reading, key),
            Some(("released", key)) => (&mut self.released, key),
            _ => return false,
        };
        set.0.insert(set.1.to_owned())
    }

    /// Is the journal whole, and all that was said in it?
    fn holds(&self, ledger: &Ledger, newest: &str) {
        let verified = ledger.verify().unwrap();
        assert_eq!(verified.beyond, 0);
        let debits = verified.reserved - verified.cancelled;
        assert_eq!(verified.spent.main, debits as f64 / 1024.0);
        // Data was read for no more than was debited, and nothing of that given back.
        assert!(debits >= self.reading.len() as u64, "{debits} {}", self.reading.len());
        let entries = ledger.entries().unwrap();
        let keys = |kind: Kind| -> HashSet<&str> {
            let of_kind = entries.iter().filter(|entry| entry.kind == kind);
            of_kind.map(|entry| entry.key.as_str()).collect()
        };
        let (reserved, cancelled, settled) =
            (keys(Kind::Reserve), keys(Kind::Cancel), keys(Kind::Settle));
        for key in &self.reading {
            assert!(reserved.contains(key.as_str()) && !cancelled.contains(key.as_str()), "{key}");
        }
        for key in &self.released {
            assert!(reserved.contains(key.as_str()) && settled.contains(key.as_str()), "{key}");
        }
        // The answers themselves, of the last child.
        for key in self.released.iter().filter(|key| key.starts_with(newest)) {
            assert_eq!(ledger.find(key).unwrap(), Some(answer(key).into_bytes()), "{key}");
        }
    }
}

/// Kills children on one journal after the other.
fn kill(kills: u32, name: impl Fn(&Place) -> String, place: impl Fn(u32) -> Place) {
    let (mut state, mut left) = (42u64, kills);
    let mut released = 0;
    while left > 0 {
        let here = place(left);
        let mut said = ChildOutput::default();
        for round in 0..left.min(KILLS_OF_ONE) {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            let mut child = spawn(&name(&here), round);
            let lines = BufReader::new(child.stdout.take().unwrap()).lines();
            let mut lines = lines.map_while(Result::ok);
            // A few before it has opened, the others somewhere in their work.
            if round % 8 != 0 {
                let _ = lines.by_ref().find(|line| line == "open");
                let count = (state >> 50) % 60;
                (0..count).filter_map(|_| lines.next()).for_each(|line| {
                    said.hear(&line);
                });
            }
            std::thread::sleep(Duration::from_micros((state >> 33) % 15_000));
            child.kill().unwrap(); // SIGKILL
            child.wait().unwrap();
            let rest: Vec<String> = lines.collect();
            rest.iter().for_each(|line| {
                said.hear(line);
            });
            said.holds(&here.open(pure(1e6)), &format!("{round}-"));
        }
        left -= left.min(KILLS_OF_ONE);
        released += said.released.len();
    }
    assert!(released as u32 > kills * 5, "{released} answers released in {kills} kills");
}

#[test]
fn a_process_killed_under_load_has_spent_what_it_released() {
    let name = |place: &Place| match place {
        Place::File(directory) => directory.path().join("ledger.db").display().to_string(),
        _ => panic!("not a file"),
    };
    kill(kills(), name, |_| Place::file());
}

#[test]
fn a_curator_of_postgresql_killed_under_load_has_spent_what_it_released() {
    let Some(server) = Server::start() else { return };
    let address = server.address();
    let place = |_| Place::Server { address: address.clone(), dataset: "visits".to_owned() };
    // All in one journal: keys of one round would come again in the next.
    kill((kills() / 4).min(KILLS_OF_ONE), |_| address.clone(), place);
}

#[test]
fn a_server_that_crashes_under_load_keeps_what_was_released() {
    let Some(mut server) = Server::start() else { return };
    let address = server.address();
    let ledger = Ledger::connect(&address, "visits", pure(1e6), wall_clock()).unwrap();
    let mut said = ChildOutput::default();
    for round in 0..3 {
        let said_now = std::thread::scope(|scope| {
            let threads: Vec<_> = (0..THREADS)
                .map(|thread| {
                    let ledger = &ledger;
                    scope.spawn(move || buy_until_it_fails(ledger, &format!("{round}-{thread}")))
                })
                .collect();
            std::thread::sleep(Duration::from_millis(300));
            server.stop("QUIT");
            threads.into_iter().flat_map(|thread| thread.join().unwrap()).collect::<Vec<_>>()
        });
        said_now.iter().for_each(|line| {
            said.hear(line);
        });
        server.run(&[]);
        // The same ledger goes on.
        said.holds(&ledger, &format!("{round}-"));
    }
    assert!(said.released.len() > 20, "{}", said.released.len());
}

fn buy_until_it_fails(ledger: &Ledger, name: &str) -> Vec<String> {
    let mut said = Vec::new();
    for i in 0.. {
        let key = format!("{name}-{i}");
        let mut buy = || -> Result<(), Error> {
            let reading = ledger.reserve(&request(&key, EVENT))?.begin()?;
            said.push(format!("reading {key}"));
            reading.settle(answer(&key).as_bytes())?;
            said.push(format!("released {key}"));
            Ok(())
        };
        match buy() {
            Ok(()) => {}
            Err(Error::Disconnected { .. } | Error::CannotConnect { .. }) => break,
            Err(Error::Server { code }) if code == "57P01" || code == "57P02" => break,
            Err(error) => panic!("{error:?}"),
        }
    }
    said
}
