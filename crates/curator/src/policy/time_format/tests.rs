use super::*;

const HOUR: i64 = 3_600 * SECOND;

fn day(year: i64, month: i64, day: i64) -> Option<i64> {
    days(year, month, day).map(|days| days * DAY)
}

fn read(format: &str, text: &str) -> Option<i64> {
    TimeFormat::parse(format).unwrap().read(text)
}

#[test]
fn common_formats_are_read() {
    let leap = day(2024, 2, 29);
    for (format, text) in [
        ("%Y-%m-%d", "2024-02-29"),
        ("%F", " 2024-02-29 "),
        ("%d.%m.%Y", "29.02.2024"),
        ("%d.%m.%Y", "29.2.2024"),
        ("%d/%m/%Y", "29/02/2024"),
        ("%m/%d/%Y", "2/29/2024"),
        ("%D", "02/29/24"),
        ("%d.%m.%y", "29.02.24"),
        ("%Y%m%d", "20240229"),
        ("%d-%b-%Y", "29-Feb-2024"),
        ("%-d %B %Y", "29 FEBRUARY 2024"),
        ("%d. %b %Y", "29. feb 2024"),
    ] {
        assert_eq!(read(format, text), leap, "{format} {text}");
        assert!(!TimeFormat::parse(format).unwrap().has_time());
    }
    let time = leap.map(|day| day + 13 * HOUR + 5 * 60 * SECOND + 9 * SECOND + 250_000);
    for (format, text) in [
        ("%Y-%m-%dT%H:%M:%S.%f", "2024-02-29T13:05:09.25"),
        ("%d.%m.%Y %I:%M:%S.%f %p", "29.02.2024 1:05:09.250000000 pm"),
        ("%F %T.%f", "2024-02-29 13:05:09.250"),
    ] {
        assert_eq!(read(format, text), time, "{format} {text}");
        assert!(TimeFormat::parse(format).unwrap().has_time());
    }
    assert_eq!(read("%d.%m.%Y %I %p", "01.01.1970 12 am"), Some(0));
    assert_eq!(read("%d.%m.%y", "01.01.69"), day(1969, 1, 1));
    assert_eq!(read("%d.%m.%y", "01.01.68"), day(2068, 1, 1));
}

#[test]
fn whatever_else_is_nothing() {
    for text in [
        "",
        "31.02.2024",
        "29.02.2023",
        "00.01.2024",
        "1.13.2024",
        "29.02.2024 00:00",
        "29.02.24",
        "29.02.20244",
        "29/02/2024",
        "x29.02.2024",
        "٢٩.02.2024",
        "+9.02.2024",
        "29.02.\u{1F600}",
    ] {
        assert_eq!(read("%d.%m.%Y", text), None, "{text}");
    }
    assert_eq!(read("%d.%m.%Y", &"1".repeat(10_000_000)), None);
    assert_eq!(read("%F %H:%M", "2024-01-01 24:00"), None);
    assert_eq!(read("%F %I %p", "2024-01-01 13 pm"), None);
    assert_eq!(read("%F %I %p", "2024-01-01 1 é"), None);
}

#[test]
fn formats_that_say_too_little_are_refused() {
    for (format, why) in [
        ("", "needs a year"),
        ("%d.%m.", "needs a year"),
        ("%d.%m.%Y %Y", "needs a year"),
        ("%F %H:%H", "twice"),
        ("%F %I", "%p"),
        ("%F %p", "%p"),
        ("%F %M", "without hours"),
        ("%q", "not understood"),
        ("%F %", "not understood"),
        (&"%".repeat(500), "too long"),
    ] {
        let said = TimeFormat::parse(format).unwrap_err();
        assert!(said.contains(why), "{format}: {said}");
    }
}
