use super::*;

#[test]
fn parameters_are_checked() {
    let gamma = Chance::Gamma(0.25).response(2).unwrap();
    assert!((gamma.p() - 0.75).abs() < 1e-12);
    assert!(matches!(Chance::Gamma(0.25).response(3), Err(Error::YesOrNo)));
    let wrong = Chance::Alpha(1.0).response(2).unwrap_err();
    assert_eq!(wrong.to_string(), "alpha must be a number strictly between 0 and 1");
    let wrong = Chance::Gamma(0.5).response(2).unwrap_err();
    assert_eq!(wrong.to_string(), "gamma must be a number strictly between 0 and 0.5");
    assert!(matches!(Chance::Truth(0.25).response(4), Err(Error::WrongTruth)));
    assert!(Chance::Truth(0.26).response(4).is_ok());
}

#[test]
fn half_of_half_is_unbiased() {
    let response = Chance::Alpha(0.5).response(2).unwrap();
    let beta = Beta::new(0.05).unwrap();
    for target in [Target::Population, Target::Respondents] {
        let found = estimate(&response, 9, 18, target, beta).unwrap();
        assert!((found.share - 0.5).abs() < 1e-12);
        assert!(found.interval.0 < 0.5 && 0.5 < found.interval.1);
    }
    let target = Target::Population;
    assert!(matches!(estimate(&response, 2, 1, target, beta), Err(Error::YesAboveAll)));
}

#[test]
fn the_third_is_found_and_meets_the_other_two() {
    let beta = Beta::new(0.05).unwrap();
    let question = Question { chance: None, n: Some(50_000), error: Some(0.01), categories: 2 };
    let found = question.solve(ErrorBound::Hoeffding, beta).unwrap();
    assert!(found.error <= 0.01 && found.curve(beta).len() > 100);
    let none = Question { n: None, ..question };
    assert!(matches!(none.solve(ErrorBound::Hoeffding, beta), Err(Error::NotTwoOfResponse)));
}
