//! What every command has: `--json`, `--quiet`, lines of progress, completions and pages of the manual.

use super::query::people;
use super::{Run, demure, directory, file, run};
use serde_json::Value;
use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// The one object of a run that must succeed.
fn object(args: &[&str]) -> Value {
    let ran = run(args);
    assert_eq!(ran.code, Some(0), "{args:?}: {}", ran.err);
    assert_eq!(ran.out.lines().count(), 1, "{args:?}: {}", ran.out);
    serde_json::from_str(&ran.out).unwrap()
}

#[test]
fn quiet_leaves_the_answer_errors_and_refusals() {
    let policy = people("quiet");
    let count = "SELECT COUNT(*) AS n FROM people";
    let said = run(&["query", &policy, count]);
    let quiet = run(&["query", &policy, count, "--quiet"]);
    assert!(said.err.contains("cost ε 0.5"), "{}", said.err);
    assert_eq!((quiet.code, quiet.err.as_str()), (Some(0), ""));
    assert_eq!(quiet.out, said.out);
    // Before the command too.
    assert_eq!(run(&["--quiet", "query", &policy, count]).err, "");
    let refused = run(&["query", &policy, "SELECT id FROM people", "--quiet"]);
    assert_eq!(refused.code, Some(1));
    assert!(
        refused.err.starts_with("refused: ") && refused.err.contains("hint: "),
        "{}",
        refused.err
    );
    let mistake = run(&["query", &policy, "SELECT nothing FROM people", "--quiet"]);
    assert_eq!(mistake.code, Some(2));
    assert!(mistake.err.contains("error: "), "{}", mistake.err);
    let nine = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/nine-rows/people.csv");
    for line in [
        "mechanism laplace --value 10 --sensitivity 1 --epsilon 1".to_owned(),
        format!("anonymize {nine} --qi zip --k 1"),
    ] {
        assert!(!demure(&line).err.is_empty(), "{line}");
        let quiet = demure(&format!("{line} --quiet"));
        assert_eq!((quiet.code, quiet.err.as_str()), (Some(0), ""), "{line}");
        assert!(!quiet.out.is_empty(), "{line}");
    }
}

#[test]
fn commands_for_people_speak_json_too() {
    let policy = people("json");
    let answer = object(&["query", &policy, "SELECT COUNT(*) AS n FROM people", "--json"]);
    assert!(answer["rows"][0]["n"].is_i64() && answer["cost"]["epsilon"].is_f64(), "{answer}");
    let price =
        object(&["query", &policy, "EXPLAIN PRIVACY SELECT MAX(age) FROM people", "--json"]);
    assert!(price["aggregates"].is_array(), "{price}");
    let both = run(&["query", &policy, "SELECT 1", "--json", "--format", "csv"]);
    assert_eq!(both.code, Some(2), "{}", both.err);

    let demo = object(&["demo", "--patients", "2000", "--json"]);
    let questions = demo["questions"].as_array().unwrap();
    assert_eq!(questions.len(), 6);
    assert!(questions[..5].iter().all(|one| one["answer"]["rows"].is_array()), "{demo}");
    assert!(questions[5]["refused"].is_string(), "{demo}");

    let data = file("json-people.csv", "age,income\n31,20000\n45,70000\n");
    let proposed = object(&["init", data.to_str().unwrap(), "--json"]);
    assert!(proposed["text"].as_str().unwrap().contains("[budget]"), "{proposed}");
    assert!(proposed["policy"].is_null());

    let password = file("json-password", "correct horse battery\n");
    let added = Command::new(env!("CARGO_BIN_EXE_demure"))
        .args(["user", "add", "ana", "--policy", &policy, "--password-stdin", "--json"])
        .stdin(std::fs::File::open(password).unwrap())
        .output()
        .unwrap();
    let added: Value = serde_json::from_str(&Run::of(added).out).unwrap();
    assert_eq!(added["done"], "ana can sign in as analyst");
    let token = object(&["user", "token", "ana", "--policy", &policy, "--json"]);
    assert!(token["token"].as_str().unwrap().starts_with("demure_"), "{token}");
    assert_eq!(object(&["user", "list", "--policy", &policy, "--json"])["users"][0]["name"], "ana");
    let revoked = object(&["user", "token", "ana", "--revoke", "--policy", &policy, "--json"]);
    assert_eq!(revoked["done"], "1 tokens of ana are taken back");
}

