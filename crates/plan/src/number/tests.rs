use super::*;
use demure_core::random::SeededForTests;
use demure_core::unit::{Delta, Rho};

#[test]
fn whole_numbers_get_whole_answers() {
    let mut rng = SeededForTests::insecure(3);
    let epsilon = Epsilon::new(1.0).unwrap();
    let approximate = Guarantee::Approximate(epsilon, Delta::new(1e-6).unwrap());
    let rho = Guarantee::Concentrated(Rho::new(0.5).unwrap());
    for integer in [true, false] {
        let all = [
            Number::laplace(epsilon, 1.0, integer),
            Number::gaussian(approximate, 1.0, Calibration::Analytic, integer),
            Number::gaussian(rho, 1.0, Calibration::Analytic, integer),
        ];
        for number in all.map(Result::unwrap) {
            assert_eq!(number.release(10.0, &mut rng).unwrap().is_i64(), integer);
            assert_eq!(number.release(0.5, &mut rng).is_err(), integer);
            let report = number.explain(Neighbours::AddRemove).unwrap();
            assert!(report.text_of("error_95").starts_with("± "));
        }
    }
    let half = Number::gaussian(approximate, 0.5, Calibration::Analytic, true);
    assert!(matches!(half, Err(Error::SensitivityNotWhole)));
    let pure = Number::gaussian(Guarantee::Pure(epsilon), 1.0, Calibration::Classic, false);
    assert!(matches!(pure, Err(Error::UnknownBudget)));
}
