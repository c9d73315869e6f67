use super::*;
use crate::unit::Grid;
use demure_testkit::datasets::{add_or_remove_one, rows};

#[test]
fn filling_up_turns_add_or_remove_into_replace() {
    let bounds = Bounds::on(0.0, 4.0, Grid::ONE).unwrap();
    let domain = [0.0, 2.0, 4.0];
    let steps = |x: &[u8], rank: f64| {
        let values = x.iter().map(|&i| domain[usize::from(i)]);
        Values::padded(bounds, values, 4, rank).unwrap().sorted
    };
    for rank in [0.5, 0.25, 0.9] {
        // Longer than the public size too.
        for x in rows(&[0u8, 1, 2], 0..=5) {
            for y in add_or_remove_one(&x, &[0u8, 1, 2]) {
                let (mut p, mut q) = (steps(&x, rank), steps(&y, rank));
                assert_eq!((p.len(), q.len()), (4, 4));
                p.retain(|v| match q.iter().position(|w| w == v) {
                    Some(i) => {
                        q.swap_remove(i);
                        false
                    }
                    None => true,
                });
                assert!(p.len() <= 1 && q.len() <= 1, "{x:?} {y:?}");
            }
        }
    }
    // Eight rows of nine at their own places: the median hardly moves.
    let values = Values::padded(bounds, [1.0; 8], 9, 0.5).unwrap();
    assert_eq!(values.at(5), 1);
    assert!(!format!("{values:?}").contains("sorted"));
}
