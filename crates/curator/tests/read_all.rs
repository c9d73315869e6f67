//! How much of each source is read does not depend on what is in it.
//!
//! The databases differ in one person: her attribute, or who she is. Each query asks for her alone, so that
//! a plan with a short cut takes it in one database and not in the other. The same queries run on DataFusion's
//! plain plan, which must give the same answers and must *not* read the same rows: the test can fail.

#![expect(clippy::unwrap_used, clippy::panic, reason = "a test that cannot go on must stop")]

#[path = "read_all/counted.rs"]
mod counted;

use counted::{Counts, Twice};
use datafusion::arrow::array::{Int64Array, RecordBatch, StringArray};
use datafusion::parquet::arrow::ArrowWriter;
use datafusion::parquet::file::properties::WriterProperties;
use demure_core::random::SeededForTests;
use demure_core::unit::{Delta, Epsilon, Neighbours};
use demure_curator::bound::Engine;
use demure_curator::policy::Policy;
use demure_curator::{Curator, Incidents, Outcome, Session};
use demure_ledger::{Accounting, Ledger, Limit};
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

const POLICY: &str = r#"
[budget]
epsilon = 1e9
delta = 1e-3
per_query = 10

[tables.events]
source = "events/*.EXT"
unit = "person"
max_groups = 3
max_rows_per_group = 5
[tables.events.columns]
person = { type = "integer" }
g = { type = "text", values = ["k", "l"] }
x = { type = "integer", bounds = [0, 100] }

[tables.visits]
source = "visits/*.EXT"
unit = "person"
max_groups = 3
max_rows_per_group = 5
[tables.visits.columns]
person = { type = "integer" }
g = { type = "text" }
x = { type = "integer", bounds = [0, 100] }

[tables.single]
source = "single/*.EXT"
unit = "row"
[tables.single.columns]
person = { type = "integer" }
g = { type = "text" }
x = { type = "integer", bounds = [0, 100] }

[tables.codes]
source = "codes.csv"
public = true
key = ["code"]
"#;

/// The person that all queries ask for.
const HER: i64 = 321;
const PEOPLE: i64 = 600;

