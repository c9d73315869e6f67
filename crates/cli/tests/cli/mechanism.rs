//! Every `demure mechanism …`: its answer, its explanation, its fields.
//!
//! Noise is drawn from the operating system, so answers are checked at an ε so
//! large that noise of a visible size has probability below e^−100.

use super::{answer, demure, file, json, number, run_with};
use datafusion::arrow::array::{ArrayRef, Int64Array, StringArray};
use serde_json::{Value, json as object};
use std::sync::Arc;

const SCORES: &str = "--scores Diabetes=24,Hepatitis=8,Flu=28,HIV=5";

/// One call of every mechanism, without what says how it is shown.
const CALLS: [&str; 17] = [
    "laplace --value 10 --sensitivity 1 --epsilon 1",
    "laplace --value 10 --integer --sensitivity 1 --epsilon 1",
    "gaussian --value 10 --sensitivity 1 --epsilon 1 --delta 1e-5",
    "gaussian --value 10 --integer --sensitivity 1 --epsilon 1 --delta 1e-5",
    "exponential --scores a=1,b=2 --epsilon 1",
    "response --value yes --epsilon 1",
    "response --value b --categories a,b,c --epsilon 1",
    "histogram --counts a=10,b=3 --epsilon 1",
    "threshold --counts a=100,b=3 --epsilon 1 --delta 1e-6",
    "threshold --counts a=100,b=3 --epsilon 1 --delta 1e-6 --method gaussian",
    "count --values 1,2,3 --epsilon 1",
    "sum --values 1,2,3 --bounds 0,10 --epsilon 1",
    "mean --values 1,2,3 --bounds 0,10 --epsilon 1",
    "variance --values 1,2,3 --bounds 0,10 --epsilon 1",
    "quantile --values 1,2,3 --bounds 0,10 --epsilon 1",
    "tree --values 1,2,3 --bounds 0,10 --integer --epsilon 1",
    "sparse --values 1,2,300 --threshold 50 --epsilon 1",
];

#[test]
fn an_empty_cell_of_one_column_is_a_row_under_replace() {
    let rows = |blank: usize| {
        let cell = |i: usize| if i == blank { String::new() } else { (i % 8).to_string() };
        (0..1000).map(|i| cell(i) + "\n").collect::<String>()
    };
    file("full.csv", &format!("v\n{}", rows(usize::MAX)));
    file("blank.csv", &format!("v\n{}", rows(17)));
    for name in ["full.csv", "blank.csv"] {
        let call = "trimmed-mean --column v --bounds 0,8 --epsilon 1 --neighbours replace";
        let told = json(&format!("mechanism {call} {name}"));
        // 800 values are kept of 1,000; of 999 there would be 801, and another grid.
        let steps = number(&told, "value") * 800.0 * f64::from(1 << 17);
        assert!((steps - steps.round()).abs() < 1e-3, "{name}: {steps}");
    }
    file("one.csv", "v\n\n");
    assert_eq!(
        demure("mechanism median one.csv --column v --bounds 0,8 --epsilon 1").code,
        Some(0)
    );
}

#[test]
fn every_answer_and_explanation_has_its_fields() {
    for call in CALLS {
        for relation in ["add-remove", "replace"] {
            if call.starts_with("response") && relation == "add-remove" {
                continue;
            }
            let line = format!("mechanism {call} --neighbours {relation}");
            let (drawn, explained) = (json(&line), json(&format!("{line} --explain")));
            assert!(!drawn["value"].is_null(), "{line}");
            assert!(explained.get("value").is_none(), "{line}");
            for object in [&drawn, &explained] {
                assert_eq!(object["neighbours"], relation, "{line}");
                for field in ["epsilon", "delta", "sensitivity", "error_95"] {
                    assert!(number(object, field) >= 0.0, "{line}");
                }
                let spread = if object.get("sigma").is_some() { "sigma" } else { "scale" };
                assert!(number(object, spread) > 0.0, "{line}");
                for field in ["mechanism", "guarantee"] {
                    assert!(object[field].is_string(), "{line}");
                }
            }
            let mut without = drawn.clone();
            let fields = without.as_object_mut().unwrap();
            fields.remove("value");
            assert_eq!(fields.remove("debited"), Some(false.into()), "{line}");
            assert_eq!(without, explained, "{line}");
        }
    }
}

