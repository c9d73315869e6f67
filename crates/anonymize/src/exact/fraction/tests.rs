use super::*;

#[test]
fn parses_what_is_written_and_nothing_else() {
    let fifth = Fraction::new(1, 5).unwrap();
    for text in ["0.2", ".2", "1/5", "20%", " 2/10 ", "20.0 %", "0.200"] {
        assert_eq!(Fraction::parse(text).unwrap(), fifth, "{text}");
    }
    assert_eq!(Fraction::parse("3").unwrap().to_string(), "3");
    assert_eq!(Fraction::parse("12.5%").unwrap().to_string(), "1/8");
    assert_eq!(Fraction::parse("0").unwrap(), Fraction::ZERO);
    for text in [
        "",
        ".",
        "%",
        "-1",
        "+1",
        "1/0",
        "1e-3",
        "NaN",
        "1/2/3",
        "0.1/2",
        "٣",
        "1234567890.123456789",
    ] {
        assert!(Fraction::parse(text).is_err(), "{text}");
    }
}

#[test]
fn compares_beyond_128_bits() {
    let big = u128::MAX;
    let a = Fraction::new(big, big - 1).unwrap();
    let b = Fraction::new(big - 1, big - 2).unwrap();
    assert!(a < b, "(x+1)/x falls with x");
    assert_eq!(product(big, big), (big - 1, 1));
    for (a, b) in [(3_u128 << 100, 5_u128 << 90), (big / 3, big / 7), (1, big), (1 << 64, 1 << 64)]
    {
        let (high, low) = product(a, b);
        let expected = Natural::from(a).mul(&Natural::from(b));
        assert_eq!(Natural::from(high).shl(128).add(&Natural::from(low)), expected);
    }
}

#[test]
fn sums_carry_and_compare() {
    let mut sum = Sum::default();
    for _ in 0..3 {
        sum.add(u128::MAX);
    }
    sum.add_product(u128::MAX, 4);
    // 7·(2¹²⁸−1) over itself is exactly 1.
    assert!(sum.at_most((u128::MAX, 7), Fraction::ONE));
    sum.add(1);
    assert!(!sum.at_most((u128::MAX, 7), Fraction::ONE));
    assert!(!Sum::default().at_most((0, 1), Fraction::ONE));
}
