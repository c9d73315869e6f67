//! Count, sum, mean and variance of each of many groups, in one release.

use super::bounded::{Accumulator, Bounds, same, square};
use super::histogram::{Budget, Contributions, Noise};
use super::weight::Bounded;
use super::{Calibration, Guarantee, Release, moments};
use crate::error::{Error, Result};
use crate::num::directed::{down, up};
use crate::random::Randomness;
use crate::unit::{Beta, Grid, Neighbours};
use std::borrow::Borrow;
use std::fmt;

/// Which statistics to release for each group.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Statistics {
    /// The number of rows.
    Count,
    /// The sum of the values, and nothing else.
    Sum,
    /// The mean, together with count and sum.
    Mean,
    /// The variance, together with count, sum and mean.
    Variance,
}

impl Statistics {
    /// The power of w that the parts of a row add up to.
    fn degree(self) -> u32 {
        match self {
            Self::Count | Self::Sum => 0,
            Self::Mean => 1,
            Self::Variance => 2,
        }
    }
}

/// The exact totals of one group. Protected: `Debug` shows nothing.
#[derive(Clone)]
pub struct GroupTotals {
    rows: i128,
    nulls: i128,
    values: Option<Offsets>,
}

/// Totals of values' distances u from the lower bound.
#[derive(Clone)]
struct Offsets {
    bounds: Bounds,
    sum: i128,
    squares: i128,
}

impl GroupTotals {
    /// The number of rows of a group, for [`Statistics::Count`].
    #[must_use]
    pub fn rows(rows: u64) -> Self {
        Self { rows: i128::from(rows), nulls: 0, values: None }
    }

    /// The totals of the rows with a value, and the number of rows without (NULL).
    #[must_use]
    pub fn values(of: Accumulator, nulls: u64) -> Self {
        let values = Offsets { bounds: of.bounds, sum: of.sum, squares: of.squares };
        Self { rows: i128::from(of.rows), nulls: i128::from(nulls), values: Some(values) }
    }

    /// The weighted number of rows, as [`Bounded::total`] makes it, for [`Statistics::Count`].
    #[must_use]
    pub fn weighted_rows(rows: u128) -> Self {
        Self { rows: whole(rows), nulls: 0, values: None }
    }

    /// Weighted totals of rows with a value, `Σu` and `Σu²`, and of rows without. Each is made by
    /// [`Bounded::total`] of the same units. `squares` is only needed for [`Statistics::Variance`]; without it the variance
    /// is the largest that such values can have. Refused where no rows can have these totals.
    pub fn weighted_values(
        bounds: Bounds,
        rows: u128,
        nulls: u128,
        sum: u128,
        squares: Option<u128>,
    ) -> Result<Self> {
        let squares = squares.unwrap_or_else(|| sum.saturating_mul(bounds.steps().into()));
        let [rows, nulls, sum, squares] = [rows, nulls, sum, squares].map(whole);
        let values = Offsets { bounds, sum, squares };
        // Parts are not negative: Σ(w−u)², Σ2u(w−u), Σu².
        if moments::vector(2, rows, bounds.width, sum, squares).iter().any(|part| *part < 0) {
            let allowed = "what so many rows within the bounds can add up to";
            return Err(Error::OutOfRange { parameter: "totals", allowed });
        }
        Ok(Self { rows, nulls, values: Some(values) })
    }
}

/// Far beyond what noise is drawn for, it saturates.
fn whole(x: u128) -> i128 {
    i128::try_from(x).unwrap_or(i128::MAX)
}

impl fmt::Debug for GroupTotals {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("GroupTotals").finish_non_exhaustive()
    }
}

/// The released statistics of one group; `None` for those not asked for.
///
/// A count may be negative. Next to a mean or a variance it may have a fraction.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct GroupSummary {
    /// The number of rows with a value; for [`Groups::counts`], of rows.
    pub count: Option<f64>,
    /// The number of all rows, with a value or without.
    pub rows: Option<f64>,
    /// The sum of the clamped values.
    pub sum: Option<f64>,
    /// The mean of the clamped values, within the bounds.
    pub mean: Option<f64>,
    /// The population variance of the clamped values, between 0 and (b−a)²/4.
    pub variance: Option<f64>,
}

