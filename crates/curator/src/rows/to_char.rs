//! `to_char(date or time, format)` with PostgreSQL's patterns.
//!
//! It fails on no row: a moment that no calendar has, or a format of NULL, gives NULL.

use datafusion::arrow::array::{Array, ArrayRef, AsArray, StringArray};
use datafusion::arrow::compute::cast;
use datafusion::arrow::datatypes::{DataType, Int64Type, TimeUnit};
use datafusion::common::{Result, exec_err, plan_err};
use datafusion::logical_expr::{
    ColumnarValue, ScalarFunctionArgs, ScalarUDF, ScalarUDFImpl, Signature, Volatility,
};
use std::sync::Arc;

/// `to_char(moment, format)`.
pub(crate) fn to_char() -> ScalarUDF {
    ScalarUDF::from(ToChar { signature: Signature::user_defined(Volatility::Immutable) })
}

const MONTHS: [&str; 12] = [
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
];
const DAYS: [&str; 7] =
    ["Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"];
const ROMAN: [&str; 12] =
    ["I", "II", "III", "IV", "V", "VI", "VII", "VIII", "IX", "X", "XI", "XII"];

const DAY: i128 = 86_400_000_000;

/// A date and a time of day.
#[derive(Clone, Copy)]
struct Moment {
    /// 0 is 1 BC.
    year: i64,
    month: i64,
    day: i64,
    /// Days since 1970-01-01.
    days: i64,
    /// Microseconds since midnight.
    time: i64,
}

impl Moment {
    /// `None` if it is further away than any calendar goes.
    fn of(microseconds: i128) -> Option<Self> {
        let days = i64::try_from(microseconds.div_euclid(DAY)).ok()?;
        if days.unsigned_abs() > 1 << 32 {
            return None;
        }
        let time = i64::try_from(microseconds.rem_euclid(DAY)).ok()?;
        // Years begin in March here, so that the leap day is a year's last; 400 years have 146,097 days.
        let shifted = days + 719_468;
        let (era, of_era) = (shifted.div_euclid(146_097), shifted.rem_euclid(146_097));
        let year = (of_era - of_era / 1_460 + of_era / 36_524 - of_era / 146_096) / 365;
        let of_year = of_era - (365 * year + year / 4 - year / 100);
        let from_march = (5 * of_year + 2) / 153;
        let day = of_year - (153 * from_march + 2) / 5 + 1;
        let month = if from_march < 10 { from_march + 3 } else { from_march - 9 };
        let year = year + 400 * era + i64::from(month <= 2);
        Some(Self { year, month, day, days, time })
    }

    fn leap(year: i64) -> bool {
        year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
    }

    /// The day of the year, from 1.
    fn of_year(self) -> i64 {
        const BEFORE: [i64; 12] = [0, 31, 59, 90, 120, 151, 181, 212, 243, 273, 304, 334];
        let before = BEFORE.get((self.month - 1) as usize).copied().unwrap_or(0);
        before + self.day + i64::from(self.month > 2 && Self::leap(self.year))
    }

    /// 0 is Sunday.
    fn weekday(self) -> i64 {
        (self.days + 4).rem_euclid(7)
    }

    /// 1 is Monday, 7 is Sunday.
    fn iso_weekday(self) -> i64 {
        match self.weekday() {
            0 => 7,
            day => day,
        }
    }

    /// The year, the week and the day of that year by ISO 8601: a week belongs to the year of its Thursday.
    fn iso(self) -> (i64, i64, i64) {
        let thursday = self.days + 4 - self.iso_weekday();
        let found = Self::of(i128::from(thursday) * DAY).unwrap_or(self);
        let week = (found.of_year() - 1) / 7 + 1;
        (found.year, week, 7 * (week - 1) + self.iso_weekday())
    }

    /// The year as it is counted: there is no year 0.
    fn counted(year: i64) -> i64 {
        if year > 0 { year } else { 1 - year }
    }