#[test]
fn data_is_on_stdout_and_the_rest_on_stderr() {
    for call in CALLS {
        let run = demure(&format!("mechanism {call}"));
        assert_eq!(run.code, Some(0), "{call}");
        assert!(!run.out.contains("DP") && run.err.contains("-DP"), "{call}");
        assert_eq!(run.err.lines().count(), 1, "{call}");
        let explained = demure(&format!("mechanism {call} --explain"));
        assert_eq!((explained.code, explained.err.as_str()), (Some(0), ""), "{call}");
        for word in ["mechanism ", "sensitivity ", "neighbours ", "guarantee ", "error_95 "] {
            assert!(explained.out.contains(word), "{call}");
        }
    }
}

#[test]
fn repeating_prints_one_a_line() {
    for call in CALLS {
        let run = demure(&format!("mechanism {call} --repeat 5"));
        assert_eq!((run.code, run.out.lines().count()), (Some(0), 5), "{call}");
        assert!(run.err.contains("5 times over"), "{call}");
        let many = json(&format!("mechanism {call} --repeat 3"));
        assert_eq!(many["value"].as_array().unwrap().len(), 3, "{call}");
        assert_eq!(many["repeat"], 3);
    }
    let lines = answer("mechanism laplace --value 10 --sensitivity 1 --epsilon 1 --repeat 1000");
    let values: Vec<f64> = lines.lines().map(|line| line.parse().unwrap()).collect();
    assert_eq!(values.len(), 1000);
    assert!(values.windows(2).any(|pair| pair[0] != pair[1]));
}

#[test]
fn the_exponential_tables_of_the_chapter() {
    for (epsilon, known) in [
        ("0", [0.25; 4]),
        ("0.1", [0.3271, 0.1470, 0.3995, 0.1265]),
        ("1", [0.1192, 3.999e-5, 0.8808, 8.922e-6]),
    ] {
        let line = format!("mechanism exponential {SCORES} --epsilon {epsilon} --probabilities");
        let table = json(&line);
        let names = ["Diabetes", "Hepatitis", "Flu", "HIV"];
        assert_eq!(table["probabilities"].as_object().unwrap().keys().collect::<Vec<_>>(), names);
        for (name, known) in names.iter().zip(known) {
            let p = number(&table["probabilities"], name);
            let unit = 10f64.powf(f64::log10(known).floor() - 3.0);
            assert!((p - known).abs() <= 0.5 * unit, "{name} at {epsilon}: {p}");
        }
        assert_eq!(number(&table, "epsilon").to_string(), epsilon);
        assert_eq!(
            (number(&table, "sensitivity"), &table["neighbours"]),
            (1.0, &"add-remove".into())
        );
        // As text: a line each, and a warning beside it.
        let text = demure(&line);
        assert_eq!((text.code, text.out.lines().count()), (Some(0), 4));
        assert!(text.out.starts_with("Diabetes   0."), "{}", text.out);
        assert!(text.err.contains("not for release"));
    }
}

#[test]
fn selection_by_every_method() {
    for method in ["exponential", "permute-and-flip", "noisy-max"] {
        let line = format!("mechanism exponential {SCORES} --epsilon 1000 --method {method}");
        assert_eq!(answer(&line), "Flu\n");
        let general = json(&format!("{line} --explain"));
        let monotone = json(&format!("{line} --explain --monotone"));
        assert_eq!(number(&general, "scale"), 2.0 * number(&monotone, "scale"));
    }
    let flip = json(&format!(
        "mechanism exponential {SCORES} --epsilon 1 --probabilities --method permute-and-flip"
    ));
    assert!(number(&flip["probabilities"], "Flu") > 0.93);
    let drawn = json(&format!("mechanism exponential {SCORES} --epsilon 0.1"));
    assert!(SCORES.contains(drawn["value"].as_str().unwrap()));
}

