//! The tables, and the part their columns play.

use super::{Hierarchies, Method, Mistake};
use crate::error::{Error, Result};
use crate::hierarchy::Hierarchy;
use crate::population::Population;
use crate::recoding::Attribute;
use crate::search::Quasi;
use crate::table::{Builder, Column, TABLE, Table};
use demure_files::parquet::{Cells, Texts};
use std::path::{Path, PathBuf};

/// How tables are read, and the part their columns play.
#[derive(Clone, Debug)]
pub struct Source {
    /// The quasi-identifiers: columns that an observer may know of a person.
    pub quasi: Vec<String>,
    /// The sensitive columns: what an observer must not learn.
    pub sensitive: Vec<String>,
    /// What separates the columns of CSV.
    pub delimiter: u8,
    /// How columns become coarser: `column=how`, as [`Hierarchies`] reads it.
    pub hierarchies: Vec<String>,
    /// How values of sensitive columns are ordered: `column=a,b,c`, or `number`, `text`, `appearance`.
    pub orders: Vec<String>,
    /// The people the table is a sample of, as a table with the same quasi-identifiers.
    pub population: Option<PathBuf>,
}

impl Default for Source {
    /// No columns, and commas between them.
    fn default() -> Self {
        Self {
            quasi: Vec::new(),
            sensitive: Vec::new(),
            delimiter: b',',
            hierarchies: Vec::new(),
            orders: Vec::new(),
            population: None,
        }
    }
}

impl Source {
    /// Reads a file, or `-`, of which the columns named here and those in `keep` are of use.
    pub fn read(&self, path: &Path, keep: &[String]) -> Result<Table> {
        let named: Vec<String> =
            self.quasi.iter().chain(&self.sensitive).chain(keep).cloned().collect();
        read_table(path, self.delimiter, &named)
    }

    /// Reads the population, if there is one, and lets the table's columns know its values.
    pub fn read_population(&self, table: &mut Table) -> Result<Option<Population>> {
        let Some(path) = &self.population else { return Ok(None) };
        Ok(Some(Population::join(table, &self.quasi, &self.read(path, &[])?)?))
    }

    /// The positions of the quasi-identifiers and of the sensitive columns.
    pub fn positions(&self, table: &Table) -> Result<(Vec<usize>, Vec<usize>)> {
        let find = |names: &[String]| -> Result<Vec<usize>> {
            let found = names.iter().map(|name| table.position(name)).collect::<Result<_>>();
            found.map_err(|error| match table.columns.as_slice() {
                [only] if only.name.contains([';', '\t', '|', ',', ':']) => {
                    Mistake::OneColumn { missing: Box::new(error) }.into()
                }
                _ => error,
            })
        };
        let (quasi, sensitive) = (find(&self.quasi)?, find(&self.sensitive)?);
        if quasi.is_empty() {
            return Err(Mistake::NoQuasi.into());
        }
        if let Some(both) = sensitive.iter().find(|at| quasi.contains(at)) {
            let column = table.columns.get(*both).map_or("", |column| column.name.as_str());
            return Err(Mistake::InBoth { column: column.to_owned() }.into());
        }
        Ok((quasi, sensitive))
    }
}

/// Reads a file, or `-`, which must have rows: Parquet if it begins so, else CSV. Of Parquet the
/// `named` columns must be of a type that can be read.
pub fn read_table(path: &Path, delimiter: u8, named: &[String]) -> Result<Table> {
    let table = match demure_files::Source::open(path)? {
        demure_files::Source::Text(input) => {
            Table::from_csv(input, delimiter).map_err(|error| of_file(error, path))?
        }
        demure_files::Source::Parquet(file) => {
            let texts = Texts::open(file, path, named)?;
            let mut builder = Builder::new(texts.names().iter().cloned())?;
            texts.read(&mut builder)?;
            builder.finish()?
        }
    };
    if table.rows == 0 {
        return Err(Mistake::NoRows { path: path.display().to_string() }.into());
    }
    Ok(table)
}

