use super::project;

#[test]
fn the_projection_is_the_nearest_point() {
    for y in [
        vec![3.0, -1.0, 2.5, 0.1],
        vec![-5.0, -4.0, -9.0],
        vec![1e6, 1e6, 3.0],
        vec![0.0; 7],
        vec![2.0],
    ] {
        for total in [1.0, 10.0, 1e5] {
            let x = project(&y, total);
            let sum: f64 = x.iter().sum();
            assert!((sum - total).abs() < 1e-9 * total, "{y:?}");
            assert!(x.iter().all(|x| *x >= 0.0));
            // The conditions of the optimum: what is positive has moved by the same shift, what is 0 by no more.
            let shift = y.iter().zip(&x).filter(|(_, x)| **x > 0.0).map(|(y, x)| y - x);
            let shifts: Vec<f64> = shift.collect();
            let scale = 1e-9 * (1.0 + total + y.iter().fold(0.0f64, |m, y| m.max(y.abs())));
            assert!(shifts.iter().all(|s| (s - shifts[0]).abs() < scale), "{y:?} {total}");
            let below = y.iter().zip(&x).filter(|(_, x)| **x == 0.0);
            assert!(below.into_iter().all(|(y, _)| *y <= shifts[0] + scale), "{y:?} {total}");
        }
    }
}

#[test]
fn a_histogram_that_fits_stays() {
    assert_eq!(project(&[1.0, 2.0, 3.0], 6.0), [1.0, 2.0, 3.0]);
}
