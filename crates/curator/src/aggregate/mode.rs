//! MODE, the most common value: which mechanism releases it, and why.
//!
//! Both mechanisms are compared by the lead at which the answer is right 95 times in 100. Choosing by noised counts
//! needs a public list of all values, and always answers. A stable release answers with the true value or NULL. It
//! needs a δ but no list: a value that leads by far depends on no single person.

use super::share::down;
use super::{
    BETA, Block, BlockPlan, Call, Described, ExactGroups, Expected, Family, Measure, Most, Planned,
    PrivateAggregate, ReleasedColumns, Share, Value, Weights, each_its_block, internal,
};
use crate::bound::Form;
use crate::error::Result;
use crate::refusal::{Refusal, Rule};
use crate::rows::added_functions::{Returns, ordered_set};
use crate::rows::domain::normal;
use crate::words::short;
use datafusion::arrow::row::{RowConverter, SortField};
use datafusion::common::ScalarValue;
use datafusion::logical_expr::AggregateUDF;
use demure_core::event::Event;
use demure_core::mechanism::{Budget, Change, Exponential, PermuteAndFlip, Scores};
use demure_core::random::Randomness;
use demure_core::sensitivity::{Stable, Tally, mode_of_counts};
use demure_core::unit::{Beta, Delta, Epsilon, Neighbours, Sensitivity};
use std::collections::{BTreeMap, HashMap};

/// `MODE(x)`.
pub(super) struct Modes;

const CODE: isize = 9;

impl Family for Modes {
    fn recognise(&'static self, call: &mut Call<'_>) -> Result<Option<Measure>> {
        if call.name() != "mode" {
            return Ok(None);
        }
        let value = Some(call.any_value()?);
        Ok(Some(Measure { family: self, code: CODE, value, rank: None }))
    }

    fn functions(&self) -> Vec<AggregateUDF> {
        vec![ordered_set("mode", 1, Returns::Argument)]
    }

    fn written(&self, _: &Measure, argument: &str) -> String {
        format!("mode({argument})")
    }

    /// A stable release costs a δ in every group of a person, so their number must be limited.
    fn weighs(&self, measure: &Measure, values: &[Value]) -> bool {
        let value = measure.value.and_then(|value| values.get(value));
        value.is_some_and(|value| value.facts.values.is_some())
    }

    fn blocks(
        &self,
        measures: &[(usize, Measure)],
        _: &PrivateAggregate,
        _: Neighbours,
    ) -> Vec<Planned> {
        each_its_block(measures, |measure| Box::new(ModePlan(*measure)))
    }
}

struct ModePlan(Measure);

impl BlockPlan for ModePlan {
    /// Scores are at most 2⁵³: enough for eight billion rows.
    fn finest(&self) -> u32 {
        20
    }

    fn wants_delta(&self) -> bool {
        true
    }

    fn calibrate(
        &self,
        share: &Share,
        aggregate: &PrivateAggregate,
        weights: Option<&Weights>,
    ) -> Result<Box<dyn Block>> {
        let value = self.0.argument()?;
        let Most { groups, rows, weighted, .. } = aggregate.most(weights);
        let price = Price {
            share: Share { delta: share.delta.filter(|_| !weighted), ..*share },
            groups,
            rows,
            single: aggregate.single(),
            bounded: aggregate.bounded,
        };
        let candidates = aggregate.values[value].facts.values.clone();
        let mode = Mode::new(value, candidates.as_ref().map(Vec::len), price)?;
        let weights = weights.copied();
        Ok(Box::new(Mode { candidates, weights, ..mode.ok_or_else(no_delta)? }))
    }
}

/// The refusal where values are not public and there is no δ.
fn no_delta() -> crate::Error {
    Refusal::new(
        Rule::Keys,
        "MODE of a column whose possible values are not public, and there is no δ to pay for \
         showing one",
        "list them in the policy: `values = [...]`, or give the budget a δ",
    )
    .into()
}

/// The most common value of each group.
pub(crate) struct Mode {
    pub(crate) value: usize,
    method: Method,
    price: Price,
    /// The number of public values; 0 if they are not public.
    listed: usize,
    /// The public values, if they are public.
    candidates: Option<Vec<ScalarValue>>,
    weights: Option<Weights>,
    why: String,
}

/// Chooses one of the public values by its count.
pub(crate) enum Chooser {
    /// Never worse than the exponential mechanism at the same ε.
    PermuteAndFlip(PermuteAndFlip),
    /// Under zCDP, its bounded range allows twice the ε.
    Exponential(Exponential),
}

