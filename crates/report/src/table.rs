//! Tables of texts. A value and its error share a column: `value ± half`.

use crate::page::{self, escape};
use crate::{WriteError, padded, printable, width};
use std::io::Write;

/// A table.
#[derive(Clone, Default)]
pub struct Table {
    /// The title above it; may be empty.
    pub title: String,
    /// The columns, all of the same length.
    pub columns: Vec<Column>,
}

/// A named column.
#[derive(Clone, Default)]
pub struct Column {
    /// Its heading.
    pub name: String,
    /// One cell per row.
    pub cells: Vec<Cell>,
    /// Whether the cells are aligned to the right.
    pub numeric: bool,
}

/// A value as it is shown.
#[derive(Clone, Default)]
pub struct Cell {
    /// The value, rounded to meaningful digits.
    pub text: String,
    /// The half-width of its interval, if it has one.
    pub half: Option<String>,
    /// The value as a number, for a chart.
    pub number: Option<f64>,
    /// The half-width of its interval as a number.
    pub error: Option<f64>,
}

impl Table {
    /// A table of texts, row by row.
    #[must_use]
    pub fn of_texts(names: &[&str], rows: impl IntoIterator<Item = Vec<String>>) -> Self {
        let column = |name: &&str| Column { name: (*name).to_owned(), ..Column::default() };
        let mut columns: Vec<Column> = names.iter().map(column).collect();
        for row in rows {
            for (column, text) in columns.iter_mut().zip(row) {
                column.cells.push(Cell { text: printable(&text), ..Cell::default() });
            }
        }
        Self { title: String::new(), columns }
    }

    /// The same with a title.
    #[must_use]
    pub fn titled(self, title: impl Into<String>) -> Self {
        Self { title: title.into(), ..self }
    }

    /// The same with the columns from `first` on aligned to the right.
    #[must_use]
    pub fn numbers_from(mut self, first: usize) -> Self {
        self.columns.iter_mut().skip(first).for_each(|column| column.numeric = true);
        self
    }

    fn rows(&self) -> usize {
        self.columns.first().map_or(0, |column| column.cells.len())
    }

    /// A heading, a rule and the rows, each with `indent` before it.
    #[must_use]
    pub fn text(&self, indent: &str) -> String {
        let shown: Vec<Vec<String>> = self.columns.iter().map(Column::aligned).collect();
        let mut text = String::new();
        for row in 0..self.rows() + 2 {
            let cells: Vec<&str> =
                shown.iter().filter_map(|column| column.get(row)).map(String::as_str).collect();
            text += format!("{indent}{}", cells.join("  ")).trim_end();
            text.push('\n');
        }
        if self.rows() == 0 {
            text += &format!("{indent}(no rows)\n");
        }
        text
    }

    /// Writes [`text`](Self::text).
    pub fn print(&self, indent: &str, out: &mut impl Write) -> Result<(), WriteError> {
        Ok(out.write_all(self.text(indent).as_bytes())?)
    }

    /// The table in HTML, without its title.
    #[must_use]
    pub fn html(&self) -> String {
        let head: Vec<&str> = self.columns.iter().map(|column| column.name.as_str()).collect();
        let cell = |cell: &Cell| match &cell.half {
            Some(half) => escape(&format!("{} ± {half}", cell.text)),
            None => escape(&cell.text),
        };
        let row = |at: usize| -> Vec<String> {
            self.columns.iter().filter_map(|column| column.cells.get(at)).map(cell).collect()
        };
        let rows: Vec<Vec<String>> = (0..self.rows()).map(row).collect();
        let numbers = self.columns.iter().position(|column| column.numeric);
        page::table(&head, &rows, numbers.unwrap_or(head.len()))
    }
}

impl Column {
    /// The name, a rule and the cells, padded to the same width.
    fn aligned(&self) -> Vec<String> {
        let values = self.cells.iter().map(|cell| width(&cell.text)).max().unwrap_or(0);
        let halves = self.cells.iter().filter_map(|c| c.half.as_deref()).map(width).max();
        let cell = |cell: &Cell| match (halves, &cell.half) {
            (None, _) => cell.text.clone(),
            (Some(halves), Some(half)) => {
                format!("{} ± {}", padded(&cell.text, values, true), padded(half, halves, true))
            }
            (Some(halves), None) => padded(&cell.text, values, true) + &" ".repeat(halves + 3),
        };
        let cells: Vec<String> = self.cells.iter().map(cell).collect();
        let most = cells.iter().map(|text| width(text)).max().unwrap_or(0).max(width(&self.name));
        let heading = [padded(&self.name, most, self.numeric), "─".repeat(most)];
        heading.into_iter().chain(cells.iter().map(|c| padded(c, most, self.numeric))).collect()
    }
}

#[cfg(test)]
mod tests;
