//! Branch and bound over boxes of the lattice.
//!
//! A box is all nodes between `low` and `high`. Grouping `high` tells which
//! rows are suppressed at every node of the box, and with `low` that bounds
//! their scores from below ([`super::score`]). The box with the least bound is
//! split along one axis: the half that keeps `low` gets a new `high`, which is
//! grouped and checked; the half that keeps `high` gets a new `low`. A box goes
//! when its bound passes the best score found, or when more rows than allowed
//! are suppressed all over it. Every node is checked at most once, and nodes
//! are grouped from their box's `low`, not from rows.
//!
//! Only sizes are used to prune, and models that are monotone; so other models
//! cost time, never the optimum.

use super::check::{Checker, Setting, Verdict};
use super::group::Grouping;
use super::lattice::{Lattice, Node};
use super::pairs::Pairs;
use super::problem::{Metric, Options, Progress};
use super::score::{self, Tally};
use std::cmp::Ordering;
use std::collections::BinaryHeap;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// So long the calling thread searches alone: a short search is over by then, and cheaper.
const ALONE: Duration = Duration::from_millis(15);

/// A grouping and its share of the memory in use.
struct CountedGrouping<const W: usize> {
    grouping: Arc<Grouping<W>>,
    in_use: Arc<AtomicUsize>,
}

impl<const W: usize> CountedGrouping<W> {
    fn new(grouping: Grouping<W>, in_use: &Arc<AtomicUsize>) -> Arc<Self> {
        in_use.fetch_add(grouping.bytes(), Relaxed);
        Arc::new(Self { grouping: Arc::new(grouping), in_use: Arc::clone(in_use) })
    }
}

impl<const W: usize> Drop for CountedGrouping<W> {
    fn drop(&mut self) {
        self.in_use.fetch_sub(self.grouping.bytes(), Relaxed);
    }
}

/// Fewer classes than this are not worth grouping.
const FEW: usize = 256;

/// Whether a node is nowhere coarser than another.
fn finer(node: &[u8], other: &[u8]) -> bool {
    node.iter().zip(other).all(|(level, above)| level <= above)
}

/// Nodes not decided yet. `high` is checked.
struct Open<const W: usize> {
    /// No node of the box scores less.
    bound: f64,
    low: Node,
    high: Node,
    /// The classes of `low` or of a finer node.
    source: Arc<CountedGrouping<W>>,
    /// The classes of a node that may be coarser still, from which nodes just below `high` are
    /// checked.
    near: Arc<CountedGrouping<W>>,
    /// What the bound was computed from.
    tally: Tally,
}

impl<const W: usize> PartialEq for Open<W> {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}
impl<const W: usize> Eq for Open<W> {}
impl<const W: usize> PartialOrd for Open<W> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}
impl<const W: usize> Ord for Open<W> {
    /// The least bound is the greatest, for the heap.
    fn cmp(&self, other: &Self) -> Ordering {
        other.bound.total_cmp(&self.bound).then_with(|| other.low.cmp(&self.low))
    }
}

/// A node within the limit.
#[derive(Clone, Debug)]
pub(super) struct Candidate {
    pub(super) score: f64,
    pub(super) suppressed: u64,
    pub(super) node: Node,
}

impl Candidate {
    /// By score, then by rows suppressed, then by levels: the same answer
    /// whichever thread is first.
    fn better(&self, other: &Self) -> bool {
        let key =
            |c: &Self| (c.suppressed, c.node.iter().map(|&level| u64::from(level)).sum::<u64>());
        self.score
            .total_cmp(&other.score)
            .then_with(|| key(self).cmp(&key(other)))
            .then_with(|| self.node.cmp(&other.node))
            .is_lt()
    }
}

/// What a search ended with.
pub(super) struct SearchResult {
    pub(super) best: Option<Candidate>,
    /// The node nearest to the limit, with a lower bound on its suppressed rows.
    pub(super) nearest: (u64, Node),
    /// No node scores less; infinite if all are decided.
    pub(super) bound: f64,
    pub(super) checked: u64,
}

struct State<const W: usize> {
    heap: BinaryHeap<Open<W>>,
    /// The bounds of boxes threads are busy with.
    busy: Vec<Option<f64>>,
    best: Option<Candidate>,
    nearest: (u64, Node),
    /// Nodes in boxes that are open or being split.
    undecided: f64,
    stopped: bool,
    /// No node whose check was cut short scores less.
    cut: f64,
    told: Instant,
}

pub(super) struct Shared<'a, const W: usize> {
    pub(super) setting: &'a Setting<'a>,
    options: &'a Options<'a>,
    state: Mutex<State<W>>,
    change: Condvar,
    /// The best score's bits, to be read without the lock.
    best: AtomicU64,
    checked: AtomicU64,
    in_use: Arc<AtomicUsize>,
    pairs: Pairs,
    began: Instant,
}

