//! What became of each column, sample rows, and alternatives.

use crate::publish::Release;
use crate::publish::change::changes;
use crate::show::SAMPLES;
use crate::show::beside::{self, Beside};
use demure_report::grouped;
use demure_report::page::{escape, table};

/// What became of each column.
pub(crate) fn columns(release: &Release<'_>) -> String {
    let changes = changes(release);
    let row = |change: &_| {
        let crate::publish::change::Change { column, values, labels, .. } = change;
        vec![
            escape(column),
            escape(&beside::change(change)),
            grouped(*values as f64),
            grouped(*labels as f64),
        ]
    };
    let rows: Vec<Vec<String>> = changes.iter().map(row).collect();
    let head = ["column", "what became of it", "values before", "labels after"];
    let hint = beside::hint(&changes)
        .map_or(String::new(), |hint| format!("<p class=\"note\">{}</p>\n", escape(&hint)));
    format!("<h2>Columns</h2>\n{}{hint}", table(&head, &rows, 2))
}

/// Sample rows: as published, and as they were only where that was asked for.
pub(crate) fn samples(beside: &Beside<'_, '_>, originals: bool) -> String {
    let table = beside.samples(SAMPLES, originals);
    let note = match originals {
        true => {
            "<p class=\"note\"><b>This page shows rows of the original table.</b> Do not publish it, \
             and give it to nobody who may not see that table.</p>\n"
        }
        false => "",
    };
    format!("<h2>{}</h2>\n{note}{}", escape(&table.title), table.html())
}

/// What other choices would give; nothing where none were looked for.
pub(crate) fn alternatives(beside: &Beside<'_, '_>) -> String {
    let Some(table) = beside.alternatives() else { return String::new() };
    format!("<h2>{}</h2>\n{}", escape(&table.title), table.html())
}
