//! BOOL_OR, BOOL_AND and EVERY: whether any row is true, or any is false, decided by a noised count.
//!
//! BOOL_OR counts the rows that are true, BOOL_AND those that are false. The count is noised like every count
//! ([`super::numbers`]), and the answer is whether it exceeds its own 95 % error t. That is post-processing, so the
//! guarantee is that of the count.
//!
//! With no such row, the count exceeds t with a probability of at most 5 %. With 2t such rows or more, it is at most t
//! with a probability of at most 5 %. In between the answer may be either: no private answer can depend on one row.

use super::numbers::Source;
use super::{
    BETA, Block, BlockPlan, Call, Described, ExactGroups, Expected, Family, Measure, Planned,
    PrivateAggregate, ReleasedColumns, Share, Weights, each_its_block, internal,
};
use crate::bound::Form;
use crate::error::Result;
use datafusion::common::ScalarValue;
use datafusion::functions_aggregate::bool_and_or::bool_and_udaf;
use datafusion::logical_expr::AggregateUDF;
use demure_core::event::Event;
use demure_core::random::Randomness;
use demure_core::unit::{Beta, Neighbours};

/// `BOOL_OR(x)`, `BOOL_AND(x)` and `EVERY(x)`.
pub(super) struct Booleans;

const ANY: isize = 11;
const ALL: isize = 12;

impl Family for Booleans {
    fn functions(&self) -> Vec<AggregateUDF> {
        vec![bool_and_udaf().as_ref().clone().with_aliases(["every"])]
    }

    fn recognise(&'static self, call: &mut Call<'_>) -> Result<Option<Measure>> {
        let code = match call.name() {
            "bool_or" => ANY,
            "bool_and" => ALL,
            _ => return Ok(None),
        };
        call.keep_only(code == ANY)?;
        let value = Some(call.any_value()?);
        Ok(Some(Measure { family: self, code, value, rank: None }))
    }

    fn written(&self, measure: &Measure, argument: &str) -> String {
        let name = if measure.code == ANY { "bool_or" } else { "bool_and" };
        format!("{name}({argument})")
    }

    fn blocks(
        &self,
        measures: &[(usize, Measure)],
        _: &PrivateAggregate,
        _: Neighbours,
    ) -> Vec<Planned> {
        each_its_block(measures, |measure| Box::new(BooleanPlan(*measure)))
    }
}

struct BooleanPlan(Measure);

impl BlockPlan for BooleanPlan {
    fn calibrate(
        &self,
        share: &Share,
        aggregate: &PrivateAggregate,
        weights: Option<&Weights>,
    ) -> Result<Box<dyn Block>> {
        let source = Source::Present(self.0.argument()?);
        let count = source.calibrate(share, aggregate, weights)?;
        let described = count.describe(&self.0, aggregate, Beta::new(BETA)?)?;
        let Expected::Within(error) = described.error else {
            return Err(internal("a count without an error"));
        };
        Ok(Box::new(Decision { count, error }))
    }
}

/// A noised count, and its 95 % error.
pub(crate) struct Decision {
    pub(crate) count: Box<dyn Block>,
    error: f64,
}

impl Block for Decision {
    fn event(&self) -> Result<Event> {
        self.count.event()
    }

    fn noise_per_row(&self) -> Result<f64> {
        self.count.noise_per_row()
    }

    fn reads(&self) -> Option<(usize, Form)> {
        self.count.reads()
    }

    fn describe(&self, measure: &Measure, of: &PrivateAggregate, beta: Beta) -> Result<Described> {
        let count = self.count.describe(measure, of, beta)?;
        let rows = if measure.code == ANY { "true" } else { "false" };
        let why = format!("{rows} rows are counted, and the count is compared with its own error");
        Ok(Described { error: Expected::Decided(self.error), why: Some(why), ..count })
    }

    fn release(
        &self,
        groups: &ExactGroups<'_>,
        rng: &mut dyn Randomness,
    ) -> Result<Box<dyn ReleasedColumns>> {
        Ok(Box::new(Decided { counts: self.count.release(groups, rng)?, error: self.error }))
    }
}

struct Decided {
    counts: Box<dyn ReleasedColumns>,
    error: f64,
}

impl ReleasedColumns for Decided {
    fn column(&self, measure: &Measure) -> Result<Vec<(ScalarValue, Option<f64>)>> {
        let counts = self.counts.column(measure)?.into_iter();
        let decide = |(count, _)| match count {
            ScalarValue::Float64(Some(count)) => {
                let found = count > self.error;
                Ok((ScalarValue::Boolean(Some(found == (measure.code == ANY))), None))
            }
            _ => Err(internal("a count that is not a number")),
        };
        counts.map(decide).collect()
    }
}

#[cfg(test)]
mod tests;
