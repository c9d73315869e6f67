//! The question as its analyst wrote it, which the ledger stores with what it buys.
//!
//! Nothing in it comes from data: the analyst wrote the statement and its values, and set the settings.

use crate::statement::settings::{SETTINGS, Settings};
use crate::statement::words;
use datafusion::arrow::datatypes::DataType;
use datafusion::arrow::util::display::array_value_to_string;
use datafusion::common::ScalarValue;
use demure_ledger::Question;

/// A question as it was asked.
pub(crate) struct Asked {
    pub(super) question: Question,
    /// The length of the statement ([`words`]).
    pub(super) words: usize,
}

impl Asked {
    pub(crate) fn new(sql: &str, values: &[ScalarValue], settings: &Settings) -> Self {
        let unset = Settings::default();
        let changed = SETTINGS.iter().filter_map(|(name, _)| {
            let value = settings.get(name).filter(|value| unset.get(name).as_ref() != Some(value));
            Some(((*name).to_owned(), value?))
        });
        let values = values.iter().map(literal).collect();
        let question = Question::new(sql.trim(), values, changed.collect());
        Self { question, words: words(sql) }
    }
}

/// A value as SQL writes it.
fn literal(value: &ScalarValue) -> String {
    if value.is_null() {
        return "NULL".to_owned();
    }
    let shown = value.to_array().and_then(|array| Ok(array_value_to_string(&array, 0)?));
    let shown = shown.unwrap_or_else(|_| value.to_string());
    match value.data_type() {
        kind if kind.is_numeric() || kind == DataType::Boolean => shown,
        _ => format!("'{}'", shown.replace('\'', "''")),
    }
}

#[cfg(test)]
mod tests;
