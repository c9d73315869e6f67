//! The rows as records in one array, which the parts of a table share out: every
//! pass over a part reads memory in order.

use crate::class::{Class, Histogram};
use crate::recoding::{Attribute, Scale};
use crate::table::Column;

/// How the records of a part are laid out: one value per attribute (its rank
/// or its code), one code per sensitive column, the row.
pub(crate) struct Layout<'a> {
    pub(crate) attributes: &'a [Attribute<'a>],
    pub(crate) sensitive: &'a [&'a Column],
}

impl Layout<'_> {
    pub(crate) fn width(&self) -> usize {
        self.attributes.len() + self.sensitive.len() + 1
    }

    pub(crate) fn load(&self, rows: usize) -> Vec<u32> {
        let width = self.width();
        let mut data = vec![0; rows * width];
        let mut fill = |slot: usize, value: &dyn Fn(usize) -> u32| {
            for (row, record) in data.chunks_exact_mut(width).enumerate() {
                record[slot] = value(row);
            }
        };
        for (slot, attribute) in self.attributes.iter().enumerate() {
            let codes = &attribute.column.codes;
            match &attribute.scale {
                Scale::Ordered { rank, .. } => fill(slot, &|row| rank[codes[row] as usize]),
                Scale::Tree(_) => fill(slot, &|row| codes[row]),
            }
        }
        for (at, column) in self.sensitive.iter().enumerate() {
            fill(self.attributes.len() + at, &|row| column.codes[row]);
        }
        fill(width - 1, &|row| row as u32);
        data
    }
}

/// The records of one part.
#[derive(Clone, Copy)]
pub(crate) struct Records<'l, 'd> {
    pub(crate) layout: &'l Layout<'l>,
    pub(crate) data: &'d [u32],
}

impl Records<'_, '_> {
    pub(crate) fn len(&self) -> usize {
        self.data.len() / self.layout.width()
    }

    /// The values of one attribute.
    pub(crate) fn values(&self, attribute: usize) -> impl Iterator<Item = u32> {
        self.data.chunks_exact(self.layout.width()).map(move |record| record[attribute])
    }

    /// The classes of the parts.
    pub(crate) fn classes(&self, parts: usize, key: &Key<'_>) -> Vec<Class> {
        let mut classes = vec![empty(self.layout.sensitive); parts];
        let first = self.layout.attributes.len();
        for record in self.data.chunks_exact(self.layout.width()) {
            let class = &mut classes[key.part(record)];
            class.size += 1;
            for (histogram, &code) in class.sensitive.iter_mut().zip(&record[first..]) {
                histogram.counts[code as usize] += 1;
            }
        }
        classes
    }
}

/// Which part a record goes to.
pub(crate) enum Key<'l> {
    /// All to part 0.
    Whole,
    /// Ranks below `first` to part 0, the others to part 1.
    From {
        /// The attribute.
        at: usize,
        /// The lowest rank of part 1.
        first: u32,
    },
    /// By the part of each row.
    Rows(Vec<u32>),
    /// By the group of the value.
    Groups {
        /// The attribute.
        at: usize,
        /// For each code, its group.
        of: &'l [u32],
        /// The groups that occur, in order.
        named: Vec<u32>,
        /// For each of them, its part.
        part: Vec<usize>,
    },
}

impl Key<'_> {
    pub(crate) fn part(&self, record: &[u32]) -> usize {
        match self {
            Self::Whole => 0,
            Self::From { at, first } => usize::from(record[*at] >= *first),
            Self::Rows(part) => record.last().map_or(0, |&row| part[row as usize] as usize),
            Self::Groups { at, of, named, part } => part[place(named, of[record[*at] as usize])],
        }
    }
}

/// The place of a group in a list in order that has it.
fn place(named: &[u32], group: u32) -> usize {
    named.partition_point(|&g| g < group)
}

/// Puts the records of child 0 first, then those of child 1, and so on, in place.
pub(crate) fn arrange(
    data: &mut [u32],
    width: usize,
    sizes: &[usize],
    child: impl Fn(&[u32]) -> usize,
) {
    let mut next = Vec::with_capacity(sizes.len());
    let mut end = 0;
    for size in sizes {
        next.push(end);
        end += size;
    }
    let mut last = 0;
    for bucket in 0..sizes.len() {
        last += sizes[bucket];
        while next[bucket] < last {
            let at = next[bucket];
            let to = child(&data[at * width..(at + 1) * width]);
            if to != bucket {
                let other = next[to];
                for word in 0..width {
                    data.swap(at * width + word, other * width + word);
                }
            }
            next[to] += 1;
        }
    }
}

/// A class of no rows.
pub(crate) fn empty(sensitive: &[&Column]) -> Class {
    let zero = |c: &&Column| Histogram { counts: vec![0; c.values.len()] };
    Class { size: 0, sensitive: sensitive.iter().map(zero).collect() }
}
