use super::*;

#[test]
fn the_three_observers_by_hand() {
    let tenth = Threshold::new(1, 10).unwrap();
    let risk = of_sizes(&[1, 4, 5, 10], 3, Some(&[2, 4, 50, 10]), tenth).unwrap();
    assert_eq!(risk.prosecutor.highest_one_in, 1);
    assert_eq!(risk.prosecutor.average, 4.0 / 20.0);
    // 1/10 is not above 1/10.
    assert_eq!(risk.prosecutor.rows_at_risk, 10);
    assert_eq!(risk.journalist.highest_one_in, 2);
    assert_eq!(risk.journalist.rows_at_risk, 5);
    assert!((risk.marketer - (0.5 + 1.0 + 0.1 + 1.0) / 20.0).abs() < 1e-15);
    assert_eq!((risk.unique, risk.published, risk.suppressed), (1, 20, 3));
}

#[test]
fn nothing_published_is_no_risk() {
    let risk = of_sizes(&[], 7, None, Threshold::new(1, 5).unwrap()).unwrap();
    assert_eq!((risk.prosecutor.highest(), risk.marketer, risk.suppressed), (0.0, 0.0, 7));
}

#[test]
fn impossible_input_is_refused() {
    assert!(Threshold::new(1, 0).is_err());
    assert!(Threshold::new(3, 2).is_err());
    let threshold = Threshold::new(1, 5).unwrap();
    assert!(of_sizes(&[3], 0, Some(&[2]), threshold).is_err());
    assert!(of_sizes(&[3], 0, Some(&[3, 3]), threshold).is_err());
}
