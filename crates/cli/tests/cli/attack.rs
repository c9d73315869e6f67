//! `demure attack`: exact answers fall, the curator's stay within their bound, pictures are made.
//!
//! Every run is seeded. Five standard errors: a false alarm of 6e-7.

use super::{demure, directory, file, json, number, run};
use serde_json::Value;

/// Standard errors between a measured share and what it should be.
fn off(found: f64, expected: f64, trials: f64) -> f64 {
    (found - expected) / (expected * (1.0 - expected) / trials).sqrt().max(1e-9)
}

fn list<'a>(object: &'a Value, field: &str) -> &'a [Value] {
    object[field].as_array().unwrap()
}

#[test]
fn attack_reconstruct_finds_the_cliff_and_where_a_budget_sits() {
    let found = json("attack reconstruct --rows 120 --repeat 12 --seed 5 --budget 1,5,1000");
    let noised = list(&found, "noised");
    assert_eq!((number(&noised[0], "sigma"), number(&noised[0], "recovered")), (0.0, 1.0));
    for one in noised {
        let bits = number(one, "bits");
        assert!(off(number(one, "recovered"), number(one, "expected"), bits).abs() < 5.0, "{one}");
    }
    // Well above √n it is guessing; well below it is not, and the test would notice.
    let last = noised.last().unwrap();
    assert!(number(last, "sigma") > 15.0 * 120f64.sqrt());
    assert!((number(last, "recovered") - 0.5).abs() < 0.08);
    assert!(noised.iter().filter(|one| number(one, "recovered") > 0.95).count() >= 4);
    for one in list(&found, "databases") {
        let name = one["database"].as_str().unwrap();
        if name == "plain" || name.ends_with(" 5") || name.ends_with("below 10") {
            assert!(number(one, "recovered") > 0.99, "{one}");
        }
    }
    let curator = list(&found, "curator");
    for one in curator {
        assert!((number(one, "spent") / number(one, "budget") - 1.0).abs() < 1e-6);
        // The bit of somebody who is there is guessed: the policy says replace, or it would be 2ε.
        let (most, epsilon) = (number(one, "bound"), number(one, "budget"));
        assert!((most - 1.0 / (1.0 + (-epsilon).exp())).abs() < 1e-12, "{one}");
        // One attack: 120 bits, none above the bound. Seat by seat is wrong ½e^{−ε/2} of the time; with
        // noise for a row added or removed it would be ½e^{−ε}.
        assert!(off(number(one, "recovered"), most, 120.0) < 5.0, "{one}");
        let seats = number(one, "recovered_seat_by_seat");
        assert!(off(seats, 1.0 - 0.5 * (-0.5 * epsilon).exp(), 120.0).abs() < 5.0, "{one}");
    }
    assert!(number(&curator[0], "recovered") < 0.75 && number(&curator[2], "recovered") > 0.95);
    // The same seed, the same numbers, but for the seconds.
    let again = json("attack reconstruct --rows 120 --repeat 12 --seed 5 --budget 1,5,1000");
    for part in ["noised", "databases", "by_queries", "curator"] {
        assert_eq!(found[part], again[part], "{part}");
    }
}

#[test]
fn attack_reconstruct_ends_with_a_picture() {
    let shown =
        demure("attack reconstruct --demo --rows 40 --repeat 4 --budget 1 --report cliff.html");
    assert_eq!((shown.code, shown.err.as_str()), (Some(0), ""));
    for part in ["recovered", "√n = 6.3", "noise added", "the curator", "┊"] {
        assert!(shown.out.contains(part), "{part}\n{}", shown.out);
    }
    let page = std::fs::read_to_string(directory().join("cliff.html")).unwrap();
    assert!(page.contains("<svg") && page.contains("√n = 6.3") && page.contains("</html>"));
    assert!(
        !page.contains("http://")
            || page.matches("http://").count()
                == page.matches("http://www.w3.org/2000/svg").count()
    );
    assert!(!page.contains("<script") && !page.contains("NaN"));
    let program = demure(
        "attack reconstruct --rows 24 --repeat 1 --method feasibility --budget 1 --noise 0,1 --report cliff.svg",
    );
    assert_eq!(program.code, Some(0), "{}", program.err);
    assert!(program.out.contains("by a linear program"));
    let picture = std::fs::read_to_string(directory().join("cliff.svg")).unwrap();
    assert!(picture.starts_with("<svg xmlns") && picture.trim_end().ends_with("</svg>"));
}

