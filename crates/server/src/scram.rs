//! SCRAM-SHA-256: a password proved without being sent, from a verifier that cannot be used
//! in its place.
//!
//! # Guarantee
//! What is kept of a password is `StoredKey = H(ClientKey)` and `ServerKey`. Whoever reads them
//! must still guess the password, at [`ITERATIONS`] hashes a guess; they do not let anyone in.
//! A proof is good for one exchange: it covers nonces of both sides.
//!
//! # Special values
//! A name that nobody has is answered like any other, with a salt that is always the same for
//! that name, and refused at the end: the exchange does not tell which names exist.
//!
//! # References
//! RFC 5802, RFC 7677; RFC 5929 for `tls-server-end-point`; RFC 4013 for passwords.

use hmac::{Hmac, KeyInit, Mac};
use sha2::{Digest, Sha256};
use std::fmt;

/// A SHA-256 value.
type Hash = [u8; 32];

/// How often a guess of a password hashes.
pub const ITERATIONS: u32 = 100_000;

/// What is kept of a password.
#[derive(Clone, PartialEq, Eq)]
pub struct Verifier {
    /// Drawn anew with every password.
    pub salt: [u8; 16],
    /// The cost at which it was made.
    pub iterations: u32,
    /// `H(ClientKey)`.
    pub stored_key: Hash,
    /// With which the server proves that it knows the verifier.
    pub server_key: Hash,
}

impl fmt::Debug for Verifier {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Verifier").field("iterations", &self.iterations).finish_non_exhaustive()
    }
}

impl Verifier {
    /// Of a password.
    #[must_use]
    pub fn new(password: &str, salt: [u8; 16], iterations: u32) -> Self {
        let salted = salted(password, &salt, iterations);
        let client_key = hmac(&salted, &[b"Client Key"]);
        let server_key = hmac(&salted, &[b"Server Key"]);
        Self { salt, iterations, stored_key: Sha256::digest(client_key).into(), server_key }
    }

    /// One that no password fits; the same for the same name and secret.
    #[must_use]
    pub fn decoy(name: &str, secret: &Hash) -> Self {
        let mut salt = [0; 16];
        salt.copy_from_slice(&hmac(secret, &[b"salt ", name.as_bytes()])[..16]);
        Self {
            salt,
            iterations: ITERATIONS,
            stored_key: hmac(secret, &[b"stored ", name.as_bytes()]),
            server_key: hmac(secret, &[b"server ", name.as_bytes()]),
        }
    }

    /// Is this the password?
    #[must_use]
    pub fn fits(&self, password: &str) -> bool {
        let given = Self::new(password, self.salt, self.iterations);
        equal(&given.stored_key, &self.stored_key)
    }
}

/// The server's side after its first message.
#[derive(Debug)]
pub struct Exchange {
    verifier: Verifier,
    /// What the client must repeat of the channel: the header it sent, and the binding.
    channel: Vec<u8>,
    nonce: String,
    /// All of the authentication message but its last part.
    so_far: String,
}

/// The client's messages do not follow the protocol, or the proof is wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refused {
    /// Not a SCRAM message.
    #[error("the SCRAM message is malformed")]
    Malformed,
    /// It asks for, or leaves out, a channel binding.
    #[error("the channel binding does not fit the connection")]
    Channel,
    /// The proof does not fit the verifier.
    #[error("the proof is wrong")]
    Proof,
}

/// What the connection is bound to.
#[derive(Clone, Copy, Debug)]
pub enum Channel<'a> {
    /// No TLS.
    Plain,
    /// TLS, and the client chose the mechanism without binding.
    Unbound,
    /// TLS with the binding of this certificate hash.
    Bound(&'a [u8]),
}

impl Exchange {
    /// Takes the client's first message; returns the server's.
    pub fn begin(
        client_first: &[u8],
        verifier: Verifier,
        channel: Channel<'_>,
        server_nonce: &str,
    ) -> Result<(Self, String), Refused> {
        let text = std::str::from_utf8(client_first).map_err(|_| Refused::Malformed)?;
        // gs2-header: the binding flag, an authorisation name (none), then the bare message.
        let mut parts = text.splitn(3, ',');
        let (flag, authz) = (parts.next(), parts.next());
        let bare = parts.next().ok_or(Refused::Malformed)?;
        let (flag, authz) = flag.zip(authz).ok_or(Refused::Malformed)?;
        if !authz.is_empty() {
            return Err(Refused::Malformed);
        }
        let mut bound = format!("{flag},,").into_bytes();
        match (flag, channel) {
            ("n", Channel::Plain | Channel::Unbound) => {}
            // "I could bind, and think that you cannot": true only if we did not offer it.
            ("y", Channel::Plain) => {}
            ("p=tls-server-end-point", Channel::Bound(hash)) => bound.extend_from_slice(hash),
            _ => return Err(Refused::Channel),
        }
        let mut fields = bare.split(',');
        let name = fields.next().ok_or(Refused::Malformed)?;
        let nonce = fields.next().and_then(|field| field.strip_prefix("r="));
        let nonce = nonce.filter(|nonce| printable(nonce)).ok_or(Refused::Malformed)?;
        // The name is that of the startup message; PostgreSQL's clients send an empty one here.
        if !name.starts_with("n=") {
            return Err(Refused::Malformed);
        }
        let nonce = format!("{nonce}{server_nonce}");
        let first =
            format!("r={nonce},s={},i={}", base64::encode(&verifier.salt), verifier.iterations);
        let so_far = format!("{bare},{first},");
        Ok((Self { verifier, channel: bound, nonce, so_far }, first))
    }

