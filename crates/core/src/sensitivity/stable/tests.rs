use super::super::gate::tests::opening;
use super::*;
use crate::random::SeededForTests;
use demure_testkit::datasets::{histogram_add_or_remove_one, histogram_replace_one, histograms};
use demure_testkit::distribution::Distribution;
use demure_testkit::neighbours::check;

fn near(neighbours: Neighbours) -> impl Fn(&Vec<u64>) -> Vec<Vec<u64>> {
    move |x| match neighbours {
        Neighbours::Replace => histogram_replace_one(x),
        Neighbours::AddRemove => histogram_add_or_remove_one(x),
    }
}

type Answer = fn(&Tally) -> (Vec<usize>, Distance);
const ANSWERS: [(&str, Answer); 4] = [
    ("winner", |t| {
        let (winner, distance) = t.winner();
        (vec![winner], distance)
    }),
    ("top 2", |t| t.top(2)),
    ("first two in order", |t| t.ranking(2)),
    ("all", |t| t.top(3)),
];

fn tally(x: &[u64], neighbours: Neighbours) -> Tally {
    Tally::votes(x, neighbours).unwrap()
}

#[test]
fn vote_distances_are_exact() {
    for neighbours in [Neighbours::Replace, Neighbours::AddRemove] {
        // Enough rows that the nearest other answer is never outside.
        let all = histograms(3, 12);
        for (name, answer) in ANSWERS {
            for x in all.iter().filter(|x| (1..=5).contains(&x.iter().sum::<u64>())) {
                let (truth, Distance::ToOtherAnswer(claimed)) = answer(&tally(x, neighbours))
                else {
                    panic!()
                };
                // Breadth first to another answer.
                let mut seen = std::collections::BTreeSet::from([x.clone()]);
                let mut shell = vec![x.clone()];
                let mut steps = 0u64;
                let other = |y: &Vec<u64>| answer(&tally(y, neighbours)).0 != truth;
                while steps < 6 && !shell.iter().any(&other) {
                    let next: Vec<_> = shell.iter().flat_map(near(neighbours)).collect();
                    shell = next.into_iter().filter(|y| seen.insert(y.clone())).collect();
                    steps += 1;
                }
                let exact = if shell.iter().any(&other) { steps } else { u64::MAX };
                assert_eq!(claimed, exact, "{name} {x:?} {neighbours}");
            }
        }
    }
}

/// The law of a stable release.
fn law(stable: &Stable, answer: Vec<usize>, distance: u64) -> Distribution<Option<Vec<usize>>> {
    let p = opening(&stable.gate, distance);
    Distribution::new([(Some(answer), p), (None, 1.0 - p)])
}

#[test]
fn stable_answers_are_private_in_both_relations_and_off_by_one_is_not() {
    let stable = |e, d| Stable::new(Epsilon::new(e).unwrap(), Delta::new(d).unwrap()).unwrap();
    for neighbours in [Neighbours::Replace, Neighbours::AddRemove] {
        for (name, answer) in ANSWERS {
            for (e, d) in [(1.0, 1e-3), (0.3, 0.1), (2.0, 1e-6)] {
                let stable = stable(e, d);
                let mechanism = |x: &Vec<u64>| {
                    let (answer, distance) = answer(&tally(x, neighbours));
                    law(&stable, answer, distance.to_unstable())
                };
                let all = || histograms(3, 6);
                check(mechanism, all(), near(neighbours), e, d)
                    .unwrap_or_else(|v| panic!("{name}: {v}"));
                // The classic off-by-one: a distance to another answer taken for one to instability.
                let off = |x: &Vec<u64>| {
                    let (answer, distance) = answer(&tally(x, neighbours));
                    law(&stable, answer, distance.to_unstable().saturating_add(1))
                };
                let seen = check(off, all(), near(neighbours), e, d);
                assert!(seen.is_err() || name == "all", "{name} {neighbours}");
            }
        }
    }
}

