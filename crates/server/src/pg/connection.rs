//! One connection: from its first byte to the end of both of its sides.
//!
//! # Guarantee
//! - From a connection to a proof that fits there is at most `startup_time`, whatever is said
//!   meanwhile, and none of it is longer than [`frame::STARTUP`].
//! - Whoever is refused is told so; then both sides are closed, and the place is free, whether or
//!   not the other side closes its own.
//! - A statement whose client is gone ends within a second: the connection is read while it runs.
//! - Where TLS is required, nothing but a request to cancel is understood without it. No byte
//!   that came before a handshake is read as one that came after it.

use super::frame::{self, Broken, Frames};
use super::query::{Prepared, Statements};
use super::startup::Startup;
use super::{Authenticated, Encryption, Shared, drained};
use crate::places::Place;
use crate::stream::Stream;
use bytes::BytesMut;
use futures::{FutureExt, SinkExt};
use pgwire::api::cancel::DefaultCancelHandler;
use pgwire::api::{ClientInfo, DefaultClient, NoopHandler, PgWireConnectionState};
use pgwire::error::{ErrorInfo, PgWireError};
use pgwire::messages::{DecodeContext, PgWireBackendMessage, PgWireFrontendMessage};
use pgwire::tokio::server::{PgWireMessageServerCodec, process_error, process_message};
use socket2::{SockRef, TcpKeepalive};
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;
use tokio::io::{
    AsyncReadExt, AsyncWriteExt, Empty, Join, ReadHalf, WriteHalf, empty, join, split,
};
use tokio::net::TcpStream;
use tokio::sync::watch;
use tokio::time::timeout;
use tokio_rustls::TlsAcceptor;
use tokio_util::codec::Framed;

/// What a client asks for before anything else.
const SSL: u32 = 80_877_103;
const GSS: u32 = 80_877_104;
const CANCEL: u32 = 80_877_102;
/// What direct TLS begins with.
const HANDSHAKE: u8 = 0x16;
/// How long the sending of an answer may stand still.
const WRITE: Duration = Duration::from_secs(60);
/// How long what we said last may take to be read before both sides are closed.
const FAREWELL: Duration = Duration::from_millis(500);
/// How much of what the other side still says is read meanwhile.
const UNREAD: usize = 64 << 10;

/// A connection as the handlers see it: they write to it. It is read by [`Frames`] alone.
type Socket = Framed<Join<Empty, WriteHalf<Stream>>, PgWireMessageServerCodec<Prepared>>;

/// It is over, and whoever should know has been told.
struct Over;

/// Serves a connection to its end.
pub(super) async fn serve(
    socket: TcpStream,
    address: SocketAddr,
    place: Place,
    shared: Arc<Shared>,
    mut stop: watch::Receiver<bool>,
) {
    let place = Arc::new(place);
    // A machine that is gone without a word is noticed; where that cannot be had, it is later.
    let keepalive = TcpKeepalive::new().with_time(Duration::from_secs(60));
    let _ = SockRef::from(&socket).set_tcp_keepalive(&keepalive);
    let _ = socket.set_nodelay(true);
    let startup = timeout(
        shared.service.limits.startup_time,
        opened(socket, address, &shared, Arc::clone(&place)),
    );
    let opened = tokio::select! {
        opened = startup => opened,
        () = place.needed() => return,
        _ = stop.wait_for(|stop| *stop) => return,
    };
    let Ok(Ok(conversation)) = opened else { return };
    // Statements compute: they do so where they keep nobody from being let in.
    let service = Arc::clone(&shared.service);
    let mut talking = shared.service.spawn(async move {
        tokio::select! {
            () = conversation.go() => {}
            () = drained(&mut stop, &service) => {}
        }
        drop(place);
    });
    // A connection that breaks is nobody's business but the client's.
    let _ = talking.join_next().await;
}

