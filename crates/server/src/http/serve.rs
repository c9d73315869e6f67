//! The API and the console at a socket.

use super::{HttpSettings, app};
use crate::listener::{ConnectionLimits, LimitedListener};
use crate::query_service::QueryService;
use std::io;
use std::sync::Arc;
use tokio::net::TcpListener;
use tokio_rustls::TlsAcceptor;

/// Serves the API and the console until `shutdown` is ready; then lets no one in, and lets
/// requests under way finish for as long as [`HttpSettings::drain`].
///
/// At most [`crate::Limits::connections`] connections are open at once. TLS, if there is any,
/// should offer `http/1.1` alone.
pub async fn serve(
    listener: TcpListener,
    tls: Option<TlsAcceptor>,
    service: Arc<QueryService>,
    mut settings: HttpSettings,
    shutdown: impl Future<Output = ()> + Send + 'static,
) -> io::Result<()> {
    settings.secure |= tls.is_some();
    let limits = ConnectionLimits {
        connections: service.limits.connections,
        per_address: service.limits.connections_per_address,
        read_time: settings.read_time,
        write_time: settings.write_time,
        drain: settings.drain,
    };
    LimitedListener::new(listener, tls, limits).serve(app(service, settings), shutdown).await
}
