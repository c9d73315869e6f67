use super::*;
use demure_core::mechanism::{Budget, Ladder};
use demure_core::random::SeededForTests;
use demure_core::unit::{Epsilon, Neighbours, Rho};

const RELATIONS: [Neighbours; 2] = [Neighbours::AddRemove, Neighbours::Replace];

fn whole(high: f64) -> Bounds {
    Bounds::on(0.0, high, Grid::ONE).unwrap()
}

fn one_row() -> Most {
    Most::of(1, 1)
}

fn share(budget: Budget, neighbours: Neighbours) -> Share {
    Share { budget, delta: None, neighbours }
}

fn pure(epsilon: f64) -> Budget {
    Budget::Pure(Epsilon::new(epsilon).unwrap())
}

fn ends(rank: f64, high: f64, share: &Share) -> Ends {
    Ends::new(rank, whole(high), share, (one_row(), true), None).unwrap()
}

/// The probability of each distance, for the values of a group and a released value.
fn law(ends: &Ends, (up, end): (bool, &End), values: &[u64], at: u64) -> Vec<f64> {
    let far = |x: &u64| if up { x.saturating_sub(at) } else { at.saturating_sub(*x) };
    let counts = end.counts(&ends.distances, values.iter().map(|x| (far(x), 1)));
    let rows: Vec<f64> = (0u32..)
        .zip(counts)
        .flat_map(|(j, n)| std::iter::repeat_n(f64::from(j), n as usize))
        .collect();
    end.quantile.probabilities(&rows).unwrap().into_iter().map(|(_, p)| p).collect()
}

/// All sorted lists of at most so many of these values.
fn databases(values: u64, most: usize) -> Vec<Vec<u64>> {
    let mut all = vec![Vec::new()];
    let mut from = 0;
    for _ in 0..most {
        let to = all.len();
        for i in from..to {
            let least = all[i].last().copied().unwrap_or(0);
            for x in least..values {
                let longer = [&all[i][..], &[x]].concat();
                all.push(longer);
            }
        }
        from = to;
    }
    all
}

/// The i-th value, counted from one, as far as there is one.
fn nth(values: &[u64], i: f64) -> Option<u64> {
    (i >= 1.0).then(|| values.get(i as usize - 1).copied())?
}

#[test] // exact probabilities: every database of at most four values, every released value
fn each_end_is_beyond_the_quantile_but_for_its_probability() {
    let (mut worst, wanted) = (0.0f64, BETA / f64::from(2 * AMONG));
    for neighbours in RELATIONS {
        // At a large ε few rows are made up, and the ends are near.
        for (q, epsilon) in [(0.5, 0.4), (0.5, 12.0), (0.25, 40.0), (0.9, 60.0)] {
            let ends = ends(q, 4.0, &share(pure(epsilon), neighbours));
            for values in databases(5, 4) {
                let place = q * values.len() as f64;
                let (low, high) = (nth(&values, place.floor()), nth(&values, place.ceil() + 1.0));
                for at in 0..5 {
                    for (up, end) in ends.drawn() {
                        let law = law(&ends, (up, end), &values, at);
                        let wrong = law.iter().zip(&ends.distances).filter(|(_, d)| match up {
                            true => high.is_some_and(|high| (at + **d).min(4) < high),
                            false => low.is_some_and(|low| at.saturating_sub(**d) > low),
                        });
                        let wrong: f64 = wrong.map(|(p, _)| p).sum();
                        assert!(wrong <= wanted, "{values:?} {q} {epsilon} {at} {up}: {wrong}");
                        worst = worst.max(wrong);
                    }
                }
            }
        }
    }
    // The bound is no idle one.
    assert!(worst > wanted / 4.0, "{worst}");
}

