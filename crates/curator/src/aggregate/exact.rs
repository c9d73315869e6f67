//! The exact groups, as blocks read them.

use super::ReleasedColumns;
use crate::bound::{ExactArgument, ExactGroup, Form};
use crate::error::Result;
use datafusion::common::ScalarValue;
use demure_core::mechanism::Bounds;
use std::collections::BTreeMap;

/// The groups that are released, in their order, and the form in which each value was kept. Protected.
pub(crate) struct ExactGroups<'a> {
    groups: Vec<Option<&'a ExactGroup>>,
    forms: &'a [(usize, Form)],
}

/// A number's exact totals in one group, in steps from its lower bound.
#[derive(Clone, Copy, Default)]
pub(super) struct Steps {
    pub(super) rows: u64,
    pub(super) sum: i128,
    pub(super) squares: i128,
}

impl<'a> ExactGroups<'a> {
    /// The groups of the keys that come back; `None` where no row has the key.
    pub(crate) fn new(groups: Vec<Option<&'a ExactGroup>>, forms: &'a [(usize, Form)]) -> Self {
        Self { groups, forms }
    }

    /// Each group, if a row has its key.
    pub(super) fn iter(&self) -> impl Iterator<Item = Option<&'a ExactGroup>> + '_ {
        self.groups.iter().copied()
    }

    fn argument(&self, group: &'a ExactGroup, wanted: &(usize, Form)) -> Option<&'a ExactArgument> {
        let same = |(value, form): &(usize, Form)| {
            *value == wanted.0 && std::mem::discriminant(form) == std::mem::discriminant(&wanted.1)
        };
        group.arguments.get(self.forms.iter().position(same)?)
    }

    /// How many rows of each group have a value.
    pub(super) fn present(&self, value: usize) -> impl Iterator<Item = u64> + '_ {
        let wanted = (value, Form::Present);
        self.iter().map(move |group| match group.and_then(|g| self.argument(g, &wanted)) {
            Some(ExactArgument::Present(rows)) => *rows,
            _ => 0,
        })
    }

    /// Each value of each group, and how many rows have it. NULL does not count as a value.
    pub(super) fn codes(
        &self,
        value: usize,
    ) -> impl Iterator<Item = &'a [(ScalarValue, u64)]> + '_ {
        let wanted = (value, Form::Code);
        self.iter().map(move |group| match group.and_then(|g| self.argument(g, &wanted)) {
            Some(ExactArgument::Code(values)) => &values[..],
            _ => &[],
        })
    }

    /// The totals of a number in each group.
    pub(super) fn steps(&self, value: usize, bounds: Bounds) -> impl Iterator<Item = Steps> + '_ {
        let wanted = (value, Form::Steps { bounds, histogram: false });
        self.iter().map(move |group| match group.and_then(|g| self.argument(g, &wanted)) {
            Some(&ExactArgument::Steps { rows, sum, squares, .. }) => Steps { rows, sum, squares },
            _ => Steps::default(),
        })
    }

    /// A number for each group, made of its histogram.
    pub(super) fn release_each(
        &self,
        value: usize,
        bounds: Bounds,
        mut release: impl FnMut(&BTreeMap<u32, u64>) -> Result<f64>,
    ) -> Result<Box<dyn ReleasedColumns>> {
        let number = |histogram| Ok(ScalarValue::Float64(Some(release(&histogram)?)));
        let made: Result<Vec<ScalarValue>> = self.histograms(value, bounds).map(number).collect();
        Ok(Box::new(made?))
    }

    /// How many values of each group are how many steps from the lower bound.
    fn histograms(
        &self,
        value: usize,
        bounds: Bounds,
    ) -> impl Iterator<Item = BTreeMap<u32, u64>> + '_ {
        let wanted = (value, Form::Steps { bounds, histogram: true });
        self.iter().map(move |group| match group.and_then(|g| self.argument(g, &wanted)) {
            Some(ExactArgument::Steps { histogram: Some(histogram), .. }) => histogram.clone(),
            _ => BTreeMap::new(),
        })
    }
}
