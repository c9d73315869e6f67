use super::*;
use crate::random::SeededForTests;
use Neighbours::{AddRemove, Replace};
use demure_testkit::datasets::{add_or_remove_one, replace_one, rows};
use demure_testkit::distribution::{Distribution, shifted};
use demure_testkit::fit::Fit;
use demure_testkit::neighbours::{check, check_zcdp};

fn epsilon(x: f64) -> Epsilon {
    Epsilon::new(x).unwrap()
}

fn rho(x: f64) -> Rho {
    Rho::new(x).unwrap()
}

/// A person: rows in each of three groups.
type Person = [u64; 3];

fn people(contributions: Contributions) -> Vec<Person> {
    let most = u64::from(contributions.per_group());
    let all = rows(&(0..=most).collect::<Vec<_>>(), 3..=3);
    let allowed =
        |p: &Vec<u64>| p.iter().filter(|&&n| n > 0).count() <= contributions.groups() as usize;
    all.into_iter().filter(allowed).map(|p| [p[0], p[1], p[2]]).collect()
}

fn counts(dataset: &[Person]) -> [u64; 3] {
    [0, 1, 2].map(|group| dataset.iter().map(|person| person[group]).sum())
}

#[test]
fn sensitivities_are_exact_on_all_small_datasets() {
    // With 3 groups, disjoint moves need 2g ≤ 3: g = 1. For g = 2 the bound is not met.
    for (g, m, tight) in [(1, 1, true), (1, 3, true), (2, 1, false), (2, 2, false)] {
        let contributions = Contributions::new(g, m).unwrap();
        let domain = people(contributions);
        for (neighbours, tight) in [(AddRemove, true), (Replace, tight)] {
            let (l1, l2_squared) = contributions.sensitivity(neighbours);
            let (mut most, mut most_squared) = (0, 0);
            for dataset in rows(&domain, 0..=1) {
                let near = match neighbours {
                    AddRemove => add_or_remove_one(&dataset, &domain),
                    Replace => replace_one(&dataset, &domain),
                };
                for other in near {
                    let (a, b) = (counts(&dataset), counts(&other));
                    let moved = [0, 1, 2].map(|i| u128::from(a[i].abs_diff(b[i])));
                    most = most.max(moved.iter().sum());
                    most_squared = most_squared.max(moved.iter().map(|d| d * d).sum());
                }
            }
            assert!(most <= l1 && most_squared <= l2_squared);
            assert_eq!(tight, (most, most_squared) == (l1, l2_squared), "{g} {m} {neighbours}");
        }
    }
}

/// The law of a release on two keys, from the scale that is really used.
fn law(histogram: &Histogram) -> impl Fn(&Vec<u8>) -> Distribution<(i128, i128)> {
    let noise = histogram.calibration();
    let weight = move |k: i128| {
        let x = k as f64 / noise.scale;
        if noise.family == Family::Gaussian { (-0.5 * x * x).exp() } else { (-x.abs()).exp() }
    };
    let norm: f64 = (-400..=400).map(weight).sum();
    move |dataset| {
        let count = |key| dataset.iter().filter(|&&row| row == key).count() as i128;
        let cell = |key| shifted(count(key), |k| weight(k) / norm, -40..=40, 1e-6);
        cell(0).and(&cell(1))
    }
}

#[test]
fn both_relations_hold_by_brute_force_and_neither_serves_for_the_other() {
    let domain = [0u8, 1];
    let all = || rows(&domain, 0..=2);
    let add = |x: &Vec<u8>| add_or_remove_one(x, &domain);
    let replace = |x: &Vec<u8>| replace_one(x, &domain);
    let make = |budget: Budget, n| Histogram::new(budget, n, Contributions::ONE).unwrap();
    let (one, orders) = (Budget::from(epsilon(1.0)), [1.01, 2.0, 8.0, 64.0]);
    let worst = check(law(&make(one, AddRemove)), all(), add, 1.0, 0.0).unwrap();
    assert!((worst.epsilon - 1.0).abs() < 1e-9);
    let worst = check(law(&make(one, Replace)), all(), replace, 1.0, 0.0).unwrap();
    assert!((worst.epsilon - 1.0).abs() < 1e-9);
    assert!(check(law(&make(one, AddRemove)), all(), replace, 1.0, 0.0).is_err());
    let r = Budget::from(rho(0.2));
    assert!(check_zcdp(law(&make(r, AddRemove)), all(), add, 0.2, &orders).is_ok());
    let worst = check_zcdp(law(&make(r, Replace)), all(), replace, 0.2, &orders).unwrap();
    assert!(worst.rho > 0.199);
    assert!(check_zcdp(law(&make(r, AddRemove)), all(), replace, 0.2, &orders).is_err());
}

#[test] // the release draws the law that was checked; 5 % off is noticed
fn releases_fit_their_law() {
    for (budget, s) in [(epsilon(0.25).into(), 8.0), (rho(0.01).into(), 10.0)] {
        let histogram = Histogram::new(budget, Replace, Contributions::ONE).unwrap();
        assert!((histogram.calibration().scale - s).abs() < 1e-12);
        let mut rng = SeededForTests::insecure(5);
        let noised = histogram.release(&[7; 200_000], &mut rng).unwrap().into_value();
        let fit = |s: f64| {
            let weight = |k: i128| match budget {
                Budget::Pure(_) => (-(k as f64 - 7.0).abs() / s).exp(),
                Budget::Concentrated(_) => (-0.5 * ((k as f64 - 7.0) / s).powi(2)).exp(),
            };
            let norm: f64 = (-500..=500).map(weight).sum();
            Fit::of(noised.iter().copied(), |k| weight(k) / norm, -40..=40)
        };
        assert!(fit(s).accepts() && fit(s * 1.05).rejects());
    }
}

