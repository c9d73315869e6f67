//! The specification of contribution bounding, and the schema of its output.

use datafusion::arrow::datatypes::{DataType, Field, Schema, SchemaRef};
use datafusion::common::{Result, plan_err};
use demure_core::mechanism::{Bounds, Ladder, Norms};
use std::hash::{Hash, Hasher};
use std::sync::Arc;

/// The largest number of arguments of a row.
pub const MOST_ARGUMENTS: usize = 65;

/// What to bound, by column numbers of the input's schema.
///
/// # Special values
/// Rows whose id is NULL belong to no one and are left out. NULL is a separate group key. −0 equals 0 and all NaN are
/// one value, in keys, ids and codes alike (floats inside lists and structs are compared bit by bit).
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct BoundSpec {
    /// The column that holds the person's id. `None` if the rows are bounded already (a row is the unit, or a person
    /// has one row): then all of them stay, and each is weighed by itself.
    pub unit: Option<usize>,
    /// The group keys, of any type. Without keys, everything is one group.
    pub keys: Vec<usize>,
    /// The columns that are aggregated.
    pub arguments: Vec<Argument>,
    /// The contribution bound: groups per person.
    pub max_groups: u32,
    /// The contribution bound: rows per person and group.
    pub max_rows: u32,
    /// Instead of both: weights, for a bound that is chosen later.
    pub weighing: Option<Weighing>,
}

/// How people's rows are weighed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Weighing {
    /// The bounds that can be chosen.
    pub ladder: Ladder,
    /// The most groups of a person that count at all, where keys are private: which ones is decided by chance.
    pub most_groups: Option<u64>,
    /// Whether people are counted, each once in a group.
    pub people: bool,
    /// Whether squares of values are added up, for variances.
    pub squares: bool,
}

/// A column and what is kept of its values.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Argument {
    /// The column's number in the input.
    pub column: usize,
    /// What is kept.
    pub form: Form,
}

/// What is kept of a value. NULL stays NULL in every form.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// For a `Float64`: its distance from the lower bound in grid steps.
    Steps {
        /// The public bounds.
        bounds: Bounds,
        /// Whether the count at each step is needed too, for quantiles.
        histogram: bool,
    },
    /// For any type: a number for the value; equal values have equal numbers.
    Code,
    /// For any type: only whether there is a value.
    Present,
    /// For a `Float64` without bounds: the number itself, in two words. Only where people are weighed.
    Norm(Norms),
}

impl Hash for Form {
    fn hash<H: Hasher>(&self, state: &mut H) {
        std::mem::discriminant(self).hash(state);
        if let Self::Steps { bounds, histogram } = self {
            (bounds.lower().to_bits(), bounds.upper().to_bits(), histogram).hash(state);
        }
        if let Self::Norm(norms) = self {
            norms.hash(state);
        }
    }
}

impl BoundSpec {
    /// How many words hold the arguments of a row: one for each, and after these a second one for each number without
    /// bounds, in their order.
    pub(super) fn words(&self) -> usize {
        let norm = |argument: &&Argument| matches!(argument.form, Form::Norm(_));
        self.arguments.len() + self.arguments.iter().filter(norm).count()
    }

    /// Every column that is read, in order: the id, the keys, the arguments.
    pub fn columns(&self) -> impl Iterator<Item = usize> + '_ {
        let arguments = self.arguments.iter().map(|a| a.column);
        self.unit.into_iter().chain(self.keys.iter().copied()).chain(arguments)
    }

    /// The same specification with its columns renumbered, in the order of [`Self::columns`]; `None` if the number of
    /// columns differs.
    pub(super) fn renumbered(&self, columns: &[usize]) -> Option<Self> {
        let mut new = self.clone();
        let unit = new.unit.iter_mut();
        let arguments = new.arguments.iter_mut().map(|a| &mut a.column);
        let slots: Vec<&mut usize> = unit.chain(new.keys.iter_mut()).chain(arguments).collect();
        if slots.len() != columns.len() {
            return None;
        }
        slots.into_iter().zip(columns).for_each(|(slot, &column)| *slot = column);
        Some(new)
    }

    /// Refuses a specification that does not fit the input's schema.
    pub(super) fn check(&self, input: &Schema) -> Result<()> {
        if self.max_groups == 0 || self.max_rows == 0 {
            return plan_err!("max_groups and max_rows must be at least 1");
        }
        if self.words() > MOST_ARGUMENTS {
            return plan_err!("a query can have at most {MOST_ARGUMENTS} aggregated columns");
        }
        if self.columns().any(|column| column >= input.fields().len()) {
            return plan_err!("a column of the contribution bounds is not in the input");
        }
        for argument in &self.arguments {
            let kind = input.field(argument.column).data_type();
            if matches!(argument.form, Form::Steps { .. } | Form::Norm(_))
                && *kind != DataType::Float64
            {
                return plan_err!("only a Float64 can be put on a grid: add a CAST");
            }
            if matches!(argument.form, Form::Norm(_)) && self.weighing.is_none() {
                return plan_err!("a sum without bounds needs weights");
            }
        }
        Ok(())
    }

    /// The output schema: `group`, `first`, then one number per argument; or totals for every bound. It
    /// has no id.
    #[must_use]
    pub fn output(&self) -> SchemaRef {
        if self.weighing.is_some() {
            return super::weigh::schema();
        }
        let mut fields = vec![
            Field::new("group", DataType::UInt32, false),
            Field::new("first", DataType::Boolean, false),
        ];
        let argument = |i| Field::new(format!("argument_{i}"), DataType::UInt32, true);
        fields.extend((0..self.arguments.len()).map(argument));
        Arc::new(Schema::new(fields))
    }
}
