use super::super::Family;
use super::*;
use crate::random::SeededForTests;
use Neighbours::{AddRemove, Replace};
use demure_testkit::datasets::{
    add_or_remove_one, histogram_add_or_remove_one, histogram_replace_one, histograms, replace_one,
    rows,
};
use demure_testkit::distribution::Distribution;
use demure_testkit::fit::Fit;
use demure_testkit::neighbours::check;

fn epsilon(x: f64) -> Epsilon {
    Epsilon::new(x).unwrap()
}

fn delta(x: f64) -> Delta {
    Delta::new(x).unwrap()
}

const KEYS: usize = 4;

/// All people with at most g of four keys: a person is a set of keys.
pub(crate) fn people(groups: u32) -> Vec<u8> {
    (0..1 << KEYS).filter(|set: &u8| set.count_ones() <= groups).collect()
}

pub(crate) fn neighbours_of(relation: Neighbours, x: &[u8], domain: &[u8]) -> Vec<Vec<u8>> {
    match relation {
        AddRemove => add_or_remove_one(x, domain),
        Replace => replace_one(x, domain),
    }
}

/// The joint law of what happens to each key, from the law of one key.
pub(crate) fn joint(
    x: &[u8],
    m: u64,
    key: impl Fn(u64) -> Distribution<i128>,
) -> Distribution<Vec<i128>> {
    let mut all = Distribution::new([(Vec::new(), 1.0)]);
    for k in 0..KEYS {
        let count = m * x.iter().filter(|&&set| set >> k & 1 == 1).count() as u64;
        let push = |(mut outputs, output): (Vec<i128>, i128)| {
            outputs.push(output);
            outputs
        };
        all = all.and(&key(count)).map(push);
    }
    all
}

/// The law of a key: −1 if it is not released, the noised count if it is,
/// from T + `fold` on folded into one (which is post-processing).
fn key_law(histogram: &ThresholdHistogram, fold: i128) -> impl Fn(u64) -> Distribution<i128> {
    let (noise, threshold) = (histogram.calibration(), histogram.threshold().clone());
    let weight = move |k: i128| {
        let x = k as f64 / noise.scale;
        if noise.family == Family::Gaussian { (-0.5 * x * x).exp() } else { (-x.abs()).exp() }
    };
    let norm: f64 = (-600..=600).map(weight).sum();
    move |count| {
        if count == 0 {
            return Distribution::new([(-1, 1.0)]);
        }
        let most = threshold.value() + fold;
        Distribution::new((-600..=600).map(|k| {
            let noised = i128::from(count) + k;
            let output = if threshold.passes(noised) { noised.min(most) } else { -1 };
            (output, weight(k) / norm)
        }))
    }
}

#[test]
fn laplace_thresholds_are_private_by_brute_force_in_both_relations() {
    for (g, m, e, d) in [(1, 1, 1.0, 0.02), (1, 2, 1.0, 0.02), (2, 1, 1.5, 0.01)] {
        let domain = people(g);
        for relation in [AddRemove, Replace] {
            let contributions = Contributions::new(g, m).unwrap();
            let run = |histogram: ThresholdHistogram, d: f64| {
                let law = key_law(&histogram, 2);
                let mechanism = |x: &Vec<u8>| joint(x, u64::from(m), &law);
                let near = |x: &Vec<u8>| neighbours_of(relation, x, &domain);
                check(mechanism, rows(&domain, 0..=2), near, e, d)
            };
            let histogram =
                ThresholdHistogram::laplace(epsilon(e), delta(d), relation, contributions).unwrap();
            let lone = histogram.threshold().chance(u64::from(m)).unwrap();
            // The δ actually spent is the chance of any of g keys with one person: less would not be enough.
            let spent = 1.0 - (1.0 - lone).powi(g as i32);
            assert!(spent <= d && run(histogram.clone(), d).is_ok());
            assert!(run(histogram.clone(), spent * (1.0 + 1e-9)).is_ok());
            assert!(run(histogram.clone(), spent * (1.0 - 1e-9)).is_err());
            // T is the least: one less costs too much.
            let mut lower = histogram.clone();
            lower.threshold.at -= 1;
            assert!(run(lower, d).is_err());
            // The twin: an error found in a peer, with δ computed for `>` but the predicate `≥`.
            let above = histogram.threshold().chance(u64::from(m) - 1).unwrap();
            assert!(above < lone && run(histogram, f64::from(g) * above).is_err());
        }
    }
}

#[test]
fn the_noise_of_add_or_remove_does_not_serve_for_replace() {
    // Larger counts, two keys: (n, n′) against (n−1, n′+1).
    let make = |relation| {
        let one = Contributions::ONE;
        ThresholdHistogram::laplace(epsilon(1.0), delta(0.01), relation, one).unwrap()
    };
    let run = |histogram: ThresholdHistogram, relation| {
        let law = key_law(&histogram, 20);
        let mechanism = |h: &Vec<u64>| law(h[0]).and(&law(h[1]));
        let near = |h: &Vec<u64>| match relation {
            AddRemove => histogram_add_or_remove_one(h),
            Replace => histogram_replace_one(h),
        };
        check(mechanism, histograms(2, 12), near, 1.0, 0.01)
    };
    assert!(run(make(AddRemove), AddRemove).is_ok() && run(make(Replace), Replace).is_ok());
    assert!(run(make(AddRemove), Replace).is_err());
}

