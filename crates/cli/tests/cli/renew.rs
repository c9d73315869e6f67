//! Another ledger for a policy: what is closed, what is refused, and what stays; sources that another
//! table had; machines that come at once.

use super::identity::{
    COUNT, beside, left, refused, refused_without, spent, with_ledger, without_ledger,
};
use super::init::{ages, folder};
use super::query::people;
use super::server::Server;
use super::{Run, run};
use std::collections::BTreeSet;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

const AVERAGE: &str = "SELECT AVG(age) FROM people";

/// Everything in the policy's folder but the accounts, which are made when the record is opened.
fn files(policy: &str) -> BTreeSet<(PathBuf, Vec<u8>)> {
    let all = std::fs::read_dir(Path::new(policy).parent().unwrap()).unwrap();
    let paths = all.map(|file| file.unwrap().path());
    let own = paths.filter(|path| !path.display().to_string().contains(".users"));
    own.map(|path| (path.clone(), std::fs::read(path).unwrap_or_default())).collect()
}

fn renewed(policy: &str) -> Run {
    run(&["budget", "new", policy, "--new-ledger", "--why", "again"])
}

/// The ledger that a policy names is closed: going back to it is refused.
fn is_closed(policy: &str, text: &str) {
    let now = std::fs::read_to_string(policy).unwrap();
    std::fs::write(policy, text).unwrap();
    refused_without(policy, "was replaced by");
    std::fs::write(policy, now).unwrap();
}

#[test]
fn what_stands_in_the_way_for_now_ends_the_command_before_anything_is_changed() {
    let (policy, ledger) = spent("renew-passing");
    let (text, before) = (std::fs::read_to_string(&policy).unwrap(), files(&policy));
    let ends = |says: &str| {
        let ran = renewed(&policy);
        assert_eq!((ran.code, ran.out.as_str()), (Some(2), ""), "{}", ran.err);
        assert!(ran.err.contains(says) && ran.err.contains("nothing was changed"), "{}", ran.err);
        assert_eq!(files(&policy), before);
        let record = run(&["user", "audit", "--policy", &policy]).out;
        assert!(!record.contains("new-ledger"), "{record}");
    };
    // Readable by others; under two names; in a folder that cannot be looked into.
    for part in [ledger.clone(), beside(&ledger, "-head")] {
        std::fs::set_permissions(&part, PermissionsExt::from_mode(0o644)).unwrap();
        ends("chmod 600");
        std::fs::set_permissions(&part, PermissionsExt::from_mode(0o600)).unwrap();
    }
    let link = folder("renew-passing-link").join("link");
    std::fs::hard_link(&ledger, &link).unwrap();
    ends("-samefile");
    std::fs::remove_file(link).unwrap();
    // Locked by another process.
    let lock = std::fs::File::open(beside(&ledger, "-head")).unwrap();
    lock.lock().unwrap();
    ends("locked");
    drop(lock);
    // A policy that cannot be written.
    std::fs::set_permissions(&policy, PermissionsExt::from_mode(0o444)).unwrap();
    ends("must name its new ledger");
    std::fs::set_permissions(&policy, PermissionsExt::from_mode(0o644)).unwrap();
    // A server that is not there, whatever DEMURE_LEDGER says of the new one.
    let named: String = text
        .lines()
        .map(|line| match line.starts_with("at = ") {
            true => "at = \"postgres://nobody@/nothing?host=/nowhere\"\n".to_owned(),
            false => format!("{line}\n"),
        })
        .collect();
    std::fs::write(&policy, &named).unwrap();
    let ran = renewed(&policy);
    assert_eq!(ran.code, Some(2), "{}", ran.err);
    assert!(ran.err.contains("cannot connect") && ran.err.contains("hint: "), "{}", ran.err);
    assert_eq!(std::fs::read_to_string(&policy).unwrap(), named);
    std::fs::write(&policy, &text).unwrap();
    left(&policy, "left   ε 1.5");
    assert_eq!(renewed(&policy).code, Some(0));
    is_closed(&policy, &text);
}

