//! What users type: the table, the promise, and how to get there.

use crate::Failure;
use crate::input::{Words, choice, number, positive};
use demure_anonymize::exact::Fraction;
use demure_anonymize::job::{self, DistanceKind, Diversity, METRICS, Method, SUPPRESS, Subset};
use demure_anonymize::search::{Metric, Suppression};
use demure_anonymize::show::Limit;
use demure_files::delimiter;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// The table and the part its columns play.
#[derive(clap::Args)]
pub(super) struct Source {
    /// A CSV file with a header, or a Parquet file; `-` is standard input
    #[arg(value_name = "FILE")]
    pub(super) file: Option<PathBuf>,

    /// The quasi-identifiers: columns that an observer may know of a person
    #[arg(long, value_name = "COLUMNS", help_heading = "The table")]
    qi: Option<Words>,

    /// The sensitive columns: what an observer must not learn
    #[arg(long, value_name = "COLUMNS", help_heading = "The table")]
    sensitive: Option<Words>,

    /// What separates the columns of CSV (`tab` for a tabulator)
    #[arg(long, value_name = "CHARACTER", default_value = ",", value_parser = delimiter)]
    #[arg(help_heading = "The table")]
    pub(super) delimiter: u8,

    /// How a column becomes coarser: column=FILE (one line a value, from fine to coarse, as in ARX;
    /// or a tree in a .toml file), column=mask, column=prefix:3,2, column=intervals:5,10,20,
    /// column=dates; without one, a value stays or becomes `*`
    #[arg(long, value_name = "COLUMN=HOW", help_heading = "The table")]
    hierarchy: Vec<String>,

    /// The order of a sensitive column's values, for the ordered distance: column=a,b,c, or
    /// column=number, column=text, column=appearance; without one, numbers by size, texts by alphabet
    #[arg(long, value_name = "COLUMN=ORDER", help_heading = "The table")]
    order: Vec<String>,

    /// The people the table is a sample of, as a table with the same quasi-identifiers: for --k-map,
    /// and for the risk of someone who does not know who is in the sample
    #[arg(long, value_name = "FILE", help_heading = "The table")]
    pub(super) population: Option<PathBuf>,

    /// Take options from a TOML file, whose keys are their names; what is typed here wins
    #[arg(long, value_name = "FILE")]
    pub(super) config: Option<PathBuf>,
}

impl Source {
    /// The table's file.
    pub(super) fn table(&self) -> Result<&Path, Failure> {
        self.file.as_deref().ok_or_else(|| {
            Failure::usage(
                "no table: give a CSV or Parquet file, or `input = \"…\"` in the job file",
            )
        })
    }

    /// How the anonymizer takes it.
    pub(super) fn described(&self) -> job::Source {
        job::Source {
            quasi: names(&self.qi),
            sensitive: names(&self.sensitive),
            delimiter: self.delimiter,
            hierarchies: self.hierarchy.clone(),
            orders: self.order.clone(),
            population: self.population.clone(),
        }
    }
}

/// The words of a list, if it was given.
pub(super) fn names(words: &Option<Words>) -> Vec<String> {
    words.as_ref().map_or(Vec::new(), |words| words.0.clone())
}

/// What every class of the release must satisfy.
#[derive(clap::Args)]
#[command(next_help_heading = "The promise")]
pub(super) struct Promise {
    /// k-anonymity: every class has at least so many rows
    #[arg(long, value_parser = positive)]
    k: Option<u32>,

    /// k-map: every class looks like at least so many rows of the --population
    #[arg(long, value_name = "K", value_parser = positive)]
    k_map: Option<u32>,

    /// l-diversity: every class has at least so many values of each sensitive column
    #[arg(long, value_name = "L", allow_hyphen_values = true)]
    l: Option<String>,

    /// How values are counted for l-diversity
    #[arg(long, value_parser = choice(Diversity::ALL), default_value = "distinct")]
    diversity: Diversity,

    /// The c of recursive (c,l)-diversity
    #[arg(long, value_parser = fraction, allow_hyphen_values = true)]
    c: Option<Fraction>,

    /// t-closeness: no class's distribution is farther from the table's, e.g. 0.6 or 5/9
    #[arg(long, value_parser = fraction, allow_hyphen_values = true)]
    t: Option<Fraction>,

    /// How far two distributions are apart, for t-closeness
    #[arg(long, value_parser = choice(DistanceKind::ALL), default_value = "variational")]
    distance: DistanceKind,

    /// (n,t)-closeness: each class is t-close to some set of at least n rows (promises little; see
    /// the warning it prints)
    #[arg(long, value_parser = positive, requires = "t")]
    n: Option<u32>,

    /// Which sets of n rows count for (n,t)-closeness
    #[arg(long, value_parser = choice(Subset::ALL), default_value = "natural", requires = "n")]
    subset: Subset,

