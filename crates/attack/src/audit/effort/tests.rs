use super::*;

#[test]
fn an_effort_that_makes_no_audit_is_refused_and_shares_add_up() {
    for (samples, minutes, error) in [
        (Some(7), None, 1e-6),
        (None, Some(0.0), 1e-6),
        (None, Some(f64::INFINITY), 1e-6),
        (None, None, 0.5),
        (None, None, 0.0),
    ] {
        assert!(Effort::new(samples, minutes, error).is_err(), "{samples:?} {minutes:?}");
    }
    let third = Effort::new(None, Some(6.0), 3e-6).unwrap().shared(3);
    assert_eq!(third, Effort::new(None, Some(2.0), 1e-6).unwrap());
}
