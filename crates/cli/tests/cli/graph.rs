//! `demure graph`, and what `demure mechanism` has of noise that fits the data: median, trimmed-mean, mode, top-k.
//!
//! Noise is drawn from the operating system, so answers are checked at an ε so large that noise of a visible size has
//! probability below e^−100, and where they can be told from wrong ones otherwise.

use super::{Run, demure, directory, file, json, number, run};
use datafusion::arrow::array::{
    Array, ArrayRef, Float64Array, Int32Array, Int64Array, RecordBatch, StringArray,
};
use datafusion::parquet::arrow::ArrowWriter;
use serde_json::{Value, json as object};
use std::io::Write;
use std::process::{Command, Stdio};
use std::sync::Arc;

/// A clique of 6 and a path: 20 triangles; degrees 5, 5, 5, 5, 5, 6, 2, 1.
const EDGES: &str = "# a clique and a tail\n1 2\n1 3\n1 4\n1 5\n1 6\n2 3\n2 4\n2 5\n2 6\n3 4\n3 5\n\
                     3 6\n4 5\n4 6\n5 6\n6 7\n7 8\n8 7\n2 1\n3 3\n";
const CURRENCIES: [&str; 3] = ["--epsilon 40000", "--epsilon 40000 --delta 1e-6", "--rho 8e8"];

fn edges() -> &'static str {
    file("clique.txt", EDGES);
    "clique.txt --vertices 10"
}

fn mistake(run: &Run, says: &str, call: &str) {
    assert_eq!((run.code, run.out.as_str()), (Some(2), ""), "{call}\n{}", run.err);
    assert!(run.err.starts_with("error: ") && run.err.contains("\nhint: "), "{call}\n{}", run.err);
    assert!(run.err.contains(says), "{call}\nno `{says}` in: {}", run.err);
    assert!(!run.err.contains("31337"), "{call}\n{}", run.err);
}

#[test]
fn at_a_huge_epsilon_every_statistic_is_exact_in_every_currency_and_relation() {
    let edges = edges();
    for currency in CURRENCIES {
        for relation in ["add-remove", "replace"] {
            let of = |call: &str| {
                json(&format!("graph {call} {edges} {currency} --neighbours {relation}"))
            };
            assert_eq!(of("triangles")["value"], 20, "{currency}");
            assert_eq!(of("stars")["value"], 5 * 10 + 15 + 1, "{currency}"); // Σ C(d, 2)
            assert_eq!(of("stars --k 3")["value"], 5 * 10 + 20, "{currency}"); // Σ C(d, 3)
            let degrees = of("degrees");
            assert_eq!(degrees["value"], object!({"0": 2, "1": 1, "2": 1, "5": 5, "6": 1}));
            assert_eq!(number(&degrees, "error_95"), 0.0, "{currency}");
            let sequence = of("degrees --form sequence");
            assert_eq!(
                sequence["value"],
                object!([0.0, 0.0, 1.0, 2.0, 5.0, 5.0, 5.0, 5.0, 5.0, 6.0])
            );
            let share = of("clustering");
            assert!((number(&share, "value") - 60.0 / 66.0).abs() < 1e-9, "{share}");
            assert_eq!((&share["triangles"], &share["wedges"]), (&20.into(), &66.into()));
            assert_eq!(share["neighbours"], relation);
        }
    }
}

