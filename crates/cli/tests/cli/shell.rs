//! `demure shell` with a script, and typed on a terminal.

use super::query::{CANARY, people};
use super::{Run, directory, file};
use std::path::{Path, PathBuf};
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

#[test]
fn words_that_newcomers_type_end_and_help() {
    let policy = people("shell-words");
    for last in ["quit", "exit;", "QUIT", "\\q", "\\quit"] {
        let ran = shell(&policy, "shell-quit", &format!("help\n{last}\nSELECT nothing;\n"));
        assert_eq!(ran.code, Some(0), "{last}: {}", ran.err);
        assert!(ran.out.contains("\\timing [on|off]"), "{}", ran.out);
    }
    // In a script a statement goes on, whatever its lines are called.
    let ran = shell(&policy, "shell-column", "SELECT\nexit\nFROM people;\n");
    assert!(ran.err.contains("there is no column `exit`"), "{}", ran.err);
    let text =
        shell(&policy, "shell-quoted", "SELECT COUNT(*) FROM people WHERE city = '\n\\q\n';\n");
    assert_eq!(text.code, Some(0), "{}", text.err);
    assert!(text.err.contains("cost ε 0.5"), "{}", text.err);
}

#[test]
fn answers_go_into_files_and_settings_are_shown() {
    let policy = people("shell-files");
    let folder = directory().join("shell-files");
    let csv = folder.join("by city.csv");
    let script = format!(
        "\\o {}\nSELECT city, COUNT(*) AS n FROM people GROUP BY city;\n\
         SELECT COUNT(*) AS n FROM people;\n\\set\n\\set epsilon 0.25\n\\set epsilon\n\\set intervals\n\
         \\timing\nSHOW demure.epsilon;\n\\timing off\nSHOW demure.epsilon;\n",
        csv.display()
    );
    let ran = shell(&policy, "shell-files.sql", &script);
    assert_eq!(ran.code, Some(0), "{}{}", ran.out, ran.err);
    let written = std::fs::read_to_string(&csv).unwrap();
    assert!(written.starts_with("city,n,n_low,n_high\nA,"), "{written}");
    assert_eq!(written.lines().count(), 3, "{written}");
    assert!(ran.err.contains("2 rows in "), "{}", ran.err);
    // The second answer is shown again.
    assert_eq!(ran.out.matches(" ± ").count(), 1, "{}", ran.out);
    assert!(ran.out.contains("default, 0.5") && ran.out.contains("default, 5e-8"), "{}", ran.out);
    assert_eq!(ran.out.matches("demure.epsilon = 0.25\n").count(), 4, "{}", ran.out);
    assert!(ran.out.contains("demure.intervals = on\n"), "{}", ran.out);
    assert_eq!(ran.err.matches("\ntime ").count(), 1, "{}", ran.err);
    let bad = |script: &str, code: i32, says: &str| {
        let ran = shell(&policy, "shell-bad.sql", script);
        assert_eq!(ran.code, Some(code), "{script}: {}", ran.err);
        assert!(ran.err.contains(says) && ran.err.contains("hint: "), "{script}: {}", ran.err);
    };
    bad("\\o answers\n", 2, "does not say its format");
    bad("\\watch 5\n", 1, "each answer would cost");
    bad("\\e\n", 2, "a script has no editor");
    // What was bought is not lost with the file.
    bad("\\o /nowhere/at/all.csv\nSELECT COUNT(*) AS n FROM people;\n", 2, "asking again is free");
}

/// What a terminal shows, without its colours and movements, when these keys are typed, each at a prompt.
fn typed(policy: &str, state: &Path, keys: &[&str]) -> Run {
    let lines: String =
        keys.iter().map(|keys| format!("{}\n", serde_json::Value::from(*keys))).collect();
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cli/terminal.py");
    let edit = file(
        "shell-edit.sh",
        "#!/bin/sh\nprintf 'SELECT COUNT(*) AS edited\\nFROM people;' > \"$1\"\n",
    );
    let output = Command::new("python3")
        .arg(script)
        .arg(env!("CARGO_BIN_EXE_demure"))
        .arg(policy)
        .arg(state)
        .env("TEST_EDITOR", format!("sh {}", edit.display()))
        .env("HOME", state)
        .stdin(std::fs::File::open(file("shell-keys", &lines)).unwrap())
        .output()
        .unwrap();
    let ran = Run::of(output);
    assert!(!ran.out.contains(CANARY), "{}", ran.out);
    ran
}

fn state(name: &str) -> PathBuf {
    let state = directory().join(name).join("state");
    let _ = std::fs::remove_dir_all(&state);
    state
}

#[test]
fn on_a_terminal_quit_ends_at_any_prompt_and_the_history_is_kept() {
    let policy = people("shell-typed");
    let state = state("shell-typed");
    // At the prompt of a statement that has begun, too.
    let ran = typed(&policy, &state, &["SELECT COUNT(*)\r", "help\r", "quit\r"]);
    assert_eq!(ran.code, Some(0), "{}{}", ran.out, ran.err);
    assert!(ran.out.contains("\\explain [SELECT …]"), "{}", ran.out);
    assert!(ran.out.contains("the statement goes on"), "{}", ran.out);
    assert!(!ran.out.contains("has no end"), "{}", ran.out);
    // Several statements that are pasted at once are asked one after the other, also where the terminal says that they
    // are pasted.
    let pasted = "SET demure.epsilon = 0.25;\nSELECT COUNT(*) AS first -- one ;\nFROM people;\n\\d people\n\
                  SELECT COUNT(*) AS second FROM people WHERE age > 30;\n";
    let wrapped = format!("\u{1b}[200~{pasted}\u{1b}[201~\r");
    let lines = pasted.replace('\n', "\r").replace("first", "third").replace("second", "fourth");
    let ran = typed(&policy, &state, &[&wrapped, &lines, "exit\r"]);
    assert_eq!(ran.code, Some(0), "{}{}", ran.out, ran.err);
    assert!(!ran.out.contains("error"), "{}", ran.out);
    // The other two are the same questions under other names: free.
    assert_eq!(ran.out.matches("cost ε 0.25").count(), 2, "{}", ran.out);
    assert_eq!(ran.out.matches("cost nothing").count(), 2, "{}", ran.out);
    assert_eq!(ran.out.matches("whose row it is").count(), 2, "{}", ran.out);
    let history = state.join("demure_history");
    let kept = std::fs::read_to_string(&history).unwrap();
    for line in ["help", "quit", "first", "second", "fourth", "\\d people"] {
        assert!(kept.contains(line), "no {line} in {kept}");
    }
    let mode = std::os::unix::fs::PermissionsExt::mode(&history.metadata().unwrap().permissions());
    assert_eq!(mode & 0o777, 0o600);
}

#[test]
fn on_a_terminal_an_editor_writes_and_tab_completes() {
    let policy = people("shell-edited");
    let state = state("shell-edited");
    let ran = typed(
        &policy,
        &state,
        &[
            // What the editor leaves stands at the prompt until Enter is pressed.
            "\\e\r",
            "\r",
            // A table after FROM, and a column of it.
            "SELECT MAX(inc\t) FROM peo\t;\r",
            "quit\r",
        ],
    );
    assert_eq!(ran.code, Some(0), "{}{}", ran.out, ran.err);
    assert!(ran.out.contains("edited"), "{}", ran.out);
    assert_eq!(ran.out.matches("cost ε 0.5").count(), 2, "{}", ran.out);
}
