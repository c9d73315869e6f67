//! `demure collect …`: each command, the whole flow, the service under kills and hostile bodies.

use crate::{Run, number, run};
use serde_json::Value;
use std::collections::HashSet;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Mutex;
use std::time::{Duration, Instant};

/// A folder with a survey of yes or no in it.
fn exam() -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let survey = folder.path().join("exam.toml");
    let made = run(&[
        "collect",
        "init",
        text(&survey),
        "--question",
        "Cheated?",
        "--values",
        "yes,no",
        "--gamma",
        "0.25",
    ]);
    assert_eq!((made.code, made.err.as_str()), (Some(0), ""));
    assert!(made.out.contains("epsilon") && made.out.contains("1.09861"), "{}", made.out);
    (folder, survey)
}

fn text(path: &Path) -> &str {
    path.to_str().unwrap()
}

/// `demure collect …` with text on its standard input.
fn with_input(args: &[&str], input: &str) -> Run {
    let mut child = Command::new(env!("CARGO_BIN_EXE_demure"))
        .arg("collect")
        .args(args)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let input = input.to_owned();
    let writer = std::thread::spawn(move || stdin.write_all(input.as_bytes()));
    let done = child.wait_with_output().unwrap();
    let _ = writer.join();
    Run::of(done)
}

/// The JSON object of a run that must succeed.
fn object(run: &Run) -> Value {
    assert_eq!(run.code, Some(0), "{}", run.err);
    assert_eq!(run.out.lines().count(), 1, "{}", run.out);
    serde_json::from_str(&run.out).unwrap()
}

/// n reports of the survey, as lines; every third answer is yes.
fn reports(survey: &Path, n: usize) -> Vec<String> {
    let answers: String = (0..n).map(|i| if i % 3 == 0 { "yes\n" } else { "no\n" }).collect();
    let made = with_input(&["randomize", text(survey)], &answers);
    assert_eq!(made.code, Some(0), "{}", made.err);
    assert_eq!(made.out.lines().count(), n);
    made.out.lines().map(str::to_owned).collect()
}

#[test]
fn the_whole_flow() {
    let (folder, survey) = exam();
    // A third says yes: 6,000 people, ε = ln 3, a standard error of 0.0129.
    let lines = reports(&survey, 6_000);
    let file = folder.path().join("reports.jsonl");
    std::fs::write(&file, lines.join("\n")).unwrap();
    let plot = folder.path().join("out.svg");
    let found =
        run(&["collect", "estimate", text(&survey), text(&file), "--json", "--plot", text(&plot)]);
    let found = object(&found);
    let yes = &found["values"]["yes"];
    // Six standard errors: a false alarm in 10⁹ runs.
    assert!((number(yes, "estimate") - 1.0 / 3.0).abs() < 0.08, "{found}");
    assert!(
        number(yes, "lower") < number(yes, "estimate")
            && number(yes, "estimate") < number(yes, "upper")
    );
    assert!(
        (number(yes, "estimate") + number(&found["values"]["no"], "estimate") - 1.0).abs() < 1e-9
    );
    assert_eq!((&found["reports"], &found["intervals"]), (&6_000.into(), &"exact".into()));
    let svg = std::fs::read_to_string(plot).unwrap();
    assert!(
        svg.starts_with("<svg") && svg.contains("Cheated?") && svg.contains("class=\"c0 line\"")
    );
    // From standard input, with reports that are none, and one twice.
    let bad = format!("{}\nnonsense\n{{\"version\":2}}\n{}\n", lines.join("\n"), lines[0]);
    let piped = with_input(&["estimate", text(&survey), "-", "--consistent"], &bad);
    assert_eq!(piped.code, Some(0), "{}", piped.err);
    for words in [
        "6,000 reports, ε 1.09861 each",
        "1 malformed, 1 of another version, 1 repeated",
        "95 % interval",
        "consistent",
        "█",
    ] {
        assert!(piped.out.contains(words), "{words} in\n{}", piped.out);
    }
    // A survey that was changed has no reports yet.
    let other = folder.path().join("other.toml");
    std::fs::write(&other, std::fs::read_to_string(&survey).unwrap().replace("Cheated?", "Lied?"))
        .unwrap();
    let refused = run(&["collect", "estimate", text(&other), text(&file)]);
    assert_eq!((refused.code, refused.out.as_str()), (Some(2), ""));
    assert!(
        refused.err.contains("no usable report") && refused.err.contains("hint: "),
        "{}",
        refused.err
    );
}

