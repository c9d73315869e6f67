//! The identity of a journal: its id, the secret of its keys, and the unit of every table.
//!
//! A policy names the id of its ledger, so that no other journal, and no empty one, is mistaken for it. The privacy
//! unit is part of what an ε means: an ε spent on rows is worth many times as much per person, so a table keeps its
//! unit as long as the journal exists.
//!
//! | kind | key | event | query | answer |
//! |---|---|---|---|---|
//! | `identity` | the id | the policy's name | where the ledger comes from | the secret |
//! | `unit` | `visits` | `"patient_id"`, `row`, `"visit_id" -> visits."id" -> …` | a source | its files, sealed |
//! | `replaced` | the id of the next ledger | | where it is, and why | |
//!
//! A table has a row for each source that it ever had, with the identifiers of the source's files ([`Unit::files`]); a
//! row is added when there are new ones. A table keeps its unit under its name, and a source or file that ever
//! belonged to a table cannot later be given to a table with another unit. After `replaced`, nothing is debited.
//!
//! # Guarantee
//! The hash of the identity covers the secret, and every later hash covers that one: someone who does not know the
//! secret learns nothing from a hash or a key, whatever they know about the data.
//! # Proof
//! Keys are HMAC-SHA-256 under the secret, which is 32 random bytes and leaves the process in no
//! other form. A hash of the chain from the identity on is SHA-256 of a text that holds the
//! secret, or a hash of which that is true. ∎ (With SHA-256 as a random function.)

use crate::error::{Error, Fault, Result};
use crate::limit::Limit;
use crate::row::{Hash, Kind, Row};
use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::path::{Component, Path, PathBuf};

/// Domain separation from any other use of the secret; changes with the encoding.
const DOMAIN: &[u8] = b"demure-ledger key v2\n";

/// The same for file identifiers.
const FILES: &[u8] = b"demure-ledger file v1\n";

/// A file identifier, sealed with the ledger's secret: without the secret it reveals nothing.
type FileSeal = [u8; 16];

/// The id of a ledger: 128 random bits, as 32 hexadecimal digits.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct LedgerId(String);

impl LedgerId {
    /// A new one.
    pub fn random() -> Result<Self> {
        let mut bytes = [0; 16];
        getrandom::fill(&mut bytes).map_err(|_| Error::NoEntropy)?;
        Ok(Self(hex(&bytes)))
    }

    /// Parses 32 lowercase hexadecimal digits.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let digits =
            text.len() == 32 && text.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f'));
        digits.then(|| Self(text.to_owned()))
    }
}

impl fmt::Display for LedgerId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// The key for sealing. It is never shown.
#[derive(Clone)]
pub(crate) struct Secret([u8; 32]);

impl Secret {
    pub(crate) fn random() -> Result<Self> {
        let mut bytes = [0; 32];
        getrandom::fill(&mut bytes).map_err(|_| Error::NoEntropy)?;
        Ok(Self(bytes))
    }

    pub(crate) fn bytes(&self) -> &[u8] {
        &self.0
    }

    /// HMAC-SHA-256 of `message`, in hexadecimal.
    pub(crate) fn seal(&self, message: &Hash) -> String {
        self.mac(DOMAIN, message).map(|mac| hex(&mac)).unwrap_or_default()
    }

    /// The sealed identifier of a file.
    fn file(&self, message: &Hash) -> Option<FileSeal> {
        self.mac(FILES, message).and_then(|mac| mac.first_chunk().copied())
    }

    fn mac(&self, domain: &[u8], message: &Hash) -> Option<Hash> {
        // HMAC accepts a key of any length.
        let mut mac = Hmac::<Sha256>::new_from_slice(&self.0).ok()?;
        mac.update(domain);
        mac.update(message);
        Some(mac.finalize().into_bytes().into())
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret(…)")
    }
}

/// A journal's id and secret, and the number of the row that set them.
#[derive(Clone, Debug)]
pub(crate) struct Identified {
    pub(crate) seq: u64,
    pub(crate) id: LedgerId,
    pub(crate) secret: Secret,
    /// The name of the policy's file; empty if it was not recorded.
    pub(crate) name: String,
}

impl Identified {
    /// A new secret for `id`, for a policy of that name.
    pub(crate) fn new(id: LedgerId, name: &str) -> Result<Self> {
        Ok(Self { seq: 0, id, secret: Secret::random()?, name: name.to_owned() })
    }
}

