//! How much is recovered: made-up bits, random subsets, a database, an attack; again and again.

use super::{Database, Method, Subsets, expected, reconstruct, recovered};
use crate::draws::Draws;
use crate::error::Result;
use crate::normal::Share;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

/// One experiment.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Attack {
    /// n: people, each with a secret bit that is 1 or 0 by a coin.
    pub rows: usize,
    /// m: random subsets asked for.
    pub queries: usize,
    /// What answers.
    pub database: Database,
    /// How it is attacked.
    pub method: Method,
    /// How often, with other bits, other subsets and other noise.
    pub repeat: usize,
}

/// What came of it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Measured {
    /// The experiment.
    pub attack: Attack,
    /// The bits that were recovered, of all repetitions.
    pub recovered: Share,
    /// The queries that were answered at all.
    pub answered: Share,
    /// What the closed form says for the answers that there were; `None` where it does not apply, and for
    /// linear programs, which it is not about.
    pub expected: Option<f64>,
}

impl Measured {
    /// The noise on its answers, where their error is noise.
    #[must_use]
    pub fn sigma(&self) -> Option<f64> {
        self.attack.database.sigma(self.attack.rows)
    }
}

/// Runs one experiment; the same from the same seed.
pub fn measure(attack: Attack, seed: u64) -> Result<Measured> {
    let none = Share { hits: 0, trials: 0 };
    let (mut right, mut answered) = (none, none);
    let sigma = attack.database.sigma(attack.rows);
    let mut theory = (attack.method == Method::LeastSquares).then_some(0.0);
    for part in 0..attack.repeat.max(1) {
        let mut draws = Draws::part(seed, part as u64);
        let bits: Vec<bool> = (0..attack.rows).map(|_| draws.coin()).collect();
        let subsets = Subsets::random(attack.rows, attack.queries, &mut draws)?;
        let exact = subsets.answers(&bits).into_iter();
        let answers: Vec<Option<f64>> =
            exact.map(|x| attack.database.answer(x, &mut draws)).collect();
        let guess = reconstruct(&subsets, &answers, attack.method)?;
        right = right.and(recovered(&bits, &guess));
        let hits = answers.iter().flatten().count() as u64;
        answered = answered.and(Share { hits, trials: answers.len() as u64 });
        let now = sigma.and_then(|sigma| expected(attack.rows, hits as usize, sigma));
        theory = theory.zip(now).map(|(sum, now)| sum + now);
    }
    let expected = theory.map(|sum| sum / attack.repeat.max(1) as f64);
    Ok(Measured { attack, recovered: right, answered, expected })
}

/// Runs many, on as many threads as there are processors; `done` is told how many are finished.
pub fn measure_all(
    attacks: &[Attack],
    seed: u64,
    done: &(dyn Fn(usize) + Sync),
) -> Result<Vec<Measured>> {
    let next = AtomicUsize::new(0);
    let results: Mutex<Vec<Option<Result<Measured>>>> =
        Mutex::new(attacks.iter().map(|_| None).collect());
    let threads = std::thread::available_parallelism().map_or(1, usize::from).min(attacks.len());
    let finished = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                loop {
                    let at = next.fetch_add(1, Ordering::Relaxed);
                    let Some(attack) = attacks.get(at) else { return };
                    let result = measure(*attack, seed.wrapping_add(at as u64));
                    results.lock().unwrap_or_else(PoisonError::into_inner)[at] = Some(result);
                    done(finished.fetch_add(1, Ordering::Relaxed) + 1);
                }
            });
        }
    });
    // A thread that panicked has already ended the scope.
    results.into_inner().unwrap_or_else(PoisonError::into_inner).into_iter().flatten().collect()
}

#[cfg(test)]
mod tests;
