//! A first policy as text, from what is known of a table; no value of it is read here.

use super::template::{ColumnKind, key, number, quoted, template};
use super::{TimeFormat, Value};
use crate::words::short;
use demure_core::unit::Epsilon;
use std::collections::HashSet;
use std::fmt::Write;
use toml::de::DeTable;

/// The name of a column, what it holds, and whether it can be NULL.
pub type SchemaColumn = (String, ColumnKind, bool);

/// How a CSV file is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CsvDialect {
    /// What separates cells.
    pub delimiter: u8,
    /// Whether numbers have a decimal comma.
    pub decimal_comma: bool,
}

/// What a first policy is made from.
#[derive(Clone, Copy, Debug)]
pub struct Proposal<'a> {
    /// What queries will call the table.
    pub table: &'a str,
    /// Where it is, as the policy says it.
    pub source: &'a str,
    /// Its columns.
    pub columns: &'a [SchemaColumn],
    /// How a CSV file is written, which does not say what its columns hold; `None` for Parquet.
    pub csv: Option<CsvDialect>,
    /// The column that says whose row it is, or `row`; guessed unless given.
    pub unit: Option<&'a str>,
    /// The lines of its `[budget]`, as [`budget_lines`] gives them; the usual ones if there are none.
    pub budget: &'a [String],
    /// The ε of all answers together, unless `budget` says it.
    pub epsilon: Option<Epsilon>,
    /// Whether groups that are not listed may be asked for, which needs a δ, unless `budget` says it.
    pub groups: bool,
    /// What is declared of columns.
    pub declared: &'a [Declared],
    /// Where that comes from, in words: `a dictionary`.
    pub from: &'a [String],
}

/// What a first policy declares of a column.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Declared {
    /// The column, as the source spells it.
    pub name: String,
    /// A comment above it.
    pub note: Option<String>,
    /// The type of its values.
    pub kind: Option<ColumnKind>,
    /// How dates or times are written.
    pub format: Option<TimeFormat>,
    /// Whether its numbers have a decimal comma, if that differs from the table's.
    pub decimal_comma: Option<bool>,
    /// Its bounds, as TOML writes them.
    pub bounds: Option<(String, String)>,
    /// All of its values; none if they are not known.
    pub values: Vec<Value>,
    /// Whether no query may use it.
    pub hidden: bool,
}

impl Declared {
    /// A column by its name.
    #[must_use]
    pub fn named(name: impl Into<String>) -> Self {
        Self { name: name.into(), ..Self::default() }
    }

    /// The lines of `[tables.….columns]`; empty if nothing is declared.
    fn lines(&self) -> String {
        let mut parts = Vec::new();
        // Bounds that are numbers mean real numbers, a format means dates or times, and values what they are.
        let implied = match self.kind {
            Some(ColumnKind::Real) => self.bounds.is_some(),
            Some(ColumnKind::Date) => self.format.as_ref().is_some_and(|format| !format.has_time()),
            Some(ColumnKind::Time) => self.format.as_ref().is_some_and(TimeFormat::has_time),
            Some(ColumnKind::Text) => !self.values.is_empty(),
            Some(ColumnKind::Other) | None => true,
            Some(ColumnKind::Integer | ColumnKind::Boolean) => false,
        };
        if let Some(kind) = self.kind.filter(|_| !implied) {
            parts.push(format!("type = \"{}\"", kind.word()));
        }
        if let Some(format) = &self.format {
            parts.push(format!("format = {}", quoted(format.text())));
        }
        if let Some(comma) = self.decimal_comma {
            parts.push(format!("decimal = \"{}\"", if comma { ',' } else { '.' }));
        }
        if let Some((low, high)) = &self.bounds {
            parts.push(format!("bounds = [{low}, {high}]"));
        }
        if !self.values.is_empty() {
            let values: Vec<String> = self.values.iter().map(written).collect();
            parts.push(format!("values = [{}]", values.join(", ")));
        }
        if self.hidden {
            parts = vec!["hidden = true".to_owned()];
        }
        let note = self.note.as_ref().map_or(String::new(), |note| format!("# {note}\n"));
        match parts.is_empty() {
            true => String::new(),
            false => format!("{note}{} = {{ {} }}\n", key(&self.name), parts.join(", ")),
        }
    }
}

/// A value in TOML.
fn written(value: &Value) -> String {
    match value {
        Value::Text(text) => quoted(text),
        Value::Integer(whole) => whole.to_string(),
        Value::Real(real) => format!("{real:?}"),
        Value::Boolean(boolean) => boolean.to_string(),
        Value::Date(date) => date.clone(),
    }
}

