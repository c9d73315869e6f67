//! `demure check …`: what a policy comes to, before anyone asks.

use crate::Failure;
use crate::curator::runtime;
use demure_curator::{Checked, Example, check};
use demure_report::progress::Spinner;
use demure_report::{Table, printable};
use serde_json::{Value, json};
use std::io::Write;
use std::path::PathBuf;

/// Open a policy, its tables and its ledger, and say what was understood
///
/// For each table: whose rows they are, its columns as queries see them, and questions to ask with
/// their price and expected error. Nothing is debited, and nothing of it comes from the rows.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  demure check clinic/clinic.toml
  demure check clinic/clinic.toml --json

The clinic is made by: demure demo --keep clinic
Exit code: 0 everything opens, 2 a mistake in the policy or a table.")]
pub(crate) struct Args {
    /// The policy
    #[arg(value_name = "POLICY")]
    policy: PathBuf,

    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(args: &Args, out: &mut impl Write) -> Result<(), Failure> {
    let checked = {
        let _spinner = Spinner::new("opening the tables");
        runtime()?.block_on(check(&args.policy))?
    };
    if args.json {
        return writeln!(out, "{}", object(&checked)).map_err(Failure::writing);
    }
    for warning in &checked.warnings {
        eprintln!("warning: {warning}");
    }
    lines(&checked, out).map_err(Failure::writing)
}

fn lines(checked: &Checked, out: &mut impl Write) -> std::io::Result<()> {
    for table in &checked.tables {
        writeln!(
            out,
            "{}  {}, {}",
            table.name,
            printable(&table.source),
            printable(&table.access)
        )?;
        let columns = table.columns.iter();
        let columns = columns
            .map(|c| vec![c.sql.clone(), c.kind.to_owned(), c.name.clone(), c.known.clone()]);
        let shown = Table::of_texts(&["in SQL", "type", "column", "known"], columns);
        shown.print("", out).map_err(|error| error.0)?;
        if !table.hidden.is_empty() {
            writeln!(out, "hidden: {}", printable(&table.hidden.join(", ")))?;
        }
        writeln!(out)?;
        for Example { sql, quote } in &table.examples {
            writeln!(out, "{}", printable(sql))?;
            match quote {
                Ok((cost, errors)) if errors.is_empty() => writeln!(out, "  costs {cost}")?,
                Ok((cost, errors)) => writeln!(out, "  costs {cost}; {}", errors.join("; "))?,
                Err(why) => writeln!(out, "  would be refused: {}", printable(why))?,
            }
        }
        writeln!(out)?;
    }
    let ledger = if checked.has_ledger { "" } else { "; the first question makes its ledger" };
    writeln!(out, "left {}{ledger}", checked.left)
}

fn object(checked: &Checked) -> Value {
    let tables = checked.tables.iter().map(|table| {
        let columns = table.columns.iter().map(|column| {
            json!({"name": column.name, "sql": column.sql, "type": column.kind, "known": column.known})
        });
        let examples = table.examples.iter().map(|Example { sql, quote }| match quote {
            Ok((cost, errors)) => json!({"sql": sql, "cost": cost, "errors": errors}),
            Err(why) => json!({"sql": sql, "refused": why}),
        });
        json!({
            "name": table.name,
            "source": table.source,
            "access": table.access,
            "columns": columns.collect::<Vec<_>>(),
            "hidden": table.hidden,
            "examples": examples.collect::<Vec<_>>(),
        })
    });
    json!({
        "tables": tables.collect::<Vec<_>>(),
        "left": checked.left,
        "has_ledger": checked.has_ledger,
        "warnings": checked.warnings,
    })
}
