use super::*;

fn texts(axis: Axis, most: usize) -> Vec<String> {
    axis.ticks(most).into_iter().map(|tick| tick.1).collect()
}

#[test]
fn linear_ticks_are_round() {
    assert_eq!(texts(Axis::linear("", 0.0, 1.0), 8), ["0", "0.2", "0.4", "0.6", "0.8", "1"]);
    let fine = ["0.4", "0.45", "0.5", "0.55", "0.6", "0.65", "0.7", "0.75", "0.8"];
    assert_eq!(texts(Axis::linear("", 0.4, 0.8), 9), fine);
    assert_eq!(texts(Axis::linear("", 0.0, 3e-12), 4), ["0", "1e-12", "2e-12", "3e-12"]);
    for (x, top) in [(0.0, 1.0), (0.3, 0.4), (7.0, 8.0), (1178.0, 2000.0), (10.0, 10.0)] {
        assert!((ceiling(x) - top).abs() < 1e-9, "{x}");
    }
}

#[test]
fn logarithmic_ticks_are_round_and_few() {
    let ticks = |low, high| texts(Axis::logarithmic("", low, high), 7);
    assert_eq!(ticks(1.0, 50.0), ["1", "2", "5", "10", "20", "50"]);
    assert_eq!(ticks(0.1, 10.0), ["0.1", "0.2", "0.5", "1", "2", "5", "10"]);
    assert_eq!(ticks(0.01, 1000.0), ["0.01", "0.1", "1", "10", "100", "1,000"]);
    assert_eq!(ticks(3.0, 8.0), ["3", "4", "5", "6", "7", "8"]);
    assert_eq!(ticks(3.0, 3.1), ["3", "3.1"]);
    assert!(ticks(1e-14, 0.1).len() <= 7 && ticks(1e-300, 1e300).len() <= 7);
}

#[test]
fn axes_hold_what_they_are_made_around() {
    let axis = Axis::around("", [3.0, 0.0, 12.0, f64::NAN, f64::INFINITY]);
    assert_eq!((axis.place(3.0), axis.place(12.0)), (0.0, 1.0));
    assert!((axis.place(6.0) - 0.5).abs() < 1e-9);
    assert!(axis.shows(0.0) && !axis.shows(13.0) && !axis.shows(f64::NAN));
    assert!((Axis::around("", [5.0]).place(5.0) - 0.5).abs() < 1e-9);
    let axis = Axis::names("", vec!["a".to_owned(), String::new(), "c".to_owned()]);
    assert_eq!(axis.ticks(9), [(0.0, "a".to_owned()), (2.0, "c".to_owned())]);
    assert_eq!((axis.place(1.0), axis.group(2.0), axis.groups()), (0.5, "c", 3));
    let (first, last) = (SystemTime::UNIX_EPOCH, SystemTime::UNIX_EPOCH + Duration::from_secs(60));
    let ends = ["1970-01-01 00:00:00Z", "1970-01-01 00:01:00Z"];
    assert_eq!(texts(Axis::time("", first, last), 9), ends);
}
