//! An answer as aligned text. A noised column and the ends of its interval are one column
//! here: `value ± half`, both rounded to the digits that mean something.

use crate::Failure;
use crate::report::{grouped, short};
use datafusion::arrow::array::{Array, ArrayRef, AsArray};
use datafusion::arrow::compute::cast;
use datafusion::arrow::datatypes::{DataType, Float64Type};
use datafusion::arrow::error::ArrowError;
use datafusion::arrow::util::display::{ArrayFormatter, FormatOptions};
use demure_curator::Answer;
use std::io::Write;

/// From it on, thousands are set apart: 2024 may be a year, 20,240 is a count.
const LONG: f64 = 10_000.0;

/// A table of texts.
pub(crate) struct Table {
    pub(crate) columns: Vec<Column>,
}

/// One column: its name, its cells, and whether they are numbers.
pub(crate) struct Column {
    pub(crate) name: String,
    pub(crate) cells: Vec<Cell>,
    numeric: bool,
}

/// What is shown of a value.
pub(crate) struct Cell {
    /// The value, in digits that mean something.
    pub(crate) text: String,
    /// Half of its 95 % interval, if it has one.
    pub(crate) half: Option<String>,
    /// Both as numbers, for a chart.
    pub(crate) number: Option<f64>,
    pub(crate) error: Option<f64>,
}

impl Table {
    /// The rows of an answer. `intervals`: `x`, `x_low`, `x_high` are shown as one.
    pub(crate) fn of(answer: &Answer, intervals: bool) -> Result<Self, Failure> {
        let failed = |error: ArrowError| Failure::usage(format!("showing the answer: {error}"));
        let fields = answer.schema.fields();
        let name = |at: usize| fields.get(at).map(|field| field.name().as_str());
        let mut columns = Vec::new();
        let mut at = 0;
        while let Some(this) = name(at) {
            let ends = intervals
                && name(at + 1) == Some(&format!("{this}_low"))
                && name(at + 2) == Some(&format!("{this}_high"));
            let mut column = Column {
                name: printable(this),
                cells: Vec::new(),
                numeric: fields[at].data_type().is_numeric(),
            };
            for batch in &answer.batches {
                let high = if ends { Some(batch.column(at + 2)) } else { None };
                cells(batch.column(at), high, &mut column.cells).map_err(failed)?;
            }
            columns.push(column);
            at += if ends { 3 } else { 1 };
        }
        Ok(Self { columns })
    }

    /// A table of texts, row by row.
    pub(crate) fn of_texts(names: &[&str], rows: impl Iterator<Item = Vec<String>>) -> Self {
        let column =
            |name: &&str| Column { name: (*name).to_owned(), cells: Vec::new(), numeric: false };
        let mut columns: Vec<Column> = names.iter().map(column).collect();
        for row in rows {
            for (column, text) in columns.iter_mut().zip(row) {
                let text = printable(&text);
                column.cells.push(Cell { text, half: None, number: None, error: None });
            }
        }
        Self { columns }
    }

    fn rows(&self) -> usize {
        self.columns.first().map_or(0, |column| column.cells.len())
    }

    /// Writes a heading, a rule and the rows.
    pub(crate) fn print(&self, indent: &str, out: &mut impl Write) -> Result<(), Failure> {
        let shown: Vec<Vec<String>> = self.columns.iter().map(Column::aligned).collect();
        for row in 0..self.rows() + 2 {
            let cells: Vec<&str> =
                shown.iter().filter_map(|column| column.get(row)).map(String::as_str).collect();
            writeln!(out, "{indent}{}", cells.join("  ").trim_end()).map_err(Failure::writing)?;
        }
        if self.rows() == 0 {
            writeln!(out, "{indent}(no rows)").map_err(Failure::writing)?;
        }
        Ok(())
    }
}