/// The privacy unit of a table: whose row a row is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unit {
    /// The table's name in the policy.
    pub table: String,
    /// The unit, with every table on the way to it.
    pub unit: String,
    /// The source of the rows, in every spelling: as written in the policy, and others.
    pub sources: Vec<String>,
    /// Identifiers of its files, as hashes. They are sealed with the ledger's secret before they are stored.
    pub files: Vec<Hash>,
}

/// A table without people in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PublicTable {
    /// The table's name in the policy.
    pub table: String,
    /// The source of the rows, as in [`Unit`].
    pub sources: Vec<String>,
    /// Identifiers of its files, as in [`Unit`].
    pub files: Vec<Hash>,
}

/// What a policy declares its ledger to be for. A journal that differs is refused, except for ε and δ of the limit,
/// which may change.
#[derive(Clone, Debug)]
pub struct Charter {
    /// The name of the policy's file, without its extension.
    pub name: String,
    /// The budget, with its accounting and its neighbours.
    pub limit: Limit,
    /// The unit of every table with people in it.
    pub units: Vec<Unit>,
    /// The tables without people in them.
    pub public: Vec<PublicTable>,
    /// Who opens it, for the journal.
    pub by: String,
}

/// The ledger that replaced this one.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Successor {
    /// Its id.
    pub id: String,
    /// Where it is, and why.
    pub note: String,
    /// Who replaced this one.
    pub by: String,
}

impl Successor {
    /// The ledger `id`, which `by` put in place of this one.
    #[must_use]
    pub fn new(id: &str, note: &str, by: &str) -> Self {
        Self { id: id.to_owned(), note: note.to_owned(), by: by.to_owned() }
    }
}

/// The recorded facts about a table with people in it.
#[derive(Clone, Debug)]
struct Recorded {
    unit: String,
    sources: BTreeSet<PathBuf>,
    files: BTreeSet<FileSeal>,
}

/// The sources and files of a table, in a form for comparison.
struct Origin {
    sources: Vec<PathBuf>,
    files: Vec<FileSeal>,
}

impl Recorded {
    /// Whether any of these sources or files ever belonged to the table.
    fn had(&self, origin: &Origin) -> bool {
        origin.sources.iter().any(|source| self.sources.contains(source))
            || origin.files.iter().any(|file| self.files.contains(file))
    }
}

/// What a journal records about itself.
#[derive(Clone, Debug, Default)]
pub(crate) struct Known {
    pub(crate) identity: Option<Identified>,
    /// The ledger that replaced it.
    pub(crate) successor: Option<Successor>,
    /// By table.
    units: BTreeMap<String, Recorded>,
}

impl Known {
    /// Reads a row of kind `identity`, `unit` or `replaced`.
    pub(crate) fn read(&mut self, row: &Row) -> Result<()> {
        match row.kind {
            Kind::Identity => self.identify(row),
            Kind::Replaced => {
                let (id, note, by) = (row.key.clone(), row.query.clone(), row.who.clone());
                self.successor.get_or_insert(Successor { id, note, by });
                Ok(())
            }
            _ => self.unite(row),
        }
    }

    fn identify(&mut self, row: &Row) -> Result<()> {
        let unreadable = || row.fault(Fault::Unreadable);
        if self.identity.is_some() {
            return Err(row.fault(Fault::Identity));
        }
        let id = LedgerId::parse(&row.key).ok_or_else(unreadable)?;
        let secret = row.answer.as_deref().and_then(|bytes| bytes.try_into().ok());
        let secret = Secret(secret.ok_or_else(unreadable)?);
        self.identity = Some(Identified { seq: row.seq, id, secret, name: row.event.clone() });
        Ok(())
    }

    fn unite(&mut self, row: &Row) -> Result<()> {
        let (unit, sources, files) = (row.event.clone(), BTreeSet::new(), BTreeSet::new());
        let new = || Recorded { unit, sources, files };
        let table = self.units.entry(row.key.clone()).or_insert_with(new);
        if table.unit != row.event {
            return Err(row.fault(Fault::OtherCurrency));
        }
        table.sources.insert(spelled(&row.query));
        let (files, rest) = row.answer.as_deref().unwrap_or_default().as_chunks();
        if !rest.is_empty() {
            return Err(row.fault(Fault::Unreadable));
        }
        table.files.extend(files);
        Ok(())
    }

    /// Whether this source of a table is recorded.
    pub(crate) fn has(&self, table: &str, source: &str) -> bool {
        self.units.get(table).is_some_and(|known| known.sources.contains(&spelled(source)))
    }

