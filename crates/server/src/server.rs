//! Both wires of one service, from the sockets to an orderly end.

use crate::http::{self, HttpSettings};
use crate::pg::{self, Encryption};
use crate::query_service::QueryService;
use futures::FutureExt;
use futures::future::BoxFuture;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;
use tokio::net::TcpListener;
use tokio::runtime::{Builder, Runtime};
use tokio::sync::watch;

/// What statements under way have to finish in when the server stops.
const LAST_MOMENT: Duration = Duration::from_millis(500);

/// The PostgreSQL wire, HTTP and the console at their sockets, ready to be served.
///
/// Those who accept connections and check passwords have threads of their own, so that signing in, and whether the
/// server is well, waits for no statement.
pub struct Server {
    front: Runtime,
    service: Arc<QueryService>,
    wire: TcpListener,
    web: TcpListener,
    encryption: Encryption,
    interrupted: BoxFuture<'static, ()>,
}

/// The system did not give the server what it needs.
#[derive(Debug, thiserror::Error)]
#[error("{what}: {source}")]
pub struct StartError {
    /// What was tried.
    pub what: String,
    /// What the system said.
    pub source: io::Error,
}

impl std::fmt::Debug for Server {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Server").field("service", &self.service).finish_non_exhaustive()
    }
}

impl Server {
    /// Listens at both addresses, and for signals. HTTP has TLS where `encryption` has a certificate. Not to be
    /// called from within a runtime.
    pub fn bind(
        service: Arc<QueryService>,
        pg: SocketAddr,
        http: SocketAddr,
        encryption: Encryption,
    ) -> Result<Self, StartError> {
        // A connection needs a descriptor, and many systems give a program 1,024 until it asks for more.
        let _ = rlimit::increase_nofile_limit(u64::MAX);
        let mut front = Builder::new_multi_thread();
        let front = front.worker_threads(2).thread_name("front").enable_all().build();
        let front =
            front.map_err(|source| StartError { what: "starting threads".into(), source })?;
        let bind = |address: SocketAddr| {
            let failed = |source| StartError { what: format!("listening at {address}"), source };
            front.block_on(TcpListener::bind(address)).map_err(failed)
        };
        let (wire, web) = (bind(pg)?, bind(http)?);
        let interrupted = {
            let _within = front.enter();
            interrupted().boxed()
        };
        Ok(Self { front, service, wire, web, encryption, interrupted })
    }

    /// Where the PostgreSQL wire listens.
    pub fn pg_address(&self) -> io::Result<SocketAddr> {
        self.wire.local_addr()
    }

    /// Where HTTP and the console are.
    pub fn http_address(&self) -> io::Result<SocketAddr> {
        self.web.local_addr()
    }

    /// Serves until it is interrupted; then calls `stopping`, lets no one in, and gives statements under way half a
    /// second. What has not ended by then ends with the threads; its debits stay spent. Not to be called from within
    /// a runtime.
    pub fn run(self, stopping: impl FnOnce()) {
        let Self { front, service, wire, web, encryption, interrupted } = self;
        let acceptor = encryption.tls().map(|tls| tls.acceptor(&[b"http/1.1"]));
        let (stop, stopped) = watch::channel(false);
        let wire = front.spawn(pg::serve(wire, encryption, Arc::clone(&service), stopped.clone()));
        let mut ended = stopped;
        let ending = async move {
            let _ = ended.wait_for(|stop| *stop).await;
        };
        let settings = HttpSettings::default();
        let web = front.spawn(http::serve(web, acceptor, Arc::clone(&service), settings, ending));
        front.block_on(async {
            interrupted.await;
            stopping();
            // Nobody listens any more where they have ended already.
            let _ = stop.send(true);
            let _ = tokio::time::timeout(LAST_MOMENT, async { tokio::join!(wire, web) }).await;
        });
        // One whole file, for those who copy it now. What cannot be done stays in the log.
        let _ = service.curator.ledger().checkpoint();
    }
}

/// Ends at Ctrl-C, or when a supervisor asks for it: from when it is called, not from when it is
/// waited for. To be called within a runtime.
pub fn interrupted() -> impl Future<Output = ()> + Send + 'static {
    #[cfg(unix)]
    {
        use tokio::signal::unix::{SignalKind, signal};
        let signals = [SignalKind::interrupt(), SignalKind::terminate()].map(signal);
        async move {
            let waits = signals.into_iter().flatten().map(|mut one| {
                Box::pin(async move {
                    one.recv().await;
                })
            });
            let waits: Vec<_> = waits.collect();
            // Where no signal can be waited for, the server runs until it is killed.
            match waits.is_empty() {
                true => std::future::pending().await,
                false => drop(futures::future::select_all(waits).await),
            }
        }
    }
    #[cfg(not(unix))]
    async {
        let _ = tokio::signal::ctrl_c().await;
    }
}
