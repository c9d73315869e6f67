//! `demure audit query`: a question to the curator, on neighbouring databases.

mod asked;
mod made_up;

use super::neighbour::{files, read};
use super::options::{Effort, Usual};
use super::render::{Audit, tell};
use crate::Failure;
use crate::curator::runtime;
use crate::input::number;
use asked::Asked;
use demure_attack::audit::Claim;
use demure_core::account::zcdp;
use demure_core::unit::{Delta, Epsilon, Rho};
use demure_curator::Curator;
use demure_curator::policy::{Accounting, Policy, TablePolicy, UnitPolicy};
use made_up::MadeUp;
use std::io::Write;
use std::path::{Path, PathBuf};

/// A SQL query under a policy, on neighbouring databases
///
/// The question is put to the curator through the same door as an analyst's, again and again, on two databases that differ
/// in one unit; every answer is bought anew, from budgets in memory that are as large as need be. The real ledger is not touched. What is
/// claimed is what one answer is charged.
///
/// The rows are made up: the columns that the sources have, with values as the policy states them. So the report tells of nobody.
/// Neighbours are made of them: a unit left out, or replaced where the policy says so. With
/// --on-protected-rows they are made of the first rows of the real table. Thousands of answers that nobody paid for go into such a
/// report: keep it as you keep the rows.
///
/// An answer takes milliseconds, so a minute gives a few thousand runs. So few cannot distinguish an ε far above 5 from
/// a larger one.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  demure audit query clinic/clinic.toml 'SELECT COUNT(*) FROM patients' --epsilon 1 --minutes 0.1
  demure audit query clinic/clinic.toml 'SELECT smoker, AVG(age) FROM patients GROUP BY smoker' \\
      --epsilon 0.5 --samples 60 --json

The clinic is made by: demure demo --keep clinic
Exit code: 0 not refuted, 1 violated, 2 a mistake or a failure.")]
pub(super) struct Args {
    /// The policy
    #[arg(value_name = "POLICY")]
    policy: PathBuf,

    /// The question, in SQL
    #[arg(value_name = "SQL")]
    sql: String,

    /// The ε to ask with; by default the policy's per_query
    #[arg(long, value_name = "E", value_parser = number, allow_hyphen_values = true)]
    epsilon: Option<f64>,

    /// The δ to ask with where group keys are not public; and, under zCDP, the δ at which ρ becomes an ε
    #[arg(long, value_name = "D", value_parser = number, allow_hyphen_values = true)]
    delta: Option<f64>,

    /// The table in which the databases differ; by default the only protected one that the question mentions
    #[arg(long, value_name = "NAME")]
    table: Option<String>,

    /// That table on one side, in place of the policy's
    #[arg(long, value_name = "FILE", requires = "right")]
    left: Option<PathBuf>,

    /// And on the other
    #[arg(long, value_name = "FILE", requires = "left")]
    right: Option<PathBuf>,

    /// Rows that neighbours are made of
    #[arg(long, value_name = "N", default_value_t = 200)]
    rows: usize,

    /// Ask about the protected rows themselves; what is printed then tells nearly exactly of them
    #[arg(long)]
    on_protected_rows: bool,

    /// Pairs of neighbours to try, at most
    #[arg(long, value_name = "N", default_value_t = 4)]
    pairs: usize,

    #[command(flatten)]
    effort: Effort,
}

pub(super) fn run(args: &Args, out: &mut impl Write) -> Result<(), Failure> {
    args.effort.check()?;
    let policy = Policy::read(&args.policy).map_err(demure_curator::Error::from)?;
    let table = differing(&policy, args.table.as_deref(), &args.sql)?;
    let folder = tempfile::tempdir().map_err(|source| Failure::File {
        what: "making a folder for neighbours".into(),
        source,
    })?;
    let given = args.left.is_some();
    let (rows, base) = if args.on_protected_rows {
        eprintln!(
            "warning: the report holds answers about protected rows that nobody paid for; keep it as you keep the rows"
        );
        (None, policy.clone())
    } else {
        // The columns of every table, from a curator whose budget is of no account.
        let schemas = runtime()?.block_on(Curator::in_memory(policy.clone()))?.tables();
        let rows = MadeUp::new(&policy, &schemas, args.rows);
        let base = rows.policy(&policy, &schemas, given.then_some(&table.name), folder.path())?;
        (Some(rows), base)
    };
    let made = || {
        let protection = table.protection().ok_or_else(|| Failure::usage("the table is public"))?;
        let unit = match &protection.unit {
            UnitPolicy::Row => None,
            UnitPolicy::Column(column) => Some(column.as_str()),
            UnitPolicy::Via { .. } => {
                return Err(Failure::usage(
                    "whose rows these are is said by another table\nhint: name that one with --table, or give --left and --right",
                ));
            }
        };
        let table = match &rows {
            Some(rows) => rows.table(&table.name)?,
            None => read(&policy.folder.join(&table.source), args.rows)?,
        };
        Ok(table.neighbours(unit, policy.budget.neighbours, args.pairs)?)
    };
    let mut pairs = files((args.left.as_ref(), args.right.as_ref()), made, folder.path())?;
    if rows.is_some() && !given {
        pairs.iter_mut().for_each(|(what, _)| what.insert_str(0, "made-up rows: "));
    }
    let epsilon = args.epsilon.map(Epsilon::new).transpose()?;
    let delta = args.delta.map(Delta::positive).transpose()?;
    let mut asked = Asked::new(&base, &table.name, &args.sql, pairs, (epsilon, delta))?;
    let price = asked.price()?;
    let claim = match policy.budget.accounting {
        Accounting::Pure => Claim { epsilon: Some(price.main), delta: price.delta },
        Accounting::Zcdp => {
            // δ of the keys, and δ of the conversion.
            let at = delta.unwrap_or(Delta::positive(1e-3)?);
            let epsilon = zcdp::epsilon(Rho::new(price.main)?, at)?;
            Claim { epsilon: Some(epsilon), delta: at.get() + price.delta }
        }
    };
    let found = args.effort.audit(&mut asked, claim, Usual::Minutes(1.0), 1)?;
    let audit = Audit { name: name(&args.policy), about: args.sql.clone(), found };
    tell(&[audit], &args.effort, out)
}

fn name(policy: &Path) -> String {
    policy.file_stem().map_or("query".into(), |name| name.to_string_lossy()).into_owned()
}

/// The table in which the databases differ: the one named, or the only protected one, or the only one that the
/// question mentions.
fn differing<'a>(
    policy: &'a Policy,
    name: Option<&str>,
    sql: &str,
) -> Result<&'a TablePolicy, Failure> {
    let mut protected: Vec<&TablePolicy> =
        policy.tables.iter().filter(|table| table.protection().is_some()).collect();
    if let Some(name) = name {
        let found = protected.into_iter().find(|table| table.name == name);
        return found
            .ok_or_else(|| Failure::usage("--table names no protected table of the policy"));
    }
    if protected.len() > 1 {
        let sql = sql.to_lowercase();
        let words = sql.split(|c: char| !(c.is_alphanumeric() || c == '_'));
        protected.retain(|table| words.clone().any(|word| word == table.name));
    }
    match protected[..] {
        [only] => Ok(only),
        _ => Err(Failure::usage(
            "which table the databases differ in is not clear\nhint: name a protected table with --table",
        )),
    }
}
