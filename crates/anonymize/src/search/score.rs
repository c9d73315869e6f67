//! What a node costs, and what every node of a box costs at least.
//!
//! # Lower bounds
//! A box is all nodes between `low` and `high`. Rows in classes too small at
//! `high` are in classes too small at every node of the box, since finer
//! classes are smaller: they are suppressed for sure. Every other cell is at
//! least as coarse as at `low`. So with S the rows suppressed for sure:
//! - Loss, precision: the cells of S cost 1, the others what they cost at `low`;
//! - discernibility: a row of S costs N, any other the size of its class at `low`
//!   or at a finer node;
//! - average class size: there are no more classes than at `low`, nor than
//!   (N − |S|)/k.

use super::group::{Grouper, Grouping};
use super::lattice::Lattice;
use super::problem::Metric;

/// What a score is computed from.
#[derive(Clone, Debug, Default)]
pub(super) struct Tally {
    /// For each axis by how much suppression raises `Σ leaves`.
    pub(super) growth: Vec<u128>,
    /// Rows suppressed.
    pub(super) suppressed: u64,
    /// Classes that stay.
    pub(super) classes: u64,
    /// `Σ|E|²` over them.
    pub(super) squares: u128,
}

/// The score of a node, or a lower bound on those of a box, with the lowest levels given.
pub(super) fn score(metric: Metric, lattice: &Lattice, low: &[u8], tally: &Tally) -> f64 {
    let rows = lattice.rows as f64;
    if lattice.rows == 0 {
        return 0.0;
    }
    match metric {
        Metric::Loss => {
            let mut product = 1.0;
            for ((axis, &level), &growth) in lattice.axes.iter().zip(low).zip(&tally.growth) {
                // L = (Σ share − N/size) / (N − N/size), times size above and below,
                // cut to ten decimals as ARX does.
                let least = u128::from(lattice.rows);
                let span = least * u128::from(axis.size.saturating_sub(1));
                let sum = axis.sums[usize::from(level)] + growth;
                let loss = (sum.saturating_sub(least) * 10_000_000_000).checked_div(span);
                product *= 1.0 + loss.unwrap_or(0) as f64 / 1e10;
            }
            product.powf(1.0 / lattice.axes.len() as f64) - 1.0
        }
        Metric::Precision => {
            let share = |(axis, &level): (&super::lattice::Axis, &u8)| match axis.top {
                0 => 0.0,
                top => f64::from(level) / f64::from(top),
            };
            let coarse: f64 = lattice.axes.iter().zip(low).map(share).sum();
            let suppressed = tally.suppressed as f64;
            let cells = lattice.axes.len() as f64;
            (coarse * (rows - suppressed) + cells * suppressed) / (cells * rows)
        }
        Metric::Discernibility => {
            let suppressed = u128::from(lattice.rows) * u128::from(tally.suppressed);
            (tally.squares + suppressed) as f64
        }
        Metric::AverageClassSize => rows / (tally.classes + u64::from(tally.suppressed > 0)) as f64,
    }
}

/// The tally of the node just grouped, whose classes `lost` are suppressed.
pub(super) fn of_node<const W: usize>(
    metric: Metric,
    lattice: &Lattice,
    node: &[u8],
    grouper: &Grouper<W>,
    lost: impl Fn(usize) -> bool,
    tally: &mut Tally,
) {
    tally.growth.clear();
    tally.growth.resize(lattice.axes.len(), 0);
    (tally.suppressed, tally.classes, tally.squares) = (0, 0, 0);
    for (class, (key, &size)) in grouper.keys.iter().zip(&grouper.sizes).enumerate() {
        if lost(class) {
            tally.suppressed += u64::from(size);
            if metric == Metric::Loss {
                grow(lattice, node, key, size, tally);
            }
        } else {
            tally.classes += 1;
            tally.squares += u128::from(size) * u128::from(size);
        }
    }
}

/// The tally that bounds a box from below: `source` is `low` or finer, `grouper`
/// holds `high` grouped from it, and no class below `least` rows stays.
pub(super) fn of_box<const W: usize>(
    metric: Metric,
    lattice: &Lattice,
    low: &[u8],
    source: &Grouping<W>,
    grouper: &Grouper<W>,
    least: u64,
    tally: &mut Tally,
) {
    tally.growth.clear();
    tally.growth.resize(lattice.axes.len(), 0);
    (tally.suppressed, tally.classes, tally.squares) = (0, 0, 0);
    for ((key, &size), &id) in source.keys.iter().zip(&source.sizes).zip(&grouper.ids) {
        if u64::from(grouper.sizes[id as usize]) >= least {
            tally.classes += 1;
            tally.squares += u128::from(size) * u128::from(size);
            continue;
        }
        tally.suppressed += u64::from(size);
        if metric == Metric::Loss {
            for (((axis, &from), &to), growth) in
                lattice.axes.iter().zip(&source.node).zip(low).zip(&mut tally.growth)
            {
                let placed = axis.up[usize::from(from)][usize::from(to - from)][axis.group(key)];
                let group = if axis.mask == 0 { 0 } else { placed >> axis.shift };
                let leaves = axis.leaves[usize::from(to)][group as usize];
                *growth += u128::from(size) * u128::from(axis.size.saturating_sub(leaves));
            }
        }
    }
    bound_by_size(lattice.rows, least, tally);
}

/// The same where no row is suppressed for sure, `sizes` being those of the classes of `low` or
/// of a finer node.
pub(super) fn of_whole_box(lattice: &Lattice, sizes: &[u32], least: u64, tally: &mut Tally) {
    tally.growth.clear();
    tally.growth.resize(lattice.axes.len(), 0);
    (tally.suppressed, tally.classes) = (0, sizes.len() as u64);
    tally.squares = sizes.iter().map(|&size| u128::from(size) * u128::from(size)).sum();
    bound_by_size(lattice.rows, least, tally);
}

/// Classes of at least `least` rows: no more of them than fit, and no row in a smaller one.
pub(super) fn bound_by_size(rows: u64, least: u64, tally: &mut Tally) {
    let stay = rows.saturating_sub(tally.suppressed);
    let least = least.max(1);
    // One more class for the `+ 1` that suppression elsewhere in the box may bring.
    tally.classes = tally.classes.min(stay / least) + u64::from(tally.suppressed == 0);
    tally.squares = tally.squares.max(u128::from(stay) * u128::from(least));
}

/// Adds what suppressing a class costs each axis.
fn grow<const W: usize>(
    lattice: &Lattice,
    node: &[u8],
    key: &[u64; W],
    size: u32,
    tally: &mut Tally,
) {
    for ((axis, &level), growth) in lattice.axes.iter().zip(node).zip(&mut tally.growth) {
        let leaves = axis.leaves[usize::from(level)][axis.group(key)];
        *growth += u128::from(size) * u128::from(axis.size.saturating_sub(leaves));
    }
}
