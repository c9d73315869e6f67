//! Real connections: an orderly end, those who keep us waiting, TLS.

use super::*;

async fn served(
    settings: HttpSettings,
    limits: Limits,
) -> (
    std::net::SocketAddr,
    tokio::sync::oneshot::Sender<()>,
    tokio::task::JoinHandle<std::io::Result<()>>,
    House,
) {
    let house = House::with(limits, settings.clone()).await;
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let (tell, told) = tokio::sync::oneshot::channel::<()>();
    let service = Arc::clone(&house.service);
    let ending = async move {
        let _ = told.await;
    };
    let serving = tokio::spawn(serve(listener, None, service, settings, ending));
    (address, tell, serving, house)
}

/// What a connection says until it ends, or for two seconds.
async fn hear(stream: &mut TcpStream) -> Option<String> {
    let mut text = Vec::new();
    let all = stream.read_to_end(&mut text);
    tokio::time::timeout(Duration::from_secs(5), all).await.ok()?.ok();
    Some(String::from_utf8_lossy(&text).into_owned())
}

#[test]
fn a_real_connection_and_an_orderly_end() {
    run(async {
        let (address, tell, serving, house) =
            served(HttpSettings::default(), Limits::default()).await;
        let mut stream = TcpStream::connect(address).await.unwrap();
        let body = json!({ "user": "ana", "password": PASSWORD }).to_string();
        let request = format!(
            "POST /api/session HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n\
             Content-Length: {}\r\nConnection: close\r\n\r\n{body}",
            body.len()
        );
        stream.write_all(request.as_bytes()).await.unwrap();
        let heard = hear(&mut stream).await.unwrap();
        assert!(heard.starts_with("HTTP/1.1 200 OK"), "{heard}");
        assert!(!heard.contains("strict-transport-security"), "there is no TLS: {heard}");
        let record = house.service.users.record(1).unwrap();
        assert!(record[0].detail.starts_with("HTTP from 127.0.0.1:"), "{}", record[0].detail);
        // An idle connection does not hold up the end.
        let _idle = TcpStream::connect(address).await.unwrap();
        let mut kept = TcpStream::connect(address).await.unwrap();
        kept.write_all(b"GET /api/health HTTP/1.1\r\nHost: x\r\n\r\n").await.unwrap();
        tokio::time::sleep(Duration::from_millis(200)).await;
        tell.send(()).unwrap();
        let heard = hear(&mut kept).await.unwrap();
        assert!(heard.contains("{\"status\":\"ok\"}"), "{heard}");
        let ended = tokio::time::timeout(Duration::from_secs(5), serving).await;
        ended.unwrap().unwrap().unwrap();
        assert!(TcpStream::connect(address).await.is_err());
    });
}