    /// The sealed identifiers of files that are not yet recorded for a table.
    pub(crate) fn new_files(&self, table: &str, files: &[Hash]) -> Vec<u8> {
        let known = self.units.get(table);
        let mut new = self.sealed(files);
        new.retain(|file| known.is_none_or(|known| !known.files.contains(file)));
        new.concat()
    }

    /// Whether no table is recorded, as in an old ledger.
    pub(crate) fn knows_nothing(&self) -> bool {
        self.units.is_empty()
    }

    /// Whether one of these sources or files ever belonged to a table with people in it.
    pub(crate) fn knows_source(&self, sources: &[String], files: &[Hash]) -> bool {
        let origin = self.origin(sources, files);
        self.units.values().any(|known| known.had(&origin))
    }

    fn origin(&self, sources: &[String], files: &[Hash]) -> Origin {
        let sources = sources.iter().map(|source| spelled(source)).collect();
        Origin { sources, files: self.sealed(files) }
    }

    /// Seals file identifiers; empty before there is a secret.
    fn sealed(&self, files: &[Hash]) -> Vec<FileSeal> {
        let Some(identity) = &self.identity else { return Vec::new() };
        files.iter().filter_map(|file| identity.secret.file(file)).collect()
    }

    /// Checks whether a table may have this unit. The table keeps the unit recorded under its name, and no source or
    /// file that is new to it may ever have belonged to a table with another unit. Two tables that shared a source
    /// from the beginning, with two units, may go on sharing it, whatever files are there.
    ///
    /// Tables that are added to the policy together are not compared with each other: `self` must be the state before
    /// any of them.
    pub(crate) fn allows(&self, dataset: &str, unit: &Unit) -> Result<()> {
        let refused = |of: &str, old: &Recorded| {
            Err(Error::OtherUnit {
                dataset: dataset.to_owned(),
                table: unit.table.clone(),
                of: of.into(),
                stored: old.unit.clone(),
                asked: unit.unit.clone(),
            })
        };
        let own = self.units.get(&unit.table);
        if let Some(own) = own.filter(|own| own.unit != unit.unit) {
            return refused(&unit.table, own);
        }
        let given = self.origin(&unit.sources, &unit.files);
        for (of, other) in self.units.iter().filter(|(_, other)| other.unit != unit.unit) {
            let mut new = self.origin(&unit.sources, &unit.files);
            if let Some(own) = own {
                new.sources.retain(|source| !own.sources.contains(source));
                new.files.retain(|file| !own.files.contains(file));
            }
            let both = |source: &PathBuf| {
                own.is_some_and(|own| own.sources.contains(source))
                    && other.sources.contains(source)
            };
            if other.had(&new) && !given.sources.iter().any(both) {
                return refused(of, other);
            }
        }
        Ok(())
    }

    /// Checks whether a table may be public: not if people's rows were counted in it, under any name.
    pub(crate) fn allows_public(&self, dataset: &str, public: &PublicTable) -> Result<()> {
        let origin = self.origin(&public.sources, &public.files);
        let own = self.units.get(&public.table);
        match own.or_else(|| self.units.values().find(|old| old.had(&origin))) {
            None => Ok(()),
            Some(old) => Err(Error::MadePublic {
                dataset: dataset.to_owned(),
                table: public.table.clone(),
                stored: old.unit.clone(),
            }),
        }
    }
}

/// Normalizes the spelling of a path: `./visits.csv`, `data//visits.csv`.
fn spelled(source: &str) -> PathBuf {
    let parts = Path::new(source).components();
    parts.filter(|part| *part != Component::CurDir).collect()
}

/// A position in a journal, to be kept elsewhere: `17:9f86d0…`, or the hash alone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Anchor {
    /// The number of the entry, if it is known.
    pub seq: Option<u64>,
    /// Its hash.
    pub hash: Hash,
}

impl Anchor {
    /// Parses the output of [`Anchor`]'s `Display`, or a hash in hexadecimal.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let (seq, digits) = match text.split_once(':') {
            Some((seq, digits)) => (Some(seq.parse().ok()?), digits),
            None => (None, text),
        };
        let mut hash = [0; 32];
        if digits.len() != 64 || !digits.is_ascii() {
            return None;
        }
        for (at, byte) in hash.iter_mut().enumerate() {
            *byte = u8::from_str_radix(digits.get(2 * at..2 * at + 2)?, 16).ok()?;
        }
        Some(Self { seq, hash })
    }
}

impl fmt::Display for Anchor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(seq) = self.seq {
            write!(f, "{seq}:")?;
        }
        f.write_str(&hex(&self.hash))
    }
}

pub(crate) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests;
