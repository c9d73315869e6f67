//! COUNT, SUM, AVG, VAR and STDDEV: numbers that are sums over rows.
//!
//! All statistics of one column are released together, at one price: AVG with its count and sum, VAR with all three.
//! COUNT(*) is taken from the first column whose count is released anyway. Values without bounds are in `norm.rs`.
//!
//! COUNT(*) and COUNT(x) alone are one vector of two parts, the rows with a value and those without, if that is the better: see
//! `join_counts`.

use super::norm::NormPlan;
use super::{
    BETA, Block, BlockPlan, Call, Counted, Described, ExactGroups, Expected, Family, Measure,
    Place, Planned, PrivateAggregate, ReleasedColumns, Share, TYPICAL_ROWS, Weights, internal,
    rounded_error, typical, within,
};
use crate::bound::{Form, WeighedGroup};
use crate::error::Result;
use crate::rows::Owner;
use crate::words::short;
use datafusion::common::ScalarValue;
use datafusion::functions_aggregate::variance::var_samp_udaf;
use datafusion::logical_expr::AggregateUDF;
use demure_core::event::Event;
use demure_core::mechanism::{
    Accumulator, Bounded, Bounds, Contribution, Contributions, GroupSummary, GroupTotals, Groups,
    Statistics,
};
use demure_core::random::Randomness;
use demure_core::unit::{Beta, Grid, Neighbours};

/// Counts, sums, means, variances and deviations.
pub(super) struct Numbers;

const ROWS: isize = 0;
pub(super) const PEOPLE: isize = 1;
const COUNT: isize = 2;
pub(super) const SUM: isize = 4;
pub(super) const MEAN: isize = 5;
const VARIANCE: isize = 6;
const DEVIATION: isize = 7;
/// Rows that a sum is divided by. It is not a function, and in no key.
const DIVISOR: isize = -1;

/// Whether a function of this family is a sum over rows, or the quotient of two, so that totals follow from those of parts.
pub(super) fn adds_up(code: isize) -> bool {
    matches!(code, ROWS | COUNT | SUM | MEAN)
}

/// Whether a function of this family adds up squares.
pub(super) fn squares(code: isize) -> bool {
    code == VARIANCE || code == DEVIATION
}

/// Whether a measure is a mean.
pub(super) fn is_mean(measure: &Measure) -> bool {
    measure.code == MEAN
}

/// The number of rows that the sum of a mean is divided by.
pub(super) fn divisor(mean: &Measure) -> Measure {
    Measure { code: DIVISOR, ..*mean }
}

impl Family for Numbers {
    fn functions(&self) -> Vec<AggregateUDF> {
        vec![var_samp_udaf().as_ref().clone().with_aliases(["variance"])]
    }

    fn recognise(&'static self, call: &mut Call<'_>) -> Result<Option<Measure>> {
        let of = |code, value| Ok(Some(Measure { family: self, code, value, rank: None }));
        match call.name() {
            "count" if call.is_distinct() && call.counts_people()? => match call.owner() {
                Owner::Person { .. } => of(PEOPLE, None),
                Owner::Row { .. } => of(ROWS, None),
            },
            "count" if call.is_distinct() => Ok(None),
            "count" if call.counts_rows()? => of(ROWS, None),
            "count" => of(COUNT, Some(call.any_value()?)),
            "sum" => of(SUM, Some(call.summed_number()?)),
            "avg" | "mean" => of(MEAN, Some(call.summed_number()?)),
            "var" | "var_samp" | "var_sample" | "var_pop" | "var_population" | "variance" => {
                of(VARIANCE, Some(call.bounded_number()?))
            }
            "stddev" | "stddev_samp" | "stddev_pop" => of(DEVIATION, Some(call.bounded_number()?)),
            _ => Ok(None),
        }
    }

