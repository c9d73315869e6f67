//! The section that names the policy's ledger: `[ledger]`, with its id and where it is.
//!
//! `demure` writes it when the policy gets its first ledger. Answers are keyed by the rest of the policy's text, so
//! naming the ledger invalidates none of them.

use super::problem::Notes;
use super::section::{Form, Section};
use super::template::quoted;
use super::{Mistake, Policy};
use demure_ledger::{Address, LedgerId};
use std::borrow::Cow;
use std::ops::Range;
use std::path::Path;
use toml::de::{DeTable, DeValue};

const LEDGER: Form = &[
    ("id", "`id = \"…\"`, the 32 digits that `demure` wrote"),
    ("at", "`at = \"clinic.ledger\"` or `at = \"postgres://user@host/database\"`"),
];

/// The comment above the section.
const COMMENT: &str =
    "# Where all that is spent is written down. Without this ledger nothing is answered.";

/// The policy's ledger.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LedgerPolicy {
    /// Its id.
    pub id: LedgerId,
    /// A file, relative to the policy's folder, or the address of a PostgreSQL server without
    /// a password.
    pub at: String,
    /// The bytes of the policy that contain the section.
    written: Range<usize>,
}

/// Reads the section, if there is one.
pub(super) fn read(
    document: &Section<'_, '_>,
    text: &str,
    notes: &mut Notes<'_>,
) -> Option<LedgerPolicy> {
    let (fields, at) = document.typed("ledger", notes, DeValue::as_table).ok()??;
    let section = Section::new("`[ledger]`".to_owned(), at, fields, LEDGER, notes);
    for key in ["id", "at"] {
        if section.get(key).is_none() {
            section.missing(key, notes);
        }
    }
    let id = section.text("id", notes).ok().flatten().and_then(|(given, at)| {
        let id = LedgerId::parse(given);
        if id.is_none() {
            notes.mistake(at, Mistake::LedgerId);
        }
        id
    });
    let (place, at) = section.text("at", notes).ok().flatten()?;
    if Address::is_one(place) {
        match Address::parse(place) {
            Err(_) => notes.mistake(at, Mistake::LedgerAddress),
            Ok(address) if address.has_password() => notes.mistake(at, Mistake::LedgerPassword),
            Ok(_) => {}
        }
    }
    let written = written(text, document.place("ledger").unwrap_or(text.len()));
    Some(LedgerPolicy { id: id?, at: place.to_owned(), written })
}

/// The lines of the section around its name, as [`with_ledger`] writes them; empty if it is written differently.
fn written(text: &str, name: usize) -> Range<usize> {
    let start = text.get(..name).and_then(|before| before.rfind('\n')).map_or(0, |at| at + 1);
    let line = |from: usize| {
        let rest = text.get(from..).unwrap_or_default();
        let length = rest.find('\n').map_or(rest.len(), |at| at + 1);
        (from + length, rest.get(..length).unwrap_or_default().trim())
    };
    let (mut end, heading) = line(start);
    if heading != "[ledger]" {
        return name..name;
    }
    let is_key = |line: &str| {
        let key = line.split('=').next().unwrap_or_default().trim();
        line.contains('=') && (key == "id" || key == "at")
    };
    while let (next, true) = (line(end).0, is_key(line(end).1)) {
        end = next;
    }
    let before = text.get(..start).unwrap_or_default();
    match before.strip_suffix('\n').and_then(|before| before.strip_suffix(COMMENT)) {
        Some(before) if before.is_empty() || before.ends_with('\n') => {
            let after_it = line(end);
            let blank = after_it.1.is_empty() && after_it.0 > end;
            before.len()..if blank { after_it.0 } else { end }
        }
        _ => start..end,
    }
}

/// The two lines for a steward to paste.
pub(crate) fn lines(id: &LedgerId, at: &str) -> String {
    format!("[ledger]\nid = \"{id}\"\nat = {}\n", quoted(at))
}

