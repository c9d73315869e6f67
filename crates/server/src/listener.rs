//! The listener of both HTTP services: how many connections there are, how long they may keep us waiting, TLS,
//! and an orderly end.
//!
//! # Guarantee
//! A connection that has sent no complete head of a request for `read_time`, or [`HEAD`] bytes of
//! one, is closed, however it drips; so is one that takes nothing of an answer for `write_time`,
//! and one whose TLS handshake takes longer than `read_time`. There are at most `connections`;
//! others wait in the system's queue. An address has at most `per_address`; others of it are
//! closed at once.

use crate::places::{Place, Places};
use crate::stream::Stream;
use axum::Router;
use axum::extract::connect_info::Connected;
use axum::extract::{ConnectInfo, Request};
use axum::middleware::{Next, from_fn};
use axum::response::Response;
use axum::serve::{IncomingStream, Listener};
use futures::future::{Either, select};
use std::future::IntoFuture;
use std::io;
use std::net::SocketAddr;
use std::pin::{Pin, pin};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, ready};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, oneshot};
use tokio::task::JoinSet;
use tokio::time::{Instant, Sleep, sleep, sleep_until, timeout};
use tokio_rustls::TlsAcceptor;

/// The longest head of a request.
const HEAD: usize = 64 << 10;

/// Who is at the other end.
#[derive(Clone, Debug)]
pub(crate) struct Peer {
    pub(crate) address: SocketAddr,
    gate: Arc<Gate>,
}

impl Connected<IncomingStream<'_, LimitedListener>> for Peer {
    fn connect_info(stream: IncomingStream<'_, LimitedListener>) -> Self {
        stream.remote_addr().clone()
    }
}

/// Whether a request of the connection is being handled, and since when none is.
#[derive(Debug)]
struct Gate {
    busy: AtomicBool,
    idle_since: Mutex<Instant>,
}

impl Gate {
    fn new() -> Arc<Self> {
        Arc::new(Self { busy: AtomicBool::new(false), idle_since: Mutex::new(Instant::now()) })
    }

    fn idle_since(&self) -> Option<Instant> {
        let idle = !self.busy.load(Ordering::Acquire);
        idle.then(|| *self.idle_since.lock().unwrap_or_else(PoisonError::into_inner))
    }

    fn set(&self, busy: bool) {
        *self.idle_since.lock().unwrap_or_else(PoisonError::into_inner) = Instant::now();
        self.busy.store(busy, Ordering::Release);
    }
}

/// Tells the connection that a request is being handled.
async fn busy(request: Request, next: Next) -> Response {
    struct Busy(Arc<Gate>);
    impl Drop for Busy {
        fn drop(&mut self) {
            self.0.set(false);
        }
    }
    let peer = request.extensions().get::<ConnectInfo<Peer>>();
    let _busy = peer.map(|ConnectInfo(peer)| {
        peer.gate.set(true);
        Busy(Arc::clone(&peer.gate))
    });
    next.run(request).await
}

/// What connections of one listener may take.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ConnectionLimits {
    /// Connections at once; others wait.
    pub(crate) connections: usize,
    /// Of them, from one address (of IPv6, from 64 bits of it); others are closed.
    pub(crate) per_address: usize,
    /// How long a request's head may take.
    pub(crate) read_time: Duration,
    /// How long the sending of an answer may stand still.
    pub(crate) write_time: Duration,
    /// How long requests under way may go on after the end has begun.
    pub(crate) drain: Duration,
}

/// Lets a limited number of connections in.
pub(crate) struct LimitedListener {
    listener: TcpListener,
    tls: Option<TlsAcceptor>,
    room: Arc<Semaphore>,
    places: Arc<Places>,
    handshakes: JoinSet<Option<(Connection, Peer)>>,
    limits: ConnectionLimits,
}

impl LimitedListener {
    pub(crate) fn new(
        listener: TcpListener,
        tls: Option<TlsAcceptor>,
        limits: ConnectionLimits,
    ) -> Self {
        let room = Arc::new(Semaphore::new(limits.connections.clamp(1, Semaphore::MAX_PERMITS)));
        // How many there are in all is for `room` to say.
        let places = Places::new(usize::MAX, limits.per_address, usize::MAX);
        Self { listener, tls, room, places, handshakes: JoinSet::new(), limits }
    }

