//! Every command in the README and in `docs/` runs, and prints what the page says.
//!
//! A page's commands run in their order, in a folder with the files that the page speaks of. Numbers differ from run to
//! run where there is noise, so lines are compared with their numbers blotted out, and `…` stands for what a page leaves out.
//! Rust in the pages is not run: the crates' own documentation is. The SQL of `sql.md` is about the tables of the curator's
//! goldens, whose own test compares the page with them.

use super::file;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Commands that a test of pages cannot run, and what does.
const ELSEWHERE: [(&str, &str); 9] = [
    ("demure serve ", "runs until it is stopped: serve.rs"),
    ("demure collect serve ", "runs until it is stopped: collect.rs"),
    ("demure user add ", "asks for a password: serve.rs"),
    (
        "demure attack difference clinic",
        "takes minutes in a development build: attack.rs, on fewer people",
    ),
    ("psql ", "needs the server: serve.rs"),
    ("curl ", "needs the server: serve.rs, collect.rs"),
    ("cargo ", "builds and tests: the test command itself"),
    ("apt-get ", "installs: the test command itself"),
    ("crates/server/tests/console/", "drives a browser: the server's own test"),
];

/// A command of a page, and the lines that the page shows below it.
struct Shown {
    command: String,
    lines: Vec<String>,
}

fn pages() -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut pages = vec![root.join("README.md")];
    for entry in std::fs::read_dir(root.join("docs")).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|end| end == "md") {
            pages.push(path);
        }
    }
    pages.sort();
    pages
}

/// What stands between ``` and ```, with the word behind the first.
fn blocks(text: &str) -> Vec<(String, Vec<String>)> {
    let mut found: Vec<(String, Vec<String>)> = Vec::new();
    let mut inside = false;
    for line in text.lines() {
        match line.strip_prefix("```") {
            Some(word) => {
                inside = !inside;
                if inside {
                    found.push((word.to_owned(), Vec::new()));
                }
            }
            None if inside => found.last_mut().unwrap().1.push(line.to_owned()),
            None => {}
        }
    }
    assert!(!inside, "a block has no end");
    found
}

/// The commands of a block: lines with `$`, or, in a block without any, lines that begin with `demure`.
fn commands(word: &str, lines: &[String]) -> Vec<Shown> {
    if !["", "console", "sh"].contains(&word) {
        return Vec::new();
    }
    let prompts = lines.iter().any(|line| line.starts_with("$ "));
    let mut shown: Vec<Shown> = Vec::new();
    for line in lines {
        let command = match prompts {
            true => line.strip_prefix("$ ").map(str::to_owned),
            false => line.starts_with("demure ").then(|| line.clone()),
        };
        match (command, shown.last_mut()) {
            (Some(command), _) => shown.push(Shown { command, lines: Vec::new() }),
            (None, Some(last)) if prompts => last.lines.push(line.clone()),
            _ => {}
        }
    }
    shown
}

/// A line without its numbers, its drawing and the width of its gaps.
fn blotted(line: &str) -> String {
    let mut text = String::new();
    let mut letters = line.chars().peekable();
    while let Some(letter) = letters.next() {
        match letter {
            // A sign goes with its number.
            '-' if letters.peek().is_some_and(char::is_ascii_digit) => {}
            '0'..='9' => {
                while letters.peek().is_some_and(|c| c.is_ascii_digit() || ".,e-".contains(*c)) {
                    letters.next();
                }
                text.push('#');
            }
            '█' | '├' | '┼' | '┤' | '─' | ' ' | '-' => text.push(' '),
            other => text.push(other),
        }
    }
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Whether `printed` has a line like this one.
fn has(printed: &BTreeSet<String>, line: &str) -> bool {
    match line.split_once('…') {
        None => printed.contains(&blotted(line)),
        Some((start, _)) => {
            let start = blotted(start);
            printed.iter().any(|line| line.starts_with(&start))
        }
    }
}

/// A folder with what a page speaks of.
fn folder(page: &str) -> PathBuf {
    let folder = super::directory().join(format!("page-{page}"));
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).unwrap();
    let write = |name: &str, text: &str| file(&format!("page-{page}/{name}"), text);
    match page {
        "curator" | "server" | "synthetic" => {
            let kept = folder.join("clinic");
            let ran =
                super::run(&["demo", "--patients", "40000", "--keep", kept.to_str().unwrap()]);
            assert_eq!(ran.code, Some(0), "{}", ran.err);
            std::fs::copy(kept.join("visits.csv"), folder.join("visits.csv")).unwrap();
            super::data_in::sales(&folder);
        }
        "README" => {
            super::data_in::sales(&folder);
        }
        "graphs" => {
            // Everybody of a ring knows the next twelve: many triangles.
            let edges =
                (0..300u32).flat_map(|i| (1..13).map(move |k| format!("{i} {}\n", (i + k) % 300)));
            write("edges.txt", &edges.collect::<String>());
        }
        "sensitivity" => {
            let city =
                |i: u32| ["Lyon", "Lyon", "Lyon", "Lyon", "Nice", "Nice", "Metz"][(i % 7) as usize];
            let rows = (0..900u32).map(|i| format!("{},{}\n", 20_000 + 37 * i, city(i)));
            write("people.csv", &format!("income,city\n{}", rows.collect::<String>()));
        }
        "anonymize" => {
            let examples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/nine-rows");
            for name in ["people.csv", "zip.csv", "points.csv"] {
                std::fs::copy(examples.join(name), folder.join(name)).unwrap();
            }
            let points = |i: usize| ["20-29", "30-39"][i / 6];
            let row = |i: usize| format!("26*,{},{}\n", points(i), ["Linux", "Windows"][i % 2]);
            let rows: String = (0..12).map(row).collect();
            write("published.csv", &format!("zip,points,system\n{rows}"));
        }
        "collect" => {
            let rows: String = (0..18).map(|i| format!("{}\n", ["yes", "no"][i % 2])).collect();
            write("answers.csv", &format!("answer\n{rows}"));
        }
        _ => {}
    }
    folder
}

