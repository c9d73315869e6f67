use super::super::order::tests::{ALL, databases, replaced, values};
use super::*;
use crate::random::SeededForTests;
use demure_testkit::distribution::Distribution;
use demure_testkit::fit::Fit;
use demure_testkit::neighbours::check;

/// A statistic with a given profile: `min(start + k·growth, most)`.
struct Line {
    value: i128,
    start: u64,
    growth: u64,
    most: u64,
}

impl Statistic for Line {
    fn value(&self) -> i128 {
        self.value
    }
    fn at_distance(&self, k: u64) -> u64 {
        (self.start + k * self.growth).min(self.most)
    }
    fn most(&self) -> Option<u64> {
        Some(self.most)
    }
    fn growth(&self) -> Option<u64> {
        Some(self.growth)
    }
}

/// P[release = o], from the definition.
fn law(ladder: &Ladder, statistic: &dyn Statistic, reach: i128) -> Distribution<i128> {
    let rate = ladder.rate(statistic.growth().unwrap_or(0)).unwrap();
    let floor = ladder.floor().unwrap_or(0);
    let mut weights = vec![1.0];
    let (mut rung, mut far) = (0u64, 0);
    while weights.len() as i128 <= 4 * reach {
        far += i128::from(statistic.at_distance(rung).max(floor));
        rung += 1;
        weights.resize(far as usize + 1, (-rate * rung as f64).exp());
    }
    let mut norm = 1.0;
    for k in 0..(45.0 / rate) as u64 {
        let width = statistic.at_distance(k).max(floor) as f64;
        norm += 2.0 * width * (-rate * (k + 1) as f64).exp();
    }
    let mass = |o: i128| weights[(o - statistic.value()).unsigned_abs() as usize] / norm;
    let listed: f64 = (-reach..=reach).map(mass).sum();
    let table = (-reach..=reach).map(|o| (o, mass(o)));
    Distribution::with_tail(table, (1.0 - listed + 1e-9).clamp(0.0, 1.0))
}

#[test]
fn ladders_are_private_on_all_small_databases() {
    for e in [0.3, 1.0, 3.0] {
        let ladder = Ladder::classic(Epsilon::new(e).unwrap());
        for (name, _, make) in ALL {
            for n in (1..=6).filter(|&n| make(&values(&vec![0; n])).is_some()) {
                let mechanism = |x: &Vec<u8>| law(&ladder, &*make(&values(x)).unwrap(), 40);
                check(mechanism, databases(n), replaced, e, 0.0)
                    .unwrap_or_else(|v| panic!("{name} {n}: {v}"));
            }
        }
    }
}

/// Profiles that differ as neighbours may: value by up to A_0, profile by up to the growth.
#[test]
fn a_floor_pays_for_the_normaliser_and_less_does_not() {
    for (e, floor) in [(1.0, 4), (0.5, 10), (2.0, 1)] {
        let ladder = Ladder::with_floor(Epsilon::new(e).unwrap(), floor).unwrap();
        let mechanism = |&(value, start): &(i128, u64)| {
            law(&ladder, &Line { value, start, growth: 1, most: 30 }, 200)
        };
        let all: Vec<(i128, u64)> =
            (0..12).flat_map(|start| (-20..=20).map(move |value| (value, start))).collect();
        let near = |&(value, start): &(i128, u64)| -> Vec<(i128, u64)> {
            let starts = start.saturating_sub(1)..=(start + 1).min(11);
            let next = starts.flat_map(|s| {
                let reach = s.min(start) as i128;
                (value - reach..=value + reach).map(move |v| (v, s))
            });
            next.filter(|&(v, s)| v.abs() <= 20 && (v, s) != (value, start)).collect()
        };
        let worst = check(mechanism, all.clone(), near, e, 0.0).unwrap();
        assert!(worst.epsilon > 0.75 * e, "{} {e}", worst.epsilon);
        // Without a floor ε′ = ε − ln(1 + 1/c) is too much: profiles of 0 and 1 tell.
        let bare = |&(value, start): &(i128, u64)| {
            let rate = ladder.rate(1).unwrap();
            let classic = Ladder::classic(Epsilon::new(2.0 * rate).unwrap());
            law(&classic, &Line { value, start, growth: 1, most: 30 }, 200)
        };
        if floor > 1 {
            assert!(check(bare, all, near, e, 0.0).is_err());
        }
    }
}

