use super::*;

#[test]
fn keys_are_in_the_order_of_numbers_and_come_back() {
    let numbers = [f64::NEG_INFINITY, -3.5, -1e-300, -0.0, 0.0, 1e-310, 2.0, 2.5, f64::INFINITY];
    for pair in numbers.windows(2) {
        assert!(ordered(pair[0]) < ordered(pair[1]), "{pair:?}");
    }
    for x in numbers {
        assert_eq!(number(ordered(x)).to_bits(), x.to_bits());
    }
    assert!(ordered(f64::NAN) > ordered(f64::INFINITY));
    assert!(number(ordered(-f64::NAN)).is_nan());
}

#[test]
fn the_lowest_bit_is_found() {
    let at = |x: f64| Feature::LowestBit(0).shown(Feature::LowestBit(0).key(&[x]));
    assert_eq!(at(1.0), "2^0");
    assert_eq!(at(-12.0), "2^2");
    assert_eq!(at(1.0 + 2f64.powi(-52)), "2^-52");
    assert_eq!(at(0.75), "2^-2");
    assert_eq!(at(0.0), "0");
    // What was added to 1 is a multiple of 2⁻⁵³, what is near 0 by itself is not.
    let z = -0.123_456_789_012_345_67;
    assert!(lowest_bit(z) < lowest_bit(1.0 + z));
}

#[test]
fn outputs_are_told_apart_bit_by_bit() {
    let key = |output: &[f64]| Feature::Exactly.key(output);
    assert_ne!(key(&[1.0, 2.0]), key(&[2.0, 1.0]));
    assert_ne!(key(&[1.0]), key(&[1.0, 0.0]));
    assert_eq!(key(&[f64::NAN]), key(&[-f64::NAN]));
    assert_eq!(Feature::Pattern.key(&[f64::NAN, 1.0]), Feature::Pattern.key(&[f64::NAN, 7.0]));
    assert_eq!(Feature::Length.key(&[1.0, 2.0]), 2);
    assert_eq!(number(Feature::Sum.key(&[1.0, f64::NAN, 2.0])), 3.0);
    assert_eq!(number(Feature::Difference(0, 1).key(&[1.0, 5.0])), 4.0);
    assert_ne!(word("yes"), word("no"));
}
