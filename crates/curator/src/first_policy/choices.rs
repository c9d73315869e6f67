//! What a steward says of a table's columns, and what a first policy declares for it.

use super::schema::{Kinds, known};
use super::{Note, ProposeError};
use crate::policy::{
    ColumnKind, Declared, SchemaColumn, TimeFormat, Value, entry, identifies, known_bounds,
};
use demure_core::unit::Epsilon;

/// What a steward says, in options or when asked. Columns are found whatever their case.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Choices {
    /// The column that says whose row it is, or `row`; guessed unless given.
    pub unit: Option<String>,
    /// The ε of all answers together.
    pub epsilon: Option<Epsilon>,
    /// What separates the cells of a CSV file; seen from its first line unless given.
    pub delimiter: Option<u8>,
    /// Whether numbers in a CSV file have a decimal comma.
    pub decimal_comma: Option<bool>,
    /// Columns that hold numbers.
    pub numeric: Vec<String>,
    /// Columns that hold dates.
    pub dates: Vec<String>,
    /// How they are written.
    pub date_format: Option<TimeFormat>,
    /// Columns with a few values, and the values; none if they are not public.
    pub categories: Vec<(String, Vec<String>)>,
}

impl Choices {
    /// The same with columns as the table spells them.
    pub(super) fn spelled(&self, columns: &[SchemaColumn]) -> Result<Self, ProposeError> {
        let all = |names: &[String], option: &'static str| -> Result<Vec<String>, ProposeError> {
            names.iter().map(|name| known(columns, name, option)).collect()
        };
        let mut spelled = self.clone();
        spelled.numeric = all(&self.numeric, "numeric")?;
        spelled.dates = all(&self.dates, "date")?;
        for (name, _) in &mut spelled.categories {
            *name = known(columns, name, "category")?;
        }
        if let Some(unit) = self.unit.as_ref().filter(|unit| *unit != "row") {
            spelled.unit = Some(known(columns, unit, "unit")?);
        }
        if let Some(both) = spelled.dates.iter().find(|name| spelled.numeric.contains(name)) {
            return Err(ProposeError::Options(format!(
                "`{both}` is named as a date and as a number: name it once"
            )));
        }
        Ok(spelled)
    }
}

/// What to declare of a table's columns: the bounds that were `bought`, what was said, and, if `ready`, what their names suggest where nothing
/// else has to be known for it.
pub(super) fn declared(
    columns: &[SchemaColumn],
    choices: &Choices,
    csv: Option<u8>,
    ready: bool,
    bought: &[Declared],
    note: Note<'_>,
) -> Vec<Declared> {
    let there = |name: &str| columns.iter().any(|(other, ..)| other == name);
    let mut declared: Vec<Declared> =
        bought.iter().filter(|column| there(&column.name)).cloned().collect();
    // Parquet files say themselves what their columns hold.
    let ready = ready && csv.is_some();
    let guesses = Kinds::of_names(columns);
    // Programs that separate cells by another sign than a comma often do so because numbers have one.
    let numbers_known = choices.decimal_comma.is_some() || csv == Some(b',');
    let (mut unread_dates, mut unread_numbers) = (Vec::new(), Vec::new());
    for (name, guess) in guesses.iter() {
        let said = choices.numeric.iter().chain(&choices.dates).any(|other| other == name)
            || choices.categories.iter().any(|(other, _)| other == name);
        let is_unit = choices.unit.as_deref() == Some(name);
        let known = declared.iter().any(|column| column.name == name);
        if said || known || is_unit || !ready || identifies(name) {
            continue;
        }
        match guess {
            ColumnKind::Date if choices.date_format.is_some() => {
                let column = entry(&mut declared, name);
                column.kind = Some(ColumnKind::Date);
                column.format.clone_from(&choices.date_format);
            }
            ColumnKind::Date => unread_dates.push(name),
            ColumnKind::Integer | ColumnKind::Real if numbers_known => {
                let column = entry(&mut declared, name);
                column.kind = Some(guess);
                column.bounds =
                    known_bounds(name).map(|(low, high)| (low.to_string(), high.to_string()));
            }
            ColumnKind::Integer | ColumnKind::Real => unread_numbers.push(name),
            _ => {}
        }
    }
    if !unread_dates.is_empty() {
        note(&format!(
            "note: read as text, though the names suggest dates: {}; to read them as dates, add \
             --date-format with how they are written, as in %d.%m.%Y",
            unread_dates.join(", ")
        ));
    }
    if !unread_numbers.is_empty() {
        note(&format!(
            "note: read as text, though the names suggest numbers: {}; to read them as numbers, add --decimal \
             with what separates decimals, `,` or `.`",
            unread_numbers.join(", ")
        ));
    }
    for name in &choices.numeric {
        let column = entry(&mut declared, name);
        // By the name, since whole numbers group better, and otherwise what reads both.
        let whole = guesses.get(name) == Some(ColumnKind::Integer) && ready;
        column.kind = Some(if whole { ColumnKind::Integer } else { ColumnKind::Real });
    }
    for name in &choices.dates {
        let column = entry(&mut declared, name);
        (column.bounds, column.note) = (None, None);
        let time = choices.date_format.as_ref().is_some_and(TimeFormat::has_time);
        column.kind = Some(if time { ColumnKind::Time } else { ColumnKind::Date });
        column.format.clone_from(&choices.date_format);
    }
    for (name, values) in &choices.categories {
        let column = entry(&mut declared, name);
        (column.bounds, column.note) = (None, None);
        column.kind = Some(ColumnKind::Text);
        column.values = values.iter().cloned().map(Value::Text).collect();
    }
    declared
}