#[test]
fn releases_fit_the_law_and_the_test_has_power() {
    for (seed, e, floor, start) in
        [(1, 1.0, None, 3), (2, 0.5, Some(8), 2), (3, 2.0, None, 0), (4, 0.2, Some(1), 20)]
    {
        let epsilon = Epsilon::new(e).unwrap();
        let ladder = Ladder { epsilon, floor };
        let Ok(_) = ladder.rate(1) else { continue };
        let line = |start| Line { value: 5, start, growth: 1, most: 40 };
        let mut rng = SeededForTests::insecure(seed);
        let samples: Vec<i128> = (0..100_000)
            .map(|_| ladder.release_steps(&line(start), &mut rng).unwrap().into_value())
            .collect();
        let reach = 2_000;
        let right = law(&ladder, &line(start), reach);
        let fit = |law: &Distribution<i128>| {
            Fit::of(samples.iter().copied(), |o| law.probability(&o), -reach..=reach)
        };
        assert!(fit(&right).accepts(), "{e} {floor:?}");
        let off = Ladder { epsilon: Epsilon::new(e * 1.05).unwrap(), floor };
        assert!(fit(&law(&off, &line(start), reach)).rejects(), "{e} {floor:?}");
    }
}

#[test]
fn the_tail_beyond_the_listed_rungs_has_its_weight() {
    // Cut the list short: everything beyond two rungs goes through the proposals.
    let line = Line { value: 0, start: 2, growth: 1, most: 6 };
    let ladder = Ladder::classic(Epsilon::new(1.0).unwrap());
    let mut rungs = ladder.rungs(&line).unwrap();
    rungs.widths.truncate(2);
    let mut rng = SeededForTests::insecure(9);
    let samples: Vec<i128> = (0..200_000)
        .filter_map(|_| rungs.propose(&line, 0, &mut rng).unwrap())
        .take(60_000)
        .collect();
    let right = law(&ladder, &line, 300);
    assert!(Fit::of(samples, |o| right.probability(&o), -300..=300).accepts());
}

#[test]
fn what_cannot_be_weighed_is_refused() {
    let mut rng = SeededForTests::insecure(1);
    let e = |x| Epsilon::new(x).unwrap();
    let line = Line { value: 0, start: 2, growth: 1, most: 1 << 61 };
    assert!(Ladder::classic(e(1.0)).release(&line, &mut rng).is_err());
    assert!(Ladder::with_floor(e(1.0), 0).is_err());
    assert!(Ladder::with_floor(e(0.1), 1).unwrap().rate(1).is_err());
    let line = Line { value: 0, start: 2, growth: 1, most: 100 };
    assert!(Ladder::classic(e(1e-9)).release(&line, &mut rng).is_err());
    assert_eq!(Ladder::for_statistic(e(1.0), &line).unwrap().floor(), Some(6));
    // Steep profiles and tiny ε have no use for a floor.
    let steep = Line { value: 0, start: 1, growth: 1_000, most: 1_000_000 };
    assert_eq!(Ladder::for_statistic(e(1.0), &steep).unwrap().floor(), None);
    let line = Line { value: 0, start: 2, growth: 1, most: 5_000 };
    assert_eq!(Ladder::for_statistic(e(0.1), &line).unwrap().floor(), Some(60));
    assert_eq!(Ladder::for_statistic(e(0.01), &line).unwrap().floor(), None);
}