#[test]
fn the_lecture_s_eighteen_students() {
    let example = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/cheating-exam");
    let survey = example.join("survey.toml");
    let found = object(&run(&[
        "collect",
        "estimate",
        text(&survey),
        text(&example.join("reports.jsonl")),
        "--json",
    ]));
    let yes = &found["values"]["yes"];
    assert!((number(yes, "estimate") - 0.5).abs() < 1e-12, "{found}");
    assert!(
        (number(yes, "lower") - 0.020).abs() < 1e-3 && (number(yes, "upper") - 0.980).abs() < 1e-3
    );
    assert!((number(&found, "epsilon") - 3f64.ln()).abs() < 1e-12);
    let answers = std::fs::read_to_string(example.join("answers.csv")).unwrap();
    let made = with_input(&["randomize", text(&survey)], &answers);
    assert_eq!(
        (made.code, made.out.lines().count(), made.err.as_str()),
        (Some(0), 18, "18 reports made\n")
    );
}

#[test]
fn surveys_of_all_kinds_are_made_randomized_and_estimated() {
    let folder = tempfile::tempdir().unwrap();
    let letters: Vec<String> = (0..60).map(|i| format!("v{i}")).collect();
    for (name, options, answer) in [
        ("values", format!("--values {} --epsilon 1", letters.join(",")), "v7"),
        (
            "hash",
            format!("--values {} --epsilon 1 --mechanism local-hashing", letters.join(",")),
            "v7",
        ),
        ("mean", "--range 0,24 --epsilon 1".to_owned(), "7"),
        ("bins", "--range -10,10 --statistic distribution --bins 8 --epsilon 2".to_owned(), "7"),
        ("text", "--length 2 --epsilon 8".to_owned(), "hi"),
    ] {
        let survey = folder.path().join(format!("{name}.toml"));
        let mut args = vec!["collect", "init", text(&survey), "--question", "What?", "--json"];
        args.extend(options.split(' '));
        let made = object(&run(&args));
        assert!(made["mechanism"].is_string() && number(&made, "bytes") > 25.0, "{made}");
        let answers = format!("{answer}\n").repeat(2_000);
        let lines = with_input(&["randomize", text(&survey), "--json"], &answers);
        let told: Value = serde_json::from_str(&lines.err).unwrap();
        assert_eq!((&told["reports"], &told["skipped"]), (&2_000.into(), &0.into()));
        assert!(!lines.out.contains(&format!("\"{answer}\"")) || name == "values", "{name}");
        let shown = with_input(&["estimate", text(&survey), "-"], &lines.out);
        assert_eq!(shown.code, Some(0), "{name}: {}", shown.err);
        let found = object(&with_input(&["estimate", text(&survey), "-", "--json"], &lines.out));
        let plot = folder.path().join("x.svg");
        with_input(&["estimate", text(&survey), "-", "--plot", text(&plot)], &lines.out);
        assert!(plot.exists());
        match name {
            "mean" => {
                assert!((number(&found["mean"], "estimate") - 7.0).abs() < 4.0, "{found}");
            }
            "bins" => {
                assert_eq!(found["bins"].as_array().unwrap().len(), 8);
            }
            _ => {
                assert!(number(&found["values"][answer], "estimate") > 0.6, "{name}: {found}");
            }
        }
    }
}