#[test]
fn every_method_answers_within_its_budget() {
    let edges = edges();
    let both = "--epsilon 4000 --delta 1e-6";
    for method in ["auto", "ladder", "classic-ladder", "smooth", "private-bound", "ptr", "laplace"]
    {
        let answer = json(&format!("graph triangles {edges} {both} --method {method}"));
        assert_eq!(answer["value"], 20, "{method}");
        assert!(number(&answer, "epsilon") <= 4000.0 && number(&answer, "delta") <= 1e-6);
        let known =
            ["private-bound", "ptr", "laplace"].contains(&method) || answer["method"] == "laplace";
        assert_eq!(answer["error_95"].is_number(), known, "{answer}");
        assert_eq!(answer["note"].is_string(), !known, "{answer}");
        if method != "auto" {
            assert_eq!(answer["method"], method);
        }
        let pure = answer["method"] != "smooth" && !["private-bound", "ptr"].contains(&method);
        assert_eq!(number(&answer, "delta") == 0.0, pure, "{answer}");
    }
    for method in ["private-bound", "ptr"] {
        let run = demure(&format!("graph triangles {edges} --epsilon 1 --method {method}"));
        mistake(&run, "(ε,δ)", method);
    }
    // The bound that was released is what the error is made of.
    let line = format!("graph triangles {edges} {both} --method private-bound");
    assert!(number(&json(&line), "bound") >= 4.0);
}

#[test]
fn an_error_is_shown_only_where_it_is_no_fact_about_the_graph() {
    // Two graphs that differ in everything; the explanation and the error are the same.
    file("dense.txt", EDGES);
    file("sparse.txt", "1 2\n");
    for method in ["ladder", "smooth", "laplace", "auto"] {
        let of = |file: &str| {
            let mut answer = json(&format!(
                "graph triangles {file} --vertices 900 --epsilon 1 --method {method}"
            ));
            answer.as_object_mut().unwrap().remove("value");
            answer
        };
        assert_eq!(of("dense.txt"), of("sparse.txt"), "{method}");
        let explain = |file: &str| {
            demure(&format!(
                "graph triangles {file} --vertices 900 --epsilon 1 --method {method} --explain"
            ))
        };
        let (there, missing) = (explain("dense.txt"), explain("no-such-file.txt"));
        assert_eq!((there.code, &there.out), (Some(0), &missing.out), "{method}");
        for word in ["method", "why", "sensitivity", "expected_error", "error_95", "guarantee"] {
            assert!(there.out.contains(word), "{method} {word}\n{}", there.out);
        }
    }
    let explained = json("graph triangles --vertices 902 --epsilon 1 --explain");
    assert_eq!(
        (&explained["method"], number(&explained, "sensitivity")),
        (&"ladder".into(), 900.0)
    );
    assert!(explained["error_95"].is_null() && explained["value"].is_null());
    // What is public of very many vertices needs no memory for them.
    let many = json("graph triangles --vertices 4294967295 --epsilon 1 --explain");
    assert_eq!(number(&many, "sensitivity"), 4_294_967_293.0);
    // Few vertices: the noise of the global sensitivity is less, and its error is public.
    let few = json("graph triangles --vertices 5 --epsilon 1 --explain");
    assert_eq!(few["method"], "laplace");
    assert!((8.0..10.0).contains(&number(&few, "error_95")), "{few}");
}

#[test]
fn an_undeclared_number_of_vertices_is_warned_of_and_not_explained() {
    file("dense.txt", EDGES);
    let drawn = demure("graph triangles dense.txt --epsilon 400");
    assert_eq!((drawn.code, drawn.out.as_str()), (Some(0), "20\n"));
    assert!(
        drawn.err.starts_with("warning: ") && drawn.err.contains("--vertices"),
        "{}",
        drawn.err
    );
    let declared = demure("graph triangles dense.txt --vertices 8 --epsilon 400");
    assert!(!declared.err.contains("warning"), "{}", declared.err);
    for call in ["triangles", "stars --k 3", "degrees", "clustering"] {
        let told = |vertices: &str| -> Value {
            let line = format!("graph {call} dense.txt {vertices} --epsilon 400 --json");
            serde_json::from_str(&demure(&line).out).unwrap()
        };
        let (undeclared, declared) = (told(""), told("--vertices 9"));
        assert_eq!(
            (&undeclared["vertices"], &undeclared["vertices_declared"]),
            (&8.into(), &false.into())
        );
        assert_eq!(
            (&declared["vertices"], &declared["vertices_declared"]),
            (&9.into(), &true.into())
        );
    }
    for call in ["triangles", "stars --k 3", "degrees", "clustering"] {
        let explained = demure(&format!("graph {call} dense.txt --epsilon 1 --explain"));
        assert_eq!((explained.code, explained.err.as_str()), (Some(0), ""), "{call}");
        assert!(explained.out.contains("error_95"), "{}", explained.out);
    }
}

