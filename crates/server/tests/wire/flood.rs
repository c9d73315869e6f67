//! Malformed messages in numbers, before and after signing in: no panic, no hang, no growth.
//!
//! `DEMURE_FLOOD=1000000` says how many; the ordinary run has ten thousand. The same number makes
//! the same messages. They go to this machine alone, from some of its loopback addresses, so that
//! no limit of one address hides what others would do.

use super::client::{message, startup};
use super::*;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::time::Instant;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpSocket, TcpStream};

/// Longer than any connection may take.
const PATIENCE: Duration = Duration::from_secs(20);
/// Connections at once.
const AT_ONCE: usize = 8;
/// What memory may grow by.
const GROWTH: u64 = 64 << 20;

static PANICS: AtomicUsize = AtomicUsize::new(0);

/// Random numbers enough for this (xorshift).
struct Dice(u64);

impl Dice {
    fn next(&mut self, below: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % below.max(1) as u64) as usize
    }

    fn bytes(&mut self, most: usize) -> Vec<u8> {
        (0..self.next(most)).map(|_| self.next(256) as u8).collect()
    }
}

/// Bodies that make sense, by kind.
const BODIES: &[(u8, &[u8])] = &[
    (b'B', b"\0\0\0\0\0\0\0\0"),
    (b'B', b"portal\0name\0\0\x01\0\x01\0\x02\0\0\0\x01x\xff\xff\xff\xff\0\x01\0\0"),
    (b'C', b"Sname\0"),
    (b'C', b"P\0"),
    (b'D', b"Sname\0"),
    (b'D', b"P\0"),
    (b'E', b"\0\0\0\0\0"),
    (b'E', b"portal\0\x7f\xff\xff\xff"),
    (b'H', b""),
    (b'S', b""),
    (b'd', b"some data"),
    (b'c', b""),
    (b'f', b"why\0"),
    (b'p', b"SCRAM-SHA-256\0\0\0\0\x0cn,,n=,r=abcd"),
    (b'p', b"c=biws,r=abcd,p=AAAA"),
    (b'F', b"\0\0\0\x01\0\0"),
    (b'X', b""),
];

/// Statements are dear: one message in forty has one.
const STATEMENTS: &[(u8, &[u8])] = &[
    (b'Q', b"SELECT COUNT(*) FROM t\0"),
    (b'Q', b"SELECT 1; SET demure.epsilon = 0.1; SHOW statement_timeout\0"),
    (b'Q', b"BEGIN\0"),
    (b'P', b"name\0SELECT SUM(x) FROM t WHERE x < $1\0\0\x01\0\0\0\x17"),
    (b'P', b"\0SELECT typname FROM pg_type WHERE oid = $1\0\0\0"),
];

/// A message: one that makes sense, or with bytes changed in its body, or in all of it.
fn one(dice: &mut Dice) -> Vec<u8> {
    let from = if dice.next(40) == 0 { STATEMENTS } else { BODIES };
    let (mut kind, body) = from[dice.next(from.len())];
    let mut body = body.to_vec();
    match dice.next(10) {
        0 => body = dice.bytes(200),
        1 => kind = dice.next(256) as u8,
        2..=5 => mutate(&mut body, dice),
        _ => {}
    }
    let mut bytes = message(kind, &body);
    match dice.next(20) {
        0 => mutate(&mut bytes, dice),
        1 => bytes = dice.bytes(60),
        // Its length lies.
        2 => bytes[1 + dice.next(4)] ^= 1 << dice.next(8),
        _ => {}
    }
    bytes
}

fn mutate(bytes: &mut Vec<u8>, dice: &mut Dice) {
    for _ in 0..1 + dice.next(3) {
        let at = dice.next(bytes.len());
        match (dice.next(4), bytes.get_mut(at)) {
            (0, Some(byte)) => *byte ^= 1 << dice.next(8),
            (1, Some(byte)) => *byte = [0, 1, 0x7f, 0x80, 0xff][dice.next(5)],
            (2, Some(_)) => drop(bytes.drain(at..bytes.len().min(at + 1 + dice.next(9)))),
            _ => bytes.insert(at, dice.next(256) as u8),
        }
    }
}

/// A connection from one of this machine's own addresses.
async fn connected(to: SocketAddr, dice: &mut Dice) -> TcpStream {
    assert!(to.ip().is_loopback());
    let socket = TcpSocket::new_v4().unwrap();
    let from = [127, 0, 1 + dice.next(4) as u8, 1 + dice.next(250) as u8];
    socket.bind((from, 0).into()).unwrap();
    socket.connect(to).await.unwrap()
}

