//! COUNT(DISTINCT x): the number of distinct values in bounded rows.

use super::numbers::Summaries;
use super::{
    Block, BlockPlan, Call, Counted, Described, ExactGroups, Expected, Family, Measure, Planned,
    PrivateAggregate, ReleasedColumns, Share, Weights, each_its_block, internal, typical,
};
use crate::bound::Form;
use crate::error::Result;
use crate::words::short;
use demure_core::event::Event;
use demure_core::mechanism::{Contributions, GroupTotals, Groups};
use demure_core::random::Randomness;
use demure_core::unit::{Beta, Neighbours};

/// `COUNT(DISTINCT x)` and `APPROX_DISTINCT(x)`. [`super::numbers`] counts people.
pub(super) struct Distinct;

const CODE: isize = 3;

impl Family for Distinct {
    fn recognise(&'static self, call: &mut Call<'_>) -> Result<Option<Measure>> {
        match (call.name(), call.is_distinct()) {
            ("count", true) | ("approx_distinct", _) => {
                let value = Some(call.any_value()?);
                Ok(Some(Measure { family: self, code: CODE, value, rank: None }))
            }
            _ => Ok(None),
        }
    }

    fn written(&self, _: &Measure, argument: &str) -> String {
        format!("count(distinct {argument})")
    }

    fn blocks(
        &self,
        measures: &[(usize, Measure)],
        _: &PrivateAggregate,
        _: Neighbours,
    ) -> Vec<Planned> {
        each_its_block(measures, |measure| Box::new(DistinctPlan(*measure)))
    }
}

struct DistinctPlan(Measure);

impl BlockPlan for DistinctPlan {
    fn counted(&self) -> Counted {
        Counted::Different(self.0.value.unwrap_or_default())
    }

    fn has_interval(&self) -> bool {
        true
    }

    fn calibrate(
        &self,
        share: &Share,
        aggregate: &PrivateAggregate,
        weights: Option<&Weights>,
    ) -> Result<Box<dyn Block>> {
        let limits = aggregate.limits;
        let of = match weights {
            // So many different values in all groups together: as if they were rows of one group.
            Some(weights) => {
                Contributions::new(1, u32::try_from(weights.bound()).unwrap_or(u32::MAX))?
            }
            None => Contributions::new(limits.groups, limits.rows)?,
        };
        let groups = Groups::counts().single_group(aggregate.single());
        let groups = groups.calibrate(share.budget, share.neighbours, of)?;
        let value = self.0.argument()?;
        let weights = weights.copied();
        Ok(Box::new(DistinctBlock { value, groups, weights, event: share.event() }))
    }
}

/// A row adds or removes at most one distinct value, so the mechanism treats this as a count of rows. With a learnt bound
/// R, the first R values of each person count, in all groups together, and a value is there if it counts for anyone: one
/// person more or less changes at most R.
pub(crate) struct DistinctBlock {
    pub(crate) value: usize,
    pub(crate) groups: Groups,
    weights: Option<Weights>,
    event: Event,
}

impl DistinctBlock {
    fn reach(&self, of: &PrivateAggregate) -> String {
        match &self.weights {
            Some(weights) => match weights.bound() {
                1 => "1 different value of one person".to_owned(),
                n => format!("{n} different values of one person, in all groups together"),
            },
            None => of.reach(of.limits.rows),
        }
    }
}

impl Block for DistinctBlock {
    fn event(&self) -> Result<Event> {
        Ok(self.event.clone())
    }

    fn noise_per_row(&self) -> Result<f64> {
        let error = self.groups.count_error(typical()?)?;
        error.ok_or_else(|| internal("no such number"))
    }

    fn reads(&self) -> Option<(usize, Form)> {
        Some((self.value, Form::Code))
    }

    fn describe(&self, _: &Measure, of: &PrivateAggregate, beta: Beta) -> Result<Described> {
        let noise = self.groups.calibration();
        let error = self.groups.count_error(beta)?.ok_or_else(|| internal("no such number"))?;
        Ok(Described {
            mechanism: noise.family.to_string(),
            sensitivity: format!("{} ({})", short(noise.sensitivity), self.reach(of)),
            scale: noise.scale,
            error: Expected::Within(error),
            why: None,
        })
    }

    fn release(
        &self,
        groups: &ExactGroups<'_>,
        rng: &mut dyn Randomness,
    ) -> Result<Box<dyn ReleasedColumns>> {
        let totals: Vec<GroupTotals> = match &self.weights {
            Some(weights) => {
                let arguments = groups.weighed_argument(self.value, Form::Code);
                let counts = arguments.map(|argument| {
                    let rungs =
                        argument.into_iter().flat_map(|of| of.different.range(..=weights.rung));
                    rungs.map(|(_, values)| values).sum()
                });
                counts.map(GroupTotals::rows).collect()
            }
            None => {
                let counts = groups.codes(self.value).map(|values| {
                    values.iter().filter(|(value, _)| !value.is_null()).count() as u64
                });
                counts.map(GroupTotals::rows).collect()
            }
        };
        let released = self.groups.release(&totals, rng)?.into_value();
        // A share of people's values says nothing about how many different ones there are: the rarest may all be left out.
        let known = self.weights.is_none_or(|weights| weights.takes_hardly_anything());
        let lost = if known { 0.0 } else { 1.0 };
        Ok(Box::new(Summaries::new(&self.groups, released).with_loss(lost, None)))
    }
}
