use super::*;
use crate::num::{Enclosure, Ratio};

/// A deterministic spread of 63-bit integers over all magnitudes.
fn spread(count: u64) -> impl Iterator<Item = u64> {
    (0..count).map(|i| {
        let mixed = (i + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let mixed = (mixed ^ mixed >> 31).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        (mixed >> (1 + i % 63)).max(1)
    })
}

#[test]
fn logarithms_stay_within_the_stated_error() {
    let edges =
        [1, 2, 3, (1 << 63) - 1, (1 << 63) - 2, 1 << 62, (1 << 62) - 1, u64::MAX << 11 >> 1];
    for u in edges.into_iter().chain(spread(2_000)) {
        let x = neg_ln_bits(u);
        // e^−(x+err) ≤ u/2⁶³ ≤ e^−(x−err), certified.
        let exact = Enclosure::of_ratio(&Ratio::new(u, 1u64).scale(-63), 256);
        let at = |y: f64| Enclosure::exp_neg(&Ratio::from_f64(y.max(0.0)).unwrap(), 256);
        assert!(at(x + LN_ERROR).upper <= exact.lower, "{u}");
        assert!(x < LN_ERROR || at(x - LN_ERROR).lower >= exact.upper, "{u}");
    }
    for u in spread(2_000) {
        // The same function on floats, via the same certified check.
        let x = u as f64 / 2f64.powi(63);
        let y = ln(x);
        assert!((y + neg_ln_bits(u)).abs() < LN_ERROR, "{u}");
    }
}

#[test]
fn exponentials_stay_within_the_stated_error() {
    let xs = (0..3_000).map(|i| f64::from(i) * 0.233_7).chain(spread(1_000).map(neg_ln_bits));
    for x in xs.filter(|x| (0.0..=700.0).contains(x)) {
        let y = exp_neg(x);
        let bits = 200 + (x * 1.5) as u32;
        let exact = Enclosure::exp_neg(&Ratio::from_f64(x).unwrap(), bits);
        let at = |z: f64| Enclosure::of_ratio(&Ratio::from_f64(z).unwrap(), bits);
        assert!(at(y * (1.0 + EXP_ERROR)).lower >= exact.upper, "{x}");
        assert!(at(y * (1.0 - EXP_ERROR)).upper <= exact.lower, "{x}");
    }
    assert_eq!(exp_neg(701.0), 0.0);
    assert_eq!(exp_neg(0.0), 1.0);
}
