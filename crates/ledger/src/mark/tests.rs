use super::*;
use crate::store::sqlite::Sqlite;
use crate::store::{Intent, Store};

#[test]
fn a_mark_goes_forward_and_a_torn_slot_leaves_the_other() {
    let folder = tempfile::tempdir().unwrap();
    let ledger = folder.path().join("clinic.ledger");
    assert!(Mark::open(&ledger).unwrap().is_none());
    let id = LedgerId::random().unwrap();
    let mut mark = Mark::create(&ledger, &id, START).unwrap();
    assert_eq!((mark.id(), mark.place().unwrap()), (&id, START));
    for seq in [1, 5, 3, 6] {
        mark.hold().unwrap().advance((seq, [seq as u8; 32])).unwrap();
    }
    // A different row with the same number belongs to another journal.
    let other = mark.hold().unwrap().advance((6, [7; 32])).unwrap_err();
    assert!(matches!(other, Error::Forked { seq: 6, .. }), "{other:?}");
    let mut other = Mark::open(&ledger).unwrap().unwrap();
    assert_eq!(other.place().unwrap(), (6, [6; 32]));
    // Other processes' changes are seen.
    other.hold().unwrap().advance((9, [9; 32])).unwrap();
    mark.hold().unwrap().advance((8, [8; 32])).unwrap();
    assert_eq!(mark.place().unwrap(), (9, [9; 32]));
    // A second creation changes nothing.
    let again = Mark::create(&ledger, &LedgerId::random().unwrap(), START).unwrap();
    assert_eq!((again.id(), again.place().unwrap()), (&id, (9, [9; 32])));
    // Whatever part of the newest slot was written, the one before is complete.
    let path = Mark::path(&ledger);
    let whole = std::fs::read(&path).unwrap();
    let (at, _) = newest(&whole).unwrap();
    for torn in 0..200 {
        let mut bytes = whole.clone();
        bytes[at * SLOT + torn] ^= 0x41;
        std::fs::write(&path, &bytes).unwrap();
        assert_eq!(Mark::open(&ledger).unwrap().unwrap().place().unwrap().0, 6, "{torn}");
    }
    for bad in [&b""[..], b"demure head 1", &vec![0; 2 * SLOT]] {
        std::fs::write(&path, bad).unwrap();
        assert!(matches!(Mark::open(&ledger), Err(Error::BadHead { .. })));
    }
}

#[test]
fn whoever_holds_a_mark_keeps_others_waiting_but_not_for_ever() {
    let folder = tempfile::tempdir().unwrap();
    let ledger = folder.path().join("clinic.ledger");
    let id = LedgerId::random().unwrap();
    let mut one = Mark::create(&ledger, &id, START).unwrap();
    let mut two = Mark::open(&ledger).unwrap().unwrap();
    two.patience = Duration::from_millis(20);
    let held = one.hold().unwrap();
    assert_eq!(two.hold().unwrap_err(), Error::Locked { seconds: 0 });
    drop(held);
    two.hold().unwrap().advance((1, [1; 32])).unwrap();
}

#[test]
fn a_journal_that_ends_before_a_row_that_was_found_in_it_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let ledger = folder.path().join("clinic.ledger");
    let id = LedgerId::random().unwrap();
    let mut mark = Mark::create(&ledger, &id, START).unwrap();
    let mut store = Sqlite::in_memory().unwrap();
    let mut held = mark.hold().unwrap();
    let (journal, transaction) = (Replay::new("clinic", START), store.begin(Intent::Read).unwrap());
    held.is_in(&journal, &*transaction).unwrap();
    held.advance((5, [5; 32])).unwrap();
    let forked = held.is_in(&journal, &*transaction).unwrap_err();
    assert!(matches!(forked, Error::Forked { seq: 5, .. }), "{forked:?}");
}

#[cfg(unix)]
#[test]
fn a_mark_that_was_replaced_or_has_two_names_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let ledger = folder.path().join("clinic.ledger");
    let id = LedgerId::random().unwrap();
    let mut mark = Mark::create(&ledger, &id, START).unwrap();
    mark.hold().unwrap().advance((5, [5; 32])).unwrap();
    let (path, copy) = (Mark::path(&ledger), folder.path().join("copy"));
    std::fs::copy(&path, &copy).unwrap();
    let mut held = mark.hold().unwrap();
    std::fs::rename(&copy, &path).unwrap();
    let moved = Error::Moved { path: path.clone() };
    assert_eq!(held.advance((6, [6; 32])), Err(moved.clone()));
    drop(held);
    assert_eq!(mark.hold().unwrap_err(), moved);
    std::fs::hard_link(&path, &copy).unwrap();
    let linked = Mark::open(&ledger).unwrap_err();
    assert!(matches!(&linked, Error::ManyNames { names: 2, .. }), "{linked:?}");
    // If its maker was killed while naming it, the file has one name again.
    std::fs::rename(&copy, parts::name(&path).unwrap()).unwrap();
    assert_eq!(Mark::open(&ledger).unwrap().unwrap().place().unwrap(), (5, [5; 32]));
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
}
