//! Golden tests: what is answered, what is explained, what is refused, word for word.
//!
//! Each `golden/*.slt` file is a conversation with one curator. Two statements are the
//! runner's own: `POLICY <name>` begins a new curator (seed 7) under one of the policies of
//! `fixtures.rs`, and `BALANCE` shows what is left. `UPDATE_GOLDENS=1` writes the files anew.
//!
//! Four things hold for every statement of every file: no output, error or `Debug` text
//! holds a canary of a protected table; the same statement on harmless data is answered,
//! explained or refused alike, at the same price; no statement ends in an incident; the order
//! of the rows does not show.

#![expect(clippy::expect_used, clippy::panic, reason = "a test that cannot go on must stop")]

#[path = "golden/fixtures.rs"]
mod fixtures;
#[path = "golden/messages.rs"]
mod messages;

use async_trait::async_trait;
use datafusion::arrow::array::RecordBatch;
use datafusion::arrow::datatypes::DataType;
use datafusion::arrow::util::display::{ArrayFormatter, FormatOptions};
use demure_core::random::SeededForTests;
use demure_curator::policy::Policy;
use demure_curator::{Curator, Error, Incidents, Outcome, Session};
use demure_ledger::{Accounting, Ledger, Limit};
use fixtures::{CANARIES, Data, policy, write};
use sqllogictest::{AsyncDB, DBOutput, DefaultColumnType, Record, Runner};
use std::fmt;
use std::path::{Path, PathBuf};

/// A curator under a policy, and one session with it.
struct Conversation {
    folder: PathBuf,
    session: Option<Session>,
}

/// An error as the goldens show it: its kind, then its text.
#[derive(Debug)]
struct Shown(String);

impl fmt::Display for Shown {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Shown {}

fn shown(error: &Error) -> Shown {
    let text = error.to_string();
    Shown(match error {
        Error::Refused(refusal) => format!("refused: {}\n{text}", refusal.rule().name()),
        Error::Sql(_) | Error::Unplanned { .. } => format!("sql\n{text}"),
        Error::Ledger(_) => format!("ledger\n{text}"),
        Error::Core(_) => format!("core\n{text}"),
        Error::After(_) => format!("after the release\n{text}"),
        // The number is random, and there should be none.
        Error::Incident { .. } => "INCIDENT\nwhat it cost stays spent".to_owned(),
        other => format!("other\n{other}"),
    })
}

type Output = Result<DBOutput<DefaultColumnType>, Shown>;

fn lines(lines: impl IntoIterator<Item = String>) -> Output {
    let rows = lines.into_iter().map(|line| vec![line]).collect();
    Ok(DBOutput::Rows { types: vec![DefaultColumnType::Text], rows })
}

impl Conversation {
    async fn begin(&mut self, name: &str) -> Output {
        let policy =
            Policy::parse(&policy(name), &self.folder).expect("the policy has no mistakes");
        let budget = policy.budget;
        let limit = Limit {
            accounting: match budget.accounting {
                demure_curator::policy::Accounting::Pure => Accounting::Pure,
                demure_curator::policy::Accounting::Zcdp => Accounting::Zcdp,
            },
            epsilon: budget.epsilon,
            delta: budget.delta,
            neighbours: budget.neighbours,
        };
        let ledger = Ledger::in_memory(limit).expect("a ledger in memory");
        let seed = Box::new(SeededForTests::insecure(7));
        let incidents = Incidents::file(self.folder.join("incidents"));
        let curator = Curator::with(policy, ledger, incidents, seed).await;
        self.session = Some(curator.expect("the fixtures can be opened").session("golden"));
        Ok(DBOutput::StatementComplete(0))
    }

