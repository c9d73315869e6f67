//! Mistakes with their positions, and how they are reported.

use super::Mistake;
use std::fmt;
use std::path::PathBuf;

/// Why there is no policy.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PolicyError {
    /// The file cannot be read.
    #[error(
        "{path} cannot be read: {source}; give the path of a policy, a TOML file in UTF-8",
        path = path.display()
    )]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// The operating system's error.
        source: std::io::Error,
    },

    /// The file can be read but has mistakes.
    #[error("{}", Listed { file: file.as_deref(), problems })]
    Mistaken {
        /// The file, unless the policy is a text without one.
        file: Option<String>,
        /// Every mistake, in the order of the file.
        problems: Vec<Problem>,
    },
}

impl PolicyError {
    /// Every mistake, in the order of the file; empty if it could not be read.
    #[must_use]
    pub fn problems(&self) -> &[Problem] {
        match self {
            Self::Unreadable { .. } => &[],
            Self::Mistaken { problems, .. } => problems,
        }
    }
}

/// A mistake and its position.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("line {line}: {mistake}")]
pub struct Problem {
    /// Counted from 1.
    pub line: usize,
    /// Counted from 1, in characters.
    pub column: usize,
    /// What is wrong, and what to write instead.
    pub mistake: Mistake,
}

/// One line for each problem: `clinic.toml:12: what is wrong: what to write`.
struct Listed<'a> {
    file: Option<&'a str>,
    problems: &'a [Problem],
}

impl fmt::Display for Listed<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, problem) in self.problems.iter().enumerate() {
            if index > 0 {
                f.write_str("\n")?;
            }
            write!(f, "{}: {}", place(self.file, problem.line), problem.mistake)?;
        }
        Ok(())
    }
}

fn place(file: Option<&str>, line: usize) -> String {
    match file {
        Some(file) => format!("{file}:{line}"),
        None => format!("line {line}"),
    }
}

/// Mistakes and warnings noted while a file is read. Positions are byte offsets in its text.
pub(super) struct Notes<'t> {
    text: &'t str,
    file: Option<&'t str>,
    /// The start of each line.
    lines: Vec<usize>,
    problems: Vec<Problem>,
    warnings: Vec<(usize, String)>,
}

impl<'t> Notes<'t> {
    pub(super) fn new(text: &'t str, file: Option<&'t str>) -> Self {
        let after = text.bytes().enumerate().filter(|(_, byte)| *byte == b'\n');
        let lines = std::iter::once(0).chain(after.map(|(at, _)| at + 1)).collect();
        Self { text, file, lines, problems: Vec::new(), warnings: Vec::new() }
    }

    pub(super) fn mistake(&mut self, at: usize, mistake: Mistake) {
        let line = self.line(at);
        let start = self.lines.get(line - 1).copied().unwrap_or(0);
        // A position inside a character, or past the end, counts as the line's first column.
        let column = self.text.get(start..at).map_or(1, |before| before.chars().count() + 1);
        self.problems.push(Problem { line, column, mistake });
    }

    pub(super) fn warn(&mut self, at: usize, warning: Option<String>) {
        let line = self.line(at);
        self.warnings.extend(warning.map(|warning| (line, warning)));
    }

    pub(super) fn clean(&self) -> bool {
        self.problems.is_empty()
    }

    pub(super) fn into_error(mut self) -> PolicyError {
        self.problems.sort_by_key(|problem| (problem.line, problem.column));
        // The same mistake on the same line is reported once.
        self.problems
            .dedup_by(|next, first| (next.line, &next.mistake) == (first.line, &first.mistake));
        PolicyError::Mistaken { file: self.file.map(str::to_owned), problems: self.problems }
    }

    pub(super) fn into_warnings(mut self) -> Vec<String> {
        self.warnings.sort_by_key(|(line, _)| *line);
        let shown = |(line, warning)| format!("{}: {warning}", place(self.file, line));
        self.warnings.into_iter().map(shown).collect()
    }

    /// Counted from 1: the number of lines that begin at or before the position.
    fn line(&self, at: usize) -> usize {
        self.lines.partition_point(|start| *start <= at).max(1)
    }
}

#[cfg(test)]
mod tests;
