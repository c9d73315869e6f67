use super::*;

/// A fixed stream of awkward operands: random limbs mixed with all-ones and zeros.
fn operands(count: usize) -> Vec<Natural> {
    let mut state = 0x9e37_79b9_7f4a_7c15u64;
    let mut next = move || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        let mixed = (state ^ state >> 29).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        match mixed % 5 {
            0 => u64::MAX,
            1 => 0,
            2 => 1 << (mixed >> 58),
            _ => mixed ^ mixed >> 32,
        }
    };
    (0..count).map(|i| Natural::from_limbs((0..=i % 6).map(|_| next()).collect())).collect()
}

#[test]
fn small_numbers_agree_with_the_processor() {
    let values = [0u128, 1, 2, 3, 255, 1 << 63, (1 << 64) - 1, 1 << 64, 3 << 90, u128::MAX >> 2];
    for a in values {
        for b in values {
            let (x, y) = (Natural::from(a), Natural::from(b));
            assert_eq!(x.add(&y).to_u128(), Some(a + b));
            assert_eq!(x.saturating_sub(&y).to_u128(), Some(a.saturating_sub(b)));
            if let Some(product) = a.checked_mul(b) {
                assert_eq!(x.mul(&y).to_u128(), Some(product));
            }
            assert_eq!(x.cmp(&y), a.cmp(&b));
            if let Some(quotient) = a.checked_div(b) {
                let (q, r) = x.div_rem(&y);
                assert_eq!((q.to_u128(), r.to_u128()), (Some(quotient), Some(a % b)));
            }
        }
        for by in [0, 1, 63, 64, 65, 100] {
            assert_eq!(Natural::from(a).shr(by).to_u128(), Some(a >> by));
            assert_eq!(Natural::from(a).shl(by).shr(by), Natural::from(a));
        }
        let root = Natural::from(a).sqrt().to_u128().unwrap();
        assert!(root * root <= a && a < (root + 1) * (root + 1));
    }
}

#[test]
fn floats_are_near() {
    let x = Natural::power_of_two(256).saturating_sub(&Natural::one());
    assert!((x.to_f64() / 2f64.powi(256) - 1.0).abs() < 1e-15);
    assert_eq!((Natural::zero().to_f64(), Natural::from(7u64).to_f64()), (0.0, 7.0));
    assert_eq!(Natural::power_of_two(2000).to_f64(), f64::INFINITY);
}

#[test]
fn division_inverts_multiplication_on_awkward_operands() {
    let all = operands(120);
    for a in &all {
        for b in all.iter().filter(|b| !b.is_zero()) {
            let (q, r) = a.div_rem(b);
            assert!(r < *b);
            assert_eq!(q.mul(b).add(&r), *a);
            assert_eq!(a.mul(b).div_rem(b), (a.clone(), Natural::zero()));
        }
    }
}

#[test]
fn multiplication_distributes_and_shifts_are_products() {
    let all = operands(60);
    for a in &all {
        for b in &all {
            let c = &all[17];
            assert_eq!(a.mul(&b.add(c)), a.mul(b).add(&a.mul(c)));
            assert_eq!(a.shl(77), a.mul(&Natural::power_of_two(77)));
        }
        assert!(a.shr_up(13) == a.add(&Natural::from((1u64 << 13) - 1)).shr(13));
        let root = a.sqrt();
        assert!(root.mul(&root) <= *a);
        let above = root.add(&Natural::one());
        assert!(above.mul(&above) > *a);
    }
}
