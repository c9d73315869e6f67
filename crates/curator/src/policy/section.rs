//! One table of the TOML file: its keys, the type of each, and suggestions for unknown keys.

use super::Mistake;
use super::problem::Notes;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// A value and its position.
pub(super) type Node<'i> = Spanned<DeValue<'i>>;

/// The keys that a section may have, each with an example.
pub(super) type Form = &'static [(&'static str, &'static str)];

/// The value was there but wrong, and the mistake has been noted.
pub(super) struct Noted;

/// A value and its position, if there is one.
pub(super) type FieldResult<T> = Result<Option<(T, usize)>, Noted>;

/// One table of the file.
pub(super) struct Section<'a, 'i> {
    /// Its name in messages: "column `age`".
    pub(super) owner: String,
    /// Where it begins.
    pub(super) at: usize,
    fields: &'a DeTable<'i>,
    form: Form,
}

impl<'a, 'i> Section<'a, 'i> {
    /// A section; notes its unknown keys.
    pub(super) fn new(
        owner: String,
        at: usize,
        fields: &'a DeTable<'i>,
        form: Form,
        notes: &mut Notes<'_>,
    ) -> Self {
        for (key, _) in fields.iter() {
            let name = key.get_ref().as_ref();
            if !form.iter().any(|(known, _)| *known == name) {
                let key_at = key.span().start;
                let (key, owner) = (name.to_owned(), owner.clone());
                let remedy = meant(name, form);
                notes.mistake(key_at, Mistake::UnknownKey { key, owner, remedy });
            }
        }
        Self { owner, at, fields, form }
    }

    /// The position of a key, if it is there.
    pub(super) fn place(&self, key: &str) -> Option<usize> {
        self.fields.get_key_value(key).map(|(key, _)| key.span().start)
    }

    /// The value of a key.
    pub(super) fn get(&self, key: &str) -> Option<&'a Node<'i>> {
        self.fields.get(key)
    }

    /// A number, integer or not.
    pub(super) fn number(&self, key: &'static str, notes: &mut Notes<'_>) -> FieldResult<f64> {
        self.typed(key, notes, number)
    }

    /// A non-empty text.
    pub(super) fn text(&self, key: &'static str, notes: &mut Notes<'_>) -> FieldResult<&'a str> {
        self.typed(key, notes, |value| value.as_str().filter(|text| !text.is_empty()))
    }

    /// `true` or `false`.
    pub(super) fn boolean(&self, key: &'static str, notes: &mut Notes<'_>) -> FieldResult<bool> {
        self.typed(key, notes, DeValue::as_bool)
    }

    /// An integer.
    pub(super) fn whole(&self, key: &'static str, notes: &mut Notes<'_>) -> FieldResult<i128> {
        self.typed(key, notes, |value| match value {
            DeValue::Integer(whole) => i128::from_str_radix(whole.as_str(), whole.radix()).ok(),
            _ => None,
        })
    }

    /// The value of a key, converted by `read`.
    pub(super) fn typed<T>(
        &self,
        key: &'static str,
        notes: &mut Notes<'_>,
        read: impl FnOnce(&'a DeValue<'i>) -> Option<T>,
    ) -> FieldResult<T> {
        let Some(node) = self.get(key) else { return Ok(None) };
        let at = node.span().start;
        match read(node.get_ref()) {
            Some(value) => Ok(Some((value, at))),
            None => {
                let found = described(node.get_ref());
                let (key, owner, remedy) = self.about(key);
                notes.mistake(at, Mistake::WrongKind { key, owner, found, remedy });
                Err(Noted)
            }
        }
    }

    /// Notes that a key is missing.
    pub(super) fn missing(&self, key: &'static str, notes: &mut Notes<'_>) {
        let (key, owner, remedy) = self.about(key);
        notes.mistake(self.at, Mistake::Missing { key, owner, remedy });
    }

    /// A key, the section it belongs to, and an example.
    pub(super) fn about(&self, key: &str) -> (String, String, String) {
        let written = self.form.iter().find(|(known, _)| *known == key);
        let written = written.map_or(key, |(_, written)| written);
        (key.to_owned(), self.owner.clone(), written.to_owned())
    }
}