/// Releases count, sum, mean or variance of each of many groups at once.
///
/// ```
/// use demure_core::mechanism::{Bounds, Contributions, Groups, Statistics};
/// use demure_core::random::SystemRandom;
/// use demure_core::unit::{Epsilon, Neighbours};
///
/// // Mean salary by department; everyone has one salary in one department.
/// let groups = Groups::values(Bounds::new(0.0, 200_000.0)?, Statistics::Mean).calibrate(
///     Epsilon::new(1.0)?,
///     Neighbours::AddRemove,
///     Contributions::ONE,
/// )?;
/// let departments = [groups.totals([52e3, 61e3, 58e3], 0), groups.totals([71e3, 49e3], 0)];
/// for department in groups.release(&departments, &mut SystemRandom::new()?)?.value() {
///     println!("{:?} of {:?} people", department.mean, department.count);
/// }
/// # Ok::<(), demure_core::Error>(())
/// ```
///
/// A unit has at most m rows in each of at most g groups; where NULLs are asked for they are
/// rows too. With w = b − a in grid steps and
/// u = value − a, a row adds its *parts* to those of its group; they are not negative
/// and their sum is W:
///
/// | statistics | parts of a row | W | and of a NULL, if asked for |
/// |---|---|---|---|
/// | count | 1 | 1 | one more part, W; the others 0 |
/// | mean | u, w−u | w | the same |
/// | variance | (w−u)², 2u(w−u), u² | w² | the same |
/// | sum | the value itself, a + u, of either sign | | refused: ask for a mean |
///
/// With s = mW, or mM for sums (`M = max(|a|,|b|)`, `D = max(b,0) − min(a,0)`):
///
/// | | Δ₁ | Δ₂² |
/// |---|---|---|
/// | add or remove | gs | gs² |
/// | replace | 2gs | 2gs²; sums g·m²·max(2M², D²) |
/// | replace, a single group, count alone | m | m² |
/// | replace, a single group, sum alone | mD | m²D² |
///
/// All are met where there are 2g groups or more.
///
/// From the parts' noised totals: rows and count are the sums of all parts, and of those
/// of values, over W. The sum is `(bP + aQ)/w` for a mean's (P, Q), and `(aB₀ + ½(a+b)B₁ +
/// bB₂)/w²` for a variance's (B₀, B₁, B₂). Mean and variance are those of
/// [`BoundedMean`](super::BoundedMean) and [`BoundedVariance`](super::BoundedVariance) with n protected.
///
/// # Guarantee
/// ε-DP or ρ-zCDP, by the budget, for all numbers of all groups together: the budget is
/// split neither between groups nor between count, sum, mean and variance.
/// # Proof
/// A unit's own vector in one group is 0 or lies in a set K that holds 0, has norms (both) of
/// at most s, and a distance between two points of at most d₁ (ℓ₁) and d₂ (ℓ₂). *Parts*: K is the
/// simplex `{p ≥ 0, Σp ≤ s}`, s = mW, in which d₁ = 2s and, as `|p−q|² ≤ |p|² + |q|²`
/// for p, q ≥ 0, d₂² = 2s²; of a count alone, the interval [0, m], d₁ = d₂ = m. *Sums*: K is
/// the interval from m·min(a,0) to m·max(b,0), so s = mM and d₁ = d₂ = mD.
///
/// *Add or remove*: at most g groups change, by a point of K each. *Replace*: let the old
/// and the new rows share t of their groups. Those change by at most d₁ and d₂, the other
/// 2(g−t) at most by s: in ℓ₁ `td₁ + 2(g−t)s ≤ 2gs`, as d₁ ≤ 2s; in ℓ₂ squared `td₂² + 2(g−t)s² ≤
/// g·max(d₂², 2s²)`. In a single group there is only one to change, by d₁ and d₂. Then
/// [`Geometric`](super::Geometric) or [`DiscreteGaussian`](super::DiscreteGaussian); the rest is post-processing. ∎
///
/// *Weighted*: by [`Ladder`](super::Ladder) a unit's rows in each group are a vector r with a norm of at most R, so that its
/// parts in all groups have that norm of at most RW, and are not negative: the tables hold with g = 1 and m = R. So they do
/// for sums, but for Δ₂² under replace with several groups: a sum over r rows is between −Ar and Br, with
/// `A = max(−a,0)` and `B = max(b,0)`, so two differ by at most `B·max(r,r′) + A·min(r,r′)` (for A ≤ B), and the squares of
/// that add up to at most `(B√X + A√Y)² ≤ (A²+B²)(X+Y)` with `X = Σmax²`, `Y = Σmin²`, `X + Y = |r|² + |r′|² ≤
/// 2R²`: Δ₂² = 2(A²+B²)R². For Δ₁, `Σ(B·max + A·min) ≤ B·Σ(r+r′) ≤ 2BR`. ∎
///
/// **Which groups there are is not protected here.** They must be public, or have been
/// released ([`KeySelection`](super::KeySelection), at its own price); and every one of them must be
/// among those given, with no rows where it has none.
/// # Special values
/// Values are put in bounds row by row ([`Bounds`]). NULLs that are not asked for are
/// not counted anywhere. No groups, no numbers. After
/// [`GroupsBuilder::single_group`], any number of groups but one is refused, and the most groups
/// per unit is 1. Negative noised parts count as 0
/// in a mean or variance; where nothing is left they are the middle and 0: never NaN.
/// Noise of more than 2⁶⁰ steps (for a variance, steps squared) is refused: a coarser grid
/// helps.
#[derive(Clone, Debug)]
pub struct Groups {
    bounds: Bounds,
    statistics: Statistics,
    with_nulls: bool,
    single: bool,
    noise: Noise,
    /// What a row of full weight counts.
    per_row: f64,
    /// How many groups' noise is in each number whose error is asked for: 1, or more after [`Groups::together`].
    cells: u64,
}