    fn hour(self) -> i64 {
        self.time / 3_600_000_000
    }
}

/// A pattern of a format.
#[derive(Clone, Debug, PartialEq)]
enum Part {
    /// A text that stands for itself.
    Text(String),
    /// A pattern, without padding (`FM`), and an ordinal ending (`TH`, `th`).
    Field { name: &'static str, bare: bool, ending: Option<bool> },
}

/// The patterns; of two that fit, the longer one is meant.
const FIELDS: [&str; 73] = [
    "Y,YYY", "y,yyy", "YYYY", "yyyy", "YYY", "yyy", "YY", "yy", "Y", "y", "IYYY", "iyyy", "IYY",
    "iyy", "IY", "iy", "IDDD", "iddd", "ID", "id", "IW", "iw", "I", "i", "MONTH", "Month", "month",
    "MON", "Mon", "mon", "MM", "mm", "MI", "mi", "MS", "ms", "DAY", "Day", "day", "DDD", "ddd",
    "DD", "dd", "DY", "Dy", "dy", "D", "d", "HH24", "hh24", "HH12", "hh12", "HH", "hh", "SSSS",
    "ssss", "SS", "ss", "US", "us", "WW", "ww", "W", "w", "CC", "cc", "Q", "q", "J", "j", "RM",
    "rm", "A.M.",
];
const HALVES: [&str; 15] = [
    "P.M.", "a.m.", "p.m.", "AM", "PM", "am", "pm", "B.C.", "A.D.", "b.c.", "a.d.", "BC", "AD",
    "bc", "ad",
];

/// The patterns that a format has, without its texts.
pub(crate) fn fields(format: &str) -> Vec<&'static str> {
    let name = |part| match part {
        Part::Field { name, .. } => Some(name),
        Part::Text(_) => None,
    };
    parts(format).into_iter().filter_map(name).collect()
}

/// Reads a format.
fn parts(format: &str) -> Vec<Part> {
    let mut parts: Vec<Part> = Vec::new();
    let mut rest = format;
    let plain = |parts: &mut Vec<Part>, c: char| match parts.last_mut() {
        Some(Part::Text(text)) => text.push(c),
        _ => parts.push(Part::Text(c.to_string())),
    };
    while let Some(first) = rest.chars().next() {
        if let Some(quoted) = rest.strip_prefix('"') {
            let mut characters = quoted.chars();
            while let Some(c) = characters.next() {
                match c {
                    '"' => break,
                    '\\' => characters.next().into_iter().for_each(|c| plain(&mut parts, c)),
                    c => plain(&mut parts, c),
                }
            }
            rest = characters.as_str();
            continue;
        }
        let (mut bare, mut at) = (false, rest);
        while let Some(after) = ["FM", "fm", "TM", "tm"].iter().find_map(|p| at.strip_prefix(p)) {
            (bare, at) = (true, after);
        }
        let found = FIELDS.iter().chain(&HALVES).filter(|name| at.starts_with(**name));
        if let Some(name) = found.max_by_key(|name| name.len()).copied() {
            let after = &at[name.len()..];
            let ending = match after {
                after if after.starts_with("TH") => Some(true),
                after if after.starts_with("th") => Some(false),
                _ => None,
            };
            parts.push(Part::Field { name, bare, ending });
            rest = if ending.is_some() { &after[2..] } else { after };
        } else if bare {
            rest = at; // a prefix of nothing
        } else {
            let mut characters = rest.chars();
            characters.next();
            // A quotation mark after a backslash is one.
            if first == '\\' && rest[1..].starts_with('"') {
                plain(&mut parts, '"');
                characters.next();
            } else {
                plain(&mut parts, first);
            }
            rest = characters.as_str();
        }
    }
    parts
}

/// A number of at least `width` digits.
fn number(n: i64, width: usize, bare: bool) -> String {
    if bare { n.to_string() } else { format!("{n:0width$}") }
}

