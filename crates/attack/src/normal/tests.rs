use super::*;

#[test]
fn phi_is_known() {
    for (x, truth) in [
        (0.0, 0.5),
        (0.5, 0.691_462_461_274_013),
        (1.0, 0.841_344_746_068_543),
        (1.959_963_984_540_054, 0.975),
        (-2.499, 0.006_227_215_551_989),
        (-2.501, 0.006_192_158_920_327),
        (-6.0, 9.865_876_450_376_98e-10),
        (-10.0, 7.619_853_024_160_52e-24),
    ] {
        let found = normal(x);
        assert!((found - truth).abs() < truth * 1e-8, "{x}: {found}");
    }
    assert!((normal(1.0) - 0.841_344_746_068_542_9).abs() < 1e-14);
    assert!((normal(-6.0) / 9.865_876_450_376_98e-10 - 1.0).abs() < 1e-12);
    // The two branches meet.
    assert!((upper_tail(2.5 - 1e-12) - upper_tail(2.5)).abs() < 1e-13);
    for x in [0.3, 1.7, 4.0] {
        assert!((normal(x) + normal(-x) - 1.0).abs() < 1e-15);
    }
}

#[test]
fn wilsons_interval_solves_its_equation() {
    let share = Share { hits: 730, trials: 1000 };
    let (low, high) = share.interval(1.96);
    for p in [low, high] {
        let z = (share.rate() - p).abs() / (p * (1.0 - p) / 1000.0).sqrt();
        assert!((z - 1.96).abs() < 1e-9);
    }
    assert_eq!(Share { hits: 0, trials: 5 }.interval(2.0).0, 0.0);
    assert!(Share { hits: 5, trials: 5 }.interval(2.0).1 > 1.0 - 1e-15);
}
