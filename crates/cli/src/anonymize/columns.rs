//! The table, and the part its columns play.

use super::hierarchies::Hierarchies;
use super::options::{Method, Source};
use crate::Failure;
use crate::input::Words;
use demure_anonymize::hierarchy::Hierarchy;
use demure_anonymize::recoding::Attribute;
use demure_anonymize::search::Quasi;
use demure_anonymize::table::{Column, Table};
use std::fs::File;
use std::io;
use std::path::Path;

/// Reads the table.
pub(super) fn read(source: &Source) -> Result<Table, Failure> {
    let path = source.file.as_ref().ok_or_else(|| {
        Failure::usage("no table: give a CSV file, or `input = \"…\"` in the job file")
    })?;
    read_file(path, source.delimiter)
}

/// Reads a file, or `-`, which must have rows.
pub(crate) fn read_file(path: &Path, delimiter: u8) -> Result<Table, Failure> {
    let table = if path.as_os_str() == "-" {
        Table::from_csv(io::stdin().lock(), delimiter)?
    } else {
        let what = || format!("reading {}", path.display());
        let file =
            File::open(path).map_err(|error| Failure::File { what: what(), source: error })?;
        Table::from_csv(file, delimiter)?
    };
    if table.rows == 0 {
        return Err(Failure::usage("the table has no rows"));
    }
    Ok(table)
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
}

impl<'a> Columns<'a> {
    /// Finds the columns that were named.
    pub(super) fn new(source: &Source, table: &'a Table) -> Result<Self, Failure> {
        let (quasi, sensitive) = positions(source, table)?;
        let hierarchies = Hierarchies::new(&source.hierarchy, table)?;
        let mut found = Self { table, quasi: Vec::new(), given: Vec::new(), sensitive };
        for column in quasi {
            let Some(texts) = table.columns.get(column) else { continue };
            let given = hierarchies.given(texts)?;
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

/// The positions of the quasi-identifiers and of the sensitive columns.
pub(super) fn positions(
    source: &Source,
    table: &Table,
) -> Result<(Vec<usize>, Vec<usize>), Failure> {
    let find = |names: &Option<Words>| -> Result<Vec<usize>, Failure> {
        let names = names.iter().flat_map(|words| &words.0);
        Ok(names.map(|name| table.position(name)).collect::<Result<_, _>>()?)
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
