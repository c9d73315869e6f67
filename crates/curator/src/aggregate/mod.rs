//! Aggregates over protected rows, and the families of functions that answer them.
//!
//! Each family has a file. It says which SQL functions belong to it, what its mechanism reads, what it costs, what its
//! error will be, and how it is released. To add an aggregate, write its file and add a line to [`FAMILIES`].
//!
//! A query's budget is divided between *blocks*. Statistics of one column share a block: its count, sum, mean and
//! variance come out of one vector of noised parts, at one price ([`demure_core::mechanism::Groups`]). Other families
//! use one block per measure.
//!
//! | file | what |
//! |---|---|
//! | `mod.rs` | the aggregate, its measures, and the traits that every family implements |
//! | `canonical.rs` | the meaning of a plan, by which bought answers are found |
//! | `call.rs` | one call of an aggregate function, as a query writes it |
//! | `numbers.rs` | COUNT, SUM, AVG, VAR, STDDEV |
//! | `norm.rs` | SUM and AVG of values without bounds |
//! | `distinct.rs` | COUNT(DISTINCT x) |
//! | `distinct_sum.rs` | SUM(DISTINCT x), AVG(DISTINCT x) |
//! | `boolean.rs` | BOOL_OR, BOOL_AND: a noised count, compared with its error |
//! | `rollup.rs` | totals over released cells: GROUPING SETS, ROLLUP, CUBE |
//! | `quantile.rs` | MEDIAN and other quantiles: by ranks, or by smooth sensitivity |
//! | `ends.rs` | the ends of a quantile's interval, in units of its column |
//! | `extreme.rs` | MIN and MAX |
//! | `deviation.rs` | MEDIAN_ABSOLUTE_DEVIATION |
//! | `mode.rs` | the most common value: chosen by noised counts, or released where it is stable |
//! | `learn.rs` | contribution bounds that are learnt |
//! | `keys.rs` | where group keys come from, and how private ones are selected |
//! | `share.rs` | the budget of one block, and of one row in one group |
//! | `exact.rs` | the exact groups, as blocks read them |
//! | `quote.rs` | the price of an aggregate: the budget divided between its blocks |
//! | `release.rs` | exact groups in, noised table out |

mod boolean;
mod call;
mod canonical;
mod deviation;
mod distinct;
mod distinct_sum;
mod ends;
mod exact;
mod extreme;
mod keys;
mod learn;
mod mode;
mod norm;
mod numbers;
mod quantile;
mod quote;
mod release;
mod rollup;
mod share;

pub(crate) use call::{Call, Columns};
pub(crate) use exact::ExactGroups;
pub(crate) use keys::{Keys, Selection, select_keys};
pub(crate) use learn::{Counted, Weights};
pub(crate) use quote::{Quote, Spend, quote};
pub(crate) use release::{AMONG, Released, release};
pub(crate) use rollup::{GroupingSet, Rollup, summable};
pub(crate) use share::{Share, part_of};
#[cfg(test)]
pub(crate) use {
    boolean::Decision,
    deviation::Deviation,
    distinct::DistinctBlock,
    distinct_sum::DistinctSum,
    extreme::Extreme,
    mode::{Chooser, Mode},
    norm::NormBlock,
    numbers::{NumbersBlock, Source},
    quantile::{Method, Ordered},
};

use crate::bound::{Form, limit};
use crate::error::{Error, Result};
use crate::rows::Limits;
use crate::rows::expression::Facts;
use crate::rows::times::{from_number, is_moment};
use crate::words::short;
use canonical::Fingerprint;
use datafusion::arrow::datatypes::DataType;
use datafusion::common::{DFSchemaRef, ScalarValue};
use datafusion::logical_expr::{AggregateUDF, Expr, LogicalPlan};
use demure_core::event::Event;
use demure_core::mechanism::{Bounds, Norms};
use demure_core::random::Randomness;
use demure_core::unit::{Beta, Grid, Neighbours};
use sha2::Digest;
use std::any::Any;
use std::fmt;
use std::hash::Hash;

