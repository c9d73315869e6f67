//! Processes that are killed, and processes that compete.
//!
//! A child is this test's own executable, told by its environment to run one
//! test that is a loop. It prints a line when an operation has returned: what
//! the child said happened must have happened.

use super::{open, place, pure, request};
use demure_ledger::{Error, wall_clock};
use std::io::{BufRead, BufReader, Lines, Write};
use std::path::Path;
use std::process::{Child, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

const PATH: &str = "DEMURE_LEDGER_CHILD_PATH";
const FIRST: &str = "DEMURE_LEDGER_CHILD_FIRST";
const STEP: f64 = 1.0 / 1024.0;
const EVENT: &str = "pure(eps=1/1024)";
const KILLS: u32 = 60;

/// The child: buys and settles until it is killed or nothing is left.
#[test]
fn child() {
    let Ok(path) = std::env::var(PATH) else { return };
    let first: u64 = std::env::var(FIRST).unwrap().parse().unwrap();
    let budget = if first == u64::MAX { pure(0.1) } else { pure(1e6) };
    let mut out = std::io::stdout();
    let ledger =
        demure_ledger::Ledger::open(Path::new(&path), "visits", budget, wall_clock()).unwrap();
    // First the end of the harness's own line.
    writeln!(out, "\nopen").unwrap();
    for i in first.wrapping_add(u64::from(first == u64::MAX)).. {
        let key = format!("{i:x}");
        let reservation = match ledger.reserve(&request(&key, EVENT)) {
            Ok(reservation) => reservation,
            Err(Error::OverBudget { .. }) => return,
            Err(error) => panic!("{error}"),
        };
        writeln!(out, "reserved {i}").unwrap();
        if i % 7 == 6 && first != u64::MAX {
            reservation.cancel().unwrap();
            writeln!(out, "cancelled {i}").unwrap();
            continue;
        }
        // An answer of several pages, now and then, for a log of several frames.
        let answer = vec![i as u8; if i % 5 == 0 { 20_000 } else { 20 }];
        reservation.begin().unwrap().settle(&answer).unwrap();
        writeln!(out, "settled {i}").unwrap();
    }
}

fn spawn(path: &Path, first: u64) -> Child {
    Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "crash::child", "--nocapture", "--test-threads=1"])
        .env(PATH, path)
        .env(FIRST, first.to_string())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap()
}

/// A line of a child: what it did, and for which number.
fn step(line: &str) -> Option<(String, u64)> {
    let (what, number) = line.split_once(' ')?;
    let known = ["reserved", "cancelled", "settled"].contains(&what);
    known.then_some((what.to_owned(), number.parse().ok()?))
}

/// What a child says from here on, to its end.
fn steps(lines: &mut Lines<BufReader<ChildStdout>>) -> Vec<(String, u64)> {
    lines.map_while(Result::ok).filter_map(|line| step(&line)).collect()
}

#[test]
fn a_killed_process_has_spent_what_it_was_granted() {
    let (_directory, path) = place();
    let mut state = 42u64;
    let (mut least, mut most, mut settled, mut busy) = (0u64, 0u64, Vec::new(), 0);
    for round in 0..KILLS {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        let mut child = spawn(&path, u64::from(round) * 1_000_000);
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        // A fourth of them may not even have opened the ledger; the others have done
        // up to twelve steps and are in the middle of the next.
        let mut done = Vec::new();
        if round % 4 != 0 {
            let _ = lines.by_ref().map_while(Result::ok).find(|line| line == "open");
            let count = (state >> 50) % 13;
            done.extend((0..count).map_while(|_| step(&lines.next()?.ok()?)));
        }
        std::thread::sleep(Duration::from_micros((state >> 33) % 10_000));
        child.kill().unwrap(); // SIGKILL
        child.wait().unwrap();
        done.extend(steps(&mut lines));
        let steps = done;
        let count = |what: &str| steps.iter().filter(|(step, _)| step == what).count() as u64;
        let acknowledged = count("reserved") - count("cancelled");
        // The last step may be done and not yet said: a cancellation or a debit.
        let cancelling =
            matches!(steps.last(), Some((what, i)) if what == "reserved" && i % 7 == 6);
        least += acknowledged - u64::from(cancelling);
        most += acknowledged + 1;
        busy += u32::from(!steps.is_empty());
        settled.extend(steps.iter().filter(|(what, _)| what == "settled").map(|(_, i)| *i));

        let ledger = open(&path, pure(1e6));
        let verified = ledger.verify().unwrap();
        let debits = verified.reserved - verified.cancelled;
        assert!((least..=most).contains(&debits), "{least} {debits} {most}");
        let exact = debits as f64 * STEP;
        assert!(verified.spent.main >= exact && verified.spent.main < exact + 1e-9);
        for &i in &settled {
            let answer = ledger.find(&format!("{i:x}")).unwrap();
            assert_eq!(answer.and_then(|answer| answer.first().copied()), Some(i as u8));
        }
    }
    assert!(busy > KILLS / 2 && settled.len() > 50, "{busy} {}", settled.len());
}

#[test]
fn processes_stay_within_the_limit_together() {
    let (_directory, path) = place();
    drop(open(&path, pure(0.1)));
    let mut children: Vec<Child> = (0..3).map(|_| spawn(&path, u64::MAX)).collect();
    let mut granted = 0;
    for child in &mut children {
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        granted += steps(&mut lines).iter().filter(|(what, _)| what == "reserved").count();
        assert!(child.wait().unwrap().success());
    }
    // ⌊0.1 · 1024⌋, and all sold.
    assert_eq!(granted, 102);
    let verified = open(&path, pure(0.1)).verify().unwrap();
    assert_eq!((verified.reserved, verified.settled), (102, 102));
    assert!(verified.spent.main <= 0.1);
}

#[test]
fn a_process_killed_while_it_creates_the_file_leaves_nothing_in_the_way() {
    for round in 0..30u64 {
        let (_directory, path) = place();
        let mut child = spawn(&path, 0);
        let deadline = Instant::now() + Duration::from_secs(5);
        while !path.exists() && Instant::now() < deadline {
            std::thread::sleep(Duration::from_micros(100));
        }
        std::thread::sleep(Duration::from_micros(round * 700));
        child.kill().unwrap();
        child.wait().unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let reserved = steps(&mut lines).iter().filter(|(what, _)| what == "reserved").count();
        assert!(open(&path, pure(1e6)).verify().unwrap().reserved >= reserved as u64);
    }
}
