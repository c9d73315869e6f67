//! Local recoding: every class made finer on its own, and what is too rare to
//! follow stays behind.
//!
//! Starts from one class, or from the classes of a full-domain release (those that
//! fail the models are pooled at the top). A class is then cut again and again:
//! along a hierarchy, the groups one level down that satisfy the models leave with
//! the finer label, and the remainder keeps the coarse one; along an order, both
//! sides of the median leave. Of all such cuts the one is taken that lowers the
//! summed share of leaves most. Unlike Mondrian's boxes, the remainder's label
//! covers values whose rows were published more finely; every row is still
//! published truthfully.
//!
//! # Guarantee
//! Every class satisfies every model, and no two classes carry the same cells.
//! # Proof
//! A remainder that fails is suppressed, if it is no more than may be; else it takes back
//! the smallest groups until it passes, at the latest when it is the class it was cut from. For the cells: a group that left
//! lies, with all that is cut from it, under its own label; the remainder has no row
//! under that label, so nothing cut from it is published there. ∎

use crate::class::Class;
use crate::error::Result;
use crate::hierarchy::Hierarchy;
use crate::model::Model;
use crate::mondrian::{halves, tally, tighten, with};
use crate::partition::{Cut, Judge, Options, Partition, Rule, Stop, Work, run};
use crate::peel::peel;
use crate::recoding::{Attribute, Cell, Recoding, Scale, same_rows};
use crate::records::{Key, Records, empty};
use crate::table::Column;

/// Where local recoding starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Start<'a> {
    /// From the whole table as one class: fastest, and works with ordered columns.
    Whole,
    /// From a full-domain release: one level per attribute, all of which need hierarchies.
    Levels(&'a [usize]),
    /// From one full-domain release after another, each for the rows the earlier
    /// ones left: loses least, and needs hierarchies for all attributes.
    Peeled,
}

/// Recodes the table locally.
///
/// `sensitive` lists the columns in the order the models count them. The answer is
/// `None` if the whole table, as one class, does not satisfy the models.
pub fn local_recoding(
    attributes: &[Attribute<'_>],
    sensitive: &[&Column],
    models: &[Box<dyn Model>],
    start: Start<'_>,
    options: &Options<'_>,
) -> Result<Option<Partition>> {
    same_rows(attributes)?;
    let stop = Stop::new(options);
    let start = match start {
        Start::Whole => None,
        Start::Levels(levels) => Some(Recoding::full_domain(attributes, levels)?),
        Start::Peeled => {
            let table = whole(sensitive, same_rows(attributes)?);
            let least = models.iter().map(|m| m.least_size()).max().unwrap_or(0).max(1);
            let accepts = |class: &Class| models.iter().all(|m| m.holds(class, &table));
            Some(peel(attributes, sensitive, least, &accepts, stop)?)
        }
    };
    run(attributes, sensitive, models, &Finest { start }, options, stop)
}

struct Finest {
    start: Option<Recoding>,
}

impl Rule for Finest {
    fn cut<'l>(
        &self,
        judge: &Judge<'_>,
        work: &mut Work,
        records: Records<'l, '_>,
    ) -> Option<Cut<'l>> {
        if let Some(start) = self.start.as_ref().filter(|_| work.path.is_whole()) {
            let cut = first_cut(start, judge, work, records);
            if cut.is_some() {
                return cut;
            }
        }
        tighten(&mut work.cells, records);
        if (records.len() as u64) < judge.least.saturating_mul(2) {
            return None;
        }
        let mut candidates: Vec<Candidate<'l>> = (0..work.cells.len())
            .filter_map(|at| Candidate::new(judge, work, records, at))
            .collect();
        // Most promising first; an attribute whose bound is no better than what
        // was found is not looked at.
        candidates.sort_by(|a, b| b.bound.total_cmp(&a.bound).then(a.at.cmp(&b.at)));
        let mut best: Option<(f64, Cut<'l>)> = None;
        for candidate in candidates {
            if best.as_ref().is_some_and(|(gain, _)| candidate.bound <= *gain) {
                break;
            }
            let Some((gain, cut)) = candidate.cut(judge, work, records) else { continue };
            if best.as_ref().is_none_or(|(most, _)| gain > *most) {
                best = Some((gain, cut));
            }
        }
        best.map(|(_, cut)| cut)
    }
}

