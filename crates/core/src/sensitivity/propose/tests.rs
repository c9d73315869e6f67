use super::super::gate::tests::{laplace_pmf, opening};
use super::super::order::tests::{ALL, databases, replaced, values};
use super::*;
use crate::random::SeededForTests;
use demure_testkit::distribution::Distribution;
use demure_testkit::fit::Fit;
use demure_testkit::neighbours::check;

fn epsilon(x: f64) -> Epsilon {
    Epsilon::new(x).unwrap()
}

fn delta(x: f64) -> Delta {
    Delta::new(x).unwrap()
}

/// Integers with geometric noise of scale s, folded at ±reach, below some probability.
fn noised(value: i128, s: f64, p: f64, reach: i128) -> Vec<(i128, f64)> {
    let a = (-1.0 / s).exp();
    let mass = |o: i128| {
        let k = (o - value).abs() as f64;
        let folded = o.abs() == reach && (o > value) == (o > 0);
        let pmf = laplace_pmf(s, o - value);
        p * if folded { (-k / s).exp() / (1.0 + a) } else { pmf }
    };
    (-reach..=reach).map(|o| (o, mass(o))).collect()
}

/// The law of one proposal.
fn law(m: &ProposeTestRelease, statistic: &dyn Statistic) -> Distribution<Option<i128>> {
    let p = opening(&m.gate, statistic.distance_above(m.bound).unwrap_or(1 << 40));
    let numbers = noised(statistic.value(), m.noise.scale(), p, 60);
    let numbers = numbers.into_iter().map(|(o, p)| (Some(o), p));
    Distribution::new(numbers.chain([(None, 1.0 - p)]))
}

#[test]
fn the_tail_of_a_difference_is_what_a_sum_gives() {
    for (rho, nu) in [(0.02, 0.04), (0.7, 1.4), (3.0, 6.0), (40.0, 80.0), (9.0, 5.0)] {
        let reach = (60.0 * f64::max(rho, nu)).ceil() as i128 + 10;
        for t in [0, 1, 2, 7, 50, 300] {
            let tail = |from: i128| -> f64 {
                (from..=from.max(0) + reach).map(|k| laplace_pmf(nu, k)).sum()
            };
            let tails: Vec<f64> = (-reach..=reach).map(|z| tail(t + z)).collect();
            let pmf = (-reach..=reach).map(|z| laplace_pmf(rho, z));
            let sum: f64 = pmf.zip(tails).map(|(p, tail)| p * tail).sum();
            let ratio = (difference_tail(rho, nu, t as u64) + 1e-290) / (sum + 1e-290);
            assert!((0.999_999_99..1.000_02).contains(&ratio), "{rho} {nu} {t}: {ratio}");
        }
    }
}

#[test]
fn thresholds_are_found_or_refused_at_once() {
    let one = |e, d| Proposals::new(epsilon(e), epsilon(e), delta(d), &[1, 2, 4]);
    assert!(one(1e-6, 1e-6).is_err() && one(1e-9, 1e-300).is_err());
    assert!(one(1e-3, 1e-6).unwrap().threshold() > 10_000);
    for e in [0.71, 0.1, 1e-3, 5.3] {
        let bit = |k| u64::from(k > 0);
        let made = Proposals::for_statistic(epsilon(e), delta(1e-6), &Profiled(bit)).unwrap();
        assert_eq!(made.guarantee(), Guarantee::Approximate(epsilon(e), delta(1e-6)));
        assert!(sum(0.3 * e, made.noise.get()) <= e.next_up());
    }
}

/// A statistic that is defined by its profile.
struct Profiled(fn(u64) -> u64);

impl Statistic for Profiled {
    fn value(&self) -> i128 {
        0
    }

    fn at_distance(&self, k: u64) -> u64 {
        self.0(k)
    }

    fn most(&self) -> Option<u64> {
        Some(1)
    }
}

