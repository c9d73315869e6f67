//! Local search: swap one column's value between two rows if that brings two-way counts closer to what is expected.
//!
//! What falls is `Σ (count − target)²/(target + 1)` over all cells of all pairs. One-way counts never change. Large
//! tables are searched in blocks, against their share of the targets, because a search over a million rows misses the
//! cache.

use super::Targets;
use super::draws::Draws;
use crate::rules::Rules;

/// The most rows of a block.
const BLOCK: usize = 60_000;
/// Rounds over all columns; each tries as many swaps as there are rows.
const SWEEPS: usize = 20;
/// The search stops after a sweep that lowers the sum by less than this share.
const ENOUGH: f64 = 0.05;
/// The most work, in pairs of columns looked at: some ten seconds.
const MOST_WORK: f64 = 5e9;

/// Polishes rows by column.
pub(super) fn polish(
    targets: &Targets,
    rules: &Rules,
    columns: &mut [Vec<u16>],
    threads: usize,
    draws: &mut Draws,
) {
    let width = columns.len();
    let rows = columns.first().map_or(0, Vec::len);
    let each = rows as f64 * (width * width) as f64;
    let sweeps = SWEEPS.min((MOST_WORK / each) as usize);
    if rows < 2 || width < 2 || sweeps == 0 {
        return;
    }
    let mut flat = vec![0u16; rows * width];
    for (column, values) in columns.iter().enumerate() {
        for (row, &value) in values.iter().enumerate() {
            flat[row * width + column] = value;
        }
    }
    let blocks = rows.div_ceil(BLOCK);
    if blocks > 1 {
        let size = rows.div_ceil(blocks) * width;
        let mut work: Vec<(Draws, &mut [u16])> =
            flat.chunks_mut(size).map(|block| (draws.fork(), block)).collect();
        let share = work.len().div_ceil(threads.max(1));
        std::thread::scope(|scope| {
            for part in work.chunks_mut(share) {
                scope.spawn(move || {
                    for (draws, block) in part {
                        Search::new(targets, rules, block, rows).run(sweeps, draws);
                    }
                });
            }
        });
    }
    let last = if blocks > 1 { 1 } else { sweeps };
    Search::new(targets, rules, &mut flat, rows).run(last, draws);
    for (column, values) in columns.iter_mut().enumerate() {
        for (row, value) in values.iter_mut().enumerate() {
            *value = flat[row * width + column];
        }
    }
}

/// One block of rows. The table of a pair is stored twice over for no lookup of which column comes first: see `at`.
struct Search<'a> {
    rules: &'a Rules,
    rows: &'a mut [u16],
    width: usize,
    sizes: &'a [usize],
    /// Each cell's count minus its target, and its weight, for the pair a < b at `a·width + b`.
    cells: Vec<Vec<[f32; 2]>>,
    sum: f64,
}

impl<'a> Search<'a> {
    fn new(targets: &'a Targets, rules: &'a Rules, rows: &'a mut [u16], all: usize) -> Self {
        let width = targets.sizes.len();
        let share = (rows.len() / width) as f32 / all as f32;
        let cell = |target: &f32| [-target * share, 1.0 / (target * share + 1.0)];
        let mut cells: Vec<Vec<[f32; 2]>> =
            targets.tables.iter().map(|table| table.iter().map(cell).collect()).collect();
        for row in rows.chunks(width) {
            for a in 0..width {
                for b in a + 1..width {
                    let at = usize::from(row[a]) * targets.sizes[b] + usize::from(row[b]);
                    cells[a * width + b][at][0] += 1.0;
                }
            }
        }
        let square = |[off, weight]: &[f32; 2]| f64::from(weight * off * off);
        let sum = cells.iter().flatten().map(square).sum();
        Self { rules, rows, width, sizes: &targets.sizes, cells, sum }
    }

    fn run(&mut self, sweeps: usize, draws: &mut Draws) {
        let rows = self.rows.len() / self.width;
        for _ in 0..sweeps {
            let mut gained = 0.0;
            for column in 0..self.width {
                if self.sizes[column] < 2 {
                    continue;
                }
                for _ in 0..rows {
                    let (first, second) = (draws.below(rows), draws.below(rows));
                    gained += self.attempt(column, first, second);
                }
            }
            self.sum -= gained;
            if gained < ENOUGH * self.sum {
                break;
            }
        }
    }

    /// Swaps if that lowers the sum; by how much.
    #[inline]
    fn attempt(&mut self, column: usize, first: usize, second: usize) -> f64 {
        let (p, q) = (first * self.width, second * self.width);
        let (x, y) = (usize::from(self.rows[p + column]), usize::from(self.rows[q + column]));
        if x == y {
            return 0.0;
        }
        let mut change = 0.0f32;
        for other in 0..self.width {
            let (u, v) = (usize::from(self.rows[p + other]), usize::from(self.rows[q + other]));
            if u == v || other == column {
                continue;
            }
            let (pair, step, other_step) = self.at(column, other);
            let cells = &self.cells[pair];
            // One row less in (x, u) and (y, v), one more in (y, u) and (x, v).
            let [a, wa] = cells[x * step + u * other_step];
            let [b, wb] = cells[y * step + v * other_step];
            let [c, wc] = cells[y * step + u * other_step];
            let [d, wd] = cells[x * step + v * other_step];
            change += wa * (1.0 - 2.0 * a)
                + wb * (1.0 - 2.0 * b)
                + wc * (1.0 + 2.0 * c)
                + wd * (1.0 + 2.0 * d);
        }
        if change >= 0.0 || !self.allowed(column, (p, x), (q, y)) {
            return 0.0;
        }
        self.swap(column, (p, x), (q, y));
        -f64::from(change)
    }

    /// The table of two columns, and how far apart neighbouring values of each are in it.
    #[inline]
    fn at(&self, column: usize, other: usize) -> (usize, usize, usize) {
        if column < other {
            (column * self.width + other, self.sizes[other], 1)
        } else {
            (other * self.width + column, 1, self.sizes[column])
        }
    }

    /// Whether the rules allow both rows after the swap.
    fn allowed(&self, column: usize, first: (usize, usize), second: (usize, usize)) -> bool {
        let fine = |start: usize, value: usize| {
            self.rules.allow(column, |other| match other == column {
                true => value as u16,
                false => self.rows[start + other],
            })
        };
        fine(first.0, second.1) && fine(second.0, first.1)
    }

    fn swap(&mut self, column: usize, (p, x): (usize, usize), (q, y): (usize, usize)) {
        for other in (0..self.width).filter(|&other| other != column) {
            let (u, v) = (usize::from(self.rows[p + other]), usize::from(self.rows[q + other]));
            if u == v {
                continue;
            }
            let (pair, step, other_step) = self.at(column, other);
            let cells = &mut self.cells[pair];
            cells[x * step + u * other_step][0] -= 1.0;
            cells[y * step + v * other_step][0] -= 1.0;
            cells[y * step + u * other_step][0] += 1.0;
            cells[x * step + v * other_step][0] += 1.0;
        }
        self.rows[p + column] = y as u16;
        self.rows[q + column] = x as u16;
    }
}