#[test]
fn attack_difference_is_right_as_often_as_the_bound_allows() {
    let found = json("attack difference --demo --epsilon 0.5,2 --repeat 512 --seed 3");
    assert_eq!(number(&found, "exact_right"), 1.0);
    for one in list(&found, "curator") {
        let (right, bound) = (number(one, "right"), number(one, "bound"));
        let epsilon = number(one, "epsilon");
        assert!((bound - 1.0 / (1.0 + (-epsilon).exp())).abs() < 1e-12);
        assert!((number(one, "spent") / epsilon - 1.0).abs() < 1e-6);
        // A count reaches its bound. The twin: half the noise would be noticed.
        assert!(off(right, bound, 512.0).abs() < 5.0, "{one}");
        let half = 1.0 / (1.0 + (-2.0 * epsilon).exp());
        assert!(epsilon < 1.0 || off(right, half, 512.0) < -5.0, "{one}");
        let textbook = number(one, "two_laplace");
        assert!(off(textbook, number(one, "two_laplace_expected"), 512.0).abs() < 5.0, "{one}");
    }
}

const PEOPLE: &str = "id,name,sick\n1,Ann,true\n2,Bob,false\n3,O'Hara,true\n4,Dan,true\n5,,true\n";

fn policy(name: &str, accounting: &str) -> String {
    file(&format!("{name}.csv"), PEOPLE);
    let text = format!(
        "[budget]\nepsilon = 2.0\n{accounting}\n[tables.people]\nsource = \"{name}.csv\"\n\
         unit = \"id\"\n[tables.people.columns]\nid = {{ type = \"integer\", nullable = false }}\n\
         sick = {{ type = \"boolean\", nullable = false }}\n"
    );
    file(&format!("{name}.toml"), &text);
    format!("{name}.toml")
}

#[test]
fn attack_difference_on_a_policy_leaves_its_ledger_alone() {
    let policy = policy("attacked", "");
    let query = "SELECT COUNT(*) FROM people WHERE sick";
    let attack = |target: &str, epsilon: &str| {
        let target = format!("people.{target}");
        let all = ["attack", "difference", &policy, "--query", query, "--target", &target];
        let run = run(&[&all[..], &["--epsilon", epsilon, "--repeat", "60", "--json"]].concat());
        assert_eq!(run.code, Some(0), "{}", run.err);
        assert!(run.err.starts_with("note: for the steward"));
        serde_json::from_str::<Value>(&run.out).unwrap()
    };
    // Presence is guessed, under add-remove; a value would be bounded at 2ε.
    let one = attack("id=1", "1");
    let both = ["bound", "bound_of_a_value"].map(|name| number(&list(&one, "curator")[0], name));
    let logistic = |epsilon: f64| 1.0 / (1.0 + (-epsilon).exp());
    assert!((both[0] - logistic(1.0)).abs() < 1e-6 && (both[1] - logistic(2.0)).abs() < 1e-6);
    let ann = attack("id=1", "20");
    assert_eq!((number(&ann, "exact_with"), number(&ann, "exact_without")), (4.0, 3.0));
    // At ε 20 the noise is nothing: e^−20 a guess.
    assert_eq!(number(&list(&ann, "curator")[0], "right"), 1.0);
    let hara = attack("name=O'Hara", "0.1");
    assert_eq!(number(&hara, "exact_right"), 1.0);
    // A fifth of the bound's surplus over a coin would be 60 guesses' luck; 95 % would not.
    assert!(number(&list(&hara, "curator")[0], "right") < 0.85);
    // Bob does not count: both worlds are alike.
    let bob = attack("id=2", "1");
    assert_eq!(number(&bob, "exact_with"), number(&bob, "exact_without"));
    assert!(!directory().join("attacked.ledger").exists());
}

#[test]
fn attack_difference_under_zcdp_has_a_bound_in_rho() {
    let policy = policy("attacked_rho", "accounting = \"zcdp\"\ndelta = 1e-6");
    let query = "SELECT COUNT(*) FROM people WHERE sick";
    let all = ["attack", "difference", &policy, "--query", query, "--target", "people.id=4"];
    let run = run(&[&all[..], &["--epsilon", "1", "--repeat", "40", "--json"]].concat());
    assert_eq!(run.code, Some(0), "{}", run.err);
    let found: Value = serde_json::from_str(&run.out).unwrap();
    let one = &list(&found, "curator")[0];
    let (spent, bound) = (number(one, "spent"), number(one, "bound"));
    assert!(spent > 0.0 && spent < 0.5 && bound > 0.5 && bound < 0.75, "{one}");
    assert!(off(number(one, "right"), bound, 40.0) < 5.0);
}

