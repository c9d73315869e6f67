//! Certificates: read once at the start, and a mistake in them ends the start.

use sha2::{Digest, Sha256, Sha384, Sha512};
use std::fmt;
use std::path::Path;
use std::sync::Arc;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::ServerConfig;
use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::pki_types::pem::PemObject;
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer};

/// A certificate and its key cannot be used.
#[derive(Debug, thiserror::Error)]
#[error("{path}: {what}\nhint: PEM files are needed, the certificate's with its whole chain")]
pub struct BadCertificate {
    path: String,
    what: String,
}

/// What speaks TLS for all wires.
#[derive(Clone)]
pub struct Tls {
    config: Arc<ServerConfig>,
    /// What a client binds its password's proof to (RFC 5929); none if the certificate is
    /// signed in a way for which that is not defined.
    pub(crate) binding: Option<Arc<[u8]>>,
}

impl fmt::Debug for Tls {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Tls")
    }
}

impl Tls {
    /// Reads a certificate (with its chain) and its private key.
    pub fn read(certificate: &Path, key: &Path) -> Result<Self, BadCertificate> {
        let bad = |path: &Path, what: &dyn fmt::Display| BadCertificate {
            path: path.display().to_string(),
            what: what.to_string(),
        };
        let chain = CertificateDer::pem_file_iter(certificate)
            .and_then(Iterator::collect::<Result<Vec<_>, _>>)
            .map_err(|e| bad(certificate, &e))?;
        let Some(first) = chain.first() else {
            return Err(bad(certificate, &"there is no certificate in it"));
        };
        let binding = end_point(first).map(Arc::from);
        let private = PrivateKeyDer::from_pem_file(key).map_err(|e| bad(key, &e))?;
        let config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
            .with_safe_default_protocol_versions()
            .map_err(|e| bad(certificate, &e))?
            .with_no_client_auth()
            .with_single_cert(chain, private)
            .map_err(|e| bad(key, &e))?;
        Ok(Self { config: Arc::new(config), binding })
    }

    /// For connections that agree on one of these protocols.
    #[must_use]
    pub fn acceptor(&self, protocols: &[&[u8]]) -> TlsAcceptor {
        let mut config = ServerConfig::clone(&self.config);
        config.alpn_protocols = protocols.iter().map(|protocol| protocol.to_vec()).collect();
        TlsAcceptor::from(Arc::new(config))
    }
}

/// `tls-server-end-point`: the certificate under the hash of its own signature, SHA-256 for
/// MD5 and SHA-1.
fn end_point(certificate: &[u8]) -> Option<Vec<u8>> {
    // Certificate ::= SEQUENCE { tbs, signatureAlgorithm ::= SEQUENCE { OID, … }, … }
    let (_, certificate_body) = element(certificate)?;
    let (tbs_end, _) = element(certificate_body)?;
    let (_, algorithm) = element(&certificate_body[tbs_end..])?;
    let (_, oid) = element(algorithm)?;
    const RSA: &[u8] = &[0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x01];
    const ECDSA: &[u8] = &[0x2a, 0x86, 0x48, 0xce, 0x3d, 0x04, 0x03];
    let bits = match (oid.strip_prefix(RSA), oid.strip_prefix(ECDSA)) {
        (Some([4 | 5 | 11]), _) | (_, Some([2])) => 256,
        (Some([12]), _) | (_, Some([3])) => 384,
        (Some([13]), _) | (_, Some([4])) => 512,
        _ => return None,
    };
    Some(match bits {
        256 => Sha256::digest(certificate).to_vec(),
        384 => Sha384::digest(certificate).to_vec(),
        _ => Sha512::digest(certificate).to_vec(),
    })
}

/// The first element of some DER: where it ends, and its contents.
fn element(der: &[u8]) -> Option<(usize, &[u8])> {
    let first = usize::from(*der.get(1)?);
    let (header, length) = match first {
        0..=0x7f => (2, first),
        0x81..=0x83 => {
            let digits = der.get(2..2 + (first - 0x80))?;
            let length = digits.iter().fold(0, |sum, &byte| sum << 8 | usize::from(byte));
            (2 + digits.len(), length)
        }
        _ => return None,
    };
    let end = header + length;
    Some((end, der.get(header..end)?))
}
