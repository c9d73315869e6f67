//! A release beside the table it was made from: what answers and reports are about.

use crate::class::{Class, Histogram};
use crate::partition::Partition;
use crate::population::Population;
use crate::recoding::{Attribute, Recoding};
use crate::table::{Column, Table};

/// A table, a release of it, and how it was found.
pub struct Release<'a> {
    /// The original.
    pub table: &'a Table,
    /// The quasi-identifiers.
    pub attributes: &'a [Attribute<'a>],
    /// The sensitive columns.
    pub sensitive: Vec<&'a Column>,
    /// Which class each row is in, and what it publishes.
    pub recoding: Recoding,
    /// The classes that stay, with their histograms.
    pub classes: Vec<Class>,
    /// The whole original as one class.
    pub whole: Class,
    /// How it was found: `optimal`, `mondrian` or `local`.
    pub method: &'static str,
    /// What was minimized, and how much of it is left.
    pub score: Option<(&'static str, f64)>,
    /// Where every column has one level.
    pub levels: Option<Levels>,
    /// Where the table was cut into parts.
    pub parts: Option<Partition>,
    /// The people the table is a sample of; each class then has their count as its last histogram.
    pub population: Option<Population>,
}

/// The outcome of a search for levels.
pub struct Levels {
    /// One for each quasi-identifier.
    pub chosen: Vec<usize>,
    /// The highest there are.
    pub heights: Vec<usize>,
    /// No other choice scores less.
    pub proven: bool,
    /// By how much an unseen choice could score less.
    pub gap: f64,
    /// How many choices were looked at.
    pub checked: u64,
}

impl Release<'_> {
    /// How many rows have `*` in every quasi-identifier.
    pub fn suppressed(&self) -> u64 {
        self.recoding.suppressed()
    }

    /// What a class publishes.
    pub fn labels(&self, class: usize) -> Vec<String> {
        let cells = self.recoding.cells_of(class).iter();
        cells.zip(self.attributes).map(|(cell, attribute)| attribute.label(*cell)).collect()
    }

    /// The classes of the table as it is, quasi-identifiers unchanged.
    pub fn before(&self) -> Vec<Class> {
        let mut classes = classes_of(self.attributes, &self.sensitive);
        if let Some(people) = &self.population {
            let columns: Vec<&Column> = self.attributes.iter().map(|a| a.column).collect();
            for (class, count) in classes.iter_mut().zip(matching(&columns, people)) {
                class.sensitive.push(Histogram { counts: vec![count] });
            }
        }
        classes
    }

    /// How many people of the population look like each class, if there is one.
    pub fn people(&self, classes: &[Class]) -> Option<Vec<u64>> {
        self.population.as_ref()?;
        classes.iter().map(|class| class.sensitive.last().map(Histogram::total)).collect()
    }
}

/// For each class of rows that agree in these columns, how many rows of the population do too.
pub fn matching(columns: &[&Column], population: &Population) -> Vec<u64> {
    use std::collections::HashMap;
    let (class_of, sizes) = group(columns);
    let mut known: HashMap<Vec<u32>, usize> = HashMap::with_capacity(sizes.len());
    for (row, class) in class_of.iter().enumerate() {
        if *class as usize == known.len() {
            let key = columns.iter().filter_map(|column| column.codes.get(row).copied());
            known.insert(key.collect(), *class as usize);
        }
    }
    let mut counts = vec![0; sizes.len()];
    let mut key = Vec::new();
    for row in 0..population.rows {
        key.clear();
        key.extend(population.codes.iter().filter_map(|codes| codes.get(row).copied()));
        if let Some(count) = known.get(&key).and_then(|class| counts.get_mut(*class)) {
            *count += 1;
        }
    }
    counts
}

/// Rows that agree in the attributes' columns as they are.
pub fn classes_of(attributes: &[Attribute<'_>], sensitive: &[&Column]) -> Vec<Class> {
    let columns: Vec<&Column> = attributes.iter().map(|attribute| attribute.column).collect();
    let (class_of, sizes) = group(&columns);
    Recoding { class_of, sizes, ..Recoding::default() }.classes(sensitive)
}

/// For each row the number of its class, by first appearance; and the sizes.
pub fn group(columns: &[&Column]) -> (Vec<u32>, Vec<u64>) {
    use std::collections::HashMap;
    let rows = columns.first().map_or(0, |column| column.codes.len());
    // Column by column: a class so far and a code make a class.
    let mut class_of = vec![0u32; rows];
    for column in columns {
        let mut known: HashMap<(u32, u32), u32> = HashMap::new();
        for (class, code) in class_of.iter_mut().zip(&column.codes) {
            let next = known.len() as u32;
            *class = *known.entry((*class, *code)).or_insert(next);
        }
    }
    let mut sizes = vec![0; class_of.iter().max().map_or(0, |last| *last as usize + 1)];
    for class in &class_of {
        if let Some(size) = sizes.get_mut(*class as usize) {
            *size += 1;
        }
    }
    (class_of, sizes)
}

/// All rows as one class.
pub fn whole(rows: usize, sensitive: &[&Column], population: Option<&Population>) -> Class {
    let histogram = |column: &&Column| {
        let mut counts = vec![0; column.values.len()];
        for code in &column.codes {
            if let Some(count) = counts.get_mut(*code as usize) {
                *count += 1;
            }
        }
        Histogram { counts }
    };
    let people = population.map(|people| Histogram { counts: vec![people.rows as u64] });
    Class { size: rows as u64, sensitive: sensitive.iter().map(histogram).chain(people).collect() }
}

#[cfg(test)]
mod tests;
