//! What a gate is asked and when: before the debit, and before anything that was bought can be seen.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use datafusion::arrow::array::{Int64Array, RecordBatch};
use datafusion::logical_expr::LogicalPlan;
use datafusion::parquet::arrow::ArrowWriter;
use demure_core::random::SystemRandom;
use demure_core::unit::{Delta, Epsilon};
use demure_curator::bound::{BoundSpec, Engine, Key, Native, Task};
use demure_curator::policy::Policy;
use demure_curator::{
    Curator, DEFAULT_ROWS, Error, Gate, Incidents, Open, Outcome, Reads, Result, Session,
};
use demure_ledger::{Accounting, Ledger, Limit};
use futures::FutureExt;
use futures::future::BoxFuture;
use std::fs::{self, File};
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tempfile::TempDir;

const POLICY: &str = "
[budget]
epsilon = 100.0
per_query = 1.0
[tables.whole]
source = 'whole.parquet'
unit = 'id'
rows = 700
[tables.damaged]
source = 'damaged.parquet'
unit = 'id'
";

/// Notes what the ledger holds at each call.
struct Noting {
    curator: Arc<Curator>,
    admits: bool,
    notes: Mutex<Vec<String>>,
}

impl Noting {
    fn new(session: &Session, admits: bool) -> Arc<Self> {
        let curator = Arc::clone(session.curator());
        Arc::new(Self { curator, admits, notes: Mutex::default() })
    }

    fn note(&self, what: &str) {
        self.notes.lock().unwrap().push(format!("{what}, {}", kinds(&self.curator)));
    }

    fn notes(&self) -> Vec<String> {
        self.notes.lock().unwrap().drain(..).collect()
    }
}

/// The kinds of the ledger's entries after the first, which is the limit.
fn kinds(curator: &Curator) -> String {
    let entries = curator.ledger().entries_between(1, u64::MAX).unwrap();
    let kinds: Vec<String> = entries.iter().map(|entry| entry.kind.to_string()).collect();
    format!("ledger: {}", kinds.join(" "))
}

impl Gate for Noting {
    fn admit(&self, reads: Reads) -> Result<()> {
        self.note(&format!("admit {}", reads.rows));
        let refused = Error::TooOften { per_minute: 1, retry: Duration::from_secs(5) };
        if self.admits { Ok(()) } else { Err(refused) }
    }

    fn leave(&self) -> BoxFuture<'_, ()> {
        async { self.note("leave") }.boxed()
    }
}

fn write(path: &Path) {
    let column = |f: fn(i64) -> i64| Arc::new(Int64Array::from_iter_values((0..500).map(f))) as _;
    let columns = [("id", column(|i| i)), ("v", column(|i| i % 9))];
    let batch = RecordBatch::try_from_iter(columns).unwrap();
    let file = File::create(path).unwrap();
    let mut writer = ArrowWriter::try_new(file, batch.schema(), None).unwrap();
    writer.write(&batch).unwrap();
    writer.close().unwrap();
}

/// A session over a table, and another whose first page cannot be read.
async fn session() -> (Session, TempDir) {
    let folder = tempfile::tempdir().unwrap();
    write(&folder.path().join("whole.parquet"));
    let damaged = folder.path().join("damaged.parquet");
    write(&damaged);
    let mut bytes = fs::read(&damaged).unwrap();
    bytes[4..24].fill(0xff);
    fs::write(&damaged, bytes).unwrap();
    let policy = Policy::parse(POLICY, folder.path()).unwrap();
    (Curator::in_memory(policy).await.unwrap().session("ana"), folder)
}

#[tokio::test]
async fn a_gate_is_asked_before_the_debit_and_waited_for_before_the_answer_is_kept() {
    let (mut session, _folder) = session().await;
    let gate = Noting::new(&session, true);
    let sql = "SELECT COUNT(*) FROM whole";
    session.run_through(gate.clone(), sql, &[]).await.unwrap();
    assert_eq!(gate.notes(), ["admit 700, ledger: ", "leave, ledger: reserve"]);
    assert_eq!(kinds(session.curator()), "ledger: reserve settle");
    // What was bought, what is explained and what is set read nothing.
    for sql in [sql, "SELECT COUNT(*) + 1 FROM whole", "EXPLAIN PRIVACY SELECT SUM(1) FROM whole"] {
        session.run_through(gate.clone(), sql, &[]).await.unwrap();
    }
    session.run_through(gate.clone(), "SET demure.epsilon = 2", &[]).await.unwrap();
    assert_eq!(gate.notes(), [""; 0]);
}