#[test] // exact probabilities: every pair of neighbours with at most three values
fn an_end_costs_its_share() {
    for neighbours in RELATIONS {
        for (q, epsilon) in [(0.5, 1.0), (0.8, 4.0)] {
            let ends = ends(q, 3.0, &share(pure(epsilon), neighbours));
            let mut largest = 0.0f64;
            for values in databases(4, 3) {
                let others: Vec<Vec<u64>> = match neighbours {
                    Neighbours::AddRemove => (0..4).map(|x| [&values[..], &[x]].concat()).collect(),
                    Neighbours::Replace => values
                        .iter()
                        .enumerate()
                        .flat_map(|(i, _)| (0..4).map(move |x| (i, x)))
                        .map(|(i, x)| {
                            let mut other = values.clone();
                            other[i] = x;
                            other
                        })
                        .collect(),
                };
                for at in 0..4 {
                    for (up, end) in ends.drawn() {
                        let one = law(&ends, (up, end), &values, at);
                        for other in &others {
                            let other = law(&ends, (up, end), other, at);
                            let loss = one.iter().zip(&other).map(|(p, r)| (p / r).ln().abs());
                            largest = loss.fold(largest, f64::max);
                        }
                    }
                }
            }
            assert!(largest <= epsilon * (1.0 + 1e-9), "{neighbours} {q}: {largest}");
            assert!(largest >= 0.4 * epsilon, "{neighbours} {q}: {largest}");
        }
    }
}