/// Lets somebody in.
async fn opened(
    socket: TcpStream,
    address: SocketAddr,
    shared: &Shared,
    place: Arc<Place>,
) -> Result<Conversation, Over> {
    let Negotiated { stream, secure, code, mut packet } =
        negotiated(socket, shared.acceptor.as_ref()).await.ok_or(Over)?;
    let codec = PgWireMessageServerCodec::new(DefaultClient::new(address, secure));
    let (reading, writing) = split(stream);
    let mut conversation = Conversation {
        socket: Framed::new(join(empty(), writing), codec),
        reading,
        frames: Frames::default(),
        handlers: Handlers::new(shared, place),
        most: shared.service.limits.statement_bytes.saturating_add(frame::STARTUP),
        idle: shared.service.limits.idle_time,
    };
    conversation.socket.set_state(PgWireConnectionState::AwaitingStartup);
    let refusal = match (code == CANCEL, secure, &shared.encryption) {
        // What cancels needs a secret, and many clients send it without TLS.
        (true, ..) => None,
        (false, false, Encryption::Required(_)) => Some((
            "28000",
            "this server needs TLS",
            "connect with sslmode=require, or better sslmode=verify-full",
        )),
        (false, ..) if !frame::is_startup(&packet) => {
            Some(("08P01", "the startup message is malformed", "speak version 3 of the protocol"))
        }
        _ => None,
    };
    if let Some((code, message, hint)) = refusal {
        let info = super::fault::info("FATAL", code, message, Some(hint));
        conversation.end(info).await;
        return Err(Over);
    }
    conversation.handle(&mut packet, true).await?;
    if code == CANCEL {
        return Err(Over);
    }
    while conversation.socket.session_extensions().get::<Authenticated>().is_none() {
        // The time for all of this is limited around it.
        conversation.step(frame::STARTUP, shared.service.limits.startup_time).await?;
    }
    Ok(conversation)
}

/// A connection after TLS was agreed on or not, with its first message.
struct Negotiated {
    stream: Stream,
    secure: bool,
    code: u32,
    packet: BytesMut,
}

async fn negotiated(mut socket: TcpStream, tls: Option<&TlsAcceptor>) -> Option<Negotiated> {
    let mut first = [0];
    if socket.peek(&mut first).await.ok()? == 1 && first == [HANDSHAKE] {
        let stream = tls?.accept(socket).await.ok()?;
        // A protocol that is not named may be another's (RFC 7301; ALPACA).
        if stream.get_ref().1.alpn_protocol() != Some(super::PROTOCOL) {
            return None;
        }
        return greeted(Stream::tls(stream, WRITE), true).await;
    }
    // One request for each kind of encryption, in either order; then the startup message.
    for _ in 0..2 {
        match (frame::opening(&mut socket).await.ok()?, tls) {
            ((SSL, request), Some(tls)) if request.len() == 8 => {
                // A client waits for our word before it says anything more. Whatever is there
                // already was put there by somebody in between (the class of CVE-2021-23214).
                if socket.peek(&mut first).now_or_never().is_some() {
                    return None;
                }
                socket.write_all(b"S").await.ok()?;
                let stream = tls.accept(socket).await.ok()?;
                return greeted(Stream::tls(stream, WRITE), true).await;
            }
            ((SSL | GSS, request), _) if request.len() == 8 => {
                socket.write_all(b"N").await.ok()?;
            }
            ((SSL | GSS, _), _) => return None,
            ((code, packet), _) => {
                let stream = Stream::plain(socket, WRITE);
                return Some(Negotiated { stream, secure: false, code, packet });
            }
        }
    }
    greeted(Stream::plain(socket, WRITE), false).await
}

/// The startup message, when there is nothing left to negotiate.
async fn greeted(mut stream: Stream, secure: bool) -> Option<Negotiated> {
    let (code, packet) = frame::opening(&mut stream).await.ok()?;
    let settled = code != SSL && code != GSS;
    settled.then_some(Negotiated { stream, secure, code, packet })
}

