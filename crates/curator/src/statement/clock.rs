//! The time of a statement: `now()`, `current_date` and their like are constants of the statement.
//!
//! They are written out before the statement is planned, so the plan, and with it the key under which a bought answer is
//! found, holds the time itself: with `current_date` a repeat on the same day is free, and with `now()` none is. Times
//! are those of UTC.

use datafusion::sql::sqlparser::ast::{
    CastKind, DataType, Expr, TimezoneInfo, TypedString, Value, ValueWithSpan,
};
use datafusion::sql::sqlparser::dialect::PostgreSqlDialect;
use datafusion::sql::sqlparser::tokenizer::{Token, Tokenizer};
use std::time::{SystemTime, UNIX_EPOCH};

/// Functions of the statement's start.
const TIMES: &[&str] = &[
    "now",
    "current_timestamp",
    "localtimestamp",
    "transaction_timestamp",
    "statement_timestamp",
    "clock_timestamp",
];
/// Functions of its day, and of its time of day.
const DAYS: &[&str] = &["current_date", "today"];
const HOURS: &[&str] = &["current_time", "localtime"];
/// Texts that mean a time where they are converted to one.
const WORDS: &[(&str, i64)] = &[("now", 0), ("today", 0), ("yesterday", -1), ("tomorrow", 1)];

/// When a statement began, in microseconds since 1970.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Clock {
    micros: i64,
}

const DAY: i64 = 86_400_000_000;

impl Clock {
    /// The time now.
    pub(crate) fn now() -> Self {
        let since = SystemTime::now().duration_since(UNIX_EPOCH);
        Self { micros: since.map_or(0, |time| i64::try_from(time.as_micros()).unwrap_or(0)) }
    }

    /// The constant that a function of this name stands for.
    pub(super) fn function(self, name: &str) -> Option<Expr> {
        if TIMES.contains(&name) {
            return Some(constant(self.time(), timestamp()));
        }
        if DAYS.contains(&name) {
            return Some(constant(self.day(0), DataType::Date));
        }
        HOURS.contains(&name).then(|| {
            let text = self.time();
            let hours = text.split(' ').nth(1).unwrap_or_default().to_owned();
            constant(hours, DataType::Time(None, TimezoneInfo::None))
        })
    }

    /// The constant for `'today'::date` and the like.
    pub(super) fn word(self, text: &str, to: &DataType) -> Option<Expr> {
        let is = |(word, _): &&(&str, i64)| text.trim().eq_ignore_ascii_case(word);
        let (word, days) = WORDS.iter().find(is)?;
        match to {
            DataType::Date => Some(constant(self.day(*days), DataType::Date)),
            DataType::Timestamp(..) if *word == "now" => Some(constant(self.time(), timestamp())),
            DataType::Timestamp(..) => {
                Some(constant(format!("{} 00:00:00", self.day(*days)), timestamp()))
            }
            _ => None,
        }
    }

    /// The day, as `2024-12-31`.
    pub(super) fn day(self, later: i64) -> String {
        let (year, month, day) = crate::calendar::civil(self.micros.div_euclid(DAY) + later);
        format!("{year:04}-{month:02}-{day:02}")
    }

    fn time(self) -> String {
        let within = self.micros.rem_euclid(DAY);
        let (seconds, micros) = (within / 1_000_000, within % 1_000_000);
        let (hour, minute, second) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
        format!("{} {hour:02}:{minute:02}:{second:02}.{micros:06}", self.day(0))
    }
}

fn timestamp() -> DataType {
    DataType::Timestamp(None, TimezoneInfo::None)
}

/// `CAST('text' AS type)`.
fn constant(text: String, data_type: DataType) -> Expr {
    let value = Value::SingleQuotedString(text).with_empty_span();
    let (kind, expr) = (CastKind::Cast, Box::new(Expr::Value(value)));
    Expr::Cast { kind, expr, data_type, array: false, format: None }
}

/// Whether a statement may depend on the time: its text alone does not tell its answer.
pub(crate) fn is_read_by(sql: &str) -> bool {
    let Ok(tokens) = Tokenizer::new(&PostgreSqlDialect {}, sql).tokenize() else { return true };
    let mut tokens =
        tokens.iter().filter(|token| !matches!(token, Token::Whitespace(_))).peekable();
    while let Some(token) = tokens.next() {
        let (text, word) = match token {
            Token::Word(word) => (&word.value, true),
            Token::SingleQuotedString(text) => (text, false),
            _ => continue,
        };
        let text = text.trim().to_ascii_lowercase();
        let called = matches!(tokens.peek(), Some(Token::LParen));
        let mut functions = TIMES.iter().chain(DAYS).chain(HOURS);
        let read = match word {
            true => text == "age" && called || functions.any(|name| *name == text),
            false => WORDS.iter().any(|(word, _)| *word == text),
        };
        if read {
            return true;
        }
    }
    false
}

/// The text of `DATE 'text'` or `'text'::date`, and the type.
pub(super) fn typed_text(expr: &Expr) -> Option<(&str, &DataType)> {
    let text = |value: &ValueWithSpan| matches!(value.value, Value::SingleQuotedString(_));
    match expr {
        Expr::TypedString(TypedString { data_type, value, .. }) if text(value) => {
            Some((unquoted(value)?, data_type))
        }
        Expr::Cast { expr, data_type, .. } => match expr.as_ref() {
            Expr::Value(value) if text(value) => Some((unquoted(value)?, data_type)),
            _ => None,
        },
        _ => None,
    }
}

fn unquoted(value: &ValueWithSpan) -> Option<&str> {
    match &value.value {
        Value::SingleQuotedString(text) => Some(text),
        _ => None,
    }
}

#[cfg(test)]
mod tests;
