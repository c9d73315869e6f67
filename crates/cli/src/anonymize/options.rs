//! What users type: the table, the promise, and how to get there.

use crate::input::{Words, number, positive};
use clap::ValueEnum;
use demure_anonymize::search::{Metric, Suppression};
use demure_files::delimiter;
use std::path::PathBuf;

/// The table and the part its columns play.
#[derive(clap::Args)]
pub(super) struct Source {
    /// A CSV file with a header, or a Parquet file; `-` is standard input
    #[arg(value_name = "FILE")]
    pub(super) file: Option<PathBuf>,

    /// The quasi-identifiers: columns that an observer may know of a person
    #[arg(long, value_name = "COLUMNS", help_heading = "The table")]
    pub(super) qi: Option<Words>,

    /// The sensitive columns: what an observer must not learn
    #[arg(long, value_name = "COLUMNS", help_heading = "The table")]
    pub(super) sensitive: Option<Words>,

    /// What separates the columns of CSV (`tab` for a tabulator)
    #[arg(long, value_name = "CHARACTER", default_value = ",", value_parser = delimiter)]
    #[arg(help_heading = "The table")]
    pub(super) delimiter: u8,

    /// How a column becomes coarser: column=FILE (one line a value, from fine to coarse, as in ARX;
    /// or a tree in a .toml file), column=mask, column=prefix:3,2, column=intervals:5,10,20,
    /// column=dates; without one, a value stays or becomes `*`
    #[arg(long, value_name = "COLUMN=HOW", help_heading = "The table")]
    pub(super) hierarchy: Vec<String>,

    /// The order of a sensitive column's values, for the ordered distance: column=a,b,c, or
    /// column=number, column=text, column=appearance; without one, numbers by size, texts by alphabet
    #[arg(long, value_name = "COLUMN=ORDER", help_heading = "The table")]
    pub(super) order: Vec<String>,

    /// The people the table is a sample of, as a table with the same quasi-identifiers: for --k-map,
    /// and for the risk of someone who does not know who is in the sample
    #[arg(long, value_name = "FILE", help_heading = "The table")]
    pub(super) population: Option<PathBuf>,

    /// Take options from a TOML file, whose keys are their names; what is typed here wins
    #[arg(long, value_name = "FILE")]
    pub(super) config: Option<PathBuf>,
}

/// What every class of the release must satisfy.
#[derive(clap::Args)]
#[command(next_help_heading = "The promise")]
pub(super) struct Promise {
    /// k-anonymity: every class has at least so many rows
    #[arg(long, value_parser = positive)]
    pub(super) k: Option<u32>,

    /// k-map: every class looks like at least so many rows of the --population
    #[arg(long, value_name = "K", value_parser = positive)]
    pub(super) k_map: Option<u32>,

    /// l-diversity: every class has at least so many values of each sensitive column
    #[arg(long, value_name = "L", allow_hyphen_values = true)]
    pub(super) l: Option<String>,

    /// How values are counted for l-diversity
    #[arg(long, value_enum, default_value = "distinct")]
    pub(super) diversity: Diversity,

    /// The c of recursive (c,l)-diversity
    #[arg(long, allow_hyphen_values = true)]
    pub(super) c: Option<String>,

    /// t-closeness: no class's distribution is farther from the table's, e.g. 0.6 or 5/9
    #[arg(long, allow_hyphen_values = true)]
    pub(super) t: Option<String>,

    /// How far two distributions are apart, for t-closeness
    #[arg(long, value_enum, default_value = "variational")]
    pub(super) distance: Distance,

    /// (n,t)-closeness: each class is t-close to some set of at least n rows (promises little; see
    /// the warning it prints)
    #[arg(long, value_parser = positive, requires = "t")]
    pub(super) n: Option<u32>,

    /// Which sets of n rows count for (n,t)-closeness
    #[arg(long, value_enum, default_value = "natural", requires = "n")]
    pub(super) subset: Subset,

    /// δ-disclosure: |ln(share in the class / share in the table)| is below this for every value
    #[arg(long, value_name = "DELTA", allow_hyphen_values = true)]
    pub(super) disclosure: Option<String>,

    /// β-likeness: no value's share grows by more than this factor, relative to the table's
    #[arg(long, value_name = "BETA", allow_hyphen_values = true)]
    pub(super) likeness: Option<String>,

    /// Enhanced β-likeness: frequent values grow even less, by −ln of their share at most
    #[arg(long, requires = "likeness")]
    pub(super) enhanced: bool,
}

