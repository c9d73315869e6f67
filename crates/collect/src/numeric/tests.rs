use super::*;
use demure_core::local::Hybrid;
use demure_core::unit::Epsilon;

#[test]
fn variances_are_those_of_the_literature() {
    for e in [0.3, 0.5, 1.0, 2.0, 4.0] {
        let epsilon = Epsilon::new(e).unwrap();
        let sign = Randomizer::Sign(Sign::new(epsilon).unwrap());
        let piecewise = Randomizer::Piecewise(Window::piecewise(epsilon).unwrap());
        let hybrid = Randomizer::Hybrid(Hybrid::new(epsilon).unwrap());
        for t in [-1.0, -0.3, 0.0, 0.5, 1.0] {
            let duchi = ((e.exp() + 1.0) / e.exp_m1()).powi(2) - t * t;
            let z = (0.5 * e).exp() - 1.0;
            let wang = t * t / z + (z + 4.0) / (3.0 * z * z);
            let near = |found: f64, known: f64| {
                assert!((found / known - 1.0).abs() < 1e-3, "{e} {t}: {found} {known}");
            };
            near(noise(&sign, t).unwrap(), duchi);
            near(noise(&piecewise, t).unwrap(), wang);
            let often = if e > 0.61 { 1.0 - (-0.5 * e).exp() } else { 0.0 };
            near(noise(&hybrid, t).unwrap(), often * wang + (1.0 - often) * duchi);
        }
        // The hybrid's worst case is below both others'.
        let worst = |r: &Randomizer| noise(r, 0.0).unwrap().max(noise(r, 1.0).unwrap());
        assert!(worst(&hybrid) <= worst(&sign).min(worst(&piecewise)) * 1.001, "{e}");
    }
}
