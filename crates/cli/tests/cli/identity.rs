//! Which ledger is a policy's: through the binary, every way in which a budget could begin anew.

use super::init::{ages, folder};
use super::query::people;
use super::server::Server;
use super::{Run, run};
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

pub(super) const COUNT: &str = "SELECT COUNT(*) FROM people";

/// Runs `demure` with DEMURE_LEDGER.
pub(super) fn with_ledger(address: &str, args: &[&str]) -> Run {
    let mut command = Command::new(env!("CARGO_BIN_EXE_demure"));
    Run::of(command.args(args).env("DEMURE_LEDGER", address).output().unwrap())
}

/// A policy of ε 2, of which 0.5 is spent, and its ledger.
pub(super) fn spent(name: &str) -> (String, PathBuf) {
    let policy = people(name);
    let ran = run(&["query", &policy, COUNT]);
    assert!(ran.err.contains("left ε 1.5 of 2"), "{}", ran.err);
    let ledger = Path::new(&policy).with_extension("ledger");
    assert!(ledger.exists());
    (policy, ledger)
}

pub(super) fn beside(path: &Path, suffix: &str) -> PathBuf {
    PathBuf::from(format!("{}{suffix}", path.display()))
}

/// Every command that opens the ledger refuses, says this, and creates nothing.
pub(super) fn refused(policy: &str, says: &str) {
    // A server that cannot start has a file of accounts all the same.
    let accounts = |name: &std::ffi::OsStr| name.to_string_lossy().contains(".users");
    let files = || {
        let all = std::fs::read_dir(Path::new(policy).parent().unwrap()).unwrap();
        all.filter(|file| !accounts(&file.as_ref().unwrap().file_name())).count()
    };
    let (before, text) = (files(), std::fs::read_to_string(policy).unwrap());
    for args in [
        &["query", policy, COUNT][..],
        &["explain", policy, COUNT],
        &["budget", "show", policy],
        &["budget", "anchor", policy],
        &["serve", policy, "--pg", "127.0.0.1:0", "--http", "127.0.0.1:0"],
    ] {
        let ran = run(args);
        assert_eq!((ran.code, ran.out.as_str()), (Some(2), ""), "{args:?} {}", ran.err);
        assert!(ran.err.contains(says), "{args:?} {}", ran.err);
    }
    assert_eq!((files(), std::fs::read_to_string(policy).unwrap()), (before, text));
}

pub(super) fn left(policy: &str, says: &str) {
    let ran = run(&["budget", "show", policy]);
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    assert!(ran.out.contains(says), "{}", ran.out);
}

#[test]
fn a_policy_names_its_ledger_from_its_first_use_on() {
    let (policy, ledger) = spent("identity-first");
    let text = std::fs::read_to_string(&policy).unwrap();
    assert!(
        text.contains("\n[ledger]\nid = \"") && text.contains("at = \"people.ledger\""),
        "{text}"
    );
    // Nothing else of it changed, and it is free to ask again.
    let again = run(&["query", &policy, COUNT]);
    assert!(again.err.contains("bought before"), "{}", again.err);
    assert_eq!(std::fs::read_to_string(&policy).unwrap(), text);
    for suffix in ["", "-head"] {
        let mode = beside(&ledger, suffix).metadata().unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600, "{suffix}");
    }
    // Under another name it is the same policy with the same ledger; elsewhere it has none.
    let renamed = Path::new(&policy).with_file_name("renamed.toml");
    std::fs::copy(&policy, &renamed).unwrap();
    left(renamed.to_str().unwrap(), "left   ε 1.5");
    let other = folder("identity-first-other").join("people.toml");
    std::fs::copy(&policy, &other).unwrap();
    refused(other.to_str().unwrap(), "there is no ledger at");
}

