//! How many durable rows a ledger appends in a second, and how often it can be read.
//!
//! `cargo run --release -p demure-ledger --example commits [directory | postgres://…]`
//!
//! A purchase is a debit and a settlement: two rows, each on disk before the next step. The
//! ledger of a policy in a file also notes beside it how far it has come, before a debit is granted.

use demure_core::event::Event;
use demure_core::unit::{Delta, Epsilon, Neighbours};
use demure_ledger::{Accounting, Charter, Ledger, Limit, Place, Request, wall_clock};
use std::error::Error;
use std::path::Path;
use std::time::{Duration, Instant};

const DURATION: Duration = Duration::from_secs(3);
const READS: u32 = 10_000;

type Outcome<T> = Result<T, Box<dyn Error + Send + Sync>>;

fn limit() -> Outcome<Limit> {
    Ok(Limit {
        accounting: Accounting::Zcdp,
        epsilon: Epsilon::new(1e6)?,
        delta: Delta::new(1e-6)?,
        neighbours: Neighbours::AddRemove,
    })
}

fn open(place: &str, dataset: &str) -> Outcome<Ledger> {
    let limit = limit()?;
    Ok(if place.starts_with("postgres://") {
        Ledger::connect(place, dataset, limit, wall_clock())?
    } else {
        Ledger::open(Path::new(place), dataset, limit, wall_clock())?
    })
}

/// Rows appended in a second by `threads` threads on one ledger.
fn rows_per_second(ledger: &Ledger, threads: u32) -> Outcome<f64> {
    let before = ledger.verify()?.entries;
    let start = Instant::now();
    let buy = |thread: u32| -> Outcome<()> {
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
    };
    let buy = &buy;
    std::thread::scope(|scope| {
        let workers: Vec<_> = (0..threads).map(|thread| scope.spawn(move || buy(thread))).collect();
        workers.into_iter().try_for_each(|worker| worker.join().unwrap_or(Err("a panic".into())))
    })?;
    let seconds = start.elapsed().as_secs_f64();
    Ok((ledger.verify()?.entries - before) as f64 / seconds)
}

/// How often in a second.
fn rate(mut read: impl FnMut() -> Outcome<()>) -> Outcome<f64> {
    let start = Instant::now();
    (0..READS).try_for_each(|_| read())?;
    Ok(f64::from(READS) / start.elapsed().as_secs_f64())
}

fn main() -> Outcome<()> {
    let place = std::env::args().nth(1).unwrap_or_default();
    let directory = match place.as_str() {
        "" => tempfile::tempdir()?,
        place if place.starts_with("postgres://") => tempfile::tempdir()?,
        place => tempfile::tempdir_in(place)?,
    };
    let file = directory.path().join("ledger.db").display().to_string();
    let place = if place.starts_with("postgres://") { place } else { file };
    let run = std::process::id();
    for threads in [1, 32] {
        let ledger = open(&place, &format!("{run}, {threads} threads"))?;
        println!("{threads:>2} threads: {:>6.0} appends/s", rows_per_second(&ledger, threads)?);
    }
    if !place.starts_with("postgres://") {
        let charter = Charter {
            name: "commits".to_owned(),
            limit: limit()?,
            units: Vec::new(),
            public: Vec::new(),
            by: String::new(),
        };
        for threads in [1, 32] {
            let own = Place::File(directory.path().join(format!("{threads}.ledger")));
            let (ledger, _) = Ledger::create(&own, &charter, "", wall_clock())?;
            let rows = rows_per_second(&ledger, threads)?;
            println!("{threads:>2} threads: {rows:>6.0} appends/s of a policy's ledger");
        }
    }
    let ledger = open(&place, &format!("{run}, 32 threads"))?;
    let finds = rate(|| Ok(ledger.find("0-0").map(drop)?))?;
    let balances = rate(|| Ok(ledger.balance().map(drop)?))?;
    println!(" 1 thread:  {finds:>6.0} finds/s, {balances:.0} balances/s");
    Ok(())
}
