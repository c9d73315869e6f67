//! The audit: scout on some runs, test on others.

use super::choose::{Candidate, candidates};
use super::event::Event;
use super::feature::Output;
use super::limit::{at_least, at_most, best_event, epsilon_lower, needed, reachable};
use super::picture::Picture;
use demure_core::unit::{Delta, Epsilon};
use std::fmt;

/// The error that an audit makes unless told otherwise: one false conviction in a million audits.
pub const FAMILY_WISE: f64 = 1e-6;

/// Events tested on the same runs; the error is shared between them.
const FINALISTS: usize = 4;
/// Runs drawn and counted at a time.
const CHUNK: usize = 20_000;

/// Something that can be run on both of two neighbouring inputs, as often as one likes.
pub trait Source {
    /// Why a run failed.
    type Error;
    /// How many pairs of neighbouring inputs there are.
    fn pairs(&self) -> usize;
    /// What a pair is, in words.
    fn describe(&self, pair: usize) -> String;
    /// So many independent runs on the left and on the right input of a pair.
    fn draw(&mut self, pair: usize, runs: usize) -> Result<[Vec<Output>; 2], Self::Error>;
    /// Scouting is over. What an output is may have depended on earlier ones (which keys there are); from here on
    /// it must not, or runs would not be independent.
    fn settle(&mut self) {}
}

/// What is said of a mechanism.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Claim {
    /// The ε claimed; `None` to measure without a claim.
    pub epsilon: Option<f64>,
    /// The δ at which it is claimed.
    pub delta: f64,
}

impl Claim {
    /// A claim that makes sense.
    ///
    /// # Errors
    /// The ε or the δ is out of range.
    pub fn new(epsilon: Option<f64>, delta: f64) -> demure_core::Result<Self> {
        let epsilon = epsilon.map(Epsilon::new).transpose()?.map(Epsilon::get);
        Ok(Self { epsilon, delta: Delta::new(delta)?.get() })
    }

    /// Whether it stands where ε is at least so much.
    #[must_use]
    pub fn verdict(&self, epsilon_lower: f64) -> Verdict {
        match self.epsilon {
            None => Verdict::NoClaim,
            Some(claimed) if epsilon_lower > claimed => Verdict::Violated,
            Some(_) => Verdict::NotRefuted,
        }
    }
}

/// How hard to look.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Plan {
    /// Runs on each side, in all: half to scout, half to test. At least 8.
    pub samples: u64,
    /// The probability of a bound above the true ε, over everything tried.
    pub error: f64,
}

/// What an audit says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// The claim is false, but for an error of the stated probability.
    Violated,
    /// Nothing was found against the claim. That is no proof of it.
    NotRefuted,
    /// Nothing was claimed.
    NoClaim,
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Violated => "violated",
            Self::NotRefuted => "not refuted",
            Self::NoClaim => "nothing claimed",
        })
    }
}

/// What was found.
#[derive(Clone, Debug)]
pub struct Finding {
    /// What is claimed.
    pub claim: Claim,
    /// A lower bound on ε at the claim's δ; 0 if nothing was shown.
    pub epsilon_lower: f64,
    /// The probability that it exceeds the true ε.
    pub error: f64,
    /// The event that shows it.
    pub event: Event,
    /// The neighbouring inputs on which it does.
    pub pair: String,
    /// Whether the event is likelier on the left of them.
    pub left: bool,
    /// How often it happened in the tested runs where it is likelier, and where it is not.
    pub counts: (u64, u64),
    /// Tested runs on each side.
    pub tested: u64,
    /// All runs on each side, over all pairs.
    pub runs: u64,
    /// Events tested; each had an equal share of the error.
    pub tests: usize,
    /// The most that so many tested runs could have shown of anything.
    pub reachable: f64,
    /// What is looked at, on both sides, from the runs that scouted.
    pub picture: Picture,
}

impl Finding {
    /// Whether the claim stands.
    #[must_use]
    pub fn verdict(&self) -> Verdict {
        self.claim.verdict(self.epsilon_lower)
    }

    /// The error of each single test.
    #[must_use]
    pub fn error_each(&self) -> f64 {
        self.error / self.tests.max(1) as f64
    }

    /// The frequencies of the event, likelier side first, each with its confidence limit.
    #[must_use]
    pub fn frequencies(&self) -> [(f64, f64); 2] {
        let (n, half) = (self.tested.max(1), self.error_each() / 2.0);
        let share = |k: u64| k as f64 / n as f64;
        [
            (share(self.counts.0), at_least(self.counts.0, n, half)),
            (share(self.counts.1), at_most(self.counts.1, n, half)),
        ]
    }

    /// The bound that the event would give, at the same frequencies, with so many tested runs a side.
    #[must_use]
    pub fn bound_after(&self, runs: u64) -> f64 {
        let [(p, _), (q, _)] = self.frequencies();
        let count = |share: f64| (share * runs as f64).round() as u64;
        epsilon_lower(count(p), count(q), runs, self.claim.delta, self.error_each())
    }

    /// About how many runs a side, scouting and testing, this event would need to show `share` of the claimed
    /// ε; `None` if it would not with any number, or if nothing is claimed. Unless the claim is refuted, not
    /// fewer than [`runs_at_best`](Self::runs_at_best): frequencies that promise more are luck.
    #[must_use]
    pub fn runs_for(&self, share: f64) -> Option<u64> {
        let [(p, _), (q, _)] = self.frequencies();
        let wanted = share * self.claim.epsilon?;
        let runs = 2 * needed(p, q, wanted, self.claim.delta, self.error_each())?;
        let least = match self.verdict() {
            Verdict::Violated => 0,
            Verdict::NotRefuted | Verdict::NoClaim => self.runs_at_best(share).unwrap_or(0),
        };
        Some(runs.max(least))
    }

