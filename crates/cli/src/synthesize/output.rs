//! Rows as CSV or Parquet, by the name of the file.

use crate::Failure;
use datafusion::arrow::array::RecordBatch;
use datafusion::arrow::error::ArrowError;
use demure_files::batches;
use std::io::{ErrorKind, Write};
use std::path::Path;

/// How rows are written.
#[derive(Clone, Copy)]
pub(super) enum Format {
    Csv,
    Parquet,
}

impl Format {
    /// What the name of a file says.
    pub(super) fn of(path: &Path) -> Result<Self, Failure> {
        let ending = path.extension().and_then(|ending| ending.to_str()).unwrap_or_default();
        match ending.to_ascii_lowercase().as_str() {
            "csv" => Ok(Self::Csv),
            "parquet" => Ok(Self::Parquet),
            _ => Err(Failure::usage(
                "the name of the output ends neither in .csv nor in .parquet\nhint: -o rows.csv",
            )),
        }
    }

    pub(super) fn write(self, rows: &RecordBatch, out: &mut impl Write) -> Result<(), Failure> {
        let (schema, rows) = (rows.schema(), std::slice::from_ref(rows));
        let written = match self {
            Self::Csv => batches::write_csv(&schema, rows, out),
            Self::Parquet => batches::write_parquet(&schema, rows, out),
        };
        written.map_err(|error| match error {
            ArrowError::IoError(_, source) => Failure::writing(source),
            // What is written has been released: the text may quote it.
            error => Failure::usage(format!("this format cannot hold the rows: {error}")),
        })
    }
}

/// As many as the machine has processors.
pub(super) fn threads() -> usize {
    std::thread::available_parallelism().map_or(2, usize::from)
}

/// Checks that a file can be made in the folder of this one: before work that is paid for.
pub(super) fn check_writable(path: &Path) -> Result<(), Failure> {
    let failed = |source| Failure::File { what: format!("writing {}", path.display()), source };
    match std::fs::metadata(path) {
        Ok(found) if found.is_dir() => {
            return Err(failed(std::io::Error::from(ErrorKind::IsADirectory)));
        }
        // A device or a pipe is opened when it is written.
        Ok(found) if !found.is_file() => return Ok(()),
        _ => {}
    }
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    let trial =
        tempfile::NamedTempFile::new_in(folder.unwrap_or(Path::new("."))).map_err(failed)?;
    trial.close().map_err(failed)
}
