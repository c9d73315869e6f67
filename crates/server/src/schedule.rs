//! When answers leave: at points of a public grid, after a random delay.
//!
//! How long the engine works depends on protected rows. An answer therefore does not leave when it
//! is ready, but at
//!
//! ```text
//! moment = step · ⌈(W + D) / step⌉        after the statement arrived
//! ```
//!
//! where `W` is the time until the work was done, in whole microseconds, `D` a delay drawn for
//! this statement, and `step` depends on the policy and on the declared rows of the tables that the
//! statement scans:
//!
//! | declared rows, each table as often as it is scanned | step (for `step_ms = 100`) |
//! |---|---|
//! | up to a million | 100 ms |
//! | each time twice as many | twice as long, up to 6.4 s |
//!
//! `D = step/2 + Z`, with `Z` drawn exactly from the discrete Gaussian of parameter σ = step/8 and
//! drawn again while `|Z| > step/2`: so `0 ≤ D ≤ step`.
//!
//! # Guarantee
//! If one person changes `W` by at most Δt, then whatever test decides from one moment whether she
//! is in the data, its true positives exceed its false positives by at most `(2Φ(Δt/2σ) − 1)/z`, with
//! `z = 1 − 2Φ(−4)`, which is below `3.2 · Δt/step`. From n moments, chosen adaptively, they exceed
//! them by at most `2Φ(√n·Δt/2σ) − 1 + n·a`, with `a = (Φ(Δt/σ − 4) − Φ(−4))/z`, which is below
//! `0.0016 · Δt/step` for Δt up to step/80.
//!
//! # Proof
//! Rounding up to the grid is post-processing of `W + D`. `Z` is symmetric and unimodal, so the best
//! test of `W + D` against `W + Δt + D` compares with the middle, and has the advantage
//! `P[|Z| ≤ Δt/2]`: that of a Gaussian, divided by its mass within ±4σ. A smaller change is less, by
//! unimodality.
//!
//! For n: a moment lies with probability a where the other hypothesis never leads, the same for both.
//! Given that it does not, it is one of two Gaussians of variance σ², apart by at most Δt, seen within
//! an interval that is symmetric about their middle. To see only that is less than to see all: the
//! sample's side of the middle is right with a probability that grows with its distance, and
//! outside the distances are larger. So what is left is at most n Gaussians, whose composition is that of
//! one with means apart by √n·Δt, also if they are chosen adaptively (Dong, Roth and Su, "Gaussian
//! differential privacy", 2022, corollary 3.3). The discrete Gaussian on microseconds stands for
//! the continuous one: at σ ≥ 625 µs their distribution functions differ by less than a thousandth of
//! what is stated. ∎
//!
//! This is the delay of Ratliff and Vadhan, "A framework for differential privacy against timing
//! attacks", 2024, with Gaussian instead of Laplace noise: its tails are shorter, so the same mean delay
//! allows a larger σ.
//!
//! A statement whose time is limited ends at a public moment too: the first point of its grid after the
//! limit, and half a step. Its time is up if its own moment is later than that point: a
//! function of the moment, which says no more than the moment does, also where clients choose the limit.
//!
//! # What this module does not do
//! It proves no Δt: the running time of a real machine is measured (`cargo xtask audit timing`). It
//! hides nothing from whoever shares the machine, or measures how busy it is with statements of
//! their own (`docs/threat-model.md`).

use demure_core::Result;
use demure_core::random::SystemRandom;
use demure_core::sample::{DiscreteGaussian, Scale};
use demure_curator::Reads;
use demure_curator::policy::TimingPolicy;
use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

/// Declared rows for which the policy's step holds.
const MILLION: u64 = 1_000_000;
/// The longest step is the policy's, doubled so often.
const MOST_DOUBLINGS: u32 = 6;

/// The schedule of a server.
pub(crate) struct Schedule {
    /// The step for a million rows; none where answers leave as soon as they are ready.
    base: Option<Duration>,
    source: Mutex<Source>,
}

/// What delays are drawn from.
#[derive(Default)]
struct Source {
    random: Option<SystemRandom>,
    /// By their step in microseconds: at most as many as there are steps.
    delays: BTreeMap<u64, Delay>,
}

impl Schedule {
    pub(crate) fn new(timing: &TimingPolicy) -> Self {
        let base = timing.schedule.then_some(timing.step);
        Self { base, source: Mutex::default() }
    }

    /// When what has worked for `worked` may be seen, counted from when the statement arrived;
    /// nothing where there is no schedule.
    pub(crate) fn moment(&self, reads: Reads, worked: Duration) -> Option<Duration> {
        let step = step(self.base?, reads);
        let mut source = self.source.lock().unwrap_or_else(PoisonError::into_inner);
        // A system that gives no randomness gives no noise either: nothing is answered there.
        let delay = source.draw(step).unwrap_or(step);
        Some(next_point(step, worked, delay))
    }

    /// When a statement that may take `within` is over, counted from when it arrived, once it reads
    /// rows; nothing where there is no schedule.
    pub(crate) fn over(&self, reads: Reads, within: Duration) -> Option<Duration> {
        Some(patience(step(self.base?, reads), within))
    }
}

/// How long a statement that may take `within` waits for its moment: until the first point of its grid at or
/// after `within`, and half a step, by when those that leave at that point have left.
fn patience(step: Duration, within: Duration) -> Duration {
    next_point(step, within, Duration::ZERO).saturating_add(step / 2)
}

impl Source {
    fn draw(&mut self, step: Duration) -> Result<Duration> {
        let micros = micros(step);
        let delay = match self.delays.entry(micros) {
            std::collections::btree_map::Entry::Occupied(known) => known.into_mut(),
            std::collections::btree_map::Entry::Vacant(new) => new.insert(Delay::new(micros)?),
        };
        let random = match &mut self.random {
            Some(random) => random,
            none => none.insert(SystemRandom::new()?),
        };
        delay.draw(random)
    }
}

/// The step of the grid for a statement.
fn step(base: Duration, reads: Reads) -> Duration {
    let mut doublings = 0;
    while doublings < MOST_DOUBLINGS && MILLION << doublings < reads.rows {
        doublings += 1;
    }
    base * (1 << doublings)
}

/// The first point of the grid at or after `worked + delay`.
fn next_point(step: Duration, worked: Duration, delay: Duration) -> Duration {
    // Whole microseconds, up: what is below them must not show which ones they were.
    let worked = worked.as_nanos().div_ceil(1000);
    let step = u128::from(micros(step));
    let points = (worked + delay.as_micros()).div_ceil(step).max(1);
    Duration::from_micros(u64::try_from(points * step).unwrap_or(u64::MAX))
}

fn micros(duration: Duration) -> u64 {
    u64::try_from(duration.as_micros()).unwrap_or(u64::MAX).max(1)
}

/// The delay's distribution for one step, in microseconds.
struct Delay {
    half: i128,
    noise: DiscreteGaussian,
}

impl Delay {
    fn new(step: u64) -> Result<Self> {
        let sigma = Scale::quotient(step as f64, 8.0)?;
        Ok(Self { half: i128::from(step / 2), noise: DiscreteGaussian::new(&sigma)? })
    }

    fn draw(&self, random: &mut dyn demure_core::random::Randomness) -> Result<Duration> {
        loop {
            let drawn = self.noise.draw(random)?;
            if let (true, Ok(delay)) = (drawn <= self.half, u64::try_from(drawn + self.half)) {
                return Ok(Duration::from_micros(delay));
            }
        }
    }
}

#[cfg(test)]
mod tests;
