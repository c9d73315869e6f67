//! A release described by its classes: for every class, one cell per
//! quasi-identifier; for every row, its class.
//!
//! Full-domain, Mondrian and local recodings all take this form, so utility and
//! risk are written once. A cell is either a group of a hierarchy or a range of
//! an ordered column.

use crate::class::{Class, Histogram};
use crate::error::{Error, Result};
use crate::hierarchy::Hierarchy;
use crate::table::{Column, Table};
use std::collections::HashMap;

/// The class of a row that is published with every quasi-identifier `*`.
pub const SUPPRESSED: u32 = u32::MAX;

/// A quasi-identifier and how it may be made coarser.
#[derive(Clone, Debug)]
pub struct Attribute<'a> {
    /// The column.
    pub column: &'a Column,
    /// Its order or its hierarchy.
    pub scale: Scale<'a>,
}

/// How an attribute may be made coarser.
#[derive(Clone, Debug)]
pub enum Scale<'a> {
    /// Into ranges of neighbouring values.
    Ordered {
        /// For each code of the column, its rank.
        rank: Vec<u32>,
        /// For each rank, a code that has it.
        code: Vec<u32>,
    },
    /// Into the groups of a hierarchy.
    Tree(&'a Hierarchy),
}

/// What a class publishes for one attribute.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Cell {
    /// The ranks from `low` to `high`, both included.
    Range {
        /// The lowest rank.
        low: u32,
        /// The highest rank.
        high: u32,
    },
    /// A group of one level of the hierarchy.
    Group {
        /// The level.
        level: u32,
        /// The group within that level.
        group: u32,
    },
}

impl<'a> Attribute<'a> {
    /// A column of numbers, made coarser into ranges. Numbers that are equal
    /// (`1` and `1.0`) share a rank.
    pub fn numeric(column: &'a Column) -> Result<Self> {
        let bad = || Error::Malformed {
            what: format!("column `{}`", column.name),
            line: 0,
            why: "not every value is a finite number; give the column a hierarchy or an order",
        };
        let whole: Option<Vec<i128>> =
            column.values.iter().map(|v| v.trim().parse().ok()).collect();
        if let Some(keys) = whole {
            return Ok(Self::ranked(column, |a, b| keys[a].cmp(&keys[b])));
        }
        let keys: Option<Vec<f64>> = column
            .values
            .iter()
            .map(|v| v.trim().parse().ok().filter(|x: &f64| x.is_finite()).map(|x| x + 0.0))
            .collect();
        let keys = keys.ok_or_else(bad)?;
        Ok(Self::ranked(column, |a, b| keys[a].total_cmp(&keys[b])))
    }

    /// A column whose order is given by listing its values, lowest first.
    pub fn ordered(column: &'a Column, order: &[impl AsRef<str>]) -> Result<Self> {
        let mut place = HashMap::new();
        for (at, text) in order.iter().enumerate() {
            if place.insert(text.as_ref(), at).is_some() {
                let what = format!("the order of column `{}`", column.name);
                return Err(Error::Malformed {
                    what,
                    line: at as u64 + 1,
                    why: "a value listed twice",
                });
            }
        }
        let keys: Vec<Option<usize>> =
            column.values.iter().map(|v| place.get(v.as_str()).copied()).collect();
        let values = keys.iter().filter(|k| k.is_none()).count() as u64;
        if values > 0 {
            let rows = column.codes.iter().filter(|&&c| keys[c as usize].is_none()).count() as u64;
            return Err(Error::NotInHierarchy { column: column.name.clone(), rows, values });
        }
        Ok(Self::ranked(column, |a, b| keys[a].cmp(&keys[b])))
    }

    /// A column made coarser by its hierarchy.
    pub fn hierarchy(column: &'a Column, hierarchy: &'a Hierarchy) -> Result<Self> {
        let bad = |level, why| Error::NotATree { column: column.name.clone(), level, why };
        if hierarchy.levels.is_empty() {
            return Err(bad(0, "it has no level"));
        }
        for (at, level) in hierarchy.levels.iter().enumerate() {
            let groups = level.labels.len();
            if level.group.len() != column.values.len() || level.leaves.len() != groups {
                return Err(bad(at, "it was built for another column"));
            }
            if level.group.iter().any(|&g| g as usize >= groups) {
                return Err(bad(at, "a value has no label"));
            }
        }
        for (at, pair) in hierarchy.levels.windows(2).enumerate() {
            let mut parent = vec![None; pair[0].labels.len()];
            for (&low, &high) in pair[0].group.iter().zip(&pair[1].group) {
                if *parent[low as usize].get_or_insert(high) != high {
                    return Err(bad(at + 1, "values that share a label part again"));
                }
            }
        }
        Ok(Self { column, scale: Scale::Tree(hierarchy) })
    }

