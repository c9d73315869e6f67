use super::*;

#[test]
fn ledgers_are_found_whatever_is_missing_between_them() {
    let folder = tempfile::tempdir().unwrap();
    let policy = folder.path().join("clinic.toml");
    let found = || -> Vec<String> {
        let name = |path: PathBuf| path.file_name().unwrap().to_string_lossy().into_owned();
        ledgers(&policy).unwrap().into_iter().map(name).collect()
    };
    let make = |name: &str| std::fs::write(folder.path().join(name), "").unwrap();
    let next = || unused(&policy).unwrap().file_name().unwrap().to_owned();
    assert!(found().is_empty());
    assert_eq!(next(), "clinic.ledger");
    for other in ["clinic.x.ledger", "clinic.02.ledger", "other.ledger", "clinic.ledger.old"] {
        make(other);
    }
    make("clinics.ledger");
    assert!(found().is_empty());
    make("clinic.3.ledger-head");
    assert_eq!(found(), ["clinic.3.ledger"]);
    assert_eq!(next(), "clinic.4.ledger");
    make("clinic.12.ledger");
    make("clinic.ledger-wal");
    assert_eq!(found(), ["clinic.ledger", "clinic.3.ledger", "clinic.12.ledger"]);
    // Belongs to another policy.
    for other in ["clinic.12.toml", "clinic.4.toml"] {
        make(other);
    }
    assert_eq!(found(), ["clinic.ledger", "clinic.3.ledger"]);
    assert_eq!(next(), "clinic.5.ledger");
}
