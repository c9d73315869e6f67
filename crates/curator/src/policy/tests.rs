//! A valid policy, every mistake with its line, and a file with random changes.

use super::*;

const CLINIC: &str = r#"[budget]
epsilon = 5.0
delta = 1e-6
accounting = "zcdp"
neighbours = "replace"
per_query = 0.5

[tables.visits]
source = "visits/*.parquet"
unit = { column = "patient", references = "patients.id" }
max_groups = 12
max_rows_per_group = 0x10

[tables.patients]
source = "patients.csv"
unit = "id"
[tables.patients.columns]
age = { bounds = [0, 120], nullable = false }
sex = { values = ["f", "m"] }
cost = { bounds = [0, 5000], grid = 0.01 }
born = { values = [1985-06-30, 1985-07-01] }
grade = { bounds = [1, 6], values = [1, 2, 3, 4, 5, 6] }
name = { hidden = true }

[tables.prescriptions]
source = "prescriptions.parquet"
unit = { column = "visit_id", references = "visits.id" }

[tables.regions]
source = "regions.csv"
public = true
key = ["country", "code"]

[tables.survey]
source = "survey.csv"
unit = "row"
public = false
"#;

fn parse(text: &str) -> Result<Policy, PolicyError> {
    Policy::parse(text, Path::new("/data"))
}

#[test]
fn a_policy_is_read_in_the_order_of_its_file() {
    let policy = parse(CLINIC).unwrap();
    let names: Vec<_> = policy.tables.iter().map(|table| table.name.as_str()).collect();
    assert_eq!(names, ["visits", "patients", "prescriptions", "regions", "survey"]);
    assert_eq!((policy.text.as_str(), policy.folder.as_path()), (CLINIC, Path::new("/data")));
    assert_eq!(policy.warnings, [""; 0]);

    let budget = policy.budget;
    assert_eq!(
        (budget.epsilon.get(), budget.delta.get(), budget.per_query.get()),
        (5.0, 1e-6, 0.5)
    );
    assert_eq!((budget.accounting, budget.neighbours), (Accounting::Zcdp, Neighbours::Replace));

    let visits = policy.table("visits").unwrap().protection().unwrap();
    assert_eq!((visits.max_groups, visits.max_rows_per_group), (12, 16));
    let via = |column: &str, table: &str, key: &str| UnitPolicy::Via {
        column: column.to_owned(),
        table: table.to_owned(),
        key: key.to_owned(),
    };
    assert_eq!(visits.unit, via("patient", "patients", "id"));
    let prescriptions = policy.table("prescriptions").unwrap().protection().unwrap();
    assert_eq!(prescriptions.unit, via("visit_id", "visits", "id"));
    assert_eq!((prescriptions.max_groups, prescriptions.max_rows_per_group), (1, 1));

    let patients = policy.table("patients").unwrap().protection().unwrap();
    let names: Vec<_> = patients.columns.iter().map(|column| column.name.as_str()).collect();
    assert_eq!(names, ["age", "sex", "cost", "born", "grade", "name"]);
    assert_eq!(patients.unit, UnitPolicy::Column("id".to_owned()));
    let age = patients.column("age").unwrap();
    assert_eq!(
        (age.bounds, age.grid, age.nullable),
        (Some(ColumnBounds::Numbers(0.0, 120.0)), None, false)
    );
    let cost = patients.column("cost").unwrap();
    assert_eq!((cost.grid, cost.nullable, cost.hidden), (Some(1.0 / 128.0), true, false));
    let sex = patients.column("sex").unwrap();
    assert_eq!(sex.values, Some(vec![Value::Text("f".to_owned()), Value::Text("m".to_owned())]));
    let born = patients.column("born").unwrap().values.as_ref().unwrap();
    assert_eq!(born[0], Value::Date("1985-06-30".to_owned()));
    assert!(patients.column("name").unwrap().hidden);

    let regions = policy.table("regions").unwrap();
    let key = vec!["country".to_owned(), "code".to_owned()];
    assert_eq!((&regions.access, regions.protection()), (&Access::Public { key }, None));
    assert_eq!(policy.table("survey").unwrap().protection().unwrap().unit, UnitPolicy::Row);
    assert_eq!(policy.table("nurses"), None);
}

