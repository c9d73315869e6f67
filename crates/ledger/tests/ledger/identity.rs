//! The ledger that a policy names, and no other.

use super::server::Server;
use super::{limit, pure, request};
use demure_core::unit::Neighbours;
use demure_ledger::{
    Accounting, Address, Anchor, Charter, Error, Kind, Ledger, LedgerId, Limit, Place, PublicTable,
    Start, Successor, Unit, wall_clock,
};
use rusqlite::Connection;
use std::path::{Path, PathBuf};

fn unit(table: &str, unit: &str) -> Unit {
    let sources = vec![format!("{table}.csv")];
    Unit { table: table.into(), unit: unit.into(), sources, files: Vec::new() }
}

fn charter(limit: Limit) -> Charter {
    let units = vec![unit("visits", "\"patient_id\"")];
    Charter { name: "clinic".into(), limit, units, public: Vec::new(), by: "sam".into() }
}

/// A folder, the place of a ledger in it, and a ledger of ε 1 of which 1/4 is spent.
fn spent() -> (tempfile::TempDir, PathBuf, LedgerId) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("clinic.ledger");
    let place = Place::File(path.clone());
    let (ledger, id) = Ledger::create(&place, &charter(pure(1.0)), "", wall_clock()).unwrap();
    ledger.record_units(&charter(pure(1.0))).unwrap();
    buy(&ledger, "a");
    (folder, path, id)
}

fn buy(ledger: &Ledger, key: &str) {
    let one = ledger.reserve(&request(key, "pure(eps=0.25)")).unwrap();
    one.begin().unwrap().settle(b"answer").unwrap();
}

fn open(path: &Path, id: &LedgerId) -> Result<Ledger, Error> {
    Ledger::open_own(&Place::File(path.to_owned()), id, &charter(pure(1.0)), wall_clock())
}

fn beside(path: &Path, suffix: &str) -> PathBuf {
    PathBuf::from(format!("{}{suffix}", path.display()))
}

#[test]
fn a_ledger_goes_on_under_its_id() {
    let (_folder, path, id) = spent();
    let ledger = open(&path, &id).unwrap();
    assert_eq!(ledger.id(), Some(&id));
    assert_eq!(ledger.balance().unwrap().spent.main, 0.25);
    let kinds: Vec<Kind> = ledger.entries().unwrap().iter().map(|entry| entry.kind).collect();
    assert_eq!(kinds, [Kind::Limit, Kind::Identity, Kind::Unit, Kind::Reserve, Kind::Settle]);
    assert!(!ledger.has_plain_keys());
    assert!(ledger.entries().unwrap().iter().all(|entry| entry.shareable));
    // The same key in the next process, and another in another ledger.
    let key = ledger.seal(&[7; 32]);
    drop(ledger);
    assert_eq!(open(&path, &id).unwrap().seal(&[7; 32]), key);
    let (_other_folder, other, other_id) = spent();
    assert_ne!(open(&other, &other_id).unwrap().seal(&[7; 32]), key);
}

#[test]
fn what_is_not_that_ledger_is_refused_and_nothing_is_created() {
    let (folder, path, id) = spent();
    let other = LedgerId::random().unwrap();
    assert!(matches!(open(&path, &other), Err(Error::OtherLedger { .. })));
    // Deleted.
    let away = folder.path().join("away");
    std::fs::rename(&path, &away).unwrap();
    assert!(matches!(open(&path, &id), Err(Error::NoLedger { .. })));
    let place = Place::File(path.clone());
    let again = Ledger::create(&place, &charter(pure(1.0)), "", wall_clock());
    assert!(matches!(again, Err(Error::NoLedger { .. })), "its mark is still there: {again:?}");
    // A dangling link.
    std::os::unix::fs::symlink(folder.path().join("nowhere"), &path).unwrap();
    assert!(matches!(open(&path, &id), Err(Error::DanglingLink { .. })));
    let adopted = Ledger::adopt(&place, "clinic", &charter(pure(1.0)), wall_clock());
    assert!(matches!(adopted, Err(Error::DanglingLink { .. })), "{adopted:?}");
    assert!(!folder.path().join("nowhere").exists());
    std::fs::remove_file(&path).unwrap();
    // Empty.
    std::fs::write(&path, b"").unwrap();
    assert!(matches!(open(&path, &id), Err(Error::EmptyLedger { .. })));
    let adopted = Ledger::adopt(&place, "clinic", &charter(pure(1.0)), wall_clock());
    assert!(matches!(adopted, Err(Error::EmptyLedger { .. })), "{adopted:?}");
    assert_eq!(std::fs::metadata(&path).unwrap().len(), 0);
    // A link to where it is now is as good, once its mark is there.
    std::fs::remove_file(&path).unwrap();
    std::os::unix::fs::symlink(&away, &path).unwrap();
    assert!(matches!(open(&path, &id), Err(Error::BadHead { .. })));
    std::fs::rename(beside(&path, "-head"), beside(&away, "-head")).unwrap();
    assert_eq!(open(&path, &id).unwrap().balance().unwrap().spent.main, 0.25);
}

