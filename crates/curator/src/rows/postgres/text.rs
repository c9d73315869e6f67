//! `lpad`, `rpad`, `overlay`, and edits by regular expressions: `regexp_replace`, `substring(x FROM 'pattern')`.

use super::{Faults, Value, present};
use crate::rows::admit::LARGEST_PATTERNS;
use datafusion::arrow::array::{Array, ArrayRef, AsArray, StringArray};
use datafusion::arrow::datatypes::Int64Type;
use datafusion::common::{Result, ScalarValue};
use datafusion::logical_expr::Expr;
use regex::{Regex, RegexBuilder};
use std::hash::{Hash, Hasher};
use std::sync::Arc;

/// The longest text that is made by padding.
const LONGEST_PAD: i64 = 10_000;

/// Each text at a length of `n` characters: filled on one side, or cut on the right.
pub(super) fn padded(
    texts: &ArrayRef,
    lengths: &ArrayRef,
    fill: &[ArrayRef],
    left: bool,
    faults: &mut Faults,
) -> Result<ArrayRef> {
    let (all, counts) = (texts.as_string::<i32>(), lengths.as_primitive::<Int64Type>());
    let fills = fill.first().map(|fill| fill.as_string::<i32>());
    let needed: Vec<&ArrayRef> = [texts, lengths].into_iter().chain(fill).collect();
    let pad = |row: usize| -> Value<String> {
        if !present(&needed, row) {
            return Ok(None);
        }
        let length = counts.value(row).max(0);
        if length > LONGEST_PAD {
            return Err("the length is more than 10000");
        }
        let (length, text) = (length as usize, all.value(row));
        let given = text.chars().count();
        if given >= length {
            return Ok(Some(text.chars().take(length).collect()));
        }
        let fill = fills.map_or(" ", |fills| fills.value(row));
        let filling = fill.chars().cycle().take(if fill.is_empty() { 0 } else { length - given });
        Ok(Some(match left {
            true => filling.chain(text.chars()).collect(),
            false => text.chars().chain(filling).collect(),
        }))
    };
    Ok(Arc::new((0..texts.len()).map(|row| faults.keep(pad(row))).collect::<StringArray>()))
}

/// Each text with `count` characters from the `from`th on replaced; as many as the new text has without a count.
pub(super) fn overlaid(
    texts: &ArrayRef,
    news: &ArrayRef,
    froms: &ArrayRef,
    counts: &[ArrayRef],
    faults: &mut Faults,
) -> Result<ArrayRef> {
    let (all, new) = (texts.as_string::<i32>(), news.as_string::<i32>());
    let from = froms.as_primitive::<Int64Type>();
    let count = counts.first().map(|counts| counts.as_primitive::<Int64Type>());
    let needed: Vec<&ArrayRef> = [texts, news, froms].into_iter().chain(counts).collect();
    let place = |row: usize| -> Value<String> {
        if !present(&needed, row) {
            return Ok(None);
        }
        let (text, new, from) = (all.value(row), new.value(row), from.value(row));
        let count = count.map_or(new.chars().count() as i64, |count| count.value(row));
        if from <= 0 {
            return Err("the place must be 1 or more");
        }
        let before = usize::try_from(from - 1).unwrap_or(usize::MAX);
        let after = usize::try_from((from - 1).saturating_add(count)).unwrap_or(0);
        let at = |place: usize| text.char_indices().nth(place).map_or(text.len(), |(at, _)| at);
        Ok(Some(format!("{}{new}{}", &text[..at(before)], &text[at(after)..])))
    };
    Ok(Arc::new((0..texts.len()).map(|row| faults.keep(place(row))).collect::<StringArray>()))
}

