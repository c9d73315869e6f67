//! `demure shell` with a script.

use super::query::{CANARY, people};
use super::{Run, file};
use std::process::Command;

fn shell(policy: &str, name: &str, script: &str) -> Run {
    let script = file(name, script);
    let output = Command::new(env!("CARGO_BIN_EXE_demure"))
        .args(["shell", policy])
        .stdin(std::fs::File::open(script).unwrap())
        .output()
        .unwrap();
    let ran = Run::of(output);
    assert!(!ran.out.contains(CANARY) && !ran.err.contains(CANARY), "{}{}", ran.out, ran.err);
    ran
}

#[test]
fn a_script_asks_explains_sets_and_describes() {
    let policy = people("shell");
    let script = "\
SET demure.epsilon = 0.25;
SELECT city, COUNT(*) AS n -- a comment with a ;
FROM people
GROUP BY city; SELECT MODE(city) AS m FROM people;
SHOW demure.epsilon;
\\d
\\d people
\\budget
\\set intervals off
\\explain SELECT COUNT(*) FROM people
\\?
\\q
SELECT COUNT(*) FROM people;
";
    let ran = shell(&policy, "shell-script", script);
    assert_eq!(ran.code, Some(0), "{}{}", ran.out, ran.err);
    assert_eq!(ran.out.matches("demure.epsilon = 0.25\n").count(), 2);
    for words in [
        " ± ",
        "protected by id",
        "from 0 to 120; never NULL",
        "whose row it is",
        "'A', 'B'",
        "spent  ε 0.5\n",
        "demure.intervals = off",
        "discrete Laplace",
        "\\budget",
    ] {
        assert!(ran.out.contains(words), "no `{words}` in {}", ran.out);
    }
    assert_eq!(ran.err.matches("cost ε 0.25").count(), 2, "{}", ran.err);
}

#[test]
fn a_script_goes_on_and_its_exit_code_is_the_worst() {
    let policy = people("shell-worst");
    let refused =
        shell(&policy, "shell-1", "SELECT id FROM people;\nSELECT COUNT(*) FROM people;\n");
    assert_eq!(refused.code, Some(1), "{}", refused.err);
    assert!(refused.err.contains("refused: ") && refused.err.contains("hint: "));
    assert!(refused.out.contains("count(*)"), "{}", refused.out);
    for (name, script, says) in [
        (
            "shell-2",
            "SELECT id FROM people;\nSELECT nothing FROM people;\n",
            "there is no column `nothing` in `people`",
        ),
        ("shell-3", "SELECT COUNT(*) FROM people", "the last statement has no end\nhint: "),
        ("shell-4", "\\nothing\n", "there is no such command\nhint: "),
        ("shell-5", "\\d nothing\n", "there is no such table\nhint: "),
    ] {
        let ran = shell(&policy, name, script);
        assert_eq!(ran.code, Some(2), "{script}: {}", ran.err);
        assert!(ran.err.contains(says), "{script}: {}", ran.err);
    }
    assert_eq!(shell(&policy, "shell-6", "-- nothing\n\n;\n").code, Some(0));
}
