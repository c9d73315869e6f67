//! From a file as it is to a true answer: `demure init` with and without questions, dictionaries, `demure check`.

use super::init::folder;
use super::query::CANARY;
use super::{Run, json, run};
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;
use std::process::Command;

const CATEGORIES: [&str; 5] = ["Books", "Garden", "Toys", "Music", "\"Food; fresh\""];
const HEAD: &str = "ORDER_ID;CUSTOMER_ID;CUSTOMER NAME;ORDER DATE;SHIP DATE;CATEGORY;PRODUCT;QUANTITY;UNIT PRICE;\
    DISCOUNT;AMOUNT;CURRENCY;REGION;CITY;POSTCODE;CHANNEL;PAYMENT;STATUS;RETURNED;COMMENT";

/// 8,000 customers with 1 to 7 orders each: a file as a spreadsheet writes it.
pub(crate) fn sales(folder: &Path) -> BTreeMap<String, i64> {
    let mut text = format!("\u{feff}{HEAD}\r\n");
    let mut counts = BTreeMap::new();
    let mut order = 0;
    for customer in 0..8000 {
        for k in 0..1 + customer % 7 {
            order += 1;
            let category = CATEGORIES[(customer + k * k) % 5];
            *counts.entry(category.trim_matches('"').to_owned()).or_insert(0) += 1;
            let (day, month) = (1 + order % 28, 1 + order % 12);
            let price = format!("{},{:02}", 5 + order % 90, order % 100);
            write!(
                text,
                "{order};C{customer};{CANARY};{day:02}.{month:02}.2024;{day:02}.{month:02}.2024;{category};P{};{};\
                 {price};0,0;1.{:03},50;EUR;north;Metz;57000;web;card;sent;no;\r\n",
                order % 40,
                1 + order % 3,
                order % 1000,
            )
            .unwrap();
        }
    }
    std::fs::write(folder.join("Sales 2024.csv"), text).unwrap();
    counts
}

fn at(folder: &Path, args: &[&str]) -> Run {
    let output = Command::new(env!("CARGO_BIN_EXE_demure"))
        .args(args)
        .current_dir(folder)
        .env_remove("DEMURE_LEDGER")
        .output()
        .unwrap();
    Run::of(output)
}

fn done(folder: &Path, args: &[&str]) -> Run {
    let ran = at(folder, args);
    assert_eq!(ran.code, Some(0), "{args:?}\n{}{}", ran.out, ran.err);
    assert!(!ran.out.contains(CANARY) && !ran.err.contains(CANARY), "{args:?}");
    ran
}

/// An answer in CSV, by its first column.
fn by_key(ran: &Run) -> BTreeMap<String, f64> {
    let mut rows = csv::Reader::from_reader(ran.out.as_bytes());
    let rows = rows.records().map(|row| {
        let row = row.unwrap();
        (row[0].to_owned(), row[1].parse().unwrap())
    });
    rows.collect()
}

fn near(found: &BTreeMap<String, f64>, truth: &BTreeMap<String, i64>) {
    assert_eq!(found.keys().collect::<Vec<_>>(), truth.keys().collect::<Vec<_>>());
    for (key, count) in truth {
        let off = (found[key] - *count as f64).abs() / *count as f64;
        assert!(off < 0.05, "{key}: {} for {count}", found[key]);
    }
}

