//! Appending: one transaction for all who wait, and one decision for each of them.

use super::Ledger;
use crate::connection::Connection;
use crate::decide::{self, Command};
use crate::error::{Error, Result};
use crate::replay::{Replay, Step};
use crate::row::{Hash, Kind, Row, to_micros};
use crate::store::{Intent, Transaction};
use std::sync::Mutex;

impl Ledger {
    /// Appends the row for `command`, if there is one, and returns it when it is on disk.
    pub(crate) fn append(&self, command: Command) -> Result<Option<Row>> {
        Ok(self.append_all(vec![command])?.pop().flatten())
    }

    /// The same for several commands, all of them or none. Several commands must be purchases.
    pub(crate) fn append_all(&self, commands: Vec<Command>) -> Result<Vec<Option<Row>>> {
        let time = to_micros((self.shared.clock)());
        self.shared.queue.submit((commands, time), |batch| {
            let waiting = batch.len();
            self.write(batch).unwrap_or_else(|error| vec![Err(error); waiting])
        })
    }

    /// Appends the rows for `commands` in one transaction, all of them or none. First, `check` inspects the journal and
    /// the store, while no other writer can append.
    pub(crate) fn append_whole(
        &self,
        check: impl FnOnce(&Replay, &dyn Transaction) -> Result<()>,
        commands: Vec<Command>,
    ) -> Result<()> {
        let time = to_micros((self.shared.clock)());
        self.transact(|scratch, transaction, seen| {
            check(scratch, transaction)?;
            let mut last = None;
            for command in commands {
                // A failure here drops the transaction, with everything that was appended in it.
                for row in
                    one(scratch, transaction, seen, vec![command], time)??.into_iter().flatten()
                {
                    last = Some((row.seq, row.hash));
                }
            }
            Ok(((), last))
        })
    }

    /// Writes all of `batch` in one transaction. A refusal affects only the refused command; after any other failure
    /// none of it counts, and the next writer reads the journal again.
    fn write(&self, batch: Vec<(Vec<Command>, i64)>) -> Result<Vec<Decided>> {
        self.transact(|scratch, transaction, seen| {
            let (mut outcomes, mut debited) = (Vec::with_capacity(batch.len()), None);
            for (commands, time) in batch {
                let decided = match commands.len() {
                    1 => one(scratch, transaction, seen, commands, time)?,
                    _ => together(scratch, transaction, seen, commands, time)?,
                };
                for row in decided.iter().flatten().flatten() {
                    // Without these rows more is spent, not less.
                    if !matches!(row.kind, Kind::Settle | Kind::Cancel) {
                        debited = Some((row.seq, row.hash));
                    }
                }
                outcomes.push(decided);
            }
            Ok((outcomes, debited))
        })
    }

    /// Runs `work` on the newest state, with all other writers excluded, and commits what it appended. With its
    /// result, `work` returns the last row that must not get lost.
    fn transact<R>(
        &self,
        work: impl FnOnce(
            &mut Replay,
            &mut dyn Transaction,
            (u64, Hash),
        ) -> Result<(R, Option<(u64, Hash)>)>,
    ) -> Result<R> {
        let dataset = &self.shared.dataset;
        let mut guard = self.shared.writer.lock().map_err(|_| Error::Interrupted)?;
        let mark = self.shared.mark.as_ref().map(Mutex::lock).transpose();
        let mut mark = mark.map_err(|_| Error::Interrupted)?;
        // Held from before the decision until it is recorded, by whatever path others reach the file.
        let mut held = mark.as_mut().map(|mark| mark.hold()).transpose()?;
        let Connection { store, replay, seen } = &mut *guard;
        let mut transaction = store.begin(Intent::Append)?;
        let mut scratch = Replay::caught_up(replay.take(), dataset, *seen, &*transaction)?;
        if let Some(held) = &mut held {
            held.is_in(&scratch, &*transaction)?;
        }
        let before = scratch.head();
        let (result, debited) = work(&mut scratch, &mut *transaction, *seen)?;
        if scratch.head() != before {
            transaction.commit()?;
        }
        *seen = scratch.head();
        *replay = Some(scratch);
        // Before anything is granted: a journal that loses this row must be detected.
        if let (Some(held), Some(head)) = (&mut held, debited) {
            held.advance(head)?;
        }
        Ok(result)
    }
}

/// The results of commands that were requested together.
type Decided = Result<Vec<Option<Row>>>;

/// Decides on one command and appends its row. The outer error is the store's.
fn one(
    scratch: &mut Replay,
    transaction: &mut dyn Transaction,
    seen: (u64, Hash),
    commands: Vec<Command>,
    time: i64,
) -> Result<Decided> {
    let mut rows = Vec::new();
    for command in commands {
        let row = match command.decide(scratch, time) {
            Ok(row) => row,
            Err(error) => return Ok(Err(error)),
        };
        if let Some(row) = &row {
            transaction.append(row)?;
            // Applied in the same way as everyone else's rows.
            if scratch.apply(row)? == Step::StartOver {
                let dataset = scratch.dataset().to_owned();
                *scratch = Replay::caught_up(None, &dataset, seen, transaction)?;
            }
        }
        rows.push(row);
    }
    Ok(Ok(rows))
}

/// Decides on purchases one after the other, each with those before it counted, and appends their rows if all of them
/// are allowed. The outer error is the store's.
fn together(
    scratch: &mut Replay,
    transaction: &mut dyn Transaction,
    seen: (u64, Hash),
    commands: Vec<Command>,
    time: i64,
) -> Result<Decided> {
    let mut rows = Vec::with_capacity(commands.len());
    let mut moments = Vec::with_capacity(commands.len());
    let mut refused = None;
    for command in &commands {
        match command.clone().decide(scratch, time) {
            Ok(row) => {
                moments.push(scratch.moment());
                if let Some(row) = &row {
                    // Neither a debit nor a receipt makes the replay start over.
                    let _ = scratch.apply(row)?;
                }
                rows.push(row);
            }
            Err(error) => {
                refused = Some(error);
                break;
            }
        }
    }
    let Some(error) = refused else {
        rows.iter().flatten().try_for_each(|row| transaction.append(row))?;
        return Ok(Ok(rows));
    };
    let mut undone = rows.iter().zip(&moments).rev();
    let forgotten =
        undone.all(|(row, before)| row.as_ref().is_none_or(|row| scratch.forget(row, before)));
    if !forgotten {
        let dataset = scratch.dataset().to_owned();
        *scratch = Replay::caught_up(None, &dataset, seen, transaction)?;
    }
    Ok(Err(decide::in_all(error, scratch, &commands)))
}
