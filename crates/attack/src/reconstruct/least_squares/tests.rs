use super::*;
use crate::draws::Draws;

#[test]
fn the_gradient_vanishes_at_the_solution() {
    for (n, m) in [(50, 200), (80, 81), (60, 30)] {
        let mut draws = Draws::new(n as u64);
        let subsets = Subsets::random(n, m, &mut draws).unwrap();
        let y: Vec<f64> = (0..m).map(|_| n as f64 / 4.0 + 5.0 * draws.normal()).collect();
        let x = least_squares(&subsets, &y).unwrap();
        let (mut fitted, mut gradient) = (vec![0.0; m], vec![0.0; n]);
        subsets.product(&x, &mut fitted);
        let rest: Vec<f64> = y.iter().zip(&fitted).map(|(y, f)| y - f).collect();
        subsets.transposed(&rest, &mut gradient);
        let largest = gradient.iter().fold(0.0f64, |a, g| a.max(g.abs()));
        assert!(largest < 1e-4, "{n} {m}: {largest}");
    }
    let subsets = Subsets::random(5, 10, &mut Draws::new(0)).unwrap();
    assert!(least_squares(&subsets, &[0.0; 9]).is_err());
}
