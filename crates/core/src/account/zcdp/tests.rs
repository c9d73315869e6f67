#![expect(clippy::excessive_precision, reason = "known answers keep all their digits")]

use super::*;

fn rho(x: f64) -> Rho {
    Rho::new(x).unwrap()
}

fn delta(x: f64) -> Delta {
    Delta::new(x).unwrap()
}

#[test]
fn the_conversion_has_its_known_values() {
    // 50-digit minima over α: (ρ, δ, ε).
    for (r, d, value) in [
        (0.1, 1e-5, 1.914_238_832_003_597_798_5),
        (0.5, 1e-5, 4.728_386_984_943_313_9),
        (0.005, 1e-6, 0.429_941_468_836_949_273_47),
        (0.5, 1e-6, 5.221_534_444_530_169_044_2),
        (1.0, 1e-6, 7.766_216_625_311_720_736_4),
        (0.1, 1e-9, 2.715_481_886_730_501_930_2),
        (0.5, 1e-9, 6.474_070_020_726_486_144_3),
        (1.0, 1e-9, 9.521_463_671_792_232_249_5),
    ] {
        let found = epsilon(rho(r), delta(d)).unwrap();
        assert!(found >= value && found <= value * (1.0 + 1e-12), "{found} {value}");
        let (back, tail) = (
            for_target(Epsilon::new(found).unwrap(), delta(d)).unwrap(),
            tail(rho(r), delta(d)).unwrap(),
        );
        assert!((back.get() / r - 1.0).abs() < 1e-9 && tail > found);
    }
}

#[test]
fn extremes_are_finite_and_monotone() {
    let mut last = 0.0;
    for r in [1e-30, 1e-12, 1e-6, 1e-3, 1.0, 1e3, 1e9] {
        let found = epsilon(rho(r), delta(1e-10)).unwrap();
        assert!(found.is_finite() && found >= last, "{r} {found} {last}");
        last = found;
    }
    assert_eq!(epsilon(rho(1.0), Delta::ZERO).unwrap(), f64::INFINITY);
    assert!(epsilon(rho(1e-9), delta(0.9)).unwrap() < 1e-3);
    assert_eq!(
        of_bounded_range(Epsilon::new(2.0).unwrap()).unwrap().get(),
        up(4.0f64.next_up() * 0.125)
    );
    assert!(of_gaussian(2.0, 1.0).unwrap().get() >= 0.125);
}
