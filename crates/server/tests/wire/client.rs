//! As much of a PostgreSQL client as shows what the server does.

use hmac::{Hmac, KeyInit, Mac};
use sha2::{Digest, Sha256};
use std::collections::HashMap;
use std::net::SocketAddr;
use std::sync::{LazyLock, Mutex};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::TcpStream;

pub(crate) const PASSWORD: &str = "correct horse battery";

/// An error: its code and its text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct WireError {
    pub(crate) code: String,
    pub(crate) text: String,
}

impl WireError {
    pub(crate) fn of(body: &[u8]) -> Self {
        let field = |kind: u8| {
            let found = body.split(|byte| *byte == 0).find(|field| field.first() == Some(&kind));
            String::from_utf8_lossy(found.map_or(&[][..], |field| &field[1..])).into_owned()
        };
        Self { code: field(b'C'), text: format!("{}\n{}", field(b'M'), field(b'H')) }
    }
}

pub(crate) struct Client<S = TcpStream> {
    pub(crate) socket: S,
}

impl Client {
    pub(crate) async fn connect(address: SocketAddr) -> Self {
        assert!(address.ip().is_loopback());
        Self { socket: TcpStream::connect(address).await.unwrap() }
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin> Client<S> {
    /// Whether it could be sent.
    pub(crate) async fn send(&mut self, bytes: &[u8]) -> bool {
        self.socket.write_all(bytes).await.is_ok()
    }

    /// One message from the server; none if it has closed.
    pub(crate) async fn receive(&mut self) -> Option<(u8, Vec<u8>)> {
        let tag = self.socket.read_u8().await.ok()?;
        let length = self.socket.read_u32().await.ok()?;
        let mut body = vec![0; length as usize - 4];
        self.socket.read_exact(&mut body).await.ok()?;
        Some((tag, body))
    }

    /// Whether the server ends the connection within some time.
    pub(crate) async fn ends_within(&mut self, time: Duration) -> bool {
        let mut rest = Vec::new();
        tokio::time::timeout(time, self.socket.read_to_end(&mut rest)).await.is_ok()
    }

    /// The startup message, and what is offered.
    pub(crate) async fn greet(&mut self, name: &str) -> Result<(), WireError> {
        self.send(&startup(name)).await;
        match self.receive().await {
            Some((b'R', _)) => Ok(()),
            Some((b'E', body)) => Err(WireError::of(&body)),
            other => Err(WireError { code: "closed".into(), text: format!("{other:?}") }),
        }
    }

    /// The server's nonce and salt, and a proof: of the password, or of nothing.
    pub(crate) async fn challenge(&mut self, password: Option<&str>) -> Result<Vec<u8>, WireError> {
        const FIRST: &str = "n=,r=as-good-as-any";
        let first = format!("n,,{FIRST}");
        let mut body = b"SCRAM-SHA-256\0".to_vec();
        body.extend((first.len() as u32).to_be_bytes());
        body.extend(first.as_bytes());
        self.send(&message(b'p', &body)).await;
        match self.receive().await {
            Some((b'R', told)) => {
                let server = String::from_utf8(told[4..].to_vec()).unwrap();
                Ok(proof(FIRST, &server, password))
            }
            Some((b'E', body)) => Err(WireError::of(&body)),
            other => Err(WireError { code: "closed".into(), text: format!("{other:?}") }),
        }
    }

    /// The proof, and until the server is ready.
    pub(crate) async fn prove(&mut self, proof: &[u8]) -> Result<(), WireError> {
        self.send(&message(b'p', proof)).await;
        loop {
            match self.receive().await {
                Some((b'Z', _)) => return Ok(()),
                Some((b'E', body)) => return Err(WireError::of(&body)),
                Some(_) => {}
                None => return Err(WireError { code: "closed".into(), text: String::new() }),
            }
        }
    }

    pub(crate) async fn sign_in(&mut self, name: &str, password: &str) -> Result<(), WireError> {
        self.greet(name).await?;
        let proof = self.challenge(Some(password)).await?;
        self.prove(&proof).await
    }

    /// With a proof that fits nothing.
    pub(crate) async fn fail(&mut self, name: &str) -> WireError {
        if let Err(told) = self.greet(name).await {
            return told;
        }
        match self.challenge(None).await {
            Ok(proof) => self.prove(&proof).await.unwrap_err(),
            Err(told) => told,
        }
    }

    /// The first column of the answer to a statement.
    pub(crate) async fn ask(&mut self, sql: &str) -> Result<Vec<String>, WireError> {
        let mut body = sql.as_bytes().to_vec();
        body.push(0);
        self.send(&message(b'Q', &body)).await;
        let (mut rows, mut failure) = (Vec::new(), None);
        loop {
            match self.receive().await {
                Some((b'Z', _)) => return failure.map_or(Ok(rows), Err),
                Some((b'E', body)) => failure = Some(WireError::of(&body)),
                Some((b'D', body)) => {
                    let length = i32::from_be_bytes(body[2..6].try_into().unwrap());
                    let value = &body[6..6 + usize::try_from(length).unwrap_or(0)];
                    rows.push(String::from_utf8_lossy(value).into_owned());
                }
                Some(_) => {}
                None => {
                    let closed = WireError { code: "closed".into(), text: String::new() };
                    return Err(failure.unwrap_or(closed));
                }
            }
        }
    }
}

pub(crate) fn startup(name: &str) -> Vec<u8> {
    let mut body = vec![0, 3, 0, 0];
    body.extend(format!("user\0{name}\0database\0clinic\0\0").into_bytes());
    let mut bytes = (body.len() as u32 + 4).to_be_bytes().to_vec();
    bytes.extend(body);
    bytes
}

/// A message of the wire.
pub(crate) fn message(tag: u8, body: &[u8]) -> Vec<u8> {
    let mut bytes = vec![tag];
    bytes.extend((body.len() as u32 + 4).to_be_bytes());
    bytes.extend(body);
    bytes
}

/// Salted passwords by password and salt.
type Salted = HashMap<(String, String), [u8; 32]>;

/// Each is computed once: that is slow on purpose.
static SALTED: LazyLock<Mutex<Salted>> = LazyLock::new(Mutex::default);

/// The last message of SCRAM (RFC 5802); without a password, with a proof of zeros.
fn proof(first: &str, server: &str, password: Option<&str>) -> Vec<u8> {
    let field = |name: &str| server.split(',').find_map(|field| field.strip_prefix(name)).unwrap();
    let last = format!("c=biws,r={}", field("r="));
    let mut proof = [0; 32];
    if let Some(password) = password {
        let key = (password.to_owned(), field("s=").to_owned());
        let salted = *SALTED.lock().unwrap().entry(key).or_insert_with(|| {
            let iterations: u32 = field("i=").parse().unwrap();
            salted(password, &from_base64(field("s=")), iterations)
        });
        let client = hmac(&salted, b"Client Key");
        let stored: [u8; 32] = Sha256::digest(client).into();
        proof = hmac(&stored, format!("{first},{server},{last}").as_bytes());
        proof.iter_mut().zip(client).for_each(|(byte, key)| *byte ^= key);
    }
    format!("{last},p={}", to_base64(&proof)).into_bytes()
}

fn hmac(key: &[u8], text: &[u8]) -> [u8; 32] {
    Hmac::<Sha256>::new_from_slice(key).unwrap().chain_update(text).finalize().into_bytes().into()
}

fn salted(password: &str, salt: &[u8], iterations: u32) -> [u8; 32] {
    let keyed = Hmac::<Sha256>::new_from_slice(password.as_bytes()).unwrap();
    let with = |text: &[u8]| -> [u8; 32] {
        keyed.clone().chain_update(text).finalize().into_bytes().into()
    };
    let mut last = with(&[salt, &[0, 0, 0, 1]].concat());
    let mut sum = last;
    for _ in 1..iterations {
        last = with(&last);
        sum.iter_mut().zip(last).for_each(|(sum, byte)| *sum ^= byte);
    }
    sum
}

const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

fn to_base64(bytes: &[u8]) -> String {
    let digits = bytes.chunks(3).flat_map(|chunk| {
        let bits = (0..3).fold(0, |bits, i| bits << 8 | u32::from(*chunk.get(i).unwrap_or(&0)));
        (0..4).map(move |i| match i <= chunk.len() {
            true => ALPHABET[(bits >> (18 - 6 * i) & 63) as usize] as char,
            false => '=',
        })
    });
    digits.collect()
}

fn from_base64(text: &str) -> Vec<u8> {
    let digits = text.bytes().filter_map(|byte| ALPHABET.iter().position(|known| *known == byte));
    let (mut bytes, mut bits, mut held) = (Vec::new(), 0u32, 0);
    for digit in digits {
        (bits, held) = (bits << 6 | digit as u32, held + 6);
        if held >= 8 {
            held -= 8;
            bytes.push((bits >> held) as u8);
        }
    }
    bytes
}
