//! Opening the ledger that a policy names, and no other.
//!
//! | the policy | the place | what happens |
//! |---|---|---|
//! | names an id | a journal with that id | [`Ledger::open_own`] |
//! | names an id | nothing, an empty file, a dangling link, another journal, a lost end | refused |
//! | names none | a journal that has no id yet, of the policy's name | [`Ledger::adopt`]: it gets one |
//! | names none | a file with an id | [`Ledger::adopt`]: that id; nobody else can have written it there |
//! | names none | nothing | [`Ledger::create`] |
//!
//! A new ledger is made whole before it has its name, and the policy learns the id before
//! anything is debited. So whoever is killed in between leaves a ledger that is adopted, or
//! one on a server that nothing was spent from.

use crate::access;
use crate::decide::Act;
use crate::error::{Error, Fault, Result};
use crate::identity::{Charter, Identified, Known, LedgerId, Successor, Unit};
use crate::ledger::{Clock, Ledger};
use crate::mark::{self, Mark};
use crate::parts;
use crate::place::{Address, Place};
use crate::row::Hash;
use crate::store::postgres::Postgres;
use crate::store::sqlite::Sqlite;
use crate::store::{Intent, PATIENCE, Store};
use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};

/// A ledger of the time before ledgers had ids, which has one now.
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
    /// Opens the ledger with this id. Nothing is created, and what is not as the policy says is
    /// refused before anything is written.
    pub fn open_own(place: &Place, id: &LedgerId, charter: &Charter, clock: Clock) -> Result<Self> {
        let Found { store, dataset, marked } = Found::at(place, id)?;
        let Some((mark, path)) = marked else {
            return Self::chartered(store, &dataset, None, charter, None, clock);
        };
        let seq = mark.place()?.0;
        Self::chartered(store, &dataset, Some(mark), charter, None, clock)
            .map_err(|error| lost(error, &path, seq))
    }

    /// Opens a ledger that another took the place of, for reading what is in it; `None` if it
    /// was not replaced.
    pub fn open_replaced(place: &Place, id: &LedgerId, clock: Clock) -> Result<Option<Self>> {
        let ledger = Self::without_charter(place, id, clock)?;
        let replaced = ledger.known(|replay| Ok(replay.about().successor.is_some()))?;
        Ok(replaced.then_some(ledger))
    }

    /// Writes into the ledger with this id which one takes its place: from then on nothing is
    /// debited from it. It need not fit any policy.
    pub fn replace(place: &Place, id: &LedgerId, successor: Successor, clock: Clock) -> Result<()> {
        let ledger = Self::without_charter(place, id, clock)?;
        match ledger.append(Act::Replace(successor)) {
            // It was before.
            Err(Error::Replaced(_)) => Ok(()),
            other => other.map(drop),
        }
    }

    fn without_charter(place: &Place, id: &LedgerId, clock: Clock) -> Result<Self> {
        let Found { store, dataset, marked } = Found::at(place, id)?;
        let (mark, path) = marked.unzip();
        let seq = mark.as_ref().map_or(Ok(mark::START), Mark::place)?.0;
        let ledger = Self::unopened(store, &dataset, clock, mark)?;
        let read = ledger.learn_identity().and_then(|()| ledger.share_replay());
        read.map_err(|error| lost(error, &path.unwrap_or_default(), seq))?;
        Ok(ledger)
    }

    /// The ledger in this place that may be the one of a policy that names none: it has the
    /// policy's name, or was spent from for one of its sources. Nothing is written.
    pub fn claimed(place: &Place, charter: &Charter) -> Result<Option<LedgerId>> {
        let Place::Server(address) = place else { return Ok(None) };
        let mut store = server(address)?;
        let mut journals: BTreeMap<String, Known> = BTreeMap::new();
        for row in store.begin(Intent::Read)?.introductions()? {
            row.check()?;
            journals.entry(row.dataset.clone()).or_default().read(&row)?;
        }
        let sources: Vec<String> =
            charter.units.iter().flat_map(|unit| unit.sources.iter().cloned()).collect();
        let may_be = |known: &Known| {
            let named = known.identity.as_ref().is_some_and(|it| it.name == charter.name);
            named || known.knows_source(&sources)
        };
        // The ones that nothing took the place of come first.
        let mut claims: Vec<Known> = journals.into_values().filter(may_be).collect();
        claims.sort_by_key(|known| known.successor.is_some());
        Ok(claims.into_iter().find_map(|known| known.identity).map(|identity| identity.id))
    }

    /// Makes a ledger where there is none, with an id of its own. `why` is where it comes from,
    /// for the record.
    pub fn create(
        place: &Place,
        charter: &Charter,
        why: &str,
        clock: Clock,
    ) -> Result<(Self, LedgerId)> {
        charter.limit.most()?;
        let id = LedgerId::random()?;
        let identity = Some((Identified::new(id.clone(), &charter.name)?, why.to_owned()));
        match place {
            Place::Server(address) => {
                let (store, dataset) = (server(address)?, id.to_string());
                let ledger = Self::chartered(store, &dataset, None, charter, identity, clock)?;
                Ok((ledger, id))
            }
            Place::File(path) => {
                unused(path)?;
                parts::sweep(path);
                let begun = parts::name(path)?;
                let cannot = |_| Error::CannotOpen { path: path.clone() };
                let making = parts::create(&begun).map_err(cannot)?;
                let store = Box::new(Sqlite::open(&begun, PATIENCE)?);
                let made =
                    Self::chartered(store, &id.to_string(), None, charter, identity, clock.clone());
                // The last to close it brings everything into the one file.
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

    /// Opens what is in the place of a policy's first ledger, for a policy that names no id:
    /// `None` if there is nothing. `name` is what the policy's journal was called before
    /// ledgers had ids.
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

    /// Refuses a charter whose currency or units are not the journal's. Nothing is written.
    pub fn fits(&self, charter: &Charter) -> Result<()> {
        self.known(|replay| {
            Act::Limit(charter.limit.clone()).decide(replay, 0)?;
            let (about, dataset) = (replay.about(), replay.dataset());
            let together = new_tables(about, charter);
            charter.units.iter().try_for_each(|unit| about.allows(dataset, unit, &together))?;
            charter.public.iter().try_for_each(|public| about.allows_public(dataset, public))
        })
    }

    /// Where the journal with this id ends, whatever else is wrong with it. Nothing is written.
    pub fn end_of(place: &Place, id: &LedgerId) -> Result<(u64, Hash)> {
        let store: Box<dyn Store> = match place {
            Place::File(path) => Box::new(Sqlite::open_existing(&real(path)?, PATIENCE)?),
            Place::Server(address) => server(address)?,
        };
        let shown = match place {
            Place::File(path) => path.display().to_string(),
            Place::Server(address) => address.without_password()?,
        };
        let other = || Error::OtherLedger { place: shown.clone(), asked: id.clone() };
        let (dataset, mut store) = with_id(store, id)?;
        let head = store.begin(Intent::Read)?.head(&dataset.ok_or_else(other)?)?;
        head.ok_or_else(other)
    }

    /// Reads the journal, refuses it if the charter does not fit, and writes down what is new.
    fn chartered(
        store: Box<dyn Store>,
        dataset: &str,
        mark: Option<Mark>,
        charter: &Charter,
        identity: Option<(Identified, String)>,
        clock: Clock,
    ) -> Result<Self> {
        charter.limit.most()?;
        let by = &charter.by;
        let ledger = Self::unopened(store, dataset, clock, mark)?;
        ledger.fits(charter)?;
        ledger.append(Act::Limit(charter.limit.clone()))?;
        if let Some((identity, why)) = identity {
            ledger.append(Act::Identify(by.clone(), identity, why))?;
        }
        let together = ledger.known(|replay| Ok(new_tables(replay.about(), charter)))?;
        for unit in &charter.units {
            for source in &unit.sources {
                let unit = Unit { sources: vec![source.clone()], ..unit.clone() };
                ledger.append(Act::Unit(by.clone(), unit, together.clone()))?;
            }
        }
        ledger.learn_identity()?;
        ledger.share_replay()?;
        ledger.note_progress()?;
        Ok(ledger)
    }
}

/// A journal that was found by its id.
struct Found {
    store: Box<dyn Store>,
    dataset: String,
    /// Of a file: its mark, and where it really is.
    marked: Option<(Mark, PathBuf)>,
}

impl Found {
    fn at(place: &Place, id: &LedgerId) -> Result<Self> {
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
            // The mark says that the id was written.
            (_, Some((mark, path))) if mark.place()?.0 > 0 => {
                Err(Error::LostEnd { path, seq: mark.place()?.0 })
            }
            _ => Err(Error::OtherLedger { place: shown, asked: id.clone() }),
        }
    }
}

/// A journal that ends before its mark has lost its end.
fn lost(error: Error, path: &Path, seq: u64) -> Error {
    match error {
        Error::Broken { seq: at, fault: Fault::Missing } if at == seq => {
            Error::LostEnd { path: path.to_owned(), seq }
        }
        other => other,
    }
}

/// The tables of a policy that its ledger does not know yet.
fn new_tables(about: &Known, charter: &Charter) -> Vec<String> {
    let names = charter.units.iter().map(|unit| &unit.table);
    names.filter(|table| !about.knows(table)).cloned().collect()
}

fn server(address: &Address) -> Result<Box<dyn Store>> {
    Ok(Box::new(Postgres::open(address.url(), PATIENCE)?))
}

/// The dataset whose journal has this id.
fn with_id(mut store: Box<dyn Store>, id: &LedgerId) -> Result<(Option<String>, Box<dyn Store>)> {
    let journals = store.begin(Intent::Read)?.journals()?;
    let id = id.to_string();
    let found = journals.into_iter().find(|(_, other)| other.as_ref() == Some(&id));
    Ok((found.map(|(dataset, _)| dataset), store))
}

/// Where the file really is: its log and its mark are beside that. It must hold something.
fn real(path: &Path) -> Result<PathBuf> {
    let owned = || path.to_owned();
    if path.symlink_metadata().is_err() {
        return Err(Error::NoLedger { path: owned() });
    }
    let Ok(metadata) = path.metadata() else { return Err(Error::DanglingLink { path: owned() }) };
    if !metadata.is_file() {
        return Err(Error::NotALedger { path: owned() });
    }
    if metadata.len() == 0 {
        return Err(Error::EmptyLedger { path: owned() });
    }
    path.canonicalize().map_err(|_| Error::CannotOpen { path: owned() })
}

/// Refuses a place that has a ledger, or what a deleted one left behind.
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
        // Of a ledger that was not finished.
        Some(_) => std::fs::remove_file(Mark::path(path))
            .map_err(|_| Error::CannotOpen { path: Mark::path(path) }),
        None => Ok(()),
    }
}