#[test]
fn what_is_not_said_has_a_default() {
    let policy =
        parse("budget.epsilon = 2\ntables.a = { source = 'a.csv', unit = 'row' }").unwrap();
    let budget = policy.budget;
    assert_eq!((budget.delta, budget.per_query.get()), (Delta::ZERO, 0.2));
    assert_eq!((budget.accounting, budget.neighbours), (Accounting::Pure, Neighbours::AddRemove));
    assert_eq!(budget.answers, Answers::Personal);
    let shared = with_budget("epsilon = 2\nanswers = 'shared'");
    assert_eq!(parse(&shared).unwrap().budget.answers, Answers::Shared);
    refused(&with_budget("epsilon = 2\nanswers = 'all'"), &[(3, "`all` is not a choice")]);
    let text = "budget.epsilon = 2\ntables.a = { source = 'a.csv', public = true, key = 'x' }";
    let key = vec!["x".to_owned()];
    assert_eq!(parse(text).unwrap().tables[0].access, Access::Public { key });
}

#[test]
fn an_editor_of_another_system_changes_nothing() {
    let windows = format!("\u{feff}{}", CLINIC.replace('\n', "\r\n"));
    assert_eq!(parse(&windows).unwrap().tables, parse(CLINIC).unwrap().tables);
    refused(&with_column("bound = 1").replace('\n', "\r\n"), &[(8, "`bound`")]);
}

/// A policy whose first lines are valid; mistakes begin at line 7.
fn with(rest: &str) -> String {
    format!(
        "[budget]\nepsilon = 1\n[tables.a]\nsource = 'a.csv'\nunit = 'id'\n# from here\n{rest}\n"
    )
}

/// One column `x` of table `a`, at line 8.
fn with_column(rest: &str) -> String {
    with(&format!("[tables.a.columns]\nx = {{ {rest} }}"))
}

/// A budget of these lines, starting at line 2, followed by a table.
fn with_budget(lines: &str) -> String {
    format!("[budget]\n{lines}\n[tables.a]\nsource = 'a.csv'\nunit = 'id'\n")
}

/// Checks that these are the only mistakes, each with its line and part of its message.
fn refused(text: &str, wanted: &[(usize, &str)]) {
    let error = parse(text).expect_err(text);
    let all = error.to_string();
    assert_eq!(error.problems().len(), wanted.len(), "{text}\n{all}");
    for (problem, (line, part)) in error.problems().iter().zip(wanted) {
        let message = problem.mistake.to_string();
        assert_eq!(problem.line, *line, "{text}\n{all}");
        assert!(message.contains(part), "{text}\n{message}\n{part}");
        assert!(all.contains(&format!("line {line}: {message}")), "{all}");
    }
}

#[test]
fn every_mistake_is_told_at_once_with_its_line() {
    let text = r#"[budget]
epsilon = 0
delat = 1e-6
[tables.patients]
sorce = "patients.csv"
unit = "id"
[tables.patients.columns]
age = { bound = [0, 120] }
sex = { values = [] }
"#;
    refused(
        text,
        &[
            (2, "`epsilon` is out of range: epsilon must be a finite number greater than 0; write"),
            (3, "unknown key `delat` in `[budget]`: write `delta = 1e-6`"),
            (4, "table `patients` has no `source`: write `source = \"file.csv\"`"),
            (5, "unknown key `sorce` in table `patients`: write `source = \"file.csv\"`"),
            (8, "unknown key `bound` in column `age`: write `bounds = [low, high]`"),
            (9, "`values` of column `sex` are empty"),
        ],
    );
}

