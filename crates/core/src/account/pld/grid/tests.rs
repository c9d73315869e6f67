use super::*;

#[test]
fn no_law_gains_mass_on_the_grid() {
    for (q, a) in [(0.0017, 18.5), (0.0088, 26.4), (0.3, 2.0), (0.05, 9.3), (0.9, 0.7)] {
        for direction in [Direction::Remove, Direction::Add] {
            for h in [0.0513, 0.01, 0.003_7] {
                let law = Law::SampledLaplace { q, a, direction };
                let Some(found) = Gridded::new(&law, h, 1 << 20) else { continue };
                let (upper, lower): (f64, f64) =
                    (found.upper.iter().sum(), found.lower.iter().sum());
                assert!((1.0 - 1e-12..1.0 + 1e-6).contains(&upper), "{q} {a} {h}: {upper}");
                assert!(lower <= 1.0 && lower > 0.9, "{q} {a} {h}: {lower}");
            }
        }
    }
}