/// The entries of a TOML table in the order of the file: the map itself is sorted by name.
pub(super) fn in_order<'a, 'i>(table: &'a DeTable<'i>) -> Vec<(&'a str, usize, &'a Node<'i>)> {
    let mut entries: Vec<_> = table
        .iter()
        .map(|(key, value)| (key.get_ref().as_ref(), key.span().start, value))
        .collect();
    entries.sort_by_key(|(_, at, _)| *at);
    entries
}

/// A number, integer or not; infinite if a float cannot hold it.
pub(super) fn number(value: &DeValue<'_>) -> Option<f64> {
    match value {
        DeValue::Float(real) => real.as_str().parse().ok(),
        DeValue::Integer(whole) if whole.radix() == 10 => whole.as_str().parse().ok(),
        DeValue::Integer(whole) => {
            i128::from_str_radix(whole.as_str(), whole.radix()).ok().map(|whole| whole as f64)
        }
        _ => None,
    }
}

/// The description of a value in messages.
pub(super) fn described(value: &DeValue<'_>) -> &'static str {
    match value {
        DeValue::String(text) if text.is_empty() => "an empty text",
        DeValue::String(_) => "a text",
        DeValue::Integer(_) => "a whole number",
        DeValue::Float(_) => "a real number",
        DeValue::Boolean(_) => "a boolean",
        DeValue::Datetime(_) => "a date or time",
        DeValue::Array(_) => "a list",
        DeValue::Table(_) => "a table",
    }
}

/// What to write instead of an unknown key.
fn meant(name: &str, form: Form) -> String {
    if let Some(near) = nearest(name, form.iter().map(|(key, _)| *key)) {
        let written = form.iter().find(|(key, _)| *key == near);
        return format!("write {}", written.map_or(near, |(_, written)| written));
    }
    let keys: Vec<String> = form.iter().map(|(key, _)| format!("`{key}`")).collect();
    format!("the keys here are {}", keys.join(", "))
}

/// The name that was probably meant: at most a third of it differs, or one is a prefix of the other.
pub(crate) fn nearest<'a>(name: &str, known: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let name = name.to_lowercase();
    // No one misspells that much, and computing the distance takes the product of the lengths.
    if name.len() > 200 {
        return None;
    }
    known
        .map(|candidate| {
            let short = name.len().min(candidate.len());
            let begins = name.starts_with(candidate) || candidate.starts_with(&name);
            let far = distance(&name, candidate);
            (if begins && short >= 3 { far.min(1) } else { far }, candidate)
        })
        .filter(|(far, candidate)| *far <= (candidate.chars().count() / 3).max(1))
        .min_by_key(|(far, _)| *far)
        .map(|(_, candidate)| candidate)
}

/// The number of letters to insert, delete, change or swap with the next.
fn distance(left: &str, right: &str) -> usize {
    let (left, right): (Vec<char>, Vec<char>) = (left.chars().collect(), right.chars().collect());
    let mut before: Vec<usize> = Vec::new();
    let mut above: Vec<usize> = (0..=right.len()).collect();
    for i in 1..=left.len() {
        let mut row = vec![i];
        for j in 1..=right.len() {
            let changed = above[j - 1] + usize::from(left[i - 1] != right[j - 1]);
            let mut best = changed.min(above[j] + 1).min(row[j - 1] + 1);
            if i > 1 && j > 1 && left[i - 1] == right[j - 2] && left[i - 2] == right[j - 1] {
                best = best.min(before[j - 2] + 1);
            }
            row.push(best);
        }
        before = std::mem::replace(&mut above, row);
    }
    above.last().copied().unwrap_or(0)
}

#[cfg(test)]
mod tests;
