//! The calendar, without limits that a date of any file could cross.

/// The year, month and day of a number of days since 1970, in the proleptic Gregorian calendar. Year 0 is 1 BC.
pub(crate) fn civil(days: i64) -> (i64, i64, i64) {
    // Counted from 1 March of year 0, so that a leap day is the last of its year. 146,097 days are 400 years.
    let days = days + 719_468;
    let (cycle, day) = (days.div_euclid(146_097), days.rem_euclid(146_097));
    // Leap days up to here: one in 1,461 days, none in 36,524, one in 146,096.
    let year = (day - day / 1_460 + day / 36_524 - day / 146_096) / 365;
    let day = day - (365 * year + year / 4 - year / 100);
    // Months from March have 31, 30, 31, 30, 31 days, again and again: 153 in five of them.
    let month = (5 * day + 2) / 153;
    let day = day - (153 * month + 2) / 5 + 1;
    let (month, later) = if month < 10 { (month + 3, 0) } else { (month - 9, 1) };
    (400 * cycle + year + later, month, day)
}

/// The number of days since 1970 of a date, if it exists.
pub(crate) fn days(year: i64, month: i64, day: i64) -> Option<i64> {
    if !(1..=12).contains(&month) || !(1..=month_length(year, month)).contains(&day) {
        return None;
    }
    let (year, month) =
        if month > 2 { (year, month - 3) } else { (year.checked_sub(1)?, month + 9) };
    let (cycle, year) = (year.div_euclid(400), year.rem_euclid(400));
    let within = 365 * year + year / 4 - year / 100 + (153 * month + 2) / 5 + day - 1;
    cycle.checked_mul(146_097)?.checked_add(within)?.checked_sub(719_468)
}

/// The number of days of a month.
pub(crate) fn month_length(year: i64, month: i64) -> i64 {
    match month {
        2 if leap(year) => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

pub(crate) fn leap(year: i64) -> bool {
    year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
}

#[cfg(test)]
mod tests;
