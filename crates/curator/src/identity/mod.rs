//! Which ledger is a policy's: found by the id that the policy names, and by nothing else.
//!
//! A policy without an id gets one with its first ledger: the ledger is made, or the one beside
//! the policy is adopted, then the policy is rewritten to name it, and only then is anything
//! debited. From then on a ledger that is missing, empty, another's or elsewhere is refused. A
//! policy that lost the section that names its ledger is not given a second one, where there are
//! traces of the first: beside the policy, or a journal with its name or one of its sources on the
//! server.
//!
//! | `DEMURE_LEDGER` | the policy says | |
//! |---|---|---|
//! | unset | a file, or a server | opened |
//! | set | the same server and database | opened, with that user and password |
//! | set | something else | refused |
//! | set | nothing yet | the first ledger is there, unless there is one beside the policy |

pub(crate) mod spelling;

use crate::error::{Error, Result};
use crate::identity::spelling::sources;
use crate::policy::{self, Policy, TablePolicy, UnitPolicy, rewrite, with_ledger};
use demure_ledger::{
    Accounting, Address, Anchor, Charter, Ledger, LedgerId, Limit, Place, PublicTable, Successor,
    Unit, wall_clock,
};
use std::fs::File;
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

/// The ledger that a policy names, if another took its place: for reading what is in it.
pub fn replaced_ledger_of(path: &Path) -> Result<Option<Ledger>> {
    let path = Policy::real_path(path);
    let Some(named) = Policy::read(&path)?.ledger else { return Ok(None) };
    Ok(Ledger::open_replaced(&place_of(&path, &named.at)?, &named.id, wall_clock())?)
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
/// The old one stays where it is and is closed, as far as it can be opened. `announce` is given
/// what will be replaced before it is done.
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
    let mut closes = None;
    let mut replaces = match &policy.ledger {
        None => "the ledger that the policy had, if it had one".to_owned(),
        Some(named) => {
            // A file is looked for where it was, whatever the environment says of the new one.
            let old = match Address::is_one(&named.at) {
                true => place_of(&path, &named.at),
                false => Ok(Place::File(in_folder(&path, &named.at))),
            };
            let end = old.and_then(|old| Ok((Ledger::end_of(&old, &named.id)?, old)));
            let end = match end {
                Ok(((seq, hash), old)) => {
                    closes = Some((old, named.id.clone()));
                    Anchor { seq: Some(seq), hash }.to_string()
                }
                Err(_) => "an end that cannot be read".to_owned(),
            };
            format!("ledger {} at {}, which ended with {end}", named.id, named.at)
        }
    };
    if !why.is_empty() {
        replaces = format!("{replaces}; {why}");
    }
    announce(&replaces)?;
    let charter = Charter { by: by.to_owned(), ..charter(&policy, &stem(&path)) };
    let from = format!("replaces {replaces}");
    let (ledger, id) = Ledger::create(&place, &charter, &from, wall_clock())?;
    let at = address(&place)?;
    if let Some((old, old_id)) = closes {
        let note = if why.is_empty() { format!("at {at}") } else { format!("at {at}: {why}") };
        let successor = Successor::new(&id.to_string(), &note, by);
        close(&old, &old_id, successor)?;
    }
    name(&path, &id, &at)?;
    Ok(NewLedger { ledger, at, replaces })
}

/// Closes a ledger that is replaced. One that cannot be opened can be spent from no more than one
/// that is closed; what stands in the way for now only is an error.
fn close(place: &Place, id: &LedgerId, successor: Successor) -> Result<()> {
    use demure_ledger::Error as Fault;
    match Ledger::replace(place, id, successor, wall_clock()) {
        Err(
            passing @ (Fault::Locked { .. }
            | Fault::ReadOnly
            | Fault::DiskFull
            | Fault::Exposed(_)
            | Fault::ManyNames { .. }
            | Fault::Disconnected { .. }),
        ) => Err(passing.into()),
        Ok(()) | Err(_) => Ok(()),
    }
}

