use super::super::bounded::tests::{accumulate, bounds, epsilon};
use super::super::{Contribution, Ladder};
use super::*;
use crate::random::SeededForTests;
use crate::unit::Rho;
use crate::utility::Accuracy;
use Neighbours::{AddRemove, Replace};
use demure_testkit::fit::Fit;

const ALL: [Statistics; 4] =
    [Statistics::Count, Statistics::Sum, Statistics::Mean, Statistics::Variance];

fn rho(x: f64) -> Rho {
    Rho::new(x).unwrap()
}

fn beta(x: f64) -> Beta {
    Beta::new(x).unwrap()
}

fn of(g: u32, m: u32) -> Contributions {
    Contributions::new(g, m).unwrap()
}

fn totals(b: Bounds, values: &[f64], nulls: u64) -> GroupTotals {
    GroupTotals::values(accumulate(b, values.iter().copied()), nulls)
}

/// What one unit may have in a group: at most m rows, each NULL, NaN or a value.
fn pieces(b: Bounds, m: u32) -> Vec<GroupTotals> {
    let mut codes = vec![None, Some(f64::NAN), Some(f64::INFINITY)];
    codes.extend((0..=b.width).map(|u| Some(b.lower() + u as f64)));
    let rows = demure_testkit::datasets::rows(&codes, 0..=m as usize);
    let piece = |rows: &Vec<Option<f64>>| {
        let values: Vec<f64> = rows.iter().flatten().copied().collect();
        totals(b, &values, (rows.len() - values.len()) as u64)
    };
    rows.iter().map(piece).collect()
}

/// All units' own vectors, over `among` groups of which each has at most g.
fn units(mechanism: &Groups, b: Bounds, of: Contributions, among: usize) -> Vec<Vec<i128>> {
    let mut own: Vec<Vec<i128>> =
        pieces(b, of.per_group()).iter().map(|p| mechanism.vector(p).unwrap()).collect();
    own.sort();
    own.dedup();
    let nothing = vec![0; mechanism.parts()];
    let mut all: Vec<(usize, Vec<i128>)> = vec![(0, Vec::new())];
    for _ in 0..among {
        let longer = |(used, unit): &(usize, Vec<i128>)| {
            own.iter()
                .map(|piece| (used + usize::from(*piece != nothing), [&unit[..], piece].concat()))
                .filter(|(used, _)| *used <= of.groups() as usize)
                .collect::<Vec<_>>()
        };
        all = all.iter().flat_map(longer).collect();
    }
    all.into_iter().map(|(_, unit)| unit).collect()
}

/// The largest ‖·‖₁ and ‖·‖₂² between neighbours; the other units cancel.
fn largest(units: &[Vec<i128>], neighbours: Neighbours) -> (u128, u128) {
    let nobody = [vec![0; units[0].len()]];
    let from = if neighbours == AddRemove { &nobody[..] } else { units };
    let mut most = (0, 0);
    for x in from {
        for y in units {
            let (mut l1, mut l2) = (0, 0);
            for (p, q) in x.iter().zip(y) {
                let d = p.abs_diff(*q);
                (l1, l2) = (l1 + d, l2 + d * d);
            }
            most = (most.0.max(l1), most.1.max(l2));
        }
    }
    most
}

