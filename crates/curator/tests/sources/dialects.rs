//! CSV files as other programs write them: delimiters, gzip, decimal commas, dates; and files that are wrong or hostile.

use datafusion::arrow::util::display::array_value_to_string;
use demure_curator::policy::Policy;
use demure_curator::{Curator, Error, Outcome};
use std::io::Write;
use std::path::Path;

/// Written in cells of the first person, and never to be in a message.
const CANARY: &str = "4815162342";

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    gzip.write_all(bytes).unwrap();
    gzip.finish().unwrap()
}

fn policy(source: &str, table: &str, columns: &str) -> String {
    format!(
        "[budget]\nepsilon = 1e13\nper_query = 1e9\n[tables.t]\nsource = {source:?}\n{table}\
         unit = \"ID\"\n[tables.t.columns]\n{columns}"
    )
}

/// The cells of an answer, row by row.
async fn ask(folder: &Path, policy: &str, sql: &str) -> Result<Vec<Vec<String>>, Error> {
    let curator = Curator::in_memory(Policy::parse(policy, folder).unwrap()).await?;
    let Outcome::Answer(answer) = curator.session("tester").run(sql).await? else {
        panic!("no answer")
    };
    let mut rows = Vec::new();
    for batch in &answer.batches {
        for row in 0..batch.num_rows() {
            let cells = batch.columns().iter();
            rows.push(cells.map(|cell| array_value_to_string(cell, row).unwrap()).collect());
        }
    }
    Ok(rows)
}

/// The message of a table that cannot be opened.
async fn refused(folder: &Path, policy: &str) -> String {
    let said = ask(folder, policy, "SELECT COUNT(*) FROM t").await.unwrap_err();
    assert!(matches!(said, Error::Source { .. }), "{said}");
    assert!(!said.to_string().contains(CANARY), "{said}");
    said.to_string()
}

/// 200 people with two rows each; half of them in `"a;b"`, a text that must be quoted.
fn rows(delimiter: char, number: impl Fn(i32) -> String, day: impl Fn(i32) -> String) -> String {
    let head = ["ID", "Kind of thing", "PRICE", "Day"].join(&delimiter.to_string());
    let line = |i: i32| {
        let kind = if i % 2 == 0 { "\"x;y,z|\tw\"" } else { "plain" };
        [(i / 2).to_string(), kind.to_owned(), number(i), day(i)].join(&delimiter.to_string())
    };
    format!("{head}\r\n{}\r\n", (0..400).map(line).collect::<Vec<_>>().join("\r\n"))
}

const COLUMNS: &str = "\"Kind of thing\" = { values = [\"x;y,z|\\tw\", \"plain\"], nullable = false }\n\
     PRICE = { type = \"real\", bounds = [0, 1000] }\n";
const QUERY: &str = "SELECT kind_of_thing, COUNT(*), ROUND(SUM(price)), COUNT(day), \
     COUNT(*) FILTER (WHERE day >= DATE '2024-02-01') FROM t GROUP BY kind_of_thing ORDER BY 1";