impl Column {
    /// The name, a rule and the cells, all of one width.
    fn aligned(&self) -> Vec<String> {
        let width = |text: &String| text.chars().count();
        let values = self.cells.iter().map(|cell| width(&cell.text)).max().unwrap_or(0);
        let halves = self.cells.iter().filter_map(|c| c.half.as_ref()).map(width).max();
        let cells: Vec<String> = self
            .cells
            .iter()
            .map(|cell| match (halves, &cell.half) {
                (None, _) if !self.numeric => cell.text.clone(),
                (None, _) => format!("{:>values$}", cell.text),
                (Some(halves), Some(half)) => format!("{:>values$} ± {half:>halves$}", cell.text),
                (Some(halves), None) => format!("{:>values$}   {:halves$}", cell.text, ""),
            })
            .collect();
        let most = cells.iter().map(width).max().unwrap_or(0).max(width(&self.name));
        let set = |text: &String| match self.numeric {
            true => format!("{text:>most$}"),
            false => format!("{text:most$}"),
        };
        let heading = [set(&self.name), "─".repeat(most)];
        heading.into_iter().chain(cells.iter().map(set)).collect()
    }
}

fn cells(
    values: &ArrayRef,
    high: Option<&ArrayRef>,
    into: &mut Vec<Cell>,
) -> Result<(), ArrowError> {
    let options = FormatOptions::default().with_null("NULL");
    let formatter = ArrayFormatter::try_new(values, &options)?;
    let numeric = values.data_type().is_numeric();
    let whole = values.data_type().is_integer();
    let numbers = if numeric { Some(cast(values, &DataType::Float64)?) } else { None };
    for row in 0..values.len() {
        let at = |array: &ArrayRef| {
            let array = array.as_primitive_opt::<Float64Type>()?;
            array.is_valid(row).then(|| array.value(row))
        };
        let number = numbers.as_ref().and_then(at);
        let error = number.and_then(|x| Some((high.and_then(at)? - x).abs()));
        let error = error.filter(|error| error.is_finite());
        let (text, half) = match (number, error) {
            (Some(x), Some(error)) => {
                let digits = if whole { 0 } else { digits(error) };
                let half = if whole { error.ceil() } else { error };
                (apart(&fixed(x, digits)), Some(apart(&fixed(half, digits))))
            }
            (Some(x), None) if !whole => (apart(&short(x)), None),
            (Some(x), None) if x.abs() >= LONG && x.abs() < 1e15 => (grouped(x), None),
            _ => (printable(&formatter.value(row).to_string()), None),
        };
        into.push(Cell { text, half, number, error });
    }
    Ok(())
}

/// So many decimals that the error has two digits.
fn digits(error: f64) -> usize {
    match error > 0.0 {
        true => (1.0 - error.log10().floor()).clamp(0.0, 9.0) as usize,
        false => 6,
    }
}

fn fixed(x: f64, digits: usize) -> String {
    format!("{x:.digits$}")
}

/// Thousands set apart in a number that is long.
fn apart(text: &str) -> String {
    let (sign, rest) = text.strip_prefix('-').map_or(("", text), |rest| ("-", rest));
    let (whole, fraction) = rest.split_at(rest.find(['.', 'e']).unwrap_or(rest.len()));
    if whole.len() < 5 || !whole.bytes().all(|byte| byte.is_ascii_digit()) {
        return text.to_owned();
    }
    let digits: Vec<char> = whole.chars().collect();
    let groups: Vec<String> = digits.rchunks(3).rev().map(|group| group.iter().collect()).collect();
    format!("{sign}{}{fraction}", groups.join(","))
}

/// On one line, and without what a terminal would obey.
pub(crate) fn printable(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { '\u{FFFD}' } else { c }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_have_the_digits_that_mean_something() {
        for (x, error, text) in [
            (1234.567, 0.321, "1234.57 ± 0.32"),
            (1234.567, 32.1, "1235 ± 32"),
            (-54321.0, 3210.4, "-54,321 ± 3210"),
            (0.000_123, 0.000_045, "0.000123 ± 0.000045"),
            (2.0, 0.0, "2.000000 ± 0.000000"),
        ] {
            let digits = digits(error);
            let shown = format!("{} ± {}", apart(&fixed(x, digits)), apart(&fixed(error, digits)));
            assert_eq!(shown, text);
        }
        assert_eq!(apart("1.000e15"), "1.000e15");
        assert_eq!(apart("9999"), "9999");
        assert_eq!(printable("a\u{1b}[2Jb\nc"), "a\u{FFFD}[2Jb\u{FFFD}c");
    }
}
