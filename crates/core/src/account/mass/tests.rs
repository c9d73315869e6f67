use super::*;
use crate::num::directed;

fn holds(mass: Mass, value: f64, relative: f64) {
    let (low, high) = mass.to_f64();
    assert!(low <= value && value <= high, "{low} {value} {high}");
    assert!(high - low <= relative * value, "{low} {high}");
}

#[test]
fn arithmetic_encloses_and_stays_narrow() {
    let (third, seven) = (Mass::ONE.div(&Mass::exactly(3.0)), Mass::exactly(7.0));
    holds(third, 1.0 / 3.0, 1e-15);
    holds(third.mul(&seven), 7.0 / 3.0, 2e-15);
    holds(third.add(&seven), 22.0 / 3.0, 2e-15);
    holds(seven.sub(&third), 20.0 / 3.0, 2e-15);
    holds(third.pow(5), 1.0 / 243.0, 1e-14);
    assert!(third.sub(&seven).is_zero());
    assert!(third.at_most(&seven) && seven.at_least(&third) && !seven.at_most(&third));
    assert!(Mass::exactly(f64::NAN).to_f64() == (0.0, f64::INFINITY));
    assert_eq!(Mass::exactly(f64::INFINITY).to_f64().1, f64::INFINITY);
    assert_eq!(third.div(&Mass::ZERO).to_f64().1, f64::INFINITY);
    holds(Mass::exactly(5e-324).times(2f64.powi(1000)), 5e-324 * 2f64.powi(1000), 1e-15);
    // Out of range, the ends are still valid bounds.
    let (tiny, vast) = (Mass::exp_neg(1e300), Mass::exp(1e300));
    assert!(tiny.to_f64().0 == 0.0 && !tiny.is_zero());
    assert!(vast.ln().0 > 1e17 && vast.ln().1 == f64::INFINITY);
    let still = vast.times(1e-300).div(&Mass::exactly(1e300)).sub(&Mass::ONE);
    assert_eq!(still.to_f64().1, f64::INFINITY);
    assert!(!vast.at_most(&vast) && tiny.at_most(&vast));
    // A term far below the sum still counts, upwards.
    let sum = Mass::ONE.add(&Mass::exp_neg(1000.0));
    assert!(sum.to_f64().1 > 1.0);
}

#[test]
fn exponentials_and_logarithms_agree_with_the_certified_ones() {
    for x in [0.0, 1e-12, 1e-3, 0.3, 0.5, 0.7, 1.0, 17.3, 400.0, 690.0] {
        let (low, high) = directed::exp_neg(x).unwrap();
        let (ours_low, ours_high) = Mass::exp_neg(x).to_f64();
        assert!(ours_low <= high && low <= ours_high);
        assert!(ours_high - ours_low <= 3e-14 * high);
        let (ln_low, ln_high) = Mass::exp_neg(x).ln();
        assert!(ln_low <= -x && -x <= ln_high && ln_high - ln_low < 6e-14f64.max(1e-15 * x), "{x}");
    }
    for x in [1e5, 123_456.7] {
        let (low, high) = Mass::exp_neg(x).ln();
        assert!(low <= -x && -x <= high && high - low < 1e-9 * x, "{low} {high}");
        let (low, high) = Mass::exp(x).ln();
        assert!(low <= x && x <= high);
    }
    for x in [1e-15, 1e-9, 1e-4, 0.1, 0.5, 0.6, 3.0] {
        let (low, high) = Mass::one_minus_exp_neg(x).to_f64();
        let truth = -(-x).exp_m1();
        assert!(low <= truth && truth <= high && high - low <= 5e-14 * truth, "{x}");
    }
    for x in [1e-300, 0.1, 0.999_999, 1.0, 1.5, 2.0, 1e10, 1e300] {
        let (low, high) = directed::ln(x).unwrap();
        let (ours_low, ours_high) = Mass::exactly(x).ln();
        assert!(ours_low <= high && low <= ours_high && ours_high - ours_low <= 1e-12);
    }
}
