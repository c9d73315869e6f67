//! Ledgers that earlier versions wrote: they open, verify and go on.
//!
//! `fixtures/before-ids.sqlite` was written by `demure-ledger` of commit 319b14f, the last before
//! ledgers had ids: a purchase, a cancellation and an open debit, a personal limit, a group, a
//! period, another purchase, a freeze and its end, and a second opening with another limit.
//! `fixtures/first-ids.sqlite` and its mark are the same by commit 89361d3, with an id, a unit and a
//! receipt.

use super::{limit, request};
use demure_ledger::{
    Accounting, Anchor, Answers, Charter, Error, Kind, Ledger, LedgerId, Limit, Outcome, Place,
    Price, Purchase, Question, Request, Successor, Unit, wall_clock,
};
use std::path::{Path, PathBuf};

const SPENT: f64 = 0.00041701388888888924;

/// The debits of `before-ids.sqlite`: their canonical texts, and what came of them.
const DEBITS: [(&str, &str); 4] = [
    ("SELECT COUNT(*) FROM visits", "answered"),
    ("SELECT COUNT(*) FROM visits", "cancelled"),
    ("SELECT COUNT(*) FROM visits", "open"),
    ("SELECT COUNT(*) FROM visits", "answered"),
];

fn copy(of: &str) -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let fixture = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures").join(of);
    let path = folder.path().join("clinic.ledger");
    std::fs::copy(fixture, &path).unwrap();
    // As it was left then, whatever the checkout made of it.
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o644);
    std::fs::set_permissions(&path, mode).unwrap();
    (folder, path)
}

fn zcdp() -> Limit {
    limit(Accounting::Zcdp, 2.0, 1e-6)
}

fn by(who: &str, key: &str, event: &str) -> Request {
    Request { who: who.into(), ..request(key, event) }
}

#[test]
fn a_ledger_from_before_ids_verifies_is_adopted_and_goes_on() {
    let (_folder, path) = copy("before-ids.sqlite");
    let before = Ledger::open(&path, "clinic", zcdp(), wall_clock()).unwrap();
    let verified = before.verify().unwrap();
    assert_eq!((verified.entries, verified.reserved, verified.settled), (14, 4, 2));
    assert_eq!((verified.cancelled, verified.repriced, verified.beyond), (1, 0, 0));
    assert_eq!(verified.spent, Price { main: SPENT, delta: 0.0 });
    // As that version printed it.
    let head = "c81f1e43aaa6cb83ceb2a80762dafed586fad9279d7c2e0063e6e0dbb60f85bf";
    assert_eq!(before.anchor().unwrap().to_string(), format!("14:{head}"));
    // What it wrote of questions is their canonical text, and what came of each is known.
    let entries = before.entries().unwrap();
    assert!(entries.iter().all(|entry| entry.question.is_none()));
    let debits = entries.iter().filter(|entry| entry.kind == Kind::Reserve);
    let debits: Vec<_> = debits
        .map(|entry| (entry.query.as_str(), entry.outcome.map_or("", Outcome::name)))
        .collect();
    assert_eq!(debits, DEBITS);
    drop(before);

    let unit = Unit {
        table: "visits".into(),
        unit: "\"patient_id\"".into(),
        sources: vec!["visits.csv".into()],
        files: Vec::new(),
    };
    let charter = Charter {
        name: "clinic".into(),
        limit: zcdp(),
        units: vec![unit],
        public: Vec::new(),
        by: String::new(),
    };
    let place = Place::File(path.clone());
    let adopted = Ledger::adopt(&place, "clinic", &charter, wall_clock()).unwrap().unwrap();
    assert!(adopted.was_exposed);
    drop(adopted.ledger);
    let ledger = Ledger::open_own(&place, &adopted.id, &charter, wall_clock()).unwrap();
    let kinds: Vec<Kind> = ledger.entries().unwrap()[13..].iter().map(|e| e.kind).collect();
    assert_eq!(kinds, [Kind::Limit, Kind::Identity, Kind::Unit]);
    // What was bought is there, for whoever bought it and for others at its price.
    let answers = Answers::Personal;
    assert_eq!(
        ledger.recall("ann", "aa01", answers).unwrap().as_deref(),
        Some(&b"first answer"[..])
    );
    let given = ledger.purchase(&by("bob", "aa04", "gaussian(sigma=80)"), answers).unwrap();
    assert!(matches!(given, Purchase::Given { answer, .. } if answer == [0, 255, 7]));
    assert_eq!(ledger.balance().unwrap().spent.main, SPENT);
    // The next debit says what was asked; those before stay as they were.
    let question = Question::new("SELECT COUNT(*) FROM visits", Vec::new(), Vec::new());
    let wanted = by("ann", "aa07", "gaussian(sigma=200)");
    let asked = ledger.purchase_asked(&question, &[wanted], answers).unwrap();
    drop(asked);
    let now = ledger.entries().unwrap();
    assert_eq!(
        now[..entries.len()].iter().map(|e| &e.query).collect::<Vec<_>>(),
        entries.iter().map(|e| &e.query).collect::<Vec<_>>()
    );
    assert_eq!(now.last().unwrap().question.as_ref(), Some(&question));
    ledger.verify().unwrap();
    // Its rules bind, and it is spent from.
    let beyond = ledger.reserve(&by("ann", "aa05", "gaussian(sigma=5)")).unwrap_err();
    assert!(matches!(beyond, Error::OverBudget { .. }), "{beyond:?}");
    let one = ledger.reserve(&by("ann", "aa06", "gaussian(sigma=100)")).unwrap();
    one.begin().unwrap().settle(b"new").unwrap();
    let verified = ledger.verify().unwrap();
    assert_eq!((verified.entries, verified.received, verified.beyond), (20, 1, 0));
    assert!(verified.spent.main > SPENT);
    drop(ledger);
    Ledger::open_own(&place, &adopted.id, &charter, wall_clock()).unwrap().verify().unwrap();
}

