use super::*;
use crate::mechanism::{Groups, Sizes, Statistics};
use crate::random::SeededForTests;
use crate::unit::{Epsilon, Neighbours, Rho};

/// What a unit adds to each group at a rung, in steps of the noise: what noise is added to.
fn added(norms: &Norms, rung: usize, sums: &[i128]) -> Vec<i128> {
    let at = norms.at(rung).unwrap();
    let unit = norms.unit(norms.scale(rung), sums);
    let total = |sum: &i128| {
        let mut of = [Contribution::default(), Contribution::default()];
        unit.add(&mut of, *sum);
        norms.totals(rung, &of).unwrap();
        let [positive, negative] = of.each_ref().map(|of| at.total(of) as i128);
        positive - negative
    };
    sums.iter().map(total).collect()
}

fn units() -> Vec<Vec<i128>> {
    let values = [0, 1, -1, 2, -3, 5, -40, 1 << 17, -(1 << 41), 3 << 55, -(1 << 80), i128::MAX];
    let mut all = vec![vec![0; 3]];
    for a in values {
        for b in values {
            all.push(vec![a, b, 0]);
            all.push(vec![b, a, -b.saturating_sub(1)]);
        }
    }
    all
}

#[test]
fn rungs_of_all_scales_are_those_of_one_ladder() {
    for scales in 1..=4 {
        let norms = Norms::new(-3, scales).unwrap();
        for rung in 0..norms.len() {
            let (at, bounds) = (norms.at(rung).unwrap(), norms.bounds(rung).unwrap());
            // R steps of the scale are the bound.
            let bound = at.bound() as f64 * bounds.upper() * 8.0;
            assert_eq!(bound, norms.bound(rung), "{rung}");
            assert_eq!(norms.rung(norms.bound(rung) as u128), rung);
            assert_eq!(norms.rung(norms.bound(rung) as u128 + 1), rung + 1);
            assert!(norms.scale(rung) < norms.scales());
            // Coarse steps are small beside the bound.
            assert!(norms.scale(rung) == 0 || at.bound() > 1 << 23, "{rung}");
        }
        assert_eq!(norms.rung(u128::MAX), norms.len());
    }
    assert!(Norms::new(0, 0).is_err() && Norms::new(0, 5).is_err() && Norms::new(901, 1).is_err());
}

#[test]
fn no_unit_changes_the_sums_by_more_than_is_paid_for() {
    let norms = Norms::new(0, 3).unwrap();
    let units = units();
    let mut tight = [false; 2];
    for rung in (0..norms.len()).step_by(3).chain([1, 2, 4, 79, 80, norms.len() - 1]) {
        let at = norms.at(rung).unwrap();
        let most = u128::from(at.most());
        let all: Vec<Vec<i128>> = units.iter().map(|sums| added(&norms, rung, sums)).collect();
        let l1 = |x: &[i128]| x.iter().map(|x| x.unsigned_abs()).sum::<u128>();
        let l2 = |x: &[i128]| x.iter().map(|x| (*x as f64).powi(2)).sum::<f64>();
        // What the mechanism believes.
        let bounds = norms.bounds(rung).unwrap();
        let sensitivity = |pure: bool, neighbours| {
            let groups = Groups::values(bounds, Statistics::Sum);
            let groups = match pure {
                true => groups.calibrate_weighted(Epsilon::new(1.0).unwrap(), neighbours, &at),
                false => groups.calibrate_weighted(Rho::new(0.5).unwrap(), neighbours, &at),
            };
            let steps = at.per_row() as f64 / bounds.upper();
            groups.unwrap().calibration().sensitivity * steps
        };
        use Neighbours::{AddRemove, Replace};
        for x in &all {
            assert!(l1(x) <= most, "{rung}");
            assert!(l1(x) as f64 <= sensitivity(true, AddRemove) * (1.0 + 1e-12));
            assert!(l2(x).sqrt() <= sensitivity(false, AddRemove) * (1.0 + 1e-12));
            tight[0] |= l1(x) == most;
            for y in &all {
                let moved: Vec<i128> = x.iter().zip(y).map(|(x, y)| x - y).collect();
                assert!(l1(&moved) <= 2 * most, "{rung}");
                tight[1] |= l1(&moved) == 2 * most;
            }
        }
        assert_eq!(sensitivity(true, Replace), 2.0 * most as f64);
        assert!(sensitivity(false, Replace) >= 2.0 * most as f64);
    }
    assert_eq!(tight, [true; 2]);
}

