//! Sources and files that belong to a table with another unit, and ledgers that several machines
//! make or replace at once.

use super::pure;
use super::server::Server;
use demure_ledger::{
    Address, Charter, Error, Kind, Ledger, LedgerId, Place, PublicTable, Successor, Unit,
    wall_clock,
};
use std::collections::BTreeSet;
use std::process::{Command, Stdio};
use std::sync::Barrier;

fn charter(units: Vec<Unit>) -> Charter {
    let (name, by) = ("clinic".to_owned(), "sam".to_owned());
    Charter { name, limit: pure(1.0), units, public: Vec::new(), by }
}

fn unit(table: &str, unit: &str, source: &str, files: &[u8]) -> Unit {
    let files = files.iter().map(|file| [*file; 32]).collect();
    Unit { table: table.into(), unit: unit.into(), sources: vec![source.into()], files }
}

/// A ledger that is opened with these units, and how many rows it has then.
struct Clinic {
    _folder: tempfile::TempDir,
    place: Place,
    id: LedgerId,
}

impl Clinic {
    fn with(units: Vec<Unit>) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let place = Place::File(folder.path().join("clinic.ledger"));
        let (ledger, id) =
            Ledger::create(&place, &charter(units.clone()), "", wall_clock()).unwrap();
        ledger.record_units(&charter(units)).unwrap();
        Self { _folder: folder, place, id }
    }

    fn open(&self, charter: &Charter) -> Result<usize, Error> {
        let ledger = Ledger::open_own(&self.place, &self.id, charter, wall_clock())?;
        ledger.record_units(charter)?;
        ledger.verify().unwrap();
        Ok(ledger.entries().unwrap().len())
    }

    /// Refuses, names the table whose unit it was, and writes nothing.
    fn refuses(&self, units: Vec<Unit>, of: &str) {
        let rows = || {
            let ledger =
                Ledger::open_own(&self.place, &self.id, &charter(Vec::new()), wall_clock());
            ledger.unwrap().entries().unwrap().len()
        };
        let before = rows();
        let error = self.open(&charter(units)).unwrap_err();
        assert!(
            matches!(&error, Error::OtherUnit { of: found, .. } if **found == *of),
            "{error:?}"
        );
        assert!(error.to_string().contains("--new-ledger"), "{error}");
        assert_eq!(rows(), before);
    }
}

#[test]
fn a_known_table_does_not_get_a_source_whose_unit_was_another() {
    let visits = unit("visits", "\"patient\"", "visits.csv", &[]);
    let staff = unit("staff", "row", "staff.csv", &[]);
    let clinic = Clinic::with(vec![visits.clone(), staff.clone()]);
    let moved = |source: &str| Unit { sources: vec![source.into()], ..visits.clone() };
    // Beside the other table, alone, and after that one has gone elsewhere.
    clinic.refuses(vec![moved("staff.csv"), staff.clone()], "staff");
    clinic.refuses(vec![moved("staff.csv")], "staff");
    let staff_moved = Unit { sources: vec!["people.csv".into()], ..staff.clone() };
    clinic.open(&charter(vec![visits.clone(), staff_moved.clone()])).unwrap();
    clinic.refuses(vec![moved("staff.csv"), staff_moved], "staff");
    clinic.refuses(vec![moved("./people.csv")], "staff");
    // A source that was nobody's.
    clinic.open(&charter(vec![moved("new.csv"), staff])).unwrap();
}

#[test]
fn all_units_are_written_or_none_and_not_before_the_sources_open() {
    let visits = unit("visits", "\"patient\"", "visits.csv", &[]);
    let clinic = Clinic::with(vec![visits.clone()]);
    let staff = unit("staff", "row", "staff.csv", &[]);
    let both = charter(vec![visits.clone(), staff.clone()]);
    // Opening alone writes none of them.
    let ledger = Ledger::open_own(&clinic.place, &clinic.id, &both, wall_clock()).unwrap();
    let before = ledger.entries().unwrap().len();
    // The last of them is refused: nor is the first written.
    let last = unit("last", "row", "visits.csv", &[]);
    let bad = charter(vec![staff, last]);
    assert!(matches!(ledger.record_units(&bad), Err(Error::OtherUnit { .. })));
    assert_eq!(ledger.entries().unwrap().len(), before);
    ledger.record_units(&both).unwrap();
    assert_eq!(ledger.entries().unwrap().len(), before + 1);
}

