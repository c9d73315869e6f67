//! Verifies a published table on its own: nothing of how it was made is trusted.
//!
//! Rows are grouped by the texts of the quasi-identifiers, as any reader would
//! group them. Rows whose every quasi-identifier is `*` count as suppressed and
//! are not checked. The reference distribution is the original table's if one is
//! given; else the published table's own, suppressed rows included.
//!
//! # Guarantee
//! A report that [`holds`](Report::holds) means that every class satisfies every
//! model, decided exactly. Models with natural supersets are allowed only the class
//! itself and the whole table here, as a published table does not tell the others:
//! they may be refused here and hold with [`check_within`].

use crate::class::{Class, Histogram};
use crate::error::{Error, Result};
use crate::hierarchy::STAR;
use crate::model::{Measure, Model};
use crate::population::Matching;
use crate::table::{Column, Table};
use std::collections::HashMap;

/// What is to be verified.
#[derive(Clone, Copy, Debug)]
pub struct Claim<'a> {
    /// The published table.
    pub published: &'a Table,
    /// The table it was made from, if at hand. The models then count sensitive
    /// values by *its* codes, else by the published table's.
    pub original: Option<&'a Table>,
    /// The names of the quasi-identifiers.
    pub quasi: &'a [&'a str],
    /// The names of the sensitive columns, in the order the models count them.
    pub sensitive: &'a [&'a str],
    /// The population, if a model asks for one: each class then has one more histogram, after
    /// those of the sensitive columns, with one count.
    pub population: Option<Matching<'a>>,
}

/// What was found.
#[derive(Clone, Debug)]
pub struct Report {
    /// The classes in order of first appearance.
    pub classes: Vec<Checked>,
    /// One verdict for each model.
    pub verdicts: Vec<Verdict>,
    /// The reference: all rows as one class.
    pub table: Class,
    /// How many rows the published table has.
    pub rows: u64,
    /// How many of them are suppressed.
    pub suppressed: u64,
}

/// One class. Holds no text of the table; see [`Report::labels`].
#[derive(Clone, Debug)]
pub struct Checked {
    /// Its size and histograms.
    pub class: Class,
    /// Its first row in the published table, counted from 0.
    pub first_row: usize,
    /// For each model, whether the class satisfies it.
    pub holds: Vec<bool>,
    /// For each model, the number it measures.
    pub measures: Vec<Option<Measure>>,
}

/// What one model says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Verdict {
    /// The model with its parameters.
    pub model: String,
    /// Whether the release satisfies it.
    pub holds: bool,
    /// How many classes fail. May be 0 though the release fails, where a model
    /// is about all classes together.
    pub failing: u64,
    /// The position in [`Report::classes`] of the first that fails.
    pub first_failing: Option<usize>,
    /// What whoever publishes must be told.
    pub warning: Option<&'static str>,
}

impl Report {
    /// Whether every model is satisfied.
    #[must_use]
    pub fn holds(&self) -> bool {
        self.verdicts.iter().all(|verdict| verdict.holds)
    }

    /// The texts a class is published with: values of the table, for whoever
    /// asks to see them.
    pub fn labels<'a>(&self, claim: &Claim<'a>, class: usize) -> Result<Vec<&'a str>> {
        let row = self.classes.get(class).map(|c| c.first_row).ok_or(Error::OutOfRange {
            parameter: "the class",
            allowed: "a position in the report's list of classes",
        })?;
        let columns = find(claim.published, claim.quasi)?;
        Ok(columns.iter().filter_map(|c| text(c, row)).collect())
    }
}

/// Verifies the claim.
pub fn check(claim: &Claim<'_>, models: &[Box<dyn Model>]) -> Result<Report> {
    check_within(claim, models, &|_| Vec::new())
}

/// Verifies the claim, with `ancestors` naming the natural supersets of the class
/// that a row of the published table is in. They are the caller's word.
pub fn check_within(
    claim: &Claim<'_>,
    models: &[Box<dyn Model>],
    ancestors: &dyn Fn(usize) -> Vec<Class>,
) -> Result<Report> {
    let quasi = find(claim.published, claim.quasi)?;
    let published = find(claim.published, claim.sensitive)?;
    let original = find(claim.original.unwrap_or(claim.published), claim.sensitive)?;
    validate(claim, models)?;
    let groups = group(&quasi, claim.published.rows);
    let suppressed_group = (0..groups.first.len())
        .find(|&g| quasi.iter().all(|c| text(c, groups.first[g]) == Some(STAR)));
    let mut classes: Vec<Class> = groups.first.iter().map(|_| blank(&original)).collect();
    for &class in &groups.of {
        classes[class as usize].size += 1;
    }
    let mut table = blank(&original);
    table.size = claim.original.map_or(claim.published.rows, |t| t.rows) as u64;
    for (at, (&column, &reference)) in published.iter().zip(&original).enumerate() {
        let code = translate(column, reference)?;
        for (&class, &c) in groups.of.iter().zip(&column.codes) {
            classes[class as usize].sensitive[at].counts[code[c as usize] as usize] += 1;
        }
        for &c in &reference.codes {
            table.sensitive[at].counts[c as usize] += 1;
        }
        covered(&classes, &table, at, &column.name)?;
    }
    if let Some(population) = &claim.population {
        for (class, count) in classes.iter_mut().zip(population.count(&quasi, &groups)?) {
            class.sensitive.push(Histogram { counts: vec![count] });
        }
        table.sensitive.push(Histogram { counts: vec![population.table.rows as u64] });
    }
    let suppressed = suppressed_group.map_or(0, |g| classes[g].size);
    let kept = classes.into_iter().zip(groups.first).enumerate();
    let kept = kept.filter(|&(at, _)| Some(at) != suppressed_group).map(|(_, class)| class);
    let mut checked: Vec<Checked> = kept
        .map(|(class, first_row)| Checked {
            class,
            first_row,
            holds: Vec::new(),
            measures: Vec::new(),
        })
        .collect();
    let verdicts =
        models.iter().map(|m| judge(m.as_ref(), &mut checked, &table, ancestors)).collect();
    Ok(Report { classes: checked, verdicts, table, rows: claim.published.rows as u64, suppressed })
}

