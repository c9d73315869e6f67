//! What users read: named fields, as aligned text or as JSON.

use crate::Failure;
use demure_core::mechanism::Guarantee;
use serde_json::{Map, Value};
use std::io::Write;

/// An ordered list of named fields.
#[derive(Default)]
pub(crate) struct Report {
    fields: Vec<Field>,
}

struct Field {
    name: &'static str,
    /// For text; `None` leaves the field to JSON alone.
    text: Option<String>,
    json: Value,
}

impl Report {
    /// A field shown in both forms, as it is.
    pub(crate) fn field(self, name: &'static str, value: impl Into<Value>) -> Self {
        let json = value.into();
        let text = plain(&json);
        self.with(name, Some(text), json)
    }

    /// A field whose text says more than its JSON value.
    pub(crate) fn described(
        self,
        name: &'static str,
        value: impl Into<Value>,
        text: impl Into<String>,
    ) -> Self {
        self.with(name, Some(text.into()), value.into())
    }

    /// A field for programs only.
    pub(crate) fn hidden(self, name: &'static str, value: impl Into<Value>) -> Self {
        self.with(name, None, value.into())
    }

    /// What is spent, in its own currency.
    pub(crate) fn budget(self, guarantee: Guarantee) -> Self {
        match guarantee {
            Guarantee::Pure(epsilon) => self.field("epsilon", epsilon.get()).hidden("delta", 0.0),
            Guarantee::Approximate(epsilon, delta) => {
                self.field("epsilon", epsilon.get()).field("delta", delta.get())
            }
            Guarantee::Concentrated(rho) => self.field("rho", rho.get()),
            _ => self,
        }
    }

    fn with(mut self, name: &'static str, text: Option<String>, json: Value) -> Self {
        self.fields.push(Field { name, text, json });
        self
    }

    /// This report's fields, then `other`'s.
    pub(crate) fn append(mut self, other: Self) -> Self {
        self.fields.extend(other.fields);
        self
    }

    /// Writes one JSON object, or one line a field.
    pub(crate) fn print(&self, json: bool, out: &mut impl Write) -> Result<(), Failure> {
        let text = if json { format!("{{{}}}\n", self.members()) } else { self.text() };
        out.write_all(text.as_bytes()).map_err(Failure::writing)
    }

    /// A field's text, or nothing.
    pub(crate) fn text_of(&self, name: &str) -> &str {
        let field = self.fields.iter().find(|f| f.name == name);
        field.and_then(|f| f.text.as_deref()).unwrap_or_default()
    }

    /// What a draw cost and how wrong it may be, for stderr.
    pub(crate) fn one_line(&self, draws: u32) -> String {
        let relation = self.text_of("neighbours").split(' ').next().unwrap_or_default();
        let times = if draws == 1 { String::new() } else { format!(", {draws} times over") };
        let error = match self.text_of("error_95") {
            "" => String::new(),
            error => format!("{error}; "),
        };
        format!("{error}cost {}{times} ({relation})", self.text_of("guarantee"))
    }

    /// The fields as JSON, without the braces around them.
    pub(crate) fn members(&self) -> String {
        let member = |f: &Field| format!("{}:{}", Value::from(f.name), f.json);
        self.fields.iter().map(member).collect::<Vec<_>>().join(",")
    }

    fn text(&self) -> String {
        let shown = || self.fields.iter().filter_map(|f| f.text.as_ref().map(|t| (f.name, t)));
        let width = shown().map(|(name, _)| name.chars().count()).max().unwrap_or(0) + 2;
        let indent = format!("\n{}", " ".repeat(width));
        shown()
            .map(|(name, text)| format!("{name:width$}{}\n", text.replace('\n', &indent)))
            .collect()
    }
}

/// A time as people and programs read it: `2026-11-15 16:45:00Z`.
pub(crate) fn time(at: std::time::SystemTime) -> String {
    let since = at.duration_since(std::time::SystemTime::UNIX_EPOCH).unwrap_or_default();
    let (days, rest) = (since.as_secs() / 86_400, since.as_secs() % 86_400);
    let (year, month, day) = civil(days);
    let (hour, minute, second) = (rest / 3600, rest / 60 % 60, rest % 60);
    format!("{year:04}-{month:02}-{day:02} {hour:02}:{minute:02}:{second:02}Z")
}

/// The date of a day since 1970, in the Gregorian calendar; years begin in March, so that leap
/// days come last.
fn civil(days: u64) -> (u64, u64, u64) {
    let days = days + 719_468;
    let (era, of_era) = (days / 146_097, days % 146_097);
    let year = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year + year / 4 - year / 100);
    let month = (5 * of_year + 2) / 153;
    let day = of_year - (153 * month + 2) / 5 + 1;
    let month = if month < 10 { month + 3 } else { month - 9 };
    (era * 400 + year + u64::from(month <= 2), month, day)
}

