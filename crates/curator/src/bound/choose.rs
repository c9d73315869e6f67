//! Chooses which groups and which rows of each person stay.
//!
//! # Guarantee
//! For a fixed key, the multiset of rows kept of a person is a function of that
//! person's own multiset of rows, read by content. It has at most `max_groups`
//! groups and at most `max_rows` rows in each.
//!
//! # Proof
//! Groups are put in order by `(h(seed, hash of the group's key), the key)` and
//! the first `max_groups` stay. The seed is a function of the id and the secret key,
//! the hash of the group's content and the secret key; content breaks ties, so the order is
//! total and looks at nothing else. Within a group, the j-th of the rows with
//! the same arguments c gets the rank `h(h(seed, group, c), j)`; the pairs (c, j)
//! are a function of the multiset (which of two equal rows is the j-th does not
//! show), and the first `max_rows` by `(rank, c, j)` stay: again a total order on
//! content. ∎
//!
//! Without the j all copies of a row would share one rank and stay or go
//! together, and rare values would count for too much: with it, every subset
//! of `max_rows` rows is equally likely.

use super::intern::{Contents, Interned};
use super::output::Output;
use super::spec::BoundSpec;
use super::spill::{HEAD, Partition, Row, by_bucket, person};
use datafusion::common::Result;
use std::cmp::Ordering;
use std::sync::Arc;

/// The rows of a partition that stay.
#[derive(Default)]
pub(super) struct Kept {
    /// `index, whether it is the first row of its person and group`, in a word.
    words: Vec<u32>,
    /// The start of the current bucket.
    from: u32,
}

impl Kept {
    /// Adds a row of the current bucket; `first` for one row per person and group.
    #[inline]
    fn push(&mut self, at: u32, first: bool) {
        self.words.push((self.from + at) << 1 | u32::from(first));
    }

    /// Each row's index, and whether it is the first.
    pub(super) fn iter(&self) -> impl ExactSizeIterator<Item = (usize, bool)> {
        self.words.iter().map(|&word| ((word >> 1) as usize, word & 1 == 1))
    }
}

/// What all choices of one query have in common.
pub(super) struct Chooser {
    interned: Arc<Interned>,
    contents: Contents,
    arguments: usize,
    max_groups: usize,
    max_rows: usize,
}

/// A row of the current bucket, with its sort key.
#[derive(Clone, Copy)]
struct Entry {
    person: u64,
    rank: u64,
    group: u32,
    at: u32,
}

/// Memory kept between partitions.
pub(super) struct Scratch<const W: usize> {
    rows: Vec<Row<W>>,
    read: Vec<Row<W>>,
    ends: Vec<u32>,
    words: Vec<u64>,
    entries: Vec<Entry>,
    ranked: Vec<Ranked>,
    kept: Kept,
}

impl<const W: usize> Default for Scratch<W> {
    fn default() -> Self {
        Self {
            rows: Vec::new(),
            read: Vec::new(),
            ends: Vec::new(),
            words: Vec::new(),
            entries: Vec::new(),
            ranked: Vec::new(),
            kept: Kept::default(),
        }
    }
}

/// A row of a group that has too many rows.
struct Ranked {
    content: u64,
    copy: u32,
    rank: u64,
    at: u32,
}

/// The largest bucket that is sorted by packed words.
const PACKED: usize = 64;

impl Chooser {
    /// Call it when the input has ended: it reads all contents, once.
    pub(super) fn new(spec: &BoundSpec, interned: &Arc<Interned>) -> Self {
        Self {
            interned: Arc::clone(interned),
            contents: interned.contents(),
            arguments: spec.arguments.len(),
            max_groups: spec.max_groups as usize,
            max_rows: spec.max_rows as usize,
        }
    }

    /// Chooses within one radix partition, with at most about `limit` bytes of rows in memory (one person's rows are
    /// always held together).
    pub(super) fn partition<const W: usize>(
        &self,
        partition: &Partition<W>,
        limit: usize,
        scratch: &mut Scratch<W>,
        output: &mut Output,
    ) -> Result<()> {
        let mut read = std::mem::take(&mut scratch.read);
        partition.passes(limit, &mut read, |chunks| self.chunks(chunks, scratch, output))?;
        scratch.read = read;
        Ok(())
    }

