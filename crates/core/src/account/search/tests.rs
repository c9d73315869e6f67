use super::*;

#[test]
fn a_crossing_is_bracketed_from_both_sides() {
    for noise in [0.0, 1e-15, 1e-9] {
        let profile = |x: f64| {
            let y = (-x * x).exp();
            Ok((y * (1.0 - noise), y * (1.0 + noise)))
        };
        for delta in [1e-14f64, 1e-6, 0.3, 0.999] {
            let truth = (-delta.ln()).sqrt();
            let found = crossing(1.0, delta, profile).unwrap();
            assert!(found.lower <= truth * (1.0 + 1e-13) && truth * (1.0 - 1e-13) <= found.upper);
            let width = found.relative_width();
            assert!(width <= 1e-13 + 8.0 * noise / (1.0 - delta), "{width} {noise} {delta}");
        }
    }
    let flat = crossing(1.0, 0.1, |_| Ok((0.5, 0.5))).unwrap();
    assert_eq!(flat.upper, f64::INFINITY);
    assert_eq!(crossing(1.0, 0.6, |_| Ok((0.5, 0.5))).unwrap().upper, 0.0);
}

#[test]
fn golden_section_finds_the_least() {
    let x = least(-3.0, 10.0, |x| (x - 1.25) * (x - 1.25));
    assert!((x - 1.25).abs() < 1e-6);
}
