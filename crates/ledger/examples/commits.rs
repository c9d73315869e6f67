//! How many durable rows a ledger appends in a second, and how often it can be read.
//!
//! `cargo run --release -p demure-ledger --example commits [directory]`
//!
//! A purchase is a debit and a settlement: two rows, each on disk before the next step.

use demure_core::event::Event;
use demure_core::unit::{Delta, Epsilon, Neighbours};
use demure_ledger::{Accounting, Ledger, Limit, Request, wall_clock};
use std::error::Error;
use std::path::Path;
use std::time::{Duration, Instant};

const DURATION: Duration = Duration::from_secs(3);

/// Rows appended in a second by `threads` threads on one ledger.
fn rows_per_second(path: &Path, threads: u32) -> Result<f64, Box<dyn Error + Send + Sync>> {
    let limit = Limit {
        accounting: Accounting::Zcdp,
        epsilon: Epsilon::new(1e6)?,
        delta: Delta::new(1e-6)?,
        neighbours: Neighbours::AddRemove,
    };
    let ledger = Ledger::open(path, "visits", limit, wall_clock())?;
    let before = ledger.verify()?.entries;
    let start = Instant::now();
    std::thread::scope(|scope| {
        let workers: Vec<_> = (0..threads)
            .map(|thread| {
                let ledger = &ledger;
                scope.spawn(move || -> Result<(), Box<dyn Error + Send + Sync>> {
                    for i in 0.. {
                        if start.elapsed() > DURATION {
                            break;
                        }
                        let request = Request {
                            who: format!("analyst {thread}"),
                            key: format!("{thread:x}-{i:x}"),
                            query: "SELECT COUNT(*) FROM visits".into(),
                            event: Event::gaussian(1000.0)?,
                        };
                        ledger.reserve(&request)?.begin()?.settle(&[7; 200])?;
                    }
                    Ok(())
                })
            })
            .collect();
        workers.into_iter().try_for_each(|worker| worker.join().unwrap_or(Err("a panic".into())))
    })?;
    let seconds = start.elapsed().as_secs_f64();
    Ok((ledger.verify()?.entries - before) as f64 / seconds)
}

/// Finds and balances in a second, by one thread.
fn reads_per_second(path: &Path) -> Result<(f64, f64), Box<dyn Error + Send + Sync>> {
    let limit = Limit {
        accounting: Accounting::Zcdp,
        epsilon: Epsilon::new(1e6)?,
        delta: Delta::new(1e-6)?,
        neighbours: Neighbours::AddRemove,
    };
    let ledger = Ledger::open(path, "visits", limit, wall_clock())?;
    let start = Instant::now();
    for _ in 0..10_000 {
        ledger.find("0-0")?;
    }
    let finds = 10_000.0 / start.elapsed().as_secs_f64();
    let start = Instant::now();
    for _ in 0..10_000 {
        ledger.balance()?;
    }
    Ok((finds, 10_000.0 / start.elapsed().as_secs_f64()))
}

fn main() -> Result<(), Box<dyn Error + Send + Sync>> {
    let place = std::env::args_os().nth(1).map_or_else(std::env::temp_dir, Into::into);
    let directory = tempfile::tempdir_in(place)?;
    for threads in [1, 32] {
        let path = directory.path().join(format!("{threads}.db"));
        println!("{threads:>3} threads: {:>6.0} appends/s", rows_per_second(&path, threads)?);
    }
    let (finds, balances) = reads_per_second(&directory.path().join("1.db"))?;
    println!("  1 thread: {finds:.0} finds/s, {balances:.0} balances/s");
    Ok(())
}
