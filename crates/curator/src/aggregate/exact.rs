//! The exact groups, as blocks read them.

use super::ends::{Located, LocatedValues};
use super::{ReleasedColumns, Weights};
use crate::bound::{ExactArgument, ExactGroup, Form, WeighedArgument, WeighedGroup};
use crate::error::Result;
use datafusion::common::ScalarValue;
use demure_core::mechanism::{Bounds, Contribution};
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

    /// The totals of each group for every bound; `None` where no row has its key.
    pub(super) fn weighed(&self) -> impl Iterator<Item = Option<&'a WeighedGroup>> + '_ {
        self.iter().map(|group| group.and_then(|group| group.weighed.as_ref()))
    }

    /// Those of a value in each group.
    pub(super) fn weighed_argument(
        &self,
        value: usize,
        form: Form,
    ) -> impl Iterator<Item = Option<&'a WeighedArgument>> + '_ {
        let place = self.place(&(value, form));
        self.weighed().map(move |group| group?.arguments.get(place?))
    }

    fn place(&self, wanted: &(usize, Form)) -> Option<usize> {
        let same = |(value, form): &(usize, Form)| {
            *value == wanted.0 && std::mem::discriminant(form) == std::mem::discriminant(&wanted.1)
        };
        self.forms.iter().position(same)
    }

    fn argument(&self, group: &'a ExactGroup, wanted: &(usize, Form)) -> Option<&'a ExactArgument> {
        group.arguments.get(self.place(wanted)?)
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

    /// A number with its interval for each group, computed from its histogram. The intervals hold at confidence
    /// 1 − `BETA`/`among`.
    pub(super) fn release_each(
        &self,
        value: usize,
        bounds: Bounds,
        weights: Option<&Weights>,
        among: u32,
        mut release: impl FnMut(&BTreeMap<u32, u64>) -> Result<Located>,
    ) -> Result<Box<dyn ReleasedColumns>> {
        let number = |histogram| release(&histogram);
        let values: Result<Vec<Located>> = match weights {
            Some(weights) => {
                let form = Form::Steps { bounds, histogram: true };
                self.weighted(value, form, weights).map(number).collect()
            }
            None => self.histograms(value, bounds).map(number).collect(),
        };
        Ok(Box::new(LocatedValues { values: values?, among }))
    }

    /// The weight of each value's rows in each group, in steps.
    fn weighted(
        &self,
        value: usize,
        form: Form,
        weights: &Weights,
    ) -> impl Iterator<Item = BTreeMap<u32, u64>> + '_ {
        let at = weights.at;
        let total = move |of: &Contribution| u64::try_from(at.total(of)).unwrap_or(u64::MAX);
        self.weighed_argument(value, form).map(move |argument| {
            let values = argument.into_iter().flat_map(|argument| &argument.values);
            values.map(|(number, of)| (*number, total(of))).collect()
        })
    }

    /// The same of values of any kind, with the values themselves.
    pub(super) fn weighted_codes(
        &self,
        value: usize,
        weights: &Weights,
    ) -> impl Iterator<Item = Vec<(ScalarValue, u64)>> + '_ {
        let counts = self.weighted(value, Form::Code, weights);
        counts.zip(self.weighed_argument(value, Form::Code)).map(|(counts, argument)| {
            let codes = argument.into_iter().flat_map(|argument| &argument.codes);
            let count = |code: &u32| counts.get(code).copied().unwrap_or(0);
            codes.map(|(value, code)| (value.clone(), count(code))).collect()
        })
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
