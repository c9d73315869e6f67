//! Audits of everything: Demure's mechanisms stand, the gallery falls, and the error is what is said.
//!
//! Seeds are fixed. An audit convicts wrongly with probability 1e-6, all that are here together with less
//! than 1e-4: a failure is a bug.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on must stop")]

use demure_attack::audit::{
    Claim, FAMILY_WISE, Finding, Output, Pair, Plan, Runs, Source, Subject, Verdict, examine,
    gallery, library,
};
use demure_core::mechanism::Geometric;
use demure_core::random::{Randomness, SeededForTests};
use demure_core::sample::uniform_below;
use demure_core::unit::{Delta, Epsilon, Sensitivity};

fn seeded(seed: u64) -> [Box<dyn Randomness + Send>; 2] {
    [Box::new(SeededForTests::insecure(2 * seed)), Box::new(SeededForTests::insecure(2 * seed + 1))]
}

fn audit(subject: &Subject, claim: Claim, plan: Plan, seed: u64) -> Finding {
    examine(&mut Runs::new(subject, seeded(seed)), claim, plan, &mut |_, _| {}).unwrap()
}

fn mechanisms() -> Vec<Subject> {
    library::all(Epsilon::new(1.0).unwrap(), Delta::new(0.01).unwrap()).unwrap()
}

fn named(name: &str) -> Subject {
    mechanisms().into_iter().find(|subject| subject.name == name).unwrap()
}

#[test]
fn no_mechanism_is_convicted() {
    for (i, subject) in mechanisms().iter().enumerate() {
        let plan = Plan { samples: subject.runs / 5, error: FAMILY_WISE };
        let found = audit(subject, subject.claim, plan, 100 + i as u64);
        assert_eq!(found.verdict(), Verdict::NotRefuted, "{}: {found:?}", subject.name);
        assert!(found.epsilon_lower <= found.reachable);
    }
}

#[test]
fn other_claims_stand_too() {
    let mechanisms = library::all(Epsilon::new(0.3).unwrap(), Delta::new(1e-5).unwrap()).unwrap();
    for (i, subject) in mechanisms.iter().enumerate() {
        let plan = Plan { samples: 4_000, error: FAMILY_WISE };
        let found = audit(subject, subject.claim, plan, 200 + i as u64);
        assert_eq!(found.verdict(), Verdict::NotRefuted, "{}: {found:?}", subject.name);
    }
}

#[test] // the power twin of both
fn every_broken_mechanism_is_convicted() {
    for (i, subject) in gallery::all().unwrap().iter().enumerate() {
        let plan = Plan { samples: subject.runs, error: FAMILY_WISE };
        let found = audit(subject, subject.claim, plan, 300 + i as u64);
        assert_eq!(found.verdict(), Verdict::Violated, "{}: {found:?}", subject.name);
        assert!(found.epsilon_lower > found.claim.epsilon.unwrap());
    }
}

#[test]
fn tight_mechanisms_show_most_of_their_epsilon() {
    for (name, share) in
        [("laplace", 0.9), ("response", 0.9), ("geometric", 0.9), ("histogram", 0.8), ("sum", 0.85)]
    {
        let subject = named(name);
        let plan = Plan { samples: subject.runs, error: FAMILY_WISE };
        let found = audit(&subject, subject.claim, plan, 7);
        assert!(found.epsilon_lower > share, "{name}: {found:?}");
        // What it says it needs for 70 % is less than it was given, and enough.
        let needed = found.runs_for(0.7).unwrap();
        assert!(needed < subject.runs, "{name}: {needed}");
        // As many as the best event would take, or more.
        for share in [0.7, 0.9] {
            assert!(found.runs_at_best(share) <= found.runs_for(share), "{name}: {found:?}");
        }
        let plan = Plan { samples: 2 * needed, error: FAMILY_WISE };
        assert!(audit(&subject, subject.claim, plan, 8).epsilon_lower > 0.6, "{name}");
    }
}