#[test]
fn proposals_are_private_on_all_small_databases() {
    for (e, d, bound) in [(1.0, 1e-3, 2), (2.0, 0.05, 1), (0.5, 1e-6, 4), (2.0, 0.05, 9)] {
        let m = ProposeTestRelease::new(epsilon(e), delta(d), bound).unwrap();
        for (name, _, make) in ALL {
            for n in (1..=6).filter(|&n| make(&values(&vec![0; n])).is_some()) {
                let mechanism = |x: &Vec<u8>| law(&m, &*make(&values(x)).unwrap());
                check(mechanism, databases(n), replaced, e, d)
                    .unwrap_or_else(|v| panic!("{name} {n} {bound}: {v}"));
            }
        }
    }
}

#[test]
fn a_test_of_the_local_sensitivity_itself_is_not_private() {
    // "Is LS ≤ β?" answered without noise.
    let m = ProposeTestRelease::new(epsilon(1.0), delta(1e-3), 2).unwrap();
    let make = ALL[0].2;
    let mechanism = |x: &Vec<u8>| {
        let data = values(x);
        let statistic = make(&data).unwrap();
        let p = f64::from(u8::from(statistic.at_distance(0) <= 2));
        let numbers = noised(statistic.value(), m.noise.scale(), p, 60);
        Distribution::new(numbers.into_iter().map(|(o, p)| (Some(o), p)).chain([(None, 1.0 - p)]))
    };
    assert!(check(mechanism, databases(5), replaced, 1.0, 1e-3).is_err());
}

/// The law of a search, threshold noise summed out.
fn search_law(m: &Proposals, statistic: &dyn Statistic) -> Distribution<(usize, i128)> {
    let (rho, nu) = m.search.scales();
    let b = (-1.0 / nu).exp();
    let tail = |k: i128| {
        let far = (-(k.abs() as f64) / nu).exp();
        if k >= 1 { far / (1.0 + b) } else { 1.0 - far * b / (1.0 + b) }
    };
    let far = (40.0 * rho).ceil() as i128;
    let mut chosen = vec![0.0; m.bounds.len() + 1];
    for z in -far..=far {
        let mut left = laplace_pmf(rho, z);
        for (i, &bound) in m.bounds.iter().enumerate() {
            let d = statistic.distance_above(bound).map_or(1 << 40, i128::from);
            let above = tail(m.threshold + z - d);
            chosen[i] += left * above;
            left *= 1.0 - above;
        }
        chosen[m.bounds.len()] += left;
    }
    let mut table = vec![((m.bounds.len(), 0), chosen[m.bounds.len()])];
    for (i, &bound) in m.bounds.iter().enumerate() {
        let s = bound as f64 / m.noise.get();
        table.extend(
            noised(statistic.value(), s, chosen[i], 40).into_iter().map(|(o, p)| ((i, o), p)),
        );
    }
    Distribution::with_tail(table, 1e-15)
}

#[test]
fn a_search_pays_once_on_all_small_databases() {
    for (e1, e2, d) in [(1.0, 1.0, 1e-2), (0.4, 2.0, 0.1)] {
        let m = Proposals::new(epsilon(e1), epsilon(e2), delta(d), &[1, 2, 4, 8]).unwrap();
        for (name, _, make) in [ALL[0], ALL[3], ALL[6]] {
            for n in [3, 5, 6] {
                let mechanism = |x: &Vec<u8>| search_law(&m, &*make(&values(x)).unwrap());
                check(mechanism, databases(n), replaced, e1 + e2, d)
                    .unwrap_or_else(|v| panic!("{name} {n}: {v}"));
            }
        }
    }
    let (rho, nu) = (1.6, 3.0);
    let m = least_threshold(rho, nu, 1e-3).unwrap() as u64;
    assert!(difference_tail(rho, nu, m) <= 1e-3 && difference_tail(rho, nu, m - 1) > 1e-3);
    // By the definition: half of what is left of ν = ρ, and that.
    assert!((difference_tail(1.0, 2.0, 0) - 0.5 - 0.5 * equal(1.0, 2.0)).abs() < 2e-5);
    assert!(least_threshold(1.0, 1.0, 1e-3).is_err());
    assert!(Proposals::new(epsilon(1.0), epsilon(1.0), delta(0.1), &[2, 2]).is_err());
    assert!(Proposals::new(epsilon(1.0), epsilon(1.0), delta(0.1), &[]).is_err());
    assert_eq!(Proposals::doubling(3, 20), [3, 6, 12, 20]);
}