#[test]
fn a_spreadsheets_file_is_answered_after_one_command() {
    let folder = folder("data-in-yes");
    let truth = sales(&folder);
    let ran = done(
        &folder,
        &["init", "Sales 2024.csv", "--yes", "--unit", "CUSTOMER_ID", "--output", "sales.toml"],
    );
    assert!(ran.err.contains("the names suggest dates: ORDER DATE, SHIP DATE"), "{}", ran.err);
    assert!(ran.err.contains("the names suggest numbers: QUANTITY, UNIT PRICE"), "{}", ran.err);
    let text = std::fs::read_to_string(folder.join("sales.toml")).unwrap();
    for line in [
        "[tables.sales_2024]",
        "source = \"Sales 2024.csv\"",
        "delimiter = \";\"",
        "unit = \"CUSTOMER_ID\"",
        "delta = 1e-6",
        "\"CUSTOMER NAME\" = { hidden = true }   # by its name it says who someone is",
    ] {
        assert!(text.lines().any(|other| other == line), "{line}\n{text}");
    }
    let sql = "select category, count(*) from sales_2024 group by category";
    let ran = done(&folder, &["query", "sales.toml", sql, "--epsilon", "0.5", "--format", "csv"]);
    near(&by_key(&ran), &truth);
}

#[test]
fn twenty_columns_with_dates_take_four_commands_and_no_editor() {
    let folder = folder("data-in-four");
    let truth = sales(&folder);
    done(
        &folder,
        &[
            "init",
            "Sales 2024.csv",
            "--yes",
            "--unit",
            "customer_id",
            "--date-format",
            "%d.%m.%Y",
            "--decimal",
            ",",
            "--epsilon",
            "2",
            "--output",
            "sales.toml",
        ],
    );
    let checked = done(&folder, &["check", "sales.toml"]);
    for part in [
        "sales_2024  Sales 2024.csv, protected by CUSTOMER_ID",
        "hidden: CUSTOMER NAME",
        "SELECT category, COUNT(*) FROM sales_2024 GROUP BY category",
        "SELECT date_trunc('month', order_date) AS month, COUNT(*) FROM sales_2024 GROUP BY month",
        "costs ε 0.2",
        "left ε 2",
    ] {
        assert!(checked.out.contains(part), "{part}\n{}", checked.out);
    }
    let months = "SELECT date_part('month', order_date) AS month, COUNT(*) AS n FROM sales_2024 \
        GROUP BY month ORDER BY month";
    let ran = done(&folder, &["query", "sales.toml", months, "--epsilon", "1", "--format", "csv"]);
    let mut found = by_key(&ran);
    // Nobody's date is missing.
    assert!(found.remove("").is_none_or(|n| n.abs() < 300.0), "{}", ran.out);
    let each = truth.values().sum::<i64>() / 12;
    assert_eq!(found.len(), 12, "{}", ran.out);
    assert!(found.values().all(|n| (n - each as f64).abs() < 0.08 * each as f64), "{}", ran.out);
    let mean = "SELECT AVG(amount) AS mean, AVG(unit_price) AS price FROM sales_2024";
    let ran = done(&folder, &["query", "sales.toml", mean, "--epsilon", "1", "--format", "csv"]);
    let cells: Vec<f64> =
        ran.out.lines().nth(1).unwrap().split(',').map(|cell| cell.parse().unwrap()).collect();
    assert!((cells[0] - 1500.0).abs() < 100.0 && (cells[1] - 50.0).abs() < 5.0, "{}", ran.out);
}