#[test]
fn mechanisms_with_more_noise_show_more_of_it_than_nothing() {
    // That nothing is found where there is something would be a hole in the features.
    for (name, least) in [("gaussian", 0.5), ("tree", 0.3), ("sparse-vector", 0.4), ("ladder", 0.3)]
    {
        let subject = named(name);
        let plan = Plan { samples: subject.runs, error: FAMILY_WISE };
        let found = audit(&subject, subject.claim, plan, 9);
        assert!(found.epsilon_lower > least, "{name}: {found:?}");
    }
}

/// A mechanism on one pair, said to have ε = 1.
fn made_up<I: Send + Sync + 'static>(
    sides: [I; 2],
    run: impl Fn(&I, &mut dyn Randomness) -> demure_core::Result<Output> + Clone + Send + Sync + 'static,
) -> Subject {
    let (name, about) = ("made-up", "");
    let claim = Claim { epsilon: Some(1.0), delta: 0.0 };
    Subject { name, about, claim, runs: 0, pairs: vec![Pair::new("both", sides, run)] }
}

#[test]
fn noise_of_few_random_bits_is_convicted() {
    // Laplace noise from so many random bits, printed to six decimals: each input has outputs of its own.
    let laplace = |bits: u32| {
        made_up([0.0, 1.0], move |x: &f64, rng: &mut dyn Randomness| {
            let u = (uniform_below(1 << bits, rng)? as f64 + 0.5) / f64::from(1u32 << bits) - 0.5;
            let noised = x - u.signum() * (1.0 - 2.0 * u.abs()).ln();
            Ok(vec![(noised * 1e6).round() / 1e6])
        })
    };
    let plan = Plan { samples: 100_000, error: FAMILY_WISE };
    let few = laplace(15);
    let found = audit(&few, few.claim, plan, 21);
    assert!(found.epsilon_lower > 5.5, "{}", found.epsilon_lower);
    // Four million values for each side, scattered so that nothing else tells the sides apart.
    let scattered = made_up([0, 1], |side: &u64, rng: &mut dyn Randomness| {
        let mixed = (2 * uniform_below(1 << 22, rng)? + side).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let mixed = (mixed ^ (mixed >> 29)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        Ok(vec![(mixed >> 12) as f64])
    });
    let found = audit(&scattered, scattered.claim, plan, 23);
    assert_eq!(found.verdict(), Verdict::Violated, "{}", found.epsilon_lower);
    // The twin: with 30 bits there are more outputs than runs, and nothing is seen again.
    let many = laplace(30);
    let found = audit(&many, many.claim, plan, 22);
    assert_eq!(found.verdict(), Verdict::NotRefuted, "{found:?}");
}

#[test]
fn the_last_of_many_numbers_is_looked_at_like_the_first() {
    let noise =
        || Geometric::new(Epsilon::new(1.0).unwrap(), Sensitivity::new(1.0).unwrap()).unwrap();
    let plan = Plan { samples: 8_000, error: FAMILY_WISE };
    for (width, shared) in [(70usize, false), (256, false), (40, true), (256, true)] {
        // All numbers have noise of their own; the last has none, or its neighbour's.
        let broken = |really: bool| {
            let noise = noise();
            made_up([0i128, 1], move |last: &i128, rng: &mut dyn Randomness| {
                let mut answers = vec![0; width];
                answers[width - 1] = *last;
                let noised = noise.release_vector(&answers, rng)?.into_value();
                let mut output: Output = noised.into_iter().map(|x| x as f64).collect();
                if really {
                    let same = if shared { output[width - 2] } else { 0.0 };
                    output[width - 1] = *last as f64 + same;
                }
                Ok(output)
            })
        };
        let subject = broken(true);
        let found = audit(&subject, subject.claim, plan, 31);
        assert!(found.epsilon_lower > 4.0, "{width} {shared}: {found:?}");
        let subject = broken(false);
        let found = audit(&subject, subject.claim, plan, 32);
        assert_eq!(found.verdict(), Verdict::NotRefuted, "{width} {shared}: {found:?}");
    }
}

/// What was drawn first is drawn again: an auditor that tests on the runs that it scouted on.
struct Again<S> {
    source: S,
    drawn: [Vec<Output>; 2],
}

impl<S: Source> Source for Again<S> {
    type Error = S::Error;

    fn pairs(&self) -> usize {
        1
    }

    fn describe(&self, pair: usize) -> String {
        self.source.describe(pair)
    }

    fn draw(&mut self, pair: usize, runs: usize) -> Result<[Vec<Output>; 2], S::Error> {
        if self.drawn[0].is_empty() {
            self.drawn = self.source.draw(pair, runs)?;
        }
        Ok(self.drawn.clone())
    }
}

#[test]
fn runs_must_be_split_where_there_is_much_to_choose_from() {
    // Both sides are uniform over 400 values: ε = 0, and every bound above it is wrong.
    let subject =
        made_up([(), ()], |(), rng: &mut dyn Randomness| Ok(vec![uniform_below(400, rng)? as f64]));
    let (audits, error) = (200, 0.05);
    let plan = Plan { samples: 2_000, error };
    let wrong = |again: bool| {
        let one = |seed: u64| {
            let source = Runs::new(&subject, seeded(5_000 + seed));
            let found = match again {
                false => audit(&subject, subject.claim, plan, 5_000 + seed),
                true => {
                    let mut source = Again { source, drawn: [Vec::new(), Vec::new()] };
                    examine(&mut source, subject.claim, plan, &mut |_, _| {}).unwrap()
                }
            };
            found.epsilon_lower > 0.0
        };
        (0..audits).filter(|&seed| one(seed)).count()
    };
    // P[Bin(200, 0.05) > 26] < 1e-5, and no more than that may be wrong.
    assert!(wrong(false) <= 26, "{}", wrong(false));
    // The power twin: an auditor that does not split its runs is wrong most of the time.
    assert!(wrong(true) > 100, "{}", wrong(true));
}

#[test]
fn the_error_is_at_most_what_is_said() {
    // Mechanisms whose loss is exactly ε: at an error of 5 %, each audit exceeds it with probability 5 % at most.
    let (audits, error) = (400, 0.05);
    let plan = Plan { samples: 1_000, error };
    for name in ["response", "response-5", "geometric", "laplace"] {
        let mut subject = named(name);
        subject.pairs.truncate(1);
        let found: Vec<Finding> =
            (0..audits).map(|seed| audit(&subject, subject.claim, plan, 1_000 + seed)).collect();
        let wrong = found.iter().filter(|found| found.epsilon_lower > 1.0).count();
        // P[Bin(400, 0.05) > 42] < 1e-6.
        assert!(wrong <= 42, "{name}: {wrong} of {audits}");
        // The power twin: the frequencies themselves, without their limits, are wrong far more often.
        let ratio = |found: &Finding| found.counts.0 as f64 / found.counts.1 as f64;
        let naive = found.iter().filter(|found| ratio(found) > 1f64.exp()).count();
        assert!(naive > 42, "{name}: {naive} of {audits}");
    }
}

#[test]
fn one_run_is_enough_for_many_canaries_and_is_as_right_as_it_says() {
    let (epsilon, delta) = (Epsilon::new(1.0).unwrap(), Delta::new(1e-9).unwrap());
    for subject in library::canaried(epsilon, delta).unwrap() {
        let mut rng = SeededForTests::insecure(11);
        let guesses = subject.once(20_000, &mut rng).unwrap();
        let shown = guesses.epsilon_lower(subject.claim.1, FAMILY_WISE);
        let enough = if subject.name == "histogram-zcdp" { 0.0 } else { 0.7 };
        assert!((enough..=1.0).contains(&shown), "{}: {shown} {guesses:?}", subject.name);
        // At an error of 5 %, of 400 runs at most 42 are wrong; and a claim of half the ε falls.
        let many: Vec<_> = (0..400).map(|_| subject.once(500, &mut rng).unwrap()).collect();
        let above = |least: f64| {
            many.iter().filter(|g| g.epsilon_lower(subject.claim.1, 0.05) > least).count()
        };
        assert!(above(1.0) <= 42, "{}: {}", subject.name, above(1.0));
        assert!(above(0.5) > 300 || subject.name == "histogram-zcdp", "{}", above(0.5));
    }
}
