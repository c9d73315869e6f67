//! A policy that is overwritten, and its ledger, which stays.

use super::{Note, ProposeError};
use crate::identity::ledger_of;
use crate::policy::{Declared, Named, Policy, bought_before};
use demure_ledger::{Ledger, LedgerId};
use std::path::Path;

/// What is there already.
pub(super) struct Previous {
    /// None where the policy is not complete: it names a ledger that cannot be opened by it.
    pub(super) ledger: Option<Ledger>,
    /// The id of its ledger, and where that is.
    pub(super) named: (LedgerId, String),
    /// Bounds that were bought for it.
    pub(super) bought: Vec<Declared>,
}

impl Previous {
    /// The policy that is at `output`, if that is one.
    pub(super) fn read(
        output: Option<&Path>,
        note: Note<'_>,
    ) -> Result<Option<Self>, ProposeError> {
        let Some(path) = output.filter(|path| path.is_file()) else { return Ok(None) };
        let bought = bought_before(&std::fs::read_to_string(path).unwrap_or_default());
        if let Err(error) = Policy::read(path) {
            note(&format!("note: the policy that is there has mistakes\n{error}"));
            return Ok(named(path)?.map(|named| Self {
                ledger: None,
                named,
                bought: bought.clone(),
            }));
        }
        let (policy, ledger) = ledger_of(path)?;
        Ok(policy.ledger.map(|named| Self {
            ledger: Some(ledger),
            named: (named.id, named.at),
            bought,
        }))
    }
}

/// The ledger that a file names, however much else is wrong with it: that must not get lost.
pub(super) fn named(path: &Path) -> Result<Option<(LedgerId, String)>, ProposeError> {
    let text = std::fs::read_to_string(path);
    match text.map_or(Named::Unreadable, |text| Named::in_text(&text)) {
        Named::Nothing => Ok(None),
        Named::Ledger(id, at) => Ok(Some((id, at))),
        Named::Unreadable => Err(ProposeError::Options(
            "the file that is there cannot be read as a policy, and may name its ledger\n\
             hint: correct it first, or move it away and copy its [ledger] into the new one"
                .to_owned(),
        )),
    }
}
