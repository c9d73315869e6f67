//! Compares the change of exact aggregates between two databases with the plan's claim.
//!
//! It takes only the scale and the price from the mechanisms: vectors, scores and norms are computed again from the
//! exact groups.

use crate::aggregate::Quote;
use crate::aggregate::{
    Block, Chooser, Counted, Decision, Deviation, DistinctBlock, DistinctSum, Extreme, Method,
    Mode, NormBlock, NumbersBlock, Ordered, Source,
};
use crate::aggregate::{Keys, PrivateAggregate, Selection, Weights};
use crate::bound::{Exact, ExactArgument, ExactGroup, Form, WeighedArgument};
use crate::rows::domain::normal;
use datafusion::common::ScalarValue;
use demure_core::event::Event;
use demure_core::mechanism::{
    Bounds, Change, Contribution, Family, Groups, Guarantee, KeyWeights, Statistics,
};
use demure_core::unit::Neighbours;
use std::any::Any;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

/// Floats are off by less than this.
const ROUNDING: f64 = 1.0 + 1e-9;

/// The groups of one key in both databases.
type Pair<'a> = (Option<&'a ExactGroup>, Option<&'a ExactGroup>);

/// The claim that a comparison checks.
pub(super) struct Claim<'a> {
    pub(super) aggregate: &'a PrivateAggregate,
    pub(super) quote: &'a Quote,
    pub(super) neighbours: Neighbours,
}

/// Every claim that does not hold, and the largest used fraction of a claim.
#[derive(Default)]
pub(super) struct ClaimCheck {
    pub(super) broken: Vec<String>,
    pub(super) most: f64,
}

impl ClaimCheck {
    /// Checks that `truth` is at most `claimed`.
    fn compare(&mut self, what: &str, truth: f64, claimed: f64) {
        if truth > claimed * ROUNDING || truth.is_nan() {
            self.broken.push(format!("{what}: claimed {claimed}, true {truth}"));
        }
        self.most = self.most.max(truth / claimed);
    }
}

