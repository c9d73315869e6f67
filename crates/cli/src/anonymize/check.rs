//! `demure anonymize check …`: whether a published table keeps a promise.

use super::config;
use super::options::{Promise, Source};
use crate::Failure;
use demure_anonymize::{job, show};
use demure_report::{Report, grouped};
use std::io::Write;
use std::path::PathBuf;

/// Keys of a job file that are about making a release.
const MAKING: [&str; 13] = [
    "input",
    "output",
    "report",
    "report-originals",
    "samples",
    "suppress",
    "metric",
    "method",
    "time",
    "alternatives",
    "threads",
    "explain",
    "keep",
];

/// Whether a published table keeps a promise; needs nothing but the table.
///
/// Rows with equal quasi-identifiers are a class; rows with `*` in all of them count as
/// suppressed, and in the table's distribution. Exit code 0: it holds; 1: it does not.
#[derive(clap::Args)]
#[command(args_override_self = true)]
#[command(after_help = "\
Examples:
  demure anonymize check people.csv --qi city --k 1
  demure anonymize check people.csv --qi city --sensitive state --k 1 --t 1 --json")]
pub(super) struct Args {
    #[command(flatten)]
    source: Source,

    #[command(flatten)]
    promise: Promise,

    /// The table it was made from: distances are then from this one's distribution
    #[arg(long, value_name = "FILE", help_heading = "The table")]
    original: Option<PathBuf>,

    /// The --json of the release: for --n, the sets M that it names are verified, and no others
    /// are looked for. Classes of coarser releases take --original and --hierarchy too
    #[arg(long, value_name = "FILE", help_heading = "The promise")]
    witness: Option<PathBuf>,

    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

pub(super) fn run(args: Args, out: &mut impl Write) -> Result<(), Failure> {
    let args = config::merged(args, |args| &args.source, 3, |key| MAKING.contains(&key))?;
    let (source, promise) = (args.source.described(), args.promise.described());
    let (original, witness) = (args.original.as_deref(), args.witness.as_deref());
    let found = job::check(&source, &promise, args.source.table()?, original, witness)?;
    let report = Report::default()
        .described("holds", found.holds, if found.holds { "yes" } else { "NO" })
        .field("rows", found.rows)
        .described("suppressed", found.suppressed, grouped(found.suppressed as f64))
        .described("classes", found.classes, grouped(found.classes as f64));
    show::models(report, &found.verdicts).print(args.json, out)?;
    super::warn(&found.verdicts);
    if found.classes == 0 {
        eprintln!(
            "warning: every row is suppressed: no row is left of which the promise says anything"
        );
    }
    match found.holds {
        true => Ok(()),
        false => Err(Failure::Unsatisfied("the table does not keep the promise".to_owned())),
    }
}
