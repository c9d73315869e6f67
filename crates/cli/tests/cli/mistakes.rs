//! Bad calls: the message names what is wrong, the exit code is 2, stdout stays
//! empty, and nothing protected is repeated.

use super::{Run, demure, file, run};

/// A protected value that must appear nowhere, in any of its parts.
const CANARY: &str = "31337.125";

fn refused(run: &Run, says: &[&str], call: &str) {
    assert_eq!(run.code, Some(2), "{call}\n{}{}", run.out, run.err);
    assert_eq!(run.out, "", "{call}");
    assert!(run.err.starts_with("error: "), "{call}\n{}", run.err);
    assert!(!run.err.contains("31337"), "{call}\n{}", run.err);
    for words in says {
        assert!(run.err.contains(words), "{call}\nno `{words}` in: {}", run.err);
    }
}

/// Calls with the canary as their data, and what must be said of each.
const PARAMETERS: &[(&str, &[&str])] = &[
    (
        "mechanism laplace --value CANARY --sensitivity 1 --epsilon 0",
        &["epsilon", "greater than 0"],
    ),
    (
        "mechanism laplace --value CANARY --sensitivity 1 --epsilon -1",
        &["epsilon", "greater than 0"],
    ),
    ("mechanism laplace --value CANARY --sensitivity 1 --epsilon nan", &["epsilon", "finite"]),
    ("mechanism laplace --value CANARY --sensitivity 1 --epsilon inf", &["epsilon", "finite"]),
    ("mechanism laplace --value CANARY --sensitivity 1 --epsilon -inf", &["epsilon", "finite"]),
    ("mechanism laplace --value CANARY --sensitivity 1 --epsilon 1e999", &["epsilon", "finite"]),
    (
        "mechanism laplace --value CANARY --sensitivity 0 --epsilon 1",
        &["sensitivity", "greater than 0"],
    ),
    (
        "mechanism laplace --value CANARY --sensitivity -1 --epsilon 1",
        &["sensitivity", "greater than 0"],
    ),
    ("mechanism laplace --value CANARY --sensitivity inf --epsilon 1", &["sensitivity", "finite"]),
    (
        "mechanism laplace --value CANARY --sensitivity 1e308 --epsilon 1e-308",
        &["scale", "2^60", "hint: "],
    ),
    (
        "mechanism laplace --value CANARY --sensitivity 1 --epsilon x",
        &["--epsilon must be a number"],
    ),
    (
        "mechanism laplace --value CANARY --sensitivity 1 --epsilon 1 --integer",
        &["value", "whole number"],
    ),
    ("mechanism laplace --value inf --sensitivity 1 --epsilon 1", &["value", "finite"]),
    ("mechanism laplace --value nan --sensitivity 1 --epsilon 1 --json", &["value", "finite"]),
    (
        "mechanism laplace --value CANARY --sensitivity 1 --epsilon 1 --repeat 0",
        &["--repeat", "from 1"],
    ),
    (
        "mechanism laplace --value CANARY --sensitivity 1 --epsilon 1 --repeat -3",
        &["--repeat", "from 1"],
    ),
    (
        "mechanism laplace --value CANARY --sensitivity 1 --epsilon 1 --neighbours x",
        &["--neighbours", "add-remove, replace"],
    ),
    ("mechanism laplace --value CANARY --sensitivity 1", &["--epsilon"]),
    (
        "mechanism gaussian --value CANARY --sensitivity 1 --epsilon 1 --delta 1",
        &["delta", "between 0 and 1"],
    ),
    (
        "mechanism gaussian --value CANARY --sensitivity 1 --epsilon 1 --delta 0",
        &["delta", "between 0 and 1"],
    ),
    (
        "mechanism gaussian --value CANARY --sensitivity 1 --epsilon 1 --delta -1e-5",
        &["delta", "between 0 and 1"],
    ),
    (
        "mechanism gaussian --value CANARY --sensitivity 1 --epsilon 1 --delta nan",
        &["delta", "between 0 and 1"],
    ),
    ("mechanism gaussian --value CANARY --sensitivity 1 --epsilon 1", &["--delta"]),
    ("mechanism gaussian --value CANARY --sensitivity 1 --rho 0", &["rho", "greater than 0"]),
    (
        "mechanism gaussian --value CANARY --sensitivity 0 --rho 1",
        &["sensitivity", "greater than 0"],
    ),
    (
        "mechanism gaussian --value CANARY --sensitivity 1 --rho 1 --epsilon 1 --delta .1",
        &["--rho", "cannot be used"],
    ),
    (
        "mechanism gaussian --value CANARY --sensitivity 1 --epsilon 10 --delta 1e-6 --calibration classic",
        &["classic", "epsilon", "analytic"],
    ),
    (
        "mechanism gaussian --value 1 --integer --sensitivity 1.5 --epsilon 1 --delta 1e-6",
        &["sensitivity", "whole number"],
    ),
    ("mechanism exponential --scores a=CANARY --epsilon 0", &["epsilon", "greater than 0"]),
    (
        "mechanism exponential --scores a=CANARY --epsilon -1 --probabilities",
        &["epsilon", "greater than 0"],
    ),
    ("mechanism exponential --scores a=CANARY,b=nan --epsilon 1", &["scores", "finite"]),
    (
        "mechanism exponential --scores a=CANARY,b=inf --epsilon 1 --probabilities",
        &["scores", "finite"],
    ),
    (
        "mechanism exponential --scores a=CANARY --sensitivity 0 --epsilon 1",
        &["sensitivity", "greater than 0"],
    ),
    (
        "mechanism exponential --scores a=CANARY --sensitivity 0 --epsilon 0 --probabilities",
        &["sensitivity", "greater than 0"],
    ),
    ("mechanism exponential --scores a=CANARY,b --epsilon 1", &["--scores", "item 2"]),
    ("mechanism exponential --scores a=CANARYx --epsilon 1", &["--scores", "number"]),
    ("mechanism exponential --scores CANARY --epsilon 1", &["--scores", "name=number"]),
    ("mechanism exponential --scores a=1,a=CANARY --epsilon 1", &["--scores", "once"]),
    (
        "mechanism exponential --scores a=CANARY --epsilon 1 --method noisy-max",
        &["scores", "whole numbers"],
    ),
    (
        "mechanism exponential --scores a=CANARY --epsilon 1 --method noisy-max --probabilities",
        &["--probabilities", "noisy-max"],
    ),
    (
        "mechanism exponential --scores a=CANARY --epsilon 1 --monotone --neighbours replace",
        &["--monotone", "add-remove"],
    ),
    (
        "mechanism exponential --scores a=CANARY --epsilon 1e-300",
        &["epsilon / sensitivity", "2^-900"],
    ),
    ("mechanism response --alpha 0 --value yes", &["alpha", "between 0 and 1"]),
    ("mechanism response --alpha 1 --value yes", &["alpha", "between 0 and 1"]),
    ("mechanism response --gamma 0.5 --value yes", &["gamma", "between 0 and 0.5"]),
    ("mechanism response --gamma nan --value yes", &["gamma", "between 0 and 0.5"]),
    ("mechanism response --truth 0.5 --value yes", &["truth", "1/categories"]),
    ("mechanism response --epsilon 0 --value yes", &["epsilon", "greater than 0"]),
    ("mechanism response --epsilon 1 --value CANARY", &["value", "yes or no"]),
    ("mechanism response --epsilon 1 --categories a,b --value CANARY", &["value", "--categories"]),
    ("mechanism response --epsilon 1 --categories a,a --value a", &["--categories", "different"]),
    ("mechanism response --epsilon 1 --categories a --value a", &["categories", "at least 2"]),
    ("mechanism response --value yes", &["--alpha, --gamma, --epsilon and --truth"]),
    (
        "mechanism response --epsilon 1 --value yes --neighbours add-remove",
        &["neighbours", "replace"],
    ),
    ("mechanism response --epsilon 1 --estimate --yes 7 --n 5", &["yes", "from 0 to n"]),
    ("mechanism response --epsilon 1 --estimate --yes 0 --n 0", &["people", "at least 1"]),
    (
        "mechanism response --epsilon 1 --estimate --yes 1 --n 5 --confidence 1",
        &["--confidence", "between 0 and 1"],
    ),
    ("mechanism histogram --counts a=31337,b=-1 --epsilon 1", &["--counts", "item 2"]),
    ("mechanism histogram --counts a=CANARY --epsilon 1", &["--counts", "whole number"]),
    ("mechanism histogram --counts a=31337 --epsilon -1", &["epsilon", "greater than 0"]),
    (
        "mechanism histogram --counts a=31337 --epsilon 1 --max-groups 0",
        &["--max-groups", "from 1"],
    ),
    ("mechanism histogram --counts a=31337 --epsilon 1 --max-rows x", &["--max-rows", "from 1"]),
    ("mechanism histogram --epsilon 1", &["--keys"]),
    ("mechanism threshold --counts a=31337 --epsilon 1 --delta 1", &["delta", "between 0 and 1"]),
    ("mechanism threshold --counts a=31337 --epsilon 1 --delta 0", &["delta", "between 0 and 1"]),
    ("mechanism threshold --counts a=31337 --epsilon nan --delta .1", &["epsilon", "finite"]),
    (
        "mechanism threshold --counts a=31337 --epsilon 1 --delta .1 --max-rows 2 --method truncated-geometric",
        &["max-rows", "1"],
    ),
    ("mechanism threshold --epsilon 1 --delta .1", &["no data", "--counts"]),
    ("mechanism count --values CANARY --epsilon 0", &["epsilon", "greater than 0"]),
    ("mechanism count --values CANARY --epsilon 1 --max-rows 0", &["--max-rows", "from 1"]),
    ("mechanism count --values CANARY --epsilon 1 --bounds 5,1", &["--bounds", "low,high"]),
    ("mechanism sum --values CANARY --bounds 0,0 --epsilon 1", &["--bounds", "low,high"]),
    ("mechanism sum --values CANARY --bounds 9,0 --epsilon 1", &["--bounds", "lower first"]),
    ("mechanism sum --values CANARY --bounds 0,inf --epsilon 1", &["--bounds", "finite"]),
    ("mechanism sum --values CANARY --bounds nan,1 --epsilon 1", &["--bounds", "finite"]),
    ("mechanism sum --values CANARY --bounds 0 --epsilon 1", &["--bounds", "low,high"]),
    ("mechanism sum --values CANARY --epsilon 1", &["--bounds"]),
    ("mechanism sum --values CANARY --bounds 0,1", &["--epsilon", "--rho"]),
    ("mechanism sum --values CANARY --bounds 0,1 --epsilon 1 --rho 1", &["--epsilon", "--rho"]),
    ("mechanism sum --values CANARY --bounds 0,1e300 --epsilon 1e-300", &["scale"]),
    ("mechanism mean --values CANARY --bounds 9,0 --epsilon 1", &["--bounds", "lower first"]),
    ("mechanism mean --values CANARY --bounds 0,9 --epsilon -1", &["epsilon", "greater than 0"]),
    ("mechanism mean --values CANARY --bounds 0,9 --rho nan", &["rho", "finite"]),
    ("mechanism mean --values 1,CANARYx --bounds 0,9 --epsilon 1", &["--values", "item 2"]),
    ("mechanism mean --values 1,,CANARY --bounds 0,9 --epsilon 1", &["--values", "item 2"]),
    ("mechanism mean --values 1, CANARY --bounds 0,9 --epsilon 1", &["--values", "item 2"]),
    ("mechanism mean --values 1 CANARY --bounds 0,9 --epsilon 1", &["FILE"]),
    ("mechanism mean --bounds 0,9 --epsilon 1", &["no data", "--values"]),
    ("mechanism mean --column age --bounds 0,9 --epsilon 1", &["FILE"]),
    ("mechanism variance --values CANARY --bounds 0,9 --epsilon 0", &["epsilon", "greater than 0"]),
    ("mechanism quantile --values CANARY --bounds 0,9 --epsilon 0", &["epsilon", "greater than 0"]),
    (
        "mechanism quantile --values CANARY --bounds 0,9 --epsilon 1 --q 0",
        &["q", "between 0 and 1"],
    ),
    (
        "mechanism quantile --values CANARY --bounds 0,9 --epsilon 1 --q 1.5",
        &["q", "between 0 and 1"],
    ),
    ("mechanism quantile --values CANARY --bounds 5,5 --epsilon 1", &["--bounds", "low,high"]),
    (
        "mechanism quantile --values CANARY --bounds 0.2,0.4 --integer --epsilon 1",
        &["bounds", "grid"],
    ),
    ("mechanism tree --values CANARY --bounds 0,9 --epsilon 1", &["--cells"]),
    ("mechanism tree --values CANARY --bounds 0,9 --cells 0 --epsilon 1", &["--cells", "from 1"]),
    (
        "mechanism tree --values CANARY --bounds 0,9 --cells 4000000000 --epsilon 1",
        &["cells", "10,000,000"],
    ),
    (
        "mechanism tree --values CANARY --bounds 0,1e9 --integer --epsilon 1",
        &["cells", "10,000,000"],
    ),
    ("mechanism tree --values CANARY --bounds 0.5,9 --integer --epsilon 1", &["bounds", "whole"]),
    (
        "mechanism tree --values CANARY --bounds 0,9 --cells 9 --epsilon 1 --branching 1",
        &["branching", "at least 2"],
    ),
    (
        "mechanism tree --values CANARY --bounds 0,9 --cells 9 --epsilon 1 --range 5,2",
        &["--range", "lower first"],
    ),
    ("mechanism sparse --values 31337 --threshold 1.5 --epsilon 1", &["threshold", "whole number"]),
    ("mechanism sparse --values 31337 --threshold 1 --epsilon 0", &["epsilon", "greater than 0"]),
    (
        "mechanism sparse --values 31337 --threshold 1 --epsilon 1 --positives 0",
        &["--positives", "from 1"],
    ),
    (
        "mechanism sparse --values 31337 --threshold 1 --epsilon 1 --monotone --neighbours replace",
        &["--monotone", "add-remove"],
    ),
    ("plan count", &["two of --error, --n and --epsilon"]),
    ("plan count --n 100", &["two of --error, --n and --epsilon"]),
    ("plan count --n 100 --error 5 --epsilon 1", &["two of --error, --n and --epsilon"]),
    ("plan count --error 5 --epsilon 1", &["share", "1%"]),
    ("plan count --epsilon -1", &["epsilon", "greater than 0"]),
    ("plan count --error 0", &["--error", "greater than 0"]),
    ("plan count --error -5", &["--error", "greater than 0"]),
    ("plan count --error 1% --n 0", &["n must be", "at least 1"]),
    ("plan count --epsilon 1 --confidence 95", &["--confidence", "between 0 and 1"]),
    ("plan histogram --epsilon 1", &["--bins"]),
    ("plan histogram --bins 0 --epsilon 1", &["--bins", "from 1"]),
    ("plan mean --bounds 9,0 --n 5 --epsilon 1", &["--bounds", "lower first"]),
    ("plan mean --n 5 --epsilon 1", &["--bounds"]),
    ("plan mean --bounds 0,9 --epsilon 1", &["two of"]),
    ("plan response --gamma 0.25 --error 0.1 --categories 3", &["gamma", "yes or no", "--truth"]),
    ("plan response --gamma 0.25", &["two of"]),
    ("plan response --gamma 0.25 --error 0.1 --n 10", &["two of"]),
    ("plan response --gamma 0.75 --error 0.1", &["gamma", "between 0 and 0.5"]),
    ("plan response --gamma 0.25 --n 0", &["n must be", "at least 1"]),
    ("plan response --gamma 0.25 --error 1e-12", &["no number of people", "larger error"]),
];