impl Claim<'_> {
    pub(super) fn check(&self, left: &Exact, right: &Exact) -> ClaimCheck {
        let mut found = ClaimCheck::default();
        let Some(learning) = &self.quote.learning else {
            self.compare_all((left, right), &self.quote.blocks, None, &mut found);
            return found;
        };
        self.sizes(left, right, &mut found);
        // Whatever bound is learnt, the blocks that are released at it must be worth their price.
        for rung in [0, 1, 2, 3, 5, 8, 30] {
            let weights = learning.weights_at(Counted::Rows, rung);
            let all = self.quote.weights_at(rung).expect("weights");
            let blocks = self.quote.at(self.aggregate, &all).expect("blocks at a bound");
            let (left, right) = (weighed(left, &weights), weighed(right, &weights));
            self.compare_all((&left, &right), &blocks, Some(&weights), &mut found);
        }
        found
    }

    /// A person is on one rung of each histogram of sizes.
    fn sizes(&self, left: &Exact, right: &Exact, found: &mut ClaimCheck) {
        let (left, right) = (left.sizes.as_ref().unwrap(), right.sizes.as_ref().unwrap());
        let moved =
            |l: &[u64], r: &[u64]| -> u64 { l.iter().zip(r).map(|(l, r)| l.abs_diff(*r)).sum() };
        let most = if self.neighbours == Neighbours::Replace { 2.0 } else { 1.0 };
        found.compare("sizes of rows", moved(&left.rows, &right.rows) as f64, most);
        found.compare("sizes of groups", moved(&left.groups, &right.groups) as f64, most);
        for (l, r) in left.different.iter().zip(&right.different) {
            found.compare("sizes of different values", moved(l, r) as f64, most);
        }
        for (l, r) in left.norms.iter().zip(&right.norms) {
            found.compare("sizes of sums", moved(l, r) as f64, most);
        }
    }

    fn compare_all(
        &self,
        (left, right): (&Exact, &Exact),
        blocks: &[Box<dyn Block>],
        weights: Option<&Weights>,
        found: &mut ClaimCheck,
    ) {
        let pairs = self.pairs(left, right);
        if matches!(self.aggregate.keys, Keys::One) && left.groups.len().max(right.groups.len()) > 1
        {
            found.broken.push("several groups where one was promised".to_owned());
        }
        self.keys(&pairs, found);
        let prices = match &self.quote.event {
            Event::Compose(events) => events.clone(),
            event => vec![event.clone()],
        };
        // The blocks come last.
        let skipped = prices.len() - blocks.len();
        let forms = self.quote.forms();
        for (block, price) in blocks.iter().zip(prices.into_iter().skip(skipped)) {
            self.block((&**block, weights), &price, &forms, &pairs, found);
        }
    }

    /// The groups that are released, matched by key.
    fn pairs<'a>(&self, left: &'a Exact, right: &'a Exact) -> Vec<Pair<'a>> {
        let by_key = |exact: &'a Exact| -> HashMap<Vec<ScalarValue>, &'a ExactGroup> {
            let key = |g: &ExactGroup| g.key.iter().cloned().map(normal).collect();
            exact.groups.iter().map(|g| (key(g), g)).collect()
        };
        let (l, r) = (by_key(left), by_key(right));
        let keys: Vec<Vec<ScalarValue>> = match &self.aggregate.keys {
            Keys::Public(keys) => keys.clone(),
            _ => l.keys().chain(r.keys()).cloned().collect::<HashSet<_>>().into_iter().collect(),
        };
        keys.iter().map(|key| (l.get(key).copied(), r.get(key).copied())).collect()
    }

    /// Adding or removing one person changes the number of people of a key by 1, for as many keys as were paid for.
    fn keys(&self, pairs: &[Pair<'_>], found: &mut ClaimCheck) {
        let selection = match &self.quote.selection {
            None => return,
            Some(Selection::Counted(selection)) => selection,
            Some(Selection::Weighted(_)) => {
                let weight = |g: Option<&ExactGroup>| {
                    g.and_then(|g| g.weighed.as_ref()).map_or(0, |g| g.key)
                };
                let moved = pairs.iter().map(|(l, r)| weight(*l).abs_diff(weight(*r)));
                let sides = if self.neighbours == Neighbours::Replace { 2 } else { 1 };
                let most = sides * KeyWeights::weight(1);
                found.compare("weight of keys", moved.sum::<u64>() as f64, most as f64);
                return;
            }
        };
        let people = |g: Option<&ExactGroup>| g.map_or(0, |g| g.people);
        let moved = pairs.iter().map(|(l, r)| people(*l).abs_diff(people(*r)));
        let moved: Vec<u64> = moved.filter(|&n| n > 0).collect();
        found.compare("people of one key", moved.iter().max().copied().unwrap_or(0) as f64, 1.0);
        found.compare("keys that changed", moved.len() as f64, selection.sensitivity());
    }

    /// A stable release: how many groups change, and by how much a gap in one of them changes.
    fn stable(
        &self,
        mode: &Mode,
        price: &Event,
        argument: impl Fn(Option<&ExactGroup>) -> Option<ExactArgument>,
        pairs: &[Pair<'_>],
        found: &mut ClaimCheck,
    ) {
        let (epsilon, delta, step) = mode.stable().expect("drawn or stable");
        let mut touched = 0.0;
        for (l, r) in pairs {
            let (l, r) = (codes(argument(*l).as_ref()), codes(argument(*r).as_ref()));
            let values: HashSet<&ScalarValue> = l.keys().chain(r.keys()).collect();
            let of = |n: &HashMap<ScalarValue, i128>, v| n.get(v).copied().unwrap_or(0);
            let moved = values.into_iter().map(|v| of(&r, v) - of(&l, v));
            let (rise, fall) = rise_and_fall(moved);
            found.compare("the gap of two values", (rise + fall) as f64, step);
            touched += f64::from(u8::from(rise + fall > 0));
        }
        let Event::Approximate { epsilon: sold, delta: failing } = price else {
            panic!("sold for something else: {price:?}")
        };
        found.compare("ε of stable releases", touched * epsilon.get(), sold.get());
        found.compare("δ of stable releases", touched * delta.get(), failing.get());
    }

    fn block(
        &self,
        (block, weights): (&dyn Block, Option<&Weights>),
        price: &Event,
        forms: &[(usize, Form)],
        pairs: &[Pair<'_>],
        found: &mut ClaimCheck,
    ) {
        let argument = |group: Option<&ExactGroup>, value: usize, code: bool| {
            let same = |(v, form): &(usize, Form)| {
                *v == value
                    && matches!(form, Form::Steps { .. }) != code
                    && matches!(form, Form::Code) == code
            };
            let place = forms.iter().position(same).expect("the block's argument");
            group.map(|group| group.arguments[place].clone())
        };
        let most = self.aggregate.most(weights);
        let (g, m) = (f64::from(most.groups), f64::from(most.rows));
        let sides = if self.neighbours == Neighbours::Replace { 2.0 } else { 1.0 };
        let numbers = |what: &str,
                       groups: &Groups,
                       unit: f64,
                       vector: &dyn Fn(Option<&ExactGroup>) -> Vec<i128>,
                       found: &mut ClaimCheck| {
            let (mut l1, mut l2) = (0u128, 0u128);
            for (l, r) in pairs {
                for (x, y) in vector(*l).into_iter().zip(vector(*r)) {
                    l1 += (x - y).unsigned_abs();
                    l2 += (x - y).unsigned_abs().pow(2);
                }
            }
            let noise = groups.calibration();
            let (norm, truth) = match noise.family {
                Family::Laplace => ("L1", l1 as f64),
                Family::Gaussian => ("L2", (l2 as f64).sqrt()),
            };
            let claimed = noise.sensitivity / unit * most.per_row;
            found.compare(&format!("{norm} of {what}"), truth, claimed);
        };
        let block: &dyn Any = block;
        if let Some(NumbersBlock { source, groups, .. }) = block.downcast_ref() {
            let unit = match *source {
                Source::Values { value, wanted, .. } => {
                    let spacing = self.bounds(value).grid().spacing();
                    match wanted {
                        Statistics::Count => 1.0,
                        Statistics::Sum | Statistics::Mean => spacing,
                        Statistics::Variance => spacing * spacing,
                    }
                }
                _ => 1.0,
            };
            let vector = |group: Option<&ExactGroup>| self.vector(*source, group, forms);
            numbers(&format!("{source:?}"), groups, unit, &vector, found);
        } else if let Some(NormBlock { plan, bounds, groups, weights, .. }) = block.downcast_ref() {
            // Whole steps of the scale, in each group: those of all people, of either sign.
            let form = (plan.value, Form::Norm(plan.norms));
            let place = forms.iter().position(|known| *known == form).expect("an argument");
            let (scale, at) = (plan.norms.scale(weights.rung), weights.at);
            let sums = |group: Option<&ExactGroup>| -> i128 {
                let of = group.and_then(|g| g.weighed.as_ref()).map(|g| &g.arguments[place]);
                let of = of.and_then(|of| of.sums.get(scale));
                let total = |i: usize| of.map_or(0, |of| at.total(&of[i]) as i128);
                total(0) - total(1)
            };
            let moved: Vec<f64> =
                pairs.iter().map(|(l, r)| (sums(*l) - sums(*r)).unsigned_abs() as f64).collect();
            let noise = groups.calibration();
            let truth = match noise.family {
                Family::Laplace => moved.iter().sum::<f64>(),
                Family::Gaussian => moved.iter().map(|x| x * x).sum::<f64>().sqrt(),
            };
            let claimed = noise.sensitivity / bounds.upper() * at.per_row() as f64;
            found.compare(&format!("sums of {} at {}", plan.value, at.bound()), truth, claimed);
        } else if let Some(DistinctBlock { value, groups, .. }) = block.downcast_ref() {
            let different = |group: Option<&ExactGroup>| {
                if let Some(weights) = weights {
                    let same = |form: &(usize, Form)| *form == (*value, Form::Code);
                    let place = forms.iter().position(same).expect("the block's argument");
                    let weighed = group.and_then(|group| group.weighed.as_ref());
                    let of = weighed.map(|group| &group.arguments[place].different);
                    let within = of.into_iter().flat_map(|of| of.range(..=weights.rung));
                    return vec![within.map(|(_, n)| i128::from(*n)).sum()];
                }
                let found = codes(argument(group, *value, true).as_ref());
                vec![found.keys().filter(|value| !value.is_null()).count() as i128]
            };
            // Counted as they are, whatever a row counts.
            let unit = most.per_row;
            numbers(&format!("different values of {value}"), groups, unit, &different, found);
        } else if let Some(DistinctSum { value, bounds, groups, wanted, .. }) = block.downcast_ref()
        {
            let spacing = bounds.grid().spacing();
            let steps = |x: f64| (x / spacing).round() as i128;
            let (low, high) = (steps(bounds.lower()), steps(bounds.upper()));
            let parts = |group: Option<&ExactGroup>| {
                let found = codes(argument(group, *value, true).as_ref());
                let numbers: Vec<i128> = found
                    .keys()
                    .filter_map(|value| match value {
                        ScalarValue::Float64(Some(x)) if x.is_nan() => Some(0.0),
                        ScalarValue::Float64(x) => *x,
                        other => panic!("not a number: {other:?}"),
                    })
                    .map(|x| steps(x.clamp(bounds.lower(), bounds.upper())).clamp(low, high))
                    .collect();
                match wanted {
                    Statistics::Sum => vec![numbers.iter().sum()],
                    _ => {
                        let up = numbers.iter().map(|x| x - low).sum();
                        vec![up, numbers.iter().map(|x| high - x).sum()]
                    }
                }
            };
            numbers(&format!("sums of distinct values of {value}"), groups, spacing, &parts, found);
        } else if let Some(decision) = block.downcast_ref::<Decision>() {
            self.block((&*decision.count, weights), price, forms, pairs, found);
        } else if let Some(ordered) = block.downcast_ref::<Ordered>() {
            let value = ordered.value;
            let both = |(l, r): &Pair<'_>| {
                let (l, r) = (argument(*l, value, false), argument(*r, value, false));
                (histogram(l.as_ref()), histogram(r.as_ref()))
            };
            // The value has half of the price, and each end of its interval a quarter.
            let (price, quarter) = (&halved(price), halved(&halved(price)));
            for (up, end) in ordered.ends.drawn() {
                for centre in 0..=8u32 {
                    let far = |h: BTreeMap<u32, u64>| {
                        let mut out: BTreeMap<u32, u64> =
                            BTreeMap::from([(ordered.ends.cell(u64::MAX) as u32, end.made_up)]);
                        for (step, n) in h {
                            let distance = match up {
                                true => step.saturating_sub(centre),
                                false => centre.saturating_sub(step),
                            };
                            *out.entry(ordered.ends.cell(distance.into()) as u32).or_default() += n;
                        }
                        out
                    };
                    let ranges = pairs.iter().map(|pair| {
                        let (l, r) = both(pair);
                        rank_range(end.rank, &far(l), &far(r)) / end.quantile.scale()
                    });
                    paid(&format!("an end of value {value}"), ranges, &quarter, found);
                }
            }
            match ordered.method() {
                Method::Ranks(quantile) => {
                    let (scale, rank) = (quantile.scale(), ordered.rank);
                    let range = pairs.iter().map(|pair| {
                        let (l, r) = both(pair);
                        rank_range(rank, &l, &r) / scale
                    });
                    paid(&format!("ranks of value {value}"), range, price, found);
                }
                Method::Smooth(noise) => {
                    // Values replaced one after the other: as many as were added or removed.
                    let replaced = |pair| {
                        let (l, r) = both(pair);
                        let steps: BTreeSet<u32> = l.keys().chain(r.keys()).copied().collect();
                        let of = |h: &BTreeMap<u32, u64>, s| h.get(s).copied().unwrap_or(0);
                        let came = steps.iter().map(|s| of(&r, s).saturating_sub(of(&l, s)));
                        let went = steps.iter().map(|s| of(&l, s).saturating_sub(of(&r, s)));
                        came.sum::<u64>().max(went.sum::<u64>()) as f64
                    };
                    let (cost, claimed) = match (noise.guarantee(), price) {
                        (Guarantee::Pure(one), Event::Pure { epsilon }) => {
                            let each = pairs.iter().map(replaced);
                            (each.sum::<f64>() * one.get(), epsilon.get())
                        }
                        (Guarantee::Concentrated(one), Event::Concentrated { rho }) => {
                            let each = pairs.iter().map(|pair| replaced(pair).powi(2));
                            (each.sum::<f64>() * one.get(), rho.get())
                        }
                        other => panic!("sold for something else: {other:?}"),
                    };
                    found.compare(&format!("replaced of value {value}"), cost, claimed);
                }
            }
        } else if let Some(deviation) = block.downcast_ref::<Deviation>() {
            // At any centre that may be released, the two medians with their intervals cost half each.
            let half = halved(price);
            self.block((&deviation.centre, weights), &half, forms, pairs, found);
            let Method::Ranks(quantile) = deviation.distance.method() else {
                // The distances of replaced values are replaced.
                let distance = (&deviation.distance as &dyn Block, weights);
                return self.block(distance, &half, forms, pairs, found);
            };
            let value = deviation.distance.value;
            for centre in 0..=8 {
                let ranges = pairs.iter().map(|(l, r)| {
                    let of = |group: Option<&ExactGroup>| {
                        let steps = histogram(argument(group, value, false).as_ref());
                        let mut moved: BTreeMap<u32, u64> = BTreeMap::new();
                        steps
                            .iter()
                            .for_each(|(s, n)| *moved.entry(s.abs_diff(centre)).or_default() += n);
                        moved
                    };
                    rank_range(0.5, &of(*l), &of(*r)) / quantile.scale()
                });
                paid("ranks of distances", ranges, &halved(&half), found);
            }
        } else if let Some(mode) = block.downcast_ref::<Mode>() {
            let value = &mode.value;
            let Some(chooser) = mode.chooser() else {
                return self.stable(
                    mode,
                    price,
                    |group| argument(group, *value, true),
                    pairs,
                    found,
                );
            };
            let change = match self.neighbours {
                Neighbours::AddRemove => Change::Monotone,
                Neighbours::Replace => Change::General,
            };
            let scale = match chooser {
                Chooser::PermuteAndFlip(chooser) => chooser.scale(change),
                Chooser::Exponential(chooser) => chooser.scale(change),
            };
            let candidates = self.aggregate.values[*value].facts.values.clone().unwrap();
            let mut ranges = Vec::new();
            for (l, r) in pairs {
                let (l, r) = (argument(*l, *value, true), argument(*r, *value, true));
                let (l, r) = (codes(l.as_ref()), codes(r.as_ref()));
                let of = |c: &ScalarValue, n: &HashMap<ScalarValue, i128>| {
                    n.get(&normal(c.clone())).copied().unwrap_or(0)
                };
                let moved = candidates.iter().map(|c| of(c, &r) - of(c, &l));
                let (rise, fall) = rise_and_fall(moved);
                if change == Change::Monotone && rise > 0 && fall > 0 {
                    found.broken.push("votes rise and fall".to_owned());
                }
                ranges.push((rise + fall) as f64 / scale);
            }
            paid(&format!("votes for value {value}"), ranges.into_iter(), price, found);
        } else if let Some(extreme) = block.downcast_ref::<Extreme>() {
            let (mut one, mut two) = (0.0, 0.0);
            for (l, r) in pairs {
                let (l, r) =
                    (argument(*l, extreme.value, false), argument(*r, extreme.value, false));
                let (l, r) = (histogram(l.as_ref()), histogram(r.as_ref()));
                let steps: BTreeSet<u32> = l.keys().chain(r.keys()).copied().collect();
                let reach = |h: &BTreeMap<u32, u64>, step: u32| -> i128 {
                    let within = |s: &u32| if extreme.largest { *s >= step } else { *s <= step };
                    h.iter().filter(|(s, _)| within(s)).map(|(_, n)| i128::from(*n)).sum()
                };
                let moved = steps.iter().map(|&step| reach(&r, step) - reach(&l, step));
                let (rise, fall) = rise_and_fall(moved);
                if sides == 1.0 && rise > 0 && fall > 0 {
                    found.broken.push("counts rise and fall".to_owned());
                }
                one += (rise + fall) as f64;
                two += ((rise + fall) as f64).powi(2);
            }
            found.compare("counts of an extreme", one, sides * g * m);
            found.compare("squared counts of an extreme", two, sides * sides * g * m * m);
        } else {
            panic!("a family without a check of its sensitivity");
        }
    }

    fn bounds(&self, value: usize) -> Bounds {
        self.aggregate.values[value].bounds.expect("a number has bounds")
    }

    /// The vector that noise is added to, for one group: see the table of [`demure_core::mechanism::Groups`].
    fn vector(
        &self,
        source: Source,
        group: Option<&ExactGroup>,
        forms: &[(usize, Form)],
    ) -> Vec<i128> {
        let place = |value: usize, wanted: fn(&Form) -> bool| {
            forms.iter().position(|(v, form)| *v == value && wanted(form)).expect("an argument")
        };
        let rows = group.map_or(0, |g| i128::from(g.rows));
        match source {
            Source::Rows => vec![rows],
            Source::Norm(_) => panic!("a block of its own"),
            Source::People => vec![group.map_or(0, |g| i128::from(g.people))],
            Source::Present(value) | Source::PresentAndRows(value) => {
                let place = place(value, |f| matches!(f, Form::Present));
                let present = group.map_or(0, |g| match g.arguments[place] {
                    ExactArgument::Present(n) => i128::from(n),
                    // Weighed: it is not known of which form.
                    ExactArgument::Steps { rows, .. } => i128::from(rows),
                    _ => panic!("another form"),
                });
                match source {
                    Source::Present(_) => vec![present],
                    _ => vec![present, rows - present],
                }
            }
            Source::Values { value, wanted, nulls } => {
                let place = place(value, |f| matches!(f, Form::Steps { .. }));
                let (n, sum, squares) = group.map_or((0, 0, 0), |g| match g.arguments[place] {
                    ExactArgument::Steps { rows, sum, squares, .. } => {
                        (i128::from(rows), sum, squares)
                    }
                    _ => panic!("another form"),
                });
                let bounds = self.bounds(value);
                let spacing = bounds.grid().spacing();
                let low = (bounds.lower() / spacing).round() as i128;
                let w = (bounds.upper() / spacing).round() as i128 - low;
                let (mut parts, size) = match wanted {
                    Statistics::Count => (vec![n], 1),
                    Statistics::Sum => (vec![sum + n * low], 0),
                    Statistics::Mean => (vec![sum, n * w - sum], w),
                    Statistics::Variance => (
                        vec![n * w * w - 2 * w * sum + squares, 2 * (w * sum - squares), squares],
                        w * w,
                    ),
                };
                if nulls {
                    parts.push((rows - n) * size);
                }
                parts
            }
        }
    }
}

/// Exact aggregates at a bound, in steps: as if each were a row.
fn weighed(exact: &Exact, weights: &Weights) -> Exact {
    let total = |of: &Contribution| weights.at.total(of);
    let count = |of: &Contribution| u64::try_from(total(of)).unwrap();
    let argument = |of: &WeighedArgument| match of.codes.is_empty() {
        false => {
            let codes = of.codes.iter();
            ExactArgument::Code(
                codes.map(|(v, code)| (v.clone(), count(&of.values[code]))).collect(),
            )
        }
        true => ExactArgument::Steps {
            rows: count(&of.present),
            sum: total(&of.sum) as i128,
            squares: total(&of.squares) as i128,
            histogram: Some(of.values.iter().map(|(step, of)| (*step, count(of))).collect()),
        },
    };
    let group = |group: &ExactGroup| {
        let of = group.weighed.as_ref().unwrap();
        ExactGroup {
            key: group.key.clone(),
            rows: count(&of.rows),
            people: count(&of.people),
            arguments: of.arguments.iter().map(argument).collect(),
            weighed: Some(of.clone()),
        }
    };
    Exact { groups: exact.groups.iter().map(group).collect(), sizes: None }
}

/// Choices whose log-odds differ by at most these: their sum is an ε, and an eighth of the sum of their squares is a
/// ρ.
fn paid(what: &str, ranges: impl Iterator<Item = f64>, price: &Event, found: &mut ClaimCheck) {
    let (one, two) = ranges.fold((0.0, 0.0), |(one, two), x| (one + x, two + x * x / 8.0));
    match price {
        Event::Pure { epsilon } => found.compare(&format!("ε of {what}"), one, epsilon.get()),
        Event::Concentrated { rho } => found.compare(&format!("ρ of {what}"), two, rho.get()),
        other => panic!("a block sold as {other}"),
    }
}

/// Half of a price.
fn halved(price: &Event) -> Event {
    match price {
        Event::Pure { epsilon } => Event::pure(epsilon.get() * 0.5).unwrap(),
        Event::Concentrated { rho } => Event::concentrated(rho.get() * 0.5).unwrap(),
        other => panic!("a block sold as {other}"),
    }
}

fn rise_and_fall(moved: impl Iterator<Item = i128>) -> (i128, i128) {
    moved.fold((0, 0), |(rise, fall), x| (rise.max(x), fall.max(-x)))
}

fn histogram(of: Option<&ExactArgument>) -> BTreeMap<u32, u64> {
    match of {
        Some(ExactArgument::Steps { histogram: Some(histogram), .. }) => histogram.clone(),
        None => BTreeMap::new(),
        Some(_) => panic!("no histogram"),
    }
}

fn codes(of: Option<&ExactArgument>) -> HashMap<ScalarValue, i128> {
    match of {
        Some(ExactArgument::Code(values)) => {
            let mut all = HashMap::new();
            for (value, n) in values {
                *all.entry(normal(value.clone())).or_default() += i128::from(*n);
            }
            all
        }
        None => HashMap::new(),
        // Weighed: no values at all.
        Some(ExactArgument::Steps { histogram: Some(none), .. }) if none.is_empty() => {
            HashMap::new()
        }
        Some(_) => panic!("no codes"),
    }
}

/// The largest minus the smallest change of the rank error over all points of the grid.
fn rank_range(q: f64, left: &BTreeMap<u32, u64>, right: &BTreeMap<u32, u64>) -> f64 {
    let error = |h: &BTreeMap<u32, u64>, o: i64| {
        let below: u64 = h.iter().filter(|(s, _)| i64::from(**s) < o).map(|(_, n)| n).sum();
        let up_to: u64 = h.iter().filter(|(s, _)| i64::from(**s) <= o).map(|(_, n)| n).sum();
        let wanted = q * h.values().sum::<u64>() as f64;
        (below as f64 - wanted).max(wanted - up_to as f64).max(0.0)
    };
    // All points between two values have the same error; those beyond the ends have the error just outside.
    let at = left.keys().chain(right.keys()).map(|s| i64::from(*s));
    let points: BTreeSet<i64> = at.flat_map(|s| [s - 1, s, s + 1]).collect();
    let moved = points.iter().map(|&o| error(right, o) - error(left, o));
    let (low, high) =
        moved.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), x| (low.min(x), high.max(x)));
    if points.is_empty() { 0.0 } else { high - low }
}
