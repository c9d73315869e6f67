//! Weights instead of choices: each person's totals by group, kept so that any bound can be applied to them later.
//!
//! # Guarantee
//! What a person adds to the [`Contribution`]s of all groups depends on that person's own rows alone, and at the bound of any
//! rung it is the vector that [`Ladder`] describes, with rows in each group as v and their sum as
//! the size. Other totals of the person's rows (of values, of people) are scaled with the same weight.
//!
//! # Proof
//! All rows of one person are in one radix partition, and there in one bucket. They are processed person by person: first
//! the size, then each total, scaled by [`Unit::part`]. Nothing else is written. ∎
//!
//! The size of a person is the number of that person's rows, so the vector has an ℓ₁ norm, and with it an ℓ₂ norm, of at most R.
//!
//! Different values cannot be weighed. Each person's are put in a secret order, and at a bound of R the first R of all groups
//! count: a value is there if it is among the first R of anyone.
//!
//! People are counted with a size of their own: the number of the person's groups, as each counts once a group.
//!
//! Values without bounds are added up by person and group, exactly in integers; the sums are scaled by their own norm, as
//! [`Norms`] describes, on each of its scales.

use super::dense::Dense;
use super::encode::of_words;
use super::intern::{Contents, Interned};
use super::spec::{BoundSpec, Form, Weighing};
use super::spill::{HEAD, Partition, Row, by_bucket, person};
use super::table::NONE;
use datafusion::arrow::array::{
    ArrayRef, AsArray, Decimal128Array, RecordBatch, UInt16Array, UInt32Array,
};
use datafusion::arrow::datatypes::{
    DataType, Decimal128Type, Field, Schema, SchemaRef, UInt16Type, UInt32Type,
};
use datafusion::common::{HashMap, HashSet, Result};
use demure_core::mechanism::{Contribution, KeyWeights, Norms, Unit};
use std::cmp::Ordering;
use std::sync::Arc;

/// What a total is of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) enum What {
    /// Units on each rung, by the number of rows.
    SizesOfRows,
    /// Units on each rung, by the number of groups.
    SizesOfGroups,
    /// People of a group.
    People,
    /// Rows of a group.
    Rows,
    /// The weight of a group's key: [`KeyWeights`].
    Key,
    /// Rows of a group with a value of this argument.
    Present(usize),
    /// The sum of the steps of this argument.
    Sum(usize),
    /// The sum of their squares.
    Squares(usize),
    /// Rows with one value of this argument, by its number.
    Value(usize),
    /// People who have one value of this argument, each on the rung of its place among their own.
    Different(usize),
    /// Units on each rung, by how many different values they have in all groups.
    SizesOfDifferent(usize),
    /// Units on each rung, by the norm of their sums of this argument.
    SizesOfNorm(usize),
    /// People's sums of this argument on this scale: those that are not negative, or the others.
    Norm(usize, usize, bool),
}

impl What {
    /// Those before [`What::Present`].
    const FIRST: [Self; 5] =
        [Self::SizesOfRows, Self::SizesOfGroups, Self::People, Self::Rows, Self::Key];

    /// How many there are for each argument.
    const EACH: usize = 7 + 2 * Norms::MOST_SCALES;

    fn code(self) -> u16 {
        let of = |which: usize, i: usize| (Self::FIRST.len() + Self::EACH * i + which) as u16;
        match self {
            Self::SizesOfRows => 0,
            Self::SizesOfGroups => 1,
            Self::People => 2,
            Self::Rows => 3,
            Self::Key => 4,
            Self::Present(i) => of(0, i),
            Self::Sum(i) => of(1, i),
            Self::Squares(i) => of(2, i),
            Self::Value(i) => of(3, i),
            Self::Different(i) => of(4, i),
            Self::SizesOfDifferent(i) => of(5, i),
            Self::SizesOfNorm(i) => of(6, i),
            Self::Norm(i, scale, negative) => of(7 + 2 * scale + usize::from(negative), i),
        }
    }

    fn of(code: u16) -> Self {
        if let Some(first) = Self::FIRST.get(usize::from(code)) {
            return *first;
        }
        let rest = usize::from(code) - Self::FIRST.len();
        match (rest % Self::EACH, rest / Self::EACH) {
            (0, i) => Self::Present(i),
            (1, i) => Self::Sum(i),
            (2, i) => Self::Squares(i),
            (3, i) => Self::Value(i),
            (4, i) => Self::Different(i),
            (5, i) => Self::SizesOfDifferent(i),
            (6, i) => Self::SizesOfNorm(i),
            (which, i) => Self::Norm(i, (which - 7) / 2, which % 2 == 0),
        }
    }
}

