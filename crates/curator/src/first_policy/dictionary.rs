//! A data dictionary: what is known of each column, in a CSV or a JSON file.
//!
//! In CSV, the first line names some of `column`, `type`, `format`, `range` (or `min` and `max`) and `labels`. In JSON it
//! is a list of objects with these keys, or an object with one such object for each column. Other keys are ignored.

use super::schema::known;
use super::{Note, ProposeError};
use crate::policy::{ColumnKind, Declared, SchemaColumn, TimeFormat, Value, entry};
use demure_files::heading::heading;
use demure_files::open_text;
use serde_json::Value as Json;
use std::collections::BTreeMap;
use std::io::Read;
use std::path::Path;

/// The largest dictionary, in bytes.
const LONGEST: u64 = 16 << 20;

/// What a key may be called.
const KEYS: [(&str, &[&str]); 7] = [
    ("column", &["column", "name", "variable", "field", "column name", "variable name"]),
    ("type", &["type", "data type", "datatype", "dtype", "kind"]),
    ("format", &["format", "date format"]),
    ("range", &["range", "bounds"]),
    ("min", &["min", "minimum", "low", "lower"]),
    ("max", &["max", "maximum", "high", "upper"]),
    ("labels", &["labels", "values", "levels", "categories", "codes"]),
];

const KINDS: [(ColumnKind, &[&str]); 6] = [
    (ColumnKind::Integer, &["integer", "int", "bigint", "smallint", "whole", "int64", "int32"]),
    (ColumnKind::Real, &["real", "float", "double", "decimal", "numeric", "number", "float64"]),
    (
        ColumnKind::Text,
        &[
            "text",
            "string",
            "str",
            "char",
            "varchar",
            "category",
            "categorical",
            "factor",
            "nominal",
        ],
    ),
    (ColumnKind::Boolean, &["boolean", "bool", "logical"]),
    (ColumnKind::Date, &["date", "day"]),
    (ColumnKind::Time, &["time", "datetime", "timestamp"]),
];

/// What one entry says, by the keys' first names. A list is one text for each of its values.
type Entry = BTreeMap<&'static str, Vec<String>>;

/// Adds what a dictionary says of the table's columns.
pub(super) fn import(
    path: &Path,
    columns: &[SchemaColumn],
    declared: &mut Vec<Declared>,
    note: Note<'_>,
) -> Result<(), ProposeError> {
    let mut elsewhere = Vec::new();
    for (at, found) in read(path)?.into_iter().enumerate() {
        let wrong = |what: String| {
            ProposeError::Options(format!("{}, entry {}: {what}", path.display(), at + 1))
        };
        let name =
            found.get("column").and_then(|name| name.first()).filter(|name| !name.is_empty());
        let name = name.ok_or_else(|| {
            wrong("it names no column\nhint: give the name under `column`".to_owned())
        })?;
        match known(columns, name, "dictionary") {
            Ok(name) => {
                // A file says what its columns hold; a dictionary only says more.
                let stored = columns.iter().find(|(column, ..)| *column == name);
                let stored = stored.map_or(ColumnKind::Text, |(_, kind, _)| *kind);
                add(entry(declared, &name), &found, stored).map_err(wrong)?;
            }
            Err(_) => elsewhere.push(name.clone()),
        }
    }
    if !elsewhere.is_empty() {
        note(&format!(
            "note: the dictionary names columns that the table does not have: {}",
            elsewhere.join(", ")
        ));
    }
    note(
        "note: ranges and labels of the dictionary stand in the policy: they must be public knowledge, not computed from the data",
    );
    Ok(())
}