#[test]
fn check_says_what_was_understood_and_debits_nothing() {
    let folder = folder("data-in-check");
    sales(&folder);
    let policy = folder.join("s.toml").display().to_string();
    let text = "[budget]\nepsilon = 1.0\n[tables.sales]\nsource = \"Sales 2024.csv\"\ndelimiter = \";\"\n\
         decimal = \",\"\nunit = \"CUSTOMER_ID\"\n[tables.sales.columns]\n\
         \"ORDER DATE\" = { format = \"%d.%m.%Y\" }\nAMOUNT = { bounds = [0, 2000] }\n";
    std::fs::write(&policy, text).unwrap();
    let checked = json(&format!("check {policy}"));
    assert_eq!(std::fs::read_to_string(&policy).unwrap(), text);
    assert!(!folder.join("s.ledger").exists());
    assert_eq!((&checked["has_ledger"], &checked["left"]), (&false.into(), &"ε 1 of 1".into()));
    let table = &checked["tables"][0];
    let column = |name: &str| {
        let columns = table["columns"].as_array().unwrap();
        columns.iter().find(|column| column["name"] == name).unwrap().clone()
    };
    assert_eq!(column("ORDER DATE")["sql"], "order_date");
    assert_eq!(column("ORDER DATE")["type"], "date");
    assert_eq!(column("ORDER DATE")["known"], "written as %d.%m.%Y");
    assert_eq!(column("AMOUNT")["known"], "from 0 to 2000; written with a decimal comma");
    let examples = table["examples"].as_array().unwrap();
    let of = |start: &str| {
        let found = examples.iter().find(|e| e["sql"].as_str().unwrap().starts_with(start));
        found.unwrap().clone()
    };
    assert_eq!(of("SELECT COUNT(*) FROM")["cost"], "ε 0.1");
    // Without a δ, groups that are not listed are not shown.
    assert!(of("SELECT category")["refused"].as_str().unwrap().contains("no δ"), "{examples:?}");
    assert!(examples.iter().all(|e| !e.to_string().contains(CANARY)));
    // With a ledger, what is left is what its answers have left.
    let count = ["query", &policy, "SELECT COUNT(*) FROM sales", "--epsilon", "0.25"];
    assert_eq!(run(&count).code, Some(0));
    let before = std::fs::read(folder.join("s.ledger")).unwrap();
    let checked = json(&format!("check {policy}"));
    assert_eq!(checked["left"], "ε 0.75 of 1");
    assert_eq!(before, std::fs::read(folder.join("s.ledger")).unwrap());
    std::fs::write(folder.join("Sales 2024.csv"), "A;B\n1\n").unwrap();
    let wrong = run(&["check", &policy]);
    assert_eq!(wrong.code, Some(2));
    assert!(wrong.err.contains("more or fewer fields"), "{}", wrong.err);
}

#[test]
fn a_dictionary_says_what_columns_hold() {
    let folder = folder("data-in-dictionary");
    let truth = sales(&folder);
    let dictionary = "column;type;range;labels;format\ncategory;text;;Books|Garden|Toys|Music|Food, fresh;\n\
        order date;date;2024-01-01..2024-12-31;;%d.%m.%Y\namount;real;0..5000;;\n";
    std::fs::write(folder.join("d.csv"), dictionary).unwrap();
    let ran = done(
        &folder,
        &[
            "init",
            "Sales 2024.csv",
            "--yes",
            "--unit",
            "CUSTOMER_ID",
            "--dictionary",
            "d.csv",
            "--decimal",
            ",",
            "--table",
            "sales",
            "--output",
            "sales.toml",
        ],
    );
    assert!(ran.err.contains("must be public knowledge"), "{}", ran.err);
    let text = std::fs::read_to_string(folder.join("sales.toml")).unwrap();
    for line in [
        "CATEGORY = { values = [\"Books\", \"Garden\", \"Toys\", \"Music\", \"Food, fresh\"] }",
        "\"ORDER DATE\" = { format = \"%d.%m.%Y\", bounds = [2024-01-01, 2024-12-31] }",
        "AMOUNT = { bounds = [0, 5000] }",
    ] {
        assert!(text.lines().any(|other| other == line), "{line}\n{text}");
    }
    assert!(text.contains("and from a dictionary.\n") && !text.contains("no value was read"));
    let sql = "SELECT category, COUNT(*) FROM sales WHERE amount > 0 GROUP BY category";
    let ran = done(&folder, &["query", "sales.toml", sql, "--epsilon", "0.5", "--format", "csv"]);
    let mut found = by_key(&ran);
    // It is listed in another way than it is written, so nobody has it.
    for nobody in ["Food, fresh", ""] {
        assert!(found.remove(nobody).unwrap().abs() < 300.0, "{}", ran.out);
    }
    let truth = truth.into_iter().filter(|(key, _)| key != "Food; fresh").collect();
    near(&found, &truth);
}