    /// Brings each person's rows together with one counting sort by the bits after those of the partition, then
    /// processes the small buckets.
    fn chunks<const W: usize>(
        &self,
        chunks: &[Vec<Row<W>>],
        scratch: &mut Scratch<W>,
        output: &mut Output,
    ) {
        let (mut ends, mut rows) =
            (std::mem::take(&mut scratch.ends), std::mem::take(&mut scratch.rows));
        by_bucket(chunks, &mut ends, &mut rows);
        scratch.kept.words.clear();
        scratch.kept.from = 0;
        for &to in &ends {
            self.bucket(&rows[scratch.kept.from as usize..to as usize], scratch);
            scratch.kept.from = to;
        }
        output.extend(&rows, &scratch.kept);
        scratch.ends = ends;
        scratch.rows = rows;
    }

    #[inline]
    fn bucket<const W: usize>(&self, rows: &[Row<W>], scratch: &mut Scratch<W>) {
        match rows {
            [] => return,
            [_] => return scratch.kept.push(0, true),
            _ if rows.len() <= PACKED && self.packed(rows, scratch) => return,
            _ => {}
        }
        let mut entries = std::mem::take(&mut scratch.entries);
        entries.clear();
        let key = self.interned.key();
        entries.extend(rows.iter().enumerate().map(|(at, row)| {
            let (person, group) = (person(row), row[2]);
            let content = self.contents.groups[group as usize];
            let rank = key.pair(self.contents.seed(person), content);
            Entry { person, rank, group, at: at as u32 }
        }));
        entries.sort_unstable_by(|a, b| {
            (a.person, a.rank).cmp(&(b.person, b.rank)).then_with(|| match a.group == b.group {
                true => Ordering::Equal,
                false => self.interned.compare_groups(a.group, b.group),
            })
        });
        let mut rest = entries.as_slice();
        while let Some(first) = rest.first() {
            let own = run(rest, |e| e.person == first.person);
            self.person(rows, &rest[..own], &mut scratch.ranked, &mut scratch.kept);
            rest = &rest[own..];
        }
        scratch.entries = entries;
    }

    /// The fast path for a bucket: sorts words of `16 bits of the person, 42 bits of the group's rank, 6 bits of
    /// index`.
    ///
    /// Where those bits differ, they sort like the full values. Where they agree although the person or the group
    /// differs, nothing is done and the result is false.
    #[inline]
    fn packed<const W: usize>(&self, rows: &[Row<W>], scratch: &mut Scratch<W>) -> bool {
        let key = self.interned.key();
        let rank = |row: &Row<W>| {
            let content = self.contents.groups[row[2] as usize];
            key.pair(self.contents.seed(person(row)), content)
        };
        let Scratch { words, ranked, kept, .. } = scratch;
        let mut others = 0;
        words.clear();
        words.extend(rows.iter().enumerate().map(|(at, row)| {
            others |= (row[0] ^ rows[0][0]) | (row[1] ^ rows[0][1]);
            u64::from(row[1]) << 48 | rank(row) >> 22 << 6 | at as u64
        }));
        sort(words);
        let at = |word: u64| (word % PACKED as u64) as usize;
        let (same_person, same_group) =
            (|a: u64, b| a >> 48 == b >> 48, |a: u64, b| a >> 6 == b >> 6);
        let alone = others == 0; // the usual case
        let apart = |pair: &[u64]| {
            let (a, b) = (&rows[at(pair[0])], &rows[at(pair[1])]);
            let right = alone || same_person(pair[0], pair[1]) == (a[..2] == b[..2]);
            right & (!same_group(pair[0], pair[1]) | (a[2] == b[2]))
        };
        if !words.windows(2).all(apart) {
            return false;
        }
        let mut rest = words.as_slice();
        while let Some(&first) = rest.first() {
            let own = if alone { rest.len() } else { run(rest, |&word| same_person(word, first)) };
            let (mut own, later) = rest.split_at(own);
            rest = later;
            let crowd = self.max_rows + 1;
            if own.len() < crowd || own.windows(crowd).all(|w| !same_group(w[0], w[crowd - 1])) {
                let (mut groups, mut last) = (0, 0);
                for &word in own {
                    let first = groups == 0 || !same_group(word, last);
                    groups += usize::from(first);
                    if groups > self.max_groups {
                        break;
                    }
                    kept.push(at(word) as u32, first);
                    last = word;
                }
                continue;
            }
            for _ in 0..self.max_groups {
                let Some(&first) = own.first() else { break };
                let (group, others) = own.split_at(run(own, |&word| same_group(word, first)));
                let places = group.iter().map(|&word| at(word) as u32);
                self.group(rows, rank(&rows[at(first)]), places, ranked, kept);
                own = others;
            }
        }
        true
    }

