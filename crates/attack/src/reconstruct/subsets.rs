//! Subset queries: which rows each of them counts, one bit a row.

use crate::draws::Draws;
use crate::error::{Error, Result};

/// m subsets of n rows: a matrix A of zeros and ones, packed both by query and by row, so that
/// `A·v` and `Aᵀ·r` are the same sweep over memory.
#[derive(Clone, Debug)]
pub struct Subsets {
    queries: Packed,
    members: Packed,
}

/// The most rows or queries: beyond, an attack takes more than minutes.
const MOST: usize = 1 << 20;

impl Subsets {
    /// Subsets given one by one: whether query `q` counts row `j`.
    pub fn new(rows: usize, queries: usize, counts: impl Fn(usize, usize) -> bool) -> Result<Self> {
        let allowed = |size: usize| (1..=MOST).contains(&size);
        if !allowed(rows) || !allowed(queries) {
            let parameter =
                if allowed(rows) { "the number of queries" } else { "the number of rows" };
            return Err(Error::OutOfRange { parameter, allowed: "from 1 to 1,048,576" });
        }
        let mut by_query = Packed::zero(queries, rows);
        let mut by_row = Packed::zero(rows, queries);
        for q in 0..queries {
            for j in 0..rows {
                if counts(q, j) {
                    by_query.set(q, j);
                    by_row.set(j, q);
                }
            }
        }
        Ok(Self { queries: by_query, members: by_row })
    }

    /// Every row in every subset by the toss of a coin.
    pub fn random(rows: usize, queries: usize, draws: &mut Draws) -> Result<Self> {
        let width = rows.div_ceil(64);
        let words: Vec<u64> =
            (0..width.saturating_mul(queries.min(MOST))).map(|_| draws.word()).collect();
        Self::new(rows, queries, |q, j| words[q * width + j / 64] >> (j % 64) & 1 == 1)
    }

    /// How many rows there are.
    #[must_use]
    pub fn rows(&self) -> usize {
        self.members.count
    }

    /// How many queries there are.
    #[must_use]
    pub fn queries(&self) -> usize {
        self.queries.count
    }

    /// Whether query `q` counts row `j`.
    #[must_use]
    pub fn counts(&self, q: usize, j: usize) -> bool {
        self.queries.get(q, j)
    }

    /// The exact answers: how many rows of each subset have the bit.
    #[must_use]
    pub fn answers(&self, bits: &[bool]) -> Vec<u64> {
        let mut packed = Packed::zero(1, self.rows());
        bits.iter()
            .take(self.rows())
            .enumerate()
            .filter(|(_, bit)| **bit)
            .for_each(|(j, _)| packed.set(0, j));
        let both = |q: usize| {
            let pairs = self.queries.line(q).iter().zip(&packed.words);
            pairs.map(|(a, b)| u64::from((a & b).count_ones())).sum()
        };
        (0..self.queries()).map(both).collect()
    }

    /// The subsets at these positions alone.
    pub fn only(&self, kept: &[usize]) -> Result<Self> {
        Self::new(self.rows(), kept.len(), |q, j| self.counts(kept[q], j))
    }

    /// `A·v`: for each query the sum of its rows' values.
    pub(super) fn product(&self, v: &[f64], out: &mut [f64]) {
        self.queries.product(v, out);
    }

    /// `Aᵀ·r`: for each row the sum over the queries that count it.
    pub(super) fn transposed(&self, r: &[f64], out: &mut [f64]) {
        self.members.product(r, out);
    }
}

/// Lines of bits, each starting on a word of its own.
#[derive(Clone, Debug)]
struct Packed {
    count: usize,
    bits: usize,
    words: Vec<u64>,
}

impl Packed {
    fn zero(count: usize, bits: usize) -> Self {
        Self { count, bits, words: vec![0; count * bits.div_ceil(64)] }
    }

    fn width(&self) -> usize {
        self.bits.div_ceil(64)
    }

    fn set(&mut self, line: usize, bit: usize) {
        let at = line * self.width() + bit / 64;
        self.words[at] |= 1 << (bit % 64);
    }

    fn get(&self, line: usize, bit: usize) -> bool {
        self.words[line * self.width() + bit / 64] >> (bit % 64) & 1 == 1
    }

    fn line(&self, line: usize) -> &[u64] {
        &self.words[line * self.width()..(line + 1) * self.width()]
    }

    /// For each line the sum of `v` over its bits. Eight values at a time have 256 sums, which are
    /// tabulated once; a line then takes a look-up for eight bits (the method of four Russians).
    fn product(&self, v: &[f64], out: &mut [f64]) {
        let tables: Vec<[f64; 256]> = v.chunks(8).map(sums).collect();
        for (line, out) in self.words.chunks(self.width()).zip(out.iter_mut()) {
            // Four sums at once: each addition need not wait for the one before.
            let mut sum = [0.0; 4];
            for (word, tables) in line.iter().zip(tables.chunks(8)) {
                for (k, table) in tables.iter().enumerate() {
                    sum[k % 4] += table[usize::from((word >> (8 * k)) as u8)];
                }
            }
            *out = (sum[0] + sum[1]) + (sum[2] + sum[3]);
        }
    }
}

/// The sums of all subsets of up to eight values.
fn sums(values: &[f64]) -> [f64; 256] {
    let mut table = [0.0; 256];
    for (k, value) in values.iter().enumerate() {
        let half = 1 << k;
        for i in 0..half {
            table[half + i] = table[i] + value;
        }
    }
    table
}

#[cfg(test)]
mod tests;
