//! One statement of the corpus: its text, its mark, how its answer is compared, and the answer of another engine.
//!
//! ```text
//! === the name of the statement
//! mark: answered
//! compare: ordered; relative 0.01
//! SELECT …
//! --- duckdb
//! SELECT …, where the other engine spells it differently
//! ----
//! the columns of its answer
//! its rows
//! ```

use std::fmt::Write;
use std::fs;
use std::path::Path;

/// What is right to happen.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Mark {
    /// It is answered, and the answer is right.
    Answered,
    /// It is refused, and privacy is the reason: the rule, or words of the refusal.
    Refused(String),
    /// It should be answered and is not, or not rightly: why.
    Open(String),
    /// It should be refused for that reason, and is answered or refused for another one.
    OpenRefusal(String),
    /// Nobody has looked at it. `UPDATE_CORPUS=1` marks it.
    New,
}

/// How an answer is compared with the expected one.
#[derive(Clone, Debug)]
pub(crate) struct Compare {
    /// The order of the rows counts.
    pub(crate) ordered: bool,
    /// Numbers may differ by this share of the expected one.
    pub(crate) relative: f64,
    /// Numbers may differ by this much.
    pub(crate) within: f64,
    /// The first so many columns are public keys: keys that no row has may come back too.
    pub(crate) keys: usize,
    /// Each expected row need only be among the cells of some row.
    pub(crate) contains: bool,
    /// Private keys of a few people may be missing, up to half of them.
    pub(crate) rare: bool,
    /// It was bought before in other words, and costs nothing.
    pub(crate) free: bool,
}

#[derive(Clone, Debug)]
pub(crate) struct Record {
    pub(crate) name: String,
    pub(crate) mark: Mark,
    compare_line: Option<String>,
    pub(crate) compare: Compare,
    pub(crate) sql: String,
    /// The lines from `---` to `----`, which `expect.py` reads.
    reference: String,
    /// The columns and the rows, as `expect.py` writes them.
    pub(crate) expected: Vec<String>,
    /// Comments before it.
    comments: String,
}

/// The records of a file, in order, and the comments at its end.
pub(crate) fn read(file: &Path) -> (Vec<Record>, String) {
    let text = fs::read_to_string(file).expect("a file of the corpus");
    let (mut records, mut comments) = (Vec::new(), String::new());
    let mut lines = text.lines().peekable();
    while let Some(line) = lines.next() {
        let Some(name) = line.strip_prefix("=== ") else {
            assert!(line.is_empty() || line.starts_with('#'), "{}: {line}", file.display());
            let _ = writeln!(comments, "{line}");
            continue;
        };
        let mut record = Record {
            name: name.to_owned(),
            mark: Mark::New,
            compare_line: None,
            compare: compare("").expect("nothing to compare by"),
            sql: String::new(),
            reference: String::new(),
            expected: Vec::new(),
            comments: std::mem::take(&mut comments),
        };
        let mut part = 0;
        while let Some(line) = lines.next_if(|line| !line.starts_with("=== ")) {
            if line.is_empty() || line.starts_with('#') {
                // What follows belongs to the next record.
                let _ = writeln!(comments, "{line}");
            } else if let Some(words) = line.strip_prefix("mark: ") {
                record.mark = mark(words).unwrap_or_else(|| panic!("{name}: mark {words}"));
            } else if let Some(words) = line.strip_prefix("compare: ") {
                record.compare =
                    compare(words).unwrap_or_else(|| panic!("{name}: compare {words}"));
                record.compare_line = Some(words.to_owned());
            } else if line == "----" {
                part = 2;
            } else if part == 2 {
                record.expected.push(line.to_owned());
            } else if line.starts_with("--- ") {
                part = 1;
                let _ = writeln!(record.reference, "{line}");
            } else if part == 1 {
                let _ = writeln!(record.reference, "{line}");
            } else {
                let _ = writeln!(record.sql, "{line}");
            }
        }
        records.push(record);
    }
    (records, comments)
}

fn mark(words: &str) -> Option<Mark> {
    match words.split_once(": ") {
        None if words == "answered" => Some(Mark::Answered),
        None if words == "new" => Some(Mark::New),
        Some(("refused", words)) => Some(Mark::Refused(words.to_owned())),
        Some(("open", words)) => Some(Mark::Open(words.to_owned())),
        Some(("open refusal", words)) => Some(Mark::OpenRefusal(words.to_owned())),
        _ => None,
    }
}

fn compare(words: &str) -> Option<Compare> {
    let mut compare = Compare {
        ordered: false,
        relative: 1e-6,
        within: 1e-6,
        keys: 0,
        contains: false,
        free: false,
        rare: false,
    };
    for word in words.split("; ").filter(|word| !word.is_empty()) {
        match word.split_once(' ') {
            None if word == "ordered" => compare.ordered = true,
            None if word == "free" => compare.free = true,
            None if word == "contains" => compare.contains = true,
            Some(_) if word == "rare keys" => compare.rare = true,
            Some(("relative", number)) => compare.relative = number.parse().ok()?,
            Some(("within", number)) => compare.within = number.parse().ok()?,
            Some(("keys", number)) => compare.keys = number.parse().ok()?,
            _ => return None,
        }
    }
    Some(compare)
}

/// Writes the records as `read` reads them.
pub(crate) fn write(file: &Path, records: &[Record], comments: &str) {
    let mut text = String::new();
    for record in records {
        let mark = match &record.mark {
            Mark::Answered => "answered".to_owned(),
            Mark::Refused(words) => format!("refused: {words}"),
            Mark::Open(words) => format!("open: {words}"),
            Mark::OpenRefusal(words) => format!("open refusal: {words}"),
            Mark::New => "new".to_owned(),
        };
        let _ = writeln!(text, "{}=== {}\nmark: {mark}", record.comments, record.name);
        if let Some(words) = &record.compare_line {
            let _ = writeln!(text, "compare: {words}");
        }
        let _ = write!(text, "{}{}", record.sql, record.reference);
        if !record.expected.is_empty() {
            let _ = writeln!(text, "----\n{}", record.expected.join("\n"));
        }
    }
    text.push_str(comments);
    fs::write(file, text).expect("the corpus can be written");
}