impl Proposal<'_> {
    /// The policy, commented.
    #[must_use]
    pub fn text(&self) -> String {
        let text = template(self.table, self.source, self.columns);
        let mut text = match self.budget {
            [] => self.with_epsilon(&text),
            budget => with_budget(&text, budget),
        };
        if let Some(unit) = self.unit {
            text = with_unit(&text, unit);
        }
        if let Some(csv) = self.csv {
            text = with_dialect(&text, csv);
        }
        text = self.with_declared(&text);
        if self.csv.is_some() {
            text.push_str(CSV);
        }
        self.with_origin(&text)
    }

    fn with_epsilon(&self, text: &str) -> String {
        let mut changed = String::new();
        for line in text.lines() {
            let share = |name: &str, parts: f64| {
                let epsilon = self.epsilon.filter(|_| line.starts_with(name))?;
                Some(format!("{name}{}", short(epsilon.get() / parts)))
            };
            let other = share("epsilon = ", 1.0)
                .or_else(|| share("# per_query = ", 10.0))
                .or_else(|| share("# min_per_query = ", 1000.0));
            let line = match other {
                _ if self.groups && line == "# delta = 1e-6" => "delta = 1e-6".to_owned(),
                Some(other) => other,
                None => line.to_owned(),
            };
            changed.extend([line.as_str(), "\n"]);
        }
        changed
    }

    /// Writes what is declared in the place of the comments about these columns.
    fn with_declared(&self, text: &str) -> String {
        let Some((head, columns)) = text.split_once(".columns]\n") else { return text.to_owned() };
        let mut changed = format!("{head}.columns]\n");
        let mut placed = HashSet::new();
        let about = |line: &str, name: &str| {
            let line = line.strip_prefix("# ").unwrap_or(line);
            line.strip_prefix(&key(name)).is_some_and(|rest| rest.starts_with(" = {"))
        };
        for line in columns.lines() {
            // The unit cannot be hidden, and needs no line.
            if self.unit.is_some_and(|unit| about(line, unit)) {
                continue;
            }
            match self.declared.iter().find(|column| about(line, &column.name)) {
                Some(column) if !column.lines().is_empty() => {
                    placed.insert(&column.name);
                    changed.push_str(&column.lines());
                }
                _ => changed.extend([line, "\n"]),
            }
        }
        for column in self.declared.iter().filter(|column| !placed.contains(&column.name)) {
            changed.push_str(&column.lines());
        }
        changed
    }

    fn with_origin(&self, text: &str) -> String {
        const NO_MORE: &str = "# Written from the names and types of columns alone; no value was read. Check every line.";
        match self.from {
            [] => text.to_owned(),
            from => text.replace(
                NO_MORE,
                &format!(
                    "# Written from the names and types of columns, and from {}.\n# Check every line.",
                    from.join(", and from ")
                ),
            ),
        }
    }
}

const CSV: &str = r#"
# A CSV file does not say what its columns hold: a column with bounds is read as real numbers,
# one with values as what they are, any other as text. To say more, write for instance
#   age = { type = "integer", bounds = [0, 120] }
#   born = { type = "date", format = "%d.%m.%Y" }
# with "integer", "real", "text", "boolean", "date" or "time". What is written otherwise is NULL.
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

/// The policy with how its CSV file is written, where that is not the default.
fn with_dialect(text: &str, csv: CsvDialect) -> String {
    let mut changed = String::new();
    for line in text.lines() {
        changed.extend([line, "\n"]);
        if !line.starts_with("source = ") {
            continue;
        }
        match csv.delimiter {
            b',' => {}
            b'\t' => changed.push_str("delimiter = \"tab\"\n"),
            other => {
                let other = quoted(&char::from(other).to_string());
                let _ = writeln!(changed, "delimiter = {other}");
            }
        }
        if csv.decimal_comma {
            changed.push_str("decimal = \",\"\n");
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

/// The beginning of the comment above bounds that were bought.
const BOUGHT: &str = "Bought from the data for ε ";

/// Adds bounds that were bought for ε in all.
pub fn add_bought(declared: &mut Vec<Declared>, found: &[FoundBounds], epsilon: Epsilon) {
    let each = short(epsilon.get() / found.len() as f64);
    for FoundBounds { name, bounds } in found {
        let Some((low, high)) = bounds else { continue };
        let note = format!("{BOUGHT}{each}: powers of two; the tails may be cut.");
        let column = entry(declared, name);
        column.bounds = Some((number(*low), number(*high)));
        column.note = Some(note);
    }
}

/// The bounds of a policy that were bought, as [`Declared`] columns.
#[must_use]
pub fn bought_before(text: &str) -> Vec<Declared> {
    let mut found = Vec::new();
    let mut lines = text.lines();
    while let Some(line) = lines.next() {
        let Some(note) = line.strip_prefix("# ").filter(|note| note.starts_with(BOUGHT)) else {
            continue;
        };
        let Some(below) = lines.next() else { break };
        let Ok(table) = DeTable::parse(below) else { continue };
        for (name, value) in table.get_ref().iter() {
            let list = value.get_ref().get("bounds").and_then(|bounds| bounds.get_ref().as_array());
            let Some(list) = list else { continue };
            let ends: Vec<String> =
                list.iter().filter_map(|end| below.get(end.span()).map(str::to_owned)).collect();
            if let [low, high] = &ends[..] {
                let mut column = Declared::named(name.get_ref().as_ref());
                column.bounds = Some((low.clone(), high.clone()));
                column.note = Some(note.to_owned());
                found.push(column);
            }
        }
    }
    found
}

/// The entry of a column, which is added if it is not there.
pub fn entry<'a>(declared: &'a mut Vec<Declared>, name: &str) -> &'a mut Declared {
    let at = declared.iter().position(|column| column.name == name).unwrap_or_else(|| {
        declared.push(Declared::named(name));
        declared.len() - 1
    });
    &mut declared[at]
}

#[cfg(test)]
mod tests;
