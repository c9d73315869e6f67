//! Audits of everything: Demure's mechanisms stand, the gallery falls, and the error is what is said.
//!
//! Seeds are fixed. An audit convicts wrongly with probability 1e-6, all that are here together with less
//! than 1e-4: a failure is a bug.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on must stop")]

use demure_attack::audit::{
    Claim, FAMILY_WISE, Finding, Plan, Runs, Subject, Verdict, examine, gallery, library,
};
use demure_core::random::{Randomness, SeededForTests};
use demure_core::unit::{Delta, Epsilon};

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
        // About as many as the best event would take, or more.
        let at_best = found.runs_at_best(0.7).unwrap() as f64;
        assert!(at_best <= 1.2 * needed as f64, "{name}: {at_best} {needed}");
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

#[test]
fn the_error_is_at_most_what_is_said() {
    // Mechanisms whose loss is exactly ε: at an error of 5 % at most 5 % of audits may exceed it.
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
