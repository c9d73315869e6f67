//! Some rows as they were, beside what is published of them.
//!
//! What was is protected: these rows are for the steward's eyes, not for a file that goes out with
//! the release.

use super::Release;
use crate::hierarchy::STAR;
use crate::recoding::SUPPRESSED;

/// A row before and after.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sample<'a> {
    /// The row, counted from 1, below the header.
    pub row: usize,
    /// Its texts in the original: protected.
    pub before: Vec<&'a str>,
    /// Its texts in the release.
    pub after: Vec<String>,
}

/// At most so many rows, in the columns at `shown`, in the order of the table: the first row of
/// the smallest class, of the largest and of classes between, and the first one suppressed.
#[must_use]
pub fn samples<'a>(release: &Release<'a>, shown: &[usize], count: usize) -> Vec<Sample<'a>> {
    rows(release, count).into_iter().map(|row| sample(release, shown, row)).collect()
}

fn rows(release: &Release<'_>, count: usize) -> Vec<usize> {
    let class_of = &release.recoding.class_of;
    let lost = class_of.iter().position(|class| *class == SUPPRESSED);
    let lost = lost.filter(|_| count > 1 || release.classes.is_empty());
    let mut by_size: Vec<usize> = (0..release.recoding.sizes.len()).collect();
    by_size.sort_by_key(|class| release.recoding.sizes.get(*class));
    let wanted = count.saturating_sub(usize::from(lost.is_some())).min(by_size.len());
    let spread = |i: usize| match wanted {
        1 => by_size.get(by_size.len() / 2),
        _ => by_size.get(i * (by_size.len() - 1) / (wanted - 1)),
    };
    let mut open: Vec<u32> = (0..wanted).filter_map(spread).map(|class| *class as u32).collect();
    let mut found: Vec<usize> = lost.into_iter().collect();
    for (row, class) in class_of.iter().enumerate() {
        if open.is_empty() {
            break;
        }
        if let Some(at) = open.iter().position(|other| other == class) {
            open.swap_remove(at);
            found.push(row);
        }
    }
    found.sort_unstable();
    found.truncate(count);
    found
}

fn sample<'a>(release: &Release<'a>, shown: &[usize], row: usize) -> Sample<'a> {
    let columns = || shown.iter().filter_map(|at| release.table.columns.get(*at));
    let own = |column: &'a crate::table::Column| {
        let text = column.codes.get(row).and_then(|code| column.values.get(*code as usize));
        text.map_or("", String::as_str)
    };
    let class = release.recoding.class_of.get(row).copied().unwrap_or(SUPPRESSED) as usize;
    let cells = release.recoding.cells_of(class);
    let published = |column: &'a crate::table::Column| {
        let quasi = release.attributes.iter().position(|a| a.column.name == column.name);
        match quasi {
            None => own(column).to_owned(),
            Some(at) => match cells.get(at).zip(release.attributes.get(at)) {
                Some((cell, attribute)) => attribute.label(*cell),
                None => STAR.to_owned(),
            },
        }
    };
    Sample {
        row: row + 1,
        before: columns().map(own).collect(),
        after: columns().map(published).collect(),
    }
}
