//! Checks one node: which classes fail, how many rows that suppresses, the score.

use super::group::{Combinations, Grouper, Grouping};
use super::lattice::{Lattice, Node};
use super::problem::Problem;
use super::score::{self, Tally};
use crate::class::Class;
use crate::model::Model;
use crate::partition::Stop;
use std::collections::HashMap;

/// What is the same for every node.
pub(super) struct Setting<'p> {
    pub(super) problem: &'p Problem<'p>,
    pub(super) lattice: Lattice,
    /// The whole table as one class.
    pub(super) whole: Class,
    /// If a model reads sensitive values.
    pub(super) combinations: Option<Combinations>,
    /// No smaller class stays.
    pub(super) least: u64,
    /// How many rows may be suppressed.
    pub(super) limit: u64,
    /// No node that is finer anywhere is within the limit.
    pub(super) lowest: Node,
    /// When to stop.
    pub(super) stop: Stop<'p>,
}

/// The verdict on a node.
#[derive(Clone, Copy, Debug)]
pub(super) struct Verdict {
    /// So many rows at least are suppressed at every finer node of the box, too.
    pub(super) floor: u64,
    /// Rows suppressed. Where `score` is `None`, a lower bound, or `u64::MAX` if
    /// they were not counted.
    pub(super) suppressed: u64,
    /// The score, if the node is within the limit.
    pub(super) score: Option<f64>,
}

/// Checks nodes, and keeps its working memory between calls.
pub(super) struct Checker<'s, const W: usize> {
    pub(super) setting: &'s Setting<'s>,
    pub(super) grouper: Grouper<W>,
    /// Which classes of the node are suppressed.
    pub(super) lost: Vec<bool>,
    tally: Tally,
    /// A class under construction.
    class: Class,
    /// Regroups ancestors, for models that ask for them.
    above: Grouper<W>,
    /// Whether the search was stopped before all ancestors of the last node were asked: classes
    /// may be taken for lost that are not.
    pub(super) cut: bool,
    /// When to stop asking.
    pub(super) stop: Stop<'s>,
}

impl<'s, const W: usize> Checker<'s, W> {
    pub(super) fn new(setting: &'s Setting<'s>) -> Self {
        let class = match &setting.combinations {
            Some(combinations) => combinations.empty(),
            None => Class { size: 0, sensitive: Vec::new() },
        };
        let (grouper, above) = (Grouper::default(), Grouper::default());
        Self {
            setting,
            grouper,
            lost: Vec::new(),
            tally: Tally::default(),
            class,
            above,
            cut: false,
            stop: setting.stop,
        }
    }

    /// Groups the node from a finer one and checks it; `early` stops as soon as
    /// the node cannot be within the limit.
    pub(super) fn check(&mut self, source: &Grouping<W>, node: &[u8], early: bool) -> Verdict {
        let Setting { problem, lattice, least, limit, .. } = self.setting;
        // Each class that stays has `least` rows, each other costs one of `limit`.
        let most = (lattice.rows - limit) / least + limit;
        // A population has classes that cost nothing.
        let counted = early && problem.population.is_none();
        let most = if counted { usize::try_from(most).unwrap_or(usize::MAX) } else { usize::MAX };
        self.cut = false;
        if !self.grouper.coarsen_within(lattice, source, node, most) {
            return Verdict { floor: limit + 1, suppressed: u64::MAX, score: None };
        }
        self.lost.clear();
        self.lost.extend(self.grouper.sizes.iter().map(|&size| u64::from(size) < *least));
        let small = self
            .grouper
            .sizes
            .iter()
            .map(|&size| u64::from(size))
            .filter(|size| size < least)
            .sum();
        let mut floor: u64 = small;
        if early && floor > *limit {
            return Verdict { floor, suppressed: floor, score: None };
        }
        floor += self.check_models(source, node);
        if let Some(star) = lattice.all_star(node)
            && let Some(class) = self.grouper.keys.iter().position(|key| *key == star)
        {
            self.lost[class] = true;
        }
        let mut tally = std::mem::take(&mut self.tally);
        score::of_node(
            problem.metric,
            lattice,
            node,
            &self.grouper,
            |class| self.lost[class],
            &mut tally,
        );
        let suppressed = tally.suppressed;
        let within = !self.cut && suppressed <= *limit && self.check_release(source);
        let score = within.then(|| score::score(problem.metric, lattice, node, &tally));
        self.tally = tally;
        Verdict { floor, suppressed, score }
    }