/// The text of the policy, changed to name this ledger and no other; `None` if the policy is written in a way that
/// does not allow it.
///
/// The section goes before the first other section, where no one adds lines by mistake, or to the end, if it would
/// otherwise change the policy's meaning.
#[must_use]
pub fn with_ledger(policy: &Policy, id: &LedgerId, at: &str) -> Option<String> {
    let own = policy.text_without_ledger();
    let section = format!("{COMMENT}\n{}\n", lines(id, at));
    let same = |text: &String| {
        Policy::parse(text, Path::new("")).is_ok_and(|read| {
            read.budget == policy.budget
                && read.tables == policy.tables
                && read.ledger.is_some_and(|named| named.id == *id && named.at == at)
        })
    };
    // The text as it is, or without a ledger that is written differently.
    let texts = [own.clone().into_owned(), without_keys(&own), without_heading(&own)];
    let candidates = texts.into_iter().flat_map(|text| {
        let first =
            text.starts_with('[').then_some(0).or_else(|| text.find("\n[").map(|at| at + 1));
        let inserted = first.map(|first| {
            let (before, after) = text.split_at(first);
            format!("{before}{section}{after}")
        });
        let end = if text.is_empty() || text.ends_with('\n') { "" } else { "\n" };
        inserted.into_iter().chain(std::iter::once(format!("{text}{end}{section}")))
    });
    candidates.into_iter().find(same)
}

/// Removes lines like `ledger = { … }` and `ledger.id = …`.
fn without_keys(text: &str) -> String {
    let is_key = |line: &str| {
        let rest = line.trim_start().strip_prefix("ledger").map(str::trim_start);
        rest.is_some_and(|rest| rest.starts_with(['=', '.']))
    };
    text.split_inclusive('\n').filter(|line| !is_key(line)).collect()
}

/// Removes the heading and the keys of a section that is written like `[ ledger ]`. Comments stay.
fn without_heading(text: &str) -> String {
    let mut inside = false;
    let mut kept = String::new();
    for line in text.split_inclusive('\n') {
        let mut own = inside
            && line
                .split('=')
                .next()
                .is_some_and(|key| line.contains('=') && ["id", "at"].contains(&key.trim()));
        if let Some(heading) = line.trim_start().strip_prefix('[') {
            let name = heading.split(']').next().unwrap_or_default();
            inside = name.trim().trim_matches(['"', '\'']) == "ledger";
            own = inside;
        }
        if !own {
            kept.push_str(line);
        }
    }
    kept
}

/// The same for a text that a steward must complete before it is a policy.
#[must_use]
pub fn with_ledger_in(text: &str, id: &LedgerId, at: &str) -> String {
    let section = format!("{COMMENT}\n{}\n", lines(id, at));
    let first = text.starts_with('[').then_some(0).or_else(|| text.find("\n[").map(|at| at + 1));
    let (before, after) = text.split_at(first.unwrap_or(text.len()));
    let end = if before.is_empty() || before.ends_with('\n') { "" } else { "\n" };
    format!("{before}{end}{section}{after}")
}

/// The ledger that a text names, even if it is not a policy yet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Named {
    /// None.
    Nothing,
    /// The one of this id, and where it is.
    Ledger(LedgerId, String),
    /// Unknown: the text is not TOML, or its `ledger` is not as `demure` writes it.
    Unreadable,
}

impl Named {
    /// Reads it from a text.
    #[must_use]
    pub fn in_text(text: &str) -> Self {
        let Ok(document) = DeTable::parse(text) else { return Self::Unreadable };
        let Some(ledger) = document.get_ref().get("ledger") else { return Self::Nothing };
        let field = |key: &str| ledger.get_ref().as_table()?.get(key)?.get_ref().as_str();
        match (field("id").and_then(LedgerId::parse), field("at")) {
            (Some(id), Some(at)) => Self::Ledger(id, at.to_owned()),
            _ => Self::Unreadable,
        }
    }
}

impl Policy {
    /// The policy as written, without the section that names its ledger.
    #[must_use]
    pub fn text_without_ledger(&self) -> Cow<'_, str> {
        match &self.ledger {
            Some(LedgerPolicy { written, .. }) if !written.is_empty() => {
                let before = self.text.get(..written.start).unwrap_or_default();
                let after = self.text.get(written.end..).unwrap_or_default();
                Cow::Owned(format!("{before}{after}"))
            }
            _ => Cow::Borrowed(&self.text),
        }
    }
}

#[cfg(test)]
mod tests;