    fn written(&self, measure: &Measure, argument: &str) -> String {
        match measure.code {
            ROWS => "count(*)".to_owned(),
            PEOPLE => "count(distinct people)".to_owned(),
            COUNT => format!("count({argument})"),
            SUM => format!("sum({argument})"),
            MEAN => format!("avg({argument})"),
            VARIANCE => format!("var({argument})"),
            _ => format!("stddev({argument})"),
        }
    }

    fn blocks(
        &self,
        measures: &[(usize, Measure)],
        aggregate: &PrivateAggregate,
        neighbours: Neighbours,
    ) -> Vec<Planned> {
        let asks = |code: isize, value: usize| {
            measures.iter().any(|(_, m)| m.code == code && m.value == Some(value))
        };
        let rows = measures.iter().any(|(_, m)| m.code == ROWS);
        let mut found: Vec<(Source, Planned)> = Vec::new();
        let mut rows_block = None;
        // Columns first: COUNT(*) is taken from one of them.
        for value in 0..aggregate.values.len() {
            let rides = rows && rows_block.is_none();
            let sum = asks(SUM, value);
            if let Some(plan) = NormPlan::of(value, aggregate) {
                if sum || asks(MEAN, value) {
                    let source = Source::Norm(plan);
                    found.push((source, source.planned(Place::Column(value))));
                }
                continue;
            }
            let wanted = if asks(VARIANCE, value) || asks(DEVIATION, value) {
                Statistics::Variance
            } else if asks(MEAN, value) || (sum && (asks(COUNT, value) || rides)) {
                Statistics::Mean
            } else if sum {
                Statistics::Sum
            } else {
                continue;
            };
            let counts = wanted != Statistics::Sum;
            let nulls = rides && counts && aggregate.values[value].facts.nullable;
            if rides && counts {
                rows_block = Some(found.len());
            }
            let source = Source::Values { value, wanted, nulls };
            found.push((source, source.planned(Place::Column(value))));
        }
        // Equal arguments are NULL in the same rows, whatever else is asked of them.
        let present = |value: usize| {
            let raw = &aggregate.values[value].raw;
            let first = aggregate.values.iter().position(|other| other.raw == *raw);
            Source::Present(first.unwrap_or(value))
        };
        for (i, measure) in measures {
            let of_column = |counted: bool| {
                found.iter().position(|(source, _)| match source {
                    Source::Values { value, wanted, .. } => {
                        Some(*value) == measure.value && !(counted && *wanted == Statistics::Sum)
                    }
                    Source::Norm(plan) => Some(plan.value) == measure.value && !counted,
                    _ => false,
                })
            };
            let (served, source) = match (measure.code, measure.value) {
                (ROWS, _) => (rows_block, Source::Rows),
                (PEOPLE, _) => (None, Source::People),
                (COUNT, value) => (of_column(true), present(value.unwrap_or_default())),
                (_, value) => (of_column(false), Source::Present(value.unwrap_or_default())),
            };
            let same = || found.iter().position(|(known, _)| *known == source);
            let place = served.or_else(same).unwrap_or_else(|| {
                found.push((source, source.planned(Place::Measure(*i))));
                found.len() - 1
            });
            found[place].1.serves.push(*i);
            let norm = measure.value.filter(|value| aggregate.values[*value].norms.is_some());
            if let (MEAN, Some(value)) = (measure.code, norm) {
                let nullable = aggregate.values[value].facts.nullable;
                let source = if nullable { present(value) } else { Source::Rows };
                let known = found.iter().position(|(known, _)| *known == source);
                let known = if nullable { known } else { rows_block.or(known) };
                let place = known.unwrap_or_else(|| {
                    found.push((source, source.planned(Place::Measure(*i))));
                    found.len() - 1
                });
                found[place].1.divides.push(*i);
            }
        }
        if neighbours == Neighbours::AddRemove || !aggregate.single() {
            join_counts(&mut found);
        }
        found.into_iter().map(|(_, planned)| planned).collect()
    }
}

