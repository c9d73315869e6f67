use super::Known;
use crate::error::Error;
use crate::schema::{Column, Schema};

fn schema() -> Schema {
    Schema::new(vec![Column::categorical("a", 2).unwrap(), Column::categorical("b", 3).unwrap()])
        .unwrap()
}

#[test]
fn a_pair_in_either_order_is_the_same() {
    let (mut one, mut other) = (Known::nothing(2), Known::nothing(2));
    one.add(&schema(), &["a", "b"], &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]).unwrap();
    other.add(&schema(), &["b", "a"], &[1.0, 4.0, 2.0, 5.0, 3.0, 6.0]).unwrap();
    assert_eq!(one.pairs, other.pairs);
}

#[test]
fn what_is_no_histogram_is_refused() {
    for (columns, weights) in [
        (vec!["a"], vec![1.0]),
        (vec!["a"], vec![0.0, 0.0]),
        (vec!["a"], vec![-1.0, 2.0]),
        (vec!["a"], vec![f64::NAN, 2.0]),
        (vec!["a"], vec![f64::INFINITY, 2.0]),
        (vec!["a", "a"], vec![1.0; 4]),
        (vec![], vec![1.0]),
    ] {
        let refused = Known::nothing(2).add(&schema(), &columns, &weights);
        assert!(matches!(refused, Err(Error::Shape { .. })), "{columns:?} {weights:?}");
    }
}
