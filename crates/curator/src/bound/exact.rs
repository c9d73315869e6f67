//! Exact aggregates of bounded rows, to which noise will be added.

use super::intern::Interned;
use super::spec::{Argument, BoundSpec, Form};
use super::weigh::{Cell, Weighed, What};
use datafusion::arrow::array::{Array, AsArray, UInt32Array};
use datafusion::arrow::datatypes::UInt32Type;
use datafusion::common::{HashMap, Result, ScalarValue, exec_datafusion_err};
use datafusion::execution::SendableRecordBatchStream;
use demure_core::mechanism::{Contribution, Ladder};
use futures::StreamExt;
use std::collections::BTreeMap;
use std::fmt;

/// The exact aggregates of a query. Protected: `Debug` shows nothing.
#[derive(Clone, PartialEq)]
pub struct Exact {
    /// The groups that at least one kept row has, sorted by key content, so that their order reveals nothing about the
    /// order of the rows.
    pub groups: Vec<ExactGroup>,
    /// How large people are, where they are weighed.
    pub sizes: Option<ExactSizes>,
}

/// How many people are on each rung of the ladder, and above all of them. Protected: `Debug` shows nothing.
#[derive(Clone, PartialEq)]
pub struct ExactSizes {
    /// By their rows.
    pub rows: Vec<u64>,
    /// By their groups.
    pub groups: Vec<u64>,
    /// By their different values of each column, in the order of the specification.
    pub different: Vec<Vec<u64>>,
    /// By the norm of their sums of each column, if they are not all 0; empty but for [`Form::Norm`].
    pub norms: Vec<Vec<u64>>,
}

/// The exact aggregates of one group. Protected: `Debug` shows nothing.
#[derive(Clone, PartialEq)]
pub struct ExactGroup {
    /// The key values, with dictionaries decoded.
    pub key: Vec<ScalarValue>,
    /// The number of rows.
    pub rows: u64,
    /// The number of people.
    pub people: u64,
    /// The aggregated columns, in the order of the specification.
    pub arguments: Vec<ExactArgument>,
    /// Totals for every bound, where people are weighed.
    pub weighed: Option<WeighedGroup>,
}

/// The totals of one group for every bound. Protected: `Debug` shows nothing.
#[derive(Clone, Default, PartialEq)]
pub struct WeighedGroup {
    /// Rows.
    pub rows: Contribution,
    /// People.
    pub people: Contribution,
    /// The weight of the key, by [`KeyWeights`](demure_core::mechanism::KeyWeights).
    pub key: u64,
    /// The aggregated columns, in the order of the specification.
    pub arguments: Vec<WeighedArgument>,
}

/// The totals of one column in one group for every bound, over values that are not NULL. Protected: `Debug` shows
/// nothing.
#[derive(Clone, Default, PartialEq)]
pub struct WeighedArgument {
    /// How many values.
    pub present: Contribution,
    /// Of [`Form::Steps`]: their sum, in steps from the lower bound.
    pub sum: Contribution,
    /// The sum of their squares.
    pub squares: Contribution,
    /// Of [`Form::Steps`] with a histogram, by steps; and of [`Form::Code`], by the number of the value.
    pub values: BTreeMap<u32, Contribution>,
    /// Of [`Form::Code`]: the values, by content, and their numbers.
    pub codes: Vec<(ScalarValue, u32)>,
    /// Of [`Form::Code`]: how many different values are there from which rung on.
    pub different: BTreeMap<usize, u64>,
    /// Of [`Form::Norm`], by scale: the positive and the negative sums of people.
    pub sums: Vec<[Contribution; 2]>,
}

/// The exact aggregates of one column in one group, over values that are not NULL.
#[derive(Clone, PartialEq)]
pub enum ExactArgument {
    /// For [`Form::Steps`].
    Steps {
        /// The number of values.
        rows: u64,
        /// Their sum, in steps from the lower bound.
        sum: i128,
        /// The sum of their squares.
        squares: i128,
        /// The number of values at each step from the lower bound, if requested.
        histogram: Option<BTreeMap<u32, u64>>,
    },
    /// For [`Form::Code`]: each value and how many rows have it, sorted by content.
    Code(Vec<(ScalarValue, u64)>),
    /// For [`Form::Present`]: the number of values.
    Present(u64),
}

macro_rules! protected {
    ($($name:ident),*) => {$(
        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(concat!(stringify!($name), "(protected)"))
            }
        }
    )*};
}

protected!(Exact, ExactGroup, ExactArgument, ExactSizes, WeighedGroup, WeighedArgument);

/// The totals of one group. Nothing can overflow with fewer than 2⁶⁴ rows.
#[derive(Clone, Copy, Default)]
struct Totals {
    rows: u64,
    people: u64,
}

#[derive(Clone, Copy, Default)]
struct Moments {
    rows: u64,
    sum: u128,
    squares: u128,
}

/// One argument over all groups, indexed by group number.
enum Column {
    Steps(Vec<Moments>, Option<Counts>),
    Code(Counts),
    Present(Vec<u64>),
}