#[tokio::test]
async fn every_dialect_holds_the_same_rows() {
    let iso = |i: i32| format!("2024-{:02}-{:02}", 1 + i / 200, 1 + i % 28);
    let german = |i: i32| format!("{:02}.{}.2024", 1 + i % 28, 1 + i / 200);
    let point = |i: i32| format!("{}.5", i);
    let comma = |i: i32| match i {
        0..100 => format!("{i},5"),
        _ => format!(" 0.{i},5 "),
    };
    let (iso_days, german_days) =
        ("Day = { type = \"date\" }\n", "Day = { format = \"%d.%m.%Y\" }\n");
    let plain = rows(',', point, iso);
    let bom = format!("\u{feff}{}", rows(';', comma, german));
    let tabs = rows('\t', point, iso);
    let pipes = rows('|', comma, iso);
    let semicolon = "delimiter = \";\"\ndecimal = \",\"\n";
    let mut answers = Vec::new();
    for (name, bytes, table, days) in [
        ("t.csv", plain.clone().into_bytes(), "", iso_days),
        ("T 2024.CSV", plain.clone().into_bytes(), "delimiter = \",\"\n", iso_days),
        ("t.csv.gz", gzip(plain.as_bytes()), "", iso_days),
        ("compressed.csv", gzip(plain.as_bytes()), "", iso_days),
        ("bom.csv", bom.clone().into_bytes(), semicolon, german_days),
        ("bom.csv.gz", gzip(bom.as_bytes()), semicolon, german_days),
        ("t.tsv", tabs.into_bytes(), "delimiter = \"\\t\"\n", iso_days),
        ("pipes.csv", pipes.into_bytes(), "delimiter = \"|\"\ndecimal = \",\"\n", iso_days),
    ] {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join(name), bytes).unwrap();
        let policy = policy(name, table, &format!("{COLUMNS}{days}"));
        answers.push(ask(folder.path(), &policy, QUERY).await.unwrap());
    }
    assert_eq!(answers[0].len(), 2);
    assert_eq!(&answers[0][0][1..], ["200", "40100.0", "200", "100"], "{answers:?}");
    assert!(answers.iter().all(|answer| *answer == answers[0]), "{answers:#?}");
}

#[tokio::test]
async fn a_folder_may_mix_what_is_compressed_with_what_is_not() {
    let folder = tempfile::tempdir().unwrap();
    let text = "ID;x\n1;2\n2;3\n";
    std::fs::write(folder.path().join("a.csv"), text).unwrap();
    std::fs::write(folder.path().join("b.CSV.GZ"), gzip(b"ID;x\n3;4\n")).unwrap();
    std::fs::write(folder.path().join("notes.txt"), "not read").unwrap();
    let policy = policy(".", "delimiter = \";\"\n", "x = { bounds = [0, 9] }\n");
    let sum = ask(folder.path(), &policy, "SELECT COUNT(*), ROUND(SUM(x)) FROM t").await.unwrap();
    assert_eq!(sum, [["3", "9.0"]]);
    std::fs::write(folder.path().join("c.csv"), "ID,x\n9,9\n").unwrap();
    assert!(refused(folder.path(), &policy).await.contains("other columns"));
}

#[tokio::test]
async fn a_public_table_may_be_compressed_and_have_another_delimiter() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("p.csv"), "ID,code\n1,a\n2,b\n3,b\n").unwrap();
    std::fs::write(folder.path().join("codes.tsv.gz"), gzip(b"code\tweight\na\t2\nb\t5\n"))
        .unwrap();
    let policy = policy("p.csv", "", "code = { values = [\"a\", \"b\"] }\n")
        + "[tables.codes]\nsource = \"codes.tsv.gz\"\ndelimiter = \"tab\"\npublic = true\nkey = \"code\"\n";
    let sql = "SELECT codes.weight, COUNT(*) FROM t JOIN codes ON t.code = codes.code \
         GROUP BY codes.weight ORDER BY 1";
    assert_eq!(ask(folder.path(), &policy, sql).await.unwrap(), [["2", "1"], ["5", "2"]]);
}

#[tokio::test]
async fn a_value_that_is_written_otherwise_is_nothing_and_no_error() {
    let folder = tempfile::tempdir().unwrap();
    let long = "9".repeat(10_000_000);
    let text = format!(
        "ID;PRICE;Day;n\n1;1.5;2024-01-01;1,0\n2;12,50;31.02.2024;1.234\n3;{long};{long};{long}\n\
         4;\0;\0;\0\n5;;;\n6;1e5;01.02.2024 10:00;5\n7;{CANARY} €;heute;sieben\n"
    );
    std::fs::write(folder.path().join("t.csv"), text).unwrap();
    let policy = policy(
        "t.csv",
        "delimiter = \";\"\ndecimal = \",\"\n",
        "PRICE = { bounds = [0, 100] }\nDay = { format = \"%d.%m.%Y\" }\n\
         n = { type = \"integer\", bounds = [0, 5000] }\n",
    );
    let sql =
        "SELECT COUNT(*), COUNT(price), ROUND(2 * SUM(price)), COUNT(day), COUNT(n), SUM(n) FROM t";
    let answer = ask(folder.path(), &policy, sql).await.unwrap();
    assert_eq!(answer, [["7", "1", "25.0", "0", "2", "1239"]]);
}

