//! A first good node for lattices too large to be searched through: up from
//! the finest that may do, one level at a time, always where most is gained.

use super::boxes::Shared;
use super::check::{Checker, Setting, Verdict};
use super::group::Grouping;
use super::score::{self, Tally};

/// From so many nodes on, a first good node pays for itself.
pub(super) const WORTHWHILE: f64 = 100_000.0;

impl<const W: usize> Shared<'_, W> {
    /// Climbs until no level raised improves a node within the limit.
    pub(super) fn climb(&self, checker: &mut Checker<'_, W>, finest: &Grouping<W>) {
        let Setting { problem, lattice, combinations, .. } = self.setting;
        let none = Tally { growth: vec![0; lattice.axes.len()], classes: 1, ..Tally::default() };
        let cost = |node: &[u8]| score::score(problem.metric, lattice, node, &none);
        let mut node = self.setting.lowest.clone();
        let mut here = self.check(checker, finest, &node, false);
        let mut source: Option<Grouping<W>> = None;
        loop {
            let below = source.as_ref().unwrap_or(finest);
            let mut chosen: Option<(f64, usize, Verdict)> = None;
            for axis in 0..lattice.axes.len() {
                if node[axis] == lattice.axes[axis].top {
                    continue;
                }
                if self.over() {
                    return;
                }
                let mut next = node.clone();
                next[axis] += 1;
                let there = self.check(checker, below, &next, false);
                let value = match there.score {
                    // Below all that are not within the limit.
                    Some(score) => -1.0 / (score + 1e-9) - 1e12,
                    None => {
                        let fewer = here.suppressed.saturating_sub(there.suppressed) as f64;
                        -fewer / (cost(&next) - cost(&node) + 1e-9)
                    }
                };
                if chosen.is_none_or(|best| value < best.0) {
                    chosen = Some((value, axis, there));
                }
            }
            let Some((_, axis, there)) = chosen else { return };
            let worse = match (here.score, there.score) {
                (Some(before), Some(after)) => after >= before,
                (Some(_), None) => true,
                _ => false,
            };
            if worse {
                return;
            }
            node[axis] += 1;
            here = there;
            checker.grouper.coarsen(lattice, below, &node);
            source = Some(checker.grouper.keep(below, node.clone(), combinations.as_ref()));
        }
    }
}
