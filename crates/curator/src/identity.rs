//! Which ledger is a policy's: found by the id that the policy names, and by nothing else.
//!
//! A policy without an id gets one with its first ledger: the ledger is made, or the one beside
//! the policy is adopted, then the policy is rewritten to name it, and only then is anything
//! debited. From then on a ledger that is missing, empty, another's or elsewhere is refused.
//!
//! | `DEMURE_LEDGER` | the policy says | |
//! |---|---|---|
//! | unset | a file, or a server | opened |
//! | set | the same server and database | opened, with that user and password |
//! | set | something else | refused |
//! | set | nothing yet | the first ledger is there, unless there is one beside the policy |

use crate::error::{Error, Result};
use crate::policy::{self, Policy, TablePolicy, UnitPolicy, with_ledger};
use demure_ledger::{
    Accounting, Address, Anchor, Charter, Ledger, LedgerId, Limit, Place, Unit, access, wall_clock,
};
use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};

/// The environment variable with the address of a PostgreSQL ledger that several curators share.
pub const SHARED_LEDGER: &str = "DEMURE_LEDGER";

/// Where the first ledger of a policy is kept: beside it.
#[must_use]
pub fn ledger_path(policy: &Path) -> PathBuf {
    Policy::real_path(policy).with_extension("ledger")
}

/// Opens the ledger of a policy without its sources. A policy that has had none gets one.
pub fn ledger_of(path: &Path) -> Result<(Policy, Ledger)> {
    let (given, path) = (path, Policy::real_path(path));
    let policy = Policy::read(&path)?;
    let (mut policy, ledger) = match policy.ledger.is_some() {
        true => {
            let ledger = own(&path, &policy)?;
            (policy, ledger)
        }
        false => first(&path)?,
    };
    let beside = given.with_extension("ledger");
    let real = |ledger: &Path| ledger.canonicalize().ok();
    if given.is_symlink() && beside.exists() && real(&beside) != real(&ledger_path(&path)) {
        policy.warnings.push(format!(
            "{}: a ledger beside a link to a policy is not used any more; what was spent from it \
             adds to what is spent from the policy's own",
            beside.display()
        ));
    }
    Ok((policy, ledger))
}

/// The same; the ledger must hold the entry that was noted elsewhere.
pub fn ledger_expecting(path: &Path, head: Option<&Anchor>) -> Result<(Policy, Ledger)> {
    let (policy, ledger) = ledger_of(path)?;
    if let Some(head) = head {
        ledger.expect(head)?;
    }
    Ok((policy, ledger))
}

/// A ledger that took the place of another.
#[derive(Debug)]
pub struct NewLedger {
    /// The new one.
    pub ledger: Ledger,
    /// Where it is, as the policy says it.
    pub at: String,
    /// What it replaces, in words.
    pub replaces: String,
}

/// Gives a policy another ledger, with a full budget, and notes in it whose place it takes.
/// The old one stays where it is. `announce` is told what will be replaced before it is done.
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
        _ => Place::File(unused(&path)),
    };
    let mut replaces = match &policy.ledger {
        None => "the ledger that the policy had, if it had one".to_owned(),
        Some(named) => {
            // A file is looked for where it was, whatever the environment says of the new one.
            let old = match Address::is_one(&named.at) {
                true => place_of(&path, &named.at),
                false => Ok(Place::File(in_folder(&path, &named.at))),
            };
            let end = old.and_then(|old| Ok(Ledger::end_of(&old, &named.id)?));
            let end = match end {
                Ok((seq, hash)) => Anchor { seq: Some(seq), hash }.to_string(),
                Err(_) => "an end that cannot be read".to_owned(),
            };
            format!("ledger {} at {}, which ended with {end}", named.id, named.at)
        }
    };
    if !why.is_empty() {
        replaces = format!("{replaces}; {why}");
    }
    announce(&replaces)?;
    let charter = Charter { by: by.to_owned(), ..charter(&policy) };
    let why = format!("replaces {replaces}");
    let (ledger, id) = Ledger::create(&place, &charter, &why, wall_clock())?;
    let at = address(&place)?;
    name(&path, &id, &at)?;
    Ok(NewLedger { ledger, at, replaces })
}

/// Does the ledger allow what this policy says of units? Nothing is written.
pub fn fits(policy: &Policy, ledger: &Ledger) -> Result<()> {
    Ok(ledger.fits(&charter(policy))?)
}

/// The budget of a policy.
pub(crate) fn limit(policy: &Policy) -> Limit {
    Limit {
        accounting: match policy.budget.accounting {
            policy::Accounting::Pure => Accounting::Pure,
            policy::Accounting::Zcdp => Accounting::Zcdp,
        },
        epsilon: policy.budget.epsilon,
        delta: policy.budget.delta,
        neighbours: policy.budget.neighbours,
    }
}

/// What the ledger of a policy is for.
fn charter(policy: &Policy) -> Charter {
    let units = policy.tables.iter().filter_map(|table| {
        let unit = unit(policy, table)?;
        Some(Unit { table: table.name.clone(), unit, source: table.source.clone() })
    });
    Charter { limit: limit(policy), units: units.collect(), by: String::new() }
}

/// The unit of a table with every table that it is found through; none for a public table.
fn unit(policy: &Policy, table: &TablePolicy) -> Option<String> {
    Some(match &table.protection()?.unit {
        UnitPolicy::Row => "row".to_owned(),
        UnitPolicy::Column(column) => format!("{column:?}"),
        UnitPolicy::Via { column, table, key } => {
            let parent = policy.table(table).and_then(|parent| unit(policy, parent));
            format!("{column:?} -> {table}.{key:?} -> {}", parent.unwrap_or_default())
        }
    })
}