#[test]
fn a_ledger_that_is_gone_empty_or_a_link_to_nothing_is_refused() {
    let (policy, ledger) = spent("identity-gone");
    let away = ledger.with_extension("away");
    std::fs::rename(&ledger, &away).unwrap();
    refused(&policy, "--new-ledger");
    std::fs::write(&ledger, "").unwrap();
    std::fs::set_permissions(&ledger, std::fs::Permissions::from_mode(0o600)).unwrap();
    refused(&policy, "is empty");
    std::fs::remove_file(&ledger).unwrap();
    symlink("nowhere", &ledger).unwrap();
    refused(&policy, "a link that leads nowhere");
    std::fs::remove_file(&ledger).unwrap();
    std::fs::rename(&away, &ledger).unwrap();
    left(&policy, "left   ε 1.5");
}

#[test]
fn a_policy_without_an_id_does_not_get_a_ledger_over_a_broken_one() {
    let policy = people("identity-broken");
    let ledger = Path::new(&policy).with_extension("ledger");
    std::fs::write(&ledger, "").unwrap();
    refused(&policy, "is empty");
    std::fs::remove_file(&ledger).unwrap();
    symlink("nowhere", &ledger).unwrap();
    refused(&policy, "a link that leads nowhere");
}

#[test]
fn a_ledger_that_lost_its_log_is_refused() {
    let (policy, ledger) = spent("identity-log");
    let whole = std::fs::read(&ledger).unwrap();
    let more = run(&["query", &policy, "SELECT AVG(age) FROM people"]);
    assert!(more.err.contains("left ε 1 of 2"), "{}", more.err);
    // As it was before what was in the log came into it.
    let newer = std::fs::read(&ledger).unwrap();
    std::fs::write(&ledger, whole).unwrap();
    refused(&policy, "has lost its end");
    std::fs::write(&ledger, newer).unwrap();
    let head = std::fs::read(beside(&ledger, "-head")).unwrap();
    std::fs::remove_file(beside(&ledger, "-head")).unwrap();
    refused(&policy, "-head");
    std::fs::write(beside(&ledger, "-head"), head).unwrap();
    std::fs::set_permissions(beside(&ledger, "-head"), PermissionsExt::from_mode(0o600)).unwrap();
    left(&policy, "left   ε 1");
}

#[test]
fn others_may_read_none_of_it() {
    let (policy, ledger) = spent("identity-modes");
    let add = run(&["user", "list", "--policy", &policy]);
    assert_eq!(add.code, Some(0), "{}", add.err);
    for path in [ledger.clone(), beside(&ledger, "-head")] {
        std::fs::set_permissions(&path, PermissionsExt::from_mode(0o640)).unwrap();
        refused(&policy, "chmod 600");
        std::fs::set_permissions(&path, PermissionsExt::from_mode(0o600)).unwrap();
    }
    let ran = run(&["user", "list", "--policy", &policy]);
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    let users = Path::new(&policy).with_extension("users");
    std::fs::set_permissions(&users, PermissionsExt::from_mode(0o644)).unwrap();
    let ran = run(&["user", "list", "--policy", &policy]);
    assert_eq!(ran.code, Some(2));
    assert!(ran.err.contains("chmod 600"), "{}", ran.err);
    let incidents = Path::new(&policy).with_extension("incidents");
    std::fs::write(&incidents, "").unwrap();
    std::fs::set_permissions(&incidents, PermissionsExt::from_mode(0o644)).unwrap();
    let ran = run(&["query", &policy, COUNT]);
    assert_eq!(ran.code, Some(2));
    assert!(ran.err.contains("people.incidents") && ran.err.contains("chmod 600"), "{}", ran.err);
}

#[test]
fn a_policy_that_is_reached_by_a_link_has_the_same_budget() {
    let (policy, _) = spent("identity-link");
    let links = folder("identity-links");
    let link = links.join("clinic.toml");
    symlink(&policy, &link).unwrap();
    let link = link.to_str().unwrap();
    let again = run(&["query", link, COUNT]);
    assert!(again.err.contains("bought before; left ε 1.5"), "{}", again.err);
    let more = run(&["query", link, "SELECT AVG(age) FROM people"]);
    assert!(more.err.contains("left ε 1 of 2"), "{}", more.err);
    left(&policy, "left   ε 1");
    assert_eq!(std::fs::read_dir(&links).unwrap().count(), 1);
}

