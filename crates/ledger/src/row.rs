//! One row of the journal, and the hash that chains it to the row before.

use crate::error::{Error, Fault, Result};
use crate::price::Price;
use crate::question::{self, Question};
use sha2::{Digest, Sha256};
use std::fmt;
use std::time::{Duration, SystemTime};

/// A SHA-256 hash.
pub type Hash = [u8; 32];

/// The previous hash in the first row.
pub(crate) const GENESIS: Hash = [0; 32];

/// Domain separation from any other use of SHA-256; changes with the encoding.
const DOMAIN: &[u8] = b"demure-ledger row v1\n";

/// The kind of a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Kind {
    /// The budget from here on.
    Limit,
    /// A debit.
    Reserve,
    /// A refunded debit, before anything was read.
    Cancel,
    /// The answer that a debit bought.
    Settle,
    /// The limit of an analyst or a group, from here on.
    Grant,
    /// An analyst joins or leaves a group.
    Member,
    /// A period, from here to the next.
    Period,
    /// Nothing can be reserved from here on.
    Freeze,
    /// The end of a freeze.
    Unfreeze,
    /// The journal's id and the secret of its keys.
    Identity,
    /// The privacy unit of a table.
    Unit,
    /// An analyst is shown an answer that another analyst bought.
    Receive,
    /// Another ledger replaced this one: nothing is debited from here on.
    Replaced,
}

impl Kind {
    const ALL: [Self; 13] = [
        Self::Limit,
        Self::Reserve,
        Self::Cancel,
        Self::Settle,
        Self::Grant,
        Self::Member,
        Self::Period,
        Self::Freeze,
        Self::Unfreeze,
        Self::Identity,
        Self::Unit,
        Self::Receive,
        Self::Replaced,
    ];

    pub(crate) fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.name() == text)
    }

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Limit => "limit",
            Self::Reserve => "reserve",
            Self::Cancel => "cancel",
            Self::Settle => "settle",
            Self::Grant => "grant",
            Self::Member => "member",
            Self::Period => "window",
            Self::Freeze => "freeze",
            Self::Unfreeze => "thaw",
            Self::Identity => "identity",
            Self::Unit => "unit",
            Self::Receive => "receive",
            Self::Replaced => "replaced",
        }
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A row as it is stored.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Row {
    pub(crate) dataset: String,
    /// From 1, without gaps.
    pub(crate) seq: u64,
    /// Microseconds since 1970, by the clock; it may go backwards.
    pub(crate) time: i64,
    pub(crate) kind: Kind,
    /// The reservation that a cancellation or a settlement refers to.
    pub(crate) refers: Option<u64>,
    pub(crate) who: String,
    pub(crate) key: String,
    /// Of a reservation or a receipt, the question may come first (`question.rs`).
    pub(crate) query: String,
    /// The event's text, the limit's, or the rule's (`rule.rs`).
    pub(crate) event: String,
    /// The price charged or refunded; for a limit or a rule, what may be spent.
    pub(crate) price: Price,
    /// The answer of a settlement, or the secret of an identity.
    pub(crate) answer: Option<Vec<u8>>,
    pub(crate) before: Hash,
    pub(crate) hash: Hash,
}

impl Row {
    /// The hash of everything else in the row.
    ///
    /// # Guarantee
    /// Two different rows never have the same encoding: the fields come in a fixed order, numbers have a fixed width,
    /// texts and answers are preceded by their length, and optional fields by whether they are present.
    pub(crate) fn digest(&self) -> Hash {
        let mut sha = Sha256::new();
        sha.update(DOMAIN);
        bytes(&mut sha, self.dataset.as_bytes());
        sha.update(self.seq.to_be_bytes());
        sha.update(self.time.to_be_bytes());
        bytes(&mut sha, self.kind.name().as_bytes());
        sha.update([u8::from(self.refers.is_some())]);
        sha.update(self.refers.unwrap_or(0).to_be_bytes());
        for text in [&self.who, &self.key, &self.query, &self.event] {
            bytes(&mut sha, text.as_bytes());
        }
        sha.update(self.price.main.to_bits().to_be_bytes());
        sha.update(self.price.delta.to_bits().to_be_bytes());
        sha.update([u8::from(self.answer.is_some())]);
        bytes(&mut sha, self.answer.as_deref().unwrap_or_default());
        sha.update(self.before);
        sha.finalize().into()
    }

    /// The row with its hash.
    pub(crate) fn sealed(mut self) -> Self {
        self.hash = self.digest();
        self
    }

    /// Checks that the hash is that of the contents.
    pub(crate) fn check(&self) -> Result<()> {
        if self.hash == self.digest() { Ok(()) } else { Err(self.fault(Fault::Altered)) }
    }

    pub(crate) fn fault(&self, fault: Fault) -> Error {
        Error::Broken { seq: self.seq, fault }
    }
}

fn bytes(sha: &mut Sha256, bytes: &[u8]) {
    sha.update((bytes.len() as u64).to_be_bytes());
    sha.update(bytes);
}

