use super::*;
use crate::datasets::{
    add_or_remove_one, histogram_add_or_remove_one, histogram_replace_one, histograms, replace_one,
    rows,
};
use crate::distribution::shifted;
use crate::draw::{laplace_cdf, laplace_pmf};

const BITS: [i128; 2] = [0, 1];

/// A count of ones with discrete Laplace noise of scale 1/ε.
fn count(epsilon: f64) -> impl Fn(&Vec<i128>) -> Distribution<i128> {
    move |x| {
        let noise = |k| laplace_pmf(1.0 / epsilon, k);
        shifted(x.iter().sum(), noise, -100..=100, 1e-15)
    }
}

fn replaced() -> impl Fn(&Vec<i128>) -> Vec<Vec<i128>> {
    |x| replace_one(x, &BITS)
}

#[test]
fn a_noised_count_passes_at_its_epsilon_and_at_none_smaller() {
    let all = || rows(&BITS, 0..=3);
    type Relation = fn(&Vec<i128>) -> Vec<Vec<i128>>;
    let relations: [Relation; 2] = [|x| replace_one(x, &BITS), |x| add_or_remove_one(x, &BITS)];
    for relation in relations {
        let worst = check(count(1.0), all(), relation, 1.0, 0.0).unwrap();
        assert!((worst.epsilon - 1.0).abs() < 1e-11);
        assert!(worst.delta < 1e-12 && worst.pairs > 50);
        assert_eq!(worst.unchecked, 1e-15);
        assert!(check(count(1.0), all(), relation, 1.0 - 1e-10, 0.0).is_err());
    }
}

#[test] // the power twin: half the scale must fail
fn noise_of_half_the_scale_fails() {
    let violation = check(count(2.0), rows(&BITS, 0..=3), replaced(), 1.0, 0.0).unwrap_err();
    // The smallest counterexample comes first, with its actual loss.
    assert_eq!(violation.pair.0.len(), 1);
    let (_, loss) = violation.output.unwrap();
    assert!((loss - 2.0).abs() < 1e-11);
    let message = violation.to_string();
    assert!(message.starts_with("not (1, 0e0)-DP: δ is "), "{message}");
    // A δ that compensates for it passes, and is the one reported.
    let Broken::Approximate { found, .. } = violation.broken else { panic!("{violation}") };
    let worst = check(count(2.0), rows(&BITS, 0..=3), replaced(), 1.0, found * 1.000_001);
    assert!((worst.unwrap().delta / found - 1.0).abs() < 1e-6);
}

/// Counts with noise of scale `sensitivity/ε` each.
fn noisy_histogram(sensitivity: f64) -> impl Fn(&Vec<u64>) -> Distribution<Vec<i128>> {
    move |counts| {
        let noise = |k| laplace_pmf(sensitivity, k);
        let outputs = -60..=60;
        let cell = |i: usize| shifted(i128::from(counts[i]), noise, outputs.clone(), 1e-11);
        cell(0).and(&cell(1)).map(|(a, b)| vec![a, b])
    }
}

#[test]
fn a_histogram_has_sensitivity_1_under_add_or_remove_and_2_under_replace() {
    let all = || histograms(2, 2);
    let add = |h: &Vec<u64>| histogram_add_or_remove_one(h);
    let replace = |h: &Vec<u64>| histogram_replace_one(h);
    assert!(check(noisy_histogram(1.0), all(), add, 1.0, 0.0).is_ok());
    assert!(check(noisy_histogram(1.0), all(), replace, 1.0, 0.0).is_err());
    let worst = check(noisy_histogram(2.0), all(), replace, 1.0, 0.0).unwrap();
    assert!((worst.epsilon - 1.0).abs() < 1e-11);
}

/// A key's noised count, released if it is at least `threshold`; an absent key never is.
fn thresholded(threshold: i128) -> impl Fn(&Vec<u64>) -> Distribution<Option<i128>> {
    move |counts| match i128::from(counts[0]) {
        0 => Distribution::new([(None, 1.0)]),
        n => shifted(n, |k| laplace_pmf(1.0, k), -60..=100, 1e-25)
            .map(|noised| (noised >= threshold).then_some(noised)),
    }
}