/// Measures COUNT(*) and the first COUNT(x) together: rows with a value, and rows without.
///
/// A row adds 1 to one of the two parts, so the vector has the sensitivity of one count, gm, and there is one block less to share
/// the budget with. If these two are all that is asked, COUNT(x) has half the noise that it would have in a block of its
/// own, and COUNT(*), the sum of both parts, 1/√2 of the deviation; under zCDP 1/√2 of it, and the same. Beside other blocks,
/// k in all, COUNT(*) has √2·(k−1)/k of the deviation, or √2·√((k−1)/k) under zCDP, which may be more than 1, and each of the other
/// k−1 numbers has (k−1)/k of it, or the root of that. The product of all k is at most 0.53 of what it would be,
/// 0.86 under zCDP. Under replace with several groups both sensitivities are 2gm, and
/// all of that holds. With one group a count changes by m but the vector by 2m: there they are better released apart.
fn join_counts(found: &mut Vec<(Source, Planned)>) {
    // A mean without bounds is divided by the one or the other alone.
    let mut alone = found.iter().filter(|(_, planned)| planned.divides.is_empty());
    let counted = alone.find_map(|(source, _)| match source {
        Source::Present(value) => Some(*value),
        _ => None,
    });
    let rows = found
        .iter()
        .position(|(source, planned)| *source == Source::Rows && planned.divides.is_empty());
    let (Some(rows), Some(value)) = (rows, counted) else { return };
    let (_, Planned { serves, .. }) = found.remove(rows);
    let joined = found.iter_mut().find(|(source, _)| *source == Source::Present(value));
    if let Some((source, planned)) = joined {
        *source = Source::PresentAndRows(value);
        let together = source.planned(planned.place);
        planned.block = together.block;
        planned.serves.extend(serves);
    }
}

/// What a block counts or sums.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Source {
    /// Rows of each group.
    Rows,
    /// People of each group.
    People,
    /// Rows whose value is not NULL.
    Present(usize),
    /// The same, and all rows.
    PresentAndRows(usize),
    /// Count, sum, mean, variance of a value.
    Values { value: usize, wanted: Statistics, nulls: bool },
    /// The sum of a value without bounds.
    Norm(NormPlan),
}

impl Source {
    fn planned(self, place: Place) -> Planned {
        let block: Box<dyn BlockPlan> = match self {
            Self::Norm(plan) => Box::new(plan),
            _ => Box::new(self),
        };
        Planned { place, serves: Vec::new(), divides: Vec::new(), block }
    }
}

impl BlockPlan for Source {
    fn counted(&self) -> Counted {
        if *self == Self::People { Counted::People } else { Counted::Rows }
    }

    fn has_interval(&self) -> bool {
        true
    }

    fn squares(&self) -> bool {
        matches!(self, Self::Values { wanted: Statistics::Variance, .. })
    }

    fn width(&self, aggregate: &PrivateAggregate) -> Result<f64> {
        let Self::Values { value, wanted, .. } = *self else { return Ok(1.0) };
        let bounds = aggregate.bounds(value)?;
        let spacing = bounds.grid().spacing();
        let farthest = bounds.lower().abs().max(bounds.upper().abs()) / spacing;
        let steps = bounds.steps() as f64;
        Ok(match wanted {
            Statistics::Sum => farthest.max(steps),
            Statistics::Variance => steps * steps,
            _ => steps,
        })
    }

