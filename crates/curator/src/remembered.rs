//! Answers of this process, found by the words of their question: a dashboard that asks the same
//! again is answered without planning anything.
//!
//! Whoever asks in other words is found by the ledger, which knows plans.

use crate::answer::Answer;
use crate::settings::Settings;
use datafusion::common::ScalarValue;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The most answers.
const MOST: usize = 4096;
/// The most rows of one.
const ROWS: usize = 1000;
/// The longest statement.
const BYTES: usize = 10_000;

/// Answers by statement, settings and parameters.
#[derive(Default)]
pub(crate) struct Remembered {
    answers: Mutex<HashMap<String, Arc<Answer>>>,
}

impl Remembered {
    pub(crate) fn find(
        &self,
        sql: &str,
        settings: &Settings,
        values: &[ScalarValue],
    ) -> Option<Arc<Answer>> {
        self.lock().get(&key(sql, settings, values)).cloned()
    }

    /// Keeps a small answer. When there are too many all are forgotten, which costs time only.
    pub(crate) fn keep(
        &self,
        sql: &str,
        settings: &Settings,
        values: &[ScalarValue],
        answer: &Answer,
    ) {
        if answer.rows() > ROWS || sql.len() > BYTES {
            return;
        }
        let mut answers = self.lock();
        if answers.len() >= MOST {
            answers.clear();
        }
        answers.insert(key(sql, settings, values), Arc::new(answer.clone()));
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<String, Arc<Answer>>> {
        self.answers.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Different for whatever may have different answers.
fn key(sql: &str, settings: &Settings, values: &[ScalarValue]) -> String {
    // Each value with its length: what is within quotes may itself hold quotes.
    let each = values.iter().map(|value| format!("{value:?}"));
    let values: String = each.map(|text| format!("{} {text}\n", text.len())).collect();
    format!("{}\n{settings:?}\n{values}\n{sql}", sql.len())
}
