//! Errors. No message contains a cell.

use std::io;
use std::path::Path;

/// The result of reading or writing a file.
pub type Result<T> = std::result::Result<T, Error>;

/// Why a file could not be read or written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The operating system refused.
    #[error("{doing} {path}: {source}{}", hint(.source))]
    Io {
        /// `reading` or `writing`.
        doing: &'static str,
        /// The file.
        path: String,
        /// The operating system's reason.
        source: io::Error,
    },
    /// A row has more or fewer cells than the header, or a quoted cell is not closed.
    #[error("{path} is not well-formed CSV{}: every row must have as many cells as the header", at(*.line))]
    Ragged {
        /// The file.
        path: String,
        /// The line, if it is known.
        line: Option<u64>,
    },
    /// The file has no column with that name.
    #[error("{path} has no column `{column}`\nhint: {hint}")]
    NoColumn {
        /// The file.
        path: String,
        /// The name.
        column: String,
        /// What to do.
        hint: &'static str,
    },
    /// The first line has no names.
    #[error(
        "{path} has no heading: its first line must hold the names of the columns, as text\nhint: add a line \
         with the names, or give the file that has one"
    )]
    NoHeading {
        /// The file.
        path: String,
    },
    /// The text has another encoding.
    #[error(
        "{path} is not UTF-8 text\nhint: if it is Latin-1, as many spreadsheets write it, convert it: \
         iconv -f WINDOWS-1252 -t UTF-8 old.csv > new.csv"
    )]
    NotUtf8 {
        /// The file.
        path: String,
    },
    /// The text is UTF-16.
    #[error("{path} is UTF-16 text\nhint: convert it: iconv -f UTF-16 -t UTF-8 old.csv > new.csv")]
    Utf16 {
        /// The file.
        path: String,
    },
    /// A first line without an end.
    #[error(
        "the first line of {path} is longer than a million bytes\nhint: check that it is a CSV file, whose first \
         line holds the names of the columns"
    )]
    LongHeading {
        /// The file.
        path: String,
    },
    /// Nothing separates most names.
    #[error(
        "it is not clear what separates the columns of {path}: two signs are equally frequent in its first line\n\
         hint: say --delimiter"
    )]
    Delimiters {
        /// The file.
        path: String,
    },
    /// The name says that it is compressed.
    #[error(
        "{path} is not compressed with gzip, as its name says\nhint: rename it, without the `.gz`"
    )]
    NotGzip {
        /// The file.
        path: String,
    },
    /// A Parquet file without an end, or with parts that cannot be decoded.
    #[error(
        "{path} is not a Parquet file that can be read: its end is missing, or it is damaged\nhint: copy it again"
    )]
    Damaged {
        /// The file.
        path: String,
    },
    /// A Parquet column whose values have no text form.
    #[error(
        "column `{column}` of {path} is binary or nested, and has no texts\nhint: leave it out, or store it as strings"
    )]
    NoTexts {
        /// The file.
        path: String,
        /// The column.
        column: String,
    },
    /// Integers were expected.
    #[error("the first {columns} columns of {path} must be whole numbers")]
    NotWhole {
        /// The file.
        path: String,
        /// The number of columns that are read.
        columns: usize,
    },
    /// A number is missing or negative.
    #[error(
        "row {row} of {path} has a number that is missing or negative\nhint: leave such rows out"
    )]
    NoNumber {
        /// The file.
        path: String,
        /// The row, from 1.
        row: u64,
    },
}

impl Error {
    pub(crate) fn reading(path: &Path) -> impl Fn(io::Error) -> Self + Copy + '_ {
        |source| Self::Io { doing: "reading", path: path.display().to_string(), source }
    }

    pub(crate) fn writing(path: &Path) -> impl Fn(io::Error) -> Self + Copy + '_ {
        |source| Self::Io { doing: "writing", path: path.display().to_string(), source }
    }

    pub(crate) fn damaged(path: &Path) -> Self {
        Self::Damaged { path: path.display().to_string() }
    }

    /// Converts csv's own errors, which may quote a record.
    pub(crate) fn of_csv(error: csv::Error, path: &Path) -> Self {
        let line = error.position().map(csv::Position::line);
        match error.into_kind() {
            csv::ErrorKind::Io(source) => Self::reading(path)(source),
            _ => Self::Ragged { path: path.display().to_string(), line },
        }
    }
}

fn hint(source: &io::Error) -> &'static str {
    match source.kind() {
        io::ErrorKind::NotFound => "\nhint: check the path",
        io::ErrorKind::IsADirectory => "\nhint: give a file, not a folder",
        // What a decompressor reports.
        io::ErrorKind::InvalidData | io::ErrorKind::InvalidInput | io::ErrorKind::UnexpectedEof => {
            "\nhint: the gzip file is damaged or incomplete: copy or compress it again"
        }
        _ => "",
    }
}

/// ` at line 7`, if it is known.
fn at(line: Option<u64>) -> String {
    line.map_or(String::new(), |line| format!(" at line {line}"))
}
