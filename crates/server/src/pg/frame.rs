//! Messages as they arrive: how long each may be, that all of it is there, and that it is what
//! its kind says.
//!
//! # Guarantee
//! - A message that announces more bytes than its phase allows ends the connection before any of
//!   them are kept: [`STARTUP`] before somebody has signed in, what a statement may be after it.
//! - Memory is taken as bytes arrive, not as they are announced, and given back after a message.
//! - What is decoded has the shape of its kind to the last byte: the decoder, which reads on where
//!   a message ends too early, is never shown one that does.

use bytes::BytesMut;
use std::io;
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncReadExt};
use tokio::time::{sleep, timeout};

/// The longest message of somebody who has not signed in.
pub(super) const STARTUP: usize = 8 << 10;
/// How much is read at once.
const READ: usize = 4 << 10;
/// A buffer that was larger is given back.
const KEPT: usize = 16 << 10;
/// How long a message may take from its first byte to its last.
const WHOLE: Duration = Duration::from_secs(60);

/// How long somebody who says nothing any more may still be answered.
const LISTENING: Duration = Duration::from_millis(500);

/// Why there is no message.
#[derive(Debug)]
pub(super) enum Broken {
    /// The other side is gone, or what it said cannot be a message.
    Gone,
    /// It said nothing for so long.
    Idle,
    /// It takes too long with a message.
    Slow,
    /// It announced more than it may send.
    TooLong,
    /// Not a message of the protocol.
    Malformed,
}

impl From<io::Error> for Broken {
    fn from(_: io::Error) -> Self {
        Self::Gone
    }
}

/// What arrives after the startup message.
#[derive(Debug, Default)]
pub(super) struct Frames {
    buffer: BytesMut,
}

impl Frames {
    /// The next message, with its kind and its length, of at most `most` bytes, if its first byte
    /// comes within `idle`.
    pub(super) async fn next(
        &mut self,
        stream: &mut (impl AsyncRead + Unpin),
        most: usize,
        idle: Duration,
    ) -> Result<BytesMut, Broken> {
        if self.buffer.is_empty() {
            timeout(idle, self.more(stream)).await.map_err(|_| Broken::Idle)??;
        }
        let whole = timeout(WHOLE, self.whole(stream, most)).await;
        let frame = whole.map_err(|_| Broken::Slow)??;
        if self.buffer.is_empty() && frame.len() > KEPT {
            self.buffer = BytesMut::new();
        }
        match well_formed(frame[0], &frame[5..]) {
            true => Ok(frame),
            false => Err(Broken::Malformed),
        }
    }

    /// Ready when the other side has been gone for a while, whoever works for it meanwhile. What
    /// it says before that is kept for later, up to a little.
    pub(super) async fn gone(&mut self, stream: &mut (impl AsyncRead + Unpin)) {
        while self.buffer.len() < READ {
            if self.more(stream).await.is_err() {
                // It may have said all it wanted to, and still be listening.
                return sleep(LISTENING).await;
            }
        }
        std::future::pending().await
    }

    async fn whole(
        &mut self,
        stream: &mut (impl AsyncRead + Unpin),
        most: usize,
    ) -> Result<BytesMut, Broken> {
        while self.buffer.len() < 5 {
            self.more(stream).await?;
        }
        let length = length([self.buffer[1], self.buffer[2], self.buffer[3], self.buffer[4]]);
        let length = length.ok_or(Broken::Malformed)?;
        if length > most {
            return Err(Broken::TooLong);
        }
        while self.buffer.len() < length + 1 {
            self.more(stream).await?;
        }
        Ok(self.buffer.split_to(length + 1))
    }

    async fn more(&mut self, stream: &mut (impl AsyncRead + Unpin)) -> Result<(), Broken> {
        self.buffer.reserve(READ);
        match stream.read_buf(&mut self.buffer).await? {
            0 => Err(Broken::Gone),
            _ => Ok(()),
        }
    }
}

/// A length that counts itself: at least four.
fn length(bytes: [u8; 4]) -> Option<usize> {
    usize::try_from(i32::from_be_bytes(bytes)).ok().filter(|length| *length >= 4)
}