    /// Marks the classes that fail; how many rows are at least suppressed at any
    /// finer node for that reason.
    ///
    /// If a class fails a monotone model, then at a finer node not all of its
    /// parts satisfy it, or their union would: a whole class of `source` is lost.
    fn check_models(&mut self, source: &Grouping<W>, node: &[u8]) -> u64 {
        let Setting { problem, whole, combinations, .. } = self.setting;
        let (by_value, by_size): (Vec<&dyn Model>, Vec<&dyn Model>) = problem
            .models
            .iter()
            .map(|model| &**model)
            .partition(|model| model.column().is_some() || model.needs_ancestors());
        let (Some(combinations), Some(cells)) = (combinations, &source.cells) else {
            for (lost, &size) in self.lost.iter_mut().zip(&self.grouper.sizes) {
                self.class.size = u64::from(size);
                *lost = *lost || by_size.iter().any(|model| !model.holds(&self.class, whole));
            }
            return 0;
        };
        let mut floor = 0;
        let mut open: Vec<(usize, usize, Class)> = Vec::new();
        self.grouper.arrange();
        for class in 0..self.grouper.keys.len() {
            if self.lost[class] {
                continue;
            }
            let range = self.grouper.start[class] as usize..self.grouper.start[class + 1] as usize;
            let parts = &self.grouper.order[range];
            let each = parts.iter().flat_map(|&part| {
                cells.start[part as usize] as usize..cells.start[part as usize + 1] as usize
            });
            self.class.size = 0;
            for cell in each.clone() {
                combinations.add(
                    &mut self.class,
                    cells.combination[cell],
                    u64::from(cells.count[cell]),
                );
            }
            let mut removed = 0;
            let mut asking = Vec::new();
            for (at, model) in by_size.iter().chain(&by_value).enumerate() {
                if model.holds(&self.class, whole) {
                    continue;
                }
                if model.needs_ancestors() {
                    asking.push(at);
                    continue;
                }
                self.lost[class] = true;
                removed = model.least_removed(&self.class, whole);
                break;
            }
            if !self.lost[class] {
                open.extend(asking.into_iter().map(|at| (class, at, self.class.clone())));
            }
            if removed > 0 {
                let whole_part =
                    parts.iter().map(|&part| u64::from(source.sizes[part as usize])).min();
                floor += removed.max(whole_part.unwrap_or(0));
            }
            for cell in each {
                combinations.clear(&mut self.class, cells.combination[cell]);
            }
        }
        if !open.is_empty() {
            let models: Vec<&dyn Model> = by_size.into_iter().chain(by_value).collect();
            self.ask_above(source, node, &models, open);
        }
        floor
    }

    /// Models that neither the class itself nor the whole table satisfies, asked with the classes
    /// that contain it at all coarser nodes; those that fail are marked.
    fn ask_above(
        &mut self,
        source: &Grouping<W>,
        node: &[u8],
        models: &[&dyn Model],
        mut open: Vec<(usize, usize, Class)>,
    ) {
        let Setting { lattice, combinations, whole, .. } = self.setting;
        let own = self.grouper.keep(source, node.into(), combinations.as_ref());
        let (Some(combinations), Some(cells)) = (combinations, &own.cells) else {
            open.iter().for_each(|(class, _, _)| self.lost[*class] = true);
            return;
        };
        let mut above: Vec<u8> = node.to_vec();
        while !open.is_empty() && next_above(&mut above, node, lattice) {
            if self.stop.over() {
                self.cut = true;
                break;
            }
            let Grouper { ids, sizes, .. } = {
                self.above.coarsen(lattice, &own, &above);
                self.above.arrange();
                &self.above
            };
            // Most coarser classes are asked for by several.
            let mut known: HashMap<u32, Class> = HashMap::new();
            open.retain(|(class, at, histogram)| {
                let id = ids[*class];
                if u64::from(sizes[id as usize]) < models[*at].least_superset() {
                    return true;
                }
                let ancestor = known.entry(id).or_insert_with(|| {
                    let mut ancestor = combinations.empty();
                    let range = self.above.start[id as usize]..self.above.start[id as usize + 1];
                    for &part in &self.above.order[range.start as usize..range.end as usize] {
                        for cell in cells.start[part as usize]..cells.start[part as usize + 1] {
                            let (combination, count) =
                                (cells.combination[cell as usize], cells.count[cell as usize]);
                            combinations.add(&mut ancestor, combination, u64::from(count));
                        }
                    }
                    ancestor
                });
                let ancestor: &Class = ancestor;
                !models[*at].holds_among(histogram, &mut std::iter::once(ancestor), whole)
            });
        }
        for (class, _, _) in open {
            self.lost[class] = true;
        }
    }

    /// Models of the release as a whole, on the classes that stay.
    fn check_release(&self, source: &Grouping<W>) -> bool {
        let models = &self.setting.problem.models;
        if models.iter().all(|model| model.per_class()) {
            return true;
        }
        let classes = self.classes(source);
        let whole = &self.setting.whole;
        models
            .iter()
            .filter(|model| !model.per_class())
            .all(|model| model.holds_all(&classes, whole))
    }

    /// The classes that stay, with their histograms if a model reads them.
    pub(super) fn classes(&self, source: &Grouping<W>) -> Vec<Class> {
        let (Some(combinations), Some(cells)) = (&self.setting.combinations, &source.cells) else {
            let stay = self.grouper.sizes.iter().zip(&self.lost).filter(|(_, lost)| !**lost);
            return stay
                .map(|(&size, _)| Class { size: u64::from(size), sensitive: Vec::new() })
                .collect();
        };
        let mut all = vec![combinations.empty(); self.grouper.keys.len()];
        for (part, &id) in self.grouper.ids.iter().enumerate() {
            for cell in cells.start[part] as usize..cells.start[part + 1] as usize {
                combinations.add(
                    &mut all[id as usize],
                    cells.combination[cell],
                    u64::from(cells.count[cell]),
                );
            }
        }
        all.into_iter()
            .zip(&self.lost)
            .filter(|(_, lost)| !**lost)
            .map(|(class, _)| class)
            .collect()
    }
}

/// Counts through the nodes above `node`, itself excluded.
fn next_above(above: &mut [u8], node: &[u8], lattice: &Lattice) -> bool {
    for ((level, &lowest), axis) in above.iter_mut().zip(node).zip(&lattice.axes) {
        if *level < axis.top {
            *level += 1;
            return true;
        }
        *level = lowest;
    }
    false
}