/// Queries for her alone.
const SHAPES: &[&str] = &[
    "SELECT COUNT(*) FROM events WHERE person = 321 AND g = 'k'",
    "SELECT COUNT(*) FROM events WHERE person IN (321, 322) AND g IN ('k')",
    "SELECT COUNT(*) FROM events WHERE CASE WHEN person = 321 THEN g = 'k' ELSE FALSE END",
    "SELECT g, COUNT(*), AVG(x) FROM events WHERE person = 321 AND g = 'k' GROUP BY g",
    "SELECT x % 3 AS r, COUNT(*) FROM events WHERE person = 321 AND g = 'k' GROUP BY r",
    "SELECT MEDIAN(x), MAX(x) FROM events WHERE person = 321 AND g = 'k'",
    "SELECT COUNT(DISTINCT x) FROM events WHERE person = 321 AND g = 'k'",
    "SELECT DISTINCT g FROM visits WHERE person = 321",
    "SELECT COUNT(*) FROM events a JOIN events b ON a.person = b.person \
     WHERE a.person = 321 AND a.g = 'k'",
    "SELECT COUNT(*) FROM events a, visits b WHERE a.person = b.person AND a.person = 321 \
     AND a.g = 'k'",
    "SELECT COUNT(*) FROM events a JOIN events b ON a.person = b.person JOIN events c \
     ON b.person = c.person WHERE a.person = 321 AND a.g = 'k'",
    "SELECT COUNT(*) FROM events a JOIN visits b ON a.person = b.person JOIN events c \
     ON b.person = c.person JOIN visits d ON c.person = d.person \
     WHERE a.person = 321 AND a.g = 'k'",
    "SELECT COUNT(*) FROM visits b JOIN events a ON a.person = b.person AND a.x > b.x \
     WHERE a.person = 321 AND a.g = 'k'",
    "SELECT COUNT(*) FROM events a JOIN visits b ON a.person = b.person AND a.x + 1 = b.x + 1 \
     WHERE a.person = 321 AND a.g = 'k'",
    "SELECT COUNT(b.x), COUNT(*) FROM (SELECT * FROM events WHERE person = 321 AND g = 'k') a \
     LEFT JOIN visits b ON a.person = b.person",
    "SELECT COUNT(a.x), COUNT(*) FROM (SELECT * FROM events WHERE person = 321 AND g = 'k') a \
     RIGHT JOIN visits b ON a.person = b.person",
    "SELECT COUNT(*) FROM visits a LEFT SEMI JOIN \
     (SELECT * FROM events WHERE person = 321 AND g = 'k') b ON a.person = b.person",
    "SELECT COUNT(*) FROM visits a LEFT ANTI JOIN \
     (SELECT * FROM events WHERE person = 321 AND g = 'k') b ON a.person = b.person",
    "SELECT COUNT(*) FROM (SELECT * FROM events WHERE person = 321 AND g = 'k') a \
     LEFT ANTI JOIN visits b ON a.person = b.person",
    "SELECT COUNT(*) FROM visits WHERE person IN \
     (SELECT person FROM events WHERE person = 321 AND g = 'k')",
    "SELECT COUNT(*) FROM (SELECT person, SUM(x) AS s FROM events WHERE person = 321 AND g = 'k' \
     GROUP BY person) WHERE s > 1",
    "SELECT COUNT(*) FROM (SELECT person, COUNT(*) AS n FROM events WHERE g = 'k' GROUP BY person) \
     a JOIN visits b ON a.person = b.person WHERE a.person = 321",
    "SELECT COUNT(*) FROM (SELECT person, x FROM events WHERE person = 321 AND g = 'k' \
     UNION ALL SELECT person, x FROM visits WHERE person = 321)",
    "SELECT COUNT(*) FROM (SELECT person, ROW_NUMBER() OVER (PARTITION BY person ORDER BY x) AS n \
     FROM events WHERE person = 321 AND g = 'k') WHERE n = 1",
    "SELECT COUNT(*) FROM (SELECT person, g, x, LAG(x) OVER (PARTITION BY person ORDER BY x) AS l, \
     SUM(x) OVER (PARTITION BY person ORDER BY x ROWS BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING) \
     AS s FROM events) WHERE person = 321 AND g = 'k' AND l < s",
    "SELECT COUNT(*) FROM (SELECT DISTINCT ON (person) person, g FROM events ORDER BY person, x) \
     WHERE person = 321 AND g = 'k'",
    "SELECT COUNT(*) FROM (SELECT person, MEDIAN(x) AS m FROM events WHERE person = 321 \
     AND g = 'k' GROUP BY person) WHERE m > 1",
    "SELECT COUNT(*) FROM visits v, LATERAL (SELECT x FROM events e WHERE e.person = v.person \
     AND e.g = 'k' ORDER BY x LIMIT 1) l WHERE v.person = 321",
    "SELECT COUNT(*) FROM events WHERE person = 321 AND g = 'k' \
     AND x > (SELECT AVG(CLAMP(x, 0, 90)) FROM visits)",
    "SELECT c.name, COUNT(*) FROM events a JOIN codes c ON a.g = c.code \
     WHERE a.person = 321 AND a.g = 'k' GROUP BY c.name",
    "SELECT COUNT(c.name), COUNT(*) FROM events a LEFT JOIN codes c ON a.g = c.code \
     WHERE a.person = 321 AND a.g = 'k'",
    "SELECT COUNT(*) FROM events a JOIN codes c ON a.x < c.least WHERE a.person = 321 AND a.g = 'k'",
    "SELECT COUNT(*) FROM events a, codes c WHERE a.person = 321 AND a.g = 'k'",
    "SELECT COUNT(*) FROM events a JOIN codes c ON a.g = c.name WHERE a.person = 321 AND a.g = 'k'",
    "SELECT COUNT(*) FROM events WHERE person = 321 AND g IN (SELECT code FROM codes)",
    "SELECT COUNT(*) FROM single WHERE person = 321 AND g = 'k'",
    "SELECT COUNT(*), COUNT(c.name) FROM single a LEFT JOIN codes c ON a.g = c.code \
     WHERE a.person = 321 AND a.g = 'k'",
    "SELECT COUNT(*) FROM single a LEFT ANTI JOIN codes c ON a.g = c.code \
     WHERE a.person = 321 AND a.g = 'k'",
    "SELECT COUNT(*) FROM visits a WHERE EXISTS (SELECT 1 FROM events b WHERE b.person = a.person \
     AND b.person = 321 AND b.g = 'k' AND b.x > a.x)",
    "SELECT COUNT(*) FROM visits a WHERE NOT EXISTS (SELECT 1 FROM events b \
     WHERE b.person = a.person AND b.person = 321 AND b.g = 'k')",
    "SELECT COUNT(*) FROM visits a WHERE a.x = 1000 OR EXISTS (SELECT 1 FROM events b \
     WHERE b.person = a.person AND b.person = 321 AND b.g = 'k')",
    "SELECT COUNT(*) FROM visits a WHERE a.x NOT IN (SELECT b.x FROM events b \
     WHERE b.person = a.person AND b.person = 321 AND b.g = 'k')",
    "SELECT COUNT(*) FROM visits a WHERE (SELECT COUNT(*) FROM events b \
     WHERE b.person = a.person AND b.person = 321 AND b.g = 'k') > 1",
    "SELECT COUNT(*) FROM (SELECT person FROM visits INTERSECT SELECT person FROM events \
     WHERE person = 321 AND g = 'k')",
    "SELECT COUNT(*) FROM (SELECT person FROM events WHERE person = 321 AND g = 'k' \
     EXCEPT SELECT person FROM visits)",
    "SELECT COUNT(*) FROM events a, codes c, visits b WHERE a.person = b.person AND a.g = c.code \
     AND a.person = 321 AND a.g = 'k'",
    "SELECT COUNT(*) FROM events WHERE person = 321 AND g = 'k' AND g NOT IN (SELECT name FROM codes)",
    "SELECT COUNT(*) FROM events WHERE person = 321 AND g = 'k' AND x < (SELECT MAX(least) FROM codes)",
    "SELECT COUNT(*) FROM events WHERE person = 321 AND (g IN (SELECT code FROM codes) OR x > 99)",
    "SELECT c.name, COUNT(a.x) FROM codes c LEFT JOIN events a ON a.g = c.code AND a.person = 321 \
     AND a.g = 'k' GROUP BY c.name",
];

