use super::*;

#[test]
fn days_and_dates_are_inverse() {
    assert_eq!((civil(0), civil(-1)), ((1970, 1, 1), (1969, 12, 31)));
    assert_eq!(civil(19_782), (2024, 2, 29));
    assert_eq!(days(2024, 2, 30), None);
    assert_eq!(days(2023, 2, 29), None);
    assert_eq!(days(0, 3, 1), Some(-719_468));
    for first in [-1_000_000, -719_468, -1, 10_957, 2_932_896] {
        for number in first..first + 1_500 {
            let (year, month, day) = civil(number);
            assert_eq!(days(year, month, day), Some(number));
        }
    }
    for number in [i64::from(i32::MIN), i64::from(i32::MAX)] {
        let (year, month, day) = civil(number);
        assert_eq!(days(year, month, day), Some(number));
    }
}