#[test]
fn a_ledger_of_the_first_version_with_ids_goes_on_under_its_id() {
    let (_folder, path) = copy("first-ids.sqlite");
    let mark = path.with_extension("ledger-head");
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures");
    std::fs::copy(fixtures.join("first-ids.sqlite-head"), &mark).unwrap();
    for file in [&path, &mark] {
        let mode = std::os::unix::fs::PermissionsExt::from_mode(0o600);
        std::fs::set_permissions(file, mode).unwrap();
    }
    let id = LedgerId::parse("9c94210bc01dae208be31d621e5892bf").unwrap();
    let place = Place::File(path);
    let charter = |unit: &str, source: &str| Charter {
        name: "clinic".into(),
        limit: zcdp(),
        units: vec![Unit {
            table: "stays".into(),
            unit: unit.into(),
            sources: vec![source.to_owned()],
            files: Vec::new(),
        }],
        public: Vec::new(),
        by: String::new(),
    };
    let open = |charter: &Charter| Ledger::open_own(&place, &id, charter, wall_clock());
    // Its source was written down as the policy spelled it.
    let other = open(&charter("row", "visits.csv")).unwrap_err();
    assert!(matches!(other, Error::OtherUnit { .. }), "{other:?}");
    let ledger = open(&charter("\"patient_id\"", "visits.csv")).unwrap();
    ledger.record_units(&charter("\"patient_id\"", "visits.csv")).unwrap();
    let head = "17:ba878a479838c7e0bf55cb5664957555b889dbe6b0d553a061aeb1f486041955";
    ledger.expect(&Anchor::parse(head).unwrap()).unwrap();
    // Keys as that version made them.
    let key = "720689f1d2117a4c22293e3e053340256c43c79814c346e0130126d8a0e539bf";
    assert_eq!(ledger.seal(&[7; 32]), key);
    assert_eq!(ledger.balance().unwrap().spent.main, SPENT);
    let one = ledger.reserve(&by("ann", "aa06", "gaussian(sigma=100)")).unwrap();
    one.begin().unwrap().settle(b"new").unwrap();
    let verified = ledger.verify().unwrap();
    assert_eq!((verified.entries, verified.received, verified.beyond), (20, 1, 0));
    let successor = Successor::new("next", "at clinic.2.ledger", "sam");
    Ledger::replace(&place, &id, successor, wall_clock()).unwrap();
    assert!(matches!(open(&charter("row", "new.csv")), Err(Error::Replaced(_))));
}
