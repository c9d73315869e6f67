//! The ledger through its public interface.
//!
//! | file | what |
//! |---|---|
//! | `journal.rs` | reserve, cancel, settle, balance; limits and clocks |
//! | `contention.rs` | threads that buy at once |
//! | `identity.rs` | the ledger that a policy names: ids, units, marks, modes, ledgers from before |
//! | `before.rs` | ledgers that earlier versions wrote |
//! | `crash.rs` | processes that are killed, and processes that compete |
//! | `postgres.rs` | all of the above on PostgreSQL, and what is PostgreSQL's own |
//! | `server.rs` | a PostgreSQL server for tests |
//! | `receive.rs` | answers that somebody else bought |
//! | `rules.rs` | limits, groups, periods, freezes |
//! | `disk.rs` | disks that are full, files that may not grow, kills at every system call |
//! | `load.rs` | processes and servers that are killed under load |
//! | `torn.rs` | a log that ends anywhere |
//! | `tamper.rs` | files that were edited, cut or damaged |
//! | `units.rs` | sources and files of tables with other units; ledgers that are made or replaced at once |

#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test that fails panics"
)]

/// Tests of what is the same wherever a journal lives: here in SQLite, and all of
/// them once more in `postgres.rs`.
macro_rules! scenarios {
    (in_memory: [$($memory:ident),* $(,)?]; in_a_file: [$($file:ident),* $(,)?];) => {
        mod in_memory {
            $(#[test] fn $memory() { super::$memory(&crate::Place::Memory); })*
        }
        mod in_a_file {
            $(#[test] fn $file() { super::$file(&crate::Place::file()); })*
        }
        pub(super) const SCENARIOS: &[(&str, fn(&crate::Place))] =
            &[$((stringify!($memory), $memory),)* $((stringify!($file), $file),)*];
    };
}

mod before;
mod contention;
mod crash;
mod disk;
mod identity;
mod journal;
mod load;
mod postgres;
mod receive;
mod rules;
mod server;
mod tamper;
mod torn;
mod units;

use demure_core::event::Event;
use demure_core::unit::{Delta, Epsilon, Neighbours};
use demure_ledger::{Accounting, Clock, Error, Ledger, Limit, Request, wall_clock};
use std::path::{Path, PathBuf};

/// Where a journal lives.
enum Place {
    /// For tests that open it once.
    Memory,
    File(tempfile::TempDir),
    Server {
        address: String,
        dataset: String,
    },
}

impl Place {
    fn file() -> Self {
        Self::File(tempfile::tempdir().unwrap())
    }

    fn open(&self, limit: Limit) -> Ledger {
        self.try_open(limit, wall_clock()).unwrap()
    }

    /// The same; where a busy disk keeps others waiting for too long, once more.
    fn open_in_turn(&self, limit: &Limit) -> Ledger {
        loop {
            if let Some(ledger) = in_turn(self.try_open(limit.clone(), wall_clock())) {
                return ledger;
            }
        }
    }

    fn try_open(&self, limit: Limit, clock: Clock) -> Result<Ledger, Error> {
        match self {
            Self::Memory => Ledger::in_memory(limit),
            Self::File(directory) => {
                Ledger::open(&directory.path().join("ledger.db"), "visits", limit, clock)
            }
            Self::Server { address, dataset } => Ledger::connect(address, dataset, limit, clock),
        }
    }

    /// Another dataset in the same place.
    fn dataset(&self, name: &str, limit: Limit) -> Ledger {
        match self {
            Self::Memory => panic!("a journal in memory has one dataset"),
            Self::File(directory) => {
                let path = directory.path().join("ledger.db");
                Ledger::open(&path, name, limit, wall_clock()).unwrap()
            }
            Self::Server { address, dataset } => {
                let name = format!("{dataset}, {name}");
                Ledger::connect(address, &name, limit, wall_clock()).unwrap()
            }
        }
    }
}

/// What came of something that others do at the same time; `None` if they kept it waiting until its
/// patience ended, and then nothing was granted. Each of them waits for the disk of all.
fn in_turn<T>(outcome: Result<T, Error>) -> Option<T> {
    match outcome {
        Err(Error::Locked { .. }) => None,
        other => Some(other.unwrap()),
    }
}

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
