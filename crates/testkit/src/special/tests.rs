use super::*;

#[track_caller]
fn near(found: f64, truth: f64, relative: f64) {
    assert!(
        (found - truth).abs() <= relative * truth.abs(),
        "found {found:e}, the truth is {truth:e}"
    );
}

// The expected values of this file were computed with mpmath at 40 digits.
#[test]
fn ln_gamma_is_known() {
    near(ln_gamma(0.5), 0.5723649429247001, 1e-14);
    near(ln_gamma(1e-3), 6.907178885383853, 1e-14);
    near(ln_gamma(10.0), 12.801827480081469, 1e-14);
    near(ln_gamma(1234.5), 7550.550901077895, 1e-14);
    near(ln_gamma(1e6), 12_815_504.569_147_611, 1e-14);
    assert!(ln_gamma(1.0).abs() < 1e-14 && ln_gamma(2.0).abs() < 1e-14);
}

#[test]
fn upper_gamma_is_known() {
    near(upper_gamma(0.5, 0.1), 0.654720846018577, 1e-13);
    near(upper_gamma(0.5, 12.0), 9.633570086430946e-07, 1e-12);
    near(upper_gamma(10.0, 32.71), 1.000250423586693e-06, 1e-12);
    near(upper_gamma(500.0, 480.0), 0.8137180268096754, 1e-11);
    near(upper_gamma(500.0, 620.0), 2.8152332289542095e-07, 1e-11);
    near(upper_gamma(5e5, 5.04e5), 8.389162772487518e-09, 1e-8);
    assert_eq!(upper_gamma(3.0, 0.0), 1.0);
    assert_eq!(upper_gamma(3.0, f64::INFINITY), 0.0);
    assert!(upper_gamma(0.0, 1.0).is_nan() && upper_gamma(1.0, -1.0).is_nan());
    assert!(upper_gamma(f64::NAN, 1.0).is_nan() && upper_gamma(1.0, f64::NAN).is_nan());
}

#[test]
fn beta_is_known() {
    near(beta(0.5, 0.5, 0.25), 1.0 / 3.0, 1e-13);
    near(beta(2.0, 3.0, 0.4), 0.5248, 1e-13);
    near(beta(1.0, 1000.0, 1e-9), 9.999995005001662e-07, 1e-12);
    near(beta(30.0, 971.0, 0.05), 0.9992808027197848, 1e-11);
    near(beta(30.0, 971.0, 0.01), 2.0599888509719576e-07, 1e-11);
    near(beta(5e5, 5e5, 0.4975), 2.866069730171584e-07, 1e-8);
    assert_eq!((beta(2.0, 2.0, 0.0), beta(2.0, 2.0, 1.0)), (0.0, 1.0));
    assert!(beta(0.0, 1.0, 0.5).is_nan() && beta(1.0, 1.0, 1.5).is_nan());
}

/// `I_{1/2}(k, n−k+1) = P[Bin(n, 1/2) ≥ k]`, summed by hand.
#[test]
fn beta_is_a_binomial_tail() {
    let (n, k) = (20u32, 13u32);
    let choose = |j: u32| (1..=j).fold(1.0, |c, i| c * f64::from(n - j + i) / f64::from(i));
    let tail: f64 = (k..=n).map(choose).sum::<f64>() / 2f64.powi(n as i32);
    near(beta(f64::from(k), f64::from(n - k + 1), 0.5), tail, 1e-13);
}

#[test]
fn bisect_ends_at_neighbouring_numbers() {
    let (low, high) = bisect(0.0, 2.0, |x| x * x < 2.0);
    assert!(low * low < 2.0 && high * high >= 2.0);
    assert_eq!(low.next_up(), high);
    let (low, high) = bisect(0.0, 1.0, |x| x < 1e-200);
    near(high, 1e-200, 1e-15);
    assert!(low < high);
}