#[test]
fn another_unit_is_refused_and_a_new_ledger_says_what_it_replaces() {
    let (policy, ledger) = spent("identity-unit");
    let text = std::fs::read_to_string(&policy).unwrap();
    std::fs::write(&policy, text.replace("unit = \"id\"", "unit = \"row\"")).unwrap();
    refused(&policy, "--new-ledger");
    let unsure = run(&["budget", "new", &policy]);
    assert_eq!(unsure.code, Some(2));
    assert!(unsure.err.contains("hint: if that is what you want, say --new-ledger"));
    let head = {
        std::fs::write(&policy, &text).unwrap();
        let head = run(&["budget", "anchor", &policy]).out.trim().to_owned();
        std::fs::write(&policy, text.replace("unit = \"id\"", "unit = \"row\"")).unwrap();
        head
    };
    let new = run(&["budget", "new", &policy, "--new-ledger", "--why", "rows are people"]);
    assert_eq!(new.code, Some(0), "{}", new.err);
    assert!(ledger.exists() && ledger.with_extension("2.ledger").exists());
    left(&policy, "left   ε 2");
    let log = run(&["budget", "log", &policy]).out;
    let audit = run(&["user", "audit", "--policy", &policy]).out;
    for record in [&log, &audit] {
        assert!(record.contains(&head) && record.contains("rows are people"), "{record}");
    }
    assert!(audit.contains("new-ledger"), "{audit}");
    let forced = run(&["query", &policy, COUNT]);
    assert!(forced.err.contains("left ε 1.5 of 2"), "{}", forced.err);
}

#[test]
fn a_head_that_was_noted_is_checked() {
    let (policy, ledger) = spent("identity-anchor");
    let head = run(&["budget", "anchor", &policy]).out.trim().to_owned();
    let (bytes, mark) =
        (std::fs::read(&ledger).unwrap(), std::fs::read(beside(&ledger, "-head")).unwrap());
    run(&["query", &policy, "SELECT AVG(age) FROM people"]);
    let later = run(&["budget", "anchor", &policy]).out.trim().to_owned();
    for good in [&head, &later] {
        let ran = run(&["budget", "verify", &policy, "--expect-head", good]);
        assert_eq!(ran.code, Some(0), "{}", ran.err);
    }
    // An older copy, put back with its mark: only who noted more knows.
    std::fs::write(&ledger, bytes).unwrap();
    std::fs::write(beside(&ledger, "-head"), mark).unwrap();
    left(&policy, "left   ε 1.5");
    for args in [
        &["budget", "verify", &policy, "--expect-head", &later][..],
        &["query", &policy, COUNT, "--expect-head", &later],
        &["serve", &policy, "--expect-head", &later],
    ] {
        let ran = run(args);
        assert_eq!(ran.code, Some(2), "{args:?}");
        assert!(ran.err.contains("does not hold the head"), "{}", ran.err);
    }
    let bad = run(&["budget", "verify", &policy, "--expect-head", "12"]);
    assert_eq!(bad.code, Some(2));
}

