//! `cargo xtask bench account`: certified accounting against dp_accounting.
//!
//! Claims, within this run:
//! - every case ≥ 20 × faster than dp_accounting, at an interval no wider than
//!   dp_accounting's distance from it;
//! - optimal composition at k = 100 in under 50 µs;
//! - a filter's millionth query costs what its first does.

#![forbid(unsafe_code)]

use demure_bench::{Contestant, rates};
use demure_core::account::filter::Filter;
use demure_core::account::{Account, optimal};
use demure_core::event::Event;
use demure_core::unit::{Delta, Epsilon, Neighbours};
use std::error::Error;
use std::hint::black_box;
use std::process::ExitCode;
use std::time::{Duration, Instant};

const ROUNDS: usize = 7;
const LEAST: Duration = Duration::from_millis(100);
const OPTIMAL: &str = "pure(eps=0.1)*100, optimal";

fn main() -> ExitCode {
    demure_bench::exit(run())
}

/// What dp_accounting took and answered.
struct Peer {
    case: String,
    seconds: f64,
    epsilon: f64,
}

fn run() -> Result<bool, Box<dyn Error>> {
    let peers = peers()?;
    let mut met = true;
    println!("{:<44}{:>11}{:>12}   {:<22}ratio", "case", "seconds", "width", "epsilon at most");
    for (case, delta) in [
        ("laplace(b=1)*100", 1e-6),
        ("gaussian(sigma=1)*1000", 1e-9),
        ("poisson(q=0.01, gaussian(sigma=1.1))*1000", 1e-5),
        ("poisson(q=0.01, gaussian(sigma=1.1))*10000", 1e-5),
        ("laplace(b=20)*50 + gaussian(sigma=20)*50", 1e-6),
        ("response(eps=ln 3)*100", 1e-6),
    ] {
        met &= batch(case, delta, peers.iter().find(|peer| peer.case == case))?;
    }
    met &= optimal_composition(peers.iter().find(|peer| peer.case == OPTIMAL))?;
    met &= filter()?;
    println!("{}", if met { "every claim met" } else { "a claim was NOT met (marked !)" });
    Ok(met)
}

fn peers() -> Result<Vec<Peer>, Box<dyn Error>> {
    let mut found = Vec::new();
    for path in std::env::args().skip(1) {
        let document: serde_json::Value = serde_json::from_str(&std::fs::read_to_string(path)?)?;
        for row in document["rows"].as_array().into_iter().flatten() {
            found.push(Peer {
                case: row["case"].as_str().unwrap_or_default().to_owned(),
                seconds: row["seconds"].as_f64().unwrap_or_default(),
                epsilon: row["epsilon"].as_f64().unwrap_or_default(),
            });
        }
    }
    Ok(found)
}

fn seconds(name: &'static str, run: impl FnMut()) -> f64 {
    let mut contestants = [Contestant { name, batch: 1, run: Box::new(run) }];
    1.0 / rates(&mut contestants, ROUNDS, LEAST)[0]
}

fn batch(case: &str, delta: f64, peer: Option<&Peer>) -> Result<bool, Box<dyn Error>> {
    let delta = Delta::new(delta)?;
    let price = || -> Result<_, Box<dyn Error>> {
        let events: Vec<Event> = case.split(" + ").map(Event::parse).collect::<Result<_, _>>()?;
        Ok(Account::of(&events, Neighbours::AddRemove)?.epsilon(delta)?)
    };
    let cost = price()?;
    let took = seconds("ours", || {
        black_box(price()).ok();
    });
    let Some(peer) = peer else {
        println!("{case:<44}{took:>11.2e}{:>12.1e}   {:<22}", cost.relative_width(), cost.upper);
        return Ok(true);
    };
    let ratio = peer.seconds / took;
    // How far dp_accounting is off, relative: its answer is one number without an error.
    let distance = (peer.epsilon - cost.upper).abs().min((peer.epsilon - cost.lower).abs());
    let (fast, tight) = (ratio >= 20.0, cost.relative_width() <= distance / cost.upper);
    let below = if peer.epsilon < cost.lower { "  (dp_accounting is BELOW the truth)" } else { "" };
    println!(
        "{case:<44}{took:>11.2e}{:>12.1e}   {:<22}{ratio:.0} × faster (≥ 20){}; \
         dp_accounting off by {:.0e}{}{below}",
        cost.relative_width(),
        cost.upper,
        if fast { "" } else { " !" },
        distance / cost.upper,
        if tight { "" } else { " !" },
    );
    Ok(fast && tight)
}

fn optimal_composition(peer: Option<&Peer>) -> Result<bool, Box<dyn Error>> {
    let (epsilon, target) = (Epsilon::new(0.1)?, Delta::new(1e-6)?);
    let price = || optimal::homogeneous(epsilon, Delta::ZERO, 100, target);
    let cost = price()?;
    let took = seconds("optimal", || {
        black_box(price()).ok();
    });
    let met = took < 50e-6;
    let ratio = peer.map_or(String::new(), |peer| format!("{:.0} × faster; ", peer.seconds / took));
    println!(
        "{OPTIMAL:<44}{took:>11.2e}{:>12.1e}   {:<22}{ratio}{:.1} µs (< 50){}",
        cost.relative_width(),
        cost.upper,
        took * 1e6,
        if met { "" } else { " !" }
    );
    Ok(met)
}

/// The first and the last thousand of a million queries, timed.
fn filter() -> Result<bool, Box<dyn Error>> {
    let query = Event::gaussian(1e4)?;
    let delta = Delta::new(1e-6)?;
    let mut first = Vec::new();
    let mut last = Vec::new();
    for _ in 0..ROUNDS {
        let limit = Epsilon::new(1e3)?;
        let mut filter = Filter::concentrated_within(limit, delta, Neighbours::AddRemove)?;
        for block in 0..1_000 {
            let begun = Instant::now();
            for _ in 0..1_000 {
                let _ = black_box(filter.admit(&query)?);
            }
            let took = begun.elapsed().as_secs_f64() / 1e3;
            match block {
                0 => first.push(took),
                999 => last.push(took),
                _ => {}
            }
        }
    }
    let median = |mut times: Vec<f64>| {
        times.sort_by(f64::total_cmp);
        times[times.len() / 2]
    };
    let (first, last) = (median(first), median(last));
    // A tenfold cost would be a bug; anything near 1 is the machine.
    let met = last < 2.0 * first;
    println!(
        "{:<44}{last:>11.2e}{:>12}   {:<22}{:.2} × the first thousand (< 2){}",
        "filter, the last thousand of a million",
        "",
        "",
        last / first,
        if met { "" } else { " !" }
    );
    Ok(met)
}