/// The address in the environment.
fn shared() -> Result<Option<Address>> {
    match std::env::var(SHARED_LEDGER) {
        Ok(address) if !address.is_empty() => Ok(Some(Address::parse(&address)?)),
        _ => Ok(None),
    }
}

/// A file that a policy names: relative to the policy's folder.
fn in_folder(policy: &Path, at: &str) -> PathBuf {
    policy.parent().unwrap_or(Path::new("")).join(at)
}

/// Where a policy says that its ledger is, unless the environment says otherwise.
fn place_of(path: &Path, at: &str) -> Result<Place> {
    let elsewhere = |environment: &Address| -> Result<Place> {
        let environment = environment.without_password()?;
        Err(Error::OtherPlace { policy: at.to_owned(), environment })
    };
    let environment = shared()?;
    if !Address::is_one(at) {
        let file = Place::File(in_folder(path, at));
        return environment.as_ref().map_or(Ok(file), elsewhere);
    }
    let named = Address::parse(at)?;
    match environment {
        None => Ok(Place::Server(named)),
        Some(given) if given.same_database(&named)? => Ok(Place::Server(given)),
        Some(given) => elsewhere(&given),
    }
}

/// The ledger that the policy names.
fn own(path: &Path, policy: &Policy) -> Result<Ledger> {
    let Some(named) = &policy.ledger else { return Ok(first(path)?.1) };
    let place = place_of(path, &named.at)?;
    Ok(Ledger::open_own(&place, &named.id, &charter(policy), wall_clock())?)
}

/// The first ledger of a policy, which names it afterwards.
fn first(path: &Path) -> Result<(Policy, Ledger)> {
    let _turn = turn(path);
    // Somebody may have been faster.
    let policy = Policy::read(path)?;
    if policy.ledger.is_some() {
        let ledger = own(path, &policy)?;
        return Ok((policy, ledger));
    }
    let beside = ledger_path(path);
    let place = match shared()? {
        None => Place::File(beside),
        Some(address) if beside.symlink_metadata().is_ok() => {
            let (policy, environment) = (beside.display().to_string(), address.without_password()?);
            return Err(Error::OtherPlace { policy, environment });
        }
        Some(address) => Place::Server(address),
    };
    // What its journal was called before ledgers had ids.
    let stem = path.file_stem().unwrap_or_default().to_string_lossy();
    let (charter, clock) = (charter(&policy), wall_clock());
    let (ledger, id, was_exposed) = match Ledger::adopt(&place, &stem, &charter, clock.clone())? {
        Some(found) => (found.ledger, found.id, found.was_exposed),
        None => {
            let (ledger, id) = Ledger::create(&place, &charter, "the policy's first", clock)?;
            (ledger, id, false)
        }
    };
    let mut policy = name(path, &id, &address(&place)?)?;
    if was_exposed {
        policy.warnings.push(
            "others could read the ledger, with the answers in it, until now; only its owner can \
             from now on"
                .to_owned(),
        );
    }
    Ok((policy, ledger))
}

/// How a policy writes a place down. A file is in the policy's own folder.
fn address(place: &Place) -> Result<String> {
    Ok(match place {
        Place::File(path) => path.file_name().unwrap_or_default().to_string_lossy().into_owned(),
        Place::Server(address) => address.without_password()?,
    })
}

/// Writes into the policy which ledger is its own, and returns when that is on disk. Owner, mode
/// and comments stay.
fn name(path: &Path, id: &LedgerId, at: &str) -> Result<Policy> {
    let text = with_ledger(&Policy::read(path)?, id, at);
    replace(path, &text).map_err(|source| Error::PolicyUnwritable {
        path: path.to_owned(),
        lines: policy::ledger_lines(id, at),
        source,
    })?;
    Ok(Policy::read(path)?)
}

/// Puts another text into a file, which is the old one or the new one at every moment.
fn replace(path: &Path, text: &str) -> std::io::Result<()> {
    let file = path.file_name().unwrap_or_default().to_string_lossy();
    let begun = path.with_file_name(format!(".{file}.{}.part", std::process::id()));
    let _ = std::fs::remove_file(&begun);
    let write = || -> std::io::Result<()> {
        let mode = std::fs::metadata(path)?.permissions();
        if mode.readonly() {
            return Err(std::io::ErrorKind::PermissionDenied.into());
        }
        let mut to = access::create(&begun)?;
        to.write_all(text.as_bytes())?;
        to.set_permissions(mode)?;
        access::give_to_owner_of(path, &to);
        to.sync_all()?;
        std::fs::rename(&begun, path)?;
        access::sync_folder(path)
    };
    write().inspect_err(|_| {
        // It may not exist; what went wrong first is what matters.
        let _ = std::fs::remove_file(&begun);
    })
}

/// Waits until nobody else gives the policy a ledger. Where files cannot be locked nobody waits.
fn turn(path: &Path) -> Option<File> {
    let file = File::open(path).ok()?;
    file.lock().ok()?;
    Some(file)
}

/// A name for another ledger, of which nothing is there: `clinic.2.ledger`.
fn unused(policy: &Path) -> PathBuf {
    let numbered = (2u32..).map(|number| policy.with_extension(format!("{number}.ledger")));
    let first = std::iter::once(ledger_path(policy)).chain(numbered);
    let taken = |path: &PathBuf| {
        ["", "-wal", "-shm", "-head"].iter().any(|suffix| {
            let mut part = path.as_os_str().to_owned();
            part.push(suffix);
            PathBuf::from(part).symlink_metadata().is_ok()
        })
    };
    let mut free = first.skip_while(taken);
    free.next().unwrap_or_else(|| ledger_path(policy))
}
