//! The PostgreSQL wire: `psql`, psycopg, JDBC and whatever else speaks version 3.

mod connection;
mod fault;
mod formality;
mod frame;
mod names;
mod parameters;
mod query;
mod startup;
mod tables;
mod timeout;

use crate::places::Places;
use crate::query_service::QueryService;
use crate::tls::Tls;
use crate::users::{Mark, Role};
use demure_curator::Session;
use demure_pg_catalog::{Catalog, Catalogs};
use pgwire::api::ConnectionManager;
use std::sync::Arc;
use std::time::Duration;
use tokio::net::TcpListener;
use tokio::sync::{Mutex, watch};
use tokio::task::JoinSet;
use tokio_rustls::TlsAcceptor;

/// What a client and server agree on where TLS begins at once.
const PROTOCOL: &[u8] = b"postgresql";

/// Whether connections are encrypted.
#[derive(Clone, Debug)]
pub enum Encryption {
    /// They are not.
    None,
    /// All are; PostgreSQL calls it `hostssl`.
    Required(Tls),
    /// Those that ask for it: for loopback, where a steward allowed it by name.
    Offered(Tls),
}

impl Encryption {
    pub(crate) fn tls(&self) -> Option<&Tls> {
        match self {
            Self::None => None,
            Self::Required(tls) | Self::Offered(tls) => Some(tls),
        }
    }
}

/// Kept with a connection from when somebody was let in: no statement is looked at without it.
pub(crate) struct Authenticated {
    name: String,
    role: Role,
    /// Of the password that was proved: another one ends the connection.
    mark: Mark,
    session: Mutex<Session>,
    catalog: Catalog,
    names: names::Names,
    timeout: timeout::Timeout,
}

/// What all connections have in common.
struct Shared {
    service: Arc<QueryService>,
    encryption: Encryption,
    acceptor: Option<TlsAcceptor>,
    manager: Arc<ConnectionManager>,
    catalogs: Arc<Catalogs>,
}

/// Serves until `stop` is true, then waits for the statements that run, for a while.
///
/// Accepting and signing in happen in the runtime that this is called in, statements in that of
/// the service: with two, statements that compute keep nobody from signing in.
pub async fn serve(
    listener: TcpListener,
    encryption: Encryption,
    service: Arc<QueryService>,
    mut stop: watch::Receiver<bool>,
) {
    let limits = &service.limits;
    let places = Places::new(
        limits.connections,
        limits.connections_per_address,
        limits.connections_per_account,
    );
    let shared = Arc::new(Shared {
        service: Arc::clone(&service),
        acceptor: encryption.tls().map(|tls| tls.acceptor(&[PROTOCOL])),
        encryption,
        manager: Arc::new(ConnectionManager::new()),
        catalogs: Arc::new(Catalogs::default()),
    });
    let mut connections = JoinSet::new();
    loop {
        let accepted = tokio::select! {
            accepted = listener.accept() => accepted,
            _ = stop.wait_for(|stop| *stop) => break,
            // Those that ended are forgotten.
            Some(_) = connections.join_next(), if !connections.is_empty() => continue,
        };
        let Ok((socket, address)) = accepted else {
            // Out of descriptors, most likely: the next one may be free soon.
            tokio::time::sleep(Duration::from_millis(50)).await;
            continue;
        };
        // Who finds no place is closed at once.
        let Some(place) = places.take(address.ip()) else { continue };
        let (shared, stop) = (Arc::clone(&shared), stop.clone());
        connections.spawn(async move {
            let _counted = Counted::new(&shared.service);
            connection::serve(socket, address, place, shared, stop).await;
        });
    }
    while connections.join_next().await.is_some() {}
}

/// A connection that is counted, however it ends.
struct Counted(Arc<QueryService>);

impl Counted {
    fn new(service: &Arc<QueryService>) -> Self {
        service.metrics.connected(1);
        Self(Arc::clone(service))
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        self.0.metrics.connected(-1);
    }
}

/// Ends when the server stops and nothing runs any more, or has run too long: within a second, all is
/// over.
async fn drained(stop: &mut watch::Receiver<bool>, service: &QueryService) {
    const PATIENCE: Duration = Duration::from_millis(500);
    let _ = stop.wait_for(|stop| *stop).await;
    let quiet = async {
        while service.running() > 0 {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    let _ = tokio::time::timeout(PATIENCE, quiet).await;
}