/// P[ν = ρ].
fn equal(rho: f64, nu: f64) -> f64 {
    (-200..=200).map(|k| laplace_pmf(rho, k) * laplace_pmf(nu, k)).sum()
}

#[test]
fn releases_fit_the_law_and_the_test_has_power() {
    let data = values(&[0, 2, 2, 2, 2, 4]);
    let median = super::super::TrimmedMean::new(&data, 1).unwrap();
    let m = ProposeTestRelease::new(epsilon(2.0), delta(0.1), 4).unwrap();
    let off = ProposeTestRelease::new(epsilon(2.1), delta(0.1), 4).unwrap();
    let mut rng = SeededForTests::insecure(6);
    // ⊥ as 1000. Answers are multiples of ¼ within the bounds.
    let code = |answer: Option<f64>| answer.map_or(1000, |a| (4.0 * a) as i128);
    let samples: Vec<i128> =
        (0..200_000).map(|_| code(m.release(&median, &mut rng).unwrap().into_value())).collect();
    let fit = |m: &ProposeTestRelease| {
        let law = law(m, &median).map(|o| code(o.map(|o| median.answer(o))));
        Fit::of(samples.iter().copied(), |o| law.probability(&o), 0..=1000)
    };
    assert!(fit(&m).accepts());
    assert!(fit(&off).rejects());
    // The search, by the bound it used.
    let m = Proposals::new(epsilon(1.0), epsilon(1.0), delta(0.1), &[1, 2, 4, 8]).unwrap();
    let off = Proposals::new(epsilon(1.05), epsilon(1.0), delta(0.1), &[1, 2, 4, 8]).unwrap();
    let chosen: Vec<i128> = (0..200_000)
        .map(|_| {
            let released = m.release(&median, &mut rng).unwrap().into_value();
            released.map_or(4, |(_, bound)| i128::from(bound.ilog2()))
        })
        .collect();
    let fit = |m: &Proposals| {
        let law = search_law(m, &median).map(|(i, _)| i);
        Fit::of(chosen.iter().copied(), |i| law.probability(&(i as usize)), 0..=4)
    };
    assert!(fit(&m).accepts());
    assert!(fit(&off).rejects());
}

#[test]
fn a_median_of_many_equal_values_comes_back() {
    let data = values(&[2; 101]);
    let median = super::super::OrderStatistic::median(&data).unwrap();
    let mut rng = SeededForTests::insecure(5);
    let m = ProposeTestRelease::new(epsilon(4.0), delta(1e-6), 1).unwrap();
    let near = (0..200)
        .filter_map(|_| m.release(&median, &mut rng).unwrap().into_value())
        .filter(|answer| (answer - 3.0).abs() <= 2.0)
        .count();
    assert!(near > 190, "{near}");
    let search = Proposals::new(epsilon(2.0), epsilon(2.0), delta(1e-6), &[1, 2, 4, 8]).unwrap();
    let (_, bound) = search.release(&median, &mut rng).unwrap().into_value().unwrap();
    assert_eq!(bound, 1);
    assert!(ProposeTestRelease::new(epsilon(1.0), delta(1e-6), 0).is_err());
    assert!(ProposeTestRelease::new(epsilon(1.0), Delta::ZERO, 1).is_err());
}
