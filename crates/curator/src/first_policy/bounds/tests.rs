use super::*;

#[test]
fn bins_have_edges_at_powers_of_two() {
    assert_eq!((lower(21), upper(21)), (1.0, 2.0));
    assert_eq!((lower(-21), upper(-21)), (-2.0, -1.0));
    assert_eq!((lower(0), upper(0)), (0.0, 0.0));
    assert_eq!(upper(BINS / 2), 2.0_f64.powi(MOST));
    assert_eq!(histogram("a\"b").matches("\"a\"\"b\"").count() as i64, BINS + 2);
}
