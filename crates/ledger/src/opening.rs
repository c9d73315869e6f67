//! Opens the ledger that a policy names, and no other.
//!
//! | the policy | the place | what happens |
//! |---|---|---|
//! | names an id | a journal with that id | [`Ledger::open_own`] |
//! | names an id | nothing, an empty file, a dangling link, another journal, a lost end | refused |
//! | names none | a journal that has no id yet, of the policy's name | [`Ledger::adopt`]: it gets one |
//! | names none | a file with an id | [`Ledger::adopt`]: that id; nothing else can have written it there |
//! | names none | nothing | [`Ledger::create_first`] |
//!
//! A new ledger is complete before it gets its name, and the id is in the policy before anything is debited. So a
//! process that is killed in between leaves a ledger that will be adopted, or one on a server from which nothing was
//! spent.
//!
//! Checking and writing are one transaction that excludes all other writers: of several machines that create a
//! policy's first ledger on a server, one succeeds. [`Ledger::record_units`] records the policy's units, once its
//! sources are known to open.

use crate::access;
use crate::decide::Command;
use crate::error::{Error, Fault, Result};
use crate::identity::{Charter, Identified, Known, LedgerId, Unit};
use crate::ledger::{Clock, Ledger};
use crate::mark::{self, Mark};
use crate::parts;
use crate::place::{Address, Place};
use crate::replay::Replay;
use crate::store::postgres::Postgres;
use crate::store::sqlite::Sqlite;
use crate::store::{Intent, PATIENCE, Store, Transaction};
use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};

/// A ledger from before ledgers had ids, which has one now.
#[derive(Debug)]
pub struct Adopted {
    /// The ledger.
    pub ledger: Ledger,
    /// Its id, for the policy.
    pub id: LedgerId,
    /// Whether others could read its file until now.
    pub was_exposed: bool,
}

impl Ledger {
    /// Opens the ledger with this id. Creates nothing, and refuses a journal that differs from the policy before
    /// anything is written.
    pub fn open_own(place: &Place, id: &LedgerId, charter: &Charter, clock: Clock) -> Result<Self> {
        let LocatedJournal { store, dataset, marked } = LocatedJournal::at(place, id)?;
        let (mark, path) = marked.unzip();
        let seq = mark.as_ref().map_or(Ok(mark::START), Mark::place)?.0;
        Self::chartered(store, &dataset, mark, charter, Beginning::default(), clock)
            .map_err(|error| lost(error, &path.unwrap_or_default(), seq))
    }

    /// Records the policy's units, with the sources and files of its tables, in one transaction; or refuses the
    /// policy, and writes nothing. Use it for a policy whose sources open.
    pub fn record_units(&self, charter: &Charter) -> Result<()> {
        self.append_whole(|replay, _| fits(replay, charter), unit_commands(charter))
    }

    /// The ledger in this place that may belong to a policy that names none: it has the policy's name, or was spent
    /// from for one of its sources or files. Nothing is written.
    pub fn claimed(place: &Place, charter: &Charter) -> Result<Option<LedgerId>> {
        let Place::Server(address) = place else { return Ok(None) };
        claim(&*server(address)?.begin(Intent::Read)?, charter)
    }

    /// Creates a ledger with a new id, whatever others there are. `why` records where it comes from.
    pub fn create(
        place: &Place,
        charter: &Charter,
        why: &str,
        clock: Clock,
    ) -> Result<(Self, LedgerId)> {
        Self::create_if(place, charter, why, clock, &|_, _| Ok(()))
    }

    /// The same for a policy that never had one: if the server has a ledger that may be the policy's
    /// ([`Ledger::claimed`]), nothing is created. Of several concurrent calls, one creates it.
    pub fn create_first(
        place: &Place,
        charter: &Charter,
        why: &str,
        clock: Clock,
    ) -> Result<(Self, LedgerId)> {
        let Place::Server(address) = place else {
            return Self::create(place, charter, why, clock);
        };
        let shown = address.without_password()?;
        Self::create_if(place, charter, why, clock, &|_, store| match claim(store, charter)? {
            None => Ok(()),
            id => Err(Error::Unclaimed { place: shown.clone(), name: charter.name.clone(), id }),
        })
    }

