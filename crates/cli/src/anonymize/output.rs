//! The published table, as CSV: quasi-identifiers as their classes show them, the rest as it is.

use super::release::Release;
use crate::Failure;
use std::io::Write;

/// What a row has in one column.
enum Cells<'a> {
    /// As in the original: texts by code, codes by row.
    Own(Vec<Vec<u8>>, &'a [u32]),
    /// By class; the last is for rows that are suppressed.
    Class(Vec<Vec<u8>>),
}

/// Writes the header and every row, in the order of the original; of its columns, those `shown`.
pub(super) fn write(
    release: &Release<'_>,
    shown: &[usize],
    delimiter: u8,
    out: &mut impl Write,
) -> Result<(), Failure> {
    let mut columns = Vec::with_capacity(shown.len());
    let mut line = Vec::new();
    let count = shown.len();
    // Each distinct text is quoted once, with what follows it.
    let end = |i: usize| if i + 1 == count { b'\n' } else { delimiter };
    let alone = count == 1;
    let published = shown.iter().filter_map(|at| release.table.columns.get(*at));
    for (i, column) in published.enumerate() {
        line.extend(cell(&column.name, delimiter, end(i), alone));
        let quasi = release.attributes.iter().position(|a| a.column.name == column.name);
        columns.push(match quasi {
            None => {
                let texts = column.values.iter();
                let texts = texts.map(|text| cell(text, delimiter, end(i), alone)).collect();
                Cells::Own(texts, &column.codes)
            }
            Some(at) => {
                let label = |class: usize| {
                    let cells = release.recoding.cells_of(class);
                    let found = cells.get(at).zip(release.attributes.get(at));
                    let text = found.map_or("*".to_owned(), |(cell, a)| a.label(*cell));
                    cell(&text, delimiter, end(i), alone)
                };
                let mut labels: Vec<_> = (0..release.classes.len()).map(label).collect();
                labels.push(cell("*", delimiter, end(i), alone));
                Cells::Class(labels)
            }
        });
    }
    out.write_all(&line).map_err(Failure::writing)?;
    for (row, class) in release.recoding.class_of.iter().enumerate() {
        let class = (*class as usize).min(release.classes.len());
        for column in &columns {
            let text = match column {
                Cells::Own(texts, codes) => codes.get(row).and_then(|c| texts.get(*c as usize)),
                Cells::Class(labels) => labels.get(class),
            };
            out.write_all(text.map_or(b"", Vec::as_slice)).map_err(Failure::writing)?;
        }
    }
    Ok(())
}

/// A text in quotes if it needs them, and what ends it. A line must not be empty, lest a reader
/// skip it.
fn cell(text: &str, delimiter: u8, end: u8, alone: bool) -> Vec<u8> {
    let special = |byte: u8| byte == delimiter || matches!(byte, b'"' | b'\r' | b'\n');
    let mut bytes = if text.bytes().any(special) || (alone && text.is_empty()) {
        format!("\"{}\"", text.replace('"', "\"\"")).into_bytes()
    } else {
        text.as_bytes().to_vec()
    };
    bytes.push(end);
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_quoted_where_they_must_be() {
        let shown = |text, alone| String::from_utf8(cell(text, b';', b'\n', alone)).unwrap();
        assert_eq!(shown("a,b", false), "a,b\n");
        assert_eq!(shown("a;b", false), "\"a;b\"\n");
        assert_eq!(shown("say \"x\"", false), "\"say \"\"x\"\"\"\n");
        assert_eq!((shown("", false), shown("", true)), ("\n".into(), "\"\"\n".into()));
    }
}
