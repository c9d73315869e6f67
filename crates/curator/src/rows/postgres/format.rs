//! `to_date` and `to_timestamp` of a text in PostgreSQL's format.
//!
//! Understood are `YYYY YYY YY Y MM MON MONTH DD DDD DY DAY HH24 HH12 HH MI SS MS US AM PM`, the prefix `FM` and texts
//! in double quotes. A sign or space of the format matches one of any kind, or none.

use super::time::date;
use super::{Faults, Value, present};
use crate::calendar::leap;
use datafusion::arrow::array::{Array, ArrayRef, AsArray, Date32Array, TimestampMicrosecondArray};
use datafusion::common::Result;
use std::sync::Arc;

/// A part of a format.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Part {
    /// A number of at most so many digits.
    Number(Field, usize),
    /// The name of a month, in full or in three letters.
    Month { full: bool },
    /// The name of a weekday, which is read and has no meaning.
    Weekday,
    /// `AM` or `PM`.
    Half,
    /// A sign or space.
    Separator,
    /// So many characters that are skipped.
    Skipped(usize),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Field {
    Year,
    ShortYear,
    Month,
    Day,
    DayOfYear,
    Hour,
    HalfHour,
    Minute,
    Second,
    Millisecond,
    Microsecond,
}

/// The words of a format, longest first, so that none is taken for the beginning of another.
const WORDS: &[(&str, Part)] = &[
    ("YYYY", Part::Number(Field::Year, 4)),
    ("YYY", Part::Number(Field::ShortYear, 3)),
    ("YY", Part::Number(Field::ShortYear, 2)),
    ("Y", Part::Number(Field::ShortYear, 1)),
    ("MONTH", Part::Month { full: true }),
    ("MON", Part::Month { full: false }),
    ("MM", Part::Number(Field::Month, 2)),
    ("MI", Part::Number(Field::Minute, 2)),
    ("MS", Part::Number(Field::Millisecond, 3)),
    ("DDD", Part::Number(Field::DayOfYear, 3)),
    ("DD", Part::Number(Field::Day, 2)),
    ("DAY", Part::Weekday),
    ("DY", Part::Weekday),
    ("HH24", Part::Number(Field::Hour, 2)),
    ("HH12", Part::Number(Field::HalfHour, 2)),
    ("HH", Part::Number(Field::HalfHour, 2)),
    ("SS", Part::Number(Field::Second, 2)),
    ("US", Part::Number(Field::Microsecond, 6)),
    ("A.M.", Part::Half),
    ("P.M.", Part::Half),
    ("AM", Part::Half),
    ("PM", Part::Half),
];

const MONTHS: [&str; 12] = [
    "january",
    "february",
    "march",
    "april",
    "may",
    "june",
    "july",
    "august",
    "september",
    "october",
    "november",
    "december",
];
const WEEKDAYS: [&str; 7] =
    ["sunday", "monday", "tuesday", "wednesday", "thursday", "friday", "saturday"];

/// The longest format.
const LONGEST: usize = 200;

/// Whether a format is understood.
pub(crate) fn is_understood(format: &str) -> bool {
    parts(format).is_ok()
}

/// The parts of a format.
fn parts(format: &str) -> std::result::Result<Vec<Part>, &'static str> {
    if format.len() > LONGEST {
        return Err("the format is too long");
    }
    let (mut parts, mut rest) = (Vec::new(), format);
    while let Some(first) = rest.chars().next() {
        let word = WORDS.iter().find(|(word, _)| {
            rest.get(..word.len()).is_some_and(|head| head.eq_ignore_ascii_case(word))
        });
        if let Some((word, part)) = word {
            parts.push(part.clone());
            rest = &rest[word.len()..];
        } else if rest.get(..2).is_some_and(|head| head.eq_ignore_ascii_case("FM")) {
            rest = &rest[2..];
        } else if let Some(quoted) = rest.strip_prefix('"') {
            let end = quoted.find('"').ok_or("a quote of the format is not closed")?;
            parts.push(Part::Skipped(quoted[..end].chars().count()));
            rest = &quoted[end + 1..];
        } else if first == 'T' {
            // As in `YYYY-MM-DDTHH24:MI`.
            parts.push(Part::Skipped(1));
            rest = &rest[1..];
        } else if first.is_alphanumeric() {
            return Err("the format has a part that is not understood");
        } else {
            parts.push(Part::Separator);
            rest = &rest[first.len_utf8()..];
        }
    }
    Ok(parts)
}