#[test]
fn sensitivities_hold_on_all_small_datasets_and_are_tight() {
    for (lower, upper) in [(0.0, 1.0), (-1.0, 1.0), (3.0, 4.0), (-5.0, -4.0), (-1.0, 2.0)] {
        let b = bounds(lower, upper);
        for wanted in ALL {
            for with_nulls in [false, true] {
                if wanted == Statistics::Sum && with_nulls {
                    continue;
                }
                // (groups in all, g, m): room for 2g groups, and less than that.
                for (among, g, m) in
                    [(1, 1, 1), (1, 1, 2), (2, 1, 1), (3, 1, 2), (3, 2, 1), (4, 2, 1)]
                {
                    if among == 4 && wanted == Statistics::Variance && with_nulls {
                        continue; // 2 million more pairs would show nothing new
                    }
                    for neighbours in [AddRemove, Replace] {
                        let single = among == 1;
                        let make = |budget: Budget| {
                            Groups::values(b, wanted)
                                .with_nulls(with_nulls)
                                .single_group(single)
                                .calibrate(budget, neighbours, of(g, m))
                                .unwrap()
                        };
                        let pure = make(epsilon(1.0).into());
                        let found = largest(&units(&pure, b, of(g, m), among), neighbours);
                        let name =
                            format!("{b:?} {wanted:?} {with_nulls} {neighbours} {among} {g} {m}");
                        // At ε = 1 the scale is Δ₁; at ρ = ½, σ is Δ₂.
                        let l1 = pure.noise.calibration().scale;
                        let l2 = make(rho(0.5).into()).noise.calibration().scale;
                        assert!(found.0 as f64 <= l1 * (1.0 + 1e-12), "{name}");
                        assert!(found.1 as f64 <= l2 * l2 * (1.0 + 1e-12), "{name}");
                        let disjoint = among >= 2 * g as usize;
                        if neighbours == AddRemove || single || disjoint || pure.parts() > 1 {
                            assert!((found.0 as f64 - l1).abs() < 1e-9, "{name} {found:?} {l1}");
                            assert!((found.1 as f64 - l2 * l2).abs() < 1e-9, "{name} {found:?}");
                        }
                    }
                }
            }
        }
    }
    // The twin: the Δ of a single group is not enough for two.
    let b = bounds(0.0, 1.0);
    for wanted in [Statistics::Count, Statistics::Sum] {
        let alone =
            Groups::values(b, wanted).single_group(true).calibrate(epsilon(1.0), Replace, of(1, 1));
        let alone = alone.unwrap();
        let found = largest(&units(&alone, b, of(1, 1), 2), Replace);
        assert!(found.0 as f64 > alone.noise.calibration().scale + 0.5);
    }
}

#[test]
fn calibrations_are_the_documented_formulas() {
    // a = −1, b = 3, m = 2, g = 3: M = 3, D = 4, b − a = 4.
    let b = Bounds::new(-1.0, 3.0).unwrap();
    let table = [
        (Statistics::Count, false, false, [6.0, 12.0, 12.0, 24.0]),
        (Statistics::Count, true, false, [6.0, 12.0, 12.0, 24.0]),
        (Statistics::Count, false, true, [2.0, 4.0, 2.0, 4.0]),
        (Statistics::Count, true, true, [2.0, 4.0, 4.0, 8.0]),
        (Statistics::Sum, false, false, [18.0, 108.0, 36.0, 216.0]),
        (Statistics::Sum, false, true, [6.0, 36.0, 8.0, 64.0]),
        (Statistics::Mean, false, false, [24.0, 192.0, 48.0, 384.0]),
        (Statistics::Mean, true, true, [8.0, 64.0, 16.0, 128.0]),
        (Statistics::Variance, true, false, [96.0, 3072.0, 192.0, 6144.0]),
    ];
    for (wanted, nulls, single, formulas) in table {
        for (relation, at) in [(AddRemove, 0), (Replace, 2)] {
            let make = |budget: Budget| {
                Groups::values(b, wanted)
                    .with_nulls(nulls)
                    .single_group(single)
                    .calibrate(budget, relation, of(3, 2))
                    .unwrap()
            };
            let pure = make(epsilon(0.5).into());
            assert_eq!(pure.calibration().sensitivity, formulas[at], "{wanted:?}");
            assert_eq!(pure.calibration().scale, 2.0 * formulas[at], "{wanted:?}");
            assert_eq!(pure.guarantee(), Guarantee::Pure(epsilon(0.5)));
            let zcdp = make(rho(0.125).into()).calibration();
            let found = zcdp.sensitivity * zcdp.sensitivity / formulas[at + 1];
            assert!((1.0 - 1e-14..1.0 + 1e-14).contains(&found), "{wanted:?} {found}");
            assert!((zcdp.scale / zcdp.sensitivity - 2.0).abs() < 1e-12);
        }
    }
    // M = 1, D = 2: two overlapping groups are worse than four apart, in ℓ₂.
    let even = bounds(-1.0, 1.0);
    let sum = Groups::values(even, Statistics::Sum).calibrate(rho(0.5), Replace, of(3, 1));
    assert!((sum.unwrap().calibration().sensitivity.powi(2) - 12.0).abs() < 1e-12);
    let count = Groups::counts().calibrate(epsilon(1.0), Replace, of(3, 2)).unwrap();
    assert_eq!(count.calibration().sensitivity, 12.0);
}

