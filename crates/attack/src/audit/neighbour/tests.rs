use super::*;

fn table(rows: &[[&str; 3]]) -> Table {
    Table {
        header: ["id", "age", "sex"].map(str::to_owned).to_vec(),
        rows: rows.iter().map(|row| row.map(str::to_owned).to_vec()).collect(),
    }
}

fn people() -> Table {
    table(&[["a", "30", "f"], ["b", "90", "m"], ["a", "31", "f"], ["c", "2", "f"]])
}

#[test]
fn a_unit_is_left_out_with_all_its_rows() {
    let pairs = people().neighbours(Some("id"), Neighbours::AddRemove, 9).unwrap();
    let without: Vec<usize> = pairs.iter().map(|(_, [_, right])| right.rows.len()).collect();
    // a has two rows; the last pair has two units, of which one stays.
    assert_eq!(without[..3], [2, 3, 3]);
    assert!(pairs.iter().all(|(_, [left, right])| left.rows.len() > right.rows.len()));
    assert_eq!(pairs[0].0, "all, and all but the unit of line 2");
}

#[test]
fn a_unit_is_replaced_under_its_own_id() {
    let pairs = people().neighbours(Some("id"), Neighbours::Replace, 2).unwrap();
    let [left, right] = &pairs[0].1;
    assert_eq!((left.rows.len(), right.rows.len()), (4, 3));
    let last = right.rows.last().unwrap();
    assert_eq!(last[0], "a");
    assert_ne!(last[1], "30");
    let [both, twice] = &pairs[1].1;
    assert_eq!(both.rows.len(), 3);
    assert_eq!(twice.rows.len(), 2);
}

#[test]
fn there_are_at_most_as_many_pairs_as_wanted() {
    for relation in [Neighbours::AddRemove, Neighbours::Replace] {
        for most in 1..=4 {
            let pairs = people().neighbours(Some("id"), relation, most).unwrap();
            assert_eq!(pairs.len(), most);
            let alone = pairs.iter().any(|(what, _)| what.starts_with("two units alone"));
            assert_eq!(alone, most > 1);
        }
    }
}

#[test]
fn too_little_to_compare_is_refused() {
    assert!(table(&[["a", "1", "f"]]).neighbours(None, Neighbours::AddRemove, 3).is_err());
    assert!(people().neighbours(Some("nobody"), Neighbours::AddRemove, 3).is_err());
}