    fn create_if(
        place: &Place,
        charter: &Charter,
        why: &str,
        clock: Clock,
        allowed: &Check<'_>,
    ) -> Result<(Self, LedgerId)> {
        charter.limit.most()?;
        let id = LedgerId::random()?;
        let identity = Some((Identified::new(id.clone(), &charter.name)?, why.to_owned()));
        let beginning = Beginning { identity, with_units: false, allowed: Some(allowed) };
        match place {
            Place::Server(address) => {
                let (store, dataset) = (server(address)?, id.to_string());
                let ledger = Self::chartered(store, &dataset, None, charter, beginning, clock)?;
                Ok((ledger, id))
            }
            Place::File(path) => {
                unused(path)?;
                parts::sweep(path);
                let begun = parts::name(path)?;
                let cannot = |_| Error::CannotOpen { path: path.clone() };
                let making = parts::create(&begun).map_err(cannot)?;
                let store = Box::new(Sqlite::open(&begun, PATIENCE)?);
                let dataset = id.to_string();
                let made =
                    Self::chartered(store, &dataset, None, charter, beginning, clock.clone());
                // The last one to close it moves everything into the main file.
                let put = made.map(drop).and_then(|()| put_in_place(&begun, path, &id));
                for suffix in ["", "-wal", "-shm"] {
                    let _ = std::fs::remove_file(access::beside(&begun, suffix));
                }
                drop(making);
                put?;
                Ok((Self::open_own(place, &id, charter, clock)?, id))
            }
        }
    }

    /// Opens the ledger in the place of a policy's first ledger, for a policy that names no id; `None` if there is
    /// none. `name` is the name of the policy's journal from before ledgers had ids.
    ///
    /// A journal from that time gets an id, and the policy's units, since it was spent from for them.
    pub fn adopt(
        place: &Place,
        name: &str,
        charter: &Charter,
        clock: Clock,
    ) -> Result<Option<Adopted>> {
        match place {
            Place::File(path) => adopt_file(path, name, charter, clock),
            Place::Server(address) => adopt_on_server(address, name, charter, clock),
        }
    }

    /// Refuses a charter whose accounting or units differ from the journal's. Nothing is written.
    pub fn fits(&self, charter: &Charter) -> Result<()> {
        self.known(|replay| fits(replay, charter))
    }

    /// Reads the journal, refuses it if the charter does not fit, and appends what is new, all in one transaction.
    fn chartered(
        store: Box<dyn Store>,
        dataset: &str,
        mark: Option<Mark>,
        charter: &Charter,
        beginning: Beginning<'_>,
        clock: Clock,
    ) -> Result<Self> {
        charter.limit.most()?;
        let ledger = Self::unopened(store, dataset, clock, mark)?;
        let Beginning { identity, with_units, allowed } = beginning;
        let mut commands = vec![Command::Limit(charter.limit.clone())];
        let identify = |(identity, why)| Command::Identify(charter.by.clone(), identity, why);
        commands.extend(identity.map(identify));
        if with_units {
            commands.extend(unit_commands(charter));
        }
        let check = |replay: &Replay, store: &dyn Transaction| {
            allowed.map_or(Ok(()), |allowed| allowed(replay, store))?;
            fits(replay, charter)
        };
        ledger.append_whole(check, commands)?;
        ledger.learn_identity()?;
        ledger.share_replay()?;
        ledger.note_progress()?;
        Ok(ledger)
    }
}

/// A check of the journal and the store before anything is written.
type Check<'a> = dyn Fn(&Replay, &dyn Transaction) -> Result<()> + 'a;

/// What to append to a journal when it is opened, besides its limit.
#[derive(Default)]
struct Beginning<'a> {
    /// Its id, if it has none yet, and where it comes from.
    identity: Option<(Identified, String)>,
    /// Whether to record the policy's units.
    with_units: bool,
    allowed: Option<&'a Check<'a>>,
}

