//! How columns become coarser: `zip=zip.csv`, `zip=mask`, `age=intervals:5,10,20`.

use super::Mistake;
use crate::error::{Error, Result};
use crate::hierarchy::{self, Hierarchy};
use crate::table::{Column, Table};
use std::{fs, io};

/// The ways to build one without a file, as they are typed.
const BUILT: [&str; 4] = ["mask", "prefix", "intervals", "dates"];

/// Whether a specification names a file rather than a way to build.
pub(super) fn is_file(how: &str) -> bool {
    let (way, _) = how.split_once(':').unwrap_or((how, ""));
    !BUILT.contains(&way)
}

/// Specifications by column: the last one of a column counts.
pub struct Hierarchies<'a>(Vec<(&'a str, &'a str)>);

impl<'a> Hierarchies<'a> {
    /// Splits `column=how`, and refuses columns the table does not have.
    pub fn new(typed: &'a [String], table: &Table) -> Result<Self> {
        let mut pairs = Vec::new();
        for (i, text) in (1..).zip(typed) {
            let (name, how) = text.split_once('=').ok_or(Mistake::HierarchyForm { number: i })?;
            table.position(name)?;
            pairs.push((name, how));
        }
        Ok(Self(pairs))
    }

    /// A column's hierarchy, if one was given.
    pub fn given(&self, column: &Column) -> Result<Option<Hierarchy>> {
        let found = self.0.iter().rev().find(|(name, _)| *name == column.name);
        found.map(|(_, how)| build(column, how)).transpose()
    }
}

fn build(column: &Column, how: &str) -> Result<Hierarchy> {
    let (way, detail) = how.split_once(':').unwrap_or((how, ""));
    let wrong = |must: &'static str| Mistake::HierarchyHow { column: column.name.clone(), must };
    Ok(match way {
        "mask" if detail.is_empty() => hierarchy::masking(column)?,
        "dates" if detail.is_empty() => hierarchy::dates(column)?,
        "mask" | "dates" => return Err(wrong("`mask` or `dates` without anything behind").into()),
        "prefix" => {
            let keep = detail.split(',').map(|n| n.trim().parse().ok());
            let keep: Option<Vec<usize>> = keep.collect();
            let keep = keep.ok_or_else(|| wrong("`prefix:` and lengths, e.g. prefix:3,2"))?;
            hierarchy::prefixes(column, &keep)?
        }
        "intervals" => {
            // `intervals:17/5,10,20` counts from 17.
            let (origin, widths) = detail.split_once('/').unwrap_or(("0", detail));
            let number = |text: &str| text.trim().parse::<f64>().ok();
            let widths: Option<Vec<f64>> = widths.split(',').map(number).collect();
            let (origin, widths) = number(origin)
                .zip(widths)
                .ok_or_else(|| wrong("`intervals:` and widths, e.g. intervals:5,10,20"))?;
            hierarchy::intervals(column, origin, &widths)?
        }
        _ => from_file(column, how)?,
    })
}

fn from_file(column: &Column, path: &str) -> Result<Hierarchy> {
    let what = || format!("reading the hierarchy of `{}`, {path}", column.name);
    let failed = |source: io::Error| Error::File { what: what(), source };
    let bytes = fs::read(path).map_err(failed)?;
    if path.ends_with(".toml") {
        let wrong = || failed(io::Error::new(io::ErrorKind::InvalidData, "not valid UTF-8"));
        return hierarchy::tree(column, &String::from_utf8(bytes).map_err(|_| wrong())?);
    }
    Hierarchy::read(column, bytes.as_slice(), delimiter(&bytes))
}

/// What the first line is separated by: `;` as ARX writes, a tabulator, or a comma.
fn delimiter(bytes: &[u8]) -> u8 {
    let first = bytes.split(|byte| *byte == b'\n').next().unwrap_or_default();
    *[b';', b'\t'].iter().find(|mark| first.contains(mark)).unwrap_or(&b',')
}

#[cfg(test)]
mod tests;