/// Searches all of the lattice that may be within the limit, given the classes of its finest node.
pub(super) fn search<const W: usize>(
    setting: &Setting<'_>,
    options: &Options<'_>,
    threads: usize,
    finest: &Arc<Grouping<W>>,
    began: Instant,
) -> SearchResult {
    let lattice = &setting.lattice;
    let (low, high) = (setting.lowest.clone(), lattice.top());
    let in_use = Arc::new(AtomicUsize::new(0));
    let state = State {
        heap: BinaryHeap::new(),
        busy: vec![None; threads],
        best: None,
        nearest: (u64::MAX, high.clone()),
        undecided: Lattice::volume(&low, &high),
        stopped: false,
        cut: f64::INFINITY,
        told: began,
    };
    let shared = Shared {
        setting,
        options,
        state: Mutex::new(state),
        change: Condvar::new(),
        best: AtomicU64::new(f64::INFINITY.to_bits()),
        checked: AtomicU64::new(0),
        in_use,
        pairs: Pairs::new(setting, finest),
        began,
    };
    let mut checker = Checker::<W>::new(setting);
    // The finest grouping is not counted: it cannot be given up.
    let in_use = Arc::new(AtomicUsize::new(usize::MAX / 2));
    let source = Arc::new(CountedGrouping { grouping: Arc::clone(finest), in_use });
    let mut tally = Tally::default();
    let bound = shared.check_box(&mut checker, &source, &source, &low, &high, &mut tally);
    shared.lock().undecided = 0.0;
    // Infinite: even at the top more rows than allowed are in classes too small.
    if bound < f64::INFINITY {
        let climbed = Arc::clone(&source);
        let near = Arc::clone(&source);
        shared.push(Open { bound, low, high, source, near, tally });
        if Lattice::volume(&setting.lowest, &lattice.top()) > super::climb::WORTHWHILE {
            shared.climb(&mut checker, &climbed.grouping);
        }
    }
    std::thread::scope(|scope| {
        let shared = &shared;
        let help = |worker: usize| {
            scope.spawn(move || {
                std::thread::park_timeout(ALONE);
                shared.work(worker, &mut Checker::new(setting));
            })
        };
        let helpers: Vec<_> = (1..threads).map(help).collect();
        shared.work(0, &mut checker);
        helpers.iter().for_each(|helper| helper.thread().unpark());
    });
    let state = shared.lock();
    let open = state.heap.peek().map_or(f64::INFINITY, |open| open.bound);
    let bound = state.busy.iter().flatten().fold(open, |least, &bound| least.min(bound));
    let bound = bound.min(state.cut);
    SearchResult {
        best: state.best.clone(),
        nearest: state.nearest.clone(),
        bound,
        checked: shared.checked.load(Relaxed),
    }
}