/// Refuses a policy that does not fit the journal.
fn fits(replay: &Replay, charter: &Charter) -> Result<()> {
    Command::Limit(charter.limit.clone()).decide(replay, 0)?;
    let (about, dataset) = (replay.about(), replay.dataset());
    charter.units.iter().try_for_each(|unit| about.allows(dataset, unit))?;
    charter.public.iter().try_for_each(|public| about.allows_public(dataset, public))
}

/// A row for each source of each table; the first has its files.
fn unit_commands(charter: &Charter) -> Vec<Command> {
    let mut commands = Vec::new();
    for unit in &charter.units {
        let mut files = unit.files.clone();
        for source in &unit.sources {
            let (sources, files) = (vec![source.clone()], std::mem::take(&mut files));
            commands
                .push(Command::Unit(charter.by.clone(), Unit { sources, files, ..unit.clone() }));
        }
    }
    commands
}

/// The journal in a store that may belong to a policy that names none.
fn claim(store: &dyn Transaction, charter: &Charter) -> Result<Option<LedgerId>> {
    let mut journals: BTreeMap<String, Known> = BTreeMap::new();
    for row in store.introductions()? {
        row.check()?;
        journals.entry(row.dataset.clone()).or_default().read(&row)?;
    }
    let may_be = |known: &Known| {
        let named = known.identity.as_ref().is_some_and(|it| it.name == charter.name);
        let mut units = charter.units.iter();
        named || units.any(|unit| known.knows_source(&unit.sources, &unit.files))
    };
    // Ledgers that were not replaced come first.
    let mut claims: Vec<Known> = journals.into_values().filter(may_be).collect();
    claims.sort_by_key(|known| known.successor.is_some());
    Ok(claims.into_iter().find_map(|known| known.identity).map(|identity| identity.id))
}

/// The id of the journal in a file next to the policy, if it is the policy's: it has its name and, if it has recorded
/// any sources, one of the policy's. A file of this name can also be the numbered ledger of a policy with a shorter
/// name, or that of a policy with another extension.
fn claim_of(store: &dyn Transaction, charter: &Charter) -> Result<Option<LedgerId>> {
    let mut known = Known::default();
    for row in store.introductions()? {
        row.check()?;
        known.read(&row)?;
    }
    let familiar = known.knows_nothing()
        || charter.units.iter().any(|unit| known.knows_source(&unit.sources, &unit.files));
    let own = known.identity.filter(|identity| identity.name == charter.name && familiar);
    Ok(own.map(|identity| identity.id))
}

/// A journal that was found by its id.
pub(crate) struct LocatedJournal {
    pub(crate) store: Box<dyn Store>,
    pub(crate) dataset: String,
    /// For a file: its mark and its real path.
    pub(crate) marked: Option<(Mark, PathBuf)>,
}

impl LocatedJournal {
    pub(crate) fn at(place: &Place, id: &LedgerId) -> Result<Self> {
        let (store, marked, shown) = match place {
            Place::File(path) => {
                let path = real(path)?;
                access::check_sqlite(&path)?;
                parts::has_one_name(&path)?;
                let missing = || Error::BadHead { path: Mark::path(&path) };
                let mark = Mark::open(&path)?.ok_or_else(missing)?;
                let shown = path.display().to_string();
                if mark.id() != id {
                    return Err(Error::OtherLedger { place: shown, asked: id.clone() });
                }
                let store: Box<dyn Store> = Box::new(Sqlite::open_existing(&path, PATIENCE)?);
                (store, Some((mark, path)), shown)
            }
            Place::Server(address) => (server(address)?, None, address.without_password()?),
        };
        match (with_id(store, id)?, marked) {
            ((Some(dataset), store), marked) => Ok(Self { store, dataset, marked }),
            // The mark shows that the id was written.
            (_, Some((mark, path))) if mark.place()?.0 > 0 => {
                Err(Error::LostEnd { path, seq: mark.place()?.0 })
            }
            _ => Err(Error::OtherLedger { place: shown, asked: id.clone() }),
        }
    }
}