#[test]
fn a_lost_log_is_noticed() {
    let (folder, path, id) = spent();
    let ledger = open(&path, &id).unwrap();
    buy(&ledger, "b");
    assert!(beside(&path, "-wal").metadata().unwrap().len() > 0);
    // As a copy of the file alone has it, or after `rm *-wal`; with its mark, and without.
    let copy = folder.path().join("copy.ledger");
    std::fs::copy(&path, &copy).unwrap();
    assert!(matches!(open(&copy, &id), Err(Error::BadHead { .. })));
    std::fs::copy(beside(&path, "-head"), beside(&copy, "-head")).unwrap();
    let error = open(&copy, &id).unwrap_err();
    assert!(matches!(error, Error::LostEnd { seq: 6, .. }), "{error:?}");
    // With its log it is whole.
    std::fs::copy(beside(&path, "-wal"), beside(&copy, "-wal")).unwrap();
    assert_eq!(open(&copy, &id).unwrap().balance().unwrap().spent.main, 0.5);
    // After a checkpoint there is nothing in the log to lose.
    ledger.checkpoint().unwrap();
    assert_eq!(beside(&path, "-wal").metadata().unwrap().len(), 0);
}

#[test]
fn an_answer_that_is_lost_is_not_a_debit_that_is_lost() {
    let (folder, path, id) = spent();
    let ledger = open(&path, &id).unwrap();
    let one = ledger.reserve(&request("b", "pure(eps=0.25)")).unwrap();
    let copy = folder.path().join("copy.ledger");
    for suffix in ["", "-wal"] {
        std::fs::copy(beside(&path, suffix), beside(&copy, suffix)).unwrap();
    }
    one.begin().unwrap().settle(b"x").unwrap();
    std::fs::copy(beside(&path, "-head"), beside(&copy, "-head")).unwrap();
    let ledger = open(&copy, &id).unwrap();
    assert_eq!(ledger.balance().unwrap().spent.main, 0.5);
    assert_eq!(ledger.find("b").unwrap(), None);
}