/// About how many bytes a total takes: most are on one rung.
const TOTAL: usize = 96;

/// A total's place: what it is of, in which group, and of which value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct Cell {
    pub(super) what: What,
    pub(super) group: u32,
    pub(super) number: u32,
}

/// Totals of some people, for any bound. Protected.
#[derive(Default)]
pub(super) struct Weighed {
    /// By the code of what they are of, then by group: all but single values.
    totals: Vec<Vec<Contribution>>,
    /// Those of single values.
    values: HashMap<Cell, Contribution>,
    /// All of them, in the common case.
    dense: Option<Dense>,
}

impl Weighed {
    /// The total at a place.
    fn at(&mut self, cell: Cell) -> &mut Contribution {
        if let What::Value(_) | What::Different(_) = cell.what {
            return self.values.entry(cell).or_default();
        }
        let (code, group) = (usize::from(cell.what.code()), cell.group as usize);
        if self.totals.len() <= code {
            self.totals.resize_with(code + 1, Vec::new);
        }
        let totals = &mut self.totals[code];
        if totals.len() <= group {
            totals.resize_with(group + 1, Contribution::default);
        }
        &mut totals[group]
    }

    fn add(&mut self, what: What, (group, number): (u32, u32), unit: &Unit, amount: u128) {
        self.at(Cell { what, group, number }).add(unit.rung(), amount, unit.part(amount));
    }

    /// Adds what a batch says: the totals of other people.
    pub(super) fn merge(&mut self, batch: &RecordBatch) {
        let words = |i: usize| batch.column(i).as_primitive::<UInt32Type>().values();
        let totals = |i: usize| batch.column(i).as_primitive::<Decimal128Type>().values();
        let (what, rung) = (batch.column(0).as_primitive::<UInt16Type>().values(), words(1));
        let (groups, numbers, amounts, parts) = (words(2), words(3), totals(4), totals(5));
        for i in 0..batch.num_rows() {
            let cell = Cell { what: What::of(what[i]), group: groups[i], number: numbers[i] };
            let (amount, part) = (amounts[i].unsigned_abs(), parts[i].unsigned_abs());
            self.at(cell).add(rung[i] as usize, amount, part);
        }
    }

    /// About how many bytes it takes.
    pub(super) fn bytes(&self) -> usize {
        let totals: usize = self.totals.iter().map(Vec::len).sum();
        let dense = self.dense.as_ref().map_or(0, Dense::bytes);
        totals * TOTAL + self.values.len() * (TOTAL + size_of::<Cell>()) + dense
    }

    /// Every total that is not 0.
    pub(super) fn into_cells(mut self) -> impl Iterator<Item = (Cell, Contribution)> {
        let dense = self.dense.take().map(Dense::into_totals).unwrap_or_default();
        for (what, group, rung, amount, part) in dense {
            self.at(Cell { what, group, number: 0 }).add(rung, amount, part);
        }
        let totals = self.totals.into_iter().enumerate().flat_map(|(code, totals)| {
            let what = What::of(code as u16);
            let cell = move |group: usize| Cell { what, group: group as u32, number: 0 };
            totals.into_iter().enumerate().map(move |(group, total)| (cell(group), total))
        });
        totals.chain(self.values).filter(|(_, total)| total.by_rung().next().is_some())
    }

    /// All totals as a batch, in an order that says nothing about the order of rows.
    pub(super) fn into_batch(self) -> Result<RecordBatch> {
        let mut cells: Vec<(Cell, Contribution)> = self.into_cells().collect();
        cells.sort_unstable_by_key(|(cell, _)| *cell);
        let (mut what, mut rungs) = (Vec::new(), Vec::new());
        let (mut groups, mut numbers) = (Vec::new(), Vec::new());
        let (mut amounts, mut parts) = (Vec::new(), Vec::new());
        for (cell, total) in &cells {
            for (rung, amount, part) in total.by_rung() {
                what.push(cell.what.code());
                rungs.push(rung as u32);
                groups.push(cell.group);
                numbers.push(cell.number);
                amounts.push(i128::try_from(amount).unwrap_or(i128::MAX));
                parts.push(i128::try_from(part).unwrap_or(i128::MAX));
            }
        }
        let decimal = |values: Vec<i128>| {
            Decimal128Array::from(values).with_data_type(DataType::Decimal128(38, 0))
        };
        let columns: Vec<ArrayRef> = vec![
            Arc::new(UInt16Array::from(what)),
            Arc::new(UInt32Array::from(rungs)),
            Arc::new(UInt32Array::from(groups)),
            Arc::new(UInt32Array::from(numbers)),
            Arc::new(decimal(amounts)),
            Arc::new(decimal(parts)),
        ];
        Ok(RecordBatch::try_new(schema(), columns)?)
    }
}