    fn calibrate(
        &self,
        share: &Share,
        aggregate: &PrivateAggregate,
        weights: Option<&Weights>,
    ) -> Result<Box<dyn Block>> {
        let (groups, bounds) = match *self {
            Self::Values { value, wanted, nulls } => {
                let bounds = aggregate.bounds(value)?;
                (Groups::values(bounds, wanted).with_nulls(nulls), Some(bounds))
            }
            Self::PresentAndRows(_) => (Groups::counts().with_nulls(true), None),
            _ => (Groups::counts(), None),
        };
        let groups = groups.single_group(aggregate.single());
        let (budget, neighbours) = (share.budget, share.neighbours);
        let groups = match weights {
            Some(weights) => groups.calibrate_weighted(budget, neighbours, &weights.at)?,
            None => {
                let limits = aggregate.limits;
                let rows = if *self == Self::People { 1 } else { limits.rows };
                groups.calibrate(budget, neighbours, Contributions::new(limits.groups, rows)?)?
            }
        };
        let (weights, event) = (weights.copied(), share.event());
        Ok(Box::new(NumbersBlock { source: *self, groups, bounds, weights, event }))
    }
}

/// A vector of noised parts for each group.
pub(crate) struct NumbersBlock {
    pub(crate) source: Source,
    pub(crate) groups: Groups,
    /// The bounds of the value, if there is one.
    bounds: Option<Bounds>,
    weights: Option<Weights>,
    event: Event,
}

impl NumbersBlock {
    /// The totals of groups whose people are weighed.
    fn weighted(&self, groups: &ExactGroups<'_>, at: &Bounded) -> Result<Vec<GroupTotals>> {
        let total = |of: &Contribution| at.total(of);
        let rows = |of: &WeighedGroup| total(&of.rows);
        let counted = |of: fn(&WeighedGroup) -> &Contribution| {
            let counts = groups.weighed().map(|group| group.map_or(0, |g| total(of(g))));
            counts.map(GroupTotals::weighted_rows).collect()
        };
        Ok(match (self.source, self.bounds) {
            (Source::People, _) => counted(|group| &group.people),
            (Source::Rows, _) => counted(|group| &group.rows),
            (Source::Present(value), _) => {
                let present = groups.weighed_argument(value, Form::Present);
                let counts = present.map(|of| of.map_or(0, |of| total(&of.present)));
                counts.map(GroupTotals::weighted_rows).collect()
            }
            (Source::PresentAndRows(value), _) => {
                let present = groups.weighed_argument(value, Form::Present);
                let present = present.map(|of| of.map_or(0, |of| total(&of.present)));
                let all = groups.weighed().map(|group| group.map_or(0, rows));
                let mut totals = Vec::new();
                for (present, all) in present.zip(all) {
                    let nulls = all.saturating_sub(present);
                    totals.push(GroupTotals::weighted_values(
                        any_bounds()?,
                        present,
                        nulls,
                        0,
                        None,
                    )?);
                }
                totals
            }
            (Source::Values { value, .. }, Some(bounds)) => {
                let form = Form::Steps { bounds, histogram: false };
                let mut totals = Vec::new();
                for (group, of) in groups.weighed().zip(groups.weighed_argument(value, form)) {
                    let [present, sum, squares] =
                        of.map_or([0; 3], |of| [&of.present, &of.sum, &of.squares].map(total));
                    let squares = self.source.squares().then_some(squares);
                    // Rows with a value have the weight of the person's other rows, and are not more.
                    let nulls = group.map_or(0, rows).saturating_sub(present);
                    let totals_of =
                        GroupTotals::weighted_values(bounds, present, nulls, sum, squares);
                    totals.push(totals_of?);
                }
                totals
            }
            (Source::Values { .. } | Source::Norm(_), _) => {
                return Err(internal("a number without bounds"));
            }
        })
    }

