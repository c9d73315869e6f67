//! Checks that the core does no I/O, reads no clock, logs nothing, is safe and is small.
//!
//! Tests are exempt: a `#[cfg(test)]` item, a `tests.rs` and a `tests/` are not checked. Crates that log or run tasks
//! are not in the core's list of dependencies (`graph.rs`), so only the standard library's functions are searched for.
//! The sources are formatted, so an item ends at a closing line with the item's own indentation.

use super::File;

/// The largest number of lines of code, without tests, comments and blank lines, of each of the core's audit targets:
/// what releases values, what accounts for releases (`event`, `account`), noise that fits the data (`sensitivity`),
/// and randomizers (`local`). The last two use the first and nothing uses them: each can be read by itself.
///
/// The accountant has 500 more: certified bounds for rare samples (DP-SGD) need a decay bound, a merging of small
/// losses and adaptive panels, each with its proof beside it. What releases values has 800 more: every mechanism
/// yields its event, arguments have names (builders), and contribution bounds are learnt (weights, norms, keys by weight).
const MOST_LINES: [usize; 4] = [6_800, 6_500, 6_000, 6_000];

/// Text that the core must not contain, outside comments and tests.
const FORBIDDEN: [&str; 14] = [
    "std::env",
    "std::fs",
    "std::io",
    "std::net",
    "std::os",
    "std::time",
    "process::Command",
    "print!(",
    "println!(",
    "dbg!(",
    "async fn",
    ".await",
    "extern \"C\"",
    "include_bytes!",
];

/// The same modules, if they are imported in a group: `use std::{fs, …}`.
const FORBIDDEN_IN_GROUPS: [&str; 6] = ["env", "fs", "io", "net", "os", "time"];

/// The violations in the core's sources.
pub(super) fn violations(files: &[&File]) -> Vec<String> {
    let mut broken = Vec::new();
    let safe = |file: &File| file.text.lines().any(|line| line == "#![forbid(unsafe_code)]");
    for of in super::CORE {
        let root = format!("{of}lib.rs");
        if !files.iter().any(|file| file.path == root && safe(file)) {
            broken.push(format!("{root} must say #![forbid(unsafe_code)]"));
        }
    }
    for file in files.iter().filter(|file| !is_test(&file.path)) {
        for (number, line) in shipped(&file.text) {
            if let Some(found) = forbidden(line) {
                broken.push(format!("{}:{number}: the core must not use {found}", file.path));
            }
        }
    }
    for ((name, lines), most) in sizes(files).into_iter().zip(MOST_LINES) {
        if lines > most {
            broken.push(format!(
                "{name} has {lines} lines of code, more than {most}: what can leave it?"
            ));
        }
    }
    broken
}

/// The lines of code of each audit target.
pub(super) fn sizes(files: &[&File]) -> [(&'static str, usize); 4] {
    let size = |of: &str| {
        let sources = files.iter().filter(|file| !is_test(&file.path) && target(&file.path) == of);
        let is_code = |line: &str| !line.trim().is_empty() && !line.trim().starts_with("//");
        sources.map(|file| shipped(&file.text).filter(|(_, line)| is_code(line)).count()).sum()
    };
    TARGETS.map(|name| (name, size(name)))
}

const TARGETS: [&str; 4] = ["the core", "its accountant", "its sensitivities", "its randomizers"];

/// The audit target that a file belongs to.
fn target(path: &str) -> &'static str {
    let within = |module: &str| path.contains(&format!("/src/{module}"));
    match () {
        () if within("account") || within("event") => TARGETS[1],
        () if within("sensitivity") => TARGETS[2],
        () if within("local") => TARGETS[3],
        () => TARGETS[0],
    }
}

pub(super) fn is_test(path: &str) -> bool {
    path.ends_with("/tests.rs") || path.contains("/tests/")
}

/// The forbidden text in `line`, if there is any.
fn forbidden(line: &str) -> Option<&'static str> {
    let code = line.split("//").next().unwrap_or_default();
    if let Some(found) = FORBIDDEN.into_iter().find(|word| code.contains(word)) {
        return Some(found);
    }
    let group = code.split_once("std::{")?.1;
    let mut words = group.split(|c: char| !c.is_alphanumeric() && c != '_');
    words.find_map(|word| FORBIDDEN_IN_GROUPS.into_iter().find(|f| *f == word))
}

/// The lines outside `#[cfg(test)]` items, numbered from one.
pub(super) fn shipped(text: &str) -> impl Iterator<Item = (usize, &str)> {
    /// The position in a `#[cfg(test)]` item, with the item's indentation.
    enum In {
        Nothing,
        Attributes(usize),
        Item(usize),
    }
    let mut place = In::Nothing;
    text.lines().enumerate().filter_map(move |(i, line)| {
        let indent = line.len() - line.trim_start().len();
        let code = line.trim();
        match place {
            In::Nothing if code == "#[cfg(test)]" => place = In::Attributes(indent),
            In::Nothing => return Some((i + 1, line)),
            In::Attributes(_) if code.starts_with("#[") || code.starts_with("//") => {}
            In::Attributes(_) if code.ends_with(';') || code.ends_with('}') => place = In::Nothing,
            In::Attributes(start) => place = In::Item(start),
            In::Item(start) if indent == start && matches!(code, "}" | "};" | ");") => {
                place = In::Nothing;
            }
            In::Item(_) => {}
        }
        None
    })
}

#[cfg(test)]
mod tests;