    /// One statement; the text that decides whether two conversations went alike.
    async fn say(&mut self, sql: &str) -> (Output, String) {
        let sql = sql.trim();
        if let Some(name) = sql.strip_prefix("POLICY ") {
            return (self.begin(name.trim()).await, String::new());
        }
        let session = self.session.as_mut().expect("a file begins with POLICY");
        if sql == "BALANCE" {
            let balance = session.curator().ledger().balance().expect("a balance");
            let concentrated = session.curator().policy().budget.accounting
                == demure_curator::policy::Accounting::Zcdp;
            let left = demure_curator::price_in_words(&balance.left, concentrated);
            return (lines([format!("left {left}")]), String::new());
        }
        let sql = &statement(sql);
        let outcome = session.run(sql).await;
        let debug = format!("{outcome:?}");
        let (output, public) = match &outcome {
            Ok(Outcome::Answer(answer)) => {
                let rows = answer.batches.iter().flat_map(cells).collect();
                let types = answer.schema.fields().iter().map(|f| kind(f.data_type())).collect();
                (
                    Ok(DBOutput::Rows { types, rows }),
                    format!("{:?} {:?}", answer.price, answer.schema),
                )
            }
            Ok(Outcome::Explanation(explanation)) => {
                let said: Vec<String> = explanation
                    .lines()
                    .iter()
                    .map(|(name, text)| format!("{name}: {text}"))
                    .collect();
                let public = said.join("\n");
                (lines(said), public)
            }
            Ok(Outcome::Setting(name, value)) => {
                (lines([format!("{name} = {value}")]), format!("{name} {value}"))
            }
            Ok(other) => panic!("an outcome without a golden form: {other:?}"),
            Err(error) => {
                if let Error::Incident { .. } = error {
                    // For whoever runs the test: the fixtures are nobody's data.
                    let log = std::fs::read_to_string(self.folder.join("incidents"));
                    eprintln!("{sql}\n{}", log.unwrap_or_default().lines().last().unwrap_or(""));
                }
                let text = shown(error).0;
                for word in messages::ENGINE {
                    let theirs = text.contains(word) && !sql.contains(word);
                    assert!(!theirs, "the engine's `{word}` shows in {text}: {sql}");
                }
                (Err(shown(error)), text)
            }
        };
        for canary in CANARIES {
            assert!(!debug.contains(canary), "{canary} shows in the answer to {sql}");
            assert!(!public.contains(canary), "{canary} shows in the answer to {sql}");
        }
        (output, public)
    }
}

/// `{repeat 300: + 1}` writes out what would be tiresome to read.
fn statement(sql: &str) -> String {
    let mut text = sql.to_owned();
    while let Some(at) = text.find("{repeat ") {
        let end = at + text[at..].find('}').expect("a closing brace");
        let (count, what) = text[at + 8..end].split_once(':').expect("{repeat n:text}");
        let written = what.repeat(count.trim().parse().expect("a number"));
        text.replace_range(at..=end, &written);
    }
    text
}

fn kind(data_type: &DataType) -> DefaultColumnType {
    match data_type {
        t if t.is_integer() => DefaultColumnType::Integer,
        t if t.is_floating() => DefaultColumnType::FloatingPoint,
        _ => DefaultColumnType::Text,
    }
}

fn cells(batch: &RecordBatch) -> Vec<Vec<String>> {
    let options = FormatOptions::default().with_null("NULL");
    let columns: Vec<_> = batch
        .columns()
        .iter()
        .map(|column| ArrayFormatter::try_new(column.as_ref(), &options).expect("a printable type"))
        .collect();
    let cell = |text: String| match text.as_str() {
        "" => "(empty)".to_owned(),
        _ => text,
    };
    (0..batch.num_rows())
        .map(|row| columns.iter().map(|column| cell(column.value(row).to_string())).collect())
        .collect()
}

#[async_trait]
impl AsyncDB for Conversation {
    type Error = Shown;
    type ColumnType = DefaultColumnType;

    async fn run(&mut self, sql: &str) -> Output {
        self.say(sql).await.0
    }

    async fn shutdown(&mut self) {}

    fn engine_name(&self) -> &str {
        "demure"
    }
}

fn goldens() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden");
    let entries = std::fs::read_dir(folder).expect("the goldens");
    let mut files: Vec<PathBuf> = entries.map(|e| e.expect("a file").path()).collect();
    files.retain(|file| file.extension().is_some_and(|e| e == "slt"));
    if let Ok(only) = std::env::var("GOLDEN") {
        files.retain(|file| file.to_string_lossy().contains(&only));
    }
    files.sort();
    files
}

fn runtime() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_multi_thread().enable_all().build().expect("a runtime")
}

/// The statements of a file, in order.
fn statements(file: &Path) -> Vec<String> {
    let records = sqllogictest::parse_file::<DefaultColumnType>(file).expect("a golden file");
    let sql = records.into_iter().filter_map(|record| match record {
        Record::Statement { sql, .. } | Record::Query { sql, .. } => Some(sql),
        _ => None,
    });
    sql.collect()
}

fn exactly(_: fn(&String) -> String, actual: &[Vec<String>], expected: &[String]) -> bool {
    let actual: Vec<String> =
        actual.iter().map(|row| row.join(" | ").trim_end().to_owned()).collect();
    actual == expected
}

