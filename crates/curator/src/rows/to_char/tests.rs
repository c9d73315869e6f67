use super::*;
use datafusion::common::ScalarValue;

fn text(moment: &str, format: &str) -> String {
    let kind = DataType::Timestamp(TimeUnit::Microsecond, None);
    let value = ScalarValue::from(moment).cast_to(&kind).unwrap();
    let at = microseconds(&value.to_array().unwrap()).unwrap()[0].unwrap();
    written(&parts(format), Moment::of(at).unwrap())
}

/// What PostgreSQL 15 says.
const POSTGRES: &[(&str, &str, &str)] = &[
    ("2024-03-17 15:04:05.678", "YYYY-MM", "2024-03"),
    ("2024-12-30 00:00:00", "YYYY-MM", "2024-12"),
    ("2021-01-03 12:00:00", "YYYY-MM", "2021-01"),
    ("2000-02-29 23:59:59.999999", "YYYY-MM", "2000-02"),
    ("1999-10-01 01:02:03", "YYYY-MM", "1999-10"),
    ("0044-03-15 08:00:00", "YYYY-MM", "0044-03"),
    ("2024-03-17 15:04:05.678", "YYYY-MM-DD HH24:MI:SS.MS", "2024-03-17 15:04:05.678"),
    ("2024-12-30 00:00:00", "YYYY-MM-DD HH24:MI:SS.MS", "2024-12-30 00:00:00.000"),
    ("2021-01-03 12:00:00", "YYYY-MM-DD HH24:MI:SS.MS", "2021-01-03 12:00:00.000"),
    ("2000-02-29 23:59:59.999999", "YYYY-MM-DD HH24:MI:SS.MS", "2000-02-29 23:59:59.999"),
    ("1999-10-01 01:02:03", "YYYY-MM-DD HH24:MI:SS.MS", "1999-10-01 01:02:03.000"),
    ("0044-03-15 08:00:00", "YYYY-MM-DD HH24:MI:SS.MS", "0044-03-15 08:00:00.000"),
    (
        "2024-03-17 15:04:05.678",
        "YY Q MM MON Mon Month|MONTH|month",
        "24 1 03 MAR Mar March    |MARCH    |march    ",
    ),
    (
        "2024-12-30 00:00:00",
        "YY Q MM MON Mon Month|MONTH|month",
        "24 4 12 DEC Dec December |DECEMBER |december ",
    ),
    (
        "2021-01-03 12:00:00",
        "YY Q MM MON Mon Month|MONTH|month",
        "21 1 01 JAN Jan January  |JANUARY  |january  ",
    ),
    (
        "2000-02-29 23:59:59.999999",
        "YY Q MM MON Mon Month|MONTH|month",
        "00 1 02 FEB Feb February |FEBRUARY |february ",
    ),
    (
        "1999-10-01 01:02:03",
        "YY Q MM MON Mon Month|MONTH|month",
        "99 4 10 OCT Oct October  |OCTOBER  |october  ",
    ),
    (
        "0044-03-15 08:00:00",
        "YY Q MM MON Mon Month|MONTH|month",
        "44 1 03 MAR Mar March    |MARCH    |march    ",
    ),
    ("2024-03-17 15:04:05.678", "DD DY Day|D|day", "17 SUN Sunday   |1|sunday   "),
    ("2024-12-30 00:00:00", "DD DY Day|D|day", "30 MON Monday   |2|monday   "),
    ("2021-01-03 12:00:00", "DD DY Day|D|day", "03 SUN Sunday   |1|sunday   "),
    ("2000-02-29 23:59:59.999999", "DD DY Day|D|day", "29 TUE Tuesday  |3|tuesday  "),
    ("1999-10-01 01:02:03", "DD DY Day|D|day", "01 FRI Friday   |6|friday   "),
    ("0044-03-15 08:00:00", "DD DY Day|D|day", "15 TUE Tuesday  |3|tuesday  "),
    ("2024-03-17 15:04:05.678", "HH12:MI:SS AM", "03:04:05 PM"),
    ("2024-12-30 00:00:00", "HH12:MI:SS AM", "12:00:00 AM"),
    ("2021-01-03 12:00:00", "HH12:MI:SS AM", "12:00:00 PM"),
    ("2000-02-29 23:59:59.999999", "HH12:MI:SS AM", "11:59:59 PM"),
    ("1999-10-01 01:02:03", "HH12:MI:SS AM", "01:02:03 AM"),
    ("0044-03-15 08:00:00", "HH12:MI:SS AM", "08:00:00 AM"),
    ("2024-03-17 15:04:05.678", "HH:MI pm", "03:04 pm"),
    ("2024-12-30 00:00:00", "HH:MI pm", "12:00 am"),
    ("2021-01-03 12:00:00", "HH:MI pm", "12:00 pm"),
    ("2000-02-29 23:59:59.999999", "HH:MI pm", "11:59 pm"),
    ("1999-10-01 01:02:03", "HH:MI pm", "01:02 am"),
    ("0044-03-15 08:00:00", "HH:MI pm", "08:00 am"),
    ("2024-03-17 15:04:05.678", "WW IW IYYY DDD", "11 11 2024 077"),
    ("2024-12-30 00:00:00", "WW IW IYYY DDD", "53 01 2025 365"),
    ("2021-01-03 12:00:00", "WW IW IYYY DDD", "01 53 2020 003"),
    ("2000-02-29 23:59:59.999999", "WW IW IYYY DDD", "09 09 2000 060"),
    ("1999-10-01 01:02:03", "WW IW IYYY DDD", "40 39 1999 274"),
    ("0044-03-15 08:00:00", "WW IW IYYY DDD", "11 11 0044 075"),
    ("2024-03-17 15:04:05.678", "FMMonth FMDD, FMYYYY", "March 17, 2024"),
    ("2024-12-30 00:00:00", "FMMonth FMDD, FMYYYY", "December 30, 2024"),
    ("2021-01-03 12:00:00", "FMMonth FMDD, FMYYYY", "January 3, 2021"),
    ("2000-02-29 23:59:59.999999", "FMMonth FMDD, FMYYYY", "February 29, 2000"),
    ("1999-10-01 01:02:03", "FMMonth FMDD, FMYYYY", "October 1, 1999"),
    ("0044-03-15 08:00:00", "FMMonth FMDD, FMYYYY", "March 15, 44"),
    ("2024-03-17 15:04:05.678", "FMDDth \"of\" FMMonth", "17th of March"),
    ("2024-12-30 00:00:00", "FMDDth \"of\" FMMonth", "30th of December"),
    ("2021-01-03 12:00:00", "FMDDth \"of\" FMMonth", "3rd of January"),
    ("2000-02-29 23:59:59.999999", "FMDDth \"of\" FMMonth", "29th of February"),
    ("1999-10-01 01:02:03", "FMDDth \"of\" FMMonth", "1st of October"),
    ("0044-03-15 08:00:00", "FMDDth \"of\" FMMonth", "15th of March"),
    ("2024-03-17 15:04:05.678", "\"Week\" IW", "Week 11"),
    ("2024-12-30 00:00:00", "\"Week\" IW", "Week 01"),
    ("2024-03-17 15:04:05.678", "YYY Y,YYY Y IYY IY I IDDD ID", "024 2,024 4 024 24 4 077 7"),
    ("2024-12-30 00:00:00", "YYY Y,YYY Y IYY IY I IDDD ID", "024 2,024 4 025 25 5 001 1"),
    ("2024-03-17 15:04:05.678", "W CC J RM|FMRM SSSS US", "3 21 2460387 III |III 54245 678000"),
    ("2024-12-30 00:00:00", "W CC J RM|FMRM SSSS US", "5 21 2460675 XII |XII 0 000000"),
    ("2024-03-17 15:04:05.678", "DDTH Ddth", "17TH 11st"),
    ("2024-12-30 00:00:00", "DDTH Ddth", "30TH 22nd"),
    ("2024-03-17 15:04:05.678", "FMHH24:FMMI", "15:4"),
    ("2024-12-30 00:00:00", "FMHH24:FMMI", "0:0"),
    ("2024-03-17 15:04:05.678", "yyyy-mm-dd hh24:mi:ss", "2024-03-17 15:04:05"),
    ("2024-12-30 00:00:00", "yyyy-mm-dd hh24:mi:ss", "2024-12-30 00:00:00"),
    ("2024-03-17 15:04:05.678", "\\\"YYYY\\\"", "\"2024\""),
    ("2024-12-30 00:00:00", "\\\"YYYY\\\"", "\"2024\""),
    ("2024-03-17 15:04:05.678", "Dy dy DAY", "Sun sun SUNDAY   "),
    ("2024-12-30 00:00:00", "Dy dy DAY", "Mon mon MONDAY   "),
    ("2024-03-17 15:04:05.678", "a.m. P.M. B.C. ad", "p.m. P.M. A.D. ad"),
    ("2024-12-30 00:00:00", "a.m. P.M. B.C. ad", "a.m. A.M. A.D. ad"),
    ("2024-03-17 15:04:05.678", "YYYY-MM-DDTHH24", "2024-03-17THH24"),
    ("2024-12-30 00:00:00", "YYYY-MM-DDTHH24", "2024-12-30THH24"),
    ("2024-03-17 15:04:05.678", "Quarter", "1uarter"),
    ("2024-12-30 00:00:00", "Quarter", "4uarter"),
];

#[test]
fn every_pattern_is_postgresqls() {
    for (moment, format, expected) in POSTGRES {
        assert_eq!(text(moment, format), *expected, "{moment} {format}");
    }
}

#[test]
fn moments_that_no_calendar_has_are_null() {
    assert!(Moment::of(i128::MAX).is_none() && Moment::of(i128::from(i64::MIN) * DAY).is_none());
    for days in [i32::MIN, i32::MAX] {
        let all = parts("YYYY MM DD IYYY IW DDD CC Month J Q");
        assert!(!written(&all, Moment::of(i128::from(days) * DAY).unwrap()).is_empty());
    }
}
