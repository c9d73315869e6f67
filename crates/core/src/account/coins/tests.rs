use super::*;
use crate::account::optimal;
use crate::unit::{Delta, Epsilon};

#[test]
fn a_coin_between_two_grid_points_is_below_their_mixture() {
    let (a, b, epsilon) = (0.5, 0.625, 0.5625 + 0.01);
    let lambda = share(epsilon, a, b);
    let profile = |e: f64, x: f64| {
        let (p, q) = (e.exp() / (1.0 + e.exp()), 1.0 / (1.0 + e.exp()));
        (p - x * q).max(0.0) + ((1.0 - p) - x * (1.0 - q)).max(0.0)
    };
    let mut touches = 0;
    for i in -300..=300 {
        let x = (f64::from(i) * 0.005).exp();
        let mixture = lambda * profile(b, x) + (1.0 - lambda) * profile(a, x);
        assert!(mixture >= profile(epsilon, x) - 1e-15, "{x}");
        touches += u32::from((mixture - profile(epsilon, x)).abs() < 1e-15);
    }
    assert!(touches > 100); // equal outside the two gaps: no looser than it must be
    assert_eq!(share(0.5, a, b), 0.0);
}

#[test]
fn the_enclosure_meets_the_exact_optimum() {
    let mut state = 7u64;
    for delta in [1e-12, 1e-6, 1e-2] {
        let coins: Vec<(f64, u64)> = (0..16)
            .map(|_| {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                (0.01 + (state >> 40) as f64 / 2f64.powi(24), 1)
            })
            .collect();
        let parts: Vec<_> =
            coins.iter().map(|&(e, k)| (Epsilon::new(e).unwrap(), Delta::ZERO, k)).collect();
        let exact = optimal::heterogeneous(&parts, Delta::new(delta).unwrap()).unwrap();
        let found = composed(&coins, &Mass::exactly(delta)).unwrap();
        assert!(found.lower <= exact.upper && exact.lower <= found.upper, "{found} {exact}");
        // Near the largest sum only few outcomes matter, and the error is of first order.
        let narrow = if delta < 1e-9 { 1e-5 } else { 1e-6 };
        assert!(found.relative_width() < narrow, "{found}");
    }
}

#[test]
fn a_hundred_different_coins_are_enclosed_narrowly() {
    let coins: Vec<(f64, u64)> = (0..100).map(|i| (0.02 + 0.3 / (f64::from(i) + 7.3), 1)).collect();
    for delta in [1e-3, 1e-6, 1e-14] {
        let found = composed(&coins, &Mass::exactly(delta)).unwrap();
        assert!(found.relative_width() < 1e-6, "{delta} {found}");
    }
    // Inputs that are out of reach are refused, not guessed.
    assert!(composed(&[(0.1, 1 << 40), (0.11, 1)], &Mass::exactly(1e-6)).is_err());
    assert!(composed(&coins, &Mass::exactly(1e-299)).is_err());
}
