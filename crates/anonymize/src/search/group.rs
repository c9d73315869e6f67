//! Grouping: the classes of a node, from rows or from the classes of a finer
//! node.

use super::lattice::{Lattice, Node};
use super::problem::Problem;
use crate::class::{Class, Histogram};

/// The classes of one node.
pub(super) struct Grouping<const W: usize> {
    /// The node.
    pub(super) node: Node,
    /// The groups of each class, packed.
    pub(super) keys: Vec<[u64; W]>,
    /// The rows of each class.
    pub(super) sizes: Vec<u32>,
    /// Their sensitive values, if a model asks for them.
    pub(super) cells: Option<Cells>,
}

/// For each class the combinations of sensitive values in it, and how often.
pub(super) struct Cells {
    /// Where class c begins in `combination` and `count`; one more at the end.
    pub(super) start: Vec<u32>,
    pub(super) combination: Vec<u32>,
    pub(super) count: Vec<u32>,
}

impl<const W: usize> Grouping<W> {
    /// About how many bytes it takes.
    pub(super) fn bytes(&self) -> usize {
        let cells =
            self.cells.as_ref().map_or(0, |cells| 8 * cells.count.len() + 4 * cells.start.len());
        self.keys.len() * (8 * W + 4) + cells
    }
}

/// The distinct combinations of sensitive values of a table.
pub(super) struct Combinations {
    /// How many there are.
    pub(super) count: usize,
    /// For each combination the code in each sensitive column, one after the other.
    codes: Vec<u32>,
    /// For each sensitive column how many values it has.
    pub(super) values: Vec<usize>,
    /// For each row its combination.
    row: Vec<u32>,
    /// Whether there is a population: its rows have one combination of their own, the last, and
    /// its histogram is the last.
    population: bool,
}

impl Combinations {
    pub(super) fn new(problem: &Problem<'_>) -> Self {
        let columns: Vec<_> =
            problem.sensitive.iter().map(|&at| &problem.table.columns[at]).collect();
        let mut values: Vec<usize> = columns.iter().map(|column| column.values.len()).collect();
        let population = problem.population.is_some();
        values.extend(population.then_some(1));
        if let [only] = columns[..] {
            let count = only.values.len();
            return Self {
                count,
                codes: (0..count as u32).collect(),
                values,
                row: only.codes.clone(),
                population,
            }
            .with_population();
        }
        let mut known = std::collections::HashMap::new();
        let mut codes: Vec<u32> = Vec::new();
        let mut row = Vec::with_capacity(problem.table.rows);
        let mut tuple = Vec::new();
        for r in 0..problem.table.rows {
            tuple.clear();
            tuple.extend(columns.iter().map(|column| column.codes[r]));
            let next = known.len() as u32;
            let code = match known.get(&tuple) {
                Some(&code) => code,
                None => {
                    known.insert(tuple.clone(), next);
                    codes.extend(&tuple);
                    next
                }
            };
            row.push(code);
        }
        Self { count: known.len(), codes, values, row, population }.with_population()
    }

    fn with_population(mut self) -> Self {
        self.count += usize::from(self.population);
        self
    }

    /// The combination of a row of the table, or, after those, of the population.
    fn of(&self, row: u32) -> u32 {
        self.row.get(row as usize).copied().unwrap_or(self.count as u32 - 1)
    }

    /// Whether the combination is that of the population's rows.
    fn is_population(&self, combination: u32) -> bool {
        self.population && combination as usize + 1 == self.count
    }

    fn codes_of(&self, combination: u32) -> &[u32] {
        let columns = self.values.len() - usize::from(self.population);
        &self.codes[combination as usize * columns..][..columns]
    }

    /// A class without rows.
    pub(super) fn empty(&self) -> Class {
        let sensitive =
            self.values.iter().map(|&count| Histogram { counts: vec![0; count] }).collect();
        Class { size: 0, sensitive }
    }

