use super::*;

fn columns() -> Vec<SchemaColumn> {
    let names = ["Age", "SEX", "income", "BORN AT", "code", "smoker"];
    names.map(|name| (name.to_owned(), ColumnKind::Text, true)).to_vec()
}

fn imported(name: &str, text: &str) -> Result<(Vec<Declared>, String), String> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(name);
    std::fs::write(&path, text).unwrap();
    let (mut declared, mut said) = (Vec::new(), String::new());
    let done = import(&path, &columns(), &mut declared, &mut |line| said += line);
    done.map(|()| (declared, said)).map_err(|error| error.to_string())
}

fn expected() -> Vec<Declared> {
    let of = |name: &str, kind| Declared { kind: Some(kind), ..Declared::named(name) };
    let ends = |low: &str, high: &str| Some((low.to_owned(), high.to_owned()));
    let texts = |all: &[&str]| all.iter().map(|text| Value::Text((*text).to_owned())).collect();
    let format = TimeFormat::parse("%d.%m.%Y").ok();
    vec![
        Declared { bounds: ends("0", "120"), ..of("Age", ColumnKind::Integer) },
        Declared { values: texts(&["f", "m"]), ..of("SEX", ColumnKind::Text) },
        Declared { bounds: ends("-10.5", "1000"), ..of("income", ColumnKind::Real) },
        Declared {
            format,
            bounds: ends("2020-01-01", "2024-12-31"),
            ..of("BORN AT", ColumnKind::Date)
        },
        Declared {
            values: vec![Value::Integer(1), Value::Integer(2)],
            ..of("code", ColumnKind::Integer)
        },
    ]
}

#[test]
fn csv_and_json_say_the_same() {
    let csv = "Variable;Data_Type;Range;Labels;Date format;Description\n\
        age;int;0-120;;;years\nsex;categorical;;f = female; m = male;;\n"
        .replace("f = female; m = male", "\"f = female; m = male\"")
        + "Income;float;-10.5 to 1000;;;\nborn_at;date;2020-01-01..2024-12-31;;%d.%m.%Y;\n\
           code;integer;;1|2;;\nelsewhere;text;;;;\n";
    let (declared, said) = imported("d.csv", &csv).unwrap();
    assert_eq!(declared, expected());
    assert!(said.contains("does not have: elsewhere") && said.contains("public knowledge"));
    let json = r#"[{"column": "age", "type": "int", "range": [0, 120]},
        {"name": "SEX", "type": "factor", "labels": {"f": "female", "m": "male"}},
        {"column": "income", "type": "number", "min": -10.5, "max": 1000},
        {"column": "BORN AT", "type": "date", "format": "%d.%m.%Y", "range": "[2020-01-01, 2024-12-31]"},
        {"column": "code", "type": "integer", "values": [1, 2, 1]}]"#;
    assert_eq!(imported("d.json", json).unwrap().0, expected());
    let json = r#"{"age": {"type": "int", "range": "0..120", "labels": []}}"#;
    assert_eq!(imported("d.json", json).unwrap().0, expected()[..1]);
}

#[test]
fn what_was_said_already_comes_first() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("d.csv");
    std::fs::write(&path, "column,type,range\nage,integer,0-120\n").unwrap();
    let mut declared = vec![Declared {
        kind: Some(ColumnKind::Real),
        bounds: Some(("5".to_owned(), "9".to_owned())),
        ..Declared::named("Age")
    }];
    let before = declared.clone();
    import(&path, &columns(), &mut declared, &mut |_| {}).unwrap();
    assert_eq!(declared, before);
}

#[test]
fn mistakes_are_told_with_their_entry() {
    for (name, text, says) in [
        ("d.csv", "", "no heading"),
        ("d.csv", "a,b\n1,2\n", "no `column`"),
        ("d.csv", "column,type\nage,wizard\n", "entry 1: its type"),
        ("d.csv", "column,type\n,integer\n", "names no column"),
        ("d.csv", "column,type,range\nage,integer,many\n", "no two ends"),
        ("d.csv", "column,type,range\nage,integer,a..b\n", "not a number"),
        ("d.csv", "column,type,range\nage,real,1..inf\n", "not a number"),
        ("d.csv", "column,type,range\nage,date,1..2\n", "not a date"),
        ("d.csv", "column,type,labels\nage,integer,a|b\n", "not a whole number"),
        ("d.csv", "column,format\nage,%q\n", "not understood"),
        ("d.csv", "column,type\nage,caf\u{0}e\n", "its type"),
        ("d.json", "{", "not JSON, in line 1"),
        ("d.json", "[1]", "neither a list of objects"),
        ("d.json", "3", "neither a list of objects"),
    ] {
        let said = imported(name, text).unwrap_err();
        assert!(said.contains(says), "{text}: {said}");
    }
    assert!(imported("d.json", &"[".repeat(200_000)).unwrap_err().contains("not JSON"));
}

#[test]
fn ranges_are_written_in_many_ways() {
    for range in ["0-120", "0..120", "0 to 120", "[0, 120]", "(0;120)", " 0 – 120 ", "0 - 120"] {
        assert_eq!(parted(range).unwrap(), ("0".to_owned(), "120".to_owned()), "{range}");
    }
    assert_eq!(parted("-5--1").unwrap(), ("-5".to_owned(), "-1".to_owned()));
    assert_eq!(parted("1e-3-5").unwrap(), ("1e-3".to_owned(), "5".to_owned()));
    assert!(parted("").is_err() && parted("7").is_err() && parted("-7").is_err());
}
