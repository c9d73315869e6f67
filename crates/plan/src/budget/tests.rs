use super::*;

#[test]
fn rho_for_epsilon_and_delta_is_within_and_nearly_all_of_it() {
    let (epsilon, delta) = (Epsilon::new(1.0).unwrap(), Delta::new(1e-6).unwrap());
    let rho = concentrated(epsilon, delta).unwrap();
    let back = zcdp::epsilon(rho, delta).unwrap();
    assert!((0.999..=1.0).contains(&back), "{back}");
}

#[test]
fn a_pure_epsilon_is_within_its_rho() {
    let rho = Rho::new(0.5).unwrap();
    let epsilon = pure(Guarantee::Concentrated(rho)).unwrap().get();
    assert!(epsilon < 1.0 && epsilon > 1.0 - 1e-12);
}