#[test]
fn attack_average_wears_fresh_noise_down_and_nothing_else() {
    let found = json("attack average --demo --repeat 3000 --runs 3 --seed 4");
    let errors = |which: &str| -> Vec<f64> {
        list(&found, which).iter().map(|one| number(one, "error")).collect()
    };
    // √2·10/√3000 is 0.26; 200 runs.
    let fresh = errors("fresh_noise");
    assert!((fresh.last().unwrap() / (2f64.sqrt() * 10.0 / 3000f64.sqrt()) - 1.0).abs() < 0.3);
    let same = errors("same_words");
    assert!(same.iter().all(|error| error == &same[0]));
    let other = errors("other_words");
    assert!(other[4..].iter().all(|error| error == &other[4]), "{other:?}");
    assert!((number(&found, "spent_same_words") - 0.1).abs() < 1e-9);
    assert_eq!(number(&found, "answers_other_words"), 10.0);
    assert!(number(&found, "spent_other_words") <= 1.0);
}

#[test]
fn attack_membership_is_stopped_by_a_budget() {
    let found =
        json("attack membership --people 30 --attributes 4,200 --epsilon 1 --releases 2 --seed 6");
    let all = list(&found, "found");
    for one in all {
        // An area of 60 against 60 has a standard error of at most 0.053.
        let (area, expected) = (number(one, "area"), number(one, "area_expected"));
        assert!((area - expected).abs() < 0.27, "{one}");
    }
    let of = |attributes: f64, exact: bool| {
        let same = |one: &&Value| {
            number(one, "attributes") == attributes && one["epsilon"].is_null() == exact
        };
        all.iter().find(same).unwrap()
    };
    // √(200/30) = 2.6 standard deviations apart.
    assert!(number(of(200.0, true), "area") > 0.9);
    assert!(number(of(200.0, false), "area") < number(of(200.0, false), "area_bound"));
    assert!(number(of(200.0, true), "area") > number(of(200.0, false), "area_bound") + 0.1);
    assert!(number(of(4.0, true), "area") < 0.9);
}

const NINE: &str = "zip,points,system\n3270,89,iOS\n3294,77,Android\n3400,90,MacOS\n2608,42,Windows\n\
    3177,38,Linux\n2740,35,Windows\n3763,25,MacOS\n3860,33,Windows\n3770,30,Android\n";
const RELEASE: &str = "zip,points,system\n3200-3499,75-90,iOS\n3200-3499,75-90,Android\n\
    3200-3499,75-90,MacOS\n2600-3199,35-45,Windows\n2600-3199,35-45,Linux\n2600-3199,35-45,Windows\n\
    3700-3899,25-34,MacOS\n3700-3899,25-34,Windows\n3700-3899,25-34,Android\n";

#[test]
fn attack_link_on_nine_rows_says_which_class_and_why() {
    file("nine.csv", NINE);
    file("nine-release.csv", RELEASE);
    let line = "attack link nine.csv nine-release.csv --qi zip,points --sensitive system";
    let blind = json(line);
    for (field, count) in [
        ("people", 9.0),
        ("classes", 3.0),
        ("k", 3.0),
        ("unique_in_original", 9.0),
        ("unique", 0.0),
        ("homogeneous", 0.0),
        ("open", 9.0),
        ("unmatched", 0.0),
        ("guessed_right", 4.0),
        ("guessed_right_by_chance", 3.0),
    ] {
        assert_eq!(number(&blind, field), count, "{field}");
    }
    assert_eq!(blind["learnt_by_values_ruled_out"], serde_json::json!([0, 3, 9, 9, 9, 9]));
    let knows = json(&format!("{line} --know Linux"));
    // Of the one who uses Linux it cannot be ruled out.
    assert_eq!(number(&knows, "known"), 2.0);
    let fallen = &list(&knows, "fallen")[0];
    assert_eq!(fallen["class"], serde_json::json!(["2600-3199", "35-45"]));
    assert_eq!(fallen["why"], "of 2 values all but Windows are ruled out");
    // The original against itself: everybody is alone.
    let raw = json("attack link nine.csv nine.csv --qi zip,points --sensitive system");
    assert_eq!((number(&raw, "unique"), number(&raw, "certain")), (9.0, 9.0));
    // A second release, 2-anonymous by zip alone: together they give some away.
    let second = "zip,points,system\n2*,*,Windows\n2*,*,Windows\n3*,*,iOS\n3*,*,Android\n3*,*,MacOS\n\
        3*,*,Linux\n3*,*,MacOS\n3*,*,Windows\n3*,*,Android\n";
    file("nine-second.csv", &second.replace("2*", "2***").replace("3*", "3***"));
    let both = json(&format!("{line} --second nine-second.csv"));
    assert_eq!(number(&both, "intersected"), 2.0);
    let text = demure(&format!("{line} --second nine-second.csv --report nine-link.html"));
    assert!(
        text.out.contains("only Windows is also in the other release, in 2***, *"),
        "{}",
        text.out
    );
    assert!(
        std::fs::read_to_string(directory().join("nine-link.html"))
            .unwrap()
            .contains("k-anonymity")
    );
}

