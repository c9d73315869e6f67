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

#[test]
fn a_policy_needs_itself_its_ledger_its_accounts_and_its_sources() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    std::fs::create_dir_all(at("parts/2024")).unwrap();
    std::fs::create_dir(at("glob")).unwrap();
    let text = "[budget]\nepsilon = 1\n[tables.a]\nsource = \"a.csv\"\nunit = \"row\"\n\
                [tables.b]\nsource = \"parts\"\nunit = \"row\"\n\
                [tables.c]\nsource = \"glob/*.csv\"\nunit = \"row\"\n";
    std::fs::write(at("clinic.toml"), text).unwrap();
    std::fs::write(at("a.csv"), "x\n1\n").unwrap();
    let policy = Policy::read(&at("clinic.toml")).unwrap();
    let needed = |name: &str| is_needed(&at(name), &at("clinic.toml"), &policy);
    for name in [
        "clinic.toml",
        "clinic.ledger",
        "clinic.ledger-head",
        "clinic.2.ledger",
        "clinic.users",
        "a.csv",
        "parts/2024/new.csv",
        "glob/new.csv",
        "parts/../a.csv",
    ] {
        assert!(needed(name), "{name}");
    }
    for name in ["rows.csv", "clinic.csv", "clinic.report.html", "absent/a.csv"] {
        assert!(!needed(name), "{name}");
    }
    std::os::unix::fs::symlink(at("a.csv"), at("link.csv")).unwrap();
    assert!(needed("link.csv"));
}