#[tokio::test]
async fn wrong_and_hostile_files_are_refused_when_they_are_opened() {
    let plain = policy("t.csv", "", "");
    let gz = policy("t.csv.gz", "", "");
    let whole = gzip(format!("ID,x\n{}", format!("{CANARY},1\n").repeat(5_000)).as_bytes());
    for (name, bytes, policy, says) in [
        ("t.csv", b"".to_vec(), &plain, "no heading"),
        ("t.csv", b"\n\n".to_vec(), &plain, "no heading"),
        // What follows an open quote are rows, and no name of a column.
        ("t.csv", format!("ID,\"x\n{CANARY},2\n").into_bytes(), &plain, "no heading"),
        ("t.csv", b"id,x\n1,2\n".to_vec(), &plain, "it has `id`"),
        ("t.csv", b"ID;x\n1;2\n".to_vec(), &plain, "write `delimiter = \";\"`"),
        ("t.csv", b"ID,x,x\n1,2,3\n".to_vec(), &plain, "two columns have the name `x`"),
        ("t.csv", format!("ID,x\n{CANARY}\n").into_bytes(), &plain, "more or fewer fields"),
        ("t.csv", b"ID,x\n1,caf\xe9\n".to_vec(), &plain, "iconv -f WINDOWS-1252"),
        ("t.csv", b"ID,caf\xe9\n1,2\n".to_vec(), &plain, "iconv -f WINDOWS-1252"),
        ("t.csv", b"\xff\xfeI\0D\0\n\0".to_vec(), &plain, "UTF-16"),
        ("t.csv", whole[..whole.len() / 2].to_vec(), &plain, "damaged or incomplete"),
        ("t.csv.gz", whole[..whole.len() / 2].to_vec(), &gz, "damaged or incomplete"),
        ("t.csv.gz", [whole.clone(), b"more".to_vec()].concat(), &gz, "damaged or incomplete"),
        ("t.csv.gz", b"ID,x\n1,2\n".to_vec(), &gz, "not compressed"),
    ] {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join(name), bytes).unwrap();
        let said = refused(folder.path(), policy).await;
        assert!(said.contains(says), "{says}: {said}");
    }
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("t.csv"), "ID,x\n").unwrap();
    let none = ask(folder.path(), &plain, "SELECT COUNT(*) FROM t").await.unwrap();
    assert_eq!(none, [["0"]]);
}

#[test]
fn what_a_policy_says_of_texts_is_checked() {
    let problems = |table: &str, columns: &str| {
        let found = Policy::parse(&policy("t.csv", table, columns), Path::new(""));
        found.map_or_else(|error| error.to_string(), |_| String::new())
    };
    for (table, columns, says) in [
        ("delimiter = \";;\"\n", "", "`delimiter`"),
        ("delimiter = \"\\\"\"\n", "", "`delimiter`"),
        ("decimal = \";\"\n", "", "not a choice for `decimal`"),
        ("", "d = { format = \"%d.%m\" }\n", "needs a year"),
        ("", "d = { type = \"real\", format = \"%F\" }\n", "which is for dates and times"),
        ("", "d = { type = \"text\", decimal = \",\" }\n", "which is for numbers"),
        ("", "d = { format = \"%F\", bounds = [1, 2] }\n", "`bounds`"),
    ] {
        let said = problems(table, columns);
        assert!(said.contains(says), "{columns}: {said}");
    }
    assert_eq!(problems("delimiter = \"tab\"\ndecimal = \".\"\n", "d = { decimal = \",\" }\n"), "");
}
