use super::*;
use datafusion::arrow::array::{BooleanArray, Date32Array, Float64Array, Int8Array, StringArray};

fn places(codes: Codes, values: ArrayRef) -> Vec<Option<u16>> {
    Column::new(&Coding { codes, nullable: true }).places(&values).unwrap()
}

#[test]
fn values_become_their_places() {
    let booleans = Arc::new(BooleanArray::from(vec![Some(true), None, Some(false)]));
    assert_eq!(places(Codes::Booleans, booleans), [Some(1), None, Some(0)]);
    let texts = Codes::Texts(vec!["f".into(), "m".into()]);
    let given = Arc::new(StringArray::from(vec![Some("m"), Some("M"), None]));
    assert_eq!(places(texts, given), [Some(1), None, None]);
    let listed = Codes::Numbers(vec![-1.0, 0.0, 7.0]);
    let given = Arc::new(Int8Array::from(vec![Some(7), Some(-1), Some(1), None]));
    assert_eq!(places(listed, given), [Some(2), Some(0), None, None]);
}

#[test]
fn numbers_go_to_their_bin_or_to_the_nearest() {
    let bins = Codes::Bins(vec![0.0, f64::MIN_POSITIVE, 10.0, 20.0]);
    let given = [-5.0, -0.0, 0.5, 10.0, 19.9, 20.0, 1e300, f64::INFINITY, f64::NAN];
    let given = Arc::new(Float64Array::from(given.to_vec()));
    let found = places(bins, given);
    let expected = [0, 0, 1, 2, 2, 3, 3, 3].map(Some);
    assert_eq!(found[..8], expected);
    assert_eq!(found[8], None);
    let days = Arc::new(Date32Array::from(vec![0, 6, 7, -1]));
    assert_eq!(places(Codes::Bins(vec![0.0, 7.0]), days), [0, 0, 1, 0].map(Some));
}

#[test]
fn codes_come_back_from_the_value() {
    let value = ScalarValue::Binary(Some(vec![1, 0, 255, 255]));
    assert_eq!(read_codes(&value, 2).unwrap().collect::<Vec<_>>(), [1, 65_535]);
    assert!(read_codes(&value, 3).is_none());
    assert!(read_codes(&ScalarValue::Binary(None), 2).is_none());
}