/// Who has which attribute: three rows each.
fn rows(her: i64, attribute: &str) -> Vec<(i64, String, i64)> {
    let person = |i: i64| if i == HER { her } else { i };
    let of = |i: i64| if i == HER { attribute } else { ["k", "l"][(i % 2) as usize] };
    let row = |j: i64| (person(j % PEOPLE), of(j % PEOPLE).to_owned(), (j * 7) % 90);
    (0..3 * PEOPLE).map(row).collect()
}

fn write(folder: &Path, format: &str, table: &str, rows: &[(i64, String, i64)]) {
    let folder = folder.join(table);
    std::fs::create_dir_all(&folder).unwrap();
    for (i, part) in rows.chunks(rows.len().div_ceil(3)).enumerate() {
        let path = folder.join(format!("{i}.{format}"));
        if format == "csv" {
            let lines = part.iter().map(|(person, g, x)| format!("{person},{g},{x}\n"));
            std::fs::write(path, format!("person,g,x\n{}", lines.collect::<String>())).unwrap();
            continue;
        }
        let columns: [(&str, datafusion::arrow::array::ArrayRef); 3] = [
            ("person", Arc::new(Int64Array::from_iter_values(part.iter().map(|row| row.0)))),
            ("g", Arc::new(StringArray::from_iter_values(part.iter().map(|row| &row.1)))),
            ("x", Arc::new(Int64Array::from_iter_values(part.iter().map(|row| row.2)))),
        ];
        let batch = RecordBatch::try_from_iter(columns).unwrap();
        let file = std::fs::File::create(path).unwrap();
        let groups = WriterProperties::builder().set_max_row_group_row_count(Some(100)).build();
        let mut writer = ArrowWriter::try_new(file, batch.schema(), Some(groups)).unwrap();
        writer.write(&batch).unwrap();
        writer.close().unwrap();
    }
}

