//! The PostgreSQL wire: `psql`, psycopg, JDBC and whatever else speaks version 3.

pub mod catalog;
mod fault;
mod gone;
mod names;
mod parameters;
mod query;
mod split;
mod startup;

use crate::desk::Desk;
use crate::tls::Tls;
use catalog::{Catalog, Catalogs};
use demure_curator::Session;
use pgwire::api::cancel::{CancelHandler, DefaultCancelHandler};
use pgwire::api::{ConnectionManager, ErrorHandler, PgWireServerHandlers};
use pgwire::tokio::process_socket;
use std::sync::Arc;
use std::time::Duration;
use tokio::net::TcpListener;
use tokio::sync::{Mutex, watch};
use tokio::task::JoinSet;

/// What a client and server agree on where TLS begins at once.
const PROTOCOL: &[u8] = b"postgresql";

/// Kept with a connection from when somebody was let in: no statement is looked at without it.
pub(crate) struct Entered {
    name: String,
    session: Mutex<Session>,
    catalog: Catalog,
    names: names::Names,
}

/// All that one connection needs.
struct Handlers {
    startup: Arc<startup::Startup>,
    query: Arc<query::Statements>,
    cancel: Arc<DefaultCancelHandler>,
}

/// Errors are made where they happen.
struct Quiet;

impl ErrorHandler for Quiet {}

impl PgWireServerHandlers for Handlers {
    fn simple_query_handler(&self) -> Arc<impl pgwire::api::query::SimpleQueryHandler> {
        Arc::clone(&self.query)
    }

    fn extended_query_handler(&self) -> Arc<impl pgwire::api::query::ExtendedQueryHandler> {
        Arc::clone(&self.query)
    }

    fn startup_handler(&self) -> Arc<impl pgwire::api::auth::StartupHandler> {
        Arc::clone(&self.startup)
    }

    fn error_handler(&self) -> Arc<impl ErrorHandler> {
        Arc::new(Quiet)
    }

    fn cancel_handler(&self) -> Arc<impl CancelHandler> {
        Arc::clone(&self.cancel)
    }
}

/// Serves until `stop` is true, then waits for the statements that run, for a while.
pub async fn serve(
    listener: TcpListener,
    tls: Option<Tls>,
    desk: Arc<Desk>,
    mut stop: watch::Receiver<bool>,
) {
    let acceptor = tls.as_ref().map(|tls| tls.acceptor(&[PROTOCOL]));
    let binding = tls.and_then(|tls| tls.binding);
    let manager = Arc::new(ConnectionManager::new());
    let catalogs = Arc::new(Catalogs::default());
    let mut connections = JoinSet::new();
    loop {
        let accepted = tokio::select! {
            accepted = listener.accept() => accepted,
            _ = stop.wait_for(|stop| *stop) => break,
            // Those that ended are forgotten.
            Some(_) = connections.join_next(), if !connections.is_empty() => continue,
        };
        let Ok((socket, _)) = accepted else {
            // Out of descriptors, most likely: the next one may be free soon.
            tokio::time::sleep(Duration::from_millis(50)).await;
            continue;
        };
        if connections.len() >= desk.limits.connections {
            continue; // closed at once
        }
        let startup = startup::Startup::new(
            Arc::clone(&desk),
            binding.clone(),
            Arc::clone(&manager),
            Arc::clone(&catalogs),
        );
        let handlers = Handlers {
            startup: Arc::new(startup),
            query: Arc::new(query::Statements::new(Arc::clone(&desk))),
            cancel: Arc::new(DefaultCancelHandler::new(Arc::clone(&manager))),
        };
        let (acceptor, desk, mut stop) = (acceptor.clone(), Arc::clone(&desk), stop.clone());
        connections.spawn(async move {
            let _counted = Counted::new(&desk);
            let Ok((socket, watch)) = gone::watched(socket) else { return };
            tokio::select! {
                // A connection that breaks is nobody's business but the client's.
                _ = process_socket(socket, acceptor, handlers) => {}
                // Its statement ends with it.
                () = gone::gone(&watch) => {}
                () = drained(&mut stop, &desk) => {}
            }
        });
    }
    while connections.join_next().await.is_some() {}
}

/// A connection that is counted, however it ends.
struct Counted(Arc<Desk>);

impl Counted {
    fn new(desk: &Arc<Desk>) -> Self {
        desk.metrics.connected(1);
        Self(Arc::clone(desk))
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        self.0.metrics.connected(-1);
    }
}

/// Ends when the server stops and nothing runs any more, or has run too long: within a second, all is
/// over.
async fn drained(stop: &mut watch::Receiver<bool>, desk: &Desk) {
    const PATIENCE: Duration = Duration::from_millis(500);
    let _ = stop.wait_for(|stop| *stop).await;
    let quiet = async {
        while desk.running() > 0 {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    let _ = tokio::time::timeout(PATIENCE, quiet).await;
}