#[test]
fn force_keeps_what_was_bought_and_the_old_policy_until_the_new_one_opens() {
    let folder = folder("data-in-force");
    let _ = super::init::ages(&folder);
    let spend = [
        "init",
        "ages.csv",
        "--unit",
        "person",
        "--numeric",
        "age",
        "--spend-epsilon",
        "0.5",
        "--output",
        "ages.toml",
    ];
    done(&folder, &spend);
    let bought = |text: &str| {
        let line = text.lines().find(|line| line.starts_with("age = { bounds = ["));
        line.map(str::to_owned)
    };
    let path = folder.join("ages.toml");
    let first = std::fs::read_to_string(&path).unwrap();
    let bounds = bought(&first).unwrap();
    let again =
        ["init", "ages.csv", "--yes", "--unit", "person", "--output", "ages.toml", "--force"];
    done(&folder, &again);
    let second = std::fs::read_to_string(&path).unwrap();
    assert_eq!(bought(&second), Some(bounds), "{second}");
    assert!(
        second.contains("# Bought from the data for ε 0.5") && second.contains("bought before")
    );
    // A table that cannot be opened does not take the place of one that can.
    std::fs::write(folder.join("ages.csv"), "person,age,city\n1,2\n").unwrap();
    for more in [&again[..], &[&spend[..], &["--force"]].concat()] {
        let ran = at(&folder, more);
        assert_eq!(ran.code, Some(2), "{}", ran.err);
        assert_eq!(std::fs::read_to_string(&path).unwrap(), second);
    }
    let ran = at(&folder, &["budget", "show", "ages.toml"]);
    assert!(ran.out.contains("ε 0.5"), "{}{}", ran.out, ran.err);
}

#[test]
fn a_folder_of_parquet_files_is_a_table() {
    let folder = folder("data-in-parquet");
    sales(&folder);
    done(
        &folder,
        &["init", "Sales 2024.csv", "--yes", "--unit", "customer_id", "--output", "s.toml"],
    );
    std::fs::create_dir(folder.join("Parts 1")).unwrap();
    for part in ["a", "b"] {
        let public = "[budget]\nepsilon = 1\n[tables.s]\nsource = \"Sales 2024.csv\"\ndelimiter = \";\"\npublic = true\n";
        std::fs::write(folder.join("public.toml"), public).unwrap();
        let sql = format!(
            "SELECT \"CUSTOMER_ID\" || '{part}' AS \"PERSON\", \"CATEGORY\" FROM s WHERE order_id % 2 = {}",
            u8::from(part == "a")
        );
        let file = format!("Parts 1/{part}.parquet");
        done(&folder, &["query", "public.toml", &sql, "--output", &file]);
    }
    let ran =
        done(&folder, &["init", "Parts 1", "--yes", "--unit", "person", "--output", "parts.toml"]);
    assert!(ran.err.contains("wrote parts.toml"), "{}", ran.err);
    let text = std::fs::read_to_string(folder.join("parts.toml")).unwrap();
    assert!(
        text.contains("[tables.parts_1]\n") && text.contains("source = \"Parts 1\"\n"),
        "{text}"
    );
    let sql = "SELECT category, COUNT(*) FROM parts_1 GROUP BY category";
    let ran = done(&folder, &["query", "parts.toml", sql, "--epsilon", "0.5", "--format", "csv"]);
    assert_eq!(by_key(&ran).len(), 5, "{}", ran.out);
    let empty = folder.join("empty");
    std::fs::create_dir(&empty).unwrap();
    let ran = at(&folder, &["init", "empty", "--yes"]);
    assert!(ran.err.contains("no .csv, .tsv or .parquet file"), "{}", ran.err);
}