#[test]
fn mistakes_of_the_file() {
    refused("", &[(1, "no `budget`: write `[budget]`"), (1, "no tables")]);
    refused("budget = 3\ntables = 4", &[(1, "is a whole number"), (2, "is a whole number")]);
    refused("[budget]\nepsilon = 1\n[tables]", &[(3, "no tables")]);
    refused("[budget]\nepsilon = 1\n[tables]\na = 3", &[(4, "write `[tables.a]`")]);
    refused(&with("[table.b]"), &[(7, "unknown key `table` in the policy: write `[tables.name]`")]);
    refused(&with("[colour]"), &[(7, "the keys here are `budget`, `tables`, `timing`")]);
    refused(&with("x = "), &[(7, "this is not TOML")]);
    refused(&with("x = \ny = ="), &[(7, "not TOML"), (8, "not TOML")]);
    refused(&with("unit = 'row'"), &[(7, "`unit` is written twice")]);
    refused(
        &with("[tables.a]\nsource = 'b'"),
        &[(7, "`a` is written twice"), (8, "`source` is written twice")],
    );
    refused(&with("unit = 'row'\nmax_groups = 0"), &[(7, "twice"), (8, "`max_groups`")]);
    refused(&with("[tables.B]\nsource = 'b'\nunit = 'row'"), &[(7, "write `[tables.b]`")]);
    let long = "x".repeat(64);
    refused(&with(&format!("[tables.{long}]\nsource = 'b'\nunit = 'row'")), &[(7, "at most 63")]);
    refused(&with("[tables.'my data']\nsource = 'b'\nunit = 'row'"), &[(7, "tables.my_data")]);
}

#[test]
fn mistakes_of_the_budget() {
    refused(&with_budget(""), &[(1, "no `epsilon`: write `epsilon = 1.0`")]);
    refused(&with_budget("epsilon = '1'"), &[(2, "`epsilon` in `[budget]` is a text: write")]);
    for bad in ["0", "-1", "nan", "inf", "1e999"] {
        refused(&with_budget(&format!("epsilon = {bad}")), &[(2, "epsilon must be a finite")]);
    }
    for bad in ["-1e-9", "1", "nan", "inf"] {
        let text = with_budget(&format!("epsilon = 1\ndelta = {bad}"));
        refused(&text, &[(3, "`delta` is out of range: delta must be a number of at least 0")]);
    }
    refused(
        &with_budget("epsilon = 1\naccounting = 'rdp'\nneighbours = 'friends'"),
        &[
            (3, "`rdp` is not a choice for `accounting`: write `accounting = \"pure\"` or"),
            (4, "`neighbours = \"replace\"`"),
        ],
    );
    refused(&with_budget("epsilon = 1\nneighbors = 'replace'"), &[(3, "write `neighbours = ")]);
    refused(&with_budget("epsilon = 1\naccounting = 'zcdp'"), &[(3, "needs a `delta` above 0")]);
    refused(&with_budget("epsilon = 1\nper_query = 1.5"), &[(3, "more than the whole")]);
    refused(&with_budget("epsilon = 1\nper_query = 0"), &[(3, "`per_query` is out of range")]);
}

#[test]
fn mistakes_of_a_table() {
    refused(
        &with("[tables.b]"),
        &[(7, "no `source`"), (7, "no `unit`: write `unit = \"column\"` or `unit = \"row\"`")],
    );
    refused(&with("[tables.b]\nsource = ''\nunit = 3"), &[(8, "empty text"), (9, "whole number")]);
    refused(
        &with("[tables.b]\nsource = 'b'\npublic = true\nunit = 'x'\nmax_groups = 2\ncolumns = {}"),
        &[(10, "is public, so nobody's, and has `unit`"), (11, "`max_groups`"), (12, "`columns`")],
    );
    refused(&with("[tables.b]\nsource = 'b'\npublic = 'yes'"), &[(9, "`public = true`")]);
    refused(&with("key = 'x'"), &[(7, "`key` is for public tables and `a` is protected")]);
    for bad in ["''", "[]", "[1]", "['a', '']", "3"] {
        let text = with(&format!("[tables.b]\nsource = 'b'\npublic = true\nkey = {bad}"));
        refused(&text, &[(10, "`key = \"column\"`")]);
    }
    let text = with("[tables.b]\nsource = 'b'\npublic = true\nkey = ['x', 'y', 'x']");
    refused(&text, &[(10, "`x` is written twice")]);
    for bad in ["0", "-1", "1048577", "99999999999999999999"] {
        refused(&with(&format!("max_groups = {bad}")), &[(7, "from 1 to 1048576")]);
        refused(&with(&format!("max_rows_per_group = {bad}")), &[(7, "from 1 to 1048576")]);
    }
    assert!(parse(&with("max_groups = 1048576")).is_ok());
    refused(&with("max_groups = 1.5"), &[(7, "is a real number")]);
    refused(
        &with("[tables.b]\nsource = 'b'\nunit = 'row'\nmax_groups = 2\nmax_rows_per_group = 2"),
        &[(10, "since a row is one row of one group"), (11, "since a row is one row")],
    );
    refused(
        &with("[tables.a.columns]\nage = {}\nid = { hidden = true }"),
        &[(9, "column `id` of table `a` says whose row it is and is hidden")],
    );
}