#[test]
fn two_attributes_and_their_table() {
    let folder = tempfile::tempdir().unwrap();
    let survey = folder.path().join("two.toml");
    std::fs::write(
        &survey,
        "version = 1\nquestion = 'Two?'\nsalt = '00112233445566778899aabbccddeeff'\nepsilon = 4.0\n\
         budget = 'split'\n[[attribute]]\nname = 'sex'\nvalues = ['f', 'm']\n[[attribute]]\nname = \
         'smokes'\nvalues = ['yes', 'no']\n",
    )
    .unwrap();
    let answers = format!("smokes,sex\n{}{}", "yes,f\n".repeat(1_000), "no,m\n".repeat(1_000));
    let lines = with_input(&["randomize", text(&survey)], &answers).out;
    let found = object(&with_input(
        &["estimate", text(&survey), "-", "--cross", "sex,smokes", "--json"],
        &lines,
    ));
    let cell = found["cross"]
        .as_array()
        .unwrap()
        .iter()
        .find(|c| c["values"][0] == "f" && c["values"][1] == "yes");
    assert!((number(cell.unwrap(), "estimate") - 0.5).abs() < 0.15, "{found}");
    assert!((number(&found["attributes"]["sex"]["values"]["f"], "estimate") - 0.5).abs() < 0.15);
    let shown = with_input(&["estimate", text(&survey), "-", "--cross", "sex,smokes"], &lines).out;
    assert!(shown.contains("f · yes"), "{shown}");
}

#[test]
fn remembered_noise_is_kept_in_a_file_of_its_own() {
    let folder = tempfile::tempdir().unwrap();
    let survey = folder.path().join("daily.toml");
    std::fs::write(
        &survey,
        "version = 1\nquestion = 'Today?'\nsalt = '00112233445566778899aabbccddeeff'\nepsilon = 2.0\n\
         first_epsilon = 1.0\nmechanism = 'rappor'\nvalues = ['a', 'b', 'c']\n",
    )
    .unwrap();
    let memory = folder.path().join("mine.json");
    let once =
        |answer: &str| with_input(&["randomize", text(&survey), "--memory", text(&memory)], answer);
    let first = once("b\n");
    assert_eq!((first.code, first.out.lines().count()), (Some(0), 1), "{}", first.err);
    let kept = std::fs::read_to_string(&memory).unwrap();
    assert_eq!(once("answer\nb\n").code, Some(0));
    assert_eq!(std::fs::read_to_string(&memory).unwrap(), kept);
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        assert_eq!(std::fs::metadata(&memory).unwrap().permissions().mode() & 0o777, 0o600);
    }
    for several in ["a\nb\n", "", "x\n"] {
        let refused = once(several);
        assert_eq!((refused.code, refused.out.as_str()), (Some(2), ""));
        assert!(refused.err.contains("one person's"), "{}", refused.err);
    }
    let without = with_input(&["randomize", text(&survey)], "b\n");
    assert_eq!(without.code, Some(2));
}

#[test]
fn plans_in_every_direction() {
    let plan = |line: &str| {
        let args: Vec<&str> =
            ["collect", "plan"].into_iter().chain(line.split(' ')).chain(["--json"]).collect();
        object(&run(&args))
    };
    let people = plan("--values 2 --gamma 0.25 --error 0.01");
    assert_eq!(people["n"], 73_778);
    assert_eq!(
        (&people["methods"]["hoeffding"], &people["methods"]["normal"]),
        (&73_778.into(), &38_415.into())
    );
    assert!((number(&people, "epsilon") - 3f64.ln()).abs() < 1e-12 && people["asked"] == "n");
    let exact = number(&people["methods"], "exact");
    assert!((36_000.0..40_000.0).contains(&exact), "{exact}");
    assert!((number(&plan("--alpha 0.5 --n 73778"), "error") - 0.01).abs() < 1e-6);
    let epsilon = plan("--n 73778 --error 1%");
    assert!(
        (number(&epsilon, "epsilon") - 3f64.ln()).abs() < 1e-4 && epsilon["asked"] == "epsilon"
    );
    assert!(
        number(&plan("--values 100 --epsilon 1 --error 0.05 --together"), "n")
            > number(&plan("--values 100 --epsilon 1 --error 0.05"), "n")
    );
    let (folder, survey) = exam();
    assert_eq!(plan(&format!("--survey {} --error 0.01", text(&survey)))["n"], 73_778);
    let svg = folder.path().join("plan.svg");
    let shown =
        run(&["collect", "plan", "--gamma", "0.25", "--error", "0.01", "--plot", text(&svg)]);
    assert!(shown.out.contains("ask 73,778 people") && shown.out.contains('●'), "{}", shown.out);
    assert!(shown.out.lines().all(|line| line.chars().count() <= 100), "{}", shown.out);
    assert!(std::fs::read_to_string(svg).unwrap().contains(">exact</text>"));
}