#[test] // the release draws the noise that was calibrated; 5 % off is noticed
fn releases_fit_their_law() {
    let b = bounds(0.0, 2.0);
    for (budget, s) in [(Budget::from(epsilon(0.5)), 8.0), (rho(0.125).into(), 32f64.sqrt())] {
        // Parts (u, 2−u) and a third for NULLs: Δ₁ = 2·2 and Δ₂² = 2·2².
        let mean = Groups::values(b, Statistics::Mean).with_nulls(true).calibrate(
            budget,
            Replace,
            of(1, 1),
        );
        let mean = mean.unwrap();
        assert!((mean.noise.calibration().scale - s).abs() < 1e-12);
        let groups = vec![totals(b, &[2.0, 2.0, 1.0], 4); 70_000];
        let mut rng = SeededForTests::insecure(8);
        let found = mean.release(&groups, &mut rng).unwrap().into_value();
        // The parts are (5, 1, 8): sum, 2·count − sum and 2·rows − 2·count are their draws.
        let parts = found.iter().flat_map(|group| {
            let (count, rows) = (group.count.unwrap(), group.rows.unwrap());
            let sum = group.sum.unwrap();
            [sum - 5.0, 2.0 * count - sum - 1.0, 2.0 * (rows - count) - 8.0]
        });
        let noise: Vec<i128> = parts.map(|z| z as i128).collect();
        let fit = |s: f64| {
            let weight = |k: i128| match budget {
                Budget::Pure(_) => (-(k.abs() as f64) / s).exp(),
                Budget::Concentrated(_) => (-0.5 * (k as f64 / s).powi(2)).exp(),
            };
            let norm: f64 = (-500..=500).map(weight).sum();
            Fit::of(noise.iter().copied(), |k| weight(k) / norm, -30..=30)
        };
        assert!(fit(s).accepts() && fit(s * 1.05).rejects());
    }
}

#[test]
fn next_to_no_noise_gives_the_statistics_of_the_clamped_values() {
    let b = Bounds::on(-2.0, 5.0, Grid::power_of_two(-3).unwrap()).unwrap();
    let data: [(&[f64], u64); 4] =
        [(&[-2.0, 4.5, 0.125, 9.0], 3), (&[1.5], 0), (&[], 5), (&[-7.0, f64::NAN], 1)];
    let groups: Vec<GroupTotals> = data.iter().map(|(v, nulls)| totals(b, v, *nulls)).collect();
    let mut rng = SeededForTests::insecure(3);
    for wanted in ALL {
        for with_nulls in [false, true] {
            if wanted == Statistics::Sum && with_nulls {
                continue;
            }
            let huge = Groups::values(b, wanted).with_nulls(with_nulls).calibrate(
                epsilon(1e9),
                Replace,
                of(2, 3),
            );
            let release = huge.unwrap().release(&groups, &mut rng).unwrap();
            assert_eq!(release.guarantee(), Guarantee::Pure(epsilon(1e9)));
            for ((values, nulls), found) in data.iter().zip(release.value()) {
                let clamped =
                    |v: &f64| if v.is_nan() { 0.0 } else { v.clamp(b.lower(), b.upper()) };
                let values: Vec<f64> = values.iter().map(clamped).collect();
                let n = values.len() as f64;
                let sum: f64 = values.iter().sum();
                let mean = if n == 0.0 { 1.5 } else { sum / n };
                let squares: f64 = values.iter().map(|v| (v - mean).powi(2)).sum();
                let variance = if n == 0.0 { 0.0 } else { squares / n };
                let near = |found: Option<f64>, there: bool, truth: f64| match found {
                    Some(x) => there && (x - truth).abs() < 1e-12,
                    None => !there,
                };
                let degree = wanted.degree();
                assert!(near(found.count, wanted != Statistics::Sum, n), "{wanted:?} {found:?}");
                assert!(near(found.rows, with_nulls, n + *nulls as f64), "{found:?}");
                assert!(near(found.sum, wanted != Statistics::Count, sum), "{wanted:?} {found:?}");
                assert!(near(found.mean, degree > 0, mean), "{wanted:?} {found:?} {mean}");
                assert!(near(found.variance, degree > 1, variance), "{found:?} {variance}");
            }
        }
    }
}

