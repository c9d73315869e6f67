//! Rows that people see as a table and programs as a list of objects, by one description of their columns.

use crate::printable;
use crate::table::{Cell, Column, Table};
use serde_json::{Map, Value};

/// Rows on their way into a table and into JSON.
pub struct Records<'a, T> {
    rows: &'a [T],
    columns: Vec<Column>,
    objects: Vec<Map<String, Value>>,
}

impl<'a, T> Records<'a, T> {
    /// Rows without a column yet.
    #[must_use]
    pub fn of(rows: &'a [T]) -> Self {
        Self { rows, columns: Vec::new(), objects: rows.iter().map(|_| Map::new()).collect() }
    }

    /// A number that people see under a heading and programs by a name. What is not a number is `null` to programs.
    #[must_use]
    pub fn number(
        self,
        heading: &str,
        name: &str,
        number: impl Fn(&T) -> f64,
        text: impl Fn(f64) -> String,
    ) -> Self {
        self.shown(heading, |row| text(number(row))).named(name, &number)
    }

    /// A column of the table alone.
    #[must_use]
    pub fn shown(mut self, heading: &str, text: impl Fn(&T) -> String) -> Self {
        let cell = |row: &T| Cell { text: printable(&text(row)), ..Cell::default() };
        let cells = self.rows.iter().map(cell).collect();
        self.columns.push(Column { name: heading.to_owned(), cells, numeric: false });
        self
    }

    /// A field of the objects alone.
    #[must_use]
    pub fn named<V: Into<Value>>(mut self, name: &str, value: impl Fn(&T) -> V) -> Self {
        for (object, row) in self.objects.iter_mut().zip(self.rows) {
            object.insert(name.to_owned(), value(row).into());
        }
        self
    }

    /// The table, with the columns from `numbers` on aligned to the right; and the objects.
    #[must_use]
    pub fn finish(self, title: impl Into<String>, numbers: usize) -> (Table, Vec<Value>) {
        let table = Table { title: title.into(), columns: self.columns }.numbers_from(numbers);
        (table, self.objects.into_iter().map(Value::Object).collect())
    }
}

#[cfg(test)]
mod tests;
