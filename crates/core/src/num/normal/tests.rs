#![expect(clippy::excessive_precision, reason = "known answers keep all their digits")]

use super::*;

#[test]
fn mills_ratio_is_the_quotient_and_narrow() {
    for x in [0.5, 3.9, 4.0, 5.5, 12.0, 40.0] {
        let exact = Ratio::from_f64(x).unwrap();
        let ratio = mills(&exact, 200).unwrap();
        assert!(ratio.upper.saturating_sub(&ratio.lower) <= Natural::from(16u64), "{x}");
        let bits = 1_600;
        let quotient = upper_tail(&exact, bits).div(&density(&exact, bits)).unwrap();
        let quotient = quotient.truncate(200);
        assert!(quotient.lower <= ratio.upper && ratio.lower <= quotient.upper, "{x}");
    }
    let (low, high) = mills(&Ratio::from_f64(1e6).unwrap(), 128).unwrap().to_f64();
    assert!(low <= 1e-6 && high >= 1e-6 * (1.0 - 1e-11));
}

#[test]
fn quantiles_invert_tails() {
    for (p, z) in [
        (0.025, 1.959_963_984_540_054),
        (0.5, 0.0),
        (1e-10, 6.361_340_902_404_056),
        (0.49, 0.025_068_908_258_711_1),
    ] {
        let (low, high) = upper_quantile(p).unwrap();
        assert!(
            low <= z + 1e-15 && z <= high + 1e-15 && high - low < 1e-13 * (1.0 + z),
            "{p} {low} {high}"
        );
    }
    assert!(upper_quantile(0.0).is_err() && upper_quantile(0.6).is_err());
}

#[test]
fn tails_have_their_known_values() {
    // 1 − Φ(x) to 17 digits, from 40-digit computations.
    let known = [
        (0.0, 0.5),
        (0.5, 0.308_537_538_725_986_9),
        (1.0, 0.158_655_253_931_457_05),
        (2.0, 0.022_750_131_948_179_207),
        (5.0, 2.866_515_718_791_939e-7),
        (10.0, 7.619_853_024_160_526e-24),
        (20.0, 2.753_624_118_606_233_7e-89),
    ];
    for (x, value) in known {
        let (low, high) = upper_tail(&Ratio::from_f64(x).unwrap(), 400).to_f64();
        assert!((low - value).abs() <= 2e-16 * value, "{x}: {low} {value}");
        assert!(low <= high && high - low <= 1e-15 * value);
    }
    assert!(upper_tail(&Ratio::from_f64(1e9).unwrap(), 64).lower.is_zero());
    let (low, high) = density(&Ratio::zero(), 128).to_f64();
    assert!(low <= 0.398_942_280_401_432_7 && 0.398_942_280_401_432_6 <= high);
}
