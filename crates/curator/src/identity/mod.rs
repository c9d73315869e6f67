//! Finds a policy's ledger by the id that the policy names, and by nothing else.
//!
//! A policy without an id gets one with its first ledger: the ledger is created, or the one next to the policy is
//! adopted, then the policy is rewritten to name it, and only then is anything debited. From then on, a ledger that is
//! missing, empty, in another place or has another id is refused. A policy that lost its `[ledger]` section does not
//! get a second ledger if there are traces of the first: a file next to the policy, or a journal on the server with
//! its name or one of its sources.
//!
//! | `DEMURE_LEDGER` | the policy says | |
//! |---|---|---|
//! | unset | a file, or a server | opened |
//! | set | the same server and database | opened, with that user and password |
//! | set | something else | refused |
//! | set | nothing yet | the first ledger is created there, unless there is one next to the policy |

pub(crate) mod beside;
pub(crate) mod files;
pub(crate) mod renew;
pub(crate) mod spelling;

use crate::error::{Error, Result};
use crate::identity::beside::ledger_path;
use crate::identity::spelling::{files, sources};
use crate::policy::{self, Policy, TablePolicy, UnitPolicy, rewrite, with_ledger};
use demure_ledger::{
    Accounting, Address, Anchor, Charter, Ledger, LedgerId, Limit, Place, PublicTable, Unit,
    wall_clock,
};
use std::fs::File;
use std::path::{Path, PathBuf};

/// The environment variable that holds the address of a PostgreSQL ledger shared by several curators.
pub const SHARED_LEDGER: &str = "DEMURE_LEDGER";

/// Opens a policy's ledger without its sources. A policy that never had a ledger gets one. Its units are checked but
/// not recorded, because its sources may be missing.
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

/// The same; the ledger must contain the entry that was noted elsewhere.
pub fn ledger_expecting(path: &Path, head: Option<&Anchor>) -> Result<(Policy, Ledger)> {
    let (policy, ledger) = ledger_of(path)?;
    if let Some(head) = head {
        ledger.expect(head)?;
    }
    Ok((policy, ledger))
}

/// The ledger that a policy names, if it has been replaced by another: for reading its contents.
pub fn replaced_ledger_of(path: &Path) -> Result<Option<Ledger>> {
    let path = Policy::real_path(path);
    let Some(named) = Policy::read(&path)?.ledger else { return Ok(None) };
    Ok(Ledger::open_replaced(&place_of(&path, &named.at)?, &named.id, wall_clock())?)
}

/// Checks that the ledger allows the policy's units. Nothing is written.
pub fn fits(policy: &Policy, ledger: &Ledger) -> Result<()> {
    Ok(ledger.fits(&charter(policy, ""))?)
}

/// Records the unit and the files of each table in the ledger, for a policy whose sources are open. Refuses a policy
/// that does not fit, and then writes nothing.
pub fn record_units(policy: &Policy, ledger: &Ledger) -> Result<()> {
    Ok(ledger.record_units(&charter(policy, ""))?)
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

/// The charter of the ledger for a policy of that name.
pub(crate) fn charter(policy: &Policy, name: &str) -> Charter {
    let (mut units, mut public) = (Vec::new(), Vec::new());
    for of in &policy.tables {
        let (table, sources) = (of.name.clone(), sources(&policy.folder, &of.source));
        let files = files(&policy.folder, &of.source);
        match unit(policy, of) {
            Some(unit) => units.push(Unit { table, unit, sources, files }),
            None => public.push(PublicTable { table, sources, files }),
        }
    }
    Charter { name: name.to_owned(), limit: limit(policy), units, public, by: String::new() }
}

/// A policy's file name without its extension. Journals had this name before ledgers had ids.
pub(crate) fn stem(path: &Path) -> String {
    path.file_stem().unwrap_or_default().to_string_lossy().into_owned()
}

/// The unit of a table, with every table on the way to it; `None` for a public table.
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
pub(crate) fn shared() -> Result<Option<Address>> {
    match std::env::var(SHARED_LEDGER) {
        Ok(address) if !address.is_empty() => Ok(Some(Address::parse(&address)?)),
        _ => Ok(None),
    }
}

/// The path of a file that a policy names: relative to the policy's folder.
pub(crate) fn in_folder(policy: &Path, at: &str) -> PathBuf {
    policy.parent().unwrap_or(Path::new("")).join(at)
}

/// The place of a policy's ledger, unless the environment overrides it.
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
    let charter = charter(policy, &stem(path));
    Ok(Ledger::open_own(&place, &named.id, &charter, wall_clock())?)
}

