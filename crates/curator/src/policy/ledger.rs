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
mod tests {
    use super::*;

    const POLICY: &str = "# A clinic.\n\n[budget]\nepsilon = 1.0\n\n[tables.t]\n\
                          source = \"t.csv\"\nunit = \"row\"\n";

    fn parse(text: &str) -> Policy {
        Policy::parse(text, Path::new("")).unwrap()
    }

    #[test]
    fn a_policy_is_the_same_but_for_its_ledger() {
        let id = LedgerId::parse(&"0a".repeat(16)).unwrap();
        let bare = POLICY.trim_end().to_owned();
        let headless =
            "budget.epsilon = 1.0\ntables = { t = { source = \"t.csv\", unit = \"row\" } }\n";
        for text in [POLICY, bare.as_str(), POLICY.trim_start_matches("# A clinic.\n\n"), headless]
        {
            let named = with_ledger(&parse(text), &id, "odd \"name\".ledger").unwrap();
            let policy = parse(&named);
            let ledger = policy.ledger.clone().unwrap();
            assert_eq!((ledger.id, ledger.at.as_str()), (id.clone(), "odd \"name\".ledger"));
            assert_eq!((policy.budget, &policy.tables), (parse(text).budget, &parse(text).tables));
            assert_eq!(policy.text_without_ledger().trim_end(), text.trim_end(), "{named}");
            // A different ledger later.
            let other = LedgerId::random().unwrap();
            let again = with_ledger(&policy, &other, "t.2.ledger").unwrap();
            assert_eq!(again.matches("[ledger]").count(), 1, "{again}");
            assert_eq!(parse(&again).text_without_ledger(), policy.text_without_ledger());
        }
        // Equal to the byte, if the section goes before another.
        let named = with_ledger(&parse(POLICY), &id, "x").unwrap();
        assert_eq!(parse(&named).text_without_ledger(), POLICY);
        // As a steward may have pasted it.
        let pasted = format!("{POLICY}[ledger]\nat='x'\nid = '{id}' # mine\n");
        assert_eq!(parse(&pasted).text_without_ledger(), POLICY);
    }

    #[test]
    fn a_ledger_that_is_written_in_another_way_is_replaced_too() {
        let (id, next) = ("0a".repeat(16), LedgerId::parse(&"0b".repeat(16)).unwrap());
        for text in [
            format!("ledger = {{ id = \"{id}\", at = \"x\" }} # mine\n{POLICY}"),
            format!("ledger.id = \"{id}\"\nledger . at = \"x\"\n{POLICY}"),
            format!("{POLICY}\n[ ledger ]\nid = \"{id}\"\n\nat = \"x\"\n"),
            format!("[\"ledger\"]\nid = \"{id}\"\nat = \"x\"\n\n{POLICY}"),
        ] {
            let policy = parse(&text);
            let named = with_ledger(&policy, &next, "y").unwrap();
            let read = parse(&named);
            assert_eq!((read.budget, &read.tables), (policy.budget, &policy.tables), "{named}");
            assert_eq!(read.ledger.unwrap().id, next);
            assert!(!named.contains(&id) && named.contains("# A clinic."), "{named}");
        }
        // A rewrite that is impossible is not attempted.
        let odd = format!("\"ledger\" = {{ id = \"{id}\", at = \"x\" }}\n{POLICY}");
        assert_eq!(with_ledger(&parse(&odd), &next, "y"), None);
    }

    #[test]
    fn a_text_that_is_no_policy_yet_keeps_its_ledger() {
        let id = LedgerId::parse(&"0a".repeat(16)).unwrap();
        for text in ["", "# Complete me.\n", "[budget]\nepsilon = 1.0\n", "# x\n[tables.t]"] {
            let named = with_ledger_in(text, &id, "x y.ledger");
            let own = Named::Ledger(id.clone(), "x y.ledger".to_owned());
            assert_eq!(Named::in_text(&named), own, "{named}");
            assert_eq!(Named::in_text(text), Named::Nothing);
        }
        let (good, at) = (format!("id = '{id}'"), "at = 'x'");
        for (text, known) in [
            (format!("ledger = {{ {good}, {at} }}"), true),
            (format!("[ ledger ]\n{good}\n{at}\n[[[ "), false),
            (format!("ledger.{at}"), false),
            (format!("[ledger]\nid = '12'\n{at}"), false),
            ("ledger = 1".to_owned(), false),
            ("not toml".to_owned(), false),
        ] {
            assert_eq!(Named::in_text(&text) != Named::Unreadable, known, "{text}");
        }
    }

    #[test]
    fn mistakes_are_told_with_what_to_write() {
        let id = "0a".repeat(16);
        for (lines, says) in [
            ("id = \"12\"\nat = \"x\"".to_owned(), "`id` in `[ledger]` is not 32"),
            (format!("id = \"{id}\""), "`[ledger]` has no `at`"),
            ("at = \"x\"".to_owned(), "`[ledger]` has no `id`"),
            (format!("id = \"{id}\"\nat = 1"), "`at` in `[ledger]` is a whole number"),
            (format!("id = \"{id}\"\nat = \"postgres://a:b@h/d\""), "password"),
            (format!("id = \"{id}\"\nat = \"postgres://h:x/d\""), "cannot be read"),
            (format!("id = \"{id}\"\nat = \"x\"\nage = 1"), "unknown key `age`"),
        ] {
            let text = format!("{POLICY}[ledger]\n{lines}\n");
            let error = Policy::parse(&text, Path::new("")).unwrap_err().to_string();
            assert!(error.contains(says), "{lines}\n{error}");
        }
    }
}