    fn totals(&self, groups: &ExactGroups<'_>) -> Result<Vec<GroupTotals>> {
        if let Some(weights) = &self.weights {
            return self.weighted(groups, &weights.at);
        }
        let rows = || groups.iter().map(|group| group.map_or(0, |g| g.rows));
        Ok(match (self.source, self.bounds) {
            (Source::People, _) => {
                groups.iter().map(|g| GroupTotals::rows(g.map_or(0, |g| g.people))).collect()
            }
            (Source::Present(value), _) => groups.present(value).map(GroupTotals::rows).collect(),
            (Source::PresentAndRows(value), _) => {
                let mut totals = Vec::new();
                for (present, all) in groups.present(value).zip(rows()) {
                    let of = Accumulator::of_parts(any_bounds()?, present, 0, 0)?;
                    totals.push(GroupTotals::values(of, all.saturating_sub(present)));
                }
                totals
            }
            (Source::Values { value, .. }, Some(bounds)) => {
                let mut totals = Vec::new();
                for (steps, all) in groups.steps(value, bounds).zip(rows()) {
                    let of = Accumulator::of_parts(bounds, steps.rows, steps.sum, steps.squares)?;
                    totals.push(GroupTotals::values(of, all.saturating_sub(steps.rows)));
                }
                totals
            }
            (Source::Values { .. } | Source::Norm(_), _) => {
                return Err(internal("a number without bounds"));
            }
            (Source::Rows, _) => rows().map(GroupTotals::rows).collect(),
        })
    }
}

impl Block for NumbersBlock {
    fn event(&self) -> Result<Event> {
        Ok(self.event.clone())
    }

    fn noise_per_row(&self) -> Result<f64> {
        let beta = typical()?;
        if let Some(rows) = self.groups.count_error(beta)? {
            return Ok(rows);
        }
        // A sum alone: rows of which each is half as large as can be.
        let (sum, bounds) = (self.groups.sum_error(beta)?, self.bounds);
        let most = bounds.map_or(1.0, |b| b.lower().abs().max(b.upper().abs()));
        let sum = sum.ok_or_else(|| internal("no such number"))?;
        Ok(if most > 0.0 { 2.0 * sum / most } else { sum })
    }

    fn reads(&self) -> Option<(usize, Form)> {
        match (self.source, self.bounds) {
            (Source::Present(value) | Source::PresentAndRows(value), _) => {
                Some((value, Form::Present))
            }
            (Source::Values { value, .. }, Some(bounds)) => {
                Some((value, Form::Steps { bounds, histogram: false }))
            }
            _ => None,
        }
    }

    fn describe(&self, measure: &Measure, of: &PrivateAggregate, beta: Beta) -> Result<Described> {
        let (groups, noise) = (&self.groups, self.groups.calibration());
        let known = |error: Option<f64>| error.ok_or_else(|| internal("no such number"));
        let at = |error: f64| Expected::WithinAt { rows: TYPICAL_ROWS, error };
        let error = match measure.code {
            ROWS => {
                let rows = groups.rows_error(beta)?;
                Expected::Within(known(rows.or(groups.count_error(beta)?))?)
            }
            SUM => Expected::Within(known(groups.sum_error(beta)?)?),
            MEAN => at(known(groups.mean_error(TYPICAL_ROWS, beta)?)?),
            VARIANCE => at(known(groups.variance_error(TYPICAL_ROWS, beta)?)?),
            // |√v − √v′| ≤ √|v − v′|.
            DEVIATION => at(known(groups.variance_error(TYPICAL_ROWS, beta)?)?.sqrt()),
            _ => Expected::Within(known(groups.count_error(beta)?)?),
        };
        let rows = if self.source == Source::People { 1 } else { of.limits.rows };
        let jointly = match self.source {
            Source::Values { wanted: Statistics::Mean, .. } => ", jointly on Σ(x−a), Σ(b−x)",
            Source::Values { wanted: Statistics::Variance, .. } => {
                ", jointly on Σ(b−x)², Σ2(x−a)(b−x), Σ(x−a)²"
            }
            Source::PresentAndRows(_) => ", jointly on rows with a value and rows without",
            _ => "",
        };
        let within = self.bounds.as_ref().map(within).unwrap_or_default();
        let reach = match &self.weights {
            Some(weights) => of.weighed_reach(weights),
            None => of.reach(rows),
        };
        Ok(Described {
            mechanism: format!("{}{jointly}", noise.family),
            sensitivity: format!("{} ({reach}{within})", short(noise.sensitivity)),
            scale: noise.scale,
            error,
            why: None,
        })
    }

