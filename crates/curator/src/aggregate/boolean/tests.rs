use super::*;

/// BOOL_OR is true above the error of the count of true rows; BOOL_AND is false above that of false rows.
#[test]
fn a_count_decides_at_its_error() {
    let counts = [0.0, 6.0, 7.0, 100.0].map(|n| ScalarValue::Float64(Some(n))).to_vec();
    let decided = Decided { counts: Box::new(counts), error: 6.0 };
    let column = |code| {
        let measure = Measure { family: &Booleans, code, value: Some(0), rank: None };
        decided.column(&measure).unwrap()
    };
    let truth = |values: [bool; 4]| values.map(|v| (ScalarValue::Boolean(Some(v)), None)).to_vec();
    assert_eq!(column(ANY), truth([false, false, true, true]));
    assert_eq!(column(ALL), truth([true, true, false, false]));
}
