//! What would be done and promised, without doing it.

use super::release::Limit;
use crate::job::{Columns, Method, Promised, Search, metric_name};
use crate::model::Model;
use demure_report::{Report, grouped, named};
use serde_json::{Value, json};

/// The fields of an explanation.
#[must_use]
pub fn explained(
    search: &Search,
    limit: Limit,
    columns: &Columns<'_>,
    promised: &Promised,
) -> Report {
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
    let sensitive = columns.names();
    let shown = if sensitive.is_empty() { "none".to_owned() } else { sensitive.join(", ") };
    let method = match search.method {
        Method::Optimal => format!(
            "optimal: one level a column, the best of {} choices by {}",
            grouped(choices),
            metric_name(search.metric)
        ),
        Method::Mondrian => "mondrian: boxes, halved as long as all models hold".to_owned(),
        Method::Local => {
            "local: classes made finer one by one, as long as all models hold".to_owned()
        }
    };
    let models = || promised.models.iter().map(AsRef::as_ref);
    let json: Vec<Value> = models().map(|model| model_json(model, &sensitive)).collect();
    let text: Vec<String> = models().map(|model| model_text(model, &sensitive)).collect();
    Report::default()
        .field("rows", rows)
        .described("quasi_identifiers", levels, lines.join("\n"))
        .described("sensitive", sensitive, shown)
        .described("models", json, text.join("\n"))
        .described("suppress", limit.rows, limit.text())
        .field("method", method)
        .hidden("choices", choices)
        .field(
            "not_promised",
            "differential privacy; anything about several releases; anything against an observer \
             who knows more than the quasi-identifiers",
        )
}

fn model_json(model: &dyn Model, sensitive: &[String]) -> Value {
    json!({
        "name": model.name(),
        "column": model.column().and_then(|at| sensitive.get(at)),
        "monotone": model.monotone(),
        "warning": model.warning(),
    })
}

fn model_text(model: &dyn Model, sensitive: &[String]) -> String {
    let column = model.column().and_then(|at| sensitive.get(at));
    let about = column.map_or(String::new(), |name| format!(" of {name}"));
    let pruned = match model.monotone() {
        true => "monotone: coarser never breaks it",
        false => "not monotone: coarser may break it, so the search prunes less",
    };
    let warning = model.warning().map_or(String::new(), |text| format!("\n  warning: {text}"));
    format!("{}{about} ({pruned}){warning}", model.name())
}
