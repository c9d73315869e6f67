//! A first policy as text, from what is known of a table; no value of it is read here.

use super::template::{ColumnKind, bounds_line, quoted, template};
use crate::words::short;
use demure_core::unit::Epsilon;
use std::fmt::Write;
use toml::de::DeTable;

/// The name of a column, what it holds, and whether it can be NULL.
pub type SchemaColumn = (String, ColumnKind, bool);

/// What a first policy is made from.
#[derive(Clone, Copy, Debug)]
pub struct Proposal<'a> {
    /// What queries will call the table.
    pub table: &'a str,
    /// Where it is, as the policy says it.
    pub source: &'a str,
    /// Its columns.
    pub columns: &'a [SchemaColumn],
    /// Whether it is a CSV file, which does not say what its columns hold.
    pub csv: bool,
    /// The column that says whose row it is, or `row`; guessed unless given.
    pub unit: Option<&'a str>,
    /// The lines of its `[budget]`, as [`budget_lines`] gives them; the usual ones if there are none.
    pub budget: &'a [String],
}

impl Proposal<'_> {
    /// The policy, commented.
    #[must_use]
    pub fn text(&self) -> String {
        let text = template(self.table, self.source, self.columns);
        let mut text = with_budget(&text, self.budget);
        if let Some(unit) = self.unit {
            text = with_unit(&text, unit);
        }
        if self.csv {
            text.push_str(CSV);
        }
        text
    }
}

const CSV: &str = r#"
# A CSV file does not say what its columns hold: a column with bounds is read as real numbers,
# one with values as what they are, any other as text. To say more, write for instance
#   age = { type = "integer", bounds = [0, 120] }
# with "integer", "real", "text", "boolean", "date" or "time".
"#;

/// What the `[budget]` of a policy says, a line for each key: the limit is the steward's, and another
/// template does not raise it.
#[must_use]
pub fn budget_lines(text: &str) -> Vec<String> {
    let Ok(document) = DeTable::parse(text) else { return Vec::new() };
    let budget = document.get_ref().get("budget").and_then(|value| value.get_ref().as_table());
    let keys = budget.into_iter().flatten();
    keys.filter_map(|(key, value)| Some(format!("{} = {}", key.get_ref(), text.get(value.span())?)))
        .collect()
}

/// A policy with these lines as its `[budget]`.
fn with_budget(text: &str, lines: &[String]) -> String {
    let heading = "\n[budget]\n";
    let Some((before, rest)) = text.split_once(heading).filter(|_| !lines.is_empty()) else {
        return text.to_owned();
    };
    let after = rest.split_once("\n\n").map_or("", |(_, after)| after);
    let lines = lines.join("\n");
    format!("{before}{heading}# As in the policy that was here before.\n{lines}\n\n{after}")
}

/// The policy with another unit than the one that was guessed.
fn with_unit(text: &str, unit: &str) -> String {
    let mut changed = String::new();
    for line in text.lines() {
        let guessed = line == "# This one was guessed from its name:"
            || line == "# No column has a name that suggests a person:";
        match line {
            _ if guessed => {}
            line if line.starts_with("unit = ") => {
                let _ = writeln!(changed, "unit = {}", quoted(unit));
            }
            line => changed.extend([line, "\n"]),
        }
    }
    changed
}

/// Bounds of a column that were bought from the data; none if too few people are in any bin.
#[derive(Clone, Debug, PartialEq)]
pub struct FoundBounds {
    /// The column.
    pub name: String,
    /// Its bounds.
    pub bounds: Option<(f64, f64)>,
}

/// A policy with the bounds that were bought for ε in all.
#[must_use]
pub fn with_bounds(text: &str, found: &[FoundBounds], epsilon: Epsilon) -> String {
    let each = short(epsilon.get() / found.len() as f64);
    let mut changed = String::new();
    let no_more =
        "# Written from the names and types of columns alone; no value was read. Check every line.";
    let text = text.replace(
        no_more,
        &format!(
            "# Written from the names and types of columns, and from bounds that were bought from the\n\
             # data for ε {} in all. Check every line.",
            short(epsilon.get())
        ),
    );
    for line in text.lines() {
        let bought = found.iter().find_map(|column| {
            let (low, high) = column.bounds?;
            let written = bounds_line(&column.name, low, high);
            let (key, _) = written.split_once(" = ")?;
            let same = line.strip_prefix("# ").unwrap_or(line).strip_prefix(key);
            same.is_some_and(|rest| rest.starts_with(" = ")).then_some(written)
        });
        match bought {
            Some(written) => {
                let _ = writeln!(
                    changed,
                    "# Bought from the data for ε {each}: powers of two; the tails may be cut.\n{written}"
                );
            }
            None => changed.extend([line, "\n"]),
        }
    }
    changed
}

#[cfg(test)]
mod tests;
