//! `demure attack link`: people whose quasi-identifiers are known, found in an anonymized table.

use super::options::Common;
use super::render::print;
use crate::Failure;
use crate::input::Words;
use demure_anonymize::job::Hierarchies;
use demure_anonymize::job::read_table;
use demure_attack::findings::linked;
use demure_attack::link::{PATIENTS, Tables, patients};
use demure_files::delimiter;
use demure_report::grouped;
use std::io::Write;
use std::path::PathBuf;

/// Find people in an anonymized table by what is known of them
///
/// The attacker has the quasi-identifiers of everybody in ORIGINAL and looks for them in PUBLISHED. A person falls
/// if one row alone fits, if all rows that fit have the same sensitive value, if the attacker can rule out the other values
/// (--know), or if one value alone is possible in two releases (--second). The report names the class and
/// says why. k-anonymity alone stops the first.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  demure attack link --demo
  demure attack link --demo --know flu --json
  demure attack link people.csv people.csv --qi age,state --sensitive city

A release is made by: demure anonymize people.csv --qi age,state --sensitive city --k 2 --output release.csv")]
pub(super) struct Args {
    /// The table that was anonymized, a CSV file with a header; without it, two releases of made-up patients are attacked
    #[arg(
        value_name = "ORIGINAL",
        requires = "published",
        requires = "qi",
        requires = "sensitive",
        conflicts_with = "demo"
    )]
    original: Option<PathBuf>,

    /// What was published of it
    #[arg(value_name = "PUBLISHED")]
    published: Option<PathBuf>,

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
    common: Common,
}

pub(super) fn run(args: &Args, out: &mut impl Write) -> Result<(), Failure> {
    let own = args.tables()?;
    let made_up = own.is_none();
    let tables = own.map_or_else(|| patients(args.common.seed().of_data()), Ok)?;
    let given = Hierarchies::new(&args.hierarchy, &tables.original)?;
    let hierarchy = |name: &String| {
        let column = tables.original.position(name)?;
        given.given(&tables.original.columns[column])
    };
    let hierarchies = tables.quasi.iter().map(hierarchy).collect::<Result<Vec<_>, _>>()?;
    let know = args.know.as_ref().map_or(&[][..], |words| &words.0);
    let found = tables.link(&hierarchies, know)?;
    let lead = match made_up {
        true => format!(
            "{PATIENTS} made-up patients. Two releases of them were made by Mondrian, one 4-anonymous and \
             one 5-anonymous by zip code and age. The attacker knows everybody's zip code and age, and has both."
        ),
        false => format!(
            "The attacker knows {} of {} people and looks for them in the published table.",
            tables.quasi.join(", "),
            grouped(found.people.len() as f64)
        ),
    };
    print(&linked(lead, &tables, !know.is_empty(), &found), &args.common, out)
}

impl Args {
    /// The tables that were named.
    fn tables(&self) -> Result<Option<Tables>, Failure> {
        let (Some(original), Some(published), Some(qi), Some(sensitive)) =
            (&self.original, &self.published, &self.qi, &self.sensitive)
        else {
            return Ok(None);
        };
        let named = [qi.0.as_slice(), std::slice::from_ref(sensitive)].concat();
        let read = |path: &PathBuf| read_table(path, self.delimiter, &named);
        Ok(Some(Tables {
            original: read(original)?,
            published: read(published)?,
            second: self.second.as_ref().map(read).transpose()?,
            quasi: qi.0.clone(),
            sensitive: sensitive.clone(),
        }))
    }
}
