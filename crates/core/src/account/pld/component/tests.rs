use super::*;

#[test]
fn nonsense_is_refused_by_name() {
    for bad in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        assert!(Component::gaussian(bad).unwrap_err().to_string().contains("sigma"));
        assert!(Component::laplace(bad).unwrap_err().to_string().contains("scale"));
        assert!(Component::discrete_gaussian(bad, 1).is_err());
        assert!(Component::discrete_laplace(bad, 1).is_err());
        assert!(Component::poisson_gaussian(bad, 1.0).is_err());
        assert!(Component::poisson_gaussian(0.5, bad).is_err());
    }
    assert!(Component::discrete_gaussian(1.0, 0).is_err());
    assert!(Component::discrete_laplace(1.0, 0).is_err());
    assert!(Component::response(Epsilon::new(1.0).unwrap(), 1).is_err());
    assert!(Component::response(Epsilon::new(1e4).unwrap(), 2).is_err());
    // Sampling everyone is the same as not sampling.
    assert_eq!(Component::poisson_gaussian(1.0, 2.0), Component::gaussian(2.0));
    assert_eq!(Component::poisson_laplace(1.0, 2.0), Component::laplace(2.0));
}