/// A name in the case of its pattern, padded to nine characters.
fn name(of: &str, pattern: &str, width: usize, bare: bool) -> String {
    let mut letters = pattern.chars();
    let upper = letters.next().is_some_and(char::is_uppercase);
    let second = letters.next().is_some_and(char::is_uppercase);
    let text = match (upper, second) {
        (true, true) => of.to_uppercase(),
        (false, _) => of.to_lowercase(),
        _ => of.to_owned(),
    };
    if bare { text } else { format!("{text:width$}") }
}

fn of_list<'a>(list: &[&'a str], i: i64) -> &'a str {
    usize::try_from(i).ok().and_then(|i| list.get(i)).copied().unwrap_or("")
}

fn field(pattern: &str, bare: bool, moment: Moment) -> String {
    let (year, half) = (Moment::counted(moment.year), moment.hour() >= 12);
    let (iso_year, week, iso_day) = moment.iso();
    let iso_year = Moment::counted(iso_year);
    let (month, weekday) = (of_list(&MONTHS, moment.month - 1), of_list(&DAYS, moment.weekday()));
    let lower = pattern.starts_with(char::is_lowercase);
    let cased = |text: &str| if lower { text.to_lowercase() } else { text.to_owned() };
    let thousands = |n: i64| match bare {
        true => format!("{},{:03}", n / 1_000, n % 1_000),
        false => format!("{},{:03}", n / 1_000, n % 1_000),
    };
    match pattern.to_uppercase().as_str() {
        "Y,YYY" => thousands(year),
        "YYYY" => number(year, 4, bare),
        "YYY" => number(year % 1_000, 3, bare),
        "YY" => number(year % 100, 2, bare),
        "Y" => number(year % 10, 1, bare),
        "IYYY" => number(iso_year, 4, bare),
        "IYY" => number(iso_year % 1_000, 3, bare),
        "IY" => number(iso_year % 100, 2, bare),
        "I" => number(iso_year % 10, 1, bare),
        "IDDD" => number(iso_day, 3, bare),
        "ID" => number(moment.iso_weekday(), 1, bare),
        "IW" => number(week, 2, bare),
        "MONTH" => name(month, pattern, 9, bare),
        "MON" => name(month.get(..3).unwrap_or(month), pattern, 3, bare),
        "MM" => number(moment.month, 2, bare),
        "DAY" => name(weekday, pattern, 9, bare),
        "DY" => name(weekday.get(..3).unwrap_or(weekday), pattern, 3, bare),
        "DDD" => number(moment.of_year(), 3, bare),
        "DD" => number(moment.day, 2, bare),
        "D" => number(moment.weekday() + 1, 1, bare),
        "HH24" => number(moment.hour(), 2, bare),
        "HH12" | "HH" => number((moment.hour() + 11) % 12 + 1, 2, bare),
        "MI" => number(moment.time / 60_000_000 % 60, 2, bare),
        "SSSS" => number(moment.time / 1_000_000, 1, bare),
        "SS" => number(moment.time / 1_000_000 % 60, 2, bare),
        "MS" => number(moment.time / 1_000 % 1_000, 3, bare),
        "US" => number(moment.time % 1_000_000, 6, bare),
        "WW" => number((moment.of_year() - 1) / 7 + 1, 2, bare),
        "W" => number((moment.day - 1) / 7 + 1, 1, bare),
        "CC" => number((year + 99) / 100, 2, bare),
        "Q" => number((moment.month - 1) / 3 + 1, 1, bare),
        "J" => number(moment.days + 2_440_588, 1, bare),
        "RM" => {
            let text = cased(of_list(&ROMAN, moment.month - 1));
            if bare { text } else { format!("{text:4}") }
        }
        "AM" | "PM" => cased(if half { "PM" } else { "AM" }),
        "A.M." | "P.M." => cased(if half { "P.M." } else { "A.M." }),
        "BC" | "AD" => cased(if moment.year > 0 { "AD" } else { "BC" }),
        _ => cased(if moment.year > 0 { "A.D." } else { "B.C." }),
    }
}