#[test] // 20,000 draws at β = .05: more than 5.8 % has probability below 1e-6
fn errors_are_exceeded_as_often_as_stated_and_the_test_has_power() {
    let b = Bounds::on(-1.0, 3.0, Grid::power_of_two(-4).unwrap()).unwrap();
    let values: Vec<f64> = (0..600).map(|i| f64::from(i % 65) / 16.0 - 1.0).collect();
    let n = values.len() as f64;
    let sum: f64 = values.iter().sum();
    let variance = values.iter().map(|v| (v - sum / n).powi(2)).sum::<f64>() / n;
    let groups = vec![totals(b, &values, 40); 20_000];
    let mut rng = SeededForTests::insecure(12);
    let often = |errors: &mut dyn Iterator<Item = f64>, t: f64| {
        errors.filter(|error| *error > t).count() as f64 / 20_000.0
    };
    for budget in [Budget::from(epsilon(0.5)), Budget::from(rho(0.05))] {
        for wanted in ALL {
            let nulls = wanted != Statistics::Sum;
            let made =
                Groups::values(b, wanted).with_nulls(nulls).calibrate(budget, AddRemove, of(1, 1));
            let made = made.unwrap();
            let found = made.release(&groups, &mut rng).unwrap().into_value();
            // Each number, its error bound, and how loose it may be (0: however).
            type Read = fn(&GroupSummary) -> Option<f64>;
            let rows = 600;
            let numbers: [(Read, Option<f64>, f64, f64); 5] = [
                (|g| g.count, made.count_error(beta(0.05)).unwrap(), n, 0.7),
                (|g| g.rows, made.rows_error(beta(0.05)).unwrap(), n + 40.0, 0.7),
                (|g| g.sum, made.sum_error(beta(0.05)).unwrap(), sum, 0.6),
                (|g| g.mean, made.mean_error(rows, beta(0.05)).unwrap(), sum / n, 0.0),
                (|g| g.variance, made.variance_error(rows, beta(0.05)).unwrap(), variance, 0.0),
            ];
            for (read, bound, truth, loose) in numbers {
                let Some(t) = bound else {
                    assert!(found.iter().all(|group| read(group).is_none()));
                    continue;
                };
                let errors = || found.iter().map(|group| (read(group).unwrap() - truth).abs());
                let rate = often(&mut errors(), t);
                assert!(rate <= 0.058, "{wanted:?} {t} {rate}");
                let rate = often(&mut errors(), loose * t);
                assert!(rate > 0.058, "{wanted:?} {budget:?} {t} {rate}"); // the twin
            }
        }
    }
}

