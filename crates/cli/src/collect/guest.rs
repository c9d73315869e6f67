//! The service's connections: how many at once, and for how long one may say nothing.
//!
//! Whoever opens connections and sends nothing, or a byte now and then, takes places from
//! others; so there is a limit to how many there are, and to how long one may be silent.

use std::future::Future;
use std::io;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::{Instant, Sleep, sleep};

/// The most connections at once; others wait to be accepted.
const MOST: usize = 1024;
/// The longest that a connection may neither send nor take anything.
const SILENCE: Duration = Duration::from_secs(30);

/// A listener with a limited number of places.
pub(super) struct Door {
    listener: TcpListener,
    places: Arc<Semaphore>,
}

impl Door {
    pub(super) fn new(listener: TcpListener) -> Self {
        Self { listener, places: Arc::new(Semaphore::new(MOST)) }
    }
}

impl axum::serve::Listener for Door {
    type Io = Guest;
    type Addr = SocketAddr;

    async fn accept(&mut self) -> (Guest, SocketAddr) {
        loop {
            let Ok(place) = Arc::clone(&self.places).acquire_owned().await else {
                // The semaphore is never closed.
                std::future::pending::<()>().await;
                continue;
            };
            match self.listener.accept().await {
                Ok((stream, address)) => {
                    // Acknowledgements are small and waited for.
                    let _ = stream.set_nodelay(true);
                    let silence = Box::pin(sleep(SILENCE));
                    return (Guest { stream, silence, _place: place }, address);
                }
                // Out of file descriptors, or the guest went away already: others may come.
                Err(_) => sleep(Duration::from_millis(50)).await,
            }
        }
    }

    fn local_addr(&self) -> io::Result<SocketAddr> {
        self.listener.local_addr()
    }
}

/// One connection.
pub(super) struct Guest {
    stream: TcpStream,
    silence: Pin<Box<Sleep>>,
    _place: OwnedSemaphorePermit,
}

impl Guest {
    /// Passes on what happened; what is pending for too long is an error.
    fn patient<T>(
        &mut self,
        context: &mut Context<'_>,
        happened: Poll<io::Result<T>>,
    ) -> Poll<io::Result<T>> {
        if happened.is_ready() {
            self.silence.as_mut().reset(Instant::now() + SILENCE);
            return happened;
        }
        match self.silence.as_mut().poll(context) {
            Poll::Ready(()) => Poll::Ready(Err(io::ErrorKind::TimedOut.into())),
            Poll::Pending => Poll::Pending,
        }
    }
}

impl AsyncRead for Guest {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let happened = Pin::new(&mut self.stream).poll_read(context, buffer);
        self.patient(context, happened)
    }
}

impl AsyncWrite for Guest {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let happened = Pin::new(&mut self.stream).poll_write(context, bytes);
        self.patient(context, happened)
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        parts: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let happened = Pin::new(&mut self.stream).poll_write_vectored(context, parts);
        self.patient(context, happened)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }
}
