//! A policy that is overwritten, and its ledger, which stays.

use crate::Failure;
use demure_curator::policy::{Named, Policy};
use demure_ledger::{Ledger, LedgerId};
use std::path::Path;
use toml::de::DeTable;

/// What is there already.
pub(super) struct Previous {
    /// None where the policy is not complete: it names a ledger that cannot be opened by it.
    pub(super) ledger: Option<Ledger>,
    /// The id of its ledger, and where that is.
    pub(super) named: (LedgerId, String),
}

impl Previous {
    /// The policy that is at `output`, if that is one.
    pub(super) fn read(output: Option<&Path>) -> Result<Option<Self>, Failure> {
        let Some(path) = output.filter(|path| path.is_file()) else { return Ok(None) };
        if let Err(error) = Policy::read(path) {
            eprintln!("note: the policy that is there has mistakes\n{error}");
            return Ok(named(path)?.map(|named| Self { ledger: None, named }));
        }
        let (policy, ledger) = demure_curator::ledger_of(path)?;
        Ok(policy.ledger.map(|named| Self { ledger: Some(ledger), named: (named.id, named.at) }))
    }
}

/// The ledger that a file names, however much else is wrong with it: that must not get lost.
pub(super) fn named(path: &Path) -> Result<Option<(LedgerId, String)>, Failure> {
    let text = std::fs::read_to_string(path);
    match text.map_or(Named::Unreadable, |text| Named::in_text(&text)) {
        Named::Nothing => Ok(None),
        Named::Ledger(id, at) => Ok(Some((id, at))),
        Named::Unreadable => Err(Failure::usage(
            "the file that is there cannot be read as a policy, and may name its ledger\n\
             hint: correct it first, or move it away and copy its [ledger] into the new one",
        )),
    }
}

/// What the `[budget]` of the file at `output` says, a line for each key: the limit is the
/// steward's, and another template does not raise it.
pub(super) fn budget(output: Option<&Path>) -> Vec<String> {
    let Some(text) = output.filter(|path| path.is_file()).map(std::fs::read_to_string) else {
        return Vec::new();
    };
    let text = text.unwrap_or_default();
    let Ok(document) = DeTable::parse(&text) else { return Vec::new() };
    let budget = document.get_ref().get("budget").and_then(|value| value.get_ref().as_table());
    let keys = budget.into_iter().flatten();
    keys.filter_map(|(key, value)| Some(format!("{} = {}", key.get_ref(), text.get(value.span())?)))
        .collect()
}

/// A policy with these lines as its `[budget]`.
pub(super) fn with_budget(text: &str, lines: &[String]) -> String {
    let heading = "\n[budget]\n";
    let Some((before, rest)) = text.split_once(heading).filter(|_| !lines.is_empty()) else {
        return text.to_owned();
    };
    let after = rest.split_once("\n\n").map_or("", |(_, after)| after);
    let lines = lines.join("\n");
    format!("{before}{heading}# As in the policy that was here before.\n{lines}\n\n{after}")
}