#[test]
fn a_ledger_from_before_goes_on_and_its_policy_names_it() {
    use demure_ledger::{Accounting, Ledger, Limit, Request, wall_clock};
    let policy = people("identity-before");
    let ledger = Path::new(&policy).with_extension("ledger");
    let limit = Limit {
        accounting: Accounting::Pure,
        epsilon: demure_core::unit::Epsilon::new(2.0).unwrap(),
        delta: demure_core::unit::Delta::new(1e-6).unwrap(),
        neighbours: demure_core::unit::Neighbours::AddRemove,
    };
    let old = Ledger::open(&ledger, "people", limit, wall_clock()).unwrap();
    let event = demure_core::event::Event::pure(0.5).unwrap();
    let key = "5a".repeat(32);
    let request = Request { who: "ann".into(), key: key.clone(), query: "q".into(), event };
    old.reserve(&request).unwrap().begin().unwrap().settle(b"x").unwrap();
    drop(old);
    std::fs::set_permissions(&ledger, PermissionsExt::from_mode(0o644)).unwrap();
    let ran = run(&["query", &policy, COUNT]);
    assert!(ran.err.contains("left ε 1 of 2"), "{}", ran.err);
    assert!(ran.err.contains("warning: others could read the ledger"), "{}", ran.err);
    assert_eq!(ledger.metadata().unwrap().permissions().mode() & 0o777, 0o600);
    let verified = run(&["budget", "verify", &policy]);
    assert_eq!(verified.code, Some(0), "{}", verified.err);
    // Neither its key nor a hash that covers it is shown.
    let log = run(&["budget", "log", &policy, "--json"]).out;
    let log: serde_json::Value = serde_json::from_str(&log).unwrap();
    let entries = log["entries"].as_array().unwrap();
    assert!(!log.to_string().contains(&key));
    assert!(entries[..3].iter().all(|entry| entry["hash"].is_null()), "{log}");
    assert!(entries[3..].iter().all(|entry| entry["hash"].is_string()), "{log}");
    // Two at once, on a policy that cannot be written: the lines to paste.
    let other = people("identity-before-unwritable");
    std::fs::set_permissions(&other, PermissionsExt::from_mode(0o444)).unwrap();
    let ran = run(&["query", &other, COUNT]);
    assert_eq!(ran.code, Some(2));
    let lines = ran.err.split("start again\n").nth(1).unwrap().trim().to_owned();
    assert!(lines.starts_with("[ledger]\nid = \""), "{}", ran.err);
    std::fs::set_permissions(&other, PermissionsExt::from_mode(0o644)).unwrap();
    let text = std::fs::read_to_string(&other).unwrap();
    std::fs::write(&other, format!("{text}{lines}\n")).unwrap();
    left(&other, "left   ε 2");
}

#[test]
fn a_shared_ledger_is_the_one_that_the_policy_names() {
    let Some(server) = Server::start() else { return };
    let address = server.address();
    // Two policies of one name: the second may be the first without its `[ledger]`.
    let (one, two) = (people("identity-shared-one"), people("identity-shared-two"));
    let bought = with_ledger(&address, &["query", &one, COUNT]);
    assert!(bought.err.contains("left ε 1.5 of 2"), "{}", bought.err);
    let unsure = with_ledger(&address, &["query", &two, COUNT]);
    assert_eq!(unsure.code, Some(2));
    assert!(unsure.err.contains("--new-ledger"), "{}", unsure.err);
    let new = with_ledger(&address, &["budget", "new", &two, "--new-ledger"]);
    assert_eq!(new.code, Some(0), "{}", new.err);
    let bought = with_ledger(&address, &["query", &two, COUNT]);
    assert!(bought.err.contains("cost ε 0.5; left ε 1.5 of 2"), "{}", bought.err);
    let text = std::fs::read_to_string(&one).unwrap();
    assert!(text.contains("at = \"postgres://postgres@/postgres?host="), "{text}");
    // Without the variable it is the same ledger, and no file beside the policy.
    let again = run(&["query", &one, COUNT]);
    assert!(again.err.contains("bought before; left ε 1.5"), "{}", again.err);
    assert!(!Path::new(&one).with_extension("ledger").exists());
    // With another value it is refused.
    let elsewhere = with_ledger(&address.replace("/postgres?", "/other?"), &["query", &one, COUNT]);
    assert_eq!(elsewhere.code, Some(2));
    assert!(elsewhere.err.contains("DEMURE_LEDGER"), "{}", elsewhere.err);
    // And so it is for a policy whose ledger is a file.
    let (policy, _) = spent("identity-shared-file");
    let elsewhere = with_ledger(&address, &["query", &policy, COUNT]);
    assert_eq!(elsewhere.code, Some(2));
    assert!(elsewhere.err.contains("a second budget"), "{}", elsewhere.err);
    // Rows that are gone from the server are not a new budget.
    let mut client = postgres::Client::connect(&address, postgres::NoTls).unwrap();
    client.batch_execute("DROP SCHEMA demure CASCADE").unwrap();
    let gone = run(&["query", &one, COUNT]);
    assert_eq!(gone.code, Some(2));
    assert!(gone.err.contains("is not the one that the policy names"), "{}", gone.err);
}