/// Does the ledger allow what this policy says of units? Nothing is written.
pub fn fits(policy: &Policy, ledger: &Ledger) -> Result<()> {
    Ok(ledger.fits(&charter(policy, ""))?)
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

/// What the ledger of a policy of that name is for.
fn charter(policy: &Policy, name: &str) -> Charter {
    let (mut units, mut public) = (Vec::new(), Vec::new());
    for of in &policy.tables {
        let (table, sources) = (of.name.clone(), sources(&policy.folder, &of.source));
        match unit(policy, of) {
            Some(unit) => units.push(Unit { table, unit, sources }),
            None => public.push(PublicTable { table, sources }),
        }
    }
    Charter { name: name.to_owned(), limit: limit(policy), units, public, by: String::new() }
}

/// What a policy's file is called, without its ending: so was its journal called before ledgers
/// had ids.
fn stem(path: &Path) -> String {
    path.file_stem().unwrap_or_default().to_string_lossy().into_owned()
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
    let charter = charter(policy, &stem(path));
    Ok(Ledger::open_own(&place, &named.id, &charter, wall_clock())?)
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
        // Also what a ledger that was deleted left behind.
        Some(address) if taken(&beside) => {
            let (policy, environment) = (beside.display().to_string(), address.without_password()?);
            return Err(Error::OtherPlace { policy, environment });
        }
        Some(address) => Place::Server(address),
    };
    let stem = stem(path);
    let (charter, clock) = (charter(&policy, &stem), wall_clock());
    let (ledger, id, was_exposed) = match Ledger::adopt(&place, &stem, &charter, clock.clone())? {
        Some(found) => (found.ledger, found.id, found.was_exposed),
        None => {
            may_be_first(path, &place, &charter)?;
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

/// Refuses a first ledger where there are traces of one before it, which the policy names no more.
fn may_be_first(path: &Path, place: &Place, charter: &Charter) -> Result<()> {
    let unclaimed = |place: String, id: Option<LedgerId>| {
        let name = charter.name.clone();
        Err(Error::Ledger(demure_ledger::Error::Unclaimed { place, name, id }))
    };
    // The first was replaced, and is gone.
    let later = numbered(path).take_while(|later| taken(later)).last();
    if let Some(later) = later {
        return unclaimed(later.display().to_string(), None);
    }
    match Ledger::claimed(place, charter)? {
        Some(id) => unclaimed(address(place)?, Some(id)),
        None => Ok(()),
    }
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
    rewrite(path, &text).map_err(|source| Error::PolicyUnwritable {
        path: path.to_owned(),
        lines: policy::ledger_lines(id, at),
        source,
    })?;
    Ok(Policy::read(path)?)
}

/// Waits until nobody else gives the policy a ledger. Where files cannot be locked nobody waits.
fn turn(path: &Path) -> Option<File> {
    let file = File::open(path).ok()?;
    file.lock().ok()?;
    Some(file)
}

/// A name for another ledger, of which nothing is there.
fn unused(policy: &Path) -> PathBuf {
    let first = std::iter::once(ledger_path(policy)).chain(numbered(policy));
    let mut free = first.skip_while(|path| taken(path));
    free.next().unwrap_or_else(|| ledger_path(policy))
}

/// The names of later ledgers, `clinic.2.ledger`, …, but for those of other policies,
/// `clinic.2.toml`.
fn numbered(policy: &Path) -> impl Iterator<Item = PathBuf> {
    let ending = policy.extension().unwrap_or_default().to_string_lossy().into_owned();
    (2u32..).filter_map(move |number| {
        let other = policy.with_extension(format!("{number}.{ending}"));
        (!other.exists()).then(|| policy.with_extension(format!("{number}.ledger")))
    })
}

/// Is there a ledger of this name, or anything that one left behind?
fn taken(path: &Path) -> bool {
    ["", "-wal", "-shm", "-head"].iter().any(|suffix| {
        let mut part = path.as_os_str().to_owned();
        part.push(suffix);
        PathBuf::from(part).symlink_metadata().is_ok()
    })
}
