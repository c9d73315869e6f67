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
mod tests {
    use super::*;
    use futures::FutureExt;

    const HOUR: Duration = Duration::from_secs(3600);

    async fn read(bytes: &[u8], most: usize) -> (Vec<Vec<u8>>, Broken) {
        let (mut frames, mut stream, mut found) = (Frames::default(), bytes, Vec::new());
        loop {
            match frames.next(&mut stream, most, HOUR).await {
                Ok(frame) => found.push(frame.to_vec()),
                Err(broken) => return (found, broken),
            }
        }
    }

    #[test]
    fn messages_are_told_apart_and_measured() {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
        runtime.block_on(async {
            let (found, broken) = read(b"S\0\0\0\x04Q\0\0\0\x06x\0", 100).await;
            assert_eq!(found, [b"S\0\0\0\x04".to_vec(), b"Q\0\0\0\x06x\0".to_vec()]);
            assert!(matches!(broken, Broken::Gone));
            for (bytes, most) in [
                (&b"Q\x3f\xff\xff\xff"[..], 1 << 20),
                (b"p\x3f\xff\xff\xff", STARTUP),
                (b"Q\0\0\0\x65", 100),
            ] {
                assert!(matches!(read(bytes, most).await.1, Broken::TooLong), "{bytes:?}");
            }
            for bytes in
                [&b"Q\0\0\0\x03"[..], b"Q\xff\xff\xff\xff", b"Z\0\0\0\x04", b"S\0\0\0\x05x"]
            {
                assert!(matches!(read(bytes, 100).await.1, Broken::Malformed), "{bytes:?}");
            }
            // What was announced is not kept room for.
            let mut frames = Frames::default();
            let mut cut: &[u8] = b"Q\0\x0f\xff\xff";
            assert!(frames.next(&mut cut, 1 << 20, HOUR).await.is_err());
            assert!(frames.buffer.capacity() <= 2 * READ);
        });
    }

    #[test]
    fn a_body_is_read_to_its_last_byte() {
        for (kind, body, expected) in [
            (b'Q', &b"SELECT 1\0"[..], true),
            (b'Q', b"SELECT 1", false),
            (b'Q', b"a\0b\0", false),
            (b'P', b"\0SELECT $1\0\0\x01\0\0\0\x17", true),
            (b'P', b"\0SELECT $1\0\0\x02\0\0\0\x17", false),
            (b'P', b"\0SELECT $1\0", false),
            (b'B', b"\0\0\0\0\0\x02\0\0\0\x01x\xff\xff\xff\xff\0\0", true),
            (b'B', b"\0\0\0\0\0\x01\0\0\0\x09x\0\0", false),
            (b'B', b"\0\0\0\0\0\x01\xff\xff\xff\xfe\0\0", false),
            (b'B', b"\0\0\xff\xff", false),
            (b'E', b"\0\0\0\0\0", true),
            (b'E', b"\0\0", false),
            (b'D', b"S\0", true),
            (b'D', b"", false),
            (b'F', b"", false),
        ] {
            assert_eq!(well_formed(kind, body), expected, "{} {body:?}", kind as char);
        }
        assert!(is_startup(b"\0\0\0\x12\0\x03\0\0user\0ana\0\0"));
        for bad in
            [&b"\0\0\0\x12\0\x03\0\0user\0ana\0"[..], b"\0\0\0\x08\0\x03\0\0", b"12345678\0x"]
        {
            assert!(!is_startup(bad), "{bad:?}");
        }
        assert!(is_sasl_opening(b"SCRAM-SHA-256\0\0\0\0\x01n"));
        assert!(is_sasl_opening(b"SCRAM-SHA-256\0\xff\xff\xff\xff"));
        assert!(!is_sasl_opening(b"SCRAM-SHA-256\0\x7f\xff\xff\xffn"));
    }

    #[test]
    fn an_opening_is_read_and_nothing_after_it() {
        let mut stream = &b"\0\0\0\x08\x04\xd2\x16\x2fmore"[..];
        let opened = opening(&mut stream).now_or_never().unwrap();
        assert_eq!(opened.unwrap().0, 80_877_103);
        assert_eq!(stream, b"more");
        let mut long = &b"\0\0\x20\x01\0\x03\0\0"[..];
        let refused = opening(&mut long).now_or_never().unwrap();
        assert!(matches!(refused, Err(Broken::TooLong)));
    }
}
