//! The machinery Mondrian and local recoding share: rows cut into parts, parts
//! into smaller parts, until a rule cuts no more.
//!
//! Rows are copied once into one array of records and then only swapped within
//! the part they belong to, so every pass reads memory in order. The parts of
//! the tree are ranges of that array; which threads worked on them leaves no trace.

use crate::class::Class;
use crate::error::{Error, Result};
use crate::model::Model;
use crate::recoding::{Attribute, Cell, Recoding, SUPPRESSED, same_rows};
use crate::records::{Key, Layout, Records, arrange, empty};
use crate::table::Column;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// How to cut.
#[derive(Clone, Copy, Default)]
pub struct Options<'a> {
    /// Threads; 0 means as many as the machine has.
    pub threads: usize,
    /// How many rows may be suppressed where a cut would fail without. Each part may spend its
    /// share by rows, so that the release does not depend on threads.
    pub suppress: u64,
    /// After so long parts are left as they are: all satisfy the models.
    pub time: Option<Duration>,
    /// The same as soon as it is true.
    pub cancel: Option<&'a AtomicBool>,
    /// Called for every part that is left as it is, from any thread.
    pub progress: Option<&'a (dyn Fn(Progress) + Sync)>,
}

/// Where the cutting stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Progress {
    /// How many rows are in parts that stay as they are.
    pub settled: u64,
    /// How many rows there are.
    pub rows: u64,
    /// How many parts stay as they are.
    pub classes: u64,
}

/// When to stop.
#[derive(Clone, Copy, Default)]
pub(crate) struct Stop<'a> {
    cancel: Option<&'a AtomicBool>,
    until: Option<Instant>,
}

impl<'a> Stop<'a> {
    pub(crate) fn new(options: &Options<'a>) -> Self {
        let until = options.time.and_then(|time| Instant::now().checked_add(time));
        Self { cancel: options.cancel, until }
    }

    /// When a search is to stop, whose time began some while ago.
    pub(crate) fn at(cancel: Option<&'a AtomicBool>, until: Option<Instant>) -> Self {
        Self { cancel, until }
    }

    pub(crate) fn over(&self) -> bool {
        self.cancel.is_some_and(|cancel| cancel.load(Relaxed))
            || self.until.is_some_and(|until| Instant::now() >= until)
    }
}

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
    /// Whether it was stopped: parts may be coarser than they had to be.
    pub stopped: bool,
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
    /// How many of its rows may be suppressed.
    pub(crate) budget: u64,
}

/// How a part is cut.
pub(crate) struct Cut<'l> {
    /// The parts, none of them empty, each with its cells; one without cells is suppressed.
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
struct UnlinkedNode {
    start: u32,
    end: u32,
    kind: Kind,
}

enum Kind {
    /// Cut further.
    Inner,
    Class(Vec<Cell>),
    Suppressed,
}

/// Cuts until the rule cuts no more; `None` if the whole table, as one class,
/// does not satisfy the models.
pub(crate) fn run(
    attributes: &[Attribute<'_>],
    sensitive: &[&Column],
    models: &[Box<dyn Model>],
    rule: &impl Rule,
    options: &Options<'_>,
    stop: Stop<'_>,
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
    let path = Arc::new(Path { class: whole, parent: None });
    let work = Work { cells, path, budget: options.suppress };
    let grow = Grow {
        layout: &layout,
        judge: &judge,
        rule,
        stop,
        stopped: AtomicBool::new(false),
        progress: options.progress,
        settled: AtomicU64::new(0),
        classes: AtomicU64::new(0),
        rows: rows as u64,
    };
    let threads = match options.threads {
        0 => std::thread::available_parallelism().map_or(1, usize::from),
        threads => threads,
    };
    let found = grow.all(work, &mut data, threads);
    let mut partition = assemble(found, &data, &layout);
    partition.stopped = grow.stopped.into_inner();
    Ok(Some(partition))
}

struct Grow<'a, R> {
    layout: &'a Layout<'a>,
    judge: &'a Judge<'a>,
    rule: &'a R,
    stop: Stop<'a>,
    stopped: AtomicBool,
    progress: Option<&'a (dyn Fn(Progress) + Sync)>,
    settled: AtomicU64,
    classes: AtomicU64,
    rows: u64,
}

impl<R: Rule> Grow<'_, R> {
    /// Cuts one part; its parts come back in order, with the length of each.
    fn one(
        &self,
        mut work: Work,
        start: usize,
        data: &mut [u32],
        found: &mut Vec<UnlinkedNode>,
    ) -> Vec<(Work, usize)> {
        let records = Records { layout: self.layout, data };
        let (from, to) = (start as u32, (start + records.len()) as u32);
        if work.cells.is_empty() {
            self.settle(u64::from(to - from));
            found.push(UnlinkedNode { start: from, end: to, kind: Kind::Suppressed });
            return Vec::new();
        }
        let cut = if self.stop.over() {
            self.stopped.store(true, Relaxed);
            None
        } else {
            self.rule.cut(self.judge, &mut work, records)
        };
        let Some(cut) = cut else {
            self.settle(u64::from(to - from));
            found.push(UnlinkedNode { start: from, end: to, kind: Kind::Class(work.cells) });
            return Vec::new();
        };
        found.push(UnlinkedNode { start: from, end: to, kind: Kind::Inner });
        let sizes: Vec<usize> = cut.children.iter().map(|(_, class)| class.size as usize).collect();
        arrange(data, self.layout.width(), &sizes, |record| cut.key.part(record));
        let (parent, kept) =
            (work.path, cut.children.iter().filter(|(cells, _)| !cells.is_empty()));
        let kept: u64 = kept.map(|(_, class)| class.size).sum();
        let budget = work.budget.saturating_sub(u64::from(to - from) - kept);
        let child = |(cells, class): (Vec<Cell>, Class)| {
            let share = u128::from(budget) * u128::from(class.size) / u128::from(kept.max(1));
            let path = Arc::new(Path { class, parent: Some(Arc::clone(&parent)) });
            Work { cells, path, budget: share as u64 }
        };
        cut.children.into_iter().map(child).zip(sizes).collect()
    }

    /// A part stays as it is.
    fn settle(&self, rows: u64) {
        let Some(progress) = self.progress else { return };
        let settled = self.settled.fetch_add(rows, Relaxed) + rows;
        let classes = self.classes.fetch_add(1, Relaxed) + 1;
        progress(Progress { settled, rows: self.rows, classes });
    }

    /// Cuts a part and all its parts.
    fn below(&self, work: Work, start: usize, data: &mut [u32], found: &mut Vec<UnlinkedNode>) {
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
    fn all(&self, work: Work, data: &mut [u32], threads: usize) -> Vec<UnlinkedNode> {
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
fn assemble(mut found: Vec<UnlinkedNode>, data: &[u32], layout: &Layout<'_>) -> Partition {
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
        let class = match node.kind {
            Kind::Inner => {
                above.push(number);
                continue;
            }
            Kind::Suppressed => SUPPRESSED,
            Kind::Class(cells) => {
                let class = recoding.sizes.len() as u32;
                recoding.sizes.push(u64::from(node.end - node.start));
                recoding.cells.extend(cells);
                partition.leaf.push(number);
                class
            }
        };
        for &row in &partition.order[node.start as usize..node.end as usize] {
            recoding.class_of[row as usize] = class;
        }
    }
    partition
}
