//! A policy that is overwritten, and its ledger, which stays.

use crate::Failure;
use demure_curator::policy::{LedgerPolicy, Policy};
use demure_ledger::Ledger;
use std::path::Path;

/// What is there already.
pub(super) struct Previous {
    pub(super) ledger: Ledger,
    /// How the policy names it.
    pub(super) named: LedgerPolicy,
}

impl Previous {
    /// The policy that is at `output`, if that is one. Its units are written into its ledger,
    /// so that another unit in the policy that comes is noticed.
    pub(super) fn read(output: Option<&Path>) -> Result<Option<Self>, Failure> {
        let Some(path) = output.filter(|path| path.is_file()) else { return Ok(None) };
        if let Err(error) = Policy::read(path) {
            let names = std::fs::read_to_string(path).is_ok_and(|text| text.contains("[ledger]"));
            return match names {
                true => Err(Failure::usage(format!(
                    "the policy that is there names its ledger and cannot be read\n{error}\n\
                     hint: correct it first, or move it away and keep its [ledger]"
                ))),
                false => Ok(None),
            };
        }
        let (policy, ledger) = demure_curator::ledger_of(path)?;
        Ok(policy.ledger.map(|named| Self { ledger, named }))
    }
}
