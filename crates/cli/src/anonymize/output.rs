//! The published table as a file: Parquet or CSV.

use crate::Failure;
use demure_anonymize::publish::Release;
use demure_anonymize::publish::output::{columns, write};
use demure_files as files;
use std::path::Path;

/// Writes a file: Parquet if it is called so, else CSV.
pub(super) fn write_file(
    release: &Release<'_>,
    shown: &[usize],
    delimiter: u8,
    path: &Path,
) -> Result<(), Failure> {
    files::write(path, |file| match files::source::is_parquet(path) {
        true => {
            let columns = columns(release, shown);
            let names: Vec<&str> = columns.iter().map(|(name, _)| *name).collect();
            let cell = |at: usize, row: usize| columns.get(at)?.1.text(row, release);
            let rows = release.recoding.class_of.len();
            Ok(files::parquet::write_texts(&names, rows, cell, path, file)?)
        }
        false => write(release, shown, delimiter, file).map_err(Failure::writing),
    })
}
