use super::*;
use demure_testkit::fit::Fit;

#[test]
fn a_seed_decides_and_the_shapes_are_right() {
    assert_eq!(Draws::new(7).word(), Draws::new(7).word());
    assert_ne!(Draws::part(7, 0).word(), Draws::part(7, 1).word());
    let mut draws = Draws::new(1);
    // Uniform words in ten cells, at a false-alarm rate of 1e-6 on a fixed seed.
    let cells: Vec<i128> = (0..500_000).map(|_| i128::from(draws.below(10))).collect();
    assert!(Fit::of(cells.iter().copied(), |_| 0.1, 0..=9).accepts());
    let skew = |k: i128| if k == 0 { 0.105 } else { 0.895 / 9.0 };
    assert!(Fit::of(cells.iter().copied(), skew, 0..=9).rejects());
    // Second moments 1 and 2, within five standard errors.
    let n = 100_000;
    let second = |values: Vec<f64>| values.iter().map(|x| x * x).sum::<f64>() / f64::from(n);
    assert!((second((0..n).map(|_| draws.normal()).collect()) - 1.0).abs() < 0.0224);
    assert!((second((0..n).map(|_| draws.laplace()).collect()) - 2.0).abs() < 0.0708);
}
