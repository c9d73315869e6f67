//! `demure synthesize …`, `demure sample …`: rows that look like a protected table's.
//!
//! | file | what |
//! |---|---|
//! | `mod.rs` | `demure synthesize`: a synthetic table under a policy, for one debit |
//! | `sample.rs` | `demure sample`: more rows of a saved model, free |
//! | `output.rs` | rows as CSV or Parquet, by the name of the file |
//! | `watch.rs` | progress, and Ctrl-C |

mod output;
pub(crate) mod sample;
mod watch;

use crate::Failure;
use crate::curator::options::ExpectHead;
use crate::curator::{Conversation, user};
use crate::input::positive;
use demure_curator::is_needed;
use demure_files as files;
use demure_report::progress::Spinner;
use demure_report::{Report, grouped, percent};
use demure_synth::Error;
use demure_synth::curated::{Offer, Options, Synthetic};
use output::Format;
use std::io::Write;
use std::num::NonZeroU32;
use std::path::{Path, PathBuf};
use watch::Watch;

/// Make a synthetic table: rows that look like a protected table's, and none is anyone's
///
/// One debit pays for the rows, the saved model and the report together; it is made before any row is read, and
/// stays whatever happens afterwards. All columns need public values: the policy's `bounds` or `values`. People's
/// ids are left out.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  demure synthesize clinic/clinic.toml patients --explain
  demure synthesize clinic/clinic.toml patients -o rows.csv --epsilon 0.4 --save rows.demure
  demure synthesize clinic/clinic.toml 'SELECT disease, cost, nights FROM visits' -o v.parquet \\
      --epsilon 0.3 --rows-per-person 3 --report visits.html

The clinic is made by: demure demo --keep clinic
Exit code: 0 made, 1 refused and nothing spent, 2 a mistake or a failure.")]
pub(crate) struct Args {
    /// The policy: a TOML file that says what may be asked
    #[arg(value_name = "POLICY")]
    policy: PathBuf,

    /// A protected table, or a SELECT of its rows
    #[arg(value_name = "TABLE or SELECT")]
    rows_of: String,

    /// Write the rows here: as Parquet if it is called so, else as CSV
    #[arg(short, long, value_name = "FILE", required_unless_present = "explain")]
    output: Option<PathBuf>,

    /// The privacy loss to pay; by default the policy's per_query
    #[arg(long, value_name = "E", allow_hyphen_values = true)]
    epsilon: Option<String>,

    /// The probability with which ε may fail; by default a twentieth of the policy's
    #[arg(long, value_name = "D", allow_hyphen_values = true)]
    delta: Option<String>,

    /// How many rows to make; by default about as many as there are
    #[arg(long, value_name = "N", value_parser = positive)]
    rows: Option<u32>,

    /// How many rows of one person count; by default what the policy says
    #[arg(long, value_name = "N", value_parser = positive)]
    rows_per_person: Option<u32>,

    /// A column that is to be predicted from the others: pairs with it matter more
    #[arg(long, value_name = "COLUMN")]
    target: Option<String>,

    /// What no row can be, as SQL writes it: 'age < 15 AND smoker'; may be given several times, and is free
    #[arg(long, value_name = "CONDITION")]
    forbid: Vec<String>,

    /// Save the model here, for `demure sample`
    #[arg(long, value_name = "FILE")]
    save: Option<PathBuf>,

    /// Write a report here, as a page that needs nothing else
    #[arg(long, value_name = "FILE")]
    report: Option<PathBuf>,

    /// Say what it would cost, how wrong it would be and what an attacker could learn; read and spend nothing
    #[arg(long)]
    explain: bool,

    /// Print one JSON object
    #[arg(long)]
    json: bool,

    /// Who asks, as the ledger notes it; by default the user's name
    #[arg(long = "as", value_name = "NAME")]
    who: Option<String>,

    #[command(flatten)]
    head: ExpectHead,
}