/// All families, in the order in which they are asked to recognise a call.
static FAMILIES: &[&dyn Family] = &[
    &distinct_sum::DistinctSums,
    &numbers::Numbers,
    &distinct::Distinct,
    &extreme::Extremes,
    &quantile::Quantiles,
    &mode::Modes,
    &deviation::Deviations,
    &boolean::Booleans,
];

/// Errors are stated at confidence 1 − `BETA`.
pub(crate) const BETA: f64 = 0.05;
/// The row count used to illustrate the error of an average, since the true count is protected.
pub(crate) const TYPICAL_ROWS: u64 = 1_000;

/// A family of aggregate functions.
pub(crate) trait Family: Any + Sync {
    /// The measure that a call asks for; `None` if the function belongs to another family.
    fn recognise(&'static self, call: &mut Call<'_>) -> Result<Option<Measure>>;

    /// The functions that this family adds to SQL.
    fn functions(&self) -> Vec<AggregateUDF> {
        Vec::new()
    }

    /// The SQL text of a measure of this family.
    fn written(&self, measure: &Measure, argument: &str) -> String;

    /// Whether a measure can be released where people are weighed, instead of having their rows left out.
    fn weighs(&self, _: &Measure, _: &[Value]) -> bool {
        true
    }

    /// The blocks that these measures, all of this family, need. Which are best may depend on the neighbour relation.
    fn blocks(
        &self,
        measures: &[(usize, Measure)],
        aggregate: &PrivateAggregate,
        neighbours: Neighbours,
    ) -> Vec<Planned>;
}

/// One aggregate function of a query, to be measured in each group.
#[derive(Clone, Copy)]
pub(crate) struct Measure {
    pub(crate) family: &'static dyn Family,
    /// The code of the function. It is part of the key of bought answers, so a code must never be reused for another
    /// function: 0 to 7 are numbers and distinct counts, 8 quantiles and extremes, 9 modes, 10 median absolute
    /// deviations, 11 and 12 booleans, 13 and 14 sums of distinct values.
    pub(crate) code: isize,
    /// The index of the argument among the values; `None` for COUNT(*).
    pub(crate) value: Option<usize>,
    /// The rank of a quantile.
    pub(crate) rank: Option<f64>,
}

impl PartialEq for Measure {
    fn eq(&self, other: &Self) -> bool {
        (self.code, self.value, self.rank) == (other.code, other.value, other.rank)
    }
}

impl fmt::Debug for Measure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.family.written(self, "…"))
    }
}

impl Measure {
    /// Whether it counts people, each once in a group.
    pub(crate) fn counts_people(&self) -> bool {
        self.code == numbers::PEOPLE
    }

    /// Whether squares of its values are added up.
    pub(crate) fn squares(&self) -> bool {
        numbers::squares(self.code)
    }

    /// The index of its argument.
    pub(crate) fn argument(&self) -> Result<usize> {
        self.value.ok_or_else(|| internal("a measure without an argument"))
    }
}

/// A block before it has a price.
pub(crate) struct Planned {
    pub(crate) place: Place,
    /// The measures that are computed from it.
    pub(crate) serves: Vec<usize>,
    /// The means whose number of rows it counts: they are sums that another block serves, divided by it.
    pub(crate) divides: Vec<usize>,
    pub(crate) block: Box<dyn BlockPlan>,
}

/// The blocks that a measure is computed from, by their index.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct ComputedFrom {
    pub(crate) block: usize,
    /// A mean of values without bounds is a sum over this count.
    pub(crate) over: Option<usize>,
}

/// The order of blocks: per-column blocks first, then per-measure blocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Place {
    Column(usize),
    Measure(usize),
}

/// A block to be calibrated.
pub(crate) trait BlockPlan: Send + Sync {
    /// Whether it needs a δ, or may be more accurate with one.
    fn wants_delta(&self) -> bool {
        false
    }

    /// What it counts of a person.
    fn counted(&self) -> Counted {
        Counted::Rows
    }

    /// Whether what it releases has an interval.
    fn has_interval(&self) -> bool {
        false
    }

    /// Whether it needs the squares of values.
    fn squares(&self) -> bool {
        false
    }