#[tokio::test]
async fn a_number_and_what_uses_it_are_debited_before_either_is_read_and_leave_together() {
    let (mut session, _folder) = session().await;
    let gate = Noting::new(&session, true);
    let sql = "SELECT COUNT(*) FROM whole WHERE v > (SELECT AVG(CLAMP(v, 0, 9)) FROM whole)";
    session.run_through(gate.clone(), sql, &[]).await.unwrap();
    assert_eq!(gate.notes(), ["admit 1400, ledger: ", "leave, ledger: reserve reserve"]);
    assert_eq!(kinds(session.curator()), "ledger: reserve reserve settle settle");
    // Both are hers now. With another number it is another answer.
    for (sql, debits) in [
        ("SELECT AVG(CLAMP(v, 0, 9)) FROM whole", 0),
        ("SELECT 1 + COUNT(*) FROM whole WHERE v > (SELECT AVG(CLAMP(v, 0, 9)) FROM whole)", 0),
        ("SELECT COUNT(*) FROM whole WHERE v > (SELECT AVG(CLAMP(v, 0, 8)) FROM whole)", 2),
        ("SELECT COUNT(*) FROM whole WHERE v > 1 + (SELECT AVG(CLAMP(v, 0, 9)) FROM whole)", 1),
    ] {
        let before = kinds(session.curator()).matches("reserve").count();
        session.run_through(gate.clone(), sql, &[]).await.unwrap();
        let after = kinds(session.curator()).matches("reserve").count();
        assert_eq!(after - before, debits, "{sql}");
    }
}

#[tokio::test]
async fn what_fails_after_its_number_was_released_stays_paid_for() {
    let (mut session, _folder) = session().await;
    let gate = Noting::new(&session, true);
    let sql = "SELECT COUNT(*) FROM damaged WHERE v > (SELECT AVG(CLAMP(v, 0, 9)) FROM whole)";
    let failed = session.run_through(gate.clone(), sql, &[]).await;
    assert!(matches!(failed, Err(Error::Incident { .. })), "{failed:?}");
    assert_eq!(gate.notes()[1..], ["leave, ledger: reserve reserve"]);
    // The first is in the ledger, and free from now on.
    assert_eq!(kinds(session.curator()), "ledger: reserve reserve settle");
    // A number that there is none of: the second was not read.
    let sql = "SELECT COUNT(*) FROM whole WHERE v > (SELECT 1 / (COUNT(*) - COUNT(*)) FROM whole)";
    let failed = session.run_through(gate.clone(), sql, &[]).await;
    let text = failed.unwrap_err().to_string();
    assert!(text.contains("stays spent"), "{text}");
}

#[tokio::test]
async fn what_is_read_is_counted_from_the_statement_and_the_policy() {
    let (mut session, _folder) = session().await;
    let gate = Noting::new(&session, true);
    for (sql, rows) in [
        ("SELECT COUNT(*) FROM whole WHERE v = 1", 700),
        ("SELECT COUNT(*) FROM whole a JOIN whole b ON a.id = b.id WHERE a.v = 3", 1400),
        (
            "SELECT COUNT(*) FROM whole a JOIN whole b ON a.id = b.id JOIN whole c ON b.id = c.id",
            2100,
        ),
        ("SELECT COUNT(*) FROM whole WHERE id IN (SELECT id FROM whole WHERE v = 2)", 1400),
        ("SELECT (SELECT SUM(clamp(v, 0, 9)) FROM whole), (SELECT COUNT(v) FROM whole)", 1400),
        ("SELECT COUNT(*) FROM damaged", DEFAULT_ROWS),
    ] {
        let _ = session.run_through(gate.clone(), sql, &[]).await;
        assert!(gate.notes()[0].starts_with(&format!("admit {rows},")), "{sql}");
    }
}

