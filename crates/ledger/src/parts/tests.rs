use super::*;

#[test]
fn what_was_left_is_removed_and_what_is_being_made_is_not() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("clinic.ledger");
    let (left, making) = (name(&path).unwrap(), name(&path).unwrap());
    drop(create(&left).unwrap());
    std::fs::write(access::beside(&left, "-wal"), b"log").unwrap();
    let making_it = create(&making).unwrap();
    for other in [".clinic.ledger.part", ".other.ledger.part", "clinic.ledger.old.part"] {
        std::fs::write(folder.path().join(other), b"").unwrap();
    }
    sweep(&path);
    assert!(!left.exists() && !access::beside(&left, "-wal").exists() && making.exists());
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 4);
    drop(making_it);
    sweep(&path);
    assert!(!making.exists());
}