/// So many values of 32 distributions, most of them with ties.
fn distributions(n: usize, seed: &mut u64) -> Vec<Vec<u64>> {
    let mut all: Vec<Vec<u64>> = Vec::new();
    // Vigna's splitmix64.
    let mut uniform = |below: u64| {
        *seed = seed.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (*seed ^ (*seed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (mixed ^ (mixed >> 31)) % below
    };
    for kind in 0..32u64 {
        let mut one: Vec<u64> = (0..n)
            .map(|i| match kind {
                0 => 0,
                1 => 1000,
                2 => 500,
                3..=7 => uniform(1 + (kind - 2).pow(4)),
                8..=11 => [0, uniform(1000)][usize::from(uniform(10) < kind - 6)],
                12..=15 => uniform(10) * 10u64.pow((kind - 12) as u32) / 10,
                16..=19 => 1000 / (1 + uniform(3u64.pow((kind - 15) as u32))),
                20..=23 => (0..kind - 17).map(|_| uniform(2)).sum(),
                24..=26 => 400 + uniform(kind - 22),
                27 => [0, 1000][usize::from(uniform(2) == 0)],
                28 => [499, 500, 501][uniform(3) as usize],
                29 => (i as u64 * 1000) / n as u64,
                30 => 1u64 << uniform(10),
                _ => uniform(32).pow(2),
            })
            .collect();
        one.sort_unstable();
        all.push(one);
    }
    all
}

/// The quantile by every usual definition: the values that `percentile_cont` interpolates, and those beside them.
fn truth(values: &[u64], q: f64) -> (f64, f64) {
    let n = values.len() as f64;
    let at = |i: f64| values[(i.max(1.0).min(n) as usize) - 1] as f64;
    (at((q * n).floor()), at((q * n).ceil() + 1.0))
}

fn counted(values: &[u64]) -> Vec<(f64, u64)> {
    values.iter().map(|x| (*x as f64, 1)).collect()
}

#[test] // fixed seed; 1,000 draws for each distribution. 50 misses of 25 expected at most: 5 deviations
fn intervals_hold_the_quantile_whatever_the_distribution() {
    let mut rng = SeededForTests::insecure(11);
    let settings = [
        (Neighbours::AddRemove, pure(0.5), 0.5, 60),
        (Neighbours::Replace, pure(4.0), 0.25, 40),
        (Neighbours::AddRemove, Budget::Concentrated(Rho::new(0.5).unwrap()), 0.9, 80),
        (Neighbours::Replace, Budget::Concentrated(Rho::new(2.0).unwrap()), 0.5, 7),
    ];
    let (mut informative, mut seed) = (0, 1);
    for (neighbours, budget, q, n) in settings {
        let share = share(budget, neighbours);
        let of = ends(q, 1000.0, &share);
        for (kind, values) in distributions(n, &mut seed).into_iter().enumerate() {
            let (low, high) = truth(&values, q);
            let counts = counted(&values);
            let mut missed = 0;
            for draw in 0..1_000 {
                // The released value may be anywhere.
                let value = if draw % 2 == 0 { low } else { f64::from(draw) };
                let found = of.around(value, &counts, &mut rng).unwrap();
                missed += u32::from(found.low > low || found.high < high);
                informative += u32::from(found.high - found.low < 500.0);
            }
            assert!(missed <= 50, "{neighbours} {q} {n} {kind}: {missed} of 1,000 missed");
        }
    }
    assert!(informative > 20_000, "{informative}");
}

#[test] // fixed seed: 2,000 draws, of which 50 may miss, give or take 7
fn where_weights_take_rows_away_the_interval_is_still_that_of_the_rows() {
    let mut rng = SeededForTests::insecure(12);
    // 300 people with a row each, from 100 to 399, and 10 with 20 rows, all far below or above, that count as 2.
    for far in [0.0, 1000.0] {
        let mut rows: Vec<f64> = (100..400).map(f64::from).collect();
        rows.extend(std::iter::repeat_n(far, 200));
        rows.sort_by(f64::total_cmp);
        let mut weighed: Vec<(f64, u64)> = (100..400).map(|x| (f64::from(x), 16)).collect();
        weighed.push((far, 20 * 16));
        let at = Ladder::new(4, 8).unwrap().bounded(1);
        let weights = Weights { at, rung: 1, lost: 180.0 / 500.0, above: 0.1, kept: 0.0 };
        let most = Most { groups: 1, rows: 32, per_row: 16.0, weighted: true };
        let share = share(pure(20.0), Neighbours::AddRemove);
        let of = |weights| Ends::new(0.5, whole(1000.0), &share, (most, true), weights).unwrap();
        let (with, without) = (of(Some(&weights)), of(None));
        let truth = (rows[249], rows[250]);
        let mut missed = |ends: &Ends| {
            let draws = (0..2_000).filter(|_| {
                let found = ends.around(250.0, &weighed, &mut rng).unwrap();
                found.low > truth.0 || found.high < truth.1
            });
            draws.count()
        };
        assert!(missed(&with) <= 85);
        // Without allowing for the loss it would miss the rows' own median.
        assert!(missed(&without) > 1_000);
    }
}

#[test]
fn where_nothing_is_known_the_ends_are_the_bounds() {
    let mut rng = SeededForTests::insecure(13);
    let at = Ladder::new(4, 8).unwrap().bounded(1);
    let weights = Weights { at, rung: 1, lost: 1.0, above: 0.0, kept: 0.0 };
    let share = share(pure(1.0), Neighbours::AddRemove);
    let of = Ends::new(0.5, whole(100.0), &share, (one_row(), true), Some(&weights)).unwrap();
    assert_eq!(of.drawn().count(), 0);
    let found = of.around(30.0, &[(30.0, 1_000_000)], &mut rng).unwrap();
    assert_eq!(found, Located { value: 30.0, low: 0.0, high: 100.0 });
    // Nor is anything known of a few rows at a small ε: almost always the ends are the bounds.
    let of = ends(0.5, 100.0, &Share { budget: pure(0.01), ..share });
    let wide = (0..200).filter(|_| {
        let found = of.around(30.0, &[(30.0, 3)], &mut rng).unwrap();
        (found.low, found.high) == (0.0, 100.0)
    });
    assert!(wide.count() > 190);
}

#[test]
fn distances_grow_by_a_quarter_and_reach_the_bound() {
    assert_eq!(distances(1), [0, 1]);
    assert_eq!(distances(12), [0, 1, 2, 3, 4, 5, 6, 7, 8, 10, 12]);
    for steps in [2, 110, 1_000_000, 1 << 30] {
        let all = distances(steps);
        assert_eq!(all.last(), Some(&steps));
        assert!(
            all.windows(2).all(|two| two[0] < two[1] && two[1] <= two[0] + (two[0] / 4).max(1))
        );
        assert!(all.len() < 100);
    }
}
