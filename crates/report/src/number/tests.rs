use super::*;
use std::time::Duration;

#[test]
fn times_are_dates() {
    let at = |s: u64| time(SystemTime::UNIX_EPOCH + Duration::from_secs(s));
    assert_eq!(at(0), "1970-01-01 00:00:00Z");
    assert_eq!(at(951_782_400), "2000-02-29 00:00:00Z");
    assert_eq!(at(1_735_689_599), "2024-12-31 23:59:59Z");
    assert_eq!(at(4_107_542_400), "2100-03-01 00:00:00Z");
    assert_eq!(moment(SystemTime::UNIX_EPOCH), "1970-01-01T00:00:00Z");
    let before = SystemTime::UNIX_EPOCH - Duration::from_secs(1);
    assert_eq!(moment(before), "1970-01-01T00:00:00Z");
}

#[test]
fn numbers_are_short() {
    for (x, text) in [
        (0.0, "0"),
        (1.0, "1"),
        (2.995_732_27, "2.99573"),
        (1234.5, "1234.5"),
        (1e-7, "1.000e-7"),
        (1e15, "1.000e15"),
    ] {
        assert_eq!(short(x), text);
    }
    for (x, text) in
        [(73_778.0, "73,778"), (-1234.5, "-1,234.5"), (999.0, "999"), (1e6, "1,000,000")]
    {
        assert_eq!(grouped(x), text);
    }
    assert_eq!(
        (grouped_if_long(9999.0), grouped_if_long(1e15)),
        ("9999".into(), "1.000e15".into())
    );
    assert_eq!([0.001, 1e-5, 20_000.0, 5e7].map(tick), ["0.001", "1e-5", "20,000", "5e7"]);
    assert_eq!(tick(4.772_060_469_928_819e-7), "4.772e-7");
}

#[test]
fn values_have_the_digits_that_mean_something() {
    for (x, error, text) in [
        (1234.567, 0.321, "1234.57 ± 0.32"),
        (1234.567, 32.1, "1235 ± 32"),
        (-54321.0, 3210.4, "-54,321 ± 3210"),
        (0.000_123, 0.000_045, "0.000123 ± 0.000045"),
        (2.0, 0.0, "2.000000 ± 0.000000"),
    ] {
        let (value, half) = with_error(x, error);
        assert_eq!(format!("{value} ± {half}"), text);
    }
    assert_eq!(whole_with_error(12_345.0, 3.2), ("12,345".into(), "4".into()));
}

#[test]
fn shares_are_rounded_and_never_to_nothing_or_all() {
    let shown = [0.0, 0.038_193_8, 1.0, 1e-6, 0.5, 0.99996].map(percent);
    assert_eq!(shown, ["0 %", "3.82 %", "100 %", "< 0.01 %", "50 %", "99.996 %"]);
    let shown = [0.99996, 1.0, 1.0 - 1e-9, 0.5, f64::NAN].map(percent_aligned);
    assert_eq!(shown, ["99.996 %", "100.0 %", "> 99.999 %", "50.0 %", "–"]);
}
