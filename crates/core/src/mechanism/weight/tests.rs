use super::*;
use crate::random::SeededForTests;
use crate::unit::Epsilon;

fn ladder() -> Ladder {
    Ladder::new(3, 7).unwrap()
}

#[test]
fn rungs_are_powers_of_two_and_what_is_half_way() {
    let ladder = Ladder::new(5, 8).unwrap();
    let bounds: Vec<u64> = (0..ladder.len()).map(|rung| ladder.bound(rung)).collect();
    assert_eq!(bounds, [1, 2, 3, 4, 6, 8, 12, 16, 24, 32]);
    for size in 0..=32 {
        let rung = ladder.rung(size);
        assert!(ladder.bound(rung) >= size);
        assert!(rung == 0 || ladder.bound(rung - 1) < size, "{size}");
    }
    for size in [33, 48, 49, 1 << 40, u64::MAX] {
        assert_eq!(ladder.rung(size), ladder.len());
    }
    assert!(
        Ladder::new(0, 3).is_err() && Ladder::new(4, 3).is_err() && Ladder::new(4, 45).is_err()
    );
}

/// The vector that one unit adds, at the bound of a rung.
fn added(ladder: Ladder, size: u64, v: &[u64], rung: usize) -> Vec<u128> {
    let (unit, bounded) = (ladder.unit(size), ladder.bounded(rung));
    v.iter()
        .map(|&amount| {
            let mut total = Contribution::default();
            unit.add(&mut total, amount);
            bounded.total(&total)
        })
        .collect()
}

/// All vectors of three groups, every rung, both norms.
#[test]
fn no_unit_counts_more_than_the_bound() {
    let ladder = ladder();
    let mut reached = [false; 2];
    for code in 0..13u64.pow(3) {
        let v = [code % 13, code / 13 % 13, code / 169];
        let l1: u64 = v.iter().sum();
        let square: u64 = v.iter().map(|x| x * x).sum();
        let l2 = (0..).find(|n| n * n >= square).unwrap();
        for rung in 0..ladder.len() {
            let bounded = ladder.bounded(rung);
            let most = u128::from(bounded.most());
            assert_eq!(bounded.most(), bounded.per_row() * ladder.bound(rung));
            let by_l1 = added(ladder, l1, &v, rung);
            assert!(by_l1.iter().sum::<u128>() <= most, "{v:?} {rung}");
            reached[0] |= by_l1.iter().sum::<u128>() == most;
            let by_l2 = added(ladder, l2, &v, rung);
            assert!(by_l2.iter().map(|x| x * x).sum::<u128>() <= most * most, "{v:?} {rung}");
            reached[1] |= by_l2.iter().map(|x| x * x).sum::<u128>() == most * most;
            // What is within the bound counts in full, and the rest with its weight, less one part in 2⁴ (in 2⁷/n where n is
            // above all rungs).
            let rounded = (l1 as f64 / 128.0).max(1.0 / 16.0);
            let weight = (bounded.bound() as f64 / l1.max(1) as f64).min(1.0);
            for (&x, &amount) in by_l1.iter().zip(&v) {
                let found = x as f64 / bounded.per_row() as f64;
                let exact = weight * amount as f64;
                assert!(
                    found <= exact + 1e-9 && found >= exact * (1.0 - rounded),
                    "{v:?} {rung} {found}"
                );
                assert!(l1 > bounded.bound() || found == exact);
            }
        }
    }
    assert_eq!(reached, [true; 2], "the bounds are met");
}

#[test]
fn weights_are_rounded_down() {
    let ladder = Ladder::new(20, 28).unwrap();
    for size in [1u64, 3, 1000, 12_345, 1 << 20] {
        let unit = ladder.unit(size);
        let p = size.next_power_of_two().ilog2();
        let p = if unit.rung().is_multiple_of(2) && unit.rung() > 0 { p.max(2) } else { p };
        assert_eq!(unit.weight(), (1 << (8 + p)) / size, "{size}");
        assert_eq!(unit.part(77), 77 * u128::from(unit.weight()));
        assert_eq!(unit.part(u128::MAX), u128::MAX);
    }
    // Above all rungs: by the last power of two.
    assert_eq!(ladder.unit((1 << 20) + 1).weight(), (1 << 28) / ((1 << 20) + 1));
    assert_eq!(ladder.unit(u64::MAX).weight(), 0);
}

#[test]
fn parts_of_the_data_add_up() {
    let ladder = ladder();
    let (mut all, mut first, mut second) =
        (Contribution::default(), Contribution::default(), Contribution::default());
    for size in 1..30 {
        let unit = ladder.unit(size);
        unit.add(&mut all, size / 2);
        unit.add(if size % 3 == 0 { &mut first } else { &mut second }, size / 2);
    }
    first.merge(&second);
    assert!(first == all);
    assert_eq!(format!("{all:?} {:?}", ladder.unit(7)), "Contribution(protected) Unit(protected)");
}

