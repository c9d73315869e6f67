//! Before anybody has signed in: memory, places, TLS, locks.

use super::client::startup;
use super::*;
use demure_server::tls::Tls;
use std::path::Path;
use std::time::Instant;
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;
use tokio_rustls::rustls::client::danger::{
    HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier,
};
use tokio_rustls::rustls::crypto::{CryptoProvider, ring};
use tokio_rustls::rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use tokio_rustls::rustls::{ClientConfig, DigitallySignedStruct, Error, SignatureScheme};

const SOON: Duration = Duration::from_secs(5);

#[test]
fn a_stranger_takes_no_memory() {
    let server = Server::new(Limits::default());
    server.run(async {
        let before = memory();
        for _ in 0..2 {
            let mut client = server.connect().await;
            client.greet("ana").await.unwrap();
            // A gigabyte is announced, and sent for as long as it is taken.
            client.send(&[b'p', 0x3f, 0xff, 0xff, 0xff]).await;
            let part = vec![b'x'; 1 << 20];
            let mut sent = 0;
            while sent < 300 && client.send(&part).await {
                sent += 1;
            }
            assert!(sent < 300, "all of it was taken");
            assert!(client.ends_within(SOON).await);
        }
        let grown = memory().saturating_sub(before);
        assert!(grown < 32 << 20, "{grown} bytes more");
        // Nor is a startup message longer than it can be.
        let mut client = server.connect().await;
        client.send(&[0, 0, 0x40, 0, 0, 3, 0, 0]).await;
        assert!(client.ends_within(SOON).await);
        server.member("ana").await;
    });
}

#[test]
fn who_is_refused_keeps_no_place() {
    let limits = Limits { connections: 12, ..Limits::default() };
    let server = Server::new(limits);
    server.run(async {
        let mut held = Vec::new();
        for i in 0..30 {
            let mut client = server.connect().await;
            assert_eq!(client.fail(&format!("nobody{i}")).await.code, "28P01");
            // Our side stays open; the server closes both of its own.
            held.push(client);
        }
        for client in &mut held {
            assert!(client.ends_within(SOON).await);
        }
        let mut member = server.member("ana").await;
        assert_eq!(member.ask("SELECT 1").await.unwrap(), ["1"]);
    });
}

#[test]
fn who_says_nothing_keeps_no_place() {
    let limits =
        Limits { connections: 8, startup_time: Duration::from_secs(8), ..Limits::default() };
    let server = Server::new(limits);
    server.run(async {
        let mut member = server.member("ana").await;
        // The first proof of a password is slow.
        drop(server.member("sam").await);
        let mut silent = Vec::new();
        for i in 0..20 {
            let mut client = server.connect().await;
            if i % 2 == 0 {
                client.greet("ana").await.unwrap();
            }
            silent.push(client);
        }
        // All places are taken by those who have not signed in: whoever comes finds one.
        let begun = Instant::now();
        let mut late = server.member("sam").await;
        assert!(begun.elapsed() < Duration::from_secs(6), "{:?}", begun.elapsed());
        // And none of them stays, though it drips.
        let mut dripping = server.connect().await;
        let mut dripped = 0;
        while dripped < 150 && dripping.send(&startup("ana")[dripped % 8..][..1]).await {
            tokio::time::sleep(Duration::from_millis(100)).await;
            dripped += 1;
        }
        assert!(dripped < 150, "it was let drip");
        for client in &mut silent {
            assert!(client.ends_within(SOON).await);
        }
        for member in [&mut member, &mut late] {
            assert_eq!(member.ask("SELECT 1").await.unwrap(), ["1"], "members stay");
        }
    });
}

#[test]
fn an_address_and_an_account_have_so_many_connections() {
    let limits =
        Limits { connections_per_address: 5, connections_per_account: 2, ..Limits::default() };
    let server = Server::new(limits);
    server.run(async {
        let mut members = [server.member("ana").await, server.member("ana").await];
        let mut third = server.connect().await;
        assert_eq!(third.sign_in("ana", PASSWORD).await.unwrap_err().code, "53300");
        assert!(third.ends_within(SOON).await);
        let _three = [server.connect().await, server.connect().await, server.connect().await];
        tokio::time::sleep(Duration::from_millis(200)).await;
        let mut sixth = server.connect().await;
        assert!(sixth.ends_within(SOON).await, "closed at once");
        for member in &mut members {
            assert_eq!(member.ask("SELECT 1").await.unwrap(), ["1"]);
        }
    });
}

fn certificate() -> Tls {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../cli/tests/tls");
    Tls::read(&folder.join("cert.pem"), &folder.join("key.pem")).unwrap()
}