#[test]
fn a_policy_is_overwritten_only_when_its_bounds_are_paid_for() {
    let folder = folder("identity-init");
    let data = ages(&folder);
    let policy = folder.join("ages.toml").display().to_string();
    let init = |epsilon: &str, unit: &str| {
        run(&[
            "init",
            &data,
            "--unit",
            unit,
            "--numeric",
            "age",
            "--spend-epsilon",
            epsilon,
            "--output",
            &policy,
            "--force",
        ])
    };
    assert_eq!(init("0.75", "person").code, Some(0));
    let text = std::fs::read_to_string(&policy).unwrap();
    assert!(text.contains("[ledger]"), "{text}");
    let text = format!("{text}# a steward's own line\n");
    std::fs::write(&policy, &text).unwrap();
    for (epsilon, unit, says) in
        [("0.5", "person", "nothing was spent"), ("0.1", "row", "has the unit row")]
    {
        let ran = init(epsilon, unit);
        assert_ne!(ran.code, Some(0), "{}", ran.err);
        assert!(ran.err.contains(says), "{}", ran.err);
        assert_eq!(std::fs::read_to_string(&policy).unwrap(), text);
    }
    assert_eq!(init("0.25", "person").code, Some(0));
    let new = std::fs::read_to_string(&policy).unwrap();
    assert!(!new.contains("own line") && new.contains("[ledger]"), "{new}");
    left(&policy, "ε 1 (ε 1 in all)");
}

#[test]
fn who_is_killed_while_bounds_are_bought_keeps_the_old_policy_and_has_paid() {
    let folder = folder("identity-killed");
    let data = folder.join("ages.csv");
    let policy = folder.join("ages.toml").display().to_string();
    let rows: String = (0..400_000).map(|id| format!("{id},{}\n", 18 + id % 80)).collect();
    std::fs::write(&data, format!("person,age\n{rows}")).unwrap();
    let data = data.display().to_string();
    assert_eq!(run(&["init", &data, "--unit", "person", "--output", &policy]).code, Some(0));
    let text = std::fs::read_to_string(&policy).unwrap();
    let mut child = Command::new(env!("CARGO_BIN_EXE_demure"))
        .args(["init", &data, "--unit", "person", "--numeric", "age", "--spend-epsilon", "0.5"])
        .args(["--output", &policy, "--force"])
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let debited = || run(&["budget", "show", &policy]).out.contains("left   ε 0.5");
    let begun = Instant::now();
    while !debited() {
        assert!(begun.elapsed() < Duration::from_secs(120), "no debit");
    }
    let _ = child.kill();
    let finished = child.wait().unwrap().success();
    // Where it was faster than the kill there is nothing to see.
    if !finished {
        assert_eq!(std::fs::read_to_string(&policy).unwrap(), text);
    }
    left(&policy, "left   ε 0.5");
}

/// The text without the section that names the ledger.
pub(super) fn without_ledger(text: &str) -> String {
    let named = |line: &&str| {
        *line == "[ledger]" || line.starts_with("id = \"") || line.starts_with("at = \"")
    };
    text.lines().filter(|line| !named(line)).map(|line| format!("{line}\n")).collect()
}

