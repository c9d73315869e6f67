use super::*;
use crate::draw::{Draw, laplace_cdf, laplace_pmf};
use crate::special::beta;

const N: usize = 200_000;

#[test] // mpmath at 40 digits; the 5 % points are those of the printed tables
fn critical_values_are_known() {
    for (degrees, tail, point) in [
        (1, 0.05, 3.841_458_820_694_126),
        (1, 1e-6, 23.928_126_976_934_83),
        (2, 0.05, 5.991_464_547_107_982),
        (2, 1e-6, 27.631_021_115_928_548),
        (5, 0.05, 11.070_497_693_516_354),
        (5, 1e-6, 35.888_186_879_672_87),
        (20, 0.05, 31.410_432_844_230_927),
        (20, 1e-6, 65.420_681_035_047_84),
        (63, 0.05, 82.528_726_541_471_8),
        (63, 1e-6, 131.369_702_051_686_82),
        (100, 0.05, 124.342_113_404_004_08),
        (100, 1e-6, 182.126_777_119_547_57),
        (1000, 0.05, 1_074.679_448_803_441),
        (1000, 1e-6, 1_227.152_421_187_575_5),
    ] {
        let found = critical(degrees, tail);
        assert!((found / point - 1.0).abs() < 1e-10, "χ²({degrees}): {found}, not {point}");
    }
}

#[test]
fn statistic_is_pearsons() {
    // (110−100)²/100 + (190−200)²/200 + (200−200)²/200 = 1.5, on 2 degrees of freedom.
    let fit = chi_square(&[110, 190, 200], &[0.2, 0.4, 0.4]);
    assert!((fit.statistic() - 1.5).abs() < 1e-12);
    assert_eq!((fit.degrees(), fit.samples()), (2, 500));
    assert!((fit.p_value() - (-0.75f64).exp()).abs() < 1e-12); // χ²(2) is exponential
    assert!(fit.accepts());
}

#[test]
fn small_cells_are_pooled_and_none_is_lost() {
    // 1000 samples: 20 + 80 expected, then 800, then 50 + 40 + 10.
    let fit = chi_square(&[10, 90, 800, 50, 40, 10], &[0.02, 0.08, 0.8, 0.05, 0.04, 0.01]);
    assert_eq!(fit.degrees(), 2);
    assert_eq!(fit.statistic(), 0.0);
    // A remainder joins the last pool.
    assert_eq!(chi_square(&[500, 499, 1], &[0.5, 0.495, 0.005]).degrees(), 1);
}

#[test]
fn an_impossible_value_rejects_though_it_is_one_in_a_million() {
    let coin = |i: i128| if (0..2).contains(&i) { 0.5 } else { 0.0 };
    let fair = (0..1_000_000).map(|i| i % 2);
    assert!(Fit::of(fair.clone(), coin, 0..=1).accepts());
    assert!(Fit::of(fair.clone().chain([7]), coin, 0..=1).rejects());
    assert!(Fit::of(fair.clone().chain([2]), coin, -1..=2).rejects());
    assert!(Fit::of(fair.chain([i128::MIN]), coin, 0..=1).rejects());
}

/// The least favourable case of the claim at [`FALSE_ALARM`]: one degree of freedom,
/// one cell at [`LEAST_EXPECTED`]. The exact binomial tails beyond the critical value.
#[test]
fn true_false_alarm_rate_is_below_5e6() {
    for samples in [1_000u32, 10_000, 200_000, 1_000_000] {
        let (n, p) = (f64::from(samples), LEAST_EXPECTED / f64::from(samples));
        let reach = (critical(1, FALSE_ALARM) * n * p * (1.0 - p)).sqrt();
        let (low, high) = ((n * p - reach).floor(), (n * p + reach).ceil());
        let alarms = beta(high, n - high + 1.0, p) + 1.0 - beta(low + 1.0, n - low, p);
        assert!(alarms < 5e-6, "{samples} samples: {alarms:e}");
    }
}

#[test] // false alarm 1e-6 on a fixed seed: a failure is a bug, not luck
fn laplace_fits_cell_by_cell_and_a_scale_5_percent_off_does_not() {
    for scale in [0.3, 1.0, 5.0] {
        let fit = |scale_drawn: f64| {
            let mut draw = Draw(1);
            let samples = (0..N).map(move |_| draw.laplace(scale_drawn));
            Fit::of(samples, |k| laplace_pmf(scale, k), -20..=20)
        };
        assert!(fit(scale).accepts(), "scale {scale}: {}", fit(scale));
        assert!(fit(scale * 1.05).rejects(), "scale {scale}: {}", fit(scale * 1.05));
        assert!(fit(scale / 1.05).rejects(), "scale {scale}: {}", fit(scale / 1.05));
    }
}

#[test]
fn laplace_fits_by_cdf_and_a_scale_5_percent_off_does_not() {
    for scale in [0.5, 3.0, 1e3, 1e6, 1e15] {
        let fit = |scale_drawn: f64| {
            let mut draw = Draw(2);
            let samples = (0..N).map(move |_| draw.laplace(scale_drawn));
            Fit::by_cdf(samples, |k| laplace_cdf(scale, k), 64)
        };
        assert!(fit(scale).accepts(), "scale {scale}: {}", fit(scale));
        assert!(fit(scale * 1.05).rejects(), "scale {scale}: {}", fit(scale * 1.05));
        assert!(fit(scale / 1.05).rejects(), "scale {scale}: {}", fit(scale / 1.05));
    }
    // The power that the module documentation states: about 500 above the mean, which is 63 here.
    let mut draw = Draw(2);
    let samples = (0..N).map(|_| draw.laplace(1e6 * 1.05));
    let above = Fit::by_cdf(samples, |k| laplace_cdf(1e6, k), 64).statistic() - 63.0;
    assert!((350.0..650.0).contains(&above), "{above}");
}

#[test]
fn a_shift_by_one_is_caught_at_a_small_scale() {
    let mut draw = Draw(3);
    let samples = (0..N).map(|_| draw.laplace(2.0) + 1);
    assert!(Fit::of(samples, |k| laplace_pmf(2.0, k), -20..=20).rejects());
}

#[test]
fn false_alarms_are_as_rare_as_the_p_value_says() {
    // 1,000 correct samplers: the p-value is below 0.05 about 50 times (± 5 deviations).
    let low = (0..1_000)
        .filter(|seed| {
            let mut draw = Draw(*seed);
            let samples = (0..5_000).map(|_| draw.laplace(2.0));
            Fit::of(samples, |k| laplace_pmf(2.0, k), -10..=10).p_value() < 0.05
        })
        .count();
    assert!((16..=84).contains(&low), "{low} of 1000");
}

#[test]
fn quantiles_are_the_least_such_k() {
    for p in [0.01, 0.3, 0.5, 0.77] {
        for scale in [0.1, 1.0, 1e9] {
            let k = quantile(|k| laplace_cdf(scale, k), p);
            assert!(laplace_cdf(scale, k) >= p && laplace_cdf(scale, k - 1) < p);
        }
    }
}

#[test]
#[should_panic(expected = "more than one")]
fn a_pmf_that_sums_to_more_than_one_is_refused() {
    Fit::of([0, 1], |_| 0.6, 0..=1);
}

#[test]
#[should_panic(expected = "no samples")]
fn no_samples_are_refused() {
    Fit::of([], |_| 0.5, 0..=1);
}

#[test]
#[should_panic(expected = "after pooling")]
fn a_test_of_a_single_cell_is_refused() {
    Fit::of([0, 1], |_| 0.5, 0..=1);
}
