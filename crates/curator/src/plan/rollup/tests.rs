use super::*;
use datafusion::logical_expr::col;

fn of(group: Sets) -> Vec<(Vec<bool>, u64)> {
    let keys = [col("a"), col("b")];
    let sets = sets(&[Expr::GroupingSet(group)], &keys).unwrap();
    sets.into_iter().map(|set| (set.with, set.id)).collect()
}

/// A bit for each key that is not in the set, the last key's lowest; a set that is written twice has two ids.
#[test]
fn sets_have_the_ids_of_the_engine() {
    let (a, b) = (col("a"), col("b"));
    let both = vec![a.clone(), b.clone()];
    assert_eq!(
        of(Sets::Rollup(both.clone())),
        [(vec![true, true], 0), (vec![true, false], 1), (vec![false, false], 3)]
    );
    let mut cube = of(Sets::Cube(both.clone()));
    cube.sort_by_key(|(_, id)| *id);
    assert_eq!(cube.iter().map(|(_, id)| *id).collect::<Vec<_>>(), [0, 1, 2, 3]);
    assert_eq!(
        of(Sets::GroupingSets(vec![vec![b.clone()], vec![b], both])),
        [(vec![false, true], 2), (vec![false, true], 6), (vec![true, true], 0)]
    );
}