#[test]
fn no_answer_is_an_answer() {
    let edges = edges();
    // The local sensitivity is 4: nobody believes 1 without a far larger ε.
    let line = format!("graph triangles {edges} --epsilon 0.1 --delta 1e-9 --method ptr --bound 1");
    let none = demure(&line);
    assert_eq!((none.code, none.out.as_str()), (Some(1), "⊥\n"));
    assert!(none.err.starts_with("no answer (⊥)") && none.err.contains("\nhint: "), "{}", none.err);
    let none = demure(&format!("{line} --json"));
    assert_eq!(none.code, Some(1));
    let answer: Value = serde_json::from_str(&none.out).unwrap();
    assert!(answer["value"].is_null() && answer["error_95"].is_null());
    assert_eq!(answer["guarantee"], "(0.1, 1e-9)-DP");
    for call in ["mode", "top-k --k 1"] {
        let line = format!("mechanism {call} --counts a=2,b=1 --epsilon 0.1 --delta 1e-9");
        let none = demure(&line);
        assert_eq!((none.code, none.out.as_str()), (Some(1), "⊥\n"), "{call}");
        assert!(
            none.err.contains("no answer (⊥)") && none.err.contains("\nhint: "),
            "{}",
            none.err
        );
        let none = demure(&format!("{line} --json"));
        assert!(serde_json::from_str::<Value>(&none.out).unwrap()["value"].is_null());
    }
}

#[test]
fn hostile_files_are_told_of_without_their_contents() {
    let write = |name: &str, bytes: &[u8]| std::fs::write(directory().join(name), bytes).unwrap();
    let noise: Vec<u8> =
        (0..70_000u32).map(|i| (i.wrapping_mul(2_654_435_761) >> 24) as u8 | 1).collect();
    write("noise.bin", &noise);
    write("huge.txt", b"1 2\n31337 99999999999999999999\n");
    write("words.txt", b"31337 secret\n");
    write("half.txt", b"1 2\n31337\n");
    // A gzip header and the start of a deflate stream.
    write("cut.gz", &[0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3, 0x33, 0x54]);
    write("wrong.gz", &[0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3, 0xff, 0xff, 0xff, 0xff]);
    write("many.txt", b"1 2\n3 4\n31337 1\n");
    for call in ["triangles", "stars", "degrees", "clustering"] {
        for (name, says) in [
            ("noise.bin", "line 1"),
            ("huge.txt", "line 2"),
            ("words.txt", "line 1"),
            ("half.txt", "line 2"),
            ("cut.gz", "reading cut.gz"),
            ("wrong.gz", "reading wrong.gz"),
            ("many.txt", "more vertices than the 4 declared"),
            ("nowhere.txt", "reading nowhere.txt"),
            (".", "reading ."),
        ] {
            let line = format!("graph {call} {name} --vertices 4 --epsilon 1");
            mistake(&demure(&line), says, &line);
        }
        mistake(&demure(&format!("graph {call} --epsilon 1")), "no graph", call);
    }
    // Vertex numbers may be anything up to 2⁶⁴ − 1, and a file may be empty.
    write("large.txt", b"18446744073709551615 7\n7 9\n9 18446744073709551615\n");
    assert_eq!(json("graph triangles large.txt --vertices 5 --epsilon 400")["value"], 1);
    write("empty.txt", b"");
    for call in ["triangles", "stars", "degrees", "clustering"] {
        assert_eq!(
            demure(&format!("graph {call} empty.txt --epsilon 400")).code,
            Some(0),
            "{call}"
        );
    }
}

