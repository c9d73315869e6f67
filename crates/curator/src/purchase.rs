//! From priced aggregates to their released tables: known, given by the ledger, or bought.
//!
//! # Guarantee
//! Every debit of a query is on disk before any row is read for it, and one that is refused
//! takes the others back, unless they wait for a purchase of somebody else: then what is
//! bought before that is refused stays bought, and free from then on. Of equal queries that are
//! under way in this process one is bought ([`crate::flight`]).

use crate::answer::from_bytes;
use crate::bound::Task;
use crate::error::{Error, Result};
use crate::flight::{Claim, End, Flight, Lead};
use crate::release::public_keys;
use crate::session::{Priced, Session, free, on_large_stack};
use datafusion::arrow::array::RecordBatch;
use demure_ledger::{Price, Purchase, Request, Reservation};
use std::sync::Arc;

/// The released tables of a query, as far as they are there, and what they cost.
struct Obtained {
    tables: Vec<Option<RecordBatch>>,
    price: Price,
}

/// An answer that is debited.
struct Paid {
    place: usize,
    lead: Lead,
    task: Task,
    reservation: Reservation,
}

impl Obtained {
    fn add(&mut self, place: usize, table: RecordBatch, price: Price) {
        self.tables[place] = Some(table);
        self.price.main += price.main;
        self.price.delta += price.delta;
    }
}

impl Session {
    /// The table of each aggregate, and what they cost together. `words` is how long the
    /// statement is.
    pub(crate) async fn obtain(
        &self,
        priced: &[Arc<Priced>],
        words: usize,
    ) -> Result<(Vec<RecordBatch>, Price)> {
        let mut tables = Vec::with_capacity(priced.len());
        for p in priced {
            tables.push(match &p.known {
                Some(table) => Some(table.clone()),
                // Public keys alone: nothing of it comes from the data.
                None if free(&p.quote.event) => Some(public_keys(&p.aggregate)?),
                None => None,
            });
        }
        let mut obtained = Obtained { tables, price: Price::ZERO };
        loop {
            // Nobody waits before what it leads has ended, so no two wait for each other.
            let (mut leads, mut joined) = (Vec::new(), Vec::new());
            for (place, p) in priced.iter().enumerate() {
                if obtained.tables[place].is_none() {
                    match self.curator.flights.claim(&p.key) {
                        Claim::Lead(lead) => leads.push((place, lead)),
                        Claim::Join(flight) => joined.push((place, flight)),
                    }
                }
            }
            if leads.is_empty() && joined.is_empty() {
                break;
            }
            for paid in self.pay(priced, leads, &mut obtained).await? {
                let price = paid.reservation.price();
                let (place, table) = self.compute(priced, paid, words).await?;
                obtained.add(place, table, price);
            }
            for (place, flight) in joined {
                self.wait(&priced[place], place, &flight, &mut obtained).await?;
            }
        }
        Ok((obtained.tables.into_iter().flatten().collect(), obtained.price))
    }

    /// Debits what is not in the ledger yet.
    async fn pay(
        &self,
        priced: &[Arc<Priced>],
        leads: Vec<(usize, Lead)>,
        obtained: &mut Obtained,
    ) -> Result<Vec<Paid>> {
        let curator = &self.curator;
        // Plans first, as they cost nothing.
        let mut planned = Vec::with_capacity(leads.len());
        for (place, lead) in leads {
            let p = &priced[place];
            planned.push((place, lead, curator.prepare(&p.aggregate, &p.quote).await?));
        }
        let mut debited: Vec<Paid> = Vec::new();
        for (place, lead, task) in planned {
            match self.purchase(&priced[place]).await {
                Ok(Bought::Given(table, price)) => {
                    lead.found();
                    obtained.add(place, table, price);
                }
                Ok(Bought::Reserved(reservation)) => {
                    debited.push(Paid { place, lead, task, reservation });
                }
                Err(error) => {
                    for paid in debited {
                        paid.reservation.cancel()?;
                    }
                    return Err(error);
                }
            }
        }
        Ok(debited)
    }

    /// Asks the ledger for one answer.
    async fn purchase(&self, p: &Priced) -> Result<Bought> {
        let request = Request {
            who: self.who.clone(),
            key: p.key.clone(),
            query: p.aggregate.text(),
            event: p.quote.event.clone(),
        };
        let answers = self.curator.policy.budget.answers;
        let again = request.clone();
        let bought =
            self.curator.at_the_ledger(move |ledger| ledger.purchase(&request, answers)).await??;
        Ok(match bought {
            Purchase::Reserved(reservation) => Bought::Reserved(reservation),
            Purchase::Given { answer, price } => match p.fitting(&answer) {
                Some(table) => Bought::Given(table, price),
                // Written by a build that stored it otherwise.
                None => Bought::Reserved(
                    self.curator.at_the_ledger(move |ledger| ledger.reserve(&again)).await??,
                ),
            },
        })
    }

    /// Reads the rows and releases what was paid for.
    async fn compute(
        &self,
        priced: &[Arc<Priced>],
        paid: Paid,
        words: usize,
    ) -> Result<(usize, RecordBatch)> {
        let Paid { place, lead, task, reservation } = paid;
        let (curator, p) = (Arc::clone(&self.curator), Arc::clone(&priced[place]));
        let buying = async move { curator.buy(&p, task, reservation).await };
        let running = lead.start(async move { on_large_stack(words, buying).await });
        match running.outcome().await {
            Ok(outcome) => Ok((place, outcome?)),
            // A panic message may contain protected data.
            Err(_) => Err(self.curator.incidents.record("the release panicked")),
        }
    }

    /// Waits for somebody else's purchase, and takes what it bought. Nothing is added where it
    /// was given up.
    async fn wait(
        &self,
        p: &Priced,
        place: usize,
        flight: &Flight,
        obtained: &mut Obtained,
    ) -> Result<()> {
        match flight.ended().await {
            Some(End::Settled) => match self.purchase(p).await? {
                Bought::Given(table, price) => obtained.add(place, table, price),
                Bought::Reserved(reservation) => reservation.cancel()?,
            },
            Some(End::Failed) => return Err(Error::Together),
            None => {}
        }
        Ok(())
    }
}

/// What the ledger says to a request.
enum Bought {
    /// The answer, and what it cost this analyst.
    Given(RecordBatch, Price),
    Reserved(Reservation),
}

impl Priced {
    /// The table that `bytes` hold, if it is one of this aggregate's.
    pub(crate) fn fitting(&self, bytes: &[u8]) -> Option<RecordBatch> {
        from_bytes(bytes).filter(|table| self.table.fits(table))
    }
}