/// Describes what to compute for each group: made by [`Groups::counts`] and [`Groups::values`].
#[derive(Clone, Copy, Debug)]
#[must_use]
pub struct GroupsBuilder {
    bounds: Bounds,
    statistics: Statistics,
    with_nulls: bool,
    single: bool,
}

impl GroupsBuilder {
    /// Whether to release the number of all rows too, NULLs included. Default: no.
    pub fn with_nulls(self, with_nulls: bool) -> Self {
        Self { with_nulls, ..self }
    }

    /// Whether there is exactly one group, which is public: under replace this needs less noise.
    /// Default: no.
    pub fn single_group(self, single: bool) -> Self {
        Self { single, ..self }
    }

    /// Calibrates the noise to a budget: an [`Epsilon`](crate::unit::Epsilon) or a
    /// [`Rho`](crate::unit::Rho).
    pub fn calibrate(
        self,
        budget: impl Into<Budget>,
        neighbours: Neighbours,
        contributions: Contributions,
    ) -> Result<Groups> {
        let (g, m) = (contributions.groups(), contributions.per_group());
        let of = Most { groups: g.into(), rows: m.into(), weighted: false };
        self.within(budget.into(), neighbours, of, 1.0)
    }

    /// The same for weighted totals at a bound on what one unit counts: [`Ladder`](super::Ladder).
    pub fn calibrate_weighted(
        self,
        budget: impl Into<Budget>,
        neighbours: Neighbours,
        at: &Bounded,
    ) -> Result<Groups> {
        let of = Most { groups: 1, rows: at.most().into(), weighted: true };
        self.within(budget.into(), neighbours, of, at.per_row() as f64)
    }

    fn within(
        self,
        budget: Budget,
        neighbours: Neighbours,
        of: Most,
        per_row: f64,
    ) -> Result<Groups> {
        let Self { bounds, statistics, with_nulls, single } = self;
        if statistics == Statistics::Sum && with_nulls {
            let what = "a sum alone does not say how many rows there are";
            return Err(Error::Infeasible { what, remedy: "ask for the mean, or for a count" });
        }
        if statistics == Statistics::Variance {
            moments::narrow_enough(&bounds)?;
        }
        let (l1, l2_squared) = self.sensitivity(neighbours, of)?;
        let noise = Noise::new(budget, l1, l2_squared)?;
        Ok(Groups { bounds, statistics, with_nulls, single, noise, per_row, cells: 1 })
    }

