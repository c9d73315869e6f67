//! The tables, their classes, and who may be in which.

use super::cells::Covers;
use super::{Finding, Histogram, Learnt, Linkage, Summary, Target};
use crate::error::{Error, Result};
use demure_anonymize::hierarchy::{Hierarchy, STAR};
use demure_anonymize::table::{Column, Table};
use std::cmp::Reverse;
use std::collections::HashMap;

/// The tables, and the part that their columns play.
#[derive(Clone)]
pub struct Tables {
    /// The table that was anonymized.
    pub original: Table,
    /// What was published of it.
    pub published: Table,
    /// Another release of the same people.
    pub second: Option<Table>,
    /// The columns that the attacker knows of people.
    pub quasi: Vec<String>,
    /// The column that the attacker wants to know.
    pub sensitive: String,
}

impl Tables {
    /// Looks for everybody of the original in the releases. `hierarchies` says how columns were made coarser where their labels do
    /// not say it themselves, one for each quasi-identifier; `ruled_out` are sensitive values that the attacker can rule out.
    ///
    /// # Errors
    /// A column is missing or both known and sensitive, a value that is ruled out does not occur, or nobody fits any row.
    pub fn link(&self, hierarchies: &[Option<Hierarchy>], ruled_out: &[String]) -> Result<Linked> {
        if self.quasi.contains(&self.sensitive) {
            return Err(Error::KnownAndSensitive);
        }
        let values = values(self)?;
        let first = Release::new(&self.published, self, hierarchies, &values)?;
        let second = self.second.as_ref();
        let second = second.map(|table| Release::new(table, self, hierarchies, &values));
        let second = second.transpose()?;
        let code = |name: &String| values.codes.get(name).copied().ok_or(Error::NotSensitive);
        let ruled_out = ruled_out.iter().map(code).collect::<Result<Vec<_>>>()?;
        let people = people(self, &first, second.as_ref(), &values)?;
        let mut linkage = Linkage::new(first.histograms.clone())?.knowing(ruled_out);
        if let Some(second) = &second {
            linkage = linkage.and(second.histograms.clone())?;
        }
        let summary = linkage.everybody(&people);
        let unique_before = unique(&self.original, &self.quasi)?;
        Ok(Linked { values: values.names, unique_before, first, second, people, summary })
    }
}

/// Who was found, and how.
#[derive(Clone)]
pub struct Linked {
    /// The sensitive values, by their codes.
    pub values: Vec<String>,
    /// People alone with their quasi-identifiers in the original.
    pub unique_before: u64,
    /// The published table.
    pub first: Release,
    /// The other release.
    pub second: Option<Release>,
    /// Everybody in the original, and the classes that may hold them.
    pub people: Vec<Target>,
    /// What is learnt of them.
    pub summary: Summary,
}

/// People of one class who are given away in the same way.
#[derive(Clone)]
pub struct Fallen {
    /// Their class in the published table.
    pub class: usize,
    /// What gave them away.
    pub finding: Finding,
    /// How many they are.
    pub people: u64,
    /// Why, in words, with the value that is learnt.
    pub why: String,
}

impl Linked {
    /// The classes whose people fall, those with most people first. By two releases, people of one class may fall in
    /// several ways.
    #[must_use]
    pub fn fallen(&self) -> Vec<Fallen> {
        let mut all: Vec<Fallen> = Vec::new();
        for (person, learnt) in self.people.iter().zip(&self.summary.learnt) {
            let Some(class) = person.classes.first().copied() else { continue };
            if !learnt.finding.learnt() {
                continue;
            }
            let why = self.why(person, learnt);
            match all.iter_mut().find(|fallen| fallen.class == class && fallen.why == why) {
                Some(fallen) => fallen.people += 1,
                None => all.push(Fallen { class, finding: learnt.finding, people: 1, why }),
            }
        }
        all.sort_by_key(|fallen| (Reverse(fallen.people), fallen.class, fallen.finding));
        all
    }

    fn why(&self, person: &Target, learnt: &Learnt) -> String {
        let value = learnt.guess.and_then(|v| self.values.get(v)).map_or("", String::as_str);
        let others = learnt.to_rule_out + 1;
        match learnt.finding {
            Finding::Unique => format!("one row fits, and it says {value}"),
            Finding::Homogeneous => format!("all {} rows that fit say {value}", learnt.candidates),
            Finding::Known => format!("of {others} values all but {value} are ruled out"),
            Finding::Intersected => {
                let classes = self.second.as_ref().zip(person.second.first());
                let labels = classes.and_then(|(release, class)| release.labels.get(*class));
                let other = labels.map_or(String::new(), |labels| labels.join(", "));
                format!("of {others} values only {value} is also in the other release, in {other}")
            }
            Finding::Open | Finding::Unmatched => String::new(),
        }
    }
}

/// The sensitive values of all tables, each with one code.
struct Values {
    names: Vec<String>,
    codes: HashMap<String, usize>,
}

/// Collects the sensitive values.
fn values(tables: &Tables) -> Result<Values> {
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
#[derive(Clone)]
pub struct Release {
    /// The labels of each class, one for each quasi-identifier.
    pub labels: Vec<Vec<String>>,
    /// How often each class has each sensitive value.
    pub histograms: Vec<Histogram>,
    /// Label codes of each class.
    codes: Vec<Vec<u32>>,
    covers: Vec<Covers>,
    /// Labels that stand for nobody.
    pub idle: usize,
    /// How many rows were published.
    pub rows: usize,
}

impl Release {
    /// Groups the rows by their labels.
    fn new(
        table: &Table,
        tables: &Tables,
        hierarchies: &[Option<Hierarchy>],
        values: &Values,
    ) -> Result<Self> {
        let (mut quasi, mut covers) = (Vec::new(), Vec::new());
        for (at, name) in tables.quasi.iter().enumerate() {
            let (original, published) = (column(&tables.original, name)?, column(table, name)?);
            let given = hierarchies.get(at).and_then(Option::as_ref);
            covers.push(Covers::new(original, published, given));
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
    fn suppressed(&self, class: usize) -> bool {
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
    #[must_use]
    pub fn k(&self) -> u64 {
        let sizes = (0..self.histograms.len()).filter(|class| !self.suppressed(*class));
        sizes.map(|class| self.size(class)).min().unwrap_or(0)
    }

    /// How many rows a class has.
    #[must_use]
    pub fn size(&self, class: usize) -> u64 {
        self.histograms[class].iter().sum()
    }
}

/// Everybody in the original, and where they may be.
fn people(
    tables: &Tables,
    first: &Release,
    second: Option<&Release>,
    values: &Values,
) -> Result<Vec<Target>> {
    let quasi: Vec<&Column> =
        tables.quasi.iter().map(|name| column(&tables.original, name)).collect::<Result<_>>()?;
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
        return Err(Error::NobodyFits);
    }
    Ok(people)
}

/// How many rows of a table are alone with their quasi-identifiers.
fn unique(table: &Table, quasi: &[String]) -> Result<u64> {
    let columns: Vec<&Column> =
        quasi.iter().map(|name| column(table, name)).collect::<Result<_>>()?;
    let mut counts: HashMap<Vec<u32>, u64> = HashMap::new();
    for row in 0..table.rows {
        *counts.entry(columns.iter().map(|c| c.codes[row]).collect()).or_default() += 1;
    }
    Ok(counts.values().filter(|count| **count == 1).count() as u64)
}

fn column<'a>(table: &'a Table, name: &str) -> Result<&'a Column> {
    Ok(&table.columns[table.position(name)?])
}
