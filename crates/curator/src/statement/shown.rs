//! `SHOW TABLES`, `SHOW COLUMNS FROM t`, `DESCRIBE t`: the names that the policy makes public, as a query of constants.

use super::names::Names;
use crate::error::{Error, Result};
use crate::policy::nearest;

/// The query that a statement stands for, if it is one of these.
pub(super) fn as_query(text: &str, names: &Names) -> Result<Option<String>> {
    let words: Vec<&str> = text.split_whitespace().collect();
    let is = |place: usize, wanted: &[&str]| {
        words.get(place).is_some_and(|word| wanted.iter().any(|w| word.eq_ignore_ascii_case(w)))
    };
    let of = match &words[..] {
        [_, _] if is(0, &["show"]) && is(1, &["tables"]) => {
            let rows = names.tables().map(|table| format!("({})", quoted(table)));
            return Ok(Some(listed(&rows.collect::<Vec<_>>(), "table_name")));
        }
        [_, _, _, table] if is(0, &["show"]) && is(1, &["columns"]) && is(2, &["from", "in"]) => {
            table
        }
        [_, table] if is(0, &["describe", "desc"]) => table,
        [_, _, table] if is(0, &["describe", "desc"]) && is(1, &["table"]) => table,
        _ => return Ok(None),
    };
    let name = match of.strip_prefix('"').and_then(|name| name.strip_suffix('"')) {
        Some(name) => name.to_owned(),
        None => of.to_lowercase(),
    };
    let name = name.strip_prefix("public.").unwrap_or(&name);
    let Some(columns) = names.described(name) else {
        let near = nearest(name, names.tables());
        let near = near.map_or(String::new(), |near| format!("; did you mean `{near}`?"));
        return Err(Error::Sql(format!("there is no table `{name}`{near}")));
    };
    let rows = columns.map(|(column, kind)| format!("({}, {})", quoted(column), quoted(kind)));
    Ok(Some(listed(&rows.collect::<Vec<_>>(), "column_name, data_type")))
}

fn listed(rows: &[String], columns: &str) -> String {
    format!("SELECT * FROM (VALUES {}) AS shown ({columns})", rows.join(", "))
}

fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', "''"))
}