    fn release(
        &self,
        groups: &ExactGroups<'_>,
        rng: &mut dyn Randomness,
    ) -> Result<Box<dyn ReleasedColumns>> {
        let released = self.groups.release(&self.totals(groups)?, rng)?.into_value();
        let lost = self.weights.map_or(0.0, |weights| weights.lost);
        let summaries = Summaries::new(&self.groups, released).with_loss(lost, self.bounds);
        Ok(Box::new(summaries))
    }
}

/// Counts look at no bounds.
fn any_bounds() -> Result<Bounds> {
    Ok(Bounds::on(0.0, 1.0, Grid::ONE)?)
}

/// The noised parts of each group, and the mechanism that computes their errors.
pub(super) struct Summaries {
    groups: Groups,
    released: Vec<GroupSummary>,
    /// Which share of all rows weights took away; 1 if that is not known.
    lost: f64,
    bounds: Option<Bounds>,
}

impl Summaries {
    pub(super) fn new(groups: &Groups, released: Vec<GroupSummary>) -> Self {
        Self { groups: groups.clone(), released, lost: 0.0, bounds: None }
    }

    /// With the share of the rows that weights took away, and the bounds of their values.
    pub(super) fn with_loss(self, lost: f64, bounds: Option<Bounds>) -> Self {
        Self { lost, bounds, ..self }
    }

    /// A mean is never farther off than the bounds are.
    fn within(&self, measure: &Measure, value: f64, error: f64) -> f64 {
        match (measure.code, self.bounds) {
            (MEAN, Some(b)) => error.min((b.upper() - value).max(value - b.lower()).max(0.0)),
            _ => error,
        }
    }

    /// What weights may have moved a number by, with s the share of the rows that they took away.
    ///
    /// A count or a sum of N moves by `Ns/(1−s)`, if the lost rows are like the others. A mean m of kept rows is within
    /// `s·max(b−m, m−a)` of that of all, whatever the lost rows' values; a variance v, as `(1−s)v + sv′ + s(1−s)(m−m′)²` is that
    /// of all, within `s(b−a)²/4 + s(b−a)²`, and a deviation within the root of that.
    fn moved(&self, measure: &Measure, value: f64) -> f64 {
        let s = self.lost;
        let (low, high) = self.bounds.map_or((0.0, 0.0), |b| (b.lower(), b.upper()));
        let of_variance = 1.25 * s * (high - low) * (high - low);
        match measure.code {
            MEAN => s * (high - value).abs().max((value - low).abs()),
            VARIANCE => of_variance,
            DEVIATION => of_variance.sqrt(),
            _ => value.abs() * s / (1.0 - s),
        }
    }
}

impl ReleasedColumns for Summaries {
    fn column(&self, measure: &Measure) -> Result<Vec<(ScalarValue, Option<f64>)>> {
        self.at(measure, BETA)
    }

    fn errors(&self, measure: &Measure, among: u32) -> Result<Vec<Option<f64>>> {
        let at = self.at(measure, BETA / f64::from(among))?;
        Ok(at.into_iter().map(|(_, error)| error).collect())
    }

    fn together(&self, cells: &[Vec<usize>]) -> Result<Box<dyn ReleasedColumns>> {
        let most = cells.iter().map(Vec::len).max().unwrap_or(1);
        let of = |cells: &Vec<usize>| -> Vec<GroupSummary> {
            cells.iter().filter_map(|&cell| self.released.get(cell).copied()).collect()
        };
        let released = cells.iter().map(|cells| self.groups.together(&of(cells))).collect();
        let groups = self.groups.of_cells(most as u64);
        Ok(Box::new(Self { groups, released, lost: self.lost, bounds: self.bounds }))
    }
}

