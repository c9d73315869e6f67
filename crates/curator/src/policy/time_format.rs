//! How dates and times are written in a file: `%d.%m.%Y`, as `strftime` has it.
//!
//! Understood are `%Y %y %m %d %e %b %B %H %I %p %M %S %f %F %T %D %%`. Everything else stands for itself. A text is read
//! as a whole: what is left over, or missing, or out of range means that it is not a date.

use crate::calendar::days;

const SECOND: i64 = 1_000_000;
const DAY: i64 = 86_400 * SECOND;

/// The longest format, and the longest text that is read.
const LONGEST: usize = 100;

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

/// A format of dates or times.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct TimeFormat {
    text: String,
    parts: Vec<Part>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Part {
    /// A number.
    Number(Field),
    /// The English name of a month, in full or in three letters.
    MonthName,
    /// `AM` or `PM`.
    Half,
    /// A character that stands for itself.
    Same(char),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Field {
    Year,
    ShortYear,
    Month,
    Day,
    Hour,
    HalfHour,
    Minute,
    Second,
    /// Digits after the decimal point of a second.
    Fraction,
}

/// The parts of a text.
#[derive(Clone, Copy, Default)]
struct Read {
    year: Option<i64>,
    month: Option<i64>,
    day: Option<i64>,
    hour: i64,
    half: Option<bool>,
    minute: i64,
    second: i64,
    micros: i64,
}

impl TimeFormat {
    /// Reads a format; otherwise says what is wrong with it.
    pub fn parse(text: &str) -> Result<Self, &'static str> {
        if text.len() > LONGEST {
            return Err("is too long");
        }
        let mut parts = Vec::new();
        let mut rest = text.chars();
        while let Some(c) = rest.next() {
            if c != '%' {
                parts.push(Part::Same(c));
                continue;
            }
            let mut letter = rest.next();
            // `%-d` is a day without a leading 0, and `%d` reads both.
            if letter == Some('-') {
                letter = rest.next();
            }
            let date = |order: [Field; 3], sign: char| {
                order.map(Part::Number).into_iter().flat_map(move |part| [part, Part::Same(sign)])
            };
            match letter {
                Some('Y') => parts.push(Part::Number(Field::Year)),
                Some('y') => parts.push(Part::Number(Field::ShortYear)),
                Some('m') => parts.push(Part::Number(Field::Month)),
                Some('d' | 'e') => parts.push(Part::Number(Field::Day)),
                Some('b' | 'B' | 'h') => parts.push(Part::MonthName),
                Some('H') => parts.push(Part::Number(Field::Hour)),
                Some('I') => parts.push(Part::Number(Field::HalfHour)),
                Some('p' | 'P') => parts.push(Part::Half),
                Some('M') => parts.push(Part::Number(Field::Minute)),
                Some('S') => parts.push(Part::Number(Field::Second)),
                Some('f') => parts.push(Part::Number(Field::Fraction)),
                Some('F') => {
                    parts.extend(date([Field::Year, Field::Month, Field::Day], '-').take(5));
                }
                Some('D') => {
                    parts.extend(date([Field::Month, Field::Day, Field::ShortYear], '/').take(5));
                }
                Some('T') => {
                    parts.extend(date([Field::Hour, Field::Minute, Field::Second], ':').take(5));
                }
                Some('%') => parts.push(Part::Same('%')),
                _ => return Err("has a part that is not understood"),
            }
        }
        let format = Self { text: text.to_owned(), parts };
        format.checked()
    }

    fn checked(self) -> Result<Self, &'static str> {
        let count = |wanted: &[Part]| self.parts.iter().filter(|p| wanted.contains(p)).count();
        let number = Part::Number;
        let year = count(&[number(Field::Year), number(Field::ShortYear)]);
        let month = count(&[number(Field::Month), Part::MonthName]);
        let (day, half) = (count(&[number(Field::Day)]), count(&[Part::Half]));
        let half_hours = count(&[number(Field::HalfHour)]);
        let hours = count(&[number(Field::Hour)]) + half_hours;
        let minutes = count(&[number(Field::Minute)]);
        let seconds = count(&[number(Field::Second)]);
        let fractions = count(&[number(Field::Fraction)]);
        match () {
            () if (year, month, day) != (1, 1, 1) => {
                Err("needs a year, a month and a day, once each")
            }
            () if hours.max(minutes).max(seconds).max(fractions) > 1 => Err("has a part twice"),
            () if half != half_hours => Err("has %I without %p, or %p without %I"),
            () if minutes > hours || seconds > minutes || fractions > seconds => {
                Err("has minutes without hours, or seconds without minutes")
            }
            () => Ok(self),
        }
    }

    /// As it was written.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Whether it has a time of day.
    #[must_use]
    pub fn has_time(&self) -> bool {
        let hour = [Part::Number(Field::Hour), Part::Number(Field::HalfHour)];
        self.parts.iter().any(|part| hour.contains(part))
    }

    /// The microseconds since 1970 that a text stands for; `None` if it is not written like this, or does not exist.
    #[must_use]
    pub fn read(&self, text: &str) -> Option<i64> {
        let mut rest = text.trim();
        if rest.len() > LONGEST {
            return None;
        }
        let mut found = Read::default();
        for (place, part) in self.parts.iter().enumerate() {
            match part {
                Part::Same(c) => rest = rest.strip_prefix(*c)?,
                Part::MonthName => {
                    let letters = rest.bytes().take_while(u8::is_ascii_alphabetic).count();
                    let (name, after) = rest.split_at(letters);
                    let same = |month: &&str| {
                        name.eq_ignore_ascii_case(month) || name.eq_ignore_ascii_case(&month[..3])
                    };
                    found.month = Some(MONTHS.iter().position(same)? as i64 + 1);
                    rest = after;
                }
                Part::Half => {
                    let (head, after) = rest.split_at_checked(2)?;
                    found.half = match head.to_ascii_lowercase().as_str() {
                        "am" => Some(false),
                        "pm" => Some(true),
                        _ => return None,
                    };
                    rest = after;
                }
                Part::Number(field) => {
                    let (least, most) = match field {
                        Field::Year => (4, 4),
                        Field::ShortYear => (2, 2),
                        Field::Fraction => (1, 9),
                        // Where nothing separates it from the next number.
                        _ if matches!(self.parts.get(place + 1), Some(Part::Number(_))) => (2, 2),
                        _ => (1, 2),
                    };
                    let digits = rest.bytes().take(most).take_while(u8::is_ascii_digit).count();
                    if digits < least {
                        return None;
                    }
                    let (number, after) = rest.split_at(digits);
                    found.set(*field, number.parse().ok()?, digits as u32)?;
                    rest = after;
                }
            }
        }
        match rest.is_empty() {
            true => found.microseconds(),
            false => None,
        }
    }
}