#[test]
fn every_golden_is_word_for_word() {
    let folder = tempfile::tempdir().expect("a folder");
    write(folder.path(), Data::Nasty);
    let update = std::env::var_os("UPDATE_GOLDENS").is_some();
    let mut wrong = Vec::new();
    runtime().block_on(async {
        for file in goldens() {
            let place = folder.path().to_owned();
            let mut runner = Runner::new(move || {
                let conversation = Conversation { folder: place.clone(), session: None };
                async move { Ok::<_, Shown>(conversation) }
            });
            runner.with_validator(exactly);
            runner.with_column_validator(sqllogictest::strict_column_validator);
            if update {
                let same = sqllogictest::strict_column_validator;
                let normal = sqllogictest::default_normalizer;
                let done = runner.update_test_file(&file, " | ", exactly, normal, same).await;
                done.expect("the golden can be written");
            } else if let Err(error) = runner.run_file_async(&file).await {
                wrong.push(error.to_string());
            }
        }
    });
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// A refusal names what was written, and what it says to write instead is accepted.
#[test]
fn every_hint_leads_to_a_statement_that_is_accepted() {
    let folder = tempfile::tempdir().expect("a folder");
    write(folder.path(), Data::Nasty);
    let mut wrong = Vec::new();
    runtime().block_on(async {
        let mut one = Conversation { folder: folder.path().to_owned(), session: None };
        let (Ok(_), _) = one.say("POLICY exact").await else { panic!("no policy") };
        for (sql, expected, instead) in messages::HINTS {
            match one.say(sql).await {
                (Err(said), _) if said.0.contains(expected) => {}
                (Err(said), _) => wrong.push(format!("{sql}\n  says: {said}\n  not: {expected}")),
                (Ok(_), _) => wrong.push(format!("{sql}\n  is answered")),
            }
            if let (Err(said), _) = one.say(instead).await {
                wrong.push(format!("{instead}\n  is refused: {said}"));
            }
        }
        for (sql, expected) in messages::BROKEN {
            match one.say(sql).await {
                (Err(said), _) if said.0.contains(expected) => {}
                (Err(said), _) => wrong.push(format!("{sql}\n  says: {said}\n  not: {expected}")),
                (Ok(_), _) => wrong.push(format!("{sql}\n  is answered")),
            }
        }
    });
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
}

/// Answers differ, of course; everything else is decided without the data.
#[test]
fn harmless_data_are_answered_refused_and_priced_alike() {
    let (nasty, harmless) =
        (tempfile::tempdir().expect("a folder"), tempfile::tempdir().expect("a folder"));
    write(nasty.path(), Data::Nasty);
    write(harmless.path(), Data::Harmless);
    let mut differ = Vec::new();
    runtime().block_on(async {
        for file in goldens() {
            let mut one = Conversation { folder: nasty.path().to_owned(), session: None };
            let mut other = Conversation { folder: harmless.path().to_owned(), session: None };
            for sql in statements(&file) {
                let ((_, a), (_, b)) = (one.say(&sql).await, other.say(&sql).await);
                if a != b || a.starts_with("INCIDENT") {
                    differ.push(format!("{}: {sql}\n{a}\n{b}", file.display()));
                }
            }
        }
    });
    assert!(differ.is_empty(), "{}", differ.join("\n\n"));
}

/// A seed decides an answer: not the order of the rows, not which thread read them.
#[test]
fn the_order_of_rows_does_not_show() {
    let (nasty, reversed) =
        (tempfile::tempdir().expect("a folder"), tempfile::tempdir().expect("a folder"));
    write(nasty.path(), Data::Nasty);
    write(reversed.path(), Data::Reversed);
    let mut differ = Vec::new();
    runtime().block_on(async {
        for file in goldens() {
            let mut one = Conversation { folder: nasty.path().to_owned(), session: None };
            let mut other = Conversation { folder: reversed.path().to_owned(), session: None };
            for sql in statements(&file) {
                let ((a, _), (b, _)) = (one.say(&sql).await, other.say(&sql).await);
                let (a, b) = (rows(a), rows(b));
                if a != b {
                    differ.push(format!("{}: {sql}\n{a:?}\n{b:?}", file.display()));
                }
            }
        }
    });
    assert!(differ.is_empty(), "{}", differ.join("\n\n"));
}

fn rows(output: Output) -> Vec<Vec<String>> {
    match output {
        Ok(DBOutput::Rows { rows, .. }) => rows,
        _ => Vec::new(),
    }
}

/// `docs/sql.md` says that its examples are statements of these files.
#[test]
fn the_examples_of_the_page_of_sql_are_here() {
    let words = |sql: &str| sql.split_whitespace().collect::<Vec<_>>().join(" ");
    let golden: Vec<String> =
        goldens().iter().flat_map(|file| statements(file)).map(|sql| words(&sql)).collect();
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/sql.md");
    let page = std::fs::read_to_string(page).expect("the page");
    let mut inside = false;
    let mut examples = 0;
    for line in page.lines() {
        match line.strip_prefix("```") {
            Some(word) => inside = word == "sql",
            None if inside => {
                let sql = words(line.split(" -- ").next().unwrap_or_default());
                assert!(golden.contains(&sql), "no golden has this example: {sql}");
                examples += 1;
            }
            None => {}
        }
    }
    assert!(examples >= 20, "only {examples} examples were found");
}