    /// `(Δ₁, Δ₂²)` of the vector of all groups' parts: the table of [`Groups`].
    fn sensitivity(&self, neighbours: Neighbours, of: Most) -> Result<(u128, u128)> {
        let Self { bounds, statistics, with_nulls, single } = self;
        let (g, m) = (if *single { 1 } else { of.groups }, of.rows);
        let (a, b) = (bounds.lower, bounds.lower + bounds.width);
        // s, d₁ and d₂² of the proof; below 2⁹⁵ before they are squared.
        let (s, d1, d2_squared) = match statistics {
            Statistics::Sum => {
                let d = m * (b.max(0) - a.min(0)).unsigned_abs();
                (m * a.unsigned_abs().max(b.unsigned_abs()), d, square(d)?)
            }
            Statistics::Count if !with_nulls => (m, m, square(m)?),
            _ => {
                let s = m * bounds.width.unsigned_abs().pow(statistics.degree());
                (s, 2 * s, 2 * square(s)?)
            }
        };
        let s_squared = square(s)?;
        // Of two weighted sums in all groups: the last paragraph of the proof.
        let d2_squared = match statistics {
            Statistics::Sum if of.weighted && !single => {
                let ends = [a.min(0), b.max(0)].map(i128::unsigned_abs);
                2 * (square(m * ends[0])? + square(m * ends[1])?)
            }
            _ => d2_squared,
        };
        let (l1, squared) = match neighbours {
            Neighbours::AddRemove => (s, s_squared),
            Neighbours::Replace if *single => (d1, d2_squared),
            Neighbours::Replace => (2 * s, d2_squared.max(2 * s_squared)),
        };
        let allowed = "less than 2^64 grid steps over all groups: choose a coarser grid";
        let wide = Error::OutOfRange { parameter: "sensitivity", allowed };
        Ok((g * l1, g.checked_mul(squared).ok_or(wide)?))
    }
}

/// What one unit contributes at most.
#[derive(Clone, Copy)]
struct Most {
    groups: u128,
    rows: u128,
    /// Over all groups together, by weight.
    weighted: bool,
}

impl Groups {
    /// Counts the rows of each group. Finish with [`GroupsBuilder::calibrate`].
    pub fn counts() -> GroupsBuilder {
        // A count looks at no bounds.
        Self::values(Bounds { grid: Grid::ONE, lower: 0, width: 1 }, Statistics::Count)
    }

    /// Statistics of values within `bounds`. Finish with [`GroupsBuilder::calibrate`].
    pub fn values(bounds: Bounds, statistics: Statistics) -> GroupsBuilder {
        GroupsBuilder { bounds, statistics, with_nulls: false, single: false }
    }

    /// Totals one group's values, within the bounds of this mechanism. `nulls` is the number of
    /// rows without a value.
    #[must_use]
    pub fn totals(
        &self,
        values: impl IntoIterator<Item = impl Borrow<f64>>,
        nulls: u64,
    ) -> GroupTotals {
        GroupTotals::values(Accumulator::of_values(self.bounds, values), nulls)
    }

    /// The noise on each part of each group, in the units of the part. The parts are the count;
    /// the sum; `Σ(v − a)` and `Σ(b − v)` for a mean; or the three of a variance.
    #[must_use]
    pub fn calibration(&self) -> Calibration {
        let spacing = self.bounds.grid.spacing();
        let unit = match self.statistics {
            Statistics::Count => 1.0,
            Statistics::Sum | Statistics::Mean => spacing,
            Statistics::Variance => spacing * spacing,
        };
        self.noise.calibration().times(unit / self.per_row)
    }

    /// The guarantee of one release, for all groups together.
    #[must_use]
    pub fn guarantee(&self) -> Guarantee {
        self.noise.guarantee()
    }