#[test]
fn a_shell_for_programs_prints_an_object_for_each_statement() {
    let policy = people("json-shell");
    let script = "\
SET demure.epsilon = 0.25;
SELECT city, COUNT(*) AS n FROM people GROUP BY city;
EXPLAIN PRIVACY SELECT MAX(age) FROM people;
\\d
\\d people
\\set
\\budget
";
    let output = Command::new(env!("CARGO_BIN_EXE_demure"))
        .args(["shell", &policy, "--json"])
        .stdin(std::fs::File::open(file("json-shell.sql", script)).unwrap())
        .output()
        .unwrap();
    let ran = Run::of(output);
    assert_eq!((ran.code, ran.err.as_str()), (Some(0), ""), "{}", ran.out);
    let told: Vec<Value> =
        ran.out.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(told[0]["demure.epsilon"], "0.25");
    assert_eq!(told[1]["rows"][0]["city"], "A");
    assert!(told[2]["aggregates"].is_array());
    assert_eq!(told[3]["tables"][0]["table"], "people");
    assert_eq!(told[4]["people"][0]["column"], "id");
    assert_eq!(told.len(), 5 + 6 + 1, "{}", ran.out);
    assert_eq!(told[5]["demure.epsilon"], "0.25");
    assert!(told[11]["left"].as_str().unwrap().starts_with("ε 1.75"), "{}", ran.out);
}

#[test]
fn a_server_says_where_it_is_as_json() {
    let policy = people("json-serve");
    let mut server = Command::new(env!("CARGO_BIN_EXE_demure"))
        .args(["serve", &policy, "--json", "--pg", "127.0.0.1:0", "--http", "127.0.0.1:0"])
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut line = String::new();
    BufReader::new(server.stdout.take().unwrap()).read_line(&mut line).unwrap();
    server.kill().unwrap();
    server.wait().unwrap();
    let told: Value = serde_json::from_str(&line).unwrap();
    assert_eq!(told["tables"], serde_json::json!(["people"]));
    let wire: std::net::SocketAddr = told["postgresql"].as_str().unwrap().parse().unwrap();
    assert!(wire.port() > 0 && told["console"].as_str().unwrap().starts_with("http://127.0.0.1:"));
}

#[test]
fn long_work_says_on_a_pipe_how_far_it_is() {
    let mut work = Command::new(env!("CARGO_BIN_EXE_demure"))
        .args(
            "mechanism laplace --value 1 --sensitivity 1 --epsilon 1 --repeat 4000000000"
                .split(' '),
        )
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let begun = Instant::now();
    let mut lines = BufReader::new(work.stderr.take().unwrap()).lines();
    let (first, second) = (lines.next().unwrap().unwrap(), lines.next().unwrap().unwrap());
    let took = begun.elapsed();
    work.kill().unwrap();
    work.wait().unwrap();
    assert!(took >= Duration::from_secs(20), "{took:?}");
    let words: Vec<&str> = first.split(' ').collect();
    let [progress, percent, sign, seconds, unit] = words[..] else { panic!("{first}") };
    assert_eq!((progress, sign, unit), ("progress:", "%,", "s"), "{first}");
    assert!(percent.parse::<u32>().unwrap() < 100, "{first}");
    assert!((10..25).contains(&seconds.parse::<u32>().unwrap()), "{first}");
    assert!(second.starts_with("progress: "), "{second}");
}

#[test]
fn every_plan_draws_into_a_file() {
    for (i, line) in [
        "plan count --error 1% --epsilon 0.1",
        "plan histogram --bins 50 --epsilon 1",
        "plan sum --bounds 0,100 --epsilon 1",
        "plan mean --bounds 0,100 --n 1000 --epsilon 1",
        "plan response --gamma 0.25 --error 0.01",
        "collect plan --values 2 --gamma 0.25 --error 0.01",
    ]
    .into_iter()
    .enumerate()
    {
        let picture = directory().join(format!("plan-{i}.svg"));
        let ran = demure(&format!("{line} --json --plot {}", picture.display()));
        assert_eq!(ran.code, Some(0), "{line}: {}", ran.err);
        let drawn = std::fs::read_to_string(picture).unwrap();
        assert!(drawn.starts_with("<svg") && drawn.contains("ε"), "{line}");
    }
}

#[test]
fn shells_and_manuals_know_every_command() {
    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        let script = demure(&format!("completions {shell}"));
        assert_eq!((script.code, script.err.as_str()), (Some(0), ""), "{shell}");
        for word in ["anonymize", "unfreeze", "error-at-most", "quiet"] {
            assert!(script.out.contains(word), "{shell}: no {word}");
        }
        if shell == "bash" {
            // It completes: of the words that begin with `bu` there is one.
            let path = file("completions.bash", &script.out);
            let ask = format!(
                "source '{}'; COMP_WORDS=(demure bu); COMP_CWORD=1; \
                 _demure demure bu demure; echo \"${{COMPREPLY[@]}}\"",
                path.display()
            );
            let ran = Run::of(Command::new("bash").args(["-c", &ask]).output().unwrap());
            assert_eq!((ran.out.as_str(), ran.err.as_str()), ("budget\n", ""));
        }
    }
    assert!(demure("completions tcsh").err.contains("must be one of: "));
    let folder = directory().join("manual");
    let _ = std::fs::remove_dir_all(&folder);
    let ran = run(&["man", folder.to_str().unwrap()]);
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    for page in ["demure", "demure-query", "demure-budget-log", "demure-collect-randomize"] {
        let text = std::fs::read_to_string(folder.join(format!("{page}.1"))).unwrap();
        assert!(text.contains(".TH") && text.contains("\\-\\-quiet"), "{page}");
    }
}