#[test]
fn a_policy_that_lost_its_section_gets_no_second_budget_on_a_server() {
    let Some(server) = Server::start() else { return };
    let address = server.address();
    let policy = people("identity-lost-section");
    let bought = with_ledger(&address, &["query", &policy, COUNT]);
    assert!(bought.err.contains("left ε 1.5 of 2"), "{}", bought.err);
    let text = std::fs::read_to_string(&policy).unwrap();
    std::fs::write(&policy, without_ledger(&text)).unwrap();
    // By its name; and under another name by its source.
    let renamed = Path::new(&policy).with_file_name("renamed.toml").display().to_string();
    std::fs::copy(&policy, &renamed).unwrap();
    let mut pasted = String::new();
    for lost in [&policy, &renamed] {
        let before = std::fs::read_to_string(lost).unwrap();
        let refused = with_ledger(&address, &["query", lost, COUNT]);
        assert_eq!((refused.code, refused.out.as_str()), (Some(2), ""), "{}", refused.err);
        assert_eq!(std::fs::read_to_string(lost).unwrap(), before);
        let lines = refused.err.split("into the policy\n").nth(1).unwrap();
        pasted = lines.split("; if not").next().unwrap().to_owned();
        assert!(pasted.starts_with("[ledger]\nid = \""), "{}", refused.err);
    }
    // The lines that it says lead back.
    let text = std::fs::read_to_string(&policy).unwrap();
    std::fs::write(&policy, format!("{text}{pasted}\n")).unwrap();
    left(&policy, "left   ε 1.5");
    // Nor where only the mark of a deleted file is left.
    let (file, ledger) = spent("identity-lost-section-file");
    let text = std::fs::read_to_string(&file).unwrap();
    std::fs::write(&file, without_ledger(&text)).unwrap();
    std::fs::remove_file(&ledger).unwrap();
    let refused = with_ledger(&address, &["query", &file, COUNT]);
    assert_eq!(refused.code, Some(2));
    assert!(refused.err.contains("a second budget"), "{}", refused.err);
    refused_without(&file, "there is no ledger at");
}

pub(super) fn refused_without(policy: &str, says: &str) {
    let ran = run(&["query", policy, COUNT]);
    assert_eq!(ran.code, Some(2));
    assert!(ran.err.contains(says), "{}", ran.err);
}

#[test]
fn going_back_to_a_ledger_that_was_replaced_is_refused() {
    let (policy, ledger) = spent("identity-replaced");
    let old = std::fs::read_to_string(&policy).unwrap();
    let new = run(&["budget", "new", &policy, "--new-ledger", "--why", "moved"]);
    assert_eq!(new.code, Some(0), "{}", new.err);
    let text = std::fs::read_to_string(&policy).unwrap();
    std::fs::write(&policy, &old).unwrap();
    for args in [&["query", &policy, COUNT][..], &["budget", "freeze", &policy]] {
        let ran = run(args);
        assert_eq!((ran.code, ran.out.as_str()), (Some(2), ""), "{args:?} {}", ran.err);
        assert!(ran.err.contains("was replaced by"), "{}", ran.err);
        assert!(ran.err.contains("at people.2.ledger: moved"), "{}", ran.err);
    }
    // Its record can be read.
    let log = run(&["budget", "log", &policy]);
    assert_eq!(log.code, Some(0), "{}", log.err);
    assert!(log.out.contains("replaced") && log.err.contains("note: "), "{}{}", log.out, log.err);
    assert_eq!(run(&["budget", "verify", &policy]).code, Some(0));
    // A policy that names none does not adopt it, nor does it get a third where it is gone.
    std::fs::write(&policy, without_ledger(&old)).unwrap();
    refused_without(&policy, "was replaced by");
    for suffix in ["", "-head"] {
        std::fs::remove_file(beside(&ledger, suffix)).unwrap();
    }
    refused_without(&policy, "people.2.ledger");
    std::fs::write(&policy, text).unwrap();
    left(&policy, "left   ε 2");
}