#[test]
fn attack_link_reads_hierarchies_and_suppressed_rows() {
    file("states.csv", "state,job\nNorway,a\nSweden,a\nItaly,b\nSpain,c\nMalta,b\n");
    file("states-release.csv", "state,job\nNorth,a\nNorth,a\n*,b\nSouth,c\nSouth,b\n");
    file(
        "states.toml",
        "North = [\"Norway\", \"Sweden\"]\nSouth = [\"Italy\", \"Spain\", \"Malta\"]\n",
    );
    let line = "attack link states.csv states-release.csv --qi state --sensitive job";
    let told = json(&format!("{line} --hierarchy state=states.toml"));
    assert_eq!((number(&told, "homogeneous"), number(&told, "open")), (2.0, 3.0));
    assert_eq!(list(&told, "fallen")[0]["why"], "all 2 rows that fit say a");
    // Without the hierarchy only the suppressed row fits anybody.
    let blind = json(line);
    assert_eq!(number(&blind, "unique"), 5.0);
}

#[test]
fn attack_link_demo_falls_in_several_ways() {
    let found = json("attack link --demo --seed 1 --know flu");
    for field in ["homogeneous", "known", "intersected"] {
        assert!(number(&found, field) > 0.0, "{field} in {found}");
    }
    assert!(number(&found, "k") >= 4.0 && number(&found, "unmatched") == 0.0);
    assert!(number(&found, "guessed_right") > number(&found, "guessed_right_by_chance"));
}

#[test]
fn attack_mistakes_are_told_and_repeat_nothing() {
    file("nine.csv", NINE);
    file("nine-release.csv", RELEASE);
    let policy = policy("attacked_wrong", "");
    let on = |target: &str| format!("attack difference {policy} --query SELECT --target {target}");
    for (line, says) in [
        ("attack reconstruct --rows 5000".to_owned(), "at most 4,000"),
        ("attack reconstruct --rows 2".to_owned(), "at least 8"),
        ("attack reconstruct --noise 1,-31337".to_owned(), "--noise must be numbers"),
        ("attack difference --epsilon 0".to_owned(), "--epsilon must be"),
        (on("people.id"), "--target must be TABLE.COLUMN=VALUE"),
        (on("people.id=x31337"), "whole numbers"),
        (on("patients.id=1"), "no such table"),
        (on("people.sick=true"), "whole numbers or texts"),
        ("attack membership --people 1".to_owned(), "from 2 to 10,000"),
        ("attack membership --attributes 31337".to_owned(), "from 1 to 2,000"),
        (
            "attack link nine.csv nine-release.csv --qi zip --sensitive system --know x31337"
                .to_owned(),
            "does not have",
        ),
        (
            "attack link nine.csv nine-release.csv --qi zip,system --sensitive system".to_owned(),
            "both --qi and --sensitive",
        ),
        ("attack link --demo --report link.svg".to_owned(), "no picture"),
    ] {
        let run = demure(&line);
        assert_eq!((run.code, run.out.as_str()), (Some(2), ""), "{line}\n{}", run.err);
        assert!(run.err.contains(says) && !run.err.contains("31337"), "{line}\n{}", run.err);
    }
    // What the curator refuses, an attack is refused too: exit code 1.
    let all = ["attack", "average", &policy, "--query", "SELECT name FROM people"];
    assert_eq!(run(&all).code, Some(1));
}
