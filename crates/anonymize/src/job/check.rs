//! Whether a published table keeps a promise, and how easily its rows are found.

use super::proof::Witnesses;
use super::{Columns, Hierarchies, Promise, Source};
use crate::check::Claim;
use crate::error::Result;
use crate::hierarchy::Hierarchy;
use crate::population::Matching;
use crate::publish::verdict::Verdict;
use crate::publish::{group, matching};
use crate::risk::{Risk, Threshold, of_sizes};
use crate::table::{Column, Table};
use std::path::Path;

/// A row that is found with a higher probability than one in so many counts as at risk.
pub const ONE_IN: u64 = 5;

/// What a check of a published table found.
pub struct Checked {
    /// How many rows it has.
    pub rows: usize,
    /// How many of them have `*` in every quasi-identifier.
    pub suppressed: u64,
    /// How many classes.
    pub classes: usize,
    /// Whether everything holds.
    pub holds: bool,
    /// One for each model.
    pub verdicts: Vec<Verdict>,
}

/// Checks a published table. Distances are from the distribution of the `original`, where one is
/// given; the JSON in `witness` names the sets of (n,t)-closeness, and no others are looked for.
pub fn check(
    source: &Source,
    promise: &Promise,
    published: &Path,
    original: Option<&Path>,
    witness: Option<&Path>,
) -> Result<Checked> {
    let table = source.read(published, &[])?;
    source.positions(&table)?;
    let original = original.map(|path| source.read(path, &[])).transpose()?;
    let people = source.population.as_ref().map(|path| source.read(path, &[])).transpose()?;
    let hierarchies = match &people {
        Some(people) => of_people(people, source)?,
        None => Vec::new(),
    };
    // Labels of a release are in no hierarchy: only a sensitive column's is of use here.
    let of_sensitive =
        Source { hierarchies: about(&source.hierarchies, &source.sensitive), ..source.clone() };
    let columns = Columns::new(&of_sensitive, original.as_ref().unwrap_or(&table), None)?;
    let promised = promise.models(&of_sensitive, &columns)?;
    let quasi: Vec<&str> = source.quasi.iter().map(String::as_str).collect();
    let sensitive: Vec<&str> = source.sensitive.iter().map(String::as_str).collect();
    let claim = Claim {
        published: &table,
        original: original.as_ref(),
        quasi: &quasi,
        sensitive: &sensitive,
        population: people.as_ref().map(|table| Matching { table, hierarchies: &hierarchies }),
    };
    let mut found = crate::check::check(&claim, &promised.models)?;
    if let Some(path) = witness {
        Witnesses::read(path)?.decide(&promised, &claim, &source.hierarchies, &mut found)?;
    }
    let asked = promised.models.iter().map(AsRef::as_ref).zip(&promised.notes).enumerate();
    let verdict = |(at, model)| Verdict::checked(model, at, &found, &source.sensitive);
    Ok(Checked {
        rows: table.rows,
        suppressed: found.suppressed,
        classes: found.classes.len(),
        holds: found.holds(),
        verdicts: asked.filter_map(verdict).collect(),
    })
}

/// Those of the hierarchies that are of these columns, or of none.
fn about(hierarchies: &[String], columns: &[String]) -> Vec<String> {
    let theirs = |text: &&String| {
        text.split_once('=').is_none_or(|(name, _)| columns.iter().any(|column| column == name))
    };
    hierarchies.iter().filter(theirs).cloned().collect()
}

/// The hierarchies of the population's quasi-identifiers, where they were given.
fn of_people(people: &Table, source: &Source) -> Result<Vec<Option<Hierarchy>>> {
    let typed = about(&source.hierarchies, &source.quasi);
    let given = Hierarchies::new(&typed, people)?;
    source.quasi.iter().map(|name| given.given(&people.columns[people.position(name)?])).collect()
}

/// How easily the rows of a table are found.
pub struct TableRisk {
    /// How many rows it has.
    pub rows: usize,
    /// In how many classes.
    pub classes: usize,
    /// The risks.
    pub risk: Risk,
}

/// How easily the rows of a table are found by their quasi-identifiers.
pub fn risk(source: &Source, path: &Path) -> Result<TableRisk> {
    let mut table = source.read(path, &[])?;
    let (quasi, _) = source.positions(&table)?;
    let population = source.read_population(&mut table)?;
    let columns: Vec<&Column> = quasi.iter().filter_map(|at| table.columns.get(*at)).collect();
    let (_, sizes) = group(&columns);
    let people = population.as_ref().map(|people| matching(&columns, people));
    let risk = risk_of_sizes(&sizes, 0, people.as_deref())?;
    Ok(TableRisk { rows: table.rows, classes: sizes.len(), risk })
}

/// The risks of classes of these sizes, that look like so many people of a population. A
/// population that lacks people of the table has at least those.
pub fn risk_of_sizes(sizes: &[u64], suppressed: u64, people: Option<&[u64]>) -> Result<Risk> {
    let people: Option<Vec<u64>> =
        people.map(|people| people.iter().zip(sizes).map(|(p, size)| *p.max(size)).collect());
    of_sizes(sizes, suppressed, people.as_deref(), Threshold::new(1, ONE_IN)?)
}
