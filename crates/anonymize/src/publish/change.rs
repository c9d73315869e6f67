//! What became of each quasi-identifier: in how many rows it is as it was, coarser, or says nothing.

use super::Release;
use crate::hierarchy::STAR;
use crate::recoding::{Attribute, Cell, Scale};
use crate::table::Column;
use std::collections::BTreeSet;

/// What became of one quasi-identifier.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change<'a> {
    /// The column.
    pub column: &'a str,
    /// Rows that show the value itself.
    pub exact: u64,
    /// Rows that show a coarser label.
    pub coarser: u64,
    /// Rows that say nothing: suppressed, or with a label that covers every value (`*`, or what
    /// the hierarchy calls it).
    pub star: u64,
    /// How many distinct values the column had.
    pub values: usize,
    /// How many distinct labels it has, the `*` of suppressed rows among them.
    pub labels: usize,
    /// Whether there is nothing between a value and `*`.
    pub all_or_nothing: bool,
    /// A way to build levels that fits the values, as it is typed; nothing where a file is needed.
    pub way: Option<&'static str>,
}

impl Change<'_> {
    /// Whether the release says nothing about the column in any row.
    #[must_use]
    pub fn is_star(&self) -> bool {
        self.exact == 0 && self.coarser == 0
    }
}

/// How much of a column a cell shows.
enum Shown {
    Exact,
    Coarser,
    Star,
}

fn shown(attribute: &Attribute<'_>, cell: Cell) -> Shown {
    let (leaves, all) = (attribute.leaves(cell), attribute.leaf_count());
    match leaves {
        _ if attribute.label(cell) == STAR => Shown::Star,
        0 | 1 => Shown::Exact,
        _ if leaves >= all => Shown::Star,
        _ => Shown::Coarser,
    }
}

/// One for each quasi-identifier, in their order.
#[must_use]
pub fn changes<'a>(release: &Release<'a>) -> Vec<Change<'a>> {
    let one = |(at, attribute): (usize, &'a Attribute<'a>)| {
        let suppressed = release.suppressed();
        let (mut exact, mut coarser, mut star) = (0, 0, suppressed);
        let mut cells: BTreeSet<Cell> = BTreeSet::new();
        for (class, size) in release.recoding.sizes.iter().enumerate() {
            let Some(&cell) = release.recoding.cells_of(class).get(at) else { continue };
            cells.insert(cell);
            match shown(attribute, cell) {
                Shown::Exact => exact += size,
                Shown::Coarser => coarser += size,
                Shown::Star => star += size,
            }
        }
        let mut labels: BTreeSet<String> = cells.iter().map(|c| attribute.label(*c)).collect();
        if suppressed > 0 {
            labels.insert(STAR.to_owned());
        }
        let between = matches!(&attribute.scale, Scale::Tree(tree) if tree.height() <= 1);
        Change {
            column: &attribute.column.name,
            exact,
            coarser,
            star,
            values: values(attribute.column),
            labels: labels.len(),
            all_or_nothing: between,
            way: way(&attribute.column.values),
        }
    };
    release.attributes.iter().enumerate().map(one).collect()
}

/// How many distinct values a column has in its rows; a population may have added others.
fn values(column: &Column) -> usize {
    let mut met = vec![false; column.values.len()];
    for code in &column.codes {
        if let Some(met) = met.get_mut(*code as usize) {
            *met = true;
        }
    }
    met.into_iter().filter(|met| *met).count()
}

/// A way to make these values coarser, level by level.
fn way(values: &[String]) -> Option<&'static str> {
    let known = values.iter().map(|value| value.trim()).filter(|value| !value.is_empty());
    let all = |fits: fn(&str) -> bool| known.clone().all(fits);
    let is_date = |text: &str| {
        let mark = |at| text.as_bytes().get(at) == Some(&b'-');
        text.len() == 10 && mark(4) && mark(7)
    };
    let whole = |text: &str| text.parse::<i64>().is_ok();
    let number = |text: &str| text.parse::<f64>().is_ok_and(f64::is_finite);
    let first = known.clone().next()?;
    if is_date(first) && all(is_date) {
        return Some("dates");
    }
    // Numbers that are all equally long and begin with anything but a sign may be codes, such as
    // zip codes; those of four digits and more are cut from the right.
    let length = first.len();
    if length >= 4 && whole(first) && known.clone().all(|t| whole(t) && t.len() == length) {
        return Some("mask");
    }
    if number(first) && all(number) {
        return Some("intervals:5,10,20");
    }
    None
}
