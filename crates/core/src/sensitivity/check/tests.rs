use super::*;

/// Two bits; their sum, which moves by 1.
fn bits() -> Vec<(u8, u8)> {
    vec![(0, 0), (0, 1), (1, 0), (1, 1)]
}

fn flipped(&(a, b): &(u8, u8)) -> Vec<(u8, u8)> {
    vec![(1 - a, b), (a, 1 - b)]
}

#[test]
fn flaws_are_found() {
    let sum = |&(a, b): &(u8, u8)| i128::from(a + b);
    let product = |&(a, b): &(u8, u8)| i128::from(a * b);
    let none = ProfileLimits::default();
    let seen = check_profile(bits(), flipped, sum, |_, _| 1, none, 3).unwrap();
    assert!(seen.exact && seen.pairs == 32);
    let zero = check_profile(bits(), flipped, sum, |_, _| 0, none, 3);
    assert!(matches!(zero, Err(Flaw::TooSmall { moves: 1, .. })));
    // The product moves by 1 but at (0, 0): a profile that forgets it there is refused.
    let local = |x: &(u8, u8), k: u64| u64::from(*x != (0, 0) || k > 0);
    assert!(check_profile(bits(), flipped, product, local, none, 3).unwrap().exact);
    let late = |x: &(u8, u8), k: u64| u64::from(*x != (0, 0) || k > 1);
    let flaw = check_profile(bits(), flipped, product, late, none, 3).unwrap_err();
    assert!(matches!(flaw, Flaw::NotSmooth { distance: 0, .. }), "{flaw}");
    let falls = check_profile(bits(), flipped, product, |_, k| 3 - k, none, 2);
    assert!(matches!(falls, Err(Flaw::NotSmooth { .. } | Flaw::Falls { .. })));
}

#[test]
fn what_is_promised_of_all_datasets_is_checked() {
    // b², with the profile that is true of it, and lower limits than it needs.
    let square = |&b: &u64| i128::from(b * b);
    let profile = |&b: &u64, k: u64| 2 * (b + k).min(10) + 1;
    let near = |&b: &u64| {
        let beside = [b.checked_sub(1), Some(b + 1)].into_iter().flatten();
        beside.filter(|&b| b <= 11).collect()
    };
    let check = |most, growth| {
        let limits = ProfileLimits { most, growth };
        check_profile(0..=11, near, square, profile, limits, 12)
    };
    assert!(check(Some(21), Some(2)).is_ok());
    assert!(matches!(check(Some(1), Some(2)), Err(Flaw::AboveMost { .. })));
    assert!(matches!(check(Some(21), Some(1)), Err(Flaw::Grows { distance: 0, .. })));
}

#[test]
fn far_moves_and_missing_neighbours_are_flaws() {
    let far = |&(a, _): &(u8, u8)| i128::from(a) << 64;
    let none = ProfileLimits::default();
    let zero = check_profile(bits(), flipped, far, |_, _| 0, none, 3);
    assert!(matches!(zero, Err(Flaw::TooSmall { moves: u64::MAX, .. })));
    let t = Smoothness::new(0.1).unwrap();
    let little = check_smooth(bits(), flipped, far, |_| 1e-9, t);
    assert!(matches!(little, Err(Flaw::TooSmall { .. })));
    let elsewhere = |_: &(u8, u8)| vec![(7, 7)];
    let outside = check_profile(bits(), elsewhere, far, |_, _| u64::MAX, none, 3);
    assert!(matches!(outside, Err(Flaw::Outside { .. })));
    let outside = check_smooth(bits(), elsewhere, far, |_| f64::MAX, t);
    assert!(matches!(outside, Err(Flaw::Outside { .. })));
}
