//! Every `demure plan …`, in every direction.

use super::{answer, json, number};

#[test]
fn how_many_people_randomized_response_needs() {
    let line = "plan response --gamma 0.25 --error 0.01 --confidence 0.95";
    let plan = json(line);
    assert_eq!((&plan["n"], &plan["n_normal"]), (&73_778.into(), &38_415.into()));
    assert_eq!((&plan["method"], number(&plan, "confidence")), (&"Hoeffding".into(), 0.95));
    assert!((number(&plan, "epsilon") - 3f64.ln()).abs() < 1e-15);
    assert!(number(&plan, "error") <= 0.01);
    let text = answer(line);
    for words in ["73,778 people", "38,415", "95 % confidence", "ε = 1.09862"] {
        assert!(text.replace('\n', " ").contains(words), "{words} in\n{text}");
    }
    // The other parametrisations of the same mechanism.
    for same in ["--alpha 0.5", "--truth 0.75", "--epsilon 1.0986122886681098"] {
        let other = json(&format!("plan response {same} --error 1% --confidence 95%"));
        assert_eq!((&other["n"], &other["n_normal"]), (&plan["n"], &plan["n_normal"]));
    }
    // n and ε give the error, n and the error give ε.
    let error = json("plan response --gamma 0.25 --n 73778");
    assert!((number(&error, "error") - 0.01).abs() < 1e-6);
    let epsilon = json("plan response --error 0.01 --n 73778");
    assert!((number(&epsilon, "epsilon") - 3f64.ln()).abs() < 1e-5);
    assert!(number(&epsilon, "epsilon_normal") < number(&epsilon, "epsilon"));
    let fewer = json("plan response --epsilon 2 --error 0.01 --categories 10");
    assert!(number(&fewer, "n") > 10_000.0 && fewer.get("gamma").is_none());
}

#[test]
fn any_two_of_error_people_and_epsilon_give_the_third() {
    for (statistic, error) in [
        ("count", "1%"),
        ("histogram --bins 50", "1%"),
        ("sum --bounds -20,100", "1%"),
        ("mean --bounds -20,100", "1%"),
        ("mean --bounds -20,100", "1.2"),
        ("mean --bounds -20,100 --neighbours replace", "1.2"),
        ("count --neighbours replace --confidence 0.999", "0.5%"),
        ("histogram --bins 7 --max-groups 3 --max-rows 2 --neighbours replace", "2%"),
    ] {
        let people = json(&format!("plan {statistic} --error {error} --epsilon 0.5"));
        let n = people["n"].as_u64().unwrap();
        let had = json(&format!("plan {statistic} --n {n} --epsilon 0.5"));
        assert_eq!(number(&had, "error"), number(&people, "error"), "{statistic}");
        // One person fewer would not do.
        let fewer = json(&format!("plan {statistic} --n {} --epsilon 0.5", n - 1));
        let share = |plan| number(plan, "share");
        let wanted = match error.strip_suffix('%') {
            Some(percent) => percent.parse::<f64>().unwrap() / 100.0,
            None => 0.01, // 1.2 of 120
        };
        assert!(share(&had) <= wanted && share(&fewer) > wanted, "{statistic}");
        // The least ε for these people is not more than what was given, and it is enough.
        let least = json(&format!("plan {statistic} --n {n} --error {error}"));
        let epsilon = number(&least, "epsilon");
        assert!(epsilon <= 0.5 + 1e-6 && epsilon > 0.4, "{statistic}: {epsilon}");
        assert!(share(&least) <= wanted, "{statistic}");
    }
}

#[test]
fn known_plans() {
    // Discrete Laplace at scale 1: P[|Z| > 3] < 5 % ≤ P[|Z| > 2].
    let count = json("plan count --epsilon 1");
    assert_eq!((number(&count, "error"), &count["n"]), (3.0, &serde_json::Value::Null));
    // (α,β)-usefulness over 50 bins: β/50 each.
    assert_eq!(number(&json("plan histogram --bins 50 --epsilon 1"), "error"), 7.0);
    assert_eq!(number(&json("plan histogram --bins 1 --epsilon 1"), "error"), 3.0);
    // Laplace(100): 100·ln 20.
    let sum = json("plan sum --bounds 0,100 --epsilon 1");
    assert!((number(&sum, "error") - 299.573).abs() < 0.01);
    // Replace, n public: (b − a)·ln 20/(nε), and half a step of the grid.
    let mean = json("plan mean --bounds 0,100 --n 1000 --epsilon 1 --neighbours replace");
    assert!((0.299_573..0.299_700).contains(&number(&mean, "error")));
    let epsilon = json("plan count --error 10");
    assert!((number(&epsilon, "epsilon") - 0.2843).abs() < 1e-4);
}

#[test]
fn a_sentence_the_numbers_and_a_plot() {
    assert_eq!(
        answer("plan count --error 1% --epsilon 0.1 --no-plot"),
        "For a count to be off by at most 1 % of n with 95 % confidence at ε = 0.1, at
least 3,000 people are needed. The error is that of the noise alone.

n           3,000
epsilon     0.1
error       ± 30
share       1 % of n
confidence  0.95
neighbours  add-remove
method      discrete Laplace noise, sensitivity 1
"
    );
    for line in [
        "plan count --epsilon 1",
        "plan count --error 1% --n 1000",
        "plan histogram --bins 50 --epsilon 1",
        "plan sum --bounds 0,100 --error 250",
        "plan mean --bounds 0,100 --n 1000 --epsilon 1",
        "plan response --gamma 0.25 --error 0.01",
        "plan response --n 5000 --error 5%",
        "plan count --epsilon 1000",
        "plan mean --bounds 0,1 --n 3 --epsilon 0.01",
        "plan mean --bounds 0,1 --n 1000000000 --epsilon 100",
    ] {
        let text = answer(line);
        let plot = text.split_once("     error\n").unwrap().1;
        // Nothing to mark where the error is 0: a logarithm has no place for it.
        let marks = usize::from(!line.ends_with("count --epsilon 1000"));
        assert_eq!(plot.matches('●').count(), marks, "{line}\n{text}");
        assert!(text.lines().all(|line| line.chars().count() <= 80), "{line}\n{text}");
        assert!(!answer(&format!("{line} --no-plot")).contains('│'), "{line}");
        let object = json(line);
        for field in ["epsilon", "error", "confidence"] {
            assert!(number(&object, field) >= 0.0, "{line}");
        }
        assert!(object["method"].is_string() && object.get("n").is_some(), "{line}");
    }
}