/// The number of rows by `group, number`.
type Counts = HashMap<u64, u64>;

/// Aggregates bounded rows (the output of the native operator).
pub async fn accumulate(
    mut rows: SendableRecordBatchStream,
    interned: &Interned,
    spec: &BoundSpec,
) -> Result<Exact> {
    if let Some(weighing) = spec.weighing {
        let mut weighed = Weighed::default();
        while let Some(batch) = rows.next().await.transpose()? {
            weighed.merge(&batch);
        }
        return of_weighed(weighed, interned, spec, weighing.ladder);
    }
    let mut totals: Vec<Totals> = Vec::new();
    let mut columns: Vec<Column> = spec.arguments.iter().map(|a| Column::new(a.form)).collect();
    while let Some(batch) = rows.next().await.transpose()? {
        let groups = batch.column(0).as_primitive::<UInt32Type>().values();
        let most = groups.iter().max().map_or(0, |&group| group as usize + 1);
        if most > totals.len() {
            totals.resize(most, Totals::default());
        }
        for (&group, first) in groups.iter().zip(batch.column(1).as_boolean().values()) {
            let total = &mut totals[group as usize];
            total.rows += 1;
            total.people += u64::from(first);
        }
        for (i, column) in columns.iter_mut().enumerate() {
            column.add(groups, totals.len(), batch.column(i + 2).as_primitive());
        }
    }
    finish(&totals, columns, interned)
}

impl Column {
    fn new(form: Form) -> Self {
        match form {
            Form::Steps { histogram, .. } => {
                Self::Steps(Vec::new(), histogram.then(Counts::default))
            }
            Form::Code => Self::Code(Counts::default()),
            Form::Present | Form::Norm(_) => Self::Present(Vec::new()),
        }
    }

    fn add(&mut self, groups: &[u32], count: usize, numbers: &UInt32Array) {
        let present = groups.iter().zip(numbers.values()).enumerate();
        let present = present.filter(|(i, _)| numbers.is_valid(*i)).map(|(_, (&g, &n))| (g, n));
        let cell = |(group, number): (u32, u32)| u64::from(group) << 32 | u64::from(number);
        match self {
            Self::Steps(moments, histogram) => {
                moments.resize(count.max(moments.len()), Moments::default());
                let mut add = |(group, steps): (u32, u32)| {
                    let (moment, steps) = (&mut moments[group as usize], u64::from(steps));
                    moment.rows += 1;
                    moment.sum += u128::from(steps);
                    moment.squares += u128::from(steps * steps);
                };
                match numbers.nulls() {
                    None => {
                        groups.iter().copied().zip(numbers.values().iter().copied()).for_each(add)
                    }
                    Some(_) => present.clone().for_each(&mut add),
                }
                if let Some(counts) = histogram {
                    present.map(cell).for_each(|cell| *counts.entry(cell).or_default() += 1);
                }
            }
            Self::Code(counts) => {
                present.map(cell).for_each(|cell| *counts.entry(cell).or_default() += 1);
            }
            Self::Present(counts) => {
                counts.resize(count.max(counts.len()), 0);
                present.for_each(|(group, _)| counts[group as usize] += 1);
            }
        }
    }
}

fn finish(totals: &[Totals], columns: Vec<Column>, interned: &Interned) -> Result<Exact> {
    let kept = totals.iter().enumerate().filter(|(_, total)| total.rows > 0);
    let mut order: Vec<u32> = kept.map(|(group, _)| group as u32).collect();
    order.sort_unstable_by(|&a, &b| interned.compare_groups(a, b));
    let mut columns = columns
        .into_iter()
        .enumerate()
        .map(|(i, column)| column.finish(i, &order, interned).map(Vec::into_iter))
        .collect::<Result<Vec<_>>>()?;
    let mut groups = Vec::with_capacity(order.len());
    for (&group, key) in order.iter().zip(interned.group_keys(&order)?) {
        let Totals { rows, people } = totals[group as usize];
        let missing = || exec_datafusion_err!("an argument lost a group");
        let arguments = columns.iter_mut().map(|column| column.next().ok_or_else(missing));
        let arguments = arguments.collect::<Result<_>>()?;
        groups.push(ExactGroup { key, rows, people, arguments, weighed: None });
    }
    Ok(Exact { groups, sizes: None })
}

/// A total without any bound.
fn all(of: &Contribution) -> u64 {
    let sum = of.by_rung().fold(0u128, |sum, (_, amount, _)| sum.saturating_add(amount));
    u64::try_from(sum).unwrap_or(u64::MAX)
}