#[test]
fn the_unit_of_a_table_stays() {
    let (_folder, path, id) = spent();
    let place = Place::File(path.clone());
    let with = |units: Vec<Unit>| {
        let charter = Charter { units, ..charter(pure(1.0)) };
        let ledger = Ledger::open_own(&place, &id, &charter, wall_clock())?;
        // What is refused later was refused when it was opened.
        ledger.record_units(&charter).unwrap();
        ledger.verify().unwrap();
        Ok(ledger.entries().unwrap().len())
    };
    let same = unit("visits", "\"patient_id\"");
    let row = unit("visits", "row");
    let before = with(vec![same.clone()]).unwrap();
    let error = with(vec![row.clone()]).unwrap_err();
    assert!(matches!(&error, Error::OtherUnit { table, .. } if table == "visits"), "{error:?}");
    assert!(error.to_string().contains("--new-ledger"), "{error}");
    // The same rows under another name.
    let renamed = Unit { table: "stays".into(), ..row.clone() };
    assert!(matches!(with(vec![renamed]), Err(Error::OtherUnit { .. })));
    let renamed = Unit { table: "stays".into(), ..same.clone() };
    assert_eq!(with(vec![renamed]), Ok(before + 1));
    // A table that comes and goes, and comes back with another unit.
    let staff = unit("staff", "row");
    assert_eq!(with(vec![same.clone(), staff]), Ok(before + 2));
    assert_eq!(with(vec![same.clone()]), Ok(before + 2));
    let error = with(vec![same.clone(), unit("staff", "\"id\"")]).unwrap_err();
    assert!(matches!(error, Error::OtherUnit { .. }), "{error:?}");
    // The same rows in a second table, under any of the names that their source ever had.
    let second = |sources: &[&str], unit: &str| Unit {
        table: "second".into(),
        unit: unit.into(),
        sources: sources.iter().map(|source| (*source).to_owned()).collect(),
        files: Vec::new(),
    };
    let moved = Unit { sources: vec!["new.csv".into()], ..same.clone() };
    assert_eq!(with(vec![moved.clone()]), Ok(before + 3));
    assert_eq!(with(vec![moved]), Ok(before + 3));
    for sources in [
        &["visits.csv"][..],
        &["new.csv"],
        &["./visits.csv"],
        &[".//new.csv"],
        &["other.csv", "visits.csv"],
    ] {
        for tables in [vec![], vec![same.clone()]] {
            let tables = [tables, vec![second(sources, "row")]].concat();
            let error = with(tables).unwrap_err();
            assert!(matches!(&error, Error::OtherUnit { table, .. } if table == "second"));
        }
    }
    let before = before + 1;
    // Two views of one source, as a policy may have them from the beginning.
    let view = |table: &str, unit: &str| Unit {
        table: table.into(),
        unit: unit.into(),
        sources: vec!["both.csv".into()],
        files: Vec::new(),
    };
    let both = vec![same.clone(), view("one", "\"a\""), view("two", "\"b\"")];
    assert_eq!(with(both.clone()), Ok(before + 4));
    assert_eq!(with(both), Ok(before + 4));
    // One of them alone stays what it was, and a third is neither of them for certain.
    for (table, unit) in [("one", "\"a\""), ("two", "\"b\"")] {
        assert_eq!(with(vec![view(table, unit)]), Ok(before + 4));
        assert!(matches!(with(vec![view("three", unit)]), Err(Error::OtherUnit { .. })));
    }
    // Refused before anything is written.
    for changed in
        [limit(Accounting::Zcdp, 1.0, 1e-6), Limit { neighbours: Neighbours::Replace, ..pure(1.0) }]
    {
        let charter = Charter { units: vec![same.clone()], ..charter(changed) };
        let error = Ledger::open_own(&place, &id, &charter, wall_clock()).unwrap_err();
        assert!(matches!(error, Error::OtherAccounting { .. }), "{error:?}");
    }
    assert_eq!(with(vec![same]), Ok(before + 4));
}

#[test]
fn others_may_read_neither_the_ledger_nor_its_parts() {
    use std::os::unix::fs::PermissionsExt;
    let (_folder, path, id) = spent();
    let ledger = open(&path, &id).unwrap();
    buy(&ledger, "b");
    let mode =
        |suffix: &str| beside(&path, suffix).metadata().unwrap().permissions().mode() & 0o777;
    let chmod = |suffix: &str, mode: u32| {
        let permissions = std::fs::Permissions::from_mode(mode);
        std::fs::set_permissions(beside(&path, suffix), permissions).unwrap();
    };
    for suffix in ["", "-wal", "-shm", "-head"] {
        assert_eq!(mode(suffix), 0o600, "{suffix}");
        for wide in [0o644, 0o620] {
            chmod(suffix, wide);
            let error = open(&path, &id).unwrap_err();
            assert!(matches!(error, Error::Exposed(_)), "{suffix} {error:?}");
            assert!(error.to_string().contains("chmod 600"), "{error}");
        }
        chmod(suffix, 0o600);
    }
    open(&path, &id).unwrap();
}

