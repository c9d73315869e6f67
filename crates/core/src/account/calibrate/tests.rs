use super::*;

fn solve(text: &str, epsilon: f64, delta: f64) -> Result<Calibration> {
    let template = Template::parse(text).unwrap();
    let (epsilon, delta) = (Epsilon::new(epsilon).unwrap(), Delta::new(delta).unwrap());
    calibrate(&template, &[], epsilon, delta, Neighbours::AddRemove)
}

#[test]
fn pure_noise_is_what_the_formula_says() {
    let found = solve("laplace(b=?)*10", 1.0, 0.0).unwrap();
    assert!(found.value >= 10.0 && found.value < 10.0 * (1.0 + 1e-9), "{found:?}");
    assert!(found.epsilon.upper <= 1.0);
    let found = solve("pure(eps=?)*10", 1.0, 0.0).unwrap();
    assert!(found.value <= 0.1 && found.value > 0.1 * (1.0 - 1e-9), "{found:?}");
    let found = solve("pure(eps=0.1)*?", 1.05, 0.0).unwrap();
    assert_eq!(found.value, 10.0);
    assert_eq!(found.event.to_string(), "pure(eps=0.1)*10");
}

#[test]
fn gaussian_noise_is_the_analytic_one() {
    // σ = √10·σ₁ with σ₁ the analytic σ for (1, 1e-5): 3.730631634816464.
    let found = solve("gaussian(sigma=?)*10", 1.0, 1e-5).unwrap();
    let truth = 3.730_631_634_816_464 * 10f64.sqrt();
    assert!(
        found.value >= truth * (1.0 - 1e-12) && found.value < truth * (1.0 + 1e-9),
        "{found:?}"
    );
}

#[test]
fn optimal_composition_is_used_and_counts_are_whole() {
    let found = solve("pure(eps=0.1)*?", 4.8, 1e-6).unwrap();
    assert!((100.0..103.0).contains(&found.value), "{found:?}");
    assert!(!solve("pure(eps=0.1)*?", 4.8, 1e-6).is_ok_and(|f| f.epsilon.upper > 4.8));
    let next = Event::pure(0.1).unwrap().repeat(found.value as u64 + 1).unwrap();
    let next = Account::of(&[next], Neighbours::AddRemove).unwrap();
    assert!(next.epsilon(Delta::new(1e-6).unwrap()).unwrap().lower > 4.8);
}

#[test]
fn rates_and_impossibilities() {
    let found = solve("poisson(q=?, pure(eps=1))", 0.1, 0.0).unwrap();
    let truth = 0.1f64.exp_m1() / 1f64.exp_m1();
    assert!(found.value <= truth && found.value > truth * (1.0 - 1e-9), "{found:?}");
    let found = solve("poisson(q=?, pure(eps=1))", 2.0, 0.0).unwrap();
    assert!(found.value <= 1.0 && found.value > 0.99, "{found:?}");
    assert!(solve("compose(pure(eps=2), laplace(b=?))", 1.0, 0.0).is_err());
    assert!(solve("gaussian(sigma=?)", 1.0, 0.0).is_err());
}
