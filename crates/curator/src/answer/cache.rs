//! Answers of this process, by the text of their question: a dashboard that asks the same question again is answered
//! without planning.
//!
//! A question in other words is found in the ledger, which compares plans. An answer is kept only for the analyst who
//! received it: the ledger decides what it costs others.

use crate::answer::Answer;
use crate::statement::settings::Settings;
use datafusion::common::ScalarValue;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The largest number of answers.
const MOST: usize = 4096;
/// The largest number of rows in an answer.
const ROWS: usize = 1000;
/// The longest statement, in bytes.
const BYTES: usize = 10_000;

/// Answers by analyst, statement, settings and parameters.
#[derive(Default)]
pub(crate) struct Cache {
    answers: Mutex<HashMap<Asked, Arc<Answer>>>,
}

/// Analyst, statement with settings, and parameter values. Values are kept as such because two of them can have the
/// same text.
type Asked = (String, String, Vec<ScalarValue>);

impl Cache {
    pub(crate) fn find(
        &self,
        who: &str,
        sql: &str,
        settings: &Settings,
        values: &[ScalarValue],
    ) -> Option<Arc<Answer>> {
        self.lock().get(&key(who, sql, settings, values)).cloned()
    }

    /// Keeps a small answer. If there are too many, all are dropped, which only costs time.
    pub(crate) fn keep(
        &self,
        who: &str,
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
        answers.insert(key(who, sql, settings, values), Arc::new(answer.clone()));
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<Asked, Arc<Answer>>> {
        self.answers.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The cache key.
fn key(who: &str, sql: &str, settings: &Settings, values: &[ScalarValue]) -> Asked {
    (who.to_owned(), format!("{}\n{settings:?}\n{sql}", sql.len()), values.to_vec())
}

#[cfg(test)]
mod tests;