#[test]
fn error_bounds_of_nothing_and_of_weights() {
    let b = bounds(0.0, 4.0);
    let mean = Groups::values(b, Statistics::Mean).single_group(true).calibrate(
        epsilon(1.0),
        AddRemove,
        of(1, 1),
    );
    let mean = mean.unwrap();
    // No rows: anywhere between the bounds. a = 0: the sum is one part, with its own law.
    assert_eq!(mean.mean_error(0, beta(0.05)).unwrap(), Some(4.0));
    let one = mean.noise.error(beta(0.05)).unwrap();
    let sum = mean.sum_error(beta(0.05)).unwrap().unwrap();
    assert!(sum >= one && sum <= one * (1.0 + 1e-12));
    assert_eq!(mean.variance_error(10, beta(0.05)).unwrap(), None);
    assert_eq!(mean.rows_error(beta(0.05)).unwrap(), None);
    let count = Groups::counts().calibrate(epsilon(1.0), AddRemove, of(1, 1)).unwrap();
    // P[|Z| > 2] = 2a³/(1+a) = 0.073, P[|Z| > 3] = 0.027.
    assert_eq!(count.count_error(beta(0.05)).unwrap(), Some(3.0));
    assert_eq!(count.sum_error(beta(0.05)).unwrap(), None);
    assert_eq!(count.mean_error(10, beta(0.05)).unwrap(), None);
    let variance = Groups::values(b, Statistics::Variance)
        .with_nulls(true)
        .calibrate(rho(1.0), Replace, of(2, 2))
        .unwrap();
    let most = variance.variance_error(0, beta(0.05)).unwrap().unwrap();
    assert!((4.0..4.0 + 1e-14).contains(&most));
    let error = |n| variance.mean_error(n, beta(0.05)).unwrap().unwrap();
    assert!(error(10_000) < error(1_000) && error(10_000) < 0.6);
}

#[test]
fn special_values_and_bad_parameters() {
    let (e, b, mut rng) = (epsilon(1.0), bounds(0.0, 1.0), SeededForTests::insecure(1));
    let make = |wanted, nulls, m, single| {
        Groups::values(b, wanted).with_nulls(nulls).single_group(single).calibrate(
            e,
            Replace,
            of(7, m),
        )
    };
    assert!(make(Statistics::Sum, true, 1, false).is_err());
    let alone = make(Statistics::Sum, false, 1, true).unwrap();
    let group = totals(b, &[1.0], 2);
    assert!(alone.release(&[], &mut rng).is_err());
    assert!(alone.release(&[group.clone(), group.clone()], &mut rng).is_err());
    assert_eq!(alone.release(std::slice::from_ref(&group), &mut rng).unwrap().value().len(), 1);
    let mean = make(Statistics::Mean, false, 1, false).unwrap();
    assert!(mean.release(&[], &mut rng).unwrap().value().is_empty());
    assert!(mean.release(&[GroupTotals::rows(9)], &mut rng).is_err());
    assert!(mean.release(&[totals(bounds(0.0, 2.0), &[], 0)], &mut rng).is_err());
    // Counts take totals of either kind, and leave NULLs out unless asked for.
    let count = Groups::counts().calibrate(epsilon(1e9), Replace, of(1, 1)).unwrap();
    let found = count.release(&[GroupTotals::rows(9), group.clone()], &mut rng).unwrap();
    let counts: Vec<Option<f64>> = found.value().iter().map(|g| g.count).collect();
    assert_eq!(counts, [Some(9.0), Some(1.0)]);
    assert!(found.value().iter().all(|g| g.rows.is_none() && g.sum.is_none()));
    // `Debug` shows nothing of the data.
    assert_eq!(format!("{:?}", totals(b, &[1.0; 77], 88)), "GroupTotals { .. }");
    // Empty groups under much noise: never NaN, never outside.
    let noisy = Groups::values(b, Statistics::Variance).with_nulls(true).calibrate(
        epsilon(0.01),
        Replace,
        of(3, 2),
    );
    let empty = vec![totals(b, &[], 0); 500];
    for group in noisy.unwrap().release(&empty, &mut rng).unwrap().value() {
        let (mean, variance) = (group.mean.unwrap(), group.variance.unwrap());
        assert!((0.0..=1.0).contains(&mean) && (0.0..=0.25).contains(&variance));
        assert!(group.count.unwrap().is_finite() && group.sum.unwrap().is_finite());
    }
}