    /// How many steps one row adds at most.
    fn width(&self, _: &PrivateAggregate) -> Result<f64> {
        Ok(1.0)
    }

    /// How finely people can be weighed: a row of full weight is at most 2^this many steps.
    fn finest(&self) -> u32 {
        30
    }

    /// Calibrates the mechanism for this share of the budget. With `weights` people are weighed, otherwise they have
    /// the aggregate's limits.
    fn calibrate(
        &self,
        share: &Share,
        aggregate: &PrivateAggregate,
        weights: Option<&Weights>,
    ) -> Result<Box<dyn Block>>;
}

/// A mechanism that is calibrated for all groups of an aggregate together.
pub(crate) trait Block: Any + Send + Sync {
    /// The privacy event that it costs.
    fn event(&self) -> Result<Event>;

    /// About how large the noise is, in rows, if one row of a person counts in full: the measure by which a bound is
    /// chosen.
    fn noise_per_row(&self) -> Result<f64> {
        Err(internal("people are not weighed here"))
    }

    /// The value it reads, and the form it is kept in; `None` if rows or people are counted.
    fn reads(&self) -> Option<(usize, Form)>;

    /// Describes a measure that is computed from this block.
    fn describe(&self, measure: &Measure, of: &PrivateAggregate, beta: Beta) -> Result<Described>;

    /// Releases all groups.
    fn release(
        &self,
        groups: &ExactGroups<'_>,
        rng: &mut dyn Randomness,
    ) -> Result<Box<dyn ReleasedColumns>>;
}

/// The released values of a block.
pub(crate) trait ReleasedColumns {
    /// The values of one measure, each with the half-width of its 95 % interval.
    fn column(&self, measure: &Measure) -> Result<Vec<(ScalarValue, Option<f64>)>>;

    /// The half-widths of the same intervals at confidence 1 − `BETA`/`among`, so that so many of them hold at once with
    /// 95 %; empty if they are not known.
    fn errors(&self, _: &Measure, _among: u32) -> Result<Vec<Option<f64>>> {
        Ok(Vec::new())
    }

    /// The ends of the intervals, where they are not as far below the values as above; otherwise empty.
    fn ends(&self) -> Vec<(f64, f64)> {
        Vec::new()
    }

    /// The numbers of groups taken together, each of so many cells: [`Rollup`].
    fn together(&self, _: &[Vec<usize>]) -> Result<Box<dyn ReleasedColumns>> {
        Err(internal("numbers that cannot be added up"))
    }
}

/// Values that are released without an error in their own units.
impl ReleasedColumns for Vec<ScalarValue> {
    fn column(&self, _: &Measure) -> Result<Vec<(ScalarValue, Option<f64>)>> {
        Ok(self.iter().map(|value| (value.clone(), None)).collect())
    }
}

/// The mechanism, noise and expected error of one noised column.
pub(crate) struct Described {
    pub(crate) mechanism: String,
    pub(crate) sensitivity: String,
    pub(crate) scale: f64,
    pub(crate) error: Expected,
    pub(crate) why: Option<String>,
}

impl Described {
    /// The quote for a column of this name.
    pub(crate) fn named(self, name: String) -> ColumnQuote {
        let Self { mechanism, sensitivity, scale, error, why } = self;
        let (per_row, per_sum) = (false, false);
        ColumnQuote { name, mechanism, sensitivity, scale, error, per_row, per_sum, why }
    }
}

/// The mechanism, noise and expected error of one noised column, by name.
#[derive(Clone, Debug, PartialEq)]
pub struct ColumnQuote {
    /// Its name.
    pub name: String,
    /// The mechanism.
    pub mechanism: String,
    /// How much one unit can change it, in words.
    pub sensitivity: String,
    /// The noise scale, in the column's units.
    pub scale: f64,
    /// The expected 95 % error.
    pub error: Expected,
    /// Whether scale and error are for each row of a person that counts in full. How many do is learnt with the
    /// answer.
    pub per_row: bool,
    /// Whether they are for each 1 of a person's sums that counts in full. How large sums do is learnt with the answer.
    pub per_sum: bool,
    /// Why this mechanism was chosen, where there was a choice.
    pub why: Option<String>,
}

