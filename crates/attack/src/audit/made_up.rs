//! Made-up rows of a known shape. An audit asks the same question thousands of times; on these rows its
//! answers are about nobody.

use super::neighbour::Table;

/// What a made-up column holds.
#[derive(Clone, Debug, PartialEq)]
pub enum Values {
    /// Whose row it is: some people have one row, some two, some three.
    Person,
    /// The number of the row, from 1.
    RowNumber,
    /// A value of a column of another table with this many rows: [`Values::Person`] or [`Values::RowNumber`].
    Of(Box<Values>, usize),
    /// One of a list.
    Listed(Vec<String>),
    /// Whole numbers between two.
    Whole(f64, f64),
    /// Real numbers between two.
    Real(f64, f64),
    /// Texts: numerals, so that a cast finds a number.
    Text,
    /// `true` and `false`.
    Boolean,
    /// Days of one year.
    Date,
    /// Times of one year.
    Time,
}

/// One column: its name, what it holds, and whether some of its rows have no value.
#[derive(Clone, Debug, PartialEq)]
pub struct Column {
    /// Its name.
    pub name: String,
    /// What it holds.
    pub values: Values,
    /// Whether a value can be missing.
    pub nullable: bool,
}

/// A table of so many rows. The first row has the least of all numbers and the second the largest; the
/// others are spread between them. The same shape gives the same rows.
#[must_use]
pub fn table(columns: &[Column], rows: usize) -> Table {
    let cell = |(at, column): (usize, &Column), row: usize| {
        // Every eleventh row, in each column another.
        match column.nullable && row % 11 == 3 + at % 8 {
            true => String::new(),
            false => column.values.at(row, at),
        }
    };
    Table {
        header: columns.iter().map(|column| column.name.clone()).collect(),
        rows: (0..rows)
            .map(|row| columns.iter().enumerate().map(|column| cell(column, row)).collect())
            .collect(),
    }
}

impl Values {
    /// The value of a row, in the column of this place.
    fn at(&self, row: usize, column: usize) -> String {
        let share = spread(row, column);
        // Which of n; the first two rows have the first and the last.
        let of = |n: usize| ((share * n as f64) as usize).min(n.saturating_sub(1));
        match self {
            Self::Person => person(row).to_string(),
            Self::RowNumber => (row + 1).to_string(),
            Self::Of(other, rows) => other.at(of(*rows), column),
            Self::Listed(values) => values.get(of(values.len())).cloned().unwrap_or_default(),
            Self::Whole(low, high) => {
                let (low, high) = (low.ceil(), high.floor().max(low.ceil()));
                format!("{:.0}", (low + share * (high - low)).round())
            }
            Self::Real(low, high) => (low + share * (high - low)).clamp(*low, *high).to_string(),
            Self::Text => of(100).to_string(),
            Self::Boolean => (of(2) == 1).to_string(),
            Self::Date => day(of(336)),
            Self::Time => {
                let minutes = of(24 * 60);
                format!("{}T{:02}:{:02}:00", day(of(336)), minutes / 60, minutes % 60)
            }
        }
    }
}

/// A number from 0 to 1: 0 for the first row, 1 for the second, evenly spread after them.
fn spread(row: usize, column: usize) -> f64 {
    match row {
        0 => 0.0,
        1 => 1.0,
        _ => (row as f64 * 0.618_033_988_749_895 + column as f64 * 0.414_213_562_373_095).fract(),
    }
}

/// Persons 1, 2 and 3 have one, two and three rows; so have the next three.
fn person(row: usize) -> usize {
    let (six, of_six) = (row / 6, row % 6);
    1 + 3 * six + [0, 1, 1, 2, 2, 2][of_six]
}

/// A day of 2020, from the first 28 of each month.
fn day(n: usize) -> String {
    format!("2020-{:02}-{:02}", 1 + n / 28 % 12, 1 + n % 28)
}

#[cfg(test)]
mod tests;
