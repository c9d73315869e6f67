//! Tests that every store must pass. A new store calls [`conforms`] from its own tests.

use super::postgres::Postgres;
use super::server::Server;
use super::sqlite::Sqlite;
use super::{Intent, Span, Store};
use crate::row::{GENESIS, Kind, Row, example};
use std::time::Duration;

/// `open` must open the same place each time.
fn conforms(open: &dyn Fn() -> Box<dyn Store>) {
    let (mut one, mut two) = (open(), open());

    // The store is empty at first.
    let reading = one.begin(Intent::Read).unwrap();
    assert_eq!(reading.head("visits").unwrap(), None);
    assert!(reading.settlement("visits", "00ff").unwrap().is_none());
    assert!(reading.cancelled("visits", 0).unwrap().is_empty());
    drop(reading);

    // A dropped transaction leaves nothing.
    let mut dropped = one.begin(Intent::Append).unwrap();
    dropped.append(&row(1, Kind::Limit, None)).unwrap();
    drop(dropped);
    assert_eq!(two.begin(Intent::Read).unwrap().head("visits").unwrap(), None);

    // A writer excludes other writers, and readers do not see it before it commits.
    let rows = [
        row(1, Kind::Limit, None),
        row(2, Kind::Reserve, None),
        row(3, Kind::Reserve, None),
        row(4, Kind::Settle, Some(2)),
        row(5, Kind::Cancel, Some(3)),
    ];
    let mut writing = one.begin(Intent::Append).unwrap();
    for row in &rows {
        writing.append(row).unwrap();
    }
    assert!(two.begin(Intent::Append).is_err());
    assert_eq!(two.begin(Intent::Read).unwrap().head("visits").unwrap(), None);
    writing.commit().unwrap();

    // Rows come back unchanged, in order, from a given number on.
    let reading = two.begin(Intent::Read).unwrap();
    reading.check().unwrap();
    assert_eq!(reading.head("visits").unwrap(), Some((5, rows[4].hash)));
    for after in 0..6 {
        let mut found = Vec::new();
        let mut visit = |row| {
            found.push(row);
            Ok(true)
        };
        reading.scan("visits", after, &mut visit).unwrap();
        assert_eq!(found, rows[usize::try_from(after).unwrap()..]);
    }
    let mut seen = 0;
    let mut until_two = |_| {
        seen += 1;
        Ok(seen < 2)
    };
    reading.scan("visits", 0, &mut until_two).unwrap();
    assert_eq!(seen, 2);
    // A page has the rows of its span, up to its maximum, from either end.
    let page = |after, before, newest_first, who, most| {
        let span = Span { after, before, newest_first, who, most };
        let rows = reading.page("visits", &span).unwrap();
        rows.iter().map(|row| row.seq).collect::<Vec<_>>()
    };
    let who = Some(rows[0].who.as_str());
    assert_eq!(page(0, u64::MAX, false, None, 9), [1, 2, 3, 4, 5]);
    assert_eq!(page(1, 5, false, who, 2), [2, 3]);
    assert_eq!(page(1, 5, true, who, 2), [4, 3]);
    assert!(page(0, u64::MAX, true, Some("nobody"), 9).is_empty());
    assert_eq!(reading.cancelled("visits", 0).unwrap(), [3].into());
    assert!(reading.cancelled("visits", 5).unwrap().is_empty());
    assert_eq!(reading.settlement("visits", "00ff").unwrap().as_ref(), Some(&rows[3]));
    assert_eq!(reading.settlement("visits", "none").unwrap(), None);
    assert_eq!(reading.settlement_of("visits", 2).unwrap().as_ref(), Some(&rows[3]));
    // A cancellation is not a settlement, nor is a row that nothing refers to.
    assert_eq!(reading.settlement_of("visits", 3).unwrap(), None);
    assert_eq!(reading.settlement_of("visits", 1).unwrap(), None);
    assert_eq!(reading.settlement_of("other", 2).unwrap(), None);
    // What closes a reservation, of either kind.
    assert_eq!(reading.closing("visits", 2).unwrap(), Some(Kind::Settle));
    assert_eq!(reading.closing("visits", 3).unwrap(), Some(Kind::Cancel));
    assert_eq!(reading.closing("visits", 4).unwrap(), None);
    assert_eq!(reading.closing("other", 2).unwrap(), None);
    // A different dataset has a different journal.
    assert_eq!(reading.head("other").unwrap(), None);
    assert_eq!(reading.settlement("other", "00ff").unwrap(), None);
    drop(reading);

    // The rows in which journals describe themselves, for all journals.
    let of =
        |dataset: &str, seq, kind| Row { dataset: dataset.into(), ..row(seq, kind, None) }.sealed();
    let about = [
        of("other", 1, Kind::Identity),
        of("other", 2, Kind::Replaced),
        of("visits", 6, Kind::Unit),
    ];
    let mut writing = one.begin(Intent::Append).unwrap();
    about.iter().for_each(|row| writing.append(row).unwrap());
    writing.commit().unwrap();
    assert_eq!(two.begin(Intent::Read).unwrap().introductions().unwrap(), about);

    // A reservation is closed once, and a number is used once.
    for bad in [row(7, Kind::Cancel, Some(2)), row(5, Kind::Reserve, None)] {
        let mut writing = one.begin(Intent::Append).unwrap();
        assert!(writing.append(&bad).is_err());
        drop(writing);
    }
    assert_eq!(two.begin(Intent::Read).unwrap().head("visits").unwrap().unwrap().0, 6);
}

fn row(seq: u64, kind: Kind, refers: Option<u64>) -> Row {
    let answer = (kind == Kind::Settle).then(|| vec![0, 255, 7]);
    Row { seq, kind, refers, answer, before: GENESIS, ..example() }.sealed()
}

#[test]
fn sqlite_conforms() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("ledger.db");
    conforms(&|| Box::new(Sqlite::open(&path, Duration::from_millis(50)).unwrap()));
}

#[test]
fn postgresql_conforms() {
    let Some(server) = Server::start() else { return };
    let address = server.address();
    conforms(&|| Box::new(Postgres::open(&address, Duration::from_millis(200)).unwrap()));
}
