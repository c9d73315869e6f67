//! One person with very many rows: a join of her rows with themselves takes the time and memory of a public
//! number of rows, and ends when nobody waits for it.
//!
//! Reads `/proc`, so it runs on Linux alone; a binary of its own, so that nobody else's memory is counted.

#![cfg(target_os = "linux")]
#![expect(clippy::unwrap_used, clippy::panic, reason = "a test that cannot go on must stop")]

use demure_curator::policy::Policy;
use demure_curator::{Curator, Outcome};
use std::fmt::Write;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::sync::Mutex;

const POLICY: &str = "[budget]\nepsilon = 1e13\nper_query = 1e9\n[tables.t]\nsource = \"t.csv\"\n\
    unit = \"id\"\nmax_groups = 1\nmax_rows_per_group = 100000\n[tables.t.columns]\n\
    id = { type = \"integer\" }\nx = { type = \"integer\", bounds = [0, 1000] }\n";

const FOUR: &str = "SELECT COUNT(*) FROM t a JOIN t b ON a.id = b.id JOIN t c ON b.id = c.id \
    JOIN t d ON c.id = d.id";

/// What is measured is the process's: one test at a time.
static ALONE: Mutex<()> = Mutex::const_new(());

/// A table in which person i has `rows(i)` rows.
async fn curator(folder: &Path, people: u32, rows: impl Fn(u32) -> u32) -> Arc<Curator> {
    let mut table = String::from("id,x\n");
    for person in 0..people {
        for row in 0..rows(person) {
            writeln!(table, "{person},{row}").unwrap();
        }
    }
    std::fs::write(folder.join("t.csv"), table).unwrap();
    Curator::in_memory(Policy::parse(POLICY, folder).unwrap()).await.unwrap()
}

async fn count(curator: &Arc<Curator>, sql: &str) -> i64 {
    let Outcome::Answer(answer) = curator.session("tester").run(sql).await.unwrap() else {
        panic!("no answer")
    };
    let column = answer.batches[0].column(0);
    let text = datafusion::arrow::util::display::array_value_to_string(column, 0);
    text.unwrap().parse().unwrap()
}

/// A line of `/proc/self/status`, in bytes.
fn status(name: &str) -> u64 {
    let text = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = text.lines().find_map(|line| line.strip_prefix(name)).unwrap();
    line.trim_start_matches(':').trim_end_matches("kB").trim().parse::<u64>().unwrap() << 10
}

/// The processor time of this process, in ticks of a hundredth of a second.
fn ticks() -> u64 {
    let text = std::fs::read_to_string("/proc/self/stat").unwrap();
    let fields: Vec<&str> = text.rsplit(')').next().unwrap().split_whitespace().collect();
    fields[11].parse::<u64>().unwrap() + fields[12].parse::<u64>().unwrap()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_four_way_self_join_takes_what_the_limit_says() {
    let _alone = ALONE.lock().await;
    let folder = tempfile::tempdir().unwrap();
    let without = curator(folder.path(), 500, |_| 1).await;
    assert_eq!(count(&without, FOUR).await, 500);
    let folder = tempfile::tempdir().unwrap();
    // 150⁴ = 506,250,000 rows of her alone, of which 16⁴ = 65,536 are made.
    let with = curator(folder.path(), 500, |person| if person == 7 { 150 } else { 1 }).await;
    std::fs::write("/proc/self/clear_refs", "5").unwrap();
    let (before, begun) = (status("VmHWM"), Instant::now());
    assert_eq!(count(&with, FOUR).await, 499 + 65_536);
    let (grown, took) = (status("VmHWM") - before, begun.elapsed());
    assert!(grown < 200 << 20, "{} MiB", grown >> 20);
    assert!(took < Duration::from_secs(20), "{took:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn rows_are_dropped_after_the_filters_and_not_below_the_limit() {
    let _alone = ALONE.lock().await;
    let folder = tempfile::tempdir().unwrap();
    let many = |person| if person == 7 { 1000 } else { 20 };
    let curator = curator(folder.path(), 10, many).await;
    let two = "SELECT COUNT(*) FROM t a JOIN t b ON a.id = b.id";
    // 256 on each side of two.
    assert_eq!(count(&curator, two).await, 9 * 400 + 65_536);
    // Her one row that fits stays, wherever the filter is written.
    assert_eq!(count(&curator, &format!("{two} WHERE a.x = 999")).await, 256);
    assert_eq!(count(&curator, &format!("{two} AND a.x = 999 AND b.x = 999")).await, 1);
    assert_eq!(count(&curator, &format!("{two} WHERE b.x < 20 AND a.x = 5")).await, 10 * 20);
    // An id alone is never dropped.
    let inside = "SELECT COUNT(*) FROM t WHERE id IN (SELECT id FROM t WHERE x >= 0)";
    assert_eq!(count(&curator, inside).await, 1000 + 9 * 20);
    let told = curator.session("tester").explanation(two).await.unwrap();
    let told = told.aggregates[0].joins.clone().unwrap();
    assert!(told.starts_with("at most 256 of a person's rows of each table"), "{told}");
    let told = curator.session("tester").explanation(inside).await.unwrap();
    assert_eq!(told.aggregates[0].joins, None);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn work_ends_soon_after_nobody_waits_for_it() {
    let _alone = ALONE.lock().await;
    let folder = tempfile::tempdir().unwrap();
    // 16⁴ rows of each of 3,000 people: minutes of work.
    let curator = curator(folder.path(), 3_000, |_| 16).await;
    for sql in [FOUR.to_owned(), format!("{FOUR} WHERE a.x + b.x + c.x + d.x > 60")] {
        let asked = {
            let (curator, sql) = (Arc::clone(&curator), sql.clone());
            tokio::spawn(async move { curator.session("tester").run(&sql).await.is_ok() })
        };
        // On a busy machine it gets a part of the processor alone.
        let (before, begun) = (ticks(), Instant::now());
        while ticks() - before < 50 {
            assert!(begun.elapsed() < Duration::from_secs(60), "it is not at work");
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        assert!(!asked.is_finished(), "there is too little work");
        asked.abort();
        // Measured in time of the processor, of which it gets a part alone: at most what two threads take
        // in three quarters of a second.
        let (aborted, mut last, mut still) = (ticks(), ticks(), 0);
        while still < 4 {
            tokio::time::sleep(Duration::from_millis(250)).await;
            let now = ticks();
            still = if now - last < 2 { still + 1 } else { 0 };
            last = now;
            assert!(now - aborted < 150, "{} ticks and still at work: {sql}", now - aborted);
        }
    }
}
