//! From priced aggregates to their released tables: known, received from the ledger, or bought.
//!
//! # Guarantee
//! Every debit of a query is on disk before any row is read for it. Everything that a query buys or receives is
//! decided at once: after a refusal, nothing is debited and nothing is received. A query that waits for another
//! analyst's purchase may fail after it has bought a part: that part stays bought and is free from then on, and the
//! error says so. Of equal queries under way in this process, one is bought ([`crate::answer::flight`]). Nothing that
//! was read is visible before the gate opens: no table, no error, no entry in the ledger. Rows are read by separate
//! threads ([`super::workers`]), so queries that wait for the gate do not wait for them.

use super::gate::Gate;
use super::{Asked, Asker, Part, Purchase, Reserved, workers};
use crate::aggregate::Released;
use crate::answer::flight::{self, Claim, End, Flight, Lead};
use crate::curator::Curator;
use crate::error::{Error, Result};
use crate::statement::on_large_stack;
use crate::words::price as price_in_words;
use demure_ledger::{Price, Purchase as Sold, Request, Reservation};
use std::sync::Arc;

/// The released tables of a query so far, and what they cost.
struct Obtained {
    tables: Vec<Option<Released>>,
    price: Price,
}

/// A debited answer, and the flight that it leads.
struct Paid {
    place: usize,
    lead: Lead,
    reserved: Reserved,
}

impl Obtained {
    fn add(
        &mut self,
        parts: &[Arc<Part>],
        place: usize,
        table: Released,
        price: Price,
    ) -> Result<()> {
        self.price.main += price.main;
        self.price.delta += price.delta;
        fill(&parts[place], &table)?;
        self.tables[place] = Some(table);
        Ok(())
    }
}

/// Fills the table from which the rest of the statement reads a release.
fn fill(part: &Part, table: &Released) -> Result<()> {
    part.table.fill(table).map_err(|e| Error::After(e.strip_backtrace()))
}

