//! The table, and the part its columns play.

use super::hierarchies::Hierarchies;
use super::options::{self, Method};
use crate::Failure;
use crate::input::Words;
use demure_anonymize::Error;
use demure_anonymize::hierarchy::Hierarchy;
use demure_anonymize::population::Population;
use demure_anonymize::recoding::Attribute;
use demure_anonymize::search::Quasi;
use demure_anonymize::table::{Builder, Column, Table};
use demure_files::Source;
use demure_files::parquet::{Cells, Texts};
use std::path::Path;

/// Reads the table, of which the columns in `keep` are of use besides.
pub(super) fn read(source: &options::Source, keep: Option<&Words>) -> Result<Table, Failure> {
    let path = source.file.as_ref().ok_or_else(|| {
        Failure::usage("no table: give a CSV or Parquet file, or `input = \"…\"` in the job file")
    })?;
    read_file(path, source, keep)
}

/// Reads a file, or `-`, of which the columns that `source` names and those in `keep` are of use.
pub(super) fn read_file(
    path: &Path,
    source: &options::Source,
    keep: Option<&Words>,
) -> Result<Table, Failure> {
    let words = [&source.qi, &source.sensitive].into_iter().flatten().chain(keep);
    let named: Vec<String> = words.flat_map(|w| w.0.clone()).collect();
    read_table(path, source.delimiter, &named)
}

/// Reads a file, or `-`, which must have rows: Parquet if it begins so, else CSV. Of Parquet the
/// `named` columns must be of a type that can be read.
pub(crate) fn read_table(path: &Path, delimiter: u8, named: &[String]) -> Result<Table, Failure> {
    let table = match Source::open(path)? {
        Source::Text(input) => Table::from_csv(input, delimiter)?,
        Source::Parquet(file) => {
            let texts = Texts::open(file, path, named)?;
            let mut builder = Filled(Builder::new(texts.names().iter().cloned())?);
            texts.read(&mut builder)?;
            builder.0.finish()?
        }
    };
    if table.rows == 0 {
        return Err(Failure::usage(format!("{} has no rows", path.display())));
    }
    Ok(table)
}

/// Cells on their way into a table.
struct Filled(Builder);

impl Cells for Filled {
    fn code(&mut self, column: usize, text: &str) -> u32 {
        self.0.code(column, text)
    }

    fn push(&mut self, column: usize, code: u32) {
        self.0.push(column, code);
    }
}

/// Reads the population, if one was given, and lets the table's columns know its values.
pub(super) fn population(
    source: &options::Source,
    table: &mut Table,
) -> Result<Option<Population>, Failure> {
    let Some(path) = &source.population else { return Ok(None) };
    let people = read_file(path, source, None)?;
    let names = source.qi.as_ref().map_or(&[][..], |words| words.0.as_slice());
    Ok(Some(Population::join(table, names, &people)?))
}

/// Which columns an observer knows, and which they must not learn.
pub(super) struct Columns<'a> {
    /// The table they are of.
    pub(super) table: &'a Table,
    /// The quasi-identifiers with their hierarchies.
    pub(super) quasi: Vec<Quasi>,
    /// Whether a hierarchy was given, for each of them.
    pub(super) given: Vec<bool>,
    /// The positions of the sensitive columns.
    pub(super) sensitive: Vec<usize>,
    /// The people the table is a sample of.
    pub(super) population: Option<Population>,
}

impl<'a> Columns<'a> {
    /// Finds the columns that were named.
    pub(super) fn new(
        source: &options::Source,
        table: &'a Table,
        population: Option<Population>,
    ) -> Result<Self, Failure> {
        let (quasi, sensitive) = positions(source, table)?;
        let hierarchies = Hierarchies::new(&source.hierarchy, table)?;
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
    pub(super) fn sensitive(&self) -> Vec<&'a Column> {
        self.sensitive.iter().filter_map(|at| self.table.columns.get(*at)).collect()
    }

    /// Their names.
    pub(super) fn names(&self) -> Vec<String> {
        self.sensitive().iter().map(|column| column.name.clone()).collect()
    }

    /// The positions of the columns that are published, in the table's order.
    pub(super) fn shown(&self, keep: Option<&Words>) -> Result<Vec<usize>, Failure> {
        let mut shown: Vec<usize> = self.quasi.iter().map(|quasi| quasi.column).collect();
        shown.extend(&self.sensitive);
        for name in keep.iter().flat_map(|words| &words.0) {
            shown.push(self.table.position(name)?);
        }
        shown.sort_unstable();
        shown.dedup();
        Ok(shown)
    }

    /// The quasi-identifiers as recodings take them. A column of numbers without a hierarchy
    /// becomes ranges, except where every column has one level.
    pub(super) fn attributes(&self, method: Method) -> Result<Vec<Attribute<'_>>, Failure> {
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
fn of_population(failure: Failure) -> Failure {
    match failure {
        Failure::Anonymize(Error::NotInHierarchy { column, rows: 0, values }) => {
            Failure::usage(format!(
                "the population has {values} distinct values of `{column}` that are not in its \
                 hierarchy; add them to it"
            ))
        }
        failure => failure,
    }
}

/// The positions of the quasi-identifiers and of the sensitive columns.
pub(super) fn positions(
    source: &options::Source,
    table: &Table,
) -> Result<(Vec<usize>, Vec<usize>), Failure> {
    let find = |names: &Option<Words>| -> Result<Vec<usize>, Failure> {
        let names = names.iter().flat_map(|words| &words.0);
        let found = names.map(|name| table.position(name)).collect::<Result<_, _>>();
        found.map_err(|error| match table.columns.as_slice() {
            [only] if only.name.contains([';', '\t', '|', ',', ':']) => Failure::usage(format!(
                "{error}\nhint: the header is one column; what separates columns is set with \
                 --delimiter, e.g. --delimiter ';' or --delimiter tab"
            )),
            _ => error.into(),
        })
    };
    let (quasi, sensitive) = (find(&source.qi)?, find(&source.sensitive)?);
    if quasi.is_empty() {
        return Err(Failure::usage(
            "no quasi-identifiers: give --qi with the columns that an observer may know, e.g. --qi zip,age",
        ));
    }
    if let Some(both) = sensitive.iter().find(|at| quasi.contains(at)) {
        let name = table.columns.get(*both).map_or("", |column| column.name.as_str());
        return Err(Failure::usage(format!(
            "column `{name}` is in both --qi and --sensitive: an observer knows it, or does not"
        )));
    }
    Ok((quasi, sensitive))
}
