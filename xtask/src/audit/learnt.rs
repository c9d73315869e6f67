//! Audits every SQL aggregate at contribution bounds that are learnt: `demure audit query` on two tables that differ in one
//! person with forty rows, where forty others have one each, or three thousand others three each.

use super::{Length, audited, unwritable};
use crate::{Failure, program};
use std::fmt::Write;
use std::fs;
use std::path::Path;

/// The aggregates, and whether an audit of this length must show 60 % of ε on the small tables: there the loss of the
/// mechanism is nearly all of ε, at the event that an audit finds first.
const AGGREGATES: [(&str, bool); 14] = [
    ("COUNT(*)", true),
    ("COUNT(x)", true),
    ("COUNT(DISTINCT id)", true),
    ("COUNT(DISTINCT k)", false),
    ("SUM(x)", true),
    ("SUM(x), COUNT(*)", false),
    ("AVG(x)", false),
    ("VAR_POP(x)", false),
    ("STDDEV(x)", false),
    ("MIN(x)", false),
    ("MAX(x)", false),
    ("MEDIAN(x)", false),
    ("MAD(x)", false),
    ("MODE(k)", false),
];

/// The ε of each question.
const EPSILON: &str = "1";
/// So much of ε is shown where it must be.
const SHOWN: f64 = 0.6;

/// Audits them all, and fails at the first that shows more than it costs, or less than it must.
pub(super) fn run(demure: &Path, results: &Path, length: &Length) -> Result<(), Failure> {
    let folder = results.join("learnt");
    fs::create_dir_all(&folder).map_err(|error| unwritable(&folder, &error))?;
    let write = |name: &str, text: String| {
        let path = folder.join(name);
        fs::write(&path, text).map_err(|error| unwritable(&path, &error)).map(|()| path)
    };
    for (size, people, rows) in [("few", 40, 1), ("many", 3_000, 3)] {
        for neighbours in ["add-remove", "replace"] {
            let table = |right| table(people, rows, right, neighbours == "replace");
            let source = format!("{size}-{neighbours}.csv");
            let left = write(&source, table(false))?;
            let right = write(&format!("{size}-{neighbours}-right.csv"), table(true))?;
            for accounting in ["pure", "zcdp"] {
                let name = format!("{size}-{neighbours}-{accounting}");
                let policy = policy(&source, neighbours, accounting);
                let policy = write(&format!("{name}.toml"), policy)?;
                for (i, (aggregate, tight)) in AGGREGATES.iter().enumerate() {
                    let mut command = program(demure);
                    command.args(["audit", "query"]).arg(&policy);
                    command.arg(format!("SELECT g, {aggregate} FROM t GROUP BY g"));
                    command.args(["--epsilon", EPSILON, "--samples", length.learnt, "--json"]);
                    command.arg("--left").arg(&left).arg("--right").arg(&right);
                    if accounting == "zcdp" {
                        command.args(["--delta", "0.01"]);
                    }
                    let found = audited(&mut command, &folder.join(format!("{name}-{i}.json")))?;
                    let number = |key: &str| found[key].as_f64().unwrap_or(f64::NAN);
                    let (claimed, shown) = (number("claimed"), number("epsilon_lower"));
                    eprintln!("{name}: {aggregate}: ε at least {shown:.3}, claimed {claimed:.3}");
                    if found["verdict"] != "not refuted" {
                        return Err(Failure::new(
                            format!(
                                "audit: {aggregate} at learnt bounds ({name}) shows ε {shown:.3}"
                            ),
                            "it gives away more than it is charged, or the audit is wrong",
                        ));
                    }
                    let plain = size == "few" && accounting == "pure" && neighbours == "add-remove";
                    if *tight && plain && length.long && shown < SHOWN * claimed {
                        return Err(Failure::new(
                            format!("audit: {aggregate} at learnt bounds shows only ε {shown:.3}"),
                            "the audit has lost power, or ε is wasted",
                        ));
                    }
                }
            }
        }
    }
    Ok(())
}

fn policy(source: &str, neighbours: &str, accounting: &str) -> String {
    format!(
        "[budget]\nepsilon = 100\ndelta = 0.01\nper_query = 1\nneighbours = \"{neighbours}\"\n\
         accounting = \"{accounting}\"\n\n[tables.t]\nsource = \"{source}\"\nunit = \"id\"\n\
         contributions = \"auto\"\n\n[tables.t.columns]\n\
         g = {{ values = [\"a\", \"b\", \"c\"], nullable = false }}\n\
         x = {{ type = \"real\", bounds = [0, 10] }}\nk = {{ values = [\"u\", \"v\", \"w\"] }}\n"
    )
}

/// One more person has forty rows on the right. On the left that person is missing, or, where people are replaced, has one
/// row.
fn table(people: u32, rows: u32, right: bool, replace: bool) -> String {
    let mut text = String::from("id,g,x,k\n");
    let mut row = |id: u32, g: usize, x: u32, k: usize| {
        let letter = |all: &str, i: usize| all[i % 3..i % 3 + 1].to_owned();
        // Writing to a text does not fail.
        let _ = writeln!(text, "{id},{},{x},{}", letter("abc", g), letter("uvw", k));
    };
    for id in 0..people {
        for i in 0..rows {
            row(id, (id + i) as usize, (7 * id + i) % 10, id as usize);
        }
    }
    match (right, replace) {
        (true, _) => (0..40).for_each(|i| row(people, i / 30, 10, 1)),
        (false, true) => row(people, 2, 0, 0),
        (false, false) => {}
    }
    text
}