#[test]
fn the_extremes_fit_or_are_refused() {
    let (e, mut rng) = (epsilon(10.0), SeededForTests::insecure(2));
    let full = Bounds::on(0.0, 2f64.powi(30), Grid::ONE).unwrap();
    let far = Bounds::on(2f64.powi(61), 2f64.powi(61) + 1e6, Grid::ONE).unwrap();
    let make = |b, wanted, g, m| {
        Groups::values(b, wanted).with_nulls(true).calibrate(e, Replace, of(g, m))
    };
    assert!(make(full, Statistics::Variance, 1, u32::MAX).is_err());
    assert!(make(full, Statistics::Mean, u32::MAX, u32::MAX).is_err());
    assert!(make(full, Statistics::Mean, 4, 1 << 20).is_ok());
    let wide = make(full, Statistics::Variance, u32::MAX, 7).unwrap_err();
    assert!(wide.to_string().contains("coarser grid"));
    let sum = |m| Groups::values(far, Statistics::Sum).calibrate(epsilon(1e9), Replace, of(1, m));
    assert!(sum(1).is_ok() && sum(4).is_err());
    let most = Groups::counts().calibrate(rho(1.0), Replace, of(u32::MAX, u32::MAX)).unwrap();
    assert!(most.release(&[GroupTotals::rows(u64::MAX)], &mut rng).is_ok());
    let apart = Bounds::new(-1e300, 1e300).unwrap();
    assert!(make(apart, Statistics::Variance, 1, 1).is_err());
    // 2⁶⁴ − 1 rows of the greatest value, and as many NULLs.
    let (rows, w) = (u64::MAX, 1i128 << 30);
    let n = i128::from(rows);
    let all = Accumulator::of_parts(full, rows, n * w, n * w * w).unwrap();
    let found = make(full, Statistics::Variance, 1, 1)
        .unwrap()
        .release(&[GroupTotals::values(all, rows)], &mut rng)
        .unwrap();
    let group = found.value()[0];
    assert!((group.rows.unwrap() / 2f64.powi(65) - 1.0).abs() < 1e-9);
    assert!((group.sum.unwrap() / 2f64.powi(94) - 1.0).abs() < 1e-9);
    assert!((group.mean.unwrap() / 2f64.powi(30) - 1.0).abs() < 1e-9);
}

/// A unit's own vector at a bound, of rows that are each a group and a value or NULL.
fn weighted(
    mechanism: &Groups,
    (ladder, rung, squared): (Ladder, usize, bool),
    rows: &[(usize, Option<f64>)],
    among: usize,
) -> Vec<i128> {
    let b = mechanism.bounds;
    let counts: Vec<u64> =
        (0..among).map(|g| rows.iter().filter(|(group, _)| *group == g).count() as u64).collect();
    let size = match squared {
        false => counts.iter().sum(),
        true => {
            let square: u64 = counts.iter().map(|n| n * n).sum();
            (0..).find(|n| n * n >= square).unwrap()
        }
    };
    let (unit, bounded) = (ladder.unit(size), ladder.bounded(rung));
    let total = |amount: u128, part: u128| {
        let mut of = Contribution::default();
        of.add(unit.rung(), amount, part);
        bounded.total(&of)
    };
    let mut vector = Vec::new();
    for (group, &all) in counts.iter().enumerate() {
        let own = rows.iter().filter(|(g, _)| *g == group).filter_map(|(_, value)| *value);
        let offsets: Vec<u128> = own.map(|value| u128::from(b.step(value))).collect();
        let (present, sum) = (offsets.len() as u64, offsets.iter().sum::<u128>());
        let squares = offsets.iter().map(|u| u * u).sum::<u128>();
        let scaled = |amount: u128| total(amount, unit.part(amount));
        let rows = scaled(present.into());
        let of = match mechanism.statistics {
            Statistics::Count => GroupTotals::weighted_rows(rows),
            _ => GroupTotals::weighted_values(
                b,
                rows,
                scaled(all.into()) - rows,
                scaled(sum),
                (mechanism.statistics == Statistics::Variance).then(|| scaled(squares)),
            )
            .unwrap(),
        };
        vector.extend(mechanism.vector(&of).unwrap());
    }
    vector
}

