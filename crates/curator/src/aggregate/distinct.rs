//! COUNT(DISTINCT x): the number of distinct values in bounded rows.

use super::numbers::Summaries;
use super::{
    Block, BlockPlan, Call, Described, ExactGroups, Expected, Family, Measure, Planned,
    PrivateAggregate, ReleasedColumns, Share, Value, Weights, each_its_block, internal,
};
use crate::bound::Form;
use crate::error::Result;
use crate::words::short;
use demure_core::event::Event;
use demure_core::mechanism::{Contributions, GroupTotals, Groups};
use demure_core::random::Randomness;
use demure_core::unit::Beta;

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

    fn weighs(&self, _: &Measure, _: &[Value]) -> bool {
        false
    }

    fn blocks(&self, measures: &[(usize, Measure)], _: &PrivateAggregate) -> Vec<Planned> {
        each_its_block(measures, |measure| Box::new(DistinctPlan(*measure)))
    }
}

struct DistinctPlan(Measure);

impl BlockPlan for DistinctPlan {
    fn calibrate(
        &self,
        share: &Share,
        aggregate: &PrivateAggregate,
        _: Option<&Weights>,
    ) -> Result<Box<dyn Block>> {
        let of = Contributions::new(aggregate.limits.groups, aggregate.limits.rows)?;
        let groups = Groups::counts().single_group(aggregate.single());
        let groups = groups.calibrate(share.budget, share.neighbours, of)?;
        let value = self.0.argument()?;
        Ok(Box::new(DistinctBlock { value, groups, event: share.event() }))
    }
}

/// A row adds or removes at most one distinct value, so the mechanism treats this as a count of rows.
pub(crate) struct DistinctBlock {
    pub(crate) value: usize,
    pub(crate) groups: Groups,
    event: Event,
}

impl Block for DistinctBlock {
    fn event(&self) -> Result<Event> {
        Ok(self.event.clone())
    }

    fn reads(&self) -> Option<(usize, Form)> {
        Some((self.value, Form::Code))
    }

    fn describe(&self, _: &Measure, of: &PrivateAggregate, beta: Beta) -> Result<Described> {
        let noise = self.groups.calibration();
        let error = self.groups.count_error(beta)?.ok_or_else(|| internal("no such number"))?;
        Ok(Described {
            mechanism: noise.family.to_string(),
            sensitivity: format!("{} ({})", short(noise.sensitivity), of.reach(of.limits.rows)),
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
        let different = groups.codes(self.value).map(|values| {
            let values = values.iter().filter(|(value, _)| !value.is_null());
            GroupTotals::rows(values.count() as u64)
        });
        let totals: Vec<GroupTotals> = different.collect();
        let released = self.groups.release(&totals, rng)?.into_value();
        Ok(Box::new(Summaries::new(&self.groups, released)))
    }
}
