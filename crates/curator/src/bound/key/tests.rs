use super::*;
use demure_core::random::SeededForTests;
use std::collections::HashSet;

#[test]
fn ids_are_permuted_and_spread_over_the_partitions() {
    let key = Key::draw(&mut SeededForTests::insecure(1)).unwrap();
    let images: Vec<u64> = (0..100_000u64).map(|id| key.permute(id)).collect();
    assert_eq!(images.iter().collect::<HashSet<_>>().len(), images.len());
    let mut counts = [0u32; 256];
    images.iter().for_each(|x| counts[(x >> 56) as usize] += 1);
    assert!(counts.iter().all(|&c| (200..600).contains(&c)), "{counts:?}"); // mean 391
}

#[test]
fn bytes_of_all_lengths_differ_and_keys_differ() {
    let key = |seed| Key::draw(&mut SeededForTests::insecure(seed)).unwrap();
    let text = [0u8; 70];
    let hashes: HashSet<u64> = (0..=70).map(|n| key(1).bytes(&text[..n])).collect();
    assert_eq!(hashes.len(), 71);
    assert_ne!(key(1).bytes(b"a"), key(2).bytes(b"a"));
    assert_eq!(format!("{:?}", key(1)), "Key(secret)");
}