    /// Adds rows of one combination.
    pub(super) fn add(&self, class: &mut Class, combination: u32, count: u64) {
        if self.is_population(combination) {
            if let Some(people) = class.sensitive.last_mut() {
                people.counts[0] += count;
            }
            return;
        }
        class.size += count;
        for (histogram, &code) in class.sensitive.iter_mut().zip(self.codes_of(combination)) {
            histogram.counts[code as usize] += count;
        }
    }

    /// Takes a combination's values out altogether.
    pub(super) fn clear(&self, class: &mut Class, combination: u32) {
        if self.is_population(combination) {
            if let Some(people) = class.sensitive.last_mut() {
                people.counts[0] = 0;
            }
            return;
        }
        for (histogram, &code) in class.sensitive.iter_mut().zip(self.codes_of(combination)) {
            histogram.counts[code as usize] = 0;
        }
    }
}

/// One class while it is being grouped, its key at hand to be compared.
#[derive(Clone, Copy)]
struct Slot<const W: usize> {
    key: [u64; W],
    /// Its class + 1, or 0 where free.
    next: u32,
}

impl<const W: usize> Slot<W> {
    const FREE: Self = Self { key: [0; W], next: 0 };
}

/// Groups, and keeps its working memory between calls.
#[derive(Default)]
pub(super) struct Grouper<const W: usize> {
    /// For each class of the source its class in the result.
    pub(super) ids: Vec<u32>,
    /// The keys of the result.
    pub(super) keys: Vec<[u64; W]>,
    /// The sizes of the result.
    pub(super) sizes: Vec<u32>,
    /// A power of two long, at most half full.
    slots: Vec<Slot<W>>,
    /// How many slots to begin with, once.
    expected: usize,
    /// Source classes in the order of the result's classes, and where each begins.
    pub(super) order: Vec<u32>,
    pub(super) start: Vec<u32>,
}

impl<const W: usize> Grouper<W> {
    fn reset(&mut self, sources: usize) {
        self.ids.clear();
        self.ids.reserve(sources);
        self.keys.clear();
        self.sizes.clear();
        self.slots.clear();
        let slots = std::mem::take(&mut self.expected).max(1 << 10);
        self.slots.resize(slots, Slot::FREE);
    }

    /// Says that the next result may have about so many classes.
    pub(super) fn expect(&mut self, classes: usize) {
        self.expected = classes.next_power_of_two();
    }

    #[inline]
    fn insert(&mut self, key: [u64; W], size: u32) {
        let mask = self.slots.len() - 1;
        let mut at = hash(&key) as usize & mask;
        loop {
            let slot = &mut self.slots[at];
            if slot.next == 0 {
                self.keys.push(key);
                self.sizes.push(size);
                let next = self.keys.len() as u32;
                *slot = Slot { key, next };
                self.ids.push(next - 1);
                if next as usize * 2 > mask {
                    self.grow();
                }
                return;
            }
            if slot.key == key {
                self.sizes[slot.next as usize - 1] += size;
                self.ids.push(slot.next - 1);
                return;
            }
            at = (at + 1) & mask;
        }
    }

    #[cold]
    fn grow(&mut self) {
        let size = self.slots.len() * 4;
        self.slots.clear();
        self.slots.resize(size, Slot::FREE);
        for (id, key) in self.keys.iter().enumerate() {
            let mut at = hash(key) as usize & (size - 1);
            while self.slots[at].next != 0 {
                at = (at + 1) & (size - 1);
            }
            self.slots[at] = Slot { key: *key, next: id as u32 + 1 };
        }
    }

    /// The classes of a coarser node, into `ids`, `keys` and `sizes`.
    pub(super) fn coarsen(&mut self, lattice: &Lattice, source: &Grouping<W>, to: &[u8]) {
        self.coarsen_within(lattice, source, to, usize::MAX);
    }

