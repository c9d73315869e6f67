use super::*;

#[test]
fn the_known_values_of_the_closed_form() {
    let near = |found: Option<f64>, truth: f64| (found.unwrap() - truth).abs() < 5e-4;
    assert!(near(expected(1000, 4000, 15.8), 0.8069));
    let root = 1000f64.sqrt();
    assert!(near(expected(1000, 4000, root), 0.6675));
    assert!(near(expected(1000, 4000, 8.0 * root), 0.5216));
    assert!(expected(1000, 4000, root / 8.0).unwrap() > 1.0 - 1.0 / 3700.0);
    assert_eq!(expected(1000, 4000, 0.0), Some(1.0));
    assert_eq!(expected(1000, 1000, 1.0), None);
    let one = Epsilon::new(1.0).unwrap();
    assert!(near(under_budget(100, 200, one), 0.5035));
    // m = 2n is best for the attacker.
    for m in [150, 190, 210, 300, 800] {
        assert!(under_budget(100, m, one) < under_budget(100, 200, one));
    }
    // On the whole numbers the variance is 2a/(1−a)² with a = e^{−ε}: 4 % less at ε = 1.
    let a = (-1.0f64).exp();
    let discrete = (2.0 * a).sqrt() / (1.0 - a);
    assert!((noise(1, one) / discrete - 1.042).abs() < 1e-3);
}

#[test]
fn answers_that_are_missing_are_done_without() {
    let mut draws = crate::draws::Draws::new(2);
    let bits: Vec<bool> = (0..50).map(|_| draws.coin()).collect();
    let subsets = Subsets::random(50, 300, &mut draws).unwrap();
    let exact = subsets.answers(&bits);
    let some: Vec<Option<f64>> =
        exact.iter().enumerate().map(|(q, a)| (q % 3 > 0).then_some(*a as f64)).collect();
    assert_eq!(reconstruct(&subsets, &some, Method::LeastSquares).unwrap(), bits);
    let none = vec![None; 300];
    assert_eq!(reconstruct(&subsets, &none, Method::LeastSquares).unwrap(), [false; 50]);
}