/// Gives a finished file its name, and its mark before that; both are on disk when it returns.
/// Where another process was faster, its file stays.
fn put_in_place(begun: &Path, path: &Path, id: &LedgerId) -> Result<()> {
    let occupied = || Error::Occupied { path: path.to_owned() };
    let cannot = |_: io::Error| Error::CannotOpen { path: path.to_owned() };
    if access::beside(begun, "-wal").metadata().is_ok_and(|log| log.len() > 0) {
        return Err(cannot(io::ErrorKind::Other.into()));
    }
    // Nobody has it open: closing a descriptor would release SQLite's locks.
    std::fs::File::open(begun).and_then(|file| file.sync_all()).map_err(cannot)?;
    if Mark::create(path, id, mark::START)?.id() != id {
        return Err(occupied());
    }
    match std::fs::hard_link(begun, path) {
        Ok(()) => {}
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => return Err(occupied()),
        // A file system without links.
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
            drop(store);
            let ledger = Ledger::open_own(&place, id, charter, clock)?;
            return Ok(Some(Adopted { ledger, id: id.clone(), was_exposed: false }));
        }
        [id, ..] => return unclaimed(Some(id.clone())),
    }
    if !journals.is_empty() && !journals.iter().any(|(dataset, _)| dataset == name) {
        return unclaimed(None);
    }
    // What is refused stays as it is.
    let look = Box::new(Sqlite::open_existing(&file, PATIENCE)?);
    Ledger::unopened(look, name, clock.clone(), None)?.fits(charter)?;
    // Before there is a secret in it.
    let mut was_exposed = false;
    for suffix in ["", "-wal", "-shm"] {
        let part = access::beside(&file, suffix);
        was_exposed |= access::tighten(&part).map_err(|_| Error::CannotOpen { path: part })?;
    }
    let head = store.begin(Intent::Read)?.head(name)?.unwrap_or(mark::START);
    // Who makes the mark decides the id, for all processes that adopt it now, and for one that
    // was killed between the two.
    let mark = Mark::create(&file, &LedgerId::random()?, head)?;
    let (id, seq) = (mark.id().clone(), mark.place()?.0);
    let identity = Some((Identified::new(id.clone(), name)?, "the ledger gets an id".to_owned()));
    let adopted = Ledger::chartered(store, name, Some(mark), charter, identity, clock);
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
        return taken(LedgerId::parse(&id));
    }
    let id = LedgerId::random()?;
    let identity = Some((Identified::new(id.clone(), name)?, "the ledger gets an id".to_owned()));
    let ledger = Ledger::chartered(store, name, None, charter, identity, clock)?;
    match ledger.id() {
        Some(own) if *own == id => Ok(Some(Adopted { ledger, id, was_exposed: false })),
        other => taken(other.cloned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Accounting, Limit, wall_clock};
    use demure_core::unit::{Delta, Epsilon, Neighbours};

    /// Whoever was killed while the first ledger was made left a mark at its start at most.
    #[test]
    fn a_ledger_that_was_not_finished_is_made_again() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("clinic.ledger");
        let charter = Charter {
            name: "clinic".to_owned(),
            limit: Limit {
                accounting: Accounting::Pure,
                epsilon: Epsilon::new(1.0).unwrap(),
                delta: Delta::ZERO,
                neighbours: Neighbours::AddRemove,
            },
            units: Vec::new(),
            public: Vec::new(),
            by: String::new(),
        };
        Mark::create(&path, &LedgerId::random().unwrap(), mark::START).unwrap();
        let place = Place::File(path.clone());
        let (ledger, id) = Ledger::create(&place, &charter, "", wall_clock()).unwrap();
        assert_eq!(ledger.id(), Some(&id));
        drop(ledger);
        // From then on it is further, and a ledger that is gone stays gone.
        std::fs::remove_file(&path).unwrap();
        let again = Ledger::create(&place, &charter, "", wall_clock());
        assert!(matches!(again, Err(Error::NoLedger { .. })), "{again:?}");
        // A log without its file is a ledger that is gone, too.
        let other = folder.path().join("other.ledger");
        std::fs::write(access::beside(&other, "-wal"), b"log").unwrap();
        let again = Ledger::create(&Place::File(other), &charter, "", wall_clock());
        assert!(matches!(again, Err(Error::NoLedger { .. })), "{again:?}");
        let parts = std::fs::read_dir(folder.path()).unwrap();
        let left = parts
            .filter(|file| file.as_ref().unwrap().file_name().to_string_lossy().contains(".part"));
        assert_eq!(left.count(), 0);
    }
}
