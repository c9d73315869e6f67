//! The few questions that a steward is asked: whose row it is, how much privacy, and what columns hold.

use super::choices::Choices;
use super::schema::{self, Kinds, known};
use super::{ProposeError, ProposeOptions};
use crate::policy::{ColumnKind, SchemaColumn, TimeFormat, units};
use demure_core::unit::Epsilon;
use std::io;

/// Asks a question, with the answer that an empty line stands for. `None` if there will be no answer.
pub type Ask<'a> = &'a mut dyn FnMut(&str, &str) -> io::Result<Option<String>>;

/// Dates as they are commonly written, by the number of the choice.
const FORMATS: [(&str, &str); 5] = [
    ("2024-12-31", "%Y-%m-%d"),
    ("31.12.2024", "%d.%m.%Y"),
    ("31/12/2024", "%d/%m/%Y"),
    ("12/31/2024", "%m/%d/%Y"),
    ("20241231", "%Y%m%d"),
];

/// Asks what the options do not say. Of the table, only names and types of columns are read.
pub fn interview(options: &ProposeOptions<'_>, ask: Ask<'_>) -> Result<Choices, ProposeError> {
    let table = schema::read(options.data, options.choices)?;
    let columns = &table.columns;
    let mut choices = options.choices.spelled(columns)?;
    let mut asking = Asking { ask, columns };
    let numbered: Vec<String> =
        columns.iter().enumerate().map(|(i, (name, ..))| format!("{} {name}", i + 1)).collect();
    let listed = format!(
        "{} has {} columns; nothing but their names is read.\n  {}\n",
        options.data.display(),
        columns.len(),
        numbered.join("   ")
    );
    if choices.unit.is_none() {
        let guess = units(columns).first().copied().unwrap_or("row").to_owned();
        let question = format!(
            "{listed}Whose row is it? The column (name or number) with the same value in all rows of one person, or \
             `row` if no two rows are about the same person"
        );
        choices.unit = Some(asking.until(&question, &guess, |asking, said| match said {
            "row" => Ok("row".to_owned()),
            said => asking.column(said),
        })?);
    }
    if choices.epsilon.is_none() && options.budget_is_new() {
        let question = "How much privacy? The ε of all answers together: 0.1 protects much, 1 is usual, 5 protects \
             little";
        choices.epsilon = Some(asking.until(question, "1", |_, said| {
            let number: f64 = said.parse().map_err(|_| "write a number, such as 1".to_owned())?;
            Epsilon::new(number).map_err(|error| error.to_string())
        })?);
    }
    if let Some(csv) = table.csv {
        asking.of_csv(&mut choices, csv)?;
    }
    asking.categories(&mut choices)?;
    Ok(choices)
}

struct Asking<'a, 'q> {
    ask: Ask<'q>,
    columns: &'a [SchemaColumn],
}

impl Asking<'_, '_> {
    /// Asks until the answer can be read.
    fn until<T>(
        &mut self,
        question: &str,
        default: &str,
        read: impl Fn(&Self, &str) -> Result<T, String>,
    ) -> Result<T, ProposeError> {
        let mut question = question.to_owned();
        loop {
            let said = (self.ask)(&question, default).map_err(ProposeError::io("asking"))?;
            let said = said.ok_or_else(|| {
                ProposeError::Options(
                    "a question was not answered; nothing was written\nhint: --yes asks nothing"
                        .to_owned(),
                )
            })?;
            let said = match said.trim() {
                "" => default,
                said => said,
            };
            match read(self, said) {
                Ok(found) => return Ok(found),
                Err(problem) => question = problem,
            }
        }
    }

    /// A column by its name or its number.
    fn column(&self, said: &str) -> Result<String, String> {
        let by_name = known(self.columns, said, "unit");
        let by_number =
            || said.parse::<usize>().ok().and_then(|n| self.columns.get(n.wrapping_sub(1)));
        match (by_name, by_number()) {
            (Ok(name), _) => Ok(name),
            (Err(_), Some((name, ..))) => Ok(name.clone()),
            (Err(_), None) => {
                Err(format!("`{said}` is not a column; write a name or a number of the list"))
            }
        }
    }

