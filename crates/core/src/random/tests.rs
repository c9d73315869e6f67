use super::*;

fn words(rng: &mut dyn Randomness, count: usize) -> Vec<u64> {
    let bits = rng.bits().unwrap();
    (0..count).map(|_| bits.word().unwrap()).collect()
}

#[test]
fn seeded_streams_repeat_and_differ_by_seed() {
    let first = words(&mut SeededForTests::insecure(1), 2_000);
    assert_eq!(first, words(&mut SeededForTests::insecure(1), 2_000));
    assert_ne!(first, words(&mut SeededForTests::insecure(2), 2_000));
    let ones: u32 = first.iter().map(|w| w.count_ones()).sum();
    assert!(ones.abs_diff(64_000) < 5 * 179, "{ones}"); // 5 standard deviations
}

#[test]
fn words_in_bulk_are_the_same_words() {
    let single = words(&mut SeededForTests::insecure(7), 1_000);
    let mut bulk = vec![0; 1_000];
    let mut rng = SeededForTests::insecure(7);
    let bits = rng.bits().unwrap();
    bulk[0] = bits.word().unwrap();
    bits.words(&mut bulk[1..]).unwrap();
    assert_eq!(single, bulk);
    assert!(bits.buffer[..bits.next].iter().all(|&w| w == 0));
}

#[test]
fn system_streams_never_repeat_and_survive_reseeding() {
    let mut rng = SystemRandom::new().unwrap();
    let many = words(&mut rng, BUFFER * (REFILLS_PER_SEED as usize + 3));
    let distinct: std::collections::HashSet<_> = many.iter().collect();
    assert_eq!(distinct.len(), many.len());
    assert_ne!(words(&mut rng, 4), words(&mut SystemRandom::new().unwrap(), 4));
}

#[test]
fn a_forked_child_draws_a_key_of_its_own() {
    let mut parent = SystemRandom::new().unwrap();
    words(&mut parent, 1);
    // The state that fork() leaves in the child: the same memory, another process id.
    let mut child = SystemRandom {
        bits: Bits {
            buffer: parent.bits.buffer,
            next: parent.bits.next,
            cipher: ChaCha12Rng::from_seed([7; 32]),
            refills: 0,
            reseeds: true,
        },
        process: std::process::id().wrapping_add(1),
    };
    assert_ne!(words(&mut parent, 8), words(&mut child, 8));
    assert_eq!(child.process, std::process::id());
}

#[test]
fn the_state_does_not_give_back_words_already_drawn() {
    let mut rng = SystemRandom::new().unwrap();
    let drawn = words(&mut rng, 100);
    // The most that a reader of the memory can do: run the cipher from its start.
    rng.bits.cipher.set_word_pos(0);
    let replayed: Vec<u64> = (0..2_000).map(|_| rng.bits.cipher.next_u64()).collect();
    assert!(drawn.iter().all(|word| !replayed.contains(word)));
    assert!(drawn.iter().all(|word| !rng.bits.buffer.contains(word)));
}

#[test]
fn words_are_wiped_when_handed_out_and_never_printed() {
    let mut rng = SystemRandom::new().unwrap();
    words(&mut rng, 10);
    assert!(rng.bits.buffer[..10].iter().all(|&w| w == 0));
    assert!(format!("{rng:?}").contains("secret"));
}
