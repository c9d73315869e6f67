//! The published table: quasi-identifiers as their classes show them, the rest as it is.

use super::Release;
use std::borrow::Cow;
use std::io::{self, Write};

/// What a row has in one column.
pub enum Cells<'a> {
    /// As in the original: texts by code, codes by row.
    Own(&'a [String], &'a [u32]),
    /// By class; the last is for rows that are suppressed.
    Class(Vec<String>),
}

impl Cells<'_> {
    /// The text of a row.
    #[must_use]
    pub fn text(&self, row: usize, release: &Release<'_>) -> Option<&str> {
        match self {
            Self::Own(texts, codes) => texts.get(*codes.get(row)? as usize).map(String::as_str),
            Self::Class(labels) => {
                let class = *release.recoding.class_of.get(row)? as usize;
                labels.get(class.min(labels.len().saturating_sub(1))).map(String::as_str)
            }
        }
    }
}

/// The names and the cells of the published columns, in the order of the original; of its
/// columns, those `shown`.
pub fn columns<'a>(release: &Release<'a>, shown: &[usize]) -> Vec<(&'a str, Cells<'a>)> {
    let published = shown.iter().filter_map(|at| release.table.columns.get(*at));
    let cells = |column: &'a crate::table::Column| {
        let quasi = release.attributes.iter().position(|a| a.column.name == column.name);
        let Some(at) = quasi else { return Cells::Own(&column.values, &column.codes) };
        let label = |class: usize| {
            let cells = release.recoding.cells_of(class);
            let found = cells.get(at).zip(release.attributes.get(at));
            found.map_or("*".to_owned(), |(cell, attribute)| attribute.label(*cell))
        };
        let mut labels: Vec<String> = (0..release.classes.len()).map(label).collect();
        labels.push("*".to_owned());
        Cells::Class(labels)
    };
    published.map(|column| (column.name.as_str(), cells(column))).collect()
}

/// Columns side by side, as they are written: every text quoted once, with what follows it.
enum Run<'a> {
    /// One column, by code.
    Own(Vec<Vec<u8>>, &'a [u32]),
    /// One or more, by class.
    Class(Vec<Vec<u8>>),
}

/// Writes the header and every row, in the order of the original.
pub fn write(
    release: &Release<'_>,
    shown: &[usize],
    delimiter: u8,
    out: &mut impl Write,
) -> io::Result<()> {
    let columns = columns(release, shown);
    let (count, alone) = (columns.len(), columns.len() == 1);
    let mut runs: Vec<Run<'_>> = Vec::new();
    let mut line = Vec::new();
    for (i, (name, cells)) in columns.into_iter().enumerate() {
        let end = if i + 1 == count { b'\n' } else { delimiter };
        cell(&mut line, name, delimiter, end, alone);
        match cells {
            Cells::Own(texts, codes) => {
                let mut quoted = vec![Vec::new(); texts.len()];
                for (into, text) in quoted.iter_mut().zip(texts) {
                    cell(into, text, delimiter, end, alone);
                }
                runs.push(Run::Own(quoted, codes));
            }
            Cells::Class(labels) => {
                if !matches!(runs.last(), Some(Run::Class(_))) {
                    runs.push(Run::Class(vec![Vec::new(); labels.len()]));
                }
                if let Some(Run::Class(run)) = runs.last_mut() {
                    for (into, label) in run.iter_mut().zip(&labels) {
                        cell(into, label, delimiter, end, alone);
                    }
                }
            }
        }
    }
    out.write_all(&line)?;
    for (row, class) in release.recoding.class_of.iter().enumerate() {
        let class = (*class as usize).min(release.classes.len());
        for run in &runs {
            let text = match run {
                Run::Own(texts, codes) => codes.get(row).and_then(|c| texts.get(*c as usize)),
                Run::Class(labels) => labels.get(class),
            };
            out.write_all(text.map_or(b"", Vec::as_slice))?;
        }
    }
    Ok(())
}

/// Adds a text, in quotes if it needs them, and what ends it. A line must not be empty, lest a
/// reader skip it.
fn cell(into: &mut Vec<u8>, text: &str, delimiter: u8, end: u8, alone: bool) {
    let special = |byte: u8| byte == delimiter || matches!(byte, b'"' | b'\r' | b'\n');
    let shown: Cow<'_, str> = if text.bytes().any(special) || (alone && text.is_empty()) {
        format!("\"{}\"", text.replace('"', "\"\"")).into()
    } else {
        text.into()
    };
    into.extend_from_slice(shown.as_bytes());
    into.push(end);
}

#[cfg(test)]
mod tests;