    fn ranked(column: &'a Column, compare: impl Fn(usize, usize) -> std::cmp::Ordering) -> Self {
        let mut codes: Vec<u32> = (0..column.values.len() as u32).collect();
        codes.sort_by(|&a, &b| compare(a as usize, b as usize));
        let mut rank = vec![0; codes.len()];
        let mut code: Vec<u32> = Vec::new();
        for &c in &codes {
            if code.last().is_none_or(|&last| compare(last as usize, c as usize).is_ne()) {
                code.push(c);
            }
            rank[c as usize] = code.len() as u32 - 1;
        }
        Self { column, scale: Scale::Ordered { rank, code } }
    }

    /// The coarsest cell, which covers all values. Where the hierarchy does not end
    /// in one group it is one level above it, and published as `*`.
    #[must_use]
    pub fn top(&self) -> Cell {
        match &self.scale {
            Scale::Ordered { code, .. } => {
                Cell::Range { low: 0, high: (code.len() as u32).saturating_sub(1) }
            }
            Scale::Tree(hierarchy) => {
                let rooted = hierarchy.levels.last().is_some_and(|l| l.labels.len() == 1);
                let level = hierarchy.height() + usize::from(!rooted);
                Cell::Group { level: level as u32, group: 0 }
            }
        }
    }

    /// Whether the cell covers the value with this code.
    #[must_use]
    pub fn covers(&self, cell: Cell, code: u32) -> bool {
        match (&self.scale, cell) {
            (Scale::Ordered { rank, .. }, Cell::Range { low, high }) => {
                rank.get(code as usize).is_some_and(|r| (low..=high).contains(r))
            }
            (Scale::Tree(h), Cell::Group { level, group }) => h
                .levels
                .get(level as usize)
                .is_none_or(|l| l.group.get(code as usize) == Some(&group)),
            _ => false,
        }
    }

    /// How many leaves lie under a cell: ranks for an ordered column, leaves of
    /// the whole hierarchy otherwise.
    #[must_use]
    pub fn leaves(&self, cell: Cell) -> u64 {
        match (&self.scale, cell) {
            (Scale::Ordered { .. }, Cell::Range { low, high }) => {
                u64::from(high).saturating_sub(u64::from(low)) + 1
            }
            (Scale::Tree(h), Cell::Group { level, group }) => h
                .levels
                .get(level as usize)
                .and_then(|l| l.leaves.get(group as usize))
                .copied()
                .unwrap_or_else(|| self.leaf_count()),
            _ => self.leaf_count(),
        }
    }

    /// How many leaves there are in all.
    #[must_use]
    pub fn leaf_count(&self) -> u64 {
        match &self.scale {
            Scale::Ordered { code, .. } => code.len() as u64,
            Scale::Tree(hierarchy) => hierarchy.leaf_count(),
        }
    }

    /// The text published for a cell.
    #[must_use]
    pub fn label(&self, cell: Cell) -> String {
        let text = |code: Option<&u32>| {
            code.and_then(|&c| self.column.values.get(c as usize)).map_or("*", String::as_str)
        };
        match (&self.scale, cell) {
            (Scale::Ordered { code, .. }, Cell::Range { low, high }) if low == high => {
                text(code.get(low as usize)).to_owned()
            }
            (Scale::Ordered { code, .. }, Cell::Range { low, high }) => {
                format!("[{}, {}]", text(code.get(low as usize)), text(code.get(high as usize)))
            }
            (Scale::Tree(h), Cell::Group { level, group }) => h
                .levels
                .get(level as usize)
                .and_then(|l| l.labels.get(group as usize))
                .map_or("*", String::as_str)
                .to_owned(),
            _ => "*".to_owned(),
        }
    }
}

/// A release: which class each row is in, and what each class publishes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Recoding {
    /// For each row its class, or [`SUPPRESSED`].
    pub class_of: Vec<u32>,
    /// For each class, `width` cells, class after class.
    pub cells: Vec<Cell>,
    /// How many attributes.
    pub width: usize,
    /// How many rows each class has.
    pub sizes: Vec<u64>,
}

