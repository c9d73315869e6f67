use super::*;

#[test]
fn groups_cost_what_the_formulas_say() {
    let (e, d) = (Epsilon::new(0.5).unwrap(), Delta::new(1e-6).unwrap());
    let (epsilon, delta) = approximate(e, d, 3).unwrap();
    let truth = 1e-6 * (1.5f64.exp() - 1.0) / (0.5f64.exp() - 1.0);
    assert!(epsilon.get() >= 1.5 && epsilon.get() < 1.5 + 1e-14);
    assert!(delta.get() >= truth * (1.0 - 1e-15) && delta.get() < truth * (1.0 + 1e-12));
    assert_eq!(approximate(e, Delta::ZERO, 2).unwrap().1, Delta::ZERO);
    assert!(approximate(Epsilon::new(50.0).unwrap(), d, 9).is_err());
    assert!((concentrated(Rho::new(0.1).unwrap(), 3).unwrap().get() - 0.9).abs() < 1e-12);
    let (alpha, divergence) = renyi(Alpha::new(16.0).unwrap(), 0.1, 2).unwrap();
    assert_eq!(alpha.get(), 4.0);
    assert!((divergence - 0.9).abs() < 1e-12);
    assert!(renyi(Alpha::new(3.0).unwrap(), 0.1, 1).is_err());
}
