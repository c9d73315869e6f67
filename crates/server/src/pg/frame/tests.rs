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
        for bytes in [&b"Q\0\0\0\x03"[..], b"Q\xff\xff\xff\xff", b"Z\0\0\0\x04", b"S\0\0\0\x05x"] {
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
    for bad in [&b"\0\0\0\x12\0\x03\0\0user\0ana\0"[..], b"\0\0\0\x08\0\x03\0\0", b"12345678\0x"] {
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