#[test]
fn bad_parameters_are_named_with_their_range_and_no_value() {
    for (call, says) in PARAMETERS {
        let line = call.replace("CANARY", CANARY);
        refused(&demure(&line), says, call);
    }
}

#[test]
fn slips_of_the_fingers_do_not_repeat_data() {
    for (call, says) in [
        (
            "mechanism laplace --value CANARYx --sensitivity 1 --epsilon 1",
            "--value must be a number",
        ),
        (
            "mechanism laplace --value -CANARYx --sensitivity 1 --epsilon 1",
            "--value must be a number",
        ),
        (
            "mechanism laplace --value=CANARY, --sensitivity 1 --epsilon 1",
            "--value must be a number",
        ),
        ("mechanism laplace --valeu=CANARY --sensitivity 1 --epsilon 1", "did you mean --value?"),
        ("mechanism laplace --valeu CANARY --sensitivity 1 --epsilon 1", "did you mean --value?"),
        ("mechanism laplace CANARY --sensitivity 1 --epsilon 1", "an argument too many"),
        ("mechanism laplace --sensitivity 1 --epsilon 1 --CANARY", "an argument too many"),
        ("mechanism laplace --sensitivity 1 --epsilon 1 -CANARY", "an argument too many"),
        (
            "mechanism laplace --sensitivity 1 --epsilon 1 --explain=CANARY",
            "--explain takes no value",
        ),
        (
            "mechanism laplace --value 1 --sensitivity 1 --epsilon 1 --neighbours CANARY",
            "--neighbours must be one of",
        ),
        ("mechanism laplace --value CANARY --value CANARY --sensitivity 1 --epsilon 1", "--value"),
        ("mechanism CANARY", "no such subcommand"),
        ("mechanism mena", "did you mean median, mean?"),
        ("CANARY", "no such subcommand"),
        ("mechanism laplace --sensitivity 1 --epsilon 1 --value", "--value needs a value"),
    ] {
        let line = call.replace("CANARY", CANARY);
        refused(&demure(&line), &[says], call);
    }
    for (option, says) in [
        ("--scores=", "at least one"),
        ("--scores= ", "at least one"),
        ("--scores=a=31337, b=31337x", "item 2"),
    ] {
        let run = run(&["mechanism", "exponential", "--epsilon", "1", option]);
        refused(&run, &["--scores", says], option);
    }
    // A word where none belongs may be someone's answer.
    let answer = demure("mechanism response --epsilon 1 --value yes HIV");
    refused(&answer, &["an argument too many"], "a word too many");
    assert!(!answer.err.contains("HIV"), "{}", answer.err);
    let run = run(&["mechanism", "mean", "--values", "", "--bounds", "0,1", "--epsilon", "1"]);
    refused(&run, &["--values", "at least one number"], "empty values");
}