/// Translates an error: a journal that ends before its mark has lost its end.
pub(crate) fn lost(error: Error, path: &Path, seq: u64) -> Error {
    match error {
        Error::Broken { seq: at, fault: Fault::Missing } if at == seq => {
            Error::LostEnd { path: path.to_owned(), seq }
        }
        other => other,
    }
}

pub(crate) fn server(address: &Address) -> Result<Box<dyn Store>> {
    Ok(Box::new(Postgres::open(address.url(), PATIENCE)?))
}

/// The dataset whose journal has this id.
pub(crate) fn with_id(
    mut store: Box<dyn Store>,
    id: &LedgerId,
) -> Result<(Option<String>, Box<dyn Store>)> {
    let journals = store.begin(Intent::Read)?.journals()?;
    let id = id.to_string();
    let found = journals.into_iter().find(|(_, other)| other.as_ref() == Some(&id));
    Ok((found.map(|(dataset, _)| dataset), store))
}

/// The real path of the file, next to which its log and its mark are. It must not be empty.
pub(crate) fn real(path: &Path) -> Result<PathBuf> {
    let owned = || path.to_owned();
    // A file that cannot be inspected may still exist.
    let missing = |error: &io::Error| {
        matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory)
    };
    match path.symlink_metadata() {
        Ok(_) => {}
        Err(error) if missing(&error) => return Err(Error::NoLedger { path: owned() }),
        Err(_) => return Err(Error::CannotOpen { path: owned() }),
    }
    let metadata = match path.metadata() {
        Ok(metadata) => metadata,
        Err(error) if missing(&error) => return Err(Error::DanglingLink { path: owned() }),
        Err(_) => return Err(Error::CannotOpen { path: owned() }),
    };
    if !metadata.is_file() {
        return Err(Error::NotALedger { path: owned() });
    }
    if metadata.len() == 0 {
        return Err(Error::EmptyLedger { path: owned() });
    }
    path.canonicalize().map_err(|_| Error::CannotOpen { path: owned() })
}

/// Refuses a place that has a ledger, or files that a deleted one left behind.
fn unused(path: &Path) -> Result<()> {
    if path.symlink_metadata().is_ok() {
        return Err(Error::Occupied { path: path.to_owned() });
    }
    let log = access::beside(path, "-wal");
    let marked = Mark::open(path)?.map(|mark| mark.place()).transpose()?;
    match marked {
        Some((seq, _)) if seq > 0 => Err(Error::NoLedger { path: path.to_owned() }),
        _ if log.metadata().is_ok_and(|log| log.len() > 0) => {
            Err(Error::NoLedger { path: path.to_owned() })
        }
        // The mark of an unfinished ledger.
        Some(_) => std::fs::remove_file(Mark::path(path))
            .map_err(|_| Error::CannotOpen { path: Mark::path(path) }),
        None => Ok(()),
    }
}

/// Gives a finished file its name, after its mark; both are on disk when it returns. If another process was faster,
/// its file stays.
fn put_in_place(begun: &Path, path: &Path, id: &LedgerId) -> Result<()> {
    let occupied = || Error::Occupied { path: path.to_owned() };
    let cannot = |_: io::Error| Error::CannotOpen { path: path.to_owned() };
    if access::beside(begun, "-wal").metadata().is_ok_and(|log| log.len() > 0) {
        return Err(cannot(io::ErrorKind::Other.into()));
    }
    // It is not open elsewhere: closing a descriptor would release SQLite's locks.
    std::fs::File::open(begun).and_then(|file| file.sync_all()).map_err(cannot)?;
    if Mark::create(path, id, mark::START)?.id() != id {
        return Err(occupied());
    }
    match std::fs::hard_link(begun, path) {
        Ok(()) => {}
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => return Err(occupied()),
        // The file system has no hard links.
        Err(_) if path.symlink_metadata().is_err() => {
            std::fs::rename(begun, path).map_err(cannot)?;
        }
        Err(error) => return Err(cannot(error)),
    }
    access::sync_folder(path).map_err(cannot)
}

