//! The machinery Mondrian and local recoding share: rows cut into parts, parts
//! into smaller parts, until a rule cuts no more.
//!
//! Rows are copied once into one array of records and then only swapped within
//! the part they belong to, so every pass reads memory in order. The parts of
//! the tree are ranges of that array; which threads worked on them leaves no trace.

use crate::class::Class;
use crate::error::{Error, Result};
use crate::model::Model;
use crate::recoding::{Attribute, Cell, Recoding, same_rows};
use crate::records::{Key, Layout, Records, arrange, empty};
use crate::table::Column;
use std::sync::{Arc, Mutex, PoisonError};

/// A release with the tree of cuts that led to it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Partition {
    /// The classes.
    pub recoding: Recoding,
    /// Every part that was ever cut and every class, each before its own parts.
    pub nodes: Vec<Node>,
    /// The rows, arranged such that every node is a range of them.
    pub order: Vec<u32>,
    /// For each class, its node.
    pub leaf: Vec<u32>,
}

/// One part of the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Node {
    /// The part it was cut from; `None` for the whole table.
    pub parent: Option<u32>,
    /// Its first position in [`Partition::order`].
    pub start: u32,
    /// The position after its last.
    pub end: u32,
}

impl Partition {
    /// The nodes that contain a class, from its parent to the whole table.
    pub fn ancestors(&self, class: usize) -> impl Iterator<Item = &Node> {
        let node = |at: u32| self.nodes.get(at as usize);
        let own = self.leaf.get(class).and_then(|&at| node(at));
        std::iter::successors(own, move |n| n.parent.and_then(node)).skip(1)
    }

    /// A node as a class: its size and the histograms of the sensitive columns.
    #[must_use]
    pub fn class(&self, node: &Node, sensitive: &[&Column]) -> Class {
        let rows = self.order.get(node.start as usize..node.end as usize).unwrap_or(&[]);
        let mut class = empty(sensitive);
        class.size = rows.len() as u64;
        for (histogram, column) in class.sensitive.iter_mut().zip(sensitive) {
            for &row in rows {
                histogram.counts[column.codes[row as usize] as usize] += 1;
            }
        }
        class
    }
}

/// The classes on the way from a part up to the whole table.
pub(crate) struct Path {
    pub(crate) class: Class,
    parent: Option<Arc<Path>>,
}

impl Path {
    /// Whether this is the whole table.
    pub(crate) fn is_whole(&self) -> bool {
        self.parent.is_none()
    }
}

/// The models, and the table they compare with.
pub(crate) struct Judge<'a> {
    models: &'a [Box<dyn Model>],
    table: Class,
    /// No smaller class can pass.
    pub(crate) least: u64,
}

impl Judge<'_> {
    /// Whether a part of `within` satisfies every model.
    pub(crate) fn accepts(&self, class: &Class, within: Option<&Path>) -> bool {
        class.size >= self.least
            && self.models.iter().all(|model| {
                if model.needs_ancestors() {
                    let mut up =
                        std::iter::successors(within, |p| p.parent.as_deref()).map(|p| &p.class);
                    model.holds_among(class, &mut up, &self.table)
                } else {
                    model.holds(class, &self.table)
                }
            })
    }
}

/// A part that is still to be looked at.
pub(crate) struct Work {
    pub(crate) cells: Vec<Cell>,
    pub(crate) path: Arc<Path>,
}

/// How a part is cut.
pub(crate) struct Cut<'l> {
    /// The parts, none of them empty, each with its cells.
    pub(crate) children: Vec<(Vec<Cell>, Class)>,
    /// Which part a record goes to.
    pub(crate) key: Key<'l>,
}

/// When to cut, and how.
pub(crate) trait Rule: Sync {
    /// Tightens the cells of the part, and cuts it or declares it a class.
    fn cut<'l>(
        &self,
        judge: &Judge<'_>,
        work: &mut Work,
        records: Records<'l, '_>,
    ) -> Option<Cut<'l>>;
}

/// A node without its parent, which its range tells.
struct Found {
    start: u32,
    end: u32,
    /// Empty unless the node is a class.
    cells: Vec<Cell>,
}

/// Cuts until the rule cuts no more; `None` if the whole table, as one class,
/// does not satisfy the models.
pub(crate) fn run(
    attributes: &[Attribute<'_>],
    sensitive: &[&Column],
    models: &[Box<dyn Model>],
    rule: &impl Rule,
    threads: usize,
) -> Result<Option<Partition>> {
    let rows = same_rows(attributes)?;
    if sensitive.iter().any(|c| c.codes.len() != rows) {
        return Err(Error::OutOfRange {
            parameter: "the columns",
            allowed: "all of the same length",
        });
    }
    if models.iter().any(|m| !m.per_class()) {
        return Err(Error::OutOfRange {
            parameter: "the models",
            allowed: "decided class by class; one M for all classes needs a full-domain search",
        });
    }
    if models.iter().filter_map(|m| m.column()).any(|c| c >= sensitive.len()) {
        return Err(Error::OutOfRange {
            parameter: "the models",
            allowed: "about sensitive columns that are named",
        });
    }
    let layout = Layout { attributes, sensitive };
    let mut data = layout.load(rows);
    let records = Records { layout: &layout, data: &data };
    let whole = records.classes(1, &Key::Whole).swap_remove(0);
    let least = models.iter().map(|m| m.least_size()).max().unwrap_or(0).max(1);
    let judge = Judge { models, table: whole.clone(), least };
    if !judge.accepts(&whole, None) {
        return Ok(None);
    }
    let cells = attributes.iter().map(Attribute::top).collect();
    let work = Work { cells, path: Arc::new(Path { class: whole, parent: None }) };
    let grow = Grow { layout: &layout, judge: &judge, rule };
    let found = grow.all(work, &mut data, threads.max(1));
    Ok(Some(assemble(found, &data, &layout)))
}

struct Grow<'a, R> {
    layout: &'a Layout<'a>,
    judge: &'a Judge<'a>,
    rule: &'a R,
}

