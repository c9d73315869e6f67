//! A mechanism with a claim, and the neighbouring inputs to try it on.

use super::examine::{Claim, Source};
use super::feature::Output;
use demure_core::random::{Randomness, SeededForTests, SystemRandom};
use demure_core::{Error, Result};
use std::fmt;
use std::sync::Arc;

/// One run of a mechanism on an input that it holds.
pub type Draw = Box<dyn Fn(&mut dyn Randomness) -> Result<Output> + Send + Sync>;

/// Runs a side that show 90 % of ε = 1 where there is so much to see.
pub(super) const USUAL: u64 = 100_000;

/// Two neighbouring inputs.
pub struct Pair {
    /// What they are, in words.
    pub what: String,
    left: Draw,
    right: Draw,
}

impl Pair {
    /// A mechanism on two inputs.
    pub fn new<I: Send + Sync + 'static>(
        what: impl Into<String>,
        [left, right]: [I; 2],
        run: impl Fn(&I, &mut dyn Randomness) -> Result<Output> + Clone + Send + Sync + 'static,
    ) -> Self {
        let again = run.clone();
        Self {
            what: what.into(),
            left: Box::new(move |rng| run(&left, rng)),
            right: Box::new(move |rng| again(&right, rng)),
        }
    }
}

/// One mechanism on several pairs of inputs.
pub(super) fn on<M: Send + Sync + 'static, I: Send + Sync + 'static>(
    mechanism: M,
    inputs: Vec<(&str, [I; 2])>,
    run: fn(&M, &I, &mut dyn Randomness) -> Result<Output>,
) -> Vec<Pair> {
    let mechanism = Arc::new(mechanism);
    let one = |(what, sides): (&str, [I; 2])| {
        let mechanism = Arc::clone(&mechanism);
        Pair::new(what, sides, move |input: &I, rng: &mut dyn Randomness| {
            run(&mechanism, input, rng)
        })
    };
    inputs.into_iter().map(one).collect()
}

/// What is audited.
pub struct Subject {
    /// A short name, as typed.
    pub name: &'static str,
    /// What it is; of a broken one, what is wrong and where that was seen.
    pub about: &'static str,
    /// The claim.
    pub claim: Claim,
    /// How many runs a side are worth making.
    pub runs: u64,
    /// Neighbours on which it may show.
    pub pairs: Vec<Pair>,
}

impl Subject {
    /// The one of this name, or all of them.
    ///
    /// # Errors
    /// There is no such mechanism.
    pub fn named(all: Vec<Self>, name: Option<&str>) -> crate::Result<Vec<Self>> {
        let wanted = |subject: &Self| name.is_none_or(|name| subject.name == name);
        let found: Vec<Self> = all.into_iter().filter(wanted).collect();
        if found.is_empty() { Err(crate::Error::NoMechanism) } else { Ok(found) }
    }
}

impl fmt::Debug for Subject {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Subject").field("name", &self.name).field("claim", &self.claim).finish()
    }
}

/// Runs of a subject, each side with randomness of its own, on a thread of its own.
pub struct Runs<'a> {
    subject: &'a Subject,
    randomness: [Box<dyn Randomness + Send>; 2],
}

impl<'a> Runs<'a> {
    /// To draw runs of `subject` from.
    pub fn new(subject: &'a Subject, randomness: [Box<dyn Randomness + Send>; 2]) -> Self {
        Self { subject, randomness }
    }

    /// The same with the system's randomness; with a seed the runs of audit number `part` can be repeated.
    ///
    /// # Errors
    /// No entropy.
    pub fn seeded(subject: &'a Subject, seed: Option<u64>, part: u64) -> Result<Self> {
        Ok(Self::new(subject, randomness(seed, part)?))
    }
}

/// Each side's own.
pub(super) fn randomness(seed: Option<u64>, part: u64) -> Result<[Box<dyn Randomness + Send>; 2]> {
    Ok(match seed {
        Some(seed) => {
            let first = seed.wrapping_mul(1_000_003).wrapping_add(2 * part);
            [first, first.wrapping_add(1)].map(|s| Box::new(SeededForTests::insecure(s)) as Box<_>)
        }
        None => [Box::new(SystemRandom::new()?), Box::new(SystemRandom::new()?)],
    })
}

impl fmt::Debug for Runs<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Runs").field(self.subject).finish()
    }
}

impl Source for Runs<'_> {
    type Error = Error;

    fn pairs(&self) -> usize {
        self.subject.pairs.len()
    }

    fn describe(&self, pair: usize) -> String {
        self.subject.pairs.get(pair).map_or(String::new(), |pair| pair.what.clone())
    }

    fn draw(&mut self, pair: usize, runs: usize) -> Result<[Vec<Output>; 2]> {
        let allowed = "less than the number of pairs";
        let pair =
            self.subject.pairs.get(pair).ok_or(Error::OutOfRange { parameter: "pair", allowed })?;
        let many = |draw: &Draw, rng: &mut Box<dyn Randomness + Send>| {
            (0..runs).map(|_| draw(rng.as_mut())).collect::<Result<Vec<Output>>>()
        };
        let [first, second] = &mut self.randomness;
        let (left, right) = std::thread::scope(|scope| {
            let other = scope.spawn(|| many(&pair.right, second));
            let left = many(&pair.left, first);
            // A run that panics is a run that failed.
            (left, other.join().unwrap_or(Err(Error::Precision { what: "a run" })))
        });
        Ok([left?, right?])
    }
}
