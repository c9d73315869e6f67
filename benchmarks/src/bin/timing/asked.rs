//! Times of statements, asked one after the other or at a fixed pace.
//!
//! An answer on schedule takes longer than its work. So that the audit does not wait for each, several
//! connections take turns at a pace that lets no two statements work at once: what is measured is a quiet
//! machine.

use crate::Fallible;
use crate::world::{ACCOUNT, PASSWORD, Server};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};
use tokio::sync::mpsc;
use tokio_postgres::{Client, NoTls};

/// Seconds, in the order asked.
pub(crate) type Times = Vec<f64>;

/// Connections that take turns.
pub(crate) const CONNECTIONS: usize = 24;

/// So that no statement was ever bought before: each has its own ε.
static ASKED: AtomicU64 = AtomicU64::new(0);

/// Connections to one server.
pub(crate) struct Asker {
    free: mpsc::UnboundedReceiver<Fallible<Client>>,
    back: mpsc::UnboundedSender<Fallible<Client>>,
}

impl Asker {
    pub(crate) async fn connect(server: &Server, connections: usize) -> Fallible<Self> {
        let (back, free) = mpsc::unbounded_channel();
        for _ in 0..connections {
            let mut config = tokio_postgres::Config::new();
            config.host("127.0.0.1").port(server.port).user(ACCOUNT).dbname(&server.name);
            let (client, connection) = config.password(PASSWORD).connect(NoTls).await?;
            tokio::spawn(connection);
            back.send(Ok(client)).map_err(|_| "a connection is gone")?;
        }
        Ok(Self { free, back })
    }

    /// Asks each statement `samples` times, in rounds of all of them in a random order, each
    /// `apart` after the one before or as soon as a connection is free. Returns the times of each.
    pub(crate) async fn ask(
        mut self,
        statements: &[String],
        samples: usize,
        apart: Duration,
    ) -> Fallible<Vec<Times>> {
        let (told, mut times) = mpsc::unbounded_channel();
        let mut order: Vec<usize> = (0..statements.len()).collect();
        // The first round warms the server up.
        for round in 0..=samples {
            shuffle(&mut order)?;
            for which in order.iter().copied() {
                let next = Instant::now() + apart;
                let client = self.free.recv().await.ok_or("no connection is left")??;
                let (told, back, sql) =
                    (told.clone(), self.back.clone(), statements[which].clone());
                tokio::spawn(async move {
                    let timed = timed(&client, &sql).await;
                    if let Ok(seconds) = &timed {
                        // Whoever counts them is there until all are told.
                        let _ = told.send((round, which, *seconds));
                    }
                    let _ = back.send(timed.map(|_| client));
                });
                tokio::time::sleep_until(next.into()).await;
            }
        }
        drop((told, self.back));
        // What failed at the end is told here.
        while let Some(client) = self.free.recv().await {
            client?;
        }
        let mut found = vec![vec![0.0; samples]; statements.len()];
        while let Some((round, which, seconds)) = times.recv().await {
            if round > 0 {
                found[which][round - 1] = seconds;
            }
        }
        Ok(found)
    }
}

/// Seconds from a question to its whole answer.
async fn timed(client: &Client, sql: &str) -> Fallible<f64> {
    let number = ASKED.fetch_add(1, Ordering::Relaxed);
    let epsilon = 0.5 + number as f64 * 1e-7;
    client.simple_query(&format!("SET demure.epsilon = {epsilon}")).await?;
    let begun = Instant::now();
    client.simple_query(sql).await?;
    Ok(begun.elapsed().as_secs_f64())
}

/// Fisher and Yates, with the system's randomness.
fn shuffle(order: &mut [usize]) -> Fallible<()> {
    let mut random = demure_core::random::SystemRandom::new()?;
    for i in (1..order.len()).rev() {
        let j = demure_core::sample::uniform_below(i as u64 + 1, &mut random)?;
        order.swap(i, usize::try_from(j)?);
    }
    Ok(())
}