/// A JSON value as a person would write it: a table takes a line an entry.
pub(crate) fn plain(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Array(items) => items.iter().map(plain).collect::<Vec<_>>().join("\n"),
        Value::Object(entries) => {
            let width = entries.keys().map(|k| k.chars().count()).max().unwrap_or(0) + 2;
            let line = |(k, v): (&String, &Value)| format!("{k:width$}{}", plain(v));
            entries.iter().map(line).collect::<Vec<_>>().join("\n")
        }
        Value::Number(number) => match number.as_f64() {
            Some(x) if number.is_f64() => full(x),
            _ => number.to_string(),
        },
        other => other.to_string(),
    }
}

/// The same in one line: `a=1,b=2`, `a,b`.
pub(crate) fn line(value: &Value) -> String {
    match value {
        Value::Array(items) => items.iter().map(line).collect::<Vec<_>>().join(","),
        Value::Object(entries) => {
            let entry = |(k, v): (&String, &Value)| format!("{k}={}", line(v));
            entries.iter().map(entry).collect::<Vec<_>>().join(",")
        }
        other => plain(other),
    }
}

/// A JSON object of named values, in their order.
pub(crate) fn named<K: Into<String>, V: Into<Value>>(
    entries: impl IntoIterator<Item = (K, V)>,
) -> Value {
    Value::Object(entries.into_iter().map(|(k, v)| (k.into(), v.into())).collect::<Map<_, _>>())
}

/// An integer as JSON; beyond 64 bits, where JSON readers lose digits too, the nearest float.
pub(crate) fn integer(value: i128) -> Value {
    i64::try_from(value).map_or_else(|_| Value::from(value as f64), Value::from)
}

/// A number with all its digits.
fn full(x: f64) -> String {
    let plain = x == 0.0 || !x.is_finite() || (1e-4..1e16).contains(&x.abs());
    if plain { x.to_string() } else { format!("{x:e}") }
}

/// A number with as many digits as a person needs.
pub(crate) fn short(x: f64) -> String {
    if x == 0.0 || !x.is_finite() {
        return x.to_string();
    }
    let magnitude = x.abs().log10().floor();
    if !(-4.0..15.0).contains(&magnitude) {
        return format!("{x:.3e}");
    }
    let digits = (5.0 - magnitude).clamp(0.0, 9.0) as usize;
    let text = format!("{x:.digits$}");
    if text.contains('.') {
        text.trim_end_matches('0').trim_end_matches('.').to_owned()
    } else {
        text
    }
}

/// The same with its thousands apart: `73,778`.
pub(crate) fn grouped(x: f64) -> String {
    let text = short(x);
    let (sign, rest) = text.strip_prefix('-').map_or(("", text.as_str()), |rest| ("-", rest));
    let (whole, fraction) = rest.split_at(rest.find(['.', 'e']).unwrap_or(rest.len()));
    let digits: Vec<char> = whole.chars().collect();
    let groups: Vec<String> = digits.rchunks(3).rev().map(|group| group.iter().collect()).collect();
    format!("{sign}{}{fraction}", groups.join(","))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_dates() {
        let at =
            |s: u64| time(std::time::SystemTime::UNIX_EPOCH + std::time::Duration::from_secs(s));
        assert_eq!(at(0), "1970-01-01 00:00:00Z");
        assert_eq!(at(951_782_400), "2000-02-29 00:00:00Z");
        assert_eq!(at(1_735_689_599), "2024-12-31 23:59:59Z");
        assert_eq!(at(4_107_542_400), "2100-03-01 00:00:00Z");
    }

    #[test]
    fn numbers_are_short_and_fields_align() {
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
        let report = Report::default()
            .field("value", 3)
            .described("epsilon", 1.0, "1 (pure)")
            .hidden("x", 2);
        assert_eq!(report.text(), "value    3\nepsilon  1 (pure)\n");
        assert_eq!(report.members(), "\"value\":3,\"epsilon\":1.0,\"x\":2");
    }

    #[test]
    fn values_read_as_people_write_them() {
        let table = named([("a", Value::from(1)), ("bc", Value::from(-2.5))]);
        assert_eq!(
            (plain(&table).as_str(), line(&table).as_str()),
            ("a   1\nbc  -2.5", "a=1,bc=-2.5")
        );
        assert_eq!(plain(&Value::from(1.0)), "1");
        assert_eq!(plain(&Value::from(1e-6)), "1e-6");
        assert_eq!(integer(-3), Value::from(-3));
        assert_eq!(integer(1 << 80), Value::from(2f64.powi(80)));
    }
}