    /// The same, given up as soon as there are more than `most` classes; whether it was not.
    pub(super) fn coarsen_within(
        &mut self,
        lattice: &Lattice,
        source: &Grouping<W>,
        to: &[u8],
        most: usize,
    ) -> bool {
        self.reset(source.keys.len());
        let mut keep = [u64::MAX; W];
        let mut steps: Vec<(usize, u32, u64, &[u64])> = Vec::with_capacity(to.len());
        for ((axis, &from), &to) in lattice.axes.iter().zip(&source.node).zip(to) {
            if from == to || axis.mask == 0 {
                continue;
            }
            keep[axis.word] &= !(axis.mask << axis.shift);
            // On a level of one group that group is 0, and clearing the field is enough.
            if axis.leaves[usize::from(to)].len() > 1 {
                let map = &axis.up[usize::from(from)][usize::from(to - from)];
                steps.push((axis.word, axis.shift, axis.mask, map));
            }
        }
        for (key, &size) in source.keys.iter().zip(&source.sizes) {
            let mut coarse: [u64; W] = std::array::from_fn(|word| key[word] & keep[word]);
            for &(word, shift, mask, map) in &steps {
                coarse[word] |= map[(key[word] >> shift & mask) as usize];
            }
            self.insert(coarse, size);
            if self.keys.len() > most {
                return false;
            }
        }
        true
    }

    /// Lists the source's classes by the class they fell into, into `order` and `start`.
    pub(super) fn arrange(&mut self) {
        arrange(&self.ids, self.keys.len(), &mut self.order, &mut self.start);
    }

    /// What `coarsen` left, as a grouping of its own.
    pub(super) fn keep(
        &mut self,
        source: &Grouping<W>,
        node: Node,
        combinations: Option<&Combinations>,
    ) -> Grouping<W> {
        let cells = match (&source.cells, combinations) {
            (Some(cells), Some(combinations)) => {
                self.arrange();
                let each = |source: u32| {
                    let range = cells.start[source as usize] as usize
                        ..cells.start[source as usize + 1] as usize;
                    cells.combination[range.clone()]
                        .iter()
                        .copied()
                        .zip(cells.count[range].iter().copied())
                };
                Some(merge(&self.order, &self.start, combinations.count, each))
            }
            _ => None,
        };
        Grouping { node, keys: self.keys.clone(), sizes: self.sizes.clone(), cells }
    }
}

/// A stable counting sort of positions by their id.
fn arrange(ids: &[u32], classes: usize, order: &mut Vec<u32>, start: &mut Vec<u32>) {
    start.clear();
    start.resize(classes + 2, 0);
    for &id in ids {
        start[id as usize + 2] += 1;
    }
    for at in 2..start.len() {
        start[at] += start[at - 1];
    }
    order.clear();
    order.resize(ids.len(), 0);
    for (source, &id) in ids.iter().enumerate() {
        let at = &mut start[id as usize + 1];
        order[*at as usize] = source as u32;
        *at += 1;
    }
    start.pop();
}

/// Adds up the cells of all sources of each class.
fn merge<I: Iterator<Item = (u32, u32)>>(
    order: &[u32],
    start: &[u32],
    combinations: usize,
    each: impl Fn(u32) -> I,
) -> Cells {
    let mut cells = Cells {
        start: Vec::with_capacity(start.len()),
        combination: Vec::new(),
        count: Vec::new(),
    };
    let mut counts = vec![0_u32; combinations];
    cells.start.push(0);
    for class in start.windows(2) {
        let first = cells.combination.len();
        for &source in &order[class[0] as usize..class[1] as usize] {
            for (combination, count) in each(source) {
                let sum = &mut counts[combination as usize];
                if *sum == 0 {
                    cells.combination.push(combination);
                }
                *sum += count;
            }
        }
        for &combination in &cells.combination[first..] {
            cells.count.push(std::mem::take(&mut counts[combination as usize]));
        }
        cells.start.push(cells.combination.len() as u32);
    }
    cells
}

