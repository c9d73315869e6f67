//! COUNT, SUM, AVG, VAR and STDDEV: numbers that are sums over rows.
//!
//! All statistics of one column are released together, at one price: AVG with its count and sum, VAR with all three.
//! COUNT(*) is taken from the first column whose count is released anyway.

use super::{
    BETA, Block, BlockPlan, Call, Described, ExactGroups, Expected, Family, Measure, Place,
    Planned, PrivateAggregate, ReleasedColumns, Share, TYPICAL_ROWS, internal, within,
};
use crate::bound::Form;
use crate::error::Result;
use crate::rows::Owner;
use crate::words::short;
use datafusion::common::ScalarValue;
use demure_core::event::Event;
use demure_core::mechanism::{
    Accumulator, Bounds, Contributions, GroupSummary, GroupTotals, Groups, Statistics,
};
use demure_core::random::Randomness;
use demure_core::unit::Beta;

/// Counts, sums, means, variances and deviations.
pub(super) struct Numbers;

const ROWS: isize = 0;
const PEOPLE: isize = 1;
const COUNT: isize = 2;
const SUM: isize = 4;
const MEAN: isize = 5;
const VARIANCE: isize = 6;
const DEVIATION: isize = 7;

impl Family for Numbers {
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
            "var" | "var_samp" | "var_sample" | "var_pop" | "var_population" => {
                of(VARIANCE, Some(call.summed_number()?))
            }
            "stddev" | "stddev_samp" | "stddev_pop" => of(DEVIATION, Some(call.summed_number()?)),
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

    fn blocks(&self, measures: &[(usize, Measure)], aggregate: &PrivateAggregate) -> Vec<Planned> {
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
        for (i, measure) in measures {
            let of_column = |counted: bool| {
                found.iter().position(|(source, _)| match source {
                    Source::Values { value, wanted, .. } => {
                        Some(*value) == measure.value && !(counted && *wanted == Statistics::Sum)
                    }
                    _ => false,
                })
            };
            let (served, source) = match (measure.code, measure.value) {
                (ROWS, _) => (rows_block, Source::Rows),
                (PEOPLE, _) => (None, Source::People),
                (COUNT, value) => (of_column(true), Source::Present(value.unwrap_or_default())),
                (_, value) => (of_column(false), Source::Present(value.unwrap_or_default())),
            };
            let same = || found.iter().position(|(known, _)| *known == source);
            let place = served.or_else(same).unwrap_or_else(|| {
                found.push((source, source.planned(Place::Measure(*i))));
                found.len() - 1
            });
            found[place].1.serves.push(*i);
        }
        found.into_iter().map(|(_, planned)| planned).collect()
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
    /// Count, sum, mean, variance of a value.
    Values { value: usize, wanted: Statistics, nulls: bool },
}

impl Source {
    fn planned(self, place: Place) -> Planned {
        Planned { place, serves: Vec::new(), block: Box::new(self) }
    }
}

impl BlockPlan for Source {
    fn calibrate(&self, share: &Share, aggregate: &PrivateAggregate) -> Result<Box<dyn Block>> {
        let limits = aggregate.limits;
        let rows = if *self == Self::People { 1 } else { limits.rows };
        let of = Contributions::new(limits.groups, rows)?;
        let (groups, bounds) = match *self {
            Self::Values { value, wanted, nulls } => {
                let bounds = aggregate.bounds(value)?;
                (Groups::values(bounds, wanted).with_nulls(nulls), Some(bounds))
            }
            _ => (Groups::counts(), None),
        };
        let groups = groups.single_group(aggregate.single());
        let groups = groups.calibrate(share.budget, share.neighbours, of)?;
        Ok(Box::new(NumbersBlock { source: *self, groups, bounds, event: share.event() }))
    }
}

/// A vector of noised parts for each group.
pub(crate) struct NumbersBlock {
    pub(crate) source: Source,
    pub(crate) groups: Groups,
    /// The bounds of the value, if there is one.
    bounds: Option<Bounds>,
    event: Event,
}

impl NumbersBlock {
    fn totals(&self, groups: &ExactGroups<'_>) -> Result<Vec<GroupTotals>> {
        let rows = || groups.iter().map(|group| group.map_or(0, |g| g.rows));
        Ok(match (self.source, self.bounds) {
            (Source::People, _) => {
                groups.iter().map(|g| GroupTotals::rows(g.map_or(0, |g| g.people))).collect()
            }
            (Source::Present(value), _) => groups.present(value).map(GroupTotals::rows).collect(),
            (Source::Values { value, .. }, Some(bounds)) => {
                let mut totals = Vec::new();
                for (steps, all) in groups.steps(value, bounds).zip(rows()) {
                    let of = Accumulator::of_parts(bounds, steps.rows, steps.sum, steps.squares)?;
                    totals.push(GroupTotals::values(of, all.saturating_sub(steps.rows)));
                }
                totals
            }
            (Source::Values { .. }, None) => return Err(internal("a number without bounds")),
            (Source::Rows, _) => rows().map(GroupTotals::rows).collect(),
        })
    }
}

impl Block for NumbersBlock {
    fn event(&self) -> Result<Event> {
        Ok(self.event.clone())
    }

    fn reads(&self) -> Option<(usize, Form)> {
        match (self.source, self.bounds) {
            (Source::Present(value), _) => Some((value, Form::Present)),
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
            _ => "",
        };
        let within = self.bounds.as_ref().map(within).unwrap_or_default();
        Ok(Described {
            mechanism: format!("{}{jointly}", noise.family),
            sensitivity: format!("{} ({}{within})", short(noise.sensitivity), of.reach(rows)),
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
        Ok(Box::new(Summaries::new(&self.groups, released)))
    }
}

/// The noised parts of each group, and the mechanism that computes their errors.
pub(super) struct Summaries {
    groups: Groups,
    released: Vec<GroupSummary>,
}

impl Summaries {
    pub(super) fn new(groups: &Groups, released: Vec<GroupSummary>) -> Self {
        Self { groups: groups.clone(), released }
    }
}

impl ReleasedColumns for Summaries {
    fn column(&self, measure: &Measure) -> Result<Vec<(ScalarValue, Option<f64>)>> {
        let errors = Errors::of(measure, &self.groups)?;
        let number = |summary| {
            let (value, error) = number(measure, summary, &errors)?;
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
    fn of(measure: &Measure, groups: &Groups) -> Result<Self> {
        let (beta, half) = (Beta::new(BETA)?, Beta::new(BETA / 2.0)?);
        let missing = || internal("a number that was not released");
        let own = match measure.code {
            ROWS => groups.rows_error(beta)?.or(groups.count_error(beta)?),
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

/// A number of one group, made consistent by post-processing: counts are never negative.
fn number(
    measure: &Measure,
    summary: &GroupSummary,
    errors: &Errors,
) -> Result<(f64, Option<f64>)> {
    let released = |x: Option<f64>| x.ok_or_else(|| internal("a number that was not released"));
    let count = |x: Option<f64>| released(x).map(|x| x.round().max(0.0));
    Ok(match measure.code {
        ROWS => (count(summary.rows.or(summary.count))?, errors.own),
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