fn judge(
    model: &dyn Model,
    classes: &mut [Checked],
    table: &Class,
    ancestors: &dyn Fn(usize) -> Vec<Class>,
) -> Verdict {
    for checked in classes.iter_mut() {
        let holds = if model.needs_ancestors() {
            let above = ancestors(checked.first_row);
            model.holds_among(&checked.class, &mut above.iter(), table)
        } else {
            model.holds(&checked.class, table)
        };
        checked.holds.push(holds);
        checked.measures.push(model.measure(&checked.class, table));
    }
    let fails = |checked: &Checked| checked.holds.last() == Some(&false);
    let failing = classes.iter().filter(|c| fails(c)).count() as u64;
    let all = || classes.iter().map(|c| c.class.clone()).collect::<Vec<_>>();
    Verdict {
        model: model.name(),
        holds: failing == 0 && (model.per_class() || model.holds_all(&all(), table)),
        failing,
        first_failing: classes.iter().position(fails),
        warning: model.warning(),
    }
}

fn validate(claim: &Claim<'_>, models: &[Box<dyn Model>]) -> Result<()> {
    let refuse = |parameter, allowed| Err(Error::OutOfRange { parameter, allowed });
    if claim.quasi.is_empty() {
        return refuse("the quasi-identifiers", "at least one");
    }
    if claim.quasi.iter().any(|name| claim.sensitive.contains(name)) {
        return refuse("a column", "either a quasi-identifier or sensitive, not both");
    }
    if models.is_empty() {
        return refuse("the models", "at least one");
    }
    let columns = claim.sensitive.len() + usize::from(claim.population.is_some());
    if models.iter().filter_map(|m| m.column()).any(|c| c >= columns) {
        return refuse("the models", "about sensitive columns that are named");
    }
    if claim.published.rows == 0 {
        return refuse("the published table", "at least one row long");
    }
    if claim.original.is_some_and(|t| t.rows < claim.published.rows) {
        return refuse("the published table", "no longer than the original");
    }
    Ok(())
}

fn find<'a>(table: &'a Table, names: &[&str]) -> Result<Vec<&'a Column>> {
    names.iter().map(|name| Ok(&table.columns[table.position(name)?])).collect()
}

fn text(column: &Column, row: usize) -> Option<&str> {
    let code = *column.codes.get(row)?;
    column.values.get(code as usize).map(String::as_str)
}

fn blank(sensitive: &[&Column]) -> Class {
    let zero = |c: &&Column| Histogram { counts: vec![0; c.values.len()] };
    Class { size: 0, sensitive: sensitive.iter().map(zero).collect() }
}

/// For each code of the published column, the code in the original.
fn translate(published: &Column, original: &Column) -> Result<Vec<u32>> {
    let known: HashMap<&str, u32> = original.values.iter().map(String::as_str).zip(0..).collect();
    let codes: Option<Vec<u32>> =
        published.values.iter().map(|v| known.get(v.as_str()).copied()).collect();
    codes.ok_or_else(|| Error::Malformed {
        what: format!("sensitive column `{}` of the published table", published.name),
        line: 0,
        why: "has values that the original table does not have",
    })
}

/// No value may be published more often than the original has it.
fn covered(classes: &[Class], table: &Class, at: usize, name: &str) -> Result<()> {
    let mut left = table.sensitive[at].counts.clone();
    for class in classes {
        for (left, count) in left.iter_mut().zip(&class.sensitive[at].counts) {
            *left = left.checked_sub(*count).ok_or_else(|| Error::Malformed {
                what: format!("sensitive column `{name}` of the published table"),
                line: 0,
                why: "has a value more often than the original table",
            })?;
        }
    }
    Ok(())
}

/// Rows grouped by equal codes.
pub(crate) struct Groups {
    /// For each row its group; groups are numbered by first appearance.
    pub(crate) of: Vec<u32>,
    /// For each group its first row.
    pub(crate) first: Vec<usize>,
}

/// Groups the rows by several columns, one column after another.
pub(crate) fn group(columns: &[&Column], rows: usize) -> Groups {
    let mut of = vec![0_u32; rows];
    let mut count = usize::from(rows > 0);
    for column in columns {
        let values = column.values.len();
        let mut next = 0;
        let mut fresh = |slot: &mut u32| {
            if *slot == u32::MAX {
                *slot = next;
                next += 1;
            }
            *slot
        };
        if count.saturating_mul(values) <= rows.saturating_mul(4).max(1 << 16) {
            let mut known = vec![u32::MAX; count * values];
            for (group, &code) in of.iter_mut().zip(&column.codes) {
                *group = fresh(&mut known[*group as usize * values + code as usize]);
            }
        } else {
            let mut known: HashMap<(u32, u32), u32> = HashMap::new();
            for (group, &code) in of.iter_mut().zip(&column.codes) {
                *group = fresh(known.entry((*group, code)).or_insert(u32::MAX));
            }
        }
        count = next as usize;
    }
    let mut first = Vec::with_capacity(count);
    for (row, &group) in of.iter().enumerate() {
        if group as usize == first.len() {
            first.push(row);
        }
    }
    Groups { of, first }
}
