//! The journal page by page.
//!
//! # Guarantee
//! A page reads no more rows than it shows and those that close its debits, and looks at no more than [`LOOKED_AT`]
//! numbers, however long the journal is: the store finds rows by their numbers.

use super::Ledger;
use crate::error::Result;
use crate::row::Entry;
use crate::store::{Intent, Span};

/// The most numbers that a page of one person's entries looks at. The answers in other people's rows are not read.
const LOOKED_AT: u64 = 10_000;

/// Where a page begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Start {
    /// After the entry with this number, the oldest first.
    After(u64),
    /// Before the entry with this number, the newest first.
    Before(u64),
}

/// Some entries in a row.
#[derive(Clone, Debug, PartialEq)]
pub struct Page {
    /// The entries, in the order of the page.
    pub entries: Vec<Entry>,
    /// Where the next page begins, in the same direction; `None` if this is the last. A page of one person's entries
    /// may have a next one although it is not full.
    pub next: Option<u64>,
}

impl Ledger {
    /// At most `most` entries, without the answers themselves: those of `who`, or everyone's.
    pub fn page(&self, start: Start, who: Option<&str>, most: usize) -> Result<Page> {
        let most = most.max(1);
        self.apart(|store| {
            let transaction = store.begin(Intent::Read)?;
            let dataset = &self.shared.dataset;
            let newest = transaction.head(dataset)?.map_or(0, |(seq, _)| seq);
            let reach = if who.is_some() { LOOKED_AT } else { u64::MAX };
            let (after, before, newest_first) = match start {
                Start::After(after) => {
                    let end = after.saturating_add(reach).min(newest);
                    (after, end.saturating_add(1), false)
                }
                Start::Before(before) => {
                    let before = before.min(newest.saturating_add(1));
                    (before.saturating_sub(reach).saturating_sub(1), before, true)
                }
            };
            let span = Span { after, before, newest_first, who, most: most.saturating_add(1) };
            let mut rows = transaction.page(dataset, &span)?;
            let more = rows.len() > most;
            rows.truncate(most);
            let beyond = match newest_first {
                true => (after > 0).then(|| after + 1),
                false => (before <= newest).then(|| before - 1),
            };
            let next = if more { rows.last().map(|row| row.seq) } else { beyond };
            let mut entries = Vec::with_capacity(rows.len());
            for row in rows {
                row.check()?;
                entries.push(self.entry(row));
            }
            self.with_outcomes(&mut entries, &*transaction)?;
            Ok(Page { entries, next })
        })
    }
}