/// An error that is exceeded with a probability of at most 5 %.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum Expected {
    /// In the column's units.
    Within(f64),
    /// In the column's units, for a group of this many rows.
    WithinAt {
        /// The number of rows in the group.
        rows: u64,
        /// The error.
        error: f64,
    },
    /// The rank of the released value among the group's values is off by at most this many.
    Ranks(f64),
    /// The same, if the values around the quantile are evenly spread. For other data there is no bound.
    EvenRanks(f64),
    /// The most common value is released if it occurs this many times more often than the next; otherwise the answer
    /// is NULL.
    Lead(f64),
    /// The chosen value occurs at most this many times less often than the most common one.
    Votes(f64),
    /// Whether there is such a row is decided by whether more than this many are counted. The answer is right in 95 of
    /// 100 cases if there are none, or twice as many.
    Decided(f64),
}

/// An aggregate over protected rows, ready to be priced.
#[derive(Clone, Debug)]
pub(crate) struct PrivateAggregate {
    /// The input's columns are the unit's id, if any, then the keys, then the arguments.
    pub(crate) input: LogicalPlan,
    /// Whether the first input column is the id of people whose contributions must be bounded.
    pub(crate) bounded: bool,
    /// The contribution bounds: groups per unit, and rows per group.
    pub(crate) limits: Limits,
    pub(crate) keys: Keys,
    pub(crate) key_count: usize,
    /// GROUPING SETS that are totals over the groups of one release.
    pub(crate) rollup: Option<Rollup>,
    /// How many releases share the query's budget, of which this is one: one for each of separate grouping sets.
    pub(crate) among: u32,
    /// Whether rows are left out whose key is not among the values that the policy lists.
    pub(crate) drops_unlisted: bool,
    /// The argument columns.
    pub(crate) values: Vec<Value>,
    /// The aggregate functions of the query.
    pub(crate) measures: Vec<Measure>,
    /// The column names in the query: keys, then measures.
    pub(crate) schema: DFSchemaRef,
}

/// The most that one unit contributes: so many rows in each of so many groups. With weights it is one group, as the
/// norm over all groups is bounded ([`demure_core::mechanism::Ladder`]), and rows are in steps.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Most {
    pub(crate) groups: u32,
    pub(crate) rows: u32,
    /// How many steps a row of full weight counts.
    pub(crate) per_row: f64,
    pub(crate) weighted: bool,
}

impl Most {
    #[cfg(test)]
    pub(crate) fn of(groups: u32, rows: u32) -> Self {
        Self { groups, rows, per_row: 1.0, weighted: false }
    }
}

/// An argument column of the input.
#[derive(Clone, Debug)]
pub(crate) struct Value {
    /// The SQL text of the argument.
    pub(crate) text: String,
    /// The first function that asked for it, and the argument, as the analyst wrote them.
    pub(crate) call: (String, String),
    pub(crate) facts: Facts,
    /// The bounds in which a number is summed or ranked.
    pub(crate) bounds: Option<Bounds>,
    /// How a number without bounds is summed.
    pub(crate) norms: Option<Norms>,
    /// The argument before it was converted to a number.
    pub(crate) raw: Expr,
}

/// The most steps of a number whose squares are weighed, as log₂. Weights need room beside them in integers, and a
/// value is off by at most a 16,000th of its range.
const SQUARED_STEPS: i32 = 13;

impl Value {
    /// Puts the number on a coarser grid, if it has more steps than can be squared and weighed.
    pub(crate) fn coarsen(&mut self) -> Result<()> {
        let Some(bounds) = self.bounds else { return Ok(()) };
        let steps = bounds.steps().max(1).ilog2() as i32 + 1;
        if steps > SQUARED_STEPS {
            let grid = Grid::power_of_two(bounds.grid().exponent() + steps - SQUARED_STEPS)?;
            self.bounds = Some(Bounds::on(bounds.lower(), bounds.upper(), grid)?);
        }
        Ok(())
    }
}