/// Any certificate will do: this is not about those.
#[derive(Debug)]
struct Trusting(CryptoProvider);

impl ServerCertVerifier for Trusting {
    fn verify_server_cert(
        &self,
        _: &CertificateDer<'_>,
        _: &[CertificateDer<'_>],
        _: &ServerName<'_>,
        _: &[u8],
        _: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        _: &[u8],
        _: &CertificateDer<'_>,
        _: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        Ok(HandshakeSignatureValid::assertion())
    }

    fn verify_tls13_signature(
        &self,
        _: &[u8],
        _: &CertificateDer<'_>,
        _: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        Ok(HandshakeSignatureValid::assertion())
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.0.signature_verification_algorithms.supported_schemes()
    }
}

/// A request for TLS.
const SSL: [u8; 8] = [0, 0, 0, 8, 4, 0xd2, 0x16, 0x2f];
const GSS: [u8; 8] = [0, 0, 0, 8, 4, 0xd2, 0x16, 0x30];

#[test]
fn with_a_certificate_nothing_is_said_without_tls() {
    let tls = certificate();
    let server = Server::with(Limits::default(), Encryption::Required(tls));
    server.run(async {
        let mut plain = server.connect().await;
        let refused = plain.sign_in("ana", PASSWORD).await.unwrap_err();
        assert_eq!(refused.code, "28000");
        assert!(refused.text.contains("TLS"), "{}", refused.text);
        assert!(plain.ends_within(SOON).await);
        // Bytes that come with the request, before the handshake, end the connection.
        for more in [startup("ana"), vec![0x16, 3, 1, 0, 0]] {
            let mut both = server.connect().await;
            both.send(&[&SSL[..], &more].concat()).await;
            let mut told = Vec::new();
            let reading = tokio::io::AsyncReadExt::read_to_end(&mut both.socket, &mut told);
            // It may be reset, as what was sent was not read.
            let _ = tokio::time::timeout(SOON, reading).await.unwrap();
            assert_eq!(told, b"", "TLS was agreed to");
        }
        // With TLS everything is as ever, after a request for another kind of encryption too.
        let provider = ring::default_provider();
        let config = ClientConfig::builder_with_provider(Arc::new(provider.clone()))
            .with_safe_default_protocol_versions()
            .unwrap()
            .dangerous()
            .with_custom_certificate_verifier(Arc::new(Trusting(provider)))
            .with_no_client_auth();
        let connector = TlsConnector::from(Arc::new(config));
        for first in [&[][..], &GSS] {
            let mut client = server.connect().await;
            if !first.is_empty() {
                client.send(first).await;
                assert_eq!(answer(&mut client.socket).await, b'N');
            }
            client.send(&SSL).await;
            assert_eq!(answer(&mut client.socket).await, b'S');
            let name = "localhost".try_into().unwrap();
            let socket = connector.connect(name, client.socket).await.unwrap();
            let mut client = Client { socket };
            client.sign_in("ana", PASSWORD).await.unwrap();
            assert_eq!(client.ask("SELECT 1").await.unwrap(), ["1"]);
        }
    });
}

async fn answer(socket: &mut TcpStream) -> u8 {
    tokio::io::AsyncReadExt::read_u8(socket).await.unwrap()
}

#[test]
fn what_was_allowed_by_name_is() {
    let tls = certificate();
    let server = Server::with(Limits::default(), Encryption::Offered(tls));
    server.run(async {
        server.member("ana").await;
    });
}

#[test]
fn challenges_that_were_got_early_gain_nothing() {
    let server = Server::new(Limits::default());
    server.run(async {
        let mut begun = Vec::new();
        for i in 0..10 {
            let mut client = server.connect().await;
            client.greet("ana").await.unwrap();
            let proof = client.challenge((i == 9).then_some(PASSWORD)).await.unwrap();
            begun.push((client, proof));
        }
        for (i, (client, proof)) in begun.iter_mut().enumerate() {
            let refused = client.prove(proof).await.unwrap_err();
            assert_eq!(refused.code, "28P01", "proof {i}; the last is right, and comes too late");
        }
        // Another is not locked; the address has its limit.
        server.member("sam").await;
        let mut throttled = 0;
        for i in 0..80 {
            let mut client = server.connect().await;
            let refused = client.fail(&format!("nobody{i}")).await;
            throttled += usize::from(refused.text.contains("too many sign-ins failed"));
        }
        assert!(throttled >= 15, "{throttled} of 80 were refused unjudged");
        let judged = server.service.users.record(1000).unwrap();
        let failed = judged.iter().filter(|line| line.action == "sign in failed").count();
        assert!(failed < 80, "{failed} lines of the record");
    });
}
