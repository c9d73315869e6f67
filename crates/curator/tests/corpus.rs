//! SQL as analysts and BI tools write it: how much of it is answered, and whether the answers are right.
//!
//! Each `corpus/*.sql.txt` file is a list of statements over one of three schemas: TPC-H with the customer as the unit,
//! users of a shop with their events and purchases, and a survey with one row per person. The tables are made here.
//! Every statement runs at ε 10¹², where noise is far below the tolerance, and its answer is compared with that of
//! DuckDB or PostgreSQL, which `corpus/expect.py` has written beside it.
//!
//! A statement is marked `answered`; `refused: why` (rightly: names of rules or words of the refusal, with `|` between
//! them); `open: why` (it should be answered, and is not yet); or `open refusal: why` (it should be refused for that
//! reason, and is not yet). The test fails if an answered one is refused or wrong, if a refused one is answered or
//! refused for another reason, and if an open one is as it should be: then its mark is out of date.
//!
//! | variable | |
//! |---|---|
//! | `CORPUS=text` | only statements with that text in their name or file |
//! | `CORPUS_REPORT=1` | print what happened to every statement that is not answered rightly |
//! | `UPDATE_CORPUS=1` | mark new statements, and open ones that are answered rightly |
//! | `CORPUS_TABLES=folder` | write the tables into that folder, for `expect.py` |

#![expect(clippy::expect_used, clippy::panic, reason = "a test that cannot go on must stop")]

#[path = "corpus/compare.rs"]
mod compare;
#[path = "corpus/draw.rs"]
mod draw;
#[path = "corpus/record.rs"]
mod record;
#[path = "corpus/survey.rs"]
mod survey;
#[path = "corpus/tpch.rs"]
mod tpch;
#[path = "corpus/web.rs"]
mod web;

use datafusion::arrow::array::RecordBatch;
use datafusion::arrow::util::display::{ArrayFormatter, FormatOptions};
use demure_core::random::SeededForTests;
use demure_curator::policy::Policy;
use demure_curator::{Curator, Error, Incidents, Outcome, Session};
use demure_ledger::{Accounting, Ledger, Limit};
use record::{Mark, Record};
use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};

/// What happened to a statement.
enum Happened {
    Right,
    Wrong(String),
    Refused(String),
}

/// The rules that a mark may name.
const RULES: &[&str] =
    &["statement", "rows", "aggregate", "function", "bounds", "join", "subquery", "clause", "keys"];

/// Words of the engine that say nothing to an analyst.
const ENGINE: &[&str] = &[
    "DataFusion",
    "datafusion",
    "Int64(",
    "Utf8",
    "CAST(",
    "OuterReference",
    "Outer is",
    "not implemented",
    "Error during planning",
    "Schema error",
    "Internal error",
];

fn home() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/corpus")
}

fn tables(schema: &str, folder: &Path) {
    match schema {
        "tpch" => tpch::write(folder),
        "web" => web::write(folder),
        _ => survey::write(folder),
    }
}

async fn open(schema: &str, folder: &Path) -> Session {
    tables(schema, folder);
    let text = fs::read_to_string(home().join(format!("{schema}.toml"))).expect("a policy");
    let policy = Policy::parse(&text, folder).expect("the policy has no mistakes");
    let budget = policy.budget;
    let limit = Limit {
        accounting: Accounting::Pure,
        epsilon: budget.epsilon,
        delta: budget.delta,
        neighbours: budget.neighbours,
    };
    let ledger = Ledger::in_memory(limit).expect("a ledger in memory");
    let incidents = Incidents::file(folder.join("incidents"));
    let seed = Box::new(SeededForTests::insecure(19));
    let curator = Curator::with(policy, ledger, incidents, seed).await;
    let mut session = curator.expect("the tables can be opened").session("corpus");
    // A twentieth of the budget's δ for each query with private keys would be gone after twenty.
    session.run("SET demure.delta = 0.002").await.expect("the setting is in range");
    session
}

