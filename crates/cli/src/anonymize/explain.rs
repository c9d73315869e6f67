//! What would be done and promised, without doing it.

use super::Job;
use super::columns::Columns;
use super::find::name;
use super::models::Promised;
use super::options::Method;
use crate::Failure;
use demure_report::{Report, grouped, named};
use serde_json::{Value, json};
use std::io::Write;

pub(super) fn run(
    job: &Job,
    columns: &Columns<'_>,
    promised: &Promised,
    out: &mut impl Write,
) -> Result<(), Failure> {
    let rows = columns.table.rows;
    let quasi = columns.quasi.iter().filter_map(|quasi| {
        let column = columns.table.columns.get(quasi.column)?;
        Some((column.name.clone(), quasi.hierarchy.levels.len(), column.values.len()))
    });
    let quasi: Vec<(String, usize, usize)> = quasi.collect();
    let line = |(name, levels, values): &(String, usize, usize)| {
        format!("{name}: {} distinct values, {levels} levels", grouped(*values as f64))
    };
    let lines: Vec<String> = quasi.iter().map(line).collect();
    let choices: f64 = quasi.iter().map(|(_, levels, _)| *levels as f64).product();
    let levels = named(quasi.iter().map(|(name, levels, _)| (name.clone(), *levels)));
    let limit = job.search.suppress.rows(rows as u64);
    let sensitive = columns.names();
    let method = match job.search.method {
        Method::Optimal => format!(
            "optimal: one level a column, the best of {} choices by {}",
            grouped(choices),
            name(job.search.metric)
        ),
        Method::Mondrian => "mondrian: boxes, halved as long as all models hold".to_owned(),
        Method::Local => {
            "local: classes made finer one by one, as long as all models hold".to_owned()
        }
    };
    let models: Vec<Value> = promised
        .models
        .iter()
        .map(|model| {
            let column = model.column().and_then(|at| sensitive.get(at));
            json!({
                "name": model.name(),
                "column": column,
                "monotone": model.monotone(),
                "warning": model.warning(),
            })
        })
        .collect();
    let text: Vec<String> = promised
        .models
        .iter()
        .map(|model| {
            let column = model.column().and_then(|at| sensitive.get(at));
            let about = column.map_or(String::new(), |name| format!(" of {name}"));
            let pruned = match model.monotone() {
                true => "monotone: coarser never breaks it",
                false => "not monotone: coarser may break it, so the search prunes less",
            };
            let warning =
                model.warning().map_or(String::new(), |text| format!("\n  warning: {text}"));
            format!("{}{about} ({pruned}){warning}", model.name())
        })
        .collect();
    Ok(Report::default()
        .field("rows", rows)
        .described("quasi_identifiers", levels, lines.join("\n"))
        .described(
            "sensitive",
            sensitive.clone(),
            match sensitive.is_empty() {
                true => "none".to_owned(),
                false => sensitive.join(", "),
            },
        )
        .described("models", models, text.join("\n"))
        .described("suppress", limit, format!("at most {} rows", grouped(limit as f64)))
        .field("method", method)
        .hidden("choices", choices)
        .field(
            "not_promised",
            "differential privacy; anything about several releases; anything against an observer \
             who knows more than the quasi-identifiers",
        )
        .print(job.json, out)?)
}