impl Asker<'_> {
    /// The table of each aggregate, and what they cost together. The ledger stores what was `asked` with every debit
    /// and receipt.
    pub(crate) async fn obtain(
        &self,
        gate: &Arc<dyn Gate>,
        parts: &[Arc<Part>],
        asked: &Asked,
    ) -> Result<(Vec<Released>, Price)> {
        let mut tables = Vec::with_capacity(parts.len());
        for part in parts {
            tables.push(match &part.purchase {
                Purchase::Known(released) => Some(released.clone()),
                Purchase::Public => Some(Released::public_keys(&part.aggregate)?),
                Purchase::Buy => None,
            });
            if let Some(Some(table)) = tables.last() {
                fill(part, table)?;
            }
        }
        let mut obtained = Obtained { tables, price: Price::ZERO };
        loop {
            // A query waits for others only after all that it leads has ended, so no two wait for each other.
            let (mut leads, mut joined) = (Vec::new(), Vec::new());
            for (place, p) in parts.iter().enumerate() {
                // What uses another's number is bought together with that, or once it is there.
                let ready = p.needs().all(|need| {
                    let led = leads.iter().any(|(at, _)| *at == need);
                    led || obtained.tables.get(need).is_some_and(Option::is_some)
                });
                if obtained.tables[place].is_none() && ready {
                    match self.curator.flights.claim(&p.key) {
                        Claim::Lead(lead) => leads.push((place, lead)),
                        Claim::Join(flight) => joined.push((place, flight)),
                    }
                }
            }
            if leads.is_empty() && joined.is_empty() {
                break;
            }
            let paid = self.pay(parts, leads, asked, &mut obtained).await;
            let paid = paid.map_err(|error| self.partly(error, &obtained))?;
            self.compute(gate, parts, paid, asked.words, &mut obtained).await?;
            for (place, flight) in joined {
                let waited = self.wait(parts, place, &flight, asked, &mut obtained).await;
                waited.map_err(|error| self.partly(error, &obtained))?;
            }
        }
        Ok((obtained.tables.into_iter().flatten().collect(), obtained.price))
    }

    /// The error of a query that had bought or received part of what it needs, which is on record.
    fn partly(&self, error: Error, obtained: &Obtained) -> Error {
        if obtained.price == Price::ZERO {
            return error;
        }
        let spent = price_in_words(&obtained.price, self.curator.concentrated());
        Error::Partly { spent, source: Box::new(error) }
    }

    /// Debits answers that are not in the ledger yet.
    async fn pay(
        &self,
        parts: &[Arc<Part>],
        leads: Vec<(usize, Lead)>,
        asked: &Asked,
        obtained: &mut Obtained,
    ) -> Result<Vec<Paid>> {
        let curator = self.curator;
        // Plans first, because planning costs nothing.
        let mut planned = Vec::with_capacity(leads.len());
        for (place, lead) in leads {
            let p = &parts[place];
            planned.push((place, lead, p.task(curator).await?));
        }
        let wanted: Vec<&Part> = planned.iter().map(|(place, ..)| &*parts[*place]).collect();
        let bought = self.purchase(&wanted, asked).await?;
        let mut debited: Vec<Paid> = Vec::new();
        for ((place, lead, task), one) in planned.into_iter().zip(bought) {
            match one {
                Bought::Given(table, price) => {
                    lead.found();
                    obtained.add(parts, place, table, price)?;
                }
                Bought::Reserved(reservation) => {
                    let reserved = Reserved::new(Arc::clone(&parts[place]), task, reservation);
                    debited.push(Paid { place, lead, reserved });
                }
            }
        }
        Ok(debited)
    }

    /// Asks the ledger for answers: all of them, or none.
    async fn purchase(&self, wanted: &[&Part], asked: &Asked) -> Result<Vec<Bought>> {
        let requests: Vec<Request> = wanted
            .iter()
            .map(|p| Request {
                who: self.who.to_owned(),
                key: p.key.clone(),
                query: p.aggregate.text(),
                event: p.quote.event.clone(),
            })
            .collect();
        let answers = self.curator.policy.budget.answers;
        let question = asked.question.clone();
        let bought = self
            .curator
            .at_the_ledger(move |ledger| ledger.purchase_asked(&question, &requests, answers))
            .await??;
        let (mut obtained, mut unreadable) = (Vec::with_capacity(bought.len()), false);
        for (p, one) in wanted.iter().zip(bought) {
            match one {
                Sold::Reserved(reservation) => obtained.push(Bought::Reserved(reservation)),
                Sold::Given { answer, price } => match p.fitting(&answer) {
                    Some(table) => obtained.push(Bought::Given(table, price)),
                    None => unreadable = true,
                },
            }
        }
        if !unreadable {
            return Ok(obtained);
        }
        // Another build sold it under this key after the price was asked.
        for one in obtained {
            if let Bought::Reserved(reservation) = one {
                self.cancel(reservation)?;
            }
        }
        Err(Error::Unreadable)
    }

    /// Gives back what was debited and is not needed. Where that fails it stays spent, and the ledger's words, that nothing was granted,
    /// would be wrong.
    fn cancel(&self, reservation: Reservation) -> Result<()> {
        let cancelled = reservation.cancel();
        cancelled.map(|_| ()).map_err(|error| self.curator.incidents.record(&error.to_string()))
    }

    /// Reads the rows and releases what was paid for, in one task: together they leave once.
    async fn compute(
        &self,
        gate: &Arc<dyn Gate>,
        parts: &[Arc<Part>],
        paid: Vec<Paid>,
        words: usize,
        obtained: &mut Obtained,
    ) -> Result<()> {
        if paid.is_empty() {
            return Ok(());
        }
        let (mut leads, mut bills, mut orders) = (Vec::new(), Vec::new(), Vec::new());
        for Paid { place, lead, reserved } in paid {
            leads.push(lead);
            bills.push((place, reserved.price()));
            orders.push(reserved);
        }
        gate.begin().await;
        let buying = buy(Arc::clone(self.curator), Arc::clone(gate), orders, words);
        let running = flight::start(leads, buying);
        let Ok(tables) = running.outcome().await else {
            // A panic message may contain protected data.
            return Err(self.curator.incidents.record("the release panicked"));
        };
        for ((place, price), table) in bills.into_iter().zip(tables) {
            obtained.add(parts, place, table?, price)?;
        }
        Ok(())
    }

    /// Waits for another's purchase, and takes what it bought. Adds nothing if that purchase was abandoned.
    async fn wait(
        &self,
        parts: &[Arc<Part>],
        place: usize,
        flight: &Flight,
        asked: &Asked,
        obtained: &mut Obtained,
    ) -> Result<()> {
        match flight.ended().await {
            Some(End::Settled) => {
                for one in self.purchase(&[&parts[place]], asked).await? {
                    match one {
                        Bought::Given(table, price) => obtained.add(parts, place, table, price)?,
                        Bought::Reserved(reservation) => self.cancel(reservation)?,
                    }
                }
            }
            Some(End::Failed) => return Err(Error::Together),
            None => {}
        }
        Ok(())
    }
}

/// The table of each order. After a failure the remaining orders are not read, but stay spent.
async fn buy(
    curator: Arc<Curator>,
    gate: Arc<dyn Gate>,
    orders: Vec<Reserved>,
    words: usize,
) -> Vec<Result<Released>> {
    // From here to the gate, time depends on protected rows, and nothing may be visible: failures are reported after
    // it.
    let mut measured = Vec::with_capacity(orders.len());
    for reserved in orders {
        measured.push(match measured.iter().all(Result::is_ok) {
            true => {
                let of = Arc::clone(&curator);
                let work = async move {
                    let measured = on_large_stack(words, reserved.measured(&of)).await?;
                    measured.noised(&of)
                };
                // A panic message may contain protected data.
                let panicked = |_| Err(curator.incidents.record("the release panicked"));
                workers::run(work).await.unwrap_or_else(panicked)
            }
            false => Err(Error::Together),
        });
    }
    gate.leave().await;
    let mut tables = Vec::with_capacity(measured.len());
    for one in measured {
        tables.push(match one {
            Ok(noised) => noised.settled(&curator).await,
            Err(error) => Err(error),
        });
    }
    tables
}

/// The ledger's reply to a request.
enum Bought {
    /// The answer, and what it cost this analyst.
    Given(Released, Price),
    Reserved(Reservation),
}
