//! `demure audit command`: any program that reads a dataset and prints numbers.

use super::neighbour::{files, read};
use super::options::{Effort, Usual, claim};
use super::render::{Audit, tell};
use crate::Failure;
use crate::input::{Relation, number};
use demure_attack::audit::{Output, Source, word};
use std::collections::VecDeque;
use std::ffi::OsString;
use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Any program that reads a dataset and prints numbers: other people's software too
///
/// The program is run again and again on two neighbouring datasets. `{}` in its arguments stands for the dataset's path; without
/// it the dataset comes on standard input. Every line that it prints is one run: numbers, or words, separated by
/// spaces, commas or semicolons. Starting a program takes long, so one that prints many lines, each of an independent run of its mechanism,
/// is audited much faster; `{n}` stands for how many lines are wanted.
///
/// The lines must be independent: a program that draws its noise once and prints it twice is convicted of
/// what it printed, not of what one line gives away.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  demure audit command --left a.csv --right b.csv --epsilon 1 -- python3 count.py {} {n}
  demure audit command --data people.csv --epsilon 1 --minutes 5 -- ./noisy-mean --file {}
  demure audit command --data people.csv --unit id --epsilon 1 -- sh -c 'wc -l'

Exit code: 0 not refuted, 1 violated, 2 a mistake or a failure.")]
pub(super) struct Args {
    /// The dataset on one side; --right has the neighbour
    #[arg(long, value_name = "FILE", requires = "right")]
    left: Option<PathBuf>,

    /// The dataset on the other side
    #[arg(long, value_name = "FILE", requires = "left")]
    right: Option<PathBuf>,

    /// A CSV file of which neighbours are made, instead of --left and --right
    #[arg(long, value_name = "FILE", conflicts_with_all = ["left", "right"])]
    data: Option<PathBuf>,

    /// The column of --data that says whose row a row is; without it every row is someone else's
    #[arg(long, value_name = "COLUMN", requires = "data")]
    unit: Option<String>,

    /// What neighbours of --data differ in
    #[arg(long, value_enum, default_value = "add-remove")]
    neighbours: Relation,

    /// Pairs of neighbours made of --data, at most
    #[arg(long, value_name = "N", default_value_t = 4)]
    pairs: usize,

    /// The ε that the program claims; without it the audit measures only
    #[arg(long, value_name = "E", value_parser = number, allow_hyphen_values = true)]
    epsilon: Option<f64>,

    /// The δ at which it is claimed
    #[arg(long, value_name = "D", value_parser = number, allow_hyphen_values = true, default_value_t = 0.0)]
    delta: f64,

    #[command(flatten)]
    effort: Effort,

    /// The program and its arguments, after `--`
    #[arg(value_name = "COMMAND", required = true, last = true)]
    command: Vec<OsString>,
}

pub(super) fn run(args: &Args, out: &mut impl Write) -> Result<(), Failure> {
    args.effort.check()?;
    let claim = claim(args.epsilon, args.delta)?;
    let folder = tempfile::tempdir().map_err(|source| Failure::File {
        what: "making a folder for neighbours".into(),
        source,
    })?;
    let made = || {
        let Some(data) = &args.data else {
            return Err(Failure::usage(
                "there is nothing to run it on\nhint: give --left and --right, or --data to make neighbours of",
            ));
        };
        let table = read(data, usize::MAX)?;
        Ok(table.neighbours(args.unit.as_deref(), args.neighbours.into(), args.pairs)?)
    };
    let pairs = files((args.left.as_ref(), args.right.as_ref()), made, folder.path())?;
    let waiting = pairs.iter().map(|_| [VecDeque::new(), VecDeque::new()]).collect();
    let mut program = Program { command: &args.command, pairs, waiting };
    let found = args.effort.audit(&mut program, claim, Usual::Minutes(1.0), 1)?;
    let name = args.command.first().map(|name| name.to_string_lossy().into_owned());
    let about =
        args.command.iter().map(|word| word.to_string_lossy()).collect::<Vec<_>>().join(" ");
    let audit = Audit { name: name.unwrap_or_default(), about, found };
    tell(&[audit], &args.effort, out)
}

/// A program and the datasets to run it on; lines that were printed and not yet asked for wait.
struct Program<'a> {
    command: &'a [OsString],
    pairs: Vec<(String, [PathBuf; 2])>,
    waiting: Vec<[VecDeque<Output>; 2]>,
}

impl Source for Program<'_> {
    type Error = Failure;

    fn pairs(&self) -> usize {
        self.pairs.len()
    }

    fn describe(&self, pair: usize) -> String {
        self.pairs.get(pair).map_or(String::new(), |pair| pair.0.clone())
    }

    fn draw(&mut self, pair: usize, runs: usize) -> Result<[Vec<Output>; 2], Failure> {
        let command = self.command;
        let (_, paths) = &self.pairs[pair];
        let [first, second] = &mut self.waiting[pair];
        let fill = |waiting: &mut VecDeque<Output>, path: &Path| -> Result<Vec<Output>, Failure> {
            while waiting.len() < runs {
                waiting.extend(lines(command, path, runs - waiting.len())?);
            }
            Ok(waiting.drain(..runs).collect())
        };
        std::thread::scope(|scope| {
            let other = scope.spawn(|| fill(second, &paths[1]));
            let left = fill(first, &paths[0])?;
            let right = other
                .join()
                .unwrap_or_else(|_| Err(Failure::usage("the command could not be run")))?;
            Ok([left, right])
        })
    }
}

/// What one process prints, a run a line.
fn lines(command: &[OsString], path: &Path, wanted: usize) -> Result<Vec<Output>, Failure> {
    let mut takes_path = false;
    let mut words = command.iter().map(|word| {
        let Some(text) = word.to_str() else { return word.clone() };
        takes_path |= text.contains("{}");
        let path = path.to_string_lossy();
        text.replace("{}", &path).replace("{n}", &wanted.to_string()).into()
    });
    let mut process = Command::new(words.next().unwrap_or_default());
    process.args(words.collect::<Vec<OsString>>());
    let failed = |source| Failure::File { what: "running the command".into(), source };
    let input = if takes_path { Stdio::null() } else { File::open(path).map_err(failed)?.into() };
    let output = process.stdin(input).stderr(Stdio::piped()).output().map_err(failed)?;
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr);
        let last = said.lines().last().unwrap_or_default();
        return Err(Failure::usage(format!(
            "the command failed ({}): {last}\nhint: run it by hand on one of the datasets",
            output.status
        )));
    }
    let text = String::from_utf8_lossy(&output.stdout);
    let runs: Vec<Output> =
        text.lines().filter(|line| !line.trim().is_empty()).map(numbers).collect();
    if runs.is_empty() {
        return Err(Failure::usage(
            "the command printed nothing\nhint: every line of its standard output is one run",
        ));
    }
    Ok(runs)
}

/// The numbers of a line; what is no number is a word, and `nan` is missing.
fn numbers(line: &str) -> Output {
    let cells = line.split([' ', ',', ';', '\t']).filter(|cell| !cell.is_empty());
    cells.map(|cell| cell.parse().unwrap_or_else(|_| word(cell))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_runs_and_words_are_numbers_that_stand_for_them() {
        assert_eq!(numbers("1.5, -2;3e4\t7"), [1.5, -2.0, 3e4, 7.0]);
        assert_eq!(numbers("yes 1"), [word("yes"), 1.0]);
        assert!(numbers("nan")[0].is_nan());
        // All bits of a float survive.
        assert_eq!(numbers("0.1000000000000000055511151231257827")[0].to_bits(), 0.1f64.to_bits());
    }
}
