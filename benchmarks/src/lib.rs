//! The clocks of the benchmarks. The rules are in `benchmarks/README.md`.
//!
//! # What this crate does not do
//! It keeps no records and compares no two runs: only rates of one run are comparable.

#![forbid(unsafe_code)]

use std::error::Error;
use std::fmt::Display;
use std::path::PathBuf;
use std::process::{Command, ExitCode};
use std::time::{Duration, Instant};

/// Something to be timed: it makes `batch` samples a call.
pub struct Contestant<'a> {
    /// What the report calls it.
    pub name: &'static str,
    /// The number of samples a call makes.
    pub batch: usize,
    /// Makes them. Results must go through [`std::hint::black_box`].
    pub run: Box<dyn FnMut() + 'a>,
}

/// The samples per second of each contestant, in the order given: the median over `rounds`
/// rounds of at least `least` each. A round runs every contestant in turn, so that what else the
/// machine does meanwhile falls on all alike.
pub fn rates(contestants: &mut [Contestant<'_>], rounds: usize, least: Duration) -> Vec<f64> {
    let mut seen = vec![Vec::with_capacity(rounds); contestants.len()];
    for contestant in contestants.iter_mut() {
        (contestant.run)(); // warm caches and branch predictors
    }
    for _ in 0..rounds {
        for (contestant, seen) in contestants.iter_mut().zip(&mut seen) {
            let begun = Instant::now();
            let mut samples = 0;
            loop {
                (contestant.run)();
                samples += contestant.batch;
                if begun.elapsed() >= least {
                    break;
                }
            }
            seen.push(samples as f64 / begun.elapsed().as_secs_f64());
        }
    }
    seen.into_iter().map(median).collect()
}

/// The middle value; of an even number, the upper of the two. 0 if there is none.
fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or(0.0)
}

/// The CPU seconds of all children that have ended, where the system tells.
#[must_use]
pub fn children() -> Option<f64> {
    let text = std::fs::read_to_string("/proc/self/stat").ok()?;
    // The program's name, in parentheses, may hold spaces; then come fields 3, 4, …
    let fields: Vec<&str> = text.rsplit_once(')')?.1.split_whitespace().collect();
    let ticks = |i: usize| fields.get(i - 3)?.parse::<f64>().ok();
    Some((ticks(16)? + ticks(17)?) / 100.0)
}

/// What a benchmark ends with: 0 if every claim was met, 1 if one was not, 2 if it could not be measured.
pub fn exit<E: Display>(met: Result<bool, E>) -> ExitCode {
    match met {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::from(2)
        }
    }
}

/// Builds `demure` in release, if it is not built, and finds it beside the benchmark.
///
/// # Errors
/// It does not build.
pub fn demure() -> Result<PathBuf, Box<dyn Error>> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let built = Command::new(cargo).args(["build", "--release", "--workspace"]).status()?;
    if !built.success() {
        return Err("the workspace does not build".into());
    }
    let name = format!("demure{}", std::env::consts::EXE_SUFFIX);
    Ok(std::env::current_exe()?.with_file_name(name))
}

#[cfg(test)]
mod tests;
