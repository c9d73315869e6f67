use super::*;

fn whole(n: i64) -> ScalarValue {
    ScalarValue::Int64(Some(n))
}

#[test]
fn a_series_ends_with_its_last_value_and_may_go_down() {
    let up = values(whole(1), &whole(7), &whole(3)).unwrap();
    assert_eq!(up, [whole(1), whole(4), whole(7)]);
    let down = values(whole(3), &whole(2), &whole(-1)).unwrap();
    assert_eq!(down, [whole(3), whole(2)]);
    assert!(values(whole(3), &whole(2), &whole(1)).unwrap().is_empty());
    let last = values(whole(i64::MAX), &whole(i64::MAX), &whole(-1)).unwrap();
    assert_eq!(last, [whole(i64::MAX)]);
}

#[test]
fn an_endless_series_is_refused() {
    assert!(values(whole(1), &whole(100_000), &whole(1)).is_ok());
    assert!(values(whole(1), &whole(100_001), &whole(1)).is_err());
    assert!(values(whole(1), &whole(2), &whole(0)).is_err());
}

#[test]
fn months_are_added_one_by_one() {
    let step = ScalarValue::new_interval_mdn(1, 0, 0);
    let day = |n: i32| ScalarValue::Date32(Some(n));
    // 31 January, 29 February, 29 March 2024
    assert_eq!(
        values(day(19_753), &day(19_812), &step).unwrap(),
        [day(19_753), day(19_782), day(19_811)]
    );
}
