use super::super::gate::tests::{laplace_cdf, laplace_pmf};
use super::*;
use crate::random::SeededForTests;
use crate::unit::Grid;
use demure_testkit::distribution::Distribution;
use demure_testkit::fit::Fit;
use demure_testkit::neighbours::check;

fn epsilon(x: f64) -> Epsilon {
    Epsilon::new(x).unwrap()
}

fn delta(x: f64) -> Delta {
    Delta::new(x).unwrap()
}

/// The number of pairs of ones among bits, `C(k, 2)`, with k ones of n: it moves by k at most when a bit flips.
struct Pairs {
    ones: u64,
    bits: u64,
}

impl Statistic for Pairs {
    fn value(&self) -> i128 {
        i128::from(self.ones * self.ones.saturating_sub(1) / 2)
    }
    fn at_distance(&self, k: u64) -> u64 {
        (self.ones + k).min(self.bits - 1)
    }
    fn most(&self) -> Option<u64> {
        Some(self.bits - 1)
    }
    fn growth(&self) -> Option<u64> {
        Some(1)
    }
}

const BITS: u64 = 7;

fn law(m: &PrivateBound, ones: u64, margin: i128) -> Distribution<(u64, i128)> {
    let pairs = Pairs { ones, bits: BITS };
    let most = BITS - 1;
    let s1 = 1.0 / m.bound.get();
    let start = i128::from(pairs.at_distance(0)) + margin;
    // P[Z ≤ k].
    let below = |k: i128| laplace_cdf(s1, k);
    let mut table = vec![];
    for bound in 1..=most {
        let k = i128::from(bound) - start;
        let p = match bound {
            1 => below(k),
            b if b == most => 1.0 - below(k - 1),
            _ => laplace_pmf(s1, k),
        };
        let s2 = bound as f64 / m.noise.get();
        let a = (-1.0 / s2).exp();
        table.extend((-80..=80).map(|o: i128| {
            let k = o - pairs.value();
            let far = (-(k.abs() as f64) / s2).exp() / (1.0 + a);
            let folded = o.abs() == 80 && (k > 0) == (o > 0);
            ((bound, o), p * if folded { far } else { laplace_pmf(s2, k) })
        }));
    }
    Distribution::new(table)
}

#[test]
fn a_private_bound_then_noise_is_private_and_less_margin_is_not() {
    let near = |&k: &u64| [k.wrapping_sub(1), k + 1].into_iter().filter(|&k| k <= BITS).collect();
    for (e1, e2, d) in [(1.0, 1.0, 1e-2), (0.3, 2.0, 0.1), (2.0, 0.5, 1e-4)] {
        let m = PrivateBound::with_split(epsilon(e1), epsilon(e2), delta(d)).unwrap();
        let margin = i128::from(m.margin(1).unwrap());
        let seen = check(|&k: &u64| law(&m, k, margin), 0..=BITS, near, e1 + e2, d);
        seen.unwrap_or_else(|v| panic!("{v}"));
        if e2 == 2.0 {
            assert!(check(|&k: &u64| law(&m, k, -4), 0..=BITS, near, e1 + e2, d).is_err());
        }
    }
}

#[test]
fn releases_fit_the_law_and_the_test_has_power() {
    let m = PrivateBound::with_split(epsilon(0.5), epsilon(1.0), delta(0.1)).unwrap();
    let off = PrivateBound::with_split(epsilon(0.525), epsilon(1.05), delta(0.1)).unwrap();
    let margin = i128::from(m.margin(1).unwrap());
    let pairs = Pairs { ones: 2, bits: BITS };
    let mut rng = SeededForTests::insecure(2);
    let code = |bound: u64, o: i128| i128::from(bound) * 161 + o.clamp(-80, 80) + 80;
    let samples: Vec<i128> = (0..200_000)
        .map(|_| {
            let (answer, bound) = m.release(&pairs, &mut rng).unwrap().into_value();
            code(bound, answer as i128)
        })
        .collect();
    let fit = |m: &PrivateBound| {
        let law = law(m, 2, margin).map(|(bound, o)| code(bound, o));
        Fit::of(samples.iter().copied(), |o| law.probability(&o), 0..=1_300)
    };
    assert!(fit(&m).accepts());
    assert!(fit(&off).rejects());
    let bar = m.error(4, Beta::new(0.05).unwrap()).unwrap();
    assert!((11.0..=13.0).contains(&bar), "{bar}"); // 4·ln 20 = 11.98
}

#[test]
fn reciprocals_are_private() {
    let grid = Grid::power_of_two(-6).unwrap();
    let (e1, e2, d) = (1.0, 1.0, 0.02);
    let m = PrivateBound::with_split(epsilon(e1), epsilon(e2), delta(d)).unwrap();
    let margin = i128::from(m.margin(1).unwrap());
    let law = |&count: &u64| {
        let statistic = Reciprocal::new(count, grid).unwrap();
        let mut table = vec![];
        let mut none = 0.0;
        for low in -60i128..=90 {
            let p = laplace_pmf(1.0 / e1, low - (count as i128 - margin));
            match u64::try_from(low).ok().and_then(|c| statistic.steps_at(c)) {
                None => none += p,
                Some(bound) => {
                    let s = bound as f64 / e2;
                    let a = (-1.0 / s).exp();
                    table.extend((-200..=200).map(|o: i128| {
                        let k = o - statistic.value();
                        let far = (-(k.abs() as f64) / s).exp() / (1.0 + a);
                        let folded = o.abs() == 200 && (k > 0) == (o > 0);
                        (Some((bound, o)), p * if folded { far } else { laplace_pmf(s, k) })
                    }));
                }
            }
        }
        table.push((None, none));
        Distribution::with_tail(table, 1e-15)
    };
    let near = |&k: &u64| [k.wrapping_sub(1), k + 1].into_iter().filter(|&k| k <= 14).collect();
    check(law, 0..=14, near, e1 + e2, d).unwrap_or_else(|v| panic!("{v}"));
}

#[test]
fn what_grows_without_bound_is_refused_and_reciprocals_come_back() {
    let mut rng = SeededForTests::insecure(1);
    let m = PrivateBound::new(epsilon(1.0), delta(1e-6)).unwrap();
    let grid = Grid::power_of_two(-50).unwrap();
    let statistic = Reciprocal::new(100_000, grid).unwrap();
    assert!(m.release(&statistic, &mut rng).is_err());
    let (answer, _) = m.release_reciprocal(&statistic, &mut rng).unwrap().into_value().unwrap();
    assert!((answer - 1e-5).abs() < 1e-8, "{answer}");
    let few = Reciprocal::new(3, grid).unwrap();
    assert_eq!(m.release_reciprocal(&few, &mut rng).unwrap().into_value(), None);
    assert!(PrivateBound::new(epsilon(1.0), Delta::ZERO).is_err());
    let (value, bound) = m.release(&Pairs { ones: 50, bits: 1000 }, &mut rng).unwrap().into_value();
    assert!(value.is_finite() && (1..1000).contains(&bound));
}