/// What a connection begins with: a length, a code, and more. It is read to its last byte and not
/// beyond, so that nothing said before TLS is taken for something said after it.
pub(super) async fn opening(
    stream: &mut (impl AsyncRead + Unpin),
) -> Result<(u32, BytesMut), Broken> {
    let mut head = [0; 8];
    stream.read_exact(&mut head).await?;
    let [a, b, c, d, code @ ..] = head;
    let length = length([a, b, c, d]).filter(|length| *length >= 8).ok_or(Broken::Malformed)?;
    if length > STARTUP {
        return Err(Broken::TooLong);
    }
    let mut packet = BytesMut::with_capacity(length);
    packet.extend_from_slice(&head);
    packet.resize(length, 0);
    stream.read_exact(&mut packet[8..]).await?;
    Ok((u32::from_be_bytes(code), packet))
}

/// Whether a startup message is names and values, each ended by a zero, and a zero.
pub(super) fn is_startup(packet: &[u8]) -> bool {
    let mut rest = Rest(packet.get(8..).unwrap_or_default());
    let mut pairs = || loop {
        if rest.text()?.is_empty() {
            return Some(rest.0.is_empty());
        }
        rest.text()?;
    };
    pairs() == Some(true)
}

/// Whether a message's body is what its kind says.
fn well_formed(kind: u8, body: &[u8]) -> bool {
    let mut rest = Rest(body);
    let read = match kind {
        b'Q' | b'f' => rest.text().map(drop),
        b'P' => parse(&mut rest),
        b'B' => bind(&mut rest),
        b'C' | b'D' => rest.bytes(1).and_then(|_| rest.text()).map(drop),
        b'E' => rest.text().and_then(|_| rest.bytes(4)).map(drop),
        b'H' | b'S' | b'X' | b'c' => Some(()),
        // What is in them is read where they are taken.
        b'p' | b'd' => return true,
        _ => None,
    };
    read.is_some() && rest.0.is_empty()
}

fn parse(rest: &mut Rest<'_>) -> Option<()> {
    rest.text()?;
    rest.text()?;
    let types = rest.count()?;
    rest.bytes(4 * types).map(drop)
}

fn bind(rest: &mut Rest<'_>) -> Option<()> {
    rest.text()?;
    rest.text()?;
    let formats = rest.count()?;
    rest.bytes(2 * formats)?;
    for _ in 0..rest.count()? {
        match i32::from_be_bytes(rest.bytes(4)?.try_into().ok()?) {
            -1 => {}
            length => rest.bytes(usize::try_from(length).ok()?).map(drop)?,
        }
    }
    let formats = rest.count()?;
    rest.bytes(2 * formats).map(drop)
}

/// Whether the first message of SCRAM is the name of a kind, a length, and as many bytes.
pub(super) fn is_sasl_opening(body: &[u8]) -> bool {
    let mut rest = Rest(body);
    let mut read = || {
        rest.text()?;
        match i32::from_be_bytes(rest.bytes(4)?.try_into().ok()?) {
            -1 => Some(()),
            length => rest.bytes(usize::try_from(length).ok()?).map(drop),
        }
    };
    read().is_some() && rest.0.is_empty()
}

/// What is left to read.
struct Rest<'a>(&'a [u8]);

impl<'a> Rest<'a> {
    fn bytes(&mut self, count: usize) -> Option<&'a [u8]> {
        let (bytes, rest) = self.0.split_at_checked(count)?;
        self.0 = rest;
        Some(bytes)
    }

    /// Up to a zero, which is read too.
    fn text(&mut self) -> Option<&'a [u8]> {
        let end = self.0.iter().position(|byte| *byte == 0)?;
        let text = self.bytes(end)?;
        self.bytes(1)?;
        Some(text)
    }

    fn count(&mut self) -> Option<usize> {
        let bytes = self.bytes(2)?;
        Some(usize::from(u16::from_be_bytes([bytes[0], bytes[1]])))
    }
}

#[cfg(test)]
mod tests;
