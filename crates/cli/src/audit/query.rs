//! `demure audit query`: a question to the curator, on neighbouring databases.

use super::options::{Effort, Sides};
use super::render::tell;
use crate::Failure;
use crate::input::number;
use demure_attack::audit::page::Audit;
use demure_attack::audit::query::Question;
use demure_core::unit::{Delta, Epsilon};
use demure_report::progress::watched;
use std::io::Write;
use std::path::PathBuf;

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

    /// The table in which the databases differ, and that --left and --right replace; by default the only protected one that
    /// the question mentions
    #[arg(long, value_name = "NAME")]
    table: Option<String>,

    /// Rows that neighbours are made of
    #[arg(long, value_name = "N", default_value_t = 200)]
    rows: usize,

    /// Ask about the protected rows themselves; what is printed then tells nearly exactly of them
    #[arg(long)]
    on_protected_rows: bool,

    #[command(flatten)]
    sides: Sides,

    #[command(flatten)]
    effort: Effort,
}

pub(super) fn run(args: &Args, out: &mut impl Write) -> Result<(), Failure> {
    let effort = args.effort.checked()?;
    if args.on_protected_rows {
        eprintln!(
            "warning: the report holds answers about protected rows that nobody paid for; keep it as you keep the rows"
        );
    }
    let question = Question {
        policy: &args.policy,
        sql: &args.sql,
        epsilon: args.epsilon.map(Epsilon::new).transpose()?,
        delta: args.delta.map(Delta::positive).transpose()?,
        table: args.table.as_deref(),
        given: args.sides.given(),
        rows: args.rows,
        on_protected_rows: args.on_protected_rows,
        pairs: args.sides.pairs,
    };
    let found = watched(|watch| question.audit(&effort, watch))?;
    tell(&[Audit::of_file(&args.policy, args.sql.clone(), found)], &args.effort, out)
}