#[test]
fn gaussian_calibrations() {
    let line = "mechanism gaussian --epsilon 1 --delta 1e-5 --sensitivity 1 --explain";
    let sigma = number(&json(line), "sigma");
    let truth = 3.730_631_634_815_942;
    assert!((truth..=truth * (1.0 + 1e-12)).contains(&sigma), "{sigma}");
    let classic = number(&json(&format!("{line} --calibration classic")), "sigma");
    assert!((4.940_864_832_300_149..4.940_864_832_300_16).contains(&classic), "{classic}");
    let rho = json("mechanism gaussian --rho 0.5 --sensitivity 1 --explain");
    assert!((1.0..1.0 + 1e-12).contains(&number(&rho, "sigma")));
    assert_eq!((number(&rho, "rho"), &rho["guarantee"]), (0.5, &"0.5-zCDP".into()));
}

#[test]
fn laplace_explained_in_full() {
    assert_eq!(
        answer("mechanism laplace --sensitivity 1 --epsilon 1 --explain"),
        "mechanism    Laplace
sensitivity  1
scale        1
grid         9.5367431640625e-7
epsilon      1
neighbours   add-remove (one unit present or absent)
guarantee    1-DP
error_95     ± 2.99573 with 95 % confidence (noise alone)
"
    );
}

#[test]
fn noise_is_centred_on_the_value() {
    for call in ["laplace", "laplace --integer", "laplace --value -7"] {
        let value = if call.contains("-7") { "" } else { " --value 10" };
        let line = format!("mechanism {call}{value} --sensitivity 1 --epsilon 1000000");
        let expected = if call.contains("-7") { -7.0 } else { 10.0 };
        assert!((number(&json(&line), "value") - expected).abs() < 2e-4, "{line}");
    }
    let line = "mechanism gaussian --value -7.5 --sensitivity 1 --rho 1e12";
    assert!((number(&json(line), "value") + 7.5).abs() < 1e-4);
}

#[test]
fn randomized_response() {
    let explained = json("mechanism response --alpha 0.5 --explain");
    assert_eq!(number(&explained, "truth"), 0.75);
    assert!((number(&explained, "epsilon") - 3f64.ln()).abs() < 1e-15);
    assert_eq!(explained, json("mechanism response --gamma 0.25 --explain"));
    assert_eq!(explained, json("mechanism response --truth 0.75 --explain"));
    for (typed, told) in [("yes", "yes\n"), ("1", "yes\n"), ("no", "no\n"), ("0", "no\n")] {
        assert_eq!(answer(&format!("mechanism response --epsilon 36 --value {typed}")), told);
    }
    assert_eq!(answer("mechanism response --epsilon 36 --categories a,b,c --value b"), "b\n");
    // Half of 18 say yes: so does half of the population, give or take.
    let estimate = json("mechanism response --alpha 0.5 --estimate --yes 9 --n 18");
    assert!((number(&estimate, "estimate") - 0.5).abs() < 1e-15);
    assert!((number(&estimate, "standard_error") - 18f64.sqrt().recip()).abs() < 1e-15);
    let [low, high] = [0, 1].map(|i| estimate["interval"][i].as_f64().unwrap());
    assert!(low > 0.0 && low < 0.5 && (low + high - 1.0).abs() < 1e-9, "{low} {high}");
    let respondents =
        json("mechanism response --alpha 0.5 --estimate --yes 9 --n 18 --target respondents");
    assert!(number(&respondents, "standard_error") < number(&estimate, "standard_error"));
    // The truth is told three times out of four.
    let many = answer("mechanism response --alpha 0.5 --value yes --repeat 2000");
    let yes = many.lines().filter(|line| *line == "yes").count();
    assert!((1400..1600).contains(&yes), "{yes}"); // 5 standard deviations: false alarm 3e-7
}

#[test]
fn histograms() {
    let exact = json("mechanism histogram --counts b=10,a=3 --epsilon 1000");
    assert_eq!(exact["value"], object!({"b": 10, "a": 3}));
    assert_eq!(exact["value"].as_object().unwrap().keys().collect::<Vec<_>>(), ["b", "a"]);
    assert_eq!(answer("mechanism histogram --counts b=10,a=3 --epsilon 1000"), "b  10\na  3\n");
    assert_eq!(
        answer("mechanism histogram --counts b=10,a=3 --epsilon 1000 --repeat 2"),
        "b=10,a=3\nb=10,a=3\n"
    );
    let line = "mechanism histogram --epsilon 1 --explain";
    for (options, sensitivity) in
        [("", 1.0), ("--neighbours replace", 2.0), ("--max-groups 3 --max-rows 2", 6.0)]
    {
        let explained = json(&format!("{line} {options}"));
        assert_eq!(number(&explained, "sensitivity"), sensitivity);
        assert_eq!(number(&explained, "scale"), sensitivity);
    }
    let gaussian = json("mechanism histogram --counts a=1,b=2 --rho 0.5 --explain");
    assert!((number(&gaussian, "sigma") - 1.0).abs() < 1e-12);
    assert!(number(&gaussian, "error_95_all") >= number(&gaussian, "error_95"));
    let positive =
        answer("mechanism histogram --counts a=0 --epsilon 0.1 --non-negative --repeat 99");
    assert!(!positive.contains('-'));
}

