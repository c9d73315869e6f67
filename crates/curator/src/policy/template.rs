//! A first policy for a table, from the names and types of its columns alone.
//!
//! Nothing here sees a value: a bound taken from the data would reveal something about the data. What a name suggests
//! (an age is below 120) is common knowledge, and is offered as a comment. Two guesses are not comments, because a
//! policy without them would protect less: the unit (ε-DP for units is at worst 2ε-DP for each of their rows, while a
//! guarantee for rows says nothing about a unit with many), and that a name or an address is hidden.

use super::name::made_plain;
use super::odds;
use demure_core::unit::{Epsilon, Neighbours};
use std::collections::HashSet;
use std::fmt::Write;

/// The ε of a first policy.
const EPSILON: f64 = 1.0;
/// The width at which comments wrap.
const WIDEST: usize = 90;

/// The type of a column, as far as a policy cares.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ColumnKind {
    /// Whole numbers.
    Integer,
    /// Other numbers.
    Real,
    /// Texts.
    Text,
    /// True or false.
    Boolean,
    /// Days.
    Date,
    /// Times, with or without a day.
    Time,
    /// Anything else: lists, structures, bytes.
    Other,
}

impl ColumnKind {
    /// As a policy's `type` writes it.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Integer => "integer",
            Self::Real => "real",
            Self::Text | Self::Other => "text",
            Self::Boolean => "boolean",
            Self::Date => "date",
            Self::Time => "time",
        }
    }
}

/// Words in column names that refer to a person, the clearest first.
const PEOPLE: &[&str] = &[
    "person",
    "patient",
    "user",
    "customer",
    "client",
    "member",
    "subject",
    "participant",
    "employee",
    "student",
    "citizen",
    "individual",
    "respondent",
    "household",
    "account",
    "ssn",
    "email",
];
/// Words in column names that refer to a direct identifier.
const IDENTIFIERS: &[&str] = &[
    "name",
    "firstname",
    "lastname",
    "surname",
    "forename",
    "fullname",
    "email",
    "mail",
    "phone",
    "telephone",
    "mobile",
    "address",
    "street",
    "ssn",
    "passport",
    "iban",
    "password",
];
/// Bounds that are common knowledge.
const KNOWN: &[(&str, i32, i32)] = &[
    ("age", 0, 120),
    ("percent", 0, 100),
    ("percentage", 0, 100),
    ("month", 1, 12),
    ("weekday", 0, 7),
    ("hour", 0, 24),
    ("minute", 0, 60),
    ("latitude", -90, 90),
    ("longitude", -180, 180),
];

const HEAD: &str = r#"# A policy: what may be asked of a table, and how much all answers may tell about anyone.
# Written from the names and types of columns alone; no value was read. Check every line.

[budget]
# The privacy loss ε of all answers together, for ever. Smaller protects more, and adds
# more noise. What it promises:
"#;
const BUDGET: &str = r#"# The probability that this may fail: far below 1 in the number of people. Needed to list
# groups that this file does not list, and for "zcdp".
# delta = 1e-6
# How costs add up: "zcdp" affords more queries, and needs a delta.
# accounting = "pure"
# What is protected: that someone is in the data at all, or ("replace") only their values.
# neighbours = "add-remove"
# Who pays for an answer that somebody bought: whoever else is shown it too, out of her own
# limit ("personal"), or nobody ("shared").
# answers = "personal"
# Default price of a query, in ε.
"#;
const LEAST: &str = r#"# The least ε of a new query: every answer also shows how long it took, so none is almost free.
"#;
const TIMING: &str = r#"
# Answers of `demure serve` leave on a public schedule, so that their time tells little.
[timing]
# schedule = "on"
# step_ms = 100
# new_queries_per_minute = 120
"#;
const ROWS: &str = r#"# About how many rows there are, if everybody may know: answers then leave on a schedule for
# that size. Round it, and do not count it: a number taken from the data would tell of it.
# rows = 100_000
"#;
const UNIT: &str = r#"# Whose row it is: a column with the same value in all rows of one person, or "row" only
# if no two rows are about the same person. A wrong choice protects the wrong thing.
"#;
const LIMITS: &str = r#"# unit = "row"
# unit = { column = "visit_id", references = "visits.id" }   # by way of another table
# Every row counts. How many of one person count in full is learnt with each answer, for a
# tenth of its price; people with more count with a smaller weight.
contributions = "auto"
# If everybody has one row, or to leave rows out instead, write limits and no `contributions`:
# max_groups = 1
# max_rows_per_group = 1
"#;
const COLUMNS: &str = r#"# A median or a variance needs bounds, and a sum or a mean has less noise with them; values
# beyond them are clamped. They must come from what is known about the world (nobody is 200
# years old), never from the data: the highest income in a table tells of one person. The
# same goes for lists of values.
# Take away the # of a line once it is true.
"#;