#[test]
fn a_threshold_needs_the_delta_of_its_own_predicate() {
    let neighbours = |h: &Vec<u64>| histogram_add_or_remove_one(h);
    let run = |delta| check(thresholded(10), histograms(1, 3), neighbours, 1.0, delta);
    // A single row's key appears iff 1 + Z ≥ 10.
    let at_least = 1.0 - laplace_cdf(1.0, 8);
    let above = 1.0 - laplace_cdf(1.0, 9);
    assert!((at_least / above - 1f64.exp()).abs() < 1e-9); // the factor 2.7
    let worst = run(at_least).unwrap();
    assert!((worst.delta / at_least - 1.0).abs() < 1e-9);
    assert_eq!(worst.epsilon, f64::INFINITY);
    assert!(run(above).is_err());
    assert!(run(at_least * (1.0 - 1e-9)).is_err());
}

/// The exponential mechanism over two cells with their counts for scores.
fn exponential(weight: f64) -> impl Fn(&Vec<u64>) -> Distribution<usize> {
    move |counts| {
        let odds = (weight * (counts[0] as f64 - counts[1] as f64)).exp();
        Distribution::new([(0, odds / (1.0 + odds)), (1, 1.0 / (1.0 + odds))])
    }
}

#[test]
fn the_monotone_exponential_mechanism_is_not_for_replace_one() {
    let all = || histograms(2, 4);
    let add = |h: &Vec<u64>| histogram_add_or_remove_one(h);
    let replace = |h: &Vec<u64>| histogram_replace_one(h);
    assert!(check(exponential(1.0), all(), add, 1.0, 0.0).is_ok());
    assert!(check(exponential(1.0), all(), replace, 1.0, 0.0).is_err());
    assert!(check(exponential(0.5), all(), replace, 1.0, 0.0).is_ok());
}

const ORDERS: [f64; 7] = [1.01, 1.5, 2.0, 4.0, 16.0, 64.0, 256.0];

/// A count with the discrete Gaussian: `1/(2σ²)`-zCDP.
fn gaussian(sigma: f64) -> impl Fn(&Vec<i128>) -> Distribution<i128> {
    let weight = move |k: i128| (-((k * k) as f64) / (2.0 * sigma * sigma)).exp();
    let norm: f64 = (-200..=200).map(weight).sum();
    move |x| shifted(x.iter().sum(), |k| weight(k) / norm, -60..=60, 1e-15)
}

#[test]
fn a_gaussian_count_passes_at_its_rho_and_at_none_smaller() {
    let all = || rows(&BITS, 1..=3);
    let rho = |sigma: f64| 1.0 / (2.0 * sigma * sigma);
    for sigma in [0.5, 1.0, 3.0] {
        let worst = check_zcdp(gaussian(sigma), all(), replaced(), rho(sigma), &ORDERS).unwrap();
        assert!(worst.rho <= rho(sigma) * (1.0 + 1e-10) && worst.rho > 0.99 * rho(sigma));
        let less = rho(sigma * 1.05);
        let violation = check_zcdp(gaussian(sigma), all(), replaced(), less, &ORDERS);
        assert!(violation.unwrap_err().to_string().contains("-zCDP: the divergence"));
    }
}

#[test]
fn a_bounded_range_of_epsilon_is_epsilon_squared_over_8_zcdp() {
    let all = || histograms(2, 4);
    let replace = |h: &Vec<u64>| histogram_replace_one(h);
    assert!(check_zcdp(exponential(0.5), all(), replace, 0.125, &ORDERS).is_ok());
    // Charged a quarter of that, as a peer once did: refused.
    assert!(check_zcdp(exponential(0.5), all(), replace, 0.125 / 4.0, &ORDERS).is_err());
}

#[test]
fn a_tail_counts_against_delta_and_a_rare_output_against_epsilon() {
    // Bits apart only in an output of probability 1e-100.
    let rare = |x: &Vec<i128>| {
        let p = if x[0] == 0 { 1e-100 } else { 3e-100 };
        Distribution::new([(0, 1.0), (1, p)])
    };
    let bits = || rows(&BITS, 1..=1);
    assert!(check(rare, bits(), replaced(), 3f64.ln() + 1e-9, 0.0).is_ok());
    assert!(check(rare, bits(), replaced(), 1.0, 0.0).is_err());

    let same = |_: &Vec<i128>| Distribution::with_tail([(0, 0.999)], 0.001);
    assert!(check(same, bits(), replaced(), 1.0, 0.001).is_ok());
    assert!(check(same, bits(), replaced(), 1.0, 0.000_9).is_err());
    assert_eq!(check(same, bits(), replaced(), 1.0, 0.0).unwrap().unchecked, 0.001);
}

#[test]
#[should_panic(expected = "could not fail")]
fn a_check_of_nothing_is_refused() {
    let _ = check(count(1.0), [vec![]], replaced(), 1.0, 0.0);
}