#[test]
fn shuffled_reports_have_new_tokens_another_order_and_the_same_estimate() {
    let (folder, survey) = exam();
    let answers = "yes\nno\nno\n".repeat(100);
    let reports = with_input(&["randomize", text(&survey)], &answers).out;
    let first = reports.lines().next().unwrap();
    let sent = format!("{reports}{first}\nnot a report\n\n");
    let few = with_input(&["shuffle", text(&survey), "-"], &sent);
    assert_eq!((few.code, few.out.as_str()), (Some(1), ""), "{}", few.err);
    assert!(few.err.contains("300 reports are too few") && few.err.contains("hint: "));
    let call = ["shuffle", text(&survey), "-", "--minimum", "300", "--json"];
    let shuffled = with_input(&call, &sent);
    let told: Value = serde_json::from_str(&shuffled.err).unwrap();
    assert_eq!(
        (&told["reports"], &told["not_counted"]),
        (&300.into(), &"1 malformed, 1 repeated".into())
    );
    // Known: ε₀ = ln 3, δ = 1e-6.
    let central = told["epsilon_central"].as_f64().unwrap();
    assert!(central > 0.1 && central < 0.5, "{central}");
    let token = |line: &str| -> String {
        let report: Value = serde_json::from_str(line).unwrap();
        report["token"].as_str().unwrap().to_owned()
    };
    let tokens = |text: &str| -> HashSet<String> { text.lines().map(token).collect() };
    assert_eq!(tokens(&shuffled.out).len(), 300);
    assert!(tokens(&shuffled.out).is_disjoint(&tokens(&reports)));
    let answers = |text: &str| -> Vec<String> {
        let answer = |line| serde_json::from_str::<Value>(line).unwrap()["answer"].to_string();
        text.lines().map(answer).collect()
    };
    assert_ne!(answers(&shuffled.out), answers(&reports), "another order");
    let path = folder.path().join("shuffled.jsonl");
    std::fs::write(&path, &shuffled.out).unwrap();
    let all = folder.path().join("reports.jsonl");
    std::fs::write(&all, &reports).unwrap();
    let estimate = |path: &Path| {
        object(&run(&["collect", "estimate", text(&survey), text(path), "--json"]))["values"]
            .clone()
    };
    assert_eq!(estimate(&path), estimate(&all));
}

#[test]
fn the_simulated_error_is_that_of_theory() {
    let (_folder, survey) = exam();
    let args = ["collect", "simulate", text(&survey), "--n", "2000", "--truth", "yes=0.3"];
    let found = object(&run(&[&args[..], &["--repeat", "100", "--json"]].concat()));
    // The root of χ²(100)/100 is within 1 ± 0.36 but once in a million.
    assert!((0.64..1.36).contains(&number(&found, "ratio")), "{found}");
    assert_eq!(found["values"][0]["value"], "yes");
    let shown = run(&[&args[..], &["--repeat", "5"]].concat());
    assert_eq!(shown.code, Some(0));
    for words in ["theory", "covered", "2,000 people", "measured error by theory"] {
        assert!(shown.out.contains(words), "{words} in\n{}", shown.out);
    }
}