#[test]
fn keys_that_are_not_public() {
    let line = "mechanism threshold --counts rare=1,common=1000,none=0 --delta 1e-40";
    for method in ["laplace", "gaussian"] {
        let exact = json(&format!("{line} --epsilon 200 --method {method}"));
        let table = exact["value"].as_object().unwrap();
        assert_eq!(table.keys().collect::<Vec<_>>(), ["common"]);
        assert!((number(&exact["value"], "common") - 1000.0).abs() < 20.0);
    }
    let keys = json(&format!("{line} --epsilon 1 --method truncated-geometric"));
    assert_eq!(keys["value"], object!(["common"]));
    // ε = .5, δ = .02: the threshold is 8, the crossovers 6 and 11.
    let line = "mechanism threshold --epsilon 0.5 --delta 0.02 --explain";
    assert_eq!(number(&json(line), "threshold"), 8.0);
    let selection = json(&format!("{line} --method truncated-geometric"));
    assert_eq!((&selection["crossovers"], &selection["certain"]), (&object!([6, 11]), &12.into()));
    // Nothing passes: nothing on stdout.
    let none = demure("mechanism threshold --counts rare=1 --epsilon 1 --delta 1e-40");
    assert_eq!((none.code, none.out.as_str()), (Some(0), ""));
    assert!(none.err.starts_with("nothing came back\n"));
}

#[test]
fn columns_of_a_file() {
    let name = "column.csv";
    file(name, "\u{feff}age;city\n10;A\n20;A\n;B\n40;\"A;B\"\nx;A\n90;A\n");
    let data = format!("{name} --delimiter ; --column age");
    let value = |call: &str| number(&json(&format!("mechanism {call}")), "value");
    assert_eq!(value(&format!("count {data} --epsilon 1000")), 6.0);
    assert_eq!(value(&format!("count {data} --bounds 20,50 --epsilon 1000")), 2.0);
    // 90 counts as 50; the cells that are no numbers are left out, or count as 0.
    let near = |call: &str, known: f64| {
        let found = value(&format!("{call} {data} --bounds 0,50 --epsilon 1e6"));
        assert!((found - known).abs() < 0.2, "{call}: {found}");
    };
    near("sum", 120.0);
    near("mean", 30.0);
    near("mean --neighbours replace", 20.0);
    near("variance", 250.0);
    near("quantile --q 0.4 --integer", 20.0);
    let city = format!("{name} --delimiter ; --column city --epsilon 1000");
    assert_eq!(answer(&format!("mechanism histogram {city} --keys A,C")), "A  4\nC  0\n");
    let keys = json(&format!("mechanism threshold {city} --delta 0.01"));
    assert_eq!(number(&keys["value"], "A"), 4.0);
}

#[test]
fn a_column_of_parquet_is_read_as_one_of_csv() {
    let ages: ArrayRef = Arc::new(Int64Array::from(vec![Some(10), Some(20), None, Some(90)]));
    let cities: ArrayRef = Arc::new(StringArray::from(vec!["A", "A", "B", "A"]));
    super::graph::parquet("ages.parquet", vec![("age", ages), ("city", cities)]);
    let value = |call: &str| number(&json(&format!("mechanism {call}")), "value");
    assert_eq!(value("count ages.parquet --column age --epsilon 1000"), 4.0);
    let mean = value("mean ages.parquet --column age --bounds 0,60 --epsilon 1e6");
    assert!((mean - 30.0).abs() < 0.2, "{mean}");
    let keys = answer("mechanism histogram ages.parquet --column city --keys A,C --epsilon 1000");
    assert_eq!(keys, "A  3\nC  0\n");
}

