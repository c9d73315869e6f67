//! One block: a mechanism, and what it reads.

use super::extreme::Extreme;
use super::mode::{Mode, Price};
use super::order::{Method, Ordered};
use super::{ColumnQuote, Expected, TYPICAL_ROWS, internal};
use crate::analyse::{Keys, Measure, PrivateAggregate};
use crate::bound::Form;
use crate::error::Result;
use crate::explain::short;
use crate::refusal::{Refusal, Rule};
use demure_core::event::Event;
use demure_core::mechanism::{
    Budget, Contributions, Exponential, Groups, PermuteAndFlip, Scores, Statistics as Wanted,
};
use demure_core::random::Randomness;
use demure_core::unit::{Beta, Delta, Epsilon, Neighbours};
use demure_core::utility::Accuracy;

/// What a block is made of.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Source {
    /// Rows of each group.
    Rows,
    /// People of each group.
    People,
    /// Rows whose value is not NULL.
    Present(usize),
    /// Different values.
    Distinct(usize),
    /// Count, sum, mean, variance of a value.
    Values { value: usize, wanted: Wanted, nulls: bool },
    /// A quantile of a value; 0 and 1 are MIN and MAX.
    Rank(usize, f64),
    /// The most common value.
    Mode(usize),
}

/// A block with its mechanism.
pub(crate) enum Block {
    Numbers { source: Source, groups: Box<Groups> },
    Rank(Box<Ordered>),
    Extreme(Box<Extreme>),
    Mode(Box<Mode>),
}

/// Chooses one of the public values by its count.
pub(crate) enum Chooser {
    /// Never worse than the exponential mechanism at the same ε.
    PermuteAndFlip(PermuteAndFlip),
    /// Under zCDP its bounded range buys it twice the ε.
    Exponential(Exponential),
}

impl Block {
    pub(super) fn new(
        source: Source,
        (budget, delta): (Budget, Option<Delta>),
        aggregate: &PrivateAggregate,
        neighbours: Neighbours,
    ) -> Result<Self> {
        let single = matches!(aggregate.keys, Keys::One);
        let (g, m) = (aggregate.limits.groups, aggregate.limits.rows);
        let of = Contributions::new(g, m)?;
        let bounds = |value: usize| {
            aggregate.values[value].bounds.ok_or_else(|| internal("a number without bounds"))
        };
        let numbers = |of| -> Result<Self> {
            let groups = Groups::counts().single_group(single).calibrate(budget, neighbours, of)?;
            Ok(Self::Numbers { source, groups: Box::new(groups) })
        };
        match source {
            Source::Rows | Source::Present(_) | Source::Distinct(_) => numbers(of),
            Source::People => numbers(Contributions::new(g, 1)?),
            Source::Values { value, wanted, nulls } => {
                let bounds = bounds(value)?;
                let groups = Groups::values(bounds, wanted)
                    .with_nulls(nulls)
                    .single_group(single)
                    .calibrate(budget, neighbours, of)?;
                Ok(Self::Numbers { source, groups: Box::new(groups) })
            }
            Source::Rank(value, rank) if rank > 0.0 && rank < 1.0 => {
                let bounds = bounds(value)?;
                let of = (value, rank);
                let ordered = Ordered::new(of, &bounds, budget, neighbours, (g, m), single)?;
                Ok(Self::Rank(Box::new(ordered)))
            }
            Source::Rank(value, rank) => {
                let (bounds, largest) = (bounds(value)?, rank >= 1.0);
                let extreme = Extreme::new(value, largest, bounds, budget, neighbours, (g, m))?;
                Ok(Self::Extreme(Box::new(extreme)))
            }
            Source::Mode(value) => {
                let bounded = aggregate.bounded;
                let price =
                    Price { budget, delta, neighbours, groups: g, rows: m, single, bounded };
                let listed = aggregate.values[value].facts.values.as_ref().map(Vec::len);
                let mode = Mode::new(value, listed, price)?.ok_or_else(no_delta)?;
                Ok(Self::Mode(Box::new(mode)))
            }
        }
    }

    /// What it costs, of the budget that it was given.
    pub(super) fn event(&self, budget: Budget) -> Result<Event> {
        match self {
            Self::Mode(mode) => mode.event(),
            _ => Ok(event(budget)),
        }
    }

