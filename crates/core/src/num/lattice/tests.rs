#![expect(clippy::excessive_precision, reason = "known answers keep all their digits")]

use super::*;

#[test]
fn both_methods_agree_where_both_work() {
    for sigma in [60.5, 64.0] {
        let ratio = Ratio::from_f64(sigma).unwrap();
        for m in [0u128, 1, 20, 64, 200, 500, 1_000] {
            let sum = direct(m, &ratio, 1_200);
            let formula = euler_maclaurin(m, &ratio, 1_200, 7);
            assert!(formula.lower <= sum.upper && sum.lower <= formula.upper, "{sigma} {m}");
            let (low, high) = formula.to_f64();
            assert!((high - low) / high < 1e-12, "{sigma} {m}: {}", (high - low) / high);
        }
    }
}

#[test]
fn tails_give_the_known_probabilities() {
    // σ = 1: p₀ = 1/(1 + 2T(1)) = 0.39894227826686171; σ = 0.5: 0.7865707070419479.
    for (sigma, p0) in [(1.0, 0.398_942_278_266_861_71), (0.5, 0.786_570_707_041_947_9)] {
        let t = tail(1, &Ratio::from_f64(sigma).unwrap(), 128).to_f64().0;
        assert!((1.0 / (1.0 + 2.0 * t) - p0).abs() < 1e-15);
    }
}
