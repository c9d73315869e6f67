//! The ledger's errors. No variant holds a value from protected data: they name the policy, the file, and public
//! prices.

use crate::access::Exposed;
use crate::identity::{LedgerId, Successor};
use crate::limit::{Accounting, Limit};
use crate::price::Price;
use crate::rule::Rule;
use crate::totals::Frozen;
use demure_core::unit::Neighbours;
use std::fmt;
use std::path::PathBuf;

/// Why the ledger refused, and what to do about it.
///
/// # Guarantee
/// Whatever the variant, the operation that returned it granted nothing. An error of [`crate::Ledger::reserve`] is not
/// a reservation, so nothing may be read; an error of [`crate::Reading::settle`] means that the answer must not be
/// shown, and that its price stays spent.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The query costs more than is left. Nothing was spent.
    #[error(
        "this query costs {} and {which} has {} left; nothing was spent; \
         ask for a noisier or coarser answer, or {}",
        asked.in_words(*accounting), left.in_words(*accounting), which.remedy()
    )]
    OverBudget {
        /// The unit of accounting.
        accounting: Accounting,
        /// What the query costs.
        asked: Price,
        /// What is left.
        left: Price,
        /// The rule that has too little left.
        which: Rule,
    },

    /// A steward has frozen the budget. Nothing was spent.
    #[error(
        "{} has frozen the budget (reason: {:?}); nothing was spent; what you were shown before \
         can still be asked for, and a steward can unfreeze it",
        .0.by, .0.why
    )]
    Frozen(Frozen),

    /// An invalid name, which could be confused with others.
    #[error("the name of the {what} {fault}; nothing was written; choose another")]
    BadName {
        /// What the name is for.
        what: &'static str,
        /// What is wrong with it.
        fault: &'static str,
    },

    /// The event has no finite price under this accounting. Nothing was spent.
    #[error("this query cannot be priced under {accounting} accounting: {source}")]
    Unpriced {
        /// The unit of accounting.
        accounting: Accounting,
        /// The accountant's error.
        source: demure_core::Error,
    },

    /// The event's text does not parse back to the event. Nothing was spent.
    #[error(
        "what this query does cannot be written down so that it reads back the same, so it was \
         refused; nothing was spent; use fewer repetitions (below 9e15) or less nesting (64)"
    )]
    Unwritable,

    /// The limit is invalid.
    #[error("the budget is impossible: {source}")]
    ImpossibleLimit {
        /// The accountant's error.
        source: demure_core::Error,
    },

    /// zCDP needs a δ to convert ρ to ε.
    #[error(
        "zcdp accounting needs a delta greater than 0: half of it converts rho to epsilon; \
         set a delta in the policy, or use pure accounting"
    )]
    ZcdpNeedsDelta,

    /// The journal was kept with other accounting or neighbours than the policy now names.
    #[error(
        "the ledger of `{dataset}` was kept with {} accounting under {} neighbours, and the \
         policy now says {} under {}; what was spent cannot be converted: put the policy back, \
         or start again with `demure budget new POLICY --new-ledger`; what was spent before then \
         adds to what is spent from there on, for the same people",
        stored.accounting, stored.neighbours, asked_accounting, asked_neighbours
    )]
    OtherAccounting {
        /// The dataset.
        dataset: String,
        /// The limit in the journal.
        stored: Box<Limit>,
        /// The accounting in the policy.
        asked_accounting: Accounting,
        /// The neighbours in the policy.
        asked_neighbours: Neighbours,
    },

    /// A table has a different unit than the one its budget was spent for.
    #[error(
        "table `{table}` has the unit {asked}, and the ledger of `{dataset}` was kept with the \
         unit {stored}{}; what was spent is worth something else per person then: put the unit{} \
         back, or start again with `demure budget new POLICY --new-ledger`; what was spent before \
         then adds to what is spent from there on, for the same people",
        if **of == **table { String::new() } else { format!(" for the same source or file, as table `{of}`") },
        if **of == **table { "" } else { " or the source" }
    )]
    OtherUnit {
        /// The dataset.
        dataset: String,
        /// The table.
        table: String,
        /// The table whose unit the journal has: the same, or one that had one of its sources or files.
        of: Box<str>,
        /// The unit in the journal.
        stored: String,
        /// The unit in the policy.
        asked: String,
    },

    /// A table that has held people's rows is public in the policy.
    #[error(
        "table `{table}` is public in the policy, and the ledger of `{dataset}` was kept for the \
         people in its rows (unit {stored}); who reads them without noise learns what the budget \
         hid: put `unit` back, or, if nobody is in them any more, start again with \
         `demure budget new POLICY --new-ledger`"
    )]
    MadePublic {
        /// The dataset.
        dataset: String,
        /// The table.
        table: String,
        /// The unit in the journal.
        stored: String,
    },

    /// Another ledger has replaced this one.
    #[error(
        "this ledger was replaced by {} (new id {}, {}), and nothing is spent from it any more: \
         name the new one in the policy's `[ledger]`; to start again all the same, name it there \
         first, and then run `demure budget new POLICY --new-ledger`",
        .0.by, .0.id, .0.note
    )]
    Replaced(Successor),

    /// The ledger that the policy names does not exist.
    #[error(
        "there is no ledger at `{}`, where the policy has had one; a new one would be a second \
         budget: put the file back, with its `-wal` and `-head` (or restore a backup, and count as \
         spent what was asked since then); to start again all the same, run \
         `demure budget new POLICY --new-ledger`",
        path.display()
    )]
    NoLedger {
        /// Where it should be.
        path: PathBuf,
    },

    /// The ledger's path is a dangling link.
    #[error(
        "`{}` is a link that leads nowhere; a new ledger behind it would be a second budget: mount \
         or put back what it points to; to start again all the same, run \
         `demure budget new POLICY --new-ledger`",
        path.display()
    )]
    DanglingLink {
        /// The link.
        path: PathBuf,
    },

    /// The ledger's file is empty.
    #[error(
        "the ledger `{}` is empty; a new one in its place would be a second budget: restore a \
         backup, and count as spent what was asked since then; to start again all the same, run \
         `demure budget new POLICY --new-ledger`",
        path.display()
    )]
    EmptyLedger {
        /// The file.
        path: PathBuf,
    },

    /// A different ledger is where the policy's should be.
    #[error(
        "the ledger at `{place}` is not the one that the policy names, {asked}: put that one \
         there, or correct `[ledger]` in the policy; to start again all the same, run \
         `demure budget new POLICY --new-ledger`"
    )]
    OtherLedger {
        /// Where it was looked for, without a password.
        place: String,
        /// The id that the policy names.
        asked: LedgerId,
    },

    /// There is a ledger that may be the policy's, but the policy does not name it.
    #[error(
        "`{place}` holds a budget already that may be the one of `{name}`, and the policy does \
         not name it: if it is, write these lines into the policy{}; if not, run \
         `demure budget new POLICY --new-ledger`",
        id.as_ref().map_or_else(
            || " (no id was found: restore the policy, which has it)".to_owned(),
            |id| format!("\n[ledger]\nid = \"{id}\"\nat = {place:?}\n")
        )
    )]
    Unclaimed {
        /// Where it is, without a password.
        place: String,
        /// The policy's name.
        name: String,
        /// The id that was found.
        id: Option<LedgerId>,
    },

    /// The journal ends before an entry that it is known to have had.
    #[error(
        "the ledger `{}` has lost its end: entry {seq} was granted and is not there; put back \
         its `-wal`, or restore a backup with its `-wal` and `-head`, and count as spent what was \
         asked since then; to start again all the same, run \
         `demure budget new POLICY --new-ledger`",
        path.display()
    )]
    LostEnd {
        /// The file.
        path: PathBuf,
        /// The last entry that is known to have existed.
        seq: u64,
    },

    /// The journal was continued elsewhere, not in the file that is open here.
    #[error(
        "`{}` names entry {seq}, which is not in the journal that is open here: it went on under \
         another path of the same file, whose `-wal` is elsewhere, or its own `-wal` was lost; \
         nothing was granted; stop every process that has it open, let all use one path (mount \
         the folder, not the single file), and start them again",
        path.display()
    )]
    Forked {
        /// The mark file.
        path: PathBuf,
        /// The entry that it names.
        seq: u64,
    },

    /// A file of the ledger has several hard links.
    #[error(
        "`{}` has {names} names (hard links): a ledger under two names would be two budgets; \
         find the others with `find / -xdev -samefile {}` and remove them, or, if this is the \
         copy, remove this one (`cp -al` makes links, not copies)",
        path.display(), path.display()
    )]
    ManyNames {
        /// The file.
        path: PathBuf,
        /// The number of names.
        names: u64,
    },

    /// The mark of a ledger is missing or unreadable.
    #[error(
        "`{}`, which says how far the ledger had come, is missing or damaged; without it nobody \
         can tell whether debits were lost: put it back; to start again all the same, run \
         `demure budget new POLICY --new-ledger`",
        path.display()
    )]
    BadHead {
        /// The file.
        path: PathBuf,
    },

    /// The journal does not contain the expected entry.
    #[error(
        "the ledger does not hold the head that was expected; it is another one, or an older copy: \
         nothing was granted; restore the right one, and count as spent what was asked since then"
    )]
    OtherHead,

    /// Others may read a file that is not for them.
    #[error(transparent)]
    Exposed(#[from] Exposed),

    /// There already is a ledger.
    #[error("there is a file at `{}` already; nothing was changed", path.display())]
    Occupied {
        /// The file.
        path: PathBuf,
    },

    /// The operating system provides no randomness.
    #[error("the operating system gave no random bytes; nothing was granted; try again")]
    NoEntropy,

    /// The disk is full.
    #[error(
        "the disk that holds the ledger is full; nothing was granted; free some space and ask \
         again (what was spent before is safe)"
    )]
    DiskFull,

    /// The file is read-only.
    #[error(
        "the ledger is read-only; nothing was granted; give this user write permission on the \
         file and on its directory"
    )]
    ReadOnly,

    /// The file is damaged.
    #[error(
        "the ledger file is damaged; nothing was granted; restore the newest backup, and count as \
         spent what was asked since then"
    )]
    Corrupt,

    /// The file is not a ledger.
    #[error(
        "`{path}` is not a Demure ledger, or its first page is damaged; name another file, or restore a backup"
    )]
    NotALedger {
        /// The file.
        path: PathBuf,
    },

    /// The file cannot be opened.
    #[error(
        "`{path}` cannot be opened; check that its directory exists and that this user may \
         write there"
    )]
    CannotOpen {
        /// The file.
        path: PathBuf,
    },

    /// The file has another schema version.
    #[error(
        "the ledger has schema version {found} and this program reads version {supported}; use \
         the program that wrote it (nothing was changed)"
    )]
    SchemaVersion {
        /// The version of the file.
        found: i64,
        /// The version that this crate reads.
        supported: i64,
    },

    /// The file system cannot provide the promised durability.
    #[error(
        "the file system of the ledger has no shared memory for a write-ahead log; put the \
         ledger on a local disk"
    )]
    NoWriteAheadLog,

    /// The journal contradicts itself.
    #[error(
        "entry {seq} of the ledger {fault}; nothing was granted; do not edit the journal: restore \
         a backup, and count as spent what was asked since then"
    )]
    Broken {
        /// The entry.
        seq: u64,
        /// The contradiction.
        fault: Fault,
    },

    /// An entry was written by a later program that has more kinds of events.
    #[error("entry {seq} of the ledger cannot be read by this version: {source}; update Demure")]
    UnknownEvent {
        /// The entry.
        seq: u64,
        /// The parser's error.
        source: demure_core::event::ParseError,
    },

    /// An entry has no finite price in this version.
    #[error(
        "entry {seq} of the ledger cannot be priced by this version: {source}; use the version \
         that wrote it"
    )]
    UnpricedEntry {
        /// The entry.
        seq: u64,
        /// The accountant's error.
        source: demure_core::Error,
    },

    /// The file was replaced while it was open.
    #[error(
        "`{path}` was moved, deleted or replaced while the ledger was open; nothing was granted; \
         put the file back, with its `-wal`, and open the ledger again"
    )]
    Moved {
        /// The file.
        path: PathBuf,
    },

    /// Another process held the ledger for too long.
    #[error(
        "another process has kept the ledger locked for {seconds} s; nothing was granted; ask \
         again, and if that does not help, look for a stopped process that has it open"
    )]
    Locked {
        /// How long the wait was.
        seconds: u64,
    },

    /// Not the address of a PostgreSQL server.
    #[error(
        "the ledger's address cannot be read; write it as postgres://user:password@host/database, \
         or postgres:///database?host=/directory/of/the/socket"
    )]
    BadAddress,

    /// The server cannot be reached.
    #[error(
        "cannot connect to the ledger's PostgreSQL server at `{place}`{}; nothing was granted; \
         check that it runs and that this user may connect (TLS is not supported)",
        code.as_ref().map(|code| format!(" (SQLSTATE {code})")).unwrap_or_default()
    )]
    CannotConnect {
        /// The server and the database, without a password.
        place: String,
        /// PostgreSQL's SQLSTATE, if there was one.
        code: Option<String>,
    },

    /// The connection was lost.
    #[error(
        "the connection to the ledger's PostgreSQL server at `{place}` was lost; nothing was \
         granted; ask again (what may have been written all the same counts as spent)"
    )]
    Disconnected {
        /// The server and the database, without a password.
        place: String,
    },

    /// The server's settings do not guarantee durability.
    #[error(
        "the ledger's PostgreSQL server has `{setting}` switched off, and would lose debits with \
         its power; switch it on"
    )]
    NotDurable {
        /// The server's setting.
        setting: &'static str,
    },

    /// The triggers that keep rows from being changed by accident are missing.
    #[error(
        "the triggers that keep the ledger's table append-only are missing or switched off; \
         switch them on (ALTER TABLE demure.journal ENABLE TRIGGER ALL) and verify again"
    )]
    Unguarded,

    /// The server returned an error.
    #[error(
        "the ledger's PostgreSQL server failed (SQLSTATE {code}); nothing was granted; look into \
         the server's log, and check the rights on the schema `demure`"
    )]
    Server {
        /// PostgreSQL's SQLSTATE.
        code: String,
    },

    /// A thread panicked inside the ledger.
    #[error("a thread stopped in the middle of a ledger operation; open the ledger again")]
    Interrupted,

    /// The disk or the operating system failed.
    #[error(
        "the ledger could not be read or written (SQLite code {code}); nothing was granted; look \
         for disk errors in the system's log, then open the ledger again"
    )]
    Storage {
        /// SQLite's extended result code (sqlite.org/rescode.html).
        code: i32,
    },
}

