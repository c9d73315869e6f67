//! A saved model: released numbers alone, from which rows can be drawn for free.

use crate::budget::Price;
use crate::error::{Error, Result};
use crate::estimate::Estimate;
use crate::rows::rows;
use crate::rules::Rules;
use crate::schema::Schema;
use crate::table::CodedTable;
use demure_core::random::Randomness;

/// A fitted model of a table.
///
/// Everything in it comes from releases that were paid for: rows drawn from it, with conditions or without, cost
/// nothing more.
#[derive(Clone, Debug)]
pub struct Model {
    pub(crate) schema: Schema,
    pub(crate) price: Price,
    pub(crate) estimate: Estimate,
    pub(crate) rules: Rules,
    /// Before it was raised to 1: the noise may make it negative.
    pub(crate) total: f64,
}

impl Model {
    /// The table's columns.
    #[must_use]
    pub fn schema(&self) -> &Schema {
        &self.schema
    }

    /// What making the model cost.
    #[must_use]
    pub fn price(&self) -> &Price {
        &self.price
    }

    /// The estimated number of rows of the table, rounded; 0 if noise made it negative.
    #[must_use]
    pub fn rows(&self) -> usize {
        self.total.round().clamp(0.0, crate::rows::MOST_ROWS as f64) as usize
    }

    /// Draws `count` rows.
    pub fn sample(
        &self,
        count: usize,
        threads: usize,
        rng: &mut dyn Randomness,
    ) -> Result<CodedTable> {
        rows(&self.estimate, &self.rules, count, threads, rng)
    }

    /// Draws `count` rows that meet `condition`, from the model given the condition.
    ///
    /// # Special values
    /// A condition without probability is [`Error::Impossible`], one that the rules rule out [`Error::Unsatisfiable`].
    pub fn sample_where(
        &self,
        condition: &Condition,
        count: usize,
        threads: usize,
        rng: &mut dyn Randomness,
    ) -> Result<CodedTable> {
        if condition.allowed.len() != self.schema.width() {
            return Err(Error::Shape {
                what: "the condition is about another table",
                remedy: "make it from the model's own schema",
            });
        }
        rows(&self.estimate.given(&condition.allowed)?, &self.rules, count, threads, rng)
    }
}

/// Which codes some columns must have.
///
/// ```
/// use demure_synth::{Column, Condition, Schema};
///
/// let schema = Schema::new(vec![Column::categorical("sex", 2)?, Column::ordered("age", 100)?])?;
/// let old_women = Condition::of(&schema).is("sex", &[1])?.is("age", &(65..100).collect::<Vec<_>>())?;
/// # Ok::<(), demure_synth::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Condition {
    schema: Schema,
    allowed: Vec<Option<Vec<bool>>>,
}

impl Condition {
    /// The condition that every row meets.
    #[must_use]
    pub fn of(schema: &Schema) -> Self {
        Self { schema: schema.clone(), allowed: vec![None; schema.width()] }
    }

    /// And `column` has one of these codes.
    pub fn is(mut self, column: &str, codes: &[usize]) -> Result<Self> {
        let position = self.schema.position(column)?;
        let mut mask = self.schema.mask(position, codes)?;
        if let Some(before) = &self.allowed[position] {
            mask.iter_mut().zip(before).for_each(|(ok, before)| *ok &= before);
        }
        self.allowed[position] = Some(mask);
        Ok(self)
    }
}
