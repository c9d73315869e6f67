//! The exact groups, as blocks read them.

use super::ReleasedColumns;
use crate::bound::{ExactArgument, ExactGroup, Form};
use crate::error::Result;
use datafusion::common::ScalarValue;
use demure_core::mechanism::Bounds;
use std::collections::BTreeMap;

/// The released groups in order, and the form in which each value was kept. Protected.
pub(crate) struct ExactGroups<'a> {
    groups: Vec<Option<&'a ExactGroup>>,
    forms: &'a [(usize, Form)],
}

/// The exact totals of a number in one group, in steps from its lower bound.
#[derive(Clone, Copy, Default)]
pub(super) struct Steps {
    pub(super) rows: u64,
    pub(super) sum: i128,
    pub(super) squares: i128,
}

impl<'a> ExactGroups<'a> {
    /// The groups of the released keys; `None` where no row has the key.
    pub(crate) fn new(groups: Vec<Option<&'a ExactGroup>>, forms: &'a [(usize, Form)]) -> Self {
        Self { groups, forms }
    }

    /// Each group; `None` where no row has its key.
    pub(super) fn iter(&self) -> impl Iterator<Item = Option<&'a ExactGroup>> + '_ {
        self.groups.iter().copied()
    }

    fn argument(&self, group: &'a ExactGroup, wanted: &(usize, Form)) -> Option<&'a ExactArgument> {
        let same = |(value, form): &(usize, Form)| {
            *value == wanted.0 && std::mem::discriminant(form) == std::mem::discriminant(&wanted.1)
        };
        group.arguments.get(self.forms.iter().position(same)?)
    }

    /// The number of rows with a non-NULL value, for each group.
    pub(super) fn present(&self, value: usize) -> impl Iterator<Item = u64> + '_ {
        let wanted = (value, Form::Present);
        self.iter().map(move |group| match group.and_then(|g| self.argument(g, &wanted)) {
            Some(ExactArgument::Present(rows)) => *rows,
            _ => 0,
        })
    }

    /// Each value of each group, with the number of rows that have it. NULL is not a value.
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

    /// A number for each group, computed from its histogram.
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

    /// The histogram of each group: how many values lie how many steps above the lower bound.
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