/// The same error with the name of the file: there may be several tables.
fn of_file(error: Error, path: &Path) -> Error {
    match error {
        Error::Malformed { what, line, why } if what == TABLE => {
            let what = match path.as_os_str() == "-" {
                true => "standard input".to_owned(),
                false => path.display().to_string(),
            };
            Error::Malformed { what, line, why }
        }
        error => error,
    }
}

impl Cells for Builder {
    fn code(&mut self, column: usize, text: &str) -> u32 {
        Self::code(self, column, text)
    }

    fn push(&mut self, column: usize, code: u32) {
        Self::push(self, column, code);
    }
}

/// Which columns an observer knows, and which they must not learn.
pub struct Columns<'a> {
    /// The table they are of.
    pub table: &'a Table,
    /// The quasi-identifiers with their hierarchies.
    pub quasi: Vec<Quasi>,
    /// Whether a hierarchy was given, for each of them.
    given: Vec<bool>,
    /// The positions of the sensitive columns.
    pub sensitive: Vec<usize>,
    /// The people the table is a sample of.
    pub population: Option<Population>,
}

impl<'a> Columns<'a> {
    /// Finds the columns that were named.
    pub fn new(source: &Source, table: &'a Table, population: Option<Population>) -> Result<Self> {
        let (quasi, sensitive) = source.positions(table)?;
        let hierarchies = Hierarchies::new(&source.hierarchies, table)?;
        let mut found = Self { table, quasi: Vec::new(), given: Vec::new(), sensitive, population };
        for column in quasi {
            let Some(texts) = table.columns.get(column) else { continue };
            let given = hierarchies.given(texts).map_err(of_population)?;
            found.given.push(given.is_some());
            let hierarchy = given.unwrap_or_else(|| Hierarchy::suppress(texts));
            found.quasi.push(Quasi { column, hierarchy });
        }
        Ok(found)
    }

    /// The sensitive columns themselves.
    #[must_use]
    pub fn sensitive(&self) -> Vec<&'a Column> {
        self.sensitive.iter().filter_map(|at| self.table.columns.get(*at)).collect()
    }

    /// Their names.
    #[must_use]
    pub fn names(&self) -> Vec<String> {
        self.sensitive().iter().map(|column| column.name.clone()).collect()
    }

    /// The positions of the columns that are published, in the table's order: the
    /// quasi-identifiers, the sensitive ones and those in `keep`.
    pub fn shown(&self, keep: &[String]) -> Result<Vec<usize>> {
        let mut shown: Vec<usize> = self.quasi.iter().map(|quasi| quasi.column).collect();
        shown.extend(&self.sensitive);
        for name in keep {
            shown.push(self.table.position(name)?);
        }
        shown.sort_unstable();
        shown.dedup();
        Ok(shown)
    }

    /// The quasi-identifiers as recodings take them. A column of numbers without a hierarchy
    /// becomes ranges, except where every column has one level.
    pub fn attributes(&self, method: Method) -> Result<Vec<Attribute<'_>>> {
        let mut found = Vec::new();
        for (quasi, given) in self.quasi.iter().zip(&self.given) {
            let Some(column) = self.table.columns.get(quasi.column) else { continue };
            let numeric = match method != Method::Optimal && !given {
                true => Attribute::numeric(column).ok(),
                false => None,
            };
            found.push(match numeric {
                Some(attribute) => attribute,
                None => Attribute::hierarchy(column, &quasi.hierarchy)?,
            });
        }
        Ok(found)
    }
}

/// What a hierarchy lacks though no row of the table has it is the population's.
fn of_population(error: Error) -> Error {
    match error {
        Error::NotInHierarchy { column, rows: 0, values } => {
            Mistake::PopulationNotInHierarchy { column, values }.into()
        }
        error => error,
    }
}