#[test]
fn a_unit_stays_however_its_source_is_spelled_and_people_stay_protected() {
    let (policy, _) = spent("identity-spelled");
    let folder = Path::new(&policy).parent().unwrap().to_owned();
    let text = std::fs::read_to_string(&policy).unwrap();
    let whole = folder.join("people.csv").display().to_string();
    symlink("people.csv", folder.join("link.csv")).unwrap();
    for source in ["people.csv", "./people.csv", "link.csv", &whole] {
        let named = |table: &str, unit: &str| {
            let text = text.replace("[tables.people", &format!("[tables.{table}"));
            let text = text.replace("source = \"people.csv\"", &format!("source = \"{source}\""));
            text.replace("unit = \"id\"", unit)
        };
        std::fs::write(&policy, named("folk", "unit = \"row\"")).unwrap();
        refused(&policy, "has the unit row");
        // Beside the table that was there before, too.
        let second = format!("{text}\n[tables.second]\nsource = \"{source}\"\nunit = \"row\"\n");
        std::fs::write(&policy, second).unwrap();
        refused(&policy, "has the unit row");
        let public = format!("{text}\n[tables.second]\nsource = \"{source}\"\npublic = true\n");
        std::fs::write(&policy, public).unwrap();
        refused(&policy, "is public in the policy");
    }
    std::fs::write(&policy, &text).unwrap();
    left(&policy, "left   ε 1.5");
}

#[test]
fn overwriting_a_policy_keeps_its_ledger_whatever_is_wrong_with_it() {
    let folder = folder("identity-force");
    let data = ages(&folder);
    let policy = folder.join("ages.toml").display().to_string();
    let init =
        |unit: &[&str]| run(&[&["init", &data, "--output", &policy, "--force"], unit].concat());
    let person = ["--unit", "person"];
    assert_eq!(init(&person).code, Some(0));
    assert_eq!(run(&["budget", "show", &policy]).code, Some(0));
    let text = std::fs::read_to_string(&policy).unwrap();
    let named = |text: &str| -> Vec<String> {
        let own = |line: &&str| line.starts_with("id = ") || line.starts_with("at = ");
        text.lines().filter(own).map(str::to_owned).collect()
    };
    assert_eq!(named(&text).len(), 2, "{text}");
    // Not TOML, or TOML whose ledger cannot be read, however it is written.
    for broken in [
        format!("{text}[[[\n"),
        text.replace("[ledger]", "[ ledger ]").replace("id = \"", "id = \"x"),
        "ledger = 7\n".to_owned(),
    ] {
        std::fs::write(&policy, &broken).unwrap();
        let ran = init(&person);
        assert_eq!(ran.code, Some(2), "{broken}");
        assert!(ran.err.contains("hint: correct it first"), "{}", ran.err);
        assert_eq!(std::fs::read_to_string(&policy).unwrap(), broken);
    }
    std::fs::write(&policy, [0xff, 0xfe]).unwrap();
    assert_eq!(init(&person).code, Some(2));
    // The budget stays, so a mistake in it has to be corrected first: with it no policy opens.
    let wrong = text.replace("epsilon = ", "epsilom = ");
    std::fs::write(&policy, &wrong).unwrap();
    let ran = init(&person);
    assert_eq!(ran.code, Some(2));
    assert!(ran.err.contains("`[budget]` has no `epsilon`"), "{}", ran.err);
    assert_eq!(std::fs::read_to_string(&policy).unwrap(), wrong);
    // Another mistake: the ledger stays, and paying for bounds needs a policy that is whole.
    let wrong = text.replace("source = ", "sauce = ");
    std::fs::write(&policy, &wrong).unwrap();
    let paid = init(&["--unit", "person", "--numeric", "age", "--spend-epsilon", "0.1"]);
    assert_eq!(paid.code, Some(2));
    assert_eq!(std::fs::read_to_string(&policy).unwrap(), wrong);
    assert_eq!(init(&person).code, Some(0));
    assert_eq!(named(&std::fs::read_to_string(&policy).unwrap()), named(&text));
    // Through a link from elsewhere, which stays one.
    let link = super::init::folder("identity-force-link").join("link.toml").display().to_string();
    symlink(&policy, &link).unwrap();
    let ran = run(&["init", &data, "--output", &link, "--force", "--unit", "person"]);
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    assert!(Path::new(&link).is_symlink());
    assert!(std::fs::read_to_string(&link).unwrap().contains("source = \"ages.csv\""));
    assert_eq!(named(&std::fs::read_to_string(&policy).unwrap()), named(&text));
}
