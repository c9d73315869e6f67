//! A connection's bytes, with TLS or without, whose other end must take what it is sent.
//!
//! # Guarantee
//! A write, a flush or an end that the other side takes nothing of for `write_time` fails.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio::time::{Sleep, sleep};
use tokio_rustls::server::TlsStream;

enum Io {
    Plain(TcpStream),
    Tls(Box<TlsStream<TcpStream>>),
}

/// A connection that does not wait for ever with what it has to say.
pub(crate) struct Stream {
    io: Io,
    write_time: Duration,
    writing: Option<Pin<Box<Sleep>>>,
}

macro_rules! on_io {
    ($stream:expr, $io:ident => $call:expr) => {
        match &mut $stream.io {
            Io::Plain(io) => {
                let $io = Pin::new(io);
                $call
            }
            Io::Tls(io) => {
                let $io = Pin::new(io.as_mut());
                $call
            }
        }
    };
}

impl Stream {
    pub(crate) fn plain(io: TcpStream, write_time: Duration) -> Self {
        Self { io: Io::Plain(io), write_time, writing: None }
    }

    pub(crate) fn tls(io: TlsStream<TcpStream>, write_time: Duration) -> Self {
        Self { io: Io::Tls(Box::new(io)), write_time, writing: None }
    }

    fn timed<T>(
        &mut self,
        outcome: Poll<io::Result<T>>,
        context: &mut Context<'_>,
    ) -> Poll<io::Result<T>> {
        if outcome.is_ready() {
            self.writing = None;
            return outcome;
        }
        // The wait began with the first call that had to.
        let within = self.write_time;
        let wait = self.writing.get_or_insert_with(|| Box::pin(sleep(within)));
        ready!(wait.as_mut().poll(context));
        Poll::Ready(Err(io::ErrorKind::TimedOut.into()))
    }
}

impl AsyncRead for Stream {
    fn poll_read(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let stream = self.get_mut();
        on_io!(stream, io => io.poll_read(context, buffer))
    }
}

impl AsyncWrite for Stream {
    fn poll_write(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let stream = self.get_mut();
        let outcome = on_io!(stream, io => io.poll_write(context, bytes));
        stream.timed(outcome, context)
    }

    fn poll_flush(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let stream = self.get_mut();
        let outcome = on_io!(stream, io => io.poll_flush(context));
        stream.timed(outcome, context)
    }

    fn poll_shutdown(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let stream = self.get_mut();
        let outcome = on_io!(stream, io => io.poll_shutdown(context));
        stream.timed(outcome, context)
    }
}
