//! Neighbouring tables as files.

use super::neighbour::Table;
use crate::error::{Error, Result};
use demure_core::unit::Neighbours;
use demure_files::records::{read_records, write_records};
use std::path::{Path, PathBuf, absolute};
use tempfile::TempDir;

/// Two neighbouring datasets.
#[derive(Clone, Debug)]
pub struct Sides {
    /// What they are, in words that show no value.
    pub what: String,
    /// The left one and the right one.
    pub paths: [PathBuf; 2],
}

impl Sides {
    /// Two files that are there already.
    ///
    /// # Errors
    /// One of them is not there.
    pub fn given([left, right]: [&Path; 2]) -> Result<Self> {
        let there = |path: &Path| {
            let failed =
                |source| Error::Io { doing: format!("opening {}", path.display()), source };
            std::fs::metadata(path).map_err(failed)?;
            absolute(path).map_err(failed)
        };
        let what = format!("{} and {}", left.display(), right.display());
        Ok(Self { what, paths: [there(left)?, there(right)?] })
    }

    /// Pairs of a table's neighbours, as files in a folder.
    ///
    /// # Errors
    /// Neighbours cannot be made of the table, or the files cannot be written.
    pub fn made(
        table: &Table,
        unit: Option<&str>,
        relation: Neighbours,
        most: usize,
        folder: &Path,
    ) -> Result<Vec<Self>> {
        let mut pairs = Vec::new();
        for (i, (what, tables)) in table.neighbours(unit, relation, most)?.into_iter().enumerate() {
            let paths = ["left", "right"].map(|side| folder.join(format!("{side}-{i}.csv")));
            for (table, path) in tables.iter().zip(&paths) {
                write_records(path, &table.header, &table.rows)?;
            }
            pairs.push(Self { what, paths });
        }
        Ok(pairs)
    }
}

impl Table {
    /// The first `most` rows of a CSV file with a header.
    ///
    /// # Errors
    /// The file cannot be read, or is not CSV.
    pub fn read(path: &Path, most: usize) -> Result<Self> {
        let (header, rows) = read_records(path, most)?;
        Ok(Self { header, rows })
    }
}

/// A folder for neighbours, which goes when it is dropped.
pub(super) fn folder() -> Result<TempDir> {
    tempfile::tempdir()
        .map_err(|source| Error::Io { doing: "making a folder for neighbours".to_owned(), source })
}