/// Up to four rows in two groups, all bounds, both norms and both relations.
#[test]
fn weighted_sensitivities_hold_on_all_small_datasets_and_are_almost_tight() {
    let ladder = Ladder::new(2, 8).unwrap();
    for (lower, upper) in [(0.0, 1.0), (-1.0, 1.0), (3.0, 4.0), (-1.0, 2.0)] {
        let b = bounds(lower, upper);
        let mut cells: Vec<(usize, Option<f64>)> = Vec::new();
        for group in 0..2 {
            cells.push((group, None));
            cells.extend((0..=b.width).map(|u| (group, Some(b.lower() + u as f64))));
        }
        let all = demure_testkit::datasets::rows(&cells, 0..=4);
        for wanted in ALL {
            let nulls = [Statistics::Mean, Statistics::Variance].contains(&wanted);
            for neighbours in [AddRemove, Replace] {
                for squared in [false, true] {
                    let mut best = 0.0f64;
                    for rung in 0..ladder.len() {
                        let bounded = ladder.bounded(rung);
                        let budget: Budget =
                            if squared { rho(0.5).into() } else { epsilon(1.0).into() };
                        let made = Groups::values(b, wanted).with_nulls(nulls);
                        let made = made.calibrate_weighted(budget, neighbours, &bounded).unwrap();
                        let of = (ladder, rung, squared);
                        let mut own: Vec<Vec<i128>> =
                            all.iter().map(|rows| weighted(&made, of, rows, 2)).collect();
                        own.sort();
                        own.dedup();
                        let found = largest(&own, neighbours);
                        // At ε = 1 the scale is Δ₁; at ρ = ½, σ is Δ₂.
                        let scale = made.noise.calibration().scale;
                        let found = if squared { (found.1 as f64).sqrt() } else { found.0 as f64 };
                        let name = format!("{b:?} {wanted:?} {neighbours} {squared} {rung}");
                        assert!(found <= scale * (1.0 + 1e-12), "{name}: {found} of {scale}");
                        best = best.max(found / scale);
                    }
                    // Sums of both signs under replace meet their bound with irrational weights alone.
                    let least = if squared && wanted == Statistics::Sum { 0.9 } else { 0.999 };
                    assert!(best >= least, "{b:?} {wanted:?} {neighbours} {squared}: {best}");
                }
            }
        }
    }
}

/// The answers are in rows, whatever a row counts, and their errors hold.
#[test]
fn weighted_answers_are_in_rows() {
    let b = bounds(0.0, 10.0);
    let ladder = Ladder::new(6, 14).unwrap();
    let bounded = ladder.bounded(ladder.rung(4));
    let made = Groups::values(b, Statistics::Variance).with_nulls(true);
    let made = made.calibrate_weighted(epsilon(1.0), AddRemove, &bounded).unwrap();
    let plain = Groups::values(b, Statistics::Variance).with_nulls(true);
    let plain = plain.calibrate(epsilon(1.0), AddRemove, of(1, 4)).unwrap();
    let near = |x: Option<f64>, y: Option<f64>| {
        let (x, y) = (x.unwrap(), y.unwrap());
        assert!((x / y - 1.0).abs() < 0.02, "{x} {y}");
    };
    near(made.count_error(beta(0.05)).unwrap(), plain.count_error(beta(0.05)).unwrap());
    near(made.sum_error(beta(0.05)).unwrap(), plain.sum_error(beta(0.05)).unwrap());
    near(made.mean_error(1_000, beta(0.05)).unwrap(), plain.mean_error(1_000, beta(0.05)).unwrap());
    near(Some(made.calibration().scale), Some(plain.calibration().scale));
    // 5,000 units with two rows of 3 and 5, and a NULL.
    let unit = ladder.unit(3);
    let mut totals: [Contribution; 4] = Default::default();
    for _ in 0..5_000 {
        for (total, amount) in totals.iter_mut().zip([2, 8, 34, 3]) {
            unit.add(total, amount);
        }
    }
    let [rows, sum, squares, all] = totals.map(|total| bounded.total(&total));
    let group = GroupTotals::weighted_values(b, rows, all - rows, sum, Some(squares)).unwrap();
    let mut rng = SeededForTests::insecure(3);
    let one = made.release(&[group], &mut rng).unwrap().into_value()[0];
    near(one.count, Some(10_000.0));
    near(one.rows, Some(15_000.0));
    near(one.sum, Some(40_000.0));
    near(one.mean, Some(4.0));
    assert!((one.variance.unwrap() - 1.0).abs() < 0.2);
    assert!(GroupTotals::weighted_values(b, 1, 0, 11, Some(0)).is_err());
}