#[test]
fn mistakes_are_told_and_no_answer_is_repeated() {
    let (folder, survey) = exam();
    let mistake = |args: &[&str], says: &[&str]| {
        let args: Vec<&str> = ["collect"].into_iter().chain(args.iter().copied()).collect();
        let run = run(&args);
        assert_eq!((run.code, run.out.as_str()), (Some(2), ""), "{args:?}");
        for words in says {
            assert!(run.err.contains(words), "{args:?}: no `{words}` in {}", run.err);
        }
    };
    let path = text(&survey);
    let question = ["init", path, "--question", "q", "--values", "a,b", "--epsilon", "1"];
    mistake(&question, &["there is a file", "--force"]);
    let new = folder.path().join("new.toml");
    let init = |more: &[&str], says: &[&str]| {
        mistake(&[&["init", text(&new), "--question", "q"], more].concat(), says);
        assert!(!new.exists());
    };
    init(&["--values", "a,b"], &["how private", "--epsilon"]);
    init(&["--values", "a,b", "--epsilon", "0"], &["epsilon", "greater than 0"]);
    init(&["--values", "a,b,c", "--gamma", "0.25"], &["yes-or-no", "hint: "]);
    init(&["--values", "a", "--epsilon", "1"], &["values", "at least 2"]);
    init(&["--values", "a,b", "--epsilon", "1", "--mechanism", "magic"], &["mechanism"]);
    init(&["--values", "a,b", "--epsilon", "1", "--mechanism", "rappor"], &["second ε", "hint: "]);
    init(&["--range", "0,1", "--epsilon", "1", "--bins", "9"], &["bins", "distribution"]);
    init(&["--epsilon", "1"], &["--values", "--range", "--length"]);
    mistake(&["plan", "--error", "0.01"], &["give two", "hint: "]);
    mistake(&["plan", "--gamma", "0.2", "--values", "3", "--n", "5"], &["two values", "--epsilon"]);
    mistake(&["plan", "--epsilon", "1", "--error", "7"], &["--error", "between 0 and 1"]);
    mistake(&["estimate", path, "nowhere.jsonl"], &["nowhere.jsonl"]);
    mistake(&["estimate", "nowhere.toml", path], &["nowhere.toml"]);
    mistake(&["simulate", path, "--n", "10", "--truth", "maybe=0.5"], &["truth"]);
    mistake(&["serve", path, "--http", "0.0.0.0:0"], &["other machines", "--insecure-remote"]);
    let skipped = with_input(&["randomize", path], "yes\nCANARY\nno\n");
    assert_eq!((skipped.code, skipped.out.lines().count()), (Some(0), 2));
    assert!(skipped.err.contains("1 row held no answer") && skipped.err.contains("row 2"));
    assert!(!skipped.err.contains("CANARY") && !skipped.out.contains("CANARY"));
}

/// A service that ends with the test.
struct Service {
    child: Child,
    address: String,
    told: Value,
}

impl Service {
    fn start(survey: &Path) -> Self {
        let mut child = Command::new(env!("CARGO_BIN_EXE_demure"))
            .args(["collect", "serve", text(survey), "--http", "127.0.0.1:0", "--json"])
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let told: Value = serde_json::from_str(&line).unwrap_or_else(|_| {
            let mut why = String::new();
            let _ = child.stderr.take().unwrap().read_to_string(&mut why);
            panic!("it did not start: {line}{why}")
        });
        let address = told["page"].as_str().unwrap();
        let address = address.trim_start_matches("http://").trim_end_matches('/').to_owned();
        Self { child, address, told }
    }

    fn connect(&self) -> Connection {
        Connection::open(&self.address).unwrap()
    }

    fn get(&self, path: &str) -> (u16, String) {
        self.connect().send("GET", path, "text/plain", b"").unwrap()
    }

    fn post(&self, kind: &str, body: &[u8]) -> (u16, Value) {
        let (status, text) = self.connect().send("POST", "/reports", kind, body).unwrap();
        (status, serde_json::from_str(&text).unwrap_or(Value::Null))
    }

    /// Asks it to end, and returns its exit code and what it said.
    fn stop(mut self) -> (Option<i32>, String) {
        let pid = self.child.id().to_string();
        assert!(Command::new("kill").args(["-s", "INT", &pid]).status().unwrap().success());
        let mut said = String::new();
        self.child.stderr.take().unwrap().read_to_string(&mut said).unwrap();
        (self.child.wait().unwrap().code(), said)
    }
}

impl Drop for Service {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// One connection that is kept for several requests.
struct Connection(BufReader<TcpStream>);

impl Connection {
    fn open(address: &str) -> std::io::Result<Self> {
        let stream = TcpStream::connect(address)?;
        stream.set_read_timeout(Some(Duration::from_secs(60)))?;
        stream.set_nodelay(true)?;
        Ok(Self(BufReader::new(stream)))
    }

    fn send(
        &mut self,
        method: &str,
        path: &str,
        kind: &str,
        body: &[u8],
    ) -> std::io::Result<(u16, String)> {
        let head = format!(
            "{method} {path} HTTP/1.1\r\nhost: x\r\ncontent-type: {kind}\r\ncontent-length: {}\r\n\r\n",
            body.len()
        );
        // The service may answer and hang up before a body that is too long is all sent.
        let sent = self.0.get_mut().write_all(&[head.as_bytes(), body].concat());
        let answer = self.answer();
        if answer.is_err() {
            sent?;
        }
        answer
    }

