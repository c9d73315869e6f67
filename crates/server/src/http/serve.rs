//! From a listening socket to an orderly end.

use super::doors::{Doors, Peer};
use super::{HttpSettings, app};
use crate::desk::Desk;
use futures::future::{Either, select};
use std::future::IntoFuture;
use std::io;
use std::pin::pin;
use std::sync::Arc;
use tokio::net::TcpListener;
use tokio::sync::oneshot;
use tokio_rustls::TlsAcceptor;

/// Serves the API and the console until `shutdown` is ready; then lets no one in, and lets
/// requests under way finish for as long as [`HttpSettings::drain`].
///
/// At most [`crate::Limits::connections`] connections are open at once. TLS, if there is any,
/// should offer `http/1.1` alone.
pub async fn serve(
    listener: TcpListener,
    tls: Option<TlsAcceptor>,
    desk: Arc<Desk>,
    mut settings: HttpSettings,
    shutdown: impl Future<Output = ()> + Send + 'static,
) -> io::Result<()> {
    settings.secure |= tls.is_some();
    let drain = settings.drain;
    let doors = Doors::new(listener, tls, &desk.limits, &settings);
    let service = app(desk, settings).into_make_service_with_connect_info::<Peer>();
    let (tell, told) = oneshot::channel();
    let ending = async move {
        shutdown.await;
        // Nobody listens any more only if all is over.
        let _ = tell.send(());
    };
    let serving = axum::serve(doors, service).with_graceful_shutdown(ending);
    let late = async move {
        // If the sender is gone without a word there is no end to wait for.
        if told.await.is_err() {
            std::future::pending::<()>().await;
        }
        tokio::time::sleep(drain).await;
    };
    match select(pin!(serving.into_future()), pin!(late)).await {
        Either::Left((served, _)) => served,
        Either::Right(_) => Ok(()),
    }
}
