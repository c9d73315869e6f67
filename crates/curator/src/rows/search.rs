//! `regexp_like` and `regexp_count` with a pattern that is compiled when the statement is read.
//!
//! The engine compiles a pattern for every batch, which may take a millisecond. Here, rows cost only the matching.
//! Nothing fails: a text that is too long gives NULL, and so does every row if the pattern with its flags, or the
//! starting position, is invalid.

use crate::rows::admit::LARGEST_PATTERNS;
use crate::rows::total::LONGEST;
use datafusion::arrow::array::{ArrayRef, AsArray, BooleanArray, Int64Array};
use datafusion::arrow::compute::cast;
use datafusion::arrow::datatypes::DataType;
use datafusion::common::{Result, ScalarValue};
use datafusion::logical_expr::Expr;
use regex::{Regex, RegexBuilder};
use std::hash::{Hash, Hasher};
use std::sync::Arc;

/// A compiled pattern and what to do with it.
#[derive(Clone, Debug)]
pub(crate) struct Search {
    /// `None` if every row gives NULL.
    pattern: Option<Regex>,
    /// Counts the matches from this character on, where the first is 1; `None` tests whether there is a match.
    count_from: Option<usize>,
}

/// A pattern that takes no more room than what was measured may take.
fn compiled(pattern: &str) -> Option<Regex> {
    RegexBuilder::new(pattern).size_limit(LARGEST_PATTERNS).build().ok()
}

impl Search {
    /// The search for a call with these arguments; `None` if it is another function, or if its pattern is not
    /// constant.
    pub(crate) fn of(name: &str, arguments: &[Expr]) -> Option<Self> {
        let constant = |i: usize| match arguments.get(i) {
            None => Some(None),
            Some(Expr::Literal(value, _)) => Some(Some(value)),
            Some(_) => None,
        };
        let text = |value: Option<&ScalarValue>| value?.try_as_str().flatten().map(str::to_owned);
        let pattern = text(constant(1)?);
        let (flags, count_from, possible) = match name {
            // NULL as flags means no flags.
            "regexp_like" => (text(constant(2)?), None, true),
            // NULL as any argument gives NULL.
            "regexp_count" => {
                let (start, flags) = (constant(2)?, constant(3)?);
                let from = match start {
                    None => Some(1),
                    Some(ScalarValue::Int64(Some(from))) => Some(*from),
                    Some(_) => None,
                };
                let from = from.and_then(|from| usize::try_from(from).ok()).filter(|n| *n > 0);
                let possible = from.is_some() && !flags.is_some_and(ScalarValue::is_null);
                (text(flags), Some(from.unwrap_or(1)), possible)
            }
            _ => return None,
        };
        let pattern = pattern.filter(|_| possible).and_then(|pattern| match flags {
            Some(flags) if !flags.is_empty() => compiled(&format!("(?{flags}){pattern}")),
            _ => compiled(&pattern),
        });
        Some(Self { pattern, count_from })
    }

    /// The result for each of these texts.
    pub(crate) fn find(&self, texts: &ArrayRef) -> Result<ArrayRef> {
        let texts = cast(texts, &DataType::Utf8View)?;
        let texts = texts.as_string_view().iter();
        let texts = texts
            .map(|text| Some((self.pattern.as_ref()?, text.filter(|text| text.len() <= LONGEST)?)));
        Ok(match self.count_from {
            None => {
                let found = texts.map(|known| known.map(|(pattern, text)| pattern.is_match(text)));
                Arc::new(found.collect::<BooleanArray>())
            }
            Some(from) => {
                let counts = texts.map(|known| {
                    let (pattern, text) = known?;
                    let places = text.char_indices().map(|(place, _)| place);
                    let begin = places.chain([text.len()]).nth(from - 1);
                    let count = begin.map_or(0, |begin| pattern.find_iter(&text[begin..]).count());
                    i64::try_from(count).ok()
                });
                Arc::new(counts.collect::<Int64Array>())
            }
        })
    }

    fn text(&self) -> Option<&str> {
        self.pattern.as_ref().map(Regex::as_str)
    }
}

impl PartialEq for Search {
    fn eq(&self, other: &Self) -> bool {
        self.text() == other.text() && self.count_from == other.count_from
    }
}

impl Eq for Search {}

impl Hash for Search {
    fn hash<H: Hasher>(&self, state: &mut H) {
        (self.text(), self.count_from).hash(state);
    }
}

#[cfg(test)]
mod tests;
