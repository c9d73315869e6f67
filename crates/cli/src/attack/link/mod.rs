//! `demure attack link`: people whose quasi-identifiers are known, found in an anonymized table.
//!
//! | file | what |
//! |---|---|
//! | `mod.rs` | what users type, and the attack |
//! | `cells.rs` | which labels may stand for a value |
//! | `releases.rs` | the tables, their classes, and who may be in which |
//! | `demo.rs` | made-up patients, and two releases of them |
//! | `render.rs` | who falls, by which class, and why |

mod cells;
mod demo;
mod releases;
mod render;

use super::Seed;
use super::render::Output;
use crate::Failure;
use crate::anonymize::columns::read_table;
use crate::anonymize::hierarchies::Hierarchies;
use crate::input::Words;
use demure_anonymize::table::Table;
use demure_attack::link::Linkage;
use demure_files::delimiter;
use releases::{Release, people, values};
use render::Found;
use std::io::Write;
use std::path::PathBuf;

/// Find people in an anonymized table by what is known of them
///
/// The attacker has the quasi-identifiers of everybody in ORIGINAL and looks for them in PUBLISHED.
/// Somebody falls who fits one row alone; whose rows all have the same sensitive value; whose other
/// values the attacker can rule out (--know); or for whom one value alone is possible in two releases
/// (--second). The report names the class and says why. k-anonymity alone stops the first.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  demure attack link --demo
  demure attack link --demo --know flu --json
  demure attack link people.csv people.csv --qi age,state --sensitive city

A release is made by: demure anonymize people.csv --qi age,state --sensitive city --k 2 --output release.csv")]
pub(super) struct Args {
    /// The table that was anonymized: a CSV file with a header
    #[arg(
        value_name = "ORIGINAL",
        requires = "published",
        requires = "qi",
        requires = "sensitive"
    )]
    original: Option<PathBuf>,

    /// What was published of it
    #[arg(value_name = "PUBLISHED")]
    published: Option<PathBuf>,

    /// Attack two 4-anonymous releases of made-up patients (what happens without files)
    #[arg(long, conflicts_with = "original")]
    demo: bool,

    /// The columns that the attacker knows of people
    #[arg(long, value_name = "COLUMNS", requires = "original")]
    qi: Option<Words>,

    /// The column that the attacker wants to know
    #[arg(long, value_name = "COLUMN", requires = "original")]
    sensitive: Option<String>,

    /// Another release of the same people
    #[arg(long, value_name = "FILE", requires = "original")]
    second: Option<PathBuf>,

    /// Sensitive values that the attacker can rule out, of everybody for whom that is true
    #[arg(long, value_name = "VALUES")]
    know: Option<Words>,

    /// How a column was made coarser, where its labels do not say it themselves (as they do in `*`,
    /// 32**, 20-29, [20, 30)): column=FILE and so on, as for `demure anonymize`
    #[arg(long, value_name = "COLUMN=HOW")]
    hierarchy: Vec<String>,

    /// What separates the columns (`tab` for a tabulator)
    #[arg(long, value_name = "CHARACTER", default_value = ",", value_parser = delimiter)]
    delimiter: u8,

    #[command(flatten)]
    seed: Seed,

    #[command(flatten)]
    output: Output,
}

/// The tables, and the part their columns play.
struct Tables {
    original: Table,
    published: Table,
    second: Option<Table>,
    quasi: Vec<String>,
    sensitive: String,
}

pub(super) fn run(args: &Args, out: &mut impl Write) -> Result<(), Failure> {
    let (tables, what) = match (&args.original, &args.published, &args.qi, &args.sensitive) {
        (Some(original), Some(published), Some(qi), Some(sensitive)) => {
            let second = args.second.as_ref();
            let named = [qi.0.as_slice(), std::slice::from_ref(sensitive)].concat();
            let tables = Tables {
                original: read_table(original, args.delimiter, &named)?,
                published: read_table(published, args.delimiter, &named)?,
                second: second.map(|path| read_table(path, args.delimiter, &named)).transpose()?,
                quasi: qi.0.clone(),
                sensitive: sensitive.clone(),
            };
            (tables, None)
        }
        _ => {
            let (tables, what) = demo::make(args.seed.of_data())?;
            (tables, Some(what))
        }
    };
    if tables.quasi.contains(&tables.sensitive) {
        return Err(Failure::usage(
            "a column is in both --qi and --sensitive: the attacker knows it, or does not",
        ));
    }
    let found = attack(args, &tables)?;
    found.rendered(what).print(&args.output, out)
}

fn attack(args: &Args, tables: &Tables) -> Result<Found, Failure> {
    let hierarchies = Hierarchies::new(&args.hierarchy, &tables.original)?;
    let values = values(tables)?;
    let first = Release::new(&tables.published, tables, &hierarchies, &values)?;
    let second = tables.second.as_ref();
    let second =
        second.map(|table| Release::new(table, tables, &hierarchies, &values)).transpose()?;
    let ruled_out = match &args.know {
        Some(words) => {
            words.0.iter().map(|word| values.code(word)).collect::<Result<Vec<_>, _>>()?
        }
        None => Vec::new(),
    };
    let people = people(tables, &first, second.as_ref(), &values)?;
    let mut linkage = Linkage::new(first.histograms.clone())?.knowing(ruled_out.clone());
    if let Some(second) = &second {
        linkage = linkage.and(second.histograms.clone())?;
    }
    let summary = linkage.everybody(&people);
    Ok(Found {
        quasi: tables.quasi.clone(),
        sensitive: tables.sensitive.clone(),
        unique_before: releases::unique(&tables.original, &tables.quasi)?,
        values: values.names,
        ruled_out,
        first,
        second,
        people,
        summary,
    })
}