pub(crate) fn run(args: &Args, out: &mut impl Write) -> Result<(), Failure> {
    let format = args.output.as_deref().map(Format::of).transpose()?;
    let who = args.who.clone().unwrap_or_else(user);
    let mut conversation = Conversation::open(&args.policy, &who, &args.head)?;
    conversation.set("epsilon", args.epsilon.as_deref())?;
    conversation.set("delta", args.delta.as_deref())?;
    let question = {
        let _spinner = Spinner::new("planning");
        let rows = args.rows_per_person.and_then(NonZeroU32::new);
        conversation.block_on(conversation.session.table(&args.rows_of, rows))?
    };
    let options = Options {
        rows: args.rows.map(|rows| rows as usize),
        target: args.target.clone(),
        forbid: args.forbid.clone(),
        threads: output::threads(),
        ..Options::default()
    };
    let ids = question.ids().join(", ");
    let select = question.sql().to_owned();
    let offer = Offer::new(question, &options)?;
    if args.explain {
        return Ok(offer.explained()?.print(args.json, out)?);
    }
    let (Some(path), Some(format)) = (&args.output, format) else {
        return Err(Failure::usage("--output says where the rows go"));
    };
    // Before the debit: what cannot be written must not be paid for.
    let files: Vec<&PathBuf> =
        [Some(path), args.save.as_ref(), args.report.as_ref()].into_iter().flatten().collect();
    for (i, file) in files.iter().enumerate() {
        if is_needed(file, &args.policy, conversation.curator().policy()) {
            return Err(Failure::usage(format!(
                "{} belongs to the policy or its data, which would be lost\nhint: give it another name",
                file.display()
            )));
        }
        if files[..i].contains(file) {
            return Err(Failure::usage(
                "two outputs have the same name\nhint: give each another name",
            ));
        }
        output::check_writable(file)?;
    }
    let watch = Watch::new();
    let paid = conversation.block_on(offer.bought())?;
    let cost = paid.cost.clone();
    let made = conversation.block_on(paid.made(watch)).map_err(Failure::from);
    let made = made.and_then(|made| {
        written(args, &made, (path.as_path(), format), (&select, &cost))?;
        Ok(made)
    });
    let made = made.inspect_err(|_| eprintln!("{cost} was spent all the same"))?;
    if !ids.is_empty() && !args.json {
        note!("note: {ids} is left out: it says whose row it is");
    }
    said(&made, &cost).print(args.json, out).map_err(Failure::from)
}

/// Writes the model, the rows and the report, the dearest first.
fn written(
    args: &Args,
    made: &Synthetic,
    (path, format): (&Path, Format),
    (select, cost): (&str, &str),
) -> Result<(), Failure> {
    if let Some(save) = &args.save {
        files::write_text(save, &made.saved.to_text())?;
    }
    files::write(path, |to| format.write(&made.rows, to))?;
    if let Some(report) = &args.report {
        files::write_text(report, &made.page(select, cost)?)?;
    }
    Ok(())
}

/// What was made.
fn said(made: &Synthetic, cost: &str) -> Report {
    let rows = made.rows.num_rows();
    let report = Report::default()
        .described("rows", rows, grouped(rows as f64))
        .field("columns", made.rows.num_columns())
        .field("cost", cost);
    let Some(quality) = &made.report else { return report };
    let (mean, deviation) = quality.mean();
    let words = format!(
        "{} ± {} of the rows of a cross table of two columns, on average",
        percent(mean.max(0.0)),
        percent(1.96 * deviation)
    );
    report.described("error", mean, words).hidden("error_95", 1.96 * deviation)
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        match error {
            Error::Curator(error) => Self::Curator(error),
            Error::Core(error) => Self::Core(error),
            refused @ (Error::NoDomain { .. } | Error::NoDelta) => {
                Self::Unsatisfied(format!("refused: {refused}"))
            }
            other => Self::Usage(other.to_string()),
        }
    }
}