    /// Releases the statistics of all groups, in the (public) order given.
    pub fn release(
        &self,
        groups: &[GroupTotals],
        rng: &mut dyn Randomness,
    ) -> Result<Release<Vec<GroupSummary>>> {
        if self.single && groups.len() != 1 {
            return Err(Error::OutOfRange { parameter: "groups", allowed: "exactly one" });
        }
        let mut exact = Vec::with_capacity(groups.len() * self.parts());
        for group in groups {
            exact.extend(self.vector(group)?);
        }
        let noised = self.noise.add(&exact, rng)?;
        let (count, rows, sum) = (self.count(), self.rows(), self.sum());
        let summaries = noised.chunks_exact(self.parts()).map(|parts| {
            let parts: Vec<f64> = parts.iter().map(|&part| part as f64).collect();
            let of_values = &parts[..self.parts_of_values()];
            let degree = self.statistics.degree();
            GroupSummary {
                count: count.as_ref().map(|count| count.of(&parts)),
                rows: rows.as_ref().map(|rows| rows.of(&parts)),
                sum: sum.as_ref().map(|sum| sum.of(&parts)),
                mean: (degree > 0).then(|| moments::mean(&self.bounds, of_values)),
                variance: (degree > 1).then(|| moments::variance(&self.bounds, of_values)),
            }
        });
        Ok(Release::new(summaries.collect(), self.guarantee()))
    }

    fn parts_of_values(&self) -> usize {
        self.statistics.degree() as usize + 1
    }

    fn parts(&self) -> usize {
        self.parts_of_values() + usize::from(self.with_nulls)
    }

    /// W.
    fn size(&self) -> i128 {
        self.bounds.width.pow(self.statistics.degree())
    }

    /// What the parts of a row of full weight add up to.
    fn over(&self) -> f64 {
        self.size() as f64 * self.per_row
    }

    /// One group's parts, exactly.
    fn vector(&self, of: &GroupTotals) -> Result<Vec<i128>> {
        let (rows, nulls) = (of.rows, of.nulls);
        let mut parts = match (self.statistics, &of.values) {
            (Statistics::Count, _) => vec![rows],
            (statistics, Some(Offsets { bounds, sum, squares })) => {
                same(&self.bounds, bounds)?;
                match statistics {
                    Statistics::Sum => vec![sum + rows * bounds.lower],
                    of => moments::vector(of.degree(), rows, bounds.width, *sum, *squares),
                }
            }
            (_, None) => {
                let what = "a number of rows says nothing of their values";
                return Err(Error::Infeasible { what, remedy: "use GroupTotals::values" });
            }
        };
        if self.with_nulls {
            parts.push(nulls * self.size());
        }
        Ok(parts)
    }

    /// Rows with a value, as a sum of parts.
    fn count(&self) -> Option<Linear> {
        let mut weights = vec![1.0; self.parts_of_values()];
        weights.resize(self.parts(), 0.0);
        let counted = self.statistics != Statistics::Sum;
        counted.then(|| Linear { weights, over: self.over(), unit: 1.0 })
    }

    /// All rows.
    fn rows(&self) -> Option<Linear> {
        let weights = vec![1.0; self.parts()];
        self.with_nulls.then(|| Linear { weights, over: self.over(), unit: 1.0 })
    }

    fn sum(&self) -> Option<Linear> {
        let (a, b) = (self.bounds.lower as f64, (self.bounds.lower + self.bounds.width) as f64);
        let mut weights = match self.statistics {
            Statistics::Count => return None,
            Statistics::Sum => vec![1.0],
            Statistics::Mean => vec![b, a],
            Statistics::Variance => vec![a, 0.5 * (a + b), b],
        };
        weights.resize(self.parts(), 0.0);
        let over = self.over();
        Some(Linear { weights, over, unit: self.bounds.grid.spacing() })
    }

    /// The error that the count of one group exceeds with probability at most β; `None` where
    /// there is no count.
    ///
    /// Like every error here it is that of the noise, compared to the values clamped and rounded
    /// to the grid; a float of 2⁵³ or more is off by its own last digits too.
    pub fn count_error(&self, beta: Beta) -> Result<Option<f64>> {
        self.count().map(|count| count.error(self, beta)).transpose()
    }

    /// The error of the number of all rows, as [`Groups::count_error`].
    pub fn rows_error(&self, beta: Beta) -> Result<Option<f64>> {
        self.rows().map(|rows| rows.error(self, beta)).transpose()
    }

    /// The error of the sum, as [`Groups::count_error`].
    pub fn sum_error(&self, beta: Beta) -> Result<Option<f64>> {
        self.sum().map(|sum| sum.error(self, beta)).transpose()
    }