#[tokio::test]
async fn who_is_turned_away_spends_nothing() {
    let (mut session, _folder) = session().await;
    let gate = Noting::new(&session, false);
    let error =
        session.run_through(gate.clone(), "SELECT COUNT(*) FROM whole", &[]).await.unwrap_err();
    assert!(matches!(error, Error::TooOften { per_minute: 1, .. }), "{error}");
    assert!(error.to_string().contains("ask again in 6 s"), "{error}");
    assert_eq!(gate.notes(), ["admit 700, ledger: "]);
    assert_eq!(kinds(session.curator()), "ledger: ");
}

#[tokio::test]
async fn an_error_while_reading_leaves_through_the_gate_too() {
    let (mut session, _folder) = session().await;
    let gate = Noting::new(&session, true);
    let error =
        session.run_through(gate.clone(), "SELECT COUNT(v) FROM damaged", &[]).await.unwrap_err();
    assert!(matches!(error, Error::Incident { .. }), "{error}");
    assert_eq!(gate.notes()[1..], ["leave, ledger: reserve"]);

    // What the first of two bought is kept, behind the gate.
    let sql = "SELECT (SELECT COUNT(*) FROM whole), (SELECT SUM(clamp(v, 0, 9)) FROM damaged)";
    let error = session.run_through(gate.clone(), sql, &[]).await.unwrap_err();
    assert!(matches!(error, Error::Incident { .. }), "{error}");
    assert_eq!(gate.notes()[1..], ["leave, ledger: reserve reserve reserve"]);
    assert_eq!(kinds(session.curator()), "ledger: reserve reserve reserve settle");
    let Outcome::Answer(answer) =
        session.run_through(Arc::new(Open), "SELECT COUNT(*) FROM whole", &[]).await.unwrap()
    else {
        panic!("no answer")
    };
    assert!(answer.repeated);
}

/// An engine that does not go on before it is allowed to, and keeps its thread meanwhile.
#[derive(Debug)]
struct Blocking {
    native: Native,
    allowed: Arc<Mutex<std::sync::mpsc::Receiver<()>>>,
}

#[async_trait::async_trait]
impl Engine for Blocking {
    async fn prepare(&self, input: LogicalPlan, spec: &BoundSpec, key: Key) -> Result<Task> {
        let task = self.native.prepare(input, spec, key).await?;
        let allowed = Arc::clone(&self.allowed);
        Ok(task.within(|reading| async move {
            allowed.lock().unwrap().recv().unwrap();
            reading.await
        }))
    }
}

/// On one thread: if reading took it, nobody could allow it to go on.
#[tokio::test(flavor = "current_thread")]
async fn reading_rows_holds_up_nobody_else() {
    let folder = tempfile::tempdir().unwrap();
    write(&folder.path().join("whole.parquet"));
    write(&folder.path().join("damaged.parquet"));
    let policy = Policy::parse(POLICY, folder.path()).unwrap();
    let limit = Limit {
        accounting: Accounting::Pure,
        epsilon: Epsilon::new(100.0).unwrap(),
        delta: Delta::positive(1e-3).unwrap(),
        neighbours: policy.budget.neighbours,
    };
    let ledger = Ledger::in_memory(limit).unwrap();
    let (allow, allowed) = std::sync::mpsc::channel();
    let allowed = Arc::new(Mutex::new(allowed));
    let engine =
        |state| Box::new(Blocking { native: Native::new(state), allowed }) as Box<dyn Engine>;
    let random = Box::new(SystemRandom::new().unwrap());
    let curator = Curator::with_engine(policy, ledger, Incidents::nowhere(), random, engine);
    let curator = curator.await.unwrap();
    let asking = tokio::spawn({
        let curator = Arc::clone(&curator);
        async move { curator.session("ana").run("SELECT COUNT(*) FROM whole").await.is_ok() }
    });
    // Until it is debited, and the engine has begun.
    while kinds(&curator) != "ledger: reserve" {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    tokio::time::sleep(Duration::from_millis(50)).await;
    assert!(!asking.is_finished());
    allow.send(()).unwrap();
    assert!(asking.await.unwrap());
}
