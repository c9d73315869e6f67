use super::*;

#[test]
fn an_edge_for_another_is_two_steps() {
    let (e, d) = (Epsilon::new(1.0).unwrap(), Delta::new(1e-6).unwrap());
    let both = Guarantee::Approximate(e, d);
    let Ok(Guarantee::Approximate(half, less)) = step(both, Neighbours::Replace) else {
        panic!("another kind of budget")
    };
    assert_eq!(half.get(), 0.5);
    let spent = (1.0 + 0.5f64.exp()) * less.get();
    assert!((1e-6 * (1.0 - 1e-11)..=1e-6).contains(&spent), "{spent}");
    assert_eq!(
        promised(Guarantee::Pure(half), both, Neighbours::Replace).unwrap(),
        Guarantee::Pure(e)
    );
    let rho = Guarantee::Concentrated(Rho::new(2.0).unwrap());
    let quarter = step(rho, Neighbours::Replace).unwrap();
    assert_eq!(quarter, Guarantee::Concentrated(Rho::new(0.5).unwrap()));
    assert_eq!(promised(quarter, rho, Neighbours::Replace).unwrap(), rho);
    assert_eq!(step(both, Neighbours::AddRemove).unwrap(), both);
    let huge = Guarantee::Approximate(Epsilon::new(1e4).unwrap(), d);
    let pure = Guarantee::Pure(Epsilon::new(5e3).unwrap());
    assert_eq!(step(huge, Neighbours::Replace).unwrap(), pure);
}