    /// Serves until `shutdown` is ready; then lets no one in, and lets requests under way finish for a while.
    pub(crate) async fn serve(
        self,
        app: Router,
        shutdown: impl Future<Output = ()> + Send + 'static,
    ) -> io::Result<()> {
        let drain = self.limits.drain;
        let app = app.layer(from_fn(busy)).into_make_service_with_connect_info::<Peer>();
        let (tell, ended) = oneshot::channel();
        let ending = async move {
            shutdown.await;
            // Nobody listens any more only if all is over.
            let _ = tell.send(());
        };
        let serving = axum::serve(self, app).with_graceful_shutdown(ending);
        let late = async move {
            // If the sender is gone without a word there is no end to wait for.
            if ended.await.is_err() {
                std::future::pending::<()>().await;
            }
            sleep(drain).await;
        };
        match select(pin!(serving.into_future()), pin!(late)).await {
            Either::Left((served, _)) => served,
            Either::Right(_) => Ok(()),
        }
    }
}

/// The next connection, as soon as there is room for one.
async fn arrived(
    listener: &TcpListener,
    room: &Arc<Semaphore>,
) -> (OwnedSemaphorePermit, TcpStream, SocketAddr) {
    loop {
        // The semaphore is never closed.
        let Ok(room) = Arc::clone(room).acquire_owned().await else { continue };
        match listener.accept().await {
            Ok((stream, address)) => return (room, stream, address),
            // Out of descriptors, perhaps: some will be given back.
            Err(_) => sleep(Duration::from_millis(100)).await,
        }
    }
}

impl Listener for LimitedListener {
    type Io = Connection;
    type Addr = Peer;

    async fn accept(&mut self) -> (Connection, Peer) {
        loop {
            let arrived = pin!(arrived(&self.listener, &self.room));
            let next = if self.handshakes.is_empty() {
                Either::Left(arrived.await)
            } else {
                match select(arrived, pin!(self.handshakes.join_next())).await {
                    Either::Left((arrived, _)) => Either::Left(arrived),
                    Either::Right((shaken, _)) => Either::Right(shaken),
                }
            };
            let (room, stream, address) = match next {
                Either::Left(arrived) => arrived,
                Either::Right(Some(Ok(Some(ready)))) => return ready,
                // It failed, or took too long.
                Either::Right(_) => continue,
            };
            let Some(place) = self.places.take(address.ip()) else { continue };
            let gate = Gate::new();
            let peer = Peer { address, gate: Arc::clone(&gate) };
            let ConnectionLimits { read_time, write_time, .. } = self.limits;
            let connection = move |stream| Connection {
                stream,
                gate,
                read_time,
                head: 0,
                reading: None,
                _room: (room, place),
            };
            // Small answers should not wait for more; if it fails they do.
            let _ = stream.set_nodelay(true);
            match self.tls.clone() {
                None => return (connection(Stream::plain(stream, write_time)), peer),
                Some(tls) => {
                    self.handshakes.spawn(async move {
                        let stream = timeout(read_time, tls.accept(stream)).await.ok()?.ok()?;
                        Some((connection(Stream::tls(stream, write_time)), peer))
                    });
                }
            }
        }
    }

    fn local_addr(&self) -> io::Result<Peer> {
        Ok(Peer { address: self.listener.local_addr()?, gate: Gate::new() })
    }
}

/// A connection that does not wait for ever.
pub(crate) struct Connection {
    stream: Stream,
    gate: Arc<Gate>,
    read_time: Duration,
    /// Bytes that were read while no request was being handled.
    head: usize,
    reading: Option<Pin<Box<Sleep>>>,
    _room: (OwnedSemaphorePermit, Place),
}

impl AsyncRead for Connection {
    fn poll_read(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let connection = self.get_mut();
        let Some(since) = connection.gate.idle_since() else {
            // A body, which is timed where it is read, or a client that leaves.
            (connection.head, connection.reading) = (0, None);
            return Pin::new(&mut connection.stream).poll_read(context, buffer);
        };
        let end = since + connection.read_time;
        if connection.head > HEAD || Instant::now() >= end {
            return Poll::Ready(Err(io::ErrorKind::TimedOut.into()));
        }
        let before = buffer.filled().len();
        let read = Pin::new(&mut connection.stream).poll_read(context, buffer);
        if read.is_ready() {
            connection.head += buffer.filled().len() - before;
            return read;
        }
        let wait = connection.reading.get_or_insert_with(|| Box::pin(sleep_until(end)));
        if wait.deadline() != end {
            wait.as_mut().reset(end);
        }
        ready!(wait.as_mut().poll(context));
        Poll::Ready(Err(io::ErrorKind::TimedOut.into()))
    }
}

impl AsyncWrite for Connection {
    fn poll_write(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.get_mut().stream).poll_write(context, bytes)
    }

    fn poll_flush(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().stream).poll_flush(context)
    }

    fn poll_shutdown(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().stream).poll_shutdown(context)
    }
}