/// As the version before ids left it: rows, hashes, modes and all.
fn legacy(path: &Path, dataset: &str) -> (u64, f64) {
    use std::os::unix::fs::PermissionsExt;
    let ledger = Ledger::open(path, dataset, pure(1.0), wall_clock()).unwrap();
    buy(&ledger, "plain");
    ledger.grant("sam", "ann", limit(Accounting::Pure, 0.5, 0.0).epsilon, pure(1.0).delta).unwrap();
    let entries = ledger.verify().unwrap().entries;
    drop(ledger);
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o644)).unwrap();
    (entries, 0.25)
}

#[test]
fn a_ledger_without_an_id_gets_one_and_goes_on() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("clinic.ledger");
    let place = Place::File(path.clone());
    let adopt = |name: &str| Ledger::adopt(&place, name, &charter(pure(1.0)), wall_clock());
    assert!(adopt("clinic").unwrap().is_none());
    let (entries, spent) = legacy(&path, "clinic");
    // It may be somebody else's.
    assert!(matches!(adopt("wages"), Err(Error::Unclaimed { .. })));
    let first = adopt("clinic").unwrap().unwrap();
    assert!(first.was_exposed);
    let verified = first.ledger.verify().unwrap();
    assert_eq!((verified.entries, verified.spent.main), (entries + 2, spent));
    assert_eq!(first.ledger.find("plain").unwrap().as_deref(), Some(&b"answer"[..]));
    assert!(first.ledger.has_plain_keys());
    let shown: Vec<bool> =
        first.ledger.entries().unwrap().iter().map(|entry| entry.shareable).collect();
    // A page shows no more of it.
    let page = first.ledger.page(Start::After(0), None, 100).unwrap();
    let paged: Vec<bool> = page.entries.iter().map(|entry| entry.shareable).collect();
    assert_eq!(paged, shown);
    assert_eq!(shown, [false, false, false, false, true, true]);
    // Who was killed before the policy had the id finds it again.
    let again = adopt("clinic").unwrap().unwrap();
    assert_eq!((again.id.clone(), again.was_exposed), (first.id.clone(), false));
    drop((first.ledger, again.ledger));
    let ledger = open(&path, &first.id).unwrap();
    assert_eq!(ledger.balance().unwrap().spent.main, spent);
}

