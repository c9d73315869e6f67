//! Hostile bytes on every wire: no panic of ours, no hang, no leak, and nothing answered to whoever
//! did not sign in.
//!
//! Inputs are those kept in `fuzz/corpus`, and mutations of them. `DEMURE_FUZZ=100000` makes a longer
//! run; `fuzz/README.md` says how to let `cargo fuzz` look for others.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on must stop")]

mod bodies;

use bodies::Fixture;
use std::path::Path;

/// Random numbers enough for this (xorshift).
struct Dice(u64);

impl Dice {
    fn next(&mut self, below: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % below.max(1) as u64) as usize
    }
}

/// The inputs that are kept, by name.
fn corpus(target: &str) -> Vec<Vec<u8>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus").join(target);
    let mut files: Vec<_> =
        std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    assert!(files.len() >= 10, "the corpus is kept");
    files.iter().map(|file| std::fs::read(file).unwrap()).collect()
}

/// One or more inputs, one after the other, with some bytes and stretches of others changed.
fn mutated(corpus: &[Vec<u8>], most: usize, dice: &mut Dice) -> Vec<u8> {
    let mut bytes = Vec::new();
    for _ in 0..1 + dice.next(most) {
        bytes.extend(&corpus[dice.next(corpus.len())]);
    }
    for _ in 0..dice.next(8) {
        if bytes.is_empty() {
            break;
        }
        let at = dice.next(bytes.len());
        match dice.next(6) {
            0 => bytes[at] ^= 1 << dice.next(8),
            1 => bytes[at] = [0, 1, 0x7f, 0x80, 0xff][dice.next(5)],
            2 => drop(bytes.drain(at..bytes.len().min(at + 1 + dice.next(9)))),
            3 => bytes.insert(at, dice.next(256) as u8),
            4 => {
                let again: Vec<u8> = bytes[at..].iter().copied().take(dice.next(40)).collect();
                bytes.splice(at..at, again);
            }
            _ => {
                let other = &corpus[dice.next(corpus.len())];
                let from = dice.next(other.len());
                bytes.splice(at..at, other[from..].iter().copied().take(dice.next(30)));
            }
        }
    }
    bytes
}

fn rounds(short: usize) -> usize {
    std::env::var("DEMURE_FUZZ").ok().and_then(|n| n.parse().ok()).unwrap_or(short)
}

/// All that is kept as it is, then mutations, then a question that makes sense.
fn run(target: &str, most: usize, short: usize, body: impl Fn(&Fixture, &[u8])) {
    let (fixture, corpus) = (Fixture::new(), corpus(target));
    corpus.iter().for_each(|bytes| body(&fixture, bytes));
    let mut dice = Dice(0x9e37_79b9_7f4a_7c15);
    for _ in 0..rounds(short) {
        body(&fixture, &mutated(&corpus, most, &mut dice));
    }
    fixture.is_well();
}

#[test]
fn wire_messages_of_strangers() {
    run("wire", 6, 600, |fixture, bytes| {
        fixture.stranger(bytes);
        // What comes after a startup message that is in order.
        let mut startup = vec![0, 0, 0, 34, 0, 3, 0, 0];
        startup.extend(b"user\0ana\0database\0clinic\0\0");
        startup.extend(bytes);
        fixture.stranger(&startup);
    });
}

#[test]
fn wire_messages_of_members() {
    // Each signs in, which is slow on purpose: so some messages at once, and not each by itself.
    let (fixture, corpus) = (Fixture::new(), corpus("wire"));
    let mut dice = Dice(0x9e37_79b9_7f4a_7c15);
    fixture.member(&corpus.concat());
    for _ in 0..rounds(30) {
        fixture.member(&mutated(&corpus, 12, &mut dice));
    }
    fixture.is_well();
}

#[test]
fn statements() {
    run("sql", 2, 300, Fixture::sql);
    let fixture = Fixture::new();
    for hostile in [
        "SELECT ".to_owned() + &"(".repeat(20_000) + "1",
        "SELECT COUNT(*) FROM t WHERE x = ".to_owned() + &"-".repeat(5_000) + "1",
        "SELECT '".to_owned() + &"x".repeat(2_000_000) + "'",
        "SELECT COUNT(*) FROM t WHERE x IN (".to_owned() + &"1,".repeat(20_000) + "1)",
    ] {
        fixture.sql(hostile.as_bytes());
        fixture.member(&bodies::message(b'Q', (hostile + "\0").as_bytes()));
    }
    fixture.is_well();
}

#[test]
fn requests() {
    run("http", 1, 500, Fixture::http);
}
