//! Which published labels may stand for a value: `3270` is covered by `3270`, `*`, `32**`,
//! `[3200, 3300)`, `3200-3499` and whatever a hierarchy says.

use demure_anonymize::hierarchy::{Hierarchy, STAR};
use demure_anonymize::table::Column;

/// For each value of the original column (by code) and each label of the published one (by code),
/// whether the label may stand for the value.
#[derive(Clone)]
pub(super) struct Covers {
    labels: usize,
    covers: Vec<bool>,
}

impl Covers {
    /// Compares all texts of one column with all labels of the other.
    pub(super) fn new(original: &Column, published: &Column, given: Option<&Hierarchy>) -> Self {
        let labels = published.values.len();
        let known: Vec<Label<'_>> = published.values.iter().map(|l| Label::read(l)).collect();
        let mut covers = Vec::with_capacity(original.values.len() * labels);
        for (code, value) in original.values.iter().enumerate() {
            let above = given.map(|hierarchy| ancestors(hierarchy, code));
            let number = value.trim().parse::<f64>().ok();
            for (text, label) in published.values.iter().zip(&known) {
                let by_tree = above.as_ref().is_some_and(|all| all.contains(&text.as_str()));
                covers.push(by_tree || label.covers(value, number));
            }
        }
        Self { labels, covers }
    }

    pub(super) fn get(&self, value: u32, label: u32) -> bool {
        self.covers[value as usize * self.labels + label as usize]
    }

    /// How many labels stand for no value of the original at all.
    pub(super) fn idle(&self) -> usize {
        let used = |label: usize| self.covers.iter().skip(label).step_by(self.labels).any(|c| *c);
        (0..self.labels).filter(|label| !used(*label)).count()
    }
}

/// The labels of a value on every level.
fn ancestors(hierarchy: &Hierarchy, code: usize) -> Vec<&str> {
    let label = |level: &'_ demure_anonymize::hierarchy::Level| level.group.get(code).copied();
    let levels = hierarchy.levels.iter();
    levels
        .filter_map(|level| level.labels.get(label(level)? as usize).map(String::as_str))
        .collect()
}

/// What a label says by itself.
enum Label<'a> {
    /// One text.
    Exactly(&'a str),
    /// Anything.
    Anything,
    /// Texts that begin so; where stars stand for characters, of that length or less.
    Prefix { kept: &'a str, length: usize },
    /// Numbers from the first to the second; the last excluded or not.
    Between { low: f64, high: f64, open: bool, text: &'a str },
}

impl<'a> Label<'a> {
    fn read(text: &'a str) -> Self {
        if text == STAR {
            return Self::Anything;
        }
        let kept = text.trim_end_matches('*');
        if kept.len() < text.len() {
            return Self::Prefix { kept, length: text.chars().count() };
        }
        let inner = text.strip_prefix('[').and_then(|rest| {
            let open = rest.ends_with(')');
            Some((rest.strip_suffix([')', ']'])?, open))
        });
        let between = |low: &str, high: &str, open: bool| {
            let (low, high) = (low.trim().parse().ok()?, high.trim().parse().ok()?);
            (low <= high).then_some(Self::Between { low, high, open, text })
        };
        if let Some((range, open)) = inner {
            let ends = range.split_once(',');
            return ends.and_then(|(a, b)| between(a, b, open)).unwrap_or(Self::Exactly(text));
        }
        // A minus sign is no dash: look behind the first character.
        let dash = text.char_indices().skip(1).find(|(_, c)| matches!(c, '-' | '–'));
        let ends = dash.map(|(at, c)| (&text[..at], &text[at + c.len_utf8()..]));
        ends.and_then(|(a, b)| between(a, b, false)).unwrap_or(Self::Exactly(text))
    }

    fn covers(&self, value: &str, number: Option<f64>) -> bool {
        match self {
            Self::Anything => true,
            // `2024-05` and `2024` stand for days, as dates are made coarser.
            Self::Exactly(text) => {
                value == *text
                    || value
                        .strip_prefix(text)
                        .is_some_and(|rest| is_date(value) && rest.starts_with('-'))
            }
            Self::Prefix { kept, length } => {
                value.starts_with(kept) && value.chars().count() <= *length
            }
            Self::Between { low, high, open, text } => {
                value == *text
                    || number
                        .is_some_and(|x| x >= *low && if *open { x < *high } else { x <= *high })
            }
        }
    }
}

/// `2024-05-17`, with or without a time after it.
fn is_date(text: &str) -> bool {
    let bytes = text.as_bytes();
    let digit = |range: std::ops::Range<usize>| {
        bytes.get(range).is_some_and(|part| part.iter().all(u8::is_ascii_digit))
    };
    digit(0..4)
        && bytes.get(4) == Some(&b'-')
        && digit(5..7)
        && bytes.get(7) == Some(&b'-')
        && digit(8..10)
}

#[cfg(test)]
mod tests;