/// The batches of [`Weighed::into_batch`].
pub(super) fn schema() -> SchemaRef {
    let field = |name: &str, kind: DataType| Field::new(name, kind, false);
    Arc::new(Schema::new(vec![
        field("what", DataType::UInt16),
        field("rung", DataType::UInt32),
        field("group", DataType::UInt32),
        field("number", DataType::UInt32),
        field("amount", DataType::Decimal128(38, 0)),
        field("part", DataType::Decimal128(38, 0)),
    ]))
}

/// What all people of one query have in common.
pub(super) struct Weigher {
    weighing: Weighing,
    forms: Vec<Form>,
    interned: Arc<Interned>,
    contents: Contents,
}

/// One person's totals in one group.
#[derive(Default)]
struct Group {
    group: u32,
    rows: u64,
    /// By argument: rows with a value, its sum and its squares.
    values: Vec<(u64, u128, u128)>,
    /// By argument without bounds: its sum, in the finest steps.
    sums: Vec<i128>,
}

/// Memory kept between partitions.
#[derive(Default)]
pub(super) struct Scratch<const W: usize> {
    read: Vec<Row<W>>,
    rows: Vec<Row<W>>,
    kept: Vec<Row<W>>,
    ends: Vec<u32>,
    groups: Vec<Group>,
    numbers: Vec<u32>,
    pairs: Vec<Pair>,
    sums: Vec<i128>,
}

/// A value that a person has in a group, with its place among the person's values.
struct Pair {
    rank: u64,
    group: u32,
    number: u32,
}

impl Weigher {
    /// Call it when the input has ended: it reads all contents, once.
    pub(super) fn new(spec: &BoundSpec, weighing: Weighing, interned: &Arc<Interned>) -> Self {
        let forms = spec.arguments.iter().map(|argument| argument.form).collect();
        Self { weighing, forms, interned: Arc::clone(interned), contents: interned.contents() }
    }

    /// Adds the people of one radix partition, with at most about `limit` bytes of rows in memory (one person's
    /// rows are always held together).
    pub(super) fn partition<const W: usize>(
        &self,
        partition: &Partition<W>,
        limit: usize,
        scratch: &mut Scratch<W>,
        totals: &mut Weighed,
    ) -> Result<()> {
        let mut read = std::mem::take(&mut scratch.read);
        partition.passes(limit, &mut read, |chunks| {
            let (mut ends, mut rows) =
                (std::mem::take(&mut scratch.ends), std::mem::take(&mut scratch.rows));
            by_bucket(chunks, &mut ends, &mut rows);
            let mut from = 0;
            for &to in &ends {
                let bucket = &mut rows[from..to as usize];
                from = to as usize;
                match &mut totals.dense {
                    Some(dense) => self.bucket(bucket, dense),
                    None => {
                        bucket.sort_unstable_by_key(|row| (person(row), row[HEAD - 1]));
                        for own in bucket.chunk_by(|a, b| person(a) == person(b)) {
                            self.person(own, scratch, totals);
                        }
                    }
                }
            }
            (scratch.ends, scratch.rows) = (ends, rows);
        })?;
        scratch.read = read;
        Ok(())
    }

    /// Totals of nobody yet.
    pub(super) fn totals(&self) -> Weighed {
        let dense = Dense::new(&self.weighing, &self.forms, self.contents.groups.len());
        Weighed { dense, ..Weighed::default() }
    }

    /// Adds the people of a bucket where the order of their groups does not matter.
    fn bucket<const W: usize>(&self, rows: &mut [Row<W>], to: &mut Dense) {
        let Some(first) = rows.first().map(person) else { return };
        if rows.iter().any(|row| person(row) != first) {
            rows.sort_unstable_by_key(person);
        }
        for own in rows.chunk_by(|a, b| person(a) == person(b)) {
            to.person(own, &self.weighing.ladder.unit(own.len() as u64));
        }
    }