enum Method {
    Drawn(Chooser),
    Stable(Stable),
}

/// The budget for all groups of a unit together.
#[derive(Clone, Copy)]
struct Price {
    share: Share,
    groups: u32,
    rows: u32,
    single: bool,
    /// Whether contributions of a unit are bounded. If not, `rows` is the number of copies of a row.
    bounded: bool,
}

impl Mode {
    /// For a column with this many public values; `None` if they are not public.
    fn new(value: usize, listed: Option<usize>, price: Price) -> Result<Option<Self>> {
        if listed == Some(0) {
            return Err(Refusal::new(
                Rule::Aggregate,
                "MODE of a column that has no value but NULL",
                "leave it out",
            )
            .into());
        }
        let drawn = listed.map(|n| Ok::<_, crate::Error>((price.drawn()?, n))).transpose()?;
        let stable = price.stable()?;
        let (listed, candidates) = (listed.unwrap_or(0), None);
        let weights = None;
        let build = |method, why| Mode { value, method, price, listed, candidates, weights, why };
        let lead_of = |stable: &Stable| short(price.lead(stable));
        Ok(match (drawn, stable) {
            (None, None) => None,
            (None, Some(stable)) => {
                let why = "its values are not public, so none can be drawn from a list; the true one \
                           is released where it leads by far, and NULL otherwise";
                Some(build(Method::Stable(stable), why.to_owned()))
            }
            (Some((chooser, n)), stable) => {
                let by_draw = chooser.error(n, price.share.neighbours)?;
                match stable {
                    Some(stable) if price.lead(&stable) < by_draw => {
                        let why = format!(
                            "a lead of {} rows is enough for a stable release, {} for a draw from \
                             {n} values",
                            lead_of(&stable),
                            short(by_draw)
                        );
                        Some(build(Method::Stable(stable), why))
                    }
                    Some(stable) => {
                        let why = format!(
                            "a lead of {} rows is enough for a draw from {n} values, {} for a \
                             stable release",
                            short(by_draw),
                            lead_of(&stable)
                        );
                        Some(build(Method::Drawn(chooser), why))
                    }
                    None => {
                        let why = "a stable release would need a δ".to_owned();
                        Some(build(Method::Drawn(chooser), why))
                    }
                }
            }
        })
    }

    /// The mechanism, its scale and its error.
    fn told(&self) -> Result<(&'static str, f64, Expected)> {
        let price = self.price;
        let change = change(price.share.neighbours);
        let steps = Weights::steps(self.weights.as_ref());
        Ok(match &self.method {
            Method::Drawn(chooser) => {
                let error = chooser.error(self.listed, price.share.neighbours)? / steps;
                let (name, scale) = match chooser {
                    Chooser::PermuteAndFlip(chooser) => ("permute-and-flip", chooser.scale(change)),
                    Chooser::Exponential(chooser) => {
                        ("exponential mechanism", chooser.scale(change))
                    }
                };
                (name, scale / steps, Expected::Votes(error))
            }
            Method::Stable(stable) => {
                let lead = price.lead(stable);
                ("stable release", price.step() / price.each(stable), Expected::Lead(lead))
            }
        })
    }

    /// Releases the most common value of one group, or NULL.
    ///
    /// # Guarantee
    /// The block's budget, for all groups together: see [`Price::stable`] and [`Chooser::choose`].
    fn release_one(
        &self,
        counted: &HashMap<ScalarValue, u64>,
        rng: &mut dyn Randomness,
    ) -> Result<ScalarValue> {
        let counts = |list: &[ScalarValue]| -> Vec<u64> {
            let count = |c: &ScalarValue| counted.get(&normal(c.clone())).copied();
            list.iter().map(|c| count(c).unwrap_or(0)).collect()
        };
        let missing = || internal("a mode without values");
        let (neighbours, rows) = (self.price.share.neighbours, self.price.rows);
        match (&self.method, &self.candidates) {
            (Method::Drawn(chooser), Some(list)) => {
                let chosen = chooser.choose(&counts(list), neighbours, rng)?;
                list.get(chosen).cloned().ok_or_else(missing)
            }
            (Method::Drawn(_), None) => Err(missing()),
            (Method::Stable(stable), Some(list)) => {
                let tally = Tally::rows(&counts(list), rows, neighbours)?;
                let (winner, distance) = tally.winner();
                let released = stable.release(winner, distance, rng)?.into_value();
                Ok(released.and_then(|i| list.get(i).cloned()).unwrap_or(ScalarValue::Null))
            }
            (Method::Stable(stable), None) => {
                let named = in_order(counted)?;
                let numbers = named.iter().map(|(name, (_, n))| (name.clone(), *n)).collect();
                let (winner, distance) = mode_of_counts(numbers, rows, neighbours);
                let released = stable.release(winner, distance, rng)?.into_value().flatten();
                let value = released.and_then(|name| Some(named.get(&name)?.0.clone()));
                Ok(value.unwrap_or(ScalarValue::Null))
            }
        }
    }
}