/// One quasi-identifier's codes in the table and in the population, and each code's group where
/// a key has it.
struct Coded<'a> {
    word: usize,
    codes: &'a [u32],
    people: &'a [u32],
    placed: Vec<u64>,
}

/// The classes of a node from the rows themselves; for each row its class. Rows of a population
/// come after those of the table, and add nothing to the size of a class.
pub(super) fn from_rows<const W: usize>(
    problem: &Problem<'_>,
    lattice: &Lattice,
    node: &[u8],
    combinations: Option<&Combinations>,
    threads: usize,
) -> (Grouping<W>, Vec<u32>) {
    let in_table = problem.table.rows;
    let rows = in_table + problem.population.map_or(0, |people| people.rows);
    let columns: Vec<Coded<'_>> = lattice
        .axes
        .iter()
        .zip(problem.quasi.iter().enumerate())
        .zip(node)
        .filter(|((axis, _), _)| axis.mask != 0)
        .map(|((axis, (at, quasi)), &level)| {
            let people = problem.population.and_then(|people| people.codes.get(at));
            let groups = &quasi.hierarchy.levels[usize::from(level)].group;
            let placed = groups.iter().map(|&group| u64::from(group) << axis.shift).collect();
            let codes = &problem.table.columns[quasi.column].codes[..];
            Coded { word: axis.word, codes, people: people.map_or(&[], Vec::as_slice), placed }
        })
        .collect();
    let group = |range: std::ops::Range<usize>| {
        let mut grouper = Grouper::<W>::default();
        grouper.expect(range.len());
        grouper.reset(range.len());
        for row in range.start..range.end.min(in_table) {
            let mut key = [0; W];
            for Coded { word, codes, placed, .. } in &columns {
                key[*word] |= placed[codes[row] as usize];
            }
            grouper.insert(key, 1);
        }
        for row in range.start.max(in_table)..range.end {
            let mut key = [0; W];
            for Coded { word, people, placed, .. } in &columns {
                key[*word] |= placed[people[row - in_table] as usize];
            }
            grouper.insert(key, 0);
        }
        grouper
    };
    // Threads pay from about 10⁵ rows on.
    let parts = threads.clamp(1, rows / 100_000 + 1);
    let share = rows.div_ceil(parts);
    let mut grouped: Vec<Grouper<W>> = std::thread::scope(|scope| {
        let spawned: Vec<_> = (1..parts)
            .map(|part| {
                let range = (part * share).min(rows)..((part + 1) * share).min(rows);
                let group = &group;
                scope.spawn(move || group(range))
            })
            .collect();
        let mut grouped = vec![group(0..share.min(rows))];
        for handle in spawned {
            match handle.join() {
                Ok(part) => grouped.push(part),
                Err(panic) => std::panic::resume_unwind(panic),
            }
        }
        grouped
    });
    let mut all = grouped.remove(0);
    for part in grouped {
        let before = all.ids.len();
        for (key, &size) in part.keys.iter().zip(&part.sizes) {
            all.insert(*key, size);
        }
        let moved = all.ids.split_off(before);
        all.ids.extend(part.ids.iter().map(|&id| moved[id as usize]));
    }
    let cells = combinations.map(|combinations| {
        all.arrange();
        merge(&all.order, &all.start, combinations.count, |row| {
            std::iter::once((combinations.of(row), 1))
        })
    });
    all.ids.truncate(in_table);
    (Grouping { node: node.into(), keys: all.keys, sizes: all.sizes, cells }, all.ids)
}

/// Folded multiplication, word by word.
#[inline]
fn hash<const W: usize>(key: &[u64; W]) -> u64 {
    let mut state = 0x2545_f491_4f6c_dd1d_u64;
    for &word in key {
        let product = u128::from(state ^ word) * 0x9e37_79b9_7f4a_7c15_u128;
        state = product as u64 ^ (product >> 64) as u64;
    }
    state
}