impl Error {
    /// Whether there is no ledger or a broken one, so that nothing can be spent from it or written into it. All other
    /// failures may pass: a lock, a missing permission, a lost connection, a full disk.
    #[must_use]
    pub fn is_gone_or_broken(&self) -> bool {
        matches!(
            self,
            Self::NoLedger { .. }
                | Self::EmptyLedger { .. }
                | Self::DanglingLink { .. }
                | Self::NotALedger { .. }
                | Self::OtherLedger { .. }
                | Self::LostEnd { .. }
                | Self::BadHead { .. }
                | Self::Broken { .. }
                | Self::Corrupt
        )
    }
}

/// How a journal contradicts itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Fault {
    /// Its hash is not the hash of its contents.
    Altered,
    /// It does not contain the hash of the entry before it, or its number is not the next.
    Unlinked,
    /// A column holds a value that its type forbids.
    Unreadable,
    /// The journal does not end where its head says it ends.
    Missing,
    /// The journal does not begin with a limit.
    NoLimit,
    /// A limit with other accounting or neighbours than the one before.
    OtherCurrency,
    /// A settlement or a cancellation without an open reservation.
    Orphan,
    /// A settlement without an answer, or an answer in a row that must not have one.
    Answer,
    /// A cancellation that refunds another price than was charged.
    Refund,
    /// A receipt of an answer that was not bought, was bought for another price, or had been shown to the analyst
    /// before.
    Receipt,
    /// The totals in memory differ from those of the journal.
    Totals,
    /// A second identity.
    Identity,
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Altered => "has been altered since it was written",
            Self::Unlinked => "does not follow from the entry before it",
            Self::Unreadable => "has a column that cannot be read",
            Self::Missing => "is not where the journal says it ends: entries were lost or added",
            Self::NoLimit => "comes before any limit",
            Self::OtherCurrency => "changes the currency of the budget",
            Self::Orphan => "settles or cancels a reservation that is not open",
            Self::Answer => "is a settlement without an answer, or has an answer and is none",
            Self::Refund => "gives back another price than was charged",
            Self::Receipt => {
                "receives an answer that was not bought before it at that price, or not for the first \
                 time"
            }
            Self::Totals => "does not have the total that was kept in memory",
            Self::Identity => "gives the ledger a second id",
        })
    }
}

/// The ledger's result.
pub type Result<T, E = Error> = std::result::Result<T, E>;
