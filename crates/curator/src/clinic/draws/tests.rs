use super::*;

#[test]
fn a_seed_decides_and_the_shapes_are_right() {
    assert_eq!(Draws::new(7).next(), Draws::new(7).next());
    assert_ne!(Draws::new(7).next(), Draws::new(8).next());
    let mut draws = Draws::new(1);
    let n = 100_000;
    let mean = |values: Vec<f64>| values.iter().sum::<f64>() / f64::from(n);
    // On a fixed seed; five standard errors are 0.016.
    assert!(mean((0..n).map(|_| draws.normal()).collect()).abs() < 0.016);
    assert!((mean((0..n).map(|_| draws.normal().powi(2)).collect()) - 1.0).abs() < 0.03);
    assert!((mean((0..n).map(|_| draws.exponential(3.0)).collect()) - 3.0).abs() < 0.05);
    let heavy = (0..n).map(|_| draws.weighted(&[1.0, 3.0]) as f64).collect();
    assert!((mean(heavy) - 0.75).abs() < 0.01);
}
