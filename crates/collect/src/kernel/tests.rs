use super::*;
use demure_core::local::{Hadamard, HashFunction, LocalHash};
use demure_core::unit::Epsilon;

fn mix(i: u64) -> u64 {
    let x = (i + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    (x ^ x >> 31).wrapping_mul(0xbf58_476d_1ce4_e5b9)
}

#[test]
fn both_loops_count_what_the_hash_function_says() {
    for (k, g, n) in [(1024u32, 4u32, 3000u64), (37, 3, 50), (65_536, 17, 20)] {
        let hash = LocalHash::with_buckets(k, g, Epsilon::new(1.0).unwrap()).unwrap();
        assert!(hash.is_narrow());
        let mut expected = vec![0u64; k as usize];
        let mut reports = Vec::new();
        for i in 0..n {
            let (a, b) = (mix(i) >> 32, mix(i) & 0xffff_ffff);
            let function = HashFunction { multiplier: a, offset: b };
            let y = (mix(i + n) % u64::from(g)) as u32;
            let (low, width) = hash.sums(y);
            let start = (b as u32).wrapping_sub(low as u32);
            reports.push(Narrow { step: a as u32, start, width: width as u32 });
            for v in 0..k {
                expected[v as usize] += u64::from(hash.bucket(function, v) == y);
            }
        }
        let mut counts = vec![0; k as usize];
        narrow(&reports, &mut counts);
        assert_eq!(counts, expected);
    }
    let hash = LocalHash::with_buckets(u32::MAX, 5, Epsilon::new(1.0).unwrap()).unwrap();
    let keys: Vec<u32> = (0..900).map(|i| mix(i) as u32).collect();
    let (mut expected, mut counts) = (vec![0u64; 900], vec![0u64; 900]);
    let mut reports = Vec::new();
    for i in 0..3000 {
        let function = HashFunction { multiplier: mix(i), offset: mix(i + 7777) };
        let y = (i % 5) as u32;
        let (low, width) = hash.sums(y);
        reports.push(Wide {
            step: function.multiplier,
            start: function.offset.wrapping_sub(low),
            width,
        });
        for (count, &key) in expected.iter_mut().zip(&keys) {
            *count += u64::from(hash.bucket(function, key) == y);
        }
    }
    wide(&reports, &keys, &mut counts);
    assert_eq!(counts, expected);
}

#[test]
fn the_fast_transform_is_the_matrix() {
    for log in 0..6 {
        let size = 1u32 << log;
        let input: Vec<i64> = (0..size).map(|i| mix(u64::from(i)) as i8 as i64).collect();
        let mut output = input.clone();
        hadamard(&mut output);
        for v in 0..size {
            let sign = |j: u32| if Hadamard::entry(j, v) { 1 } else { -1 };
            let sum: i64 = (0..size).map(|j| sign(j) * input[j as usize]).sum();
            assert_eq!(output[v as usize], sum);
        }
    }
}
