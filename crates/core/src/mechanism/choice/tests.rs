use super::*;
use crate::random::{Randomness, SeededForTests};
use demure_testkit::fit::Fit;

/// Counts and exponents of every kind: ties, zero counts, tiny weights, weights beyond the floats.
const CASES: [&[(u64, f64)]; 4] = [
    &[(1, 0.0)],
    &[(1, 0.3), (0, 0.0), (1, 0.0), (1, 2.0), (0, 1.0)],
    &[(1, 0.0), (1 << 50, 40.0), (7, 0.5), (7, 0.5), (1 << 53, 800.0)],
    &[(3, 1e300), (2, 0.0), (5, 1.0), (1, 690.0)],
];

fn alternatives(case: &[(u64, f64)]) -> (Vec<Alternative>, impl Fn(usize) -> Ratio) {
    let exact: Vec<_> = case.iter().map(|c| Ratio::from_f64(c.1).unwrap()).collect();
    let all = case.iter().map(|&(count, near)| Alternative { count, near }).collect();
    (all, move |i| exact[i].clone())
}

#[test]
fn floats_decide_as_certified_arithmetic_does() {
    let mut rng = SeededForTests::insecure(1);
    let bits = rng.bits().unwrap();
    for case in CASES {
        let (all, exact) = alternatives(case);
        for k in 0..300u64 {
            let word = if k < 8 { k.wrapping_sub(4) } else { bits.word().unwrap() };
            let slow = settle(&all, &exact, LazyUniform::starting(word, 64), bits).unwrap();
            assert!(case[slow].0 > 0);
            assert!(surely(&all, word).is_none_or(|fast| fast == slow), "{word}");
        }
    }
    // At the boundary between two equal halves floats must not decide.
    let (all, _) = alternatives(&[(1, 0.0), (1, 0.0)]);
    assert_eq!(surely(&all, 1 << 63), None);
    assert_eq!((surely(&all, (1 << 63) - (1 << 20)), surely(&all, 3 << 62)), (Some(0), Some(1)));
}

#[test]
fn both_paths_fit_the_table_and_the_test_has_power() {
    let one = Ratio::zero;
    assert_eq!(table(&[Alternative { count: 1, near: 0.0 }], |_| one()).unwrap(), [1.0]);
    let case = CASES[1];
    let (all, exact) = alternatives(case);
    let pmf = table(&all, &exact).unwrap();
    let mass = |i: i128| case[i as usize].0 as f64 * pmf[i as usize];
    assert!(((0..5).map(mass).sum::<f64>() - 1.0).abs() < 1e-15);
    let mut rng = SeededForTests::insecure(2);
    let bits = rng.bits().unwrap();
    let fast: Vec<_> = (0..200_000).map(|_| choose(&all, &exact, bits).unwrap() as i128).collect();
    assert!(Fit::of(fast.iter().copied(), mass, 0..=4).accepts());
    let (off, exponents) = alternatives(&[(1, 0.315), (0, 0.0), (1, 0.0), (1, 2.1), (0, 0.0)]);
    let off = table(&off, exponents).unwrap();
    let wrong = |i: i128| case[i as usize].0 as f64 * off[i as usize];
    assert!(Fit::of(fast.iter().copied(), wrong, 0..=4).rejects());
    let slow = (0..20_000).map(|_| {
        let uniform = LazyUniform::draw(bits).unwrap();
        settle(&all, &exact, uniform, bits).unwrap() as i128
    });
    assert!(Fit::of(slow, mass, 0..=4).accepts());
}
