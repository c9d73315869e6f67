use super::*;

fn classes(sizes: &[u64]) -> Vec<Class> {
    sizes.iter().map(|&size| Class { size, sensitive: Vec::new() }).collect()
}

#[test]
fn rows_are_counted_by_the_size_of_their_class() {
    let found = sizes(&classes(&[1, 1, 4]), &classes(&[6]));
    assert_eq!(found.before[..3], [2.0, 0.0, 4.0]);
    assert_eq!((found.after[3], found.labels[3].as_str()), (6.0, "5–9"));
    for (pair, next) in SIZES.iter().zip(&SIZES[1..]) {
        assert_eq!(pair.1, next.0);
    }
}

#[test]
fn small_classes_are_at_risk() {
    let found = risks(10, &classes(&[1, 9]), &classes(&[5, 5]));
    assert_eq!((found.before[0], found.before[4]), (10.0, 100.0));
    // One in five is not above 20 %.
    assert_eq!((found.after[1], found.after[2]), (0.0, 100.0));
}
