//! Answers of this process, found by the words of their question: a dashboard that asks the same
//! again is answered without planning anything.
//!
//! Whoever asks in other words is found by the ledger, which knows plans. An answer is kept for
//! the analyst who was shown it: what it costs others is for the ledger to say.

use crate::answer::Answer;
use crate::statement::settings::Settings;
use datafusion::common::ScalarValue;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The most answers.
const MOST: usize = 4096;
/// The most rows of one.
const ROWS: usize = 1000;
/// The longest statement.
const BYTES: usize = 10_000;

/// Answers by analyst, statement, settings and parameters.
#[derive(Default)]
pub(crate) struct Cache {
    answers: Mutex<HashMap<Asked, Arc<Answer>>>,
}

/// Who asked what, in which settings; and the values of parameters, as their texts may be one where they are two.
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

    /// Keeps a small answer. When there are too many all are forgotten, which costs time only.
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

/// Cache key.
fn key(who: &str, sql: &str, settings: &Settings, values: &[ScalarValue]) -> Asked {
    (who.to_owned(), format!("{}\n{settings:?}\n{sql}", sql.len()), values.to_vec())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_of_one_text_are_two() {
        let day = |n: i32| [ScalarValue::Date32(Some(n))];
        let of = |values: &[ScalarValue]| key("ann", "SELECT $1", &Settings::default(), values);
        let (one, other) = (day(i32::MAX - 1), day(i32::MIN + 5));
        assert_eq!(format!("{one:?}"), format!("{other:?}"), "their texts are one");
        assert!(of(&one) != of(&other) && of(&one) == of(&one));
        assert!(of(&[ScalarValue::Int32(Some(1))]) != of(&[ScalarValue::Int64(Some(1))]));
        let one = [ScalarValue::Int32(Some(1))];
        assert!(of(&one) != key("ben", "SELECT $1", &Settings::default(), &one));
        assert!(of(&[ScalarValue::Utf8(None)]) != of(&[ScalarValue::from("NULL")]));
    }
}