/// A digest of what a plan means, or of its structure and text where its meaning is not known.
pub(crate) fn digest(plan: &LogicalPlan) -> String {
    let mut hasher = Fingerprint::default();
    identify(plan, &mut hasher);
    hasher.0.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
}

fn identify(plan: &LogicalPlan, hasher: &mut Fingerprint) {
    if let Some(meaning) = canonical::meaning(plan) {
        ("meaning", meaning).hash(hasher);
        return;
    }
    plan.hash(hasher);
    // The hash of a number does not include its type, but the text does.
    plan.display_indent().to_string().hash(hasher);
}

impl PrivateAggregate {
    /// The question in words.
    pub(crate) fn text(&self) -> String {
        let names: Vec<String> = self.measures.iter().map(|one| self.written(one)).collect();
        let Limits { groups, rows, learnt } = self.limits;
        let bounds = match learnt {
            true => "the rows of a person that count in full are learnt".to_owned(),
            false => format!("at most {rows} rows in each of {groups} groups"),
        };
        let sums = if self.has_norms() { "; so are sums without bounds" } else { "" };
        format!("{}; {bounds}{sums}\n{}", names.join(", "), self.input.display_indent())
    }

    /// The SQL text of a measure.
    pub(crate) fn written(&self, measure: &Measure) -> String {
        let argument = measure.value.and_then(|v| self.values.get(v));
        measure.family.written(measure, argument.map_or("*", |value| &value.text))
    }

    /// The blocks that the measures need, in order, and those that each measure is computed from.
    pub(crate) fn blocks(
        &self,
        neighbours: Neighbours,
    ) -> (Vec<Box<dyn BlockPlan>>, Vec<ComputedFrom>) {
        let mut planned: Vec<Planned> = Vec::new();
        for family in FAMILIES {
            let own: Vec<(usize, Measure)> = self
                .measures
                .iter()
                .copied()
                .enumerate()
                // Families are compared by type: values of zero size have no distinct addresses.
                .filter(|(_, measure)| (*measure.family).type_id() == (**family).type_id())
                .collect();
            planned.extend(family.blocks(&own, self, neighbours));
        }
        planned.sort_by_key(|one| one.place);
        let mut from = vec![ComputedFrom { block: 0, over: None }; self.measures.len()];
        for (i, one) in planned.iter().enumerate() {
            one.serves.iter().for_each(|&measure| from[measure].block = i);
            one.divides.iter().for_each(|&measure| from[measure].over = Some(i));
        }
        (planned.into_iter().map(|one| one.block).collect(), from)
    }

    /// How many columns of the released table are keys, the id of the grouping set among them.
    pub(crate) fn key_columns(&self) -> usize {
        self.key_count + usize::from(self.rollup.is_some())
    }

    /// The bounds of a number.
    pub(crate) fn bounds(&self, value: usize) -> Result<Bounds> {
        self.values[value].bounds.ok_or_else(|| internal("a number without bounds"))
    }

    /// Whether the norms of people's sums are learnt, as some values have no bounds.
    pub(crate) fn has_norms(&self) -> bool {
        self.values.iter().any(|value| value.norms.is_some())
    }

    /// Whether anything is learnt before the blocks are released: then people are weighed.
    pub(crate) fn learns(&self) -> bool {
        self.limits.learnt || self.has_norms()
    }

    /// Whether there is exactly one group, whatever the data.
    pub(crate) fn single(&self) -> bool {
        matches!(self.keys, Keys::One)
    }

    /// What the limits before joins and expensive expressions leave out, in words.
    pub(crate) fn not_read_in_words(&self) -> Option<String> {
        let (joins, work) = (limit(&self.input, false), limit(&self.input, true));
        let (rows, why) = match (joins, work) {
            (Some(rows), None) => (rows, "went into the join"),
            (None, Some(rows)) => (rows, "were computed on, as each costs much"),
            (Some(joins), Some(work)) => {
                (joins.min(work), "went into the join, as each costs much")
            }
            (None, None) => return None,
        };
        Some(format!(
            "at most {rows} rows of each person in each table {why}: if anyone has more, they are left out, and no \
             interval allows for it"
        ))
    }