    /// Adds one person, whose rows are in the order of their groups.
    fn person<const W: usize>(&self, rows: &[Row<W>], scratch: &mut Scratch<W>, to: &mut Weighed) {
        let mut kept = std::mem::take(&mut scratch.kept);
        match self.weighing.most_groups {
            Some(most) if self.keep(most, rows, &mut kept) => self.add(&kept, scratch, to),
            _ => self.add(rows, scratch, to),
        }
        scratch.kept = kept;
    }

    /// Keeps the rows of so many groups of a person, if there are more. Which ones depends on the person, the groups'
    /// content and the secret key alone.
    fn keep<const W: usize>(&self, most: u64, rows: &[Row<W>], kept: &mut Vec<Row<W>>) -> bool {
        let most = usize::try_from(most).unwrap_or(usize::MAX);
        let runs = || rows.chunk_by(|a, b| a[HEAD - 1] == b[HEAD - 1]);
        if rows.len() <= most || runs().count() <= most {
            return false;
        }
        let key = self.interned.key();
        let seed = rows.first().map_or(0, |row| self.contents.seed(person(row)));
        let rank = |group: u32| key.pair(seed, self.contents.groups[group as usize]);
        let mut groups: Vec<(u64, u32)> =
            runs().map(|own| (rank(own[0][HEAD - 1]), own[0][HEAD - 1])).collect();
        groups.sort_unstable_by(|a, b| {
            a.0.cmp(&b.0).then_with(|| self.interned.compare_groups(a.1, b.1))
        });
        groups.truncate(most);
        let chosen: HashSet<u32> = groups.into_iter().map(|(_, group)| group).collect();
        kept.clear();
        kept.extend(rows.iter().filter(|row| chosen.contains(&row[HEAD - 1])));
        true
    }

    fn add<const W: usize>(&self, rows: &[Row<W>], scratch: &mut Scratch<W>, to: &mut Weighed) {
        let mut groups = std::mem::take(&mut scratch.groups);
        let mut used = 0;
        for own in rows.chunk_by(|a, b| a[HEAD - 1] == b[HEAD - 1]) {
            if used == groups.len() {
                groups.push(Group::default());
            }
            let group = &mut groups[used];
            used += 1;
            (group.group, group.rows) = (own[0][HEAD - 1], own.len() as u64);
            group.values.clear();
            group.sums.clear();
            let mut second = HEAD + self.forms.len();
            for (i, form) in self.forms.iter().enumerate() {
                let mut total = (0, 0, 0);
                if let Form::Norm(norms) = form {
                    let known = own.iter().filter(|row| row[HEAD + i] != NONE);
                    // At most 2⁹⁰ steps each: they add up in any order, without an overflow.
                    let steps = known.map(|row| norms.steps(of_words(row[HEAD + i], row[second])));
                    group.sums.push(steps.fold(0, i128::saturating_add));
                    second += 1;
                    group.values.push((0, 0, 0));
                    continue;
                }
                group.sums.push(0);
                let numbers = own.iter().map(|row| row[HEAD + i]).filter(|n| *n != NONE);
                for number in numbers {
                    let step = u64::from(number);
                    total = (total.0 + 1, total.1 + step, total.2 + u128::from(step * step));
                }
                group.values.push((total.0, u128::from(total.1), total.2));
            }
        }
        let Weighing { ladder, most_groups, people, squares } = self.weighing;
        let (unit, member) = (ladder.unit(rows.len() as u64), ladder.unit(used as u64));
        to.add(What::SizesOfRows, (0, 0), &unit, 1);
        if people {
            to.add(What::SizesOfGroups, (0, 0), &member, 1);
        }
        let weight = KeyWeights::weight(used as u64);
        for Group { group, rows, values, .. } in &groups[..used] {
            let at = (*group, 0);
            if people {
                to.add(What::People, at, &member, 1);
            }
            if most_groups.is_some() {
                // Not scaled: only the first rung is used.
                let key = Cell { what: What::Key, group: *group, number: 0 };
                to.at(key).add(0, u128::from(weight), 0);
            }
            to.add(What::Rows, at, &unit, u128::from(*rows));
            for (i, (form, &(present, sum, of_squares))) in
                self.forms.iter().zip(values).enumerate()
            {
                if present == 0 {
                    continue;
                }
                to.add(What::Present(i), at, &unit, u128::from(present));
                if let Form::Steps { .. } = form {
                    to.add(What::Sum(i), at, &unit, sum);
                    if squares {
                        to.add(What::Squares(i), at, &unit, of_squares);
                    }
                }
            }
        }
        for (i, form) in self.forms.iter().enumerate() {
            if matches!(form, Form::Code | Form::Steps { histogram: true, .. }) {
                self.numbers(i, rows, &mut scratch.numbers, &unit, to);
            }
            if *form == Form::Code {
                self.different(i, rows, &mut scratch.pairs, to);
            }
            if let Form::Norm(norms) = form {
                norm((i, norms), &groups[..used], &mut scratch.sums, to);
            }
        }
        scratch.groups = groups;
    }