#[test]
fn a_ledger_that_is_gone_or_broken_is_replaced_and_the_record_says_so() {
    type Break = fn(&Path);
    let gone: Break = |ledger| std::fs::remove_file(ledger).unwrap();
    let empty: Break = |ledger| std::fs::write(ledger, "").unwrap();
    let markless: Break = |ledger| std::fs::remove_file(beside(ledger, "-head")).unwrap();
    let other: Break = |ledger| std::fs::write(ledger, "not a ledger at all").unwrap();
    for (name, break_it, says) in [
        ("gone", gone, "there is no ledger at"),
        ("empty", empty, "is empty"),
        ("markless", markless, "missing or damaged"),
        ("other", other, "is not a Demure ledger"),
    ] {
        let (policy, ledger) = spent(&format!("renew-{name}"));
        break_it(&ledger);
        let ran = renewed(&policy);
        assert_eq!(ran.code, Some(0), "{name} {}", ran.err);
        let record = run(&["user", "audit", "--policy", &policy]).out;
        assert!(record.contains("was not closed (") && record.contains(says), "{name} {record}");
        left(&policy, "left   ε 2");
    }
}

#[test]
fn a_policy_that_lost_its_section_closes_the_ledgers_beside_it() {
    let (policy, _) = spent("renew-lost");
    let first = std::fs::read_to_string(&policy).unwrap();
    assert_eq!(renewed(&policy).code, Some(0));
    let second = std::fs::read_to_string(&policy).unwrap();
    run(&["query", &policy, AVERAGE]);
    std::fs::write(&policy, without_ledger(&second)).unwrap();
    let ran = renewed(&policy);
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    assert!(ran.out.contains("at people.2.ledger, which ended with"), "{}", ran.out);
    assert!(std::fs::read_to_string(&policy).unwrap().contains("people.3.ledger"));
    for old in [&first, &second] {
        is_closed(&policy, old);
    }
    left(&policy, "left   ε 2");
    // One of the time before ids, too.
    let policy = people("renew-lost-old");
    let ledger = Path::new(&policy).with_extension("ledger");
    let limit = demure_ledger::Limit {
        accounting: demure_ledger::Accounting::Pure,
        epsilon: demure_core::unit::Epsilon::new(2.0).unwrap(),
        delta: demure_core::unit::Delta::new(1e-6).unwrap(),
        neighbours: demure_core::unit::Neighbours::AddRemove,
    };
    let clock = demure_ledger::wall_clock();
    drop(demure_ledger::Ledger::open(&ledger, "people", limit, clock).unwrap());
    let text = std::fs::read_to_string(&policy).unwrap();
    assert_eq!(renewed(&policy).code, Some(0));
    is_closed(&policy, &text);
}

#[test]
fn a_ledger_is_found_whatever_is_missing_before_it() {
    let (policy, ledger) = spent("renew-gaps");
    for _ in 0..2 {
        assert_eq!(renewed(&policy).code, Some(0));
    }
    let text = std::fs::read_to_string(&policy).unwrap();
    assert!(text.contains("people.3.ledger"), "{text}");
    for gone in [ledger.clone(), ledger.with_extension("2.ledger")] {
        for suffix in ["", "-head"] {
            std::fs::remove_file(beside(&gone, suffix)).unwrap();
        }
    }
    std::fs::write(&policy, without_ledger(&text)).unwrap();
    refused(&policy, "people.3.ledger");
    std::fs::write(&policy, &text).unwrap();
    left(&policy, "left   ε 2");
    // The next has a number that no other had.
    assert_eq!(renewed(&policy).code, Some(0));
    assert!(std::fs::read_to_string(&policy).unwrap().contains("people.4.ledger"));
}