#[test]
fn bad_calls_of_graphs_are_named() {
    let edges = edges();
    for (call, says) in [
        ("triangles EDGES", "--epsilon"),
        ("triangles EDGES --epsilon 0", "epsilon"),
        ("triangles EDGES --epsilon 1 --rho 1", "cannot be used"),
        ("triangles EDGES --rho 1 --delta 1e-6", "--"),
        ("triangles EDGES --epsilon 1 --delta 0", "delta"),
        ("triangles EDGES --epsilon 1 --delta 1", "delta"),
        ("triangles EDGES --epsilon 1 --method best", "--method must be one of: auto"),
        ("triangles EDGES --epsilon 1 --bound 5", "--method ptr"),
        ("triangles EDGES --epsilon 1 --smoothness 5", "--method smooth"),
        ("triangles EDGES --epsilon 1 --method smooth --smoothness 5", "smaller t"),
        ("triangles EDGES --epsilon 1 --delta 1e-6 --method ptr --bound 0", "bound"),
        ("triangles x.txt --vertices 0 --epsilon 1", "--vertices"),
        ("stars EDGES --epsilon 1 --k 1", "--k must be at least 2"),
        ("stars --vertices 100000 --epsilon 1 --k 40 --explain", "--k must be small"),
        ("degrees EDGES --epsilon -1", "epsilon"),
    ] {
        let run = demure(&format!("graph {}", call.replace("EDGES", edges)));
        assert_eq!((run.code, run.out.as_str()), (Some(2), ""), "{call}\n{}", run.err);
        assert!(run.err.starts_with("error: ") && run.err.contains(says), "{call}\n{}", run.err);
    }
}