#[test]
fn mistakes_of_foreign_keys() {
    let via = |references: &str| {
        with(&format!(
            "[tables.b]\nsource = 'b'\nunit = {{ column = 'x', references = '{references}' }}"
        ))
    };
    assert!(parse(&via("a.id")).is_ok());
    refused(&via("nowhere.id"), &[(9, "`nowhere`, which is not a table of this policy: add")]);
    refused(&via("aa.id"), &[(9, "write `references = \"a.id\"`")]);
    for bad in ["a", "a.", ".id"] {
        refused(&via(bad), &[(9, "write `references = \"table.column\"`")]);
    }
    refused(&via("b.id"), &[(9, "in a circle, `b` → `b`")]);
    refused(
        &with("[tables.b]\nsource = 'b'\nunit = { colum = 'x' }"),
        &[(9, "has no `column`"), (9, "has no `references`"), (9, "write `column = ")],
    );
    let to = |target: &str| format!("{}[tables.c]\nsource = 'c'\n{target}", via("c.id"));
    refused(&to("public = true"), &[(9, "`c`, which is public")]);
    refused(&to("unit = 'row'"), &[(9, "where every row is someone else")]);
    refused(&to("unit = { column = 'y', references = 'b.id' }"), &[(9, "`b` → `c` → `b`")]);
    refused(
        &to("unit = 'who'\ncolumns = { id = { hidden = true } }"),
        &[(9, "column `id` of table `c` says whose row it is and is hidden")],
    );
    // A table that leads to a cycle is not on it; a table with another mistake still counts.
    let text = to("unit = { column = 'y', references = 'd.id' }\n\
        [tables.d]\nsource = 'd'\nunit = { column = 'y', references = 'c.id' }\nmax_groups = 0");
    refused(&text, &[(12, "`c` → `d` → `c`"), (16, "max_groups")]);
}

#[test]
fn mistakes_of_bounds_and_grids() {
    refused(&with("[tables.a.columns]\nx = [0, 1]"), &[(8, "is a list: write `x = { bounds")]);
    refused(&with_column("hiden = true"), &[(8, "write `hidden = true`")]);
    refused(&with_column("nullable = 1, hidden = 'yes'"), &[(8, "nullable"), (8, "hidden")]);
    for bad in ["[]", "[1]", "[1, 2, 3]", "['a', 'b']"] {
        refused(&with_column(&format!("bounds = {bad}")), &[(8, "are not two numbers")]);
    }
    refused(&with_column("bounds = 3"), &[(8, "is a whole number: write `bounds = [low, high]`")]);
    for bad in ["[0, inf]", "[nan, 1]", "[-1e999, 0]"] {
        refused(&with_column(&format!("bounds = {bad}")), &[(8, "are not finite")]);
    }
    for bad in ["[2, 1]", "[1, 1]"] {
        refused(&with_column(&format!("bounds = {bad}")), &[(8, "write the lower first")]);
    }
    refused(&with_column("bounds = [-1.7e308, 1.7e308]"), &[(8, "2^30 grid steps apart; write")]);
    for bad in ["0", "-0.5", "nan", "inf"] {
        let text = with_column(&format!("bounds = [0, 1], grid = {bad}"));
        refused(&text, &[(8, "a finite number above 0")]);
    }
    refused(
        &with_column("bounds = [0, 5000], grid = 1e-9"),
        &[(8, "2^30 grid steps apart; write a `grid` from 7.62939453125e-6 to 5000.0")],
    );
    refused(&with_column("bounds = [0, 1], grid = 100"), &[(8, "grid steps apart")]);
    refused(&with_column("bounds = [0, 1], grid = 1e-320"), &[(8, "grid must be a power of two")]);
    refused(&with_column("grid = 1"), &[(8, "has a `grid` and no bounds")]);
    // The bounds are wrong, so there is no message about how they fit the grid.
    refused(&with_column("bounds = [2, 1], grid = 1e-9"), &[(8, "write the lower first")]);
}