/// Sends everything, says that this was all, and hears the server to its end.
async fn finished(mut socket: TcpStream, bytes: &[u8]) {
    let conversation = async {
        // The server may close while we write.
        let (mut reading, mut writing) = socket.split();
        let write = async {
            let _ = writing.write_all(bytes).await;
            let _ = writing.shutdown().await;
        };
        let mut told = Vec::new();
        let read = reading.read_to_end(&mut told);
        let _ = futures::future::join(write, read).await;
    };
    let ended = tokio::time::timeout(PATIENCE, conversation).await;
    assert!(ended.is_ok(), "hangs: {bytes:?}");
}

/// Messages to a server that has not been told who we are.
async fn strange(to: SocketAddr, dice: &mut Dice) -> u64 {
    let socket = connected(to, dice).await;
    let count = 1 + dice.next(12);
    let mut bytes = match dice.next(8) {
        0 => dice.bytes(64),
        1 => vec![0, 0, 0, 8, 4, 0xd2, 0x16, 0x2f + dice.next(3) as u8],
        2 => {
            let mut first = startup("sam");
            mutate(&mut first, dice);
            first
        }
        // Wrong proofs lock this name, and not the one that is let in.
        _ => startup("sam"),
    };
    (1..count).for_each(|_| bytes.extend(one(dice)));
    finished(socket, &bytes).await;
    count as u64
}

/// Messages to a server that has let us in.
async fn known(to: SocketAddr, dice: &mut Dice) -> u64 {
    let mut client = Client { socket: connected(to, dice).await };
    client.sign_in("ana", PASSWORD).await.unwrap();
    let count = 1 + dice.next(60);
    let bytes: Vec<u8> = (0..count).flat_map(|_| one(dice)).collect();
    finished(client.socket, &bytes).await;
    count as u64
}

#[test]
fn malformed_messages_in_numbers() {
    let before = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        PANICS.fetch_add(1, Ordering::SeqCst);
        before(panic);
    }));
    let asked = std::env::var("DEMURE_FLOOD").ok().and_then(|count| count.parse().ok());
    let all: u64 = asked.unwrap_or(10_000);
    let limits = Limits { startup_time: Duration::from_secs(10), ..Limits::default() };
    let server = Server::new(limits);
    let (address, clients) = (server.address, threads(2));
    let sent = Arc::new([AtomicU64::new(0), AtomicU64::new(0)]);
    let begun = Instant::now();
    // Of each phase, what there was when it had begun, and the most there was.
    let (mut first, mut most) = ([0; 2], [0; 2]);
    let running = (0..AT_ONCE as u64).map(|i| {
        let sent = Arc::clone(&sent);
        clients.spawn(async move {
            let mut dice =
                Dice(0x9e37_79b9_7f4a_7c15 ^ (i + 1).wrapping_mul(0x1234_5678_9abc_def1));
            while sent[0].load(Ordering::SeqCst) < all / 2 {
                let count = strange(address, &mut dice).await;
                sent[0].fetch_add(count, Ordering::SeqCst);
            }
            while sent[1].load(Ordering::SeqCst) < all / 2 {
                let count = known(address, &mut dice).await;
                sent[1].fetch_add(count, Ordering::SeqCst);
            }
        })
    });
    let running: Vec<_> = running.collect();
    while !running.iter().all(|task| task.is_finished()) {
        std::thread::sleep(Duration::from_millis(2));
        let counts = [&sent[0], &sent[1]].map(|count| count.load(Ordering::SeqCst));
        let (done, phase) = (counts[0] + counts[1], usize::from(counts[0] >= all / 2));
        // What the first of either kind take is kept for the others: threads, caches.
        if counts[phase] > 2_000.min(all / 4) {
            let now = memory();
            most[phase] = now.max(most[phase]);
            if first[phase] == 0 {
                first[phase] = now;
            }
        }
        assert_eq!(PANICS.load(Ordering::SeqCst), 0, "a panic after {done} messages");
        assert!(begun.elapsed() < Duration::from_secs(3600), "{done} messages in an hour");
    }
    clients.block_on(async {
        for task in running {
            task.await.unwrap();
        }
    });
    let counts = [&sent[0], &sent[1]].map(|count| count.load(Ordering::SeqCst));
    let grown = [0, 1].map(|phase| most[phase].saturating_sub(first[phase]));
    eprintln!(
        "{} messages before signing in ({:.1} MB more), {} after it ({:.1} MB more), in {:?}",
        counts[0],
        grown[0] as f64 / 1e6,
        counts[1],
        grown[1] as f64 / 1e6,
        begun.elapsed(),
    );
    assert_eq!(PANICS.load(Ordering::SeqCst), 0, "a panic");
    assert!(first.iter().all(|first| *first > 0), "too few messages to say anything");
    assert!(grown.iter().all(|grown| *grown < GROWTH), "{grown:?} bytes more");
    // And the server is well: it answers, has spent no more than there is, and has no guests.
    server.run(async {
        let mut client = server.member("ana").await;
        assert_eq!(client.ask("SELECT COUNT(*) FROM t").await.unwrap().len(), 1);
    });
    assert!(server.service.curator.ledger().balance().unwrap().spent.main <= EPSILON);
}