impl Recoding {
    /// Every attribute at its level, for all rows. Classes are numbered by
    /// first appearance; none is suppressed yet.
    pub fn full_domain(attributes: &[Attribute<'_>], levels: &[usize]) -> Result<Self> {
        let rows = same_rows(attributes)?;
        let mut groups = Vec::with_capacity(attributes.len());
        if attributes.len() != levels.len() {
            return Err(Error::OutOfRange {
                parameter: "levels",
                allowed: "one per quasi-identifier",
            });
        }
        for (attribute, &level) in attributes.iter().zip(levels) {
            let found = match &attribute.scale {
                Scale::Tree(hierarchy) => hierarchy.levels.get(level),
                Scale::Ordered { .. } => None,
            };
            let group = found.ok_or(Error::OutOfRange {
                parameter: "a level",
                allowed: "one of the levels of the column's hierarchy",
            })?;
            groups.push((attribute.column.codes.as_slice(), group.group.as_slice()));
        }
        let mut known: HashMap<Box<[u32]>, u32> = HashMap::new();
        let mut release = Self { width: levels.len(), ..Self::default() };
        release.class_of.reserve(rows);
        let mut key = vec![0; levels.len()];
        for row in 0..rows {
            for (slot, (codes, group)) in key.iter_mut().zip(&groups) {
                *slot = group[codes[row] as usize];
            }
            let class = match known.get(key.as_slice()) {
                Some(&class) => class,
                None => {
                    let class = release.sizes.len() as u32;
                    release.sizes.push(0);
                    let cells = key.iter().zip(levels);
                    release.cells.extend(
                        cells.map(|(&group, &level)| Cell::Group { level: level as u32, group }),
                    );
                    known.insert(key.clone().into_boxed_slice(), class);
                    class
                }
            };
            release.sizes[class as usize] += 1;
            release.class_of.push(class);
        }
        Ok(release)
    }

    /// The cells of one class.
    #[must_use]
    pub fn cells_of(&self, class: usize) -> &[Cell] {
        self.cells.get(class * self.width..(class + 1) * self.width).unwrap_or(&[])
    }

    /// How many rows are suppressed.
    #[must_use]
    pub fn suppressed(&self) -> u64 {
        self.class_of.len() as u64 - self.sizes.iter().sum::<u64>()
    }

    /// The same release with some classes suppressed; the rest are renumbered in order.
    #[must_use]
    pub fn suppress(&self, drop: impl Fn(usize) -> bool) -> Self {
        let mut kept = Self { width: self.width, ..Self::default() };
        let mut number = vec![SUPPRESSED; self.sizes.len()];
        for (class, number) in number.iter_mut().enumerate().filter(|&(class, _)| !drop(class)) {
            *number = kept.sizes.len() as u32;
            kept.sizes.push(self.sizes[class]);
            kept.cells.extend_from_slice(self.cells_of(class));
        }
        let new = |&c: &u32| number.get(c as usize).copied().unwrap_or(SUPPRESSED);
        kept.class_of = self.class_of.iter().map(new).collect();
        kept
    }

    /// Every class with the histograms of the sensitive columns.
    #[must_use]
    pub fn classes(&self, sensitive: &[&Column]) -> Vec<Class> {
        let empty = |size: &u64| Class {
            size: *size,
            sensitive: sensitive
                .iter()
                .map(|c| Histogram { counts: vec![0; c.values.len()] })
                .collect(),
        };
        let mut classes: Vec<Class> = self.sizes.iter().map(empty).collect();
        for (at, column) in sensitive.iter().enumerate() {
            for (&class, &code) in self.class_of.iter().zip(&column.codes) {
                if let Some(class) = classes.get_mut(class as usize) {
                    class.sensitive[at].counts[code as usize] += 1;
                }
            }
        }
        classes
    }

    /// The published table: the attributes' columns replaced by the labels of
    /// their cells (`*` for suppressed rows), all others as they are.
    #[must_use]
    pub fn publish(&self, table: &Table, attributes: &[Attribute<'_>]) -> Table {
        let mut out = table.clone();
        for (at, attribute) in attributes.iter().enumerate() {
            let mut column = Column { name: attribute.column.name.clone(), ..Column::default() };
            let mut known: HashMap<String, u32> = HashMap::new();
            let mut code_of = |text: String| {
                *known.entry(text).or_insert_with_key(|text| {
                    column.values.push(text.clone());
                    column.values.len() as u32 - 1
                })
            };
            let star = code_of("*".to_owned());
            let mut of_cell: HashMap<Cell, u32> = HashMap::new();
            let of_class: Vec<u32> = (0..self.sizes.len())
                .map(|class| {
                    let Some(&cell) = self.cells_of(class).get(at) else { return star };
                    *of_cell.entry(cell).or_insert_with(|| code_of(attribute.label(cell)))
                })
                .collect();
            let codes = self.class_of.iter();
            column.codes =
                codes.map(|&c| of_class.get(c as usize).copied().unwrap_or(star)).collect();
            if let Some(slot) = out.columns.iter_mut().find(|c| c.name == column.name) {
                *slot = column;
            }
        }
        out
    }
}

/// The number of rows all attributes agree on.
pub(crate) fn same_rows(attributes: &[Attribute<'_>]) -> Result<usize> {
    let needed = Error::OutOfRange { parameter: "the quasi-identifiers", allowed: "at least one" };
    let rows = attributes.first().ok_or(needed)?.column.codes.len();
    if attributes.iter().any(|a| a.column.codes.len() != rows) {
        return Err(Error::OutOfRange {
            parameter: "the columns",
            allowed: "all of the same length",
        });
    }
    if rows == 0 {
        return Err(Error::OutOfRange { parameter: "the table", allowed: "at least one row long" });
    }
    if rows >= SUPPRESSED as usize {
        return Err(Error::OutOfRange { parameter: "the table", allowed: "below 2^32 - 1 rows" });
    }
    Ok(rows)
}
