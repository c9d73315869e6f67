//! Whose budget a journal is: its id, the secret of its keys, and the unit of every table.
//!
//! A policy names the id of its ledger, so that no other journal, and no empty one, is taken
//! for it. The unit is part of the currency: an ε spent on rows is worth many times as much per
//! person, so a table keeps its unit as long as the journal lasts.
//!
//! | kind | key | event | query | answer |
//! |---|---|---|---|---|
//! | `identity` | the id | the policy's name | where the ledger comes from | the secret |
//! | `unit` | `visits` | `"patient_id"`, `row`, `"visit_id" -> visits."id" -> …` | a source | |
//! | `replaced` | the id of the next ledger | | where that is, and why | |
//!
//! A table has a row for each source it ever had. It keeps its unit under its name; under another
//! name it is known by any of these sources. After `replaced` nothing is debited.
//!
//! # Guarantee
//! The hash of the identity covers the secret, and every later hash covers that one: who does
//! not know the secret learns nothing from a hash or a key, whatever they know of the data.
//! # Proof
//! Keys are HMAC-SHA-256 under the secret, which is 32 random bytes and leaves the process in no
//! other form. A hash of the chain from the identity on is SHA-256 of a text that holds the
//! secret, or a hash of which that is true. ∎ (With SHA-256 as a random function.)

use crate::error::{Error, Fault, Result};
use crate::limit::Limit;
use crate::row::{Hash, Kind, Row};
use hmac::{Hmac, Mac};
use sha2::Sha256;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::path::{Component, Path, PathBuf};

/// Set apart from any other use of the secret; changes with what is hashed.
const DOMAIN: &[u8] = b"demure-ledger key v2\n";

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

    /// Reads 32 hexadecimal digits, in small letters.
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

/// What keys are made with. It is never shown.
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
        // A key of any length is accepted.
        let Ok(mut mac) = Hmac::<Sha256>::new_from_slice(&self.0) else { return String::new() };
        mac.update(DOMAIN);
        mac.update(message);
        hex(&mac.finalize().into_bytes())
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret(…)")
    }
}

/// A journal's id and secret, and the number of the row that gave them.
#[derive(Clone, Debug)]
pub(crate) struct Identified {
    pub(crate) seq: u64,
    pub(crate) id: LedgerId,
    pub(crate) secret: Secret,
    /// What the policy's file was called; empty if it was not written down.
    pub(crate) name: String,
}

impl Identified {
    /// A new secret for `id`, for a policy of that name.
    pub(crate) fn new(id: LedgerId, name: &str) -> Result<Self> {
        Ok(Self { seq: 0, id, secret: Secret::random()?, name: name.to_owned() })
    }
}

/// Whose row a row of a table is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unit {
    /// The table's name in the policy.
    pub table: String,
    /// The unit, with every table that it is found through.
    pub unit: String,
    /// Where the rows come from: as the policy says, and every other spelling of it.
    pub sources: Vec<String>,
}

/// A table without people in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PublicTable {
    /// The table's name in the policy.
    pub table: String,
    /// Where the rows come from, as of a [`Unit`].
    pub sources: Vec<String>,
}

/// What a policy says that its ledger is for. What differs from it is refused, but for the
/// limit's ε and δ, which may change.
#[derive(Clone, Debug)]
pub struct Charter {
    /// What the policy's file is called, without its ending.
    pub name: String,
    /// The budget, its currency and its neighbours.
    pub limit: Limit,
    /// The unit of every table with people in it.
    pub units: Vec<Unit>,
    /// The tables without people in them.
    pub public: Vec<PublicTable>,
    /// Who opens it, as the journal will have it.
    pub by: String,
}

/// The ledger that took the place of this one.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Successor {
    /// Its id.
    pub id: String,
    /// Where it is, and why.
    pub note: String,
    /// Who replaced it.
    pub by: String,
}

impl Successor {
    /// The ledger `id`, which `by` put in this one's place.
    #[must_use]
    pub fn new(id: &str, note: &str, by: &str) -> Self {
        Self { id: id.to_owned(), note: note.to_owned(), by: by.to_owned() }
    }
}

/// What is known of a table with people in it.
#[derive(Clone, Debug)]
struct Recorded {
    unit: String,
    sources: BTreeSet<PathBuf>,
}

/// What a journal says of itself.
#[derive(Clone, Debug, Default)]
pub(crate) struct Known {
    pub(crate) identity: Option<Identified>,
    /// What took its place.
    pub(crate) successor: Option<Successor>,
    /// By table.
    units: BTreeMap<String, Recorded>,
}

