//! Dates and times in a policy.

use crate::calendar::{civil, days};
use std::fmt;
use toml::value::Datetime;

const SECOND: i64 = 1_000_000;
const DAY: i64 = 86_400 * SECOND;

/// A day, or a time without a zone (in UTC), of the years 0 to 9999.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct PointInTime {
    microseconds: i64,
    day: bool,
}

impl PointInTime {
    /// A TOML local date or local date-time; otherwise what it is instead.
    pub(super) fn read(written: &Datetime) -> Result<Self, &'static str> {
        let date = written.date.ok_or("a time of day")?;
        if written.offset.is_some() {
            return Err("a time with a zone");
        }
        let (year, month, day) = (date.year.into(), date.month.into(), date.day.into());
        let midnight = days(year, month, day).ok_or("a date that does not exist")? * DAY;
        let Some(time) = written.time else {
            return Ok(Self { microseconds: midnight, day: true });
        };
        let minutes = 60 * i64::from(time.hour) + i64::from(time.minute);
        let seconds = 60 * minutes + i64::from(time.second.unwrap_or(0));
        let within = seconds * SECOND + i64::from(time.nanosecond.unwrap_or(0) / 1_000);
        Ok(Self { microseconds: midnight + within, day: false })
    }

    /// Microseconds since 1970; of a day, those of its beginning.
    #[must_use]
    pub fn microseconds(self) -> i64 {
        self.microseconds
    }

    /// Whether it is a day and not a time.
    #[must_use]
    pub fn is_day(self) -> bool {
        self.day
    }

    /// The point that is a share, from 0 to 1, of the way to another of the same kind.
    #[must_use]
    pub fn towards(self, other: Self, share: f64) -> Self {
        let way = (other.microseconds - self.microseconds) as f64 * share.clamp(0.0, 1.0);
        let microseconds = self.microseconds + way as i64;
        let midnight = microseconds.div_euclid(DAY) * DAY;
        Self { microseconds: if self.day { midnight } else { microseconds }, day: self.day }
    }

    /// The last microsecond of a day; a time as it is.
    #[must_use]
    pub fn end(self) -> i64 {
        self.microseconds + if self.day { DAY - 1 } else { 0 }
    }
}

/// `2024-03-17`, or `2024-03-17 13:45:00`.
impl fmt::Display for PointInTime {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (year, month, day) = civil(self.microseconds.div_euclid(DAY));
        write!(f, "{year:04}-{month:02}-{day:02}")?;
        if self.day {
            return Ok(());
        }
        let time = self.microseconds.rem_euclid(DAY);
        let seconds = time / SECOND;
        write!(f, " {:02}:{:02}:{:02}", seconds / 3_600, seconds / 60 % 60, seconds % 60)?;
        match time % SECOND {
            0 => Ok(()),
            rest => f.write_str(format!(".{rest:06}").trim_end_matches('0')),
        }
    }
}