#[test]
fn a_policy_with_its_ledger_on_one_line_gets_another_or_stays_as_it_is() {
    let (policy, _) = spent("renew-inline");
    let text = std::fs::read_to_string(&policy).unwrap();
    let value = |key: &str| {
        let line = text.lines().find(|line| line.starts_with(key)).unwrap();
        line.split_once(" = ").unwrap().1.to_owned()
    };
    let inline = format!("ledger = {{ id = {}, at = {} }}\n", value("id = "), value("at = "));
    let inline = format!("{inline}{}", without_ledger(&text));
    std::fs::write(&policy, &inline).unwrap();
    left(&policy, "left   ε 1.5");
    // Where it cannot be done, nothing is closed.
    let odd = inline.replacen("ledger = ", "\"ledger\" = ", 1);
    std::fs::write(&policy, &odd).unwrap();
    let ran = renewed(&policy);
    assert_eq!(ran.code, Some(2), "{}", ran.err);
    assert!(ran.err.contains("nothing was changed"), "{}", ran.err);
    assert_eq!(std::fs::read_to_string(&policy).unwrap(), odd);
    left(&policy, "left   ε 1.5");
    std::fs::write(&policy, &inline).unwrap();
    let ran = renewed(&policy);
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    left(&policy, "left   ε 2");
    is_closed(&policy, &inline);
}

#[test]
fn overwriting_a_policy_keeps_its_limit() {
    let folder = folder("renew-init");
    let data = ages(&folder);
    let policy = folder.join("ages.toml").display().to_string();
    let init = |more: &[&str]| {
        let args = ["init", &data, "--unit", "person", "--output", &policy, "--force"];
        run(&[&args[..], more].concat())
    };
    assert_eq!(init(&[]).code, Some(0));
    let text = std::fs::read_to_string(&policy).unwrap();
    let epsilon = text.lines().find(|line| line.starts_with("epsilon = ")).unwrap();
    for budget in ["epsilon = 0.25\ndelta = 1e-7\nanswers = \"shared\"", "epsilon = 3.0"] {
        std::fs::write(&policy, text.replace(epsilon, budget)).unwrap();
        let ran = init(&[]);
        assert_eq!(ran.code, Some(0), "{}", ran.err);
        assert!(ran.err.contains("note: [budget] stays"), "{}", ran.err);
        let new = std::fs::read_to_string(&policy).unwrap();
        for line in budget.lines() {
            assert!(ran.err.contains(line) && new.lines().any(|own| own == line), "{new}");
        }
        assert_eq!(new.matches("\nepsilon = ").count(), 1, "{new}");
        assert!(new.contains("\n[timing]\n") && new.contains("[tables.ages]"), "{new}");
    }
    left(&policy, "ε 3");
    // Written in another way; and what it buys is bought from it.
    let inline = text.replace("\n[budget]\n", "\n[other]\n");
    let start = inline.find("\n[other]\n").unwrap();
    let end = start + inline[start..].find("\n\n").unwrap();
    let without = format!("{}{}", &inline[..start], &inline[end..]);
    std::fs::write(&policy, format!("budget = {{ epsilon = 0.5 }}\n{without}")).unwrap();
    let ran = init(&["--numeric", "age", "--spend-epsilon", "0.75"]);
    assert_eq!(ran.code, Some(2), "{}", ran.err);
    assert!(ran.err.contains("must be at most 0.5"), "{}", ran.err);
    assert_eq!(init(&[]).code, Some(0));
    left(&policy, "limit  ε 0.5,");
}

