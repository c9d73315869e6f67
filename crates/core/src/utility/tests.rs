use super::*;
use crate::mechanism::{Geometric, Laplace};
use crate::unit::Sensitivity;

#[test]
fn the_epsilon_for_an_error_inverts_the_error() {
    let beta = Beta::new(0.05).unwrap();
    for wanted in [0.01, 3.0, 1e4] {
        let error = |e| Laplace::new(e, Sensitivity::new(1.0)?)?.error(beta);
        let epsilon = epsilon_for_error(wanted, error).unwrap();
        let got = error(epsilon).unwrap();
        assert!(got <= wanted && got > wanted * (1.0 - 1e-5), "{wanted} {got}");
    }
    assert!(epsilon_for_error(f64::NAN, |_| Ok(1.0)).is_err());
    assert!(epsilon_for_error(1.0, |_| Ok(2.0)).is_err());
}

#[test]
fn the_count_for_an_error_is_the_least() {
    let error = |n: u64| Ok(1.0 / (n as f64).sqrt());
    assert_eq!(count_for_error(0.01, error).unwrap(), 10_000);
    assert_eq!(count_for_error(2.0, error).unwrap(), 1);
    assert!(count_for_error(1.0, |_| Ok(2.0)).is_err());
    assert!(count_for_error(1.0, |_| Ok(f64::NAN)).is_err());
}

#[test]
fn many_answers_cost_a_logarithm() {
    let one = Geometric::new(Epsilon::new(1.0).unwrap(), Sensitivity::new(1.0).unwrap()).unwrap();
    let beta = Beta::new(0.05).unwrap();
    let (single, all) = (one.error(beta).unwrap(), one.error_of_all(1000, beta).unwrap());
    assert!(all > single && all < single + 8.0);
    assert!(one.error_of_all(0, beta).is_err());
}