#[test]
fn bounds_of_dates_and_times() {
    let bounds = |said: &str| {
        let policy = parse(&with_column(said)).unwrap();
        let known = policy.tables[0].protection().unwrap().columns[0].bounds;
        known.unwrap().times().unwrap()
    };
    let (low, high) = bounds("type = 'date', bounds = [2024-02-28, 2024-02-29]");
    assert_eq!((low.to_string().as_str(), high.to_string().as_str()), ("2024-02-28", "2024-02-29"));
    assert_eq!(high.end() + 1 - low.microseconds(), 2 * 86_400_000_000);
    let (low, high) = bounds("bounds = [1969-12-31T23:59:59.5, 2024-01-01 00:00:00]");
    assert_eq!(
        (low.microseconds(), low.to_string()),
        (-500_000, "1969-12-31 23:59:59.5".to_owned())
    );
    assert_eq!((high.is_day(), high.end()), (false, high.microseconds()));
    assert!(parse(&with_column("type = 'time', bounds = [0000-01-01, 9999-12-31]")).is_ok());

    let wrong = |said: &str, message: &str| refused(&with_column(said), &[(8, message)]);
    wrong("bounds = [2024-01-01, 5]", "are of different kinds");
    wrong("bounds = [2024-01-01, 2024-01-01T12:00:00]", "are of different kinds");
    wrong("bounds = ['2024-01-01', '2024-12-31']", "without quotes");
    wrong(
        "bounds = [2024-03-01, 2024-02-01]",
        "go from 2024-03-01 to 2024-02-01: write the earlier",
    );
    wrong("bounds = [2024-03-01, 2024-03-01]", "write the earlier first");
    wrong("bounds = [12:00:00, 13:00:00]", "contain a time of day");
    wrong("bounds = [2024-01-01T00:00:00Z, 2025-01-01T00:00:00Z]", "contain a time with a zone");
    wrong(
        "type = 'date', bounds = [2024-01-01T00:00:00, 2025-01-01T00:00:00]",
        "holds dates and its",
    );
    wrong("type = 'date', bounds = [1, 2]", "its `bounds` are numbers");
    wrong("type = 'integer', bounds = [2024-01-01, 2025-01-01]", "write `type = \"date\"`");
    wrong("bounds = [2024-01-01, 2025-01-01], grid = 1", "remove `grid`");
    wrong("bounds = [2024-01-01, 2025-01-01], values = [2024-02-01]", "keep one of the two");
}

#[test]
fn mistakes_of_values() {
    refused(&with_column("values = 'a'"), &[(8, "is a text: write `values")]);
    refused(&with_column("values = []"), &[(8, "are empty")]);
    refused(&with_column("values = [1, 2, 1, 1]"), &[(8, "contain 1 twice")]);
    refused(&with_column("values = [0.0, -0.0]"), &[(8, "contain 0.0 twice")]);
    refused(&with_column("values = [1, 'a', 2.0]"), &[(8, "are whole numbers and texts")]);
    refused(&with_column("values = [1, 2.5]"), &[(8, "all of one kind, e.g. 2.0 for 2")]);
    for (bad, found) in [
        ("[1]", "a list"),
        ("{ a = 1 }", "a table"),
        ("nan", "not finite"),
        ("9223372036854775808", "beyond 64 bits"),
        ("07:30:00", "a time"),
        ("1985-06-30T07:30:00", "a time"),
    ] {
        refused(&with_column(&format!("values = [{bad}]")), &[(8, found)]);
    }
    let many: Vec<String> = (0..100_001).map(|value| value.to_string()).collect();
    let text = with_column(&format!("values = [{}]", many.join(", ")));
    refused(&text, &[(8, "are 100001, more than 100000")]);
    let text = with_column(&format!("values = [{}]", many[1..].join(",\n")));
    assert_eq!(
        parse(&text).unwrap().tables[0].protection().unwrap().columns[0]
            .values
            .as_ref()
            .map(Vec::len),
        Some(100_000)
    );
    refused(
        &with_column("bounds = [0, 1], values = ['a']"),
        &[(8, "has `bounds`, which are for numbers, and `values` that are texts")],
    );
    refused(
        &with_column("bounds = [0, 1], values = [0, 2]"),
        &[(8, "contain 2, which is outside")],
    );
}

