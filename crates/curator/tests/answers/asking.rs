//! Conversations about one small table of people.

use datafusion::arrow::util::display::{ArrayFormatter, FormatOptions};
use demure_core::random::SeededForTests;
use demure_curator::policy::Policy;
use demure_curator::{Curator, Incidents, Outcome, Session};
use demure_ledger::{Accounting, Ledger, Limit};
use std::collections::HashMap;
use std::path::Path;

/// A column that may hold anything, and a unit with declared limits or none.
pub(crate) fn policy(epsilon: f64, column: &str, limits: bool) -> String {
    let limits = if limits { "max_groups = 1\nmax_rows_per_group = 1\n" } else { "" };
    format!(
        "[budget]\nepsilon = 1e13\ndelta = 1e-6\nper_query = {epsilon:?}\n\
         [tables.t]\nsource = \"t.csv\"\nunit = \"id\"\n{limits}\
         [tables.t.columns]\nid = {{ type = \"integer\" }}\n{column}\n"
    )
}

/// A conversation of its own over these rows, with intervals.
pub(crate) async fn session(policy: &str, folder: &Path, rows: &str, seed: u64) -> Session {
    std::fs::write(folder.join("t.csv"), rows).expect("a folder");
    let policy = Policy::parse(policy, folder).unwrap_or_else(|e| panic!("{e}"));
    let budget = policy.budget;
    let limit = Limit {
        accounting: Accounting::Pure,
        epsilon: budget.epsilon,
        delta: budget.delta,
        neighbours: budget.neighbours,
    };
    let ledger = Ledger::in_memory(limit).expect("a ledger in memory");
    let incidents = Incidents::file(folder.join("incidents"));
    let seed = Box::new(SeededForTests::insecure(seed));
    let curator = Curator::with(policy, ledger, incidents, seed).await.expect("a curator");
    let mut session = curator.session("ann");
    session.run("SET demure.intervals = on").await.expect("a setting");
    session
}

/// The first row of an answer, by the names of its columns.
pub(crate) async fn row(
    session: &mut Session,
    sql: &str,
) -> Result<HashMap<String, String>, String> {
    match session.run(sql).await {
        Ok(Outcome::Answer(answer)) => {
            let batch =
                answer.batches.iter().find(|batch| batch.num_rows() > 0).ok_or("no rows")?;
            let options = FormatOptions::default().with_null("NULL");
            let cell = |column: &_| {
                ArrayFormatter::try_new(column, &options).expect("a type").value(0).to_string()
            };
            let cells = batch.columns().iter().map(|column| cell(column.as_ref()));
            let names = answer.schema.fields().iter().map(|field| field.name().clone());
            Ok(names.zip(cells).collect())
        }
        Ok(other) => Err(format!("{other:?}")),
        Err(error) => Err(error.to_string()),
    }
}

/// The rows of the table.
pub(crate) fn rows(of: impl Iterator<Item = String>) -> String {
    format!("id,v\n{}\n", of.collect::<Vec<_>>().join("\n"))
}

/// A value with bounds.
pub(crate) const BOUNDED: &str = "v = { type = \"integer\", bounds = [0, 100] }";