#[test]
fn a_file_from_standard_input() {
    let run = run_with("count - --column a --epsilon 1000", "a,b\n1,2\n3,4\n");
    assert_eq!((run.code, run.out.as_str()), (Some(0), "2\n"), "{}", run.err);
}

#[test]
fn bounded_statistics() {
    let line = "mechanism sum --values 12,-7,30.5,1e9,-inf --bounds -10,50 --epsilon 1e7";
    assert!((number(&json(line), "value") - 75.5).abs() < 0.01);
    assert_eq!(answer(&format!("{line} --integer")).trim(), "76");
    let sensitivity = |options: &str| {
        let line = format!("mechanism sum --bounds 10,50 --epsilon 1 --explain {options}");
        number(&json(&line), "sensitivity")
    };
    assert_eq!(sensitivity(""), 50.0);
    assert_eq!(sensitivity("--rows 2"), 100.0);
    assert_eq!(sensitivity("--neighbours replace"), 40.0);
    assert_eq!(sensitivity("--neighbours replace --max-rows 1"), 50.0);
    // The scale that is shown is the scale that is used: 95 % of Laplace noise is within 3 of it.
    for call in ["sum --bounds 0,8", "sum --bounds 0,8 --neighbours replace", "count --max-rows 8"]
    {
        let explained = json(&format!("mechanism {call} --epsilon 2 --explain"));
        assert_eq!(number(&explained, "scale"), 4.0, "{call}");
        let error = number(&explained, "error_95");
        assert!((11.5..12.5).contains(&error), "{call} {error}");
    }
    // A mean of n values in [0,1] under replace: Δ = 1/n.
    let mean = json(
        "mechanism mean --bounds 0,1 --values 0,1,1,0 --neighbours replace --epsilon 1 --explain",
    );
    assert_eq!((number(&mean, "sensitivity"), number(&mean, "scale")), (0.25, 0.25));
    assert!((number(&mean, "error_95") - 0.749).abs() < 0.001);
}

#[test]
fn a_protected_number_of_rows_is_not_in_the_error() {
    for call in ["mean", "variance"] {
        let explain = |values: &str| {
            json(&format!("mechanism {call} --values {values} --bounds 0,10 --epsilon 9 --explain"))
        };
        assert_eq!(explain("1,2,3"), explain("5,5,5,5,5,5,5,5,5,5"), "{call}");
        let line = format!("mechanism {call} --bounds 0,10 --epsilon 9 --explain");
        let (few, many) = (json(&format!("{line} --n 10")), json(&format!("{line} --n 1,000")));
        assert!(number(&many, "error_95") < 0.02 * number(&few, "error_95"), "{call}");
    }
}

#[test]
fn quantiles_ranges_and_the_sparse_vector() {
    let line = "mechanism quantile --values 1,2,3,70,90 --bounds 0,100 --integer --epsilon 200";
    assert_eq!(answer(line), "3\n");
    let line = "mechanism tree --values 1,2,3,70,90 --bounds 0,99 --epsilon 1000";
    let ranges = json(&format!("{line} --integer --range 0,3 --range 4,99"));
    for (range, known) in [("0..3", 3.0), ("4..99", 2.0)] {
        assert!((number(&ranges["value"], range) - known).abs() < 1e-9, "{ranges}");
    }
    let cells = json(&format!("{line} --cells 3"));
    assert_eq!(
        cells["value"].as_object().unwrap().keys().collect::<Vec<_>>(),
        ["0..33", "33..66", "66..99"]
    );
    assert!((number(&cells["value"], "66..99") - 2.0).abs() < 1e-9);
    let line = "mechanism sparse --values 3,900,5,800,700 --threshold 450 --epsilon 100";
    let answers = |options: &str| json(&format!("{line} {options}"))["value"].clone();
    assert_eq!(answers(""), object!(["below", "above", "halted", "halted", "halted"]));
    assert_eq!(answers("--positives 2"), object!(["below", "above", "below", "above", "halted"]));
    assert_eq!(answer(line), "below\nabove\nhalted\nhalted\nhalted\n");
    let explain = |options: &str| json(&format!("{line} --explain {options}"));
    assert!(number(&explain("--monotone"), "scale") < number(&explain(""), "scale"));
    assert_eq!(explain("")["value"], Value::Null);
}