/// A commented policy for one table, from its schema: the name, kind and nullability of each column. It is valid as it
/// is; comments mark what a steward should decide.
///
/// A `table` that is not a plain name is changed into one.
#[must_use]
pub fn template(table: &str, source: &str, columns: &[(String, ColumnKind, bool)]) -> String {
    let table = made_plain(table);
    let mut text = String::new();
    budget(&mut text);
    line(&mut text, &format!("\n[tables.{table}]"));
    line(&mut text, "# CSV or Parquet: a file, a folder or a glob, relative to this file.");
    line(&mut text, &format!("source = {}", quoted(source)));
    let unit = unit(&mut text, columns);
    text.push_str(ROWS);

    line(&mut text, &format!("\n[tables.{table}.columns]"));
    text.push_str(COLUMNS);
    let mut seen = HashSet::new();
    for (name, kind, nullable) in columns {
        // A name can be a key only once.
        if seen.insert(name) && Some(name.as_str()) != unit {
            line(&mut text, &column(name, *kind, *nullable));
        }
    }
    text
}

/// The line of a policy that declares bounds, for `[tables.….columns]`:
/// `age = { bounds = [0, 120] }`.
#[must_use]
pub fn bounds_line(column: &str, low: f64, high: f64) -> String {
    format!("{} = {{ bounds = [{}, {}] }}", key(column), number(low), number(high))
}

fn line(text: &mut String, line: &str) {
    text.push_str(line);
    text.push('\n');
}

/// A comment over as many lines as it needs.
fn comment(text: &mut String, words: &str) {
    let mut shown = String::from("#");
    for word in words.split(' ') {
        if shown.chars().count() + 1 + word.chars().count() > WIDEST {
            line(text, &shown);
            shown = String::from("#  ");
        }
        shown.push(' ');
        shown.push_str(word);
    }
    line(text, &shown);
}

fn budget(text: &mut String) {
    text.push_str(HEAD);
    for choice in [0.1, EPSILON, 5.0] {
        if let Ok(epsilon) = Epsilon::new(choice) {
            comment(text, &format!("- {choice:?}: {}.", odds(epsilon, Neighbours::AddRemove)));
        }
    }
    line(text, &format!("epsilon = {EPSILON:?}"));
    text.push_str(BUDGET);
    line(text, &format!("# per_query = {:?}", EPSILON / 10.0));
    text.push_str(LEAST);
    line(text, &format!("# min_per_query = {:?}", EPSILON / 1000.0));
    text.push_str(TIMING);
}

/// Writes the unit, and returns the column that was guessed.
fn unit<'a>(text: &mut String, columns: &'a [(String, ColumnKind, bool)]) -> Option<&'a str> {
    let guesses = units(columns);

    text.push_str(UNIT);
    let mut guesses = guesses.into_iter();
    let guess = guesses.next();
    match guess {
        Some(name) => {
            line(text, "# This one was guessed from its name:");
            line(text, &format!("unit = {}", quoted(name)));
            for other in guesses {
                line(text, &format!("# unit = {}", quoted(other)));
            }
            text.push_str(LIMITS);
        }
        None => {
            line(text, "# No column has a name that suggests a person:");
            line(text, "unit = \"row\"");
        }
    }
    guess
}

/// The columns that by their names may say whose row it is, the likeliest first.
#[must_use]
pub fn units(columns: &[(String, ColumnKind, bool)]) -> Vec<&str> {
    let mut guesses: Vec<(usize, &str)> = columns
        .iter()
        .filter(|(name, kind, _)| *kind != ColumnKind::Other && name != "row" && !name.is_empty())
        .filter_map(|(name, _, _)| Some((rank(name)?, name.as_str())))
        .collect();
    guesses.sort_by_key(|(rank, _)| *rank);
    guesses.into_iter().map(|(_, name)| name).collect()
}

