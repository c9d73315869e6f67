use super::*;

#[test]
fn few_values_have_a_cell_each_and_many_are_cut_into_quantiles() {
    let few = Cells::of(&[7, 9, 9], &[9, 12]);
    assert!(few.single);
    assert_eq!(few.counts(&[7, 9, 9, 12, 8, 100]), [0, 1, 1, 2, 0, 1, 1]);
    let keys: Vec<u64> = (0..10_000).collect();
    let many = Cells::of(&keys, &[]);
    assert!(!many.single && many.len() == QUANTILES);
    assert!(many.counts(&keys).iter().all(|&count| (150..=165).contains(&count)));
    // A value with 1 % of the mass is a cell of its own.
    let heavy: Vec<u64> = keys.iter().map(|&k| if k % 100 == 0 { 5_003 } else { k }).collect();
    let cells = Cells::of(&heavy, &[]);
    assert_eq!(cells.counts(&heavy)[cells.place(5_003)], 101);
    assert_eq!(cells.place(5_002) + 1, cells.place(5_003));
    assert_eq!(cells.place(5_004), cells.place(5_003) + 1);
}
