//! Why the ledger refused. No variant holds a value from protected data: what
//! is named here is the policy, the file, and public prices.

use crate::access::Exposed;
use crate::identity::{LedgerId, Successor};
use crate::limit::{Accounting, Limit};
use crate::price::Price;
use crate::rule::Rule;
use crate::totals::Frozen;
use demure_core::unit::Neighbours;
use std::fmt;
use std::path::PathBuf;

/// What the ledger can refuse, and what to do about it.
///
/// # Guarantee
/// Whatever the variant: the operation that returned it granted nothing. An
/// error of [`crate::Ledger::reserve`] is not a reservation, so nothing may be
/// read; an error of [`crate::Reading::settle`] means that the answer must not
/// be shown, and that its price stays spent.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The query costs more than is left. It cost nothing.
    #[error(
        "this query costs {} and {which} has {} left; nothing was spent; \
         ask for a noisier or coarser answer, or {}",
        asked.in_words(*accounting), left.in_words(*accounting), which.remedy()
    )]
    OverBudget {
        /// The currency.
        accounting: Accounting,
        /// What the query costs.
        asked: Price,
        /// What is left.
        left: Price,
        /// The rule that has no more left.
        which: Rule,
    },

    /// A steward has stopped all spending. It cost nothing.
    #[error(
        "{} has frozen the budget (reason: {:?}); nothing was spent; what you were shown before \
         can still be asked for, and a steward can unfreeze it",
        .0.by, .0.why
    )]
    Frozen(Frozen),

    /// A name that cannot be kept apart from others.
    #[error("the name of the {what} {fault}; nothing was written; choose another")]
    BadName {
        /// Whose it is.
        what: &'static str,
        /// What is wrong with it.
        fault: &'static str,
    },

    /// The event has no finite price in this currency. It cost nothing.
    #[error("this query cannot be priced under {accounting} accounting: {source}")]
    Unpriced {
        /// The currency.
        accounting: Accounting,
        /// What the accountant said.
        source: demure_core::Error,
    },

    /// The event's text does not read back as the event. It cost nothing.
    #[error(
        "what this query does cannot be written down so that it reads back the same, so it was \
         refused; nothing was spent; use fewer repetitions (below 9e15) or less nesting (64)"
    )]
    Unwritable,

    /// The limit makes no sense by itself.
    #[error("the budget is impossible: {source}")]
    ImpossibleLimit {
        /// What the accountant said.
        source: demure_core::Error,
    },

    /// zCDP needs a δ to convert ρ to ε.
    #[error(
        "zcdp accounting needs a delta greater than 0: half of it converts rho to epsilon; \
         set a delta in the policy, or use pure accounting"
    )]
    ZcdpNeedsDelta,

    /// The journal was kept in another currency than the policy now names.
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
        /// As the journal has it.
        stored: Box<Limit>,
        /// As the policy has it.
        asked_accounting: Accounting,
        /// As the policy has it.
        asked_neighbours: Neighbours,
    },

    /// A table has another unit than the one that its budget was spent for.
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
        /// The table whose unit the journal has: the same, or one that had a source or a file of it.
        of: Box<str>,
        /// As the journal has it.
        stored: String,
        /// As the policy has it.
        asked: String,
    },

    /// A table with people in it is public now.
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
        /// As the journal has it.
        stored: String,
    },

    /// Another ledger took the place of this one.
    #[error(
        "this ledger was replaced by {} (new id {}, {}), and nothing is spent from it any more: \
         name the new one in the policy's `[ledger]`; to start again all the same, name it there \
         first, and then run `demure budget new POLICY --new-ledger`",
        .0.by, .0.id, .0.note
    )]
    Replaced(Successor),

    /// The ledger that the policy names is not there.
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

    /// The ledger's name is a link to nothing.
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

    /// The ledger's file holds nothing.
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

    /// Another ledger is where the policy's should be.
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

    /// A ledger that may be the policy's is there, and the policy does not name it.
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

    /// The journal ends before the place that it is known to have reached.
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
        /// The last entry that is known to have been there.
        seq: u64,
    },

    /// The journal went on in another place than the one that is open here.
    #[error(
        "`{}` names entry {seq}, which is not in the journal that is open here: it went on under \
         another path of the same file, whose `-wal` is elsewhere, or its own `-wal` was lost; \
         nothing was granted; stop every process that has it open, let all use one path (mount \
         the folder, not the single file), and start them again",
        path.display()
    )]
    Forked {
        /// The mark.
        path: PathBuf,
        /// The entry that it names.
        seq: u64,
    },

    /// A file of the ledger has several names.
    #[error(
        "`{}` has {names} names (hard links): a ledger under two names would be two budgets; \
         find the others with `find / -xdev -samefile {}` and remove them, or, if this is the \
         copy, remove this one (`cp -al` makes links, not copies)",
        path.display(), path.display()
    )]
    ManyNames {
        /// The file.
        path: PathBuf,
        /// How many.
        names: u64,
    },

    /// The mark of a ledger is gone or not readable.
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

    /// The journal has no such entry.
    #[error(
        "the ledger does not hold the head that was expected; it is another one, or an older copy: \
         nothing was granted; restore the right one, and count as spent what was asked since then"
    )]
    OtherHead,

    /// Others may read a file that is not for them.
    #[error(transparent)]
    Exposed(#[from] Exposed),

    /// There is a ledger already.
    #[error("there is a file at `{}` already; nothing was changed", path.display())]
    Occupied {
        /// The file.
        path: PathBuf,
    },

    /// No randomness.
    #[error("the operating system gave no random bytes; nothing was granted; try again")]
    NoEntropy,

    /// The disk is full.
    #[error(
        "the disk that holds the ledger is full; nothing was granted; free some space and ask \
         again (what was spent before is safe)"
    )]
    DiskFull,

    /// The file cannot be written.
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

    /// The file is no ledger.
    #[error(
        "`{path}` is not a Demure ledger, or its first page is damaged; name another file, or restore a backup"
    )]
    NotALedger {
        /// The file.
        path: PathBuf,
    },

    /// The file cannot be opened at all.
    #[error(
        "`{path}` cannot be opened; check that its directory exists and that this user may \
         write there"
    )]
    CannotOpen {
        /// The file.
        path: PathBuf,
    },

    /// The file has another layout.
    #[error(
        "the ledger has schema version {found} and this program reads version {supported}; use \
         the program that wrote it (nothing was changed)"
    )]
    SchemaVersion {
        /// In the file.
        found: i64,
        /// What this crate reads.
        supported: i64,
    },

    /// The file system cannot give the durability promised.
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
        /// Where.
        seq: u64,
        /// How.
        fault: Fault,
    },

    /// An entry was written by a program that knows more kinds of events.
    #[error("entry {seq} of the ledger cannot be read by this version: {source}; update Demure")]
    UnknownEvent {
        /// Where.
        seq: u64,
        /// What was not understood.
        source: demure_core::event::ParseError,
    },

    /// An entry has no finite price for this version.
    #[error(
        "entry {seq} of the ledger cannot be priced by this version: {source}; use the version \
         that wrote it"
    )]
    UnpricedEntry {
        /// Where.
        seq: u64,
        /// What the accountant said.
        source: demure_core::Error,
    },

    /// The file is not the one that was opened.
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
        /// How long was waited.
        seconds: u64,
    },

    /// The address is none of a PostgreSQL server.
    #[error(
        "the ledger's address cannot be read; write it as postgres://user:password@host/database, \
         or postgres:///database?host=/directory/of/the/socket"
    )]
    BadAddress,

    /// There is no way to the server.
    #[error(
        "cannot connect to the ledger's PostgreSQL server at `{place}`{}; nothing was granted; \
         check that it runs and that this user may connect (TLS is not supported)",
        code.as_ref().map(|code| format!(" (SQLSTATE {code})")).unwrap_or_default()
    )]
    CannotConnect {
        /// The server and the database, without a password.
        place: String,
        /// PostgreSQL's SQLSTATE, if it said anything.
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

    /// The server does not keep what it says it kept.
    #[error(
        "the ledger's PostgreSQL server has `{setting}` switched off, and would lose debits with \
         its power; switch it on"
    )]
    NotDurable {
        /// The server's setting.
        setting: &'static str,
    },

    /// What keeps rows from being changed by accident is gone.
    #[error(
        "the triggers that keep the ledger's table append-only are missing or switched off; \
         switch them on (ALTER TABLE demure.journal ENABLE TRIGGER ALL) and verify again"
    )]
    Unguarded,

    /// The server refused.
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
    /// Does it mean that there is no ledger, or one that is broken, so that nothing can be spent
    /// from it and nothing be written into it? Whatever else went wrong may pass: a lock, a
    /// missing right, a lost connection, a full disk.
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
    /// It does not name the hash of the entry before it, or its number is not the next.
    Unlinked,
    /// A column holds what its type forbids.
    Unreadable,
    /// The journal ends before, or after, the place it says it ends.
    Missing,
    /// The journal does not begin with a limit.
    NoLimit,
    /// A limit in another currency than the one before.
    OtherCurrency,
    /// A settlement or a cancellation without an open reservation.
    Orphan,
    /// A settlement without an answer, or an answer where none belongs.
    Answer,
    /// A cancellation that returns another price than was charged.
    Refund,
    /// A receipt of an answer that was not bought, was bought for another price, or that the
    /// analyst had been shown before.
    Receipt,
    /// The running totals are not those of the journal.
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