/// What was read of a text.
#[derive(Clone, Copy, Debug, Default)]
struct Read {
    year: Option<i64>,
    month: Option<i64>,
    day: Option<i64>,
    day_of_year: Option<i64>,
    hour: i64,
    /// Whether the hour is one of twelve.
    half: bool,
    afternoon: Option<bool>,
    minute: i64,
    second: i64,
    micros: i64,
}

const RANGE: &str = "a part of the text is out of range";
const MISMATCH: &str = "the text does not match the format";

/// Reads a text in a format.
fn read(text: &str, format: &[Part]) -> std::result::Result<Read, &'static str> {
    let (mut found, mut rest) = (Read::default(), text.trim_start());
    for (place, part) in format.iter().enumerate() {
        if rest.is_empty() {
            break; // as in PostgreSQL, the rest of the format is not needed
        }
        match part {
            Part::Separator => {
                if let Some(sign) = rest.chars().next().filter(|c| !c.is_alphanumeric()) {
                    rest = &rest[sign.len_utf8()..];
                }
            }
            Part::Skipped(count) => {
                let end = rest.char_indices().nth(*count).map_or(rest.len(), |(end, _)| end);
                rest = &rest[end..];
            }
            Part::Month { full } => {
                rest = rest.trim_start();
                let (at, length) = named(rest, &MONTHS, *full).ok_or(MISMATCH)?;
                found.month = Some(at as i64 + 1);
                rest = &rest[length..];
            }
            Part::Weekday => {
                rest = rest.trim_start();
                let full = named(rest, &WEEKDAYS, true);
                let (_, length) = full.or_else(|| named(rest, &WEEKDAYS, false)).ok_or(MISMATCH)?;
                rest = &rest[length..];
            }
            Part::Half => {
                rest = rest.trim_start();
                let lower: String = rest.chars().take(4).collect::<String>().to_ascii_lowercase();
                let (afternoon, length) = match lower.as_str() {
                    "a.m." => (false, 4),
                    "p.m." => (true, 4),
                    other if other.starts_with("am") => (false, 2),
                    other if other.starts_with("pm") => (true, 2),
                    _ => return Err(MISMATCH),
                };
                found.afternoon = Some(afternoon);
                rest = &rest[length..];
            }
            Part::Number(field, most) => {
                rest = rest.trim_start();
                // A year may be longer if no number follows at once.
                let alone = !matches!(format.get(place + 1), Some(Part::Number(..)));
                let most = if *field == Field::Year && alone { 7 } else { *most };
                let digits = rest.bytes().take(most).take_while(u8::is_ascii_digit).count();
                let value: i64 = rest[..digits].parse().map_err(|_| MISMATCH)?;
                found.set(*field, value, digits)?;
                rest = &rest[digits..];
            }
        }
    }
    Ok(found)
}

/// Which of the names a text begins with, and its length there. Names are ASCII.
fn named(text: &str, names: &[&str], full: bool) -> Option<(usize, usize)> {
    names.iter().enumerate().find_map(|(at, name)| {
        let name = if full { name } else { &name[..3] };
        let head = text.get(..name.len())?;
        head.eq_ignore_ascii_case(name).then_some((at, name.len()))
    })
}