#[test]
fn what_is_rarely_meant_is_allowed_with_a_warning() {
    let warnings = |lines: &str| parse(&with_budget(lines)).unwrap().warnings;
    assert_eq!(warnings("epsilon = 10\ndelta = 0.009"), [""; 0]);
    let all = warnings("epsilon = 20\ndelta = 0.01\nper_query = 6");
    assert_eq!(all.len(), 2);
    assert!(all[0].starts_with("line 2: `epsilon` = 20 protects little: someone"), "{}", all[0]);
    assert!(all[1].starts_with("line 3: `delta` = 0.01 protects little"), "{}", all[1]);
    let one = warnings("epsilon = 8\nper_query = 6");
    assert!(one[0].starts_with("line 3: `per_query` = 6 is much for one query"), "{}", one[0]);
    assert!(warnings("epsilon = 0.5")[0].contains("off by 20 on average"));
}

#[test]
fn a_file_is_named_in_every_message() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("clinic.toml");
    let missing = Policy::read(&path).unwrap_err().to_string();
    assert!(missing.contains("clinic.toml cannot be read"), "{missing}");
    std::fs::write(&path, CLINIC).unwrap();
    assert_eq!(Policy::read(&path).unwrap().folder, folder.path());
    std::fs::write(&path, with_column("bound = [0, 1]")).unwrap();
    let error = Policy::read(&path).unwrap_err().to_string();
    assert!(
        error.ends_with(
            "clinic.toml:8: unknown key `bound` in column `x`: write `bounds = [low, high]`"
        ),
        "{error}"
    );
    std::fs::write(&path, b"\xff\xfe").unwrap();
    assert!(Policy::read(&path).unwrap_err().to_string().contains("UTF-8"));
}

#[test]
fn a_bent_file_never_panics() {
    let mut state = 0x9E37_79B9_7F4A_7C15_u64;
    let mut draw = |below: usize| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state % below as u64) as usize
    };
    let pieces: [&[u8]; 12] =
        [b"[", b"]", b"=", b"\"", b"\n", b"nan", b"-", b"9999999999", b"e", b"{", b"}", b"."];
    let (mut good, mut bad) = (0, 0);
    for _ in 0..4_000 {
        let mut bytes = CLINIC.as_bytes().to_vec();
        for _ in 0..=draw(4) {
            let at = draw(bytes.len());
            match draw(4) {
                0 => bytes[at] = draw(256) as u8,
                1 => drop(bytes.remove(at)),
                2 => drop(bytes.splice(at..at, pieces[draw(pieces.len())].iter().copied())),
                _ => {
                    let (from, until) = (at, (at + draw(60)).min(bytes.len()));
                    let piece = bytes[from..until].to_vec();
                    let to = draw(bytes.len());
                    drop(bytes.splice(to..to, piece));
                }
            }
        }
        match parse(&String::from_utf8_lossy(&bytes)) {
            Ok(_) => good += 1,
            Err(error) => {
                bad += 1;
                assert!(!error.problems().is_empty() && !error.to_string().is_empty());
            }
        }
    }
    // Both must happen, or the test changes too little or too much.
    assert!(good > 100 && bad > 1_000, "{good} {bad}");
}

fn schema(columns: &[(&str, ColumnKind, bool)]) -> Vec<(String, ColumnKind, bool)> {
    columns.iter().map(|(name, kind, nullable)| ((*name).to_owned(), *kind, *nullable)).collect()
}