/// What is done with the matches of a compiled pattern.
#[derive(Clone, Debug)]
pub(crate) struct Edit {
    /// `None` if every row gives NULL.
    pattern: Option<Regex>,
    action: Action,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Action {
    /// The first match, or its first group if the pattern has one.
    Extract,
    /// The first match, or every one, is replaced.
    Replace { new: Vec<Piece>, all: bool },
}

/// A part of a replacement: a text, or what a group matched; group 0 is the match.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Piece {
    Text(String),
    Group(usize),
}

/// Patterns in which `.` matches a line's end too, as in PostgreSQL.
fn compiled(pattern: &str, insensitive: bool) -> Option<Regex> {
    let mut builder = RegexBuilder::new(pattern);
    let builder = builder.dot_matches_new_line(true).case_insensitive(insensitive);
    builder.size_limit(2 * LARGEST_PATTERNS).build().ok()
}

/// Whether flags are understood: `g`, `i`, each at most once.
pub(crate) fn flags_are_understood(flags: &str) -> bool {
    flags.chars().all(|flag| "gi".contains(flag))
        && flags.len() <= 2
        && flags.chars().next() != flags.chars().nth(1)
        || flags.is_empty()
}

/// The pieces of a replacement: `\1` to `\9` are groups, `\&` is the match, `\\` is a backslash.
fn pieces(replacement: &str) -> Vec<Piece> {
    let (mut pieces, mut text) = (Vec::new(), String::new());
    let mut characters = replacement.chars().peekable();
    while let Some(c) = characters.next() {
        let group = match (c, characters.peek()) {
            ('\\', Some('&')) => Some(0),
            ('\\', Some(digit @ '1'..='9')) => digit.to_digit(10).map(|digit| digit as usize),
            ('\\', Some('\\')) => None,
            _ => {
                text.push(c);
                continue;
            }
        };
        characters.next();
        match group {
            None => text.push('\\'),
            Some(group) => {
                if !text.is_empty() {
                    pieces.push(Piece::Text(std::mem::take(&mut text)));
                }
                pieces.push(Piece::Group(group));
            }
        }
    }
    if !text.is_empty() {
        pieces.push(Piece::Text(text));
    }
    pieces
}

impl Edit {
    /// The edit that a call with constants makes; `None` if it is another function, or its pattern is not constant.
    pub(crate) fn of(name: &str, arguments: &[Expr]) -> Option<Self> {
        let rest: Option<Vec<&ScalarValue>> =
            arguments.iter().skip(1).map(Expr::as_literal).collect();
        let text = |value: &&ScalarValue| value.try_as_str().flatten().map(str::to_owned);
        match name {
            "regexp_replace" | "substring_match" => {}
            _ => return None,
        }
        let rest: Vec<Option<String>> = rest?.iter().map(text).collect();
        let rest: Option<Vec<String>> = rest.into_iter().collect();
        Some(match rest {
            Some(rest) => {
                Self::new(name, &rest.iter().map(String::as_str).collect::<Vec<_>>()).ok()?
            }
            None => Self { pattern: None, action: Action::Extract },
        })
    }