    /// What a proof that fits is a proof of.
    pub(crate) fn stored_key(&self) -> [u8; 32] {
        self.verifier.stored_key
    }

    /// Takes the client's last message; returns the server's proof of itself.
    pub fn finish(self, client_final: &[u8]) -> Result<String, Refused> {
        let text = std::str::from_utf8(client_final).map_err(|_| Refused::Malformed)?;
        let (without_proof, proof) = text.rsplit_once(",p=").ok_or(Refused::Malformed)?;
        let proof: Hash = base64::decode(proof)
            .and_then(|bytes| bytes.try_into().ok())
            .ok_or(Refused::Malformed)?;
        let mut fields = without_proof.split(',');
        let channel = fields.next().and_then(|field| field.strip_prefix("c="));
        let channel = channel.and_then(base64::decode).ok_or(Refused::Malformed)?;
        if channel != self.channel {
            return Err(Refused::Channel);
        }
        let nonce = fields.next().and_then(|field| field.strip_prefix("r="));
        if nonce.ok_or(Refused::Malformed)? != self.nonce {
            return Err(Refused::Proof);
        }
        let message = format!("{}{without_proof}", self.so_far);
        let signature = hmac(&self.verifier.stored_key, &[message.as_bytes()]);
        let mut client_key = proof;
        client_key.iter_mut().zip(signature).for_each(|(key, byte)| *key ^= byte);
        if !equal(&Sha256::digest(client_key).into(), &self.verifier.stored_key) {
            return Err(Refused::Proof);
        }
        let server = hmac(&self.verifier.server_key, &[message.as_bytes()]);
        Ok(format!("v={}", base64::encode(&server)))
    }
}

/// PBKDF2 with one block, of the prepared password.
fn salted(password: &str, salt: &[u8], iterations: u32) -> Hash {
    // What cannot be prepared is taken as it is, as PostgreSQL does.
    let prepared = stringprep::saslprep(password).unwrap_or(password.into());
    let keyed = keyed(prepared.as_bytes());
    let mut last: Hash =
        keyed.clone().chain_update(salt).chain_update([0, 0, 0, 1]).finalize().into_bytes().into();
    let mut sum = last;
    for _ in 1..iterations {
        last = keyed.clone().chain_update(last).finalize().into_bytes().into();
        sum.iter_mut().zip(last).for_each(|(sum, byte)| *sum ^= byte);
    }
    sum
}

fn keyed(key: &[u8]) -> Hmac<Sha256> {
    // HMAC takes keys of any length; an empty one stands for the error that cannot be.
    Hmac::new_from_slice(key).unwrap_or_else(|_| Hmac::new(&[0; 64].into()))
}

/// HMAC-SHA-256 of the parts, one after the other.
pub(crate) fn hmac(key: &[u8], parts: &[&[u8]]) -> Hash {
    let mut mac = keyed(key);
    parts.iter().for_each(|part| mac.update(part));
    mac.finalize().into_bytes().into()
}

/// Compares in a time that does not depend on where they differ.
pub(crate) fn equal(a: &Hash, b: &Hash) -> bool {
    // The tags of equal texts under one key are equal; where unequal ones differ tells nothing.
    hmac(b"equal", &[a]) == hmac(b"equal", &[b])
}

/// Characters that RFC 5802 allows in a nonce.
fn printable(nonce: &str) -> bool {
    !nonce.is_empty() && nonce.len() <= 256 && nonce.bytes().all(|b| (0x21..0x7f).contains(&b))
}

pub(crate) mod base64 {
    //! Base 64 as in RFC 4648, with padding.

    const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

    /// The text of some bytes.
    pub(crate) fn encode(bytes: &[u8]) -> String {
        let mut text = String::with_capacity(bytes.len().div_ceil(3) * 4);
        for chunk in bytes.chunks(3) {
            let bits = (0..3).fold(0, |bits, i| bits << 8 | u32::from(*chunk.get(i).unwrap_or(&0)));
            for i in 0..4 {
                let letter = ALPHABET[(bits >> (18 - 6 * i) & 63) as usize];
                text.push(if i <= chunk.len() { letter as char } else { '=' });
            }
        }
        text
    }

    /// The bytes of a text, if it is one that [`encode`] makes.
    pub(crate) fn decode(text: &str) -> Option<Vec<u8>> {
        if !text.len().is_multiple_of(4) {
            return None;
        }
        let mut bytes = Vec::with_capacity(text.len() / 4 * 3);
        for chunk in text.as_bytes().chunks(4) {
            let letters = chunk.iter().take_while(|&&letter| letter != b'=').count();
            let mut bits = 0u32;
            for letter in &chunk[..letters] {
                let value = ALPHABET.iter().position(|known| known == letter)?;
                bits = bits << 6 | value as u32;
            }
            bits <<= 6 * (4 - letters);
            let keep = letters.checked_sub(1).filter(|&keep| keep > 0)?;
            bytes.extend_from_slice(&bits.to_be_bytes()[1..=keep]);
        }
        // One text for the same bytes: no padding within, no stray bits.
        (encode(&bytes) == text).then_some(bytes)
    }
}

#[cfg(test)]
mod tests;
