//! `demure account`: every example of the accountant, from the command line.

use super::{file, run};
use serde_json::Value;

fn json(words: &[&str]) -> Value {
    let ran = run(&[&["account"], words, &["--json"]].concat());
    assert_eq!(ran.code, Some(0), "{words:?}: {}", ran.err);
    serde_json::from_str(&ran.out).unwrap()
}

/// The certified interval.
fn interval(document: &Value) -> (f64, f64) {
    let end = |name: &str| document["epsilon"][name].as_f64().unwrap();
    (end("lower"), end("upper"))
}

#[test]
fn known_costs_are_inside_narrow_intervals() {
    for (delta, events, truth, width) in [
        (
            "1e-6",
            &["laplace(eps=0.05)*50", "gaussian(sigma=20)*50"][..],
            2.224_794_011_879_004,
            1e-6,
        ),
        ("1e-5", &["poisson(q=0.01, gaussian(sigma=1.1))*10000"], 5.192_583_445_883_164, 1e-4),
        ("1e-6", &["response(eps=ln 3)*10"], 10.986_105_128_796_793, 1e-6),
        ("1e-6", &["exponential(eps=0.1)*100"], 2.246_026_212_456_179, 1e-6),
        ("2e-4", &["pure(eps=0.1, delta=1e-6)*30"], 1.752_664_127_767_099, 1e-6),
        ("1e-9", &["gaussian(sigma=10)*1000"], 23.407_542_535_945_502, 1e-6),
        ("1e-6", &["discrete_laplace(b=1, sensitivity=2)*10"], 19.999_977_065_820_733, 1e-6),
        ("1e-6", &["discrete_gaussian(sigma=2)*100"], 35.567_536_352_558_534, 1e-6),
    ] {
        let document = json(&[&["--delta", delta], events].concat());
        let (lower, upper) = interval(&document);
        // The known answers have 13 digits or more.
        assert!(lower <= truth * (1.0 + 1e-12) && truth * (1.0 - 1e-12) <= upper, "{events:?}");
        assert!(upper - lower <= width * upper, "{events:?}: {lower} {upper}");
        assert!(document["methods"].as_object().unwrap().len() > 1);
    }
}

#[test]
fn replacing_costs_more_than_adding() {
    let cost = |relation: &str| {
        let words = ["--delta", "1e-6", "gaussian(sigma=20)*50", "--neighbours", relation];
        interval(&json(&words)).1
    };
    assert!(cost("replace") > 1.9 * cost("add-remove"));
}

#[test]
fn an_impossible_delta_is_said_to_be() {
    let document = json(&["--delta", "1e-6", "pure(eps=0.1, delta=1e-6)*30"]);
    assert!(document["epsilon"]["upper"].is_null());
    let ran = run(&["account", "--delta", "1e-6", "pure(eps=0.1, delta=1e-6)*30"]);
    assert!(ran.out.contains("no finite ε at this δ"));
}

#[test]
fn a_target_is_met_with_little_to_spare() {
    let words = ["calibrate", "--epsilon", "1", "--delta", "1e-5"];
    let with = |event| json(&[&words[..], &[event]].concat());
    let sigma = with("poisson(q=0.01, gaussian(sigma=?))*1000");
    assert!((sigma["value"].as_f64().unwrap() - 1.414_619).abs() < 1e-5);
    let (_, upper) = interval(&sigma);
    assert!(upper <= 1.0 && upper > 1.0 - 1e-6);
    let one = with("gaussian(sigma=?)")["value"].as_f64().unwrap();
    assert!((3.730_631_634_815_94..3.730_631_634_9).contains(&one), "{one}");
    let most = with("laplace(b=100)*?")["value"].as_f64().unwrap();
    assert_eq!(most.fract(), 0.0);
    let over = format!("laplace(b=100)*{}", most + 1.0);
    assert!(interval(&json(&["--delta", "1e-5", &over])).1 > 1.0);
    for wrong in ["gaussian(sigma=1)", "gaussian(sigma=?)*?"] {
        assert_eq!(run(&[&["account"], &words[..], &[wrong]].concat()).code, Some(2));
    }
}

#[test]
fn files_and_curves() {
    let text = "delta = 1e-6\nevents = ['laplace(eps=0.05)*50', 'gaussian(sigma=20)*50']\n";
    file("batch.toml", text);
    let (lower, upper) = interval(&json(&["--file", "batch.toml"]));
    assert!(lower <= 2.224_794_011_880 && 2.224_794_011_878 <= upper);
    for against in ["delta", "queries"] {
        let name = format!("{against}.svg");
        let picture = file(&name, "");
        let words = ["account", "--file", "batch.toml", "--curve", &name, "--against", against];
        let ran = run(&words);
        assert_eq!(ran.code, Some(0), "{}", ran.err);
        let drawn = std::fs::read_to_string(&picture).unwrap();
        assert!(
            drawn.starts_with("<svg")
                && drawn.contains("class=\"c0 line\"")
                && !drawn.contains("NaN")
        );
    }
}

#[test]
fn mistakes_are_placed_and_explained() {
    for (words, why) in [
        (&["--delta", "1e-6", "laplace(b=0)"][..], "at character"),
        (&["--delta", "1e-6", "laplace(b=1"], "expected"),
        (&["--delta", "1e-6", "laplce(b=1)"], "expected"),
        (&["--delta", "1e-6", "gaussian(sigma=nan)"], "at character"),
        (&["--delta", "1e-6", "laplace(b=1)*0"], "at character"),
        (&["--delta", "1", "laplace(b=1)"], "delta must be"),
        (&["--delta", "-1", "laplace(b=1)"], "delta must be"),
        (&["--delta", "NaN", "laplace(b=1)"], "delta"),
        (&["laplace(b=1)"], "--delta"),
        (&["--delta", "1e-6"], "EVENT"),
        (&["--file", "no-such-file.toml"], "no-such-file"),
        (&["--delta", "1e-6", "poisson(q=2, gaussian(sigma=1))"], "at character"),
    ] {
        let ran = run(&[&["account"], words].concat());
        assert_eq!((ran.code, ran.out.as_str()), (Some(2), ""), "{words:?}");
        assert!(ran.err.contains(why), "{words:?}: {}", ran.err);
    }
}