/// The same from totals for every bound.
fn of_weighed(
    weighed: Weighed,
    interned: &Interned,
    spec: &BoundSpec,
    ladder: Ladder,
) -> Result<Exact> {
    let mut by_group: BTreeMap<u32, WeighedGroup> = BTreeMap::new();
    let nobody = vec![0; ladder.len() + 1];
    let different = vec![nobody.clone(); spec.arguments.len()];
    let norms = |argument: &Argument| match argument.form {
        Form::Norm(norms) => vec![0; norms.len() + 1],
        _ => Vec::new(),
    };
    let norms = spec.arguments.iter().map(norms).collect();
    let mut sizes = ExactSizes { rows: nobody.clone(), groups: nobody, different, norms };
    for (Cell { what, group, number }, total) in weighed.into_cells() {
        let count = |to: &mut Vec<u64>| {
            for (rung, units, _) in total.by_rung() {
                to[rung] += u64::try_from(units).unwrap_or(u64::MAX);
            }
        };
        match what {
            What::SizesOfRows => count(&mut sizes.rows),
            What::SizesOfGroups => count(&mut sizes.groups),
            What::SizesOfDifferent(i) => count(&mut sizes.different[i]),
            What::SizesOfNorm(i) => count(&mut sizes.norms[i]),
            _ => {
                let arguments = || vec![WeighedArgument::default(); spec.arguments.len()];
                let to = by_group.entry(group).or_insert_with(|| WeighedGroup {
                    arguments: arguments(),
                    ..Default::default()
                });
                match what {
                    What::People => to.people = total,
                    What::Key => to.key = all(&total),
                    What::Present(i) => to.arguments[i].present = total,
                    What::Sum(i) => to.arguments[i].sum = total,
                    What::Squares(i) => to.arguments[i].squares = total,
                    What::Norm(i, scale, negative) => {
                        let sums = &mut to.arguments[i].sums;
                        sums.resize_with(sums.len().max(scale + 1), Default::default);
                        sums[scale][usize::from(negative)] = total;
                    }
                    What::Value(i) => _ = to.arguments[i].values.insert(number, total),
                    What::Different(i) => {
                        let first = total.by_rung().map(|(rung, _, _)| rung).min();
                        let first = first.unwrap_or(ladder.len());
                        *to.arguments[i].different.entry(first).or_default() += 1;
                    }
                    _ => to.rows = total,
                }
            }
        }
    }
    let mut order: Vec<u32> = by_group.keys().copied().collect();
    order.sort_unstable_by(|&a, &b| interned.compare_groups(a, b));
    let mut groups = Vec::with_capacity(order.len());
    for (group, key) in order.iter().zip(interned.group_keys(&order)?) {
        let mut weighed = by_group.remove(group).unwrap_or_default();
        for (i, argument) in weighed.arguments.iter_mut().enumerate() {
            if spec.arguments[i].form == Form::Code {
                let mut codes: Vec<u32> = argument.values.keys().copied().collect();
                codes.sort_unstable_by(|a, b| interned.compare_codes(i, *a, *b));
                let values = interned.code_values(i, &codes)?;
                argument.codes = values.into_iter().zip(codes).collect();
            }
        }
        let (rows, people) = (all(&weighed.rows), all(&weighed.people));
        groups.push(ExactGroup { key, rows, people, arguments: vec![], weighed: Some(weighed) });
    }
    Ok(Exact { groups, sizes: Some(sizes) })
}

/// The counts of each group of `order`, as (number, count).
fn by_group(counts: Counts, order: &[u32]) -> Vec<Vec<(u32, u64)>> {
    let place: HashMap<u32, usize> = order.iter().enumerate().map(|(i, &g)| (g, i)).collect();
    let mut all = vec![Vec::new(); order.len()];
    for (cell, count) in counts {
        if let Some(&at) = place.get(&((cell >> 32) as u32)) {
            all[at].push((cell as u32, count));
        }
    }
    all
}

impl Column {
    fn finish(self, i: usize, order: &[u32], interned: &Interned) -> Result<Vec<ExactArgument>> {
        Ok(match self {
            Self::Steps(moments, histogram) => {
                let mut histograms = histogram.map(|counts| by_group(counts, order).into_iter());
                let argument = |&group: &u32| {
                    let m = moments.get(group as usize).copied().unwrap_or_default();
                    // Fewer than 2⁶⁴ values of at most 2³⁰: they fit.
                    let (sum, squares) = (m.sum as i128, m.squares as i128);
                    let histogram = histograms.as_mut().and_then(Iterator::next);
                    let histogram = histogram.map(|counts| counts.into_iter().collect());
                    ExactArgument::Steps { rows: m.rows, sum, squares, histogram }
                };
                order.iter().map(argument).collect()
            }
            Self::Code(counts) => {
                let mut all = Vec::with_capacity(order.len());
                for mut counts in by_group(counts, order) {
                    counts.sort_unstable_by(|a, b| interned.compare_codes(i, a.0, b.0));
                    let codes: Vec<u32> = counts.iter().map(|(code, _)| *code).collect();
                    let values = interned.code_values(i, &codes)?.into_iter();
                    all.push(ExactArgument::Code(values.zip(counts.iter().map(|c| c.1)).collect()));
                }
                all
            }
            Self::Present(counts) => {
                let argument = |&group: &u32| counts.get(group as usize).copied().unwrap_or(0);
                order.iter().map(argument).map(ExactArgument::Present).collect()
            }
        })
    }
}
