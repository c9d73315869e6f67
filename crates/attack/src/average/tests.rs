use super::*;

#[test]
fn noise_that_is_fresh_falls_as_the_root_and_the_test_has_power() {
    let epsilon = Epsilon::new(0.5).unwrap();
    let points = [1, 10, 100, 1000];
    let runs = 4000;
    for found in naive(epsilon, &points, runs, &mut Draws::new(5)) {
        let expected = expected_error(epsilon, found.asked);
        // A mean square of 4,000 has a relative standard error of at most √(5/4000) = 3.5 %
        // (Laplace has kurtosis 6), its root half of that: 10 % is above five.
        let ratio = found.error / expected;
        assert!((ratio - 1.0).abs() < 0.1, "{found:?}");
        assert!((ratio * 1.25 - 1.0).abs() > 0.1);
    }
    let far = naive(epsilon, &[1000], runs, &mut Draws::new(6))[0];
    let expected = expected_right(epsilon, 1000);
    let spread = (expected * (1.0 - expected) / runs as f64).sqrt();
    assert!((far.right.rate() - expected).abs() < 5.0 * spread.max(1e-3), "{far:?}");
    assert!((expected_right(Epsilon::new(1.0).unwrap(), 100) - 0.99959).abs() < 1e-4);
}

#[test]
fn a_remembered_answer_and_a_refusal_leave_the_error_where_it_was() {
    let runs = [vec![12.0; 50], vec![7.0; 50]];
    let cached = of_answers(10.0, &runs, &[1, 10, 1000]);
    let error = (6.5f64).sqrt();
    assert!(cached.iter().all(|a| (a.error - error).abs() < 1e-12 && a.right.hits == 0));
    let refused = of_answers(10.0, &[vec![11.0, 9.0]], &[1, 2, 1000]);
    let errors: Vec<f64> = refused.iter().map(|a| a.error).collect();
    assert_eq!(errors, [1.0, 0.0, 0.0]);
}
