use super::*;

#[test]
fn sampling_follows_the_formula_upwards() {
    for q in [1e-9, 1e-4, 0.01, 0.3, 0.999, 1.0] {
        for e in [1e-6, 0.1, 1.0, 5.0, 30.0] {
            let (rate, epsilon) = (Rate::new(q).unwrap(), Epsilon::new(e).unwrap());
            let (found, delta) = sample(rate, epsilon, Delta::new(1e-6).unwrap()).unwrap();
            let truth = (q * e.exp_m1()).ln_1p();
            assert!(found.get() >= truth * (1.0 - 4e-16), "{q} {e} {found} {truth}");
            assert!(
                found.get() <= truth * (1.0 + 1e-12) + 2e-14 * f64::from(truth > 1e-4),
                "{q} {e}"
            );
            assert!(delta.get() >= q * 1e-6 && delta.get() <= q * 1.000_001e-6);
        }
    }
    assert_eq!(fraction(10, 10).unwrap().get(), 1.0);
    assert!(fraction(1, 3).unwrap().get() > 1.0 / 3.0);
    assert!(fraction(4, 3).unwrap().get() <= 1.0);
}

#[test]
fn randomized_response_on_a_poisson_sample_is_tight() {
    // Base: say 1 with probability e^ε/(1+e^ε) if the unit is there and with
    // 1/(1+e^ε) if not. Its sampled version attains the bound exactly.
    let (q, e) = (0.2, 1.3f64);
    let (there, absent) = (e.exp() / (1.0 + e.exp()), 1.0 / (1.0 + e.exp()));
    let mixed = (1.0 - q) * absent + q * there;
    let attained = (mixed / absent).ln();
    let (found, _) = sample(Rate::new(q).unwrap(), Epsilon::new(e).unwrap(), Delta::ZERO).unwrap();
    assert!((found.get() - attained).abs() < 1e-12);
}
