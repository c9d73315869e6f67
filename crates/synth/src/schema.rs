//! The public description of a table: its columns, and which codes each may hold.

use crate::error::{Error, Result};
use std::collections::HashSet;

/// The largest number of codes of a column: codes are 16 bits wide.
pub const MOST_CODES: usize = 1 << 16;
/// The largest number of columns.
pub const MOST_COLUMNS: usize = 1000;

/// One column: a name and a public domain of codes `0, 1, …`.
///
/// The domain must be chosen without looking at protected rows. What a code stands for is the caller's to know.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Column {
    name: String,
    codes: usize,
    ordered: bool,
    null: bool,
}

impl Column {
    /// A column whose codes have no order.
    pub fn categorical(name: impl Into<String>, codes: usize) -> Result<Self> {
        Self::new(name.into(), codes, false)
    }

    /// A column whose codes are in order, such as bins of a number: neighbouring codes may be merged.
    pub fn ordered(name: impl Into<String>, codes: usize) -> Result<Self> {
        Self::new(name.into(), codes, true)
    }

    fn new(name: String, codes: usize, ordered: bool) -> Result<Self> {
        if (1..=MOST_CODES).contains(&codes) {
            Ok(Self { name, codes, ordered, null: false })
        } else {
            Err(Error::OutOfRange {
                parameter: "the number of codes of a column",
                allowed: "between 1 and 65536",
            })
        }
    }

    /// The same column, in which code 0 stands for NULL. It is never merged with the codes of numbers.
    #[must_use]
    pub fn nullable(self) -> Self {
        Self { null: true, ..self }
    }

    /// The name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// How many codes there are, NULL included.
    #[must_use]
    pub fn codes(&self) -> usize {
        self.codes
    }

    /// Whether the codes are in order.
    #[must_use]
    pub fn is_ordered(&self) -> bool {
        self.ordered
    }

    /// Whether code 0 stands for NULL.
    #[must_use]
    pub fn is_nullable(&self) -> bool {
        self.null
    }

    /// How many first codes stand apart from the order.
    pub(crate) fn apart(&self) -> usize {
        usize::from(self.null)
    }
}

/// The columns of a table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Schema {
    columns: Vec<Column>,
}

impl Schema {
    /// A table of these columns: at least one, at most [`MOST_COLUMNS`], with different names.
    pub fn new(columns: Vec<Column>) -> Result<Self> {
        if !(1..=MOST_COLUMNS).contains(&columns.len()) {
            return Err(Error::OutOfRange {
                parameter: "the number of columns",
                allowed: "between 1 and 1000",
            });
        }
        let mut seen = HashSet::new();
        if let Some(twice) = columns.iter().find(|column| !seen.insert(column.name.as_str())) {
            return Err(Error::SameName { name: twice.name.clone() });
        }
        Ok(Self { columns })
    }

    /// The columns.
    #[must_use]
    pub fn columns(&self) -> &[Column] {
        &self.columns
    }

    /// How many columns there are.
    pub(crate) fn width(&self) -> usize {
        self.columns.len()
    }

    /// The position of the column named `name`.
    pub fn position(&self, name: &str) -> Result<usize> {
        self.columns.iter().position(|column| column.name == name).ok_or_else(|| Error::NoColumn {
            name: name.to_owned(),
            known: self.columns.iter().map(Column::name).collect::<Vec<_>>().join(", "),
        })
    }

    /// The column at `position`, or an error that says that there is none.
    pub(crate) fn column(&self, position: usize) -> Result<&Column> {
        self.columns.get(position).ok_or(Error::OutOfRange {
            parameter: "the position of a column",
            allowed: "less than the number of columns",
        })
    }

    /// Which codes of the column at `position` are among `codes`.
    pub(crate) fn mask(&self, position: usize, codes: &[usize]) -> Result<Vec<bool>> {
        let column = self.column(position)?;
        let mut mask = vec![false; column.codes];
        for &code in codes {
            *mask.get_mut(code).ok_or_else(|| Error::NoCode {
                column: column.name.clone(),
                last: column.codes - 1,
                code,
            })? = true;
        }
        Ok(mask)
    }
}