/// What a page tells its reader to change by hand after a command.
fn by_hand(page: &str, command: &str, folder: &Path) {
    if page == "curator" && command.starts_with("sed ") {
        let path = folder.join("visits.toml");
        let text = std::fs::read_to_string(&path).unwrap();
        let diseases = std::fs::read_to_string(folder.join("clinic/clinic.toml")).unwrap();
        let values = diseases.lines().find(|line| line.starts_with("disease = { values")).unwrap();
        let lines = text.lines().map(|line| match line {
            _ if line.starts_with("# disease = ") => values,
            _ if line.starts_with("# cost = ") => "cost = { bounds = [0, 3000], grid = 0.01 }",
            _ => line,
        });
        std::fs::write(&path, lines.collect::<Vec<_>>().join("\n") + "\n").unwrap();
    }
}

fn try_page(path: &Path) -> usize {
    let page = path.file_stem().unwrap().to_str().unwrap();
    let text = std::fs::read_to_string(path).unwrap();
    let all: Vec<Shown> =
        blocks(&text).iter().flat_map(|(word, lines)| commands(word, lines)).collect();
    let elsewhere =
        |shown: &&Shown| !ELSEWHERE.iter().any(|(start, _)| shown.command.starts_with(start));
    // `…` and `[…]` in a command are for the reader to fill in.
    let whole = |shown: &&Shown| !shown.command.contains('…') && !shown.command.contains("[--");
    let all: Vec<&Shown> = all.iter().filter(elsewhere).filter(whole).collect();
    if all.is_empty() {
        return 0;
    }
    let folder = folder(page);
    let binary = Path::new(env!("CARGO_BIN_EXE_demure")).parent().unwrap();
    let path = format!("{}:{}", binary.display(), std::env::var("PATH").unwrap());
    for Shown { command, lines } in &all {
        let output = Command::new("sh")
            .args(["-c", command])
            .current_dir(&folder)
            .env("PATH", &path)
            .env_remove("DEMURE_LEDGER")
            .output()
            .unwrap();
        let ran = super::Run::of(output);
        let says = |word: &str| lines.iter().any(|line| line.contains(word));
        let code = i32::from(says("refused:") || says("violated"));
        let printed: BTreeSet<String> =
            ran.out.lines().chain(ran.err.lines()).map(blotted).collect();
        assert_eq!(ran.code, Some(code), "{page}: {command}\n{}{}", ran.out, ran.err);
        for line in lines.iter().filter(|line| !line.is_empty()) {
            assert!(
                has(&printed, line),
                "{page}: {command}\ndoes not print: {line}\nbut:\n{}{}",
                ran.out,
                ran.err
            );
        }
        by_hand(page, command, &folder);
    }
    all.len()
}

#[test]
fn the_commands_of_every_page_work_and_print_what_it_says() {
    // All pages, so that one run shows all that is wrong.
    let tried = pages().into_iter().map(|page| std::panic::catch_unwind(|| try_page(&page)));
    let (run, wrong): (Vec<_>, Vec<_>) = tried.partition(Result::is_ok);
    assert!(wrong.is_empty(), "{} pages are wrong", wrong.len());
    let run: usize = run.into_iter().flatten().sum();
    assert!(run >= 35, "only {run} commands were found");
}

#[test]
fn the_readme_shows_what_the_demo_prints() {
    let text = std::fs::read_to_string(&pages()[0]).unwrap();
    let blocks = blocks(&text);
    assert_eq!(blocks[0].1, ["cargo run --release -- demo"]);
    let ran = super::run(&["demo"]);
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    let printed: BTreeSet<String> = ran.out.lines().map(blotted).collect();
    for line in blocks[1].1.iter().filter(|line| !line.trim().is_empty()) {
        assert!(has(&printed, line), "the demo does not print: {line}\nbut:\n{}", ran.out);
    }
}

#[test]
fn a_page_that_is_wrong_is_noticed() {
    let printed: BTreeSet<String> = [blotted("cost ε 0.3; left ε 0.7 of 1")].into();
    assert!(has(&printed, "cost ε 0.25; left ε 2 of 3") && has(&printed, "cost ε 0.3; …"));
    assert!(!has(&printed, "cost ρ 0.3; left ε 0.7 of 1") && !has(&printed, "left ε …"));
    let block = ["$ demure demo".to_owned(), "1 row".to_owned()];
    let found = commands("", &block);
    assert_eq!((found.len(), found[0].lines.as_slice()), (1, &block[1..]));
}