fn adopt_file(path: &Path, name: &str, charter: &Charter, clock: Clock) -> Result<Option<Adopted>> {
    let place = Place::File(path.to_owned());
    let file = match real(path) {
        Err(Error::NoLedger { .. }) => return Ok(None),
        other => other?,
    };
    parts::has_one_name(&file)?;
    let mut store = Box::new(Sqlite::open_existing(&file, PATIENCE)?);
    let journals = store.begin(Intent::Read)?.journals()?;
    let unclaimed = |id: Option<LedgerId>| {
        let place = file.display().to_string();
        Err(Error::Unclaimed { place, name: name.to_owned(), id })
    };
    let ids: Vec<LedgerId> =
        journals.iter().filter_map(|(_, id)| LedgerId::parse(id.as_deref()?)).collect();
    match ids.as_slice() {
        [] => {}
        [id] => {
            let claimed = claim_of(&*store.begin(Intent::Read)?, charter)?;
            drop(store);
            if claimed.as_ref() != Some(id) {
                return unclaimed(Some(id.clone()));
            }
            let ledger = Ledger::open_own(&place, id, charter, clock)?;
            return Ok(Some(Adopted { ledger, id: id.clone(), was_exposed: false }));
        }
        [id, ..] => return unclaimed(Some(id.clone())),
    }
    if !journals.is_empty() && !journals.iter().any(|(dataset, _)| dataset == name) {
        return unclaimed(None);
    }
    // A refused file stays as it is.
    let look = Box::new(Sqlite::open_existing(&file, PATIENCE)?);
    Ledger::unopened(look, name, clock.clone(), None)?.fits(charter)?;
    // Before it contains a secret.
    let mut was_exposed = false;
    for suffix in ["", "-wal", "-shm"] {
        let part = access::beside(&file, suffix);
        was_exposed |= access::tighten(&part).map_err(|_| Error::CannotOpen { path: part })?;
    }
    let head = store.begin(Intent::Read)?.head(name)?.unwrap_or(mark::START);
    // Whichever process creates the mark decides the id, for all processes that adopt the ledger now, and for one that
    // was killed between the two steps.
    let mark = Mark::create(&file, &LedgerId::random()?, head)?;
    let (id, seq) = (mark.id().clone(), mark.place()?.0);
    let identity = Some((Identified::new(id.clone(), name)?, "the ledger gets an id".to_owned()));
    let beginning = Beginning { identity, with_units: true, allowed: None };
    let adopted = Ledger::chartered(store, name, Some(mark), charter, beginning, clock);
    let ledger = adopted.map_err(|error| lost(error, &file, seq))?;
    Ok(Some(Adopted { ledger, id, was_exposed }))
}

fn adopt_on_server(
    address: &Address,
    name: &str,
    charter: &Charter,
    clock: Clock,
) -> Result<Option<Adopted>> {
    let mut store = server(address)?;
    let journals = store.begin(Intent::Read)?.journals()?;
    let Some((_, found)) = journals.into_iter().find(|(dataset, _)| dataset == name) else {
        return Ok(None);
    };
    let shown = address.without_password()?;
    let taken = |id: Option<LedgerId>| {
        Err(Error::Unclaimed { place: shown.clone(), name: name.to_owned(), id })
    };
    // Several policies may have the same name there, and one of them has it already.
    if let Some(id) = found {
        return taken(LedgerId::parse(&id)).map(|()| None);
    }
    let id = LedgerId::random()?;
    let identity = Some((Identified::new(id.clone(), name)?, "the ledger gets an id".to_owned()));
    // Another machine may have been faster.
    let unnamed = |replay: &Replay, _: &dyn Transaction| {
        replay.identity().map_or(Ok(()), |identity| taken(Some(identity.id.clone())))
    };
    let beginning = Beginning { identity, with_units: true, allowed: Some(&unnamed) };
    let ledger = Ledger::chartered(store, name, None, charter, beginning, clock)?;
    Ok(Some(Adopted { ledger, id, was_exposed: false }))
}

#[cfg(test)]
mod tests;