/// Groups taken together at next to no noise have the statistics of all their rows.
#[test]
fn groups_together_have_the_statistics_of_all_rows() {
    let mut rng = SeededForTests::insecure(41);
    let b = bounds(-2.0, 6.0);
    let cells: [&[f64]; 4] = [&[1.0, 5.0], &[], &[-2.0, 6.0, 3.0], &[-7.0]];
    for statistics in [Statistics::Count, Statistics::Sum, Statistics::Mean] {
        let groups =
            Groups::values(b, statistics).calibrate(epsilon(1e9), AddRemove, of(1, 1)).unwrap();
        let exact: Vec<GroupTotals> = cells.iter().map(|cell| groups.totals(*cell, 0)).collect();
        let cells = groups.release(&exact, &mut rng).unwrap().into_value();
        let all = groups.together(&cells);
        let close = |x: Option<f64>, y: f64| x.is_none_or(|x| (x - y).abs() < 1e-9);
        assert!(close(all.count, 6.0) && close(all.sum, 11.0) && close(all.mean, 11.0 / 6.0));
        assert_eq!(all.mean.is_some(), statistics == Statistics::Mean);
        assert_eq!(groups.together(&[]).sum.unwrap_or(0.0), 0.0);
    }
    // A variance is not a sum of variances.
    let groups = Groups::values(b, Statistics::Variance);
    let groups = groups.calibrate(epsilon(1.0), AddRemove, of(1, 1)).unwrap();
    let cell = groups.release(&[groups.totals([1.0], 0)], &mut rng).unwrap().into_value();
    assert!(groups.together(&cell).variance.is_none());
}

/// The error of many groups together is exceeded at most as often as stated. The twin: the error of a single group,
/// which is exceeded more often.
#[test]
fn errors_of_groups_together_are_exceeded_as_often_as_stated() {
    let b = bounds(0.0, 8.0);
    for cells in [2usize, 3, 40] {
        for budget in [Budget::from(epsilon(0.5)), Budget::from(rho(0.1))] {
            for statistics in [Statistics::Count, Statistics::Sum, Statistics::Mean] {
                let one = Groups::values(b, statistics).calibrate(budget, AddRemove, of(1, 1));
                let one = one.unwrap();
                let many = one.of_cells(cells as u64);
                let exact = vec![one.totals([8.0; 30], 0); cells];
                let (level, n) = (0.05, 30.0 * cells as f64);
                let errors = |of: &Groups| {
                    let mean = of.mean_error(n as u64, beta(level)).unwrap();
                    [of.count_error(beta(level)).unwrap(), of.sum_error(beta(level)).unwrap(), mean]
                };
                let (of_many, of_one) = (errors(&many), errors(&one));
                let mut rng = SeededForTests::insecure(43);
                let (mut beyond, mut twin, runs) = ([0; 3], [0; 3], 2_000);
                for _ in 0..runs {
                    let released = one.release(&exact, &mut rng).unwrap().into_value();
                    let all = one.together(&released);
                    let off = [(all.count, n), (all.sum, 8.0 * n), (all.mean, 8.0)];
                    for (i, (number, truth)) in off.into_iter().enumerate() {
                        let off = number.map_or(0.0, |number| (number - truth).abs());
                        beyond[i] += u32::from(of_many[i].is_some_and(|e| off > e));
                        twin[i] += u32::from(of_one[i].is_some_and(|e| off > e));
                    }
                }
                // 2,000 draws of a coin of 5 %: more than 155 heads have a probability of 1e-7.
                assert!(beyond.iter().all(|&n| n < 155), "{cells} {statistics:?} {beyond:?}");
                if cells == 40 {
                    assert!(twin.iter().any(|&n| n > 155), "{statistics:?} {twin:?}");
                }
            }
        }
    }
}