    /// A function from the number of a group's rows with a value to the error that its mean
    /// exceeds with probability at most β, as [`BoundedMean::error`](super::BoundedMean::error). `None` where there
    /// is no mean.
    pub fn mean_errors(&self, beta: Beta) -> Result<Option<impl Fn(u64) -> f64 + use<>>> {
        if self.statistics.degree() == 0 {
            return Ok(None);
        }
        let (bounds, parts, each) = (self.bounds, self.error_of_parts(beta)?, self.per_row as u64);
        Ok(Some(move |rows: u64| moments::mean_error(&bounds, rows.saturating_mul(each), &parts)))
    }

    /// The errors of the variance, as [`Groups::mean_errors`] and
    /// [`BoundedVariance::error`](super::BoundedVariance::error).
    pub fn variance_errors(&self, beta: Beta) -> Result<Option<impl Fn(u64) -> f64 + use<>>> {
        if self.statistics.degree() < 2 {
            return Ok(None);
        }
        let (bounds, parts, each) = (self.bounds, self.error_of_parts(beta)?, self.per_row as u64);
        Ok(Some(move |rows: u64| {
            moments::variance_error(&bounds, rows.saturating_mul(each), &parts)
        }))
    }

    /// The error of the mean of a group with this many rows: [`Groups::mean_errors`].
    pub fn mean_error(&self, rows: u64, beta: Beta) -> Result<Option<f64>> {
        Ok(self.mean_errors(beta)?.map(|error| error(rows)))
    }

    /// The error of the variance of a group with this many rows: [`Groups::variance_errors`].
    pub fn variance_error(&self, rows: u64, beta: Beta) -> Result<Option<f64>> {
        Ok(self.variance_errors(beta)?.map(|error| error(rows)))
    }

    /// A bound on the noise of all the values' parts of a group at once.
    fn error_of_parts(&self, beta: Beta) -> Result<Vec<f64>> {
        let parts = self.parts_of_values();
        let each = Beta::new(down(beta.get() / parts as f64))?;
        Ok(vec![self.noise.error_of_repeated(&[1.0], self.cells, each)?; parts])
    }

    /// The statistics of several groups taken as one, from what was released of each: sums of their counts and sums, and
    /// the mean that those have. There is no variance. It costs nothing: it is computed from released numbers alone.
    ///
    /// Errors are those of [`Groups::of_cells`].
    #[must_use]
    pub fn together(&self, cells: &[GroupSummary]) -> GroupSummary {
        let add = |of: fn(&GroupSummary) -> Option<f64>| {
            cells.iter().try_fold(0.0, |sum, cell| Some(sum + of(cell)?))
        };
        let (count, rows, sum) = (add(|c| c.count), add(|c| c.rows), add(|c| c.sum));
        let mean = match (self.statistics, count, sum) {
            (Statistics::Mean, Some(count), Some(sum)) => {
                // p + q is the count, and b·p + a·q the sum, in steps: both parts again.
                let (a, w) = (self.bounds.lower as f64, self.bounds.width as f64);
                let p = (sum / self.bounds.grid.spacing() - a * count) / w;
                Some(moments::mean(&self.bounds, &[p, count - p]))
            }
            _ => None,
        };
        GroupSummary { count, rows, sum, mean, variance: None }
    }

    /// The same mechanism, whose errors are those of so many groups [together](Self::together): each number then has the
    /// noise of all of them, which is independent.
    #[must_use]
    pub fn of_cells(&self, cells: u64) -> Self {
        Self { cells: cells.max(1), ..self.clone() }
    }
}

/// `unit·Σ wᵢ·partᵢ / over`: a number, and how wrong it is, from the same weights.
struct Linear {
    weights: Vec<f64>,
    over: f64,
    unit: f64,
}

impl Linear {
    fn of(&self, parts: &[f64]) -> f64 {
        let sum: f64 = self.weights.iter().zip(parts).map(|(w, part)| w * part).sum();
        (sum / self.over * self.unit).clamp(f64::MIN, f64::MAX)
    }

    fn error(&self, of: &Groups, beta: Beta) -> Result<f64> {
        let t = of.noise.error_of_repeated(&self.weights, of.cells, beta)?;
        let exactly = self.over == 1.0 && self.unit == 1.0;
        Ok(if exactly { t } else { up(up(t / self.over) * self.unit) })
    }
}

#[cfg(test)]
mod tests;