impl Read {
    fn set(
        &mut self,
        field: Field,
        value: i64,
        digits: usize,
    ) -> std::result::Result<(), &'static str> {
        let within = |range: std::ops::RangeInclusive<i64>| match range.contains(&value) {
            true => Ok(value),
            false => Err(RANGE),
        };
        match field {
            Field::Year => self.year = Some(value),
            // The year nearest to 2020, as in PostgreSQL.
            Field::ShortYear => {
                self.year = Some(match (digits, value) {
                    (1 | 2, 0..=69) => value + 2000,
                    (1 | 2, _) => value + 1900,
                    (_, 100..=519) => value + 2000,
                    (_, 520..=999) => value + 1000,
                    _ => value + 2000,
                });
            }
            Field::Month => self.month = Some(within(1..=12)?),
            Field::Day => self.day = Some(within(1..=31)?),
            Field::DayOfYear => self.day_of_year = Some(within(1..=366)?),
            Field::Hour => self.hour = within(0..=24)?,
            Field::HalfHour => {
                self.half = true;
                self.hour = within(1..=12)?;
            }
            Field::Minute => self.minute = within(0..=59)?,
            Field::Second => self.second = within(0..=60)?,
            // `.5` is half a second: digits count from the left.
            Field::Millisecond => self.micros = value * 10i64.pow(3 - digits.min(3) as u32) * 1_000,
            Field::Microsecond => self.micros = value * 10i64.pow(6 - digits.min(6) as u32),
        }
        Ok(())
    }

    fn date(&self) -> std::result::Result<i32, &'static str> {
        let year = self.year.unwrap_or(1).max(1);
        match self.day_of_year {
            Some(366) if !leap(year) => Err(RANGE),
            Some(day) if self.month.is_none() => {
                let first = date(year, 1, 1)?;
                i32::try_from(i64::from(first) + day - 1).map_err(|_| RANGE)
            }
            _ => date(year, self.month.unwrap_or(1), self.day.unwrap_or(1)),
        }
    }

    fn time(&self) -> std::result::Result<i64, &'static str> {
        let hour = match (self.half, self.afternoon, self.hour) {
            (_, Some(false), 12) => 0,
            (_, Some(true), hour @ 0..12) => hour + 12,
            (_, _, hour) => hour,
        };
        let micros = ((hour * 60 + self.minute) * 60 + self.second) * 1_000_000 + self.micros;
        if micros > 86_400_000_000 {
            return Err(RANGE);
        }
        let days = i64::from(self.date()?);
        days.checked_mul(86_400_000_000).and_then(|days| days.checked_add(micros)).ok_or(RANGE)
    }
}

/// The dates that texts stand for.
pub(super) fn dates(texts: &ArrayRef, formats: &ArrayRef, faults: &mut Faults) -> Result<ArrayRef> {
    let dates = each(texts, formats, faults, Read::date);
    Ok(Arc::new(dates.into_iter().collect::<Date32Array>()))
}

/// The times that texts stand for.
pub(super) fn times(texts: &ArrayRef, formats: &ArrayRef, faults: &mut Faults) -> Result<ArrayRef> {
    let times = each(texts, formats, faults, Read::time);
    Ok(Arc::new(times.into_iter().collect::<TimestampMicrosecondArray>()))
}

fn each<T>(
    texts: &ArrayRef,
    formats: &ArrayRef,
    faults: &mut Faults,
    value: impl Fn(&Read) -> std::result::Result<T, &'static str>,
) -> Vec<Option<T>> {
    let (all, forms) = (texts.as_string::<i32>(), formats.as_string::<i32>());
    // Over people's rows the format is a constant, so it is read once.
    let mut last: Option<(&str, std::result::Result<Vec<Part>, &'static str>)> = None;
    let mut values = Vec::with_capacity(texts.len());
    for row in 0..texts.len() {
        if !present(&[texts, formats], row) {
            values.push(None);
            continue;
        }
        let form = forms.value(row);
        let known = match &last {
            Some((same, known)) if *same == form => known.clone(),
            _ => {
                let known = parts(form);
                last = Some((form, known.clone()));
                known
            }
        };
        let found: Value<T> = known
            .and_then(|parts| read(all.value(row), &parts))
            .and_then(|read| value(&read))
            .map(Some);
        values.push(faults.keep(found));
    }
    values
}