    fn new(name: &str, rest: &[&str]) -> std::result::Result<Self, &'static str> {
        let (pattern, action, insensitive) = match (name, rest) {
            ("substring_match", [pattern]) => (pattern, Action::Extract, false),
            ("regexp_replace", [pattern, new, flags @ ..]) => {
                let flags = flags.first().copied().unwrap_or_default();
                if !flags_are_understood(flags) {
                    return Err("the flags are not g, i or both");
                }
                let replace = Action::Replace { new: pieces(new), all: flags.contains('g') };
                (pattern, replace, flags.contains('i'))
            }
            _ => return Err("the number of arguments is wrong"),
        };
        let pattern =
            compiled(pattern, insensitive).ok_or("the regular expression cannot be used")?;
        Ok(Self { pattern: Some(pattern), action })
    }

    /// What becomes of a text; `None` if it is longer than `longest`.
    fn apply(&self, text: &str, longest: usize) -> Option<String> {
        let pattern = self.pattern.as_ref()?;
        match &self.action {
            Action::Extract if pattern.captures_len() > 1 => {
                Some(pattern.captures(text)?.get(1)?.as_str().to_owned())
            }
            Action::Extract => Some(pattern.find(text)?.as_str().to_owned()),
            Action::Replace { new, all } => {
                let most = if *all { usize::MAX } else { 1 };
                let (mut made, mut done) = (String::new(), 0);
                let grouped = new.iter().any(|piece| matches!(piece, Piece::Group(1..)));
                let mut replace =
                    |start: usize, end: usize, group: &dyn Fn(usize) -> Option<(usize, usize)>| {
                        made.push_str(&text[done..start]);
                        for piece in new {
                            match piece {
                                Piece::Text(text) => made.push_str(text),
                                Piece::Group(0) => made.push_str(&text[start..end]),
                                Piece::Group(number) => {
                                    if let Some((start, end)) = group(*number) {
                                        made.push_str(&text[start..end]);
                                    }
                                }
                            }
                        }
                        done = end;
                        made.len() <= longest
                    };
                let fits = if grouped {
                    pattern.captures_iter(text).take(most).all(|found| {
                        let group = |n: usize| found.get(n).map(|part| (part.start(), part.end()));
                        group(0).is_some_and(|(start, end)| replace(start, end, &group))
                    })
                } else {
                    pattern
                        .find_iter(text)
                        .take(most)
                        .all(|found| replace(found.start(), found.end(), &|_| None))
                };
                made.push_str(&text[done..]);
                (fits && made.len() <= longest).then_some(made)
            }
        }
    }

    /// What becomes of each of these texts; NULL where one is longer than `longest`, before or after.
    pub(crate) fn each(&self, texts: &ArrayRef, longest: usize) -> Result<ArrayRef> {
        let texts =
            datafusion::arrow::compute::cast(texts, &datafusion::arrow::datatypes::DataType::Utf8)?;
        let texts = texts.as_string::<i32>().iter();
        let edited =
            texts.map(|text| self.apply(text.filter(|text| text.len() <= longest)?, longest));
        Ok(Arc::new(edited.collect::<StringArray>()))
    }
}

/// Two edits are equal if their patterns are the same text with the same flags.
impl PartialEq for Edit {
    fn eq(&self, other: &Self) -> bool {
        let text = |edit: &Self| edit.pattern.as_ref().map(|pattern| pattern.as_str().to_owned());
        text(self) == text(other) && self.action == other.action
    }
}

impl Eq for Edit {}

impl Hash for Edit {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.pattern.as_ref().map(Regex::as_str).hash(state);
    }
}

/// The same for texts of any length, with a pattern that may differ from row to row.
pub(super) fn edited(
    name: &str,
    texts: &ArrayRef,
    rest: &[ArrayRef],
    faults: &mut Faults,
) -> Result<ArrayRef> {
    let all = texts.as_string::<i32>();
    let needed: Vec<&ArrayRef> = [texts].into_iter().chain(rest).collect();
    let mut last: Option<(Vec<String>, std::result::Result<Edit, &'static str>)> = None;
    let mut values = Vec::with_capacity(texts.len());
    for row in 0..texts.len() {
        if !present(&needed, row) {
            values.push(None);
            continue;
        }
        let given: Vec<&str> =
            rest.iter().map(|array| array.as_string::<i32>().value(row)).collect();
        let same = last.as_ref().is_some_and(|(last, _)| *last == given);
        if !same {
            last = Some((
                given.iter().map(|&text| text.to_owned()).collect(),
                Edit::new(name, &given),
            ));
        }
        let Some((_, edit)) = &last else { continue };
        let value = edit
            .as_ref()
            .map_err(|fault| *fault)
            .map(|edit| edit.apply(all.value(row), usize::MAX));
        values.push(faults.keep(value));
    }
    Ok(Arc::new(values.into_iter().collect::<StringArray>()))
}
