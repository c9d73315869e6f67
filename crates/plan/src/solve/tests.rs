use super::*;

#[test]
fn errors_are_read_as_amounts_or_shares() {
    assert_eq!("10".parse(), Ok(ErrorTarget::Absolute(10.0)));
    assert_eq!("1%".parse(), Ok(ErrorTarget::Share(0.01)));
    assert_eq!("1.5 %".parse(), Ok(ErrorTarget::Share(0.015)));
    for bad in ["0", "-1", "nan", "inf", "%", "x%", ""] {
        assert!(bad.parse::<ErrorTarget>().is_err(), "{bad}");
    }
}

#[test]
fn what_is_needed_is_not_rounded_away() {
    for x in [0.123_456_78, 1.0, 1.000_000_1, 73.777_77, 1e-9, 0.299_573_2] {
        let shown: f64 = short_up(x).parse().unwrap();
        assert!(shown >= x && shown < x * 1.001, "{x} {shown}");
    }
}

#[test]
fn the_third_meets_the_other_two() {
    let beta = Beta::new(0.05).unwrap();
    let mean = Statistic::mean(0.0..=100.0, Neighbours::Replace).unwrap();
    let (half, one) = (Some(ErrorTarget::Absolute(0.5)), Some(Epsilon::new(1.0).unwrap()));
    let people = Requirements { error: half, n: None, epsilon: one }.solve(&mean, beta).unwrap();
    assert!(people.asked == Asked::People && people.error <= 0.5);
    let n = people.n;
    let epsilon = Requirements { error: half, n, epsilon: None }.solve(&mean, beta).unwrap();
    assert!(epsilon.asked == Asked::Epsilon && epsilon.epsilon.get() <= 1.0);
    assert!(epsilon.sentence(&mean, "95 %").contains("ε must be at least"));
    assert!(matches!(Requirements::default().solve(&mean, beta), Err(Error::NotTwo)));
    let count = Statistic::count(1, Neighbours::AddRemove);
    let absolute = Requirements { error: half, n: None, epsilon: one };
    assert!(matches!(absolute.solve(&count, beta), Err(Error::ErrorNotShare)));
}
