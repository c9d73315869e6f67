//! What a release is still good for.
//!
//! All measures are of a [`Recoding`], so full-domain, Mondrian and local releases
//! compare. N counts all rows, suppressed ones included; a suppressed cell counts
//! as the coarsest there is.

use crate::error::{Error, Result};
use crate::recoding::{Attribute, Cell, Recoding, SUPPRESSED, Scale};
use std::collections::HashMap;

/// The measures of one release.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Utility {
    /// ARX's Loss, 0 to 1: `Π(1+L)^(1/d) − 1`; see [`loss_as_arx`].
    pub loss: f64,
    /// Sweeney's precision, 0 to 1; larger is better; see [`precision`].
    pub precision: f64,
    /// `Σ|E|² + N·suppressed`.
    pub discernibility: u128,
    /// `N / (classes + 1 if anything is suppressed)`.
    pub average_class_size: f64,
    /// Non-uniform entropy in bits, over all cells; see [`entropy`].
    pub entropy: f64,
    /// The same as a share of that of a fully suppressed table.
    pub entropy_share: f64,
    /// How many classes.
    pub classes: u64,
    /// How many rows are suppressed.
    pub suppressed: u64,
}

/// All measures at once.
#[must_use]
pub fn utility(attributes: &[Attribute<'_>], release: &Recoding) -> Utility {
    let (entropy, most) = entropy(attributes, release);
    Utility {
        loss: loss_as_arx(attributes, release),
        precision: precision(attributes, release),
        discernibility: discernibility(release),
        average_class_size: average_class_size(release),
        entropy,
        entropy_share: if most > 0.0 { entropy / most } else { 0.0 },
        classes: release.sizes.len() as u64,
        suppressed: release.suppressed(),
    }
}

/// `Π(1+L_a)^(1/d) − 1` with `L_a = (Σ share − N/size) / (N − N/size)`: share is the
/// leaves under a cell over all leaves, 1 if suppressed; size is how many
/// leaves the attribute has. An attribute of one leaf loses nothing.
#[must_use]
pub fn loss(attributes: &[Attribute<'_>], release: &Recoding) -> f64 {
    mean_loss(attributes, release, |lost, most| lost as f64 / most as f64)
}

/// The same with each `L_a` cut off after ten decimals, as ARX 3.9 does: it
/// reproduces ARX's scores to the twelve decimals known.
#[must_use]
pub fn loss_as_arx(attributes: &[Attribute<'_>], release: &Recoding) -> f64 {
    const TEN_DECIMALS: u128 = 10_000_000_000;
    mean_loss(attributes, release, |lost, most| {
        let exact = lost.checked_mul(TEN_DECIMALS).map(|scaled| (scaled / most) as f64 / 1e10);
        exact.unwrap_or(lost as f64 / most as f64)
    })
}

/// The mean, with `L_a` given by its numerator and denominator.
fn mean_loss(
    attributes: &[Attribute<'_>],
    release: &Recoding,
    ratio: impl Fn(u128, u128) -> f64,
) -> f64 {
    let dimensions = attributes.len().max(1) as f64;
    let one = |(at, attribute)| {
        let (lost, most) = attribute_loss(at, attribute, release);
        let lost = if most == 0 { 0.0 } else { ratio(lost, most) };
        (1.0 + lost).powf(1.0 / dimensions)
    };
    attributes.iter().enumerate().map(one).product::<f64>() - 1.0
}

/// `L_a` as a numerator and a denominator: both, times size, are integers.
fn attribute_loss(at: usize, attribute: &Attribute<'_>, release: &Recoding) -> (u128, u128) {
    let rows = release.class_of.len() as u128;
    let size = u128::from(attribute.leaf_count());
    let mut leaves = u128::from(release.suppressed()) * size;
    for (class, &count) in release.sizes.iter().enumerate() {
        let cell = release.cells_of(class).get(at);
        leaves += u128::from(count) * cell.map_or(size, |&c| u128::from(attribute.leaves(c)));
    }
    (leaves.saturating_sub(rows), rows * size.saturating_sub(1))
}

/// `1 − mean over all cells of level/height`, a suppressed cell counting 1. A
/// range counts its width `(ranks − 1)/(all ranks − 1)` instead of a level.
#[must_use]
pub fn precision(attributes: &[Attribute<'_>], release: &Recoding) -> f64 {
    let cells = release.class_of.len() as f64 * attributes.len() as f64;
    if cells == 0.0 {
        return 1.0;
    }
    let mut coarse = release.suppressed() as f64 * attributes.len() as f64;
    for (class, &rows) in release.sizes.iter().enumerate() {
        for (attribute, &cell) in attributes.iter().zip(release.cells_of(class)) {
            coarse += rows as f64 * height(attribute, cell);
        }
    }
    1.0 - coarse / cells
}

/// How high a cell is, 0 to 1.
fn height(attribute: &Attribute<'_>, cell: Cell) -> f64 {
    match (&attribute.scale, cell) {
        (Scale::Tree(hierarchy), Cell::Group { level, .. }) => {
            (f64::from(level) / hierarchy.height().max(1) as f64).min(1.0)
        }
        _ => (attribute.leaves(cell) - 1) as f64 / (attribute.leaf_count().max(2) - 1) as f64,
    }
}

/// `Σ|E|² + N·suppressed`.
#[must_use]
pub fn discernibility(release: &Recoding) -> u128 {
    let squares: u128 = release.sizes.iter().map(|&size| u128::from(size) * u128::from(size)).sum();
    squares + release.class_of.len() as u128 * u128::from(release.suppressed())
}

/// `N / (classes + 1 if anything is suppressed)`; 0 for an empty table.
#[must_use]
pub fn average_class_size(release: &Recoding) -> f64 {
    let groups = release.sizes.len() + usize::from(release.suppressed() > 0);
    if groups == 0 { 0.0 } else { release.class_of.len() as f64 / groups as f64 }
}

/// Non-uniform entropy in bits, and the most it can be.
///
/// `Σ −log2(n(v)/n(g))` over all cells: n(v) counts the rows of the original
/// table with the value v, n(g) those whose value lies under the published cell; N
/// for a suppressed one.
#[must_use]
pub fn entropy(attributes: &[Attribute<'_>], release: &Recoding) -> (f64, f64) {
    let rows = release.class_of.len() as f64;
    let (mut bits, mut most) = (0.0, 0.0);
    for (at, attribute) in attributes.iter().enumerate() {
        let coverage = Coverage::new(attribute, |_| true);
        let mut covered: HashMap<Cell, u64> = HashMap::new();
        let mut in_cell = |cell: Cell| *covered.entry(cell).or_insert_with(|| coverage.rows(cell));
        // −Σ log n(v) needs only the values; Σ log n(g) only the classes.
        let single: f64 =
            coverage.each.iter().filter(|&&n| n > 0).map(|&n| n as f64 * (n as f64).log2()).sum();
        let mut coarse = release.suppressed() as f64 * rows.max(1.0).log2();
        for (class, &size) in release.sizes.iter().enumerate() {
            let under = release.cells_of(class).get(at).map_or(rows as u64, |&cell| in_cell(cell));
            coarse += size as f64 * (under.max(1) as f64).log2();
        }
        bits += (coarse - single).max(0.0);
        most += (rows * rows.max(1.0).log2() - single).max(0.0);
    }
    (bits, most)
}

/// How many rows, and how many distinct values that occur, each cell covers, among
/// the values that a query asks for.
struct Coverage<'a> {
    attribute: &'a Attribute<'a>,
    /// Rows for each code (hierarchy) or rank (order).
    each: Vec<u64>,
    /// Ordered: sums up to each rank, of rows and of values. Hierarchy: by level and group.
    sums: Vec<Vec<(u64, u64)>>,
}

impl<'a> Coverage<'a> {
    fn new(attribute: &'a Attribute<'a>, wanted: impl Fn(u32) -> bool) -> Self {
        let codes = &attribute.column.codes;
        let (slots, slot): (usize, &dyn Fn(u32) -> u32) = match &attribute.scale {
            Scale::Ordered { rank, code } => (code.len(), &|c| rank[c as usize]),
            Scale::Tree(_) => (attribute.column.values.len(), &|c| c),
        };
        let mut each = vec![0; slots];
        for &code in codes {
            each[slot(code) as usize] += 1;
        }
        let sums = Self::sums(attribute, &each, wanted);
        Self { attribute, each, sums }
    }

    fn sums(
        attribute: &Attribute<'_>,
        each: &[u64],
        wanted: impl Fn(u32) -> bool,
    ) -> Vec<Vec<(u64, u64)>> {
        let of = |slot: usize| match each[slot] {
            n if n > 0 && wanted(slot as u32) => (n, 1),
            _ => (0, 0),
        };
        match &attribute.scale {
            Scale::Ordered { .. } => {
                let mut sums = vec![(0, 0)];
                for slot in 0..each.len() {
                    let ((rows, values), (n, one)) = (sums[slot], of(slot));
                    sums.push((rows + n, values + one));
                }
                vec![sums]
            }
            Scale::Tree(hierarchy) => {
                let mut levels: Vec<Vec<(u64, u64)>> = Vec::new();
                for level in &hierarchy.levels {
                    let mut groups = vec![(0, 0); level.labels.len()];
                    for (slot, &group) in level.group.iter().enumerate() {
                        let (n, one) = of(slot);
                        groups[group as usize].0 += n;
                        groups[group as usize].1 += one;
                    }
                    levels.push(groups);
                }
                let all = (0..each.len()).map(of).fold((0, 0), |s, x| (s.0 + x.0, s.1 + x.1));
                levels.push(vec![all]);
                levels
            }
        }
    }

    fn at(&self, cell: Cell) -> (u64, u64) {
        cell_sum(&self.sums, cell)
    }

    fn rows(&self, cell: Cell) -> u64 {
        self.at(cell).0
    }
}

fn cell_sum(sums: &[Vec<(u64, u64)>], cell: Cell) -> (u64, u64) {
    match cell {
        Cell::Range { low, high } => {
            let sum = |at: usize| sums.first().and_then(|s| s.get(at)).copied().unwrap_or((0, 0));
            let (below, upto) = (sum(low as usize), sum(high as usize + 1));
            (upto.0.saturating_sub(below.0), upto.1.saturating_sub(below.1))
        }
        Cell::Group { level, group } => {
            let groups = sums.get(level as usize);
            groups.and_then(|g| g.get(group as usize)).copied().unwrap_or((0, 0))
        }
    }
}

/// How queries are drawn.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Queries {
    /// How many.
    pub count: usize,
    /// How many attributes each restricts; at most all.
    pub attributes: usize,
    /// The share of an attribute's values each restriction keeps, above 0, at most 1.
    pub keep: f64,
    /// The same seed draws the same queries.
    pub seed: u64,
}

/// How far counts estimated from the release are from the true ones.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct QueryError {
    /// The mean of `|estimate − truth| / max(truth, N/1000, 1)`.
    pub mean: f64,
    /// The median.
    pub median: f64,
    /// The largest.
    pub worst: f64,
}

/// Draws count queries and answers them from the release as its reader would.
///
/// A query keeps a range of neighbouring values of an ordered attribute, any set
/// of values of another. A reader takes a class's rows to be spread evenly over
/// the distinct values under its cells; suppressed rows over all values.
/// # Cost
/// Every query reads every row once: O(count · (N + classes)).
pub fn query_error(
    attributes: &[Attribute<'_>],
    release: &Recoding,
    queries: &Queries,
) -> Result<QueryError> {
    if queries.count == 0 || queries.attributes == 0 {
        return Err(Error::OutOfRange {
            parameter: "the number of queries",
            allowed: "at least 1",
        });
    }
    if !(queries.keep > 0.0 && queries.keep <= 1.0) {
        return Err(Error::OutOfRange {
            parameter: "the share a query keeps",
            allowed: "above 0, at most 1",
        });
    }
    let all: Vec<Coverage<'_>> = attributes.iter().map(|a| Coverage::new(a, |_| true)).collect();
    let floor = (release.class_of.len() as f64 / 1000.0).max(1.0);
    let mut draw = SplitMix(queries.seed);
    let mut errors: Vec<f64> = (0..queries.count)
        .map(|_| {
            let mut chosen: Vec<usize> = (0..attributes.len()).collect();
            draw.shuffle(&mut chosen);
            chosen.truncate(queries.attributes);
            let wanted: Vec<(usize, Vec<bool>)> =
                chosen.into_iter().map(|at| (at, draw.subset(&all[at], queries.keep))).collect();
            let (truth, estimate) = answer(&all, release, &wanted);
            (estimate - truth).abs() / truth.max(floor)
        })
        .collect();
    errors.sort_by(f64::total_cmp);
    let mean = errors.iter().sum::<f64>() / errors.len() as f64;
    let at = |i: usize| errors.get(i).copied().unwrap_or(0.0);
    Ok(QueryError { mean, median: at(errors.len() / 2), worst: at(errors.len() - 1) })
}

/// The true count, and the one a reader of the release would give.
fn answer(all: &[Coverage<'_>], release: &Recoding, wanted: &[(usize, Vec<bool>)]) -> (f64, f64) {
    let mut inside = vec![true; release.class_of.len()];
    let mut spread = vec![1.0; release.sizes.len()];
    let mut of_suppressed = 1.0;
    for (at, keep) in wanted {
        let coverage = &all[*at];
        let codes = coverage.attribute.column.codes.iter();
        match &coverage.attribute.scale {
            Scale::Ordered { rank, .. } => {
                inside
                    .iter_mut()
                    .zip(codes)
                    .for_each(|(r, &c)| *r &= keep[rank[c as usize] as usize]);
            }
            Scale::Tree(_) => {
                inside.iter_mut().zip(codes).for_each(|(r, &c)| *r &= keep[c as usize])
            }
        }
        let asked = Coverage::sums(coverage.attribute, &coverage.each, |slot| keep[slot as usize]);
        let share = |cell| cell_sum(&asked, cell).1 as f64 / coverage.at(cell).1.max(1) as f64;
        for (class, spread) in spread.iter_mut().enumerate() {
            *spread *= release.cells_of(class).get(*at).map_or(1.0, |&cell| share(cell));
        }
        let kept = keep.iter().zip(&coverage.each).filter(|&(&k, &n)| k && n > 0).count();
        let values = coverage.each.iter().filter(|&&n| n > 0).count();
        of_suppressed *= kept as f64 / values.max(1) as f64;
    }
    let truth = inside.iter().filter(|&&r| r).count() as f64;
    let estimate: f64 = release.sizes.iter().zip(&spread).map(|(&size, s)| size as f64 * s).sum();
    let hidden = release.class_of.iter().filter(|&&c| c == SUPPRESSED).count() as f64;
    (truth, estimate + hidden * of_suppressed)
}

/// The generator of Steele, Lea and Flood (2014): enough for drawing queries.
struct SplitMix(u64);

impl SplitMix {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// From 0 to `end − 1`; the bias of 2⁻⁶⁴ · end is of no account here.
    fn below(&mut self, end: usize) -> usize {
        ((u128::from(self.next()) * end as u128) >> 64) as usize
    }

    fn shuffle(&mut self, items: &mut [usize]) {
        for at in (1..items.len()).rev() {
            items.swap(at, self.below(at + 1));
        }
    }

    /// Which slots of an attribute a query keeps.
    fn subset(&mut self, coverage: &Coverage<'_>, keep: f64) -> Vec<bool> {
        let slots = coverage.each.len();
        let kept = ((slots as f64 * keep).ceil() as usize).clamp(1, slots.max(1));
        let mut wanted = vec![false; slots];
        if let Scale::Ordered { .. } = coverage.attribute.scale {
            let first = self.below(slots + 1 - kept.min(slots));
            wanted.iter_mut().skip(first).take(kept).for_each(|w| *w = true);
            return wanted;
        }
        let mut codes: Vec<usize> = (0..slots).collect();
        self.shuffle(&mut codes);
        codes.into_iter().take(kept).for_each(|code| wanted[code] = true);
        wanted
    }
}