impl<const W: usize> Shared<'_, W> {
    fn lock(&self) -> MutexGuard<'_, State<W>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether a bound rules a box out. Scores are rounded, so a little more is
    /// asked; boxes that tie are searched, so that the answer does not depend on
    /// which thread was first.
    fn hopeless(&self, bound: f64) -> bool {
        let best = f64::from_bits(self.best.load(Relaxed));
        bound > best + best * 1e-12 + 1e-13
    }

    pub(super) fn over(&self) -> bool {
        self.options.cancel.is_some_and(|cancel| cancel.load(Relaxed))
            || self.options.time.is_some_and(|time| self.began.elapsed() >= time)
    }

    /// Splits boxes until none is left or the search is stopped.
    fn work(&self, worker: usize, checker: &mut Checker<'_, W>) {
        let mut state = self.lock();
        loop {
            state.busy[worker] = None;
            if state.stopped || self.over() {
                state.stopped = true;
                break;
            }
            let Some(open) = state.heap.pop() else {
                if state.busy.iter().all(Option::is_none) {
                    break;
                }
                state = self.change.wait(state).unwrap_or_else(PoisonError::into_inner);
                continue;
            };
            if self.hopeless(open.bound) {
                // The least bound is hopeless, and so are all.
                state.heap.clear();
                state.undecided = 0.0;
                continue;
            }
            state.busy[worker] = Some(open.bound);
            drop(state);
            let volume = Lattice::volume(&open.low, &open.high);
            self.split(open, checker);
            state = self.lock();
            state.undecided = (state.undecided - volume).max(0.0);
            self.tell(&mut state);
        }
        drop(state);
        self.change.notify_all();
    }

    /// Calls back at most ten times a second.
    fn tell(&self, state: &mut State<W>) {
        let Some(progress) = self.options.progress else { return };
        if state.told.elapsed().as_millis() < 100 {
            return;
        }
        state.told = Instant::now();
        let lattice = &self.setting.lattice;
        let nodes = Lattice::volume(&lattice.bottom(), &lattice.top());
        progress(Progress {
            checked: self.checked.load(Relaxed),
            decided: (nodes - state.undecided).clamp(0.0, nodes),
            nodes,
            best: state.best.as_ref().map(|best| best.score),
        });
    }

    fn push(&self, open: Open<W>) {
        let volume = Lattice::volume(&open.low, &open.high);
        let mut state = self.lock();
        state.undecided += volume;
        state.heap.push(open);
        drop(state);
        self.change.notify_one();
    }

    /// Checks a node, and keeps it if it is the best so far.
    pub(super) fn check(
        &self,
        checker: &mut Checker<'_, W>,
        source: &Grouping<W>,
        node: &[u8],
        early: bool,
    ) -> Verdict {
        let verdict = checker.check(source, node, early);
        self.checked.fetch_add(1, Relaxed);
        if checker.cut {
            let mut state = self.lock();
            state.cut = state.cut.min(self.cheapest(node));
        }
        match verdict.score {
            Some(score) if score <= f64::from_bits(self.best.load(Relaxed)) => {
                let candidate =
                    Candidate { score, suppressed: verdict.suppressed, node: node.into() };
                let mut state = self.lock();
                if state.best.as_ref().is_none_or(|best| candidate.better(best)) {
                    self.best.store(score.to_bits(), Relaxed);
                    state.best = Some(candidate);
                    self.tell(&mut state);
                }
            }
            Some(_) => {}
            None if self.best.load(Relaxed) == f64::INFINITY.to_bits() => {
                let mut state = self.lock();
                if verdict.suppressed < state.nearest.0 {
                    state.nearest = (verdict.suppressed, node.into());
                }
            }
            None => {}
        }
        verdict
    }

    /// Checks `high` and bounds the box; infinite if nothing in it is within the limit.
    fn check_box(
        &self,
        checker: &mut Checker<'_, W>,
        near: &CountedGrouping<W>,
        source: &CountedGrouping<W>,
        low: &[u8],
        high: &[u8],
        tally: &mut Tally,
    ) -> f64 {
        let Setting { problem, lattice, least, limit, .. } = self.setting;
        let verdict = self.check(checker, &near.grouping, high, true);
        if verdict.floor > *limit {
            return f64::INFINITY;
        }
        let (source, metric) = (&source.grouping, problem.metric);
        match limit {
            // No class of `high` is too small.
            0 => score::of_whole_box(lattice, &source.sizes, *least, tally),
            _ => score::of_box(metric, lattice, low, source, &checker.grouper, *least, tally),
        }
        score::score(metric, lattice, low, tally)
    }

    /// The bound with one axis raised: exact on the others, on this one
    /// whichever rows are suppressed.
    fn raised(&self, open: &Open<W>, axis: usize, level: u8) -> (f64, u128) {
        let Setting { problem, lattice, .. } = self.setting;
        let mut low = open.low.clone();
        let mut tally = open.tally.clone();
        low[axis] = level;
        let growth = lattice.axes[axis].least_growth(level, tally.suppressed);
        tally.growth[axis] = growth;
        (score::score(problem.metric, lattice, &low, &tally), growth)
    }

    fn split(&self, mut open: Open<W>, checker: &mut Checker<'_, W>) {
        let Setting { problem, lattice, least, .. } = self.setting;
        let axes = lattice.axes.len();
        // Levels that alone make the bound hopeless are cut off.
        let mut cut = false;
        for axis in 0..axes {
            while open.high[axis] > open.low[axis]
                && self.hopeless(self.raised(&open, axis, open.high[axis]).0)
            {
                open.high[axis] -= 1;
                cut = true;
            }
        }
        let by_class = matches!(problem.metric, Metric::Discernibility | Metric::AverageClassSize);
        if open.source.grouping.node != open.low && (by_class || self.setting.limit > 0) {
            self.regroup(&mut open, checker);
            if by_class {
                self.tighten(&mut open, *least);
            }
        }
        if cut {
            if !self.pairs.raise(&mut open.low, &open.high) {
                return;
            }
            let Open { low, high, source, near, tally, bound } = &mut open;
            let near = if finer(&near.grouping.node, high) { &*near } else { &*source };
            *bound = self.check_box(checker, near, source, low, high, tally).max(*bound);
        }
        if self.hopeless(open.bound) || open.low == open.high || open.bound == f64::INFINITY {
            return;
        }
        let Some((axis, middle)) = self.choose(&open) else { return };
        self.split_lower(&mut open, axis, middle, checker);
        let (bound, growth) = self.raised(&open, axis, middle + 1);
        open.low[axis] = middle + 1;
        open.tally.growth[axis] = growth;
        open.bound = open.bound.max(bound);
        if open.low != open.high && !self.hopeless(open.bound) {
            self.push(open);
        }
    }

    /// The half that keeps `low`, which ends with the level `middle`.
    fn split_lower(
        &self,
        open: &mut Open<W>,
        axis: usize,
        middle: u8,
        checker: &mut Checker<'_, W>,
    ) {
        let (mut low, mut high) = (open.low.clone(), open.high.clone());
        high[axis] = middle;
        if !self.pairs.raise(&mut low, &high) || self.hopeless(self.cheapest(&low)) {
            return;
        }
        self.approach(open, checker);
        let mut tally = Tally::default();
        let Open { source, near, .. } = &*open;
        let bound = self.check_box(checker, near, source, &low, &high, &mut tally).max(open.bound);
        if bound < f64::INFINITY && !self.hopeless(bound) && high != low {
            let (source, near) = (Arc::clone(source), Arc::clone(near));
            self.push(Open { bound, low, high, source, near, tally });
        }
    }

    /// No node from `low` up scores less.
    fn cheapest(&self, low: &[u8]) -> f64 {
        let Setting { problem, lattice, .. } = self.setting;
        match problem.metric {
            Metric::Loss | Metric::Precision => {
                let none = Tally { growth: vec![0; low.len()], ..Tally::default() };
                score::score(problem.metric, lattice, low, &none)
            }
            Metric::Discernibility | Metric::AverageClassSize => 0.0,
        }
    }

    /// Which axis to split, and the level its lower half ends with: the one that
    /// raises the bound of the upper half most.
    fn choose(&self, open: &Open<W>) -> Option<(usize, u8)> {
        let mut chosen: Option<(f64, usize, u8)> = None;
        for (axis, (&low, &high)) in open.low.iter().zip(&open.high).enumerate() {
            if low == high {
                continue;
            }
            // The highest level goes first: its half is coarse, small and soon decided.
            let middle = high - 1;
            let gain = self.raised(open, axis, middle + 1).0;
            if chosen.is_none_or(|best| gain > best.0) {
                chosen = Some((gain, axis, middle));
            }
        }
        chosen.map(|(_, axis, middle)| (axis, middle))
    }

    /// Groups `low` itself, while there is memory to keep it.
    fn regroup(&self, open: &mut Open<W>, checker: &mut Checker<'_, W>) {
        let Setting { lattice, combinations, .. } = self.setting;
        if self.in_use.load(Relaxed) > self.options.memory {
            return;
        }
        let source = &open.source.grouping;
        checker.grouper.expect(source.keys.len());
        checker.grouper.coarsen(lattice, source, &open.low);
        let kept = checker.grouper.keep(source, open.low.clone(), combinations.as_ref());
        open.source = CountedGrouping::new(kept, &self.in_use);
    }

    /// Groups a node as coarse as all those one level below `high` allow. Only without
    /// suppression: then most of them fail, and nothing else is asked of the classes of `low`.
    fn approach(&self, open: &mut Open<W>, checker: &mut Checker<'_, W>) {
        let Setting { lattice, combinations, limit, .. } = self.setting;
        if *limit > 0 {
            open.near = Arc::clone(&open.source);
            return;
        }
        let below = |(&low, &high): (&u8, &u8)| low.max(high.saturating_sub(1));
        let wanted: Node = open.low.iter().zip(&open.high).map(below).collect();
        if !finer(&open.near.grouping.node, &wanted) {
            open.near = Arc::clone(&open.source);
        }
        let from = &open.near.grouping;
        let full = self.in_use.load(Relaxed) > self.options.memory;
        if full || from.node == wanted || from.keys.len() <= FEW {
            return;
        }
        checker.grouper.coarsen(lattice, from, &wanted);
        let kept = checker.grouper.keep(from, wanted, combinations.as_ref());
        open.near = CountedGrouping::new(kept, &self.in_use);
    }

    /// With the classes of a coarser `low` at hand. At most `least − 1` is the
    /// size of a class whose rows are suppressed for sure.
    fn tighten(&self, open: &mut Open<W>, least: u64) {
        let Setting { problem, lattice, .. } = self.setting;
        let source = &open.source.grouping;
        let squares: u128 =
            source.sizes.iter().map(|&size| u128::from(size) * u128::from(size)).sum();
        let lost = u128::from(open.tally.suppressed) * u128::from(least.saturating_sub(1));
        open.tally.squares = open.tally.squares.max(squares.saturating_sub(lost));
        open.tally.classes = open
            .tally
            .classes
            .min(source.keys.len() as u64 + u64::from(open.tally.suppressed == 0));
        let bound = score::score(problem.metric, lattice, &open.low, &open.tally);
        open.bound = open.bound.max(bound);
    }
}