#[test]
fn a_template_parses_and_tells_what_to_decide() {
    let columns = schema(&[
        ("id", ColumnKind::Integer, false),
        ("patientId", ColumnKind::Text, false),
        ("age", ColumnKind::Integer, false),
        ("cost", ColumnKind::Real, true),
        ("first name", ColumnKind::Text, true),
        ("sex", ColumnKind::Text, true),
        ("smoker", ColumnKind::Boolean, true),
        ("day", ColumnKind::Date, true),
        ("at", ColumnKind::Time, true),
        ("row", ColumnKind::Other, true),
        ("we\"ird\n] = 3", ColumnKind::Integer, true),
        ("age", ColumnKind::Integer, true),
    ]);
    let text = template("Visits 2020", "C:\\data\\\"visits\".csv", &columns);
    let policy = parse(&text).unwrap();
    assert_eq!(policy.warnings, [""; 0]);
    let table = policy.table("visits_2020").unwrap();
    assert_eq!(table.source, "C:\\data\\\"visits\".csv");
    let protection = table.protection().unwrap();
    assert_eq!(protection.unit, UnitPolicy::Column("patientId".to_owned()));
    assert!(protection.column("first name").unwrap().hidden);
    for line in [
        "# unit = \"id\"",
        "# unit = \"row\"",
        "# id = { hidden = true }",
        "# age = { bounds = [0, 120], nullable = false }",
        "# smoker = { values = [false, true] }",
        "# at = { bounds = [2020-01-01, 2024-12-31] }   # what can be",
    ] {
        assert!(text.lines().any(|other| other == line), "{line}\n{text}");
    }
    assert!(text.contains("never from the data") && text.contains("73.2 %"));
    let widest = text.lines().take_while(|line| !line.contains(".columns]"));
    assert!(widest.map(|line| line.chars().count()).max() <= Some(96), "{text}");

    // Once every line is decided, it is still valid.
    let decided: String = text
        .lines()
        .map(|line| match line.strip_prefix("# ") {
            Some(line) if line.contains(" = ") && !line.starts_with("unit") => line,
            _ => line,
        })
        // Limits are declared instead.
        .filter(|line| !line.starts_with("contributions"))
        .map(|line| line.replace("[low, high]", "[-5, 5]") + "\n")
        .collect();
    let decided = parse(&decided).unwrap();
    assert_eq!(decided.tables[0].protection().unwrap().columns.len(), 10);
}

#[test]
fn a_unit_is_guessed_by_name_alone() {
    let guess = |names: &[&str]| {
        let columns: Vec<_> =
            names.iter().map(|name| ((*name).to_owned(), ColumnKind::Integer, true)).collect();
        let policy = parse(&template("t", "t.csv", &columns)).unwrap();
        policy.tables[0].protection().unwrap().unit.clone()
    };
    let column = |name: &str| UnitPolicy::Column(name.to_owned());
    assert_eq!(guess(&["id", "visit_id", "user_id"]), column("user_id"));
    assert_eq!(guess(&["id", "visit_id"]), column("visit_id"));
    assert_eq!(guess(&["age", "ID"]), column("ID"));
    assert_eq!(guess(&["Person"]), column("Person"));
    assert_eq!(guess(&["user_agent", "paid", "width"]), UnitPolicy::Row);
    assert_eq!(guess(&[]), UnitPolicy::Row);
}

#[test]
fn a_line_of_bounds_is_read_back() {
    for (name, low, high) in [
        ("age", 0.0, 120.0),
        ("a b", -0.5, 1e300),
        ("é", -1e15, 1e15),
        ("x\"y\\", f64::MIN_POSITIVE, 1.0),
    ] {
        let line = bounds_line(name, low, high);
        let error = match parse(&with(&format!("[tables.a.columns]\n{line}"))) {
            Ok(policy) => {
                let column = &policy.tables[0].protection().unwrap().columns[0];
                assert_eq!(
                    (column.name.as_str(), column.bounds),
                    (name, Some(ColumnBounds::Numbers(low, high)))
                );
                continue;
            }
            Err(error) => error,
        };
        panic!("{line}: {error}");
    }
    assert_eq!(bounds_line("age", 0.0, 120.0), "age = { bounds = [0, 120] }");
    refused(
        &with(&format!("[tables.a.columns]\n{}", bounds_line("x", f64::NAN, 1.0))),
        &[(8, "not finite")],
    );
}