    /// Adds which values the person has in which groups, in an order that is by chance. At a bound of R the first R count, so what
    /// counts of a person is a function of that person's rows, by content, and of the secret key; and it is at most R.
    fn different<const W: usize>(
        &self,
        i: usize,
        rows: &[Row<W>],
        pairs: &mut Vec<Pair>,
        to: &mut Weighed,
    ) {
        let key = self.interned.key();
        let Some(first) = rows.first() else { return };
        let seed = self.contents.seed(person(first));
        let content = |number: u32| {
            let table = self.contents.arguments.get(i).and_then(Option::as_ref);
            table.and_then(|table| table.get(number as usize).copied()).unwrap_or_default()
        };
        pairs.clear();
        pairs.extend(rows.iter().filter(|row| row[HEAD + i] != NONE).map(|row| {
            let (group, number) = (row[HEAD - 1], row[HEAD + i]);
            let of_group = key.pair(seed, self.contents.groups[group as usize]);
            Pair { rank: key.pair(key.permute(of_group), content(number)), group, number }
        }));
        pairs.sort_unstable_by(|a, b| {
            let by_rank = a.rank.cmp(&b.rank);
            let same = (a.group, a.number) == (b.group, b.number);
            by_rank.then_with(|| match same {
                true => Ordering::Equal,
                false => self
                    .interned
                    .compare_groups(a.group, b.group)
                    .then_with(|| self.interned.compare_codes(i, a.number, b.number)),
            })
        });
        pairs.dedup_by_key(|pair| (pair.group, pair.number));
        let ladder = self.weighing.ladder;
        for (place, pair) in pairs.iter().enumerate() {
            let (group, number) = (pair.group, pair.number);
            let cell = Cell { what: What::Different(i), group, number };
            to.at(cell).add(ladder.rung(place as u64 + 1), 1, 0);
        }
        let sizes = Cell { what: What::SizesOfDifferent(i), group: 0, number: 0 };
        to.at(sizes).add(ladder.rung(pairs.len() as u64), 1, 0);
    }

    /// Adds how many of the person's rows have each value of an argument.
    fn numbers<const W: usize>(
        &self,
        i: usize,
        rows: &[Row<W>],
        numbers: &mut Vec<u32>,
        unit: &Unit,
        to: &mut Weighed,
    ) {
        for own in rows.chunk_by(|a, b| a[HEAD - 1] == b[HEAD - 1]) {
            numbers.clear();
            numbers.extend(own.iter().map(|row| row[HEAD + i]).filter(|n| *n != NONE));
            numbers.sort_unstable();
            for same in numbers.chunk_by(|a, b| a == b) {
                let (at, rows) = ((own[0][HEAD - 1], same[0]), same.len() as u64);
                to.add(What::Value(i), at, unit, u128::from(rows));
            }
        }
    }
}

/// Adds a person's sums of an argument without bounds, by the norm of all of them.
fn norm((i, norms): (usize, &Norms), groups: &[Group], sums: &mut Vec<i128>, to: &mut Weighed) {
    sums.clear();
    sums.extend(groups.iter().map(|group| group.sums[i]));
    let size = sums.iter().fold(0u128, |size, sum| size.saturating_add(sum.unsigned_abs()));
    if size == 0 {
        return;
    }
    let sizes = Cell { what: What::SizesOfNorm(i), group: 0, number: 0 };
    to.at(sizes).add(norms.rung(size), 1, 0);
    for scale in 0..norms.scales() {
        let unit = norms.unit(scale, sums);
        for (group, &sum) in groups.iter().zip(sums.iter()).filter(|(_, sum)| **sum != 0) {
            let (amount, part) = unit.parts(sum);
            let what = What::Norm(i, scale, sum < 0);
            let cell = Cell { what, group: group.group, number: 0 };
            to.at(cell).add(unit.rung(), amount, part);
        }
    }
}