#[test]
fn sums_within_the_bound_are_exact_on_their_scale() {
    let norms = Norms::new(-4, 3).unwrap();
    let sums = [norms.steps(1.5), norms.steps(-200.0), norms.steps(0.0), norms.steps(0.03)];
    assert_eq!(sums, [24, -3200, 0, 0]);
    for rung in norms.rung(3224)..2 * TOP as usize {
        let at = norms.at(rung).unwrap();
        let steps: Vec<i128> = sums.iter().map(|sum| sum * i128::from(at.per_row())).collect();
        assert_eq!(added(&norms, rung, &sums), steps);
    }
    assert_eq!(norms.steps(f64::NAN), 0);
    assert_eq!(norms.steps(f64::INFINITY), 1 << 90);
    assert_eq!(norms.steps(-1e300), -(1 << 90));
}

#[test]
fn a_unit_of_any_size_counts_as_much_as_the_bound() {
    let norms = Norms::new(0, 2).unwrap();
    for sums in [[1i128 << 62, -(1 << 62)], [1 << 88, 1 << 89], [i128::MAX, i128::MIN]] {
        for rung in [0, 7, 40, 90] {
            let most = norms.at(rung).unwrap().most() as f64;
            let counted: i128 = added(&norms, rung, &sums).iter().map(|x| x.abs()).sum();
            assert!(counted as f64 > 0.99 * most && counted as f64 <= most, "{sums:?} {rung}");
        }
    }
}

#[test]
fn a_bound_is_found_at_every_order_of_magnitude() {
    for magnitude in [1e-9, 1e-3, 1.0, 1e6, 1e14] {
        let norms = Norms::new(-36, 4).unwrap();
        let sizes =
            Sizes::of_norms(Epsilon::new(0.1).unwrap(), Neighbours::AddRemove, &norms).unwrap();
        let mut units = vec![0; norms.len() + 1];
        // From 1 to 20 times as large.
        for i in 0..20_000 {
            let size = norms.steps(magnitude * (1.0 + f64::from(i) * 1e-3));
            units[norms.rung(size.unsigned_abs())] += 1;
        }
        let rng = &mut SeededForTests::insecure(5);
        let learnt = sizes.release(&units, rng).unwrap().into_value();
        let bound = norms.bound(learnt.best(1.0, 1)) * 2f64.powi(-36);
        assert!((10.0..50.0).contains(&(bound / magnitude)), "{magnitude}: {bound}");
        let kept = learnt.kept(norms.len() - 1) * 2f64.powi(-36);
        assert!((kept / (21e4 * magnitude) - 1.0).abs() < 0.2, "{magnitude}: {kept}");
    }
}

#[test]
fn a_few_people_are_seen_together_and_nobody_is_not() {
    let norms = Norms::new(-36, 4).unwrap();
    let sizes = Sizes::of_norms(Epsilon::new(0.1).unwrap(), Neighbours::AddRemove, &norms).unwrap();
    let rng = &mut SeededForTests::insecure(9);
    for _ in 0..200 {
        let learnt = sizes.release(&vec![0; norms.len() + 1], rng).unwrap().into_value();
        assert!(!learnt.is_known());
    }
    // 120 people on each of six rungs: none can be seen alone.
    let mut units = vec![0; norms.len() + 1];
    let first = norms.rung(norms.steps(100.0).unsigned_abs());
    units[first..first + 6].fill(120);
    assert!(sizes.least > 160.0);
    let (mut found, mut good) = (0, 0);
    for _ in 0..200 {
        let learnt = sizes.release(&units, rng).unwrap().into_value();
        if learnt.is_known() {
            found += 1;
            let bound = norms.bound(learnt.best(1.0, 1)) * 2f64.powi(-36);
            good += i32::from((100.0..10_000.0).contains(&bound));
        }
    }
    assert!(found > 190 && good > 180, "{found} {good}");
}