/// The ordinal ending of a number.
fn ending(number: &str, upper: bool) -> String {
    let tens = number.as_bytes().iter().rev().nth(1) == Some(&b'1');
    let ending = match number.chars().last() {
        Some('1') if !tens => "st",
        Some('2') if !tens => "nd",
        Some('3') if !tens => "rd",
        _ => "th",
    };
    if upper { ending.to_uppercase() } else { ending.to_owned() }
}

fn written(parts: &[Part], moment: Moment) -> String {
    let mut text = String::new();
    for part in parts {
        match part {
            Part::Text(plain) => text.push_str(plain),
            Part::Field { name, bare, ending: None } => text.push_str(&field(name, *bare, moment)),
            Part::Field { name, bare, ending: Some(upper) } => {
                let number = field(name, *bare, moment);
                let ending = ending(&number, *upper);
                text.push_str(&number);
                text.push_str(&ending);
            }
        }
    }
    text
}

/// Microseconds since 1970, as far as there are any.
fn microseconds(array: &ArrayRef) -> Result<Vec<Option<i128>>> {
    let (up, down) = match array.data_type() {
        DataType::Date32 => (DAY, 1),
        DataType::Date64 | DataType::Timestamp(TimeUnit::Millisecond, _) => (1_000, 1),
        DataType::Timestamp(TimeUnit::Second, _) => (1_000_000, 1),
        DataType::Timestamp(TimeUnit::Microsecond, _) => (1, 1),
        DataType::Timestamp(TimeUnit::Nanosecond, _) => (1, 1_000),
        DataType::Null => return Ok(vec![None; array.len()]),
        other => return exec_err!("{other} is no date or time"),
    };
    let counts = cast(array, &DataType::Int64)?;
    let counts = counts.as_primitive::<Int64Type>().iter();
    Ok(counts.map(|n| Some((i128::from(n?) * up).div_euclid(down))).collect())
}

#[derive(Debug, PartialEq, Eq, Hash)]
struct ToChar {
    signature: Signature,
}

impl ScalarUDFImpl for ToChar {
    fn name(&self) -> &'static str {
        "to_char"
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn coerce_types(&self, arguments: &[DataType]) -> Result<Vec<DataType>> {
        match arguments {
            [moment, _]
                if matches!(
                    moment,
                    DataType::Date32 | DataType::Date64 | DataType::Timestamp(..) | DataType::Null
                ) =>
            {
                Ok(vec![moment.clone(), DataType::Utf8])
            }
            _ => plan_err!("to_char takes a date or a time, and a format: to_char(day, 'YYYY-MM')"),
        }
    }

    fn return_type(&self, _: &[DataType]) -> Result<DataType> {
        Ok(DataType::Utf8)
    }

    fn invoke_with_args(&self, arguments: ScalarFunctionArgs) -> Result<ColumnarValue> {
        let rows = arguments.number_rows;
        let Ok([moments, format]) = <[_; 2]>::try_from(arguments.args) else {
            return exec_err!("to_char takes two arguments");
        };
        let moments = microseconds(&moments.into_array(rows)?)?;
        let texts: StringArray = match format {
            ColumnarValue::Scalar(format) => {
                let parts = format.try_as_str().flatten().map(parts);
                let text = |at: Option<i128>| Some(written(parts.as_ref()?, Moment::of(at?)?));
                moments.into_iter().map(text).collect()
            }
            ColumnarValue::Array(formats) => {
                let formats = cast(&formats, &DataType::Utf8)?;
                let pairs = moments.into_iter().zip(formats.as_string::<i32>());
                pairs.map(|(at, of)| Some(written(&parts(of?), Moment::of(at?)?))).collect()
            }
        };
        Ok(ColumnarValue::Array(Arc::new(texts)))
    }
}

#[cfg(test)]
mod tests;