    fn answer(&mut self) -> std::io::Result<(u16, String)> {
        let gone = || std::io::Error::from(std::io::ErrorKind::UnexpectedEof);
        let mut line = String::new();
        self.0.read_line(&mut line)?;
        let status = line.split(' ').nth(1).and_then(|s| s.parse().ok()).ok_or_else(gone)?;
        let mut length = 0;
        loop {
            line.clear();
            if self.0.read_line(&mut line)? == 0 {
                return Err(gone());
            }
            if let Some(value) = line.to_ascii_lowercase().strip_prefix("content-length:") {
                length = value.trim().parse().map_err(|_| gone())?;
            }
            if line == "\r\n" {
                break;
            }
        }
        let mut body = vec![0; length];
        self.0.read_exact(&mut body)?;
        Ok((status, String::from_utf8_lossy(&body).into_owned()))
    }
}

#[test]
fn the_service_takes_reports_estimates_and_keeps_its_promise_in_a_ledger() {
    let (folder, survey) = exam();
    let lines = reports(&survey, 300);
    let service = Service::start(&survey);
    assert_eq!(
        (&service.told["stored"], &service.told["answers"]),
        (&0.into(), &"yes | no".into())
    );
    let none: Value = serde_json::from_str(&service.get("/estimates").1).unwrap();
    assert_eq!((&none["reports"], &none["question"]), (&0.into(), &"Cheated?".into()));
    assert_eq!(service.get("/survey.toml").1, std::fs::read_to_string(&survey).unwrap());
    // One, the same again, many, many again with a new one.
    let json = "application/json";
    let (status, told) = service.post(json, lines[0].as_bytes());
    assert_eq!((status, &told["stored"], &told["duplicate"]), (200, &1.into(), &0.into()));
    let (status, told) = service.post(json, lines[0].as_bytes());
    assert_eq!((status, &told["stored"], &told["duplicate"]), (409, &0.into(), &1.into()));
    let (status, told) = service.post("application/x-ndjson", lines[..200].join("\n").as_bytes());
    assert_eq!((status, &told["stored"], &told["duplicate"]), (200, &199.into(), &1.into()));
    let pretty =
        serde_json::to_string_pretty(&serde_json::from_str::<Value>(&lines[200]).unwrap()).unwrap();
    assert_eq!(service.post(json, pretty.as_bytes()).0, 200);
    // In binary: version, id, token, place of the value.
    let binary = |line: &String| {
        let report: Value = serde_json::from_str(line).unwrap();
        let bytes = |field: &str| -> Vec<u8> {
            let hex = report[field].as_str().unwrap();
            (0..hex.len() / 2)
                .map(|i| u8::from_str_radix(&hex[2 * i..2 * i + 2], 16).unwrap())
                .collect()
        };
        [vec![1], bytes("survey"), bytes("token"), vec![u8::from(report["answer"] == "no")]]
            .concat()
    };
    let many: Vec<u8> = lines[201..].iter().flat_map(binary).collect();
    let (status, told) = service.post("application/octet-stream", &many);
    assert_eq!((status, &told["stored"]), (200, &99.into()), "{told}");
    assert_eq!(service.post("application/octet-stream", &binary(&lines[299])).0, 409);
    let health: Value = serde_json::from_str(&service.get("/health").1).unwrap();
    assert_eq!(
        (&health["ok"], &health["reports"], &health["rejected"]["duplicate"]),
        (&true.into(), &300.into(), &3.into())
    );
    std::thread::sleep(Duration::from_millis(600));
    let live: Value = serde_json::from_str(&service.get("/estimates").1).unwrap();
    let (status, page) = service.get("/");
    assert!(
        status == 200
            && page.contains("page.js")
            && service.get("/page.js").1.contains("estimates")
    );
    assert_eq!(service.get("/page.css").0, 200);
    assert_eq!((service.get("/nowhere").0, service.get("/reports").0), (404, 405));
    // Another cannot have the store, and estimating from it while it is open is fine.
    let second = run(&["collect", "serve", text(&survey), "--http", "127.0.0.1:0"]);
    assert!(
        second.code == Some(2) && second.err.contains("in use") && second.err.contains("hint: "),
        "{}",
        second.err
    );
    let store = folder.path().join("exam.reports");
    let direct = object(&run(&["collect", "estimate", text(&survey), text(&store), "--json"]));
    assert_eq!((&direct["values"], &direct["reports"]), (&live["values"], &300.into()));
    let (code, said) = service.stop();
    assert_eq!(code, Some(0));
    assert!(said.contains("closed; 300 reports on disk; not counted: 3 repeated"), "{said}");
    // The promise was written once.
    let ledger = folder.path().join("exam.ledger");
    assert!(ledger.exists());
    let again = Service::start(&survey);
    assert_eq!(again.told["stored"], 300);
    drop(again);
    let limit = demure_ledger::Limit {
        accounting: demure_ledger::Accounting::Pure,
        epsilon: demure_core::unit::Epsilon::new(number(&direct, "epsilon")).unwrap(),
        delta: demure_core::unit::Delta::ZERO,
        neighbours: demure_core::unit::Neighbours::Replace,
    };
    let id =
        serde_json::from_str::<Value>(&lines[0]).unwrap()["survey"].as_str().unwrap().to_owned();
    let clock = demure_ledger::wall_clock();
    let ledger = demure_ledger::Ledger::open(&ledger, &format!("exam {id}"), limit, clock).unwrap();
    let verified = ledger.verify().unwrap();
    assert_eq!(verified.reserved, 1);
    assert!((verified.spent.main - 3f64.ln()).abs() < 1e-9, "{:?}", verified.spent);
}

#[test]
fn hostile_bodies_are_counted_and_harm_nothing() {
    let (_folder, survey) = exam();
    let lines = reports(&survey, 3);
    let service = Service::start(&survey);
    let json = "application/json";
    let deep = "[".repeat(200_000);
    let token = lines[0].replace("\"answer\"", "\"anzwer\"");
    let impossible = lines[0].replace("\"yes\"", "\"maybe\"").replace("\"no\"", "\"maybe\"");
    for (kind, body) in [
        (json, &b""[..]),
        (json, b"\n\n\n"),
        (json, b"{}"),
        (json, b"null\nnull"),
        (json, b"\xff\xfe\x00"),
        (json, deep.as_bytes()),
        (json, token.as_bytes()),
        (json, impossible.as_bytes()),
        ("application/octet-stream", b"\x01"),
        ("application/octet-stream", &[0; 10_000]),
        ("application/octet-stream", &[1; 26]),
        ("application/octet-stream", b""),
    ] {
        let (status, told) = service.post(kind, body);
        assert_eq!((status, &told["stored"]), (400, &0.into()), "{kind}: {} bytes", body.len());
        assert!(told["error"].is_string(), "{told}");
        // Nothing that came in is sent back.
        assert!(!told.to_string().contains("maybe") && !told.to_string().contains("anzwer"));
    }
    // A good one among bad ones is taken.
    let mixed = format!("x\n{}\ny\n", lines[1]);
    let (status, told) = service.post(json, mixed.as_bytes());
    assert_eq!((status, &told["stored"], &told["rejected"]), (200, &1.into(), &2.into()));
    // Too long: told before it is sent, and if nobody says how long it is, when it has become too long.
    let mut connection = service.connect();
    let head = "POST /reports HTTP/1.1\r\nhost: x\r\ncontent-length: 99999999\r\n\r\n";
    connection.0.get_mut().write_all(head.as_bytes()).unwrap();
    assert_eq!(connection.answer().unwrap().0, 413);
    let mut connection = service.connect();
    let head = "POST /reports HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked\r\n\r\n";
    connection.0.get_mut().write_all(head.as_bytes()).unwrap();
    let chunk = [b"10000\r\n".as_slice(), &[b' '; 1 << 16], b"\r\n"].concat();
    // It may hang up while more is sent.
    let sent = (0..64).all(|_| connection.0.get_mut().write_all(&chunk).is_ok());
    assert!(!sent || connection.answer().map_or(413, |(status, _)| status) == 413);
    // Half a request, and gone; half a header, and silent.
    for half in [
        "POST /reports HTTP/1.1\r\nhost: x\r\ncontent-length: 100\r\n\r\n{",
        "POST /rep",
        "\0\0\0\r\n\r\n",
    ] {
        let mut connection = TcpStream::connect(&service.address).unwrap();
        connection.write_all(half.as_bytes()).unwrap();
    }
    let idle: Vec<TcpStream> =
        (0..50).map(|_| TcpStream::connect(&service.address).unwrap()).collect();
    assert_eq!(service.post(json, lines[2].as_bytes()).0, 200);
    drop(idle);
    let health: Value = serde_json::from_str(&service.get("/health").1).unwrap();
    assert_eq!((&health["ok"], &health["reports"]), (&true.into(), &2.into()));
    assert!(number(&health["rejected"], "malformed") >= 6.0, "{health}");
    assert_eq!(service.stop().0, Some(0));
}

#[test]
fn a_kill_loses_nothing_acknowledged_and_counts_nothing_twice() {
    const CLIENTS: usize = 4;
    const ROUNDS: usize = 3;
    let (folder, survey) = exam();
    let lines = reports(&survey, 8_000);
    let next = Mutex::new(0usize);
    // Reports that were acknowledged, and those whose sender never learned what became of them.
    let (acknowledged, unsure) = (Mutex::new(HashSet::new()), Mutex::new(Vec::new()));
    for round in 0..ROUNDS {
        let mut service = Service::start(&survey);
        let stored = service.told["stored"].as_u64().unwrap();
        let least = acknowledged.lock().unwrap().len() as u64;
        let most = least + unsure.lock().unwrap().len() as u64;
        assert!((least..=most).contains(&stored), "round {round}: {stored} of {least} to {most}");
        let address = service.address.clone();
        std::thread::scope(|scope| {
            for _ in 0..CLIENTS {
                scope.spawn(|| {
                    let Ok(mut connection) = Connection::open(&address) else { return };
                    loop {
                        let i = {
                            let mut next = next.lock().unwrap();
                            *next += 1;
                            *next - 1
                        };
                        let Some(line) = lines.get(i) else { return };
                        let sent = connection.send(
                            "POST",
                            "/reports",
                            "application/json",
                            line.as_bytes(),
                        );
                        match sent {
                            Ok((200, _)) => {
                                acknowledged.lock().unwrap().insert(i);
                            }
                            Ok((status, body)) => panic!("{status}: {body}"),
                            Err(_) => {
                                unsure.lock().unwrap().push(i);
                                return;
                            }
                        }
                    }
                });
            }
            // In the midst of it: when some have been acknowledged, and more are under way.
            let begun = Instant::now();
            let before = acknowledged.lock().unwrap().len();
            while acknowledged.lock().unwrap().len() < before + 50 + 37 * round
                && begun.elapsed() < Duration::from_secs(60)
            {
                std::thread::sleep(Duration::from_millis(1));
            }
            service.child.kill().unwrap(); // SIGKILL
        });
        service.child.wait().unwrap();
    }
    let acknowledged = acknowledged.into_inner().unwrap();
    let unsure = unsure.into_inner().unwrap();
    assert!(
        acknowledged.len() >= 50 * ROUNDS && acknowledged.len() < lines.len(),
        "{}",
        acknowledged.len()
    );
    // Everyone sends again whatever was ever sent: what was acknowledged is a repetition.
    let service = Service::start(&survey);
    let mut connection = service.connect();
    let mut stored = 0;
    for i in acknowledged.iter().chain(&unsure) {
        let sent = connection.send("POST", "/reports", "application/json", lines[*i].as_bytes());
        let (status, body) = sent.unwrap();
        assert!(status == 409 || (status == 200 && unsure.contains(i)), "{status} {body}");
        stored += u64::from(status == 200);
    }
    assert!(stored <= unsure.len() as u64);
    let sent = (acknowledged.len() + unsure.len()) as u64;
    let health: Value = serde_json::from_str(&service.get("/health").1).unwrap();
    assert_eq!(health["reports"], sent, "each once, and none other");
    assert_eq!(service.stop().0, Some(0));
    let store = folder.path().join("exam.reports");
    let found = object(&run(&["collect", "estimate", text(&survey), text(&store), "--json"]));
    assert_eq!(found["reports"], sent);
}