impl Read {
    fn set(&mut self, field: Field, value: i64, digits: u32) -> Option<()> {
        let below = |limit: i64| (value < limit).then_some(value);
        match field {
            Field::Year => self.year = Some(value),
            // As POSIX has it: 69 is 1969, and 68 is 2068.
            Field::ShortYear => self.year = Some(value + if value < 69 { 2000 } else { 1900 }),
            Field::Month => self.month = Some(value),
            Field::Day => self.day = Some(value),
            Field::Hour => self.hour = below(24)?,
            Field::HalfHour => self.hour = (1..=12).contains(&value).then_some(value % 12)?,
            Field::Minute => self.minute = below(60)?,
            Field::Second => self.second = below(60)?,
            Field::Fraction => {
                self.micros = match digits {
                    0..=6 => value * 10i64.pow(6 - digits),
                    _ => value / 10i64.pow(digits - 6),
                };
            }
        }
        Some(())
    }

    fn microseconds(&self) -> Option<i64> {
        let date = days(self.year?, self.month?, self.day?)?;
        let hour = self.hour + if self.half == Some(true) { 12 } else { 0 };
        let seconds = (60 * hour + self.minute) * 60 + self.second;
        Some(date * DAY + seconds * SECOND + self.micros)
    }
}

#[cfg(test)]
mod tests;