    /// The value it reads and the form it needs it in.
    pub(super) fn form(&self, aggregate: &PrivateAggregate) -> Option<(usize, Form)> {
        let steps = |value: usize, histogram: bool| {
            let bounds = aggregate.values[value].bounds?;
            Some((value, Form::Steps { bounds, histogram }))
        };
        match self {
            Self::Numbers { source, .. } => match *source {
                Source::Present(value) => Some((value, Form::Present)),
                Source::Distinct(value) => Some((value, Form::Code)),
                Source::Values { value, .. } => steps(value, false),
                _ => None,
            },
            Self::Rank(ordered) => steps(ordered.value, true),
            Self::Extreme(extreme) => steps(extreme.value, true),
            Self::Mode(mode) => Some((mode.value, Form::Code)),
        }
    }

    /// What a measure taken from this block will be like.
    pub(super) fn describe(
        &self,
        name: String,
        measure: &Measure,
        aggregate: &PrivateAggregate,
        beta: Beta,
    ) -> Result<ColumnQuote> {
        let limits = aggregate.limits;
        let reach = |rows: u32| match (aggregate.bounded, limits.groups, rows) {
            (false, 1, 1) => "one row".to_owned(),
            (_, 1, rows) => format!("{rows} {} of one person", plural("row", rows)),
            (_, groups, rows) => {
                format!("{rows} {} in each of {groups} groups of one person", plural("row", rows))
            }
        };
        match self {
            Self::Numbers { source, groups } => {
                let noise = groups.calibration();
                let known = |error: Option<f64>| error.ok_or_else(|| internal("no such number"));
                let at = |error: f64| Expected::WithinAt { rows: TYPICAL_ROWS, error };
                let error = match measure {
                    Measure::CountRows => {
                        let rows = groups.rows_error(beta)?;
                        Expected::Within(known(rows.or(groups.count_error(beta)?))?)
                    }
                    Measure::Sum(_) => Expected::Within(known(groups.sum_error(beta)?)?),
                    Measure::Mean(_) => at(known(groups.mean_error(TYPICAL_ROWS, beta)?)?),
                    Measure::Variance(_) => at(known(groups.variance_error(TYPICAL_ROWS, beta)?)?),
                    // |√v − √v′| ≤ √|v − v′|.
                    Measure::Deviation(_) => {
                        at(known(groups.variance_error(TYPICAL_ROWS, beta)?)?.sqrt())
                    }
                    _ => Expected::Within(known(groups.count_error(beta)?)?),
                };
                let rows = if *source == Source::People { 1 } else { limits.rows };
                let within = match source {
                    Source::Values { value, .. } => match aggregate.values[*value].bounds {
                        Some(b) => {
                            format!(", values within {} to {}", short(b.lower()), short(b.upper()))
                        }
                        None => String::new(),
                    },
                    _ => String::new(),
                };
                let jointly = match source {
                    Source::Values { wanted: Wanted::Mean, .. } => ", jointly on Σ(x−a), Σ(b−x)",
                    Source::Values { wanted: Wanted::Variance, .. } => {
                        ", jointly on Σ(b−x)², Σ2(x−a)(b−x), Σ(x−a)²"
                    }
                    _ => "",
                };
                Ok(ColumnQuote {
                    name,
                    mechanism: format!("{}{jointly}", noise.family),
                    sensitivity: format!("{} ({}{within})", short(noise.sensitivity), reach(rows)),
                    scale: noise.scale,
                    error,
                    why: None,
                })
            }
            Self::Rank(ordered) => {
                let (mechanism, sensitivity, scale) = ordered.told(limits.rows);
                let error = match ordered.method() {
                    Method::Ranks(quantile) => Expected::Ranks(quantile.error(beta)?),
                    Method::Smooth(noise) => Expected::EvenRanks(Ordered::even_error(noise)),
                };
                let sensitivity = format!("{sensitivity} ({})", reach(limits.rows));
                let why = Some(ordered.why.clone());
                Ok(ColumnQuote { name, mechanism, sensitivity, scale, error, why })
            }
            Self::Extreme(extreme) => Ok(ColumnQuote {
                name,
                mechanism: "sparse vector on counts".to_owned(),
                sensitivity: format!("{} ({})", limits.rows, reach(limits.rows)),
                scale: extreme.scale(),
                error: Expected::Ranks(extreme.error(beta)?),
                why: None,
            }),
            Self::Mode(mode) => {
                let (mechanism, scale, error) = mode.told()?;
                Ok(ColumnQuote {
                    name,
                    mechanism: mechanism.to_owned(),
                    sensitivity: format!("{} ({})", limits.rows, reach(limits.rows)),
                    scale,
                    error,
                    why: Some(mode.why.clone()),
                })
            }
        }
    }
}