/// How to look for a release, and how to judge one.
#[derive(clap::Args)]
#[command(next_help_heading = "The search")]
pub(super) struct Search {
    /// How many rows may be suppressed: a share (4%, 0.04) or a number (25). Mondrian and local
    /// recoding suppress where a part could not be cut otherwise
    #[arg(long, value_name = "ROWS", default_value = "0", value_parser = suppression)]
    pub(super) suppress: Suppression,

    /// What the release should lose least of
    #[arg(long, value_enum, default_value = "loss")]
    pub(super) metric: Measure,

    /// One level a column (optimal, proven so), a box a class, or levels that differ by place
    #[arg(long, value_enum, default_value = "optimal")]
    pub(super) method: Method,

    /// Stop after so many seconds with the best found
    #[arg(long, value_name = "SECONDS", value_parser = seconds)]
    pub(super) time: Option<f64>,

    /// How many threads to use; all there are by default
    #[arg(long, value_parser = positive)]
    pub(super) threads: Option<u32>,
}

/// How values are counted for l-diversity.
#[derive(Clone, Copy, PartialEq, ValueEnum)]
pub(super) enum Diversity {
    /// How many there are
    Distinct,
    /// The exponential of their entropy
    Entropy,
    /// The most frequent is rarer than c times the l-th and all after it
    Recursive,
}

/// How far two distributions are apart.
#[derive(Clone, Copy, PartialEq, ValueEnum)]
pub(super) enum Distance {
    /// Half the sum of the differences
    Variational,
    /// The Euclidean distance
    L2,
    /// The Kullback–Leibler divergence, in bits
    Kl,
    /// The earth mover's, along an order of the values
    Ordered,
    /// The earth mover's, in the column's hierarchy
    Hierarchical,
}

/// Which sets of rows a class may hide in.
#[derive(Clone, Copy, PartialEq, ValueEnum)]
pub(super) enum Subset {
    /// Classes of coarser releases that contain the class
    Natural,
    /// Any rows, chosen anew for every class
    Any,
    /// Any rows, the same for every class
    Shared,
}

/// What the release should lose least of.
#[derive(Clone, Copy, PartialEq, ValueEnum)]
pub(super) enum Measure {
    /// Leaves under each cell, as in ARX
    Loss,
    /// Σ size² + rows × suppressed
    Discernibility,
    /// Rows by classes
    Average,
    /// Levels by heights
    Precision,
}

impl From<Measure> for Metric {
    fn from(measure: Measure) -> Self {
        match measure {
            Measure::Loss => Self::Loss,
            Measure::Discernibility => Self::Discernibility,
            Measure::Average => Self::AverageClassSize,
            Measure::Precision => Self::Precision,
        }
    }
}

/// The kind of release.
#[derive(Clone, Copy, PartialEq, ValueEnum)]
pub(super) enum Method {
    /// One level for each column, the best there is
    Optimal,
    /// Boxes found by halving (Mondrian)
    Mondrian,
    /// Levels chosen class by class
    Local,
}

/// `4%`, `0.04`, or a number of rows.
fn suppression(text: &str) -> Result<Suppression, &'static str> {
    let wrong = "must be a share from 0 to 1 (0.04), a percentage (4%) or a number of rows (25)";
    let share = |text: &str, whole: f64| match number(text) {
        Ok(x) if (0.0..=whole).contains(&x) => Ok(Suppression::Share(x / whole)),
        _ => Err(wrong),
    };
    match text.trim().strip_suffix('%') {
        Some(percent) => share(percent, 100.0),
        None => text.trim().parse().map(Suppression::Count).or_else(|_| share(text, 1.0)),
    }
}

fn seconds(text: &str) -> Result<f64, &'static str> {
    match number(text) {
        Ok(x) if x > 0.0 && x <= 1e9 => Ok(x),
        _ => Err("must be a number of seconds greater than 0"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn suppression_is_a_share_or_a_number() {
        assert_eq!(suppression("4%"), Ok(Suppression::Share(0.04)));
        assert_eq!(suppression("0.04"), Ok(Suppression::Share(0.04)));
        assert_eq!(suppression("100 %"), Ok(Suppression::Share(1.0)));
        assert_eq!(suppression("25"), Ok(Suppression::Count(25)));
        for bad in ["", "-1", "101%", "1.5", "nan", "x", "%"] {
            assert!(suppression(bad).is_err(), "{bad}");
        }
        assert!(seconds("0").is_err() && seconds("1e10").is_err() && seconds("0.5").is_ok());
    }
}