#[test]
fn an_edge_list_from_standard_input() {
    let mut child = Command::new(env!("CARGO_BIN_EXE_demure"))
        .args(["graph", "triangles", "-", "--vertices", "9", "--epsilon", "400"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(EDGES.as_bytes()).unwrap();
    let run = Run::of(child.wait_with_output().unwrap());
    assert_eq!((run.code, run.out.as_str()), (Some(0), "20\n"), "{}", run.err);
}

/// Writes columns as Parquet.
pub(super) fn parquet(name: &str, columns: Vec<(&str, ArrayRef)>) {
    let batch = RecordBatch::try_from_iter(columns).unwrap();
    let file = std::fs::File::create(directory().join(name)).unwrap();
    let mut writer = ArrowWriter::try_new(file, batch.schema(), None).unwrap();
    writer.write(&batch).unwrap();
    writer.close().unwrap();
}

#[test]
fn an_edge_list_in_parquet() {
    let pairs = EDGES.lines().filter(|line| !line.starts_with('#')).map(|line| {
        let (from, to) = line.split_once(' ').unwrap();
        (from.parse::<i64>().unwrap(), to.parse::<i32>().unwrap())
    });
    let (from, to): (Vec<i64>, Vec<i32>) = pairs.unzip();
    let from: ArrayRef = Arc::new(Int64Array::from(from));
    let to: ArrayRef = Arc::new(Int32Array::from(to));
    let times: ArrayRef = Arc::new(Float64Array::from(vec![0.5; from.len()]));
    parquet("edges.parquet", vec![("from", Arc::clone(&from)), ("to", to), ("time", times)]);
    let line = "graph triangles edges.parquet --vertices 9 --epsilon 400";
    assert_eq!(json(line)["value"], 20);
    mistake(&demure(&line.replace('9', "5")), "more vertices than the 5 declared", line);
    // What is no edge list is told of without its contents.
    parquet("one.parquet", vec![("from", Arc::clone(&from))]);
    let words: ArrayRef = Arc::new(StringArray::from(vec!["31337"; from.len()]));
    parquet("words.parquet", vec![("from", words), ("to", from)]);
    let odd: ArrayRef = Arc::new(Int64Array::from(vec![Some(1), Some(-31337)]));
    let gaps: ArrayRef = Arc::new(Int64Array::from(vec![Some(31337), None]));
    parquet("negative.parquet", vec![("a", Arc::clone(&odd)), ("b", Arc::clone(&odd))]);
    parquet("gaps.parquet", vec![("a", gaps), ("b", odd)]);
    std::fs::write(directory().join("cut.parquet"), b"PAR1 31337").unwrap();
    for (name, says) in [
        ("one.parquet", "first two columns"),
        ("words.parquet", "first two columns"),
        ("negative.parquet", "row 2"),
        ("gaps.parquet", "row 2"),
        ("cut.parquet", "damaged"),
    ] {
        let line = format!("graph degrees {name} --vertices 9 --epsilon 1");
        mistake(&demure(&line), says, &line);
    }
}

const NOISES: [(&str, &str); 12] = [
    ("auto", "--epsilon 1e5"),
    ("auto", "--epsilon 1e5 --delta 1e-6"),
    ("auto", "--rho 1e9"),
    ("lln", "--rho 1e9"),
    ("lln", "--epsilon 1e5 --delta 1e-6"),
    ("student", "--epsilon 1e5"),
    ("student", "--rho 1e9"),
    ("pareto", "--epsilon 1e5"),
    ("pareto", "--epsilon 1e5 --delta 1e-6"),
    ("pareto", "--rho 1e9"),
    ("laplace", "--epsilon 1e5 --delta 1e-6"),
    ("gaussian", "--epsilon 1e5 --delta 1e-6"),
];

#[test]
fn medians_and_trimmed_means_with_every_noise() {
    file("ages.csv", "age;city\n10;A\n20;A\n30;B\nx;B\n40;A\n1e9;A\n");
    let data = "ages.csv --column age --delimiter ; --bounds 0,50";
    for (noise, currency) in NOISES {
        let near = |call: &str, known: f64| {
            let answer = json(&format!("mechanism {call} {data} --noise {noise} {currency}"));
            let off = (number(&answer, "value") - known).abs();
            assert!(off < 0.5, "{call} {noise} {currency}: {off}");
            assert!(answer["error_95"].is_null() && answer["note"].is_string(), "{answer}");
            assert!(answer["guarantee"].is_string() && number(&answer, "sensitivity") == 50.0);
        };
        // 0, 10, 20, 30, 40, 50 where the cell that is no number counts as 0.
        near("median", 20.0);
        near("trimmed-mean --trim 0.2", 25.0);
        // Left out: 10, 20, 30, 40, 50, and three made-up rows, one of them at the lower bound.
        near("median --neighbours add-remove --size 8", 30.0);
    }
}

#[test]
fn what_a_noise_cannot_promise_is_refused() {
    let data = "--values 1,2,31337 --bounds 0,10";
    for (call, says) in [
        ("median --epsilon 1 --noise lln", "--rho"),
        ("median --epsilon 1 --noise laplace", "--delta"),
        ("median --epsilon 1 --noise gaussian", "--delta"),
        ("median --rho 1 --noise gaussian", "--delta"),
        ("median --epsilon 1 --neighbours add-remove", "--size"),
        ("trimmed-mean --epsilon 1 --neighbours add-remove", "replace only"),
    ] {
        mistake(&demure(&format!("mechanism {call} {data}")), says, call);
    }
    for (call, says) in [
        ("median --epsilon 1 --noise student --degrees 3", "degrees"),
        ("median --epsilon 1 --smoothness 3", "smaller t"),
        ("median --epsilon 1 --n 10", "--compare"),
        ("trimmed-mean --epsilon 1 --trim 0.5", "--trim"),
    ] {
        let run = demure(&format!("mechanism {call} {data}"));
        assert_eq!((run.code, run.out.as_str()), (Some(2), ""), "{call}");
        assert!(run.err.contains(says) && !run.err.contains("31337"), "{call}\n{}", run.err);
    }
    file("none.csv", "age\n");
    let none = demure("mechanism median none.csv --column age --bounds 0,9 --epsilon 1");
    mistake(&none, "too few rows", "no rows");
    let missing = demure("mechanism median none.csv --column wages --bounds 0,9 --epsilon 1");
    mistake(&missing, "no column `wages`", "no such column");
}

#[test]
fn comparing_and_explaining_look_at_no_data() {
    for call in ["median", "trimmed-mean"] {
        let line = format!("mechanism {call} --bounds 0,100 --epsilon 1");
        let explained = demure(&format!("{line} --explain no-such-file.csv --column x"));
        assert_eq!((explained.code, explained.err.as_str()), (Some(0), ""), "{call}");
        let compared = demure(&format!("{line} --compare --n 1001 no-such-file.csv --column x"));
        assert_eq!((compared.code, compared.err.as_str()), (Some(0), ""), "{call}");
        assert!(compared.out.contains("no data were looked at and nothing was spent"));
        assert!(compared.out.lines().filter(|line| line.contains('█')).count() >= 5);
        for reference in ["uniform", "log-normal"] {
            for (currency, methods) in [("", 5), ("--delta 1e-6", 8)] {
                let table =
                    json(&format!("{line} {currency} --compare --n 1001 --reference {reference}"));
                let rows = table["methods"].as_array().unwrap();
                assert!(rows.len() >= methods, "{table}");
                let of = |name: &str| {
                    let row = rows.iter().find(|row| row["method"] == name).unwrap();
                    number(row, "error_95")
                };
                if call == "median" {
                    // The table has what this is all about: by far less than the global noise.
                    assert!(of("smooth, pareto") < 0.5 * of("global Laplace"), "{table}");
                    assert!(of("exponential") < of("global Laplace"), "{table}");
                }
            }
        }
    }
    let rho = json("mechanism median --bounds 0,100 --rho 0.5 --compare --n 101");
    assert!(rho["methods"].to_string().contains("0.5-zCDP"), "{rho}");
}

#[test]
fn stable_answers_in_both_relations() {
    file("city.csv", &format!("city\n{}{}{}", "B\n".repeat(90), "A\n".repeat(60), "C\n".repeat(9)));
    for relation in ["add-remove", "replace"] {
        let budget = format!("--epsilon 8 --delta 1e-6 --neighbours {relation}");
        for data in ["city.csv --column city", "--counts A=60,B=90,C=9"] {
            let of = |call: &str| json(&format!("mechanism {call} {data} {budget}"));
            let mode = of("mode");
            assert_eq!((&mode["value"], &mode["neighbours"]), (&"B".into(), &relation.into()));
            assert_eq!(of("mode --keys C,B,A")["value"], "B");
            assert_eq!(of("top-k --k 2")["value"], object!(["A", "B"]));
            assert_eq!(of("top-k --k 2 --ordered")["value"], object!(["B", "A"]));
            assert_eq!(of("top-k --k 3 --keys C,B,A")["value"], object!(["C", "B", "A"]));
        }
        // As many keys as are asked for: another one may come, so nothing is told.
        let all = demure(&format!("mechanism top-k --k 4 city.csv --column city {budget}"));
        assert_eq!((all.code, all.out.as_str()), (Some(1), "⊥\n"), "{relation}");
    }
    let explain = |relation: &str| {
        json(&format!("mechanism mode --epsilon 1 --delta 1e-6 --explain --neighbours {relation}"))
    };
    let (one, two) = (explain("add-remove"), explain("replace"));
    assert_eq!(number(&one, "threshold"), 13.0);
    assert_eq!(2.0 * (number(&one, "error_95") - 1.0), number(&two, "error_95") - 1.0);
    let empty = run(&["mechanism", "mode", "none.csv", "--column", "31337", "--epsilon", "1"]);
    assert_eq!(empty.code, Some(2));
}
