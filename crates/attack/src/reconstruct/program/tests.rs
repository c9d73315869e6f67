use super::*;
use crate::draws::Draws;

#[test]
fn both_programs_find_the_bits_behind_exact_and_rounded_answers() {
    let (n, m) = (40, 160);
    let mut draws = Draws::new(4);
    let bits: Vec<bool> = (0..n).map(|_| draws.coin()).collect();
    let subsets = Subsets::random(n, m, &mut draws).unwrap();
    for step in [1.0, 3.0] {
        let rounded = |a: u64| (a as f64 / step).round() * step;
        let y: Vec<f64> = subsets.answers(&bits).into_iter().map(rounded).collect();
        for norm in [Norm::Sum, Norm::Largest] {
            let x = linear_program(&subsets, &y, norm).unwrap();
            assert!(x.iter().all(|x| (-1e-6..=1.0 + 1e-6).contains(x)));
            let right = x.iter().zip(&bits).filter(|(x, b)| (**x > 0.5) == **b).count();
            assert_eq!(right, n, "{step} {norm:?}");
        }
    }
}

#[test]
fn the_sum_of_errors_is_least_and_the_largest_error_is_least() {
    // No other x in reach may be better: compared with the truth and with least squares.
    let (n, m) = (30, 90);
    let mut draws = Draws::new(9);
    let bits: Vec<bool> = (0..n).map(|_| draws.coin()).collect();
    let subsets = Subsets::random(n, m, &mut draws).unwrap();
    let exact = subsets.answers(&bits);
    let y: Vec<f64> = exact.iter().map(|a| *a as f64 + 3.0 * draws.normal()).collect();
    let errors = |x: &[f64]| {
        let mut fitted = vec![0.0; m];
        subsets.product(x, &mut fitted);
        let each = y.iter().zip(fitted).map(|(y, f)| (y - f).abs());
        each.fold((0.0, 0.0f64), |(sum, most), e| (sum + e, most.max(e)))
    };
    let truth: Vec<f64> = bits.iter().map(|b| f64::from(u8::from(*b))).collect();
    let squares: Vec<f64> = super::super::least_squares(&subsets, &y).unwrap();
    let squares: Vec<f64> = squares.iter().map(|x| x.clamp(0.0, 1.0)).collect();
    let by_sum = linear_program(&subsets, &y, Norm::Sum).unwrap();
    let by_most = linear_program(&subsets, &y, Norm::Largest).unwrap();
    for other in [&truth, &squares, &by_most] {
        assert!(errors(&by_sum).0 <= errors(other).0 + 1e-4);
    }
    for other in [&truth, &squares, &by_sum] {
        assert!(errors(&by_most).1 <= errors(other).1 + 1e-4);
    }
    assert!(linear_program(&subsets, &y[1..], Norm::Sum).is_err());
}