impl<R: Rule> Grow<'_, R> {
    /// Cuts one part; its parts come back in order, with the length of each.
    fn one(
        &self,
        mut work: Work,
        start: usize,
        data: &mut [u32],
        found: &mut Vec<Found>,
    ) -> Vec<(Work, usize)> {
        let records = Records { layout: self.layout, data };
        let (from, to) = (start as u32, (start + records.len()) as u32);
        let Some(cut) = self.rule.cut(self.judge, &mut work, records) else {
            found.push(Found { start: from, end: to, cells: work.cells });
            return Vec::new();
        };
        found.push(Found { start: from, end: to, cells: Vec::new() });
        let sizes: Vec<usize> = cut.children.iter().map(|(_, class)| class.size as usize).collect();
        arrange(data, self.layout.width(), &sizes, |record| cut.key.part(record));
        let parent = work.path;
        let child = |(cells, class): (Vec<Cell>, Class)| Work {
            cells,
            path: Arc::new(Path { class, parent: Some(Arc::clone(&parent)) }),
        };
        cut.children.into_iter().map(child).zip(sizes).collect()
    }

    /// Cuts a part and all its parts.
    fn below(&self, work: Work, start: usize, data: &mut [u32], found: &mut Vec<Found>) {
        let width = self.layout.width();
        let mut stack = vec![(work, 0, data.len() / width)];
        while let Some((work, from, rows)) = stack.pop() {
            let slice = &mut data[from * width..(from + rows) * width];
            let mut at = from;
            for (child, rows) in self.one(work, start + from, slice, found) {
                stack.push((child, at, rows));
                at += rows;
            }
        }
    }

    /// The same with several threads: the largest parts are cut here until there
    /// are enough to share out.
    fn all(&self, work: Work, data: &mut [u32], threads: usize) -> Vec<Found> {
        let width = self.layout.width();
        let mut found = Vec::new();
        let rows = data.len() / width;
        if threads == 1 || rows < 4096 {
            self.below(work, 0, data, &mut found);
            return found;
        }
        let mut open = vec![(work, 0, data)];
        while open.len() < 8 * threads {
            let largest = open.iter().enumerate().max_by_key(|(_, (_, _, part))| part.len());
            let Some(at) = largest.map(|(at, _)| at) else { break };
            if open[at].2.len() / width < rows / (16 * threads) {
                break;
            }
            let (work, mut start, mut part) = open.swap_remove(at);
            for (child, rows) in self.one(work, start, part, &mut found) {
                let (head, tail) = part.split_at_mut(rows * width);
                open.push((child, start, head));
                start += rows;
                part = tail;
            }
        }
        open.sort_by_key(|(_, _, part)| part.len());
        let queue = Mutex::new(open);
        let total = Mutex::new(found);
        std::thread::scope(|scope| {
            for _ in 0..threads {
                scope.spawn(|| {
                    let mut found = Vec::new();
                    loop {
                        let next = queue.lock().unwrap_or_else(PoisonError::into_inner).pop();
                        let Some((work, start, part)) = next else { break };
                        self.below(work, start, part, &mut found);
                    }
                    total.lock().unwrap_or_else(PoisonError::into_inner).append(&mut found);
                });
            }
        });
        total.into_inner().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Orders the nodes, each before its own parts, and numbers the classes.
fn assemble(mut found: Vec<Found>, data: &[u32], layout: &Layout<'_>) -> Partition {
    found.sort_unstable_by_key(|f| (f.start, std::cmp::Reverse(f.end)));
    let width = layout.width();
    let order: Vec<u32> = data.chunks_exact(width).map(|record| record[width - 1]).collect();
    let mut partition = Partition { order, ..Partition::default() };
    let recoding = &mut partition.recoding;
    recoding.width = layout.attributes.len();
    recoding.class_of = vec![0; partition.order.len()];
    let mut above: Vec<u32> = Vec::new();
    for node in found {
        while above.last().is_some_and(|&up| partition.nodes[up as usize].end <= node.start) {
            above.pop();
        }
        let number = partition.nodes.len() as u32;
        partition.nodes.push(Node {
            parent: above.last().copied(),
            start: node.start,
            end: node.end,
        });
        if node.cells.is_empty() {
            above.push(number);
            continue;
        }
        let class = recoding.sizes.len() as u32;
        recoding.sizes.push(u64::from(node.end - node.start));
        recoding.cells.extend(node.cells);
        partition.leaf.push(number);
        for &row in &partition.order[node.start as usize..node.end as usize] {
            recoding.class_of[row as usize] = class;
        }
    }
    partition
}
