#![expect(clippy::excessive_precision, reason = "known answers keep all their digits")]

use super::*;

fn e(x: f64) -> Epsilon {
    Epsilon::new(x).unwrap()
}

fn d(x: f64) -> Delta {
    Delta::new(x).unwrap()
}

#[test]
fn the_homogeneous_optimum_has_its_known_values() {
    // 50-digit computations of the continuous infimum: (ε, δ, δ_g, k, ε_g).
    let known = [
        (0.1, 0.0, 1e-6, 100, 4.774_567_588_107_986_153_3),
        (0.1, 0.0, 1e-6, 10, 0.999_370_905_721_758_724_7),
        (0.1, 0.0, 1e-6, 30, 2.345_887_693_008_036_622_7),
        (0.1, 1e-6, 2e-4, 10, 0.872_744_249_366_899_334_08),
        (0.1, 1e-6, 2e-4, 30, 1.752_664_127_767_098_860_9),
        (0.1, 1e-6, 1e-3, 10, 0.754_239_923_869_589_580_62),
        (0.1, 1e-9, 1e-6, 100, 4.787_723_760_811_631_770_8),
        (0.1, 1e-9, 1e-6, 10, 0.999_377_198_617_695_585_35),
        (0.1, 1e-9, 1e-6, 30, 2.348_258_849_504_957_285_7),
    ];
    for (epsilon, delta, target, k, value) in known {
        let found = homogeneous(e(epsilon), d(delta), k, d(target)).unwrap();
        assert!(found.contains(value), "{found} {value}");
        assert!(found.relative_width() < 1e-11, "{found}");
    }
    // Randomized response at ln 3.
    for (k, value) in [(1, 1.098_610_955_333_887_468_4), (10, 10.986_105_128_796_792_807)] {
        let found = homogeneous(e(3f64.ln()), Delta::ZERO, k, d(1e-6)).unwrap();
        assert!(found.contains(value) && found.relative_width() < 1e-12, "{found}");
    }
}

#[test]
fn what_cannot_be_had_is_infinite_and_pure_is_the_sum() {
    for k in [30, 100] {
        let found = homogeneous(e(0.1), d(1e-6), k, d(1e-6)).unwrap();
        assert_eq!(found, Interval::INFINITE);
    }
    let pure = homogeneous(e(0.1), Delta::ZERO, 10, Delta::ZERO).unwrap();
    assert!(pure.contains(1.0) && pure.relative_width() < 1e-15);
    assert_eq!(homogeneous(e(0.1), Delta::ZERO, 0, d(1e-6)).unwrap().upper, 0.0);
    assert_eq!(homogeneous(e(0.1), d(1e-9), 3, Delta::ZERO).unwrap(), Interval::INFINITE);
    assert!(homogeneous(e(0.1), d(1e-9), u64::MAX, d(0.5)).is_err());
    // A δ so large that there is no loss at all.
    assert_eq!(homogeneous(e(0.1), Delta::ZERO, 3, d(0.9)).unwrap().upper, 0.0);
}

#[test]
fn extreme_parameters_stay_finite_and_ordered() {
    for (epsilon, k) in [(1e-8, 10), (5.0, 1_000), (300.0, 50), (1e-3, 100_000)] {
        for target in [1e-300, 1e-14, 1e-2] {
            let found = homogeneous(e(epsilon), Delta::ZERO, k, d(target)).unwrap();
            assert!(found.lower <= found.upper && found.upper <= epsilon * k as f64 * 1.000_001);
            assert!(
                found.upper - found.lower < 1e-8 * found.upper + 1e-13,
                "{epsilon} {k} {found}"
            );
        }
    }
}

fn tenths(count: u32) -> Vec<(Epsilon, Delta, u64)> {
    (1..=count).map(|i| (e(0.01 * f64::from(i)), Delta::ZERO, 1)).collect()
}

#[test]
fn the_heterogeneous_optimum_has_its_known_values() {
    for (target, value) in
        [(1e-6, 1.995_945_504_784_294_549_2), (1e-3, 1.380_681_154_810_808_777_7)]
    {
        let found = heterogeneous(&tenths(20), d(target)).unwrap();
        assert!(found.contains(value), "{found}");
        assert!(found.relative_width() < 1e-10, "{found}");
    }
    // Equal parameters: the homogeneous formula and the enumeration agree.
    let same = heterogeneous(&[(e(0.1), d(1e-9), 30)], d(1e-6)).unwrap();
    let known = homogeneous(e(0.1), d(1e-9), 30, d(1e-6)).unwrap();
    assert!(same.lower <= known.upper && known.lower <= same.upper);
    assert!(heterogeneous(&tenths(20), Delta::ZERO).unwrap().contains(2.1));
    assert_eq!(heterogeneous(&[], d(1e-6)).unwrap().upper, 0.0);
}

/// `δ(ε) = Σ_S (P(S) − e^ε Q(S))₊` over all 2^k outcomes, in plain floats.
fn brute_force(epsilons: &[f64], epsilon: f64) -> f64 {
    let x = epsilon.exp();
    let mut outcomes = vec![(1.0f64, 1.0f64)];
    for e in epsilons {
        let p = 1.0 / (1.0 + (-e).exp());
        outcomes = outcomes
            .iter()
            .flat_map(|&(a, b)| [(a * p, b * (1.0 - p)), (a * (1.0 - p), b * p)])
            .collect();
    }
    outcomes.iter().map(|(p, q)| (p - x * q).max(0.0)).sum()
}

#[test]
fn brute_force_over_a_million_outcomes_agrees() {
    let mut state = 1u64;
    let mut uniform = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (state >> 11) as f64 / 2f64.powi(53)
    };
    for round in 0..12 {
        let k = if round == 0 { 20 } else { 4 + round };
        let epsilons: Vec<f64> = (0..k).map(|_| 0.01 + 0.5 * uniform()).collect();
        let parts: Vec<_> = epsilons.iter().map(|&x| (e(x), Delta::ZERO, 1)).collect();
        for target in [1e-9, 1e-4, 0.05] {
            let found = heterogeneous(&parts, d(target)).unwrap();
            let (at_lower, at_upper) =
                (brute_force(&epsilons, found.lower), brute_force(&epsilons, found.upper));
            assert!(at_upper <= target * (1.0 + 1e-9), "{at_upper} {target}");
            assert!(found.lower == 0.0 || at_lower >= target * (1.0 - 1e-9), "{at_lower} {target}");
            assert!(found.upper - found.lower < 1e-11, "{found}");
        }
    }
}

#[test]
fn failures_of_the_parts_are_paid_first() {
    let parts = [(e(0.2), d(1e-7), 5), (e(0.3), d(1e-8), 7)];
    let found = heterogeneous(&parts, d(1e-6)).unwrap();
    // 1 − (1 − δ_g)/Π(1 − δᵢ) = 4.300…e-7 is left.
    let left = 1.0 - (1.0 - 1e-6) / ((1.0 - 1e-7f64).powi(5) * (1.0 - 1e-8f64).powi(7));
    let epsilons: Vec<f64> = [vec![0.2; 5], vec![0.3; 7]].concat();
    assert!(brute_force(&epsilons, found.upper) <= left * (1.0 + 1e-6));
    assert!(brute_force(&epsilons, found.lower) >= left * (1.0 - 1e-6));
    assert_eq!(heterogeneous(&parts, d(1e-7)).unwrap(), Interval::INFINITE);
}
