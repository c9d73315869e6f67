use super::*;
use crate::draw::Draw;

#[track_caller]
fn near(found: f64, truth: f64) {
    assert!((found - truth).abs() <= 1e-9 * truth, "found {found}, the truth is {truth}");
}

#[test] // beta quantiles computed with mpmath at 40 digits
fn clopper_pearson_is_known() {
    near(binomial_lower(3, 10, 0.025), 0.06673951117773447);
    near(binomial_upper(3, 10, 0.025), 0.6524528500599973);
    near(binomial_lower(1, 1000, 1e-6), 1.0000004995003329e-09);
    near(binomial_upper(1, 1000, 1e-6), 0.016558164174744126);
    near(binomial_lower(50, 1000, 5e-7), 0.022983431793702394);
    near(binomial_upper(50, 1000, 5e-7), 0.09180293292061964);
    near(binomial_lower(600, 1000, 0.025), 0.5688784459558931);
    near(binomial_upper(600, 1000, 0.025), 0.6305310124510876);
    assert_eq!(binomial_lower(0, 10, 0.025), 0.0);
    assert_eq!(binomial_upper(10, 10, 0.025), 1.0);
    // k = n and k = 0 have closed forms.
    near(binomial_lower(10, 10, 0.025), 0.025f64.powf(0.1));
    near(binomial_upper(0, 10, 0.025), 1.0 - 0.025f64.powf(0.1));
}

#[test]
fn clopper_pearson_covers() {
    // At every p, the chance that the lower bound exceeds p is at most the error:
    // sum the pmf of the k where it does, for n = 30.
    let (n, error) = (30u64, 0.05);
    let bounds: Vec<f64> = (0..=n).map(|k| binomial_lower(k, n, error)).collect();
    for step in 1..200 {
        let p = f64::from(step) / 200.0;
        let mut pmf = (1.0 - p).powi(n as i32);
        let mut missed = 0.0;
        for (k, bound) in bounds.iter().enumerate() {
            if *bound > p {
                missed += pmf;
            }
            pmf *= (n as f64 - k as f64) / (k as f64 + 1.0) * p / (1.0 - p);
        }
        assert!(missed <= error + 1e-12, "p = {p}: {missed}");
    }
}

fn counts(scale: f64, seed: u64, n: usize) -> (Vec<i128>, Vec<i128>) {
    let mut draw = Draw(seed);
    let left = (0..n).map(|_| draw.laplace(scale)).collect();
    let right = (0..n).map(|_| 1 + draw.laplace(scale)).collect();
    (left, right)
}

#[test] // false alarm 1e-6 on a fixed seed
fn half_the_scale_is_refuted_and_the_right_scale_is_not() {
    let (left, right) = counts(1.0, 1, 200_000);
    let right_scale = falsify(&left, &right, 0.0, 1e-6);
    assert!(!right_scale.refutes(1.0));
    assert!(right_scale.epsilon > 0.95, "{right_scale:?}");

    let (left, right) = counts(0.5, 2, 200_000);
    let half = falsify(&left, &right, 0.0, 1e-6);
    assert!(half.refutes(1.0) && half.epsilon > 1.9, "{half:?}");
    // The samples may come in either order.
    assert!(falsify(&right, &left, 0.0, 1e-6).refutes(1.0));
}

#[test] // the power twin: 5 % off
fn noise_5_percent_too_small_is_refuted_by_a_million_samples() {
    let (left, right) = counts(1.0 / 1.05, 3, 1_000_000);
    assert!(falsify(&left, &right, 0.0, 1e-6).refutes(1.0));
    let (left, right) = counts(1.0, 3, 1_000_000);
    assert!(!falsify(&left, &right, 0.0, 1e-6).refutes(1.0));
}

#[test]
fn delta_is_taken_off() {
    // A coin that gives the input away one time in a hundred.
    let mut draw = Draw(4);
    let mut leak = |bit: u8| (draw.uniform() < 0.01).then_some(bit);
    let left: Vec<_> = (0..100_000).map(|_| leak(0)).collect();
    let right: Vec<_> = (0..100_000).map(|_| leak(1)).collect();
    assert!(falsify(&left, &right, 0.0, 1e-6).refutes(3.0));
    assert!(falsify(&left, &right, 0.005, 1e-6).refutes(1.0));
    assert!(!falsify(&left, &right, 0.01, 1e-6).refutes(0.0));
}

#[test]
fn rounded_gaussian_is_within_its_analytic_epsilon() {
    // σ = 1, δ = 0.12694 at ε = 1.
    let mut draw = Draw(5);
    let left: Vec<_> = (0..200_000).map(|_| draw.normal(1e3)).collect();
    let right: Vec<_> = (0..200_000).map(|_| draw.normal(1e3) + 1_000).collect();
    let evidence = falsify(&left, &right, 0.126_94, 1e-6);
    assert!(!evidence.refutes(1.0) && evidence.epsilon > 0.8, "{evidence:?}");
    assert!(falsify(&left, &right, 0.05, 1e-6).refutes(1.0));
}

#[test]
fn the_bound_is_right_as_often_as_stated() {
    // Error 5 %: of 400 audits of a mechanism with ε exactly 1, at most 20 + 4·√19 err.
    let wrong = (0..400)
        .filter(|seed| {
            let (left, right) = counts(1.0, 100 + seed, 2_000);
            falsify(&left, &right, 0.0, 0.05).refutes(1.0)
        })
        .count();
    assert!(wrong <= 37, "{wrong} of 400");
}

#[test]
#[should_panic(expected = "two samples a side")]
fn too_few_samples_are_refused() {
    falsify(&[0], &[1, 2], 0.0, 0.05);
}
