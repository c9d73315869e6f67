use super::*;
use crate::mechanism::Bounds;
use crate::sensitivity::check::{ProfileLimits, check_profile, check_smooth};
use crate::unit::Grid;

/// All multisets of n of the values 0, 1, 3, 4, 8 (as places 0 to 4), sorted.
pub(crate) fn databases(n: usize) -> Vec<Vec<u8>> {
    let mut all = vec![vec![]];
    for _ in 0..n {
        all = all
            .into_iter()
            .flat_map(|x: Vec<u8>| {
                let from = x.last().copied().unwrap_or(0);
                (from..5).map(move |v| x.iter().copied().chain([v]).collect())
            })
            .collect();
    }
    all
}

/// The datasets after replacing one value.
#[expect(clippy::ptr_arg, reason = "the checker's datasets are vectors")]
pub(crate) fn replaced(x: &Vec<u8>) -> Vec<Vec<u8>> {
    let mut all = Vec::new();
    for i in 0..x.len() {
        for v in (0..5).filter(|&v| v != x[i]) {
            let mut y = x.clone();
            y[i] = v;
            y.sort_unstable();
            all.push(y);
        }
    }
    all.sort();
    all.dedup();
    all
}

pub(crate) fn values(x: &[u8]) -> Values {
    let bounds = Bounds::on(0.0, 8.0, Grid::ONE).unwrap();
    Values::new(bounds, x.iter().map(|&v| [0.0, 1.0, 3.0, 4.0, 8.0][usize::from(v)]))
}

type Make = for<'a> fn(&'a Values) -> Option<Box<dyn Statistic + 'a>>;

/// Every statistic of this file, and whether its profile is exact at every distance.
pub(crate) const ALL: [(&str, bool, Make); 7] = [
    ("median", true, |v| Some(Box::new(OrderStatistic::median(v).ok()?))),
    ("upper quartile", true, |v| Some(Box::new(OrderStatistic::quantile(v, 0.75).ok()?))),
    ("minimum", true, |v| Some(Box::new(OrderStatistic::new(v, 1).ok()?))),
    ("trimmed mean", true, |v| Some(Box::new(TrimmedMean::new(v, 1).ok()?))),
    ("mean", true, |v| Some(Box::new(TrimmedMean::new(v, 0).ok()?))),
    ("winsorised mean", false, |v| Some(Box::new(WinsorisedMean::new(v, 1).ok()?))),
    ("interquartile range", false, |v| Some(Box::new(InterquartileRange::new(v).ok()?))),
];

#[test]
fn profiles_hold_on_all_small_databases_and_are_exact_where_claimed() {
    for (name, exact, make) in ALL {
        for n in 1..=6 {
            if make(&values(&vec![0; n])).is_none() {
                continue;
            }
            let value = |x: &Vec<u8>| make(&values(x)).unwrap().value();
            let profile = |x: &Vec<u8>, k| make(&values(x)).unwrap().at_distance(k);
            let limits = ProfileLimits::of(&*make(&values(&vec![0; n])).unwrap());
            let seen = check_profile(databases(n), replaced, value, profile, limits, 8)
                .unwrap_or_else(|flaw| panic!("{name} {n}: {flaw}"));
            assert!(seen.pairs > 0);
            assert!(seen.exact || !exact, "{name} {n}");
        }
    }
}

#[test]
fn the_bounds_of_spread_and_winsorised_mean_are_exact_at_distance_0() {
    for (name, _, make) in [ALL[5], ALL[6]] {
        for n in 3..=6 {
            let value = |x: &Vec<u8>| make(&values(x)).unwrap().value();
            let profile = |x: &Vec<u8>, k| make(&values(x)).unwrap().at_distance(k);
            let none = ProfileLimits::default();
            let seen = check_profile(databases(n), replaced, value, profile, none, 0).unwrap();
            assert!(seen.exact, "{name} {n}");
        }
    }
}

#[test]
fn smooth_bounds_are_smooth_and_what_brute_force_gives() {
    for (name, exact, make) in ALL {
        for n in 1..=6 {
            if make(&values(&vec![0; n])).is_none() {
                continue;
            }
            for t in [0.02, 0.3, 1.5] {
                let smooth = Smoothness::new(t).unwrap();
                let value = |x: &Vec<u8>| make(&values(x)).unwrap().value();
                let bound = |x: &Vec<u8>| make(&values(x)).unwrap().smooth(smooth).unwrap();
                check_smooth(databases(n), replaced, value, bound, smooth)
                    .unwrap_or_else(|flaw| panic!("{name} {n} {t}: {flaw}"));
                for x in databases(n) {
                    let statistic = values(&x);
                    let statistic = make(&statistic).unwrap();
                    let slow = (0..40)
                        .map(|k| statistic.at_distance(k) as f64 * (-t * k as f64).exp())
                        .fold(0.0, f64::max);
                    let ratio = bound(&x) / slow;
                    assert!(ratio > 1.0 && (ratio < 1.0 + 1e-11 || !exact), "{name} {x:?}");
                }
                // A bound for a smaller t is not smooth enough: the check can fail.
                if name == "median" && n == 5 && t == 0.3 {
                    let strict = Smoothness::new(0.29).unwrap();
                    assert!(check_smooth(databases(n), replaced, value, bound, strict).is_err());
                    let low = |x: &Vec<u8>| 0.99 * bound(x);
                    assert!(check_smooth(databases(n), replaced, value, low, smooth).is_err());
                }
            }
        }
    }
}

#[test]
fn many_values_agree_with_the_definition() {
    let bounds = Bounds::on(0.0, 1e6, Grid::ONE).unwrap();
    let mut state = 7u64;
    let data: Vec<f64> = (0..301)
        .map(|_| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            ((state >> 40) as f64 / 16.8).powf(1.1).min(1e6)
        })
        .collect();
    let values = Values::new(bounds, data);
    for t in [0.003, 0.05, 0.5] {
        let t = Smoothness::new(t).unwrap();
        for (j, i) in [(152, 151), (151, 150), (280, 22), (300, 299), (301, 1), (302, 301)] {
            let fast = values.smooth_gap(j, i, t);
            let slow = (0..=302)
                .map(|k| values.gap(j, i, k) as f64 * (-t.get() * k as f64).exp())
                .fold(LEAST, f64::max);
            assert!(fast >= slow && fast <= slow * (1.0 + 1e-11), "{t} {j} {i} {fast} {slow}");
        }
    }
}
