//! Private bounds: for each numeric column a noised histogram over signed powers of two.
//!
//! # Guarantee
//! ε-DP for units, for all columns together: the questions go through a curator whose whole
//! budget is ε, each unit counts with one row in one group of each.
//! # What it finds
//! The least range of bins whose noised count is above a threshold T that all empty bins of all
//! columns stay below with a probability of at least 99 %: with Laplace noise of scale b on N
//! bins, `N·P[Z > T] ≤ N·e^(−T/b)/2 = 1 %` for `T = b·ln(N/0.02)`. A bin that few people are
//! in may be missed: tails are cut.

use super::ProposeError;
use crate::answer::Answer;
use crate::curator::Curator;
use crate::policy::{ColumnKind, CsvDialect, FoundBounds, Policy, quoted};
use crate::session::Outcome;
use datafusion::arrow::array::AsArray;
use datafusion::arrow::datatypes::Int64Type;
use demure_core::unit::Epsilon;
use std::fmt::Write as _;
use std::path::Path;

/// Below 2^LEAST a number counts as 0.
const LEAST: i32 = -20;
/// Beyond 2^MOST there is no bin.
const MOST: i32 = 62;
/// Bins: so many negative, so many positive, and 0.
const BINS: i64 = 2 * (MOST - LEAST) as i64 + 1;
/// What is in no bin: beyond the last of them. (All whole numbers up to it may be group keys.)
const NOWHERE: i64 = BINS / 2 + 1;
/// The probability that any empty bin passes.
const FALSE: f64 = 0.01;

/// What is looked for, and for how much.
pub(super) struct Search<'a> {
    pub(super) data: &'a Path,
    /// How it is written, if it is CSV.
    pub(super) csv: Option<CsvDialect>,
    pub(super) unit: &'a str,
    pub(super) columns: &'a [(String, ColumnKind)],
    pub(super) epsilon: Epsilon,
}

impl Search<'_> {
    /// Asks for one histogram a column.
    pub(super) async fn run(&self) -> Result<Vec<FoundBounds>, ProposeError> {
        let policy = Policy::parse(&self.policy()?, Path::new("")).map_err(crate::Error::from)?;
        let curator = Curator::in_memory(policy).await?;
        let mut session = curator.session("init");
        let mut found = Vec::new();
        for (name, _) in self.columns {
            let Outcome::Answer(answer) = session.run(&histogram(name)).await? else {
                return Err(ProposeError::Options("the histogram was not answered".into()));
            };
            let total = answer.rows() as f64 * self.columns.len() as f64;
            let scale = answer.columns.iter().map(|column| column.scale).fold(0.0, f64::max);
            let threshold = scale * (total / (2.0 * FALSE)).ln();
            found.push(FoundBounds { name: name.clone(), bounds: range(&answer, threshold) });
        }
        Ok(found)
    }

    /// A policy for this search alone.
    fn policy(&self) -> Result<String, ProposeError> {
        let source = std::path::absolute(self.data).map_err(ProposeError::io("the table"))?;
        let whole = self.epsilon.get();
        // Rounded down, so that all of them together stay within the whole.
        let each = (whole / self.columns.len() as f64).next_down().next_down();
        let mut policy = format!(
            "[budget]\nepsilon = {whole:?}\nper_query = {each:?}\n[tables.data]\nsource = {}\n\
             unit = {}\n",
            quoted(&source.display().to_string()),
            quoted(self.unit)
        );
        if let Some(csv) = self.csv {
            let delimiter = match csv.delimiter {
                b'\t' => "tab".to_owned(),
                other => char::from(other).to_string(),
            };
            let decimal = if csv.decimal_comma { "," } else { "." };
            // Writing to a String does not fail.
            let _ = writeln!(
                policy,
                "delimiter = {}\ndecimal = {}",
                quoted(&delimiter),
                quoted(decimal)
            );
        }
        policy.push_str("[tables.data.columns]\n");
        for (name, kind) in self.columns {
            let kind = if *kind == ColumnKind::Integer { "integer" } else { "real" };
            // Writing to a String does not fail.
            let _ = writeln!(policy, "{} = {{ type = \"{kind}\" }}", quoted(name));
        }
        Ok(policy)
    }
}

/// Bin 0 is around 0; bin k > 0 is (2^(LEAST+k−1), 2^(LEAST+k)]; bin −k mirrors it.
fn histogram(column: &str) -> String {
    let name = format!("\"{}\"", column.replace('"', "\"\""));
    let number = format!("CAST({name} AS DOUBLE PRECISION)");
    let edge = |k: i64| format!("{:e}", 2.0_f64.powi(LEAST + k as i32));
    let half = BINS / 2;
    let mut cases = format!("WHEN {number} < -{} THEN {NOWHERE} ", edge(half));
    for k in (1..=half).rev() {
        let _ = write!(cases, "WHEN {number} < -{} THEN {} ", edge(k - 1), -k);
    }
    for k in 0..=half {
        let _ = write!(cases, "WHEN {number} <= {} THEN {k} ", edge(k));
    }
    format!(
        "SELECT bin, COUNT(*) AS n FROM (SELECT CASE {cases} ELSE {NOWHERE} END AS bin \
         FROM data WHERE {name} IS NOT NULL) GROUP BY bin"
    )
}

/// From the lowest bin above the threshold to the highest.
fn range(answer: &Answer, threshold: f64) -> Option<(f64, f64)> {
    let mut passed = Vec::new();
    for batch in &answer.batches {
        let (bins, counts) = (batch.column(0), batch.column(1));
        let bins = bins.as_primitive_opt::<Int64Type>()?;
        let counts = counts.as_primitive_opt::<Int64Type>()?;
        for (bin, count) in bins.iter().zip(counts.iter()) {
            let above = count.is_some_and(|count| count as f64 > threshold);
            passed.extend(bin.filter(|bin| above && bin.abs() < NOWHERE));
        }
    }
    let (low, high) = (lower(*passed.iter().min()?), upper(*passed.iter().max()?));
    (low < high).then_some((low, high))
}

fn power(k: i64) -> f64 {
    2.0_f64.powi(LEAST + k as i32)
}

fn lower(bin: i64) -> f64 {
    match bin {
        0 => 0.0,
        1.. => power(bin - 1),
        _ => -power(-bin),
    }
}

fn upper(bin: i64) -> f64 {
    match bin {
        0 => 0.0,
        1.. => power(bin),
        _ => -power(-bin - 1),
    }
}

#[cfg(test)]
mod tests;