struct Database {
    session: Session,
    ours: Counts,
    theirs: Counts,
    _folder: tempfile::TempDir,
}

impl Database {
    async fn open(format: &str, partitions: usize, her: i64, attribute: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        for table in ["events", "single"] {
            write(folder.path(), format, table, &rows(her, attribute));
        }
        write(folder.path(), format, "visits", &rows(her, "k"));
        let codes = "code,name,least\nk,kay,50\nl,ell,20\nm,k,10\n";
        std::fs::write(folder.path().join("codes.csv"), codes).unwrap();
        let policy = Policy::parse(&POLICY.replace("EXT", format), folder.path()).unwrap();
        let limit = Limit {
            accounting: Accounting::Pure,
            epsilon: Epsilon::new(1e9).unwrap(),
            delta: Delta::positive(1e-3).unwrap(),
            neighbours: Neighbours::AddRemove,
        };
        let ledger = Ledger::in_memory(limit).unwrap();
        let (ours, theirs) = (Counts::default(), Counts::default());
        let engine = |mut state: datafusion::execution::SessionState| {
            let config = state.config_mut();
            *config = config.clone().with_target_partitions(partitions).with_batch_size(100);
            Box::new(Twice::new(state, &ours, &theirs)) as Box<dyn Engine>
        };
        let random = Box::new(SeededForTests::insecure(1));
        let curator = Curator::with_engine(policy, ledger, Incidents::nowhere(), random, engine);
        let session = curator.await.unwrap().session("tester");
        Self { session, ours, theirs, _folder: folder }
    }

    /// The rows that a query read of each source, here and on the plain plan.
    async fn read(&mut self, sql: &str) -> [BTreeMap<String, usize>; 2] {
        match self.session.run(sql).await {
            Ok(Outcome::Answer(_)) => {}
            other => panic!("{sql}\n{other:?}"),
        }
        [&self.ours, &self.theirs].map(|counts| std::mem::take(&mut *counts.lock().unwrap()))
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_source_is_read_to_the_end_whoever_is_in_it() {
    let mut told = 0;
    for format in ["csv", "parquet"] {
        for partitions in [1, 4] {
            let mut databases = Vec::new();
            // She has the attribute; she has another; somebody else is in her place.
            for (her, attribute) in [(HER, "k"), (HER, "l"), (5_000, "k")] {
                databases.push(Database::open(format, partitions, her, attribute).await);
            }
            for sql in SHAPES {
                let mut all = Vec::new();
                for database in &mut databases {
                    all.push(database.read(sql).await);
                }
                let [first, others @ ..] = all.as_slice() else { panic!("no database") };
                for (table, &rows) in &first[0] {
                    let times = scans(sql, table);
                    assert_eq!(rows, times * 3 * PEOPLE as usize, "{format} {table} {sql}");
                }
                assert!(!first[0].is_empty(), "{sql}");
                for other in others {
                    assert_eq!(first[0], other[0], "{format}, {partitions} partitions: {sql}");
                    told += usize::from(first[1] != other[1]);
                }
            }
        }
    }
    assert!(told >= 4, "the plain plan must be told apart: {told}");
}

/// How often a query names a table.
fn scans(sql: &str, table: &str) -> usize {
    sql.split(|c: char| !c.is_alphanumeric()).filter(|word| *word == table).count()
}