#[test]
fn on_a_terminal_it_asks() {
    let folder = folder("data-in-terminal");
    let truth = sales(&folder);
    // A terminal, on which each question is answered when it is asked.
    let script = r#"
import os, pty, sys
answers = ["customer_id", "2", "4, ship date", "2", "", ",", "", "sales.toml"]
child, terminal = pty.fork()
if child == 0:
    os.execv(sys.argv[1], [sys.argv[1], "init", "Sales 2024.csv"])
shown, asked = b"", 0
while True:
    try:
        part = os.read(terminal, 4096)
    except OSError:
        break
    if not part:
        break
    shown += part
    while shown.count(b"]: ") > asked and asked < len(answers):
        os.write(terminal, answers[asked].encode() + b"\n")
        asked += 1
sys.stdout.write(shown.decode())
sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"#;
    let output = Command::new("python3")
        .args(["-c", script, env!("CARGO_BIN_EXE_demure")])
        .current_dir(&folder)
        .output()
        .unwrap();
    let ran = Run::of(output);
    assert_eq!(ran.code, Some(0), "{}{}", ran.out, ran.err);
    for part in ["Whose row is it?", "How much privacy?", "20 columns", "[CUSTOMER_ID]: "] {
        assert!(ran.out.contains(part), "{part}\n{}", ran.out);
    }
    let text = std::fs::read_to_string(folder.join("sales.toml")).unwrap();
    assert!(text.contains("\nepsilon = 2\n") && text.contains("\ndecimal = \",\"\n"), "{text}");
    assert!(text.contains("\"SHIP DATE\" = { format = \"%d.%m.%Y\" }"), "{text}");
    let sql = "select category, count(*) from sales_2024 group by category";
    let ran = done(&folder, &["query", "sales.toml", sql, "--epsilon", "0.5", "--format", "csv"]);
    near(&by_key(&ran), &truth);
}

#[test]
fn hostile_files_are_refused_in_words() {
    let folder = folder("data-in-hostile");
    let gzip_start = [0x1f, 0x8b, 8, 0, 1, 2, 3];
    for (name, bytes, says) in [
        ("empty.csv", &b""[..], "no heading"),
        ("null.csv", b"a,\0\n", "no heading"),
        ("latin.csv", b"gr\xf6\xdfe;b\n", "iconv -f WINDOWS-1252"),
        ("wide.csv", b"\xff\xfea\0;\0", "iconv -f UTF-16"),
        ("twice.csv", b"a;b;a\n", "the name `a`"),
        ("either.csv", b"a,b;c\n", "--delimiter"),
        ("plain.csv.gz", b"a,b\n", "not compressed"),
        ("cut.csv.gz", &gzip_start, "damaged or incomplete"),
    ] {
        std::fs::write(folder.join(name), bytes).unwrap();
        let ran = at(&folder, &["init", name, "--yes"]);
        assert_eq!((ran.code, ran.out.as_str()), (Some(2), ""), "{name}: {}", ran.err);
        assert!(ran.err.contains(says), "{name}: {}", ran.err);
    }
    // A heading alone is a table without rows; one line may be long.
    std::fs::write(folder.join("head.csv"), "id;kind\n").unwrap();
    done(&folder, &["init", "head.csv", "--yes", "--unit", "ID", "--output", "head.toml"]);
    done(&folder, &["query", "head.toml", "SELECT COUNT(*) FROM head", "--epsilon", "0.5"]);
    let long = format!("id;kind\n1;{}\n2;b\n", "x".repeat(10 << 20));
    std::fs::write(folder.join("big.csv"), long).unwrap();
    done(&folder, &["init", "big.csv", "--yes", "--unit", "id", "--output", "big.toml"]);
    done(&folder, &["query", "big.toml", "SELECT COUNT(*) FROM big", "--epsilon", "0.5"]);
    for args in [
        &["init", "head.csv", "--date-format", "%q"][..],
        &["init", "head.csv", "--decimal", ";"],
        &["init", "head.csv", "--delimiter", ";;"],
        &["init", "head.csv", "--date", "kind", "--numeric", "KIND"],
        &["init", "head.csv", "--category", "nobody=a|b"],
    ] {
        let ran = at(&folder, args);
        assert_eq!((ran.code, ran.out.as_str()), (Some(2), ""), "{args:?}: {}", ran.err);
    }
}