impl Known {
    /// Takes a row of kind `identity`, `unit` or `replaced`.
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
        let new = || Recorded { unit: row.event.clone(), sources: BTreeSet::new() };
        let table = self.units.entry(row.key.clone()).or_insert_with(new);
        if table.unit != row.event {
            return Err(row.fault(Fault::OtherCurrency));
        }
        table.sources.insert(spelled(&row.query));
        Ok(())
    }

    /// Is this source of a table written down?
    pub(crate) fn has(&self, table: &str, source: &str) -> bool {
        self.units.get(table).is_some_and(|known| known.sources.contains(&spelled(source)))
    }

    /// Is any unit of this table written down?
    pub(crate) fn knows(&self, table: &str) -> bool {
        self.units.contains_key(table)
    }

    /// Was one of these sources ever that of a table with people in it?
    pub(crate) fn knows_source(&self, sources: &[String]) -> bool {
        self.of(sources).next().is_some()
    }

    /// The tables that ever had one of these sources.
    fn of(&self, sources: &[String]) -> impl Iterator<Item = (&String, &Recorded)> {
        let sources: Vec<PathBuf> = sources.iter().map(|source| spelled(source)).collect();
        self.units
            .iter()
            .filter(move |(_, known)| sources.iter().any(|source| known.sources.contains(source)))
    }

    /// May a table have this unit? It keeps the one it has under its name. Without one it is
    /// every table that ever had one of its sources, under another name: but for those of
    /// `together`, which came into the policy with it.
    pub(crate) fn allows(&self, dataset: &str, unit: &Unit, together: &[String]) -> Result<()> {
        let stored = match self.units.get(&unit.table) {
            Some(own) => Some(own).filter(|own| own.unit != unit.unit),
            None => {
                let mut others =
                    self.of(&unit.sources).filter(|(name, _)| !together.contains(name));
                others.find(|(_, old)| old.unit != unit.unit).map(|(_, old)| old)
            }
        };
        stored.map_or(Ok(()), |old| {
            Err(Error::OtherUnit {
                dataset: dataset.to_owned(),
                table: unit.table.clone(),
                stored: old.unit.clone(),
                asked: unit.unit.clone(),
            })
        })
    }

    /// May a table be public? Not if people's rows were counted in it, under whatever name.
    pub(crate) fn allows_public(&self, dataset: &str, public: &PublicTable) -> Result<()> {
        let own = self.units.get(&public.table);
        match own.or_else(|| self.of(&public.sources).map(|(_, old)| old).next()) {
            None => Ok(()),
            Some(old) => Err(Error::MadePublic {
                dataset: dataset.to_owned(),
                table: public.table.clone(),
                stored: old.unit.clone(),
            }),
        }
    }
}

/// A source without what makes two spellings of one path: `./visits.csv`, `data//visits.csv`.
fn spelled(source: &str) -> PathBuf {
    let parts = Path::new(source).components();
    parts.filter(|part| *part != Component::CurDir).collect()
}

/// A place in a journal, for keeping elsewhere: `17:9f86d0…`, or the hash alone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Anchor {
    /// The number of the entry, if it is known.
    pub seq: Option<u64>,
    /// Its hash.
    pub hash: Hash,
}

impl Anchor {
    /// Reads what [`Anchor`]'s `Display` wrote, or a hash in hexadecimal.
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
mod tests {
    use super::*;

    #[test]
    fn ids_and_anchors_read_back_as_they_were_written() {
        let id = LedgerId::random().unwrap();
        assert_eq!(LedgerId::parse(&id.to_string()), Some(id.clone()));
        assert_ne!(LedgerId::random().unwrap(), id);
        for bad in ["", "12", &"g".repeat(32), &"A".repeat(32), &"0".repeat(33)] {
            assert_eq!(LedgerId::parse(bad), None, "{bad}");
        }
        let anchor = Anchor { seq: Some(17), hash: [0xab; 32] };
        assert_eq!(Anchor::parse(&anchor.to_string()), Some(anchor.clone()));
        assert_eq!(Anchor::parse(&"ab".repeat(32)), Some(Anchor { seq: None, ..anchor }));
        for bad in ["", "17:", "x:00", &"zz".repeat(32), "17:00", &"é".repeat(32)] {
            assert_eq!(Anchor::parse(bad), None, "{bad}");
        }
    }

    #[test]
    fn a_key_depends_on_the_secret_and_on_the_message() {
        let (one, two) = (Secret::random().unwrap(), Secret::random().unwrap());
        assert_eq!(one.seal(&[1; 32]), one.seal(&[1; 32]));
        assert_ne!(one.seal(&[1; 32]), one.seal(&[2; 32]));
        assert_ne!(one.seal(&[1; 32]), two.seal(&[1; 32]));
        assert_eq!(format!("{one:?}"), "Secret(…)");
        // RFC 4231 has HMAC-SHA-256; this is its use here, computed apart from this code.
        let zero = Secret([0; 32]);
        let expected = "0524f2944c8c1e8f2dc1213aa2792503d991230a21395b0f374282963e8b57bf";
        assert_eq!(zero.seal(&[0; 32]), expected);
    }
}