#[test]
fn a_policy_that_says_nothing_of_time_is_on_schedule() {
    let policy = parse(CLINIC).unwrap();
    assert_eq!(policy.timing, TimingPolicy::default());
    assert!(policy.timing.schedule);
    assert_eq!(policy.timing.step, Duration::from_millis(100));
    assert_eq!(policy.timing.new_queries_per_minute, Some(120));
    assert!(policy.tables.iter().filter_map(TablePolicy::protection).all(|p| p.rows.is_none()));
}

#[test]
fn time_and_rows_are_read() {
    let text = with(
        "rows = 250_000\n[timing]\nschedule = 'off'\nstep_ms = 20\nnew_queries_per_minute = 7",
    );
    let policy = parse(&text).unwrap();
    let timing = policy.timing;
    assert_eq!((timing.schedule, timing.step), (false, Duration::from_millis(20)));
    assert_eq!(timing.new_queries_per_minute, Some(7));
    assert_eq!(policy.tables[0].protection().unwrap().rows, Some(250_000));
    let unlimited = parse(&with("[timing]\nnew_queries_per_minute = 'off'")).unwrap();
    assert_eq!(unlimited.timing.new_queries_per_minute, None);
    assert!(unlimited.timing.schedule);
}

#[test]
fn mistakes_of_time() {
    for (line, message) in [
        ("schedule = 'of'", "`of` is not a choice for `schedule`: write `schedule = \"on\"`"),
        ("schedule = false", "`schedule` in `[timing]` is a boolean"),
        ("shedule = 'on'", "unknown key `shedule` in `[timing]`: write `schedule"),
        ("step_ms = 9", "`step_ms` in `[timing]` is out of range: write `step_ms = 100`"),
        ("step_ms = 1.5", "`step_ms` in `[timing]` is a real number"),
        ("new_queries_per_minute = 0", "is out of range"),
        ("new_queries_per_minute = 'on'", "`on` is not a choice"),
        ("new_queries_per_minute = []", "is a list"),
    ] {
        refused(&with(&format!("[timing]\n{line}")), &[(8, message)]);
    }
    refused(&with("rows = 0"), &[(7, "`rows` in table `a` is out of range: write `rows")]);
    refused(&with("rows = 'many'"), &[(7, "`rows` in table `a` is a text")]);
    let public = "[tables.r]\nsource = 'r.csv'\npublic = true\nrows = 5";
    refused(&with(public), &[(10, "is public, so nobody's, and has `rows`")]);
}

#[test]
fn the_least_of_a_query_has_a_default_that_refuses_no_query_that_says_nothing() {
    let least = |budget: &str| parse(&with_budget(budget)).unwrap().budget.min_per_query.get();
    for (budget, expected) in [
        ("epsilon = 1.0", 0.001),
        ("epsilon = 5.0", 0.005),
        ("epsilon = 1000.0", 0.01),
        ("epsilon = 1.0\nper_query = 0.0001", 0.0001),
        ("epsilon = 1.0\nmin_per_query = 0.1", 0.1),
        ("epsilon = 1.0\nmin_per_query = 1e-9", 1e-9),
        ("epsilon = 1.0\ndelta = 1e-6\naccounting = 'zcdp'", 0.01),
        ("epsilon = 50.0\ndelta = 1e-6\naccounting = 'zcdp'", 0.1),
    ] {
        assert_eq!(least(budget), expected, "{budget}");
    }
    refused(
        &with_budget("epsilon = 1.0\nper_query = 0.1\nmin_per_query = 0.2"),
        &[(4, "`min_per_query` = 0.2 is more than `per_query` = 0.1")],
    );
    refused(&with_budget("epsilon = 1.0\nmin_per_query = 0"), &[(3, "`min_per_query` is out of")]);
}
