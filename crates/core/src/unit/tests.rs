use super::*;

#[test]
fn parameters_outside_their_range_are_refused_by_name() {
    for bad in [0.0, -0.0, -1.0, f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
        let error = Epsilon::new(bad).unwrap_err().to_string();
        assert!(error.contains("epsilon") && error.contains("greater than 0"), "{error}");
        assert!(Rho::new(bad).is_err());
        assert!(Sensitivity::<L1>::new(bad).is_err());
    }
    for bad in [-1e-9, 1.0, 2.0, f64::NAN, f64::INFINITY] {
        assert!(Delta::new(bad).unwrap_err().to_string().contains("delta"));
    }
    assert!(Delta::new(0.0).is_ok());
    assert!(Delta::positive(0.0).is_err());
    for bad in [1.0, 0.5, f64::NAN, f64::INFINITY] {
        assert!(Alpha::new(bad).is_err());
    }
    for bad in [0.0, 1.0, f64::NAN] {
        assert!(Beta::new(bad).is_err());
    }
}

#[test]
fn shares_fill_a_budget_and_never_exceed_it() {
    use crate::account::filter::{Admission, Filter};
    use crate::event::Event;
    for (whole, parts) in [(1.0, 1), (1.0, 3), (1.0, 10), (0.3, 7), (2.7, 1000), (1e-9, 49)] {
        let (epsilon, rho) = (Epsilon::new(whole).unwrap(), Rho::new(whole).unwrap());
        let relation = Neighbours::AddRemove;
        let pure = Event::Pure { epsilon: epsilon.share(parts).unwrap() };
        let zcdp = Event::Concentrated { rho: rho.share(parts).unwrap() };
        let filters = [Filter::pure(epsilon, relation), Filter::concentrated(rho, relation)];
        for (mut filter, event) in filters.into_iter().zip([pure, zcdp]) {
            for _ in 0..parts {
                assert_eq!(filter.admit(&event).unwrap(), Admission::Admitted);
            }
            assert!(filter.spent().unwrap().0 > whole * (1.0 - 1e-12));
            assert_eq!(filter.admit(&event).unwrap(), Admission::Refused);
        }
    }
    // The twin: ten plain tenths are more than one, rounded up.
    let mut filter = Filter::pure(Epsilon::new(1.0).unwrap(), Neighbours::AddRemove);
    let tenth = Event::pure(0.1).unwrap();
    assert!((0..10).any(|_| filter.admit(&tenth).unwrap() == Admission::Refused));
    assert!(Epsilon::new(1.0).unwrap().share(0).is_err());
}

#[test]
fn norms_convert_upwards() {
    let linf = Sensitivity::<LInf>::new(0.1).unwrap();
    assert!(linf.to_l1(3).unwrap().get() >= 0.1 * 3.0);
    assert!(linf.to_l2(2).unwrap().get() >= 0.1 * 2f64.sqrt());
    assert_eq!(Sensitivity::<L1>::new(2.0).unwrap().to_l2().get(), 2.0);
}

#[test]
fn a_grid_is_a_power_of_two_far_below_the_scale() {
    let grid = Grid::for_scale(3.7).unwrap();
    assert_eq!(grid.spacing(), 2f64.powi(1 - 20));
    assert_eq!(grid.at(3), 3.0 * grid.spacing());
    assert!(Grid::for_scale(f64::NAN).is_err());
    assert!(Grid::for_scale(0.0).is_err());
    assert!(Grid::power_of_two(1001).is_err());
}

#[test]
fn pure_privacy_implies_half_epsilon_squared_zcdp() {
    let rho = Epsilon::new(1.0).unwrap().to_rho().unwrap().get();
    assert!((0.5..0.5 + 1e-15).contains(&rho));
}
