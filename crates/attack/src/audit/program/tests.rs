use super::*;

#[test]
fn lines_are_runs_and_words_are_numbers_that_stand_for_them() {
    assert_eq!(numbers("1.5, -2;3e4\t7"), [1.5, -2.0, 3e4, 7.0]);
    assert_eq!(numbers("yes 1"), [word("yes"), 1.0]);
    assert!(numbers("nan")[0].is_nan());
    // All bits of a float survive.
    assert_eq!(numbers("0.1000000000000000055511151231257827")[0].to_bits(), 0.1f64.to_bits());
}