/// Adds an entry to what is declared of a column already, which comes first.
fn add(column: &mut Declared, found: &Entry, stored: ColumnKind) -> Result<(), String> {
    let text =
        |key: &str| found.get(key).and_then(|all| all.first()).filter(|text| !text.is_empty());
    if let (None, Some(word)) = (column.kind, text("type")) {
        let lower = word.to_lowercase();
        let known = KINDS.iter().find(|(_, words)| words.contains(&lower.as_str()));
        let (kind, _) = known.ok_or_else(|| {
            format!(
                "its type is not understood\nhint: write integer, real, text, boolean, date or time for `{}`",
                column.name
            )
        })?;
        column.kind = Some(*kind);
    }
    if let (None, Some(format)) = (&column.format, text("format")) {
        let format = TimeFormat::parse(format)
            .map_err(|fault| format!("its format {fault}\nhint: write for instance %d.%m.%Y"))?;
        column.format = Some(format);
    }
    let kind = column.kind.unwrap_or(match &column.format {
        Some(format) if format.has_time() => ColumnKind::Time,
        Some(_) => ColumnKind::Date,
        None => stored,
    });
    let ends = match (text("min"), text("max"), found.get("range").map(Vec::as_slice)) {
        (Some(low), Some(high), _) => Some((low.clone(), high.clone())),
        (_, _, Some([low, high])) => Some((low.clone(), high.clone())),
        (_, _, Some([range])) if !range.is_empty() => Some(parted(range)?),
        _ => None,
    };
    let moment = matches!(kind, ColumnKind::Date | ColumnKind::Time);
    let number = matches!(kind, ColumnKind::Integer | ColumnKind::Real);
    if let (None, Some((low, high))) = (&column.bounds, ends.filter(|_| moment || number)) {
        let low = end(&low, moment)?;
        let high = end(&high, moment)?;
        column.bounds = Some((low, high));
    }
    if column.values.is_empty()
        && !moment
        && column.bounds.is_none()
        && let Some(labels) = found.get("labels")
    {
        let labels = match &labels[..] {
            [one] => listed(one),
            several => several.to_vec(),
        };
        for label in labels {
            let value = value(&label, kind)?;
            if !column.values.contains(&value) {
                column.values.push(value);
            }
        }
    }
    Ok(())
}

/// The two ends of `0-120`, `0..120`, `[0, 120]` or `2023-01-01 to 2024-12-31`.
fn parted(range: &str) -> Result<(String, String), String> {
    let bare = range.trim().trim_start_matches(['[', '(']).trim_end_matches([']', ')']);
    let both = |(low, high): (&str, &str)| (low.trim().to_owned(), high.trim().to_owned());
    for sign in ["..", "…", " to ", ";", ",", "–", " - "] {
        if let Some(found) = bare.split_once(sign) {
            return Ok(both(found));
        }
    }
    // A hyphen, which may also be a sign.
    let numbers = bare.char_indices().filter(|(at, c)| *at > 0 && *c == '-').find_map(|(at, _)| {
        let (low, high) = (bare[..at].trim(), bare[at + 1..].trim());
        (low.parse::<f64>().is_ok() && high.parse::<f64>().is_ok()).then_some((low, high))
    });
    numbers.map(both).ok_or_else(|| {
        "its range has no two ends\nhint: write for instance 0..120 or 2023-01-01..2024-12-31"
            .to_owned()
    })
}

/// An end of a range, as TOML writes it.
fn end(text: &str, moment: bool) -> Result<String, String> {
    let text = text.trim();
    if moment {
        let day = TimeFormat::parse("%Y-%m-%d").ok().and_then(|format| format.read(text));
        return match day {
            Some(_) => Ok(text.to_owned()),
            None => {
                Err("an end of its range is not a date\nhint: write dates as 2024-12-31".to_owned())
            }
        };
    }
    match (text.parse::<i64>(), text.parse::<f64>()) {
        (Ok(whole), _) => Ok(whole.to_string()),
        (_, Ok(real)) if real.is_finite() => Ok(format!("{real:?}")),
        _ => Err("an end of its range is not a number\nhint: write numbers as 0.5".to_owned()),
    }
}

/// The labels of one cell: `f|m`, or `f = female; m = male`, of which the codes are what the table holds.
fn listed(cell: &str) -> Vec<String> {
    let sign = ['|', ';', ','].into_iter().find(|sign| cell.contains(*sign));
    let parts: Vec<&str> = match sign {
        Some(sign) => cell.split(sign).collect(),
        None => vec![cell],
    };
    let code = |part: &&str| part.split(['=', ':']).next().unwrap_or_default().trim().to_owned();
    parts.iter().map(code).filter(|code| !code.is_empty()).collect()
}