#[test]
fn a_table_is_known_by_its_files_whatever_they_are_called() {
    let visits = unit("visits", "\"patient\"", "visits.csv", &[1, 2]);
    let clinic = Clinic::with(vec![visits.clone()]);
    // Asking again writes nothing; a new file is a row.
    let rows = clinic.open(&charter(vec![visits.clone()])).unwrap();
    let newer = unit("visits", "\"patient\"", "visits.csv", &[2, 3]);
    assert_eq!(clinic.open(&charter(vec![newer.clone()])), Ok(rows + 1));
    assert_eq!(clinic.open(&charter(vec![visits.clone()])), Ok(rows + 1));
    for file in [1, 2, 3] {
        clinic.refuses(vec![unit("stays", "row", "stays.csv", &[9, file])], "visits");
        clinic.refuses(vec![visits.clone(), unit("stays", "row", "stays.csv", &[file])], "visits");
        let public = PublicTable {
            table: "regions".into(),
            sources: vec!["regions.csv".into()],
            files: vec![[file; 32]],
        };
        let policy = Charter { public: vec![public], ..charter(vec![visits.clone()]) };
        assert!(matches!(clinic.open(&policy), Err(Error::MadePublic { .. })));
    }
    clinic.open(&charter(vec![unit("stays", "row", "stays.csv", &[9])])).unwrap();
    // How many files there are is not shown, nor what they are.
    let ledger = Ledger::open_own(&clinic.place, &clinic.id, &charter(vec![]), wall_clock());
    for entry in ledger.unwrap().entries().unwrap() {
        if entry.kind == Kind::Unit {
            assert_eq!(entry.answer_bytes, None);
            assert!(["visits.csv", "stays.csv"].contains(&entry.query.as_str()), "{entry:?}");
        }
    }
}

#[test]
fn two_views_of_one_source_go_on_when_its_files_change() {
    let one = |files: &[u8]| unit("one", "\"a\"", "both.csv", files);
    let two = |files: &[u8]| unit("two", "\"b\"", "both.csv", files);
    // As an earlier version left it, without files.
    let clinic = Clinic::with(vec![one(&[]), two(&[])]);
    clinic.open(&charter(vec![one(&[1]), two(&[1])])).unwrap();
    // One of them alone sees the next file first.
    clinic.open(&charter(vec![one(&[2])])).unwrap();
    clinic.open(&charter(vec![one(&[2]), two(&[2])])).unwrap();
    // Elsewhere they are tables like others.
    clinic
        .refuses(vec![unit("two", "\"b\"", "copy.csv", &[3]), unit("x", "row", "y", &[2])], "one");
    clinic.open(&charter(vec![unit("one", "\"a\"", "one.csv", &[4])])).unwrap();
    clinic.refuses(vec![unit("two", "\"b\"", "one.csv", &[5])], "one");
    clinic.refuses(vec![unit("two", "\"b\"", "else.csv", &[4])], "one");
}

const ADDRESS: &str = "DEMURE_LEDGER_FIRST_ADDRESS";

fn place(address: &str) -> Place {
    Place::Server(Address::parse(address).unwrap())
}

/// A machine that uses the policy for the first time, as soon as its standard input ends.
#[test]
fn first_child() {
    let Ok(address) = std::env::var(ADDRESS) else { return };
    println!("\nready");
    std::io::copy(&mut std::io::stdin(), &mut std::io::sink()).unwrap();
    let policy = charter(vec![unit("visits", "row", "visits.csv", &[])]);
    match Ledger::create_first(&place(&address), &policy, "", wall_clock()) {
        Ok((_, id)) => println!("\nmade {id}"),
        Err(Error::Unclaimed { id: Some(id), .. }) => println!("\nfound {id}"),
        Err(error) => panic!("{error}"),
    }
}