/// A cut not yet checked against the models.
struct Candidate<'l> {
    at: usize,
    /// No cut along this attribute gains more.
    bound: f64,
    division: Division<'l>,
}

/// What an attribute is cut into.
enum Division<'l> {
    Halves { low: u32, high: u32 },
    Groups { hierarchy: &'l Hierarchy, level: u32, counts: Vec<(u32, u64)> },
}

impl<'l> Candidate<'l> {
    fn new(judge: &Judge<'_>, work: &Work, records: Records<'l, '_>, at: usize) -> Option<Self> {
        let attribute: &'l Attribute<'l> = &records.layout.attributes[at];
        match (&attribute.scale, work.cells[at]) {
            (Scale::Ordered { .. }, Cell::Range { low, high }) if low < high => {
                let bound =
                    weight(attribute, attribute.leaves(work.cells[at])) * records.len() as f64;
                Some(Self { at, bound, division: Division::Halves { low, high } })
            }
            (Scale::Tree(hierarchy), Cell::Group { level, .. }) => {
                let level = level.checked_sub(1)?;
                let below = &hierarchy.levels[level as usize];
                let counts = tally(records, at, &below.group, below.labels.len());
                let all = attribute.leaves(work.cells[at]);
                let gains = counts.iter().filter(|&&(_, count)| count >= judge.least).map(
                    |&(group, count)| {
                        let saved =
                            all.saturating_sub(attribute.leaves(Cell::Group { level, group }));
                        weight(attribute, saved) * count as f64
                    },
                );
                let bound: f64 = gains.sum();
                let division = Division::Groups { hierarchy, level, counts };
                (bound > 0.0).then_some(Self { at, bound, division })
            }
            _ => None,
        }
    }

    fn cut(
        self,
        judge: &Judge<'_>,
        work: &Work,
        records: Records<'l, '_>,
    ) -> Option<(f64, Cut<'l>)> {
        let attribute = &records.layout.attributes[self.at];
        let cut = match self.division {
            Division::Halves { low, high } => {
                halves(judge, work, records, self.at, (low, high), 0)?
            }
            Division::Groups { hierarchy, level, counts } => {
                let named: Vec<u32> = counts.iter().map(|&(group, _)| group).collect();
                let of = &hierarchy.levels[level as usize].group;
                let part = (0..named.len()).collect();
                let key = Key::Groups { at: self.at, of, named: named.clone(), part };
                let classes = records.classes(named.len(), &key);
                let mut kept = leave(judge, work, classes, Back::Smallest)?;
                let mut children: Vec<(Vec<Cell>, Class)> = Vec::new();
                let cell = |at: usize| Cell::Group { level, group: named[at] };
                children.extend(
                    std::mem::take(&mut kept.left)
                        .into_iter()
                        .map(|(at, c)| (with(work, self.at, cell(at)), c)),
                );
                children.extend(kept.remainder(work));
                Cut { children, key: Key::Groups { at: self.at, of, named, part: kept.part } }
            }
        };
        let all = attribute.leaves(work.cells[self.at]);
        // What is suppressed loses all that it still had, in every attribute.
        let each = records.layout.attributes.iter().zip(&work.cells);
        let left: f64 =
            each.map(|(a, &cell)| weight(a, a.leaf_count().saturating_sub(a.leaves(cell)))).sum();
        let saved = |cells: &[Cell]| match cells.get(self.at) {
            Some(&cell) => weight(attribute, all.saturating_sub(attribute.leaves(cell))),
            None => -left,
        };
        let gain: f64 = cut.children.iter().map(|(cells, c)| saved(cells) * c.size as f64).sum();
        (gain > 0.0).then_some((gain, cut))
    }
}