    /// What limits leave out, in words; `None` if they leave nothing out.
    pub(crate) fn left_out_in_words(&self) -> Option<String> {
        let Limits { groups, rows, learnt } = self.limits;
        let people = |m: &Measure| m.counts_people();
        let nothing = self.single() && self.measures.iter().all(people);
        if !self.bounded || learnt || nothing || self.measures.is_empty() {
            return None;
        }
        let group = if groups == 1 { "1 group".to_owned() } else { format!("{groups} groups") };
        let place =
            if self.single() { String::new() } else { format!(" in each of at most {group}") };
        let rows = match rows {
            1 => format!("at most 1 row of each person{place} counts"),
            rows => format!("at most {rows} rows of each person{place} count"),
        };
        Some(format!(
            "{rows}: if anyone has more, they are left out, and no interval allows for it"
        ))
    }

    /// What totals over the cells of one release leave out, in words.
    pub(crate) fn totals_in_words(&self) -> Option<String> {
        (self.rollup.is_some() && self.drops_unlisted).then(|| {
            "totals are sums over the keys that the policy lists: rows with other values are left \
             out of them"
                .to_owned()
        })
    }

    /// The most that one unit can change, in words, where people are weighed.
    pub(crate) fn weighed_reach(&self, weights: &Weights) -> String {
        match weights.bound() {
            1 => "1 row of one person".to_owned(),
            rows => format!("{rows} rows of one person, in all groups together"),
        }
    }

    /// The most that one unit contributes.
    pub(crate) fn most(&self, weights: Option<&Weights>) -> Most {
        let Limits { groups, rows, .. } = self.limits;
        match weights {
            // At most 3·2³⁰ steps.
            Some(weights) => {
                let rows = u32::try_from(weights.at.most()).unwrap_or(u32::MAX);
                Most { groups: 1, rows, per_row: Weights::steps(Some(weights)), weighted: true }
            }
            None => Most { groups, rows, per_row: 1.0, weighted: false },
        }
    }

    /// The same in words.
    pub(crate) fn most_in_words(&self, weights: Option<&Weights>) -> String {
        match weights {
            Some(weights) => self.weighed_reach(weights),
            None => self.reach(self.limits.rows),
        }
    }

    /// The most that one unit can change, in words, if it has this many rows in a group.
    pub(crate) fn reach(&self, rows: u32) -> String {
        let plural = if rows == 1 { "row" } else { "rows" };
        match (self.bounded, self.limits.groups, rows) {
            (false, 1, 1) => "one row".to_owned(),
            (_, 1, rows) => format!("{rows} {plural} of one person"),
            (_, groups, rows) => {
                format!("{rows} {plural} in each of {groups} groups of one person")
            }
        }
    }

    /// Different for aggregates that ask different questions, and equal for those that ask the same one as far as
    /// [`canonical`] recognises it. Bought answers are found by it. It hashes meaning or structure, because two
    /// different plans can have the same text.
    pub(crate) fn fingerprint(&self) -> [u8; 32] {
        let mut hasher = Fingerprint::default();
        identify(&self.input, &mut hasher);
        if let Keys::Public(all) = &self.keys {
            for value in all.iter().flatten() {
                (value.data_type(), value).hash(&mut hasher);
            }
        }
        (self.bounded, self.limits.groups, self.limits.rows, self.key_count).hash(&mut hasher);
        if self.limits.learnt {
            "learnt".hash(&mut hasher);
        }
        for value in &self.values {
            let bounds = value
                .bounds
                .map(|b| (b.lower().to_bits(), b.upper().to_bits(), b.grid().exponent()));
            (bounds, value.facts.nullable, &value.facts.values).hash(&mut hasher);
            // Answers that were bought before there were norms keep their key.
            value.norms.iter().for_each(|norms| ("norms", norms).hash(&mut hasher));
        }
        for Measure { code, value, rank, .. } in &self.measures {
            code.hash(&mut hasher);
            value.iter().for_each(|value| value.hash(&mut hasher));
            rank.iter().for_each(|rank| rank.to_bits().hash(&mut hasher));
        }
        for field in self.schema.fields() {
            field.data_type().hash(&mut hasher);
        }
        if let Some(rollup) = &self.rollup {
            ("rollup", &rollup.sets).hash(&mut hasher);
        }
        if self.among > 1 {
            ("among", self.among).hash(&mut hasher);
        }
        hasher.0.finalize().into()
    }
}