impl Summaries {
    /// The values, each with the half-width of its interval at confidence 1 − β.
    fn at(&self, measure: &Measure, beta: f64) -> Result<Vec<(ScalarValue, Option<f64>)>> {
        let errors = Errors::of(measure, &self.groups, beta)?;
        let counts = !matches!(measure.code, SUM | MEAN | VARIANCE | DEVIATION);
        let number = |summary| {
            let (value, error) = number(measure, summary, &errors)?;
            // If it is not known what weights take away, there is no interval.
            let error = error.filter(|_| self.lost < 1.0);
            let error =
                error.map(|error| self.within(measure, value, error + self.moved(measure, value)));
            let error = if counts { error.map(rounded_error) } else { error };
            Ok((ScalarValue::Float64(Some(value)), error))
        };
        self.released.iter().map(number).collect()
    }
}

/// The error of a number, as far as it is the same for every group.
struct Errors {
    /// The error of the number itself, if it does not depend on the group.
    own: Option<f64>,
    /// The error of a mean or a variance, given the smallest row count that the noise of the count allows. Each of the
    /// two gets half of β.
    by_rows: Option<Box<dyn Fn(u64) -> f64>>,
    /// The error of that count.
    rows: f64,
}

impl Errors {
    fn of(measure: &Measure, groups: &Groups, beta: f64) -> Result<Self> {
        let (beta, half) = (Beta::new(beta)?, Beta::new(beta / 2.0)?);
        let missing = || internal("a number that was not released");
        let own = match measure.code {
            ROWS => groups.rows_error(beta)?.or(groups.count_error(beta)?),
            DIVISOR => groups.rows_error(half)?.or(groups.count_error(half)?),
            SUM => groups.sum_error(beta)?,
            MEAN | VARIANCE | DEVIATION => {
                let by_rows: Box<dyn Fn(u64) -> f64> = match measure.code {
                    MEAN => Box::new(groups.mean_errors(half)?.ok_or_else(missing)?),
                    _ => Box::new(groups.variance_errors(half)?.ok_or_else(missing)?),
                };
                let rows = groups.count_error(half)?.ok_or_else(missing)?;
                return Ok(Self { own: None, by_rows: Some(by_rows), rows });
            }
            _ => groups.count_error(beta)?,
        };
        Ok(Self { own, by_rows: None, rows: 0.0 })
    }

    /// The error for a group with this noised count.
    fn at(&self, count: Option<f64>) -> Option<f64> {
        let least = (count? - self.rows).max(0.0) as u64;
        self.by_rows.as_ref().map(|error| error(least))
    }
}

/// A number of one group, made consistent by post-processing: counts are whole and never negative.
fn number(
    measure: &Measure,
    summary: &GroupSummary,
    errors: &Errors,
) -> Result<(f64, Option<f64>)> {
    let released = |x: Option<f64>| x.ok_or_else(|| internal("a number that was not released"));
    let count = |x: Option<f64>| released(x).map(|x| x.round().max(0.0));
    Ok(match measure.code {
        ROWS | DIVISOR => (count(summary.rows.or(summary.count))?, errors.own),
        SUM => (released(summary.sum)?, errors.own),
        MEAN => (released(summary.mean)?, errors.at(summary.count)),
        VARIANCE => (released(summary.variance)?, errors.at(summary.count)),
        DEVIATION => {
            let variance = released(summary.variance)?.max(0.0);
            (variance.sqrt(), errors.at(summary.count).map(|error| root_error(variance, error)))
        }
        _ => (count(summary.count)?, errors.own),
    })
}

/// The largest distance of √v from the root of a released variance, if v is within `error` of it.
fn root_error(variance: f64, error: f64) -> f64 {
    let root = variance.sqrt();
    let (low, high) = ((variance - error).max(0.0).sqrt(), (variance + error).sqrt());
    (root - low).max(high - root)
}

#[cfg(test)]
mod tests;
