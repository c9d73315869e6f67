use super::*;
use crate::random::{Randomness, SeededForTests};

#[test]
fn every_number_comes_from_as_many_words() {
    // All 2¹⁶ words, for numbers that divide 2¹⁶ and that do not: acceptance and result by the same rule.
    for n in [1u64, 2, 3, 7, 34, 128, 1000, 4095, 4096] {
        let mut counts = vec![0u64; n as usize];
        for x in 0..1u64 << 16 {
            let (product, all) = (x * n, 1 << 16);
            let rest = product & (all - 1);
            if rest >= n || rest >= all % n {
                counts[(product >> 16) as usize] += 1;
            }
        }
        assert!(counts.iter().all(|&c| c == (1 << 16) / n), "{n}");
    }
}

#[test] // fixed seed; χ² of 100,000 draws, false alarm 1e-6
fn draws_are_uniform_on_either_side_of_the_widths() {
    let mut rng = SeededForTests::insecure(5);
    for n in [5u32, 4096, 4097] {
        let mut small = Small::default();
        let mut counts = [0u32; 5];
        let bits = rng.bits().unwrap();
        for _ in 0..100_000 {
            let drawn = small.below(n, bits).unwrap();
            assert!(drawn < n);
            counts[(u64::from(drawn) * 5 / u64::from(n)) as usize] += 1;
        }
        // Fifths of n, as near as whole numbers are.
        let part = |i: u64| ((i + 1) * u64::from(n)).div_ceil(5) - (i * u64::from(n)).div_ceil(5);
        let chi: f64 = counts
            .iter()
            .zip(0..)
            .map(|(&c, i)| {
                let expected = 1e5 * part(i) as f64 / f64::from(n);
                (f64::from(c) - expected).powi(2) / expected
            })
            .sum();
        assert!(chi < 33.4, "{n}: {chi}"); // χ²(4), upper 1e-6 point: 33.38
    }
}
