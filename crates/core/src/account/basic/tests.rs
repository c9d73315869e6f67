use super::*;

#[test]
fn sums_round_up_and_overflow_is_refused() {
    let (e, d) = (Epsilon::new(0.1).unwrap(), Delta::new(1e-6).unwrap());
    let (epsilon, delta) = compose(&[(e, d, 30)]).unwrap();
    assert!((3.0..3.0 + 1e-14).contains(&epsilon) && (3e-5..3.000_001e-5).contains(&delta));
    assert_eq!(compose(&[(e, Delta::ZERO, 1)]).unwrap(), (0.1, 0.0));
    assert!(compose(&[(Epsilon::new(1e300).unwrap(), d, u64::MAX)]).is_err());
}

#[test]
fn failures_are_enclosed() {
    for (d, k) in [(1e-9, 100), (1e-3, 7), (0.3, 2), (0.9, 3)] {
        let (low, high) = failure([(Delta::new(d).unwrap(), k)].into_iter());
        let truth = -(-d).ln_1p() * k as f64;
        assert!(low <= truth && truth <= high && high - low <= 1e-13 * truth.max(d.min(0.1)));
    }
}
