use super::*;
use crate::{Accounting, Limit, wall_clock};
use demure_core::unit::{Delta, Epsilon, Neighbours};

/// A process that was killed while it created the first ledger left at most a mark at its start.
#[test]
fn a_ledger_that_was_not_finished_is_made_again() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("clinic.ledger");
    let charter = Charter {
        name: "clinic".to_owned(),
        limit: Limit {
            accounting: Accounting::Pure,
            epsilon: Epsilon::new(1.0).unwrap(),
            delta: Delta::ZERO,
            neighbours: Neighbours::AddRemove,
        },
        units: Vec::new(),
        public: Vec::new(),
        by: String::new(),
    };
    Mark::create(&path, &LedgerId::random().unwrap(), mark::START).unwrap();
    let place = Place::File(path.clone());
    let (ledger, id) = Ledger::create(&place, &charter, "", wall_clock()).unwrap();
    assert_eq!(ledger.id(), Some(&id));
    drop(ledger);
    // From then on the mark is further, and a missing ledger is an error.
    std::fs::remove_file(&path).unwrap();
    let again = Ledger::create(&place, &charter, "", wall_clock());
    assert!(matches!(again, Err(Error::NoLedger { .. })), "{again:?}");
    // A log without its file is a missing ledger, too.
    let other = folder.path().join("other.ledger");
    std::fs::write(access::beside(&other, "-wal"), b"log").unwrap();
    let again = Ledger::create(&Place::File(other), &charter, "", wall_clock());
    assert!(matches!(again, Err(Error::NoLedger { .. })), "{again:?}");
    let parts = std::fs::read_dir(folder.path()).unwrap();
    let left =
        parts.filter(|file| file.as_ref().unwrap().file_name().to_string_lossy().contains(".part"));
    assert_eq!(left.count(), 0);
}