/// What came of a debit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Outcome {
    /// The answer is in the journal.
    Answered,
    /// It was taken back before anything was read.
    Cancelled,
    /// There is no answer: it is still being computed, or it failed. It is spent.
    Open,
}

impl Outcome {
    /// What the row that closes a reservation makes of it; `None` is no row.
    pub(crate) fn of(closing: Option<Kind>) -> Self {
        match closing {
            Some(Kind::Settle) => Self::Answered,
            Some(Kind::Cancel) => Self::Cancelled,
            _ => Self::Open,
        }
    }

    /// `answered`, `cancelled` or `open`.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Answered => "answered",
            Self::Cancelled => "cancelled",
            Self::Open => "open",
        }
    }
}

/// A row of the journal, for people and programs to read.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Entry {
    /// Its number, from 1.
    pub seq: u64,
    /// The time, by the writer's clock. The order is that of `seq`.
    pub time: SystemTime,
    /// The kind of the entry.
    pub kind: Kind,
    /// The reservation that a cancellation or a settlement refers to.
    pub refers: Option<u64>,
    /// Who asked, or was shown the answer; for a rule, the steward.
    pub who: String,
    /// The query's cache key; for a rule, the analyst or group that it is for; for a unit, the table; for an identity,
    /// the ledger's id; for a replacement, the id of the new ledger.
    pub key: String,
    /// The query's canonical text (reservation), the reason (freeze), the source (unit), where the ledger comes from
    /// (identity), or where the new ledger is (replacement).
    pub query: String,
    /// The question as the analyst wrote it (reservation or receipt). Entries of earlier versions have none, and neither
    /// have debits that no question caused.
    pub question: Option<Question>,
    /// What came of it (reservation).
    pub outcome: Option<Outcome>,
    /// The event in the core's grammar (reservation or receipt), the limit, or the rule.
    pub event: String,
    /// The price charged or refunded; for a limit or a rule, what may be spent.
    pub price: Price,
    /// The length in bytes of the answer (settlement), or of the secret (identity).
    pub answer_bytes: Option<u64>,
    /// The hash that the next entry refers to.
    pub hash: Hash,
    /// Whether `key` and `hash` reveal nothing about the data. Keys were once plain hashes of sizes and times of
    /// files; entries from that time may only be shown without both.
    pub shareable: bool,
}

/// When something was spent or taken back, and how much was spent then.
#[must_use]
pub fn spending(entries: &[Entry]) -> Vec<(SystemTime, f64)> {
    let (mut spent, mut steps) = (0.0f64, Vec::new());
    for entry in entries {
        match entry.kind {
            Kind::Limit if steps.is_empty() => {}
            Kind::Reserve => spent += entry.price.main,
            Kind::Cancel => spent = (spent - entry.price.main).max(0.0),
            _ => continue,
        }
        steps.push((entry.time, spent));
    }
    steps
}

impl From<Row> for Entry {
    fn from(row: Row) -> Self {
        let (question, query) = match row.kind {
            Kind::Reserve | Kind::Receive => {
                let (question, canonical) = question::parted(&row.query);
                (question, canonical.to_owned())
            }
            _ => (None, row.query),
        };
        Self {
            seq: row.seq,
            time: from_micros(row.time),
            kind: row.kind,
            refers: row.refers,
            who: row.who,
            key: row.key,
            query,
            question,
            outcome: None,
            event: row.event,
            price: row.price,
            // For a unit, it would reveal how many files the table has.
            answer_bytes: row
                .answer
                .filter(|_| row.kind != Kind::Unit)
                .map(|answer| answer.len() as u64),
            hash: row.hash,
            shareable: false,
        }
    }
}

/// Microseconds since 1970, negative before; saturates in the far past and future.
pub(crate) fn to_micros(time: SystemTime) -> i64 {
    match time.duration_since(SystemTime::UNIX_EPOCH) {
        Ok(after) => i64::try_from(after.as_micros()).unwrap_or(i64::MAX),
        Err(before) => {
            i64::try_from(before.duration().as_micros()).map_or(i64::MIN, |micros| -micros)
        }
    }
}

fn from_micros(micros: i64) -> SystemTime {
    let distance = Duration::from_micros(micros.unsigned_abs());
    let time = if micros >= 0 {
        SystemTime::UNIX_EPOCH.checked_add(distance)
    } else {
        SystemTime::UNIX_EPOCH.checked_sub(distance)
    };
    time.unwrap_or(SystemTime::UNIX_EPOCH)
}

#[cfg(test)]
pub(crate) fn example() -> Row {
    Row {
        dataset: "visits".into(),
        seq: 7,
        time: 1_700_000_000_000_000,
        kind: Kind::Settle,
        refers: Some(6),
        who: "ann".into(),
        key: "00ff".into(),
        query: "SELECT 1".into(),
        event: "pure(eps=1)".into(),
        price: Price { main: 1.0, delta: 0.0 },
        answer: Some(vec![1, 2, 3]),
        before: GENESIS,
        hash: GENESIS,
    }
    .sealed()
}

#[cfg(test)]
mod tests;
