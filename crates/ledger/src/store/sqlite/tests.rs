use super::*;

#[test]
fn every_commit_is_synchronised() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("ledger.db");
    // As created, and after it is opened again.
    for _ in 0..2 {
        let store = Sqlite::open(&path, PATIENCE).unwrap();
        let ask = |pragma: &str| -> String {
            let sql = format!("SELECT CAST({pragma} AS TEXT) FROM pragma_{pragma}");
            store.connection.query_row(&sql, [], |row| row.get(0)).unwrap()
        };
        assert_eq!((ask("journal_mode"), ask("synchronous")), ("wal".into(), "2".into()));
        assert_eq!((ask("fullfsync"), ask("checkpoint_fullfsync")), ("1".into(), "1".into()));
    }
    // Names that SQLite does not treat as a durable file.
    for name in ["", ":memory:"] {
        let opened = Sqlite::open(Path::new(name), PATIENCE);
        assert!(matches!(opened, Err(Error::NoWriteAheadLog)), "{name}: {opened:?}");
    }
}