impl Block for Mode {
    fn event(&self) -> Result<Event> {
        Ok(match (&self.method, self.price.share.delta) {
            (Method::Stable(_), Some(delta)) => {
                Event::Approximate { epsilon: self.price.epsilon()?, delta }
            }
            (Method::Stable(_), None) => return Err(internal("a δ that is not there")),
            (Method::Drawn(_), _) => self.price.share.event(),
        })
    }

    fn noise_per_row(&self) -> Result<f64> {
        // What is exceeded in a twentieth is three times what is exceeded in a third.
        Ok(match self.told()? {
            (_, _, Expected::Votes(error)) => error / 3.0,
            (_, scale, _) => scale,
        })
    }

    fn reads(&self) -> Option<(usize, Form)> {
        Some((self.value, Form::Code))
    }

    fn describe(&self, _: &Measure, of: &PrivateAggregate, _: Beta) -> Result<Described> {
        let (mechanism, scale, error) = self.told()?;
        let weights = self.weights.as_ref();
        let rows = weights.map_or(u64::from(of.limits.rows), Weights::bound);
        Ok(Described {
            mechanism: mechanism.to_owned(),
            sensitivity: format!("{rows} ({})", of.most_in_words(weights)),
            scale,
            error,
            why: Some(self.why.clone()),
        })
    }

    fn release(
        &self,
        groups: &ExactGroups<'_>,
        rng: &mut dyn Randomness,
    ) -> Result<Box<dyn ReleasedColumns>> {
        let mut made: Vec<ScalarValue> = Vec::new();
        let mut add = |values: &[(ScalarValue, u64)]| {
            let mut counted: HashMap<ScalarValue, u64> = HashMap::new();
            for (value, n) in values {
                let count = counted.entry(normal(value.clone())).or_insert(0);
                *count = count.saturating_add(*n);
            }
            made.push(self.release_one(&counted, rng)?);
            Ok::<_, crate::Error>(())
        };
        match &self.weights {
            Some(weights) => {
                groups.weighted_codes(self.value, weights).try_for_each(|values| add(&values))?;
            }
            None => groups.codes(self.value).try_for_each(add)?,
        }
        Ok(Box::new(made))
    }
}

/// The values that occur, sorted by their byte encoding. It keeps different values apart, which their text does not,
/// so no value is lost, and it is a public rule for ties.
fn in_order(counted: &HashMap<ScalarValue, u64>) -> Result<BTreeMap<Vec<u8>, (&ScalarValue, u64)>> {
    let odd = |_| internal("a mode of such values");
    let present: Vec<(&ScalarValue, u64)> = counted
        .iter()
        .filter(|(value, n)| !value.is_null() && **n > 0)
        .map(|(value, n)| (value, *n))
        .collect();
    if present.is_empty() {
        return Ok(BTreeMap::new());
    }
    let column = ScalarValue::iter_to_array(present.iter().map(|(value, _)| (*value).clone()));
    let column = column.map_err(|_| internal("a mode of such values"))?;
    let fields = vec![SortField::new(column.data_type().clone())];
    let converter = RowConverter::new(fields).map_err(odd)?;
    let rows = converter.convert_columns(&[column]).map_err(odd)?;
    let names = rows.iter().map(|row| row.as_ref().to_vec());
    let named: BTreeMap<Vec<u8>, (&ScalarValue, u64)> =
        names.zip(present.iter().copied()).collect();
    match named.len() == present.len() {
        true => Ok(named),
        false => Err(internal("values that are one and two")),
    }
}

impl Price {
    fn drawn(&self) -> Result<Chooser> {
        let sensitivity = Sensitivity::new(f64::from(self.rows))?;
        let g = f64::from(self.groups);
        Ok(match self.share.budget {
            Budget::Pure(epsilon) => {
                let each = Epsilon::new(down(epsilon.get() / g))?;
                Chooser::PermuteAndFlip(PermuteAndFlip::new(each, sensitivity)?)
            }
            Budget::Concentrated(rho) => {
                let each = Epsilon::new(down((8.0 * rho.get() / g).sqrt()))?;
                Chooser::Exponential(Exponential::new(each, sensitivity)?)
            }
        })
    }