/// Bounds of a column that are common knowledge, by its name.
#[must_use]
pub fn known_bounds(name: &str) -> Option<(i32, i32)> {
    let words = words(name);
    let last = words.last()?;
    KNOWN.iter().find(|(known, _, _)| last == known).map(|(_, low, high)| (*low, *high))
}

/// Whether by its name a column says who someone is.
#[must_use]
pub fn identifies(name: &str) -> bool {
    words(name).iter().any(|word| IDENTIFIERS.contains(&word.as_str()))
}

/// How clearly a column name says whose row it is: people first, then ids of anything, then `id`.
fn rank(name: &str) -> Option<usize> {
    let words = words(name);
    if let Some(rank) = PEOPLE.iter().position(|word| words.iter().any(|other| other == word)) {
        // `user_agent` and `customer_type` describe a person; `user` and `user_id` name one.
        let names =
            matches!(words.last().map(String::as_str), Some("id" | "no" | "nr" | "number" | "key"));
        return (words.len() == 1 || names).then_some(rank);
    }
    match words.last().map(String::as_str) {
        Some("id") if words.len() > 1 => Some(PEOPLE.len()),
        Some("id" | "uid" | "uuid") => Some(PEOPLE.len() + 1),
        _ => None,
    }
}

/// The words of a name, in lower case: `patientId`, `patient_id` and `Patient ID` have two.
fn words(name: &str) -> Vec<String> {
    let mut spaced = String::new();
    let mut lower = false;
    for c in name.chars() {
        if lower && c.is_uppercase() {
            spaced.push(' ');
        }
        lower = c.is_lowercase();
        spaced.push(if c.is_alphanumeric() { c } else { ' ' });
    }
    spaced.split_whitespace().map(str::to_lowercase).collect()
}

/// The line of a column: a comment, unless it hides the column.
fn column(name: &str, kind: ColumnKind, nullable: bool) -> String {
    let key = key(name);
    if kind == ColumnKind::Text && identifies(name) {
        return format!("{key} = {{ hidden = true }}   # by its name it says who someone is");
    }
    if rank(name).is_some() {
        return format!("# {key} = {{ hidden = true }}");
    }
    let never = if nullable { "" } else { ", nullable = false" };
    match (kind, known_bounds(name)) {
        (ColumnKind::Integer | ColumnKind::Real, Some((low, high))) => {
            format!("# {key} = {{ bounds = [{low}, {high}]{never} }}")
        }
        (ColumnKind::Integer, None) => {
            format!("# {key} = {{ bounds = [low, high]{never} }}   # what can be")
        }
        (ColumnKind::Real, None) => {
            format!("# {key} = {{ bounds = [low, high], grid = 0.01{never} }}   # what can be")
        }
        (ColumnKind::Text, _) => {
            format!("# {key} = {{ values = [\"a\", \"b\"]{never} }}   # every value there can be")
        }
        (ColumnKind::Boolean, _) => format!("# {key} = {{ values = [false, true]{never} }}"),
        (ColumnKind::Date, _) => {
            format!("# {key} = {{ bounds = [2020-01-01, 2024-12-31]{never} }}   # what can be")
        }
        (ColumnKind::Time, _) => {
            format!("# {key} = {{ bounds = [2020-01-01, 2024-12-31]{never} }}   # what can be")
        }
        (ColumnKind::Other, _) => format!("# {key} = {{ hidden = true }}"),
    }
}

/// A number in TOML. A number that is not finite parses, but is then refused by name.
pub(super) fn number(value: f64) -> String {
    match value {
        value if value.is_nan() => "nan".to_owned(),
        value if value.fract() == 0.0 && value.abs() < 1e15 => (value as i64).to_string(),
        value => format!("{value:?}"),
    }
}

/// A name as a TOML key.
pub(super) fn key(name: &str) -> String {
    let bare = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    if !name.is_empty() && name.chars().all(bare) { name.to_owned() } else { quoted(name) }
}

/// A text in TOML, on one line.
pub(crate) fn quoted(text: &str) -> String {
    let mut quoted = String::from("\"");
    for c in text.chars() {
        match c {
            '"' | '\\' => quoted.extend(['\\', c]),
            c if c.is_control() => {
                // Writing to a String does not fail.
                let _ = write!(quoted, "\\u{:04X}", c as u32);
            }
            c => quoted.push(c),
        }
    }
    quoted.push('"');
    quoted
}
