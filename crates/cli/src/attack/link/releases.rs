//! The tables, their classes, and who may be in which.

use super::Tables;
use super::cells::Covers;
use crate::Failure;
use crate::anonymize::hierarchies::Hierarchies;
use demure_anonymize::hierarchy::STAR;
use demure_anonymize::table::{Column, Table};
use demure_attack::link::{Histogram, Target};
use std::collections::HashMap;

/// The sensitive values of all tables, each with one code.
pub(super) struct Values {
    pub(super) names: Vec<String>,
    codes: HashMap<String, usize>,
}

impl Values {
    /// The code of a value that somebody rules out.
    pub(super) fn code(&self, name: &str) -> Result<usize, Failure> {
        self.codes.get(name).copied().ok_or_else(|| {
            Failure::usage("--know holds a value that the sensitive column does not have")
        })
    }
}

/// Collects the sensitive values.
pub(super) fn values(tables: &Tables) -> Result<Values, Failure> {
    let mut values = Values { names: Vec::new(), codes: HashMap::new() };
    let all = [Some(&tables.original), Some(&tables.published), tables.second.as_ref()];
    for table in all.into_iter().flatten() {
        for name in &column(table, &tables.sensitive)?.values {
            if !values.codes.contains_key(name) {
                values.codes.insert(name.clone(), values.names.len());
                values.names.push(name.clone());
            }
        }
    }
    Ok(values)
}

/// A published table: its classes, and which values of the original each may stand for.
pub(super) struct Release {
    /// The labels of each class, one for each quasi-identifier.
    pub(super) labels: Vec<Vec<String>>,
    pub(super) histograms: Vec<Histogram>,
    /// Label codes of each class.
    codes: Vec<Vec<u32>>,
    covers: Vec<Covers>,
    /// Labels that stand for nobody.
    pub(super) idle: usize,
    pub(super) rows: usize,
}

impl Release {
    /// Groups the rows by their labels.
    pub(super) fn new(
        table: &Table,
        tables: &Tables,
        hierarchies: &Hierarchies<'_>,
        values: &Values,
    ) -> Result<Self, Failure> {
        let (mut quasi, mut covers) = (Vec::new(), Vec::new());
        for name in &tables.quasi {
            let (original, published) = (column(&tables.original, name)?, column(table, name)?);
            let given = hierarchies.given(original)?;
            covers.push(Covers::new(original, published, given.as_ref()));
            quasi.push(published);
        }
        let sensitive = column(table, &tables.sensitive)?;
        let to: Vec<usize> =
            sensitive.values.iter().map(|v| values.codes.get(v).copied().unwrap_or(0)).collect();
        let mut known: HashMap<Vec<u32>, usize> = HashMap::new();
        let mut release = Self {
            labels: Vec::new(),
            histograms: Vec::new(),
            codes: Vec::new(),
            idle: covers.iter().map(Covers::idle).sum(),
            covers,
            rows: table.rows,
        };
        for row in 0..table.rows {
            let key: Vec<u32> = quasi.iter().map(|c| c.codes[row]).collect();
            let class = *known.entry(key).or_insert_with_key(|key| {
                let label = |(c, code): (&&Column, &u32)| c.values[*code as usize].clone();
                release.labels.push(quasi.iter().zip(key).map(label).collect());
                release.histograms.push(vec![0; values.names.len()]);
                release.codes.push(key.clone());
                release.labels.len() - 1
            });
            release.histograms[class][to[sensitive.codes[row] as usize]] += 1;
        }
        Ok(release)
    }

    /// Whether a class is of suppressed rows: every label is `*`.
    pub(super) fn suppressed(&self, class: usize) -> bool {
        self.labels[class].iter().all(|label| label == STAR)
    }

    /// The classes that may hold a person with these values. Suppressed rows are looked at only where
    /// no other fits: rows that look alike are suppressed together.
    fn fits(&self, person: &[u32]) -> Vec<usize> {
        let covered = |class: &usize| {
            let cells = person.iter().zip(&self.codes[*class]).zip(&self.covers);
            cells.into_iter().all(|((value, label), covers)| covers.get(*value, *label))
        };
        let all: Vec<usize> = (0..self.codes.len()).filter(covered).collect();
        let kept: Vec<usize> =
            all.iter().copied().filter(|class| !self.suppressed(*class)).collect();
        if kept.is_empty() { all } else { kept }
    }

    /// How large the smallest class is that is not suppressed: its k.
    pub(super) fn k(&self) -> u64 {
        let sizes = (0..self.histograms.len()).filter(|class| !self.suppressed(*class));
        sizes.map(|class| self.histograms[class].iter().sum()).min().unwrap_or(0)
    }
}

/// Everybody in the original, and where they may be.
pub(super) fn people(
    tables: &Tables,
    first: &Release,
    second: Option<&Release>,
    values: &Values,
) -> Result<Vec<Target>, Failure> {
    let quasi: Vec<&Column> =
        tables.quasi.iter().map(|name| column(&tables.original, name)).collect::<Result<_, _>>()?;
    let sensitive = column(&tables.original, &tables.sensitive)?;
    // Many people share their quasi-identifiers: each combination is looked for once.
    let mut known: HashMap<Vec<u32>, (Vec<usize>, Vec<usize>)> = HashMap::new();
    let mut people = Vec::with_capacity(tables.original.rows);
    for row in 0..tables.original.rows {
        let key: Vec<u32> = quasi.iter().map(|c| c.codes[row]).collect();
        let (classes, other) = known
            .entry(key)
            .or_insert_with_key(|key| {
                (first.fits(key), second.map_or(Vec::new(), |release| release.fits(key)))
            })
            .clone();
        let value = &sensitive.values[sensitive.codes[row] as usize];
        let value = values.codes.get(value).copied().unwrap_or(0);
        people.push(Target { classes, second: other, value });
    }
    if people.iter().all(|person| person.classes.is_empty()) {
        return Err(Failure::usage(
            "nobody of the original fits a row of the published table\n\
             hint: say how columns were made coarser with --hierarchy column=FILE",
        ));
    }
    Ok(people)
}

/// How many rows of a table are alone with their quasi-identifiers.
pub(super) fn unique(table: &Table, quasi: &[String]) -> Result<u64, Failure> {
    let columns: Vec<&Column> =
        quasi.iter().map(|name| column(table, name)).collect::<Result<_, _>>()?;
    let mut counts: HashMap<Vec<u32>, u64> = HashMap::new();
    for row in 0..table.rows {
        *counts.entry(columns.iter().map(|c| c.codes[row]).collect()).or_default() += 1;
    }
    Ok(counts.values().filter(|count| **count == 1).count() as u64)
}

fn column<'a>(table: &'a Table, name: &str) -> Result<&'a Column, Failure> {
    Ok(&table.columns[table.position(name)?])
}