/// Creates or adopts the first ledger of a policy, and writes it into the policy.
fn first(path: &Path) -> Result<(Policy, Ledger)> {
    let _turn = turn(path);
    // Another process may have been faster.
    let policy = Policy::read(path)?;
    if policy.ledger.is_some() {
        let ledger = own(path, &policy)?;
        return Ok((policy, ledger));
    }
    let (stem, clock) = (stem(path), wall_clock());
    // This includes files that a deleted ledger left behind.
    let traces = beside::ledgers(path)?;
    let place = match (shared()?, traces.last()) {
        (None, None) => Place::File(ledger_path(path)),
        (None, Some(last)) => {
            let first = ledger_path(path);
            // The first was replaced and is gone; or both may be in use.
            if *last != first
                && (!traces.contains(&first)
                    || !Ledger::in_use_in(&first, &stem, &clock)?.is_empty())
            {
                let place = last.display().to_string();
                let unclaimed = demure_ledger::Error::Unclaimed { place, name: stem, id: None };
                return Err(unclaimed.into());
            }
            Place::File(first)
        }
        (Some(address), Some(last)) => {
            let (policy, environment) = (last.display().to_string(), address.without_password()?);
            return Err(Error::OtherPlace { policy, environment });
        }
        (Some(address), None) => Place::Server(address),
    };
    let at = address(&place)?;
    with_ledger(&policy, &LedgerId::random()?, &at).ok_or_else(|| unwritable(path))?;
    let charter = charter(&policy, &stem);
    let (ledger, id, was_exposed) = match Ledger::adopt(&place, &stem, &charter, clock.clone())? {
        Some(found) => (found.ledger, found.id, found.was_exposed),
        None => {
            let (ledger, id) = Ledger::create_first(&place, &charter, "the policy's first", clock)?;
            (ledger, id, false)
        }
    };
    let mut policy = name(path, &id, &at)?;
    if was_exposed {
        policy.warnings.push(
            "others could read the ledger, with the answers in it, until now; only its owner can \
             from now on"
                .to_owned(),
        );
    }
    Ok((policy, ledger))
}

/// How a policy writes a ledger's place. A file is in the policy's own folder.
pub(crate) fn address(place: &Place) -> Result<String> {
    Ok(match place {
        Place::File(path) => path.file_name().unwrap_or_default().to_string_lossy().into_owned(),
        Place::Server(address) => address.without_password()?,
    })
}

/// Writes the id and place of its ledger into the policy, and returns when that is on disk. Owner, mode and comments
/// stay.
pub(crate) fn name(path: &Path, id: &LedgerId, at: &str) -> Result<Policy> {
    let lines = || policy::ledger_lines(id, at);
    let text = with_ledger(&Policy::read(path)?, id, at).ok_or_else(|| unwritable(path))?;
    rewrite(path, &text).map_err(|source| Error::PolicyUnwritable {
        path: path.to_owned(),
        lines: lines(),
        source,
    })?;
    Ok(Policy::read(path)?)
}

/// The error for a policy whose meaning would change if `[ledger]` were added.
pub(crate) fn unwritable(path: &Path) -> Error {
    let reason = "a `[ledger]` section can be put nowhere in it without changing something else";
    Error::PolicyFixed { path: path.to_owned(), reason: reason.to_owned() }
}

/// Waits until no other process is giving the policy a ledger. Does not wait where files cannot be locked.
pub(crate) fn turn(path: &Path) -> Option<File> {
    loop {
        let file = File::open(path).ok()?;
        file.lock().ok()?;
        // The previous holder may have replaced the file, and others lock the new one now.
        if is_at(&file, path) {
            return Some(file);
        }
    }
}

/// Whether this is the file at `path`.
fn is_at(file: &File, path: &Path) -> bool {
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt;
        let number = |found: std::fs::Metadata| (found.dev(), found.ino());
        match (file.metadata().map(number), path.metadata().map(number)) {
            (Ok(own), Ok(there)) => own == there,
            // The file is gone, so no other process gives it a ledger.
            (_, Err(_)) => true,
            (Err(_), _) => false,
        }
    }
    #[cfg(not(unix))]
    {
        let _ = (file, path);
        true
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests;