#[test]
fn files_of_a_table_do_not_become_those_of_one_with_another_unit() {
    let (policy, ledger) = spent("renew-files");
    let folder = Path::new(&policy).parent().unwrap().to_owned();
    let text = std::fs::read_to_string(&policy).unwrap();
    std::fs::create_dir(folder.join("all")).unwrap();
    std::fs::hard_link(folder.join("people.csv"), folder.join("all/linked.csv")).unwrap();
    std::fs::copy(folder.join("people.csv"), folder.join("staff.csv")).unwrap();
    let second = |source: &str, rest: &str| {
        format!("{text}\n[tables.second]\nsource = \"{source}\"\n{rest}\n")
    };
    for source in ["all/linked.csv", "all", "all/*.csv", "p*.csv", "*.csv"] {
        std::fs::write(&policy, second(source, "unit = \"row\"")).unwrap();
        refused(&policy, "as table `people`");
        std::fs::write(&policy, second(source, "public = true")).unwrap();
        refused(&policy, "is public in the policy");
    }
    // Another file is another table, and from then on it is one.
    std::fs::write(&policy, second("staff.csv", "unit = \"row\"")).unwrap();
    assert_eq!(run(&["query", &policy, COUNT]).code, Some(0));
    std::fs::write(&policy, text.replace("\"people.csv\"", "\"staff.csv\"")).unwrap();
    refused(&policy, "as table `second`");
    // After the policy was moved, with its ledger.
    let moved = folder.join("moved");
    std::fs::create_dir(&moved).unwrap();
    for file in [ledger.clone(), beside(&ledger, "-head")] {
        std::fs::rename(&file, moved.join(file.file_name().unwrap())).unwrap();
    }
    let elsewhere = moved.join("people.toml").display().to_string();
    let there = text.replace("\"people.csv\"", "\"../people.csv\"");
    let renamed = there.replace("[tables.people", "[tables.folk");
    std::fs::write(&elsewhere, renamed.replace("unit = \"id\"", "unit = \"row\"")).unwrap();
    refused(&elsewhere, "as table `people`");
    std::fs::write(&elsewhere, &there).unwrap();
    left(&elsewhere, "left   ε 1,");
    // The same rows, written anew, are the same table's.
    let rows = std::fs::read(folder.join("people.csv")).unwrap();
    std::fs::remove_file(folder.join("people.csv")).unwrap();
    std::fs::write(folder.join("people.csv"), rows).unwrap();
    assert_eq!(run(&["query", &elsewhere, COUNT]).code, Some(0));
}

#[test]
fn a_source_that_does_not_open_is_not_written_down() {
    let (policy, _) = spent("renew-unopened");
    let text = std::fs::read_to_string(&policy).unwrap();
    let folder = Path::new(&policy).parent().unwrap().to_owned();
    let staff = "\n[tables.staff]\nsource = \"staff.csv\"\nunit = \"row\"\n";
    std::fs::write(&policy, format!("{text}{staff}")).unwrap();
    for args in [&["query", &policy, COUNT][..], &["budget", "show", &policy]] {
        run(args);
    }
    // The unit was a mistake; nothing was spent for it.
    std::fs::write(folder.join("staff.csv"), "id,name\n1,a\n").unwrap();
    let other = staff.replace("\"row\"", "\"id\"");
    std::fs::write(&policy, format!("{text}{other}")).unwrap();
    let ran = run(&["query", &policy, COUNT]);
    assert_eq!(ran.code, Some(0), "{}", ran.err);
}

/// Starts `demure` with DEMURE_LEDGER.
fn started(address: &str, args: &[&str]) -> Child {
    Command::new(env!("CARGO_BIN_EXE_demure"))
        .args(args)
        .env("DEMURE_LEDGER", address)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap()
}

/// How many ledgers on the server can be spent from.
fn in_use(address: &str) -> i64 {
    let mut client = postgres::Client::connect(address, postgres::NoTls).unwrap();
    let sql = "SELECT count(*) FROM demure.head h WHERE NOT EXISTS (SELECT FROM demure.journal j
               WHERE j.dataset = h.dataset AND j.kind = 'replaced')";
    client.query_one(sql, &[]).unwrap().get(0)
}