    /// Chooses among one person's rows, sorted by group.
    #[inline]
    fn person<const W: usize>(
        &self,
        rows: &[Row<W>],
        mut entries: &[Entry],
        ranked: &mut Vec<Ranked>,
        kept: &mut Kept,
    ) {
        for _ in 0..self.max_groups {
            let Some(first) = entries.first() else { return };
            let (group, later) = entries.split_at(run(entries, |e| e.group == first.group));
            self.group(rows, first.rank, group.iter().map(|entry| entry.at), ranked, kept);
            entries = later;
        }
    }

    /// Chooses among a person's rows in one group: at most `max_rows` stay.
    fn group<const W: usize>(
        &self,
        rows: &[Row<W>],
        seed: u64,
        places: impl ExactSizeIterator<Item = u32>,
        ranked: &mut Vec<Ranked>,
        kept: &mut Kept,
    ) {
        if places.len() <= self.max_rows {
            return places.enumerate().for_each(|(i, at)| kept.push(at, i == 0));
        }
        let key = self.interned.key();
        let arguments = |at: u32| &rows[at as usize][HEAD..HEAD + self.arguments];
        ranked.clear();
        ranked.extend(places.map(|at| {
            let content = self.content(seed, arguments(at));
            Ranked { content, copy: 0, rank: 0, at }
        }));
        let same = |a: &Ranked, b: &Ranked| {
            a.content.cmp(&b.content).then_with(|| self.compare(arguments(a.at), arguments(b.at)))
        };
        ranked.sort_unstable_by(same);
        let mut copy = 0;
        for i in 0..ranked.len() {
            let again = i > 0 && same(&ranked[i - 1], &ranked[i]) == Ordering::Equal;
            copy = if again { copy + 1 } else { 0 };
            ranked[i].copy = copy;
            ranked[i].rank = key.pair(key.permute(ranked[i].content), u64::from(copy));
        }
        let order = |a: &Ranked, b: &Ranked| {
            a.rank.cmp(&b.rank).then_with(|| same(a, b)).then_with(|| a.copy.cmp(&b.copy))
        };
        ranked.select_nth_unstable_by(self.max_rows, order);
        for (i, chosen) in ranked[..self.max_rows].iter().enumerate() {
            kept.push(chosen.at, i == 0);
        }
    }

    /// The keyed hash of a row's arguments, by content.
    fn content(&self, seed: u64, arguments: &[u32]) -> u64 {
        let key = self.interned.key();
        let tables = arguments.iter().zip(&self.contents.arguments);
        tables.fold(key.permute(seed), |hash, (&number, table)| {
            // NULL has a number that is in no table.
            let content = table.as_ref().and_then(|table| table.get(number as usize).copied());
            key.permute(key.pair(hash, content.unwrap_or(u64::from(number))))
        })
    }

    fn compare(&self, a: &[u32], b: &[u32]) -> Ordering {
        let pairs = a.iter().zip(b).enumerate();
        let orders = pairs.map(|(i, (&a, &b))| self.interned.compare_codes(i, a, b));
        orders.fold(Ordering::Equal, Ordering::then)
    }
}

/// Sorts distinct words. A few are placed by counting how many are less, without branches to mispredict, which takes
/// half the time.
#[inline]
fn sort(words: &mut [u64]) {
    const FEW: usize = 16;
    if words.len() > FEW {
        return words.sort_unstable();
    }
    let (mut less, mut sorted) = ([0u8; FEW], [0; FEW]);
    for (i, &word) in words.iter().enumerate() {
        let mut own = 0;
        for (&earlier, count) in words[..i].iter().zip(&mut less) {
            let more = u8::from(earlier > word);
            *count += more;
            own += 1 - more;
        }
        less[i] = own;
    }
    for (&word, &place) in words.iter().zip(&less) {
        sorted[usize::from(place) % FEW] = word;
    }
    words.copy_from_slice(&sorted[..words.len()]);
}

/// The length of the leading run, counted one by one because it is usually short.
#[inline]
fn run<T>(items: &[T], same: impl Fn(&T) -> bool) -> usize {
    items.iter().position(|item| !same(item)).unwrap_or(items.len())
}
