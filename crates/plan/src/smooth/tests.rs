use super::*;
use demure_core::unit::Rho;

#[test]
fn too_few_rows_are_refused_in_words_about_rows() {
    let bounds = Bounds::new(0.0, 10.0).unwrap();
    let known = |all: &[f64]| values(bounds, all.to_vec(), Neighbours::Replace, None).unwrap();
    let three = known(&[1.0, 2.0, 9.0]);
    let median = Order::Median.of(&three).unwrap();
    assert!((median.answer(median.value()) - 2.0).abs() < 1e-6);
    assert!(Order::TrimmedMean(0.34).of(&three).is_ok());
    assert!(matches!(Order::Median.of(&known(&[])), Err(Error::TooFewRows)));
    let no_size = values(bounds, vec![1.0], Neighbours::AddRemove, None);
    assert!(matches!(no_size, Err(Error::NoSize)));
}

#[test]
fn every_noise_is_within_its_budget_or_refused() {
    let (epsilon, delta) = (Epsilon::new(1.0).unwrap(), Delta::new(1e-6).unwrap());
    let pure = Guarantee::Pure(epsilon);
    let both = Guarantee::Approximate(epsilon, delta);
    let rho = Guarantee::Concentrated(Rho::new(0.5).unwrap());
    for (noise, budget, works) in [
        (Noise::Auto, pure, true),
        (Noise::Lln, pure, false),
        (Noise::Lln, both, true),
        (Noise::Lln, rho, true),
        (Noise::Student, rho, true),
        (Noise::Pareto, both, true),
        (Noise::Laplace, both, true),
        (Noise::Laplace, pure, false),
        (Noise::Gaussian, both, true),
        (Noise::Gaussian, rho, false),
    ] {
        assert_eq!(noise.within(budget, 4, None).is_ok(), works, "{noise:?} {budget}");
    }
}