#[test]
fn many_that_open_an_old_ledger_at_once_give_it_one_id() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("clinic.ledger");
    legacy(&path, "clinic");
    let place = Place::File(path);
    let ids: Vec<LedgerId> = std::thread::scope(|scope| {
        let adopt = || {
            let adopted = Ledger::adopt(&place, "clinic", &charter(pure(1.0)), wall_clock());
            adopted.unwrap().unwrap().id
        };
        let threads: Vec<_> = (0..6).map(|_| scope.spawn(adopt)).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    assert!(ids.iter().all(|id| *id == ids[0]), "{ids:?}");
}

#[test]
fn an_id_is_given_once_and_its_row_cannot_be_changed() {
    let (_folder, path, id) = spent();
    for sql in [
        "UPDATE journal SET answer = zeroblob(32) WHERE kind = 'identity'",
        "UPDATE journal SET event = 'row' WHERE kind = 'unit'",
        "DELETE FROM journal WHERE kind = 'unit'",
    ] {
        let whole = std::fs::read(&path).unwrap();
        let connection = Connection::open(&path).unwrap();
        connection
            .execute_batch("DROP TRIGGER journal_keeps_rows; DROP TRIGGER journal_keeps_values;")
            .unwrap();
        connection.execute_batch(sql).unwrap();
        drop(connection);
        assert!(matches!(open(&path, &id), Err(Error::Broken { .. })), "{sql}");
        std::fs::write(&path, whole).unwrap();
    }
    open(&path, &id).unwrap();
}

#[test]
fn an_older_copy_is_found_by_the_head_that_was_noted() {
    let (folder, path, id) = spent();
    let ledger = open(&path, &id).unwrap();
    let early = ledger.anchor().unwrap();
    ledger.checkpoint().unwrap();
    let copy = folder.path().join("copy.ledger");
    for suffix in ["", "-head"] {
        std::fs::copy(beside(&path, suffix), beside(&copy, suffix)).unwrap();
    }
    buy(&ledger, "b");
    let late = ledger.anchor().unwrap();
    ledger.expect(&early).unwrap();
    ledger.expect(&late).unwrap();
    ledger.expect(&Anchor { seq: None, ..early.clone() }).unwrap();
    let older = open(&copy, &id).unwrap();
    older.expect(&early).unwrap();
    for wrong in [late.clone(), Anchor { seq: None, ..late }, Anchor { seq: Some(3), ..early }] {
        assert_eq!(older.expect(&wrong), Err(Error::OtherHead));
    }
}

#[test]
fn policies_of_one_name_on_one_server_have_a_ledger_each() {
    let Some(server) = Server::start() else { return };
    let place = Place::Server(Address::parse(&server.address()).unwrap());
    let charter = charter(pure(1.0));
    let adopt = || Ledger::adopt(&place, "clinic", &charter, wall_clock());
    assert!(adopt().unwrap().is_none());
    let create = || {
        let (ledger, id) = Ledger::create(&place, &charter, "", wall_clock()).unwrap();
        ledger.record_units(&charter).unwrap();
        (ledger, id)
    };
    let ((one, one_id), (two, two_id)) = (create(), create());
    assert_ne!(one_id, two_id);
    buy(&one, "a");
    assert_eq!((two.balance().unwrap().spent.main, two.find("a").unwrap()), (0.0, None));
    drop((one, two));
    let own = |id: &LedgerId| Ledger::open_own(&place, id, &charter, wall_clock());
    assert_eq!(own(&one_id).unwrap().balance().unwrap().spent.main, 0.25);
    assert_eq!(own(&two_id).unwrap().balance().unwrap().spent.main, 0.0);
    let nobody = own(&LedgerId::random().unwrap()).unwrap_err();
    assert!(matches!(nobody, Error::OtherLedger { .. }), "{nobody:?}");
    let rows = Charter { units: vec![unit("visits", "row")], ..charter.clone() };
    let error = Ledger::open_own(&place, &one_id, &rows, wall_clock()).unwrap_err();
    assert!(matches!(error, Error::OtherUnit { .. }), "{error:?}");
    // One that has its policy's name from the time before: the first to come has it.
    let before = Ledger::connect(&server.address(), "clinic", pure(1.0), wall_clock()).unwrap();
    buy(&before, "b");
    drop(before);
    let first = adopt().unwrap().unwrap();
    assert_eq!(first.ledger.balance().unwrap().spent.main, 0.25);
    let second = adopt().unwrap_err();
    assert!(matches!(&second, Error::Unclaimed { id: Some(id), .. } if *id == first.id));
    assert_eq!(own(&first.id).unwrap().verify().unwrap().settled, 1);
}

/// One file under two paths has a log beside each. Here both have a copy, and one mark.
#[test]
fn a_journal_that_went_on_under_another_path_is_not_debited() {
    let (folder, path, id) = spent();
    let elsewhere = folder.path().join("elsewhere");
    std::fs::create_dir(&elsewhere).unwrap();
    let other = elsewhere.join("clinic.ledger");
    std::fs::copy(&path, &other).unwrap();
    std::os::unix::fs::symlink(beside(&path, "-head"), beside(&other, "-head")).unwrap();
    let (one, two) = (open(&path, &id).unwrap(), open(&other, &id).unwrap());
    let reserve = |ledger: &Ledger, key: &str| ledger.reserve(&request(key, "pure(eps=0.25)"));
    let open_one = reserve(&one, "b").unwrap();
    let forked = reserve(&two, "c").unwrap_err();
    assert!(matches!(forked, Error::Forked { seq: 6, .. }), "{forked:?}");
    assert!(forked.to_string().contains("mount the folder"), "{forked}");
    // Nor where answers brought it as far.
    open_one.begin().unwrap().settle(b"x").unwrap();
    assert!(reserve(&two, "c").is_err());
    assert!(matches!(open(&other, &id), Err(Error::LostEnd { .. })));
    // The one that went on goes on.
    reserve(&one, "d").map(drop).unwrap();
    assert_eq!(one.balance().unwrap().spent.main, 0.75);
    assert_eq!(two.balance().unwrap().spent.main, 0.25);
}

/// As `cp -al` leaves it.
#[test]
fn a_ledger_or_a_mark_with_two_names_is_refused() {
    let (folder, path, id) = spent();
    for suffix in ["", "-head"] {
        let link = folder.path().join("link");
        std::fs::hard_link(beside(&path, suffix), &link).unwrap();
        let error = open(&path, &id).unwrap_err();
        assert!(matches!(&error, Error::ManyNames { names: 2, .. }), "{error:?}");
        assert!(error.to_string().contains("-samefile"), "{error}");
        std::fs::remove_file(link).unwrap();
        open(&path, &id).unwrap();
    }
    let old = folder.path().join("old.ledger");
    legacy(&old, "old");
    std::fs::hard_link(&old, folder.path().join("link")).unwrap();
    let place = Place::File(old.clone());
    let adopted = Ledger::adopt(&place, "old", &charter(pure(1.0)), wall_clock());
    assert!(matches!(adopted, Err(Error::ManyNames { .. })), "{adopted:?}");
}

#[test]
fn a_mark_that_is_replaced_under_an_open_ledger_is_noticed() {
    let (folder, path, id) = spent();
    let ledger = open(&path, &id).unwrap();
    let older = folder.path().join("older");
    std::fs::copy(beside(&path, "-head"), &older).unwrap();
    buy(&ledger, "b");
    std::fs::rename(&older, beside(&path, "-head")).unwrap();
    let error = ledger.reserve(&request("c", "pure(eps=0.25)")).unwrap_err();
    assert!(matches!(error, Error::Moved { .. }), "{error:?}");
    // Nor is it put back in place.
    let (_folder, path, id) = spent();
    let ledger = open(&path, &id).unwrap();
    let older = std::fs::read(beside(&path, "-head")).unwrap();
    buy(&ledger, "b");
    std::fs::write(beside(&path, "-head"), older).unwrap();
    let error = ledger.reserve(&request("c", "pure(eps=0.25)")).unwrap_err();
    assert!(matches!(error, Error::BadHead { .. }), "{error:?}");
}

#[test]
fn a_table_with_people_in_it_does_not_become_public() {
    let (_folder, path, id) = spent();
    let place = Place::File(path);
    let with = |units: Vec<Unit>, table: &str, source: &str| {
        let public =
            PublicTable { table: table.into(), sources: vec![source.into()], files: Vec::new() };
        let charter = Charter { units, public: vec![public], ..charter(pure(1.0)) };
        Ledger::open_own(&place, &id, &charter, wall_clock()).map(drop)
    };
    let same = unit("visits", "\"patient_id\"");
    for (units, table, source) in [
        (vec![], "visits", "visits.csv"),
        (vec![], "visits", "elsewhere.csv"),
        (vec![], "regions", "visits.csv"),
        (vec![same.clone()], "regions", "./visits.csv"),
    ] {
        let error = with(units, table, source).unwrap_err();
        assert!(matches!(&error, Error::MadePublic { table: of, .. } if of == table), "{error:?}");
        assert!(error.to_string().contains("--new-ledger"), "{error}");
    }
    with(vec![same], "regions", "regions.csv").unwrap();
    // What was nobody's may become somebody's.
    let regions = unit("regions", "row");
    let charter = Charter { units: vec![regions], ..charter(pure(1.0)) };
    Ledger::open_own(&place, &id, &charter, wall_clock()).map(drop).unwrap();
}

#[test]
fn a_refused_adoption_leaves_nothing_behind() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("clinic.ledger");
    legacy(&path, "clinic");
    let other = charter(limit(Accounting::Zcdp, 1.0, 1e-6));
    let place = Place::File(path.clone());
    let error = Ledger::adopt(&place, "clinic", &other, wall_clock()).unwrap_err();
    assert!(matches!(error, Error::OtherAccounting { .. }), "{error:?}");
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
    Ledger::adopt(&place, "clinic", &charter(pure(1.0)), wall_clock()).unwrap().unwrap();
}

