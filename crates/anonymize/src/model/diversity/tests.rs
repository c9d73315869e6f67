use super::super::testing::{check_monotone, class, histograms};
use super::*;
use crate::exact::Natural;

fn power(base: u64, exponent: u64) -> Natural {
    (0..exponent).fold(Natural::from(1_u64), |product, _| product.mul(&Natural::from(base)))
}

#[test]
fn entropy_agrees_with_integer_powers_on_all_small_histograms() {
    for text in ["1", "3/2", "2", "2.5", "3", "1.889881574842"] {
        let l = Fraction::parse(text).unwrap();
        let model = EntropyDiversity::new(l, 0).unwrap();
        for counts in histograms(3, 6) {
            let m: u64 = counts.iter().sum();
            // b^m·m^m ≥ a^m·Π c^c
            let left = power(model.b, m).mul(&power(m, m));
            let right =
                counts.iter().fold(power(model.a, m), |product, &c| product.mul(&power(c, c)));
            let one = class(&counts);
            assert_eq!(model.holds(&one, &one), left >= right, "{text} {counts:?}");
        }
    }
}

#[test]
fn entropy_ties_are_ties_even_with_large_counts() {
    let exact = EntropyDiversity::new(Fraction::whole(3), 0).unwrap();
    let big = 1 << 40;
    let one = class(&[big, big, big]);
    assert!(exact.holds(&one, &one), "three equal counts have exactly log 3");
    let off = class(&[big, big, big - 1]);
    assert!(!exact.holds(&off, &off), "one row off is below it");
    assert!((exact.measure(&one, &one).unwrap().to_f64() - 3.0).abs() < 1e-9);
}

#[test]
fn distinct_and_recursive_by_definition() {
    for counts in histograms(4, 5) {
        let one = class(&counts);
        let values = counts.iter().filter(|&&c| c > 0).count() as u64;
        for l in 1..=5_u64 {
            assert_eq!(DistinctDiversity::new(l, 0).unwrap().holds(&one, &one), values >= l);
            for (a, b) in [(1, 2), (1, 1), (3, 2), (3, 1)] {
                let model =
                    RecursiveDiversity::new(Fraction::new(a, b).unwrap(), l as usize, 0).unwrap();
                let mut sorted = counts.clone();
                sorted.sort_by_key(|&c| u64::MAX - c);
                let tail: u64 = sorted.iter().skip(l as usize - 1).sum();
                let expected = u128::from(sorted[0]) * b < a * u128::from(tail);
                assert_eq!(model.holds(&one, &one), expected, "{a}/{b} {l} {counts:?}");
            }
        }
    }
}

#[test]
fn large_counts_do_not_overflow() {
    let big = 1_u64 << 62;
    let one = class(&[big, big - 1]);
    let model = RecursiveDiversity::new(Fraction::ONE, 2, 0).unwrap();
    assert!(!model.holds(&one, &one));
    let above =
        RecursiveDiversity::new(Fraction::new(1 << 61, (1 << 61) - 1).unwrap(), 2, 0).unwrap();
    assert!(above.holds(&one, &one));
}

#[test]
fn unions_keep_what_their_parts_have() {
    check_monotone(&DistinctDiversity::new(2, 0).unwrap(), 3, 4);
    check_monotone(&EntropyDiversity::new(Fraction::parse("1.9").unwrap(), 0).unwrap(), 3, 4);
    check_monotone(&RecursiveDiversity::new(Fraction::parse("1.5").unwrap(), 2, 0).unwrap(), 3, 4);
}

#[test]
fn parameters_are_checked() {
    assert!(EntropyDiversity::new(Fraction::parse("0.9").unwrap(), 0).is_err());
    assert!(DistinctDiversity::new(0, 0).is_err());
    assert!(RecursiveDiversity::new(Fraction::ZERO, 2, 0).is_err());
    assert!(RecursiveDiversity::new(Fraction::ONE, 0, 0).is_err());
}
