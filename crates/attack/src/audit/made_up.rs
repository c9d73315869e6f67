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
mod tests {
    use super::*;

    fn column(values: Values) -> Vec<String> {
        let column = Column { name: "x".to_owned(), values, nullable: false };
        table(&[column], 60).rows.into_iter().flatten().collect()
    }

    #[test]
    fn numbers_reach_their_bounds_and_stay_within() {
        for (values, least, most) in [
            (Values::Whole(-3.5, 7.2), -3.0, 7.0),
            (Values::Real(0.25, 0.75), 0.25, 0.75),
            (Values::Whole(5.0, 5.0), 5.0, 5.0),
        ] {
            let cells = column(values);
            let numbers: Vec<f64> = cells.iter().map(|cell| cell.parse().unwrap()).collect();
            assert_eq!((numbers[0], numbers[1]), (least, most));
            assert!(numbers.iter().all(|x| (least..=most).contains(x)));
        }
    }

    #[test]
    fn every_listed_value_occurs_and_nothing_else() {
        let list = ["u", "v", "w"].map(str::to_owned).to_vec();
        let cells = column(Values::Listed(list.clone()));
        assert!(list.iter().all(|value| cells.contains(value)));
        assert!(cells.iter().all(|cell| list.contains(cell)));
        assert!(["true", "false"].iter().all(|b| column(Values::Boolean).iter().any(|x| x == b)));
    }

    #[test]
    fn people_have_one_to_three_rows_and_references_are_found() {
        let people = column(Values::Person);
        let rows = |id: &str| people.iter().filter(|person| *person == id).count();
        assert_eq!(["1", "2", "3", "4"].map(rows), [1, 2, 3, 1]);
        let found = column(Values::Of(Box::new(Values::Person), 60));
        assert!(found.iter().all(|id| people.contains(id)));
    }

    #[test]
    fn days_are_days() {
        for cell in column(Values::Date) {
            let parts: Vec<usize> = cell.split('-').map(|part| part.parse().unwrap()).collect();
            assert!(
                parts[0] == 2020 && (1..=12).contains(&parts[1]) && (1..=28).contains(&parts[2])
            );
        }
        assert!(column(Values::Time).iter().all(|time| time.len() == "2020-01-01T00:00:00".len()));
    }
}
