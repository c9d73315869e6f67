use super::*;
use crate::bound;
use demure_core::mechanism::Geometric;
use demure_core::random::SeededForTests;
use demure_core::unit::{Delta, Epsilon, Sensitivity};

/// Scores over releases of n people, each compared with as many outsiders.
fn study(n: usize, d: usize, releases: usize, test: Test, epsilon: Option<f64>) -> (Scores, f64) {
    let mut draws = Draws::new((n * 10_000 + d) as u64);
    let mut rng = SeededForTests::insecure(8);
    let population = Population::random(d, &mut draws).unwrap();
    let mut scores = Scores::default();
    for _ in 0..releases {
        let members: Vec<_> = (0..n).map(|_| population.person(&mut draws)).collect();
        let mut published: Vec<f64> = counts(&members).iter().map(|c| *c as f64).collect();
        if let Some(epsilon) = epsilon {
            let each = Epsilon::new(epsilon / d as f64).unwrap();
            let noise = Geometric::new(each, Sensitivity::new(1.0).unwrap()).unwrap();
            for count in &mut published {
                *count = noise.release(*count as i128, &mut rng).unwrap().into_value() as f64;
            }
        }
        published.iter_mut().for_each(|count| *count /= n as f64);
        let score = |person: &Vec<bool>| population.score(test, person, &published);
        scores.extend(Scores {
            members: members.iter().map(score).collect(),
            outsiders: (0..n).map(|_| score(&population.person(&mut draws))).collect(),
        });
    }
    let sigma = epsilon.map_or(0.0, |e| 2f64.sqrt() * d as f64 / e);
    (scores, population.expected_area(n, sigma))
}

#[test]
fn exact_averages_tell_members_by_attributes_over_people() {
    for (n, d) in [(50, 50), (50, 200), (100, 25)] {
        let (scores, expected) = study(n, d, 40, Test::InnerProduct, None);
        let found = scores.area();
        // 2,000 and more of each: five standard errors of an area are at most 0.046.
        assert!((found - expected).abs() < 0.046, "{n} {d}: {found} {expected}");
    }
    // √(d/n) = 1: Φ(1/√2) = 0.760; = 2: 0.921.
    let (scores, _) = study(50, 50, 40, Test::InnerProduct, None);
    assert!((scores.area() - 0.7602).abs() < 0.046 && (scores.area() - 0.9214).abs() > 0.046);
    // Ten attributes a person: everybody is found, by all three tests.
    for test in [Test::InnerProduct, Test::Distance, Test::LikelihoodRatio] {
        let (scores, _) = study(50, 1000, 4, test, None);
        assert!(scores.area() > 0.99, "{test:?}: {}", scores.area());
        assert!(scores.true_alarms(0.01) > 0.8, "{test:?}");
    }
}

#[test]
fn under_a_budget_the_alarms_stay_within_its_bound() {
    let (n, d, epsilon) = (50, 200, 1.0);
    let (scores, expected) = study(n, d, 40, Test::InnerProduct, Some(epsilon));
    let e = Epsilon::new(epsilon).unwrap();
    assert!((scores.area() - expected).abs() < 0.046);
    assert!(scores.area() < bound::area(e) && expected < bound::area(e));
    for f in [0.01, 0.1, 0.3] {
        let most = bound::true_alarms(e, Delta::ZERO, f);
        // Five standard errors of a share of 2,000.
        assert!(scores.true_alarms(f) < most + 5.0 * (most * (1.0 - most) / 2000.0).sqrt());
    }
    // The power twin: without the noise the bound is broken.
    let (exact, _) = study(n, d, 40, Test::InnerProduct, None);
    assert!(exact.area() > bound::area(e) + 0.1);
    assert!(exact.true_alarms(0.1) > bound::true_alarms(e, Delta::ZERO, 0.1) + 0.2);
}

#[test]
fn areas_and_alarms_are_counted_right() {
    let scores = Scores { members: vec![3.0, 1.0, 2.0], outsiders: vec![0.0, 2.0, 1.5, -1.0] };
    // 3 beats four, 1 beats two, 2 beats three and ties with one: 9.5 of 12.
    assert!((scores.area() - 9.5 / 12.0).abs() < 1e-12);
    assert_eq!(scores.true_alarms(0.0), 1.0 / 3.0);
    assert_eq!(scores.true_alarms(0.25), 2.0 / 3.0);
    assert_eq!(scores.true_alarms(1.0), 1.0);
    assert_eq!(scores.curve(4).len(), 5);
    assert!(Population::new(vec![]).is_err() && Population::new(vec![0.0]).is_err());
}