    /// The ε of the whole block for a stable release, which is no cheaper under zCDP.
    fn epsilon(&self) -> Result<Epsilon> {
        Ok(match self.share.budget {
            Budget::Pure(epsilon) => epsilon,
            Budget::Concentrated(rho) => Epsilon::new(down((2.0 * rho.get()).sqrt()))?,
        })
    }

    /// # Proof
    /// In one group it is (ε′,δ′)-DP for a unit of m rows ([`Tally::rows`], [`mode_of_counts`]), whether they are
    /// added, removed or, with the step of *replace*, both. *Add or remove*: g groups change, or as many as a row has
    /// copies, which may be in as many groups. *Replace*: one group changes if there is only one, otherwise the g
    /// groups of the old rows and the g groups of the new rows. Groups have no row in common, so ε′ and δ′ add up. ∎
    fn stable(&self) -> Result<Option<Stable>> {
        let Some(delta) = self.share.delta else { return Ok(None) };
        let touched = match self.share.neighbours {
            _ if self.single => 1.0,
            Neighbours::AddRemove => self.reached(),
            Neighbours::Replace => 2.0 * self.reached(),
        };
        let epsilon = Epsilon::new(down(self.epsilon()?.get() / touched))?;
        let delta = Delta::new(down(delta.get() / touched))?;
        // `None` where the threshold would be out of reach.
        Ok(Stable::new(epsilon, delta).ok())
    }

    /// The largest number of groups that a unit has rows in.
    fn reached(&self) -> f64 {
        let groups = f64::from(self.groups);
        if self.bounded { groups } else { groups * f64::from(self.rows) }
    }

    fn each(&self, stable: &Stable) -> f64 {
        match stable.guarantee() {
            demure_core::mechanism::Guarantee::Approximate(epsilon, _) => epsilon.get(),
            _ => f64::NAN,
        }
    }

    /// The number of rows by which a unit changes the lead.
    fn step(&self) -> f64 {
        let rows = f64::from(self.rows);
        match self.share.neighbours {
            Neighbours::AddRemove => rows,
            Neighbours::Replace => 2.0 * rows,
        }
    }

    /// The lead, in rows, at which a stable release answers 95 times in 100: noise below
    /// `−ln(1/2β)/ε` is rarer than β.
    fn lead(&self, stable: &Stable) -> f64 {
        let noise = (0.5 / BETA).ln() / self.each(stable);
        self.step() * (stable.threshold() as f64 + 2.0 + noise.ceil())
    }
}

fn change(neighbours: Neighbours) -> Change {
    match neighbours {
        Neighbours::AddRemove => Change::Monotone,
        Neighbours::Replace => Change::General,
    }
}

impl Chooser {
    /// Chooses a candidate by its count, for one group.
    ///
    /// # Guarantee
    /// The block's budget, for all groups together. A group whose counts both rise and fall costs ε′. One whose counts
    /// only rise or only fall costs ε′ if the noise is for that case (add or remove), and ε′/2 if it is for both
    /// (replace): gε′ in all, or g·ε′²/8. *Weighted*, a unit with r of its m rows in a group costs r/m of that; one that has r′
    /// there after it is replaced at most `(r+r′)/2m`. The norm of r/m over all groups is at most 1: ε′, or ε′²/8.
    fn choose(
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

    /// The lead that is enough for the best value to be chosen 95 times in 100.
    fn error(&self, candidates: usize, neighbours: Neighbours) -> Result<f64> {
        let (beta, n, change) = (Beta::new(BETA)?, candidates.max(1), change(neighbours));
        Ok(match self {
            Self::PermuteAndFlip(chooser) => chooser.error(n, change, beta)?,
            Self::Exponential(chooser) => chooser.error(n, change, beta)?,
        })
    }
}

#[cfg(test)]
impl Mode {
    pub(crate) fn chooser(&self) -> Option<&Chooser> {
        match &self.method {
            Method::Drawn(chooser) => Some(chooser),
            Method::Stable(_) => None,
        }
    }

    /// ε and δ of one group, and the largest change of a gap by one unit.
    pub(crate) fn stable(&self) -> Option<(Epsilon, Delta, f64)> {
        use demure_core::mechanism::Guarantee;
        let Method::Stable(stable) = &self.method else { return None };
        let Guarantee::Approximate(epsilon, delta) = stable.guarantee() else { return None };
        Some((epsilon, delta, self.price.step()))
    }
}

#[cfg(test)]
mod tests;