    /// Columns by names or numbers; `-` is none.
    fn some(&mut self, question: &str, guess: &[String]) -> Result<Vec<String>, ProposeError> {
        let default = if guess.is_empty() { "-".to_owned() } else { guess.join(", ") };
        self.until(question, &default, |asking, said| match said {
            "-" => Ok(Vec::new()),
            said => said.split(',').map(|one| asking.column(one.trim())).collect(),
        })
    }

    /// Dates and numbers, which a CSV file does not tell from texts.
    fn of_csv(&mut self, choices: &mut Choices, csv: u8) -> Result<(), ProposeError> {
        let guesses = Kinds::of_names(self.columns);
        let unit = choices.unit.clone().unwrap_or_default();
        let of = |kinds: &[ColumnKind]| -> Vec<String> {
            let fitting =
                guesses.iter().filter(|(name, kind)| kinds.contains(kind) && *name != unit);
            fitting.map(|(name, _)| name.to_owned()).collect()
        };
        if choices.dates.is_empty() {
            let question =
                "Which columns are dates? Names or numbers, separated by commas; - for none";
            choices.dates = self.some(question, &of(&[ColumnKind::Date]))?;
        }
        if choices.date_format.is_none() && !choices.dates.is_empty() {
            let known = FORMATS.iter().enumerate();
            let known: Vec<String> =
                known.map(|(i, (example, _))| format!("{} {example}", i + 1)).collect();
            let question = format!(
                "How are they written? {}, or a format such as %d %b %Y %H:%M",
                known.join("   ")
            );
            choices.date_format = Some(self.until(&question, "1", |_, said| {
                let number = said.parse::<usize>().ok();
                let chosen = number.and_then(|number| FORMATS.get(number.wrapping_sub(1)));
                let format = chosen.map_or(said, |(_, format)| format);
                TimeFormat::parse(format)
                    .map_err(|fault| format!("The format {fault}. How are they written?"))
            })?);
        }
        if choices.numeric.is_empty() {
            let question =
                "Which columns are numbers? Names or numbers, separated by commas; - for none";
            let guess: Vec<String> = of(&[ColumnKind::Integer, ColumnKind::Real])
                .into_iter()
                .filter(|name| !choices.dates.contains(name))
                .collect();
            choices.numeric = self.some(question, &guess)?;
        }
        if choices.decimal_comma.is_none() && !choices.numeric.is_empty() && csv != b',' {
            let question = "What separates decimals: `.` as in 1.5, or `,` as in 1,5?";
            choices.decimal_comma = Some(self.until(question, ".", |_, said| match said {
                "." => Ok(false),
                "," => Ok(true),
                _ => Err("Write `.` or `,`".to_owned()),
            })?);
        }
        Ok(())
    }

    /// Columns to group by, and their values, if everybody may know them.
    fn categories(&mut self, choices: &mut Choices) -> Result<(), ProposeError> {
        if !choices.categories.is_empty() {
            return Ok(());
        }
        let question = "Which columns are categories whose values everybody may know? Names or numbers, separated by \
             commas; - for none";
        for name in self.some(question, &[])? {
            let question = format!(
                "Every value that {name} can have, separated by commas. They must come from what is known about the \
                 world, not from the data; - if they may not be known"
            );
            let values = self.until(&question, "-", |_, said| match said {
                "-" => Ok(Vec::new()),
                said => {
                    let values: Vec<String> =
                        said.split(',').map(|value| value.trim().to_owned()).collect();
                    let twice =
                        values.iter().enumerate().find(|(i, value)| values[..*i].contains(value));
                    match twice {
                        Some((_, value)) => {
                            Err(format!("`{value}` is there twice; write each once"))
                        }
                        None => Ok(values),
                    }
                }
            })?;
            choices.categories.push((name, values));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