async fn run(session: &mut Session, record: &Record) -> Happened {
    let spent =
        |session: &Session| session.curator().ledger().balance().expect("a balance").spent_epsilon;
    let before = spent(session);
    let outcome = session.run(record.sql.trim()).await;
    let charged = spent(session) > before;
    let refused = match outcome {
        Ok(Outcome::Answer(answer)) => {
            let rows = answer.batches.iter().flat_map(cells).collect();
            let columns = answer.schema.fields().len();
            return match compare::difference(record, columns, &rows) {
                None if charged && record.compare.free => {
                    Happened::Wrong("charged again".to_owned())
                }
                None => Happened::Right,
                Some(what) => Happened::Wrong(what),
            };
        }
        Ok(other) => return Happened::Wrong(format!("{other:?}")),
        Err(Error::Incident { .. }) => return Happened::Wrong("an incident".to_owned()),
        Err(Error::After(_)) => return Happened::Wrong("failed after the release".to_owned()),
        Err(Error::Refused(refusal)) => format!("{}: {refusal}", refusal.rule().name()),
        Err(error) => format!("error: {error}"),
    };
    if charged {
        Happened::Wrong(format!("charged, and {refused}"))
    } else {
        Happened::Refused(refused)
    }
}

/// What was kept of each person: where an answer is wrong, this may be why.
async fn explained(session: &mut Session, record: &Record) -> String {
    let sql = format!("EXPLAIN PRIVACY {}", record.sql.trim());
    let Ok(Outcome::Explanation(explanation)) = session.run(&sql).await else {
        return String::new();
    };
    let lines = explanation.lines();
    let kept =
        lines.iter().filter(|(name, _)| !["column", "cost", "left"].contains(&name.as_str()));
    kept.map(|(name, text)| format!("\n  {name}: {text}")).collect()
}

fn cells(batch: &RecordBatch) -> Vec<Vec<String>> {
    let options = FormatOptions::default().with_null("NULL");
    let columns: Vec<_> = batch
        .columns()
        .iter()
        .map(|column| ArrayFormatter::try_new(column.as_ref(), &options).expect("a printable type"))
        .collect();
    (0..batch.num_rows())
        .map(|row| columns.iter().map(|column| column.value(row).to_string()).collect())
        .collect()
}

/// How many statements of a file there are of each kind, and what is not as marked.
#[derive(Default)]
struct Report {
    answered: usize,
    refused: usize,
    open: usize,
    misled: usize,
    wrong: usize,
    engine: usize,
    unlike: String,
    said: String,
}

/// Whether a refusal names one of the rules, or has some of the words.
fn because(what: &str, why: &str) -> bool {
    why.split('|').any(|why| match RULES.contains(&why) {
        true => what.starts_with(&format!("{why}: ")),
        false => what.to_lowercase().contains(&why.to_lowercase()),
    })
}

/// The mark that is right now, where it was new or open.
fn updated(mark: &Mark, happened: &Happened) -> Option<Mark> {
    match (mark, happened) {
        (Mark::New | Mark::Open(_), Happened::Right) => Some(Mark::Answered),
        (Mark::New, Happened::Wrong(_)) => Some(Mark::Open("wrong answer".to_owned())),
        (Mark::New, Happened::Refused(what)) => {
            let first = what.lines().next().unwrap_or_default();
            Some(Mark::Open(first.chars().take(100).collect()))
        }
        (Mark::OpenRefusal(why), Happened::Refused(what)) if because(what, why) => {
            Some(Mark::Refused(why.clone()))
        }
        _ => None,
    }
}