/// In a file and on a server: what took its place is written in it, and it spends no more.
#[test]
fn nothing_is_spent_from_a_ledger_that_was_replaced() {
    let server = Server::start();
    let folder = tempfile::tempdir().unwrap();
    let file = Place::File(folder.path().join("clinic.ledger"));
    let servers = server.as_ref().map(|it| Place::Server(Address::parse(&it.address()).unwrap()));
    for place in std::iter::once(file).chain(servers) {
        let charter = charter(pure(1.0));
        let (running, id) = Ledger::create(&place, &charter, "", wall_clock()).unwrap();
        running.record_units(&charter).unwrap();
        assert!(Ledger::open_replaced(&place, &id, wall_clock()).unwrap().is_none());
        let open = running.reserve(&request("a", "pure(eps=0.25)")).unwrap();
        let next = LedgerId::random().unwrap().to_string();
        let mut successor = Successor::new(&next, "at clinic.2.ledger", "sam");
        Ledger::replace(&place, &id, successor.clone(), wall_clock()).unwrap();
        // A process that has it open notices; what was debited may end.
        let error = running.reserve(&request("b", "pure(eps=0.25)")).unwrap_err();
        assert_eq!(error, Error::Replaced(successor.clone()));
        assert!(error.to_string().contains(&next) && error.to_string().contains("clinic.2.ledger"));
        open.begin().unwrap().settle(b"x").unwrap();
        assert!(running.grant("sam", "ann", pure(0.5).epsilon, pure(1.0).delta).is_err());
        let again = Ledger::open_own(&place, &id, &charter, wall_clock()).unwrap_err();
        assert_eq!(again, Error::Replaced(successor.clone()));
        if matches!(place, Place::File(_)) {
            let adopted = Ledger::adopt(&place, "clinic", &charter, wall_clock()).unwrap_err();
            assert_eq!(adopted, Error::Replaced(successor.clone()));
        }
        // The first successor stays, and whoever comes later learns which it is.
        let first = successor.clone();
        successor.note = "somewhere else".into();
        let late = Ledger::replace(&place, &id, successor, wall_clock()).unwrap_err();
        assert_eq!(late, Error::Replaced(first));
        let read = Ledger::open_replaced(&place, &id, wall_clock()).unwrap().unwrap();
        let kinds: Vec<Kind> = read.entries().unwrap().iter().map(|entry| entry.kind).collect();
        assert_eq!(kinds[3..], [Kind::Reserve, Kind::Replaced, Kind::Settle]);
        assert_eq!(read.verify().unwrap().spent.main, 0.25);
    }
}

