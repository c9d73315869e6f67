use super::*;

#[test]
fn values_fall_into_cells_and_ranges_take_in_what_they_touch() {
    let whole = Cells::integers(&(0.0..=9.0)).unwrap();
    assert_eq!(whole.counts(&[0.0, 2.4, f64::NAN, 99.0, -5.0])[..3], [2, 0, 1]);
    assert_eq!((whole.touched(&(2.0..=4.0)), whole.label(&(2..=4))), (2..=4, "2..4".into()));
    let equal = Cells::equal(&(0.0..=100.0), 4).unwrap();
    assert_eq!(equal.touched(&(10.0..=50.0)), 0..=1);
    assert_eq!((equal.label(&(1..=1)), equal.each().len()), ("25..50".into(), 4));
    assert!(Cells::integers(&(0.5..=9.0)).is_err() && Cells::integers(&(0.0..=1e9)).is_err());
    assert!(Cells::equal(&(0.0..=1.0), u32::MAX).is_err());
}