#[test]
fn of_several_machines_that_use_a_policy_first_one_makes_its_ledger() {
    use std::io::{BufRead, BufReader, Read};
    let Some(server) = Server::start() else { return };
    // The tables are there: what is left to compete for is the ledger.
    assert_eq!(Ledger::claimed(&place(&server.address()), &charter(vec![])).unwrap(), None);
    let mut children: Vec<_> = (0..5)
        .map(|_| {
            Command::new(std::env::current_exe().unwrap())
                .args(["--exact", "units::first_child", "--nocapture", "--test-threads=1"])
                .env(ADDRESS, server.address())
                .stdin(Stdio::piped())
                .stdout(Stdio::piped())
                .spawn()
                .unwrap()
        })
        .collect();
    let mut outputs: Vec<_> = children
        .iter_mut()
        .map(|child| {
            let mut lines = BufReader::new(child.stdout.take().unwrap());
            let mut line = String::new();
            while line.trim() != "ready" {
                line.clear();
                assert!(lines.read_line(&mut line).unwrap() > 0, "it did not start");
            }
            lines
        })
        .collect();
    for child in &mut children {
        drop(child.stdin.take());
    }
    let (mut made, mut found) = (BTreeSet::new(), BTreeSet::new());
    for (child, output) in children.iter_mut().zip(&mut outputs) {
        let mut text = String::new();
        output.read_to_string(&mut text).unwrap();
        assert!(child.wait().unwrap().success(), "{text}");
        let said = |what: &str| text.lines().find_map(|line| line.strip_prefix(what));
        made.extend(said("made ").map(str::to_owned));
        found.extend(said("found ").map(str::to_owned));
    }
    assert_eq!(made.len(), 1, "{made:?}");
    assert_eq!(found, made);
}

#[test]
fn of_two_that_replace_a_ledger_at_once_one_does_and_the_other_learns_which() {
    let server = Server::start();
    let folder = tempfile::tempdir().unwrap();
    let file = Place::File(folder.path().join("clinic.ledger"));
    for place in std::iter::once(file).chain(server.as_ref().map(|it| place(&it.address()))) {
        let (_, id) = Ledger::create(&place, &charter(vec![]), "", wall_clock()).unwrap();
        let start = Barrier::new(4);
        let outcomes: Vec<_> = std::thread::scope(|scope| {
            let replace = |name: String| {
                // Both find it in use before either replaces it.
                let old = Ledger::open_to_replace(&place, &id, wall_clock()).unwrap();
                start.wait();
                let done = old.replace_with(Successor::new(&name, "", "sam"));
                (name, done)
            };
            let threads: Vec<_> =
                (0..4).map(|it| scope.spawn(move || replace(format!("next {it}")))).collect();
            threads.into_iter().map(|thread| thread.join().unwrap()).collect()
        });
        let won: Vec<&String> =
            outcomes.iter().filter(|(_, done)| done.is_ok()).map(|(name, _)| name).collect();
        assert_eq!(won.len(), 1, "{outcomes:?}");
        for (_, done) in outcomes.iter().filter(|(_, done)| done.is_err()) {
            let named = matches!(done, Err(Error::Replaced(successor)) if successor.id == *won[0]);
            assert!(named, "{done:?}");
        }
        let again = Ledger::open_to_replace(&place, &id, wall_clock()).unwrap_err();
        assert!(matches!(again, Error::Replaced(_)), "{again:?}");
    }
}

/// What cannot be looked at is not gone.
#[test]
fn a_path_that_cannot_be_followed_is_an_error_that_may_pass() {
    let folder = tempfile::tempdir().unwrap();
    let around = folder.path().join("around");
    std::os::unix::fs::symlink(&around, &around).unwrap();
    let id = LedgerId::random().unwrap();
    for path in [around.join("clinic.ledger"), around.clone()] {
        let error = Ledger::open_to_replace(&Place::File(path), &id, wall_clock()).unwrap_err();
        assert!(matches!(error, Error::CannotOpen { .. }), "{error:?}");
        assert!(!error.is_gone_or_broken());
    }
    let gone = Place::File(folder.path().join("clinic.ledger"));
    let error = Ledger::open_to_replace(&gone, &id, wall_clock()).unwrap_err();
    assert!(error.is_gone_or_broken(), "{error:?}");
}