#[test]
fn noise_alone_never_makes_a_large_bound() {
    let ladder = Ladder::new(20, 28).unwrap();
    for neighbours in [Neighbours::AddRemove, Neighbours::Replace] {
        let sizes = Sizes::new(Epsilon::new(0.1).unwrap(), neighbours, ladder).unwrap();
        let mut rng = SeededForTests::insecure(7);
        let nobody = vec![0; ladder.len() + 1];
        for _ in 0..2_000 {
            let learnt = sizes.release(&nobody, &mut rng).unwrap().into_value();
            assert!(!learnt.is_known());
            assert_eq!(
                (learnt.best(1e-9, 1), learnt.share_above(0), learnt.share_lost(0)),
                (0, 0.0, 1.0)
            );
        }
        assert!(sizes.release(&nobody[1..], &mut rng).is_err());
    }
}

#[test]
fn the_bound_balances_noise_and_loss() {
    let ladder = Ladder::new(10, 18).unwrap();
    let sizes = Sizes::new(Epsilon::new(1.0).unwrap(), Neighbours::AddRemove, ladder).unwrap();
    let mut units = vec![0; ladder.len() + 1];
    units[ladder.rung(3)] = 9_000;
    units[ladder.rung(12)] = 1_000;
    let mut rng = SeededForTests::insecure(8);
    let learnt = sizes.release(&units, &mut rng).unwrap().into_value();
    // 1,000 are taken to have 10.5. They lose 2.5 each at 8, as bad as noise of 625 a row; 7.5 at 3.
    for (noise, bound) in [(10.0, 12), (550.0, 12), (800.0, 8), (1_100.0, 3), (12_000.0, 1)] {
        assert_eq!(ladder.bound(learnt.best(noise, 1)), bound, "{noise}");
        assert_eq!(ladder.bound(learnt.best(noise / 50.0, 50)), bound, "{noise}");
    }
    assert!((learnt.share_above(ladder.rung(3)) - 0.1).abs() < 0.01);
    assert!((learnt.lost(ladder.rung(3)) / 7_500.0 - 1.0).abs() < 0.05);
    assert!((learnt.share_lost(ladder.rung(3)) / (7_500.0 / 37_500.0) - 1.0).abs() < 0.1);
    // Above 12 nobody is seen, and hardly anyone is taken to be.
    assert!(learnt.lost(ladder.rung(12)) < 100.0 && learnt.share_lost(ladder.rung(12)) < 0.01);
}

/// Where sizes follow a power law, those who have the most are few and hidden by noise, and have much of all rows.
#[test]
fn a_long_tail_is_allowed_for_and_a_short_one_costs_little() {
    let ladder = Ladder::new(20, 30).unwrap();
    let sizes = Sizes::new(Epsilon::new(0.1).unwrap(), Neighbours::AddRemove, ladder).unwrap();
    let mut rng = SeededForTests::insecure(9);
    let mut of = |people: u64, size: fn(f64) -> f64| {
        let all: Vec<u64> =
            (0..people).map(|i| size((i as f64 + 0.5) / people as f64).ceil() as u64).collect();
        let mut units = vec![0; ladder.len() + 1];
        all.iter().for_each(|size| units[ladder.rung(*size)] += 1);
        let learnt = sizes.release(&units, &mut rng).unwrap().into_value();
        let rung = learnt.best(1.0, 1);
        let bound = ladder.bound(rung);
        let lost: u64 = all.iter().map(|size| size.saturating_sub(bound)).sum();
        let share = lost as f64 / all.iter().sum::<u64>() as f64;
        (bound, share, learnt.share_lost(rung))
    };
    // Pareto, 1.5: at a bound of 200 the largest 300 of 100,000 have 7 % of all rows.
    let (bound, lost, stated) = of(100_000, |u| (1.0 - u).powf(-1.0 / 1.5));
    assert!((500..20_000).contains(&bound), "{bound}");
    assert!(lost <= stated && stated < 0.1, "{lost} {stated}");
    // One to ten rows: nothing is lost, and little is allowed for.
    let (bound, lost, stated) = of(20_000, |u| 1.0 + 9.0 * u);
    assert!((12..=24).contains(&bound) && lost == 0.0 && stated < 0.003, "{bound} {stated}");
    // One row.
    let (bound, lost, stated) = of(30_000, |_| 1.0);
    assert!(bound <= 3 && lost == 0.0 && stated < 0.003, "{bound} {stated}");
}

/// Rounding a weight down takes at most one part in 2^t of a unit of up to 2^P rows, and at most n parts in 2^(t+P) of a
/// larger one.
#[test]
fn rounding_takes_no_more_than_is_said() {
    // As the curator chooses it for a wide variance at a small ε: P = 7, t = 8.
    let ladder = Ladder::new(7, 15).unwrap();
    for rung in 0..ladder.len() {
        let at = ladder.bounded(rung);
        for size in [3, 100, 127, 128, 129, 200, 5_000, 20_000, 32_768, 32_769, 1 << 20] {
            let mut total = Contribution::default();
            ladder.unit(size).add(&mut total, size);
            let (counted, truth) = (at.total(&total), u128::from(at.most()));
            if size > at.bound() {
                let lost = u128::from(size.clamp(128, 32_768));
                assert!(counted <= truth && counted * 32_768 >= truth * (32_768 - lost), "{size}");
            }
        }
    }
}