#[test]
fn who_keeps_us_waiting_is_let_go() {
    run(async {
        let settings =
            HttpSettings { read_time: Duration::from_millis(600), ..HttpSettings::default() };
        let limits = Limits { connections: 2, ..Limits::default() };
        let (address, _tell, _serving, _house) = served(settings, limits).await;
        // Says nothing; drips a head for ever.
        let mut silent = TcpStream::connect(address).await.unwrap();
        let mut dripping = TcpStream::connect(address).await.unwrap();
        dripping.write_all(b"GET /api/health HTTP/1.1\r\n").await.unwrap();
        // The third waits for room, and gets it when the others are let go.
        let mut third = TcpStream::connect(address).await.unwrap();
        third
            .write_all(b"GET /api/health HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
            .await
            .unwrap();
        let drip = async {
            for _ in 0..50 {
                if dripping.write_all(b"X: y\r\n").await.is_err() {
                    return true;
                }
                tokio::time::sleep(Duration::from_millis(100)).await;
            }
            false
        };
        assert!(drip.await, "dripping does not help");
        assert!(hear(&mut silent).await.is_some(), "closed");
        let heard = hear(&mut third).await.unwrap();
        assert!(heard.contains("200 OK"), "{heard}");
        // A body that does not come.
        let mut late = TcpStream::connect(address).await.unwrap();
        late.write_all(
            b"POST /api/session HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n\
              Content-Length: 100\r\n\r\n{",
        )
        .await
        .unwrap();
        let heard = hear(&mut late).await.unwrap();
        assert!(heard.starts_with("HTTP/1.1 408"), "{heard}");
        // A head without end.
        let mut endless = TcpStream::connect(address).await.unwrap();
        let line = format!("X-Y: {}\r\n", "z".repeat(4000));
        let mut broken = endless.write_all(b"GET / HTTP/1.1\r\n").await.is_err();
        for _ in 0..300 {
            broken = broken || endless.write_all(line.as_bytes()).await.is_err();
        }
        let heard = hear(&mut endless).await;
        assert!(broken || heard.is_some_and(|text| !text.contains("200 OK")));
    });
}

#[test]
fn an_address_has_so_many_connections() {
    run(async {
        let limits = Limits { connections_per_address: 2, ..Limits::default() };
        let (address, _tell, _serving, _house) = served(HttpSettings::default(), limits).await;
        let ask = b"GET /api/health HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n";
        let held = [
            TcpStream::connect(address).await.unwrap(),
            TcpStream::connect(address).await.unwrap(),
        ];
        tokio::time::sleep(Duration::from_millis(200)).await;
        let mut third = TcpStream::connect(address).await.unwrap();
        let _ = third.write_all(ask).await;
        assert_eq!(hear(&mut third).await.unwrap(), "", "closed at once");
        drop(held);
        tokio::time::sleep(Duration::from_millis(200)).await;
        let mut fourth = TcpStream::connect(address).await.unwrap();
        fourth.write_all(ask).await.unwrap();
        assert!(hear(&mut fourth).await.unwrap().contains("200 OK"));
    });
}

/// A certificate of `localhost` and its key, in hexadecimal, for this test alone.
const CERTIFICATE: &str = "\
    3082013d3081e5a003020102020107300a06082a8648ce3d04030230143112301006035504030c096c6f63616c\
    686f73743020170d3230303130313030303030305a180f32313230303130313030303030305a30143112301006\
    035504030c096c6f63616c686f73743059301306072a8648ce3d020106082a8648ce3d03010703420004721cbc\
    0b5589d3c1023905c97bfb02a5ae05505bc6d1d2a7ecb3d5db071812723e64cbade8148bd5c5e1136236a5a485\
    27817e0613bf78eb109489e068fc4a34a326302430140603551d11040d300b82096c6f63616c686f7374300c06\
    03551d130101ff04023000300a06082a8648ce3d040302034700304402203832f2f0b7e41d251b297c65909d43\
    3e7e00097c969428a49614785eeb1e2db402201a835659b855ebfe46450d1ba1133fa22a32d8d97bb66a60bc88\
    7c64d229dee6";
const KEY: &str = "\
    308187020100301306072a8648ce3d020106082a8648ce3d030107046d306b02010104200ca212028719eb1e2d\
    47d965c851dc65695484285ea6d8f26bcee8cd44c14b93a14403420004721cbc0b5589d3c1023905c97bfb02a5\
    ae05505bc6d1d2a7ecb3d5db071812723e64cbade8148bd5c5e1136236a5a48527817e0613bf78eb109489e068\
    fc4a34";

fn from_hex(text: &str) -> Vec<u8> {
    let digits = text.as_bytes().chunks(2);
    digits.map(|two| u8::from_str_radix(std::str::from_utf8(two).unwrap(), 16).unwrap()).collect()
}

#[test]
fn the_same_by_tls() {
    use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer, PrivatePkcs8KeyDer};
    use tokio_rustls::rustls::{ClientConfig, RootCertStore, ServerConfig};
    run(async {
        let certificate = CertificateDer::from(from_hex(CERTIFICATE));
        let key = PrivateKeyDer::from(PrivatePkcs8KeyDer::from(from_hex(KEY)));
        let provider = Arc::new(tokio_rustls::rustls::crypto::ring::default_provider());
        let server = ServerConfig::builder_with_provider(Arc::clone(&provider))
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_no_client_auth()
            .with_single_cert(vec![certificate.clone()], key)
            .unwrap();
        let mut roots = RootCertStore::empty();
        roots.add(certificate).unwrap();
        let client = ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_root_certificates(roots)
            .with_no_client_auth();
        let house = House::new().await;
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let acceptor = tokio_rustls::TlsAcceptor::from(Arc::new(server));
        let settings =
            HttpSettings { read_time: Duration::from_secs(2), ..HttpSettings::default() };
        let never = std::future::pending();
        tokio::spawn(serve(listener, Some(acceptor), Arc::clone(&house.service), settings, never));
        // One who never shakes hands keeps nobody else waiting.
        let _silent = TcpStream::connect(address).await.unwrap();
        let mut plain = TcpStream::connect(address).await.unwrap();
        plain.write_all(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n").await.unwrap();
        let stream = TcpStream::connect(address).await.unwrap();
        let connector = tokio_rustls::TlsConnector::from(Arc::new(client));
        let mut stream = connector.connect("localhost".try_into().unwrap(), stream).await.unwrap();
        let body = json!({ "user": "ana", "password": PASSWORD }).to_string();
        let request = format!(
            "POST /api/session HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n\
             Content-Length: {}\r\nConnection: close\r\n\r\n{body}",
            body.len()
        );
        stream.write_all(request.as_bytes()).await.unwrap();
        let mut heard = Vec::new();
        stream.read_to_end(&mut heard).await.unwrap();
        let heard = String::from_utf8_lossy(&heard);
        assert!(heard.starts_with("HTTP/1.1 200 OK"), "{heard}");
        assert!(heard.contains("__Host-demure=") && heard.contains("; Secure"), "{heard}");
        assert!(heard.contains("strict-transport-security: max-age=31536000"), "{heard}");
        let heard = hear(&mut plain).await.unwrap();
        assert!(!heard.contains("HTTP/1.1 200"), "{heard}");
    });
}
