use super::*;

fn key(a: Option<i64>, b: &str) -> Vec<ScalarValue> {
    vec![ScalarValue::Int64(a), ScalarValue::from(b)]
}

/// NULL is a key of its own in a set that has the key, and one group with all others in a set that does not.
#[test]
fn cells_are_added_up_by_the_keys_of_each_set() {
    let cells = [key(None, "x"), key(None, "y"), key(Some(1), "x"), key(Some(1), "y")];
    let set = |with: [bool; 2], id| GroupingSet { with: with.to_vec(), id };
    let sets = vec![set([true, true], 0), set([true, false], 1), set([false, false], 3)];
    let merged = Rollup { sets, why: String::new() }.merged(&cells).unwrap();
    let cells: Vec<Vec<Vec<usize>>> = merged.iter().map(|set| set.cells.clone()).collect();
    assert_eq!(cells[0], [[0], [1], [2], [3]].map(|c| c.to_vec()));
    assert_eq!(cells[1], [[0, 1], [2, 3]].map(|c| c.to_vec()));
    assert_eq!(cells[2], [[0, 1, 2, 3]].map(|c| c.to_vec()));
    let rolled = |a: Option<i64>| vec![ScalarValue::Int64(a), ScalarValue::Utf8(None)];
    assert_eq!(merged[1].keys, [rolled(None), rolled(Some(1))]);
    assert_eq!(merged[2].id(&DataType::UInt8).unwrap(), ScalarValue::UInt8(Some(3)));
}

/// People are not added up over cells: a person may be in several.
#[test]
fn only_sums_over_rows_add_up() {
    let measure = |code| Measure { family: &Numbers, code, value: None, rank: None };
    let codes: Vec<isize> = (0..8).filter(|&code| summable(&measure(code))).collect();
    assert_eq!(codes, [0, 2, 4, 5]);
}