/// Values that are not public, and no δ.
fn no_delta() -> crate::Error {
    Refusal::new(
        Rule::Keys,
        "MODE of a column whose possible values are not public, and there is no δ to pay for \
         showing one",
        "list them in the policy: `values = [...]`, or give the budget a δ",
    )
    .into()
}

fn plural(word: &str, n: u32) -> String {
    if n == 1 { word.to_owned() } else { format!("{word}s") }
}

/// What is charged where all of it is spent.
pub(super) fn event(budget: Budget) -> Event {
    match budget {
        Budget::Pure(epsilon) => Event::Pure { epsilon },
        Budget::Concentrated(rho) => Event::Concentrated { rho },
    }
}

/// A little less: these quotients only set how much noise there is, and more is safe.
pub(super) fn down(x: f64) -> f64 {
    x * (1.0 - 1e-15)
}

/// The ε at which the quantile of each group may be drawn, as if a unit were one row.
///
/// # Proof
/// A unit has at most m rows in each of at most g groups. Its m rows in one group move the rank
/// error m times as far as one row does, so a quantile drawn at ε/m is ε-DP and has a bounded
/// range of ε for them, and so is ε²/8-zCDP. Let h = max(q, 1−q), the change of the rank error by
/// one row added or removed, and 1 its change by one replaced; a quantile calibrated for
/// *replace* at ε costs hε where a group only gains or only loses rows.
/// *Add or remove*: g groups change: gε, or gε²/8. *Replace*, one group: ε, or ε²/8. *Replace*, the
/// old and the new rows sharing t groups: tε + 2(g−t)hε ≤ 2ghε as h ≥ ½, or `(t + 2(g−t)h²)ε²/8 ≤
/// g·max(1, 2h²)·ε²/8`. ∎
pub(super) fn per_row(
    budget: Budget,
    neighbours: Neighbours,
    (g, m): (u32, u32),
    single: bool,
    h: f64,
) -> Result<Epsilon> {
    let (g, m) = (f64::from(g), f64::from(m));
    let each = match (budget, neighbours) {
        (Budget::Pure(epsilon), Neighbours::AddRemove) => epsilon.get() / g,
        (Budget::Pure(epsilon), Neighbours::Replace) if single => epsilon.get(),
        (Budget::Pure(epsilon), Neighbours::Replace) => epsilon.get() / (2.0 * g * h),
        (Budget::Concentrated(rho), Neighbours::AddRemove) => (8.0 * rho.get() / g).sqrt(),
        (Budget::Concentrated(rho), Neighbours::Replace) if single => (8.0 * rho.get()).sqrt(),
        (Budget::Concentrated(rho), Neighbours::Replace) => {
            (8.0 * rho.get() / (g * (2.0 * h * h).max(1.0))).sqrt()
        }
    };
    Ok(Epsilon::new(down(each / m))?)
}

impl Chooser {
    /// Chooses a candidate by its count, for one group.
    ///
    /// # Guarantee
    /// For all groups together what the block was given: a group whose counts rise and fall
    /// costs ε′, one whose counts only rise or only fall costs ε′ if the noise is for that
    /// (add or remove), and ε′/2 if it is for both (replace): gε′ in all, or g·ε′²/8.
    pub(crate) fn choose(
        &self,
        counts: &[u64],
        neighbours: Neighbours,
        rng: &mut dyn Randomness,
    ) -> Result<usize> {
        let scores = Scores::counts(counts, neighbours)?;
        let chosen = match self {
            Self::PermuteAndFlip(chooser) => chooser.select(&scores, rng)?,
            Self::Exponential(chooser) => chooser.select(&scores, rng)?,
        };
        Ok(chosen.into_value())
    }
}