/// Who takes messages.
struct Handlers {
    startup: Arc<Startup>,
    statements: Arc<Statements>,
    copies: Arc<NoopHandler>,
    cancel: Arc<DefaultCancelHandler>,
}

impl Handlers {
    fn new(shared: &Shared, place: Arc<Place>) -> Self {
        Self {
            startup: Arc::new(Startup::new(shared, place)),
            statements: Arc::new(Statements::new(
                Arc::clone(&shared.service),
                Arc::clone(&shared.catalogs),
            )),
            copies: Arc::new(NoopHandler),
            cancel: Arc::new(DefaultCancelHandler::new(Arc::clone(&shared.manager))),
        }
    }
}

/// Messages and what they are answered.
struct Conversation {
    socket: Socket,
    reading: ReadHalf<Stream>,
    frames: Frames,
    handlers: Handlers,
    /// The longest message.
    most: usize,
    /// How long nothing may be said.
    idle: Duration,
}

impl Conversation {
    async fn go(mut self) {
        while self.step(self.most, self.idle).await.is_ok() {}
    }

    /// One message.
    async fn step(&mut self, most: usize, idle: Duration) -> Result<(), Over> {
        let (code, message) = match self.frames.next(&mut self.reading, most, idle).await {
            Ok(mut frame) => return self.handle(&mut frame, false).await,
            Err(Broken::Gone) => return Err(Over),
            Err(Broken::Idle) => ("57P05", "nothing was said for too long"),
            Err(Broken::Slow) => ("08P01", "the message did not arrive in time"),
            Err(Broken::TooLong) => ("54000", "the message is too long"),
            Err(Broken::Malformed) => ("08P01", "the message is malformed"),
        };
        self.end(super::fault::info("FATAL", code, message, None)).await;
        Err(Over)
    }

    /// Decodes a message that is whole, and answers it.
    async fn handle(&mut self, frame: &mut BytesMut, startup: bool) -> Result<(), Over> {
        let mut context = DecodeContext::default();
        context.protocol_version = self.socket.protocol_version();
        context.awaiting_frontend_ssl = false;
        context.awaiting_frontend_startup = startup;
        let Ok(Some(message)) = PgWireFrontendMessage::decode(frame, &context) else {
            let info = super::fault::info("FATAL", "08P01", "the message is malformed", None);
            self.end(info).await;
            return Err(Over);
        };
        if matches!(message, PgWireFrontendMessage::Terminate(_)) {
            return Err(Over);
        }
        let extended = message.is_extended_query();
        let Handlers { startup, statements, copies, cancel } = &self.handlers;
        let handled = process_message(
            message,
            &mut self.socket,
            Arc::clone(startup),
            Arc::clone(statements),
            Arc::clone(statements),
            Arc::clone(copies),
            Arc::clone(cancel),
        );
        let handled = tokio::select! {
            handled = handled => handled,
            () = self.frames.gone(&mut self.reading) => return Err(Over),
        };
        let Err(error) = handled else { return Ok(()) };
        let info = ErrorInfo::from(error);
        if info.is_fatal() {
            self.end(info).await;
            return Err(Over);
        }
        let error = PgWireError::UserError(Box::new(info));
        process_error(&mut self.socket, error, extended).await.map_err(|_| Over)
    }

    /// Says why, and closes both sides: ours at once, the other as soon as what we said can have
    /// been read. A side that is closed with bytes unread takes what we said with it.
    async fn end(&mut self, info: ErrorInfo) {
        let last = async {
            self.socket.send(PgWireBackendMessage::ErrorResponse(info.into())).await.ok()?;
            self.socket.close().await.ok()?;
            let (mut unread, mut left) = ([0; 1024], UNREAD);
            while left > 0 {
                match self.reading.read(&mut unread).await.ok()? {
                    0 => break,
                    count => left = left.saturating_sub(count),
                }
            }
            Some(())
        };
        // Whether it was read or not.
        let _ = timeout(FAREWELL, last).await;
    }
}
