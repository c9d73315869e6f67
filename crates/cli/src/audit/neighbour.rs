//! Neighbouring tables as files.

use crate::Failure;
use demure_attack::audit::neighbour::Table;
use demure_files::records::{read_records, write_records};
use std::path::{Path, PathBuf};

/// The first `most` rows of a CSV file with a header.
pub(super) fn read(path: &Path, most: usize) -> Result<Table, Failure> {
    let (header, rows) = read_records(path, most)?;
    Ok(Table { header, rows })
}

/// Pairs as files in a folder, or the two files given.
pub(super) fn files(
    given: (Option<&PathBuf>, Option<&PathBuf>),
    made: impl FnOnce() -> Result<Vec<(String, [Table; 2])>, Failure>,
    folder: &Path,
) -> Result<Vec<(String, [PathBuf; 2])>, Failure> {
    match given {
        (Some(left), Some(right)) => {
            for path in [left, right] {
                std::fs::metadata(path).map_err(|source| Failure::File {
                    what: format!("opening {}", path.display()),
                    source,
                })?;
            }
            let absolute = |path: &PathBuf| {
                std::path::absolute(path)
                    .map_err(|source| Failure::File { what: path.display().to_string(), source })
            };
            let words = format!("{} and {}", left.display(), right.display());
            Ok(vec![(words, [absolute(left)?, absolute(right)?])])
        }
        (None, None) => {
            let mut pairs = Vec::new();
            for (i, (what, tables)) in made()?.into_iter().enumerate() {
                let paths = ["left", "right"].map(|side| folder.join(format!("{side}-{i}.csv")));
                for (table, path) in tables.iter().zip(&paths) {
                    write_records(path, &table.header, &table.rows)?;
                }
                pairs.push((what, paths));
            }
            Ok(pairs)
        }
        _ => Err(Failure::usage("--left and --right go together")),
    }
}
