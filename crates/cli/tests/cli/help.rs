//! Every example in the help works.

use super::{demure, directory, file, run};

const ALL: [&str; 54] = [
    "demo",
    "query",
    "explain",
    "shell",
    "init",
    "check",
    "synthesize",
    "sample",
    "mechanism laplace",
    "mechanism gaussian",
    "mechanism exponential",
    "mechanism response",
    "mechanism histogram",
    "mechanism threshold",
    "mechanism count",
    "mechanism sum",
    "mechanism mean",
    "mechanism variance",
    "mechanism quantile",
    "mechanism tree",
    "mechanism sparse",
    "mechanism median",
    "mechanism trimmed-mean",
    "mechanism mode",
    "mechanism top-k",
    "graph triangles",
    "graph stars",
    "graph degrees",
    "graph clustering",
    "plan count",
    "plan histogram",
    "plan sum",
    "plan mean",
    "plan response",
    "compose",
    "compose calibrate",
    "anonymize",
    "anonymize check",
    "anonymize risk",
    "attack difference",
    "attack average",
    "attack reconstruct",
    "attack membership",
    "attack link",
    "collect init",
    "collect randomize",
    "collect estimate",
    "collect plan",
    "collect simulate",
    "audit mechanism",
    "audit query",
    "audit collect",
    "completions",
    "man",
];

#[test]
fn the_list_of_subcommands_is_complete() {
    for group in ["mechanism", "graph", "plan", "attack"] {
        let help = demure(&format!("{group} --help")).out;
        let listed = help.lines().skip_while(|line| *line != "Commands:").skip(1);
        let listed: Vec<_> = listed
            .take_while(|line| !line.is_empty())
            .filter_map(|line| line.split_whitespace().next())
            .filter(|name| *name != "help")
            .map(|name| format!("{group} {name}"))
            .collect();
        assert_eq!(listed, ALL.into_iter().filter(|n| n.starts_with(group)).collect::<Vec<_>>());
    }
}

#[test]
fn every_example_in_the_help_works() {
    // An example of the demo makes it, and the others use it.
    let _ = std::fs::remove_dir_all(directory().join("clinic"));
    // The collector's survey is made by one example, and used by the others; it is not replaced.
    for survey in ["exam", "browser", "hours", "ages", "words"] {
        let _ = std::fs::remove_file(directory().join(format!("{survey}.toml")));
    }
    file("answers.csv", "answer\nyes\nno\nno\n");
    file("people.csv", "age,income,state,city\n31,20000,CA,A\n45,70000,NY,B\n,0,CA,A\n");
    file("edges.txt", "# who knows whom\n1 2\n2 3\n3 1\n3 4\n");
    for command in ALL {
        let help = demure(&format!("{command} --help"));
        assert_eq!((help.code, help.err.as_str()), (Some(0), ""), "{command}");
        let (_, examples) = help.out.split_once("Examples:\n").unwrap();
        let examples = examples.replace("\\\n", " ");
        let examples: Vec<_> = examples.lines().take_while(|line| !line.is_empty()).collect();
        assert!(examples.len() >= 2, "{command}");
        for example in examples {
            let words = words(example);
            assert_eq!(words[0], "demure", "{example}");
            let run = run(&words[1..].iter().map(String::as_str).collect::<Vec<_>>());
            assert_eq!(run.code, Some(0), "{example}\n{}", run.err);
        }
    }
    let top = demure("--help").out;
    for line in top.lines().filter_map(|line| line.trim().strip_prefix("demure ")) {
        let words = words(line);
        let run = run(&words.iter().map(String::as_str).collect::<Vec<_>>());
        assert_eq!(run.code, Some(0), "{line}");
    }
}

/// Words as a shell splits them: a quoted one may hold spaces.
fn words(line: &str) -> Vec<String> {
    let quoted = line.split('\'').enumerate();
    quoted
        .flat_map(|(i, part)| match i % 2 {
            0 => part.split_whitespace().map(str::to_owned).collect(),
            _ => vec![part.to_owned()],
        })
        .collect()
}

#[test]
fn help_and_version_are_data_and_a_bare_call_is_a_mistake() {
    let version = demure("--version");
    assert_eq!((version.code, version.err.as_str()), (Some(0), ""));
    assert_eq!(version.out, concat!("demure ", env!("CARGO_PKG_VERSION"), "\n"));
    let bare = demure("");
    assert_eq!((bare.code, bare.out.as_str()), (Some(2), ""));
    assert!(bare.err.contains("Usage: demure [OPTIONS] <COMMAND>"));
}