#[test]
fn files_that_cannot_be_read_are_named_and_not_shown() {
    let uneven = "uneven.csv";
    file(uneven, "a,b\n1,2\n31337.125\n");
    let fine = "fine.csv";
    file(fine, "31337.125,b\n31337.125,2\n");
    let lone = "lone.csv";
    file(lone, "a;31337.125\n31337.125;2\n");
    let empty = "empty.csv";
    file(empty, "");
    for (arguments, says) in [
        ("missing.csv --column a", vec!["missing.csv", "No such file"]),
        (". --column a", vec!["reading .", "directory"]),
        ("uneven.csv --column a", vec!["uneven.csv", "line 3", "well-formed"]),
        ("fine.csv --column a", vec!["fine.csv", "no column `a`", "first line"]),
        ("lone.csv --column a", vec!["lone.csv", "no column `a`", "--delimiter"]),
        ("empty.csv --column a", vec!["empty.csv", "no column `a`"]),
        ("fine.csv", vec!["--column"]),
        ("fine.csv --column b --delimiter ab", vec!["--delimiter", "one ASCII character"]),
    ] {
        for call in [
            "mechanism mean --bounds 0,9 --epsilon 1",
            "mechanism quantile --bounds 0,9 --epsilon 1",
            "mechanism histogram --keys a --epsilon 1",
            "mechanism threshold --epsilon 1 --delta .1",
        ] {
            let line = format!("{call} {arguments}");
            refused(&demure(&line), &says, &line);
        }
    }
    // No rows are no mistake: whether there are any is protected.
    file("header.csv", "a,b\n");
    let none = demure("mechanism mean header.csv --column a --bounds 0,9 --epsilon 1");
    assert_eq!(none.code, Some(0), "{}", none.err);
}

#[cfg(unix)]
#[test]
fn a_reader_that_goes_away_is_no_failure() {
    use std::io::{BufRead, BufReader};
    use std::process::{Command, Stdio};
    let mut child = Command::new(env!("CARGO_BIN_EXE_demure"))
        .args("mechanism laplace --value 1 --sensitivity 1 --epsilon 1 --repeat 200000".split(' '))
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut first = String::new();
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut first).unwrap();
    assert!(first.trim().parse::<f64>().is_ok());
    assert_eq!(child.wait().unwrap().code(), Some(0));
}