/// A number of leaves as a share of those a cell can lose.
fn weight(attribute: &Attribute<'_>, leaves: u64) -> f64 {
    leaves as f64 / (attribute.leaf_count().max(2) - 1) as f64
}

/// Which parts a remainder that fails takes back first.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Back {
    Smallest,
    /// The last listed. Of peeled classes only the last have no later class
    /// whose labels cover theirs.
    Latest,
}

/// Which parts leave and what stays behind.
struct Separation {
    /// The parts that leave, each with its former number.
    left: Vec<(usize, Class)>,
    /// What stays, if anything.
    remainder: Option<Class>,
    /// Whether what stays fails, and is suppressed.
    lost: bool,
    /// For each part, its new number; the remainder's is the last.
    part: Vec<usize>,
}

impl Separation {
    /// What stays, with its cells; without them where it is suppressed.
    fn remainder(&mut self, work: &Work) -> Option<(Vec<Cell>, Class)> {
        let cells = if self.lost { Vec::new() } else { work.cells.clone() };
        self.remainder.take().map(|class| (cells, class))
    }
}

/// Lets the parts that satisfy the models leave, as long as the rest satisfies
/// them too, or is no more than may be suppressed; `None` if none can.
fn leave(judge: &Judge<'_>, work: &Work, classes: Vec<Class>, back: Back) -> Option<Separation> {
    let parts = classes.len();
    let (mut left, stay): (Vec<_>, Vec<_>) = classes
        .into_iter()
        .enumerate()
        .partition(|(_, class)| judge.accepts(class, Some(&work.path)));
    let mut remainder: Option<Class> = None;
    for (_, class) in stay {
        join(&mut remainder, class);
    }
    let fails = |rest: &Class| !judge.accepts(rest, Some(&work.path));
    let lost = remainder.as_ref().is_some_and(|rest| rest.size <= work.budget && fails(rest));
    if !lost && remainder.as_ref().is_some_and(fails) {
        if back == Back::Smallest {
            left.sort_by_key(|(at, class)| std::cmp::Reverse((class.size, *at)));
        }
        while let Some((_, class)) = left.pop() {
            join(&mut remainder, class);
            if remainder.as_ref().is_some_and(|rest| !fails(rest)) {
                break;
            }
        }
        left.sort_by_key(|&(at, _)| at);
    }
    if left.is_empty() {
        return None;
    }
    let mut part = vec![left.len(); parts];
    for (new, (old, _)) in left.iter().enumerate() {
        part[*old] = new;
    }
    Some(Separation { left, remainder, lost, part })
}

fn join(sum: &mut Option<Class>, class: Class) {
    let Some(sum) = sum else {
        *sum = Some(class);
        return;
    };
    sum.size += class.size;
    for (into, from) in sum.sensitive.iter_mut().zip(class.sensitive) {
        for (into, from) in into.counts.iter_mut().zip(from.counts) {
            *into += from;
        }
    }
}

/// The cut into the classes of a full-domain release.
fn first_cut<'l>(
    start: &Recoding,
    judge: &Judge<'_>,
    work: &Work,
    records: Records<'l, '_>,
) -> Option<Cut<'l>> {
    let classes = records.classes(start.sizes.len(), &Key::Rows(start.class_of.clone()));
    if classes.len() < 2 {
        return None;
    }
    let mut kept = leave(judge, work, classes, Back::Latest)?;
    let mut children: Vec<(Vec<Cell>, Class)> = Vec::new();
    let left = std::mem::take(&mut kept.left).into_iter();
    children.extend(left.map(|(at, class)| (start.cells_of(at).to_vec(), class)));
    children.extend(kept.remainder(work));
    let part = start.class_of.iter().map(|&class| kept.part[class as usize] as u32).collect();
    Some(Cut { children, key: Key::Rows(part) })
}

/// The whole table as one class.
fn whole(sensitive: &[&Column], rows: usize) -> Class {
    let mut class = empty(sensitive);
    class.size = rows as u64;
    for (histogram, column) in class.sensitive.iter_mut().zip(sensitive) {
        column.codes.iter().for_each(|&code| histogram.counts[code as usize] += 1);
    }
    class
}
