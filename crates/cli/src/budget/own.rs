//! Which ledger is the policy's: another one, and the head for keeping elsewhere.

use super::failed;
use crate::Failure;
use demure_ledger::Ledger;
use demure_report::Report;
use demure_server::{Users, users_path};
use std::io::Write;
use std::path::Path;
use std::sync::Arc;
use std::time::SystemTime;

/// The last entry, on a line of its own.
pub(super) fn anchor(ledger: &Ledger, json: bool, out: &mut impl Write) -> Result<(), Failure> {
    let anchor = ledger.anchor().map_err(failed)?.to_string();
    if !json {
        return writeln!(out, "{anchor}").map_err(Failure::writing);
    }
    let id = ledger.id().map(ToString::to_string);
    Ok(Report::default().field("ledger", id).field("head", anchor).print(true, out)?)
}

/// Another ledger for the policy, if that is really wanted.
pub(super) fn renew(
    policy: &Path,
    sure: bool,
    by: &str,
    why: &str,
    json: bool,
    out: &mut impl Write,
) -> Result<(), Failure> {
    if !sure {
        return Err(Failure::usage(
            "a new ledger is a second full budget for the same people: what was spent from the old \
             one still happened, and the guarantee is that of both together\n\
             hint: if that is what you want, say --new-ledger",
        ));
    }
    let record = |replaces: &str| {
        let users = Users::open(&users_path(policy), Arc::new(SystemTime::now));
        let noted = users.and_then(|users| users.note(by, "new-ledger", replaces));
        noted.map_err(|error| demure_curator::Error::Record(error.to_string()))
    };
    let new = demure_curator::new_ledger(policy, by, why, record)?;
    note!("note: a server that runs answers no new question until it is started again");
    let id = new.ledger.id().map(ToString::to_string);
    Ok(Report::default()
        .field("ledger", id.unwrap_or_default())
        .field("at", new.at)
        .field("replaces", new.replaces)
        .print(json, out)?)
}