#[test]
fn of_machines_that_use_a_policy_first_at_once_one_makes_its_ledger() {
    let Some(server) = Server::start() else { return };
    let address = server.address();
    // A machine each, with a copy of the policy.
    let policies: Vec<String> = (0..4).map(|it| people(&format!("renew-machine-{it}"))).collect();
    let started: Vec<Child> =
        policies.iter().map(|policy| started(&address, &["query", policy, COUNT])).collect();
    let ran: Vec<Run> =
        started.into_iter().map(|child| Run::of(child.wait_with_output().unwrap())).collect();
    let answered = ran.iter().filter(|ran| ran.code == Some(0)).count();
    assert_eq!((answered, in_use(&address)), (1, 1));
    for ran in ran.iter().filter(|ran| ran.code != Some(0)) {
        assert!(ran.err.contains("[ledger]\nid = \""), "{}", ran.err);
    }
}

#[test]
fn of_two_machines_that_replace_a_ledger_one_does_and_the_other_is_refused() {
    let Some(server) = Server::start() else { return };
    let address = server.address();
    let (one, two) = (people("renew-two-one"), people("renew-two-two"));
    assert_eq!(with_ledger(&address, &["query", &one, COUNT]).code, Some(0));
    std::fs::copy(&one, &two).unwrap();
    let renew = |policy: &str| started(&address, &["budget", "new", policy, "--new-ledger"]);
    let started = [renew(&one), renew(&two)];
    let ran = started.map(|child| Run::of(child.wait_with_output().unwrap()));
    let codes: BTreeSet<Option<i32>> = ran.iter().map(|ran| ran.code).collect();
    assert_eq!(codes, [Some(0), Some(2)].into(), "{} {}", ran[0].err, ran[1].err);
    let late = ran.iter().find(|ran| ran.code == Some(2)).unwrap();
    let first = ran.iter().find(|ran| ran.code == Some(0)).unwrap();
    let id = late.err.split("new id ").nth(1).unwrap().split(',').next().unwrap();
    assert!(first.out.contains(id), "{} {}", first.out, late.err);
    assert_eq!(in_use(&address), 1);
    // And so it is when it comes later.
    let late = if ran[0].code == Some(2) { &one } else { &two };
    let again = with_ledger(&address, &["budget", "new", late, "--new-ledger"]);
    assert_eq!(again.code, Some(2));
    assert!(again.err.contains(id), "{}", again.err);
    assert_eq!(in_use(&address), 1);
}

#[test]
fn the_ledger_of_another_policy_is_not_taken_for_ones_own() {
    let (policy, _) = spent("renew-others");
    assert_eq!(renewed(&policy).code, Some(0));
    let ran = run(&["query", &policy, COUNT]);
    assert!(ran.err.contains("left ε 1.5 of 2"), "{}", ran.err);
    // Another policy over other people, whose first ledger would have the name of the numbered one.
    let folder = Path::new(&policy).parent().unwrap();
    std::fs::write(folder.join("staff.csv"), "id,age\n1,30\n2,40\n").unwrap();
    let text = "[budget]\nepsilon = 50\n[tables.people]\nsource = \"staff.csv\"\nunit = \"id\"\n\
                [tables.people.columns]\nid = { type = \"integer\" }\nage = { bounds = [0, 99] }\n";
    for name in ["people.2.toml", "people.dev"] {
        let other = folder.join(name);
        std::fs::write(&other, text).unwrap();
        let ran = run(&["query", other.to_str().unwrap(), COUNT]);
        assert_eq!(ran.code, Some(2), "{name}: {} {}", ran.out, ran.err);
        assert!(!std::fs::read_to_string(&other).unwrap().contains("[ledger]"), "{name}");
    }
    // Its limit is what it was.
    let ran = run(&["query", &policy, COUNT]);
    assert!(ran.err.contains("left ε 1.5 of 2"), "{}", ran.err);
}
