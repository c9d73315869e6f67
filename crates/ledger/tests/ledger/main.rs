//! The ledger through its public interface.
//!
//! | file | what |
//! |---|---|
//! | `journal.rs` | reserve, cancel, settle, balance; limits and clocks |
//! | `contention.rs` | threads that buy at once |
//! | `crash.rs` | processes that are killed, and processes that compete |
//! | `rules.rs` | slices, groups, windows, freezes |
//! | `tamper.rs` | files that were edited, cut or damaged |

#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test that fails panics"
)]

mod contention;
mod crash;
mod journal;
mod rules;
mod tamper;

use demure_core::event::Event;
use demure_core::unit::{Delta, Epsilon, Neighbours};
use demure_ledger::{Accounting, Ledger, Limit, Request, wall_clock};
use std::path::{Path, PathBuf};

fn limit(accounting: Accounting, epsilon: f64, delta: f64) -> Limit {
    Limit {
        accounting,
        epsilon: Epsilon::new(epsilon).unwrap(),
        delta: Delta::new(delta).unwrap(),
        neighbours: Neighbours::AddRemove,
    }
}

fn pure(epsilon: f64) -> Limit {
    limit(Accounting::Pure, epsilon, 0.0)
}

fn request(key: &str, event: &str) -> Request {
    Request {
        who: "ann".into(),
        key: key.into(),
        query: format!("SELECT {key}"),
        event: Event::parse(event).unwrap(),
    }
}

fn place() -> (tempfile::TempDir, PathBuf) {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("ledger.db");
    (directory, path)
}

fn open(path: &Path, limit: Limit) -> Ledger {
    Ledger::open(path, "visits", limit, wall_clock()).unwrap()
}