    /// The same for the most telling event that a mechanism that keeps the claim can have.
    #[must_use]
    pub fn runs_at_best(&self, share: f64) -> Option<u64> {
        let epsilon = self.claim.epsilon?;
        let (p, q) = best_event(epsilon, self.claim.delta);
        Some(2 * needed(p, q, share * epsilon, self.claim.delta, self.error_each())?)
    }
}

/// Audits: `watch` is told how many runs of how many are done.
///
/// # Guarantee
/// If the runs are independent, [`Finding::epsilon_lower`] exceeds the ε that the mechanism has at the
/// claim's δ with probability at most [`Plan::error`].
/// # Proof
/// The pair, the events and the side on which each is likelier are functions of the scouting
/// runs; the tested runs are independent of those. Given the scouting runs, each of T bounds is too
/// high with probability at most error/T ([`epsilon_lower`]), and some bound is with probability at most the error. ∎
///
/// # Errors
/// The source's own.
pub fn examine<S: Source>(
    source: &mut S,
    claim: Claim,
    plan: Plan,
    watch: &mut dyn FnMut(u64, u64),
) -> Result<Finding, S::Error> {
    let half = usize::try_from(plan.samples / 2).unwrap_or(usize::MAX).max(4);
    let pairs = source.pairs().max(1);
    let each = (half / pairs).max(4);
    let total = (each * pairs + half) as u64;

    let mut best: Option<(usize, Vec<Candidate>, [Vec<Output>; 2])> = None;
    for pair in 0..pairs {
        let runs = drawn(source, pair, each, &mut |done| {
            watch((pair * each + done) as u64, total);
        })?;
        let found = candidates(&runs, claim.delta);
        let score = |found: &[Candidate]| found.first().map_or(f64::NEG_INFINITY, |c| c.score);
        if best.as_ref().is_none_or(|(_, so_far, _)| score(&found) > score(so_far)) {
            best = Some((pair, found, runs));
        }
    }
    // Every output has features (its length, if nothing else), so there is a candidate.
    let (pair, mut finalists, scouted) = best.unwrap_or_default();
    finalists.truncate(FINALISTS);
    source.settle();

    let mut counts = vec![[0u64; 2]; finalists.len()];
    let mut done = 0;
    while done < half {
        let runs = source.draw(pair, CHUNK.min(half - done))?;
        for (side, outputs) in runs.iter().enumerate() {
            for (candidate, counts) in finalists.iter().zip(&mut counts) {
                let event = &candidate.event;
                counts[side] += outputs.iter().filter(|output| event.holds(output)).count() as u64;
            }
        }
        done += CHUNK.min(half - done);
        watch((each * pairs + done) as u64, total);
    }

    let (n, tests) = (half as u64, finalists.len().max(1));
    let error = plan.error / tests as f64;
    let shown = |candidate: &Candidate, seen: &[u64; 2]| {
        let counts = if candidate.left { (seen[0], seen[1]) } else { (seen[1], seen[0]) };
        (epsilon_lower(counts.0, counts.1, n, claim.delta, error), counts)
    };
    let mut result = Finding {
        claim,
        epsilon_lower: 0.0,
        error: plan.error,
        event: Event { feature: super::Feature::Length, set: super::KeySet::AtLeast(0) },
        pair: source.describe(pair),
        left: true,
        counts: (n, n),
        tested: n,
        runs: total,
        tests,
        reachable: reachable(n, claim.delta, error),
        picture: Picture::default(),
    };
    let shown: Vec<(f64, (u64, u64))> =
        finalists.iter().zip(&counts).map(|(candidate, seen)| shown(candidate, seen)).collect();
    let best = shown.iter().map(|shown| shown.0).fold(0.0, f64::max);
    // Of those that show about the most, the one that is read most easily, which is the first; but none
    // that would not convict where another does.
    let refuting = claim.epsilon.is_some_and(|claimed| best > claimed);
    let enough = |epsilon: f64| {
        epsilon >= 0.99 * best && (!refuting || claim.epsilon.is_some_and(|c| epsilon > c))
    };
    let chosen = shown.iter().zip(&finalists).find(|(shown, _)| enough(shown.0));
    if let Some((&(epsilon, counts), candidate)) = chosen {
        result.epsilon_lower = epsilon;
        result.event = candidate.event.clone();
        result.left = candidate.left;
        result.counts = counts;
    }
    result.picture = Picture::of(&result.event, &scouted);
    Ok(result)
}

/// Runs for scouting, in chunks so that someone can watch.
fn drawn<S: Source>(
    source: &mut S,
    pair: usize,
    runs: usize,
    watch: &mut dyn FnMut(usize),
) -> Result<[Vec<Output>; 2], S::Error> {
    let mut all = [Vec::new(), Vec::new()];
    while all[0].len() < runs {
        let chunk = CHUNK.min(runs - all[0].len());
        let [left, right] = source.draw(pair, chunk)?;
        all[0].extend(left);
        all[1].extend(right);
        watch(all[0].len());
    }
    Ok(all)
}
