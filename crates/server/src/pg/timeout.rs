//! `statement_timeout`: how long a client wants to wait, never longer than the server allows.
//!
//! A statement that reads rows ends at a public moment after it, if its own moment is later, so that it says no
//! more about when an answer was ready than that moment does (`schedule`).

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

const NAME: &str = "statement_timeout";

/// What a statement does with the setting.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Asks {
    /// Sets it, or takes it back.
    Set(Option<Duration>),
    /// Sets what is not a time.
    Nonsense(String),
    /// Takes it back.
    Reset,
    /// Shows it.
    Show,
}

/// A session's own limit; none if it has the server's.
#[derive(Debug, Default)]
pub(super) struct Timeout {
    at_first: Option<Duration>,
    now: Mutex<Option<Option<Duration>>>,
}

impl Timeout {
    /// With what the startup message says: `statement_timeout`, or `options` with
    /// `-c statement_timeout=…`. What is not a time is left.
    pub(super) fn of(parameters: &HashMap<String, String>) -> Self {
        let named = parameters.get(NAME).map(String::as_str);
        let options = parameters.get("options").map_or("", String::as_str);
        let mut words = options.split_whitespace();
        let within = words.find_map(|word| {
            let setting = word.strip_prefix("-c").or_else(|| word.strip_prefix("--"));
            setting.unwrap_or(word).strip_prefix(NAME)?.strip_prefix('=')
        });
        let at_first = named.or(within).and_then(time).flatten();
        Self { at_first, now: Mutex::default() }
    }

    /// The session's limit.
    pub(super) fn get(&self) -> Option<Duration> {
        let now = *self.now.lock().unwrap_or_else(PoisonError::into_inner);
        now.unwrap_or(self.at_first)
    }

    pub(super) fn set(&self, limit: Option<Duration>) {
        *self.now.lock().unwrap_or_else(PoisonError::into_inner) = Some(limit);
    }

    /// What it was at first.
    pub(super) fn reset(&self) {
        *self.now.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }
}

/// What a statement does with the setting, if it is about it.
pub(super) fn asks(statement: &str) -> Option<Asks> {
    let spaced = statement.replace('=', " = ");
    let mut words = spaced.split_whitespace();
    let verb = words.next()?.to_ascii_lowercase();
    let mut name = words.next()?;
    if verb == "set" && ["session", "local"].iter().any(|word| name.eq_ignore_ascii_case(word)) {
        name = words.next()?;
    }
    if !name.trim_matches(['"', ';']).eq_ignore_ascii_case(NAME) {
        return None;
    }
    match verb.as_str() {
        "show" => Some(Asks::Show),
        "reset" => Some(Asks::Reset),
        "set" => {
            let sign = words.next()?;
            if sign != "=" && !sign.eq_ignore_ascii_case("to") {
                return None;
            }
            let value = words.collect::<Vec<_>>().join(" ");
            let value = value.trim_end_matches(';').trim();
            if value.eq_ignore_ascii_case("default") {
                return Some(Asks::Reset);
            }
            let unquoted = value.strip_prefix('\'').and_then(|value| value.strip_suffix('\''));
            let value = unquoted.unwrap_or(value);
            Some(time(value).map_or_else(|| Asks::Nonsense(value.to_owned()), Asks::Set))
        }
        _ => None,
    }
}

/// `5000`, `5s`, `1 min`: without a unit, milliseconds. 0 is no limit of one's own.
fn time(text: &str) -> Option<Option<Duration>> {
    let text = text.trim();
    let end = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    let (number, unit) = text.split_at(end);
    let number: f64 = number.parse().ok()?;
    let milliseconds = match unit.trim() {
        "us" => 1e-3,
        "" | "ms" => 1.0,
        "s" => 1e3,
        "min" => 6e4,
        "h" => 3.6e6,
        "d" => 8.64e7,
        _ => return None,
    };
    // PostgreSQL's largest: some 24 days.
    let whole = (number * milliseconds).round();
    let allowed = (0.0..=f64::from(i32::MAX)).contains(&whole);
    allowed.then(|| (whole > 0.0).then(|| Duration::from_millis(whole as u64)))
}

/// As PostgreSQL shows it.
pub(super) fn shown(limit: Option<Duration>) -> String {
    let Some(limit) = limit else { return "0".to_owned() };
    let milliseconds = limit.as_millis();
    let units = [(86_400_000, "d"), (3_600_000, "h"), (60_000, "min"), (1000, "s"), (1, "ms")];
    let fits = units.iter().find(|(unit, _)| milliseconds.is_multiple_of(*unit));
    fits.map_or_else(String::new, |(unit, name)| format!("{}{name}", milliseconds / unit))
}

#[cfg(test)]
mod tests;