#[test]
fn modes_of_an_open_domain_are_private() {
    let (e, d) = (0.7, 0.01);
    let stable = Stable::new(Epsilon::new(e).unwrap(), Delta::new(d).unwrap()).unwrap();
    for neighbours in [Neighbours::Replace, Neighbours::AddRemove] {
        let mechanism = |x: &Vec<u64>| {
            let rows = (0..3usize).flat_map(|v| std::iter::repeat_n(v, x[v] as usize));
            let (mode, distance) = mode(rows, neighbours);
            law(&stable, mode.into_iter().collect(), distance.to_unstable())
        };
        check(mechanism, histograms(3, 6), near(neighbours), e, d)
            .unwrap_or_else(|v| panic!("{v}"));
    }
    assert_eq!(mode::<u8>([], Neighbours::Replace).0, None);
    assert_eq!(mode([3, 1, 3, 1, 2], Neighbours::Replace).0, Some(1));
}

#[test]
fn modes_of_people_with_several_rows_are_private_and_counting_them_as_one_is_not() {
    let (e, d) = (0.7, 0.01);
    let stable = Stable::new(Epsilon::new(e).unwrap(), Delta::new(d).unwrap()).unwrap();
    for neighbours in [Neighbours::Replace, Neighbours::AddRemove] {
        // One unit is at most two rows.
        let two = |x: &Vec<u64>| {
            let mut all: Vec<Vec<u64>> = histogram_add_or_remove_one(x);
            let again: Vec<_> = all.iter().flat_map(|y| histogram_add_or_remove_one(y)).collect();
            if neighbours == Neighbours::AddRemove {
                // Both come, or both go.
                let total = x.iter().sum::<u64>();
                all.extend(again.into_iter().filter(|y| y.iter().sum::<u64>() != total));
                return all;
            }
            all.extend(again);
            let once: Vec<_> = all.iter().flat_map(|y| histogram_replace_one(y)).collect();
            all.extend(once.iter().flat_map(|y| histogram_replace_one(y)));
            all.extend(once);
            let most = |a: u64, b: u64| a.saturating_sub(b);
            all.retain(|y| {
                let gone: u64 = x.iter().zip(y).map(|(a, b)| most(*a, *b)).sum();
                let come: u64 = x.iter().zip(y).map(|(a, b)| most(*b, *a)).sum();
                gone <= 2 && come <= 2
            });
            all
        };
        let by = |rows: u32| {
            let stable = &stable;
            move |x: &Vec<u64>| {
                let counts = (0..3usize).filter(|v| x[*v] > 0).map(|v| (v, x[v])).collect();
                let (mode, distance) = mode_of_counts(counts, rows, neighbours);
                law(stable, mode.into_iter().collect(), distance.to_unstable())
            }
        };
        check(by(2), histograms(3, 7), two, e, d).unwrap_or_else(|v| panic!("{v}"));
        assert!(check(by(1), histograms(3, 7), two, e, d).is_err(), "{neighbours}");
    }
}

#[test]
fn a_clear_winner_comes_back_and_a_close_one_does_not() {
    let stable = Stable::new(Epsilon::new(1.0).unwrap(), Delta::new(1e-9).unwrap()).unwrap();
    let mut rng = SeededForTests::insecure(3);
    let mut released = |counts: &[u64]| {
        let (winner, distance) = tally(counts, Neighbours::Replace).winner();
        (0..100)
            .filter_map(|_| stable.release(winner, distance, &mut rng).unwrap().into_value())
            .collect::<Vec<_>>()
    };
    assert_eq!(released(&[10, 200, 30]), vec![1; 100]);
    assert!(released(&[10, 200, 199]).is_empty());
    // Scores of sensitivity Δ: the gap counts in steps of 2Δ.
    let models = Tally::scores(vec![-900, -100, -750], 10).unwrap();
    assert_eq!(models.winner(), (1, Distance::ToOtherAnswer(33)));
    assert!(Tally::scores(vec![], 1).is_err() && Tally::scores(vec![1], 0).is_err());
    let text = format!("{models:?} {:?}", models.winner().1);
    assert!(!text.contains("900") && !text.contains("33"), "{text}");
}