#[test]
fn a_ledger_on_a_server_is_found_by_the_name_and_the_sources_of_its_policy() {
    let Some(server) = Server::start() else { return };
    let place = Place::Server(Address::parse(&server.address()).unwrap());
    let charter = charter(pure(1.0));
    assert_eq!(Ledger::claimed(&place, &charter).unwrap(), None);
    let (ledger, id) = Ledger::create(&place, &charter, "", wall_clock()).unwrap();
    ledger.record_units(&charter).unwrap();
    buy(&ledger, "a");
    let units = vec![unit("stays", "row")];
    let other_tables = Charter { units: units.clone(), ..charter.clone() };
    let other_name = Charter { name: "wages".into(), ..charter.clone() };
    for same in [&charter, &other_tables, &other_name] {
        assert_eq!(Ledger::claimed(&place, same).unwrap().as_ref(), Some(&id), "{same:?}");
    }
    let another = Charter { name: "wages".into(), units, ..charter.clone() };
    assert_eq!(Ledger::claimed(&place, &another).unwrap(), None);
    // Of two, the one that is still in use.
    let successor = Successor::new("next", "", "sam");
    Ledger::replace(&place, &id, successor, wall_clock()).unwrap();
    assert_eq!(Ledger::claimed(&place, &charter).unwrap(), Some(id));
    let (_, next) = Ledger::create(&place, &charter, "", wall_clock()).unwrap();
    assert_eq!(Ledger::claimed(&place, &charter).unwrap(), Some(next));
}
