//! A durable, append-only, hash-chained journal of debits.
//!
//! | module | what it holds |
//! |---|---|
//! | `ledger` | [`Ledger`]: debits, the balance, repeats, verification |
//! | `ledger/append` | makes rows durable: a transaction's commit, then the mark |
//! | `decide` | decides what may be appended to the journal |
//! | `queue` | group commit: waiting threads share a transaction |
//! | `connection` | a connection, and what was read through it |
//! | `identity` | [`LedgerId`], [`Charter`]: the identity of a journal, and the secret of its keys |
//! | `opening` | opens the ledger that a policy names, and no other |
//! | `replacing` | replaces a ledger by another |
//! | `place` | [`Place`]: where a ledger is |
//! | `mark` | how far a journal in a file had come, recorded next to it |
//! | `parts` | unfinished files, and files with several names |
//! | `access` | files that only their owner may read |
//! | `purchase` | [`Purchase`], [`Answers`]: buys answers, or receives those that another analyst bought |
//! | `question` | [`Question`]: what the analyst wrote, in the rows of its debits and receipts |
//! | `steward` | a steward's commands: limits, groups, periods, freezes |
//! | `balance` | [`Balance`], [`Balances`], [`AnalystBalance`]: what is spent and left |
//! | `reservation` | [`Reservation`], [`Reading`]: the steps after a debit |
//! | `limit` | [`Limit`]: the budget of a dataset, and its guarantee |
//! | `price` | [`Price`]: ε or ρ, and δ |
//! | `meter` | a running total, by the core's filter |
//! | `totals` | which debits count against which limits |
//! | `rule` | [`Rule`]: limits, groups and periods as text in the journal |
//! | `replay` | the journal read from its beginning: checks and totals |
//! | `row` | one row of the journal, and its hash |
//! | `store` | where rows are stored: SQLite, PostgreSQL; what a store must guarantee |
//! | `error` | [`Error`]: what went wrong and what to do next |
//!
//! # Example
//! ```
//! use demure_core::event::Event;
//! use demure_core::unit::{Delta, Epsilon, Neighbours};
//! use demure_ledger::{Accounting, Ledger, Limit, Request};
//!
//! let ledger = Ledger::in_memory(Limit {
//!     accounting: Accounting::Zcdp,
//!     epsilon: Epsilon::new(1.0)?,
//!     delta: Delta::new(1e-6)?,
//!     neighbours: Neighbours::AddRemove,
//! })?;
//! let request = Request {
//!     who: "ann".into(),
//!     key: "5c0f".into(),
//!     query: "SELECT COUNT(*) FROM visits".into(),
//!     event: Event::gaussian(50.0)?,
//! };
//! let reservation = ledger.reserve(&request)?; // debited, and on disk
//! let reading = reservation.begin()?;          // now the data may be read
//! reading.settle(b"1042")?;                    // on disk: now it may be shown
//! assert_eq!(ledger.find("5c0f")?.as_deref(), Some(&b"1042"[..]));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Invariants
//! 1. *Write ahead.* A debit is on disk before its [`Reservation`] exists, and an
//!    answer before [`Reading::settle`] returns.
//! 2. *Spent stays spent.* Whatever happens to a reservation, only
//!    [`Reservation::cancel`] refunds it, and no longer once it has begun.
//! 3. *One total.* Every decision is made in a transaction that excludes all other
//!    writers and has read all that they wrote.
//! 4. *Recomputed, not remembered.* Totals come from the events of the journal
//!    through the core's filter, rounding up; the prices in the file are for human readers.
//! 5. *An error grants nothing*, and memory never holds anything that is not committed.
//! 6. *The one that the policy names.* [`Ledger::open_own`] opens the journal with that id,
//!    with that unit of each table and everything that was granted, or none.
//! 7. *Append-only.* Entries are chained by SHA-256; [`Ledger::verify`] detects a change, a gap
//!    or an exchange, and so does every opening.
//!
//! # What this crate does not do
//! It decides neither who may ask nor what a query costs: the curator reports the privacy event
//! ([`demure_core::event::Event`]), the core prices it. It adds no noise and reads no data.
//!
//! It does not resist someone who may write the file: they can replace it by an older copy, together with its mark
//! (`-head`), or rewrite the chain from some entry on. An open ledger notices that its own past is gone; one that is
//! opened later cannot. [`Ledger::anchor`], kept elsewhere, can. Copying the file alone while it is open loses what is
//! still in its log (`-wal`), and the copy is refused afterwards: back up with SQLite's `VACUUM INTO` or `.backup`,
//! and copy the mark *before* that.
//!
//! It does not merge concurrent requests: of two equal queries, the second is debited too unless the first is settled,
//! and its buyer keeps their own answer; everyone else receives the first. The curator lets equal queries wait for
//! each other; curators on several machines that share a ledger do not.
//!
//! SQLite's locks do not work across a network: the file must be on a local disk. To share a budget between machines,
//! use PostgreSQL ([`Ledger::connect`]), without TLS: over a socket, a private network or a tunnel.
#![forbid(unsafe_code)]

pub mod access;
mod balance;
mod connection;
mod decide;
mod error;
mod identity;
mod ledger;
mod limit;
mod mark;
mod meter;
mod opening;
mod parts;
mod place;
mod price;
mod purchase;
mod question;
mod queue;
mod replacing;
mod replay;
mod reservation;
mod row;
mod rule;
mod steward;
mod store;
#[cfg(test)]
mod tests;
mod totals;

pub use balance::{AnalystBalance, Balance, Balances, Group, Share, SubjectLimit};
pub use error::{Error, Fault, Result};
pub use identity::{Anchor, Charter, LedgerId, PublicTable, Successor, Unit};
pub use ledger::{Clock, Ledger, Page, Request, Start, Verified, wall_clock};
pub use limit::{Accounting, Limit};
pub use opening::Adopted;
pub use place::{Address, Place};
pub use price::Price;
pub use purchase::{Answers, Purchase};
pub use question::Question;
pub use reservation::{Reading, Reservation};
pub use row::{Entry, Hash, Kind, Outcome, spending};
pub use rule::Rule;
pub use totals::Frozen;