fn judge(record: &mut Record, happened: &Happened, update: bool, report: &mut Report) {
    if let Some(mark) = updated(&record.mark, happened).filter(|_| update) {
        record.mark = mark;
    }
    let as_marked = match (&record.mark, happened) {
        (Mark::Answered, Happened::Right) => true,
        (Mark::Refused(why), Happened::Refused(what)) => because(what, why),
        (Mark::OpenRefusal(why), Happened::Refused(what)) => !because(what, why),
        (Mark::Open(_) | Mark::OpenRefusal(_), Happened::Wrong(_)) => true,
        (Mark::Open(_), Happened::Refused(_)) => true,
        _ => false,
    };
    match record.mark {
        Mark::Answered => report.answered += 1,
        Mark::Refused(_) => report.refused += 1,
        Mark::OpenRefusal(_) => report.misled += 1,
        Mark::Open(_) | Mark::New => report.open += 1,
    }
    let detail = match happened {
        Happened::Right => "answered rightly",
        Happened::Wrong(what) => &format!("WRONG: {what}"),
        Happened::Refused(what) => what,
    };
    report.wrong += usize::from(matches!(happened, Happened::Wrong(_)));
    let engine = matches!(happened, Happened::Refused(what) if ENGINE.iter().any(|words| what.contains(words)));
    report.engine += usize::from(engine);
    let (name, sql) = (&record.name, record.sql.trim());
    let said =
        format!("\n=== {name}: {:?}\n{sql}\n  {}\n", record.mark, detail.replace('\n', "\n  "));
    if !as_marked {
        report.unlike.push_str(&said);
    }
    if !matches!(happened, Happened::Right) {
        report.said.push_str(&said);
    }
}

fn corpus(schema: &str) -> Report {
    let folder = tempfile::tempdir().expect("a folder");
    let file = home().join(format!("{schema}.sql.txt"));
    let (mut records, comments) = record::read(&file);
    let only = std::env::var("CORPUS").unwrap_or_default();
    let update = std::env::var_os("UPDATE_CORPUS").is_some();
    let mut report = Report::default();
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build();
    runtime.expect("a runtime").block_on(async {
        let mut session = open(schema, folder.path()).await;
        for record in &mut records {
            if schema.contains(&only) || record.name.contains(&only) {
                let mut happened = run(&mut session, record).await;
                if let Happened::Wrong(what) = &mut happened {
                    what.push_str(&explained(&mut session, record).await);
                }
                judge(record, &happened, update, &mut report);
            }
        }
    });
    if let Ok(incidents) = fs::read_to_string(folder.path().join("incidents")) {
        // For whoever runs the test: the tables are nobody's data.
        let _ = writeln!(report.said, "\nincidents of {schema}:\n{incidents}");
    }
    if update {
        record::write(&file, &records, &comments);
    }
    report
}

#[test]
fn every_statement_is_answered_or_refused_as_marked() {
    if let Ok(folder) = std::env::var("CORPUS_TABLES") {
        for schema in ["tpch", "web", "survey"] {
            let folder = Path::new(&folder).join(schema);
            fs::create_dir_all(&folder).expect("a folder");
            tables(schema, &folder);
        }
        return;
    }
    let schemas = ["tpch", "web", "survey"];
    let threads = schemas.map(|schema| {
        let thread = std::thread::Builder::new().stack_size(16 << 20);
        thread.spawn(move || corpus(schema)).expect("a thread")
    });
    let reports = threads.map(|thread| thread.join().expect("a report"));
    let (mut unlike, mut answered, mut open) = (String::new(), 0, 0);
    for (schema, report) in schemas.iter().zip(&reports) {
        println!(
            "{schema}: {} answered, {} refused rightly, {} open, {} to be refused otherwise",
            report.answered, report.refused, report.open, report.misled
        );
        println!(
            "  {} are answered wrongly or charged; {} refusals speak of the engine",
            report.wrong, report.engine
        );
        if std::env::var_os("CORPUS_REPORT").is_some() {
            println!("{}", report.said);
        }
        unlike.push_str(&report.unlike);
        (answered, open) = (answered + report.answered, open + report.open);
    }
    let share = 100.0 * answered as f64 / (answered + open).max(1) as f64;
    println!("of what should be answered, {share:.1} % is ({answered} of {})", answered + open);
    assert!(unlike.is_empty(), "{unlike}");
}
