//! Replaces a policy's ledger. The old one is closed first, or must be shown to be unusable; if neither is possible,
//! nothing is changed.
//!
//! | the old ledger | what happens |
//! |---|---|
//! | opens | it is closed |
//! | is gone, empty, broken or has another id | a new one is created; the record says why the old one was not closed |
//! | was replaced before | refused, with the name of its replacement |
//! | cannot be reached, locked, read or written | refused, before anything is changed |
//! | is not named in the policy | every ledger next to the policy is closed |

use crate::error::{Error, Result};
use crate::identity::beside;
use crate::identity::{address, charter, in_folder, name, shared, stem, turn, unwritable};
use crate::policy::{LedgerPolicy, Policy, rewritable, with_ledger};
use demure_ledger::{
    Address, Anchor, Charter, Error as Fault, Ledger, LedgerId, Place, Successor, wall_clock,
};
use std::path::Path;

/// A ledger that has replaced another.
#[derive(Debug)]
pub struct NewLedger {
    /// The new ledger.
    pub ledger: Ledger,
    /// Where it is, as written in the policy.
    pub at: String,
    /// What it replaces, in words.
    pub replaces: String,
}

/// Replaces a policy's ledger by one with a full budget, and records in it which ledger it replaces. The old one stays
/// where it is and is closed, unless it is gone or broken. `announce` receives a description of what will be replaced
/// before that happens.
pub fn new_ledger(
    path: &Path,
    by: &str,
    why: &str,
    announce: impl FnOnce(&str) -> Result<()>,
) -> Result<NewLedger> {
    let path = Policy::real_path(path);
    let _turn = turn(&path);
    let policy = Policy::read(&path)?;
    let place = match (shared()?, &policy.ledger) {
        (Some(address), _) => Place::Server(address),
        (None, Some(named)) if Address::is_one(&named.at) => {
            Place::Server(Address::parse(&named.at)?)
        }
        _ => Place::File(beside::unused(&path)?),
    };
    let at = address(&place)?;
    can_name(&path, &policy, &at)?;
    let charter = Charter { by: by.to_owned(), ..charter(&policy, &stem(&path)) };
    let Old { closing, mut replaces } = match &policy.ledger {
        Some(named) => Old::named(&path, named)?,
        None => Old::unnamed(&path, &place, &charter)?,
    };
    if !why.is_empty() {
        replaces = format!("{replaces}; {why}");
    }
    announce(&replaces)?;
    let from = format!("replaces {replaces}");
    let (ledger, id) = Ledger::create(&place, &charter, &from, wall_clock())?;
    let note = if why.is_empty() { format!("at {at}") } else { format!("at {at}: {why}") };
    for (closed, old) in closing.iter().enumerate() {
        let closing = old.replace_with(Successor::new(&id.to_string(), &note, by));
        if let Err(error) = closing {
            // A closed ledger names the new one, which must stay then.
            if closed == 0 {
                discard(ledger, &place, &error, by);
            }
            return Err(error.into());
        }
    }
    name(&path, &id, &at)?;
    Ok(NewLedger { ledger, at, replaces })
}

/// Refuses a policy that cannot be made to name another ledger.
fn can_name(path: &Path, policy: &Policy, at: &str) -> Result<()> {
    with_ledger(policy, &LedgerId::random()?, at).ok_or_else(|| unwritable(path))?;
    rewritable(path)
        .map_err(|error| Error::PolicyFixed { path: path.to_owned(), reason: error.to_string() })
}

/// The ledgers to be replaced.
struct Old {
    /// The ledgers that can be closed.
    closing: Vec<Ledger>,
    /// All of them, in words.
    replaces: String,
}

impl Old {
    /// The ledger that the policy names.
    fn named(path: &Path, named: &LedgerPolicy) -> Result<Self> {
        let place = old_place(path, &named.at)?;
        let what = format!("ledger {} at {}", named.id, named.at);
        match Ledger::open_to_replace(&place, &named.id, wall_clock()) {
            Ok(old) => {
                let end = old.anchor()?;
                Ok(Self { closing: vec![old], replaces: format!("{what}, which ended with {end}") })
            }
            Err(error) if error.is_gone_or_broken() => {
                let end = match Ledger::end_of(&place, &named.id) {
                    Ok((seq, hash)) => Anchor { seq: Some(seq), hash }.to_string(),
                    Err(error) if error.is_gone_or_broken() => {
                        "an end that cannot be read".to_owned()
                    }
                    Err(error) => return Err(cannot_close(&named.at, error)),
                };
                let because = brief(&error);
                let replaces =
                    format!("{what}, which ended with {end} and was not closed ({because})");
                Ok(Self { closing: Vec::new(), replaces })
            }
            Err(error) => Err(cannot_close(&named.at, error)),
        }
    }

    /// The ledgers that a policy which names none may have spent from: all those next to it. On a server, a ledger's
    /// owner cannot be determined; one that may be the policy's is recorded.
    fn unnamed(path: &Path, place: &Place, charter: &Charter) -> Result<Self> {
        let (mut closing, mut words) = (Vec::new(), Vec::new());
        for ledger in beside::ledgers(path)? {
            let at = ledger.file_name().unwrap_or_default().to_string_lossy().into_owned();
            match Ledger::in_use_in(&ledger, &stem(path), &wall_clock()) {
                Ok(found) => {
                    for old in found {
                        let id = old
                            .id()
                            .map_or_else(|| "without an id".to_owned(), |id| id.to_string());
                        words.push(format!(
                            "ledger {id} at {at}, which ended with {}",
                            old.anchor()?
                        ));
                        closing.push(old);
                    }
                }
                Err(error) if error.is_gone_or_broken() => {
                    let because = brief(&error);
                    words.push(format!("what was at {at} and was not closed ({because})"));
                }
                Err(error) => return Err(cannot_close(&at, error)),
            }
        }
        if let Some(id) = Ledger::claimed(place, charter)? {
            let at = address(place)?;
            words.push(format!("perhaps ledger {id} at {at}, which was not closed"));
        }
        let replaces = match words.is_empty() {
            true => "the ledger that the policy had, if it had one".to_owned(),
            false => words.join("; "),
        };
        Ok(Self { closing, replaces })
    }
}

/// The place of the policy's old ledger, whatever the environment says about the new one.
fn old_place(path: &Path, at: &str) -> Result<Place> {
    if !Address::is_one(at) {
        return Ok(Place::File(in_folder(path, at)));
    }
    let named = Address::parse(at)?;
    Ok(Place::Server(match shared()? {
        // The same database, with the user and password in the environment.
        Some(given) if given.same_database(&named)? => given,
        _ => named,
    }))
}

fn cannot_close(at: &str, source: Fault) -> Error {
    match source {
        replaced @ Fault::Replaced(_) => replaced.into(),
        source => Error::CannotClose { at: at.to_owned(), source: Box::new(source) },
    }
}

/// The error without its remedy.
fn brief(error: &Fault) -> String {
    let text = error.to_string();
    text.split_once("; ").map_or(text.as_str(), |(what, _)| what).to_owned()
}

/// Removes a new ledger that no policy names and nothing was spent from.
fn discard(ledger: Ledger, place: &Place, because: &Fault, by: &str) {
    match place {
        Place::File(path) => {
            drop(ledger);
            beside::remove(path);
        }
        Place::Server(_) => {
            let instead = match because {
                Fault::Replaced(first) => first.id.clone(),
                _ => String::new(),
            };
            // If this fails, there is one more ledger that no policy names.
            let _ = ledger.replace_with(Successor::new(&instead, "made in vain", by));
        }
    }
}