    /// δ-disclosure: |ln(share in the class / share in the table)| is below this for every value
    #[arg(long, value_name = "DELTA", value_parser = fraction, allow_hyphen_values = true)]
    disclosure: Option<Fraction>,

    /// β-likeness: no value's share grows by more than this factor, relative to the table's
    #[arg(long, value_name = "BETA", value_parser = fraction, allow_hyphen_values = true)]
    likeness: Option<Fraction>,

    /// Enhanced β-likeness: frequent values grow even less, by −ln of their share at most
    #[arg(long, requires = "likeness")]
    enhanced: bool,
}

impl Promise {
    /// How the anonymizer takes it.
    pub(super) fn described(&self) -> job::Promise {
        job::Promise {
            k: self.k,
            k_map: self.k_map,
            l: self.l.clone(),
            diversity: self.diversity,
            c: self.c,
            t: self.t,
            distance: self.distance,
            n: self.n,
            subset: self.subset,
            disclosure: self.disclosure,
            likeness: self.likeness,
            enhanced: self.enhanced,
        }
    }
}

/// How to look for a release, and how to judge one.
#[derive(clap::Args)]
#[command(next_help_heading = "The search")]
pub(super) struct Search {
    /// How many rows may be suppressed, which are published with `*` in every quasi-identifier: a
    /// share (4%, 0.04) or a number (25) [default: 5% with --method optimal, else 0]. Mondrian and
    /// local recoding suppress where a part could not be cut otherwise
    #[arg(long, value_name = "ROWS", value_parser = suppression)]
    suppress: Option<Suppression>,

    /// What the release should lose least of
    #[arg(long, value_parser = choice(METRICS), default_value = "loss")]
    metric: Metric,

    /// One level a column (optimal, proven so), a box a class, or levels that differ by place
    #[arg(long, value_parser = choice(Method::ALL), default_value = "optimal")]
    method: Method,

    /// Stop after so many seconds with the best found
    #[arg(long, value_name = "SECONDS", value_parser = seconds)]
    time: Option<Duration>,

    /// Look for so many seconds what other choices of k and --suppress would give; 0 for not at
    /// all [default: three times as long as the search took, but 3 to 30 seconds, and at most --time]
    #[arg(long, value_name = "SECONDS", value_parser = seconds_or_none)]
    alternatives: Option<Duration>,

    /// How many threads to use; all there are by default
    #[arg(long, value_parser = positive)]
    threads: Option<u32>,
}

impl Search {
    /// How many rows of a table may be suppressed. Outliers make every row coarser where a column
    /// has one level; the other methods keep nearly as much without suppression.
    pub(super) fn limit(&self, table: usize) -> Limit {
        let default = match self.method {
            Method::Optimal => SUPPRESS,
            Method::Mondrian | Method::Local => Suppression::Count(0),
        };
        let asked = self.suppress.unwrap_or(default);
        Limit { asked, default: self.suppress.is_none(), rows: asked.rows(table as u64) }
    }

    /// How long alternatives are looked for, after a search that took so long.
    pub(super) fn time_for_alternatives(&self, took: Duration) -> Duration {
        time_for_alternatives(self.alternatives, self.time, took)
    }

    /// How the anonymizer takes it.
    pub(super) fn described(&self) -> job::Search {
        job::Search {
            suppress: self.limit(0).asked,
            metric: self.metric,
            method: self.method,
            time: self.time,
            threads: self.threads.map_or(0, |threads| threads as usize),
        }
    }
}

/// As much as is asked for; else each of three gets the time that the search took.
pub(super) fn time_for_alternatives(
    asked: Option<Duration>,
    limit: Option<Duration>,
    took: Duration,
) -> Duration {
    let some = (3 * took).clamp(Duration::from_secs(3), Duration::from_secs(30));
    asked.unwrap_or(limit.map_or(some, |limit| some.min(limit)))
}

/// `4%`, `0.04`, or a number of rows.
pub(super) fn suppression(text: &str) -> Result<Suppression, &'static str> {
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

/// So many sample rows.
pub(super) fn samples(text: &str) -> Result<usize, &'static str> {
    let number = text.trim().parse().ok().filter(|rows| *rows <= 100);
    number.ok_or("must be a whole number from 0 to 100")
}

pub(super) fn seconds(text: &str) -> Result<Duration, &'static str> {
    match number(text) {
        Ok(x) if x > 0.0 && x <= 1e9 => Ok(Duration::from_secs_f64(x)),
        _ => Err("must be a number of seconds greater than 0"),
    }
}

pub(super) fn seconds_or_none(text: &str) -> Result<Duration, &'static str> {
    match number(text) {
        Ok(0.0) => Ok(Duration::ZERO),
        _ => seconds(text).map_err(|_| "must be a number of seconds, or 0"),
    }
}

/// A number as it is written: 0.2 is one fifth.
fn fraction(text: &str) -> Result<Fraction, &'static str> {
    Fraction::parse(text).map_err(|_| "must be a number of at least 0, e.g. 0.2, 1/5 or 20%")
}