#[test]
fn gaussian_thresholds_are_private_by_brute_force_in_both_relations() {
    for relation in [AddRemove, Replace] {
        let (e, d) = (epsilon(1.5), delta(0.05));
        let make = ThresholdHistogram::gaussian(e, d, relation, Contributions::ONE).unwrap();
        let run = |histogram: &ThresholdHistogram| {
            let law = key_law(histogram, 20);
            // Two keys are enough for a move, and two people.
            let mechanism = |x: &Vec<u8>| {
                let count = |k: u8| x.iter().filter(|&&row| row == k).count() as u64;
                law(count(1)).and(&law(count(2)))
            };
            let near = |x: &Vec<u8>| neighbours_of(relation, x, &[0, 1, 2]);
            check(mechanism, rows(&[0, 1, 2], 0..=3), near, 1.5, 0.05)
        };
        assert!(run(&make).is_ok(), "{relation}");
        let mut lower = make.clone();
        lower.threshold.at -= 2;
        assert!(run(&lower).is_err());
    }
}

#[test]
fn thresholds_have_their_known_values() {
    let one = Contributions::ONE;
    let laplace = |e, d| ThresholdHistogram::laplace(epsilon(e), delta(d), AddRemove, one).unwrap();
    // Continuous: 7.43775164974; a⁷/(1+a) = 0.0188 and a⁶/(1+a) = 0.031.
    assert_eq!(laplace(0.5, 0.02).threshold().value(), 8);
    for (e, d) in [(0.1, 1e-6f64), (1.0, 1e-9), (3.0, 1e-12)] {
        let continuous = 1.0 + (0.5 / d).ln() / e;
        let discrete = laplace(e, d).threshold().value() as f64;
        assert!((discrete - continuous).abs() <= 1.0 + 0.5, "{discrete} {continuous}");
    }
    // ρ that gives (ε, δ): ρ = .5 has ε = 5.221534444530169 at δ = 1e-6.
    let rho = rho_for(epsilon(5.221534444530169), delta(1e-6)).unwrap().get();
    assert!(rho <= 0.5 && rho > 0.5 - 1e-9, "{rho}");
    assert!(rho_for(epsilon(1e-9), delta(1e-9)).unwrap().get() > 0.0);
    let refused = ThresholdHistogram::laplace(epsilon(1.0), Delta::ZERO, Replace, one);
    assert!(refused.is_err());
}

#[test]
fn calibrations_are_the_documented_formulas_in_both_relations() {
    let (e, d) = (epsilon(0.3), delta(1e-6));
    let half = delta(5e-7);
    let of = Contributions::new(3, 2).unwrap();
    for (relation, l1, l2) in [(AddRemove, 6.0, 12f64.sqrt()), (Replace, 12.0, 24f64.sqrt())] {
        let laplace = ThresholdHistogram::laplace(e, d, relation, of).unwrap().calibration();
        assert_eq!((laplace.family, laplace.sensitivity), (Family::Laplace, l1));
        assert!((laplace.scale * 0.3 / l1 - 1.0).abs() < 1e-15);
        let gaussian = ThresholdHistogram::gaussian(e, d, relation, of).unwrap().calibration();
        assert_eq!(gaussian.family, Family::Gaussian);
        assert!((1.0..1.0 + 1e-15).contains(&(gaussian.sensitivity / l2)));
        let sigma = l2 / (2.0 * rho_for(e, half).unwrap().get()).sqrt();
        assert!((1.0..1.0 + 1e-14).contains(&(gaussian.scale / sigma)));
    }
    let one = Contributions::new(1, 2).unwrap();
    let single = ThresholdHistogram::gaussian(e, d, AddRemove, one).unwrap().calibration();
    let sigma = DiscreteGaussian::new(e, half, 2).unwrap().sigma();
    assert_eq!((single.sensitivity, single.scale), (2.0, sigma));
}

#[test] // draws have the law that was checked; a threshold one lower is noticed
fn releases_fit_their_law() {
    let one = Contributions::ONE;
    let histogram = ThresholdHistogram::laplace(epsilon(0.5), delta(0.02), AddRemove, one).unwrap();
    let counts: BTreeMap<u32, u64> = (0..100_000).map(|key| (key, 6)).collect();
    let mut rng = SeededForTests::insecure(8);
    let release = histogram.release(&counts, &mut rng).unwrap();
    let drawn = counts.keys().map(|key| release.value().get(key).copied().unwrap_or(-1));
    let law = key_law(&histogram, 2)(6);
    let folded: Vec<i128> = drawn.map(|y| y.min(histogram.threshold().value() + 2)).collect();
    let fit = |law: &Distribution<i128>| {
        Fit::of(folded.iter().copied(), |k| law.probability(&k), -1..=10)
    };
    assert!(fit(&law).accepts());
    let mut lower = histogram.clone();
    lower.threshold.at -= 1;
    assert!(fit(&key_law(&lower, 3)(6)).rejects());
    assert!(release.value().keys().is_sorted());
    let nothing = BTreeMap::from([("a", 0)]);
    assert!(histogram.release(&nothing, &mut rng).unwrap().value().is_empty());
}

#[test]
fn a_huge_epsilon_is_answered_or_refused_at_once() {
    let one = Contributions::ONE;
    for e in [1e3, 1e5, 1e12] {
        for relation in [AddRemove, Replace] {
            let made = ThresholdHistogram::gaussian(epsilon(e), delta(1e-6), relation, one);
            assert!(made.is_ok() || e > 1e3);
        }
    }
}
