//! Any program that reads a dataset and prints numbers.
//!
//! `{}` in its arguments stands for the dataset's path, and `{n}` for how many lines are wanted; without `{}` the dataset
//! comes on standard input. Every line that it prints is one run.

use super::effort::{Effort, Usual};
use super::examine::{Claim, Finding, Source};
use super::feature::{Output, word};
use super::neighbour::Table;
use super::sides::{Sides, folder};
use crate::Watch;
use crate::error::{Error, Result};
use demure_core::unit::Neighbours;
use std::collections::VecDeque;
use std::ffi::OsString;
use std::fs::File;
use std::path::Path;
use std::process::{Command, Stdio};

/// What a program is run on.
#[derive(Clone, Copy, Debug)]
pub enum Datasets<'a> {
    /// Two neighbouring files.
    Given([&'a Path; 2]),
    /// Neighbours made of a CSV file.
    Made {
        /// The file.
        data: &'a Path,
        /// The column that says whose row a row is; each row is someone else's without one.
        unit: Option<&'a str>,
        /// What neighbours differ in.
        relation: Neighbours,
        /// How many pairs, at most.
        pairs: usize,
    },
}

/// Audits a program, its name first; by default for about a minute.
///
/// # Errors
/// There are no datasets to run it on, or it fails, or prints nothing.
pub fn audit(
    command: &[OsString],
    datasets: Datasets<'_>,
    claim: Claim,
    effort: &Effort,
    watch: Watch<'_>,
) -> Result<Finding> {
    let folder = folder()?;
    let pairs = match datasets {
        Datasets::Given(paths) => vec![Sides::given(paths)?],
        Datasets::Made { data, unit, relation, pairs } => {
            Sides::made(&Table::read(data, usize::MAX)?, unit, relation, pairs, folder.path())?
        }
    };
    let waiting = pairs.iter().map(|_| [VecDeque::new(), VecDeque::new()]).collect();
    effort.audit(&mut Program { command, pairs, waiting }, claim, Usual::Minutes(1.0), watch)
}

/// A program and the datasets to run it on; lines that were printed and not yet asked for wait.
struct Program<'a> {
    command: &'a [OsString],
    pairs: Vec<Sides>,
    waiting: Vec<[VecDeque<Output>; 2]>,
}

impl Source for Program<'_> {
    type Error = Error;

    fn pairs(&self) -> usize {
        self.pairs.len()
    }

    fn describe(&self, pair: usize) -> String {
        self.pairs.get(pair).map_or(String::new(), |pair| pair.what.clone())
    }

    fn draw(&mut self, pair: usize, runs: usize) -> Result<[Vec<Output>; 2]> {
        let command = self.command;
        let paths = &self.pairs[pair].paths;
        let [first, second] = &mut self.waiting[pair];
        let fill = |waiting: &mut VecDeque<Output>, path: &Path| -> Result<Vec<Output>> {
            while waiting.len() < runs {
                waiting.extend(lines(command, path, runs - waiting.len())?);
            }
            Ok(waiting.drain(..runs).collect())
        };
        std::thread::scope(|scope| {
            let other = scope.spawn(|| fill(second, &paths[1]));
            let left = fill(first, &paths[0])?;
            let right = other.join().unwrap_or(Err(Error::Panicked))?;
            Ok([left, right])
        })
    }
}

/// What one process prints, a run a line.
fn lines(command: &[OsString], path: &Path, wanted: usize) -> Result<Vec<Output>> {
    let mut takes_path = false;
    let mut words = command.iter().map(|word| {
        let Some(text) = word.to_str() else { return word.clone() };
        takes_path |= text.contains("{}");
        let path = path.to_string_lossy();
        text.replace("{}", &path).replace("{n}", &wanted.to_string()).into()
    });
    let mut process = Command::new(words.next().unwrap_or_default());
    process.args(words.collect::<Vec<OsString>>());
    let failed = |source| Error::Io { doing: "running the command".to_owned(), source };
    let input = if takes_path { Stdio::null() } else { File::open(path).map_err(failed)?.into() };
    let output = process.stdin(input).stderr(Stdio::piped()).output().map_err(failed)?;
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr);
        let last = said.lines().last().unwrap_or_default();
        return Err(Error::ProgramFailed { status: output.status, last: last.to_owned() });
    }
    let text = String::from_utf8_lossy(&output.stdout);
    let runs: Vec<Output> =
        text.lines().filter(|line| !line.trim().is_empty()).map(numbers).collect();
    if runs.is_empty() {
        return Err(Error::ProgramSilent);
    }
    Ok(runs)
}

/// The numbers of a line; what is no number is a word, and `nan` is missing.
fn numbers(line: &str) -> Output {
    let cells = line.split([' ', ',', ';', '\t']).filter(|cell| !cell.is_empty());
    cells.map(|cell| cell.parse().unwrap_or_else(|_| word(cell))).collect()
}

#[cfg(test)]
mod tests;