/// The functions that the families add to SQL.
pub(crate) fn functions() -> impl Iterator<Item = AggregateUDF> {
    FAMILIES.iter().flat_map(|family| family.functions())
}

/// What Laplace noise exceeds with this probability is its mean size.
pub(crate) fn typical() -> Result<Beta> {
    Ok(Beta::new((-1.0f64).exp())?)
}

/// A block for each distinct measure, at the position of its first use.
pub(crate) fn each_its_block(
    measures: &[(usize, Measure)],
    plan: impl Fn(&Measure) -> Box<dyn BlockPlan>,
) -> Vec<Planned> {
    let mut found: Vec<(Measure, Planned)> = Vec::new();
    for (i, measure) in measures {
        match found.iter_mut().find(|(known, _)| known == measure) {
            Some((_, planned)) => planned.serves.push(*i),
            None => {
                let (place, serves) = (Place::Measure(*i), vec![*i]);
                let (block, divides) = (plan(measure), Vec::new());
                found.push((*measure, Planned { place, serves, divides, block }));
            }
        }
    }
    found.into_iter().map(|(_, planned)| planned).collect()
}

/// Converts a released number to its column's type: rounds it to a whole number and clamps it to the type's range. So
/// a sum of unsigned numbers that noise takes below 0 becomes 0.
pub(crate) fn as_type(value: ScalarValue, data_type: &DataType) -> Result<ScalarValue> {
    use DataType as T;
    use ScalarValue as S;
    Ok(match (value, data_type) {
        (S::Float64(Some(x)), T::Int8) => S::Int8(Some(x.round() as i8)),
        (S::Float64(Some(x)), T::Int16) => S::Int16(Some(x.round() as i16)),
        (S::Float64(Some(x)), T::Int32) => S::Int32(Some(x.round() as i32)),
        (S::Float64(Some(x)), T::Int64) => S::Int64(Some(x.round() as i64)),
        (S::Float64(Some(x)), T::UInt8) => S::UInt8(Some(x.round() as u8)),
        (S::Float64(Some(x)), T::UInt16) => S::UInt16(Some(x.round() as u16)),
        (S::Float64(Some(x)), T::UInt32) => S::UInt32(Some(x.round() as u32)),
        (S::Float64(Some(x)), T::UInt64) => S::UInt64(Some(x.round() as u64)),
        (S::Float64(Some(x)), kind) if is_moment(kind) => from_number(x, kind)
            .ok_or_else(|| Error::After("a released date does not fit".to_owned()))?,
        (value, data_type) => value
            .cast_to(data_type)
            .map_err(|_| Error::After("a released number does not fit".to_owned()))?,
    })
}

/// The error of a released number, once it has its column's type ([`as_type`]).
///
/// A column of whole numbers has a whole truth t. If a number x is within e of it, then x rounded is within e + ½, and the
/// distance of two whole numbers is whole: |round(x) − t| ≤ ⌊e + ½⌋. A decimal moves by at most half its last digit.
fn error_as_type(error: f64, data_type: &DataType) -> f64 {
    match data_type {
        kind if kind.is_integer() => rounded_error(error),
        DataType::Decimal128(_, scale) | DataType::Decimal256(_, scale) => {
            error + 0.5 * 10f64.powi(-i32::from(*scale))
        }
        _ => error,
    }
}

/// The error of a number that is rounded to a whole one, and whose truth is whole: see [`error_as_type`].
fn rounded_error(error: f64) -> f64 {
    (error + 0.5).floor()
}

/// The description of a range of bounds in a sensitivity.
fn within(bounds: &Bounds) -> String {
    format!(", values within {} to {}", short(bounds.lower()), short(bounds.upper()))
}

pub(crate) fn internal(what: &str) -> Error {
    Error::Sql(format!("the query could not be priced: {what}"))
}

#[cfg(test)]
mod tests;