fn value(label: &str, kind: ColumnKind) -> Result<Value, String> {
    let wrong = |what: &str| {
        format!("a label is not {what}\nhint: give the values as the table holds them")
    };
    match kind {
        ColumnKind::Integer => {
            label.parse().map(Value::Integer).map_err(|_| wrong("a whole number"))
        }
        ColumnKind::Real => match label.parse::<f64>() {
            Ok(real) if real.is_finite() => Ok(Value::Real(real + 0.0)),
            _ => Err(wrong("a number")),
        },
        ColumnKind::Boolean => {
            label.to_lowercase().parse().map(Value::Boolean).map_err(|_| wrong("true or false"))
        }
        _ => Ok(Value::Text(label.to_owned())),
    }
}

/// The first name of a key.
fn key(name: &str) -> Option<&'static str> {
    let lower = name.trim().to_lowercase().replace('_', " ");
    KEYS.iter().find(|(_, names)| names.contains(&lower.as_str())).map(|(key, _)| *key)
}

/// The entries of a file.
fn read(path: &Path) -> Result<Vec<Entry>, ProposeError> {
    let wrong = |what: &str| ProposeError::Options(format!("{}: {what}", path.display()));
    let json = path.extension().is_some_and(|end| end.eq_ignore_ascii_case("json"));
    if json {
        let mut text = String::new();
        let read = open_text(path)?.take(LONGEST).read_to_string(&mut text);
        read.map_err(|_| wrong("it is not UTF-8 text"))?;
        let text = text.trim_start_matches('\u{FEFF}');
        let parsed: Json = serde_json::from_str(text)
            .map_err(|error| wrong(&format!("it is not JSON, in line {}", error.line())))?;
        return of_json(&parsed).ok_or_else(|| {
            wrong(
                "it is neither a list of objects nor an object of objects\nhint: write \
                   [{\"column\": \"age\", \"type\": \"integer\", \"range\": [0, 120]}]",
            )
        });
    }
    let head = heading(path, None)?;
    let keys: Vec<Option<&str>> = head.names.iter().map(|name| key(name)).collect();
    if !keys.contains(&Some("column")) {
        return Err(wrong(
            "its first line has no `column`\nhint: write column,type,range,labels there",
        ));
    }
    let text = open_text(path)?.take(LONGEST);
    let mut rows =
        csv::ReaderBuilder::new().delimiter(head.delimiter).flexible(true).from_reader(text);
    let mut entries = Vec::new();
    for row in rows.records() {
        let row = row.map_err(|_| wrong("it cannot be read to its end as CSV in UTF-8"))?;
        let mut entry = Entry::new();
        for (key, cell) in keys.iter().zip(row.iter()) {
            if let Some(key) = key.filter(|_| !cell.trim().is_empty()) {
                entry.insert(key, vec![cell.trim().to_owned()]);
            }
        }
        if !entry.is_empty() {
            entries.push(entry);
        }
    }
    Ok(entries)
}

fn of_json(parsed: &Json) -> Option<Vec<Entry>> {
    match parsed {
        Json::Array(all) => all.iter().map(|one| Some(entry_of(one.as_object()?))).collect(),
        Json::Object(all) => {
            let named = all.iter().map(|(name, one)| {
                let mut entry = entry_of(one.as_object()?);
                entry.insert("column", vec![name.clone()]);
                Some(entry)
            });
            named.collect()
        }
        _ => None,
    }
}

fn entry_of(object: &serde_json::Map<String, Json>) -> Entry {
    let text = |value: &Json| match value {
        Json::String(text) => Some(text.clone()),
        Json::Number(_) | Json::Bool(_) => Some(value.to_string()),
        _ => None,
    };
    let mut entry = Entry::new();
    for (name, value) in object {
        let Some(key) = key(name) else { continue };
        let texts: Vec<String> = match value {
            Json::Array(all) => all.iter().filter_map(text).collect(),
            // Codes and what they mean.
            Json::Object(all) => all.keys().cloned().collect(),
            one => text(one).into_iter().collect(),
        };
        if !texts.is_empty() {
            entry.insert(key, texts);
        }
    }
    entry
}

#[cfg(test)]
mod tests;
