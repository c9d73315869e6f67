use super::*;

#[test]
fn scales_are_exact_quotients_in_range() {
    let scale = Scale::quotient(1.0, 3.0).unwrap();
    assert_eq!(scale.exact, Ratio::new(1u64, 3u64));
    assert_eq!(scale.on(Grid::power_of_two(-4).unwrap()).unwrap().get(), 16.0 / 3.0);
    for (n, d) in [(0.0, 1.0), (1.0, 0.0), (-1.0, 1.0), (f64::NAN, 1.0), (1.0, f64::INFINITY)] {
        assert!(Scale::quotient(n, d).is_err());
    }
    let steps = |x: f64| Scale::new(x).unwrap().in_steps().is_ok();
    assert!(steps(2f64.powi(60)) && !steps(2f64.powi(61)) && !steps(2f64.powi(-1001)));
    // The limit is in steps of the grid, not in units.
    let wide = Scale::new(1e30).unwrap().on(Grid::power_of_two(60).unwrap()).unwrap();
    assert!(wide.in_steps().is_ok());
}
