use super::*;
use crate::num::Ratio;
use crate::random::SeededForTests;
use demure_testkit::fit::Fit;

#[test]
fn integers_are_uniform_and_the_test_has_power() {
    assert_eq!(uniform_below(1, &mut SeededForTests::insecure(0)).unwrap(), 0);
    for n in [2u64, 3, 7, 100] {
        let mut rng = SeededForTests::insecure(n);
        let samples: Vec<i128> =
            (0..200_000).map(|_| i128::from(uniform_below(n, &mut rng).unwrap())).collect();
        let range = 0..=i128::from(n - 1);
        let fit = Fit::of(samples.iter().copied(), |_| 1.0 / n as f64, range.clone());
        assert!(fit.accepts(), "{n}");
        if n == 7 {
            // One value 5 % too likely is caught.
            let skew = |k: i128| if k == 0 { 1.05 / 7.0 } else { (1.0 - 1.05 / 7.0) / 6.0 };
            assert!(Fit::of(samples.iter().copied(), skew, range).rejects());
        }
    }
    assert!(uniform_below(0, &mut SeededForTests::insecure(0)).is_err());
}

#[test]
fn integers_near_the_top_of_the_range_are_not_biased_low() {
    // n = 3·2⁶²: a plain remainder would give the lower third twice the weight.
    let n = 3u64 << 62;
    let mut rng = SeededForTests::insecure(5);
    let low = (0..90_000).filter(|_| uniform_below(n, &mut rng).unwrap() < n / 3).count();
    assert!(low.abs_diff(30_000) < 5 * 142, "{low}");
}

#[test]
fn a_lazy_real_is_compared_exactly() {
    let mut rng = SeededForTests::insecure(9);
    let bits = rng.bits().unwrap();
    let third = |b: u32| Enclosure::of_ratio(&Ratio::new(1u64, 3u64), b);
    // 0.0101…01 in binary agrees with 1/3 to the last bit: more bits must decide.
    let mut tie = LazyUniform::starting(0x5555_5555_5555_5555, 64);
    tie.below(bits, third).unwrap();
    assert!(tie.bits > 64);
    assert!(LazyUniform::starting(0x5555_5555_5555_5554, 64).below(bits, third).unwrap());
    assert!(!LazyUniform::starting(0x5555_5555_5555_5556, 64).below(bits, third).unwrap());
}