#[test]
fn every_public_key_comes_back_and_no_other() {
    let histogram = Histogram::new(epsilon(1.0), AddRemove, Contributions::ONE).unwrap();
    let mut rng = SeededForTests::insecure(1);
    let exact = BTreeMap::from([("flu", 1_000), ("secret", 5_000)]);
    let release = histogram.release_keys(&["hiv", "flu"], &exact, &mut rng).unwrap();
    assert_eq!(release.guarantee(), Guarantee::Pure(epsilon(1.0)));
    assert_eq!(release.value().keys().copied().collect::<Vec<_>>(), ["flu", "hiv"]);
    assert!(release.value()["flu"].abs_diff(1_000) < 40 && release.value()["hiv"].abs() < 40);
    let empty = histogram.release(&[], &mut rng).unwrap();
    assert!(empty.value().is_empty());
    let counts = histogram.release(&[0; 50], &mut rng).unwrap();
    assert!(counts.value().iter().any(|&count| count < 0));
    assert!(counts.map(non_negative).value().iter().all(|&count| count >= 0));
    assert!(Contributions::new(0, 1).is_err() && Contributions::new(1, 0).is_err());
}

#[test]
fn tails_and_error_bounds_cover_the_truth_closely() {
    for budget in [Budget::from(epsilon(0.5)), Budget::from(rho(0.02))] {
        let noise = Noise::new(budget, 1, 1).unwrap();
        let s = noise.calibration().scale;
        let weight = |k: i128| match budget {
            Budget::Pure(_) => (-(k.abs() as f64) / s).exp(),
            Budget::Concentrated(_) => (-0.5 * (k as f64 / s).powi(2)).exp(),
        };
        let norm: f64 = (-400..=400).map(weight).sum();
        let tail = |k: i128| (k..=400).map(weight).sum::<f64>() / norm;
        for k in [1, 2, 6, 9, 20, 30] {
            let bound = noise.at_least(k).unwrap();
            assert!((bound / tail(k) - 1.0).abs() < 1e-12, "{k} {bound} {}", tail(k));
        }
        assert_eq!(noise.at_least(0).unwrap(), 1.0);
        assert!(noise.at_least(1 << 100).unwrap() < 1e-300);
        // Sums: the law of Z₁ + … + Z₈ by convolution.
        let pmf: Vec<f64> = (-200..=200).map(|k| weight(k) / norm).collect();
        let mut sum = pmf.clone();
        for _ in 1..8 {
            let mut next = vec![0.0; 401];
            for (i, p) in sum.iter().enumerate() {
                for (j, q) in pmf.iter().enumerate() {
                    if (200..=600).contains(&(i + j)) {
                        next[i + j - 200] += p * q;
                    }
                }
            }
            sum = next;
        }
        for beta in [0.2, 0.05, 1e-3] {
            let t = noise.error_of_sum(8, Beta::new(beta).unwrap()).unwrap();
            let outside = |t: f64| {
                let inside = (-200..=200i32).filter(|k| f64::from(k.abs()) <= t);
                1.0 - inside.map(|k| sum[(k + 200) as usize]).sum::<f64>()
            };
            assert!(outside(t) <= beta && outside(t / 2.0) > beta, "{beta} {t}");
        }
    }
}

#[test]
fn errors_of_weighted_sums_cover_the_truth_closely() {
    for budget in [Budget::from(epsilon(0.05)), Budget::from(rho(0.00125))] {
        let noise = Noise::new(budget, 1, 1).unwrap();
        let weight = |k: i128| match budget {
            Budget::Pure(_) => (-(k.abs() as f64) / 20.0).exp(),
            Budget::Concentrated(_) => (-0.5 * (k as f64 / 20.0).powi(2)).exp(),
        };
        let norm: f64 = (-900..=900).map(weight).sum();
        // Each sum, by convolution, and how loose the bound may be.
        let sums: [(&[i128], f64); 5] = [
            (&[1, 1], 1.15),
            (&[1, 1, 1], 1.15),
            (&[1, 1, 1, 1], 1.15),
            (&[2, -1], 1.45),
            (&[0, 3, 0], 1.01),
        ];
        for (weights, loose) in sums {
            let mut law = BTreeMap::from([(0i128, 1.0)]);
            for &w in weights {
                let mut next = BTreeMap::new();
                for (x, p) in &law {
                    for k in -250..=250 {
                        *next.entry(x + w * k).or_insert(0.0) += p * weight(k) / norm;
                    }
                }
                law = next;
            }
            // What the convolution cuts off is outside.
            let outside = |t: f64| {
                let inside = law.iter().filter(|(x, _)| x.abs() as f64 <= t);
                1.0 - inside.map(|(_, p)| p).sum::<f64>()
            };
            let floats: Vec<f64> = weights.iter().map(|&w| w as f64).collect();
            for beta in [0.3, 0.05, 1e-3] {
                let t = noise.error_of_weighted(&floats, Beta::new(beta).unwrap()).unwrap();
                assert!(outside(t) <= beta, "{weights:?} {beta} {t}");
                assert!(outside(t / loose - 1.0) > beta, "{weights:?} {beta} {t}");
            }
        }
        let beta = Beta::new(0.1).unwrap();
        assert_eq!(noise.error_of_weighted(&[0.0], beta).unwrap(), 0.0);
        let five = noise.error_of_weighted(&[1.0; 5], beta).unwrap();
        assert!(five <= noise.error_of_sum(5, beta).unwrap());
    }
    // Little noise, where only Chernoff's bound is of use.
    let noise = Noise::new(epsilon(20.0).into(), 1, 1).unwrap();
    assert!(noise.error_of_weighted(&[1.0; 2], Beta::new(0.05).unwrap()).unwrap() < 1.0);
}
